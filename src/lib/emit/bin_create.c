/*
 * bin_create.c - whether a BINFILE directory is begun, continued, replaced, renamed or left alone.
 *
 * Called by emit_bin.c on the thread that consumes.  Directories that another process has open are
 * never touched (bin_lock.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREATE_TRIES 5u
#define KEPT_LIMIT (1u << 20) /* directories of processes of one number */

static enum ctrace_status inherit_stream(struct ct_bin_directory *directory,
					 const struct ct_bin_stream *from)
{
	uint64_t lost = from == NULL                   ? 0
			: from->lost > from->lost_base ? from->lost
						       : from->lost_base;
	struct ct_bin_stream *stream;
	enum ctrace_status status;

	if (from == NULL)
		return CTRACE_OK;
	status = ct_bin_stream_get(directory, from->id, &stream);
	if (status != CTRACE_OK)
		return status;
	stream->is_loaded = true;
	stream->lost = stream->lost_base = lost;
	stream->last_ns = from->last_ns;
	ct_bin_mark_add(&directory->text, from->id, &(struct ct_bin_mark){ .value = lost });
	return CTRACE_OK;
}

/* Notes what the streams of the former directory had lost.  Nobody writes to the former directory
 * again, so what does not count is cut off there. */
static enum ctrace_status directory_inherit(struct ct_bin_directory *directory,
					    struct ct_bin_directory *from)
{
	enum ct_bin_presence presence = ct_bin_directory_look(from);
	enum ctrace_status status = presence == CT_BIN_HERE   ? ct_bin_settle(from, true)
				    : presence == CT_BIN_GONE ? CTRACE_OK
							      : CTRACE_OS_ERROR;

	ct_buf_add_text(&directory->text, CT_BIN_MARK_LOST);
	if (status == CTRACE_OK)
		status = inherit_stream(directory, from->lost);
	for (uint32_t id = 0; id < from->stream_capacity && status == CTRACE_OK; id++)
		status = inherit_stream(directory, from->streams[id]);
	ct_buf_add_text(&directory->text, CT_BIN_MARK_END);
	directory->lost_reported = from->lost_reported;
	directory->left_out_before = from->left_out_before + from->left_out;
	ct_bin_clock_inherit(&directory->clock, &from->clock, &directory->text);
	return status;
}

static enum ctrace_status print_beginning(struct ct_bin_directory *directory,
					  const struct ct_bin_open_mode *mode)
{
	enum ctrace_status status = CTRACE_OK;

	ct_bin_lock_note_session(mode->info);
	ct_trace_make_uuid(directory->info.uuid);
	ct_buf_clear(&directory->text);
	ct_schema_print_trace(&directory->text, &directory->info);
	ct_bin_left_out_print(&directory->text, mode->left_out);
	if (mode->from != NULL)
		status = directory_inherit(directory, mode->from);
	return status == CTRACE_OK && directory->text.failed ? CTRACE_NOT_ENOUGH_MEMORY : status;
}

/* Begins a new trace.  metadata_fd, if open, is the old metadata. */
static enum ctrace_status directory_begin(struct ct_bin_directory *directory,
					  const struct ct_bin_open_mode *mode)
{
	enum ctrace_status status = ct_schema_create(&directory->schema);

	if (status == CTRACE_OK)
		status = print_beginning(directory, mode);
	if (status == CTRACE_OK)
		status = ct_bin_metadata_put(directory, &directory->text, true);
	if (status != CTRACE_OK) {
		int error = errno;

		(void)rmdir(directory->path); /* if there is nothing in it */
		errno = error;
		return status;
	}
	directory->metadata_size = directory->size = directory->text.size;
	ct_bin_directory_find_clock(directory, &directory->text);
	return mode->left_out != NULL ? ct_bin_write_left_out(directory, mode->left_out->events)
				      : CTRACE_OK;
}

