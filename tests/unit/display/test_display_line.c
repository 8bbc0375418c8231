/*
 * test_display_line.c - columns, sizes and values that go on in the next line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

static void sizes_have_four_digits(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0000K" },
		{ 1, "0001K" },
		{ 1024, "0001K" },
		{ 1025, "0002K" },
		{ 65536, "0064K" },
		{ 1000 * 1024, "1000K" },
		{ 1u << 20, "0001M" },
		{ (1u << 20) + 1024, "1025K" },
		{ 9999 * 1024, "9999K" },
		{ 9999 * 1024 + 1, "0010M" },
		{ 8u << 20, "0008M" },
		{ UINT64_C(9999) << 20, "9999M" },
		{ UINT64_C(2) << 30, "0002G" },
		{ (UINT64_C(10000) << 20) + 1, "0010G" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		ct_buf_clear(&printed);
		ct_display_add_size(&printed, rows[i].bytes);
		assert_printed(rows[i].text);
	}
}

static void text_is_escaped_when_it_is_not_plain(void **state)
{
	(void)state;
	assert_int_equal(ct_display_add_text(&printed, "a\"b'c\\"), 6);
	assert_int_equal(ct_display_add_text(&printed, ""), 0);
	assert_int_equal(ct_display_add_text(&printed, "\xC3\xA4\n"), 3);
	assert_printed("a\"b'c\\\xC3\xA4\\n");
}

static void a_line_ends_without_blanks(void **state)
{
	(void)state;
	ct_display_end_line(&printed);
	ct_display_add_blanks(&printed, 3);
	ct_display_end_line(&printed);
	ct_buf_add_text(&printed, "a ");
	ct_display_end_line(&printed);
	assert_printed("\n\na\n");
}

static void detail(const char *value)
{
	ct_buf_clear(&printed);
	ct_display_add_detail(&printed, "OPTIONS", value);
}

#define FIFTY "12345678901234567890123456789012345678901234567890"

static void a_value_that_fits(void **state)
{
	(void)state;
	detail("");
	assert_printed("     OPTIONS\n");
	detail(FIFTY "12345");
	assert_printed("     OPTIONS    " FIFTY "12345\n");
	ct_buf_clear(&printed);
	ct_display_add_detail(&printed, "", "x");
	assert_printed("                x\n");
}

static void a_value_that_goes_on(void **state)
{
	(void)state;
	detail(FIFTY "123456");
	assert_printed("     OPTIONS    " FIFTY "12345\n"
		       "                6\n");
	detail("A," FIFTY ",123456");
	assert_printed("     OPTIONS    A," FIFTY ",\n"
		       "                123456\n");
	detail(FIFTY " 123456 7");
	assert_printed("     OPTIONS    " FIFTY "\n"
		       "                123456 7\n");
	detail(FIFTY "1234,");
	assert_printed("     OPTIONS    " FIFTY "1234,\n");
	detail(FIFTY "12345,");
	assert_printed("     OPTIONS    " FIFTY "12345\n"
		       "                ,\n");
}

/* Half an escape, or half a character, would be something else. */
static void an_escape_is_not_parted(void **state)
{
	(void)state;
	detail(FIFTY "12\033x");
	assert_printed("     OPTIONS    " FIFTY "12\n"
		       "                \\u{1B}x\n");
	detail(FIFTY "12\xFFx");
	assert_printed("     OPTIONS    " FIFTY "12\n"
		       "                \\xFFx\n");
	detail(FIFTY "1234\n");
	assert_printed("     OPTIONS    " FIFTY "1234\n"
		       "                \\n\n");
	detail(FIFTY "12345\xC3\xA4\xC3\xA4");
	assert_printed("     OPTIONS    " FIFTY "12345\n"
		       "                \xC3\xA4\xC3\xA4\n");
	detail(FIFTY "1234\xC3\xA4");
	assert_printed("     OPTIONS    " FIFTY "1234\xC3\xA4\n");
}

/* A backslash of a plain text is no escape. */
static void a_plain_backslash_is_a_character(void **state)
{
	(void)state;
	detail(FIFTY "1234\\n");
	assert_printed("     OPTIONS    " FIFTY "1234\\\n"
		       "                n\n");
}

static void columns(void **state)
{
	struct ctrace_display shown = {
		.is_defined = 1, .head = 1, .subs = 12345, .buffer = 1, .buffer_rounded = 1024
	};

	(void)state;
	ct_display_add_columns(&printed, &shown, "OFF", 5);
	assert_printed("OFF  0001K  HEAD 12345");
	shown.buffer = 0;
	shown.likehead = 1;
	ct_buf_clear(&printed);
	ct_display_add_columns(&printed, &shown, "OFF*+", 6);
	assert_printed("OFF*+        LIKE 12345");
	assert_string_equal(ct_display_mode(CTRACE_MODE_ON), "ON");
	assert_string_equal(ct_display_mode(9), "?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int test_display_line(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sizes_have_four_digits),
		TEST(text_is_escaped_when_it_is_not_plain),
		TEST(a_line_ends_without_blanks),
		TEST(a_value_that_fits),
		TEST(a_value_that_goes_on),
		TEST(an_escape_is_not_parted),
		TEST(a_plain_backslash_is_a_character),
		TEST(columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
