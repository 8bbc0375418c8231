/*
 * test_ring_write.c - the producer's half: windows, refusing, overwriting.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring_fixture.h"

#include "../base/still_clock_fixture.h"

#include <pthread.h>
#include <sched.h>

#define CAPACITY ((size_t)64 << 10)

static int set_up(void **state)
{
	(void)state;
	make_ring(CAPACITY, CT_OVERFLOW_DISCARD);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_ring_close(&ring);
	return 0;
}

static void a_ring_is_filled_to_its_last_byte_and_not_beyond(void **state)
{
	uint32_t written = 0;

	(void)state;
	while (produce(32, written))
		written++;
	assert_int_equal(ring.head->head, ring.head->anchor_count * CT_EVENT_MARK + written * 32);
	assert_true(ring.head->head <= CAPACITY && CAPACITY - ring.head->head < CT_EVENT_MARK + 32);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), written);
	for (uint32_t i = 0; i < written; i++)
		assert_int_equal(take(), i);
	assert_int_equal(take(), UINT32_MAX);
	assert_false(produce(32, 0)); /* taken, but not given back */
	consume();
	assert_true(produce(32, written));
	assert_int_equal(take(), written);
}

static void every_size_wraps_round_at_every_place(void **state)
{
	uint32_t number = 0, expected = 0;
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int round = 0; round < 60000; round++) {
		size_t size;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		size = EVENT_LEAST +
		       (seed % (round % 16 == 0 ? CAPACITY / 2 - EVENT_LEAST - 64 : 240));
		while (!produce(size, number)) {
			uint32_t next = take();

			if (next != UINT32_MAX) {
				assert_int_equal(next, expected);
				expected++;
			}
			if ((seed & 0xF0) != 0 || next == UINT32_MAX)
				consume();
		}
		number++;
	}
	consume();
	while (take() != UINT32_MAX)
		expected++;
	assert_int_equal(expected, number);
	assert_int_equal(place.count, number);
	assert_int_equal(place.position, ring.head->head);
}

static void half_the_ring_is_the_largest_event_wherever_the_head_stands(void **state)
{
	(void)state;
	assert_false(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, CAPACITY / 2 + 1));
	assert_false(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, SIZE_MAX));
	for (uint32_t number = 0; number < 3 * CAPACITY / 1000; number++) {
		/* A little step, then the largest: an empty ring always has room for it. */
		assert_true(produce(1000, 2 * number));
		assert_int_equal(take(), 2 * number);
		consume();
		assert_true(produce(CAPACITY / 2, 2 * number + 1));
		assert_int_equal(take(), 2 * number + 1);
		consume();
	}
}

/* Whoever begins to read at a window knows the time and the thread from its mark. */
static void each_window_begins_with_a_mark_that_can_be_found(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3 * CT_RING_ANCHORS; i++) {
		uint64_t anchor = ring.head->head;
		struct ct_event_state now = { 0 };
		struct ct_event event;

		assert_true(ct_ring_open_window(&ring, &thread_buffer, &classes, 100 + i, 64));
		assert_int_equal(ring.head->anchor_count, i + 1);
		assert_int_equal(ring.head->anchors[i % CT_RING_ANCHORS], anchor);
		assert_int_equal(
			ct_event_decode(&classes, ring.data + anchor, CT_EVENT_MARK, &now, &event),
			CTRACE_OK);
		assert_true(event.is_mark);
		assert_int_equal(now.tid, 100 + i);
		/* the mark is there, no event yet */
		assert_int_equal(ring.head->head, anchor + CT_EVENT_MARK);
		fill_event(thread_buffer.cur, 64, i);
		commit(64);
		ct_ring_close_window(&thread_buffer);
	}
}

static void a_full_ring_refuses_without_publishing_anything(void **state)
{
	uint64_t head;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_true(produce(CAPACITY / 4, i));
	assert_true(produce(CAPACITY / 4 - 4 * CT_EVENT_MARK - 820, 3));
	head = ring.head->head;
	assert_false(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, 1600));
	assert_int_equal(ring.head->head, head);
	ct_ring_close_window(&thread_buffer);
	assert_true(produce(800, 4));
	assert_int_equal(ring.head->head, CAPACITY);
}

