/*
 * bench_start.c - what a short process pays for being traced, a thread for its first event, a disk
 * for an idle process.
 *
 *     bench_start OUTPUT.json [quick]   called by bench/bench.py; bench/rows.py has the limits
 *
 * Each run is a process of its own, started by posix_spawn and waited for.  Its time is compared
 * with that of an empty process of the same round: the same program, linked with the library, that
 * traces nothing.  Run directory and outputs are on a memory file system, and again on the disk of
 * $TMPDIR.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <ctrace/ctrace.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 101u
#define ROUNDS_QUICK 3u
#define THREADS 64u
#define PATH_SIZE 512

extern char **environ;

static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.START");
static char self[PATH_SIZE];
static unsigned rounds = ROUNDS;

static void __attribute__((noinline)) trace_one(void)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_TEXT("one event", 9));
}

/* ---- what the started processes do ---- */

static uint32_t first_ns[THREADS];
static pthread_barrier_t all_traced;

/* Threads stay until the last one has traced: none uses the ring of another. */
static void *first_event(void *argument)
{
	uint64_t start = bench_clock_ns(CLOCK_MONOTONIC);

	trace_one();
	*(uint32_t *)argument = (uint32_t)(bench_clock_ns(CLOCK_MONOTONIC) - start);
	(void)pthread_barrier_wait(&all_traced);
	return NULL;
}

static int be_threads(void)
{
	/* between two threads, so that they do not meet in the kernel */
	const struct timespec pause = { .tv_nsec = 2000000 };
	pthread_t threads[THREADS];

	trace_one();
	(void)pthread_barrier_init(&all_traced, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, first_event, &first_ns[i]) != 0)
			return 2;
		(void)nanosleep(&pause, NULL);
	}
	(void)pthread_barrier_wait(&all_traced);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	bench_sort(first_ns, THREADS);
	printf("%.0f\n", bench_quantile(first_ns, THREADS, 0.5));
	return 0;
}

/* Stays until its input ends. */
static int be_idle(void)
{
	char byte;

	trace_one();
	puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

static int be(const char *role)
{
	if (strcmp(role, "threads") == 0)
		return be_threads();
	if (strcmp(role, "idle") == 0)
		return be_idle();
	if (strcmp(role, "event") == 0)
		trace_one();
	return 0;
}

/* ---- starting them ---- */

struct place {
	const char *name;
	char directory[PATH_SIZE / 4];
};

struct kind {
	const char *name;
	const char *configuration; /* NULL: none.  %s is the directory of the place */
};

static const struct kind kinds[] = {
	{ "none", NULL },
	{ "text",
	  "mftrace.level = debug\nmftrace.dest = textfile\nmftrace.emitter.textfile#file = %s/out/start.log\n" },
	{ "bin",
	  "mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = %s/out\n" },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void join(char out[PATH_SIZE], const char *directory, const char *name)
{
	if (snprintf(out, PATH_SIZE, "%s/%s", directory, name) >= PATH_SIZE)
		bench_die(directory);
}

static void make_directory(const char *directory, const char *name)
{
	char path[PATH_SIZE];

	join(path, directory, name);
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		bench_die(path);
}

static void write_configuration(const struct place *place, const struct kind *kind)
{
	char path[PATH_SIZE];
	FILE *file;

	if (kind->configuration == NULL)
		return;
	join(path, place->directory, kind->name);
	file = fopen(path, "we");
	if (file == NULL || fprintf(file, kind->configuration, place->directory) < 0 ||
	    fclose(file) != 0)
		bench_die(path);
}

static void set_environment(const struct place *place, const struct kind *kind)
{
	char path[PATH_SIZE];

	join(path, place->directory, "run");
	if (setenv("CTRACE_RUN_DIR", path, 1) != 0)
		bench_die("setenv");
	join(path, place->directory, kind->name);
	if (kind->configuration == NULL ? unsetenv("MFTRACE_CONFIG") != 0
					: setenv("MFTRACE_CONFIG", path, 1) != 0)
		bench_die("setenv");
}

static pid_t start(const char *role, int in, int out)
{
	char *arguments[] = { self, (char *)(uintptr_t) "--be", (char *)(uintptr_t)role, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    (in >= 0 && posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO) != 0) ||
	    (out >= 0 && posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) != 0) ||
	    posix_spawn(&pid, self, &actions, NULL, arguments, environ) != 0)
		bench_die("posix_spawn");
	(void)posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static void await(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "bench_start: a process failed\n");
		exit(2);
	}
}

static uint32_t time_process(const char *role)
{
	uint64_t before = bench_clock_ns(CLOCK_MONOTONIC);

	await(start(role, -1, -1));
	return (uint32_t)(bench_clock_ns(CLOCK_MONOTONIC) - before);
}

