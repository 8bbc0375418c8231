/*
 * test_copybook_word.c - tokens that touch become words; periods, commas, letters before literals.
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_touches_is_one_word),
		cmocka_unit_test(a_period_ends_an_entry_only_at_the_end_of_a_word),
		cmocka_unit_test(letters_before_a_literal_are_its_own),
		cmocka_unit_test(nothing_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
