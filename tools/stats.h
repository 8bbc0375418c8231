/*
 * stats.h - the numbers of everything that is traced, at one moment, for the two printers of ctrace stats.
 *
 *     stats_gather.c   what the processes keep in their run folders
 *     stats_writers.c  what external writers answer when they are asked
 *     stats_print.c    for people
 *     stats_json.c     for programs
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_STATS_H
#define CT_TOOLS_STATS_H

#include "control/client.h"
#include "list.h"
#include "writer/writer.h"

struct stats_component {
	char name[CTRACE_MAX_COMPONENT + 1];
	uint32_t level;
	uint64_t delivered;
	uint64_t bytes;
	char writer[16]; /* "": none */
	bool is_connected;
};
struct stats_dest {
	char emitter[32];
	char path[CTRACE_EMITTER_PATH_SIZE];
	uint64_t delivered;
	uint32_t failing; /* errno */
	uint64_t failures;
};
struct stats_process {
	char path[4096]; /* of its folder */
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
	uint32_t component_count;
	struct stats_component *components; /* by name */
	uint32_t dest_count;
	struct stats_dest *dests;
};
struct stats_writer {
	struct ct_writer_state state;
	enum ctrace_status status; /* not OK: it did not answer, and only its name is known */
	uint32_t trcout_count;
	struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT];
};
struct stats {
	uint64_t taken_ns; /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	struct stats_process *processes;
	size_t process_count;
	struct stats_writer *writers;
	size_t writer_count;
	bool has_failed; /* something was there that could not be read: said on stderr */
};

/* ---- stats_gather.c.  stats_fini() in any case. */
void ct_stats_gather(struct stats *stats, const struct ct_peer_filter *filter, unsigned timeout_ms);
void ct_stats_fini(struct stats *stats);
/* The same process in an earlier collection, and a component of it; NULL when it was not there. */
const struct stats_process *ct_stats_find(const struct stats *stats, const struct stats_process *process);
const struct stats_component *ct_stats_find_component(const struct stats_process *process, const char *name);

/* ---- stats_writers.c: asks every writer of a run directory, together for timeout_ms at most. */
void ct_stats_add_writers(struct stats *stats, const char *run_directory, unsigned timeout_ms);

/* ---- stats_print.c, stats_json.c: before is an earlier collection, for rates, or NULL. */
void ct_stats_print(FILE *to, const struct stats *stats, const struct stats *before);
bool ct_stats_print_json(const struct stats *stats, const struct stats *before); /* one line; false when memory is short */
/* Growth a second. */
double ct_stats_rate(uint64_t now, uint64_t before, const struct stats *stats, const struct stats *before_stats);

#endif
