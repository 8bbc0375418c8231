/*
 * test_copybook_layout.c - sizes and places of items, as GnuCOBOL has them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static const struct ct_copybook_options mf = { .dialect = CT_DIALECT_MF };
static const struct ct_copybook_options ibm = { .dialect = CT_DIALECT_IBM };

/* Sizes of 1 to 18 digits, as cobc gives them. */
static void assert_sizes(const struct ct_copybook_options *options, const char *sign,
			 const char *usage, const char *expected)
{
	struct ct_buf sizes = { 0 };
	char text[100];

	for (int digits = 1; digits <= 18; digits++) {
		struct ct_copybook *copybook;

		snprintf(text, sizeof text, "01 R PIC %s9(%d) %s.", sign, digits, usage);
		copybook = parse(text, options);
		ct_buf_add_u64(&sizes, ct_copybook_size(copybook));
		ct_copybook_destroy(copybook);
	}
	assert_string_equal(ct_buf_text(&sizes), expected);
	ct_buf_fini(&sizes);
}

static void binary_sizes_are_those_of_the_dialect(void **state)
{
	(void)state;
	assert_sizes(NULL, "", "COMP", "112244444888888888");
	assert_sizes(NULL, "S", "COMP-5", "112244444888888888");
	assert_sizes(NULL, "S", "COMP-X", "112233344555667788");
	assert_sizes(&mf, "", "COMP", "112233344555667788");
	assert_sizes(&mf, "S", "COMP", "112233444556667788");
	assert_sizes(&mf, "S", "COMP-5", "112233444556667788");
	assert_sizes(&ibm, "", "COMP", "222244444888888888");
	assert_sizes(&ibm, "", "COMP-5", "112244444888888888");
	assert_sizes(NULL, "S", "COMP-3",
		     "12233445566778899"
		     "10");
}

static void every_usage_has_its_size(void **state)
{
	(void)state;
	assert_places(
		"01 R. 05 A COMP-1. 05 B COMP-2. 05 C INDEX. 05 D POINTER. 05 E PROCEDURE-POINTER. 05 F BINARY-CHAR. 05 G BINARY-SHORT."
		" 05 H BINARY-LONG UNSIGNED. 05 I BINARY-DOUBLE. 05 J PIC X(3) COMP-X. 05 K PIC X(3) COMP-5. 05 L PIC 9(4) COMP-6."
		" 05 M PIC S9(3) SIGN LEADING SEPARATE. 05 N PIC 9(3)V99 BLANK WHEN ZERO.",
		"R@0+66 A@0+4 B@4+8 C@12+4 D@16+8 E@24+8 F@32+1 G@33+2 H@35+4 I@39+8 J@47+3 K@50+4 L@54+2 M@56+4 N@60+6 ");
}

static void groups_say_usage_and_sign_for_all_in_them(void **state)
{
	(void)state;
	assert_places(
		"01 R. 03 G COMP-3 SIGN LEADING SEPARATE. 05 A PIC S9(3). 05 B PIC S9(3) DISPLAY. 05 H. 07 C PIC 9(5). 05 D PIC X DISPLAY.",
		"R@0+10 G@0+10 A@0+2 B@2+4 H@6+3 C@6+3 D@9+1 ");
}

/* GnuCOBOL's own answers. */
static void aligned_items_stand_where_gnucobol_puts_them(void **state)
{
	(void)state;
	assert_places(
		"01 R. 05 A PIC X. 05 B PIC S9(4) COMP SYNC. 05 C PIC X. 05 D PIC 9(9) COMP-5 SYNC. 05 E PIC X. 05 F COMP-2 SYNC RIGHT. 05 G PIC X."
		" 05 H PIC 9(7) COMP-X SYNC. 05 I PIC S9(5) COMP-3 SYNC.",
		"R@0+31 A@0+1 B@2+2 C@4+1 D@8+4 E@12+1 F@16+8 G@24+1 H@25+3 I@28+3 ");
	assert_places(
		"01 R. 05 A PIC X(4). 05 G OCCURS 2. 10 B PIC S9(9) COMP SYNC. 10 C PIC X. 05 D PIC X.",
		"R@0+21 A@0+4 G@4+8 B@4+4 C@11+1 G@12+8 B@12+4 C@19+1 D@20+1 ");
	assert_places(
		"01 R. 05 A PIC X(4). 05 G OCCURS 2. 10 B PIC S9(9) COMP SYNC. 10 C. 15 D PIC X(3). 05 E PIC X.",
		"R@0+19 A@0+4 G@4+7 B@4+4 C@8+3 D@8+3 G@11+7 B@11+4 C@15+3 D@15+3 E@18+1 ");
	assert_places("01 R. 05 A PIC X(8). 05 B REDEFINES A PIC S9(9) COMP SYNC. 05 C PIC X.",
		      "R@0+9 A@0+8 B@0+4 C@8+1 ");
}

