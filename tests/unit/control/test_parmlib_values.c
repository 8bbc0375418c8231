/*
 * test_parmlib_values.c - what may stand in a keyword's parentheses, and what may not: lists,
 * paths, options.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "parmlib_fixture.h"

static void empty_lists(void **state)
{
	(void)state;
	parse("TRACEOPTS ON ASID() JOBNAME( ) OPTIONS()");
	assert_true(request(0)->has[CT_CLAUSE_ASID] && request(0)->has[CT_CLAUSE_JOBNAME] &&
		    request(0)->has[CT_CLAUSE_OPTIONS]);
	assert_int_equal(request(0)->asid_count, 0);
	assert_int_equal(request(0)->jobname_count, 0);
	assert_int_equal(request(0)->options_size, 0);
}

static void option_texts(void **state)
{
	static const struct {
		const char *clause;
		const char *options;
	} cases[] = {
		{ "OPTIONS('it''s')", "it's" },
		{ "OPTIONS('''','''''')", "',''" },
		{ "OPTIONS('')", "" },
		{ "OPTIONS('','')", "," },
		{ "OPTIONS('ALL   ','/* no comment */','a)b')", "ALL   ,/* no comment */,a)b" },
		{ "OPTIONS('\xC3\xA4\t')", "\xC3\xA4\t" },
		{ "OPTIONS=('A')", "A" },
		{ "OPTIONS = ( 'A' )", "A" },
		{ "OPTIONS(server,verbs,userid=(johndoe))", "server,verbs,userid=(johndoe)" },
		{ "OPTIONS( a , b )", "a,b" },
		{ "OPTIONS(x=(a,(b ,\n\t c)),y)", "x=(a,(b , c)),y" },
		{ "OPTIONS(x='a)b',y)", "x='a)b',y" },
		{ "OPTIONS('a',b)", "a,b" },
		{ "OPTIONS(on,asid=(1))", "on,asid=(1)" },
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text, "TRACEOPTS ON %s OFF", cases[i].clause);
		parse(text);
		assert_int_equal(member.count, 2);
		assert_string_equal(request(0)->options, cases[i].options);
		assert_int_equal(request(0)->options_size, strlen(cases[i].options));
	}
}

static void diagnostics_in_parentheses(void **state)
{
	static const uint32_t syntax = CTRACE_RSN_MEMBER_SYNTAX;

	(void)state;
	assert_diagnostic("TRACEOPTS ON ASID(1,2", syntax, 1, 22, "the member ends here",
			  "\",\" or \")\"");
	assert_diagnostic("TRACEOPTS ON ASID(", syntax, 1, 19, "the member ends here",
			  "a value or \")\"");
	assert_diagnostic("TRACEOPTS ON WTR(", syntax, 1, 18, "the member ends here",
			  "a value or \")\"");
	assert_diagnostic("TRACEOPTS ON ASID(1 2)", syntax, 1, 21, "\"2\" is not expected here",
			  "\",\" or \")\"");
	assert_diagnostic("TRACEOPTS ON ASID(1,,2) OFF", syntax, 1, 21,
			  "\",\" is not expected here", "a value");
	assert_diagnostic("TRACEOPTS ON ASID(,1) OFF", syntax, 1, 19, "\",\" is not expected here",
			  "a value or \")\"");
	assert_diagnostic("TRACEOPTS ON ASID(1,) OFF", syntax, 1, 21, "\")\" is not expected here",
			  "a value");
	assert_diagnostic("TRACEOPTS ON BUFSIZE(1K,2K)", syntax, 1, 25, "\"2K\" is one too many",
			  "one size");
	assert_diagnostic("TRACEOPTS ON WTR(A,B,C)", syntax, 1, 20, "\"B\" is one too many",
			  "WTR(name) or WTR(DISCONNECT)");
	assert_diagnostic("TRACEOPTS SUB(A ON JOBNAME(B)", syntax, 1, 14, "\"(\" is not closed",
			  "\")\"");
	assert_diagnostic("TRACEOPTS SUB(A((B))) ON", syntax, 1, 14, "\"(\" is not closed",
			  "\")\"");
	assert_diagnostic("TRACEOPTS SUB('a) ON\nOFF", syntax, 1, 15,
			  "\"'a) ON\" has no closing quotation mark on its line", "\"'\"");
	assert_diagnostic("TRACEOPTS SUB(A ASID(0) 'x\nOFF", syntax, 1, 25,
			  "\"'x\" has no closing quotation mark on its line", "\"'\"");
	assert_diagnostic("TRACEOPTS SUB(A) PRESET() ON", syntax, 1, 25,
			  "\"\" is nothing that PRESET does", "PUT or DELETE");
	assert_diagnostic("TRACEOPTS SUB(A) PRESET(PTU)", syntax, 1, 25,
			  "\"PTU\" is nothing that PRESET does (did you mean PUT?)",
			  "PUT or DELETE");
}

