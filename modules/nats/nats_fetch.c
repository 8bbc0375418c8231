/*
 * nats_fetch.c - copies traces from a stream into directories.
 *
 * Takes the messages of the stream in their order, from one server after another when they fail.
 * nats_copied.c puts their bytes where they belong, nats_late.c keeps those that come too early,
 * and nats_archive.c notes how far an archive is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT_MS 200    /* for a message */
#define SILENT_MS 3000 /* in which the server of a consumer sends something, or is dead */
#define SUBSCRIBE_TRIES 8u
/* What has come is handed over at the latest after so many bytes or so much time. */
#define TAKE_BYTES (UINT64_C(16) << 20)
#define TAKE_MS 300
#define PARTIAL_MS 5000  /* then the rest of a packet is not waited for: its program went down */
#define WAITING_LOOK 64u /* messages between looks at what waits */
/* An archive is made durable and noted at most so often. */
#define NOTE_MS 2000
/* A message is younger than its events by the server's clock, unless that is behind. ct_nats_lead()
 * has by how much, as the last messages say; and so much more. */
#define AHEAD_NS UINT64_C(60000000000)

enum ctrace_status ct_nats_fetch_fail(struct ct_nats_fetcher *fetch, enum ctrace_status status,
				      const char *path, const char *what)
{
	(void)snprintf(fetch->copy->error, CT_NATS_ERROR_SIZE, "%.300s: %.200s", path, what);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Messages
 */

static bool message_is_wanted(const struct ct_nats_fetcher *fetch, natsMsg *message)
{
	uint64_t first = ct_nats_header_number(message, CT_NATS_FIRST);
	uint64_t last = ct_nats_header_number(message, CT_NATS_LAST);

	return last == 0 || (last >= fetch->copy->since_ns && first <= fetch->copy->until_ns);
}

static bool name_is_stream(const char *name)
{
	return strncmp(name, "stream.", 7) == 0 && strlen(name) < 40 &&
	       strspn(name + 7, "0123456789.abcdefghijklmnopqrstuvwxyz") == strlen(name + 7);
}

/* May take the message from the caller. */
static enum ctrace_status message_take(struct ct_nats_fetcher *fetch, natsMsg **taken)
{
	struct ct_nats_copied_trace *trace;
	natsMsg *message = *taken;
	const char *name = NULL;
	enum ctrace_status status;

	if (natsMsgHeader_Get(message, CT_NATS_FILE, &name) != NATS_OK || name == NULL ||
	    !message_is_wanted(fetch, message))
		return CTRACE_OK;
	status = ct_nats_trace_find(fetch, message, &trace);
	if (status != CTRACE_OK || trace == NULL || trace->is_other)
		return status;
	ct_nats_clock_take(trace, message);
	if (trace->first_sequence == 0) {
		trace->first_sequence = fetch->sequence;
		trace->is_whole |= strcmp(name, CT_NATS_METADATA) == 0 &&
				   !ct_nats_header_is_there(message, CT_NATS_COMPLETE);
	}
	if (fetch->copy->prunes)
		status = ct_nats_prune_note(trace, fetch->sequence,
					    strcmp(name, CT_NATS_METADATA) == 0);
	if (status != CTRACE_OK)
		return status;
	fetch->copy->messages++;
	fetch->copy->bytes += (uint64_t)natsMsg_GetDataLength(message);
	if (trace->is_closed) {
		trace->has_left |= ct_nats_closed_refuse(fetch, trace, name, message);
		return CTRACE_OK;
	}
	if (strcmp(name, CT_NATS_METADATA) == 0)
		return ct_nats_metadata_take(fetch, trace, message);
	if (name_is_stream(name))
		return ct_nats_bytes_take(fetch, trace, name, taken);
	trace->has_left = true;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * The stream
 */

/* Metadata that are larger than a message: takes all messages of the subject. */
static enum ctrace_status metadata_take_parts(struct ct_nats_fetcher *fetch,
					      struct ct_nats_copied_trace *trace,
					      const char *subject)
{
	natsSubscription *subscription = NULL;
	enum ctrace_status status = CTRACE_OK;
	uint64_t pending = 1;
	jsSubOptions options;

	(void)jsSubOptions_Init(&options);
	options.Stream = fetch->address.stream;
	options.Ordered = true;
	if (js_SubscribeSync(&subscription, fetch->link.context, subject, NULL, &options, NULL) !=
	    NATS_OK)
		return CTRACE_OK; /* they are left out, and that is reported */
	while (pending > 0 && status == CTRACE_OK) {
		jsMsgMetaData *data = NULL;
		natsMsg *message = NULL;

		if (natsSubscription_NextMsg(&message, subscription, CT_NATS_REQUEST_MS) != NATS_OK)
			break;
		pending = 0;
		if (natsMsg_GetMetaData(&data, message) == NATS_OK) {
			pending = data->NumPending;
			fetch->sequence = data->Sequence.Stream;
		}
		jsMsgMetaData_Destroy(data);
		status = ct_nats_metadata_take(fetch, trace, message);
		natsMsg_Destroy(message);
	}
	natsSubscription_Destroy(subscription);
	return status;
}

/* The metadata that the stream has last. */
static enum ctrace_status metadata_fetch_last(struct ct_nats_fetcher *fetch,
					      struct ct_nats_copied_trace *trace)
{
	char subject[sizeof trace->subject + sizeof CT_NATS_METADATA + 1];
	uint64_t sequence = fetch->sequence;
	natsMsg *message = NULL;
	enum ctrace_status status;

	(void)snprintf(subject, sizeof subject, "%s." CT_NATS_METADATA, trace->subject);
	if (js_GetLastMsg(&message, fetch->link.context, fetch->address.stream, subject, NULL,
			  NULL) != NATS_OK)
		return CTRACE_OK;
	fetch->sequence = natsMsg_GetSequence(message);
	status = ct_nats_header_number(message, CT_NATS_OFFSET) == 0
			 ? ct_nats_metadata_take(fetch, trace, message)
			 : metadata_take_parts(fetch, trace, subject);
	fetch->sequence = sequence;
	natsMsg_Destroy(message);
	return status;
}

/* What the streams of a copy do not have: the clocks, and the metadata of traces whose part of the
 * stream begins behind them. */
static enum ctrace_status metadata_fetch(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && status == CTRACE_OK; trace = trace->next) {
		status = ct_nats_clock_write(fetch, trace);
		if (!trace->has_metadata && !trace->is_other && status == CTRACE_OK)
			status = metadata_fetch_last(fetch, trace);
	}
	return status;
}

/* The servers have messages, and send none, or make no consumer. */
static enum ctrace_status silence_fail(struct ct_nats_fetcher *fetch, natsStatus got)
{
	const char *last = ct_nats_refusal(fetch->link.connection);

	if (last == NULL)
		last = got != NATS_OK && got != NATS_TIMEOUT
			       ? natsStatus_GetText(got)
			       : "no message comes; more than half of the servers that keep it "
				 "have to run";
	return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream, last);
}

