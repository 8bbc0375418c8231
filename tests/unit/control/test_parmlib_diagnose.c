/*
 * test_parmlib_diagnose.c - the words of a diagnostic, and its place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "parmlib_fixture.h"

static char bytes[200];
static struct seen seen;
static struct ct_parser parser;

static void start(const char *text)
{
	size_t size = strlen(text);

	memcpy(bytes, text, size);
	seen = (struct seen){ 0 };
	parser = (struct ct_parser){ .diagnose = see, .user = &seen };
	ct_scan_start(&parser, bytes, bytes + size);
}

static struct ct_span piece(size_t from, size_t size)
{
	return (struct ct_span){ bytes + from, size };
}

static void assert_last(uint32_t reason, unsigned column, const char *message, const char *expected)
{
	const struct ct_diagnostic *diagnostic = &seen.diagnostic[seen.count - 1];

	assert_true(seen.count != 0);
	assert_int_equal(seen.reason[seen.count - 1], reason);
	assert_int_equal(diagnostic->line, 1);
	assert_int_equal(diagnostic->column, column);
	assert_string_equal(diagnostic->message, message);
	assert_string_equal(diagnostic->expected, expected);
}

static void first_reason_stays(void **state)
{
	(void)state;
	start("ab cd");
	ct_diagnose_word(&parser, CTRACE_RSN_WTR_NAME, piece(0, 2), "is one", "1");
	assert_last(CTRACE_RSN_WTR_NAME, 1, "\"ab\" is one", "1");
	ct_diagnose_syntax(&parser, piece(3, 2), "is two", "2");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 4, "\"cd\" is two", "2");
	ct_diagnose_place(&parser, CTRACE_RSN_PARMLIB, parser.end, "three", "3");
	assert_last(CTRACE_RSN_PARMLIB, 6, "three", "3");
	assert_int_equal(parser.reason, CTRACE_RSN_WTR_NAME);
	assert_int_equal(seen.count, 3);
}

static void nobody_listens(void **state)
{
	(void)state;
	start("ab");
	parser.diagnose = NULL;
	ct_diagnose_found(&parser, "1");
	ct_diagnose_word(&parser, CTRACE_RSN_WTR_NAME, piece(0, 2), "is one", "1");
	assert_int_equal(parser.reason, CTRACE_RSN_MEMBER_SYNTAX);
	assert_int_equal(seen.count, 0);
}

static void words_are_harmless(void **state)
{
	(void)state;
	start("\x1B[2J \"");
	ct_diagnose_syntax(&parser, piece(0, 4), "is bad", "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 1, "\"\\u{1B}[2J\" is bad", "text");
	ct_diagnose_syntax(&parser, piece(5, 1), "is bad", "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 6, "\"\\\"\" is bad", "text");
	ct_diagnose_syntax(&parser, piece(5, 0), "is bad", "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 6, "\"\" is bad", "text");
}

static void long_words_are_cut(void **state)
{
	(void)state;
	start("abcdefghijklmnopqrstu");
	ct_diagnose_syntax(&parser, piece(0, 20), "is 20", "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 1, "\"abcdefghijklmnopqrst\" is 20", "text");
	ct_diagnose_syntax(&parser, piece(0, 21), "is 21", "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 1, "\"abcdefghijklmnopqrst...\" is 21", "text");
}

static void suggestions(void **state)
{
	(void)state;
	start("OFN");
	ct_diagnose(&parser, &(struct ct_diagnostic_parts){ CTRACE_RSN_MEMBER_SYNTAX, piece(0, 3),
							    "is none", "OFF", "ON or OFF" });
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 1, "\"OFN\" is none (did you mean OFF?)",
		    "ON or OFF");
}

/* The parser stays where it is. */
static void what_is_found(void **state)
{
	(void)state;
	start("ab(");
	ct_diagnose_found(&parser, "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 1, "\"ab\" is not expected here", "text");
	assert_ptr_equal(parser.at, bytes);
	parser.at = bytes + 2;
	ct_diagnose_found(&parser, "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 3, "\"(\" is not expected here", "text");
	assert_ptr_equal(parser.at, bytes + 2);
	parser.at = parser.end;
	ct_diagnose_found(&parser, "text");
	assert_last(CTRACE_RSN_MEMBER_SYNTAX, 4, "the member ends here", "text");
}

/* Somebody else's diagnostic: only its place is added. */
static void filled(void **state)
{
	struct ct_diagnostic diagnostic = {
		.line = 9, .column = 9, .message = "words", .expected = "text"
	};

	(void)state;
	start("ab");
	ct_diagnose_filled(&parser, CTRACE_RSN_ASID_ZERO, bytes + 1, &diagnostic);
	assert_last(CTRACE_RSN_ASID_ZERO, 2, "words", "text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_reason_stays),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(words_are_harmless),
		cmocka_unit_test(long_words_are_cut),
		cmocka_unit_test(suggestions),
		cmocka_unit_test(what_is_found),
		cmocka_unit_test(filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
