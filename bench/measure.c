/*
 * measure.c - clocks, processors, medians, sizes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void bench_die(const char *what)
{
	perror(what);
	exit(2);
}

uint64_t bench_clock_ns(int clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		bench_die("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_process_ns(int pid)
{
	clockid_t clock;

	errno = clock_getcpuclockid(pid, &clock);
	if (errno != 0)
		bench_die("clock_getcpuclockid");
	return bench_clock_ns(clock);
}

struct bench_span bench_span_now(void)
{
	return (struct bench_span){ .ticks = bench_ticks(),
				    .mono_ns = bench_clock_ns(CLOCK_MONOTONIC) };
}

double bench_ns_per_tick(struct bench_span from, struct bench_span to)
{
	return (double)(to.mono_ns - from.mono_ns) / (double)(to.ticks - from.ticks);
}

/* ---- processors */

/* What the process may use as it starts; pinning changes it. */
static cpu_set_t allowed;

static void __attribute__((constructor)) read_allowed(void)
{
	CPU_ZERO(&allowed);
	(void)sched_getaffinity(0, sizeof(allowed), &allowed);
}

bool bench_has_two_processors(void)
{
	return CPU_COUNT(&allowed) >= 2;
}

static bool pin(pid_t thread, unsigned which)
{
	cpu_set_t set;
	unsigned seen = 0;

	CPU_ZERO(&set);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && (seen++ == which || !bench_has_two_processors()))
			CPU_SET(cpu, &set);
	return sched_setaffinity(thread, sizeof(set), &set) == 0;
}

void bench_pin_self(unsigned which)
{
	if (!pin(0, which))
		bench_die("sched_setaffinity");
}

void bench_pin_others(unsigned which)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;

	if (tasks == NULL)
		bench_die("/proc/self/task");
	while ((task = readdir(tasks)) != NULL) {
		pid_t thread = (pid_t)strtol(task->d_name, NULL, 10);

		if (thread > 0 && thread != gettid() && !pin(thread, which) && errno != ESRCH)
			bench_die("sched_setaffinity");
	}
	(void)closedir(tasks);
}

/* ---- figures */

static int compare(const void *a, const void *b)
{
	uint32_t left, right;

	memcpy(&left, a, sizeof(left));
	memcpy(&right, b, sizeof(right));
	return left < right ? -1 : left > right;
}

void bench_sort(uint32_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
}

double bench_quantile(const uint32_t *sorted, size_t count, double quantile)
{
	size_t at = (size_t)(quantile * (double)(count - 1) + 0.5);

	return (double)sorted[at];
}

/* ---- directories */

static uint64_t size_sum;

static int add_size(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)path;
	(void)where;
	if (type == FTW_F)
		size_sum += (uint64_t)info->st_size;
	return 0;
}

uint64_t bench_directory_size(const char *path)
{
	size_sum = 0;
	if (nftw(path, add_size, 8, FTW_PHYS) != 0)
		bench_die(path);
	return size_sum;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

void bench_directory_remove(const char *path)
{
	(void)nftw(path, remove_one, 8, FTW_PHYS | FTW_DEPTH);
}
