/*
 * test_event.c - the bytes of an event, as both writers put them, and as a reader takes them, who
 * must believe nothing.
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

#include "class_fixture.h"

#define SIZE 128u

static const struct ct_event_head head = { .component = 7, .event_id = 9, .level = CTRACE_FATAL };
static struct {
	struct ct_class_table table;
	unsigned char entries[4096];
} table;
static struct ct_classes classes;

static struct ct_class_image image(void)
{
	return (struct ct_class_image){ .bytes = (const unsigned char *)&table,
					.size = sizeof table };
}

static int set_up(void **state)
{
	(void)state;
	memset(&table, 0, sizeof table);
	memset(&classes, 0, sizeof classes);
	classes.table = &table.table;
	ct_class_table_start(&table.table, sizeof table);
	return 0;
}

static uint32_t find(const struct ctrace_item *items, uint32_t count)
{
	return class_of(&classes, head.component, head.level, head.event_id, items, count);
}

/* text(5), comp5(4), binary(0) counted, comp-x(3): 8 + 5 + 4 + 2 + 3 */
static size_t make_event(unsigned char *bytes, uint32_t number_or_0)
{
	static const unsigned char big[3] = { 0xFF, 0xFE, 0xFD };
	size_t none = 0;
	const struct ctrace_item items[] = { CTRACE_TEXT("hello", 5), CTRACE_U32(0xDEADBEEF),
					     CTRACE_BIN("", none), CTRACE_XI(big, 3) };
	uint32_t number = number_or_0 != 0 ? number_or_0 : find(items, 4);
	size_t size = ct_event_size(number, items, 4);

	assert_true(size <= SIZE);
	memset(bytes, 0, SIZE);
	ct_event_encode(bytes, number, 13, &head, items, 4);
	return size;
}

static enum ctrace_status decode(const unsigned char *bytes, size_t size, struct ct_event *out)
{
	struct ct_class_image all = image();
	struct ct_event_state state = { .ticks = 12, .tid = 11 };
	enum ctrace_status status = ct_event_decode(&all, bytes, size, &state, out);

	assert_int_equal(state.ticks, status == CTRACE_OK ? out->ticks : 12);
	return status;
}

static void an_event_has_the_bytes_that_are_drawn(void **state)
{
	const struct ctrace_item items[] = { CTRACE_TEXT("hello", 5), CTRACE_U32(0xDEADBEEF),
					     CTRACE_STR("ab") };
	unsigned char expected[] = { 0,   0,   0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 'h', 'e', 'l',
				     'l', 'o', 0xEF, 0xBE, 0xAD, 0xDE, 2,    0,    'a', 'b' };
	unsigned char bytes[sizeof expected];
	uint32_t number = find(items, 3);

	(void)state;
	assert_true(number >= CT_CLASS_FIRST);
	assert_int_equal(ct_event_size(number, items, 3), sizeof expected);
	expected[0] = (unsigned char)number;
	ct_event_encode(bytes, number, 0x0123456789ABCDEF, &head, items, 3);
	assert_memory_equal(bytes, expected, sizeof expected);
}

static void the_inline_writer_puts_the_same_items(void **state)
{
	static char text[70000];
	size_t sizes[] = { 0, 1, 255, 256, 65535 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		const struct ctrace_item items[] = { CTRACE_TEXT(text, sizes[i]), CTRACE_I16(-2),
						     CTRACE_UTF8("abc", 3), CTRACE_ADDR(text) };
		static unsigned char inlined[70000], bytes[70000];
		unsigned char *at = inlined + CT_EVENT_HEAD;
		uint32_t number = find(items, 4);
		size_t room = CT_EVENT_HEAD;

		memset(text, (int)i + 'a', sizeof text);
		for (unsigned k = 0; k < 4; k++) {
			at = ctrace_put_item_(at, &items[k]);
			room += ctrace_item_room_(&items[k]);
		}
		assert_int_equal(at - inlined, room);
		assert_int_equal(ct_event_size(number, items, 4), room);
		ct_event_encode(bytes, number, 0, &head, items, 4);
		assert_memory_equal(bytes + CT_EVENT_HEAD, inlined + CT_EVENT_HEAD,
				    room - CT_EVENT_HEAD);
	}
}

