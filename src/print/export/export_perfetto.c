/*
 * export_perfetto.c - traces as Perfetto's protobuf: one Trace message of TracePackets.
 *
 * Called by ctrace export, on one thread.  tests/golden/perfetto_shape.proto has the field numbers.
 * A process is a track, and each of its threads a track below it.  A span that does not nest on its
 * thread gets a track of its own below the process, and the viewer merges such tracks of one name.
 * Nothing is interned and there is one sequence, so any packet can be read alone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Fields, by message. */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,

	SNAPSHOT_CLOCKS = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,

	PROCESS_PID = 1,
	PROCESS_NAME = 6,

	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,

	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10
};
enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };

#define SEQUENCE 1u
#define STATE_CLEARED 1u
/* Tracks of different kinds are far apart. */
#define PROCESS_TRACKS ((uint64_t)1 << 40)
#define THREAD_TRACKS ((uint64_t)2 << 40)
#define SPAN_TRACKS ((uint64_t)3 << 40)

struct perfetto {
	struct ct_export_out out;
	struct ct_tracks *tracks;
	/* messages being made, from the outside in */
	struct ct_buf packet, message, inner, text;
	uint64_t last_ns;
	bool is_begun;
	bool is_short_of_memory;
};

/* -----------------------------------------------------------------------------------------------
 * Fields
 */

static void add_varint(struct ct_buf *out, uint64_t value)
{
	while (value >= 0x80) {
		ct_buf_add_char(out, (char)(value | 0x80));
		value >>= 7;
	}
	ct_buf_add_char(out, (char)value);
}

static void add_number(struct ct_buf *out, unsigned field, uint64_t value)
{
	add_varint(out, field << 3 | WIRE_VARINT);
	add_varint(out, value);
}

static void add_bytes(struct ct_buf *out, unsigned field, const void *data, size_t size)
{
	add_varint(out, field << 3 | WIRE_BYTES);
	add_varint(out, size);
	ct_buf_add(out, data, size);
}

/* Adds the message and empties it. */
static void add_message(struct ct_buf *out, unsigned field, struct ct_buf *message)
{
	add_bytes(out, field, message->data, message->size);
	out->failed |= message->failed;
	ct_buf_clear(message);
}

/* A protobuf string is UTF-8: bytes that are not UTF-8, or could do harm, are escaped. */
static void add_text(struct ct_buf *out, unsigned field, const char *text, size_t size)
{
	struct ct_buf escaped;
	size_t i = 0;

	while (i < size && text[i] >= 0x20 && text[i] < 0x7F)
		i++;
	if (i == size) {
		add_bytes(out, field, text, size);
		return;
	}
	ct_buf_init(&escaped);
	ct_escape_add(&escaped, text, size);
	add_message(out, field, &escaped);
	ct_buf_fini_into(&escaped, out);
}

static void add_terminated(struct ct_buf *out, unsigned field, const char *text)
{
	add_text(out, field, text, strlen(text));
}

/* -----------------------------------------------------------------------------------------------
 * Packets
 */

