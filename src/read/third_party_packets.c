/*
 * third_party_packets.c - the packets of a stream of a third-party trace: finds the next one,
 * reports damage and gaps, reads its bits.
 *
 * Called by source_third_party.c, on the reader's thread.  The file may be hostile or damaged: a
 * damaged packet loses its unreadable rest, and reading goes on at the next packet.  The size of a
 * stream bounds its cost: every field and every 16 bytes read take a step, and the stream ends when
 * no step is left.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/third_party_parts.h"

#include <string.h>

#define HEAD_WINDOW ((size_t)4 << 10) /* bytes read of a packet to skip */
/* bytes of an event, or of the packet's head */
#define EVENT_LIMIT ((size_t)1 << 20)
#define STEPS_PER_BYTE 24u
#define STEPS_AT_LEAST ((uint64_t)1 << 18)

void ct_third_party_packets_init(struct ct_third_party_packets *packets,
				 struct ct_third_party_trace *trace, struct ct_source *source)
{
	*packets = (struct ct_third_party_packets){ .trace = trace };
	ct_stream_file_init(&packets->file, source, false);
	packets->file.read_size = HEAD_WINDOW; /* until the first wanted packet */
}

void ct_third_party_packets_fini(struct ct_third_party_packets *packets)
{
	ct_stream_file_fini(&packets->file);
	ct_third_party_items_fini(&packets->context_items);
	ct_third_party_items_fini(&packets->packet_items);
}

/* -----------------------------------------------------------------------------------------------
 * Bits
 */

/* Returns bytes of the file.  Reading takes steps, so that a file that makes us seek back and forth
 * pays for it; one pass costs next to nothing. */
static const unsigned char *packets_look(struct ct_third_party_packets *packets,
					 struct ct_sources *sources, uint64_t at, size_t size,
					 size_t *out_available)
{
	uint64_t before = packets->file.asked, cost;
	const unsigned char *bytes =
		ct_stream_file_look(&packets->file, sources, at, size, out_available);

	cost = (packets->file.asked - before) / 16;
	packets->steps -= packets->steps < cost ? packets->steps : cost;
	return bytes;
}

static void decoder_init(struct ct_third_party_decoder *decoder,
			 struct ct_third_party_packets *packets)
{
	decoder->tsdl = packets->trace->tsdl;
	decoder->tree = &packets->trace->tree;
	decoder->steps = &packets->steps;
	decoder->clock = &packets->clock;
	decoder->message = "";
	memcpy(decoder->scopes, packets->scopes, sizeof decoder->scopes);
}

enum ct_third_party_result ct_third_party_packets_read(struct ct_third_party_packets *packets,
						       struct ct_sources *sources,
						       struct ct_third_party_decoder *decoder,
						       uint64_t at, uint64_t end,
						       ct_third_party_read *read, void *user)
{
	struct ct_third_party_clock before = packets->clock;
	enum ct_third_party_result result;
	size_t wanted = 1;

	decoder_init(decoder, packets);
	for (;;) {
		size_t available;
		uint64_t limit;

		decoder->bytes = packets_look(packets, sources, packets->packet_at + at / 8, wanted,
					      &available);
		decoder->first = at / 8;
		limit = (at / 8 + available) * 8;
		decoder->limit = limit < end ? limit : end;
		decoder->end = end;
		decoder->at = at;
		decoder->roles = 0;
		decoder->program[0] = '\0';
		packets->clock = before;
		if (available == 0 && at < end) {
			decoder->message = "the file cannot be read here";
			result = CT_THIRD_PARTY_BAD;
			break;
		}
		result = read(user, sources, decoder);
		if (result != CT_THIRD_PARTY_MORE)
			break;
		wanted = 2 * available;
		if (wanted > EVENT_LIMIT || available < wanted / 4) {
			decoder->message = "this is larger than an event that ctrace reads";
			result = CT_THIRD_PARTY_BAD;
			break;
		}
	}
	if (result != CT_THIRD_PARTY_OK)
		packets->clock = before;
	return result;
}

