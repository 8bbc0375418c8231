/*
 * test_packet.c - packets: what is written is read back, bit for bit where the format says so, and
 * damage is found.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/format.h"
#include <stdlib.h>
#include <string.h>

#define T0 1700000000000000000u

static struct ct_schema *schema;
static struct ct_trace_info info; /* ticks are nanoseconds, unless a test wants others */
static struct ct_packet_writer writer;

static int setup(void **state)
{
	(void)state;
	info = (struct ct_trace_info){ .uuid = { 1, 2, 3 } };
	writer = (struct ct_packet_writer){
		.info = &info, .stream = 7, .sequence = 3, .lost = 17, .reported = 17, .last_ns = T0
	};
	return ct_schema_create(&schema) == CTRACE_OK ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ct_schema_destroy(schema);
	ct_buf_fini(&writer.packets);
	return 0;
}

/* Writes an event; the number of bytes it took in its packet. */
static size_t add(const struct ctrace_event *event)
{
	size_t before = writer.packets.size;
	uint64_t sequence = writer.sequence;

	ct_packet_write(&writer, ct_schema_class(schema, event, NULL), event);
	assert_false(writer.packets.failed);
	return writer.packets.size - before - (writer.sequence - sequence) * CT_PACKET_HEAD;
}

static void begin(uint64_t time_ns)
{
	ct_packet_begin(&writer, 4711, 4712, time_ns);
}

/* Does it go into the packet that there is? */
static bool goes_on(const struct ctrace_event *event)
{
	uint64_t sequence = writer.sequence;

	(void)add(event);
	return writer.sequence == sequence;
}

static void end(void)
{
	ct_packet_end(&writer);
}

static struct ctrace_event event_of(uint64_t time_ns, uint32_t count,
				    const struct ctrace_event_item *items)
{
	return (struct ctrace_event){
		.time_ns = time_ns,
		.component = "mycomp",
		.component_size = 6,
		.pid = 4711,
		.tid = 4712,
		.event_id = 1,
		.level = CTRACE_INFO,
		.item_count = count,
		.items = items,
	};
}

static void assert_same(const struct ctrace_event *got, const struct ctrace_event *wanted)
{
	assert_int_equal(got->time_ns, wanted->time_ns);
	assert_int_equal(got->component_size, wanted->component_size);
	assert_string_equal(got->component, wanted->component);
	assert_int_equal(got->event_id, wanted->event_id);
	assert_int_equal(got->level, wanted->level);
	assert_int_equal(got->item_count, wanted->item_count);
	for (uint32_t i = 0; i < wanted->item_count; i++) {
		assert_int_equal(got->items[i].type, wanted->items[i].type);
		assert_int_equal(got->items[i].size, wanted->items[i].size);
		assert_memory_equal(got->items[i].data, wanted->items[i].data,
				    wanted->items[i].size);
		assert_int_equal(got->items[i].value,
				 ct_item_value(wanted->items[i].type, wanted->items[i].data,
					       wanted->items[i].size));
	}
}

/* Reads the event at *offset of a packet of `content` bytes as a reader does; *offset moves behind
 * it. */
static enum ctrace_status read_event(const unsigned char *bytes, size_t content, size_t *offset,
				     struct ct_packet_clock *clock, struct ctrace_event *out)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	const struct ct_class_image classes = ct_schema_image(schema);
	struct ct_event event;
	enum ctrace_status status = ct_event_decode(&classes, bytes + *offset, content - *offset,
						    &clock->state, &event);
	const struct ct_class *class;

	if (status != CTRACE_OK)
		return status;
	assert_false(event.is_mark);
	class = ct_schema_at(schema, event.number == CT_CLASS_ANY ? 0 : event.head.component);
	assert_int_equal(class->number, event.number);
	ct_event_items(&event, items);
	*out = (struct ctrace_event){
		.time_ns = ct_packet_clock_time(clock),
		.component = event.component != NULL ? event.component : class->component,
		.component_size = event.component != NULL ? (uint32_t)event.component_size
							  : (uint32_t)strlen(class->component),
		.event_id = event.head.event_id,
		.level = event.head.level,
		.item_count = event.item_count,
		.items = items,
	};
	*offset += event.size;
	return CTRACE_OK;
}

/* Reads the packet's events and compares them. */
static void assert_events(const struct ctrace_event *wanted, size_t count)
{
	const unsigned char *bytes = (const unsigned char *)writer.packets.data;
	struct ct_packet_clock clock;
	struct ct_packet_head found;
	struct ctrace_event event;
	size_t offset = CT_PACKET_HEAD;

	assert_int_equal(ct_packet_decode_head(bytes, writer.packets.size, &found), CTRACE_OK);
	assert_int_equal(found.content_bits, 8 * writer.packets.size);
	clock = ct_packet_clock_start(&found);
	assert_int_equal(ct_packet_clock_time(&clock), found.begin_ns);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(read_event(bytes, writer.packets.size, &offset, &clock, &event),
				 CTRACE_OK);
		assert_same(&event, &wanted[i]);
	}
	assert_int_equal(offset, writer.packets.size);
	assert_int_equal(found.end_ns, ct_packet_clock_time(&clock));
	assert_int_equal(found.end_ticks, clock.state.ticks);
	assert_int_equal(clock.state.tid, 4712);
}

