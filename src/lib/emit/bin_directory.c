/*
 * bin_directory.c - the directory that BINFILE writes and its metadata: open, check, end, close.
 *
 * Called by bin_create.c and emit_bin.c on the thread that consumes.  Nothing is removed or
 * overwritten here but files with our names in a directory whose metadata begin as ours do, and
 * never those that another process has open (bin_lock.c).
 *
 * Metadata are begun under a temporary name and get their own name when they are whole, so a
 * directory without metadata has never held an event.  The temporary file is locked before it gets
 * the name: the lock never ends between the old metadata and the new.
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

/* -----------------------------------------------------------------------------------------------
 * Opening
 */

enum ctrace_status ct_bin_directory_new(const char *path, const struct ct_trace_info *info,
					struct ct_bin_directory **out_directory)
{
	struct ct_bin_directory *directory;

	if (strlen(path) >= CTRACE_EMITTER_PATH_SIZE) {
		errno = ENAMETOOLONG;
		return CTRACE_OS_ERROR;
	}
	directory = calloc(1, sizeof *directory);
	if (directory == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(directory->path, path, strlen(path) + 1);
	directory->fd = -1;
	directory->metadata_fd = -1;
	directory->owner_pid = (uint32_t)getpid();
	directory->info = *info;
	directory->printed = 1;
	ct_buf_init(&directory->text);
	directory->clock.steps = CT_BIN_CLOCK_UNKNOWN;
	*out_directory = directory;
	return CTRACE_OK;
}

void ct_bin_directory_rest(struct ct_bin_directory *directory)
{
	ct_bin_streams_free(directory);
	ct_schema_destroy(directory->schema);
	directory->schema = NULL;
	directory->texts = NULL;
	ct_bin_lock_close(&directory->metadata_fd, &directory->metadata_id);
	ct_os_close_file(&directory->fd, &directory->directory_id);
}

void ct_bin_directory_free(struct ct_bin_directory *directory)
{
	int error = errno;

	ct_bin_directory_rest(directory);
	ct_schema_destroy(directory->source);
	free(directory->found);
	ct_buf_fini(&directory->heads);
	free(directory->pieces);
	free(directory->items);
	ct_buf_fini(&directory->scratch);
	ct_buf_fini(&directory->text);
	free(directory);
	errno = error;
}

enum ctrace_status ct_bin_directory_open(struct ct_bin_directory *directory)
{
	enum ctrace_status status = ct_os_open_directory(AT_FDCWD, directory->path, &directory->fd,
							 &directory->directory_id);
	struct stat info;

	if (status != CTRACE_OK)
		return errno == ENOENT              ? CTRACE_NOT_FOUND
		       : status == CTRACE_NOT_FOUND ? CTRACE_DENIED
						    : status;
	if (ct_os_stat(directory->fd, &info) != CTRACE_OK)
		return CTRACE_OS_ERROR;
	if (info.st_uid != geteuid()) {
		errno = EPERM;
		return CTRACE_DENIED;
	}
	return CTRACE_OK;
}

static enum ctrace_status read_metadata(const struct ct_bin_directory *directory, uint64_t size,
					struct ct_buf *out)
{
	enum ctrace_status status;

	if (size > CT_METADATA_LIMIT)
		return CTRACE_DAMAGED;
	if (!ct_buf_reserve(out, size + 1))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_os_read_at(directory->metadata_fd, out->data, size, 0, &out->size);
	out->data[out->size] = '\0'; /* a number ends at or before it */
	if (status == CTRACE_OK && !ct_os_is_file(directory->metadata_fd, &directory->metadata_id))
		/* the program closed the descriptor: the data may be of another file */
		status = CTRACE_OS_ERROR;
	if (status == CTRACE_OK && out->size < size)
		status = CTRACE_DAMAGED;
	return status;
}

enum ctrace_status ct_bin_metadata_open(struct ct_bin_directory *directory, struct ct_buf *out)
{
	enum ctrace_status status = ct_bin_lock_open(
		directory->fd, "metadata", 0, &directory->metadata_fd, &directory->metadata_id);
	struct stat info;

	if (status == CTRACE_OK)
		status = ct_os_stat(directory->metadata_fd, &info);
	return status == CTRACE_OK ? read_metadata(directory, (uint64_t)info.st_size, out) : status;
}

enum ctrace_status ct_bin_metadata_cut(struct ct_bin_directory *directory)
{
	enum ctrace_status status;