enum ct_third_party_result ct_third_party_bad(struct ct_third_party_decoder *decoder,
					      const char *message)
{
	decoder->message = message;
	return CT_THIRD_PARTY_BAD;
}

/* -----------------------------------------------------------------------------------------------
 * Packets
 */

static bool packet_is_of_trace(const struct ct_third_party_packets *packets,
			       const struct ct_third_party_decoder *decoder)
{
	const struct ct_tsdl *tsdl = packets->trace->tsdl;

	if (ct_third_party_has(decoder, CT_ROLE_MAGIC) &&
	    decoder->values[CT_ROLE_MAGIC] != CT_THIRD_PARTY_MAGIC)
		return false;
	return !ct_third_party_has(decoder, CT_ROLE_UUID) || !tsdl->has_uuid ||
	       memcmp(decoder->uuid, tsdl->uuid, sizeof tsdl->uuid) == 0;
}

/* Makes a root place for the scope's values; each stream has its own. */
static void packets_prepare_scope(struct ct_third_party_packets *packets,
				  struct ct_third_party_decoder *decoder, enum ct_tsdl_scope scope,
				  const struct ct_tsdl_type *type)
{
	struct ct_third_party_scope *own = &packets->scopes[scope];

	if (own->type != type) {
		own->type = type;
		own->root = NULL;
	}
	if (type != NULL && own->root == NULL)
		own->root = ct_third_party_root(&packets->trace->tree);
	own->stamp = packets->trace->stamp;
	decoder->scopes[scope] = *own;
}

/* Decodes the packet's header and context. */
static enum ct_third_party_result packet_read_head(void *user, struct ct_sources *sources,
						   struct ct_third_party_decoder *decoder)
{
	struct ct_third_party_packets *packets = user;
	const struct ct_tsdl *tsdl = packets->trace->tsdl;
	const struct ct_tsdl_stream *stream = &tsdl->streams[0];
	enum ct_third_party_result result;

	(void)sources;
	packets->trace->stamp++;
	ct_third_party_items_clear(&packets->context_items);
	decoder->items = &packets->context_items;
	packets_prepare_scope(packets, decoder, CT_SCOPE_PACKET_HEADER, tsdl->packet_header);
	decoder->scopes[CT_SCOPE_PACKET_CONTEXT].type = NULL;
	result = ct_third_party_decode(decoder, CT_SCOPE_PACKET_HEADER);
	if (result == CT_THIRD_PARTY_OK && !packet_is_of_trace(packets, decoder))
		return ct_third_party_bad(decoder, "this is no packet of the trace");
	if (result != CT_THIRD_PARTY_OK)
		return result;
	/* other fields of the header are not shown */
	ct_third_party_items_clear(&packets->context_items);
	if (ct_third_party_has(decoder, CT_ROLE_STREAM_ID))
		stream = ct_tsdl_stream(tsdl, decoder->values[CT_ROLE_STREAM_ID]);
	if (stream == NULL)
		return ct_third_party_bad(
			decoder, "the packet is of a stream that the metadata do not describe");
	packets->stream = stream;
	packets_prepare_scope(packets, decoder, CT_SCOPE_PACKET_CONTEXT, stream->packet_context);
	return ct_third_party_decode(decoder, CT_SCOPE_PACKET_CONTEXT);
}

/* Returns the next position from `from` on where a packet of the trace may begin, or the end of the
 * file. */
static uint64_t packets_find(struct ct_third_party_packets *packets, struct ct_sources *sources,
			     uint64_t from)
{
	const struct ct_third_party_trace *trace = packets->trace;
	size_t size = trace->has_uuid ? sizeof trace->begin : 4;

	while (trace->has_magic && from < packets->file.size) {
		size_t available;
		const unsigned char *bytes =
			packets_look(packets, sources, from, CT_STREAM_WINDOW / 2, &available);
		const unsigned char *found =
			available >= size ? memmem(bytes, available, trace->begin, size) : NULL;

		if (found != NULL)
			return from + (uint64_t)(found - bytes);
		if (available < size)
			break;
		from += available - (size - 1);
	}
	return packets->file.size;
}

