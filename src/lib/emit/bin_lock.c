/*
 * bin_lock.c - the lock of a BINFILE directory: a POSIX lock on its metadata, which ends with the
 * process whatever its children inherited.
 *
 * Called by bin_directory.c on the threads that consume or recover.  Such a lock does not hold off
 * the process that has it, and closing any descriptor of the file drops it.  So the files that this
 * process has locked are noted here, and none of them is opened twice.  A name is noted, too, while
 * a thread opens it: the file is known only when it is open.
 *
 * A process may have several copies of the library, and the kernel takes their locks for those of
 * one.  So all copies share the notes of the copy that was loaded first: each has an ELF note that
 * tells where its own are.  A copy is never unloaded.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"
#include "base/hash_table.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define HELD_LIMIT 1024u /* more than that are locked, but not noted */
#define TRIES 5u

/* What this process has locked, or is opening, and its sessions.  The process's number is part of a
 * key, so a forked child, which has no locks, finds none. 0: free. */
__attribute__((used)) uint64_t ct_bin_held[HELD_LIMIT];
static uint64_t *held; /* those of the first copy */

/* The version is another one when the notes of locks, or the keys in them, have another form. */
struct note {
	uint32_t name_size, size, version;
	char name[8];
	int32_t held_at; /* from here */
};

/* clang-format off */
__asm__(".pushsection .note.ctrace, \"a\", %note\n\t"
	".balign 4\n\t"
	".long 7, 4, 1\n\t"
	".ascii \"ctrace\\0\\0\"\n\t"
	".long ct_bin_held - .\n\t"
	".popsection");
/* clang-format on */

/* Some programs that change an ELF file leave headers that lead nowhere. */
static bool note_is_loaded(const struct dl_phdr_info *object, const ElfW(Phdr) * notes)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && notes->p_vaddr >= part->p_vaddr &&
		    notes->p_vaddr - part->p_vaddr <= part->p_filesz &&
		    notes->p_filesz <= part->p_filesz - (notes->p_vaddr - part->p_vaddr))
			return true;
	}
	return false;
}

/* Linkers differ in how they align notes beside each other, so each word may begin ours. */
static uint64_t *note_find(const char *at, size_t size)
{
	const struct note wanted = { .name_size = 7, .size = 4, .version = 1, .name = "ctrace" };
	struct note note;

	for (; size >= sizeof note; at += 4, size -= 4) {
		memcpy(&note, at, sizeof note);
		if (memcmp(&note, &wanted, offsetof(struct note, held_at)) == 0)
			return (uint64_t *)(uintptr_t)(at + offsetof(struct note, held_at) +
						       note.held_at);
	}
	return NULL;
}

static int object_look(struct dl_phdr_info *object, size_t size, void *user)
{
	uint64_t **out = user;

	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum && *out == NULL; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_NOTE && note_is_loaded(object, part))
			*out = note_find((const char *)(object->dlpi_addr + part->p_vaddr),
					 part->p_filesz);
	}
	return *out != NULL;
}

/* The loader tells the objects in the order in which it loaded them. */
static uint64_t *held_table(void)
{
	uint64_t *first = __atomic_load_n(&held, __ATOMIC_ACQUIRE);

	if (first == NULL) {
		(void)dl_iterate_phdr(object_look, &first);
		if (first == NULL)
			first = ct_bin_held;
		__atomic_store_n(&held, first, __ATOMIC_RELEASE);
	}
	return first;
}

/* When the library is loaded, not when a file is locked: a fork may leave a lock of the loader
 * locked in the child. */
__attribute__((constructor)) static void held_find(void)
{
	(void)held_table();
}

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
		count += __atomic_load_n(&held_table()[i], __ATOMIC_SEQ_CST) == key;
	return count;
}

/* Threads that open directories at the same time note them without a lock: one that a fork could
 * leave locked. */
static void held_add(uint64_t key)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++) {
		uint64_t free_key = 0;

		if (__atomic_compare_exchange_n(&held_table()[i], &free_key, key, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return;
	}
}

static void held_remove(uint64_t key)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++) {
		uint64_t same_key = key;

		if (__atomic_compare_exchange_n(&held_table()[i], &same_key, 0, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
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

static uint64_t session_key(const struct ct_trace_info *info)
{
	const struct ct_file_id id = { .device = info->start_ns, .inode = info->pid };

	return held_key(&id);
}

void ct_bin_lock_note_session(const struct ct_trace_info *info)
{
	uint64_t key = session_key(info);

	if (info->pid == (uint32_t)getpid() && held_count(key) == 0)
		held_add(key);
}

bool ct_bin_lock_knows_session(const struct ct_trace_info *info)
{
	return held_count(session_key(info)) != 0;
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
