/*
 * test_runs.c - the bytes of rings in runs: whole events, those of one destination, in the order of
 * time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "consumer_fixture.h"

static struct ct_batch batch;
static const struct ct_cursor_place beginning;

static void start(uint32_t dest)
{
	assert_int_equal(ct_batch_init(&batch, &session), CTRACE_OK);
	assert_int_equal(ct_batch_start(&batch, dest, ring_count, NULL), CTRACE_OK);
	batch.wants_runs = true;
	batch.least_level = 0;
	batch.most_bytes = RUNS_BYTES;
	for (uint32_t i = 0; i < ring_count; i++)
		ct_batch_add_ring(&batch, rings[i], &beginning, ct_ring_head_position(rings[i]), 0);
}

static void stop(void)
{
	ct_batch_fini(&batch);
	drop_process();
	next_ticks = 0;
}

/* What a reader of a file has of a run: its events, decoded. */
struct seen {
	uint32_t count;
	uint32_t ids[4000];
	uint64_t ticks[4000];
	char component[32]; /* of the last that says it itself */
};

static void read_run(const struct ctrace_run *run, struct seen *seen)
{
	struct ct_class_image classes = ct_session_classes(&session);
	struct ct_event_state state = { .ticks = run->begin_ticks, .tid = run->tid };
	struct ct_buf bytes;
	uint32_t events = 0;

	classes.has_names = true;
	ct_buf_init(&bytes);
	for (uint32_t i = 0; i < run->piece_count; i++)
		ct_buf_add(&bytes, run->pieces[i].data, run->pieces[i].size);
	assert_int_equal(bytes.size, run->size);
	for (size_t at = 0; at < bytes.size; events++) {
		struct ct_event event;

		assert_int_equal(ct_event_decode(&classes, (const unsigned char *)bytes.data + at,
						 bytes.size - at, &state, &event),
				 CTRACE_OK);
		assert_false(event.is_mark);
		assert_true(seen->count < CT_COUNT(seen->ids));
		seen->ids[seen->count] = event.head.event_id;
		seen->ticks[seen->count++] = event.ticks;
		if (event.component != NULL)
			(void)snprintf(seen->component, sizeof seen->component, "%s",
				       event.component);
		at += event.size;
	}
	assert_int_equal(events, run->event_count);
	assert_int_equal(seen->ticks[seen->count - events], run->begin_ticks);
	assert_int_equal(seen->ticks[seen->count - 1], run->end_ticks);
	assert_true(run->end_ns >= run->begin_ns);
	ct_buf_fini(&bytes);
}

static struct seen read_all(void)
{
	struct seen seen = { 0 };

	for (uint32_t i = 0; i < batch.runs.run_count; i++)
		read_run(&batch.runs.runs[i], &seen);
	return seen;
}

