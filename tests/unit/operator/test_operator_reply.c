/*
 * test_operator_reply.c - the operands of a reply, and what several add up to.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static struct ct_trace_request reply;
static bool is_end;

static void answer(const char *text)
{
	struct ct_diagnostic diagnostic;
	size_t size = strlen(text);

	put_line(text, size);
	if (ct_reply_parse(line, size, &reply, &is_end, &diagnostic) != CTRACE_OK)
		fail_msg("%s: column %u: %s; expected %s", text, diagnostic.column,
			 diagnostic.message, diagnostic.expected);
}

static void assert_refused(const char *text, unsigned column, const char *message,
			   const char *expected)
{
	struct ct_diagnostic diagnostic;
	struct ct_trace_request before;
	size_t size = strlen(text);

	memset(&reply, 0x55, sizeof reply);
	memcpy(&before, &reply, sizeof reply);
	put_line(text, size);
	if (ct_reply_parse(line, size, &reply, &is_end, &diagnostic) == CTRACE_OK)
		fail_msg("%s is taken as a reply", text);
	assert_string_equal(diagnostic.message, message);
	assert_string_equal(diagnostic.expected, expected);
	assert_int_equal(diagnostic.column, column);
	assert_int_equal(diagnostic.line, 0);
	assert_memory_equal(&before, &reply, sizeof reply);
}

static void filters(void **state)
{
	(void)state;
	answer("ASID=(1,02f,FFFF),END");
	assert_true(reply.has[CT_CLAUSE_ASID] && is_end);
	assert_false(reply.has[CT_CLAUSE_JOBNAME] || reply.has[CT_CLAUSE_OPTIONS] ||
		     reply.has[CT_CLAUSE_WTR]);
	assert_int_equal(reply.asid_count, 3);
	assert_true(reply.asid[0] == 1 && reply.asid[1] == 0x2F && reply.asid[2] == 0xFFFF);
	answer("asid=1f");
	assert_true(reply.asid_count == 1 && reply.asid[0] == 0x1F);
	assert_false(is_end);
	answer("ASID=()");
	assert_true(reply.has[CT_CLAUSE_ASID] && reply.asid_count == 0);
	answer("JOBNAME = ( a , b.c ) , CONT");
	assert_int_equal(reply.jobname_count, 2);
	assert_string_equal(reply.jobname[0], "A");
	assert_string_equal(reply.jobname[1], "B.C");
	assert_true(reply.has[CT_CLAUSE_JOBNAME] && !is_end);
	answer("JOBNAME=ezasokjs");
	assert_string_equal(reply.jobname[0], "EZASOKJS");
	answer("JOBNAME=( ),END");
	assert_true(reply.has[CT_CLAUSE_JOBNAME] && reply.jobname_count == 0);
	answer("JOBNAME=(AAAAAAAA,BBBBBBBB,CCCCCCCC,DDDDDDDD,EEEEEEEE,FFFFFFFF,GGGGGGGG,HHHHHHHH,"
	       "IIIIIIII,JJJJJJJJ,KKKKKKKK,LLLLLLLL,MMMMMMMM,NNNNNNNN,OOOOOOOO,PPPPPPPP)");
	assert_int_equal(reply.jobname_count, 16);
	answer("ASID=(FFF1,FFF2,FFF3,FFF4,FFF5,FFF6,FFF7,FFF8,FFF9,FFFA,FFFB,FFFC,FFFD,FFFE,FFFF,AAAA)");
	assert_int_equal(reply.asid_count, 16);
}

static void options(void **state)
{
	static const struct {
		const char *written;
		const char *options;
	} cases[] = {
		{ "OPTIONS=(server,verbs,userid=(johndoe))", "server,verbs,userid=(johndoe)" },
		{ "OPTIONS=('a b, c','it''s')", "a b, c,it's" },
		{ "OPTIONS=('LEVEL=INFO','DEST=(TEXTFILE)')", "LEVEL=INFO,DEST=(TEXTFILE)" },
		{ "OPTIONS=LEVEL=255", "LEVEL=255" },
		{ "options=userid=(a, b)", "userid=(a, b)" },
		{ "OPTIONS='a, b'", "a, b" },
		{ "OPTIONS=()", "" },
		{ "OPTIONS=('')", "" },
		{ "OPTIONS=(x='a)b',END)", "x='a)b',END" },
		{ "OPTIONS=('\t\xC3\xA4')", "\t\xC3\xA4" },
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text, "ASID=1,%s , END", cases[i].written);
		answer(text);
		assert_true(reply.has[CT_CLAUSE_OPTIONS] && is_end && reply.has[CT_CLAUSE_ASID]);
		assert_string_equal(reply.options, cases[i].options);
		assert_int_equal(reply.options_size, strlen(cases[i].options));
	}
}

static void writers(void **state)
{
	(void)state;
	answer("wtr=ctw");
	assert_true(reply.has[CT_CLAUSE_WTR] && !reply.disconnect);
	assert_string_equal(reply.writer, "CTW");
	answer("WTR=(ABCDEFG),END");
	assert_string_equal(reply.writer, "ABCDEFG");
	answer("WTR=disconnect");
	assert_true(reply.has[CT_CLAUSE_WTR] && reply.disconnect);
}

/* ---- to DUMP ---- */

