/*
 * test_metadata_token.c - metadata word by word: what is one token, and what numbers and strings stand for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/metadata_token.h"
#include <stdlib.h>
#include <string.h>

/* In a block of its own without an end: what reads behind it is found by the sanitizers. */
static struct ct_metadata_lexer start_sized(const char *text, size_t size)
{
	static char *block;
	struct ct_metadata_lexer lexer;

	free(block);
	block = malloc(size != 0 ? size : 1);
	assert_non_null(block);
	memcpy(block, text, size);
	lexer = (struct ct_metadata_lexer){ .text = block, .size = size };
	ct_metadata_next(&lexer);
	return lexer;
}

static struct ct_metadata_lexer start(const char *text)
{
	return start_sized(text, strlen(text));
}

static void words_strings_and_single_characters_are_tokens(void **state)
{
	static const char *const tokens[] = { "$uuid", "a_1",  "12", "{", "\"a \\\" b\"", ";", "/", "*",
					      "\"",    "open", ":",  "=", "\\",           "/" };
	struct ct_metadata_lexer lexer = start("/* one */ $uuid\ta_1\n12{\"a \\\" b\";/**//*\"*//\r * \"open:=\\/* no end");

	(void)state;
	for (size_t i = 0; i < CT_COUNT(tokens); i++) {
		assert_int_equal(lexer.length, strlen(tokens[i]));
		assert_memory_equal(lexer.text + lexer.start, tokens[i], lexer.length);
		assert_true(ct_metadata_token_is(&lexer, tokens[i], lexer.length));
		assert_false(ct_metadata_token_is(&lexer, tokens[i], lexer.length - 1));
		ct_metadata_next(&lexer);
	}
	lexer = start(" \n/* only this */");
	assert_int_equal(lexer.length, 0);
	ct_metadata_next(&lexer);
	assert_int_equal(lexer.length, 0);
	for (size_t size = 0; size < 4; size++)
		(void)start_sized("\"a\\\"", size);
}

static void only_what_is_expected_is_left_behind(void **state)
{
	struct ct_metadata_lexer lexer = start("event { name = x");

	(void)state;
	assert_false(ct_metadata_accept(&lexer, "even"));
	assert_false(ct_metadata_accept(&lexer, "events"));
	assert_true(ct_metadata_accept(&lexer, "event"));
	assert_false(ct_metadata_accept_all(&lexer, "{ id ="));
	assert_true(ct_metadata_accept_all(&lexer, "name ="));
	assert_true(ct_metadata_accept_all(&lexer, "x"));
	assert_false(ct_metadata_accept(&lexer, "x"));
	assert_int_equal(lexer.length, 0);
}

static void numbers_are_decimal_and_within_their_limit(void **state)
{
	static const struct {
		const char *text;
		bool is_u32, is_u64;
		uint64_t value;
	} rows[] = {
		{ "0", true, true, 0 },
		{ "4294967295", true, true, UINT32_MAX },
		{ "4294967296", false, true, (uint64_t)UINT32_MAX + 1 },
		{ "18446744073709551615", false, true, UINT64_MAX },
		{ "18446744073709551616", false, false, 0 },
		{ "99999999999999999999", false, false, 0 },
		{ "000000000000000000001", false, false, 0 },
		{ "", false, false, 0 },
		{ "1a", false, false, 0 },
		{ "-1", false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_metadata_lexer lexer = start(rows[i].text);
		uint32_t small = 4711;
		uint64_t large = 4711;

		assert_int_equal(ct_metadata_accept_u32(&lexer, &small), rows[i].is_u32);
		assert_int_equal(small, rows[i].is_u32 ? rows[i].value : 4711);
		lexer = start(rows[i].text);
		assert_int_equal(ct_metadata_accept_number(&lexer, UINT64_MAX, &large), rows[i].is_u64);
		assert_int_equal(large, rows[i].is_u64 ? rows[i].value : 4711);
		assert_int_equal(ct_metadata_number(rows[i].text, strlen(rows[i].text), UINT64_MAX, &large), rows[i].is_u64);
	}
}

static void assert_string(const char *text, const char *wanted)
{
	struct ct_metadata_lexer lexer = start(text);
	char out[8];
	size_t size = 4711;

	if (wanted == NULL) {
		assert_false(ct_metadata_accept_string(&lexer, out, sizeof out, &size));
		assert_int_equal(size, 4711);
		assert_int_equal(lexer.start, 0);
		return;
	}
	assert_true(ct_metadata_accept_string(&lexer, out, sizeof out, &size));
	assert_string_equal(out, wanted);
	assert_int_equal(size, strlen(wanted));
	assert_int_equal(lexer.length, 0);
}

static void strings_are_what_the_printer_was_given(void **state)
{
	(void)state;
	assert_string("\"\"", "");
	assert_string("\"seven b\"", "seven b");
	assert_string("\"eight by\"", NULL); /* no room for the end */
	assert_string("\"\\101\\303\\244\"", "A\xC3\xA4");
	/* An escape of ct_escape_add(), the backslash of which the metadata escape. */
	assert_string("\"\\134n\\134t\\134r\"", "\n\t\r");
	assert_string("\"\\134\\134\\134\\042\"", "\\\"");
	assert_string("\"\\134x1F\"", "\x1F");
	assert_string("\"\\134u{1B}\"", "\x1B");
	assert_string("\"\\134u{E4}\\134u{202E}\"", "\xC3\xA4\xE2\x80\xAE");
}

static void strings_that_no_printer_writes_are_refused(void **state)
{
	static const char *const rows[] = {
		"x",
		"\"no end",
		"\"\\0\"",
		"\"\\000\"",
		"\"\\400\"",
		"\"\\n\"",
		"\"\\18\"",
		"\"\\134\"",
		"\"\\134q\"",
		"\"\\134x00\"",
		"\"\\134xfg\"",
		"\"\\134u{}\"",
		"\"\\134u{0}\"",
		"\"\\134u{10000}\"",
		"\"\\134u{1B\"",
		"\"\\134u1B}\"",
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		assert_string(rows[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_strings_and_single_characters_are_tokens),
		cmocka_unit_test(only_what_is_expected_is_left_behind),
		cmocka_unit_test(numbers_are_decimal_and_within_their_limit),
		cmocka_unit_test(strings_are_what_the_printer_was_given),
		cmocka_unit_test(strings_that_no_printer_writes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
