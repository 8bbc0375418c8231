/*
 * test_operator.c - which command a line is; replies' numbers; what is no command.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static void nothing(void **state)
{
	static const char *const lines[] = { "",      "  \t ", "\r\n",      "* T CT,ON,COMP=A",
					     "  # x", "/* x",  "*\x01\x02", "#" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(lines); i++) {
		parse(lines[i]);
		assert_int_equal(command.kind, CT_OPERATOR_NONE);
	}
	assert_int_equal(ct_operator_parse(NULL, 0, &command, NULL), CTRACE_OK);
	assert_int_equal(command.kind, CT_OPERATOR_NONE);
	assert_diagnostic("/ x", 1, "\"/\" is not a command",
			  "TRACE CT, DUMP, DISPLAY TRACE, DISPLAY R, SLIP, SET SLIP or REPLY");
}

static void kinds(void **state)
{
	static const struct {
		const char *line;
		enum ct_operator_kind kind;
	} cases[] = {
		{ "TRACE CT,ON,COMP=A", CT_OPERATOR_TRACE_CT },
		{ "t ct,on,comp=a", CT_OPERATOR_TRACE_CT },
		{ "  Trace\tCt , oFF , comp = A  \r\n", CT_OPERATOR_TRACE_CT },
		{ "T CT,WTRSTART=A", CT_OPERATOR_WTRSTART },
		{ "trace ct,wtrstop=a", CT_OPERATOR_WTRSTOP },
		{ "D TRACE", CT_OPERATOR_DISPLAY_TRACE },
		{ "display trace", CT_OPERATOR_DISPLAY_TRACE },
		{ "D R", CT_OPERATOR_DISPLAY_REPLIES },
		{ "Display r,l", CT_OPERATOR_DISPLAY_REPLIES },
		{ "D R , LIST", CT_OPERATOR_DISPLAY_REPLIES },
		{ "R 1,END", CT_OPERATOR_REPLY },
		{ "reply 1", CT_OPERATOR_REPLY },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		parse(cases[i].line);
		assert_int_equal(command.kind, cases[i].kind);
	}
}

/* id -1: none */
static void assert_reply(const char *text, int id, const char *operands, unsigned column)
{
	parse(text);
	assert_int_equal(command.kind, CT_OPERATOR_REPLY);
	assert_int_equal(command.has_reply_id, id >= 0);
	assert_int_equal(command.reply_id, id >= 0 ? id : 0);
	assert_int_equal(command.operands.size, strlen(operands));
	assert_memory_equal(command.operands.at, operands, command.operands.size);
	assert_ptr_equal(command.operands.at, line + column - 1);
}

static void replies(void **state)
{
	(void)state;
	assert_reply("R 01,ASID=(1),END", 1, "ASID=(1),END", 6);
	assert_reply("R 1,", 1, "", 5);
	assert_reply("R01,END", 1, "END", 5);
	assert_reply("reply01,END", 1, "END", 9);
	assert_reply("r9999 , end ", 9999, "end", 9);
	assert_reply("REPLY 0,CONT", 0, "CONT", 9);
	assert_reply("Reply 0001", 1, "", 11);
	assert_reply("R 56 END", 56, "END", 6);
	assert_reply("R ,END", -1, "END", 4);
	assert_reply("R END", -1, "END", 3);
	assert_reply("R", -1, "", 2);
	assert_reply("R 1,options=('T CT', it''s (", 1, "options=('T CT', it''s (", 5);
	assert_diagnostic("R 10000,END", 3, "\"10000\" is not the number of a reply", "0 to 9999");
	assert_diagnostic("R 1A,END", 3, "\"1A\" is not the number of a reply", "0 to 9999");
	assert_diagnostic("R0x1,END", 2, "\"0x1\" is not the number of a reply", "0 to 9999");
}

