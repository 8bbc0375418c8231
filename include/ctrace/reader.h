/*
 * ctrace/reader.h - exits of the readers: filters and formatters in C, beyond a catalogue's table.
 *
 * A component's catalogue names them: `filter: NAME`, `formatter: NAME`; CTRACE ... USEREXIT(NAME)
 * names another filter.  The reader looks for NAME.so on CTRACE_LINKLIST, under the rules for all
 * of ctrace's modules (absolute directories, owned by the user or root, not writable by others).  A
 * module exports `ctrace_filter_exit`, `ctrace_format_exit`, or both.  They run in the reading
 * tool, on one thread, never in the traced program.  Source: IPCS exits (CTRF and formatter) of
 * component trace; see docs/reading.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTRACE_READER_H
#define CTRACE_READER_H

#include <ctrace/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An exit's result.  After any other number the tool reports it (ITT10009I) and does not call
 * the exit again. */
enum ctrace_exit_code {
	CTRACE_EXIT_FORMAT = 0, /* show the event (a formatter: it is shown) */
	/* filter only: begin again with the first event; at most 16 times a run */
	CTRACE_EXIT_REREAD = 4,
	CTRACE_EXIT_BYPASS = 8,    /* do not show it (a formatter: show it as hexadecimal) */
	CTRACE_EXIT_NO_MORE = 12,  /* show it, and do not call this exit again */
	CTRACE_EXIT_TERMINATE = 16 /* end the run (ITT10008I) */
};

#define CTRACE_EXIT_WORK_AREA 4096u /* bytes; zero at first, kept from call to call of one exit */

/* The arguments of one call.  Borrowed until the exit returns. */
struct ctrace_exit_call {
	size_t size;                      /* of this struct: it may grow at its end */
	const struct ctrace_event *event; /* NULL in the final call */
	/* CTXIDONE: the final call, after the last event; its result is ignored */
	int is_done;
	const char *mnemonic;    /* "" */
	const char *description; /* "" */
	const char *host;        /* "" when not known */
	const char *jobname;
	unsigned asid;
	uint64_t sequence;   /* of all events that were read, from 1 */
	const char *options; /* CTRACE ... OPTIONS((text)); "" */
	int report;          /* 0 SHORT, 1 SUMMARY, 2 FULL, 3 TALLY; other tools: 2 */
	void *work_area;
	/* Formatters: prints a line of the listing, given without its end; characters that are
	 * not plain text are escaped. */
	void (*print)(const struct ctrace_exit_call *call, const char *text, size_t size);
	/* USERDATA of the event's trace, 16 bytes (CTXI): as CTRACE DEFINE gave it, or as the
	 * start/stop or display routine left it, when the first event of this kind was written.
	 * Any bytes: an address in them is one of the traced process.  Zeros for NOUSERDATA, for
	 * a component that nobody defined, and in the final call; never NULL.  Absent where `size`
	 * ends before it. */
	const unsigned char *userdata;
};
typedef int ctrace_exit(const struct ctrace_exit_call *call);

#ifdef __cplusplus
}
#endif
#endif
