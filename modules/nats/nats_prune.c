/*
 * nats_prune.c - removes from a stream what an archive has.
 *
 * Each message is removed by its number.  The servers could remove all messages of a subject with
 * one request (PURGE), but NATS 2.9 then moves every consumer behind the messages that it has
 * removed: messages of other traces in between never reach their readers, nor this archive.
 *
 * A message may go when a note on the disk covers it.  So its number is kept with its trace when it
 * is taken.  An archive that goes on asks for the numbers of the messages before its note, without
 * their bytes.  The last metadata stay until the trace is closed and complete, because the stream's
 * other readers need them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTOFF_MS 2000
#define UNDER_WAY 256u /* requests */
#define NEXT_MS 200
#define SILENT_MS 10000
#define ROOM_LEAST 64u

/* -----------------------------------------------------------------------------------------------
 * Which messages there are
 */

enum ctrace_status ct_nats_prune_note(struct ct_nats_copied_trace *trace, uint64_t sequence,
				      bool is_metadata)
{
	if (trace->stored_count == trace->stored_room) {
		size_t room = trace->stored_room > 0 ? trace->stored_room * 2 : ROOM_LEAST;
		uint64_t *stored = reallocarray(trace->stored, room, sizeof *stored);

		if (stored == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		trace->stored = stored;
		trace->stored_room = room;
	}
	trace->stored[trace->stored_count++] = sequence << 1 | is_metadata;
	return CTRACE_OK;
}

static enum ctrace_status earlier_note(struct ct_nats_fetcher *fetch, natsMsg *message,
				       uint64_t sequence)
{
	struct ct_nats_copied_trace *trace =
		ct_nats_trace_known(fetch, natsMsg_GetSubject(message));
	const char *name = NULL;

	/* By its content, not by its number: servers that went back use numbers again. */
	if (trace == NULL || natsMsgHeader_Get(message, CT_NATS_FILE, &name) != NATS_OK ||
	    !ct_nats_copy_has(trace, name, message,
			      ct_nats_header_number(message, "Nats-Msg-Size")))
		return CTRACE_OK;
	return ct_nats_prune_note(trace, sequence, strcmp(name, CT_NATS_METADATA) == 0);
}

/* Reads the headers of all messages up to the archive's note. */
static enum ctrace_status earlier_take(struct ct_nats_fetcher *fetch,
				       natsSubscription *subscription)
{
	enum ctrace_status status = CTRACE_OK;
	int64_t heard_ms = nats_Now();
	natsStatus got = NATS_OK;
	bool is_over = false;
	uint64_t last, taken = 0;

	while (got == NATS_OK && status == CTRACE_OK && !is_over &&
	       fetch->copy->goes_on(fetch->copy->user)) {
		natsMsg *message = NULL;
		jsMsgMetaData *data = NULL;

		got = natsSubscription_NextMsg(&message, subscription, NEXT_MS);
		if (got == NATS_OK && natsMsg_GetMetaData(&data, message) == NATS_OK) {
			heard_ms = nats_Now();
			last = data->Sequence.Stream;
			taken = data->Sequence.Consumer;
			is_over = last >= fetch->sequence;
			if (last <= fetch->sequence)
				status = earlier_note(fetch, message, last);
		} else if (got == NATS_TIMEOUT) {
			is_over = ct_nats_consumer_pending(subscription, taken, NULL) == 0;
			got = nats_Now() - heard_ms < SILENT_MS ? NATS_OK : NATS_TIMEOUT;
		}
		jsMsgMetaData_Destroy(data);
		natsMsg_Destroy(message);
	}
	return got == NATS_OK ? status
			      : ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR,
						   fetch->address.stream, ct_nats_reason(got));
}

/* A connection of its own: in libnats 3.4 a subscription may not be destroyed while messages come.
 */
enum ctrace_status ct_nats_prune_open(struct ct_nats_fetcher *fetch)
{
	natsSubscription *subscription = NULL;
	enum ctrace_status status;
	struct ct_nats_link link;
	jsSubOptions options;
	natsStatus got;

	if (fetch->link.first_sequence > fetch->sequence)
		return CTRACE_OK;
	status = ct_nats_link_open(&link, &fetch->address, false, fetch->copy->error);
	if (status != CTRACE_OK)
		return status;
	(void)jsSubOptions_Init(&options);
	options.Stream = fetch->address.stream;
	options.Ordered = true;
	options.Config.HeadersOnly = true;
	got = js_SubscribeSync(&subscription, link.context, fetch->filter, NULL, &options, NULL);
	status = got == NATS_OK ? earlier_take(fetch, subscription)
				: ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR,
						     fetch->address.stream, ct_nats_reason(got));
	natsConnection_Close(link.connection);
	natsSubscription_Destroy(subscription);
	ct_nats_link_close(&link);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Requests
 */

struct removal {
	struct ct_nats_fetcher *fetch;
	natsSubscription *answers;
	char inbox[2 * CT_NATS_TEXT];
	unsigned under_way;
};

/* Is the message removed, or was it before? */
static bool answer_is_good(const char *data)
{
	static const char *const good[] = { "\"success\":true", "no message found",
					    "message not found", "deleted message",
					    "\"err_code\":10043" /* no such number */ };

	for (size_t i = 0; i < CT_COUNT(good); i++)
		if (strstr(data, good[i]) != NULL)
			return true;
	return false;
}

/* Waits until no more than so many requests are under way. */
static enum ctrace_status answers_take(struct removal *removal, unsigned most)
{
	static const char description[] = "\"description\":\"";
	struct ct_nats_fetcher *fetch = removal->fetch;

