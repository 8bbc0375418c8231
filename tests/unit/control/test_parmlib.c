/*
 * test_parmlib.c - members of component trace: every clause, every liberty, every mistake with its place, printing, and files.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/control.h"

static struct ct_parmlib member;

/* The member has no mistake. */
static void parse_bytes(const char *text, size_t size)
{
	ct_parmlib_fini(&member);
	assert_int_equal(ct_parmlib_parse(text, size, &member, NULL, NULL), 0);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static const struct ct_trace_request *request(uint32_t index)
{
	assert_true(index < member.count);
	return &member.requests[index];
}

/* ---- what is understood ---- */

static void one_trace(void **state)
{
	static const enum ct_clause clauses[] = { CT_CLAUSE_STATE,   CT_CLAUSE_ASID,    CT_CLAUSE_JOBNAME,
						  CT_CLAUSE_BUFSIZE, CT_CLAUSE_OPTIONS, CT_CLAUSE_WTR };
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
	assert_int_equal(only->state, CT_STATE_ON);
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
		enum ct_trace_state state;
	} cases[] = {
		{ "SUB(A) ON", CT_STATE_ON },
		{ "SUB(A) OFF", CT_STATE_OFF },
		{ "SUB(A) LIKEHEAD", CT_STATE_LIKEHEAD },
		{ "SUB(A) PRESET(PUT)", CT_STATE_PRESET_PUT },
		{ "SUB(A) preset ( delete )", CT_STATE_PRESET_DELETE },
		{ "SUB(A)", CT_STATE_NONE },
	};
	char text[100];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text, "TRACEOPTS %s", cases[i].text);
		parse(text);
		assert_int_equal(member.count, 1);
		assert_int_equal(request(0)->state, cases[i].state);
		assert_int_equal(request(0)->has[CT_CLAUSE_STATE], cases[i].state != CT_STATE_NONE);
		assert_true(request(0)->has[CT_CLAUSE_SUB]);
		assert_string_equal(request(0)->sub.element[0].text, "A");
	}
}

static void groups(void **state)
{
	(void)state;
	parse("TRACEOPTS\n"
	      "ON OPTIONS('1')\n"
	      "SUB(A.ASID(5)) OFF ASID(1)\n"
	      "SUB(B) WTR(DISCONNECT) ON BUFSIZE(2M)\n"
	      "OFF\n"
	      "SUB('c_d')\n"
	      "SUB(E) LIKEHEAD");
	assert_int_equal(member.count, 6);
	assert_string_equal(request(0)->options, "1");
	assert_false(request(0)->has[CT_CLAUSE_SUB]);
	assert_int_equal(request(1)->sub.count, 2);
	assert_int_equal(request(1)->sub.element[1].asid, 5);
	assert_int_equal(request(1)->state, CT_STATE_OFF);
	assert_int_equal(request(1)->asid[0], 1);
	assert_false(request(1)->has[CT_CLAUSE_OPTIONS]);
	assert_true(request(2)->disconnect);
	assert_true(request(2)->has[CT_CLAUSE_WTR]);
	assert_int_equal(request(2)->state, CT_STATE_ON); /* behind a clause of its SUB */
	assert_int_equal(request(2)->bufsize, 2 << 20);
	assert_int_equal(request(3)->state, CT_STATE_OFF);
	assert_false(request(3)->has[CT_CLAUSE_SUB]);
	assert_int_equal(request(4)->state, CT_STATE_NONE);
	assert_string_equal(request(4)->sub.element[0].text, "c_d");
	assert_int_equal(request(5)->state, CT_STATE_LIKEHEAD);
	assert_int_equal(request(5)->place[CT_CLAUSE_SUB].line, 7);
	assert_int_equal(request(5)->place[CT_CLAUSE_STATE].column, 8);
}

static void clauses_before_any_state(void **state)
{
	(void)state;
	parse("TRACEOPTS ASID(1) ON OPTIONS('x')");
	assert_int_equal(member.count, 1);
	assert_true(request(0)->has[CT_CLAUSE_ASID] && request(0)->has[CT_CLAUSE_OPTIONS]);
	assert_int_equal(request(0)->state, CT_STATE_ON);
	parse("TRACEOPTS ASID(1) SUB(A) ON");
	assert_int_equal(member.count, 1);
	assert_true(request(0)->has[CT_CLAUSE_ASID] && request(0)->has[CT_CLAUSE_SUB]);
	parse("TRACEOPTS OPTIONS('LEVEL=255')"); /* the command says ON */
	assert_int_equal(member.count, 1);
	assert_int_equal(request(0)->state, CT_STATE_NONE);
	assert_false(request(0)->has[CT_CLAUSE_STATE]);
}

