/*
 * test_operator_trace.c - TRACE CT: its states and operands, writers, and what is not TRACE CT.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static const char operands[] = "COMP=, SUB= or PARM=";
static const char states[] = "ON, OFF, a size (1K to 9999K, 1M to 2047M), WTRSTART= or WTRSTOP=";

static void assert_trace(const char *text, uint32_t state, uint64_t bufsize, const char *component,
			 const char *sub, const char *member)
{
	parse(text);
	assert_int_equal(command.kind, CT_OPERATOR_TRACE_CT);
	assert_int_equal(command.state, state);
	assert_int_equal(command.bufsize, bufsize);
	assert_string_equal(command.component, component);
	assert_int_equal(command.has_sub, sub != NULL);
	assert_string_equal(command.sub, sub != NULL ? sub : "");
	assert_string_equal(command.member, member);
	assert_string_equal(command.job, "");
	assert_int_equal(command.name_count, 0);
	assert_false(command.has_comp || command.has_wtr || command.has_wrap ||
		     command.has_reply_id);
}

static void traces(void **state)
{
	(void)state;
	assert_trace("TRACE CT,ON,COMP=SYSXCF", CTRACE_CT_ON, 0, "SYSXCF", NULL, "");
	assert_trace("T CT,OFF,COMP=SYSXCF", CTRACE_CT_OFF, 0, "SYSXCF", NULL, "");
	assert_trace("TRACE CT,,COMP=ABC,PARM=CTXABC02", CTRACE_CT_NONE, 0, "ABC", NULL,
		     "CTXABC02");
	assert_trace("TRACE CT, , PARM=ctxabc02, COMP=abc", CTRACE_CT_NONE, 0, "ABC", NULL,
		     "CTXABC02");
	assert_trace("trace ct,on,comp=sysxcf,parm=ctixcf00,sub=(a)", CTRACE_CT_ON, 0, "SYSXCF",
		     "A", "CTIXCF00");
	assert_trace("TRACE CT,64K,COMP=ABC", CTRACE_CT_ON, 65536, "ABC", NULL, "");
	assert_trace("TRACE CT,0008m,SUB=(TCPIP),COMP=SYSTCPIP", CTRACE_CT_ON, 8 << 20, "SYSTCPIP",
		     "TCPIP", "");
	assert_trace("TRACE CT,ON,COMP=mf.rts", CTRACE_CT_ON, 0, "mf.rts", NULL, "");
	assert_trace("TRACE CT,OFF,COMP=mf.*", CTRACE_CT_OFF, 0, "mf.*", NULL, "");
	assert_trace("TRACE CT,OFF,COMP=(ABC),PARM=(X)", CTRACE_CT_OFF, 0, "ABC", NULL, "X");
	/* a name like any other */
	assert_trace("TRACE CT,ON,COMP=ALL", CTRACE_CT_ON, 0, "ALL", NULL, "");
}

static void patterns_of_sublevels(void **state)
{
	static const char expected[] =
		"1 to 18 of A-Z 0-9 $ @ #, no digit first (in quotation marks also a-z _), ASID(number) or JOBNAME(name)";

	(void)state;
	assert_trace("TRACE CT,OFF,COMP=ABC,SUB=(n*. ?b)", CTRACE_CT_OFF, 0, "ABC", "N*.?B", "");
	assert_diagnostic("TRACE CT,OFF,COMP=ABC,SUB=(N*-)", 28, "\"N*-\" is not a sublevel name",
			  expected);
	assert_diagnostic("TRACE CT,OFF,COMP=ABC,SUB=('N*')", 29, "\"N*\" is not a sublevel name",
			  expected);
	/* it shows one */
	assert_diagnostic("D TRACE,COMP=ABC,SUB=(N*)", 23, "\"N*\" is not a sublevel name",
			  expected);
}

