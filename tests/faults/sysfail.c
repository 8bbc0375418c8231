/*
 * sysfail.c - a preloaded library in which chosen system calls of a process fail, or transfer only
 * half.
 *
 *     LD_PRELOAD=build/tests/libsysfail.so FAULT=pread:5:3:3 build/ctrace show trace
 *
 *     FAULT=call:errno:from:to[:short]
 *                     Calls number `from` to `to` of `call`, counted from 1, fail with `errno` (a
 *                     number).  With `short` they transfer half of the bytes and succeed.
 *     SYSCOUNT=file   gets a line "call count" for each call that was made, when the process ends
 *                     in order
 *
 * The calls are the rows of CALLS below.  Variants share a row: openat() counts as open, pwrite64()
 * as pwrite, fdatasync() as fsync, renameat() as rename, unlinkat() as unlink, mkdirat() as mkdir,
 * stat() as stat and posix_fallocate() as fallocate.  The count is one for all threads.
 *
 * Only calls through libc's wrappers pass here.  What libc calls from inside (stdio's reads and
 * writes, opendir()) does not: a test of those uses /dev/full, RLIMIT_FSIZE or a closed descriptor.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* clang-format off */
#define CALLS(X) \
	X(accept) X(bind) X(close) X(connect) X(fallocate) X(fcntl) X(flock) X(fstat) X(fsync) X(ftruncate) X(link) X(listen) \
	X(mkdir) X(mmap) X(open) X(poll) X(pread) X(preadv) X(pwrite) X(pwritev) X(read) X(recvmsg) X(rename) X(sendmsg) \
	X(socket) X(stat) X(symlink) X(unlink) X(write) X(writev)
/* clang-format on */

#define CALL_NUMBER(name) CALL_##name,
enum call { CALLS(CALL_NUMBER) CALL_COUNT };
#define CALL_NAME(name) #name,
static const char *const call_names[CALL_COUNT] = { CALLS(CALL_NAME) };

enum fault { FAULT_NONE, FAULT_ERROR, FAULT_SHORT };

static atomic_long counts[CALL_COUNT];
static atomic_int settings_read;
static struct {
	int call; /* enum call, or -1 */
	int error;
	long from;
	long to;
	bool is_short;
} settings;

static void settings_parse(const char *text)
{
	char name[24] = "";
	char kind[8] = "";
	int fields = sscanf(text, "%23[a-z]:%d:%ld:%ld:%7s", name, &settings.error, &settings.from,
			    &settings.to, kind);

	if (fields < 4)
		return;
	settings.is_short = strcmp(kind, "short") == 0;
	for (int i = 0; i < CALL_COUNT; i++)
		if (strcmp(name, call_names[i]) == 0)
			settings.call = i;
}

/* The first call reads the settings, before constructors.  Two threads read the same. */
static void settings_load(void)
{
	const char *text = getenv("FAULT");
	int saved = errno;

	settings.call = -1;
	if (text != NULL)
		settings_parse(text);
	errno = saved;
	atomic_store_explicit(&settings_read, 1, memory_order_release);
}

/* Counts a call and says what becomes of it; sets errno for FAULT_ERROR. */
static enum fault call_count(enum call call)
{
	long number;

	if (atomic_load_explicit(&settings_read, memory_order_acquire) == 0)
		settings_load();
	number = atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed) + 1;
	if ((int)call != settings.call || number < settings.from || number > settings.to)
		return FAULT_NONE;
	if (settings.is_short)
		return FAULT_SHORT;
	errno = settings.error;
	return FAULT_ERROR;
}

/* Half of a size, but at least a byte: 0 would be the end of the file. */
static size_t half_of(size_t size)
{
	return size > 1 ? size / 2 : size;
}

/* The function of this name below the preloaded libraries. */
#define NEXT(name) ((__typeof__(&name))next_find(#name))

static void *next_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found == NULL)
		abort(); /* a libc that this library does not fit */
	return found;
}

