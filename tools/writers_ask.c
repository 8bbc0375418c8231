/*
 * writers_ask.c - asks the external writers that run what they do.
 *
 * Called by the verbs, on the tool's only thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_trace.h"

#include <stdio.h>
#include <string.h>

#include "writer/writer.h"

/* While answers are read. */
struct reading {
	struct ct_display *display;
	const struct ct_peer *peer;
	uint32_t writer;
	bool shows_silent; /* for people one that does not answer is one that runs, all the same */
};

#define COPY_TEXT(to, from) memcpy((to), (from), sizeof(to) < sizeof(from) ? sizeof(to) : sizeof(from))

/* A structure that grew, or is an older one's, shorter. */
static void take(void *to, size_t size, struct ct_span value)
{
	memset(to, 0, size);
	memcpy(to, value.at, value.size < size ? value.size : size);
}

static uint32_t add_writer(struct ct_display *display, struct ct_span value)
{
	struct ct_display_writer row = { 0 };
	struct ct_writer_state state;

	take(&state, sizeof state, value);
	COPY_TEXT(row.name, state.name);
	COPY_TEXT(row.message, state.message);
	row.pid = state.pid;
	row.start_ns = state.start_ns;
	row.nowrap = state.nowrap != 0;
	row.compress = state.compress != 0;
	row.is_stopping = state.stopping != 0;
	row.is_full = state.is_full != 0;
	row.events = state.events;
	row.bytes = state.bytes;
	row.wrapped_events = state.wrapped_events;
	row.full_events = state.full_events;
	return ct_display_add_writer(display, &row);
}

static void add_trcout(struct ct_display *display, uint32_t writer, struct ct_span value)
{
	struct ct_display_trcout row = { .writer = writer };
	struct ct_trcout_state state;

	take(&state, sizeof state, value);
	COPY_TEXT(row.path, state.path);
	row.number = state.number;
	row.limit = state.limit;
	row.used = state.used;
	row.events = state.events;
	row.bytes = state.bytes;
	row.wrapped_events = state.wrapped_events;
	row.full_events = state.full_events;
	row.failing = state.failing;
	(void)ct_display_add_trcout(display, &row);
}

static void add_link(struct ct_display *display, uint32_t writer, struct ct_span value)
{
	struct ct_display_link row = { .writer = writer };
	struct ct_link_state state;

	take(&state, sizeof state, value);
	COPY_TEXT(row.jobname, state.jobname);
	COPY_TEXT(row.traces, state.traces);
	row.pid = state.pid;
	row.asid = state.asid;
	row.rings = state.rings;
	row.events = state.events;
	(void)ct_display_add_link(display, &row);
}

static void add_silent(struct reading *reading, const struct ct_peer *peer)
{
	struct ct_display_writer row = { .is_silent = true };

	memcpy(row.name, peer->jobname, sizeof row.name);
	if (reading->shows_silent && peer->status != CTRACE_DENIED)
		(void)ct_display_add_writer(reading->display, &row);
}

static void read_frame(const struct ct_peer *peer, size_t request, const struct ct_message *message, void *user)
{
	struct reading *reading = user;
	struct ct_span fields, value;
	enum ct_field field;

	(void)request;
	if (peer != reading->peer)
		reading->writer = CT_DISPLAY_NONE;
	reading->peer = peer;
	if (message == NULL) {
		add_silent(reading, peer);
		return;
	}
	fields = message->fields;
	while (ct_ask_silence(peer) == NULL && ct_message_next(&fields, &field, &value)) {
		if (field == CT_FIELD_WRITER)
			reading->writer = add_writer(reading->display, value);
		else if (field == CT_FIELD_TRCOUT && reading->writer != CT_DISPLAY_NONE)
			add_trcout(reading->display, reading->writer, value);
		else if (field == CT_FIELD_LINK && reading->writer != CT_DISPLAY_NONE)
			add_link(reading->display, reading->writer, value);
	}
}

void ct_writers_ask(const struct target *target, struct ct_display *display, struct wto *wto)
{
	struct reading reading = { .display = display, .shows_silent = wto != NULL };
	const struct ct_command status = { .verb = CT_VERB_WRITER_STATUS };
	struct ask ask;

	ct_ask_init(&ask, target, wto);
	ct_command_encode(&ask.request, &status);
	if (ask.request.failed || ct_ask_find_writers(&ask) != CTRACE_OK)
		display->failed = true;
	else
		(void)ct_ask_run(&ask, read_frame, &reading);
	ct_ask_fini(&ask);
}
