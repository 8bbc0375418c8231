/*
 * tsdl_compound.c - types that are made of others in the metadata of a trace: arrays, sequences,
 * structs, variants.
 *
 * Called by tsdl_types.c, on one thread.  The depth of nesting is bounded here, once, for all code
 * that walks through types.  A length or a tag is only a reference here: each event has its own
 * value.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include <string.h>

/* Notes the nesting of a type inside another. */
static bool type_deepen(struct ct_tsdl_parser *parser, struct ct_tsdl_type *outer,
			const struct ct_tsdl_type *inner)
{
	if (inner->depth >= CT_TSDL_DEPTH)
		return ct_tsdl_fail(parser, "", "types stand more than %u deep in each other",
				    CT_TSDL_DEPTH);
	if (outer->depth <= inner->depth)
		outer->depth = (uint16_t)(inner->depth + 1);
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * References: length, a.b.c, stream.event.header.id
 */

static const struct {
	enum ct_tsdl_scope scope;
	const char *words[4];
} scopes[] = {
	{ CT_SCOPE_PACKET_HEADER, { "trace", "packet", "header" } },
	{ CT_SCOPE_PACKET_CONTEXT, { "stream", "packet", "context" } },
	{ CT_SCOPE_EVENT_HEADER, { "stream", "event", "header" } },
	{ CT_SCOPE_STREAM_EVENT_CONTEXT, { "stream", "event", "context" } },
	{ CT_SCOPE_EVENT_CONTEXT, { "event", "context" } },
	{ CT_SCOPE_EVENT_FIELDS, { "event", "fields" } },
};

/* Returns the scope whose full name begins the path, and the number of names in that. */
static enum ct_tsdl_scope path_find_scope(struct ct_tsdl_name *const *path, size_t count,
					  size_t *out_used)
{
	for (size_t i = 0; i < CT_COUNT(scopes); i++) {
		size_t used = 0;

		while (used < count && scopes[i].words[used] != NULL &&
		       strcmp(scopes[i].words[used], path[used]->text) == 0)
			used++;
		if (used < count && scopes[i].words[used] == NULL) {
			*out_used = used;
			return scopes[i].scope;
		}
	}
	*out_used = 0;
	return CT_SCOPE_RELATIVE;
}

static const struct ct_tsdl_reference *reference_finish(struct ct_tsdl_parser *parser, size_t from)
{
	struct ct_tsdl_reference *reference = ct_tsdl_take(parser, sizeof *reference);
	size_t count = parser->path.count - from, used;
	struct ct_tsdl_name **path =
		ct_tsdl_pop(parser, &parser->path, from, sizeof(struct ct_tsdl_name *));

	if (reference == NULL || path == NULL)
		return NULL;
	reference->scope = path_find_scope(path, count, &used);
	reference->count = (uint32_t)(count - used);
	reference->path = (const struct ct_tsdl_name *const *)(path + used);
	path[count - 1]->is_referenced = true;
	return reference;
}

static const struct ct_tsdl_reference *parse_reference(struct ct_tsdl_parser *parser)
{
	size_t from = parser->path.count;

	do {
		struct ct_tsdl_name *name;

		if (parser->scan.token != CT_TOKEN_WORD) {
			(void)ct_tsdl_fail(parser, "the name of a field", "a name is missing");
			return NULL;
		}
		name = ct_tsdl_name(parser, parser->scan.start, parser->scan.length);
		if (name == NULL ||
		    !ct_tsdl_push(parser, &parser->path, &name, sizeof(struct ct_tsdl_name *)))
			return NULL;
		ct_tsdl_scan_next(&parser->scan);
		if (parser->path.count - from > CT_TSDL_DEPTH) {
			(void)ct_tsdl_fail(parser, "",
					   "types stand more than %u deep in each other",
					   CT_TSDL_DEPTH);
			return NULL;
		}
	} while (ct_tsdl_accept(parser, "."));
	return reference_finish(parser, from);
}

/* -----------------------------------------------------------------------------------------------
 * Arrays and sequences: the brackets behind a name */

static struct ct_tsdl_type *parse_bracket(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = ct_tsdl_type_new(parser, CT_TSDL_ARRAY);

	if (type == NULL)
		return NULL;
	if (parser->scan.token == CT_TOKEN_NUMBER) {
		type->length = parser->scan.number;
		ct_tsdl_scan_next(&parser->scan);
	} else {
		type->kind = CT_TSDL_SEQUENCE;
		type->reference = parse_reference(parser);
		if (type->reference == NULL)
			return NULL;
	}
	return ct_tsdl_expect(parser, "]") ? type : NULL;
}

const struct ct_tsdl_type *ct_tsdl_brackets(struct ct_tsdl_parser *parser,
					    const struct ct_tsdl_type *element)
{
	const struct ct_tsdl_type *whole = element;
	struct ct_tsdl_type *type;

	if (!ct_tsdl_accept(parser, "["))
		return element;
	type = parse_bracket(parser);
	if (type == NULL)
		return NULL;
	if (++parser->depth > CT_TSDL_DEPTH) {
		(void)ct_tsdl_fail(parser, "", "types stand more than %u deep in each other",
				   CT_TSDL_DEPTH);
		return NULL;
	}
	whole = ct_tsdl_brackets(parser, element);
	parser->depth--;
	if (whole == NULL || !type_deepen(parser, type, whole))
		return NULL;
	type->element = whole;
	type->align = whole->align;
	type->may_be_empty =
		type->kind == CT_TSDL_SEQUENCE || type->length == 0 || whole->may_be_empty;
	return type;
}

/* -----------------------------------------------------------------------------------------------
 * Structs and variants
 */

static bool parse_field(struct ct_tsdl_parser *parser, const struct ct_tsdl_type *type)
{
	struct ct_tsdl_field field = { .type = type };

	if (parser->scan.token != CT_TOKEN_WORD)
		return ct_tsdl_fail(parser, "the name of a field", "a name is missing");
	field.name = ct_tsdl_name(parser, parser->scan.start, parser->scan.length);
	ct_tsdl_scan_next(&parser->scan);
	if (field.name == NULL)
		return false;
	field.type = ct_tsdl_brackets(parser, type);
	return field.type != NULL && ct_tsdl_push(parser, &parser->fields, &field, sizeof field);
}

/* TYPE name, name[2];  or a declaration. */
static bool parse_member(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *type;

	if (ct_tsdl_scan_is(&parser->scan, "typealias") ||
	    ct_tsdl_scan_is(&parser->scan, "typedef"))
		return ct_tsdl_declaration(parser);
	type = ct_tsdl_type(parser, true);
	if (type == NULL)
		return false;
	if (ct_tsdl_accept(parser, ";"))
		return true;
	do {
		if (!parse_field(parser, type))
			return false;
	} while (ct_tsdl_accept(parser, ","));
	return ct_tsdl_expect(parser, ";");
}

static void fields_mark_lengths(struct ct_tsdl_field *fields, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i++) {
		const struct ct_tsdl_reference *length = fields[i + 1].type->reference;

		fields[i].is_length = fields[i + 1].type->kind == CT_TSDL_SEQUENCE &&
				      length->scope == CT_SCOPE_RELATIVE && length->count == 1 &&
				      length->path[0] == fields[i].name;
	}
}

