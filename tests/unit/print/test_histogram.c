/*
 * test_histogram.c - percentiles are as near as promised, in as little memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/tally.h"

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The exact one: the value at rank ceil(count * permille / 1000). */
static uint64_t exact(const uint64_t *sorted, size_t count, unsigned permille)
{
	size_t rank = (count * permille + 999) / 1000;

	return sorted[rank > 0 ? rank - 1 : 0];
}

static void assert_near(uint64_t is, uint64_t wanted)
{
	uint64_t off = is > wanted ? is - wanted : wanted - is;

	if (off * 256 > wanted)
		fail_msg("%llu is not near %llu", (unsigned long long)is,
			 (unsigned long long)wanted);
}

enum { VALUES = 20000 };

static void percentiles_are_near(void **state)
{
	static const unsigned permilles[] = { 0, 1, 10, 250, 500, 750, 950, 990, 999, 1000 };
	static uint64_t values[VALUES];
	struct ct_histogram histogram = { .count = 0 };
	size_t pages = 1000;
	uint64_t random = 88172645463325252u, total = 0;

	(void)state;
	for (size_t i = 0; i < VALUES; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		values[i] = random >> (14 + random % 50); /* of every size */
		total += values[i];
		ct_histogram_add(&histogram, values[i], &pages);
	}
	qsort(values, VALUES, sizeof values[0], by_value);
	for (size_t i = 0; i < CT_COUNT(permilles); i++)
		assert_near(ct_histogram_at(&histogram, permilles[i]),
			    exact(values, VALUES, permilles[i]));
	assert_int_equal(histogram.count, VALUES);
	assert_int_equal(histogram.total, total);
	assert_int_equal(histogram.least, values[0]);
	assert_int_equal(histogram.most, values[VALUES - 1]);
	assert_int_equal(histogram.unplaced, 0);
	assert_true(1000 - pages <= CT_HISTOGRAM_PAGES);
	ct_histogram_fini(&histogram);
}

static void every_value_is_near(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++) {
			uint64_t value = ((uint64_t)1 << bit) + (uint64_t)off;
			struct ct_histogram histogram = { .count = 0 };
			size_t pages = 4;

			ct_histogram_add(&histogram, value, &pages);
			ct_histogram_add(&histogram, value / 2, &pages);
			ct_histogram_add(&histogram, UINT64_MAX, &pages);
			assert_near(ct_histogram_at(&histogram, 500), value);
			ct_histogram_fini(&histogram);
		}
	}
}

static void small_values_are_exact(void **state)
{
	struct ct_histogram histogram = { .count = 0 };
	size_t pages = 1;

	(void)state;
	assert_int_equal(ct_histogram_at(&histogram, 500), 0);
	for (uint64_t value = 1; value <= 100; value++)
		ct_histogram_add(&histogram, value, &pages);
	assert_int_equal(ct_histogram_at(&histogram, 500), 50);
	assert_int_equal(ct_histogram_at(&histogram, 950), 95);
	assert_int_equal(ct_histogram_at(&histogram, 990), 99);
	assert_int_equal(ct_histogram_at(&histogram, 1000), 100);
	assert_int_equal(pages, 0);
	ct_histogram_fini(&histogram);
}

static void without_pages_the_sums_stay(void **state)
{
	struct ct_histogram histogram = { .count = 0 };
	size_t pages = 1;

	(void)state;
	ct_histogram_add(&histogram, 5, &pages);
	ct_histogram_add(&histogram, 1000000, &pages);
	ct_histogram_add(&histogram, UINT64_MAX, &pages);
	assert_int_equal(histogram.count, 3);
	assert_int_equal(histogram.unplaced, 2);
	assert_int_equal(histogram.most, UINT64_MAX);
	assert_int_equal(histogram.total, UINT64_MAX); /* it stops there */
	assert_int_equal(ct_histogram_at(&histogram, 990), 5);
	ct_histogram_fini(&histogram);
}

int test_histogram(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_near),
		cmocka_unit_test(every_value_is_near),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(without_pages_the_sums_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
