/*
 * os.c - the one door to the operating system.
 *
 * Every call that can fail for reasons outside the program goes through here, so that tests can make each of them fail
 * (ct_os_fail) and so that the rules for opening files stand in one place.  errno tells why after any status but OK.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Faults asked for by tests: one a kind of call. */
struct fault {
	unsigned skip;
	unsigned times;
	int error;
};
static struct fault faults[CT_OS_CALL_COUNT];

void ct_os_fail(enum ct_os_call call, unsigned skip, unsigned times, int error)
{
	faults[call].skip = skip;
	faults[call].error = error;
	__atomic_store_n(&faults[call].times, times, __ATOMIC_RELEASE);
}

static bool must_fail(enum ct_os_call call)
{
	struct fault *fault = &faults[call];

	if (__atomic_load_n(&fault->times, __ATOMIC_ACQUIRE) == 0)
		return false;
	if (fault->skip > 0) {
		fault->skip--;
		return false;
	}
	fault->times--;
	errno = fault->error;
	return true;
}

static enum ctrace_status status_of_errno(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return CTRACE_NOT_FOUND;
	case EACCES:
	case EPERM:
	case ELOOP:
	case EROFS:
	case EISDIR: /* no regular file: a folder, */
	case ENXIO:  /* a pipe that nobody reads or a socket */
		return CTRACE_DENIED;
	case ENOMEM:
		return CTRACE_NOT_ENOUGH_MEMORY;
	default:
		return CTRACE_OS_ERROR;
	}
}

static enum ctrace_status refuse(int fd, int error)
{
	(void)close(fd);
	errno = error;
	return CTRACE_DENIED;
}

/*
 * Descriptors 0 to 2 are the program's also while they are closed: what it writes to its standard output must not end in a file of
 * ours, and a file of ours must not go when it opens /dev/null in their place.
 */
int ct_os_above_standard(int fd)
{
	int low = fd;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	ct_os_close(&low);
	return fd;
}

enum ctrace_status ct_os_open_file(int folder_fd, const char *path, int flags, int *out_fd)
{
	struct stat info;
	int fd = must_fail(CT_OS_OPEN)
			 ? -1
			 : openat(folder_fd, path, (flags & ~O_TRUNC) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	fd = ct_os_above_standard(fd);
	if (fd < 0)
		return status_of_errno();
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return refuse(fd, EINVAL);
	if (info.st_uid != geteuid() || info.st_nlink > 1)
		return refuse(fd, EPERM);
	/* A new file has mode 0600 whatever the umask is. */
	if ((flags & O_CREAT) != 0 && info.st_size == 0 && (info.st_mode & 0777) != 0600)
		(void)fchmod(fd, 0600);
	(void)fcntl(fd, F_SETFL, flags & (O_APPEND | O_ACCMODE));
	if ((flags & O_TRUNC) != 0 && ct_os_truncate(fd, 0) != CTRACE_OK) {
		int error = errno;

		(void)close(fd);
		errno = error;
		return status_of_errno();
	}
	*out_fd = fd;
	return CTRACE_OK;
}

/* A folder that we just made has mode 0700 whatever the umask is.  Not by its name: somebody may have put a link in its place. */
static void open_to_owner(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char name[64];
	struct stat info;

	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 0777) != 0700) {
		(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		(void)chmod(name, 0700);
	}
	ct_os_close(&fd);
}

enum ctrace_status ct_os_make_folder(const char *path)
{
	char partial[4096];
	size_t size = strlen(path);

