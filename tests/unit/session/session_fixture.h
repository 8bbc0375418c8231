/*
 * session_fixture.h - a room with a run directory in it, and bytes of files that are read, cut and
 * changed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_FIXTURE_H
#define CT_SESSION_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"

#define UNUSED __attribute__((unused))

static char room[64];    /* current directory */
static char run_dir[80]; /* in it; made by enter_room() */

/* A name for mkdtemp() in the test's own directory for such, when that is not too long. */
static UNUSED void print_template(char out[64], const char *name)
{
	const char *directory = getenv("TMPDIR");

	(void)snprintf(out, 64, "%s/%s-XXXXXX",
		       directory != NULL && strlen(directory) < 40 ? directory : "/tmp", name);
}

static UNUSED void enter_room(void)
{
	print_template(room, "unit");
	assert_non_null(mkdtemp(room));
	assert_int_equal(chdir(room), 0);
	(void)snprintf(run_dir, sizeof run_dir, "%s/run", room);
	assert_int_equal(mkdir(run_dir, 0700), 0);
}

static UNUSED void leave_room(void)
{
	char command[200];

	assert_int_equal(chdir("/"), 0);
	(void)snprintf(command, sizeof command, "chmod -R u+rwX %s; rm -rf %s", room, room);
	assert_int_equal(system(command), 0);
}

static UNUSED bool exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

static UNUSED void put_file(const char *path, const void *data, size_t size)
{
	int fd;

	(void)chmod(path, 0600);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	assert_int_equal(close(fd), 0);
}

static UNUSED void poke_file(const char *path, uint64_t offset, const void *data, size_t size)
{
	int fd;

	(void)chmod(path, 0600); /* files of live processes are kept from accidents */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, size, (off_t)offset), (ssize_t)size);
	assert_int_equal(close(fd), 0);
}

/* Runs body in a child, which ends by SIGKILL, and gives its pid. */
static UNUSED pid_t run_and_kill(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		body();
		(void)raise(SIGKILL);
		_exit(99);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return pid;
}

/* Runs body in a child, which has to end with 0. */
static UNUSED void run_child(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		body();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child, where cmocka's assertions would go on in the parent's tests. */
#define CHILD_CHECK(condition) \
	do { \
		if (!(condition)) { \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1); \
		} \
	} while (0)

#endif
