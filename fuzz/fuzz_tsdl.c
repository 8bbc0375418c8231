/*
 * fuzz_tsdl.c - the metadata of a foreign trace, any bytes: what was understood holds together, and is no deeper than it may be.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/tsdl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The types in a type are each looked at once on a way: a text can make one way of many, so only so many are gone. */
static void walk(const struct ct_tsdl_type *type, unsigned depth, unsigned *left)
{
	require(depth <= CT_TSDL_DEPTH && type->depth <= CT_TSDL_DEPTH);
	require(type->align != 0 && (type->align & (type->align - 1)) == 0);
	if (*left == 0)
		return;
	(*left)--;
	if (type->kind == CT_TSDL_INTEGER || type->kind == CT_TSDL_ENUM)
		require(type->size >= 1 && type->size <= 64);
	if (type->kind == CT_TSDL_STRUCT || type->kind == CT_TSDL_VARIANT) {
		for (uint32_t i = 0; i < type->count; i++) {
			require(type->fields[i].name != NULL && type->fields[i].type->depth < type->depth);
			walk(type->fields[i].type, depth + 1, left);
		}
	}
	if (type->kind == CT_TSDL_ARRAY || type->kind == CT_TSDL_SEQUENCE) {
		require(type->kind == CT_TSDL_ARRAY || (type->reference != NULL && type->reference->count > 0));
		walk(type->element, depth + 1, left);
	}
}

static void walk_all(const struct ct_tsdl *tsdl)
{
	unsigned left = 100000;

	if (tsdl->packet_header != NULL)
		walk(tsdl->packet_header, 1, &left);
	for (size_t i = 0; i < tsdl->stream_count; i++) {
		const struct ct_tsdl_stream *stream = &tsdl->streams[i];
		const struct ct_tsdl_type *const types[] = { stream->packet_context, stream->event_header, stream->event_context };

		for (size_t j = 0; j < CT_COUNT(types); j++)
			if (types[j] != NULL)
				walk(types[j], 1, &left);
		require(ct_tsdl_stream(tsdl, stream->id) != NULL);
	}
	for (size_t i = 0; i < tsdl->event_count; i++) {
		const struct ct_tsdl_event *event = &tsdl->events[i];

		if (event->fields != NULL)
			walk(event->fields, 1, &left);
		if (event->context != NULL)
			walk(event->context, 1, &left);
		require(ct_tsdl_event(tsdl, event->stream_id, event->id) != NULL);
	}
}

static void complain(const struct ct_complaint *complaint, void *user)
{
	(void)user;
	require(complaint->line >= 1 && complaint->column >= 1 && complaint->message[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_tsdl *tsdl = NULL;
	const char *message;
	struct ct_buf text;
	enum ctrace_status status;

	ct_buf_init(&text);
	status = ct_tsdl_text((const char *)data, size, &text, &message);
	require((status == CTRACE_OK) == (message == NULL));
	if (status == CTRACE_OK || status == CTRACE_DAMAGED) {
		/* A block of exactly its size, so that a memory checker sees the first byte read past it. */
		char *exact = malloc(text.size + (text.size == 0));

		require(exact != NULL);
		if (text.size > 0)
			memcpy(exact, text.data, text.size);
		if (ct_tsdl_parse(exact, text.size, complain, NULL, &tsdl) == CTRACE_OK)
			walk_all(tsdl);
		free(exact);
	}
	ct_tsdl_destroy(tsdl);
	ct_buf_fini(&text);
	return 0;
}