/* Another consumer would send a few messages, and then wait for the same permission. */
static bool permission_is_missing(const struct ct_nats_fetcher *fetch)
{
	const char *last = ct_nats_refusal(fetch->link.connection);

	return last != NULL && strstr(last, "Permissions Violation") != NULL;
}

/* Has a file a part of a packet only, or of a compressed file? */
static bool files_are_partial(const struct ct_nats_fetcher *fetch)
{
	for (const struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next)
		for (const struct ct_nats_copied *file = trace->files; file != NULL;
		     file = file->next)
			if (file->has.is_begun && !file->is_replaced &&
			    file->has.end < file->has.packet_end)
				return true;
	return false;
}

/* Hands over what has come, and removes it. */
static enum ctrace_status parts_take(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = metadata_fetch(fetch);

	if (fetch->new_bytes == 0 ||
	    (files_are_partial(fetch) &&
	     (fetch->waiting_bytes > 0 || nats_Now() - fetch->new_since_ms < PARTIAL_MS)))
		return status;
	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && status == CTRACE_OK; trace = trace->next)
		if (trace->has_metadata && !trace->is_hidden)
			status = ct_nats_mark_remove(fetch, trace);
	if (status != CTRACE_OK)
		return status;
	fetch->copy->take(fetch->is_repeated, fetch->copy->user);
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		if (trace->has_metadata && !trace->is_hidden)
			ct_nats_trace_empty(fetch, trace);
	fetch->new_bytes = 0;
	fetch->is_repeated = false;
	return CTRACE_OK;
}

