/*
 * test_ring_read.c - the consumer's half: peeking at what may be damaged or overwritten, and cursors that survive a kill at any store.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring_fixture.h"

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

static void a_new_ring_is_empty(void **state)
{
	(void)state;
	assert_true(ct_ring_is_empty(&ring));
	assert_int_equal(ct_ring_count_pending(&ring), 0);
	assert_int_equal(ct_ring_head_position(&ring), 0);
	assert_int_equal(ct_ring_lost_total(&ring), 0);
}

static void what_is_not_committed_is_not_there(void **state)
{
	(void)state;
	assert_true(reserve(64));
	fill_record(lane.cur, 64, 0);
	assert_true(ct_ring_is_empty(&ring));
	assert_int_equal(take(), UINT32_MAX);
	commit(64);
	assert_false(ct_ring_is_empty(&ring));
	assert_int_equal(ct_ring_count_pending(&ring), 1);
}

static void consuming_counts_and_wakes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		assert_true(produce(64, i));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(take(), i);
	ring.head->waiting = 1;
	consume();
	assert_int_equal(ring.head->waiting, 0);
	assert_int_equal(ring.head->consumed, 4);
	assert_int_equal(ring.head->tail, 4 * 64);
	assert_int_equal(ring.head->tail_word, 4 * 64 / 8);
	assert_int_equal(ct_ring_count_pending(&ring), 6);
	ring.head->waiting = 1;
	consume(); /* nothing moved: nobody is woken */
	assert_int_equal(ring.head->waiting, 1);
}

static void damage_is_reported_and_never_left(void **state)
{
	struct ct_record record = { .size = 4711 };
	uint16_t sizes[] = { 0, 1, 2, 9, 100, 0xFFFF };

	(void)state;
	assert_true(produce(64, 0));
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		memcpy(ring.data, &sizes[i], 2);
		assert_int_equal(ct_ring_peek(&ring, &place, ct_ring_head_position(&ring), scratch, &record), CTRACE_DAMAGED);
		assert_int_equal(place.position, 0);
		assert_int_equal(ct_ring_count_pending(&ring), 0);
	}
	assert_int_equal(record.size, 4711);
}

static void a_record_does_not_reach_over_the_limit_or_the_end_of_the_ring(void **state)
{
	struct ct_record record;

	(void)state;
	assert_true(produce(64, 0));
	assert_int_equal(ct_ring_peek(&ring, &place, 56, scratch, &record), CTRACE_DAMAGED);
	/* Near the end of the data a size that is fine elsewhere would lead out of them. */
	memmove(ring.data + CAPACITY - 32, ring.data, 32);
	place.position = CAPACITY - 32;
	assert_int_equal(ct_ring_peek(&ring, &place, 2 * CAPACITY, scratch, &record), CTRACE_DAMAGED);
}

static void overwrite_rings_are_read_from_a_copy(void **state)
{
	struct ct_record record;

	(void)state;
	ring.head->overflow = CT_OVERFLOW_OVERWRITE;
	assert_true(produce(64, 0));
	assert_int_equal(ct_ring_peek(&ring, &place, ct_ring_head_position(&ring), scratch, &record), CTRACE_OK);
	assert_true(record.descriptors >= scratch && record.data < scratch + sizeof scratch);
	memset(ring.data, 0, 64);
	check_record(&record);
}

static void a_place_that_was_overwritten_moves_to_the_oldest_with_its_counts(void **state)
{
	struct ct_record record;
	uint32_t written = 0;

	(void)state;
	ring.head->overflow = CT_OVERFLOW_OVERWRITE;
	for (; written < 10; written++)
		assert_true(produce(64, written));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(take(), i);
	for (; written < 5000; written++)
		assert_true(produce(64, written));
	assert_int_equal(ct_ring_peek(&ring, &place, ct_ring_head_position(&ring), scratch, &record), CTRACE_NOT_FOUND);
	assert_int_equal(place.position, ring.head->oldest);
	assert_int_equal(place.count, ring.head->oldest_count);
	assert_int_equal(place.overwritten, ring.head->oldest_count - 4);
	written = take();
	assert_int_equal(written, place.count - 1);
}

static void an_oldest_whose_writer_died_in_the_middle_does_not_hold_anybody_up(void **state)
{
	(void)state;
	ring.head->overflow = CT_OVERFLOW_OVERWRITE;
	for (uint32_t i = 0; i < 5000; i++)
		assert_true(produce(64, i));
	ring.head->oldest_version |= 1;
	assert_true(take() != UINT32_MAX);
	while (take() != UINT32_MAX)
		;
	assert_int_equal(place.count, 5000);
}

