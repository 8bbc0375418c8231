/*
 * test_output.c - output that fails, heals, or is too slow: the program is never harmed, nothing is
 * lost without being counted, and tracing goes on by itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("output");

static enum ctrace_status emit(uint64_t number)
{
	struct ctrace_item items[] = { CTRACE_U64(number),
				       CTRACE_TEXT("01234567890123456789", 20) };

	return ctrace_emit(&tracer, CTRACE_INFO, 1, items, 2);
}

static void check(uint64_t last)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)scenario_lines("out/*.log", scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	assert_int_equal(sequence.last[1], last);
}

/* events that a thread's first ring has room for: under a limit on files it gets no larger one */
#define WAITING 600u

static void limit_files(rlim_t size)
{
	struct rlimit limit;

	REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = size;
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* ---- a file that cannot be opened ---- */

static void trace_into_nowhere(void)
{
	REQUIRE(emit(1) == CTRACE_OUTPUT_ERROR);
	REQUIRE(emit(2) == CTRACE_OUTPUT_ERROR);
	REQUIRE(unlink("out") == 0);
	REQUIRE(mkdir("out", 0700) == 0);
	/* It is tried again each 100 ms; the flush says when it works. */
	while (ctrace_flush(60000) != CTRACE_OK)
		(void)sched_yield();
	REQUIRE(emit(3) == CTRACE_OK);
}

static void the_first_call_says_that_the_file_cannot_be_written_and_it_heals(void **state)
{
	(void)state;
	/* FILE is absolute, so no other directory is tried in its place. */
	scenario_begin("");
	{
		FILE *file = fopen("config", "w");

		assert_non_null(file);
		assert_true(fprintf(file,
				    LINES_CONFIG
				    "mftrace.emitter.textfile#file = %s/out/fixed.log\n",
				    scenario_directory) > 0);
		assert_int_equal(fclose(file), 0);
		file = fopen("out", "w"); /* a file where the directory should be */
		assert_non_null(file);
		assert_int_equal(fclose(file), 0);
	}
	scenario_run(trace_into_nowhere);
	check(3);
	scenario_end();
}

/* ---- a file that may not grow ---- */

static void grow_beyond_the_limit(void)
{
	uint64_t i = 0;

	(void)emit(++i);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	limit_files(8192);
	do {
		/* Not faster than the output, or the ring would fill before anybody can know. */
		REQUIRE(i < 100000);
		(void)emit(++i);
	} while (ctrace_flush(60000) == CTRACE_OK);
	for (unsigned more = 0; more < WAITING; more++)
		REQUIRE(emit(++i) == CTRACE_OUTPUT_ERROR);
	limit_files(RLIM_INFINITY);
	while (ctrace_flush(60000) != CTRACE_OK)
		(void)sched_yield();
	REQUIRE(emit(++i) == CTRACE_OK);
	shared->number[0] = i;
}

static void at_a_file_size_limit_nobody_is_killed_and_nothing_is_lost(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(grow_beyond_the_limit);
	check(shared->number[0]);
	scenario_end();
}

static void end_while_failing(void)
{
	(void)emit(1);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	limit_files(4096);
	for (uint64_t i = 2; i <= WAITING; i++)
		(void)emit(i);
}

static void what_a_failing_destination_did_not_take_is_recovered(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(end_while_failing);
	assert_int_equal(scenario_directories(), 1);
	assert_int_equal(run_tool("recover"), 0);
	assert_int_equal(scenario_directories(), 0);
	check(WAITING);
	scenario_end();
}

/* ---- a full disk ---- */

static void fill_the_disk(void)
{
	uint64_t i = 0;

	do {
		REQUIRE(i < 1000000);
		for (unsigned some = 0; some < 100; some++)
			(void)emit(++i);
	} while (ctrace_flush(60000) == CTRACE_OK);
	for (unsigned more = 0; more < WAITING; more++)
		REQUIRE(emit(++i) == CTRACE_OUTPUT_ERROR);
	REQUIRE(mount("none", "out", NULL, MS_REMOUNT, "size=64m") == 0);
	while (ctrace_flush(60000) != CTRACE_OK)
		(void)sched_yield();
	shared->number[0] = i;
}

static void a_full_disk_stops_nothing_and_loses_nothing(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	assert_int_equal(mkdir("out", 0700), 0);
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "out", "tmpfs", 0, "size=1m,mode=0700") != 0) {
		print_message("# mounting a small disk takes root\n");
		scenario_end();
		skip();
	}
	scenario_run(fill_the_disk);
	check(shared->number[0]);
	assert_int_equal(umount("out"), 0);
	scenario_end();
}

/* ---- a full ring ---- */

#define SMALL "ctrace.buffer = 64K\n"