static void a_redefinition_may_be_larger(void **state)
{
	(void)state;
	assert_places(
		"01 R. 05 A PIC X(2). 05 B REDEFINES A PIC X(4). 05 C REDEFINES B PIC X(6). 05 D REDEFINES A PIC X. 05 E PIC X.",
		"R@0+7 A@0+2 B@0+4 C@0+6 D@0+1 E@6+1 ");
	assert_places("01 R. 05 A OCCURS 3 PIC X(2). 05 B REDEFINES A PIC X(6). 05 C PIC X.",
		      "R@0+7 A@0+2 A@2+2 A@4+2 B@0+6 C@6+1 ");
}

static void tables_depend_on_numbers_before_them(void **state)
{
	(void)state;
	assert_diagnostic("01 R. 05 N PIC X. 05 T PIC X OCCURS 1 TO 3 DEPENDING ON N.", 1, 57,
			  "\"N\" cannot say how often a field occurs");
	assert_diagnostic("01 R. 05 N PIC 9V9. 05 T PIC X OCCURS 1 TO 3 DEPENDING ON N.", 1, 59,
			  "\"N\" cannot say how often a field occurs");
	assert_diagnostic("01 R. 05 T PIC X DEPENDING ON N.", 1, 10,
			  "\"T\" has DEPENDING ON and does not occur");
	assert_fields(
		"01 R. 03 G. 05 N PIC 9. 03 H. 05 N PIC 9. 03 T PIC X OCCURS 1 TO 3 DEPENDING ON N OF G.",
		"12abc", 5, "N=1\nN=2\nT(1)=a\n");
}

static void what_has_no_size_is_diagnosed_about(void **state)
{
	(void)state;
	assert_diagnostic("01 R. 05 A.", 1, 10, "\"A\" has no picture");
	assert_diagnostic("01 R. 05 A COMP.", 1, 10, "\"A\" has no picture");
	assert_diagnostic("01 R. 05 A PIC X. 10 B PIC X.", 1, 10, "the group \"A\" has a picture");
	assert_diagnostic("01 R. 05 A PIC X COMP.", 1, 10,
			  "the picture of \"A\" does not go with its usage");
	assert_diagnostic("01 R. 05 A PIC X(9) COMP-X.", 1, 10, "\"A\" is binary and too long");
	assert_diagnostic("01 R. 05 A PIC 9(19) COMP.", 1, 10,
			  "\"A\" is binary and has too many digits");
	assert_diagnostic("01 R. 05 A PIC S9 COMP-6.", 1, 10, "\"A\" is COMP-6, which has no sign");
	assert_diagnostic("01 R. 05 A OCCURS 20000. 10 B PIC X(20000).", 1, 10,
			  "the record is too large at \"A\"");
}

int test_copybook_layout(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(binary_sizes_are_those_of_the_dialect),
		cmocka_unit_test(every_usage_has_its_size),
		cmocka_unit_test(groups_say_usage_and_sign_for_all_in_them),
		cmocka_unit_test(aligned_items_stand_where_gnucobol_puts_them),
		cmocka_unit_test(a_redefinition_may_be_larger),
		cmocka_unit_test(tables_depend_on_numbers_before_them),
		cmocka_unit_test(what_has_no_size_is_diagnosed_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