static void empty_lists(void **state)
{
	(void)state;
	parse("TRACEOPTS ON ASID() JOBNAME( ) OPTIONS()");
	assert_true(request(0)->has[CT_CLAUSE_ASID] && request(0)->has[CT_CLAUSE_JOBNAME] && request(0)->has[CT_CLAUSE_OPTIONS]);
	assert_int_equal(request(0)->asid_count, 0);
	assert_int_equal(request(0)->jobname_count, 0);
	assert_int_equal(request(0)->options_size, 0);
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

static void equals_signs(void **state)
{
	(void)state;
	parse("TRACEOPTS WTRSTART=(W) SUB=(A) PRESET=(PUT) ASID=(1) JOBNAME=(J) BUFSIZE=(1M) WTR=(W) WTRSTOP=(W)");
	assert_int_equal(member.count, 1);
	assert_int_equal(request(0)->state, CT_STATE_PRESET_PUT);
	assert_int_equal(request(0)->bufsize, 1 << 20);
	assert_string_equal(request(0)->writer, "W");
}

/* ---- mistakes ---- */

struct seen {
	unsigned count;
	uint32_t reason[32];
	struct ct_complaint complaint[32];
};

static void see(uint32_t reason, const struct ct_complaint *complaint, void *user)
{
	struct seen *seen = user;

	assert_true(seen->count < CT_COUNT(seen->reason));
	seen->reason[seen->count] = reason;
	seen->complaint[seen->count++] = *complaint;
}

/* One mistake, at the place, with the words. */
static void assert_mistake(const char *text, uint32_t reason, unsigned line, unsigned column, const char *message, const char *expected)
{
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen), reason);
	ct_parmlib_fini(&bad);
	assert_string_equal(seen.complaint[0].message, message);
	assert_string_equal(seen.complaint[0].expected, expected);
	assert_int_equal(seen.complaint[0].line, line);
	assert_int_equal(seen.complaint[0].column, column);
	assert_int_equal(seen.reason[0], reason);
	assert_int_equal(seen.count, 1);
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, NULL, NULL), reason);
	ct_parmlib_fini(&bad);
}

static const char clauses[] = "ON, OFF, LIKEHEAD, PRESET, SUB, ASID, JOBNAME, BUFSIZE, OPTIONS, WTR, WTRSTART or WTRSTOP";
static const char once[] = "each clause once for a trace";

