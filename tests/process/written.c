/*
 * written.c - a traced program for tests of external writers: a component WRT, threads that trace
 * it, orders on stdin.
 *
 * written [THREADS] - defines WRT and says "ready".  Each line on stdin is an order, answered by
 * one line: "on WRITER" switches it on with that writer, "plain" on without one, "disconnect",
 * "off": the command's return code and message; "run N": N entries of each thread; "both N": the
 * same, and as many of the plain component OTHER as events 8, one behind the other; "start" traces
 * without end until "stop", which answers the sum; "pace N": N us of rest after each 50 entries;
 * "fork N": a child of it traces N entries as thread 63, and its status; "breed N": likewise, but
 * nobody waits for the child, whose number is the answer; "child": of one that only waits for its
 * end; "misfits": how many of these ended otherwise than they should; "close": it closes every
 * descriptor but the standard ones; "exec": it becomes another such program, which is "ready" then;
 * "flush"; "stats": emitted, delivered, pending, lost; "writes": how often the process has called
 * write or its like (/proc/self/io).  Each entry has the thread's number and the thread's count of
 * entries that were recorded.  Ends at the end of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_LIMIT 64u

static struct ctrace_tracer *tracer;
static struct ctrace_tracer other = CTRACE_TRACER("OTHER");
static bool traces_both;
static uint32_t thread_count = 1;
static uint32_t counts[THREADS_LIMIT];
static uint32_t others[THREADS_LIMIT];
static uint32_t goal; /* of each thread in this round; 0: until `stopping` */
static uint32_t stopping;
static uint32_t pace;
static pthread_t threads[THREADS_LIMIT];

static void *trace(void *argument)
{
	uint32_t self = (uint32_t)(uintptr_t)argument;

	for (uint32_t i = 0;
	     goal != 0 ? i < goal : __atomic_load_n(&stopping, __ATOMIC_RELAXED) == 0; i++) {
		/* Counted only when it is recorded: items are not evaluated otherwise. */
		CTRACE(tracer, CTRACE_INFO, 7, CTRACE_U32(self), CTRACE_U32(counts[self]++));
		if (traces_both)
			CTRACE(&other, CTRACE_INFO, 8, CTRACE_U32(self),
			       CTRACE_U32(others[self]++));
		if (pace != 0 && i % 50 == 49)
			(void)usleep(pace);
	}
	return NULL;
}

static bool start(uint32_t count)
{
	goal = count;
	__atomic_store_n(&stopping, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, trace, (void *)(uintptr_t)i) != 0)
			return false;
	return true;
}

static uint64_t finish(void)
{
	uint64_t sum = 0;

	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < thread_count; i++) {
		(void)pthread_join(threads[i], NULL);
		sum += counts[i];
	}
	return sum;
}

static void command(uint32_t state, const char *writer)
{
	struct ctrace_trace_ct request = { CTRACE_TRACE_CT_INIT, .name = "WRT", .state = state,
					   .wtr = writer };
	struct ctrace_outcome outcome;
	uint32_t rc = ctrace_trace_ct(&request, &outcome);

	printf("%02X %s\n", rc, outcome.message);
}

static void print_stats(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	unsigned long long lost = 0;

	ctrace_stats_get(&stats);
	for (int i = 0; i < CTRACE_LOSS_COUNT; i++)
		lost += stats.lost[i];
	printf("%llu %llu %llu %llu\n", (unsigned long long)stats.emitted,
	       (unsigned long long)stats.delivered, (unsigned long long)stats.pending, lost);
}

static void print_writes(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	char line[64];
	unsigned long long writes = 0;

	while (io != NULL && fgets(line, sizeof line, io) != NULL)
		if (sscanf(line, "syscw: %llu", &writes) == 1)
			break;
	if (io != NULL)
		(void)fclose(io);
	printf("%llu\n", writes);
}

/* A child, which has rings and a link of its own. */
static void print_child(uint32_t count)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		thread_count = THREADS_LIMIT;
		goal = count;
		(void)trace((void *)(uintptr_t)(THREADS_LIMIT - 1));
		exit((int)ctrace_flush(10000));
	}
	(void)waitpid(child, &status, 0);
	printf("%d\n", status);
}

