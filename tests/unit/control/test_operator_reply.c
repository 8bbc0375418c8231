/*
 * test_operator_reply.c - the operands of a reply, what several add up to, and each printed and read again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static struct ct_reply sum;

static void add(const char *text)
{
	struct ct_complaint complaint;
	size_t size = strlen(text);

	put_line(text, size);
	if (ct_reply_parse(line, size, &sum, &complaint) != CTRACE_OK)
		fail_msg("%s: column %u: %s; expected %s", text, complaint.column, complaint.message, complaint.expected);
}

static void answer(const char *text)
{
	memset(&sum, 0, sizeof sum);
	add(text);
}

static void assert_refused(const char *text, unsigned column, const char *message, const char *expected)
{
	struct ct_complaint complaint;
	struct ct_reply before;
	size_t size = strlen(text);

	memset(&sum, 0x55, sizeof sum);
	memcpy(&before, &sum, sizeof sum);
	put_line(text, size);
	if (ct_reply_parse(line, size, &sum, &complaint) == CTRACE_OK)
		fail_msg("%s is taken as a reply", text);
	assert_string_equal(complaint.message, message);
	assert_string_equal(complaint.expected, expected);
	assert_int_equal(complaint.column, column);
	assert_int_equal(complaint.line, 0);
	assert_memory_equal(&before, &sum, sizeof sum);
}

static void filters(void **state)
{
	(void)state;
	answer("ASID=(1,02f,FFFF),END");
	assert_true(sum.has_asid && sum.is_end);
	assert_false(sum.has_jobname || sum.has_options || sum.has_wtr);
	assert_string_equal(sum.asid, "1,2F,FFFF");
	answer("asid=1f");
	assert_string_equal(sum.asid, "1F");
	assert_false(sum.is_end);
	answer("ASID=()");
	assert_true(sum.has_asid);
	assert_string_equal(sum.asid, "");
	answer("JOBNAME = ( a , b.c ) , CONT");
	assert_string_equal(sum.jobname, "A,B.C");
	assert_true(sum.has_jobname && !sum.is_end);
	answer("JOBNAME=ezasokjs");
	assert_string_equal(sum.jobname, "EZASOKJS");
	answer("JOBNAME=( ),END");
	assert_true(sum.has_jobname);
	assert_string_equal(sum.jobname, "");
	answer("JOBNAME=(AAAAAAAA,BBBBBBBB,CCCCCCCC,DDDDDDDD,EEEEEEEE,FFFFFFFF,GGGGGGGG,HHHHHHHH,"
	       "IIIIIIII,JJJJJJJJ,KKKKKKKK,LLLLLLLL,MMMMMMMM,NNNNNNNN,OOOOOOOO,PPPPPPPP)");
	assert_int_equal(strlen(sum.jobname), 16 * 9 - 1);
	answer("ASID=(FFF1,FFF2,FFF3,FFF4,FFF5,FFF6,FFF7,FFF8,FFF9,FFFA,FFFB,FFFC,FFFD,FFFE,FFFF,AAAA)");
	assert_int_equal(strlen(sum.asid), 16 * 5 - 1);
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
		assert_true(sum.has_options && sum.is_end && sum.has_asid);
		assert_string_equal(sum.options, cases[i].options);
	}
}

static void writers(void **state)
{
	(void)state;
	answer("wtr=ctw");
	assert_true(sum.has_wtr);
	assert_string_equal(sum.wtr, "CTW");
	answer("WTR=(ABCDEFG),END");
	assert_string_equal(sum.wtr, "ABCDEFG");
	answer("WTR=disconnect");
	assert_string_equal(sum.wtr, "DISCONNECT");
}

static void several_replies(void **state)
{
	(void)state;
	answer("ASID=(1,2),OPTIONS=(long,options),CONT");
	add("JOBNAME=J,ASID=3,CONT");
	assert_string_equal(sum.asid, "3");
	assert_string_equal(sum.jobname, "J");
	assert_string_equal(sum.options, "long,options");
	add("OPTIONS=(x)");
	assert_string_equal(sum.options, "x");
	add("");
	assert_false(sum.is_end);
	assert_string_equal(sum.jobname, "J");
	add(" END ");
	assert_true(sum.is_end && sum.has_asid && sum.has_jobname && sum.has_options && !sum.has_wtr);
	add("CONT");
	assert_false(sum.is_end);
	add("END");
	add("ASID=4"); /* neither is said */
	assert_false(sum.is_end);
}

