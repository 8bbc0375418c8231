/*
 * metadata_parse.c - reads the metadata text that metadata_print.c writes, and nothing else.
 *
 * Called by readers and by the recovery with text that may be hostile.  Linear in its size, without recursion; allocates only for the
 * classes that it adds, which ct_schema_add() bounds.  The trace-wide part is compared with the printer's template token by token, so
 * that the two cannot drift apart.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/metadata.h"
#include "wire/metadata_token.h"

#include <stdio.h>
#include <string.h>

#define EVENT_NAME (CTRACE_MAX_COMPONENT + 1 + CT_METADATA_NAME)

/* A class as it is read, and the memory for what it points to. */
struct parsed_class {
	struct ct_class class;
	struct ct_class_names names;
	char name[EVENT_NAME];
	uint32_t items[CT_CLASS_MAX_ITEMS];
	const char *names_of_items[CT_CLASS_MAX_ITEMS];
	char item_names[CT_CLASS_MAX_ITEMS][CT_METADATA_NAME];
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
	size_t at = 0;

	for (unsigned i = 0; i < 16; i++) {
		int high, low;

		if (i == 4 || i == 6 || i == 8 || i == 10)
			if (text[at++] != '-')
				return false;
		high = hex_digit(text[at]);
		low = high < 0 ? -1 : hex_digit(text[at + 1]);
		if (low < 0)
			return false;
		uuid[i] = (uint8_t)(high << 4 | low);
		at += 2;
	}
	return text[at] == '\0';
}

/* The line that is there only when the trace has a format. */
static bool accept_format(struct ct_metadata_lexer *lexer, char *format, size_t capacity)
{
	size_t size;

	format[0] = '\0';
	if (!ct_metadata_accept(lexer, "format"))
		return true;
	return ct_metadata_accept(lexer, "=") && ct_metadata_accept_string(lexer, format, capacity, &size) &&
	       ct_metadata_accept(lexer, ";");
}

/* What ct_trace_clock_print() prints. */
static bool accept_clock(struct ct_metadata_lexer *lexer, struct ct_trace_info *info)
{
	char description[64];
	size_t size;

	if (!ct_metadata_accept_all(lexer, "description =") ||
	    !ct_metadata_accept_string(lexer, description, sizeof description, &size) || !ct_metadata_accept_all(lexer, "; freq =") ||
	    !ct_metadata_accept_number(lexer, UINT64_MAX, &info->frequency) || !ct_metadata_accept_all(lexer, "; offset_s =") ||
	    !ct_metadata_accept_number(lexer, UINT64_MAX, &info->offset_s) || !ct_metadata_accept_all(lexer, "; offset =") ||
	    !ct_metadata_accept_number(lexer, UINT64_MAX, &info->offset) || !ct_metadata_accept(lexer, ";"))
		return false;
	if (info->frequency == 1000000000u && info->offset_s == 0 && info->offset == 0)
		info->frequency = 0;
	return true;
}

static bool accept_value(struct ct_metadata_lexer *lexer, const char *name, size_t name_size, struct ct_trace_info *info)
{
	char uuid[37];
	size_t size;

	if (ct_name_is(name, name_size, "$uuid"))
		return ct_metadata_accept_string(lexer, uuid, sizeof uuid, &size) && parse_uuid(uuid, info->uuid);
	if (ct_name_is(name, name_size, "$host"))
		return ct_metadata_accept_string(lexer, info->host, sizeof info->host, &size);
	if (ct_name_is(name, name_size, "$system"))
		return ct_metadata_accept_string(lexer, info->system, sizeof info->system, &size);
	if (ct_name_is(name, name_size, "$program"))
		return ct_metadata_accept_string(lexer, info->program, sizeof info->program, &size);
	if (ct_name_is(name, name_size, "$jobname"))
		return ct_metadata_accept_string(lexer, info->jobname, sizeof info->jobname, &size);
	if (ct_name_is(name, name_size, "$format"))
		return accept_format(lexer, info->format, sizeof info->format);
	if (ct_name_is(name, name_size, "$clock"))
		return accept_clock(lexer, info);
	if (ct_name_is(name, name_size, "$pid"))
		return ct_metadata_accept_u32(lexer, &info->pid);
	if (ct_name_is(name, name_size, "$asid"))
		return ct_metadata_accept_u32(lexer, &info->asid);
	return ct_metadata_accept_number(lexer, UINT64_MAX, &info->start_ns);
}