static bool parts_are_due(const struct ct_nats_fetcher *fetch)
{
	return fetch->copy->take != NULL &&
	       (fetch->new_bytes >= TAKE_BYTES ||
		(fetch->new_bytes > 0 && nats_Now() - fetch->new_since_ms >= TAKE_MS));
}

/* The servers may have made the stream anew, or have gone back to an earlier state.  Returns true
 * when messages have other numbers. */
static bool stream_compare(struct ct_nats_fetcher *fetch)
{
	int64_t created = fetch->link.created;
	enum ct_nats_kept kept = CT_NATS_KEPT;
	bool is_new;

	if (ct_nats_stream_look(&fetch->link, &fetch->address, false, fetch->copy->error) !=
	    CTRACE_OK)
		return false;
	is_new = fetch->link.created != created;
	if (!is_new)
		kept = ct_nats_place_look(&fetch->link, &fetch->address, &fetch->last, fetch->copy);
	if (!is_new && kept == CT_NATS_KEPT)
		return false;
	if (!is_new)
		ct_nats_lost_notice(&fetch->link, &fetch->address, &fetch->last, kept,
				    "were copied", fetch->copy);
	ct_nats_fetch_renumber(fetch, is_new);
	fetch->last_sequence = fetch->link.last_sequence;
	return true;
}

/* libnats makes another consumer when servers fail, which goes on at the next number. */
static bool consumer_changes(struct ct_nats_fetcher *fetch, const char *name)
{
	bool changes = fetch->consumer[0] != '\0' && strcmp(fetch->consumer, name) != 0;

	(void)snprintf(fetch->consumer, sizeof fetch->consumer, "%s", name);
	return changes;
}

/* *out_is_renumbered: the message was not taken, since it comes again. */
static enum ctrace_status message_consume(struct ct_nats_fetcher *fetch, natsMsg *message,
					  uint64_t *out_pending, bool *out_is_renumbered)
{
	jsMsgMetaData *data = NULL;
	enum ctrace_status status;
	const char *id = NULL;

	if (natsMsg_GetMetaData(&data, message) == NATS_OK) {
		if (consumer_changes(fetch, data->Consumer) && stream_compare(fetch)) {
			*out_is_renumbered = true;
			jsMsgMetaData_Destroy(data);
			natsMsg_Destroy(message);
			return CTRACE_OK;
		}
		*out_pending = data->NumPending;
		fetch->sequence = data->Sequence.Stream;
		fetch->last = (struct ct_nats_place){ .sequence = data->Sequence.Stream,
						      .time = data->Timestamp };
		if (natsMsgHeader_Get(message, CT_NATS_ID, &id) == NATS_OK && id != NULL)
			(void)snprintf(fetch->last.id, sizeof fetch->last.id, "%s", id);
		fetch->taken = data->Sequence.Consumer;
		fetch->is_changed = true;
		fetch->copy->reported[0] = '\0'; /* the next failure is another one */
	}
	jsMsgMetaData_Destroy(data);
	status = message_take(fetch, &message);
	natsMsg_Destroy(message);
	return status;
}

