/*
 * test_copybook_scan.c - words and literals of lines in both formats, and how they go on on the
 * next one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_format_has_its_text_in_columns_8_to_72),
		cmocka_unit_test(free_format_has_it_anywhere),
		cmocka_unit_test(words_and_literals_go_on_on_the_next_line),
		cmocka_unit_test(a_literal_ends_on_its_line),
		cmocka_unit_test(other_marks_in_column_7_are_diagnosed_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
