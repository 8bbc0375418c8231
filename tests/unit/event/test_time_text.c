/*
 * test_time_text.c - points in time as people write them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/read.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000u
/* 2023-11-14 22:13:20 UTC */
#define NOW (1700000000u * (uint64_t)SECOND + 123456789u)

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds;
		uint32_t ns;
	} rows[] = {
		{ "@1700000000", 1700000000, 0 },
		{ "@1700000000.5", 1700000000, 500000000 },
		{ "@0.000000001", 0, 1 },
		{ "@1.1234567899", 1, 123456789 },
		{ "-20s", 1699999980, 123456789 },
		{ "-5m", 1699999700, 123456789 },
		{ "-1.5h", 1700000000 - 5400, 123456789 },
		{ "-1d", 1700000000 - 86400, 123456789 },
		{ "5m", 1699999700, 123456789 },
		{ "5m ago", 1699999700, 123456789 },
		{ "5 min ago", 1699999700, 123456789 },
		{ "1.5 hours ago", 1700000000 - 5400, 123456789 },
		{ "-2 Days", 1700000000 - 2 * 86400, 123456789 },
		{ "1 week ago", 1700000000 - 7 * 86400, 123456789 },
		{ "now", 1700000000, 123456789 },
		{ "today", 1699920000, 0 },
		{ "yesterday", 1699920000 - 86400, 0 },
		{ "Yesterday 22:13", 1699999980 - 86400, 0 },
		{ "today 22:13:20.5", 1700000000, 500000000 },
		{ "2023-11-14 22:13:20", 1700000000, 0 },
		{ "2023-11-14T22:13:20.25Z", 1700000000, 250000000 },
		{ "2023/11/14 22:13", 1699999980, 0 },
		{ "2023-11-14", 1699920000, 0 },
		{ "22:13:20.993", 1700000000, 993000000 },
		{ "22:13", 1699999980, 0 },
		{ "1970-01-01 00:00:00", 0, 0 },
		{ "2024-02-29 00:00:00", 1709164800, 0 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		uint64_t got = 1;

		if (!ct_filter_parse_time(rows[i].text, NOW, &got) ||
		    got != rows[i].seconds * SECOND + rows[i].ns)
			fail_msg("\"%s\" gave %llu", rows[i].text, (unsigned long long)got);
	}
}

static void local_and_universal_time(void **state)
{
	uint64_t local, universal;

	(void)state;
	setenv("TZ", "XYZ-2", 1);
	tzset();
	assert_true(ct_filter_parse_time("2023-11-14 22:13:20", NOW, &local));
	assert_true(ct_filter_parse_time("2023-11-14 22:13:20Z", NOW, &universal));
	assert_int_equal(universal - local, 7200u * (uint64_t)SECOND);
	/* Today is the 15th there. */
	assert_true(ct_filter_parse_time("00:13:20", NOW, &local));
	assert_int_equal(local, 1700000000u * (uint64_t)SECOND);
	setenv("TZ", "UTC", 1);
	tzset();
}

static void times_that_are_none(void **state)
{
	static const char *const bad[] = {
		"",
		"@",
		"@x",
		"@1x",
		"@99999999999999999999",
		"@1.",
		"-",
		"-5",
		"-5x",
		"-5mm",
		"5",
		"5m later",
		"5m agone",
		"ago",
		"todays",
		"yesterday 25:00",
		"-999999999999d",
		"22",
		"22:",
		"24:00:00",
		"22:60:00",
		"22:13:61",
		"22:13:20.",
		"2023-11-14 ",
		"2023-11-14x",
		"2023-13-01",
		"2023-00-01",
		"2023-11-31",
		"2023-02-29",
		"2023-11/14",
		"23-11-14",
		"2023-11-14 22:13:20ZZ",
		"1969-12-31 00:00:00",
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		uint64_t got = 77;

		if (ct_filter_parse_time(bad[i], NOW, &got))
			fail_msg("accepted: \"%s\"", bad[i]);
		assert_int_equal(got, 77);
	}
}

static void long_ago_is_the_beginning(void **state)
{
	uint64_t got;

	(void)state;
	assert_true(ct_filter_parse_time("-30000d", NOW, &got));
	assert_int_equal(got, 0);
}

static void as_many_digits_as_distinguish_two_times(void **state)
{
	static const struct {
		unsigned digits;
		uint64_t before_ns, time_ns;
		unsigned wanted;
	} rows[] = {
		{ 3, 5000000, 5000000, 3 }, /* equal: no digit helps */
		{ 3, 5999999, 6000000, 3 }, { 3, 6000000, 5999999, 3 },
		{ 3, 5000000, 5001000, 6 }, { 3, 5000999, 5000000, 9 },
		{ 3, 5000000, 5000001, 9 }, { 6, 5000000, 6000000, 6 }, /* never fewer */
		{ 6, 5000000, 5001000, 6 }, { 6, 5000000, 5000999, 9 },
		{ 9, 5000000, 6000000, 9 }, { 9, 5000000, 5000001, 9 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		assert_int_equal(ct_text_digits(rows[i].digits, rows[i].before_ns, rows[i].time_ns),
				 rows[i].wanted);
}

static int use_utc(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

int test_time_text(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(local_and_universal_time),
		cmocka_unit_test(times_that_are_none),
		cmocka_unit_test(long_ago_is_the_beginning),
		cmocka_unit_test(as_many_digits_as_distinguish_two_times),
	};

	return cmocka_run_group_tests(tests, use_utc, NULL);
}
