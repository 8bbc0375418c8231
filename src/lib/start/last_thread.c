/*
 * last_thread.c - a process whose last thread ends without exit(): pthread_exit() in main, or a
 * child of clone(2) that returns.
 *
 * Without our threads libc would call exit(0) then, and the kernel would end the child with what
 * its first thread returned.  So we look whether a thread of the program is left: soon, later once
 * a second. When none is left at two looks, a thread that is like one of the program's ends the
 * process.
 *
 * On the control thread, as a task; where there is none, on the consumer thread.  Under no lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#include "lib/control/server.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_MS 20u
#define LAST_MS 1000u

static struct {
	pid_t pid;     /* when the library was loaded, or of a child of fork(2) */
	bool is_alone; /* at the last look */
	bool has_begun;
	int exit_code;
	unsigned wait_ms; /* before the next look */
} last = { .wait_ms = FIRST_MS };

void ct_last_thread_begin(void)
{
	last.pid = getpid();
	last.is_alone = last.has_begun = false;
	last.wait_ms = FIRST_MS;
}

static void *end_run(void *unused)
{
	(void)unused;
	/* The end of a child of clone(2) runs no handlers of atexit(3). */
	if (getpid() == last.pid)
		exit(0);
	ct_process_end();
	(void)syscall(SYS_exit_group, last.exit_code >> 8);
	return NULL;
}

void ct_last_thread_look(void)
{
	bool was_alone = last.is_alone;

	last.is_alone = ct_os_is_alone(&last.exit_code);
	if (last.is_alone && was_alone && !last.has_begun)
		last.has_begun = ct_os_thread_start_end(end_run) == CTRACE_OK;
}

void ct_last_thread_watch(void *unused)
{
	(void)unused;
	ct_last_thread_look();
	if (last.has_begun)
		return;
	(void)!ct_server_later(last.is_alone ? FIRST_MS : last.wait_ms, ct_last_thread_watch, NULL);
	last.wait_ms = last.wait_ms * 2 < LAST_MS ? last.wait_ms * 2 : LAST_MS;
}
