/*
 * run_directory.c - makes and opens a directory in the run directory.
 *
 * Called for outstanding replies and for writers.  The directory's owner and mode decide whether it
 * is used, not who made it: nobody but this user may be able to put files there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"

static enum ctrace_status status_of_errno(void)
{
	return errno == EACCES || errno == EPERM || errno == ENOTDIR || errno == ELOOP
		       ? CTRACE_DENIED
		       : CTRACE_OS_ERROR;
}

static bool is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 022) == 0;
}

static enum ctrace_status run_directory_find(enum ct_run_directory_of of, char out_path[4096])
{
	char operated[4096];

	return of == CT_RUN_OF_OPERATOR && ct_directory_is_operated(operated)
		       ? ct_directory_of_user(out_path)
		       : ct_directory_run_directory(NULL, out_path);
}

enum ctrace_status ct_run_directory_open(const char *name, enum ct_run_directory_of of,
					 char out_path[4096], int *out_fd)
{
	char run_directory[4096] = "";
	enum ctrace_status status = run_directory_find(of, run_directory);
	int fd;

	if (status != CTRACE_OK) {
		const char *wanted = ct_os_environment("CTRACE_RUN_DIR");

		(void)snprintf(out_path, 4096, "%s%.4000s",
			       wanted != NULL ? "the run directory CTRACE_RUN_DIR="
					      : "the run directory",
			       wanted != NULL ? wanted : "");
		return status;
	}
	if (snprintf(out_path, 4096, "%s/%s", run_directory, name) >= 4096) {
		errno = ENAMETOOLONG;
		return CTRACE_OS_ERROR;
	}
	if (mkdir(out_path, 0700) == 0)
		(void)chmod(out_path, 0700); /* whatever the umask is */
	else if (errno != EEXIST)
		return status_of_errno();
	fd = open(out_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return status_of_errno();
	fd = ct_os_high(fd);
	if (fd < 0)
		return CTRACE_OS_ERROR;
	if (!is_private(fd)) {
		ct_os_close(&fd);
		errno = EPERM;
		return CTRACE_DENIED;
	}
	*out_fd = fd;
	return CTRACE_OK;
}
