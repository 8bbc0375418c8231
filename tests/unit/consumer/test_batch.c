/*
 * test_batch.c - a walk over rings for one destination: by time, bounded, and without moving the
 * rings.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../../sanitizer.h"
#include "consumer_fixture.h"

#include <sys/resource.h>

static struct ct_batch batch;
static const struct ct_cursor_place beginning;

static void start(uint32_t dest)
{
	assert_int_equal(ct_batch_init(&batch, &session), CTRACE_OK);
	assert_int_equal(ct_batch_start(&batch, dest, ring_count, NULL), CTRACE_OK);
	for (uint32_t i = 0; i < ring_count; i++)
		ct_batch_add_ring(&batch, rings[i], &beginning, ct_ring_head_position(rings[i]), 0);
}

static void stop(void)
{
	ct_batch_fini(&batch);
	ct_batch_fini(&batch); /* a second time does no harm */
	drop_process();
}

static void events_come_by_time_over_all_rings(void **state)
{
	(void)state;
	make_process(4, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 800; i++)
		assert_true(produce(i * i % 4, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 800);
	for (uint32_t i = 0; i < 800; i++) {
		assert_int_equal(batch.events[i].event_id, i);
		assert_int_equal(batch.events[i].tid, 100 + i * i % 4);
		assert_int_equal(batch.events[i].pid, getpid());
		assert_string_equal(batch.events[i].component, "to.a");
		assert_int_equal(batch.events[i].component_size, 4);
		assert_int_equal(batch.events[i].item_count, 1);
		assert_int_equal(batch.events[i].items[0].size, 20);
		assert_int_equal(batch.streams[batch.events[i].stream].id, i * i % 4);
	}
	assert_int_equal(batch.stream_count, 2); /* squares are 0 or 1 of 4 */
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 0);
	stop();
}

static void it_holds_so_many_events_at_most_and_goes_on_behind_them(void **state)
{
	uint32_t expected = 0;

	(void)state;
	make_process(4, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 3 * BATCH_EVENTS + 7; i++)
		assert_true(produce(i % 4, COMPONENT_A));
	start(output_a.index);
	for (int round = 0; round < 4; round++) {
		ct_batch_fill(&batch);
		assert_int_equal(batch.event_count, round < 3 ? BATCH_EVENTS : 7);
		for (uint32_t i = 0; i < batch.event_count; i++)
			assert_int_equal(batch.events[i].event_id, expected++);
	}
	stop();
}

static bool produce_many(uint32_t ring, uint32_t count)
{
	static struct ctrace_item items[CTRACE_MAX_ITEMS];

	for (uint32_t i = 0; i < count; i++)
		items[i] = CTRACE_U8(i);
	return produce_items(ring, COMPONENT_A, items, count);
}

static void events_of_many_items_make_it_full_too(void **state)
{
	uint32_t total = 0;

	(void)state;
	make_process(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(produce_many(i % 2, CTRACE_MAX_ITEMS));
	start(output_a.index);
	do {
		ct_batch_fill(&batch);
		assert_true(batch.item_count <= BATCH_ITEMS);
		for (uint32_t i = 0; i < batch.event_count; i++)
			assert_int_equal(batch.events[i].items[CTRACE_MAX_ITEMS - 1].value,
					 (CTRACE_MAX_ITEMS - 1) & 0xFF);
		total += batch.event_count;
	} while (batch.event_count > 0);
	assert_int_equal(total, 4);
	stop();
}

static void other_destinations_events_are_passed_and_noted(void **state)
{
	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_B));
	assert_true(produce(0, COMPONENT_A));
	assert_true(produce(0, COMPONENT_B));
	start(output_a.index);
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 1);
	assert_int_equal(batch.events[0].event_id, 1);
	assert_int_equal(batch.seen, 1u << output_a.index | 1u << output_b.index);
	/* also what follows */
	assert_int_equal(batch.iterators[0].place.position, rings[0]->head->head);
	assert_int_equal(batch.iterators[0].place.count, 3);
	assert_true(batch.iterators[0].moved);
	assert_int_equal(rings[0]->head->tail, 0);
	stop();
}

static void counting_does_not_move_it(void **state)
{
	(void)state;
	make_process(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 100; i++)
		assert_true(produce(i % 2, i % 4 < 2 ? COMPONENT_A : COMPONENT_B));
	start(output_a.index);
	assert_int_equal(ct_batch_count(&batch, 1000), 50);
	assert_int_equal(ct_batch_count(&batch, 20), 20);
	assert_int_equal(ct_batch_count(&batch, 0), 0);
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 50);
	stop();
}

