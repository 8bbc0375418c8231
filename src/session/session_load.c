/*
 * session_load.c - somebody else's session: a copy for recoverers and tools, the mapped file itself for external writers.
 *
 * Called by the tool, and in a traced process by who looks for orphans.  The file may hold anything and be cut at any time: a copy is within
 * bounds before anybody sees it.  Our own file is never opened here, as closing it would drop our lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

static enum ctrace_status open_file(struct ct_session *session, int access)
{
	session->file_fd = ct_os_above_standard(openat(session->folder_fd, "session", access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (session->file_fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	session->file_id = ct_os_file_id(session->file_fd);
	return CTRACE_OK;
}

/* Its folder and file, never our own.  ct_session_close() in either case. */
static enum ctrace_status open_parts(struct ct_session *session, const char *run_directory, const char *name, int access)
{
	ct_session_init(session);
	if (strlen(name) >= sizeof session->folder || ct_session_is_own(run_directory, name) ||
	    snprintf(session->path, sizeof session->path, "%s/%s", run_directory, name) >= (int)sizeof session->path)
		return CTRACE_DENIED;
	memcpy(session->folder, name, strlen(name) + 1);
	session->folder_fd = ct_os_above_standard(open(session->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	session->folder_id = ct_os_file_id(session->folder_fd);
	if (session->folder_fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	return open_file(session, access);
}

static enum ctrace_status read_exactly(int fd, void *data, size_t size, uint64_t offset)
{
	size_t got = 0;
	enum ctrace_status status = ct_os_read_at(fd, data, size, offset, &got);

	if (status != CTRACE_OK)
		return status;
	return got == size ? CTRACE_OK : CTRACE_DAMAGED;
}

/* ---- copies ---- */

/* Copies and bounds everything: from here on the copy can be trusted to stay within itself. */
static enum ctrace_status copy_parts(struct ct_session *session)
{
	struct ct_session_head *head = calloc(1, sizeof *head);
	enum ctrace_status status;
	size_t components_size;

	session->head = head;
	if (head == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = read_exactly(session->file_fd, head, sizeof *head, 0);
	if (status != CTRACE_OK)
		return status;
	if (head->magic != CT_SESSION_MAGIC)
		return CTRACE_DAMAGED;
	if (head->version != CT_SESSION_VERSION)
		return CTRACE_UNSUPPORTED;
	if (head->component_count > CT_COMPONENT_LIMIT || head->ring_count > CT_RING_LIMIT ||
	    head->texts_size > CT_SESSION_SIZE - CT_SESSION_TEXTS)
		return CTRACE_DAMAGED;
	head->boot_id[sizeof head->boot_id - 1] = '\0';
	head->jobname[sizeof head->jobname - 1] = '\0';
	head->host[sizeof head->host - 1] = '\0';
	head->program[sizeof head->program - 1] = '\0';
	head->system[sizeof head->system - 1] = '\0';
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &head->dest[i];

		dest->emitter[sizeof dest->emitter - 1] = '\0';
		dest->slot[0].path[sizeof dest->slot[0].path - 1] = '\0';
		dest->slot[1].path[sizeof dest->slot[1].path - 1] = '\0';
	}
	for (uint32_t i = 0; i < CT_WRITER_LIMIT; i++)
		head->writer[i].name[sizeof head->writer[i].name - 1] = '\0';
	components_size = head->component_count * sizeof(struct ct_component_entry);
	session->components = calloc(head->component_count + 1u, sizeof(struct ct_component_entry));
	session->texts = calloc(1, head->texts_size + 1);
	if (session->components == NULL || session->texts == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = read_exactly(session->file_fd, session->components, components_size, CT_SESSION_COMPONENTS);
	if (status == CTRACE_OK)
		status = read_exactly(session->file_fd, (char *)(uintptr_t)session->texts, head->texts_size, CT_SESSION_TEXTS);
	session->texts_capacity = head->texts_size;
	return status;
}

enum ctrace_status ct_session_load(struct ct_session *session, const char *run_directory, const char *name, bool want_lock)
{
	struct flock lock = ct_session_alive_lock();
	enum ctrace_status status = open_parts(session, run_directory, name, want_lock ? O_RDWR : O_RDONLY);

	if (status == CTRACE_OK && want_lock && fcntl(session->file_fd, F_SETLK, &lock) != 0)
		status = CTRACE_TIMED_OUT;
	if (status == CTRACE_OK)
		status = copy_parts(session);
	if (status != CTRACE_OK)
		ct_session_close(session, false);
	return status;
}

enum ctrace_status ct_session_identify(const char *run_directory, const char *name, uint32_t *out_asid, char out_jobname[16])
{
	struct ct_session session;
	struct ct_session_head *head = calloc(1, sizeof *head);
	enum ctrace_status status = open_parts(&session, run_directory, name, O_RDONLY);

	if (status == CTRACE_OK && head == NULL)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = read_exactly(session.file_fd, head, offsetof(struct ct_session_head, host), 0);
	if (status == CTRACE_OK && head->magic != CT_SESSION_MAGIC)
		status = CTRACE_DAMAGED;
	if (status == CTRACE_OK && head->version != CT_SESSION_VERSION)
		status = CTRACE_UNSUPPORTED;
	if (status == CTRACE_OK) {
		*out_asid = head->asid;
		(void)snprintf(out_jobname, 16, "%.15s", head->jobname);
	}
	free(head);
	ct_session_close(&session, false);
	return status;
}

enum ctrace_status ct_session_persist(struct ct_session *session, const void *part, size_t size)
{
	const char *at = part;
	const char *head = (const char *)session->head;

	if (session->is_mapped)
		return CTRACE_OK;
	return ct_os_write_at(session->file_fd, part, size, (uint64_t)(at - head));
}

/* ---- external writers ---- */

static struct flock writer_lock(uint32_t number)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CT_SESSION_LOCK_WRITER + number, .l_len = 1 };
}

bool ct_session_writer_lives(struct ct_session *session, uint32_t number)
{
	struct flock lock = writer_lock(number);

	if (session->is_mapped && !ct_session_reach(session))
		return false;
	return fcntl(session->file_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

enum ctrace_status ct_session_map(struct ct_session *session, int folder, uint32_t writer)
{
	struct flock lock = writer_lock(writer);
	enum ctrace_status status;
	struct stat info;
	void *base;

	ct_session_init(session);
	session->folder_fd = folder;
	session->folder_id = ct_os_file_id(folder);
	status = open_file(session, O_RDWR);

	if (status == CTRACE_OK && (fstat(session->file_fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()))
		status = CTRACE_DENIED;
	if (status == CTRACE_OK && info.st_size != (off_t)CT_SESSION_SIZE)
		status = CTRACE_DAMAGED;
	/* Of the open file: closing another descriptor of it, as who looks for orphans does, must not drop it. */
	if (status == CTRACE_OK && fcntl(session->file_fd, F_OFD_SETLK, &lock) != 0)
		status = CTRACE_TIMED_OUT;
	if (status == CTRACE_OK)
		status = ct_os_map(session->file_fd, CT_SESSION_SIZE, true, &base);
	if (status != CTRACE_OK) {
		ct_session_close(session, false);
		return status;
	}
	ct_session_set_base(session, base);
	if (session->head->magic != CT_SESSION_MAGIC || session->head->version != CT_SESSION_VERSION) {
		status = session->head->magic == CT_SESSION_MAGIC ? CTRACE_UNSUPPORTED : CTRACE_DAMAGED;
		ct_session_close(session, false);
	}
	return status;
}
