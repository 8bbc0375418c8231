/*
 * hold.c - preloaded: holds the process's nth write to a file whose path has a given text in it.
 *
 * BATTERY_HOLD=n,text[,ms]: the nth such write waits until hold_let_go() has been called
 * (thread_buffers.c finds it by name), or for ever, and with BATTERY_HOLD_AGAIN=1 so does the next
 * one behind it; with ms every such write from the nth on takes so long, and nobody lets it go.
 * What waits is in the middle of a destination's work: past all that was checked, before the system
 * call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPEN, HELD, LET_GO, DONE };

static long count, at = -1, milliseconds;
static bool again;
static char wanted[200];
static int state;
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off64_t);
static ssize_t (*real_write)(int, const void *, size_t);

bool hold_is_held(void);
void hold_let_go(void);
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
ssize_t pwritev64(int fd, const struct iovec *spans, int spans_count, off64_t offset);

__attribute__((constructor)) static void hold_start(void)
{
	const char *text = getenv("BATTERY_HOLD");

	real_pwrite = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
	real_pwritev =
		(ssize_t(*)(int, const struct iovec *, int, off64_t))dlsym(RTLD_NEXT, "pwritev64");
	real_write = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	again = getenv("BATTERY_HOLD_AGAIN") != NULL;
	if (text != NULL)
		(void)sscanf(text, "%ld,%199[^,],%ld", &at, wanted, &milliseconds);
}

static void pause_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&time, NULL);
}

static void hold_here(int fd)
{
	char name[64], path[4096];
	ssize_t size;
	long now;

	if (at < 0)
		return;
	(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	size = readlink(name, path, sizeof path - 1);
	if (size < 0)
		return;
	path[size] = '\0';
	if (strstr(path, wanted) == NULL)
		return;
	now = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (milliseconds != 0) {
		if (now >= at)
			pause_ms(milliseconds);
		return;
	}
	if (now != at && !(again && now == at + 1))
		return;
	__atomic_store_n(&state, HELD, __ATOMIC_RELEASE);
	while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != LET_GO)
		pause_ms(1);
}

static void hold_end(void)
{
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == LET_GO)
		__atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) bool hold_is_held(void)
{
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == HELD;
}

/* Returns when the held call has been made. */
__attribute__((visibility("default"))) void hold_let_go(void)
{
	if (!hold_is_held())
		return;
	__atomic_store_n(&state, LET_GO, __ATOMIC_RELEASE);
	while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == LET_GO)
		pause_ms(1);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	ssize_t done;

	hold_here(fd);
	done = real_pwrite(fd, data, size, offset);
	hold_end();
	return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite64(fd, data, size, offset);
}

ssize_t pwritev64(int fd, const struct iovec *spans, int spans_count, off64_t offset)
{
	ssize_t done;

	hold_here(fd);
	done = real_pwritev(fd, spans, spans_count, offset);
	hold_end();
	return done;
}

ssize_t pwritev(int fd, const struct iovec *spans, int spans_count, off_t offset)
{
	return pwritev64(fd, spans, spans_count, offset);
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t done;

	hold_here(fd);
	done = real_write(fd, data, size);
	hold_end();
	return done;
}
