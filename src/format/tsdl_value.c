/*
 * tsdl_value.c - settings in the metadata of a trace: `name = value;`.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include <stdlib.h>
#include <string.h>

/* Copies words with dots between them to out, and drops characters that do not fit. */
static bool words_take_dotted(struct ct_tsdl_parser *parser, char *out, size_t capacity,
			      size_t *out_size)
{
	size_t size = 0;

	for (;;) {
		const struct ct_tsdl_scan *scan = &parser->scan;

		if (scan->token != CT_TOKEN_WORD)
			return ct_tsdl_fail(parser, "a name", "a name is missing");
		if (scan->length < capacity - size) {
			memcpy(out + size, scan->start, scan->length);
			size += scan->length;
		} else {
			size = capacity - 1;
		}
		ct_tsdl_scan_next(&parser->scan);
		if (!ct_tsdl_accept(parser, "."))
			break;
		if (size < capacity - 1)
			out[size++] = '.';
	}
	out[size] = '\0';
	*out_size = size;
	return true;
}

bool ct_tsdl_setting_name(struct ct_tsdl_parser *parser, char out[64])
{
	size_t size;

	return words_take_dotted(parser, out, 64, &size);
}

bool ct_tsdl_number(struct ct_tsdl_parser *parser, bool *out_negative, uint64_t *out_number)
{
	bool is_negative = ct_tsdl_accept(parser, "-");

	if (!is_negative)
		(void)ct_tsdl_accept(parser, "+");
	if (parser->scan.token != CT_TOKEN_NUMBER)
		return ct_tsdl_fail(parser, "a number",
				    parser->scan.token == CT_TOKEN_BAD
					    ? "this is no number that fits in 64 bits"
					    : "a number is missing");
	if (is_negative && parser->scan.number > (uint64_t)1 << 63)
		return ct_tsdl_fail(parser, "", "the number does not fit in 64 bits");
	*out_negative = is_negative && parser->scan.number != 0;
	*out_number = is_negative ? 0 - parser->scan.number : parser->scan.number;
	ct_tsdl_scan_next(&parser->scan);
	return true;
}

static bool setting_take_string(struct ct_tsdl_parser *parser, struct ct_tsdl_setting *setting)
{
	char *bytes = malloc(parser->scan.length);
	size_t size;

	if (bytes == NULL)
		return ct_tsdl_fail(parser, "", "%s", ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	size = ct_tsdl_scan_string(&parser->scan, bytes);
	setting->is_string = true;
	setting->text = ct_tsdl_name(parser, bytes, strnlen(bytes, size));
	free(bytes);
	ct_tsdl_scan_next(&parser->scan);
	return setting->text != NULL;
}

bool ct_tsdl_setting_value(struct ct_tsdl_parser *parser, struct ct_tsdl_setting *setting)
{
	char words[256];
	size_t size = 0;

	setting->is_number = setting->is_string = setting->is_negative = false;
	setting->number = 0;
	setting->text = NULL;
	if (parser->scan.token == CT_TOKEN_STRING)
		return setting_take_string(parser, setting);
	if (parser->scan.token == CT_TOKEN_WORD) {
		if (!words_take_dotted(parser, words, sizeof words, &size))
			return false;
		setting->text = ct_tsdl_name(parser, words, size);
		return setting->text != NULL;
	}
	setting->is_number = true;
	return ct_tsdl_number(parser, &setting->is_negative, &setting->number);
}

bool ct_tsdl_settings(struct ct_tsdl_parser *parser, ct_tsdl_set *set, void *user)
{
	struct ct_tsdl_setting setting = { 0 };

	if (!ct_tsdl_expect(parser, "{"))
		return false;
	while (!ct_tsdl_accept(parser, "}")) {
		if (!ct_tsdl_setting_name(parser, setting.name) || !ct_tsdl_expect(parser, "=") ||
		    !ct_tsdl_setting_value(parser, &setting) || !set(parser, &setting, user) ||
		    !ct_tsdl_expect(parser, ";"))
			return false;
	}
	return true;
}

bool ct_tsdl_setting_order(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
			   uint8_t *out_order)
{
	const char *text = setting->text != NULL ? setting->text->text : "";

	if (strcmp(text, "native") == 0)
		*out_order = CT_ORDER_NATIVE;
	else if (strcmp(text, "le") == 0)
		*out_order = CT_ORDER_LE;
	else if (strcmp(text, "be") == 0 || strcmp(text, "network") == 0)
		*out_order = CT_ORDER_BE;
	else
		return ct_tsdl_fail(parser, "native, network, be or le",
				    "this byte order is not known");
	return true;
}
