/*
 * bin_runs.c - the events of a batch for the streams of a BINFILE folder: the bytes of the rings, a packet's head before each run.
 *
 * Called by bin_stream.c on the thread that drains.  What goes into a stream is not copied: only where it stands is put down.  Where the
 * bytes of the ring cannot be those of the file, because texts are to become UTF-8 or because the folder has other classes by the
 * numbers of the process's, the events are decoded and written anew.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/binfile.h"

#include <stdlib.h>
#include <string.h>

/* ---- as they are ---- */

/* False: the class cannot have its number here. */
static bool take_class(struct ct_schema *schema, const struct ctrace_batch *batch, uint32_t index, enum ctrace_status *out_status)
{
	const struct ct_class_view classes = { .bytes = batch->class_table, .size = batch->class_table_size };
	const struct ctrace_run_class *from = &batch->classes[index];
	const struct ct_class *class;

	*out_status = ct_schema_take(schema, &classes, from->number, from->component, from->component_size, &class);
	return *out_status != CTRACE_DAMAGED;
}

/* The classes of the batch.  False: one of them cannot have its number here. */
static bool take_classes(struct ct_schema *schema, const struct ctrace_batch *batch, enum ctrace_status *out_status)
{
	bool are_taken = true;

	*out_status = CTRACE_OK;
	for (uint32_t i = 0; i < batch->class_count && *out_status == CTRACE_OK; i++)
		are_taken = take_class(schema, batch, i, out_status);
	return are_taken;
}

/* Room for all that the batch can need: two heads for a run, as an empty packet may stand before it. */
static bool reserve(struct ct_bin_folder *folder, const struct ctrace_batch *batch)
{
	size_t heads = 2 * (size_t)batch->run_count, pieces = heads;

	for (uint32_t i = 0; i < batch->run_count; i++)
		pieces += batch->runs[i].piece_count;
	if (heads > folder->head_capacity) {
		void *bigger = reallocarray(folder->heads, heads, CT_PACKET_HEAD);

		if (bigger == NULL)
			return false;
		folder->heads = bigger;
		folder->head_capacity = heads;
	}
	if (pieces > folder->piece_capacity) {
		struct iovec *bigger = reallocarray(folder->pieces, pieces, sizeof *bigger);

		if (bigger == NULL)
			return false;
		folder->pieces = bigger;
		folder->piece_capacity = pieces;
	}
	folder->head_count = folder->piece_count = 0;
	return true;
}

static void add_piece(struct ct_bin_folder *folder, struct ct_bin_stream *stream, const void *data, size_t size)
{
	if (stream->piece_count == 0)
		stream->first_piece = folder->piece_count;
	folder->pieces[folder->piece_count++] = (struct iovec){ .iov_base = (void *)(uintptr_t)data, .iov_len = size };
	stream->piece_count++;
	stream->pending += size;
}

static void add_head(struct ct_bin_folder *folder, struct ct_bin_stream *stream, struct ct_packet_head *head, uint64_t lost)
{
	unsigned char *at = folder->heads + folder->head_count++ * CT_PACKET_HEAD;

	memcpy(head->uuid, folder->info.uuid, sizeof head->uuid);
	head->stream_instance = stream->id;
	head->pid = folder->info.pid;
	head->sequence = stream->next_sequence++;
	head->discarded = lost - stream->lost_base;
	head->packet_bits = head->content_bits;
	ct_packet_head_put(at, head);
	stream->packet_at = stream->pending;
	add_piece(folder, stream, at, CT_PACKET_HEAD);
}

/* In the times of the stream, which run on when the clock is set back. */
static void date(struct ct_bin_folder *folder, const struct ct_bin_stream *stream, const struct ctrace_run *run,
		 struct ct_packet_head *head)
{
	const struct ctrace_event first = { .time_ns = run->begin_ns, .clock = run->clock };
	uint64_t shift = ct_bin_clock_time(&folder->clock, &first) - run->begin_ns;
	const struct ctrace_event begin = { .time_ns = run->begin_ns + shift }, end = { .time_ns = run->end_ns + shift };

	head->begin_ticks = run->begin_ticks;
	head->end_ticks = run->end_ticks;
	head->begin_ns = ct_packet_time(&begin, stream->previous_ns);
	head->end_ns = ct_packet_time(&end, head->begin_ns);
}

