/*
 * operate_cost.c - what an event costs while somebody operates its process.
 *
 * The thread that traces has one processor; the consumer thread, the control thread, the operator
 * (bench_operator) and the external writer share the other.  Batches are timed as in harness.c, the
 * cases take turns, and a ratio is made within a repetition.  A turn has a number of batches and a
 * time that it lasts at least, so that each sees many of the operator's requests.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRACE "BENCHOP"
#define EVENTS 1000u /* a batch */
#define WARM 10u
#define BATCHES 200u /* a turn, at least */
#define BATCHES_MOST 4000u
#define BATCHES_QUICK 5u
#define TURN_NS 150000000u
#define SETTLE 10u /* batches after which rings have changed hands for certain */
#define IDLE_TRACES 16u
#define OWN_BYTES (1u << 20)

const struct operate_case operate_cases[OPERATE_CASES] = {
	{ "alone", "A, nobody operates", 'n', false, false },
	{ "busy", "A, another program is busy", 'b', false, false },
	{ "display", "A, displayed continuously", 'd', false, false },
	{ "other", "A, another level 100 times a second", 'o', false, false },
	{ "same", "A, its level 100 times a second", 's', false, false },
	{ "flood", "A, its level continuously", 'f', false, false },
	{ "own", "A, rings of its own, consumer thread", 'n', true, false },
	{ "writer", "A, rings of its own, writer", 'n', true, true },
};

static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.OPER");
static struct ctrace_tracer tracer_other = CTRACE_TRACER("BENCH.OTHER");
static struct ctrace_tracer *own;
static uint32_t *batches[OPERATE_CASES];

void BENCH_NOINLINE operate_events(struct ctrace_tracer *trace, uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_A(trace, i);
}

void BENCH_NOINLINE operate_events_b(struct ctrace_tracer *trace, uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_B(trace, i);
}

/* As in any program, the tracer's address is a constant. */
static void BENCH_NOINLINE common_events(uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_A(&tracer, i);
}

void operate_flush(void)
{
	enum ctrace_status status = ctrace_flush(OPERATE_FLUSH_MS);

	if (status != CTRACE_OK) {
		fprintf(stderr, "bench_operate: cannot flush: %s\n", ctrace_status_name(status));
		exit(2);
	}
}

/* ---- a turn */

static void make(const struct operate_case *bench, struct operate_cost *cost, uint32_t count)
{
	if (bench->has_own_rings)
		operate_events(own, count);
	else
		common_events(count);
	cost->made += count;
}

static void time_batches(const struct operate_case *bench, struct operate_cost *cost,
			 unsigned repetition)
{
	struct operate_times *times = &cost->times[bench - operate_cases];
	uint32_t *at = batches[bench - operate_cases] + times->batches;
	uint64_t begin = bench_clock_ns(CLOCK_MONOTONIC);
	uint32_t count = 0, least = operate_is_quick ? BATCHES_QUICK : BATCHES;

	while (count < least || (!operate_is_quick && count < BATCHES_MOST &&
				 bench_clock_ns(CLOCK_MONOTONIC) - begin < TURN_NS)) {
		uint64_t start;

		operate_flush();
		make(bench, cost, WARM);
		start = bench_ticks();
		make(bench, cost, EVENTS);
		at[count++] = (uint32_t)(bench_ticks() - start);
	}
	operate_flush();
	cost->for_writer += bench->has_writer ? count * (EVENTS + WARM) : 0;
	times->batches += count;
	bench_sort(at, count);
	times->ns[repetition] = bench_quantile(at, count, 0.5);
}

/* Another order for the operator: it answers when it has begun, with what it has done before. */
static void order(const struct operate_process *operator_, char what, struct operate_times *times)
{
	unsigned long long requests, ns;
	char line[100];

	if (write(operator_->in, &what, 1) != 1)
		bench_die("bench_operator");
	operate_read_line(operator_, line, sizeof(line));
	if (sscanf(line, "%llu %llu", &requests, &ns) != 2)
		bench_die(line);
	times->requests += requests;
	times->seconds += (double)ns / 1e9;
}

