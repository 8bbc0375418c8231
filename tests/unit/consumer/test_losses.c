/*
 * test_losses.c - what destinations have lost is counted once, and reported with the next batch.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "pass_fixture.h"

static uint64_t most_reported;
static unsigned bursts;

static void overwrite_all(void)
{
	if (bursts == 0)
		return;
	bursts--;
	for (unsigned i = 0; i < 3000; i++)
		assert_true(produce(0, COMPONENT_BOTH));
}

static void overwrite_before_method(void *user)
{
	(void)user;
	overwrite_all();
}

static void after_method(void *user)
{
	(void)user;
}

static void note_most_reported(void)
{
	if (output_a.lost[CTRACE_LOSS_OVERWRITTEN] > most_reported)
		most_reported = output_a.lost[CTRACE_LOSS_OVERWRITTEN];
}

/* The producer comes round while the first batch is on its way: opening is between reading the
 * events and telling of losses. */
static void what_is_in_a_batch_is_not_reported_as_overwritten(void **state)
{
	struct ct_consumer_source source = live_source();

	(void)state;
	make_process(1, CT_OVERFLOW_OVERWRITE);
	source.before_method = overwrite_before_method;
	source.after_method = after_method;
	assert_int_equal(ct_consumer_create(&source, &consumer), CTRACE_OK);
	bursts = 1;
	most_reported = 0;
	output_a.before_write = note_most_reported;
	for (unsigned i = 0; i < 100; i++)
		assert_true(produce(0, COMPONENT_BOTH));
	for (unsigned i = 0; i < 3; i++)
		pass(true);
	ct_consumer_close(consumer);
	note_most_reported();
	assert_true(most_reported > 0);
	assert_int_equal(most_reported + count_output(&output_a), next_number);
	ct_consumer_destroy(consumer);
	drop_process();
}

/* The slower of two destinations finds that all it wanted is gone: what is counted at the tail
 * belongs to the tail. */
static void what_one_destination_has_lost_is_counted_once(void **state)
{
	struct ct_ring_head *head;

	(void)state;
	start(1, CT_OVERFLOW_OVERWRITE);
	head = rings[0]->head;
	for (unsigned i = 0; i < 200; i++) {
		assert_true(produce(0, COMPONENT_BOTH));
		if (i == 0)
			pass(true);
	}
	bursts = 1;
	output_a.before_write = overwrite_all;
	output_b.before_write = overwrite_all;
	pass(true);
	assert_true(head->overwritten + ct_ring_count_overwritten(rings[0]) +
			    ct_ring_count_pending(
				    rings[0],
				    &(struct ct_class_image){
					    .bytes = (const unsigned char *)session.classes,
					    .size = session.classes_size }) <=
		    next_number);
	pass(true);
	assert_int_equal(head->consumed, next_number);
	assert_true(count_output(&output_a) + head->overwritten >= next_number);
	assert_int_equal(output_a.lost[CTRACE_LOSS_OVERWRITTEN] + count_output(&output_a),
			 next_number);
	stop();
}

static void losses_are_reported_with_the_next_batch(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_int_equal(output_a.losts, 0);
	ct_ring_count_lost(rings[0], CTRACE_LOSS_DISCARDED, 1u << output_a.index);
	ct_ring_count_lost(rings[0], CTRACE_LOSS_DISCARDED, 1u << output_a.index);
	/* as the tracing thread does */
	session.head->dest[output_a.index].lost[CTRACE_LOSS_DISCARDED] = 2;
	session.head->lost_to_all[CTRACE_LOSS_NESTED] = 3;
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_int_equal(output_a.losts, 1);
	assert_int_equal(output_a.lost[CTRACE_LOSS_DISCARDED], 2);
	assert_int_equal(output_a.lost[CTRACE_LOSS_NESTED], 3);
	assert_int_equal(output_a.stream_lost, 2);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_int_equal(output_a.losts, 1);
	stop();
}

/* What no further event reports. */
static void losses_are_announced_without_an_event(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	ct_ring_count_lost(rings[0], CTRACE_LOSS_DISCARDED, 1u << output_a.index);
	session.head->dest[output_a.index].lost[CTRACE_LOSS_DISCARDED] = 1;
	pass(false);
	assert_int_equal(output_a.losts, 0);
	ct_consumer_announce(consumer);
	assert_int_equal(output_a.losts, 1);
	assert_int_equal(output_a.lost[CTRACE_LOSS_DISCARDED], 1);
	ct_consumer_announce(consumer);
	assert_int_equal(output_a.losts, 1);
	stop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_losses(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_in_a_batch_is_not_reported_as_overwritten),
		TEST(what_one_destination_has_lost_is_counted_once),
		TEST(losses_are_announced_without_an_event),
		TEST(losses_are_reported_with_the_next_batch),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
