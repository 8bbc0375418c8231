/*
 * session_make.c - makes this process's own session, with the identity of the process, in a
 * directory that nobody sees before it is complete.
 *
 * ct_session_create() runs when a process attaches, and to check a configuration; ct_session_fork()
 * runs in a forked child.  Without a run directory, or when anything fails there, the session is
 * private memory: the traced program never notices.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FIRST_CLASSES 8192u /* bytes of the table of classes at first */
#define DIRECTORY_TRIES 3u
#define ADDRESS_SHARE 32u                 /* of RLIMIT_AS: the part that a session may map */
#define ADDRESS_LEAST ((uint64_t)1 << 20) /* it may map that much anyway */

/* ---- the identity of the process ---- */

/* Finds the base name of the executable without its extension. */
static void find_program(char *out, size_t size)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *base;

	path[length > 0 ? length : 0] = '\0';
	base = length > 0 ? strrchr(path, '/') + 1 : program_invocation_short_name;
	(void)snprintf(out, size, "%s", base);
	if (strrchr(out, '.') != NULL && strrchr(out, '.') != out)
		*strrchr(out, '.') = '\0';
}

static void find_jobname(const char *program, char out[16])
{
	const char *chosen = ct_os_environment("CTRACE_JOBNAME");

	memset(out, 0, 16);
	(void)snprintf(out, 9, "%.8s", chosen != NULL ? chosen : program);
	for (char *at = out; *at != '\0'; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
}

static void find_command_line(char *out, size_t size)
{
	size_t got = ct_place_read("/proc/self/cmdline", out, size);

	while (got > 0 && out[got - 1] == '\0')
		got--;
	for (size_t i = 0; i < got; i++)
		if (out[i] == '\0' || out[i] == '\n')
			out[i] = ' ';
	out[got] = '\0';
	if (got == 0)
		(void)snprintf(out, size, "%s", program_invocation_name);
}

/* ---- the initial content ---- */

void ct_session_write_constants(struct ct_session *session, const struct ct_session_place *place)
{
	struct ct_session_head *head = session->head;

	head->version = CT_SESSION_VERSION;
	head->abi = CTRACE_ABI;
	head->pid = session->pid;
	head->uid = session->uid;
	head->layout = session->layout;
	head->place = *place;
	head->process_start = 0;
}

void ct_session_note_start(struct ct_session *session)
{
	if (session->path[0] == '\0')
		return; /* nobody else sees the session */
	__atomic_store_n(&session->head->process_start, ct_place_process_start(session->head->pid),
			 __ATOMIC_RELAXED);
}

static void head_fill(struct ct_session *session, uint32_t asid)
{
	const struct ct_session_place not_known = { .process_space = 0 };
	struct ct_session_head *head = session->head;
	char text[4096];

	ct_session_write_constants(session, &not_known);
	head->asid = asid;
	head->start_ns = ct_clock_wall_ns();
	find_program(head->program, sizeof head->program);
	find_jobname(head->program, head->jobname);
	if (getcwd(text, sizeof text) != NULL)
		(void)!ct_session_add_text(session, text, strlen(text), &head->working_directory);
	if (ct_os_environment("MFTRACE_LOGS") != NULL) {
		(void)snprintf(text, sizeof text, "%s", ct_os_environment("MFTRACE_LOGS"));
		(void)!ct_session_add_text(session, text, strlen(text), &head->log_directory);
	}
	__atomic_store_n(&head->magic, CT_SESSION_MAGIC, __ATOMIC_RELEASE);
}

void ct_session_note_clock(struct ct_session *session)
{
	ct_shared_sync_start(&session->head->sync);
}

void ct_session_note_origin(struct ct_session *session, bool has_command_line)
{
	struct ct_session_head *head = session->head;
	struct utsname system;
	char text[4096];

	if (head->asid == 0 && ct_session_directory(session) >= 0)
		(void)!ct_asid_give(session->directory_fd, &head->asid, -1);
	session->world = ct_os_world();
	head->place = ct_place_here();
	ct_place_boot(head->boot_id);
	if (uname(&system) == 0) {
		(void)snprintf(head->host, sizeof head->host, "%s", system.nodename);
		(void)snprintf(head->system, sizeof head->system, "%.60s %.60s", system.sysname,
			       system.release);
	}
	head->command_line = 0; /* a child has its parent's */
	if (!has_command_line)
		return;
	find_command_line(text, sizeof text);
	(void)!ct_session_add_text(session, text, strlen(text), &head->command_line);
}

/*
 * Gives a forked child its parent's components, classes and texts, and none of its parent's events.
 * The parent continues meanwhile.  So the copied head bounds the texts, because an entry may have
 * got a new one.  The components are those of the fork, because the child's registry knows no
 * others.
 */
static enum ctrace_status session_copy_parent(struct ct_session *session,
					      const struct ct_session *parent)
{
	struct ct_session_head *head = session->head;

	memcpy(head, parent->head, sizeof *head);
	head->has_paths = 0;
	head->bell.level = CTRACE_LEVEL_NONE;
	if (ct_session_allocate(session, session->layout.components_at,
				&session->components_allocated,
				parent->components_allocated) != CTRACE_OK ||
	    ct_session_allocate(session, session->layout.classes_at, &session->classes_allocated,
				parent->classes_allocated) != CTRACE_OK ||
	    ct_session_allocate(session, session->layout.texts_at, &session->texts_allocated,
				head->texts_size) != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;
	head->component_count = session->component_count = parent->component_count;
	memcpy(session->components, parent->components,
	       head->component_count * sizeof(struct ct_component_entry));
	/* Call sites have cached numbers of classes. */
	memcpy(session->classes, parent->classes, parent->classes_allocated);
	/* the parent's limit may have grown since the fork */
	session->classes->limit = (uint32_t)session->classes_allocated;
	memcpy((char *)(uintptr_t)session->texts, parent->texts, head->texts_size);
	session->texts_capacity = head->texts_size;
	head->ring_count = head->flight_wanted = head->ring_moves = 0;
	memset(head->ring_place, 0, sizeof head->ring_place);
	memset(head->annex, 0, sizeof head->annex);
	head->control_refused = head->control_requests = head->late_rings = 0;
	memset(head->lost, 0, sizeof head->lost);
	for (uint32_t i = 0; i < head->component_count; i++)
		session->components[i].delivered = session->components[i].bytes = 0;
	for (uint32_t i = 0; i < CT_WRITER_LIMIT; i++)
		head->writer[i].slots = 0;
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &head->dest[i];

		dest->sequence = dest->failures = 0;
		dest->failing = dest->active = 0;
		dest->failing_at[0] = '\0';
		memset(dest->slot, 0, sizeof dest->slot);
	}
	return CTRACE_OK;
}

static void session_begin_new(struct ct_session *session)
{
	struct ct_session_head *head = session->head;

	/* A private session has no blocks to allocate. */
	(void)!ct_session_allocate(session, session->layout.classes_at, &session->classes_allocated,
				   FIRST_CLASSES);
	ct_class_table_start(session->classes, session->classes_allocated);
	head->texts_size = 1; /* no text may have the value 0 */
	head->bell.level = CTRACE_LEVEL_NONE;
	head->is_dormant = CT_ATTACHING;
	head->config.keep_ns = CT_SESSION_KEEP_NS; /* until the configuration sets it */
}

static enum ctrace_status session_fill(struct ct_session *session, const struct ct_session *parent,
				       uint32_t asid)
{
	enum ctrace_status status = CTRACE_OK;

	if (parent != NULL)
		status = session_copy_parent(session, parent);
	else
		session_begin_new(session);
	if (status == CTRACE_OK)
		head_fill(session, asid);
	return status;
}

/* ---- making ---- */

/* Halves the layout when memory is short.  Returns false when it cannot be smaller, and in a forked
 * child, which needs the layout of its parent. */
static bool layout_make_smaller(struct ct_session *session, const struct ct_session *parent)
{
	if (parent != NULL || (errno != EFBIG && errno != ENOMEM))
		return false;
	session->layout = ct_session_layout_for(session->layout.size / 2);
	return session->layout.size != 0;
}

/* The largest session of a process that may map so much: the rest is the program's. */
static uint64_t session_limit(void)
{
	uint64_t part = ct_os_address_limit() / ADDRESS_SHARE;

	return part > ADDRESS_LEAST ? part : ADDRESS_LEAST;
}

static enum ctrace_status session_map_private(struct ct_session *session,
					      const struct ct_session *parent, void **out_base)
{
	session->layout = parent != NULL ? parent->layout : ct_session_layout_for(session_limit());
	do {
		void *base = mmap(NULL, session->layout.size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base != MAP_FAILED) {
			*out_base = base;
			return CTRACE_OK;
		}
	} while (layout_make_smaller(session, parent));
	return CTRACE_NOT_ENOUGH_MEMORY;
}

/*
 * Gives the file its size, and maps it without read-ahead.  A disk's file system would read ahead
 * at each first touch of the sparse file: megabytes of zeros, which cost milliseconds
 * (bench/bench_start.c).
 */
static enum ctrace_status file_set_size(struct ct_session *session, void **out_base)
{
	enum ctrace_status status = ct_os_check_file(session->file_fd, &session->file_id);

	if (status == CTRACE_OK)
		status = ct_os_extend(session->file_fd, session->layout.size);
	if (status == CTRACE_OK)
		status = ct_os_map_file(session->file_fd, &session->file_id, session->layout.size,
					out_base);
	if (status == CTRACE_OK && session->file_system != CT_OS_MEMORY)
		(void)madvise(*out_base, session->layout.size, MADV_RANDOM);
	return status;
}

/* Allocates real blocks for the parts that every process needs.  When that fails, private memory is
 * better than a file in which nothing can be registered. */
static enum ctrace_status session_allocate_first(struct ct_session *session)
{
	const struct {
		uint64_t at, size;
		uint64_t *allocated; /* NULL: the head */
	} parts[] = {
		{ 0, CT_SESSION_HEAD_BLOCKS, NULL },
		{ session->layout.components_at, CT_SESSION_PAGE, &session->components_allocated },
		{ session->layout.classes_at, FIRST_CLASSES, &session->classes_allocated },
		{ session->layout.texts_at, CT_SESSION_PAGE, &session->texts_allocated },
	};
	enum ctrace_status status = CTRACE_OK;

	for (size_t i = 0; i < CT_COUNT(parts) && status == CTRACE_OK; i++) {
		status = ct_os_allocate_quietly(session->file_fd, parts[i].at, parts[i].size);
		if (status == CTRACE_OK && parts[i].allocated != NULL)
			*parts[i].allocated = parts[i].size;
	}
	return status;
}

/* Makes the session file in a new directory, mapped and locked.  The directory is renamed when it
 * is complete, so nobody sees half of one. */
static enum ctrace_status session_make_file(struct ct_session *session,
					    const struct ct_session *parent, void **out_base)
{
	struct flock lock = ct_session_alive_lock();
	uint64_t limit = ct_os_file_limit(), room = session_limit();
	enum ctrace_status status = ct_os_make_kept(session->directory_fd, "session",
						    &session->file_fd, &session->file_id);

	if (status != CTRACE_OK)
		return status;
	if (session->file_system != CT_OS_MEMORY)
		ct_os_store_in_place(session->file_fd);
	if (limit != UINT64_MAX)
		ct_guard_output();
	session->layout = parent != NULL ? parent->layout
					 : ct_session_layout_for(limit < room ? limit : room);
	errno = EFBIG; /* of a layout that is too small */
	do
		status = session->layout.size != 0 ? file_set_size(session, out_base)
						   : CTRACE_OS_ERROR;
	while (status != CTRACE_OK && layout_make_smaller(session, parent));
	if (status == CTRACE_OK && fcntl(session->file_fd, F_SETLK, &lock) != 0)
		status = CTRACE_OS_ERROR;
	if (status == CTRACE_OK)
		status = session_allocate_first(session);
	if (status != CTRACE_OK)
		ct_os_close(&session->file_fd);
	return status;
}

/* The directory gets the first free number of this process. */
static enum ctrace_status directory_name(struct ct_session *session, const char *run_directory,
					 const char *temporary)
{
	char from[3 + 100], to[3 + sizeof session->directory];

	(void)snprintf(from, sizeof from, "../%s", temporary);
	for (unsigned n = 0; n < 100000; n++) {
		(void)snprintf(session->directory, sizeof session->directory, "%u.%u",
			       (unsigned)session->pid, n);
		(void)snprintf(to, sizeof to, "../%s", session->directory);
		if (syscall(SYS_renameat2, session->directory_fd, from, session->directory_fd, to,
			    1 /* RENAME_NOREPLACE */) == 0) {
			if (snprintf(session->path, sizeof session->path, "%s/%s", run_directory,
				     session->directory) >= (int)sizeof session->path)
				return CTRACE_OS_ERROR;
			return CTRACE_OK;
		}
		if (errno != EEXIST && errno != ENOTEMPTY)
			break;
	}
	return CTRACE_OS_ERROR;
}

/* Opens the directory that was just made. */
static bool directory_open_new(struct ct_session *session, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags);
	struct stat made;

	/* mkdir() applies the umask */
	if (fd < 0 && errno == EACCES && chmod(path, 0700) == 0)
		fd = open(path, flags);
	session->directory_fd = ct_os_high(fd);
	if (session->directory_fd < 0 || fstat(session->directory_fd, &made) != 0)
		return false;
	if ((made.st_mode & 0777) != 0700)
		(void)fchmod(session->directory_fd, 0700);
	session->directory_id = (struct ct_file_id){ made.st_dev, made.st_ino };
	session->uid = made.st_uid;
	return true;
}

