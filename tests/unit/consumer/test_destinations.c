/*
 * test_destinations.c - all destinations of a consumer at once: opened before the first event, made
 * durable.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "pass_fixture.h"

static void destinations_open_before_the_first_event_when_asked(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	session.components[COMPONENT_A].level_word.level = CTRACE_LEVEL_NONE;
	session.components[COMPONENT_BOTH].level_word.level = CTRACE_LEVEL_NONE;
	output_b.fail_opens = 1;
	assert_int_equal(ct_consumer_open(consumer), 1u << output_b.index);
	assert_int_equal(output_a.opens, 0);
	ct_consumer_reopen(consumer, 1u << output_b.index); /* a command: not to be kept waiting */
	assert_int_equal(ct_consumer_open(consumer), 0);
	assert_int_equal(output_b.opens, 2);
	assert_int_equal(ct_consumer_open(consumer), 0);
	assert_int_equal(output_b.opens, 2);
	stop();
}

static void syncing_asks_every_open_destination(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_true(produce(0, COMPONENT_BOTH));
	pass(false);
	assert_int_equal(ct_consumer_sync(consumer), CTRACE_OK);
	assert_int_equal(output_a.flushes + output_b.flushes, 2);
	output_a.fail_flush = true;
	assert_int_not_equal(ct_consumer_sync(consumer), CTRACE_OK);
	stop();
}

static unsigned seen_busy;

static void look_whether_busy(void)
{
	seen_busy += ct_consumer_is_busy(consumer);
}

/* Another thread asks, to know whether it may take over. */
static void a_consumer_is_busy_within_a_method(void **state)
{
	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_false(ct_consumer_is_busy(consumer));
	output_a.before_write = look_whether_busy;
	assert_true(produce(0, COMPONENT_BOTH));
	pass(false);
	assert_int_equal(seen_busy, 1);
	assert_false(ct_consumer_is_busy(consumer));
	output_a.before_write = NULL;
	stop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_destinations(void)
{
	const struct CMUnitTest tests[] = {
		TEST(destinations_open_before_the_first_event_when_asked),
		TEST(syncing_asks_every_open_destination),
		TEST(a_consumer_is_busy_within_a_method),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
