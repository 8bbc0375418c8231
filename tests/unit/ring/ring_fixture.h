/*
 * ring_fixture.h - a ring with a producer's lane, numbered records of any size, and a consumer that checks them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_RING_FIXTURE_H
#define CT_RING_FIXTURE_H

#include "../session/session_fixture.h"
#include "ring/ring.h"

static struct ct_ring ring;
static struct ctrace_lane lane;
static struct ct_cursor_place place; /* the consumer's */
static unsigned char scratch[CT_RECORD_MAX];

/* A ring in memory, of a session in memory. */
static UNUSED void make_ring(size_t capacity, uint32_t overflow)
{
	struct ct_session private = { .folder_fd = -1, .file_fd = -1 };

	memset(&lane, 0, sizeof lane);
	memset(&place, 0, sizeof place);
	memset(&ring, 0, sizeof ring);
	assert_int_equal(ct_ring_create(&ring, &private, 3, capacity), CTRACE_OK);
	ring.head->overflow = ring.overflow = overflow;
}

/* The bytes of record `number` of `size` bytes in all can be told from those of any other. */
static UNUSED void fill_record(unsigned char *at, size_t size, uint32_t number)
{
	const struct ct_record_head head = { .component = 1, .event_id = number, .level = 1, .tid = 5, .ticks = number };
	struct ctrace_item items[9];
	static unsigned char data[CTRACE_MAX_ITEM_SIZE];
	uint32_t count = 0;
	size_t left = size - CT_RECORD_HEAD;

	memset(data, (int)(number * 7 + 1) & 0xFF, size < sizeof data ? size : sizeof data);
	while (left >= 8) {
		size_t part = left - 4 < CTRACE_MAX_ITEM_SIZE ? left - 4 : CTRACE_MAX_ITEM_SIZE - 4;

		items[count++] = CTRACE_BIN(data, part);
		left -= part + 4;
	}
	ct_record_encode(at, size, &head, items, count);
}

static UNUSED bool reserve(size_t size)
{
	unsigned char *end = __atomic_load_n(&lane.end, __ATOMIC_RELAXED);

	if (end != NULL && (uintptr_t)lane.cur + size <= (uintptr_t)end)
		return true;
	return ct_ring_open_window(&ring, &lane, size);
}

static UNUSED void commit(size_t size)
{
	lane.cur += size;
	__atomic_store_n(lane.head, (uint64_t)(uintptr_t)lane.cur + lane.bias, __ATOMIC_RELEASE);
}

static UNUSED bool produce(size_t size, uint32_t number)
{
	if (!reserve(size))
		return false;
	assert_true(lane.cur >= ring.data && lane.cur + size <= ring.data + ring.capacity);
	assert_true((size_t)(lane.end - lane.cur) <= CT_RING_WINDOW);
	fill_record(lane.cur, size, number);
	commit(size);
	return true;
}

static UNUSED void check_record(const struct ct_record *record)
{
	struct ctrace_event_item items[16];

	ct_record_items(record, items);
	for (uint32_t i = 0; i < record->item_count; i++) {
		const unsigned char *bytes = items[i].data;

		for (uint32_t at = 0; at < items[i].size; at++)
			assert_int_equal(bytes[at], (record->head.event_id * 7 + 1) & 0xFF);
	}
}

/* The next event's number; UINT32_MAX when the ring is empty. */
static UNUSED uint32_t take(void)
{
	uint64_t limit = ct_ring_head_position(&ring);

	while (place.position < limit) {
		struct ct_record record;
		enum ctrace_status status = ct_ring_peek(&ring, &place, limit, scratch, &record);

		if (status == CTRACE_NOT_FOUND)
			continue;
		assert_int_equal(status, CTRACE_OK);
		place.position += record.size;
		place.count += !record.is_padding;
		if (record.is_padding)
			continue;
		check_record(&record);
		return record.head.event_id;
	}
	return UINT32_MAX;
}

static UNUSED void consume(void)
{
	ct_ring_consume(&ring, &place);
}

#endif
