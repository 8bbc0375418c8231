/*
 * emit_otlp.c - OTLP: events as logs and spans to a receiver of OpenTelemetry, over HTTP.  The
 * module otlp.so.
 *
 * A guest in the traced program: runs on the consumer thread, or in a recoverer.  It decodes the
 * events of a batch, makes one request or several of them (a chunk each), and hands each to the
 * sender's thread.  It waits for the answer for a moment only.  Without one it returns a failure,
 * the same events come again, and the chunk under way is found again by its events.  So a receiver
 * that is slow delays nobody, and does not get a chunk twice.
 *
 * Place: `extra` is how many lost or refused events the receiver has been told of.  A stream's
 * `sequence` counts its events; it makes the identity of a log record, log.record.uid, which is the
 * same when a record is sent again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"
#include "base/hash_table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/read.h"

/* How long write() waits for an answer: less than the time after which ctrace cuts it off. */
#define WAIT_NS 250000000u
#define FLUSH_WAIT_NS 400000000u
#define UID_SIZE 64u

/* An event, so that it is found again: its number in its stream.  Its time may be another one when
 * it comes again, because the clock is known better by then. */
struct mark {
	uint64_t sequence;
	uint32_t stream_id;
};

/* The request that the sender has: events of the batch from the first one that is not sent. */
struct chunk {
	uint32_t count; /* 0: none */
	struct mark first, last;
	uint32_t logs, spans;                  /* records */
	uint32_t events;                       /* that are log records */
	uint64_t lost, refused, refused_spans; /* totals that its own records report */
	bool is_under_way;
};

struct otlp_output {
	const struct ctrace_emitter_context *context;
	pid_t owner;
	struct ct_otlp_sender *sender;
	uint32_t level, limit;
	uint64_t wait_ns;
	struct ct_catalog *catalog;       /* or NULL */
	struct ct_pairing_state *pairing; /* or NULL */
	struct ct_source_process source;
	struct ct_otlp_process process;
	uint64_t identity; /* of the process */
	struct ct_otlp_map map;
	struct ct_otlp_request request;
	uint32_t done; /* events of the failed batch that are sent; the last of them: */
	struct mark last_done;
	struct chunk chunk;
	/* A request with several events was refused: so many of its events are sent again, fewer
	 * at a time, to find the one that the receiver does not take. */
	uint32_t refused_left, refused_limit;
	struct ct_otlp_refusals refusals;
	char refusal[512]; /* the receiver's text */
	uint64_t totals[CTRACE_LOSS_COUNT];
	uint64_t lost, lost_known; /* their sum, and how many of these a record has reported */
	/* refused of the batch, and of earlier batches, which are among the totals */
	uint64_t refused_now, refused_counted;
	/* refused so far, and how many of these a record has reported */
	uint64_t refused, refused_known;             /* log records, each of an event */
	uint64_t refused_spans, refused_spans_known; /* spans */
	uint64_t *counts;                            /* events by stream, for identities */
	uint32_t count_capacity;
};

/* The directory of installed catalogues.  It is looked for while the module is loaded: the consumer
 * thread must not wait for the loader. */
static char installed[4096];

__attribute__((constructor)) static void find_installed(void)
{
	int kept = errno;

	ct_installed_catalog(installed);
	errno = kept;
}

/* -----------------------------------------------------------------------------------------------
 * Open
 */

static const char *property_of(const void *user, const char *name)
{
	const struct ctrace_emitter_context *context = user;

	return context->property(context, name);
}

static uint64_t identity_of(const struct ctrace_emitter_context *context)
{
	uint64_t hash = ct_hash_bytes(CT_HASH_START, context->host, strlen(context->host));

	hash = (hash ^ context->pid) * 0x9E3779B97F4A7C15u;
	hash = (hash ^ hash >> 29 ^ context->start_ns) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 29;
}

/* Without a catalogue items have numbers, and there are no spans. */
static void catalog_open(struct otlp_output *output)
{
	const struct ctrace_emitter_context *context = output->context;
	const char *paths = context->recovering ? NULL : context->property(context, "CATALOG");

	if (ct_catalog_create(&output->catalog) != CTRACE_OK)
		return;
	/* Errors are not reported here: any names that could be read are used. */
	if (paths != NULL && paths[0] != '\0')
		(void)!ct_catalog_add_list(output->catalog, paths, NULL, NULL);
	else
		(void)!ct_catalog_add_environment(output->catalog, NULL, NULL);
	(void)!ct_catalog_add_installed(output->catalog, installed);
	if (ct_catalog_at(output->catalog, 0) == NULL)
		return;
	(void)!ct_pairing_create(true, &output->pairing);
}