static void diagnostics_in_options(void **state)
{
	static const uint32_t syntax = CTRACE_RSN_MEMBER_SYNTAX;

	(void)state;
	assert_diagnostic("TRACEOPTS ON OPTIONS('abc\n) OFF", syntax, 1, 22,
			  "\"'abc\" has no closing quotation mark on its line", "\"'\"");
	assert_diagnostic("TRACEOPTS ON OPTIONS(a'bc\n) OFF", syntax, 1, 23,
			  "\"'bc\" has no closing quotation mark on its line", "\"'\"");
	assert_diagnostic("TRACEOPTS ON OPTIONS('a' 'b') OFF", syntax, 1, 26,
			  "\"'\" is not expected here", "\",\" or \")\"");
	assert_diagnostic("TRACEOPTS ON OPTIONS(a b) OFF", syntax, 1, 24,
			  "\"b\" is not expected here", "\",\" or \")\"");
	assert_diagnostic("TRACEOPTS ON OPTIONS(a,,b) OFF", syntax, 1, 24,
			  "\",\" is not expected here", "an option");
	assert_diagnostic("TRACEOPTS ON OPTIONS(,a) OFF", syntax, 1, 22,
			  "\",\" is not expected here", "an option");
	assert_diagnostic("TRACEOPTS ON OPTIONS(a,b", syntax, 1, 25, "the member ends here",
			  "\",\" or \")\"");
	assert_diagnostic("TRACEOPTS ON OPTIONS(a=(b\nOFF", syntax, 1, 24, "\"(\" is not closed",
			  "\")\"");
	assert_diagnostic("TRACEOPTS ON OPTIONS('x','a\x1B[2J') OFF", syntax, 1, 26,
			  "\"'a\\u{1B}[2J'\" has a control character", "text");
	assert_diagnostic("TRACEOPTS ON OPTIONS(a\x7F) OFF", syntax, 1, 22,
			  "\"a\\u{7F}\" has a control character", "text");
}

