/*
 * packet.c - the packets of a stream: their heads, the writing of decoded events, and time within a
 * packet.
 *
 * lib/emit/bin_stream.c writes the bytes of a ring's events behind a head that is numbered here.
 * lib/emit/bin_convert.c and print/export/export_trace.c write decoded events with the functions
 * here.
 *
 * Input of readers and of the recovery may be hostile, so every length is checked against the
 * available bytes before it is used.  Any thread.  All fields are little-endian and packed, as in
 * the metadata:
 *
 *      offset size
 *           0    4  magic C1FC1FC1
 *           4   16  uuid of the trace
 *          20    4  stream_id, 0
 *          24    4  stream_instance_id: the ring's number
 *          28    4  events of the stream up to the end of this packet, modulo 2^32
 *          32    8  timestamp_begin: ticks of the trace's clock
 *          40    4  content_size, bits
 *          44    4  packet_size, bits
 *          48    8  timestamp_begin in ns since 1970, as the process knew it
 *          56    8  timestamp_end so
 *          64    8  timestamp_end
 *          72    8  packet_seq_num
 *          80    8  events_discarded: running total of the stream
 *          88    4  pid
 *          92    4  tid
 *          96       events (format.h)
 *
 * The count of events and the two times in ns are in the padding that viewers see before an aligned
 * field.  Viewers do not need them, and would show them with each event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/format.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define MAGIC 0xC1FC1FC1u
#define NS_A_SECOND 1000000000u
/* between two events of a packet: less than half of the range of 48 bits of ticks */
#define FAR_NS ((uint64_t)1 << 46)

_Static_assert(sizeof(struct ct_packet_head) == CT_PACKET_HEAD,
	       "a head is stored as it is, but for the byte order");

/* -----------------------------------------------------------------------------------------------
 * The head
 */

/* Converts the numbers between the machine's byte order and that of the file; either way is the
 * same. */
static void head_convert(struct ct_packet_head *head)
{
	head->magic = htole32(head->magic);
	head->stream_id = htole32(head->stream_id);
	head->stream_instance = htole32(head->stream_instance);
	head->events = htole32(head->events);
	head->begin_ticks = htole64(head->begin_ticks);
	head->content_bits = htole32(head->content_bits);
	head->packet_bits = htole32(head->packet_bits);
	head->begin_ns = htole64(head->begin_ns);
	head->end_ns = htole64(head->end_ns);
	head->end_ticks = htole64(head->end_ticks);
	head->sequence = htole64(head->sequence);
	head->discarded = htole64(head->discarded);
	head->pid = htole32(head->pid);
	head->tid = htole32(head->tid);
}

void ct_packet_head_put(unsigned char at[CT_PACKET_HEAD], const struct ct_packet_head *head)
{
	struct ct_packet_head stored = *head;

	stored.magic = MAGIC;
	head_convert(&stored);
	memcpy(at, &stored, CT_PACKET_HEAD);
}

enum ctrace_status ct_packet_decode_head(const unsigned char *bytes, size_t available,
					 struct ct_packet_head *out)
{
	struct ct_packet_head head;

	if (available < CT_PACKET_HEAD)
		return CTRACE_DAMAGED;
	memcpy(&head, bytes, CT_PACKET_HEAD);
	head_convert(&head);
	if (head.magic != MAGIC || head.stream_id != 0 || head.content_bits % 8 != 0 ||
	    head.packet_bits % 8 != 0 || head.content_bits < 8 * CT_PACKET_HEAD ||
	    head.packet_bits < head.content_bits || head.packet_bits / 8 > CT_PACKET_MAX ||
	    head.end_ns < head.begin_ns || head.end_ticks < head.begin_ticks)
		return CTRACE_DAMAGED;
	*out = head;
	return CTRACE_OK;
}

struct ct_packet_clock ct_packet_clock_start(const struct ct_packet_head *head)
{
	uint64_t ticks = head->end_ticks - head->begin_ticks, ns = head->end_ns - head->begin_ns;
	struct ct_packet_clock clock = {
		.state = { .ticks = head->begin_ticks, .tid = head->tid },
		.begin_ticks = head->begin_ticks,
		.begin_ns = head->begin_ns,
		.end_ns = head->end_ns,
	};

	if (ticks > 0) {
		unsigned __int128 slope =
			(((unsigned __int128)ns << CT_PACKET_SLOPE) + ticks / 2) / ticks;

		clock.slope = slope <= UINT64_MAX ? (uint64_t)slope : UINT64_MAX;
	}
	return clock;
}