static void output_fini(struct otlp_output *output)
{
	ct_otlp_sender_destroy(output->sender);
	ct_pairing_destroy(output->pairing);
	ct_catalog_destroy(output->catalog);
	ct_otlp_map_fini(&output->map);
	ct_otlp_request_fini(&output->request);
	free(output->counts);
	free(output);
}

static void output_fill(struct otlp_output *output, const struct ctrace_emitter_context *context)
{
	uint64_t batch = context->number(context, "BATCH");

	output->context = context;
	output->owner = getpid();
	output->lost_known = context->place->extra;
	output->level = ct_line_settings_level(context);
	output->limit = batch == 0 || batch > CT_OTLP_BATCH ? CT_OTLP_BATCH : (uint32_t)batch;
	output->source = (struct ct_source_process){
		.path = "",
		.host = context->host,
		.program = context->program,
		.jobname = context->jobname != NULL ? context->jobname : "",
		.format = "",
		.pid = context->pid,
		.asid = context->asid,
		.is_big = CTRACE_IS_BIG_,
	};
	output->process = (struct ct_otlp_process){ .source = &output->source,
						    .command_line = context->command_line,
						    .system = context->system };
	output->identity = identity_of(context);
	ct_otlp_map_init(&output->map);
	output->map.encoding = ct_encoding_setting(context);
	ct_otlp_request_init(&output->request);
}

