/*
 * bin_stream.c - a batch in a BINFILE directory: the bytes of the rings, a packet's head before
 * each run, and one write a stream.
 *
 * Called by emit_bin.c on the thread that consumes.  The bytes for a stream are not copied, only
 * listed.  The metadata of new classes are written before the packets, so that no packet ever
 * refers to an unknown class.  When a write fails, everything is truncated; what cannot be
 * truncated now is truncated before the next write.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT_MEMORY ((size_t)256 << 10) /* of a stream's packets, between batches */
#define SEQUENCE_BITS 40
#define SEQUENCE_MASK (((uint64_t)1 << SEQUENCE_BITS) - 1)

/* -----------------------------------------------------------------------------------------------
 * Streams
 */

static uint64_t directory_tag(const struct ct_bin_directory *directory)
{
	const uint8_t *uuid = directory->info.uuid;

	return ((uint64_t)uuid[0] << 16 | (uint64_t)uuid[1] << 8 | uuid[2]) << SEQUENCE_BITS;
}

/* What comes next is behind what counts; lost: events of the stream by then. */
static void stream_begin_batch(const struct ct_bin_directory *directory,
			       struct ct_bin_stream *stream, uint64_t lost)
{
	stream->writer = (struct ct_packet_writer){
		.info = &directory->info,
		.stream = stream->id,
		.sequence = stream->sequence,
		.events = stream->events,
		.lost = lost - stream->lost_base,
		.reported = stream->lost - stream->lost_base,
		.last_ns = stream->last_ns,
		.packets = stream->writer.packets,
	};
	ct_buf_clear(&stream->writer.packets);
	stream->piece_count = stream->pending = 0;
	stream->is_touched = false;
}

/* Somebody has cut or removed a stream since its process died. */
static enum ctrace_status say_changed(struct ct_bin_directory *directory,
				      const struct ct_bin_stream *stream, uint64_t counts)
{
	struct ct_buf text;

	directory->was_changed = true;
	ct_buf_init(&text);
	ct_buf_add_format(&text, "%s/stream.%u", directory->path, (unsigned)stream->id);
	ct_file_say_missing(directory->context, ct_buf_text(&text), counts - stream->offset,
			    counts);
	ct_buf_fini(&text);
	return CTRACE_NOT_FOUND;
}

