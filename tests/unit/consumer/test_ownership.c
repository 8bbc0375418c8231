/*
 * test_ownership.c - rings that change hands between a process's consumer thread and an external
 * writer: every event comes out once, at one of them.
 *
 * The consumer thread delivers to TESTA, the writer to TESTB, at destination WRITER.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "consumer_fixture.h"

#define WRITER CT_WRITER_SLOT

static struct ct_consumer *consumer_thread, *writer;
static struct ct_consumer_result result;
static struct ct_sync writer_clock;
static uint32_t release;

static struct ct_consumer_source writer_source(void)
{
	struct ct_consumer_source source = live_source();

	source.held_by = WRITER;
	source.emitter = ct_emitter_at(output_b.index);
	ct_shared_sync_copy(&session.head->sync, &writer_clock);
	source.sync = &writer_clock;
	source.release = &release;
	return source;
}

static void start(uint32_t count)
{
	struct ct_consumer_source source = live_source();

	make_process(count, CT_OVERFLOW_DISCARD);
	ct_shared_sync_start(&session.head->sync);
	release = CT_RELEASE_AS_WANTED;
	(void)snprintf(session.head->dest[WRITER].emitter, 32, "TESTB");
	assert_int_equal(ct_consumer_create(&source, &consumer_thread), CTRACE_OK);
	source = writer_source();
	assert_int_equal(ct_consumer_create(&source, &writer), CTRACE_OK);
}

static void stop(void)
{
	ct_consumer_close(consumer_thread);
	ct_consumer_destroy(consumer_thread);
	if (writer != NULL)
		ct_consumer_close(writer);
	ct_consumer_destroy(writer);
	drop_process();
}

static void make(uint32_t ring, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_true(produce(ring, COMPONENT_A));
}

static void pass(struct ct_consumer *consumer)
{
	ct_consumer_pass(consumer, true, &result);
}

static void want(uint32_t ring, uint32_t who)
{
	__atomic_store_n(&rings[ring]->head->wanted, who, __ATOMIC_RELEASE);
	ct_ring_note_move(&session);
}

/* The numbers that are in one of the two, none in both. */
static void assert_shared(uint32_t at_consumer_thread, uint32_t at_writer)
{
	struct numbers a = read_output(&output_a), b = read_output(&output_b);
	unsigned char *seen = calloc(next_number + 1, 1);

	assert_non_null(seen);
	assert_int_equal(a.count, at_consumer_thread);
	assert_int_equal(b.count, at_writer);
	for (uint32_t i = 0; i < a.count; i++)
		seen[a.at[i]]++;
	for (uint32_t i = 0; i < b.count; i++)
		seen[b.at[i]]++;
	for (uint32_t i = 0; i < next_number; i++)
		assert_int_equal(seen[i], 1);
	free(seen);
	free(a.at);
	free(b.at);
}

static void a_writer_has_only_the_rings_that_it_was_given(void **state)
{
	(void)state;
	start(2);
	/* as a ring is born whose component is connected */
	rings[1]->head->held_by = rings[1]->head->wanted = WRITER;
	make(0, 10);
	make(1, 20);
	pass(writer);
	assert_int_equal(result.delivered, 20);
	pass(consumer_thread);
	assert_int_equal(result.delivered, 10);
	assert_shared(10, 20);
	assert_true(ct_ring_is_empty(rings[0]) && ct_ring_is_empty(rings[1]));
	stop();
}

static void
the_consumer_thread_lets_go_at_its_next_pass_and_what_waits_goes_to_the_writer(void **state)
{
	(void)state;
	start(1);
	make(0, 10);
	pass(consumer_thread);
	make(0, 5);
	want(0, WRITER);
	pass(writer); /* it is not given yet */
	assert_int_equal(result.delivered, 0);
	pass(consumer_thread);
	assert_int_equal(result.delivered, 0);
	assert_int_equal(rings[0]->head->held_by, WRITER);
	pass(writer);
	assert_int_equal(result.delivered, 5);
	assert_shared(10, 5);
	stop();
}

static void what_a_destination_has_begun_with_it_finishes(void **state)
{
	(void)state;
	start(1);
	make(0, 1);
	assert_true(produce(0, COMPONENT_BOTH)); /* to A and B; B fails */
	output_b.fail_writes = 1;
	pass(consumer_thread);
	want(0, WRITER);
	output_b.fail_writes = 1;
	pass(consumer_thread);
	assert_int_equal(rings[0]->head->held_by, 0);
	pass(consumer_thread); /* B has it now */
	pass(consumer_thread);
	assert_int_equal(rings[0]->head->held_by, WRITER);
	assert_int_equal(count_output(&output_a), 2);
	assert_int_equal(count_output(&output_b), 1);
	stop();
}

