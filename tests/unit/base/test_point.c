/*
 * test_point.c - a hook runs where a point is, on the thread that comes by, and not after it was
 * taken away.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include <string.h>

static char reached[64];

static void note(const char *name)
{
	(void)strcat(strcat(reached, name), " ");
}

static void a_hook_runs_at_each_point_until_it_is_taken_away(void **state)
{
	(void)state;
	ct_point("before");
	ct_point_set(note);
	ct_point("one");
	ct_point("two");
	ct_point_set(NULL);
	ct_point("after");
	assert_string_equal(reached, "one two ");
}

int test_point(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hook_runs_at_each_point_until_it_is_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
