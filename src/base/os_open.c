/*
 * os_open.c - the rules for opening files: which files are refused, which descriptor a file gets,
 * and how a descriptor is identified later.
 *
 * Any thread.  The program may close any descriptor at any time, ours too, and open its own file
 * with that number.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/os_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* no higher number is used: the kernel's table of descriptors grows with the highest */
#define HIGH_LIMIT 1024u
#define HIGH_FIRST (HIGH_LIMIT - HIGH_LIMIT / 4) /* where the program's limit allows it */
#define SMALL_PIECE ((size_t)4096)               /* of a file to read */
#define PIECE ((size_t)65536)
#define OPEN_TRIES 5u /* for a file that is renamed while it is opened */
#define KEPT_TRIES 5u /* another process that opens it may restore the mode in between */

static enum ctrace_status fd_refuse(int fd, int error)
{
	(void)close(fd);
	errno = error;
	return CTRACE_DENIED;
}

/*
 * Returns the first number for our descriptors.  It begins the upper quarter of the program's
 * limit, or of 1,024 if that is less, so the kernel's table of descriptors stays small. open() of
 * the program takes the lowest free number.  So a program that closes every descriptor reuses none
 * of our numbers before it has hundreds of files open.
 */
static int fd_high_base(void)
{
	struct rlimit limit;
	rlim_t count = HIGH_LIMIT;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count)
		count = limit.rlim_cur;
	count -= count / 4;
	return count > STDERR_FILENO ? (int)count : STDERR_FILENO + 1;
}

/* Duplicates to a high number, else to any number above 2.  Returns a negative number, with errno,
 * when none is free. */
static int fd_duplicate_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FIRST);

	if (high < 0 && errno != EBADF) /* the program's limit is lower */
		high = fcntl(fd, F_DUPFD_CLOEXEC, fd_high_base());
	return high < 0 && errno != EBADF ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : high;
}

int ct_os_high(int fd)
{
	int low = fd, high;

	if (fd < 0 || fd >= (int)HIGH_FIRST)
		return fd;
	high = fd_duplicate_high(low);
	if (high < 0 && low > STDERR_FILENO)
		return low;
	ct_os_close(&low);
	return high;
}

DIR *ct_os_directory_stream(int fd)
{
	DIR *directory = fdopendir(fd);
	char path[32];

	if (directory != NULL || fd < 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS))
		return directory;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	directory = opendir(path);
	if (directory != NULL)
		(void)close(fd);
	return directory;
}