static enum ctrace_status output_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct ct_otlp_http_settings settings;
	enum ctrace_status status = ct_otlp_http_settings_read(&settings, property_of, context);
	struct otlp_output *output;
	uint64_t timeout_ns;

	if (status != CTRACE_OK)
		return status;
	if (settings.wrong != NULL) {
		char text[128];

		(void)snprintf(text, sizeof text, "the property %s of OTLP", settings.wrong);
		ct_otlp_http_settings_fini(&settings);
		errno = EINVAL;
		ct_emitter_failed_at(context, text);
		return CTRACE_OUTPUT_ERROR;
	}
	timeout_ns = settings.timeout_ms * 1000000u;
	output = calloc(1, sizeof *output);
	if (output == NULL) {
		ct_otlp_http_settings_fini(&settings);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	output_fill(output, context);
	output->wait_ns = context->recovering ? timeout_ns : WAIT_NS;
	status = ct_otlp_sender_create(&settings, &output->sender);
	if (status != CTRACE_OK) {
		output_fini(output);
		return status;
	}
	catalog_open(output);
	*out_self = output;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * A chunk
 */

static struct mark mark_of(const struct ctrace_batch *batch, uint32_t index)
{
	uint32_t stream = batch->events[index].stream;
	struct mark mark = { .stream_id = UINT32_MAX };

	if (stream >= batch->stream_count)
		return mark;
	mark.stream_id = batch->streams[stream].id;
	mark.sequence = batch->streams[stream].sequence;
	for (uint32_t i = 0; i < index; i++)
		mark.sequence += batch->events[i].stream == stream;
	return mark;
}

static bool mark_is(const struct mark *mark, const struct ctrace_batch *batch, uint32_t index)
{
	struct mark other = mark_of(batch, index);

	return mark->stream_id == other.stream_id && mark->sequence == other.sequence &&
	       mark->stream_id != UINT32_MAX;
}

/* Returns how many events at the beginning of the batch are sent already. */
static uint32_t batch_resume(const struct otlp_output *output, const struct ctrace_batch *batch)
{
	uint32_t done = output->done;

	return done != 0 && done <= batch->event_count &&
			       mark_is(&output->last_done, batch, done - 1)
		       ? done
		       : 0;
}

static void batch_note(struct otlp_output *output, const struct ctrace_batch *batch, uint32_t done)
{
	output->done = done < batch->event_count ? done : 0;
	if (output->done != 0)
		output->last_done = mark_of(batch, done - 1);
}

/* Is the chunk still that of the events from `done` on?  Events that were counted as lost meanwhile
 * are not in the batch any more. */
static bool chunk_is_at(const struct chunk *chunk, const struct ctrace_batch *batch, uint32_t done)
{
	return chunk->count != 0 && chunk->count <= batch->event_count - done &&
	       mark_is(&chunk->first, batch, done) &&
	       mark_is(&chunk->last, batch, done + chunk->count - 1);
}

/* Counts the events before `done` in each stream. */
static bool streams_count(struct otlp_output *output, const struct ctrace_batch *batch,
			  uint32_t done)
{
	if (batch->stream_count > output->count_capacity) {
		uint64_t *counts =
			reallocarray(output->counts, batch->stream_count, sizeof *counts);

		if (counts == NULL)
			return false;
		output->counts = counts;
		output->count_capacity = batch->stream_count;
	}
	for (uint32_t i = 0; i < batch->stream_count; i++)
		output->counts[i] = batch->streams[i].sequence;
	for (uint32_t i = 0; i < done; i++)
		if (batch->events[i].stream < batch->stream_count)
			output->counts[batch->events[i].stream]++;
	return true;
}

/* Numbers the event: the same when it is sent again, also by a recoverer. */
static const char *event_uid(struct otlp_output *output, const struct ctrace_batch *batch,
			     const struct ctrace_event *event, char out[UID_SIZE])
{
	if (event->stream >= batch->stream_count)
		return NULL;
	(void)snprintf(out, UID_SIZE, "%016" PRIx64 "-%x-%" PRIx64, output->identity,
		       batch->streams[event->stream].id, output->counts[event->stream]++);
	return out;
}

static void map_inferred(struct otlp_output *output)
{
	struct ct_read_event *event;

	while ((event = ct_pairing_next_inferred(output->pairing)) != NULL)
		ct_otlp_map_event(&output->map, &output->request, &output->process, event, NULL);
}

static void map_event(struct otlp_output *output, const struct ctrace_event *traced,
		      const char *uid, bool is_again)
{
	struct ct_read_event event = { .traced = *traced,
				       .source_process = &output->source,
				       .duration_ns = CT_NO_DURATION };

	if (output->catalog != NULL)
		event.component = ct_catalog_component(output->catalog, traced->component,
						       traced->component_size);
	if (event.component != NULL)
		event.type = ct_catalog_event(event.component, traced->event_id);
	if (event.type != NULL && output->pairing != NULL && !is_again &&
	    (event.type->pairing != CT_PAIR_NONE || event.type->is_until ||
	     event.type->roles[CT_ARGUMENT_ROLE_DURATION] != 0)) {
		ct_pairing_note(output->pairing, &event);
		map_inferred(output);
	}
	ct_otlp_map_event(&output->map, &output->request, &output->process, &event, uid);
}

/* Events that were lost before they were sent: refused ones are among the totals, too. */
static uint64_t lost_unsent(const struct otlp_output *output)
{
	uint64_t lost =
		output->lost > output->refused_counted ? output->lost - output->refused_counted : 0;

	return lost > output->lost_known ? lost : output->lost_known;
}

/* Were records refused that no record of ctrace has reported? */
static bool has_refused(const struct otlp_output *output)
{
	return output->refused > output->refused_known ||
	       output->refused_spans > output->refused_spans_known;
}

static void add_own_records(struct otlp_output *output)
{
	struct ct_otlp_own_record record = { .time_ns = output->map.observed_ns };
	char text[128], uid[UID_SIZE];

	record.text = text;
	record.uid = uid;
	output->chunk.lost = lost_unsent(output);
	output->chunk.refused = output->refused;
	output->chunk.refused_spans = output->refused_spans;
	if (output->chunk.lost > output->lost_known) {
		record.name = "ctrace.lost";
		record.events = output->chunk.lost - output->lost_known;
		record.totals = output->totals;
		(void)snprintf(text, sizeof text, "%" PRIu64 " events lost", record.events);
		(void)snprintf(uid, sizeof uid, "%016" PRIx64 "-lost-%" PRIx64, output->identity,
			       output->chunk.lost);
		ct_otlp_map_own(&output->map, &output->request, &output->process, &record);
	}
	if (has_refused(output)) {
		record.name = "ctrace.refused";
		record.events = output->refused - output->refused_known;
		record.spans = output->refused_spans - output->refused_spans_known;
		record.totals = NULL;
		record.uid = NULL;
		(void)snprintf(text, sizeof text,
			       "%" PRIu64 " events and %" PRIu64 " spans refused by the receiver",
			       record.events, record.spans);
		ct_otlp_map_own(&output->map, &output->request, &output->process, &record);
	}
}

static enum ctrace_status chunk_pack(struct otlp_output *output)
{
	struct ct_otlp_job *job = ct_otlp_sender_job(output->sender);
	enum ctrace_status status = CTRACE_OK;

	for (unsigned i = 0; i < CT_OTLP_SIGNALS; i++) {
		job->records[i] = output->request.counts[i];
		ct_buf_trim(&job->bodies[i], CT_OTLP_REQUEST_BYTES);
		if (output->request.counts[i] > 0)
			ct_otlp_request_pack(&output->request, (enum ct_otlp_signal)i, 0,
					     output->request.counts[i], &job->bodies[i]);
		if (job->bodies[i].failed)
			status = CTRACE_NOT_ENOUGH_MEMORY;
	}
	output->chunk.logs = output->request.counts[CT_OTLP_LOGS];
	output->chunk.spans = output->request.counts[CT_OTLP_TRACES];
	ct_otlp_request_clear(&output->request);
	return status;
}

/* Makes the request of the events from `done` on. */
static enum ctrace_status chunk_make(struct otlp_output *output, const struct ctrace_batch *batch,
				     uint32_t done)
{
	bool is_again = output->refused_left > 0;
	uint32_t limit = output->limit;
	uint32_t at = done;
	char uid[UID_SIZE];
	enum ctrace_status status;

	output->chunk = (struct chunk){ .count = 0 };
	if (is_again && output->refused_limit < limit)
		limit = output->refused_limit;
	if (is_again && output->refused_left < limit)
		limit = output->refused_left;
	if (!streams_count(output, batch, done))
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (!is_again)
		add_own_records(output);
	for (; at < batch->event_count && at - done < limit &&
	       (at == done || output->request.bytes < CT_OTLP_REQUEST_BYTES);
	     at++) {
		const struct ctrace_event *event = &batch->events[at];
		const char *name = event_uid(output, batch, event, uid);

		if (event->level < output->level)
			continue;
		map_event(output, event, name, is_again);
		output->chunk.events++;
	}
	status = chunk_pack(output);
	if (status != CTRACE_OK)
		return status;
	output->chunk.count = at - done;
	output->chunk.first = mark_of(batch, done);
	output->chunk.last = mark_of(batch, at - 1);
	return CTRACE_OK;
}

static void note_failure(struct otlp_output *output)
{
	char text[512];
	int error = ct_otlp_sender_failure(output->sender, text);

	ct_emitter_failed_at(output->context, text);
	errno = error;
}

/* The receiver has its own records of the chunk. */
static void own_records_end(struct otlp_output *output, const struct chunk *chunk)
{
	output->lost_known = chunk->lost;
	output->refused_known = chunk->refused;
	output->refused_spans_known = chunk->refused_spans;
	output->context->place->extra = output->lost_known + output->refused_known;
}

/* Events that the receiver never takes. */
static void refused_count(struct otlp_output *output, uint64_t events, const char *text)
{
	if (events > 0 && output->refused_now == 0)
		(void)snprintf(output->refusal, sizeof output->refusal, "%s", text);
	output->refused += events;
	output->refused_now += events;
}

/* So many events are done, which shows how many the next request may have.  Returns the number. */
static uint32_t events_end(struct otlp_output *output, uint32_t count)
{
	output->refused_limit = 2 * count;
	output->refused_left -= count < output->refused_left ? count : output->refused_left;
	return count;
}

/* The receiver has taken the chunk, or never will.  Returns how many of its events are done. */
static uint32_t chunk_end(struct otlp_output *output)
{
	const struct ct_otlp_job *job = ct_otlp_sender_job(output->sender);
	const struct ct_otlp_result *logs = &job->results[CT_OTLP_LOGS];
	const struct ct_otlp_result *spans = &job->results[CT_OTLP_TRACES];
	struct chunk chunk = output->chunk;
	bool is_refused = chunk.logs > 0 && logs->answer == CT_OTLP_REFUSED;

	output->chunk = (struct chunk){ .count = 0 };
	output->refused_spans +=
		chunk.spans > 0 && spans->answer == CT_OTLP_REFUSED ? chunk.spans : spans->rejected;
	if (chunk.logs > 0 && ct_otlp_refusals_note(&output->refusals, logs, chunk.logs)) {
		if (output->refused_left == 0)
			output->refused_left = chunk.count;
		output->refused_limit = (chunk.count + 1) / 2;
		return 0;
	}
	refused_count(output,
		      is_refused || logs->rejected > chunk.events ? chunk.events : logs->rejected,
		      logs->text);
	if (!is_refused && output->refused_left == 0 && logs->rejected < chunk.logs)
		own_records_end(output, &chunk);
	return events_end(output, chunk.count);
}

/* Sends the chunk, or waits for its answer.  *out_done: how many events are done with. */
static enum ctrace_status chunk_send(struct otlp_output *output, uint64_t deadline,
				     uint32_t *out_done)
{
	enum ctrace_status status;

	if (output->chunk.logs + output->chunk.spans == 0) {
		*out_done = events_end(output, output->chunk.count);
		output->chunk.count = 0;
		return CTRACE_OK;
	}
	if (!output->chunk.is_under_way) {
		status = ct_otlp_sender_start(output->sender);
		if (status != CTRACE_OK)
			return status;
		output->chunk.is_under_way = true;
	}
	switch (ct_otlp_sender_wait(output->sender, deadline)) {
	case CT_OTLP_JOB_DONE:
		*out_done = chunk_end(output);
		return CTRACE_OK;
	case CT_OTLP_JOB_WAITING:
		note_failure(output);
		return CTRACE_OUTPUT_ERROR;
	default:
		ct_emitter_failed_at(output->context, "no answer yet from the receiver of OTLP");
		errno = ETIMEDOUT;
		return CTRACE_OUTPUT_ERROR;
	}
}

/* Gives up a chunk whose events were counted as lost meanwhile. */
static bool chunk_drop(struct otlp_output *output, uint64_t deadline)
{
	if (output->chunk.count == 0)
		return true;
	if (output->chunk.is_under_way && !ct_otlp_sender_cancel(output->sender, deadline)) {
		errno = ETIMEDOUT;
		return false;
	}
	output->chunk = (struct chunk){ .count = 0 };
	output->refused_left = 0;
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * The methods
 */

static enum ctrace_status output_write(void *self, const struct ctrace_batch *batch)
{
	struct otlp_output *output = self;
	uint32_t done = batch_resume(output, batch);
	uint64_t deadline =
		ct_clock_mono_ns() +
		(batch->flush && output->wait_ns < FLUSH_WAIT_NS ? FLUSH_WAIT_NS : output->wait_ns);
	enum ctrace_status status = CTRACE_OK;

	if (done == 0 && output->refused_now > 0) {
		/* of a batch that was counted as lost meanwhile */
		output->refused -= output->refused_now;
		output->refused_now = 0;
		if (output->refused < output->refused_known)
			output->refused = output->refused_known;
	}
	output->map.observed_ns = ct_clock_wall_ns();
	while (done < batch->event_count && status == CTRACE_OK) {
		uint32_t more = 0;

		if (!chunk_is_at(&output->chunk, batch, done)) {
			if (!chunk_drop(output, deadline)) {
				status = CTRACE_OUTPUT_ERROR;
				break;
			}
			status = chunk_make(output, batch, done);
		}
		if (status == CTRACE_OK)
			status = chunk_send(output, deadline, &more);
		done += more;
	}
	batch_note(output, batch, done);
	if (status != CTRACE_OK)
		return status;
	if (output->refused_now > 0)
		output->context->refused(output->context, output->refused_now, output->refusal);
	output->refused_counted += output->refused_now;
	output->refused_now = 0;
	for (uint32_t i = 0; i < batch->event_count; i++)
		if (batch->events[i].stream < batch->stream_count)
			batch->streams[batch->events[i].stream].sequence++;
	return CTRACE_OK;
}

static void output_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	struct otlp_output *output = self;

	output->lost = 0;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++) {
		output->totals[i] = totals[i];
		output->lost += totals[i];
	}
}

