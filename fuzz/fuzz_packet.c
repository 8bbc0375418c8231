/*
 * fuzz_packet.c - the stream file of a BINFILE trace, any bytes: read packet by packet, event by event, with classes of all kinds; what
 * can be read is written and read again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctrace_event_item items[CTRACE_MAX_ITEMS], items_again[CTRACE_MAX_ITEMS];

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* One class of each kind of item, and one of all of them. */
static struct ct_schema *make_schema(void)
{
	static const uint8_t shape[] = { CT_KIND_BINARY | 1, CT_KIND_BINARY | 2,  CT_KIND_BINARY | 4, CT_KIND_TEXT | 1,
					 CT_KIND_UTF8 | 1,   CT_KIND_ADDRESS | 8, CT_KIND_COMP5 | 3,  CT_KIND_COMPX | 8,
					 CT_KIND_COMP5S | 1, CT_KIND_COMPXS | 5 };
	struct ct_schema *schema;
	struct ct_class class = { .component = "FUZZ" };

	if (ct_schema_create(&schema) != CTRACE_OK)
		abort();
	for (uint32_t i = 0; i < sizeof shape; i++) {
		class.id = class.event_id = i + 1;
		class.shape = &shape[i];
		class.item_count = 1;
		require(ct_schema_add(schema, &class) == CTRACE_OK);
	}
	class.id = class.event_id = sizeof shape + 1;
	class.shape = shape;
	class.item_count = sizeof shape;
	require(ct_schema_add(schema, &class) == CTRACE_OK);
	return schema;
}

/* What was read, written and read again, is the same. */
static void write_and_read_again(struct ct_schema *schema, const struct ctrace_event *event)
{
	struct ct_packet_head head = { .begin_ns = event->time_ns };
	struct ctrace_event again;
	struct ct_buf out = { 0 };
	uint64_t time_ns = event->time_ns;
	size_t offset = CT_PACKET_HEAD;
	bool is_new;

	if (event->time_ns > INT64_MAX)
		return;
	ct_packet_begin(&out, &head);
	ct_packet_add(&out, ct_schema_class(schema, event, &is_new), event, &time_ns);
	if (!out.failed) {
		time_ns = event->time_ns;
		require(ct_packet_decode_event(schema, (unsigned char *)out.data, out.size, &offset, &time_ns, &again, items_again) ==
			CTRACE_OK);
		require(offset == out.size && again.time_ns == event->time_ns && again.event_id == event->event_id);
		require(again.level == event->level && again.item_count == event->item_count);
		require(again.component_size == event->component_size && strcmp(again.component, event->component) == 0);
		for (uint32_t i = 0; i < event->item_count; i++) {
			require(items_again[i].type == event->items[i].type && items_again[i].size == event->items[i].size);
			require(event->items[i].size == 0 ||
				memcmp(items_again[i].data, event->items[i].data, event->items[i].size) == 0);
		}
	}
	ct_buf_fini(&out);
}

static void read_packet(struct ct_schema *schema, const uint8_t *data, size_t size)
{
	struct ct_packet_head head;
	struct ctrace_event event;
	size_t offset, content;
	uint64_t time_ns;

	if (ct_packet_decode_head(data, size, &head, &offset) != CTRACE_OK)
		return;
	content = head.content_bits / 8 < size ? (size_t)(head.content_bits / 8) : size;
	time_ns = head.begin_ns;
	while (offset < content) {
		size_t before = offset;

		if (ct_packet_decode_event(schema, data, content, &offset, &time_ns, &event, items) != CTRACE_OK)
			break;
		require(offset > before && offset <= content);
		write_and_read_again(schema, &event);
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