static void what_came_after_the_limit_waits(void **state)
{
	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	assert_true(produce(0, COMPONENT_A));
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 1);
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 0);
	stop();
}

static void events_of_overwrite_rings_stay_whole_when_the_ring_goes_on(void **state)
{
	(void)state;
	make_process(1, CT_OVERFLOW_OVERWRITE);
	for (uint32_t i = 0; i < 100; i++)
		assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill(&batch);
	for (uint32_t i = 0; i < 5000; i++)
		assert_true(produce_sized(0, COMPONENT_A, 100));
	assert_int_equal(batch.event_count, 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(batch.events[i].event_id, i);
		assert_int_equal(batch.events[i].items[0].size, 20);
		assert_int_equal(((const char *)batch.events[i].items[0].data)[19], 0);
	}
	stop();
}

static void what_is_overwritten_between_two_fills_is_counted(void **state)
{
	uint32_t got = 0;

	(void)state;
	make_process(1, CT_OVERFLOW_OVERWRITE);
	for (uint32_t i = 0; i < 1200; i++)
		assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill(&batch);
	got += batch.event_count;
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(produce_sized(0, COMPONENT_A, 100));
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 0); /* all that was before the limit is gone */
	assert_int_equal(batch.iterators[0].place.overwritten + got,
			 batch.iterators[0].place.count);
	assert_true(batch.iterators[0].moved);
	stop();
}

static void large_events_of_overwrite_rings_make_it_full_too(void **state)
{
	uint32_t total = 0;

	(void)state;
	make_process(4, CT_OVERFLOW_OVERWRITE);
	for (uint32_t i = 0; i < 4; i++) {
		ct_ring_close(rings[i]);
		assert_int_equal(ct_ring_create(rings[i], &session, i, (size_t)2 << 20), CTRACE_OK);
		rings[i]->head->overflow = rings[i]->overflow = CT_OVERFLOW_OVERWRITE;
	}
	memset(thread_buffers, 0, sizeof thread_buffers);
	for (uint32_t i = 0; i < 100; i++)
		assert_true(produce_sized(i % 4, COMPONENT_A, CTRACE_MAX_ITEM_SIZE));
	start(output_a.index);
	do {
		ct_batch_fill(&batch);
		assert_true(batch.bytes <= BATCH_BYTES);
		total += batch.event_count;
	} while (batch.event_count > 0);
	assert_int_equal(total, 100);
	stop();
}

/* One event of so many items of 64 KiB. */
static bool produce_large(uint32_t ring, uint32_t count)
{
	static const char data[CTRACE_MAX_ITEM_SIZE];
	static struct ctrace_item items[CTRACE_MAX_ITEMS];

	for (uint32_t i = 0; i < count; i++)
		items[i] = CTRACE_BIN(data, sizeof data);
	return produce_items(ring, COMPONENT_A, items, count);
}

static void make_large_rings(uint32_t count, uint32_t overflow)
{
	make_process(count, overflow);
	for (uint32_t i = 0; i < count; i++) {
		ct_ring_close(rings[i]);
		assert_int_equal(ct_ring_create(rings[i], &session, i, (size_t)64 << 20),
				 CTRACE_OK);
		rings[i]->head->overflow = rings[i]->overflow = overflow;
	}
}

static void assert_large_event(uint32_t index, uint32_t number, uint32_t count)
{
	const struct ctrace_event *event = &batch.events[index];

	assert_int_equal(event->event_id, number);
	assert_int_equal(event->item_count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(event->items[i].size, CTRACE_MAX_ITEM_SIZE);
		assert_int_equal(((const char *)event->items[i].data)[CTRACE_MAX_ITEM_SIZE - 1], 0);
	}
}

/* What an output may have to hold is bounded, but for an event that has more. */
static void large_events_make_it_full(void **state)
{
	(void)state;
	make_large_rings(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	assert_true(produce_large(0, 320)); /* 20 MiB */
	for (uint32_t i = 0; i < 4; i++)
		assert_true(produce_large(0, 50));
	start(output_a.index);
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 1);
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 1);
	assert_large_event(0, 1, 320);
	for (uint32_t round = 0; round < 2; round++) {
		ct_batch_fill(&batch);
		assert_int_equal(batch.event_count, 2);
		assert_true(batch.bytes <= BATCH_BYTES);
		assert_large_event(1, 3 + 2 * round, 50);
	}
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 0);
	stop();
}

