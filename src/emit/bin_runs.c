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

/* DAMAGED: the class cannot have its number here. */
static enum ctrace_status take_class(struct ct_schema *schema, const struct ctrace_batch *batch, uint32_t index)
{
	const struct ct_class_view classes = { .bytes = batch->class_table, .size = batch->class_table_size };
	const struct ctrace_run_class *from = &batch->classes[index];

	return ct_schema_take(schema, &classes, from->number, from->component, from->component_size);
}

/* The classes of the batch.  DAMAGED: one of them cannot have its number here. */
static enum ctrace_status take_classes(struct ct_schema *schema, const struct ctrace_batch *batch)
{
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t i = 0; i < batch->class_count && status == CTRACE_OK; i++)
		status = take_class(schema, batch, i);
	return status;
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

static void add_head(struct ct_bin_folder *folder, struct ct_bin_stream *stream, const struct ct_packet_head *head)
{
	unsigned char *at = folder->heads + folder->head_count++ * CT_PACKET_HEAD;

	ct_packet_head_put(at, head);
	stream->writer.packet_at = stream->pending;
	add_piece(folder, stream, at, CT_PACKET_HEAD);
}

/* In the times of the stream, which run on when the clock is set back. */
static void date(struct ct_bin_folder *folder, const struct ct_bin_stream *stream, const struct ctrace_run *run,
		 struct ct_packet_head *head)
{
	const struct ctrace_event first = { .time_ns = run->begin_ns, .clock = run->clock };
	uint64_t shift = ct_bin_clock_time(&folder->clock, &first) - run->begin_ns;

	head->begin_ticks = run->begin_ticks;
	head->end_ticks = run->end_ticks;
	head->begin_ns = ct_packet_time(run->begin_ns + shift, stream->writer.last_ns);
	head->end_ns = ct_packet_time(run->end_ns + shift, head->begin_ns);
}

static void add_run(struct ct_bin_folder *folder, struct ct_bin_stream *stream, const struct ctrace_run *run)
{
	struct ct_packet_head head = { .pid = folder->info.pid, .tid = run->tid };

	date(folder, stream, run, &head);
	head.content_bits = head.packet_bits = 8 * (uint64_t)(CT_PACKET_HEAD + run->size);
	while (!ct_packet_number(&stream->writer, &head)) {
		struct ct_packet_head empty = head;

		empty.end_ticks = empty.begin_ticks;
		empty.end_ns = empty.begin_ns;
		empty.content_bits = empty.packet_bits = 8 * CT_PACKET_HEAD;
		add_head(folder, stream, &empty);
	}
	add_head(folder, stream, &head);
	for (uint32_t i = 0; i < run->piece_count; i++)
		add_piece(folder, stream, run->pieces[i].data, run->pieces[i].size);
	stream->writer.last_ns = head.end_ns;
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
		if ((status = take_class(folder->source, batch, i)) == CTRACE_DAMAGED)
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
		status = take_classes(folder->schema, batch);
	folder->converts |= status == CTRACE_DAMAGED;
	if (folder->converts)
		return convert(folder, batch);
	if (status != CTRACE_OK || !reserve(folder, batch))
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < batch->run_count; i++)
		add_run(folder, folder->bound[batch->runs[i].stream], &batch->runs[i]);
	return CTRACE_OK;
}
