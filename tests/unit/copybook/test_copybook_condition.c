/*
 * test_copybook_condition.c - levels 88: what they may say, and when they hold.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void several_values_and_ranges(void **state)
{
	static const char text[] =
		"01 R. 05 A PIC 99. 88 LOW VALUES ARE 1 THRU 5, 7. 88 HIGH VALUE IS 50 THROUGH 99 WHEN SET TO FALSE IS 0. 88 ODD VALUE 7 9 11.";

	(void)state;
	assert_fields(text, "03", 2, "A=03\nA IS LOW\n");
	assert_fields(text, "07", 2, "A=07\nA IS LOW\nA IS ODD\n");
	assert_fields(text, "06", 2, "A=06\n");
	assert_fields(text, "99", 2, "A=99\nA IS HIGH\n");
	assert_fields(text, "00", 2, "A=00\n");
}

static void a_condition_belongs_to_the_field_before_it(void **state)
{
	(void)state;
	assert_fields(
		"01 R. 05 G. 88 GG VALUE 'ab'. 10 A PIC X. 88 AA VALUE 'a'. 10 B PIC X. 88 BB VALUE 'b'.",
		"ab", 2, "G IS GG\nA=a\nA IS AA\nB=b\nB IS BB\n");
}

static void diagnostics_have_their_place(void **state)
{
	(void)state;
	assert_diagnostic("88 A VALUE 1.", 1, 4, "level 88 \"A\" belongs to nothing");
	assert_diagnostic("01 R PIC X. 88 A.", 1, 17, "a level 88 without a name or VALUE");
	assert_diagnostic("01 R PIC X. 88 VALUE 1.", 1, 16, "a level 88 without a name or VALUE");
	assert_diagnostic("01 R PIC 9. 88 A VALUE 1 THRU.", 1, 30, "\".\" is no value");
}

static const struct ct_copybook_options ebcdic = { .encoding = CT_ENCODING_EBCDIC_037 };

static void texts_are_compared_as_if_they_were_as_long(void **state)
{
	static const char text[] =
		"01 R PIC X(3). 88 A VALUE 'ab'. 88 B VALUE 'ab ' 'xyz'. 88 C VALUE 'abcd'. 88 D VALUE 'a' THRU 'b'. 88 E VALUE SPACES.";

	(void)state;
	assert_fields(text, "ab ", 3, "R=ab \nR IS A\nR IS B\nR IS D\n");
	assert_fields(text, "abc", 3, "R=abc\nR IS D\n");
	assert_fields(text, "xyz", 3, "R=xyz\nR IS B\n");
	assert_fields(text, "   ", 3, "R=   \nR IS E\n");
}

static void figurative_constants_fill_the_field(void **state)
{
	static const char text[] =
		"01 R PIC XX. 88 LOW VALUE LOW-VALUES. 88 HIGH VALUE HIGH-VALUE. 88 ZERO-S VALUE ZEROES. 88 Q VALUE QUOTES. 88 ALL-OF VALUE ALL 'xy'."
		" 88 HEX VALUE X'4142'.";

	(void)state;
	assert_fields(text, "\xFF\xFF", 2, "R=\xFF\xFF\nR IS HIGH\n");
	assert_fields(text, "00", 2, "R=00\nR IS ZERO-S\n");
	assert_fields(text, "\"\"", 2, "R=\"\"\nR IS Q\n");
	assert_fields(text, "xy", 2, "R=xy\nR IS ALL-OF\n");
	assert_fields(text, "AB", 2, "R=AB\nR IS HEX\n");
	assert_fields("01 R. 05 A PIC X. 88 LOW VALUE LOW-VALUES. 05 B PIC X.", "\1x", 2,
		      "A=\1\nB=x\n");
}

static void numbers_are_compared_as_numbers(void **state)
{
	static const char text[] =
		"01 R PIC S9(3)V9 COMP-3. 88 A VALUE 12.5. 88 B VALUE -1 THRU 12.51. 88 C VALUE 12.49 12.501. 88 D VALUE ZERO. 88 E VALUE 99999999999999999999999999999999999999999."
		" 88 F VALUE -1.05 THRU -0.95.";

	(void)state;
	assert_fields(text, "\x00\x12\x5C", 3, "R=+012.5\nR IS A\nR IS B\n");
	assert_fields(text, "\x00\x00\x0D", 3, "R=+000.0\nR IS B\nR IS D\n");
	assert_fields(text, "\x00\x01\x0D", 3, "R=-001.0\nR IS B\nR IS F\n");
	assert_fields(text, "\x00\x01\x1D", 3, "R=-001.1\n");
	assert_fields("01 R PIC 9(5)V99 COMP-5. 88 ONE VALUE 1.", "\x64\0\0\0", 4,
		      "R=0000000100\nR IS ONE\n");
	assert_fields("01 R PIC 99PP. 88 H VALUE 1200. 88 I VALUE 1250.", "12", 2,
		      "R=1200\nR IS H\n");
}

static void floats_are_compared_as_they_are_kept(void **state)
{
	(void)state;
	assert_fields("01 R COMP-1. 88 T VALUE .1. 88 U VALUE 0 THRU 1.", "\xCD\xCC\xCC\x3D", 4,
		      "R=0.1\nR IS T\nR IS U\n");
	assert_fields("01 R COMP-2. 88 T VALUE 0.1.", "\x9A\x99\x99\x99\x99\x99\xB9\x3F", 8,
		      "R=0.1\nR IS T\n");
}

static void what_is_no_number_may_still_be_blank(void **state)
{
	(void)state;
	assert_fields("01 R PIC 9(3). 88 NONE VALUE SPACES. 88 Z VALUE 0.", "   ", 3,
		      "R=!202020\nR IS NONE\n");
	assert_fields("01 R PIC 9(3). 88 DIGITS VALUE '007'.", "007", 3, "R=007\nR IS DIGITS\n");
}

static void groups_have_conditions(void **state)
{
	(void)state;
	assert_fields("01 R. 88 E VALUE SPACES. 88 F VALUE 'ab'. 05 A PIC X. 05 B PIC X.", "ab", 2,
		      "R IS F\nA=a\nB=b\n");
}

static void ebcdic_is_compared_in_its_own_order(void **state)
{
	static const char text[] =
		"01 R PIC XX. 88 LETTERS VALUE 'a' THRU 'zz'. 88 DIGITS VALUE '00' THRU '99'. 88 BLANK-S VALUE SPACE. 88 LARGER VALUE 'zz' THRU '00'.";

	(void)state;
	assert_fields_with(&ebcdic, text, "\x81\x40", 2, "R=a \nR IS LETTERS\n");
	assert_fields_with(&ebcdic, text, "\xF1\xF2", 2, "R=12\nR IS DIGITS\n");
	assert_fields_with(&ebcdic, "01 R PIC XX. 88 A VALUE 'a'.", "\x81\x40", 2,
			   "R=a \nR IS A\n");
	assert_fields_with(&ebcdic, text, "\x40\x40", 2, "R=  \nR IS BLANK-S\n");
	assert_fields_with(&ebcdic, text, "\xC1\xC1", 2, "R=AA\nR IS LARGER\n");
}

int test_copybook_condition(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_values_and_ranges),
		cmocka_unit_test(a_condition_belongs_to_the_field_before_it),
		cmocka_unit_test(diagnostics_have_their_place),
		cmocka_unit_test(texts_are_compared_as_if_they_were_as_long),
		cmocka_unit_test(figurative_constants_fill_the_field),
		cmocka_unit_test(numbers_are_compared_as_numbers),
		cmocka_unit_test(floats_are_compared_as_they_are_kept),
		cmocka_unit_test(what_is_no_number_may_still_be_blank),
		cmocka_unit_test(groups_have_conditions),
		cmocka_unit_test(ebcdic_is_compared_in_its_own_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
