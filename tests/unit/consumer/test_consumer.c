/*
 * test_consumer.c - passes: everything committed reaches its destinations, all or nothing, once,
 * and then leaves its ring.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "pass_fixture.h"

static void a_pass_with_nothing_to_do_opens_nothing(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	pass(false);
	pass(true);
	assert_int_equal(result.delivered, 0);
	assert_int_equal(result.pending, 0);
	assert_int_equal(result.failing, 0);
	assert_int_equal(output_a.opens, 0);
	stop();
}

static void events_of_several_rings_come_out_once_and_by_time(void **state)
{
	(void)state;
	start(4, CT_OVERFLOW_DISCARD);
	for (uint32_t round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < 100; i++)
			assert_true(produce(i * 7 % 4, COMPONENT_A));
		pass(false);
		assert_int_equal(result.delivered, 100);
		assert_int_equal(result.pending, 0);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_true(ct_ring_is_empty(rings[i]));
	assert_exactly(&output_a, 5000);
	assert_int_equal(output_a.disorder, 0);
	assert_int_equal(output_a.opens, 1);
	assert_int_equal(output_b.opens, 0);
	assert_int_equal(session.head->dest[output_a.index]
				 .slot[session.head->dest[output_a.index].sequence & 1]
				 .delivered,
			 5000);
	stop();
}

static void more_than_a_batch_goes_in_one_pass(void **state)
{
	(void)state;
	start(4, CT_OVERFLOW_DISCARD);
	while (next_number < 3500)
		assert_true(produce(next_number % 4, COMPONENT_BOTH));
	pass(false);
	assert_int_equal(result.delivered, 3500);
	assert_exactly(&output_a, 3500);
	assert_exactly(&output_b, 3500);
	assert_true(output_a.writes >= 4);
	stop();
}

static void each_destination_gets_what_is_for_it(void **state)
{
	struct numbers a, b;

	(void)state;
	start(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 300; i++)
		assert_true(produce(i % 2, i % COMPONENT_COUNT));
	pass(false);
	assert_int_equal(result.delivered, 300);
	a = read_output(&output_a);
	b = read_output(&output_b);
	assert_int_equal(a.count, 200);
	assert_int_equal(b.count, 200);
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_not_equal(a.at[i] % 3, COMPONENT_B);
		assert_int_not_equal(b.at[i] % 3, COMPONENT_A);
	}
	free(a.at);
	free(b.at);
	stop();
}

static void a_failed_write_delivers_nothing_and_the_same_events_come_again(void **state)
{
	(void)state;
	start(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 100; i++)
		assert_true(produce(i % 2, COMPONENT_A));
	output_a.fail_writes = 2;
	pass(true);
	assert_int_equal(result.failing, 1u << output_a.index);
	assert_int_equal(result.delivered, 0);
	assert_true(result.pending > 0);
	assert_int_equal(count_output(&output_a), 0);
	assert_int_equal(session.head->dest[output_a.index].failing, ENOSPC);
	assert_int_equal(session.head->dest[output_a.index].failures, 1);
	pass(true);
	assert_int_equal(session.head->dest[output_a.index].failures, 1); /* one incident */
	pass(true);
	assert_int_equal(result.failing, 0);
	assert_int_equal(result.delivered, 100);
	assert_int_equal(session.head->dest[output_a.index].failing, 0);
	assert_exactly(&output_a, 100);
	stop();
}

static void a_failing_destination_is_left_alone_for_a_while_unless_somebody_waits(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	output_a.fail_writes = 2;
	pass(false);
	assert_int_equal(output_a.writes, 1);
	pass(false);
	pass(false);
	assert_int_equal(output_a.writes, 1);
	assert_int_equal(result.failing, 1u << output_a.index);
	pass(true);
	assert_int_equal(output_a.writes, 2);
	stop();
}

static void a_destination_that_cannot_be_opened_keeps_its_events_in_the_ring(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	output_a.fail_opens = 3;
	for (int i = 0; i < 3; i++) {
		pass(true);
		assert_int_equal(result.failing, 1u << output_a.index);
		assert_int_equal(result.delivered, 0);
	}
	pass(true);
	assert_int_equal(result.delivered, 1);
	assert_exactly(&output_a, 1);
	stop();
}

