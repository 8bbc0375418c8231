/*
 * test_copybook_token.c - texts and tokens within the limits, words of tokens, and the walk along
 * words.
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

static struct ct_token token(const char *text, bool is_spaced, enum ct_token_kind kind)
{
	return (struct ct_token){ .at = text,
				  .size = (uint32_t)strlen(text),
				  .kind = (uint8_t)kind,
				  .is_spaced = is_spaced,
				  .line = 1,
				  .column = 1 };
}

/* Tokens to words: W word, L literal, . period. */
static void assert_words(const struct ct_token *at, size_t count, const char *expected)
{
	struct ct_arena arena = { 0 };
	struct ct_diagnostic diagnostic;
	struct ct_scan *scan = test_calloc(1, sizeof *scan);
	struct ct_tokens tokens = { (struct ct_token *)(uintptr_t)at, count, count }, words = { 0 };
	struct ct_buf text = { 0 };

	scan->arena = &arena;
	scan->diagnostic = &diagnostic;
	assert_int_equal(ct_words_make(scan, &tokens, &words), CTRACE_OK);
	for (size_t i = 0; i < words.count; i++) {
		ct_buf_add_char(&text, "W?L.E"[words.at[i].kind]);
		if (words.at[i].prefix != 0)
			ct_buf_add_char(&text, (char)words.at[i].prefix);
		if (words.at[i].kind == CT_TOKEN_WORD || words.at[i].kind == CT_TOKEN_LITERAL)
			ct_buf_add(&text, words.at[i].at, words.at[i].size);
		ct_buf_add_char(&text, ' ');
	}
	assert_string_equal(ct_buf_text(&text), expected);
	assert_int_equal(words.at[words.count - 1].kind, CT_TOKEN_END);
	ct_buf_fini(&text);
	ct_tokens_fini(&words);
	ct_arena_fini(&arena);
	test_free(scan);
}

static void what_touches_is_one_word(void **state)
{
	const struct ct_token tokens[] = {
		token("PIC", true, CT_TOKEN_WORD),  token("S9", true, CT_TOKEN_WORD),
		token("(", false, CT_TOKEN_OTHER),  token("5", false, CT_TOKEN_WORD),
		token(")", false, CT_TOKEN_OTHER),  token("V99", false, CT_TOKEN_WORD),
		token(".", false, CT_TOKEN_OTHER),  token("CUST", true, CT_TOKEN_WORD),
		token("-ID", false, CT_TOKEN_WORD),
	};

	(void)state;
	assert_words(tokens, CT_COUNT(tokens), "WPIC WS9(5)V99 . WCUST-ID E ");
}

static void a_period_ends_an_entry_only_at_the_end_of_a_word(void **state)
{
	const struct ct_token tokens[] = {
		token("9", true, CT_TOKEN_WORD),   token(".", false, CT_TOKEN_OTHER),
		token("99", false, CT_TOKEN_WORD), token(".", false, CT_TOKEN_OTHER),
		token(".", true, CT_TOKEN_OTHER),  token("1", true, CT_TOKEN_WORD),
		token(",", false, CT_TOKEN_OTHER), token(";", true, CT_TOKEN_OTHER),
		token("2", true, CT_TOKEN_WORD),   token(",", false, CT_TOKEN_OTHER),
		token(".", false, CT_TOKEN_OTHER),
	};

	(void)state;
	assert_words(tokens, CT_COUNT(tokens), "W9.99 . . W1 W2 . E ");
}

static void letters_before_a_literal_are_its_own(void **state)
{
	const struct ct_token tokens[] = {
		token("x", true, CT_TOKEN_WORD),     token("00", false, CT_TOKEN_LITERAL),
		token("H", true, CT_TOKEN_WORD),     token("FF", true, CT_TOKEN_LITERAL),
		token("VALUE", true, CT_TOKEN_WORD), token("a", false, CT_TOKEN_LITERAL),
		token(".", false, CT_TOKEN_OTHER),
	};

	(void)state;
	assert_words(tokens, CT_COUNT(tokens), "LX00 WH LFF WVALUE La . E ");
}

