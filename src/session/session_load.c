/*
 * session_load.c - the session of another process: a copy for recoverers and tools, the mapped file
 * itself for external writers.
 *
 * Called by the tool, and in a traced process by the search for orphans.  The file may hold
 * anything, and may be cut at any time.  A copy is checked to be within bounds before anybody uses
 * it.  Our own file is never opened here, because closing it would drop our lock.
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

static enum ctrace_status session_open_file(struct ct_session *session, int access)
{
	struct stat info;

	session->file_fd =
		access == O_RDWR ? ct_os_open_kept(session->directory_fd, "session")
				 : ct_os_high(openat(session->directory_fd, "session",
						     access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (session->file_fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	session->file_id = ct_os_file_id(session->file_fd);
	return fstat(session->file_fd, &info) == 0 && S_ISREG(info.st_mode) ? CTRACE_OK
									    : CTRACE_DAMAGED;
}

/* True if the directory still has its name.  A process that removes a directory renames it first.
 * So one in place without a session file is damaged, and one not in place was removed. */
static bool session_is_in_place(const struct ct_session *session)
{
	struct stat info;

	return lstat(session->path, &info) == 0 && info.st_dev == session->directory_id.device &&
	       info.st_ino == session->directory_id.inode;
}

/* Opens the directory and the file, but never our own.  The caller calls ct_session_close() in any
 * case. */
