/*
 * fuzz_packet.c - the stream file of a BINFILE trace, any bytes: read packet by packet, event by
 * event, with classes of all kinds; what can be read is written and read again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctrace_event_item items[CTRACE_MAX_ITEMS], items_again[CTRACE_MAX_ITEMS];

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* One class of each kind of item, and one of all of them: numbers 16, 18, ... 38, and 40. */
static struct ct_schema *make_schema(void)
{
	static const uint32_t all[] = {
		CTRACE_TYPE_BINARY | CT_SIZE_COUNTED_16 << 8,
		CTRACE_TYPE_BINARY | CT_SIZE_COUNTED_32 << 8,
		CTRACE_TYPE_BINARY | 5u << 8,
		CTRACE_TYPE_TEXT | CT_SIZE_COUNTED_16 << 8,
		CTRACE_TYPE_TEXT | 0u << 8,
		CTRACE_TYPE_TEXT | 10u << 8,
		CTRACE_TYPE_UTF8 | CT_SIZE_COUNTED_16 << 8,
		CTRACE_TYPE_ADDRESS | 8u << 8,
		CTRACE_TYPE_COMP5 | 3u << 8,
		CTRACE_TYPE_COMPX | 8u << 8,
		CTRACE_TYPE_COMP5S | 1u << 8,
		CTRACE_TYPE_COMPXS | 5u << 8,
	};
	struct ct_class class = { .number = CT_CLASS_FIRST, .component = "FUZZ" };
	struct ct_schema *schema;

	if (ct_schema_create(&schema) != CTRACE_OK)
		abort();
	for (uint32_t i = 0; i < CT_COUNT(all); i++) {
		class.event_id = i + 1;
		class.items = &all[i];
		class.item_count = 1;
		require(ct_schema_add(schema, &class) == CTRACE_OK);
		class.number += 2;
	}
	class.event_id = CT_COUNT(all) + 1;
	class.items = all;
	class.item_count = CT_COUNT(all);
	require(ct_schema_add(schema, &class) == CTRACE_OK);
	return schema;
}

/* The event that was decoded, with its items. */
static struct ctrace_event event_of(const struct ct_schema *schema,
				    const struct ct_packet_clock *clock,
				    const struct ct_event *event, struct ctrace_event_item *its)
{
	const struct ct_class *class =
		ct_schema_at(schema, event->number == CT_CLASS_ANY ? 0 : event->head.component);
	const char *component = event->component != NULL ? event->component : class->component;

	require(class->number == event->number);
	ct_event_items(event, its);
	return (struct ctrace_event){
		.time_ns = ct_packet_clock_time(clock),
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.event_id = event->head.event_id,
		.level = event->head.level,
		.item_count = event->item_count,
		.items = its,
	};
}

/* What was read, written and read again, is the same. */
static void write_and_read_again(const struct ctrace_event *event)
{
	const struct ct_trace_info info = { .frequency = 0 };
	struct ct_packet_writer writer = { .info = &info };
	struct ct_packet_head head;
	struct ct_packet_clock clock;
	struct ct_class_image image;
	struct ct_schema *schema;
	struct ctrace_event again;
	struct ct_event decoded;
	size_t offset = CT_PACKET_HEAD;

	if (event->time_ns > INT64_MAX || ct_schema_create(&schema) != CTRACE_OK)
		return;
	ct_packet_write(&writer, ct_schema_class(schema, event, NULL), event);
	ct_packet_end(&writer);
	if (!writer.packets.failed) {
		image = ct_schema_image(schema);
		require(ct_packet_decode_head((unsigned char *)writer.packets.data,
					      writer.packets.size, &head) == CTRACE_OK);
		clock = ct_packet_clock_start(&head);
		require(ct_event_decode(&image, (unsigned char *)writer.packets.data + offset,
					writer.packets.size - offset, &clock.state,
					&decoded) == CTRACE_OK);
		require(offset + decoded.size == writer.packets.size);
		again = event_of(schema, &clock, &decoded, items_again);
		require(again.time_ns == event->time_ns && again.event_id == event->event_id);
		require(again.level == event->level && again.item_count == event->item_count);
		require(again.component_size == event->component_size &&
			strcmp(again.component, event->component) == 0);
		for (uint32_t i = 0; i < event->item_count; i++) {
			uint32_t type = event->items[i].type, size = event->items[i].size;

			/* In a class of its own, an integer of an odd size is bytes. */
			require(items_again[i].type ==
				(decoded.number == CT_CLASS_ANY
					 ? type
					 : (ct_class_item_printed(type | size << 8) & 0xFF)));
			require(items_again[i].size == size);
			require(event->items[i].size == 0 ||
				memcmp(items_again[i].data, event->items[i].data,
				       event->items[i].size) == 0);
		}
	}
	ct_buf_fini(&writer.packets);
	ct_schema_destroy(schema);
}

static void read_packet(const struct ct_schema *schema, const uint8_t *data, size_t size)
{
	const struct ct_class_image image = ct_schema_image(schema);
	struct ct_packet_clock clock;
	struct ct_packet_head head;
	struct ctrace_event event;
	struct ct_event decoded;
	size_t offset = CT_PACKET_HEAD, content;

	if (ct_packet_decode_head(data, size, &head) != CTRACE_OK)
		return;
	content = head.content_bits / 8 < size ? (size_t)(head.content_bits / 8) : size;
	clock = ct_packet_clock_start(&head);
	while (offset < content) {
		if (ct_event_decode(&image, data + offset, content - offset, &clock.state,
				    &decoded) != CTRACE_OK)
			break;
		require(decoded.size > 0 && decoded.size <= content - offset);
		offset += decoded.size;
		if (decoded.is_mark)
			continue;
		event = event_of(schema, &clock, &decoded, items);
		require(event.time_ns >= head.begin_ns && event.time_ns <= head.end_ns);
		write_and_read_again(&event);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_schema *schema = make_schema();

	for (size_t at = 0; at < size; at++) {
		at = ct_packet_find(data, size, at);
		require(at <= size);
		if (at < size)
			read_packet(schema, data + at, size - at);
	}
	ct_schema_destroy(schema);
	return 0;
}
