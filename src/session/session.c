/*
 * session.c - a session in memory: its parts, room for more of them, its descriptors, its end.
 *
 * _add_* run under the registry's lock, _directory under the pool's, _close when a process ends or
 * a copy is no longer needed.  A trace call only reads level words.  The program may close our
 * descriptors at any time, so a number that has become another file is never used or closed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GROWTH_LIMIT ((uint64_t)64 << 10)

static char own_path[4096]; /* of this process's directory; "" while it has none */

/* Another copy of the library in this process has its session mapped. */
static bool is_of_copy(const char *name)
{
	uint32_t pid = (uint32_t)getpid();
	bool is_mapped;

	return strtoul(name, NULL, 10) == pid &&
	       ct_session_look_mapped(name, pid, &is_mapped) == CTRACE_OK && is_mapped;
}

bool ct_session_is_own(const char *run_directory, const char *name)
{
	size_t size = strlen(run_directory);

	return (strncmp(own_path, run_directory, size) == 0 && own_path[size] == '/' &&
		strcmp(own_path + size + 1, name) == 0) ||
	       is_of_copy(name);
}

void ct_session_set_own(const struct ct_session *session)
{
	memcpy(own_path, session->path, sizeof own_path);
}

void ct_session_init(struct ct_session *session)
{
	memset(session, 0, sizeof *session);
	session->directory_fd = session->file_fd = -1;
}

void ct_session_set_base(struct ct_session *session, void *base)
{
	session->head = base;
	session->paths = (struct ct_dest_paths *)((char *)base + CT_SESSION_PATHS);
	session->components =
		(struct ct_component_entry *)((char *)base + session->layout.components_at);
	session->classes = (struct ct_class_table *)((char *)base + session->layout.classes_at);
	session->classes_size = session->layout.texts_at - session->layout.classes_at;
	session->texts = (char *)base + session->layout.texts_at;
	session->is_mapped = true;
}

/* ---- descriptors: a daemon closes all, ours too, and may open its own files at our numbers
 * ---- */

/* Reopens the file when it was closed.  Returns false when the path no longer leads to the same
 * file. */
