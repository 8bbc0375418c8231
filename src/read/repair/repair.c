/*
 * repair.c - finds damaged BINFILE traces and writes the readable part of each as an undamaged
 * trace.
 *
 * Called by src/tools/cmd_repair.c, on one thread, with directories and files that may be hostile:
 * links inside a named directory are not followed, nothing there is changed, and the copy consists
 * of files that were not there before.  repair_info.c finds out who wrote the trace,
 * repair_metadata.c prints the metadata anew, repair_stream.c copies the packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair_trace.h"

#include "lib/emit/binfile.h"
#include "read/repair/repair_stream.h"
#include "read/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPRESSED ".zst"
#define DEPTH 4u /* directory levels below the named one */
#define NAMES_TRIED 100u
/* since 1970: viewers count signed nanoseconds, not all exactly */
#define LATEST_NS ((uint64_t)1 << 62)

void ct_repair_report_damage(struct ct_repair *repair, const char *path, uint64_t offset,
			     uint64_t bytes, const char *message)
{
	const struct ct_repair_note note = {
		.path = path, .offset = offset, .bytes = bytes, .message = message
	};

	repair->damages++;
	repair->report(&note, repair->user);
}

/* Reports bytes that the copy lacks. */
static void repair_report_lost(struct ct_repair *repair, const char *path, uint64_t offset,
			       uint64_t bytes, const char *message)
{
	repair->lost_bytes += bytes;
	ct_repair_report_damage(repair, path, offset, bytes, message);
}

/* Reports a path of which the copy has nothing. */
static void repair_report_unread(struct ct_repair *repair, const char *path, const char *why)
{
	const struct ct_repair_note note = { .path = path, .message = why, .is_unread = true };

	repair->unread++;
	repair->damages++;
	repair->report(&note, repair->user);
}

bool ct_repair_is_refusal(int error)
{
	return error == EACCES || error == EPERM;
}

const char *ct_repair_refusal_text(int error)
{
	return ct_repair_is_refusal(error) ? "permission denied"
	       : error == EINVAL           ? "it is no regular file"
					   : strerror(error);
}

/* -----------------------------------------------------------------------------------------------
 * Stream files
 */

bool ct_repair_stream_name(const char *name, uint32_t *out_id, bool *out_is_compressed)
{
	size_t size = strlen(name), suffix = sizeof COMPRESSED - 1;

	*out_is_compressed = size > suffix && strcmp(name + size - suffix, COMPRESSED) == 0;
	return ct_bin_stream_name_parse(name, size - (*out_is_compressed ? suffix : 0), out_id);
}

int ct_repair_is_stream(const struct dirent *entry)
{
	bool is_compressed;
	uint32_t id;

	return ct_repair_stream_name(entry->d_name, &id, &is_compressed);
}

int ct_repair_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		ct_os_close(&fd);
		errno = EINVAL;
	}
	return fd;
}

/* Opens the file; if it is compressed, returns a file with the decompressed bytes instead. */
static int open_stream(struct ct_repair *repair, const char *path, bool is_compressed)
{
	int fd = ct_repair_open(path);
	struct ct_unpacked unpacked = { .fd = -1 };
	enum ctrace_status status;

	if (fd < 0)
		repair_report_unread(repair, path, ct_repair_refusal_text(errno));
	if (fd < 0 || !is_compressed)
		return fd;
	status = ct_unpack(fd, CT_UNPACK_LIMIT, &unpacked);
	ct_os_close(&fd);
	if (status != CTRACE_OK)
		ct_repair_report_damage(repair, path, 0, 0, ctrace_status_text(status));
	else if (unpacked.damages > 0)
		repair_report_lost(repair, path, unpacked.damage_at, unpacked.damaged_bytes,
				   unpacked.message);
	return unpacked.fd;
}

