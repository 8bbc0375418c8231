/*
 * test_parmlib_scan.c - a member's text as words, with their places.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "parmlib_fixture.h"

static char bytes[200];
static struct ct_parser parser;

static void start(const char *text)
{
	size_t size = strlen(text);

	assert_true(size < sizeof bytes);
	memset(bytes, '*', sizeof bytes); /* what is behind the end is not read */
	memcpy(bytes, text, size);
	parser = (struct ct_parser){ 0 };
	ct_scan_start(&parser, bytes, bytes + size);
}

static void assert_span(struct ct_span span, const char *wanted)
{
	assert_int_equal(span.size, strlen(wanted));
	assert_memory_equal(span.at, wanted, span.size);
}

/* What a text is when it has no comments any more. */
static void assert_text(const char *text, const char *wanted)
{
	start(text);
	assert_null(parser.open_comment);
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
	assert_ptr_equal(parser.open_comment, bytes + 8);
	assert_span(ct_span_of(parser.at, parser.end), "a       ");
	start("a/");
	assert_null(parser.open_comment); /* the byte behind is none of it */
	start("' /*");
	assert_ptr_equal(parser.open_comment, bytes + 2);
}

static void words(void **state)
{
	static const char separators[] = " \t\r\n\v\f(),='";

	(void)state;
	for (const char *c = separators; *c != '\0'; c++) {
		start("ab?");
		bytes[2] = *c;
		assert_span(ct_scan_word(&parser), "ab");
		assert_span(ct_scan_word(&parser), "");
		assert_ptr_equal(parser.at, bytes + 2);
	}
	start("a\"b.?");
	bytes[4] = '\0';
	assert_int_equal(ct_scan_word(&parser).size, 5);
	start("x='y'z,1");
	assert_span(ct_scan_value(&parser), "x='y'z");
	assert_span(ct_scan_value(&parser), "");
}

static void what_is_expected(void **state)
{
	(void)state;
	start(" \n(=");
	assert_false(ct_scan_is_at(&parser, '('));
	assert_false(ct_scan_accept(&parser, '='));
	assert_ptr_equal(parser.at, bytes + 2); /* the blanks are gone */
	assert_true(ct_scan_accept(&parser, '('));
	assert_true(ct_scan_is_at(&parser, '='));
	assert_true(ct_scan_accept(&parser, '='));
	assert_false(ct_scan_accept(&parser, '*'));
	start(" wrap nowraps");
	assert_false(ct_scan_accept_word(&parser, "NOWRAP"));
	assert_true(ct_scan_accept_word(&parser, "WRAP"));
	assert_false(ct_scan_accept_word(&parser, "NOWRAP"));
	assert_span(ct_scan_word(&parser), "nowraps");
}

static void quotations(void **state)
{
	(void)state;
	start("'a''b'c");
	assert_true(ct_scan_quotation(&parser));
	assert_ptr_equal(parser.at, bytes + 3);
	assert_true(ct_scan_quotation(&parser));
	assert_span(ct_scan_word(&parser), "c");
	start("'a\n'");
	assert_false(ct_scan_quotation(&parser));
	assert_ptr_equal(parser.at, bytes + 2);
	start("'a");
	bytes[2] = '\'';
	assert_false(ct_scan_quotation(&parser));
	assert_ptr_equal(parser.at, parser.end);
}

static void places(void **state)
{
	static const struct {
		unsigned at, line, column;
	} wanted[] = {
		{ 0, 1, 1 }, { 1, 1, 2 }, { 1, 1, 2 }, { 2, 2, 1 }, { 4, 4, 1 }, { 6, 4, 3 }
	};

	(void)state;
	start("a\n\n\n\rb");
	for (size_t i = 0; i < CT_COUNT(wanted); i++) {
		unsigned line, column;

		ct_scan_place(&parser, bytes + wanted[i].at, &line, &column);
		assert_int_equal(line, wanted[i].line);
		assert_int_equal(column, wanted[i].column);
	}
}

static void free_form(void **state)
{
	(void)state;
	parse("/* head\n * of it */ traceopts/**/on\r\n"
	      "Asid\n(\n1\r\n,/* two */2 ) OPTIONS('A' /* ' ( */ , 'B')/* end */\r\n");
	assert_int_equal(member.count, 1);
	assert_int_equal(request(0)->asid_count, 2);
	assert_string_equal(request(0)->options, "A,B");
	assert_int_equal(request(0)->place[CT_CLAUSE_STATE].line, 2);
	assert_int_equal(request(0)->place[CT_CLAUSE_STATE].column, 26);
	assert_int_equal(request(0)->place[CT_CLAUSE_ASID].line, 3);
	parse("\xEF\xBB\xBFTRACEOPTS SUB( A /* of */ . ASID( 5 ) )ON");
	assert_int_equal(request(0)->sub.count, 2);
	assert_int_equal(request(0)->place[CT_CLAUSE_SUB].column, 11); /* the mark does not count */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments),         cmocka_unit_test(words),
		cmocka_unit_test(what_is_expected), cmocka_unit_test(quotations),
		cmocka_unit_test(places),           cmocka_unit_test(free_form),
	};

	return cmocka_run_group_tests(tests, NULL, member_free);
}
