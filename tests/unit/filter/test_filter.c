/*
 * test_filter.c - which events a filter accepts, which classes, and which times.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_fixture.h"

#include <stdio.h>

static void fields_of_an_event(void **state)
{
	static const char *const accepted[] = {
		"component == \"mf.rts\"",
		"component ~ 'mf.*'",
		"component !~ \"x*\"",
		"component != \"mf\"",
		"component in ('A', 'Mf.Rts')",
		"component not in ('A', 'B')",
		"level == warn",
		"level >= info",
		"level > 1",
		"level < Error",
		"level <= \"warn\"",
		"level in (warn..fatal)",
		"level != fatal",
		"event = 7",
		"event == 0x7",
		"event <> 8",
		"event in (1, 6..8, 18)",
		"event not in (1, 8..10)",
		"event !in (6)",
		"mnemonic == 'open'",
		"mnemonic ~ \"O*\"",
		"time == \"2023-11-14 22:13:20\"",
		"time >= \"-5m\"",
		"time > '2023-11-14' && time < '@1700000001'",
		"time in ('22:13'..'22:14')",
		"thread == 4712",
		"tid == 4712",
		"process == 4711",
		"PID in (4711)",
		"job == 'payjob'",
		"jobname ~ '?AY?*B'",
		"asid == 1F",
		"asid == 0x1f",
		"asid == 001F",
		"asid == '1F'",
		"asid in (10..20)",
		"host == 'ALPHA'",
		"program ~ 'pay*'",
		"seq == 1000",
		"sequence in (1..1000)",
		"size == 36",
		"size > 10",
		"duration > 2ms",
		"duration == 3ms",
		"duration >= 0.003s",
		"duration < 1m",
		"duration > 2999us && duration < 3000001ns",
		"duration > 0",
		"duration",
		"duration in (1ms..4ms)",
	};
	static const char *const refused[] = {
		"component == 'mf'",    "component != 'Mf.RtS'",
		"component !~ 'mf.*'",  "level > warn",
		"level < warn",         "level in (debug, info, error, fatal)",
		"event == 8",           "event in (1..6, 8..10)",
		"event not in (7)",     "event < 0",
		"event > 4294967295",   "mnemonic == 'CLOSE'",
		"time < '@1700000000'", "time > '2023-11-14 22:13:20'",
		"thread != 4712",       "asid == 15",
		"seq > 1000",           "size < 36",
		"duration > 3ms",       "duration < 3ms",
		"duration > 9999999h",  "!duration",
	};
	const struct ct_read_event event = the_event();

	(void)state;
	assert_all(accepted, CT_COUNT(accepted), true, &event);
	assert_all(refused, CT_COUNT(refused), false, &event);
}

static void both_either_and_not(void **state)
{
	/* T and F stand for what holds and what does not. */
	static const struct {
		const char *text;
		bool wanted;
	} rows[] = {
		{ "T", true },
		{ "F", false },
		{ "T && T", true },
		{ "T && F", false },
		{ "F && T", false },
		{ "F || T", true },
		{ "F || F", false },
		{ "T || F && F", true },
		{ "(T || F) && F", false },
		{ "F && F || T", true },
		{ "F && (F || T)", false },
		{ "!F", true },
		{ "!T || T", true },
		{ "!(T || T)", false },
		{ "!!T", true },
		{ "not not F", false },
		{ "not F and not F", true },
		{ "!(T && !(F || !T)) || F", false },
		{ "!(T && !(F || T)) || F", true },
		{ "T and (F or T) and not (F or F)", true },
		{ "F or F or F or T", true },
		{ "T and T and T and F", false },
		{ "((((T))))", true },
	};
	const struct ct_read_event event = the_event();

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_buf text;

		ct_buf_init(&text);
		for (const char *at = rows[i].text; *at != '\0'; at++) {
			if (*at == 'T')
				ct_buf_add_text(&text, "event == 7");
			else if (*at == 'F')
				ct_buf_add_text(&text, "event == 6");
			else
				ct_buf_add_char(&text, *at);
		}
		if (accepts(ct_buf_text(&text), &event) != rows[i].wanted)
			fail_msg("%s", rows[i].text);
		ct_buf_fini(&text);
	}
}

