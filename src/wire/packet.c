/*
 * packet.c - one packet of a stream file: header, context, events; and back.
 *
 * The BINFILE emitter writes, readers and the recovery read what may be hostile: every length is checked against the bytes that are
 * there before it is used.  Pure; any thread.  All little-endian, packed, as the metadata says:
 *
 *      offset size
 *           0    4  magic C1FC1FC1
 *           4   16  uuid of the trace
 *          20    4  stream_id, 0
 *          24    4  stream_instance_id: the ring's number
 *          28    8  timestamp_begin: ns since 1970
 *          36    8  timestamp_end
 *          44    4  content_size, bits
 *          48    4  packet_size, bits
 *          52    8  packet_seq_num
 *          60    8  events_discarded: running total of the stream
 *          68    4  pid
 *          72    4  tid
 *          76       events
 *
 * An event: 10 bits class id and 22 bits time (the low ones), when the id is below 1023 and less than 2^22 ns have passed since the event
 * before it or the packet's begin; else 1023, 32 bits id, 64 bits time behind two bytes of which 10 bits are used.  Then one byte
 * level, then the items.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <string.h>

#define MAGIC 0xC1FC1FC1u
#define ID_EXTENDED 1023u
#define TIME_BITS 22
#define TIME_MASK ((1u << TIME_BITS) - 1)
#define EXTENDED_SIZE 14u
#define ITEM_OVERHEAD 5u /* shape byte of the generic class, widest length field */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the record's and the packet's integers are stored as they are");

static unsigned char *put_u32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, 4);
	return at + 4;
}

static unsigned char *put_u64(unsigned char *at, uint64_t value)
{
	memcpy(at, &value, 8);
	return at + 8;
}

static uint32_t get_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, 4);
	return value;
}

static uint64_t get_u64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, 8);
	return value;
}

static bool is_bytes_kind(uint8_t shape)
{
	unsigned kind = shape & 0xF0u;

	return kind == CT_KIND_BINARY || kind == CT_KIND_TEXT || kind == CT_KIND_UTF8;
}

/* ------------------------------------------------------------------------------------------------------------
 * Writing
 */

static void put_head(unsigned char *at, const struct ct_packet_head *head)
{
	at = put_u32(at, MAGIC);
	memcpy(at, head->uuid, 16);
	at = put_u32(at + 16, 0);
	at = put_u32(at, head->stream_instance);
	at = put_u64(at, head->begin_ns);
	at = put_u64(at, head->end_ns);
	at = put_u32(at, (uint32_t)head->content_bits);
	at = put_u32(at, (uint32_t)head->packet_bits);
	at = put_u64(at, head->sequence);
	at = put_u64(at, head->discarded);
	at = put_u32(at, head->pid);
	(void)put_u32(at, head->tid);
}

void ct_packet_begin(struct ct_buf *out, const struct ct_packet_head *head)
{
	if (!ct_buf_reserve(out, CT_PACKET_HEAD))
		return;
	put_head((unsigned char *)out->data + out->size, head);
	out->size += CT_PACKET_HEAD;
}

void ct_packet_end(struct ct_buf *out, size_t start, const struct ct_packet_head *head)
{
	struct ct_packet_head complete = *head;

	if (out->failed)
		return;
	complete.content_bits = 8 * (uint64_t)(out->size - start);
	complete.packet_bits = complete.content_bits;
	put_head((unsigned char *)out->data + start, &complete);
}

size_t ct_packet_event_room(const struct ctrace_event *event)
{
	size_t room = EXTENDED_SIZE + 1 + CTRACE_MAX_COMPONENT + 1 + 4 + 2;

	for (uint32_t i = 0; i < event->item_count; i++)
		room += ITEM_OVERHEAD + event->items[i].size;
	return room;
}

uint64_t ct_packet_time(const struct ctrace_event *event, uint64_t previous_ns)
{
	uint64_t time_ns = event->time_ns <= INT64_MAX ? event->time_ns : INT64_MAX;

	return time_ns > previous_ns ? time_ns : previous_ns;
}

