/*
 * test_packet.c - packets: what is written is read back, bit for bit where the format says so, and damage is found.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/wire.h"
#include <stdlib.h>
#include <string.h>

#define T0 1700000000000000000u

static struct ct_schema *schema;
static struct ct_buf packet;
static struct ct_packet_head head;
static uint64_t previous_ns;

static int setup(void **state)
{
	(void)state;
	ct_buf_init(&packet);
	head = (struct ct_packet_head){
		.uuid = { 1, 2, 3 },
		.stream_instance = 7,
		.pid = 4711,
		.tid = 4712,
		.begin_ns = T0,
		.sequence = 3,
		.discarded = 17,
	};
	previous_ns = T0;
	ct_packet_begin(&packet, &head);
	return ct_schema_create(&schema) == CTRACE_OK ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ct_schema_destroy(schema);
	ct_buf_fini(&packet);
	return 0;
}

/* Appends an event; the number of bytes it took. */
static size_t add(const struct ctrace_event *event)
{
	size_t before = packet.size;
	bool is_new;

	ct_packet_add(&packet, ct_schema_class(schema, event, &is_new), event, &previous_ns);
	assert_false(packet.failed);
	assert_true(packet.size - before <= ct_packet_event_room(event));
	return packet.size - before;
}

static void end(void)
{
	head.end_ns = previous_ns;
	ct_packet_end(&packet, 0, &head);
}

static struct ctrace_event event_of(uint64_t time_ns, uint32_t count, const struct ctrace_event_item *items)
{
	return (struct ctrace_event){
		.time_ns = time_ns,
		.component = "mycomp",
		.component_size = 6,
		.event_id = 1,
		.level = CTRACE_INFO,
		.item_count = count,
		.items = items,
	};
}

static void assert_same(const struct ctrace_event *got, const struct ctrace_event *wanted)
{
	assert_int_equal(got->time_ns, wanted->time_ns);
	assert_int_equal(got->component_size, wanted->component_size);
	assert_string_equal(got->component, wanted->component);
	assert_int_equal(got->event_id, wanted->event_id);
	assert_int_equal(got->level, wanted->level);
	assert_int_equal(got->item_count, wanted->item_count);
	for (uint32_t i = 0; i < wanted->item_count; i++) {
		assert_int_equal(got->items[i].type, wanted->items[i].type);
		assert_int_equal(got->items[i].size, wanted->items[i].size);
		assert_memory_equal(got->items[i].data, wanted->items[i].data, wanted->items[i].size);
		assert_int_equal(got->items[i].value,
				 ct_item_value(wanted->items[i].type, wanted->items[i].data, wanted->items[i].size));
	}
}

/* Reads the packet's events and compares them. */
static void assert_events(const struct ctrace_event *wanted, size_t count)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	const unsigned char *bytes = (const unsigned char *)packet.data;
	struct ct_packet_head found;
	struct ctrace_event event;
	uint64_t time_ns;
	size_t offset;

	assert_int_equal(ct_packet_decode_head(bytes, packet.size, &found, &offset), CTRACE_OK);
	assert_int_equal(found.content_bits, 8 * packet.size);
	time_ns = found.begin_ns;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(ct_packet_decode_event(schema, bytes, packet.size, &offset, &time_ns, &event, items), CTRACE_OK);
		assert_same(&event, &wanted[i]);
	}
	assert_int_equal(offset, packet.size);
	assert_int_equal(found.end_ns, time_ns);
}