static void add_run(struct ct_bin_folder *folder, struct ct_bin_stream *stream, const struct ctrace_run *run)
{
	struct ct_packet_head head = { .tid = run->tid };

	date(folder, stream, run, &head);
	/* A viewer counts losses between packets: when some come before the first one of a file, an empty one comes before them. */
	if (stream->offset == 0 && stream->pending == 0 && stream->next_lost != stream->lost) {
		struct ct_packet_head empty = head;

		empty.end_ticks = empty.begin_ticks;
		empty.end_ns = empty.begin_ns;
		empty.content_bits = 8 * CT_PACKET_HEAD;
		add_head(folder, stream, &empty, stream->lost);
	}
	head.content_bits = 8 * (uint64_t)(CT_PACKET_HEAD + run->size);
	add_head(folder, stream, &head, stream->next_lost);
	for (uint32_t i = 0; i < run->piece_count; i++)
		add_piece(folder, stream, run->pieces[i].data, run->pieces[i].size);
	stream->previous_ns = head.end_ns;
}

/* ---- written anew ---- */

/* False without memory. */
static bool convert_run(struct ct_bin_folder *folder, const struct ctrace_run *run)
{
	const struct ct_packet_head head = { .tid = run->tid,
					     .begin_ticks = run->begin_ticks,
					     .end_ticks = run->end_ticks,
					     .begin_ns = run->begin_ns,
					     .end_ns = run->end_ns };
	const struct ct_class_view classes = ct_schema_view(folder->source);
	struct ct_packet_clock clock = ct_packet_clock_start(&head);
	struct ctrace_event_item *items = folder->items;
	struct ct_event event;

	ct_buf_clear(&folder->scratch);
	for (uint32_t i = 0; i < run->piece_count; i++)
		ct_buf_add(&folder->scratch, run->pieces[i].data, run->pieces[i].size);
	if (folder->scratch.failed)
		return false;
	for (size_t at = 0; at < folder->scratch.size; at += event.size) {
		const struct ct_class *class;
		struct ctrace_event out = { .pid = folder->info.pid, .tid = run->tid, .stream = run->stream, .clock = run->clock };

		/* Who owns the ring may have written there since it was looked at. */
		if (ct_event_decode(&classes, (const unsigned char *)folder->scratch.data + at, folder->scratch.size - at, &clock.state,
				    &event) != CTRACE_OK)
			break;
		class = ct_schema_find(folder->source, event.number);
		if (event.is_mark || class == NULL)
			break;
		out.component = event.number == CT_CLASS_ANY ? event.component : class->component;
		out.component_size = (uint32_t)(event.number == CT_CLASS_ANY ? event.component_size : strlen(class->component));
		out.event_id = event.head.event_id;
		out.level = event.head.level;
		out.time_ns = ct_packet_clock_time(&clock);
		out.items = items;
		out.item_count = event.item_count;
		ct_event_items(&event, items);
		ct_bin_add_event(folder, &out);
	}
	return true;
}

static enum ctrace_status convert(struct ct_bin_folder *folder, const struct ctrace_batch *batch)
{
	enum ctrace_status status = CTRACE_OK;

	if (folder->items == NULL)
		folder->items = calloc(CTRACE_MAX_ITEMS, sizeof *folder->items);
	if (folder->items == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (folder->source == NULL)
		status = ct_schema_create(&folder->source);
	/* Events of a class that is none cannot be read; all others can. */
	for (uint32_t i = 0; i < batch->class_count && status == CTRACE_OK; i++)
		if (!take_class(folder->source, batch, i, &status))
			status = CTRACE_OK;
	for (uint32_t i = 0; i < batch->run_count && status == CTRACE_OK; i++)
		if (!convert_run(folder, &batch->runs[i]))
			status = CTRACE_NOT_ENOUGH_MEMORY;
	return status;
}

enum ctrace_status ct_bin_runs_gather(struct ct_bin_folder *folder, const struct ctrace_batch *batch)
{
	enum ctrace_status status = CTRACE_OK;

	folder->converts |= folder->texts != NULL && folder->texts->encoding != CT_ENCODING_ASCII;
	if (!folder->converts)
		folder->converts = !take_classes(folder->schema, batch, &status);
	if (folder->converts)
		return convert(folder, batch);
	if (status != CTRACE_OK || !reserve(folder, batch))
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < batch->run_count; i++)
		add_run(folder, folder->bound[batch->runs[i].stream], &batch->runs[i]);
	return CTRACE_OK;
}
