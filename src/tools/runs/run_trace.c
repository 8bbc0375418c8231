/*
 * run_trace.c - the directory that the trace of `ctrace run` goes to.
 *
 * A directory of that name is renamed only if it is a trace: one that `ctrace run` made, or a
 * BINFILE.  Of NAME.old, which is replaced, only files of traces are removed.
 *
 * The mark of a run has the run's number.  Its processes write to the directory with this number
 * and to no other (lib/emit/file_run.c), whatever name it has when their events are recovered.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "format/format.h"
#include "lib/emit/emit.h"
#include "operator/recovery/recovery.h"
#include "tools/runs/run_losses.h"
#include "tools/runs/run_report.h"

#define MARK CT_FILE_RUN_MARK
#define OLD CT_FILE_RUN_OLD
#define LOOK_SIZE 4096
#define IS_TAKEN "another ctrace run writes to it; choose another name with -o"

/* ---- what is a trace ---- */

/* Metadata that a killed process has not finished. */
static bool name_is_unfinished(const char *name)
{
	return strcmp(name, ".metadata.new") == 0;
}

static bool name_is_of_trace(const char *name)
{
	return strcmp(name, "metadata") == 0 || strncmp(name, "stream.", 7) == 0 ||
	       strncmp(name, ".stream.", 8) == 0 || name_is_unfinished(name);
}