static void diagnostics_in_states(void **state)
{
	static const char no_parm[] =
		"ON, OFF or a size; with PARM= also nothing between two commas";

	(void)state;
	assert_diagnostic("TRACE CT", 9, "the command ends here",
			  "\",\", and then ON, OFF, a size, WTRSTART= or WTRSTOP=");
	assert_diagnostic("TRACE CT ON", 10, "\"ON\" is not expected here",
			  "\",\", and then ON, OFF, a size, WTRSTART= or WTRSTOP=");
	assert_diagnostic("TRACE CT,", 10, "the command ends here", states);
	assert_diagnostic("TRACE CT,ONN,COMP=A", 10, "\"ONN\" is not a state", states);
	assert_diagnostic("TRACE CT,WTRSTRAT=A", 10,
			  "\"WTRSTRAT\" is not a state (did you mean WTRSTART?)", states);
	assert_diagnostic("TRACE CT,(ON),COMP=A", 10, "\"(\" is not expected here", states);
	assert_diagnostic("TRACE CT,COMP=A", 10, "\"COMP\" stands where the state belongs",
			  no_parm);
	assert_diagnostic("TRACE CT,PARM=A,COMP=A", 10, "\"PARM\" stands where the state belongs",
			  no_parm);
	assert_diagnostic("TRACE CT,,COMP=A", 10, "without PARM the state is missing",
			  "ON, OFF or a size");
	assert_diagnostic("TRACE CT,,SUB=(A), COMP=A", 10, "without PARM the state is missing",
			  "ON, OFF or a size");
	assert_diagnostic("TRACE CT,10000K,COMP=A", 10, "\"10000K\" is longer than 5 characters",
			  "1K to 9999K or 1M to 2047M");
	assert_diagnostic("TRACE CT,64,COMP=A", 10, "\"64\" does not end with K or M",
			  "1K to 9999K or 1M to 2047M");
	assert_diagnostic("TRACE CT,0K,COMP=A", 10,
			  "\"0K\" is not a size from 1K to 9999K or from 1M to 2047M",
			  "1K to 9999K or 1M to 2047M");
}

static void diagnostics_in_operands(void **state)
{
	(void)state;
	assert_diagnostic("TRACE CT,ON", 12, "the command ends here", "\",COMP=name\"");
	assert_diagnostic("TRACE CT,", 10, "the command ends here", states);
	assert_diagnostic("TRACE CT,ON,", 13, "the command ends here", operands);
	assert_diagnostic("TRACE CT,ON,COMP=A,", 20, "the command ends here", "SUB= or PARM=");
	assert_diagnostic("TRACE CT,ON,SUB=(A)", 20, "COMP is missing", "\",COMP=name\"");
	assert_diagnostic("TRACE CT,ON,COPM=A", 13,
			  "\"COPM\" is not an operand of TRACE CT (did you mean COMP?)", operands);
	assert_diagnostic("TRACE CT,ON,COMP=A,ASID=(1)", 20,
			  "\"ASID\" is not an operand of TRACE CT", "SUB= or PARM=");
	assert_diagnostic("TRACE CT,ON,COMP=A,OFF", 20, "\"OFF\" is not an operand of TRACE CT",
			  "SUB= or PARM=");
	assert_diagnostic("TRACE CT,ON,COMP=A,SUB=(A),PARM=A,X", 35,
			  "\"X\" is not an operand of TRACE CT", "nothing more");
	assert_diagnostic("TRACE CT,ON,COMP=A,comp=B", 20, "\"comp\" is there already",
			  "each operand once");
	assert_diagnostic("TRACE CT,ON,COMP=A,WTRSTART=B", 20,
			  "\"WTRSTART\" is not an operand of TRACE CT", "SUB= or PARM=");
	assert_diagnostic("TRACE CT,ON,COMP A", 18, "\"A\" is not expected here", "\"=\"");
	assert_diagnostic("TRACE CT,ON,COMP(A)", 17, "\"(\" is not expected here", "\"=\"");
	assert_diagnostic("TRACE CT,ON,COMP=A SUB=(A)", 20, "\"SUB\" is not expected here",
			  "\",\"");
	assert_diagnostic("TRACE CT,ON,COMP=A)", 19, "\")\" is not expected here", "\",\"");
	assert_diagnostic("TRACE CT,ON COMP=A", 13, "\"COMP\" is not expected here",
			  "\",COMP=name\"");
	assert_diagnostic("TRACE CT,ON,COMP=(A,B)", 21, "\"B\" is one too many", "one component");
	assert_diagnostic("TRACE CT,ON,COMP=A,PARM=", 25, "the command ends here",
			  "a member's name");
	assert_diagnostic("TRACE CT,ON,COMP=A,PARM=(,)", 26, "\",\" is not expected here",
			  "a member's name");
	assert_diagnostic("TRACE CT,ON,COMP=A,PARM=(B", 27, "the command ends here", "\")\"");
	assert_diagnostic("TRACE CT,ON,COMP=A,PARM=CTXABC021", 25,
			  "\"CTXABC021\" is not a member's name",
			  "1 to 8 of A-Z 0-9 @ # $, no digit first");
	assert_diagnostic("TRACE CT,ON,COMP=A,PARM=1", 25, "\"1\" is not a member's name",
			  "1 to 8 of A-Z 0-9 @ # $, no digit first");
}

