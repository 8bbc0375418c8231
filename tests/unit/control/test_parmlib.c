/*
 * test_parmlib.c - members of component trace: every keyword, every error with its place, whatever
 * the bytes are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "parmlib_fixture.h"

/* ---- what is understood ---- */

static void one_trace(void **state)
{
	static const enum ct_clause clauses[] = { CT_CLAUSE_STATE,   CT_CLAUSE_ASID,
						  CT_CLAUSE_JOBNAME, CT_CLAUSE_BUFSIZE,
						  CT_CLAUSE_OPTIONS, CT_CLAUSE_WTR };
	const struct ct_trace_request *only;

	(void)state;
	parse("TRACEOPTS\n"
	      "  ON\n"
	      "  ASID(01,2f,FFFF)\n"
	      "  JOBNAME(payroll,A.OUT)\n"
	      "  BUFSIZE(64K)\n"
	      "  OPTIONS('LEVEL=INFO','DEST=(TEXTFILE)')\n"
	      "  WTR(ctw)\n");
	assert_int_equal(member.count, 1);
	assert_string_equal(member.wtrstart, "");
	assert_string_equal(member.wtrstop, "");
	only = request(0);
	assert_int_equal(only->state, CTRACE_CT_ON);
	assert_false(only->has[CT_CLAUSE_SUB]);
	for (unsigned i = 0; i < CT_COUNT(clauses); i++) {
		assert_true(only->has[clauses[i]]);
		assert_int_equal(only->place[clauses[i]].line, i + 2);
		assert_int_equal(only->place[clauses[i]].column, 3);
	}
	assert_int_equal(only->asid_count, 3);
	assert_int_equal(only->asid[0], 1);
	assert_int_equal(only->asid[1], 0x2F);
	assert_int_equal(only->asid[2], 0xFFFF);
	assert_int_equal(only->jobname_count, 2);
	assert_string_equal(only->jobname[0], "PAYROLL");
	assert_string_equal(only->jobname[1], "A.OUT");
	assert_int_equal(only->bufsize, 65536);
	assert_string_equal(only->options, "LEVEL=INFO,DEST=(TEXTFILE)");
	assert_int_equal(only->options_size, strlen(only->options));
	assert_string_equal(only->writer, "CTW");
	assert_false(only->disconnect);
}

static void states(void **state)
{
	static const struct {
		const char *text;
		uint32_t state;
	} cases[] = {
		{ "SUB(A) ON", CTRACE_CT_ON },
		{ "SUB(A) OFF", CTRACE_CT_OFF },
		{ "SUB(A) LIKEHEAD", CTRACE_CT_LIKEHEAD },
		{ "SUB(A) PRESET(PUT)", CTRACE_CT_PRESET_PUT },
		{ "SUB(A) preset ( delete )", CTRACE_CT_PRESET_DELETE },
		{ "SUB(A)", CTRACE_CT_NONE },
	};
	char text[100];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text, "TRACEOPTS %s", cases[i].text);
		parse(text);
		assert_int_equal(member.count, 1);
		assert_int_equal(request(0)->state, cases[i].state);
		assert_int_equal(request(0)->has[CT_CLAUSE_STATE],
				 cases[i].state != CTRACE_CT_NONE);
		assert_true(request(0)->has[CT_CLAUSE_SUB]);
		assert_string_equal(request(0)->sub.element[0].text, "A");
	}
}

