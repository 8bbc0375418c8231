/*
 * bin_files.c - the stream files of a BINFILE directory: which there are, and where each goes on.
 *
 * Called on the thread that consumes.  Descriptors may be closed behind our back, so each use
 * begins with a look whether it still is the file.  Bytes behind what counts are cut off before the
 * next write.
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

#define TAIL_SIZE ((uint64_t)4 * CT_PACKET_CONTENT) /* of a stream, to find its last packet in */

/* ---- names ---- */

bool ct_bin_stream_name_parse(const char *name, size_t size, uint32_t *out_id)
{
	static const char prefix[] = "stream.";
	const size_t prefix_size = sizeof prefix - 1;
	uint32_t id = 0;

	if (size <= prefix_size || size > prefix_size + 5 || memcmp(name, prefix, prefix_size) != 0)
		return false;
	name += prefix_size;
	size -= prefix_size;
	if (size == 4 && memcmp(name, "lost", 4) == 0) {
		*out_id = CT_BIN_LOST;
		return true;
	}
	for (size_t i = 0; i < size; i++) {
		if (name[i] < '0' || name[i] > '9')
			return false;
		id = id * 10 + (uint32_t)(name[i] - '0');
	}
	if (id >= CT_BIN_STREAM_LIMIT || (name[0] == '0' && size > 1))
		return false;
	*out_id = id;
	return true;
}

enum { FILE_STREAM = 1, FILE_PACKED = 2, FILE_UNFINISHED = 4 };

/* Which of these a name is: "stream.7.zst" is a compressed stream, ".stream.7.new" one that is not
 * finished.  0: none. */
static unsigned file_kind(const char *name, uint32_t *out_id)
{
	static const char packed[] = ".zst", unfinished[] = ".new";
	size_t size = strlen(name), end = sizeof packed - 1;

	if (ct_bin_stream_name_parse(name, size, out_id))
		return FILE_STREAM;
	if (size > end && strcmp(name + size - end, packed) == 0 &&
	    ct_bin_stream_name_parse(name, size - end, out_id))
		return FILE_PACKED;
	if (size > end && name[0] == '.' && strcmp(name + size - end, unfinished) == 0 &&
	    ct_bin_stream_name_parse(name + 1, size - 1 - end, out_id))
		return FILE_UNFINISHED;
	return 0;
}

