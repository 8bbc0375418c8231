/*
 * tsdl_types.c - types in the metadata of a foreign trace, and the names that are given to them.
 *
 * Called by tsdl.c, on one thread.  A type is complete before its name is known, so none can hold itself; how deep they stand in each
 * other is bounded here, once, for everybody who walks through them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/tsdl_parse.h"

#include <string.h>

static struct ct_tsdl_type *new_type(struct ct_tsdl_parser *parser, enum ct_tsdl_kind kind)
{
	struct ct_tsdl_type *type = ct_tsdl_take(parser, sizeof *type);

	if (type == NULL)
		return NULL;
	type->kind = (uint8_t)kind;
	type->align = 1;
	type->depth = 1;
	return type;
}

/* The type stands inside the other. */
static bool deepen(struct ct_tsdl_parser *parser, struct ct_tsdl_type *outer, const struct ct_tsdl_type *inner)
{
	if (inner->depth >= CT_TSDL_DEPTH)
		return ct_tsdl_fail(parser, "", "types stand more than %u deep in each other", CT_TSDL_DEPTH);
	if (outer->depth <= inner->depth)
		outer->depth = (uint16_t)(inner->depth + 1);
	return true;
}

static bool check_align(struct ct_tsdl_parser *parser, bool is_number, uint64_t align, uint32_t *out_align)
{
	if (!is_number || align == 0 || align > (uint32_t)1 << 30 || (align & (align - 1)) != 0)
		return ct_tsdl_fail(parser, "1, 2, 4, 8 ...", "an alignment is a power of two");
	*out_align = (uint32_t)align;
	return true;
}

static bool set_flag(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting, bool *out_flag)
{
	const char *text = setting->text != NULL ? setting->text->text : setting->number != 0 ? "true" : "false";

	if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
		return ct_tsdl_fail(parser, "true or false", "this is neither true nor false");
	*out_flag = strcasecmp(text, "true") == 0;
	return true;
}

static bool set_encoding(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting, uint8_t *out_encoding)
{
	const char *text = setting->text != NULL ? setting->text->text : "";

	if (strcasecmp(text, "none") == 0)
		*out_encoding = CT_ENCODED_NOT;
	else if (strcasecmp(text, "UTF8") == 0 || strcasecmp(text, "UTF-8") == 0)
		*out_encoding = CT_ENCODED_UTF8;
	else if (strcasecmp(text, "ASCII") == 0)
		*out_encoding = CT_ENCODED_ASCII;
	else
		return ct_tsdl_fail(parser, "none, UTF8 or ASCII", "this encoding is not known");
	return true;
}

static uint8_t base_of(const struct ct_tsdl_setting *setting)
{
	const char *text = setting->text != NULL ? setting->text->text : "";

	if (setting->is_number)
		return setting->number == 2 || setting->number == 8 || setting->number == 16 ? (uint8_t)setting->number : 10;
	if (strcmp(text, "hexadecimal") == 0 || strcmp(text, "hex") == 0 || strcmp(text, "x") == 0 || strcmp(text, "X") == 0 ||
	    strcmp(text, "p") == 0)
		return 16;
	if (strcmp(text, "octal") == 0 || strcmp(text, "oct") == 0 || strcmp(text, "o") == 0)
		return 8;
	return strcmp(text, "binary") == 0 || strcmp(text, "b") == 0 ? 2 : 10;
}