static void mistakes_of_syntax(void **state)
{
	static const uint32_t syntax = CTRACE_RSN_MEMBER_SYNTAX;

	(void)state;
	assert_mistake("TRACEOPTS\n  OFN", syntax, 2, 3, "\"OFN\" is not a keyword (did you mean OFF?)", clauses);
	assert_mistake("TRACEOPTS NONSENSE('a',asid=(0)) ON", syntax, 1, 11, "\"NONSENSE\" is not a keyword", clauses);
	assert_mistake("TRACEOPTS ON) OFF", syntax, 1, 13, "\")\" is not expected here", clauses);
	assert_mistake("TRACEOPTS ON, OFF", syntax, 1, 13, "\",\" is not expected here", clauses);
	assert_mistake("TRACEOPTS ON(64K) OFF", syntax, 1, 13, "\"(\" is not expected here", clauses);
	assert_mistake("TRACEOPTS ON 'x' OFF", syntax, 1, 14, "\"'\" is not expected here", clauses);
	assert_mistake("TRACEOPTS ON\nTRACEOPTS OFF", syntax, 2, 1, "\"TRACEOPTS\" is there already", clauses);
	assert_mistake("TRACEOPTS ON ASID 1,2 JOBNAME(A)", syntax, 1, 19, "\"1\" is not expected here", "\"(\"");
	assert_mistake("TRACEOPTS ON ASID", syntax, 1, 18, "the member ends here", "\"(\"");
	assert_mistake("TRACEOPTS ON ASID(1,2", syntax, 1, 22, "the member ends here", "\",\" or \")\"");
	assert_mistake("TRACEOPTS ON ASID(", syntax, 1, 19, "the member ends here", "a value or \")\"");
	assert_mistake("TRACEOPTS ON WTR(", syntax, 1, 18, "the member ends here", "a value or \")\"");
	assert_mistake("TRACEOPTS ON ASID(1 ON 2) OFF", syntax, 1, 21, "\"ON\" is not expected here", "\",\" or \")\"");
	assert_mistake("TRACEOPTS ON ASID(1 2)", syntax, 1, 21, "\"2\" is not expected here", "\",\" or \")\"");
	assert_mistake("TRACEOPTS ON ASID(1,,2) OFF", syntax, 1, 21, "\",\" is not expected here", "a value");
	assert_mistake("TRACEOPTS ON ASID(,1) OFF", syntax, 1, 19, "\",\" is not expected here", "a value or \")\"");
	assert_mistake("TRACEOPTS ON ASID(1,) OFF", syntax, 1, 21, "\")\" is not expected here", "a value");
	assert_mistake("TRACEOPTS ON ASID(1) OPTIONS('a') ASID(2)", syntax, 1, 35, "\"ASID\" is there already for this trace", once);
	assert_mistake("TRACEOPTS ON OPTIONS(a) OPTIONS(b)", syntax, 1, 25, "\"OPTIONS\" is there already for this trace", once);
	assert_mistake("TRACEOPTS ON BUFSIZE(1K,2K)", syntax, 1, 25, "\"2K\" is one too many", "one size");
	assert_mistake("TRACEOPTS ON WTR(A,B,C)", syntax, 1, 20, "\"B\" is one too many", "WTR(name) or WTR(DISCONNECT)");
	assert_mistake("TRACEOPTS SUB(A ON JOBNAME(B)", syntax, 1, 14, "\"(\" is not closed", "SUB(path)");
	assert_mistake("TRACEOPTS SUB('a) ON\nOFF", syntax, 1, 15, "\"'a) ON\" has no closing quotation mark on its line", "\"'\"");
	assert_mistake("TRACEOPTS SUB(A ASID(0) 'x\nOFF", syntax, 1, 25, "\"'x\" has no closing quotation mark on its line", "\"'\"");
	assert_mistake("TRACEOPTS SUB(A) PRESET() ON", syntax, 1, 25, "\"\" is nothing that PRESET does", "PUT or DELETE");
	assert_mistake("TRACEOPTS SUB(A) PRESET(PTU)", syntax, 1, 25, "\"PTU\" is nothing that PRESET does (did you mean PUT?)",
		       "PUT or DELETE");
	assert_mistake("TRACEOPTS ON /* no end\nOFF", syntax, 1, 14, "\"/*\" is not closed", "\"*/\"");
	assert_mistake("/*", syntax, 1, 1, "\"/*\" is not closed", "\"*/\"");
	assert_mistake("TRACEOPTS WTRSTART(A) WTRSTART(B)", syntax, 1, 23, "\"WTRSTART\" is there already", "one WTRSTART in a member");
	assert_mistake("TRACEOPTS WTRSTOP(A) WTRSTOP(B)", syntax, 1, 22, "\"WTRSTOP\" is there already", "one WTRSTOP in a member");
	assert_mistake("TRACEOPTS WTRSTART(A) ON NOWRAP", syntax, 1, 26, "\"NOWRAP\" does not follow WTRSTART",
		       "WTRSTART(name) before it");
	assert_mistake("TRACEOPTS WTRSTART(A) WRAP WRAP", syntax, 1, 28, "\"WRAP\" does not follow WTRSTART",
		       "WTRSTART(name) before it");
}

static void mistakes_in_options(void **state)
{
	static const uint32_t syntax = CTRACE_RSN_MEMBER_SYNTAX;

	(void)state;
	assert_mistake("TRACEOPTS ON OPTIONS('abc\n) OFF", syntax, 1, 22, "\"'abc\" has no closing quotation mark on its line",
		       "\"'\"");
	assert_mistake("TRACEOPTS ON OPTIONS(a'bc\n) OFF", syntax, 1, 23, "\"'bc\" has no closing quotation mark on its line", "\"'\"");
	assert_mistake("TRACEOPTS ON OPTIONS('a' 'b') OFF", syntax, 1, 26, "\"'\" is not expected here", "\",\" or \")\"");
	assert_mistake("TRACEOPTS ON OPTIONS(a b) OFF", syntax, 1, 24, "\"b\" is not expected here", "\",\" or \")\"");
	assert_mistake("TRACEOPTS ON OPTIONS(a,,b) OFF", syntax, 1, 24, "\",\" is not expected here", "an option");
	assert_mistake("TRACEOPTS ON OPTIONS(,a) OFF", syntax, 1, 22, "\",\" is not expected here", "an option");
	assert_mistake("TRACEOPTS ON OPTIONS(a,b", syntax, 1, 25, "the member ends here", "\",\" or \")\"");
	assert_mistake("TRACEOPTS ON OPTIONS(a=(b\nOFF", syntax, 2, 4, "the member ends here", "\")\"");
	assert_mistake("TRACEOPTS ON OPTIONS('x','a\x1B[2J') OFF", syntax, 1, 26, "\"'a\\u{1B}[2J'\" has a control character", "text");
	assert_mistake("TRACEOPTS ON OPTIONS(a\x7F) OFF", syntax, 1, 22, "\"a\\u{7F}\" has a control character", "text");
}