static void packet_end(struct perfetto *self)
{
	add_number(&self->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	add_message(&self->out.text, TRACE_PACKET, &self->packet);
	ct_export_out_offer(&self->out);
}

static void add_clock(struct perfetto *self, unsigned id, uint64_t time_ns)
{
	add_number(&self->inner, CLOCK_ID, id);
	add_number(&self->inner, CLOCK_TIMESTAMP, time_ns);
	add_message(&self->message, SNAPSHOT_CLOCKS, &self->inner);
}

/* Times are wall-clock times, which viewers take for the boot clock; so both clocks are declared
 * equal. */
static void document_begin(struct perfetto *self)
{
	uint64_t begin_ns = ct_tracks_begin_ns(self->tracks);

	if (self->is_begun)
		return;
	self->is_begun = true;
	self->last_ns = begin_ns;
	add_clock(self, CLOCK_REALTIME_ID, begin_ns);
	add_clock(self, CLOCK_BOOTTIME_ID, begin_ns);
	add_message(&self->packet, PACKET_CLOCK_SNAPSHOT, &self->message);
	add_number(&self->packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	packet_end(self);
}

static void track_end(struct perfetto *self)
{
	add_message(&self->packet, PACKET_TRACK_DESCRIPTOR, &self->message);
	packet_end(self);
}

static void process_report(struct perfetto *self, const struct ct_source_process *source_process)
{
	uint32_t pid = ct_tracks_pid(self->tracks, source_process);

	ct_tracks_add_process(self->tracks, &self->text, source_process);
	add_number(&self->inner, PROCESS_PID, pid);
	add_text(&self->inner, PROCESS_NAME, self->text.data, self->text.size);
	add_number(&self->message, TRACK_UUID, PROCESS_TRACKS + source_process->index);
	add_message(&self->message, TRACK_PROCESS, &self->inner);
	ct_buf_clear(&self->text);
	track_end(self);
}

static void track_report(struct perfetto *self, struct ct_track *track)
{
	if (track->is_reported)
		return;
	track->is_reported = true;
	if (track->is_first)
		process_report(self, track->source_process);
	ct_buf_add_format(&self->text, "thread %u", track->tid);
	add_number(&self->inner, THREAD_PID, ct_tracks_pid(self->tracks, track->source_process));
	add_number(&self->inner, THREAD_TID, track->tid);
	add_text(&self->inner, THREAD_NAME, self->text.data, self->text.size);
	add_number(&self->message, TRACK_UUID, THREAD_TRACKS + track->index);
	add_message(&self->message, TRACK_THREAD, &self->inner);
	add_number(&self->message, TRACK_PARENT, PROCESS_TRACKS + track->source_process_index);
	ct_buf_clear(&self->text);
	track_end(self);
}

/* self->text has the span's name. */
static void span_track_report(struct perfetto *self, const struct ct_read_event *event)
{
	add_number(&self->message, TRACK_UUID, SPAN_TRACKS + event->span_id);
	add_number(&self->message, TRACK_PARENT, PROCESS_TRACKS + event->source_process->index);
	add_text(&self->message, TRACK_NAME, self->text.data, self->text.size);
	track_end(self);
}

/* -----------------------------------------------------------------------------------------------
 * Events
 */

static void add_annotation_text(struct perfetto *self, const char *name, const char *text,
				size_t size)
{
	add_terminated(&self->inner, ANNOTATION_NAME, name);
	add_text(&self->inner, ANNOTATION_STRING, text, size);
	add_message(&self->message, EVENT_ANNOTATIONS, &self->inner);
}

static void add_annotation_number(struct perfetto *self, const char *name, unsigned field,
				  uint64_t value)
{
	add_terminated(&self->inner, ANNOTATION_NAME, name);
	add_number(&self->inner, field, value);
	add_message(&self->message, EVENT_ANNOTATIONS, &self->inner);
}

static void add_item(struct perfetto *self, const struct ct_read_event *event, uint32_t index)
{
	const struct ctrace_event_item *item = &event->traced.items[index];
	bool is_signed = item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS;
	char scratch[16];
	const char *name = ct_read_event_item_name(event, index, scratch);

	if (item->type == CTRACE_TYPE_ADDRESS && item->size == 8)
		add_annotation_number(self, name, ANNOTATION_POINTER, item->value);
	else if (ct_export_add_value(&self->text, event, index))
		add_annotation_number(self, name, is_signed ? ANNOTATION_INT : ANNOTATION_UINT,
				      item->value);
	else
		add_annotation_text(self, name, self->text.data, self->text.size);
	ct_buf_clear(&self->text);
}

/* self->text has the event's name. */
static void add_event(struct perfetto *self, const struct ct_read_event *event,
		      enum event_type type, uint64_t track, uint64_t time_ns)
{
	add_number(&self->packet, PACKET_TIMESTAMP, time_ns);
	add_number(&self->message, EVENT_TYPE, type);
	add_number(&self->message, EVENT_TRACK, track);
	add_text(&self->message, EVENT_CATEGORIES, event->traced.component,
		 event->traced.component_size);
	add_text(&self->message, EVENT_NAME, self->text.data, self->text.size);
	ct_buf_clear(&self->text);
	add_annotation_text(self, "level", ct_level_name(event->traced.level),
			    strlen(ct_level_name(event->traced.level)));
	add_annotation_number(self, "event", ANNOTATION_UINT, event->traced.event_id);
	for (uint32_t i = 0; i < event->traced.item_count; i++)
		add_item(self, event, i);
	if (event->is_inferred)
		add_annotation_text(self, "end", "inferred", strlen("inferred"));
	add_message(&self->packet, PACKET_TRACK_EVENT, &self->message);
	packet_end(self);
}

/* Ends the innermost span of a track. */
static void add_end(struct perfetto *self, uint64_t track, uint64_t time_ns)
{
	add_number(&self->packet, PACKET_TIMESTAMP, time_ns);
	add_number(&self->message, EVENT_TYPE, TYPE_END);
	add_number(&self->message, EVENT_TRACK, track);
	add_message(&self->packet, PACKET_TRACK_EVENT, &self->message);
	packet_end(self);
}

static enum ctrace_status perfetto_open(const struct ct_export_options *options, void **out_self)
{
	struct perfetto *self = calloc(1, sizeof *self);

	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_export_out_init(&self->out, options->fd);
	if (ct_tracks_create(&self->tracks) != CTRACE_OK) {
		free(self);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_self = self;
	return CTRACE_OK;
}

static void perfetto_look(void *user, const struct ct_read_event *event)
{
	struct perfetto *self = user;

	ct_tracks_look(self->tracks, event);
}

static void perfetto_add(void *user, const struct ct_read_event *event)
{
	struct perfetto *self = user;
	struct ct_track *track = ct_tracks_find(self->tracks, event);
	enum ct_span_way way =
		event->span_id != 0 ? ct_tracks_way(self->tracks, event->span_id) : CT_SPAN_ALONE;
	bool is_end = ct_read_event_ends_span(event);
	enum event_type type = way == CT_SPAN_ALONE ? TYPE_INSTANT : is_end ? TYPE_END : TYPE_BEGIN;

	uint64_t track_id;
	struct ct_track_time time;

	if (track == NULL) {
		self->is_short_of_memory = true;
		return;
	}
	document_begin(self);
	track_report(self, track);
	time = ct_tracks_time(track, event, &self->last_ns);
	track_id = THREAD_TRACKS + track->index;
	ct_tracks_add_name(self->tracks, &self->text, event);
	if (event->is_whole && way == CT_SPAN_NESTED) {
		add_event(self, event, TYPE_BEGIN, track_id, time.begin_ns);
		add_end(self, track_id, time.end_ns);
		return;
	}
	if (way == CT_SPAN_CROSSING && !is_end)
		span_track_report(self, event);
	add_event(self, event, type,
		  way == CT_SPAN_CROSSING ? SPAN_TRACKS + event->span_id : track_id, time.end_ns);
}

/* Track 0 stands for the whole trace. */
static void perfetto_lost(void *user, const struct ct_read_note *note)
{
	struct perfetto *self = user;

	document_begin(self);
	add_number(&self->packet, PACKET_TIMESTAMP, self->last_ns);
	add_number(&self->message, EVENT_TYPE, TYPE_INSTANT);
	add_number(&self->message, EVENT_TRACK, 0);
	add_terminated(&self->message, EVENT_CATEGORIES, "LOST");
	add_terminated(&self->message, EVENT_NAME, "events lost");
	add_annotation_number(self, "events", ANNOTATION_UINT, note->events);
	if (note->path != NULL)
		add_annotation_text(self, "path", note->path, strlen(note->path));
	add_message(&self->packet, PACKET_TRACK_EVENT, &self->message);
	packet_end(self);
}

static enum ctrace_status perfetto_end(void *user)
{
	struct perfetto *self = user;
	enum ctrace_status status;

	document_begin(self);
	status = ct_export_out_end(&self->out);
	return status == CTRACE_OK && self->is_short_of_memory ? CTRACE_NOT_ENOUGH_MEMORY : status;
}

static void perfetto_close(void *user)
{
	struct perfetto *self = user;

	if (self == NULL)
		return;
	ct_tracks_destroy(self->tracks);
	ct_export_out_fini(&self->out);
	ct_buf_fini(&self->packet);
	ct_buf_fini(&self->message);
	ct_buf_fini(&self->inner);
	ct_buf_fini(&self->text);
	free(self);
}

const struct ct_exporter ct_export_perfetto = {
	.name = "perfetto",
	.is_binary = true,
	.has_pairs = true,
	.has_inferred = true,
	.open = perfetto_open,
	.look = perfetto_look,
	.add = perfetto_add,
	.lost = perfetto_lost,
	.end = perfetto_end,
	.close = perfetto_close,
};
