/*
 * lib/control/server.h - the thread of a traced process that answers operators.
 *
 * One per process with a process directory, with all signals blocked.  It listens at `control` in
 * the directory and sleeps in poll() until a peer connects.  The program's threads never wait for
 * it.  When the program has closed the thread's descriptors, the next ct_server_check() makes it
 * create a new socket.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_SERVER_H
#define CT_CONTROL_SERVER_H

#include "session/connection.h"

/* at most; for one more, the connection without a request for longest is closed */
#define CT_SERVER_CONNECTIONS 32u
/* Bytes of all unread answers together.  Beyond this the connection with the most is closed. */
#define CT_SERVER_OUTPUT ((size_t)16 << 20)

/* Called on the server's thread when a watched descriptor (an external writer's link) is
 * readable or closed.  False: stop watching.  When the descriptor has become another file, it is
 * called once more and then no more. */
typedef bool ct_server_ready(int fd, void *user);

/* True while the thread runs. */
bool ct_server_runs(void);
/* Starts the thread of this process.  Does nothing for a session without a directory, or where
 * RLIMIT_NOFILE is under 32. */
enum ctrace_status ct_server_start(const struct ct_server_options *options) CT_MUST_USE;
/* Ends the thread, waiting at most two seconds, and removes the socket. */
void ct_server_stop(void);
/* In a forked child: drops the state of the parent's thread, and closes its descriptors if they are
 * still ours. */
void ct_server_reset(void);
/* Any thread, cheap.  Makes a new socket when the program has closed the old one. */
void ct_server_check(void);
/* Watches fd until `ready` returns false.  The caller keeps fd.  Any thread.  TIMED_OUT: no
 * thread; NOT_ENOUGH_MEMORY: too many. */
enum ctrace_status ct_server_watch(int fd, ct_server_ready *ready, void *user) CT_MUST_USE;
/* Calls `task` once on the server's thread, after delay_ms.  Any thread.  The same statuses. */
typedef void ct_server_task(void *user);
enum ctrace_status ct_server_later(unsigned delay_ms, ct_server_task *task, void *user) CT_MUST_USE;

#endif