static void groups(void **state)
{
	(void)state;
	parse("TRACEOPTS\n"
	      "ON OPTIONS('1')\n"
	      "SUB(A.ASID(5)) LIKEHEAD ASID(1)\n"
	      "SUB(B) WTR(DISCONNECT) ON BUFSIZE(2M)\n"
	      "OFF\n"
	      "SUB('c_d')\n"
	      "SUB(E) LIKEHEAD");
	assert_int_equal(member.count, 6);
	assert_string_equal(request(0)->options, "1");
	assert_false(request(0)->has[CT_CLAUSE_SUB]);
	assert_int_equal(request(1)->sub.count, 2);
	assert_int_equal(request(1)->sub.element[1].asid, 5);
	assert_int_equal(request(1)->state, CTRACE_CT_LIKEHEAD);
	assert_int_equal(request(1)->asid[0], 1);
	assert_false(request(1)->has[CT_CLAUSE_OPTIONS]);
	assert_true(request(2)->disconnect);
	assert_true(request(2)->has[CT_CLAUSE_WTR]);
	assert_int_equal(request(2)->state, CTRACE_CT_ON); /* behind a clause of its SUB */
	assert_int_equal(request(2)->bufsize, 2 << 20);
	assert_int_equal(request(3)->state, CTRACE_CT_OFF);
	assert_false(request(3)->has[CT_CLAUSE_SUB]);
	assert_int_equal(request(4)->state, CTRACE_CT_NONE);
	assert_string_equal(request(4)->sub.element[0].text, "c_d");
	assert_int_equal(request(5)->state, CTRACE_CT_LIKEHEAD);
	assert_int_equal(request(5)->place[CT_CLAUSE_SUB].line, 7);
	assert_int_equal(request(5)->place[CT_CLAUSE_STATE].column, 8);
}

static void clauses_before_any_state(void **state)
{
	(void)state;
	parse("TRACEOPTS ASID(1) ON OPTIONS('x')");
	assert_int_equal(member.count, 1);
	assert_true(request(0)->has[CT_CLAUSE_ASID] && request(0)->has[CT_CLAUSE_OPTIONS]);
	assert_int_equal(request(0)->state, CTRACE_CT_ON);
	parse("TRACEOPTS ASID(1) SUB(A) ON");
	assert_int_equal(member.count, 1);
	assert_true(request(0)->has[CT_CLAUSE_ASID] && request(0)->has[CT_CLAUSE_SUB]);
	parse("TRACEOPTS OPTIONS('LEVEL=255')"); /* the command says ON */
	assert_int_equal(member.count, 1);
	assert_int_equal(request(0)->state, CTRACE_CT_NONE);
	assert_false(request(0)->has[CT_CLAUSE_STATE]);
}

static void writers(void **state)
{
	(void)state;
	parse("TRACEOPTS WTRSTART(ctw) NOWRAP ON WTR(CTW) WTRSTOP(job.x)");
	assert_string_equal(member.wtrstart, "CTW");
	assert_true(member.nowrap);
	assert_string_equal(member.wtrstop, "JOB.X");
	parse("TRACEOPTS WTRSTART(CTW) WRAP");
	assert_int_equal(member.count, 0);
	assert_false(member.nowrap);
	parse("TRACEOPTS WTRSTART(CTW) ON");
	assert_false(member.nowrap);
	assert_int_equal(member.count, 1);
	parse("TRACEOPTS WTRSTOP(CTW)");
	assert_string_equal(member.wtrstop, "CTW");
}

static void equals_signs(void **state)
{
	(void)state;
	parse("TRACEOPTS WTRSTART=(W) SUB=(A) PRESET=(PUT) ASID=(1) JOBNAME=(J) BUFSIZE=(1M) WTR=(W) WTRSTOP=(W)");
	assert_int_equal(member.count, 1);
	assert_int_equal(request(0)->state, CTRACE_CT_PRESET_PUT);
	assert_int_equal(request(0)->bufsize, 1 << 20);
	assert_string_equal(request(0)->writer, "W");
}

/* ---- errors ---- */

static const char clauses[] =
	"ON, OFF, LIKEHEAD, PRESET, SUB, ASID, JOBNAME, BUFSIZE, OPTIONS, WTR, WTRSTART or WTRSTOP";
static const char once[] = "each clause once for a trace";