static void head_is_as_drawn(void **state)
{
	static const unsigned char start[28] = { 0xC1, 0x1F, 0xFC, 0xC1, 1, 2, 3, [24] = 7 };
	struct ct_packet_head found;
	size_t size;

	(void)state;
	end();
	assert_int_equal(packet.size, CT_PACKET_HEAD);
	assert_memory_equal(packet.data, start, sizeof start);
	assert_int_equal(ct_packet_decode_head((unsigned char *)packet.data, packet.size, &found, &size), CTRACE_OK);
	assert_int_equal(size, CT_PACKET_HEAD);
	assert_memory_equal(found.uuid, head.uuid, 16);
	assert_int_equal(found.stream_instance, 7);
	assert_int_equal(found.pid, 4711);
	assert_int_equal(found.tid, 4712);
	assert_int_equal(found.begin_ns, T0);
	assert_int_equal(found.end_ns, T0);
	assert_int_equal(found.sequence, 3);
	assert_int_equal(found.discarded, 17);
	assert_int_equal(found.packet_bits, 8 * CT_PACKET_HEAD);
}

static void dense_events_are_small(void **state)
{
	const struct ctrace_event_item text = { .type = CTRACE_TYPE_TEXT, .size = 10, .data = "0123456789" };
	const struct ctrace_event_item b[] = {
		{ .type = CTRACE_TYPE_COMP5, .size = 4, .data = "\1\2\3\4" },
		{ .type = CTRACE_TYPE_COMP5, .size = 8, .data = "\1\2\3\4\5\6\7\10" },
		{ .type = CTRACE_TYPE_COMP5S, .size = 8, .data = "\377\377\377\377\377\377\377\377" },
		{ .type = CTRACE_TYPE_TEXT, .size = 32, .data = "abcdefghijklmnopqrstuvwxyzabcdef" },
	};
	const struct ctrace_event events[] = { event_of(T0 + 5, 1, &text), event_of(T0 + 9, 4, b) };
	static const unsigned char bytes[] = { 1, 0, 0, 0, CTRACE_INFO, 10, '0', '1' };
	uint32_t word;

	(void)state;
	assert_int_equal(add(&events[0]), 16);
	assert_int_equal(add(&events[1]), 58);
	end();
	memcpy(&word, packet.data + CT_PACKET_HEAD, 4);
	assert_int_equal(word, 1u | (uint32_t)((T0 + 5) & 0x3FFFFF) << 10);
	assert_memory_equal(packet.data + CT_PACKET_HEAD + 4, bytes + 4, 4);
	assert_events(events, 2);
}

static void time_that_passes_2_to_22_takes_the_long_form(void **state)
{
	struct ctrace_event events[4];

	(void)state;
	events[0] = event_of(T0 + 0x3FFFFF, 0, NULL);
	events[1] = event_of(events[0].time_ns + 0x3FFFFF, 0, NULL);
	events[2] = event_of(events[1].time_ns + 0x400000, 0, NULL);
	events[3] = event_of(events[2].time_ns + 86400000000000u, 0, NULL);
	assert_int_equal(add(&events[0]), 5);
	assert_int_equal(add(&events[1]), 5);
	assert_int_equal(add(&events[2]), 15);
	assert_int_equal(add(&events[3]), 15);
	end();
	assert_events(events, 4);
}

static void time_never_goes_back(void **state)
{
	struct ctrace_event events[3];

	(void)state;
	events[0] = event_of(T0 + 100, 0, NULL);
	events[1] = event_of(T0 + 50, 0, NULL);
	events[2] = event_of(UINT64_MAX, 0, NULL);
	for (int i = 0; i < 3; i++)
		add(&events[i]);
	end();
	events[1].time_ns = T0 + 100;
	events[2].time_ns = INT64_MAX;
	assert_events(events, 3);
}

static void wide_class_ids(void **state)
{
	struct ctrace_event events[1100];

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(events); i++) {
		events[i] = event_of(T0 + i, 0, NULL);
		events[i].event_id = i;
		/* Class ids start at 1; 1023 is the mark of the long form. */
		assert_int_equal(add(&events[i]), i + 1 < 1023 ? 5 : 15);
	}
	end();
	assert_events(events, CT_COUNT(events));
}

