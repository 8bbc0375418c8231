/*
 * otlp_export.c - traces as OTLP, for ctrace export: lines of JSON, messages of protobuf with a
 * length before each, or requests to a receiver.
 *
 * Called by print/export/export_otlp.c, on the tool's one thread.  A request has up to BATCH
 * events. The first failure sticks, and end() reports it.  A receiver that is busy, or away for a
 * time, is asked again until it has accepted nothing for RETRY_LIMIT_NS.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "print/export/export.h"

#define WRITE_SIZE ((size_t)256 << 10)
#define RETRY_LIMIT_NS 60000000000u
#define STEP_NS 100000000u /* between two looks for an interrupt */

struct export
{
	struct ct_otlp_map map;
	struct ct_otlp_request request;
	uint32_t events, limit; /* of the request */
	uint64_t last_ns;
	struct ct_source_process unknown; /* of losses that no process is known for */
	bool is_protobuf;
	/* a document */
	int fd;
	struct ct_buf out;
	/* a receiver */
	struct ct_otlp_http_settings settings;
	struct ct_otlp_http *http;
	const struct ct_export_otlp_options *options;
	bool has_delivered;
	struct ct_otlp_refusals refusals;
	uint64_t sent[CT_OTLP_SIGNALS], rejected[CT_OTLP_SIGNALS];
	char rejection[512];

	enum ctrace_status status; /* the first failure */
	int error;                 /* its errno */
	char failure[1024];        /* "": nothing to say */
};

/* -----------------------------------------------------------------------------------------------
 * Open
 */

/* URL is the output's. */
static const char *export_property(const void *user, const char *name)
{
	const struct ct_export_otlp_options *options = user;
	const char *value =
		options->property != NULL ? options->property(options->user, name) : NULL;

	if (strcmp(name, "URL") == 0)
		return options->url != NULL ? options->url : "https://none";
	return value;
}

static bool export_is_over(const void *user)
{
	const struct export *self = user;

	return self->options->is_interrupted != NULL && self->options->is_interrupted();
}

static void export_close(void *user)
{
	struct export *self = user;

	ct_otlp_http_destroy(self->http);
	ct_otlp_http_settings_fini(&self->settings);
	ct_otlp_map_fini(&self->map);
	ct_otlp_request_fini(&self->request);
	ct_buf_fini(&self->out);
	free(self);
}

static void export_read_properties(struct export *self)
{
	const char *batch = export_property(self->options, "BATCH");
	const char *encoding = export_property(self->options, "ENCODING");
	uint32_t limit = batch != NULL ? ct_value_number(batch, strlen(batch)) : 0;

	self->limit = limit != 0 && limit < CT_OTLP_BATCH ? limit : CT_OTLP_BATCH;
	if (encoding != NULL &&
	    ct_encoding_parse(encoding, strlen(encoding), &self->map.encoding) &&
	    !ct_encoding_prepare(self->map.encoding))
		self->map.encoding = CT_ENCODING_ASCII;
}

