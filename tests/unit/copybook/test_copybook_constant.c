/*
 * test_copybook_constant.c - names that stand for values: levels 78, levels 01 with CONSTANT, and
 * where they may be used.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void constants_are_calculated(void **state)
{
	static const char text[] =
		"78 A VALUE 3. 78 B VALUE A * (2 + 1) - 4. 78 HEX VALUE H'A'. 78 NOT-KNOWN VALUE LENGTH OF R. 78 T VALUE 'yes'.\n"
		"01 C CONSTANT AS 2. 01 R. 05 X PIC X(B). 05 Y PIC X OCCURS C. 88 IS-YES VALUE T. 05 Z PIC X(HEX).";

	(void)state;
	assert_fields(text, "abcdeyn0123456789", 17, "X=abcde\nY(1)=y\nY(2)=n\nZ=0123456789\n");
	assert_fields("78 T VALUE 'yes'. 01 R. 05 A PIC X(3). 88 Q VALUE T.", "yes", 3,
		      "A=yes\nA IS Q\n");
	assert_diagnostic("78 N VALUE NEXT. 01 R. 05 A PIC X(N).", 1, 34,
			  "the picture repeats a symbol an unknown number of times");
	assert_diagnostic("78 Z VALUE 1 / 0. 01 R. 05 A PIC X OCCURS Z.", 1, 43,
			  "\"Z\" is not a number that fits here");
	assert_diagnostic("78 Z VALUE ((((1. 01 R. 05 A PIC X OCCURS Z.", 1, 43,
			  "\"Z\" is not a number that fits here");
}

static void the_last_of_a_name_counts(void **state)
{
	(void)state;
	assert_fields("78 N VALUE 1. 78 n VALUE N + 1. 01 R. 05 A PIC X(N).", "ab", 2, "A=ab\n");
}

static void a_constant_has_a_value(void **state)
{
	(void)state;
	assert_diagnostic("78 N VALUE. 01 R PIC X.", 1, 4, "the constant \"N\" has no value");
	assert_diagnostic("01 N CONSTANT AS. 01 R PIC X.", 1, 4, "the constant \"N\" has no value");
	assert_diagnostic("78 N VALUE 'x'. 01 R. 05 A PIC X OCCURS N.", 1, 41,
			  "\"N\" is not a number that fits here");
	assert_diagnostic("78 N VALUE 268435457. 01 R. 05 A PIC X OCCURS N.", 1, 47,
			  "\"N\" is not a number that fits here");
}

static void there_are_at_most_8192_constants(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;

	(void)state;
	for (unsigned i = 0; i < CT_COPYBOOK_FIELDS; i++)
		ct_buf_add_format(&text, "78 N%u VALUE %u.\n", i, i);
	ct_buf_add_text(&text, "01 R. 05 A PIC X(N8191).\n");
	assert_int_equal(ct_copybook_parse("t", ct_buf_text(&text), text.size, NULL, &copybook,
					   &diagnostic, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_copybook_size(copybook), CT_COPYBOOK_FIELDS - 1);
	ct_copybook_destroy(copybook);
	ct_buf_add_text(&text, "78 MORE VALUE 1.\n");
	assert_int_equal(ct_copybook_parse("t", ct_buf_text(&text), text.size, NULL, &copybook,
					   &diagnostic, NULL),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "too many constants");
	ct_buf_fini(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_calculated),
		cmocka_unit_test(the_last_of_a_name_counts),
		cmocka_unit_test(a_constant_has_a_value),
		cmocka_unit_test(there_are_at_most_8192_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
