/*
 * bin_folder.c - the folder that BINFILE writes: whose it is, where it goes on, how it ends.
 *
 * Called by emit_bin.c on the thread that drains.  Nothing is removed or overwritten here but files with our names in a folder whose
 * metadata begin as ours do, and never those that another process has open: a POSIX lock on the metadata says so as long
 * as that process lives, whatever its children inherited.
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
#include <sys/random.h>
#include <unistd.h>

#define METADATA_LIMIT ((size_t)64 << 20)

/* ------------------------------------------------------------------------------------------------------------
 * Files in it
 */

bool ct_bin_folder_each_stream(struct ct_bin_folder *folder, ct_bin_each_stream *each, void *user)
{
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	uint32_t id;

	if (stream == NULL) {
		ct_os_close(&fd);
		return false;
	}
	while ((entry = readdir(stream)) != NULL)
		if (ct_bin_stream_name_parse(entry->d_name, strlen(entry->d_name), &id))
			each(folder, entry->d_name, id, user);
	(void)closedir(stream);
	return true;
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
	(void)unlinkat(folder->fd, name, 0);
}

/* Streams go before the metadata do, so that metadata without ours at its beginning never has streams of ours beside it. */
static enum ctrace_status wipe(struct ct_bin_folder *folder)
{
	if (!ct_bin_folder_each_stream(folder, remove_stream, NULL))
		return CTRACE_OS_ERROR;
	return ct_os_truncate(folder->metadata_fd, 0);
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
	*out_folder = folder;
	return CTRACE_OK;
}

static void folder_free(struct ct_bin_folder *folder)
{
	ct_bin_streams_free(folder);
	ct_schema_destroy(folder->schema);
	ct_buf_fini(&folder->text);
	ct_os_close_file(&folder->metadata_fd, &folder->metadata_id);
	ct_os_close_file(&folder->fd, &folder->folder_id);
	free(folder);
}

static enum ctrace_status open_directory(struct ct_bin_folder *folder)
{
	struct stat info;

	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	if (fstat(folder->fd, &info) != 0)
		return CTRACE_OS_ERROR;
	folder->folder_id = ct_os_file_id(folder->fd);
	if (info.st_uid != geteuid()) {
		errno = EPERM;
		return CTRACE_DENIED;
	}
	return CTRACE_OK;
}

/* TIMED_OUT: another process has it.  A file system without locks is as good as a free file. */
static enum ctrace_status lock_metadata(const struct ct_bin_folder *folder)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(folder->metadata_fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES))
		return CTRACE_OK;
	return CTRACE_TIMED_OUT;
}

static enum ctrace_status open_metadata(struct ct_bin_folder *folder, int flags)
{
	enum ctrace_status status = ct_os_open_file(folder->fd, "metadata", O_RDWR | flags, &folder->metadata_fd);

	if (status != CTRACE_OK)
		return status;
	folder->metadata_id = ct_os_file_id(folder->metadata_fd);
	return lock_metadata(folder);
}

static enum ctrace_status open_files(struct ct_bin_folder *folder, int flags, uint64_t *out_size)
{
	enum ctrace_status status = open_directory(folder);
	struct stat info;

	if (status == CTRACE_OK)
		status = open_metadata(folder, flags);
	if (status != CTRACE_OK)
		return status;
	if (fstat(folder->metadata_fd, &info) != 0)
		return CTRACE_OS_ERROR;
	*out_size = (uint64_t)info.st_size;
	return CTRACE_OK;
}

static enum ctrace_status read_metadata(const struct ct_bin_folder *folder, uint64_t size, struct ct_buf *out)
{
	enum ctrace_status status;

	if (size > METADATA_LIMIT)
		return CTRACE_DAMAGED;
	if (!ct_buf_reserve(out, size))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_os_read_at(folder->metadata_fd, out->data, size, 0, &out->size);
	if (status == CTRACE_OK && out->size < size)
		status = CTRACE_DAMAGED;
	return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Beginning
 */

static void make_uuid(uint8_t uuid[16])
{
	uint64_t words[2];

	if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
		words[0] = ct_clock_wall_ns() * 0x9E3779B97F4A7C15u;
		words[1] = (ct_clock_ticks() ^ (uint64_t)getpid() << 32) * 0xC2B2AE3D27D4EB4Fu;
		memcpy(uuid, words, 16);
	}
	uuid[0] |= 1; /* the streams' mark of their folder is never 0 */
	uuid[6] = (uint8_t)((uuid[6] & 0x0F) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3F) | 0x80);
}

