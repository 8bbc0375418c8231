/*
 * text_file.c - the file that TEXTFILE has open: locks, generations, and what others may do to it meanwhile.
 *
 * Called by emit_text.c on the thread that drains.  A file is locked (flock) as long as it is open, so that two processes with the
 * same FILE never write over each other; with MULTIPROC it is locked during a batch only.  An unlock by name would also drop
 * the lock of the process that forked this one, so locks of a whole file's life end by closing it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define PLACE_HEADER_DUE (1ull << 63) /* in ctrace_place.extra, beside the generation */
#define SCAN_SIZE 16384u
#define LOCK_TRIES 500u
#define LOCK_PAUSE_NS 1000000 /* so that a stopped process holds us up for half a second at most */

void ct_text_file_init(struct ct_text_file *file)
{
	file->fd = -1;
	file->generation = 1;
	file->size = 0;
	file->header_due = false;
	file->cut_due = false;
	file->path[0] = '\0';
}

/* A program that closes every descriptor, as daemons do, may have opened something of its own at our number since. */
static bool is_ours(const struct ct_text_file *file, struct stat *out_info)
{
	return ct_os_is_file(file->fd, &file->id) && fstat(file->fd, out_info) == 0;
}

void ct_text_file_close(struct ct_text_file *file)
{
	ct_os_close_file(&file->fd, &file->id);
}

static int open_flags(enum ct_text_sharing sharing)
{
	return O_RDWR | (sharing == CT_TEXT_SHARED ? O_APPEND : 0);
}

/* TIMED_OUT: another process has it.  A file system without locks is as good as a free file. */
static enum ctrace_status lock_for_life(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return CTRACE_OK;
	return CTRACE_TIMED_OUT;
}

static enum ctrace_status open_path(const char *path, int flags, enum ct_text_sharing sharing, struct ct_text_file *file)
{
	enum ctrace_status status;
	struct stat info;
	int fd;

	status = ct_os_open_file(AT_FDCWD, path, open_flags(sharing) | flags, &fd);
	if (status != CTRACE_OK)
		return status;
	if (sharing != CT_TEXT_SHARED) {
		status = lock_for_life(fd);
		if (status != CTRACE_OK)
			goto undo_open;
	}
	if (sharing == CT_TEXT_GENERATION && (flags & O_CREAT) != 0) {
		status = ct_os_truncate(fd, 0);
		if (status != CTRACE_OK)
			goto undo_open;
	}
	if (fstat(fd, &info) != 0) {
		status = CTRACE_OS_ERROR;
		goto undo_open;
	}
	file->fd = fd;
	file->id = ct_os_file_id(fd);
	file->size = (uint64_t)info.st_size;
	return CTRACE_OK;

undo_open:
	ct_os_close(&fd);
	return status;
}

struct create {
	struct ct_text_file *file;
	enum ct_text_sharing sharing;
	uint32_t pid;
};

static enum ctrace_status create_beside(const char *path, const struct create *create)
{
	struct ct_text_file *file = create->file;
	char beside[CTRACE_EMITTER_PATH_SIZE];
	int size = snprintf(beside, sizeof beside, "%s.%u", path, create->pid);
	enum ctrace_status status;

	if (size < 0 || (size_t)size >= sizeof beside) {
		errno = ENAMETOOLONG;
		return CTRACE_OS_ERROR;
	}
	status = open_path(beside, O_CREAT, create->sharing, file);
	if (status == CTRACE_OK)
		memcpy(file->path, beside, (size_t)size + 1);
	return status;
}

static enum ctrace_status create_at(const char *path, void *user)
{
	const struct create *create = user;
	struct ct_text_file *file = create->file;
	enum ctrace_status status = open_path(path, O_CREAT, create->sharing, file);

	if (status == CTRACE_TIMED_OUT)
		return create_beside(path, create);
	if (status == CTRACE_OK)
		memcpy(file->path, path, strlen(path) + 1);
	return status;
}

/* FILE, told apart by generation when there are several and it does not do so itself. */
static bool print_name(struct ct_buf *out, const struct ctrace_emitter_context *context, uint32_t generation,
		       enum ct_text_sharing sharing)
{
	const char *pattern = context->property(context, "FILE");

