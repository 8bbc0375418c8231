/*
 * test_guard.c - in a locked section no handler runs and no cancellation acts; what was before is
 * there again after it.  A shield blocks signals for many sections.
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
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../sanitizer.h"
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

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled = signal;
}

static void a_handler_waits_for_the_end_of_the_section(void **state)
{
	struct sigaction action = { .sa_handler = handle };

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	ct_guard_enter();
	ct_guard_enter();
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(handled, 0);
	ct_guard_leave();
	assert_int_equal(handled, 0);
	ct_guard_leave();
	assert_int_equal(handled, SIGUSR1);
}

static void *cancelled_in_section(void *out)
{
	pthread_mutex_t *mutex = out;

	ct_guard_lock(mutex);
	pthread_testcancel();
	ct_guard_unlock(mutex);
	pthread_testcancel();
	return NULL;
}

static void a_cancelled_thread_releases_its_lock(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	assert_int_equal(pthread_create(&thread, NULL, cancelled_in_section, &mutex), 0);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(pthread_mutex_trylock(&mutex), 0);
}

static void cancel_myself(void)
{
	CT_CANCEL_OFF();
	(void)pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void command(unsigned *steps)
{
	CT_CANCEL_OFF();
	cancel_myself();
	*steps = 1;
	pthread_testcancel();
	*steps = 2;
}

static void *cancelled_in_a_command(void *argument)
{
	command(argument);
	pthread_testcancel();
	*(unsigned *)argument = 3;
	return NULL;
}

static void the_mask_of_before_is_known_inside(void **state)
{
	sigset_t mask, own;

	(void)state;
	(void)sigemptyset(&own);
	(void)sigaddset(&own, SIGUSR2);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &own, NULL), 0);
	for (int round = 0; round < 2; round++) {
		ct_guard_mask(&mask);
		assert_int_equal(sigismember(&mask, SIGUSR2), 1);
		assert_int_equal(sigismember(&mask, SIGTERM), 0);
		if (round == 0)
			ct_guard_enter();
	}
	ct_guard_leave();
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &own, NULL), 0);
}

/* Signals may come all the while. */
static void a_cancellation_waits_for_the_end_of_a_command(void **state)
{
	unsigned steps = 0;
	pthread_t thread;
	sigset_t mask;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, cancelled_in_a_command, &steps), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(steps, 2);
	{
		CT_CANCEL_OFF();
		assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
		assert_int_equal(sigismember(&mask, SIGUSR1), 0);
		assert_int_equal(ct_thread_locked, 0);
	}
	assert_int_equal(ct_cancel_off(), PTHREAD_CANCEL_ENABLE);
	assert_int_equal(ct_cancel_off(), PTHREAD_CANCEL_DISABLE);
	ct_cancel_restore(&(int){ PTHREAD_CANCEL_ENABLE });
	assert_int_equal(ct_cancel_off(), PTHREAD_CANCEL_ENABLE);
	ct_cancel_restore(&(int){ PTHREAD_CANCEL_ENABLE });
}