static void runs_are_the_rings_bytes_ring_by_ring(void **state)
{
	struct seen seen = { 0 };
	uint64_t counted = 0;

	(void)state;
	make_process(3, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 300; i++)
		assert_true(produce(i % 3, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill_runs(&batch);
	assert_int_equal(batch.event_count, 300);
	assert_int_equal(batch.runs.run_count, 3);
	for (uint32_t ring = 0; ring < 3; ring++) {
		const struct ctrace_run *run = &batch.runs.runs[ring];

		assert_int_equal(run->tid, 100 + ring);
		assert_int_equal(batch.streams[run->stream].id, ring);
		assert_ptr_equal(run->pieces[0].data, ct_ring_at(rings[ring], CT_EVENT_MARK));
		read_run(run, &seen);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(seen.ids[100 * ring + i], 3 * i + ring);
		assert_int_equal(batch.iterators[ring].place.position,
				 ct_ring_head_position(rings[ring]));
		assert_int_equal(batch.iterators[ring].place.count, 100);
		assert_int_equal(rings[ring]->head->tail, 0);
	}
	assert_true(batch.runs.class_count > 0);
	for (uint32_t i = 0; i < batch.runs.class_count; i++)
		assert_string_equal(batch.runs.classes[i].component, "to.a");
	for (uint32_t i = 0; i < batch.runs.count_count; i++)
		counted += batch.runs.counts[i].events;
	assert_int_equal(counted, 300);
	ct_batch_fill_runs(&batch);
	assert_int_equal(batch.event_count, 0);
	stop();
}

/* A thread went from ring 2 to ring 0, and then to ring 1, which it had used before. */
static void try_order(enum ct_overflow overflow)
{
	static const uint32_t order[] = { 2, 0, 1 };
	struct ct_cursor_place used;
	struct seen seen;

	make_process(3, overflow);
	assert_true(produce(1, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill_runs(&batch);
	assert_int_equal(batch.event_count, 1);
	used = batch.iterators[1].place;
	ct_batch_fini(&batch);
	for (uint32_t i = 0; i < 30; i++)
		assert_true(produce(order[i / 10], COMPONENT_A));
	start(output_a.index);
	batch.iterators[1].place = used;
	ct_batch_fill_runs(&batch);
	seen = read_all();
	assert_int_equal(seen.count, 30);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(seen.ids[i], i + 1);
	stop();
}

static void the_ring_with_the_earliest_event_comes_first(void **state)
{
	(void)state;
	try_order(CT_OVERFLOW_DISCARD);
	try_order(CT_OVERFLOW_OVERWRITE);
}

static void other_destinations_events_are_left_out_and_noted(void **state)
{
	static const uint32_t rest[] = { 0, 2 };
	struct seen seen;

	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 30; i++)
		assert_true(produce(0, i % 3 == 1 ? COMPONENT_B : COMPONENT_A));
	start(output_a.index);
	ct_batch_fill_runs(&batch);
	seen = read_all();
	assert_int_equal(seen.count, 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(seen.ids[i] % 3, rest[i % 2]);
	assert_int_equal(batch.seen, 1u << output_a.index | 1u << output_b.index);
	assert_int_equal(batch.iterators[0].place.count, 30);
	stop();
}

static void events_below_the_level_count_and_are_not_there(void **state)
{
	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	batch.least_level = 2;
	ct_batch_fill_runs(&batch);
	assert_int_equal(batch.event_count, 10);
	assert_int_equal(batch.runs.run_count, 0);
	assert_int_equal(batch.runs.class_count, 0);
	stop();
}

static void the_first_of_several_destinations_counts(void **state)
{
	uint32_t first = output_a.index < output_b.index ? output_a.index : output_b.index;

	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_BOTH));
	for (uint32_t turn = 0; turn < 2; turn++) {
		start(turn == 0 ? output_a.index : output_b.index);
		ct_batch_fill_runs(&batch);
		assert_int_equal(batch.event_count, 1);
		assert_int_equal(batch.runs.counts[0].events,
				 (turn == 0 ? output_a.index : output_b.index) == first);
		ct_batch_fini(&batch);
	}
	drop_process();
}

static void an_event_without_a_class_gets_the_name_of_its_component(void **state)
{
	static struct ctrace_item items[CT_CLASS_MAX_ITEMS + 1];
	struct seen seen;

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(items); i++)
		items[i] = CTRACE_U8(i);
	make_process(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	assert_true(produce_items(0, COMPONENT_A, items, CT_COUNT(items)));
	assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill_runs(&batch);
	seen = read_all();
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.component, "to.a");
	stop();
}

static void time_in_a_stream_does_not_go_back(void **state)
{
	static const uint64_t given[] = { 100, 200, 150, 200, 300 },
			      kept[] = { 100, 200, 200, 200, 300 };
	const uint64_t base = ct_clock_ticks() + ((uint64_t)1 << 33);
	struct seen seen;

	(void)state;
	make_process(1, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 5; i++) {
		next_ticks = base + given[i];
		assert_true(produce(0, COMPONENT_A));
	}
	/* The counter began anew. */
	next_ticks = base / 2; /* more than 2^40 ticks do not fit behind a start of the machine */
	assert_true(produce(0, COMPONENT_A));
	start(output_a.index);
	ct_batch_fill_runs(&batch);
	seen = read_all();
	assert_int_equal(seen.count, 6);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(seen.ticks[i], base + kept[i]);
	assert_int_equal(seen.ticks[5], next_ticks);
	assert_true(batch.runs.run_count >= 2);
	stop();
}

static void a_batch_and_a_run_are_no_larger_than_they_may_be(void **state)
{
	uint32_t total = 0, batches = 0;

	(void)state;
	make_process(2, CT_OVERFLOW_DISCARD);
	while (produce_sized(0, COMPONENT_A, 1000) && produce_sized(1, COMPONENT_A, 1000))
		continue;
	start(output_a.index);
	batch.most_bytes = 8000;
	for (;;) {
		ct_batch_fill_runs(&batch);
		if (batch.event_count == 0)
			break;
		assert_true(batch.bytes <= 8000);
		total += read_all().count;
		batches++;
	}
	assert_true(batches > 4);
	assert_int_equal(total, batch.iterators[0].place.count + batch.iterators[1].place.count);
	assert_int_equal(batch.iterators[1].place.position, ct_ring_head_position(rings[1]));
	stop();
}

/* Each event for it stands between two that are not: as many pieces as events. */
static void a_batch_has_so_many_pieces_at_most(void **state)
{
	uint32_t made = 0, total = 0;

	(void)state;
	ring_size = 1 << 20;
	make_process(1, CT_OVERFLOW_DISCARD);
	ring_size = RING_SIZE;
	while (produce_sized(0, made % 2 == 0 ? COMPONENT_A : COMPONENT_B, 0)) {
		made++;
		next_number = 0; /* all have one id, and so are of two classes */
	}
	assert_true(made > 2 * RUN_PIECES);
	start(output_a.index);
	for (;;) {
		ct_batch_fill_runs(&batch);
		if (batch.event_count == 0)
			break;
		assert_true(batch.runs.piece_count <= RUN_PIECES);
		for (uint32_t i = 0; i < batch.runs.run_count; i++)
			total += batch.runs.runs[i].event_count;
	}
	assert_int_equal(total, (made + 1) / 2);
	stop();
}

static void damage_ends_a_ring_and_nothing_else(void **state)
{
	struct seen seen;
	uint64_t at;

	(void)state;
	make_process(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(produce(i % 2, COMPONENT_A));
	start(output_a.index);
	at = CT_EVENT_MARK + 10 * (ct_ring_head_position(rings[0]) - CT_EVENT_MARK) / 20;
	memset(ct_ring_at(rings[0], at), 0xFF, 8);
	ct_batch_fill_runs(&batch);
	seen = read_all();
	assert_int_equal(seen.count, 30);
	assert_int_equal(batch.iterators[0].damaged, ct_ring_head_position(rings[0]) - at);
	assert_int_equal(batch.iterators[0].damaged_events, 1);
	assert_int_equal(batch.iterators[1].damaged, 0);
	stop();
}

/* Their producer may come round again while the bytes are written. */
static void events_of_overwrite_rings_are_copied(void **state)
{
	uint32_t made = 0;
	struct seen seen;

	(void)state;
	make_process(1, CT_OVERFLOW_OVERWRITE);
	while (made < 2000 && produce_sized(0, COMPONENT_A, 500))
		made++;
	start(output_a.index);
	ct_batch_fill_runs(&batch);
	memset(rings[0]->data, 0xFF, rings[0]->capacity);
	seen = read_all();
	assert_int_equal(seen.count + batch.iterators[0].place.overwritten, made);
	assert_true(batch.iterators[0].place.overwritten > 0);
	for (uint32_t i = 0; i < seen.count; i++)
		assert_int_equal(seen.ids[i], made - seen.count + i);
	stop();
}

int test_runs(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_the_rings_bytes_ring_by_ring),
		cmocka_unit_test(the_ring_with_the_earliest_event_comes_first),
		cmocka_unit_test(other_destinations_events_are_left_out_and_noted),
		cmocka_unit_test(events_below_the_level_count_and_are_not_there),
		cmocka_unit_test(the_first_of_several_destinations_counts),
		cmocka_unit_test(an_event_without_a_class_gets_the_name_of_its_component),
		cmocka_unit_test(time_in_a_stream_does_not_go_back),
		cmocka_unit_test(a_batch_and_a_run_are_no_larger_than_they_may_be),
		cmocka_unit_test(a_batch_has_so_many_pieces_at_most),
		cmocka_unit_test(damage_ends_a_ring_and_nothing_else),
		cmocka_unit_test(events_of_overwrite_rings_are_copied),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