/* Computes the properties of the whole from its members. */
static bool type_measure(struct ct_tsdl_parser *parser, struct ct_tsdl_type *type)
{
	bool is_struct = type->kind == CT_TSDL_STRUCT, all = true, any = type->count == 0;

	for (uint32_t i = 0; i < type->count; i++) {
		const struct ct_tsdl_type *member = type->fields[i].type;

		if (!type_deepen(parser, type, member))
			return false;
		if (is_struct && type->align < member->align)
			type->align = member->align;
		all = all && member->may_be_empty;
		any = any || member->may_be_empty;
	}
	type->may_be_empty = is_struct ? all : any;
	return true;
}

static bool parse_members(struct ct_tsdl_parser *parser, struct ct_tsdl_type *type)
{
	size_t from = parser->fields.count;
	unsigned level = parser->level;
	struct ct_tsdl_field *fields;

	ct_tsdl_enter(parser);
	while (!ct_tsdl_accept(parser, "}"))
		if (!parse_member(parser))
			return false;
	ct_tsdl_leave(parser, level);
	type->count = (uint32_t)(parser->fields.count - from);
	fields = ct_tsdl_pop(parser, &parser->fields, from, sizeof *fields);
	if (fields == NULL)
		return false;
	if (type->kind == CT_TSDL_STRUCT)
		fields_mark_lengths(fields, type->count);
	type->fields = fields;
	return type_measure(parser, type);
}

static bool parse_struct_align(struct ct_tsdl_parser *parser, struct ct_tsdl_type *type)
{
	uint32_t align = 1;

	if (!ct_tsdl_accept(parser, "align"))
		return true;
	if (!ct_tsdl_expect(parser, "(") ||
	    !ct_tsdl_type_align(parser, parser->scan.token == CT_TOKEN_NUMBER, parser->scan.number,
				&align))
		return false;
	ct_tsdl_scan_next(&parser->scan);
	if (type->align < align)
		type->align = align;
	return ct_tsdl_expect(parser, ")");
}

const struct ct_tsdl_type *ct_tsdl_struct(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type;
	struct ct_tsdl_name *name;

	if (!ct_tsdl_type_name(parser, &name))
		return NULL;
	if (!ct_tsdl_accept(parser, "{"))
		return ct_tsdl_type_named(parser, CT_SPACE_STRUCT, name);
	type = ct_tsdl_type_new(parser, CT_TSDL_STRUCT);
	if (type == NULL || !parse_members(parser, type) || !parse_struct_align(parser, type) ||
	    !ct_tsdl_type_declare(parser, CT_SPACE_STRUCT, name, type))
		return NULL;
	return type;
}

static bool parse_tag(struct ct_tsdl_parser *parser, const struct ct_tsdl_reference **out_tag)
{
	if (!ct_tsdl_accept(parser, "<"))
		return true;
	*out_tag = parse_reference(parser);
	return *out_tag != NULL && ct_tsdl_expect(parser, ">");
}

const struct ct_tsdl_type *ct_tsdl_variant(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_reference *tag = NULL;
	const struct ct_tsdl_type *declared;
	struct ct_tsdl_type *type;
	struct ct_tsdl_name *name;

	if (!ct_tsdl_type_name(parser, &name) || !parse_tag(parser, &tag))
		return NULL;
	if (ct_tsdl_accept(parser, "{")) {
		type = ct_tsdl_type_new(parser, CT_TSDL_VARIANT);
		if (type == NULL || !parse_members(parser, type))
			return NULL;
		type->reference = tag;
		return ct_tsdl_type_declare(parser, CT_SPACE_VARIANT, name, type) ? type : NULL;
	}
	declared = ct_tsdl_type_named(parser, CT_SPACE_VARIANT, name);
	if (declared == NULL || tag == NULL)
		return declared;
	type = ct_tsdl_type_new(parser, CT_TSDL_VARIANT);
	if (type == NULL)
		return NULL;
	*type = *declared;
	type->reference = tag;
	return type;
}
