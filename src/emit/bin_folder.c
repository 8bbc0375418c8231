/*
 * bin_folder.c - the folder that BINFILE writes: whose it is, where it goes on, how it ends.
 *
 * Called by emit_bin.c on the thread that drains.  Nothing is removed or overwritten here but files with our names in a folder whose
 * metadata begin as ours do, and never those that another process has open (bin_lock.c).
 *
 * Metadata are begun under a temporary name and get their own name when they are whole, so a folder without metadata has never held an
 * event.  The temporary file is locked before it gets the name: the lock never ends between the old metadata and the new.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/binfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGNATURE "/* CTF 1.8 */" /* what metadata begin with */
#define CREATE_TRIES 5u
#define NS_A_SECOND 1000000000u

/* ------------------------------------------------------------------------------------------------------------
 * Files in it
 */

enum { FILE_STREAM = 1, FILE_PACKED = 2, FILE_UNFINISHED = 4 };

/* Which of these a name is: "stream.7.zst" is a compressed stream, ".stream.7.new" one that is not finished.  0: none. */
static unsigned file_kind(const char *name, uint32_t *out_id)
{
	static const char packed[] = ".zst", unfinished[] = ".new";
	size_t size = strlen(name), end = sizeof packed - 1;

	if (ct_bin_stream_name_parse(name, size, out_id))
		return FILE_STREAM;
	if (size > end && strcmp(name + size - end, packed) == 0 && ct_bin_stream_name_parse(name, size - end, out_id))
		return FILE_PACKED;
	if (size > end && name[0] == '.' && strcmp(name + size - end, unfinished) == 0 &&
	    ct_bin_stream_name_parse(name + 1, size - 1 - end, out_id))
		return FILE_UNFINISHED;
	return 0;
}