static void one_that_fails_does_not_hold_up_the_other_nor_repeat_there(void **state)
{
	(void)state;
	start(2, CT_OVERFLOW_DISCARD);
	output_a.fail_writes = 1000;
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 20; i++)
			assert_true(produce(i % 2, COMPONENT_BOTH));
		pass(true);
		assert_int_equal(result.delivered, 0); /* not in every destination yet */
		assert_exactly(&output_b, next_number);
	}
	output_a.fail_writes = 0;
	pass(true);
	assert_int_equal(result.delivered, 400);
	assert_exactly(&output_a, 400);
	assert_exactly(&output_b, 400);
	stop();
}

static void one_that_fails_does_not_hide_a_destination_behind_it(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	output_a.fail_opens = 1000;
	assert_true(produce(0, COMPONENT_A));
	pass(true);
	/* the first that is for B, behind what A has not taken */
	assert_true(produce(0, COMPONENT_B));
	pass(false); /* A is not even tried */
	assert_int_equal(count_output(&output_b), 1);
	output_a.fail_opens = 0;
	pass(true);
	assert_int_equal(result.pending, 0);
	assert_int_equal(count_output(&output_a), 1);
	assert_int_equal(count_output(&output_b), 1);
	stop();
}

static void a_destination_that_begins_late_gets_what_is_for_it_and_nothing_older(void **state)
{
	(void)state;
	start(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 50; i++)
		assert_true(produce(i % 2, COMPONENT_A));
	pass(false);
	session.components[COMPONENT_A].dests |= 1u << output_b.index;
	for (uint32_t i = 0; i < 50; i++)
		assert_true(produce(i % 2, COMPONENT_A));
	pass(false);
	assert_exactly(&output_a, 100);
	assert_int_equal(count_output(&output_b), 50);
	stop();
}

static void a_new_ring_joins_in(void **state)
{
	(void)state;
	start(4, CT_OVERFLOW_DISCARD);
	ring_count = 1;
	assert_true(produce(0, COMPONENT_BOTH));
	pass(false);
	ring_count = 4;
	for (uint32_t i = 0; i < 40; i++)
		assert_true(produce(i % 4, COMPONENT_BOTH));
	pass(false);
	assert_exactly(&output_a, 41);
	assert_exactly(&output_b, 41);
	stop();
}

static void idle_rings_are_not_worked_on(void **state)
{
	(void)state;
	start(4, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(produce(i, COMPONENT_A));
	pass(false);
	assert_int_equal(consumer->active_count, 4);
	assert_true(produce(2, COMPONENT_BOTH));
	pass(false);
	assert_int_equal(consumer->active_count, 1);
	assert_int_equal(consumer->active[0], 2);
	assert_int_equal(result.delivered, 1);
	/* What a destination could not take stays on the list, and comes when it works again. */
	output_b.fail_writes = 2;
	assert_true(produce(3, COMPONENT_BOTH));
	pass(true);
	pass(true);
	assert_int_equal(consumer->active_count, 1);
	pass(true);
	pass(true);
	assert_int_equal(consumer->active_count, 0);
	assert_exactly(&output_a, 6);
	assert_int_equal(count_output(&output_b), 2);
	stop();
}

/* A thread that goes on in ring 0 after it has traced in ring 3: when the pass has read the head of
 * ring 0, or each time. */
static unsigned moves_left;
static unsigned holds;

static void move_on(const char *name)
{
	if (strcmp(name, "consumer.looked") != 0 || moves_left == 0)
		return;
	moves_left--;
	assert_true(produce(0, COMPONENT_A));
	ct_ring_note_move(&session);
	assert_true(produce(3, COMPONENT_A));
}

static void hold_moves(void *user)
{
	(void)user;
	holds++;
	moves_left = 0;
}

static void allow_moves(void *user)
{
	(void)user;
	holds += 100;
}

static void pass_while_it_moves(unsigned moves)
{
	struct ct_consumer_source source = live_source();

	make_process(4, CT_OVERFLOW_DISCARD);
	source.hold_moves = hold_moves;
	source.allow_moves = allow_moves;
	assert_int_equal(ct_consumer_create(&source, &consumer), CTRACE_OK);
	moves_left = moves;
	holds = 0;
	ct_point_set(move_on);
	pass(false);
	ct_point_set(NULL);
	assert_true(next_number >= 2);
	assert_exactly(&output_a, next_number);
	assert_int_equal(output_a.disorder, 0);
	stop();
}

static void a_pass_has_no_event_of_the_next_ring_without_those_before_it(void **state)
{
	(void)state;
	pass_while_it_moves(1);
	assert_int_equal(holds, 0);
}

static void threads_that_move_on_and_on_wait_for_a_moment(void **state)
{
	(void)state;
	pass_while_it_moves(9);
	assert_int_equal(holds, 101);
}

static void flush_every(const char *setting)
{
	ct_text text;

	assert_int_equal(ct_session_add_text(&session, setting, strlen(setting), &text), CTRACE_OK);
	session.head->dest[output_a.index].settings = text;
}

static void flushevery_holds_events_back_until_there_are_enough(void **state)
{
	(void)state;
	start(2, CT_OVERFLOW_DISCARD);
	flush_every("FLUSHEVERY=10\n");
	(void)ct_consumer_open(consumer);
	for (uint32_t i = 0; i < 9; i++)
		assert_true(produce(i % 2, COMPONENT_A));
	pass(false);
	assert_int_equal(count_output(&output_a), 0);
	assert_true(result.pending > 0);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_exactly(&output_a, 10);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_exactly(&output_a, 10);
	pass(true); /* somebody waits */
	assert_exactly(&output_a, 11);
	stop();
}

static void flushevery_0_waits_for_the_buffer_and_not_for_ever(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	flush_every("FLUSHEVERY=0\n");
	(void)ct_consumer_open(consumer);
	while (produce(0, COMPONENT_A) && result.delivered == 0)
		pass(false);
	assert_true(next_number > 100);
	pass(true);
	assert_exactly(&output_a, next_number);
	stop();
}

/* A quarter of a small ring is not much, where its thread goes on in a larger one. */
static void flushevery_counts_from_the_full_size_of_a_ring(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_BLOCK);
	flush_every("FLUSHEVERY=100000\n");
	(void)ct_consumer_open(consumer);
	rings[0]->may_grow = true;
	while (produce(0, COMPONENT_A))
		;
	pass(false);
	assert_int_equal(result.delivered, 0);
	rings[0]->may_grow = false;
	pass(false);
	assert_int_equal(result.delivered, next_number);
	stop();
}

