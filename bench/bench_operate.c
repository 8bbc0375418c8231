/*
 * bench_operate.c - what operating running systems costs: how soon a command is in force, what a
 * traced process feels of its operators, and how much an external writer takes.
 *
 *     bench_operate OUTPUT.json [quick]     called by bench/bench.py; bench/rows.py has the limits
 *
 * This process itself never attaches: what is traced are its children, each measurement's own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate.h"

#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM ((uint64_t)4 << 30) /* in /dev/shm, to be used without being named */

struct operate_paths operate_paths;
bool operate_is_quick;

/* ---- where everything is */

static pid_t owner;

static void remove_directory(void)
{
	if (getpid() == owner)
		bench_directory_remove(operate_paths.directory);
}

/* Not what a disk can take is the question: memory, where there is enough. */
static const char *find_parent(void)
{
	const char *named = getenv("TMPDIR");
	struct statvfs room;

	if (named != NULL)
		return named;
	if (access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &room) == 0 &&
	    (uint64_t)room.f_bavail * room.f_frsize >= ROOM)
		return "/dev/shm";
	return "/tmp";
}

static void make_directory(void)
{
	struct operate_paths *paths = &operate_paths;

	(void)snprintf(paths->directory, sizeof(paths->directory), "%.400s/ctrace-bench.XXXXXX",
		       find_parent());
	if (mkdtemp(paths->directory) == NULL)
		bench_die(paths->directory);
	owner = getpid();
	(void)atexit(remove_directory);
	(void)snprintf(paths->run, sizeof(paths->run), "%.500s/run", paths->directory);
	(void)snprintf(paths->data, sizeof(paths->data), "%.500s/data", paths->directory);
	if (mkdir(paths->run, 0700) != 0 || setenv("CTRACE_RUN_DIR", paths->run, 1) != 0 ||
	    unsetenv("MFTRACE_CONFIG") != 0 || setenv("MFTRACE_LOGS", paths->directory, 1) != 0)
		bench_die(paths->run);
}

static void find_programs(void)
{
	char program[4096];
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *directory;

	if (size < 0)
		bench_die("/proc/self/exe");
	program[size] = '\0';
	directory = dirname(program);
	(void)snprintf(operate_paths.disturber, sizeof(operate_paths.disturber),
		       "%s/bench_operator", directory);
	(void)snprintf(operate_paths.tool, sizeof(operate_paths.tool), "%s/../ctrace", directory);
	if (access(operate_paths.tool, X_OK) != 0)
		bench_die(operate_paths.tool);
}

/* ---- the report */

static void print_list(FILE *out, const char *name, const double *values, unsigned count)
{
	fprintf(out, "\"%s\": [", name);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%s%.3f", i > 0 ? ", " : "", values[i]);
	fprintf(out, "]");
}

static void print_level(FILE *out, const struct operate_level *level)
{
	fprintf(out, "  \"level\": {\n    \"processes\": %u,\n    ", OPERATE_PROCESSES);
	print_list(out, "in_force_ms", level->in_force_ms, OPERATE_CHANGES);
	fprintf(out, ",\n    ");
	print_list(out, "command_ms", level->command_ms, OPERATE_CHANGES);
	fprintf(out, "\n  },\n");
}

static void print_cost(FILE *out, const struct operate_cost *cost)
{
	fprintf(out, "  \"cost\": {\n");
	for (size_t i = 0; i < OPERATE_CASES; i++) {
		const struct operate_times *times = &cost->times[i];

		fprintf(out, "    \"%s\": {\n      \"title\": \"%s\",\n      ",
			operate_cases[i].name, operate_cases[i].title);
		print_list(out, "ns_by_repetition", times->ns, OPERATE_REPETITIONS);
		fprintf(out, ",\n      \"ns_median\": %.3f, \"ns_p99\": %.3f, \"ns_p999\": %.3f,\n",
			times->ns_median, times->ns_p99, times->ns_p999);
		fprintf(out,
			"      \"batches\": %llu, \"requests\": %llu, \"seconds\": %.3f\n    }%s\n",
			(unsigned long long)times->batches, (unsigned long long)times->requests,
			times->seconds, i + 1 < OPERATE_CASES ? "," : "");
	}
	fprintf(out,
		"  },\n  \"cost_events\": { \"made\": %llu, \"emitted\": %llu, \"delivered\": %llu, \"lost\": %llu, \"for_writer\": %llu, "
		"\"by_writer\": %llu },\n",
		(unsigned long long)cost->made, (unsigned long long)cost->emitted,
		(unsigned long long)cost->delivered, (unsigned long long)cost->lost,
		(unsigned long long)cost->for_writer, (unsigned long long)cost->by_writer);
}

static void print_sustained(FILE *out, unsigned workload, const struct operate_sustained *runs)
{
	fprintf(out, "    \"%s\": [\n", operate_workloads[workload]);
	for (unsigned i = 0; i < OPERATE_SUSTAINED; i++) {
		const struct operate_sustained *run = &runs[i];

		fprintf(out,
			"    { \"events\": %llu, \"seconds\": %.4f, \"producer_seconds\": %.4f, \"writer_seconds\": %.4f,\n",
			(unsigned long long)run->events, run->seconds, run->producer_seconds,
			run->writer_seconds);
		fprintf(out,
			"      \"emitted\": %llu, \"delivered\": %llu, \"pending\": %llu, \"lost\": %llu, \"written\": %llu, \"bytes\": %llu }%s\n",
			(unsigned long long)run->emitted, (unsigned long long)run->delivered,
			(unsigned long long)run->pending, (unsigned long long)run->lost,
			(unsigned long long)run->written, (unsigned long long)run->bytes,
			i + 1 < OPERATE_SUSTAINED ? "," : "");
	}
	fprintf(out, "    ]%s\n", workload + 1 < OPERATE_WORKLOADS ? "," : "");
}

/* ---- the order of things */

struct results {
	struct operate_level level;
	struct operate_cost cost;
	struct operate_sustained sustained[OPERATE_WORKLOADS][OPERATE_SUSTAINED];
};

static void measure(struct results *results)
{
	struct operate_process writer;

	operate_level_measure(&results->level);
	writer = operate_writer_start();
	operate_cost_measure(&results->cost);
	operate_end(&writer, SIGTERM);
	bench_directory_remove(operate_paths.data);
	for (unsigned i = 0; i < OPERATE_SUSTAINED; i++)
		for (unsigned workload = 0; workload < OPERATE_WORKLOADS; workload++)
			operate_sustain(workload, &results->sustained[workload][i]);
}

int main(int argc, char **argv)
{
	struct results *results;
	FILE *out;

	operate_is_quick = argc == 3 && strcmp(argv[2], "quick") == 0;
	if (argc != 2 && !operate_is_quick) {
		fprintf(stderr, "usage: bench_operate OUTPUT.json [quick]\n");
		return 2;
	}
	out = fopen(argv[1], "we");
	if (out == NULL)
		bench_die(argv[1]);
	make_directory();
	find_programs();
	results = operate_share(sizeof(*results));
	measure(results);
	fprintf(out, "{\n");
	print_level(out, &results->level);
	print_cost(out, &results->cost);
	fprintf(out, "  \"writer\": {\n");
	for (unsigned workload = 0; workload < OPERATE_WORKLOADS; workload++)
		print_sustained(out, workload, results->sustained[workload]);
	fprintf(out, "  }\n");
	fprintf(out, "}\n");
	return fclose(out) == 0 ? 0 : 2;
}
