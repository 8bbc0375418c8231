/*
 * test_display_json.c - DISPLAY TRACE as JSON: exact documents.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

#include <errno.h>
#include <jansson.h>

static json_t *print_json(const struct ct_display_json *what)
{
	json_t *document;

	ct_display_arrange(&table);
	ct_buf_clear(&printed);
	assert_int_equal(ct_display_json(&table, what, &printed), CTRACE_OK);
	document = json_loads(ct_buf_text(&printed), 0, NULL);
	assert_non_null(document);
	return document;
}

#define NOT_SET \
	"\"modifiable\":false,\"start_routine\":null,\"display_routine\":null,\"format_table\":null,"
#define NO_USERDATA "\"userdata\":\"00000000000000000000000000000000\"}"

static void the_sample(void **state)
{
	(void)state;
	add_sample();
	table.traces[1].display.asid_count = 1;
	table.traces[1].display.asid[0] = 0x1F;
	ct_display_add_missing(&table, "KVX");
	(void)snprintf(table.processes[0].note, sizeof table.processes[0].note, "more");
	json_decref(print_json(&(struct ct_display_json){ .has_traces = true, .form = &with_sub }));
	assert_printed(
		"{\"format_version\":1,\"time_ns\":1769869634000000000,\"any_on\":true,\"traces\":["
		"{\"component\":\"SYSTCPIP\",\"component_above\":null,\"pid\":4711,\"uid\":1000,\"asid\":\"001F\",\"job\":\"TCPIP\","
		"\"program\":\"TCPIP.exe\",\"defined\":true,\"mode\":\"OFF\","
		"\"buffer\":{\"supported\":false,\"asked\":0,\"rounded\":0,\"granted\":0,\"rings\":0,\"ring_bytes\":0,\"storage\":false},\"head\":true,\"head_options\":false,"
		"\"likehead\":false,\"sublevels\":1,\"asids\":[],\"jobs\":[],\"asids_supported\":false,"
		"\"jobs_supported\":false,\"filtered\":false,\"options\":\"\",\"minops\":\"\",\"writer_supported\":false,"
		"\"writer\":null,\"writer_active\":true," NOT_SET NO_USERDATA
		",{\"component\":\"SYSTCPIP.TCPIPROC\","
		"\"component_above\":\"SYSTCPIP\",\"pid\":4711,\"uid\":1000,\"asid\":\"001F\",\"job\":\"TCPIP\","
		"\"program\":\"TCPIP.exe\",\"defined\":true,\"mode\":\"ON\","
		"\"buffer\":{\"supported\":true,\"asked\":0,\"rounded\":8388608,\"granted\":0,\"rings\":0,\"ring_bytes\":0,\"storage\":false},\"head\":false,"
		"\"head_options\":false,\"likehead\":false,\"sublevels\":0,\"asids\":[\"001F\"],\"jobs\":[\"EZASOKJS\"],"
		"\"asids_supported\":true,\"jobs_supported\":true,\"filtered\":false,\"options\":\"SOCKAPI\","
		"\"minops\":\"\",\"writer_supported\":true,\"writer\":\"CTW\",\"writer_active\":true," NOT_SET
			NO_USERDATA
		"],\"missing\":[\"KVX\"],\"notes\":[{\"pid\":4711,\"uid\":1000,\"asid\":\"001F\",\"job\":\"TCPIP\","
		"\"program\":\"TCPIP.exe\",\"note\":\"more\"}]}\n");
}

static size_t count_traces(const struct ct_display_form *form)
{
	json_t *document =
		print_json(&(struct ct_display_json){ .has_traces = true, .form = form });
	size_t count = json_array_size(json_object_get(document, "traces"));

	assert_null(json_object_get(document, "writers"));
	json_decref(document);
	return count;
}

static void the_same_traces_as_the_text(void **state)
{
	struct ct_display_form form = { .levels = CT_DISPLAY_NONE, .limit = 1 };
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		add_trace(process, i == 0 ? "A" : "B", (struct ctrace_display){ 0 });
		add_trace(process, i == 0 ? "A.X" : "B.X", (struct ctrace_display){ 0 });
		add_trace(process, i == 0 ? "A.X.Y" : "B.X.Y", (struct ctrace_display){ 0 });
	}
	assert_int_equal(count_traces(NULL), 2);
	assert_int_equal(count_traces(&trace_alone), 2);
	assert_int_equal(count_traces(&with_sub), 4);
	assert_int_equal(count_traces(&all_levels), 6);
	assert_int_equal(count_traces(&form), 4);
}

static void writers(void **state)
{
	struct ct_display_writers all = { 0 };
	uint32_t writer = ct_display_add_writer(
		&table, &(struct ct_display_writer){ .state = { .name = "CTW",
								.pid = 4711,
								.start_ns = 5,
								.nowrap = true,
								.events = 3,
								.bytes = 1000,
								.full_events = 2,
								.message = "ITT110I" } });
	uint32_t process = add_process(0x1F, "KVSERVER", 12345);
	struct ct_display_trace waiting = { .process = process,
					    .name = "KVX",
					    .display.writer = "CTX" };

	(void)state;
	ct_display_add_trace(&table, &waiting);
	ct_display_add_trcout(&table, &(struct ct_display_trcout){ .writer = writer,
								   .state = { .number = 1,
									      .limit = 1000,
									      .used = 999,
									      .events = 3,
									      .bytes = 1000,
									      .full_events = 2,
									      .failing = ENOSPC,
									      .path = "/t/1" } });
	ct_display_add_link(&table,
			    &(struct ct_display_link){ .writer = writer,
						       .state = { .pid = 12345,
								  .asid = 0x1F,
								  .rings = 4,
								  .events = 3,
								  .jobname = "KVSERVER",
								  .traces = " KVS  KVS.NET " } });
	json_decref(print_json(&(struct ct_display_json){ .writers = &all }));
	assert_printed(
		"{\"format_version\":1,\"time_ns\":1769869634000000000,\"any_on\":true,\"writers\":["
		"{\"name\":\"CTW\",\"active\":true,\"status\":\"FAILING\",\"pid\":4711,\"start_ns\":5,\"mode\":\"NOWRAP\","
		"\"compress\":false,\"events\":3,\"bytes\":1000,\"overwritten\":0,\"not_written\":2,\"message\":\"ITT110I\","
		"\"trcouts\":[{\"number\":1,\"path\":\"/t/1\",\"limit_bytes\":1000,\"used_bytes\":999,\"events\":3,"
		"\"bytes\":1000,\"overwritten\":0,\"not_written\":2,\"failing\":\"No space left on device\",\"open\":false}],"
		"\"connected\":[{\"pid\":12345,\"asid\":\"001F\",\"job\":\"KVSERVER\",\"ring_count\":4,\"events\":3,"
		"\"traces\":[\"KVS\",\"KVS.NET\"]}],\"waiting\":[]},"
		"{\"name\":\"CTX\",\"active\":false,\"waiting\":[{\"component\":\"KVX\",\"pid\":12345,\"uid\":1000,\"asid\":\"001F\","
		"\"job\":\"KVSERVER\",\"program\":\"KVSERVER.exe\"}]}]}\n");
}

/* Bytes that are not UTF-8 are escaped as for people; all else comes back as it was. */
static void third_party_text_is_valid_json(void **state)
{
	json_t *document, *trace;

	(void)state;
	add_trace(add_process(1, "\xFF", 2), "A",
		  (struct ctrace_display){ .options = "a\"\n\xE2\x82\xAC", .minops = "\xC3" });
	document = print_json(&(struct ct_display_json){ .has_traces = true });
	trace = json_array_get(json_object_get(document, "traces"), 0);
	assert_string_equal(json_string_value(json_object_get(trace, "options")),
			    "a\"\n\xE2\x82\xAC");
	assert_string_equal(json_string_value(json_object_get(trace, "minops")), "\\xC3");
	assert_string_equal(json_string_value(json_object_get(trace, "job")), "\\xFF");
	for (const char *at = ct_buf_text(&printed); *at != '\n'; at++)
		assert_in_range(*at, 0x20, 0x7E);
	json_decref(document);
}

/* A preset belongs to no process. */
static void without_a_process(void **state)
{
	json_t *document, *trace;

	(void)state;
	add_trace(CT_DISPLAY_NONE, "A", (struct ctrace_display){ .mode = CT_DISPLAY_MODE_PRE });
	document = print_json(&(struct ct_display_json){ .has_traces = true });
	trace = json_array_get(json_object_get(document, "traces"), 0);
	assert_string_equal(json_string_value(json_object_get(trace, "mode")), "PRE");
	assert_null(json_object_get(trace, "pid"));
	json_decref(document);
}

static void rows_that_are_missing_fail_it(void **state)
{
	(void)state;
	table.failed = true;
	assert_int_equal(ct_display_json(&table, &(struct ct_display_json){ 0 }, &printed),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(printed.size, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int test_display_json(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_sample),        TEST(the_same_traces_as_the_text),
		TEST(writers),           TEST(third_party_text_is_valid_json),
		TEST(without_a_process), TEST(rows_that_are_missing_fail_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