static void overflow_a_ring(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	uint64_t emitted = 0;

	(void)emit(++emitted);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	limit_files(1); /* nothing goes out any more: the ring fills */
	(void)emit(++emitted);
	REQUIRE(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	for (unsigned i = 1; i < 10000; i++)
		REQUIRE(emit(++emitted) == CTRACE_OUTPUT_ERROR);
	limit_files(RLIM_INFINITY);
	while (ctrace_flush(60000) != CTRACE_OK)
		(void)sched_yield();
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == emitted);
	REQUIRE(stats.pending == 0);
	shared->number[0] = stats.delivered;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		shared->number[1 + i] = stats.lost[i];
}

struct edges {
	uint64_t first, last, count;
};

static void note_edges(const char *line, void *user)
{
	struct edges *edges = user;
	unsigned tid, kind, level;
	unsigned long long value;
	char component[64];

	assert_int_equal(sscanf(line, "%u %63s %u %u %llu", &tid, component, &kind, &level, &value),
			 5);
	/* Not the very first one, which is from before the ring filled. */
	if (edges->count == 1)
		edges->first = value;
	edges->last = value;
	edges->count++;
}

static void check_overflow(const char *config, enum ctrace_loss reason, bool keeps_newest)
{
	struct edges edges = { 0, 0, 0 };

	scenario_begin(config);
	scenario_run(overflow_a_ring);
	(void)scenario_lines("out/*.log", note_edges, &edges);
	assert_true(shared->number[1 + reason] > 0);
	assert_int_equal(edges.count, shared->number[0]);
	assert_int_equal(edges.count + shared->number[1 + reason], 10001);
	if (keeps_newest)
		assert_int_equal(edges.last, 10001);
	else
		assert_int_equal(edges.first, 2);
	scenario_end();
}

static void discard_drops_the_newest_and_counts(void **state)
{
	(void)state;
	check_overflow(LINES_CONFIG SMALL "ctrace.overflow = discard\n", CTRACE_LOSS_DISCARDED,
		       false);
}

static void overwrite_drops_the_oldest_and_counts_events(void **state)
{
	(void)state;
	check_overflow(LINES_CONFIG SMALL "ctrace.overflow = overwrite\n", CTRACE_LOSS_OVERWRITTEN,
		       true);
}

static void block_gives_up_on_an_output_that_makes_no_progress_and_counts(void **state)
{
	(void)state;
	check_overflow(LINES_CONFIG SMALL "ctrace.block.timeout = 50ms\n", CTRACE_LOSS_STALLED,
		       false);
}

static void trace_a_million(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	for (uint64_t i = 1; i <= 300000; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	ctrace_stats_get(&stats);
	REQUIRE(stats.delivered == 300000 && stats.emitted == 300000);
}

static void block_loses_nothing_while_the_output_moves(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG SMALL);
	scenario_run(trace_a_million);
	check(300000);
	scenario_end();
}

static void trace_too_large(void)
{
	static char big[CTRACE_MAX_ITEM_SIZE + 1];
	struct ctrace_stats stats = { .size = sizeof stats };

	(void)emit(1);
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(2), CTRACE_TEXT(big, sizeof big));
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(2), CTRACE_BIN(big, sizeof big - 1));
	(void)emit(3);
	ctrace_stats_get(&stats);
	REQUIRE(stats.lost[CTRACE_LOSS_TOO_LARGE] == 1 && stats.emitted == 4);
}

static void an_item_over_64_kib_is_counted_and_one_of_64_kib_is_not(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_too_large);
	check(3);
	scenario_end();
}

/* ---- the flight recorder ---- */

static void fly(void)
{
	for (uint64_t i = 1; i <= 1000; i++)
		CTRACE(&tracer, CTRACE_DEBUG, 1, CTRACE_U64(i));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	shared->number[0] = scenario_lines("out/*.log", NULL, NULL);
	CTRACE(&tracer, CTRACE_ERROR, 1, CTRACE_U64(1001));
}

static void the_history_before_an_error_is_delivered_and_not_before(void **state)
{
	(void)state;
	scenario_begin(
		LINES_CONFIG
		"mftrace.level.output = warn\nctrace.flight.level.output = debug\nctrace.flight.trigger = error\n");
	scenario_run(fly);
	assert_int_equal(shared->number[0], 0);
	check(1001);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_call_says_that_the_file_cannot_be_written_and_it_heals),
		cmocka_unit_test(at_a_file_size_limit_nobody_is_killed_and_nothing_is_lost),
		cmocka_unit_test(what_a_failing_destination_did_not_take_is_recovered),
		cmocka_unit_test(a_full_disk_stops_nothing_and_loses_nothing),
		cmocka_unit_test(discard_drops_the_newest_and_counts),
		cmocka_unit_test(overwrite_drops_the_oldest_and_counts_events),
		cmocka_unit_test(block_gives_up_on_an_output_that_makes_no_progress_and_counts),
		cmocka_unit_test(block_loses_nothing_while_the_output_moves),
		cmocka_unit_test(an_item_over_64_kib_is_counted_and_one_of_64_kib_is_not),
		cmocka_unit_test(the_history_before_an_error_is_delivered_and_not_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
