/*
 * stream_file.c - the bytes of a stream file, of a BINFILE trace or a third-party one, seen through
 * a window.
 *
 * Called by the parts of a source, on the reader's thread.  The files may be hostile, and grow or
 * disappear while they are read.  They are read with pread, never mapped and never written to; only
 * regular files are read.  A file is open only while it is read, so a trace may have any number of
 * streams.  A compressed file is decompressed when it is first read, and stays open until its end.
 * ct_sources_hold() bounds the sum of all windows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/stream_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ct_stream_file_init(struct ct_stream_file *file, struct ct_source *source, bool may_be_packed)
{
	*file = (struct ct_stream_file){ .source = source,
					 .may_be_packed = may_be_packed,
					 .unpacked_fd = -1 };
}

void ct_stream_file_fini(struct ct_stream_file *file)
{
	ct_os_close(&file->unpacked_fd);
	free(file->window);
	file->window = NULL;
	file->capacity = file->window_size = 0;
}

void ct_stream_file_release(struct ct_stream_file *file, struct ct_sources *sources)
{
	sources->held -= file->capacity;
	free(file->window);
	file->window = NULL;
	file->capacity = file->window_size = 0;
}

/* -----------------------------------------------------------------------------------------------
 * The file
 */

static bool name_is_packed(const char *name)
{
	size_t size = strlen(name), suffix = strlen(CT_STREAM_PACKED);

	return size > suffix && strcmp(name + size - suffix, CT_STREAM_PACKED) == 0;
}

/* Returns a negative number and sets errno when the path is not a regular file or cannot be
 * opened. */
static int open_regular(const char *path, uint64_t *out_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		ct_os_close(&fd);
		errno = EINVAL;
		return -1;
	}
	*out_size = (uint64_t)info.st_size;
	return fd;
}

/* Reports an error of the operating system, from errno, once.  A file that disappears after it was
 * read completely is no loss. */
static void report_failure(struct ct_stream_file *file, struct ct_sources *sources, uint64_t at)
{
	char message[128], reason[96];
	/* A file that was never opened is missing entirely. */
	bool is_unread = errno == EACCES || file->size == 0;
	struct ct_read_note note = { .kind = is_unread ? CT_NOTE_UNREAD : CT_NOTE_DAMAGE,
				     .path = file->source->path,
				     .offset = at,
				     .message = message };

	if (file->has_failed || (errno == ENOENT && file->size > 0 && at >= file->size))
		return;
	file->has_failed = true;
	(void)snprintf(message, sizeof message, "it cannot be read: %s",
		       errno == EINVAL ? "it is no regular file"
				       : strerror_r(errno, reason, sizeof reason));
	ct_sources_note(sources, &note);
}

static void stream_file_unpack(struct ct_stream_file *file, struct ct_sources *sources)
{
	uint64_t packed_size;
	int fd = open_regular(file->source->path, &packed_size);
	struct ct_unpacked unpacked = { .fd = -1 };
	enum ctrace_status status = CTRACE_OS_ERROR;

	if (fd >= 0)
		status = ct_unpack(fd, CT_UNPACK_LIMIT, &unpacked);
	if (status != CTRACE_OK)
		report_failure(file, sources, 0);
	else if (unpacked.damages > 0)
		ct_sources_damage(sources, file->source->path, unpacked.damage_at,
				  unpacked.damaged_bytes, unpacked.message);
	ct_os_close(&fd);
	file->unpacked_fd = unpacked.fd;
	file->is_unpacked = true;
	if (file->size == 0)
		file->size = unpacked.size;
}

/* A writer may have compressed the file since it was found: the compressed file is read then, at
 * the same positions. */
static bool has_become_packed(struct ct_stream_file *file)
{
	char *path;

	if (errno != ENOENT || name_is_packed(file->source->path) ||
	    asprintf(&path, "%s" CT_STREAM_PACKED, file->source->path) < 0)
		return false;
	if (access(path, F_OK) != 0) {
		free(path);
		return false;
	}
	free(file->source->path);
	file->source->path = path;
	return true;
}

int ct_stream_file_open(struct ct_stream_file *file, struct ct_sources *sources)
{
	uint64_t size = 0;
	int fd;

	if (!file->is_unpacked && !(file->may_be_packed && name_is_packed(file->source->path))) {
		fd = open_regular(file->source->path, &size);
		if (file->size == 0)
			file->size = size;
		if (fd >= 0 || !file->may_be_packed || !has_become_packed(file))
			return fd;
	}
	if (!file->is_unpacked)
		stream_file_unpack(file, sources);
	return file->unpacked_fd;
}

void ct_stream_file_close(struct ct_stream_file *file, int *fd)
{
	if (*fd != file->unpacked_fd)
		ct_os_close(fd);
	*fd = -1;
}

bool ct_stream_file_is_second(const char *directory, const char *name)
{
	char *path;
	bool found;

	if (!name_is_packed(name) ||
	    asprintf(&path, "%s/%.*s", directory, (int)(strlen(name) - strlen(CT_STREAM_PACKED)),
		     name) < 0)
		return false;
	found = access(path, F_OK) == 0;
	free(path);
	return found;
}

/* -----------------------------------------------------------------------------------------------
 * The window
 */

/* Returns the size of a window for `size` bytes from `at`: twice that, so that a hostile file with
 * overlapping packets is read twice at most, but no larger than the file, which may be shorter than
 * its packets state. */
static size_t window_capacity(int fd, uint64_t at, size_t size)
{
	struct stat info;
	uint64_t rest;

	if (size <= CT_STREAM_WINDOW / 2 || fstat(fd, &info) != 0)
		return CT_STREAM_WINDOW;
	rest = (uint64_t)info.st_size > at ? (uint64_t)info.st_size - at : 0;
	if (rest > 2 * (uint64_t)size)
		rest = 2 * (uint64_t)size;
	return rest > CT_STREAM_WINDOW ? (size_t)rest : CT_STREAM_WINDOW;
}

/* Returns false without memory. */
static bool window_reserve(struct ct_stream_file *file, struct ct_sources *sources, size_t capacity)
{
	unsigned char *window;

	if (capacity <= file->capacity)
		return true;
	ct_sources_hold(sources, file->source, capacity - file->capacity);
	window = realloc(file->window, capacity);
	if (window == NULL) {
		sources->held -= capacity - file->capacity;
		errno = ENOMEM;
		return false;
	}
	file->window = window;
	file->capacity = capacity;
	return true;
}

static enum ctrace_status window_read(struct ct_stream_file *file, struct ct_sources *sources,
				      int fd, uint64_t at, size_t size)
{
	if (!window_reserve(file, sources, window_capacity(fd, at, size)))
		return CTRACE_NOT_ENOUGH_MEMORY;
	size = size <= file->read_size ? file->read_size : file->capacity;
	file->asked += size;
	return ct_os_read_at(fd, file->window, size, at, &file->window_size);
}

const unsigned char *ct_stream_file_move(struct ct_stream_file *file, struct ct_sources *sources,
					 uint64_t at, size_t size, size_t *out_available)
{
	int fd = ct_stream_file_open(file, sources);

	file->window_size = 0;
	file->window_at = at;
	if (fd < 0 || window_read(file, sources, fd, at, size) != CTRACE_OK) {
		report_failure(file, sources, at);
		file->window_size = 0;
	}
	ct_stream_file_close(file, &fd);
	*out_available = file->window_size;
	return file->window;
}