/* A wrapper of a call that transfers nothing. */
#define WRAP(call, result, name, parameters, arguments) \
	result name parameters \
	{ \
		static __typeof__(&name) next; \
		if (next == NULL) \
			next = NEXT(name); \
		return call_count(CALL_##call) == FAULT_ERROR ? (result)-1 : next arguments; \
	}

/* A wrapper of a call that transfers `size` bytes. */
#define WRAP_TRANSFER(call, name, parameters, arguments) \
	ssize_t name parameters \
	{ \
		static __typeof__(&name) next; \
		enum fault fault = call_count(CALL_##call); \
		if (next == NULL) \
			next = NEXT(name); \
		if (fault == FAULT_ERROR) \
			return -1; \
		if (fault == FAULT_SHORT) \
			size = half_of(size); \
		return next arguments; \
	}

/* A wrapper of a call that transfers a vector: half of the first piece is the short form. */
#define WRAP_VECTOR(call, name, parameters, arguments) \
	ssize_t name parameters \
	{ \
		static __typeof__(&name) next; \
		enum fault fault = call_count(CALL_##call); \
		struct iovec first; \
		if (next == NULL) \
			next = NEXT(name); \
		if (fault == FAULT_ERROR) \
			return -1; \
		if (fault == FAULT_SHORT && pieces > 0) { \
			first = *vector; \
			first.iov_len = half_of(first.iov_len); \
			vector = &first; \
			pieces = 1; \
		} \
		return next arguments; \
	}

/* A wrapper of open() and its relatives, which have a mode only with some flags. */
#define WRAP_OPEN(name, parameters, arguments) \
	int name parameters \
	{ \
		static __typeof__(&name) next; \
		mode_t mode = 0; \
		if (next == NULL) \
			next = NEXT(name); \
		if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
			va_list list; \
			va_start(list, flags); \
			mode = va_arg(list, mode_t); \
			va_end(list); \
		} \
		return call_count(CALL_open) == FAULT_ERROR ? -1 : next arguments; \
	}

WRAP_TRANSFER(read, read, (int fd, void *data, size_t size), (fd, data, size))
WRAP_TRANSFER(pread, pread, (int fd, void *data, size_t size, off_t offset),
	      (fd, data, size, offset))
WRAP_TRANSFER(pread, pread64, (int fd, void *data, size_t size, off64_t offset),
	      (fd, data, size, offset))
WRAP_TRANSFER(write, write, (int fd, const void *data, size_t size), (fd, data, size))
WRAP_TRANSFER(pwrite, pwrite, (int fd, const void *data, size_t size, off_t offset),
	      (fd, data, size, offset))
WRAP_TRANSFER(pwrite, pwrite64, (int fd, const void *data, size_t size, off64_t offset),
	      (fd, data, size, offset))
WRAP_VECTOR(preadv, preadv, (int fd, const struct iovec *vector, int pieces, off_t offset),
	    (fd, vector, pieces, offset))
WRAP_VECTOR(preadv, preadv64, (int fd, const struct iovec *vector, int pieces, off64_t offset),
	    (fd, vector, pieces, offset))
WRAP_VECTOR(writev, writev, (int fd, const struct iovec *vector, int pieces), (fd, vector, pieces))
WRAP_VECTOR(pwritev, pwritev, (int fd, const struct iovec *vector, int pieces, off_t offset),
	    (fd, vector, pieces, offset))
WRAP_VECTOR(pwritev, pwritev64, (int fd, const struct iovec *vector, int pieces, off64_t offset),
	    (fd, vector, pieces, offset))
WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int directory, const char *path, int flags, ...), (directory, path, flags, mode))
WRAP_OPEN(openat64, (int directory, const char *path, int flags, ...),
	  (directory, path, flags, mode))
WRAP(mmap, void *, mmap, (void *at, size_t size, int access, int flags, int fd, off_t offset),
     (at, size, access, flags, fd, offset))
WRAP(mmap, void *, mmap64, (void *at, size_t size, int access, int flags, int fd, off64_t offset),
     (at, size, access, flags, fd, offset))
