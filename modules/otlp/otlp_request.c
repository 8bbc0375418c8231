/*
 * otlp_request.c - requests being made: log records and spans, grouped by process (resource) and
 * component (scope).
 *
 * Called by otlp_map.c for each event, and once when the request is complete, on one thread.  Few
 * processes and components are in a request, so they are searched one by one, the latest first.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <stdio.h>

typedef Opentelemetry__Proto__Common__V1__InstrumentationScope otlp_scope_name;
typedef Opentelemetry__Proto__Resource__V1__Resource otlp_resource_message;
typedef Opentelemetry__Proto__Logs__V1__ResourceLogs otlp_resource_logs;
typedef Opentelemetry__Proto__Logs__V1__ScopeLogs otlp_scope_logs;
typedef Opentelemetry__Proto__Trace__V1__ResourceSpans otlp_resource_spans;
typedef Opentelemetry__Proto__Trace__V1__ScopeSpans otlp_scope_spans;
typedef Opentelemetry__Proto__Collector__Logs__V1__ExportLogsServiceRequest otlp_logs_request;
typedef Opentelemetry__Proto__Collector__Trace__V1__ExportTraceServiceRequest otlp_traces_request;

/* A component of a process. */
struct scope {
	const char *component; /* in the pool */
	size_t component_size;
	struct resource *resource;
	struct ct_otlp_list entries; /* log records or spans */
};

struct resource {
	uint32_t source_index;
	otlp_resource_message *message;
	struct ct_otlp_list scopes;
};

void ct_otlp_request_init(struct ct_otlp_request *request)
{
	memset(request, 0, sizeof *request);
}

void ct_otlp_request_fini(struct ct_otlp_request *request)
{
	ct_otlp_pool_fini(&request->pool);
}

void ct_otlp_request_clear(struct ct_otlp_request *request)
{
	struct ct_otlp_pool pool = request->pool;

	ct_otlp_pool_clear(&pool);
	*request = (struct ct_otlp_request){ .pool = pool };
}

static void add_known_text(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes,
			   const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		ct_otlp_add_text(pool, attributes, key, text);
}

static otlp_resource_message *resource_message(struct ct_otlp_pool *pool,
					       const struct ct_otlp_process *process)
{
	const struct ct_source_process *source = process->source;
	otlp_resource_message *message = ct_otlp_pool_take(pool, sizeof *message);
	struct ct_otlp_list attributes = { .items = NULL };
	char asid[16];

	if (message == NULL)
		return NULL;
	ct_otlp_add_text(pool, &attributes, "service.name",
			 source->jobname[0] != '\0'   ? source->jobname
			 : source->program[0] != '\0' ? source->program
						      : "unknown_service");
	add_known_text(pool, &attributes, "host.name", source->host);
	if (source->pid != 0)
		ct_otlp_add_int(pool, &attributes, "process.pid", source->pid);
	add_known_text(pool, &attributes, "process.executable.name", source->program);
	add_known_text(pool, &attributes, "process.command_line", process->command_line);
	add_known_text(pool, &attributes, "os.description", process->system);
	add_known_text(pool, &attributes, "ctrace.jobname", source->jobname);
	if (source->asid != 0) {
		(void)snprintf(asid, sizeof asid, "%04X", source->asid);
		ct_otlp_add_text(pool, &attributes, "ctrace.asid", asid);
	}
	opentelemetry__proto__resource__v1__resource__init(message);
	message->attributes = (ct_otlp_pair **)attributes.items;
	message->n_attributes = attributes.count;
	return message;
}

static struct resource *resource_find(struct ct_otlp_request *request, enum ct_otlp_signal signal,
				      const struct ct_otlp_process *process)
{
	struct ct_otlp_list *resources = &request->resources[signal];
	struct resource *resource;

	for (size_t i = resources->count; i-- > 0;) {
		resource = resources->items[i];
		if (resource->source_index == process->source->index)
			return resource;
	}
	resource = ct_otlp_pool_take(&request->pool, sizeof *resource);
	if (resource == NULL)
		return NULL;
	*resource = (struct resource){ .source_index = process->source->index,
				       .message = resource_message(&request->pool, process) };
	if (resource->message == NULL)
		return NULL;
	ct_otlp_list_add(&request->pool, resources, resource);
	return resource;
}

