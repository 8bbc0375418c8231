/*
 * test_decode.c - records that may be hostile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

#define SIZE 64u

static const struct ct_record_head head = { .component = 7, .event_id = 9, .level = CTRACE_FATAL, .tid = 11, .ticks = 13 };

/* text(5), comp5(4), binary(0), comp-x(3): 24 + 16 + 12 = 52 -> 56 */
static size_t make_record(unsigned char *bytes)
{
	static const unsigned char big[3] = { 0xFF, 0xFE, 0xFD };
	const struct ctrace_item items[] = { CTRACE_TEXT("hello", 5), CTRACE_U32(0xDEADBEEF), CTRACE_BIN("", 0), CTRACE_XI(big, 3) };
	size_t size = ct_record_size(items, 4);

	memset(bytes, 0, SIZE);
	ct_record_encode(bytes, size, &head, items, 4);
	return size;
}

static void what_was_encoded_comes_back(void **state)
{
	unsigned char bytes[SIZE];
	size_t size = make_record(bytes);
	struct ctrace_event_item items[4];
	struct ct_record record;

	(void)state;
	assert_int_equal(ct_record_decode(bytes, size, &record), CTRACE_OK);
	assert_int_equal(record.size, size);
	assert_false(record.is_padding);
	assert_int_equal(record.head.component, 7);
	assert_int_equal(record.head.event_id, 9);
	assert_int_equal(record.head.level, CTRACE_FATAL);
	assert_int_equal(record.head.tid, 11);
	assert_int_equal(record.head.ticks, 13);
	assert_int_equal(record.item_count, 4);
	ct_record_items(&record, items);
	assert_int_equal(items[0].type, CTRACE_TYPE_TEXT);
	assert_int_equal(items[0].size, 5);
	assert_memory_equal(items[0].data, "hello", 5);
	assert_int_equal(items[1].value, 0xDEADBEEF);
	assert_int_equal(items[2].size, 0);
	assert_int_equal((int64_t)items[3].value, -259);
}

static void a_record_that_is_cut_anywhere_is_damaged(void **state)
{
	unsigned char bytes[SIZE];
	size_t size = make_record(bytes);

	(void)state;
	for (size_t available = 0; available < size; available++) {
		/* A block of exactly that size, so that a checker sees the first byte read past it. */
		unsigned char *exact = malloc(available + 1);
		struct ct_record record = { .size = 4711 };

		assert_non_null(exact);
		memcpy(exact + 1, bytes, available);
		assert_int_equal(ct_record_decode(exact + 1, available, &record), CTRACE_DAMAGED);
		assert_int_equal(record.size, 4711); /* out only on success */
		free(exact);
	}
}

static void any_bit_may_be_flipped(void **state)
{
	unsigned char bytes[SIZE];
	size_t size = make_record(bytes);

	(void)state;
	for (size_t bit = 0; bit < 8 * size; bit++) {
		unsigned char *exact = malloc(size);
		struct ct_record record;

		assert_non_null(exact);
		memcpy(exact, bytes, size);
		exact[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (ct_record_decode(exact, size, &record) == CTRACE_OK) {
			struct ctrace_event_item items[CTRACE_MAX_ITEMS];

			assert_true(record.size >= 8 && record.size <= size);
			assert_true(record.item_count <= CTRACE_MAX_ITEMS);
			if (!record.is_padding) {
				ct_record_items(&record, items);
				for (uint32_t i = 0; i < record.item_count; i++) {
					const unsigned char *data = items[i].data;

					assert_true(items[i].type < CTRACE_TYPE_COUNT);
					assert_true(data >= exact && data + items[i].size <= exact + record.size);
				}
			}
		}
		free(exact);
	}
}

/* Another process may write into the record while it is read: what was checked is not what stands
 * there later. */
static void items_stay_within_what_was_decoded(void **state)
{
	static const uint32_t hostile[] = { 0, 0xFFFFFFFF, 0xFFFFFF00, 0x00000100, 0x80000001, 0x00001001 };
	unsigned char bytes[SIZE];
	size_t size = make_record(bytes);

	(void)state;
	for (size_t which = 0; which < CT_COUNT(hostile); which++) {
		for (unsigned from = 0; from < 4; from++) {
			unsigned char *exact = malloc(size); /* so that a checker sees the first byte read past it */
			struct ctrace_event_item items[4];
			struct ct_record record;
			const unsigned char *data;

			assert_non_null(exact);
			memcpy(exact, bytes, size);
			assert_int_equal(ct_record_decode(exact, size, &record), CTRACE_OK);
			for (unsigned i = from; i < 4; i++)
				memcpy(exact + CT_RECORD_HEAD + (size_t)4 * i, &hostile[which], 4);
			memset(exact, 0xFF, CT_RECORD_HEAD);
			ct_record_items(&record, items);
			data = record.data;
			for (unsigned i = 0; i < 4; i++) {
				assert_ptr_equal(items[i].data, data);
				data += items[i].size;
				assert_true(data <= exact + size && items[i].type < CTRACE_TYPE_COUNT);
			}
			free(exact);
		}
	}
}

static void put_u16(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)value;
	at[1] = (unsigned char)(value >> 8);
}