/* Makes and fills the file, and only then gives the directory its name. */
static enum ctrace_status session_make_directory(struct ct_session *session,
						 const char *run_directory,
						 const struct ct_session *parent)
{
	enum ctrace_status status = CTRACE_DENIED;
	char path[4096 + 100];
	const char *temporary = path + strlen(run_directory) + 1;
	void *base = NULL;
	int error = 0;

	session->pid = (uint32_t)getpid();
	(void)snprintf(path, sizeof path, "%s/.new-%u-0-%llx", run_directory,
		       (unsigned)session->pid, (unsigned long long)ct_clock_mono_ns());
	if (mkdir(path, 0700) != 0)
		return CTRACE_DENIED;
	if (!directory_open_new(session, path))
		goto undo_directory;
	session->file_system = ct_os_file_system(session->directory_fd);
	ct_session_guard_directory(session);
	status = session_make_file(session, parent, &base);
	if (status != CTRACE_OK)
		goto undo_map;
	ct_session_set_base(session, base);
	status = session_fill(session, parent, 0);
	if (status == CTRACE_OK)
		status = directory_name(session, run_directory, temporary);
	if (status == CTRACE_OK)
		return CTRACE_OK;

undo_map:
	error = errno;
	if (base != NULL)
		(void)munmap(base, session->layout.size);
	ct_os_close(&session->file_fd);
undo_directory:
	error = error != 0 ? error : errno;
	ct_os_close(&session->directory_fd);
	ct_directory_remove(run_directory, temporary);
	errno = error;
	return status;
}