static void a_writer_gives_back_when_what_was_committed_is_written(void **state)
{
	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 7);
	want(0, 0);
	pass(consumer_thread);
	assert_int_equal(result.delivered, 0);
	output_b.fail_writes = 1;
	pass(writer);
	assert_int_equal(rings[0]->head->held_by, WRITER); /* it is not out */
	pass(writer);
	assert_int_equal(rings[0]->head->held_by, 0);
	make(0, 3);
	pass(writer);
	assert_int_equal(result.delivered, 0);
	pass(consumer_thread);
	assert_shared(3, 7);
	stop();
}

static void released_at_once_what_waits_is_the_consumer_threads(void **state)
{
	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 7);
	pass(writer);
	make(0, 4);
	want(0, 0);
	output_b.fail_writes = 1; /* nothing more can be written */
	release = CT_RELEASE_NOW;
	pass(writer);
	assert_int_equal(rings[0]->head->held_by, 0);
	assert_int_equal(ct_consumer_ring_count(writer), 0);
	pass(consumer_thread);
	assert_shared(4, 7);
	stop();
}

static void a_ring_may_go_to_and_fro(void **state)
{
	uint32_t at_consumer_thread = 0, at_writer = 0;

	(void)state;
	start(2);
	for (uint32_t i = 0; i < 200; i++) {
		make(i % 2, 30);
		want(0, i % 3 == 0 ? WRITER : 0);
		want(1, i % 5 < 2 ? WRITER : 0);
		pass(consumer_thread);
		at_consumer_thread += (uint32_t)result.delivered;
		pass(writer);
		at_writer += (uint32_t)result.delivered;
	}
	want(0, 0);
	want(1, 0);
	for (int i = 0; i < 2; i++) {
		pass(writer);
		at_writer += (uint32_t)result.delivered;
		pass(consumer_thread);
		at_consumer_thread += (uint32_t)result.delivered;
	}
	assert_true(at_consumer_thread > 1000 && at_writer > 1000);
	assert_shared(at_consumer_thread, at_writer);
	stop();
}

/* ---- death ---- */

/* The writer is gone with whatever it had in memory. */
static void kill_writer(void)
{
	ct_consumer_destroy(writer);
	writer = NULL;
}

static void what_a_dead_writer_had_is_finished_where_it_stood(void **state)
{
	(void)state;
	start(2);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 10);
	pass(writer);
	make(0, 6);
	make(1, 3);
	kill_writer();
	want(0, 0);
	pass(consumer_thread);
	/* the other ring's: it is not told that the writer is dead */
	assert_int_equal(result.delivered, 3);
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	assert_int_equal(ct_consumer_taken_over(consumer_thread), 1u << WRITER);
	pass(consumer_thread);
	assert_int_equal(result.delivered, 6);
	assert_true(output_b.was_recovering);
	assert_int_equal(rings[0]->head->held_by, 0);
	assert_int_equal(ct_consumer_taken_over(consumer_thread), 0);
	assert_int_equal(output_b.opens - output_b.closes, 0);
	make(0, 5);
	pass(consumer_thread);
	assert_shared(8, 16);
	stop();
}

/* It has written, and not committed: what stands in the file behind the committed place is cut. */
static void what_a_dead_writer_wrote_and_did_not_commit_is_not_there_twice(void **state)
{
	FILE *file;

	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 10);
	pass(writer);
	make(0, 2);
	kill_writer();
	file = fopen(output_b.path, "a");
	assert_non_null(file);
	(void)fputs("10\n1", file);
	(void)fclose(file);
	want(0, 0);
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	pass(consumer_thread);
	assert_shared(0, 12);
	stop();
}

/* It has committed, and not moved the tail. */
static void what_a_dead_writer_committed_does_not_come_again(void **state)
{
	uint64_t tail, consumed;

	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 4);
	pass(writer);
	tail = rings[0]->head->tail;
	consumed = rings[0]->head->consumed;
	make(0, 4);
	pass(writer);
	rings[0]->head->tail = tail;
	rings[0]->head->consumed = consumed;
	kill_writer();
	want(0, 0);
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	pass(consumer_thread);
	assert_int_equal(rings[0]->head->held_by, 0);
	assert_shared(0, 8);
	stop();
}

