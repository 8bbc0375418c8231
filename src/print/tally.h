/*
 * print/tally.h - what traces hold, in numbers: per component, event, thread and name.
 *
 *     histogram.c  how long spans took, within 0.4 %, in bounded memory
 *     tally.c      rows of numbers from events
 *     tally_name.c under which name an event is counted
 *     compare.c    what differs between two tallies
 *
 * Used by ctrace stats PATH and ctrace diff, on their one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_TALLY_H
#define CT_PRINT_TALLY_H

#include "base/hash_table.h"
#include "print/distinct.h"
#include "print/print.h"

/*
 * ---- histogram.c: numbers by size.  Below 128 each has a bucket of its own; above, each doubling
 * is divided into 128 buckets of one width, which is at most 1/128 of what they count.  A bucket
 * stands for its middle, so that a percentile is off by less than 1/256.  Pages of 128 buckets are
 * made as they are needed.
 */
#define CT_HISTOGRAM_BUCKETS 128u
#define CT_HISTOGRAM_PAGES 58u
struct ct_histogram {
	uint64_t count, total, least, most; /* exact; total stops at UINT64_MAX */
	/* counted here and in no bucket: there was no page left for them */
	uint64_t unplaced;
	uint64_t *pages[CT_HISTOGRAM_PAGES];
};
/* pages_left: how many more pages all histograms together may make. */
void ct_histogram_add(struct ct_histogram *histogram, uint64_t value, size_t *pages_left);
/* Returns the least value that `permille` of 1000 values do not exceed; 0 without values. */
uint64_t ct_histogram_at(const struct ct_histogram *histogram, unsigned permille);
void ct_histogram_fini(struct ct_histogram *histogram);

/* ---- tally.c */
/* of each kind; further ones are counted in one row without a name */
#define CT_TALLY_ROWS 16384u
#define CT_TALLY_PAGES 65536u /* of all histograms: 64 MiB */
enum ct_tally_kind {
	CT_TALLY_COMPONENT,
	CT_TALLY_EVENT,
	CT_TALLY_THREAD,
	CT_TALLY_NAME, /* only after ct_tally_want_names() */
	CT_TALLY_KINDS
};
/* A status other than success, and how often an operation had it. */
#define CT_TALLY_STATUSES 8u /* of a row; further ones are only counted */
struct ct_tally_status {
	char text[16];
	uint64_t count;
};
struct ct_tally_row {
	/* of components, events and names; NULL: the row without a name */
	char *component;
	uint32_t event_id; /* of events; of names: of the event that begins or is the span */
	char *mnemonic;    /* likewise; NULL: none */
	char *name;        /* of names: "INIT of PAYROLL" */
	char *what;        /* of names: the name of the argument, "paragraph" */
	bool is_operation; /* of names: its events are what is counted, not spans */
	bool is_inferred;  /* of names: the end of some span is inferred */
	uint64_t self_ns;  /* of names: of all spans, without the spans within them */
	uint64_t moved;    /* of names: sum of the argument with the role of bytes */
	struct ct_tally_status *statuses; /* of names; NULL: none */
	unsigned status_count;
	uint64_t statuses_beyond; /* had no room in statuses */
	uint32_t level;           /* of events: the level of the first one */
	char *host, *program;     /* of threads */
	uint32_t pid, tid;
	uint64_t events; /* of names: spans that ended, or operations */
	uint64_t bytes;  /* estimated size in a ring */
	uint64_t levels[CTRACE_LEVEL_COUNT];
	struct ct_histogram *spans; /* ns; NULL: no span has ended here */
};
struct ct_tally {
	struct ct_tally_table {
		struct ct_tally_row *rows;
		size_t count;
		struct ct_hash_table table; /* of the rows that have a name */
		/* events in the row without a name, which is the last row if there is one */
		uint64_t beyond;
	} tables[CT_TALLY_KINDS];
	uint64_t events, bytes;
	uint64_t first_ns, last_ns;
	size_t pages_left;
	bool failed; /* memory was short: something is not counted */
	bool has_names;
	const char *by;            /* ct_tally_want_names() */
	struct ct_distinct types;  /* pointers to types of events */
	struct ct_tally_way *ways; /* by the number of the type: tally_name.c */
	uint32_t way_capacity;
	struct ct_buf name; /* of the event being added */
};
void ct_tally_init(struct ct_tally *tally);
void ct_tally_fini(struct ct_tally *tally);
/* Counts by name, too: all spans that a catalogue names, or, if `by` is not NULL, those that an
 * argument of this name names, and operations by that argument: events that have an argument with a
 * role.  In a component that has neither, all events with the argument are counted by its value.
 * The reader must return inferred ends (reader options, has_inferred). */
void ct_tally_want_names(struct ct_tally *tally, const char *by);
/* Has an event of the catalogue such an argument? */
bool ct_tally_by_is_known(const struct ct_catalog *catalog, const char *by);
/* Counts an event; an inferred end only as the end of its span. */
void ct_tally_add(struct ct_tally *tally, const struct ct_read_event *event);
/* "INIT of PAYROLL", or "READ CUSTFILE" */
void ct_tally_add_name(struct ct_buf *out, const struct ct_tally_row *row);

/* ---- tally_name.c, for tally.c */
struct ct_tally_subject {
	const struct ct_read_event
		*of;      /* has the items: the event, or the one that began the span */
	const char *what; /* the argument's name */
	bool is_operation;
};
/* Sets tally->name.  Returns false when the event counts under no name. */
bool ct_tally_find_name(struct ct_tally *tally, const struct ct_read_event *event,
			struct ct_tally_subject *out_subject);
/* Returns the time from the first event to the last; 0: all have one time, and there is no rate. */
uint64_t ct_tally_duration_ns(const struct ct_tally *tally);
/* per second; 0 when the duration is 0 */
double ct_tally_rate(uint64_t count, uint64_t duration_ns);
/* "1.23ms": three digits, for people. */
void ct_tally_add_duration(struct ct_buf *out, uint64_t ns);

/* ---- compare.c: what differs between two runs, by component and event. */
enum ct_difference {
	CT_DIFFERENT_NEW,
	CT_DIFFERENT_GONE,
	CT_DIFFERENT_MORE,
	CT_DIFFERENT_FEWER,
	CT_DIFFERENT_SLOWER,
	CT_DIFFERENT_FASTER,
	CT_DIFFERENT_COUNT
};
const char *ct_difference_name(enum ct_difference difference); /* "new" ... */
struct ct_compare_options {
	uint64_t min_count; /* rows with fewer events in both runs are ignored */
	double ratio;       /* over 1: how many times more often, or slower */
	/* compares events per second of the run, not counts */
	bool has_rates;
	uint64_t min_ns;         /* times of spans that differ by less are alike */
	enum ct_tally_kind kind; /* component, event, or name: those are compared by their counts
				  * and by the total time of their spans, the others by medians */
};
struct ct_tally_change {
	enum ct_difference difference;
	const struct ct_tally_row *a, *b; /* NULL: the run has no such row */
	/* the value that changed: a rate, a count, or ns */
	double was, is;
	/* is / was, or was / is: never below 1; 0 for new and gone */
	double ratio;
};
/* Sorted: new, gone, more, fewer, slower, faster; the greatest change first.  Free *out_changes. */
enum ctrace_status ct_compare(const struct ct_tally *a, const struct ct_tally *b,
			      const struct ct_compare_options *options,
			      struct ct_tally_change **out_changes, size_t *out_count) CT_MUST_USE;

#endif
