/*
 * catalog_yaml.c - builds a tree with positions from libyaml's events.
 *
 * Called by catalog_load.c, on the thread that reads a catalogue.  The text may be hostile: depth,
 * nodes and anchors are bounded.  An alias is a reference, never a copy; an alias inside its own
 * anchor is refused, so the tree is finite.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct anchor {
	const char *name;
	const struct ct_yaml *node;
};

/* A list or map whose end has not been read. */
struct open_node {
	struct ct_yaml *node;
	const char *anchor; /* NULL: none */
};

struct reading {
	struct ct_arena *texts;
	struct ct_arena *nodes;
	struct ct_yaml *first_document;
	struct ct_yaml **next_document; /* the link for the next document */
	struct open_node open[CT_CATALOG_DEPTH];
	uint32_t depth;
	uint32_t node_count;
	struct anchor anchors[CT_CATALOG_ANCHORS]; /* of this document */
	uint32_t anchor_count;
	struct ct_yaml *document; /* the document whose end has not been read */
	enum ctrace_status status;
	struct ct_yaml_error *error;
};

/* ---- errors ---- */

static struct ct_yaml_place mark_place(const yaml_mark_t *mark)
{
	return (struct ct_yaml_place){ (uint32_t)mark->line, (uint32_t)mark->column };
}

static void reading_fail(struct reading *reading, struct ct_yaml_place place, const char *expected,
			 const char *what, struct ct_span word)
{
	struct ct_buf message;

	ct_buf_init(&message);
	if (word.at != NULL) {
		ct_span_quote(&message, word, CT_WORD_SHOWN);
		ct_buf_add_char(&message, ' ');
	}
	ct_buf_add_text(&message, what);
	(void)snprintf(reading->error->message, sizeof reading->error->message, "%s",
		       ct_buf_text(&message));
	ct_buf_fini(&message);
	reading->error->place = place;
	reading->error->expected = expected;
	reading->status = CTRACE_DAMAGED;
}

static void reading_fail_at(struct reading *reading, const yaml_event_t *event,
			    const char *expected, const char *what)
{
	reading_fail(reading, mark_place(&event->start_mark), expected, what,
		     (struct ct_span){ 0 });
}

static const char *problem_hint(const char *problem)
{
	static const struct {
		const char *part;
		const char *expected;
	} hints[] = {
		{ "mapping values are not allowed",
		  "a key's own line, or quotation marks around a text that has a colon and a blank in it" },
		{ "did not find expected key", "a key under the first letter of the key above it" },
		{ "did not find expected '-'", "\"- \" under the one above it" },
		{ "could not find expected ':'", "a colon and a blank behind the key" },
		{ "tab character", "blanks, not tabs" },
		{ "cannot start any token",
		  "blanks, not tabs; and quotation marks around a text that begins with a mark" },
		{ "did not find expected ','", "a comma, or the closing bracket" },
		{ "did not find expected node content", "a value, or the closing bracket" },
		{ "unexpected end of stream", "the closing quotation mark or bracket" },
		{ "UTF-8", "UTF-8" },
		{ "control characters", "printable characters" },
	};

	for (size_t i = 0; i < CT_COUNT(hints); i++)
		if (strstr(problem, hints[i].part) != NULL)
			return hints[i].expected;
	return "YAML, as man 5 ctrace-catalog shows it";
}

size_t ct_yaml_break(const char *at, const char *end)
{
	size_t left = (size_t)(end - at);

	if (left == 0)
		return 0;
	if (at[0] == '\r')
		return left > 1 && at[1] == '\n' ? 2 : 1;
	if (at[0] == '\n')
		return 1;
	if (left > 1 && memcmp(at, "\xC2\x85", 2) == 0)
		return 2;
	return left > 2 && (memcmp(at, "\xE2\x80\xA8", 3) == 0 ||
			    memcmp(at, "\xE2\x80\xA9", 3) == 0)
		       ? 3
		       : 0;
}

