/*
 * bench_sublevels.c - what many sublevels of one head cost: to define them all, to find one, to
 * delete them all.
 *
 *     bench_sublevels OUTPUT.json [quick]   called by bench/bench.py; bench/rows.py has the limits
 *
 * Each run is a process of its own, so that what it takes of memory is the difference that the
 * sublevels make.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <ctrace/component.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUBLEVELS 100000u
#define SUBLEVELS_QUICK 1000u
#define RUNS 5u

static unsigned sublevels = SUBLEVELS;

/* The figures of one run. */
struct result {
	double seconds;
	double mebibytes;
	double find_ns;
};

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static void expect(uint32_t rc, const char *what, const struct ctrace_outcome *out)
{
	if (rc == CTRACE_RC_OK)
		return;
	fprintf(stderr, "bench_sublevels: %s: RC %X, reason %X: %s\n", what, rc, out->rsncode,
		out->message);
	_exit(2);
}

static double resident_mebibytes(void)
{
	unsigned long total, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL || fscanf(file, "%lu %lu", &total, &resident) != 2)
		bench_die("/proc/self/statm");
	(void)fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE) / (1024.0 * 1024.0);
}

static void define(const char *sub, struct ctrace_outcome *out)
{
	struct ctrace_define asked = { CTRACE_DEFINE_INIT, .name = "BENCHSUB",
				       .startnam = "BENCHSS", .sub = sub, .manysubs = CTRACE_YES };

	if (sub == NULL)
		asked.head = asked.headopts = CTRACE_YES;
	expect(ctrace_component_define(&asked, out), "DEFINE", out);
}

static double time_finds(void)
{
	struct ctrace_tracer *tracer;
	uint64_t start = bench_clock_ns(CLOCK_MONOTONIC);
	char sub[24];

	for (unsigned i = 0; i < sublevels; i++) {
		(void)snprintf(sub, sizeof(sub), "SUB%u", i);
		if (ctrace_component_tracer("BENCHSUB", sub, &tracer) != CTRACE_OK)
			bench_die(sub);
	}
	return (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / sublevels;
}

static void run(struct result *result)
{
	struct ctrace_delete asked = { CTRACE_DELETE_INIT, .name = "BENCHSUB" };
	struct ctrace_outcome out;
	uint64_t start, spent;
	double before;
	char sub[24];

	if (ctrace_routine_register("BENCHSS", agree) != CTRACE_OK)
		bench_die("ctrace_routine_register");
	define(NULL, &out);
	before = resident_mebibytes();
	start = bench_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < sublevels; i++) {
		(void)snprintf(sub, sizeof(sub), "SUB%u", i);
		define(sub, &out);
	}
	spent = bench_clock_ns(CLOCK_MONOTONIC) - start;
	result->find_ns = time_finds();
	start = bench_clock_ns(CLOCK_MONOTONIC);
	expect(ctrace_component_delete(&asked, &out), "DELETE", &out);
	spent += bench_clock_ns(CLOCK_MONOTONIC) - start;
	result->seconds = (double)spent / 1e9;
	result->mebibytes = resident_mebibytes() - before;
}

int main(int argc, char **argv)
{
	struct result *results = mmap(NULL, RUNS * sizeof(*results), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char directory[] = "/tmp/ctrace-bench.XXXXXX";
	double most = 0;
	FILE *output;

	if (argc == 3 && strcmp(argv[2], "quick") == 0) {
		sublevels = SUBLEVELS_QUICK;
	} else if (argc != 2) {
		fprintf(stderr, "usage: bench_sublevels OUTPUT.json [quick]\n");
		return 2;
	}
	if (results == MAP_FAILED || mkdtemp(directory) == NULL ||
	    setenv("CTRACE_RUN_DIR", directory, 1) != 0 || unsetenv("MFTRACE_CONFIG") != 0)
		bench_die(directory);
	for (unsigned i = 0; i < RUNS; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			run(&results[i]);
			exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			bench_die("a run");
	}
	output = fopen(argv[1], "we");
	if (output == NULL)
		bench_die(argv[1]);
	fprintf(output, "{\n  \"count\": %u,\n  \"seconds\": [", sublevels);
	for (unsigned i = 0; i < RUNS; i++) {
		fprintf(output, "%s%.4f", i > 0 ? ", " : "", results[i].seconds);
		most = results[i].mebibytes > most ? results[i].mebibytes : most;
	}
	fprintf(output, "],\n  \"mebibytes\": %.2f,\n  \"find_ns\": %.1f\n}\n", most,
		results[RUNS - 1].find_ns);
	bench_directory_remove(directory);
	return fclose(output) == 0 ? 0 : 2;
}
