/*
 * otlp_map.c - events as log records and spans: docs/otlp.md has the table.
 *
 * Called for each event, by the destination and by ctrace export, on one thread.  An event is a log
 * record.  Events that the catalogue pairs are, besides, one span, which is complete when its last
 * event comes.  The outermost span of a thread begins a trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"
#include "base/hash_table.h"

#include "print/print.h"
#include <stdio.h>
#include <string.h>

#define BODY_SIZE 1024u /* bytes; the attributes have everything */
#define BODY_CUT " ..."

/* SEVERITY_NUMBER_DEBUG ... */
static const Opentelemetry__Proto__Logs__V1__SeverityNumber severities[CTRACE_LEVEL_COUNT] = {
	5, 9, 13, 17, 21
};

void ct_otlp_map_init(struct ct_otlp_map *map)
{
	memset(map, 0, sizeof *map);
	ct_buf_init(&map->text);
	ct_buf_init(&map->scratch);
	for (unsigned i = 0; i < CT_OTLP_SIGNALS; i++)
		map->wants[i] = true;
}

void ct_otlp_map_fini(struct ct_otlp_map *map)
{
	ct_otlp_spans_fini(&map->spans);
	ct_buf_fini(&map->text);
	ct_buf_fini(&map->scratch);
}

static bool event_begins_span(const struct ct_read_event *event)
{
	return event->span_id != 0 && event->duration_ns == CT_NO_DURATION;
}

static bool event_ends_span(const struct ct_read_event *event)
{
	return event->span_id != 0 && event->duration_ns != CT_NO_DURATION;
}

/* -----------------------------------------------------------------------------------------------
 * Identity
 */

/* The same input gives the same ids in every export. */
static uint64_t hash_add_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_end(uint64_t hash)
{
	hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCDu;
	hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53u;
	hash ^= hash >> 33;
	return hash != 0 ? hash : 1; /* an id of zeros is none */
}

/* Of a span: its process, its thread, when it began, and its event. */
static uint64_t span_hash(const struct ct_read_event *event, uint64_t begin_ns, uint64_t seed)
{
	const struct ct_source_process *source = event->source_process;
	uint64_t hash = CT_HASH_START ^ seed;

	hash = ct_hash_bytes(hash, source->host, strlen(source->host));
	hash = ct_hash_bytes(hash, source->program, strlen(source->program));
	hash = ct_hash_bytes(hash, event->traced.component, event->traced.component_size);
	hash = hash_add_number(hash, source->pid);
	hash = hash_add_number(hash, source->asid);
	hash = hash_add_number(hash, event->traced.tid);
	hash = hash_add_number(hash, begin_ns);
	hash = hash_add_number(hash, event->traced.event_id);
	return hash_end(hash_add_number(hash, event->depth));
}

static void put_id(uint8_t out[8], uint64_t id)
{
	for (unsigned i = 0; i < 8; i++)
		out[i] = (uint8_t)(id >> (56 - 8 * i));
}

/* Gives the ids of a span that begins: those of its trace from the span around it. */
static struct ct_otlp_context context_begin(const struct ct_read_event *event, uint64_t begin_ns,
					    const struct ct_otlp_context *parent)
{
	struct ct_otlp_context context = { .trace_id = { 0 } };

	if (parent != NULL) {
		memcpy(context.trace_id, parent->trace_id, sizeof context.trace_id);
	} else {
		put_id(context.trace_id, span_hash(event, begin_ns, 1));
		put_id(context.trace_id + 8, span_hash(event, begin_ns, 2));
	}
	put_id(context.span_id, span_hash(event, begin_ns, 3));
	return context;
}

static ProtobufCBinaryData copy_id(struct ct_otlp_pool *pool, const uint8_t *id, size_t size)
{
	uint8_t *copy = ct_otlp_pool_take(pool, size);

	if (copy == NULL)
		return (ProtobufCBinaryData){ 0, NULL };
	memcpy(copy, id, size);
	return (ProtobufCBinaryData){ size, copy };
}

