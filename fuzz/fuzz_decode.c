/*
 * fuzz_decode.c - the decoder of events, as a consumer walks a ring with it.  The first bytes of
 * the input are the table of classes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/format.h"

#include <stdlib.h>

#define TABLE 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_items(const uint8_t *at, const struct ct_event *event)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	const uint8_t *end = event->data;
	volatile uint8_t last = 0;

	check(event->item_count <= CTRACE_MAX_ITEMS);
	check(event->head.level < CTRACE_LEVEL_COUNT);
	ct_event_items(event, items);
	for (uint32_t i = 0; i < event->item_count; i++) {
		check(items[i].type < CTRACE_TYPE_COUNT);
		check((const uint8_t *)items[i].data >= end);
		end = items[i].data;
		if (items[i].size > 0)
			last = end[items[i].size - 1];
		end += items[i].size;
	}
	(void)last;
	check(end == at + event->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_class_image classes = { .bytes = data, .size = size < TABLE ? size : TABLE };
	struct ct_event_state state = { 0 };
	size_t at = classes.size;

	while (at < size) {
		struct ct_event event;

		if (ct_event_decode(&classes, data + at, size - at, &state, &event) != CTRACE_OK)
			break;
		check(event.size >= CT_EVENT_HEAD && event.size <= size - at);
		if (!event.is_mark)
			check_items(data + at, &event);
		at += event.size;
	}
	return 0;
}