/* ---- measuring ---- */

/* Microseconds of a whole process beyond an empty one: the median of the differences within each
 * round. */
static void measure_processes(const struct place *place, double out_us[KINDS], double *out_empty_us)
{
	static uint32_t differences[KINDS][ROUNDS], empty[ROUNDS];

	for (unsigned round = 0; round < rounds; round++) {
		empty[round] = time_process("nothing");
		for (unsigned i = 0; i < KINDS; i++) {
			uint32_t ns;

			set_environment(place, &kinds[i]);
			ns = time_process("event");
			differences[i][round] = ns > empty[round] ? ns - empty[round] : 0;
		}
	}
	for (unsigned i = 0; i < KINDS; i++) {
		bench_sort(differences[i], rounds);
		out_us[i] = bench_quantile(differences[i], rounds, 0.5) / 1000;
	}
	bench_sort(empty, rounds);
	*out_empty_us = bench_quantile(empty, rounds, 0.5) / 1000;
}

/* Starts a process that prints a line, which is in `line` then, and waits until `out_in` is closed.
 */
static pid_t start_talking(const char *role, char line[64], int *out_in)
{
	int in[2], out[2];
	ssize_t got;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		bench_die("pipe2");
	pid = start(role, in[0], out[1]);
	(void)close(in[0]);
	(void)close(out[1]);
	got = read(out[0], line, 63);
	if (got <= 0)
		bench_die(role);
	line[got] = '\0';
	(void)close(out[0]);
	*out_in = in[1];
	return pid;
}

static double measure_threads(const struct place *place)
{
	char line[64];
	pid_t pid;
	int in;

	set_environment(place, &kinds[1]);
	pid = start_talking("threads", line, &in);
	(void)close(in);
	await(pid);
	return strtod(line, NULL) / 1000;
}

static uint64_t blocks;

static int add_blocks(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)path;
	(void)where;
	if (type == FTW_F)
		blocks += (uint64_t)info->st_blocks;
	return 0;
}

/* KiB that the files of an attached process without a configuration take. */
static double measure_idle(const struct place *place)
{
	char path[PATH_SIZE], line[64];
	pid_t pid;
	int in;

	set_environment(place, &kinds[0]);
	join(path, place->directory, "run");
	bench_directory_remove(path);
	make_directory(place->directory, "run");
	pid = start_talking("idle", line, &in);
	blocks = 0;
	if (nftw(path, add_blocks, 8, FTW_PHYS) != 0)
		bench_die(path);
	(void)close(in);
	await(pid);
	return (double)blocks / 2;
}

static void measure(struct place *place, const char *parent, FILE *json)
{
	double us[KINDS], empty_us;

	if (snprintf(place->directory, sizeof place->directory, "%s/bench_start.XXXXXX", parent) >=
		    (int)sizeof place->directory ||
	    mkdtemp(place->directory) == NULL)
		bench_die(parent);
	make_directory(place->directory, "run");
	make_directory(place->directory, "out");
	for (unsigned i = 0; i < KINDS; i++)
		write_configuration(place, &kinds[i]);
	measure_processes(place, us, &empty_us);
	fprintf(json, "\"%s\": {\"empty_us\": %.1f", place->name, empty_us);
	for (unsigned i = 0; i < KINDS; i++)
		fprintf(json, ", \"%s_us\": %.1f", kinds[i].name, us[i]);
	fprintf(json, ", \"thread_us\": %.1f", measure_threads(place));
	fprintf(json, ", \"idle_kib\": %.0f}", measure_idle(place));
	bench_directory_remove(place->directory);
}

static bool is_directory(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int main(int argc, char **argv)
{
	struct place memory = { .name = "memory" }, disk = { .name = "disk" };
	const char *temporary = getenv("TMPDIR");
	ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
	FILE *json;

	if (size <= 0)
		bench_die("/proc/self/exe");
	if (argc == 3 && strcmp(argv[1], "--be") == 0)
		return be(argv[2]);
	if (argc == 3 && strcmp(argv[2], "quick") == 0)
		rounds = ROUNDS_QUICK;
	else if (argc != 2) {
		fputs("usage: bench_start OUTPUT.json [quick]\n", stderr);
		return 2;
	}
	if (temporary == NULL)
		temporary = "/tmp";
	json = fopen(argv[1], "we");
	if (json == NULL)
		bench_die(argv[1]);
	fputs("{", json);
	measure(&memory, is_directory("/dev/shm") ? "/dev/shm" : temporary, json);
	fputs(", ", json);
	measure(&disk, temporary, json);
	fputs("}\n", json);
	return fclose(json) == 0 ? 0 : 2;
}
