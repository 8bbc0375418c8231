/*
 * binfile_packets.c - the packets of a stream of a BINFILE trace: finds the next one, and reports
 * damage and gaps.
 *
 * Called by source_bin.c, on the reader's thread.  The file may be hostile or damaged, or grow
 * while it is read.  Unreadable bytes are skipped, and reading goes on at the next packet.  It only
 * moves forward, so it ends.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/binfile_parts.h"

#include "read/packet_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool head_is_of_trace(const struct ct_binfile_packets *packets,
			     const struct ct_packet_head *head)
{
	return memcmp(head->uuid, packets->trace->info.uuid, sizeof head->uuid) == 0;
}

/* Returns the next position from `from` on where a packet of this trace begins, or the end of the
 * file. */
static uint64_t packets_find(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t from)
{
	for (;;) {
		size_t available, found;
		const unsigned char *bytes = ct_stream_file_look(&packets->file, sources, from,
								 CT_STREAM_WINDOW / 2, &available);
		struct ct_packet_head head;

		if (available < CT_PACKET_HEAD)
			return from + available;
		found = ct_packet_find(bytes, available, 0);
		if (found == available) {
			/* A head may begin in the last bytes. */
			from += available - (CT_PACKET_HEAD - 1);
			continue;
		}
		if (ct_packet_decode_head(bytes + found, available - found, &head) == CTRACE_OK &&
		    head_is_of_trace(packets, &head))
			return from + found;
		from += found + 1;
	}
}

void ct_binfile_packets_skip(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t at, const char *message)
{
	/* The size of the packet before may be damaged and cover this head, so the search begins
	 * behind its last event. */
	uint64_t next = packets_find(packets, sources, at > packets->packet_at ? at : at + 1);

	ct_sources_damage(sources, packets->file.source->path, at, next - at, message);
	packets->packet_at = next;
	packets->packet_size = packets->content = packets->offset = 0;
	packets->is_cut = false;
}

/* How many events the packet has.  Returns false when not all of it can be read. */
static bool events_count(const struct ct_binfile_packets *packets,
			 const struct ct_packet_head *head, const unsigned char *packet,
			 size_t available, uint32_t *out)
{
	struct ct_event_state state = ct_packet_clock_start(head).state;
	size_t content = (size_t)(head->content_bits / 8), at = CT_PACKET_HEAD;

	for (*out = 0; content <= available && at < content; (*out)++) {
		struct ct_event event;

		if (ct_event_decode(&packets->trace->image, packet + at, content - at, &state,
				    &event) != CTRACE_OK)
			return false;
		at += event.size;
	}
	return at == content;
}

/* "3 packets with 1200 events are missing before this" */
static void missing_text(struct ct_binfile_packets *packets, const struct ct_packet_head *next,
			 const unsigned char *packet, size_t available, uint64_t count,
			 char out[80])
{
	const char *packets_word = count == 1 ? "packet" : "packets";
	uint32_t own, events;

	(void)snprintf(out, 80, "%" PRIu64 " %s missing before this", count,
		       count == 1 ? "packet is" : "packets are");
	if (!events_count(packets, next, packet, available, &own))
		return;
	events = next->events - own - packets->head.events;
	(void)snprintf(out, 80, "%" PRIu64 " %s with %" PRIu32 " event%s %s missing before this",
		       count, packets_word, events, events == 1 ? "" : "s",
		       count == 1 ? "is" : "are");
}

static void report_gap(struct ct_binfile_packets *packets, struct ct_sources *sources,
		       const struct ct_packet_head *next, uint64_t at, enum ct_note_kind kind,
		       uint64_t events, const char *what)
{
	char message[80];
	struct ct_read_note note = {
		.kind = kind,
		.path = packets->file.source->path,
		.offset = at,
		.events = events,
		.from_ns = packets->head.end_ns,
		.to_ns = next->begin_ns,
		.source_process = packets->trace->source_process,
		.message = message,
	};

	(void)snprintf(message, sizeof message, "%s", what);
	if (kind == CT_NOTE_LOST)
		ct_source_lost_text(message, sizeof message, events);
	ct_sources_note(sources, &note);
	packets->file.source->has_loss = true;
}

