/*
 * test_pass_over.c - a destination that fails, or does not return, costs its own events alone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "consumer_fixture.h"

#define FOR_EVER 1000000u

static struct ct_consumer *consumer;
static struct ct_consumer_result result;
static unsigned unlocked; /* how many methods run without the lock */

static void release_lock(void *user)
{
	(void)user;
	unlocked++;
}

static void take_lock(void *user)
{
	(void)user;
	unlocked--;
}

/* Nothing here goes by time: with this a method makes no progress from its first nanosecond on. */
#define AT_ONCE_NS 4u
static uint64_t timeout_ns;

static void start_with(enum ct_overflow overflow)
{
	struct ct_consumer_source source = live_source();

	source.before_method = release_lock;
	source.after_method = take_lock;
	timeout_ns = AT_ONCE_NS;
	source.block_timeout_ns = &timeout_ns;
	memset(&result, 0, sizeof result);
	unlocked = 0;
	make_process(1, overflow);
	assert_int_equal(ct_consumer_create(&source, &consumer), CTRACE_OK);
}

static void start(void)
{
	start_with(CT_OVERFLOW_DISCARD);
}

static void stop(void)
{
	assert_int_equal(unlocked, 0);
	ct_consumer_close(consumer);
	ct_consumer_destroy(consumer);
	drop_process();
}

static void pass(bool flush)
{
	ct_consumer_pass(consumer, flush, &result);
}

static uint64_t lost_of(const struct output *output)
{
	return ct_dest_current(&session.head->dest[output->index])->lost;
}

/* Until the ring has room for nothing more; how many came in. */
static uint32_t fill_ring(uint32_t component)
{
	uint32_t before = next_number;

	while (produce(0, component))
		;
	return next_number - before;
}

