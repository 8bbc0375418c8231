/*
 * test_event_class.c - the table of classes: each is there once, whatever threads do, and a full
 * one refuses nobody.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <pthread.h>
#include <string.h>

#include "class_fixture.h"

static union {
	struct ct_class_table table;
	unsigned char bytes[CT_CLASS_TABLE];
} area;
static struct ct_classes classes;

static int set_up(void **state)
{
	(void)state;
	memset(&area, 0, sizeof area);
	memset(&classes, 0, sizeof classes);
	classes.table = &area.table;
	ct_class_table_start(&area.table, sizeof area);
	return 0;
}

static const struct ct_class_entry *entry(uint32_t number)
{
	return (const struct ct_class_entry *)(const void *)(area.bytes +
							     (size_t)number * CT_CLASS_UNIT);
}

static void like_events_have_one_class_and_others_another(void **state)
{
	char text[32] = "";
	size_t size = 5;
	const struct ctrace_item items[] = { CTRACE_TEXT(text, 10), CTRACE_U32(1),
					     CTRACE_BIN(text, size) };
	const struct ctrace_item same[] = { CTRACE_TEXT("abcdefghij", 10), CTRACE_U32(2),
					    CTRACE_BIN(text, size + 1) };
	const struct ctrace_item other_size[] = { CTRACE_TEXT(text, 11), CTRACE_U32(1),
						  CTRACE_BIN(text, size) };
	const struct ctrace_item other_type[] = { CTRACE_UTF8(text, 10), CTRACE_U32(1),
						  CTRACE_BIN(text, size) };
	uint32_t first = class_of(&classes, 3, 1, 9, items, 3);

	(void)state;
	assert_int_equal(first, CT_CLASS_FIRST);
	assert_int_equal(class_of(&classes, 3, 1, 9, same, 3), first);
	assert_int_not_equal(class_of(&classes, 4, 1, 9, items, 3), first);
	assert_int_not_equal(class_of(&classes, 3, 2, 9, items, 3), first);
	assert_int_not_equal(class_of(&classes, 3, 1, 8, items, 3), first);
	assert_int_not_equal(class_of(&classes, 3, 1, 9, items, 2), first);
	assert_int_not_equal(class_of(&classes, 3, 1, 9, other_size, 3), first);
	assert_int_not_equal(class_of(&classes, 3, 1, 9, other_type, 3), first);
	assert_int_equal(class_of(&classes, 3, 1, 9, items, 3), first);
	assert_int_equal(entry(first)->number, first);
	assert_int_equal(entry(first)->component, 3);
	assert_int_equal(entry(first)->event_id, 9);
	assert_int_equal(entry(first)->level, 1);
	assert_int_equal(entry(first)->item_count, 3);
	assert_int_equal(entry(first)->items[0], CTRACE_TYPE_TEXT | 10 << 8);
	assert_int_equal(entry(first)->items[2], CTRACE_TYPE_BINARY | CT_SIZE_COUNTED_16 << 8);
}

static void a_full_table_gives_the_class_for_any_event(void **state)
{
	uint32_t limits[] = { sizeof(struct ct_class_table),
			      sizeof(struct ct_class_table) + 100 * CT_CLASS_UNIT, CT_CLASS_TABLE };

	for (size_t i = 0; i < CT_COUNT(limits); i++) {
		uint32_t made = 0, id = 0;

		(void)set_up(state);
		ct_class_table_start(&area.table, limits[i]);
		for (; class_of(&classes, 1, 1, id, NULL, 0) != CT_CLASS_ANY; id++)
			assert_int_equal(entry(class_of(&classes, 1, 1, id, NULL, 0))->event_id,
					 id);
		for (; id < 200000; id++)
			made += class_of(&classes, 1, 1, id, NULL, 0) != CT_CLASS_ANY;
		assert_true(area.table.used <= limits[i]);
		if (i < 2)
			assert_int_equal(made, 0);
		/* What there is stays. */
		assert_true(i == 0 || class_of(&classes, 1, 1, 5, NULL, 0) >= CT_CLASS_FIRST);
	}
}

static void it_says_in_time_that_it_needs_more_room(void **state)
{
	uint32_t id = 0;

	(void)state;
	assert_false(ct_class_table_is_short(&area.table)); /* there never is more */
	ct_class_table_start(&area.table, 16384);
	assert_false(ct_class_table_is_short(&area.table));
	while (!ct_class_table_is_short(&area.table))
		assert_true(class_of(&classes, 1, 1, id++, NULL, 0) >= CT_CLASS_FIRST);
	assert_true(area.table.limit - area.table.used > 64 * CT_CLASS_UNIT);
}

static void a_damaged_count_leads_nowhere(void **state)
{
	static const uint32_t counts[] = { 0, 255, CT_CLASS_TABLE, UINT32_MAX, UINT32_MAX - 15 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(counts); i++) {
		area.table.used = counts[i];
		assert_int_equal(class_of(&classes, 1, 1, (uint32_t)i, NULL, 0), CT_CLASS_ANY);
	}
}

#define THREADS 4u
#define IDS 500u
static uint32_t numbers[THREADS][IDS];

static void *find_all(void *argument)
{
	uint32_t *mine = argument;

	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t id = 0; id < IDS; id++) {
			const struct ctrace_item item = CTRACE_U32(0);

			mine[id] = class_of(&classes, 1, 1, id, &item, 1);
		}
	return NULL;
}

static void threads_that_make_the_same_classes_agree(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_all, numbers[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		for (uint32_t id = 0; id < IDS; id++) {
			assert_int_equal(entry(numbers[i][id])->number, numbers[i][id]);
			assert_int_equal(entry(numbers[i][id])->event_id, id);
		}
}

int test_event_class(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(like_events_have_one_class_and_others_another, set_up),
		cmocka_unit_test_setup(a_full_table_gives_the_class_for_any_event, set_up),
		cmocka_unit_test_setup(it_says_in_time_that_it_needs_more_room, set_up),
		cmocka_unit_test_setup(a_damaged_count_leads_nowhere, set_up),
		cmocka_unit_test_setup(threads_that_make_the_same_classes_agree, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