static void flushevery_gives_way_to_a_producer_that_waits_for_space(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_BLOCK);
	flush_every("FLUSHEVERY=100000\n");
	(void)ct_consumer_open(consumer);
	/* Little waits, but a large event finds no room beside it. */
	assert_true(produce_sized(0, COMPONENT_A, 30000));
	pass(true);
	assert_true(produce_sized(0, COMPONENT_A, 15000));
	pass(false);
	assert_int_equal(result.delivered, 0);
	assert_true(produce_sized(0, COMPONENT_A, 20000));
	assert_false(produce_sized(0, COMPONENT_A, 32700));
	rings[0]->head->waiting = 1;
	pass(false);
	assert_int_equal(result.delivered, 2);
	assert_true(produce_sized(0, COMPONENT_A, 32700));
	stop();
}

static void settings_reach_the_emitter_also_after_a_change(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_string_equal(output_a.property, "grey"); /* its default */
	flush_every("OTHER=1\ncolour=bl\\nue\\\\\n");
	ct_consumer_reopen(consumer, 1u << output_a.index);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_int_equal(output_a.closes, 1);
	assert_string_equal(output_a.property, "bl\nue\\");
	assert_int_equal(output_a.opens, 2);
	assert_exactly(&output_a, 2);
	stop();
}

static void overwritten_events_are_counted_in_records(void **state)
{
	struct ct_ring_head *head;
	uint32_t total = 0;

	(void)state;
	start(1, CT_OVERFLOW_OVERWRITE);
	head = rings[0]->head;
	for (uint32_t round = 0; round < 30; round++) {
		for (uint32_t i = 0; i < 700 * (round % 5); i++)
			assert_true(produce_sized(0, COMPONENT_BOTH, 20 + i % 9 * 40));
		pass(false);
		total += (uint32_t)result.delivered;
		assert_int_equal(result.pending, 0);
	}
	assert_int_equal(total, next_number); /* through the ring, one way or the other */
	assert_int_equal(head->consumed, next_number);
	assert_true(head->overwritten > 0);
	assert_int_equal(count_output(&output_a) + head->overwritten, next_number);
	assert_int_equal(count_output(&output_a), count_output(&output_b));
	assert_int_equal(output_a.lost[CTRACE_LOSS_OVERWRITTEN] <= head->overwritten, 1);
	stop();
}