	while (removal->under_way > most) {
		enum ctrace_status status = CTRACE_OK;
		natsMsg *message = NULL;
		natsStatus got =
			natsSubscription_NextMsg(&message, removal->answers, CT_NATS_REQUEST_MS);

		if (got != NATS_OK)
			return ct_nats_fetch_fail(
				fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
				ct_nats_request_reason(fetch->link.connection, got));
		removal->under_way--;
		if (!answer_is_good(natsMsg_GetData(message))) {
			const char *why = strstr(natsMsg_GetData(message), description);
			char text[200] = "a message cannot be removed";

			if (why != NULL)
				(void)snprintf(text, sizeof text, "%.*s",
					       (int)strcspn(why + sizeof description - 1, "\""),
					       why + sizeof description - 1);
			status = ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR,
						    fetch->address.stream, text);
		}
		natsMsg_Destroy(message);
		if (status != CTRACE_OK)
			return status;
	}
	return CTRACE_OK;
}

static enum ctrace_status message_remove(struct removal *removal, uint64_t sequence)
{
	struct ct_nats_fetcher *fetch = removal->fetch;
	char subject[sizeof fetch->address.stream + 32], request[64];
	enum ctrace_status status = answers_take(removal, UNDER_WAY - 1);

	if (status != CTRACE_OK)
		return status;
	(void)snprintf(subject, sizeof subject, "$JS.API.STREAM.MSG.DELETE.%s",
		       fetch->address.stream);
	(void)snprintf(request, sizeof request, "{\"seq\":%" PRIu64 ",\"no_erase\":true}",
		       sequence);
	if (natsConnection_PublishRequestString(fetch->link.connection, subject, removal->inbox,
						request) != NATS_OK)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
					  "a request to remove a message cannot be sent");
	removal->under_way++;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Pruning
 */

/* Returns the number of the first message that is younger than the time to keep.  If there is none,
 * the number that the next message gets.  0: it is not known, and nothing may be removed.  A
 * consumer that begins at that time knows it, and sends nothing until it is asked. */
static uint64_t kept_sequence(const struct ct_nats_fetcher *fetch)
{
	jsConsumerInfo *info = NULL;
	jsConsumerConfig config;
	uint64_t sequence = 0;

	if (fetch->copy->keep_ns == 0)
		return UINT64_MAX;
	(void)jsConsumerConfig_Init(&config);
	config.AckPolicy = js_AckNone;
	config.DeliverPolicy = js_DeliverByStartTime;
	config.OptStartTime = (int64_t)(ct_clock_wall_ns() - fetch->copy->keep_ns);
	config.InactiveThreshold = CUTOFF_MS * 1000000LL; /* the server removes it then */
	if (js_AddConsumer(&info, fetch->link.context, fetch->address.stream, &config, NULL,
			   NULL) == NATS_OK)
		sequence = info->Delivered.Stream + 1;
	jsConsumerInfo_Destroy(info);
	return sequence;
}

/* Returns the number of the first message of the trace that the archive may not have, or `below`.
 */
static uint64_t trace_below(const struct ct_nats_copied_trace *trace, uint64_t below)
{
	for (const struct ct_nats_copied *file = trace->files; file != NULL; file = file->next) {
		if (ct_nats_waiting_sequence(file) < below)
			below = ct_nats_waiting_sequence(file);
		if (file->has.is_begun && !ct_nats_file_is_noted(file) &&
		    file->first_sequence < below)
			below = file->first_sequence;
	}
	return below;
}

/* Is it a part of the last metadata, which a trace that is not closed needs? */
static bool stored_stays(const struct ct_nats_copied_trace *trace, uint64_t stored, bool is_closed)
{
	return (stored & 1) != 0 && !is_closed && stored >> 1 >= trace->metadata_sequence;
}

static enum ctrace_status trace_prune(struct removal *removal, struct ct_nats_copied_trace *trace,
				      uint64_t below)
{
	enum ctrace_status status = CTRACE_OK;
	size_t stays = 0, count = 0;
	bool is_closed;

	below = trace_below(trace, below);
	while (count < trace->stored_count && trace->stored[count] >> 1 < below)
		count++;
	if (count == 0)
		return CTRACE_OK;
	is_closed = ct_nats_copy_is_closed(trace);
	for (size_t i = 0; i < count && status == CTRACE_OK; i++)
		if (!stored_stays(trace, trace->stored[i], is_closed))
			status = message_remove(removal, trace->stored[i] >> 1);
	if (status == CTRACE_OK)
		status = answers_take(removal, 0);
	if (status != CTRACE_OK)
		return status;
	for (size_t i = 0; i < count; i++)
		if (stored_stays(trace, trace->stored[i], is_closed))
			trace->stored[stays++] = trace->stored[i];
	memmove(trace->stored + stays, trace->stored + count,
		(trace->stored_count - count) * sizeof *trace->stored);
	trace->stored_count -= count - stays;
	return CTRACE_OK;
}

enum ctrace_status ct_nats_prune(struct ct_nats_fetcher *fetch)
{
	struct removal removal = { .fetch = fetch };
	uint64_t kept = kept_sequence(fetch);
	enum ctrace_status status = CTRACE_OK;

	if (kept == 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
					  "the first message to keep cannot be found");
	ct_nats_inbox_make(removal.inbox, &fetch->address);
	if (natsConnection_SubscribeSync(&removal.answers, fetch->link.connection, removal.inbox) !=
	    NATS_OK)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && status == CTRACE_OK; trace = trace->next)
		if (trace->has_metadata && !trace->has_left)
			status = trace_prune(&removal, trace, kept);
	natsSubscription_Destroy(removal.answers);
	return status;
}