static bool packets_begin_at(struct ct_third_party_packets *packets, struct ct_sources *sources,
			     uint64_t at)
{
	size_t available;
	const unsigned char *bytes;

	if (at >= packets->file.size || !packets->trace->has_magic)
		return at == packets->file.size || !packets->trace->has_magic;
	bytes = packets_look(packets, sources, at, 4, &available);
	return available >= 4 && memcmp(bytes, packets->trace->begin, 4) == 0;
}

void ct_third_party_packets_skip(struct ct_third_party_packets *packets, struct ct_sources *sources,
				 uint64_t at, const char *message)
{
	uint64_t next = packets->packet_at + packets->packet_size;

	if (at > packets->file.size)
		at = packets->file.size;
	if (packets->packet_size == 0 || next < at || !packets_begin_at(packets, sources, next))
		next = packets_find(packets, sources,
				    at > packets->packet_at ? at : packets->packet_at + 1);
	if (packets->steps == 0)
		next = packets->file.size;
	ct_sources_damage(sources, packets->file.source->path, at, next - at, message);
	packets->packet_at = next;
	packets->packet_size = packets->content = packets->at = 0;
	packets->is_cut = false;
	packets->has_ended = packets->steps == 0;
}

static void report_gap(struct ct_third_party_packets *packets, struct ct_sources *sources,
		       enum ct_note_kind kind, uint64_t events, uint64_t from_ns)
{
	char message[64] = "packets are missing before this";
	struct ct_read_note note = {
		.kind = kind,
		.path = packets->file.source->path,
		.offset = packets->packet_at,
		.events = events,
		.from_ns = from_ns,
		.to_ns = kind == CT_NOTE_LOST ? packets->end_ns : packets->begin_ns,
		.source_process = packets->trace->source_process,
		.message = message,
	};

	if (kind == CT_NOTE_LOST)
		ct_source_lost_text(message, sizeof message, events);
	ct_sources_note(sources, &note);
	packets->file.source->has_loss = true;
}

/* Reports gaps by the counters, which count over the whole stream from 0. */
static void report_gaps(struct ct_third_party_packets *packets, struct ct_sources *sources,
			const struct ct_third_party_decoder *decoder, uint64_t from_ns)
{
	uint64_t sequence = decoder->values[CT_ROLE_SEQUENCE],
		 discarded = decoder->values[CT_ROLE_DISCARDED];
	bool has_sequence = ct_third_party_has(decoder, CT_ROLE_SEQUENCE);
	bool is_first = !packets->has_sequence && !packets->has_discarded &&
			(!has_sequence || sequence == 0);

	if (has_sequence && packets->has_sequence && sequence > packets->sequence + 1)
		report_gap(packets, sources, CT_NOTE_MISSING, sequence - packets->sequence - 1,
			   from_ns);
	if (ct_third_party_has(decoder, CT_ROLE_DISCARDED)) {
		if ((packets->has_discarded || is_first) && discarded > packets->discarded)
			report_gap(packets, sources, CT_NOTE_LOST, discarded - packets->discarded,
				   from_ns);
		packets->discarded = discarded;
		packets->has_discarded = true;
	}
	packets->sequence = sequence;
	packets->has_sequence = has_sequence;
}

/* Sets the packet's sizes.  Returns a message when they are impossible, otherwise NULL. */
static const char *packet_measure(struct ct_third_party_packets *packets,
				  const struct ct_third_party_decoder *decoder)
{
	uint64_t left = (packets->file.size - packets->packet_at) * 8;
	uint64_t packet = left, content;

	if (ct_third_party_has(decoder, CT_ROLE_PACKET_SIZE))
		packet = decoder->values[CT_ROLE_PACKET_SIZE];
	else if (ct_third_party_has(decoder, CT_ROLE_CONTENT_SIZE))
		packet = CT_ALIGN_UP(decoder->values[CT_ROLE_CONTENT_SIZE], (uint64_t)8);
	content = ct_third_party_has(decoder, CT_ROLE_CONTENT_SIZE)
			  ? decoder->values[CT_ROLE_CONTENT_SIZE]
			  : packet;
	if (packet % 8 != 0 || packet < decoder->at || packet < content)
		return "the packet has sizes that cannot be";
	packets->is_cut = packet > left;
	packets->packet_size = packets->is_cut ? left / 8 : packet / 8;
	if (content < decoder->at)
		return "the packet was never completed";
	packets->content = content < left ? content : left;
	packets->at = decoder->at;
	return NULL;
}