static enum ctrace_status export_open(const struct ct_export_options *options, bool is_protobuf,
				      void **out_self)
{
	struct export *self = calloc(1, sizeof *self);
	enum ctrace_status status;

	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	self->fd = options->fd;
	self->options = options->otlp;
	self->is_protobuf = is_protobuf;
	self->unknown = (struct ct_source_process){ .index = UINT32_MAX,
						    .path = "",
						    .host = "",
						    .program = "",
						    .jobname = "",
						    .format = "" };
	ct_buf_init(&self->out);
	ct_otlp_map_init(&self->map);
	ct_otlp_request_init(&self->request);
	self->map.wants[CT_OTLP_LOGS] = self->options->has_logs;
	self->map.wants[CT_OTLP_TRACES] = self->options->has_traces;
	export_read_properties(self);
	status = ct_otlp_http_settings_read(&self->settings, export_property, self->options);
	if (status == CTRACE_OK && self->settings.wrong != NULL)
		status = CTRACE_UNSUPPORTED;
	if (status == CTRACE_OK && self->options->url != NULL) {
		self->http = ct_otlp_http_create(&self->settings, export_is_over, self);
		if (self->http == NULL)
			status = CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (status != CTRACE_OK) {
		export_close(self);
		return status;
	}
	*out_self = self;
	return CTRACE_OK;
}

static enum ctrace_status export_open_json(const struct ct_export_options *options, void **out_self)
{
	return export_open(options, false, out_self);
}

static enum ctrace_status export_open_protobuf(const struct ct_export_options *options,
					       void **out_self)
{
	return export_open(options, true, out_self);
}

/* -----------------------------------------------------------------------------------------------
 * A document
 */

static void export_fail(struct export *self, enum ctrace_status status, int error)
{
	if (self->status != CTRACE_OK)
		return;
	self->status = status;
	self->error = error;
}

static void document_write(struct export *self)
{
	size_t at = 0;

	if (self->out.failed)
		export_fail(self, CTRACE_NOT_ENOUGH_MEMORY, ENOMEM);
	while (self->status == CTRACE_OK && at < self->out.size) {
		ssize_t written = write(self->fd, self->out.data + at, self->out.size - at);

		if (written > 0)
			at += (size_t)written;
		else if (written == 0 || errno != EINTR)
			export_fail(self, CTRACE_OS_ERROR, written == 0 ? ENOSPC : errno);
	}
	ct_buf_clear(&self->out);
}

/* As the file exporter of the OpenTelemetry Collector writes them. */
static void document_add(struct export *self, enum ct_otlp_signal signal)
{
	struct ct_buf *out = &self->out;

	if (self->is_protobuf) {
		static const char room[4];
		size_t start = out->size, size;

		ct_buf_add(out, room, sizeof room);
		ct_otlp_request_pack(&self->request, signal, 0, self->request.counts[signal], out);
		size = out->size - start - sizeof room;
		for (unsigned i = 0; i < sizeof room && !out->failed; i++)
			out->data[start + i] = (char)(size >> (24 - 8 * i));
	} else {
		const ProtobufCMessage *message = ct_otlp_request_message(&self->request, signal);

		if (message == NULL) {
			out->failed = true;
			return;
		}
		ct_otlp_json_add(out, message);
		ct_buf_add_char(out, '\n');
	}
	if (out->size >= WRITE_SIZE)
		document_write(self);
}

/* -----------------------------------------------------------------------------------------------
 * A receiver
 */

static void wait_for(const struct export *self, uint64_t wait_ns)
{
	while (wait_ns > 0 && !export_is_over(self)) {
		uint64_t step = wait_ns < STEP_NS ? wait_ns : STEP_NS;
		struct timespec pause = { .tv_nsec = (long)step };

		(void)nanosleep(&pause, NULL);
		wait_ns -= step;
	}
}

/* Is another try of any use?  A receiver that never answered has a wrong address. */
static bool result_may_heal(const struct export *self, const struct ct_otlp_result *result)
{
	return result->answer == CT_OTLP_AGAIN && !export_is_over(self) &&
	       (result->is_throttled || result->is_broken ||
		(!result->is_answered && self->has_delivered));
}

/* Sends `count` records of the request.  When they are refused together, each half is sent, as the
 * destination does: a receiver may have a limit for a request, or not take one of them. */
static void request_send(struct export *self, enum ct_otlp_signal signal, uint32_t first,
			 uint32_t count)
{
	uint64_t since_ns = ct_clock_mono_ns();
	struct ct_otlp_result result = { .status = 0 };

	if (self->status != CTRACE_OK)
		return;
	ct_otlp_request_pack(&self->request, signal, first, count, &self->out);
	if (self->out.failed) {
		export_fail(self, CTRACE_NOT_ENOUGH_MEMORY, ENOMEM);
		return;
	}
	for (uint32_t failures = 0;; failures++) {
		uint64_t wait_ns;

		ct_otlp_http_post(self->http, signal, &self->out, count, &result);
		if (!result_may_heal(self, &result))
			break;
		wait_ns = ct_otlp_retry_ns(&result, failures);
		if (ct_clock_mono_ns() + wait_ns - since_ns > RETRY_LIMIT_NS)
			break;
		wait_for(self, wait_ns);
	}
	ct_buf_clear(&self->out);
	if (ct_otlp_refusals_note(&self->refusals, &result, count) && !export_is_over(self)) {
		request_send(self, signal, first, count / 2);
		request_send(self, signal, first + count / 2, count - count / 2);
		return;
	}
	self->sent[signal] += count;
	if (result.answer == CT_OTLP_ACCEPTED) {
		self->has_delivered = true;
		self->rejected[signal] += result.rejected;
	} else if (result.answer == CT_OTLP_REFUSED) {
		self->rejected[signal] += count;
	} else {
		export_fail(self, CTRACE_OUTPUT_ERROR, result.error);
		(void)snprintf(self->failure, sizeof self->failure, "%s", result.text);
	}
	if (result.text[0] != '\0' && self->rejection[0] == '\0')
		memcpy(self->rejection, result.text, sizeof self->rejection);
}

static void report_rejected(struct export *self)
{
	if (self->status != CTRACE_OK ||
	    self->rejected[CT_OTLP_LOGS] + self->rejected[CT_OTLP_TRACES] == 0)
		return;
	export_fail(self, CTRACE_OUTPUT_ERROR, EIO);
	(void)snprintf(self->failure, sizeof self->failure,
		       "the receiver has refused %" PRIu64 " of %" PRIu64
		       " log records and %" PRIu64 " of %" PRIu64 " spans; at first: %s",
		       self->rejected[CT_OTLP_LOGS], self->sent[CT_OTLP_LOGS],
		       self->rejected[CT_OTLP_TRACES], self->sent[CT_OTLP_TRACES], self->rejection);
}

/* -----------------------------------------------------------------------------------------------
 * The methods
 */

static void request_end(struct export *self)
{
	if (self->request.pool.failed)
		export_fail(self, CTRACE_NOT_ENOUGH_MEMORY, ENOMEM);
	for (unsigned i = 0; i < CT_OTLP_SIGNALS && self->status == CTRACE_OK; i++) {
		if (self->request.counts[i] == 0)
			continue;
		if (self->http != NULL)
			request_send(self, (enum ct_otlp_signal)i, 0, self->request.counts[i]);
		else
			document_add(self, (enum ct_otlp_signal)i);
	}
	ct_otlp_request_clear(&self->request);
	self->events = 0;
}

static void request_offer(struct export *self)
{
	if (++self->events >= self->limit || self->request.bytes >= CT_OTLP_REQUEST_BYTES)
		request_end(self);
}

static void export_add(void *user, const struct ct_read_event *event)
{
	struct export *self = user;
	const struct ct_otlp_process process = { .source = event->source_process,
						 .command_line = "",
						 .system = "" };

	if (self->status != CTRACE_OK)
		return;
	self->last_ns = event->traced.time_ns;
	ct_otlp_map_event(&self->map, &self->request, &process, event, NULL);
	request_offer(self);
}

static void export_lost(void *user, const struct ct_read_note *note)
{
	struct export *self = user;
	const struct ct_otlp_process process = {
		.source = note->source_process != NULL ? note->source_process : &self->unknown,
		.command_line = "",
		.system = "",
	};
	char text[64];
	struct ct_otlp_own_record record = { .name = "ctrace.lost",
					     .text = text,
					     .events = note->events,
					     .time_ns = note->to_ns != 0 ? note->to_ns
									 : self->last_ns };

	if (self->status != CTRACE_OK)
		return;
	(void)snprintf(text, sizeof text, "%" PRIu64 " events lost", note->events);
	ct_otlp_map_own(&self->map, &self->request, &process, &record);
	request_offer(self);
}

static enum ctrace_status export_end(void *user)
{
	struct export *self = user;

	request_end(self);
	if (self->http == NULL)
		document_write(self);
	report_rejected(self);
	errno = self->error;
	return self->status;
}

static const char *export_failure(const void *user)
{
	const struct export *self = user;

	return self->failure[0] != '\0' ? self->failure : NULL;
}

static const struct ct_exporter export_json = {
	.name = "otlp",
	.open = export_open_json,
	.add = export_add,
	.lost = export_lost,
	.end = export_end,
	.failure = export_failure,
	.close = export_close,
};

static const struct ct_exporter export_protobuf = {
	.name = "otlp-protobuf",
	.open = export_open_protobuf,
	.add = export_add,
	.lost = export_lost,
	.end = export_end,
	.failure = export_failure,
	.close = export_close,
};

extern const struct ct_otlp_module ct_otlp_module;
__attribute__((visibility("default"))) const struct ct_otlp_module ct_otlp_module = {
	.size = sizeof(struct ct_otlp_module),
	.json = &export_json,
	.protobuf = &export_protobuf,
};
