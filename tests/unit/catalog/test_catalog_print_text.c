/*
 * test_catalog_print_text.c - texts that become one line, and pairs of events.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_print_fixture.h"

static const char *line(const char *text)
{
	ct_buf_clear(&out);
	ct_plain_add(&out, text);
	return ct_buf_text(&out);
}

static void a_text_is_one_line_without_controls(void **state)
{
	(void)state;
	assert_string_equal(line(""), "");
	assert_string_equal(line("two\nlines\tand \"this\" \\ \xC3\xA4"),
			    "two lines and \"this\" \\ \xC3\xA4");
	assert_string_equal(line("\x1B[31m\n"), "\\u{1B}[31m ");
	assert_string_equal(line("\xE2\x80\xAE"), "\\u{202E}");
}

static const char *stopped(const char *text)
{
	ct_buf_clear(&out);
	ct_buf_add_text(&out, text);
	ct_plain_add_stop(&out);
	return ct_buf_text(&out);
}

static void a_sentence_has_one_full_stop(void **state)
{
	(void)state;
	assert_string_equal(stopped("A file is opened"), "A file is opened.");
	assert_string_equal(stopped("A file is opened."), "A file is opened.");
	assert_string_equal(stopped("Opened?"), "Opened?");
	assert_string_equal(stopped("Opened!"), "Opened!");
	assert_string_equal(stopped(""), "");
}

static void an_event_has_another_end(void **state)
{
	(void)state;
	parse("component: A\nevents: {1: {mnemonic: OPEN, exit: 2}, 2: OPENED, 3: THIRD}\n");
	assert_ptr_equal(ct_event_pair(component("A"), event("A", 1)), event("A", 2));
	assert_ptr_equal(ct_event_pair(component("A"), event("A", 2)), event("A", 1));
	assert_null(ct_event_pair(component("A"), event("A", 3)));
}

static void bits_are_flags(void **state)
{
	struct ct_argument flags = { .print = CT_PRINT_FLAGS };
	struct ct_argument values = { .print = CT_PRINT_ENUMERATION };

	(void)state;
	assert_string_equal(ct_labels_word(&flags), "Flags");
	assert_string_equal(ct_labels_word(&values), "Values");
}

int test_catalog_print_text(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_text_is_one_line_without_controls),
		PRINT_TEST(a_sentence_has_one_full_stop),
		PRINT_TEST(an_event_has_another_end),
		PRINT_TEST(bits_are_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
