/*
 * test_ipcs_tally.c - counts and intervals by entry id.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/ipcs/ipcs.h"

static void note(struct ct_ipcs_tallies *tallies, const char *component, uint32_t id,
		 uint64_t time_ns)
{
	struct ct_read_event event = event_of(NULL, 0);

	event.traced.component = component;
	event.traced.component_size = (uint32_t)strlen(component);
	event.traced.event_id = id;
	event.traced.time_ns = time_ns;
	ct_ipcs_tallies_note(tallies, &event);
}

static void intervals(void **state)
{
	struct ct_ipcs_tallies tallies = { 0 };
	const struct ct_ipcs_tally *tally;

	(void)state;
	note(&tallies, "X", 9, 1000);
	note(&tallies, "X", 1, 1500);
	note(&tallies, "X", 9, 1999);         /* 999 ns: below 1 us */
	note(&tallies, "X", 9, 2999);         /* 1 us: below 10 us */
	note(&tallies, "X", 9, 20000002999u); /* 20 s */
	note(&tallies, "X", 9, 20000002999u); /* none */
	note(&tallies, "X", 9, 5);            /* back in time: counts as none */
	ct_ipcs_tallies_sort(&tallies);
	assert_int_equal(tallies.count, 2);
	assert_int_equal(tallies.events, 7);
	assert_int_equal(tallies.at[0].event_id, 1);
	tally = &tallies.at[1];
	assert_int_equal(tally->count, 6);
	assert_int_equal(tally->least_ns, 0);
	assert_int_equal(tally->most_ns, 20000000000u);
	assert_true(tally->sum_ns == 20000001999.0);
	assert_int_equal(tally->decades[0], 3);
	assert_int_equal(tally->decades[1], 1);
	assert_int_equal(tally->decades[CT_IPCS_DECADES - 1], 1);
	assert_string_equal(tally->mnemonic, "00000009");
	ct_ipcs_tallies_fini(&tallies);
}

static void decades(void **state)
{
	struct ct_ipcs_tallies tallies = { 0 };
	uint64_t time_ns = 0, step = 1000;

	(void)state;
	note(&tallies, "X", 1, 0);
	for (unsigned i = 0; i < CT_IPCS_DECADES - 1; i++, step *= 10)
		note(&tallies, "X", 1, time_ns += step);
	for (unsigned i = 1; i < CT_IPCS_DECADES; i++)
		assert_int_equal(tallies.at[0].decades[i], 1);
	assert_int_equal(tallies.at[0].decades[0], 0);
	ct_ipcs_tallies_fini(&tallies);
}

static void any_number(void **state)
{
	struct ct_ipcs_tallies tallies = { 0 };

	(void)state;
	for (unsigned i = 0; i < CT_IPCS_TALLIES + 5; i++)
		note(&tallies, i % 2 != 0 ? "X" : "Y", i / 2, i);
	assert_int_equal(tallies.count, CT_IPCS_TALLIES);
	assert_int_equal(tallies.others, 5);
	assert_false(tallies.has_failed);
	ct_ipcs_tallies_fini(&tallies);
	assert_int_equal(tallies.count, 0);
	note(&tallies, "X", 1, 1);
	assert_int_equal(tallies.count, 1);
	ct_ipcs_tallies_fini(&tallies);
}

int test_ipcs_tally(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals),
		cmocka_unit_test(decades),
		cmocka_unit_test(any_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
