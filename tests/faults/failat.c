/*
 * failat.c - a preloaded library in which chosen allocations of a process fail with ENOMEM.
 *
 *     LD_PRELOAD=build/tests/libfailat.so FAIL_AT=17 build/ctrace show trace
 *
 *     FAIL_AT=n        the nth call of malloc(), calloc(), realloc() or a relative fails, from 1
 *     FAIL_FOR=1       every later call fails too
 *     FAIL_COUNT=file  gets the number of calls when the process ends in order
 *
 * The count is one for all threads.  It includes what libc allocates for itself: strdup(),
 * opendir(), stdio.  A run with FAIL_COUNT and without FAIL_AT gives the range for a sweep.  mmap()
 * is not counted: see sysfail.c.  The library must not be preloaded into a program under
 * AddressSanitizer, which has an allocator of its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc's own allocator below the names that this library takes. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long calls;
static atomic_int settings_read;
static long fail_at;
static bool fail_for;

/* The first allocation reads the settings, before constructors.  Two threads read the same. */
static void settings_load(void)
{
	const char *at = getenv("FAIL_AT");
	const char *every = getenv("FAIL_FOR");

	fail_at = at != NULL ? atol(at) : 0;
	fail_for = every != NULL && *every == '1';
	atomic_store_explicit(&settings_read, 1, memory_order_release);
}

static bool call_must_fail(void)
{
	long call;

	if (atomic_load_explicit(&settings_read, memory_order_acquire) == 0)
		settings_load();
	call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
	if (fail_at <= 0 || call < fail_at || (call > fail_at && !fail_for))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return call_must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
	return call_must_fail() ? NULL : __libc_calloc(items, size);
}

void *realloc(void *old, size_t size)
{
	return call_must_fail() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t items, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(items, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, total);
}

void *memalign(size_t alignment, size_t size)
{
	return call_must_fail() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out_memory, size_t alignment, size_t size)
{
	int saved = errno;
	void *memory = memalign(alignment, size);

	errno = saved; /* the status says it all */
	if (memory == NULL)
		return ENOMEM;
	*out_memory = memory;
	return 0;
}

/* Of the process that the counts were asked for, and of its children, whoever ends last. */
__attribute__((destructor)) static void count_write(void)
{
	const char *path = getenv("FAIL_COUNT");
	char text[32];
	int size;
	int fd;

	if (path == NULL)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	size = snprintf(text, sizeof(text), "%ld\n", atomic_load(&calls));
	(void)!write(fd, text, (size_t)size);
	close(fd);
}