static enum ctrace_status decode(const unsigned char *bytes, size_t size)
{
	struct ct_record record;

	return ct_record_decode(bytes, size, &record);
}

static void sizes_that_disagree_are_damage(void **state)
{
	unsigned char bytes[SIZE];
	size_t size = make_record(bytes);

	(void)state;
	assert_int_equal(decode(bytes, SIZE), CTRACE_OK); /* more may follow */
	put_u16(bytes, 0);
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
	put_u16(bytes, 2); /* a head needs 3 */
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
	put_u16(bytes, (unsigned)(size / 8 - 1)); /* items longer than the record */
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
	put_u16(bytes, (unsigned)(size / 8 + 1)); /* record longer than its items */
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
	put_u16(bytes, (unsigned)(size / 8));
	assert_int_equal(decode(bytes, SIZE), CTRACE_OK);
	put_u16(bytes + 2, 5 << 3 | 1); /* a fifth descriptor, made of data */
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
	put_u16(bytes + 2, 3 << 3 | 1);
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
	put_u16(bytes + 2, 0xFFFF & ~7u);
	assert_int_equal(decode(bytes, SIZE), CTRACE_DAMAGED);
}

static void a_level_that_there_is_not_is_damage(void **state)
{
	unsigned char bytes[SIZE];

	(void)state;
	make_record(bytes);
	for (unsigned level = 0; level < 8; level++) {
		put_u16(bytes + 2, 4 << 3 | level);
		assert_int_equal(decode(bytes, SIZE), level < CTRACE_LEVEL_COUNT ? CTRACE_OK : CTRACE_DAMAGED);
	}
}

static void item_sizes_whose_sum_would_wrap_are_damage(void **state)
{
	static unsigned char bytes[CT_RECORD_HEAD + 4 * 4000];

	(void)state;
	ct_record_encode_head(bytes, sizeof bytes, &head, 4000);
	memset(bytes + CT_RECORD_HEAD, 0xFF, sizeof bytes - CT_RECORD_HEAD);
	assert_int_equal(decode(bytes, sizeof bytes), CTRACE_DAMAGED);
}

static void an_unknown_type_counts_as_binary(void **state)
{
	unsigned char bytes[SIZE];
	struct ctrace_event_item items[4];
	struct ct_record record;

	(void)state;
	make_record(bytes);
	for (unsigned type = 0; type < 256; type++) {
		bytes[CT_RECORD_HEAD + 4] = (unsigned char)type; /* the comp5 item's */
		assert_int_equal(ct_record_decode(bytes, SIZE, &record), CTRACE_OK);
		ct_record_items(&record, items);
		assert_int_equal(items[1].type, type < CTRACE_TYPE_COUNT ? type : CTRACE_TYPE_BINARY);
	}
}

