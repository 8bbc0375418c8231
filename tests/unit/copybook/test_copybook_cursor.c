/*
 * test_copybook_cursor.c - the words of entries, one after the other: passing them, the end, and
 * diagnostics.
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_passed_one_by_one),
		cmocka_unit_test(at_most_one_of_several_is_passed),
		cmocka_unit_test(the_end_is_never_passed),
		cmocka_unit_test(diagnostics_name_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
