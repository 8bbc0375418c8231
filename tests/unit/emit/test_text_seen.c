/*
 * test_text_seen.c - which lines of a file are a dead process's, and that each stands for one
 * event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/emit/emit.h"
#include "emit_fixture.h"

#define HEADER(PID) CT_TEXT_HEADER_MARK "# CommandLine      = x\n# ProcessId        = " PID "\n"

static struct fixture *fixture;

static void load(struct ct_text_seen *seen, const char *text, uint64_t from)
{
	char path[4200];

	fixture_put(fixture, "t", text);
	(void)snprintf(path, sizeof path, "%s/t", fixture->directory);
	ct_text_seen_load(seen, path, from, 17356);
}

static bool take(struct ct_text_seen *seen, const char *line)
{
	return ct_text_seen_take(seen, line, strlen(line));
}

static void lines_of_the_process_are_seen(void **state)
{
	struct ct_text_seen seen = { 0 };

	(void)state;
	load(&seen,
	     "before\nours\n# Lost = 3\nours too\n" HEADER("99") "theirs\n" HEADER(
		     "17356") "later\nhalf",
	     7);
	assert_int_equal(seen.count, 3);
	assert_false(take(&seen, "before\n"));
	assert_false(take(&seen, "theirs\n"));
	assert_false(take(&seen, "half\n"));
	assert_true(take(&seen, "later\n"));
	assert_true(take(&seen, "ours\n"));
	assert_true(take(&seen, "ours too\n"));
	assert_int_equal(seen.count, 0);
	ct_text_seen_fini(&seen);
}

/* From the beginning of a file everything stands behind a header. */
static void nothing_before_the_first_header(void **state)
{
	struct ct_text_seen seen = { 0 };

	(void)state;
	load(&seen, "somebody's\n" HEADER("17356") "ours\n", 0);
	assert_int_equal(seen.count, 1);
	assert_true(take(&seen, "ours\n"));
	ct_text_seen_fini(&seen);
}

static void equal_lines_count_one_by_one(void **state)
{
	struct ct_text_seen seen = { 0 };

	(void)state;
	load(&seen, "x\nsame\nsame\n", 2);
	assert_true(take(&seen, "same\n"));
	assert_true(take(&seen, "same\n"));
	assert_false(take(&seen, "same\n"));
	ct_text_seen_fini(&seen);
}

static void what_cannot_be_read_holds_no_line(void **state)
{
	struct ct_text_seen seen = { 0 };

	(void)state;
	ct_text_seen_load(&seen, "/nonexistent/t", 0, 1);
	assert_int_equal(seen.count, 0);
	ct_text_seen_fini(&seen);
}

static int init(void **state)
{
	(void)state;
	fixture = fixture_create(&ct_emit_textfile);
	return 0;
}

static int fini(void **state)
{
	(void)state;
	fixture_destroy(fixture);
	return 0;
}

int test_text_seen(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_of_the_process_are_seen, init, fini),
		cmocka_unit_test_setup_teardown(nothing_before_the_first_header, init, fini),
		cmocka_unit_test_setup_teardown(equal_lines_count_one_by_one, init, fini),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_holds_no_line, init, fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