/* Of those that nobody waited for: how many have ended otherwise than they should. */
static void print_misfits(void)
{
	static unsigned misfits;
	int status;

	while (waitpid(-1, &status, WNOHANG) > 0)
		misfits += status != 0;
	printf("%u\n", misfits);
}

/* Nobody waits for it. */
static void breed(uint32_t count)
{
	pid_t child = fork();

	if (child == 0 && count == 0)
		for (;;)
			(void)pause();
	if (child == 0) {
		goal = count;
		pace = 0;
		counts[THREADS_LIMIT - 1] = 0;
		(void)trace((void *)(uintptr_t)(THREADS_LIMIT - 1));
		exit((int)ctrace_flush(10000));
	}
	printf("%d\n", (int)child);
}

static void obey(const char *order)
{
	char writer[16];

	if (sscanf(order, "on %15s", writer) == 1)
		command(CTRACE_CT_ON, writer);
	else if (strcmp(order, "plain\n") == 0)
		command(CTRACE_CT_ON, NULL);
	else if (strcmp(order, "disconnect\n") == 0)
		command(CTRACE_CT_ON, "DISCONNECT");
	else if (strcmp(order, "off\n") == 0)
		command(CTRACE_CT_OFF, NULL);
	else if (strncmp(order, "run ", 4) == 0)
		printf("%llu\n", start((uint32_t)strtoul(order + 4, NULL, 10))
					 ? (unsigned long long)finish()
					 : 0);
	else if (strncmp(order, "both ", 5) == 0) {
		traces_both = true;
		printf("%llu\n", start((uint32_t)strtoul(order + 5, NULL, 10))
					 ? (unsigned long long)finish()
					 : 0);
		traces_both = false;
	} else if (strcmp(order, "start\n") == 0)
		printf("%d\n", start(0));
	else if (strcmp(order, "stop\n") == 0)
		printf("%llu\n", (unsigned long long)finish());
	else if (strncmp(order, "fork ", 5) == 0)
		print_child((uint32_t)strtoul(order + 5, NULL, 10));
	else if (strncmp(order, "breed ", 6) == 0)
		breed((uint32_t)strtoul(order + 6, NULL, 10));
	else if (strcmp(order, "child\n") == 0)
		breed(0);
	else if (strcmp(order, "misfits\n") == 0)
		print_misfits();
	else if (strncmp(order, "pace ", 5) == 0)
		printf("%u\n", pace = (uint32_t)strtoul(order + 5, NULL, 10));
	else if (strcmp(order, "close\n") == 0)
		printf("%d\n", close_range(3, UINT_MAX, 0));
	else if (strcmp(order, "exec\n") == 0)
		(void)execl("/proc/self/exe", "written", "1", (char *)NULL);
	else if (strcmp(order, "flush\n") == 0)
		printf("%d\n", (int)ctrace_flush(10000));
	else if (strcmp(order, "stats\n") == 0)
		print_stats();
	else if (strcmp(order, "writes\n") == 0)
		print_writes();
	else
		puts("what?");
}

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char userdata[CTRACE_USERDATA_SIZE] = "0123456789ABCD\n";
	const struct ctrace_define define = { CTRACE_DEFINE_INIT,   .name = "WRT",
					      .userdata = userdata, .startnam = "AGREE",
					      .fmttab = "FORMAT",   .mod = CTRACE_YES,
					      .wtr = CTRACE_YES,    .wtrmode = CTRACE_PAGEABLE };
	struct ctrace_outcome outcome;
	char order[64];

	if (argc > 1)
		thread_count = (uint32_t)strtoul(argv[1], NULL, 10);
	if (thread_count == 0 || thread_count > THREADS_LIMIT ||
	    ctrace_routine_register("AGREE", agree) != CTRACE_OK ||
	    ctrace_component_define(&define, &outcome) != 0 ||
	    ctrace_component_tracer("WRT", NULL, &tracer) != CTRACE_OK)
		return 1;
	puts("ready");
	(void)fflush(stdout);
	while (fgets(order, sizeof order, stdin) != NULL) {
		obey(order);
		(void)fflush(stdout);
	}
	return 0;
}