/* -----------------------------------------------------------------------------------------------
 * Spans
 */

static void add_items(struct ct_otlp_map *map, struct ct_otlp_pool *pool,
		      struct ct_otlp_list *attributes, const struct ct_read_event *event)
{
	for (uint32_t i = 0; i < event->traced.item_count; i++)
		ct_otlp_add_item(pool, attributes, event, i, map->encoding, &map->scratch);
}

static bool value_is_same(const ct_otlp_any *a, const ct_otlp_any *b)
{
	if (a->value_case != b->value_case)
		return false;
	switch (a->value_case) {
	case OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE:
		return a->int_value == b->int_value;
	case OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE:
		return strcmp(a->string_value, b->string_value) == 0;
	case OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_BYTES_VALUE:
		return a->bytes_value.len == b->bytes_value.len &&
		       memcmp(a->bytes_value.data, b->bytes_value.data, a->bytes_value.len) == 0;
	default:
		return false;
	}
}

static const ct_otlp_pair *span_attribute(const ct_otlp_span *span, const char *key)
{
	for (size_t i = 0; i < span->n_attributes; i++)
		if (strcmp(span->attributes[i]->key, key) == 0)
			return span->attributes[i];
	return NULL;
}

static char *end_key(struct ct_otlp_pool *pool, const char *key)
{
	size_t size = strlen(key) + sizeof "end.";
	char *longer = ct_otlp_pool_take(pool, size);

	if (longer != NULL)
		(void)snprintf(longer, size, "end.%s", key);
	return longer;
}

/* Items of the last event.  One that the first event has under the same name becomes end.<name>,
 * or is left out when its value is the same: the keys of a span are unique. */
static void add_end_items(struct ct_otlp_map *map, struct ct_otlp_pool *pool, ct_otlp_span *span,
			  const struct ct_read_event *event)
{
	struct ct_otlp_list all = { .items = NULL }, added = { .items = NULL };

	for (size_t i = 0; i < span->n_attributes; i++)
		ct_otlp_list_add(pool, &all, span->attributes[i]);
	add_items(map, pool, &added, event);
	for (size_t i = 0; i < added.count; i++) {
		ct_otlp_pair *pair = added.items[i];
		const ct_otlp_pair *before = span_attribute(span, pair->key);

		if (before != NULL && value_is_same(before->value, pair->value))
			continue;
		if (before != NULL)
			pair->key = end_key(pool, pair->key);
		if (pair->key != NULL)
			ct_otlp_list_add(pool, &all, pair);
	}
	span->attributes = (ct_otlp_pair **)all.items;
	span->n_attributes = all.count;
}

static char *span_name(struct ct_otlp_map *map, struct ct_otlp_pool *pool,
		       const struct ct_read_event *event)
{
	const struct ct_event_type *type = event->type;
	char scratch[16];

	ct_buf_clear(&map->scratch);
	if (type == NULL || type->span_name_count == 0 || !ct_span_name_add(&map->scratch, event))
		ct_buf_add_text(&map->scratch, ct_read_event_mnemonic(event, scratch));
	return ct_otlp_pool_text(pool, map->scratch.data, map->scratch.size);
}

static ct_otlp_span *span_create(struct ct_otlp_map *map, struct ct_otlp_pool *pool,
				 const struct ct_read_event *event, uint64_t begin_ns,
				 const struct ct_otlp_context *context,
				 const struct ct_otlp_context *parent)
{
	ct_otlp_span *span = ct_otlp_pool_take(pool, sizeof *span);
	struct ct_otlp_list attributes = { .items = NULL };

	if (span == NULL)
		return NULL;
	opentelemetry__proto__trace__v1__span__init(span);
	span->trace_id = copy_id(pool, context->trace_id, sizeof context->trace_id);
	span->span_id = copy_id(pool, context->span_id, sizeof context->span_id);
	if (parent != NULL)
		span->parent_span_id = copy_id(pool, parent->span_id, sizeof parent->span_id);
	span->name = span_name(map, pool, event);
	span->kind = OPENTELEMETRY__PROTO__TRACE__V1__SPAN__SPAN_KIND__SPAN_KIND_INTERNAL;
	span->start_time_unix_nano = begin_ns;
	ct_otlp_add_int(pool, &attributes, "ctrace.event.id", event->traced.event_id);
	ct_otlp_add_int(pool, &attributes, "thread.id", event->traced.tid);
	add_items(map, pool, &attributes, event);
	span->attributes = (ct_otlp_pair **)attributes.items;
	span->n_attributes = attributes.count;
	return span->name != NULL ? span : NULL;
}

