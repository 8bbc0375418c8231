/*
 * encode.c - the out-of-line writer of a record; ctrace/ctrace.h holds the inline one.
 *
 * Runs on the thread that traces, also in a signal handler: touches nothing but its arguments.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <string.h>

size_t ct_record_size(const struct ctrace_item *items, uint32_t item_count)
{
	size_t data = 0;

	if (item_count > CTRACE_MAX_ITEMS)
		return 0;
	for (uint32_t i = 0; i < item_count; i++) {
		if (items[i].size > CTRACE_MAX_ITEM_SIZE)
			return 0;
		data += items[i].size;
	}
	data = ctrace_record_size_(item_count, data);
	return data <= CT_RECORD_MAX ? data : 0;
}

void ct_record_encode_head(unsigned char *at, size_t size, const struct ct_record_head *head, uint32_t item_count)
{
	uint16_t units = (uint16_t)(size / 8);
	uint16_t count_and_level = (uint16_t)(item_count << 3 | head->level);

	memcpy(at, &units, 2);
	memcpy(at + 2, &count_and_level, 2);
	memcpy(at + 4, &head->component, 4);
	memcpy(at + 8, &head->event_id, 4);
	memcpy(at + 12, &head->tid, 4);
	memcpy(at + 16, &head->ticks, 8);
}

void ct_record_encode(unsigned char *at, size_t size, const struct ct_record_head *head, const struct ctrace_item *items,
		      uint32_t item_count)
{
	ct_record_encode_head(at, size, head, item_count);
	at += CT_RECORD_HEAD;
	for (uint32_t i = 0; i < item_count; i++)
		ctrace_put_u32_(at + 4 * i, (items[i].type & 0xFF) | items[i].size << 8);
	at += 4 * (size_t)item_count;
	for (uint32_t i = 0; i < item_count; i++)
		at = ctrace_put_item_(at, &items[i]);
}

void ct_record_encode_padding(unsigned char *at, size_t size)
{
	/* A window never ends further than CT_RECORD_MAX from here, but the end of the ring may. */
	while (size > 0) {
		size_t part = size <= CT_RECORD_MAX ? size : CT_RECORD_MAX;
		uint16_t units = (uint16_t)(part / 8);
		uint16_t none = 0;
		uint32_t mark = CT_RECORD_PADDING;

		memcpy(at, &units, 2);
		memcpy(at + 2, &none, 2);
		memcpy(at + 4, &mark, 4);
		at += part;
		size -= part;
	}
}
