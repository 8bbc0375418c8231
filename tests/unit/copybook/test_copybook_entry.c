/*
 * test_copybook_entry.c - levels, the tree of fields, types, and the program around the data.
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

int test_copybook_entry(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_may_be_missing),
		cmocka_unit_test(levels_say_what_an_entry_is),
		cmocka_unit_test(diagnostics_have_their_place),
		cmocka_unit_test(levels_make_a_tree),
		cmocka_unit_test(fields_outside_of_a_record_are_one),
		cmocka_unit_test(what_is_redefined_is_of_the_same_group),
		cmocka_unit_test(what_is_not_there_is_not_redefined),
		cmocka_unit_test(there_are_at_most_8192_fields),
		cmocka_unit_test(types_are_what_they_stand_for),
		cmocka_unit_test(what_the_field_says_itself_stays),
		cmocka_unit_test(types_have_tables_and_what_they_redefine),
		cmocka_unit_test(types_of_types_are_limited),
		cmocka_unit_test(a_program_around_its_data_is_passed_over),
		cmocka_unit_test(both_ways_to_name_the_currency),
		cmocka_unit_test(records_of_a_file_have_an_fd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