static void every_type_and_width(void **state)
{
	static const unsigned char bytes[8] = { 0xF1, 0xE2, 0xD3, 0xC4, 0xB5, 0xA6, 0x97, 0x88 };
	static const uint32_t lengths[] = { 0, 1, 7, 8, 9, 16, 17, 255, 256, 65535, 65536 };
	static const uint32_t byte_types[] = { CTRACE_TYPE_BINARY, CTRACE_TYPE_TEXT, CTRACE_TYPE_UTF8 };
	static unsigned char big[65536];
	struct ctrace_event_item items[80];
	struct ctrace_event event;
	uint32_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (unsigned char)(i * 7);
	for (uint32_t type = CTRACE_TYPE_COMP5; type <= CTRACE_TYPE_COMPXS; type++)
		for (uint32_t size = 1; type != CTRACE_TYPE_UTF8 && size <= 8; size++)
			items[count++] = (struct ctrace_event_item){ .type = type, .size = size, .data = bytes };
	items[count++] = (struct ctrace_event_item){ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = bytes };
	for (size_t i = 0; i < CT_COUNT(lengths); i++)
		for (size_t type = 0; type < CT_COUNT(byte_types); type++)
			items[count++] = (struct ctrace_event_item){ .type = byte_types[type], .size = lengths[i], .data = big };
	event = event_of(T0 + 1, count, items);
	add(&event);
	end();
	assert_events(&event, 1);
}

static void generic_class_holds_4096_items_of_any_kind(void **state)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	struct ctrace_event event;
	size_t data_size = 0;

	(void)state;
	for (uint32_t i = 0; i < CTRACE_MAX_ITEMS; i++) {
		uint32_t type = i % CTRACE_TYPE_COUNT;

		items[i] = (struct ctrace_event_item){ .type = type,
						       .size = type == CTRACE_TYPE_ADDRESS ? 8 : 1 + i / 8 % 8,
						       .data = "ABCDEFGH" };
		data_size += 1 + items[i].size + (type == CTRACE_TYPE_BINARY || type == CTRACE_TYPE_TEXT || type == CTRACE_TYPE_UTF8);
	}
	event = event_of(T0 + 1, CTRACE_MAX_ITEMS, items);
	assert_int_equal(add(&event), 4 + 1 + 7 + 4 + 2 + data_size);
	end();
	assert_events(&event, 1);
}

/* The largest event there is: a packet of it is no larger than a reader accepts. */
static void the_largest_event(void **state)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	static unsigned char big[CTRACE_MAX_ITEM_SIZE];
	struct ct_packet_head back;
	struct ctrace_event event;
	size_t head_size;

	(void)state;
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (unsigned char)(i * 7);
	for (uint32_t i = 0; i < CTRACE_MAX_ITEMS; i++)
		items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_BINARY, .size = sizeof big, .data = big };
	event = event_of(T0 + 1, CTRACE_MAX_ITEMS, items);
	assert_true(ct_packet_event_room(&event) + CT_PACKET_HEAD <= CT_PACKET_MAX);
	add(&event);
	end();
	assert_int_equal(ct_packet_decode_head((unsigned char *)packet.data, packet.size, &back, &head_size), CTRACE_OK);
	assert_int_equal(back.content_bits / 8, packet.size);
	assert_events(&event, 1);
}

static void cut_anywhere_it_is_damaged(void **state)
{
	static struct ctrace_event_item got[CTRACE_MAX_ITEMS];
	const struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 3, .data = "abc" },
		{ .type = CTRACE_TYPE_COMPX, .size = 5, .data = "12345" },
		{ .type = CTRACE_TYPE_BINARY, .size = 300, .data = memset(calloc(1, 300), 5, 300) },
	};
	const struct ctrace_event event = event_of(T0 + 10000000, 3, items);
	size_t size;

	(void)state;
	size = CT_PACKET_HEAD + add(&event);
	for (size_t content = CT_PACKET_HEAD; content < size; content++) {
		unsigned char *copy = malloc(content);
		struct ctrace_event found;
		size_t offset = CT_PACKET_HEAD;
		uint64_t time_ns = T0;

		memcpy(copy, packet.data, content);
		assert_int_equal(ct_packet_decode_event(schema, copy, content, &offset, &time_ns, &found, got), CTRACE_DAMAGED);
		assert_int_equal(offset, CT_PACKET_HEAD);
		assert_int_equal(time_ns, T0);
		free(copy);
	}
	free((void *)(uintptr_t)items[2].data);
}