static bool scope_is(const struct scope *scope, const struct ct_otlp_process *process,
		     const char *component, size_t size)
{
	return scope->resource->source_index == process->source->index &&
	       scope->component_size == size && memcmp(scope->component, component, size) == 0;
}

static struct scope *scope_find(struct ct_otlp_request *request, enum ct_otlp_signal signal,
				const struct ct_otlp_process *process, const char *component,
				size_t size)
{
	struct scope *scope = request->latest[signal];
	struct resource *resource;
	char *copy;

	if (scope != NULL && scope_is(scope, process, component, size))
		return scope;
	resource = resource_find(request, signal, process);
	if (resource == NULL)
		return NULL;
	for (size_t i = resource->scopes.count; i-- > 0;) {
		scope = resource->scopes.items[i];
		if (scope_is(scope, process, component, size))
			return request->latest[signal] = scope;
	}
	scope = ct_otlp_pool_take(&request->pool, sizeof *scope);
	copy = ct_otlp_pool_take(&request->pool, size + 1);
	if (scope == NULL || copy == NULL)
		return NULL;
	memcpy(copy, component, size);
	*scope = (struct scope){ .component = copy, .component_size = size, .resource = resource };
	ct_otlp_list_add(&request->pool, &resource->scopes, scope);
	return request->latest[signal] = scope;
}

ct_otlp_log *ct_otlp_request_add_log(struct ct_otlp_request *request,
				     const struct ct_otlp_process *process, const char *component,
				     size_t component_size)
{
	struct scope *scope = scope_find(request, CT_OTLP_LOGS, process, component, component_size);
	ct_otlp_log *log = scope != NULL ? ct_otlp_pool_take(&request->pool, sizeof *log) : NULL;

	if (log == NULL)
		return NULL;
	opentelemetry__proto__logs__v1__log_record__init(log);
	ct_otlp_list_add(&request->pool, &scope->entries, log);
	request->counts[CT_OTLP_LOGS]++;
	return log;
}

void ct_otlp_request_add_span(struct ct_otlp_request *request,
			      const struct ct_otlp_process *process, const char *component,
			      size_t component_size, ct_otlp_span *span)
{
	struct scope *scope =
		scope_find(request, CT_OTLP_TRACES, process, component, component_size);

	if (scope == NULL)
		return;
	ct_otlp_list_add(&request->pool, &scope->entries, span);
	request->counts[CT_OTLP_TRACES]++;
}

/* -----------------------------------------------------------------------------------------------
 * The whole message
 */

static otlp_scope_name *scope_name(struct ct_otlp_pool *pool, const struct scope *scope)
{
	otlp_scope_name *name = ct_otlp_pool_take(pool, sizeof *name);

	if (name == NULL)
		return NULL;
	opentelemetry__proto__common__v1__instrumentation_scope__init(name);
	name->name = ct_otlp_pool_text(pool, scope->component, scope->component_size);
	return name->name != NULL ? name : NULL;
}

/* The entries of a message: so many after those that are skipped. */
struct part {
	size_t skip, left;
};

/* Takes the entries of a scope that belong to the part.  Returns how many; they begin at
 * *out_first. */
static size_t part_take(struct part *part, const struct scope *scope, size_t *out_first)
{
	size_t count = scope->entries.count;
	size_t skipped = part->skip < count ? part->skip : count;
	size_t taken = count - skipped < part->left ? count - skipped : part->left;

	part->skip -= skipped;
	part->left -= taken;
	*out_first = skipped;
	return taken;
}

static otlp_resource_logs *resource_logs(struct ct_otlp_pool *pool, const struct resource *resource,
					 struct part *part)
{
	otlp_resource_logs *message = ct_otlp_pool_take(pool, sizeof *message);
	struct ct_otlp_list scopes = { .items = NULL };

