/*
 * recovery.c - a thread that recovers the traces of processes that died.
 *
 * The consumer thread starts it when the process has lived for a second.  No other thread waits for
 * it: an output that hangs holds up this thread alone.  When the process ends first, the orphan
 * stays for the next process or `ctrace recover`.  The thread loads no module: an orphan that needs
 * an emitter that this process does not have stays for `ctrace recover`, too.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/consumer_thread.h"

#include <string.h>

static char directory[4096];

static void *recovery_run(void *argument)
{
	const struct ct_recover_options options = { .is_guest = true,
						    .before_method =
							    ct_consumer_thread_begin_method,
						    .after_method = ct_consumer_thread_end_method };
	struct ct_recovery total = { 0 };

	(void)argument;
	ct_recover(directory, &options, &total, NULL, NULL);
	return NULL;
}

void ct_recovery_start(const char *run_directory)
{
	pthread_t thread;

	if (ct_setup_leaves_losses())
		return; /* whoever wants to see directories does so first, and recovers them */
	memcpy(directory, run_directory, strlen(run_directory) + 1);
	if (ct_os_thread_start(recovery_run, NULL, "ctrace-recovery", &thread) == CTRACE_OK)
		(void)pthread_detach(thread);
}
