/*
 * test_ipcs_operand.c - every operand of CTRACE, names, and abbreviations.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void every_operand_of_ctrace(void **state)
{
	(void)state;
	assert_means("CTRACE COMP(X)", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(APPXYZ) SUB((SUBA.SUBB))",
		     "CTRACE comp(appxyz) sub((suba.subb)) short");
	assert_means("CTRACE SYSNAME(MVS1) COMP(X) SUBNAME(A)",
		     "CTRACE comp(x) sub((a)) sysname(mvs1) short");
	assert_means("CTRACE COMP(X) SHORT", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(X) SUMMARY", "CTRACE comp(x) summary");
	assert_means("CTRACE COMP(X) FULL", "CTRACE comp(x) full");
	assert_means("CTRACE COMP(X) TALLY", "CTRACE comp(x) tally");
	assert_means("CTRACE COMP(X) GMT", "CTRACE comp(x) short");
	assert_means("CTRACE COMP(X) LOCAL", "CTRACE comp(x) short local");
	assert_means(
		"CTRACE COMP(X) START(11/14/23,22.13.20.000001) STOP(11/14/2023 22:14)",
		"CTRACE comp(x) short start(11/14/2023,22.13.20.000001) stop(11/14/2023,22.14.00.000000)");
	assert_means("CTRACE COMP(X) EXCEPTION LIMIT(00000010)",
		     "CTRACE comp(x) short exception limit(10)");
	assert_means("CTRACE COMP(X) ENTIDLIST(1,2:5 X'AF',F'10')",
		     "CTRACE comp(x) short entidlist(1,2:5,af,a)");
	assert_means("CTRACE COMP(X) ENTIDLIST((1-3))", "CTRACE comp(x) short entidlist(1:3)");
	assert_means("CTRACE COMP(X) USEREXIT(MyExit)", "CTRACE comp(x) short userexit(MyExit)");
	assert_means("CTRACE COMP(X) OPTIONS((a(b) 'c)' d))",
		     "CTRACE comp(x) short options((a(b) 'c)' d))");
	assert_means("CTRACE COMP(X) ALL CURRENT ERROR TCBERROR", "CTRACE comp(x) short all");
	assert_means("CTRACE COMP(X) ASIDLIST(1A,2:FFFF) JOBLIST(A,b)",
		     "CTRACE comp(x) short asidlist(1a,2:ffff) joblist(A,b)");
	assert_means("CTRACE COMP(X) JOBNAME(A)", "CTRACE comp(x) short joblist(A)");
	assert_means("CTRACE COMP(X) ACTIVE", "CTRACE comp(x) short active");
	assert_means("CTRACE COMP(X) MAIN", "CTRACE comp(x) short active");
	assert_means("CTRACE COMP(X) STORAGE", "CTRACE comp(x) short active");
	assert_means("CTRACE COMP(X) DSNAME('/tmp/A b''c')",
		     "CTRACE comp(x) short dsname('/tmp/A b''c')");
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
	assert_means("CTRACE COMP(APP*) SUB((SUB?.ASID(1F)))",
		     "CTRACE comp(app*) sub((sub?.asid(1f))) short");
	assert_means("CTRACE COMP(X) SUB(('my sub'))", "CTRACE comp(x) sub(('my sub')) short");
	assert_means("CTRACE COMP(X) SUB((ASID(13).F12.A.B.C))",
		     "CTRACE comp(x) sub((asid(13).f12.a.b.c)) short");
}

static void abbreviations(void **state)
{
	(void)state;
	assert_means("CTR COM(X) FU", "CTRACE comp(x) full");
	assert_means("ctrace comp(x) sum lo lim(1) ent(1) ex",
		     "CTRACE comp(x) summary local exception limit(1) entidlist(1)");
	assert_means("CTRACE COMP(X) JOB(A) SH", "CTRACE comp(x) short joblist(A)");
	assert_means("CTRACE COMP(X) DS(p)", "CTRACE comp(x) short dsname(p)");
	assert_refused("CTRACE COMP(X) SU", CT_ITT_NONE, 1, 16,
		       "\"SU\" is short for SUMMARY, SUB and SUBNAME");
	assert_refused("CTRACE COMP(X) ST(1)", CT_ITT_NONE, 1, 16,
		       "is short for START, STOP and STORAGE");
	assert_refused("C COMP(X)", CT_ITT_NONE, 1, 1, "\"C\" is no subcommand");
}

int test_ipcs_operand(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operand_of_ctrace),
		cmocka_unit_test(names),
		cmocka_unit_test(abbreviations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
