/*
 * bin_stream.c - the streams of a BINFILE folder: a batch becomes packets, packets become one write a stream.
 *
 * Called by emit_bin.c on the thread that drains.  A batch is gathered in memory first; then the metadata of its new classes are written,
 * so that no packet ever refers to a class that a viewer cannot know, then the packets.  When any of that fails, everything is cut
 * back; what cannot be cut back now is before the next write.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/binfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MEMORY ((size_t)256 << 10)             /* of a stream's packets, between batches */
#define TAIL_SIZE ((uint64_t)4 * CT_PACKET_CONTENT) /* of a stream, to find its last packet in */
#define SEQUENCE_BITS 40
#define SEQUENCE_MASK (((uint64_t)1 << SEQUENCE_BITS) - 1)

/* ------------------------------------------------------------------------------------------------------------
 * Streams
 */

static bool make_room(struct ct_bin_folder *folder, uint32_t id)
{
	uint32_t capacity = folder->stream_capacity != 0 ? folder->stream_capacity : 16;
	struct ct_bin_stream **streams;

	if (id < folder->stream_capacity)
		return true;
	while (capacity <= id)
		capacity *= 2;
	streams = reallocarray(folder->streams, capacity, sizeof(struct ct_bin_stream *));
	if (streams == NULL)
		return false;
	for (uint32_t i = folder->stream_capacity; i < capacity; i++)
		streams[i] = NULL;
	folder->streams = streams;
	folder->stream_capacity = capacity;
	return true;
}

enum ctrace_status ct_bin_stream_get(struct ct_bin_folder *folder, uint32_t id, struct ct_bin_stream **out_stream)
{
	struct ct_bin_stream **place = &folder->lost;

