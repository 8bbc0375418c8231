/*
 * test_copybook_token.c - tokens and texts: comparing, keeping, complaining, and the limits of one
 * copybook.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"
#include "catalog/copybook/copybook_private.h"

static void words_are_the_same_in_any_case(void **state)
{
	struct ct_token token = { .at = "Pic", .size = 3, .kind = CT_TOKEN_WORD };

	(void)state;
	assert_true(ct_token_is(&token, "PIC"));
	assert_false(ct_token_is(&token, "PICTURE"));
	assert_false(ct_token_is(&token, "PI"));
	token.kind = CT_TOKEN_LITERAL;
	assert_false(ct_token_is(&token, "PIC"));
}

static void texts_are_kept_until_there_is_no_room(void **state)
{
	struct ct_arena arena = { 0 };
	struct ct_scan *scan = test_calloc(1, sizeof *scan);
	char text[] = "abc";
	const char *kept;

	(void)state;
	scan->arena = &arena;
	kept = ct_scan_text(scan, text, 2);
	text[0] = 'x';
	assert_string_equal(kept, "ab");
	assert_string_equal(ct_scan_text(scan, NULL, 0), "");
	scan->made = CT_COPYBOOK_MEMORY - 1;
	assert_non_null(ct_scan_take(scan, 1));
	assert_null(ct_scan_take(scan, 1));
	assert_null(ct_scan_text(scan, "a", 1));
	ct_arena_fini(&arena);
	test_free(scan);
}

static void tokens_are_counted_over_all_lists(void **state)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_scan *scan = test_calloc(1, sizeof *scan);
	struct ct_tokens first = { 0 }, second = { 0 };
	struct ct_token token = { .at = "A", .size = 1, .line = 7, .column = 3 };

	(void)state;
	scan->diagnostic = &diagnostic;
	for (int i = 0; i < 300; i++)
		assert_int_equal(ct_tokens_add(scan, &first, &token), CTRACE_OK);
	assert_int_equal(first.count, 300);
	assert_int_equal(first.at[299].line, 7);
	scan->tokens = CT_COPYBOOK_TOKENS - 1;
	assert_int_equal(ct_tokens_add(scan, &second, &token), CTRACE_OK);
	assert_int_equal(ct_tokens_add(scan, &first, &token), CTRACE_SYNTAX_ERROR);
	assert_int_equal(first.count, 300);
	assert_string_equal(diagnostic.message, "the copybook is too long");
	ct_tokens_fini(&first);
	ct_tokens_fini(&second);
	assert_null(first.at);
	test_free(scan);
}

static void diagnostics_have_a_place_in_a_file(void **state)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_buf path = { 0 };
	struct ct_scan *scan = test_calloc(1, sizeof *scan);
	struct ct_token place = { .line = 12, .column = 34, .file = 1 };

	(void)state;
	scan->diagnostic = &diagnostic;
	scan->files[0] = "first.cpy";
	scan->files[1] = "second.cpy";
	ct_scan_diagnose(scan, &place, "a word", "%d words", 2);
	assert_string_equal(diagnostic.message, "2 words");
	assert_string_equal(diagnostic.expected, "a word");
	assert_int_equal(diagnostic.line, 12);
	assert_int_equal(diagnostic.column, 34);
	scan->diagnostic_path = &path;
	ct_scan_diagnose(scan, &place, "a word", "%s", "x");
	assert_string_equal(ct_buf_text(&path), "second.cpy");
	ct_buf_fini(&path);
	test_free(scan);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_the_same_in_any_case),
		cmocka_unit_test(texts_are_kept_until_there_is_no_room),
		cmocka_unit_test(tokens_are_counted_over_all_lists),
		cmocka_unit_test(diagnostics_have_a_place_in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
