/*
 * tools/processes/stats.h - the numbers of everything that is traced at one time, for the two
 * printers of ctrace stats.
 *
 *     stats_gather.c  reads process directories, and asks external writers
 *     stats_print.c   prints for people
 *     stats_json.c    prints for programs
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROCESSES_STATS_H
#define CT_TOOLS_PROCESSES_STATS_H

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
	char *place; /* the path of its directory; of a stream: the name of its host */
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	bool is_alive;
	uint64_t start_ns;
	char jobname[16];
	char program[256];
	struct list_counters counters;
	uint64_t emitted;
	uint64_t late_rings; /* larger rings that a traced thread had to make itself */
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
	bool is_of_stream; /* not of processes of this machine */
	uint64_t taken_ns; /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	struct stats_process *processes;
	size_t process_count;
	struct ct_display writers; /* writers and trcouts of it; arranged */
	/* something could not be read; stderr has the report */
	bool has_failed;
};

/* ---- stats_gather.c */
/* Reports what cannot be read on stderr, unless the target has no verb.  ct_stats_fini() is needed
 * in any case. */
void ct_stats_gather(struct stats *stats, const struct target *target);
void ct_stats_fini(struct stats *stats);
/* Sorts the processes by pid, as ct_stats_find() needs them. */
void ct_stats_sort(struct stats *stats);
/* Finds the same process, or component of it, in an earlier collection; NULL when it was not
 * there. */
const struct stats_process *ct_stats_find(const struct stats *stats,
					  const struct stats_process *process);
const struct stats_component *ct_stats_find_component(const struct stats_process *process,
						      const char *name);
/* Returns the growth per second since then; of a counter that began anew, counted from 0. */
double ct_stats_rate(uint64_t now, uint64_t then, uint64_t elapsed_ns);

/* ---- stats_print.c, stats_json.c: `before` is an earlier collection, for rates, or NULL. */
void ct_stats_print(FILE *to, const struct stats *stats, const struct stats *before);
/* one line; false when memory is short */
bool ct_stats_print_json(const struct stats *stats, const struct stats *before);

#endif