static void head_is_as_drawn(void **state)
{
	static const unsigned char wanted[CT_PACKET_HEAD] = {
		/* clang-format off */
		0xC1, 0x1F, 0xFC, 0xC1,                                    /* magic */
		/* uuid, stream, its instance, nothing */
		1, 2, 3, [20] = 0, [24] = 7, [28] = 0,
		[32] = 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08,     /* timestamp_begin */
		/* content_size, packet_size */
		[40] = 0x00, 0x03, 0, 0, 0x08, 0x03, 0, 0,
		[48] = 1, [55] = 0x17, [56] = 2, [63] = 0x18,              /* both ends in ns */
		[64] = 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x09,     /* timestamp_end */
		/* sequence, discarded, pid, tid */
		[72] = 3, [80] = 17, [88] = 0x67, 0x12, [92] = 0x68, 0x12,
		/* clang-format on */
	};
	const struct ct_packet_head given = {
		.uuid = { 1, 2, 3 },
		.stream_instance = 7,
		.pid = 4711,
		.tid = 4712,
		.begin_ticks = 0x0877665544332211,
		.end_ticks = 0x0977665544332211,
		.begin_ns = 0x1700000000000001,
		.end_ns = 0x1800000000000002,
		.content_bits = 8 * CT_PACKET_HEAD,
		.packet_bits = 8 * CT_PACKET_HEAD + 8,
		.sequence = 3,
		.discarded = 17,
	};
	unsigned char bytes[CT_PACKET_HEAD];
	struct ct_packet_head found;

	(void)state;
	ct_packet_head_put(bytes, &given);
	assert_memory_equal(bytes, wanted, sizeof wanted);
	assert_int_equal(ct_packet_decode_head(bytes, sizeof bytes, &found), CTRACE_OK);
	memset(bytes, 0xFF, sizeof bytes);
	ct_packet_head_put(bytes, &found);
	assert_memory_equal(bytes, wanted, sizeof wanted);
}

/* One without events: its times are those of the head. */
static void an_empty_packet(void **state)
{
	struct ct_packet_head found;

	(void)state;
	begin(T0);
	end();
	assert_int_equal(writer.packets.size, CT_PACKET_HEAD);
	assert_int_equal(ct_packet_decode_head((unsigned char *)writer.packets.data,
					       writer.packets.size, &found),
			 CTRACE_OK);
	assert_memory_equal(found.uuid, info.uuid, 16);
	assert_int_equal(found.stream_instance, 7);
	assert_int_equal(found.pid, 4711);
	assert_int_equal(found.tid, 4712);
	assert_true(found.begin_ns == T0 && found.begin_ticks == T0);
	assert_true(found.end_ns == T0 && found.end_ticks == T0);
	assert_int_equal(found.sequence, 3);
	assert_int_equal(found.discarded, 17);
	assert_int_equal(found.content_bits, 8 * CT_PACKET_HEAD);
	assert_int_equal(found.packet_bits, 8 * CT_PACKET_HEAD);
}

static void dense_events_are_small(void **state)
{
	const struct ctrace_event_item text = { .type = CTRACE_TYPE_TEXT,
						.size = 10,
						.data = "0123456789" };
	const struct ctrace_event_item b[] = {
		{ .type = CTRACE_TYPE_COMP5, .size = 4, .data = "\1\2\3\4" },
		{ .type = CTRACE_TYPE_COMP5, .size = 8, .data = "\1\2\3\4\5\6\7\10" },
		{ .type = CTRACE_TYPE_COMP5S,
		  .size = 8,
		  .data = "\377\377\377\377\377\377\377\377" },
		{ .type = CTRACE_TYPE_TEXT,
		  .size = 32,
		  .data = "abcdefghijklmnopqrstuvwxyzabcdef" },
	};
	const struct ctrace_event events[] = { event_of(T0 + 5, 1, &text), event_of(T0 + 9, 4, b) };
	uint64_t word;

	(void)state;
	assert_int_equal(add(&events[0]), 8 + 2 + 10);
	assert_int_equal(add(&events[1]), 8 + 4 + 8 + 8 + 2 + 32);
	end();
	memcpy(&word, writer.packets.data + CT_PACKET_HEAD, 8);
	assert_true(le64toh(word) == (CT_CLASS_FIRST | (T0 + 5) << 16));
	assert_memory_equal(writer.packets.data + CT_PACKET_HEAD + 8, "\12\0000123456789", 12);
	memcpy(&word, writer.packets.data + CT_PACKET_HEAD + 20, 8);
	/* The first class takes two units: 16 bytes, and 4 an item. */
	assert_true(le64toh(word) == ((CT_CLASS_FIRST + 2) | (T0 + 9) << 16));
	assert_memory_equal(writer.packets.data + CT_PACKET_HEAD + 28,
			    "\1\2\3\4\1\2\3\4\5\6\7\10\377", 13);
	assert_events(events, 2);
}