static void the_largest_item_fits_and_one_byte_more_does_not(void **state)
{
	static char data[CTRACE_MAX_ITEM_SIZE + 1];
	static unsigned char bytes[CTRACE_MAX_ITEM_SIZE + 64];
	size_t size = CTRACE_MAX_ITEM_SIZE;
	struct ctrace_item item = CTRACE_BIN(data, size);
	struct ctrace_event_item back;
	struct ct_event event;

	(void)state;
	/* Its size is too large for 16 bits. */
	assert_int_equal(ct_event_size(find(&item, 1), &item, 1), CT_EVENT_HEAD + 4 + size);
	assert_true(ctrace_item_room_(&item) == CTRACE_TOO_LONG_);
	ct_event_encode(bytes, find(&item, 1), 13, &head, &item, 1);
	assert_int_equal(decode(bytes, sizeof bytes, &event), CTRACE_OK);
	ct_event_items(&event, &back);
	assert_int_equal(back.size, size);
	item = CTRACE_BIN(data, CTRACE_MAX_ITEM_SIZE);
	assert_int_equal(ct_event_size(find(&item, 1), &item, 1), CT_EVENT_HEAD + size);
	item = CTRACE_BIN(data, size + 1);
	assert_int_equal(item.size, CTRACE_TOO_LONG_);
	assert_int_equal(ct_event_size(CT_CLASS_ANY, &item, 1), 0);
	item = CTRACE_TEXT(data, SIZE_MAX);
	assert_int_equal(ct_event_size(CT_CLASS_ANY, &item, 1), 0);
}

static void as_many_items_as_allowed_fit_and_one_more_does_not(void **state)
{
	static struct ctrace_item items[CTRACE_MAX_ITEMS + 1];
	static struct ctrace_event_item back[CTRACE_MAX_ITEMS];
	static unsigned char bytes[32768];
	struct ct_event event;
	size_t size;

	(void)state;
	for (size_t i = 0; i <= CTRACE_MAX_ITEMS; i++)
		items[i] = CTRACE_U8(i);
	assert_int_equal(find(items, CTRACE_MAX_ITEMS), CT_CLASS_ANY);
	size = ct_event_size(CT_CLASS_ANY, items, CTRACE_MAX_ITEMS);
	assert_int_equal(size, CT_EVENT_HEAD + 11 + 6 * CTRACE_MAX_ITEMS);
	assert_int_equal(ct_event_size(CT_CLASS_ANY, items, CTRACE_MAX_ITEMS + 1), 0);
	assert_int_equal(ct_event_size(CT_CLASS_ANY, items, UINT32_MAX), 0);
	ct_event_encode(bytes, CT_CLASS_ANY, 13, &head, items, CTRACE_MAX_ITEMS);
	assert_int_equal(decode(bytes, size, &event), CTRACE_OK);
	assert_int_equal(event.item_count, CTRACE_MAX_ITEMS);
	ct_event_items(&event, back);
	for (uint32_t i = 0; i < CTRACE_MAX_ITEMS; i++)
		assert_int_equal(back[i].value, i & 0xFF);
}

static void a_null_pointer_is_an_empty_item(void **state)
{
	const struct ctrace_item items[] = { CTRACE_BIN(NULL, 100), CTRACE_STR(NULL),
					     CTRACE_XU(NULL, 8) };
	unsigned char bytes[64];
	struct ctrace_event_item back[3];
	struct ct_event event;
	uint32_t number = find(items, 3);

	(void)state;
	/* Not what other events of the call site have: the inline path leaves it alone. */
	assert_true(items[0].is_odd && items[2].is_odd && !items[1].is_odd);
	ct_event_encode(bytes, number, 13, &head, items, 3);
	assert_int_equal(decode(bytes, ct_event_size(number, items, 3), &event), CTRACE_OK);
	ct_event_items(&event, back);
	for (int i = 0; i < 3; i++)
		assert_int_equal(back[i].size, 0);
}

