/*
 * print_traces.c - DISPLAY TRACE without operands: one line for two traces, whatever the number of processes.
 *
 * Called by the tools; pure.
 *
 *       COMPONENT     MODE  BUFFER HEAD SUBS   COMPONENT     MODE  BUFFER HEAD SUBS
 *       ------------------------------------   ------------------------------------
 *       KVS           ON*   0064K  HEAD    2   SYSTCPIP      OFF+         HEAD    1
 *       * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH
 *       + OFF, BUT A SUBLEVEL IS NOT: D TRACE,COMP=name,SUBLEVEL SHOWS THEM
 *       - ON, BUT ITS FILTERS LEAVE OUT EACH PROCESS THAT HAS IT
 *
 * A trace that several processes have is shown once, with the mode of the process that traces most: ON before MIN before OFF before PRE.
 * A name of 14 columns and more has a line of its own, and its columns are in the next.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/display.h"

#include <stdio.h>
#include <string.h>

#define LEFT_COLUMN 2u
#define NAME_WIDTH 14u
#define MODE_WIDTH 6
#define GAP 3u

/* A trace of one name, of all processes. */
struct summary {
	const struct ct_display_trace *best;
	uint32_t next; /* the index behind them */
	bool differs;
	bool sublevel_is_on;
	bool is_left_out;
};

static int rank(uint32_t mode)
{
	return mode == CTRACE_MODE_ON ? 3 : mode == CTRACE_MODE_MIN ? 2 : mode == CTRACE_MODE_OFF ? 1 : 0;
}

static bool is_same(const struct ctrace_display *a, const struct ctrace_display *b)
{
	return a->mode == b->mode && a->buffer_rounded == b->buffer_rounded && a->head == b->head && a->subs == b->subs;
}

static void summarize_one(const struct ct_display *display, uint32_t root, struct summary *summary)
{
	const struct ct_display_trace *trace = &display->traces[root];

	summary->next = ct_display_end_of(display, root);
	summary->differs |= !is_same(&summary->best->display, &trace->display);
	if (rank(trace->display.mode) > rank(summary->best->display.mode))
		summary->best = trace;
	if (trace->display.mode == CTRACE_MODE_ON)
		summary->is_left_out &= trace->display.is_filtered != 0;
	for (uint32_t i = root + 1; i < summary->next; i++)
		summary->sublevel_is_on |= rank(display->traces[i].display.mode) > rank(CTRACE_MODE_OFF);
}

static struct summary summarize(const struct ct_display *display, uint32_t root)
{
	const char *name = display->traces[root].name;
	struct summary summary = { .best = &display->traces[root], .next = root, .is_left_out = true };

	while (summary.next < display->trace_rows.count && ct_name_is(name, strlen(name), display->traces[summary.next].name))
		summarize_one(display, summary.next, &summary);
	summary.sublevel_is_on &= summary.best->display.mode == CTRACE_MODE_OFF;
	summary.is_left_out &= summary.best->display.mode == CTRACE_MODE_ON;
	return summary;
}

/* ---- the lines ---- */

static void add_title(struct ct_buf *out)
{
	for (unsigned half = 0; half < 2; half++) {
		ct_display_add_blanks(out, half == 0 ? LEFT_COLUMN : GAP);
		ct_buf_add_text(out, "COMPONENT     MODE  BUFFER HEAD SUBS");
	}
	ct_display_end_line(out);
	for (unsigned half = 0; half < 2; half++) {
		ct_display_add_blanks(out, half == 0 ? LEFT_COLUMN : GAP);
		ct_buf_add_text(out, "------------------------------------");
	}
	ct_display_end_line(out);
}

static void add_columns(struct ct_buf *out, const struct summary *summary)
{
	char mode[8];

	(void)snprintf(mode, sizeof mode, "%s%s%s", ct_display_mode(summary->best->display.mode), summary->differs ? "*" : "",
		       summary->sublevel_is_on ? "+"
		       : summary->is_left_out  ? "-"
					       : "");
	ct_display_add_columns(out, &summary->best->display, mode, MODE_WIDTH);
}

/* Puts the trace into the half of the line that is free, 0 the left or 1 the right one.  Gives the one that is free then. */
static unsigned add_trace(struct ct_buf *out, const struct summary *summary, unsigned half)
{
	struct ct_buf name;
	unsigned columns;

	ct_buf_init(&name);
	columns = ct_display_add_text(&name, summary->best->name);
	if (half == 1 && columns >= NAME_WIDTH) {
		ct_display_end_line(out);
		half = 0;
	}
	ct_display_add_blanks(out, half == 0 ? LEFT_COLUMN : GAP);
	ct_buf_add(out, name.data, name.size);
	out->failed |= name.failed;
	ct_buf_fini(&name);
	if (columns >= NAME_WIDTH) {
		ct_display_end_line(out);
		ct_display_add_blanks(out, LEFT_COLUMN + NAME_WIDTH);
	} else {
		ct_display_add_blanks(out, NAME_WIDTH - columns);
	}
	add_columns(out, summary);
	if (half == 0 && columns < NAME_WIDTH)
		return 1;
	ct_display_end_line(out);
	return 0;
}

void ct_display_print_short(const struct ct_display *display, struct ct_buf *out)
{
	bool differs = false, sublevel_is_on = false, is_left_out = false;
	unsigned half = 0;

	if (display->trace_rows.count == 0) {
		ct_buf_add_text(out, "  NO TRACES\n");
		return;
	}
	add_title(out);
	for (uint32_t root = 0; root < display->trace_rows.count;) {
		struct summary summary = summarize(display, root);

		half = add_trace(out, &summary, half);
		differs |= summary.differs;
		sublevel_is_on |= summary.sublevel_is_on;
		is_left_out |= summary.is_left_out;
		root = summary.next;
	}
	if (half == 1)
		ct_display_end_line(out);
	if (differs)
		ct_buf_add_text(out, "  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH\n");
	if (sublevel_is_on)
		ct_buf_add_text(out, "  + OFF, BUT A SUBLEVEL IS NOT: D TRACE,COMP=name,SUBLEVEL SHOWS IT\n");
	if (is_left_out)
		ct_buf_add_text(out, "  - ON, BUT ITS FILTERS LEAVE OUT EACH PROCESS THAT HAS IT\n");
}
