/*
 * otlp_span.c - spans that have begun and not ended: what is known of each, packed, until its end.
 *
 * Called by otlp_map.c, on one thread.  The spans of a thread are in one bucket, the innermost
 * first.  A span may end on another thread; then all buckets are searched.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <stdlib.h>

#define BUCKETS 1024u
#define OPEN_LIMIT 65536u /* of spans; as many as the reader pairs at once */

struct ct_otlp_open {
	struct ct_otlp_open *next;
	uint64_t id; /* the reader's */
	uint32_t source_index, tid;
	struct ct_otlp_context context;
	size_t component_size, size;
	char bytes[]; /* the component, then the packed span */
};

static uint32_t bucket_of(uint32_t source_index, uint32_t tid)
{
	return (source_index * 0x9E3779B1u + tid) * 0x85EBCA6Bu >> 22;
}

static bool open_is_of_thread(const struct ct_otlp_open *open, const struct ct_read_event *event)
{
	return open->tid == event->traced.tid && open->source_index == event->source_process->index;
}

void ct_otlp_spans_fini(struct ct_otlp_spans *spans)
{
	for (uint32_t i = 0; spans->buckets != NULL && i < BUCKETS; i++)
		while (spans->buckets[i] != NULL) {
			struct ct_otlp_open *next = spans->buckets[i]->next;

			free(spans->buckets[i]);
			spans->buckets[i] = next;
		}
	free(spans->buckets);
	*spans = (struct ct_otlp_spans){ 0 };
}

bool ct_otlp_spans_innermost(const struct ct_otlp_spans *spans, const struct ct_read_event *event,
			     struct ct_otlp_context *out)
{
	const struct ct_otlp_open *open;

	if (spans->count == 0)
		return false;
	open = spans->buckets[bucket_of(event->source_process->index, event->traced.tid)];
	while (open != NULL && !open_is_of_thread(open, event))
		open = open->next;
	if (open == NULL)
		return false;
	*out = open->context;
	return true;
}

/* A span that cannot be kept is sent without what its beginning told. */
void ct_otlp_spans_begin(struct ct_otlp_spans *spans, const struct ct_read_event *event,
			 const struct ct_otlp_context *context, const struct ct_buf *bytes)
{
	struct ct_otlp_open *open;
	struct ct_otlp_open **bucket;

	if (spans->buckets == NULL)
		spans->buckets = calloc(BUCKETS, sizeof(struct ct_otlp_open *));
	if (spans->buckets == NULL || spans->count == OPEN_LIMIT || bytes->failed)
		return;
	open = malloc(sizeof *open + event->traced.component_size + bytes->size);
	if (open == NULL)
		return;
	*open = (struct ct_otlp_open){ .id = event->span_id,
				       .source_index = event->source_process->index,
				       .tid = event->traced.tid,
				       .context = *context,
				       .component_size = event->traced.component_size,
				       .size = bytes->size };
	memcpy(open->bytes, event->traced.component, open->component_size);
	memcpy(open->bytes + open->component_size, bytes->data, bytes->size);
	bucket = &spans->buckets[bucket_of(open->source_index, open->tid)];
	open->next = *bucket;
	*bucket = open;
	spans->count++;
}

static struct ct_otlp_open *bucket_remove(struct ct_otlp_open **bucket, uint64_t id)
{
	struct ct_otlp_open *open;

	while (*bucket != NULL && (*bucket)->id != id)
		bucket = &(*bucket)->next;
	open = *bucket;
	if (open != NULL)
		*bucket = open->next;
	return open;
}

static void *unpack_allocate(void *pool, size_t size)
{
	return ct_otlp_pool_take(pool, size);
}

static void unpack_free(void *pool, void *pointer)
{
	(void)pool;
	(void)pointer;
}

ct_otlp_span *ct_otlp_spans_end(struct ct_otlp_spans *spans, const struct ct_read_event *event,
				struct ct_otlp_pool *pool, const char **out_component,
				size_t *out_component_size)
{
	ProtobufCAllocator allocator = { .alloc = unpack_allocate,
					 .free = unpack_free,
					 .allocator_data = pool };
	struct ct_otlp_open *open;
	ct_otlp_span *span;
	char *component;

	if (spans->count == 0)
		return NULL;
	open = bucket_remove(
		&spans->buckets[bucket_of(event->source_process->index, event->traced.tid)],
		event->span_id);
	for (uint32_t i = 0; open == NULL && i < BUCKETS; i++)
		open = bucket_remove(&spans->buckets[i], event->span_id);
	if (open == NULL)
		return NULL;
	spans->count--;
	span = opentelemetry__proto__trace__v1__span__unpack(
		&allocator, open->size, (const uint8_t *)open->bytes + open->component_size);
	component = ct_otlp_pool_take(pool, open->component_size + 1);
	if (span != NULL && component != NULL) {
		memcpy(component, open->bytes, open->component_size);
		*out_component = component;
		*out_component_size = open->component_size;
	}
	free(open);
	return component != NULL ? span : NULL;
}