/* 48 bits of ticks tell times apart that are less than half of that from each other; what is
 * further apart has packets of its own. */
static void time_between_events(void **state)
{
	const uint64_t far_ns = (uint64_t)1 << 46;
	struct ctrace_event events[9];

	(void)state;
	begin(T0);
	for (unsigned i = 0; i < 8; i++) {
		events[i] = event_of(writer.last_ns + far_ns - 1, 0, NULL);
		assert_int_equal(add(&events[i]), 8);
	}
	assert_int_equal(writer.sequence, 4);
	events[8] = event_of(0, 0, NULL); /* taken as the time before it */
	assert_true(goes_on(&events[8]));
	end();
	events[8].time_ns = writer.last_ns;
	assert_events(events, CT_COUNT(events));
	events[0] = event_of(writer.last_ns + far_ns, 0, NULL);
	begin(writer.last_ns);
	assert_false(goes_on(&events[0]));
}

static void a_packet_has_room_up_to_its_limit(void **state)
{
	static const char data[CTRACE_MAX_ITEM_SIZE];
	struct ctrace_event_item item = { .type = CTRACE_TYPE_BINARY, .size = 1000, .data = data };
	struct ctrace_event event = event_of(T0, 1, &item);
	unsigned count = 0;

	(void)state;
	begin(T0);
	while (goes_on(&event))
		count++;
	assert_in_range(writer.packet_at, CT_PACKET_CONTENT - 2 * 1010, CT_PACKET_CONTENT);
	assert_int_equal(count, (CT_PACKET_CONTENT - CT_PACKET_HEAD) / 1010);
}

/* An event of another thread, or behind losses, has a packet of its own. */
static void a_packet_is_of_one_thread_and_says_what_was_lost_before_it(void **state)
{
	struct ctrace_event event = event_of(T0, 0, NULL);

	(void)state;
	assert_false(goes_on(&event));
	assert_true(goes_on(&event));
	event.tid++;
	assert_false(goes_on(&event));
	event.pid++;
	assert_false(goes_on(&event));
	writer.lost++;
	assert_false(goes_on(&event));
	assert_int_equal(writer.head.discarded, 18);
	assert_true(goes_on(&event));
}

/* A viewer counts what was lost between two packets. */
static void losses_before_the_first_packet_follow_an_empty_one(void **state)
{
	struct ctrace_event event = event_of(T0, 0, NULL);
	struct ct_packet_head found;

	(void)state;
	writer.sequence = 0;
	writer.reported = 12;
	assert_false(goes_on(&event));
	end();
	assert_int_equal(writer.sequence, 2);
	assert_int_equal(writer.packet_at, CT_PACKET_HEAD);
	assert_int_equal(ct_packet_decode_head((unsigned char *)writer.packets.data,
					       writer.packets.size, &found),
			 CTRACE_OK);
	assert_int_equal(found.packet_bits, 8 * CT_PACKET_HEAD);
	assert_int_equal(found.sequence, 0);
	assert_int_equal(found.discarded, 12);
	assert_int_equal(writer.head.sequence, 1);
	assert_int_equal(writer.head.discarded, 17);
}

/* The head of a packet that is written elsewhere, as that of one that is written here. */
static void a_packet_elsewhere_has_its_number_and_its_losses(void **state)
{
	struct ct_packet_head head = { .pid = 4711 };
	uint32_t events;

	(void)state;
	assert_true(ct_packet_number(&writer, &head, 5));
	assert_memory_equal(head.uuid, info.uuid, sizeof head.uuid);
	assert_int_equal(head.stream_instance, 7);
	assert_int_equal(head.sequence, 3);
	assert_int_equal(head.discarded, 17);
	events = head.events;
	assert_int_equal(head.pid, 4711);
	writer.lost = 20;
	assert_true(ct_packet_number(&writer, &head, 5));
	assert_int_equal(head.sequence, 4);
	assert_int_equal(head.discarded, 20);
	assert_int_equal(writer.reported, 20);
	assert_int_equal(head.events, events + 5);

	/* A stream that begins with losses begins with an empty packet. */
	writer.sequence = 0;
	writer.reported = 0;
	assert_false(ct_packet_number(&writer, &head, 5));
	assert_int_equal(head.sequence, 0);
	assert_int_equal(head.discarded, 0);
	assert_true(ct_packet_number(&writer, &head, 5));
	assert_int_equal(head.sequence, 1);
	assert_int_equal(head.discarded, 20);
}

static void time_never_goes_back(void **state)
{
	struct ctrace_event events[3];

	(void)state;
	events[0] = event_of(T0 + 100, 0, NULL);
	events[1] = event_of(T0 + 50, 0, NULL);
	events[2] = event_of(T0 + 101, 0, NULL);
	for (int i = 0; i < 3; i++)
		add(&events[i]);
	end();
	events[1].time_ns = T0 + 100;
	assert_events(events, 3);
}

