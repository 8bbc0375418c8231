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
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Faults asked for by tests: one a kind of call. */
struct fault {
	unsigned skip;
	unsigned times;
	int error;
};
static struct fault faults[CT_OS_CALL_COUNT];

#define HIGH_LIMIT 1024u /* numbers of descriptors above this one are not used: the kernel's table grows with the highest */
#define OPEN_TRIES 5u    /* a file that is renamed while it is opened is another one at the next try */
#define PIECE_MAX ((uint64_t)1 << 20)
#define PIECE_MIN ((uint64_t)64 << 10)
#define INTERRUPTIONS 1000u /* of one allocation */

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
 * The first number for descriptors of ours: the upper quarter of what the program may have, and of 1,024, so that the kernel's
 * table of descriptors stays small.  open() of the program takes the lowest free number.  A program that closes every
 * descriptor and opens files of its own thus gets none of our numbers before it has hundreds open.
 */
static int high_base(void)
{
	struct rlimit limit;
	rlim_t count = HIGH_LIMIT;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count)
		count = limit.rlim_cur;
	count -= count / 4;
	return count > STDERR_FILENO ? (int)count : STDERR_FILENO + 1;
}

/* A copy with a high number, else with any number above 2.  Negative, with errno, when there is none. */
static int duplicate_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, high_base());

	return high < 0 && errno != EBADF ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : high;
}

int ct_os_high(int fd)
{
	int low = fd, high;

	if (fd < 0 || fd >= high_base())
		return fd;
	high = duplicate_high(low);
	if (high < 0 && low > STDERR_FILENO)
		return low;
	ct_os_close(&low);
	return high;
}

enum ctrace_status ct_os_stat(int fd, struct stat *out_info)
{
	if (must_fail(CT_OS_STAT) || fstat(fd, out_info) != 0)
		return status_of_errno();
	return CTRACE_OK;
}

enum ctrace_status ct_os_stat_at(int folder_fd, const char *path, struct stat *out_info)
{
	if (must_fail(CT_OS_STAT) || fstatat(folder_fd, path, out_info, AT_SYMLINK_NOFOLLOW) != 0)
		return status_of_errno();
	return CTRACE_OK;
}

/*
 * Opens, and moves the descriptor up.  The descriptor has a low number for a moment, and the program may close it and open a file of
 * its own there.  So the file behind the high number is compared with what the path names before anything is done to it, and the
 * low number is closed only after that: on a mismatch it may be the program's.
 */
static enum ctrace_status open_named(int folder_fd, const char *path, int flags, int *out_fd, struct stat *out_info)
{
	for (unsigned i = 0; i < OPEN_TRIES; i++) {
		struct stat there;
		int high, low;

		do {
			low = must_fail(CT_OS_OPEN) ? -1 : openat(folder_fd, path, flags, 0600);
		} while (low < 0 && errno == EINTR);
		if (low < 0)
			return status_of_errno();
		ct_point("os.opened");
		high = duplicate_high(low);
		if (high < 0 && errno == EBADF)
			continue;
		if (high < 0 && low <= STDERR_FILENO) {
			ct_os_close(&low);
			return status_of_errno();
		}
		if (high < 0) {
			high = low; /* no other number is free */
			low = -1;
		}
		if (fstat(high, out_info) != 0 || fstatat(folder_fd, path, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
		    out_info->st_ino != there.st_ino || out_info->st_dev != there.st_dev) {
			if (low >= 0)
				ct_os_close(&high);
			errno = ESTALE;
			continue;
		}
		ct_os_close(&low);
		*out_fd = high;
		return CTRACE_OK;
	}
	return CTRACE_OS_ERROR;
}

enum ctrace_status ct_os_open_file(int folder_fd, const char *path, int flags, int *out_fd)
{
	const int looking = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	enum ctrace_status status;
	struct stat info;
	int fd;

	status = open_named(folder_fd, path, (flags & ~O_TRUNC) | looking, &fd, &info);
	if (status != CTRACE_OK)
		return status;
	if (!S_ISREG(info.st_mode))
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

enum ctrace_status ct_os_open_folder(int folder_fd, const char *path, int *out_fd)
{
	struct stat info;

