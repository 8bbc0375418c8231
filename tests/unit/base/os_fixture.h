/*
 * os_fixture.h - a directory of its own for each test of the door to the operating system.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OS_FIXTURE_H
#define CT_OS_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os_parts.h"

#define UNUSED __attribute__((unused))

static char room[64];

static UNUSED int set_up(void **state)
{
	const char *directory = getenv("TMPDIR");

	(void)snprintf(room, sizeof room, "%s/os-XXXXXX",
		       directory != NULL && strlen(directory) < 40 ? directory : "/tmp");
	(void)state;
	return mkdtemp(room) == NULL || chdir(room) != 0;
}

static UNUSED int tear_down(void **state)
{
	char command[100];

	(void)state;
	(void)snprintf(command, sizeof command, "rm -rf %s", room);
	return chdir("/") != 0 || system(command) != 0;
}

static UNUSED void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

static UNUSED mode_t mode_of(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return info.st_mode & 07777;
}

static UNUSED uint64_t size_of(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return (uint64_t)info.st_size;
}

static UNUSED enum ctrace_status try_open(const char *path, int flags)
{
	int fd = -7;
	enum ctrace_status status = ct_os_open_file(AT_FDCWD, path, flags, &fd);

	if (status == CTRACE_OK) {
		assert_true(fd >= 0);
		ct_os_close(&fd);
		assert_int_equal(fd, -1);
	} else {
		assert_int_equal(fd, -7); /* out only on success */
		assert_int_not_equal(errno, 0);
	}
	return status;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