static int directory_open(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool directory_is_binfile(int fd)
{
	static const char ours[] = "tracer_name = \"ctrace\"";
	char text[LOOK_SIZE];
	int file = openat(fd, "metadata", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t size = file >= 0 ? read(file, text, sizeof text) : -1;

	ct_os_close(&file);
	return size > 0 && memmem(text, (size_t)size, ours, sizeof ours - 1) != NULL;
}

static bool directory_is_run(int fd)
{
	struct stat info;

	return fstatat(fd, MARK, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

static bool entry_is_self(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Calls each() for every entry; false ends it, and is returned. */
static bool directory_each(int fd, bool (*each)(int fd, const char *name))
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	bool is_good = directory != NULL;

	if (directory == NULL) {
		ct_os_close(&copy);
		return false;
	}
	while (is_good && (entry = readdir(directory)) != NULL)
		is_good = entry_is_self(entry->d_name) || each(fd, entry->d_name);
	(void)closedir(directory);
	return is_good;
}

static bool entry_is_nothing(int fd, const char *name)
{
	(void)fd;
	(void)name;
	return false;
}

static bool directory_is_trace(int fd)
{
	return directory_is_run(fd) || directory_is_binfile(fd);
}

/* ---- the mark ---- */

/* Returns the mark, locked: the processes of the run see by the lock that this tool lives
 * (lib/start/run_watch.c).  Where there are no locks, they do not look. */
static int mark_write(int fd, const char *run)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int mark = openat(fd, MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char text[CT_FILE_RUN_SIZE];
	ssize_t size;
	int error;

	if (mark < 0)
		return -1;
	size = snprintf(text, sizeof text, "%s%s", run,
			fcntl(mark, F_OFD_SETLK, &whole) == 0 ? CT_FILE_RUN_GOES_ON : "");
	errno = ENOSPC;
	if (write(mark, text, (size_t)size) == size)
		return mark;
	error = errno;
	ct_os_close(&mark);
	(void)unlinkat(fd, MARK, 0);
	errno = error;
	return -1;
}

/* Gives the number of the run that made the directory; "": a BINFILE, or the run of another
 * version.  Returns true if the run has left processes or events, or may have. */
static bool mark_read(int fd, char out_run[33])
{
	int mark = openat(fd, MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[CT_FILE_RUN_SIZE + 1] = "";
	ssize_t size = mark >= 0 ? read(mark, text, sizeof text - 1) : 0;
	size_t number = strspn(text, "0123456789abcdef");

	ct_os_close(&mark);
	(void)snprintf(out_run, 33, "%.32s", size > 0 && number == 32 ? text : "");
	return out_run[0] != '\0' && strcmp(text + number, CT_FILE_RUN_DONE) != 0;
}

static void run_make(char out_run[33])
{
	uint8_t number[16];

	ct_trace_make_uuid(number);
	for (size_t i = 0; i < sizeof number; i++)
		(void)snprintf(out_run + 2 * i, 3, "%02x", number[i]);
}

static bool entry_is_mark(int fd, const char *name)
{
	(void)fd;
	return strcmp(name, MARK) == 0;
}

/* ---- removing one ---- */

/* Others than files of traces stay, and so do their directories. */
static bool file_remove(int fd, const char *name)
{
	if (name_is_of_trace(name))
		(void)unlinkat(fd, name, 0);
	return true;
}

static bool entry_is_unfinished(int fd, const char *name)
{
	(void)fd;
	return name_is_unfinished(name);
}

static bool entry_remove(int fd, const char *name)
{
	int inner = directory_open(fd, name);

	if (inner < 0) {
		(void)file_remove(fd, name);
		return true;
	}
	/* A process that was killed when it began has left an empty one. */
	if (directory_is_binfile(inner) || directory_each(inner, entry_is_unfinished)) {
		(void)directory_each(inner, file_remove);
		(void)unlinkat(fd, name, AT_REMOVEDIR);
	}
	ct_os_close(&inner);
	return true;
}

/* Removes a directory that has nothing but the mark; another one keeps its mark. */
static bool directory_remove(const char *path, int fd)
{
	if (!directory_each(fd, entry_is_mark))
		return false;
	(void)unlinkat(fd, MARK, 0);
	return rmdir(path) == 0;
}

static bool trace_remove(const char *path)
{
	int fd = directory_open(AT_FDCWD, path);
	bool is_gone;

	if (fd < 0)
		return run_report(
			path, errno == ENOTDIR || errno == ELOOP
				      ? "it is no directory, and stays; choose another name with -o"
				      : strerror(errno));
	if (!directory_is_trace(fd) && !directory_each(fd, entry_is_nothing)) {
		ct_os_close(&fd);
		return run_report(
			path,
			"it is no trace, and stays; rename it, or choose another name with -o");
	}
	(void)directory_each(fd, entry_remove);
	is_gone = directory_remove(path, fd);
	ct_os_close(&fd);
	return is_gone ||
	       run_report(
		       path,
		       "it has files that belong to no trace, and stays; rename it, or choose another name with -o");
}

/* ---- making one ---- */

static bool path_absolute(struct run_trace *trace, const char *name)
{
	char here[PATH_MAX];
	int size;

	if (name[0] == '/')
		size = snprintf(trace->path, sizeof trace->path, "%s", name);
	else if (getcwd(here, sizeof here) != NULL)
		size = snprintf(trace->path, sizeof trace->path, "%s/%s",
				strcmp(here, "/") != 0 ? here : "", name);
	else
		return run_report(name, strerror(errno));
	if (size < 0 || (size_t)size >= sizeof trace->path)
		return run_report(name, strerror(ENAMETOOLONG));
	while (size > 1 && trace->path[size - 1] == '/')
		trace->path[--size] = '\0';
	/* It stands in a line of the configuration, which ends with its last letter, and a $ may
	 * begin a variable there. */
	for (int i = 0; i < size; i++)
		if ((unsigned char)trace->path[i] < ' ' || trace->path[i] == '$')
			return run_report(
				name,
				"a trace needs a path without $ and control characters; choose another with -o");
	return trace->path[size - 1] != ' ' ||
	       run_report(name,
			  "the name of a trace does not end with a blank; choose another with -o");
}

/* Removes NAME.old, and the events that wait until they can be written to it. */
static bool old_remove(const char *path)
{
	int fd = directory_open(AT_FDCWD, path);
	struct run_losses losses = { 0 };
	uint64_t waited;
	char run[33];
	bool has_left;

	has_left = fd >= 0 && mark_read(fd, run);
	ct_os_close(&fd);
	if (has_left)
		run_losses_gather(run, &losses);
	if (losses.alive > 0)
		return run_report(
			path,
			"a process of that run still writes to it, and it stays; choose another name with -o");
	if (!trace_remove(path))
		return false;
	waited = losses.processes > 0 ? run_losses_drop(run) : 0;
	if (waited > 0) {
		fputs("ctrace run: ", stderr);
		ct_tool_print(stderr, path, strlen(path));
		fprintf(stderr,
			": it was replaced, and %" PRIu64
			" event%s that waited to be written to it %s removed\n",
			waited, waited == 1 ? "" : "s", waited == 1 ? "is" : "are");
	}
	return true;
}

/* Has a run begun there and traced nothing?  Then it was killed: the directory does not replace
 * NAME.old. */
static bool trace_is_unused(int fd)
{
	struct run_losses losses = { 0 };
	char run[33];

	if (mark_read(fd, run))
		run_losses_gather(run, &losses);
	/* Waiting events go to the trace before it is renamed, if it can be written now. */
	if (losses.waiting > 0)
		ct_recovery_on_the_way("ctrace run");
	return run[0] != '\0' && losses.processes == 0 && directory_each(fd, entry_is_mark);
}

/* The trace of an earlier run, which is locked and open as fd, gets its other name. */
static bool trace_rename(struct run_trace *trace, int fd)
{
	char old[PATH_MAX];
	struct stat info;
	struct stat locked;

	(void)snprintf(old, sizeof old, "%s" OLD, trace->path);
	if (lstat(old, &info) == 0 && !old_remove(old))
		return false;
	/* Another run may have renamed it before it was locked. */
	if (fstat(fd, &locked) != 0 || lstat(trace->path, &info) != 0 ||
	    info.st_ino != locked.st_ino || info.st_dev != locked.st_dev)
		return run_report(trace->shown,
				  "another ctrace run begins; choose another name with -o");
	if (rename(trace->path, old) != 0)
		return run_report(trace->shown, strerror(errno));
	trace->has_old = true;
	return true;
}

/* An empty directory is used as it is. */
static bool trace_move_aside(struct run_trace *trace)
{
	struct stat info;
	bool is_done;
	int fd;

	if (lstat(trace->path, &info) != 0)
		return errno == ENOENT || run_report(trace->shown, strerror(errno));
	fd = directory_open(AT_FDCWD, trace->path);
	if (fd < 0 || !directory_is_trace(fd)) {
		bool is_empty = fd >= 0 && directory_each(fd, entry_is_nothing);

		ct_os_close(&fd);
		return is_empty ||
		       run_report(
			       trace->shown,
			       S_ISDIR(info.st_mode)
				       ? "it is a directory, but no trace, and stays; choose another name with -o"
				       : "it is no trace, and stays; choose another name with -o");
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		is_done = run_report(trace->shown, IS_TAKEN);
	else
		is_done =
			trace_is_unused(fd) ? unlinkat(fd, MARK, 0) == 0 : trace_rename(trace, fd);
	ct_os_close(&fd);
	return is_done;
}

/* Opens the directory, locks it and writes the mark.  Returns false, with errno, when that fails:
 * EWOULDBLOCK and EEXIST when another run was quicker. */
static bool directory_take(struct run_trace *trace)
{
	trace->fd = directory_open(AT_FDCWD, trace->path);
	if (trace->fd < 0 || flock(trace->fd, LOCK_EX | LOCK_NB) != 0)
		return false;
	trace->mark = mark_write(trace->fd, trace->run);
	return trace->mark >= 0;
}

bool run_trace_open(struct run_trace *trace, const char *name)
{
	int error;

	*trace = (struct run_trace){ .shown = name, .fd = -1, .mark = -1 };
	run_make(trace->run);
	if (!path_absolute(trace, name) || !trace_move_aside(trace))
		return false;
	if (mkdir(trace->path, 0700) != 0 && errno != EEXIST)
		return run_report(name, strerror(errno));
	if (directory_take(trace))
		return true;
	error = errno;
	if (error == EWOULDBLOCK || error == EEXIST)
		/* The directory, with the mark in it, is the other run's. */
		ct_os_close(&trace->fd);
	else
		run_trace_discard(trace);
	return run_report(name,
			  error == EWOULDBLOCK || error == EEXIST ? IS_TAKEN : strerror(error));
}

void run_trace_end(struct run_trace *trace)
{
	if (trace->mark >= 0)
		(void)!ftruncate(trace->mark, (off_t)strlen(trace->run));
	ct_os_close(&trace->mark);
}

static bool entry_is_no_trace(int fd, const char *name)
{
	int inner = directory_open(fd, name);
	bool is_trace = inner >= 0 && directory_is_binfile(inner);

	ct_os_close(&inner);
	return !is_trace;
}

bool run_trace_has_some(const struct run_trace *trace)
{
	return trace->fd >= 0 && !directory_each(trace->fd, entry_is_no_trace);
}

void run_trace_done(const struct run_trace *trace)
{
	int mark = openat(trace->fd, MARK, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);

	if (mark >= 0)
		(void)!write(mark, CT_FILE_RUN_DONE, sizeof CT_FILE_RUN_DONE - 1);
	ct_os_close(&mark);
}

void run_trace_discard(struct run_trace *trace)
{
	char old[PATH_MAX];

	run_trace_end(trace);
	if (trace->fd >= 0 && !run_trace_has_some(trace)) {
		if (directory_remove(trace->path, trace->fd) && trace->has_old) {
			(void)snprintf(old, sizeof old, "%s" OLD, trace->path);
			(void)rename(old, trace->path);
		}
	}
	ct_os_close(&trace->fd);
}
