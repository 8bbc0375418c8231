/*
 * bin_convert.c - rewrites events of a BINFILE where the file cannot have the bytes of the ring.
 *
 * Called by bin_stream.c on the thread that consumes: for a directory whose ENCODING is set, and
 * for one whose class numbers differ from the process's.  Viewers know no EBCDIC, and a trace is
 * read on other machines than it was made on: so the trace has characters, and says UTF-8 of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MEMORY ((size_t)1 << 20)

static bool items_have_room(struct ct_bin_text *text, const struct ctrace_event *event)
{
	size_t size = 0;

	if (event->item_count > text->capacity) {
		struct ctrace_event_item *items =
			reallocarray(text->items, event->item_count, sizeof *items);

		if (items == NULL)
			return false;
		text->items = items;
		text->capacity = event->item_count;
	}
	for (uint32_t i = 0; i < event->item_count; i++)
		if (event->items[i].type == CTRACE_TYPE_TEXT)
			size += event->items[i].size;
	/* All at once: the items point into it. */
	ct_buf_trim(&text->bytes, KEPT_MEMORY);
	return size == 0 || ct_buf_reserve(&text->bytes, 3 * size);
}

/* An item that would exceed the maximum length stays as it is. */
static void convert_item(struct ct_bin_text *text, struct ctrace_event_item *item)
{
	size_t before = text->bytes.size;

	ct_encoding_add(&text->bytes, text->encoding, item->data, item->size);
	if (text->bytes.size - before > CTRACE_MAX_ITEM_SIZE) {
		text->bytes.size = before;
		return;
	}
	item->type = CTRACE_TYPE_UTF8;
	item->data = text->bytes.data + before;
	item->size = (uint32_t)(text->bytes.size - before);
}

const struct ctrace_event *ct_bin_text_convert(struct ct_bin_text *text,
					       const struct ctrace_event *event)
{
	if (text == NULL || text->encoding == CT_ENCODING_ASCII || !items_have_room(text, event) ||
	    text->bytes.data == NULL)
		return event;
	text->event = *event;
	if (event->item_count != 0)
		memcpy(text->items, event->items, event->item_count * sizeof *text->items);
	text->event.items = text->items;
	for (uint32_t i = 0; i < event->item_count; i++)
		if (text->items[i].type == CTRACE_TYPE_TEXT && text->items[i].data != NULL)
			convert_item(text, &text->items[i]);
	return &text->event;
}

void ct_bin_text_fini(struct ct_bin_text *text)
{
	ct_buf_fini(&text->bytes);
	free(text->items);
	*text = (struct ct_bin_text){ 0 };
}

static void add_event(struct ct_bin_directory *directory, const struct ctrace_event *event,
		      const struct ctrace_definition *definition)
{
	struct ctrace_event moved = *ct_bin_text_convert(directory->texts, event);

	moved.time_ns = ct_bin_clock_time(&directory->clock, event, &directory->text);
	ct_packet_write(&directory->bound[event->stream]->writer,
			ct_schema_class(directory->schema, &moved, definition), &moved);
}

/* False without memory. */
static bool convert_run(struct ct_bin_directory *directory, const struct ctrace_run *run)
{
	const struct ct_packet_head head = { .tid = run->tid,
					     .begin_ticks = run->begin_ticks,
					     .end_ticks = run->end_ticks,
					     .begin_ns = run->begin_ns,
					     .end_ns = run->end_ns };
	const struct ct_class_image classes = ct_schema_image(directory->source);
	struct ct_packet_clock clock = ct_packet_clock_start(&head);
	struct ctrace_event_item *items = directory->items;
	struct ct_event event;

	ct_buf_clear(&directory->scratch);
	for (uint32_t i = 0; i < run->piece_count; i++)
		ct_buf_add(&directory->scratch, run->pieces[i].data, run->pieces[i].size);
	if (directory->scratch.failed)
		return false;
	for (size_t at = 0; at < directory->scratch.size; at += event.size) {
		const struct ct_class *class;
		struct ctrace_event out = { .pid = directory->info.pid,
					    .tid = run->tid,
					    .stream = run->stream,
					    .clock = run->clock };

		/* The owner of the ring may have written there since the check. */
		if (ct_event_decode(&classes, (const unsigned char *)directory->scratch.data + at,
				    directory->scratch.size - at, &clock.state,
				    &event) != CTRACE_OK)
			break;
		class = ct_schema_find(directory->source, event.number);
		if (event.is_mark || class == NULL)
			break;
		out.component = event.number == CT_CLASS_ANY ? event.component : class->component;
		out.component_size =
			(uint32_t)(event.number == CT_CLASS_ANY ? event.component_size
								: strlen(class->component));
		out.event_id = event.head.event_id;
		out.level = event.head.level;
		out.time_ns = ct_packet_clock_time(&clock);
		out.items = items;
		out.item_count = event.item_count;
		ct_event_items(&event, items);
		add_event(directory, &out, class->definition);
	}
	return true;
}

enum ctrace_status ct_bin_convert(struct ct_bin_directory *directory,
				  const struct ctrace_batch *batch)
{
	enum ctrace_status status = CTRACE_OK;

	if (directory->items == NULL)
		directory->items = calloc(CTRACE_MAX_ITEMS, sizeof *directory->items);
	if (directory->items == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (directory->source == NULL)
		status = ct_schema_create(&directory->source);
	/* Only events of an unknown class are unreadable. */
	if (status == CTRACE_OK)
		status = ct_bin_take_classes(directory->source, batch, true);
	for (uint32_t i = 0; i < batch->run_count && status == CTRACE_OK; i++)
		if (!convert_run(directory, &batch->runs[i]))
			status = CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < batch->stream_count && status == CTRACE_OK; i++) {
		struct ct_bin_stream *stream = directory->bound[i];

		ct_packet_end(&stream->writer);
		stream->pending = stream->writer.packets.size;
		if (stream->writer.packets.failed)
			status = CTRACE_NOT_ENOUGH_MEMORY;
	}
	return status;
}
