/*
 * test_span_name.c - names of spans, as the catalogue makes them from items.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/print.h"

static const struct ct_label verbs[] = { { .value = 1, .name = "OPEN" } };
static const struct ct_argument arguments[] = {
	{ .name = "program", .description = "" },
	{ .name = "paragraph", .description = "" },
	{ .name = "verb",
	  .description = "",
	  .print = CT_PRINT_ENUMERATION,
	  .labels = verbs,
	  .label_count = 1 },
};

static struct ct_event_type type_of(enum ct_pairing pairing, uint32_t first, uint32_t second)
{
	return (struct ct_event_type){ .mnemonic = "READ",
				       .pairing = pairing,
				       .match = -1,
				       .span_names = { first, second },
				       .span_name_count = 2,
				       .arguments = arguments,
				       .argument_count = CT_COUNT(arguments) };
}

static void assert_name(const struct ct_read_event *event, const char *name)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_buf_add_text(&text, "<");
	assert_int_equal(ct_span_name_add(&text, event), name[0] != '\0');
	assert_string_equal(ct_buf_text(&text) + 1, name);
	ct_buf_fini(&text);
}

static void what_it_is_and_what_it_is_part_of(void **state)
{
	const struct ctrace_event_item items[] = { text_item("PAYROLL  "), text_item("INIT"),
						   number_item(CTRACE_TYPE_COMP5, 4, 1) };
	struct ct_event_type type = type_of(CT_PAIR_UNTIL, 1, 0);
	struct ct_read_event event = event_of(items, CT_COUNT(items));

	(void)state;
	assert_name(&event, "");
	event.type = &type;
	assert_name(&event, "INIT of PAYROLL");
	type = type_of(CT_PAIR_NONE, 0, 2); /* an operation */
	assert_name(&event, "READ PAYROLL of OPEN");
	event.traced.item_count = 1;
	assert_name(&event, "READ PAYROLL");
	type = type_of(CT_PAIR_ENTRY, 1, 0); /* it has not got its name */
	assert_name(&event, "PAYROLL");
	event.traced.item_count = 0;
	assert_name(&event, "");
	type = type_of(CT_PAIR_NONE, 1, 0);
	assert_name(&event, "");
}

static void values_as_they_are(void **state)
{
	static char longest[CT_NAME_PART_SIZE + 3];
	struct ctrace_event_item items[] = { text_item("\"A\"\n"), text_item(" \0 "),
					     text_item(longest) };
	struct ct_read_event event = event_of(items, CT_COUNT(items));
	struct ct_buf text;

	(void)state;
	memset(longest, 'x', CT_NAME_PART_SIZE - 1);
	memcpy(longest + CT_NAME_PART_SIZE - 1, "\xC3\xA9", 2); /* it would be cut in two */
	items[2].data = longest;
	items[2].size = CT_NAME_PART_SIZE + 1;
	items[1].size = 3;
	ct_buf_init(&text);
	assert_true(ct_item_name_add(&text, &event, 0));
	assert_string_equal(ct_buf_text(&text), "\"A\"\n");
	assert_false(ct_item_name_add(&text, &event, 1));
	assert_false(ct_item_name_add(&text, &event, 3));
	ct_buf_clear(&text);
	assert_true(ct_item_name_add(&text, &event, 2));
	assert_int_equal(text.size, CT_NAME_PART_SIZE - 1);
	ct_buf_fini(&text);
}

int test_span_name(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_is_and_what_it_is_part_of),
		cmocka_unit_test(values_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
