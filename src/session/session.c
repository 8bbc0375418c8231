/*
 * session.c - makes, maps, copies and closes the session file.
 *
 * ct_session_create, _fork and _close run when a process attaches, forks and ends; _add_* under the registry's lock; _load and
 * _persist in recoverers and tools.  A trace call only reads gates in it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define GROWTH ((uint64_t)64 << 10)

_Static_assert(sizeof(struct ct_component_entry) == 48, "an entry leaves the process");
_Static_assert(sizeof(struct ct_session_head) <= CT_SESSION_COMPONENTS, "the head ends before the components");
_Static_assert(CT_SESSION_COMPONENTS + (uint64_t)CT_COMPONENT_LIMIT * sizeof(struct ct_component_entry) <= CT_SESSION_TEXTS,
	       "the components end before the texts");

#define LOCK_ALIVE \
	{ \
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CT_SESSION_LOCK_ALIVE, .l_len = 1 \
	}

static char own_path[4096]; /* of this process's folder; "" while it has none */

bool ct_session_is_own(const char *run_directory, const char *name)
{
	size_t size = strlen(run_directory);

	return strncmp(own_path, run_directory, size) == 0 && own_path[size] == '/' && strcmp(own_path + size + 1, name) == 0;
}

/* ---- who we are ---- */

static void read_line(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;

	out[0] = '\0';
	if (fd < 0)
		return;
	if (ct_os_read_at(fd, out, size - 1, 0, &got) != CTRACE_OK)
		got = 0;
	out[got] = '\0';
	out[strcspn(out, "\n")] = '\0';
	ct_os_close(&fd);
}

/* The base name of the executable without its extension. */
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
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t got = 0;

	if (fd < 0 || ct_os_read_at(fd, out, size - 1, 0, &got) != CTRACE_OK)
		got = 0;
	ct_os_close(&fd);
	while (got > 0 && out[got - 1] == '\0')
		got--;
	for (size_t i = 0; i < got; i++)
		if (out[i] == '\0' || out[i] == '\n')
			out[i] = ' ';
	out[got] = '\0';
	if (got == 0)
		(void)snprintf(out, size, "%s", program_invocation_name);
}

/* The next number of the run directory: 1 to FFFF, then 1 again. */
static uint32_t next_asid(int run_fd)
{
	uint32_t last = 0;
	size_t got;
	int fd;

	if (run_fd < 0 || ct_os_open_file(run_fd, "asid", O_RDWR | O_CREAT, &fd) != CTRACE_OK)
		return 1;
	(void)flock(fd, LOCK_EX);
	if (ct_os_read_at(fd, &last, sizeof last, 0, &got) != CTRACE_OK || got != sizeof last)
		last = 0;
	last = last % 0xFFFF + 1;
	if (ct_os_write_at(fd, &last, sizeof last, 0) != CTRACE_OK)
		last = 1;
	ct_os_close(&fd);
	return last;
}

/* ---- descriptors: a daemon closes all there are, ours too, and may have files of its own at our numbers since ---- */

