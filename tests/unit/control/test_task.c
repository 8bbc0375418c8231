/*
 * test_task.c - what is left for the control thread: in order, once, and only as long as its
 * descriptor is what it was.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/control/task.h"

static unsigned calls;
static uintptr_t order[CT_TASK_LIMIT];
static bool goes_on;

static int setup(void **state)
{
	(void)state;
	calls = 0;
	goes_on = true;
	ct_task_reset();
	return 0;
}

static void note(void *user)
{
	order[calls++] = (uintptr_t)user;
}

static bool hear(int fd, void *user)
{
	(void)fd;
	note(user);
	return goes_on;
}

static void tasks_run_by_the_time_they_are_due(void **state)
{
	(void)state;
	assert_true(ct_task_next_ns() == UINT64_MAX);
	assert_false(ct_task_run(UINT64_MAX - 1));
	assert_int_equal(ct_task_add(30, note, (void *)3), CTRACE_OK);
	assert_int_equal(ct_task_add(10, note, (void *)1), CTRACE_OK);
	assert_int_equal(ct_task_add(20, note, (void *)2), CTRACE_OK);
	assert_int_equal(ct_task_next_ns(), 10);
	assert_false(ct_task_run(9));
	assert_true(ct_task_run(10));
	assert_false(ct_task_run(10)); /* once */
	assert_true(ct_task_run(30));
	assert_true(ct_task_run(30));
	assert_false(ct_task_run(30));
	assert_int_equal(calls, 3);
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(order[i], i + 1);
}

static void note_and_leave_another(void *user)
{
	note(user);
	assert_int_equal(ct_task_add(50, note, (void *)7), CTRACE_OK);
}

static void a_task_may_leave_another(void **state)
{
	(void)state;
	assert_int_equal(ct_task_add(10, note_and_leave_another, NULL), CTRACE_OK);
	assert_true(ct_task_run(10));
	assert_int_equal(ct_task_next_ns(), 50);
}

static void too_many_are_refused(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (unsigned i = 0; i < CT_TASK_LIMIT; i++)
		assert_int_equal(ct_task_add(i, note, NULL), CTRACE_OK);
	assert_int_equal(ct_task_add(0, note, NULL), CTRACE_NOT_ENOUGH_MEMORY);
	for (unsigned i = 0; i < CT_WATCH_LIMIT; i++)
		assert_int_equal(ct_watch_add(fds[0], hear, NULL), CTRACE_OK);
	assert_int_equal(ct_watch_add(fds[0], hear, NULL), CTRACE_NOT_ENOUGH_MEMORY);
	ct_task_reset();
	assert_true(ct_task_next_ns() == UINT64_MAX);
	assert_int_equal(ct_watch_add(fds[0], hear, NULL), CTRACE_OK);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void a_watch_is_polled_for_as_long_as_it_wants(void **state)
{
	struct ct_watch watches[CT_WATCH_LIMIT];
	struct pollfd polled[CT_WATCH_LIMIT];
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(ct_watch_add(fds[0], hear, (void *)5), CTRACE_OK);
	assert_false(ct_watch_gather(watches, polled));
	assert_int_equal(polled[0].fd, fds[0]);
	assert_int_equal(polled[1].fd, -1);
	ct_watch_call(&watches[0], 0);
	assert_int_equal(order[0], 5);
	assert_false(ct_watch_gather(watches, polled));
	assert_int_equal(polled[0].fd, fds[0]);
	goes_on = false;
	ct_watch_call(&watches[0], 0);
	assert_false(ct_watch_gather(watches, polled));
	assert_int_equal(polled[0].fd, -1);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void one_whose_descriptor_is_another_file_hears_it_once(void **state)
{
	struct ct_watch watches[CT_WATCH_LIMIT];
	struct pollfd polled[CT_WATCH_LIMIT];
	int fds[2], null;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(ct_watch_add(fds[0], hear, NULL), CTRACE_OK);
	null = open("/dev/null", O_RDONLY);
	assert_int_equal(dup2(null, fds[0]), fds[0]); /* the program's, now */
	assert_true(ct_watch_gather(watches, polled));
	assert_int_equal(polled[0].fd, -1);
	ct_watch_call(&watches[0], 0);
	assert_int_equal(calls, 1);
	assert_false(ct_watch_gather(watches, polled)); /* though it would go on */
	assert_null(watches[0].ready);
	(void)close(null);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* While it is called, its place may be given to another. */
static int other_fd;

static bool hear_and_leave_another(int fd, void *user)
{
	(void)fd;
	note(user);
	ct_task_reset();
	assert_int_equal(ct_watch_add(other_fd, hear, NULL), CTRACE_OK);
	return false;
}

static void the_end_of_one_watch_is_not_the_end_of_the_next(void **state)
{
	struct ct_watch watches[CT_WATCH_LIMIT];
	struct pollfd polled[CT_WATCH_LIMIT];
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	other_fd = fds[1];
	assert_int_equal(ct_watch_add(fds[0], hear_and_leave_another, NULL), CTRACE_OK);
	(void)ct_watch_gather(watches, polled);
	ct_watch_call(&watches[0], 0);
	assert_false(ct_watch_gather(watches, polled));
	assert_int_equal(polled[0].fd, fds[1]);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* Of what the parent watches its child keeps nothing; what the program has at that number is the
 * program's. */
static void a_childs_copies_are_closed(void **state)
{
	int mine[2], other[2], null;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, mine), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
	assert_int_equal(ct_watch_add(mine[0], hear, NULL), CTRACE_OK);
	assert_int_equal(ct_watch_add(other[0], hear, NULL), CTRACE_OK);
	null = open("/dev/null", O_RDONLY);
	assert_int_equal(dup2(null, other[0]), other[0]);
	ct_task_detach();
	assert_int_equal(fcntl(mine[0], F_GETFD), -1);
	assert_true(fcntl(other[0], F_GETFD) >= 0);
	(void)close(null);
	(void)close(mine[1]);
	(void)close(other[0]);
	(void)close(other[1]);
}

int test_task(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tasks_run_by_the_time_they_are_due, setup),
		cmocka_unit_test_setup(a_task_may_leave_another, setup),
		cmocka_unit_test_setup(too_many_are_refused, setup),
		cmocka_unit_test_setup(a_watch_is_polled_for_as_long_as_it_wants, setup),
		cmocka_unit_test_setup(one_whose_descriptor_is_another_file_hears_it_once, setup),
		cmocka_unit_test_setup(the_end_of_one_watch_is_not_the_end_of_the_next, setup),
		cmocka_unit_test_setup(a_childs_copies_are_closed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