/* Viewers count signed nanoseconds. */
static void times_have_63_bits(void **state)
{
	struct ctrace_event event = event_of(UINT64_MAX, 0, NULL);

	(void)state;
	assert_int_equal(ct_packet_time(UINT64_MAX, T0), INT64_MAX);
	begin(INT64_MAX - 5);
	assert_true(goes_on(&event));
	end();
	event.time_ns = INT64_MAX;
	assert_events(&event, 1);
}

static void any_number_takes_8_bytes(void **state)
{
	struct ctrace_event events[1100];

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(events); i++) {
		uint16_t number;

		events[i] = event_of(T0 + i, 0, NULL);
		events[i].event_id = i;
		assert_int_equal(add(&events[i]), 8);
		memcpy(&number, writer.packets.data + writer.packets.size - 8, 2);
		assert_int_equal(le16toh(number), CT_CLASS_FIRST + i);
	}
	end();
	assert_events(events, CT_COUNT(events));
}

static void every_type_and_width(void **state)
{
	static const unsigned char bytes[8] = { 0xF1, 0xE2, 0xD3, 0xC4, 0xB5, 0xA6, 0x97, 0x88 };
	static const uint32_t lengths[] = { 0, 1, 7, 8, 9, 16, 17, 255, 256, 65535, 65536 };
	static const uint32_t byte_types[] = { CTRACE_TYPE_BINARY, CTRACE_TYPE_TEXT,
					       CTRACE_TYPE_UTF8 };
	static unsigned char big[65536];
	struct ctrace_event_item items[80];
	struct ctrace_event event;
	uint32_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (unsigned char)(i * 7);
	for (uint32_t type = CTRACE_TYPE_COMP5; type <= CTRACE_TYPE_COMPXS; type++)
		for (uint32_t size = 1; type != CTRACE_TYPE_UTF8 && size <= 8; size++)
			items[count++] = (struct ctrace_event_item){ .type = type,
								     .size = size,
								     .data = bytes };
	items[count++] =
		(struct ctrace_event_item){ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = bytes };
	for (size_t i = 0; i < CT_COUNT(lengths); i++)
		for (size_t type = 0; type < CT_COUNT(byte_types); type++)
			items[count++] = (struct ctrace_event_item){ .type = byte_types[type],
								     .size = lengths[i],
								     .data = big };
	event = event_of(T0 + 1, count, items);
	add(&event);
	end();
	assert_events(&event, 1);
}

static void generic_class_holds_4096_items_of_any_kind(void **state)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	struct ctrace_event event;
	size_t data_size = 0;

	(void)state;
	for (uint32_t i = 0; i < CTRACE_MAX_ITEMS; i++) {
		uint32_t type = i % CTRACE_TYPE_COUNT;

		items[i] = (struct ctrace_event_item){ .type = type,
						       .size = type == CTRACE_TYPE_ADDRESS
								       ? 8
								       : 1 + i / 8 % 8,
						       .data = "ABCDEFGH" };
		data_size += CT_EVENT_ANY_ITEM + items[i].size;
	}
	event = event_of(T0 + 1, CTRACE_MAX_ITEMS, items);
	assert_int_equal(add(&event), 8 + 4 + 7 + 4 + 1 + 2 + data_size);
	end();
	assert_events(&event, 1);
}

/* An event of the generic class is as drawn in the metadata: a reader needs no other word. */
static void generic_class_as_drawn(void **state)
{
	static struct ctrace_event_item items[CT_CLASS_MAX_ITEMS + 1];
	static const unsigned char wanted[] = {
		/* clang-format off */
		1, 0, 0, 0, 0, 0, 0, 0,                      /* number and ticks, which are compared apart */
		/* the component's number, which a file has no use for; its name */
		0, 0, 0, 0, 'm', 'y', 'c', 'o', 'm', 'p', 0,
		1, 0, 0, 0, CTRACE_INFO, 1, 1,               /* event id, level, 257 items */
		0x32, 2, 0, 0, 0, 0x34, 0x12,                /* COMP5 of 2 bytes */
		0x10, 3, 0, 0, 0, 'a', 'b', 'c',             /* TEXT */
		0x28, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,    /* ADDRESS */
		0x20, 4, 0, 0, 0, 1, 2, 3, 4,                /* an address of 4 bytes is bytes */
		0x30, 0, 0, 0, 0,                            /* so is an integer of none */
		0x60, 9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, /* and one of 9 */
		0x78, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,    /* COMPXS */
		0x00, 0, 0, 0, 0,
		/* clang-format on */
	};
	static const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	const struct ctrace_event_item first[] = {
		{ .type = CTRACE_TYPE_COMP5, .size = 2, .data = "\x34\x12" },
		{ .type = CTRACE_TYPE_TEXT, .size = 3, .data = "abc" },
		{ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = bytes },
		{ .type = CTRACE_TYPE_ADDRESS, .size = 4, .data = bytes },
		{ .type = CTRACE_TYPE_COMP5, .size = 0, .data = bytes },
		{ .type = CTRACE_TYPE_COMP5S, .size = 9, .data = bytes },
		{ .type = CTRACE_TYPE_COMPXS, .size = 8, .data = bytes },
	};
	struct ctrace_event event = event_of(T0 + 1, CT_COUNT(items), items);

	(void)state;
	for (size_t i = 0; i < CT_COUNT(items); i++)
		items[i] = i < CT_COUNT(first)
				   ? first[i]
				   : (struct ctrace_event_item){ .type = CTRACE_TYPE_BINARY,
								 .data = bytes };
	add(&event);
	end();
	assert_memory_equal(writer.packets.data + CT_PACKET_HEAD, "\1\0", 2);
	assert_memory_equal(writer.packets.data + CT_PACKET_HEAD + 2,
			    &(const uint64_t){ htole64(event.time_ns) }, 6);
	assert_memory_equal(writer.packets.data + CT_PACKET_HEAD + 8, wanted + 8,
			    sizeof wanted - 8);
	assert_events(&event, 1);
}

