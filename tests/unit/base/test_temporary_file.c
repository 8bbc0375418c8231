/*
 * test_temporary_file.c - a file in the directory that TMPDIR names, of which no name is left.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "base/temporary_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void the_directory(void **state)
{
	(void)state;
	assert_int_equal(setenv("TMPDIR", "/some/where", 1), 0);
	assert_string_equal(ct_temporary_directory("/tmp"), "/some/where");
	assert_int_equal(setenv("TMPDIR", "", 1), 0);
	assert_string_equal(ct_temporary_directory("/tmp"), "/tmp");
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(ct_temporary_directory("/var/tmp"), "/var/tmp");
}

static void check_file(void)
{
	struct stat info;
	char byte = 0;
	int fd;

	assert_int_equal(mkdir("there", 0700), 0);
	fd = ct_temporary_open("there");
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_nlink, 0);
	assert_int_equal(rmdir("there"), 0); /* nothing is in it */
	(void)close(fd);
}

static void a_file_without_a_name(void **state)
{
	(void)state;
	check_file();
	assert_true(ct_temporary_open("nowhere") < 0);
	assert_int_equal(errno, ENOENT);
}

static void a_file_whose_name_is_removed(void **state)
{
	static const int errors[] = { EOPNOTSUPP, EISDIR, EINVAL };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(errors); i++) {
		ct_os_fail(CT_OS_OPEN, 0, 1, errors[i]);
		check_file();
	}
	ct_os_fail(CT_OS_OPEN, 0, 1, EACCES);
	assert_true(ct_temporary_open(".") < 0);
	assert_int_equal(errno, EACCES);
	ct_os_fail(CT_OS_OPEN, 0, 1, EOPNOTSUPP);
	assert_true(ct_temporary_open("nowhere") < 0);
	assert_int_equal(errno, ENOENT);
}

int test_temporary_file(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_directory),
					    cmocka_unit_test(a_file_without_a_name),
					    cmocka_unit_test(a_file_whose_name_is_removed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
