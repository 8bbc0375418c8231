/*
 * event.c - an event: the out-of-line writer, and the reader, for what may be hostile.
 *
 * The writer runs on the thread that traces, also in a signal handler, and touches nothing but its arguments; ctrace/ctrace.h holds the
 * inline one.  The reader is called by the consumer of a ring and by readers of somebody else's.  Every length is checked against
 * the bytes that are there before it is used, and every word is read once: whoever owns the ring or the table may change it meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <string.h>

#define TICKS_BITS 48
#define ANY_HEAD 11u /* behind the event's head: component, id, level, number of items */
#define ANY_ITEM 5u  /* before the bytes of each: type, size */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers are stored as they are");

/* ---- writing ---- */

/* Bytes in front of the item's own. */
static inline size_t item_prefix(const struct ctrace_item *item)
{
	return !item->is_counted ? 0 : item->size <= UINT16_MAX ? 2 : 4;
}

size_t ct_event_size(uint32_t number, const struct ctrace_item *items, uint32_t item_count)
{
	size_t size = CT_EVENT_HEAD + (number == CT_CLASS_ANY ? ANY_HEAD : 0);

	if (item_count > CTRACE_MAX_ITEMS)
		return 0;
	for (uint32_t i = 0; i < item_count; i++) {
		if (items[i].size > CTRACE_MAX_ITEM_SIZE)
			return 0;
		size += items[i].size + (number == CT_CLASS_ANY ? ANY_ITEM : item_prefix(&items[i]));
	}
	return size;
}

static unsigned char *put_any_head(unsigned char *at, const struct ct_event_head *head, uint32_t item_count)
{
	uint16_t count = (uint16_t)item_count;

	memcpy(at, &head->component, 4);
	memcpy(at + 4, &head->event_id, 4);
	at[8] = (unsigned char)head->level;
	memcpy(at + 9, &count, 2);
	return at + ANY_HEAD;
}

static unsigned char *put_prefix(unsigned char *at, uint32_t number, const struct ctrace_item *item)
{
	size_t prefix = number == CT_CLASS_ANY ? 4 : item_prefix(item);

	if (number == CT_CLASS_ANY)
		*at++ = (unsigned char)item->type;
	memcpy(at, &item->size, prefix);
	return at + prefix;
}

void ct_event_encode(unsigned char *at, uint32_t number, uint64_t ticks, const struct ct_event_head *head,
		     const struct ctrace_item *items, uint32_t item_count)
{
	ctrace_put_u64_(at, number | ticks << 16);
	at += CT_EVENT_HEAD;
	if (number == CT_CLASS_ANY)
		at = put_any_head(at, head, item_count);
	for (uint32_t i = 0; i < item_count; i++)
		at = ctrace_put_bytes_(put_prefix(at, number, &items[i]), &items[i]);
}

void ct_event_encode_mark(unsigned char *at, uint64_t ticks, uint32_t tid)
{
	ctrace_put_u64_(at, CT_CLASS_MARK | ticks << 16);
	ctrace_put_u64_(at + 8, ticks);
	memcpy(at + 16, &tid, 4);
}

/* ---- reading ---- */

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

static uint32_t get_u8(const unsigned char *at)
{
	return *(const volatile unsigned char *)at;
}

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

/* The bytes of an event that are still to be read. */
struct cursor {
	const unsigned char *at;
	size_t left;
	bool is_short; /* there were fewer than were wanted */
};

static inline bool take(struct cursor *cursor, size_t size, const unsigned char **out)
{
	if (size > cursor->left) {
		cursor->is_short = true;
		return false;
	}
	*out = cursor->at;
	cursor->at += size;
	cursor->left -= size;
	return true;
}

/* One item of a named class, by what its class says. */
static inline bool take_item(struct cursor *cursor, uint32_t item, const unsigned char **out_data, uint32_t *out_size)
{
	uint32_t size = item >> 8;
	const unsigned char *at;

	if (size == CT_SIZE_COUNTED_16) {
		if (!take(cursor, 2, &at))
			return false;
		size = get_u16(at);
	} else if (size == CT_SIZE_COUNTED_32) {
		if (!take(cursor, 4, &at))
			return false;
		size = get_u32(at);
	}
	*out_size = size;
	return size <= CTRACE_MAX_ITEM_SIZE && take(cursor, size, out_data);
}

static bool take_any_item(struct cursor *cursor, uint32_t *out_type, const unsigned char **out_data, uint32_t *out_size)
{
	const unsigned char *at;

	if (!take(cursor, ANY_ITEM, &at))
		return false;
	*out_type = get_u8(at);
	*out_size = get_u32(at + 1);
	return *out_size <= CTRACE_MAX_ITEM_SIZE && take(cursor, *out_size, out_data);
}