/* memcpy for the few bytes that most items have: two overlapping moves instead of a call. */
static unsigned char *put_bytes(unsigned char *at, const void *data, size_t size)
{
	const unsigned char *from = data;

	if (size >= 8 && size <= 16) {
		uint64_t first = get_u64(from), last = get_u64(from + size - 8);

		put_u64(at, first);
		put_u64(at + size - 8, last);
	} else if (size >= 4 && size < 8) {
		uint32_t first = get_u32(from), last = get_u32(from + size - 4);

		put_u32(at, first);
		put_u32(at + size - 4, last);
	} else if (size > 0) {
		memcpy(at, from, size);
	}
	return at + size;
}

static unsigned char *put_item(unsigned char *at, const struct ctrace_event_item *item, uint8_t shape)
{
	uint32_t size = item->size;

	if (!is_bytes_kind(shape))
		return put_bytes(at, item->data, shape & 15u);
	*at++ = (unsigned char)size;
	if ((shape & 15) >= 2)
		*at++ = (unsigned char)(size >> 8);
	if ((shape & 15) == 4) {
		*at++ = (unsigned char)(size >> 16);
		*at++ = (unsigned char)(size >> 24);
	}
	return put_bytes(at, item->data, size);
}

static unsigned char *put_generic(unsigned char *at, const struct ctrace_event *event)
{
	uint32_t size = event->component_size <= CTRACE_MAX_COMPONENT ? event->component_size : CTRACE_MAX_COMPONENT;
	uint32_t count = event->item_count <= CTRACE_MAX_ITEMS ? event->item_count : CTRACE_MAX_ITEMS;

	at = put_bytes(at, event->component, strnlen(event->component, size));
	*at++ = '\0';
	at = put_u32(at, event->event_id);
	*at++ = (unsigned char)count;
	*at++ = (unsigned char)(count >> 8);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t shape = ct_shape_of(event->items[i].type, event->items[i].size);

		*at++ = shape;
		at = put_item(at, &event->items[i], shape);
	}
	return at;
}

static unsigned char *put_event_head(unsigned char *at, uint32_t id, uint64_t time_ns, uint64_t previous_ns)
{
	if (id < ID_EXTENDED && time_ns - previous_ns <= TIME_MASK)
		return put_u32(at, id | (uint32_t)(time_ns & TIME_MASK) << 10);
	*at++ = (unsigned char)(ID_EXTENDED & 0xFF);
	*at++ = (unsigned char)(ID_EXTENDED >> 8);
	at = put_u32(at, id);
	return put_u64(at, time_ns);
}

void ct_packet_add(struct ct_buf *out, const struct ct_class *class, const struct ctrace_event *event, uint64_t *previous_ns)
{
	uint64_t time_ns = ct_packet_time(event, *previous_ns);
	unsigned char *at;

	if (!ct_buf_reserve(out, ct_packet_event_room(event)))
		return;
	at = (unsigned char *)out->data + out->size;
	at = put_event_head(at, class->id, time_ns, *previous_ns);
	*at++ = (unsigned char)event->level;
	if (class->id == CT_CLASS_GENERIC)
		at = put_generic(at, event);
	else
		for (uint32_t i = 0; i < class->item_count; i++)
			at = put_item(at, &event->items[i], class->shape[i]);
	out->size = (size_t)(at - (unsigned char *)out->data);
	*previous_ns = time_ns;
}

/* ------------------------------------------------------------------------------------------------------------
 * Reading
 */

enum ctrace_status ct_packet_decode_head(const unsigned char *bytes, size_t available, struct ct_packet_head *out,
					 size_t *out_head_size)
{
	struct ct_packet_head head;

	if (available < CT_PACKET_HEAD || get_u32(bytes) != MAGIC || get_u32(bytes + 20) != 0)
		return CTRACE_DAMAGED;
	memcpy(head.uuid, bytes + 4, 16);
	head.stream_instance = get_u32(bytes + 24);
	head.begin_ns = get_u64(bytes + 28);
	head.end_ns = get_u64(bytes + 36);
	head.content_bits = get_u32(bytes + 44);
	head.packet_bits = get_u32(bytes + 48);
	head.sequence = get_u64(bytes + 52);
	head.discarded = get_u64(bytes + 60);
	head.pid = get_u32(bytes + 68);
	head.tid = get_u32(bytes + 72);
	if (head.content_bits % 8 != 0 || head.packet_bits % 8 != 0 || head.content_bits < 8 * CT_PACKET_HEAD ||
	    head.packet_bits < head.content_bits || head.packet_bits / 8 > CT_PACKET_MAX || head.end_ns < head.begin_ns)
		return CTRACE_DAMAGED;
	*out = head;
	*out_head_size = CT_PACKET_HEAD;
	return CTRACE_OK;
}

