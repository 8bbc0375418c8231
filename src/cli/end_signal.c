/*
 * end_signal.c - SIGINT and SIGTERM end a verb in order.
 *
 * Called by verbs that go on until they are stopped, on the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/end_signal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define NS_PER_SECOND 1000000000u

volatile sig_atomic_t ct_end_wanted;

static void signal_note(int number)
{
	(void)number;
	ct_end_wanted = 1;
}

void ct_end_catch(sigset_t *out_while_waiting)
{
	struct sigaction action = { .sa_handler = signal_note };
	sigset_t ours;

	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &ours, out_while_waiting);
	(void)sigdelset(out_while_waiting, SIGINT);
	(void)sigdelset(out_while_waiting, SIGTERM);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

void ct_end_wait(uint64_t due_ns, const sigset_t *while_waiting)
{
	struct pollfd reader = { .fd = STDOUT_FILENO };
	uint64_t now_ns = ct_clock_mono_ns();
	uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
	struct timespec left = { .tv_sec = (time_t)(left_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(left_ns % NS_PER_SECOND) };

	if (ppoll(&reader, 1, &left, while_waiting) > 0)
		/* no event was asked for, so poll() reports only that the reader has gone */
		ct_end_wanted = 1;
}

bool ct_end_reader_gone(void)
{
	if (!ferror(stdout) || errno != EPIPE)
		return false;
	__fpurge(stdout);
	clearerr(stdout);
	return true;
}
