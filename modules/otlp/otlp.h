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

typedef Opentelemetry__Proto__Common__V1__AnyValue ct_otlp_any;
typedef Opentelemetry__Proto__Common__V1__KeyValue ct_otlp_pair;
typedef Opentelemetry__Proto__Logs__V1__LogRecord ct_otlp_log;
typedef Opentelemetry__Proto__Trace__V1__Span ct_otlp_span;

enum ct_otlp_signal { CT_OTLP_LOGS, CT_OTLP_TRACES, CT_OTLP_SIGNALS };
/* events of a request */
#define CT_OTLP_BATCH 1024u
/* A request of more than one event has at most about so many bytes of items: receivers refuse
 * requests of 20 MiB. */
#define CT_OTLP_REQUEST_BYTES ((size_t)4 << 20)

/* ---- otlp_pool.c: the memory of one request.  A failure sticks, and is checked once at the end.
 */
struct ct_otlp_pool {
	struct ct_otlp_chunk *chunks; /* the current one first */
	size_t used;                  /* of the current one */
	bool failed;
};
/* 16-byte aligned, not zeroed; NULL without memory */
void *ct_otlp_pool_take(struct ct_otlp_pool *pool, size_t size);
/* Copies a text as a protobuf string.  A text that is not UTF-8, or has a NUL, is escaped as for
 * people. */
char *ct_otlp_pool_text(struct ct_otlp_pool *pool, const void *text, size_t size);
void ct_otlp_pool_clear(struct ct_otlp_pool *pool); /* keeps one chunk */
void ct_otlp_pool_fini(struct ct_otlp_pool *pool);

/* A growing array of pointers in a pool. */
struct ct_otlp_list {
	void **items;
	size_t count, capacity;
};
void ct_otlp_list_add(struct ct_otlp_pool *pool, struct ct_otlp_list *list, void *item);

/* ---- otlp_value.c: attributes.  Each returns the new value, or NULL without memory. */
ct_otlp_any *ct_otlp_add(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes,
			 const char *key);
void ct_otlp_set_text(struct ct_otlp_pool *pool, ct_otlp_any *any, const void *text, size_t size);
void ct_otlp_add_text(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes, const char *key,
		      const char *text);
void ct_otlp_add_int(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes, const char *key,
		     int64_t value);
/* Adds an item under its name of the catalogue or the trace, else as item.N.  encoding: of text
 * items; scratch: the caller's. */
void ct_otlp_add_item(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes,
		      const struct ct_read_event *event, uint32_t index, enum ct_encoding encoding,
		      struct ct_buf *scratch);
/* The name that the catalogue or the trace gives an item; NULL: none. */
const char *ct_otlp_item_name(const struct ct_read_event *event, uint32_t index);

/* ---- otlp_request.c: requests being made: log records and spans, grouped by process and
 * component. */
struct ct_otlp_process {
	const struct ct_source_process *source;
	const char *command_line; /* "": unknown */
	const char *system;       /* "": unknown */
};
struct ct_otlp_request {
	struct ct_otlp_pool pool;
	struct ct_otlp_list resources[CT_OTLP_SIGNALS]; /* struct otlp_resource * */
	void *latest[CT_OTLP_SIGNALS];                  /* the scope that was used last */
	uint32_t counts[CT_OTLP_SIGNALS];               /* log records, spans */
	size_t bytes;                                   /* of items, about */
};
void ct_otlp_request_init(struct ct_otlp_request *request);
void ct_otlp_request_fini(struct ct_otlp_request *request);
void ct_otlp_request_clear(struct ct_otlp_request *request);
/* Adds a log record, or a span (already made, or NULL for a new one). Returns NULL without
 * memory. */
ct_otlp_log *ct_otlp_request_add_log(struct ct_otlp_request *request,
				     const struct ct_otlp_process *process, const char *component,
				     size_t component_size);
void ct_otlp_request_add_span(struct ct_otlp_request *request,
			      const struct ct_otlp_process *process, const char *component,
			      size_t component_size, ct_otlp_span *span);
/* Completes the message of a signal, in the request's memory; valid until the next change.  NULL
 * without memory. */
