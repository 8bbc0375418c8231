/*
 * otlp/otlp.h - the parts of the module otlp.so: events of ctrace as logs and spans of
 * OpenTelemetry, and their way over HTTP.
 *
 *     otlp_map.c {otlp_value.c, otlp_span.c} -> otlp_request.c -> otlp_json.c | protobuf-c
 *     emit_otlp.c: the destination     -> otlp_sender.c = otlp_http.c
 *     otlp_export.c: ctrace export     -> otlp_http.c, or a file
 *
 * Nothing here prints.  A part is used by one thread at a time; only otlp_sender.c has a thread of
 * its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OTLP_H
#define CT_OTLP_H

#include "otlp_proto.h"
#include "read/event/event.h"

typedef Opentelemetry__Proto__Common__V1__AnyValue otlp_any;
typedef Opentelemetry__Proto__Common__V1__KeyValue otlp_pair;
typedef Opentelemetry__Proto__Logs__V1__LogRecord otlp_log;
typedef Opentelemetry__Proto__Trace__V1__Span otlp_span;

enum otlp_signal { OTLP_LOGS, OTLP_TRACES, OTLP_SIGNALS };
/* events of a request */
#define OTLP_BATCH 1024u
/* A request of more than one event has at most about so many bytes of items: receivers refuse
 * requests of 20 MiB. */
#define OTLP_REQUEST_BYTES ((size_t)4 << 20)

/* ---- otlp_pool.c: the memory of one request.  A failure sticks, and is checked once at the end.
 */
struct otlp_pool {
	struct otlp_chunk *chunks; /* the current one first */
	size_t used;               /* of the current one */
	bool failed;
};
/* 16-byte aligned, not zeroed; NULL without memory */
void *otlp_pool_take(struct otlp_pool *pool, size_t size);
/* Copies a text as a protobuf string.  A text that is not UTF-8, or has a NUL, is escaped as for
 * people. */
char *otlp_pool_text(struct otlp_pool *pool, const void *text, size_t size);
void otlp_pool_clear(struct otlp_pool *pool); /* keeps one chunk */
void otlp_pool_fini(struct otlp_pool *pool);

/* A growing array of pointers in a pool. */
struct otlp_list {
	void **items;
	size_t count, capacity;
};
void otlp_list_add(struct otlp_pool *pool, struct otlp_list *list, void *item);

/* ---- otlp_value.c: attributes.  Each returns the new value, or NULL without memory. */
otlp_any *otlp_add(struct otlp_pool *pool, struct otlp_list *attributes, const char *key);
void otlp_set_text(struct otlp_pool *pool, otlp_any *any, const void *text, size_t size);
void otlp_add_text(struct otlp_pool *pool, struct otlp_list *attributes, const char *key,
		   const char *text);
void otlp_add_int(struct otlp_pool *pool, struct otlp_list *attributes, const char *key,
		  int64_t value);
/* Adds an item under its name of the catalogue or the trace, else as item.N.  encoding: of text
 * items; scratch: the caller's. */
void otlp_add_item(struct otlp_pool *pool, struct otlp_list *attributes,
		   const struct ct_read_event *event, uint32_t index, enum ct_encoding encoding,
		   struct ct_buf *scratch);
/* The name that the catalogue or the trace gives an item; NULL: none. */
const char *otlp_item_name(const struct ct_read_event *event, uint32_t index);

/* ---- otlp_request.c: requests being made: log records and spans, grouped by process and
 * component. */
struct otlp_process {
	const struct ct_source_process *source;
	const char *command_line; /* "": unknown */
	const char *system;       /* "": unknown */
};
struct otlp_request {
	struct otlp_pool pool;
	struct otlp_list resources[OTLP_SIGNALS]; /* struct otlp_resource * */
	void *latest[OTLP_SIGNALS];               /* the scope that was used last */
	uint32_t counts[OTLP_SIGNALS];            /* log records, spans */
	size_t bytes;                             /* of items, about */
};
void otlp_request_init(struct otlp_request *request);
void otlp_request_fini(struct otlp_request *request);
void otlp_request_clear(struct otlp_request *request);
/* Adds a log record, or a span (already made, or NULL for a new one). Returns NULL without
 * memory. */
otlp_log *otlp_request_add_log(struct otlp_request *request, const struct otlp_process *process,
			       const char *component, size_t component_size);
void otlp_request_add_span(struct otlp_request *request, const struct otlp_process *process,
			   const char *component, size_t component_size, otlp_span *span);
/* Completes the message of a signal, in the request's memory; valid until the next change.  NULL
 * without memory. */
const ProtobufCMessage *otlp_request_message(struct otlp_request *request, enum otlp_signal signal);
/* Appends it as protobuf. */
void otlp_request_pack(struct otlp_request *request, enum otlp_signal signal, struct ct_buf *out);

/* ---- otlp_json.c: a message as OTLP/JSON, on one line, without a line end. */
void otlp_json_add(struct ct_buf *out, const ProtobufCMessage *message);

/* ---- otlp_span.c: spans that have begun and not ended. */
struct otlp_open;
struct otlp_spans {
	struct otlp_open **buckets;
	uint32_t count;
};
struct otlp_context {
	uint8_t trace_id[16], span_id[8];
};
void otlp_spans_fini(struct otlp_spans *spans);
/* Finds the innermost open span of the event's thread. */
bool otlp_spans_innermost(const struct otlp_spans *spans, const struct ct_read_event *event,
			  struct otlp_context *out);