/* Template and text side by side; leaves the lexer at the first token behind the trace-wide part, or at the first that differs. */
static bool accept_trace(struct ct_metadata_lexer *lexer, struct ct_trace_info *info)
{
	struct ct_metadata_lexer expected = { .text = ct_metadata_template, .size = strlen(ct_metadata_template) };

	ct_metadata_next(lexer);
	for (ct_metadata_next(&expected); expected.length != 0; ct_metadata_next(&expected)) {
		const char *token = expected.text + expected.start;

		if (token[0] == '$') {
			if (!accept_value(lexer, token, expected.length, info))
				return false;
		} else if (!ct_metadata_token_is(lexer, token, expected.length)) {
			return false;
		} else {
			ct_metadata_next(lexer);
		}
	}
	return true;
}

/* "ct_len16" -> CT_SIZE_COUNTED_16 */
static bool parse_length_type(const char *text, size_t size, uint32_t *out_size)
{
	if (ct_name_is(text, size, "ct_len16"))
		*out_size = CT_SIZE_COUNTED_16;
	else if (ct_name_is(text, size, "ct_len32"))
		*out_size = CT_SIZE_COUNTED_32;
	else
		return false;
	return true;
}

/* "ct_comp5s_3" -> CTRACE_TYPE_COMP5S, 3; "ct_text" -> CTRACE_TYPE_TEXT, 0 */
static bool parse_type(const char *text, size_t size, uint32_t *out_type, uint32_t *out_width)
{
	for (uint32_t type = 0; type < CTRACE_TYPE_COUNT; type++) {
		const struct ct_metadata_type *row = &ct_metadata_types[type];
		char name[16];
		size_t length = (size_t)snprintf(name, sizeof name, "ct_%s%s", row->name, row->has_width ? "_" : "");
		unsigned width = size > 0 ? (unsigned char)text[size - 1] - (unsigned)'0' : 0;

		if (size != length + row->has_width || memcmp(text, name, length) != 0 || (row->has_width && (width < 1 || width > 8)))
			continue;
		*out_type = type;
		*out_width = row->has_width ? width : type == CTRACE_TYPE_ADDRESS ? 8 : 0;
		return true;
	}
	return false;
}

/* "_rows" -> "rows" */
static bool parse_field_name(const char *text, size_t size, char out[CT_METADATA_NAME])
{
	if (size < 2 || size > CT_METADATA_NAME || text[0] != '_' || memchr(text, '$', size) != NULL)
		return false;
	memcpy(out, text + 1, size - 1);
	out[size - 1] = '\0';
	return true;
}

/* "_" and the name, "_len" behind it when that is its length's */
static bool accept_field(struct ct_metadata_lexer *lexer, const char *name, bool is_length)
{
	const char *text = lexer->text + lexer->start;
	size_t size = strlen(name), suffix = is_length ? 4 : 0;

	if (lexer->length != 1 + size + suffix || text[0] != '_' || memcmp(text + 1, name, size) != 0 ||
	    memcmp(text + 1 + size, "_len", suffix) != 0)
		return false;
	ct_metadata_next(lexer);
	return true;
}

/* The item's length field, of which the name is to become that of the item itself. */
static bool accept_length(struct ct_metadata_lexer *lexer, char name[CT_METADATA_NAME])
{
	const char *text = lexer->text + lexer->start;
	size_t size = lexer->length;

	if (size <= 4 || memcmp(text + size - 4, "_len", 4) != 0 || !parse_field_name(text, size - 4, name))
		return false;
	ct_metadata_next(lexer);
	return ct_metadata_accept(lexer, ";");
}