/* Losses after the last event: a request of their own. */
static void send_own_records(struct otlp_output *output)
{
	uint64_t deadline = ct_clock_mono_ns() + WAIT_NS;

	if (lost_unsent(output) <= output->lost_known && !has_refused(output))
		return;
	if (output->chunk.count != 0)
		return;
	output->map.observed_ns = ct_clock_wall_ns();
	add_own_records(output);
	if (chunk_pack(output) == CTRACE_OK && output->chunk.logs > 0 &&
	    ct_otlp_sender_start(output->sender) == CTRACE_OK &&
	    ct_otlp_sender_wait(output->sender, deadline) == CT_OTLP_JOB_DONE &&
	    ct_otlp_sender_job(output->sender)->results[CT_OTLP_LOGS].answer == CT_OTLP_ACCEPTED)
		own_records_end(output, &output->chunk);
}

static void output_close(void *self)
{
	struct otlp_output *output = self;

	if (getpid() != output->owner) {
		ct_otlp_sender_forget(output->sender);
		output->sender = NULL;
	} else {
		send_own_records(output);
	}
	output_fini(output);
}

/* Exported; the name is the contract of ctrace/emitter.h. */
extern const struct ctrace_emitter ctrace_emitter;
__attribute__((visibility("default"))) const struct ctrace_emitter ctrace_emitter = {
	.size = sizeof(struct ctrace_emitter),
	.name = "OTLP",
	.properties = ct_otlp_properties,
	.open = output_open,
	.write = output_write,
	.lost = output_lost,
	.close = output_close,
};