	if (pattern == NULL)
		return false;
	ct_file_name_expand(out, pattern, context, "TEXTFILE", generation);
	if (sharing == CT_TEXT_GENERATION && strcasestr(pattern, "$(GEN)") == NULL) {
		ct_buf_add_char(out, '_');
		ct_buf_add_u64(out, generation);
	}
	return !out->failed;
}

enum ctrace_status ct_text_file_create(struct ct_text_file *file, const struct ctrace_emitter_context *context, uint32_t generation,
				       enum ct_text_sharing sharing)
{
	struct create create = { .file = file, .sharing = sharing, .pid = context->pid };
	char path[CTRACE_EMITTER_PATH_SIZE];
	struct ct_buf name;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	ct_buf_init(&name);
	if (print_name(&name, context, generation, sharing))
		status = ct_file_place(context, ct_buf_text(&name), create_at, &create, path);
	ct_buf_fini(&name);
	if (status != CTRACE_OK)
		return status;
	file->generation = generation;
	file->header_due = sharing != CT_TEXT_SHARED || file->size == 0;
	file->cut_due = false;
	return CTRACE_OK;
}

/* Is what begins at `from` a header of process pid, or the beginning of one whose writing was cut short? */
static bool is_header_of(int fd, uint64_t from, uint32_t pid)
{
	static const char mark[] = CT_TEXT_HEADER_MARK, label[] = "\n# ProcessId        = ";
	char window[SCAN_SIZE + 1];
	const char *found;
	size_t got = 0;

	if (ct_os_read_at(fd, window, SCAN_SIZE, from, &got) != CTRACE_OK)
		return false;
	window[got] = '\0';
	if (memcmp(window, mark, got < sizeof mark - 1 ? got : sizeof mark - 1) != 0)
		return false;
	found = strstr(window, label);
	return found != NULL ? strtoul(found + strlen(label), NULL, 10) == pid : got < SCAN_SIZE;
}

static bool has_header_between(int fd, uint64_t from, uint64_t size)
{
	static const char mark[] = "\n" CT_TEXT_HEADER_MARK;
	const size_t mark_size = sizeof mark - 1;
	char window[SCAN_SIZE];

	while (from + mark_size <= size) {
		size_t got = 0;

		if (ct_os_read_at(fd, window, sizeof window, from, &got) != CTRACE_OK || got < mark_size)
			return true;
		if (memmem(window, got, mark, mark_size) != NULL)
			return true;
		from += got - mark_size + 1;
	}
	return false;
}

/* Did another process use the file since process pid stopped at `from`?  Then what is behind `from` begins with a header of its own
 * and must not be cut.  header_due: what pid itself wrote last begins with one too. */
static bool is_used_by_others(int fd, uint64_t from, uint64_t size, bool header_due, uint32_t pid)
{
	if (!header_due)
		return has_header_between(fd, from - 1, size);
	return !is_header_of(fd, from, pid) || has_header_between(fd, from, size);
}

/* Is the last part of a path this name, or all of it when the name is absolute? */
static bool ends_with(const char *path, size_t size, const struct ct_buf *name)
{
	if (name->size == 0 || name->size > size || memcmp(path + size - name->size, name->data, name->size) != 0)
		return false;
	return name->data[0] == '/' ? name->size == size : name->size < size && path[size - name->size - 1] == '/';
}

/* Is `path` what FILE makes of this generation, in whichever folder? */
static bool is_named(const char *path, const struct ctrace_emitter_context *context, uint32_t generation, enum ct_text_sharing sharing)
{
	size_t size = strlen(path);
	char suffix[16];
	struct ct_buf name;
	bool is_same;

	ct_buf_init(&name);
	if (!print_name(&name, context, generation, sharing)) {
		ct_buf_fini(&name);
		return false;
	}
	(void)snprintf(suffix, sizeof suffix, ".%u", context->pid);
	is_same = ends_with(path, size, &name);
	if (!is_same && size > strlen(suffix) && strcmp(path + size - strlen(suffix), suffix) == 0)
		is_same = ends_with(path, size - strlen(suffix), &name);
	ct_buf_fini(&name);
	return is_same;
}

enum ctrace_status ct_text_file_resume(struct ct_text_file *file, const struct ctrace_emitter_context *context,
				       enum ct_text_sharing sharing)
{
	const struct ctrace_place *place = context->place;
	bool header_due = (place->extra & PLACE_HEADER_DUE) != 0 || place->offset == 0;
	uint32_t generation = (uint32_t)place->extra != 0 ? (uint32_t)place->extra : 1;
	uint64_t offset = place->offset, size;
	struct ct_text_file found;
	enum ctrace_status status;

