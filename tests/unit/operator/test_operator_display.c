/*
 * test_operator_display.c - DISPLAY TRACE and DISPLAY R.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static const char operands[] = "COMP=, SUB=, N=, SUBLEVEL, WTR=, TT or L=";

static void assert_names(const char *text, const char *names)
{
	char joined[CT_OPERATOR_NAMES * (CTRACE_MAX_COMPONENT + 1)] = "";

	parse(text);
	assert_int_equal(command.kind, CT_OPERATOR_DISPLAY_TRACE);
	assert_true(command.has_comp);
	for (uint32_t i = 0; i < command.name_count; i++) {
		(void)strncat(joined, i == 0 ? "" : "|", sizeof joined - strlen(joined) - 1);
		(void)strncat(joined, command.name[i], sizeof joined - strlen(joined) - 1);
	}
	assert_string_equal(joined, names);
}

static void components(void **state)
{
	(void)state;
	parse("D TRACE");
	assert_false(command.has_comp || command.comp_all || command.has_wtr || command.wtr_all ||
		     command.tt || command.has_n);
	assert_int_equal(command.name_count, 0);
	assert_names("D TRACE,COMP=abc", "ABC");
	assert_false(command.comp_all);
	assert_names("D TRACE,COMP=(A, mf.rts ,'x y')", "A|mf.rts|x y");
	assert_names("D TRACE,COMP=mf.*", "mf.*");
	assert_names("D TRACE,COMP=all", "");
	assert_true(command.comp_all);
	assert_names("D TRACE,COMP=(ALL)", "");
	assert_true(command.comp_all);
	assert_names("D TRACE,COMP='ALL'", "ALL");
	assert_false(command.comp_all);
	assert_names("D TRACE,COMP=(A,ALL)", "A|ALL");
	assert_names("D TRACE,COMP=(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P)",
		     "A|B|C|D|E|F|G|H|I|J|K|L|M|N|O|P");
}

static void other_operands(void **state)
{
	(void)state;
	parse("D TRACE,COMP=A,SUB=(B.c),N=007,SUBLEVEL");
	assert_string_equal(command.sub, "B.C");
	assert_true(command.has_sub && command.has_n && command.sublevel);
	assert_int_equal(command.n, 7);
	parse("D TRACE,SUBLEVEL,N=0,COMP=ALL");
	assert_true(command.has_n && command.sublevel && command.comp_all);
	assert_int_equal(command.n, 0);
	parse("D TRACE,N=999,COMP=A");
	assert_int_equal(command.n, 999);
	parse("D TRACE,WTR=ctw");
	assert_true(command.has_wtr && !command.wtr_all);
	assert_int_equal(command.wtr_count, 1);
	assert_string_equal(command.wtr[0], "CTW");
	parse("D TRACE,WTR=(A,B)");
	assert_int_equal(command.wtr_count, 2);
	assert_string_equal(command.wtr[1], "B");
	parse("D TRACE,wtr=all");
	assert_true(command.wtr_all);
	assert_int_equal(command.wtr_count, 0);
	parse("D TRACE,TT");
	assert_true(command.tt);
	parse("D TRACE,COMP=A,WTR=ALL,TT,L=C1-A");
	assert_true(command.tt && command.wtr_all && command.has_comp);
	parse("D TRACE,L=Z");
}

static void diagnostics(void **state)
{
	(void)state;
	assert_diagnostic("D", 2, "the command ends here", "TRACE, SLIP or R");
	assert_diagnostic("D TRCE", 3,
			  "\"TRCE\" is nothing that is displayed here (did you mean TRACE?)",
			  "TRACE, SLIP or R");
	assert_diagnostic("D T", 3, "\"T\" is nothing that is displayed here", "TRACE, SLIP or R");
	assert_diagnostic("D ,R", 3, "\",\" is not expected here", "TRACE, SLIP or R");
	assert_diagnostic("D TRACE COMP=A", 9, "\"COMP\" is not expected here", "\",\"");
	assert_diagnostic("D TRACE,", 9, "the command ends here", operands);
	assert_diagnostic("D TRACE,WRT=A", 9,
			  "\"WRT\" is not an operand of DISPLAY TRACE (did you mean WTR?)",
			  operands);
	assert_diagnostic(
		"D TRACE,COMP=A,SUBLEVLE", 16,
		"\"SUBLEVLE\" is not an operand of DISPLAY TRACE (did you mean SUBLEVEL?)",
		"SUB=, N=, SUBLEVEL, WTR=, TT or L=");
	assert_diagnostic("D TRACE,COMP=", 14, "the command ends here", "the name of a component");
	assert_diagnostic("D TRACE,COMP=()", 15, "\")\" is not expected here",
			  "the name of a component");
	assert_diagnostic("D TRACE,COMP=(A,)", 17, "\")\" is not expected here",
			  "the name of a component");
	assert_diagnostic("D TRACE,COMP=(A", 16, "the command ends here", "\",\" or \")\"");
	assert_diagnostic("D TRACE,COMP=(A B)", 17, "\"B\" is not expected here", "\",\" or \")\"");
	assert_diagnostic("D TRACE,COMP=(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q)", 47,
			  "\"Q\" is one too many", "at most 16 components");
	assert_diagnostic("D TRACE,SUB=(A)", 9, "\"SUB\" is for one component",
			  "COMP=name with it");
	assert_diagnostic("D TRACE,COMP=(A,B),SUB=(A)", 20, "\"SUB\" is for one component",
			  "COMP=name with it");
	assert_diagnostic("D TRACE,COMP=ALL,SUB=(A)", 18, "\"SUB\" is for one component",
			  "COMP=name with it");
	assert_diagnostic("D TRACE,N=5", 9, "\"N\" is for the components of COMP", "COMP= with it");
	assert_diagnostic("D TRACE,WTR=A,SUBLEVEL", 15,
			  "\"SUBLEVEL\" is for the components of COMP", "COMP= with it");
	assert_diagnostic("D TRACE,COMP=A,N=", 18, "the command ends here", "a number");
	assert_diagnostic("D TRACE,COMP=A,N=1000", 18,
			  "\"1000\" is not a number of one to three digits", "0 to 999");
	assert_diagnostic("D TRACE,COMP=A,N=-1", 18,
			  "\"-1\" is not a number of one to three digits", "0 to 999");
	assert_diagnostic("D TRACE,SUBLEVEL=5,COMP=A", 17, "\"=\" is not expected here", "\",\"");
	assert_diagnostic("D TRACE,TT,TT", 12, "\"TT\" is there already", "each operand once");
	assert_diagnostic("D TRACE,L=", 11, "the command ends here",
			  "an area, a console, or a console and its area");
}

static void diagnostics_of_writers(void **state)
{
	static const char writer[] = "1 to 7 of A-Z 0-9 $ @ #, no digit first";

	(void)state;
	assert_diagnostic("D TRACE,WTR=", 13, "the command ends here", "a writer's name or ALL");
	assert_diagnostic("D TRACE,WTR=(A,", 16, "the command ends here", "a writer's name or ALL");
	assert_diagnostic("D TRACE,WTR=(A", 15, "the command ends here", "\",\" or \")\"");
	assert_diagnostic("D TRACE,WTR=(A,1)", 16, "\"1\" is not a writer's name", writer);
	assert_diagnostic("D TRACE,WTR=ABCDEFGH", 13, "\"ABCDEFGH\" is not a writer's name",
			  writer);
	assert_diagnostic("D TRACE,WTR=(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q)", 46,
			  "\"Q\" is one too many", "at most 16 writers");
}

static void diagnostics_of_replies(void **state)
{
	(void)state;
	assert_diagnostic("D R,", 5, "the command ends here", "L");
	assert_diagnostic("D R,X", 5, "\"X\" is not expected here", "L");
	assert_diagnostic("D R L", 5, "\"L\" is not expected here", "\",L\"");
	assert_diagnostic("D R,L,L", 6, "\",\" is not expected here", "nothing more");
}

int test_operator_display(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(components),
		cmocka_unit_test(other_operands),
		cmocka_unit_test(diagnostics),
		cmocka_unit_test(diagnostics_of_writers),
		cmocka_unit_test(diagnostics_of_replies),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
