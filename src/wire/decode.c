/*
 * decode.c - reads a record that may be hostile.
 *
 * Called by the consumer of a ring and by readers of somebody else's; pure.  Every length is
 * checked against the bytes that are there before it is used, and every word of a head is read
 * once: whoever owns the ring may change it meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <string.h>

/* volatile: the compiler must not read a word a second time, after it was checked. */
struct u16 {
	uint16_t value;
} __attribute__((packed, may_alias));
struct u32 {
	uint32_t value;
} __attribute__((packed, may_alias));
struct u64 {
	uint64_t value;
} __attribute__((packed, may_alias));

static uint32_t get_u16(const unsigned char *at)
{
	return ((const volatile struct u16 *)at)->value;
}

static uint32_t get_u32(const unsigned char *at)
{
	return ((const volatile struct u32 *)at)->value;
}

static uint64_t get_u64(const unsigned char *at)
{
	return ((const volatile struct u64 *)at)->value;
}

static bool items_fit(const unsigned char *descriptors, uint32_t count, size_t room)
{
	size_t data = 0;

	if (count > CTRACE_MAX_ITEMS || 4u * (size_t)count > room)
		return false;
	room -= 4u * (size_t)count;
	for (uint32_t i = 0; i < count; i++) {
		data += get_u32(descriptors + 4 * i) >> 8;
		if (data > room)
			return false;
	}
	/* What is left over is the padding to 8 bytes and nothing else. */
	return room - data < 8;
}

enum ctrace_status ct_record_decode(const unsigned char *at, size_t available, struct ct_record *out)
{
	struct ct_record record = { 0 };
	uint32_t count_level;

	if (available < 8)
		return CTRACE_DAMAGED;
	record.size = get_u16(at) * 8u;
	record.head.component = get_u32(at + 4);
	if (record.size < 8 || record.size > available)
		return CTRACE_DAMAGED;
	if (record.head.component == CT_RECORD_PADDING) {
		record.is_padding = true;
		*out = record;
		return CTRACE_OK;
	}
	if (record.size < CT_RECORD_HEAD)
		return CTRACE_DAMAGED;
	count_level = get_u16(at + 2);
	record.item_count = count_level >> 3;
	record.head.level = count_level & 7;
	record.head.event_id = get_u32(at + 8);
	record.head.tid = get_u32(at + 12);
	record.head.ticks = get_u64(at + 16);
	record.descriptors = at + CT_RECORD_HEAD;
	if (record.head.level >= CTRACE_LEVEL_COUNT || !items_fit(record.descriptors, record.item_count, record.size - CT_RECORD_HEAD))
		return CTRACE_DAMAGED;
	record.data = record.descriptors + 4 * (size_t)record.item_count;
	*out = record;
	return CTRACE_OK;
}

static uint64_t sign_extend(uint64_t value, uint32_t size)
{
	unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* Little-endian, 1 to 8 bytes: the usual widths by one load. */
static uint64_t load_bytes(const unsigned char *bytes, uint32_t size)
{
	uint64_t eight = 0;
	uint32_t four;
	uint16_t two;

	switch (size) {
	case 8:
		memcpy(&eight, bytes, 8);
		return eight;
	case 4:
		memcpy(&four, bytes, 4);
		return four;
	case 2:
		memcpy(&two, bytes, 2);
		return two;
	case 1:
		return bytes[0];
	default:
		memcpy(&eight, bytes, size);
		return eight;
	}
}

uint64_t ct_item_value(uint32_t type, const void *data, uint32_t size)
{
	uint64_t value;

	if (size == 0 || size > 8)
		return 0;
	value = load_bytes(data, size);
	switch (type) {
	case CTRACE_TYPE_ADDRESS:
	case CTRACE_TYPE_COMP5:
		return value;
	case CTRACE_TYPE_COMP5S:
		return sign_extend(value, size);
	case CTRACE_TYPE_COMPX:
		return __builtin_bswap64(value) >> (64 - 8 * size);
	case CTRACE_TYPE_COMPXS:
		return sign_extend(__builtin_bswap64(value) >> (64 - 8 * size), size);
	default:
		return 0;
	}
}

void ct_record_items(const struct ct_record *record, struct ctrace_event_item *out)
{
	const unsigned char *data = record->data;
	uint32_t left = (uint32_t)(record->size - CT_RECORD_HEAD) - 4 * record->item_count;

	for (uint32_t i = 0; i < record->item_count; i++) {
		uint32_t descriptor = get_u32(record->descriptors + 4 * i);
		uint32_t size = descriptor >> 8;

		/* It fitted when the record was decoded; a process that has gone wrong may have
		 * written there since. */
		if (size > left)
			size = left;
		left -= size;
		out[i].type = (descriptor & 0xFF) < CTRACE_TYPE_COUNT ? descriptor & 0xFF : CTRACE_TYPE_BINARY;
		out[i].size = size;
		out[i].data = data;
		out[i].value = ct_item_value(out[i].type, data, out[i].size);
		data += out[i].size;
	}
}
