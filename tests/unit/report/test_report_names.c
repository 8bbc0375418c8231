/*
 * test_report_names.c - classes, threads and what is said of them stand once each, whatever the
 * trace calls them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "report_fixture.h"

static int create(void **state)
{
	struct ct_report_names *names = malloc(sizeof *names);

	assert_int_equal(ct_report_names_init(names), CTRACE_OK);
	*state = names;
	return 0;
}

static int destroy(void **state)
{
	ct_report_names_fini(*state);
	free(*state);
	return 0;
}

/* A member of what is put, as compact JSON. */
static void assert_put(const struct ct_report_names *names, const char *member, const char *wanted)
{
	json_t *object = json_object();
	char *text;

	assert_true(ct_report_names_put(names, object));
	text = json_dumps(json_object_get(object, member), JSON_COMPACT | JSON_ENSURE_ASCII);
	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
	json_decref(object);
}

static void a_class_is_component_event_and_level(void **state)
{
	struct ct_read_event a = make_event("APP.DB", 1, 0), b = make_event("APP.DB", 2, 0),
			     c = make_event("APP", 1, 0), d = a;

	d.traced.level = CTRACE_ERROR;
	assert_int_equal(ct_report_class(*state, &a), 0);
	assert_int_equal(ct_report_class(*state, &b), 1);
	assert_int_equal(ct_report_class(*state, &c), 2);
	assert_int_equal(ct_report_class(*state, &d), 3);
	a.traced.time_ns = 5;
	a.traced.tid = 9;
	assert_int_equal(ct_report_class(*state, &a), 0);
	assert_put(*state, "classes", "[[0,1,1,-1,-1],[0,2,1,-1,-1],[1,1,1,-1,-1],[0,1,3,-1,-1]]");
	assert_put(
		*state, "components",
		"[{\"name\":\"APP.DB\",\"description\":\"\",\"entries\":0},{\"name\":\"APP\",\"description\":\"\",\"entries\":0}]");
	assert_put(*state, "types", "[]");
}

static void what_the_catalogue_says_is_there(void **state)
{
	static const struct ct_label labels[] = { { 1, "READ" }, { UINT64_MAX, "ALL" } };
	static const struct ct_argument arguments[] = {
		{ .name = "flags",
		  .description = "What for",
		  .print = CT_PRINT_FLAGS,
		  .labels = labels,
		  .label_count = 2,
		  .is_key = true },
		{ .name = "when", .description = "", .print = CT_PRINT_TIME, .unit_ns = 1000 },
		{ .name = "who",
		  .description = "",
		  .print = CT_PRINT_TEXT,
		  .encoding = CT_ENCODING_EBCDIC_037 },
	};
	static const struct ct_event_type type = { .event_id = 1,
						   .mnemonic = "OPEN",
						   .description = "A <file>",
						   .is_exception = true,
						   .pairing = CT_PAIR_ENTRY,
						   .pair_id = 2,
						   .argument_count = 3,
						   .arguments = arguments };
	static const struct ct_catalog_component component = {
		.name = "APP", .description = "The program", .event_count = 1, .events = &type
	};
	struct ct_read_event event = make_event("APP", 1, 0), other;

	event.type = &type;
	event.component = &component;
	other = event;
	other.traced.level = CTRACE_WARN;
	assert_int_equal(ct_report_class(*state, &event), 0);
	assert_int_equal(ct_report_class(*state, &other), 1);
	assert_put(*state, "classes", "[[0,1,1,0,-1],[0,1,2,0,-1]]");
	assert_put(*state, "components",
		   "[{\"name\":\"APP\",\"description\":\"The program\",\"entries\":1}]");
	assert_put(
		*state, "types",
		"[{\"mnemonic\":\"OPEN\",\"description\":\"A <file>\",\"pairing\":\"entry\",\"pair\":2,\"is_exception\":true,\"span\":[],\"arguments\":["
		"{\"name\":\"flags\",\"description\":\"What for\",\"print\":\"flags\",\"copybook\":null,\"is_key\":true,"
		"\"labels\":[[\"1\",\"READ\"],[\"18446744073709551615\",\"ALL\"]]},"
		"{\"name\":\"when\",\"description\":\"\",\"print\":\"time\",\"copybook\":null,\"is_key\":false,\"unit_ns\":1000},"
		"{\"name\":\"who\",\"description\":\"\",\"print\":\"text\",\"copybook\":null,\"is_key\":false,\"encoding\":\"ebcdic-037\"}]}]");
}