/* All expressions of three names and two operators, against what they mean. */
static void every_small_expression(void **state)
{
	static const char *const shapes[] = { "%sa %s %sb %s %sc", "(%sa %s %sb) %s %sc",
					      "%sa %s (%sb %s %sc)", "!(%sa %s %sb %s %sc)" };

	(void)state;
	for (unsigned bits = 0; bits < 4 * 4 * 8 * 8; bits++) {
		bool a = bits & 1, b = bits & 2, c = bits & 4, not_a = bits & 8, not_b = bits & 16,
		     not_c = bits & 32;
		bool is_or = bits & 64, is_or_then = bits & 128, wanted = false;
		unsigned shape = bits >> 8;
		bool x = a != not_a, y = b != not_b, z = c != not_c;
		struct ctrace_event_item items[3] = { U32_ITEM(0), U32_ITEM(0), U32_ITEM(0) };
		struct ct_read_event event = the_event();
		struct ct_buf expression;
		char text[100];

		items[0].value = a;
		items[1].value = b;
		items[2].value = c;
		event.traced.items = items;
		event.traced.item_count = 3;
		event.type = NULL;
		if (shape == 1)
			wanted = is_or_then ? (is_or ? x || y : x && y) || z
					    : (is_or ? x || y : x && y) && z;
		else if (shape == 2)
			wanted = is_or ? x || (is_or_then ? y || z : y && z)
				       : x && (is_or_then ? y || z : y && z);
		else if (is_or)
			wanted = is_or_then ? x || y || z : x || (y && z);
		else
			wanted = is_or_then ? (x && y) || z : x && y && z;
		wanted = wanted != (shape == 3);
		snprintf(text, sizeof text, shapes[shape], not_a ? "!" : "", is_or ? "||" : "&&",
			 not_b ? "!" : "", is_or_then ? "||" : "&&", not_c ? "!" : "");
		ct_buf_init(&expression);
		for (const char *at = text; *at != '\0'; at++) {
			if (*at >= 'a' && *at <= 'c')
				ct_buf_add_format(&expression, "data[%d] == 1", *at - 'a');
			else
				ct_buf_add_char(&expression, *at);
		}
		if (accepts(ct_buf_text(&expression), &event) != wanted)
			fail_msg("%s with %d %d %d", text, a, b, c);
		ct_buf_fini(&expression);
	}
}

static void what_is_not_there_is_not_compared(void **state)
{
	static const char *const refused[] = { "duration > 0",    "duration < 1h",
					       "duration != 1ms", "duration",
					       "data[9] == 1",    "data[9] != 1",
					       "data.none != 1",  "data.none !~ '*'" };
	static const char *const accepted[] = { "!(duration > 0)", "!duration", "!data[9]",
						"!(data.none == 1)" };
	struct ct_read_event event = the_event();

	(void)state;
	event.duration_ns = CT_NO_DURATION;
	assert_all(refused, CT_COUNT(refused), false, &event);
	assert_all(accepted, CT_COUNT(accepted), true, &event);
}

