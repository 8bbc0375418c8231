/*
 * tsdl_types.c - types in the metadata of a trace, and the names given to them.
 *
 * Called by tsdl.c, and by the compound types for the types inside them, on one thread.  A type is
 * complete before its name is declared, so no type can contain itself.  The depth of the parser is
 * bounded.
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
		return ct_tsdl_struct(parser);
	if (ct_tsdl_accept(parser, "variant"))
		return ct_tsdl_variant(parser);
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

bool ct_tsdl_is_declaration(const struct ct_tsdl_parser *parser)
{
	static const char *const words[] = { "typealias", "typedef", "struct", "variant", "enum" };

	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (ct_tsdl_scan_is(&parser->scan, words[i]))
			return true;
	return false;
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
		whole = ct_tsdl_brackets(parser, type);
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