/* Adds the span that the event begins.  bytes: the span as far as it is known, packed. */
void otlp_spans_begin(struct otlp_spans *spans, const struct ct_read_event *event,
		      const struct otlp_context *context, const struct ct_buf *bytes);
/* Removes the span that the event ends, and gives what is known of it, in the pool, and its
 * component.  NULL: its beginning was not seen, or memory is short. */
otlp_span *otlp_spans_end(struct otlp_spans *spans, const struct ct_read_event *event,
			  struct otlp_pool *pool, const char **out_component,
			  size_t *out_component_size);

/* ---- otlp_map.c: events to log records and spans. */
struct otlp_map {
	bool wants[OTLP_SIGNALS];
	enum ct_encoding encoding; /* of text items that the catalogue does not describe */
	uint64_t observed_ns;      /* of log records; 0: not set */
	struct otlp_spans spans;
	struct ct_buf text, scratch;
};
void otlp_map_init(struct otlp_map *map);
void otlp_map_fini(struct otlp_map *map);
/* uid: identifies the record for receivers that drop repeats; or NULL. */
void otlp_map_event(struct otlp_map *map, struct otlp_request *request,
		    const struct otlp_process *process, const struct ct_read_event *event,
		    const char *uid);
/* A log record of ctrace itself: lost, or refused, events. */
struct otlp_own_record {
	const char *name; /* "ctrace.lost" */
	const char *text;
	uint64_t events;
	uint64_t time_ns;
	const uint64_t *totals; /* by reason, ever; or NULL */
	const char *uid;        /* or NULL */
};
void otlp_map_own(struct otlp_map *map, struct otlp_request *request,
		  const struct otlp_process *process, const struct otlp_own_record *record);

/* ---- otlp_http.c: requests to a receiver, by libcurl.  A call waits until the receiver has
 * answered, TIMEOUT has passed, or is_over() returns true. */
struct otlp_http_settings {
	char *url; /* without /v1/logs */
	char *headers;
	char *ca, *certificate, *key;
	uint64_t timeout_ms;
	bool has_gzip;
	const char *wrong; /* the property that has no meaning; NULL: none */
};
/* Reads the properties URL, HEADERS ... of a destination or of `ctrace export`. */
typedef const char *otlp_property(const void *user, const char *name);
enum ctrace_status otlp_http_settings_read(struct otlp_http_settings *settings,
					   otlp_property *property, const void *user) CT_MUST_USE;
void otlp_http_settings_fini(struct otlp_http_settings *settings);
enum otlp_answer {
	OTLP_ACCEPTED,
	OTLP_AGAIN,  /* not reached, or busy: the same request may be accepted later */
	OTLP_REFUSED /* this request never will be: it is wrong, or too large */
};
struct otlp_result {
	enum otlp_answer answer;
	bool is_answered;  /* the receiver sent a status */
	bool is_throttled; /* 429, 502, 503 or 504 */
	uint64_t retry_ns; /* Retry-After; 0: not said */
	uint64_t rejected; /* of an accepted request: log records or spans that were refused */
	int error;         /* errno, about */
	char text[512];    /* "http://h:4318/v1/logs: HTTP 503: overloaded"; "": nothing to say */
};
struct otlp_http;
typedef bool otlp_is_over(const void *user);
/* The settings are borrowed. */
struct otlp_http *otlp_http_create(const struct otlp_http_settings *settings, otlp_is_over *is_over,
				   const void *user);
void otlp_http_destroy(struct otlp_http *http);
void otlp_http_post(struct otlp_http *http, enum otlp_signal signal, const struct ct_buf *body,
		    struct otlp_result *out);
/* How long to wait after the n-th failure in a row. */
uint64_t otlp_retry_ns(const struct otlp_result *result, uint32_t failures);

/* ---- otlp_sender.c: a thread that sends the requests of a destination. */
struct otlp_job {
	struct ct_buf bodies[OTLP_SIGNALS]; /* empty: nothing to send */
	struct otlp_result results[OTLP_SIGNALS];
};
enum otlp_job_state {
	OTLP_JOB_IDLE,
	OTLP_JOB_SENDING, /* the job is the thread's */
	OTLP_JOB_WAITING, /* likewise, after a failure and before the next try */
	OTLP_JOB_DONE     /* accepted or refused: see results */
};
struct otlp_sender;
/* Takes the settings, also on failure. */
enum ctrace_status otlp_sender_create(struct otlp_http_settings *settings,
				      struct otlp_sender **out_sender) CT_MUST_USE;
/* Ends the thread, and abandons what it has not sent.  A thread that does not end within a moment
 * frees everything itself. */
void otlp_sender_destroy(struct otlp_sender *sender);
/* The job; the caller's to fill in unless it is SENDING or WAITING. */
struct otlp_job *otlp_sender_job(struct otlp_sender *sender);
enum ctrace_status otlp_sender_start(struct otlp_sender *sender) CT_MUST_USE;
/* Waits while it is SENDING, until the deadline (monotonic). */
enum otlp_job_state otlp_sender_wait(struct otlp_sender *sender, uint64_t deadline_ns);
/* of WAITING: copies why the last try failed, and returns an errno */
int otlp_sender_failure(struct otlp_sender *sender, char out[512]);
/* Gives up the job.  False: the thread is still busy with it. */
bool otlp_sender_cancel(struct otlp_sender *sender, uint64_t deadline_ns);

/* ---- otlp_properties.c */
extern const struct ctrace_property otlp_properties[];

#endif
