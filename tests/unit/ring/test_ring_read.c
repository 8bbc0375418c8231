/*
 * test_ring_read.c - the consumer's half: peeking at what may be damaged or overwritten, and
 * cursors that survive a kill at any instruction.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

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
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 0);
	assert_int_equal(ct_ring_head_position(&ring), 0);
	assert_int_equal(ct_ring_lost_total(&ring), 0);
}

static void what_is_not_committed_is_not_there(void **state)
{
	(void)state;
	assert_true(reserve(64));
	fill_event(thread_buffer.cur, 64, 0);
	/* the window's mark is there */
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 0);
	assert_int_equal(take(), UINT32_MAX);
	commit(64);
	assert_false(ct_ring_is_empty(&ring));
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 1);
}

static void consuming_counts_and_wakes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		assert_true(produce(64, i));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(take(), i);
	consume();
	assert_false(ring.owes_wake);
	assert_int_equal(ring.head->consumed, 4);
	assert_int_equal(ring.head->tail, CT_EVENT_MARK + 4 * 64);
	assert_int_equal(ring.head->tail_word, 1);
	assert_int_equal(ct_ring_tail_state(ring.head).tid, 5);
	assert_int_equal(ct_ring_tail_state(ring.head).ticks, 3);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 6);
	consume(); /* nothing moved */
	assert_int_equal(ring.head->tail_word, 1);
}

static void a_producer_that_waits_wakes_when_a_quarter_is_free(void **state)
{
	uint32_t written = 0, taken = 0;

	(void)state;
	while (produce(64, written))
		written++;
	do {
		assert_int_equal(take(), taken++);
		consume();
	} while (ring.owes_wake);
	/* and the marks of some windows */
	assert_in_range(taken, CAPACITY / 4 / 64 - 5, CAPACITY / 4 / 64);
	assert_true(produce(64, written++));
	/* Less is free: it wakes when nothing more comes. */
	while (produce(64, written))
		written++;
	assert_int_equal(take(), taken);
	consume();
	assert_true(ring.owes_wake);
	ct_ring_wake(&ring);
	assert_false(ring.owes_wake);
}

static void damage_is_reported_and_never_left(void **state)
{
	struct ct_event event = { .size = 4711 };
	uint16_t numbers[] = { 0, 3, 15, 16, 100, 0xFFFF };

	(void)state;
	assert_true(produce(64, 0));
	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		memcpy(ring.data, &numbers[i], 2);
		assert_int_equal(peek(ct_ring_head_position(&ring), &event), CTRACE_DAMAGED);
		assert_int_equal(place.position, 0);
		assert_int_equal(ct_ring_count_pending(&ring, &classes), 0);
	}
	assert_int_equal(event.size, 4711);
}

static void an_event_does_not_reach_over_the_limit(void **state)
{
	struct ct_event event;

	(void)state;
	assert_true(produce(64, 0));
	assert_int_equal(peek(CT_EVENT_MARK - 1, &event), CTRACE_DAMAGED);
	assert_int_equal(peek(CT_EVENT_MARK, &event), CTRACE_OK);
	ct_ring_pass(&place, &event);
	assert_int_equal(peek(CT_EVENT_MARK + 63, &event), CTRACE_DAMAGED);
	assert_int_equal(peek(CT_EVENT_MARK + 64, &event), CTRACE_OK);
}

/* Whatever place in the ring an event begins at, it is in one piece. */
static void an_event_may_go_round_the_end(void **state)
{
	uint32_t number = 0;

	(void)state;
	while (ring.head->head < 3 * CAPACITY) {
		assert_true(produce(1001, number));
		assert_int_equal(take(), number);
		consume();
		number++;
	}
}

/* A ring with nothing behind the second mapping of its data: the first byte past them is no memory.
 */