static struct ct_dump_reply dump;

static void answer_dump(const char *text)
{
	struct ct_diagnostic diagnostic;

	put_line(text, strlen(text));
	if (ct_dump_reply_parse(line, strlen(text), &dump, &diagnostic) != CTRACE_OK)
		fail_msg("%s: column %u: %s; expected %s", text, diagnostic.column,
			 diagnostic.message, diagnostic.expected);
}

static void assert_dump_refused(const char *text, unsigned column, const char *message)
{
	struct ct_diagnostic diagnostic;

	put_line(text, strlen(text));
	assert_int_not_equal(ct_dump_reply_parse(line, strlen(text), &dump, &diagnostic),
			     CTRACE_OK);
	assert_string_equal(diagnostic.message, message);
	assert_int_equal(diagnostic.column, column);
}

static void replies_to_dump(void **state)
{
	struct ct_buf joined;

	(void)state;
	answer_dump("U");
	assert_true(dump.is_end && dump.job_count == 0 && dump.asid_count == 0);
	answer_dump("");
	assert_false(dump.is_end);
	answer_dump("JOBNAME=(PAY*, B),ASID=1F,COMP=(X.Y,Z),SDATA=(CSA,RGN),END");
	assert_true(dump.is_end && dump.job_count == 2 && dump.asid_count == 1 &&
		    dump.name_count == 2);
	assert_string_equal(dump.job[0], "PAY*");
	assert_string_equal(dump.job[1], "B");
	assert_int_equal(dump.asid[0], 0x1F);
	assert_string_equal(dump.name[0], "X.Y");
	assert_dump_refused("WTR=X", 1, "\"WTR\" is not an operand of a reply to DUMP");
	assert_dump_refused("U,END", 1, "\"U\" stands alone");
	assert_dump_refused(" cancel,END", 2, "\"cancel\" stands alone");
	assert_dump_refused("ASID=XYZ", 6, "\"XYZ\" is not hexadecimal");
	ct_buf_init(&joined);
	ct_reply_join(CT_OPERATOR_DUMP, (struct ct_span){ "ASID=1,COMP=A", 13 },
		      (struct ct_span){ "COMP=(B),END", 12 }, &joined);
	assert_string_equal(ct_buf_text(&joined), "ASID=1,COMP=(B)");
	ct_buf_fini(&joined);
}

/* ---- several replies ---- */

static struct ct_buf sum;

static void add(const char *text)
{
	struct ct_buf before = sum;

	answer(text);
	ct_buf_init(&sum);
	ct_reply_join(CT_OPERATOR_TRACE_CT, (struct ct_span){ ct_buf_text(&before), before.size },
		      (struct ct_span){ text, strlen(text) }, &sum);
	ct_buf_fini(&before);
	answer(ct_buf_text(&sum));
	assert_false(is_end);
}

static void several_replies(void **state)
{
	(void)state;
	ct_buf_init(&sum);
	add("ASID=(1,2),OPTIONS=(long,options),CONT");
	assert_string_equal(ct_buf_text(&sum), "ASID=(1,2),OPTIONS=(long,options)");
	add("JOBNAME=J,ASID=3,CONT");
	assert_string_equal(ct_buf_text(&sum), "ASID=3,JOBNAME=J,OPTIONS=(long,options)");
	add("options = ( 'it''s, so' ) ");
	assert_string_equal(ct_buf_text(&sum), "ASID=3,JOBNAME=J,OPTIONS = ( 'it''s, so' )");
	assert_string_equal(reply.options, "it's, so");
	add("");
	assert_string_equal(ct_buf_text(&sum), "ASID=3,JOBNAME=J,OPTIONS = ( 'it''s, so' )");
	add(" END ");
	assert_true(reply.has[CT_CLAUSE_ASID] && reply.has[CT_CLAUSE_JOBNAME] &&
		    reply.has[CT_CLAUSE_OPTIONS]);
	add("wtr=DISCONNECT,ASID=(),END");
	assert_string_equal(ct_buf_text(&sum),
			    "ASID=(),JOBNAME=J,OPTIONS = ( 'it''s, so' ),WTR=DISCONNECT");
	ct_buf_fini(&sum);
}