static void copies_are_as_large_as_their_events(void **state)
{
	uint32_t total = 0;

	(void)state;
	make_large_rings(2, CT_OVERFLOW_OVERWRITE);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(produce(0, COMPONENT_A));
		assert_true(produce_large(1, i % 3 == 0 ? 100 : 20));
	}
	start(output_a.index);
	do {
		ct_batch_fill(&batch);
		for (uint32_t i = 0; i < batch.event_count; i++)
			if (batch.events[i].event_id % 2 == 1)
				assert_large_event(i, batch.events[i].event_id,
						   batch.events[i].event_id / 2 % 3 == 0 ? 100
											 : 20);
		total += batch.event_count;
	} while (batch.event_count > 0);
	assert_int_equal(total, 20);
	stop();
}

static uint64_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	(void)fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void an_event_that_memory_lacks_for_is_counted_and_the_next_one_comes(void **state)
{
	struct rlimit before, limit;

	(void)state;
	make_large_rings(1, CT_OVERFLOW_OVERWRITE);
	assert_true(produce(0, COMPONENT_A));
	assert_true(produce_large(0, 400));
	assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = (struct rlimit){ .rlim_cur = address_space() + (8 << 20),
				 .rlim_max = before.rlim_max };
	if (IS_SANITIZED) {
		stop();
		skip();
	}
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	ct_batch_fill(&batch);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(batch.event_count, 2);
	assert_int_equal(batch.events[1].event_id, 2);
	assert_int_equal(batch.iterators[0].damaged_events, 1);
	assert_true(batch.iterators[0].damaged > (uint64_t)400 * CTRACE_MAX_ITEM_SIZE);
	assert_int_equal(batch.iterators[0].place.count, 3);
	stop();
}

static void many_rings_need_no_more_than_memory_for_them(void **state)
{
	static struct ct_ring same[200];

	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	assert_int_equal(ct_batch_init(&batch, &session), CTRACE_OK);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(ct_batch_start(&batch, output_a.index, 200, NULL), CTRACE_OK);
		for (uint32_t i = 0; i < 200; i++) {
			same[i] = *rings[0];
			ct_batch_add_ring(&batch, &same[i], &beginning,
					  ct_ring_head_position(rings[0]), 0);
		}
		ct_batch_fill(&batch);
		assert_int_equal(batch.event_count, 200);
		assert_int_equal(batch.stream_count, 200);
	}
	stop();
}

/* The session may be another process's, which counts as many components as it likes. */
static void a_component_that_no_session_has_room_for_is_damage(void **state)
{
	static const uint32_t components[] = { CT_COMPONENT_LIMIT, 0x7FFFFFFF, 0xFFFFFFFE };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(components); i++) {
		make_process(1, CT_OVERFLOW_DISCARD);
		assert_true(produce(0, COMPONENT_A));
		assert_true(produce(0, components[i]));
		session.head->component_count = 0xFFFFFFFF;
		start(output_a.index);
		ct_batch_fill(&batch);
		assert_int_equal(batch.event_count, 1);
		assert_true(batch.iterators[0].damaged > 0);
		session.head->component_count = COMPONENT_COUNT;
		stop();
	}
}

/* The ring becomes one that is copied, and one that is not, between any two looks at it: the room
 * for copies is not overrun. */
static void what_a_ring_is_does_not_change_while_it_is_read(void **state)
{
	(void)state;
	make_process(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 200; i++)
		assert_true(produce(i % 2, COMPONENT_A));
	start(output_a.index);
	for (uint32_t i = 0; i < 2; i++) {
		rings[i]->head->overflow = CT_OVERFLOW_OVERWRITE;
		rings[i]->head->index = 0xFFFFFFFF;
		rings[i]->head->oldest = rings[i]->head->head;
	}
	ct_batch_fill(&batch);
	assert_int_equal(batch.event_count, 200);
	assert_null(batch.copies.chunks);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(batch.streams[batch.events[i].stream].id, i % 2);
	stop();
}

int test_batch(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_come_by_time_over_all_rings, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			it_holds_so_many_events_at_most_and_goes_on_behind_them, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(events_of_many_items_make_it_full_too,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(other_destinations_events_are_passed_and_noted,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(counting_does_not_move_it, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(what_came_after_the_limit_waits, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			events_of_overwrite_rings_stay_whole_when_the_ring_goes_on, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_overwritten_between_two_fills_is_counted,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(large_events_of_overwrite_rings_make_it_full_too,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(large_events_make_it_full, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(copies_are_as_large_as_their_events, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_event_that_memory_lacks_for_is_counted_and_the_next_one_comes,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(many_rings_need_no_more_than_memory_for_them,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_component_that_no_session_has_room_for_is_damage,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_a_ring_is_does_not_change_while_it_is_read,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
