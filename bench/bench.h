/*
 * bench.h - what the files of the benchmarks share.
 *
 *     bench.py, rows.py    run everything in rounds; one table of figures, ratios and limits
 *     peers.py             runs a measured tracer, and LTTng's session daemon beside it
 *     harness.c, step.c    the program of one measured tracer: its modes; instructions counted one
 * by one workload.h           A and B: what every tracer records peer_ctrace.c        ctrace;
 * peer_direct.c: the baseline; peer_floor.c: a clock, a branch, a write; peer_lttng.c,
 * peer_spdlog.cpp    others measure.c            clocks, processors, medians, sizes
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a measured tracer: each program defines one */

/* How it is to be set up.  A tracer ignores what it does not have. */
struct bench_setup {
	const char *directory; /* its output */
	const char *rings;     /* a directory for mapped rings; "": the tracer's own choice */
	const char *output;    /* "binary", "text", "storage" or "nats" */
	const char *policy;    /* of a full ring: "block" or "discard" */
	const char *clock;     /* of events: "auto", "counter" or "monotonic" */
	uint64_t ring_bytes;   /* 0: the tracer's own choice */
};

struct bench_case {
	const char *name;
	void (*batch)(uint32_t count); /* makes `count` events */
	bool is_recorded;              /* they have to reach the output */
};

struct bench_peer {
	const char *name;
	const struct bench_case *cases;
	size_t case_count;
	void (*prepare)(const struct bench_setup *setup); /* once, before any other thread runs */
	/* in each thread that records; NULL: nothing to do */
	void (*thread_begin)(void);
	/* returns when the rings are empty, where the tracer can tell */
	void (*consumer)(void);
	void (*finish)(void);                 /* returns when everything is in the files */
	uint64_t (*delivered)(uint64_t made); /* events in the files, after `finish` */
};
extern const struct bench_peer bench_peer;

/* ---- measure.c */
static inline uint64_t bench_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
uint64_t bench_clock_ns(int clock);
uint64_t bench_process_ns(int pid); /* processor time of all its threads */
struct bench_span {
	uint64_t ticks;
	uint64_t mono_ns;
};
struct bench_span bench_span_now(void);
double bench_ns_per_tick(struct bench_span from, struct bench_span to);
/* 0 or 1: the first or second processor that the process may use */
void bench_pin_self(unsigned which);
void bench_pin_others(unsigned which); /* all threads of the process but the caller */
bool bench_has_two_processors(void);
void bench_sort(uint32_t *values, size_t count);
double bench_quantile(const uint32_t *sorted, size_t count, double quantile);
uint64_t bench_directory_size(const char *path); /* bytes of all files below it */
void bench_directory_remove(const char *path);
void bench_die(const char *what) __attribute__((noreturn));

/* ---- step.c */
/* Instructions of one event, the loop round it included; negative where they cannot be counted.
 * `arguments` start this program again, as a child that calls bench_step_run(). */
double bench_step_count(char *const arguments[], uint64_t tries);
void bench_step_run(const struct bench_case *bench, uint64_t tries, void (*consumer)(void))
	__attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
