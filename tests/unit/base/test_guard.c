/*
 * test_guard.c - the mark of a locked section belongs to one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/base.h"

static void *read_mark(void *argument)
{
	*(uint32_t *)argument = ct_thread_locked;
	ct_thread_locked = 7;
	return NULL;
}

static void each_thread_has_its_own(void **state)
{
	uint32_t seen = 99;
	pthread_t thread;

	(void)state;
	assert_int_equal(ct_thread_locked, 0);
	ct_thread_locked = 3;
	assert_int_equal(pthread_create(&thread, NULL, read_mark, &seen), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(seen, 0);
	assert_int_equal(ct_thread_locked, 3);
	ct_thread_locked = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_thread_has_its_own) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
