/*
 * test_ipcs_run.c - commands over traces: which entries come, in which order, merged or not.  The
 * layouts to the letter are held by tests/golden/ipcs.py; with KEEP_TRACES=DIRECTORY in its
 * environment this program leaves the traces that it reads there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_fixture.h"

#include <time.h>

static void entries_of_the_trace(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA))");

	(void)state;
	assert_int_equal(said.status, CTRACE_OK);
	assert_int_equal(said.shown, 7);
	assert_has(
		&said,
		" COMPONENT TRACE SHORT FORMAT\n COMP(APPXYZ)    SUBNAME((SUBA))\n **** 11/14/2023\n\n"
		" MNEMONIC  ENTRY ID    TIME STAMP     DESCRIPTION\n"
		" --------  --------  ---------------  -----------\n\n"
		" OPEN      00000001  22:13:20.000001  A file is opened\n"
		" BLOCK-RE  00000010  22:13:20.000002  A block, as it was read\n");
	assert_lacks(&said, "GREETING");
	assert_lacks(&said, "22:13:20.000003");
	ct_buf_fini(&said.text);
}

static void the_date_comes_again_when_it_changes(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA))");

	(void)state;
	assert_has(&said,
		   " CLOSE     00000002  23:59:59.999999  A file is closed\n\n **** 11/15/2023\n\n"
		   " OPEN      00000001  00:00:00.000000  A file is opened\n");
	ct_buf_fini(&said.text);
	setenv("TZ", "XYZ+5", 1);
	tzset();
	said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) LOCAL");
	assert_has(&said, " OPEN      00000001  17:13:20.000001");
	assert_lacks(&said, "11/15");
	ct_buf_fini(&said.text);
	setenv("TZ", "UTC", 1);
	tzset();
}

static void a_limit(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) LIMIT(2)");

	(void)state;
	assert_int_equal(said.shown, 2);
	ct_buf_fini(&said.text);
}

static void exceptions(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) EXCEPTION");

	(void)state;
	assert_int_equal(said.shown, 3);
	assert_lacks(&said, "ITT10007I");
	ct_buf_fini(&said.text);
	said = run_ipcs("CTRACE COMP(MF) SUB((RTS)) EXCEPTION");
	assert_int_equal(said.shown, 0);
	assert_has(&said, "ITT10007I EXCEPTION filtering is not supported for MF.RTS.\n");
	ct_buf_fini(&said.text);
}

static void query(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE QUERY");

	(void)state;
	assert_string_equal(
		said.text.data,
		" COMPONENT TRACE QUERY SUMMARY\n COMP(APPXYZ)SUBNAME((ASID(000F).X))\n COMP(APPXYZ)SUBNAME((SUBA))\n"
		" COMP(APPXYZ)SUBNAME((SUBB))\n COMP(MF)SUBNAME((RTS))\n"
		"ITT10016I Trace data were lost here: 1 packet of shop.ctb/stream.0.\n");
	ct_buf_fini(&said.text);
	said = run_ipcs("CTRACE QUERY(APPXYZ) SUB((SUBB))");
	assert_has(
		&said,
		" COMP(APPXYZ)SUBNAME((SUBB))\n START = 11/14/2023 22:13:20.000002 GMT\n STOP  = 11/14/2023 22:13:20.000002 GMT\n");
	assert_int_equal(said.shown, 1);
	ct_buf_fini(&said.text);
	said = run_ipcs("CTRACE QUERY(NOBODY)");
	assert_has(&said, "ITT10015I");
	assert_int_equal(said.status, CTRACE_NOT_FOUND);
	ct_buf_fini(&said.text);
}

static void tally(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) TALLY");

	(void)state;
	assert_int_equal(said.shown, 7);
	assert_has(&said, " COMPONENT TRACE TALLY FORMAT\n");
	assert_has(&said,
		   "          3       44999.000  BLOCK-RE  00000010  A block, as it was read\n");
	assert_has(&said, " TOTAL ENTRIES = 7\n");
	ct_buf_fini(&said.text);
}

static void merged(void **state)
{
	static const char *const texts[] = {
		"CTRACE COMP(APPXYZ) SUB((SUBA)) SHORT STOP(11/14/23,22.14)",
		"CTRACE COMP(BANK) FULL", "CTRACE COMP(MF) SUB((RTS)) LIMIT(1)", NULL
	};
	struct ipcs_said said = run_commands("shop.ctb bank.ctb", ipcs_catalog, texts, true, NULL);
	const char *at;

	(void)state;
	assert_int_equal(said.status, CTRACE_OK);
	at = said.text.data;
	assert_memory_equal(
		at,
		"********** MERGED TRACES ***********\n01. CTRACE comp(appxyz) sub((suba)) short stop(11/14/2023,22.14.00.000000)\n",
		60);
	assert_has(&said,
		   "02. CTRACE comp(bank) full\n03. CTRACE comp(mf) sub((rts)) short limit(1)\n");
	assert_has(&said, "     SYSNAME   MNEMONIC  ENTRY ID    TIME STAMP     DESCRIPTION\n");
	assert_has(&said, "01.  MVS1      OPEN      00000001  22:13:20.000001  A file is opened\n"
			  "01.  MVS2      OPEN      00000001  22:13:20.000001  A file is opened\n");
	assert_true(strstr(at, "03.  MVS1") < strstr(at, "01.  MVS2      CLOSE"));
	assert_true(strstr(at, "02.  MVS2") > strstr(at, "01.  MVS2      CLOSE"));
	ct_buf_fini(&said.text);
}

static void sysname(void **state)
{
	static const char *const texts[] = { "CTRACE SYSNAME(MVS2) COMP(APPXYZ) SUB((SUBA))",
					     NULL };
	struct ipcs_said said = run_commands("shop.ctb bank.ctb", ipcs_catalog, texts, false, NULL);

	(void)state;
	assert_int_equal(said.shown, 2);
	assert_has(&said, " SYSNAME(MVS2)\n COMP(APPXYZ)    SUBNAME((SUBA))\n");
	assert_has(&said, " MVS2      CLOSE     00000002  22:13:20.007000  A file is closed\n");
	ct_buf_fini(&said.text);
}

static unsigned stop_after;

static bool stops(void *user)
{
	(void)user;
	return stop_after-- == 0;
}

static void a_listing_can_be_stopped(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_ipcs_output output = { .write = collect, .user = &text, .is_stopped = stops };
	struct ct_ipcs_job job = { 0 }, *jobs = &job;
	struct ct_ipcs_command command;
	uint64_t shown;

	(void)state;
	parse_command("CTRACE COMP(APPXYZ) SUB((SUBA))", &command);
	job.command = &command;
	open_reader(&job, NULL, "shop.ctb");
	stop_after = 2;
	assert_int_equal(ct_ipcs_run(&jobs, 1, false, &output, &shown), CTRACE_OK);
	assert_int_equal(shown, 2);
	ct_reader_destroy(job.reader);
	ct_ipcs_command_fini(&command);
	ct_buf_fini(&text);
}

/* Its reader has not seen what is outside of START and STOP: nobody can say what there is. */
static void of_a_narrowed_reader_nothing_is_said(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_ipcs_output output = { .write = collect, .user = &text, .is_narrowed = true };
	struct ct_ipcs_job job = { 0 }, *jobs = &job;
	struct ct_ipcs_command command;
	uint64_t shown;

	(void)state;
	parse_command("CTRACE COMP(NOBODY) SUB((SUBA)) START(11/16/23)", &command);
	job.command = &command;
	open_reader(&job, NULL, "shop.ctb");
	assert_int_equal(ct_ipcs_run(&jobs, 1, false, &output, &shown), CTRACE_NOT_FOUND);
	assert_int_equal(text.size, 0);
	ct_reader_destroy(job.reader);
	ct_ipcs_command_fini(&command);
}

/* For tests/golden/ipcs/. */
static void keep_traces(void **state)
{
	const char *directory = getenv("KEEP_TRACES");
	char command[512];

	(void)state;
	if (directory == NULL)
		skip();
	(void)snprintf(command, sizeof command, "cp -r shop.ctb bank.ctb '%s'", directory);
	assert_int_equal(system(command), 0);
}

int test_ipcs_run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(entries_of_the_trace, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_date_comes_again_when_it_changes, ipcs_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_limit, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(exceptions, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(query, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(tally, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(merged, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(sysname, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_listing_can_be_stopped, ipcs_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(of_a_narrowed_reader_nothing_is_said, ipcs_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(keep_traces, ipcs_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
