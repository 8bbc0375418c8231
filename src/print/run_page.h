/*
 * print/run_page.h - what a run of COBOL programs did, on one page: programs, paragraphs, files,
 * errors.
 *
 * Used by `ctrace run` on its one thread.  Memory is bounded, whatever the trace holds.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_RUN_PAGE_H
#define CT_PRINT_RUN_PAGE_H

#include "print/print.h"

/* Of each kind; what comes beyond is counted in one row, "(others)". */
#define CT_RUN_PAGE_ROWS 4096u
#define CT_RUN_PAGE_THREADS 4096u
#define CT_RUN_PAGE_DEPTH 512u /* of programs that call each other; deeper ones have no time */
#define CT_RUN_PAGE_ERRORS 64u /* different ones */

struct ct_run_page;
/* What was not traced on purpose: why a table has no row.  A sentence each; NULL: it was traced. */
struct ct_run_page_untraced {
	const char *programs, *paragraphs, *files;
	bool records; /* of files OPEN and CLOSE were traced, not what they did with records */
};
struct ct_run_page_options {
	int width;           /* columns of a line; 0: no limit, nothing is cut */
	unsigned rows;       /* of each table at most; 0: 10 */
	const char *losses;  /* lines about events that are not in the trace; or NULL */
	const char *subject; /* "./payroll ended with exit status 3"; NULL: not shown */
	const char *trace;   /* the name of the trace, as the user types it */
	const char *report;  /* the page for a browser, if there is one; or NULL */
	const char *files;   /* NAME,...: the rows of files, by SELECT or base name; NULL: all */
	struct ct_run_page_untraced untraced;
};
enum ctrace_status ct_run_page_create(struct ct_run_page **out_page) CT_MUST_USE;
void ct_run_page_destroy(struct ct_run_page *page);
/* Takes the events of a trace in their order; those of other components only count. */
void ct_run_page_add(struct ct_run_page *page, const struct ct_read_event *event);
/* How many events were taken. */
uint64_t ct_run_page_events(const struct ct_run_page *page);
/* How many events were of mf.rts or mf.mffh.xfh: without one, no COBOL program was traced. */
uint64_t ct_run_page_traced(const struct ct_run_page *page);
/* Adds the page.  Called once, after the last event. */
void ct_run_page_print(struct ct_run_page *page, const struct ct_run_page_options *options,
		       struct ct_buf *out);
/* "1,234", "4.5 MiB" and "12.3 ms", for people. */
void ct_run_page_add_count(struct ct_buf *out, uint64_t count);
void ct_run_page_add_bytes(struct ct_buf *out, uint64_t bytes);
void ct_run_page_add_time(struct ct_buf *out, uint64_t ns);

#endif
