/*
 * test_ipcs_report.c - the messages in a listing, and their places: losses, unknown entries, and
 * why nothing was shown.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_fixture.h"

static void a_gap_is_reported_where_it_is(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA))");
	const char *gap =
		strstr(said.text.data,
		       "ITT10016I Trace data were lost here: 1 packet of shop.ctb/stream.0.\n");

	(void)state;
	assert_non_null(gap);
	assert_true(strstr(said.text.data, "22:13:20.006000") < gap);
	assert_true(strstr(said.text.data, "22:13:20.090000") > gap);
	ct_buf_fini(&said.text);
}

static void unknown_ids_are_reported_once(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) FULL");

	(void)state;
	assert_has(&said,
		   "ITT10010I Entry id 00000099 is not in the catalogue: hexadecimal is used.\n"
		   " 00000099  00000099  22:13:20.095000\n    +0000 06545768");
	ct_buf_fini(&said.text);
}

static void without_a_catalogue(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(MF) SUB((RTS)) SUMMARY");

	(void)state;
	assert_has(
		&said,
		"ITT10013I There is no catalogue for COMP(MF) SUB((RTS)): entries are in hexadecimal.\n");
	assert_has(&said, "    +0000 E2C5D5C4 80180101 02000001 000A0002 | ................ |\n");
	ct_buf_fini(&said.text);
	said = run_ipcs("CTRACE COMP(MF) SUB((RTS))");
	assert_lacks(&said, "ITT10013I");
	ct_buf_fini(&said.text);
}

static void what_there_is_instead(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ)");

	(void)state;
	assert_int_equal(said.status, CTRACE_NOT_FOUND);
	assert_has(
		&said,
		"ITT10003I COMP(APPXYZ) has no entries in the input; there are: COMP(APPXYZ) SUB((ASID(000F).X)), "
		"COMP(APPXYZ) SUB((SUBA)), COMP(APPXYZ) SUB((SUBB)).\n");
	assert_lacks(&said, "COMPONENT TRACE");
	ct_buf_fini(&said.text);
	said = run_ipcs("CTRACE COMP(NOBODY) SUB((X))");
	assert_int_equal(said.status, CTRACE_NOT_FOUND);
	assert_has(
		&said,
		"ITT10015I There is no trace COMP(NOBODY) SUB((X)); there are: COMP(APPXYZ) SUB((ASID(000F).X)), ");
	assert_has(&said, "COMP(MF) SUB((RTS)).\n");
	ct_buf_fini(&said.text);
}

static void times(void **state)
{
	struct ipcs_said said = run_ipcs(
		"CTRACE COMP(APPXYZ) SUB((SUBA)) START(11/14/23,22.13.20.000002) STOP(11/14/2023,22.13.20.09)");

	(void)state;
	assert_int_equal(said.shown, 3);
	ct_buf_fini(&said.text);
	said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) START(11/16/23)");
	assert_int_equal(said.status, CTRACE_NOT_FOUND);
	assert_has(
		&said,
		"ITT10012I The trace has no entries at the requested time; it holds 11/14/2023 22:13:20.000001 GMT to 11/15/2023 "
		"00:00:00.000000 GMT.\n");
	ct_buf_fini(&said.text);
}

static void hostile_text_is_escaped(void **state)
{
	struct ipcs_said said = run_ipcs("CTRACE COMP(APPXYZ) SUB((SUBA)) FULL START(11/15/23)");

	(void)state;
	assert_has(&said, "    +0000  FILE..... say \"hi\"\\n\\u{1B}[31m\n");
	ct_buf_fini(&said.text);
}

int test_ipcs_report(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gap_is_reported_where_it_is, ipcs_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(unknown_ids_are_reported_once, ipcs_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(without_a_catalogue, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_there_is_instead, ipcs_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(times, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(hostile_text_is_escaped, ipcs_setup,
						fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