/* Keeps the fields of the packet's context for its events.  Returns false without memory. */
static bool packet_keep_context(struct ct_third_party_packets *packets,
				const struct ct_third_party_decoder *decoder)
{
	packets->has_packet_pid = ct_third_party_has(decoder, CT_ROLE_PID);
	packets->packet_pid = packets->has_packet_pid ? (uint32_t)decoder->values[CT_ROLE_PID] : 0;
	packets->packet_tid = ct_third_party_has(decoder, CT_ROLE_TID)
				      ? (uint32_t)decoder->values[CT_ROLE_TID]
				      : 0;
	ct_third_party_items_finish(&packets->context_items);
	ct_third_party_items_clear(&packets->packet_items);
	ct_third_party_items_append(&packets->packet_items, &packets->context_items, true);
	ct_third_party_items_finish(&packets->packet_items);
	packets->begin_ns = ct_third_party_has(decoder, CT_ROLE_BEGIN)
				    ? ct_third_party_ns(packets->clock.clock, packets->clock.ticks)
				    : 0;
	packets->end_ns = ct_third_party_has(decoder, CT_ROLE_END)
				  ? ct_third_party_ns(packets->clock.clock != NULL
							      ? packets->clock.clock
							      : packets->trace->tsdl->clock,
						      decoder->values[CT_ROLE_END])
				  : 0;
	return !packets->context_items.has_no_memory && !packets->packet_items.has_no_memory;
}

bool ct_third_party_packets_next(struct ct_third_party_packets *packets, struct ct_sources *sources)
{
	struct ct_third_party_decoder decoder;
	enum ct_third_party_result result;
	uint64_t before_ns = packets->end_ns;
	const char *message = NULL;

	packets->packet_at += packets->packet_size;
	packets->packet_size = packets->content = packets->at = 0;
	packets->is_cut = false;
	if (packets->packet_at >= packets->file.size)
		return false;
	result = ct_third_party_packets_read(packets, sources, &decoder, 0,
					     (packets->file.size - packets->packet_at) * 8,
					     packet_read_head, packets);
	if (result == CT_THIRD_PARTY_OK)
		message = packet_measure(packets, &decoder);
	else
		message = result == CT_THIRD_PARTY_BAD
				  ? decoder.message
				  : ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY);
	if (message == NULL && !packet_keep_context(packets, &decoder))
		message = ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY);
	if (message != NULL) {
		ct_third_party_packets_skip(packets, sources, packets->packet_at, message);
		return true;
	}
	report_gaps(packets, sources, &decoder, before_ns);
	/* A packet without its begin time is not skipped: times in the next packet depend on it. */
	if (sources->may_seek && packets->begin_ns != 0 && packets->end_ns != 0 &&
	    packets->end_ns < sources->since_ns)
		packets->at = packets->content;
	else
		packets->file.read_size = CT_STREAM_WINDOW;
	return true;
}

bool ct_third_party_packets_begin(struct ct_third_party_packets *packets,
				  struct ct_sources *sources)
{
	uint64_t size;
	size_t available;

	/* The first look finds the size of the file. */
	if (packets->file.size == 0 && !packets->has_ended) {
		(void)packets_look(packets, sources, 0, 1, &available);
		size = packets->file.size;
		packets->steps =
			STEPS_AT_LEAST +
			(size < UINT64_MAX / (2 * STEPS_PER_BYTE) ? size : 0) * STEPS_PER_BYTE;
		packets->has_ended = size == 0;
	}
	return !packets->has_ended;
}