	if (id != CT_BIN_LOST) {
		if (id >= CT_BIN_STREAM_LIMIT || !make_room(folder, id))
			return CTRACE_NOT_ENOUGH_MEMORY;
		place = &folder->streams[id];
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

void ct_bin_streams_free(struct ct_bin_folder *folder)
{
	for (uint32_t id = 0; id < folder->stream_capacity; id++)
		stream_free(folder->streams[id]);
	stream_free(folder->lost);
	free(folder->streams);
	free(folder->bound);
	folder->streams = folder->bound = NULL;
	folder->stream_capacity = folder->bound_capacity = folder->open_count = 0;
	folder->lost = NULL;
}

/* Closes the file of the stream that was not used for longest. */
static void close_oldest(struct ct_bin_folder *folder)
{
	struct ct_bin_stream *oldest = NULL;

	for (uint32_t id = 0; id < folder->stream_capacity; id++) {
		struct ct_bin_stream *stream = folder->streams[id];

		if (stream != NULL && stream->fd >= 0 && (oldest == NULL || stream->used < oldest->used))
			oldest = stream;
	}
	if (oldest == NULL)
		return;
	ct_os_close_file(&oldest->fd, &oldest->file_id);
	if (oldest->writer.packets.size == 0)
		ct_buf_fini(&oldest->writer.packets);
	folder->open_count--;
}

static void stream_name(char out[24], uint32_t id)
{
	if (id == CT_BIN_LOST)
		(void)snprintf(out, 24, "stream.lost");
	else
		(void)snprintf(out, 24, "stream.%u", id);
}

/* Opens the stream's file unless its descriptor still is that file: to be called before each use. */
static enum ctrace_status open_stream(struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	enum ct_os_identity identity = ct_os_identify(stream->fd, &stream->file_id);
	enum ctrace_status status;
	char name[24];

	if (identity != CT_OS_OTHER)
		return identity == CT_OS_SAME ? CTRACE_OK : CTRACE_OS_ERROR;
	if (stream->fd >= 0) {
		stream->fd = -1; /* closed behind our back; not ours any more */
		folder->open_count -= stream->id != CT_BIN_LOST;
	}
	if (folder->open_count >= CT_BIN_OPEN_LIMIT)
		close_oldest(folder);
	stream_name(name, stream->id);
	status = ct_os_open_known(folder->fd, name, O_RDWR | O_CREAT, &stream->fd, &stream->file_id);
	if (status == CTRACE_OK && !ct_os_is_file(folder->fd, &folder->folder_id)) {
		/* The folder was closed behind our back: it may be another folder's stream. */
		ct_os_close_file(&stream->fd, &stream->file_id);
		status = CTRACE_OS_ERROR;
	}
	if (status != CTRACE_OK)
		stream->fd = -1;
	else if (stream->id != CT_BIN_LOST)
		folder->open_count++;
	if (status == CTRACE_OK)
		ct_file_access_give(stream->fd, &folder->access);
	return status;
}

enum ctrace_status ct_bin_stream_cut(struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	enum ctrace_status status = open_stream(folder, stream);

	if (status == CTRACE_OK)
		status = ct_os_truncate(stream->fd, stream->offset);
	stream->cut_due = status != CTRACE_OK;
	return status;
}

static void take_head(struct ct_bin_stream *stream, const struct ct_packet_head *head, uint64_t at)
{
	stream->sequence = head->sequence + 1;
	stream->lost = stream->lost_base + head->discarded;
	stream->last_ns = head->end_ns;
	stream->last_at = at;
}

/* Reads the head of the last packet, which says what the next one has to follow.  False when at
 * last_at there is no packet of this stream that ends at offset. */
static bool read_last_packet(const struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	unsigned char bytes[CT_PACKET_HEAD];
	struct ct_packet_head head;
	size_t got, head_size;

	if (stream->last_at >= stream->offset || ct_os_read_at(stream->fd, bytes, sizeof bytes, stream->last_at, &got) != CTRACE_OK ||
	    ct_packet_decode_head(bytes, got, &head, &head_size) != CTRACE_OK)
		return false;
	if (memcmp(head.uuid, folder->info.uuid, sizeof head.uuid) != 0 || head.stream_instance != stream->id ||
	    head.packet_bits / 8 != stream->offset - stream->last_at)
		return false;
	take_head(stream, &head, stream->last_at);
	return true;
}

/*
 * Finds the last packet in the last bytes of what counts: packets that follow each other up to offset, or to one that was cut short.
 * Anything else may be a text that looks like a packet.
 */
static bool find_last_packet(const struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	uint64_t from = stream->offset > TAIL_SIZE ? stream->offset - TAIL_SIZE : 0;
	size_t size = (size_t)(stream->offset - from), at = 0, got = 0;
	unsigned char *bytes = malloc(size);
	bool is_found = false, is_whole = false;

	if (bytes == NULL || ct_os_read_at(stream->fd, bytes, size, from, &got) != CTRACE_OK || got < size)
		size = 0;
	at = size > 0 ? ct_packet_find(bytes, size, 0) : 0;
	while (at < size) {
		struct ct_packet_head head;
		size_t head_size;
		bool is_head = ct_packet_decode_head(bytes + at, size - at, &head, &head_size) == CTRACE_OK &&
			       memcmp(head.uuid, folder->info.uuid, sizeof head.uuid) == 0 && head.stream_instance == stream->id;

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

/* Walks the packets that count, where nobody knows the last one.  Where they are not what they should be, the stream ends. */
static enum ctrace_status walk_packets(struct ct_bin_stream *stream)
{
	unsigned char bytes[CT_PACKET_HEAD];
	uint64_t at = 0;

	while (at < stream->offset) {
		struct ct_packet_head head;
		size_t got, head_size;
		enum ctrace_status status = ct_os_read_at(stream->fd, bytes, sizeof bytes, at, &got);

		if (status != CTRACE_OK)
			return status;
		if (ct_packet_decode_head(bytes, got, &head, &head_size) != CTRACE_OK || head.packet_bits / 8 > stream->offset - at)
			break;
		take_head(stream, &head, at);
		at += head.packet_bits / 8;
	}
	stream->offset = at;
	return CTRACE_OK;
}

/* offset: bytes that count; last_at: where the last packet of these begins, if that is known. */
static enum ctrace_status load_stream(struct ct_bin_folder *folder, struct ct_bin_stream *stream, uint64_t offset, uint64_t last_at)
{
	enum ctrace_status status = CTRACE_OK;
	struct stat info;

	stream->last_at = last_at;
	if (offset > 0) {
		status = open_stream(folder, stream);
		if (status == CTRACE_OK)
			status = ct_os_stat(stream->fd, &info);
		if (status != CTRACE_OK)
			return status;
		stream->offset = offset < (uint64_t)info.st_size ? offset : (uint64_t)info.st_size;
		if (!read_last_packet(folder, stream) && !find_last_packet(folder, stream))
			status = walk_packets(stream);
		if (status == CTRACE_OK && !ct_os_is_file(stream->fd, &stream->file_id))
			status = CTRACE_OS_ERROR; /* closed behind our back: what was read may be of another file */
	} else {
		stream->offset = 0;
	}
	if (stream->lost < stream->lost_base)
		stream->lost = stream->lost_base;
	stream->is_loaded = status == CTRACE_OK;
	return status;
}

static uint64_t folder_tag(const struct ct_bin_folder *folder)
{
	const uint8_t *uuid = folder->info.uuid;

	return ((uint64_t)uuid[0] << 16 | (uint64_t)uuid[1] << 8 | uuid[2]) << SEQUENCE_BITS;
}

/* What comes next is behind what counts; lost: events of the stream by then. */
static void begin_batch(const struct ct_bin_folder *folder, struct ct_bin_stream *stream, uint64_t lost)
{
	stream->writer = (struct ct_packet_writer){
		.info = &folder->info,
		.stream = stream->id,
		.sequence = stream->sequence,
		.lost = lost - stream->lost_base,
		.told = stream->lost - stream->lost_base,
		.last_ns = stream->last_ns,
		.packets = stream->writer.packets,
	};
	ct_buf_clear(&stream->writer.packets);
	stream->piece_count = stream->pending = 0;
	stream->is_touched = false;
}

/* Finds the streams of the batch and where they stand. */
static enum ctrace_status bind_streams(struct ct_bin_folder *folder, const struct ctrace_batch *batch)
{
	folder->batch++;
	if (batch->stream_count > folder->bound_capacity) {
		struct ct_bin_stream **bound = reallocarray(folder->bound, batch->stream_count, sizeof(struct ct_bin_stream *));

		if (bound == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		folder->bound = bound;
		folder->bound_capacity = batch->stream_count;
	}
	for (uint32_t i = 0; i < batch->stream_count; i++) {
		const struct ctrace_stream *given = &batch->streams[i];
		struct ct_bin_stream *stream;
		enum ctrace_status status = ct_bin_stream_get(folder, given->id, &stream);

		if (status != CTRACE_OK)
			return status;
		if (!stream->is_loaded) {
			bool is_here = (given->sequence & ~SEQUENCE_MASK) == folder_tag(folder);

			status = is_here ? load_stream(folder, stream, given->offset, given->extra)
					 : load_stream(folder, stream, stream->offset, stream->last_at);
			if (status != CTRACE_OK)
				return status;
		}
		stream->used = folder->batch;
		begin_batch(folder, stream, given->lost > stream->lost ? given->lost : stream->lost);
		folder->bound[i] = stream;
	}
	return CTRACE_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * Packets
 */

void ct_bin_add_event(struct ct_bin_folder *folder, const struct ctrace_event *event)
{
	struct ctrace_event moved = *ct_bin_text_convert(folder->texts, event);

	moved.time_ns = ct_bin_clock_time(&folder->clock, event);
	ct_packet_write(&folder->bound[event->stream]->writer, ct_schema_class(folder->schema, &moved), &moved);
}

static enum ctrace_status gather(struct ct_bin_folder *folder, const struct ctrace_batch *batch)
{
	enum ctrace_status status;

	ct_bin_clock_begin(&folder->clock);
	status = ct_bin_runs_gather(folder, batch);
	for (uint32_t i = 0; i < batch->stream_count && status == CTRACE_OK; i++) {
		struct ct_bin_stream *stream = folder->bound[i];

		ct_packet_end(&stream->writer);
		stream->pending += stream->writer.packets.size;
		if (stream->writer.packets.failed)
			status = CTRACE_NOT_ENOUGH_MEMORY;
	}
	return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Writing
 */

static enum ctrace_status print_metadata(struct ct_bin_folder *folder)
{
	ct_buf_clear(&folder->text);
	ct_bin_clock_print(&folder->clock, &folder->text);
	if (folder->converts && !folder->has_own_numbers)
		ct_buf_add_text(&folder->text, CT_BIN_MARK_OWN_NUMBERS CT_BIN_MARK_END);
	for (uint32_t i = folder->printed; i < ct_schema_count(folder->schema); i++) {
		const struct ct_class *class = ct_schema_at(folder->schema, i);

		if (folder->found == NULL || (folder->found[class->number / 8] & 1u << class->number % 8) == 0)
			ct_schema_print_class(&folder->text, class);
	}
	return folder->text.failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

/* A folder that holds no event yet takes at least one batch, however small the limit is. */
static bool has_room(const struct ct_bin_folder *folder, uint32_t stream_count)
{
	uint64_t size = folder->size + folder->text.size;

	for (uint32_t i = 0; i < stream_count; i++)
		size += folder->bound[i]->pending;
	return folder->size_limit == 0 || size <= folder->size_limit || folder->size <= folder->metadata_size;
}

static enum ctrace_status write_metadata(struct ct_bin_folder *folder)
{
	enum ctrace_status status;

	if ((folder->metadata_cut_due || folder->text.size != 0) && !ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
		return CTRACE_OS_ERROR;
	if (folder->metadata_cut_due) {
		status = ct_os_truncate(folder->metadata_fd, folder->metadata_size);
		if (status != CTRACE_OK)
			return status;
		folder->metadata_cut_due = false;
	}
	if (folder->text.size == 0)
		return CTRACE_OK;
	folder->metadata_cut_due = true; /* until the batch is complete */
	status = ct_os_write_at(folder->metadata_fd, folder->text.data, folder->text.size, folder->metadata_size);
	return status == CTRACE_OK && !ct_os_is_file(folder->metadata_fd, &folder->metadata_id) ? CTRACE_OS_ERROR : status;
}

static enum ctrace_status write_stream(struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	enum ctrace_status status;

	if (stream->pending == 0)
		return CTRACE_OK;
	status = open_stream(folder, stream);
	if (status == CTRACE_OK && stream->cut_due)
		status = ct_bin_stream_cut(folder, stream);
	if (status != CTRACE_OK)
		return status;
	stream->is_touched = true;
	if (stream->piece_count != 0)
		status = ct_os_write_pieces_at(stream->fd, folder->pieces + stream->first_piece, stream->piece_count, stream->offset);
	else
		status = ct_os_write_at(stream->fd, stream->writer.packets.data, stream->writer.packets.size, stream->offset);
	/* The program may have closed it since it was looked at. */
	return status == CTRACE_OK && !ct_os_is_file(stream->fd, &stream->file_id) ? CTRACE_OS_ERROR : status;
}

static void commit_stream(struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	if (stream->pending == 0)
		return;
	folder->size += stream->pending;
	folder->lost_told += stream->lost_base + stream->writer.lost - stream->lost;
	stream->last_at = stream->offset + stream->writer.packet_at;
	stream->offset += stream->pending;
	stream->sequence = stream->writer.sequence;
	stream->lost = stream->lost_base + stream->writer.lost;
	stream->last_ns = stream->writer.last_ns;
	stream->sync_due = true;
	stream->pending = 0;
	ct_buf_trim(&stream->writer.packets, stream->fd >= 0 ? KEPT_MEMORY : 0);
}

static void commit_metadata(struct ct_bin_folder *folder)
{
	folder->printed = ct_schema_count(folder->schema);
	if (folder->text.size == 0)
		return;
	folder->metadata_size += folder->text.size;
	folder->size += folder->text.size;
	folder->has_own_numbers = folder->converts;
	folder->metadata_cut_due = false;
	folder->metadata_sync_due = true;
}

/* The first failure is the one to be told of: errno is kept. */
static void undo(struct ct_bin_folder *folder, uint32_t stream_count)
{
	int error = errno;

	ct_bin_clock_undo(&folder->clock);
	for (uint32_t i = 0; i < stream_count; i++) {
		struct ct_bin_stream *stream = folder->bound[i];

		if (stream->is_touched)
			(void)!ct_bin_stream_cut(folder, stream);
		ct_buf_fini(&stream->writer.packets);
	}
	if (folder->metadata_cut_due && ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
		folder->metadata_cut_due = ct_os_truncate(folder->metadata_fd, folder->metadata_size) != CTRACE_OK;
	errno = error;
}

/* Appends a packet to stream.lost, so that its total becomes `total`. */
static enum ctrace_status put_lost(struct ct_bin_folder *folder, struct ct_bin_stream *stream, uint64_t total)
{
	enum ctrace_status status;

	begin_batch(folder, stream, total);
	ct_packet_begin(&stream->writer, folder->info.pid, 0, ct_clock_wall_ns() + folder->clock.ahead_ns);
	ct_packet_end(&stream->writer);
	stream->pending = stream->writer.packets.size;
	status = stream->writer.packets.failed ? CTRACE_NOT_ENOUGH_MEMORY : write_stream(folder, stream);
	if (status == CTRACE_OK)
		commit_stream(folder, stream);
	else
		(void)!ct_bin_stream_cut(folder, stream);
	return status;
}

/* stream.lost of an earlier end of this folder; NULL when there is none. */
static struct ct_bin_stream *find_lost(struct ct_bin_folder *folder)
{
	struct ct_bin_stream *stream;
	struct stat info;

	if (folder->lost == NULL && fstatat(folder->fd, "stream.lost", &info, AT_SYMLINK_NOFOLLOW) != 0)
		return NULL;
	if (ct_bin_stream_get(folder, CT_BIN_LOST, &stream) != CTRACE_OK)
		return NULL;
	if (!stream->is_loaded && load_stream(folder, stream, INT64_MAX, 0) != CTRACE_OK)
		return NULL;
	return stream;
}

/* stream.lost reported losses when the folder was closed before, and the packets of this batch
 * report them again: stream.lost takes them back. */
static void take_back_lost(struct ct_bin_folder *folder, uint64_t told)
{
	struct ct_bin_stream *stream = told != 0 ? find_lost(folder) : NULL;
	uint64_t total;

	if (stream == NULL || stream->lost <= stream->lost_base)
		return;
	total = stream->lost - stream->lost_base > told ? stream->lost - told : stream->lost_base;
	stream->offset = stream->sequence = 0;
	folder->lost_told -= stream->lost - stream->lost_base;
	stream->lost = stream->lost_base;
	if (ct_bin_stream_cut(folder, stream) == CTRACE_OK && total > stream->lost_base)
		(void)!put_lost(folder, stream, total);
}

void ct_bin_take_back_lost(struct ct_bin_folder *folder)
{
	take_back_lost(folder, UINT64_MAX);
}

enum ctrace_status ct_bin_write(struct ct_bin_folder *folder, const struct ctrace_batch *batch)
{
	enum ctrace_status status = bind_streams(folder, batch);
	uint64_t told = 0;

	if (status != CTRACE_OK)
		return status;
	status = gather(folder, batch);
	if (status == CTRACE_OK)
		status = print_metadata(folder);
	if (status == CTRACE_OK && !has_room(folder, batch->stream_count))
		status = CTRACE_BUFFER_TOO_SMALL;
	if (status == CTRACE_OK)
		status = write_metadata(folder);
	for (uint32_t i = 0; i < batch->stream_count && status == CTRACE_OK; i++)
		status = write_stream(folder, folder->bound[i]);
	if (status != CTRACE_OK) {
		undo(folder, batch->stream_count);
		return status;
	}
	commit_metadata(folder);
	for (uint32_t i = 0; i < batch->stream_count; i++) {
		struct ct_bin_stream *stream = folder->bound[i];

		told += stream->pending != 0 ? stream->lost_base + stream->writer.lost - stream->lost : 0;
		commit_stream(folder, stream);
		batch->streams[i].offset = stream->offset;
		batch->streams[i].extra = stream->last_at;
		batch->streams[i].sequence = folder_tag(folder) | (stream->sequence & SEQUENCE_MASK);
	}
	take_back_lost(folder, told);
	return CTRACE_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * Losses of nobody's, durability
 */

struct settling {
	bool cuts;
	enum ctrace_status status;
};

/* For a stream that had no events since the folder was opened.  The closing mark says how much
 * of it counts.  Without a mark all whole packets count: events that were not committed would
 * have come again by now. */
static void settle_stream(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user)
{
	struct settling *settling = user;
	struct ct_bin_stream *stream;
	enum ctrace_status status = ct_bin_stream_get(folder, id, &stream);

	(void)name;
	if (status == CTRACE_OK && !stream->is_loaded)
		status = load_stream(folder, stream, stream->offset != 0 ? stream->offset : INT64_MAX, stream->last_at);
	if (status == CTRACE_OK && settling->cuts && stream->cut_due)
		status = ct_bin_stream_cut(folder, stream);
	if (status != CTRACE_OK)
		settling->status = status;
}

enum ctrace_status ct_bin_settle(struct ct_bin_folder *folder)
{
	struct settling settling = { .cuts = true, .status = CTRACE_OK };

	if (!ct_bin_folder_each_stream(folder, settle_stream, &settling))
		return CTRACE_OS_ERROR;
	if (settling.status == CTRACE_OK && folder->metadata_cut_due) {
		if (!ct_os_is_file(folder->metadata_fd, &folder->metadata_id))
			return CTRACE_OS_ERROR;
		settling.status = ct_os_truncate(folder->metadata_fd, folder->metadata_size);
		folder->metadata_cut_due = settling.status != CTRACE_OK;
	}
	return settling.status;
}

enum ctrace_status ct_bin_settle_lost(struct ct_bin_folder *folder)
{
	struct settling settling = { .cuts = true, .status = CTRACE_OK };
	struct stat info;

	if (fstatat(folder->fd, "stream.lost", &info, AT_SYMLINK_NOFOLLOW) == 0)
		settle_stream(folder, "stream.lost", CT_BIN_LOST, &settling);
	return settling.status;
}

static uint64_t stream_lost(const struct ct_bin_stream *stream)
{
	if (stream == NULL)
		return 0;
	return stream->lost > stream->lost_base ? stream->lost : stream->lost_base;
}

static uint64_t count_lost(const struct ct_bin_folder *folder)
{
	uint64_t total = stream_lost(folder->lost);

	for (uint32_t id = 0; id < folder->stream_capacity; id++)
		total += stream_lost(folder->streams[id]);
	return total;
}

enum ctrace_status ct_bin_write_lost(struct ct_bin_folder *folder, uint64_t total)
{
	struct settling looking = { .cuts = false, .status = CTRACE_OK };
	struct ct_bin_stream *stream;
	enum ctrace_status status;
	uint64_t known;

	(void)ct_bin_folder_each_stream(folder, settle_stream, &looking);
	known = count_lost(folder);
	if (total <= known)
		return CTRACE_OK;
	status = ct_bin_stream_get(folder, CT_BIN_LOST, &stream);
	if (status == CTRACE_OK && !stream->is_loaded)
		status = load_stream(folder, stream, 0, 0);
	return status == CTRACE_OK ? put_lost(folder, stream, stream->lost + (total - known)) : status;
}

void ct_bin_report_lost(struct ct_bin_folder *folder, uint64_t total, struct ctrace_place *place)
{
	if (ct_bin_write_lost(folder, total) == CTRACE_OK && place->lost < total)
		place->lost = total;
}

static enum ctrace_status sync_stream(struct ct_bin_folder *folder, struct ct_bin_stream *stream)
{
	enum ctrace_status status;

	if (stream == NULL || !stream->sync_due)
		return CTRACE_OK;
	status = open_stream(folder, stream);
	if (status == CTRACE_OK)
		status = ct_os_sync(stream->fd);
	stream->sync_due = status != CTRACE_OK;
	return status;
}

enum ctrace_status ct_bin_sync(struct ct_bin_folder *folder)
{
	enum ctrace_status status = CTRACE_OK;

	if (folder->metadata_sync_due) {
		status = ct_os_sync(folder->metadata_fd);
		folder->metadata_sync_due = status != CTRACE_OK;
	}
	for (uint32_t id = 0; id < folder->stream_capacity && status == CTRACE_OK; id++)
		status = sync_stream(folder, folder->streams[id]);
	return status;
}