static void diagnostics(void **state)
{
	static const char all[] = "ASID=, JOBNAME=, OPTIONS=, WTR=, CONT or END";

	(void)state;
	assert_refused("ASID=(1),", 10, "the reply ends here",
		       "JOBNAME=, OPTIONS=, WTR=, CONT or END");
	assert_refused(",END", 1, "\",\" is not expected here", all);
	assert_refused("OPTION=(A)", 1,
		       "\"OPTION\" is not an operand of a reply (did you mean OPTIONS?)", all);
	assert_refused("BUFSIZE=64K", 1, "\"BUFSIZE\" is not an operand of a reply", all);
	assert_refused("END,ASID=(1)", 1, "\"END\" is not the last operand", "nothing behind it");
	assert_refused("ASID=1,CONT,END", 8, "\"CONT\" is not the last operand",
		       "nothing behind it");
	assert_refused("ASID=1,ASID=2", 8, "\"ASID\" is there already", "each operand once");
	assert_refused("ASID 1", 6, "\"1\" is not expected here", "\"=\"");
	assert_refused("ASID=", 6, "the reply ends here", "an ASID, or ASIDs in parentheses");
	assert_refused("ASID=,END", 6, "\",\" is not expected here",
		       "an ASID, or ASIDs in parentheses");
	assert_refused("ASID=(1,", 9, "the reply ends here", "a value");
	assert_refused("ASID=(1", 8, "the reply ends here", "\",\" or \")\"");
	assert_refused("ASID=(1,XY)", 9, "\"XY\" is not hexadecimal",
		       "1 to 4 hexadecimal digits, 1 to FFFF");
	assert_refused("ASID=0", 6, "\"0\" is zero", "1 to 4 hexadecimal digits, 1 to FFFF");
	assert_refused("ASID=(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10,11)", 40, "\"11\" is one too many",
		       "at most 16 ASIDs");
	assert_refused("JOBNAME=", 9, "the reply ends here",
		       "a job name, or job names in parentheses");
	assert_refused(
		"JOBNAME=ABCDEFGHI", 9, "\"ABCDEFGHI\" is longer than 8 characters",
		"a job name of 1 to 8 characters: no blank, comma, parenthesis, quotation mark, * or ?");
	assert_refused("WTR=", 5, "the reply ends here", "a writer's name or DISCONNECT");
	assert_refused("WTR=ABCDEFGH", 5, "\"ABCDEFGH\" is not a writer's name",
		       "1 to 7 of A-Z 0-9 $ @ #, no digit first");
	assert_refused("ASID=(\x01)", 7, "\"\\u{1}\" is a control character", "text");
}

static void diagnostics_in_options(void **state)
{
	char long_text[CT_OPERATOR_LINE];

	(void)state;
	assert_refused("OPTIONS=", 9, "the reply ends here", "an option");
	assert_refused("OPTIONS=(", 10, "the reply ends here", "an option");
	assert_refused("OPTIONS=(a,,b)", 12, "\",\" is not expected here", "an option");
	assert_refused("OPTIONS=(a", 11, "the reply ends here", "\",\" or \")\"");
	assert_refused("OPTIONS=(a=(b)", 15, "the reply ends here", "\",\" or \")\"");
	assert_refused("OPTIONS=a=(b", 11, "\"(\" is not closed", "\")\"");
	assert_refused("OPTIONS=a b", 11, "\"b\" is not expected here", "\",\"");
	assert_refused("OPTIONS=(a))", 12, "\")\" is not expected here", "\",\"");
	assert_refused("OPTIONS=('abc),END", 10,
		       "\"'abc),END\" has no closing quotation mark on its line", "\"'\"");
	memset(long_text, 'x', sizeof long_text);
	memcpy(long_text, "OPTIONS=", 8);
	long_text[8 + CTRACE_MAX_OPTIONS] = '\0';
	answer(long_text);
	assert_int_equal(reply.options_size, CTRACE_MAX_OPTIONS);
	long_text[8 + CTRACE_MAX_OPTIONS] = 'x';
	long_text[9 + CTRACE_MAX_OPTIONS] = '\0';
	assert_refused(long_text, 9, "\"xxxxxxxxxxxxxxxxxxxx...\" makes the options too long",
		       "at most 1024 characters in all strings, with a comma between two");
}

int test_operator_reply(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters),
		cmocka_unit_test(replies_to_dump),
		cmocka_unit_test(options),
		cmocka_unit_test(writers),
		cmocka_unit_test(diagnostics),
		cmocka_unit_test(several_replies),
		cmocka_unit_test(diagnostics_in_options),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
