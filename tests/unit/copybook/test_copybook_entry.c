/*
 * test_copybook_entry.c - entries: levels, names, what each level is, and what begins none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void names_may_be_missing(void **state)
{
	(void)state;
	assert_fields("01 R. 05 PIC X. 05 FILLER PIC X. 05 filler PIC X VALUE ZERO.", "abc", 3,
		      "FILLER=a\nFILLER=b\nFILLER=c\n");
	assert_fields("01 R. 05 TYPE PIC X.", "a", 1, "TYPE=a\n");
}

static void levels_say_what_an_entry_is(void **state)
{
	(void)state;
	assert_fields(
		"78 N VALUE 2. 01 C CONSTANT IS GLOBAL AS 1. 01 R. 05 A PIC X(N). 66 Z RENAMES A THRU B. 88 Q VALUE 'ab'. 05 B PIC X(C).",
		"abc", 3, "A=ab\nA IS Q\nB=c\n");
	assert_places("01 R. 05 A PIC X. 77 F PIC X.", "R@0+1 A@0+1 ");
}

static void diagnostics_have_their_place(void **state)
{
	(void)state;
	assert_diagnostic("50 R PIC X.", 1, 1, "\"50\" begins no entry");
	assert_diagnostic("01 R.\n hello.", 2, 2, "\"hello\" begins no entry");
	assert_diagnostic("", 1, 1, "the copybook describes no record");
	assert_diagnostic("78 N 5. 01 R PIC X.", 1, 6, "a level 78 without a name or VALUE");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_may_be_missing),
		cmocka_unit_test(levels_say_what_an_entry_is),
		cmocka_unit_test(diagnostics_have_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