const ProtobufCMessage *ct_otlp_request_message(struct ct_otlp_request *request,
						enum ct_otlp_signal signal);
/* Appends `count` of its log records or spans from the first one on, as protobuf. */
void ct_otlp_request_pack(struct ct_otlp_request *request, enum ct_otlp_signal signal,
			  uint32_t first, uint32_t count, struct ct_buf *out);

/* ---- otlp_json.c: a message as OTLP/JSON, on one line, without a line end. */
void ct_otlp_json_add(struct ct_buf *out, const ProtobufCMessage *message);

/* ---- otlp_span.c: spans that have begun and not ended. */
struct ct_otlp_open;
struct ct_otlp_spans {
	struct ct_otlp_open **buckets;
	uint32_t count;
};
struct ct_otlp_context {
	uint8_t trace_id[16], span_id[8];
};
void ct_otlp_spans_fini(struct ct_otlp_spans *spans);
/* Finds the innermost open span of the event's thread. */
bool ct_otlp_spans_innermost(const struct ct_otlp_spans *spans, const struct ct_read_event *event,
			     struct ct_otlp_context *out);
/* Adds the span that the event begins.  bytes: the span as far as it is known, packed. */
void ct_otlp_spans_begin(struct ct_otlp_spans *spans, const struct ct_read_event *event,
			 const struct ct_otlp_context *context, const struct ct_buf *bytes);
/* Removes the span that the event ends, and gives what is known of it, in the pool, and its
 * component.  NULL: its beginning was not seen, or memory is short. */
ct_otlp_span *ct_otlp_spans_end(struct ct_otlp_spans *spans, const struct ct_read_event *event,
				struct ct_otlp_pool *pool, const char **out_component,
				size_t *out_component_size);

/* ---- otlp_map.c: events to log records and spans. */
struct ct_otlp_map {
	bool wants[CT_OTLP_SIGNALS];
	enum ct_encoding encoding; /* of text items that the catalogue does not describe */
	uint64_t observed_ns;      /* of log records; 0: not set */
	struct ct_otlp_spans spans;
	struct ct_buf text, scratch;
};
void ct_otlp_map_init(struct ct_otlp_map *map);
void ct_otlp_map_fini(struct ct_otlp_map *map);
/* uid: identifies the record for receivers that drop repeats; or NULL. */
void ct_otlp_map_event(struct ct_otlp_map *map, struct ct_otlp_request *request,
		       const struct ct_otlp_process *process, const struct ct_read_event *event,
		       const char *uid);
/* A log record of ctrace itself: lost, or refused, events. */
struct ct_otlp_own_record {
	const char *name; /* "ctrace.lost" */
	const char *text;
	uint64_t events, spans;
	uint64_t time_ns;
	const uint64_t *totals; /* by reason, ever; or NULL */
	const char *uid;        /* or NULL */
};
void ct_otlp_map_own(struct ct_otlp_map *map, struct ct_otlp_request *request,
		     const struct ct_otlp_process *process,
		     const struct ct_otlp_own_record *record);

/* ---- otlp_http.c: requests to a receiver, by libcurl.  A call waits until the receiver has
 * answered, TIMEOUT has passed, or is_over() returns true. */
struct ct_otlp_http_settings {
	char *url; /* without /v1/logs */
	char *headers;
	char *ca, *certificate, *key;
	uint64_t timeout_ms;
	bool has_gzip;
	const char *wrong; /* the property that has no meaning; NULL: none */
};
/* Reads the properties URL, HEADERS ... of a destination or of `ctrace export`. */
typedef const char *ct_otlp_property(const void *user, const char *name);
enum ctrace_status ct_otlp_http_settings_read(struct ct_otlp_http_settings *settings,
					      ct_otlp_property *property,
					      const void *user) CT_MUST_USE;
