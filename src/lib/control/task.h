/*
 * lib/control/task.h - the queue for the control thread: descriptors to watch, tasks for later.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_TASK_H
#define CT_CONTROL_TASK_H

#include "lib/control/server.h"

#include <poll.h>

#define CT_WATCH_LIMIT 32u
#define CT_TASK_LIMIT 64u

struct ct_watch {
	int fd;
	struct ct_file_id id;
	ct_server_ready *ready; /* NULL: none */
	void *user;
	uint32_t number; /* running number of all that were added */
};

/* Add a descriptor or a task.  Any thread.  NOT_ENOUGH_MEMORY: there are too many. */
enum ctrace_status ct_watch_add(int fd, ct_server_ready *ready, void *user) CT_MUST_USE;
enum ctrace_status ct_task_add(uint64_t due_ns, ct_server_task *task, void *user) CT_MUST_USE;

/* The control thread only.  Fills in the entries for poll().  True: one of them is to be called
 * without a wait. */
bool ct_watch_gather(struct ct_watch out[CT_WATCH_LIMIT], struct pollfd fds[CT_WATCH_LIMIT]);
/* Calls a gathered watch.  index: its position. */
void ct_watch_call(const struct ct_watch *watch, uint32_t index);
uint64_t ct_task_next_ns(void); /* when the next is due; UINT64_MAX: none */
/* Runs one task that is due by then; false when there is none. */
bool ct_task_run(uint64_t now_ns);

/* The thread has ended, or belongs to another process: removes all entries. */
void ct_task_reset(void);
/* The same in a forked child.  Also closes the child's copies of the descriptors that the parent
 * watches: while they are open, the peer does not see the parent's end. */
void ct_task_detach(void);

#endif
