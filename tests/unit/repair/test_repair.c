/*
 * test_repair.c - finding traces, and writing copies of them: one, many, compressed; and
 * what is none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "repair_fixture.h"

static enum ctrace_status try(const char *path, struct ct_repair *run)
{
	static struct reported reported;

	memset(&reported, 0, sizeof reported);
	*run = (struct ct_repair){ .report = note_keep, .user = &reported };
	assert_int_equal(ct_os_make_directory("good"), CTRACE_OK);
	return ct_repair_path(run, path, "good");
}

static void a_directory_of_traces_keeps_its_shape(void **state)
{
	struct reported reported;
	struct ct_repair run;

	assert_int_equal(system("mkdir -p set/00000001 set/00000002"), 0);
	make_trace(*state, "set/00000001/JOB.1", 0, 40, 10);
	make_trace(*state, "set/00000002/JOB.1", 40, 40, 10);
	make_trace(*state, "set/a.ctb_1", 80, 40, 10);
	run = repair("set", "good", &reported);
	assert_int_equal(run.traces, 3);
	assert_int_equal(run.events, 120);
	assert_int_equal(reported.notes, 0);
	assert_int_equal(system("diff -r set good/set"), 0);
}

static void steps_of_the_clock_are_kept(void **state)
{
	static const struct ct_bin_clock_mark marks[] = {
		{ -5000000000, 1700000000000000000u, 5000000000u, 0 },
		{ 3000000000, 1700000000000000500u, 2000000000u, 0 }
	};
	struct reported reported;
	struct ct_buf text = { 0 };
	FILE *metadata;

	make_trace(*state, "t", 0, 10, 10);
	for (size_t i = 0; i < CT_COUNT(marks); i++)
		ct_bin_clock_mark_add(&text, &marks[i]);
	metadata = fopen("t/metadata", "a");
	assert_non_null(metadata);
	assert_int_equal(fwrite(text.data, 1, text.size, metadata), text.size);
	assert_int_equal(fclose(metadata), 0);
	(void)repair("t", "good", &reported);
	assert_reads("good/t", 0, 10);
	ct_buf_clear(&text);
	assert_int_equal(ct_os_read_file("good/t/metadata", 1 << 20, &text), CTRACE_OK);
	for (size_t i = 0, at = 0; i < CT_COUNT(marks); i++) {
		struct ct_bin_clock_mark mark;

		assert_true(ct_bin_clock_mark_next(text.data, text.size, &at, &mark));
		assert_memory_equal(&mark, &marks[i], sizeof mark);
	}
	ct_buf_fini(&text);
}

static void names_that_are_there_are_numbered(void **state)
{
	struct reported reported;

	assert_int_equal(system("mkdir a b"), 0);
	make_trace(*state, "a/t", 0, 10, 10);
	make_trace(*state, "b/t", 10, 10, 10);
	(void)repair("a/t", "good", &reported);
	(void)repair("b/t/", "good", &reported);
	assert_reads("good/t", 0, 10);
	assert_reads("good/t.2", 10, 10);
}

static void one_stream_file(void **state)
{
	struct reported reported;

	make_trace(*state, "t", 0, 30, 10);
	/* not what it says: its packets are of stream 0 */
	assert_int_equal(system("cp t/stream.0 t/stream.1"), 0);
	(void)repair("t/stream.0", "good", &reported);
	assert_int_equal(reported.notes, 0);
	assert_int_equal(access("good/t/stream.1", F_OK), -1);
	assert_reads("good/t", 0, 30);
}

static void compressed_streams(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make_trace(*state, "t", 0, 300, 10);
	assert_int_equal(system("cp -r t whole && zstd -q --rm t/stream.0"), 0);
	run = repair("t", "good", &reported);
	assert_int_equal(reported.notes, 0);
	assert_int_equal(run.events, 300);
	assert_int_equal(system("cmp whole/stream.0 good/t/stream.0"), 0);
	/* Twice there: once is enough. */
	assert_int_equal(system("cp whole/stream.0 t/stream.0"), 0);
	run = repair("t", "good2", &reported);
	assert_int_equal(run.events, 300);
	/* And cut off. */
	assert_int_equal(system("rm t/stream.0 && truncate -s 100 t/stream.0.zst"), 0);
	(void)repair("t", "good3", &reported);
	assert_true(reported.notes > 0);
}

static void a_damaged_class_stands_as_such(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make_trace(*state, "t", 0, 30, 10);
	assert_int_equal(system("sed -i 's/COMP:1/COMP1/' t/metadata"), 0);
	run = repair("t", "good", &reported);
	assert_int_equal(run.events, 0);
	assert_int_equal(run.traces, 0);
	assert_true(reported.notes > 0);
}

static void what_is_no_trace_is_not_found(void **state)
{
	struct ct_repair run;

	(void)state;
	assert_int_equal(
		system("mkdir empty && mkdir -p a/b/c && touch file stream.0 && mkdir third-party && echo x >third-party/metadata"),
		0);
	assert_int_equal(try("empty", &run), CTRACE_NOT_FOUND);
	assert_int_equal(try("a", &run), CTRACE_NOT_FOUND);
	assert_int_equal(try("file", &run), CTRACE_NOT_FOUND);
	assert_int_equal(try("stream.0", &run), CTRACE_NOT_FOUND);
	assert_int_equal(try("third-party", &run), CTRACE_NOT_FOUND);
	assert_int_equal(try("nowhere", &run), CTRACE_NOT_FOUND);
	assert_int_equal(try("/dev/null", &run), CTRACE_NOT_FOUND);
	assert_int_equal(system("rmdir good"), 0); /* nothing was written */
}

static void the_copy_is_not_repaired_itself_and_links_are_not_followed(void **state)
{
	struct ct_repair run;

	make_trace(*state, "t", 0, 30, 10);
	assert_int_equal(system("ln -s t link && ln -s . t/loop"), 0);
	assert_int_equal(try(".", &run), CTRACE_OK);
	assert_int_equal(run.traces, 1);
	assert_int_equal(run.events, 30);
}

static void a_copy_that_cannot_be_written_is_reported(void **state)
{
	struct ct_repair run;
	unsigned writes = 0;

	make_trace(*state, "t", 0, 30, 10);
	/* And no half of it stays, whether the disk is full at a stream or at the metadata. */
	for (;; writes++) {
		ct_os_fail(CT_OS_WRITE, writes, 1, ENOSPC);
		if (try("t", &run) == CTRACE_OK)
			break;
		assert_int_equal(errno, ENOSPC);
		assert_int_equal(run.traces, 0);
		assert_int_equal(run.events, 0);
		assert_int_equal(rmdir("good"), 0);
	}
	ct_os_fail(CT_OS_WRITE, 0, 0, 0);
	assert_true(writes >= 2);
	assert_int_equal(run.events, 30);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_repair(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_directory_of_traces_keeps_its_shape),
		TEST(steps_of_the_clock_are_kept),
		TEST(names_that_are_there_are_numbered),
		TEST(one_stream_file),
		TEST(compressed_streams),
		TEST(a_damaged_class_stands_as_such),
		TEST(what_is_no_trace_is_not_found),
		TEST(the_copy_is_not_repaired_itself_and_links_are_not_followed),
		TEST(a_copy_that_cannot_be_written_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