/*
 * Notes the numbers of the classes that are in the metadata: those classes are not printed again.
 * As a rule the numbers are those of the process's table, and which class has one never changes.  A
 * directory with numbers of its own records that, and new ones come behind those.
 */
static void note_classes(struct ct_bin_directory *directory, const char *text, size_t size)
{
	static const char line[] = "\n\tid = "; /* no string holds a line end */
	const char *at = text;
	size_t end;

	directory->has_own_numbers = directory->converts =
		ct_bin_mark_find(text, size, CT_BIN_MARK_OWN_NUMBERS, &end) != NULL;
	while ((at = memmem(at, size - (size_t)(at - text), line, sizeof line - 1)) != NULL) {
		unsigned long number = strtoul(at + sizeof line - 1, NULL, 10);

		at += sizeof line - 1;
		if (number >= CT_CLASS_FIRST && number < CT_CLASS_NUMBERS) {
			directory->found[number / 8] |= (unsigned char)(1u << number % 8);
			ct_schema_skip(directory->schema, (uint32_t)number);
		}
	}
}

/* Continues behind the first `size` bytes of metadata, which count; marks may be anywhere in the
 * text.  found: the values of those metadata. */
static enum ctrace_status directory_restore(struct ct_bin_directory *directory,
					    const struct ct_buf *text, size_t size,
					    const struct ct_trace_info *found)
{
	enum ctrace_status status = ct_schema_create(&directory->schema);

	if (status == CTRACE_OK && (directory->found = calloc(1, CT_CLASS_NUMBERS / 8)) == NULL)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = ct_bin_marks_take(directory, text->data, text->size);
	if (status == CTRACE_OK)
		status = ct_os_truncate(directory->metadata_fd, size);
	if (status != CTRACE_OK)
		return status;
	directory->info = *found;
	note_classes(directory, text->data, size);
	ct_bin_clock_take(&directory->clock, text->data, size);
	ct_bin_directory_find_clock(directory, text);
	directory->metadata_size = directory->size = size;
	directory->metadata_sync_due = true;
	return CTRACE_OK;
}

/* Without a place only the bytes in the mark count.  A process that died wrote the rest without
 * committing it. */
static void cut_to_mark(struct ct_bin_directory *directory, const char *name, uint32_t id,
			void *user)
{
	struct ct_bin_stream *stream = ct_bin_stream_at(directory, id);

	if (stream == NULL)
		ct_bin_stream_remove(directory, name, id, user);
	else
		(void)!ct_bin_stream_cut(directory, stream); /* otherwise before its next write */
}

static bool is_same_process(const struct ct_trace_info *a, const struct ct_trace_info *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns;
}

static void compare_with_mark(struct ct_bin_directory *directory, const char *name, uint32_t id,
			      void *user)
{
	bool *is_as_marked = user;
	struct ct_bin_stream *stream = ct_bin_stream_at(directory, id);
	struct stat info;

	if (fstatat(directory->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || stream == NULL ||
	    (uint64_t)info.st_size != stream->offset)
		*is_as_marked = false;
}

/* Was it closed in order?  Then the metadata end with the closing mark, and the streams have the
 * lengths in the mark. */
static bool directory_is_closed(struct ct_bin_directory *directory, const struct ct_buf *text)
{
	bool is_as_marked = true;
	size_t end;

	if (ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_CLOSED, &end) == NULL ||
	    end != text->size)
		return false;
	if (ct_bin_marks_take(directory, text->data, text->size) != CTRACE_OK ||
	    !ct_bin_directory_each_stream(directory, compare_with_mark, &is_as_marked))
		is_as_marked = false;
	ct_bin_streams_free(directory);
	return is_as_marked;
}

static bool name_is_taken(const char *path, uint32_t pid, unsigned number)
{
	char beside[CTRACE_EMITTER_PATH_SIZE];

	return ct_file_name_beside(path, pid, number, beside) && access(beside, F_OK) == 0;
}

/* Returns a number that is free, in few looks: a program that crashes again and again as process 1
 * of a container leaves thousands. */