/* "clock.NAME.value" */
static bool set_clock(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting, const struct ct_tsdl_name **out_clock)
{
	const char *text = setting->text != NULL ? setting->text->text : "";
	const char *end = strrchr(text, '.');

	if (strncmp(text, "clock.", 6) != 0 || end == text + 5 || strcmp(end, ".value") != 0)
		return ct_tsdl_fail(parser, "clock.NAME.value", "what this is mapped to is not known");
	*out_clock = ct_tsdl_name(parser, text + 6, (size_t)(end - text) - 6);
	return *out_clock != NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 * Integers, floating point, strings
 */

static bool set_integer(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting, void *user)
{
	struct ct_tsdl_type *type = user;

	if (strcmp(setting->name, "size") == 0) {
		if (!setting->is_number || setting->number == 0 || setting->number > 64)
			return ct_tsdl_fail(parser, "1 to 64", "ctrace reads no integers of this size");
		type->size = (uint32_t)setting->number;
		return true;
	}
	if (strcmp(setting->name, "align") == 0)
		return check_align(parser, setting->is_number, setting->number, &type->align);
	if (strcmp(setting->name, "signed") == 0)
		return set_flag(parser, setting, &type->is_signed);
	if (strcmp(setting->name, "byte_order") == 0)
		return ct_tsdl_setting_order(parser, setting, &type->order);
	if (strcmp(setting->name, "encoding") == 0)
		return set_encoding(parser, setting, &type->encoding);
	if (strcmp(setting->name, "map") == 0)
		return set_clock(parser, setting, &type->clock);
	if (strcmp(setting->name, "base") == 0)
		type->base = base_of(setting);
	return true;
}

static const struct ct_tsdl_type *parse_integer(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = new_type(parser, CT_TSDL_INTEGER);

	if (type == NULL)
		return NULL;
	type->align = 0;
	type->base = 10;
	if (!ct_tsdl_settings(parser, set_integer, type))
		return NULL;
	if (type->size == 0) {
		(void)ct_tsdl_fail(parser, "size = NUMBER;", "the integer has no size");
		return NULL;
	}
	if (type->align == 0)
		type->align = type->size % 8 == 0 ? 8 : 1;
	return type;
}

struct float_digits {
	struct ct_tsdl_type *type;
	uint64_t exponent, mantissa;
};

static bool set_float(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting, void *user)
{
	struct float_digits *digits = user;

	if (strcmp(setting->name, "exp_dig") == 0)
		digits->exponent = setting->number;
	else if (strcmp(setting->name, "mant_dig") == 0)
		digits->mantissa = setting->number;
	else if (strcmp(setting->name, "align") == 0)
		return check_align(parser, setting->is_number, setting->number, &digits->type->align);
	else if (strcmp(setting->name, "byte_order") == 0)
		return ct_tsdl_setting_order(parser, setting, &digits->type->order);
	return true;
}

static const struct ct_tsdl_type *parse_float(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = new_type(parser, CT_TSDL_FLOAT);
	struct float_digits digits = { .type = type };

	if (type == NULL || !ct_tsdl_settings(parser, set_float, &digits))
		return NULL;
	if (digits.exponent == 8 && digits.mantissa == 24) {
		type->size = 32;
	} else if (digits.exponent == 11 && digits.mantissa == 53) {
		type->size = 64;
	} else {
		(void)ct_tsdl_fail(parser, "8 and 24, or 11 and 53", "ctrace reads no floating point of these numbers of digits");
		return NULL;
	}
	return type;
}

static bool set_string(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting, void *user)
{
	struct ct_tsdl_type *type = user;

	return strcmp(setting->name, "encoding") != 0 || set_encoding(parser, setting, &type->encoding);
}

static const struct ct_tsdl_type *parse_string(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = new_type(parser, CT_TSDL_STRING);

	if (type == NULL)
		return NULL;
	type->align = 8;
	type->encoding = CT_ENCODED_UTF8;
	if (ct_tsdl_scan_is(&parser->scan, "{") && !ct_tsdl_settings(parser, set_string, type))
		return NULL;
	return type;
}

/* ------------------------------------------------------------------------------------------------------------
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

/* The scope that the path begins with by its full name, and how many names that takes. */
static enum ct_tsdl_scope scope_of(struct ct_tsdl_name *const *path, size_t count, size_t *out_used)
{
	for (size_t i = 0; i < CT_COUNT(scopes); i++) {
		size_t used = 0;

		while (used < count && scopes[i].words[used] != NULL && strcmp(scopes[i].words[used], path[used]->text) == 0)
			used++;
		if (used < count && scopes[i].words[used] == NULL) {
			*out_used = used;
			return scopes[i].scope;
		}
	}
	*out_used = 0;
	return CT_SCOPE_RELATIVE;
}

static const struct ct_tsdl_reference *finish_reference(struct ct_tsdl_parser *parser, size_t from)
{
	struct ct_tsdl_reference *reference = ct_tsdl_take(parser, sizeof *reference);
	size_t count = parser->path.count - from, used;
	struct ct_tsdl_name **path = ct_tsdl_pop(parser, &parser->path, from, sizeof(struct ct_tsdl_name *));

	if (reference == NULL || path == NULL)
		return NULL;
	reference->scope = scope_of(path, count, &used);
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
		if (name == NULL || !ct_tsdl_push(parser, &parser->path, &name, sizeof(struct ct_tsdl_name *)))
			return NULL;
		ct_tsdl_scan_next(&parser->scan);
		if (parser->path.count - from > CT_TSDL_DEPTH) {
			(void)ct_tsdl_fail(parser, "", "types stand more than %u deep in each other", CT_TSDL_DEPTH);
			return NULL;
		}
	} while (ct_tsdl_accept(parser, "."));
	return finish_reference(parser, from);
}

