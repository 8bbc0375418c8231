/*
 * test_export_speedscope.c - speedscope's format: profiles that nest, sums of spans that do not,
 * chunks that come back in order.
 *
 * What speedscope makes of it is tested by tests/process/speedscope.py.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

#include <jansson.h>

static struct exported exported;

static json_t *document_of(const struct ct_read_event *input, size_t count)
{
	json_error_t error;
	json_t *root;

	export_events(&exported, &ct_export_speedscope, (struct ct_export_options){ 0 }, input,
		      count);
	assert_int_equal(exported.status, CTRACE_OK);
	root = json_loadb(exported.text, exported.size, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		fail_msg("%s: %s", error.text, exported.text);
	return root;
}

static json_t *profile_at(json_t *root, size_t index)
{
	return json_array_get(json_object_get(root, "profiles"), index);
}

/* "O0@1 C0@2" */
static const char *events_of(json_t *profile)
{
	static char text[4096];
	size_t used = 0, i;
	json_t *traced;

	text[0] = '\0';
	json_array_foreach(json_object_get(profile, "events"), i, traced) used +=
		(size_t)snprintf(text + used, sizeof text - used, "%s%s%d@%d", i > 0 ? " " : "",
				 json_string_value(json_object_get(traced, "type")),
				 (int)json_integer_value(json_object_get(traced, "frame")),
				 (int)json_integer_value(json_object_get(traced, "at")));
	return text;
}

static void a_profile_a_thread(void **state)
{
	const struct ct_read_event input[] = { event_at(0, 3, NULL, 0), span_begin(10, 1, 1),
					       span_begin(20, 1, 2),    span_begin(25, 2, 3),
					       span_end(30, 1, 2),      span_end(40, 1, 1),
					       span_end(90, 2, 3) };
	json_t *root = document_of(input, CT_COUNT(input));

	(void)state;
	/* thread 3 has no spans */
	assert_int_equal(json_array_size(json_object_get(root, "profiles")), 2);
	assert_string_equal(events_of(profile_at(root, 0)), "O0@10 O0@20 C0@30 C0@40");
	assert_string_equal(json_string_value(json_object_get(profile_at(root, 0), "name")),
			    "rts32 on asterix, thread 1");
	assert_int_equal(json_integer_value(json_object_get(profile_at(root, 0), "startValue")),
			 10);
	assert_int_equal(json_integer_value(json_object_get(profile_at(root, 0), "endValue")), 40);
	assert_string_equal(events_of(profile_at(root, 1)), "O0@25 C0@90");
	/* the one with most in it */
	assert_int_equal(json_integer_value(json_object_get(root, "activeProfileIndex")), 1);
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(json_object_get(root, "shared"), "frames"),
				       0),
			"name")),
		"MF.RTS 255");
	json_decref(root);
}

static void overlapping_spans_are_one_after_another(void **state)
{
	struct ct_read_event input[] = { span_begin(0, 1, 1), span_begin(1, 1, 2),
					 span_begin(2, 1, 3), span_end(5, 1, 1),
					 span_end(7, 1, 2),   span_end(9, 2, 3) };
	json_t *root;

	(void)state;
	input[3].duration_ns = 5;
	input[4].duration_ns = 6;
	input[5].duration_ns = 7;
	root = document_of(input, CT_COUNT(input));
	assert_int_equal(json_array_size(json_object_get(root, "profiles")), 2);
	assert_string_equal(events_of(profile_at(root, 0)), "O0@0 C0@5");
	assert_string_equal(events_of(profile_at(root, 1)), "O0@0 C0@6 O0@6 C0@13");
	assert_string_equal(json_string_value(json_object_get(profile_at(root, 1), "name")),
			    "rts32 on asterix, overlapping spans one after another");
	json_decref(root);
}

/* More than a chunk of each of two threads, in turn. */
static void chunks_come_back_in_order(void **state)
{
	enum { SPANS = 600 };
	static struct ct_read_event input[4 * SPANS];
	json_t *root, *traced;
	size_t i, count = 0;

	(void)state;
	for (unsigned n = 0; n < SPANS; n++) {
		input[count++] = span_begin(4 * n, 1, 2 * n + 1);
		input[count++] = span_begin(4 * n + 1, 2, 2 * n + 2);
		input[count++] = span_end(4 * n + 2, 1, 2 * n + 1);
		input[count++] = span_end(4 * n + 3, 2, 2 * n + 2);
	}
	root = document_of(input, count);
	for (size_t thread = 0; thread < 2; thread++) {
		json_t *events = json_object_get(profile_at(root, thread), "events");

		assert_int_equal(json_array_size(events), 2 * SPANS);
		json_array_foreach(events, i, traced)
			assert_int_equal(json_integer_value(json_object_get(traced, "at")),
					 4 * (i / 2) + 2 * (i % 2) + thread);
	}
	json_decref(root);
}

static void a_spool_that_cannot_be_is_reported(void **state)
{
	enum { SPANS = 600 };
	static struct ct_read_event input[2 * SPANS];

	(void)state;
	for (unsigned n = 0; n < SPANS; n++) {
		input[2 * n] = span_begin(2 * n, 1, n + 1);
		input[2 * n + 1] = span_end(2 * n + 1, 1, n + 1);
	}
	assert_int_equal(setenv("TMPDIR", "/nosuch/directory", 1), 0);
	export_events(&exported, &ct_export_speedscope, (struct ct_export_options){ 0 }, input,
		      CT_COUNT(input));
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(exported.status, CTRACE_OS_ERROR);
}

static void without_spans_it_says_so(void **state)
{
	json_t *root = document_of(NULL, 0);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(root, "profiles")), 1);
	assert_non_null(strstr(json_string_value(json_object_get(profile_at(root, 0), "name")),
			       "no spans"));
	json_decref(root);
}

int test_export_speedscope(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_a_thread),
		cmocka_unit_test(overlapping_spans_are_one_after_another),
		cmocka_unit_test(chunks_come_back_in_order),
		cmocka_unit_test(a_spool_that_cannot_be_is_reported),
		cmocka_unit_test(without_spans_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
