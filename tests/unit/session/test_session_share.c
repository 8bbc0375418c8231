/*
 * test_session_share.c - a session that a group may reach: the modes of its directories, and that
 * its files stay its owner's.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include <grp.h>

#include "session/socket.h"

#define GROUP 54321u

static void assert_mode(const char *path, mode_t mode, gid_t gid)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, mode);
	if (gid != 0)
		assert_int_equal(info.st_gid, gid);
}

static void a_group_reaches_the_socket_and_no_file(void **state)
{
	char control[4200], file[4200];
	int listener;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root gives files to any group */
	make_one();
	assert_int_equal(ct_socket_listen(session.directory_fd, session.path, "control", &listener),
			 CTRACE_OK);
	(void)snprintf(control, sizeof control, "%s/control", session.path);
	(void)snprintf(file, sizeof file, "%s/session", session.path);
	assert_true(ct_session_share(&session, GROUP));
	assert_mode(run_dir, 0750, GROUP);
	assert_mode(session.path, 0710, GROUP);
	assert_mode(control, 0660, GROUP);
	assert_mode(file, CT_OS_KEPT_MODE, 0);
	assert_true(ct_session_share(&session, GROUP)); /* again */
	assert_true(ct_session_share(&session, GROUP + 1));
	assert_mode(control, 0660, GROUP + 1);
	assert_true(ct_session_share(&session, 0));
	assert_mode(session.path, 0700, 0);
	assert_mode(control, 0600, 0);
	(void)close(listener);
	ct_session_close(&session, true);
}

/* Another user may go where the run directory is. */
static void open_way(void)
{
	char path[4096];
	struct stat info;

	(void)snprintf(path, sizeof path, "%s", room);
	for (; path[0] != '\0'; *strrchr(path, '/') = '\0') {
		assert_int_equal(stat(path, &info), 0);
		if ((info.st_mode & 1) == 0)
			assert_int_equal(chmod(path, 0711), 0);
	}
}

static void what_this_user_may_not_give_stays_private(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(run_dir, 65534, 65534), 0);
	open_way();
	child = fork();
	if (child == 0) {
		struct stat info;

		CHILD_CHECK(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
		make_one();
		CHILD_CHECK(!ct_session_share(&session, GROUP));
		CHILD_CHECK(stat(session.path, &info) == 0 && (info.st_mode & 07777) == 0700);
		CHILD_CHECK(stat(run_dir, &info) == 0 && (info.st_mode & 077) == 0);
		CHILD_CHECK(session.group == 0);
		ct_session_close(&session, true);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_private_session_is_not_shared(void **state)
{
	(void)state;
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	assert_false(ct_session_share(&session, GROUP));
	assert_true(ct_session_share(&session, 0));
	ct_session_close(&session, false);
}

int test_session_share(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(a_group_reaches_the_socket_and_no_file),
		SESSION_TEST(what_this_user_may_not_give_stays_private),
		SESSION_TEST(a_private_session_is_not_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