static void a_window_is_no_larger_than_it_has_to_be(void **state)
{
	const size_t large = ((size_t)4 << 20) / 2;

	(void)state;
	ct_ring_close(&ring);
	make_ring((size_t)4 << 20, CT_OVERFLOW_DISCARD);
	assert_true(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, 32));
	assert_int_equal(thread_buffer.end - thread_buffer.cur, CT_RING_WINDOW);
	assert_true(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, large));
	assert_int_equal(thread_buffer.end - thread_buffer.cur, large);
}

static void a_closed_window_sends_the_next_event_the_slow_way(void **state)
{
	(void)state;
	assert_true(produce(64, 0));
	ct_ring_close_window(&thread_buffer);
	assert_null(thread_buffer.end);
	assert_true(produce(64, 1)); /* goes on where it stood */
	assert_int_equal(take(), 0);
	assert_int_equal(take(), 1);
}

static void a_new_owner_goes_on_behind_the_last_one(void **state)
{
	(void)state;
	assert_true(produce(64, 0));
	memset(&thread_buffer, 0, sizeof thread_buffer);
	assert_true(produce(64, 1));
	assert_int_equal(take(), 0);
	assert_int_equal(take(), 1);
	assert_int_equal(take(), UINT32_MAX);
}

static void a_tail_that_cannot_be_frees_nothing(void **state)
{
	static const uint64_t tails[] = { 172, 1ull << 63, CAPACITY * 9 };

	(void)state;
	assert_true(produce(64, 0));
	for (size_t i = 0; i < CT_COUNT(tails); i++) {
		ring.head->tail = tails[i];
		assert_false(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, 64));
	}
}

/* What ct_ring_fits() says comes true, and costs no event. */
static void what_fits_is_known_before(void **state)
{
	static const uint32_t policies[] = { CT_OVERFLOW_DISCARD, CT_OVERFLOW_OVERWRITE };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(policies); i++) {
		uint32_t written = 0;

		ct_ring_close(&ring);
		make_ring(CAPACITY, policies[i]);
		while (written < CAPACITY / 100 && ct_ring_fits(&ring, &thread_buffer, 200)) {
			assert_true(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, 200));
			assert_true(produce(200, written++));
		}
		assert_int_equal(ring.head->oldest, 0);
		assert_in_range(written, CAPACITY / 220 * 7 / 8, CAPACITY / 220 + 1);
		assert_int_equal(ct_ring_open_window(&ring, &thread_buffer, &classes, 5, 200),
				 policies[i] == CT_OVERFLOW_OVERWRITE);
		assert_false(ct_ring_fits(&ring, &thread_buffer, CAPACITY / 2 + 8));
	}
}

static void overwriting_never_refuses_and_counts_each_event_that_goes(void **state)
{
	uint32_t written = 0, taken = 0, last = UINT32_MAX;
	uint64_t seed = 1;

	(void)state;
	ct_ring_close(&ring);
	make_ring(CAPACITY, CT_OVERFLOW_OVERWRITE);
	for (int round = 0; round < 30000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		assert_true(produce(
			EVENT_LEAST +
				(seed >> 33) % (round % 50 == 0 ? CAPACITY / 2 - EVENT_LEAST : 400),
			written));
		written++;
		if (round % 97 == 0) {
			uint32_t number = take();

			assert_true(number != UINT32_MAX && (last == UINT32_MAX || number > last));
			last = number;
			taken++;
		}
	}
	for (uint32_t number; (number = take()) != UINT32_MAX; taken++) {
		assert_true(number > last);
		last = number;
	}
	assert_int_equal(last, written - 1); /* the newest is there */
	assert_int_equal(place.count, written);
	assert_int_equal(taken + place.overwritten, written);
	assert_true(place.overwritten > 0);
}

static void overwriting_keeps_nearly_a_whole_ring_of_history(void **state)
{
	uint32_t kept = 0;

	(void)state;
	ct_ring_close(&ring);
	make_ring(CAPACITY, CT_OVERFLOW_OVERWRITE);
	for (uint32_t i = 0; i < 10 * CAPACITY / 64; i++)
		assert_true(produce(64, i));
	while (take() != UINT32_MAX)
		kept++;
	assert_true(kept >= CAPACITY / 64 * 7 / 8);
	assert_int_equal(ct_ring_count_overwritten(&ring) + ct_ring_count_pending(&ring, &classes),
			 10 * CAPACITY / 64);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), kept);
}

