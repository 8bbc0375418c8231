/*
 * run_trace.c - the directory that the trace of `ctrace run` goes to.
 *
 * A directory of that name is renamed only if it is a trace: one that `ctrace run` made, or a
 * BINFILE.  Of NAME.old, which is replaced, only files of traces are removed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#define MARK ".ctrace-run"
#define LOOK_SIZE 4096

static bool trace_report(const char *path, const char *what)
{
	fputs("ctrace run: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", what);
	return false;
}

/* ---- what is a trace ---- */

static bool name_is_of_trace(const char *name)
{
	return strcmp(name, "metadata") == 0 || strncmp(name, "stream.", 7) == 0 ||
	       strncmp(name, ".stream.", 8) == 0;
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

/* ---- removing one ---- */

/* Others than files of traces stay, and so do their directories. */
static bool file_remove(int fd, const char *name)
{
	if (name_is_of_trace(name))
		(void)unlinkat(fd, name, 0);
	return true;
}

static bool entry_remove(int fd, const char *name)
{
	int inner = directory_open(fd, name);

	if (inner < 0) {
		(void)file_remove(fd, name);
		return true;
	}
	if (directory_is_binfile(inner)) {
		(void)directory_each(inner, file_remove);
		(void)unlinkat(fd, name, AT_REMOVEDIR);
	}
	ct_os_close(&inner);
	return true;
}

/* Removes a directory that has nothing but the mark; another one keeps its mark. */
static bool directory_remove(const char *path, int fd)
{
	bool had_mark = unlinkat(fd, MARK, 0) == 0;
	int mark;

	if (rmdir(path) == 0)
		return true;
	mark = had_mark ? openat(fd, MARK, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	ct_os_close(&mark);
	return false;
}

static bool trace_remove(const char *path)
{
	int fd = directory_open(AT_FDCWD, path);
	bool is_gone;

	if (fd < 0)
		return trace_report(
			path, errno == ENOTDIR || errno == ELOOP
				      ? "it is no directory, and stays; choose another name with -o"
				      : strerror(errno));
	if (!directory_is_trace(fd) && !directory_each(fd, entry_is_nothing)) {
		ct_os_close(&fd);
		return trace_report(
			path,
			"it is no trace, and stays; rename it, or choose another name with -o");
	}
	(void)directory_each(fd, entry_remove);
	is_gone = directory_remove(path, fd);
	ct_os_close(&fd);
	return is_gone ||
	       trace_report(
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
		return trace_report(name, strerror(errno));
	if (size < 0 || (size_t)size >= sizeof trace->path)
		return trace_report(name, strerror(ENAMETOOLONG));
	while (size > 1 && trace->path[size - 1] == '/')
		trace->path[--size] = '\0';
	/* It stands in a line of the configuration, which ends with its last letter, and a $ may
	 * begin a variable there. */
	for (int i = 0; i < size; i++)
		if ((unsigned char)trace->path[i] < ' ' || trace->path[i] == '$')
			return trace_report(
				name,
				"a trace needs a path without $ and control characters; choose another with -o");
	return trace->path[size - 1] != ' ' ||
	       trace_report(
		       name,
		       "the name of a trace does not end with a blank; choose another with -o");
}

/* The trace of an earlier run, which is locked and open as fd, gets its other name. */
static bool trace_rename(struct run_trace *trace, int fd)
{
	char old[PATH_MAX];
	struct stat info;
	struct stat locked;

	(void)snprintf(old, sizeof old, "%s.old", trace->path);
	if (lstat(old, &info) == 0 && !trace_remove(old))
		return false;
	/* Another run may have renamed it before it was locked. */
	if (fstat(fd, &locked) != 0 || lstat(trace->path, &info) != 0 ||
	    info.st_ino != locked.st_ino || info.st_dev != locked.st_dev)
		return trace_report(trace->shown,
				    "another ctrace run begins; choose another name with -o");
	if (rename(trace->path, old) != 0)
		return trace_report(trace->shown, strerror(errno));
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
		return errno == ENOENT || trace_report(trace->shown, strerror(errno));
	fd = directory_open(AT_FDCWD, trace->path);
	if (fd < 0 || !directory_is_trace(fd)) {
		bool is_empty = fd >= 0 && directory_each(fd, entry_is_nothing);

		ct_os_close(&fd);
		return is_empty ||
		       trace_report(
			       trace->shown,
			       S_ISDIR(info.st_mode)
				       ? "it is a directory, but no trace, and stays; choose another name with -o"
				       : "it is no trace, and stays; choose another name with -o");
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		is_done = trace_report(
			trace->shown,
			"another ctrace run writes to it; choose another name with -o");
	else
		is_done = trace_rename(trace, fd);
	ct_os_close(&fd);
	return is_done;
}

bool run_trace_open(struct run_trace *trace, const char *name)
{
	int mark;

	*trace = (struct run_trace){ .shown = name, .fd = -1 };
	if (!path_absolute(trace, name) || !trace_move_aside(trace))
		return false;
	if (mkdir(trace->path, 0700) != 0 && errno != EEXIST)
		return trace_report(name, strerror(errno));
	trace->fd = directory_open(AT_FDCWD, trace->path);
	mark = trace->fd >= 0
		       ? openat(trace->fd, MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
		       : -1;
	if (mark < 0 || flock(trace->fd, LOCK_EX | LOCK_NB) != 0) {
		(void)trace_report(name, strerror(errno));
		ct_os_close(&mark);
		run_trace_discard(trace);
		return false;
	}
	ct_os_close(&mark);
	return true;
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

void run_trace_discard(struct run_trace *trace)
{
	char old[PATH_MAX];

	if (trace->fd >= 0 && !run_trace_has_some(trace)) {
		if (directory_remove(trace->path, trace->fd) && trace->has_old) {
			(void)snprintf(old, sizeof old, "%s.old", trace->path);
			(void)rename(old, trace->path);
		}
	}
	ct_os_close(&trace->fd);
}
