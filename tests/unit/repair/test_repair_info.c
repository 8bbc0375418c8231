/*
 * test_repair_info.c - who wrote a trace and by which clock, when its metadata do not say it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "repair_fixture.h"

static void without_metadata_what_needs_none_is_kept(void **state)
{
	struct fixture *f = *state;
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct ctrace_stream stream = { .id = 0 };
	struct reported reported;
	struct ct_repair run;
	struct ctrace_event_item many[CT_CLASS_MAX_ITEMS + 1];
	char *errors;

	fixture_open(f, "FILE=t\n");
	event = text_event(f, &item, "COMP", 1, "needs a class");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	for (size_t i = 0; i < CT_COUNT(many); i++)
		many[i] = item;
	event = text_event(f, &item, "COMP", 2, "x");
	event.items = many;
	event.item_count = CT_COUNT(many);
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	fixture_close(f);
	assert_int_equal(system("cp -r t u && rm t/metadata && sed -i s/uuid/uiud/ u/metadata"), 0);
	run = repair("t", "good", &reported);
	assert_int_equal(run.events, 1);
	free(babeltrace("good/t", &errors));
	free(errors);
	/* Of the other one only the trace-wide part is damaged. */
	run = repair("u", "good2", &reported);
	assert_int_equal(run.events, 2);
	free(babeltrace("good2/u", NULL));
}

static void a_wrong_uuid_is_repaired(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make_trace(*state, "t", 0, 30, 10);
	assert_int_equal(system("sed -i 's/uuid = \"......../uuid = \"00000000/' t/metadata"), 0);
	run = repair("t", "good", &reported);
	assert_int_equal(run.events, 30);
	assert_int_equal(reported.notes, 1);
	assert_reads("good/t", 0, 30);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_repair_info(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_metadata_what_needs_none_is_kept),
		TEST(a_wrong_uuid_is_repaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