static void classes_are_judged_before_events(void **state)
{
	static const struct {
		const char *text;
		enum ct_filter_result wanted;
	} rows[] = {
		{ "level >= warn", CT_FILTER_RESULT_ALWAYS },
		{ "level > warn", CT_FILTER_RESULT_NEVER },
		{ "component ~ 'mf.*'", CT_FILTER_RESULT_ALWAYS },
		{ "component ~ 'x.*' && data[0] > 5", CT_FILTER_RESULT_NEVER },
		{ "data[0] > 5 && component ~ 'x.*'", CT_FILTER_RESULT_NEVER },
		{ "component ~ 'mf.*' && data[0] > 5", CT_FILTER_RESULT_MAYBE },
		{ "component ~ 'mf.*' || data[0] > 5", CT_FILTER_RESULT_ALWAYS },
		{ "data[0] > 5 || component ~ 'mf.*'", CT_FILTER_RESULT_ALWAYS },
		{ "data[0] > 5 || component ~ 'x.*'", CT_FILTER_RESULT_MAYBE },
		{ "!(data[0] > 5 && event == 8)", CT_FILTER_RESULT_ALWAYS },
		{ "!(data[0] > 5 || event == 7)", CT_FILTER_RESULT_NEVER },
		{ "event == 7 && mnemonic == 'OPEN'", CT_FILTER_RESULT_ALWAYS },
		{ "mnemonic == 'CLOSE' && time > '-5m'", CT_FILTER_RESULT_NEVER },
		{ "time > '-5m'", CT_FILTER_RESULT_MAYBE },
		{ "seq < 5", CT_FILTER_RESULT_MAYBE },
		{ "process == 1", CT_FILTER_RESULT_MAYBE },
		{ "duration > 2ms", CT_FILTER_RESULT_MAYBE },
		{ "data.rows > 1", CT_FILTER_RESULT_MAYBE },
		{ "data.colour > 1", CT_FILTER_RESULT_NEVER },
		{ "data.data6 > 1", CT_FILTER_RESULT_MAYBE },
		{ "data > 1", CT_FILTER_RESULT_MAYBE },
		{ "!(data.colour > 1)", CT_FILTER_RESULT_ALWAYS },
	};
	struct ct_read_event event = the_event();

	(void)state;
	event.traced.item_count = 0;
	event.traced.items = NULL;
	event.source_process = NULL;
	event.traced.time_ns = 0;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_filter *filter = parse(rows[i].text);

		if (ct_filter_class(filter, &event) != rows[i].wanted)
			fail_msg("%s: %d, not %d", rows[i].text, ct_filter_class(filter, &event),
				 rows[i].wanted);
		ct_filter_destroy(filter);
	}
	assert_int_equal(ct_filter_class(NULL, &event), CT_FILTER_RESULT_ALWAYS);
}

static void a_class_without_an_end_has_no_duration(void **state)
{
	struct ct_filter *filter = parse("duration > 2ms");
	struct ct_event_type entry = the_type;
	struct ct_read_event event = the_event();

	(void)state;
	entry.pairing = CT_PAIR_ENTRY;
	event.type = &entry;
	assert_int_equal(ct_filter_class(filter, &event), CT_FILTER_RESULT_NEVER);
	event.type = NULL;
	assert_int_equal(ct_filter_class(filter, &event), CT_FILTER_RESULT_NEVER);
	ct_filter_destroy(filter);
}

static void more_tests_than_fit_on_the_stack(void **state)
{
	struct ct_read_event event = the_event();
	struct ct_filter *filter;
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i < 1000; i++)
		ct_buf_add_format(&text, "%sevent == %u", i > 0 ? " || " : "", 10000 - i);
	filter = parse(ct_buf_text(&text));
	assert_int_equal(ct_filter_class(filter, &event), CT_FILTER_RESULT_NEVER);
	assert_false(ct_filter_accepts(filter, &event));
	event.traced.event_id = 9001;
	assert_int_equal(ct_filter_class(filter, &event), CT_FILTER_RESULT_ALWAYS);
	assert_true(ct_filter_accepts(filter, &event));
	ct_filter_destroy(filter);
	ct_buf_fini(&text);
}