/* What holds nothing that counts goes, and its folder if nobody else has files in it; errno is kept. */
static void remove_files(struct ct_bin_folder *folder)
{
	int error = errno;

	(void)!wipe(folder);
	(void)unlinkat(folder->fd, "metadata", 0);
	(void)rmdir(folder->path);
	errno = error;
}

static enum ctrace_status begin(struct ct_bin_folder *folder)
{
	enum ctrace_status status = ct_schema_create(&folder->schema);

	if (status != CTRACE_OK)
		return status;
	make_uuid(folder->info.uuid);
	ct_buf_clear(&folder->text);
	ct_schema_print_trace(&folder->text, &folder->info);
	if (folder->text.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_os_write_at(folder->metadata_fd, folder->text.data, folder->text.size, 0);
	if (status != CTRACE_OK) {
		remove_files(folder);
		return status;
	}
	folder->metadata_size = folder->size = folder->text.size;
	folder->metadata_sync_due = true;
	return CTRACE_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * Going on
 */

/* Reads the metadata that count. */
static enum ctrace_status restore(struct ct_bin_folder *folder, const struct ct_buf *text, size_t size)
{
	enum ctrace_status status = ct_schema_create(&folder->schema);
	size_t at;

	if (status != CTRACE_OK)
		return status;
	status = ct_schema_parse(folder->schema, text->data, size, &folder->info, &at);
	if (status == CTRACE_OK)
		status = ct_bin_marks_take(folder, text->data, size);
	if (status == CTRACE_OK)
		status = ct_os_truncate(folder->metadata_fd, size);
	if (status != CTRACE_OK)
		return status;
	folder->printed = ct_schema_count(folder->schema);
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

/* Metadata that are there already: ours to go on with, to replace, or to leave alone. */
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
	} else if (claim->may_continue && ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_CLOSED, &end) != NULL) {
		status = restore(folder, text, end);
		if (status == CTRACE_OK && !ct_bin_folder_each_stream(folder, cut_to_mark, NULL))
			status = CTRACE_OS_ERROR;
		return status == CTRACE_DAMAGED ? CTRACE_TIMED_OUT : status;
	} else if (!claim->may_continue && !claim->may_replace_own) {
		return CTRACE_TIMED_OUT;
	}
	status = wipe(folder);
	return status == CTRACE_OK ? begin(folder) : status;
}

static enum ctrace_status begin_in_empty(struct ct_bin_folder *folder)
{
	bool has_streams = false;

	if (!ct_bin_folder_each_stream(folder, note_stream, &has_streams))
		return CTRACE_OS_ERROR;
	/* Without metadata they are somebody's files with names like ours. */
	return has_streams ? CTRACE_TIMED_OUT : begin(folder);
}

enum ctrace_status ct_bin_folder_create(const char *path, const struct ct_bin_claim *claim, struct ct_bin_folder **out_folder)
{
	struct ct_bin_folder *folder;
	enum ctrace_status status = folder_new(path, claim->info, &folder);
	struct ct_buf text;
	uint64_t size;

	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	status = ct_os_make_folder(path);
	if (status == CTRACE_OK)
		status = open_files(folder, O_CREAT, &size);
	if (status == CTRACE_OK && size > 0)
		status = read_metadata(folder, size, &text);
	if (status == CTRACE_OK)
		status = size > 0 ? take_over(folder, claim, &text) : begin_in_empty(folder);
	ct_buf_fini(&text);
	if (status != CTRACE_OK) {
		int error = errno;

		folder_free(folder);
		errno = error;
		return status;
	}
	*out_folder = folder;
	return CTRACE_OK;
}

static enum ctrace_status go_on(struct ct_bin_folder *folder, const struct ctrace_place *place, const struct ct_trace_info *info)
{
	struct ct_trace_info found;
	struct ct_buf text;
	uint64_t size;
	size_t at;
	enum ctrace_status status = open_files(folder, 0, &size);

	if (status != CTRACE_OK)
		return status;
	if (size < place->offset)
		return CTRACE_DAMAGED;
	ct_buf_init(&text);
	status = read_metadata(folder, place->offset, &text);
	if (status == CTRACE_OK)
		status = ct_schema_parse_trace(text.data, text.size, &found, &at);
	if (status == CTRACE_OK && !is_same_process(&found, info))
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_OK)
		status = restore(folder, &text, text.size);
	ct_buf_fini(&text);
	if (status == CTRACE_OK && !ct_bin_folder_each_stream(folder, count_bytes, NULL))
		status = CTRACE_OS_ERROR;
	return status;
}

