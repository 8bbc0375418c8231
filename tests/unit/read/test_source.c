/*
 * test_source.c - what people name becomes sources.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"

static enum ctrace_status add(const char *path, size_t *out_count)
{
	struct reading r;
	enum ctrace_status status;

	reading_init(&r);
	status = ct_sources_add(&r.sources, path);
	*out_count = r.sources.count;
	ct_sources_fini(&r.sources);
	return status;
}

static void a_trace_a_stream_a_folder_of_traces(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir("all", 0700), 0);
	make_trace(f, "all/a.ctb", 0, 5, 5);
	make_trace(f, "all/b.ctb", 5, 5, 5);
	assert_int_equal(system("touch all/file; mkdir all/empty; ln -s b.ctb link.ctb; ln -s all/b.ctb link"), 0);
	assert_reads("all/a.ctb", 0, 5);
	assert_reads("all/a.ctb/", 0, 5);
	assert_reads("all/b.ctb/stream.0", 5, 5);
	assert_reads("all", 0, 10);
	assert_reads("link", 5, 5);
	assert_int_equal(chdir("all/a.ctb"), 0);
	assert_reads(".", 0, 5);
	assert_reads("stream.0", 0, 5);
	assert_int_equal(chdir("../.."), 0);
}

static void what_is_none_of_them(void **state)
{
	static const char *const names[] = { "nothing",   "file",         "empty", "trace.ctb/metadata", "stream.0", "",
					     "/dev/null", "999999999999", "-1" };
	struct fixture *f = *state;
	size_t count;

	make_trace(f, "trace.ctb", 0, 1, 1);
	assert_int_equal(system("touch file stream.0; mkdir empty"), 0);
	for (size_t i = 0; i < CT_COUNT(names); i++) {
		assert_int_equal(add(names[i], &count), CTRACE_NOT_FOUND);
		assert_int_equal(count, 0);
	}
}

static void traces_of_others_are_unsupported(void **state)
{
	size_t count;

	(void)state;
	assert_int_equal(system("mkdir other; printf '/* CTF 1.8 */\\ntrace { major = 2; };' > other/metadata; touch other/stream.0"), 0);
	assert_int_equal(add("other", &count), CTRACE_UNSUPPORTED);
	assert_int_equal(add("other/stream.0", &count), CTRACE_UNSUPPORTED);
	/* In a folder it is reported, and what else is there is read. */
	assert_int_equal(add(".", &count), CTRACE_NOT_FOUND);
}

static void generations_by_what_they_have_in_common(void **state)
{
	struct fixture *f = *state;
	size_t count;

	make_trace(f, "a.ctb_1", 0, 5, 5);
	make_trace(f, "a.ctb_2", 5, 5, 5);
	make_trace(f, "a.ctb_10", 10, 5, 5);
	make_trace(f, "a.ctb_old", 100, 5, 5);
	make_trace(f, "aa.ctb_1", 200, 5, 5);
	assert_reads("a.ctb", 0, 15);
	assert_reads("./a.ctb", 0, 15);
	assert_int_equal(add("a", &count), CTRACE_NOT_FOUND);
}

static void hostile_run_folder_is_refused(void **state)
{
	size_t count;

	(void)state;
	assert_int_equal(system("mkdir -p run/12.0; head -c 100000 /dev/urandom > run/12.0/session"), 0);
	assert_int_not_equal(add("run/12.0", &count), CTRACE_OK);
	assert_int_equal(count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_trace_a_stream_a_folder_of_traces),
		TEST(what_is_none_of_them),
		TEST(traces_of_others_are_unsupported),
		TEST(generations_by_what_they_have_in_common),
		TEST(hostile_run_folder_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
