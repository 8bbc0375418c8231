/*
 * bench_dump.c - for how long does a dump hold up threads that trace at full rate?
 *
 *     bench_dump OUTPUT.json [quick]   called by bench/bench.py; bench/rows.py has the limit
 *
 * 64 threads trace A into storage without a pause.  Each notes its longest gap between two trace
 * calls: by the wall, and its own processor time within the gap, which is what it was held up by
 * something other than the scheduler.  The phases take turns and are equally long: nothing else
 * runs; the process dumps itself, once a second; `ctrace dump` dumps it, one dump after the other;
 * a process spins.  What dumps or spins has a real-time priority where that is allowed, because it
 * would get a 65th of the processors.  On few processors the wall's gaps are those of the
 * scheduler, with or without a dump.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <ctrace/ctrace.h>
#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64u
#define ROUNDS 5u
#define PHASE_NS UINT64_C(2000000000)
#define QUICK_NS UINT64_C(100000000)
#define GAP_NS 10000.0 /* what is shorter is no gap */
#define NS_PER_US 1000.0

enum phase { QUIET, OWN, OUTSIDE, SPIN, PHASES };
static const char *const phase_names[PHASES] = { "quiet", "own", "outside", "spin" };

struct gaps {
	double wall_ns, own_ns; /* the longest */
	uint64_t long_ones;     /* those of more than 100 us of processor time */
};
struct worker {
	_Alignas(128) struct gaps gaps[PHASES];
	uint64_t ticks_then, cpu_then; /* at the end of the last gap */
};
struct figures {
	double wall_us[ROUNDS], most_own_us[ROUNDS], median_own_us[ROUNDS];
	uint64_t long_ones[ROUNDS], dumps[ROUNDS];
};

static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.DUMP");
static struct worker workers[THREADS];
static double ns_per_tick;
static volatile unsigned phase; /* PHASES: nothing is noted; above: the end */
static char directory[] = "/dev/shm/ctrace-bench.XXXXXX";
static char tool[4096];

static void gap_begin(struct worker *worker)
{
	worker->cpu_then = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	worker->ticks_then = bench_ticks();
}

static BENCH_NOINLINE void gap_note(struct worker *worker, uint64_t from, uint64_t to, unsigned in)
{
	uint64_t cpu = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	double wall_ns = (double)(to - from) * ns_per_tick;
	double own_ns = (double)(cpu - worker->cpu_then) -
			(double)(from - worker->ticks_then) * ns_per_tick;

	if (in < PHASES) {
		struct gaps *gaps = &worker->gaps[in];

		gaps->wall_ns = wall_ns > gaps->wall_ns ? wall_ns : gaps->wall_ns;
		gaps->own_ns = own_ns > gaps->own_ns ? own_ns : gaps->own_ns;
		gaps->long_ones += own_ns > 100 * NS_PER_US;
	}
	gap_begin(worker);
}

static void *trace(void *argument)
{
	struct worker *worker = argument;
	uint64_t gap = (uint64_t)(GAP_NS / ns_per_tick), last;
	unsigned now, before = PHASES;
	uint32_t i = 0;

	gap_begin(worker);
	last = bench_ticks();
	while ((now = phase) <= PHASES) {
		uint64_t ticks;

		BENCH_TRACE_A(&tracer, i);
		i++;
		ticks = bench_ticks();
		if (ticks - last > gap) {
			/* A gap in which the phase changes belongs to neither. */
			gap_note(worker, last, ticks, now == before ? now : PHASES);
			ticks = bench_ticks();
			before = now;
		}
		last = ticks;
	}
	return NULL;
}

static pid_t run(char *const arguments[])
{
	pid_t child;

	if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
		bench_die(arguments[0]);
	return child;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec pause = { .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };

	while (nanosleep(&pause, &pause) != 0)
		;
}

static void dump_from_outside(void)
{
	char path[64], pid[16];
	char *arguments[] = { tool, "dump", "--pid", pid, "--output", path, NULL };
	int status;

	(void)snprintf(path, sizeof(path), "%s/outside", directory);
	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	if (waitpid(run(arguments), &status, 0) < 0 || status != 0)
		bench_die("ctrace dump");
	bench_directory_remove(path);
}

/* A phase ends at its time, whatever goes on. */
static void *phase_end(void *argument)
{
	sleep_ns(*(const uint64_t *)argument);
	phase = PHASES;
	return NULL;
}

static void thread_start(pthread_t *thread, void *(*body)(void *), void *argument)
{
	if (pthread_create(thread, NULL, body, argument) != 0)
		bench_die("pthread_create");
}

/* Without the permission the phase has little of what it is to measure. */
static void priority_take(bool is_real_time)
{
	const struct sched_param priority = { .sched_priority = is_real_time ? 1 : 0 };

	(void)sched_setscheduler(0, is_real_time ? SCHED_RR : SCHED_OTHER, &priority);
}

static void spin(void)
{
	pid_t parent = getppid();

	while (getppid() == parent)
		;
	_exit(0);
}