/* The largest event there is: a packet of it is no larger than a reader accepts. */
static void the_largest_event(void **state)
{
	static struct ctrace_event_item items[CTRACE_MAX_ITEMS];
	static unsigned char big[CTRACE_MAX_ITEM_SIZE];
	char name[CTRACE_MAX_COMPONENT + 1] = "";
	struct ct_packet_head back;
	struct ctrace_event event;

	(void)state;
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (unsigned char)(i * 7);
	for (uint32_t i = 0; i < CTRACE_MAX_ITEMS; i++)
		items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_BINARY,
						       .size = sizeof big,
						       .data = big };
	event = event_of(T0 + 1, CTRACE_MAX_ITEMS, items);
	event.component_size = CTRACE_MAX_COMPONENT;
	event.component = memset(name, 'n', CTRACE_MAX_COMPONENT);
	add(&event);
	end();
	assert_int_equal(ct_packet_decode_head((unsigned char *)writer.packets.data,
					       writer.packets.size, &back),
			 CTRACE_OK);
	assert_int_equal(back.content_bits / 8, writer.packets.size);
	assert_true(writer.packets.size <= CT_PACKET_MAX);
	assert_events(&event, 1);
}

/* Every cut of the packet's only event is noticed. */
static void assert_cuts_are_noticed(void)
{
	for (size_t content = CT_PACKET_HEAD; content < writer.packets.size; content++) {
		struct ct_packet_clock clock = ct_packet_clock_start(&writer.head);
		unsigned char *copy = malloc(content);
		struct ctrace_event found;
		size_t offset = CT_PACKET_HEAD;

		memcpy(copy, writer.packets.data, content);
		assert_int_equal(read_event(copy, content, &offset, &clock, &found),
				 CTRACE_BUFFER_TOO_SMALL);
		assert_int_equal(offset, CT_PACKET_HEAD);
		assert_int_equal(clock.state.ticks, writer.head.begin_ticks);
		free(copy);
	}
}

static void cut_anywhere_it_is_noticed(void **state)
{
	static const char fives[300] = { 5 };
	const struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 3, .data = "abc" },
		{ .type = CTRACE_TYPE_COMPX, .size = 5, .data = "12345" },
		{ .type = CTRACE_TYPE_BINARY, .size = 300, .data = fives },
	};
	const struct ctrace_event event = event_of(T0 + 10000000, 3, items);

	(void)state;
	add(&event);
	assert_cuts_are_noticed();
}

static void a_generic_event_cut_anywhere_is_noticed(void **state)
{
	static struct ctrace_event_item items[CT_CLASS_MAX_ITEMS + 1];
	const struct ctrace_event event = event_of(T0 + 10000000, CT_COUNT(items), items);

	(void)state;
	for (size_t i = 0; i < CT_COUNT(items); i++)
		items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
						       .size = (uint32_t)i % 3,
						       .data = "ab" };
	add(&event);
	assert_cuts_are_noticed();
}

static enum ctrace_status read_first(size_t offset)
{
	struct ct_packet_clock clock = ct_packet_clock_start(&writer.head);
	struct ctrace_event found;

	return read_event((unsigned char *)writer.packets.data, writer.packets.size, &offset,
			  &clock, &found);
}