static void make_ring_at_the_edge(uint32_t overflow)
{
	size_t size = CT_RING_HEAD_SIZE + 2 * CAPACITY;
	unsigned char *address = mmap(NULL, size + CT_RING_HEAD_SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(address != MAP_FAILED);
	assert_int_equal(mprotect(address + size, CT_RING_HEAD_SIZE, PROT_NONE), 0);
	memset(&place, 0, sizeof place);
	ring = (struct ct_ring){ .head = (struct ct_ring_head *)(void *)address,
				 .data = address + CT_RING_HEAD_SIZE,
				 .capacity = CAPACITY,
				 .overflow = overflow,
				 .fd = -1,
				 .is_mapped = true };
	ring.head->overflow = overflow;
}

static void drop_ring_at_the_edge(void)
{
	assert_int_equal(munmap(ring.head, 2 * CT_RING_HEAD_SIZE + 2 * CAPACITY), 0);
	memset(&ring, 0, sizeof ring);
	ring.fd = -1;
}

static void a_place_beside_events_is_damage(void **state)
{
	static const uint32_t policies[] = { CT_OVERFLOW_DISCARD, CT_OVERFLOW_OVERWRITE };
	struct ct_event event;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(policies); i++) {
		make_ring_at_the_edge(policies[i]);
		for (uint64_t position = CAPACITY - 16; position < CAPACITY; position++) {
			place.position = position;
			assert_int_equal(peek(CAPACITY, &event), CTRACE_DAMAGED);
			assert_int_equal(place.position, position);
			ring.head->head = CAPACITY;
			ring.head->tail = position;
			assert_int_equal(ct_ring_count_pending(&ring, &classes), 0);
			/* The same place, of an oldest that is none. */
			if (policies[i] != CT_OVERFLOW_OVERWRITE)
				continue;
			place.position = 0;
			ring.head->oldest = position;
			assert_int_equal(peek(CAPACITY, &event), CTRACE_NOT_FOUND);
			assert_int_equal(place.position, position);
			assert_int_equal(peek(CAPACITY, &event), CTRACE_DAMAGED);
		}
		drop_ring_at_the_edge();
	}
}

/* A head that is further from the tail than the ring is long would have the same events read
 * without end. */
static void a_walk_is_no_longer_than_the_ring(void **state)
{
	static const uint32_t policies[] = { CT_OVERFLOW_DISCARD, CT_OVERFLOW_OVERWRITE };
	struct ct_event event;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(policies); i++) {
		make_ring_at_the_edge(policies[i]);
		for (size_t at = 0; at + CT_EVENT_MARK <= 2 * CAPACITY; at += CT_EVENT_MARK)
			ct_event_encode_mark(ring.data + at, 0, 5);
		ring.head->head = (uint64_t)1 << 62;
		(void)alarm(60);
		assert_int_equal(ct_ring_count_pending(&ring, &classes), 0);
		(void)alarm(0);
		assert_int_equal(peek(ring.head->head, &event), CTRACE_DAMAGED);
		assert_int_equal(peek(CAPACITY + 1, &event), CTRACE_DAMAGED);
		assert_int_equal(peek(CAPACITY, &event), CTRACE_OK);
		drop_ring_at_the_edge();
	}
}

/* Another process may write into the head what it likes; the ring goes on as what it was when it
 * was mapped. */
static void constants_are_taken_once(void **state)
{
	struct ct_event event;

	(void)state;
	assert_true(produce(64, 0));
	memset(ring.head, 0xFF, offsetof(struct ct_ring_head, head));
	assert_int_equal(peek(ct_ring_head_position(&ring), &event), CTRACE_OK);
	assert_true(event.data >= ring.data && event.data < ring.data + CAPACITY);
	ring.head->overflow = CT_OVERFLOW_OVERWRITE;
	ring.head->oldest = 4711;
	assert_int_equal(peek(ct_ring_head_position(&ring), &event), CTRACE_OK);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 1);
	assert_int_equal(ct_ring_count_overwritten(&ring), 0);
}

