/*
 * test_memory.c - a failed allocation is noted for good, and the first one is reported.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

static unsigned calls;

static void count_call(void)
{
	calls++;
}

static void a_lack_is_noted_for_good(void **state)
{
	(void)state;
	ct_memory_on_lack(count_call);
	assert_false(ct_memory_has_lacked());
	ct_memory_note_lack();
	assert_true(ct_memory_has_lacked());
	ct_memory_note_lack();
	assert_true(ct_memory_has_lacked());
	assert_int_equal(calls, 1);
}

int test_memory(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_lack_is_noted_for_good) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