static void damaged_events_are_refused(void **state)
{
	struct ctrace_event event = event_of(T0 + 1, 0, NULL);
	unsigned char *at;

	(void)state;
	add(&event);
	at = (unsigned char *)writer.packets.data + CT_PACKET_HEAD;
	assert_int_equal(read_first(CT_PACKET_HEAD), CTRACE_OK);
	for (unsigned number = 0; number < CT_CLASS_FIRST; number++) {
		/* of no class; CT_CLASS_ANY and CT_CLASS_MARK have more behind them */
		at[0] = (unsigned char)number;
		assert_int_equal(read_first(CT_PACKET_HEAD),
				 number == CT_CLASS_ANY || number == CT_CLASS_MARK
					 ? CTRACE_BUFFER_TOO_SMALL
					 : CTRACE_DAMAGED);
	}
	at[0] = 99; /* no such class, and none can be there */
	assert_int_equal(read_first(CT_PACKET_HEAD), CTRACE_DAMAGED);
	at[0] = at[1] = 0xFF;
	assert_int_equal(read_first(CT_PACKET_HEAD), CTRACE_DAMAGED);
	assert_int_equal(read_first(writer.packets.size), CTRACE_BUFFER_TOO_SMALL);
}

/* Where each part of a generic event is that a reader refuses when it is wrong. */
static void damaged_generic_events_are_refused(void **state)
{
	static struct ctrace_event_item items[CT_CLASS_MAX_ITEMS + 1];
	static const struct {
		size_t offset;
		size_t size;
		const char *bytes;
	} changes[] = {
		{ 12, 1, "" },                 /* no name */
		{ 18, 1, "x" },                /* one that does not end */
		{ 23, 1, "\5" },               /* level */
		{ 24, 2, "\x01\x10" },         /* 4097 items */
		{ 26, 1, "\x12" },             /* a text is no integer of 2 bytes */
		{ 26, 1, "\x30" },             /* an integer of 2 bytes is one */
		{ 26, 1, "\x31" },             /* and not of 1 */
		{ 26, 1, "\x80" },             /* no such type */
		{ 27, 4, "\xFF\xFF\xFF\x00" }, /* an item that is too large */
	};
	struct ctrace_event event = event_of(T0 + 1, CT_COUNT(items), items);

	(void)state;
	for (size_t i = 0; i < CT_COUNT(items); i++)
		items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_COMP5,
						       .size = 2,
						       .data = "ab" };
	add(&event);
	assert_int_equal(read_first(CT_PACKET_HEAD), CTRACE_OK);
	for (size_t i = 0; i < CT_COUNT(changes); i++) {
		char *at = writer.packets.data + CT_PACKET_HEAD + changes[i].offset, kept[4];

		memcpy(kept, at, changes[i].size);
		memcpy(at, changes[i].bytes, changes[i].size);
		if (read_first(CT_PACKET_HEAD) != CTRACE_DAMAGED)
			fail_msg("change %zu is not noticed", i);
		memcpy(at, kept, changes[i].size);
	}
	assert_int_equal(read_first(CT_PACKET_HEAD), CTRACE_OK);
}

static void damaged_heads_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} changes[] = {
		{ 0, 0 },                               /* magic */
		{ 20, 1 },                              /* stream_id */
		{ 40, 8 },                              /* content_size smaller than the head */
		{ 40, 0xFFFF8 },                        /* larger than packet_size */
		{ 40, 8 * 96 + 1 },                     /* no whole bytes */
		{ 44, 8 * 96 + 1 }, { 44, 0xFFFFFFF8 }, /* larger than any packet */
		{ 60, 0 },                              /* the end before the beginning, in ns */
		{ 68, 0 },                              /* in ticks */
	};
	struct ct_packet_head found;

	(void)state;
	begin(T0);
	end();
	for (size_t i = 0; i < CT_COUNT(changes); i++) {
		unsigned char copy[CT_PACKET_HEAD];

		memcpy(copy, writer.packets.data, sizeof copy);
		memcpy(copy + changes[i].offset, &(const uint32_t){ htole32(changes[i].value) }, 4);
		assert_int_equal(ct_packet_decode_head(copy, sizeof copy, &found), CTRACE_DAMAGED);
	}
	for (size_t available = 0; available < CT_PACKET_HEAD; available++)
		assert_int_equal(ct_packet_decode_head((unsigned char *)writer.packets.data,
						       available, &found),
				 CTRACE_DAMAGED);
}

static void next_packet_is_found(void **state)
{
	static unsigned char bytes[1000];

	(void)state;
	begin(T0);
	end();
	memset(bytes, 0xC1, sizeof bytes);
	memcpy(bytes + 500, writer.packets.data, CT_PACKET_HEAD);
	memcpy(bytes + 100, writer.packets.data, 4); /* a magic alone is no packet */
	assert_int_equal(ct_packet_find(bytes, sizeof bytes, 0), 500);
	assert_int_equal(ct_packet_find(bytes, sizeof bytes, 500), 500);
	assert_int_equal(ct_packet_find(bytes, sizeof bytes, 501), sizeof bytes);
	assert_int_equal(ct_packet_find(bytes, 500 + CT_PACKET_HEAD - 1, 0),
			 500 + CT_PACKET_HEAD - 1);
	assert_int_equal(ct_packet_find(bytes, 0, 0), 0);
}

/* -----------------------------------------------------------------------------------------------
 * Time within a packet
 */

