/*
 * test_os_alone.c - processes whose first thread has ended.  tests/process/last_thread.py has those
 * that only threads of ours have left.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define LIMIT ((size_t)16 << 20)

static void a_process_with_its_first_thread_is_not_alone(void **state)
{
	int code;

	(void)state;
	assert_false(ct_os_first_thread_has_ended());
	assert_false(ct_os_is_alone(&code));
	assert_true(ct_os_thread_exists((uint32_t)getpid()));
}

static void *look(void *unused)
{
	struct ct_buf maps;
	bool is_right;
	int code;

	(void)unused;
	while (!ct_os_first_thread_has_ended())
		(void)usleep(1000);
	ct_buf_init(&maps);
	is_right = !ct_os_thread_exists((uint32_t)getpid()) && !ct_os_is_alone(&code) &&
		   ct_os_read_maps((uint32_t)getpid(), LIMIT, &maps) == CTRACE_OK &&
		   strstr(ct_buf_text(&maps), "[stack]") != NULL;
	_exit(is_right ? 0 : 1);
}

static void its_end_leaves_the_others(void **state)
{
	int status = -1;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, look, NULL) != 0)
			_exit(2);
		pthread_exit(NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void the_memory_of_each_process_is_read_and_a_zombie_has_none(void **state)
{
	struct ct_buf maps;
	siginfo_t info;
	pid_t child;

	(void)state;
	ct_buf_init(&maps);
	assert_int_equal(ct_os_read_maps((uint32_t)getpid(), LIMIT, &maps), CTRACE_OK);
	assert_non_null(strstr(ct_buf_text(&maps), "[stack]"));
	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	ct_buf_clear(&maps);
	assert_int_equal(ct_os_read_maps((uint32_t)child, LIMIT, &maps), CTRACE_OK);
	assert_int_equal(maps.size, 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ct_os_read_maps((uint32_t)child, LIMIT, &maps), CTRACE_NOT_FOUND);
	ct_buf_fini(&maps);
}

static sigset_t mask;
static bool was_own;
static uint32_t has_run;

static bool is_listed(void)
{
	uint32_t tids[CT_OS_THREADS];
	unsigned count = ct_os_threads_list(tids), found = 0;
	bool is = false;

	for (unsigned i = 0; i < CT_OS_THREADS; i++) {
		found += tids[i] != 0;
		is |= tids[i] == ct_os_thread_id();
	}
	return is && found == count;
}

static void *note_mask(void *unused)
{
	(void)unused;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	was_own = ct_os_thread_is_own() || is_listed();
	__atomic_store_n(&has_run, 1, __ATOMIC_RELEASE);
	ct_os_wake(&has_run);
	return NULL;
}

static void *start_end(void *unused)
{
	bool is_ours = ct_os_thread_is_own() && is_listed();

	(void)unused;
	return is_ours && ct_os_thread_start_program(note_mask) == CTRACE_OK ? &has_run : NULL;
}

static void the_thread_that_ends_it_is_the_programs(void **state)
{
	pthread_t thread;
	void *started = NULL;

	(void)state;
	assert_int_equal(ct_os_thread_start(start_end, NULL, "ctrace-test", &thread), CTRACE_OK);
	assert_int_equal(pthread_join(thread, &started), 0);
	assert_ptr_equal(started, &has_run);
	assert_true(ct_os_wait_until(&has_run, 1, UINT64_MAX));
	assert_false(was_own);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

int test_os_alone(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_with_its_first_thread_is_not_alone),
		cmocka_unit_test(its_end_leaves_the_others),
		cmocka_unit_test(the_memory_of_each_process_is_read_and_a_zombie_has_none),
		cmocka_unit_test(the_thread_that_ends_it_is_the_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
