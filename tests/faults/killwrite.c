/*
 * killwrite.c - preloaded: the nth write of the process to a file is its last.
 *
 * BATTERY_KILL=n,part: the nth write, to a file whose path has BATTERY_KILL_PATH in it, puts
 * nothing (part 0), up to a page boundary inside it (1) or all of it (2) into the file, and then
 * comes SIGKILL, as when a fatal signal meets a long write.  BATTERY_COUNT=file gets the number of
 * writes of a process that lived.  Only writes with an offset, and vectors with one, count; those
 * are the ones of destinations.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static long count, at = -1, part;
static char wanted[200];
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off64_t);

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
ssize_t pwritev64(int fd, const struct iovec *spans, int spans_count, off64_t offset);

__attribute__((constructor)) static void kill_start(void)
{
	const char *text = getenv("BATTERY_KILL");

	real_pwrite = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
	real_pwritev =
		(ssize_t(*)(int, const struct iovec *, int, off64_t))dlsym(RTLD_NEXT, "pwritev64");
	if (text != NULL)
		(void)sscanf(text, "%ld,%ld", &at, &part);
	text = getenv("BATTERY_KILL_PATH");
	if (text != NULL)
		(void)snprintf(wanted, sizeof wanted, "%s", text);
}

__attribute__((destructor)) static void kill_end(void)
{
	const char *path = getenv("BATTERY_COUNT");
	int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)dprintf(fd, "%ld\n", count);
}

static bool write_is_last(int fd)
{
	char name[64], path[4096];
	ssize_t size;

	(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	size = readlink(name, path, sizeof path - 1);
	if (size < 0)
		return false;
	path[size] = '\0';
	return strstr(path, wanted) != NULL &&
	       __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == at;
}

static void kill_here(int fd, const char *data, size_t size, off64_t offset)
{
	size_t done = part == 0     ? 0
		      : part == 2   ? size
		      : size > 4096 ? 4096 - (size_t)(offset % 4096)
				    : size / 2;

	if (done != 0)
		(void)!real_pwrite(fd, data, done, offset);
	(void)kill(getpid(), SIGKILL);
	for (;;)
		(void)pause();
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	if (write_is_last(fd))
		kill_here(fd, data, size, offset);
	return real_pwrite(fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite64(fd, data, size, offset);
}

ssize_t pwritev64(int fd, const struct iovec *spans, int spans_count, off64_t offset)
{
	if (write_is_last(fd)) {
		size_t size = 0, used = 0;
		char *all;

		for (int i = 0; i < spans_count; i++)
			size += spans[i].iov_len;
		all = malloc(size + 1);
		for (int i = 0; all != NULL && i < spans_count; used += spans[i++].iov_len)
			memcpy(all + used, spans[i].iov_base, spans[i].iov_len);
		kill_here(fd, all, size, offset);
	}
	return real_pwritev(fd, spans, spans_count, offset);
}

ssize_t pwritev(int fd, const struct iovec *spans, int spans_count, off_t offset)
{
	return pwritev64(fd, spans, spans_count, offset);
}
