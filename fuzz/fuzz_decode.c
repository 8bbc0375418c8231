/*
 * fuzz_decode.c - the record decoder, as a consumer walks a ring with it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_items(const uint8_t *at, const struct ct_record *record)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	const uint8_t *end = record->data;
	volatile uint8_t last = 0;

	check(record->item_count <= CTRACE_MAX_ITEMS);
	check(record->head.level < CTRACE_LEVEL_COUNT);
	ct_record_items(record, items);
	for (uint32_t i = 0; i < record->item_count; i++) {
		check(items[i].type < CTRACE_TYPE_COUNT);
		check(items[i].data == end);
		if (items[i].size > 0)
			last = end[items[i].size - 1];
		end += items[i].size;
	}
	(void)last;
	check(end <= at + record->size && at + record->size - end < 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		struct ct_record record;

		if (ct_record_decode(data + at, size - at, &record) != CTRACE_OK)
			break;
		check(record.size >= 8 && record.size % 8 == 0 && record.size <= size - at);
		if (!record.is_padding)
			check_items(data + at, &record);
		at += record.size;
	}
	return 0;
}