/* Opens it again when it was closed.  False when that does not lead to the same file. */
static bool open_again(int *fd, const struct ct_file_id *id, const char *folder, const char *name, int flags)
{
	char path[4200];

	if (ct_os_is_file(*fd, id))
		return true;
	(void)snprintf(path, sizeof path, "%s%s", folder, name);
	*fd = ct_os_above_standard(open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (*fd >= 0 && !ct_os_is_file(*fd, id))
		ct_os_close(fd);
	return *fd >= 0;
}

int ct_session_folder(struct ct_session *session)
{
	return open_again(&session->folder_fd, &session->folder_id, session->path, "", O_RDONLY | O_DIRECTORY) ? session->folder_fd
													       : -1;
}

/* With the lock that shows that we live. */
static bool reach_file(struct ct_session *session)
{
	struct flock lock = LOCK_ALIVE;
	bool had_it = ct_os_is_file(session->file_fd, &session->file_id);

	if (!open_again(&session->file_fd, &session->file_id, session->path, "/session", O_RDWR))
		return false;
	if (!had_it)
		(void)fcntl(session->file_fd, F_SETLK, &lock);
	return true;
}

/* ---- growing ---- */

static enum ctrace_status allocate_to(struct ct_session *session, uint64_t start, uint64_t *allocated, uint64_t needed)
{
	uint64_t target = CT_ALIGN_UP(needed, GROWTH);

	if (needed <= *allocated)
		return CTRACE_OK;
	if (session->file_id.inode != 0) {
		enum ctrace_status status;

		if (!reach_file(session))
			return CTRACE_OS_ERROR;
		status = ct_os_allocate(session->file_fd, start + *allocated, target - *allocated);

		if (status != CTRACE_OK)
			return status;
	}
	*allocated = target;
	return CTRACE_OK;
}

enum ctrace_status ct_session_add_component(struct ct_session *session, uint32_t index)
{
	enum ctrace_status status;

	if (index >= CT_COMPONENT_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = allocate_to(session, CT_SESSION_COMPONENTS, &session->components_allocated,
			     ((uint64_t)index + 1) * sizeof(struct ct_component_entry));
	if (status != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (session->head->component_count <= index)
		__atomic_store_n(&session->head->component_count, index + 1, __ATOMIC_RELEASE);
	return CTRACE_OK;
}

enum ctrace_status ct_session_add_text(struct ct_session *session, const char *text, size_t size, ct_text *out_text)
{
	uint64_t at = session->head->texts_size;

	if (size > 0xFFFF || at + size >= CT_SESSION_SIZE - CT_SESSION_TEXTS)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (allocate_to(session, CT_SESSION_TEXTS, &session->texts_allocated, at + size + 1) != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy((char *)(uintptr_t)session->texts + at, text, size); /* fresh pages are zero: the text is terminated */
	__atomic_store_n(&session->head->texts_size, at + size + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&session->texts_capacity, at + size + 1, __ATOMIC_RELAXED); /* the drain reads older texts meanwhile */
	*out_text = at << 16 | size;
	return CTRACE_OK;
}

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

/* ---- making ---- */

static void set_base(struct ct_session *session, void *base)
{
	session->head = base;
	session->components = (struct ct_component_entry *)((char *)base + CT_SESSION_COMPONENTS);
	session->texts = (char *)base + CT_SESSION_TEXTS;
	session->is_mapped = true;
}

static enum ctrace_status map_private(void **out_base)
{
	void *base = mmap(NULL, CT_SESSION_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return CTRACE_NOT_ENOUGH_MEMORY;
	*out_base = base;
	return CTRACE_OK;
}

/* The session file in a new folder, mapped and locked.  The folder is renamed when it is complete, so nobody sees half of one. */
static enum ctrace_status make_file(struct ct_session *session, int folder_fd, void **out_base)
{
	struct flock lock = LOCK_ALIVE;
	enum ctrace_status status = ct_os_open_file(folder_fd, "session", O_RDWR | O_CREAT | O_EXCL, &session->file_fd);

	if (status != CTRACE_OK)
		return status;
	status = ct_os_truncate(session->file_fd, CT_SESSION_SIZE);
	if (status == CTRACE_OK)
		status = ct_os_allocate(session->file_fd, 0, CT_ALIGN_UP(sizeof(struct ct_session_head), (size_t)4096));
	if (status == CTRACE_OK && fcntl(session->file_fd, F_SETLK, &lock) != 0)
		status = CTRACE_OS_ERROR;
	if (status == CTRACE_OK)
		status = ct_os_map(session->file_fd, CT_SESSION_SIZE, true, out_base);
	if (status != CTRACE_OK)
		ct_os_close(&session->file_fd);
	session->file_id = ct_os_file_id(session->file_fd);
	return status;
}

static enum ctrace_status name_folder(struct ct_session *session, int run_fd, const char *run_directory, const char *temporary)
{
	for (unsigned n = 0; n < 100000; n++) {
		(void)snprintf(session->folder, sizeof session->folder, "%u.%u", (unsigned)getpid(), n);
		if (syscall(SYS_renameat2, run_fd, temporary, run_fd, session->folder, 1 /* RENAME_NOREPLACE */) == 0) {
			if (snprintf(session->path, sizeof session->path, "%s/%s", run_directory, session->folder) >=
			    (int)sizeof session->path)
				return CTRACE_OS_ERROR;
			return CTRACE_OK;
		}
		if (errno != EEXIST && errno != ENOTEMPTY)
			break;
	}
	return CTRACE_OS_ERROR;
}

static void fill_head(struct ct_session *session, uint32_t asid)
{
	struct ct_session_head *head = session->head;
	struct utsname system;
	char text[4096];

	head->version = CT_SESSION_VERSION;
	head->abi = CTRACE_ABI;
	head->pid = (uint32_t)getpid();
	head->uid = geteuid();
	head->asid = asid;
	head->start_ns = ct_clock_wall_ns();
	read_line("/proc/sys/kernel/random/boot_id", head->boot_id, sizeof head->boot_id);
	find_program(head->program, sizeof head->program);
	find_jobname(head->program, head->jobname);
	if (uname(&system) == 0) {
		(void)snprintf(head->host, sizeof head->host, "%s", system.nodename);
		(void)snprintf(head->system, sizeof head->system, "%.60s %.60s", system.sysname, system.release);
	}
	find_command_line(text, sizeof text);
	(void)!ct_session_add_text(session, text, strlen(text), &head->command_line);
	if (getcwd(text, sizeof text) != NULL)
		(void)!ct_session_add_text(session, text, strlen(text), &head->working_folder);
	if (ct_os_environment("MFTRACE_LOGS") != NULL) {
		(void)snprintf(text, sizeof text, "%s", ct_os_environment("MFTRACE_LOGS"));
		(void)!ct_session_add_text(session, text, strlen(text), &head->log_folder);
	}
	ct_sync_start(&head->sync);
	__atomic_store_n(&head->magic, CT_SESSION_MAGIC, __ATOMIC_RELEASE);
}

/* What a forked child starts with: its parent's components and texts, nothing of its parent's events.  The parent goes on meanwhile, so what
 * is copied goes by the copy of the head. */
static enum ctrace_status copy_parent(struct ct_session *session, const struct ct_session *parent)
{
	struct ct_session_head *head = session->head;

	memcpy(head, parent->head, sizeof *head);
	if (allocate_to(session, CT_SESSION_COMPONENTS, &session->components_allocated, parent->components_allocated) != CTRACE_OK ||
	    allocate_to(session, CT_SESSION_TEXTS, &session->texts_allocated, head->texts_size) != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(session->components, parent->components, parent->components_allocated);
	memcpy((char *)(uintptr_t)session->texts, parent->texts, head->texts_size);
	session->texts_capacity = head->texts_size;
	head->ring_count = head->flight_wanted = 0;
	head->control_refused = head->control_requests = 0;
	memset(head->lost, 0, sizeof head->lost);
	for (uint32_t i = 0; i < head->component_count; i++)
		session->components[i].delivered = session->components[i].bytes = 0;
	for (uint32_t i = 0; i < CT_WRITER_LIMIT; i++)
		head->writer[i].slots = 0;
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &head->dest[i];

		dest->sequence = dest->failures = 0;
		dest->failing = dest->active = 0;
		memset(dest->slot, 0, sizeof dest->slot);
	}
	return CTRACE_OK;
}

static enum ctrace_status fill(struct ct_session *session, const struct ct_session *parent, uint32_t asid)
{
	enum ctrace_status status = CTRACE_OK;

	if (parent != NULL)
		status = copy_parent(session, parent);
	else
		session->head->texts_size = 1; /* so that no text has the value 0 */
	if (status == CTRACE_OK)
		fill_head(session, asid);
	return status;
}

/* Makes the file, has it filled, and only then gives the folder its name. */
static enum ctrace_status make_folder(struct ct_session *session, const char *run_directory, const struct ct_session *parent)
{
	enum ctrace_status status = CTRACE_DENIED;
	char temporary[64];
	void *base = NULL;
	int run_fd = open(run_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	session->file_fd = -1;
	session->folder_fd = -1;
	if (run_fd < 0)
		return CTRACE_DENIED;
	(void)snprintf(temporary, sizeof temporary, ".new-%u-%llx", (unsigned)getpid(), (unsigned long long)ct_clock_mono_ns());
	if (mkdirat(run_fd, temporary, 0700) != 0)
		goto undo_run;
	(void)fchmodat(run_fd, temporary, 0700, 0);
	session->folder_fd = ct_os_above_standard(openat(run_fd, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (session->folder_fd < 0)
		goto undo_folder;
	session->folder_id = ct_os_file_id(session->folder_fd);
	status = make_file(session, session->folder_fd, &base);
	if (status != CTRACE_OK)
		goto undo_folder;
	set_base(session, base);
	status = fill(session, parent, next_asid(run_fd));
	if (status == CTRACE_OK)
		status = name_folder(session, run_fd, run_directory, temporary);
	if (status != CTRACE_OK)
		goto undo_map;
	ct_os_close(&run_fd);
	return CTRACE_OK;

undo_map:
	(void)munmap(base, CT_SESSION_SIZE);
	ct_os_close(&session->file_fd);
undo_folder:
	ct_os_close(&session->folder_fd);
	ct_folder_remove(run_directory, temporary);
undo_run:
	ct_os_close(&run_fd);
	return status;
}

static enum ctrace_status make_private(struct ct_session *session, const struct ct_session *parent)
{
	void *base;
	enum ctrace_status status = map_private(&base);

	memset(session, 0, sizeof *session);
	session->folder_fd = session->file_fd = -1;
	if (status != CTRACE_OK)
		return status;
	set_base(session, base);
	status = fill(session, parent, parent != NULL ? parent->head->asid : 1);
	if (status != CTRACE_OK)
		ct_session_close(session, false);
	return status;
}

static enum ctrace_status make(struct ct_session *session, const char *run_directory, const struct ct_session *parent)
{
	memset(session, 0, sizeof *session);
	session->folder_fd = session->file_fd = -1;
	if (run_directory != NULL && make_folder(session, run_directory, parent) == CTRACE_OK)
		return CTRACE_OK;
	return make_private(session, parent);
}

enum ctrace_status ct_session_create(struct ct_session *session, const char *run_directory)
{
	enum ctrace_status status = make(session, run_directory, NULL);

	/* A private one beside it, of a configuration that is only looked at, changes nothing. */
	if (status == CTRACE_OK && run_directory != NULL)
		memcpy(own_path, session->path, sizeof own_path);
	return status;
}

enum ctrace_status ct_session_fork(struct ct_session *session, const char *run_directory)
{
	struct ct_session made;
	enum ctrace_status status = make(&made, run_directory, session);
	void *base = made.head;

	if (status != CTRACE_OK)
		return status;
	/* Every gate keeps its address: tracers point there. */
	if (mremap(base, CT_SESSION_SIZE, CT_SESSION_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, session->head) == MAP_FAILED) {
		ct_session_close(&made, true);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	set_base(&made, session->head);
	/* The parent's descriptors; its lock is its own and stays. */
	ct_os_close_file(&session->file_fd, &session->file_id);
	ct_os_close_file(&session->folder_fd, &session->folder_id);
	*session = made;
	memcpy(own_path, session->path, sizeof own_path);
	return CTRACE_OK;
}

void ct_session_close(struct ct_session *session, bool remove_folder)
{
	char *name = strrchr(session->path, '/');

	if (remove_folder && name != NULL) {
		*name = '\0';
		ct_folder_remove(session->path, session->folder);
		*name = '/';
	}
	if (session->is_mapped) {
		if (session->head != NULL)
			(void)munmap(session->head, CT_SESSION_SIZE);
	} else {
		free(session->head);
		free(session->components);
		free((char *)(uintptr_t)session->texts);
	}
	if (strcmp(own_path, session->path) == 0)
		own_path[0] = '\0';
	ct_os_close_file(&session->file_fd, &session->file_id);
	ct_os_close_file(&session->folder_fd, &session->folder_id);
	memset(session, 0, sizeof *session);
	session->folder_fd = session->file_fd = -1;
}

/* ---- somebody else's ---- */

static enum ctrace_status read_exactly(int fd, void *data, size_t size, uint64_t offset)
{
	size_t got = 0;
	enum ctrace_status status = ct_os_read_at(fd, data, size, offset, &got);

	if (status != CTRACE_OK)
		return status;
	return got == size ? CTRACE_OK : CTRACE_DAMAGED;
}

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
	memset(session, 0, sizeof *session);
	session->folder_fd = session->file_fd = -1;
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

enum ctrace_status ct_session_load(struct ct_session *session, const char *run_directory, const char *name, bool want_lock)
{
	struct flock lock = LOCK_ALIVE;
	enum ctrace_status status = open_parts(session, run_directory, name, want_lock ? O_RDWR : O_RDONLY);

	if (status == CTRACE_OK && want_lock && fcntl(session->file_fd, F_SETLK, &lock) != 0)
		status = CTRACE_TIMED_OUT;
	if (status == CTRACE_OK)
		status = copy_parts(session);
	if (status != CTRACE_OK)
		ct_session_close(session, false);
	return status;
}

/* ---- external writers ---- */

static struct flock writer_lock(uint32_t number)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CT_SESSION_LOCK_WRITER + number, .l_len = 1 };
}

bool ct_session_writer_lives(struct ct_session *session, uint32_t number)
{
	struct flock lock = writer_lock(number);

	if (session->is_mapped && !reach_file(session))
		return false;
	return fcntl(session->file_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

enum ctrace_status ct_session_map(struct ct_session *session, int folder, uint32_t writer)
{
	struct flock lock = writer_lock(writer);
	enum ctrace_status status;
	struct stat info;
	void *base;

	memset(session, 0, sizeof *session);
	session->file_fd = -1;
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
	set_base(session, base);
	session->is_mapped = true;
	if (session->head->magic != CT_SESSION_MAGIC || session->head->version != CT_SESSION_VERSION) {
		status = session->head->magic == CT_SESSION_MAGIC ? CTRACE_UNSUPPORTED : CTRACE_DAMAGED;
		ct_session_close(session, false);
	}
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

struct ct_dest_slot *ct_dest_current(struct ct_dest *dest)
{
	return &dest->slot[__atomic_load_n(&dest->sequence, __ATOMIC_ACQUIRE) & 1];
}
