/*
 * test_ipcs_message.c - the table of messages, and what is put into them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void every_message_has_all_of_it(void **state)
{
	(void)state;
	for (int id = CT_ITT_NONE + 1; id < CT_ITT_COUNT; id++) {
		const struct ct_ipcs_message_row *row =
			ct_ipcs_message_row((enum ct_ipcs_message)id);

		assert_int_equal(strlen(row->id), 9);
		assert_memory_equal(row->id, "ITT100", 6);
		assert_true(strlen(row->text) > 10 && strlen(row->more) > 10);
		if (id > 1)
			assert_true(strcmp(ct_ipcs_message_row((enum ct_ipcs_message)(id - 1))->id,
					   row->id) < 0);
	}
}

static void values_are_put_in_and_escaped(void **state)
{
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_ipcs_message_add(&out, CT_ITT10019I, (const char *[]){ "a\n\"b\"\x1b", "{}" });
	assert_string_equal(ct_buf_text(&out), "ITT10019I a\\n\"b\"\\u{1B} is not a trace: {}.");
	ct_buf_fini(&out);
}

static void plain_text(void **state)
{
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_ipcs_add_plain(&out, "\"x\" \\ \r", 7);
	assert_string_equal(ct_buf_text(&out), "\"x\" \\\\ \\r");
	ct_buf_clear(&out);
	ct_ipcs_add_plain(&out, "\"\"", 2);
	ct_ipcs_add_plain(&out, "", 0);
	assert_string_equal(ct_buf_text(&out), "\"\"");
	ct_buf_fini(&out);
}

int test_ipcs_message(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_has_all_of_it),
		cmocka_unit_test(values_are_put_in_and_escaped),
		cmocka_unit_test(plain_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