uint64_t ct_nats_consumer_pending(natsSubscription *subscription, uint64_t taken, char out_name[64])
{
	jsConsumerInfo *info = NULL;
	uint64_t pending = 1;
	jsOptions request;

	(void)jsOptions_Init(&request);
	request.Wait = SILENT_MS;
	if (natsSubscription_GetConsumerInfo(&info, subscription, &request, NULL) == NATS_OK) {
		pending = info->NumPending + (info->Delivered.Consumer > taken);
		if (out_name != NULL)
			(void)snprintf(out_name, 64, "%s", info->Name);
	}
	jsConsumerInfo_Destroy(info);
	return pending;
}

/* How many messages have arrived here and wait to be taken.  The message that is taken does not
 * count them: when it was sent there were none. */
static uint64_t messages_queued(natsSubscription *subscription)
{
	int count = 0;

	return natsSubscription_GetPending(subscription, &count, NULL) == NATS_OK && count > 0
		       ? (uint64_t)count
		       : 0;
}

/* A copy that does not follow ends with the last message that the stream had when it began.  If
 * that one is of another subject, the copy ends when the consumer is silent and has none to come;
 * what a message itself says of those to come is not enough, for nats-server 2.9 says 0 before the
 * last one at times.
 * *out_got: what the consumer has failed with.  NATS_TIMEOUT: it is silent.  NATS_MISMATCH:
 * messages have other numbers.  NATS_OK: not at all.
 */
static enum ctrace_status messages_take(struct ct_nats_fetcher *fetch,
					natsSubscription *subscription, natsStatus *out_got)
{
	struct ct_nats_copy *copy = fetch->copy;
	enum ctrace_status status = CTRACE_OK;
	int64_t heard_ms = nats_Now();

	while (status == CTRACE_OK && copy->goes_on(copy->user)) {
		natsMsg *message = NULL;
		natsStatus got = natsSubscription_NextMsg(&message, subscription, NEXT_MS);
		uint64_t pending = 1;
		bool is_renumbered = false;
		char consumer[64] = "";

		if (got == NATS_OK) {
			status = message_consume(fetch, message, &pending, &is_renumbered);
			pending += messages_queued(subscription);
		} else if (got == NATS_TIMEOUT) {
			pending = ct_nats_consumer_pending(subscription, fetch->taken, consumer);
			is_renumbered = consumer[0] != '\0' && consumer_changes(fetch, consumer) &&
					stream_compare(fetch);
		}
		if (is_renumbered) {
			*out_got = NATS_MISMATCH;
			return status;
		}
		if (got == NATS_OK || pending == 0)
			heard_ms = nats_Now();
		if ((got != NATS_OK && got != NATS_TIMEOUT) || nats_Now() - heard_ms >= SILENT_MS) {
			*out_got = got != NATS_OK ? got : NATS_TIMEOUT;
			return status;
		}
		if (!copy->follows && (fetch->sequence >= fetch->last_sequence ||
				       (got == NATS_TIMEOUT && pending == 0)))
			break;
		if (status == CTRACE_OK && (got != NATS_OK || fetch->sequence % WAITING_LOOK == 0))
			status = ct_nats_late_look(fetch);
		if (status == CTRACE_OK && copy->take != NULL &&
		    (pending == 0 || parts_are_due(fetch)))
			status = parts_take(fetch);
		else if (pending == 0 && status == CTRACE_OK)
			status = metadata_fetch(fetch);
		if (status == CTRACE_OK && copy->is_archive && fetch->is_changed &&
		    nats_Now() - fetch->noted_ms >= NOTE_MS)
			status = ct_nats_archive_note(fetch);
	}
	if (status == CTRACE_OK)
		status = ct_nats_late_end(fetch);
	if (status == CTRACE_OK && copy->take != NULL)
		status = parts_take(fetch);
	return status == CTRACE_OK ? metadata_fetch(fetch) : status;
}