static enum ctrace_status session_make_private(struct ct_session *session,
					       const struct ct_session *parent)
{
	void *base;
	enum ctrace_status status;

	ct_session_init(session);
	session->pid = (uint32_t)getpid();
	session->uid = geteuid();
	status = session_map_private(session, parent, &base);
	if (status != CTRACE_OK)
		return status;
	ct_session_set_base(session, base);
	status = session_fill(session, parent, parent != NULL ? parent->head->asid : 1);
	if (status != CTRACE_OK)
		ct_session_close(session, false);
	return status;
}

static enum ctrace_status session_make_new(struct ct_session *session, const char *run_directory,
					   const struct ct_session *parent)
{
	for (unsigned tries = 0; run_directory != NULL; tries++) {
		ct_session_init(session);
		if (session_make_directory(session, run_directory, parent) == CTRACE_OK)
			return CTRACE_OK;
		/* somebody took the new directory for an abandoned one, before it was locked */
		if (errno == ENOENT && tries < DIRECTORY_TRIES)
			continue;
		ct_unattached_note(run_directory, errno != 0 ? errno : EIO, 0);
		break;
	}
	return session_make_private(session, parent);
}

enum ctrace_status ct_session_create(struct ct_session *session, const char *run_directory)
{
	enum ctrace_status status = ct_session_create_dormant(session, run_directory);

	if (status == CTRACE_OK)
		ct_session_note_clock(session);
	return status;
}

enum ctrace_status ct_session_create_dormant(struct ct_session *session, const char *run_directory)
{
	enum ctrace_status status = session_make_new(session, run_directory, NULL);

	/* A private session beside it, for checking a configuration, must not change it. */
	if (status == CTRACE_OK && run_directory != NULL)
		ct_session_set_own(session);
	return status;
}

enum ctrace_status ct_session_fork(struct ct_session *session, const char *run_directory)
{
	struct ct_session made;
	enum ctrace_status status = session_make_new(&made, run_directory, session);
	void *base = made.head;

	if (status != CTRACE_OK)
		return status;
	/* Every level word keeps its address: tracers point there. */
	if (mremap(base, made.layout.size, made.layout.size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   session->head) == MAP_FAILED) {
		ct_session_close(&made, true);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	ct_session_set_base(&made, session->head);
	/* The parent's descriptors.  The parent keeps its lock. */
	ct_os_close_file(&session->file_fd, &session->file_id);
	ct_os_close_file(&session->directory_fd, &session->directory_id);
	*session = made;
	ct_session_set_own(session);
	return CTRACE_OK;
}
