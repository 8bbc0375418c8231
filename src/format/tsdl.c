/*
 * tsdl.c - the metadata of a trace: its trace, env, clock, stream and event blocks.
 *
 * Called by third_party_trace.c and binfile_metadata.c, on one thread.  From the first event on, a
 * block that is not understood gets a diagnostic and is skipped.  Before it, an error makes the
 * whole trace unreadable, because no event can be found without that part.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include "format/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A block being read; its settings go to the member that is not NULL. */
struct block {
	struct ct_tsdl_clock *clock;
	struct ct_tsdl_stream *stream;
	struct ct_tsdl_event *event;
	bool is_trace, is_env;
	uint64_t major, minor;
};

/* -----------------------------------------------------------------------------------------------
 * Settings
 */

static bool set_trace(struct ct_tsdl_parser *parser, struct block *block,
		      const struct ct_tsdl_setting *setting)
{
	struct ct_tsdl *tsdl = parser->tsdl;
	uint8_t order;

	if (strcmp(setting->name, "major") == 0) {
		block->major = setting->number;
	} else if (strcmp(setting->name, "minor") == 0) {
		block->minor = setting->number;
	} else if (strcmp(setting->name, "uuid") == 0) {
		const char *end = setting->text != NULL
					  ? ct_uuid_parse(setting->text->text, tsdl->uuid)
					  : NULL;

		tsdl->has_uuid = end != NULL && *end == '\0';
		return tsdl->has_uuid ||
		       ct_tsdl_fail(parser, "\"01234567-...\"", "this is no UUID");
	} else if (strcmp(setting->name, "byte_order") == 0) {
		if (!ct_tsdl_setting_order(parser, setting, &order))
			return false;
		if (order == CT_ORDER_NATIVE)
			return ct_tsdl_fail(parser, "le or be",
					    "the trace does not say what its native byte order is");
		tsdl->is_big = order == CT_ORDER_BE;
	}
	return true;
}

static bool set_env(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting)
{
	struct ct_tsdl_value *value = ct_tsdl_take(parser, sizeof *value);
	const struct ct_tsdl_name *name =
		ct_tsdl_name(parser, setting->name, strlen(setting->name));

	if (value == NULL || name == NULL)
		return false;
	value->name = name->text;
	value->text = setting->text != NULL ? setting->text->text : NULL;
	value->number = (int64_t)setting->number;
	value->next = parser->tsdl->values;
	parser->tsdl->values = value;
	return true;
}

static bool set_clock(struct ct_tsdl_parser *parser, struct ct_tsdl_clock *clock,
		      const struct ct_tsdl_setting *setting)
{
	if (strcmp(setting->name, "name") == 0) {
		struct ct_tsdl_name *name =
			setting->text != NULL
				? ct_tsdl_name(parser, setting->text->text, setting->text->size)
				: NULL;

		if (name == NULL)
			return ct_tsdl_fail(parser, "a name", "the clock has no name");
		clock->name = name->text;
		name->clock = clock;
	} else if (strcmp(setting->name, "freq") == 0) {
		if (!setting->is_number || setting->is_negative || setting->number == 0)
			return ct_tsdl_fail(parser, "ticks a second",
					    "a clock does not run so fast");
		clock->frequency = setting->number;
	} else if (strcmp(setting->name, "offset_s") == 0) {
		clock->offset_s = (int64_t)setting->number;
	} else if (strcmp(setting->name, "offset") == 0) {
		clock->offset = (int64_t)setting->number;
	}
	return true;
}

static bool set_event(struct ct_tsdl_event *event, const struct ct_tsdl_setting *setting)
{
	if (strcmp(setting->name, "name") == 0) {
		event->name = setting->text != NULL ? setting->text->text : "";
	} else if (strcmp(setting->name, "id") == 0) {
		event->id = setting->number;
	} else if (strcmp(setting->name, "stream_id") == 0) {
		event->stream_id = setting->number;
		event->has_stream_id = true;
	} else if (strcmp(setting->name, "model.emf.uri") == 0) {
		event->uri = setting->text != NULL ? setting->text->text : "";
	} else if (strcmp(setting->name, "loglevel") == 0) {
		event->level = setting->is_number ? (int64_t)setting->number : CT_TSDL_NO_LEVEL;
	}
	return true;
}

