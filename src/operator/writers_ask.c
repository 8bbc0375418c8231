/*
 * writers_ask.c - asks the running external writers for their status.
 *
 * Called by the verbs, on the tool's only thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display_trace.h"

#include <stdio.h>
#include <string.h>

/* State while answers are read. */
struct reading {
	struct ct_display *display;
	const struct ct_peer *peer;
	uint32_t writer;
	bool shows_silent; /* a writer without a response is shown as one that runs */
};

/* Copies a structure that may be longer or shorter in another version of ctrace. */
static void field_take(void *to, size_t size, struct ct_span value)
{
	memcpy(to, value.at, value.size < size ? value.size : size);
}

static void field_read(struct reading *reading, enum ct_field field, struct ct_span value)
{
	struct ct_display_writer writer = { .is_silent = false };
	struct ct_display_trcout trcout = { .writer = reading->writer };
	struct ct_display_link link = { .writer = reading->writer };

	if (field == CT_FIELD_WRITER) {
		field_take(&writer.state, sizeof writer.state, value);
		reading->writer = ct_display_add_writer(reading->display, &writer);
	} else if (field == CT_FIELD_TRCOUT && reading->writer != CT_DISPLAY_NONE) {
		field_take(&trcout.state, sizeof trcout.state, value);
		ct_display_add_trcout(reading->display, &trcout);
	} else if (field == CT_FIELD_LINK && reading->writer != CT_DISPLAY_NONE) {
		field_take(&link.state, sizeof link.state, value);
		ct_display_add_link(reading->display, &link);
	}
}

static void writer_add_without_response(struct reading *reading, const struct ct_peer *peer)
{
	struct ct_display_writer row = { .is_silent = true };

	memcpy(row.state.name, peer->jobname, sizeof row.state.name);
	if (reading->shows_silent && peer->status != CTRACE_DENIED)
		(void)ct_display_add_writer(reading->display, &row);
}

static void frame_read(const struct ct_peer *peer, size_t request, const struct ct_message *message,
		       void *user)
{
	struct reading *reading = user;
	struct ct_span fields, value;
	enum ct_field field;

	(void)request;
	if (peer != reading->peer)
		reading->writer = CT_DISPLAY_NONE;
	reading->peer = peer;
	if (message == NULL) {
		writer_add_without_response(reading, peer);
		return;
	}
	fields = message->fields;
	while (ct_ask_no_response(peer) == NULL && ct_message_next(&fields, &field, &value))
		field_read(reading, field, value);
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
		(void)ct_ask_run(&ask, frame_read, &reading);
	ct_ask_fini(&ask);
}
