/*
 * bin_text.c - text items of an event as UTF-8, for a BINFILE whose ENCODING is set.
 *
 * Called by bin_stream.c for each event of a batch, on the thread that drains.  Viewers know no EBCDIC, and a trace is read on other
 * machines than it was made on: so the trace has characters, and says UTF-8 of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/binfile.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MEMORY ((size_t)1 << 20)

static bool has_room(struct ct_bin_text *text, const struct ctrace_event *event)
{
	size_t size = 0;

	if (event->item_count > text->capacity) {
		struct ctrace_event_item *items = reallocarray(text->items, event->item_count, sizeof *items);

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

/* One that would become longer than an item may be stays as it is. */
static void convert(struct ct_bin_text *text, struct ctrace_event_item *item)
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

const struct ctrace_event *ct_bin_text_convert(struct ct_bin_text *text, const struct ctrace_event *event)
{
	if (text == NULL || text->encoding == CT_ENCODING_ASCII || !has_room(text, event) || text->bytes.data == NULL)
		return event;
	text->event = *event;
	if (event->item_count != 0)
		memcpy(text->items, event->items, event->item_count * sizeof *text->items);
	text->event.items = text->items;
	for (uint32_t i = 0; i < event->item_count; i++)
		if (text->items[i].type == CTRACE_TYPE_TEXT && text->items[i].data != NULL)
			convert(text, &text->items[i]);
	return &text->event;
}

void ct_bin_text_fini(struct ct_bin_text *text)
{
	ct_buf_fini(&text->bytes);
	free(text->items);
	*text = (struct ct_bin_text){ 0 };
}
