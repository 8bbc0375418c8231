/*
 * test_filter_decimal.c - decimal numbers of any size, in their order.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_fixture.h"
#include "read/filter/filter_program.h"

static struct ct_decimal decimal(const char *text)
{
	struct ct_decimal value;

	if (!ct_decimal_parse(text, strlen(text), &value))
		fail_msg("refused: \"%s\"", text);
	return value;
}

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

/* Rising; those in one row are equal. */
static const char *const rows[][4] = {
	{ "-1E+400", "-1e400", "-0.1e401" },
	{ "-99999999999999999999999999999999999999" },
	{ "-1000000000000000000000", "-1E21" },
	{ "-12.51", "-012.5100", " -12.51 " },
	{ "-12.5", "-1.25E+1", "-12.50" },
	{ "-12", "-12.", "-12.0" },
	{ "-0.001", "-1e-3", "-.001" },
	{ "-0.0000000000000000000000000000000000001" },
	{ "0", "-0", "0.000", "+0E5" },
	{ "0.0000000000000000000000000000000000001", "1E-37" },
	{ "0.1", ".1", "+0.10" },
	{ "0.11" },
	{ "1", "01", "+1", "1.000" },
	{ "1.00000000000000000001" },
	{ "9.99" },
	{ "10", "1e1" },
	{ "100" },
	{ "18446744073709551615" },
	{ "18446744073709551616" },
	{ "99999999999999999999999999999999999998" },
	{ "99999999999999999999999999999999999999" },
	{ "1E+999999999999", "1e99999999999999999" },
};

static void in_their_order(void **state)
{
	(void)state;
	for (size_t a = 0; a < CT_COUNT(rows); a++)
		for (size_t b = 0; b < CT_COUNT(rows); b++)
			for (size_t i = 0; i < 4 && rows[a][i] != NULL; i++)
				for (size_t j = 0; j < 4 && rows[b][j] != NULL; j++) {
					struct ct_decimal x = decimal(rows[a][i]),
							  y = decimal(rows[b][j]);

					if (sign(ct_decimal_compare(&x, &y)) !=
					    sign((int)a - (int)b))
						fail_msg("%s against %s", rows[a][i], rows[b][j]);
				}
}

static void what_is_no_number(void **state)
{
	static const char *const bad[] = { "",     " ",     "-",   "+",  ".",   "-.",
					   "1..2", "1.2.3", "1 2", "1e", "1e+", "e5",
					   "1x",   "0x10",  "--1", "1-", "NaN", "inf" };
	struct ct_decimal value;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		if (ct_decimal_parse(bad[i], strlen(bad[i]), &value))
			fail_msg("accepted: \"%s\"", bad[i]);
}

static void integers(void **state)
{
	static const struct {
		uint64_t magnitude;
		bool is_negative;
		const char *text;
	} numbers[] = {
		{ 0, false, "0" },         { 0, true, "0" },
		{ 1, false, "1" },         { 120, true, "-120" },
		{ 1000000, false, "1E6" }, { UINT64_MAX, true, "-18446744073709551615" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		struct ct_decimal a, b = decimal(numbers[i].text);

		ct_decimal_set(&a, numbers[i].magnitude, numbers[i].is_negative);
		assert_int_equal(ct_decimal_compare(&a, &b), 0);
	}
}

/* Only the first digits count, but the size does in any case. */
static void more_digits_than_are_kept(void **state)
{
	char text[5000], longer[5000];
	struct ct_decimal a, b;

	(void)state;
	memset(text, '7', sizeof text);
	memset(longer, '7', sizeof longer);
	assert_true(ct_decimal_parse(text, 4000, &a));
	assert_true(ct_decimal_parse(longer, 4001, &b));
	assert_true(ct_decimal_compare(&a, &b) < 0);
	memset(text, '0', sizeof text);
	text[4999] = '1';
	text[0] = '1';
	assert_true(ct_decimal_parse(text, 5000, &a));
	assert_int_equal(a.count, 1);
	assert_int_equal(a.exponent, 5000);
}

int test_filter_decimal(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_order),
		cmocka_unit_test(what_is_no_number),
		cmocka_unit_test(integers),
		cmocka_unit_test(more_digits_than_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
