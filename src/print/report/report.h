/*
 * print/report/report.h - a report: events packed into one page that shows them, wherever it is
 * opened and without any network.
 *
 *     ct_report_create, ct_report_add_path, for each event ct_report_add,
 *     for each note ct_report_note, ct_report_write
 *
 * The page is web/report.html with its style and its script.  report_pack.c describes how events
 * lie in it; web/report_data.js reads them.  Called by `ctrace report`, on its only thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_REPORT_H
#define CT_PRINT_REPORT_H

#include "print/print.h"
#include "read/read.h"

#include <stdio.h>

#define CT_REPORT_LIMIT 2000000u /* events, unless the options give a limit */
/* bytes of an item in the page; the page also has the item's full size */
#define CT_REPORT_ITEM_SIZE 4096u
/* notes of damage and loss in the page; the others are only counted */
#define CT_REPORT_NOTES 2000u
/* bytes of all items; later events have none in the page */
#define CT_REPORT_ITEMS_SIZE ((uint64_t)256 << 20)
/* bytes of all records that copybooks decoded */
#define CT_REPORT_RECORDS_SIZE ((uint64_t)128 << 20)

struct ct_report;
struct ct_report_options {
	const char *title; /* or NULL */
	uint64_t limit;    /* events; 0: CT_REPORT_LIMIT */
};
enum ctrace_status ct_report_create(const struct ct_report_options *options,
				    struct ct_report **out_report) CT_MUST_USE;
void ct_report_destroy(struct ct_report *report);
/* Adds a path for the head of the page. */
void ct_report_add_path(struct ct_report *report, const char *path);
/* Adds events in the order of their times, with pairs and inferred ends (reader options, has_pairs,
 * has_inferred).  An inferred end is no event of the page.  Returns false when the page is full and
 * the event is left out. */
bool ct_report_add(struct ct_report *report, const struct ct_read_event *event);
/* Notes that an event was skipped because the page has no room: it is older than the first event
 * added. */
void ct_report_pass(struct ct_report *report);
void ct_report_note(struct ct_report *report, const struct ct_read_note *note);

/* What the page lacks, for the verb's report. */
struct ct_report_counts {
	uint64_t events; /* in the page */
	/* their component, event or thread had no room among 65535 others */
	uint64_t left_out;
	/* events without them: CT_REPORT_ITEMS_SIZE, CT_REPORT_RECORDS_SIZE */
	uint64_t without_items, without_records;
	bool is_full; /* there were more events than the limit */
};
void ct_report_count(const struct ct_report *report, struct ct_report_counts *out_counts);

/* Writes the page, once; nothing is added after it.  A failed write shows in the stream's error. */
enum ctrace_status ct_report_write(struct ct_report *report, const struct ct_read_totals *totals,
				   FILE *to) CT_MUST_USE;

#endif