	if (message == NULL)
		return NULL;
	for (size_t i = 0; i < resource->scopes.count; i++) {
		const struct scope *scope = resource->scopes.items[i];
		size_t first, count = part_take(part, scope, &first);
		otlp_scope_logs *logs;

		if (count == 0)
			continue;
		logs = ct_otlp_pool_take(pool, sizeof *logs);
		if (logs == NULL)
			return NULL;
		opentelemetry__proto__logs__v1__scope_logs__init(logs);
		logs->scope = scope_name(pool, scope);
		logs->log_records = (ct_otlp_log **)scope->entries.items + first;
		logs->n_log_records = count;
		ct_otlp_list_add(pool, &scopes, logs);
	}
	opentelemetry__proto__logs__v1__resource_logs__init(message);
	message->resource = resource->message;
	message->scope_logs = (otlp_scope_logs **)scopes.items;
	message->n_scope_logs = scopes.count;
	return message;
}

static otlp_resource_spans *resource_spans(struct ct_otlp_pool *pool,
					   const struct resource *resource, struct part *part)
{
	otlp_resource_spans *message = ct_otlp_pool_take(pool, sizeof *message);
	struct ct_otlp_list scopes = { .items = NULL };

	if (message == NULL)
		return NULL;
	for (size_t i = 0; i < resource->scopes.count; i++) {
		const struct scope *scope = resource->scopes.items[i];
		size_t first, count = part_take(part, scope, &first);
		otlp_scope_spans *spans;

		if (count == 0)
			continue;
		spans = ct_otlp_pool_take(pool, sizeof *spans);
		if (spans == NULL)
			return NULL;
		opentelemetry__proto__trace__v1__scope_spans__init(spans);
		spans->scope = scope_name(pool, scope);
		spans->spans = (ct_otlp_span **)scope->entries.items + first;
		spans->n_spans = count;
		ct_otlp_list_add(pool, &scopes, spans);
	}
	opentelemetry__proto__trace__v1__resource_spans__init(message);
	message->resource = resource->message;
	message->scope_spans = (otlp_scope_spans **)scopes.items;
	message->n_scope_spans = scopes.count;
	return message;
}

static const ProtobufCMessage *message_make(struct ct_otlp_request *request,
					    enum ct_otlp_signal signal, struct part part)
{
	struct ct_otlp_pool *pool = &request->pool;
	struct ct_otlp_list resources = { .items = NULL };
	otlp_logs_request *logs = ct_otlp_pool_take(pool, sizeof *logs);
	otlp_traces_request *traces = ct_otlp_pool_take(pool, sizeof *traces);

	for (size_t i = 0; i < request->resources[signal].count && !pool->failed && part.left > 0;
	     i++) {
		const struct resource *resource = request->resources[signal].items[i];

		ct_otlp_list_add(pool, &resources,
				 signal == CT_OTLP_LOGS
					 ? (void *)resource_logs(pool, resource, &part)
					 : (void *)resource_spans(pool, resource, &part));
	}
	if (pool->failed)
		return NULL;
	if (signal == CT_OTLP_LOGS) {
		opentelemetry__proto__collector__logs__v1__export_logs_service_request__init(logs);
		logs->resource_logs = (otlp_resource_logs **)resources.items;
		logs->n_resource_logs = resources.count;
		return &logs->base;
	}
	opentelemetry__proto__collector__trace__v1__export_trace_service_request__init(traces);
	traces->resource_spans = (otlp_resource_spans **)resources.items;
	traces->n_resource_spans = resources.count;
	return &traces->base;
}

const ProtobufCMessage *ct_otlp_request_message(struct ct_otlp_request *request,
						enum ct_otlp_signal signal)
{
	return message_make(request, signal, (struct part){ .left = request->counts[signal] });
}

void ct_otlp_request_pack(struct ct_otlp_request *request, enum ct_otlp_signal signal,
			  uint32_t first, uint32_t count, struct ct_buf *out)
{
	const ProtobufCMessage *message =
		message_make(request, signal, (struct part){ .skip = first, .left = count });
	size_t size = message != NULL ? protobuf_c_message_get_packed_size(message) : 0;

	if (message == NULL || !ct_buf_reserve(out, size)) {
		out->failed = true;
		return;
	}
	out->size += protobuf_c_message_pack(message, (uint8_t *)out->data + out->size);
}