/* "[_rows_len]", or "[10]" */
static bool accept_size(struct ct_metadata_lexer *lexer, const char *name, uint32_t *size)
{
	uint64_t number;

	if (!ct_metadata_accept(lexer, "["))
		return false;
	if (*size != 0)
		return accept_field(lexer, name, true) && ct_metadata_accept(lexer, "]");
	if (!ct_metadata_accept_number(lexer, CTRACE_MAX_ITEM_SIZE, &number))
		return false;
	*size = (uint32_t)number;
	return ct_metadata_accept(lexer, "]");
}

/* The fields of one item: its name, its type and its size. */
static bool accept_item(struct ct_metadata_lexer *lexer, char name[CT_METADATA_NAME], uint32_t *out_item)
{
	uint32_t size = 0, width, type;
	bool has_length = parse_length_type(lexer->text + lexer->start, lexer->length, &size);

	if (has_length) {
		ct_metadata_next(lexer);
		if (!accept_length(lexer, name))
			return false;
	}
	if (!parse_type(lexer->text + lexer->start, lexer->length, &type, &width) || (has_length && width != 0))
		return false;
	ct_metadata_next(lexer);
	if (!has_length && !parse_field_name(lexer->text + lexer->start, lexer->length, name))
		return false;
	if (!accept_field(lexer, name, false) || (width == 0 && !accept_size(lexer, name, &size)))
		return false;
	*out_item = type | (width != 0 ? width : size) << 8;
	return ct_metadata_accept(lexer, ";");
}

/* The next item of the class.  One without a name of its own has its number for it. */
static bool accept_next_item(struct ct_metadata_lexer *lexer, struct parsed_class *parsed, bool has_names)
{
	uint32_t index = parsed->class.item_count;
	char *name = parsed->item_names[index < CT_CLASS_MAX_ITEMS ? index : 0];
	struct ct_metadata_lexer start = *lexer;
	char numbered[24];
	bool is_numbered;

	if (index == CT_CLASS_MAX_ITEMS || !accept_item(lexer, name, &parsed->items[index]))
		return false;
	(void)snprintf(numbered, sizeof numbered, "data%u", index + 1);
	is_numbered = strcmp(name, numbered) == 0;
	if (!is_numbered && !has_names) {
		*lexer = start;
		return false;
	}
	parsed->names_of_items[index] = is_numbered ? NULL : name;
	parsed->class.item_count++;
	return true;
}

/* "MY.COMP:12" -> the component and its event id; "MY.COMP:OPEN", of a class that says its id elsewhere, the component and a mnemonic */
static bool split_name(struct parsed_class *parsed, size_t size, bool has_names)
{
	char *colon = memrchr(parsed->name, ':', size);
	uint64_t event_id;

	if (colon == NULL || colon - parsed->name > CTRACE_MAX_COMPONENT)
		return false;
	*colon = '\0';
	parsed->class.component = parsed->name;
	if (has_names) {
		parsed->names.mnemonic = colon + 1;
		return true;
	}
	if (!ct_metadata_number(colon + 1, size - (size_t)(colon + 1 - parsed->name), UINT32_MAX, &event_id))
		return false;
	parsed->class.event_id = (uint32_t)event_id;
	return true;
}

/* A class with names has this before its fields: model.emf.uri = "ctrace:event/12"; */
static bool accept_uri(struct ct_metadata_lexer *lexer, uint32_t *out_event_id)
{
	char uri[sizeof CT_METADATA_URI + 10];
	const size_t prefix = sizeof CT_METADATA_URI - 1;
	uint64_t event_id;
	size_t size;

	if (!ct_metadata_accept_all(lexer, "model . emf . uri =") || !ct_metadata_accept_string(lexer, uri, sizeof uri, &size) ||
	    size <= prefix || memcmp(uri, CT_METADATA_URI, prefix) != 0 ||
	    !ct_metadata_number(uri + prefix, size - prefix, UINT32_MAX, &event_id))
		return false;
	*out_event_id = (uint32_t)event_id;
	return ct_metadata_accept(lexer, ";");
}

