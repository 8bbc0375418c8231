/*
 * text_file.c - the file that TEXTFILE has open: locks, generations, and changes by other
 * processes.
 *
 * Called by emit_text.c on the thread that consumes.  A file is locked (flock) as long as it is
 * open, so that two processes with the same FILE never write over each other; with MULTIPROC it is
 * locked during a batch only.  An unlock by name would also drop the lock of the process that
 * forked this one, so locks of a whole file's life end by closing it.
 *
 * Whether the path still names the file is looked up by the path, and in a process that has left
 * its root directory or mount name space since by a descriptor of the directory: the path means
 * something else there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* ctrace_place.extra: generation : 31 | split : 1 | turns : 15 | file : 16 | header due : 1.
 * split: the batch under way began so many turns before this generation, at ctrace_place.offset
 * of that one; nothing in this one counts.  file: distinguishes it from others of its name. */
#define PLACE_HEADER_DUE (1ull << 63)
#define PLACE_SPLIT (1ull << 31)
#define PLACE_TURNS_SHIFT 32
#define PLACE_TURNS_MAX 0x7FFFu
#define PLACE_FILE_SHIFT 47
#define SCAN_SIZE 16384u
#define LINE_SCAN CT_LINE_MAX /* how far back the end of the last whole line is looked for */
#define LOCK_TRIES 500u
/* so that a stopped process holds us up for half a second at most */
#define LOCK_PAUSE_NS 1000000

void ct_text_file_init(struct ct_text_file *file)
{
	memset(file, 0, sizeof *file);
	file->fd = -1;
	file->parent_fd = -1;
	file->generation = 1;
}

void ct_text_file_close(struct ct_text_file *file)
{
	ct_os_close_file(&file->fd, &file->id);
	ct_os_close_file(&file->parent_fd, &file->parent_id);
}

void ct_text_file_drop_lost(struct ct_text_file *file)
{
	if (ct_os_identify(file->fd, &file->id) == CT_OS_OTHER)
		file->fd = -1;
	if (ct_os_identify(file->parent_fd, &file->parent_id) == CT_OS_OTHER)
		file->parent_fd = -1;
}

/* A program that closes every descriptor, as daemons do, may have opened something of its own at
 * our number since.  NOT_FOUND then; the file is not given up when its file system does not answer.
 */
static enum ctrace_status file_look(const struct ct_text_file *file, struct stat *out_info)
{
	if (file->fd < 0 || file->id.inode == 0)
		return CTRACE_NOT_FOUND;
	if (ct_os_stat(file->fd, out_info) != CTRACE_OK)
		return errno == EBADF ? CTRACE_NOT_FOUND : CTRACE_OS_ERROR;
	return out_info->st_ino == file->id.inode && out_info->st_dev == file->id.device
		       ? CTRACE_OK
		       : CTRACE_NOT_FOUND;
}

