/*
 * packet.c - one packet of a stream file: its head, the writing of events that come decoded, and time within it.
 *
 * Whoever writes a ring's events writes their bytes behind a head (emit/bin_runs.c); who has decoded ones writes them anew here.  Readers
 * and the recovery read what may be hostile: every length is checked against the bytes that are there before it is used.  Pure; any thread.
 * All little-endian, packed, as the metadata says:
 *
 *      offset size
 *           0    4  magic C1FC1FC1
 *           4   16  uuid of the trace
 *          20    4  stream_id, 0
 *          24    4  stream_instance_id: the ring's number
 *          28    4  0
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
 *          96       events (wire.h)
 *
 * The two times in ns stand where viewers see the padding before a field that is aligned: they have no use for them, and would show
 * them with each event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <string.h>

#define MAGIC 0xC1FC1FC1u
#define NS_A_SECOND 1000000000u
#define FAR_NS ((uint64_t)1 << 46) /* between two events of a packet: less than half of what 48 bits of ticks can tell apart */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a packet's integers are stored as they are");

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

/* ------------------------------------------------------------------------------------------------------------
 * The head
 */

void ct_packet_head_put(unsigned char at[CT_PACKET_HEAD], const struct ct_packet_head *head)
{
	at = put_u32(at, MAGIC);
	memcpy(at, head->uuid, 16);
	at = put_u32(at + 16, 0);
	at = put_u32(at, head->stream_instance);
	at = put_u32(at, 0);
	at = put_u64(at, head->begin_ticks);
	at = put_u32(at, (uint32_t)head->content_bits);
	at = put_u32(at, (uint32_t)head->packet_bits);
	at = put_u64(at, head->begin_ns);
	at = put_u64(at, head->end_ns);
	at = put_u64(at, head->end_ticks);
	at = put_u64(at, head->sequence);
	at = put_u64(at, head->discarded);
	at = put_u32(at, head->pid);
	(void)put_u32(at, head->tid);
}

enum ctrace_status ct_packet_decode_head(const unsigned char *bytes, size_t available, struct ct_packet_head *out,
					 size_t *out_head_size)
{
	struct ct_packet_head head;

	if (available < CT_PACKET_HEAD || get_u32(bytes) != MAGIC || get_u32(bytes + 20) != 0)
		return CTRACE_DAMAGED;
	memcpy(head.uuid, bytes + 4, 16);
	head.stream_instance = get_u32(bytes + 24);
	head.begin_ticks = get_u64(bytes + 32);
	head.content_bits = get_u32(bytes + 40);
	head.packet_bits = get_u32(bytes + 44);
	head.begin_ns = get_u64(bytes + 48);
	head.end_ns = get_u64(bytes + 56);
	head.end_ticks = get_u64(bytes + 64);
	head.sequence = get_u64(bytes + 72);
	head.discarded = get_u64(bytes + 80);
	head.pid = get_u32(bytes + 88);
	head.tid = get_u32(bytes + 92);
	if (head.content_bits % 8 != 0 || head.packet_bits % 8 != 0 || head.content_bits < 8 * CT_PACKET_HEAD ||
	    head.packet_bits < head.content_bits || head.packet_bits / 8 > CT_PACKET_MAX || head.end_ns < head.begin_ns ||
	    head.end_ticks < head.begin_ticks)
		return CTRACE_DAMAGED;
	*out = head;
	*out_head_size = CT_PACKET_HEAD;
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
		unsigned __int128 slope = (((unsigned __int128)ns << CT_PACKET_SLOPE) + ticks / 2) / ticks;

		clock.slope = slope <= UINT64_MAX ? (uint64_t)slope : UINT64_MAX;
	}
	return clock;
}

/* ------------------------------------------------------------------------------------------------------------
 * Writing events that come decoded
 */

