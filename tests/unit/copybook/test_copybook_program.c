/*
 * test_copybook_program.c - divisions, sections and paragraphs around the data of a program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void a_program_around_its_data_is_passed_over(void **state)
{
	(void)state;
	assert_fields(
		"identification division.\nprogram-id. x.\nenvironment division.\nconfiguration section.\nspecial-names.\n"
		"    currency sign is '#'.\ndata division.\nworking-storage section.\n01 R. 05 A PIC ##9.\nlinkage section.\n"
		"procedure division.\n    display 'x'.\n",
		" #5", 3, "A= #5\n");
	assert_fields("EJECT 01 R. SKIP1 05 A PIC X.\nTITLE 'x'.\n05 B PIC X.", "ab", 2,
		      "A=a\nB=b\n");
}

static void both_ways_to_name_the_currency(void **state)
{
	(void)state;
	assert_fields(
		"SPECIAL-NAMES. CURRENCY SIGN IS 'EUR' WITH PICTURE SYMBOL '#'. 01 R. 05 A PIC ##9.",
		" #5", 3, "A= #5\n");
	assert_diagnostic("01 R. 05 A PIC ##9.", 1, 16,
			  "the picture has a symbol that is not known");
}

static void records_of_a_file_have_an_fd(void **state)
{
	(void)state;
	assert_fields(
		"DATA DIVISION. FILE SECTION. FD F LABEL RECORDS STANDARD. 01 R. 05 A PIC X. WORKING-STORAGE SECTION. 01 S PIC X(9).",
		"a", 1, "A=a\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_around_its_data_is_passed_over),
		cmocka_unit_test(both_ways_to_name_the_currency),
		cmocka_unit_test(records_of_a_file_have_an_fd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
