/*
 * test_diagnostic.c - the words of a diagnostic, and how they are printed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

#define WORD(TEXT) ((struct ct_span){ TEXT, sizeof TEXT - 1 })

static void assert_message(const struct ct_finding *finding, const char *message)
{
	struct ct_diagnostic diagnostic = { .line = 7, .column = 9 };

	ct_diagnostic_set(&diagnostic, finding);
	assert_string_equal(diagnostic.message, message);
	assert_string_equal(diagnostic.expected,
			    finding->expected != NULL ? finding->expected : "");
	assert_int_equal(diagnostic.code, finding->code);
	assert_int_equal(diagnostic.line, 7); /* the place is the caller's */
	assert_int_equal(diagnostic.column, 9);
}

static void each_piece_may_be_missing(void **state)
{
	(void)state;
	assert_message(&(struct ct_finding){ .what = "the text ends here" }, "the text ends here");
	assert_message(&(struct ct_finding){ .before = "line too long", .expected = "less" },
		       "line too long");
	assert_message(&(struct ct_finding){ .word = WORD("OFN"), .what = "is none", .code = 6 },
		       "\"OFN\" is none");
	assert_message(&(struct ct_finding){ .before = "unknown level", .word = WORD("inof") },
		       "unknown level \"inof\"");
	assert_message(&(struct ct_finding){ .before = "the word",
					     .word = WORD("OFN"),
					     .what = "is none",
					     .meant = "OFF",
					     .expected = "ON or OFF" },
		       "the word \"OFN\" is none (did you mean OFF?)");
	assert_message(&(struct ct_finding){ .word = WORD(""), .what = "is empty" },
		       "\"\" is empty");
}

static void words_are_cut_and_harmless(void **state)
{
	(void)state;
	assert_message(&(struct ct_finding){ .word = WORD("\x1B[2J\""), .what = "is bad" },
		       "\"\\u{1B}[2J\\\"\" is bad");
	assert_message(&(struct ct_finding){ .word = WORD("abcdefghijklmnopqrst") },
		       "\"abcdefghijklmnopqrst\"");
	assert_message(&(struct ct_finding){ .word = WORD("abcdefghijklmnopqrstu") },
		       "\"abcdefghijklmnopqrst...\"");
	assert_message(&(struct ct_finding){ .word = WORD("abcdefghijklmnopqrstu"), .shown = 21 },
		       "\"abcdefghijklmnopqrstu\"");
}

static void long_texts_are_cut(void **state)
{
	struct ct_diagnostic diagnostic;
	char text[300];

	(void)state;
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	ct_diagnostic_set(&diagnostic, &(struct ct_finding){ .what = text, .expected = text });
	assert_int_equal(strlen(diagnostic.message), sizeof diagnostic.message - 1);
	assert_int_equal(strlen(diagnostic.expected), sizeof diagnostic.expected - 1);
}

static void how_it_is_printed(void **state)
{
	struct ct_diagnostic diagnostic;
	char text[500];

	(void)state;
	ct_diagnostic_set(&diagnostic, &(struct ct_finding){ .what = "no", .expected = "yes" });
	(void)snprintf(text, sizeof text, CT_DIAGNOSTIC_FORMAT, CT_DIAGNOSTIC_TEXT(&diagnostic));
	assert_string_equal(text, "no; expected yes");
	ct_diagnostic_set(&diagnostic, &(struct ct_finding){ .what = "no" });
	(void)snprintf(text, sizeof text, CT_DIAGNOSTIC_FORMAT, CT_DIAGNOSTIC_TEXT(&diagnostic));
	assert_string_equal(text, "no");
}

int test_diagnostic(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_piece_may_be_missing),
		cmocka_unit_test(words_are_cut_and_harmless),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(how_it_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
