/*
 * last_thread.c - a process whose last thread ends without exit(): pthread_exit() in main, or a
 * child of clone(2) that returns.
 *
 * Without our threads libc would call exit(0) then, and the kernel would end the child with what
 * its first thread returned.  So we look whether a thread of the program is left: soon, later once
 * a second. When none is left at two looks, a thread that is like one of the program's ends the
 * process.
 *
 * On the control thread, as a task; where there is none, or no room for a task, on the consumer
 * thread.  Under no lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#include "lib/control/server.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_MS 100u /* twice as long from look to look, up to the next */
#define WAIT_MOST_MS 1000u
#define AGAIN_MS 20u /* when it was alone */

static struct {
	pid_t pid;      /* when the library was loaded, or of a child of fork(2) */
	bool is_alone;  /* at the last look */
	bool has_begun; /* atomic: the end */
	int exit_code;
	unsigned wait_ms;    /* before the next look */
	uint32_t is_watched; /* atomic: the control thread looks, or has until the end */
} last = { .wait_ms = WAIT_MS };

void ct_last_thread_begin(void)
{
	last.pid = getpid();
}

void ct_last_thread_reset(void)
{
	last.is_alone = last.has_begun = false;
	last.wait_ms = WAIT_MS;
	__atomic_store_n(&last.is_watched, 0, __ATOMIC_RELAXED);
}

static void *process_end(void *unused)
{
	(void)unused;
	/* The end of a child of clone(2) runs no handlers of atexit(3). */
	if (getpid() == last.pid)
		exit(0);
	ct_process_end();
	(void)syscall(SYS_exit_group, last.exit_code >> 8);
	return NULL;
}

static void look(void)
{
	bool was_alone = last.is_alone;

	last.is_alone = ct_os_is_alone(&last.exit_code);
	if (last.is_alone && was_alone &&
	    !__atomic_exchange_n(&last.has_begun, true, __ATOMIC_RELAXED) &&
	    ct_os_thread_start_program(process_end) != CTRACE_OK)
		__atomic_store_n(&last.has_begun, false, __ATOMIC_RELAXED);
}

void ct_last_thread_watch(void *unused)
{
	(void)unused;
	look();
	if (!__atomic_load_n(&last.has_begun, __ATOMIC_RELAXED)) {
		bool is_watched = ct_server_later(last.is_alone ? AGAIN_MS : last.wait_ms,
						  ct_last_thread_watch, NULL) == CTRACE_OK;

		__atomic_store_n(&last.is_watched, is_watched, __ATOMIC_RELAXED);
	}
	last.wait_ms = last.wait_ms * 2 < WAIT_MOST_MS ? last.wait_ms * 2 : WAIT_MOST_MS;
}

void ct_last_thread_look(void)
{
	if (__atomic_load_n(&last.is_watched, __ATOMIC_RELAXED) == 0)
		look();
}
