/*
 * bench.h - what the files of the benchmark share.
 *
 *     bench_trace.c   the order of the measurements, and what goes into the JSON
 *     cases.c         the loops: events, and the baselines that they are compared with
 *     measure.c       clocks, processors, medians
 *     step.c          instructions, counted one by one
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cases.c */
struct bench_case {
	const char *name;
	const char *title;
	void (*batch)(uint32_t count); /* makes `count` events */
	bool traces;                   /* they go through ctrace, and count as emitted */
	bool single;                   /* also timed one by one */
};
extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;
const struct bench_case *bench_case_find(const char *name);
void bench_nothing_batch(uint32_t count); /* what timing one event costs by itself */

void bench_cases_prepare(const char *folder); /* components, destinations; the baseline's ring is a file in folder */
void bench_cases_prepare_cobol(const char *library_folder);
bool bench_cases_have(const struct bench_case *bench); /* false: built without COBOL */
void bench_baseline_drain(void);                       /* the baseline's ring is empty again */
uint64_t bench_baseline_lost(void);

/* ---- measure.c */
static inline uint64_t bench_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
uint64_t bench_clock_ns(int clock);
struct bench_span {
	uint64_t ticks;
	uint64_t mono_ns;
};
struct bench_span bench_span_now(void);
double bench_ns_per_tick(struct bench_span from, struct bench_span to);
void bench_pin_self(unsigned which);   /* 0 or 1: the first or second processor that we may use */
bool bench_pin_agent(unsigned which);  /* false: there is no agent */
void bench_pin_others(unsigned which); /* all threads of the process but the caller */
bool bench_has_two_processors(void);
void bench_sort(uint32_t *values, size_t count);
double bench_quantile(const uint32_t *sorted, size_t count, double quantile);
uint64_t bench_folder_size(const char *path); /* bytes of all files below it */
void bench_folder_remove(const char *path);
void bench_die(const char *what) __attribute__((noreturn));

/* ---- step.c */
/* Instructions of one event of each case, the loop round it included; negative where that cannot be counted.  Forks, so call it before
 * there is anything to fork. */
void bench_step_count(void (*prepare)(void), double *out_instructions);

#endif
