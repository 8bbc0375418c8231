/*
 * event.c - an event: the out-of-line writer, and the reader, which trusts no byte.
 *
 * The writer runs on the tracing thread, also in a signal handler, and touches only its arguments;
 * the inline writer is in ctrace/ctrace.h.  The consumer of a ring calls the reader, and so do
 * readers of other processes' rings and files.  The reader checks every length against the
 * available bytes before it uses it.  It reads every word once, because the owner of the ring or
 * table may change it meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/format.h"

#include <endian.h>
#include <string.h>

/* In an event of CT_CLASS_ANY a byte describes each item.  Its high four bits are the type.  Its
 * low four are the form in which a viewer of a file can show the item: bytes (0), or an integer of
 * so many. */
#define SHAPE_TYPE 4

/* ---- writing ---- */

/* Returns the number of bytes in front of the item's own. */
static inline size_t item_prefix(const struct ctrace_item *item)
{
	return !item->is_counted ? 0 : item->size <= UINT16_MAX ? 2 : 4;
}

size_t ct_event_size(uint32_t number, const struct ctrace_item *items, uint32_t item_count)
{
	size_t size = number == CT_CLASS_ANY ? CT_EVENT_ANY_HEAD : CT_EVENT_HEAD;

	if (item_count > CTRACE_MAX_ITEMS)
		return 0;
	for (uint32_t i = 0; i < item_count; i++) {
		if (items[i].size > CTRACE_MAX_ITEM_SIZE)
			return 0;
		size += items[i].size +
			(number == CT_CLASS_ANY ? CT_EVENT_ANY_ITEM : item_prefix(&items[i]));
	}
	return size;
}

unsigned char *ct_event_put_any_head(unsigned char *at, uint64_t ticks,
				     const struct ct_event_head *head, uint32_t item_count)
{
	ctrace_put_u64_(at, CT_CLASS_ANY | ticks << 16);
	ctrace_put_u32_(at + 8, head->component);
	ctrace_put_u32_(at + 12, head->event_id);
	at[16] = (unsigned char)head->level;
	ctrace_put_u16_(at + 17, (uint16_t)item_count);
	return at + CT_EVENT_ANY_HEAD;
}

bool ct_item_is_integer(uint32_t type, uint32_t size)
{
	switch (type) {
	case CTRACE_TYPE_ADDRESS:
		return size == 8;
	case CTRACE_TYPE_COMP5:
	case CTRACE_TYPE_COMPX:
	case CTRACE_TYPE_COMP5S:
	case CTRACE_TYPE_COMPXS:
		return size >= 1 && size <= 8;
	default:
		return false;
	}
}

static uint32_t known_type(uint32_t type)
{
	return type < CTRACE_TYPE_COUNT ? type : CTRACE_TYPE_BINARY;
}

/* The first byte of an item of CT_CLASS_ANY. */
static uint32_t any_item_shape(uint32_t type, uint32_t size)
{
	return known_type(type) << SHAPE_TYPE | (ct_item_is_integer(type, size) ? size : 0);
}

unsigned char *ct_event_put_any_item(unsigned char *at, uint32_t type, uint32_t size)
{
	*at = (unsigned char)any_item_shape(type, size);
	ctrace_put_u32_(at + 1, size);
	return at + CT_EVENT_ANY_ITEM;
}

static unsigned char *item_put_prefix(unsigned char *at, const struct ctrace_item *item)
{
	size_t prefix = item_prefix(item);

	if (prefix == 2)
		ctrace_put_u16_(at, (uint16_t)item->size);
	else if (prefix == 4)
		ctrace_put_u32_(at, item->size);
	return at + prefix;
}

