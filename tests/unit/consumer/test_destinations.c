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

static enum ctrace_status rotated_in_write;
static uint32_t done_in_write;

static void rotate_in_a_method(void)
{
	rotated_in_write = ct_consumer_rotate(consumer, 1u << output_a.index | 1u << output_b.index,
					      &done_in_write);
}

/* The fixture's emitters have no rotate(); TEXTFILE has. */
static void rotating_reports_which_destinations_began_anew(void **state)
{
	static const char settings[] = "FILE=rotated$(GEN)\nMAXGENERATION=2\n";
	uint32_t a = 1u << output_a.index, textfile, done = 77;

	(void)state;
	start(1, CT_OVERFLOW_DISCARD);
	assert_int_equal(ct_consumer_rotate(consumer, ~0u, &done), CTRACE_NOT_FOUND);
	assert_int_equal(done, 0); /* none is open */

	assert_int_equal(ct_emitter_find("TEXTFILE", 8, &textfile), CTRACE_OK);
	(void)snprintf(session.head->dest[textfile].emitter, 32, "TEXTFILE");
	assert_int_equal(ct_session_add_text(&session, settings, strlen(settings),
					     &session.head->dest[textfile].settings),
			 CTRACE_OK);
	session.components[COMPONENT_A].dests |= 1u << textfile;
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	assert_int_equal(ct_consumer_rotate(consumer, a, &done), CTRACE_UNSUPPORTED);
	assert_int_equal(done, 0);
	assert_int_equal(ct_consumer_rotate(consumer, 1u << textfile, &done), CTRACE_OK);
	assert_int_equal(done, 1u << textfile);
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	/* One that cannot is no failure when another one can. */
	assert_int_equal(ct_consumer_rotate(consumer, ~0u, &done), CTRACE_OK);
	assert_int_equal(done, 1u << textfile);

	/* One that is inside a method does not wait for itself. */
	output_a.before_write = rotate_in_a_method;
	assert_true(produce(0, COMPONENT_A));
	pass(false);
	output_a.before_write = NULL;
	assert_int_equal(rotated_in_write, CTRACE_TIMED_OUT);
	assert_int_equal(done_in_write, 0);
	stop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_destinations(void)
{
	const struct CMUnitTest tests[] = {
		TEST(destinations_open_before_the_first_event_when_asked),
		TEST(syncing_asks_every_open_destination),
		TEST(a_consumer_is_busy_within_a_method),
		TEST(rotating_reports_which_destinations_began_anew),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