/* ------------------------------------------------------------------------------------------------------------
 * Enumerations
 */

static struct ct_tsdl_name *label_name(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_setting setting = { 0 };
	struct ct_tsdl_name *name = NULL;

	if (parser->scan.token == CT_TOKEN_WORD) {
		name = ct_tsdl_name(parser, parser->scan.start, parser->scan.length);
		ct_tsdl_scan_next(&parser->scan);
	} else if (parser->scan.token != CT_TOKEN_STRING) {
		(void)ct_tsdl_fail(parser, "the name of a value", "a name is missing");
	} else if (ct_tsdl_setting_value(parser, &setting)) {
		name = ct_tsdl_name(parser, setting.text->text, setting.text->size);
	}
	return name;
}

static bool parse_label(struct ct_tsdl_parser *parser, uint64_t *next)
{
	struct ct_tsdl_name *name = label_name(parser);
	struct ct_tsdl_label label = { .name = name, .from = *next, .to = *next };
	bool is_negative;

	if (name == NULL)
		return false;
	if (ct_tsdl_accept(parser, "=")) {
		if (!ct_tsdl_number(parser, &is_negative, &label.from))
			return false;
		label.to = label.from;
		if (ct_tsdl_accept(parser, "...") && !ct_tsdl_number(parser, &is_negative, &label.to))
			return false;
	}
	*next = label.to + 1;
	return ct_tsdl_push(parser, &parser->labels, &label, sizeof label);
}

static bool parse_labels(struct ct_tsdl_parser *parser, struct ct_tsdl_type *type)
{
	size_t from = parser->labels.count;
	uint64_t next = 0;

	while (!ct_tsdl_accept(parser, "}")) {
		if (!parse_label(parser, &next))
			return false;
		if (!ct_tsdl_accept(parser, ",") && !ct_tsdl_scan_is(&parser->scan, "}"))
			return ct_tsdl_expect(parser, "}");
	}
	type->count = (uint32_t)(parser->labels.count - from);
	type->labels = ct_tsdl_pop(parser, &parser->labels, from, sizeof(struct ct_tsdl_label));
	return type->labels != NULL;
}

/* The integer behind an enumeration; without one it is an int. */
static const struct ct_tsdl_type *parse_container(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *container = NULL;

	if (ct_tsdl_accept(parser, ":")) {
		container = ct_tsdl_type(parser, false);
	} else {
		struct ct_tsdl_name *name = ct_tsdl_name(parser, "int", 3);

		if (name != NULL)
			container = ct_tsdl_declared(name, CT_SPACE_ALIAS);
	}
	if (container == NULL || container->kind != CT_TSDL_INTEGER) {
		(void)ct_tsdl_fail(parser, "an integer type", "the type of the enumeration is not known");
		return NULL;
	}
	return container;
}

/* A type that has a name is declared under it. */
static bool declare_named(struct ct_tsdl_parser *parser, enum ct_tsdl_space space, struct ct_tsdl_name *name,
			  const struct ct_tsdl_type *type)
{
	return type != NULL && (name == NULL || ct_tsdl_declare(parser, space, name, type));
}

/* The name behind `struct`, `variant` or `enum`, when there is one.  False without memory. */
static bool optional_name(struct ct_tsdl_parser *parser, struct ct_tsdl_name **out_name)
{
	*out_name = NULL;
	if (parser->scan.token != CT_TOKEN_WORD)
		return !parser->has_failed;
	*out_name = ct_tsdl_name(parser, parser->scan.start, parser->scan.length);
	ct_tsdl_scan_next(&parser->scan);
	return *out_name != NULL;
}

