/*
 * test_copybook_tree.c - what stands in what: levels, records that have none, what is redefined,
 * limits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void levels_make_a_tree(void **state)
{
	(void)state;
	assert_places(
		"01 R. 03 A. 05 B PIC X. 05 C. 49 D PIC X. 03 E PIC X. 77 F PIC X. 01 G PIC X.",
		"R@0+3 A@0+2 B@0+1 C@1+1 D@1+1 E@2+1 ");
	assert_places("01 R. 05 A PIC X. 03 B PIC X.", "R@0+2 A@0+1 B@1+1 ");
	assert_places("77 F PIC X(3).", "F@0+3 ");
}

static void fields_outside_of_a_record_are_one(void **state)
{
	struct ct_copybook *copybook = parse("05 A PIC X. 05 B PIC X.", NULL);

	(void)state;
	assert_string_equal(ct_copybook_name(copybook), "TEST");
	assert_int_equal(ct_copybook_size(copybook), 2);
	ct_copybook_destroy(copybook);
}

static void what_is_redefined_is_of_the_same_group(void **state)
{
	(void)state;
	assert_places("01 R. 05 A. 10 B PIC XX. 05 C REDEFINES A PIC XX. 05 D REDEFINES c PIC X.",
		      "R@0+2 A@0+2 B@0+2 C@0+2 D@0+1 ");
	assert_diagnostic("01 R. 05 A. 10 B PIC XX. 05 C REDEFINES B PIC XX.", 1, 41,
			  "REDEFINES \"B\", which is not there");
}

static void what_is_not_there_is_not_redefined(void **state)
{
	(void)state;
	assert_diagnostic("01 R. 05 A REDEFINES B PIC X.", 1, 22,
			  "REDEFINES \"B\", which is not there");
}

static void there_are_at_most_8192_fields(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;

	(void)state;
	ct_buf_add_text(&text, "01 R.\n");
	for (unsigned i = 0; i < CT_COPYBOOK_FIELDS - 1; i++)
		ct_buf_add_text(&text, "02 PIC X.\n");
	assert_int_equal(
		ct_copybook_parse("t", text.data, text.size, NULL, &copybook, &diagnostic, NULL),
		CTRACE_OK);
	assert_int_equal(ct_copybook_size(copybook), CT_COPYBOOK_FIELDS - 1);
	ct_copybook_destroy(copybook);
	ct_buf_add_text(&text, "02 PIC X.\n");
	assert_int_equal(
		ct_copybook_parse("t", text.data, text.size, NULL, &copybook, &diagnostic, NULL),
		CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "the copybook has too many fields");
	ct_buf_fini(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_make_a_tree),
		cmocka_unit_test(fields_outside_of_a_record_are_one),
		cmocka_unit_test(what_is_redefined_is_of_the_same_group),
		cmocka_unit_test(what_is_not_there_is_not_redefined),
		cmocka_unit_test(there_are_at_most_8192_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