static void overwrite_rings_are_read_from_a_copy(void **state)
{
	struct ct_event event;

	(void)state;
	ring.head->overflow = ring.overflow = CT_OVERFLOW_OVERWRITE;
	assert_true(produce(64, 0));
	assert_int_equal(peek(ct_ring_head_position(&ring), &event), CTRACE_OK);
	assert_true(event.is_mark);
	ct_ring_pass(&place, &event);
	assert_int_equal(peek(ct_ring_head_position(&ring), &event), CTRACE_OK);
	assert_true(event.data >= (unsigned char *)scratch.data &&
		    event.data < (unsigned char *)scratch.data + 64);
	memset(ring.data, 0, 128);
	check_event(&event);
}

static void a_place_that_was_overwritten_moves_to_the_oldest_with_its_counts(void **state)
{
	struct ct_event event;
	uint32_t written = 0;

	(void)state;
	ring.head->overflow = ring.overflow = CT_OVERFLOW_OVERWRITE;
	for (; written < 10; written++)
		assert_true(produce(64, written));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(take(), i);
	for (; written < 5000; written++)
		assert_true(produce(64, written));
	assert_int_equal(peek(ct_ring_head_position(&ring), &event), CTRACE_NOT_FOUND);
	assert_int_equal(place.position, ring.head->oldest);
	assert_int_equal(place.count, ring.head->oldest_count);
	assert_int_equal(place.overwritten, ring.head->oldest_count - 4);
	written = take();
	assert_int_equal(written, place.count - 1);
}

/* A reader that frees nothing: it gets what is there, and its counts say what it has missed. */
static void a_reader_beside_the_consumer(void **state)
{
	struct ct_cursor_place aside = { .position = 0 };
	uint32_t written = 0;
	size_t size;

	(void)state;
	for (; written < 10; written++)
		assert_true(produce(64, written));
	size = ct_ring_copy_aside(&ring, &aside, ct_ring_head_position(&ring), CAPACITY, &scratch);
	assert_int_equal(size, ct_ring_head_position(&ring));
	assert_memory_equal(scratch.data, ring.data, size);
	assert_int_equal(
		ct_ring_copy_aside(&ring, &aside, ct_ring_head_position(&ring), 50, &scratch), 50);
	/* The consumer takes and frees; what is not overwritten yet can still be read. */
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(take(), i);
	ct_ring_consume(&ring, &place);
	for (; written < 5000; written++) {
		assert_true(produce(64, written));
		assert_int_equal(take(), written);
		ct_ring_consume(&ring, &place);
	}
	assert_int_equal(
		ct_ring_copy_aside(&ring, &aside, ct_ring_head_position(&ring), CAPACITY, &scratch),
		0);
	assert_int_equal(aside.position, ring.head->tail);
	assert_int_equal(aside.count, 5000);
	assert_int_equal(aside.overwritten, 5000);
}

