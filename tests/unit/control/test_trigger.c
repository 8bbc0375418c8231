/*
 * test_trigger.c - the text of a trigger, and an event against its tests.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/control/trigger.h"

static struct ct_trigger trigger;
static struct ct_diagnostic diagnostic;

static bool parse(const char *text)
{
	return ct_trigger_parse(text, strlen(text), &trigger, &diagnostic) == CTRACE_OK;
}

static void parses(void **state)
{
	(void)state;
	assert_true(parse(
		"when component ~ \"pay*\" && level >= warn and event in (5..9, 12) count 3 every 10m do dump, level:debug:30s"));
	assert_int_equal(trigger.test_count, 3);
	assert_int_equal(trigger.test[0].field, CT_TRIGGER_COMPONENT);
	assert_true(trigger.test[0].is_glob);
	assert_int_equal(trigger.test[2].range_count, 2);
	assert_int_equal(trigger.count, 3);
	assert_int_equal(trigger.every_ns, 600000000000u);
	assert_int_equal(trigger.action_count, 2);
	assert_int_equal(trigger.action[1].act, CT_TRIGGER_LEVEL_FOR);
	assert_int_equal(trigger.action[1].level, CTRACE_DEBUG);
	assert_int_equal(trigger.action[1].ns, 30000000000u);
	assert_true(parse("when data1 == 'it''s' rate 5/s once do run:/bin/x"));
	assert_string_equal(trigger.test[0].text, "it's");
	assert_int_equal(trigger.rate, 5);
	assert_int_equal(trigger.limit, 1);
	assert_int_equal(trigger.every_ns, 0);
	assert_true(parse("when event=1 do wto"));
	assert_int_equal(trigger.every_ns, 1000000000u);
	assert_int_equal(trigger.change, CT_TRIGGER_SET);
	assert_false(trigger.is_disabled);
	assert_true(parse(" disabled when event=1 do wto"));
	assert_true(trigger.is_disabled);
	assert_int_equal(trigger.begin, 10);
	assert_true(parse("when event=4 span 2 by data3 >= 2ms do wto"));
	assert_true(trigger.has_span && trigger.span.is_by_item);
	assert_int_equal(trigger.span.begin_id, 2);
	assert_int_equal(trigger.span.item, 2);
	assert_true(trigger.span.first == 2000000 && trigger.span.last > UINT64_MAX);
	assert_true(parse("when event=4 span 2 < 5us do wto"));
	assert_true(trigger.span.first == 0 && trigger.span.last == 4999);
	assert_true(parse("when signal do dump") && trigger.cause == CT_TRIGGER_ON_SIGNAL);
	assert_false(ct_trigger_fits_exit(&trigger, 1));
	assert_true(parse("when exit not in (0, 4..6) do wto, run:/bin/true"));
	assert_true(ct_trigger_fits_exit(&trigger, 7) && !ct_trigger_fits_exit(&trigger, 5));
	assert_true(parse("enable") && trigger.change == CT_TRIGGER_ENABLE);
	assert_true(parse("disable") && trigger.change == CT_TRIGGER_DISABLE);
	assert_true(parse(" off "));
	assert_true(trigger.change == CT_TRIGGER_OFF);
}

static void refuses(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
	} cases[] = {
		{ "", 1 },
		{ "event = 1 do dump", 1 },
		{ "when evnt = 1 do dump", 6 },
		{ "when event = x do dump", 14 },
		{ "when event = 1", 15 },
		{ "when event = 1 do", 18 },
		{ "when event = 1 do dum", 19 },
		{ "when event = 1 do dump wto", 24 },
		{ "when event = 1 count 0 do dump", 22 },
		{ "when event = 1 rate 5 do dump", 21 },
		{ "when event = 1 every 5 do dump", 22 },
		{ "when event = 1 once limit 3 do dump", 21 },
		{ "when event = 1 limit 3 once do dump", 24 },
		{ "when event = 1 count 3 count 3 do dump", 24 },
		{ "when event = 1 every 1s rate 3/s every 2s do dump", 34 },
		{ "when event = 1 span 2 > 2ms span 2 < 2s do dump", 29 },
		{ "when level >= 9 do dump", 15 },
		{ "when level > fatal do dump", 14 },
		{ "when event == 99999999999999 do dump", 15 },
		{ "when event < 0 do dump", 14 },
		{ "when event in (9..5) do dump", 16 },
		{ "when thread = -1 do dump", 15 },
		{ "when data1 = -9223372036854775809 do dump", 14 },
		{ "when exit = 2147483648 do dump", 13 },
		{ "when data1 ~ 5 do dump", 14 },
		{ "when event ~ 1 do dump", 14 },
		{ "when component < a do dump", 18 },
		{ "when event in 1 do dump", 15 },
		{ "when event in (1 do dump", 18 },
		{ "when data0 = 1 do dump", 6 },
		{ "when data1 == 'a do dump", 15 },
		{ "when event = 1 span x > 2ms do dump", 21 },
		{ "when event = 1 span 2 = 2ms do dump", 23 },
		{ "when event = 1 span 2 > 2 do dump", 25 },
		{ "when event = 1 span 2 by data > 2ms do dump", 26 },
		{ "when signal once do dump", 13 },
		{ "when signal do wto", 16 },
		{ "when exit != 0 do dump, stop", 25 },
		{ "when exit do dump", 11 },
		{ "when event = 1 || event = 2 do dump", 19 },
		{ "when event = 1 do run:sh", 23 },
		{ "when event = 1 do level:debug", 25 },
		{ "when event = 1 do start:a..b", 25 },
		{ "when event = 1\ndo dump", 15 },
		{ "when event = 99999999999999999999 do dump", 14 },
		{ "when event = 1 && event = 1 && event = 1 && event = 1 && event = 1 && event = 1 && event = 1 && event = 1 && event = 1 do dump",
		  110 },
		{ "when event = 1 do dump, dump, dump, dump, dump", 43 },
	};
	char text[CT_TRIGGER_TEXT + 2];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		assert_false(parse(cases[i].text));
		if (diagnostic.column != cases[i].column)
			print_message("%s: column %u, %s\n", cases[i].text, diagnostic.column,
				      diagnostic.message);
		assert_int_equal(diagnostic.column, cases[i].column);
		assert_true(diagnostic.message[0] != '\0' && diagnostic.expected[0] != '\0');
	}
	memset(text, 'x', sizeof text);
	assert_int_equal(ct_trigger_parse(text, sizeof text, &trigger, NULL), CTRACE_SYNTAX_ERROR);
}

static struct ctrace_event_item items[3];
static struct ct_trigger_event event = { .component = "Payroll",
					 .component_size = 7,
					 .level = CTRACE_WARN,
					 .event_id = 18,
					 .tid = 77,
					 .item_count = 3,
					 .items = items };

static bool fits(const char *filter)
{
	char text[200];

	(void)snprintf(text, sizeof text, "when %s do dump", filter);
	assert_true(parse(text));
	return ct_trigger_fits_head(&trigger, &event) && ct_trigger_fits_items(&trigger, &event);
}

static void matches(void **state)
{
	/* -5: what an event has is little-endian on every machine */
	static const unsigned char minus[] = { 0xfb, 0xff, 0xff, 0xff };
	static const uint64_t huge = UINT64_MAX;
	static const char *const good[] = {
		"component == PAYROLL",
		"component ~ 'p*l'",
		"component != x",
		"level >= warn",
		"level in (debug, warn)",
		"event in (1..20)",
		"event not in (1..17)",
		"event = 0x12",
		"thread = 77",
		"level <= 9",
		"event >= 0",
		"data1 > -9223372036854775808",
		"data1 < 0",
		"data1 = -5",
		"data[1] == 18446744073709551615",
		"data3 == 'boom'",
		"data ~ 'BO*'",
		"data = -5",
		"data3 != 'x'",
		"event = 18 && data1 >= -5 and level = warn",
	};
	static const char *const bad[] = {
		"component == pay",
		"component !~ 'p*'",
		"level > warn",
		"event != 18",
		"thread < 77",
		"data1 = 5",
		"data2 = -1",
		"data3 == 'BOOM'",
		"data3 = 1",
		"data3 != 1",
		"data9 != 1",
		"data1 != -5",
		"event = 18 && data1 > 0",
	};

	(void)state;
	items[0] = (struct ctrace_event_item){ .type = CTRACE_TYPE_COMP5S,
					       .size = sizeof minus,
					       .data = minus };
	items[1] = (struct ctrace_event_item){ .type = CTRACE_TYPE_COMP5,
					       .size = sizeof huge,
					       .data = &huge };
	items[2] =
		(struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT, .size = 4, .data = "boom" };
	for (size_t i = 0; i < CT_COUNT(good); i++)
		if (!fits(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		if (fits(bad[i]))
			fail_msg("%s", bad[i]);
	assert_true(parse("when data2 = 1 && data1 = 'text' do dump"));
	assert_true(ct_trigger_lacks_item(&trigger, &event));
	assert_true(parse("when data2 = 1 && data ~ '*' do dump"));
	assert_false(ct_trigger_lacks_item(&trigger, &event));
	assert_true(parse("when data9 = 1 do dump") && ct_trigger_lacks_item(&trigger, &event));
	assert_true(parse("when component ~ 'pay*' && event = 18 && level = fatal do dump"));
	assert_true(ct_trigger_fits_component(&trigger, &event));
	assert_true(ct_trigger_fits_id(&trigger, &event));
	assert_true(parse("when component = x && event = 17 do dump"));
	assert_false(ct_trigger_fits_component(&trigger, &event));
	assert_false(ct_trigger_fits_id(&trigger, &event));
	assert_true(parse("when data1 = 1 do dump") && ct_trigger_has_items(&trigger));
	assert_true(parse("when event = 1 do dump") && !ct_trigger_has_items(&trigger));
	assert_false(ct_trigger_runs(&trigger));
	assert_true(parse("when event = 1 do dump, run:/bin/true") && ct_trigger_runs(&trigger));
}

static enum ctrace_status set(struct ct_trigger_list *list, const char *name, const char *text)
{
	return ct_trigger_list_set(list, (struct ct_span){ name, strlen(name) },
				   (struct ct_span){ text, strlen(text) });
}

static void lists(void **state)
{
	static struct ct_trigger_list list;
	char name[8];

	(void)state;
	assert_int_equal(set(&list, "A", "off"), CTRACE_NOT_FOUND);
	assert_int_equal(set(&list, "A", "when"), CTRACE_SYNTAX_ERROR);
	assert_int_equal(set(&list, "a b", "when event=1 do wto"), CTRACE_SYNTAX_ERROR);
	assert_int_equal(set(&list, "A", "when event=1 do wto"), CTRACE_OK);
	assert_int_equal(set(&list, "a", "when event=2 do wto"), CTRACE_OK);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.entry[0].text, "when event=2 do wto");
	assert_int_equal(set(&list, "A", "disable"), CTRACE_OK);
	assert_true(list.entry[0].is_disabled);
	assert_int_equal(set(&list, "A", "enable"), CTRACE_OK);
	assert_false(list.entry[0].is_disabled);
	assert_int_equal(set(&list, "B", "enable"), CTRACE_NOT_FOUND);
	assert_int_equal(set(&list, "A", "disabled when event=2 do wto"), CTRACE_OK);
	assert_true(list.entry[0].is_disabled);
	assert_string_equal(list.entry[0].text, "when event=2 do wto");
	for (unsigned i = 1; i < CT_TRIGGER_LIMIT; i++) {
		(void)snprintf(name, sizeof name, "N%u", i);
		assert_int_equal(set(&list, name, "when event=1 do wto"), CTRACE_OK);
	}
	assert_int_equal(set(&list, "B", "when event=1 do wto"), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(set(&list, "A", "off"), CTRACE_OK);
	assert_int_equal(list.count, CT_TRIGGER_LIMIT - 1);
	assert_string_equal(list.entry[0].name, "N1");
	assert_true(ct_trigger_name_is_good("a-B_9", 5));
	assert_false(ct_trigger_name_is_good("", 0));
	assert_false(ct_trigger_name_is_good("a.b", 3));
}

int test_trigger(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(refuses),
		cmocka_unit_test(matches),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
