/*
 * bin_lock.c - the lock of a BINFILE directory: a POSIX lock on its metadata, which ends with the
 * process whatever its children inherited.
 *
 * Called by bin_directory.c on the threads that consume or recover.  Such a lock does not hold off
 * the process that has it, and closing any descriptor of the file drops it.  So the files that this
 * process has locked are noted here, and none of them is opened twice.  A name is noted, too, while
 * a thread opens it: the file is known only when it is open.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"
#include "base/hash_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HELD_LIMIT 1024u /* more than that are locked, but not noted */
#define TRIES 5u

/* What this process has locked, or is opening.  The process's number is part of a key, so a
 * forked child, which has no locks, finds none. 0: free. */
static uint64_t held[HELD_LIMIT];

static uint64_t held_key(const struct ct_file_id *id)
{
	uint64_t key = (uint64_t)id->inode * 0x9E3779B97F4A7C15u;

	key = (key ^ key >> 29 ^ (uint64_t)id->device) * 0xBF58476D1CE4E5B9u;
	key = (key ^ key >> 32 ^ (uint64_t)getpid()) * 0x94D049BB133111EBu;
	return key | 1;
}

/* Of a name in a directory. */
static uint64_t name_key(int directory_fd, const char *name)
{
	struct ct_file_id directory = ct_os_file_id(directory_fd);
	uint64_t key = held_key(&directory);

	return ct_hash_bytes(key, name, strlen(name)) | 1;
}

/* How often the key is noted. */
static unsigned held_count(uint64_t key)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < HELD_LIMIT; i++)
		count += __atomic_load_n(&held[i], __ATOMIC_SEQ_CST) == key;
	return count;
}

/* Threads that open directories at the same time note them without a lock: one that a fork could
 * leave locked. */
static void held_add(uint64_t key)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++) {
		uint64_t free_key = 0;

		if (__atomic_compare_exchange_n(&held[i], &free_key, key, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return;
	}
}

static void held_remove(uint64_t key)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++) {
		uint64_t same_key = key;

		if (__atomic_compare_exchange_n(&held[i], &same_key, 0, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return;
	}
}

/* Each thread adds before it counts, so of two that come at the same time at least one finds the
 * other.  Both may give way. */
static bool held_add_alone(uint64_t key)
{
	held_add(key);
	if (held_count(key) <= 1)
		return true;
	held_remove(key);
	return false;
}

/* True also on a file system that has no locks: there every file counts as free. */
static bool lock_take(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	ct_point("bin.lock");
	return fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* No other thread of this process opens the name meanwhile. */
static enum ctrace_status open_alone(int directory_fd, const char *name, int flags, int *out_fd,
				     struct ct_file_id *out_id)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct ct_file_id id = { 0, 0 };
		enum ctrace_status status;
		struct stat there;
		int fd;

		status = ct_os_stat_at(directory_fd, name, &there);
		if (status == CTRACE_OK) {
			id = (struct ct_file_id){ there.st_dev, there.st_ino };
			if (held_count(held_key(&id)) != 0)
				return CTRACE_TIMED_OUT;
		} else if (status != CTRACE_NOT_FOUND) {
			return status;
		}
		status = ct_os_open_known(directory_fd, name, O_RDWR | flags, &fd, &id);
		if (status != CTRACE_OK)
			return status;
		if (!lock_take(fd)) {
			ct_os_close(&fd);
			return CTRACE_TIMED_OUT;
		}
		/* The process that had the lock may have put another file in its place: then that
		 * file counts. */
		status = ct_os_stat_at(directory_fd, name, &there);
		if (status == CTRACE_OK && there.st_ino == id.inode && there.st_dev == id.device) {
			held_add(held_key(&id));
			*out_fd = fd;
			*out_id = id;
			return CTRACE_OK;
		}
		ct_os_close_file(&fd, &id);
		if (status != CTRACE_OK && status != CTRACE_NOT_FOUND)
			return status;
	}
	return CTRACE_TIMED_OUT;
}

enum ctrace_status ct_bin_lock_open(int directory_fd, const char *name, int flags, int *out_fd,
				    struct ct_file_id *out_id)
{
	uint64_t key = name_key(directory_fd, name);
	enum ctrace_status status;

	if (!held_add_alone(key))
		return CTRACE_TIMED_OUT;
	status = open_alone(directory_fd, name, flags, out_fd, out_id);
	held_remove(key);
	return status;
}

void ct_bin_lock_close(int *fd, const struct ct_file_id *id)
{
	if (*fd < 0)
		return;
	held_remove(held_key(id));
	ct_os_close_file(fd, id);
}
