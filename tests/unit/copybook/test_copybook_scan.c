/*
 * test_copybook_scan.c - fixed and free format, and what a line is split into.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

/* Behind the text is a line that gives no format away, with a record before the right margin of
 * fixed format and one behind it. */
static void assert_format(const char *text, bool is_fixed)
{
	struct ct_copybook_options options = { .record = "FREE" };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf whole = { 0 };
	enum ctrace_status status;

	ct_buf_add_format(&whole, "%s           %-61s01 FREE PIC X.\n", text, "01 PROBE PIC X.");
	status = ct_copybook_parse("t", ct_buf_text(&whole), whole.size, &options, &copybook,
				   &diagnostic, NULL);
	if (is_fixed) {
		assert_int_equal(status, CTRACE_SYNTAX_ERROR);
		assert_string_equal(diagnostic.message, "the copybook has no record \"FREE\"");
	} else {
		assert_int_equal(status, CTRACE_OK);
		ct_copybook_destroy(copybook);
	}
	options.record = "PROBE";
	ct_copybook_destroy(parse(ct_buf_text(&whole), &options));
	ct_buf_fini(&whole);
}

static void lines_give_the_format_away(void **state)
{
	(void)state;
	assert_format("000100 01  R.\n000200* note\n", true);
	assert_format("       01  R.\n      * note\n", true);
	assert_format("", true);
	assert_format("01 R.\n05 A PIC X.\n", false);
	assert_format("      01 R.\n      * note\n   05 A PIC X.\n   05 B PIC X.\n", false);
	assert_format(
		"          01 R.                                                 05 AWORDTHATRUNSOVER PIC X.\n",
		false);
}

static void tabs_count_as_what_they_look_like(void **state)
{
	(void)state;
	/* the second field begins in column 57, and behind the right margin */
	assert_places("000100\t01 R.\n000200\t05 A PIC X.\t\t\t\t\t05 B PIC X.\n",
		      "R@0+2 A@0+1 B@1+1 ");
	assert_places("000100\t01 R.\n000200\t05 A PIC X.\t\t\t\t\t\t\t05 B PIC X.\n",
		      "R@0+1 A@0+1 ");
}

static void lines_end_where_they_end(void **state)
{
	(void)state;
	assert_places("  01 R. \r\n05 A PIC X. \t\r\n\r\n05 B PIC X.", "R@0+2 A@0+1 B@1+1 ");
}

static void directives_begin_with_two_signs_or_a_dollar(void **state)
{
	static const char *const good[] = { ">>SOURCE", "$SET" };
	static const char *const bad[] = { ">", "$", "$9", "$ SET", "SET" };
	char text[64], message[64];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++) {
		snprintf(text, sizeof text, "01 R.\n%s\n05 A PIC X.\n", good[i]);
		assert_places(text, "R@0+1 A@0+1 ");
	}
	assert_diagnostic("01 R.\n$if\n05 A PIC X.\n", 2, 1,
			  "conditional compilation is not supported");
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		snprintf(text, sizeof text, "01 R.\n%s\n05 A PIC X.\n", bad[i]);
		snprintf(message, sizeof message, "\"%.*s\" begins no entry",
			 (int)strcspn(bad[i], " "), bad[i]);
		assert_diagnostic(text, 2, 1, message);
	}
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

static void fixed_format_has_its_text_in_columns_8_to_72(void **state)
{
	static const char text[] =
		"000100* a comment                                                       IGNORED.\n"
		"000200 01  R.                                                           JUNK    \n"
		"000300     05  A           PIC X(2).                                    05 B PIC\n"
		"000400/ a page                                                                  \n"
		"000500D    05  DEBUG       PIC X.                                               \n"
		"000600     05  C           PIC X.    *> the end\n";

	(void)state;
	assert_fields(text, "abc", 3, "A=ab\nC=c\n");
}

static void free_format_has_it_anywhere(void **state)
{
	(void)state;
	assert_fields(
		"01 R. *> all\n05 A PIC X.\n* a comment\n                                                                          05 B PIC X.\n",
		"ab", 2, "A=a\nB=b\n");
	assert_fields("01 R.\r\n\t05 A PIC X.\r\n", "a", 1, "A=a\n");
	assert_fields("\xEF\xBB\xBF"
		      "01 R. 05 A PIC X.",
		      "a", 1, "A=a\n");
}

static void words_and_literals_go_on_on_the_next_line(void **state)
{
	static const char text[] = "       01  R.\n"
				   "           05  A PIC X(53). 88 LONG-NA\n"
				   "      -    ME VALUE \"ab\n"
				   "      -    \"cd\".\n"
				   "           05  B PIC X.\n";
	char record[55], expected[120];

	(void)state;
	/* The first part of the literal has blanks up to column 72. */
	snprintf(record, sizeof record, "%-51s%s", "ab", "cdx");
	snprintf(expected, sizeof expected, "A=%.53s\nA IS LONG-NAME\nB=x\n", record);
	assert_fields(text, record, 54, expected);
	assert_fields(
		"       01  R.\n           05  A PIC X(4) VALUE \"a\"\"b\n      -    \"c\".\n",
		"xyzt", 4, "A=xyzt\n");
}

static void a_literal_ends_on_its_line(void **state)
{
	(void)state;
	assert_diagnostic("01 R.\n05 A PIC X VALUE 'a.\n05 B PIC X.\n", 2, 18,
			  "the literal is not closed on its line");
	assert_diagnostic(
		"       01  R.\n           05  A PIC X VALUE \"a.\n           05  B PIC X.\n", 2,
		30, "the literal is not closed on its line");
}

static void other_marks_in_column_7_are_diagnosed_about(void **state)
{
	(void)state;
	assert_diagnostic("000100 01 R.\n000200*\n000300*\n000400?   05 A PIC X.\n", 4, 7,
			  "column 7 has no mark that is known");
}

int test_copybook_scan(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_give_the_format_away),
		cmocka_unit_test(tabs_count_as_what_they_look_like),
		cmocka_unit_test(lines_end_where_they_end),
		cmocka_unit_test(directives_begin_with_two_signs_or_a_dollar),
		cmocka_unit_test(directives_say_the_format),
		cmocka_unit_test(a_tab_goes_to_the_next_eighth_column),
		cmocka_unit_test(conditional_text_is_not_guessed),
		cmocka_unit_test(fixed_format_has_its_text_in_columns_8_to_72),
		cmocka_unit_test(free_format_has_it_anywhere),
		cmocka_unit_test(words_and_literals_go_on_on_the_next_line),
		cmocka_unit_test(a_literal_ends_on_its_line),
		cmocka_unit_test(other_marks_in_column_7_are_diagnosed_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
