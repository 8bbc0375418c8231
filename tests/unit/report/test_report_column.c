/*
 * test_report_column.c - what goes into a column comes out of it, whatever its size.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "report_fixture.h"

static void numbers_come_back(void **state)
{
	static const uint64_t numbers[] = { 0,         1,     127,        128,
					    16383,     16384, UINT32_MAX, (uint64_t)1 << 53,
					    UINT64_MAX };
	static const int64_t differences[] = { 0, -1, 1, -64, 64, INT64_MAX, INT64_MIN };
	struct ct_column column;
	struct unpacked back;

	(void)state;
	assert_int_equal(ct_column_init(&column), CTRACE_OK);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		ct_column_add_number(&column, numbers[i]);
	for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
		ct_column_add_difference(&column, differences[i]);
	back = unpack_column(&column);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		assert_true(next_number(&back) == numbers[i]);
	for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
		assert_true(next_difference(&back) == differences[i]);
	assert_end(&back);
	ct_column_fini(&column);
}

static void small_numbers_are_a_byte(void **state)
{
	unsigned char bytes[10];

	(void)state;
	assert_int_equal(ct_number_put(bytes, 127), 1);
	assert_int_equal(ct_number_put(bytes, 128), 2);
	assert_int_equal(ct_number_put(bytes, UINT64_MAX), 10);
}

static void an_empty_column_is_one(void **state)
{
	struct ct_column column;
	struct unpacked back;

	(void)state;
	assert_int_equal(ct_column_init(&column), CTRACE_OK);
	back = unpack_column(&column);
	assert_end(&back);
	ct_column_fini(&column);
	ct_column_fini(&column);
}

/* Incompressible bytes, in pieces from none to many times the buffer, and every size round it. */
static void pieces_of_any_size_come_back(void **state)
{
	static const size_t sizes[] = { 0,
					1,
					CT_COLUMN_PENDING - 2,
					3,
					CT_COLUMN_PENDING,
					CT_COLUMN_PENDING + 1,
					5 * CT_COLUMN_PENDING,
					7,
					0 };
	unsigned char *bytes = malloc(5 * CT_COLUMN_PENDING);
	uint32_t seed = 1;
	struct ct_column column;
	struct unpacked back;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 5 * CT_COLUMN_PENDING; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(seed >> 24);
	}
	assert_int_equal(ct_column_init(&column), CTRACE_OK);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		ct_column_add(&column, bytes, sizes[i]);
	back = unpack_column(&column);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		assert_next(&back, bytes, sizes[i]);
	assert_end(&back);
	ct_column_fini(&column);
	free(bytes);
}

int test_report_column(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(small_numbers_are_a_byte),
		cmocka_unit_test(an_empty_column_is_one),
		cmocka_unit_test(pieces_of_any_size_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
