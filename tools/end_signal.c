/*
 * end_signal.c - SIGINT and SIGTERM end a verb in order.
 *
 * Called by verbs that go on until they are stopped, on the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "end_signal.h"

#include <stddef.h>

volatile sig_atomic_t ct_end_wanted;

static void note_end(int number)
{
	(void)number;
	ct_end_wanted = 1;
}

void ct_end_catch(sigset_t *out_while_waiting)
{
	struct sigaction action = { .sa_handler = note_end };
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
