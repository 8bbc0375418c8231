/*
 * test_ipcs_parse.c - every operand of every subcommand, abbreviations, and mistakes with their place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void every_operand_of_ctrace(void **state)
{
	(void)state;
	assert_means("CTRACE COMP(X)", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(APPXYZ) SUB((SUBA.SUBB))", "CTRACE comp(appxyz) sub((suba.subb)) short");
	assert_means("CTRACE SYSNAME(MVS1) COMP(X) SUBNAME(A)", "CTRACE comp(x) sub((a)) sysname(mvs1) short");
	assert_means("CTRACE COMP(X) SHORT", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(X) SUMMARY", "CTRACE comp(x) summary");
	assert_means("CTRACE COMP(X) FULL", "CTRACE comp(x) full");
	assert_means("CTRACE COMP(X) TALLY", "CTRACE comp(x) tally");
	assert_means("CTRACE COMP(X) GMT", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(X) LOCAL", "CTRACE comp(x) short local");
	assert_means("CTRACE COMP(X) START(11/14/23,22.13.20.000001) STOP(11/14/2023 22:14)",
		     "CTRACE comp(x) short start(11/14/2023,22.13.20.000001) stop(11/14/2023,22.14.00.000000)");
	assert_means("CTRACE COMP(X) EXCEPTION LIMIT(00000010)", "CTRACE comp(x) short exception limit(10)");
	assert_means("CTRACE COMP(X) ENTIDLIST(1,2:5 X'AF',F'10')", "CTRACE comp(x) short entidlist(1,2:5,af,a)");
	assert_means("CTRACE COMP(X) ENTIDLIST((1-3))", "CTRACE comp(x) short entidlist(1:3)");
	assert_means("CTRACE COMP(X) USEREXIT(MyExit)", "CTRACE comp(x) short userexit(MyExit)");
	assert_means("CTRACE COMP(X) OPTIONS((a(b) 'c)' d))", "CTRACE comp(x) short options((a(b) 'c)' d))");
	assert_means("CTRACE COMP(X) ALL CURRENT ERROR TCBERROR", "CTRACE comp(x) short all");
	assert_means("CTRACE COMP(X) ASIDLIST(1A,2:FFFF) JOBLIST(A,b)", "CTRACE comp(x) short asidlist(1a,2:ffff) joblist(A,b)");
	assert_means("CTRACE COMP(X) JOBNAME(A)", "CTRACE comp(x) short joblist(A)");
	assert_means("CTRACE COMP(X) ACTIVE", "CTRACE comp(x) short active");
	assert_means("CTRACE COMP(X) MAIN", "CTRACE comp(x) short active");
	assert_means("CTRACE COMP(X) STORAGE", "CTRACE comp(x) short active");
	assert_means("CTRACE COMP(X) DSNAME('/tmp/A b''c')", "CTRACE comp(x) short dsname('/tmp/A b''c')");
	assert_means("CTRACE COMP(X) DATASET(a,b)", "CTRACE comp(x) short dsname(a,b)");
	assert_means("CTRACE COMP(X) PATH(/x/Y)", "CTRACE comp(x) short dsname(/x/Y)");
	assert_means("CTRACE COMP(X) FILE(DD)", "CTRACE comp(x) short file(DD)");
	assert_means("CTRACE COMP(X) DDNAME(DD)", "CTRACE comp(x) short file(DD)");
	assert_means("CTRACE COMP(X) FLAG(SEVERE) PRINT TERMINAL TEST", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(X) NOPRINT NOTERMINAL NOTEST", "CTRACE comp(x) short");
	assert_means("CTRACE QUERY", "CTRACE query short");
	assert_means("CTRACE QUERY(X) SUB((Y)) LOCAL", "CTRACE query(x) sub((y)) short local");
	assert_means("QUERY(X)", "CTRACE query(x) short");
}

static void names(void **state)
{
	(void)state;
	assert_means("CTRACE COMP(mf.rts)", "CTRACE comp(mf.rts) short");
	assert_means("CTRACE COMP(APP*) SUB((SUB?.ASID(1F)))", "CTRACE comp(app*) sub((sub?.asid(1f))) short");
	assert_means("CTRACE COMP(X) SUB(('my sub'))", "CTRACE comp(x) sub(('my sub')) short");
	assert_means("CTRACE COMP(X) SUB((ASID(13).F12.A.B.C))", "CTRACE comp(x) sub((asid(13).f12.a.b.c)) short");
}

static void abbreviations(void **state)
{
	(void)state;
	assert_means("CTR COM(X) FU", "CTRACE comp(x) full");
	assert_means("ctrace comp(x) sum lo lim(1) ent(1) ex", "CTRACE comp(x) summary local exception limit(1) entidlist(1)");
	assert_means("CTRACE COMP(X) JOB(A) SH", "CTRACE comp(x) short joblist(A)");
	assert_means("CTRACE COMP(X) DS(p)", "CTRACE comp(x) short dsname(p)");
	assert_refused("CTRACE COMP(X) SU", CT_ITT_NONE, 1, 16, "\"SU\" is short for SUMMARY, SUB and SUBNAME");
	assert_refused("CTRACE COMP(X) ST(1)", CT_ITT_NONE, 1, 16, "is short for START, STOP and STORAGE");
	assert_refused("C COMP(X)", CT_ITT_NONE, 1, 1, "\"C\" is no subcommand");
}

static void continuation_and_comments(void **state)
{
	(void)state;
	assert_means("CTRACE COMP(X) -\n  FULL", "CTRACE comp(x) full");
	assert_means("CTRACE COMP(X) FU+\n    LL", "CTRACE comp(x) full");
	assert_means("CTRACE /* the shop */ COMP(X) /* all */", "CTRACE comp(x) short");
	assert_means(" \tCTRACE,COMP ( X ),FULL\r\n", "CTRACE comp(x) full");
	assert_refused("CTRACE COMP(X) -\n  FULLL", CT_ITT_NONE, 2, 3, "\"FULLL\" is not an operand of CTRACE (did you mean FULL?)");
}

