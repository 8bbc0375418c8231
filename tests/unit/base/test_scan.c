/*
 * test_scan.c - the text of keywords: words, quotations, groups, and each error with its place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/scan.h"

#define USUAL 6u

static char bytes[200];
static struct ct_parser parser;
static struct ct_diagnostic first;
static struct ct_diagnostic last;
static unsigned taken;

static ct_diagnose take;

static void take(const struct ct_diagnostic *diagnostic, void *user)
{
	assert_ptr_equal(user, bytes);
	last = *diagnostic;
	taken++;
}

static void start(const char *text)
{
	size_t size = strlen(text);

	assert_true(size < sizeof bytes);
	memset(bytes, '\'', sizeof bytes); /* what is behind the end is not read */
	memcpy(bytes, text, size);
	ct_parser_start(&parser, bytes, size, "the text");
	parser.usual = USUAL;
	parser.take = take;
	parser.user = bytes;
	parser.first = &first;
	taken = 0;
}

static struct ct_span piece(size_t from, size_t size)
{
	return (struct ct_span){ bytes + from, size };
}

static void assert_span(struct ct_span span, const char *wanted)
{
	assert_int_equal(span.size, strlen(wanted));
	assert_memory_equal(span.at, wanted, span.size);
}

/* The diagnostic that was reported last. */
static void assert_last(unsigned line, unsigned column, const char *message, const char *expected)
{
	assert_true(parser.has_failed && taken != 0);
	assert_string_equal(last.message, message);
	assert_string_equal(last.expected, expected);
	assert_int_equal(last.line, line);
	assert_int_equal(last.column, column);
}

/* ---- words ---- */

static void words(void **state)
{
	static const char separators[] = " \t\r\n\v\f(),='";

	(void)state;
	for (const char *c = separators; *c != '\0'; c++) {
		start("ab?");
		bytes[2] = *c;
		assert_span(ct_parser_word(&parser), "ab");
		assert_span(ct_parser_word(&parser), "");
		assert_ptr_equal(parser.at, bytes + 2);
	}
	start("a\"b.?");
	bytes[4] = '\0';
	assert_int_equal(ct_parser_word(&parser).size, 5);
	start("x='y'z,1");
	assert_span(ct_parser_value(&parser), "x='y'z");
	assert_span(ct_parser_value(&parser), "");
	start("a?b;c");
	assert_span(ct_parser_until(&parser, ";"), "a?b");
	assert_span(ct_parser_until(&parser, "?"), ";c");
	ct_parser_start(&parser, NULL, 0, "the text");
	assert_span(ct_parser_word(&parser), "");
}

static void what_follows(void **state)
{
	(void)state;
	start(" \n(=");
	assert_false(ct_parser_is_at(&parser, '('));
	assert_false(ct_parser_accept(&parser, '='));
	assert_ptr_equal(parser.at, bytes + 2); /* the blanks are gone */
	assert_true(ct_parser_accept(&parser, '('));
	assert_true(ct_parser_is_at(&parser, '='));
	assert_true(ct_parser_accept(&parser, '='));
	assert_false(ct_parser_accept(&parser, '\''));
	start(" wrap nowraps");
	assert_false(ct_parser_accept_word(&parser, "NOWRAP"));
	assert_true(ct_parser_accept_word(&parser, "WRAP"));
	assert_false(ct_parser_accept_word(&parser, "NOWRAP"));
	ct_parser_blanks(&parser);
	assert_span(ct_parser_word(&parser), "nowraps");
}

/* ---- quotations, parentheses, comments ---- */

static void quotations(void **state)
{
	(void)state;
	start("'a''b'c");
	assert_true(ct_parser_quotation(&parser));
	assert_ptr_equal(parser.at, bytes + 6);
	assert_span(ct_parser_word(&parser), "c");
	start("''");
	assert_true(ct_parser_skip_quotation(&parser));
	assert_ptr_equal(parser.at, parser.end);
	start(" 'a''");
	parser.at++;
	assert_false(ct_parser_quotation(&parser));
	assert_last(1, 2, "\"'a''\" has no closing quotation mark on its line", "\"'\"");
	start("x\n 'a\n'");
	parser.at += 3;
	assert_false(ct_parser_skip_quotation(&parser));
	assert_false(parser.has_failed);
	assert_ptr_equal(parser.at, bytes + 5);
	parser.at -= 2;
	assert_false(ct_parser_quotation(&parser));
	assert_ptr_equal(parser.at, bytes + 5);
	assert_last(2, 2, "\"'a\" has no closing quotation mark on its line", "\"'\"");
	start("'a");
	assert_false(ct_parser_quotation(&parser));
	assert_ptr_equal(parser.at, parser.end);
}

