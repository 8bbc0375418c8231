/*
 * recovery.c - a thread that recovers the traces of processes that died, off the way of everybody in this one.
 *
 * Started by the agent when the process has lived for a while.  Nothing waits for this thread: an output that hangs holds it up and nothing
 * else, and a process that ends leaves the orphan to the next who looks.  It loads no module: an orphan that needs one that this process
 * does not have is left for `ctrace recover`.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/agent.h"

#include <string.h>

static char directory[4096];

static void *run(void *argument)
{
	const struct ct_recover_options options = {
		.is_guest = true, .before_method = ct_agent_begin_method, .after_method = ct_agent_end_method
	};
	struct ct_recovery total = { 0 };

	(void)argument;
	ct_recover(directory, &options, &total, NULL, NULL);
	return NULL;
}

void ct_recovery_start(const char *run_directory)
{
	pthread_t thread;

	memcpy(directory, run_directory, strlen(run_directory) + 1);
	if (ct_os_thread_start(run, NULL, "ctrace-recovery", &thread) == CTRACE_OK)
		(void)pthread_detach(thread);
}
