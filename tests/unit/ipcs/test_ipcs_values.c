/*
 * test_ipcs_values.c - times, numbers and ranges, words, names of traces.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

#include <time.h>

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t us; /* 0: it is none */
	} cases[] = {
		{ "11/14/23,22.13.20.000001", 1700000000000001 },
		{ "11/14/2023,22.13.20.000001", 1700000000000001 },
		{ "11/14/23 22:13:20.5", 1700000000500000 },
		{ "11/14/23, 22.13.20", 1700000000000000 },
		{ "11/14/23,22.13", 1699999980000000 },
		{ "11/14/23", 1699920000000000 },
		{ "1/2/99", 915235200000000 },
		{ "02/29/2024", 1709164800000000 },
		{ "02/29/2023", 0 },
		{ "04/31/23", 0 },
		{ "13/01/23", 0 },
		{ "00/01/23", 0 },
		{ "11/14/203", 0 },
		{ "11/14/1969", 0 },
		{ "11/14/23,", 0 },
		{ "11/14/23x", 0 },
		{ "11/14/23,24.00.00", 0 },
		{ "11/14/23,22.60.00", 0 },
		{ "11/14/23,22.13.20.1234567", 0 },
		{ "11/14/23,22", 0 },
		{ "11/14", 0 },
		{ "", 0 },
	};

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		struct ct_diagnostic diagnostic;
		struct ct_ipcs_time time_bound = { 0 };
		struct ct_ipcs_text copy;
		struct ct_parser scan;
		uint64_t us = 0;

		assert_true(ct_ipcs_scan_start(
			&scan, &copy, (struct ct_span){ cases[i].text, strlen(cases[i].text) },
			&diagnostic));
		ct_ipcs_read_time(&scan, ct_span_of(scan.at, scan.end), &time_bound);
		if (!time_bound.is_given || !ct_ipcs_time_us(&time_bound, i % 2 != 0, &us))
			us = 0;
		if (us != cases[i].us)
			fail_msg("%s: %llu", cases[i].text, (unsigned long long)us);
		ct_ipcs_scan_end(&scan, &copy);
	}
}

static void local_times(void **state)
{
	struct ct_ipcs_time time_bound = { .is_given = true,
					   .year = 2023,
					   .month = 11,
					   .day = 14,
					   .hour = 17,
					   .minute = 13,
					   .second = 20 };
	uint64_t us;

	(void)state;
	setenv("TZ", "XYZ+5", 1);
	tzset();
	assert_true(ct_ipcs_time_us(&time_bound, true, &us));
	assert_int_equal(us, 1700000000000000);
	assert_true(ct_ipcs_time_us(&time_bound, false, &us));
	assert_int_equal(us, 1700000000000000 - UINT64_C(18000000000));
	setenv("TZ", "UTC", 1);
	tzset();
}

static void numbers(void **state)
{
	struct ct_ipcs_command command;

	(void)state;
	parse_good("CTRACE COMP(X) ENTIDLIST(0 FFFFFFFF x'00' 0:FFFFFFFF) ASIDLIST(F'65535')",
		   &command);
	assert_int_equal(command.ids.count, 4);
	assert_int_equal(command.ids.at[1].first, UINT32_MAX);
	assert_int_equal(command.ids.at[3].last, UINT32_MAX);
	assert_int_equal(command.asids.at[0].last, 0xFFFF);
	ct_ipcs_command_fini(&command);
	assert_refused("CTRACE COMP(X) ENTIDLIST(100000000)", CT_ITT_NONE, 1, 26,
		       "is none of the numbers");
	assert_refused("CTRACE COMP(X) ENTIDLIST(1,G)", CT_ITT_NONE, 1, 28,
		       "\"G\" is none of the numbers");
	assert_refused("CTRACE COMP(X) ENTIDLIST(F'1A')", CT_ITT_NONE, 1, 26,
		       "is none of the numbers");
	assert_refused("CTRACE COMP(X) ENTIDLIST(2:1)", CT_ITT_NONE, 1, 26,
		       "is a range that descends");
	assert_refused("CTRACE COMP(X) ENTIDLIST(1:)", CT_ITT_NONE, 1, 26,
		       "is none of the numbers");
	assert_refused("CTRACE COMP(X) ASIDLIST(0)", CT_ITT_NONE, 1, 25, "is none of the numbers");
	assert_refused("CTRACE COMP(X) ASIDLIST(10000)", CT_ITT_NONE, 1, 25,
		       "is none of the numbers");
	assert_refused("CTRACE COMP(X) LIMIT(123456789)", CT_ITT_NONE, 1, 22, "is no limit");
	assert_refused("CTRACE COMP(X) LIMIT(A)", CT_ITT_NONE, 1, 22, "is no limit");
}

static void lists_end(void **state)
{
	struct ct_ipcs_command command;
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text, "CTRACE COMP(X) ENTIDLIST(");
	for (unsigned i = 0; i < CT_IPCS_LISTED; i++)
		ct_buf_add_text(&text, "1 ");
	ct_buf_add_text(&text, ")");
	parse_good(ct_buf_text(&text), &command);
	assert_int_equal(command.ids.count, CT_IPCS_LISTED);
	ct_ipcs_command_fini(&command);
	text.size--;
	ct_buf_add_text(&text, "1)");
	assert_refused(ct_buf_text(&text), CT_ITT_NONE, 1, 26 + 2 * CT_IPCS_LISTED,
		       "is one too many");
	ct_buf_fini(&text);
}

static void words(void **state)
{
	struct ct_ipcs_command command;

	(void)state;
	parse_good("CTRACE COMP(X) JOBLIST(('A B',C)) DSN('x''y' z)", &command);
	assert_int_equal(command.jobs.count, 2);
	assert_string_equal(command.jobs.at[0], "A B");
	assert_string_equal(command.sources.at[0], "x'y");
	assert_string_equal(command.sources.at[1], "z");
	ct_ipcs_command_fini(&command);
	assert_refused("CTRACE COMP(X) JOBLIST('')", CT_ITT_NONE, 1, 24, "is empty");
	assert_refused("CTRACE COMP(X) JOBLIST(A2345678901234567)", CT_ITT_NONE, 1, 24,
		       "is too long");
}

static void names(void **state)
{
	(void)state;
	assert_refused("CTRACE COMP('')", CT_ITT_NONE, 1, 13, "is no name");
	assert_refused("CTRACE COMP(X) SUB(())", CT_ITT_NONE, 1, 21, "is no sublevel");
	assert_refused("CTRACE COMP(X) SUB((A B))", CT_ITT_NONE, 1, 21,
		       "is more than one sublevel");
	assert_refused("CTRACE COMP(X) SUB((A.))", CT_ITT_NONE, 1, 21, "has an empty name");
}

int test_ipcs_values(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),   cmocka_unit_test(local_times),
		cmocka_unit_test(numbers), cmocka_unit_test(lists_end),
		cmocka_unit_test(words),   cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
