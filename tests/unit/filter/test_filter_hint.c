/*
 * test_filter_hint.c - why a filter accepted nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "read/filter/filter_hint.h"

static char said[256];

/* Of one event of MF.RTS with the items "myprog" and 3. */
static const char *hint_of(const char *expression, bool is_all)
{
	struct ctrace_event_item items[] = { text_item("myprog  "),
					     number_item(CTRACE_TYPE_COMP5, 1, 3) };
	struct ct_read_event event = event_of(items, 2);
	struct ct_filter_hint *hint;
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter;
	struct ct_buf out;

	ct_buf_init(&out);
	assert_int_equal(ct_filter_parse(expression, 0, &filter, &diagnostic), CTRACE_OK);
	assert_int_equal(ct_filter_hint_create(filter, &hint), CTRACE_OK);
	ct_filter_hint_note(hint, &event);
	(void)snprintf(said, sizeof said, "%s",
		       ct_filter_hint_add(hint, is_all, &out) ? ct_buf_text(&out) : "");
	ct_filter_hint_destroy(hint);
	ct_filter_destroy(filter);
	ct_buf_fini(&out);
	return said;
}

static void the_nearest_of_what_was_seen(void **state)
{
	(void)state;
	assert_string_equal(hint_of("component == \"MF.RST\"", false),
			    "no event has the component \"MF.RST\" (did you mean \"MF.RTS\"?)");
	assert_string_equal(hint_of("level > info && data.dta1 == 5", false),
			    "no event has the item \"dta1\" (did you mean \"data1\"?)");
	assert_string_equal(hint_of("data[0] == \"myporg\"", false),
			    "no event has the value \"myporg\" (did you mean \"myprog\"?)");
}

static void nothing_near_is_said_only_of_all_events(void **state)
{
	(void)state;
	assert_string_equal(hint_of("component == \"OTHER\"", true),
			    "no event has the component \"OTHER\"");
	assert_string_equal(hint_of("component == \"OTHER\"", false), "");
}

static void what_is_there_or_is_no_word_is_not_said(void **state)
{
	(void)state;
	assert_string_equal(hint_of("component == \"mf.rts\" && data.data1 == 1", true), "");
	assert_string_equal(hint_of("component ~ \"OTHER*\"", true), "");
	assert_string_equal(hint_of("component != \"OTHER\"", true), "");
	assert_string_equal(hint_of("data.data1 == \"myprog\" && data[1] == 9", true), "");
}

int test_filter_hint(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_of_what_was_seen),
		cmocka_unit_test(nothing_near_is_said_only_of_all_events),
		cmocka_unit_test(what_is_there_or_is_no_word_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