static void mistakes(void **state)
{
	static const char all[] = "ASID=, JOBNAME=, OPTIONS=, WTR=, CONT or END";

	(void)state;
	assert_refused("ASID=(1),", 10, "the reply ends here", "JOBNAME=, OPTIONS=, WTR=, CONT or END");
	assert_refused(",END", 1, "\",\" is not expected here", all);
	assert_refused("OPTION=(A)", 1, "\"OPTION\" is not an operand of a reply (did you mean OPTIONS?)", all);
	assert_refused("BUFSIZE=64K", 1, "\"BUFSIZE\" is not an operand of a reply", all);
	assert_refused("END,ASID=(1)", 1, "\"END\" is not the last operand", "nothing behind it");
	assert_refused("ASID=1,CONT,END", 8, "\"CONT\" is not the last operand", "nothing behind it");
	assert_refused("ASID=1,ASID=2", 8, "\"ASID\" is there already", "each operand once");
	assert_refused("ASID 1", 6, "\"1\" is not expected here", "\"=\"");
	assert_refused("ASID=", 6, "the reply ends here", "an ASID, or ASIDs in parentheses");
	assert_refused("ASID=,END", 6, "\",\" is not expected here", "an ASID, or ASIDs in parentheses");
	assert_refused("ASID=(1,", 9, "the reply ends here", "a value");
	assert_refused("ASID=(1", 8, "the reply ends here", "\",\" or \")\"");
	assert_refused("ASID=(1,XY)", 9, "\"XY\" is not hexadecimal", "1 to 4 hexadecimal digits, 1 to FFFF");
	assert_refused("ASID=0", 6, "\"0\" is zero", "1 to 4 hexadecimal digits, 1 to FFFF");
	assert_refused("ASID=(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10,11)", 40, "\"11\" is one too many", "at most 16 ASIDs");
	assert_refused("JOBNAME=", 9, "the reply ends here", "a job name, or job names in parentheses");
	assert_refused("JOBNAME=ABCDEFGHI", 9, "\"ABCDEFGHI\" is longer than 8 characters",
		       "a job name of 1 to 8 characters: no blank, comma, parenthesis, quotation mark, * or ?");
	assert_refused("WTR=", 5, "the reply ends here", "a writer's name or DISCONNECT");
	assert_refused("WTR=ABCDEFGH", 5, "\"ABCDEFGH\" is not a writer's name", "1 to 7 of A-Z 0-9 $ @ #, no digit first");
	assert_refused("ASID=(\x01)", 7, "\"\\u{1}\" is a control character", "text");
}

static void mistakes_in_options(void **state)
{
	char long_text[CT_OPERATOR_LINE];

	(void)state;
	assert_refused("OPTIONS=", 9, "the reply ends here", "an option");
	assert_refused("OPTIONS=(", 10, "the reply ends here", "an option");
	assert_refused("OPTIONS=(a,,b)", 12, "\",\" is not expected here", "an option");
	assert_refused("OPTIONS=(a", 11, "the reply ends here", "\",\" or \")\"");
	assert_refused("OPTIONS=(a=(b)", 15, "the reply ends here", "\",\" or \")\"");
	assert_refused("OPTIONS=a=(b", 13, "the reply ends here", "\")\"");
	assert_refused("OPTIONS=a b", 11, "\"b\" is not expected here", "\",\"");
	assert_refused("OPTIONS=(a))", 12, "\")\" is not expected here", "\",\"");
	assert_refused("OPTIONS=('abc),END", 10, "\"'abc),END\" has no closing quotation mark on its line", "\"'\"");
	memset(long_text, 'x', sizeof long_text);
	memcpy(long_text, "OPTIONS=", 8);
	long_text[8 + CTRACE_MAX_OPTIONS] = '\0';
	answer(long_text);
	assert_int_equal(strlen(sum.options), CTRACE_MAX_OPTIONS);
	long_text[8 + CTRACE_MAX_OPTIONS] = 'x';
	long_text[9 + CTRACE_MAX_OPTIONS] = '\0';
	assert_refused(long_text, 9, "\"xxxxxxxxxxxxxxxxxxxx...\" makes the options too long",
		       "at most 1024 characters in all strings, with a comma between two");
}

