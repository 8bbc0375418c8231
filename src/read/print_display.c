/*
 * print_display.c - DISPLAY TRACE for people: message IEE843I, its long and its short form.
 *
 * Called by the tools; pure.  The columns are those of z/OS, 0-based here, so that what reads that display reads this one:
 *
 *      IEE843I 14.27.14  TRACE DISPLAY
 *              SYSTEM STATUS INFORMATION
 *      ST=OFF AS=OFF BR=OFF EX=ON  MT=OFF
 *       TRACENAME
 *       =========
 *       SYSTCPIP
 *                           MODE BUFFER HEAD SUBS                 MODE 22, BUFFER 27, HEAD 34, SUBS 39 to 42, to the right
 *                           =====================
 *                           OFF         HEAD    1
 *          NO HEAD OPTIONS
 *       SUBTRACE            MODE BUFFER HEAD SUBS
 *      -------------------------------------------------------
 *       TCPIPROC            ON   0008M
 *          ASIDS      *NONE*                                      keyword 5, value 16
 *
 * What z/OS does not have: a line "ASID=001F JOBNAME=KVSERVER PID=12345" before the block of each process, when there are several; LIKE
 * under HEAD for a sublevel that follows its head; a name of 20 columns and more on a line of its own; sublevels of sublevels, one column
 * further in each; MINOPS, DEFINED and FILTERED among the details.  ctrace-display(7) says what each means.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/display.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NAME_COLUMN 2u
#define MODE_COLUMN 22u
#define TITLES "MODE BUFFER HEAD SUBS"

void ct_display_print_head(const struct ct_display *display, struct ct_buf *out)
{
	time_t seconds = (time_t)(display->time_ns / 1000000000u);
	struct tm local = { 0 };

	(void)localtime_r(&seconds, &local);
	ct_buf_add_format(out, " IEE843I %02d.%02d.%02d  TRACE DISPLAY\n", local.tm_hour, local.tm_min, local.tm_sec);
	ct_buf_add_text(out, "         SYSTEM STATUS INFORMATION\n");
	ct_buf_add_format(out, " ST=OFF AS=OFF BR=OFF EX=%-3s MT=OFF\n", display->is_any_on ? "ON" : "OFF");
}

/* ---- the long form ---- */

static void add_list(struct ct_buf *list, const char *text)
{
	if (list->size != 0)
		ct_buf_add_char(list, ',');
	ct_buf_add_text(list, text);
}

static void add_filter(struct ct_buf *out, const char *keyword, bool is_supported, struct ct_buf *list)
{
	ct_display_add_detail(out, keyword, list->size != 0 ? ct_buf_text(list) : is_supported ? "*NONE*" : "*NOT SUPPORTED*");
	out->failed |= list->failed;
	ct_buf_clear(list);
}

static void add_filters(struct ct_buf *out, const struct ctrace_display *shown)
{
	struct ct_buf list;

	ct_buf_init(&list);
	for (uint32_t i = 0; i < shown->asid_count; i++) {
		char asid[8];

		(void)snprintf(asid, sizeof asid, "%04X", (unsigned)shown->asid[i]);
		add_list(&list, asid);
	}
	add_filter(out, "ASIDS", shown->asids, &list);
	for (uint32_t i = 0; i < shown->jobname_count; i++)
		add_list(&list, shown->jobname[i]);
	add_filter(out, "JOBNAMES", shown->jobs, &list);
	ct_buf_fini(&list);
}

static void add_writer(struct ct_buf *out, const struct ct_display_trace *trace)
{
	const struct ctrace_display *shown = &trace->display;
	char text[sizeof shown->writer + sizeof "  (NOT ACTIVE)"];

	bool is_absent = !trace->writer_is_active && shown->mode != CT_DISPLAY_MODE_PRE;

	(void)snprintf(text, sizeof text, "%s%s", shown->writer, is_absent ? "  (NOT ACTIVE)" : "");
	if (shown->writer[0] == '\0')
		ct_display_add_detail(out, "WRITER", shown->wtr ? "*NONE*" : "*NOT SUPPORTED*");
	else
		ct_display_add_detail(out, "WRITER", text);
}

static void add_details(struct ct_buf *out, const struct ct_display_trace *trace)
{
	const struct ctrace_display *shown = &trace->display;

	if (shown->head && !shown->headopts) {
		ct_buf_add_text(out, "     NO HEAD OPTIONS\n");
		return;
	}
	add_filters(out, shown);
	ct_display_add_detail(out, "OPTIONS", shown->options[0] != '\0' ? shown->options : "*NONE*");
	if (shown->minops[0] != '\0')
		ct_display_add_detail(out, "MINOPS", shown->minops);
	add_writer(out, trace);
	if (!shown->is_defined && shown->mode != CT_DISPLAY_MODE_PRE)
		ct_display_add_detail(out, "DEFINED", "NO, THE PROGRAM ONLY TRACES WITH IT");
	if (shown->is_filtered)
		ct_display_add_detail(out, "FILTERED", "ON, BUT ITS FILTERS LEAVE THIS PROCESS OUT");
}