static uint64_t sum_of(const uint64_t totals[CTRACE_LOSS_COUNT])
{
	uint64_t sum = 0;

	for (int reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		sum += totals[reason];
	return sum;
}

static void one_that_fails_loses_its_own_events_and_the_other_gets_all(void **state)
{
	uint32_t count = 0;

	(void)state;
	start();
	output_a.fail_writes = FOR_EVER;
	/* Several rings' worth: each pass makes the room that the next events need. */
	while (count < 10000) {
		for (uint32_t i = 0; i < 100; i++, count++)
			assert_true(produce(0, COMPONENT_BOTH));
		pass(false);
		assert_int_equal(result.failing, 1u << output_a.index);
	}
	assert_exactly(&output_b, count);
	assert_int_equal(lost_of(&output_b), 0);
	assert_true(lost_of(&output_a) > 0);
	assert_int_equal(count_output(&output_a), 0);
	output_a.fail_writes = 0;
	pass(true);
	assert_int_equal(result.failing, 0);
	assert_int_equal(result.pending, 0);
	assert_int_equal(count_output(&output_a) + lost_of(&output_a), count);
	assert_int_equal(sum_of(output_a.lost), lost_of(&output_a)); /* its output tells of them */
	assert_int_equal(output_b.losts, 0);
	assert_exactly(&output_b, count);
	/* so the process has not delivered them */
	assert_int_equal(rings[0]->head->passed_over, lost_of(&output_a));
	stop();
}

static void alone_it_keeps_its_events(void **state)
{
	uint32_t count;

	(void)state;
	start();
	output_a.fail_writes = FOR_EVER;
	count = fill_ring(COMPONENT_A);
	for (int i = 0; i < 3; i++)
		pass(true);
	assert_int_equal(lost_of(&output_a), 0);
	output_a.fail_writes = 0;
	pass(true);
	assert_int_equal(result.pending, 0);
	assert_exactly(&output_a, count);
	stop();
}

static void when_all_of_them_fail_nobody_is_passed_over(void **state)
{
	uint32_t count;

	(void)state;
	start();
	output_a.fail_writes = output_b.fail_writes = FOR_EVER;
	count = fill_ring(COMPONENT_BOTH);
	for (int i = 0; i < 3; i++)
		pass(true);
	assert_int_equal(lost_of(&output_a) + lost_of(&output_b), 0);
	output_a.fail_writes = output_b.fail_writes = 0;
	pass(true);
	assert_exactly(&output_a, count);
	assert_exactly(&output_b, count);
	stop();
}

static void events_wait_for_it_while_there_is_room(void **state)
{
	(void)state;
	start();
	output_a.fail_writes = FOR_EVER;
	for (uint32_t i = 0; i < 100; i++)
		assert_true(produce(0, COMPONENT_BOTH));
	pass(true);
	assert_exactly(&output_b, 100);
	assert_int_equal(lost_of(&output_a), 0);
	output_a.fail_writes = 0;
	pass(true);
	assert_exactly(&output_a, 100);
	stop();
}

static void a_thread_that_can_get_a_larger_ring_needs_no_room(void **state)
{
	uint32_t made;

	(void)state;
	start();
	output_a.fail_writes = FOR_EVER;
	rings[0]->may_grow = true;
	made = fill_ring(COMPONENT_BOTH);
	pass(true);
	assert_exactly(&output_b, made);
	assert_int_equal(lost_of(&output_a), 0);
	rings[0]->may_grow = false;
	pass(true);
	assert_int_equal(lost_of(&output_a), made);
	stop();
}

/* What another thread does while the method of TESTA does not return. */
static void go_on_without_it(void)
{
	output_a.before_open = output_a.before_write = NULL;
	assert_int_equal(unlocked, 1);
	ct_consumer_supersede(consumer);
	for (uint32_t i = 0; i < 30; i++) {
		for (uint32_t k = 0; k < 100; k++)
			assert_true(produce(0, COMPONENT_BOTH));
		pass(true);
		assert_false(result.is_superseded);
		assert_int_equal(result.failing, 1u << output_a.index);
	}
	assert_exactly(&output_b, next_number);
	assert_int_equal(output_a.writes + output_a.closes, 0); /* nothing else was called there */
	assert_int_equal(session.head->dest[output_a.index].failing, ETIMEDOUT);
	assert_true(session.head->dest[output_a.index].stuck_since_ns != 0);
	assert_true(lost_of(&output_a) > 0);
}

#define FOR_HOURS_NS (UINT64_C(36000) * 1000000000)

/* Producers wait for room, and so for the method, until the timeout is made shorter. */
static void shorten_while_it_runs(void)
{
	output_a.before_open = output_a.before_write = NULL;
	ct_consumer_supersede(consumer);
	(void)fill_ring(COMPONENT_BOTH);
	for (int i = 0; i < 3; i++)
		pass(true);
	assert_int_equal(lost_of(&output_a), 0);
	timeout_ns = AT_ONCE_NS;
	pass(true);
	assert_true(lost_of(&output_a) > 0);
}

static void a_timeout_that_is_changed_holds_for_a_method_that_runs(void **state)
{
	(void)state;
	start_with(CT_OVERFLOW_BLOCK);
	timeout_ns = FOR_HOURS_NS;
	output_a.before_write = shorten_while_it_runs;
	assert_true(produce(0, COMPONENT_BOTH));
	pass(true);
	assert_null(output_a.before_write);
	stop();
}

static void the_limit_of_a_method_is_half_of_the_timeout(void **state)
{
	(void)state;
	assert_int_equal(ct_consumer_stuck_ns(40000000u), 20000000u);
	assert_int_equal(ct_consumer_stuck_ns(1000000000u), 500000000u);
	assert_int_equal(ct_consumer_stuck_ns(UINT64_MAX), 1000000000u);
	assert_int_equal(ct_consumer_stuck_ns(0), 100000000u);
}

/* While the method runs, and has for five seconds. */
static void compare_batches(void)
{
	struct ct_destination *destination = &consumer->destinations[output_a.index];
	size_t bytes = destination->batch->bytes;

	output_a.before_write = NULL;
	destination->call_since_ns = ct_clock_mono_ns() - 5000000000u;
	assert_true(ct_destination_is_stuck(destination));
	destination->batch->bytes = BATCH_BYTES;
	assert_true(ct_destination_is_stuck(destination));
	assert_int_equal(ct_consumer_allowed_ns(consumer), 0);
	destination->batch->bytes = (size_t)1 << 30;
	assert_false(ct_destination_is_stuck(destination));
	assert_int_equal(ct_consumer_allowed_ns(consumer), 107374182400u);
	destination->batch->bytes = bytes;
}

static void a_large_event_takes_its_time(void **state)
{
	(void)state;
	start_with(CT_OVERFLOW_BLOCK);
	timeout_ns = FOR_HOURS_NS;
	output_a.before_write = compare_batches;
	assert_true(produce(0, COMPONENT_BOTH));
	pass(true);
	assert_null(output_a.before_write);
	assert_int_equal(ct_consumer_allowed_ns(consumer), 0);
	stop();
}

static void one_whose_method_runs_is_passed_over_and_cut_back(void **state)
{
	struct ct_consumer_result outer;
	struct numbers numbers;
	uint64_t lost;

	(void)state;
	start();
	for (uint32_t i = 0; i < 50; i++)
		assert_true(produce(0, COMPONENT_BOTH));
	pass(true);
	assert_exactly(&output_a, 50);
	output_a.writes = 0;
	output_a.before_write = go_on_without_it;
	for (uint32_t i = 0; i < 50; i++)
		assert_true(produce(0, COMPONENT_BOTH));
	ct_consumer_pass(consumer, true, &outer);
	assert_true(outer.is_superseded);
	/* It has returned. */
	assert_int_equal(session.head->dest[output_a.index].stuck_since_ns, 0);
	lost = lost_of(&output_a);
	/* What it wrote meanwhile is counted as lost: so it is not in the file. */
	pass(true);
	assert_int_equal(result.failing, 0);
	assert_int_equal(result.pending, 0);
	assert_int_equal(lost_of(&output_a), lost);
	assert_int_equal(count_output(&output_a) + lost, next_number);
	assert_exactly(&output_b, next_number);
	numbers = read_output(&output_a);
	for (uint32_t i = 1; i < numbers.count; i++)
		assert_true(numbers.at[i] > numbers.at[i - 1]); /* none twice */
	assert_int_equal(numbers.at[50], 50 + lost);
	free(numbers.at);
	assert_int_equal(sum_of(output_a.lost), lost);
	stop();
}

/* The events that it is opened for are lost before it is open: their bytes in the ring are others'
 * by now. */
static void one_that_is_passed_over_while_it_opens_writes_nothing_of_that(void **state)
{
	struct ct_consumer_result outer;
	uint64_t lost;

	(void)state;
	start();
	output_a.before_open = go_on_without_it;
	for (uint32_t i = 0; i < 50; i++)
		assert_true(produce(0, COMPONENT_BOTH));
	ct_consumer_pass(consumer, true, &outer);
	assert_true(outer.is_superseded);
	assert_int_equal(count_output(&output_a), 0);
	lost = lost_of(&output_a);
	pass(true);
	assert_int_equal(result.failing, 0);
	assert_int_equal(result.pending, 0);
	assert_int_equal(lost_of(&output_a), lost);
	assert_int_equal(count_output(&output_a) + lost, next_number);
	assert_exactly(&output_b, next_number);
	assert_int_equal(sum_of(output_a.lost), lost);
	stop();
}

static void a_component_that_was_turned_away_gets_room(void **state)
{
	uint32_t count;

	(void)state;
	start();
	output_a.fail_writes = FOR_EVER;
	count = fill_ring(COMPONENT_A);
	pass(true);
	assert_false(produce(0, COMPONENT_B));
	pass(true);
	/* Nobody knows yet that this one has another destination. */
	assert_false(produce(0, COMPONENT_B));
	rings[0]->head->turned_away = 1u << output_b.index;
	pass(true);
	assert_int_equal(rings[0]->head->turned_away, 0);
	assert_int_equal(lost_of(&output_a), count);
	assert_true(produce(0, COMPONENT_B));
	pass(true);
	assert_int_equal(count_output(&output_b), 1);
	assert_int_equal(lost_of(&output_b), 0);
	stop();
}

/* ---- the end of the process ---- */

static void give_up(enum ct_ring_place place)
{
	for (uint32_t i = 0; i < ring_count; i++)
		rings[i]->place = (uint8_t)place;
	ct_consumer_give_up(consumer);
}

/* What both have is delivered; of the rest, each loses its own. */
static void what_has_no_file_is_counted_at_the_end(void **state)
{
	(void)state;
	start();
	assert_true(produce(0, COMPONENT_BOTH));
	pass(true);
	output_a.fail_writes = FOR_EVER;
	for (uint32_t i = 0; i < 10; i++)
		assert_true(produce(0, i < 4 ? COMPONENT_BOTH : COMPONENT_A));
	pass(true);
	assert_int_equal(lost_of(&output_a), 0);
	assert_false(ct_consumer_owes_losses(consumer));
	give_up(CT_RING_PRIVATE);
	assert_int_equal(session.head->ring_place[0], CT_RING_SETTLED);
	assert_true(ct_ring_is_empty(rings[0]));
	assert_int_equal(lost_of(&output_a), 10);
	assert_int_equal(lost_of(&output_b), 0);
	assert_exactly(&output_b, 5);
	assert_int_equal(rings[0]->head->passed_over, 10); /* that some destination lacks */
	assert_true(ct_consumer_owes_losses(consumer));
	give_up(CT_RING_PRIVATE);
	assert_int_equal(lost_of(&output_a), 10); /* once */
	stop();
}

/* Each event that some destination lacks is one event. */
static void what_two_have_lost_is_counted_once(void **state)
{
	(void)state;
	start();
	assert_true(produce(0, COMPONENT_BOTH));
	pass(true);
	output_a.fail_writes = output_b.fail_writes = FOR_EVER;
	for (uint32_t i = 0; i < 30; i++)
		assert_true(produce(0, i % 3 == 0   ? COMPONENT_BOTH
				       : i % 3 == 1 ? COMPONENT_A
						    : COMPONENT_B));
	pass(true);
	give_up(CT_RING_PRIVATE);
	assert_int_equal(lost_of(&output_a), 20);
	assert_int_equal(lost_of(&output_b), 20);
	assert_int_equal(rings[0]->head->passed_over, 30);
	stop();
}

static void what_has_a_file_waits_there(void **state)
{
	(void)state;
	start();
	output_a.fail_writes = FOR_EVER;
	assert_true(produce(0, COMPONENT_A));
	pass(true);
	give_up(CT_RING_IN_DIRECTORY);
	assert_int_equal(lost_of(&output_a), 0);
	assert_false(ct_ring_is_empty(rings[0]));
	stop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_pass_over(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_fails_loses_its_own_events_and_the_other_gets_all),
		TEST(alone_it_keeps_its_events),
		TEST(when_all_of_them_fail_nobody_is_passed_over),
		TEST(events_wait_for_it_while_there_is_room),
		TEST(a_thread_that_can_get_a_larger_ring_needs_no_room),
		TEST(one_whose_method_runs_is_passed_over_and_cut_back),
		TEST(a_timeout_that_is_changed_holds_for_a_method_that_runs),
		TEST(the_limit_of_a_method_is_half_of_the_timeout),
		TEST(a_large_event_takes_its_time),
		TEST(one_that_is_passed_over_while_it_opens_writes_nothing_of_that),
		TEST(a_component_that_was_turned_away_gets_room),
		TEST(what_has_no_file_is_counted_at_the_end),
		TEST(what_two_have_lost_is_counted_once),
		TEST(what_has_a_file_waits_there),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
