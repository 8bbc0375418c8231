/*
 * bin_folder.c - the folder that BINFILE writes and its metadata: opened, still there, ended,
 * closed.
 *
 * Called by bin_claim.c and emit_bin.c on the thread that drains.  Nothing is removed or
 * overwritten here but files with our names in a folder whose metadata begin as ours do, and never
 * those that another process has open (bin_lock.c).
 *
 * Metadata are begun under a temporary name and get their own name when they are whole, so a folder without metadata has never held an
 * event.  The temporary file is locked before it gets the name: the lock never ends between the old metadata and the new.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGNATURE "/* CTF 1.8 */" /* what metadata begin with */

/* ------------------------------------------------------------------------------------------------------------
 * Opening
 */

enum ctrace_status ct_bin_folder_new(const char *path, const struct ct_trace_info *info, struct ct_bin_folder **out_folder)
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
	folder->clock.steps = CT_BIN_CLOCK_UNKNOWN;
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

void ct_bin_folder_free(struct ct_bin_folder *folder)
{
	int error = errno;

	ct_bin_folder_rest(folder);
	ct_schema_destroy(folder->source);
	free(folder->found);
	ct_buf_fini(&folder->heads);
	free(folder->pieces);
	free(folder->items);
	ct_buf_fini(&folder->scratch);
	ct_buf_fini(&folder->text);
	free(folder);
	errno = error;
}

enum ctrace_status ct_bin_folder_open(struct ct_bin_folder *folder)
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

enum ctrace_status ct_bin_metadata_open(struct ct_bin_folder *folder, struct ct_buf *out)
{
	enum ctrace_status status = ct_bin_lock_open(folder->fd, "metadata", 0, &folder->metadata_fd, &folder->metadata_id);
	struct stat info;

	if (status == CTRACE_OK)
		status = ct_os_stat(folder->metadata_fd, &info);
	return status == CTRACE_OK ? read_metadata(folder, (uint64_t)info.st_size, out) : status;
}

enum ctrace_status ct_bin_metadata_cut(struct ct_bin_folder *folder)
{
	enum ctrace_status status;

	if (!folder->metadata_cut_due)
		return CTRACE_OK;
	if (!ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
		return CTRACE_OS_ERROR;
	status = ct_os_truncate(folder->metadata_fd, folder->metadata_size);
	folder->metadata_cut_due = status != CTRACE_OK;
	return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Metadata take their place
 */

/* What holds nothing that counts goes, and its folder if nobody else has files in it; errno is kept. */
static void remove_files(struct ct_bin_folder *folder)
{
	int error = errno;

	if (ct_bin_folder_remove_streams(folder))
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

static enum ctrace_status write_temporary(struct ct_bin_folder *folder, int fd, const struct ct_buf *text, bool is_anew)
{
	enum ctrace_status status = ct_os_truncate(fd, 0);

	if (status == CTRACE_OK)
		status = ct_os_write_at(fd, text->data, text->size, 0);
	/* Streams of what is replaced go first, so that new metadata never have old streams beside them. */
	if (status == CTRACE_OK && is_anew && folder->metadata_fd >= 0 && !ct_bin_folder_remove_streams(folder))
		status = CTRACE_OS_ERROR;
	/* What a descriptor leads to that the program closed behind our back is not touched. */
	if (status == CTRACE_OK && !ct_os_is_file(folder->fd, &folder->folder_id))
		status = CTRACE_OS_ERROR;
	return status == CTRACE_OK ? ct_os_rename(folder->fd, CT_BIN_TEMPORARY, "metadata") : status;
}

/* Whoever makes metadata has the temporary file locked, so two processes never begin one folder. */
enum ctrace_status ct_bin_metadata_put(struct ct_bin_folder *folder, const struct ct_buf *text, bool is_anew)
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
	status = ct_bin_folder_open(folder);
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
	status = ct_bin_lock_open(folder->fd, "metadata", 0, &folder->metadata_fd, &folder->metadata_id);
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

bool ct_bin_folder_is_in_place(const struct ct_bin_folder *folder)
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
		status = ct_bin_metadata_put(folder, &text, false);
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
	ct_bin_folder_free(folder);
}

void ct_bin_folder_discard(struct ct_bin_folder *folder)
{
	remove_files(folder);
	ct_bin_folder_free(folder);
}
