/*
 * test_ring_stress.c - a producer and a consumer of one ring, as fast as both can: under each
 * policy every event is delivered or counted, in order and whole.
 *
 * Built with -fsanitize=thread too (scripts/faults.sh and by hand).  CTRACE_TEST_LONG=1 makes it
 * fifty times as long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "own_ring.h"
#include "lib/ring/ring.h"

#define CAPACITY CT_RING_MIN
#define NEVER 60000000000u /* ns: a lost wake-up would show as a wait that ends by time */

static struct ct_ring ring;
static struct ctrace_thread_buffer thread_buffer;
static uint32_t finished; /* atomic: the producer has written all */

struct tally {
	uint64_t emitted;
	uint64_t lost; /* by the producer */
	uint64_t taken;
	uint64_t timeouts;
	uint64_t disorder;
	uint64_t torn;
	uint64_t damaged;
	struct ct_cursor_place place;
};
static struct tally tally;

static uint64_t rounds(void)
{
	return getenv("CTRACE_TEST_LONG") != NULL ? 20000000 : 400000;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#define EVENT_LEAST 24u
static const struct ct_class_image classes; /* none: the events say themselves what they are */

/* Every word of an event's data is its number. */
static void fill(unsigned char *at, size_t size, uint64_t number)
{
	const struct ct_event_head head = { .component = 1,
					    .event_id = (uint32_t)number,
					    .level = 1 };
	static uint32_t data[CTRACE_MAX_ITEM_SIZE / 4];
	const struct ctrace_item item = CTRACE_BIN(data, size - EVENT_LEAST);

	for (size_t i = 0; i < (size - EVENT_LEAST) / 4; i++)
		data[i] = (uint32_t)number;
	ct_event_encode(at, CT_CLASS_ANY, number, &head, &item, 1);
}

static bool is_whole(const struct ct_event *event)
{
	struct ctrace_event_item item;

	if (event->item_count != 1 || event->head.event_id != (uint32_t)event->ticks ||
	    event->tid != 5)
		return false;
	ct_event_items(event, &item);
	for (size_t i = 0; i + 4 <= item.size; i += 4) {
		uint32_t word;

		memcpy(&word, (const char *)item.data + i, 4);
		if (word != event->head.event_id)
			return false;
	}
	return true;
}

static bool has_room(size_t size)
{
	return (uintptr_t)thread_buffer.cur + size <=
	       (uintptr_t)__atomic_load_n(&thread_buffer.end, __ATOMIC_RELAXED);
}

/* One event under the ring's policy, as lib/trace/trace.c does it. */
static void emit(size_t size, uint64_t number)
{
	while (!has_room(size)) {
		uint64_t tail = __atomic_load_n(&ring.head->tail, __ATOMIC_ACQUIRE);

		if (ct_ring_open_window(&ring, &thread_buffer, &classes, 5, size))
			break;
		if (ring.head->overflow == CT_OVERFLOW_DISCARD) {
			ct_ring_count_lost(&ring, CTRACE_LOSS_DISCARDED, 0);
			tally.lost++;
			return;
		}
		tally.timeouts += !ct_ring_wait_for_space(&ring, tail, NEVER);
	}
	fill(thread_buffer.cur, size, number);
	thread_buffer.cur += size;
	__atomic_store_n(thread_buffer.head,
			 (uint64_t)(uintptr_t)thread_buffer.cur + thread_buffer.bias,
			 __ATOMIC_RELEASE);
}

static void *produce(void *argument)
{
	uint64_t seed = 88172645463325252u;

	(void)argument;
	for (uint64_t number = 1; number <= rounds(); number++) {
		uint64_t random = next_random(&seed);

		emit(EVENT_LEAST + 16 + 8 * (random % (number % 512 == 0 ? CAPACITY / 32 : 16)),
		     number);
		tally.emitted++;
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void take_up_to(uint64_t limit, uint64_t *last)
{
	static struct ct_buf scratch;

	while (tally.place.position < limit) {
		struct ct_event event;
		enum ctrace_status status;

		ct_buf_clear(&scratch);
		status = ct_ring_peek(&ring, &classes, &tally.place, limit, &scratch, &event);
		if (status == CTRACE_NOT_FOUND)
			continue;
		if (status != CTRACE_OK) {
			tally.damaged++;
			return;
		}
		ct_ring_pass(&tally.place, &event);
		if (event.is_mark)
			continue;
		tally.torn += !is_whole(&event);
		tally.disorder += event.ticks <= *last;
		*last = event.ticks;
		tally.taken++;
	}
}

/* Consumes in bulk, as the consumer thread does; now and then it closes the producer's window under
 * its feet. */
static void consume(void)
{
	uint64_t last = 0, seed = 362436069;

	for (;;) {
		bool is_last = __atomic_load_n(&finished, __ATOMIC_ACQUIRE) != 0;

		take_up_to(ct_ring_head_position(&ring), &last);
		ct_ring_consume(&ring, &tally.place);
		if (is_last || tally.damaged != 0)
			return;
		if (next_random(&seed) % 8 == 0)
			ct_ring_close_window(&thread_buffer);
	}
}

static void run(uint32_t overflow)
{
	struct ct_session private = { .directory_fd = -1, .file_fd = -1 };
	pthread_t producer;

	memset(&tally, 0, sizeof tally);
	memset(&thread_buffer, 0, sizeof thread_buffer);
	memset(&ring, 0, sizeof ring);
	finished = 0;
	assert_int_equal(own_ring_create(&ring, &private, 0, CAPACITY), CTRACE_OK);
	ring.head->overflow = ring.overflow = overflow;
	ring.head->is_imported = 1; /* the times are numbers */
	assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
	consume();
	assert_int_equal(pthread_join(producer, NULL), 0);
	assert_int_equal(tally.damaged, 0);
	assert_int_equal(tally.torn, 0);
	assert_int_equal(tally.disorder, 0);
	assert_int_equal(tally.emitted, rounds());
	assert_true(ct_ring_is_empty(&ring));
	assert_int_equal(ring.head->consumed, tally.place.count);
	assert_int_equal(tally.taken + tally.lost + tally.place.overwritten, tally.emitted);
	ct_ring_close(&ring);
}

static void under_block_every_event_is_delivered_and_no_wait_is_in_vain(void **state)
{
	(void)state;
	run(CT_OVERFLOW_BLOCK);
	assert_int_equal(tally.taken, tally.emitted);
	assert_int_equal(tally.timeouts, 0);
}

static void under_discard_each_event_is_delivered_or_counted(void **state)
{
	(void)state;
	run(CT_OVERFLOW_DISCARD);
	assert_int_equal(tally.place.overwritten, 0);
}

static void under_overwrite_each_event_is_delivered_or_counted(void **state)
{
	(void)state;
	run(CT_OVERFLOW_OVERWRITE);
	assert_int_equal(tally.lost, 0);
	assert_true(tally.taken > 0);
}

int test_ring_stress(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(under_block_every_event_is_delivered_and_no_wait_is_in_vain),
		cmocka_unit_test(under_discard_each_event_is_delivered_or_counted),
		cmocka_unit_test(under_overwrite_each_event_is_delivered_or_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
