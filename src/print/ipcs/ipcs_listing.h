/*
 * print/ipcs/ipcs_listing.h - the structures that the files of a listing share, on the only
 * thread of ctrace ipcs:
 *
 *     ipcs_run.c     the entries, their order, and the calls of exits
 *     ipcs_report.c  the messages in the listing
 *
 * The first calls the second.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_IPCS_IPCS_LISTING_H
#define CT_PRINT_IPCS_IPCS_LISTING_H

#include "print/ipcs/ipcs.h"

#define CT_IPCS_EXITS 16u   /* components whose exits are kept loaded */
#define CT_IPCS_UNKNOWN 64u /* ids that are reported */

struct ct_ipcs_listing;

/* The exits of one component's catalogue. */
struct ct_ipcs_exits {
	const struct ct_catalog_component *component;
	struct ct_reader_exit filter;
	struct ct_reader_exit formatter;
	bool has_filter, has_formatter;
};

/* One command that is being listed. */
struct ct_ipcs_lister {
	struct ct_ipcs_listing *run;
	struct ct_ipcs_job *job;
	const struct ct_ipcs_command *command;
	struct ct_ipcs_layout layout;
	/* the entry to be listed; NULL: the next one must be read */
	const struct ct_read_event *next;
	bool is_at_end;
	bool is_terminated; /* an exit has ended the listing */
	uint64_t shown;
	uint64_t of_trace;          /* events of the selected trace */
	uint64_t first_ns, last_ns; /* of them */
	uint64_t in_time;           /* of them */
	struct ct_ipcs_traces traces;
	struct ct_ipcs_tallies tallies;
	struct ct_ipcs_exits exits[CT_IPCS_EXITS];
	uint32_t exit_count;
	struct ct_reader_exit user_exit;
	uint32_t unknown[CT_IPCS_UNKNOWN];
	uint32_t unknown_count;
	unsigned unsupported; /* a bit for each choice that ITT10007I has reported */
	bool has_reported_no_catalog;
};

struct ct_ipcs_listing {
	const struct ct_ipcs_output *output;
	struct ct_buf out;
	struct ct_ipcs_lister *listers;
	size_t count;
	bool is_merged;
	bool has_heading;
	bool is_spaced; /* the last line is empty */
	int64_t day;    /* of the last date line */
};

/* ---- ipcs_report.c */
void ct_ipcs_flush(struct ct_ipcs_listing *listing);
void ct_ipcs_offer(struct ct_ipcs_listing *listing); /* flushes when that is worth a call */
/* Prints a message of ct_ipcs_message_add() on a line of its own. */
void ct_ipcs_report_message(struct ct_ipcs_lister *lister, enum ct_ipcs_message id,
			    const char *const *values);
/* Reports the losses before this time, each once; at the end, the remaining ones. */
void ct_ipcs_report_gaps(struct ct_ipcs_lister *lister, uint64_t time_ns);
void ct_ipcs_report_last_gaps(struct ct_ipcs_lister *lister);
/* Each is reported once: events of the component cannot be selected by this operand; neither the
 * entry's id nor its component is known. */
void ct_ipcs_report_unsupported(struct ct_ipcs_lister *lister, enum ct_ipcs_choice choice,
				const struct ct_read_event *event);
void ct_ipcs_report_unknown(struct ct_ipcs_lister *lister, const struct ct_read_event *event);
/* Reports why nothing was shown: no such trace, but others; or no entries in that time. */
void ct_ipcs_report_no_trace(struct ct_ipcs_lister *lister);
void ct_ipcs_report_no_time(struct ct_ipcs_lister *lister);

#endif