static struct ct_yaml_place offset_place(const char *text, size_t size, size_t offset)
{
	struct ct_yaml_place place = { 0, 0 };
	const char *end = text + size;
	const char *stop = text + (offset < size ? offset : size);

	while (text < stop) {
		size_t taken = ct_yaml_break(text, end);

		if (taken != 0) {
			place = (struct ct_yaml_place){ place.line + 1, 0 };
			text += taken;
		} else {
			place.column += ((unsigned char)*text & 0xC0) != 0x80;
			text++;
		}
	}
	return place;
}

/* Returns the position of a problem: the beginning of an unclosed text, since the end of the text
 * would not help. */
static struct ct_yaml_place problem_place(const yaml_parser_t *parser, const char *text,
					  size_t size)
{
	if (parser->error == YAML_READER_ERROR)
		return offset_place(text, size, parser->problem_offset);
	if (parser->context != NULL && parser->problem != NULL &&
	    strstr(parser->problem, "end of stream") != NULL)
		return mark_place(&parser->context_mark);
	return mark_place(&parser->problem_mark);
}

static void reading_fail_by_parser(struct reading *reading, const yaml_parser_t *parser,
				   const char *text, size_t size)
{
	struct ct_yaml_place place;
	char what[160];
	char where[50] = "";

	if (parser->error == YAML_MEMORY_ERROR) {
		ct_memory_note_lack();
		reading->status = CTRACE_NOT_ENOUGH_MEMORY;
		return;
	}
	place = problem_place(parser, text, size);
	if (parser->context != NULL && parser->context_mark.line < place.line)
		(void)snprintf(where, sizeof where, ", in what begins on line %zu",
			       parser->context_mark.line + 1);
	(void)snprintf(what, sizeof what, "this is not YAML: %.90s%s",
		       parser->problem != NULL ? parser->problem : "it cannot be read", where);
	reading_fail(reading, place, problem_hint(what), what, (struct ct_span){ 0 });
}

/* ---- the tree ---- */

static const char *text_keep(struct reading *reading, const char *text, size_t size)
{
	char *kept = ct_arena_take(reading->texts, size + 1);

	if (kept == NULL)
		reading->status = CTRACE_NOT_ENOUGH_MEMORY;
	else if (size != 0)
		memcpy(kept, text, size);
	return kept;
}

/* Adds a node as last child of the open node, or as the document.  Returns NULL, and sets the
 * status, on failure. */
static struct ct_yaml *node_add(struct reading *reading, const yaml_event_t *event,
				enum ct_yaml_kind kind)
{
	struct ct_yaml *parent =
		reading->depth != 0 ? reading->open[reading->depth - 1].node : NULL;
	struct ct_yaml *node;

	if (++reading->node_count > CT_CATALOG_NODES) {
		reading_fail_at(reading, event, "at most 262,144 keys and values in a file",
				"there is too much in this file");
		return NULL;
	}
	node = ct_arena_take(reading->nodes, sizeof *node);
	if (node == NULL) {
		reading->status = CTRACE_NOT_ENOUGH_MEMORY;
		return NULL;
	}
	node->kind = kind;
	node->place = mark_place(&event->start_mark);
	if (parent == NULL) {
		reading->document = node;
		return node;
	}
	if (parent->first == NULL)
		parent->first = node;
	else
		parent->last->next = node;
	parent->last = node;
	parent->count++;
	return node;
}

/* Lets aliases refer to the node.  It is complete, so it cannot contain itself. */
static void anchor_add(struct reading *reading, const struct ct_yaml *node, const char *name)
{
	if (name == NULL)
		return;
	if (reading->anchor_count == CT_CATALOG_ANCHORS) {
		reading_fail(reading, node->place, "at most 256 anchors in a document",
			     "there are too many anchors", (struct ct_span){ 0 });
		return;
	}
	reading->anchors[reading->anchor_count++] = (struct anchor){ name, node };
}