/* -----------------------------------------------------------------------------------------------
 * The trace
 */

void ct_trace_make_uuid(uint8_t uuid[16])
{
	uint64_t words[2];

	if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
		words[0] = ct_clock_wall_ns() * 0x9E3779B97F4A7C15u;
		words[1] = (ct_clock_ticks() ^ (uint64_t)getpid() << 32) * 0xC2B2AE3D27D4EB4Fu;
		memcpy(uuid, words, 16);
	}
	uuid[0] |=
		1; /* a position in a directory uses its first bytes as a mark, which is never 0 */
	uuid[6] = (uint8_t)((uuid[6] & 0x0F) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3F) | 0x80);
}

void ct_trace_clock_set(struct ct_trace_info *info, uint64_t frequency, uint64_t ticks,
			uint64_t time_ns)
{
	/* The time at which the counter was 0. */
	uint64_t seconds = ticks / frequency, rest = ticks % frequency;

	info->frequency = frequency;
	info->offset_s = time_ns / NS_A_SECOND;
	info->offset =
		(uint64_t)((unsigned __int128)(time_ns % NS_A_SECOND) * frequency / NS_A_SECOND);
	if (info->offset < rest && info->offset_s > 0) {
		info->offset += frequency;
		info->offset_s--;
	}
	info->offset -= rest < info->offset ? rest : info->offset;
	info->offset_s -= seconds < info->offset_s ? seconds : info->offset_s;
}

uint64_t ct_trace_ticks(const struct ct_trace_info *info, uint64_t time_ns)
{
	uint64_t seconds = time_ns / NS_A_SECOND, rest = time_ns % NS_A_SECOND;
	unsigned __int128 ticks;

	if (info->frequency == 0)
		return time_ns;
	if (seconds < info->offset_s)
		return 0;
	ticks = (unsigned __int128)(seconds - info->offset_s) * info->frequency +
		(unsigned __int128)rest * info->frequency / NS_A_SECOND;
	if (ticks <= info->offset)
		return 0;
	ticks -= info->offset;
	return ticks <= UINT64_MAX ? (uint64_t)ticks : UINT64_MAX;
}

uint64_t ct_packet_time(uint64_t time_ns, uint64_t previous_ns)
{
	if (time_ns > INT64_MAX)
		time_ns = INT64_MAX;
	return time_ns > previous_ns ? time_ns : previous_ns;
}

/* -----------------------------------------------------------------------------------------------
 * Writing packets
 */

bool ct_packet_number(struct ct_packet_writer *writer, struct ct_packet_head *head, uint32_t events)
{
	bool is_first_after_losses = writer->sequence == 0 && writer->lost != writer->reported;

	memcpy(head->uuid, writer->info->uuid, sizeof head->uuid);
	head->stream_instance = writer->stream;
	head->sequence = writer->sequence++;
	head->discarded = is_first_after_losses ? writer->reported : writer->lost;
	writer->reported = head->discarded;
	if (!is_first_after_losses)
		writer->events += events;
	head->events = writer->events;
	return !is_first_after_losses;
}

void ct_packet_end(struct ct_packet_writer *writer)
{
	struct ct_packet_head *head = &writer->head;

	if (!writer->in_packet)
		return;
	writer->in_packet = false;
	if (writer->packets.failed)
		return;
	head->end_ns = writer->last_ns;
	head->events = writer->events;
	head->begin_ticks = ct_trace_ticks(writer->info, head->begin_ns);
	head->end_ticks = ct_trace_ticks(writer->info, head->end_ns);
	head->content_bits = head->packet_bits =
		8 * (uint32_t)(writer->packets.size - writer->packet_at);
	ct_packet_head_put((unsigned char *)writer->packets.data + writer->packet_at, head);
}

void ct_packet_begin(struct ct_packet_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	bool is_for_events;

	ct_packet_end(writer);
	writer->last_ns = ct_packet_time(time_ns, writer->last_ns);
	do {
		writer->head = (struct ct_packet_head){ .pid = pid,
							.tid = tid,
							.begin_ns = writer->last_ns };
		is_for_events = ct_packet_number(writer, &writer->head, 0);
		writer->packet_at = writer->packets.size;
		writer->packets.size +=
			ct_buf_reserve(&writer->packets, CT_PACKET_HEAD) ? CT_PACKET_HEAD : 0;
		writer->in_packet = true;
		if (!is_for_events)
			ct_packet_end(writer);
	} while (!is_for_events);
}