static void mistakes_in_values(void **state)
{
	static const char asid[] = "1 to 4 hexadecimal digits, 1 to FFFF";
	static const char jobname[] = "a job name of 1 to 8 characters: no blank, comma, parenthesis or quotation mark";
	static const char bufsize[] = "1K to 9999K or 1M to 2047M";
	static const char writer[] = "1 to 7 of A-Z 0-9 $ @ #, no digit first";
	static const char sub[] =
		"1 to 18 of A-Z 0-9 $ @ #, no digit first (in quotation marks also a-z _), ASID(number) or JOBNAME(name)";

	(void)state;
	assert_mistake("TRACEOPTS ON\nASID(1,XY,2)", CTRACE_RSN_ASID_NOT_HEX, 2, 8, "\"XY\" is not hexadecimal", asid);
	assert_mistake("TRACEOPTS ON ASID(12345)", CTRACE_RSN_ASID_TOO_LONG, 1, 19, "\"12345\" is longer than 4 digits", asid);
	assert_mistake("TRACEOPTS ON ASID(0)", CTRACE_RSN_ASID_ZERO, 1, 19, "\"0\" is zero", asid);
	assert_mistake("TRACEOPTS ON JOBNAME(A,ABCDEFGHI)", CTRACE_RSN_JOBNAME_TOO_LONG, 1, 24,
		       "\"ABCDEFGHI\" is longer than 8 characters", jobname);
	assert_mistake("TRACEOPTS ON JOBNAME('A')", CTRACE_RSN_PARMLIB, 1, 22, "\"'A'\" is not a job name", jobname);
	assert_mistake("TRACEOPTS WTRSTOP()", CTRACE_RSN_PARMLIB, 1, 19, "\"\" is not a job name", jobname);
	assert_mistake("TRACEOPTS WTRSTOP(ABCDEFGHI)", CTRACE_RSN_JOBNAME_TOO_LONG, 1, 19, "\"ABCDEFGHI\" is longer than 8 characters",
		       jobname);
	assert_mistake("TRACEOPTS ON BUFSIZE(10000K)", CTRACE_RSN_BUFSIZE_TOO_LONG, 1, 22, "\"10000K\" is longer than 5 characters",
		       bufsize);
	assert_mistake("TRACEOPTS ON BUFSIZE(64)", CTRACE_RSN_BUFSIZE_UNIT, 1, 22, "\"64\" does not end with K or M", bufsize);
	assert_mistake("TRACEOPTS ON BUFSIZE()", CTRACE_RSN_BUFSIZE_UNIT, 1, 22, "\"\" does not end with K or M", bufsize);
	assert_mistake("TRACEOPTS ON BUFSIZE(6x4K)", CTRACE_RSN_BUFSIZE_NOT_DECIMAL, 1, 22,
		       "\"6x4K\" is not a size from 1K to 9999K or from 1M to 2047M", bufsize);
	assert_mistake("TRACEOPTS ON BUFSIZE(2048M)", CTRACE_RSN_BUFSIZE_NOT_DECIMAL, 1, 22,
		       "\"2048M\" is not a size from 1K to 9999K or from 1M to 2047M", bufsize);
	assert_mistake("TRACEOPTS ON WTR(1A)", CTRACE_RSN_WTR_NAME, 1, 18, "\"1A\" is not a writer's name", writer);
	assert_mistake("TRACEOPTS ON WTR()", CTRACE_RSN_WTR_NAME, 1, 18, "\"\" is not a writer's name", writer);
	assert_mistake("TRACEOPTS WTRSTART(ABCDEFGH)", CTRACE_RSN_WTR_NAME, 1, 20, "\"ABCDEFGH\" is not a writer's name", writer);
	assert_mistake("TRACEOPTS SUB() ON", CTRACE_RSN_SUB_NAME, 1, 15, "a name is missing", sub);
	assert_mistake("TRACEOPTS SUB(A\n.sub) ON", CTRACE_RSN_SUB_NAME, 2, 2,
		       "\"sub\" has lower case letters or _ outside quotation marks", sub);
	assert_mistake("TRACEOPTS SUB(A.ASID(G)) ON", CTRACE_RSN_ASID_NOT_HEX, 1, 22, "\"G\" is not hexadecimal", asid);
	assert_mistake("TRACEOPTS SUB(ASID(12345)) ON", CTRACE_RSN_ASID_TOO_LONG, 1, 20, "\"12345\" is longer than 4 digits", asid);
	assert_mistake("TRACEOPTS SUB(ASID(0)) ON", CTRACE_RSN_ASID_ZERO, 1, 20, "\"0\" is zero", asid);
	assert_mistake("TRACEOPTS SUB(JOBNAME(ABCDEFGHI)) ON", CTRACE_RSN_JOBNAME_TOO_LONG, 1, 23,
		       "\"ABCDEFGHI\" is longer than 8 characters", jobname);
	assert_mistake("TRACEOPTS SUB(JOBNAME()) ON", CTRACE_RSN_SUB_NAME, 1, 23, "\"\" is not a job name", jobname);
}