static const char *anchor_keep(struct reading *reading, const yaml_char_t *name)
{
	return name != NULL ? text_keep(reading, (const char *)name, strlen((const char *)name))
			    : NULL;
}

static void reading_take_scalar(struct reading *reading, const yaml_event_t *event)
{
	struct ct_yaml *node = node_add(reading, event, CT_YAML_SCALAR);

	if (node == NULL)
		return;
	node->count = (uint32_t)event->data.scalar.length;
	node->text = text_keep(reading, (const char *)event->data.scalar.value,
			       event->data.scalar.length);
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	anchor_add(reading, node, anchor_keep(reading, event->data.scalar.anchor));
}

static void reading_take_alias(struct reading *reading, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct ct_yaml *node = node_add(reading, event, CT_YAML_ALIAS);

	if (node == NULL)
		return;
	for (uint32_t i = reading->anchor_count; i-- > 0;) {
		if (strcmp(reading->anchors[i].name, name) == 0) {
			node->target = reading->anchors[i].node;
			return;
		}
	}
	reading_fail(reading, node->place,
		     "an anchor (&name) before the alias, on something that ends before it",
		     "is no anchor's name", (struct ct_span){ name, strlen(name) });
}

static void node_begin(struct reading *reading, const yaml_event_t *event, enum ct_yaml_kind kind,
		       const yaml_char_t *anchor)
{
	struct ct_yaml *node = node_add(reading, event, kind);

	if (node == NULL)
		return;
	if (reading->depth == CT_CATALOG_DEPTH) {
		reading_fail_at(reading, event, "at most 16 lists and maps in each other",
				"this is too deep");
		return;
	}
	reading->open[reading->depth++] = (struct open_node){ node, anchor_keep(reading, anchor) };
}

static void node_end(struct reading *reading)
{
	struct open_node *open = &reading->open[--reading->depth];

	anchor_add(reading, open->node, open->anchor);
}

static void document_end(struct reading *reading)
{
	if (reading->document == NULL)
		return;
	*reading->next_document = reading->document;
	reading->next_document = &reading->document->next;
	reading->document = NULL;
	reading->anchor_count = 0;
}

static void reading_take_event(struct reading *reading, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		reading_take_scalar(reading, event);
		break;
	case YAML_ALIAS_EVENT:
		reading_take_alias(reading, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		node_begin(reading, event, CT_YAML_LIST, event->data.sequence_start.anchor);
		break;
	case YAML_MAPPING_START_EVENT:
		node_begin(reading, event, CT_YAML_MAP, event->data.mapping_start.anchor);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		node_end(reading);
		break;
	case YAML_DOCUMENT_END_EVENT:
		document_end(reading);
		break;
	default:
		break;
	}
}

static void reading_run(struct reading *reading, yaml_parser_t *parser, const char *text,
			size_t size)
{
	bool is_done = false;

	while (!is_done && reading->status == CTRACE_OK) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event)) {
			reading_fail_by_parser(reading, parser, text, size);
			return;
		}
		is_done = event.type == YAML_STREAM_END_EVENT;
		reading_take_event(reading, &event);
		yaml_event_delete(&event);
	}
}

enum ctrace_status ct_yaml_parse(const char *text, size_t size, struct ct_arena *texts,
				 struct ct_arena *nodes, struct ct_yaml **out_documents,
				 struct ct_yaml_error *out_error)
{
	struct reading *reading = ct_arena_take(nodes, sizeof *reading);
	yaml_parser_t parser;

	*out_error = (struct ct_yaml_error){ 0 };
	*out_documents = NULL;
	if (reading == NULL || !yaml_parser_initialize(&parser)) {
		ct_memory_note_lack();
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	reading->texts = texts;
	reading->nodes = nodes;
	reading->next_document = &reading->first_document;
	reading->error = out_error;
	/* otherwise a byte order mark chooses another */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	reading_run(reading, &parser, text, size);
	yaml_parser_delete(&parser);
	*out_documents = reading->first_document;
	return reading->status;
}
