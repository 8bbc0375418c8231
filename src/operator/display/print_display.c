/*
 * print_display.c - DISPLAY TRACE for people: message IEE843I, its long and its short form, and
 * external writers.
 *
 * Called by the tools; pure.  The columns are those of z/OS, 0-based here, so that what reads that
 * display reads this one:
 *
 *      IEE843I 14.27.14  TRACE DISPLAY
 *              SYSTEM STATUS INFORMATION
 *      ST=OFF AS=OFF BR=OFF EX=ON  MT=OFF
 *       TRACENAME
 *       =========
 *       SYSTCPIP
 *                           MODE BUFFER HEAD SUBS                 MODE 22, BUFFER 27, HEAD 34, SUBS
 * 39 to 42, to the right
 *                           =====================
 *                           OFF         HEAD    1
 *          NO HEAD OPTIONS
 *       SUBTRACE            MODE BUFFER HEAD SUBS
 *      -------------------------------------------------------
 *       TCPIPROC            ON   0008M
 *          ASIDS      *NONE*                                      keyword 5, value 16
 *
 * What z/OS does not have: a line "ASID=001F JOBNAME=KVSERVER PID=12345" before the block of each
 * process, when there are several; LIKE under HEAD for a sublevel that follows its head; a name of
 * 20 columns and more on a line of its own; sublevels of sublevels, one column further in each;
 * MINOPS, GRANTED, KEPT, DEFINED and FILTERED among the details.  ctrace-display(7) explains each.
 *
 * The short form has one line for two traces, whatever the number of processes:
 *
 *       COMPONENT     MODE  BUFFER HEAD SUBS   COMPONENT     MODE  BUFFER HEAD SUBS
 *       ------------------------------------   ------------------------------------
 *       KVS           ON*   0064K  HEAD    2   SYSTCPIP      OFF+         HEAD    1
 *       * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH
 *       + OFF, BUT A SUBLEVEL IS NOT: D TRACE,COMP=name,SUBLEVEL SHOWS THEM
 *       - ON, BUT ITS FILTERS LEAVE OUT EACH PROCESS THAT HAS IT
 *
 * A trace that several processes have is shown once, with the mode of the process that traces most:
 * ON before MIN before OFF before PRE. A name of 14 columns and more has a line of its own, and its
 * columns are in the next.
 *
 * A trace that names a writer which does not run loses nothing here, its events go to its other
 * destinations, but it is the classic error: so each such writer is shown as NOT ACTIVE, with who
 * waits for it.
 *
 *       WRITER              STATUS      MODE    SINCE                 STATUS 22, MODE 34, SINCE 42
 *      -------------------------------------------------------
 *       CTW                 ACTIVE      WRAP    2026-01-31 14.20.01
 *          PID        4711
 *          WRITTEN    123456 EVENTS, 12582912 BYTES
 *          TRCOUT01   /var/trace/kvs1
 *                     USED 0012M OF 0050M, 123456 EVENTS
 *                     10 EVENTS OVERWRITTEN
 *          TRACES     ASID=001F JOBNAME=KVSERVER PID=12345, 12345 EVENTS, 4 RINGS
 *                     KVS KVS.NET
 *          WAITING    ASID=0020 JOBNAME=KVCLIENT PID=12346
 *                     KVC
 *          MESSAGE    ITT110I INITIALIZATION OF CTRACE WRITER CTW COMPLETE
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display/display.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define RULE " -------------------------------------------------------\n"
#define LEFT_COLUMN 2u
#define NAME_WIDTH 14u
#define MODE_WIDTH 6
#define GAP 3u
#define NAME_COLUMN 2u
#define MODE_COLUMN 22u
#define TITLES "MODE BUFFER HEAD SUBS"

void ct_display_print_head(const struct ct_display *display, struct ct_buf *out)
{
	time_t seconds = (time_t)(display->time_ns / 1000000000u);
	struct tm local = { 0 };

	(void)localtime_r(&seconds, &local);
	ct_buf_add_format(out, " IEE843I %02d.%02d.%02d  TRACE DISPLAY\n", local.tm_hour,
			  local.tm_min, local.tm_sec);
	ct_buf_add_text(out, "         SYSTEM STATUS INFORMATION\n");
	ct_buf_add_format(out, " ST=OFF AS=OFF BR=OFF EX=%-3s MT=OFF\n",
			  display->is_any_on ? "ON" : "OFF");
}

/* ---- the long form ---- */

static void add_list(struct ct_buf *list, const char *text)
{
	if (list->size != 0)
		ct_buf_add_char(list, ',');
	ct_buf_add_text(list, text);
}