static bool each_file(struct ct_bin_folder *folder, unsigned kinds, ct_bin_each_stream *each, void *user)
{
	int fd = ct_os_high(openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	/* The number of a folder that was closed behind our back may be another folder's of ours. */
	DIR *stream = ct_os_is_file(fd, &folder->folder_id) ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	uint32_t id;

	if (stream == NULL) {
		ct_os_close(&fd);
		return false;
	}
	while ((entry = readdir(stream)) != NULL)
		if ((file_kind(entry->d_name, &id) & kinds) != 0)
			each(folder, entry->d_name, id, user);
	if (!ct_os_is_file(dirfd(stream), &folder->folder_id))
		return false; /* closed behind our back: the number is not ours to close */
	(void)closedir(stream);
	return true;
}

bool ct_bin_folder_each_stream(struct ct_bin_folder *folder, ct_bin_each_stream *each, void *user)
{
	return each_file(folder, FILE_STREAM, each, user);
}

static void count_bytes(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user)
{
	struct stat info;

	(void)id;
	(void)user;
	if (fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
		folder->size += (uint64_t)info.st_size;
}

static void note_stream(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user)
{
	bool *found = user;

	(void)folder;
	(void)name;
	(void)id;
	*found = true;
}

static void remove_stream(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user)
{
	(void)id;
	(void)user;
	if (ct_os_is_file(folder->fd, &folder->folder_id))
		(void)unlinkat(folder->fd, name, 0);
}

static bool remove_streams(struct ct_bin_folder *folder)
{
	return each_file(folder, FILE_STREAM | FILE_PACKED | FILE_UNFINISHED, remove_stream, NULL);
}

/* Nobody goes on in such a folder. */
static bool is_packed(struct ct_bin_folder *folder)
{
	bool found = false;

	return each_file(folder, FILE_PACKED, note_stream, &found) && found;
}

/* ------------------------------------------------------------------------------------------------------------
 * Opening
 */

static enum ctrace_status folder_new(const char *path, const struct ct_trace_info *info, struct ct_bin_folder **out_folder)
{
	struct ct_bin_folder *folder;

	if (strlen(path) >= CTRACE_EMITTER_PATH_SIZE) {
		errno = ENAMETOOLONG;
		return CTRACE_OS_ERROR;
	}
	folder = calloc(1, sizeof *folder);
	if (folder == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(folder->path, path, strlen(path) + 1);
	folder->fd = -1;
	folder->metadata_fd = -1;
	folder->owner_pid = (uint32_t)getpid();
	folder->info = *info;
	folder->printed = 1;
	ct_buf_init(&folder->text);
	ct_bin_clock_init(&folder->clock);
	*out_folder = folder;
	return CTRACE_OK;
}

void ct_bin_folder_rest(struct ct_bin_folder *folder)
{
	ct_bin_streams_free(folder);
	ct_schema_destroy(folder->schema);
	folder->schema = NULL;
	folder->texts = NULL;
	ct_bin_lock_close(&folder->metadata_fd, &folder->metadata_id);
	ct_os_close_file(&folder->fd, &folder->folder_id);
}

static void folder_free(struct ct_bin_folder *folder)
{
	ct_bin_folder_rest(folder);
	ct_schema_destroy(folder->source);
	free(folder->found);
	free(folder->heads);
	free(folder->pieces);
	free(folder->items);
	ct_buf_fini(&folder->scratch);
	ct_buf_fini(&folder->text);
	ct_bin_clock_fini(&folder->clock);
	free(folder);
}

static void folder_free_after(struct ct_bin_folder *folder)
{
	int error = errno;

	folder_free(folder);
	errno = error;
}

static enum ctrace_status open_directory(struct ct_bin_folder *folder)
{
	enum ctrace_status status = ct_os_open_folder(AT_FDCWD, folder->path, &folder->fd, &folder->folder_id);
	struct stat info;

	if (status != CTRACE_OK)
		return errno == ENOENT ? CTRACE_NOT_FOUND : status == CTRACE_NOT_FOUND ? CTRACE_DENIED : status;
	if (ct_os_stat(folder->fd, &info) != CTRACE_OK)
		return CTRACE_OS_ERROR;
	if (info.st_uid != geteuid()) {
		errno = EPERM;
		return CTRACE_DENIED;
	}
	return CTRACE_OK;
}

/* The metadata that are there, locked.  NOT_FOUND when there are none. */
static enum ctrace_status open_metadata(struct ct_bin_folder *folder)
{
	return ct_bin_lock_open(folder->fd, "metadata", 0, &folder->metadata_fd, &folder->metadata_id);
}

static enum ctrace_status open_files(struct ct_bin_folder *folder, uint64_t *out_size)
{
	enum ctrace_status status = open_metadata(folder);
	struct stat info;

	if (status == CTRACE_OK)
		status = ct_os_stat(folder->metadata_fd, &info);
	if (status == CTRACE_OK)
		*out_size = (uint64_t)info.st_size;
	return status;
}

static enum ctrace_status read_metadata(const struct ct_bin_folder *folder, uint64_t size, struct ct_buf *out)
{
	enum ctrace_status status;

	if (size > CT_METADATA_LIMIT)
		return CTRACE_DAMAGED;
	if (!ct_buf_reserve(out, size + 1))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_os_read_at(folder->metadata_fd, out->data, size, 0, &out->size);
	out->data[out->size] = '\0'; /* a number ends at or before it */
	if (status == CTRACE_OK && !ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
		status = CTRACE_OS_ERROR; /* closed behind our back: this may be of another file */
	if (status == CTRACE_OK && out->size < size)
		status = CTRACE_DAMAGED;
	return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Beginning
 */

static enum ctrace_status inherit_stream(struct ct_bin_folder *folder, const struct ct_bin_stream *from)
{
	uint64_t lost = from == NULL ? 0 : from->lost > from->lost_base ? from->lost : from->lost_base;
	struct ct_bin_stream *stream;
	enum ctrace_status status;

	if (from == NULL)
		return CTRACE_OK;
	status = ct_bin_stream_get(folder, from->id, &stream);
	if (status != CTRACE_OK)
		return status;
	stream->is_loaded = true;
	stream->lost = stream->lost_base = lost;
	stream->last_ns = from->last_ns;
	ct_bin_mark_add(&folder->text, from->id, &(struct ct_bin_mark){ .value = lost });
	return CTRACE_OK;
}

/* Notes what the streams of the former folder had lost.  Nobody writes to the former folder
 * again, so what does not count is cut off there. */
static enum ctrace_status inherit(struct ct_bin_folder *folder, struct ct_bin_folder *from)
{
	enum ct_bin_presence presence = ct_bin_folder_look(from);
	enum ctrace_status status = presence == CT_BIN_HERE   ? ct_bin_settle(from)
				    : presence == CT_BIN_GONE ? CTRACE_OK
							      : CTRACE_OS_ERROR;

	ct_buf_add_text(&folder->text, CT_BIN_MARK_LOST);
	if (status == CTRACE_OK)
		status = inherit_stream(folder, from->lost);
	for (uint32_t id = 0; id < from->stream_capacity && status == CTRACE_OK; id++)
		status = inherit_stream(folder, from->streams[id]);
	ct_buf_add_text(&folder->text, CT_BIN_MARK_END);
	folder->lost_told = from->lost_told;
	ct_bin_clock_inherit(&folder->clock, &from->clock, &folder->text);
	return status;
}

/* What holds nothing that counts goes, and its folder if nobody else has files in it; errno is kept. */
static void remove_files(struct ct_bin_folder *folder)
{
	int error = errno;

	if (remove_streams(folder))
		(void)unlinkat(folder->fd, "metadata", 0);
	(void)rmdir(folder->path);
	errno = error;
}

/* Is it the temporary file of a process that died before it had finished its metadata?  That may
 * be used again.  TIMED_OUT for another file. */
static enum ctrace_status check_unfinished(int fd)
{
	char text[sizeof SIGNATURE - 1];
	size_t got;
	enum ctrace_status status = ct_os_read_at(fd, text, sizeof text, 0, &got);

	return status == CTRACE_OK && memcmp(text, SIGNATURE, got) != 0 ? CTRACE_TIMED_OUT : status;
}

static enum ctrace_status print_beginning(struct ct_bin_folder *folder, struct ct_bin_folder *from)
{
	enum ctrace_status status = CTRACE_OK;

	ct_trace_make_uuid(folder->info.uuid);
	ct_buf_clear(&folder->text);
	ct_schema_print_trace(&folder->text, &folder->info);
	if (from != NULL)
		status = inherit(folder, from);
	return status == CTRACE_OK && folder->text.failed ? CTRACE_NOT_ENOUGH_MEMORY : status;
}

static enum ctrace_status write_temporary(struct ct_bin_folder *folder, int fd, const struct ct_buf *text, bool is_anew)
{
	enum ctrace_status status = ct_os_truncate(fd, 0);

	if (status == CTRACE_OK)
		status = ct_os_write_at(fd, text->data, text->size, 0);
	/* Streams of what is replaced go first, so that new metadata never have old streams beside them. */
	if (status == CTRACE_OK && is_anew && folder->metadata_fd >= 0 && !remove_streams(folder))
		status = CTRACE_OS_ERROR;
	/* What a descriptor leads to that the program closed behind our back is not touched. */
	if (status == CTRACE_OK && !ct_os_is_file(folder->fd, &folder->folder_id))
		status = CTRACE_OS_ERROR;
	return status == CTRACE_OK ? ct_os_rename(folder->fd, CT_BIN_TEMPORARY, "metadata") : status;
}

/*
 * Puts metadata in the place of what is there, which metadata_fd is unless there are none: whole, or not at all.  Whoever makes
 * metadata has the temporary file locked, so two processes never begin one folder.
 */
static enum ctrace_status put_metadata(struct ct_bin_folder *folder, const struct ct_buf *text, bool is_anew)
{
	enum ctrace_status status;
	struct ct_file_id id;
	struct stat info;
	int fd;

	status = text->failed ? CTRACE_NOT_ENOUGH_MEMORY : ct_bin_lock_open(folder->fd, CT_BIN_TEMPORARY, O_CREAT, &fd, &id);
	if (status != CTRACE_OK)
		return status;
	status = check_unfinished(fd);
	if (status != CTRACE_OK) {
		ct_bin_lock_close(&fd, &id);
		return status;
	}
	ct_file_access_give(fd, &folder->access);
	if (folder->metadata_fd < 0 && fstatat(folder->fd, "metadata", &info, AT_SYMLINK_NOFOLLOW) == 0)
		status = CTRACE_TIMED_OUT; /* somebody was faster */
	else
		status = write_temporary(folder, fd, text, is_anew);
	if (status != CTRACE_OK) {
		int error = errno;

		(void)unlinkat(folder->fd, CT_BIN_TEMPORARY, 0);
		ct_bin_lock_close(&fd, &id);
		errno = error;
		return status;
	}
	ct_bin_lock_close(&folder->metadata_fd, &folder->metadata_id);
	folder->metadata_fd = fd;
	folder->metadata_id = id;
	folder->metadata_sync_due = true;
	return CTRACE_OK;
}

/* Gives the wall time by then. */
static uint64_t take_clock(struct ct_trace_info *info, const struct ctrace_emitter_context *context)
{
	struct ctrace_counter counter;

	context->counter(context, &counter);
	/* Not known yet: what is right at this moment, and is written anew soon. */
	ct_trace_clock_set(info, counter.frequency != 0 ? counter.frequency : NS_A_SECOND, counter.ticks, counter.wall_ns);
	return counter.wall_ns;
}

void ct_bin_info_clock(struct ct_trace_info *info, const struct ctrace_emitter_context *context)
{
	info->frequency = info->offset_s = info->offset = 0;
	if (context->counter != NULL)
		(void)take_clock(info, context);
}

/* Where the lines of the clock are in the text. */
static uint64_t find_clock(const struct ct_buf *text)
{
	static const char beginning[] = "\nclock {\n\tname = trace;\n";
	const char *found = memmem(text->data, text->size, beginning, sizeof beginning - 1);
	size_t at = found != NULL ? (size_t)(found - text->data) + sizeof beginning - 1 : 0;

	return found != NULL && text->size - at > CT_TRACE_CLOCK && text->data[at + CT_TRACE_CLOCK - 1] == '\n' ? at : 0;
}

void ct_bin_folder_set_clock(struct ct_bin_folder *folder, const struct ctrace_emitter_context *context, uint64_t now_ns)
{
	uint64_t since_ns = folder->info.start_ns;
	char lines[CT_TRACE_CLOCK + 1];
	int error = errno;

	/* Events that are written anew have ticks by what the clock was said to be. */
	if (folder->converts || folder->clock_at == 0 || folder->info.frequency == 0 || context->counter == NULL || now_ns < since_ns ||
	    now_ns - since_ns < 2 * folder->clock_span_ns)
		return;
	now_ns = take_clock(&folder->info, context);
	folder->clock_span_ns = now_ns > since_ns ? now_ns - since_ns : 0;
	ct_trace_clock_print(lines, &folder->info);
	if (ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
		(void)!ct_os_write_at(folder->metadata_fd, lines, CT_TRACE_CLOCK, folder->clock_at);
	errno = error;
}

/* Begins the trace anew.  metadata_fd, when it is open, is what is replaced. */
static enum ctrace_status begin(struct ct_bin_folder *folder, struct ct_bin_folder *from)
{
	enum ctrace_status status = ct_schema_create(&folder->schema);

	if (status == CTRACE_OK)
		status = print_beginning(folder, from);
	if (status == CTRACE_OK)
		status = put_metadata(folder, &folder->text, true);
	if (status != CTRACE_OK) {
		int error = errno;

		(void)rmdir(folder->path); /* if there is nothing in it */
		errno = error;
		return status;
	}
	folder->metadata_size = folder->size = folder->text.size;
	folder->clock_at = find_clock(&folder->text);
	return CTRACE_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * Going on
 */

/*
 * Notes the numbers of the classes that are in the metadata: those classes are not printed again.  As a rule the numbers are those of the
 * process's table, and which class has one never changes.  A folder with numbers of its own says so, and new ones come behind those.
 */
static void note_classes(struct ct_bin_folder *folder, const char *text, size_t size)
{
	static const char line[] = "\n\tid = "; /* no string holds a line end */
	const char *at = text;
	size_t end;

	folder->has_own_numbers = folder->converts = ct_bin_mark_find(text, size, CT_BIN_MARK_OWN_NUMBERS, &end) != NULL;
	while ((at = memmem(at, size - (size_t)(at - text), line, sizeof line - 1)) != NULL) {
		unsigned long number = strtoul(at + sizeof line - 1, NULL, 10);

		at += sizeof line - 1;
		if (number >= CT_CLASS_FIRST && number < CT_CLASS_NUMBERS) {
			folder->found[number / 8] |= (unsigned char)(1u << number % 8);
			ct_schema_skip(folder->schema, (uint32_t)number);
		}
	}
}

/* Goes on behind the metadata that count, the first `size` bytes; the marks are in all of the text.  found: what those metadata say. */
static enum ctrace_status restore(struct ct_bin_folder *folder, const struct ct_buf *text, size_t size,
				  const struct ct_trace_info *found)
{
	enum ctrace_status status = ct_schema_create(&folder->schema);

	if (status == CTRACE_OK && (folder->found = calloc(1, CT_CLASS_NUMBERS / 8)) == NULL)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = ct_bin_marks_take(folder, text->data, text->size);
	if (status == CTRACE_OK)
		status = ct_os_truncate(folder->metadata_fd, size);
	if (status != CTRACE_OK)
		return status;
	folder->info = *found;
	note_classes(folder, text->data, size);
	ct_bin_clock_take(&folder->clock, text->data, size);
	folder->clock_at = find_clock(text);
	folder->metadata_size = folder->size = size;
	folder->metadata_sync_due = true;
	return CTRACE_OK;
}

/* Without a place only what the mark lists counts: everything else was written by somebody who died before it was committed. */
static void cut_to_mark(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user)
{
	struct ct_bin_stream *stream = id == CT_BIN_LOST ? folder->lost : id < folder->stream_capacity ? folder->streams[id] : NULL;

	if (stream == NULL)
		remove_stream(folder, name, id, user);
	else
		(void)!ct_bin_stream_cut(folder, stream); /* otherwise before its next write */
}

static bool is_same_process(const struct ct_trace_info *a, const struct ct_trace_info *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns;
}

struct comparison {
	bool is_as_marked;
};

static void compare_with_mark(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user)
{
	struct comparison *comparison = user;
	struct ct_bin_stream *stream = id == CT_BIN_LOST ? folder->lost : id < folder->stream_capacity ? folder->streams[id] : NULL;
	struct stat info;

	if (fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || stream == NULL || (uint64_t)info.st_size != stream->offset)
		comparison->is_as_marked = false;
}

/* Did whoever wrote it close it in order?  Then the metadata end with the closing mark, and the streams are as long as that says. */
static bool is_closed(struct ct_bin_folder *folder, const struct ct_buf *text)
{
	struct comparison comparison = { .is_as_marked = true };
	size_t end;

	if (ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_CLOSED, &end) == NULL || end != text->size)
		return false;
	if (ct_bin_marks_take(folder, text->data, text->size) != CTRACE_OK ||
	    !ct_bin_folder_each_stream(folder, compare_with_mark, &comparison))
		comparison.is_as_marked = false;
	ct_bin_streams_free(folder);
	return comparison.is_as_marked;
}

bool ct_bin_name_beside(const char *path, uint32_t pid, unsigned number, char out[CTRACE_EMITTER_PATH_SIZE])
{
	int size = number <= 1 ? snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%s.%u", path, pid)
			       : snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%s.%u.%u", path, pid, number);

	if (size >= 0 && (size_t)size < CTRACE_EMITTER_PATH_SIZE)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/*
 * Renames the folder of a process that did not end in order to `<name>.<process>`.  The folder is locked, so nobody writes to it.
 * NOT_FOUND: it has been renamed, and its former name is free.
 */
static enum ctrace_status keep_beside(const struct ct_bin_folder *folder, uint32_t pid)
{
	char beside[CTRACE_EMITTER_PATH_SIZE];
	struct stat there;

	if (fstatat(AT_FDCWD, folder->path, &there, AT_SYMLINK_NOFOLLOW) != 0 || there.st_ino != folder->folder_id.inode ||
	    there.st_dev != folder->folder_id.device)
		return CTRACE_NOT_FOUND;
	for (unsigned i = 1; i <= CT_BIN_BESIDE_LIMIT; i++) {
		if (!ct_bin_name_beside(folder->path, pid, i, beside))
			break;
		if (ct_os_rename_aside(folder->path, beside) == CTRACE_OK)
			return CTRACE_NOT_FOUND;
		if (errno != EEXIST && errno != ENOTEMPTY)
			break;
	}
	return CTRACE_TIMED_OUT;
}

/* There are metadata already.  This process goes on with them, replaces them, renames their
 * folder (NOT_FOUND), or leaves them alone. */
static enum ctrace_status take_over(struct ct_bin_folder *folder, const struct ct_bin_claim *claim, const struct ct_buf *text)
{
	struct ct_trace_info info;
	enum ctrace_status status;
	size_t end = 0;

	if (ct_schema_parse_trace(text->data, text->size, &info, &end) != CTRACE_OK)
		return CTRACE_TIMED_OUT;
	if (!is_same_process(&info, claim->info)) {
		if (!claim->may_replace_others)
			return CTRACE_TIMED_OUT;
		if (!is_closed(folder, text))
			return keep_beside(folder, info.pid);
	} else if (claim->may_continue && is_packed(folder)) {
		return CTRACE_TIMED_OUT;
	} else if (claim->may_continue && ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_CLOSED, &end) != NULL) {
		status = restore(folder, text, end, &info);
		if (status == CTRACE_OK && !ct_bin_folder_each_stream(folder, cut_to_mark, NULL))
			status = CTRACE_OS_ERROR;
		return status == CTRACE_DAMAGED ? CTRACE_TIMED_OUT : status;
	} else if (!claim->may_continue && !claim->may_replace_own) {
		return CTRACE_TIMED_OUT;
	} else if (claim->is_beside && !is_closed(folder, text)) {
		return CTRACE_TIMED_OUT; /* it was put there because its name was wanted */
	}
	return begin(folder, claim->from);
}

static enum ctrace_status begin_in_empty(struct ct_bin_folder *folder, const struct ct_bin_claim *claim)
{
	bool has_streams = false;

	if (!ct_bin_folder_each_stream(folder, note_stream, &has_streams))
		return CTRACE_OS_ERROR;
	/* Without metadata they are somebody's files with names like ours. */
	return has_streams ? CTRACE_TIMED_OUT : begin(folder, claim->from);
}

/* NOT_FOUND: to be tried again; the folder that was at path has been renamed, or its descriptor was closed behind our back. */
static enum ctrace_status folder_create(const char *path, const struct ct_bin_claim *claim, struct ct_bin_folder **out_folder)
{
	struct ct_bin_folder *folder;
	enum ctrace_status status = folder_new(path, claim->info, &folder);
	struct ct_buf text;
	uint64_t size = 0;

	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	folder->access = claim->access;
	status = ct_os_make_folder(path);
	if (status == CTRACE_OK)
		status = open_directory(folder);
	if (status == CTRACE_OK) {
		ct_file_access_give(folder->fd, &folder->access);
		status = open_files(folder, &size);
		if (status == CTRACE_OK && size > 0)
			status = read_metadata(folder, size, &text);
		if (status == CTRACE_OK && size > 0)
			status = take_over(folder, claim, &text);
		else if (status == CTRACE_OK || status == CTRACE_NOT_FOUND)
			status = begin_in_empty(folder, claim);
	}
	ct_buf_fini(&text);
	if (status != CTRACE_OK) {
		/* The program closed our descriptors meanwhile: what was begun is gone on with. */
		if (folder->fd >= 0 && !ct_os_is_file(folder->fd, &folder->folder_id))
			status = CTRACE_NOT_FOUND;
		folder_free_after(folder);
		return status;
	}
	*out_folder = folder;
	return CTRACE_OK;
}

enum ctrace_status ct_bin_folder_create(const char *path, const struct ct_bin_claim *claim, struct ct_bin_folder **out_folder)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;

	for (unsigned i = 0; i < CREATE_TRIES && status == CTRACE_NOT_FOUND; i++)
		status = folder_create(path, claim, out_folder);
	return status;
}

static void add_size(struct ct_bin_folder *folder)
{
	for (uint32_t id = 0; id < folder->stream_capacity; id++)
		folder->size += folder->streams[id] != NULL ? folder->streams[id]->offset : 0;
	folder->size += folder->lost != NULL ? folder->lost->offset : 0;
}

/* What was written behind the place does not count, but for a closing mark: it says how long the streams were. */
static enum ctrace_status go_on(struct ct_bin_folder *folder, const struct ctrace_place *place, const struct ct_trace_info *info)
{
	struct ct_trace_info found;
	struct ct_buf text;
	uint64_t size;
	size_t at;
	enum ctrace_status status = open_directory(folder);

	if (status == CTRACE_OK)
		status = open_files(folder, &size);
	if (status != CTRACE_OK)
		return status;
	if (size < place->offset || is_packed(folder))
		return CTRACE_DAMAGED;
	ct_buf_init(&text);
	status = read_metadata(folder, size, &text);
	if (status == CTRACE_OK)
		status = ct_schema_parse_trace(text.data, text.size, &found, &at);
	if (status == CTRACE_OK && !is_same_process(&found, info))
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_OK) {
		const char *mark = ct_bin_mark_find(text.data, text.size, CT_BIN_MARK_CLOSED, &at);

		folder->was_closed = mark == text.data + place->offset && at == text.size;
		if (!folder->was_closed)
			text.size = place->offset;
		status = restore(folder, &text, place->offset, &found);
	}
	ct_buf_fini(&text);
	if (status == CTRACE_OK && folder->was_closed)
		add_size(folder);
	else if (status == CTRACE_OK && !ct_bin_folder_each_stream(folder, count_bytes, NULL))
		status = CTRACE_OS_ERROR;
	return status;
}

static enum ctrace_status resume_at(const char *path, const struct ctrace_place *place, const struct ct_trace_info *info,
				    struct ct_bin_folder **out_folder)
{
	struct ct_bin_folder *folder;
	enum ctrace_status status = folder_new(path, info, &folder);

	if (status != CTRACE_OK)
		return status;
	status = go_on(folder, place, info);
	if (status != CTRACE_OK) {
		folder_free_after(folder);
		return status;
	}
	folder->lost_told = place->lost;
	*out_folder = folder;
	return CTRACE_OK;
}

enum ctrace_status ct_bin_folder_resume(const struct ctrace_place *place, const struct ct_trace_info *info,
					struct ct_bin_folder **out_folder)
{
	enum ctrace_status status, found = CTRACE_NOT_FOUND;
	char beside[CTRACE_EMITTER_PATH_SIZE];

	if (memchr(place->path, '\0', sizeof place->path) == NULL)
		return CTRACE_DAMAGED;
	status = resume_at(place->path, place, info, out_folder);
	/* Another process may have put it out of its way. */
	for (unsigned i = 1; i <= CT_BIN_BESIDE_LIMIT && found == CTRACE_NOT_FOUND; i++) {
		if ((status != CTRACE_NOT_FOUND && status != CTRACE_TIMED_OUT) ||
		    !ct_bin_name_beside(place->path, info->pid, i, beside))
			break;
		found = resume_at(beside, place, info, out_folder);
	}
	return found == CTRACE_OK ? CTRACE_OK : status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Is it still there?
 */

/* Opens the folder again, which was closed behind our back. */
static enum ct_bin_presence reach_folder(struct ct_bin_folder *folder)
{
	struct ct_file_id id = folder->folder_id;
	enum ct_os_identity identity = ct_os_identify(folder->fd, &id);
	enum ctrace_status status;

	if (identity != CT_OS_OTHER)
		return identity == CT_OS_SAME ? CT_BIN_HERE : CT_BIN_UNCLEAR;
	folder->fd = -1;
	status = open_directory(folder);
	if (status != CTRACE_OK)
		ct_os_close_file(&folder->fd, &folder->folder_id);
	else if (!ct_os_is_file(folder->fd, &id))
		status = CTRACE_NOT_FOUND; /* another one has its name */
	if (status == CTRACE_NOT_FOUND)
		return CT_BIN_GONE;
	folder->folder_id = id;
	return status == CTRACE_OK ? CT_BIN_HERE : CT_BIN_UNCLEAR;
}

/* Opens the metadata again, and takes the lock, which went with the descriptor. */
static enum ct_bin_presence reach_metadata(struct ct_bin_folder *folder)
{
	struct ct_file_id id = folder->metadata_id;
	enum ct_os_identity identity = ct_os_identify(folder->metadata_fd, &id);
	enum ctrace_status status;

	if (identity != CT_OS_OTHER)
		return identity == CT_OS_SAME ? CT_BIN_HERE : CT_BIN_UNCLEAR;
	ct_bin_lock_close(&folder->metadata_fd, &id);
	status = open_metadata(folder);
	if (status == CTRACE_OK && (folder->metadata_id.inode != id.inode || folder->metadata_id.device != id.device)) {
		ct_bin_lock_close(&folder->metadata_fd, &folder->metadata_id);
		status = CTRACE_NOT_FOUND;
	}
	/* TIMED_OUT: somebody took the folder while it was not locked. */
	if (status == CTRACE_NOT_FOUND || status == CTRACE_TIMED_OUT)
		return CT_BIN_GONE;
	return status == CTRACE_OK ? CT_BIN_HERE : CT_BIN_UNCLEAR;
}

enum ct_bin_presence ct_bin_folder_look(struct ct_bin_folder *folder)
{
	enum ct_bin_presence presence = reach_folder(folder);
	struct stat info;

	ct_point("bin.reached");
	if (presence == CT_BIN_HERE)
		presence = reach_metadata(folder);
	if (presence == CT_BIN_HERE && ct_os_stat(folder->metadata_fd, &info) != CTRACE_OK)
		return CT_BIN_UNCLEAR;
	if (presence == CT_BIN_HERE && info.st_nlink == 0)
		presence = CT_BIN_GONE;
	/* Closed meanwhile, once more: this was another folder, or another file. */
	if (folder->fd >= 0 && (!ct_os_is_file(folder->fd, &folder->folder_id) ||
				(presence == CT_BIN_HERE && !ct_os_is_file(folder->metadata_fd, &folder->metadata_id))))
		return CT_BIN_UNCLEAR;
	return presence;
}

bool ct_bin_folder_is_in_place(struct ct_bin_folder *folder)
{
	struct stat there;

	return fstatat(AT_FDCWD, folder->path, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == folder->folder_id.device &&
	       there.st_ino == folder->folder_id.inode;
}

/* ------------------------------------------------------------------------------------------------------------
 * Ending
 */

static void mark_stream(struct ct_buf *out, const struct ct_bin_stream *stream)
{
	if (stream != NULL)
		ct_bin_mark_add(out, stream->id, &(struct ct_bin_mark){ stream->offset, stream->last_at });
}

void ct_bin_folder_end(struct ct_bin_folder *folder)
{
	enum ctrace_status status;
	struct ct_buf text;

	if (folder->is_ended || folder->metadata_cut_due || !ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
		return;
	ct_buf_init(&text);
	status = read_metadata(folder, folder->metadata_size, &text);
	ct_buf_add_text(&text, CT_BIN_MARK_CLOSED);
	for (uint32_t id = 0; id < folder->stream_capacity; id++)
		mark_stream(&text, folder->streams[id]);
	mark_stream(&text, folder->lost);
	ct_buf_add_text(&text, CT_BIN_MARK_END);
	if (status == CTRACE_OK)
		status = put_metadata(folder, &text, false);
	folder->is_ended = status == CTRACE_OK;
	ct_buf_fini(&text);
}

void ct_bin_folder_reopen(struct ct_bin_folder *folder)
{
	folder->metadata_cut_due |= folder->is_ended;
	folder->is_ended = false;
}

void ct_bin_folder_close(struct ct_bin_folder *folder)
{
	if (folder == NULL)
		return;
	if (folder->owner_pid == (uint32_t)getpid() && (!folder->is_recovered || folder->was_closed))
		ct_bin_folder_end(folder);
	folder_free(folder);
}

void ct_bin_folder_discard(struct ct_bin_folder *folder)
{
	remove_files(folder);
	folder_free_after(folder);
}
