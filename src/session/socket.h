/*
 * session/socket.h - Unix sockets in directories whose path may be longer than an address takes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_SOCKET_H
#define CT_SESSION_SOCKET_H

#include "base/base.h"

/* Listens at `name` in an open directory, in place of what has that name; mode 0600 whatever the
 * umask is.  Nonblocking, close-on-exec, above standard.  path: the directory's, for a machine
 * without /proc.  OS_ERROR, with errno. */
enum ctrace_status ct_socket_listen(int directory, const char *path, const char *name,
				    int *out_fd) CT_MUST_USE;
/* Connects to it.  NOT_FOUND: nobody listens; TIMED_OUT: its queue is full at the moment; DENIED;
 * OS_ERROR. */
enum ctrace_status ct_socket_connect(int directory, const char *path, const char *name,
				     int *out_fd) CT_MUST_USE;
/* Who is at the other end, or has begun to listen there; false when that cannot be known. */
bool ct_socket_peer(int fd, uint32_t *out_uid);
/* Two ends.  Nonblocking, close-on-exec, above standard.  OS_ERROR. */
enum ctrace_status ct_socket_pair(int out_fds[2]) CT_MUST_USE;

#endif
