/*
 * test_catalog_print_text.c - texts that become one line, and what is said of an event.
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

static const char *remark(uint32_t event_id)
{
	ct_buf_clear(&out);
	ct_remark_add(&out, component("A"), event("A", event_id));
	return ct_buf_text(&out);
}

static void what_is_said_of_an_event(void **state)
{
	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: OPEN, description: A file is opened, severity: info, exit: 2, arguments: [handle, mode]}\n"
	      "  2: {mnemonic: OPENED, severity: info, exception: true}\n"
	      "  3: {mnemonic: THIRD, arguments: [a]}\n"
	      "  4: {mnemonic: FOURTH, description: Only this}\n"
	      "  5: FIFTH\n");
	assert_string_equal(remark(1),
			    "A file is opened. INFO, its exit is OPENED; items: handle, mode");
	assert_string_equal(remark(2), "INFO, an exception, the exit of OPEN");
	assert_string_equal(remark(3), "items: a");
	assert_string_equal(remark(4), "Only this");
	assert_string_equal(remark(5), "");
	assert_ptr_equal(ct_event_pair(component("A"), event("A", 1)), event("A", 2));
	assert_ptr_equal(ct_event_pair(component("A"), event("A", 2)), event("A", 1));
	assert_null(ct_event_pair(component("A"), event("A", 3)));
}

static void bits_have_no_sign(void **state)
{
	struct ct_argument flags = { .print = CT_PRINT_FLAGS };
	struct ct_argument values = { .print = CT_PRINT_ENUMERATION };
	struct ct_label highest = { .value = UINT64_MAX };
	struct ct_label lowest = { .value = INT64_MAX };

	(void)state;
	assert_false(ct_label_is_negative(&flags, &highest));
	assert_true(ct_label_is_negative(&values, &highest));
	assert_false(ct_label_is_negative(&values, &lowest));
	assert_string_equal(ct_labels_word(&flags), "Flags");
	assert_string_equal(ct_labels_word(&values), "Values");
}

static void a_files_name_is_without_its_directory(void **state)
{
	struct ct_catalog_component of = { .path = "directory/of/app.yaml" };

	(void)state;
	assert_string_equal(ct_component_file_name(&of), "app.yaml");
	of.path = "app.yaml";
	assert_string_equal(ct_component_file_name(&of), "app.yaml");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_text_is_one_line_without_controls),
		PRINT_TEST(a_sentence_has_one_full_stop),
		PRINT_TEST(what_is_said_of_an_event),
		PRINT_TEST(bits_have_no_sign),
		PRINT_TEST(a_files_name_is_without_its_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
