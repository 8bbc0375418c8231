/*
 * test_private_directory.c - a directory of this user's own: made, or refused with whose it is and
 * what to do, or made beside one of another user, and found there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/private_directory.h"

static char top[] = "/tmp/ctrace-private.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(top) == NULL;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof command, "rm -rf %s", top);
	return system(command);
}

static void one_that_is_free_is_made(void **state)
{
	char path[256], why[CT_PRIVATE_WHY_SIZE], wanted[256];
	struct stat info;

	(void)state;
	(void)snprintf(path, sizeof path, "%s/one", top);
	(void)snprintf(wanted, sizeof wanted, "%s/one", top);
	assert_int_equal(ct_private_inspect(path, why), CTRACE_NOT_FOUND);
	assert_int_equal(ct_private_make(path, sizeof path, why), CTRACE_OK);
	assert_string_equal(path, wanted);
	assert_int_equal(lstat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_string_equal(ct_private_kind(info.st_mode), "a directory");
	assert_int_equal(ct_private_inspect(path, why), CTRACE_OK);
}

static void one_of_ours_that_is_not_private_is_refused(void **state)
{
	char path[256], why[CT_PRIVATE_WHY_SIZE];

	(void)state;
	(void)snprintf(path, sizeof path, "%s/open", top);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(ct_private_make(path, sizeof path, why), CTRACE_DENIED);
	assert_non_null(strstr(why, "others may write to it (mode 0777); chmod go-w"));
	(void)snprintf(path, sizeof path, "%s/link", top);
	assert_int_equal(symlink("one", path), 0);
	assert_int_equal(ct_private_make(path, sizeof path, why), CTRACE_DENIED);
	assert_non_null(strstr(why, "it is a symbolic link of user"));
}

static void path_keep(const char *path, void *user)
{
	(void)snprintf(user, 256, "%s", path);
}

static void beside_another_users_there_is_ours(void **state)
{
	char path[256], again[256], found[256] = "", why[CT_PRIVATE_WHY_SIZE];

	(void)state;
	if (geteuid() != 0)
		skip();
	(void)snprintf(path, sizeof path, "%s/0", top);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, 1234, 1234), 0);
	assert_int_equal(ct_private_inspect(path, why), CTRACE_DENIED);
	assert_non_null(strstr(why, "it belongs to user 1234"));
	ct_private_each(path, path_keep, found);
	assert_string_equal(found, path);
	assert_int_equal(ct_private_make(path, sizeof path, why), CTRACE_OK);
	assert_true(ct_private_is_of(strrchr(path, '/') + 1, 0));
	assert_false(ct_private_is_of(strrchr(path, '/') + 1, 1234));
	assert_true(ct_private_is_of("1234", 1234));
	assert_false(ct_private_is_of("12345", 1234));
	(void)snprintf(again, sizeof again, "%s/0", top);
	ct_private_each(again, path_keep, found);
	assert_string_equal(found, path);
	assert_int_equal(ct_private_make(again, sizeof again, why), CTRACE_OK);
	assert_string_equal(again, path);
}

int test_private_directory(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_free_is_made),
		cmocka_unit_test(one_of_ours_that_is_not_private_is_refused),
		cmocka_unit_test(beside_another_users_there_is_ours),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