	if (!directory->metadata_cut_due)
		return CTRACE_OK;
	if (!ct_os_is_file(directory->metadata_fd, &directory->metadata_id))
		return CTRACE_OS_ERROR;
	status = ct_os_truncate(directory->metadata_fd, directory->metadata_size);
	directory->metadata_cut_due = status != CTRACE_OK;
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Metadata take their place
 */

/* Removes files in which nothing counts, and the directory unless it has other files; keeps errno.
 */
static void remove_files(struct ct_bin_directory *directory)
{
	int error = errno;

	if (ct_bin_directory_remove_streams(directory))
		(void)unlinkat(directory->fd, "metadata", 0);
	(void)rmdir(directory->path);
	errno = error;
}

/* Is it the temporary file of a process that died before it finished its metadata?  That can be
 * reused.  Returns TIMED_OUT for any other file. */
static enum ctrace_status check_unfinished(int fd)
{
	char text[sizeof SIGNATURE - 1];
	size_t got;
	enum ctrace_status status = ct_os_read_at(fd, text, sizeof text, 0, &got);

	return status == CTRACE_OK && memcmp(text, SIGNATURE, got) != 0 ? CTRACE_TIMED_OUT : status;
}

static enum ctrace_status write_temporary(struct ct_bin_directory *directory, int fd,
					  const struct ct_buf *text, bool is_anew)
{
	enum ctrace_status status = ct_os_truncate(fd, 0);

	if (status == CTRACE_OK)
		status = ct_os_write_at(fd, text->data, text->size, 0);
	/* Old streams are removed first, so that new metadata never stand beside old streams. */
	if (status == CTRACE_OK && is_anew && directory->metadata_fd >= 0 &&
	    !ct_bin_directory_remove_streams(directory))
		status = CTRACE_OS_ERROR;
	/* The program may have closed the descriptor; then its new file is not touched. */
	if (status == CTRACE_OK && !ct_os_is_file(directory->fd, &directory->directory_id))
		status = CTRACE_OS_ERROR;
	return status == CTRACE_OK ? ct_os_rename(directory->fd, CT_BIN_TEMPORARY, "metadata")
				   : status;
}

/* Whoever makes metadata has the temporary file locked, so two processes never begin one directory.
 */
enum ctrace_status ct_bin_metadata_put(struct ct_bin_directory *directory,
				       const struct ct_buf *text, bool is_anew)
{
	enum ctrace_status status;
	struct ct_file_id id;
	struct stat info;
	int fd;

	status = text->failed
			 ? CTRACE_NOT_ENOUGH_MEMORY
			 : ct_bin_lock_open(directory->fd, CT_BIN_TEMPORARY, O_CREAT, &fd, &id);
	if (status != CTRACE_OK)
		return status;
	status = check_unfinished(fd);
	if (status != CTRACE_OK) {
		ct_bin_lock_close(&fd, &id);
		return status;
	}
	ct_file_access_give(fd, &directory->access);
	if (directory->metadata_fd < 0 &&
	    fstatat(directory->fd, "metadata", &info, AT_SYMLINK_NOFOLLOW) == 0)
		status = CTRACE_TIMED_OUT; /* somebody was faster */
	else
		status = write_temporary(directory, fd, text, is_anew);
	if (status != CTRACE_OK) {
		int error = errno;

		(void)unlinkat(directory->fd, CT_BIN_TEMPORARY, 0);
		ct_bin_lock_close(&fd, &id);
		errno = error;
		return status;
	}
	ct_bin_lock_close(&directory->metadata_fd, &directory->metadata_id);
	directory->metadata_fd = fd;
	directory->metadata_id = id;
	directory->metadata_sync_due = true;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Is it still there?
 */

/* Opens the directory again after the program has closed it. */
static enum ct_bin_presence reach_directory(struct ct_bin_directory *directory)
{
	struct ct_file_id id = directory->directory_id;
	enum ct_os_identity identity = ct_os_identify(directory->fd, &id);
	enum ctrace_status status;

	if (identity != CT_OS_OTHER)
		return identity == CT_OS_SAME ? CT_BIN_HERE : CT_BIN_UNCLEAR;
	directory->fd = -1;
	status = ct_bin_directory_open(directory);
	if (status != CTRACE_OK)
		ct_os_close_file(&directory->fd, &directory->directory_id);
	else if (!ct_os_is_file(directory->fd, &id))
		status = CTRACE_NOT_FOUND; /* another one has its name */
	if (status == CTRACE_NOT_FOUND)
		return CT_BIN_GONE;
	directory->directory_id = id;
	return status == CTRACE_OK ? CT_BIN_HERE : CT_BIN_UNCLEAR;
}

/* Opens the metadata again, and takes the lock, which ended with the descriptor. */
static enum ct_bin_presence reach_metadata(struct ct_bin_directory *directory)
{
	struct ct_file_id id = directory->metadata_id;
	enum ct_os_identity identity = ct_os_identify(directory->metadata_fd, &id);
	enum ctrace_status status;

	if (identity != CT_OS_OTHER)
		return identity == CT_OS_SAME ? CT_BIN_HERE : CT_BIN_UNCLEAR;
	ct_bin_lock_close(&directory->metadata_fd, &id);
	status = ct_bin_lock_open(directory->fd, "metadata", 0, &directory->metadata_fd,
				  &directory->metadata_id);
	if (status == CTRACE_OK && (directory->metadata_id.inode != id.inode ||
				    directory->metadata_id.device != id.device)) {
		ct_bin_lock_close(&directory->metadata_fd, &directory->metadata_id);
		status = CTRACE_NOT_FOUND;
	}
	/* TIMED_OUT: somebody took the directory while it was not locked. */
	if (status == CTRACE_NOT_FOUND || status == CTRACE_TIMED_OUT)
		return CT_BIN_GONE;
	return status == CTRACE_OK ? CT_BIN_HERE : CT_BIN_UNCLEAR;
}

enum ct_bin_presence ct_bin_directory_look(struct ct_bin_directory *directory)
{
	enum ct_bin_presence presence = reach_directory(directory);
	struct stat info;

	ct_point("bin.reached");
	if (presence == CT_BIN_HERE)
		presence = reach_metadata(directory);
	if (presence == CT_BIN_HERE && ct_os_stat(directory->metadata_fd, &info) != CTRACE_OK)
		return CT_BIN_UNCLEAR;
	if (presence == CT_BIN_HERE && info.st_nlink == 0)
		presence = CT_BIN_GONE;
	/* Closed meanwhile, once more: this was another directory, or another file. */
	if (directory->fd >= 0 &&
	    (!ct_os_is_file(directory->fd, &directory->directory_id) ||
	     (presence == CT_BIN_HERE &&
	      !ct_os_is_file(directory->metadata_fd, &directory->metadata_id))))
		return CT_BIN_UNCLEAR;
	if (presence == CT_BIN_HERE)
		directory->looked_at_ns = ct_clock_mono_ns();
	return presence;
}

bool ct_bin_directory_is_in_place(const struct ct_bin_directory *directory)
{
	struct stat there;

	return fstatat(AT_FDCWD, directory->path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       there.st_dev == directory->directory_id.device &&
	       there.st_ino == directory->directory_id.inode;
}

/* -----------------------------------------------------------------------------------------------
 * Ending
 */

static void mark_stream(struct ct_buf *out, const struct ct_bin_stream *stream)
{
	if (stream != NULL)
		ct_bin_mark_add(out, stream->id,
				&(struct ct_bin_mark){ stream->offset, stream->last_at });
}

void ct_bin_directory_end(struct ct_bin_directory *directory)
{
	enum ctrace_status status;
	struct ct_buf text;

	if (directory->is_ended || directory->metadata_cut_due ||
	    !ct_os_is_file(directory->metadata_fd, &directory->metadata_id))
		return;
	ct_buf_init(&text);
	status = read_metadata(directory, directory->metadata_size, &text);
	ct_buf_add_text(&text, CT_BIN_MARK_CLOSED);
	for (uint32_t id = 0; id < directory->stream_capacity; id++)
		mark_stream(&text, directory->streams[id]);
	mark_stream(&text, directory->lost);
	ct_buf_add_text(&text, CT_BIN_MARK_END);
	if (status == CTRACE_OK)
		status = ct_bin_metadata_put(directory, &text, false);
	directory->is_ended = status == CTRACE_OK;
	ct_buf_fini(&text);
}

void ct_bin_directory_reopen(struct ct_bin_directory *directory)
{
	directory->metadata_cut_due |= directory->is_ended;
	directory->is_ended = false;
}

void ct_bin_directory_close(struct ct_bin_directory *directory)
{
	if (directory == NULL)
		return;
	if (directory->owner_pid == (uint32_t)getpid() &&
	    (!directory->is_recovered || directory->was_closed))
		ct_bin_directory_end(directory);
	ct_bin_directory_free(directory);
}

void ct_bin_directory_discard(struct ct_bin_directory *directory)
{
	remove_files(directory);
	ct_bin_directory_free(directory);
}
