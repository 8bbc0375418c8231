/*
 * new_file.c - a file that gets its name when it is complete, and is removed otherwise.
 *
 * Used by ctrace export, report, open and catalog.  Where the file system supports O_TMPFILE, the
 * file has no name until it is complete, so nothing is left however the tool ends.  Elsewhere the
 * file has a temporary name, which the signals that can be caught remove.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

volatile sig_atomic_t new_file_interrupted;

static void signal_note(int number)
{
	new_file_interrupted = number;
}

void new_file_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		struct sigaction action = { .sa_handler = signal_note }, before;

		/* A signal that the caller ignores, as under nohup, stays ignored.  A second
		 * signal ends the tool at once. */
		action.sa_flags = (int)SA_RESETHAND;
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
	}
}

void new_file_die(void)
{
	int number = (int)new_file_interrupted;

	if (number == 0)
		return;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* A file without a name gets one by its descriptor in /proc. */
static int file_open_unnamed(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char *directory;
	int fd;

	if (access("/proc/self/fd", F_OK) != 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	directory = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path + 1));
	fd = directory != NULL ? open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
	free(directory);
	return fd;
}

static bool file_name_temporary(struct new_file *file)
{
	if (asprintf(&file->named, "%s.new-%u", file->path, (unsigned)getpid()) >= 0)
		return true;
	file->named = NULL;
	errno = ENOMEM;
	return false;
}

bool new_file_open(struct new_file *file, const char *path, mode_t mode)
{
	struct stat info;

	*file = (struct new_file){ .path = path, .fd = -1 };
	file->is_special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
	if (file->is_special) {
		file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return file->fd >= 0;
	}
	file->fd = file_open_unnamed(path, mode);
	if (file->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) &&
	    file_name_temporary(file))
		file->fd = open(file->named, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (file->fd >= 0)
		return true;
	free(file->named);
	file->named = NULL;
	return false;
}

/* Gives a name to a file without one.  linkat() replaces nothing, so the first name is
 * temporary. */
static bool file_link(struct new_file *file)
{
	char unnamed[32];

	if (file->named != NULL)
		return true;
	if (!file_name_temporary(file))
		return false;
	(void)snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, unnamed, AT_FDCWD, file->named, AT_SYMLINK_FOLLOW) == 0)
		return true;
	free(file->named);
	file->named = NULL;
	return false;
}

bool new_file_end(struct new_file *file, bool is_complete)
{
	bool is_done = is_complete && new_file_interrupted == 0;
	int error = 0;

	if (is_done && !file->is_special && !file_link(file))
		error = errno;
	if (close(file->fd) != 0 && error == 0)
		error = errno;
	if (error == 0 && is_done && file->named != NULL && rename(file->named, file->path) != 0)
		error = errno;
	if (file->named != NULL && (!is_done || error != 0))
		(void)unlink(file->named);
	free(file->named);
	file->named = NULL;
	file->fd = -1;
	errno = error;
	return error == 0;
}