/* In a child: the signal at its default would end it. */
static void a_file_size_limit_raises_no_signal(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		const struct rlimit limit = { 0, RLIM_INFINITY };
		char path[] = "/tmp/guard-XXXXXX";
		int fd = mkstemp(path);
		sigset_t pending;

		(void)unlink(path);
		(void)signal(SIGXFSZ, SIG_DFL);
		if (fd < 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(2);
		ct_guard_enter();
		if (ct_os_truncate(fd, 4096) == CTRACE_OK || errno != EFBIG)
			_exit(3);
		ct_guard_leave();
		_exit(errno == EFBIG && sigpending(&pending) == 0 &&
				      sigismember(&pending, SIGXFSZ) == 0
			      ? 0
			      : 4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static sigjmp_buf away;

static void jump_away(int signal)
{
	siglongjmp(away, signal);
}

/* The handler runs as soon as signals are allowed again, and does not return to the end of the
 * section. */
static void a_handler_that_leaves_by_a_jump_leaves_nothing_behind(void **state)
{
	struct sigaction action = { .sa_handler = jump_away };
	sigset_t mask;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	if (sigsetjmp(away, 1) == 0) {
		ct_guard_enter();
		assert_int_equal(raise(SIGUSR1), 0);
		ct_guard_leave();
		fail();
	}
	assert_int_equal(ct_thread_locked, 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	assert_int_equal(sigismember(&mask, SIGUSR1), 0);
	assert_int_equal(ct_cancel_off(), PTHREAD_CANCEL_ENABLE);
	ct_cancel_restore(&(int){ PTHREAD_CANCEL_ENABLE });
}

/* There is no output of ours in the section, so the signal cannot be ours. */
static void a_sigpipe_of_the_program_in_a_section_arrives(void **state)
{
	struct sigaction action = { .sa_handler = handle };

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &action, NULL), 0);
	handled = 0;
	ct_guard_enter();
	assert_int_equal(raise(SIGPIPE), 0);
	ct_guard_leave();
	assert_int_equal(handled, SIGPIPE);
	assert_int_not_equal(signal(SIGPIPE, SIG_DFL), SIG_ERR);
}

static unsigned times_handled;

static void count_signal(int signal)
{
	(void)signal;
	times_handled++;
}

static void use_a_section(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	ct_guard_lock(&mutex);
	assert_int_equal(ct_thread_locked, 1);
	ct_guard_unlock(&mutex);
	assert_int_equal(ct_thread_locked, 0);
}

static void a_handler_waits_for_the_end_of_the_shield(void **state)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct ct_shield outer, inner;
	const sigset_t *lifted;
	sigset_t mask;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	times_handled = 0;
	CT_CANCEL_OFF();
	assert_null(ct_shield_lift());
	ct_shield_restore(NULL);
	ct_shield_begin(&outer);
	assert_int_equal(raise(SIGUSR1), 0);
	use_a_section();
	ct_shield_begin(&inner);
	use_a_section();
	ct_shield_end(&inner);
	assert_int_equal(times_handled, 0);
	ct_guard_mask(&mask);
	assert_int_equal(sigismember(&mask, SIGUSR1), 0);
	errno = EXDEV;
	lifted = ct_shield_lift();
	assert_int_equal(errno, EXDEV);
	assert_non_null(lifted);
	assert_int_equal(times_handled, 1);
	assert_int_equal(raise(SIGUSR1), 0);
	use_a_section();
	assert_int_equal(times_handled, 2);
	ct_shield_restore(lifted);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(times_handled, 2);
	ct_shield_end(&outer);
	assert_int_equal(times_handled, 3);
}

static void behind_a_shield_the_mask_is_that_of_before(void **state)
{
	struct ct_shield shield;
	sigset_t mask;

	(void)state;
	CT_CANCEL_OFF();
	ct_shield_begin(&shield);
	ct_guard_enter();
	ct_guard_mask(&mask);
	ct_guard_leave();
	ct_shield_end(&shield);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

/* For good, so in a child. */
static void signals_of_faults_are_left_when_somebody_handles_them(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		sigset_t mask[2];

		for (unsigned i = 0; i < 2; i++) {
			ct_guard_enter();
			(void)pthread_sigmask(SIG_SETMASK, NULL, &mask[i]);
			ct_guard_leave();
			ct_os_signals_leave_faults();
		}
		_exit(sigismember(&mask[0], SIGSEGV) == 1 && sigismember(&mask[1], SIGSEGV) == 0 &&
				      sigismember(&mask[1], SIGTERM) == 1
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* With nobody who reads it. */
static int broken_pipe(void)
{
	int ends[2];

	if (pipe(ends) != 0 || close(ends[0]) != 0)
		_exit(9);
	return ends[1];
}

/* In a child: both signals at their default would end it. */
static void output_behind_a_shield_raises_no_signal(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		const sigset_t *lifted;
		struct ct_shield shield;
		int fd = broken_pipe();
		size_t written;

		(void)signal(SIGPIPE, SIG_DFL);
		ct_shield_begin(&shield);
		ct_guard_enter();
		if (ct_os_append(fd, "x", 1, &written) == CTRACE_OK || errno != EPIPE)
			_exit(2);
		ct_guard_leave();
		lifted = ct_shield_lift();
		ct_shield_restore(lifted);
		if (ct_os_append(fd, "x", 1, &written) == CTRACE_OK || errno != EPIPE)
			_exit(3);
		ct_shield_end(&shield);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* In a child: SIGXFSZ at its default would end it.  The program's own SIGPIPE waits for the program
 * all the while. */
static void one_signal_of_the_program_does_not_keep_another_of_ours(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		const struct rlimit limit = { 0, RLIM_INFINITY };
		char path[] = "/tmp/guard-XXXXXX";
		int fd = mkstemp(path);
		size_t written;
		sigset_t set;

		(void)unlink(path);
		(void)signal(SIGXFSZ, SIG_DFL);
		(void)sigemptyset(&set);
		(void)sigaddset(&set, SIGPIPE);
		if (fd < 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
		    pthread_sigmask(SIG_BLOCK, &set, NULL) != 0 || raise(SIGPIPE) != 0)
			_exit(2);
		ct_guard_enter();
		if (ct_os_append(broken_pipe(), "x", 1, &written) == CTRACE_OK ||
		    ct_os_truncate(fd, 4096) == CTRACE_OK)
			_exit(4);
		ct_guard_leave();
		_exit(sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1 ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The child of a thread that was in two sections when it forked, and behind no shield. */
static void a_forked_child_is_in_no_section(void **state)
{
	int status;
	pid_t child;

	(void)state;
	ct_guard_enter();
	ct_guard_enter();
	child = fork();
	if (child == 0) {
		sigset_t mask;

		ct_guard_reset();
		if (ct_thread_locked != 0)
			_exit(2);
		if (pthread_sigmask(SIG_SETMASK, NULL, &mask) != 0 ||
		    sigismember(&mask, SIGUSR1) != 0)
			_exit(3);
		if (ct_cancel_off() != PTHREAD_CANCEL_ENABLE)
			_exit(4);
		ct_guard_leave();
		_exit(ct_thread_locked == 0 ? 0 : 5);
	}
	ct_guard_leave();
	ct_guard_leave();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_reset_outside_sections_leaves_the_programs_own_mask(void **state)
{
	sigset_t own, mask;

	(void)state;
	(void)sigemptyset(&own);
	(void)sigaddset(&own, SIGUSR2);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &own, NULL), 0);
	ct_guard_reset();
	assert_int_equal(ct_thread_locked, 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &own, &mask), 0);
	assert_int_equal(sigismember(&mask, SIGUSR2), 1);
}

static pthread_mutex_t traced = PTHREAD_MUTEX_INITIALIZER;
static bool was_in_handler, has_lock;

static void lock_in_handler(int number)
{
	(void)number;
	was_in_handler = ct_thread_is_in_handler();
	has_lock = ct_guard_lock_in_trace(&traced);
	if (has_lock)
		ct_guard_unlock(&traced);
}

static void a_handler_does_not_wait_for_the_lock_of_a_trace_call(void **state)
{
	const struct sigaction action = { .sa_handler = lock_in_handler };

	(void)state;
	assert_false(ct_thread_is_in_handler());
	assert_true(ct_guard_lock_in_trace(&traced));
	assert_int_equal(ct_thread_locked, 1);
	assert_int_equal(pthread_mutex_trylock(&traced), EBUSY);
	ct_guard_unlock(&traced);
	assert_int_equal(ct_thread_locked, 0);
	if (IS_THREAD_SANITIZED)
		return; /* it calls handlers itself, later */
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_true(was_in_handler && has_lock); /* a free one is taken */
	assert_int_equal(pthread_mutex_lock(&traced), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_true(was_in_handler && !has_lock);
	assert_int_equal(ct_thread_locked, 0);
	assert_int_equal(pthread_mutex_unlock(&traced), 0);
	assert_int_equal(signal(SIGUSR1, SIG_DFL) == SIG_ERR, 0);
}

int test_guard(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_its_own),
		cmocka_unit_test(a_lock_raises_the_mark_while_it_is_held),
		cmocka_unit_test(a_handler_waits_for_the_end_of_the_section),
		cmocka_unit_test(a_cancelled_thread_releases_its_lock),
		cmocka_unit_test(a_cancellation_waits_for_the_end_of_a_command),
		cmocka_unit_test(the_mask_of_before_is_known_inside),
		cmocka_unit_test(a_file_size_limit_raises_no_signal),
		cmocka_unit_test(a_handler_that_leaves_by_a_jump_leaves_nothing_behind),
		cmocka_unit_test(one_signal_of_the_program_does_not_keep_another_of_ours),
		cmocka_unit_test(a_sigpipe_of_the_program_in_a_section_arrives),
		cmocka_unit_test(a_forked_child_is_in_no_section),
		cmocka_unit_test(a_reset_outside_sections_leaves_the_programs_own_mask),
		cmocka_unit_test(a_handler_waits_for_the_end_of_the_shield),
		cmocka_unit_test(behind_a_shield_the_mask_is_that_of_before),
		cmocka_unit_test(signals_of_faults_are_left_when_somebody_handles_them),
		cmocka_unit_test(output_behind_a_shield_raises_no_signal),
		cmocka_unit_test(a_handler_does_not_wait_for_the_lock_of_a_trace_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