static void diagnostics_in_values(void **state)
{
	static const char asid[] = "1 to 4 hexadecimal digits, 1 to FFFF";
	static const char jobname[] =
		"a job name of 1 to 8 characters: no blank, comma, parenthesis, quotation mark, * or ?";
	static const char bufsize[] = "1K to 9999K or 1M to 2047M";
	static const char writer[] = "1 to 7 of A-Z 0-9 $ @ #, no digit first";
	static const char sub[] =
		"1 to 18 of A-Z 0-9 $ @ #, no digit first (in quotation marks also a-z _), ASID(number) or JOBNAME(name)";

	(void)state;
	assert_diagnostic("TRACEOPTS ON\nASID(1,XY,2)", CTRACE_RSN_ASID_NOT_HEX, 2, 8,
			  "\"XY\" is not hexadecimal", asid);
	assert_diagnostic("TRACEOPTS ON ASID(12345)", CTRACE_RSN_ASID_TOO_LONG, 1, 19,
			  "\"12345\" is longer than 4 digits", asid);
	assert_diagnostic("TRACEOPTS ON ASID(0)", CTRACE_RSN_ASID_ZERO, 1, 19, "\"0\" is zero",
			  asid);
	assert_diagnostic("TRACEOPTS ON JOBNAME(A,ABCDEFGHI)", CTRACE_RSN_JOBNAME_TOO_LONG, 1, 24,
			  "\"ABCDEFGHI\" is longer than 8 characters", jobname);
	assert_diagnostic("TRACEOPTS ON JOBNAME('A')", CTRACE_RSN_PARMLIB, 1, 22,
			  "\"'A'\" is not a job name", jobname);
	assert_diagnostic("TRACEOPTS WTRSTOP()", CTRACE_RSN_PARMLIB, 1, 19,
			  "\"\" is not a job name", jobname);
	assert_diagnostic("TRACEOPTS WTRSTOP(ABCDEFGHI)", CTRACE_RSN_JOBNAME_TOO_LONG, 1, 19,
			  "\"ABCDEFGHI\" is longer than 8 characters", jobname);
	assert_diagnostic("TRACEOPTS ON BUFSIZE(10000K)", CTRACE_RSN_BUFSIZE_TOO_LONG, 1, 22,
			  "\"10000K\" is longer than 5 characters", bufsize);
	assert_diagnostic("TRACEOPTS ON BUFSIZE(64)", CTRACE_RSN_BUFSIZE_UNIT, 1, 22,
			  "\"64\" does not end with K or M", bufsize);
	assert_diagnostic("TRACEOPTS ON BUFSIZE()", CTRACE_RSN_BUFSIZE_UNIT, 1, 22,
			  "\"\" does not end with K or M", bufsize);
	assert_diagnostic("TRACEOPTS ON BUFSIZE(6x4K)", CTRACE_RSN_BUFSIZE_NOT_DECIMAL, 1, 22,
			  "\"6x4K\" is not a size from 1K to 9999K or from 1M to 2047M", bufsize);
	assert_diagnostic("TRACEOPTS ON BUFSIZE(2048M)", CTRACE_RSN_BUFSIZE_NOT_DECIMAL, 1, 22,
			  "\"2048M\" is not a size from 1K to 9999K or from 1M to 2047M", bufsize);
	assert_diagnostic("TRACEOPTS ON WTR(1A)", CTRACE_RSN_WTR_NAME, 1, 18,
			  "\"1A\" is not a writer's name", writer);
	assert_diagnostic("TRACEOPTS ON WTR()", CTRACE_RSN_WTR_NAME, 1, 18,
			  "\"\" is not a writer's name", writer);
	assert_diagnostic("TRACEOPTS WTRSTART(ABCDEFGH)", CTRACE_RSN_WTR_NAME, 1, 20,
			  "\"ABCDEFGH\" is not a writer's name", writer);
	assert_diagnostic("TRACEOPTS SUB() ON", CTRACE_RSN_SUB_NAME, 1, 15, "a name is missing",
			  sub);
	assert_diagnostic("TRACEOPTS SUB(A\n.sub) ON", CTRACE_RSN_SUB_NAME, 2, 2,
			  "\"sub\" has lower case letters or _ outside quotation marks", sub);
	assert_diagnostic("TRACEOPTS SUB(A.ASID(G)) ON", CTRACE_RSN_ASID_NOT_HEX, 1, 22,
			  "\"G\" is not hexadecimal", asid);
	assert_diagnostic("TRACEOPTS SUB(ASID(12345)) ON", CTRACE_RSN_ASID_TOO_LONG, 1, 20,
			  "\"12345\" is longer than 4 digits", asid);
	assert_diagnostic("TRACEOPTS SUB(ASID(0)) ON", CTRACE_RSN_ASID_ZERO, 1, 20, "\"0\" is zero",
			  asid);
	assert_diagnostic("TRACEOPTS SUB(JOBNAME(ABCDEFGHI)) ON", CTRACE_RSN_JOBNAME_TOO_LONG, 1,
			  23, "\"ABCDEFGHI\" is longer than 8 characters", jobname);
	assert_diagnostic("TRACEOPTS SUB(JOBNAME()) ON", CTRACE_RSN_SUB_NAME, 1, 23,
			  "\"\" is not a job name", jobname);
}

static void too_many(void **state)
{
	(void)state;
	parse("TRACEOPTS ON ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10) JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P)");
	assert_int_equal(request(0)->asid_count, 16);
	assert_int_equal(request(0)->asid[15], 0x10);
	assert_int_equal(request(0)->jobname_count, 16);
	assert_string_equal(request(0)->jobname[15], "P");
	assert_diagnostic("TRACEOPTS ON ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10,11,12)",
			  CTRACE_RSN_TOO_MANY_ASIDS, 1, 52, "\"11\" is one too many",
			  "at most 16 ASIDs");
	assert_diagnostic("TRACEOPTS ON JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R)",
			  CTRACE_RSN_TOO_MANY_JOBNAMES, 1, 54, "\"Q\" is one too many",
			  "at most 16 job names");
}