static bool block_set(struct ct_tsdl_parser *parser, struct block *block,
		      const struct ct_tsdl_setting *setting)
{
	if (block->is_trace)
		return set_trace(parser, block, setting);
	if (block->is_env)
		return set_env(parser, setting);
	if (block->clock != NULL)
		return set_clock(parser, block->clock, setting);
	if (block->stream != NULL && strcmp(setting->name, "id") == 0)
		block->stream->id = setting->number;
	return block->event == NULL || set_event(block->event, setting);
}

/* NAME := TYPE */
static bool set_type(struct ct_tsdl_parser *parser, struct block *block, const char *name)
{
	const struct ct_tsdl_type *type = ct_tsdl_type(parser, false);
	const struct ct_tsdl_type **place = NULL;

	if (type == NULL)
		return false;
	if (type->kind != CT_TSDL_STRUCT)
		return ct_tsdl_fail(parser, "struct", "this can only be a struct");
	if (block->is_trace && strcmp(name, "packet.header") == 0)
		place = &parser->tsdl->packet_header;
	else if (block->stream != NULL && strcmp(name, "packet.context") == 0)
		place = &block->stream->packet_context;
	else if (block->stream != NULL && strcmp(name, "event.header") == 0)
		place = &block->stream->event_header;
	else if (block->stream != NULL && strcmp(name, "event.context") == 0)
		place = &block->stream->event_context;
	else if (block->event != NULL && strcmp(name, "context") == 0)
		place = &block->event->context;
	else if (block->event != NULL && strcmp(name, "fields") == 0)
		place = &block->event->fields;
	else
		return ct_tsdl_fail(parser, "", "ctrace does not know what \"%.40s\" is", name);
	*place = type;
	return true;
}

static bool token_is_declaration(const struct ct_tsdl_parser *parser)
{
	static const char *const words[] = { "typealias", "typedef", "struct", "variant", "enum" };

	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (ct_tsdl_scan_is(&parser->scan, words[i]))
			return true;
	return false;
}

static bool parse_setting(struct ct_tsdl_parser *parser, struct block *block)
{
	struct ct_tsdl_setting setting;

	if (token_is_declaration(parser))
		return ct_tsdl_declaration(parser);
	if (!ct_tsdl_setting_name(parser, setting.name))
		return false;
	if (ct_tsdl_accept(parser, ":="))
		return set_type(parser, block, setting.name) && ct_tsdl_expect(parser, ";");
	return ct_tsdl_expect(parser, "=") && ct_tsdl_setting_value(parser, &setting) &&
	       block_set(parser, block, &setting) && ct_tsdl_expect(parser, ";");
}

/* { ... }; */
static bool parse_settings(struct ct_tsdl_parser *parser, struct block *block)
{
	unsigned level = parser->level;

	if (!ct_tsdl_expect(parser, "{"))
		return false;
	ct_tsdl_enter(parser);
	while (!ct_tsdl_accept(parser, "}"))
		if (!parse_setting(parser, block))
			return false;
	ct_tsdl_leave(parser, level);
	return ct_tsdl_expect(parser, ";");
}

/* -----------------------------------------------------------------------------------------------
 * Blocks
 */

static bool parse_trace(struct ct_tsdl_parser *parser)
{
	struct block block = { .is_trace = true, .major = 1, .minor = 8 };

	if (!parse_settings(parser, &block))
		return false;
	if (block.major != 1 || block.minor != 8)
		return ct_tsdl_fail(parser, "", "Common Trace Format %llu.%llu; ctrace reads 1.8",
				    (unsigned long long)block.major,
				    (unsigned long long)block.minor);
	return true;
}

static bool parse_env(struct ct_tsdl_parser *parser)
{
	struct block block = { .is_env = true };

	return parse_settings(parser, &block);
}

static bool parse_clock(struct ct_tsdl_parser *parser)
{
	struct block block = { .clock = ct_tsdl_take(parser, sizeof *block.clock) };

	if (block.clock == NULL)
		return false;
	block.clock->name = "";
	block.clock->frequency = 1000000000;
	if (!parse_settings(parser, &block))
		return false;
	parser->clock = block.clock;
	parser->clock_count++;
	return true;
}

static bool parse_stream(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_stream stream = { 0 };
	struct block block = { .stream = &stream };

	return parse_settings(parser, &block) &&
	       ct_tsdl_push(parser, &parser->streams, &stream, sizeof stream);
}

/* Skips from the block's beginning to behind its closing brace and semicolon.  Returns false at the
 * end of the text. */