	if (memchr(place->path, '\0', sizeof place->path) == NULL)
		return CTRACE_DAMAGED;
	/* A live process reopens because a setting changed: when that was FILE, to another file. */
	if (!context->recovering && !is_named(place->path, context, generation, sharing))
		return CTRACE_NOT_FOUND;
	status = open_path(place->path, 0, sharing, &found);
	if (status != CTRACE_OK)
		return status;
	size = found.size;
	if (sharing == CT_TEXT_SHARED || size < offset) {
		offset = size;
	} else if (size > offset && is_used_by_others(found.fd, offset, size, header_due, context->pid)) {
		offset = size;
		header_due = true;
	} else if (size > offset) {
		status = ct_os_truncate(found.fd, offset);
		if (status != CTRACE_OK) {
			ct_text_file_close(&found);
			return status;
		}
	}
	file->fd = found.fd;
	file->id = found.id;
	file->size = offset;
	file->generation = generation;
	/* Or the header says which settings hold from here on. */
	file->header_due = sharing == CT_TEXT_SHARED ? offset == 0 : header_due || offset == 0 || !context->recovering;
	file->cut_due = false;
	memcpy(file->path, place->path, strlen(place->path) + 1);
	return CTRACE_OK;
}

/* Whoever wrote last may have been killed within a line: ours begin on lines of their own. */
static enum ctrace_status end_line(struct ct_text_file *file)
{
	enum ctrace_status status;
	char last = '\n';
	size_t got;

	if (file->size == 0)
		return CTRACE_OK;
	status = ct_os_read_at(file->fd, &last, 1, file->size - 1, &got);
	if (status == CTRACE_OK && last != '\n') {
		status = ct_os_write_at(file->fd, "\n", 1, file->size);
		file->size += status == CTRACE_OK;
	}
	return status;
}

/* Is it still the file that its path names? */
static bool is_in_place(const struct ct_text_file *file, const struct stat *ours)
{
	struct stat there;

	return fstatat(AT_FDCWD, file->path, &there, AT_SYMLINK_NOFOLLOW) == 0 && ours->st_ino == there.st_ino &&
	       ours->st_dev == there.st_dev;
}

bool ct_text_file_is_in_place(const struct ct_text_file *file)
{
	struct stat info;

	return file->fd >= 0 && is_ours(file, &info) && is_in_place(file, &info);
}

enum ctrace_status ct_text_file_check(struct ct_text_file *file, enum ct_text_sharing sharing)
{
	bool is_changed;
	struct stat info;

	if (!is_ours(file, &info) || !is_in_place(file, &info))
		return CTRACE_NOT_FOUND;
	if (file->cut_due) {
		enum ctrace_status status = ct_os_truncate(file->fd, file->size);

		if (status != CTRACE_OK)
			return status;
		file->cut_due = false;
		info.st_size = (off_t)file->size;
	}
	/* Somebody emptied it, or added to it: go on from where it ends, neither over it nor behind a hole. */
	is_changed = file->size != (uint64_t)info.st_size;
	file->size = (uint64_t)info.st_size;
	if (sharing == CT_TEXT_SHARED)
		file->header_due = file->size == 0;
	else if (file->size == 0)
		file->header_due = true;
	return is_changed || file->header_due ? end_line(file) : CTRACE_OK;
}

enum ctrace_status ct_text_file_lock(struct ct_text_file *file)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	struct stat info;

	if (!is_ours(file, &info))
		return CTRACE_NOT_FOUND;
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (flock(file->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return CTRACE_OK;
		(void)nanosleep(&pause, NULL);
	}
	errno = EWOULDBLOCK;
	return CTRACE_TIMED_OUT;
}

void ct_text_file_unlock(struct ct_text_file *file)
{
	int kept = errno;

	(void)flock(file->fd, LOCK_UN);
	errno = kept;
}

void ct_text_file_get_place(const struct ct_text_file *file, struct ctrace_place *place)
{
	if (strcmp(place->path, file->path) != 0)
		memcpy(place->path, file->path, strlen(file->path) + 1);
	place->offset = file->size;
	place->extra = file->generation | (file->header_due ? PLACE_HEADER_DUE : 0);
}
