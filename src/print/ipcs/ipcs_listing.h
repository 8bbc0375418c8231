/*
 * print/ipcs/ipcs_listing.h - what the files that list traces share, on the only thread of ctrace
 * ipcs:
 *
 *     ipcs_run.c    which entries come, and in which order
 *     ipcs_exits.c  what exits say to them
 *     ipcs_say.c    what is said about the listing, in it
 *
 * Each calls those below it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_IPCS_LISTING_H
#define CT_IPCS_LISTING_H

#include "print/ipcs/ipcs.h"

#define CT_IPCS_EXITS 16u   /* components whose exits are kept */
#define CT_IPCS_UNKNOWN 64u /* ids that are told */

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
	const struct ct_view *next; /* the entry to be listed; NULL: read on */
	bool is_at_end;
	bool is_terminated; /* by an exit */
	uint64_t shown;
	uint64_t of_trace;          /* events of the trace that is meant */
	uint64_t first_ns, last_ns; /* of them */
	uint64_t in_time;           /* of them */
	struct ct_ipcs_traces traces;
	struct ct_ipcs_tallies tallies;
	struct ct_ipcs_exits exits[CT_IPCS_EXITS];
	uint32_t exit_count;
	struct ct_reader_exit user_exit;
	uint32_t unknown[CT_IPCS_UNKNOWN];
	uint32_t unknown_count;
	unsigned unsupported; /* a bit for each choice that ITT10007I was said for */
	bool has_told_no_catalog;
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

/* ---- ipcs_say.c */
void ct_ipcs_flush(struct ct_ipcs_listing *listing);
void ct_ipcs_offer(struct ct_ipcs_listing *listing); /* flushes when that is worth a call */
/* A message, as ct_ipcs_message_add() makes it, on a line of its own. */
void ct_ipcs_say(struct ct_ipcs_lister *lister, enum ct_ipcs_message id, const char *const *values);
/* The losses before this time, once; and those that are left at the end. */
void ct_ipcs_say_gaps(struct ct_ipcs_lister *lister, uint64_t time_ns);
void ct_ipcs_say_last_gaps(struct ct_ipcs_lister *lister);
/* Once each: the component of the entry cannot be chosen from so; neither its id nor its component
 * is known. */
void ct_ipcs_say_unsupported(struct ct_ipcs_lister *lister, enum ct_ipcs_choice choice,
			     const struct ct_view *view);
void ct_ipcs_say_unknown(struct ct_ipcs_lister *lister, const struct ct_view *view);
/* Why nothing was shown: there is no such trace, but others; or it has nothing from that time. */
void ct_ipcs_say_no_trace(struct ct_ipcs_lister *lister);
void ct_ipcs_say_no_time(struct ct_ipcs_lister *lister);

/* ---- ipcs_exits.c */
/* False: the user's exit is missing, and the command cannot select what it should; it was said. */
bool ct_ipcs_exits_start(struct ct_ipcs_lister *lister);
/* The component's filter first, then the user's. */
enum ct_exit_answer ct_ipcs_exits_filter(struct ct_ipcs_lister *lister, const struct ct_view *view);
/* False: its component has no formatter. */
bool ct_ipcs_exits_format(struct ct_ipcs_lister *lister, const struct ct_view *view,
			  enum ct_exit_answer *out_answer);
/* The last call of each, unless one of them has ended the listing. */
void ct_ipcs_exits_finish(struct ct_ipcs_lister *lister);
void ct_ipcs_exits_close(struct ct_ipcs_lister *lister);

#endif
