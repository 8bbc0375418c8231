/*
 * test_operator_values.c - COMP and SUB as an operator writes them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

static const char sub_expected[] =
	"1 to 18 of A-Z 0-9 $ @ #, no digit first (in quotation marks also a-z _), ASID(number) or JOBNAME(name)";

static void with_comp(const char *comp, char out_text[CT_OPERATOR_LINE])
{
	(void)snprintf(out_text, CT_OPERATOR_LINE, "T CT,ON,COMP=%s", comp);
}

static void with_sub(const char *sub, char out_text[CT_OPERATOR_LINE])
{
	(void)snprintf(out_text, CT_OPERATOR_LINE, "T CT,ON,COMP=A,SUB=%s", sub);
}

static void assert_comp(const char *written, const char *name)
{
	char text[CT_OPERATOR_LINE];

	with_comp(written, text);
	parse(text);
	assert_string_equal(command.component, name);
}

/* column: from the first byte behind COMP= on */
static void assert_comp_diagnostic(const char *written, unsigned column, const char *message,
				   const char *expected)
{
	char text[CT_OPERATOR_LINE];

	with_comp(written, text);
	assert_diagnostic(text, column + 13, message, expected);
}

static void assert_sub(const char *written, const char *path)
{
	char text[CT_OPERATOR_LINE];

	with_sub(written, text);
	parse(text);
	assert_true(command.has_sub);
	assert_string_equal(command.sub, path);
}

static void assert_sub_diagnostic(const char *written, unsigned column, const char *message,
				  const char *expected)
{
	char text[CT_OPERATOR_LINE];

	with_sub(written, text);
	assert_diagnostic(text, column + 19, message, expected);
}

static void names(void **state)
{
	(void)state;
	assert_comp("sysxcf", "SYSXCF");
	assert_comp("a@#$1", "A@#$1");
	assert_comp("mf.rts", "mf.rts");
	assert_comp("a_b", "a_b"); /* none of component trace, so it stays as it is */
	assert_comp("ninechars", "ninechars");
	assert_comp("'a_B, (c)=d'", "a_B, (c)=d");
	assert_comp("'sysxcf'", "sysxcf");
	assert_comp("'it''s'", "it's");
	assert_comp("'''a'", "'a");
	assert_comp("'a'''", "a'");
	assert_comp("''''", "'");
	assert_comp("( 'a' )", "a");
	assert_comp("\xC3\xA4", "\xC3\xA4");
}

static void long_names(void **state)
{
	char name[CTRACE_MAX_COMPONENT + 2];
	char quoted[CTRACE_MAX_COMPONENT + 4];
	const char *shown = "\"nnnnnnnnnnnnnnnnnnnn...\" is too long";

	(void)state;
	memset(name, 'n', sizeof name);
	name[CTRACE_MAX_COMPONENT] = '\0';
	assert_comp(name, name);
	(void)snprintf(quoted, sizeof quoted, "'%s'", name);
	assert_comp(quoted, name);
	name[CTRACE_MAX_COMPONENT] = 'n';
	name[CTRACE_MAX_COMPONENT + 1] = '\0';
	assert_comp_diagnostic(name, 1, shown, "at most 255 bytes");
	(void)snprintf(quoted, sizeof quoted, "'%s'", name);
	assert_comp_diagnostic(quoted, 1, "\"'nnnnnnnnnnnnnnnnnnn...\" is too long",
			       "at most 255 bytes");
}

static void diagnostics_in_names(void **state)
{
	static const char expected[] = "a name, or names with dots between";

	(void)state;
	assert_comp_diagnostic("", 1, "the command ends here", "the name of a component");
	assert_comp_diagnostic(",SUB=(A)", 1, "\",\" is not expected here",
			       "the name of a component");
	assert_comp_diagnostic("=A", 1, "\"=\" is not expected here", "the name of a component");
	assert_comp_diagnostic("A=B", 2, "\"=\" is not expected here", "\",\"");
	assert_comp_diagnostic(".A", 1, "\".A\" is not the name of a component", expected);
	assert_comp_diagnostic("A..B", 1, "\"A..B\" is not the name of a component", expected);
	assert_comp_diagnostic("A.", 1, "\"A.\" is not the name of a component", expected);
	assert_comp_diagnostic("''", 1, "\"''\" is not the name of a component", expected);
	assert_comp_diagnostic("'A,SUB=(B)", 1,
			       "\"'A,SUB=(B)\" has no closing quotation mark on its line", "\"'\"");
	assert_comp_diagnostic("'A'B'", 4, "\"B\" is not expected here", "\",\"");
	assert_comp_diagnostic("'A'''B'", 6, "\"B\" is not expected here", "\",\"");
}