static const struct ct_tsdl_type *named(struct ct_tsdl_parser *parser, enum ct_tsdl_space space, const struct ct_tsdl_name *name)
{
	const struct ct_tsdl_type *type = name != NULL ? ct_tsdl_declared(name, space) : NULL;

	if (type == NULL)
		(void)ct_tsdl_fail(parser, "{", "no such type has been declared");
	return type;
}

static const struct ct_tsdl_type *parse_enum(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *container;
	struct ct_tsdl_type *type;
	struct ct_tsdl_name *name;

	if (!optional_name(parser, &name))
		return NULL;
	if (!ct_tsdl_scan_is(&parser->scan, "{") && !ct_tsdl_scan_is(&parser->scan, ":"))
		return named(parser, CT_SPACE_ENUM, name);
	container = parse_container(parser);
	type = container != NULL ? new_type(parser, CT_TSDL_ENUM) : NULL;
	if (type == NULL || !ct_tsdl_expect(parser, "{"))
		return NULL;
	*type = *container;
	type->kind = CT_TSDL_ENUM;
	type->encoding = CT_ENCODED_NOT;
	if (!parse_labels(parser, type) || !declare_named(parser, CT_SPACE_ENUM, name, type))
		return NULL;
	return type;
}

/* ------------------------------------------------------------------------------------------------------------
 * Arrays and sequences: what stands behind a name
 */

