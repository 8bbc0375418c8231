/*
 * tsdl_types.c - types in the metadata of a trace, and the names given to them.
 *
 * Called by tsdl.c, on one thread; types of one value are in tsdl_scalar.c.  A type is complete
 * before its name is declared, so no type can contain itself.  The depth of the parser is bounded.
 * The depth of nesting is bounded here, once, for all code that walks through types.  A length or a
 * tag is only a reference: each event has its own value.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * Shared by all kinds of types */

struct ct_tsdl_type *ct_tsdl_type_new(struct ct_tsdl_parser *parser, enum ct_tsdl_kind kind)
{
	struct ct_tsdl_type *type = ct_tsdl_take(parser, sizeof *type);

	if (type == NULL)
		return NULL;
	type->kind = (uint8_t)kind;
	type->align = 1;
	type->depth = 1;
	return type;
}

bool ct_tsdl_type_align(struct ct_tsdl_parser *parser, bool is_number, uint64_t align,
			uint32_t *out_align)
{
	if (!is_number || align == 0 || align > (uint32_t)1 << 30 || (align & (align - 1)) != 0)
		return ct_tsdl_fail(parser, "1, 2, 4, 8 ...", "an alignment is a power of two");
	*out_align = (uint32_t)align;
	return true;
}

bool ct_tsdl_type_declare(struct ct_tsdl_parser *parser, enum ct_tsdl_space space,
			  struct ct_tsdl_name *name, const struct ct_tsdl_type *type)
{
	return type != NULL && (name == NULL || ct_tsdl_declare(parser, space, name, type));
}

bool ct_tsdl_type_name(struct ct_tsdl_parser *parser, struct ct_tsdl_name **out_name)
{
	*out_name = NULL;
	if (parser->scan.token != CT_TOKEN_WORD)
		return !parser->has_failed;
	*out_name = ct_tsdl_name(parser, parser->scan.start, parser->scan.length);
	ct_tsdl_scan_next(&parser->scan);
	return *out_name != NULL;
}

const struct ct_tsdl_type *ct_tsdl_type_named(struct ct_tsdl_parser *parser,
					      enum ct_tsdl_space space,
					      const struct ct_tsdl_name *name)
{
	const struct ct_tsdl_type *type = name != NULL ? ct_tsdl_declared(name, space) : NULL;

	if (type == NULL)
		(void)ct_tsdl_fail(parser, "{", "no such type has been declared");
	return type;
}

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

/* Parses the brackets behind a name: x[2][3] is two arrays of three elements.  Returns the type
 * itself without brackets. */