void ct_otlp_http_settings_fini(struct ct_otlp_http_settings *settings);
enum ct_otlp_answer {
	CT_OTLP_ACCEPTED,
	CT_OTLP_AGAIN,  /* not reached, or busy: the same request may be accepted later */
	CT_OTLP_REFUSED /* this request never will be: it is wrong, or too large */
};
struct ct_otlp_result {
	enum ct_otlp_answer answer;
	bool is_answered;  /* the receiver sent a status */
	bool is_throttled; /* 429, 502, 503 or 504 */
	bool is_broken;    /* an answer that accepted it broke off, now or at an earlier try */
	long status;       /* of HTTP; 0: none */
	uint64_t retry_ns; /* Retry-After; 0: not said */
	uint64_t rejected; /* of an accepted request: at most `records` were refused */
	int error;         /* errno, about */
	char text[512];    /* "http://h:4318/v1/logs: HTTP 503: overloaded"; "": nothing to say */
};
struct ct_otlp_http;
typedef bool ct_otlp_is_over(const void *user);
/* The settings are borrowed. */
struct ct_otlp_http *ct_otlp_http_create(const struct ct_otlp_http_settings *settings,
					 ct_otlp_is_over *is_over, const void *user);
void ct_otlp_http_destroy(struct ct_otlp_http *http);
/* Sends a request of so many records.  *out has the answer to the last try, or zeros. */
void ct_otlp_http_post(struct ct_otlp_http *http, enum ct_otlp_signal signal,
		       const struct ct_buf *body, uint32_t records, struct ct_otlp_result *out);
/* How long to wait after the n-th failure in a row. */
uint64_t ct_otlp_retry_ns(const struct ct_otlp_result *result, uint32_t failures);
/* Single records that were refused one after the other, with the same status. */
struct ct_otlp_refusals {
	uint32_t count;
	long status;
};
/* Notes the answer to a request of so many records.  Returns true if it was refused and its parts
 * are worth a request each: not after CT_OTLP_REFUSALS single refusals with this answer, until
 * something is accepted.  Then a refused request is refused as a whole. */
#define CT_OTLP_REFUSALS 16u
bool ct_otlp_refusals_note(struct ct_otlp_refusals *refusals, const struct ct_otlp_result *result,
			   uint32_t records);

/* ---- otlp_sender.c: a thread that sends the requests of a destination. */
struct ct_otlp_job {
	struct ct_buf bodies[CT_OTLP_SIGNALS]; /* empty: nothing to send */
	uint32_t records[CT_OTLP_SIGNALS];     /* in them */
	struct ct_otlp_result results[CT_OTLP_SIGNALS];
};
enum ct_otlp_job_state {
	CT_OTLP_JOB_IDLE,
	CT_OTLP_JOB_SENDING, /* the job is the thread's */
	CT_OTLP_JOB_WAITING, /* likewise, after a failure and before the next try */
	CT_OTLP_JOB_DONE     /* accepted or refused: see results */
};
struct ct_otlp_sender;
/* Takes the settings, also on failure. */
enum ctrace_status ct_otlp_sender_create(struct ct_otlp_http_settings *settings,
					 struct ct_otlp_sender **out_sender) CT_MUST_USE;
/* Ends the thread, and abandons what it has not sent.  A thread that does not end within a moment
 * frees everything itself. */
void ct_otlp_sender_destroy(struct ct_otlp_sender *sender);
/* In a forked child, which does not have the thread: frees its memory.  That of libcurl stays, in
 * the state in which the thread left it. */
void ct_otlp_sender_forget(struct ct_otlp_sender *sender);
/* The job; the caller's to fill in unless it is SENDING or WAITING. */
struct ct_otlp_job *ct_otlp_sender_job(struct ct_otlp_sender *sender);
enum ctrace_status ct_otlp_sender_start(struct ct_otlp_sender *sender) CT_MUST_USE;
/* Waits while it is SENDING, until the deadline (monotonic). */
enum ct_otlp_job_state ct_otlp_sender_wait(struct ct_otlp_sender *sender, uint64_t deadline_ns);
/* of WAITING: copies why the last try failed, and returns an errno */
int ct_otlp_sender_failure(struct ct_otlp_sender *sender, char out[512]);
/* Gives up the job.  False: the thread is still busy with it. */
bool ct_otlp_sender_cancel(struct ct_otlp_sender *sender, uint64_t deadline_ns);

/* ---- otlp_properties.c */
extern const struct ctrace_property ct_otlp_properties[];

#endif
