/*
 * tools/processes/stats.h - the numbers of everything that is traced, at one moment, for the two
 * printers of ctrace stats.
 *
 *     stats_gather.c  what the processes keep in their process directories, and what external
 * writers answer stats_print.c   for people stats_json.c    for programs
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_STATS_H
#define CT_TOOLS_STATS_H

#include <stdio.h>

#include "operator/display_trace.h"
#include "tools/processes/list.h"

struct stats_component {
	char name[CTRACE_MAX_COMPONENT + 1];
	uint32_t level;
	uint64_t delivered;
	uint64_t bytes;
	char writer[16]; /* "": none */
	bool is_connected;
	uint32_t dests; /* bit n: the destination with this index */
};
struct stats_dest {
	uint32_t index;
	char emitter[32];
	char path[CTRACE_EMITTER_PATH_SIZE];
	uint64_t delivered;
	uint64_t lost;
	struct list_failure failure;
	uint64_t failures;
};
struct stats_process {
	char path[4096]; /* of its directory */
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	bool is_alive;
	uint64_t start_ns;
	char jobname[16];
	char program[256];
	struct list_counters counters;
	uint64_t emitted;
	uint64_t control_requests;
	uint64_t control_refused;
	char *configuration;        /* in a line; NULL: memory was short */
	struct json_t *config_json; /* the same, for programs */
	uint32_t component_count;
	struct stats_component *components; /* by name */
	uint32_t dest_count;
	struct stats_dest *dests;
};
struct stats {
	uint64_t taken_ns; /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	struct stats_process *processes;
	size_t process_count;
	struct ct_display writers; /* writers and trcouts of it; arranged */
	bool has_failed;           /* something was there that could not be read: said on stderr */
};

/* ---- stats_gather.c */
/* What cannot be read is told on stderr.  ct_stats_fini() in any case. */
void ct_stats_gather(struct stats *stats, const struct target *target);
void ct_stats_fini(struct stats *stats);
/* The same process in an earlier collection, and a component of it; NULL when it was not there. */
const struct stats_process *ct_stats_find(const struct stats *stats,
					  const struct stats_process *process);
const struct stats_component *ct_stats_find_component(const struct stats_process *process,
						      const char *name);
/* Growth a second since then; of a counter that began anew, from nothing. */
double ct_stats_rate(uint64_t now, uint64_t then, uint64_t elapsed_ns);

/* ---- stats_print.c, stats_json.c: before is an earlier collection, for rates, or NULL. */
void ct_stats_print(FILE *to, const struct stats *stats, const struct stats *before);
/* one line; false when memory is short */
bool ct_stats_print_json(const struct stats *stats, const struct stats *before);

#endif