static void writers(void **state)
{
	(void)state;
	parse("TRACE CT,WTRSTART=ctw");
	assert_string_equal(command.member, "CTW");
	assert_false(command.has_wrap || command.nowrap);
	parse("TRACE CT,WTRSTART=CTWABCD,WRAP");
	assert_true(command.has_wrap && !command.nowrap);
	parse("T CT,wtrstart=(CTW) , nowrap");
	assert_true(command.has_wrap && command.nowrap);
	parse("TRACE CT,WTRSTOP=ctwjob01");
	assert_string_equal(command.job, "CTWJOB01");
	assert_false(command.noflush);
	parse("TRACE CT,WTRSTOP=CTW,FLUSH");
	assert_false(command.noflush);
	parse("TRACE CT,WTRSTOP=CTW,NOFLUSH");
	assert_true(command.noflush);
}

static void diagnostics_of_writers(void **state)
{
	(void)state;
	assert_diagnostic("TRACE CT,WTRSTART", 18, "the command ends here", "\"=\"");
	assert_diagnostic("TRACE CT,WTRSTART=", 19, "the command ends here", "a writer's name");
	assert_diagnostic("TRACE CT,WTRSTOP=,FLUSH", 18, "\",\" is not expected here",
			  "a job's name");
	assert_diagnostic("TRACE CT,WTRSTOP", 17, "the command ends here", "\"=\"");
	assert_diagnostic("TRACE CT,WTRSTART=ABCDEFGH", 19, "\"ABCDEFGH\" is not a writer's name",
			  "1 to 7 of A-Z 0-9 $ @ #, no digit first");
	assert_diagnostic(
		"TRACE CT,WTRSTOP=ABCDEFGHI", 18, "\"ABCDEFGHI\" is longer than 8 characters",
		"a job name of 1 to 8 characters: no blank, comma, parenthesis, quotation mark, * or ?");
	assert_diagnostic("TRACE CT,WTRSTART=A,COMP=B", 21,
			  "\"COMP\" is not an operand of TRACE CT,WTRSTART", "WRAP or NOWRAP");
	assert_diagnostic("TRACE CT,WTRSTART=A,NOFLUSH", 21,
			  "\"NOFLUSH\" is not an operand of TRACE CT,WTRSTART", "WRAP or NOWRAP");
	assert_diagnostic("TRACE CT,WTRSTOP=A,FULSH", 20,
			  "\"FULSH\" is not an operand of TRACE CT,WTRSTOP (did you mean FLUSH?)",
			  "FLUSH or NOFLUSH");
	assert_diagnostic("TRACE CT,WTRSTART=A,WRAP,NOWRAP", 26, "\"NOWRAP\" contradicts WRAP",
			  "each operand once");
	assert_diagnostic("TRACE CT,WTRSTART=A,WRAP,wrap", 26, "\"wrap\" is there already",
			  "each operand once");
	assert_diagnostic("TRACE CT,WTRSTART=A,", 21, "the command ends here", "WRAP or NOWRAP");
	assert_diagnostic("TRACE CT,WTRSTART=A WRAP", 21, "\"WRAP\" is not expected here", "\",\"");
}

static void other_traces(void **state)
{
	static const char expected[] = "TRACE CT, or DISPLAY TRACE to see what is traced";

	(void)state;
	assert_diagnostic("TRACE", 6, "the command ends here", "CT");
	assert_diagnostic("TRACE,CT", 6, "\",\" is not expected here", "CT");
	assert_diagnostic("TRACE ST,64K", 7, "\"ST\" is the system trace: only TRACE CT is here",
			  expected);
	assert_diagnostic("TRACE STATUS", 7,
			  "\"STATUS\" is about other traces: only TRACE CT is here", expected);
	assert_diagnostic("T tt,OFF=ALL", 3, "\"tt\" is transaction trace: only TRACE CT is here",
			  expected);
	assert_diagnostic("TRACE ON", 7, "\"ON\" is not CT: only TRACE CT is here", expected);
}

int test_operator_trace(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces),
		cmocka_unit_test(patterns_of_sublevels),
		cmocka_unit_test(diagnostics_in_states),
		cmocka_unit_test(diagnostics_in_operands),
		cmocka_unit_test(writers),
		cmocka_unit_test(diagnostics_of_writers),
		cmocka_unit_test(other_traces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
