/*
 * test_own_directory.c - what is beside this program, and where catalogues are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static void beside_the_program(void **state)
{
	char path[PATH_MAX], program[PATH_MAX] = "", too_long[PATH_MAX];

	(void)state;
	assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
	assert_true(ct_own_directory(strrchr(program, '/') + 1, path));
	assert_string_equal(path, program);
	memset(too_long, 'x', sizeof too_long - 1);
	too_long[sizeof too_long - 1] = '\0';
	assert_false(ct_own_directory(too_long, path));
	assert_string_equal(path, program);
}

/* A build directory has its catalogues beside the tool, not beside this test. */
static void catalogues(void **state)
{
	char path[PATH_MAX] = "";

	(void)state;
	ct_installed_catalog(path);
	assert_non_null(strstr(path, "/share/ctrace/catalog"));
}

int test_own_directory(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(beside_the_program),
					    cmocka_unit_test(catalogues) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
