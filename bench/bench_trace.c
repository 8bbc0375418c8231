/*
 * bench_trace.c - what a trace event costs, beside what it cannot cost less than, in one run.
 *
 *     bench_trace OUTPUT.json       called by bench/run; bench/report.py judges the figures
 *
 * The producer runs on one processor, the agent on another.  A batch of 1,000 events is timed by rdtsc; before the next, everything
 * is flushed, outside the timed part.  Events and baselines take turns, REPETITIONS times; ratios are made within a repetition, so
 * that what else the machine does then slows both.  Every event has to reach the files: what was made, emitted and delivered is
 * among the figures.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <ctrace/ctrace.h>
#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 1000u /* a batch */
#define WARM 10u     /* before a batch: the flush left this thread cold */
#define BATCHES 200u /* a repetition of a case */
#define REPETITIONS 9u
#define SINGLES 20000u     /* events timed one by one, a repetition */
#define SUSTAINED 1000000u /* events back to back */
#define SUSTAINED_RUNS 5u
#define FLUSH_MS 60000u

/* One case's times, in ticks. */
struct times {
	uint32_t *batches; /* REPETITIONS * BATCHES; D has two threads' */
	size_t batch_count;
	double medians[REPETITIONS]; /* of batches */
	uint32_t *singles;
	size_t single_count;
};

struct sustained {
	double wall_ns, producer_ns, cpu_ns, bytes; /* an event */
};

static char folder[512];
static char child_runs[544];
static uint64_t emitted; /* events that we have made */

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (memory == NULL)
		bench_die("calloc");
	return memory;
}

static void flush(void)
{
	enum ctrace_status status = ctrace_flush(FLUSH_MS);

	if (status != CTRACE_OK) {
		fprintf(stderr, "bench_trace: cannot flush: %s\n", ctrace_status_name(status));
		exit(2);
	}
}

/* A baseline only has its ring emptied: it is what an event could cost at best, with nobody else touching the ring's lines. */
static void drain(bool traces)
{
	if (traces)
		flush();
	else
		bench_baseline_drain();
}

static void run_batch(const struct bench_case *bench, uint32_t count)
{
	bench->batch(count);
	if (bench->traces)
		emitted += count;
}

/* ---- batches */

static void time_batches(const struct bench_case *bench, struct times *times, unsigned repetition)
{
	uint32_t *at = times->batches + times->batch_count;

	run_batch(bench, EVENTS);
	for (uint32_t i = 0; i < BATCHES; i++) {
		uint64_t start;

		drain(bench->traces);
		run_batch(bench, WARM);
		start = bench_ticks();
		run_batch(bench, EVENTS);
		at[i] = (uint32_t)(bench_ticks() - start);
	}
	drain(bench->traces);
	times->batch_count += BATCHES;
	bench_sort(at, BATCHES);
	times->medians[repetition] = bench_quantile(at, BATCHES, 0.5);
}

/* ---- batches on two threads at once */

/* The second thread follows the first one's batches: it yields until the next one is prepared, then both wait for the start without. */
static struct {
	uint32_t prepared, ready, started, done;
	const struct bench_case *bench;
	uint32_t times[BATCHES];
} second;

static void await(const uint32_t *word, uint32_t value, bool yield)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		if (yield)
			(void)sched_yield();
}

