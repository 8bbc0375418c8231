/*
 * test_export_chrome.c - the JSON of Chromium's trace viewer: names, instants, spans, times; and
 * that a JSON library reads it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

#include <jansson.h>

static struct exported exported;

/* traceEvents without those that name tracks. */
static json_t *events_with(struct ct_export_options options, const struct ct_read_event *input,
			   size_t count)
{
	json_error_t error;
	json_t *root, *events;
	size_t i = 0;

	export_events(&exported, &ct_export_chrome, options, input, count);
	assert_int_equal(exported.status, CTRACE_OK);
	root = json_loadb(exported.text, exported.size, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		fail_msg("%s: %s", error.text, exported.text);
	events = json_incref(json_object_get(root, "traceEvents"));
	assert_true(json_is_array(events));
	while (i < json_array_size(events))
		if (strcmp(json_string_value(json_object_get(json_array_get(events, i), "ph")),
			   "M") == 0)
			(void)json_array_remove(events, i);
		else
			i++;
	json_decref(root);
	return events;
}

static json_t *events_of(const struct ct_read_event *input, size_t count)
{
	return events_with((struct ct_export_options){ 0 }, input, count);
}

static const char *text_at(json_t *events, size_t index, const char *name)
{
	return json_string_value(json_object_get(json_array_get(events, index), name));
}

static void an_instant(void **state)
{
	const struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 17),
						   text_item("a\"b\x80") };
	const struct ct_read_event input[] = { event_at(0, 9, items, 2),
					       event_at(1234567, 9, items, 0) };

	(void)state;
	json_decref(events_of(input, 2));
	assert_non_null(strstr(
		exported.text,
		"\"begin_time\":\"2023-11-14T22:13:20.123456789Z\",\"begin_ns\":\"1700000000123456789\""));
	assert_non_null(strstr(
		exported.text,
		"{\"ph\":\"M\",\"pid\":4711,\"tid\":0,\"ts\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rts32 on "
		"asterix\"}}"));
	assert_non_null(strstr(
		exported.text,
		"{\"ph\":\"M\",\"pid\":4711,\"tid\":9,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"thread "
		"9\"}}"));
	assert_non_null(strstr(
		exported.text,
		"{\"ph\":\"i\",\"pid\":4711,\"tid\":9,\"ts\":0.000,\"name\":\"MF.RTS "
		"255\",\"cat\":\"MF.RTS\",\"s\":\"t\",\"args\":{\"level\":\"ERROR\",\"event\":255,\"data1\":17,"
		"\"data2\":\"a\\\"b\\u0080\"}}"));
	assert_non_null(strstr(exported.text, "\"ts\":1234.567,"));
	assert_int_equal(count_of(&exported, "process_name"), 1);
	assert_int_equal(count_of(&exported, "thread_name"), 1);
}

static void spans(void **state)
{
	const struct ct_read_event input[] = { span_begin(0, 1, 1), span_begin(1, 1, 2),
					       span_begin(2, 1, 3), span_end(3, 1, 1),
					       span_end(4, 1, 2) };
	json_t *events = events_of(input, CT_COUNT(input));

	(void)state;
	assert_int_equal(json_array_size(events), 5);
	assert_string_equal(text_at(events, 0, "ph"), "B");
	assert_string_equal(text_at(events, 1, "ph"), "b"); /* it ends behind what is around it */
	assert_string_equal(text_at(events, 2, "ph"), "i"); /* it never ends */
	assert_string_equal(text_at(events, 3, "ph"), "E");
	assert_string_equal(text_at(events, 4, "ph"), "e");
	assert_string_equal(text_at(events, 1, "id"), "0x2");
	assert_string_equal(text_at(events, 1, "id"), text_at(events, 4, "id"));
	assert_string_equal(text_at(events, 1, "cat"), text_at(events, 4, "cat"));
	assert_null(text_at(events, 0, "id"));
	/* Who takes name and args for what a span is finds both ends alike. */
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(json_object_get(json_array_get(events, i), "args") != NULL,
				 i == 2);
	json_decref(events);
}

static void spans_have_args_when_they_are_asked_for(void **state)
{
	const struct ct_read_event input[] = { span_begin(0, 1, 1), span_end(3, 1, 1) };
	json_t *events =
		events_with((struct ct_export_options){ .has_args = true }, input, CT_COUNT(input));

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(
			json_string_value(json_object_get(
				json_object_get(json_array_get(events, i), "args"), "level")),
			"ERROR");
	json_decref(events);
}

static void items_never_hide_what_is_known(void **state)
{
	const char *const item_names[] = { "level", "event" };
	const struct ct_event_names names = { .mnemonic = "x",
					      .items = item_names,
					      .item_count = 2 };
	const struct ctrace_event_item items[] = { text_item("a"), text_item("b") };
	struct ct_read_event event = event_at(0, 9, items, 2);
	json_t *events, *args;

	(void)state;
	event.names = &names;
	events = events_of(&event, 1);
	args = json_object_get(json_array_get(events, 0), "args");
	assert_string_equal(json_string_value(json_object_get(args, "level")), "ERROR");
	assert_string_equal(json_string_value(json_object_get(args, "level_")), "a");
	assert_int_equal(json_integer_value(json_object_get(args, "event")), 255);
	json_decref(events);
}

static void nothing_is_a_document_too(void **state)
{
	json_t *events = events_of(NULL, 0);

	(void)state;
	assert_int_equal(json_array_size(events), 0);
	json_decref(events);
}

static void losses_are_instants(void **state)
{
	const struct ct_read_note note = { .kind = CT_NOTE_LOST,
					   .events = 12,
					   .source_process = &event_source_process };
	FILE *file = tmpfile();
	struct ct_export_options options = { .fd = fileno(file) };
	struct ct_read_event event = event_at(0, 9, NULL, 0);
	void *self;

	(void)state;
	assert_int_equal(ct_export_chrome.open(&options, &self), CTRACE_OK);
	ct_export_chrome.look(self, &event);
	ct_export_chrome.add(self, &event);
	ct_export_chrome.lost(self, &note);
	assert_int_equal(ct_export_chrome.end(self), CTRACE_OK);
	ct_export_chrome.close(self);
	rewind(file);
	exported.text[fread(exported.text, 1, sizeof exported.text - 1, file)] = '\0';
	assert_non_null(strstr(
		exported.text,
		"\"name\":\"events lost\",\"cat\":\"LOST\",\"s\":\"p\",\"args\":{\"events\":12}}"));
	(void)fclose(file);
}

int test_export_chrome(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instant),
		cmocka_unit_test(spans),
		cmocka_unit_test(spans_have_args_when_they_are_asked_for),
		cmocka_unit_test(items_never_hide_what_is_known),
		cmocka_unit_test(nothing_is_a_document_too),
		cmocka_unit_test(losses_are_instants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
