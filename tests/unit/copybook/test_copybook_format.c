/*
 * test_copybook_format.c - fixed or free: what lines give away, what directives say, tabs and
 * columns.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"
#include "catalog/copybook/copybook_private.h"

static struct ct_format format_of(const char *text)
{
	return ct_format_find(text, text + strlen(text));
}

static void lines_give_the_format_away(void **state)
{
	(void)state;
	assert_true(format_of("000100 01  R.\n000200* note\n").is_fixed);
	assert_true(format_of("       01  R.\n      * note\n").is_fixed);
	assert_true(format_of("").is_fixed);
	assert_false(format_of("01 R.\n05 A PIC X.\n").is_fixed);
	assert_false(
		format_of("      01 R.\n      * note\n   05 A PIC X.\n   05 B PIC X.\n").is_fixed);
	assert_false(
		format_of(
			"          01 R.                                                 05 AWORDTHATRUNSOVER PIC X.\n")
			.is_fixed);
	assert_true(format_of("01 R.\n").has_right_margin);
}

static void tabs_count_as_what_they_look_like(void **state)
{
	static const char line[] = "ab\tc\td";
	const char *end = line + strlen(line);

	(void)state;
	assert_ptr_equal(ct_format_column(line, end, 1), line);
	assert_ptr_equal(ct_format_column(line, end, 9), line + 3);
	assert_ptr_equal(ct_format_column(line, end, 17), line + 5);
	assert_ptr_equal(ct_format_column(line, end, 18), end);
	assert_ptr_equal(ct_format_column(line, end, 73), end);
}

static void lines_end_where_they_end(void **state)
{
	static const char text[] = "  a \r\nb";
	const char *end = text + strlen(text);

	(void)state;
	assert_ptr_equal(ct_format_line_end(text, end), text + 5);
	assert_ptr_equal(ct_format_line_end(text + 6, end), end);
	assert_ptr_equal(ct_format_trim(text, text + 5), text + 3);
	assert_ptr_equal(ct_format_trim(text, text + 2), text);
	assert_ptr_equal(ct_format_skip_blanks(text, end), text + 2);
	assert_ptr_equal(ct_format_skip_blanks(text, text + 2), text + 2);
}

static void directives_begin_with_two_signs_or_a_dollar(void **state)
{
	static const char *const good[] = { ">>SOURCE", "$SET", "$if" };
	static const char *const bad[] = { ">", "$", "$9", "$ SET", "SET", "" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++)
		assert_true(ct_format_is_directive(good[i], good[i] + strlen(good[i])));
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		assert_false(ct_format_is_directive(bad[i], bad[i] + strlen(bad[i])));
}

static void directives_say_the_format(void **state)
{
	(void)state;
	assert_fields("      $SET SOURCEFORMAT\"FREE\"\n   01 R.\n 05 A PIC X.\n", "a", 1, "A=a\n");
	assert_fields(">>SOURCE FORMAT IS FREE\n01 R.\n05 A PIC X.\n", "a", 1, "A=a\n");
	assert_fields(
		"01 R.\n>>SOURCE FORMAT IS FIXED\n       05 A PIC X.                                                      05 B PIC\n",
		"a", 1, "A=a\n");
}

static void a_tab_goes_to_the_next_eighth_column(void **state)
{
	(void)state;
	assert_fields("\t01  R.\n\t    05  A PIC X.\n", "a", 1, "A=a\n");
	assert_fields("000100\t01  R.\n000200*\n000300\t05  A PIC X.\n", "a", 1, "A=a\n");
}

static void conditional_text_is_not_guessed(void **state)
{
	(void)state;
	assert_diagnostic("01 R.\n>>IF A DEFINED\n05 A PIC X.\n>>END-IF\n", 2, 1,
			  "conditional compilation is not supported");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_give_the_format_away),
		cmocka_unit_test(tabs_count_as_what_they_look_like),
		cmocka_unit_test(lines_end_where_they_end),
		cmocka_unit_test(directives_begin_with_two_signs_or_a_dollar),
		cmocka_unit_test(directives_say_the_format),
		cmocka_unit_test(a_tab_goes_to_the_next_eighth_column),
		cmocka_unit_test(conditional_text_is_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