static void add_process(struct ct_buf *out, const struct ct_display *display, uint32_t index)
{
	const struct ct_display_process *process = &display->processes[index];

	ct_buf_add_format(out, " ASID=%04X JOBNAME=", (unsigned)process->asid);
	(void)ct_display_add_text(out, process->jobname);
	ct_buf_add_format(out, " PID=%u\n", (unsigned)process->pid);
}

void ct_display_print_notes(const struct ct_display *display, struct ct_buf *out)
{
	for (uint32_t i = 0; i < display->process_rows.count; i++) {
		if (display->processes[i].note[0] == '\0')
			continue;
		add_process(out, display, i);
		ct_display_add_detail(out, "NOTE", display->processes[i].note);
	}
}

static void add_trace_head(struct ct_buf *out, const char *name)
{
	ct_buf_add_text(out, "  TRACENAME\n  =========\n  ");
	(void)ct_display_add_text(out, name);
	ct_display_end_line(out);
}

static void add_trace(struct ct_buf *out, const struct ct_display_trace *trace)
{
	add_trace_head(out, trace->name);
	ct_display_add_blanks(out, MODE_COLUMN);
	ct_buf_add_text(out, TITLES "\n");
	ct_display_add_blanks(out, MODE_COLUMN);
	ct_buf_add_text(out, "=====================\n");
	ct_display_add_blanks(out, MODE_COLUMN);
	ct_display_add_columns(out, &trace->display, ct_display_mode(trace->display.mode), 5);
	ct_display_end_line(out);
	add_details(out, trace);
}

/* A sublevel is called by what its name has more than that of the trace above it. */
static void add_sublevel(struct ct_buf *out, const struct ct_display *display, const struct ct_display_trace *trace)
{
	const struct ct_display_trace *head = &display->traces[trace->head];
	unsigned column = NAME_COLUMN + trace->depth - 1;

	ct_buf_add_text(out, " -------------------------------------------------------\n");
	ct_display_add_blanks(out, column);
	column += ct_display_add_text(out, trace->name + strlen(head->name) + 1);
	if (column >= MODE_COLUMN) {
		ct_display_end_line(out);
		column = 0;
	}
	ct_display_add_blanks(out, MODE_COLUMN - column);
	ct_display_add_columns(out, &trace->display, ct_display_mode(trace->display.mode), 5);
	ct_display_end_line(out);
	add_details(out, trace);
}

/* Those below traces[root], up to end. */
static void add_sublevels(struct ct_buf *out, const struct ct_display *display, const struct ct_display_form *form, uint32_t root,
			  uint32_t end)
{
	uint32_t there = 0;
	uint32_t shown = 0;
	bool has_titles = false;

	for (uint32_t i = root + 1; i < end; i++) {
		const struct ct_display_trace *trace = &display->traces[i];

		if (!ct_display_shows(form, trace))
			continue;
		if (trace->depth > form->asked) {
			there++;
			if (shown >= form->limit)
				continue;
			shown++;
		}
		if (!has_titles)
			ct_buf_add_text(out, "  SUBTRACE            " TITLES "\n");
		has_titles = true;
		add_sublevel(out, display, trace);
	}
	if (shown < there)
		ct_buf_add_format(out, "     %u OF %u SUBLEVELS ARE SHOWN\n", (unsigned)shown, (unsigned)there);
}

static bool has_several_processes(const struct ct_display *display)
{
	for (uint32_t i = 1; i < display->trace_rows.count; i++)
		if (display->traces[i].process != display->traces[0].process)
			return true;
	return false;
}

void ct_display_print_long(const struct ct_display *display, const struct ct_display_form *form, struct ct_buf *out)
{
	bool has_several = has_several_processes(display);

	for (uint32_t root = 0; root < display->trace_rows.count;) {
		const struct ct_display_trace *trace = &display->traces[root];
		uint32_t end = ct_display_end_of(display, root);

		if (has_several && trace->process != CT_DISPLAY_NONE)
			add_process(out, display, trace->process);
		add_trace(out, trace);
		add_sublevels(out, display, form, root, end);
		root = end;
	}
	for (uint32_t i = 0; i < display->missing_rows.count; i++) {
		add_trace_head(out, display->missing[i]);
		ct_buf_add_text(out, "     NO PROCESS HAS THIS TRACE\n");
	}
	if (display->trace_rows.count == 0 && display->missing_rows.count == 0)
		ct_buf_add_text(out, "  NO TRACES\n");
}
