/*
 * lib/control/server.h - the thread of a traced process that answers operators.
 *
 * One a process that has a process directory, with all signals blocked.  It listens at `control` in
 * the directory and sleeps in poll() until somebody connects.  The program's threads never wait for
 * it.  A process that has closed its descriptors gets a new socket when ct_server_check() next
 * looks.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_SERVER_H
#define CT_CONTROL_SERVER_H

#include "session/connection.h"

/* at most; one more, and the one that has been silent for longest is closed */
#define CT_SERVER_CONNECTIONS 32u
/* Bytes of answers that may wait for peers that do not read, all together; past it the connection
 * with the most is closed. */
#define CT_SERVER_OUTPUT ((size_t)16 << 20)

/* A descriptor that the thread watches for others (an external writer's link): called on the
 * server's thread when it can be read or is closed; false: watch it no more.  When the descriptor
 * is found to be another file now it is called once more, and then no more. */
typedef bool ct_server_ready(int fd, void *user);

/* Does the thread run? */
bool ct_server_runs(void);
/* Starts the thread of this process.  Nothing happens for a session without a directory, nor where
 * RLIMIT_NOFILE is under 32. */
enum ctrace_status ct_server_start(const struct ct_server_options *options) CT_MUST_USE;
/* Ends it, as far as it ends in time; removes the socket. */
void ct_server_stop(void);
/* In a forked child: the thread is the parent's; its descriptors are closed when they still are
 * ours. */
void ct_server_forget(void);
/* Any thread, cheap: has somebody closed the socket behind our back?  Then it is made anew. */
void ct_server_check(void);
/* Any thread.  Watches fd, which stays the caller's, until `ready` says no.  TIMED_OUT when there
 * is no thread; NOT_ENOUGH_MEMORY. */
enum ctrace_status ct_server_watch(int fd, ct_server_ready *ready, void *user) CT_MUST_USE;
/* Any thread.  Calls it once on the server's thread, after delay_ms.  Same statuses. */
typedef void ct_server_task(void *user);
enum ctrace_status ct_server_later(unsigned delay_ms, ct_server_task *task, void *user) CT_MUST_USE;

#endif