static void what_was_encoded_comes_back(void **state)
{
	static const uint32_t numbers[] = { 0, CT_CLASS_ANY };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		unsigned char bytes[SIZE];
		size_t size = make_event(bytes, numbers[i]);
		struct ctrace_event_item items[4];
		struct ct_event event;

		assert_int_equal(decode(bytes, size, &event), CTRACE_OK);
		assert_int_equal(event.size, size);
		assert_false(event.is_mark);
		assert_int_equal(event.head.component, 7);
		assert_int_equal(event.head.event_id, 9);
		assert_int_equal(event.head.level, CTRACE_FATAL);
		assert_int_equal(event.tid, 11);
		assert_int_equal(event.ticks, 13);
		assert_int_equal(event.item_count, 4);
		ct_event_items(&event, items);
		assert_int_equal(items[0].type, CTRACE_TYPE_TEXT);
		assert_int_equal(items[0].size, 5);
		assert_memory_equal(items[0].data, "hello", 5);
		assert_int_equal(items[1].value, 0xDEADBEEF);
		assert_int_equal(items[2].size, 0);
		assert_int_equal((int64_t)items[3].value, -259);
	}
}

static void a_mark_says_all_of_the_time_and_whose_the_events_are(void **state)
{
	unsigned char bytes[CT_EVENT_MARK + 8];
	const struct ct_class_image none = { 0 };
	struct ct_event_state now = { .ticks = 3, .tid = 4 };
	struct ct_event event;

	(void)state;
	ct_event_encode_mark(bytes, 0xFEDCBA9876543210, 4711);
	for (size_t size = 0; size < CT_EVENT_MARK; size++)
		assert_int_equal(ct_event_decode(&none, bytes, size, &now, &event),
				 CTRACE_BUFFER_TOO_SMALL);
	assert_int_equal(ct_event_decode(&none, bytes, CT_EVENT_MARK, &now, &event), CTRACE_OK);
	assert_true(event.is_mark);
	assert_int_equal(event.size, CT_EVENT_MARK);
	assert_int_equal(now.ticks, 0xFEDCBA9876543210);
	assert_int_equal(now.tid, 4711);
}

/* 48 bits of the time are in the event, so it is the nearest that has them. */
static void times_go_on_over_the_end_of_48_bits_and_a_little_back(void **state)
{
	static const struct {
		uint64_t before, time;
	} rows[] = {
		{ 0xFFFFFFFFFFF0, 0x1000000000005 },
		{ 0x1000000000005, 0xFFFFFFFFFFF0 },
		{ 0x123400000000FFFF, 0x123400000000FFF0 },
		{ 0x1234000000000000, 0x12347FFFFFFFFFFF },
		{ 0x1234800000000000, 0x1234000000000000 },
		{ 0, 0x7FFFFFFFFFFF },
		{ 5, 0x800000000005 },
		{ 5, 0xFFFFFFFFFFFF }, /* not before 0 */
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_event_state now = { .ticks = rows[i].before };
		struct ct_class_image all = image();
		unsigned char bytes[64];
		struct ct_event event;

		ct_event_encode(bytes, CT_CLASS_ANY, rows[i].time, &head, NULL, 0);
		assert_int_equal(ct_event_decode(&all, bytes, sizeof bytes, &now, &event),
				 CTRACE_OK);
		assert_int_equal(event.ticks, rows[i].time);
	}
}

static void an_event_that_is_cut_anywhere_says_so(void **state)
{
	static const uint32_t numbers[] = { 0, CT_CLASS_ANY };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		unsigned char bytes[SIZE];
		size_t size = make_event(bytes, numbers[i]);

		for (size_t available = 0; available < size; available++) {
			/* A block of exactly that size, so that a checker sees the first byte read
			 * past it. */
			unsigned char *exact = malloc(available + 1);
			struct ct_event event = { .size = 4711 };

			assert_non_null(exact);
			memcpy(exact + 1, bytes, available);
			assert_int_equal(decode(exact + 1, available, &event),
					 CTRACE_BUFFER_TOO_SMALL);
			assert_int_equal(event.size, 4711); /* out only on success */
			free(exact);
		}
	}
}

static void check_event(const unsigned char *bytes, size_t size, const struct ct_event *event)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];

	assert_true(event->size >= CT_EVENT_HEAD && event->size <= size);
	assert_true(event->item_count <= CTRACE_MAX_ITEMS);
	if (event->is_mark)
		return;
	assert_true(event->head.level < CTRACE_LEVEL_COUNT);
	ct_event_items(event, items);
	for (uint32_t i = 0; i < event->item_count; i++) {
		const unsigned char *data = items[i].data;

		assert_true(items[i].type < CTRACE_TYPE_COUNT);
		assert_true(data >= bytes && data + items[i].size <= bytes + event->size);
	}
}