	return open_named(folder_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, out_fd, &info);
}

/* A folder that we just made has mode 0700 whatever the umask is.  Not by its name: somebody may have put a link in its place. */
static void open_to_owner(const char *path)
{
	int fd = ct_os_high(open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
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
		ssize_t written;

		ct_point("os.write");
		written = must_fail(CT_OS_WRITE) ? -1 : pwrite(fd, from, size, (off_t)offset);
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
	int result;

	ct_point("os.truncate");
	do {
		result = must_fail(CT_OS_TRUNCATE) ? -1 : ftruncate(fd, (off_t)size);
	} while (result != 0 && errno == EINTR);
	return result == 0 ? CTRACE_OK : status_of_errno();
}

/*
 * In pieces: some kernels' tmpfs undoes the whole call when a signal is pending, so one large call under a fast interval timer would
 * never end.  Each interruption halves the piece.
 */
enum ctrace_status ct_os_allocate(int fd, uint64_t offset, uint64_t size)
{
	uint64_t piece = PIECE_MAX;
	unsigned interruptions = 0;

	while (size > 0) {
		uint64_t part = size < piece ? size : piece;
		int error = must_fail(CT_OS_ALLOCATE) ? errno : posix_fallocate(fd, (off_t)offset, (off_t)part);

		if (error == EINTR && ++interruptions < INTERRUPTIONS) {
			piece = piece > PIECE_MIN ? piece / 2 : piece;
			continue;
		}
		if (error != 0) {
			errno = error;
			return status_of_errno();
		}
		offset += part;
		size -= part;
	}
	return CTRACE_OK;
}

/* Only where it has a meaning: of other file systems some warn, or know another flag by this number. */
void ct_os_store_in_place(int fd)
{
	struct statfs info;
	int flags = 0;
	int kept = errno;

	if (fstatfs(fd, &info) == 0 && info.f_type == BTRFS_SUPER_MAGIC && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NOCOW_FL;
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	errno = kept;
}

#define KEPT_TRIES 5u /* another one who opens it may put the mode back in between */

int ct_os_open_kept(int folder_fd, const char *path)
{
	const int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = must_fail(CT_OS_OPEN) ? -1 : openat(folder_fd, path, O_RDWR | flags);
	struct stat info;

	for (unsigned tries = 0; fd < 0 && errno == EACCES && tries < KEPT_TRIES; tries++) {
		int look = openat(folder_fd, path, O_RDONLY | flags);

		errno = EACCES;
		if (look < 0)
			return -1;
		if (fstat(look, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && fchmod(look, 0600) == 0) {
			struct ct_file_id id = ct_os_file_id(look);

			fd = openat(folder_fd, path, O_RDWR | flags);
			(void)fchmod(look, CT_OS_KEPT_MODE);
			if (fd >= 0 && !ct_os_is_file(fd, &id))
				ct_os_close(&fd);
		} else {
			tries = KEPT_TRIES;
		}
		if (fd < 0)
			errno = EACCES;
		ct_os_close(&look);
	}
	return ct_os_high(fd);
}

uint64_t ct_os_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

enum ctrace_status ct_os_sync(int fd)
{
	int result;

	do {
		result = must_fail(CT_OS_FSYNC) ? -1 : fdatasync(fd);
	} while (result != 0 && errno == EINTR);
	return result == 0 ? CTRACE_OK : status_of_errno();
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

enum ctrace_status ct_os_rename(int folder_fd, const char *from, const char *to)
{
	if (must_fail(CT_OS_RENAME) || renameat(folder_fd, from, folder_fd, to) != 0)
		return status_of_errno();
	return CTRACE_OK;
}

enum ctrace_status ct_os_rename_aside(const char *from, const char *to)
{
	struct stat info;
	int result;

	if (must_fail(CT_OS_RENAME))
		return status_of_errno();
	result = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	/* A file system that does not know the flag.  rename() replaces a folder only when that is empty. */
	if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
		if (fstatat(AT_FDCWD, to, &info, AT_SYMLINK_NOFOLLOW) == 0)
			errno = EEXIST;
		else if (errno == ENOENT)
			result = rename(from, to);
	}
	return result == 0 ? CTRACE_OK : status_of_errno();
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
	if (fstat(fd, &info) != 0) {
		ct_os_close(&fd);
		return status_of_errno();
	}
	if (!S_ISREG(info.st_mode))
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

enum ct_os_identity ct_os_identify(int fd, const struct ct_file_id *id)
{
	int kept = errno;
	struct stat info;

	if (fd < 0 || id->inode == 0)
		return CT_OS_OTHER;
	if (ct_os_stat(fd, &info) != CTRACE_OK)
		return errno == EBADF ? CT_OS_OTHER : CT_OS_UNCLEAR;
	errno = kept;
	return info.st_ino == id->inode && info.st_dev == id->device ? CT_OS_SAME : CT_OS_OTHER;
}

bool ct_os_is_file(int fd, const struct ct_file_id *id)
{
	int kept = errno;
	enum ct_os_identity identity = ct_os_identify(fd, id);

	errno = kept;
	return identity == CT_OS_SAME;
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

bool ct_os_wait_until(const uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	uint64_t start = ct_clock_mono_ns();

	for (;;) {
		uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		uint64_t waited = ct_clock_mono_ns() - start;

		if (now == value)
			return true;
		if (waited >= timeout_ns)
			return false;
		ct_os_wait(word, now, timeout_ns - waited);
	}
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

static __thread bool thread_is_own __attribute__((tls_model("initial-exec")));

/* Of the program: the processors that its first thread might use when this was loaded, and the
 * signal mask of the thread that started the first of ours.  Written before there is one. */
static struct {
	unsigned char cpus[1024]; /* as the kernel has them: 8,192 */
	bool has_cpus;
	sigset_t mask;
	uint32_t has_mask; /* atomic */
} of_program;

__attribute__((constructor)) static void note_cpus(void)
{
	int kept = errno;

	of_program.has_cpus = sched_getaffinity(getpid(), sizeof of_program.cpus, (cpu_set_t *)(void *)of_program.cpus) == 0;
	errno = kept;
}

static void note_mask(void)
{
	if (__atomic_load_n(&of_program.has_mask, __ATOMIC_ACQUIRE) != 0 || thread_is_own)
		return;
	ct_guard_mask(&of_program.mask);
	/* Publish: pairs with the acquire load in ct_os_thread_mask(). */
	__atomic_store_n(&of_program.has_mask, 1, __ATOMIC_RELEASE);
}

bool ct_os_thread_mask(sigset_t *out_mask)
{
	if (!thread_is_own || __atomic_load_n(&of_program.has_mask, __ATOMIC_ACQUIRE) == 0)
		return false;
	*out_mask = of_program.mask;
	return true;
}

void ct_os_thread_child(void)
{
	sigset_t mask;

	if (!ct_os_thread_mask(&mask))
		return;
	/* From here on it enters sections as a thread of the program does. */
	thread_is_own = false;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

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

/*
 * Neither the class nor the processors of the thread that happens to attach: a pinned producer
 * would have its consumer on its own processor, and one of a real-time class a consumer that
 * starves the rest of the machine.
 */
static void set_ordinary(pthread_attr_t *attributes)
{
	const struct sched_param ordinary = { .sched_priority = 0 };

	(void)pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
	(void)pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
	(void)pthread_attr_setschedparam(attributes, &ordinary);
	if (of_program.has_cpus)
		(void)pthread_attr_setaffinity_np(attributes, sizeof of_program.cpus, (const cpu_set_t *)(const void *)of_program.cpus);
}

static int create_thread(pthread_t *thread, bool is_ordinary, struct thread_start *start)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	(void)pthread_attr_setstacksize(&attributes, (size_t)1 << 20); /* start/stop routines of the program run on one of them */
	if (is_ordinary)
		set_ordinary(&attributes);
	error = pthread_create(thread, &attributes, run_thread, start);
	(void)pthread_attr_destroy(&attributes);
	return error;
}

enum ctrace_status ct_os_thread_start(void *(*body)(void *), void *argument, const char *name, void *out_pthread)
{
	struct thread_start *start;
	sigset_t all, before;
	pthread_t thread;
	int error;

	if (must_fail(CT_OS_THREAD))
		return status_of_errno();
	start = malloc(sizeof *start);
	if (start == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	*start = (struct thread_start){ body, argument };
	note_mask();
	/* The new thread inherits the mask: it must never run one of the program's handlers. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = create_thread(&thread, true, start);
	/* From SCHED_IDLE nobody may leave without the right to; and the processors may have been
	 * taken from us since. */
	if (error == EPERM || error == EINVAL)
		error = create_thread(&thread, false, start);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
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