static void other_subcommands(void **state)
{
	static const struct {
		const char *text;
		enum ct_ipcs_verb verb;
	} cases[] = {
		{ "MERGE", CT_IPCS_MERGE },      { "mergeend", CT_IPCS_MERGEEND },  { "END", CT_IPCS_END },
		{ "HELP", CT_IPCS_HELP },        { "SETDEF LIST", CT_IPCS_SETDEF }, { "SETD DSN(a) NOPR", CT_IPCS_SETDEF },
		{ "H itt10012i", CT_IPCS_HELP },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		struct ct_ipcs_command command;

		parse_good(cases[i].text, &command);
		assert_int_equal(command.verb, cases[i].verb);
		if (i == 6)
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
	parse_good("COPYTRC TYPE(CTRACE) INDATASET(a,b) OUTDSNAME(c) SPACE(1,2) OPTIONS((COMP(X) SUB((Y)) START(01/02/99) LOCAL))",
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
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP(X)", CT_ITT10017I, 1, 36, "the command ends here");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP()))", CT_ITT10017I, 1, 34, "nothing stands between");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS", CT_ITT_NONE, 1, 20, "has no value");
	assert_refused("COPYTRC OUTFILE(b", CT_ITT_NONE, 1, 18, "the command ends here");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((COMP(X) FULL))", CT_ITT10018I, 1, 37, "is not an option of COPYTRC");
	assert_refused("COPYTRC OUTFILE(b) OPTIONS((START(01/02/99) STOP(01/01/99)))", CT_ITT10011I, 1, 50, "is before START");
}

static void mistakes(void **state)
{
	(void)state;
	assert_refused("CTRACE", CT_ITT_NONE, 1, 7, "the command ends here");
	assert_refused("CTRACE COMP(X) QUERY", CT_ITT10001I, 1, 16, "cannot stand");
	assert_refused("CTRACE QUERY COMP(X)", CT_ITT10001I, 1, 14, "cannot stand");
	assert_refused("CTRACE COMP(X) FULL SHORT", CT_ITT_NONE, 1, 21, "\"SHORT\" contradicts or repeats FULL");
	assert_refused("CTRACE COMP(X) COMP(Y)", CT_ITT_NONE, 1, 16, "contradicts or repeats COMP");
	assert_refused("CTRACE COMP(X) ACTIVE DSN(a)", CT_ITT_NONE, 1, 23, "contradicts or repeats ACTIVE");
	assert_refused("CTRACE COMP", CT_ITT_NONE, 1, 8, "\"COMP\" has no value");
	assert_refused("CTRACE COMP()", CT_ITT_NONE, 1, 13, "nothing stands between the parentheses");
	assert_refused("CTRACE COMP(X", CT_ITT_NONE, 1, 14, "the command ends here");
	assert_refused("CTRACE COMP(X Y)", CT_ITT_NONE, 1, 13, "is more than one name");
	assert_refused("CTRACE COMP(X))", CT_ITT_NONE, 1, 15, "\")\" is not expected here");
	assert_refused("CTRACE COMP(X) FULL(1)", CT_ITT_NONE, 1, 20, "\"(\" is not expected here");
	assert_refused("CTRACE COMP(X) SUB((A.B.C.D.E.F))", CT_ITT10014I, 1, 21, "is more than 5 names");
	assert_refused("CTRACE COMP(X) SUB((A..B))", CT_ITT_NONE, 1, 21, "has an empty name");
	assert_refused("CTRACE QUERY SUB((A))", CT_ITT_NONE, 1, 14, "has no component");
	assert_refused("CTRACE COMP(X) START(11/15/23) STOP(11/14/23)", CT_ITT10011I, 1, 37, "is before START");
	assert_refused("CTRACE COMP(X) START(02/30/23)", CT_ITT_NONE, 1, 22, "is no day of the calendar");
	assert_refused("CTRACE COMP(X) USEREXIT(a/b)", CT_ITT_NONE, 1, 25, "is no exit's name");
	assert_refused("CTRACE COMP(X) \x01", CT_ITT_NONE, 1, 16, "a control character is not text");
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
	assert_true(ct_ipcs_is_command("CTRACE COMP(X)") && ct_ipcs_is_command("query(x)") && ct_ipcs_is_command("MERGE"));
	assert_true(ct_ipcs_is_command("CTRACE\nCOMP(X)"));
	assert_false(ct_ipcs_is_command("CTRACES") || ct_ipcs_is_command("ctrace.ctb") || ct_ipcs_is_command("") ||
		     ct_ipcs_is_command("./merge"));
	assert_true(ct_ipcs_may_be_command("CTRAEC COMP(X) FULL") && ct_ipcs_may_be_command("ctr comp(x)") &&
		    ct_ipcs_may_be_command("QUREY(X)"));
	assert_false(ct_ipcs_may_be_command("CTRAEC") || ct_ipcs_may_be_command("traces (old)") || ct_ipcs_may_be_command("(x)") ||
		     ct_ipcs_may_be_command("") || ct_ipcs_may_be_command("/ctr (old)/COMP(X)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operand_of_ctrace),
		cmocka_unit_test(names),
		cmocka_unit_test(abbreviations),
		cmocka_unit_test(continuation_and_comments),
		cmocka_unit_test(other_subcommands),
		cmocka_unit_test(copytrc),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(long_names),
		cmocka_unit_test(words_of_a_command_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