static void damaged_events_are_refused(void **state)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	struct ctrace_event event = event_of(T0 + 1, 0, NULL), found;
	unsigned char *at;
	uint64_t time_ns = T0;
	size_t offset = CT_PACKET_HEAD;

	(void)state;
	add(&event);
	at = (unsigned char *)packet.data + CT_PACKET_HEAD;
	at[4] = CTRACE_LEVEL_COUNT;
	assert_int_equal(ct_packet_decode_event(schema, (unsigned char *)packet.data, packet.size, &offset, &time_ns, &found, items),
			 CTRACE_DAMAGED);
	at[4] = 0;
	at[0] = 99; /* no such class */
	assert_int_equal(ct_packet_decode_event(schema, (unsigned char *)packet.data, packet.size, &offset, &time_ns, &found, items),
			 CTRACE_NOT_FOUND);
	offset = packet.size + 1;
	assert_int_equal(ct_packet_decode_event(schema, (unsigned char *)packet.data, packet.size, &offset, &time_ns, &found, items),
			 CTRACE_DAMAGED);
}

static void damaged_heads_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} changes[] = {
		{ 0, 0 },           /* magic */
		{ 20, 1 },          /* stream_id */
		{ 40, 0 },          /* timestamp_end before timestamp_begin */
		{ 44, 8 },          /* content_size smaller than the head */
		{ 44, 0xFFFF8 },    /* larger than packet_size */
		{ 44, 8 * 76 + 1 }, /* no whole bytes */
		{ 48, 0xFFFFFFF8 }, /* larger than any packet */
	};
	struct ct_packet_head found;
	size_t size;

	(void)state;
	end();
	for (size_t i = 0; i < CT_COUNT(changes); i++) {
		unsigned char copy[CT_PACKET_HEAD];

		memcpy(copy, packet.data, sizeof copy);
		memcpy(copy + changes[i].offset, &changes[i].value, 4);
		assert_int_equal(ct_packet_decode_head(copy, sizeof copy, &found, &size), CTRACE_DAMAGED);
	}
	for (size_t available = 0; available < CT_PACKET_HEAD; available++)
		assert_int_equal(ct_packet_decode_head((unsigned char *)packet.data, available, &found, &size), CTRACE_DAMAGED);
}

static void next_packet_is_found(void **state)
{
	static unsigned char bytes[1000];

	(void)state;
	end();
	memset(bytes, 0xC1, sizeof bytes);
	memcpy(bytes + 500, packet.data, CT_PACKET_HEAD);
	memcpy(bytes + 100, packet.data, 4); /* a magic alone is no packet */
	assert_int_equal(ct_packet_find(bytes, sizeof bytes, 0), 500);
	assert_int_equal(ct_packet_find(bytes, sizeof bytes, 500), 500);
	assert_int_equal(ct_packet_find(bytes, sizeof bytes, 501), sizeof bytes);
	assert_int_equal(ct_packet_find(bytes, 500 + CT_PACKET_HEAD - 1, 0), 500 + CT_PACKET_HEAD - 1);
	assert_int_equal(ct_packet_find(bytes, 0, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(head_is_as_drawn),
		TEST(dense_events_are_small),
		TEST(time_that_passes_2_to_22_takes_the_long_form),
		TEST(time_never_goes_back),
		TEST(wide_class_ids),
		TEST(every_type_and_width),
		TEST(generic_class_holds_4096_items_of_any_kind),
		TEST(the_largest_event),
		TEST(cut_anywhere_it_is_damaged),
		TEST(damaged_events_are_refused),
		TEST(damaged_heads_are_refused),
		TEST(next_packet_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