static void too_many(void **state)
{
	(void)state;
	parse("TRACEOPTS ON ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10) JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P)");
	assert_int_equal(request(0)->asid_count, 16);
	assert_int_equal(request(0)->asid[15], 0x10);
	assert_int_equal(request(0)->jobname_count, 16);
	assert_string_equal(request(0)->jobname[15], "P");
	assert_mistake("TRACEOPTS ON ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10,11,12)", CTRACE_RSN_TOO_MANY_ASIDS, 1, 52,
		       "\"11\" is one too many", "at most 16 ASIDs");
	assert_mistake("TRACEOPTS ON JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R)", CTRACE_RSN_TOO_MANY_JOBNAMES, 1, 54,
		       "\"Q\" is one too many", "at most 16 job names");
}

/* Two options, of so many bytes. */
static void put_options(char *text, size_t size, int first, int second)
{
	char letters[1100];

	memset(letters, 'x', sizeof letters);
	(void)snprintf(text, size, "TRACEOPTS ON OPTIONS('%.*s',\n'%.*s')", first, letters, second, letters);
}

static void options_too_long(void **state)
{
	static const char expected[] = "at most 1024 characters in all strings, with a comma between two";
	char text[2048];

	(void)state;
	put_options(text, sizeof text, 1000, 23);
	parse(text);
	assert_int_equal(request(0)->options_size, 1024);
	assert_int_equal(strlen(request(0)->options), 1024);
	put_options(text, sizeof text, 1000, 24);
	assert_mistake(text, CTRACE_RSN_OPTIONS_TOO_LONG, 2, 1, "\"'xxxxxxxxxxxxxxxxxxx...\" makes the options too long", expected);
	put_options(text, sizeof text, 1025, 1);
	assert_mistake(text, CTRACE_RSN_OPTIONS_TOO_LONG, 1, 22, "\"'xxxxxxxxxxxxxxxxxxx...\" makes the options too long", expected);
}

static void members_that_are_none(void **state)
{
	(void)state;
	assert_mistake("", CTRACE_RSN_PARMLIB, 1, 1, "the member is empty", "TRACEOPTS");
	assert_mistake("\n /* only this */ \n", CTRACE_RSN_PARMLIB, 1, 1, "the member is empty", "TRACEOPTS");
	assert_mistake("\nON ASID(1)", CTRACE_RSN_PARMLIB, 2, 1, "\"ON\" stands where TRACEOPTS begins a member", "TRACEOPTS");
	assert_mistake("TRACEOPT ON", CTRACE_RSN_PARMLIB, 1, 1,
		       "\"TRACEOPT\" stands where TRACEOPTS begins a member (did you mean TRACEOPTS?)", "TRACEOPTS");
	assert_mistake("some text, (which is no member", CTRACE_RSN_PARMLIB, 1, 1, "\"some\" stands where TRACEOPTS begins a member",
		       "TRACEOPTS");
	assert_mistake("(", CTRACE_RSN_PARMLIB, 1, 1, "\"(\" stands where TRACEOPTS begins a member", "TRACEOPTS");
	assert_mistake("TRACEOPTS\n", CTRACE_RSN_PARMLIB, 2, 1, "TRACEOPTS says nothing", clauses);
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
	assert_mistake(text, CTRACE_RSN_PARMLIB, 1, 10 + 3 * 1024 + 1, "this trace is one too many", "at most 1024 in a member");
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
	assert_mistake(text, CTRACE_RSN_MEMBER_TOO_LARGE, CT_PARMLIB_LIMIT - 11, 1, "the member is too large",
		       "at most 65536 bytes, comments included");
	free(text);
}