	if (size == 0 || size >= sizeof partial) {
		errno = ENAMETOOLONG;
		return CTRACE_OS_ERROR;
	}
	memcpy(partial, path, size + 1);
	for (size_t i = 1; i <= size; i++) {
		struct stat info;

		if (partial[i] != '/' && partial[i] != '\0')
			continue;
		partial[i] = '\0';
		if (stat(partial, &info) != 0) {
			bool is_made = !must_fail(CT_OS_MKDIR) && mkdir(partial, 0700) == 0;

			if (!is_made && errno != EEXIST)
				return status_of_errno();
			if (is_made)
				open_to_owner(partial);
			if (stat(partial, &info) != 0) /* a link to nowhere */
				return status_of_errno();
		}
		if (!S_ISDIR(info.st_mode)) {
			errno = ENOTDIR;
			return status_of_errno();
		}
		if (i < size)
			partial[i] = '/';
	}
	return CTRACE_OK;
}

enum ctrace_status ct_os_append(int fd, const void *data, size_t size, size_t *out_written)
{
	ssize_t written;

	do {
		written = must_fail(CT_OS_WRITE) ? -1 : write(fd, data, size);
	} while (written < 0 && errno == EINTR);
	if (written < 0)
		return status_of_errno();
	*out_written = (size_t)written;
	return CTRACE_OK;
}

enum ctrace_status ct_os_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	const char *from = data;

	while (size > 0) {
		ssize_t written = must_fail(CT_OS_WRITE) ? -1 : pwrite(fd, from, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return status_of_errno();
		if (written == 0) {
			errno = ENOSPC;
			return CTRACE_OS_ERROR;
		}
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return CTRACE_OK;
}

enum ctrace_status ct_os_read_at(int fd, void *data, size_t size, uint64_t offset, size_t *out_size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t more = must_fail(CT_OS_READ) ? -1 : pread(fd, (char *)data + got, size - got, (off_t)(offset + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return status_of_errno();
		if (more == 0)
			break;
		got += (size_t)more;
	}
	*out_size = got;
	return CTRACE_OK;
}

enum ctrace_status ct_os_truncate(int fd, uint64_t size)
{
	if (must_fail(CT_OS_TRUNCATE) || ftruncate(fd, (off_t)size) != 0)
		return status_of_errno();
	return CTRACE_OK;
}

enum ctrace_status ct_os_allocate(int fd, uint64_t offset, uint64_t size)
{
	int error;

	if (must_fail(CT_OS_ALLOCATE))
		return status_of_errno();
	do {
		error = posix_fallocate(fd, (off_t)offset, (off_t)size);
	} while (error == EINTR);
	if (error != 0) {
		errno = error;
		return status_of_errno();
	}
	return CTRACE_OK;
}

enum ctrace_status ct_os_sync(int fd)
{
	if (must_fail(CT_OS_FSYNC) || fdatasync(fd) != 0)
		return status_of_errno();
	return CTRACE_OK;
}

enum ctrace_status ct_os_map(int fd, size_t size, bool shared, void **out_address)
{
	int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | (fd < 0 ? MAP_ANONYMOUS : 0);
	void *address = must_fail(CT_OS_MAP) ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (address == MAP_FAILED)
		return status_of_errno();
	*out_address = address;
	return CTRACE_OK;
}

/* All that is there, into an empty buffer; closes fd. */
static enum ctrace_status read_all(int fd, size_t limit, struct ct_buf *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (;;) {
		size_t got = 0;

		if (out->size >= limit) {
			errno = EFBIG;
			status = CTRACE_OS_ERROR;
			break;
		}
		if (!ct_buf_reserve(out, 65536)) {
			status = CTRACE_NOT_ENOUGH_MEMORY;
			break;
		}
		status = ct_os_read_at(fd, out->data + out->size, 65536, out->size, &got);
		if (status != CTRACE_OK || got == 0)
			break;
		out->size += got;
	}
	ct_os_close(&fd);
	return status;
}

enum ctrace_status ct_os_read_file(const char *path, size_t limit, struct ct_buf *out)
{
	struct stat info;
	int fd = must_fail(CT_OS_OPEN) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return status_of_errno();
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return refuse(fd, EINVAL);
	return read_all(fd, limit, out);
}

static bool is_trusted(const struct stat *folder, const struct stat *file, enum ct_os_trust trust)
{
	bool is_own = file->st_uid == geteuid() || file->st_uid == 0;

	if (trust == CT_OS_OWN)
		return is_own && (folder->st_uid == geteuid() || folder->st_uid == 0) &&
		       ((folder->st_mode | file->st_mode) & (S_IWGRP | S_IWOTH)) == 0;
	/* In a folder such as /tmp everybody may put files, but nobody may touch another's. */
	if ((folder->st_mode & S_IWOTH) != 0 && ((folder->st_mode & S_ISVTX) == 0 || !is_own))
		return false;
	return (file->st_mode & S_IWOTH) == 0;
}

enum ctrace_status ct_os_read_trusted(const char *folder, const char *name, enum ct_os_trust trust, size_t limit, struct ct_buf *out)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (trust == CT_OS_OWN ? O_NOFOLLOW : 0);
	int folder_fd = must_fail(CT_OS_OPEN) ? -1 : open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat folder_info, info;
	int fd;

	if (folder_fd < 0)
		return status_of_errno();
	fd = must_fail(CT_OS_OPEN) ? -1 : openat(folder_fd, name, flags);
	if (fd < 0 || fstat(folder_fd, &folder_info) != 0 || fstat(fd, &info) != 0) {
		ct_os_close(&folder_fd);
		ct_os_close(&fd);
		return status_of_errno();
	}
	ct_os_close(&folder_fd);
	if (!S_ISREG(info.st_mode))
		return refuse(fd, EINVAL);
	if (!is_trusted(&folder_info, &info, trust))
		return refuse(fd, EPERM);
	return read_all(fd, limit, out);
}

void ct_os_close(int *fd)
{
	int kept = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = kept;
}

struct ct_file_id ct_os_file_id(int fd)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0)
		return (struct ct_file_id){ 0, 0 };
	return (struct ct_file_id){ info.st_dev, info.st_ino };
}