/* The bytes of an event that are still to be read. */
struct cursor {
	const unsigned char *at;
	size_t left;
};

static bool take(struct cursor *cursor, size_t size, const unsigned char **out)
{
	if (size > cursor->left)
		return false;
	*out = cursor->at;
	cursor->at += size;
	cursor->left -= size;
	return true;
}

static bool take_event_head(struct cursor *cursor, uint64_t *previous_ns, uint32_t *out_id)
{
	const unsigned char *at;
	uint64_t time_ns;
	uint32_t word;

	if (cursor->left < 4)
		return false;
	word = get_u32(cursor->at);
	if ((word & ID_EXTENDED) == ID_EXTENDED) {
		if (!take(cursor, EXTENDED_SIZE, &at))
			return false;
		*out_id = get_u32(at + 2);
		time_ns = get_u64(at + 6);
	} else {
		if (!take(cursor, 4, &at))
			return false;
		*out_id = word & ID_EXTENDED;
		time_ns = (*previous_ns & ~(uint64_t)TIME_MASK) | word >> 10;
		if (time_ns < *previous_ns)
			time_ns += (uint64_t)TIME_MASK + 1;
	}
	if (time_ns < *previous_ns)
		return false;
	*previous_ns = time_ns;
	return true;
}

static bool take_length(struct cursor *cursor, unsigned width, uint32_t *out_length)
{
	const unsigned char *at;
	uint32_t length = 0;

	if (!take(cursor, width, &at))
		return false;
	for (unsigned i = width; i-- > 0;)
		length = length << 8 | at[i];
	*out_length = length;
	return true;
}

static bool is_shape(uint8_t shape)
{
	unsigned width = shape & 15;

	if (is_bytes_kind(shape))
		return width == 1 || width == 2 || width == 4;
	if ((shape & 0xF0) == CT_KIND_ADDRESS)
		return width == 8;
	return shape < 0x80 && width >= 1 && width <= 8;
}

static const uint8_t types_of_kinds[8] = {
	CTRACE_TYPE_BINARY, CTRACE_TYPE_TEXT, CTRACE_TYPE_ADDRESS, CTRACE_TYPE_COMP5,
	CTRACE_TYPE_COMPX,  CTRACE_TYPE_UTF8, CTRACE_TYPE_COMP5S,  CTRACE_TYPE_COMPXS,
};

/* The shape is one: a class's, or one that is_shape() accepts. */
static inline bool take_item(struct cursor *cursor, uint8_t shape, struct ctrace_event_item *out)
{
	uint32_t size = shape & 15u;
	bool is_bytes = is_bytes_kind(shape);

	if (is_bytes && (!take_length(cursor, size, &size) || size > CTRACE_MAX_ITEM_SIZE))
		return false;
	out->type = types_of_kinds[shape >> 4];
	out->size = size;
	if (!take(cursor, size, (const unsigned char **)&out->data))
		return false;
	out->value = is_bytes ? 0 : ct_item_value(out->type, out->data, size);
	return true;
}

static bool skip_item(struct cursor *cursor, uint8_t shape)
{
	const unsigned char *data;
	uint32_t size = shape & 15u;

	if (is_bytes_kind(shape) && (!take_length(cursor, size, &size) || size > CTRACE_MAX_ITEM_SIZE))
		return false;
	return take(cursor, size, &data);
}

static bool take_generic(struct cursor *cursor, struct ctrace_event *event, struct ctrace_event_item *items)
{
	const unsigned char *at, *end;
	uint32_t count;

	end = memchr(cursor->at, '\0', cursor->left <= CTRACE_MAX_COMPONENT + 1 ? cursor->left : CTRACE_MAX_COMPONENT + 1);
	/* Nobody has an empty name: zeros, which a file system puts where a crash lost a block, are no events. */
	if (end == NULL || end == cursor->at)
		return false;
	event->component = (const char *)cursor->at;
	event->component_size = (uint32_t)(end - cursor->at);
	(void)take(cursor, event->component_size + 1, &at);
	if (!take(cursor, 4, &at))
		return false;
	event->event_id = get_u32(at);
	if (!take_length(cursor, 2, &count) || count > CTRACE_MAX_ITEMS)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!take(cursor, 1, &at) || !is_shape(*at) || !take_item(cursor, *at, &items[i]))
			return false;
	event->item_count = count;
	return true;
}