static bool block_skip(struct ct_tsdl_parser *parser)
{
	unsigned depth = 0;

	do {
		if (parser->scan.token == CT_TOKEN_END)
			return false;
		if (ct_tsdl_scan_is(&parser->scan, "{"))
			depth++;
		else if (ct_tsdl_scan_is(&parser->scan, "}") && depth > 0)
			depth--;
		else if (depth == 0)
			return true;
		ct_tsdl_scan_next(&parser->scan);
	} while (depth > 0);
	(void)ct_tsdl_accept(parser, ";");
	return true;
}

/* Returns the next line that begins an event, or the end of the text. */
static size_t find_event(struct ct_tsdl_parser *parser, const struct ct_tsdl_scan *scan)
{
	static const char line[] = "\nevent {";
	const char *found;

	if (parser->next_event > scan->at)
		return parser->next_event;
	found = memmem(scan->text + scan->at, scan->size - scan->at, line, sizeof line - 1);
	parser->next_event = found != NULL ? (size_t)(found + 1 - scan->text) : scan->size;
	return parser->next_event;
}

/* Undoes the failed block at `start`.  Continues behind the braces of an event, or where a line
 * begins the next event, because a brace may be missing.  Returns false when no brace ends the
 * block. */
static bool block_skip_bad(struct ct_tsdl_parser *parser, const struct ct_tsdl_scan *start)
{
	size_t open_comment = parser->scan.open_comment;
	bool has_ended;

	ct_tsdl_leave(parser, 0);
	parser->depth = 0;
	parser->fields.count = parser->labels.count = parser->path.count = 0;
	parser->has_failed = false;
	parser->scan = *start;
	parser->scan.size = find_event(parser, start);
	has_ended = ct_tsdl_accept(parser, "event") && block_skip(parser);
	while (!has_ended && parser->scan.token != CT_TOKEN_END)
		ct_tsdl_scan_next(&parser->scan);
	parser->scan.size = start->size;
	parser->scan.open_comment = open_comment; /* of the whole text */
	if (parser->scan.token == CT_TOKEN_END || parser->scan.token == CT_TOKEN_BAD)
		ct_tsdl_scan_next(&parser->scan);
	parser->diagnose(&parser->diagnostic, ct_span_of(start->start, parser->scan.start),
			 parser->user);
	return has_ended;
}

static bool event_parse_kind(struct ct_tsdl_parser *parser, struct ct_tsdl_event *event)
{
	if (token_is_declaration(parser))
		return ct_tsdl_declaration(parser);
	if (ct_tsdl_accept(parser, "trace"))
		return parse_trace(parser);
	if (ct_tsdl_accept(parser, "env"))
		return parse_env(parser);
	if (ct_tsdl_accept(parser, "clock"))
		return parse_clock(parser);
	if (ct_tsdl_accept(parser, "stream"))
		return parse_stream(parser);
	if (ct_tsdl_accept(parser, "event"))
		return parse_settings(parser, &(struct block){ .event = event });
	if (ct_tsdl_accept(
		    parser,
		    "callsite")) /* the position in a program of the call that traces an event */
		return block_skip(parser) || ct_tsdl_fail(parser, "}", "the metadata end");
	return ct_tsdl_accept(parser, ";") ||
	       ct_tsdl_fail(
		       parser,
		       "trace, env, clock, stream, event, typealias, typedef, struct, variant or enum",
		       parser->scan.token == CT_TOKEN_BAD
			       ? "this is no text of metadata"
			       : "this begins nothing that metadata say");
}

static bool parse_block(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_event event = { .name = "", .level = CT_TSDL_NO_LEVEL };
	const struct ct_tsdl_scan start = parser->scan;
	bool is_event = ct_tsdl_scan_is(&start, "event");

	parser->has_events |= is_event;
	if (!event_parse_kind(parser, &event)) {
		if (!parser->has_events || parser->has_no_memory)
			return false;
		event.is_unknown = true;
		if (!block_skip_bad(parser, &start) && !event.has_stream_id)
			return true;
	}
	event.block = ct_span_of(start.start, parser->scan.start);
	return !is_event || ct_tsdl_push(parser, &parser->events, &event, sizeof event);
}

/* -----------------------------------------------------------------------------------------------
 * In order
 */

static int compare_streams(const void *a, const void *b)
{
	const struct ct_tsdl_stream *one = a, *other = b;

	return one->id < other->id ? -1 : one->id > other->id;
}