static void diagnostics_of_syntax(void **state)
{
	static const uint32_t syntax = CTRACE_RSN_MEMBER_SYNTAX;

	(void)state;
	assert_diagnostic("TRACEOPTS\n  OFN", syntax, 2, 3,
			  "\"OFN\" is not a keyword (did you mean OFF?)", clauses);
	assert_diagnostic("TRACEOPTS NONSENSE('a',asid=(0)) ON", syntax, 1, 11,
			  "\"NONSENSE\" is not a keyword", clauses);
	assert_diagnostic("TRACEOPTS ON) OFF", syntax, 1, 13, "\")\" is not expected here",
			  clauses);
	assert_diagnostic("TRACEOPTS ON, OFF", syntax, 1, 13, "\",\" is not expected here",
			  clauses);
	assert_diagnostic("TRACEOPTS ON(64K) OFF", syntax, 1, 13, "\"(\" is not expected here",
			  clauses);
	assert_diagnostic("TRACEOPTS ON 'x' OFF", syntax, 1, 14, "\"'\" is not expected here",
			  clauses);
	assert_diagnostic("TRACEOPTS ON ASID(1 ON 2) OFF", syntax, 1, 21,
			  "\"ON\" is not expected here", "\",\" or \")\"");
	assert_diagnostic("TRACEOPTS ON\nTRACEOPTS OFF", syntax, 2, 1,
			  "\"TRACEOPTS\" is there already", clauses);
	assert_diagnostic("TRACEOPTS ON ASID 1,2 JOBNAME(A)", syntax, 1, 19,
			  "\"1\" is not expected here", "\"(\"");
	assert_diagnostic("TRACEOPTS ON ASID", syntax, 1, 18, "the member ends here", "\"(\"");
	assert_diagnostic("TRACEOPTS ON ASID(1) OPTIONS('a') ASID(2)", syntax, 1, 35,
			  "\"ASID\" is there already for this trace", once);
	assert_diagnostic("TRACEOPTS ON OPTIONS(a) OPTIONS(b)", syntax, 1, 25,
			  "\"OPTIONS\" is there already for this trace", once);
	assert_diagnostic("TRACEOPTS ON /* no end\nOFF", syntax, 1, 14, "\"/*\" is not closed",
			  "\"*/\"");
	assert_diagnostic("/*", syntax, 1, 1, "\"/*\" is not closed", "\"*/\"");
	assert_diagnostic("TRACEOPTS WTRSTART(A) WTRSTART(B)", syntax, 1, 23,
			  "\"WTRSTART\" is there already", "one WTRSTART in a member");
	assert_diagnostic("TRACEOPTS WTRSTOP(A) WTRSTOP(B)", syntax, 1, 22,
			  "\"WTRSTOP\" is there already", "one WTRSTOP in a member");
	assert_diagnostic("TRACEOPTS WTRSTART(A) ON NOWRAP", syntax, 1, 26,
			  "\"NOWRAP\" does not follow WTRSTART", "WTRSTART(name) before it");
	assert_diagnostic("TRACEOPTS WTRSTART(A) WRAP WRAP", syntax, 1, 28,
			  "\"WRAP\" does not follow WTRSTART", "WTRSTART(name) before it");
}

static void members_that_are_none(void **state)
{
	(void)state;
	assert_diagnostic("", CTRACE_RSN_PARMLIB, 1, 1, "the member is empty", "TRACEOPTS");
	assert_diagnostic("\n /* only this */ \n", CTRACE_RSN_PARMLIB, 1, 1, "the member is empty",
			  "TRACEOPTS");
	assert_diagnostic("\nON ASID(1)", CTRACE_RSN_PARMLIB, 2, 1,
			  "\"ON\" stands where TRACEOPTS begins a member", "TRACEOPTS");
	assert_diagnostic(
		"TRACEOPT ON", CTRACE_RSN_PARMLIB, 1, 1,
		"\"TRACEOPT\" stands where TRACEOPTS begins a member (did you mean TRACEOPTS?)",
		"TRACEOPTS");
	assert_diagnostic("some text, (which is no member", CTRACE_RSN_PARMLIB, 1, 1,
			  "\"some\" stands where TRACEOPTS begins a member", "TRACEOPTS");
	assert_diagnostic("(", CTRACE_RSN_PARMLIB, 1, 1,
			  "\"(\" stands where TRACEOPTS begins a member", "TRACEOPTS");
	assert_diagnostic("TRACEOPTS\n", CTRACE_RSN_PARMLIB, 2, 1, "TRACEOPTS says nothing",
			  clauses);
	ct_parmlib_fini(&member);
	assert_int_equal(ct_parmlib_parse(NULL, 0, &member, NULL, NULL), CTRACE_RSN_PARMLIB);
}