static void times_that_can_be(void **state)
{
	static const struct {
		const char *text;
		uint64_t since, until;
	} rows[] = {
		{ "level > info", 0, UINT64_MAX },
		{ "time >= '@100'", 100 * SECOND, UINT64_MAX },
		{ "time > '@100'", 100 * SECOND + 1, UINT64_MAX },
		{ "time < '@100'", 0, 100 * SECOND - 1 },
		{ "!(time < '@100')", 100 * SECOND, UINT64_MAX },
		{ "!(time >= '@100')", 0, 100 * SECOND - 1 },
		{ "time >= '@100' && level > info && time <= '@200'", 100 * SECOND, 200 * SECOND },
		{ "time <= '@100' || time >= '@200'", 0, UINT64_MAX },
		{ "time in ('@1'..'@2', '@5'..'@6')", SECOND, 6 * SECOND },
		{ "time not in ('@0'..'@2')", 2 * SECOND + 1, UINT64_MAX },
		{ "time in ('@1'..'@2') || (time in ('@5'..'@6') && level > info)", SECOND,
		  6 * SECOND },
		{ "time >= '@100' || level > info", 0, UINT64_MAX },
		{ "(level > info || event == 2) && time >= '@100'", 100 * SECOND, UINT64_MAX },
		{ "time > '@100' && time < '@50'", 0, 0 },
		{ "time == '@100'", 100 * SECOND, 100 * SECOND },
		{ "time != '@100'", 0, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_filter *filter = parse(rows[i].text);
		uint64_t since, until;

		ct_filter_times(filter, &since, &until);
		if (since != rows[i].since || until != rows[i].until)
			fail_msg("%s: %llu to %llu", rows[i].text, (unsigned long long)since,
				 (unsigned long long)until);
		ct_filter_destroy(filter);
	}
}

static void what_a_filter_uses(void **state)
{
	static const struct {
		const char *text;
		unsigned wanted;
	} rows[] = {
		{ "level > info && data[0] > 5", 0 },
		{ "duration > 5ms", CT_USES_DURATION },
		{ "level > info || seq < 5", CT_USES_SEQUENCE },
		{ "seq < 5 && !duration", CT_USES_SEQUENCE | CT_USES_DURATION },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_filter *filter = parse(rows[i].text);

		assert_int_equal(ct_filter_uses(filter), rows[i].wanted);
		ct_filter_destroy(filter);
	}
}

static void two_filters_as_one(void **state)
{
	static const char *const texts[] = { "event == 7",
					     "event == 8",
					     "level >= warn || event == 8",
					     "level > warn && event == 7",
					     "data[3] ~ 'ADA*' && time > '@5'",
					     "!(time > '@5')" };
	const struct ct_read_event event = the_event();

	(void)state;
	for (size_t a = 0; a < CT_COUNT(texts); a++)
		for (size_t b = 0; b < CT_COUNT(texts); b++) {
			bool wanted = accepts(texts[a], &event) && accepts(texts[b], &event);
			struct ct_filter *both = ct_filter_and(parse(texts[a]), parse(texts[b]));

			assert_non_null(both);
			if (ct_filter_accepts(both, &event) != wanted)
				fail_msg("%s and %s", texts[a], texts[b]);
			ct_filter_destroy(both);
		}
}

static void a_filter_and_nothing(void **state)
{
	struct ct_filter *filter = parse("time >= '@100'"), *both;
	const struct ct_read_event event = the_event();
	uint64_t since, until;

	(void)state;
	assert_null(ct_filter_and(NULL, NULL));
	assert_ptr_equal(ct_filter_and(NULL, filter), filter);
	assert_ptr_equal(ct_filter_and(filter, NULL), filter);
	both = ct_filter_and(filter, parse("time <= '@200' && duration"));
	ct_filter_times(both, &since, &until);
	assert_int_equal(since, 100 * SECOND);
	assert_int_equal(until, 200 * SECOND);
	assert_int_equal(ct_filter_uses(both), CT_USES_DURATION);
	ct_filter_destroy(both);
	ct_filter_destroy(NULL);
	assert_true(ct_filter_accepts(NULL, &event));
	assert_int_equal(ct_filter_uses(NULL), 0);
	ct_filter_times(NULL, &since, &until);
	assert_int_equal(since, 0);
	assert_true(until == UINT64_MAX);
}

int test_filter(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_an_event),
		cmocka_unit_test(both_either_and_not),
		cmocka_unit_test(every_small_expression),
		cmocka_unit_test(what_is_not_there_is_not_compared),
		cmocka_unit_test(classes_are_judged_before_events),
		cmocka_unit_test(a_class_without_an_end_has_no_duration),
		cmocka_unit_test(more_tests_than_fit_on_the_stack),
		cmocka_unit_test(times_that_can_be),
		cmocka_unit_test(what_a_filter_uses),
		cmocka_unit_test(two_filters_as_one),
		cmocka_unit_test(a_filter_and_nothing),
	};

	return cmocka_run_group_tests(tests, use_utc, NULL);
}