static void overwriting_while_a_destination_fails_costs_only_what_is_overwritten(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_OVERWRITE);
	assert_true(produce(0, COMPONENT_A));
	pass(true);
	output_a.fail_writes = 1000;
	for (uint32_t i = 0; i < 5000; i++) {
		assert_true(produce(0, COMPONENT_A));
		if (i % 500 == 0)
			pass(true);
	}
	output_a.fail_writes = 0;
	pass(true);
	assert_int_equal(result.pending, 0);
	assert_int_equal(rings[0]->head->consumed, 5001);
	assert_int_equal(count_output(&output_a) + rings[0]->head->overwritten, 5001);
	stop();
}

static void the_flight_recorder_goes_out_on_its_trigger_only(void **state)
{
	(void)state;
	start(2, CT_OVERFLOW_OVERWRITE);
	rings[1]->head->kept = rings[1]->kept = 1;
	assert_true(produce(0, COMPONENT_A));
	assert_true(produce(1, COMPONENT_A));
	assert_true(produce(1, COMPONENT_A));
	pass(true);
	assert_int_equal(count_output(&output_a), 1);
	assert_int_equal(result.pending, 0); /* what the recorder holds waits for nothing */
	flight_wanted = 1;
	pass(true);
	assert_exactly(&output_a, 3);
	assert_int_equal(flight_wanted, 0); /* once */
	assert_true(produce(1, COMPONENT_A));
	pass(true);
	assert_exactly(&output_a, 3);
	stop();
}

static void damage_costs_what_is_behind_it_and_is_counted_once(void **state)
{
	(void)state;
	start(2, CT_OVERFLOW_DISCARD);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(produce(i % 2, COMPONENT_BOTH));
	/* its third */
	memset(rings[0]->data + CT_EVENT_MARK +
		       2 * (size_t)((rings[0]->head->head - CT_EVENT_MARK) / 5),
	       0, 8);
	pass(false);
	assert_int_equal(count_output(&output_a), 7);
	assert_int_equal(count_output(&output_b), 7);
	assert_int_equal(result.pending, 0);
	assert_int_equal(result.damaged, (rings[0]->head->head - CT_EVENT_MARK) / 5 * 3);
	assert_int_equal(rings[0]->head->undelivered, 1);
	assert_true(produce(0, COMPONENT_BOTH)); /* and the ring goes on */
	pass(false);
	assert_int_equal(count_output(&output_a), 8);
	stop();
}

static void an_event_of_no_component_is_damage(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	assert_true(produce(0, COMPONENT_COUNT));
	assert_true(produce(0, UINT32_MAX - 1));
	pass(false);
	assert_int_equal(count_output(&output_a), 1);
	assert_true(result.damaged > 0);
	assert_int_equal(result.pending, 0);
	stop();
}

static void short_memory_makes_no_consumer_and_loses_nothing(void **state)
{
	(void)state;
	ct_consumer_destroy(NULL);
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	ct_consumer_destroy(consumer);
	{
		struct ct_consumer_source source = live_source();

		assert_int_equal(ct_consumer_create(&source, &consumer), CTRACE_OK);
	}
	pass(false);
	assert_exactly(&output_a, 1);
	stop();
}

int test_consumer(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pass_with_nothing_to_do_opens_nothing,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(events_of_several_rings_come_out_once_and_by_time,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(more_than_a_batch_goes_in_one_pass, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(each_destination_gets_what_is_for_it, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_failed_write_delivers_nothing_and_the_same_events_come_again,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_failing_destination_is_left_alone_for_a_while_unless_somebody_waits,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_destination_that_cannot_be_opened_keeps_its_events_in_the_ring,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			one_that_fails_does_not_hold_up_the_other_nor_repeat_there, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			one_that_fails_does_not_hide_a_destination_behind_it, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_destination_that_begins_late_gets_what_is_for_it_and_nothing_older,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_new_ring_joins_in, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(flushevery_holds_events_back_until_there_are_enough,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(flushevery_0_waits_for_the_buffer_and_not_for_ever,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(flushevery_counts_from_the_full_size_of_a_ring,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			flushevery_gives_way_to_a_producer_that_waits_for_space, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(settings_reach_the_emitter_also_after_a_change,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(overwritten_events_are_counted_in_records,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			overwriting_while_a_destination_fails_costs_only_what_is_overwritten,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_flight_recorder_goes_out_on_its_trigger_only,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(idle_rings_are_not_worked_on, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_pass_has_no_event_of_the_next_ring_without_those_before_it, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(threads_that_move_on_and_on_wait_for_a_moment,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(damage_costs_what_is_behind_it_and_is_counted_once,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_event_of_no_component_is_damage, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(short_memory_makes_no_consumer_and_loses_nothing,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