static void padding_needs_its_first_8_bytes_only(void **state)
{
	unsigned char bytes[16];
	struct ct_record record;

	(void)state;
	ct_record_encode_padding(bytes, 8);
	assert_int_equal(ct_record_decode(bytes, 8, &record), CTRACE_OK);
	assert_true(record.is_padding);
	assert_int_equal(record.size, 8);
	assert_int_equal(ct_record_decode(bytes, 7, &record), CTRACE_DAMAGED);
	ct_record_encode_padding(bytes, 16);
	assert_int_equal(ct_record_decode(bytes, 8, &record), CTRACE_DAMAGED);
}

static void integers_have_their_value_in_both_orders_and_signs(void **state)
{
	static const unsigned char bytes[] = { 0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88 };

	(void)state;
	for (uint32_t size = 1; size <= 8; size++) {
		uint64_t little = 0, big = 0;
		uint64_t upper = size == 8 ? 0 : UINT64_MAX << 8 * size;
		bool little_is_negative, big_is_negative = true; /* its first byte is 0x81 */

		for (uint32_t i = 0; i < size; i++) {
			little |= (uint64_t)bytes[i] << 8 * i;
			big = big << 8 | bytes[i];
		}
		little_is_negative = (bytes[size - 1] & 0x80) != 0;
		assert_int_equal(ct_item_value(CTRACE_TYPE_COMP5, bytes, size), little);
		assert_int_equal(ct_item_value(CTRACE_TYPE_ADDRESS, bytes, size), little);
		assert_int_equal(ct_item_value(CTRACE_TYPE_COMPX, bytes, size), big);
		assert_int_equal(ct_item_value(CTRACE_TYPE_COMP5S, bytes, size), little_is_negative ? little | upper : little);
		assert_int_equal(ct_item_value(CTRACE_TYPE_COMPXS, bytes, size), big_is_negative ? big | upper : big);
	}
}

static void what_is_no_integer_of_1_to_8_bytes_has_the_value_0(void **state)
{
	static const unsigned char bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	(void)state;
	for (uint32_t type = 0; type < CTRACE_TYPE_COUNT; type++) {
		assert_int_equal(ct_item_value(type, bytes, 0), 0);
		assert_int_equal(ct_item_value(type, bytes, 9), 0);
		assert_int_equal(ct_item_value(type, bytes, UINT32_MAX), 0);
	}
	assert_int_equal(ct_item_value(CTRACE_TYPE_BINARY, bytes, 4), 0);
	assert_int_equal(ct_item_value(CTRACE_TYPE_TEXT, bytes, 4), 0);
	assert_int_equal(ct_item_value(CTRACE_TYPE_UTF8, bytes, 4), 0);
	assert_int_equal(ct_item_value(99, bytes, 4), 0);
}

static void random_bytes_never_lead_outside(void **state)
{
	static unsigned char bytes[4096];
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	uint64_t seed = 88172645463325252u;
	unsigned good = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t size = (size_t)(seed % 200);
		struct ct_record record;

		for (size_t i = 0; i < size; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[i] = (unsigned char)((seed & 0xF00) != 0 ? seed & 7 : seed);
		}
		if (ct_record_decode(bytes, size, &record) == CTRACE_OK) {
			assert_true(record.size <= size);
			if (!record.is_padding)
				ct_record_items(&record, items);
			good++;
		}
		seed += (uint64_t)round;
	}
	assert_true(good > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_encoded_comes_back),
		cmocka_unit_test(a_record_that_is_cut_anywhere_is_damaged),
		cmocka_unit_test(any_bit_may_be_flipped),
		cmocka_unit_test(items_stay_within_what_was_decoded),
		cmocka_unit_test(sizes_that_disagree_are_damage),
		cmocka_unit_test(a_level_that_there_is_not_is_damage),
		cmocka_unit_test(item_sizes_whose_sum_would_wrap_are_damage),
		cmocka_unit_test(an_unknown_type_counts_as_binary),
		cmocka_unit_test(padding_needs_its_first_8_bytes_only),
		cmocka_unit_test(integers_have_their_value_in_both_orders_and_signs),
		cmocka_unit_test(what_is_no_integer_of_1_to_8_bytes_has_the_value_0),
		cmocka_unit_test(random_bytes_never_lead_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
