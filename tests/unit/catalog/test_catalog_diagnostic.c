/*
 * test_catalog_diagnostic.c - errors: in the order of the text, with lines and bytes, a thousand of
 * them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

static struct ct_catalog_diagnostics diagnostics;

static int diagnostics_free(void **state)
{
	(void)state;
	ct_catalog_diagnostics_fini(&diagnostics);
	memset(&seen, 0, sizeof seen);
	return 0;
}

static void add(uint32_t line, uint32_t column, const char *what)
{
	struct ct_yaml_place place = { line, column };

	ct_catalog_diagnostics_add(
		&diagnostics, &place,
		&(struct ct_catalog_diagnostic){ .what = what, .expected = "better" });
}

static void tell(const char *text)
{
	ct_catalog_diagnostics_report(&diagnostics, "c.yaml", text, strlen(text), see, &seen);
}

static void in_the_order_of_the_text(void **state)
{
	struct ct_diagnostic whole = { .message = "whole", .expected = "x" };

	(void)state;
	ct_catalog_diagnostics_add_text(&diagnostics, NULL, NULL, &whole);
	add(2, 0, "four");
	add(0, 3, "one");
	add(1, 1, "two");
	add(1, 1, "three");
	tell("a b\nc d\ne\n");
	assert_int_equal(diagnostics.total, 5);
	assert_int_equal(seen.count, 5);
	assert_seen(0, 1, 4, "one");
	assert_seen(1, 2, 2, "two");
	assert_seen(2, 2, 2, "three");
	assert_seen(3, 3, 1, "four");
	assert_seen(4, 0, 0, "whole");
	assert_string_equal(seen.path[0], "c.yaml");
}

static void columns_are_bytes(void **state)
{
	(void)state;
	add(0, 2, "one");
	add(2, 1, "two");
	add(2, 99, "three");
	add(99, 0, "four");
	tell("\xC3\xA4\xE2\x82\xAC"
	     "b\r\n\r\xF0\x9F\x98\x80"
	     "c\n");
	assert_seen(0, 1, 6, "one");
	assert_seen(1, 3, 5, "two");
	assert_seen(2, 3, 6, "three");
	assert_seen(3, 4, 1, "four"); /* there are no more lines */
}

static void of_another_file(void **state)
{
	struct ct_yaml_place place = { 1, 0 };
	struct ct_diagnostic diagnostic = {
		.line = 7, .column = 9, .message = "in it", .expected = "x"
	};

	(void)state;
	add(2, 0, "last");
	add(1, 0, "first");
	ct_catalog_diagnostics_add_text(&diagnostics, &place, "b.cpy", &diagnostic);
	tell("a\nb\nc\n");
	assert_seen(0, 2, 1, "first");
	assert_seen(1, 7, 9, "in it");
	assert_string_equal(seen.path[1], "b.cpy");
	assert_seen(2, 3, 1, "last");
	assert_string_equal(seen.path[2], "c.yaml");
}

static void words(void **state)
{
	struct ct_yaml word = { .text = "a\"b\n\x1B and much, much more", .count = 26 };

	(void)state;
	ct_catalog_diagnostics_add(&diagnostics, &word.place,
				   &(struct ct_catalog_diagnostic){ .word = &word,
								    .what = "is wrong",
								    .suggestion = "right",
								    .expected = "right" });
	tell("");
	assert_seen(0, 1, 1,
		    "\"a\\\"b\\n\\u{1B} and much, much...\" is wrong (did you mean right?)");
}

static void a_thousand_are_enough(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CT_CATALOG_DIAGNOSTICS; i++)
		add(i, 0, "wrong");
	tell("");
	assert_int_equal(seen.count, CT_CATALOG_DIAGNOSTICS);
	memset(&seen, 0, sizeof seen);
	add(0, 0, "wrong");
	add(0, 0, "wrong");
	assert_int_equal(diagnostics.total, CT_CATALOG_DIAGNOSTICS + 2);
	tell("");
	assert_int_equal(seen.count, CT_CATALOG_DIAGNOSTICS + 1);
	ct_catalog_diagnostics_report(&diagnostics, "c.yaml", "", 0, NULL, NULL);
}

static struct ct_diagnostic last;

static void keep_last(const char *path, const struct ct_diagnostic *diagnostic, void *user)
{
	(void)path;
	(void)user;
	last = *diagnostic;
}

static void how_many_more(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CT_CATALOG_DIAGNOSTICS + 5; i++)
		add(i, 0, "wrong");
	ct_catalog_diagnostics_report(&diagnostics, "c.yaml", "", 0, keep_last, NULL);
	assert_string_equal(last.message, "5 more errors");
	assert_int_equal(last.line, 0);
}

int test_catalog_diagnostic(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(in_the_order_of_the_text, diagnostics_free),
		cmocka_unit_test_teardown(columns_are_bytes, diagnostics_free),
		cmocka_unit_test_teardown(of_another_file, diagnostics_free),
		cmocka_unit_test_teardown(words, diagnostics_free),
		cmocka_unit_test_teardown(a_thousand_are_enough, diagnostics_free),
		cmocka_unit_test_teardown(how_many_more, diagnostics_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