/* ---- cursors ---- */

static bool is_same(const struct ct_cursor_place *a, const struct ct_cursor_place *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static const struct ct_cursor_place zero;
static const struct ct_cursor_place first = { 10, 11, 12, 13, 14 };
static const struct ct_cursor_place second = { 20, 21, 22, 23, 24 };
static const struct ct_cursor_place third = { 30, 31, 32, 33, 34 };

static bool in_force(const struct ct_cursor *cursor, uint64_t sequence, const struct ct_cursor_place *expected)
{
	struct ct_cursor_place got = ct_cursor_get(cursor, sequence);

	return is_same(&got, expected);
}

static void a_prepared_place_is_in_force_from_the_publishing_on(void **state)
{
	struct ct_cursor cursor = { 0 };

	(void)state;
	assert_true(in_force(&cursor, 0, &zero));
	ct_cursor_prepare(&cursor, 0, &first);
	assert_true(in_force(&cursor, 0, &zero));
	assert_true(in_force(&cursor, 1, &first));
	assert_true(in_force(&cursor, 99, &first));
	ct_cursor_prepare(&cursor, 1, &second);
	assert_true(in_force(&cursor, 1, &first));
	assert_true(in_force(&cursor, 2, &second));
}

static void what_was_prepared_but_not_published_can_be_prepared_anew(void **state)
{
	struct ct_cursor cursor = { 0 };

	(void)state;
	ct_cursor_prepare(&cursor, 0, &first);
	ct_cursor_prepare(&cursor, 1, &second);
	ct_cursor_prepare(&cursor, 1, &third);
	assert_true(in_force(&cursor, 1, &first));
	assert_true(in_force(&cursor, 2, &third));
}

/* Every state that ct_cursor_prepare() can be killed in: its stores in order, each word by itself. */
static void a_kill_between_any_two_stores_leaves_the_place_in_force_as_it_was(void **state)
{
	const size_t words = sizeof(struct ct_cursor_place) / 8;

	(void)state;
	for (int published = 0; published < 2; published++) {
		struct ct_cursor cursor = { 0 };
		const struct ct_cursor_place *before = published ? &first : &zero;
		uint64_t sequence = (uint64_t)published;
		uint64_t *now = (uint64_t *)&cursor.now, *next = (uint64_t *)&cursor.next;

		ct_cursor_prepare(&cursor, 0, &first); /* published or not */
		for (size_t i = 0; i < words; i++) {
			now[i] = ((const uint64_t *)before)[i];
			assert_true(in_force(&cursor, sequence, before));
		}
		cursor.next_sequence = 0;
		assert_true(in_force(&cursor, sequence, before));
		for (size_t i = 0; i < words; i++) {
			next[i] = ((const uint64_t *)&second)[i];
			assert_true(in_force(&cursor, sequence, before));
		}
		cursor.next_sequence = sequence + 1;
		assert_true(in_force(&cursor, sequence, before));
		assert_true(in_force(&cursor, sequence + 1, &second));
		/* And that is what the function does. */
		{
			struct ct_cursor other = { 0 };

			ct_cursor_prepare(&other, 0, &first);
			ct_cursor_prepare(&other, sequence, &second);
			assert_memory_equal(&other, &cursor, sizeof cursor);
		}
	}
}

static void a_reset_cursor_stands_where_it_is_told_whatever_was_published(void **state)
{
	struct ct_cursor cursor = { 0 };

	(void)state;
	ct_cursor_prepare(&cursor, 4, &first);
	ct_cursor_reset(&cursor, &second);
	for (uint64_t sequence = 0; sequence < 8; sequence++)
		assert_true(in_force(&cursor, sequence, &second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_ring_is_empty, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_committed_is_not_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(consuming_counts_and_wakes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damage_is_reported_and_never_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_does_not_reach_over_the_limit_or_the_end_of_the_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(overwrite_rings_are_read_from_a_copy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_place_that_was_overwritten_moves_to_the_oldest_with_its_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_oldest_whose_writer_died_in_the_middle_does_not_hold_anybody_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_prepared_place_is_in_force_from_the_publishing_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_prepared_but_not_published_can_be_prepared_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kill_between_any_two_stores_leaves_the_place_in_force_as_it_was, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_reset_cursor_stands_where_it_is_told_whatever_was_published, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