/* -----------------------------------------------------------------------------------------------
 * Writing events
 */

/* Returns the most bytes that the event can take. */
static size_t event_room(const struct ctrace_event *event)
{
	size_t room = CT_EVENT_ANY_HEAD + CTRACE_MAX_COMPONENT + 1;

	for (uint32_t i = 0; i < event->item_count; i++)
		room += CT_EVENT_ANY_ITEM + event->items[i].size;
	return room;
}

static bool packet_can_take(const struct ct_packet_writer *writer, const struct ctrace_event *event)
{
	return writer->in_packet && writer->lost == writer->reported &&
	       writer->head.tid == event->tid && writer->head.pid == event->pid &&
	       writer->packets.size - writer->packet_at + event_room(event) <= CT_PACKET_CONTENT &&
	       ct_packet_time(event->time_ns, writer->last_ns) - writer->last_ns < FAR_NS;
}

static unsigned char *bytes_put(unsigned char *at, const void *data, size_t size)
{
	memcpy(at, data, size);
	return at + size;
}

/* Writes the head of the generic class with the component's name, which rings do not have. */
static unsigned char *put_any_head(unsigned char *at, const struct ctrace_event *event)
{
	const uint32_t size = event->component_size <= CTRACE_MAX_COMPONENT ? event->component_size
									    : CTRACE_MAX_COMPONENT;

	at = bytes_put(at, (const uint32_t[]){ 0 }, 4);
	at = bytes_put(at, event->component, strnlen(event->component, size));
	*at++ = '\0';
	ctrace_put_u32_(at, event->event_id);
	at[4] = (unsigned char)event->level;
	ctrace_put_u16_(at + 5, (uint16_t)event->item_count);
	return at + 7;
}

static unsigned char *put_u16(unsigned char *at, uint32_t value)
{
	ctrace_put_u16_(at, (uint16_t)value);
	return at + 2;
}

static unsigned char *put_u32(unsigned char *at, uint32_t value)
{
	ctrace_put_u32_(at, value);
	return at + 4;
}

static unsigned char *put_item(unsigned char *at, const struct ct_class *class, uint32_t index,
			       const struct ctrace_event_item *item)
{
	if (class->number == CT_CLASS_ANY)
		at = ct_event_put_any_item(at, item->type, item->size);
	else if (class->items[index] >> 8 == CT_SIZE_COUNTED_16)
		at = put_u16(at, item->size);
	else if (class->items[index] >> 8 == CT_SIZE_COUNTED_32)
		at = put_u32(at, item->size);
	return item->size > 0 ? bytes_put(at, item->data, item->size) : at;
}

void ct_packet_write(struct ct_packet_writer *writer, const struct ct_class *class,
		     const struct ctrace_event *event)
{
	struct ct_buf *out = &writer->packets;
	unsigned char *at;

	if (!packet_can_take(writer, event))
		ct_packet_begin(writer, event->pid, event->tid, event->time_ns);
	writer->last_ns = ct_packet_time(event->time_ns, writer->last_ns);
	if (!ct_buf_reserve(out, event_room(event)))
		return;
	at = (unsigned char *)out->data + out->size;
	ctrace_put_u64_(at, class->number | ct_trace_ticks(writer->info, writer->last_ns) << 16);
	at += CT_EVENT_HEAD;
	if (class->number == CT_CLASS_ANY)
		at = put_any_head(at, event);
	for (uint32_t i = 0; i < event->item_count; i++)
		at = put_item(at, class, i, &event->items[i]);
	out->size = (size_t)(at - (unsigned char *)out->data);
	writer->events++;
}

/* -----------------------------------------------------------------------------------------------
 * Finding
 */

size_t ct_packet_find(const unsigned char *bytes, size_t size, size_t from)
{
	static const unsigned char magic[4] = { MAGIC & 0xFF, MAGIC >> 8 & 0xFF, MAGIC >> 16 & 0xFF,
						MAGIC >> 24 };

	while (from < size) {
		const unsigned char *found = memmem(bytes + from, size - from, magic, sizeof magic);
		struct ct_packet_head head;

		if (found == NULL)
			break;
		from = (size_t)(found - bytes);
		if (ct_packet_decode_head(found, size - from, &head) == CTRACE_OK)
			return from;
		from++;
	}
	return size;
}