static void add_filter(struct ct_buf *out, const char *keyword, bool is_supported,
		       struct ct_buf *list)
{
	ct_display_add_detail(out, keyword,
			      list->size != 0 ? ct_buf_text(list)
			      : is_supported  ? "*NONE*"
					      : "*NOT SUPPORTED*");
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

/* The BUFFER column has the size that was asked for, as on z/OS; this line what it comes to. */
static void add_granted(struct ct_buf *out, const struct ct_display_trace *trace)
{
	struct ct_buf text;

	if (trace->display.buffer_granted == 0)
		return;
	ct_buf_init(&text);
	ct_display_add_size(&text, trace->display.buffer_granted);
	ct_buf_add_text(&text, " A THREAD, ");
	if (trace->rings == 0) {
		ct_buf_add_text(&text, "NO RING YET");
	} else {
		ct_display_add_size(&text, trace->ring_bytes);
		ct_buf_add_format(&text, " IN %" PRIu64 " RING%s", trace->rings,
				  trace->rings == 1 ? "" : "S");
	}
	ct_display_add_detail(out, "GRANTED", ct_buf_text(&text));
	ct_buf_fini_into(&text, out);
}

static void add_details(struct ct_buf *out, const struct ct_display_trace *trace)
{
	const struct ctrace_display *shown = &trace->display;

	if (shown->head && !shown->headopts) {
		ct_buf_add_text(out, "     NO HEAD OPTIONS\n");
		return;
	}
	add_filters(out, shown);
	ct_display_add_detail(out, "OPTIONS",
			      shown->options[0] != '\0' ? shown->options : "*NONE*");
	if (shown->minops[0] != '\0')
		ct_display_add_detail(out, "MINOPS", shown->minops);
	add_writer(out, trace);
	add_granted(out, trace);
	if (trace->is_storage && (shown->mode == CTRACE_MODE_ON || shown->mode == CTRACE_MODE_MIN))
		ct_display_add_detail(out, "KEPT", "IN STORAGE");
	if (!shown->is_defined && shown->mode != CT_DISPLAY_MODE_PRE)
		ct_display_add_detail(out, "DEFINED", "NO, THE PROGRAM ONLY TRACES WITH IT");
	if (shown->is_filtered)
		ct_display_add_detail(out, "FILTERED",
				      "ON, BUT ITS FILTERS LEAVE THIS PROCESS OUT");
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

/* A sublevel is shown under the part of its name that follows the name of the trace above it. */
static void add_sublevel(struct ct_buf *out, const struct ct_display *display,
			 const struct ct_display_trace *trace)
{
	const struct ct_display_trace *head = &display->traces[trace->head];
	unsigned column = NAME_COLUMN + trace->depth - 1;

	ct_buf_add_text(out, RULE);
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

/* Adds the sublevels of traces[root], up to index `end`. */
static void add_sublevels(struct ct_buf *out, const struct ct_display *display,
			  const struct ct_display_form *form, uint32_t root, uint32_t end)
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
		ct_buf_add_format(out, "     %u OF %u SUBLEVELS ARE SHOWN\n", (unsigned)shown,
				  (unsigned)there);
}

static bool display_has_several_processes(const struct ct_display *display)
{
	for (uint32_t i = 1; i < display->trace_rows.count; i++)
		if (display->traces[i].process != display->traces[0].process)
			return true;
	return false;
}

void ct_display_print_long(const struct ct_display *display, const struct ct_display_form *form,
			   struct ct_buf *out)
{
	bool has_several = display_has_several_processes(display);

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

/* ---- the short form ---- */

/* The traces of one name in all processes. */
struct summary {
	const struct ct_display_trace *best;
	uint32_t next; /* the index after the last of them */
	bool differs;
	bool sublevel_is_on;
	bool is_left_out;
};

static int mode_rank(uint32_t mode)
{
	return mode == CTRACE_MODE_ON    ? 3
	       : mode == CTRACE_MODE_MIN ? 2
	       : mode == CTRACE_MODE_OFF ? 1
					 : 0;
}

static bool trace_is_same(const struct ctrace_display *a, const struct ctrace_display *b)
{
	return a->mode == b->mode && a->buffer_rounded == b->buffer_rounded && a->head == b->head &&
	       a->subs == b->subs;
}

static void summary_add_trace(const struct ct_display *display, uint32_t root,
			      struct summary *summary)
{
	const struct ct_display_trace *trace = &display->traces[root];

	summary->next = ct_display_end_of(display, root);
	summary->differs |= !trace_is_same(&summary->best->display, &trace->display);
	if (mode_rank(trace->display.mode) > mode_rank(summary->best->display.mode))
		summary->best = trace;
	if (trace->display.mode == CTRACE_MODE_ON)
		summary->is_left_out &= trace->display.is_filtered != 0;
	for (uint32_t i = root + 1; i < summary->next; i++)
		summary->sublevel_is_on |=
			mode_rank(display->traces[i].display.mode) > mode_rank(CTRACE_MODE_OFF);
}

static struct summary summary_make(const struct ct_display *display, uint32_t root)
{
	const char *name = display->traces[root].name;
	struct summary summary = { .best = &display->traces[root],
				   .next = root,
				   .is_left_out = true };

	while (summary.next < display->trace_rows.count &&
	       ct_name_is(name, strlen(name), display->traces[summary.next].name))
		summary_add_trace(display, summary.next, &summary);
	summary.sublevel_is_on &= summary.best->display.mode == CTRACE_MODE_OFF;
	summary.is_left_out &= summary.best->display.mode == CTRACE_MODE_ON;
	return summary;
}

/* ---- the lines ---- */

static void add_short_title(struct ct_buf *out)
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

static void add_summary_columns(struct ct_buf *out, const struct summary *summary)
{
	char mode[8];

	(void)snprintf(mode, sizeof mode, "%s%s%s", ct_display_mode(summary->best->display.mode),
		       summary->differs ? "*" : "",
		       summary->sublevel_is_on ? "+"
		       : summary->is_left_out  ? "-"
					       : "");
	ct_display_add_columns(out, &summary->best->display, mode, MODE_WIDTH);
}

/* Puts the trace into the free half of the line, 0 left or 1 right.  Returns the half that is
 * free then. */
static unsigned add_summary(struct ct_buf *out, const struct summary *summary, unsigned half)
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
	add_summary_columns(out, summary);
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
	add_short_title(out);
	for (uint32_t root = 0; root < display->trace_rows.count;) {
		struct summary summary = summary_make(display, root);

		half = add_summary(out, &summary, half);
		differs |= summary.differs;
		sublevel_is_on |= summary.sublevel_is_on;
		is_left_out |= summary.is_left_out;
		root = summary.next;
	}
	if (half == 1)
		ct_display_end_line(out);
	if (differs)
		ct_buf_add_text(
			out, "  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH\n");
	if (sublevel_is_on)
		ct_buf_add_text(
			out,
			"  + OFF, BUT A SUBLEVEL IS NOT: D TRACE,COMP=name,SUBLEVEL SHOWS IT\n");
	if (is_left_out)
		ct_buf_add_text(out,
				"  - ON, BUT ITS FILTERS LEAVE OUT EACH PROCESS THAT HAS IT\n");
}

/* ---- writers ---- */

static void add_line(struct ct_buf *out, const char *keyword, const char *format, ...)
	CT_PRINTF(3, 4);
static void add_line(struct ct_buf *out, const char *keyword, const char *format, ...)
{
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	ct_display_add_detail(out, keyword, text);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "S";
}

static void add_events(struct ct_buf *out, uint64_t count, const char *what)
{
	if (count != 0)
		add_line(out, "", "%" PRIu64 " EVENT%s %s", count, plural(count), what);
}

/* ---- one that runs ---- */

/* has_several: then one of them is open. */
static void add_trcout(struct ct_buf *out, const struct ct_trcout_state *trcout, bool has_several)
{
	char keyword[12];
	char error[96];
	struct ct_buf used;

	(void)snprintf(keyword, sizeof keyword, "TRCOUT%02u", (unsigned)(trcout->number % 100));
	ct_display_add_detail(out, keyword, trcout->path);
	ct_buf_init(&used);
	ct_buf_add_text(&used, "USED ");
	ct_display_add_size(&used, trcout->used);
	ct_buf_add_text(&used, " OF ");
	ct_display_add_size(&used, trcout->limit);
	ct_buf_add_format(&used, ", %" PRIu64 " EVENT%s%s", trcout->events, plural(trcout->events),
			  has_several && trcout->is_open != 0 ? ", OPEN" : "");
	ct_display_add_detail(out, "", ct_buf_text(&used));
	ct_buf_fini_into(&used, out);
	add_events(out, trcout->wrapped_events, "OVERWRITTEN");
	add_events(out, trcout->full_events, "NOT WRITTEN: IT IS FULL");
	if (trcout->failing != 0)
		add_line(out, "", "FAILING: %s",
			 strerror_r((int)trcout->failing, error, sizeof error));
}

/* A process whose traces are all disconnected keeps its connection: it may name the writer
 * again. */
static void add_link(struct ct_buf *out, const struct ct_link_state *link, bool is_first)
{
	add_line(out, is_first ? "TRACES" : "",
		 "ASID=%04X JOBNAME=%s PID=%u, %" PRIu64 " EVENT%s, %u RING%s",
		 (unsigned)link->asid, link->jobname, (unsigned)link->pid, link->events,
		 plural(link->events), (unsigned)link->rings, plural(link->rings));
	ct_display_add_detail(out, "",
			      link->traces[0] != '\0' ? link->traces : "*NONE AT PRESENT*");
}

static void add_links(struct ct_buf *out, const struct ct_display *display, uint32_t writer)
{
	bool is_first = true;

	for (uint32_t i = 0; i < display->link_rows.count; i++) {
		if (display->links[i].writer != writer)
			continue;
		add_link(out, &display->links[i].state, is_first);
		is_first = false;
	}
	if (is_first)
		ct_display_add_detail(out, "TRACES", "*NONE*");
}

/* ---- who waits ---- */

/* Lists a process's traces that wait for the writer; CT_DISPLAY_NONE: those of presets. */
static void list_waiting(const struct ct_display *display, uint32_t process, const char *writer,
			 struct ct_buf *names)
{
	for (uint32_t i = 0; i < display->trace_rows.count; i++) {
		const struct ct_display_trace *trace = &display->traces[i];

		if (trace->process != process || !ct_display_waits(trace, writer))
			continue;
		if (names->size != 0)
			ct_buf_add_char(names, ' ');
		ct_buf_add_text(names, trace->name);
	}
}

static void add_waiting(struct ct_buf *out, const struct ct_display *display, const char *writer)
{
	const char *keyword = "WAITING";
	struct ct_buf names;

	ct_buf_init(&names);
	for (uint32_t i = 0; i < display->process_rows.count; i++) {
		const struct ct_display_process *process = &display->processes[i];

		list_waiting(display, i, writer, &names);
		if (names.size == 0)
			continue;
		add_line(out, keyword, "ASID=%04X JOBNAME=%s PID=%u", (unsigned)process->asid,
			 process->jobname, (unsigned)process->pid);
		ct_display_add_detail(out, "", ct_buf_text(&names));
		ct_buf_clear(&names);
		keyword = "";
	}
	out->failed |= names.failed;
	ct_buf_fini(&names);
}

/* ---- a writer ---- */

static void add_title_line(struct ct_buf *out, const char *name, const char *status,
			   const char *mode, const char *since)
{
	unsigned column;

	ct_display_add_blanks(out, 2);
	column = 2 + ct_display_add_text(out, name);
	ct_display_add_blanks(out, column < 22 ? 22 - column : 1);
	ct_buf_add_format(out, "%-12s%-8s%s", status, mode, since);
	ct_display_end_line(out);
}

static void add_running(struct ct_buf *out, const struct ct_display *display, uint32_t index)
{
	const struct ct_writer_state *writer = &display->writers[index].state;
	time_t seconds = (time_t)(writer->start_ns / 1000000000u);
	struct tm local = { 0 };
	char since[32];

	if (display->writers[index].is_silent) {
		add_title_line(out, writer->name, ct_display_writer_status(display, index), "", "");
		add_waiting(out, display, writer->name);
		return;
	}
	(void)localtime_r(&seconds, &local);
	if (strftime(since, sizeof since, "%Y-%m-%d %H.%M.%S", &local) == 0)
		since[0] = '\0';
	add_title_line(out, writer->name, ct_display_writer_status(display, index),
		       writer->nowrap ? "NOWRAP" : "WRAP", since);
	add_line(out, "PID", "%u", (unsigned)writer->pid);
	add_line(out, "WRITTEN", "%" PRIu64 " EVENT%s, %" PRIu64 " BYTE%s%s", writer->events,
		 plural(writer->events), writer->bytes, plural(writer->bytes),
		 writer->compress ? ", COMPRESSED WHEN CLOSED" : "");
	add_events(out, writer->wrapped_events, "OVERWRITTEN");
	add_events(out, writer->full_events, "NOT WRITTEN: ALL WAS FULL");
	for (uint32_t i = 0; i < display->trcout_rows.count; i++)
		if (display->trcouts[i].writer == index)
			add_trcout(out, &display->trcouts[i].state, writer->trcouts > 1);
	add_links(out, display, index);
	add_waiting(out, display, writer->name);
	if (writer->message[0] != '\0')
		ct_display_add_detail(out, "MESSAGE", writer->message);
}

void ct_display_print_writers(const struct ct_display *display,
			      const struct ct_display_writers *which, struct ct_buf *out)
{
	const char *name = "";
	bool has_title = false;

	while ((name = ct_display_next_writer(display, which, name)) != NULL) {
		bool runs = false;

		if (!has_title)
			add_title_line(out, "WRITER", "STATUS", "MODE", "SINCE");
		has_title = true;
		for (uint32_t i = 0; i < display->writer_rows.count; i++) {
			if (!ct_name_is(name, strlen(name), display->writers[i].state.name))
				continue;
			runs = true;
			ct_buf_add_text(out, RULE);
			add_running(out, display, i);
		}
		if (runs)
			continue;
		ct_buf_add_text(out, RULE);
		add_title_line(out, name, "NOT ACTIVE", "", "");
		add_waiting(out, display, name);
	}
	if (!has_title)
		ct_buf_add_text(out, "  NO WRITERS\n");
}