static void losses_are_counted_by_reason(void **state)
{
	(void)state;
	for (int reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		for (int i = 0; i <= reason; i++)
			ct_ring_count_lost(&ring, (enum ctrace_loss)reason, i == 0 ? 5 : 4);
	for (int reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		assert_int_equal(ring.head->lost[reason], reason + 1);
	assert_int_equal(ring.head->lost_to[0], CTRACE_LOSS_COUNT);
	assert_int_equal(ring.head->lost_to[1], 0);
	assert_int_equal(ring.head->lost_to[2], CTRACE_LOSS_COUNT * (CTRACE_LOSS_COUNT + 1) / 2);
	ring.head->overwritten = 100;
	assert_int_equal(ct_ring_lost_total(&ring),
			 CTRACE_LOSS_COUNT * (CTRACE_LOSS_COUNT + 1) / 2 + 100);
}

static void waiting_ends_at_once_when_the_consumer_has_moved_meanwhile(void **state)
{
	(void)state;
	assert_true(produce(64, 0));
	assert_int_equal(take(), 0);
	consume();
	assert_true(ct_ring_wait_for_space(&ring, 0, UINT64_MAX));
}

static void waiting_ends_when_the_time_is_over(void **state)
{
	uint64_t start = ct_clock_mono_ns();

	(void)state;
	assert_false(ct_ring_wait_for_space(&ring, 0, 0));
	assert_false(ct_ring_wait_for_space(&ring, 0, 2000000));
	assert_true(ct_clock_mono_ns() - start >= 2000000);
}

static void waiting_ends_although_the_clock_stands_still(void **state)
{
	(void)state;
	clock_stop();
	assert_false(ct_ring_wait_for_space(&ring, 0, 2000000));
	clock_go();
}

static void a_wait_that_a_handler_has_left_ends_at_the_next_window(void **state)
{
	(void)state;
	ring.head->waiting = 1; /* siglongjmp() */
	assert_true(produce(64, 0));
	assert_int_equal(ring.head->waiting, 0);
}

#define ROUNDS 100000u
#define NEVER 60000000000u /* ns: stops what hangs */

static void spin(uint32_t turns)
{
	if (turns % 4096 == 0) /* on one processor */
		(void)sched_yield();
}

/* At the moments when the producer begins to wait. */
static void *consume_sooner_or_later(void *unused)
{
	uint32_t seed = 2463534242u;

	(void)unused;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (uint32_t turns = 1; take() == UINT32_MAX; turns++)
			spin(turns);
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
		for (uint32_t turns = 1;
		     __atomic_load_n(&ring.head->waiting, __ATOMIC_RELAXED) == 0; turns++)
			spin(turns);
		for (uint32_t turns = seed % 64; turns > 0; turns--)
			(void)__atomic_load_n(&ring.head->waiting, __ATOMIC_RELAXED);
		consume();
	}
	return NULL;
}

static void a_waiting_producer_is_woken_each_time(void **state)
{
	pthread_t consumer;
	uint32_t in_vain = 0;

	(void)state;
	assert_int_equal(pthread_create(&consumer, NULL, consume_sooner_or_later, NULL), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t tail = __atomic_load_n(&ring.head->tail, __ATOMIC_ACQUIRE);

		in_vain += !produce(64, i);
		in_vain += !ct_ring_wait_for_space(&ring, tail, NEVER);
	}
	assert_int_equal(pthread_join(consumer, NULL), 0);
	assert_int_equal(in_vain, 0);
	assert_int_equal(ring.head->waiting, 0);
}

int test_ring_write(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_ring_is_filled_to_its_last_byte_and_not_beyond,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_size_wraps_round_at_every_place, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			half_the_ring_is_the_largest_event_wherever_the_head_stands, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(each_window_begins_with_a_mark_that_can_be_found,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_ring_refuses_without_publishing_anything,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_window_is_no_larger_than_it_has_to_be, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_closed_window_sends_the_next_event_the_slow_way,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_owner_goes_on_behind_the_last_one, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_tail_that_cannot_be_frees_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_fits_is_known_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			overwriting_never_refuses_and_counts_each_event_that_goes, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(overwriting_keeps_nearly_a_whole_ring_of_history,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(losses_are_counted_by_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			waiting_ends_at_once_when_the_consumer_has_moved_meanwhile, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(waiting_ends_when_the_time_is_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(waiting_ends_although_the_clock_stands_still,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_wait_that_a_handler_has_left_ends_at_the_next_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_waiting_producer_is_woken_each_time, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
