/*
 * test_ipcs_query.c - the traces that there are: each once, in any number.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void note(struct ct_ipcs_traces *traces, const char *name, uint64_t time_ns)
{
	struct ctrace_event event = { .component = name,
				      .component_size = (uint32_t)strlen(name),
				      .time_ns = time_ns };

	ct_ipcs_traces_note(traces, &event);
}

static void each_once(void **state)
{
	struct ct_ipcs_traces traces = { 0 };

	(void)state;
	note(&traces, "B", 5);
	note(&traces, "A.X", 6);
	note(&traces, "b", 3);
	note(&traces, "B", 9);
	ct_ipcs_traces_sort(&traces);
	assert_int_equal(traces.count, 2);
	assert_string_equal(traces.at[0].name, "A.X");
	assert_string_equal(traces.at[1].name, "B");
	assert_int_equal(traces.at[1].count, 3);
	assert_int_equal(traces.at[1].first_ns, 3);
	assert_int_equal(traces.at[1].last_ns, 9);
	ct_ipcs_traces_fini(&traces);
	ct_ipcs_traces_sort(&traces); /* of nothing */
}

static void without_entries(void **state)
{
	struct ct_ipcs_traces traces = { 0 };

	(void)state;
	ct_ipcs_traces_name(&traces, "A", 1);
	ct_ipcs_traces_name(&traces, "a", 1);
	note(&traces, "B", 5);
	ct_ipcs_traces_name(&traces, "B", 1);
	assert_int_equal(traces.count, 2);
	assert_int_equal(traces.at[0].count, 0);
	assert_int_equal(traces.at[1].count, 1);
	assert_int_equal(traces.at[1].first_ns, 5);
	note(&traces, "A", 7);
	assert_int_equal(traces.at[0].first_ns, 7);
	assert_int_equal(traces.at[0].last_ns, 7);
	ct_ipcs_traces_fini(&traces);
}

static void any_number(void **state)
{
	struct ct_ipcs_traces traces = { 0 };
	char name[16];

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < CT_IPCS_TRACES + 5; i++) {
			(void)snprintf(name, sizeof name, "T%u", i);
			note(&traces, name, i);
		}
	assert_int_equal(traces.count, CT_IPCS_TRACES);
	assert_int_equal(traces.others, 10);
	assert_false(traces.has_failed);
	for (unsigned i = 0; i < traces.count; i++)
		assert_int_equal(traces.at[i].count, 2);
	ct_ipcs_traces_fini(&traces);
}

int test_ipcs_query(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_once),
		cmocka_unit_test(without_entries),
		cmocka_unit_test(any_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
