/*
 * print_writers.c - DISPLAY TRACE,WTR=: external writers, their data sets, and the traces that they have, or should have.
 *
 * Called by the tools; pure.  A trace that names a writer which does not run loses nothing here, its events go to its other
 * destinations, but it is the classic mistake: so each such writer is shown as NOT ACTIVE, with who waits for it.
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
#include "read/display.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void add_line(struct ct_buf *out, const char *keyword, const char *format, ...) CT_PRINTF(3, 4);
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

static void add_trcout(struct ct_buf *out, const struct ct_display_trcout *trcout)
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
	ct_buf_add_format(&used, ", %" PRIu64 " EVENT%s", trcout->events, plural(trcout->events));
	ct_display_add_detail(out, "", ct_buf_text(&used));
	ct_buf_fini_into(&used, out);
	add_events(out, trcout->wrapped_events, "OVERWRITTEN");
	add_events(out, trcout->full_events, "NOT WRITTEN: IT IS FULL");
	if (trcout->failing != 0)
		add_line(out, "", "FAILING: %s", strerror_r((int)trcout->failing, error, sizeof error));
}

/* One whose traces were all disconnected stays connected: it may name the writer again. */
static void add_link(struct ct_buf *out, const struct ct_display_link *link, bool is_first)
{
	add_line(out, is_first ? "TRACES" : "", "ASID=%04X JOBNAME=%s PID=%u, %" PRIu64 " EVENT%s, %u RING%s", (unsigned)link->asid,
		 link->jobname, (unsigned)link->pid, link->events, plural(link->events), (unsigned)link->rings, plural(link->rings));
	ct_display_add_detail(out, "", link->traces[0] != '\0' ? link->traces : "*NONE AT PRESENT*");
}

static void add_links(struct ct_buf *out, const struct ct_display *display, uint32_t writer)
{
	bool is_first = true;

	for (uint32_t i = 0; i < display->link_rows.count; i++) {
		if (display->links[i].writer != writer)
			continue;
		add_link(out, &display->links[i], is_first);
		is_first = false;
	}
	if (is_first)
		ct_display_add_detail(out, "TRACES", "*NONE*");
}

/* ---- who waits ---- */

/* The names of a process's traces that wait for the writer; CT_DISPLAY_NONE: of presets. */
static void list_waiting(const struct ct_display *display, uint32_t process, const char *writer, struct ct_buf *names)
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
		add_line(out, keyword, "ASID=%04X JOBNAME=%s PID=%u", (unsigned)process->asid, process->jobname,
			 (unsigned)process->pid);
		ct_display_add_detail(out, "", ct_buf_text(&names));
		ct_buf_clear(&names);
		keyword = "";
	}
	out->failed |= names.failed;
	ct_buf_fini(&names);
}

/* ---- a writer ---- */

static void add_title_line(struct ct_buf *out, const char *name, const char *status, const char *mode, const char *since)
{
	unsigned column;

	ct_display_add_blanks(out, 2);
	column = 2 + ct_display_add_text(out, name);
	ct_display_add_blanks(out, column < 22 ? 22 - column : 1);
	ct_buf_add_format(out, "%-12s%-8s%s", status, mode, since);
	ct_display_end_line(out);
}

static void add_writer(struct ct_buf *out, const struct ct_display *display, uint32_t index)
{
	const struct ct_display_writer *writer = &display->writers[index];
	time_t seconds = (time_t)(writer->start_ns / 1000000000u);
	struct tm local = { 0 };
	char since[32];

	if (writer->is_silent) {
		add_title_line(out, writer->name, ct_display_writer_status(display, index), "", "");
		add_waiting(out, display, writer->name);
		return;
	}
	(void)localtime_r(&seconds, &local);
	if (strftime(since, sizeof since, "%Y-%m-%d %H.%M.%S", &local) == 0)
		since[0] = '\0';
	add_title_line(out, writer->name, ct_display_writer_status(display, index), writer->nowrap ? "NOWRAP" : "WRAP", since);
	add_line(out, "PID", "%u", (unsigned)writer->pid);
	add_line(out, "WRITTEN", "%" PRIu64 " EVENT%s, %" PRIu64 " BYTE%s%s", writer->events, plural(writer->events), writer->bytes,
		 plural(writer->bytes), writer->compress ? ", COMPRESSED WHEN CLOSED" : "");
	add_events(out, writer->wrapped_events, "OVERWRITTEN");
	add_events(out, writer->full_events, "NOT WRITTEN: ALL WAS FULL");
	for (uint32_t i = 0; i < display->trcout_rows.count; i++)
		if (display->trcouts[i].writer == index)
			add_trcout(out, &display->trcouts[i]);
	add_links(out, display, index);
	add_waiting(out, display, writer->name);
	if (writer->message[0] != '\0')
		ct_display_add_detail(out, "MESSAGE", writer->message);
}

static void add_rule(struct ct_buf *out)
{
	ct_buf_add_text(out, " -------------------------------------------------------\n");
}

void ct_display_print_writers(const struct ct_display *display, const struct ct_display_writers *which, struct ct_buf *out)
{
	const char *name = "";
	bool has_title = false;

	while ((name = ct_display_next_writer(display, which, name)) != NULL) {
		bool runs = false;

		if (!has_title)
			add_title_line(out, "WRITER", "STATUS", "MODE", "SINCE");
		has_title = true;
		for (uint32_t i = 0; i < display->writer_rows.count; i++) {
			if (!ct_name_is(name, strlen(name), display->writers[i].name))
				continue;
			runs = true;
			add_rule(out);
			add_writer(out, display, i);
		}
		if (runs)
			continue;
		add_rule(out);
		add_title_line(out, name, "NOT ACTIVE", "", "");
		add_waiting(out, display, name);
	}
	if (!has_title)
		ct_buf_add_text(out, "  NO WRITERS\n");
}
