/*
 * test_ipcs_copy.c - COPYTRC: what is selected can be read from the copy, and nothing else; what is
 * there is left alone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_fixture.h"

static enum ctrace_status copy(const char *text, const char *paths, struct ct_ipcs_copied *copied)
{
	struct ct_ipcs_command command;
	struct ct_ipcs_job job = { 0 };
	enum ctrace_status status;

	parse_command(text, &command);
	job.command = &command;
	open_reader(&job, NULL, paths);
	status = ct_ipcs_copy(&job, command.out.at[0], copied);
	ct_reader_destroy(job.reader);
	ct_ipcs_command_fini(&command);
	return status;
}

static void what_is_selected(void **state)
{
	static const char *const texts[] = { "CTRACE COMP(APPXYZ) SUB((SUBA))", NULL };
	struct ct_ipcs_copied copied;
	struct ipcs_said before, after;

	(void)state;
	assert_int_equal(copy("COPYTRC OUTDATASET(out) OPTIONS((COMP(APPXYZ) SUB((SUBA))))",
			      "shop.ctb bank.ctb", &copied),
			 CTRACE_OK);
	assert_int_equal(copied.events, 9);
	assert_int_equal(copied.processes, 2);
	before = run_commands("bank.ctb", ipcs_catalog, texts, false, NULL);
	after = run_commands(
		"out", ipcs_catalog,
		(const char *const[]){ "CTRACE SYSNAME(MVS2) COMP(APPXYZ) SUB((SUBA))", NULL },
		false, NULL);
	assert_int_equal(before.shown, after.shown);
	ct_buf_fini(&before.text);
	ct_buf_fini(&after.text);
	after = run_commands("out", ipcs_catalog, (const char *const[]){ "CTRACE QUERY", NULL },
			     false, NULL);
	assert_int_equal(after.shown, 1);
	ct_buf_fini(&after.text);
	after = run_commands(
		"out", ipcs_catalog,
		(const char *const[]){ "CTRACE COMP(APPXYZ) SUB((SUBA)) ASIDLIST(B) JOBLIST(BANK)",
				       NULL },
		false, NULL);
	assert_int_equal(after.shown, 2);
	ct_buf_fini(&after.text);
}

static void all_of_it(void **state)
{
	struct ct_ipcs_copied copied;

	(void)state;
	assert_int_equal(copy("COPYTRC OUTDATASET(out)", "shop.ctb bank.ctb", &copied), CTRACE_OK);
	assert_int_equal(copied.events, 14);
}

static void what_is_there_is_left_alone(void **state)
{
	struct ct_ipcs_copied copied;
	uint64_t size = file_size("bank.ctb/stream.0");

	(void)state;
	assert_int_not_equal(copy("COPYTRC OUTDATASET(bank.ctb)", "shop.ctb", &copied), CTRACE_OK);
	assert_int_equal(file_size("bank.ctb/stream.0"), size);
}

int test_ipcs_copy(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_selected, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(all_of_it, ipcs_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_there_is_left_alone, ipcs_setup,
						fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