static int compare_events(const void *a, const void *b)
{
	const struct ct_tsdl_event *one = a, *other = b;

	if (one->stream_id != other->stream_id)
		return one->stream_id < other->stream_id ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

static bool tsdl_finish(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl *tsdl = parser->tsdl;

	if (parser->streams.count == 0 &&
	    !ct_tsdl_push(parser, &parser->streams, &(struct ct_tsdl_stream){ 0 },
			  sizeof(struct ct_tsdl_stream)))
		return false;
	tsdl->stream_count = parser->streams.count;
	tsdl->event_count = parser->events.count;
	tsdl->streams = ct_tsdl_pop(parser, &parser->streams, 0, sizeof *tsdl->streams);
	tsdl->events = ct_tsdl_pop(parser, &parser->events, 0, sizeof *tsdl->events);
	if (tsdl->streams == NULL || tsdl->events == NULL)
		return false;
	qsort(tsdl->streams, tsdl->stream_count, sizeof *tsdl->streams, compare_streams);
	for (size_t i = 0; i < tsdl->stream_count; i++)
		tsdl->streams[i].index = (uint32_t)i;
	for (size_t i = 0; i < tsdl->event_count; i++)
		if (!tsdl->events[i].has_stream_id)
			tsdl->events[i].stream_id = tsdl->streams[0].id;
	qsort(tsdl->events, tsdl->event_count, sizeof *tsdl->events, compare_events);
	for (size_t i = 0; i < tsdl->event_count; i++)
		tsdl->events[i].index = (uint32_t)i;
	tsdl->clock = parser->clock_count == 1 ? parser->clock : NULL;
	return true;
}

static void parser_fini(struct ct_tsdl_parser *parser)
{
	ct_hash_table_fini(&parser->table);
	free(parser->names);
	free(parser->fields.data);
	free(parser->labels.data);
	free(parser->path.data);
	free(parser->streams.data);
	free(parser->events.data);
}

enum ctrace_status ct_tsdl_parse(const char *text, size_t size, ct_tsdl_diagnose *diagnose,
				 void *user, struct ct_tsdl **out_tsdl)
{
	struct ct_tsdl_parser parser = { .tsdl = calloc(1, sizeof *parser.tsdl),
					 .diagnose = diagnose,
					 .user = user };
	enum ctrace_status status = CTRACE_OK;

	if (parser.tsdl == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	(void)!getrandom(parser.key, sizeof parser.key, GRND_NONBLOCK);
	ct_tsdl_scan_begin(&parser.scan, text, size);
	while (!parser.has_failed && parser.scan.token != CT_TOKEN_END)
		(void)parse_block(&parser);
	if (parser.has_failed || !tsdl_finish(&parser)) {
		diagnose(&parser.diagnostic, ct_span_of(parser.scan.start, parser.scan.text + size),
			 user);
		status = CTRACE_UNSUPPORTED;
	}
	parser_fini(&parser);
	if (status == CTRACE_OK)
		*out_tsdl = parser.tsdl;
	else
		ct_tsdl_destroy(parser.tsdl);
	return status;
}

void ct_tsdl_destroy(struct ct_tsdl *tsdl)
{
	if (tsdl == NULL)
		return;
	ct_arena_fini(&tsdl->arena);
	free(tsdl);
}

/* -----------------------------------------------------------------------------------------------
 * Looking into it
 */

const struct ct_tsdl_stream *ct_tsdl_stream(const struct ct_tsdl *tsdl, uint64_t id)
{
	const struct ct_tsdl_stream key = { .id = id };

	return bsearch(&key, tsdl->streams, tsdl->stream_count, sizeof key, compare_streams);
}

const struct ct_tsdl_event *ct_tsdl_event(const struct ct_tsdl *tsdl, uint64_t stream_id,
					  uint64_t id)
{
	const struct ct_tsdl_event key = { .stream_id = stream_id, .id = id };

	return bsearch(&key, tsdl->events, tsdl->event_count, sizeof key, compare_events);
}

static const struct ct_tsdl_value *find_value(const struct ct_tsdl *tsdl, const char *name)
{
	const struct ct_tsdl_value *value = tsdl->values;

	while (value != NULL && strcmp(value->name, name) != 0)
		value = value->next;
	return value;
}

const char *ct_tsdl_env_text(const struct ct_tsdl *tsdl, const char *name, const char *otherwise)
{
	const struct ct_tsdl_value *value = find_value(tsdl, name);

	return value != NULL && value->text != NULL ? value->text : otherwise;
}

int64_t ct_tsdl_env_number(const struct ct_tsdl *tsdl, const char *name, int64_t otherwise)
{
	const struct ct_tsdl_value *value = find_value(tsdl, name);

	return value != NULL && value->text == NULL ? value->number : otherwise;
}
