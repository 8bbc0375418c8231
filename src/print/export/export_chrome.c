/*
 * export_chrome.c - traces as the JSON that the viewers of Perfetto and Chromium read.
 *
 * Called by ctrace export, on one thread.  One object with traceEvents: M names processes and
 * threads before their first event, B and E are spans that nest on their thread, b and e are spans
 * that do not nest, X is a span that one event reports, i is any other event.  Spans
 * without an exit have the category "inferred" besides their own.  Some readers identify a span by
 * its name and args together and demand the same at both ends, so spans have args only on request.
 * Times are microseconds since the first event: readers store them as doubles, which are too small
 * for nanoseconds since 1970. otherData has the time of the first event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct chrome {
	struct ct_export_out out;
	struct ct_tracks *tracks;
	struct ct_buf scratch;
	uint64_t last_ns; /* of the last event */
	bool is_begun, has_elements;
	bool has_args; /* spans have them too */
	bool is_short_of_memory;
};

static enum ctrace_status chrome_open(const struct ct_export_options *options, void **out_self)
{
	struct chrome *self = calloc(1, sizeof *self);

	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_export_out_init(&self->out, options->fd);
	ct_buf_init(&self->scratch);
	self->has_args = options->has_args;
	if (ct_tracks_create(&self->tracks) != CTRACE_OK) {
		free(self);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_self = self;
	return CTRACE_OK;
}

static void chrome_look(void *user, const struct ct_read_event *event)
{
	struct chrome *self = user;

	ct_tracks_look(self->tracks, event);
}

static void document_begin(struct chrome *self)
{
	struct ct_buf *text = &self->out.text;
	uint64_t begin_ns = ct_tracks_begin_ns(self->tracks);

	if (self->is_begun)
		return;
	self->is_begun = true;
	self->last_ns = begin_ns;
	ct_buf_add_text(
		text,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tracer\":\"ctrace\",\"begin_time\":\"");
	ct_export_add_time(text, begin_ns);
	ct_buf_add_format(text, "\",\"begin_ns\":\"%" PRIu64 "\"},\"traceEvents\":[", begin_ns);
}

static void element_begin(struct chrome *self)
{
	ct_buf_add_text(&self->out.text, self->has_elements ? ",\n" : "\n");
	self->has_elements = true;
}

static void add_scratch(struct chrome *self)
{
	ct_export_add_string(&self->out.text, self->scratch.data, self->scratch.size);
	self->is_short_of_memory |= self->scratch.failed;
	ct_buf_clear(&self->scratch);
}

/* -----------------------------------------------------------------------------------------------
 * Names of tracks
 */

static void add_naming(struct chrome *self, const char *what, uint32_t pid, uint32_t tid)
{
	element_begin(self);
	ct_buf_add_format(
		&self->out.text,
		"{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"ts\":0,\"name\":\"%s\",\"args\":{\"name\":",
		pid, tid, what);
	add_scratch(self);
	ct_buf_add_text(&self->out.text, "}}");
}

static void track_report(struct chrome *self, struct ct_track *track)
{
	const struct ct_source_process *source_process = track->source_process;
	uint32_t pid = ct_tracks_pid(self->tracks, source_process);

	if (track->is_reported)
		return;
	track->is_reported = true;
	if (track->is_first) {
		ct_tracks_add_process(self->tracks, &self->scratch, source_process);
		add_naming(self, "process_name", pid, 0);
	}
	ct_buf_add_format(&self->scratch, "thread %u", track->tid);
	add_naming(self, "thread_name", pid, track->tid);
}

/* -----------------------------------------------------------------------------------------------
 * Events
 */

static void add_time(struct chrome *self, uint64_t since_ns)
{
	ct_buf_add_u64(&self->out.text, since_ns / 1000);
	ct_buf_add_char(&self->out.text, '.');
	ct_export_add_digits(&self->out.text, since_ns % 1000, 3);
}

/* Returns the copybook of a record item, whose fields are added one by one; NULL for other
 * items. */
static const struct ct_copybook *item_copybook(const struct ct_read_event *event, uint32_t index)
{
	const struct ct_argument *argument = ct_read_event_argument(event, index);

	return ct_value_is_record(&event->traced.items[index], argument) ? argument->copybook
									 : NULL;
}

static void add_args(struct chrome *self, const struct ct_read_event *event)
{
	struct ct_buf *text = &self->out.text;
	char name[16];

	ct_buf_add_text(text, ",\"args\":{\"level\":\"");
	ct_buf_add_text(text, ct_level_name(event->traced.level));
	ct_buf_add_text(text, "\",\"event\":");
	ct_buf_add_u64(text, event->traced.event_id);
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		const char *item = ct_read_event_item_name(event, i, name);
		const struct ct_copybook *copybook = item_copybook(event, i);

		ct_buf_add_char(text, ',');
		/* Members of an object have different names. */
		if (strcmp(item, "level") == 0 || strcmp(item, "event") == 0)
			ct_buf_add_format(&self->scratch, "%s_", item);
		else
			ct_buf_add_text(&self->scratch, item);
		add_scratch(self);
		ct_buf_add_char(text, ':');
		if (copybook != NULL) {
			ct_json_add_record(
				text, copybook,
				(struct ct_record_bytes){ event->traced.items[i].data,
							  event->traced.items[i].size,
							  event->source_process->is_big });
		} else if (ct_export_add_value(&self->scratch, event, i)) {
			ct_buf_add(text, self->scratch.data, self->scratch.size);
			ct_buf_clear(&self->scratch);
		} else {
			add_scratch(self);
		}
	}
	ct_buf_add_char(text, '}');
}