/* Returns how many dumps were made. */
static uint64_t phase_run(enum phase which, uint64_t ns)
{
	uint64_t dumps = 0;
	pid_t child = -1;
	pthread_t timer;

	priority_take(true);
	if (which == SPIN && (child = fork()) == 0)
		spin();
	phase = which;
	thread_start(&timer, phase_end, &ns);
	while ((which == OWN || which == OUTSIDE) && phase != PHASES) {
		enum ctrace_status status = CTRACE_OK;

		if (which == OUTSIDE)
			dump_from_outside();
		else if ((status = ctrace_dump("bench", NULL, 0)) == CTRACE_OK)
			sleep_ns(ns < 1000000000 ? ns : 1000000000); /* one within a second */
		else if (status != CTRACE_TIMED_OUT)                 /* as on a busy machine */
			bench_die(ctrace_status_text(status));
		dumps += status == CTRACE_OK;
	}
	(void)pthread_join(timer, NULL);
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	priority_take(false);
	return dumps;
}

static void figures_take(struct figures *figures, enum phase which, unsigned turn)
{
	uint32_t own[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		struct gaps *gaps = &workers[i].gaps[which];

		own[i] = (uint32_t)gaps->own_ns;
		if (gaps->wall_ns / NS_PER_US > figures->wall_us[turn])
			figures->wall_us[turn] = gaps->wall_ns / NS_PER_US;
		figures->long_ones[turn] += gaps->long_ones;
		*gaps = (struct gaps){ 0 };
	}
	bench_sort(own, THREADS);
	figures->most_own_us[turn] = own[THREADS - 1] / NS_PER_US;
	figures->median_own_us[turn] = own[THREADS / 2] / NS_PER_US;
}

static void configure(void)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/cfg", directory);
	file = fopen(path, "we");
	if (file == NULL ||
	    fprintf(file,
		    "mftrace.level = info\nmftrace.dest = storage\nctrace.dump.keep = 1\n"
		    "ctrace.dump.directory = %s/own\n",
		    directory) < 0 ||
	    fclose(file) != 0 || setenv("MFTRACE_CONFIG", path, 1) != 0 ||
	    setenv("CTRACE_RUN_DIR", directory, 1) != 0)
		bench_die(path);
}

static void tool_find(void)
{
	char self[4000];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (size <= 0)
		bench_die("/proc/self/exe");
	self[size] = '\0';
	(void)snprintf(tool, sizeof(tool), "%s/../ctrace", dirname(self));
}

static void clock_calibrate(void)
{
	struct bench_span from = bench_span_now();

	sleep_ns(100000000);
	ns_per_tick = bench_ns_per_tick(from, bench_span_now());
}

static void print_doubles(FILE *output, const char *name, const double *values)
{
	fprintf(output, ", \"%s\": [", name);
	for (unsigned turn = 0; turn < ROUNDS; turn++)
		fprintf(output, "%s%.1f", turn > 0 ? ", " : "", values[turn]);
	fprintf(output, "]");
}

static void figures_print(FILE *output, const struct figures *figures, enum phase which)
{
	uint64_t dumps = 0, long_ones = 0;

	for (unsigned turn = 0; turn < ROUNDS; turn++) {
		dumps += figures->dumps[turn];
		long_ones += figures->long_ones[turn];
	}
	fprintf(output, ",\n  \"%s\": {\"dumps\": %llu, \"long\": %llu", phase_names[which],
		(unsigned long long)dumps, (unsigned long long)long_ones);
	print_doubles(output, "wall_us", figures->wall_us);
	print_doubles(output, "most_own_us", figures->most_own_us);
	print_doubles(output, "median_own_us", figures->median_own_us);
	fprintf(output, "}");
}

int main(int argc, char **argv)
{
	bool is_quick = argc == 3 && strcmp(argv[2], "quick") == 0;
	uint64_t ns = is_quick ? QUICK_NS : PHASE_NS;
	struct figures figures[PHASES] = { 0 };
	pthread_t threads[THREADS];
	FILE *output;

	if (argc != 2 && !is_quick) {
		fprintf(stderr, "usage: bench_dump OUTPUT.json [quick]\n");
		return 2;
	}
	if (mkdtemp(directory) == NULL)
		bench_die(directory);
	configure();
	tool_find();
	clock_calibrate();
	phase = PHASES;
	for (unsigned i = 0; i < THREADS; i++)
		thread_start(&threads[i], trace, &workers[i]);
	sleep_ns(ns); /* the rings get their full size */
	for (unsigned turn = 0; turn < ROUNDS; turn++)
		for (enum phase which = QUIET; which < PHASES; which++) {
			figures[which].dumps[turn] = phase_run(which, ns);
			figures_take(&figures[which], which, turn);
		}
	phase = PHASES + 1;
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	output = fopen(argv[1], "we");
	if (output == NULL)
		bench_die(argv[1]);
	fprintf(output, "{\n  \"threads\": %u,\n  \"quick\": %s", THREADS,
		is_quick ? "true" : "false");
	for (enum phase which = QUIET; which < PHASES; which++)
		figures_print(output, &figures[which], which);
	fprintf(output, "\n}\n");
	bench_directory_remove(directory);
	return fclose(output) == 0 ? 0 : 2;
}
