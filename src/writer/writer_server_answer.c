/*
 * writer_server_answer.c - the answers of an external writer: its state, to a process that
 * connects, and to WTRSTOP.
 *
 * On the writer server's thread, for one whole message of writer_server->current.  The answer to
 * WTRSTOP is sent when the writer has ended.  Counters of a TRCOUT are read under its lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer_server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ct_writer_server_answer_status(struct ct_buf *answer, enum ct_verb verb,
				    enum ctrace_status status, uint64_t number)
{
	size_t start = ct_message_start(answer, verb, CT_MESSAGE_ANSWER);

	ct_message_add_number(answer, CT_FIELD_STATUS, status);
	ct_message_add_number(answer, CT_FIELD_NUMBER, number);
	if (status != CTRACE_OK)
		ct_message_add_text(answer, CT_FIELD_MESSAGE, ctrace_status_text(status));
	(void)!ct_message_end(answer, start);
}

static void state_describe_trcout(struct ct_trcout *trcout, struct ct_trcout_state *out)
{
	const struct ct_trcout_spec *spec = &trcout->procedure->trcout[trcout->index];

	*out = (struct ct_trcout_state){ .size = sizeof *out,
					 .number = trcout->procedure->number[trcout->index] };
	ct_ring_consumer_lock(trcout);
	out->limit = trcout->limit;
	out->used = trcout->used;
	out->events = trcout->events;
	out->bytes = trcout->bytes;
	out->wrapped_events = trcout->wrapped_events;
	out->full_events = trcout->full_events;
	out->failing = trcout->failing;
	ct_ring_consumer_unlock(trcout);
	(void)snprintf(out->path, sizeof out->path, "%s", spec->path);
}

static void state_describe(struct ct_writer_server *writer_server, struct ct_writer_state *out,
			   struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT])
{
	const struct ct_procedure *procedure = writer_server->options->procedure;
	uint32_t full = 0;

	*out = (struct ct_writer_state){ .size = sizeof *out,
					 .pid = (uint32_t)getpid(),
					 .start_ns = writer_server->start_ns,
					 .nowrap = procedure->mode == CT_WRITER_NOWRAP,
					 .compress = procedure->compress,
					 .stopping = writer_server->stopping,
					 .trcouts = writer_server->workers,
					 .links = writer_server->link_count };
	(void)snprintf(out->name, sizeof out->name, "%s", procedure->name);
	for (uint32_t i = 0; i < writer_server->workers; i++) {
		state_describe_trcout(&writer_server->trcouts[i], &trcouts[i]);
		out->events += trcouts[i].events;
		out->bytes += trcouts[i].bytes;
		out->wrapped_events += trcouts[i].wrapped_events;
		out->full_events += trcouts[i].full_events;
		full += trcouts[i].full_events != 0;
	}
	out->is_full = full == writer_server->workers;
	(void)pthread_mutex_lock(&writer_server->message_lock);
	memcpy(out->message, writer_server->message, sizeof out->message);
	(void)pthread_mutex_unlock(&writer_server->message_lock);
}

static void state_answer(struct ct_writer_server *writer_server, struct ct_buf *answer)
{
	static struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT];
	struct ct_writer_state state;
	size_t start = ct_message_start(answer, CT_VERB_WRITER_STATUS,
					CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);

	state_describe(writer_server, &state, trcouts);
	ct_message_add_number(answer, CT_FIELD_STATUS, CTRACE_OK);
	ct_message_add(answer, CT_FIELD_WRITER, &state, sizeof state);
	(void)!ct_message_end(answer, start);
	for (uint32_t i = 0; i < writer_server->workers; i++) {
		start = ct_message_start(answer, CT_VERB_WRITER_STATUS,
					 CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
		ct_message_add(answer, CT_FIELD_TRCOUT, &trcouts[i], sizeof trcouts[i]);
		(void)!ct_message_end(answer, start);
	}
	for (uint32_t i = 0; i < writer_server->link_count; i++) {
		struct ct_link_state link;

		ct_link_describe(writer_server->links[i], &link);
		start = ct_message_start(answer, CT_VERB_WRITER_STATUS,
					 CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
		ct_message_add(answer, CT_FIELD_LINK, &link, sizeof link);
		(void)!ct_message_end(answer, start);
	}
	start = ct_message_start(answer, CT_VERB_WRITER_STATUS, CT_MESSAGE_ANSWER);
	(void)!ct_message_end(answer, start);
}

/* A process's answer to links_ask_back(): its consumer thread is ready for the rings. */
static void link_note_answer(struct ct_writer_server *writer_server)
{
	if (writer_server->current->link != NULL && writer_server->stopping)
		ct_link_release(writer_server->current->link, writer_server->stop_release);
}

void ct_writer_server_answer(const struct ct_message *request, struct ct_buf *out, void *user)
{
	struct ct_writer_server *writer_server = user;
	uint32_t count = 0;
	enum ctrace_status status;

	if ((request->flags & CT_MESSAGE_ANSWER) != 0) {
		link_note_answer(writer_server);
		return;
	}
	switch (request->verb) {
	case CT_VERB_WRITER_CONNECT:
		status = ct_writer_server_add_link(writer_server, request, &count);
		ct_writer_server_answer_status(out, request->verb, status, count);
		return;
	case CT_VERB_WRITER_STATUS:
		state_answer(writer_server, out);
		return;
	case CT_VERB_WRITER_STOP:
		writer_server->current->waits_for_end = true;
		ct_writer_server_begin_end(writer_server,
					   ct_message_number(request, CT_FIELD_NUMBER, 1) != 0
						   ? CT_RELEASE_FLUSH
						   : CT_RELEASE_NOW);
		return;
	default:
		ct_writer_server_answer_status(out, request->verb, CTRACE_UNSUPPORTED, 0);
		return;
	}
}
