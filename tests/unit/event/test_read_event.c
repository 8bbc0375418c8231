/*
 * test_view.c - what an event and its items are called, and whose it is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

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
	struct ct_read_event event = event_of(NULL, 0);
	char scratch[16];

	(void)state;
	assert_string_equal(ct_read_event_mnemonic(&event, scratch), "255");
	assert_string_equal(ct_read_event_item_name(&event, 0, scratch), "data1");
	event.names = &names;
	assert_string_equal(ct_read_event_mnemonic(&event, scratch), "open_file");
	assert_string_equal(ct_read_event_item_name(&event, 0, scratch), "first");
	assert_string_equal(ct_read_event_item_name(&event, 1, scratch), "data2");
	event.type = &type;
	assert_string_equal(ct_read_event_mnemonic(&event, scratch), "OPEN");
	assert_string_equal(ct_read_event_item_name(&event, 0, scratch), "space");
	assert_string_equal(ct_read_event_item_name(&event, 2, scratch), "data3");
}

static void an_item_may_say_whose_the_event_is(void **state)
{
	struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 0x1002B),
					     text_item("PAYROLL   ") };
	struct ct_read_event event = event_of(items, 2);
	char jobname[17];

	(void)state;
	assert_int_equal(ct_read_event_asid(&event), 0x1A);
	ct_read_event_jobname(&event, jobname);
	assert_string_equal(jobname, "RTS32");
	event.type = &type;
	assert_int_equal(ct_read_event_asid(&event), 0x2B);
	ct_read_event_jobname(&event, jobname);
	assert_string_equal(jobname, "PAYROLL");
	/* An event that is shorter than its type says has no such item. */
	event.traced.item_count = 0;
	assert_int_equal(ct_read_event_asid(&event), 0x1A);
}

static void a_jobname_is_cut(void **state)
{
	struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 1),
					     text_item("ABCDEFGHIJKLMNOPQRSTUVWXYZ") };
	struct ct_read_event event = event_of(items, 2);
	char jobname[17];

	(void)state;
	event.type = &type;
	ct_read_event_jobname(&event, jobname);
	assert_string_equal(jobname, "ABCDEFGHIJKLMNOP");
}

/* The record of a file is chosen by the file's name in the same event. */
static void other_items_choose_a_record(void **state)
{
	static const struct ct_argument chosen_arguments[] = {
		{ .name = "select" },
		{ .name = "file" },
		{ .name = "record",
		  .print = CT_PRINT_RECORD,
		  .choosers = { 0, 1 },
		  .chooser_count = 2 },
	};
	static const struct ct_event_type of_files = { .event_id = 1003,
						       .mnemonic = "READ",
						       .argument_count = 3,
						       .arguments = chosen_arguments };
	static const struct ct_catalog_choice choices[] = {
		{ .value = "CUSTOMER", .argument = { .name = "", .print = CT_PRINT_RECORD } },
		{ .value = "orders.dat", .argument = { .name = "", .print = CT_PRINT_RECORD } },
		{ .value = "*", .argument = { .name = "", .print = CT_PRINT_HEX } },
	};
	struct ct_catalog_component component = { .name = "XFH",
						  .choices = choices,
						  .choice_count = 2 };
	struct ctrace_event_item items[] = { text_item("Customer"), text_item("/d/orders.dat"),
					     text_item("x") };
	struct ct_read_event event = event_of(items, 3);

	(void)state;
	assert_null(ct_read_event_argument(&event, 2));
	event.type = &of_files;
	assert_ptr_equal(ct_read_event_argument(&event, 2), &chosen_arguments[2]);
	event.component = &component;
	assert_ptr_equal(ct_read_event_argument(&event, 0), &chosen_arguments[0]);
	assert_null(ct_read_event_argument(&event, 3));
	assert_ptr_equal(ct_read_event_argument(&event, 2), &choices[0].argument);
	items[0] = text_item("OTHER");
	assert_ptr_equal(ct_read_event_argument(&event, 2), &choices[1].argument);
	items[1] = text_item("other");
	assert_ptr_equal(ct_read_event_argument(&event, 2), &chosen_arguments[2]);
	component.choice_count = 3;
	assert_ptr_equal(ct_read_event_argument(&event, 2), &choices[2].argument);
	event.traced.item_count = 1; /* an event without its file */
	assert_ptr_equal(ct_read_event_argument(&event, 2), &choices[2].argument);
}

static void a_gap_before_an_event(void **state)
{
	uint64_t left_out_ns[] = { 50, 70 };
	struct ct_source_process process = { .left_out_ns = left_out_ns, .left_out_count = 2 };
	struct ct_read_event event = { .traced.time_ns = 60, .source_process = &process };

	(void)state;
	assert_true(ct_read_event_follows_gap(&event, 49));
	assert_false(ct_read_event_follows_gap(&event, 50));
	event.is_after_loss = true;
	assert_true(ct_read_event_follows_gap(&event, 50));
}

int test_read_event(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_catalogue_goes_before_the_trace),
		cmocka_unit_test(an_item_may_say_whose_the_event_is),
		cmocka_unit_test(a_jobname_is_cut),
		cmocka_unit_test(other_items_choose_a_record),
		cmocka_unit_test(a_gap_before_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