/* After a mistake the next clause is read: all of them are found, in their order, and the first one's reason is the answer. */
static void every_mistake(void **state)
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
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen), CTRACE_RSN_MEMBER_SYNTAX);
	ct_parmlib_fini(&bad);
	for (unsigned i = 0; i < CT_COUNT(wanted); i++) {
		assert_int_equal(seen.reason[i], wanted[i].reason);
		assert_int_equal(seen.complaint[i].line, wanted[i].line);
		assert_int_equal(seen.complaint[i].column, wanted[i].column);
	}
	assert_int_equal(seen.count, CT_COUNT(wanted));
}

static void first_reason(void **state)
{
	static const char text[] = "BUFSIZE(0K) OFN"; /* without TRACEOPTS, but a member */
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	(void)state;
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen), CTRACE_RSN_PARMLIB);
	ct_parmlib_fini(&bad);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.reason[0], CTRACE_RSN_PARMLIB);
	assert_int_equal(seen.reason[1], CTRACE_RSN_BUFSIZE_NOT_DECIMAL);
	assert_int_equal(seen.reason[2], CTRACE_RSN_MEMBER_SYNTAX);
}

static void hostile_bytes(void **state)
{
	static const char *const patterns[] = { "SUB(", "SUB('", "OPTIONS((", "OPTIONS(a'", "ASID(",  "ASID  ",   "'", "(",
						")",    "/*",    "=,",        "X(",         "SUB(A.", "\x80\xFF", "\n" };
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(patterns); i++) {
		char *text = member_of(patterns[i], (CT_PARMLIB_LIMIT - 10) / (unsigned)strlen(patterns[i]));

		assert_int_not_equal(ct_parmlib_parse(text, strlen(text), &bad, NULL, NULL), 0);
		ct_parmlib_fini(&bad);
		free(text);
	}
	assert_int_equal(ct_parmlib_parse("TRACEOPTS O\0\x1BN", 14, &bad, see, &seen), CTRACE_RSN_MEMBER_SYNTAX);
	ct_parmlib_fini(&bad);
	assert_string_equal(seen.complaint[0].message, "\"O\\u{0}\\u{1B}N\" is not a keyword");
}

/* ---- printing ---- */

static void assert_printed(const char *text, const char *wanted)
{
	struct ct_buf out;

	parse(text);
	ct_buf_init(&out);
	ct_parmlib_print(request(0), &out);
	assert_string_equal(ct_buf_text(&out), wanted);
	parse(ct_buf_text(&out)); /* and what is printed is the same member */
	ct_buf_clear(&out);
	ct_parmlib_print(request(0), &out);
	assert_string_equal(ct_buf_text(&out), wanted);
	ct_buf_fini(&out);
}

static void printed(void **state)
{
	(void)state;
	assert_printed("TRACEOPTS SUB(A.'b_'.asid(0d).jobname(x).\"Y\") preset(put) asid(0001,fF) jobname(a,b) bufsize(1m)"
		       " options=(a,b=(c),'it''s') wtr(ctw)",
		       "TRACEOPTS\n"
		       "    SUB(A.'b_'.ASID(D).JOBNAME(X).Y) PRESET(PUT)\n"
		       "    ASID(1,FF)\n"
		       "    JOBNAME(A,B)\n"
		       "    BUFSIZE(1024K)\n"
		       "    OPTIONS('a,b=(c),it''s')\n"
		       "    WTR(CTW)\n");
	assert_printed("TRACEOPTS ON ASID() JOBNAME() OPTIONS() WTR(disconnect) BUFSIZE(2047M)",
		       "TRACEOPTS\n    ON\n    ASID()\n    JOBNAME()\n    BUFSIZE(2047M)\n    OPTIONS()\n    WTR(DISCONNECT)\n");
	assert_printed("TRACEOPTS OFF", "TRACEOPTS\n    OFF\n");
	assert_printed("TRACEOPTS SUB(A) LIKEHEAD", "TRACEOPTS\n    SUB(A) LIKEHEAD\n");
	assert_printed("TRACEOPTS SUB(A) PRESET(DELETE)", "TRACEOPTS\n    SUB(A) PRESET(DELETE)\n");
	assert_printed("TRACEOPTS SUB('b'.'A_'.'C')", "TRACEOPTS\n    SUB('b'.'A_'.C)\n");
	assert_printed("TRACEOPTS BUFSIZE(9999K)", "TRACEOPTS\n    BUFSIZE(9999K)\n");
}