static void nested_values(void **state)
{
	struct ct_span value;

	(void)state;
	start("a(b,(c)')',d,e");
	assert_false(ct_parser_nested(&parser, ",", UINT_MAX, &value));
	assert_last(1, 2, "\"(\" is not closed", "\")\"");
	start("a(b,(c)')')'d,',e");
	assert_true(ct_parser_nested(&parser, ",", UINT_MAX, &value));
	assert_span(value, "a(b,(c)')')'d,'");
	assert_true(ct_parser_is_at(&parser, ','));
	assert_true(ct_parser_nested(&parser, ",", UINT_MAX, &value));
	assert_span(value, "");
	start("a) b");
	assert_true(ct_parser_nested(&parser, CT_BLANKS, UINT_MAX, &value));
	assert_span(value, "a)");
	start("(a)((b))");
	assert_false(ct_parser_nested(&parser, ",", 1, &value));
	assert_last(1, 4, "\"(\" is not closed", "\")\"");
	assert_ptr_equal(parser.at, bytes + 5); /* the second one that is open */
	start("(a'b)");
	assert_false(ct_parser_nested(&parser, ",", 1, &value));
	assert_last(1, 3, "\"'b)\" has no closing quotation mark on its line", "\"'\"");
}

static void groups(void **state)
{
	struct ct_span group;

	(void)state;
	start("( a (b) 'c)' )rest");
	assert_true(ct_parser_accept(&parser, '('));
	assert_true(ct_parser_group(&parser, 1, &group));
	assert_span(group, " a (b) 'c)' ");
	assert_span(ct_parser_word(&parser), "rest");
	start("x\n(a");
	parser.at += 3;
	assert_false(ct_parser_group(&parser, 1, &group));
	assert_last(2, 1, "\"(\" is not closed", "\")\"");
	assert_int_equal(taken, 1);
	start("((a))");
	parser.at++;
	assert_false(ct_parser_group(&parser, 0, &group));
	assert_last(1, 1, "\"(\" is not closed", "\")\"");
	assert_ptr_equal(parser.at, bytes + 1); /* it stays */
	start("()");
	parser.at++;
	assert_true(ct_parser_group(&parser, 0, &group));
	assert_span(group, "");
}

/* What a text is when it has no comments any more. */
static void assert_text(const char *text, const char *wanted)
{
	start(text);
	assert_null(ct_comments_blank(bytes, parser.end));
	assert_span(ct_span_of(parser.at, parser.end), wanted);
}

static void comments(void **state)
{
	(void)state;
	assert_text("", "");
	assert_text("a/*b*/c", "a     c");
	assert_text("/**//***/", "         ");
	assert_text("/*\n\t*/*/", "  \n   */");
	assert_text("'/*' /*'*/ '/*'", "'/*'       '/*'");
	assert_text("' /* '*/\n' /*'*/ '", "' /* '*/\n' /*'*/ '");
	assert_text("'\n/**/", "'\n    ");
	assert_text("a / * b */", "a / * b */");
	start("a /*b*/ /*/");
	assert_ptr_equal(ct_comments_blank(bytes, parser.end), bytes + 8);
	assert_span(piece(0, 8), "a       ");
	start("a/");
	bytes[2] = '*';
	assert_null(ct_comments_blank(bytes, parser.end)); /* the byte behind is none of it */
	start("' /*");
	assert_ptr_equal(ct_comments_blank(bytes, parser.end), bytes + 2);
}

/* ---- diagnostics ---- */

