/*
 * nats_publish.c - messages to a stream: sending them, and waiting until the servers have them.
 *
 * libnats calls back on a thread of its own when a message is refused.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_forward.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#define STEP_MS 250
#define LOOK_MS 30000 /* between two looks at the stream's servers, without a reason */
#define LOST_TEXT "they had acknowledged; what is still here is sent again"

static void refusal_note(struct ct_nats_forwarder *forward, const jsPubAckErr *error)
{
	if (__atomic_load_n(&forward->has_refusal, __ATOMIC_ACQUIRE) == 0) {
		(void)snprintf(forward->refusal, sizeof forward->refusal, "%s",
			       error->ErrText != NULL ? error->ErrText
						      : natsStatus_GetText(error->Err));
		__atomic_store_n(&forward->has_refusal, 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
}

/* The id begins with the trace's uuid. */
static bool ids_are_of_one_trace(const char *one, const char *other)
{
	return strncmp(one, other, 33) == 0;
}

static void acknowledgement_note(struct ct_nats_forwarder *forward, const char *id,
				 uint64_t sequence)
{
	struct ct_nats_place *at = forward->acknowledged;
	struct ct_nats_place *end = at + forward->acknowledged_count;

	while (at < end && !ids_are_of_one_trace(at->id, id))
		at++;
	if (at == forward->acknowledged + ACKNOWLEDGED || sequence < at->sequence)
		return;
	if (at == end) {
		*at = (struct ct_nats_place){ .sequence = 0 };
		forward->acknowledged_count++;
	}
	at->sequence = sequence;
	(void)snprintf(at->id, sizeof at->id, "%s", id);
}

void ct_nats_publish_ended(jsCtx *context, natsMsg *message, jsPubAck *acknowledged,
			   jsPubAckErr *error, void *user)
{
	struct ct_nats_forwarder *forward = user;
	const char *id = NULL;

	(void)context;
	if (acknowledged == NULL) {
		refusal_note(forward, error);
	} else if (natsMsgHeader_Get(message, CT_NATS_ID, &id) == NATS_OK && id != NULL) {
		(void)pthread_mutex_lock(&forward->lock);
		acknowledgement_note(forward, id, acknowledged->Sequence);
		(void)pthread_mutex_unlock(&forward->lock);
	}
	natsMsg_Destroy(message);
}

static void file_take(struct ct_nats_file *file)
{
	file->acknowledged = file->sent;
	file->acknowledged_sum = file->sum;
	file->acknowledged_restarts = file->restarts;
}

static void file_go_back(struct ct_nats_file *file)
{
	file->sent = file->acknowledged;
	file->sum = file->acknowledged_sum;
	file->restarts = file->acknowledged_restarts;
}

/* Forgets what was sent of the trace.  Its note is read again. */
void ct_nats_trace_reset(struct ct_nats_trace *trace)
{
	while (trace->files != NULL) {
		struct ct_nats_file *file = trace->files;

		trace->files = file->next;
		free(file);
	}
	trace->metadata = (struct ct_nats_file){ .name = CT_NATS_METADATA };
	trace->is_begun = trace->is_sent = trace->is_verified = false;
	trace->sent_again_ms = 0;
	trace->place = (struct ct_nats_place){ .sequence = 0 };
	trace->since_ms = 0;
	trace->is_acknowledged = trace->is_noted = true;
}

static void file_repeat(struct ct_nats_file *file)
{
	file->sent = file->acknowledged = 0;
	file->sum = file->acknowledged_sum = CT_NATS_SUM_EMPTY;
}

/* Sends all of it again, as the same bytes of the same files. */
static void trace_repeat(struct ct_nats_trace *trace)
{
	file_repeat(&trace->metadata);
	trace->metadata.restarts = trace->metadata.acknowledged_restarts = 0;
	for (struct ct_nats_file *file = trace->files; file != NULL; file = file->next)
		file_repeat(file);
	trace->place = (struct ct_nats_place){ .sequence = 0 };
	trace->is_sent = trace->is_noted = false;
	trace->sent_again_ms = nats_Now();
	trace->since_ms = 0;
}

void ct_nats_trace_compare(struct ct_nats_forwarder *forward, struct ct_nats_trace *trace)
{
	enum ct_nats_kept kept =
		ct_nats_place_look(&forward->link, &forward->address, &trace->place, forward->copy);

	if (kept == CT_NATS_KEPT)
		return;
	if (!forward->has_reported_loss)
		ct_nats_lost_notice(&forward->link, &forward->address, &trace->place, kept,
				    LOST_TEXT, forward->copy);
	forward->has_reported_loss = true;
	trace_repeat(trace);
}

/* The servers may have gone back to an earlier state: they acknowledge what they have not yet
 * written to their disks. */
static void traces_compare(struct ct_nats_forwarder *forward)
{
	enum ct_nats_kept worst = CT_NATS_KEPT;
	struct ct_nats_place last = { .sequence = 0 };

	for (struct ct_nats_trace *trace = forward->traces; trace != NULL; trace = trace->next) {
		enum ct_nats_kept kept = ct_nats_place_look(&forward->link, &forward->address,
							    &trace->place, forward->copy);

		if (kept == CT_NATS_KEPT)
			continue;
		if (trace->place.sequence > last.sequence) {
			worst = kept;
			last = trace->place;
		}
		trace_repeat(trace);
	}
	if (worst != CT_NATS_KEPT)
		ct_nats_lost_notice(&forward->link, &forward->address, &last, worst, LOST_TEXT,
				    forward->copy);
}

/* Makes the stream again when it is gone.  What an earlier stream had, this one has not. */
enum ctrace_status ct_nats_stream_check(struct ct_nats_forwarder *forward)
{
	int64_t created = forward->link.created;
	enum ctrace_status status =
		ct_nats_stream_look(&forward->link, &forward->address, true, forward->copy->error);

	if (status != CTRACE_OK)
		return status;
	forward->look_at_ms = nats_Now() + LOOK_MS;
	ct_nats_servers_note(&forward->link, &forward->address, forward->copy);
	if (forward->link.created == created)
		traces_compare(forward);
	else
		for (struct ct_nats_trace *trace = forward->traces; trace != NULL;
		     trace = trace->next)
			ct_nats_trace_reset(trace);
	return status;
}

uint64_t ct_nats_reconnects(const struct ct_nats_forwarder *forward)
{
	natsStatistics *statistics = NULL;
	uint64_t reconnects = 0;

	if (natsStatistics_Create(&statistics) == NATS_OK &&
	    natsConnection_GetStats(forward->link.connection, statistics) == NATS_OK)
		(void)natsStatistics_GetCounts(statistics, NULL, NULL, NULL, NULL, &reconnects);
	natsStatistics_Destroy(statistics);
	return reconnects;
}

/* Drops the messages whose acknowledgements do not come: they would count as under way. */
static void messages_drop(struct ct_nats_forwarder *forward)
{
	natsMsgList list;

	if (js_PublishAsyncGetPendingList(&list, forward->link.context) == NATS_OK)
		natsMsgList_Destroy(&list);
}

/* A server that was killed acknowledges nothing: libnats connects to another one, and the messages
 * have to be sent again.  While it connects, it keeps ct_nats_reconnects() waiting for seconds. */
static natsStatus acknowledgements_wait(struct ct_nats_forwarder *forward)
{
	int64_t end_ms = nats_Now() + ACKNOWLEDGE_MS;
	uint64_t reconnects = ct_nats_reconnects(forward);
	natsStatus status = NATS_TIMEOUT;
	jsPubOptions options;

	(void)jsPubOptions_Init(&options);
	options.MaxWait = STEP_MS;
	while (status == NATS_TIMEOUT && nats_Now() < end_ms &&
	       reconnects == ct_nats_reconnects(forward))
		status = js_PublishAsyncComplete(forward->link.context, &options);
	return status;
}

/* A message that comes twice is acknowledged with its first number. */
static void place_take(struct ct_nats_place *place, const struct ct_nats_place *later)
{
	if (later->sequence > place->sequence)
		*place = *later;
}

/* What the thread of libnats noted goes to the traces. */
static void acknowledgements_take(struct ct_nats_forwarder *forward)
{
	(void)pthread_mutex_lock(&forward->lock);
	for (unsigned i = 0; i < forward->acknowledged_count; i++)
		for (struct ct_nats_trace *trace = forward->traces; trace != NULL;
		     trace = trace->next)
			if (strncmp(trace->uuid, forward->acknowledged[i].id, 32) == 0)
				place_take(&trace->place, &forward->acknowledged[i]);
	forward->acknowledged_count = 0;
	(void)pthread_mutex_unlock(&forward->lock);
}

bool ct_nats_messages_wait(struct ct_nats_forwarder *forward)
{
	bool is_settled;
	natsStatus status = forward->under_way > 0 ? acknowledgements_wait(forward) : NATS_OK;

	forward->under_way = 0;
	acknowledgements_take(forward);
	if (status != NATS_OK)
		messages_drop(forward);
	is_settled = __atomic_exchange_n(&forward->failed, 0, __ATOMIC_RELAXED) == 0 &&
		     status == NATS_OK;
	for (struct ct_nats_trace *trace = forward->traces; trace != NULL; trace = trace->next) {
		void (*settle)(struct ct_nats_file * file) = is_settled ? file_take : file_go_back;

		if (trace->is_acknowledged)
			continue;
		settle(&trace->metadata);
		for (struct ct_nats_file *file = trace->files; file != NULL; file = file->next)
			settle(file);
		trace->is_acknowledged = true;
		trace->is_noted = trace->is_noted && !is_settled;
		trace->is_sent = trace->is_sent && is_settled;
	}
	return is_settled;
}

enum ctrace_status ct_nats_messages_settle(struct ct_nats_forwarder *forward, bool *out_is_settled)
{
	*out_is_settled = ct_nats_messages_wait(forward);
	if (!*out_is_settled)
		return CTRACE_OK;
	if (forward->copy->is_spool)
		ct_nats_spool_remove(forward);
	return ct_nats_notes_write(forward);
}

static natsStatus header_number(natsMsg *message, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return natsMsgHeader_Set(message, name, text);
}

/* Adds what the kernel knows of the clock's error: chrony and ntpd keep it there.  It says nothing
 * about traces that another machine wrote. */
static natsStatus clock_add(natsMsg *message, const struct ct_nats_trace *trace)
{
	char host[256] = "";
	struct timex now = { .modes = 0 };
	int state;
	natsStatus status;

	if (gethostname(host, sizeof host - 1) != 0 || strcmp(host, trace->info.host) != 0 ||
	    (state = adjtimex(&now)) < 0 || now.maxerror < 0)
		return NATS_OK;
	status = header_number(message, CT_NATS_CLOCK, (uint64_t)now.maxerror * 1000);
	if (status == NATS_OK && (state == TIME_ERROR || (now.status & STA_UNSYNC) != 0))
		status = natsMsgHeader_Set(message, CT_NATS_UNSYNCHRONISED, "yes");
	if (status == NATS_OK)
		status = header_number(message, CT_NATS_SENT, (uint64_t)nats_Now() * 1000000);
	return status;
}

void ct_nats_trace_subject(const struct ct_nats_forwarder *forward,
			   const struct ct_nats_trace *trace, const char *name, char *out,
			   size_t size)
{
	char host[256], job[64], token[64], cluster[CT_NATS_TEXT];

	ct_nats_host_token(host, sizeof host, trace->info.host);
	ct_nats_job_token(job, sizeof job, trace->info.jobname);
	ct_nats_token(cluster, sizeof cluster,
		      forward->address.cluster[0] != '\0' ? forward->address.cluster : "default");
	(void)snprintf(token, sizeof token, "%s", name);
	for (char *at = token; *at != '\0'; at++)
		*at = *at == '.' ? '-' : *at;
	(void)snprintf(out, size, "%s.%s.%s.%s.%s.%s", forward->address.subject, cluster, host, job,
		       trace->uuid, token);
}

static natsStatus message_make(const struct ct_nats_forwarder *forward,
			       const struct ct_nats_trace *trace, const char *name,
			       const struct ct_nats_chunk *chunk, natsMsg **out)
{
	char subject[1400], sum[24];
	const char *base = strrchr(trace->path, '/');
	natsStatus status;

	ct_nats_trace_subject(forward, trace, name, subject, sizeof subject);
	status = natsMsg_Create(out, subject, NULL, (const char *)chunk->bytes, (int)chunk->size);
	if (status != NATS_OK)
		return status;
	status = natsMsgHeader_Set(*out, CT_NATS_FILE, name);
	if (status == NATS_OK)
		status = natsMsgHeader_Set(*out, CT_NATS_NAME,
					   base != NULL ? base + 1 : trace->path);
	if (status == NATS_OK)
		status = header_number(*out, CT_NATS_OFFSET, chunk->offset);
	if (status == NATS_OK && chunk->total > 0)
		status = header_number(*out, CT_NATS_SIZE, chunk->total);
	if (status == NATS_OK && chunk->packed_size > 0)
		status = header_number(*out, CT_NATS_SIZE, chunk->packed_size);
	if (status == NATS_OK && chunk->begins)
		status = natsMsgHeader_Set(*out, CT_NATS_BEGINS, "yes");
	if (status == NATS_OK && chunk->total == 0 && chunk->version > 0)
		status = header_number(*out, CT_NATS_RESTART, chunk->version);
	if (status == NATS_OK && chunk->last_ns > 0)
		status = header_number(*out, CT_NATS_FIRST, chunk->first_ns);
	if (status == NATS_OK && chunk->last_ns > 0)
		status = header_number(*out, CT_NATS_LAST, chunk->last_ns);
	(void)snprintf(sum, sizeof sum, "%llx", (unsigned long long)chunk->sum.value);
	if (status == NATS_OK)
		status = natsMsgHeader_Set(*out, CT_NATS_SUM, sum);
	if (status == NATS_OK && chunk->is_complete)
		status = natsMsgHeader_Set(*out, CT_NATS_COMPLETE, "yes");
	if (status == NATS_OK)
		status = clock_add(*out, trace);
	if (status != NATS_OK)
		natsMsg_Destroy(*out);
	return status;
}

/* Sends one message; it is acknowledged later. */
enum ctrace_status ct_nats_message_send(struct ct_nats_forwarder *forward,
					struct ct_nats_trace *trace, const char *name,
					const struct ct_nats_chunk *chunk)
{
	jsPubOptions options;
	natsMsg *message = NULL;
	char id[CT_NATS_ID_SIZE];
	natsStatus status = message_make(forward, trace, name, chunk, &message);

	if (status == NATS_OK) {
		(void)jsPubOptions_Init(&options);
		/* A later message of that offset may have more bytes, and is no duplicate. */
		(void)snprintf(id, sizeof id, "%s/%s/%llu/%llx/%zx", trace->uuid, name,
			       (unsigned long long)chunk->offset,
			       (unsigned long long)chunk->version, chunk->size);
		/* The servers remember for a while what they had and have no longer. */
		if (trace->sent_again_ms != 0)
			(void)snprintf(id + strlen(id), sizeof id - strlen(id), "/%llx",
				       (unsigned long long)trace->sent_again_ms);
		options.MsgId = id;
		/* Another stream may have the subject. */
		options.ExpectStream = forward->address.stream;
		trace->is_acknowledged = false;
		status = js_PublishMsgAsync(forward->link.context, &message, &options);
		natsMsg_Destroy(message);
		if (status != NATS_OK) /* too many are under way for too long */
			__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
	} else {
		return ct_nats_forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, trace->path,
					    natsStatus_GetText(status));
	}
	forward->under_way++;
	forward->has_sent = true;
	forward->copy->messages++;
	forward->copy->bytes += chunk->size;
	return CTRACE_OK;
}