static void nothing_is_an_end(void **state)
{
	(void)state;
	assert_words(NULL, 0, "E ");
}

static struct ct_token word(const char *text)
{
	return (struct ct_token){ .at = text,
				  .size = (uint32_t)strlen(text),
				  .kind = CT_TOKEN_WORD,
				  .line = 1,
				  .column = 1 };
}

static struct ct_token words[] = { { .at = "PIC", .size = 3 },
				   { .at = "X", .size = 1 },
				   { .at = ".", .size = 1, .kind = CT_TOKEN_PERIOD },
				   { .at = "", .kind = CT_TOKEN_END } };
static struct ct_tokens all = { words, CT_COUNT(words), CT_COUNT(words) };

static void words_are_passed_one_by_one(void **state)
{
	struct ct_entry_parser *parser = test_calloc(1, sizeof *parser);

	(void)state;
	parser->words = &all;
	assert_true(ct_token_is(ct_entry_peek(parser), "PIC"));
	assert_false(ct_entry_accept(parser, "X"));
	assert_true(ct_entry_accept(parser, "pic"));
	assert_true(ct_token_is(ct_entry_next(parser), "X"));
	assert_int_equal(parser->at, 2);
	test_free(parser);
}

static void at_most_one_of_several_is_passed(void **state)
{
	static const char *const air[] = { "PIC", "X" };
	struct ct_entry_parser *parser = test_calloc(1, sizeof *parser);

	(void)state;
	parser->words = &all;
	ct_entry_accept_any(parser, air, CT_COUNT(air));
	assert_int_equal(parser->at, 1);
	ct_entry_accept_any(parser, air, 1);
	assert_int_equal(parser->at, 1);
	test_free(parser);
}

static void the_end_is_never_passed(void **state)
{
	struct ct_entry_parser *parser = test_calloc(1, sizeof *parser);

	(void)state;
	parser->words = &all;
	ct_entry_skip(parser);
	assert_int_equal(parser->at, 3);
	for (int i = 0; i < 3; i++) {
		ct_entry_skip(parser);
		assert_int_equal(ct_entry_next(parser)->kind, CT_TOKEN_END);
		assert_int_equal(parser->at, 3);
	}
	test_free(parser);
}

static void diagnostics_name_the_word(void **state)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_scan *scan = test_calloc(1, sizeof *scan);
	struct ct_entry_parser *parser = test_calloc(1, sizeof *parser);
	struct ct_token place = word("B");

	(void)state;
	scan->diagnostic = &diagnostic;
	parser->scan = scan;
	place.column = 22;
	assert_int_equal(
		ct_entry_fail(parser, &place, "a name", "REDEFINES %s, which is not there"),
		CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "REDEFINES \"B\", which is not there");
	assert_string_equal(diagnostic.expected, "a name");
	assert_int_equal(diagnostic.column, 22);
	place.kind = CT_TOKEN_END;
	assert_int_equal(ct_entry_fail(parser, &place, "a name", "REDEFINES %s"),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "REDEFINES the end");
	assert_int_equal(ct_entry_fail(parser, &place, "a name", "nothing"), CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "nothing");
	test_free(parser);
	test_free(scan);
}

int test_copybook_token(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_the_same_in_any_case),
		cmocka_unit_test(texts_are_kept_until_there_is_no_room),
		cmocka_unit_test(tokens_are_counted_over_all_lists),
		cmocka_unit_test(diagnostics_have_a_place_in_a_file),
		cmocka_unit_test(what_touches_is_one_word),
		cmocka_unit_test(a_period_ends_an_entry_only_at_the_end_of_a_word),
		cmocka_unit_test(letters_before_a_literal_are_its_own),
		cmocka_unit_test(nothing_is_an_end),
		cmocka_unit_test(words_are_passed_one_by_one),
		cmocka_unit_test(at_most_one_of_several_is_passed),
		cmocka_unit_test(the_end_is_never_passed),
		cmocka_unit_test(diagnostics_name_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