static void paths(void **state)
{
	(void)state;
	assert_sub("(A)", "A");
	assert_sub("A", "A");
	assert_sub("(a.b)", "A.B");
	assert_sub("a.b.c.d.e", "A.B.C.D.E");
	assert_sub("( A . B )", "A.B");
	assert_sub("(ASID(1F))", "ASID(1F)");
	assert_sub("asid(1f)", "ASID(1F)");
	assert_sub("(x.jobname( job1 ))", "X.JOBNAME(JOB1)");
	assert_sub("('a_b')", "'a_b'");
	assert_sub("'a_b'", "'a_b'");
	assert_sub("(tcp.'A_b'.x)", "TCP.'A_b'.X");
	assert_sub("(\"a_b\".c)", "\"a_b\".C");
	assert_sub("A,PARM=X", "A");
	assert_string_equal(command.member, "X");
	assert_sub("(A) , PARM = X", "A");
	assert_sub("ASID(1) , PARM = X", "ASID(1)");
	assert_string_equal(command.member, "X");
}

static void diagnostics_in_paths(void **state)
{
	char long_sub[300];

	(void)state;
	assert_sub_diagnostic("", 1, "a name is missing", sub_expected);
	assert_sub_diagnostic("()", 2, "a name is missing", sub_expected);
	assert_sub_diagnostic("(A", 1, "\"(\" is not closed", "\")\"");
	assert_sub_diagnostic("(ASID(1)", 1, "\"(\" is not closed", "\")\"");
	assert_sub_diagnostic("ASID(1", 5, "\"(\" is not closed", "\")\"");
	assert_sub_diagnostic("(A))", 4, "\")\" is not expected here", "\",\"");
	assert_sub_diagnostic("A)", 2, "\")\" is not expected here", "\",\"");
	assert_sub_diagnostic("(A).B", 4, "\".B\" is not expected here", "\",\"");
	assert_sub_diagnostic("('a_b)", 2, "\"'a_b)\" has no closing quotation mark on its line",
			      "\"'\"");
	assert_sub_diagnostic("(A.", 1, "\"(\" is not closed", "\")\"");
	assert_sub_diagnostic("(A.)", 4, "a name is missing", sub_expected);
	assert_sub_diagnostic("(A,B)", 2, "\"A,B\" is not a sublevel name", sub_expected);
	assert_sub_diagnostic("(a_b)", 2,
			      "\"A_B\" has lower case letters or _ outside quotation marks",
			      sub_expected);
	assert_sub_diagnostic("(A.ASID(0))", 9, "\"0\" is zero",
			      "1 to 4 hexadecimal digits, 1 to FFFF");
	assert_sub_diagnostic("(A.B.C.D.E.F)", 11, "\".F\" is more than 5 names", sub_expected);
	assert_sub_diagnostic("(ABCDEFGHIJKLMNOPQRS)", 2,
			      "\"ABCDEFGHIJKLMNOPQRS\" is longer than 18 characters", sub_expected);
	memset(long_sub, ' ', sizeof long_sub);
	long_sub[0] = '(';
	(void)snprintf(long_sub + 260, 3, "A)");
	assert_sub_diagnostic(long_sub, 2, "\"                    ...\" is too long",
			      "at most 255 bytes");
}

int test_operator_values(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(long_names),
		cmocka_unit_test(diagnostics_in_names),
		cmocka_unit_test(paths),
		cmocka_unit_test(diagnostics_in_paths),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