/* Begins behind the last message that was taken. */
static natsStatus consumer_make(struct ct_nats_fetcher *fetch, natsSubscription **out)
{
	jsOptions request;
	jsSubOptions options;
	uint64_t since_ns = fetch->copy->since_ns;
	int64_t from = 0;

	fetch->consumer[0] = '\0';
	(void)jsOptions_Init(&request);
	request.Wait = SILENT_MS;
	(void)jsSubOptions_Init(&options);
	options.Stream = fetch->address.stream;
	options.Ordered = true;
	if (since_ns > 0 && since_ns < INT64_MAX && fetch->sequence == 0) {
		uint64_t ahead = ct_nats_lead(fetch) + AHEAD_NS;

		from = since_ns > ahead ? (int64_t)(since_ns - ahead) : 0;
	}
	if (fetch->again_from > from)
		from = fetch->again_from;
	if (fetch->sequence > 0) {
		options.Config.DeliverPolicy = js_DeliverByStartSequence;
		options.Config.OptStartSeq = fetch->sequence + 1;
	} else if (from > 0) {
		options.Config.DeliverPolicy = js_DeliverByStartTime;
		options.Config.OptStartTime = from;
	}
	return js_SubscribeSync(out, fetch->link.context, fetch->filter, &request, &options, NULL);
}

void ct_nats_fetch_renumber(struct ct_nats_fetcher *fetch, bool is_new)
{
	/* What the servers took before the last message that came from them, this copy has.  An
	 * archive may have left some for later. */
	if (!is_new && !fetch->copy->is_archive && fetch->last.time > (int64_t)AHEAD_NS)
		fetch->again_from = fetch->last.time - (int64_t)AHEAD_NS;
	else
		fetch->again_from = 0;
	fetch->last = (struct ct_nats_place){ .sequence = 0 };
	fetch->sequence = 0;
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		trace->first_sequence = trace->metadata_sequence = trace->parts_sequence = 0;
		trace->stored_count = 0;
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next) {
			ct_nats_late_remove(fetch, file);
			file->first_sequence = 0;
			if (is_new)
				file->restarts = 0;
			if (ct_nats_name_is_packed(file->name) && !file->is_whole)
				file->has.is_begun = false;
		}
	}
}

/* libnats connects again by itself. */
static bool connection_is_lost(const struct ct_nats_fetcher *fetch)
{
	return natsConnection_Status(fetch->link.connection) == NATS_CONN_STATUS_RECONNECTING;
}

/* A server has the consumer alone.  The servers may choose one that is dead, and one may die: then
 * another consumer goes on. */
static enum ctrace_status consumers_take(struct ct_nats_fetcher *fetch)
{
	struct ct_nats_copy *copy = fetch->copy;
	enum ctrace_status status = CTRACE_OK;
	natsStatus got = NATS_OK;

	for (unsigned tries = 0;
	     (tries < SUBSCRIBE_TRIES || copy->follows) && copy->goes_on(copy->user); tries++) {
		natsSubscription *subscription = NULL;
		uint64_t sequence = fetch->sequence;

		got = consumer_make(fetch, &subscription);
		fetch->taken = 0;
		if (got == NATS_OK) {
			status = messages_take(fetch, subscription, &got);
			if (status != CTRACE_OK || got == NATS_OK) {
				fetch->subscription = subscription;
				return status;
			}
			natsSubscription_Destroy(subscription);
		} else if (got != NATS_TIMEOUT && got != NATS_NO_RESPONDERS) {
			(void)ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
						 ct_nats_reason(got));
			if (!copy->follows)
				return CTRACE_OUTPUT_ERROR;
			(void)ct_nats_retry(copy);
		} else if (copy->follows && connection_is_lost(fetch)) {
			(void)ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
						 "the connection to the servers is lost");
			ct_nats_report(copy);
		}
		if (permission_is_missing(fetch))
			return silence_fail(fetch, got);
		if (fetch->sequence != sequence)
			tries = 0;
		(void)stream_compare(fetch);
	}
	return copy->goes_on(copy->user) ? silence_fail(fetch, got) : status;
}