/* Finds the streams of the batch and their positions. */
static enum ctrace_status bind_streams(struct ct_bin_directory *directory,
				       const struct ctrace_batch *batch)
{
	directory->batch++;
	if (batch->stream_count > directory->bound_capacity) {
		struct ct_bin_stream **bound = reallocarray(directory->bound, batch->stream_count,
							    sizeof(struct ct_bin_stream *));

		if (bound == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		directory->bound = bound;
		directory->bound_capacity = batch->stream_count;
	}
	for (uint32_t i = 0; i < batch->stream_count; i++) {
		const struct ctrace_stream *given = &batch->streams[i];
		struct ct_bin_stream *stream;
		enum ctrace_status status = ct_bin_stream_get(directory, given->id, &stream);

		if (status != CTRACE_OK)
			return status;
		if (!stream->is_loaded) {
			bool is_here =
				(given->sequence & ~SEQUENCE_MASK) == directory_tag(directory);

			status = is_here ? ct_bin_stream_load(directory, stream, given->offset,
							      given->extra)
					 : ct_bin_stream_load(directory, stream, stream->offset,
							      stream->last_at);
			if (status != CTRACE_OK)
				return status;
			if (is_here && directory->is_recovered && stream->offset < given->offset)
				return say_changed(directory, stream, given->offset);
		}
		stream->used = directory->batch;
		stream_begin_batch(directory, stream,
				   given->lost > stream->lost ? given->lost : stream->lost);
		directory->bound[i] = stream;
	}
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Packets: the bytes of the rings, a head before each run
 */

enum ctrace_status ct_bin_take_classes(struct ct_schema *schema, const struct ctrace_batch *batch,
				       bool skips_damaged)
{
	const struct ct_class_image classes = { .bytes = batch->class_table,
						.size = batch->class_table_size };
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t i = 0; i < batch->class_count && status == CTRACE_OK; i++) {
		const struct ctrace_run_class *from = &batch->classes[i];
		const struct ctrace_definition *definition =
			batch->definitions != NULL ? ct_definition_or_null(&batch->definitions[i])
						   : NULL;

		status = ct_schema_take(schema, &classes, from->number, from->component,
					from->component_size, definition);
		if (skips_damaged && status == CTRACE_DAMAGED)
			status = CTRACE_OK;
	}
	return status;
}

/* Room for all that the batch can need: two heads for a run, as an empty packet may stand before
 * it. */
static bool packets_reserve(struct ct_bin_directory *directory, const struct ctrace_batch *batch)
{
	size_t heads = 2 * (size_t)batch->run_count, pieces = heads;

	for (uint32_t i = 0; i < batch->run_count; i++)
		pieces += batch->runs[i].piece_count;
	ct_buf_clear(&directory->heads);
	directory->piece_count = 0;
	if (pieces > directory->piece_capacity) {
		struct iovec *bigger = reallocarray(directory->pieces, pieces, sizeof *bigger);

		if (bigger == NULL)
			return false;
		directory->pieces = bigger;
		directory->piece_capacity = pieces;
	}
	return ct_buf_reserve(&directory->heads, heads * CT_PACKET_HEAD);
}

static void add_piece(struct ct_bin_directory *directory, struct ct_bin_stream *stream,
		      const void *data, size_t size)
{
	if (stream->piece_count == 0)
		stream->first_piece = directory->piece_count;
	directory->pieces[directory->piece_count++] =
		(struct iovec){ .iov_base = (void *)(uintptr_t)data, .iov_len = size };
	stream->piece_count++;
	stream->pending += size;
}

static void add_head(struct ct_bin_directory *directory, struct ct_bin_stream *stream,
		     const struct ct_packet_head *head)
{
	unsigned char *at = (unsigned char *)directory->heads.data + directory->heads.size;

	directory->heads.size += CT_PACKET_HEAD;
	ct_packet_head_put(at, head);
	stream->writer.packet_at = stream->pending;
	add_piece(directory, stream, at, CT_PACKET_HEAD);
}

/* In the times of the stream, which run on when the clock is set back. */
static void packet_date(struct ct_bin_directory *directory, const struct ct_bin_stream *stream,
			const struct ctrace_run *run, struct ct_packet_head *head)
{
	const struct ctrace_event first = { .time_ns = run->begin_ns, .clock = run->clock };
	uint64_t shift =
		ct_bin_clock_time(&directory->clock, &first, &directory->text) - run->begin_ns;

	head->begin_ticks = run->begin_ticks;
	head->end_ticks = run->end_ticks;
	head->begin_ns = ct_packet_time(run->begin_ns + shift, stream->writer.last_ns);
	head->end_ns = ct_packet_time(run->end_ns + shift, head->begin_ns);
}

static void add_run(struct ct_bin_directory *directory, struct ct_bin_stream *stream,
		    const struct ctrace_run *run)
{
	struct ct_packet_head head = { .pid = directory->info.pid, .tid = run->tid };

	packet_date(directory, stream, run, &head);
	head.content_bits = head.packet_bits = 8 * (uint32_t)(CT_PACKET_HEAD + run->size);
	while (!ct_packet_number(&stream->writer, &head, run->event_count)) {
		struct ct_packet_head empty = head;

		empty.end_ticks = empty.begin_ticks;
		empty.end_ns = empty.begin_ns;
		empty.content_bits = empty.packet_bits = 8 * CT_PACKET_HEAD;
		add_head(directory, stream, &empty);
	}
	add_head(directory, stream, &head);
	for (uint32_t i = 0; i < run->piece_count; i++)
		add_piece(directory, stream, run->pieces[i].data, run->pieces[i].size);
	stream->writer.last_ns = head.end_ns;
}

/* Rewrites events when texts are to become UTF-8, or when the directory's class numbers differ from
 * the process's. */
static enum ctrace_status packets_gather(struct ct_bin_directory *directory,
					 const struct ctrace_batch *batch)
{
	enum ctrace_status status = CTRACE_OK;

	directory->clock_before = directory->clock;
	ct_buf_clear(&directory->text);
	directory->converts |=
		directory->texts != NULL && directory->texts->encoding != CT_ENCODING_ASCII;
	if (!directory->converts)
		status = ct_bin_take_classes(directory->schema, batch, false);
	directory->converts |= status == CTRACE_DAMAGED;
	if (directory->converts)
		return ct_bin_convert(directory, batch);
	if (status != CTRACE_OK || !packets_reserve(directory, batch))
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < batch->run_count; i++)
		add_run(directory, directory->bound[batch->runs[i].stream], &batch->runs[i]);
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Writing
 */

static enum ctrace_status print_metadata(struct ct_bin_directory *directory)
{
	if (directory->converts && !directory->has_own_numbers)
		ct_buf_add_text(&directory->text, CT_BIN_MARK_OWN_NUMBERS CT_BIN_MARK_END);
	for (uint32_t i = directory->printed; i < ct_schema_count(directory->schema); i++) {
		const struct ct_class *class = ct_schema_at(directory->schema, i);

		if (directory->found == NULL ||
		    (directory->found[class->number / 8] & 1u << class->number % 8) == 0)
			ct_schema_print_class(&directory->text, class);
	}
	return directory->text.failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

/* A directory that holds no event yet takes at least one batch, however small the limit is, unless
 * the limit is strict. */
static bool directory_has_room(const struct ct_bin_directory *directory, uint32_t stream_count)
{
	uint64_t size = directory->size + directory->text.size;

	for (uint32_t i = 0; i < stream_count; i++)
		size += directory->bound[i]->pending;
	return directory->size_limit == 0 || size <= directory->size_limit ||
	       (!directory->limit_is_strict && directory->size <= directory->metadata_size);
}

static enum ctrace_status write_metadata(struct ct_bin_directory *directory)
{
	enum ctrace_status status = ct_bin_metadata_cut(directory);

	if (status != CTRACE_OK || directory->text.size == 0)
		return status;
	if (!ct_os_is_file(directory->metadata_fd, &directory->metadata_id))
		return CTRACE_OS_ERROR;
	directory->metadata_cut_due = true; /* until the batch is complete */
	status = ct_os_write_at(directory->metadata_fd, directory->text.data, directory->text.size,
				directory->metadata_size);
	return status == CTRACE_OK &&
			       !ct_os_is_file(directory->metadata_fd, &directory->metadata_id)
		       ? CTRACE_OS_ERROR
		       : status;
}

/* Returns true while the descriptor is the stream's file, and the file has a name.  One system
 * call. */
static bool stream_is_here(const struct ct_bin_stream *stream)
{
	struct stat info;

	return stream->fd >= 0 && ct_os_stat(stream->fd, &info) == CTRACE_OK &&
	       info.st_ino == stream->file_id.inode && info.st_dev == stream->file_id.device &&
	       info.st_nlink != 0;
}

/* Returns true when the files that the batch needs are there, but for the streams: each is checked
 * before it is written. */
static bool files_are_open(const struct ct_bin_directory *directory, uint32_t stream_count)
{
	if ((directory->text.size != 0 || directory->metadata_cut_due) &&
	    !ct_os_is_file(directory->metadata_fd, &directory->metadata_id))
		return false;
	for (uint32_t i = 0; i < stream_count; i++)
		if (directory->bound[i]->pending != 0 && directory->bound[i]->fd < 0)
			return false;
	return true;
}

static enum ctrace_status write_stream(struct ct_bin_directory *directory,
				       struct ct_bin_stream *stream)
{
	enum ctrace_status status = CTRACE_OK;

	if (stream->pending == 0)
		return CTRACE_OK;
	if (!stream_is_here(stream))
		status = directory->looks_late ? CTRACE_NOT_FOUND
					       : ct_bin_stream_open(directory, stream);
	if (status == CTRACE_OK && stream->cut_due)
		status = ct_bin_stream_cut(directory, stream);
	if (status != CTRACE_OK)
		return status;
	stream->is_touched = true;
	if (stream->piece_count != 0)
		return ct_os_write_pieces_at(stream->fd, directory->pieces + stream->first_piece,
					     stream->piece_count, stream->offset);
	return ct_os_write_at(stream->fd, stream->writer.packets.data, stream->writer.packets.size,
			      stream->offset);
}

static void commit_stream(struct ct_bin_directory *directory, struct ct_bin_stream *stream)
{
	if (stream->pending == 0)
		return;
	directory->size += stream->pending;
	directory->lost_reported += stream->lost_base + stream->writer.lost - stream->lost;
	stream->last_at = stream->offset + stream->writer.packet_at;
	stream->offset += stream->pending;
	stream->sequence = stream->writer.sequence;
	stream->events = stream->writer.events;
	stream->lost = stream->lost_base + stream->writer.lost;
	stream->last_ns = stream->writer.last_ns;
	stream->sync_due = true;
	stream->pending = 0;
	ct_buf_trim(&stream->writer.packets, stream->fd >= 0 ? KEPT_MEMORY : 0);
}

static void commit_metadata(struct ct_bin_directory *directory)
{
	directory->printed = ct_schema_count(directory->schema);
	if (directory->text.size == 0)
		return;
	directory->metadata_size += directory->text.size;
	directory->size += directory->text.size;
	directory->has_own_numbers = directory->converts;
	directory->metadata_cut_due = false;
	directory->metadata_sync_due = true;
}

/* Keeps errno, because the first failure is reported. */
static void batch_undo(struct ct_bin_directory *directory, uint32_t stream_count)
{
	int error = errno;

	directory->clock = directory->clock_before;
	for (uint32_t i = 0; i < stream_count; i++) {
		struct ct_bin_stream *stream = directory->bound[i];

		if (stream->is_touched)
			(void)!ct_bin_stream_cut(directory, stream);
		ct_buf_fini(&stream->writer.packets);
	}
	(void)!ct_bin_metadata_cut(directory);
	errno = error;
}

enum ctrace_status ct_bin_put_lost(struct ct_bin_directory *directory, struct ct_bin_stream *stream,
				   uint64_t total)
{
	enum ctrace_status status;

	stream_begin_batch(directory, stream, total);
	ct_packet_begin(&stream->writer, directory->info.pid, 0,
			ct_clock_wall_ns() + directory->clock.ahead_ns);
	ct_packet_end(&stream->writer);
	stream->pending = stream->writer.packets.size;
	status = stream->writer.packets.failed ? CTRACE_NOT_ENOUGH_MEMORY
					       : write_stream(directory, stream);
	if (status == CTRACE_OK)
		commit_stream(directory, stream);
	else
		(void)!ct_bin_stream_cut(directory, stream);
	return status;
}

enum ctrace_status ct_bin_write(struct ct_bin_directory *directory,
				const struct ctrace_batch *batch)
{
	enum ctrace_status status = bind_streams(directory, batch);
	uint64_t reported = 0;

	if (status != CTRACE_OK)
		return status;
	status = packets_gather(directory, batch);
	if (status == CTRACE_OK)
		status = print_metadata(directory);
	if (status == CTRACE_OK && !directory_has_room(directory, batch->stream_count))
		status = CTRACE_BUFFER_TOO_SMALL;
	if (status == CTRACE_OK && directory->looks_late &&
	    !files_are_open(directory, batch->stream_count))
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_OK)
		status = write_metadata(directory);
	for (uint32_t i = 0; i < batch->stream_count && status == CTRACE_OK; i++)
		status = write_stream(directory, directory->bound[i]);
	if (status != CTRACE_OK) {
		batch_undo(directory, batch->stream_count);
		return status;
	}
	commit_metadata(directory);
	for (uint32_t i = 0; i < batch->stream_count; i++) {
		struct ct_bin_stream *stream = directory->bound[i];

		reported += stream->pending != 0
				    ? stream->lost_base + stream->writer.lost - stream->lost
				    : 0;
		commit_stream(directory, stream);
		batch->streams[i].offset = stream->offset;
		batch->streams[i].extra = stream->last_at;
		batch->streams[i].sequence =
			directory_tag(directory) | (stream->sequence & SEQUENCE_MASK);
	}
	ct_bin_take_back_lost(directory, reported);
	return CTRACE_OK;
}
