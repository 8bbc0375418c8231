/*
 * fuzz_tsdl.c - the metadata of a trace, any bytes: what was understood holds together, and is no
 * deeper than it may be.  What was understood of a BINFILE trace's survives being printed and
 * parsed again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/binfile_metadata.h"
#include "format/tsdl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The types in a type are each looked at once on a way: a text can make one way of many, so only so
 * many are gone. */
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
			require(type->fields[i].name != NULL &&
				type->fields[i].type->depth < type->depth);
			walk(type->fields[i].type, depth + 1, left);
		}
	}
	if (type->kind == CT_TSDL_ARRAY || type->kind == CT_TSDL_SEQUENCE) {
		require(type->kind == CT_TSDL_ARRAY ||
			(type->reference != NULL && type->reference->count > 0));
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
		const struct ct_tsdl_type *const types[] = { stream->packet_context,
							     stream->event_header,
							     stream->event_context };

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

static void diagnose(const struct ct_diagnostic *diagnostic, struct ct_span piece, void *user)
{
	const struct ct_span *text = user;

	require(diagnostic->line >= 1 && diagnostic->column >= 1 && diagnostic->message[0] != '\0');
	require(text->size == 0 ||
		(piece.at >= text->at && piece.at + piece.size <= text->at + text->size));
}

static void take_damage(size_t at, size_t size, void *user)
{
	size_t *text_size = user;

	require(text_size != NULL && at <= *text_size && size <= *text_size - at);
}

static void print_and_parse_again(const struct ct_schema *schema, const struct ct_trace_info *info)
{
	struct ct_schema *again;
	struct ct_trace_info info_again;
	struct ct_buf text = { 0 };
	size_t at;

	if (ct_schema_create(&again) != CTRACE_OK)
		return;
	ct_schema_print_trace(&text, info);
	for (uint32_t i = 1; i < ct_schema_count(schema); i++)
		ct_schema_print_class(&text, ct_schema_at(schema, i));
	if (!text.failed) {
		require(ct_binfile_info_parse(text.data, text.size, &info_again, &at) == CTRACE_OK);
		require(memcmp(&info_again, info, sizeof info_again) == 0);
		require(ct_binfile_classes_parse(again, (struct ct_span){ text.data, text.size },
						 at, take_damage, NULL) == CTRACE_OK);
		require(ct_schema_count(again) == ct_schema_count(schema));
	}
	ct_buf_fini(&text);
	ct_schema_destroy(again);
}

/* text: in a block of exactly its size. */
static void parse_own(const char *text, size_t size)
{
	struct ct_trace_info info;
	struct ct_schema *schema;
	size_t at = SIZE_MAX;

	memset(&info, 0, sizeof info);
	if (ct_binfile_info_parse(text, size, &info, &at) == CTRACE_OK &&
	    ct_schema_create(&schema) == CTRACE_OK) {
		require(ct_binfile_classes_parse(schema, (struct ct_span){ text, size }, at,
						 take_damage, &size) == CTRACE_OK);
		print_and_parse_again(schema, &info);
		ct_schema_destroy(schema);
	}
	require(at <= size);
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
		/* A block of exactly its size, so that a memory checker sees the first byte read
		 * past it. */
		char *exact = malloc(text.size + (text.size == 0));

		require(exact != NULL);
		if (text.size > 0)
			memcpy(exact, text.data, text.size);
		if (ct_tsdl_parse(exact, text.size, diagnose, &(struct ct_span){ exact, text.size },
				  &tsdl) == CTRACE_OK)
			walk_all(tsdl);
		parse_own(exact, text.size);
		free(exact);
	}
	ct_tsdl_destroy(tsdl);
	ct_buf_fini(&text);
	return 0;
}