/* Does the item with the role of a status report a failure?  Zero, as a number or in digits, and
 * blanks are success. */
static bool status_is_failure(const struct ctrace_event_item *item)
{
	const char *text = item->data;

	if (item->type != CTRACE_TYPE_TEXT && item->type != CTRACE_TYPE_UTF8 &&
	    item->type != CTRACE_TYPE_BINARY)
		return item->value != 0;
	for (uint32_t i = 0; i < item->size; i++)
		if (text[i] != '0' && text[i] != ' ' && text[i] != '\0')
			return true;
	return false;
}

static void add_status(struct ct_otlp_map *map, struct ct_otlp_pool *pool, ct_otlp_span *span,
		       const struct ct_read_event *event)
{
	static const struct ct_line_format plain = { .format = "", .delimiter = "" };
	uint32_t role = event->type != NULL ? event->type->roles[CT_ARGUMENT_ROLE_STATUS] : 0;
	Opentelemetry__Proto__Trace__V1__Status *status;

	if (event->is_inferred || role == 0 || role > event->traced.item_count ||
	    !status_is_failure(&event->traced.items[role - 1]))
		return;
	status = ct_otlp_pool_take(pool, sizeof *status);
	if (status == NULL)
		return;
	opentelemetry__proto__trace__v1__status__init(status);
	status->code = OPENTELEMETRY__PROTO__TRACE__V1__STATUS__STATUS_CODE__STATUS_CODE_ERROR;
	ct_buf_clear(&map->scratch);
	ct_value_add(&map->scratch, &plain, &event->traced.items[role - 1],
		     ct_read_event_argument(event, role - 1), event->source_process->is_big);
	status->message = ct_otlp_pool_text(pool, map->scratch.data, map->scratch.size);
	if (status->message != NULL)
		span->status = status;
}

/* Keeps the span, packed, until its last event. */
static void span_begin(struct ct_otlp_map *map, struct ct_otlp_request *request,
		       const struct ct_read_event *event, struct ct_otlp_context *out)
{
	struct ct_otlp_context parent;
	bool has_parent = ct_otlp_spans_innermost(&map->spans, event, &parent);
	uint64_t begin_ns = event->traced.time_ns;
	ct_otlp_span *span;
	size_t size;

	*out = context_begin(event, begin_ns, has_parent ? &parent : NULL);
	span = span_create(map, &request->pool, event, begin_ns, out, has_parent ? &parent : NULL);
	if (span == NULL)
		return;
	size = opentelemetry__proto__trace__v1__span__get_packed_size(span);
	ct_buf_clear(&map->text);
	if (ct_buf_reserve(&map->text, size))
		map->text.size = opentelemetry__proto__trace__v1__span__pack(
			span, (uint8_t *)map->text.data);
	ct_otlp_spans_begin(&map->spans, event, out, &map->text);
}

static void span_end(struct ct_otlp_map *map, struct ct_otlp_request *request,
		     const struct ct_otlp_process *process, const struct ct_read_event *event,
		     struct ct_otlp_context *out)
{
	const char *component = event->traced.component;
	size_t component_size = event->traced.component_size;
	ct_otlp_span *span = event->is_whole ? NULL
					     : ct_otlp_spans_end(&map->spans, event, &request->pool,
								 &component, &component_size);