static unsigned find_free_number(const char *path, uint32_t pid)
{
	unsigned taken = 0, free_one = 1;

	while (free_one < KEPT_LIMIT && name_is_taken(path, pid, free_one)) {
		taken = free_one;
		free_one *= 2;
	}
	while (free_one - taken > 1) {
		unsigned middle = taken + (free_one - taken) / 2;

		if (name_is_taken(path, pid, middle))
			taken = middle;
		else
			free_one = middle;
	}
	return free_one;
}

/*
 * Renames the directory of a process that did not end in order to `<name>.<process>`.  The
 * directory is locked, so nobody writes to it. NOT_FOUND: it has been renamed, and its former name
 * is free.
 */
static enum ctrace_status directory_keep_beside(const struct ct_bin_directory *directory,
						uint32_t pid)
{
	char beside[CTRACE_EMITTER_PATH_SIZE];

	if (!ct_bin_directory_is_in_place(directory))
		return CTRACE_NOT_FOUND;
	for (unsigned tries = 0; tries < CREATE_TRIES; tries++) {
		if (!ct_file_name_beside(directory->path, pid,
					 find_free_number(directory->path, pid), beside))
			break;
		if (ct_os_rename_aside(directory->path, beside) == CTRACE_OK)
			return CTRACE_NOT_FOUND;
		if (errno != EEXIST && errno != ENOTEMPTY)
			break;
	}
	return CTRACE_TIMED_OUT;
}

/* ---- a directory that makes room for another one ---- */

#define HIDDEN_END ".new-"

/* "/var/log/.app.ctb_2.new-4711": readers skip the name.  Returns false when it is too long. */
static bool hidden_name(const char *path, uint32_t pid, char out[CTRACE_EMITTER_PATH_SIZE])
{
	const char *slash = strrchr(path, '/');
	size_t before = slash != NULL ? (size_t)(slash + 1 - path) : 0;
	int size = snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%.*s.%s" HIDDEN_END "%u", (int)before,
			    path, path + before, pid);

	return size >= 0 && (size_t)size < CTRACE_EMITTER_PATH_SIZE;
}

/* Is it in the directory of its run?  The latter may have been renamed since it was found, and
 * another one may have its name. */
static bool directory_is_of_run(const struct ct_bin_directory *directory, const char *run)
{
	return run == NULL || ct_file_run_is_at(directory->fd, "../" CT_FILE_RUN_MARK, run);
}

/* Opens the directory, made when it is missing, and locks its metadata if it has some. */
static enum ctrace_status directory_make(struct ct_bin_directory *directory,
					 const struct ct_bin_open_mode *mode, struct ct_buf *out)
{
	enum ctrace_status status = ct_os_make_directory(directory->path);

	directory->access = mode->access;
	if (status == CTRACE_OK)
		status = ct_bin_directory_open(directory);
	if (status != CTRACE_OK)
		return status;
	if (!directory_is_of_run(directory, mode->run)) {
		(void)rmdir(directory->path);
		errno = ENOENT;
		return CTRACE_OS_ERROR;
	}
	ct_file_access_give(directory->fd, &directory->access);
	status = ct_bin_metadata_open(directory, out);
	return status == CTRACE_NOT_FOUND ? CTRACE_OK : status;
}

/* Begins a trace under a hidden name.  What was there counts nowhere. */
static enum ctrace_status directory_begin_hidden(const char *path,
						 const struct ct_bin_open_mode *mode,
						 struct ct_bin_directory **out_directory)
{
	struct ct_bin_directory *directory;
	enum ctrace_status status = ct_bin_directory_new(path, mode->info, &directory);
	struct ct_buf text;

	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	status = directory_make(directory, mode, &text);
	ct_buf_fini(&text);
	if (status != CTRACE_OK) {
		ct_bin_directory_free(directory);
		return status;
	}
	status = directory_begin(directory, mode);
	if (status != CTRACE_OK)
		ct_bin_directory_discard(directory);
	else
		*out_directory = directory;
	return status;
}