static bool take_named(struct cursor *cursor, const struct ct_class *class, struct ctrace_event *event, struct ctrace_event_item *items)
{
	for (uint32_t i = 0; i < class->item_count; i++)
		if (!take_item(cursor, class->shape[i], &items[i]))
			return false;
	event->item_count = class->item_count;
	return true;
}

enum ctrace_status ct_packet_decode_event_head(const unsigned char *packet, size_t content_size, size_t *offset, uint64_t *previous_ns,
					       uint32_t *out_class, uint32_t *out_level)
{
	struct cursor cursor;
	const unsigned char *level;
	uint64_t time_ns = *previous_ns;

	if (*offset > content_size)
		return CTRACE_DAMAGED;
	cursor = (struct cursor){ .at = packet + *offset, .left = content_size - *offset };
	if (!take_event_head(&cursor, &time_ns, out_class) || !take(&cursor, 1, &level) || *level >= CTRACE_LEVEL_COUNT)
		return CTRACE_DAMAGED;
	*out_level = *level;
	*previous_ns = time_ns;
	*offset = (size_t)(cursor.at - packet);
	return CTRACE_OK;
}

enum ctrace_status ct_packet_decode_items(const struct ct_class *class, const unsigned char *packet, size_t content_size,
					  size_t *offset, struct ctrace_event *event, struct ctrace_event_item *items)
{
	struct cursor cursor = { .at = packet + *offset, .left = content_size - *offset };

	if (class->id == CT_CLASS_GENERIC ? !take_generic(&cursor, event, items) : !take_named(&cursor, class, event, items))
		return CTRACE_DAMAGED;
	event->items = items;
	*offset = (size_t)(cursor.at - packet);
	return CTRACE_OK;
}

enum ctrace_status ct_packet_skip_items(const struct ct_class *class, const unsigned char *packet, size_t content_size, size_t *offset)
{
	struct cursor cursor = { .at = packet + *offset, .left = content_size - *offset };

	for (uint32_t i = 0; i < class->item_count; i++)
		if (!skip_item(&cursor, class->shape[i]))
			return CTRACE_DAMAGED;
	*offset = (size_t)(cursor.at - packet);
	return CTRACE_OK;
}

enum ctrace_status ct_packet_decode_event(const struct ct_schema *schema, const unsigned char *packet, size_t content_size,
					  size_t *offset, uint64_t *previous_ns, struct ctrace_event *out,
					  struct ctrace_event_item *items)
{
	struct ctrace_event event = { 0 };
	const struct ct_class *class;
	uint64_t time_ns = *previous_ns;
	size_t at = *offset;
	uint32_t id;
	enum ctrace_status status = ct_packet_decode_event_head(packet, content_size, &at, &time_ns, &id, &event.level);

	if (status != CTRACE_OK)
		return status;
	class = ct_schema_find(schema, id);
	if (class == NULL)
		return CTRACE_NOT_FOUND;
	event.component = class->component;
	event.component_size = (uint32_t)strlen(class->component);
	event.event_id = class->event_id;
	status = ct_packet_decode_items(class, packet, content_size, &at, &event, items);
	if (status != CTRACE_OK)
		return status;
	event.time_ns = time_ns;
	*offset = at;
	*previous_ns = time_ns;
	*out = event;
	return CTRACE_OK;
}

size_t ct_packet_find(const unsigned char *bytes, size_t size, size_t from)
{
	static const unsigned char magic[4] = { MAGIC & 0xFF, MAGIC >> 8 & 0xFF, MAGIC >> 16 & 0xFF, MAGIC >> 24 };

	while (from < size) {
		const unsigned char *found = memmem(bytes + from, size - from, magic, sizeof magic);
		struct ct_packet_head head;
		size_t head_size;

		if (found == NULL)
			break;
		from = (size_t)(found - bytes);
		if (ct_packet_decode_head(found, size - from, &head, &head_size) == CTRACE_OK)
			return from;
		from++;
	}
	return size;
}
