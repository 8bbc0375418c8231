/*
 * watch_end.c - triggers that wait for the end of the process: by a fatal signal, or with an exit
 * status.
 *
 * A signal is noted by the handlers of lib/dump/crash.c, for a dump that others make.  For an exit
 * status the thread that ends the process acts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/watch/watch.h"

#include <stdlib.h>

#include "lib/dump/crash.h"
#include "lib/process/process.h"

/* Two commands at a time must not install handlers at once.  Taken before the lock of triggers. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* On the thread that ends the process, while all else still runs. */
static void exit_act(int status, void *unused)
{
	CT_CANCEL_OFF();
	struct ct_trigger_fired fired;
	char report[256];
	uint32_t at = 0;

	(void)unused;
	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED ||
	    ct_thread_locked != 0)
		return;
	while (ct_trigger_take_exit(status & 0xFF, &at, &fired))
		(void)ct_trigger_act(&fired, report);
}

void ct_watch_end_follow(void)
{
	static bool notes_exit;
	bool has_signal, has_exit;
	uint32_t on;

	ct_guard_lock(&lock);
	ct_trigger_find_ends(&has_signal, &has_exit);
	on = has_signal ? CT_DUMP_ON_SIGNAL | CT_DUMP_ON_ABORT : 0;
	if (__atomic_exchange_n(&ct_process.trigger_dump_on, on, __ATOMIC_RELAXED) != on)
		ct_crash_follow(&ct_process);
	if (has_exit && !notes_exit)
		notes_exit = on_exit(exit_act, NULL) == 0;
	ct_guard_unlock(&lock);
}

void ct_watch_end_forked(void)
{
	(void)pthread_mutex_init(&lock, NULL);
	ct_process.trigger_dump_on = 0; /* the child follows the triggers when it attaches */
}