	if (span == NULL) {
		uint64_t begin_ns = event->traced.time_ns - event->duration_ns;
		struct ct_otlp_context parent;
		bool has_parent = ct_otlp_spans_innermost(&map->spans, event, &parent);

		*out = context_begin(event, begin_ns, has_parent ? &parent : NULL);
		span = span_create(map, &request->pool, event, begin_ns, out,
				   has_parent ? &parent : NULL);
	} else {
		memcpy(out->trace_id, span->trace_id.data, sizeof out->trace_id);
		memcpy(out->span_id, span->span_id.data, sizeof out->span_id);
		if (!event->is_inferred)
			add_end_items(map, &request->pool, span, event);
	}
	if (span == NULL)
		return;
	span->end_time_unix_nano = event->traced.time_ns;
	add_status(map, &request->pool, span, event);
	if (map->wants[CT_OTLP_TRACES])
		ct_otlp_request_add_span(request, process, component, component_size, span);
}

/* -----------------------------------------------------------------------------------------------
 * Log records
 */

static void body_cut(struct ct_buf *body)
{
	if (body->size <= BODY_SIZE)
		return;
	body->size = BODY_SIZE;
	while (body->size > 0 && (body->data[body->size] & 0xC0) == 0x80)
		body->size--;
	ct_buf_add_text(body, BODY_CUT);
}

/* "OPEN (a file was opened) path="/etc/hosts" fd=3": the event as a line. */
static void add_body(struct ct_otlp_map *map, struct ct_otlp_pool *pool, ct_otlp_any *body,
		     const struct ct_read_event *event)
{
	static const struct ct_line_format format = { .format = "",
						      .delimiter = "",
						      .quote_strings = true };
	struct ct_buf *text = &map->text;
	char scratch[16];

	ct_buf_clear(text);
	ct_buf_add_text(text, ct_read_event_mnemonic(event, scratch));
	if (event->type != NULL && event->type->description[0] != '\0')
		ct_buf_add_format(text, " (%s)", event->type->description);
	for (uint32_t i = 0; i < event->traced.item_count && text->size < BODY_SIZE; i++) {
		struct ctrace_event_item item = event->traced.items[i];
		const struct ct_argument *argument = ct_read_event_argument(event, i);
		const char *name = ct_otlp_item_name(event, i);

		/* As much as can be in the body; a record is decoded whole. */
		if (item.size > BODY_SIZE && !ct_value_is_record(&item, argument))
			item.size = BODY_SIZE;
		ct_buf_add_char(text, ' ');
		if (name != NULL)
			ct_buf_add_format(text, "%s=", name);
		ct_value_add(text, &format, &item, argument, event->source_process->is_big);
	}
	body_cut(text);
	ct_otlp_set_text(pool, body, text->data, text->size);
	pool->failed |= text->failed;
}

static void log_set_context(struct ct_otlp_pool *pool, ct_otlp_log *log,
			    const struct ct_otlp_context *context)
{
	log->trace_id = copy_id(pool, context->trace_id, sizeof context->trace_id);
	log->span_id = copy_id(pool, context->span_id, sizeof context->span_id);
}

static ct_otlp_any *log_body(struct ct_otlp_pool *pool, ct_otlp_log *log)
{
	log->body = ct_otlp_pool_take(pool, sizeof *log->body);
	if (log->body != NULL)
		opentelemetry__proto__common__v1__any_value__init(log->body);
	return log->body;
}

static void log_set_level(ct_otlp_log *log, uint32_t level)
{
	if (level >= CTRACE_LEVEL_COUNT)
		level = CTRACE_FATAL;
	log->severity_number = severities[level];
	log->severity_text = (char *)(uintptr_t)ct_level_name(level);
}

