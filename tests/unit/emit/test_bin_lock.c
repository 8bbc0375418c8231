/*
 * test_bin_lock.c - a file of a directory is locked once, by one process, and under the name that
 * leads to it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

#include <pthread.h>

static int directory_fd;

static enum ctrace_status lock_open(int *fd, struct ct_file_id *id)
{
	return ct_bin_lock_open(directory_fd, "metadata", O_CREAT, fd, id);
}

/* What another process finds. */
static enum ctrace_status lock_open_elsewhere(void)
{
	pid_t child = fork();
	int how;

	if (child == 0) {
		struct ct_file_id id;
		int fd;

		_exit((int)lock_open(&fd, &id));
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how));
	return (enum ctrace_status)WEXITSTATUS(how);
}

static void locked_file_is_nobody_elses(void **state)
{
	struct ct_file_id id;
	int fd;

	(void)state;
	assert_int_equal(lock_open(&fd, &id), CTRACE_OK);
	assert_int_equal(lock_open_elsewhere(), CTRACE_TIMED_OUT);
	ct_bin_lock_close(&fd, &id);
	assert_int_equal(fd, -1);
	assert_int_equal(lock_open_elsewhere(), CTRACE_OK);
}

/* Closing a second descriptor of the file would drop the lock: there is none. */
static void same_process_does_not_lock_twice(void **state)
{
	struct ct_file_id id, second_id;
	int fd, second;

	(void)state;
	assert_int_equal(lock_open(&fd, &id), CTRACE_OK);
	assert_int_equal(lock_open(&second, &second_id), CTRACE_TIMED_OUT);
	assert_int_equal(lock_open_elsewhere(), CTRACE_TIMED_OUT);
	ct_bin_lock_close(&fd, &id);
	assert_int_equal(lock_open(&fd, &id), CTRACE_OK);
	ct_bin_lock_close(&fd, &id);
}

static void put_another_there(const char *name)
{
	if (strcmp(name, "bin.lock") != 0)
		return;
	ct_point_set(NULL);
	assert_int_equal(system("echo new > new && mv new metadata"), 0);
}

/* Between the opening and the lock the file is replaced: the lock is on the file that has the name.
 */
static void lock_is_on_the_file_that_has_the_name(void **state)
{
	struct ct_file_id id;
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(system("echo old > metadata"), 0);
	ct_point_set(put_another_there);
	assert_int_equal(lock_open(&fd, &id), CTRACE_OK);
	assert_int_equal(stat("metadata", &info), 0);
	assert_int_equal(id.inode, info.st_ino);
	assert_int_equal(info.st_size, 4);
	assert_int_equal(lock_open_elsewhere(), CTRACE_TIMED_OUT);
	ct_bin_lock_close(&fd, &id);
}

static struct {
	enum ctrace_status status;
	unsigned calls;
} meanwhile;

/* A second thread that wants the file while the first one is about to lock it. */
static void *lock_open_too(void *unused)
{
	struct ct_file_id id;
	int fd;

	(void)unused;
	meanwhile.status = lock_open(&fd, &id);
	return NULL;
}

static void let_another_thread_try(const char *name)
{
	pthread_t thread;

	if (strcmp(name, "bin.lock") != 0)
		return;
	ct_point_set(NULL);
	meanwhile.calls++;
	assert_int_equal(pthread_create(&thread, NULL, lock_open_too, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* The consumer thread and the recovery thread may want one directory at the same time.  The one
 * that comes second must not even open the file: closing it would drop the lock of the first. */
static void two_threads_do_not_lock_one_file(void **state)
{
	struct ct_file_id id;
	int fd;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		meanwhile.calls = 0;
		/* In the first round there is no file yet. */
		assert_int_equal(round == 0 ? system("rm -f metadata") : 0, 0);
		ct_point_set(let_another_thread_try);
		assert_int_equal(lock_open(&fd, &id), CTRACE_OK);
		assert_int_equal(meanwhile.calls, 1);
		assert_int_equal(meanwhile.status, CTRACE_TIMED_OUT);
		assert_int_equal(lock_open_elsewhere(), CTRACE_TIMED_OUT);
		ct_bin_lock_close(&fd, &id);
		assert_int_equal(lock_open_elsewhere(), CTRACE_OK);
	}
}

static int setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	directory_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return directory_fd >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
	ct_point_set(NULL);
	(void)close(directory_fd);
	return fixture_teardown(state);
}

int test_bin_lock(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locked_file_is_nobody_elses, setup, teardown),
		cmocka_unit_test_setup_teardown(same_process_does_not_lock_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_is_on_the_file_that_has_the_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(two_threads_do_not_lock_one_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