static enum ctrace_status repair_stream(struct ct_repair_trace *trace, const char *name)
{
	struct ct_repair_stream stream = { .uuid = trace->info.uuid,
					   .frequency = trace->frequency,
					   .most_ticks = ct_trace_ticks(&trace->info, LATEST_NS),
					   .schema = trace->schema,
					   .directory_fd = trace->to_fd,
					   .has_gaps = ct_repair_has_gaps(&trace->text) };
	enum ctrace_status status = CTRACE_OK;
	char *path, plain[32];
	bool is_compressed;

	if (!ct_repair_stream_name(name, &stream.id, &is_compressed))
		return CTRACE_OK;
	if (asprintf(&path, "%s/%s", trace->directory, name) < 0)
		return CTRACE_NOT_ENOUGH_MEMORY;
	(void)snprintf(plain, sizeof plain, "%.*s",
		       (int)(strlen(name) - (is_compressed ? sizeof COMPRESSED - 1 : 0)), name);
	stream.path = path;
	stream.name = plain;
	stream.fd = open_stream(trace->repair, path, is_compressed);
	if (stream.fd >= 0)
		status = ct_repair_stream(trace->repair, &stream);
	ct_os_close(&stream.fd);
	free(path);
	if (stream.written > 0) {
		ct_bin_mark_add(&trace->closed, stream.id,
				&(struct ct_bin_mark){ stream.written, stream.last_at });
		trace->streams++;
	}
	return status;
}

/* Is it the compressed twin of a plain file?  Both exist when the plain one could not be removed
 * after compression. */
static bool is_second(struct dirent **entries, int count, const char *name)
{
	size_t size = strlen(name) - (sizeof COMPRESSED - 1);
	bool is_compressed;
	uint32_t id;

	if (!ct_repair_stream_name(name, &id, &is_compressed) || !is_compressed)
		return false;
	for (int i = 0; i < count; i++)
		if (strlen(entries[i]->d_name) == size &&
		    memcmp(entries[i]->d_name, name, size) == 0)
			return true;
	return false;
}

static void report_shortage(const struct ct_read_note *found, void *user)
{
	if (found->kind == CT_NOTE_UNREAD)
		repair_report_unread(user, found->path, found->message);
	else
		repair_report_lost(user, found->path, found->offset, found->bytes, found->message);
}

static enum ctrace_status repair_streams(struct ct_repair_trace *trace, const char *only)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count;

	ct_closing_mark_check(trace->directory, only, trace->info.uuid, report_shortage,
			      trace->repair);
	if (only != NULL)
		return repair_stream(trace, only);
	count = scandir(trace->directory, &entries, ct_repair_is_stream, versionsort);
	if (count < 0 && !ct_repair_is_refusal(errno))
		return CTRACE_OS_ERROR;
	if (count < 0) {
		repair_report_unread(trace->repair, trace->directory,
				     ct_repair_refusal_text(errno));
		return CTRACE_OK;
	}
	for (int i = 0; i < count; i++)
		if (status == CTRACE_OK && !is_second(entries, count, entries[i]->d_name))
			status = repair_stream(trace, entries[i]->d_name);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * A trace
 */

static enum ctrace_status open_copy(struct ct_repair_trace *trace)
{
	enum ctrace_status status = ct_os_make_directory(trace->to);

	if (status != CTRACE_OK)
		return status;
	trace->to_fd = open(trace->to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return trace->to_fd >= 0 ? CTRACE_OK : CTRACE_OS_ERROR;
}

static enum ctrace_status copy_trace(struct ct_repair_trace *trace, const char *only)
{
	uint64_t damages = trace->repair->damages, lost_bytes = trace->repair->lost_bytes,
		 unread = trace->repair->unread;
	enum ctrace_status status = ct_repair_trace_info(trace);

