/*
 * test_copybook_literal.c - values as they are written: quoted, in bytes, figurative, by name.
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

static struct ct_token word(const char *text)
{
	return (struct ct_token){ .at = text,
				  .size = (uint32_t)strlen(text),
				  .kind = CT_TOKEN_WORD,
				  .line = 1,
				  .column = 1 };
}

static void numbers_have_digits_and_at_most_one_point(void **state)
{
	static const char *const good[] = { "0", "-1", "+1.5", ".5", "5." };
	static const char *const bad[] = { "-", ".", "1.2.3", "1A", "1-", "" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++) {
		struct ct_token token = word(good[i]);

		assert_true(ct_literal_is_number(&token));
	}
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		struct ct_token token = word(bad[i]);

		assert_false(ct_literal_is_number(&token));
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_digits_and_at_most_one_point),
		cmocka_unit_test(letters_before_it_say_what_a_literal_is),
		cmocka_unit_test(all_repeats_its_literal),
		cmocka_unit_test(figurative_constants_have_several_spellings),
		cmocka_unit_test(what_is_no_value_is_diagnosed_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
