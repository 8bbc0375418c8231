/*
 * own_session_fixture.h - a session of the test's own process, or of one that it has killed, in an
 * empty run directory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OWN_SESSION_FIXTURE_H
#define CT_OWN_SESSION_FIXTURE_H

#include "session_fixture.h"

static UNUSED struct ct_session session;

static UNUSED int set_up(void **state)
{
	(void)state;
	enter_room();
	return unsetenv("CTRACE_JOBNAME") != 0 || unsetenv("MFTRACE_LOGS") != 0;
}

static UNUSED int tear_down(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

static UNUSED const char *text_of(const struct ct_session *of, ct_text text)
{
	size_t size;
	const char *at = ct_session_text(of, text, &size);

	assert_int_equal(strlen(at), size);
	return at;
}

static UNUSED unsigned count_entries(const char *directory)
{
	char command[200];
	unsigned count = 0;
	FILE *pipe;

	(void)snprintf(command, sizeof command, "find %s -mindepth 1 ! -name asid | wc -l",
		       directory);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	assert_int_equal(pclose(pipe), 0);
	return count;
}

static UNUSED void make_one(void)
{
	(void)!ct_session_create(&session, run_dir);
}

#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
