/*
 * place.c - where paths lead, and the identity of a process: name spaces, root directories, the
 * start of a process.
 *
 * A path in a session is text.  In another mount name space, or under another root directory, that
 * path leads a recoverer to another file, to which it must deliver nothing.  Called when a process
 * attaches, when a destination gets a path, and by recoverers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the inode in "pid:[4026531836]". stat() would make the kernel create the inode. */
static uint64_t link_read_inode(const char *path)
{
	char text[64];
	ssize_t size = readlink(path, text, sizeof text - 1);
	const char *number;

	text[size > 0 ? size : 0] = '\0';
	number = strchr(text, '[');
	return number != NULL ? strtoull(number + 1, NULL, 10) : 0;
}

uint64_t ct_place_process_space(void)
{
	return link_read_inode("/proc/self/ns/pid");
}

size_t ct_place_read(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd >= 0) {
		do
			got = read(fd, out, size - 1);
		while (got < 0 && errno == EINTR);
	}
	ct_os_close(&fd);
	out[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

void ct_place_boot(char out[40])
{
	(void)ct_place_read("/proc/sys/kernel/random/boot_id", out, 40);
	out[strcspn(out, "\n")] = '\0';
}

struct ct_session_place ct_place_here(void)
{
	struct ct_session_place place = { 0 };
	struct stat info;

	if (stat("/", &info) == 0) {
		place.root_device = info.st_dev;
		place.root_inode = info.st_ino;
	}
	place.mount_space = link_read_inode("/proc/self/ns/mnt");
	place.process_space = ct_place_process_space();
	return place;
}

/* Finds the directory of the last part of a path. */
static bool path_stat_directory(const char *path, struct stat *out_info)
{
	char directory[CTRACE_EMITTER_PATH_SIZE];
	const char *slash = strrchr(path, '/');
	size_t size = slash == NULL || slash == path ? 1 : (size_t)(slash - path);

	if (path[0] != '/')
		return false;
	memcpy(directory, path, size);
	directory[size] = '\0';
	return stat(directory, out_info) == 0;
}

void ct_place_note(struct ct_session *session, uint32_t index)
{
	struct ct_dest *dest = &session->head->dest[index];
	struct ct_world world;
	struct stat info;

	if (!session->is_mapped)
		return;
	/* The process may have called chroot() or unshare() since it attached. */
	world = ct_os_world();
	if (!ct_world_is_same(&world, &session->world)) {
		session->head->place = ct_place_here();
		session->world = world;
	}
	if (!path_stat_directory(ct_dest_path(session, index), &info))
		memset(&info, 0, sizeof info);
	dest->directory_device = info.st_dev;
	dest->directory_inode = info.st_ino;
}

static bool number_is_same(uint64_t a, uint64_t b)
{
	return a == b || a == 0 || b == 0;
}

/* True if paths lead to the same files.  After another boot all name spaces are new, and devices
 * may have other numbers. */
static bool head_is_same_place(const struct ct_session_head *head)
{
	struct ct_session_place here = ct_place_here();
	const struct ct_session_place *there = &head->place;
	char boot_id[sizeof head->boot_id];

	ct_place_boot(boot_id);
	if (!number_is_same(here.root_inode, there->root_inode))
		return false;
	if (boot_id[0] != '\0' && strcmp(boot_id, head->boot_id) != 0)
		return true;
	return number_is_same(here.root_device, there->root_device) &&
	       number_is_same(here.mount_space, there->mount_space) &&
	       number_is_same(here.process_space, there->process_space);
}

/* A restarted service has new name spaces.  Then the directory of each output must be the same as
 * before. */
static bool session_directories_are_here(const struct ct_session *session)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		const struct ct_dest *dest = &session->head->dest[i];
		const char *path = ct_dest_path(session, i);
		struct stat info;

		if (path[0] == '\0')
			continue;
		count++;
		if (dest->directory_inode == 0 || !path_stat_directory(path, &info) ||
		    info.st_dev != dest->directory_device || info.st_ino != dest->directory_inode)
			return false;
	}
	return count != 0;
}

bool ct_place_is_here(const struct ct_session *session)
{
	return head_is_same_place(session->head) || session_directories_are_here(session);
}

uint64_t ct_place_process_start(uint32_t pid)
{
	char path[64], text[1024];
	const char *at;

	(void)snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)pid);
	(void)ct_place_read(path, text, sizeof text);
	/* The second field is a name in parentheses, which may hold anything.  The start is the
	 * 22nd. */
	at = strrchr(text, ')');
	for (unsigned field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}
