/*
 * private_directory.c - the run directory and the spool of a user where others have theirs, too.
 *
 * Called when a process attaches or opens a destination, and by tools; never by a trace call.  A
 * directory beside one of another user has random letters at its end, so nobody can take all names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/private_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LETTERS "XXXXXX"

const char *ct_private_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a file";
	case S_IFDIR:
		return "a directory";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

enum ctrace_status ct_private_inspect(const char *path, char out_why[CT_PRIVATE_WHY_SIZE])
{
	struct stat info;

	if (lstat(path, &info) != 0) {
		(void)snprintf(out_why, CT_PRIVATE_WHY_SIZE, "it cannot be looked at");
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	}
	if (!S_ISDIR(info.st_mode))
		(void)snprintf(out_why, CT_PRIVATE_WHY_SIZE, "it is %s of user %u; remove it",
			       ct_private_kind(info.st_mode), (unsigned)info.st_uid);
	else if (info.st_uid != geteuid())
		(void)snprintf(out_why, CT_PRIVATE_WHY_SIZE,
			       "it belongs to user %u; that user or root can remove it",
			       (unsigned)info.st_uid);
	else if ((info.st_mode & 022) != 0)
		(void)snprintf(out_why, CT_PRIVATE_WHY_SIZE,
			       "others may write to it (mode %04o); chmod go-w, if you trust what "
			       "is in it",
			       (unsigned)info.st_mode & 07777u);
	else
		return CTRACE_OK;
	errno = EPERM;
	return CTRACE_DENIED;
}

static bool is_of_another(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && info.st_uid != geteuid();
}

/* Calls each for our directories beside the path, until it returns false. */
static void beside_each(const char *path, bool (*each)(const char *path, void *user), void *user)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash + 1;
	size_t size = strlen(name);
	char parent[4096], beside[4096], why[CT_PRIVATE_WHY_SIZE];
	const struct dirent *entry;
	bool goes_on = true;
	DIR *directory;
	int fd;

	(void)snprintf(parent, sizeof parent, "%.*s/", (int)(slash - path), path);
	fd = ct_os_high(open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	directory = fd >= 0 ? ct_os_directory_stream(fd) : NULL;
	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while (goes_on && (entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, name, size) != 0 ||
		    strlen(entry->d_name) != size + sizeof LETTERS || entry->d_name[size] != '.' ||
		    snprintf(beside, sizeof beside, "%s%s", parent, entry->d_name) >=
			    (int)sizeof beside)
			continue;
		if (ct_private_inspect(beside, why) == CTRACE_OK)
			goes_on = each(beside, user);
	}
	(void)closedir(directory);
}

static bool first_take(const char *path, void *user)
{
	memcpy(user, path, strlen(path) + 1);
	return false;
}

enum ctrace_status ct_private_make(char *path, size_t room, char out_why[CT_PRIVATE_WHY_SIZE])
{
	enum ctrace_status status = ct_private_inspect(path, out_why);
	char beside[4096] = "";

	if (status == CTRACE_NOT_FOUND) {
		status = ct_os_make_directory(path);
		if (status == CTRACE_OK)
			status = ct_private_inspect(path, out_why);
	}
	if (status != CTRACE_DENIED || !is_of_another(path))
		return status;
	beside_each(path, first_take, beside);
	if (beside[0] == '\0' &&
	    (snprintf(beside, sizeof beside, "%s." LETTERS, path) >= (int)sizeof beside ||
	     mkdtemp(beside) == NULL))
		beside[0] = '\0';
	if (beside[0] == '\0' || strlen(beside) >= room) {
		errno = EPERM;
		return CTRACE_DENIED;
	}
	memcpy(path, beside, strlen(beside) + 1);
	return CTRACE_OK;
}

struct visit {
	void (*each)(const char *path, void *user);
	void *user;
	bool has_one;
};

static bool beside_visit(const char *path, void *user)
{
	struct visit *visit = user;

	visit->each(path, visit->user);
	return visit->has_one = true;
}

void ct_private_each(const char *path, void (*each)(const char *path, void *user), void *user)
{
	struct visit visit = { .each = each, .user = user };

	beside_each(path, beside_visit, &visit);
	if (!visit.has_one || !is_of_another(path))
		each(path, user);
}

bool ct_private_is_of(const char *name, uid_t uid)
{
	char number[16];
	size_t size = (size_t)snprintf(number, sizeof number, "%u", (unsigned)uid);

	return strncmp(name, number, size) == 0 &&
	       (name[size] == '\0' || (name[size] == '.' && strlen(name) == size + sizeof LETTERS));
}
