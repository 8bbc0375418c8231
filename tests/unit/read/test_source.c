/*
 * test_source.c - what people name becomes sources.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"
#include "event_fixture.h"

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

static void a_trace_a_stream_a_directory_of_traces(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir("all", 0700), 0);
	make_trace(f, "all/a.ctb", 0, 5, 5);
	make_trace(f, "all/b.ctb", 5, 5, 5);
	assert_int_equal(
		system("touch all/file; mkdir all/empty; ln -s b.ctb link.ctb; ln -s all/b.ctb link"),
		0);
	assert_reads("all/a.ctb", 0, 5);
	assert_reads("all/a.ctb/", 0, 5);
	assert_reads("all/b.ctb/stream.0", 5, 5);
	assert_reads("all/b.ctb/metadata", 5, 5);
	assert_reads("all", 0, 10);
	assert_reads("link", 5, 5);
	assert_int_equal(chdir("all/a.ctb"), 0);
	assert_reads(".", 0, 5);
	assert_reads("stream.0", 0, 5);
	assert_int_equal(chdir("../.."), 0);
}

static void what_is_none_of_them(void **state)
{
	static const char *const names[] = { "nothing", "file",      "empty",        "stream.0",
					     "",        "/dev/null", "999999999999", "-1" };
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
	assert_int_equal(
		system("mkdir other; printf '/* CTF 1.8 */\\ntrace { major = 2; };' > other/metadata; touch other/stream.0"),
		0);
	assert_int_equal(add("other", &count), CTRACE_UNSUPPORTED);
	assert_int_equal(add("other/stream.0", &count), CTRACE_UNSUPPORTED);
	/* In a directory it is reported, and what else is there is read. */
	assert_int_equal(add(".", &count), CTRACE_OK);
	assert_int_equal(count, 0);
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

/* What may not be looked into is said, in a directory of others too. */
static void a_directory_that_may_not_be_read(void **state)
{
	uid_t own = geteuid();
	struct reading r;
	enum ctrace_status status, alone;

	make_trace(*state, "all/a.ctb", 0, 5, 5);
	make_trace(*state, "all/b.ctb", 5, 5, 5);
	assert_int_equal(system("chmod a+rx .; chmod -R a+rX all; chmod 0 all/b.ctb"), 0);
	if (own == 0)
		assert_int_equal(seteuid(65534), 0);
	reading_init(&r);
	status = ct_sources_add(&r.sources, "all");
	alone = ct_sources_add(&r.sources, "all/b.ctb");
	if (own == 0)
		assert_int_equal(seteuid(own), 0);
	assert_int_equal(chmod("all/b.ctb", 0700), 0);
	assert_int_equal(status, CTRACE_OK);
	assert_int_equal(alone, CTRACE_DENIED);
	assert_int_equal(r.sources.count, 1);
	assert_int_equal(r.reports, 1);
	assert_string_equal(r.last_path, "all/b.ctb");
	assert_int_equal(r.sources.totals.unread, 1);
	assert_string_equal(r.last_message, "permission denied: the directory may not be read");
	ct_sources_fini(&r.sources);
}

static enum ct_filter_result filter_result_of(const struct ct_sources *sources, uint32_t event_id,
					      uint32_t level)
{
	struct ct_read_event event = { .traced = { .component = "APP",
						   .component_size = 3,
						   .event_id = event_id,
						   .level = level } };

	return ct_sources_class(sources, &event);
}

static void ends_of_spans_are_needed_as_far_as_one_is_shown(void **state)
{
	static const char text[] = "component: APP\n"
				   "events:\n"
				   "  1: {mnemonic: IN, exit: 2, severity: info}\n"
				   "  2: {mnemonic: OUT, severity: warn}\n"
				   "  3: {mnemonic: BEGIN, exit: 4}\n"
				   "  4: END\n"
				   "  5: {mnemonic: LOW, exit: 6, severity: debug}\n"
				   "  6: {mnemonic: LOWEND, severity: debug}\n";
	struct ct_catalog *catalog = event_catalog("app.yaml", text);
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter;
	struct ct_sources sources = { .catalog = catalog,
				      .has_pairs = true,
				      .pairs_are_shown = true };

	(void)state;
	assert_int_equal(ct_filter_parse("level >= warn", 0, &filter, &diagnostic), CTRACE_OK);
	sources.filter = filter;
	assert_int_equal(filter_result_of(&sources, 2, CTRACE_WARN), CT_FILTER_RESULT_ALWAYS);
	/* its exit is shown */
	assert_int_equal(filter_result_of(&sources, 1, CTRACE_INFO), CT_FILTER_RESULT_MAYBE);
	/* at what level END is nobody knows */
	assert_int_equal(filter_result_of(&sources, 3, CTRACE_INFO), CT_FILTER_RESULT_MAYBE);
	assert_int_equal(filter_result_of(&sources, 5, CTRACE_DEBUG), CT_FILTER_RESULT_NEVER);
	assert_int_equal(filter_result_of(&sources, 6, CTRACE_DEBUG), CT_FILTER_RESULT_NEVER);
	assert_int_equal(filter_result_of(&sources, 9, CTRACE_DEBUG), CT_FILTER_RESULT_NEVER);
	sources.pairs_are_shown = false; /* depth */
	assert_int_equal(filter_result_of(&sources, 5, CTRACE_DEBUG), CT_FILTER_RESULT_MAYBE);
	sources.has_pairs = false;
	assert_int_equal(filter_result_of(&sources, 1, CTRACE_INFO), CT_FILTER_RESULT_NEVER);
	ct_filter_destroy(filter);
	ct_catalog_destroy(catalog);
}

static void hostile_run_directory_is_refused(void **state)
{
	size_t count;

	(void)state;
	assert_int_equal(
		system("mkdir -p run/12.0; head -c 100000 /dev/urandom > run/12.0/session"), 0);
	assert_int_not_equal(add("run/12.0", &count), CTRACE_OK);
	assert_int_equal(count, 0);
}

/* Directories beside the name that have the number of their process are read with it, once; copies
 * that are merely numbered are not. */
static void directories_of_processes_beside_a_name(void **state)
{
	struct reading r;

	make_trace(*state, "t", 0, 10, 10);
	make_trace(*state, "t.4711", 10, 10, 10);
	make_trace(*state, "t_2.4711.2", 20, 10, 10);
	make_trace(*state, "t.2", 30, 10, 10);
	make_trace(*state, "t.4711x", 40, 10, 10);
	assert_reads("t", 0, 30);
	assert_reads("t/", 0, 10);
	assert_reads("t.4711", 10, 10);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t"), CTRACE_OK);
	assert_int_equal(ct_sources_add(&r.sources, "t.4711"), CTRACE_OK);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	ct_sources_fini(&r.sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_source(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_trace_a_stream_a_directory_of_traces),
		TEST(what_is_none_of_them),
		TEST(traces_of_others_are_unsupported),
		TEST(generations_by_what_they_have_in_common),
		TEST(a_directory_that_may_not_be_read),
		TEST(ends_of_spans_are_needed_as_far_as_one_is_shown),
		TEST(hostile_run_directory_is_refused),
		TEST(directories_of_processes_beside_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