static enum ctrace_status stream_fetch(struct ct_nats_fetcher *fetch)
{
	char cluster[CT_NATS_TEXT] = "*", host[CT_NATS_TEXT], job[CT_NATS_TEXT];
	const struct ct_nats_address *address = &fetch->address;

	if (address->cluster[0] != '\0')
		ct_nats_token(cluster, sizeof cluster, address->cluster);
	ct_nats_host_token(host, sizeof host, address->host);
	ct_nats_job_token(job, sizeof job, address->job);
	(void)snprintf(fetch->filter, sizeof fetch->filter, "%s.%s.%s.%s.*.*", address->subject,
		       cluster, strcmp(address->host, "*") != 0 ? host : "*",
		       strcmp(address->job, "*") != 0 ? job : "*");
	if (fetch->copy->is_archive) {
		enum ctrace_status status = ct_nats_archive_open(fetch);

		if (status != CTRACE_OK)
			return status;
	}
	fetch->last_sequence = fetch->link.last_sequence;
	if (fetch->copy->is_from_now)
		fetch->sequence = fetch->last_sequence;
	return consumers_take(fetch);
}

/* What a copy that is not continued needs.  Traces without metadata are removed: they cannot be
 * read. */
static enum ctrace_status traces_end(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		char path[4200];

		ct_nats_packed_end(fetch, trace);
		/* An earlier run may have removed the closing mark, and the last bytes came after
		 * it. */
		if (fetch->copy->is_archive && trace->has_metadata && trace->is_changed &&
		    !ct_nats_copy_is_closed(trace) && status == CTRACE_OK)
			status = metadata_fetch_last(fetch, trace);
		if (trace->has_metadata && status == CTRACE_OK)
			status = ct_nats_mark_remove(fetch, trace);
		if (trace->has_metadata)
			continue;
		for (const struct ct_nats_copied *file = trace->files; file != NULL;
		     file = file->next) {
			(void)snprintf(path, sizeof path, "%s/%s", trace->path, file->name);
			(void)unlink(path);
		}
		(void)snprintf(path, sizeof path, "%s/" CT_NATS_CLOCK_FILE, trace->path);
		(void)unlink(path);
		(void)rmdir(trace->path);
		fetch->copy->traces--;
		fetch->copy->left_out += !trace->is_other;
	}
	return status;
}

enum ctrace_status ct_nats_fetch(struct ct_nats_copy *copy)
{
	struct ct_nats_fetcher fetch = { .copy = copy, .directory = -1 };
	enum ctrace_status status =
		ct_nats_address_parse(copy->address, true, &fetch.address, copy->error);

	if (status != CTRACE_OK)
		return status;
	do {
		status = ct_nats_link_open(&fetch.link, &fetch.address, false, copy->error);
	} while (status == CTRACE_OUTPUT_ERROR && copy->follows && ct_nats_retry(copy));
	if (status != CTRACE_OK)
		return status;
	ct_nats_servers_note(&fetch.link, &fetch.address, copy);
	status = stream_fetch(&fetch);
	if (status == CTRACE_OK)
		status = traces_end(&fetch);
	ct_nats_late_reopen(&fetch);
	if (status == CTRACE_OK && copy->is_archive)
		status = ct_nats_archive_note(&fetch);
	ct_nats_archive_close(&fetch);
	natsConnection_Close(fetch.link.connection);
	natsSubscription_Destroy(fetch.subscription);
	ct_nats_link_close(&fetch.link);
	while (fetch.traces != NULL) {
		struct ct_nats_copied_trace *trace = fetch.traces;

		fetch.traces = trace->next;
		while (trace->files != NULL) {
			struct ct_nats_copied *file = trace->files;

			trace->files = file->next;
			ct_nats_late_remove(&fetch, file);
			if (file->fd >= 0)
				(void)close(file->fd);
			free(file);
		}
		free(trace->parts);
		free(trace->stored);
		free(trace->path);
		free(trace);
	}
	return status;
}
