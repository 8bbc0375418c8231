/*
 * test_order.c - what happened first is read first: in a thread always, between processes as far as
 * their clocks tell.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <pthread.h>

#define ROUNDS 2000u
#define THREADS 8u
#define EVENTS 50000u

static struct ctrace_tracer ping = CTRACE_TRACER("ping");
static struct ctrace_tracer pong = CTRACE_TRACER("pong");

/* ---- two processes that talk ---- */

static int to_pong[2];
static int to_ping[2];

/* Event 1 before a byte is written, event 2 after it was read; so in each round ping:1 pong:2
 * pong:1 ping:2. */
static void play_ping(void)
{
	char byte = 0;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		CTRACE(&ping, CTRACE_INFO, 1, CTRACE_U64(i));
		REQUIRE(write(to_pong[1], &byte, 1) == 1 && read(to_ping[0], &byte, 1) == 1);
		CTRACE(&ping, CTRACE_INFO, 2, CTRACE_U64(i));
	}
}

static void play_pong(void)
{
	char byte;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		REQUIRE(read(to_pong[0], &byte, 1) == 1);
		CTRACE(&pong, CTRACE_INFO, 2, CTRACE_U64(i));
		CTRACE(&pong, CTRACE_INFO, 1, CTRACE_U64(i));
		REQUIRE(write(to_ping[1], &byte, 1) == 1);
	}
}

static unsigned place; /* of the line in the merged trace */

static void check_place(const char *line, void *user)
{
	static const char *const expected[] = { "ping 1", "pong 2", "pong 1", "ping 2" };
	char text[64];

	(void)user;
	(void)snprintf(text, sizeof text, "%s 1 %u\n", expected[place % 4], place / 4 + 1);
	assert_non_null(strchr(line, ' '));
	assert_string_equal(strchr(line, ' ') + 1, text); /* behind the time */
	place++;
}

/* The two attach at different times, each with a calibration of its own. */
static void two_processes_are_merged_in_the_order_of_cause_and_effect(void **state)
{
	pid_t players[2];

	(void)state;
	scenario_begin(
		"mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = $(PID).ctb\n");
	for (unsigned game = 0; game < 5; game++) {
		assert_int_equal(pipe(to_pong), 0);
		assert_int_equal(pipe(to_ping), 0);
		players[0] = scenario_start(play_ping);
		players[1] = scenario_start(play_pong);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(scenario_wait(players[i]), 0);
			(void)close(to_pong[i]);
			(void)close(to_ping[i]);
		}
		place = 0;
		assert_int_equal(
			run_tool(
				"show --format='$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' *.ctb"),
			0);
		assert_int_equal(scenario_lines("tool.out", check_place, NULL), 4 * ROUNDS);
		assert_int_equal(system("rm -r *.ctb"), 0);
	}
	scenario_end();
}

/* ---- threads ---- */

static void *count_up(void *argument)
{
	unsigned kind = (unsigned)(uintptr_t)argument;

	for (uint64_t i = 1; i <= EVENTS; i++)
		CTRACE(&ping, CTRACE_INFO, kind, CTRACE_U64(i));
	return NULL;
}

static void count_in_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, count_up, (void *)(i + 1)) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static void check_sequences(const char *pattern)
{
	static struct scenario_sequence sequence;

	memset(&sequence, 0, sizeof sequence);
	assert_int_equal(scenario_lines(pattern, scenario_check_sequence, &sequence),
			 THREADS * EVENTS);
	assert_int_equal(sequence.bad, 0);
	for (unsigned i = 1; i <= THREADS; i++)
		assert_int_equal(sequence.last[i], EVENTS);
}

/* In the text file as it was written live, in the binary one as ctrace and as babeltrace2 read it.
 */
static void eight_threads_keep_their_order_in_text_and_binary(void **state)
{
	(void)state;
	scenario_begin(
		"mftrace.level = debug\nmftrace.dest = textfile, binfile\nctrace.block.timeout = 60s\n"
		"mftrace.emitter.textfile#file = out.log\nmftrace.emitter.binfile#file = out.ctb\n"
		"mftrace.emitter.textfile#format = $(THREAD) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)\n");
	scenario_run(count_in_threads);
	check_sequences("out.log");
	assert_int_equal(
		run_tool("show --format='0 $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' out.ctb"), 0);
	check_sequences("tool.out");
	assert_int_equal(
		system("babeltrace2 out.ctb 2>bt.err | sed -E 's/.* ping:([0-9]+): .* data1 = ([0-9]+) .*/0 ping \\1 1 \\2/' >bt.txt"),
		0);
	assert_int_equal(system("test ! -s bt.err"), 0);
	check_sequences("bt.txt");
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_processes_are_merged_in_the_order_of_cause_and_effect),
		cmocka_unit_test(eight_threads_keep_their_order_in_text_and_binary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