bool ct_os_is_file(int fd, const struct ct_file_id *id)
{
	int kept = errno;
	struct ct_file_id now = ct_os_file_id(fd);

	errno = kept;
	return id->inode != 0 && now.inode == id->inode && now.device == id->device;
}

void ct_os_close_file(int *fd, const struct ct_file_id *id)
{
	if (ct_os_is_file(*fd, id))
		ct_os_close(fd);
	*fd = -1;
}

void ct_os_wait(const uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u), .tv_nsec = (long)(timeout_ns % 1000000000u) };

	(void)syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}

void ct_os_wake(const uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 0x7FFFFFFF, NULL, NULL, 0);
}

uint32_t ct_os_thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

bool ct_os_thread_exists(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) == 0 || errno != ESRCH;
}

static __thread bool thread_is_own;

bool ct_os_thread_is_own(void)
{
	return thread_is_own;
}

struct thread_start {
	void *(*body)(void *argument);
	void *argument;
};

static void *run_thread(void *argument)
{
	struct thread_start start = *(struct thread_start *)argument;

	free(argument);
	thread_is_own = true;
	return start.body(start.argument);
}

enum ctrace_status ct_os_thread_start(void *(*body)(void *), void *argument, const char *name, void *out_pthread)
{
	struct thread_start *start;
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	if (must_fail(CT_OS_THREAD))
		return status_of_errno();
	start = malloc(sizeof *start);
	if (start == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	*start = (struct thread_start){ body, argument };
	if (pthread_attr_init(&attributes) != 0) {
		free(start);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	(void)pthread_attr_setstacksize(&attributes, (size_t)1 << 20); /* start/stop routines of the program run on one of them */
	/* The new thread inherits the mask: it must never run one of the program's handlers. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, run_thread, start);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	if (error != 0) {
		free(start);
		errno = error;
		return CTRACE_OS_ERROR;
	}
	(void)pthread_setname_np(thread, name);
	memcpy(out_pthread, &thread, sizeof thread);
	return CTRACE_OK;
}

const char *ct_os_environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}
