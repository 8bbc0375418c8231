/*
 * session_keep.c - protects the files of a live process from cleaners of temporary directories, and
 * from truncation.
 *
 * Called by the consumer thread once in a while; never by a trace call.  Failures are ignored.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void ct_session_guard_directory(const struct ct_session *session)
{
	(void)flock(session->directory_fd, LOCK_SH | LOCK_NB);
}

/* A file that is only written through its mapping looks old. */
static void rings_touch(const struct ct_session *session)
{
	const struct ct_session_head *head = session->head;
	uint32_t count = __atomic_load_n(&head->ring_count, __ATOMIC_ACQUIRE);
	int annex[CT_ANNEX_LIMIT];
	char name[32];

	for (uint32_t i = 0; i < CT_ANNEX_LIMIT; i++)
		annex[i] = ct_annex_open(head, i);
	for (uint32_t i = 0; i < count && i < CT_RING_LIMIT; i++) {
		uint32_t place = __atomic_load_n(&head->ring_place[i], __ATOMIC_RELAXED);
		int directory = place == CT_RING_IN_DIRECTORY ? session->directory_fd : -1;

		if (place >= CT_RING_IN_ANNEX && place < CT_RING_IN_ANNEX + CT_ANNEX_LIMIT)
			directory = annex[place - CT_RING_IN_ANNEX];
		(void)snprintf(name, sizeof name, "ring.%u", (unsigned)i);
		if (directory >= 0)
			(void)utimensat(directory, name, NULL, AT_SYMLINK_NOFOLLOW);
	}
	for (uint32_t i = 0; i < CT_ANNEX_LIMIT; i++) {
		if (annex[i] >= 0)
			(void)futimens(annex[i], NULL);
		ct_os_close(&annex[i]);
	}
}

void ct_session_touch(struct ct_session *session)
{
	if (session->path[0] == '\0' || ct_session_directory(session) < 0)
		return;
	ct_session_guard_directory(session);
	if (ct_session_reach(session))
		(void)futimens(session->file_fd, NULL);
	(void)utimensat(session->directory_fd, "control", NULL, AT_SYMLINK_NOFOLLOW);
	rings_touch(session);
	(void)futimens(session->directory_fd, NULL);
}

/* Writes the identity of the process again, so readers do not take a cut file for a damaged one. */
static void session_write_constants(struct ct_session *session)
{
	const struct ct_session_place place = ct_place_here();
	struct ct_session_head *head = session->head;

	if (head->magic == CT_SESSION_MAGIC)
		return;
	ct_session_write_constants(session, &place);
	ct_session_note_start(session);
	head->was_cut = 1; /* names and levels are gone */
	head->component_count = session->component_count;
	head->texts_size = session->texts_capacity;
	for (uint32_t i = 0; i < session->component_count; i++)
		session->components[i].level_word.level = CTRACE_LEVEL_NONE;
	__atomic_store_n(&head->magic, CT_SESSION_MAGIC, __ATOMIC_RELEASE);
}

/* The cut may have cleared the bits in the head, so this process's own copy is used. */
static void session_allocate_paths(struct ct_session *session)
{
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++)
		if ((session->paths_allocated & 1u << i) != 0)
			(void)!ct_os_allocate(session->file_fd,
					      CT_SESSION_PATHS + i * sizeof(struct ct_dest_paths),
					      sizeof(struct ct_dest_paths));
	(void)__atomic_fetch_or(&session->head->has_paths, session->paths_allocated,
				__ATOMIC_RELEASE);
}

bool ct_session_lengthen(struct ct_session *session)
{
	struct stat info;

	/* The size is the file's only if the file is still there after it was read. */
	if (session->path[0] == '\0' || fstat(session->file_fd, &info) != 0 ||
	    (uint64_t)info.st_size >= session->layout.size ||
	    !ct_os_is_file(session->file_fd, &session->file_id))
		return false;
	if (ct_os_truncate(session->file_fd, session->layout.size) != CTRACE_OK)
		return false;
	/* Allocates the blocks too, because a store would fault on a full disk. */
	(void)!ct_os_allocate(session->file_fd, 0, CT_SESSION_HEAD_BLOCKS);
	session_allocate_paths(session);
	(void)!ct_os_allocate(session->file_fd, session->layout.components_at,
			      session->components_allocated);
	(void)!ct_os_allocate(session->file_fd, session->layout.classes_at,
			      session->classes_allocated);
	(void)!ct_os_allocate(session->file_fd, session->layout.texts_at, session->texts_allocated);
	return true;
}

bool ct_session_heal(struct ct_session *session)
{
	bool is_longer = ct_session_lengthen(session);

	if (session->path[0] != '\0')
		session_write_constants(session);
	return is_longer;
}