	if (status == CTRACE_DENIED) {
		repair_report_unread(trace->repair, trace->metadata_path,
				     ct_repair_refusal_text(errno));
		return CTRACE_OK;
	}
	if (status == CTRACE_OK)
		status = ct_repair_read_classes(trace);
	if (status == CTRACE_OK)
		status = open_copy(trace);
	if (status == CTRACE_OK)
		status = repair_streams(trace, only);
	if (status != CTRACE_OK)
		return status;
	/* Any lack of memory may have cost a packet, so the copy is not trusted. */
	if (ct_memory_has_lacked())
		return CTRACE_NOT_ENOUGH_MEMORY;
	/* Viewers refuse a trace without streams. A trace that never had streams is still
	 * copied. */
	if (trace->streams == 0 && trace->repair->damages > damages) {
		(void)rmdir(trace->to);
		return CTRACE_OK;
	}
	status = ct_repair_write_metadata(trace, trace->repair->lost_bytes > lost_bytes ||
							 trace->repair->unread > unread);
	if (status != CTRACE_OK)
		return status;
	trace->repair->traces++;
	trace->repair->streams += trace->streams;
	return CTRACE_OK;
}

static bool is_written(const char *name)
{
	bool is_compressed;
	uint32_t id;

	return strcmp(name, "metadata") == 0 || ct_repair_stream_name(name, &id, &is_compressed);
}

/* Removes a half-written copy. Must work without memory, which scandir() and opendir() would
 * need. */
static void copy_discard(const struct ct_repair_trace *trace)
{
	union {
		struct dirent64 entry;
		char bytes[4096];
	} room;
	ssize_t size;

	while (lseek(trace->to_fd, 0, SEEK_SET) == 0 &&
	       (size = getdents64(trace->to_fd, &room, sizeof room)) > 0) {
		bool has_removed = false;

		for (ssize_t at = 0; at < size;) {
			const struct dirent64 *entry = (const struct dirent64 *)(room.bytes + at);

			has_removed |= is_written(entry->d_name) &&
				       unlinkat(trace->to_fd, entry->d_name, 0) == 0;
			at += entry->d_reclen;
		}
		if (!has_removed)
			break;
	}
	(void)rmdir(trace->to);
}

static enum ctrace_status repair_trace(struct ct_repair *repair, const char *directory,
				       const char *only, const char *to)
{
	struct ct_repair_trace trace = {
		.repair = repair, .directory = directory, .to = to, .to_fd = -1
	};
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	uint64_t events = repair->events, packets = repair->packets;

	if (asprintf(&trace.metadata_path, "%s/metadata", directory) >= 0) {
		status = copy_trace(&trace, only);
		free(trace.metadata_path);
	}
	if (status != CTRACE_OK && trace.to_fd >= 0) {
		int error = errno;

		copy_discard(&trace);
		repair->events = events;
		repair->packets = packets;
		errno = error;
	}
	ct_os_close(&trace.to_fd);
	ct_schema_destroy(trace.schema);
	ct_buf_fini(&trace.text);
	ct_buf_fini(&trace.closed);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Directories of traces
 */

static bool is_trace(const char *directory)
{
	struct dirent **entries;
	struct stat info;
	bool found = false;
	char *path;
	int count;

	if (asprintf(&path, "%s/metadata", directory) < 0)
		return false;
	found = lstat(path, &info) == 0 && S_ISREG(info.st_mode);
	free(path);
	count = found ? -1 : scandir(directory, &entries, ct_repair_is_stream, NULL);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return found || count > 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static enum ctrace_status repair_directory(struct ct_repair *repair, const char *directory,
					   const char *to, const struct stat *written,
					   unsigned depth);

/* True for a directory that is neither a link nor the output directory. */
static bool is_to_be_read(struct ct_repair *repair, const char *path, const struct stat *written)
{
	struct stat info;

	if (lstat(path, &info) != 0) {
		if (errno != ENOENT)
			repair_report_unread(repair, path, ct_repair_refusal_text(errno));
		return false;
	}
	return S_ISDIR(info.st_mode) &&
	       (info.st_dev != written->st_dev || info.st_ino != written->st_ino);
}

/* Repairs one entry of a directory that the user named. */
static enum ctrace_status repair_entry(struct ct_repair *repair, const char *path, const char *to,
				       const struct stat *written, unsigned depth)
{
	enum ctrace_status status = repair_directory(repair, path, to, written, depth);

	if (status != CTRACE_NOT_FOUND || !is_trace(path))
		return status;
	repair_report_unread(repair, path, "no BINFILE trace, or nothing of it can be read");
	return CTRACE_OK;
}

static enum ctrace_status repair_directory(struct ct_repair *repair, const char *directory,
					   const char *to, const struct stat *written,
					   unsigned depth)
{
	enum ctrace_status status = CTRACE_NOT_FOUND, one;
	struct dirent **entries;
	int count;

	if (is_trace(directory))
		return repair_trace(repair, directory, NULL, to);
	count = depth > 0 ? scandir(directory, &entries, is_visible, versionsort) : 0;
	if (count < 0) {
		repair_report_unread(repair, directory, ct_repair_refusal_text(errno));
		return CTRACE_OK;
	}
	for (int i = 0; i < count; i++) {
		char *path = NULL, *path_to = NULL;

		if ((status == CTRACE_OK || status == CTRACE_NOT_FOUND) &&
		    asprintf(&path, "%s/%s", directory, entries[i]->d_name) >= 0 &&
		    asprintf(&path_to, "%s/%s", to, entries[i]->d_name) >= 0 &&
		    is_to_be_read(repair, path, written)) {
			one = repair_entry(repair, path, path_to, written, depth - 1);
			status = one == CTRACE_NOT_FOUND ? status : one;
		}
		free(path);
		free(path_to);
		free(entries[i]);
	}
	if (depth > 0)
		free(entries);
	return status;
}

/* Returns a free path in the directory `to`: the last name of `path`, numbered if it is taken. */
static char *choose_name(const char *path, const char *to)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : "trace";
	char *chosen;

	for (unsigned i = 1; i <= NAMES_TRIED; i++) {
		struct stat info;

		if ((i == 1 ? asprintf(&chosen, "%s/%s", to, name)
			    : asprintf(&chosen, "%s/%s.%u", to, name, i)) < 0)
			return NULL;
		if (lstat(chosen, &info) != 0)
			return chosen;
		free(chosen);
	}
	return NULL;
}

/* Repairs one stream file and the metadata of its trace. */
static enum ctrace_status repair_file(struct ct_repair *repair, char *path, const char *to)
{
	char *slash = strrchr(path, '/'), *copy;
	enum ctrace_status status;
	bool is_compressed;
	uint32_t id;

	if (slash == NULL || slash == path ||
	    !ct_repair_stream_name(slash + 1, &id, &is_compressed))
		return CTRACE_NOT_FOUND;
	*slash = '\0';
	copy = choose_name(path, to);
	status = copy != NULL ? repair_trace(repair, path, slash + 1, copy)
			      : CTRACE_NOT_ENOUGH_MEMORY;
	free(copy);
	return status;
}

enum ctrace_status ct_repair_path(struct ct_repair *repair, const char *path, const char *to)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;
	struct stat info, written;
	char *resolved = realpath(path, NULL), *copy;

	if (resolved == NULL)
		return errno == ENOENT || errno == ENOTDIR ? CTRACE_NOT_FOUND : CTRACE_OS_ERROR;
	if (stat(to, &written) != 0 || stat(resolved, &info) != 0) {
		free(resolved);
		return CTRACE_OS_ERROR;
	}
	if (S_ISREG(info.st_mode)) {
		status = repair_file(repair, resolved, to);
	} else if (S_ISDIR(info.st_mode)) {
		copy = choose_name(resolved, to);
		status = copy != NULL ? repair_directory(repair, resolved, copy, &written, DEPTH)
				      : CTRACE_NOT_ENOUGH_MEMORY;
		free(copy);
	}
	free(resolved);
	return status;
}
