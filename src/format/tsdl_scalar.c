/*
 * tsdl_scalar.c - types of one value in the metadata of a trace: integers, floating point, strings,
 * enumerations.
 *
 * Called by tsdl_types.c, on one thread, behind the word of the type.  A type that ctrace cannot
 * read gets a diagnostic.  So every type from here has a size, an alignment and a byte order that
 * the decoder knows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * Their properties
 */

static bool set_flag(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
		     bool *out_flag)
{
	const char *text = setting->text != NULL  ? setting->text->text
			   : setting->number != 0 ? "true"
						  : "false";

	if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
		return ct_tsdl_fail(parser, "true or false", "this is neither true nor false");
	*out_flag = strcasecmp(text, "true") == 0;
	return true;
}

static bool set_encoding(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
			 uint8_t *out_encoding)
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
		return setting->number == 2 || setting->number == 8 || setting->number == 16
			       ? (uint8_t)setting->number
			       : 10;
	if (strcmp(text, "hexadecimal") == 0 || strcmp(text, "hex") == 0 ||
	    strcmp(text, "x") == 0 || strcmp(text, "X") == 0 || strcmp(text, "p") == 0)
		return 16;
	if (strcmp(text, "octal") == 0 || strcmp(text, "oct") == 0 || strcmp(text, "o") == 0)
		return 8;
	return strcmp(text, "binary") == 0 || strcmp(text, "b") == 0 ? 2 : 10;
}

/* "clock.NAME.value" */
static bool set_clock(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
		      const struct ct_tsdl_name **out_clock)
{
	const char *text = setting->text != NULL ? setting->text->text : "";
	const char *end = strrchr(text, '.');

	if (strncmp(text, "clock.", 6) != 0 || end == text + 5 || strcmp(end, ".value") != 0)
		return ct_tsdl_fail(parser, "clock.NAME.value",
				    "what this is mapped to is not known");
	*out_clock = ct_tsdl_name(parser, text + 6, (size_t)(end - text) - 6);
	return *out_clock != NULL;
}

/* -----------------------------------------------------------------------------------------------
 * Integers, floating point, strings
 */

static bool set_integer(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
			void *user)
{
	struct ct_tsdl_type *type = user;

	if (strcmp(setting->name, "size") == 0) {
		if (!setting->is_number || setting->number == 0 || setting->number > 64)
			return ct_tsdl_fail(parser, "1 to 64",
					    "ctrace reads no integers of this size");
		type->size = (uint32_t)setting->number;
		return true;
	}
	if (strcmp(setting->name, "align") == 0)
		return ct_tsdl_type_align(parser, setting->is_number, setting->number,
					  &type->align);
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

const struct ct_tsdl_type *ct_tsdl_integer(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = ct_tsdl_type_new(parser, CT_TSDL_INTEGER);

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

static bool set_float(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
		      void *user)
{
	struct float_digits *digits = user;

	if (strcmp(setting->name, "exp_dig") == 0)
		digits->exponent = setting->number;
	else if (strcmp(setting->name, "mant_dig") == 0)
		digits->mantissa = setting->number;
	else if (strcmp(setting->name, "align") == 0)
		return ct_tsdl_type_align(parser, setting->is_number, setting->number,
					  &digits->type->align);
	else if (strcmp(setting->name, "byte_order") == 0)
		return ct_tsdl_setting_order(parser, setting, &digits->type->order);
	return true;
}

const struct ct_tsdl_type *ct_tsdl_float(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = ct_tsdl_type_new(parser, CT_TSDL_FLOAT);
	struct float_digits digits = { .type = type };

	if (type == NULL || !ct_tsdl_settings(parser, set_float, &digits))
		return NULL;
	if (digits.exponent == 8 && digits.mantissa == 24) {
		type->size = 32;
	} else if (digits.exponent == 11 && digits.mantissa == 53) {
		type->size = 64;
	} else {
		(void)ct_tsdl_fail(parser, "8 and 24, or 11 and 53",
				   "ctrace reads no floating point of these numbers of digits");
		return NULL;
	}
	return type;
}

static bool set_string(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
		       void *user)
{
	struct ct_tsdl_type *type = user;

	return strcmp(setting->name, "encoding") != 0 ||
	       set_encoding(parser, setting, &type->encoding);
}

const struct ct_tsdl_type *ct_tsdl_string(struct ct_tsdl_parser *parser)
{
	struct ct_tsdl_type *type = ct_tsdl_type_new(parser, CT_TSDL_STRING);

	if (type == NULL)
		return NULL;
	type->align = 8;
	type->encoding = CT_ENCODED_UTF8;
	if (ct_tsdl_scan_is(&parser->scan, "{") && !ct_tsdl_settings(parser, set_string, type))
		return NULL;
	return type;
}

/* -----------------------------------------------------------------------------------------------
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
		if (ct_tsdl_accept(parser, "...") &&
		    !ct_tsdl_number(parser, &is_negative, &label.to))
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

/* Parses the integer type of an enumeration; by default it is an int. */
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
		(void)ct_tsdl_fail(parser, "an integer type",
				   "the type of the enumeration is not known");
		return NULL;
	}
	return container;
}

const struct ct_tsdl_type *ct_tsdl_enum(struct ct_tsdl_parser *parser)
{
	const struct ct_tsdl_type *container;
	struct ct_tsdl_type *type;
	struct ct_tsdl_name *name;

	if (!ct_tsdl_type_name(parser, &name))
		return NULL;
	if (!ct_tsdl_scan_is(&parser->scan, "{") && !ct_tsdl_scan_is(&parser->scan, ":"))
		return ct_tsdl_type_named(parser, CT_SPACE_ENUM, name);
	container = parse_container(parser);
	type = container != NULL ? ct_tsdl_type_new(parser, CT_TSDL_ENUM) : NULL;
	if (type == NULL || !ct_tsdl_expect(parser, "{"))
		return NULL;
	*type = *container;
	type->kind = CT_TSDL_ENUM;
	type->encoding = CT_ENCODED_NOT;
	if (!parse_labels(parser, type) || !ct_tsdl_type_declare(parser, CT_SPACE_ENUM, name, type))
		return NULL;
	return type;
}