static struct ct_tsdl_type *parse_bracket(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = new_type(parser, CT_TSDL_ARRAY);

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

/* The brackets behind a name: x[2][3] is two threes of the type. */
static const struct ct_tsdl_type *parse_brackets(struct ct_tsdl_parser *parser, const struct ct_tsdl_type *element)
{
	const struct ct_tsdl_type *whole = element;
	struct ct_tsdl_type *type;

	if (!ct_tsdl_accept(parser, "["))
		return element;
	type = parse_bracket(parser);
	if (type == NULL)
		return NULL;
	if (++parser->depth > CT_TSDL_DEPTH) {
		(void)ct_tsdl_fail(parser, "", "types stand more than %u deep in each other", CT_TSDL_DEPTH);
		return NULL;
	}
	whole = parse_brackets(parser, element);
	parser->depth--;
	if (whole == NULL || !deepen(parser, type, whole))
		return NULL;
	type->element = whole;
	type->align = whole->align;
	type->may_be_empty = type->kind == CT_TSDL_SEQUENCE || type->length == 0 || whole->may_be_empty;
	return type;
}

/* ------------------------------------------------------------------------------------------------------------
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
	field.type = parse_brackets(parser, type);
	return field.type != NULL && ct_tsdl_push(parser, &parser->fields, &field, sizeof field);
}

/* TYPE name, name[2];  or a declaration. */
static bool parse_member(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *type;

	if (ct_tsdl_scan_is(&parser->scan, "typealias") || ct_tsdl_scan_is(&parser->scan, "typedef"))
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

static void mark_lengths(struct ct_tsdl_field *fields, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i++) {
		const struct ct_tsdl_reference *length = fields[i + 1].type->reference;

		fields[i].is_length = fields[i + 1].type->kind == CT_TSDL_SEQUENCE && length->scope == CT_SCOPE_RELATIVE &&
				      length->count == 1 && length->path[0] == fields[i].name;
	}
}

/* What all members say of the whole. */
static bool measure(struct ct_tsdl_parser *parser, struct ct_tsdl_type *type)
{
	bool is_struct = type->kind == CT_TSDL_STRUCT, all = true, any = type->count == 0;

	for (uint32_t i = 0; i < type->count; i++) {
		const struct ct_tsdl_type *member = type->fields[i].type;

		if (!deepen(parser, type, member))
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
		mark_lengths(fields, type->count);
	type->fields = fields;
	return measure(parser, type);
}

static bool parse_struct_align(struct ct_tsdl_parser *parser, struct ct_tsdl_type *type)
{
	uint32_t align = 1;

	if (!ct_tsdl_accept(parser, "align"))
		return true;
	if (!ct_tsdl_expect(parser, "(") || !check_align(parser, parser->scan.token == CT_TOKEN_NUMBER, parser->scan.number, &align))
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

	if (!optional_name(parser, &name))
		return NULL;
	if (!ct_tsdl_accept(parser, "{"))
		return named(parser, CT_SPACE_STRUCT, name);
	type = new_type(parser, CT_TSDL_STRUCT);
	if (type == NULL || !parse_members(parser, type) || !parse_struct_align(parser, type) ||
	    !declare_named(parser, CT_SPACE_STRUCT, name, type))
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

/* variant <tag> { ... }, variant name { ... } (to be given a tag where it is used), variant name <tag>. */
static const struct ct_tsdl_type *parse_variant(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_reference *tag = NULL;
	const struct ct_tsdl_type *declared;
	struct ct_tsdl_type *type;
	struct ct_tsdl_name *name;

	if (!optional_name(parser, &name) || !parse_tag(parser, &tag))
		return NULL;
	if (ct_tsdl_accept(parser, "{")) {
		type = new_type(parser, CT_TSDL_VARIANT);
		if (type == NULL || !parse_members(parser, type))
			return NULL;
		type->reference = tag;
		return declare_named(parser, CT_SPACE_VARIANT, name, type) ? type : NULL;
	}
	declared = named(parser, CT_SPACE_VARIANT, name);
	if (declared == NULL || tag == NULL)
		return declared;
	type = new_type(parser, CT_TSDL_VARIANT);
	if (type == NULL)
		return NULL;
	*type = *declared;
	type->reference = tag;
	return type;
}

/* ------------------------------------------------------------------------------------------------------------
 * Types and their names
 */

/* "unsigned long", "void *": words of a name that was given to a type.  has_name: the last one is no longer of it. */
static struct ct_tsdl_name *alias_name(struct ct_tsdl_parser *parser, bool has_name)
{
	char words[256];
	size_t size = 0;

	while (parser->scan.token == CT_TOKEN_WORD || (size > 0 && ct_tsdl_scan_is(&parser->scan, "*"))) {
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
	const struct ct_tsdl_type *type = name != NULL ? ct_tsdl_declared(name, CT_SPACE_ALIAS) : NULL;
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
		return parse_integer(parser);
	if (ct_tsdl_accept(parser, "floating_point"))
		return parse_float(parser);
	if (ct_tsdl_accept(parser, "string"))
		return parse_string(parser);
	if (ct_tsdl_accept(parser, "enum"))
		return parse_enum(parser);
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
		(void)ct_tsdl_fail(parser, "", "types stand more than %u deep in each other", CT_TSDL_DEPTH);
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
			parser->scan.token == CT_TOKEN_WORD ? ct_tsdl_name(parser, parser->scan.start, parser->scan.length) : NULL;
		const struct ct_tsdl_type *whole;

		if (name == NULL)
			return ct_tsdl_fail(parser, "a name", "a name is missing");
		ct_tsdl_scan_next(&parser->scan);
		whole = parse_brackets(parser, type);
		if (whole == NULL || !ct_tsdl_declare(parser, CT_SPACE_ALIAS, name, whole))
			return false;
	} while (ct_tsdl_accept(parser, ","));
	return ct_tsdl_expect(parser, ";");
}

/* typealias TYPE := name of several words; */
static bool parse_typealias(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *type = ct_tsdl_type(parser, false);
	struct ct_tsdl_name *name;

	if (type == NULL || !ct_tsdl_expect(parser, ":="))
		return false;
	name = alias_name(parser, false);
	return name != NULL && ct_tsdl_declare(parser, CT_SPACE_ALIAS, name, type) && ct_tsdl_expect(parser, ";");
}

bool ct_tsdl_declaration(struct ct_tsdl_parser *parser)
{
	if (ct_tsdl_accept(parser, "typealias"))
		return parse_typealias(parser);
	if (ct_tsdl_accept(parser, "typedef"))
		return parse_typedef(parser);
	return ct_tsdl_type(parser, false) != NULL && ct_tsdl_expect(parser, ";");
}