static void take_turn(const struct operate_case *bench, struct operate_cost *cost,
		      const struct operate_process *operator_, unsigned repetition)
{
	struct operate_times *times = &cost->times[bench - operate_cases], ignored = { 0 };

	if (bench->has_writer)
		operate_trace_connect(TRACE, OPERATE_WRITER);
	for (uint32_t i = 0; i < SETTLE; i++) {
		operate_flush();
		make(bench, cost, EVENTS);
	}
	order(operator_, bench->order, &ignored);
	time_batches(bench, cost, repetition);
	order(operator_, 'n', times);
	if (bench->has_writer)
		operate_trace_connect(TRACE, "DISCONNECT");
}

/* ---- the order of things */

static void set_up(void)
{
	struct ctrace_tracer *idle;
	enum ctrace_status status =
		ctrace_emitter_property_set("BINFILE", "LOCATION", operate_paths.directory);
	char name[16];

	if (status == CTRACE_OK)
		status = ctrace_dest_set(NULL, "BINFILE", CTRACE_DEST_ADD);
	if (status == CTRACE_OK)
		status = ctrace_dest_set(NULL, "TEXTFILE", CTRACE_DEST_REMOVE);
	if (status == CTRACE_OK || status == CTRACE_EMITTER_NOT_FOUND)
		status = ctrace_level_set(NULL, CTRACE_INFO);
	if (status != CTRACE_OK || !operate_trace_define(TRACE, OWN_BYTES, &own)) {
		fprintf(stderr, "bench_operate: cannot set tracing up: %s\n",
			ctrace_status_name(status));
		exit(2);
	}
	for (unsigned i = 0; i < IDLE_TRACES; i++) {
		(void)snprintf(name, sizeof(name), "IDLE%u", i);
		if (!operate_trace_define(name, 0, &idle))
			bench_die(name);
	}
	operate_trace_connect(TRACE, "DISCONNECT");
	CTRACE(&tracer_other, CTRACE_INFO, 1, CTRACE_U32(1));
}

static void summarize(struct operate_times *times, uint32_t *at, double ns_per_event)
{
	for (unsigned i = 0; i < OPERATE_REPETITIONS; i++)
		times->ns[i] *= ns_per_event;
	bench_sort(at, times->batches);
	times->ns_median = bench_quantile(at, times->batches, 0.5) * ns_per_event;
	times->ns_p99 = bench_quantile(at, times->batches, 0.99) * ns_per_event;
	times->ns_p999 = bench_quantile(at, times->batches, 0.999) * ns_per_event;
}

static void count(struct operate_cost *cost)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };

	ctrace_stats_get(&stats);
	cost->emitted = stats.emitted;
	cost->delivered = stats.delivered;
	for (int i = 0; i < CTRACE_LOSS_COUNT; i++)
		cost->lost += stats.lost[i];
	cost->by_writer = operate_writer_ask().events;
}

static void measure(void *argument)
{
	struct operate_cost *cost = argument;
	struct operate_process operator_;
	struct bench_span start;
	double ns_per_event;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	operator_ = operate_start((const char *const[]){ operate_paths.disturber, "disturb",
							 operate_paths.run, pid, NULL },
				  OPERATE_OTHERS, false);
	bench_pin_self(OPERATE_TRACED);
	for (size_t i = 0; i < OPERATE_CASES; i++) {
		batches[i] = malloc((size_t)OPERATE_REPETITIONS * BATCHES_MOST * sizeof(uint32_t));
		if (batches[i] == NULL)
			bench_die("malloc");
		memset(batches[i], 1,
		       (size_t)OPERATE_REPETITIONS * BATCHES_MOST * sizeof(uint32_t));
	}
	set_up();
	cost->made = 1;
	operate_flush();
	bench_pin_others(OPERATE_OTHERS);
	start = bench_span_now();
	for (unsigned repetition = 0; repetition < OPERATE_REPETITIONS; repetition++)
		for (size_t i = 0; i < OPERATE_CASES; i++)
			take_turn(&operate_cases[i], cost, &operator_, repetition);
	ns_per_event = bench_ns_per_tick(start, bench_span_now()) / EVENTS;
	for (size_t i = 0; i < OPERATE_CASES; i++)
		summarize(&cost->times[i], batches[i], ns_per_event);
	count(cost);
	operate_end(&operator_, 0);
}

void operate_cost_measure(struct operate_cost *out)
{
	operate_in_child(measure, out);
}