void ct_trace_clock_set(struct ct_trace_info *info, uint64_t frequency, uint64_t ticks, uint64_t time_ns)
{
	/* When the counter stood at 0. */
	uint64_t seconds = ticks / frequency, rest = ticks % frequency;

	info->frequency = frequency;
	info->offset_s = time_ns / NS_A_SECOND;
	info->offset = (uint64_t)((unsigned __int128)(time_ns % NS_A_SECOND) * frequency / NS_A_SECOND);
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

uint64_t ct_packet_time(const struct ctrace_event *event, uint64_t previous_ns)
{
	uint64_t time_ns = event->time_ns <= INT64_MAX ? event->time_ns : INT64_MAX;

	return time_ns > previous_ns ? time_ns : previous_ns;
}

void ct_packet_begin(struct ct_buf *out, const struct ct_packet_head *head)
{
	if (!ct_buf_reserve(out, CT_PACKET_HEAD))
		return;
	ct_packet_head_put((unsigned char *)out->data + out->size, head);
	out->size += CT_PACKET_HEAD;
}

void ct_packet_end(struct ct_buf *out, size_t start, const struct ct_trace_info *info, const struct ct_packet_head *head)
{
	struct ct_packet_head complete = *head;

	if (out->failed)
		return;
	if (info != NULL) {
		complete.begin_ticks = ct_trace_ticks(info, head->begin_ns);
		complete.end_ticks = ct_trace_ticks(info, head->end_ns);
	}
	complete.content_bits = 8 * (uint64_t)(out->size - start);
	complete.packet_bits = complete.content_bits;
	ct_packet_head_put((unsigned char *)out->data + start, &complete);
}

/* The most bytes that the event can take. */
static size_t event_room(const struct ctrace_event *event)
{
	size_t room = CT_EVENT_ANY_HEAD + CTRACE_MAX_COMPONENT + 1;

	for (uint32_t i = 0; i < event->item_count; i++)
		room += CT_EVENT_ANY_ITEM + event->items[i].size;
	return room;
}

bool ct_packet_has_room(const struct ct_buf *out, size_t start, const struct ctrace_event *event, uint64_t previous_ns)
{
	return out->size - start + event_room(event) <= CT_PACKET_CONTENT && ct_packet_time(event, previous_ns) - previous_ns < FAR_NS;
}

static unsigned char *put_any_head(unsigned char *at, uint64_t ticks, const struct ctrace_event *event)
{
	const struct ct_event_head head = { .event_id = event->event_id, .level = event->level };
	uint32_t size = event->component_size <= CTRACE_MAX_COMPONENT ? event->component_size : CTRACE_MAX_COMPONENT;
	unsigned char parts[CT_EVENT_ANY_HEAD];

	size = (uint32_t)strnlen(event->component, size);
	(void)ct_event_put_any_head(parts, ticks, &head, event->item_count);
	memcpy(at, parts, CT_EVENT_ANY_NAME);
	at += CT_EVENT_ANY_NAME;
	memcpy(at, event->component, size);
	at[size] = '\0';
	memcpy(at + size + 1, parts + CT_EVENT_ANY_NAME, CT_EVENT_ANY_HEAD - CT_EVENT_ANY_NAME);
	return at + size + 1 + CT_EVENT_ANY_HEAD - CT_EVENT_ANY_NAME;
}

/* What stands in front of the item's bytes. */
static unsigned char *put_prefix(unsigned char *at, const struct ct_class *class, uint32_t index, const struct ctrace_event_item *item)
{
	size_t size = class->number == CT_CLASS_ANY                    ? 0
		      : class->items[index] >> 8 == CT_SIZE_COUNTED_16 ? 2
		      : class->items[index] >> 8 == CT_SIZE_COUNTED_32 ? 4
								       : 0;

	if (class->number == CT_CLASS_ANY)
		return ct_event_put_any_item(at, item->type, item->size);
	memcpy(at, &item->size, size);
	return at + size;
}

void ct_packet_add(struct ct_buf *out, const struct ct_trace_info *info, const struct ct_class *class, const struct ctrace_event *event,
		   uint64_t *previous_ns)
{
	uint64_t time_ns = ct_packet_time(event, *previous_ns), ticks = ct_trace_ticks(info, time_ns);
	unsigned char *at;

	if (!ct_buf_reserve(out, event_room(event)))
		return;
	at = (unsigned char *)out->data + out->size;
	if (class->number == CT_CLASS_ANY)
		at = put_any_head(at, ticks, event);
	else
		at = put_u64(at, class->number | ticks << 16);
	for (uint32_t i = 0; i < event->item_count; i++) {
		const struct ctrace_event_item *item = &event->items[i];

		at = put_prefix(at, class, i, item);
		if (item->size > 0)
			memcpy(at, item->data, item->size);
		at += item->size;
	}
	out->size = (size_t)(at - (unsigned char *)out->data);
	*previous_ns = time_ns;
}

/* ------------------------------------------------------------------------------------------------------------
 * Finding
 */

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
