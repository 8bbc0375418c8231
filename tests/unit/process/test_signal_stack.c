/*
 * test_signal_stack.c - a thread's alternate stack: only where there is none, and not for longer
 * than the handler of fatal signals.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "process_fixture.h"

#include "lib/process/signal_stack.h"

#include <errno.h>
#include <ucontext.h>

static char programs_own[128 << 10];

static bool stack_is_set(stack_t *out)
{
	return sigaltstack(NULL, out) == 0 && (out->ss_flags & SS_DISABLE) == 0;
}

static void *set_and_remove(void *unused)
{
	const stack_t own = { .ss_sp = programs_own, .ss_size = sizeof programs_own };
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t before, stack;
	bool had_one = stack_is_set(&before); /* a sanitizer's */

	CHILD_CHECK(!had_one || sigaltstack(&none, NULL) == 0);
	ct_signal_stack_remove(); /* there is none */
	errno = EXDEV;
	ct_signal_stack_set();
	CHILD_CHECK(errno == EXDEV);
	CHILD_CHECK(stack_is_set(&stack) && stack.ss_size >= 64u << 10);
	memset(stack.ss_sp, 1, stack.ss_size);
	ct_signal_stack_set(); /* it has one */
	ct_signal_stack_remove();
	CHILD_CHECK(!stack_is_set(&stack));
	/* the program's stays */
	CHILD_CHECK(sigaltstack(&own, NULL) == 0);
	ct_signal_stack_set();
	CHILD_CHECK(stack_is_set(&stack) && stack.ss_sp == programs_own);
	ct_signal_stack_remove();
	CHILD_CHECK(stack_is_set(&stack) && stack.ss_sp == programs_own);
	CHILD_CHECK(sigaltstack(had_one ? &before : &none, NULL) == 0);
	return unused;
}

static void in_threads(void)
{
	pthread_t thread;

	(void)set_and_remove(NULL);
	CHILD_CHECK(pthread_create(&thread, NULL, set_and_remove, NULL) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
}

static void a_thread_gets_a_stack_where_it_has_none(void **state)
{
	(void)state;
	assert_int_equal(run_traced(in_threads), 0);
}

static volatile sig_atomic_t handled;

static void handle(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	stack_t stack;

	(void)number;
	(void)info;
	/* The handler runs on it, and a signal now would find it in use. */
	CHILD_CHECK(!stack_is_set(&stack));
	ct_signal_stack_remove(); /* not from under the handler's feet */
	CHILD_CHECK(ct_signal_stack_is_own(&at->uc_stack));
	handled++;
}

static void look_in_a_handler(void)
{
	const struct sigaction action = { .sa_sigaction = handle,
					  .sa_flags = SA_SIGINFO | SA_ONSTACK };
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t stack;

	CHILD_CHECK(sigaltstack(&none, NULL) == 0);
	ct_signal_stack_set();
	CHILD_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHILD_CHECK(raise(SIGUSR1) == 0 && handled == 1 && stack_is_set(&stack));
	CHILD_CHECK(raise(SIGUSR1) == 0 && handled == 2 && stack_is_set(&stack));
	ct_signal_stack_remove();
	CHILD_CHECK(!stack_is_set(&stack));
}

static void a_handler_knows_the_stack(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_in_a_handler), 0);
}

int test_signal_stack(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_thread_gets_a_stack_where_it_has_none,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_handler_knows_the_stack, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