static void an_oldest_whose_writer_died_in_the_middle_does_not_hold_anybody_up(void **state)
{
	(void)state;
	ring.head->overflow = ring.overflow = CT_OVERFLOW_OVERWRITE;
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
static const struct ct_cursor_place first = { 8, 11, 12, 13, 14, 15, 16, { 17, 18, 0 } };
static const struct ct_cursor_place second = { 16, 21, 22, 23, 24, 25, 26, { 27, 28, 0 } };
static const struct ct_cursor_place third = { 24, 31, 32, 33, 34, 35, 36, { 37, 38, 0 } };

static bool in_force(const struct ct_cursor *cursor, uint64_t sequence,
		     const struct ct_cursor_place *expected)
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

/* Every state that ct_cursor_prepare() can be killed in: its stores in order, each word by itself.
 */
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

static void a_reset_cursor_stands_where_it_is_reported_whatever_was_published(void **state)
{
	struct ct_cursor cursor = { 0 };

	(void)state;
	for (uint64_t prepared = 0; prepared < 8; prepared++) {
		ct_cursor_prepare(&cursor, prepared, &first);
		ct_cursor_reset(&cursor, 4, &second);
		for (uint64_t sequence = 4; sequence < 12; sequence++)
			assert_true(in_force(&cursor, sequence, &second));
	}
	ct_cursor_prepare(&cursor, 0, &first);
	ct_cursor_reset(&cursor, 0, &third);
	for (uint64_t sequence = 0; sequence < 12; sequence++)
		assert_true(in_force(&cursor, sequence, &third));
}

/* ---- a kill after each instruction, seen from outside ---- */

struct change {
	struct ct_cursor cursor;
	uint64_t sequence; /* published */
	bool is_reset;
};

static void change_cursor(struct change *change)
{
	if (change->is_reset)
		ct_cursor_reset(&change->cursor, change->sequence, &third);
	else
		ct_cursor_prepare(&change->cursor, change->sequence, &third);
}

/* Steps a child through the change; after each instruction the place in force is `before` or, when
 * it is a reset, the new one: whole, where something was published, else at least its position.
 * Gives how many steps it took. */
static unsigned step_through(struct change *change, const struct ct_cursor_place *before)
{
	struct change was = *change;
	unsigned steps = 0;
	int how;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
			_exit(1);
		change_cursor(change);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &how, 0), pid);
	while (WIFSTOPPED(how)) {
		struct ct_cursor_place got = ct_cursor_get(&change->cursor, change->sequence);
		bool is_old = was.sequence != 0 ? is_same(&got, before)
						: got.position == before->position;

		if (!is_old && !(change->is_reset && is_same(&got, &third)))
			fail_msg("after %u steps it stands at %llu, offset %llu", steps,
				 (unsigned long long)got.position, (unsigned long long)got.offset);
		if (change->is_reset && was.sequence == 0 && got.position == third.position)
			assert_true(is_same(&got, &third));
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &how, 0), pid);
		steps++;
	}
	assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	return steps;
}

static void a_kill_at_any_instruction_leaves_the_old_place_or_the_new_one(void **state)
{
	struct change *change = mmap(NULL, sizeof *change, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(change != MAP_FAILED);
	for (int is_reset = 0; is_reset < 2; is_reset++) {
		/* Published: `next` is in force, and `now` is older. */
		*change = (struct change){ .sequence = 2, .is_reset = is_reset != 0 };
		ct_cursor_prepare(&change->cursor, 0, &first);
		ct_cursor_prepare(&change->cursor, 1, &second);
		assert_true(step_through(change, &second) > 30);
		/* Prepared, but not published: `now` is in force. */
		*change = (struct change){ .sequence = 1, .is_reset = is_reset != 0 };
		ct_cursor_prepare(&change->cursor, 0, &first);
		ct_cursor_prepare(&change->cursor, 1, &second);
		assert_true(step_through(change, &first) > 30);
		/* Nothing was ever published. */
		*change = (struct change){ .is_reset = is_reset != 0 };
		assert_true(step_through(change, &zero) > 30);
	}
	assert_int_equal(munmap(change, sizeof *change), 0);
}

int test_ring_read(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_ring_is_empty, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_committed_is_not_there, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(consuming_counts_and_wakes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_producer_that_waits_wakes_when_a_quarter_is_free,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(damage_is_reported_and_never_left, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_event_does_not_reach_over_the_limit, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_event_may_go_round_the_end, set_up, tear_down),
		cmocka_unit_test(a_place_beside_events_is_damage),
		cmocka_unit_test(a_walk_is_no_longer_than_the_ring),
		cmocka_unit_test_setup_teardown(constants_are_taken_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(overwrite_rings_are_read_from_a_copy, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_place_that_was_overwritten_moves_to_the_oldest_with_its_counts, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			an_oldest_whose_writer_died_in_the_middle_does_not_hold_anybody_up, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_reader_beside_the_consumer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_prepared_place_is_in_force_from_the_publishing_on,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_was_prepared_but_not_published_can_be_prepared_anew, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_kill_between_any_two_stores_leaves_the_place_in_force_as_it_was, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_reset_cursor_stands_where_it_is_reported_whatever_was_published, set_up,
			tear_down),
		cmocka_unit_test(a_kill_at_any_instruction_leaves_the_old_place_or_the_new_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
