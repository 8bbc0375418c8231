/*
 * socket.c - Unix sockets in directories whose path may be longer than an address takes.
 *
 * Called by the control thread, by tools and by external writers.  An address has room for 107
 * bytes of path.  The path in it goes through the directory's descriptor in /proc, so the directory
 * may be any.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128
#define FEW_GROUPS 64u /* of a peer, without malloc() */
#define OPTIONS (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)

typedef int use_address(int fd, const struct sockaddr *address, socklen_t size);

/* Binds or connects through the descriptor or, without /proc, by the path itself if it fits.
 * Returns 0, or -1 with errno. */
static int address_use(use_address *function, int fd, int directory, const char *path,
		       const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int size = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s",
			    directory, name);

	int error;

	if (size >= (int)sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (function(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return 0;
	error = errno;
	/* There is no /proc, or we may not use it after a change of user. */
	if (error != ENOENT && error != EACCES)
		return -1;
	size = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", path, name);
	if (size >= (int)sizeof address.sun_path) {
		errno = error;
		return -1;
	}
	return function(fd, (const struct sockaddr *)&address, sizeof address);
}

/* A former socket of the name is nearly never there. */
static bool socket_bind(int fd, int directory, const char *path, const char *name)
{
	if (address_use(bind, fd, directory, path, name) == 0)
		return true;
	return errno == EADDRINUSE && unlinkat(directory, name, 0) == 0 &&
	       address_use(bind, fd, directory, path, name) == 0;
}

/* Restores the mode, which is nearly always right: a change of it is written to the disk. */
static bool socket_is_open_to_owner(int directory, const char *name)
{
	struct stat info;

	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (info.st_mode & 0777) == 0600)
		return true;
	return fchmodat(directory, name, 0600, 0) == 0;
}

enum ctrace_status ct_socket_listen(int directory, const char *path, const char *name, int *out_fd)
{
	int fd = ct_os_high(socket(AF_UNIX, OPTIONS, 0));

	if (fd < 0)
		return CTRACE_OS_ERROR;
	/* fchmod() sets the mode before the socket has a name, but the umask clears bits of it. */
	if (fchmod(fd, 0600) != 0 || !socket_bind(fd, directory, path, name) ||
	    !socket_is_open_to_owner(directory, name) || listen(fd, BACKLOG) != 0) {
		ct_os_close(&fd);
		return CTRACE_OS_ERROR;
	}
	*out_fd = fd;
	return CTRACE_OK;
}

static enum ctrace_status connect_status(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
	case EPROTOTYPE:
		return CTRACE_NOT_FOUND;
	case EAGAIN:
		return CTRACE_TIMED_OUT;
	case EACCES:
	case EPERM:
	case ELOOP:
		return CTRACE_DENIED;
	default:
		return CTRACE_OS_ERROR;
	}
}

enum ctrace_status ct_socket_connect(int directory, const char *path, const char *name, int *out_fd)
{
	int fd = ct_os_high(socket(AF_UNIX, OPTIONS, 0));
	enum ctrace_status status;

	if (fd < 0)
		return CTRACE_OS_ERROR;
	if (address_use(connect, fd, directory, path, name) != 0) {
		status = connect_status();
		ct_os_close(&fd);
		return status;
	}
	*out_fd = fd;
	return CTRACE_OK;
}

bool ct_socket_peer(int fd, uint32_t *out_uid, uint32_t *out_pid)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return false;
	*out_uid = peer.uid;
	*out_pid = (uint32_t)peer.pid;
	return true;
}

/* The groups of struct ucred are the effective one only. */
static bool peer_groups_have(int fd, uint32_t gid)
{
	gid_t few[FEW_GROUPS], *groups = few, *more = NULL;
	socklen_t size = sizeof few;
	bool has = false;
	int got = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size);

	/* size is now that of all of them */
	if (got != 0 && errno == ERANGE && (more = malloc(size)) != NULL) {
		groups = more;
		got = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size);
	}
	for (size_t i = 0; got == 0 && !has && i < size / sizeof groups[0]; i++)
		has = groups[i] == gid;
	free(more);
	return has;
}

bool ct_socket_peer_is_in(int fd, uint32_t gid)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.gid == gid || peer_groups_have(fd, gid));
}

bool ct_socket_share(int directory, const char *name, uint32_t gid)
{
	struct stat info;

	if (gid == 0)
		return socket_is_open_to_owner(directory, name);
	/* The mode is set last, so that the former group never gets it. */
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(info.st_mode) &&
	    (info.st_gid == gid ||
	     (socket_is_open_to_owner(directory, name) &&
	      fchownat(directory, name, (uid_t)-1, gid, AT_SYMLINK_NOFOLLOW) == 0)) &&
	    fchmodat(directory, name, 0660, 0) == 0)
		return true;
	(void)socket_is_open_to_owner(directory, name);
	return false;
}

enum ctrace_status ct_socket_pair(int out_fds[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, OPTIONS, 0, fds) != 0)
		return CTRACE_OS_ERROR;
	fds[0] = ct_os_high(fds[0]);
	fds[1] = ct_os_high(fds[1]);
	if (fds[0] < 0 || fds[1] < 0) {
		ct_os_close(&fds[0]);
		ct_os_close(&fds[1]);
		return CTRACE_OS_ERROR;
	}
	out_fds[0] = fds[0];
	out_fds[1] = fds[1];
	return CTRACE_OK;
}