static void other_words(void **state)
{
	static const char commands[] =
		"TRACE CT, DUMP, DISPLAY TRACE, DISPLAY R, SLIP, SET SLIP or REPLY";

	(void)state;
	assert_diagnostic("  TRCAE CT,ON", 3, "\"TRCAE\" is not a command (did you mean TRACE?)",
			  commands);
	assert_diagnostic("dispaly trace", 1,
			  "\"dispaly\" is not a command (did you mean DISPLAY?)", commands);
	assert_diagnostic("REPLAY 1,END", 1, "\"REPLAY\" is not a command (did you mean REPLY?)",
			  commands);
	assert_diagnostic("RX,END", 1, "\"RX\" is not a command", commands);
	assert_diagnostic("START CTW", 1, "\"START\" is not a command", commands);
	assert_diagnostic(",ON", 1, "\",\" is not expected here", commands);
	assert_diagnostic("\xFF\"\\", 1, "\"\\xFF\\\"\\\\\" is not a command", commands);
}

static void characters(void **state)
{
	static char long_line[CT_OPERATOR_LINE + 2];

	(void)state;
	assert_bytes_diagnostic("T CT\0,ON", 8, 5, "\"\\u{0}\" is a control character", "text");
	assert_diagnostic("T CT,ON\x1B[2J", 8, "\"\\u{1B}\" is a control character", "text");
	assert_diagnostic("T CT,ON,\nCOMP=A", 9, "\"\\n\" is a control character", "text");
	assert_diagnostic("T CT,ON,COMP=A\x7F", 15, "\"\\u{7F}\" is a control character", "text");
	assert_diagnostic("R 1,OPTIONS=('\x01')", 15, "\"\\u{1}\" is a control character", "text");
	memset(long_line, '*', sizeof long_line - 1);
	assert_diagnostic(long_line, CT_OPERATOR_LINE + 1, "the command is too long",
			  "at most 8192 bytes");
	long_line[CT_OPERATOR_LINE] = ' '; /* which is no part of it */
	parse(long_line);
}

static void dump_commands(void **state)
{
	char text[160] = "DUMP COMM=(";

	(void)state;
	parse("DUMP COMM=(a (b) 'c)");
	assert_int_equal(command.kind, CT_OPERATOR_DUMP);
	assert_string_equal(command.title, "a (b) 'c");
	parse("du title = \"x'\" ");
	assert_string_equal(command.title, "x'");
	parse("DUMP COMM=(a), b (c,COMM=)");
	assert_string_equal(command.title, "a), b (c,COMM=");
	assert_diagnostic("DUMP TITLE=(x),COMM=(y)", 16, "\"COMM\" is there already", "one title");
	assert_diagnostic("DUMP COMM='x' , TITLE = 'y'", 17, "\"TITLE\" is there already",
			  "one title");
	assert_diagnostic("DUMP", 5, "the command ends here", "COMM=(title)");
	assert_diagnostic("DUMP DSN=(X)", 6, "\"DSN\" is not an operand of DUMP", "COMM=(title)");
	assert_diagnostic("DUMP COMM=(X", 13, "the title has no end", "\")\"");
	assert_diagnostic("DUMP COMM='X", 13, "the title has no end",
			  "the quotation mark that began it");
	assert_diagnostic("DUMP COMM=X", 11, "\"X\" is not expected here", "(title)");
	memset(text + 11, 'a', 101);
	memcpy(text + 112, ")", 2);
	put_line(text, strlen(text));
	struct ct_diagnostic diagnostic;
	assert_int_not_equal(ct_operator_parse(line, strlen(text), &command, &diagnostic),
			     CTRACE_OK);
	assert_string_equal(diagnostic.expected, "a title of at most 100 bytes");
}

int test_operator(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_commands), cmocka_unit_test(nothing),
		cmocka_unit_test(kinds),         cmocka_unit_test(replies),
		cmocka_unit_test(other_words),   cmocka_unit_test(characters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
