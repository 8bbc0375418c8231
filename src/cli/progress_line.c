/*
 * progress_line.c - a line on the terminal about work that takes long.
 *
 * Called by the verbs that read traces, on the tool's only thread.  The line is on standard error
 * and is written over by the next one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base.h"

#define NS_PER_SECOND 1000000000u
#define PATIENCE_NS NS_PER_SECOND /* work that is done by then shows nothing */
#define INTERVAL_NS (NS_PER_SECOND / 5)

static const char *name; /* NULL: nothing is to be shown */
static uint64_t next_ns;
static bool is_shown;

void progress_start(const char *verb)
{
	name = isatty(STDERR_FILENO) ? verb : NULL;
	next_ns = ct_clock_mono_ns() + PATIENCE_NS;
}

void progress_step(uint64_t count, const char *what, unsigned permille)
{
	uint64_t now_ns;

	if (name == NULL)
		return;
	now_ns = ct_clock_mono_ns();
	if (now_ns < next_ns)
		return;
	next_ns = now_ns + INTERVAL_NS;
	is_shown = true;
	fprintf(stderr, "\r%s: %" PRIu64 " %s", name, count, what);
	if (permille != 0)
		fprintf(stderr, ", %u %%", permille / 10);
	fputs("\033[K", stderr);
	(void)fflush(stderr);
}

void progress_clear(void)
{
	if (!is_shown)
		return;
	is_shown = false;
	fputs("\r\033[K", stderr);
	(void)fflush(stderr);
}