/* ---- parse(print(x)) is x ---- */

static unsigned seed = 1;

static unsigned roll(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return seed / 65536u % below;
}

static void make_asids(struct ct_reply *reply)
{
	size_t size = 0;

	for (unsigned i = roll(CTRACE_MAX_FILTER + 1); i > 0; i--)
		size += (size_t)sprintf(reply->asid + size, "%s%X", size == 0 ? "" : ",", 1 + roll(0x7FFF) * 2);
	reply->has_asid = true;
}

static void make_jobnames(struct ct_reply *reply)
{
	static const char letters[] = "AZ09@$#_.=-\"\\";
	char *at = reply->jobname;

	for (unsigned i = roll(CTRACE_MAX_FILTER + 1); i > 0; i--) {
		if (at != reply->jobname)
			*at++ = ',';
		for (unsigned j = 1 + roll(CTRACE_MAX_NAME); j > 0; j--)
			*at++ = letters[roll(11)]; /* without the quotation mark */
	}
	*at = '\0';
	reply->has_jobname = true;
}

static void make_options(struct ct_reply *reply)
{
	static const char letters[] = "aB1 ,()='\t\"\xC3";
	unsigned size = roll(4) == 0 ? CTRACE_MAX_OPTIONS : roll(20);

	for (unsigned i = 0; i < size; i++)
		reply->options[i] = letters[roll(sizeof letters - 1)];
	reply->options[size] = '\0';
	reply->has_options = true;
}

static void round_trip(void **state)
{
	static const char *const writers_of[] = { "A", "CTWABCD", "@#$1", "DISCONNECT" };
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i < 3000; i++) {
		struct ct_reply made;

		memset(&made, 0, sizeof made);
		if (roll(3) != 0)
			make_asids(&made);
		if (roll(3) != 0)
			make_jobnames(&made);
		if (roll(3) != 0)
			make_options(&made);
		made.has_wtr = roll(2) != 0;
		if (made.has_wtr)
			(void)snprintf(made.wtr, sizeof made.wtr, "%s", writers_of[roll(CT_COUNT(writers_of))]);
		made.is_end = roll(2) != 0;
		ct_buf_clear(&text);
		ct_buf_add_text(&text, "R 1,");
		ct_reply_print(&made, &text);
		answer(ct_buf_text(&text) + 4);
		assert_memory_equal(&sum, &made, sizeof sum);
	}
	ct_buf_fini(&text);
}

static void printed(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	answer("asid=(1,2f),jobname=(),options=(it,'''s'),wtr=disconnect,end");
	ct_reply_print(&sum, &text);
	assert_string_equal(ct_buf_text(&text), "ASID=(1,2F),JOBNAME=(),OPTIONS=('it,''s'),WTR=DISCONNECT,END");
	ct_buf_clear(&text);
	answer("");
	ct_reply_print(&sum, &text);
	assert_string_equal(ct_buf_text(&text), "");
	ct_buf_clear(&text);
	answer("OPTIONS=()");
	ct_reply_print(&sum, &text);
	assert_string_equal(ct_buf_text(&text), "OPTIONS=()");
	ct_buf_clear(&text);
	answer("OPTIONS=(ORDERS,USER=(ANNA,BERT)),CONT"); /* as it was typed */
	ct_reply_print(&sum, &text);
	assert_string_equal(ct_buf_text(&text), "OPTIONS=(ORDERS,USER=(ANNA,BERT))");
	ct_buf_clear(&text);
	answer("OPTIONS=('lower, and blanks')");
	ct_reply_print(&sum, &text);
	assert_string_equal(ct_buf_text(&text), "OPTIONS=('lower, and blanks')");
	ct_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters),  cmocka_unit_test(options),         cmocka_unit_test(writers),
		cmocka_unit_test(mistakes), cmocka_unit_test(several_replies), cmocka_unit_test(mistakes_in_options),
		cmocka_unit_test(printed),  cmocka_unit_test(round_trip),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
