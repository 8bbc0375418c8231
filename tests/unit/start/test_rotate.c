/*
 * test_rotate.c - a new generation of the output while the process runs, and when it is killed just
 * then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <signal.h>

#define ALL UINT32_MAX

static unsigned lines_of(const char *path)
{
	unsigned count = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");

	while (file != NULL && getline(&line, &size, file) > 0)
		count += line[0] != '#' && line[0] != '\n';
	free(line);
	if (file != NULL)
		(void)fclose(file);
	return count;
}

static void emit_from(uint32_t first, uint32_t limit)
{
	for (uint32_t i = first; i < limit; i++)
		(void)emit(i);
}

static void rotate_with_generations(void)
{
	uint32_t done = 77;

	emit_from(0, 10);
	CHILD_CHECK(ct_consumer_thread_rotate(ALL, &done) == CTRACE_OK);
	CHILD_CHECK(done == 1);
	/* What was traced before the request is in the generation before it. */
	CHILD_CHECK(lines_of("out/trace.log_1") == 10);
	emit_from(10, 30);
	CHILD_CHECK(ct_consumer_thread_rotate(ALL & ~1u, &done) == CTRACE_NOT_FOUND);
	CHILD_CHECK(done == 0);
	CHILD_CHECK(ct_consumer_thread_rotate(1, &done) == CTRACE_OK);
	emit_from(30, 35);
}

static void the_next_event_begins_a_new_generation(void **state)
{
	(void)state;
	configure("mftrace.emitter.textfile#maxgeneration = 3\n");
	assert_int_equal(run_traced(rotate_with_generations), 0);
	assert_int_equal(lines_of("out/trace.log_1"), 10);
	assert_int_equal(lines_of("out/trace.log_2"), 20);
	assert_int_equal(lines_of("out/trace.log_3"), 5);
	assert_lines(0, 35);
}

static void rotate_one_file(void)
{
	uint32_t done = 77;

	CHILD_CHECK(ct_consumer_thread_rotate(ALL, &done) == CTRACE_NOT_FOUND); /* not attached */
	CHILD_CHECK(done == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	/* nothing is open */
	CHILD_CHECK(ct_consumer_thread_rotate(ALL, &done) == CTRACE_NOT_FOUND);
	emit_from(0, 10);
	done = 77;
	CHILD_CHECK(ct_consumer_thread_rotate(ALL, &done) == CTRACE_UNSUPPORTED);
	CHILD_CHECK(done == 0);
	emit_from(10, 20);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	CHILD_CHECK(rename("out/trace.log", "out/trace.log.1") == 0);
	emit_from(20, 30);
	CHILD_CHECK(ct_consumer_thread_rotate(ALL, &done) == CTRACE_OK ||
		    ct_consumer_thread_rotate(ALL, &done) == CTRACE_UNSUPPORTED);
	emit_from(30, 40);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	CHILD_CHECK(lines_of("out/trace.log.1") == 20);
}

/* The pass before it may have seen already that the file is gone; then it is new as it is. */
static void a_file_that_was_renamed_is_begun_anew(void **state)
{
	(void)state;
	assert_int_equal(run_traced(rotate_one_file), 0);
	assert_int_equal(lines_of("out/trace.log"), 20);
	assert_lines(0, 40);
}

static void rotate_and_die(void)
{
	uint32_t done;

	emit_from(0, 100);
	CHILD_CHECK(ct_consumer_thread_rotate(ALL, &done) == CTRACE_OK);
	CHILD_CHECK(done == 3);
	emit_from(100, 150);
	(void)kill(getpid(), SIGKILL);
}

/* Whatever of the last 50 the consumer thread had written: each is there once in the text, and once
 * in the directories. */
static void killed_after_rotating_nothing_is_lost_or_twice(void **state)
{
	(void)state;
	configure(
		"mftrace.emitter.textfile#maxgeneration = 3\nmftrace.dest = binfile\nmftrace.emitter.binfile#maxgeneration = 3\n"
		"mftrace.emitter.binfile#file = bin.ctb\n");
	for (unsigned i = 0; i < 10; i++) {
		struct ct_recovery total;

		assert_int_equal(run_traced(rotate_and_die), -SIGKILL);
		total = recover();
		assert_int_equal(total.kept, 0);
		assert_lines(0, 150);
		assert_int_equal(lines_of("out/trace.log_1"), 100);
		assert_int_equal(
			system("test $(babeltrace2 bin.ctb_1 | wc -l) = 100 && test $(babeltrace2 bin.ctb_2 | wc -l) = 50"),
			0);
		assert_int_equal(system("rm -r out bin.ctb_*"), 0);
	}
}

struct rotations {
	pthread_t thread;
	uint32_t stop;
	unsigned done;
};

static void *keep_rotating(void *argument)
{
	struct rotations *rotations = argument;

	/* Once in any case: on a busy machine all may be traced before this thread begins. */
	do {
		uint32_t done;

		rotations->done += ct_consumer_thread_rotate(ALL, &done) == CTRACE_OK;
	} while (__atomic_load_n(&rotations->stop, __ATOMIC_ACQUIRE) == 0);
	return NULL;
}

static void rotate_while_tracing(void)
{
	struct rotations rotations = { 0 };
	struct ctrace_stats now;

	emit_from(0, 1);
	CHILD_CHECK(pthread_create(&rotations.thread, NULL, keep_rotating, &rotations) == 0);
	emit_from(1, 100000);
	__atomic_store_n(&rotations.stop, 1, __ATOMIC_RELEASE);
	CHILD_CHECK(pthread_join(rotations.thread, NULL) == 0);
	CHILD_CHECK(rotations.done > 0);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	now = stats();
	CHILD_CHECK(now.emitted == 100000 && now.delivered == 100000);
}

static void rotating_loses_nothing(void **state)
{
	(void)state;
	configure("mftrace.emitter.textfile#maxgeneration = 100000\n");
	assert_int_equal(run_traced(rotate_while_tracing), 0);
	assert_lines(0, 100000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_rotate(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_next_event_begins_a_new_generation),
		TEST(a_file_that_was_renamed_is_begun_anew),
		TEST(killed_after_rotating_nothing_is_lost_or_twice),
		TEST(rotating_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