WRAP(ftruncate, int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(ftruncate, int, ftruncate64, (int fd, off64_t size), (fd, size))
WRAP(fallocate, int, fallocate, (int fd, int mode, off_t offset, off_t size),
     (fd, mode, offset, size))
WRAP(fallocate, int, fallocate64, (int fd, int mode, off64_t offset, off64_t size),
     (fd, mode, offset, size))
WRAP(fsync, int, fsync, (int fd), (fd))
WRAP(fsync, int, fdatasync, (int fd), (fd))
WRAP(flock, int, flock, (int fd, int operation), (fd, operation))
WRAP(fstat, int, fstat, (int fd, struct stat *status), (fd, status))
WRAP(fstat, int, fstat64, (int fd, struct stat64 *status), (fd, status))
WRAP(stat, int, stat, (const char *path, struct stat *status), (path, status))
WRAP(stat, int, stat64, (const char *path, struct stat64 *status), (path, status))
WRAP(stat, int, lstat, (const char *path, struct stat *status), (path, status))
WRAP(stat, int, lstat64, (const char *path, struct stat64 *status), (path, status))
WRAP(stat, int, fstatat, (int directory, const char *path, struct stat *status, int flags),
     (directory, path, status, flags))
WRAP(stat, int, fstatat64, (int directory, const char *path, struct stat64 *status, int flags),
     (directory, path, status, flags))
WRAP(rename, int, rename, (const char *from, const char *to), (from, to))
WRAP(rename, int, renameat,
     (int from_directory, const char *from, int to_directory, const char *to),
     (from_directory, from, to_directory, to))
WRAP(link, int, link, (const char *from, const char *to), (from, to))
WRAP(link, int, linkat,
     (int from_directory, const char *from, int to_directory, const char *to, int flags),
     (from_directory, from, to_directory, to, flags))
WRAP(symlink, int, symlink, (const char *from, const char *to), (from, to))
WRAP(unlink, int, unlink, (const char *path), (path))
WRAP(unlink, int, unlinkat, (int directory, const char *path, int flags), (directory, path, flags))
WRAP(unlink, int, rmdir, (const char *path), (path))
WRAP(mkdir, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(mkdir, int, mkdirat, (int directory, const char *path, mode_t mode), (directory, path, mode))
WRAP(socket, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(bind, int, bind, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size))
WRAP(listen, int, listen, (int fd, int backlog), (fd, backlog))
WRAP(connect, int, connect, (int fd, const struct sockaddr *address, socklen_t size),
     (fd, address, size))
WRAP(accept, int, accept, (int fd, struct sockaddr *address, socklen_t *size), (fd, address, size))
WRAP(accept, int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags),
     (fd, address, size, flags))
WRAP(sendmsg, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
     (fd, message, flags))
WRAP(sendmsg, ssize_t, send, (int fd, const void *data, size_t size, int flags),
     (fd, data, size, flags))
WRAP(recvmsg, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WRAP(recvmsg, ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
WRAP(poll, int, poll, (struct pollfd * polled, nfds_t count, int timeout), (polled, count, timeout))

/* Linux closes the descriptor even when close() answers an error. */
int close(int fd)
{
	static int (*next)(int);
	int result;

	if (next == NULL)
		next = NEXT(close);
	result = next(fd);
	return call_count(CALL_close) == FAULT_ERROR ? -1 : result;
}

/* These answer the error instead of setting errno. */
int posix_fallocate(int fd, off_t offset, off_t size)
{
	static int (*next)(int, off_t, off_t);

	if (next == NULL)
		next = NEXT(posix_fallocate);
	return call_count(CALL_fallocate) == FAULT_ERROR ? settings.error : next(fd, offset, size);
}

int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
	static int (*next)(int, off64_t, off64_t);

	if (next == NULL)
		next = NEXT(posix_fallocate64);
	return call_count(CALL_fallocate) == FAULT_ERROR ? settings.error : next(fd, offset, size);
}

/* The third argument is an int or a pointer; passing the word on serves both. */
#define WRAP_FCNTL(name) \
	int name(int fd, int command, ...) \
	{ \
		static int (*next)(int, int, ...); \
		va_list list; \
		void *argument; \
		va_start(list, command); \
		argument = va_arg(list, void *); \
		va_end(list); \
		if (next == NULL) \
			next = NEXT(name); \
		return call_count(CALL_fcntl) == FAULT_ERROR ? -1 : next(fd, command, argument); \
	}

WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)

/* Of the process that the counts were asked for, and of its children, whoever ends last. */
__attribute__((destructor)) static void counts_write(void)
{
	const char *path = getenv("SYSCOUNT");
	long made[CALL_COUNT];
	FILE *file;

	if (path == NULL)
		return;
	for (int i = 0; i < CALL_COUNT; i++)
		made[i] = atomic_load(&counts[i]);
	settings.call = -1;
	file = fopen(path, "w");
	if (file == NULL)
		return;
	for (int i = 0; i < CALL_COUNT; i++)
		if (made[i] != 0)
			(void)fprintf(file, "%s %ld\n", call_names[i], made[i]);
	(void)fclose(file);
}
