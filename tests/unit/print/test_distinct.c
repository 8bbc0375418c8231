/*
 * test_distinct.c - each key has one number, the first of its kind; and there are not more than
 * there may be.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../report/report_fixture.h"

static void keys_are_numbered_as_they_come(void **state)
{
	struct ct_distinct table = { 0 };
	bool is_new;
	size_t size;

	(void)state;
	assert_int_equal(ct_distinct_find(&table, "a", 1, &is_new), 0);
	assert_true(is_new);
	assert_int_equal(ct_distinct_find(&table, "b", 1, &is_new), 1);
	assert_int_equal(ct_distinct_find(&table, "a", 1, &is_new), 0);
	assert_false(is_new);
	/* of other lengths, and none */
	assert_int_equal(ct_distinct_find(&table, "a\0", 2, &is_new), 2);
	assert_int_equal(ct_distinct_find(&table, "", 0, &is_new), 3);
	assert_int_equal(ct_distinct_find(&table, "", 0, &is_new), 3);
	assert_int_equal(ct_distinct_find(&table, "long enough for more than a word", 32, &is_new),
			 4);
	assert_int_equal(ct_distinct_find(&table, "long enough for more than a worD", 32, &is_new),
			 5);
	assert_memory_equal(ct_distinct_key(&table, 4, &size), "long enough for more than a word",
			    32);
	assert_int_equal(size, 32);
	ct_distinct_fini(&table);
	ct_distinct_fini(&table);
}

static void there_is_an_end(void **state)
{
	struct ct_distinct table = { 0 };
	bool is_new;

	(void)state;
	for (uint32_t i = 0; i < CT_DISTINCT_LIMIT; i++)
		assert_int_equal(ct_distinct_find(&table, &i, sizeof i, &is_new), i);
	assert_int_equal(ct_distinct_find(&table, "new", 3, &is_new), CT_DISTINCT_NONE);
	assert_false(is_new);
	for (uint32_t i = 0; i < CT_DISTINCT_LIMIT; i += 97)
		assert_int_equal(ct_distinct_find(&table, &i, sizeof i, &is_new), i);
	ct_distinct_fini(&table);
}

int test_distinct(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_numbered_as_they_come),
		cmocka_unit_test(there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
