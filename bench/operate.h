/*
 * operate.h - what the files of bench_operate share.
 *
 *     bench_operate.c     the order of the measurements, and what goes into the JSON
 *     operate_level.c     a hundred processes: how soon a level is in force in all of them
 *     operate_cost.c      what an event costs while somebody operates its process
 *     operate_writer.c    an external writer: started, asked, measured, stopped
 *     operate_process.c   starting other programs
 *     bench_operator.c    another program: the operator who disturbs
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef OPERATE_H
#define OPERATE_H

#include "bench.h"

#include <ctrace/component.h>
#include <sys/types.h>

#define OPERATE_WRITER "BENCHWR"
#define OPERATE_TRACED 0u /* processor of the thread that traces */
#define OPERATE_OTHERS 1u /* of everything else */
#define OPERATE_FLUSH_MS 60000u

/* ---- bench_operate.c: paths; whole before anything is measured */
struct operate_paths {
	char directory[512]; /* of this run; goes at its end */
	char run[600];
	char data[600];       /* a writer's */
	char tool[4200];      /* build/ctrace */
	char disturber[4200]; /* build/bench/bench_operator */
};
extern struct operate_paths operate_paths;

/* Few of everything: shows that it works, measures nothing.  Constant from the start on. */
extern bool operate_is_quick;

/* Shared memory that is zero. */
void *operate_share(size_t size);

/* ---- operate_process.c */
struct operate_process {
	pid_t pid;
	int in;  /* what we write there it reads; -1 */
	int out; /* and the other way */
};
/* Runs a program on one processor; it ends with us.  Its standard input and output are pipes, to
 * us; is_quiet: what it says on standard error is not wanted. */
struct operate_process operate_start(const char *const arguments[], unsigned processor,
				     bool is_quiet);
/* The next line of what it says, without its end; dies when there is none. */
void operate_read_line(const struct operate_process *process, char *line, size_t size);
/* Sends a signal unless it is 0, closes the pipes, waits.  Dies unless it ended in order. */
void operate_end(struct operate_process *process, int signal);
/* Forks: `body` runs in a process of its own, which can attach anew.  Dies unless it returned. */
void operate_in_child(void (*body)(void *argument), void *argument);

/* ---- operate_cost.c */
/* Events of that trace. */
void operate_events(struct ctrace_tracer *tracer, uint32_t count);   /* A */
void operate_events_b(struct ctrace_tracer *tracer, uint32_t count); /* B */
void operate_flush(void);

/* ---- operate_level.c */
#define OPERATE_PROCESSES 100u
#define OPERATE_CHANGES 21u
struct operate_level {
	double in_force_ms[OPERATE_CHANGES];
	double command_ms[OPERATE_CHANGES]; /* until the command has ended */
};
void operate_level_measure(struct operate_level *out);

/* ---- operate_cost.c */
#define OPERATE_REPETITIONS 9u
#define OPERATE_CASES 8u
struct operate_case {
	const char *name;
	const char *title;
	char order;         /* what bench_operator is to do meanwhile */
	bool has_own_rings; /* the trace is one with rings of its own */
	bool has_writer;    /* which go to a writer */
};
struct operate_times {
	double ns[OPERATE_REPETITIONS]; /* an event, median of batches */
	double ns_median, ns_p99, ns_p999;
	uint64_t batches;
	uint64_t requests; /* of the operator */
	double seconds;    /* in which it made them */
};
struct operate_cost {
	struct operate_times times[OPERATE_CASES];
	uint64_t made, emitted, delivered, lost;
	/* of the timed batches, when the rings were the writer's for certain */
	uint64_t for_writer;
	uint64_t by_writer; /* what the writer says: these, and a few from before */
};
extern const struct operate_case operate_cases[OPERATE_CASES];
void operate_cost_measure(struct operate_cost *out); /* a writer has to run */

/* ---- operate_writer.c */
struct operate_writer_status {
	uint64_t events, bytes, wrapped, full;
};
struct operate_process operate_writer_start(void);
struct operate_writer_status operate_writer_ask(void);
bool operate_trace_define(const char *name, uint64_t buffer, struct ctrace_tracer **out_tracer);
/* writer: a name or "DISCONNECT". */
void operate_trace_connect(const char *name, const char *writer);

#define OPERATE_WORKLOADS 2u
extern const char *const operate_workloads[OPERATE_WORKLOADS];
#define OPERATE_SUSTAINED 3u
struct operate_sustained {
	uint64_t events;
	double seconds;          /* until all of it was in the data set */
	double producer_seconds; /* until the last event was made */
	double writer_seconds;   /* of its processor */
	uint64_t emitted, delivered, pending, lost;
	uint64_t written; /* what the writer says */
	uint64_t bytes;
};
/* From one thread as fast as it can, under `block`; with a writer of its own.  workload: an index
 * of operate_workloads[]. */
void operate_sustain(unsigned workload, struct operate_sustained *out);

#endif