static enum ctrace_status session_open_parts(struct ct_session *session, const char *run_directory,
					     const char *name, int access)
{
	enum ctrace_status status;

	ct_session_init(session);
	if (strlen(name) >= sizeof session->directory || ct_session_is_own(run_directory, name) ||
	    snprintf(session->path, sizeof session->path, "%s/%s", run_directory, name) >=
		    (int)sizeof session->path)
		return CTRACE_DENIED;
	memcpy(session->directory, name, strlen(name) + 1);
	session->directory_fd =
		ct_os_high(open(session->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	session->directory_id = ct_os_file_id(session->directory_fd);
	if (session->directory_fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	status = session_open_file(session, access);
	/* A dormant process that ends removes its file, and then the directory. */
	if (status == CTRACE_NOT_FOUND && rmdir(session->path) == 0)
		return status;
	return status == CTRACE_NOT_FOUND && session_is_in_place(session) ? CTRACE_DAMAGED : status;
}

static enum ctrace_status file_read_exactly(int fd, void *data, size_t size, uint64_t offset)
{
	size_t got = 0;
	enum ctrace_status status = ct_os_read_at(fd, data, size, offset, &got);

	if (status != CTRACE_OK)
		return status;
	return got == size ? CTRACE_OK : CTRACE_DAMAGED;
}

/* Checks that this is the beginning of a session, of a version that this code reads. */
static enum ctrace_status session_check_version(uint64_t magic, uint32_t version)
{
	return magic != CT_SESSION_MAGIC       ? CTRACE_DAMAGED
	       : version != CT_SESSION_VERSION ? CTRACE_UNSUPPORTED
					       : CTRACE_OK;
}

/* A dormant process is numbered by the first who looks at it.  Its own file is not opened again:
 * that would end the lock. */
static void session_number(const struct ct_session *session, uint32_t *asid)
{
	int fd = *asid == 0 && !session->has_lock && session->file_fd >= 0
			 ? ct_os_open_kept(session->directory_fd, "session")
			 : -1;

	if (fd >= 0)
		*asid = ct_asid_give(session->directory_fd, NULL, fd);
	ct_os_close(&fd);
}

/* ---- copies ---- */

/* Copies the used part of the table. */
static enum ctrace_status session_copy_classes(struct ct_session *session)
{
	uint64_t room = session->layout.texts_at - session->layout.classes_at;
	uint32_t used = 0;
	enum ctrace_status status =
		file_read_exactly(session->file_fd, &used, sizeof used, session->layout.classes_at);
	size_t size = used < room ? used : (size_t)room;
	void *copy;

	if (status != CTRACE_OK || size < session->classes_size || size == 0)
		return status;
	copy = realloc(session->classes, size);
	if (copy == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	session->classes = copy;
	status = file_read_exactly(session->file_fd, copy, size, session->layout.classes_at);
	session->classes_size = status == CTRACE_OK ? size : 0;
	return status;
}

bool ct_session_load_classes(struct ct_session *session)
{
	return session_copy_classes(session) == CTRACE_OK;
}

/* Copies the paths of destinations that have some.  The others have none in the copy either. */
static enum ctrace_status session_copy_paths(struct ct_session *session)
{
	enum ctrace_status status = CTRACE_OK;

	session->paths = calloc(CT_DEST_LIMIT, sizeof *session->paths);
	if (session->paths == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < CT_DEST_LIMIT && status == CTRACE_OK; i++) {
		struct ct_dest_paths *paths = &session->paths[i];

		if ((session->head->has_paths & 1u << i) != 0)
			status = file_read_exactly(session->file_fd, paths, sizeof *paths,
						   CT_SESSION_PATHS + i * sizeof *paths);
		paths->at[0][sizeof paths->at[0] - 1] = '\0';
		paths->at[1][sizeof paths->at[1] - 1] = '\0';
	}
	return status;
}

/* Copies and bounds everything.  From here on every offset in the copy is within it. */
static enum ctrace_status session_copy_parts(struct ct_session *session)
{
	struct ct_session_head *head = calloc(1, sizeof *head);
	enum ctrace_status status;
	size_t components_size;

	session->head = head;
	if (head == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = file_read_exactly(session->file_fd, head, sizeof *head, 0);
	if (status == CTRACE_OK)
		status = session_check_version(head->magic, head->version);
	if (status != CTRACE_OK)
		return status;
	session->layout = head->layout;
	if (!ct_session_layout_holds(&session->layout) ||
	    head->component_count > ct_session_component_limit(&session->layout) ||
	    head->ring_count > CT_RING_LIMIT ||
	    head->texts_size > session->layout.size - session->layout.texts_at)
		return CTRACE_DAMAGED;
	head->boot_id[sizeof head->boot_id - 1] = '\0';
	head->jobname[sizeof head->jobname - 1] = '\0';
	head->host[sizeof head->host - 1] = '\0';
	head->program[sizeof head->program - 1] = '\0';
	head->system[sizeof head->system - 1] = '\0';
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &head->dest[i];

		dest->emitter[sizeof dest->emitter - 1] = '\0';
		dest->failing_at[sizeof dest->failing_at - 1] = '\0';
	}
	for (uint32_t i = 0; i < CT_ANNEX_LIMIT; i++)
		head->annex[i].path[sizeof head->annex[i].path - 1] = '\0';
	for (uint32_t i = 0; i < CT_WRITER_LIMIT; i++)
		head->writer[i].name[sizeof head->writer[i].name - 1] = '\0';
	status = session_copy_paths(session);
	if (status != CTRACE_OK)
		return status;
	components_size = head->component_count * sizeof(struct ct_component_entry);
	session->components = calloc(head->component_count + 1u, sizeof(struct ct_component_entry));
	session->texts = calloc(1, head->texts_size + 1);
	if (session->components == NULL || session->texts == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = file_read_exactly(session->file_fd, session->components, components_size,
				   session->layout.components_at);
	if (status == CTRACE_OK)
		status = file_read_exactly(session->file_fd, (char *)(uintptr_t)session->texts,
					   head->texts_size, session->layout.texts_at);
	session->texts_capacity = head->texts_size;
	return status == CTRACE_OK ? session_copy_classes(session) : status;
}

/* ---- the lock of a recoverer ---- */

/*
 * The lock belongs to the open file, not to the process, so a thread that opens and closes the same
 * session does not drop it.  But a forked child inherits the open file, and would keep the lock
 * after its parent.  So the child closes the files in this list.
 */
#define HELD_LIMIT 8u
static struct {
	int fd; /* atomic; 0: free */
	struct ct_file_id id;
} held[HELD_LIMIT];

static void held_note(const struct ct_session *session)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++) {
		int none = 0;

		if (!__atomic_compare_exchange_n(&held[i].fd, &none, -1, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		held[i].id = session->file_id;
		/* Publish: pairs with the acquire load in ct_session_reset_loaded(), which then
		 * sees the identity too. */
		__atomic_store_n(&held[i].fd, session->file_fd, __ATOMIC_RELEASE);
		return;
	}
}

void ct_session_reset_lock(const struct ct_session *session)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++)
		if (__atomic_load_n(&held[i].fd, __ATOMIC_RELAXED) == session->file_fd)
			__atomic_store_n(&held[i].fd, 0, __ATOMIC_RELEASE);
}

void ct_session_reset_loaded(void)
{
	for (uint32_t i = 0; i < HELD_LIMIT; i++) {
		int fd = __atomic_load_n(&held[i].fd, __ATOMIC_ACQUIRE);

		if (fd > 0)
			ct_os_close_file(&fd, &held[i].id);
		held[i].fd = 0;
	}
}

/* TIMED_OUT when its process lives, or another process is recovering it.  NOT_FOUND when another
 * process has just recovered and removed it. */
static enum ctrace_status session_take_lock(struct ct_session *session)
{
	struct flock lock = ct_session_alive_lock();
	struct stat info;

	if (fcntl(session->file_fd, F_OFD_SETLK, &lock) != 0)
		return CTRACE_TIMED_OUT;
	session->has_lock = true;
	held_note(session);
	if (fstat(session->file_fd, &info) != 0 || info.st_nlink == 0)
		return CTRACE_NOT_FOUND;
	return CTRACE_OK;
}

enum ctrace_status ct_session_load(struct ct_session *session, const char *run_directory,
				   const char *name, bool want_lock)
{
	enum ctrace_status status =
		session_open_parts(session, run_directory, name, want_lock ? O_RDWR : O_RDONLY);

	if (status == CTRACE_OK && want_lock)
		status = session_take_lock(session);
	if (status == CTRACE_OK)
		status = session_copy_parts(session);
	if (status == CTRACE_OK)
		session_number(session, &session->head->asid);
	else
		ct_session_close(session, false);
	return status;
}

enum ctrace_status ct_session_copy(const struct ct_session *own, struct ct_session *out)
{
	enum ctrace_status status;

	*out = (struct ct_session){ .directory_fd = -1, .file_fd = own->file_fd };
	memcpy(out->directory, own->directory, sizeof out->directory);
	memcpy(out->path, own->path, sizeof out->path);
	/* A second descriptor of the session's file must not be closed: that drops the lock. */
	if (own->directory_fd >= 0 && own->file_fd >= 0)
		out->directory_fd = ct_os_high(fcntl(own->directory_fd, F_DUPFD_CLOEXEC, 0));
	out->directory_id = ct_os_file_id(out->directory_fd);
	status = out->directory_fd >= 0 ? session_copy_parts(out) : CTRACE_NOT_FOUND;
	out->file_fd = -1;
	if (status != CTRACE_OK)
		ct_session_close(out, false);
	return status;
}

enum ctrace_status ct_session_identify(const char *run_directory, const char *name,
				       uint32_t *out_asid, char out_jobname[16])
{
	struct ct_session session;
	struct ct_session_head *head = calloc(1, sizeof *head);
	enum ctrace_status status = session_open_parts(&session, run_directory, name, O_RDONLY);

	if (status == CTRACE_OK && head == NULL)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = file_read_exactly(session.file_fd, head,
					   offsetof(struct ct_session_head, host), 0);
	if (status == CTRACE_OK)
		status = session_check_version(head->magic, head->version);
	if (status == CTRACE_OK) {
		session_number(&session, &head->asid);
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
	const char *paths = (const char *)session->paths;

	if (session->is_mapped || session->is_scratch)
		return CTRACE_OK;
	if (at >= paths && at < paths + CT_SESSION_PATHS_SIZE)
		return ct_os_write_at(session->file_fd, part, size,
				      CT_SESSION_PATHS + (uint64_t)(at - paths));
	return ct_os_write_at(session->file_fd, part, size, (uint64_t)(at - head));
}

/* ---- external writers ---- */

static struct flock writer_lock(uint32_t number)
{
	return (struct flock){ .l_type = F_WRLCK,
			       .l_whence = SEEK_SET,
			       .l_start = CT_SESSION_LOCK_WRITER + number,
			       .l_len = 1 };
}

bool ct_session_writer_lives(struct ct_session *session, uint32_t number)
{
	struct flock lock = writer_lock(number);

	if (session->is_mapped && !ct_session_reach(session))
		return false;
	return fcntl(session->file_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* The mapped file may change at any time, so the layout is copied and then checked. */
static enum ctrace_status session_read_layout(struct ct_session *session)
{
	uint64_t magic = 0;
	uint32_t version = 0;
	enum ctrace_status status = file_read_exactly(session->file_fd, &magic, sizeof magic, 0);

	if (status == CTRACE_OK)
		status = file_read_exactly(session->file_fd, &version, sizeof version,
					   offsetof(struct ct_session_head, version));
	if (status == CTRACE_OK)
		status = file_read_exactly(session->file_fd, &session->layout,
					   sizeof session->layout,
					   offsetof(struct ct_session_head, layout));
	if (status != CTRACE_OK)
		return CTRACE_DAMAGED;
	status = session_check_version(magic, version);
	return status == CTRACE_OK && !ct_session_layout_holds(&session->layout) ? CTRACE_DAMAGED
										 : status;
}

enum ctrace_status ct_session_map(struct ct_session *session, int directory, uint32_t writer)
{
	struct flock lock = writer_lock(writer);
	enum ctrace_status status;
	struct stat info;
	void *base;

	ct_session_init(session);
	session->directory_fd = directory;
	session->directory_id = ct_os_file_id(directory);
	status = session_open_file(session, O_RDWR);

	if (status == CTRACE_OK && (fstat(session->file_fd, &info) != 0 || !S_ISREG(info.st_mode) ||
				    info.st_uid != geteuid()))
		status = CTRACE_DENIED;
	if (status == CTRACE_OK)
		status = session_read_layout(session);
	if (status == CTRACE_OK && (uint64_t)info.st_size < session->layout.size)
		status = CTRACE_DAMAGED;
	/* The lock belongs to the open file, so that closing another descriptor of it, as the
	 * search for orphans does, does not drop it. */
	if (status == CTRACE_OK && fcntl(session->file_fd, F_OFD_SETLK, &lock) != 0)
		status = CTRACE_TIMED_OUT;
	if (status == CTRACE_OK)
		status = ct_os_map_file(session->file_fd, &session->file_id, session->layout.size,
					&base);
	if (status != CTRACE_OK) {
		ct_session_close(session, false);
		return status;
	}
	ct_session_set_base(session, base);
	return status;
}