static uint64_t time_at(const struct ct_packet_head *of, uint64_t ticks)
{
	struct ct_packet_clock clock = ct_packet_clock_start(of);

	clock.state.ticks = ticks;
	return ct_packet_clock_time(&clock);
}

static struct ct_packet_head ends(uint64_t begin_ticks, uint64_t end_ticks, uint64_t begin_ns,
				  uint64_t end_ns)
{
	return (struct ct_packet_head){ .begin_ticks = begin_ticks,
					.end_ticks = end_ticks,
					.begin_ns = begin_ns,
					.end_ns = end_ns };
}

static void the_clock_begins_with_the_packet(void **state)
{
	const struct ct_packet_head packet_head = {
		.begin_ticks = 5, .end_ticks = 7, .begin_ns = T0, .end_ns = T0 + 2, .tid = 12
	};
	struct ct_packet_clock clock = ct_packet_clock_start(&packet_head);

	(void)state;
	assert_int_equal(clock.state.ticks, 5);
	assert_int_equal(clock.state.tid, 12);
	assert_int_equal(ct_packet_clock_time(&clock), T0);
}

/* A packet of one event, and one of two: its ends are what the head says, whatever a tick is. */
static void the_ends_are_exact(void **state)
{
	static const uint64_t spans[] = { 1, 2, 3, 7, 999, 1000000007, 86400000000000 };
	static const uint64_t frequencies[] = { 100000,     19200000,   1000000000,
						2000000000, 2995200000, 5000000001 };

	(void)state;
	for (size_t f = 0; f < CT_COUNT(frequencies); f++) {
		for (size_t i = 0; i < CT_COUNT(spans); i++) {
			uint64_t ticks = (uint64_t)((unsigned __int128)spans[i] * frequencies[f] /
						    1000000000) +
					 1;
			const struct ct_packet_head two =
				ends(1000, 1000 + ticks, T0, T0 + spans[i]);
			const struct ct_packet_head one = ends(1000, 1000, T0, T0);
			unsigned __int128 middle_ns =
				(unsigned __int128)spans[i] * (ticks / 2) / ticks;

			assert_int_equal(time_at(&one, 1000), T0);
			assert_int_equal(time_at(&two, 1000), T0);
			assert_int_equal(time_at(&two, 1000 + ticks), T0 + spans[i]);
			assert_in_range(time_at(&two, 1000 + ticks / 2), T0 + (uint64_t)middle_ns,
					T0 + (uint64_t)middle_ns + 1);
		}
	}
}

static void ticks_that_are_nanoseconds_are_exact(void **state)
{
	const uint64_t day = 86400000000000;
	const struct ct_packet_head packet_head = ends(T0, T0 + day, T0, T0 + day);

	(void)state;
	for (uint64_t ns = 0; ns < day; ns += day / 1009)
		assert_int_equal(time_at(&packet_head, T0 + ns), T0 + ns);
	assert_int_equal(time_at(&packet_head, T0 + day), T0 + day);
}

/* Rounded to the nearest: 3 ticks in 2 ns. */
static void between_the_ends_it_is_rounded(void **state)
{
	const struct ct_packet_head packet_head = ends(10, 16, T0, T0 + 4);
	static const uint64_t wanted[] = { 0, 1, 1, 2, 3, 3, 4 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(wanted); i++)
		assert_int_equal(time_at(&packet_head, 10 + i), T0 + wanted[i]);
}

static void ends_that_are_equal(void **state)
{
	const struct ct_packet_head one_tick = ends(10, 10, T0, T0 + 5),
				    one_ns = ends(10, 15, T0, T0);

	(void)state;
	for (uint64_t ticks = 0; ticks < 20; ticks++) {
		assert_int_equal(time_at(&one_tick, ticks), T0);
		assert_int_equal(time_at(&one_ns, ticks), T0);
	}
}

/* What the head or an event says wrongly gives no time outside the packet, and none that goes back
 * while ticks go forward. */
static void hostile_heads_give_times_within_the_packet(void **state)
{
	static const uint64_t extremes[] = { 0,
					     1,
					     2,
					     1u << 31,
					     (uint64_t)1 << 32,
					     (uint64_t)1 << 47,
					     INT64_MAX,
					     UINT64_MAX - 1,
					     UINT64_MAX };
	const size_t count = CT_COUNT(extremes);

	(void)state;
	for (size_t i = 0; i < count * count * count * count; i++) {
		const struct ct_packet_head packet_head = ends(
			extremes[i % count], extremes[i / count % count],
			extremes[i / count / count % count], extremes[i / count / count / count]);
		uint64_t previous = packet_head.begin_ns;

		if (packet_head.end_ticks < packet_head.begin_ticks ||
		    packet_head.end_ns < packet_head.begin_ns)
			continue;
		for (size_t t = 0; t < count; t++) {
			uint64_t time_ns = time_at(&packet_head, extremes[t]);

			assert_true(time_ns >= previous && time_ns <= packet_head.end_ns);
			previous = time_ns;
		}
	}
}