/* The class of that number, into `event`.  False: there is none. */
static bool find_class(const struct ct_class_view *classes, uint32_t number, struct ct_event *event)
{
	size_t offset = (size_t)number * CT_CLASS_UNIT;
	const unsigned char *at = classes->bytes + offset;

	if (number < CT_CLASS_FIRST || offset > classes->size || classes->size - offset < CT_CLASS_UNIT)
		return false;
	/* Pairs with nothing: who sees the event sees its class. */
	if (get_u16(at) != number)
		return false;
	event->item_count = get_u16(at + 2);
	event->head.component = get_u32(at + 4);
	event->head.event_id = get_u32(at + 8);
	event->head.level = get_u8(at + 12);
	event->items = at + CT_CLASS_UNIT;
	return event->item_count <= CT_CLASS_MAX_ITEMS && classes->size - offset - CT_CLASS_UNIT >= 4u * (size_t)event->item_count;
}

static bool pass_items(struct cursor *cursor, const struct ct_event *event)
{
	const unsigned char *data;
	uint32_t size;

	for (uint32_t i = 0; i < event->item_count; i++)
		if (!take_item(cursor, get_u32(event->items + 4 * (size_t)i), &data, &size))
			return false;
	return true;
}

static bool pass_any(struct cursor *cursor, struct ct_event *event)
{
	const unsigned char *at;
	uint32_t type, size;

	if (!take(cursor, ANY_HEAD, &at))
		return false;
	event->head.component = get_u32(at);
	event->head.event_id = get_u32(at + 4);
	event->head.level = get_u8(at + 8);
	event->item_count = get_u16(at + 9);
	event->data = cursor->at;
	if (event->item_count > CTRACE_MAX_ITEMS)
		return false;
	for (uint32_t i = 0; i < event->item_count; i++)
		if (!take_any_item(cursor, &type, &at, &size))
			return false;
	return true;
}

static bool pass_mark(struct cursor *cursor, struct ct_event *event)
{
	const unsigned char *at;

	if (!take(cursor, CT_EVENT_MARK - CT_EVENT_HEAD, &at))
		return false;
	event->is_mark = true;
	event->ticks = get_u64(at);
	event->tid = get_u32(at + 8);
	return true;
}

/* All 64 bits of a time of which 48 are known, and which is not far from `ticks`. */
static uint64_t whole_ticks(uint64_t ticks, uint64_t low)
{
	int64_t difference = (int64_t)((low - ticks) << (64 - TICKS_BITS)) >> (64 - TICKS_BITS);

	return ticks + (uint64_t)difference;
}

enum ctrace_status ct_event_decode(const struct ct_class_view *classes, const unsigned char *at, size_t available,
				   struct ct_event_state *state, struct ct_event *out)
{
	struct cursor cursor = { .at = at, .left = available };
	struct ct_event event = { .tid = state->tid };
	const unsigned char *first;
	uint64_t word;
	bool is_whole;

	if (!take(&cursor, CT_EVENT_HEAD, &first))
		return CTRACE_BUFFER_TOO_SMALL;
	word = get_u64(first);
	event.number = word & 0xFFFF;
	event.ticks = whole_ticks(state->ticks, word >> 16);
	event.data = cursor.at;
	if (event.number == CT_CLASS_MARK)
		is_whole = pass_mark(&cursor, &event);
	else if (event.number == CT_CLASS_ANY)
		is_whole = pass_any(&cursor, &event);
	else
		is_whole = find_class(classes, event.number, &event) && pass_items(&cursor, &event);
	if (!is_whole || event.head.level >= CTRACE_LEVEL_COUNT)
		return cursor.is_short ? CTRACE_BUFFER_TOO_SMALL : CTRACE_DAMAGED;
	event.size = (size_t)(cursor.at - at);
	state->ticks = event.ticks;
	state->tid = event.tid;
	*out = event;
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

static uint32_t known_type(uint32_t type)
{
	return type < CTRACE_TYPE_COUNT ? type : CTRACE_TYPE_BINARY;
}

void ct_event_items(const struct ct_event *event, struct ctrace_event_item *out)
{
	struct cursor cursor = { .at = event->data,
				 .left = event->size - (event->items != NULL ? CT_EVENT_HEAD : CT_EVENT_HEAD + ANY_HEAD) };

	for (uint32_t i = 0; i < event->item_count; i++) {
		const unsigned char *data = cursor.at;
		uint32_t type = CTRACE_TYPE_BINARY, size = 0;
		bool is_whole;

		if (event->items != NULL) {
			uint32_t item = get_u32(event->items + 4 * (size_t)i);

			type = item & 0xFF;
			is_whole = take_item(&cursor, item, &data, &size);
		} else {
			is_whole = take_any_item(&cursor, &type, &data, &size);
		}
		/* It fitted when the event was decoded; a process that has gone wrong may have written there since. */
		if (!is_whole)
			size = 0;
		out[i].type = known_type(type);
		out[i].size = size;
		out[i].data = data;
		out[i].value = ct_item_value(out[i].type, data, size);
	}
}
