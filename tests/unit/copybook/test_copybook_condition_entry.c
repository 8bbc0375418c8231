/*
 * test_copybook_condition_entry.c - levels 88: several values and ranges, to which field they
 * belong, and errors.
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_values_and_ranges),
		cmocka_unit_test(a_condition_belongs_to_the_field_before_it),
		cmocka_unit_test(diagnostics_have_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