static const struct ct_tsdl_type *type_take_brackets(struct ct_tsdl_parser *parser,
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
	whole = type_take_brackets(parser, element);
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
	field.type = type_take_brackets(parser, type);
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

static const struct ct_tsdl_type *parse_struct(struct ct_tsdl_parser *parser)
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

/* variant <tag> { ... }, variant name { ... } (gets its tag where it is used), variant name
 * <tag>. */
static const struct ct_tsdl_type *parse_variant(struct ct_tsdl_parser *parser)
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

/* -----------------------------------------------------------------------------------------------
 * Types and their names
 */

/* Parses the words of a type's name: "unsigned long", "void *". has_name: the last word is the name
 * of a field, and not part of it. */
static struct ct_tsdl_name *alias_name(struct ct_tsdl_parser *parser, bool has_name)
{
	char words[256];
	size_t size = 0;

	while (parser->scan.token == CT_TOKEN_WORD ||
	       (size > 0 && ct_tsdl_scan_is(&parser->scan, "*"))) {
		if (has_name && size > 0 && parser->scan.token == CT_TOKEN_WORD) {
			struct ct_tsdl_scan ahead = parser->scan;

			ct_tsdl_scan_next(&ahead);
			if (ahead.token != CT_TOKEN_WORD && !ct_tsdl_scan_is(&ahead, "*"))
				break;
		}
		if (parser->scan.length + 1 >= sizeof words - size) {
			(void)ct_tsdl_fail(parser, "", "the name is too long");
			return NULL;
		}
		if (size > 0)
			words[size++] = ' ';
		memcpy(words + size, parser->scan.start, parser->scan.length);
		size += parser->scan.length;
		ct_tsdl_scan_next(&parser->scan);
	}
	if (size == 0) {
		(void)ct_tsdl_fail(parser, "a type", "a type is missing");
		return NULL;
	}
	return ct_tsdl_name(parser, words, size);
}

static const struct ct_tsdl_type *parse_alias(struct ct_tsdl_parser *parser, bool has_name)
{
	struct ct_tsdl_scan start = parser->scan;
	struct ct_tsdl_name *name = alias_name(parser, has_name);
	const struct ct_tsdl_type *type =
		name != NULL ? ct_tsdl_declared(name, CT_SPACE_ALIAS) : NULL;
	struct ct_buf shown = { 0 };

	if (name == NULL || type != NULL)
		return type;
	parser->scan = start;
	ct_span_quote(&shown, (struct ct_span){ name->text, name->size }, CT_WORD_SHOWN);
	(void)ct_tsdl_fail(parser, "a type", "the type %s is not known", ct_buf_text(&shown));
	ct_buf_fini(&shown);
	return NULL;
}

static const struct ct_tsdl_type *parse_type(struct ct_tsdl_parser *parser, bool has_name)
{
	if (ct_tsdl_accept(parser, "integer"))
		return ct_tsdl_integer(parser);
	if (ct_tsdl_accept(parser, "floating_point"))
		return ct_tsdl_float(parser);
	if (ct_tsdl_accept(parser, "string"))
		return ct_tsdl_string(parser);
	if (ct_tsdl_accept(parser, "enum"))
		return ct_tsdl_enum(parser);
	if (ct_tsdl_accept(parser, "struct"))
		return parse_struct(parser);
	if (ct_tsdl_accept(parser, "variant"))
		return parse_variant(parser);
	return parse_alias(parser, has_name);
}

const struct ct_tsdl_type *ct_tsdl_type(struct ct_tsdl_parser *parser, bool has_name)
{
	const struct ct_tsdl_type *type = NULL;

	if (parser->has_failed)
		return NULL;
	if (parser->depth == CT_TSDL_DEPTH) {
		(void)ct_tsdl_fail(parser, "", "types stand more than %u deep in each other",
				   CT_TSDL_DEPTH);
		return NULL;
	}
	parser->depth++;
	type = parse_type(parser, has_name);
	parser->depth--;
	return parser->has_failed ? NULL : type;
}

/* typedef TYPE name, name[2]; */
static bool parse_typedef(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *type = ct_tsdl_type(parser, true);

	if (type == NULL)
		return false;
	do {
		struct ct_tsdl_name *name =
			parser->scan.token == CT_TOKEN_WORD
				? ct_tsdl_name(parser, parser->scan.start, parser->scan.length)
				: NULL;
		const struct ct_tsdl_type *whole;

		if (name == NULL)
			return ct_tsdl_fail(parser, "a name", "a name is missing");
		ct_tsdl_scan_next(&parser->scan);
		whole = type_take_brackets(parser, type);
		if (whole == NULL || !ct_tsdl_declare(parser, CT_SPACE_ALIAS, name, whole))
			return false;
	} while (ct_tsdl_accept(parser, ","));
	return ct_tsdl_expect(parser, ";");
}

/* typealias TYPE := name of several words; */
static bool parse_typealias(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *type = ct_tsdl_type(parser, false);
	struct ct_tsdl_type *copy = ct_tsdl_take(parser, sizeof *copy);
	struct ct_tsdl_name *name;

	if (type == NULL || copy == NULL || !ct_tsdl_expect(parser, ":="))
		return false;
	name = alias_name(parser, false);
	*copy = *type;
	copy->alias = name;
	return name != NULL && ct_tsdl_declare(parser, CT_SPACE_ALIAS, name, copy) &&
	       ct_tsdl_expect(parser, ";");
}

bool ct_tsdl_declaration(struct ct_tsdl_parser *parser)
{
	if (ct_tsdl_accept(parser, "typealias"))
		return parse_typealias(parser);
	if (ct_tsdl_accept(parser, "typedef"))
		return parse_typedef(parser);
	return ct_tsdl_type(parser, false) != NULL && ct_tsdl_expect(parser, ";");
}
