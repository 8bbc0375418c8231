/*
 * test_hash_table.c - a hash table of numbers: which of the caller's items has a key.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "../../sanitizer.h"
#include "base/hash_table.h"

#define MANY 5000u

static unsigned compared;

static bool is_key(const void *items, uint32_t number, const void *key)
{
	compared++;
	return ((const uint64_t *)items)[number] == *(const uint64_t *)key;
}

static uint64_t key_of(uint32_t i)
{
	return (uint64_t)i << 32 | i * 7;
}

/* How the hashes of keys may be. */
static uint32_t spread(uint64_t key)
{
	return (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32);
}

static uint32_t same_slot(uint64_t key)
{
	return spread(key) & 0xFFFF0000u;
}

static uint32_t last_slot(uint64_t key)
{
	return spread(key) | 0xFFFFu;
}

static uint32_t all_the_same(uint64_t key)
{
	(void)key;
	return 7;
}

static void check_found(const struct ct_hash_table *table, const uint64_t *items, uint32_t count,
			uint32_t (*hash_of)(uint64_t key))
{
	for (uint32_t i = 0; i < count + 10; i++) {
		uint64_t key = key_of(i);

		assert_int_equal(ct_hash_table_find(table, hash_of(key), is_key, items, &key),
				 i < count ? i : CT_HASH_TABLE_NONE);
	}
}

static void each_key_is_found_and_no_other(void **state)
{
	static uint32_t (*const hashes[])(uint64_t key) = { spread, same_slot, last_slot,
							    all_the_same };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(hashes); i++) {
		uint32_t count = i == 0 ? MANY : MANY / 10;
		struct ct_hash_table table = { 0 };
		uint64_t *items = NULL;

		check_found(&table, items, 0, hashes[i]);
		for (uint32_t number = 0; number < count; number++) {
			items = ct_hash_table_reserve_items(&table, items, sizeof *items);
			assert_non_null(items);
			items[number] = key_of(number);
			ct_hash_table_add(&table, hashes[i](items[number]), number);
			if ((number & (number - 1)) == 0)
				check_found(&table, items, number + 1, hashes[i]);
		}
		assert_int_equal(table.count, count);
		check_found(&table, items, count, hashes[i]);
		ct_hash_table_fini(&table);
		check_found(&table, items, 0, hashes[i]);
		free(items);
	}
}

static void only_keys_of_the_same_hash_are_compared(void **state)
{
	struct ct_hash_table table = { 0 };
	uint64_t items[100], key = key_of(3);

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(items); i++) {
		items[i] = key_of(i);
		assert_true(ct_hash_table_reserve(&table));
		ct_hash_table_add(&table, i << 20, i); /* all want one slot */
	}
	compared = 0;
	assert_int_equal(ct_hash_table_find(&table, 3u << 20, is_key, items, &key), 3);
	assert_int_equal(compared, 1);
	assert_int_equal(ct_hash_table_find(&table, 100u << 20, is_key, items, &key),
			 CT_HASH_TABLE_NONE);
	assert_int_equal(compared, 1);
	ct_hash_table_fini(&table);
}

/* The numbers are the caller's: they need not follow each other. */
static void numbers_are_what_they_were_given(void **state)
{
	static const uint32_t numbers[] = { 0, 9, 4, 1000, CT_HASH_TABLE_NONE - 1 };
	struct ct_hash_table table = { 0 };
	uint64_t items[1001];

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(items); i++)
		items[i] = key_of(i);
	for (uint32_t i = 0; i < CT_COUNT(numbers); i++) {
		assert_true(ct_hash_table_reserve(&table));
		ct_hash_table_add(&table, numbers[i], numbers[i]);
	}
	for (uint32_t i = 0; i + 1 < CT_COUNT(numbers); i++)
		assert_int_equal(
			ct_hash_table_find(&table, numbers[i], is_key, items, &items[numbers[i]]),
			numbers[i]);
	ct_hash_table_fini(&table);
}

/* An array of more bytes than there can be is refused by the allocator itself; the sanitizer's ends
 * the program instead. */
static void without_memory_all_is_as_it_was(void **state)
{
	struct ct_hash_table table = { 0 };
	uint64_t *items = NULL;
	uint32_t slots, room;

	(void)state;
	if (IS_SANITIZED)
		skip();
	assert_null(ct_hash_table_reserve_items(&table, NULL, SIZE_MAX));
	assert_int_equal(table.slot_count, 0);
	assert_null(table.slots);
	items = ct_hash_table_reserve_items(&table, items, sizeof *items);
	assert_non_null(items);
	slots = table.slot_count;
	room = slots / 2;
	for (uint32_t i = 0; i < room; i++) {
		items = ct_hash_table_reserve_items(&table, items, sizeof *items);
		items[i] = key_of(i);
		ct_hash_table_add(&table, spread(items[i]), i);
	}
	assert_int_equal(table.slot_count, slots);
	assert_null(ct_hash_table_reserve_items(&table, items, SIZE_MAX));
	assert_int_equal(table.slot_count, slots);
	assert_int_equal(table.count, room);
	check_found(&table, items, room, spread);
	/* There is some again. */
	items = ct_hash_table_reserve_items(&table, items, sizeof *items);
	assert_non_null(items);
	assert_int_equal(table.slot_count, 2 * slots);
	check_found(&table, items, room, spread);
	ct_hash_table_fini(&table);
	free(items);
}

static bool keeps_even(void *item, uint32_t *out_hash, void *user)
{
	const uint64_t *key = item;
	uint32_t *calls = user;

	(*calls)++;
	*out_hash = spread(*key);
	return *key % 2 == 0;
}

static void what_is_not_kept_is_gone(void **state)
{
	struct ct_hash_table table = { .count = 0 };
	uint64_t *items = NULL;
	uint32_t calls = 0;

	(void)state;
	ct_hash_table_keep(&table, NULL, sizeof *items, keeps_even, &calls);
	assert_int_equal(calls, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		items = ct_hash_table_reserve_items(&table, items, sizeof *items);
		assert_non_null(items);
		items[i] = (uint64_t)i * 3;
		ct_hash_table_add(&table, spread(items[i]), i);
	}
	ct_hash_table_keep(&table, items, sizeof *items, keeps_even, &calls);
	assert_int_equal(calls, 1000);
	assert_int_equal(table.count, 500);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t key = (uint64_t)i * 3;
		uint32_t at = ct_hash_table_find(&table, spread(key), is_key, items, &key);

		assert_int_equal(at, i % 2 == 0 ? i / 2 : CT_HASH_TABLE_NONE);
	}
	ct_hash_table_fini(&table);
	free(items);
}

/* The values that the authors of FNV-1a publish for these texts. */
static void bytes_have_the_published_hashes(void **state)
{
	uint64_t hash = ct_hash_bytes(CT_HASH_START, "foo", 3);

	(void)state;
	assert_true(ct_hash_bytes(CT_HASH_START, "", 0) == 0xCBF29CE484222325u);
	assert_true(ct_hash_bytes(CT_HASH_START, "a", 1) == 0xAF63DC4C8601EC8Cu);
	assert_true(ct_hash_bytes(hash, "bar", 3) == 0x85944171F73967E8u);
}

int test_hash_table(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_have_the_published_hashes),
		cmocka_unit_test(each_key_is_found_and_no_other),
		cmocka_unit_test(only_keys_of_the_same_hash_are_compared),
		cmocka_unit_test(numbers_are_what_they_were_given),
		cmocka_unit_test(without_memory_all_is_as_it_was),
		cmocka_unit_test(what_is_not_kept_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