/*
 * Replaces a directory of this process by one that counts the replaced events as left out.  The new
 * one is whole before the two exchange their names, so whenever the process is killed, the events
 * are there or are counted.  A file system that cannot exchange names leaves a moment without
 * either.
 */
static enum ctrace_status directory_replace(struct ct_bin_directory **directory,
					    const struct ct_bin_open_mode *mode)
{
	struct ct_bin_directory *before = *directory, *next;
	char hidden[CTRACE_EMITTER_PATH_SIZE];
	enum ctrace_status status;

	if (mode->left_out == NULL || mode->left_out->events == 0 ||
	    !hidden_name(before->path, mode->info->pid, hidden))
		return directory_begin(before, mode);
	status = directory_begin_hidden(hidden, mode, &next);
	if (status != CTRACE_OK)
		return status;
	status = ct_os_exchange(hidden, before->path);
	if (status != CTRACE_OK) {
		ct_bin_directory_discard(next);
		return status == CTRACE_UNSUPPORTED ? directory_begin(before, mode) : status;
	}
	memcpy(next->path, before->path, sizeof next->path);
	memcpy(before->path, hidden, strlen(hidden) + 1);
	ct_bin_directory_discard(before);
	*directory = next;
	return CTRACE_OK;
}

static bool name_is_hidden(const char *name, uint32_t pid)
{
	char end[sizeof HIDDEN_END + 10];
	size_t size = (size_t)snprintf(end, sizeof end, HIDDEN_END "%u", pid);

	return name[0] == '.' && strlen(name) > size &&
	       strcmp(name + strlen(name) - size, end) == 0;
}

/* One that another process of that number has open, or has made, is left alone. */
static void hidden_remove(const char *path, const struct ct_trace_info *info)
{
	struct ct_bin_directory *directory;
	struct ct_trace_info found;
	enum ctrace_status status;
	struct ct_buf text;
	size_t end;

	if (ct_bin_directory_new(path, info, &directory) != CTRACE_OK)
		return;
	ct_buf_init(&text);
	status = ct_bin_directory_open(directory);
	if (status == CTRACE_OK)
		status = ct_bin_metadata_open(directory, &text);
	if (status == CTRACE_NOT_FOUND && directory->fd >= 0) { /* killed before it had metadata */
		(void)unlinkat(directory->fd, CT_BIN_TEMPORARY, 0);
		(void)rmdir(path);
	}
	if (status == CTRACE_OK)
		status = ct_schema_parse_trace(text.data, text.size, &found, &end);
	if (status == CTRACE_OK && is_same_process(&found, info))
		ct_bin_directory_discard(directory);
	else
		ct_bin_directory_free(directory);
	ct_buf_fini(&text);
}

/* Calls each with the path and the name of what is in the directory of `path`. */
static void siblings_each(const char *path,
			  void (*each)(const char *path, const char *name, void *user), void *user)
{
	const char *slash = strrchr(path, '/');
	size_t before = slash != NULL ? (size_t)(slash + 1 - path) : 0;
	char one[CTRACE_EMITTER_PATH_SIZE];
	const struct dirent *entry;
	DIR *all;

	(void)snprintf(one, sizeof one, "%.*s", (int)before, path);
	all = opendir(before != 0 ? one : ".");
	while (all != NULL && (entry = readdir(all)) != NULL) {
		int size = snprintf(one, sizeof one, "%.*s%s", (int)before, path, entry->d_name);

		if (size >= 0 && (size_t)size < sizeof one)
			each(one, entry->d_name, user);
	}
	if (all != NULL)
		(void)closedir(all);
}

static void hidden_try(const char *path, const char *name, void *user)
{
	const struct ct_trace_info *info = user;

	if (name_is_hidden(name, info->pid))
		hidden_remove(path, info);
}

void ct_bin_hidden_remove(struct ct_bin_directory *directory)
{
	siblings_each(directory->path, hidden_try, &directory->info);
}

