/*
 * list_config.c - a running process's MFTRACE_CONFIG, when it leads to nothing that can be read.
 *
 * A program says nothing of it: without its configuration it traces nothing.  So the operator's list does.  The environment that the
 * process began with and its directories are what /proc has of them; where they cannot be read nothing is said.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ENVIRONMENT_LIMIT ((size_t)8 << 20)

/* The value of NAME= among texts that end with a NUL each; NULL: it is not there. */
static const char *find_variable(const struct ct_buf *environment, const char *name)
{
	const char *at = environment->data, *end = at + environment->size;
	size_t size = strlen(name);

	for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		if ((size_t)(end - at) > size && memcmp(at, name, size) == 0 && at[size] == '=')
			return at + size + 1;
	return NULL;
}

/* What opening it as the process would comes to: an errno, or 0. */
static int try_open(uint32_t pid, const char *path)
{
	char seen[8192];
	struct stat info;
	int error = 0;
	int fd;

	(void)snprintf(seen, sizeof seen, "/proc/%" PRIu32 "/%s/%s", pid, path[0] == '/' ? "root" : "cwd", path);
	fd = open(seen, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	if (fstat(fd, &info) != 0)
		error = errno;
	else if (S_ISDIR(info.st_mode))
		error = EISDIR;
	ct_os_close(&fd);
	return error;
}

int ct_list_config_error(const struct ct_folder_entry *entry, uint32_t pid, struct ct_buf *out_path)
{
	struct ct_buf environment;
	const char *path = NULL;
	char source[64];
	int error = 0;

	ct_buf_init(&environment);
	(void)snprintf(source, sizeof source, "/proc/%" PRIu32 "/environ", pid);
	if (entry->is_alive && ct_os_read_file(source, ENVIRONMENT_LIMIT, &environment) == CTRACE_OK && environment.size != 0) {
		(void)ct_buf_text(&environment);
		path = find_variable(&environment, "MFTRACE_CONFIG");
	}
	if (path != NULL && path[0] != '\0')
		error = try_open(pid, path);
	if (error != 0)
		ct_buf_add_text(out_path, path);
	ct_buf_fini(&environment);
	return error;
}