static void places(void **state)
{
	static const struct {
		unsigned at, line, column;
	} wanted[] = {
		{ 0, 1, 1 }, { 1, 1, 2 }, { 1, 1, 2 }, { 2, 2, 1 }, { 4, 4, 1 }, { 6, 4, 3 }
	};
	unsigned line, column;

	(void)state;
	start("a\n\n\n\rb");
	for (size_t i = 0; i < CT_COUNT(wanted); i++) {
		ct_parser_place(&parser, bytes + wanted[i].at, &line, &column);
		assert_int_equal(line, wanted[i].line);
		assert_int_equal(column, wanted[i].column);
	}
	start("a\nb");
	parser.line = 0; /* one line */
	ct_parser_place(&parser, bytes + 2, &line, &column);
	assert_int_equal(line, 0);
	assert_int_equal(column, 3);
}

static void the_first_diagnostic_is_kept(void **state)
{
	(void)state;
	start("ab cd");
	ct_parser_diagnose(&parser, &(struct ct_finding){ .word = piece(0, 2),
							  .what = "is one",
							  .expected = "1",
							  .code = 9 });
	assert_last(1, 1, "\"ab\" is one", "1");
	assert_int_equal(last.code, 9);
	ct_parser_diagnose_word(&parser, piece(3, 2), "is two", "2");
	assert_last(1, 4, "\"cd\" is two", "2");
	assert_int_equal(last.code, USUAL);
	ct_parser_diagnose_at(&parser, parser.end, "three", "3");
	assert_last(1, 6, "three", "3");
	assert_int_equal(taken, 3);
	assert_int_equal(parser.code, 9);
	assert_string_equal(first.message, "\"ab\" is one");
	start("ab");
	parser.take = NULL;
	parser.first = NULL;
	ct_parser_diagnose_found(&parser, "1");
	assert_true(parser.has_failed);
	assert_int_equal(parser.code, USUAL);
}

/* The parser stays where it is. */
static void what_is_found(void **state)
{
	(void)state;
	start("ab(");
	ct_parser_diagnose_found(&parser, "text");
	assert_last(1, 1, "\"ab\" is not expected here", "text");
	assert_ptr_equal(parser.at, bytes);
	parser.at = bytes + 2;
	ct_parser_diagnose_found(&parser, "text");
	assert_last(1, 3, "\"(\" is not expected here", "text");
	assert_ptr_equal(parser.at, bytes + 2);
	parser.at = parser.end;
	ct_parser_diagnose_found(&parser, "text");
	assert_last(1, 4, "the text ends here", "text");
}

/* Somebody else's diagnostic: only its place is added, and a code when it has none. */
static void filled(void **state)
{
	struct ct_diagnostic diagnostic = {
		.line = 9, .column = 9, .code = 7, .message = "words", .expected = "text"
	};

	(void)state;
	start("ab");
	ct_parser_diagnose_filled(&parser, bytes + 1, &diagnostic);
	assert_last(1, 2, "words", "text");
	assert_int_equal(last.code, 7);
	diagnostic.code = 0;
	ct_parser_diagnose_filled(&parser, bytes + 1, &diagnostic);
	assert_int_equal(last.code, USUAL);
}

/* ---- keywords ---- */

static void keywords(void **state)
{
	static const char *const names[] = { "ON", "OFF" };
	static const struct {
		const char *name;
		int number;
	} rows[] = { { "START", 1 }, { "STOP", 2 } };

	(void)state;
	start("off stpo");
	assert_ptr_equal(ct_keywords_find(CT_KEYWORDS(names), piece(0, 3)), &names[1]);
	assert_null(ct_keywords_find(CT_KEYWORDS(names), piece(0, 2)));
	assert_null(ct_keywords_find(CT_KEYWORDS(rows), piece(4, 4)));
	assert_string_equal(ct_keywords_suggest(CT_KEYWORDS(rows), piece(4, 4)), "STOP");
	assert_null(ct_keywords_suggest(CT_KEYWORDS(names), piece(4, 4)));
}

int test_scan(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),         cmocka_unit_test(what_follows),
		cmocka_unit_test(quotations),    cmocka_unit_test(nested_values),
		cmocka_unit_test(groups),        cmocka_unit_test(comments),
		cmocka_unit_test(places),        cmocka_unit_test(the_first_diagnostic_is_kept),
		cmocka_unit_test(what_is_found), cmocka_unit_test(filled),
		cmocka_unit_test(keywords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