/* There are metadata already.  This process goes on with them, replaces them, renames their
 * directory (NOT_FOUND), or leaves them alone. */
static enum ctrace_status directory_take_over(struct ct_bin_directory **to_replace,
					      const struct ct_bin_open_mode *mode,
					      const struct ct_buf *text)
{
	struct ct_bin_directory *directory = *to_replace;
	struct ct_trace_info info;
	enum ctrace_status status;
	bool is_packed;
	size_t end = 0;

	if (ct_schema_parse_trace(text->data, text->size, &info, &end) != CTRACE_OK)
		return CTRACE_TIMED_OUT;
	if (!is_same_process(&info, mode->info)) {
		if (!mode->may_replace_others || ct_bin_lock_knows_session(&info))
			return CTRACE_TIMED_OUT;
		if (!directory_is_closed(directory, text))
			return directory_keep_beside(directory, info.pid);
		return directory_begin(directory, mode);
	}
	is_packed = mode->may_continue && ct_bin_directory_is_packed(directory);
	if (mode->may_continue && !is_packed &&
	    ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_CLOSED, &end) != NULL) {
		status = directory_restore(directory, text, end, &info);
		if (status == CTRACE_OK &&
		    !ct_bin_directory_each_stream(directory, cut_to_mark, NULL))
			status = CTRACE_OS_ERROR;
		return status == CTRACE_DAMAGED ? CTRACE_TIMED_OUT : status;
	}
	/* is_beside: the directory was renamed to this name because its own was wanted */
	if (is_packed || (!mode->may_continue && !mode->may_replace_own) ||
	    (mode->is_beside && !directory_is_closed(directory, text)))
		return CTRACE_TIMED_OUT;
	return directory_replace(to_replace, mode);
}

static enum ctrace_status directory_begin_in_empty(struct ct_bin_directory *directory,
						   const struct ct_bin_open_mode *mode)
{
	bool has_streams = false;

	if (!ct_bin_directory_each_stream(directory, ct_bin_stream_note, &has_streams))
		return CTRACE_OS_ERROR;
	/* Streams without metadata are unrelated files with names like ours. */
	return has_streams ? CTRACE_TIMED_OUT : directory_begin(directory, mode);
}

/* Returns NOT_FOUND when the caller should try again: the directory at path was renamed, or the
 * program closed its descriptor. */
static enum ctrace_status directory_create(const char *path, const struct ct_bin_open_mode *mode,
					   struct ct_bin_directory **out_directory)
{
	struct ct_bin_directory *directory;
	enum ctrace_status status = ct_bin_directory_new(path, mode->info, &directory);
	struct ct_buf text;

	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	status = directory_make(directory, mode, &text);
	if (status == CTRACE_OK)
		status = text.size > 0 ? directory_take_over(&directory, mode, &text)
				       : directory_begin_in_empty(directory, mode);
	ct_buf_fini(&text);
	if (status != CTRACE_OK) {
		/* The program closed our descriptors meanwhile; the next try continues the
		 * directory. */
		if (directory->fd >= 0 && !ct_os_is_file(directory->fd, &directory->directory_id))
			status = CTRACE_NOT_FOUND;
		ct_bin_directory_free(directory);
		return status;
	}
	*out_directory = directory;
	return CTRACE_OK;
}

enum ctrace_status ct_bin_directory_create(const char *path, const struct ct_bin_open_mode *mode,
					   struct ct_bin_directory **out_directory)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;

	for (unsigned i = 0; i < CREATE_TRIES && status == CTRACE_NOT_FOUND; i++)
		status = directory_create(path, mode, out_directory);
	return status;
}

static void add_size(struct ct_bin_directory *directory)
{
	for (uint32_t id = 0; id < directory->stream_capacity; id++)
		directory->size +=
			directory->streams[id] != NULL ? directory->streams[id]->offset : 0;
	directory->size += directory->lost != NULL ? directory->lost->offset : 0;
}