/* A size that no member could say, as BUFDFLT may be. */
static void printed_sizes(void **state)
{
	struct ct_trace_request odd = { .has[CT_CLAUSE_BUFSIZE] = true, .bufsize = 5000 };
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_parmlib_print(&odd, &out);
	assert_string_equal(ct_buf_text(&out), "TRACEOPTS\n    BUFSIZE(5K)\n");
	ct_buf_clear(&out);
	odd.bufsize = ((uint64_t)12 << 20) + 1;
	ct_parmlib_print(&odd, &out);
	assert_string_equal(ct_buf_text(&out), "TRACEOPTS\n    BUFSIZE(13M)\n");
	ct_buf_fini(&out);
}

/* ---- files ---- */

static char found_at[4096];
static struct ct_buf read_text;

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static uint32_t read_member(const char *name, const char *folders)
{
	if (folders == NULL)
		assert_int_equal(unsetenv("CTRACE_PARMLIB"), 0);
	else
		assert_int_equal(setenv("CTRACE_PARMLIB", folders, 1), 0);
	memset(found_at, 'x', sizeof found_at);
	ct_buf_clear(&read_text);
	ct_buf_add_text(&read_text, "before:");
	return ct_parmlib_read(name, &read_text, found_at);
}

static int set_up(void **state)
{
	(void)state;
	ct_buf_init(&read_text);
	if (mkdir("one", 0700) != 0 || mkdir("two", 0700) != 0)
		return -1;
	write_file("one/CTAPP00", "first", 5);
	write_file("two/CTAPP00", "second", 6);
	write_file("two/CTAPP01", "other", 5);
	write_file("two/CTEMPTY", "", 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_buf_fini(&read_text);
	ct_parmlib_fini(&member);
	return 0;
}

static void first_folder_counts(void **state)
{
	(void)state;
	assert_int_equal(read_member("CTAPP00", "one:two"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:first");
	assert_string_equal(found_at, "one/CTAPP00");
	assert_int_equal(read_member("CTAPP00", "/nonexistent::one/CTAPP00:two/:one:"), 0); /* a file is no folder */
	assert_string_equal(ct_buf_text(&read_text), "before:second");
	assert_string_equal(found_at, "two//CTAPP00");
	assert_int_equal(read_member("CTAPP01", "one:two"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:other");
	assert_int_equal(read_member("CTEMPTY", "two"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:");
	assert_int_equal(symlink("../two/CTAPP01", "one/CTLINK"), 0);
	assert_int_equal(read_member("CTLINK", "one"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:other");
}

static void member_names(void **state)
{
	static const char *const bad[] = { "",       "APP00", "XCTAPP", "ctapp00", "C",  "CTAPP0000",
					   "CT/APP", "../CT", "CT.",    "CTAPP 0", "CT_" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		assert_int_equal(read_member(bad[i], "one"), CTRACE_RSN_MEMBER_NAME);
		assert_string_equal(found_at, "");
	}
	assert_int_equal(read_member("CT", "one"), CTRACE_RSN_MEMBER_NOT_FOUND);
	assert_int_equal(read_member("CT@#$012", "one"), CTRACE_RSN_MEMBER_NOT_FOUND);
}

static void assert_unread(const char *name, const char *folders, uint32_t reason, const char *place)
{
	assert_int_equal(read_member(name, folders), reason);
	assert_string_equal(found_at, place);
	assert_string_equal(ct_buf_text(&read_text), "before:");
}

static void folders_without_it(void **state)
{
	char long_folder[5000];

	(void)state;
	assert_unread("CTNONE", "one:two", CTRACE_RSN_MEMBER_NOT_FOUND, "");
	assert_unread("CTNONE", "one:/nonexistent", CTRACE_RSN_MEMBER_NOT_FOUND, "");
	assert_unread("CTAPP00", NULL, CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_unread("CTAPP00", "", CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_unread("CTAPP00", "::", CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_unread("CTAPP00", "/nonexistent:one/CTAPP00", CTRACE_RSN_MEMBER_ALLOCATION, "");
	for (size_t i = 0; i < sizeof long_folder; i++) /* what fits into a path is a folder */
		long_folder[i] = i % 2 == 0 ? '.' : '/';
	long_folder[sizeof long_folder - 1] = '\0';
	assert_unread("CTAPP00", long_folder, CTRACE_RSN_MEMBER_ALLOCATION, "");
	memset(long_folder, 'x', sizeof long_folder);
	long_folder[300] = '\0'; /* longer than a file's name may be */
	assert_unread("CTAPP00", long_folder, CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_int_equal(symlink("CTNONE", "one/CTLOST"), 0);
	assert_unread("CTLOST", "one", CTRACE_RSN_MEMBER_NOT_FOUND, "");
}

static void no_regular_files(void **state)
{
	(void)state;
	assert_int_equal(mkdir("one/CTFOLDER", 0700), 0);
	assert_unread("CTFOLDER", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTFOLDER");
	assert_int_equal(mkfifo("one/CTPIPE", 0600), 0);
	assert_unread("CTPIPE", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTPIPE");
	assert_int_equal(symlink("CTROUND", "one/CTROUND"), 0);
	assert_unread("CTROUND", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTROUND");
}

static void large_files(void **state)
{
	char *text = calloc(1, CT_PARMLIB_LIMIT + 1);

	(void)state;
	assert_non_null(text);
	write_file("one/CTLARGE", text, CT_PARMLIB_LIMIT);
	assert_int_equal(read_member("CTLARGE", "one"), 0);
	assert_int_equal(read_text.size, CT_PARMLIB_LIMIT + strlen("before:"));
	write_file("one/CTLARGE", text, CT_PARMLIB_LIMIT + 1);
	assert_unread("CTLARGE", "one", CTRACE_RSN_MEMBER_TOO_LARGE, "one/CTLARGE");
	free(text);
}

/* The second folder has the member too: trouble in the first is not passed over. */
static void trouble(void **state)
{
	static const struct {
		enum ct_os_call call;
		int error;
		uint32_t reason;
	} cases[] = {
		{ CT_OS_OPEN, EACCES, CTRACE_RSN_MEMBER_NOT_READABLE }, { CT_OS_OPEN, EIO, CTRACE_RSN_MEMBER_IO },
		{ CT_OS_OPEN, EMFILE, CTRACE_RSN_MEMBER_ALLOCATION },   { CT_OS_OPEN, ENFILE, CTRACE_RSN_MEMBER_ALLOCATION },
		{ CT_OS_OPEN, ENOMEM, CTRACE_RSN_MEMBER_ALLOCATION },   { CT_OS_READ, EIO, CTRACE_RSN_MEMBER_IO },
		{ CT_OS_READ, ESTALE, CTRACE_RSN_MEMBER_IO },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		ct_os_fail(cases[i].call, 0, 1, cases[i].error);
		assert_unread("CTAPP00", "one:two", cases[i].reason, "one/CTAPP00");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_trace),
		cmocka_unit_test(states),
		cmocka_unit_test(groups),
		cmocka_unit_test(clauses_before_any_state),
		cmocka_unit_test(empty_lists),
		cmocka_unit_test(writers),
		cmocka_unit_test(free_form),
		cmocka_unit_test(option_texts),
		cmocka_unit_test(equals_signs),
		cmocka_unit_test(mistakes_of_syntax),
		cmocka_unit_test(mistakes_in_options),
		cmocka_unit_test(mistakes_in_values),
		cmocka_unit_test(too_many),
		cmocka_unit_test(options_too_long),
		cmocka_unit_test(members_that_are_none),
		cmocka_unit_test(many_traces),
		cmocka_unit_test(large_members),
		cmocka_unit_test(every_mistake),
		cmocka_unit_test(first_reason),
		cmocka_unit_test(hostile_bytes),
		cmocka_unit_test(printed),
		cmocka_unit_test(printed_sizes),
		cmocka_unit_test(first_folder_counts),
		cmocka_unit_test(member_names),
		cmocka_unit_test(folders_without_it),
		cmocka_unit_test(no_regular_files),
		cmocka_unit_test(large_files),
		cmocka_unit_test(trouble),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
