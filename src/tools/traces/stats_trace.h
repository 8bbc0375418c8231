/*
 * tools/traces/stats_trace.h - ctrace stats PATH: the numbers of traces, not of what runs.
 *
 * cmd_stats.c parses the options; stats_trace.c reads, counts and prints.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_STATS_TRACE_H
#define CT_TOOLS_TRACES_STATS_TRACE_H

#include "print/tally.h"
#include "tools/traces/reading.h"

enum stats_sort {
	STATS_BY_EVENTS,
	STATS_BY_BYTES,
	STATS_BY_NAME,
	STATS_BY_TOTAL,
	STATS_BY_MEDIAN,
	STATS_BY_P95,
	STATS_BY_P99,
	STATS_BY_MAX,
	STATS_BY_SELF
};
struct stats_trace {
	struct reading reading;
	bool has_kind; /* --by was given: only that table */
	enum ct_tally_kind kind;
	const char *by; /* of CT_TALLY_NAME: the argument */
	bool has_sort;  /* --sort was given */
	enum stats_sort sort;
	uint64_t limit; /* rows a table; 0: all */
	bool is_json;
};
/* The words of --by and --sort; false: it is none.  Any other word of --by is an argument's name.
 */
bool ct_stats_kind_parse(const char *word, enum ct_tally_kind *out_kind);
bool ct_stats_sort_parse(const char *word, enum stats_sort *out_sort);
/* Reads, prints, and gives the exit status. */
int ct_stats_trace(struct stats_trace *stats);

#endif