/* The thread may have another root directory or mount name space than it had. */
static bool is_same_world(const struct ct_text_file *file)
{
	struct ct_world world = ct_os_world();

	return ct_world_is_same(&world, &file->world);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Without a descriptor of the directory the file counts as never renamed. */
static void note_parent(struct ct_text_file *file, const char *path,
			const struct ct_text_file *before)
{
	char directory[CTRACE_EMITTER_PATH_SIZE];
	size_t size = (size_t)(base_name(path) - path);

	if (before != NULL) {
		file->parent_fd = ct_os_high(fcntl(before->parent_fd, F_DUPFD_CLOEXEC, 3));
		file->world = before->world;
	} else {
		memcpy(directory, path, size);
		directory[size > 1 ? size - 1 : size] = '\0';
		file->parent_fd = ct_os_high(
			open(size > 0 ? directory : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
		file->world = ct_os_world();
	}
	file->parent_id = ct_os_file_id(file->parent_fd);
}

static int open_flags(enum ct_text_sharing sharing)
{
	return O_RDWR | (sharing == CT_TEXT_SHARED ? O_APPEND : 0);
}

/* Returns TIMED_OUT when another process has it.  On a file system without locks every file is
 * free. */
static enum ctrace_status lock_for_life(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return CTRACE_OK;
	return CTRACE_TIMED_OUT;
}

/* A process that was killed within a line did not commit it: the half line is cut off.  Only in
 * a file that ctrace made: in any other the last line may lack its end for good. */
static enum ctrace_status cut_half_line(int fd, uint64_t *size)
{
	static const char mark[] = CT_TEXT_HEADER_MARK;
	char window[SCAN_SIZE];
	uint64_t at = *size;
	size_t got;

	if (ct_os_read_at(fd, window, sizeof mark - 1, 0, &got) != CTRACE_OK ||
	    memcmp(window, mark, got) != 0)
		return CTRACE_OK;
	while (at > 0 && *size - at < LINE_SCAN) {
		size_t part = at < sizeof window ? (size_t)at : sizeof window;
		const char *end;

		if (ct_os_read_at(fd, window, part, at - part, &got) != CTRACE_OK || got < part)
			return CTRACE_OK;
		end = memrchr(window, '\n', part);
		at = end != NULL ? at - part + (uint64_t)(end - window) + 1 : at - part;
		if (end == NULL && at > 0)
			continue;
		if (at == *size)
			return CTRACE_OK;
		*size = at;
		return ct_os_truncate(fd, at);
	}
	return CTRACE_OK;
}

static enum ctrace_status open_path(const char *path, int flags, enum ct_text_sharing sharing,
				    const struct ct_text_file *before, struct ct_text_file *file)
{
	bool is_elsewhere = before != NULL &&
			    ct_os_is_file(before->parent_fd, &before->parent_id) &&
			    !is_same_world(before);
	enum ctrace_status status;
	struct ct_file_id id;
	struct stat info;
	uint64_t size;
	int fd;

	status = ct_os_open_known(is_elsewhere ? before->parent_fd : AT_FDCWD,
				  is_elsewhere ? base_name(path) : path,
				  open_flags(sharing) | flags, &fd, &id);
	if (status != CTRACE_OK)
		return status;
	if (sharing != CT_TEXT_SHARED) {
		status = lock_for_life(fd);
		if (status != CTRACE_OK)
			goto undo_open;
	}
	/* A generation begins empty, but not when it is only opened again because its descriptor
	 * was closed behind our back. */
	if (sharing == CT_TEXT_GENERATION && (flags & O_CREAT) != 0 &&
	    (before == NULL || !ct_os_is_file(fd, &before->id))) {
		status = ct_os_truncate(fd, 0);
		if (status != CTRACE_OK)
			goto undo_open;
	}
	status = ct_os_stat(fd, &info);
	if (status != CTRACE_OK)
		goto undo_open;
	size = (uint64_t)info.st_size;
	if (sharing == CT_TEXT_OWN && (flags & O_CREAT) != 0) {
		status = cut_half_line(fd, &size);
		if (status != CTRACE_OK)
			goto undo_open;
	}
	if (!ct_os_is_file(fd, &id)) {
		/* closed behind our back: the size may be another file's */
		status = CTRACE_OS_ERROR;
		goto undo_open;
	}
	file->fd = fd;
	file->id = id;
	file->size = size;
	note_parent(file, path, is_elsewhere ? before : NULL);
	return CTRACE_OK;

undo_open:
	ct_os_close_file(&fd, &id);
	return status;
}

struct create {
	struct ct_text_file *file;
	const struct ct_text_file *before;
	enum ct_text_sharing sharing;
	uint32_t pid;
};

static enum ctrace_status create_beside(const char *path, const struct create *create)
{
	struct ct_text_file *file = create->file;
	enum ctrace_status status = CTRACE_TIMED_OUT;
	char beside[CTRACE_EMITTER_PATH_SIZE];

	for (unsigned i = 1; i <= CT_FILE_BESIDE_LIMIT && status == CTRACE_TIMED_OUT; i++) {
		if (!ct_file_name_beside(path, create->pid, i, beside))
			return CTRACE_OS_ERROR;
		status = open_path(beside, O_CREAT, create->sharing, create->before, file);
	}
	if (status == CTRACE_OK)
		memcpy(file->path, beside, strlen(beside) + 1);
	return status;
}

static enum ctrace_status create_at(const char *path, void *user)
{
	const struct create *create = user;
	struct ct_text_file *file = create->file;
	enum ctrace_status status = open_path(path, O_CREAT, create->sharing, create->before, file);

	if (status == CTRACE_TIMED_OUT)
		return create_beside(path, create);
	if (status == CTRACE_OK)
		memcpy(file->path, path, strlen(path) + 1);
	return status;
}

static bool print_name(struct ct_buf *out, const struct ctrace_emitter_context *context,
		       uint32_t generation, enum ct_text_sharing sharing)
{
	return ct_file_name_print(out, context, &ct_emit_textfile, generation,
				  sharing == CT_TEXT_GENERATION);
}

enum ctrace_status ct_text_file_create(struct ct_text_file *file,
				       const struct ctrace_emitter_context *context,
				       uint32_t generation, enum ct_text_sharing sharing,
				       const struct ct_text_file *before)
{
	struct create create = {
		.file = file, .before = before, .sharing = sharing, .pid = context->pid
	};
	char path[CTRACE_EMITTER_PATH_SIZE];
	struct ct_file_access access;
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
	access = ct_file_access_read(context);
	ct_file_access_give(file->fd, &access);
	return CTRACE_OK;
}

/* Is what begins at `from` a header of process pid, or the beginning of one whose writing was cut
 * short? */
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

		if (ct_os_read_at(fd, window, sizeof window, from, &got) != CTRACE_OK ||
		    got < mark_size)
			return true;
		if (memmem(window, got, mark, mark_size) != NULL)
			return true;
		from += got - mark_size + 1;
	}
	return false;
}

/* Did another process use the file since process pid stopped at `from`?  Then what is behind `from`
 * begins with a header of its own and must not be cut.  header_due: what pid itself wrote last
 * begins with one too. */
static bool is_used_by_others(int fd, uint64_t from, uint64_t size, bool header_due, uint32_t pid)
{
	if (!header_due)
		return has_header_between(fd, from - 1, size);
	return !is_header_of(fd, from, pid) || has_header_between(fd, from, size);
}

static uint64_t place_tag(const struct ct_file_id *id)
{
	return ((uint64_t)id->inode * 0x9E3779B97F4A7C15u >> 48) | 1;
}

/* Is it the file of the place?  Its device is not compared, because that number may change at a
 * reboot. */
static bool file_is_of_place(const struct ct_text_file *file, const struct ctrace_place *place)
{
	uint64_t tag = (place->extra & ~PLACE_HEADER_DUE) >> PLACE_FILE_SHIFT;

	return tag == 0 || tag == place_tag(&file->id);
}

/* A generation begins with a header: another process may have begun it anew since. */
static bool is_begun_by_others(int fd, uint64_t offset, enum ct_text_sharing sharing, uint32_t pid)
{
	static const char mark[] = CT_TEXT_HEADER_MARK;
	char text[sizeof mark - 1];
	size_t got;

	return sharing == CT_TEXT_GENERATION && offset > 0 &&
	       ct_os_read_at(fd, text, sizeof text, 0, &got) == CTRACE_OK && got == sizeof text &&
	       memcmp(text, mark, got) == 0 && !is_header_of(fd, 0, pid);
}

/* Is `path` what FILE makes of this generation, in whichever directory? */
static bool path_is_named(const char *path, const struct ctrace_emitter_context *context,
			  uint32_t generation, enum ct_text_sharing sharing)
{
	char end[CTRACE_EMITTER_PATH_SIZE] = "";
	size_t size = strlen(path);
	bool is_same = false;
	struct ct_buf name;

	ct_buf_init(&name);
	if (print_name(&name, context, generation, sharing))
		for (unsigned i = 1; i <= CT_FILE_BESIDE_LIMIT + 1 && !is_same; i++) {
			size_t rest = size - strlen(end);

			is_same = strlen(end) <= size && strcmp(path + rest, end) == 0 &&
				  ct_file_name_ends(path, rest, &name);
			if (!ct_file_name_beside("", context->pid, i, end))
				break;
		}
	ct_buf_fini(&name);
	return is_same;
}

enum ctrace_status ct_text_file_resume(struct ct_text_file *file,
				       const struct ctrace_emitter_context *context,
				       enum ct_text_sharing sharing)
{
	const struct ctrace_place *place = context->place;
	bool header_due = (place->extra & PLACE_HEADER_DUE) != 0 || place->offset == 0 ||
			  (place->extra & PLACE_SPLIT) != 0;
	bool is_split = (place->extra & PLACE_SPLIT) != 0;
	uint32_t generation = (uint32_t)(place->extra & (PLACE_SPLIT - 1));
	uint64_t offset = is_split ? 0 : place->offset, size;
	struct ct_text_file found;
	enum ctrace_status status;

	if (memchr(place->path, '\0', sizeof place->path) == NULL)
		return CTRACE_DAMAGED;
	generation += generation == 0;
	/* A live process reopens because a setting changed: when that was FILE, to another file. */
	if (!context->recovering && !path_is_named(place->path, context, generation, sharing))
		return CTRACE_NOT_FOUND;
	ct_text_file_init(&found);
	status = open_path(place->path, 0, sharing, NULL, &found);
	if (status != CTRACE_OK)
		return status;
	size = found.size;
	if (sharing == CT_TEXT_SHARED || size < offset) {
		offset = size;
	} else if (!file_is_of_place(&found, place) ||
		   is_begun_by_others(found.fd, offset, sharing, context->pid) ||
		   (size > offset &&
		    is_used_by_others(found.fd, offset, size, header_due, context->pid))) {
		status = sharing == CT_TEXT_OWN ? cut_half_line(found.fd, &size) : CTRACE_OK;
		if (status != CTRACE_OK) {
			ct_text_file_close(&found);
			return status;
		}
		offset = size;
		header_due = true;
	} else if (size > offset) {
		status = ct_os_truncate(found.fd, offset);
		if (status != CTRACE_OK) {
			ct_text_file_close(&found);
			return status;
		}
	}
	*file = found;
	file->size = offset;
	file->generation = generation;
	/* Or the header shows the settings that apply from here on. */
	file->header_due = sharing == CT_TEXT_SHARED
				   ? offset == 0
				   : header_due || offset == 0 || !context->recovering;
	file->cut_due = false;
	memcpy(file->path, place->path, strlen(place->path) + 1);
	return CTRACE_OK;
}

/* Whoever wrote last may have been killed within a line: ours begin on lines of their own. */
static enum ctrace_status file_end_line(struct ct_text_file *file)
{
	enum ctrace_status status;
	char last = '\n';
	size_t got;

	if (file->size == 0)
		return CTRACE_OK;
	status = ct_os_read_at(file->fd, &last, 1, file->size - 1, &got);
	return status == CTRACE_OK && last != '\n' ? ct_text_file_write(file, "\n", 1) : status;
}

/* Is it still the file that its path names?  True when the name cannot be looked up. */
static bool file_is_in_place(const struct ct_text_file *file, const struct stat *ours)
{
	struct stat there;
	int error = errno;
	int result;

	if (is_same_world(file))
		result = fstatat(AT_FDCWD, file->path, &there, AT_SYMLINK_NOFOLLOW);
	else if (ct_os_is_file(file->parent_fd, &file->parent_id))
		result = fstatat(file->parent_fd, base_name(file->path), &there,
				 AT_SYMLINK_NOFOLLOW);
	else
		return ours->st_nlink > 0;
	if (result != 0) {
		bool is_gone = errno == ENOENT || errno == ENOTDIR;

		errno = error;
		return !is_gone;
	}
	return ours->st_ino == there.st_ino && ours->st_dev == there.st_dev;
}

bool ct_text_file_is_in_place(const struct ct_text_file *file)
{
	struct stat info;

	return file_look(file, &info) == CTRACE_OK && file_is_in_place(file, &info);
}

enum ctrace_status ct_text_file_write(struct ct_text_file *file, const void *data, size_t size)
{
	enum ctrace_status status;

	if (!ct_os_is_file(file->fd, &file->id))
		return CTRACE_OS_ERROR;
	status = ct_os_write_at(file->fd, data, size, file->size);
	file->size += status == CTRACE_OK ? size : 0;
	return status;
}

enum ctrace_status ct_text_file_cut(struct ct_text_file *file)
{
	enum ctrace_status status = ct_os_is_file(file->fd, &file->id)
					    ? ct_os_truncate(file->fd, file->size)
					    : CTRACE_OS_ERROR;

	file->cut_due = status != CTRACE_OK;
	return status;
}

enum ctrace_status ct_text_file_check(struct ct_text_file *file, enum ct_text_sharing sharing)
{
	bool is_changed;
	struct stat info;
	enum ctrace_status status = file_look(file, &info);

	if (status == CTRACE_OK && !file_is_in_place(file, &info))
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_OK && file->cut_due) {
		status = ct_text_file_cut(file);
		info.st_size = (off_t)file->size;
	}
	if (status != CTRACE_OK)
		return status;
	/* Somebody emptied it, or added to it: go on from where it ends, neither over it nor behind
	 * a hole. */
	is_changed = file->size != (uint64_t)info.st_size;
	file->size = (uint64_t)info.st_size;
	if (sharing == CT_TEXT_SHARED)
		file->header_due = file->size == 0;
	else if (file->size == 0)
		file->header_due = true;
	return is_changed || file->header_due ? file_end_line(file) : CTRACE_OK;
}