static void *run_second(void *argument)
{
	(void)argument;
	bench_pin_self(1);
	for (uint32_t i = 1; i <= BATCHES; i++) {
		uint64_t start;

		await(&second.prepared, i, true);
		second.bench->batch(WARM);
		__atomic_store_n(&second.ready, i, __ATOMIC_RELEASE);
		await(&second.started, i, false);
		start = bench_ticks();
		second.bench->batch(EVENTS);
		second.times[i - 1] = (uint32_t)(bench_ticks() - start);
		__atomic_store_n(&second.done, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void time_two_threads(const struct bench_case *bench, struct times *times, unsigned repetition)
{
	uint32_t *at = times->batches + times->batch_count;
	pthread_t thread;

	memset(&second, 0, sizeof(second));
	second.bench = bench;
	errno = pthread_create(&thread, NULL, run_second, NULL);
	if (errno != 0)
		bench_die("pthread_create");
	for (uint32_t i = 1; i <= BATCHES; i++) {
		uint64_t start;

		flush();
		__atomic_store_n(&second.prepared, i, __ATOMIC_RELEASE);
		bench->batch(WARM);
		await(&second.ready, i, true);
		__atomic_store_n(&second.started, i, __ATOMIC_RELEASE);
		start = bench_ticks();
		bench->batch(EVENTS);
		at[i - 1] = (uint32_t)(bench_ticks() - start);
		await(&second.done, i, true);
		emitted += 2 * (EVENTS + WARM);
	}
	(void)pthread_join(thread, NULL);
	flush();
	memcpy(at + BATCHES, second.times, sizeof(second.times));
	times->batch_count += 2 * (size_t)BATCHES;
	bench_sort(at, 2 * (size_t)BATCHES);
	times->medians[repetition] = bench_quantile(at, 2 * (size_t)BATCHES, 0.5);
}

/* ---- events one by one */

static void time_singles(void (*batch)(uint32_t), bool traces, struct times *times)
{
	uint32_t *at = times->singles + times->single_count;

	for (uint32_t i = 0; i < SINGLES; i++) {
		uint64_t start;

		if (i % EVENTS == 0) {
			drain(traces);
			batch(WARM);
			emitted += traces ? WARM : 0;
		}
		start = bench_ticks();
		batch(1);
		at[i] = (uint32_t)(bench_ticks() - start);
		emitted += traces ? 1 : 0;
	}
	drain(traces);
	times->single_count += SINGLES;
}

/* ---- back to back, until it is in the files */

static struct sustained sustain(const struct bench_case *bench)
{
	uint64_t wall[3], cpu[2], bytes;

	flush();
	bytes = bench_folder_size(folder);
	wall[0] = bench_clock_ns(CLOCK_MONOTONIC);
	cpu[0] = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run_batch(bench, SUSTAINED);
	wall[1] = bench_clock_ns(CLOCK_MONOTONIC);
	flush();
	wall[2] = bench_clock_ns(CLOCK_MONOTONIC);
	cpu[1] = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	bytes = bench_folder_size(folder) - bytes;
	return (struct sustained){
		.wall_ns = (double)(wall[2] - wall[0]) / SUSTAINED,
		.producer_ns = (double)(wall[1] - wall[0]) / SUSTAINED,
		.cpu_ns = (double)(cpu[1] - cpu[0]) / SUSTAINED,
		.bytes = (double)bytes / SUSTAINED,
	};
}

static int by_cpu(const void *a, const void *b)
{
	const struct sustained *left = a, *right = b;

	return left->cpu_ns < right->cpu_ns ? -1 : left->cpu_ns > right->cpu_ns;
}

static struct sustained sustain_median(const struct bench_case *bench)
{
	struct sustained runs[SUSTAINED_RUNS];

	for (uint32_t i = 0; i < SUSTAINED_RUNS; i++)
		runs[i] = sustain(bench);
	qsort(runs, SUSTAINED_RUNS, sizeof(runs[0]), by_cpu);
	return runs[SUSTAINED_RUNS / 2];
}

/* ---- the report */

static void print_case(FILE *out, const char *name, const char *title, struct times *times, double instructions, double timing_cost,
		       double ns_per_tick)
{
	double per_event = ns_per_tick / EVENTS;

	fprintf(out, "    \"%s\": {\n      \"title\": \"%s\",\n      \"ns_by_repetition\": [", name, title);
	for (unsigned i = 0; i < REPETITIONS; i++)
		fprintf(out, "%s%.3f", i > 0 ? ", " : "", times->medians[i] * per_event);
	bench_sort(times->batches, times->batch_count);
	fprintf(out, "],\n      \"ns_median\": %.3f,\n      \"ns_p999\": %.3f,\n",
		bench_quantile(times->batches, times->batch_count, 0.5) * per_event,
		bench_quantile(times->batches, times->batch_count, 0.999) * per_event);
	if (times->single_count > 0) {
		bench_sort(times->singles, times->single_count);
		fprintf(out, "      \"single_ns_median\": %.2f,\n      \"single_ns_p99\": %.2f,\n      \"single_ns_p999\": %.2f,\n",
			(bench_quantile(times->singles, times->single_count, 0.5) - timing_cost) * ns_per_tick,
			(bench_quantile(times->singles, times->single_count, 0.99) - timing_cost) * ns_per_tick,
			(bench_quantile(times->singles, times->single_count, 0.999) - timing_cost) * ns_per_tick);
	}
	if (instructions >= 0)
		fprintf(out, "      \"instructions\": %.1f\n    }", instructions);
	else
		fprintf(out, "      \"instructions\": null\n    }");
}

static void print_sustained(FILE *out, const char *name, const struct sustained *sustained)
{
	fprintf(out, "    \"%s\": { \"wall_ns\": %.2f, \"producer_ns\": %.2f, \"cpu_ns\": %.2f, \"bytes\": %.3f }", name,
		sustained->wall_ns, sustained->producer_ns, sustained->cpu_ns, sustained->bytes);
}

static void print_losses(FILE *out)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };
	uint64_t lost = 0;

	ctrace_stats_get(&stats);
	for (int i = 0; i < CTRACE_LOSS_COUNT; i++)
		lost += stats.lost[i];
	fprintf(out,
		"  \"events\": { \"made\": %llu, \"emitted\": %llu, \"delivered\": %llu, \"lost\": %llu, \"lost_by_baseline\": %llu }\n",
		(unsigned long long)emitted, (unsigned long long)stats.emitted, (unsigned long long)stats.delivered,
		(unsigned long long)lost, (unsigned long long)bench_baseline_lost());
}

/* ---- the order of things */

static void remove_folder(void)
{
	bench_folder_remove(folder);
}

static void make_folder(void)
{
	const char *parent = getenv("TMPDIR");
	char runs[544];

	(void)snprintf(folder, sizeof(folder), "%.400s/ctrace-bench.XXXXXX", parent != NULL ? parent : "/tmp");
	if (mkdtemp(folder) == NULL)
		bench_die(folder);
	(void)atexit(remove_folder);
	(void)snprintf(runs, sizeof(runs), "%s/run", folder);
	(void)snprintf(child_runs, sizeof(child_runs), "%s/run-step", folder);
	if (mkdir(runs, 0700) != 0 || mkdir(child_runs, 0700) != 0 || setenv("CTRACE_RUN_DIR", runs, 1) != 0 ||
	    unsetenv("MFTRACE_CONFIG") != 0)
		bench_die(runs);
}

static void prepare(void)
{
	char program[4096];
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (size < 0)
		bench_die("/proc/self/exe");
	program[size] = '\0';
	bench_cases_prepare(folder);
	bench_cases_prepare_cobol(dirname(program));
}

/* The child that is stepped through is killed at the end: it gets run folders that nobody looks into. */
static void prepare_child(void)
{
	if (setenv("CTRACE_RUN_DIR", child_runs, 1) != 0)
		_exit(1);
	prepare();
}

int main(int argc, char **argv)
{
	const struct bench_case *a = bench_case_find("a"), *b = bench_case_find("b");
	struct times *times = allocate((bench_case_count + 2) * sizeof(*times));
	struct times *two = &times[bench_case_count], *nothing = two + 1;
	double *instructions = allocate(bench_case_count * sizeof(*instructions));
	struct sustained sustained[2];
	struct bench_span start;
	double ns_per_tick, timing_cost;
	bool separator = false;
	FILE *out;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_trace OUTPUT.json\n");
		return 2;
	}
	out = fopen(argv[1], "we");
	if (out == NULL)
		bench_die(argv[1]);
	make_folder();
	bench_step_count(prepare_child, instructions);

	bench_pin_self(0);
	prepare();
	emitted = 1;
	flush();
	if (!bench_pin_agent(1))
		bench_die("no thread ctrace-agent");
	for (size_t i = 0; i < bench_case_count + 2; i++) {
		times[i].batches = allocate(2 * (size_t)REPETITIONS * BATCHES * sizeof(uint32_t));
		times[i].singles = allocate((size_t)REPETITIONS * SINGLES * sizeof(uint32_t));
	}
	start = bench_span_now();
	for (unsigned repetition = 0; repetition < REPETITIONS; repetition++) {
		for (size_t i = 0; i < bench_case_count; i++)
			if (bench_cases_have(&bench_cases[i]))
				time_batches(&bench_cases[i], &times[i], repetition);
		if (bench_has_two_processors())
			time_two_threads(a, two, repetition);
		time_singles(bench_nothing_batch, false, nothing);
		for (size_t i = 0; i < bench_case_count; i++)
			if (bench_cases[i].single)
				time_singles(bench_cases[i].batch, bench_cases[i].traces, &times[i]);
	}
	ns_per_tick = bench_ns_per_tick(start, bench_span_now());
	sustained[0] = sustain_median(a);
	sustained[1] = sustain_median(b);

	bench_sort(nothing->singles, nothing->single_count);
	timing_cost = bench_quantile(nothing->singles, nothing->single_count, 0.5);
	fprintf(out,
		"{\n  \"version\": \"%s\",\n  \"compiler\": \"%s\",\n  \"ns_per_tick\": %.6f,\n  \"timing_cost_ns\": %.2f,\n  \"cases\": {\n",
		ctrace_version(), __VERSION__, ns_per_tick, timing_cost * ns_per_tick);
	for (size_t i = 0; i < bench_case_count; i++) {
		if (times[i].batch_count == 0)
			continue;
		fprintf(out, "%s", separator ? ",\n" : "");
		print_case(out, bench_cases[i].name, bench_cases[i].title, &times[i], instructions[i], timing_cost, ns_per_tick);
		separator = true;
	}
	if (two->batch_count > 0) {
		fprintf(out, ",\n");
		print_case(out, "d", "D: A on two threads", two, -1, timing_cost, ns_per_tick);
	}
	fprintf(out, "\n  },\n  \"sustained\": {\n");
	print_sustained(out, "a", &sustained[0]);
	fprintf(out, ",\n");
	print_sustained(out, "b", &sustained[1]);
	fprintf(out, "\n  },\n");
	flush();
	print_losses(out);
	fprintf(out, "}\n");
	if (fclose(out) != 0)
		bench_die(argv[1]);
	return 0;
}
