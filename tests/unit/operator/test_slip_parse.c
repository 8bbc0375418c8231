/*
 * test_slip_parse.c - what a trap of SLIP SET is as a trigger, and what is refused, where and why.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static void traps(void **state)
{
	/* clang-format off */
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "SLIP SET,ID=A,COMP=shop,END", "when component == 'SHOP' limit 1 do dump" },
		{ "SLIP SET,ID=A,COMP=SH*,END", "when component ~ 'SH*' limit 1 do dump" },
		{ "SLIP SET,ID=A,COMP=SH?P,SUB=(A),A=STOP,END", "when component ~ 'SH?P.A' do stop" },
		{ "SLIP SET,ID=A,COMP='it''s',END", "when component == 'it''s' limit 1 do dump" },
		{ "SL SET,ID=A,ENTRYID=4294967295,ML=007,DISABLE,END",
		  "disabled when event == 4294967295 limit 7 do dump" },
		{ "SLIP SET,ID=A,ENTRYID=000,DATA=(4096,LIKE,'bo*'),A=(STOP,TRACE),END",
		  "when event == 0 && data4096 ~ 'bo*' do stop,level:debug:60s" },
		{ "SLIP SET,ID=A,DATA=( 1 , EQ , 'it''s' ),ACTION=STOP,END", "when data1 == 'it''s' do stop" },
		{ "SLIP SET,ID=A,DA=(1,GE,-0x1F),A=STOP,END", "when data1 >= -0x1F do stop" },
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		parse(cases[i].line);
		assert_int_equal(command.kind, CT_OPERATOR_SLIP_SET);
		assert_string_equal(command.slip_id, "A");
		assert_string_equal(command.slip_text, cases[i].text);
	}
	parse("SLIP DEL,ID=ab,END");
	assert_int_equal(command.kind, CT_OPERATOR_SLIP_DEL);
	assert_string_equal(command.slip_id, "AB");
}

static void refused(void **state)
{
	static const char operands[] =
		"ID=, ACTION=, COMP=, SUB=, ENTRYID=, DATA=, MATCHLIM=, JOBNAME=, ENABLE, DISABLE or END";
	static const char number[] = "a number such as 5, -1 or 0x1F, or 'text'";
	/* clang-format off */
	static const struct {
		const char *line;
		unsigned column;
		const char *message, *expected;
	} cases[] = {
		{ "SLIP SET,ID=A,ACTON=SVCD,END", 15, "\"ACTON\" is not an operand of SLIP (did you mean ACTION?)", operands },
		{ "SLIP SET,ID=A,ASID=1,END", 15, "\"ASID\" is about storage and errors of z/OS", operands },
		{ "SLIP SET,IF,ID=A,END", 10, "\"IF\" is about storage and errors of z/OS", operands },
		{ "SLIP SET,ID=A,ML=0,END", 18, "\"0\" is not such a number", "1 to 999999999" },
		{ "SLIP SET,ID=A,ENTRYID=4294967296,END", 23, "\"4294967296\" is not such a number", "0 to 4294967295" },
		{ "SLIP SET,ID=A,ENTRYID=X'10',END", 23, "\"X'10'\" is not such a number", "0 to 4294967295" },
		{ "SLIP SET,ID=A,A=(SVCD,STOP,TRACE,STOP,SVCD),END", 39, "\"SVCD\" is one too many", "at most 4 actions" },
		{ "SLIP SET,ID=A,DATA=(0,EQ,1),END", 21, "\"0\" is not the number of an item", "1 to 4096; the first item is 1" },
		{ "SLIP SET,ID=A,DATA=(4097,EQ,1),END", 21, "\"4097\" is not the number of an item", "1 to 4096; the first item is 1" },
		{ "SLIP SET,ID=A,DATA=(1,IS,1),END", 23, "\"IS\" is not a comparison", "EQ, NE, GT, LT, GE, LE or LIKE" },
		{ "SLIP SET,ID=A,DATA=(1,EQ,abc),END", 26, "\"abc\" is neither a number nor a text in quotation marks", number },
		{ "SLIP SET,ID=A,DATA=(1,EQ,1.5),END", 26, "\"1.5\" is neither a number nor a text in quotation marks", number },
		{ "SLIP SET,ID=A,DATA=(1,EQ,0x),END", 26, "\"0x\" is neither a number nor a text in quotation marks", number },
		{ "SLIP SET,ID=A,DATA=(1,LIKE,5),END", 28, "\"5\" is not a text in quotation marks", "a pattern such as 'bo*'" },
		{ "SLIP SET,ID=A,DATA=(1,GT,'a'),END", 26, "\"'a'\" has no order: it is a text", "a number; EQ, NE and LIKE compare texts" },
		{ "SLIP SET,ID=A,DATA=(1,EQ,-9223372036854775809),END", 26, "can never match: \"-9223372036854775809\"", "what a number of 64 bits can fit" },
		{ "SLIP SET,ID=A,SUB=(B),END", 15, "\"SUB\" is for the component of COMP", "COMP= with it" },
		{ "SLIP SET,ID=A,END", 18, "nothing says what the trap matches", "COMP=, ENTRYID= or DATA=" },
		{ "SLIP SET,ID=A,COMP=B,COMP=C,END", 22, "\"COMP\" is there already", "each operand once" },
		{ "SLIP SET,ID=A,ML=3,MATCHLIM=4,END", 20, "\"MATCHLIM\" contradicts ML", "each operand once" },
		{ "SLIP SET,ID=A,COMP=B,EN,D,END", 25, "\"D\" contradicts EN", "each operand once" },
		{ "SLIP MOD,EN,DISABLE,ID=A", 13, "\"DISABLE\" contradicts EN", "each operand once" },
		{ "SLIP DEL,ID=A,ID=B", 15, "\"ID\" is there already", "each operand once" },
		{ "SLIP SET,ID=ABCDE,COMP=A,END", 13, "\"ABCDE\" is not the id of a trap", "1 to 4 letters, digits, _ and -" },
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++)
		assert_diagnostic(cases[i].line, cases[i].column, cases[i].message,
				  cases[i].expected);
}

int test_slip_parse(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traps),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