static bool file_reopen(int *fd, const struct ct_file_id *id, const char *directory,
			const char *name, int flags)
{
	char path[4200];

	if (ct_os_is_file(*fd, id))
		return true;
	(void)snprintf(path, sizeof path, "%s%s", directory, name);
	*fd = (flags & O_ACCMODE) == O_RDWR
		      ? ct_os_open_kept(AT_FDCWD, path)
		      : ct_os_high(open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (*fd >= 0 && !ct_os_is_file(*fd, id))
		ct_os_close(fd);
	return *fd >= 0;
}

int ct_session_directory(struct ct_session *session)
{
	return file_reopen(&session->directory_fd, &session->directory_id, session->path, "",
			   O_RDONLY | O_DIRECTORY)
		       ? session->directory_fd
		       : -1;
}

bool ct_session_reach(struct ct_session *session)
{
	struct flock lock = ct_session_alive_lock();

	if (ct_os_is_file(session->file_fd, &session->file_id))
		return true;
	if (!file_reopen(&session->file_fd, &session->file_id, session->path, "/session", O_RDWR))
		return false;
	(void)fcntl(session->file_fd, F_SETLK, &lock);
	return true;
}

/* ---- growing ---- */

/* Allocates blocks through the mapping, for a program that has closed the file and may not reopen
 * it. */
static enum ctrace_status session_populate(const struct ct_session *session, uint64_t offset,
					   uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = offset & ~(page - 1);

	return ct_os_populate((char *)session->head + from, offset + size - from);
}

static enum ctrace_status session_allocate_blocks(struct ct_session *session, uint64_t offset,
						  uint64_t size)
{
	if (ct_session_reach(session))
		return ct_os_allocate(session->file_fd, offset, size);
	return session_populate(session, offset, size);
}

enum ctrace_status ct_session_allocate(struct ct_session *session, uint64_t start,
				       uint64_t *allocated, uint64_t needed)
{
	uint64_t end = start == session->layout.components_at ? session->layout.classes_at
		       : start == session->layout.classes_at  ? session->layout.texts_at
							      : session->layout.size;
	/* Allocates ahead in proportion to the present size, so a process with few components takes
	 * few blocks. */
	uint64_t ahead = *allocated < GROWTH_LIMIT ? *allocated : GROWTH_LIMIT;
	uint64_t target = CT_ALIGN_UP(needed + ahead, CT_SESSION_PAGE);
	enum ctrace_status status = CTRACE_OK;

	if (needed <= *allocated)
		return CTRACE_OK;
	if (target > end - start)
		target = end - start;
	if (session->file_id.inode != 0)
		status = session_allocate_blocks(session, start + *allocated, target - *allocated);
	/* On a nearly full disk, takes no more than necessary. */
	if (status != CTRACE_OK && CT_ALIGN_UP(needed, CT_SESSION_PAGE) < target) {
		target = CT_ALIGN_UP(needed, CT_SESSION_PAGE);
		status = session_allocate_blocks(session, start + *allocated, target - *allocated);
	}
	if (status == CTRACE_OK)
		*allocated = target;
	return status;
}

enum ctrace_status ct_session_reserve_component(struct ct_session *session, uint32_t index)
{
	enum ctrace_status status;

	if (index >= ct_session_component_limit(&session->layout))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_session_allocate(session, session->layout.components_at,
				     &session->components_allocated,
				     ((uint64_t)index + 1) * sizeof(struct ct_component_entry));
	return status == CTRACE_OK ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_session_commit_component(struct ct_session *session, uint32_t index)
{
	if (session->component_count <= index)
		/* trace calls load it */
		__atomic_store_n(&session->component_count, index + 1, __ATOMIC_RELAXED);
	if (session->head->component_count <= index)
		__atomic_store_n(&session->head->component_count, index + 1, __ATOMIC_RELEASE);
}

void ct_session_add_classes(struct ct_session *session)
{
	uint64_t limit = session->layout.texts_at - session->layout.classes_at;
	uint64_t wanted = 2 * session->classes_allocated;

	if (ct_session_allocate(session, session->layout.classes_at, &session->classes_allocated,
				wanted < limit ? wanted : limit) == CTRACE_OK)
		__atomic_store_n(&session->classes->limit, (uint32_t)session->classes_allocated,
				 __ATOMIC_RELEASE);
}

struct ct_class_image ct_session_classes(const struct ct_session *session)
{
	return (struct ct_class_image){ .bytes = (const unsigned char *)session->classes,
					.size = session->classes_size };
}

enum ctrace_status ct_session_add_text(struct ct_session *session, const char *text, size_t size,
				       ct_text *out_text)
{
	uint64_t at = session->head->texts_size;

	if (size > 0xFFFF || at + size >= session->layout.size - session->layout.texts_at)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (ct_session_allocate(session, session->layout.texts_at, &session->texts_allocated,
				at + size + 1) != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;
	/* fresh pages are zero: the text is terminated */
	memcpy((char *)(uintptr_t)session->texts + at, text, size);
	__atomic_store_n(&session->head->texts_size, at + size + 1, __ATOMIC_RELEASE);
	/* the consumer reads older texts meanwhile */
	__atomic_store_n(&session->texts_capacity, at + size + 1, __ATOMIC_RELAXED);
	*out_text = at << 16 | size;
	return CTRACE_OK;
}

/* ---- reading ---- */

const char *ct_session_text(const struct ct_session *session, ct_text text, size_t *out_size)
{
	uint64_t at = text >> 16;
	uint64_t size = text & 0xFFFF;
	uint64_t capacity = __atomic_load_n(&session->texts_capacity, __ATOMIC_RELAXED);

	if (at > capacity || size > capacity - at) {
		*out_size = 0;
		return "";
	}
	*out_size = size;
	return session->texts + at;
}

bool ct_session_definition(const struct ct_session *session, const struct ct_component_entry *entry,
			   struct ctrace_definition *out)
{
	/* Acquire: pairs with the release stores in ct_registry_describe(), which come in the other
	 * order: a described component's name has a definition behind it. */
	uint32_t flags = __atomic_load_n(&entry->flags, __ATOMIC_ACQUIRE);
	ct_text name = __atomic_load_n(&entry->name, __ATOMIC_ACQUIRE);
	const char *at;
	size_t size;

	if ((flags & CT_COMPONENT_DESCRIBED) == 0)
		return false;
	at = ct_session_text(
		session, ((name >> 16) + (name & 0xFFFF) + 1) << 16 | (ct_text)sizeof *out, &size);
	if (size != sizeof *out)
		return false;
	memcpy(out, at, sizeof *out);
	ct_definition_check(out);
	return true;
}

struct ct_dest_slot *ct_dest_current(struct ct_dest *dest)
{
	return &dest->slot[__atomic_load_n(&dest->sequence, __ATOMIC_ACQUIRE) & 1];
}

/* ---- where destinations write ---- */

static bool dest_has_paths(const struct ct_session *session, uint32_t index)
{
	return (__atomic_load_n(&session->head->has_paths, __ATOMIC_ACQUIRE) & 1u << index) != 0;
}

const char *ct_dest_path(const struct ct_session *session, uint32_t index)
{
	return dest_has_paths(session, index)
		       ? session->paths[index]
				 .at[__atomic_load_n(&session->head->dest[index].sequence,
						     __ATOMIC_ACQUIRE) &
				     1]
		       : "";
}

/* Allocates blocks for both paths of a destination.  The calling thread must not reopen the file.
 */
static enum ctrace_status dest_make_paths(struct ct_session *session, uint32_t index)
{
	uint64_t at = CT_SESSION_PATHS + index * sizeof(struct ct_dest_paths);
	enum ctrace_status status = CTRACE_OK;

	if (session->is_mapped && session->file_id.inode != 0)
		status =
			ct_os_is_file(session->file_fd, &session->file_id)
				? ct_os_allocate(session->file_fd, at, sizeof(struct ct_dest_paths))
				: session_populate(session, at, sizeof(struct ct_dest_paths));
	if (status != CTRACE_OK)
		return status;
	session->paths_allocated |= 1u << index;
	/* Release: a thread that sees the bit may use the paths. */
	(void)__atomic_fetch_or(&session->head->has_paths, 1u << index, __ATOMIC_RELEASE);
	return ct_session_persist(session, &session->head->has_paths,
				  sizeof session->head->has_paths);
}

enum ctrace_status ct_dest_put_path(struct ct_session *session, uint32_t index, const char *path)
{
	char *to = session->paths[index].at[(session->head->dest[index].sequence + 1) & 1];
	enum ctrace_status status = CTRACE_OK;

	if (!dest_has_paths(session, index) && path[0] != '\0')
		status = dest_make_paths(session, index);
	if (status != CTRACE_OK || !dest_has_paths(session, index))
		return status;
	/* Another process may write to the file, so a text in it may lack its terminator. */
	if (strncmp(to, path, CTRACE_EMITTER_PATH_SIZE) != 0)
		(void)snprintf(to, CTRACE_EMITTER_PATH_SIZE, "%.*s",
			       (int)CTRACE_EMITTER_PATH_SIZE - 1, path);
	return ct_session_persist(session, to, strnlen(to, CTRACE_EMITTER_PATH_SIZE - 1) + 1);
}

/* ---- the end ---- */

void ct_session_close(struct ct_session *session, bool remove_directory)
{
	char *name = strrchr(session->path, '/');

	if (remove_directory && name != NULL) {
		*name = '\0';
		ct_directory_remove(session->path, session->directory);
		*name = '/';
	}
	if (session->is_mapped) {
		if (session->head != NULL)
			(void)munmap(session->head, session->layout.size);
	} else {
		free(session->head);
		free(session->paths);
		free(session->components);
		free(session->classes);
		free((char *)(uintptr_t)session->texts);
	}
	if (strcmp(own_path, session->path) == 0)
		own_path[0] = '\0';
	if (session->has_lock)
		ct_session_reset_lock(session);
	ct_os_close_file(&session->file_fd, &session->file_id);
	ct_os_close_file(&session->directory_fd, &session->directory_id);
	ct_session_init(session);
}