static char *member_of(const char *word, unsigned count)
{
	size_t size = strlen(word);
	char *text = malloc(10 + size * count + 1);

	assert_non_null(text);
	memcpy(text, "TRACEOPTS ", 10);
	for (unsigned i = 0; i < count; i++)
		memcpy(text + 10 + size * i, word, size);
	text[10 + size * count] = '\0';
	return text;
}

static void many_traces(void **state)
{
	char *text = member_of("ON ", 1024);

	(void)state;
	parse(text);
	assert_int_equal(member.count, 1024);
	free(text);
	text = member_of("ON ", 1030);
	assert_diagnostic(text, CTRACE_RSN_PARMLIB, 1, 10 + 3 * 1024 + 1,
			  "this trace is one too many", "at most 1024 in a member");
	free(text);
}

static void large_members(void **state)
{
	char *text = member_of("\n", CT_PARMLIB_LIMIT);

	(void)state;
	memcpy(text + 10, "ON", 2);
	parse_bytes(text, CT_PARMLIB_LIMIT);
	assert_int_equal(member.count, 1);
	text[CT_PARMLIB_LIMIT + 1] = '\0';
	assert_diagnostic(text, CTRACE_RSN_MEMBER_TOO_LARGE, CT_PARMLIB_LIMIT - 11, 1,
			  "the member is too large", "at most 65536 bytes, comments included");
	free(text);
}

/* After an error the next clause is read: all of them are found, in their order, and the first
 * one's reason is the answer. */
static void every_diagnostic(void **state)
{
	static const struct {
		uint32_t reason;
		unsigned line, column;
	} wanted[] = {
		{ CTRACE_RSN_MEMBER_SYNTAX, 1, 11 },    /* WRAP */
		{ CTRACE_RSN_MEMBER_SYNTAX, 2, 1 },     /* OFN */
		{ CTRACE_RSN_ASID_NOT_HEX, 2, 12 },     /* XY */
		{ CTRACE_RSN_ASID_ZERO, 2, 15 },        /* 0 */
		{ CTRACE_RSN_MEMBER_SYNTAX, 2, 17 },    /* ASID's parenthesis is not closed */
		{ CTRACE_RSN_BUFSIZE_UNIT, 2, 25 },     /* 64 */
		{ CTRACE_RSN_MEMBER_SYNTAX, 3, 9 },     /* 'a */
		{ CTRACE_RSN_WTR_NAME, 4, 5 },          /* 9 */
		{ CTRACE_RSN_MEMBER_SYNTAX, 5, 4 },     /* SUB's parenthesis is not closed */
		{ CTRACE_RSN_JOBNAME_TOO_LONG, 5, 19 }, /* ABCDEFGHI */
		{ CTRACE_RSN_MEMBER_SYNTAX, 6, 1 },     /* the comment */
	};
	static const char text[] = "TRACEOPTS WRAP\n"
				   "OFN ASID(1,XY,0 BUFSIZE(64)\n"
				   "OPTIONS('a\n"
				   "WTR(9)\n"
				   "SUB( A ON JOBNAME(ABCDEFGHI)\n"
				   "/* ON";
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	(void)state;
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen),
			 CTRACE_RSN_MEMBER_SYNTAX);
	ct_parmlib_fini(&bad);
	for (unsigned i = 0; i < CT_COUNT(wanted); i++) {
		assert_int_equal(seen.reason[i], wanted[i].reason);
		assert_int_equal(seen.diagnostic[i].line, wanted[i].line);
		assert_int_equal(seen.diagnostic[i].column, wanted[i].column);
	}
	assert_int_equal(seen.count, CT_COUNT(wanted));
}

