/*
 * annex.c - a second directory, for the rings of a process that has changed its user and may no
 * longer write to its first one.
 *
 * A daemon attaches as root and then drops its rights.  Its session stays where it is, mapped and
 * open.  Rings that it makes from then on are files in an annex: a directory of the new user, in a
 * run directory of that user.  The head of the session names the annex.  The session belongs to
 * root, so only root can recover the two together.
 *
 *     /run/ctrace/4711.0/           session, ring.0: root's
 *     /tmp/ctrace-33/annex-4711.0/  ring.1, and `session`: a link to its session
 *
 * The thread that needs a ring makes the annex, under the pool's lock, without malloc.  Recoverers
 * read it, and trust nothing in it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRIES 1000u

/* ---- making ---- */

/* True for a directory of that user, to which nobody else may write. */
static bool directory_is_users(int fd, uint32_t uid)
{
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == uid &&
	       (info.st_mode & 022) == 0;
}

static int annex_open_directory(int parent_fd, const char *path, uint32_t uid)
{
	int fd = ct_os_high(
		openat(parent_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

	if (fd >= 0 && !directory_is_users(fd, uid)) {
		ct_os_close(&fd);
		errno = EPERM;
	}
	return fd;
}

/* Stores the link to the session: the mount name space in which the path is valid, and the path. */
static bool annex_link_session(int fd, const struct ct_session *session)
{
	char text[4200];

	(void)snprintf(text, sizeof text, "%llu %s",
		       (unsigned long long)session->head->place.mount_space, session->path);
	return symlinkat(text, fd, "session") == 0;
}

static int annex_make_new(const struct ct_session *session, struct ct_session_annex *annex)
{
	char directory[4096];
	char path[4200];
	int fd;

	if (ct_directory_of_user(directory) != CTRACE_OK)
		return -1;
	for (unsigned n = 0; n < TRIES; n++) {
		int size = snprintf(path, sizeof path, "%s/annex-%u.%u", directory,
				    (unsigned)session->head->pid, n);

		if (size >= (int)sizeof annex->path)
			return -1;
		if (mkdir(path, 0700) == 0)
			break;
		if (errno != EEXIST)
			return -1;
	}
	fd = annex_open_directory(AT_FDCWD, path, geteuid());
	if (fd < 0)
		return -1;
	(void)fchmod(fd, 0700);
	if (!annex_link_session(fd, session)) {
		ct_os_close(&fd);
		(void)rmdir(path);
		return -1;
	}
	annex->uid = geteuid();
	memcpy(annex->path, path, strlen(path) + 1);
	return fd;
}

int ct_annex_make(struct ct_session *session, uint32_t *out_number)
{
	uint32_t uid = geteuid();

	for (uint32_t i = 0; i < CT_ANNEX_LIMIT; i++) {
		struct ct_session_annex *annex = &session->head->annex[i];

		*out_number = i;
		if (annex->path[0] == '\0')
			return annex_make_new(session, annex);
		if (annex->uid == uid)
			return annex_open_directory(AT_FDCWD, annex->path, uid);
	}
	return -1;
}

/* ---- annexes of other processes ---- */

/* Returns the name in the absolute path of an annex of that process; NULL for any other path. */
static const char *annex_find_name(const struct ct_session_annex *annex, uint32_t pid)
{
	const char *slash = memchr(annex->path, '\0', sizeof annex->path) != NULL
				    ? strrchr(annex->path, '/')
				    : NULL;
	char prefix[32];

	(void)snprintf(prefix, sizeof prefix, "annex-%u.", (unsigned)pid);
	if (annex->path[0] != '/' || slash == annex->path || slash == NULL ||
	    strncmp(slash + 1, prefix, strlen(prefix)) != 0)
		return NULL;
	return slash + 1;
}

int ct_annex_open(const struct ct_session_head *head, uint32_t number)
{
	const struct ct_session_annex *annex = &head->annex[number % CT_ANNEX_LIMIT];

	if (annex_find_name(annex, head->pid) == NULL)
		return -1;
	return annex_open_directory(AT_FDCWD, annex->path, annex->uid);
}

/* Uses descriptors, because the owner may put links in the way. */
static void annex_remove_from(int parent_fd, const char *name, uint32_t uid)
{
	ct_directory_remove_open(parent_fd, name, annex_open_directory(parent_fd, name, uid));
}

void ct_annex_remove_all(const struct ct_session_head *head)
{
	for (uint32_t i = 0; i < CT_ANNEX_LIMIT; i++) {
		const struct ct_session_annex *annex = &head->annex[i];
		const char *name = annex_find_name(annex, head->pid);
		char parent[sizeof annex->path];
		int fd;

		if (name == NULL)
			continue;
		(void)snprintf(parent, sizeof parent, "%.*s", (int)(name - annex->path - 1),
			       annex->path);
		fd = annex_open_directory(AT_FDCWD, parent, annex->uid);
		if (fd >= 0)
			annex_remove_from(fd, name, annex->uid);
		ct_os_close(&fd);
	}
}

/* True if the session of this annex is gone.  False if the path cannot be followed, or leads
 * elsewhere: the session may exist. */
static bool annex_session_is_gone(int run_fd, const char *name)
{
	char link[300], text[4200];
	struct stat info;
	char *path;
	ssize_t size;

	if (snprintf(link, sizeof link, "%s/session", name) >= (int)sizeof link)
		return false;
	size = readlinkat(run_fd, link, text, sizeof text - 1);
	if (size <= 0) /* the maker died before it stored the link, or is about to store it */
		return false;
	text[size] = '\0';
	if (strtoull(text, &path, 10) != ct_place_here().mount_space || *path != ' ' ||
	    path[1] != '/')
		return false;
	return lstat(path + 1, &info) != 0 && errno == ENOENT;
}

void ct_annex_remove_abandoned(int run_fd, const char *name)
{
	struct stat info;

	if (fstatat(run_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode))
		return;
	if (annex_session_is_gone(run_fd, name))
		annex_remove_from(run_fd, name, info.st_uid);
	else if (time(NULL) - info.st_mtime >= CT_ABANDONED_SECONDS)
		(void)unlinkat(run_fd, name, AT_REMOVEDIR); /* succeeds only if it is empty */
}