static void count_bytes(struct ct_bin_directory *directory, const char *name, uint32_t id,
			void *user)
{
	struct stat info;

	(void)id;
	(void)user;
	if (fstatat(directory->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
		directory->size += (uint64_t)info.st_size;
}

/* Bytes behind the place do not count, except a closing mark, which holds the lengths of the
 * streams. */
static enum ctrace_status directory_go_on(struct ct_bin_directory *directory,
					  const struct ctrace_place *place,
					  const struct ct_trace_info *info)
{
	struct ct_trace_info found;
	struct ct_buf text;
	size_t at;
	enum ctrace_status status = ct_bin_directory_open(directory);

	ct_buf_init(&text);
	if (status == CTRACE_OK)
		status = ct_bin_metadata_open(directory, &text);
	if (status == CTRACE_OK &&
	    (text.size < place->offset || ct_bin_directory_is_packed(directory)))
		status = CTRACE_DAMAGED;
	if (status == CTRACE_OK)
		status = ct_schema_parse_trace(text.data, text.size, &found, &at);
	if (status == CTRACE_OK && !is_same_process(&found, info))
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_OK) {
		const char *mark = ct_bin_mark_find(text.data, text.size, CT_BIN_MARK_CLOSED, &at);

		directory->was_closed = mark == text.data + place->offset && at == text.size;
		if (!directory->was_closed)
			text.size = place->offset;
		status = directory_restore(directory, &text, place->offset, &found);
	}
	ct_buf_fini(&text);
	if (status == CTRACE_OK && directory->was_closed)
		add_size(directory);
	else if (status == CTRACE_OK && !ct_bin_directory_each_stream(directory, count_bytes, NULL))
		status = CTRACE_OS_ERROR;
	return status;
}

static enum ctrace_status directory_resume_at(const char *path, const struct ctrace_place *place,
					      const struct ct_trace_info *info,
					      struct ct_bin_directory **out_directory)
{
	struct ct_bin_directory *directory;
	enum ctrace_status status = ct_bin_directory_new(path, info, &directory);

	if (status != CTRACE_OK)
		return status;
	status = directory_go_on(directory, place, info);
	if (status != CTRACE_OK) {
		ct_bin_directory_free(directory);
		return status;
	}
	directory->lost_reported = place->lost;
	*out_directory = directory;
	return CTRACE_OK;
}

/* The search for a directory that another process has renamed. */
struct renamed {
	const struct ctrace_place *place;
	const struct ct_trace_info *info;
	struct ct_bin_directory *directory;
	enum ctrace_status status;
};

static void renamed_try(const char *path, const char *name, void *user)
{
	struct renamed *renamed = user;
	const char *base = strrchr(renamed->place->path, '/');
	size_t size;
	char *end;

	base = base != NULL ? base + 1 : renamed->place->path;
	size = strlen(base);
	if (renamed->status == CTRACE_OK || strncmp(name, base, size) != 0 || name[size] != '.' ||
	    strtoul(name + size + 1, &end, 10) != renamed->info->pid ||
	    (*end != '\0' && *end != '.'))
		return;
	renamed->status =
		directory_resume_at(path, renamed->place, renamed->info, &renamed->directory);
}

enum ctrace_status ct_bin_directory_resume(const struct ctrace_place *place,
					   const struct ct_trace_info *info,
					   struct ct_bin_directory **out_directory)
{
	struct renamed renamed = { .place = place, .info = info, .status = CTRACE_NOT_FOUND };
	enum ctrace_status status;

	if (memchr(place->path, '\0', sizeof place->path) == NULL)
		return CTRACE_DAMAGED;
	status = directory_resume_at(place->path, place, info, out_directory);
	if (status != CTRACE_NOT_FOUND && status != CTRACE_TIMED_OUT)
		return status;
	siblings_each(place->path, renamed_try, &renamed);
	if (renamed.status != CTRACE_OK)
		return status;
	*out_directory = renamed.directory;
	return CTRACE_OK;
}