/* Two options, of so many bytes. */
static void put_options(char *text, size_t size, int first, int second)
{
	char letters[1100];

	memset(letters, 'x', sizeof letters);
	(void)snprintf(text, size, "TRACEOPTS ON OPTIONS('%.*s',\n'%.*s')", first, letters, second,
		       letters);
}

static void options_too_long(void **state)
{
	static const char expected[] =
		"at most 1024 characters in all strings, with a comma between two";
	char text[2048];

	(void)state;
	put_options(text, sizeof text, 1000, 23);
	parse(text);
	assert_int_equal(request(0)->options_size, 1024);
	assert_int_equal(strlen(request(0)->options), 1024);
	put_options(text, sizeof text, 1000, 24);
	assert_diagnostic(text, CTRACE_RSN_OPTIONS_TOO_LONG, 2, 1,
			  "\"'xxxxxxxxxxxxxxxxxxx...\" makes the options too long", expected);
	put_options(text, sizeof text, 1025, 1);
	assert_diagnostic(text, CTRACE_RSN_OPTIONS_TOO_LONG, 1, 22,
			  "\"'xxxxxxxxxxxxxxxxxxx...\" makes the options too long", expected);
}

/* What SUB's open parenthesis would have swallowed is read. */
static void path_without_end(void **state)
{
	static const char text[] = "TRACEOPTS SUB(A ASID(0) ON";
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	(void)state;
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen),
			 CTRACE_RSN_MEMBER_SYNTAX);
	ct_parmlib_fini(&bad);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.reason[1], CTRACE_RSN_ASID_ZERO);
}

/* The second of a kind has all the room again, and none beyond. */
static void lists_twice(void **state)
{
	static const char text[] =
		"TRACEOPTS ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10) JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P) OPTIONS(a)\n"
		"ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,11) JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,Q) OPTIONS(b)";
	struct ct_parmlib bad;

	(void)state;
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, NULL, NULL),
			 CTRACE_RSN_MEMBER_SYNTAX);
	assert_int_equal(bad.requests[0].asid_count, 16);
	assert_int_equal(bad.requests[0].asid[15], 0x11);
	assert_int_equal(bad.requests[0].jobname_count, 16);
	assert_string_equal(bad.requests[0].jobname[15], "Q");
	assert_string_equal(bad.requests[0].options, "b");
	ct_parmlib_fini(&bad);
}

/* As the operator's replies do, which have a syntax of their own round them. */
static void values_are_taken_one_by_one(void **state)
{
	static const char text[] = "1F PAYROLL CTW disconnect 10000 NINECHARS TOOLONGW";
	struct ct_trace_request trace = { 0 };
	const struct ct_parmlib one = { .requests = &trace, .count = 1 };
	struct ct_diagnostic first = { 0 };
	struct ct_parser parser;

	(void)state;
	ct_parser_start(&parser, text, sizeof text - 1, "the reply");
	parser.out = (void *)(uintptr_t)&one;
	parser.first = &first;
	ct_take_asid(&parser, (struct ct_span){ text, 2 });
	ct_take_jobname(&parser, (struct ct_span){ text + 3, 7 });
	ct_take_wtr(&parser, (struct ct_span){ text + 11, 3 });
	assert_false(parser.has_failed);
	assert_int_equal(trace.asid_count, 1);
	assert_int_equal(trace.asid[0], 0x1F);
	assert_int_equal(trace.jobname_count, 1);
	assert_string_equal(trace.jobname[0], "PAYROLL");
	assert_string_equal(trace.writer, "CTW");
	assert_false(trace.disconnect);
	ct_take_wtr(&parser, (struct ct_span){ text + 15, 10 });
	assert_true(trace.disconnect && !parser.has_failed);

	ct_take_asid(&parser, (struct ct_span){ text + 26, 5 });
	assert_true(parser.has_failed);
	assert_int_equal(first.column, 27);
	parser.has_failed = false;
	ct_take_jobname(&parser, (struct ct_span){ text + 32, 9 });
	assert_true(parser.has_failed);
	parser.has_failed = false;
	ct_take_wtr(&parser, (struct ct_span){ text + 42, 8 });
	assert_true(parser.has_failed);
}

