/*
 * test_copybook_value.c - digits and arithmetic, literals, and the constants that name them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"
#include "catalog/copybook/copybook_private.h"

/* A level 78 with this value, and a field of which a level 88 has it. */
static void sum_text(char out[512], const char *sum)
{
	snprintf(out, 512,
		 "78 SEVEN VALUE 7. 78 LEAST VALUE -9223372036854775807 - 1.\n"
		 "78 N VALUE %s.\n"
		 "01 R PIC S9(19) SIGN LEADING SEPARATE. 88 IS-IT VALUE N.",
		 sum);
}

static void assert_sum(const char *sum, int64_t expected)
{
	char text[512], bytes[24], fields[64];

	sum_text(text, sum);
	snprintf(bytes, sizeof bytes, "%+020lld", (long long)expected);
	snprintf(fields, sizeof fields, "R=%s\nR IS IS-IT\n", bytes);
	assert_fields(text, bytes, 20, fields);
}

static void assert_no_sum(const char *sum)
{
	char text[512];

	sum_text(text, sum);
	assert_diagnostic(text, 3, 55, "\"N\" is no value");
}

static void digits_are_a_number_when_it_fits(void **state)
{
	int64_t value = 0;

	(void)state;
	assert_true(ct_integer_parse("049", 3, &value) && value == 49);
	assert_true(ct_integer_parse("9223372036854775807", 19, &value) && value == INT64_MAX);
	assert_false(ct_integer_parse("9223372036854775808", 19, &value));
	assert_false(ct_integer_parse("1.0", 3, &value));
	assert_false(ct_integer_parse("-1", 2, &value));
	assert_false(ct_integer_parse("", 0, &value));
}

static void products_come_before_sums(void **state)
{
	(void)state;
	assert_sum("SEVEN * ( 2 + 1 ) - 4 ", 17);
	assert_sum("1 + 2 * 3 - 8 / 3 ", 5);
	assert_sum("10 - 3 - 2", 5);
	assert_sum("-SEVEN + +2", -5);
}

static void what_is_not_understood_is_no_sum(void **state)
{
	(void)state;
	assert_no_sum("1 +");
	assert_no_sum("1 2");
	assert_no_sum("( 1");
	assert_no_sum("EIGHT + 1");
	assert_no_sum("1 / 0");
	assert_no_sum("9223372036854775807 + 1");
	assert_no_sum("9223372036854775807 * 2");
}

static void the_least_number_is_not_negated(void **state)
{
	(void)state;
	assert_sum("0 + LEAST", INT64_MIN);
	assert_no_sum("0 + -LEAST");
	assert_no_sum("LEAST / -1");
}

static void nesting_has_an_end(void **state)
{
	char text[4 * 33 + 2];

	(void)state;
	for (size_t i = 0; i < 33; i++) {
		memcpy(text + 2 * i, "( ", 2);
		memcpy(text + 67 + 2 * i, " )", 2);
	}
	text[66] = '1';
	text[133] = '\0';
	assert_no_sum(text);
	text[131] = '\0';
	assert_sum(text + 2, 1);
}

static void numbers_have_digits_and_at_most_one_point(void **state)
{
	static const char *const good[] = { "0", "-1", "+1.5", ".5", "5." };
	static const char *const bad[] = { "-", ".", "1.2.3", "1A", "1-", "" };
	char text[64], message[64];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++) {
		snprintf(text, sizeof text, "01 R PIC S9V9. 88 A VALUE %s.", good[i]);
		ct_copybook_destroy(parse(text, NULL));
	}
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		snprintf(text, sizeof text, "01 R PIC S9V9. 88 A VALUE %s.", bad[i]);
		snprintf(message, sizeof message, "\"%s\" is no value",
			 bad[i][0] != '\0' ? bad[i] : ".");
		assert_diagnostic(text, 1, 27, message);
	}
}

static void letters_before_it_say_what_a_literal_is(void **state)
{
	(void)state;
	assert_fields("01 R. 05 A PIC X(2). 88 HEX VALUE X'6162'. 88 ZED VALUE Z'a'.", "ab", 2,
		      "A=ab\nA IS HEX\n");
	/* and its zero */
	assert_fields("01 R. 05 G. 88 ZED VALUE Z'a'. 10 A PIC X. 10 B PIC X.", "a", 2,
		      "G IS ZED\nA=a\nB=");
	assert_fields("01 R. 05 A PIC 99. 88 H VALUE H'A'. 88 B VALUE B'1010'. 88 N VALUE H'B'.",
		      "10", 2, "A=10\nA IS H\nA IS B\n");
}

static void all_repeats_its_literal(void **state)
{
	(void)state;
	assert_fields("01 R. 05 A PIC X(5). 88 Q VALUE ALL 'ab'. 88 ONE VALUE 'ab'.", "ababa", 5,
		      "A=ababa\nA IS Q\n");
}

static void figurative_constants_have_several_spellings(void **state)
{
	(void)state;
	assert_fields(
		"01 R. 05 A PIC X(2). 88 Z1 VALUE ZERO. 88 Z2 VALUE ZEROS. 88 Z3 VALUE zeroes. 88 S VALUE SPACES.",
		"00", 2, "A=00\nA IS Z1\nA IS Z2\nA IS Z3\n");
	assert_fields(
		"01 R. 05 A PIC X(2). 88 S1 VALUE SPACE. 88 S2 VALUE SPACES. 88 Q VALUE QUOTES.",
		"  ", 2, "A=  \nA IS S1\nA IS S2\n");
	assert_fields("01 R. 05 A PIC X(2). 88 Q1 VALUE QUOTE. 88 Q2 VALUE QUOTES.", "\"\"", 2,
		      "A=\"\"\nA IS Q1\nA IS Q2\n");
}

static void what_is_no_value_is_diagnosed_about(void **state)
{
	(void)state;
	assert_diagnostic("01 R PIC X. 88 A VALUE B.", 1, 24, "\"B\" is no value");
	assert_diagnostic("01 R PIC X. 88 A VALUE X'0'.", 1, 25,
			  "the literal \"0\" has half a byte");
	assert_diagnostic("01 R PIC X. 88 A VALUE X'0G'.", 1, 25,
			  "the literal \"0G\" has no hexadecimal digits");
	assert_diagnostic("01 R PIC X. 88 A VALUE B'12'.", 1, 25,
			  "the literal \"12\" is no number");
}

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

int test_copybook_value(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_a_number_when_it_fits),
		cmocka_unit_test(products_come_before_sums),
		cmocka_unit_test(what_is_not_understood_is_no_sum),
		cmocka_unit_test(the_least_number_is_not_negated),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(numbers_have_digits_and_at_most_one_point),
		cmocka_unit_test(letters_before_it_say_what_a_literal_is),
		cmocka_unit_test(all_repeats_its_literal),
		cmocka_unit_test(figurative_constants_have_several_spellings),
		cmocka_unit_test(what_is_no_value_is_diagnosed_about),
		cmocka_unit_test(constants_are_calculated),
		cmocka_unit_test(the_last_of_a_name_counts),
		cmocka_unit_test(a_constant_has_a_value),
		cmocka_unit_test(there_are_at_most_8192_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
