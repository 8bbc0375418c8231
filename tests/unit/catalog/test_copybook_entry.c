/*
 * test_copybook_entry.c - entries: levels, clauses, constants, types, what stands around them, and mistakes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void clauses_come_in_any_order(void **state)
{
	(void)state;
	assert_fields(
		"01 R. 05 A VALUE IS 'x' PICTURE IS X(2) JUSTIFIED RIGHT. 05 B COMP-3 PIC S9(3) VALUE -1 SYNC. 05 C USAGE IS COMP PIC 9(4).",
		"ab\x12\x3d\x00\x07", 6, "A=ab\nB=-123\nC=0007\n");
	assert_fields("01 R IS GLOBAL EXTERNAL AS 'r'. 05 A PIC X, VALUES ARE SPACES;. 05 B PIC X.", "ab", 2, "A=a\nB=b\n");
}

static void names_may_be_missing(void **state)
{
	(void)state;
	assert_fields("01 R. 05 PIC X. 05 FILLER PIC X. 05 filler PIC X VALUE ZERO.", "abc", 3, "FILLER=a\nFILLER=b\nFILLER=c\n");
	assert_fields("01 R. 05 TYPE PIC X.", "a", 1, "TYPE=a\n");
}

static void fields_outside_of_a_record_are_one(void **state)
{
	struct ct_copybook *copybook = parse("05 A PIC X. 05 B PIC X.", NULL);

	(void)state;
	assert_string_equal(ct_copybook_name(copybook), "TEST");
	assert_int_equal(ct_copybook_size(copybook), 2);
	ct_copybook_destroy(copybook);
}

static void constants_are_calculated(void **state)
{
	static const char text[] =
		"78 A VALUE 3. 78 B VALUE A * (2 + 1) - 4. 78 HEX VALUE H'A'. 78 NOT-KNOWN VALUE LENGTH OF R. 78 T VALUE 'yes'.\n"
		"01 C CONSTANT AS 2. 01 R. 05 X PIC X(B). 05 Y PIC X OCCURS C. 88 IS-YES VALUE T. 05 Z PIC X(HEX).";

	(void)state;
	assert_fields(text, "abcdeyn0123456789", 17, "X=abcde\nY(1)=y\nY(2)=n\nZ=0123456789\n");
	assert_fields("78 T VALUE 'yes'. 01 R. 05 A PIC X(3). 88 Q VALUE T.", "yes", 3, "A=yes\nA IS Q\n");
	assert_complaint("78 N VALUE NEXT. 01 R. 05 A PIC X(N).", 1, 34, "the picture repeats a symbol an unknown number of times");
	assert_complaint("78 Z VALUE 1 / 0. 01 R. 05 A PIC X OCCURS Z.", 1, 43, "\"Z\" is not a number that fits here");
	assert_complaint("78 Z VALUE ((((1. 01 R. 05 A PIC X OCCURS Z.", 1, 43, "\"Z\" is not a number that fits here");
}

static void levels_make_a_tree(void **state)
{
	(void)state;
	assert_places("01 R. 03 A. 05 B PIC X. 05 C. 49 D PIC X. 03 E PIC X. 77 F PIC X. 01 G PIC X.",
		      "R@0+3 A@0+2 B@0+1 C@1+1 D@1+1 E@2+1 ");
	assert_places("01 R. 05 A PIC X. 03 B PIC X.", "R@0+2 A@0+1 B@1+1 ");
	assert_places("77 F PIC X(3).", "F@0+3 ");
}

static void types_are_what_they_stand_for(void **state)
{
	(void)state;
	assert_fields("01 T TYPEDEF. 05 A PIC X. 05 B PIC X OCCURS 2. 01 N IS TYPEDEF PIC 99. 88 NONE VALUE 0.\n"
		      "01 R. 05 P USAGE T. 05 Q N. 05 S TYPE TO N OCCURS 2. 05 Z PIC X.",
		      "abc000123z", 10, "A=a\nB(1)=b\nB(2)=c\nQ=00\nQ IS NONE\nS(1)=01\nS(2)=23\nZ=z\n");
	assert_complaint("01 R. 05 A USAGE NONE.", 1, 18, "no type \"NONE\"");
	assert_complaint("01 R TYPEDEF. 05 A USAGE R.", 1, 26, "no type \"R\"");
}

static void a_program_around_its_data_is_passed_over(void **state)
{
	(void)state;
	assert_fields("identification division.\nprogram-id. x.\nenvironment division.\nconfiguration section.\nspecial-names.\n"
		      "    currency sign is '#'.\ndata division.\nworking-storage section.\n01 R. 05 A PIC ##9.\nlinkage section.\n"
		      "procedure division.\n    display 'x'.\n",
		      " #5", 3, "A= #5\n");
	assert_fields("EJECT 01 R. SKIP1 05 A PIC X.\nTITLE 'x'.\n05 B PIC X.", "ab", 2, "A=a\nB=b\n");
}

static void mistakes_have_their_place(void **state)
{
	(void)state;
	assert_complaint("01 R.\n   05 A PIX X.\n", 2, 9, "unknown clause \"PIX\"");
	assert_complaint("50 R PIC X.", 1, 1, "\"50\" begins no entry");
	assert_complaint("01 R.\n hello.", 2, 2, "\"hello\" begins no entry");
	assert_complaint("01 R. 05 A PIC X", 1, 16, "the last entry does not end");
	assert_complaint("01 R. 05 A PIC XQ.", 1, 17, "the picture has a symbol that is not known");
	assert_complaint("01 R. 05 A PIC.", 1, 15, "PICTURE without a picture");
	assert_complaint("01 R. 05 A REDEFINES B PIC X.", 1, 22, "REDEFINES \"B\", which is not there");
	assert_complaint("01 R. 05 A PIC X OCCURS 0.", 1, 25, "OCCURS \"0\"");
	assert_complaint("01 R. 05 A PIC X OCCURS 5 TO 3 DEPENDING ON B.", 1, 30, "OCCURS at most \"3\"");
	assert_complaint("01 R. 05 A SIGN HERE PIC S9.", 1, 17, "SIGN \"HERE\"");
	assert_complaint("88 A VALUE 1.", 1, 4, "level 88 \"A\" belongs to nothing");
	assert_complaint("01 R PIC X. 88 A.", 1, 17, "a level 88 without a name or VALUE");
	assert_complaint("01 R PIC X. 88 A VALUE B.", 1, 24, "\"B\" is no value");
	assert_complaint("01 R PIC X. 88 A VALUE X'0'.", 1, 25, "the literal \"0\" has half a byte");
	assert_complaint("01 R PIC X VALUE.", 1, 17, "VALUE without a value");
	assert_complaint("", 1, 1, "the copybook describes no record");
}

static void there_are_at_most_8192_fields(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook = NULL;
	struct ct_complaint complaint;

	(void)state;
	ct_buf_add_text(&text, "01 R.\n");
	for (unsigned i = 0; i < CT_COPYBOOK_FIELDS - 1; i++)
		ct_buf_add_text(&text, "02 PIC X.\n");
	assert_int_equal(ct_copybook_parse("t", text.data, text.size, NULL, &copybook, &complaint, NULL), CTRACE_OK);
	assert_int_equal(ct_copybook_size(copybook), CT_COPYBOOK_FIELDS - 1);
	ct_copybook_destroy(copybook);
	ct_buf_add_text(&text, "02 PIC X.\n");
	assert_int_equal(ct_copybook_parse("t", text.data, text.size, NULL, &copybook, &complaint, NULL), CTRACE_SYNTAX_ERROR);
	assert_string_equal(complaint.message, "the copybook has too many fields");
	ct_buf_fini(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_come_in_any_order),
		cmocka_unit_test(names_may_be_missing),
		cmocka_unit_test(fields_outside_of_a_record_are_one),
		cmocka_unit_test(constants_are_calculated),
		cmocka_unit_test(levels_make_a_tree),
		cmocka_unit_test(types_are_what_they_stand_for),
		cmocka_unit_test(a_program_around_its_data_is_passed_over),
		cmocka_unit_test(mistakes_have_their_place),
		cmocka_unit_test(there_are_at_most_8192_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