/* As an operator's reply reads them, which has no member around them. */
static void what_is_in_parentheses_is_read_without_a_member(void **state)
{
	static const char text[] = "1F,2) PAYROLL , BILLING)'it''s',b) one,two (";
	struct ct_trace_request trace = { .asid_count = 5, .jobname_count = 5, .options_size = 9 };
	const struct ct_parmlib one = { .requests = &trace, .count = 1 };
	struct ct_parser parser;

	(void)state;
	ct_parser_start(&parser, text, sizeof text - 1, "the reply");
	parser.out = (void *)(uintptr_t)&one;
	assert_ptr_equal(ct_parser_trace(&parser), &trace);
	assert_true(ct_read_asid(&parser)); /* in place of what was there */
	assert_int_equal(trace.asid_count, 2);
	assert_true(trace.asid[0] == 0x1F && trace.asid[1] == 2);
	assert_true(ct_read_jobname(&parser));
	assert_int_equal(trace.jobname_count, 2);
	assert_string_equal(trace.jobname[0], "PAYROLL");
	assert_string_equal(trace.jobname[1], "BILLING");
	assert_true(ct_read_options(&parser));
	assert_string_equal(trace.options, "it's,b");
	assert_int_equal(trace.options_size, 6);

	trace.options_size = 0;
	ct_parser_blanks(&parser);
	assert_true(ct_read_option(&parser)); /* a single one; the rest is the caller's */
	assert_int_equal(trace.options_size, 3);
	assert_memory_equal(trace.options, "one", 3);
	assert_true(ct_parser_is_at(&parser, ','));
	assert_false(parser.has_failed);

	assert_true(ct_parser_accept(&parser, ','));
	assert_false(ct_read_asid(&parser)); /* "two (": no more values, and not closed */
	assert_true(parser.has_failed);
}

static void more_than_sixteen_names_are_diagnosed(void **state)
{
	static const char text[] = "A1,A2,A3,A4,A5,A6,A7,A8,A9,AA,AB,AC,AD,AE,AF,B0,B1)";
	struct ct_parser parser;
	struct ct_trace_request trace = { 0 };
	const struct ct_parmlib one = { .requests = &trace, .count = 1 };

	(void)state;
	for (unsigned is_jobname = 0; is_jobname < 2; is_jobname++) {
		ct_parser_start(&parser, text, sizeof text - 1, "the reply");
		parser.out = (void *)(uintptr_t)&one;
		assert_true(is_jobname ? ct_read_jobname(&parser) : ct_read_asid(&parser));
		assert_true(parser.has_failed);
		assert_int_equal(parser.code, is_jobname ? CTRACE_RSN_TOO_MANY_JOBNAMES
							 : CTRACE_RSN_TOO_MANY_ASIDS);
		assert_int_equal(is_jobname ? trace.jobname_count : trace.asid_count, 16);
	}
}

static void a_value_without_a_reason_is_not_diagnosed(void **state)
{
	static const char text[] = "ON X";
	struct ct_diagnostic first = { 0 };
	struct ct_parser parser;

	(void)state;
	ct_parser_start(&parser, text, sizeof text - 1, "the reply");
	parser.first = &first;
	ct_diagnose_value(&parser, (struct ct_span){ text + 3, 1 }, 0);
	assert_false(parser.has_failed);
	ct_diagnose_value(&parser, (struct ct_span){ text + 3, 1 }, CTRACE_RSN_BUFSIZE_UNIT);
	assert_true(parser.has_failed);
	assert_int_equal(parser.code, CTRACE_RSN_BUFSIZE_UNIT);
	assert_int_equal(first.code, CTRACE_RSN_BUFSIZE_UNIT);
	assert_int_equal(first.column, 4);
	assert_true(first.expected[0] != '\0');
}

int test_parmlib_values(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_lists),
		cmocka_unit_test(option_texts),
		cmocka_unit_test(diagnostics_in_parentheses),
		cmocka_unit_test(diagnostics_in_options),
		cmocka_unit_test(diagnostics_in_values),
		cmocka_unit_test(too_many),
		cmocka_unit_test(options_too_long),
		cmocka_unit_test(path_without_end),
		cmocka_unit_test(lists_twice),
		cmocka_unit_test(values_are_taken_one_by_one),
		cmocka_unit_test(what_is_in_parentheses_is_read_without_a_member),
		cmocka_unit_test(more_than_sixteen_names_are_diagnosed),
		cmocka_unit_test(a_value_without_a_reason_is_not_diagnosed),
	};

	return cmocka_run_group_tests(tests, NULL, member_free);
}
