/*
 * test_view.c - what an event and its items are called, and whose it is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/view_fixture.h"

static const struct ct_argument arguments[] = {
	{ .name = "space", .is_asid = true },
	{ .name = "job", .is_jobname = true },
};
static const struct ct_event_type type = {
	.event_id = 255, .mnemonic = "OPEN", .argument_count = 2, .arguments = arguments
};
static const char *const item_names[] = { "first" };
static const struct ct_event_names names = { .mnemonic = "open_file",
					     .items = item_names,
					     .item_count = 1 };

static void the_catalogue_goes_before_the_trace(void **state)
{
	struct ct_view view = view_of(NULL, 0);
	char scratch[16];

	(void)state;
	assert_string_equal(ct_view_mnemonic(&view, scratch), "255");
	assert_string_equal(ct_view_item_name(&view, 0, scratch), "data1");
	view.names = &names;
	assert_string_equal(ct_view_mnemonic(&view, scratch), "open_file");
	assert_string_equal(ct_view_item_name(&view, 0, scratch), "first");
	assert_string_equal(ct_view_item_name(&view, 1, scratch), "data2");
	view.type = &type;
	assert_string_equal(ct_view_mnemonic(&view, scratch), "OPEN");
	assert_string_equal(ct_view_item_name(&view, 0, scratch), "space");
	assert_string_equal(ct_view_item_name(&view, 2, scratch), "data3");
}

static void an_item_may_say_whose_the_event_is(void **state)
{
	struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 0x1002B),
					     text_item("PAYROLL   ") };
	struct ct_view view = view_of(items, 2);
	char jobname[17];

	(void)state;
	assert_int_equal(ct_view_asid(&view), 0x1A);
	ct_view_jobname(&view, jobname);
	assert_string_equal(jobname, "RTS32");
	view.type = &type;
	assert_int_equal(ct_view_asid(&view), 0x2B);
	ct_view_jobname(&view, jobname);
	assert_string_equal(jobname, "PAYROLL");
	/* An event that is shorter than its type says has no such item. */
	view.event.item_count = 0;
	assert_int_equal(ct_view_asid(&view), 0x1A);
}

static void a_jobname_is_cut(void **state)
{
	struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 1),
					     text_item("ABCDEFGHIJKLMNOPQRSTUVWXYZ") };
	struct ct_view view = view_of(items, 2);
	char jobname[17];

	(void)state;
	view.type = &type;
	ct_view_jobname(&view, jobname);
	assert_string_equal(jobname, "ABCDEFGHIJKLMNOP");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_catalogue_goes_before_the_trace),
		cmocka_unit_test(an_item_may_say_whose_the_event_is),
		cmocka_unit_test(a_jobname_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
