/*
 * temporary_file.c - files for data that memory cannot hold.
 *
 * Called by exporters, by the reader of compressed files and by the tool's stores of lines, on one
 * thread.  No file remains however the tool ends.  Where the file system can, the file never has a
 * name; elsewhere it has one for a moment.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/temporary_file.h"

#include "base/os_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *ct_temporary_directory(const char *otherwise)
{
	const char *directory = ct_os_environment("TMPDIR");

	return directory != NULL ? directory : otherwise;
}

static int temporary_open_and_unlink(const char *directory)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/ctrace.XXXXXX", directory) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	free(path);
	return fd;
}

int ct_temporary_open(const char *directory)
{
	int fd = ct_os_must_fail(CT_OS_OPEN)
			 ? -1
			 : open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	/* The file system or the kernel has no O_TMPFILE. */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = temporary_open_and_unlink(directory);
	return fd;
}
