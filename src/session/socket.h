/*
 * session/socket.h - Unix sockets in directories whose path may be longer than an address takes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_SOCKET_H
#define CT_SESSION_SOCKET_H

#include "base/base.h"

/* Listens at `name` in an open directory, and replaces any file of that name.  Mode 0600 whatever
 * the umask is; nonblocking, close-on-exec, number above 2. path: the directory's, for a machine
 * without /proc.  OS_ERROR, with errno. */
enum ctrace_status ct_socket_listen(int directory, const char *path, const char *name,
				    int *out_fd) CT_MUST_USE;
/* Connects to such a socket.  NOT_FOUND when nobody listens; TIMED_OUT when its queue is full;
 * DENIED; OS_ERROR. */
enum ctrace_status ct_socket_connect(int directory, const char *path, const char *name,
				     int *out_fd) CT_MUST_USE;
/* Gives the user and the id of the process that connected or began to listen at the other end.
 * Returns false when that is not known. */
bool ct_socket_peer(int fd, uint32_t *out_uid, uint32_t *out_pid);
/* True if that process had the group when it connected: its effective one or another. */
bool ct_socket_peer_is_in(int fd, uint32_t gid);
/* Opens a socket that listens to a group, or to nobody but its owner again: gid 0.  Returns false
 * when this user may not give it to the group; then it is its owner's. */
bool ct_socket_share(int directory, const char *name, uint32_t gid);
/* Makes a connected pair.  Nonblocking, close-on-exec, numbers above 2.  OS_ERROR. */
enum ctrace_status ct_socket_pair(int out_fds[2]) CT_MUST_USE;

#endif
