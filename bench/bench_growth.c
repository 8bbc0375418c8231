/*
 * bench_growth.c - does an event cost the same when there is more of everything: threads,
 * components, events before it?
 *
 *     bench_growth OUTPUT.json [quick]   called by bench/bench.py; bench/rows.py has the limits
 *
 * A case is a process of its own that traces A into a BINFILE of two generations, and flushes.  Its
 * figure is the processor time of all its threads an event.  The cases take turns.  The one of very
 * many events measures its first and its last ones.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <ctrace/ctrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 3200000u /* of a run */
#define WARM 100000u    /* of each thread before: its ring has its full size then */
#define EVENTS_MANY 1000000000u
#define COMPONENTS 100000u
#define QUICK 1000u /* as many times fewer events, and components */
#define ROUNDS 5u
#define THREADS_MOST 64u

static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.GROWTH");
static uint32_t scale = 1;

struct growth_case {
	const char *name;
	uint32_t threads;
	uint32_t components; /* registered besides the traced one */
};
static const struct growth_case cases[] = {
	{ "threads_1", 1, 0 },
	{ "threads_8", 8, 0 },
	{ "threads_64", THREADS_MOST, 0 },
	{ "components_100000", 1, COMPONENTS },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

struct figures {
	double ns[CASES][ROUNDS];
	double first_ns;
	double last_ns;
	uint64_t drops;
};

static BENCH_NOINLINE void trace(uint32_t count)
{
	BENCH_LOOP(i, count)
	{
		BENCH_TRACE_A(&tracer, i);
	}
}

static pthread_barrier_t barrier;

/* The clock starts behind the first barrier: it does not measure how threads and rings are made. */
static void *trace_share(void *count)
{
	trace(WARM / scale);
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_barrier_wait(&barrier);
	trace(*(const uint32_t *)count);
	return NULL;
}

static void flush(void)
{
	if (ctrace_flush(60000) != CTRACE_OK)
		bench_die("ctrace_flush");
}

static uint64_t drops(uint64_t made)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };

	ctrace_stats_get(&stats);
	return stats.delivered < made ? made - stats.delivered : 0;
}

static void add_components(uint32_t count)
{
	struct ctrace_tracer *other;
	char name[32];

	for (uint32_t i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "BENCH.G%u.N%u", i / 300, i);
		if (ctrace_tracer_get(name, &other) != CTRACE_OK)
			bench_die(name);
	}
}

static double measure(const struct growth_case *the, uint64_t *out_drops)
{
	uint32_t share = EVENTS / scale / the->threads;
	pthread_t threads[THREADS_MOST];
	uint64_t begin;

	add_components(the->components / scale);
	(void)pthread_barrier_init(&barrier, NULL, the->threads + 1);
	for (uint32_t i = 0; i < the->threads; i++)
		if (pthread_create(&threads[i], NULL, trace_share, &share) != 0)
			bench_die("pthread_create");
	(void)pthread_barrier_wait(&barrier);
	flush();
	begin = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	(void)pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < the->threads; i++)
		(void)pthread_join(threads[i], NULL);
	flush();
	*out_drops += drops((uint64_t)(share + WARM / scale) * the->threads);
	return (double)(bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) /
	       ((double)share * the->threads);
}

static double measure_part(uint32_t count)
{
	uint64_t begin = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	trace(count);
	flush();
	return (double)(bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / count;
}

static void measure_many(struct figures *figures)
{
	uint32_t part = EVENTS_MANY / scale / 100;

	trace(1000);
	figures->first_ns = measure_part(part);
	for (unsigned i = 0; i < 98; i++)
		trace(part);
	flush();
	figures->last_ns = measure_part(part);
	figures->drops += drops(100ull * part + 1000);
}

/* In a process of its own. */
static void run(struct figures *figures, const struct growth_case *the, unsigned turn)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (the == NULL)
			measure_many(figures);
		else
			figures->ns[the - cases][turn] = measure(the, &figures->drops);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		bench_die("a run");
}

static void configure(const char *directory)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/cfg", directory);
	file = fopen(path, "we");
	if (file == NULL ||
	    fprintf(file,
		    "mftrace.level = info\nmftrace.dest = binfile\nctrace.overflow = block\n"
		    "mftrace.emitter.binfile#location = %s\nmftrace.emitter.binfile#maxgeneration = 2\n"
		    "mftrace.emitter.binfile#maxfilesize = 65536\n",
		    directory) < 0 ||
	    fclose(file) != 0 || setenv("MFTRACE_CONFIG", path, 1) != 0 ||
	    setenv("CTRACE_RUN_DIR", directory, 1) != 0)
		bench_die(path);
}

int main(int argc, char **argv)
{
	struct figures *figures = mmap(NULL, sizeof(*figures), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char directory[] = "/dev/shm/ctrace-bench.XXXXXX";
	FILE *output;

	if (argc == 3 && strcmp(argv[2], "quick") == 0) {
		scale = QUICK;
	} else if (argc != 2) {
		fprintf(stderr, "usage: bench_growth OUTPUT.json [quick]\n");
		return 2;
	}
	if (figures == MAP_FAILED || mkdtemp(directory) == NULL)
		bench_die(directory);
	configure(directory);
	for (unsigned turn = 0; turn < ROUNDS; turn++)
		for (size_t i = 0; i < CASES; i++)
			run(figures, &cases[i], turn);
	run(figures, NULL, 0);
	output = fopen(argv[1], "we");
	if (output == NULL)
		bench_die(argv[1]);
	fprintf(output,
		"{\n  \"scale\": %u,\n  \"drops\": %llu,\n  \"first_ns\": %.2f,\n  \"last_ns\": %.2f",
		scale, (unsigned long long)figures->drops, figures->first_ns, figures->last_ns);
	for (size_t i = 0; i < CASES; i++) {
		fprintf(output, ",\n  \"%s\": [", cases[i].name);
		for (unsigned turn = 0; turn < ROUNDS; turn++)
			fprintf(output, "%s%.2f", turn > 0 ? ", " : "", figures->ns[i][turn]);
		fprintf(output, "]");
	}
	fprintf(output, "\n}\n");
	bench_directory_remove(directory);
	return fclose(output) == 0 ? 0 : 2;
}