static bool accept_loglevel(struct ct_metadata_lexer *lexer, uint32_t *out_level)
{
	uint64_t number;

	if (!ct_metadata_number(lexer->text + lexer->start, lexer->length, UINT32_MAX, &number))
		return false;
	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++) {
		if (ct_metadata_loglevels[level] == number) {
			*out_level = level;
			ct_metadata_next(lexer);
			return true;
		}
	}
	return false;
}

static bool accept_class(struct ct_metadata_lexer *lexer, struct parsed_class *parsed)
{
	struct ct_class *class = &parsed->class;
	struct ct_metadata_lexer name;
	bool has_names;
	size_t size;

	*class = (struct ct_class){ .items = parsed->items };
	parsed->names = (struct ct_class_names){ .items = parsed->names_of_items };
	if (!ct_metadata_accept_all(lexer, "event { name ="))
		return false;
	name = *lexer;
	if (!ct_metadata_accept_string(lexer, parsed->name, sizeof parsed->name, &size) || !ct_metadata_accept_all(lexer, "; id =") ||
	    !ct_metadata_accept_u32(lexer, &class->number) || !ct_metadata_accept_all(lexer, "; stream_id = 0 ; loglevel =") ||
	    !accept_loglevel(lexer, &class->level) || !ct_metadata_accept(lexer, ";"))
		return false;
	has_names = ct_metadata_token_is(lexer, "model", 5);
	if (has_names && !accept_uri(lexer, &class->event_id))
		return false;
	if (!split_name(parsed, size, has_names)) {
		*lexer = name;
		return false;
	}
	if (!ct_metadata_accept_all(lexer, "fields : = struct {"))
		return false;
	while (!ct_metadata_token_is(lexer, "}", 1))
		if (!accept_next_item(lexer, parsed, has_names))
			return false;
	parsed->names.item_count = class->item_count;
	class->names = has_names ? &parsed->names : NULL;
	return ct_metadata_accept_all(lexer, "} ; } ;");
}

static enum ctrace_status begin_parse(struct ct_metadata_lexer *lexer, const char *text, size_t size, struct ct_trace_info *out_info,
				      size_t *out_at)
{
	struct ct_trace_info info = { 0 };

	*lexer = (struct ct_metadata_lexer){ .text = text, .size = size };
	if (size < sizeof CT_METADATA_SIGNATURE - 1 || memcmp(text, CT_METADATA_SIGNATURE, sizeof CT_METADATA_SIGNATURE - 1) != 0) {
		*out_at = 0;
		return CTRACE_DAMAGED;
	}
	if (!accept_trace(lexer, &info)) {
		*out_at = lexer->start;
		return CTRACE_DAMAGED;
	}
	*out_at = lexer->start;
	*out_info = info;
	return CTRACE_OK;
}

enum ctrace_status ct_schema_parse_trace(const char *text, size_t size, struct ct_trace_info *out_info, size_t *out_at)
{
	struct ct_metadata_lexer lexer;

	return begin_parse(&lexer, text, size, out_info, out_at);
}

enum ctrace_status ct_schema_parse(struct ct_schema *schema, const char *text, size_t size, struct ct_trace_info *out_info,
				   size_t *out_at)
{
	struct parsed_class parsed;
	struct ct_metadata_lexer lexer;
	enum ctrace_status status = begin_parse(&lexer, text, size, out_info, out_at);

	while (status == CTRACE_OK && lexer.length != 0) {
		size_t start = lexer.start;

		if (!accept_class(&lexer, &parsed)) {
			*out_at = lexer.start;
			return CTRACE_DAMAGED;
		}
		status = ct_schema_add(schema, &parsed.class);
		*out_at = status == CTRACE_OK ? lexer.start : start;
	}
	return status;
}
