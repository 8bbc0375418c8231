/*
 * test_repair_clock.c - the clock of a trace, by the heads of its packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "repair_fixture.h"

#define FREQUENCY 2400000000u
#define BEGIN_NS 1795360347000000000u
#define BEGIN_TICKS 125000000000000u
#define MS 1000000u

/* A packet of 50 us that begins so many ms after the first. */
static struct ct_packet_head packet_at(uint64_t ms)
{
	return (struct ct_packet_head){
		.begin_ticks = BEGIN_TICKS + ms * (FREQUENCY / 1000),
		.end_ticks = BEGIN_TICKS + ms * (FREQUENCY / 1000) + FREQUENCY / 20000,
		.begin_ns = BEGIN_NS + ms * MS,
		.end_ns = BEGIN_NS + ms * MS + MS / 20,
	};
}

static struct ct_repair_clock add_packets(unsigned count)
{
	struct ct_repair_clock clock = { .best = { 0 } };

	for (unsigned i = 0; i < count; i++) {
		struct ct_packet_head head = packet_at(10 * i);

		ct_repair_clock_add(&clock, &head);
	}
	return clock;
}

/* Too few packets to know better than a trace's own metadata. */
static void few_packets_do_not_overrule(void **state)
{
	struct ct_repair_clock few = add_packets(7), enough = add_packets(8);
	struct ct_trace_info info;

	(void)state;
	(void)ct_repair_clock_set(&few, &info);
	info.frequency += info.frequency / 10;
	assert_true(ct_repair_clock_agrees(&few, &info, true));
	assert_false(ct_repair_clock_agrees(&few, &info, false));
	assert_false(ct_repair_clock_agrees(&enough, &info, true));
}

/* Within a microsecond, at that time. */
static void assert_clock(const struct ct_trace_info *info, uint64_t ticks, uint64_t time_ns)
{
	uint64_t found = ct_trace_ticks(info, time_ns);

	assert_in_range(found, ticks - FREQUENCY / MS, ticks + FREQUENCY / MS);
}

static void the_clock_is_that_of_the_packets(void **state)
{
	struct ct_repair_clock clock = add_packets(5);
	struct ct_trace_info info = { .pid = 7 };

	(void)state;
	assert_int_equal(ct_repair_clock_set(&clock, &info), FREQUENCY);
	assert_int_equal(info.frequency, FREQUENCY);
	assert_int_equal(info.pid, 7);
	assert_clock(&info, BEGIN_TICKS, BEGIN_NS);
	assert_clock(&info, BEGIN_TICKS + FREQUENCY, BEGIN_NS + 1000 * MS);
	assert_true(ct_repair_clock_agrees(&clock, &info, true));
	assert_true(ct_repair_clock_agrees(&clock, &info, false));
}

/* Packets of one event each have no length. */
static void events_that_stand_alone_have_a_clock(void **state)
{
	struct ct_repair_clock clock = { .best = { 0 } };
	struct ct_trace_info info;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct ct_packet_head head = packet_at(i);

		head.end_ticks = head.begin_ticks;
		head.end_ns = head.begin_ns;
		ct_repair_clock_add(&clock, &head);
	}
	assert_int_equal(ct_repair_clock_set(&clock, &info), FREQUENCY);
}

/* One event says when it was, and no more. */
static void one_event_is_at_its_time(void **state)
{
	struct ct_repair_clock clock = { .best = { 0 } };
	struct ct_packet_head head = packet_at(0);
	struct ct_trace_info info;

	(void)state;
	head.end_ticks = head.begin_ticks;
	head.end_ns = head.begin_ns;
	ct_repair_clock_add(&clock, &head);
	assert_int_equal(ct_repair_clock_set(&clock, &info), 0);
	assert_int_not_equal(info.frequency, 0);
	assert_clock(&info, BEGIN_TICKS, BEGIN_NS);
}

static void a_damaged_head_does_not_count(void **state)
{
	struct ct_trace_info info;

	(void)state;
	for (unsigned at = 0; at < 6; at++)
		for (unsigned field = 0; field < 4; field++) {
			struct ct_repair_clock clock = { .best = { 0 } };

			for (unsigned i = 0; i < 6; i++) {
				struct ct_packet_head head = packet_at(10 * i);
				uint64_t *fields[] = { &head.begin_ticks, &head.end_ticks,
						       &head.begin_ns, &head.end_ns };

				if (i == at)
					*fields[field] ^= (uint64_t)1 << 45;
				if (head.end_ticks >= head.begin_ticks &&
				    head.end_ns >= head.begin_ns)
					ct_repair_clock_add(&clock, &head);
			}
			assert_in_range(ct_repair_clock_set(&clock, &info), FREQUENCY - 100,
					FREQUENCY + 100);
		}
}

static void a_step_of_the_wall_clock_does_not_count(void **state)
{
	struct ct_repair_clock clock = add_packets(5);
	struct ct_trace_info info;

	(void)state;
	for (unsigned i = 5; i < 12; i++) {
		struct ct_packet_head head = packet_at(10 * i);

		head.begin_ns += 3600ull * 1000 * MS;
		head.end_ns += 3600ull * 1000 * MS;
		ct_repair_clock_add(&clock, &head);
	}
	assert_int_equal(ct_repair_clock_set(&clock, &info), FREQUENCY);
	assert_clock(&info, BEGIN_TICKS, BEGIN_NS + 3600ull * 1000 * MS);
}

static void metadata_of_another_clock_do_not_agree(void **state)
{
	struct ct_repair_clock clock = add_packets(50);
	struct ct_trace_info info, other = { .pid = 1 };

	(void)state;
	(void)ct_repair_clock_set(&clock, &info);
	info.frequency += info.frequency / 10;
	assert_false(ct_repair_clock_agrees(&clock, &info, true));
	assert_false(ct_repair_clock_agrees(&clock, &other, true));
	(void)ct_repair_clock_set(&clock, &info);
	info.offset_s += 100;
	assert_true(ct_repair_clock_agrees(&clock, &info, true));
	assert_false(ct_repair_clock_agrees(&clock, &info, false));
}

static void without_packets_nothing_disagrees(void **state)
{
	const struct ct_repair_clock clock = { .best = { 0 } };
	struct ct_trace_info info = { .frequency = 5 };

	(void)state;
	assert_true(ct_repair_clock_agrees(&clock, &info, true));
	assert_true(ct_repair_clock_agrees(&clock, &info, false));
}

int test_repair_clock(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_that_of_the_packets),
		cmocka_unit_test(events_that_stand_alone_have_a_clock),
		cmocka_unit_test(one_event_is_at_its_time),
		cmocka_unit_test(a_damaged_head_does_not_count),
		cmocka_unit_test(a_step_of_the_wall_clock_does_not_count),
		cmocka_unit_test(metadata_of_another_clock_do_not_agree),
		cmocka_unit_test(few_packets_do_not_overrule),
		cmocka_unit_test(without_packets_nothing_disagrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
