/*
 * test_third_party_class.c - classes of a third-party trace: their component, number, name and
 * level, and what the filter makes of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_source_fixture.h"

static void what_its_name_says(void **state)
{
	static const struct {
		const char *event, *component;
		uint32_t id;
		const char *mnemonic;
		uint32_t level;
	} rows[] = {
		{ "name = \"shop:order\"; id = 3; loglevel = 4;", "shop", 3, "order", CTRACE_WARN },
		{ "name = \"shop:a:b\"; id = 4; loglevel = 0;", "shop", 4, "a:b", CTRACE_FATAL },
		{ "name = \"MY.COMP:12\"; id = 5; loglevel = 3;", "MY.COMP", 12, NULL,
		  CTRACE_ERROR },
		{ "name = \"sched_switch\"; id = 6; loglevel = 6;", "tracer", 6, "sched_switch",
		  CTRACE_INFO },
		{ "name = \":x\"; id = 7; loglevel = 14;", "tracer", 7, "x", CTRACE_DEBUG },
		{ "name = \"shop:\"; id = 8;", "shop", 8, NULL, CTRACE_INFO },
		{ "name = \"shop:99999999999\"; id = 9;", "shop", 9, "99999999999", CTRACE_INFO },
		{ "name = \"shop:a:12\"; id = 10;", "shop:a", 12, NULL, CTRACE_INFO },
	};
	char metadata[2048] = HEAD "env { tracer_name = \"tracer\"; };";
	struct ct_third_party_trace *trace;
	uint64_t steps = 1000;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		(void)snprintf(metadata + strlen(metadata), sizeof metadata - strlen(metadata),
			       "event { %s fields := struct { u8 a; }; };", rows[i].event);
	make_third_party(metadata, "", 0);
	ct_sources_init(&sources, NULL, NULL);
	assert_int_equal(ct_third_party_trace_open(&sources, "t", &trace), CTRACE_OK);
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_third_party_class *class =
			ct_third_party_class(trace, &trace->tsdl->events[i], &steps);

		assert_non_null(class);
		assert_string_equal(class->component->name, rows[i].component);
		assert_int_equal(class->event_id, rows[i].id);
		assert_int_equal(class->level, rows[i].level);
		if (rows[i].mnemonic != NULL)
			assert_string_equal(class->mnemonic, rows[i].mnemonic);
		else
			assert_null(class->mnemonic);
		assert_non_null(class->fields);
		assert_null(class->context);
		/* It is made once. */
		assert_ptr_equal(ct_third_party_class(trace, &trace->tsdl->events[i], &steps),
				 class);
	}
	assert_int_equal(trace->component_count, 4); /* those of one component share it */
	ct_third_party_trace_unref(trace);
	ct_sources_fini(&sources);
}

static void only_some_are_wanted(void **state)
{
	static const struct {
		const char *text;
		unsigned wanted;
	} rows[] = { { "level >= warn", 12 },         { "mnemonic = \"empty\"", 6 },
		     { "component ~ \"bare*\"", 30 }, { "data.weight >= 42", 4 },
		     { "component ~ \"tool.*\"", 0 }, { "data.state.label = \"RUN\"", 4 } };
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter;

	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		const struct ct_read_event *event;
		unsigned count = 0;

		if (ct_filter_parse(rows[i].text, 0, &filter, &diagnostic) != CTRACE_OK)
			fail_msg("%s: %s", rows[i].text, diagnostic.message);
		open_sources("t", NULL);
		sources.filter = filter;
		while (event = ct_sources_next(&sources), event != NULL)
			count += ct_filter_accepts(filter, event);
		if (count != rows[i].wanted)
			fail_msg("%s: %u, not %u", rows[i].text, count, rows[i].wanted);
		ct_sources_fini(&sources);
		ct_filter_destroy(filter);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_third_party_class(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_some_are_wanted),
		TEST(what_its_name_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
