/*
 * os.c - the one door to the operating system: calls on what is open.
 *
 * Every call that can fail for reasons outside the program goes through here or os_open.c, so that
 * tests can make each of them fail (ct_os_fail). errno has the reason after any status but OK.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/os_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Faults that tests request, one for each kind of call. */
struct fault {
	unsigned skip;
	unsigned times;
	int error;
};

static struct fault faults[CT_OS_CALL_COUNT];

#define PIECE_MAX ((uint64_t)1 << 20)
#define PIECE_MIN ((uint64_t)64 << 10)
#define INTERRUPTIONS 1000u /* of one allocation */

void ct_os_fail(enum ct_os_call call, unsigned skip, unsigned times, int error)
{
	faults[call].skip = skip;
	faults[call].error = error;
	__atomic_store_n(&faults[call].times, times, __ATOMIC_RELEASE);
}

bool ct_os_must_fail(enum ct_os_call call)
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

enum ctrace_status ct_os_status(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return CTRACE_NOT_FOUND;
	case EACCES:
	case EPERM:
	case ELOOP:
	case EROFS:
	case EISDIR: /* not a regular file: a directory, */
	case ENXIO:  /* a pipe without a reader, or a socket */
		return CTRACE_DENIED;
	case ENOMEM:
		return CTRACE_NOT_ENOUGH_MEMORY;
	default:
		return CTRACE_OS_ERROR;
	}
}

enum ctrace_status ct_os_stat(int fd, struct stat *out_info)
{
	if (ct_os_must_fail(CT_OS_STAT) || fstat(fd, out_info) != 0)
		return ct_os_status();
	return CTRACE_OK;
}

enum ctrace_status ct_os_stat_at(int directory_fd, const char *path, struct stat *out_info)
{
	if (ct_os_must_fail(CT_OS_STAT) ||
	    fstatat(directory_fd, path, out_info, AT_SYMLINK_NOFOLLOW) != 0)
		return ct_os_status();
	return CTRACE_OK;
}

enum ctrace_status ct_os_append(int fd, const void *data, size_t size, size_t *out_written)
{
	ssize_t written;

	ct_guard_output();
	do {
		written = ct_os_must_fail(CT_OS_WRITE) ? -1 : write(fd, data, size);
	} while (written < 0 && errno == EINTR);
	if (written < 0)
		return ct_os_status();
	*out_written = (size_t)written;
	return CTRACE_OK;
}

/* A write of 0 bytes means that there is no room. */
static enum ctrace_status write_failed(ssize_t written)
{
	if (written < 0)
		return ct_os_status();
	errno = ENOSPC;
	return CTRACE_OS_ERROR;
}

