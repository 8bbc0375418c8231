/*
 * test_ipcs_parse.c - subcommands, what must hold of their operands together, and errors with their
 * place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void continuation_and_comments(void **state)
{
	(void)state;
	assert_means("CTRACE COMP(X) -\n  FULL", "CTRACE comp(x) full");
	assert_means("CTRACE COMP(X) FU+\n    LL", "CTRACE comp(x) full");
	assert_means("CTRACE /* the shop */ COMP(X) /* all */", "CTRACE comp(x) short");
	assert_means(" \tCTRACE,COMP ( X ),FULL\r\n", "CTRACE comp(x) full");
	assert_refused("CTRACE COMP(X) -\n  FULLL", CT_ITT_NONE, 2, 3,
		       "\"FULLL\" is not an operand of CTRACE (did you mean FULL?)");
}

static void other_subcommands(void **state)
{
	static const struct {
		const char *text;
		enum ct_ipcs_verb verb;
	} cases[] = {
		{ "MERGE", CT_IPCS_MERGE },
		{ "mergeend", CT_IPCS_MERGEEND },
		{ "END", CT_IPCS_END },
		{ "HELP", CT_IPCS_HELP },
		{ "SETDEF LIST", CT_IPCS_SETDEF },
		{ "SETD DSN(a) NOPR", CT_IPCS_SETDEF },
		{ "STATUS DSN(a)", CT_IPCS_STATUS },
		{ "H itt10012i", CT_IPCS_HELP },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		struct ct_ipcs_command command;

		parse_good(cases[i].text, &command);
		assert_int_equal(command.verb, cases[i].verb);
		if (command.verb == CT_IPCS_HELP && command.topic[0] != '\0')
			assert_string_equal(command.topic, "ITT10012I");
		ct_ipcs_command_fini(&command);
	}
	assert_refused("END X", CT_ITT_NONE, 1, 5, "\"X\" is not expected here");
	assert_refused("GTFTRACE", CT_ITT_NONE, 1, 1, "there are no GTF traces");
	assert_refused("CTRCE COMP(X)", CT_ITT_NONE, 1, 1, "did you mean CTRACE?");
	assert_refused("", CT_ITT_NONE, 1, 1, "is no subcommand");
}

static void copytrc(void **state)
{
	struct ct_ipcs_command command;

	(void)state;
	parse_good(
		"COPYTRC TYPE(CTRACE) INDATASET(a,b) OUTDSNAME(c) SPACE(1,2) OPTIONS((COMP(X) SUB((Y)) START(01/02/99) LOCAL))",
		&command);
	assert_int_equal(command.verb, CT_IPCS_COPYTRC);
	assert_int_equal(command.sources.count, 2);
	assert_string_equal(command.out.at[0], "c");
	assert_string_equal(command.component, "X");
	assert_string_equal(command.sub, "Y");
	assert_true(command.has_start && command.is_local);
	ct_ipcs_command_fini(&command);
	assert_refused("COPYTRC INFILE(a)", CT_ITT_NONE, 1, 18, "the command ends here");
	assert_refused("COPYTRC TYPE(GTF) OUTFILE(b)", CT_ITT_NONE, 1, 14, "\"GTF\" is no type");
	assert_refused("COPYTRC OUTFILE(a,b)", CT_ITT_NONE, 1, 17, "is more than one");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP))", CT_ITT10017I, 1, 29, "has no value");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP(X)", CT_ITT10017I, 1, 27,
		       "\"(\" is not closed");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP()))", CT_ITT10017I, 1, 34,
		       "nothing stands between");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS", CT_ITT_NONE, 1, 20, "has no value");
	assert_refused("COPYTRC OUTFILE(b", CT_ITT_NONE, 1, 16, "\"(\" is not closed");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP(X) FULL))", CT_ITT10018I, 1, 37,
		       "is not an option of COPYTRC");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((START(01/02/99) STOP(01/01/99)))", CT_ITT10011I,
		       1, 50, "is before START");
}

