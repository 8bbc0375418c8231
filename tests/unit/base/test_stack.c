/*
 * test_stack.c - calls on a stack of ctrace's own.
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
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

#define SMALL ((size_t)16 << 10)
#define LARGE ((size_t)64 << 10) /* no thread with a small stack has so much */

static unsigned handled;

static void count_signal(int number)
{
	(void)number;
	handled++;
}

static void use_much(void *argument)
{
	volatile char memory[LARGE];

	memset((char *)memory, 1, sizeof memory);
	*(unsigned *)argument += memory[LARGE / 2] == 1;
}

static void nest(void *argument)
{
	unsigned *count = argument;
	int state;

	assert_int_equal(errno, EXDEV);
	(void)raise(SIGUSR1);
	assert_int_equal(handled, 0);
	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
	assert_int_equal(state, PTHREAD_CANCEL_DISABLE);
	ct_on_own_stack(use_much, count);
	ct_on_own_stack(use_much, count);
	*count += 10;
	errno = EDOM;
}

static void *call(void *argument)
{
	int state;

	errno = EXDEV;
	ct_on_own_stack(nest, argument);
	assert_int_equal(errno, EDOM);
	assert_int_equal(handled, 1);
	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
	assert_int_equal(state, PTHREAD_CANCEL_ENABLE);
	return NULL;
}

static void a_small_thread_calls_what_needs_much(void **state)
{
	const struct sigaction action = { .sa_handler = count_signal };
	unsigned count = 0;
	pthread_attr_t attributes;
	pthread_t thread;
	size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN) - SMALL;
	int error;

	(void)state;
	handled = 0;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_attr_init(&attributes), 0);
	do { /* a stack also holds the thread-local storage of this program's other tests */
		size += SMALL;
		assert_int_equal(pthread_attr_setstacksize(&attributes, size), 0);
		error = pthread_create(&thread, &attributes, call, &count);
	} while (error == EINVAL);
	assert_int_equal(error, 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pthread_attr_destroy(&attributes), 0);
	assert_int_equal(count, 12);
}

static void count_up(void *argument)
{
	++*(unsigned *)argument;
}

/* Nothing can be mapped. */
static void without_memory_it_is_called_where_we_are(void **state)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	struct rlimit before;
	unsigned count = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	errno = EXDEV;
	ct_on_own_stack(count_up, &count);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(count, 1);
}

static void note_place(void *argument)
{
	*(uintptr_t *)argument = (uintptr_t)__builtin_frame_address(0);
}

static void the_next_call_has_the_same_stack(void **state)
{
	uintptr_t first, second;

	(void)state;
	ct_on_own_stack(note_place, &first);
	ct_on_own_stack(note_place, &second);
	assert_int_equal(first, second);
}

/* Signals are blocked in the call already; what our output raises there is discarded at its end. */
static void raise_in_a_section(void *argument)
{
	sigset_t pending;

	ct_guard_output();
	ct_guard_enter();
	*(bool *)argument = ct_thread_locked == 1;
	(void)raise(SIGPIPE);
	ct_guard_leave();
	(void)sigpending(&pending);
	*(bool *)argument &= sigismember(&pending, SIGPIPE) == 1 && ct_thread_locked == 0;
}

static void sections_in_a_call_leave_signals_to_it(void **state)
{
	bool is_right = false;

	(void)state;
	ct_on_own_stack(raise_in_a_section, &is_right); /* or SIGPIPE ends this program */
	assert_true(is_right);
}

int test_stack(void)
{
	const struct CMUnitTest tests[] = {
		/* before there is a stack to use again */
		cmocka_unit_test(without_memory_it_is_called_where_we_are),
		cmocka_unit_test(a_small_thread_calls_what_needs_much),
		cmocka_unit_test(the_next_call_has_the_same_stack),
		cmocka_unit_test(sections_in_a_call_leave_signals_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