static bool each_file(struct ct_bin_directory *directory, unsigned kinds, ct_bin_each_stream *each,
		      void *user)
{
	int fd = ct_os_high(openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	/* The number of a directory that was closed behind our back may be another directory's of
	 * ours. */
	DIR *stream =
		ct_os_is_file(fd, &directory->directory_id) ? ct_os_directory_stream(fd) : NULL;
	const struct dirent *entry;
	uint32_t id;

	if (stream == NULL) {
		ct_os_close(&fd);
		return false;
	}
	while ((entry = readdir(stream)) != NULL)
		if ((file_kind(entry->d_name, &id) & kinds) != 0)
			each(directory, entry->d_name, id, user);
	if (!ct_os_is_file(dirfd(stream), &directory->directory_id))
		return false; /* closed behind our back: the number is not ours to close */
	(void)closedir(stream);
	return true;
}

bool ct_bin_directory_each_stream(struct ct_bin_directory *directory, ct_bin_each_stream *each,
				  void *user)
{
	return each_file(directory, FILE_STREAM, each, user);
}

void ct_bin_stream_note(struct ct_bin_directory *directory, const char *name, uint32_t id,
			void *user)
{
	bool *found = user;

	(void)directory;
	(void)name;
	(void)id;
	*found = true;
}

void ct_bin_stream_remove(struct ct_bin_directory *directory, const char *name, uint32_t id,
			  void *user)
{
	(void)id;
	(void)user;
	if (ct_os_is_file(directory->fd, &directory->directory_id))
		(void)unlinkat(directory->fd, name, 0);
}

bool ct_bin_directory_remove_streams(struct ct_bin_directory *directory)
{
	return each_file(directory, FILE_STREAM | FILE_PACKED | FILE_UNFINISHED,
			 ct_bin_stream_remove, NULL);
}

/* Nobody goes on in such a directory. */
bool ct_bin_directory_is_packed(struct ct_bin_directory *directory)
{
	bool found = false;

	return each_file(directory, FILE_PACKED, ct_bin_stream_note, &found) && found;
}

/* ---- streams ---- */

static bool make_room(struct ct_bin_directory *directory, uint32_t id)
{
	uint32_t capacity = directory->stream_capacity != 0 ? directory->stream_capacity : 16;
	struct ct_bin_stream **streams;

	if (id < directory->stream_capacity)
		return true;
	while (capacity <= id)
		capacity *= 2;
	streams = reallocarray(directory->streams, capacity, sizeof(struct ct_bin_stream *));
	if (streams == NULL)
		return false;
	for (uint32_t i = directory->stream_capacity; i < capacity; i++)
		streams[i] = NULL;
	directory->streams = streams;
	directory->stream_capacity = capacity;
	return true;
}

enum ctrace_status ct_bin_stream_get(struct ct_bin_directory *directory, uint32_t id,
				     struct ct_bin_stream **out_stream)
{
	struct ct_bin_stream **place = &directory->lost;

	if (id != CT_BIN_LOST) {
		if (id >= CT_BIN_STREAM_LIMIT || !make_room(directory, id))
			return CTRACE_NOT_ENOUGH_MEMORY;
		place = &directory->streams[id];
	}
	if (*place == NULL) {
		*place = calloc(1, sizeof **place);
		if (*place == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		(*place)->id = id;
		(*place)->fd = -1;
		(*place)->cut_due = true;
		ct_buf_init(&(*place)->writer.packets);
	}
	*out_stream = *place;
	return CTRACE_OK;
}

static void stream_free(struct ct_bin_stream *stream)
{
	if (stream == NULL)
		return;
	ct_buf_fini(&stream->writer.packets);
	ct_os_close_file(&stream->fd, &stream->file_id);
	free(stream);
}

void ct_bin_streams_free(struct ct_bin_directory *directory)
{
	for (uint32_t id = 0; id < directory->stream_capacity; id++)
		stream_free(directory->streams[id]);
	stream_free(directory->lost);
	free(directory->streams);
	free(directory->bound);
	directory->streams = directory->bound = NULL;
	directory->stream_capacity = directory->bound_capacity = directory->open_count = 0;
	directory->lost = NULL;
}

/* Closes the file of the stream that was not used for longest. */
static void close_oldest(struct ct_bin_directory *directory)
{
	struct ct_bin_stream *oldest = NULL;

	for (uint32_t id = 0; id < directory->stream_capacity; id++) {
		struct ct_bin_stream *stream = directory->streams[id];

		if (stream != NULL && stream->fd >= 0 &&
		    (oldest == NULL || stream->used < oldest->used))
			oldest = stream;
	}
	if (oldest == NULL)
		return;
	ct_os_close_file(&oldest->fd, &oldest->file_id);
	if (oldest->writer.packets.size == 0)
		ct_buf_fini(&oldest->writer.packets);
	directory->open_count--;
}

static void stream_name(char out[24], uint32_t id)
{
	if (id == CT_BIN_LOST)
		(void)snprintf(out, 24, "stream.lost");
	else
		(void)snprintf(out, 24, "stream.%u", id);
}

/* Opens the stream's file unless its descriptor still is that file: to be called before each use.
 */
enum ctrace_status ct_bin_stream_open(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream)
{
	enum ct_os_identity identity = ct_os_identify(stream->fd, &stream->file_id);
	enum ctrace_status status;
	char name[24];

	if (identity != CT_OS_OTHER)
		return identity == CT_OS_SAME ? CTRACE_OK : CTRACE_OS_ERROR;
	if (stream->fd >= 0) {
		stream->fd = -1; /* closed behind our back; not ours any more */
		directory->open_count -= stream->id != CT_BIN_LOST;
	}
	if (directory->open_count >= CT_BIN_OPEN_LIMIT)
		close_oldest(directory);
	stream_name(name, stream->id);
	status = ct_os_open_known(directory->fd, name, O_RDWR | O_CREAT, &stream->fd,
				  &stream->file_id);
	if (status == CTRACE_OK && !ct_os_is_file(directory->fd, &directory->directory_id)) {
		/* The directory was closed behind our back: it may be another directory's stream.
		 */
		ct_os_close_file(&stream->fd, &stream->file_id);
		status = CTRACE_OS_ERROR;
	}
	if (status != CTRACE_OK)
		stream->fd = -1;
	else if (stream->id != CT_BIN_LOST)
		directory->open_count++;
	if (status == CTRACE_OK)
		ct_file_access_give(stream->fd, &directory->access);
	return status;
}

enum ctrace_status ct_bin_stream_cut(struct ct_bin_directory *directory,
				     struct ct_bin_stream *stream)
{
	enum ctrace_status status = ct_bin_stream_open(directory, stream);

	if (status == CTRACE_OK)
		status = ct_os_truncate(stream->fd, stream->offset);
	stream->cut_due = status != CTRACE_OK;
	return status;
}

/* ---- where a stream goes on ---- */

static void take_head(struct ct_bin_stream *stream, const struct ct_packet_head *head, uint64_t at)
{
	stream->sequence = head->sequence + 1;
	stream->events = head->events;
	stream->lost = stream->lost_base + head->discarded;
	stream->last_ns = head->end_ns;
	stream->last_at = at;
}

/* Reads the head of the last packet, which has the values that the next packet continues.  False
 * when at last_at there is no packet of this stream that ends at offset. */
static bool read_last_packet(const struct ct_bin_directory *directory, struct ct_bin_stream *stream)
{
	unsigned char bytes[CT_PACKET_HEAD];
	struct ct_packet_head head;
	size_t got;

	if (stream->last_at >= stream->offset ||
	    ct_os_read_at(stream->fd, bytes, sizeof bytes, stream->last_at, &got) != CTRACE_OK ||
	    ct_packet_decode_head(bytes, got, &head) != CTRACE_OK)
		return false;
	if (memcmp(head.uuid, directory->info.uuid, sizeof head.uuid) != 0 ||
	    head.stream_instance != stream->id ||
	    head.packet_bits / 8 != stream->offset - stream->last_at)
		return false;
	take_head(stream, &head, stream->last_at);
	return true;
}

/*
 * Finds the last packet in the last bytes of what counts: packets that follow each other up to
 * offset, or to one that was cut short. Anything else may be a text that looks like a packet.
 */
static bool find_last_packet(const struct ct_bin_directory *directory, struct ct_bin_stream *stream)
{
	uint64_t from = stream->offset > TAIL_SIZE ? stream->offset - TAIL_SIZE : 0;
	size_t size = (size_t)(stream->offset - from), at = 0, got = 0;
	unsigned char *bytes = malloc(size);
	bool is_found = false, is_whole = false;

	if (bytes == NULL || ct_os_read_at(stream->fd, bytes, size, from, &got) != CTRACE_OK ||
	    got < size)
		size = 0;
	at = size > 0 ? ct_packet_find(bytes, size, 0) : 0;
	while (at < size) {
		struct ct_packet_head head;
		bool is_head = ct_packet_decode_head(bytes + at, size - at, &head) == CTRACE_OK &&
			       memcmp(head.uuid, directory->info.uuid, sizeof head.uuid) == 0 &&
			       head.stream_instance == stream->id;

		if (is_head && head.packet_bits / 8 <= size - at) {
			take_head(stream, &head, from + at);
			is_found = true;
			at += head.packet_bits / 8;
			is_whole = at == size;
		} else if (is_found) {
			is_whole = is_head;
			break;
		} else {
			at = ct_packet_find(bytes, size, at + 1);
		}
	}
	if (is_whole)
		stream->offset = from + at;
	free(bytes);
	return is_whole;
}

/* Walks the packets that count, where nobody knows the last one.  Where they are not what they
 * should be, the stream ends. */
static enum ctrace_status walk_packets(struct ct_bin_stream *stream)
{
	unsigned char bytes[CT_PACKET_HEAD];
	uint64_t at = 0;

	while (at < stream->offset) {
		struct ct_packet_head head;
		size_t got;
		enum ctrace_status status =
			ct_os_read_at(stream->fd, bytes, sizeof bytes, at, &got);

		if (status != CTRACE_OK)
			return status;
		if (ct_packet_decode_head(bytes, got, &head) != CTRACE_OK ||
		    head.packet_bits / 8 > stream->offset - at)
			break;
		take_head(stream, &head, at);
		at += head.packet_bits / 8;
	}
	stream->offset = at;
	return CTRACE_OK;
}

/* offset: bytes that count; last_at: where the last packet of these begins, if that is known. */
enum ctrace_status ct_bin_stream_load(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream, uint64_t offset,
				      uint64_t last_at)
{
	enum ctrace_status status = CTRACE_OK;
	struct stat info;

	stream->last_at = last_at;
	if (offset > 0) {
		status = ct_bin_stream_open(directory, stream);
		if (status == CTRACE_OK)
			status = ct_os_stat(stream->fd, &info);
		if (status != CTRACE_OK)
			return status;
		stream->offset = offset < (uint64_t)info.st_size ? offset : (uint64_t)info.st_size;
		if (!read_last_packet(directory, stream) && !find_last_packet(directory, stream))
			status = walk_packets(stream);
		if (status == CTRACE_OK && !ct_os_is_file(stream->fd, &stream->file_id))
			/* closed behind our back: what was read may be of another file */
			status = CTRACE_OS_ERROR;
	} else {
		stream->offset = 0;
	}
	if (stream->lost < stream->lost_base)
		stream->lost = stream->lost_base;
	stream->is_loaded = status == CTRACE_OK;
	return status;
}

struct settling {
	bool cuts;
	enum ctrace_status status;
};

/* For a stream that had no events since the directory was opened.  The closing mark has how much
 * of it counts.  Without a mark all whole packets count: events that were not committed would
 * have come again by now. */
static void settle_stream(struct ct_bin_directory *directory, const char *name, uint32_t id,
			  void *user)
{
	struct settling *settling = user;
	struct ct_bin_stream *stream;
	enum ctrace_status status = ct_bin_stream_get(directory, id, &stream);

	(void)name;
	if (status == CTRACE_OK && !stream->is_loaded)
		status = ct_bin_stream_load(directory, stream,
					    stream->offset != 0 ? stream->offset : INT64_MAX,
					    stream->last_at);
	if (status == CTRACE_OK && settling->cuts && stream->cut_due)
		status = ct_bin_stream_cut(directory, stream);
	if (status != CTRACE_OK)
		settling->status = status;
}

enum ctrace_status ct_bin_settle(struct ct_bin_directory *directory, bool cuts)
{
	struct settling settling = { cuts, CTRACE_OK };

	if (!ct_bin_directory_each_stream(directory, settle_stream, &settling))
		return CTRACE_OS_ERROR;
	return settling.status == CTRACE_OK && cuts ? ct_bin_metadata_cut(directory)
						    : settling.status;
}

/* ---- durability ---- */

static enum ctrace_status sync_stream(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream)
{
	enum ctrace_status status;

	if (stream == NULL || !stream->sync_due)
		return CTRACE_OK;
	status = ct_bin_stream_open(directory, stream);
	if (status == CTRACE_OK)
		status = ct_os_sync(stream->fd);
	stream->sync_due = status != CTRACE_OK;
	return status;
}

enum ctrace_status ct_bin_sync(struct ct_bin_directory *directory)
{
	enum ctrace_status status = CTRACE_OK;

	if (directory->metadata_sync_due) {
		status = ct_os_sync(directory->metadata_fd);
		directory->metadata_sync_due = status != CTRACE_OK;
	}
	for (uint32_t id = 0; id < directory->stream_capacity && status == CTRACE_OK; id++)
		status = sync_stream(directory, directory->streams[id]);
	return status;
}