static void diagnostics(void **state)
{
	(void)state;
	assert_refused("CTRACE", CT_ITT_NONE, 1, 7, "the command ends here");
	assert_refused("CTRACE COMP(X) QUERY", CT_ITT10001I, 1, 16, "cannot stand");
	assert_refused("CTRACE QUERY COMP(X)", CT_ITT10001I, 1, 14, "cannot stand");
	assert_refused("CTRACE COMP(X) FULL SHORT", CT_ITT_NONE, 1, 21,
		       "\"SHORT\" contradicts or repeats FULL");
	assert_refused("CTRACE COMP(X) COMP(Y)", CT_ITT_NONE, 1, 16, "contradicts or repeats COMP");
	assert_refused("CTRACE COMP(X) ACTIVE DSN(a)", CT_ITT_NONE, 1, 23,
		       "contradicts or repeats ACTIVE");
	assert_refused("CTRACE COMP", CT_ITT_NONE, 1, 8, "\"COMP\" has no value");
	assert_refused("CTRACE COMP()", CT_ITT_NONE, 1, 13,
		       "nothing stands between the parentheses");
	assert_refused("CTRACE COMP(X", CT_ITT_NONE, 1, 12, "\"(\" is not closed");
	assert_refused("CTRACE COMP(X Y)", CT_ITT_NONE, 1, 13, "is more than one name");
	assert_refused("CTRACE COMP(X))", CT_ITT_NONE, 1, 15, "\")\" is not expected here");
	assert_refused("CTRACE COMP(X) FULL(1)", CT_ITT_NONE, 1, 20, "\"(\" is not expected here");
	assert_refused("CTRACE COMP(X) SUB((A.B.C.D.E.F))", CT_ITT10014I, 1, 21,
		       "is more than 5 names");
	assert_refused("CTRACE COMP(X) SUB((A..B))", CT_ITT_NONE, 1, 21, "has an empty name");
	assert_refused("CTRACE QUERY SUB((A))", CT_ITT_NONE, 1, 14, "has no component");
	assert_refused("CTRACE COMP(X) START(11/15/23) STOP(11/14/23)", CT_ITT10011I, 1, 37,
		       "is before START");
	assert_refused("CTRACE COMP(X) START(02/30/23)", CT_ITT_NONE, 1, 22,
		       "is no day of the calendar");
	assert_refused("CTRACE COMP(X) USEREXIT(a/b)", CT_ITT_NONE, 1, 25, "is no exit's name");
	assert_refused("CTRACE COMP(X) \x01", CT_ITT_NONE, 1, 16,
		       "a control character is not text");
}

static void long_names(void **state)
{
	char text[700] = "CTRACE COMP(", name[301];

	(void)state;
	memset(name, 'A', 300);
	name[300] = '\0';
	(void)snprintf(text, sizeof text, "CTRACE COMP(X) SUB((%s))", name);
	assert_refused(text, CT_ITT10014I, 1, 21, "is longer than 255 characters");
	name[254] = '\0';
	(void)snprintf(text, sizeof text, "CTRACE COMP(X) SUB((%s))", name);
	assert_refused(text, CT_ITT10014I, 1, 16, "makes a name of more than 255 characters");
	name[253] = '\0';
	(void)snprintf(text, sizeof text, "CTRACE COMP(X) SUB((%s))", name);
	{
		struct ct_ipcs_command command;

		parse_good(text, &command);
		assert_int_equal(strlen(command.sub), 253);
		ct_ipcs_command_fini(&command);
	}
}

static void words_of_a_command_line(void **state)
{
	(void)state;
	assert_true(ct_ipcs_is_command("CTRACE COMP(X)") && ct_ipcs_is_command("query(x)") &&
		    ct_ipcs_is_command("MERGE"));
	assert_true(ct_ipcs_is_command("CTRACE\nCOMP(X)"));
	assert_false(ct_ipcs_is_command("CTRACES") || ct_ipcs_is_command("ctrace.ctb") ||
		     ct_ipcs_is_command("") || ct_ipcs_is_command("./merge"));
	assert_true(ct_ipcs_may_be_command("CTRAEC COMP(X) FULL") &&
		    ct_ipcs_may_be_command("ctr comp(x)") && ct_ipcs_may_be_command("QUREY(X)"));
	assert_false(ct_ipcs_may_be_command("CTRAEC") || ct_ipcs_may_be_command("traces (old)") ||
		     ct_ipcs_may_be_command("(x)") || ct_ipcs_may_be_command("") ||
		     ct_ipcs_may_be_command("/ctr (old)/COMP(X)"));
}

int test_ipcs_parse(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(continuation_and_comments),
		cmocka_unit_test(other_subcommands),
		cmocka_unit_test(copytrc),
		cmocka_unit_test(diagnostics),
		cmocka_unit_test(long_names),
		cmocka_unit_test(words_of_a_command_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
