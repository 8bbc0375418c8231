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

#include <errno.h>
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

static void a_lock_raises_the_mark_while_it_is_held(void **state)
{
	pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	ct_guard_lock(&first);
	ct_guard_lock(&second);
	assert_int_equal(ct_thread_locked, 2);
	assert_int_equal(pthread_mutex_trylock(&first), EBUSY);
	ct_guard_unlock(&second);
	assert_int_equal(ct_thread_locked, 1);
	ct_guard_unlock(&first);
	assert_int_equal(ct_thread_locked, 0);
	assert_int_equal(pthread_mutex_trylock(&first), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_thread_has_its_own),
					    cmocka_unit_test(a_lock_raises_the_mark_while_it_is_held) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
