/*
 * test_encode.c - the bytes of a record, as both writers put them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "wire/wire.h"

static const struct ct_record_head head = {
	.component = 0x11223344, .event_id = 0x55667788, .level = 3, .tid = 0x99AABBCC, .ticks = 0x0123456789ABCDEF
};

static void a_record_has_the_bytes_that_are_drawn(void **state)
{
	static const unsigned char expected[] = {
		6,
		0,
		3 | 2 << 3,
		0,
		0x44,
		0x33,
		0x22,
		0x11,
		0x88,
		0x77,
		0x66,
		0x55,
		0xCC,
		0xBB,
		0xAA,
		0x99,
		0xEF,
		0xCD,
		0xAB,
		0x89,
		0x67,
		0x45,
		0x23,
		0x01,
		CTRACE_TYPE_TEXT,
		5,
		0,
		0,
		CTRACE_TYPE_COMP5,
		4,
		0,
		0,
		'h',
		'e',
		'l',
		'l',
		'o',
		0xEF,
		0xBE,
		0xAD,
		0xDE,
	};
	const struct ctrace_item items[] = { CTRACE_TEXT("hello", 5), CTRACE_U32(0xDEADBEEF) };
	unsigned char bytes[48];

	(void)state;
	assert_int_equal(ct_record_size(items, 2), 48);
	memset(bytes, 0, sizeof bytes);
	ct_record_encode(bytes, sizeof bytes, &head, items, 2);
	assert_memory_equal(bytes, expected, sizeof expected);
}

static void the_inline_writer_puts_the_same_head(void **state)
{
	const struct ctrace_tracer tracer = { .component = head.component };
	const struct ctrace_lane lane = { .tid = head.tid };
	unsigned char inline_bytes[CT_RECORD_HEAD], bytes[CT_RECORD_HEAD];

	(void)state;
	for (uint32_t count = 0; count <= 16; count++) {
		for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++) {
			struct ct_record_head one = head;

			(void)ctrace_put_head_(inline_bytes, &tracer, &lane, level, head.event_id, count, CT_RECORD_MAX - 8 * count);
			one.level = level;
			memcpy(&one.ticks, inline_bytes + 16, 8);
			ct_record_encode_head(bytes, CT_RECORD_MAX - 8 * count, &one, count);
			assert_memory_equal(bytes, inline_bytes, sizeof bytes);
		}
	}
}

static void the_size_is_the_sum_rounded_up_to_8(void **state)
{
	static char data[64];

	(void)state;
	assert_int_equal(ct_record_size(NULL, 0), CT_RECORD_HEAD);
	for (size_t size = 0; size <= 64; size++) {
		const struct ctrace_item item = CTRACE_BIN(data, size);

		assert_int_equal(ct_record_size(&item, 1), (CT_RECORD_HEAD + 4 + size + 7) / 8 * 8);
	}
}

static void the_largest_item_fits_and_one_byte_more_does_not(void **state)
{
	static char data[CTRACE_MAX_ITEM_SIZE + 1];
	struct ctrace_item item = CTRACE_BIN(data, CTRACE_MAX_ITEM_SIZE);

	(void)state;
	assert_int_equal(ct_record_size(&item, 1), CT_RECORD_HEAD + 8 + CTRACE_MAX_ITEM_SIZE);
	item = CTRACE_BIN(data, CTRACE_MAX_ITEM_SIZE + 1);
	assert_int_equal(item.size, CTRACE_TOO_LONG_);
	assert_int_equal(ct_record_size(&item, 1), 0);
	item = CTRACE_TEXT(data, SIZE_MAX);
	assert_int_equal(ct_record_size(&item, 1), 0);
}

static void the_largest_record_fits_and_8_bytes_more_do_not(void **state)
{
	static char data[CTRACE_MAX_ITEM_SIZE];
	struct ctrace_item items[9];
	size_t left = CT_RECORD_MAX - CT_RECORD_HEAD - 4 * 9;

	(void)state;
	for (int i = 0; i < 8; i++)
		items[i] = CTRACE_BIN(data, 65000);
	left -= (size_t)8 * 65000;
	items[8] = CTRACE_BIN(data, left);
	assert_int_equal(ct_record_size(items, 9), CT_RECORD_MAX);
	items[8] = CTRACE_BIN(data, left + 1);
	assert_int_equal(ct_record_size(items, 9), 0);
}

static void as_many_items_as_allowed_fit_and_one_more_does_not(void **state)
{
	static struct ctrace_item items[CTRACE_MAX_ITEMS + 1];
	static unsigned char bytes[CT_RECORD_MAX];
	struct ct_record record;
	size_t size;

	(void)state;
	for (size_t i = 0; i <= CTRACE_MAX_ITEMS; i++)
		items[i] = CTRACE_U8(i);
	size = ct_record_size(items, CTRACE_MAX_ITEMS);
	assert_int_equal(size, (CT_RECORD_HEAD + 5 * CTRACE_MAX_ITEMS + 7) / 8 * 8);
	assert_int_equal(ct_record_size(items, CTRACE_MAX_ITEMS + 1), 0);
	assert_int_equal(ct_record_size(items, UINT32_MAX), 0);
	ct_record_encode(bytes, size, &head, items, CTRACE_MAX_ITEMS);
	assert_int_equal(ct_record_decode(bytes, size, &record), CTRACE_OK);
	assert_int_equal(record.item_count, CTRACE_MAX_ITEMS);
	assert_int_equal(record.head.level, 3);
}

static void a_null_pointer_is_an_empty_item(void **state)
{
	const struct ctrace_item items[] = { CTRACE_BIN(NULL, 100), CTRACE_STR(NULL), CTRACE_XU(NULL, 8) };
	unsigned char bytes[64];
	struct ct_record record;
	struct ctrace_event_item back[3];
	size_t size = ct_record_size(items, 3);

	(void)state;
	assert_int_equal(size, CT_RECORD_HEAD + 16);
	ct_record_encode(bytes, size, &head, items, 3);
	assert_int_equal(ct_record_decode(bytes, size, &record), CTRACE_OK);
	ct_record_items(&record, back);
	for (int i = 0; i < 3; i++)
		assert_int_equal(back[i].size, 0);
}

static void padding_of_any_length_is_passed_in_whole_records(void **state)
{
	static unsigned char bytes[3 * CT_RECORD_MAX];
	static const size_t sizes[] = { 8, 16, 24, 4096, CT_RECORD_MAX, CT_RECORD_MAX + 8, 2 * CT_RECORD_MAX, 3 * CT_RECORD_MAX };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		size_t at = 0;

		memset(bytes, 0xA5, sizeof bytes);
		ct_record_encode_padding(bytes, sizes[i]);
		while (at < sizes[i]) {
			struct ct_record record;

			assert_int_equal(ct_record_decode(bytes + at, sizes[i] - at, &record), CTRACE_OK);
			assert_true(record.is_padding);
			at += record.size;
		}
		assert_int_equal(at, sizes[i]);
		if (sizes[i] < sizeof bytes)
			assert_int_equal(bytes[sizes[i]], 0xA5); /* nothing behind it is touched */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_the_bytes_that_are_drawn),
		cmocka_unit_test(the_inline_writer_puts_the_same_head),
		cmocka_unit_test(the_size_is_the_sum_rounded_up_to_8),
		cmocka_unit_test(the_largest_item_fits_and_one_byte_more_does_not),
		cmocka_unit_test(the_largest_record_fits_and_8_bytes_more_do_not),
		cmocka_unit_test(as_many_items_as_allowed_fit_and_one_more_does_not),
		cmocka_unit_test(a_null_pointer_is_an_empty_item),
		cmocka_unit_test(padding_of_any_length_is_passed_in_whole_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
