/*
 * os_alone.c - processes whose first thread has ended, and those that only threads of ours have
 * left.
 *
 * Linux keeps a process as long as one thread runs, and libc calls exit(0) when its last thread
 * returns.  Our consumer and control threads do not return by themselves, so somebody has to look.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct first_thread {
	char state;
	unsigned long threads; /* of the process */
	int exit_code;         /* as of wait(2); 0 before its end */
};

/* Reads /proc/self/stat: the third, 20th and 52nd field.  The second is a name in parentheses,
 * which may hold anything.  False: not known. */
static bool first_thread_read(struct first_thread *out)
{
	char text[1024];
	size_t got = 0;
	int fd = ct_os_high(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
	bool is_read = fd >= 0 && ct_os_read_at(fd, text, sizeof text - 1, 0, &got) == CTRACE_OK &&
		       got > 0;
	const char *at = NULL;

	ct_os_close(&fd);
	if (is_read) {
		text[got] = '\0';
		at = strrchr(text, ')');
	}
	if (at == NULL || at[1] == '\0')
		return false;
	out->state = at[2];
	for (unsigned field = 2; at != NULL && field < 52; field++) {
		if (field == 20)
			out->threads = strtoul(at, NULL, 10);
		at = strchr(at + 1, ' ');
	}
	out->exit_code = at != NULL ? atoi(at) : 0;
	return true;
}

/* A thread that has ended has no program.  So a look takes no descriptor from the program while the
 * first thread lives. */
static bool first_thread_lives(void)
{
	char byte;

	return readlink("/proc/self/exe", &byte, 1) == 1;
}

static bool first_thread_find_ended(struct first_thread *out)
{
	return !first_thread_lives() && first_thread_read(out) &&
	       (out->state == 'Z' || out->state == 'X');
}

bool ct_os_first_thread_has_ended(void)
{
	struct first_thread first;
	int kept = errno;
	bool has_ended = first_thread_find_ended(&first);

	errno = kept;
	return has_ended;
}

/* Counts threads, because the ids in /proc may be those of another name space. */
bool ct_os_is_alone(int *out_exit_code)
{
	uint32_t before[CT_OS_THREADS], after[CT_OS_THREADS];
	struct first_thread first;
	unsigned long ours;

	if (first_thread_lives())
		return false;
	/* Those that are there before and after were there in between. */
	ours = ct_os_threads_list(before);
	if (!first_thread_find_ended(&first) || ct_os_threads_list(after) != ours ||
	    memcmp(before, after, sizeof before) != 0)
		return false;
	*out_exit_code = first.exit_code;
	return first.threads == 1 + ours;
}

enum ctrace_status ct_os_read_maps(uint32_t pid, size_t limit, struct ct_buf *out)
{
	char path[64];
	const struct dirent *entry;
	enum ctrace_status status;
	DIR *tasks;

	(void)snprintf(path, sizeof path, "/proc/%u/maps", (unsigned)pid);
	status = ct_os_read_file(path, limit, out);
	if (status != CTRACE_OK || out->size != 0)
		return status;
	/* The first thread has ended.  Any other one has the same memory. */
	(void)snprintf(path, sizeof path, "/proc/%u/task", (unsigned)pid);
	tasks = opendir(path);
	while (tasks != NULL && status == CTRACE_OK && out->size == 0 &&
	       (entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof path, "/proc/%u/task/%.20s/maps", (unsigned)pid,
			       entry->d_name);
		if (ct_os_read_file(path, limit, out) != CTRACE_OK)
			ct_buf_clear(out); /* it has ended just now */
	}
	if (tasks != NULL)
		(void)closedir(tasks);
	return status;
}