/* Ticks of a trace with a frequency, and back by the packet's line. */
static void ticks_of_a_trace(void **state)
{
	const struct ctrace_event events[] = { event_of(T0 + 1000, 0, NULL),
					       event_of(T0 + 1001, 0, NULL),
					       event_of(T0 + 500000, 0, NULL) };

	(void)state;
	info = (struct ct_trace_info){ .frequency = 2000000000,
				       .offset_s = T0 / 1000000000 - 60,
				       .offset = 12345 };
	assert_int_equal(ct_trace_ticks(&info, T0), 60 * info.frequency - 12345);
	assert_int_equal(ct_trace_ticks(&info, T0 + 1), 60 * info.frequency - 12345 + 2);
	assert_int_equal(ct_trace_ticks(&info, T0 - 61000000000), 0);
	assert_int_equal(ct_trace_ticks(&info, (T0 / 1000000000 - 60) * 1000000000), 0);
	ct_trace_clock_set(&info, 2400000000, 2400000000ull * 86400 + 1234567890, T0 + 999999999);
	assert_in_range(ct_trace_ticks(&info, T0 + 999999999), 2400000000ull * 86400 + 1234567888,
			2400000000ull * 86400 + 1234567892);
	/* The counter is older than 1970 is ago, and a time after the end of all ticks. */
	ct_trace_clock_set(&info, 1000, 5999, 5);
	assert_int_equal(info.offset_s, 0);
	assert_int_equal(info.offset, 0);
	info = (struct ct_trace_info){ .frequency = UINT64_MAX };
	assert_int_equal(ct_trace_ticks(&info, UINT64_MAX), UINT64_MAX);
	info = (struct ct_trace_info){ .frequency = 2000000000,
				       .offset_s = T0 / 1000000000 - 60,
				       .offset = 12345 };
	begin(T0 + 1000);
	for (size_t i = 0; i < CT_COUNT(events); i++)
		add(&events[i]);
	end();
	assert_events(events, CT_COUNT(events));
}

/* Each bit that the version leaves open is 0 in some and 1 in others; the lowest of the first byte
 * is always 1. */
static void a_new_trace_has_a_random_uuid_of_version_4(void **state)
{
	uint8_t ones[16] = { 0 }, zeros[16] = { 0 };

	(void)state;
	for (unsigned round = 0; round < 64; round++) {
		uint8_t uuid[16] = { 0 };

		ct_trace_make_uuid(uuid);
		assert_int_equal(uuid[6] >> 4, 4);
		assert_int_equal(uuid[8] >> 6, 2);
		for (size_t i = 0; i < sizeof uuid; i++) {
			ones[i] |= uuid[i];
			zeros[i] |= (uint8_t)~uuid[i];
		}
	}
	for (size_t i = 0; i < sizeof ones; i++)
		assert_int_equal(ones[i] & zeros[i], i == 0   ? 0xFE
						     : i == 6 ? 0x0F
						     : i == 8 ? 0x3F
							      : 0xFF);
}

static void losses_of_all_reasons_are_one_total(void **state)
{
	uint64_t lost[CTRACE_LOSS_COUNT] = { 0 };

	(void)state;
	assert_int_equal(ct_loss_total(lost), 0);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		lost[i] = UINT64_C(1) << (2 * i);
	assert_int_equal(ct_loss_total(lost), ((UINT64_C(1) << (2 * CTRACE_LOSS_COUNT)) - 1) / 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_packet(void)
{
	const struct CMUnitTest tests[] = {
		TEST(head_is_as_drawn),
		TEST(an_empty_packet),
		TEST(dense_events_are_small),
		TEST(time_between_events),
		TEST(a_packet_has_room_up_to_its_limit),
		TEST(a_packet_is_of_one_thread_and_says_what_was_lost_before_it),
		TEST(losses_of_all_reasons_are_one_total),
		TEST(losses_before_the_first_packet_follow_an_empty_one),
		TEST(a_packet_elsewhere_has_its_number_and_its_losses),
		TEST(time_never_goes_back),
		TEST(times_have_63_bits),
		TEST(any_number_takes_8_bytes),
		TEST(every_type_and_width),
		TEST(generic_class_holds_4096_items_of_any_kind),
		TEST(generic_class_as_drawn),
		TEST(the_largest_event),
		TEST(cut_anywhere_it_is_noticed),
		TEST(a_generic_event_cut_anywhere_is_noticed),
		TEST(damaged_events_are_refused),
		TEST(damaged_generic_events_are_refused),
		TEST(damaged_heads_are_refused),
		TEST(next_packet_is_found),
		TEST(the_clock_begins_with_the_packet),
		TEST(the_ends_are_exact),
		TEST(ticks_that_are_nanoseconds_are_exact),
		TEST(between_the_ends_it_is_rounded),
		TEST(ends_that_are_equal),
		TEST(hostile_heads_give_times_within_the_packet),
		TEST(ticks_of_a_trace),
		TEST(a_new_trace_has_a_random_uuid_of_version_4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