enum ctrace_status ct_bin_folder_resume(const struct ctrace_place *place, const struct ct_trace_info *info,
					struct ct_bin_folder **out_folder)
{
	struct ct_bin_folder *folder;
	enum ctrace_status status;

	if (memchr(place->path, '\0', sizeof place->path) == NULL)
		return CTRACE_DAMAGED;
	status = folder_new(place->path, info, &folder);
	if (status != CTRACE_OK)
		return status;
	status = go_on(folder, place, info);
	if (status != CTRACE_OK) {
		int error = errno;

		folder_free(folder);
		errno = error;
		return status;
	}
	*out_folder = folder;
	return CTRACE_OK;
}

/* Opens what was closed behind our back.  False when that does not lead to the same folder. */
static bool reach(struct ct_bin_folder *folder)
{
	struct ct_file_id folder_id = folder->folder_id;
	struct ct_file_id metadata_id = folder->metadata_id;

	if (!ct_os_is_file(folder->fd, &folder_id) && (open_directory(folder) != CTRACE_OK || !ct_os_is_file(folder->fd, &folder_id)))
		return false;
	if (ct_os_is_file(folder->metadata_fd, &metadata_id))
		return true;
	folder->metadata_fd = -1;
	return open_metadata(folder, 0) == CTRACE_OK && ct_os_is_file(folder->metadata_fd, &metadata_id);
}

bool ct_bin_folder_is_gone(struct ct_bin_folder *folder)
{
	struct stat info;

	return !reach(folder) || fstat(folder->metadata_fd, &info) != 0 || info.st_nlink == 0;
}

bool ct_bin_folder_is_in_place(struct ct_bin_folder *folder)
{
	struct stat there;

	return !ct_bin_folder_is_gone(folder) && fstatat(AT_FDCWD, folder->path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       there.st_dev == folder->folder_id.device && there.st_ino == folder->folder_id.inode;
}

/* ------------------------------------------------------------------------------------------------------------
 * Generations
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
	ct_bin_mark_add(&folder->text, from->id, lost);
	return CTRACE_OK;
}

enum ctrace_status ct_bin_folder_inherit(struct ct_bin_folder *folder, struct ct_bin_folder *from)
{
	enum ctrace_status status;

	ct_bin_load_untouched(from);
	ct_buf_clear(&folder->text);
	ct_buf_add_text(&folder->text, CT_BIN_MARK_LOST);
	status = inherit_stream(folder, from->lost);
	for (uint32_t id = 0; id < from->stream_capacity && status == CTRACE_OK; id++)
		status = inherit_stream(folder, from->streams[id]);
	ct_buf_add_text(&folder->text, CT_BIN_MARK_END);
	if (status == CTRACE_OK && folder->text.failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = ct_os_write_at(folder->metadata_fd, folder->text.data, folder->text.size, folder->metadata_size);
	if (status != CTRACE_OK)
		return status;
	folder->metadata_size += folder->text.size;
	folder->size += folder->text.size;
	return CTRACE_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * Ending
 */

static void write_mark(struct ct_bin_folder *folder)
{
	ct_buf_clear(&folder->text);
	ct_buf_add_text(&folder->text, CT_BIN_MARK_CLOSED);
	for (uint32_t id = 0; id < folder->stream_capacity; id++)
		if (folder->streams[id] != NULL)
			ct_bin_mark_add(&folder->text, id, folder->streams[id]->offset);
	if (folder->lost != NULL)
		ct_bin_mark_add(&folder->text, CT_BIN_LOST, folder->lost->offset);
	ct_buf_add_text(&folder->text, CT_BIN_MARK_END);
	if (folder->text.failed || folder->metadata_cut_due)
		return;
	if (ct_os_write_at(folder->metadata_fd, folder->text.data, folder->text.size, folder->metadata_size) != CTRACE_OK)
		(void)!ct_os_truncate(folder->metadata_fd, folder->metadata_size);
}

void ct_bin_folder_close(struct ct_bin_folder *folder)
{
	if (folder == NULL)
		return;
	if (folder->owner_pid == (uint32_t)getpid())
		write_mark(folder);
	folder_free(folder);
}

void ct_bin_folder_discard(struct ct_bin_folder *folder)
{
	remove_files(folder);
	folder_free(folder);
}