static void a_writer_that_died_before_its_first_write_leaves_it_to_the_consumer_thread(void **state)
{
	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 9);
	kill_writer();
	want(0, 0);
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	pass(consumer_thread);
	assert_int_equal(rings[0]->head->held_by, 0);
	assert_shared(9, 0);
	assert_int_equal(output_b.opens, 0);
	stop();
}

static void
a_new_writer_gets_the_ring_after_the_consumer_thread_has_finished_the_old_ones(void **state)
{
	struct ct_consumer_source source;

	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 5);
	pass(writer);
	make(0, 5);
	kill_writer();
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	pass(consumer_thread); /* `wanted` says the writer still: it is the dead one's place */
	assert_int_equal(rings[0]->head->held_by, 0);
	(void)snprintf(session.head->dest[WRITER + 1].emitter, 32, "TESTB");
	source = writer_source();
	source.held_by = WRITER + 1;
	assert_int_equal(ct_consumer_create(&source, &writer), CTRACE_OK);
	want(0, WRITER + 1);
	pass(consumer_thread);
	make(0, 5);
	pass(writer);
	assert_int_equal(result.delivered, 5);
	assert_shared(0, 15);
	stop();
}

/* Both are dead: whoever recovers the process finishes both. */
static void a_recoverer_finishes_what_both_left(void **state)
{
	struct ct_consumer_source source;

	(void)state;
	start(2);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 5);
	make(1, 5);
	pass(writer);
	pass(consumer_thread);
	make(0, 3);
	make(1, 4);
	kill_writer();
	ct_consumer_destroy(consumer_thread);
	source = live_source();
	source.recovering = true;
	assert_int_equal(ct_consumer_create(&source, &consumer_thread), CTRACE_OK);
	pass(consumer_thread);
	assert_int_equal(result.pending, 0);
	assert_shared(9, 8);
	stop();
}

/* ---- counting ---- */

static void each_event_counts_once_for_its_component(void **state)
{
	(void)state;
	start(2);
	rings[1]->head->held_by = rings[1]->head->wanted = WRITER;
	make(0, 10);
	make(1, 20);
	assert_true(produce(0, COMPONENT_BOTH));
	assert_true(produce(0, COMPONENT_BOTH));
	pass(consumer_thread);
	pass(writer);
	assert_int_equal(session.components[COMPONENT_A].delivered, 30);
	assert_int_equal(session.components[COMPONENT_BOTH].delivered, 2);
	assert_int_equal(session.components[COMPONENT_B].delivered, 0);
	assert_int_equal(session.components[COMPONENT_A].bytes,
			 session.components[COMPONENT_BOTH].bytes * 15);
	stop();
}

/* As the tracing thread counts an event that found no room. */
static void lose(uint32_t ring, uint32_t dest)
{
	ct_ring_count_lost(rings[ring], CTRACE_LOSS_DISCARDED, 1u << dest);
	session.head->dest[dest].lost[CTRACE_LOSS_DISCARDED]++;
}

/* The consumer thread's next pass after a change looks at all; the others look at heads alone. */
static void a_pass_looks_at_consumers_only_when_one_may_have_changed(void **state)
{
	(void)state;
	start(2);
	make(0, 1);
	pass(consumer_thread);
	pass(consumer_thread);
	rings[1]->head->held_by = WRITER;
	make(1, 1);
	pass(consumer_thread);
	assert_true(ct_ring_is_empty(rings[1])); /* nobody has said so */
	ct_ring_note_move(&session);
	make(1, 1);
	pass(consumer_thread);
	assert_false(ct_ring_is_empty(rings[1]));
	pass(writer);
	assert_true(ct_ring_is_empty(rings[1]));
	stop();
}

static void losses_are_reported_where_their_ring_is(void **state)
{
	(void)state;
	start(2);
	rings[1]->head->held_by = rings[1]->head->wanted = WRITER;
	make(0, 1);
	make(1, 1);
	lose(0, output_a.index);
	lose(1, WRITER);
	lose(1, WRITER);
	session.head->lost_to_all[CTRACE_LOSS_CLOSED] = 4;
	pass(consumer_thread);
	pass(writer);
	assert_int_equal(output_a.lost[CTRACE_LOSS_DISCARDED], 1);
	assert_int_equal(output_a.lost[CTRACE_LOSS_CLOSED], 4);
	assert_int_equal(output_b.lost[CTRACE_LOSS_DISCARDED], 2);
	assert_int_equal(output_b.lost[CTRACE_LOSS_CLOSED], 0);
	lose(1, WRITER);
	want(1, 0);
	pass(writer); /* what it lost after its last event, before it goes */
	assert_int_equal(output_b.lost[CTRACE_LOSS_DISCARDED], 3);
	stop();
}

