/*
 * first_events_subject.c - a thread that traces from its first event on, for
 * tests/process/first_events.py.
 *
 *     first_events_subject EVENTS NANOSECONDS [thread] [fork]
 *
 * The first event, a wait until a larger ring is in stock, then EVENTS, of which one begins each
 * NANOSECONDS at the earliest.  In between the measured thread makes no call but trace calls,
 * getrusage() before and after, and reads the clock.  Prints the page faults.  thread: on a second
 * thread, beside the first one, which has traced.  fork: in a child of the process that has traced.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>

#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("FIRST");
static uint32_t events, pace_ns;
static size_t least_rings = 2;

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void trace(uint32_t i)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U32(i), CTRACE_TEXT("some text.", 10));
}

/* Rings that have their number. */
static size_t count_rings(void)
{
	const char *run = getenv("CTRACE_RUN_DIR");
	char pattern[4096];
	glob_t found;
	size_t count = 0;

	(void)snprintf(pattern, sizeof pattern, "%s/%d.*/ring.[0-9]*", run != NULL ? run : "",
		       (int)getpid());
	if (glob(pattern, 0, NULL, &found) == 0) {
		count = found.gl_pathc;
		globfree(&found);
	}
	return count;
}

static void *measure(void *unused)
{
	struct rusage before, after;
	uint64_t next;

	trace(0);
	(void)alarm(60);
	while (count_rings() < least_rings)
		(void)sched_yield();
	(void)getrusage(RUSAGE_THREAD, &before);
	next = now_ns();
	for (uint32_t i = 1; i <= events; i++) {
		trace(i);
		for (next += pace_ns; now_ns() < next;)
			;
	}
	(void)getrusage(RUSAGE_THREAD, &after);
	(void)printf("%ld\n", after.ru_minflt - before.ru_minflt);
	return unused;
}

int main(int argc, char **argv)
{
	bool on_thread = false, in_child = false;
	pthread_t thread;
	int status = 0;

	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++) {
		on_thread |= strcmp(argv[i], "thread") == 0;
		in_child |= strcmp(argv[i], "fork") == 0;
	}
	events = (uint32_t)atoi(argv[1]);
	pace_ns = (uint32_t)atoi(argv[2]);
	least_rings += on_thread;
	if (on_thread || in_child)
		trace(0);
	if (in_child && fork() != 0)
		return wait(&status) < 0 || status != 0;
	if (!on_thread)
		(void)measure(NULL);
	else if (pthread_create(&thread, NULL, measure, NULL) != 0 ||
		 pthread_join(thread, NULL) != 0)
		return 1;
	return fflush(stdout) != 0;
}
