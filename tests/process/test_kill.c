/*
 * test_kill.c - kill -9 at any point: every event whose trace call had returned is in the file
 * after a recovery, once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <pthread.h>
#include <time.h>

/* The output of a busy machine may make no progress for longer than usual. */
#define PATIENCE "ctrace.block.timeout = 60s\n"
#define CONFIG LINES_CONFIG PATIENCE
#define THREADS 3
#define ROUNDS 40

static struct ctrace_tracer tracer = CTRACE_TRACER("victim");

static void *trace_for_ever(void *argument)
{
	unsigned kind = (unsigned)(uintptr_t)argument;

	for (uint64_t i = 1;; i++) {
		CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(i), CTRACE_TEXT("0123456789", 10));
		__atomic_store_n(&shared->number[kind * 8], i, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void victim(void)
{
	for (uintptr_t i = 1; i < THREADS; i++) {
		pthread_t thread;

		REQUIRE(pthread_create(&thread, NULL, trace_for_ever, (void *)i) == 0);
	}
	(void)trace_for_ever(NULL);
}

/* Kills it when it has traced so many events; the number decides where, not the clock. */
static void kill_after(uint64_t events)
{
	pid_t pid;

	memset(shared, 0, sizeof *shared);
	pid = scenario_start(victim);
	while (__atomic_load_n(&shared->number[0], __ATOMIC_ACQUIRE) < events)
		;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(WIFSIGNALED(scenario_wait(pid)));
}

static void check_delivered(const char *pattern)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)scenario_lines(pattern, scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	for (unsigned kind = 0; kind < THREADS; kind++) {
		uint64_t returned = shared->number[kind * 8];

		/* One more may have been committed whose call had not returned. */
		assert_in_range(sequence.last[kind], returned, returned + 1);
	}
}

static void every_event_is_delivered_once_after_recover(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		scenario_begin(CONFIG);
		kill_after(round * round * 37);
		assert_int_equal(run_tool("recover"), 0);
		check_delivered("out/*.log");
		assert_int_equal(scenario_directories(), 0);
		scenario_end();
	}
}

static void a_second_recovery_delivers_nothing_again(void **state)
{
	(void)state;
	scenario_begin(CONFIG);
	kill_after(10000);
	assert_int_equal(run_tool("recover"), 0);
	assert_int_equal(run_tool("recover"), 0);
	check_delivered("out/*.log");
	scenario_end();
}

static void trace_one(void)
{
	CTRACE(&tracer, CTRACE_INFO, 100, CTRACE_U64(1));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	/* A process that lives for a second recovers others; then only its own directory is there.
	 */
	while (scenario_directories() > 1)
		(void)sched_yield();
}

static void the_next_traced_process_recovers_too(void **state)
{
	(void)state;
	scenario_begin(CONFIG);
	kill_after(5000);
	scenario_run(trace_one);
	assert_int_equal(scenario_directories(), 0);
	check_delivered("out/*.log");
	scenario_end();
}

static void binfile_is_whole_after_recover(void **state)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)state;
	scenario_begin(
		"mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = out\n");
	kill_after(30000);
	assert_int_equal(run_tool("recover"), 0);
	assert_int_equal(
		run_tool(
			"show --format='$(THREAD) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' out/*.ctb"),
		0);
	(void)scenario_lines("tool.out", scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	check_delivered("tool.out");
	assert_int_equal(system("babeltrace2 out/*.ctb >bt.out 2>bt.err && test ! -s bt.err && "
				"test $(grep -c victim: bt.out) -eq $(grep -c victim tool.out)"),
			 0);
	scenario_end();
}

static void recovery_can_be_killed_and_repeated(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 10; round++) {
		pid_t pid;

		scenario_begin(CONFIG);
		kill_after(100000);
		(void)fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			char path[1000];

			(void)snprintf(path, sizeof path, "%s/ctrace", getenv("CTRACE_BUILD"));
			(void)execl(path, "ctrace", "recover", (char *)NULL);
			_exit(127);
		}
		/* Somewhere in its work: wherever it is, the next one must finish it. */
		for (unsigned spin = 0; spin < round * 40; spin++)
			(void)sched_yield();
		(void)kill(pid, SIGKILL);
		(void)scenario_wait(pid);
		assert_int_equal(run_tool("recover"), 0);
		assert_int_equal(scenario_directories(), 0);
		check_delivered("out/*.log");
		scenario_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_delivered_once_after_recover),
		cmocka_unit_test(a_second_recovery_delivers_nothing_again),
		cmocka_unit_test(the_next_traced_process_recovers_too),
		cmocka_unit_test(binfile_is_whole_after_recover),
		cmocka_unit_test(recovery_can_be_killed_and_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