/* ct_losses_take_over(): the writer that lost them has no output that could report them. */
static void a_writer_without_an_output_leaves_its_losses_to_the_consumer_thread(void **state)
{
	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 9);
	lose(0, WRITER);
	lose(0, WRITER);
	kill_writer();
	want(0, 0);
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	pass(consumer_thread);
	make(0, 1);
	pass(consumer_thread);
	assert_int_equal(output_a.lost[CTRACE_LOSS_DISCARDED], 2);
	assert_int_equal(output_b.losts, 0);
	ct_losses_take_over(consumer_thread, WRITER);
	make(0, 1);
	pass(consumer_thread);
	assert_int_equal(output_a.lost[CTRACE_LOSS_DISCARDED], 2); /* once */
	stop();
}

/* ct_consumer_announce_to(): it lost them after its last event, and had no time to report them. */
static void a_dead_writers_last_losses_are_reported_in_its_output(void **state)
{
	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 9);
	pass(writer);
	lose(0, WRITER);
	kill_writer();
	want(0, 0);
	ct_consumer_take_over(consumer_thread, 1u << WRITER);
	pass(consumer_thread);
	assert_int_equal(output_b.lost[CTRACE_LOSS_DISCARDED], 1);
	assert_int_equal(output_a.losts, 0);
	stop();
}

/* A thread that was killed when it had counted in its ring, but not for the destination. */
static void what_only_a_ring_has_counted_is_reported_too(void **state)
{
	(void)state;
	start(1);
	rings[0]->head->held_by = rings[0]->head->wanted = WRITER;
	make(0, 1);
	lose(0, WRITER);
	ct_ring_count_lost(rings[0], CTRACE_LOSS_DISCARDED, 1u << WRITER);
	pass(writer);
	/* its thread may be about to count it */
	assert_int_equal(output_b.lost[CTRACE_LOSS_DISCARDED], 1);
	release = CT_RELEASE_FLUSH;
	pass(writer);
	assert_int_equal(output_b.lost[CTRACE_LOSS_DISCARDED], 2);
	stop();
}

static void a_consumer_has_what_is_held_by_it(void **state)
{
	(void)state;
	start(1);
	assert_true(ct_consumer_has(consumer_thread, 0));
	assert_false(ct_consumer_has(consumer_thread, WRITER));
	assert_true(ct_consumer_has(writer, WRITER));
	assert_false(ct_consumer_has(writer, 0));
	assert_false(ct_consumer_has(writer, CT_DEST_LIMIT));
	stop();
}

int test_ownership(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		TEST(a_writer_has_only_the_rings_that_it_was_given),
		TEST(the_consumer_thread_lets_go_at_its_next_pass_and_what_waits_goes_to_the_writer),
		TEST(what_a_destination_has_begun_with_it_finishes),
		TEST(a_writer_gives_back_when_what_was_committed_is_written),
		TEST(released_at_once_what_waits_is_the_consumer_threads),
		TEST(a_ring_may_go_to_and_fro),
		TEST(what_a_dead_writer_had_is_finished_where_it_stood),
		TEST(what_a_dead_writer_wrote_and_did_not_commit_is_not_there_twice),
		TEST(what_a_dead_writer_committed_does_not_come_again),
		TEST(a_writer_that_died_before_its_first_write_leaves_it_to_the_consumer_thread),
		TEST(a_new_writer_gets_the_ring_after_the_consumer_thread_has_finished_the_old_ones),
		TEST(a_recoverer_finishes_what_both_left),
		TEST(each_event_counts_once_for_its_component),
		TEST(a_pass_looks_at_consumers_only_when_one_may_have_changed),
		TEST(losses_are_reported_where_their_ring_is),
		TEST(a_writer_without_an_output_leaves_its_losses_to_the_consumer_thread),
		TEST(a_dead_writers_last_losses_are_reported_in_its_output),
		TEST(what_only_a_ring_has_counted_is_reported_too),
		TEST(a_consumer_has_what_is_held_by_it),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
