/*
 * test_export_json.c - one document that has every event, or an object a line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

#include "print/json_text.h"

static struct exported exported;

static void one_document(void **state)
{
	const struct ct_read_event events[] = { event_at(0, 1, NULL, 0), event_at(1, 1, NULL, 0),
						event_at(2, 1, NULL, 0) };
	json_error_t error;
	json_t *root;

	(void)state;
	for (size_t count = 0; count <= 3; count++) {
		export_events(&exported, &ct_export_json, (struct ct_export_options){ 0 }, events,
			      count);
		assert_int_equal(exported.status, CTRACE_OK);
		root = json_loadb(exported.text, exported.size, 0, &error);
		assert_int_equal(json_integer_value(json_object_get(root, "format_version")),
				 CT_JSON_FORMAT_VERSION);
		assert_int_equal(json_array_size(json_object_get(root, "events")), count);
		/* a line an event */
		assert_int_equal(count_of(&exported, "\n"), count == 0 ? 1 : count + 2);
		json_decref(root);
	}
}

static void lines(void **state)
{
	const struct ct_read_event events[] = { event_at(0, 1, NULL, 0), event_at(1, 1, NULL, 0) };
	struct ct_buf first;

	(void)state;
	export_events(&exported, &ct_export_json, (struct ct_export_options){ .is_lines = true },
		      events, 2);
	ct_buf_init(&first);
	ct_json_add_line(&first, &events[0]);
	assert_memory_equal(exported.text, first.data, first.size);
	assert_int_equal(count_of(&exported, "\n"), 2);
	ct_buf_fini(&first);
	export_events(&exported, &ct_export_json, (struct ct_export_options){ .is_lines = true },
		      events, 0);
	assert_int_equal(exported.size, 0);
}

int test_export_json(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(one_document),
						   cmocka_unit_test(lines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