void ct_event_encode(unsigned char *at, uint32_t number, uint64_t ticks,
		     const struct ct_event_head *head, const struct ctrace_item *items,
		     uint32_t item_count)
{
	bool is_any = number == CT_CLASS_ANY;

	if (is_any) {
		at = ct_event_put_any_head(at, ticks, head, item_count);
	} else {
		ctrace_put_u64_(at, number | ticks << 16);
		at += CT_EVENT_HEAD;
	}
	for (uint32_t i = 0; i < item_count; i++) {
		at = is_any ? ct_event_put_any_item(at, items[i].type, items[i].size)
			    : item_put_prefix(at, &items[i]);
		at = ctrace_put_bytes_(at, &items[i]);
	}
}

void ct_event_encode_mark(unsigned char *at, uint64_t ticks, uint32_t tid)
{
	ctrace_put_u64_(at, CT_CLASS_MARK | ticks << 16);
	ctrace_put_u64_(at + 8, ticks);
	ctrace_put_u32_(at + 16, tid);
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

/* In the machine's order, as the table of classes has them: it is only in memory, or in the session
 * of a process of this machine. */
static uint32_t get_own_u16(const unsigned char *at)
{
	return ((const volatile struct u16 *)at)->value;
}

static uint32_t get_own_u32(const unsigned char *at)
{
	return ((const volatile struct u32 *)at)->value;
}

/* Little-endian, as an event has them. */
static uint32_t get_u16(const unsigned char *at)
{
	return le16toh((uint16_t)get_own_u16(at));
}

static uint32_t get_u32(const unsigned char *at)
{
	return le32toh(get_own_u32(at));
}

static uint64_t get_u64(const unsigned char *at)
{
	return le64toh(((const volatile struct u64 *)at)->value);
}

/* The bytes of an event that are still to be read. */
struct cursor {
	const unsigned char *at;
	size_t left;
	bool is_short; /* fewer bytes were left than requested */
};

static inline bool cursor_take(struct cursor *cursor, size_t size, const unsigned char **out)
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

/* Takes one item of a named class, in the form that the class has for it. */
static inline bool cursor_take_item(struct cursor *cursor, uint32_t item,
				    const unsigned char **out_data, uint32_t *out_size)
{
	uint32_t size = item >> 8;
	const unsigned char *at;

	if (size == CT_SIZE_COUNTED_16) {
		if (!cursor_take(cursor, 2, &at))
			return false;
		size = get_u16(at);
	} else if (size == CT_SIZE_COUNTED_32) {
		if (!cursor_take(cursor, 4, &at))
			return false;
		size = get_u32(at);
	}
	*out_size = size;
	return size <= CTRACE_MAX_ITEM_SIZE && cursor_take(cursor, size, out_data);
}

/* A viewer of a file trusts the first byte, so an item whose first byte contradicts its size is
 * refused. */
static bool cursor_take_any_item(struct cursor *cursor, uint32_t *out_type,
				 const unsigned char **out_data, uint32_t *out_size)
{
	const unsigned char *at;
	uint32_t shape;

	if (!cursor_take(cursor, CT_EVENT_ANY_ITEM, &at))
		return false;
	shape = get_u8(at);
	*out_type = shape >> SHAPE_TYPE;
	*out_size = get_u32(at + 1);
	return shape == any_item_shape(*out_type, *out_size) && *out_size <= CTRACE_MAX_ITEM_SIZE &&
	       cursor_take(cursor, *out_size, out_data);
}

/* Fills `event` from the class of that number.  Returns false when there is none. */
static bool event_find_class(const struct ct_class_image *classes, uint32_t number,
			     struct ct_event *event)
{
	size_t offset = (size_t)number * CT_CLASS_UNIT;
	const unsigned char *at;

	if (number < CT_CLASS_FIRST || offset > classes->size ||
	    classes->size - offset < CT_CLASS_UNIT)
		return false;
	at = classes->bytes + offset;
	/* Pairs with nothing: a thread that sees the event sees its class. */
	if (get_own_u16(at) != number)
		return false;
	event->item_count = get_own_u16(at + 2);
	event->head.component = get_own_u32(at + 4);
	event->head.event_id = get_own_u32(at + 8);
	event->head.level = get_u8(at + 12);
	event->items = at + CT_CLASS_UNIT;
	return event->item_count <= CT_CLASS_MAX_ITEMS &&
	       classes->size - offset - CT_CLASS_UNIT >= 4u * (size_t)event->item_count;
}

bool ct_event_shape(const struct ct_class_image *classes, uint32_t number,
		    struct ct_event_shape *out)
{
	struct ct_event_shape shape = { .size = CT_EVENT_HEAD };
	uint32_t counted_end = 0; /* of the size of the last counted item */
	struct ct_event event;

	if (!event_find_class(classes, number, &event) || event.head.level >= CTRACE_LEVEL_COUNT)
		return false;
	shape.head = event.head;
	for (uint32_t i = 0; i < event.item_count; i++) {
		uint32_t size = get_own_u32(event.items + 4 * (size_t)i) >> 8;
		uint8_t width = size == CT_SIZE_COUNTED_16 ? 2 : size == CT_SIZE_COUNTED_32 ? 4 : 0;

		if (width == 0 && size > CTRACE_MAX_ITEM_SIZE)
			return false;
		if (width != 0 && shape.counted_width == 0) {
			shape.counted_at = shape.size;
			shape.counted_width = width;
		} else if (width != 0 && shape.more < CT_SHAPE_MORE) {
			shape.next[shape.more].gap = shape.size - counted_end;
			shape.next[shape.more++].width = width;
		} else if (width != 0) {
			shape.is_long = true;
		}
		shape.size += width != 0 ? width : size;
		if (width != 0)
			counted_end = shape.size;
	}
	*out = shape;
	return true;
}

static bool cursor_pass_items(struct cursor *cursor, const struct ct_event *event)
{
	const unsigned char *data;
	uint32_t size;

	for (uint32_t i = 0; i < event->item_count; i++)
		if (!cursor_take_item(cursor, get_own_u32(event->items + 4 * (size_t)i), &data,
				      &size))
			return false;
	return true;
}

/* Takes the name in an event of a file.  It is terminated and never empty. */
static bool cursor_take_name(struct cursor *cursor, struct ct_event *event)
{
	size_t most =
		cursor->left <= CTRACE_MAX_COMPONENT ? cursor->left : CTRACE_MAX_COMPONENT + 1;
	const unsigned char *end = memchr(cursor->at, '\0', most);
	const unsigned char *name;

	cursor->is_short = end == NULL && most == cursor->left;
	if (end == NULL || end == cursor->at)
		return false;
	event->component = (const char *)cursor->at;
	event->component_size = (size_t)(end - cursor->at);
	return cursor_take(cursor, event->component_size + 1, &name);
}

static bool cursor_pass_any(struct cursor *cursor, bool has_name, struct ct_event *event)
{
	const unsigned char *at;
	uint32_t type, size;

	if (!cursor_take(cursor, CT_EVENT_ANY_NAME - CT_EVENT_HEAD, &at))
		return false;
	event->head.component = has_name ? 0 : get_u32(at);
	if ((has_name && !cursor_take_name(cursor, event)) ||
	    !cursor_take(cursor, CT_EVENT_ANY_HEAD - CT_EVENT_ANY_NAME, &at))
		return false;
	event->head.event_id = get_u32(at);
	event->head.level = get_u8(at + 4);
	event->item_count = get_u16(at + 5);
	event->data = cursor->at;
	if (event->item_count > CTRACE_MAX_ITEMS)
		return false;
	for (uint32_t i = 0; i < event->item_count; i++)
		if (!cursor_take_any_item(cursor, &type, &at, &size))
			return false;
	return true;
}

static bool cursor_pass_mark(struct cursor *cursor, struct ct_event *event)
{
	const unsigned char *at;

	if (!cursor_take(cursor, CT_EVENT_MARK - CT_EVENT_HEAD, &at))
		return false;
	event->is_mark = true;
	event->ticks = get_u64(at);
	event->tid = get_u32(at + 8);
	return true;
}

enum ctrace_status ct_event_decode(const struct ct_class_image *classes, const unsigned char *at,
				   size_t available, struct ct_event_state *state,
				   struct ct_event *out)
{
	struct cursor cursor = { .at = at, .left = available };
	struct ct_event event = { .tid = state->tid };
	const unsigned char *first;
	uint64_t word;
	bool is_whole;

	if (!cursor_take(&cursor, CT_EVENT_HEAD, &first))
		return CTRACE_BUFFER_TOO_SMALL;
	word = get_u64(first);
	event.number = word & 0xFFFF;
	event.ticks = ct_event_ticks(state->ticks, word);
	event.data = cursor.at;
	if (event.number == CT_CLASS_MARK)
		is_whole = cursor_pass_mark(&cursor, &event);
	else if (event.number == CT_CLASS_ANY)
		is_whole = cursor_pass_any(&cursor, classes->has_names, &event);
	else
		is_whole = event_find_class(classes, event.number, &event) &&
			   cursor_pass_items(&cursor, &event);
	if (!is_whole || event.head.level >= CTRACE_LEVEL_COUNT)
		return cursor.is_short ? CTRACE_BUFFER_TOO_SMALL : CTRACE_DAMAGED;
	event.size = (size_t)(cursor.at - at);
	event.data_size = (size_t)(cursor.at - event.data);
	state->ticks = event.ticks;
	state->tid = event.tid;
	*out = event;
	return CTRACE_OK;
}

/* ---- items ---- */

static uint64_t sign_extend(uint64_t value, uint32_t size)
{
	unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* Loads 1 to 8 bytes, little-endian; the usual widths take one load. */
static uint64_t load_bytes(const unsigned char *bytes, uint32_t size)
{
	uint64_t eight = 0;
	uint32_t four;
	uint16_t two;

	switch (size) {
	case 8:
		memcpy(&eight, bytes, 8);
		return le64toh(eight);
	case 4:
		memcpy(&four, bytes, 4);
		return le32toh(four);
	case 2:
		memcpy(&two, bytes, 2);
		return le16toh(two);
	case 1:
		return bytes[0];
	default:
		memcpy(&eight, bytes, size);
		return le64toh(eight);
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

/* A bit for each type whose items may have a value. */
#define NUMBERS \
	(1u << CTRACE_TYPE_ADDRESS | 1u << CTRACE_TYPE_COMP5 | 1u << CTRACE_TYPE_COMP5S | \
	 1u << CTRACE_TYPE_COMPX | 1u << CTRACE_TYPE_COMPXS)

static inline void item_set(struct ctrace_event_item *item, uint32_t type,
			    const unsigned char *data, uint32_t size)
{
	item->type = known_type(type);
	item->size = size;
	item->data = data;
	item->value = (NUMBERS >> item->type & 1) != 0 ? ct_item_value(item->type, data, size) : 0;
}

/* Out of line, so that the cursor of events with a class stays in registers. */
static __attribute__((noinline)) void event_any_items(const struct ct_event *event,
						      struct ctrace_event_item *out)
{
	struct cursor cursor = { .at = event->data, .left = event->data_size };

	for (uint32_t i = 0; i < event->item_count; i++) {
		const unsigned char *data = cursor.at;
		uint32_t type = CTRACE_TYPE_BINARY, size = 0;

		if (!cursor_take_any_item(&cursor, &type, &data, &size))
			size = 0;
		item_set(&out[i], type, data, size);
	}
}

/* An item fitted when the event was decoded, but a faulty process may have overwritten it since:
 * its size is 0 then. */
void ct_event_items(const struct ct_event *event, struct ctrace_event_item *out)
{
	struct cursor cursor = { .at = event->data, .left = event->data_size };

	if (event->items == NULL) {
		event_any_items(event, out);
		return;
	}
	for (uint32_t i = 0; i < event->item_count; i++) {
		uint32_t item = get_own_u32(event->items + 4 * (size_t)i), size = 0;
		const unsigned char *data = cursor.at;

		if (!cursor_take_item(&cursor, item, &data, &size))
			size = 0;
		item_set(&out[i], item & 0xFF, data, size);
	}
}