static void any_bit_may_be_flipped(void **state)
{
	static const uint32_t numbers[] = { 0, CT_CLASS_ANY };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		unsigned char bytes[SIZE];
		size_t size = make_event(bytes, numbers[i]);

		for (size_t bit = 0; bit < 8 * size; bit++) {
			unsigned char *exact = malloc(size);
			struct ct_event event;

			assert_non_null(exact);
			memcpy(exact, bytes, size);
			exact[bit / 8] ^= (unsigned char)(1u << bit % 8);
			if (decode(exact, size, &event) == CTRACE_OK)
				check_event(exact, size, &event);
			free(exact);
		}
	}
}

/* The class may be damaged as well. */
static void any_bit_of_the_class_may_be_flipped(void **state)
{
	unsigned char bytes[SIZE];
	size_t size = make_event(bytes, 0);
	unsigned char *exact = malloc(size);
	struct ct_event event;

	(void)state;
	assert_non_null(exact);
	memcpy(exact, bytes, size);
	for (size_t bit = 0; bit < 8 * (size_t)table.table.used; bit++) {
		((unsigned char *)&table)[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (decode(exact, size, &event) == CTRACE_OK)
			check_event(exact, size, &event);
		((unsigned char *)&table)[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	assert_int_equal(decode(exact, size, &event), CTRACE_OK);
	free(exact);
}

/* Another process may write into the event, and into its class, while it is read: what was checked
 * is not what stands there later. */
static void items_stay_within_what_was_decoded(void **state)
{
	static const uint32_t hostile[] = { 0,          0xFFFFFFFF, 0xFFFFFF00, 0xFFFFFE01,
					    0xFFFFFD01, 0x00000100, 0x80000001, 0x00001001 };
	unsigned char bytes[SIZE];

	(void)state;
	for (size_t which = 0; which < CT_COUNT(hostile); which++) {
		for (uint32_t from = 0; from < 8; from++) {
			uint32_t any = from < 4 ? 0 : CT_CLASS_ANY;
			size_t size = (set_up(NULL), make_event(bytes, any));
			/* so that a checker sees the first byte read past it */
			unsigned char *exact = malloc(size);
			struct ct_event event;

			assert_non_null(exact);
			memcpy(exact, bytes, size);
			assert_int_equal(decode(exact, size, &event), CTRACE_OK);
			for (uint32_t i = from % 4; i < 4 && any == 0; i++)
				memcpy((unsigned char *)(uintptr_t)event.items + (size_t)4 * i,
				       &hostile[which], 4);
			for (size_t at = CT_EVENT_HEAD + from % 4; at + 4 <= size && any != 0;
			     at += 4)
				memcpy(exact + at, &hostile[which], 4);
			check_event(exact, size, &event);
			free(exact);
		}
	}
}

static void what_is_of_no_class_is_damage(void **state)
{
	unsigned char bytes[SIZE];
	struct ct_event event;
	size_t size = make_event(bytes, 0);
	unsigned good = 0;

	(void)state;
	for (uint32_t number = 0; number <= UINT16_MAX; number++) {
		memcpy(bytes, &(const uint16_t){ htole16((uint16_t)number) }, 2);
		if (number != CT_CLASS_ANY && number != CT_CLASS_MARK)
			good += decode(bytes, size, &event) == CTRACE_OK;
	}
	assert_int_equal(good, 1);
	/* One that is not complete: its number is stored last. */
	assert_int_equal(make_event(bytes, 0), size);
	memset((unsigned char *)&table + sizeof table.table, 0, 2);
	assert_int_equal(decode(bytes, size, &event), CTRACE_DAMAGED);
}

static void a_level_that_there_is_not_is_damage(void **state)
{
	unsigned char bytes[SIZE];
	size_t size = make_event(bytes, CT_CLASS_ANY);
	struct ct_event event;

	(void)state;
	for (unsigned level = 0; level < 256; level++) {
		bytes[CT_EVENT_HEAD + 8] = (unsigned char)level;
		assert_int_equal(decode(bytes, size, &event),
				 level < CTRACE_LEVEL_COUNT ? CTRACE_OK : CTRACE_DAMAGED);
	}
}

/* The first byte of an item must belong to its type and size: a viewer goes by it. */
static void an_item_of_a_generic_event_has_one_first_byte(void **state)
{
	unsigned char bytes[SIZE];
	struct ctrace_event_item items[4];
	struct ct_event event;

	(void)state;
	make_event(bytes, CT_CLASS_ANY);
	for (unsigned first = 0; first < 256; first++) {
		uint32_t type = first >> 4;
		bool is_one = type < CTRACE_TYPE_COUNT &&
			      (first & 0xF) == (ct_item_is_integer(type, 5) ? 5 : 0);

		bytes[CT_EVENT_HEAD + 11] = (unsigned char)first; /* the first item's, of 5 bytes */
		assert_int_equal(decode(bytes, SIZE, &event), is_one ? CTRACE_OK : CTRACE_DAMAGED);
		if (!is_one)
			continue;
		ct_event_items(&event, items);
		assert_int_equal(items[0].type, type);
		assert_int_equal(items[0].size, 5);
	}
}

static void an_unknown_type_counts_as_binary(void **state)
{
	unsigned char bytes[SIZE];
	struct ctrace_event_item items[4];
	struct ct_class_entry *entry;
	struct ct_event event;
	uint16_t number;

	(void)state;
	make_event(bytes, 0);
	memcpy(&number, bytes, 2);
	number = le16toh(number);
	entry = (struct ct_class_entry *)((unsigned char *)&table + (size_t)number * CT_CLASS_UNIT);
	for (unsigned type = 0; type < 256; type++) {
		entry->items[0] = (entry->items[0] & ~0xFFu) | type;
		assert_int_equal(decode(bytes, SIZE, &event), CTRACE_OK);
		ct_event_items(&event, items);
		assert_int_equal(items[0].type,
				 type < CTRACE_TYPE_COUNT ? type : CTRACE_TYPE_BINARY);
	}
	/* Written as an item of a generic event it is one, too. */
	ct_event_put_any_item(bytes, CTRACE_TYPE_COUNT, 5);
	assert_int_equal(bytes[0], CTRACE_TYPE_BINARY << 4);
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
		assert_int_equal(ct_item_value(CTRACE_TYPE_COMP5S, bytes, size),
				 little_is_negative ? little | upper : little);
		assert_int_equal(ct_item_value(CTRACE_TYPE_COMPXS, bytes, size),
				 big_is_negative ? big | upper : big);
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
	uint64_t seed = 88172645463325252u;
	unsigned good = 0;

	(void)state;
	(void)make_event(bytes, 0);
	for (int round = 0; round < 200000; round++) {
		size_t size = (size_t)(seed % 200);
		struct ct_event event;

		for (size_t i = 0; i < size; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[i] = (unsigned char)((seed & 0xF00) != 0 ? seed & 31 : seed);
		}
		if (decode(bytes, size, &event) == CTRACE_OK) {
			check_event(bytes, size, &event);
			good++;
		}
		seed += (uint64_t)round;
	}
	assert_true(good > 0);
}

static void a_generic_event_by_parts_is_the_one_at_once(void **state)
{
	static const unsigned char drawn[CT_EVENT_ANY_HEAD] = {
		CT_CLASS_ANY, 0, 0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 7, 0, 0, 0, 9, 0, 0, 0,
		CTRACE_FATAL, 2, 1
	};
	const struct ctrace_item items[] = { CTRACE_TEXT("hello", 5), CTRACE_U32(0xDEADBEEF) };
	unsigned char parts[64], whole[64];
	unsigned char *at;

	(void)state;
	/* 48 bits of the time */
	at = ct_event_put_any_head(parts, 0x0123456789ABCDEF, &head, 0x102);
	assert_ptr_equal(at, parts + CT_EVENT_ANY_HEAD);
	assert_memory_equal(parts, drawn, sizeof drawn);
	at = ct_event_put_any_head(parts, 13, &head, 2);
	at = ct_event_put_any_item(at, CTRACE_TYPE_TEXT, 5);
	memcpy(at, "hello", 5);
	at = ct_event_put_any_item(at + 5, items[1].type, 4);
	memcpy(at, "\xEF\xBE\xAD\xDE", 4);
	assert_int_equal(at + 4 - parts, ct_event_size(CT_CLASS_ANY, items, 2));
	ct_event_encode(whole, CT_CLASS_ANY, 13, &head, items, 2);
	assert_memory_equal(parts, whole, ct_event_size(CT_CLASS_ANY, items, 2));
}

/* A walk by the shape of the class comes to the ends that decoding comes to, whatever the sizes
 * say, and reads nothing behind what is there. */
static void a_shape_passes_what_decoding_passes(void **state)
{
	enum { COUNTED_MOST = 10 };
	struct ct_class_image all;
	unsigned char bytes[SIZE * 2];

	(void)state;
	for (uint32_t counted = 0; counted <= COUNTED_MOST; counted++) {
		struct ctrace_item items[2 * COUNTED_MOST];
		struct ct_event_shape shape;
		struct ct_event event;
		uint32_t number;
		size_t size;

		for (uint32_t i = 0; i < counted; i++) {
			items[2 * i] = CTRACE_TEXT("abcdefgh", (size_t)i % 4);
			items[2 * i + 1] = CTRACE_U16(i);
		}
		number = find(items, 2 * counted);
		size = ct_event_size(number, items, 2 * counted);
		assert_true(size <= sizeof bytes);
		memset(bytes, 0, sizeof bytes);
		ct_event_encode(bytes, number, 13, &head, items, 2 * counted);
		all = image();
		assert_true(ct_event_shape(&all, number, &shape));
		assert_int_equal(shape.is_long, counted > 1 + CT_SHAPE_MORE);
		if (shape.is_long)
			continue;
		for (size_t available = 0; available <= size; available++) {
			/* in memory of its own, so that a sanitizer sees a read behind it */
			unsigned char *copy = malloc(available + 1);

			memcpy(copy, bytes, available);
			assert_int_equal(ct_event_shape_size(&shape, copy, available),
					 available == size ? size : 0);
			free(copy);
		}
		for (size_t at = CT_EVENT_HEAD; at < size; at++) {
			size_t passed;

			bytes[at] ^= 0xFF;
			passed = ct_event_shape_size(&shape, bytes, sizeof bytes);
			assert_int_equal(passed, decode(bytes, sizeof bytes, &event) == CTRACE_OK
							 ? event.size
							 : 0);
			bytes[at] ^= 0xFF;
		}
	}
}

/* The number of the class and 48 bits of the time, wherever the event begins. */
static void the_first_word_has_the_class_and_the_time(void **state)
{
	unsigned char bytes[SIZE], shifted[SIZE + 8];
	size_t size = make_event(bytes, 0);
	uint32_t number = bytes[0] | (uint32_t)bytes[1] << 8;

	(void)state;
	for (unsigned shift = 0; shift < 8; shift++) {
		memcpy(shifted + shift, bytes, size);
		assert_int_equal(ct_event_word(shifted + shift), number | (uint64_t)13 << 16);
	}
}

static void all_of_a_time_is_found_from_its_low_48_bits_and_one_near_it(void **state)
{
	static const struct {
		uint64_t near, time;
	} cases[] = {
		{ 0, 0 },
		{ 5, 9 },
		{ 9, 5 },
		{ (UINT64_C(1) << 48) - 1, UINT64_C(1) << 48 },
		{ UINT64_C(1) << 48, (UINT64_C(1) << 48) - 1 },
		{ UINT64_C(0x123456789ABCDEF), UINT64_C(0x123456789ABCDEF) + (UINT64_C(1) << 46) },
		{ UINT64_C(0x123456789ABCDEF), UINT64_C(0x123456789ABCDEF) - (UINT64_C(1) << 46) },
		{ 3, (UINT64_C(1) << 48) - 1 }, /* 4 before 3 would be below 0 */
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++)
		assert_int_equal(ct_event_ticks(cases[i].near, cases[i].time << 16 | 77),
				 cases[i].time);
}

static void a_shape_walks_over_events_as_decoding_does(void **state)
{
	static char text[300];
	struct ct_class_image all = image();
	struct ct_event_shape shape = { .size = 4711 }, untouched = shape;
	unsigned char bytes[1024];
	struct ct_event event;
	uint32_t number;

	(void)state;
	/* one counted item, between others, of any size */
	for (size_t length = 0; length <= sizeof text; length += 50) {
		const struct ctrace_item items[] = { CTRACE_U32(5), CTRACE_TEXT(text, length),
						     CTRACE_U16(3), CTRACE_STR("") };

		number = find(items, 3);
		assert_true(ct_event_shape(&all, number, &shape));
		assert_memory_equal(&shape.head, &head, sizeof head);
		assert_false(shape.is_long);
		memset(bytes, 0, sizeof bytes);
		ct_event_encode(bytes, number, 13, &head, items, 3);
		assert_int_equal(decode(bytes, sizeof bytes, &event), CTRACE_OK);
		assert_int_equal(ct_event_shape_size(&shape, bytes, sizeof bytes), event.size);
		assert_int_equal(ct_event_shape_size(&shape, bytes, event.size), event.size);
		for (size_t cut = 0; cut < event.size; cut++)
			assert_int_equal(ct_event_shape_size(&shape, bytes, cut), 0);
	}
	untouched = shape;
	assert_false(ct_event_shape(&all, CT_CLASS_ANY, &shape)); /* each event its own */
	assert_false(ct_event_shape(&all, CT_CLASS_FIRST + 60000, &shape));
	assert_memory_equal(&shape, &untouched, sizeof shape);
}

static void a_size_that_is_no_events_passes_nothing(void **state)
{
	const struct ctrace_item fixed[] = { CTRACE_U32(1), CTRACE_U8(2) };
	struct ct_class_image all = image();
	struct ct_event_shape shape;
	unsigned char bytes[SIZE];

	(void)state;
	assert_true(ct_event_shape(&all, find(fixed, 2), &shape));
	assert_int_equal(shape.counted_width, 0);
	memset(bytes, 0xFF, sizeof bytes);
	assert_int_equal(ct_event_shape_size(&shape, bytes, sizeof bytes), CT_EVENT_HEAD + 5);
	shape = (struct ct_event_shape){ .size = CT_EVENT_HEAD + 4,
					 .counted_at = CT_EVENT_HEAD,
					 .counted_width = 4 };
	assert_int_equal(ct_event_shape_size(&shape, bytes, sizeof bytes), 0);
	assert_int_equal(ct_event_shape_size(&shape, bytes, SIZE_MAX), 0); /* no item is so large */
}

int test_event(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_event_has_the_bytes_that_are_drawn, set_up),
		cmocka_unit_test_setup(the_inline_writer_puts_the_same_items, set_up),
		cmocka_unit_test_setup(the_largest_item_fits_and_one_byte_more_does_not, set_up),
		cmocka_unit_test_setup(as_many_items_as_allowed_fit_and_one_more_does_not, set_up),
		cmocka_unit_test_setup(a_null_pointer_is_an_empty_item, set_up),
		cmocka_unit_test_setup(what_was_encoded_comes_back, set_up),
		cmocka_unit_test_setup(a_mark_says_all_of_the_time_and_whose_the_events_are,
				       set_up),
		cmocka_unit_test_setup(times_go_on_over_the_end_of_48_bits_and_a_little_back,
				       set_up),
		cmocka_unit_test_setup(an_event_that_is_cut_anywhere_says_so, set_up),
		cmocka_unit_test_setup(any_bit_may_be_flipped, set_up),
		cmocka_unit_test_setup(any_bit_of_the_class_may_be_flipped, set_up),
		cmocka_unit_test_setup(items_stay_within_what_was_decoded, set_up),
		cmocka_unit_test_setup(what_is_of_no_class_is_damage, set_up),
		cmocka_unit_test_setup(a_level_that_there_is_not_is_damage, set_up),
		cmocka_unit_test_setup(an_item_of_a_generic_event_has_one_first_byte, set_up),
		cmocka_unit_test_setup(a_generic_event_by_parts_is_the_one_at_once, set_up),
		cmocka_unit_test_setup(an_unknown_type_counts_as_binary, set_up),
		cmocka_unit_test(integers_have_their_value_in_both_orders_and_signs),
		cmocka_unit_test(what_is_no_integer_of_1_to_8_bytes_has_the_value_0),
		cmocka_unit_test_setup(random_bytes_never_lead_outside, set_up),
		cmocka_unit_test_setup(a_shape_passes_what_decoding_passes, set_up),
		cmocka_unit_test_setup(the_first_word_has_the_class_and_the_time, set_up),
		cmocka_unit_test(all_of_a_time_is_found_from_its_low_48_bits_and_one_near_it),
		cmocka_unit_test_setup(a_shape_walks_over_events_as_decoding_does, set_up),
		cmocka_unit_test_setup(a_size_that_is_no_events_passes_nothing, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