static char event_phase(const struct chrome *self, const struct ct_read_event *event)
{
	bool is_end = ct_read_event_ends_span(event);

	if (event->span_id == 0)
		return 'i';
	if (event->is_whole)
		return ct_tracks_way(self->tracks, event->span_id) == CT_SPAN_NESTED ? 'X' : 'i';
	switch (ct_tracks_way(self->tracks, event->span_id)) {
	case CT_SPAN_NESTED:
		return is_end ? 'E' : 'B';
	case CT_SPAN_CROSSING:
		return is_end ? 'e' : 'b';
	default:
		return 'i';
	}
}

static void chrome_add(void *user, const struct ct_read_event *event)
{
	struct chrome *self = user;
	struct ct_buf *text = &self->out.text;
	struct ct_track *track = ct_tracks_find(self->tracks, event);
	char phase = event_phase(self, event);
	bool is_async = phase == 'b' || phase == 'e';
	struct ct_track_time time;

	if (track == NULL) {
		self->is_short_of_memory = true;
		return;
	}
	document_begin(self);
	track_report(self, track);
	time = ct_tracks_time(track, event, &self->last_ns);
	element_begin(self);
	ct_buf_add_text(text, "{\"ph\":\"");
	ct_buf_add_char(text, phase);
	ct_buf_add_text(text, "\",\"pid\":");
	ct_buf_add_u64(text, ct_tracks_pid(self->tracks, track->source_process));
	ct_buf_add_text(text, ",\"tid\":");
	ct_buf_add_u64(text, track->tid);
	ct_buf_add_text(text, ",\"ts\":");
	add_time(self, time.begin_ns - ct_tracks_begin_ns(self->tracks));
	if (phase == 'X') {
		ct_buf_add_text(text, ",\"dur\":");
		add_time(self, time.end_ns - time.begin_ns);
	}
	ct_buf_add_text(text, ",\"name\":");
	ct_tracks_add_name(self->tracks, &self->scratch, event);
	add_scratch(self);
	ct_buf_add_text(text, ",\"cat\":");
	ct_buf_add(&self->scratch, event->traced.component, event->traced.component_size);
	if (phase != 'i' && event->type != NULL && event->type->pairing == CT_PAIR_UNTIL)
		ct_buf_add_text(&self->scratch, ",inferred");
	add_scratch(self);
	if (is_async)
		ct_buf_add_format(text, ",\"id\":\"0x%" PRIx64 "\"", event->span_id);
	if (phase == 'i')
		ct_buf_add_text(text, ",\"s\":\"t\"");
	if (phase == 'i' || phase == 'X' || self->has_args)
		add_args(self, event);
	ct_buf_add_char(text, '}');
	ct_export_out_offer(&self->out);
}

static void chrome_lost(void *user, const struct ct_read_note *note)
{
	struct chrome *self = user;

	document_begin(self);
	element_begin(self);
	ct_buf_add_format(&self->out.text, "{\"ph\":\"i\",\"pid\":%u,\"tid\":0,\"ts\":",
			  note->source_process != NULL
				  ? ct_tracks_pid(self->tracks, note->source_process)
				  : 0);
	add_time(self, self->last_ns - ct_tracks_begin_ns(self->tracks));
	ct_buf_add_format(
		&self->out.text,
		",\"name\":\"events lost\",\"cat\":\"LOST\",\"s\":\"%c\",\"args\":{\"events\":%" PRIu64
		"}}",
		note->source_process != NULL ? 'p' : 'g', note->events);
}

static enum ctrace_status chrome_end(void *user)
{
	struct chrome *self = user;
	enum ctrace_status status;

	document_begin(self);
	ct_buf_add_text(&self->out.text, "\n]}\n");
	status = ct_export_out_end(&self->out);
	return status == CTRACE_OK && self->is_short_of_memory ? CTRACE_NOT_ENOUGH_MEMORY : status;
}

static void chrome_close(void *user)
{
	struct chrome *self = user;

	if (self == NULL)
		return;
	ct_tracks_destroy(self->tracks);
	ct_export_out_fini(&self->out);
	ct_buf_fini(&self->scratch);
	free(self);
}

const struct ct_exporter ct_export_chrome = {
	.name = "chrome",
	.has_pairs = true,
	.has_inferred = true,
	.open = chrome_open,
	.look = chrome_look,
	.add = chrome_add,
	.lost = chrome_lost,
	.end = chrome_end,
	.close = chrome_close,
};
