/*
 * test_copybook_sum.c - digits, the arithmetic of constants, and what is no number.
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

/* The only name there is. */
static bool find_seven(void *user, const char *name, size_t size, int64_t *out_value)
{
	(void)user;
	*out_value = 7;
	return size == 5 && memcmp(name, "SEVEN", 5) == 0;
}

static bool find_least(void *user, const char *name, size_t size, int64_t *out_value)
{
	(void)user;
	(void)name;
	*out_value = INT64_MIN;
	return size > 0;
}

static void assert_sum(const char *text, int64_t expected)
{
	int64_t value = -99;

	assert_true(ct_sum_calculate(text, strlen(text), find_seven, NULL, &value));
	assert_true(value == expected);
}

static void assert_no_sum(const char *text)
{
	int64_t value = -99;

	assert_false(ct_sum_calculate(text, strlen(text), find_seven, NULL, &value));
	assert_true(value == -99);
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
	assert_no_sum("");
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
	int64_t value = 0;

	(void)state;
	assert_true(ct_sum_calculate("0 + LEAST", 9, find_least, NULL, &value) &&
		    value == INT64_MIN);
	assert_false(ct_sum_calculate("0 + -LEAST", 10, find_least, NULL, &value));
	assert_false(ct_sum_calculate("LEAST / -1", 10, find_least, NULL, &value));
}

static void nesting_has_an_end(void **state)
{
	char text[2 * 33 + 2];

	(void)state;
	memset(text, '(', 33);
	text[33] = '1';
	memset(text + 34, ')', 33);
	text[67] = '\0';
	assert_no_sum(text);
	text[66] = '\0';
	assert_sum(text + 1, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_a_number_when_it_fits),
		cmocka_unit_test(products_come_before_sums),
		cmocka_unit_test(what_is_not_understood_is_no_sum),
		cmocka_unit_test(the_least_number_is_not_negated),
		cmocka_unit_test(nesting_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