enum ctrace_status ct_os_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	const char *from = data;

	ct_guard_output();
	while (size > 0) {
		ssize_t written;

		ct_point("os.write");
		written = ct_os_must_fail(CT_OS_WRITE) ? -1 : pwrite(fd, from, size, (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return write_failed(written);
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return CTRACE_OK;
}

enum ctrace_status ct_os_write_pieces_at(int fd, struct iovec *pieces, size_t count,
					 uint64_t offset)
{
	ct_guard_output();
	while (count > 0) {
		ssize_t written;

		if (pieces->iov_len == 0) {
			pieces++;
			count--;
			continue;
		}
		ct_point("os.write");
		written = ct_os_must_fail(CT_OS_WRITE)
				  ? -1
				  : pwritev(fd, pieces, count < IOV_MAX ? (int)count : IOV_MAX,
					    (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return write_failed(written);
		offset += (uint64_t)written;
		for (; written > 0 && (size_t)written >= pieces->iov_len; pieces++, count--)
			written -= (ssize_t)pieces->iov_len;
		if (written > 0) {
			pieces->iov_base = (char *)pieces->iov_base + written;
			pieces->iov_len -= (size_t)written;
		}
	}
	return CTRACE_OK;
}

enum ctrace_status ct_os_read_at(int fd, void *data, size_t size, uint64_t offset, size_t *out_size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t more =
			ct_os_must_fail(CT_OS_READ)
				? -1
				: pread(fd, (char *)data + got, size - got, (off_t)(offset + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return ct_os_status();
		if (more == 0)
			break;
		got += (size_t)more;
	}
	*out_size = got;
	return CTRACE_OK;
}

/* A file that has the size already is left alone: ext4 writes a file to the disk when it is closed
 * if it was ever truncated to nothing, and a caller of close() may then wait for the disk. */
static int file_cut(int fd, uint64_t size)
{
	struct stat info;

	if (fstat(fd, &info) == 0 && (uint64_t)info.st_size == size)
		return 0;
	return ftruncate(fd, (off_t)size);
}

enum ctrace_status ct_os_truncate(int fd, uint64_t size)
{
	int result;

	ct_guard_output();
	ct_point("os.truncate");
	do {
		result = ct_os_must_fail(CT_OS_TRUNCATE) ? -1 : file_cut(fd, size);
	} while (result != 0 && errno == EINTR);
	return result == 0 ? CTRACE_OK : ct_os_status();
}

enum ctrace_status ct_os_extend(int fd, uint64_t size)
{
	int result;

	ct_point("os.truncate");
	do {
		result = ct_os_must_fail(CT_OS_TRUNCATE) ? -1 : ftruncate(fd, (off_t)size);
	} while (result != 0 && errno == EINTR);
	return result == 0 ? CTRACE_OK : ct_os_status();
}

/*
 * Allocates in pieces: the tmpfs of some kernels undoes the whole call when a signal is pending, so
 * one large call under a fast interval timer would never end.  Each interruption halves the piece.
 */
enum ctrace_status ct_os_allocate(int fd, uint64_t offset, uint64_t size)
{
	ct_guard_output();
	return ct_os_allocate_quietly(fd, offset, size);
}

enum ctrace_status ct_os_allocate_quietly(int fd, uint64_t offset, uint64_t size)
{
	uint64_t piece = PIECE_MAX;
	unsigned interruptions = 0;

	while (size > 0) {
		uint64_t part = size < piece ? size : piece;
		int error = ct_os_must_fail(CT_OS_ALLOCATE)
				    ? errno
				    : posix_fallocate(fd, (off_t)offset, (off_t)part);

		if (error == EINTR && ++interruptions < INTERRUPTIONS) {
			piece = piece > PIECE_MIN ? piece / 2 : piece;
			continue;
		}
		if (error != 0) {
			errno = error;
			return ct_os_status();
		}
		offset += part;
		size -= part;
	}
	return CTRACE_OK;
}

enum ct_os_file_system ct_os_file_system(int fd)
{
	static const struct {
		uint32_t type;
		enum ct_os_file_system is;
	} known[] = {
		{ TMPFS_MAGIC, CT_OS_MEMORY },     { RAMFS_MAGIC, CT_OS_MEMORY },
		{ EXT4_SUPER_MAGIC, CT_OS_DISK },  { XFS_SUPER_MAGIC, CT_OS_DISK },
		{ BTRFS_SUPER_MAGIC, CT_OS_DISK }, { OVERLAYFS_SUPER_MAGIC, CT_OS_DISK },
		{ F2FS_SUPER_MAGIC, CT_OS_DISK },
	};
	struct statfs info;

	if (fstatfs(fd, &info) == 0)
		for (size_t i = 0; i < CT_COUNT(known); i++)
			if ((uint32_t)info.f_type == known[i].type)
				return known[i].is;
	return CT_OS_AFAR;
}

/* Only on btrfs: other file systems warn, or use the flag's number for something else. */
void ct_os_store_in_place(int fd)
{
	struct statfs info;
	int flags = 0;
	int kept = errno;

	if (fstatfs(fd, &info) == 0 && info.f_type == BTRFS_SUPER_MAGIC &&
	    ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NOCOW_FL;
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	errno = kept;
}

static uint64_t limit_of(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

uint64_t ct_os_file_limit(void)
{
	return limit_of(RLIMIT_FSIZE);
}

uint64_t ct_os_address_limit(void)
{
	return limit_of(RLIMIT_AS);
}

enum ctrace_status ct_os_sync(int fd)
{
	int result;

	do {
		result = ct_os_must_fail(CT_OS_FSYNC) ? -1 : fdatasync(fd);
	} while (result != 0 && errno == EINTR);
	return result == 0 ? CTRACE_OK : ct_os_status();
}

enum ctrace_status ct_os_map(int fd, size_t size, bool shared, void **out_address)
{
	int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | (fd < 0 ? MAP_ANONYMOUS : 0);
	void *address;

	ct_point("os.map");
	address = ct_os_must_fail(CT_OS_MAP)
			  ? MAP_FAILED
			  : mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (address == MAP_FAILED)
		return ct_os_status();
	*out_address = address;
	return CTRACE_OK;
}

/* The program may put its own file at our number between two calls, but never our file back.  So
 * a number that leads to our file after the mapping led to it before. */
static enum ctrace_status map_check(int fd, const struct ct_file_id *id, void *address, size_t size)
{
	enum ctrace_status status = fd < 0 ? CTRACE_OK : ct_os_check_file(fd, id);

	if (status != CTRACE_OK)
		(void)munmap(address, size);
	return status;
}

enum ctrace_status ct_os_map_file(int fd, const struct ct_file_id *id, size_t size,
				  void **out_address)
{
	enum ctrace_status status = ct_os_map(fd, size, true, out_address);

	return status == CTRACE_OK ? map_check(fd, id, *out_address, size) : status;
}

/* mremap() of shared memory with size 0 makes a second mapping of the same pages. */
static bool map_again(unsigned char *data, int fd, size_t head, size_t size)
{
	if (fd < 0)
		return mremap(data, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, data + size) !=
		       MAP_FAILED;
	return mmap(data + size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		    (off_t)head) != MAP_FAILED;
}

enum ctrace_status ct_os_map_twice(int fd, const struct ct_file_id *id, size_t head, size_t size,
				   void **out_address)
{
	void *room;
	/* This reaches beyond the end of the file, but nothing touches that part before the second
	 * mapping. */
	enum ctrace_status status = ct_os_map(fd, head + 2 * size, true, &room);

	if (status == CTRACE_OK && !map_again((unsigned char *)room + head, fd, head, size)) {
		status = ct_os_status();
		(void)munmap(room, head + 2 * size);
	}
	if (status == CTRACE_OK)
		status = map_check(fd, id, room, head + 2 * size);
	if (status == CTRACE_OK)
		*out_address = room;
	return status;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum ctrace_status ct_os_populate(void *address, size_t size)
{
	return madvise(address, size, MADV_POPULATE_WRITE) == 0 ? CTRACE_OK : ct_os_status();
}

bool ct_os_has_room(size_t size)
{
	void *address = ct_os_must_fail(CT_OS_MAP)
				? MAP_FAILED
				: mmap(NULL, size, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address == MAP_FAILED)
		return false;
	(void)munmap(address, size);
	return true;
}

enum ctrace_status ct_os_rename(int directory_fd, const char *from, const char *to)
{
	if (ct_os_must_fail(CT_OS_RENAME) || renameat(directory_fd, from, directory_fd, to) != 0)
		return ct_os_status();
	return CTRACE_OK;
}

enum ctrace_status ct_os_exchange(const char *one, const char *other)
{
	if (!ct_os_must_fail(CT_OS_RENAME) &&
	    renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0)
		return CTRACE_OK;
	return errno == EINVAL || errno == ENOSYS ? CTRACE_UNSUPPORTED : ct_os_status();
}

enum ctrace_status ct_os_rename_aside(const char *from, const char *to)
{
	struct stat info;
	int result;

	if (ct_os_must_fail(CT_OS_RENAME))
		return ct_os_status();
	result = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	/* The file system does not know the flag. rename() replaces a directory only when that is
	 * empty. */
	if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
		if (fstatat(AT_FDCWD, to, &info, AT_SYMLINK_NOFOLLOW) == 0)
			errno = EEXIST;
		else if (errno == ENOENT)
			result = rename(from, to);
	}
	return result == 0 ? CTRACE_OK : ct_os_status();
}

const char *ct_os_environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}