static void add_log(struct ct_otlp_map *map, struct ct_otlp_request *request,
		    const struct ct_otlp_process *process, const struct ct_read_event *event,
		    const struct ct_otlp_context *context, const char *uid)
{
	struct ct_otlp_pool *pool = &request->pool;
	ct_otlp_log *log = ct_otlp_request_add_log(request, process, event->traced.component,
						   event->traced.component_size);
	struct ct_otlp_list attributes = { .items = NULL };
	char scratch[16];
	const char *mnemonic = ct_read_event_mnemonic(event, scratch);

	if (log == NULL)
		return;
	log->time_unix_nano = event->traced.time_ns;
	log->observed_time_unix_nano = map->observed_ns;
	log_set_level(log, event->traced.level);
	log->event_name = ct_otlp_pool_text(pool, mnemonic, strlen(mnemonic));
	if (log->event_name == NULL)
		log->event_name = (char *)(uintptr_t)protobuf_c_empty_string;
	ct_otlp_add_text(pool, &attributes, "event.name", mnemonic);
	ct_otlp_add_int(pool, &attributes, "ctrace.event.id", event->traced.event_id);
	ct_otlp_add_int(pool, &attributes, "thread.id", event->traced.tid);
	if (uid != NULL)
		ct_otlp_add_text(pool, &attributes, "log.record.uid", uid);
	if (event->duration_ns != CT_NO_DURATION && event->duration_ns <= INT64_MAX)
		ct_otlp_add_int(pool, &attributes, "ctrace.duration_ns",
				(int64_t)event->duration_ns);
	add_items(map, pool, &attributes, event);
	log->attributes = (ct_otlp_pair **)attributes.items;
	log->n_attributes = attributes.count;
	add_body(map, pool, log_body(pool, log), event);
	if (context != NULL)
		log_set_context(pool, log, context);
}

void ct_otlp_map_event(struct ct_otlp_map *map, struct ct_otlp_request *request,
		       const struct ct_otlp_process *process, const struct ct_read_event *event,
		       const char *uid)
{
	struct ct_otlp_context context;
	bool has_context = true;

	if (event_begins_span(event))
		span_begin(map, request, event, &context);
	else if (event_ends_span(event))
		span_end(map, request, process, event, &context);
	else
		has_context = ct_otlp_spans_innermost(&map->spans, event, &context);
	if (map->wants[CT_OTLP_LOGS] && !event->is_inferred)
		add_log(map, request, process, event, has_context ? &context : NULL, uid);
	for (uint32_t i = 0; i < event->traced.item_count; i++)
		request->bytes += event->traced.items[i].size;
}

void ct_otlp_map_own(struct ct_otlp_map *map, struct ct_otlp_request *request,
		     const struct ct_otlp_process *process, const struct ct_otlp_own_record *record)
{
	struct ct_otlp_pool *pool = &request->pool;
	struct ct_otlp_list attributes = { .items = NULL };
	ct_otlp_log *log;

	if (!map->wants[CT_OTLP_LOGS])
		return;
	log = ct_otlp_request_add_log(request, process, "ctrace", strlen("ctrace"));
	if (log == NULL)
		return;
	log->time_unix_nano = record->time_ns;
	log->observed_time_unix_nano = map->observed_ns;
	log_set_level(log, CTRACE_WARN);
	log->event_name = (char *)(uintptr_t)record->name;
	ct_otlp_add_text(pool, &attributes, "event.name", record->name);
	ct_otlp_add_int(pool, &attributes, "ctrace.events", (int64_t)record->events);
	if (record->spans != 0)
		ct_otlp_add_int(pool, &attributes, "ctrace.spans", (int64_t)record->spans);
	if (record->uid != NULL)
		ct_otlp_add_text(pool, &attributes, "log.record.uid", record->uid);
	for (unsigned i = 0; record->totals != NULL && i < CTRACE_LOSS_COUNT; i++) {
		char key[64];

		if (record->totals[i] == 0)
			continue;
		(void)snprintf(key, sizeof key, "ctrace.total.%s", ctrace_loss_name(i));
		ct_otlp_add_int(pool, &attributes, ct_otlp_pool_text(pool, key, strlen(key)),
				(int64_t)record->totals[i]);
	}
	log->attributes = (ct_otlp_pair **)attributes.items;
	log->n_attributes = attributes.count;
	ct_otlp_set_text(pool, log_body(pool, log), record->text, strlen(record->text));
}