static bool stat_is_same(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

/*
 * Opens a file and moves its descriptor to a high number.  For a moment the descriptor has a low
 * number, and the program may close it and open its own file there.  So the file behind the high
 * number is first compared with the file at the path; then the low number is closed.  Where it
 * is another file it stays open, because it may be the program's.
 */
static enum ctrace_status file_open_named(int directory_fd, const char *path, int flags,
					  mode_t mode, int *out_fd, struct stat *out_info)
{
	for (unsigned i = 0; i < OPEN_TRIES; i++) {
		struct stat there;
		int high, low;

		do {
			low = ct_os_must_fail(CT_OS_OPEN) ? -1
							  : openat(directory_fd, path, flags, mode);
		} while (low < 0 && errno == EINTR);
		if (low < 0)
			return ct_os_status();
		ct_point("os.opened");
		high = fd_duplicate_high(low);
		if (high < 0 && errno == EBADF)
			continue;
		if (high < 0 && low <= STDERR_FILENO) {
			ct_os_close(&low);
			return ct_os_status();
		}
		if (high < 0) {
			high = low; /* no other number is free */
			low = -1;
		}
		if (fstat(high, out_info) != 0 ||
		    fstatat(directory_fd, path, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !stat_is_same(out_info, &there)) {
			if (low >= 0)
				ct_os_close(&high);
			errno = ESTALE;
			continue;
		}
		if (fstat(low, &there) != 0 || stat_is_same(&there, out_info))
			ct_os_close(&low);
		*out_fd = high;
		return CTRACE_OK;
	}
	return CTRACE_OS_ERROR;
}

enum ctrace_status ct_os_open_known(int directory_fd, const char *path, int flags, int *out_fd,
				    struct ct_file_id *out_id)
{
	bool is_new = (flags & O_EXCL) != 0; /* and no FIFO, whose other end it would wait for */
	const int looking = O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | (is_new ? 0 : O_NONBLOCK);
	enum ctrace_status status;
	struct stat info;
	int fd;

	status =
		file_open_named(directory_fd, path, (flags & ~O_TRUNC) | looking, 0600, &fd, &info);
	if (status != CTRACE_OK)
		return status;
	if (!S_ISREG(info.st_mode))
		return fd_refuse(fd, EINVAL);
	if (info.st_uid != geteuid() || info.st_nlink > 1)
		return fd_refuse(fd, EPERM);
	/* A new file has mode 0600 whatever the umask is. */
	if ((flags & O_CREAT) != 0 && info.st_size == 0 && (info.st_mode & 0777) != 0600)
		(void)fchmod(fd, 0600);
	if (!is_new)
		(void)fcntl(fd, F_SETFL, flags & (O_APPEND | O_ACCMODE));
	if ((flags & O_TRUNC) != 0 && ct_os_truncate(fd, 0) != CTRACE_OK) {
		int error = errno;

		(void)close(fd);
		errno = error;
		return ct_os_status();
	}
	*out_fd = fd;
	*out_id = (struct ct_file_id){ info.st_dev, info.st_ino };
	return CTRACE_OK;
}

enum ctrace_status ct_os_open_file(int directory_fd, const char *path, int flags, int *out_fd)
{
	struct ct_file_id id;

	return ct_os_open_known(directory_fd, path, flags, out_fd, &id);
}

enum ctrace_status ct_os_open_directory(int directory_fd, const char *path, int *out_fd,
					struct ct_file_id *out_id)
{
	struct stat info;
	enum ctrace_status status =
		file_open_named(directory_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				0, out_fd, &info);

	if (status == CTRACE_OK)
		*out_id = (struct ct_file_id){ info.st_dev, info.st_ino };
	return status;
}

enum ctrace_status ct_os_make_kept(int directory_fd, const char *path, int *out_fd,
				   struct ct_file_id *out_id)
{
	struct stat info;
	enum ctrace_status status = file_open_named(
		directory_fd, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
		CT_OS_KEPT_MODE, out_fd, &info);

	if (status != CTRACE_OK)
		return status;
	if ((info.st_mode & 0777) != CT_OS_KEPT_MODE) /* the umask */
		(void)fchmod(*out_fd, CT_OS_KEPT_MODE);
	*out_id = (struct ct_file_id){ info.st_dev, info.st_ino };
	return CTRACE_OK;
}

int ct_os_open_kept(int directory_fd, const char *path)
{
	const int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = ct_os_must_fail(CT_OS_OPEN) ? -1 : openat(directory_fd, path, O_RDWR | flags);
	struct stat info;

	for (unsigned tries = 0; fd < 0 && errno == EACCES && tries < KEPT_TRIES; tries++) {
		int look = openat(directory_fd, path, O_RDONLY | flags);

		errno = EACCES;
		if (look < 0)
			return -1;
		if (fstat(look, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
		    fchmod(look, 0600) == 0) {
			struct ct_file_id id = ct_os_file_id(look);

			fd = openat(directory_fd, path, O_RDWR | flags);
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

/* Gives a new directory mode 0700 whatever the umask is.  Not by its name: somebody may have put a
 * link in its place. */
static void directory_open_to_owner(const char *path)
{
	int fd = ct_os_high(open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	char name[64];
	struct stat info;

	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 0777) != 0700) {
		(void)snprintf(name, sizeof name, "/proc/thread-self/fd/%d", fd);
		(void)chmod(name, 0700);
	}
	ct_os_close(&fd);
}

enum ctrace_status ct_os_make_directory(const char *path)
{
	char partial[4096];
	size_t size = strlen(path), there;
	struct stat info;

	if (size == 0 || size >= sizeof partial) {
		errno = ENAMETOOLONG;
		return CTRACE_OS_ERROR;
	}
	memcpy(partial, path, size + 1);
	/* Searches from the end: nearly always the whole path exists, or all but its last part. */
	for (there = size; there > 0; there--) {
		if (partial[there] != '/' && partial[there] != '\0')
			continue;
		partial[there] = '\0';
		if (stat(partial, &info) == 0)
			break;
		partial[there] = path[there];
	}
	if (there > 0 && !S_ISDIR(info.st_mode)) {
		errno = ENOTDIR;
		return ct_os_status();
	}
	partial[there] = path[there];
	for (size_t i = there + 1; i <= size; i++) {
		if (partial[i] != '/' && partial[i] != '\0')
			continue;
		partial[i] = '\0';
		if (stat(partial, &info) != 0) { /* another thread may have made it since */
			bool is_made = !ct_os_must_fail(CT_OS_MKDIR) && mkdir(partial, 0700) == 0;

			if (!is_made && errno != EEXIST)
				return ct_os_status();
			if (is_made)
				directory_open_to_owner(partial);
			if (stat(partial, &info) != 0) /* a link to nowhere */
				return ct_os_status();
		}
		if (!S_ISDIR(info.st_mode)) {
			errno = ENOTDIR;
			return ct_os_status();
		}
		if (i < size)
			partial[i] = '/';
	}
	return CTRACE_OK;
}

/* Reads the whole file into an empty buffer and closes fd.  A known size needs one read; a file in
 * /proc has size 0. */
static enum ctrace_status file_read_all(int fd, off_t size, size_t limit, struct ct_buf *out)
{
	size_t piece = size == 0 ? SMALL_PIECE : size < (off_t)PIECE ? (size_t)size + 1 : PIECE;
	enum ctrace_status status = CTRACE_OK;

	for (size_t got = piece; status == CTRACE_OK && got == piece;) {
		piece = out->size == 0 ? piece : PIECE;
		if (!ct_buf_reserve(out, piece)) {
			status = CTRACE_NOT_ENOUGH_MEMORY;
			break;
		}
		status = ct_os_read_at(fd, out->data + out->size, piece, out->size, &got);
		out->size += status == CTRACE_OK ? got : 0;
		if (status == CTRACE_OK && out->size >= limit) {
			errno = EFBIG;
			status = CTRACE_OS_ERROR;
		}
	}
	ct_os_close(&fd);
	return status;
}

enum ctrace_status ct_os_read_file(const char *path, size_t limit, struct ct_buf *out)
{
	struct stat info;
	int fd = ct_os_must_fail(CT_OS_OPEN)
			 ? -1
			 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return ct_os_status();
	if (fstat(fd, &info) != 0) {
		ct_os_close(&fd);
		return ct_os_status();
	}
	if (!S_ISREG(info.st_mode))
		return fd_refuse(fd, EINVAL);
	return file_read_all(fd, info.st_size, limit, out);
}

static bool file_is_trusted(const struct stat *directory, const struct stat *file,
			    enum ct_os_trust trust)
{
	bool is_own = file->st_uid == geteuid() || file->st_uid == 0;

	if (trust == CT_OS_OWN)
		return is_own && (directory->st_uid == geteuid() || directory->st_uid == 0) &&
		       ((directory->st_mode | file->st_mode) & (S_IWGRP | S_IWOTH)) == 0;
	/* In a directory such as /tmp everybody may create files, but only the owner may replace
	 * them. */
	if ((directory->st_mode & S_IWOTH) != 0 && ((directory->st_mode & S_ISVTX) == 0 || !is_own))
		return false;
	return (file->st_mode & S_IWOTH) == 0;
}

enum ctrace_status ct_os_read_trusted(const char *directory, const char *name,
				      enum ct_os_trust trust, size_t limit, struct ct_buf *out)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
		    (trust == CT_OS_OWN ? O_NOFOLLOW : 0);
	int directory_fd = ct_os_must_fail(CT_OS_OPEN)
				   ? -1
				   : open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat directory_info, info;
	int fd;

	if (directory_fd < 0)
		return ct_os_status();
	fd = ct_os_must_fail(CT_OS_OPEN) ? -1 : openat(directory_fd, name, flags);
	if (fd < 0 || fstat(directory_fd, &directory_info) != 0 || fstat(fd, &info) != 0) {
		ct_os_close(&directory_fd);
		ct_os_close(&fd);
		return ct_os_status();
	}
	ct_os_close(&directory_fd);
	if (!S_ISREG(info.st_mode))
		return fd_refuse(fd, EINVAL);
	if (!file_is_trusted(&directory_info, &info, trust))
		return fd_refuse(fd, EPERM);
	return file_read_all(fd, info.st_size, limit, out);
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

enum ctrace_status ct_os_check_file(int fd, const struct ct_file_id *id)
{
	if (ct_os_is_file(fd, id))
		return CTRACE_OK;
	errno = ESTALE;
	return CTRACE_OS_ERROR;
}

void ct_os_close_file(int *fd, const struct ct_file_id *id)
{
	if (ct_os_is_file(*fd, id))
		ct_os_close(fd);
	*fd = -1;
}

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000u /* Linux 5.8 */
#endif
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000u /* Linux 6.8: never given to another mount */
#endif

/* Uses /proc only if the kernel has no other way: a look-up there makes the end of the process
 * slower. */
struct ct_world ct_os_world(void)
{
	struct ct_world world = { .mount = 0 };
	struct statx root;
	struct stat info;

	if (statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID_UNIQUE, &root) != 0 ||
	    (root.stx_mask & STATX_INO) == 0)
		return world;
	world.root = (struct ct_file_id){ makedev(root.stx_dev_major, root.stx_dev_minor),
					  root.stx_ino };
	if ((root.stx_mask & (STATX_MNT_ID | STATX_MNT_ID_UNIQUE)) != 0)
		world.mount = root.stx_mnt_id;
	else if (stat("/proc/thread-self/ns/mnt", &info) == 0)
		world.mount = info.st_ino;
	return world;
}

bool ct_world_is_same(const struct ct_world *a, const struct ct_world *b)
{
	return a->root.device == b->root.device && a->root.inode == b->root.inode &&
	       a->mount == b->mount;
}