enum ctrace_status ct_text_file_lock(struct ct_text_file *file)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	struct stat info;

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		enum ctrace_status status = file_look(file, &info);

		if (status != CTRACE_OK)
			return status;
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

	if (ct_os_is_file(file->fd, &file->id))
		(void)flock(file->fd, LOCK_UN);
	errno = kept;
}

void ct_text_file_get_place(const struct ct_text_file *file, struct ctrace_place *place)
{
	if (strcmp(place->path, file->path) != 0)
		memcpy(place->path, file->path, strlen(file->path) + 1);
	place->offset = file->size;
	place->extra = file->generation | place_tag(&file->id) << PLACE_FILE_SHIFT |
		       (file->header_due ? PLACE_HEADER_DUE : 0);
}

void ct_text_file_split_place(struct ctrace_place *place, uint64_t began_at, uint32_t turns)
{
	uint64_t count = turns < PLACE_TURNS_MAX ? turns : PLACE_TURNS_MAX;

	place->offset = began_at;
	place->extra |= PLACE_SPLIT | count << PLACE_TURNS_SHIFT;
}

uint32_t ct_text_file_turns(const struct ctrace_place *place, uint32_t *out_generation)
{
	*out_generation = (uint32_t)(place->extra & (PLACE_SPLIT - 1));
	return (place->extra & PLACE_SPLIT) != 0
		       ? (uint32_t)(place->extra >> PLACE_TURNS_SHIFT) & PLACE_TURNS_MAX
		       : 0;
}

/* The generations of a FILE differ in their last parts only. */
bool ct_text_file_other_generation(const struct ctrace_emitter_context *context,
				   uint32_t generation, uint32_t other,
				   char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	const char *path = context->place->path;
	struct ct_buf name, other_name;
	bool is_known;

	ct_buf_init(&name);
	ct_buf_init(&other_name);
	is_known = print_name(&name, context, generation, CT_TEXT_GENERATION) &&
		   print_name(&other_name, context, other, CT_TEXT_GENERATION) &&
		   ct_file_name_ends(path, strlen(path), &name) &&
		   strlen(path) - name.size + other_name.size < CTRACE_EMITTER_PATH_SIZE;
	if (is_known)
		(void)snprintf(out_path, CTRACE_EMITTER_PATH_SIZE, "%.*s%s",
			       (int)(strlen(path) - name.size), path, ct_buf_text(&other_name));
	ct_buf_fini(&name);
	ct_buf_fini(&other_name);
	return is_known;
}