static void first_reason(void **state)
{
	static const char text[] = "BUFSIZE(0K) OFN"; /* without TRACEOPTS, but a member */
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	(void)state;
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen),
			 CTRACE_RSN_PARMLIB);
	ct_parmlib_fini(&bad);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.reason[0], CTRACE_RSN_PARMLIB);
	assert_int_equal(seen.reason[1], CTRACE_RSN_BUFSIZE_NOT_DECIMAL);
	assert_int_equal(seen.reason[2], CTRACE_RSN_MEMBER_SYNTAX);
}

static void hostile_bytes(void **state)
{
	static const char *const patterns[] = { "SUB(",   "SUB('",    "OPTIONS((", "OPTIONS(a'",
						"ASID(",  "ASID  ",   "'",         "(",
						")",      "/*",       "=,",        "X(",
						"SUB(A.", "\x80\xFF", "\n" };
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(patterns); i++) {
		char *text = member_of(patterns[i],
				       (CT_PARMLIB_LIMIT - 10) / (unsigned)strlen(patterns[i]));

		assert_int_not_equal(ct_parmlib_parse(text, strlen(text), &bad, NULL, NULL), 0);
		ct_parmlib_fini(&bad);
		free(text);
	}
	assert_int_equal(ct_parmlib_parse("TRACEOPTS O\0\x1BN", 14, &bad, see, &seen),
			 CTRACE_RSN_MEMBER_SYNTAX);
	ct_parmlib_fini(&bad);
	assert_string_equal(seen.diagnostic[0].message, "\"O\\u{0}\\u{1B}N\" is not a keyword");
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

static void off_stands_alone(void **state)
{
	static const char *const values[] = { "ASID(1)", "JOBNAME(A)", "BUFSIZE(64K)",
					      "OPTIONS('A')", "WTR(W)" };
	char text[100], message[60];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(values); i++) {
		(void)snprintf(text, sizeof text, "TRACEOPTS SUB(A) OFF %s", values[i]);
		(void)snprintf(message, sizeof message, "\"%.*s\" does not go with OFF",
			       (int)strcspn(values[i], "("), values[i]);
		assert_diagnostic(text, CTRACE_RSN_MEMBER_SYNTAX, 1, 22, message,
				  "OFF alone, or with SUB");
		(void)snprintf(text, sizeof text, "TRACEOPTS %s OFF", values[i]);
		assert_diagnostic(
			text, CTRACE_RSN_MEMBER_SYNTAX, 1, (unsigned)strlen(values[i]) + 12,
			"\"OFF\" does not go with other values", "OFF alone, or with SUB");
	}
	parse("TRACEOPTS OFF SUB(A) OFF SUB(B) ON ASID(1)");
	assert_int_equal(member.count, 3);
}

static void sequence_numbers(void **state)
{
	char text[400];

	(void)state;
	(void)snprintf(text, sizeof text, "%-72s00000100\n%-72s00000200\r\n\n%-72s00000300",
		       "TRACEOPTS", "  ON OPTIONS('A',", "  'B')");
	parse(text);
	assert_string_equal(request(0)->options, "A,B");
	/* One line without a number: the digits are text. */
	(void)snprintf(text, sizeof text, "TRACEOPTS\n%-72s00000200", "  ON");
	assert_diagnostic(text, CTRACE_RSN_MEMBER_SYNTAX, 2, 73, "\"00000200\" is not a keyword",
			  "ON, OFF, LIKEHEAD, PRESET, SUB, ASID, JOBNAME, BUFSIZE, OPTIONS, WTR, "
			  "WTRSTART or WTRSTOP");
}

int test_parmlib(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_trace),
		cmocka_unit_test(states),
		cmocka_unit_test(groups),
		cmocka_unit_test(clauses_before_any_state),
		cmocka_unit_test(writers),
		cmocka_unit_test(equals_signs),
		cmocka_unit_test(diagnostics_of_syntax),
		cmocka_unit_test(members_that_are_none),
		cmocka_unit_test(many_traces),
		cmocka_unit_test(large_members),
		cmocka_unit_test(every_diagnostic),
		cmocka_unit_test(first_reason),
		cmocka_unit_test(hostile_bytes),
		cmocka_unit_test(free_form),
		cmocka_unit_test(off_stands_alone),
		cmocka_unit_test(sequence_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, member_free);
}
