/*
 * ring_fixture.h - a ring with a producer's thread buffer, numbered events of any size, and a
 * consumer that checks them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_RING_FIXTURE_H
#define CT_RING_FIXTURE_H

#include "own_ring.h"
#include "../session/session_fixture.h"
#include "lib/ring/ring.h"

#define EVENT_LEAST 24u /* bytes of an event of the fixture */

static struct ct_ring ring;
static struct ctrace_thread_buffer thread_buffer;
static struct ct_cursor_place place; /* the consumer's */
static struct ct_buf scratch;
static const struct ct_class_image classes; /* none: the events say themselves what they are */

/* A ring in memory, of a session in memory. */
static UNUSED void make_ring(size_t capacity, uint32_t overflow)
{
	struct ct_session private = { .directory_fd = -1, .file_fd = -1 };

	memset(&thread_buffer, 0, sizeof thread_buffer);
	memset(&place, 0, sizeof place);
	memset(&ring, 0, sizeof ring);
	assert_int_equal(own_ring_create(&ring, &private, 3, capacity), CTRACE_OK);
	ring.head->overflow = ring.overflow = overflow;
	ring.head->is_imported = 1; /* the times are the fixture's own */
}

/* The bytes of event `number` of `size` bytes in all can be told from those of any other. */
static UNUSED void fill_event(unsigned char *at, size_t size, uint32_t number)
{
	const struct ct_event_head head = { .component = 1, .event_id = number, .level = 1 };
	struct ctrace_item items[80];
	static unsigned char data[CTRACE_MAX_ITEM_SIZE];
	uint32_t count = 0;
	size_t left = size - (EVENT_LEAST - 5);

	memset(data, (int)(number * 7 + 1) & 0xFF, size < sizeof data ? size : sizeof data);
	while (left >= 5) {
		size_t part =
			left - 5 <= CTRACE_MAX_ITEM_SIZE ? left - 5 : CTRACE_MAX_ITEM_SIZE - 5;

		items[count++] = CTRACE_BIN(data, part);
		left -= part + 5;
	}
	assert_int_equal(ct_event_size(CT_CLASS_ANY, items, count), size);
	ct_event_encode(at, CT_CLASS_ANY, number, &head, items, count);
}

static UNUSED bool reserve(size_t size)
{
	unsigned char *end = __atomic_load_n(&thread_buffer.end, __ATOMIC_RELAXED);

	if (end != NULL && (uintptr_t)thread_buffer.cur + size <= (uintptr_t)end)
		return true;
	return ct_ring_open_window(&ring, &thread_buffer, &classes, 5, size);
}

static UNUSED void commit(size_t size)
{
	thread_buffer.cur += size;
	__atomic_store_n(thread_buffer.head,
			 (uint64_t)(uintptr_t)thread_buffer.cur + thread_buffer.bias,
			 __ATOMIC_RELEASE);
}

static UNUSED bool produce(size_t size, uint32_t number)
{
	if (!reserve(size))
		return false;
	assert_true(thread_buffer.cur >= ring.data &&
		    thread_buffer.cur + size <= ring.data + 2 * ring.capacity);
	assert_true((size_t)(thread_buffer.end - thread_buffer.cur) <=
		    (size > CT_RING_WINDOW ? size : CT_RING_WINDOW));
	fill_event(thread_buffer.cur, size, number);
	commit(size);
	return true;
}

static UNUSED void check_event(const struct ct_event *event)
{
	struct ctrace_event_item items[80];

	assert_int_equal(event->tid, 5);
	assert_int_equal(event->ticks, event->head.event_id);
	ct_event_items(event, items);
	for (uint32_t i = 0; i < event->item_count; i++) {
		const unsigned char *bytes = items[i].data;

		for (uint32_t at = 0; at < items[i].size; at++)
			assert_int_equal(bytes[at], (event->head.event_id * 7 + 1) & 0xFF);
	}
}

static UNUSED enum ctrace_status peek(uint64_t limit, struct ct_event *out)
{
	ct_buf_clear(&scratch);
	return ct_ring_peek(&ring, &classes, &place, limit, &scratch, out);
}

/* The next event's number; UINT32_MAX when the ring is empty. */
static UNUSED uint32_t take(void)
{
	uint64_t limit = ct_ring_head_position(&ring);

	while (place.position < limit) {
		struct ct_event event;
		enum ctrace_status status = peek(limit, &event);

		if (status == CTRACE_NOT_FOUND)
			continue;
		assert_int_equal(status, CTRACE_OK);
		ct_ring_pass(&place, &event);
		if (event.is_mark)
			continue;
		check_event(&event);
		return event.head.event_id;
	}
	return UINT32_MAX;
}

static UNUSED void consume(void)
{
	ct_ring_consume(&ring, &place);
}

#endif
