/*
 * test_user_names.c - users and groups by name and by number, as this machine's files have them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/base.h"

static struct ct_span span_of(const char *text)
{
	return (struct ct_span){ text, strlen(text) };
}

static void groups(void **state)
{
	uint32_t gid = 4711;

	(void)state;
	assert_true(ct_group_find(span_of("root"), &gid));
	assert_int_equal(gid, 0);
	assert_true(ct_group_find(span_of("12345"), &gid));
	assert_int_equal(gid, 12345);
	assert_false(ct_group_find(span_of("roo"), &gid));
	assert_false(ct_group_find(span_of("root:x"), &gid));
	assert_false(ct_group_find(span_of("no-such-group"), &gid));
	assert_false(ct_group_find(span_of(""), &gid));
	assert_false(ct_group_find(span_of("4294967295"), &gid)); /* -1: no group */
	assert_false(ct_group_find(span_of("99999999999999999999"), &gid));
	assert_false(ct_group_find(span_of("1x"), &gid));
}

static void users(void **state)
{
	char name[CT_USER_NAME];

	(void)state;
	ct_user_name(0, name);
	assert_string_equal(name, "root");
	ct_user_name(3999999999u, name);
	assert_string_equal(name, "3999999999");
}

/* The machine's files cannot be read. */
static void without_files(void **state)
{
	char name[CT_USER_NAME];
	uint32_t gid;

	(void)state;
	ct_os_fail(CT_OS_OPEN, 0, 2, ENOENT);
	assert_false(ct_group_find(span_of("root"), &gid));
	ct_user_name(0, name);
	assert_string_equal(name, "0");
	ct_os_fail(CT_OS_OPEN, 0, 0, 0);
}

int test_user_names(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(groups), cmocka_unit_test(users),
					    cmocka_unit_test(without_files) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