static void report_gaps(struct ct_binfile_packets *packets, struct ct_sources *sources,
			const struct ct_packet_head *head, uint64_t at, const unsigned char *packet,
			size_t available)
{
	char missing[80];

	if (!packets->has_head)
		return;
	if (head->discarded > packets->head.discarded)
		report_gap(packets, sources, head, at, CT_NOTE_LOST,
			   head->discarded - packets->head.discarded, "");
	if (head->sequence <= packets->head.sequence + 1)
		return;
	missing_text(packets, head, packet, available, head->sequence - packets->head.sequence - 1,
		     missing);
	report_gap(packets, sources, head, at, CT_NOTE_MISSING,
		   head->sequence - packets->head.sequence - 1, missing);
}

/* Sets how much of the current packet is in the file. */
static void packets_set_extent(struct ct_binfile_packets *packets, size_t available)
{
	uint64_t size = packets->head.packet_bits / 8, content = packets->head.content_bits / 8;

	packets->is_cut = available < size;
	packets->packet_size = packets->is_cut ? available : size;
	packets->content = content < available ? (size_t)content : available;
}

bool ct_binfile_packets_grow(struct ct_binfile_packets *packets, struct ct_sources *sources)
{
	size_t available;

	if (!packets->is_cut)
		return false;
	(void)ct_stream_file_move(&packets->file, sources, packets->packet_at,
				  (size_t)(packets->head.packet_bits / 8), &available);
	if (available <= packets->packet_size)
		return false;
	packets_set_extent(packets, available);
	return true;
}

bool ct_binfile_packets_next(struct ct_binfile_packets *packets, struct ct_sources *sources)
{
	uint64_t at = packets->packet_at + packets->packet_size;
	struct ct_packet_head head;
	size_t available;
	const unsigned char *bytes =
		ct_stream_file_look(&packets->file, sources, at, CT_PACKET_HEAD, &available);

	if (available == 0)
		return false;
	if (available < CT_PACKET_HEAD) /* the head may be being written */
		bytes = ct_stream_file_move(&packets->file, sources, at, CT_PACKET_HEAD,
					    &available);
	if (ct_packet_decode_head(bytes, available, &head) != CTRACE_OK ||
	    !head_is_of_trace(packets, &head)) {
		packets->packet_at = at;
		ct_binfile_packets_skip(packets, sources, at,
					available < CT_PACKET_HEAD
						? CT_STREAM_ENDS_INSIDE
						: "this is no packet of the trace");
		return true;
	}
	bytes = ct_stream_file_look(&packets->file, sources, at, (size_t)(head.packet_bits / 8),
				    &available);
	report_gaps(packets, sources, &head, at, bytes, available);
	if (sources->lost != NULL)
		sources->lost(packets->file.source->path, packets->trace->source_process,
			      head.discarded, sources->step_user);
	packets->head = head;
	packets->has_head = true;
	packets->packet_at = at;
	packets_set_extent(packets, available);
	packets->offset = CT_PACKET_HEAD;
	packets->clock = ct_packet_clock_start(&head);
	return true;
}

void ct_binfile_packets_seek(struct ct_binfile_packets *packets, struct ct_sources *sources)
{
	struct ct_packet_place place;
	int fd = ct_stream_file_open(&packets->file, sources);

	if (fd < 0)
		return;
	if (ct_packet_index_find(fd, packets->trace->info.uuid, sources->since_ns, &place) ==
	    CTRACE_OK) {
		packets->packet_at = place.offset;
		packets->head = place.before;
		packets->has_head = place.has_before;
	}
	ct_stream_file_close(&packets->file, &fd);
}

bool ct_binfile_packets_ends(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t *out_first_ns, uint64_t *out_last_ns)
{
	const char *path = packets->file.source->path;
	size_t size = strlen(path), suffix_size = sizeof CT_STREAM_PACKED - 1;
	struct ct_packet_head first, last;
	enum ctrace_status status;
	uint32_t reads;
	int fd;

	/* A compressed file can only be read from its beginning. */
	if (size > suffix_size && strcmp(path + size - suffix_size, CT_STREAM_PACKED) == 0)
		return false;
	fd = ct_stream_file_open(&packets->file, sources);
	if (fd < 0)
		return false;
	status = ct_packet_index_ends(fd, packets->trace->info.uuid, &first, &last, &reads);
	ct_stream_file_close(&packets->file, &fd);
	if (status == CTRACE_OK) {
		*out_first_ns = first.begin_ns;
		*out_last_ns = last.begin_ns;
	}
	return status == CTRACE_OK || status == CTRACE_NOT_FOUND;
}
