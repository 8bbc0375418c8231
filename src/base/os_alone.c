/*
 * os_alone.c - processes whose first thread has ended, and those that only threads of ours have
 * left.
 *
 * Linux keeps a process as long as one thread runs, and libc calls exit(0) when its last thread
 * returns.  Our threads never return by themselves, so we look, and do it in libc's place.
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

bool ct_os_first_thread_has_ended(void)
{
	struct first_thread first;
	int kept = errno;
	bool has_ended = first_thread_read(&first) && (first.state == 'Z' || first.state == 'X');

	errno = kept;
	return has_ended;
}

bool ct_os_is_alone(int *out_exit_code)
{
	struct first_thread first;
	struct dirent *entry;
	unsigned long found = 0;
	int fd;
	DIR *tasks;

	if (!first_thread_read(&first) || (first.state != 'Z' && first.state != 'X'))
		return false;
	fd = ct_os_high(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	tasks = fd >= 0 ? ct_os_directory_stream(fd) : NULL;
	if (tasks == NULL) {
		ct_os_close(&fd);
		return false;
	}
	while ((entry = readdir(tasks)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (entry->d_name[0] == '.')
			continue;
		if (tid != (uint32_t)getpid() && !ct_os_thread_is_ours(tid))
			break;
		found++;
	}
	(void)closedir(tasks);
	*out_exit_code = first.exit_code;
	/* The list ends early where a thread ends while it is read. */
	return entry == NULL && found == first.threads;
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