static void what_the_trace_says_is_there(void **state)
{
	const char *items[] = { "fd", "bad \xFF" };
	struct ct_event_names named = { .mnemonic = "sys_open", .items = items, .item_count = 2 },
			      same = named;
	struct ct_read_event event = make_event("kernel", 1, 0);

	event.names = &named;
	assert_int_equal(ct_report_class(*state, &event), 0);
	event.names = &same; /* another place, the same names */
	event.traced.event_id = 2;
	assert_int_equal(ct_report_class(*state, &event), 1);
	assert_put(*state, "classes", "[[0,1,1,-1,0],[0,2,1,-1,0]]");
	assert_put(*state, "named",
		   "[{\"mnemonic\":\"sys_open\",\"items\":[\"fd\",\"bad \\\\xFF\"]}]");
}

static void a_name_of_any_bytes_and_length_is_one(void **state)
{
	char name[600];
	struct ct_read_event event;

	memset(name, 'x', sizeof name);
	name[0] = '\xC3';
	event = make_event("", 1, 0);
	event.traced.component = name;
	event.traced.component_size = sizeof name;
	assert_int_equal(ct_report_class(*state, &event), 0);
	assert_int_equal(ct_report_class(*state, &event), 0);
	event = make_event("", 1, 0);
	assert_int_equal(ct_report_class(*state, &event), 1);
}

static void a_thread_is_of_its_process(void **state)
{
	static const struct ct_source_process other = {
		.path = "", .host = "", .program = "", .jobname = "", .is_third_party = true
	};
	struct ct_read_event a = make_event("APP", 1, 0), b = a, c = a;

	b.traced.tid = 79;
	c.source_process = &other;
	assert_int_equal(ct_report_thread(*state, &a), 0);
	assert_int_equal(ct_report_thread(*state, &b), 1);
	assert_int_equal(ct_report_thread(*state, &c), 2);
	assert_int_equal(ct_report_thread(*state, &a), 0);
	assert_int_equal(ct_report_source_process(*state, &other), 1);
	assert_put(*state, "threads", "[[0,77,78],[0,77,79],[1,77,78]]");
	assert_put(
		*state, "origins",
		"[{\"path\":\"/tmp/app.ctb\",\"host\":\"asterix\",\"program\":\"app\",\"jobname\":\"APPJOB\",\"pid\":77,\"asid\":42,\"is_third_party\":false},"
		"{\"path\":\"\",\"host\":\"\",\"program\":\"\",\"jobname\":\"\",\"pid\":0,\"asid\":0,\"is_third_party\":true}]");
}

static void too_many_are_refused(void **state)
{
	struct ct_read_event event = make_event("APP", 0, 0);

	for (uint32_t i = 0; i < CT_DISTINCT_LIMIT; i++) {
		event.traced.event_id = i;
		assert_int_equal(ct_report_class(*state, &event), i);
	}
	event.traced.event_id = CT_DISTINCT_LIMIT;
	assert_int_equal(ct_report_class(*state, &event), CT_DISTINCT_NONE);
	event.traced.event_id = 7;
	assert_int_equal(ct_report_class(*state, &event), 7);
}

static void the_page_can_read_ebcdic(void **state)
{
	json_t *object = json_object(), *letters;

	assert_true(ct_report_names_put(*state, object));
	letters = json_object_get(json_object_get(object, "encodings"), "ebcdic-037");
	assert_non_null(letters);
	/* 128 characters of ASCII, and 128 of two bytes */
	assert_int_equal(json_string_length(letters), 128 + 2 * 128);
	json_decref(object);
}

int test_report_names(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_class_is_component_event_and_level, create,
						destroy),
		cmocka_unit_test_setup_teardown(what_the_catalogue_says_is_there, create, destroy),
		cmocka_unit_test_setup_teardown(what_the_trace_says_is_there, create, destroy),
		cmocka_unit_test_setup_teardown(a_name_of_any_bytes_and_length_is_one, create,
						destroy),
		cmocka_unit_test_setup_teardown(a_thread_is_of_its_process, create, destroy),
		cmocka_unit_test_setup_teardown(too_many_are_refused, create, destroy),
		cmocka_unit_test_setup_teardown(the_page_can_read_ebcdic, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
