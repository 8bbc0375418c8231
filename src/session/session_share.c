/*
 * session_share.c - lets a group of operators reach the control socket of our own session.
 *
 * Called when a process attaches, in a forked child, and when its configuration is read again.  The
 * group may list the run directory and go through the session's directory to the socket; every file
 * stays its owner's alone.  The control thread decides what a member may request
 * (lib/start/operate_member.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"
#include "session/socket.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PRIVATE 0700
#define LISTED 0750 /* the run directory: its names are those of processes */
#define PASSED 0710 /* the session's directory */

/* Sets the mode last, so that the former group never gets it. */
static bool directory_give(int fd, uint32_t gid, mode_t mode)
{
	struct stat info;

	if (fstat(fd, &info) != 0 || info.st_uid != geteuid())
		return false;
	if (info.st_gid == gid && (info.st_mode & 0777) == mode)
		return true;
	return (info.st_gid == gid ||
		(fchmod(fd, PRIVATE) == 0 && fchown(fd, (uid_t)-1, gid) == 0)) &&
	       fchmod(fd, mode) == 0;
}

/* The run directory stays as it is when nothing is shared any more: other processes may share. */
static bool run_directory_give(const struct ct_session *session, uint32_t gid)
{
	size_t size = strlen(session->path) - strlen(session->directory);
	char path[sizeof session->path];
	bool is_given;
	int fd;

	(void)snprintf(path, sizeof path, "%.*s", (int)size - 1, session->path);
	fd = ct_os_high(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	is_given = fd >= 0 && directory_give(fd, gid, LISTED);
	ct_os_close(&fd);
	return is_given;
}

bool ct_session_share(struct ct_session *session, uint32_t gid)
{
	int directory;
	bool is_shared;

	if (session->path[0] == '\0' || session->group == gid)
		return session->group == gid;
	directory = ct_session_directory(session);
	if (directory < 0)
		return false;
	is_shared = gid != 0 && directory_give(directory, gid, PASSED) &&
		    run_directory_give(session, gid);
	if (!is_shared)
		(void)fchmod(directory, PRIVATE);
	session->group = is_shared ? gid : 0;
	/* The socket of a process that has just attached does not exist yet. */
	(void)ct_socket_share(directory, "control", session->group);
	return is_shared || gid == 0;
}
