/*
 * test_copybook_type.c - fields with the type of another, and types that are not there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void types_are_what_they_stand_for(void **state)
{
	(void)state;
	assert_fields(
		"01 T TYPEDEF. 05 A PIC X. 05 B PIC X OCCURS 2. 01 N IS TYPEDEF PIC 99. 88 NONE VALUE 0.\n"
		"01 R. 05 P USAGE T. 05 Q N. 05 S TYPE TO N OCCURS 2. 05 Z PIC X.",
		"abc000123z", 10, "A=a\nB(1)=b\nB(2)=c\nQ=00\nQ IS NONE\nS(1)=01\nS(2)=23\nZ=z\n");
	assert_diagnostic("01 R. 05 A USAGE NONE.", 1, 18, "no type \"NONE\"");
	assert_diagnostic("01 R TYPEDEF. 05 A USAGE R.", 1, 26, "no type \"R\"");
}

static void what_the_field_says_itself_stays(void **state)
{
	(void)state;
	assert_fields("01 N TYPEDEF PIC 9(3) COMP-3. 01 R. 05 A TYPE N. 05 B USAGE N PIC 9.",
		      "\x12\x3c\x4c", 3, "A=123\nB=4\n");
}

static void types_have_tables_and_what_they_redefine(void **state)
{
	(void)state;
	assert_places(
		"01 T TYPEDEF. 05 X PIC X. 05 A PIC XX. 05 B REDEFINES A PIC X. 01 R. 05 P PIC X. 05 Q TYPE T. 05 S TYPE T.",
		"R@0+7 P@0+1 Q@1+3 X@1+1 A@2+2 B@2+1 S@4+3 X@4+1 A@5+2 B@5+1 ");
}

/* Each doubles the one before: the limit of fields ends it. */
static void types_of_types_are_limited(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;

	(void)state;
	ct_buf_add_text(&text, "01 T0 TYPEDEF. 05 A PIC X.\n");
	for (unsigned i = 1; i < 16; i++)
		ct_buf_add_format(&text, "01 T%u TYPEDEF. 05 A TYPE T%u. 05 B TYPE T%u.\n", i,
				  i - 1, i - 1);
	assert_int_equal(ct_copybook_parse("t", ct_buf_text(&text), text.size, NULL, &copybook,
					   &diagnostic, NULL),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "the copybook has too many fields");
	ct_buf_fini(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_what_they_stand_for),
		cmocka_unit_test(what_the_field_says_itself_stays),
		cmocka_unit_test(types_have_tables_and_what_they_redefine),
		cmocka_unit_test(types_of_types_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
