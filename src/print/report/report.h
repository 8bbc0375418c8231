/*
 * print/report/report.h - a report: events packed into one page that shows them, wherever it is
 * opened and without any network.
 *
 *     ct_report_create, ct_report_add_path, for each view ct_report_add, for each note
 * ct_report_note, ct_report_write
 *
 * The page is web/report.html with its style and its script; how events lie in it is said in
 * report_pack.c, and read by web/report_data.js. Called by `ctrace report`, on its only thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_REPORT_H
#define CT_READ_REPORT_H

#include "print/print.h"
#include "read/read.h"

#include <stdio.h>

#define CT_REPORT_LIMIT 2000000u /* events, when nothing else is said */
/* bytes of an item that the page has; it says how many there were */
#define CT_REPORT_ITEM_SIZE 4096u
/* places of damage and loss; of others only their number */
#define CT_REPORT_NOTES 2000u
/* bytes of all items: of later events the page has none */
#define CT_REPORT_ITEMS_SIZE ((uint64_t)256 << 20)
/* the same, of records that copybooks decoded */
#define CT_REPORT_RECORDS_SIZE ((uint64_t)128 << 20)

struct ct_report;
struct ct_report_options {
	const char *title; /* or NULL */
	uint64_t limit;    /* events; 0: CT_REPORT_LIMIT */
};
enum ctrace_status ct_report_create(const struct ct_report_options *options,
				    struct ct_report **out_report) CT_MUST_USE;
void ct_report_destroy(struct ct_report *report);
/* what was named, for the head of the page */
void ct_report_add_path(struct ct_report *report, const char *path);
/* Views come in the order of their times, with pairs (reader options, has_pairs).  False: the page
 * has as many as it takes, and this one is not among them. */
bool ct_report_add(struct ct_report *report, const struct ct_view *view);
/* Events were passed over that are older than the first one that is added: there is no room for
 * them. */
void ct_report_pass(struct ct_report *report);
void ct_report_note(struct ct_report *report, const struct ct_read_note *note);

/* What is not in the page, for whoever makes it. */
struct ct_report_counts {
	uint64_t events; /* in the page */
	/* there was no room for their component, event or thread among 65535 others */
	uint64_t left_out;
	/* events that lack them: CT_REPORT_ITEMS_SIZE, CT_REPORT_RECORDS_SIZE */
	uint64_t without_items, without_records;
	bool is_full; /* there were more events than the limit */
};
void ct_report_count(const struct ct_report *report, struct ct_report_counts *out_counts);

/* Writes the page, once; nothing is added after it.  What the stream could not take is seen at the
 * stream. */
enum ctrace_status ct_report_write(struct ct_report *report, const struct ct_read_totals *totals,
				   FILE *to) CT_MUST_USE;

#endif
