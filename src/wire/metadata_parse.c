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

#include <stdio.h>
#include <string.h>

#define STRING_LIMIT 2368u /* a name of 255 bytes, each escaped, and an event id or a mnemonic */
#define EVENT_NAME (CTRACE_MAX_COMPONENT + 1 + CT_METADATA_NAME)

/* A class as it is read, and the memory for what it points to. */
struct parsed_class {
	struct ct_class class;
	struct ct_class_names names;
	char name[EVENT_NAME];
	uint8_t shape[CT_CLASS_ITEMS];
	const char *items[CT_CLASS_ITEMS];
	char item_names[CT_CLASS_ITEMS][CT_METADATA_NAME];
};

/* ------------------------------------------------------------------------------------------------------------
 * Tokens
 */

struct lexer {
	const char *text;
	size_t size;
	size_t at; /* behind the token */
	size_t start;
	size_t length; /* of the token; 0 at the end */
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static void skip_blanks(struct lexer *lexer)
{
	while (lexer->at < lexer->size) {
		const char *rest = lexer->text + lexer->at;
		size_t left = lexer->size - lexer->at;
		const char *end;

		if (*rest == ' ' || *rest == '\t' || *rest == '\n' || *rest == '\r') {
			lexer->at++;
		} else if (left >= 2 && rest[0] == '/' && rest[1] == '*') {
			end = memmem(rest + 2, left - 2, "*/", 2);
			if (end == NULL)
				return; /* the slash becomes a token that nothing expects */
			lexer->at = (size_t)(end + 2 - lexer->text);
		} else {
			return;
		}
	}
}

static size_t string_length(const char *text, size_t size)
{
	size_t i = 1;

	while (i < size && text[i] != '"')
		i += text[i] == '\\' ? 2 : 1;
	return i < size ? i + 1 : 1; /* without an end: a lone quote, which nothing expects */
}

/* The next token: a word, a number, a string with its quotes, or one other character. */
static void lexer_next(struct lexer *lexer)
{
	size_t length = 1;

	skip_blanks(lexer);
	lexer->start = lexer->at;
	if (lexer->at == lexer->size) {
		lexer->length = 0;
		return;
	}
	if (lexer->text[lexer->at] == '"')
		length = string_length(lexer->text + lexer->at, lexer->size - lexer->at);
	else if (is_word_char(lexer->text[lexer->at]))
		while (lexer->at + length < lexer->size && is_word_char(lexer->text[lexer->at + length]))
			length++;
	lexer->length = length;
	lexer->at += length;
}

static bool token_is(const struct lexer *lexer, const char *text, size_t size)
{
	return lexer->length == size && memcmp(lexer->text + lexer->start, text, size) == 0;
}

/* The token, when it is the one expected, is left behind. */
static bool accept(struct lexer *lexer, const char *text)
{
	if (!token_is(lexer, text, strlen(text)))
		return false;
	lexer_next(lexer);
	return true;
}

/* Several tokens, written with blanks between them. */
static bool accept_all(struct lexer *lexer, const char *tokens)
{
	while (*tokens != '\0') {
		size_t size = strcspn(tokens, " ");

		if (!token_is(lexer, tokens, size))
			return false;
		lexer_next(lexer);
		tokens += size + (tokens[size] == ' ');
	}
	return true;
}

static bool parse_number(const char *text, size_t size, uint64_t limit, uint64_t *out_value)
{
	uint64_t value = 0;

	if (size == 0 || size > 20)
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned digit = (unsigned char)text[i] - (unsigned)'0';

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (value > limit)
		return false;
	*out_value = value;
	return true;
}

static bool accept_number(struct lexer *lexer, uint64_t limit, uint64_t *out_value)
{
	if (!parse_number(lexer->text + lexer->start, lexer->length, limit, out_value))
		return false;
	lexer_next(lexer);
	return true;
}

static bool accept_u32(struct lexer *lexer, uint32_t *out_value)
{
	uint64_t value;

	if (!accept_number(lexer, UINT32_MAX, &value))
		return false;
	*out_value = (uint32_t)value;
	return true;
}

/* One byte of a string; moves *at behind it.  -1 when it is none that we write. */
static int string_byte(const char *text, size_t end, size_t *at)
{
	unsigned value = 0;

	if (text[*at] != '\\')
		return (unsigned char)text[(*at)++];
	if (end - *at < 4)
		return -1;
	for (size_t i = 1; i <= 3; i++) {
		unsigned digit = (unsigned char)text[*at + i] - (unsigned)'0';

		if (digit > 7)
			return -1;
		value = value << 3 | digit;
	}
	if (value == 0 || value > 255)
		return -1;
	*at += 4;
	return (int)value;
}

/* The hexadecimal digits in text, 1 to 6 of them. */
static bool parse_hex(const char *text, size_t size, uint32_t *out_value)
{
	uint32_t value = 0;

	if (size == 0 || size > 6)
		return false;
	for (size_t i = 0; i < size; i++) {
		const char *digits = "0123456789ABCDEF";
		const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

		if (digit == NULL)
			return false;
		value = value << 4 | (uint32_t)(digit - digits);
	}
	*out_value = value;
	return true;
}

static size_t put_utf8(char out[4], uint32_t code)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xC0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	out[0] = (char)(0xE0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3F));
	out[2] = (char)(0x80 | (code & 0x3F));
	return 3;
}

/* What one escape of ct_escape_add() stands for: its bytes in out, their number in *out_size, its length as the result; 0 when it is
 * none. */
static size_t unescape_one(const char *text, size_t size, char out[4], size_t *out_size)
{
	static const char letters[] = "\"\\nrt", bytes[] = "\"\\\n\r\t";
	const char *letter, *end;
	uint32_t value;

	if (size < 2 || text[0] != '\\' || text[1] == '\0')
		return 0;
	letter = strchr(letters, text[1]);
	*out_size = 1;
	if (letter != NULL) {
		out[0] = bytes[letter - letters];
		return 2;
	}
	if (text[1] == 'x' && size >= 4 && parse_hex(text + 2, 2, &value) && value != 0) {
		out[0] = (char)value;
		return 4;
	}
	end = text[1] == 'u' && size >= 4 && text[2] == '{' ? memchr(text + 3, '}', size - 3 < 7 ? size - 3 : 7) : NULL;
	if (end == NULL || !parse_hex(text + 3, (size_t)(end - text) - 3, &value) || value == 0 || value > 0xFFFF)
		return 0;
	*out_size = put_utf8(out, value);
	return (size_t)(end - text) + 1;
}

static bool unescape(const char *text, size_t size, char *out, size_t capacity, size_t *out_size)
{
	size_t filled = 0;

	while (size > 0) {
		char bytes[4] = { text[0] };
		size_t count = 1;
		size_t used = text[0] == '\\' ? unescape_one(text, size, bytes, &count) : 1;

		if (used == 0 || filled + count >= capacity)
			return false;
		memcpy(out + filled, bytes, count);
		filled += count;
		text += used;
		size -= used;
	}
	out[filled] = '\0';
	*out_size = filled;
	return true;
}

static bool accept_string(struct lexer *lexer, char *out, size_t capacity, size_t *out_size)
{
	char harmless[STRING_LIMIT];
	size_t at = lexer->start + 1;
	size_t end = lexer->start + lexer->length - 1;
	size_t size = 0;

	if (lexer->length < 2 || lexer->text[lexer->start] != '"')
		return false;
	while (at < end) {
		int byte = string_byte(lexer->text, end, &at);

		if (byte <= 0 || size == sizeof harmless)
			return false;
		harmless[size++] = (char)byte;
	}
	if (!unescape(harmless, size, out, capacity, out_size))
		return false;
	lexer_next(lexer);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * Parsing
 */

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

static bool accept_value(struct lexer *lexer, const char *name, size_t name_size, struct ct_trace_info *info)
{
	char uuid[37];
	size_t size;

	if (ct_name_is(name, name_size, "$uuid"))
		return accept_string(lexer, uuid, sizeof uuid, &size) && parse_uuid(uuid, info->uuid);
	if (ct_name_is(name, name_size, "$host"))
		return accept_string(lexer, info->host, sizeof info->host, &size);
	if (ct_name_is(name, name_size, "$system"))
		return accept_string(lexer, info->system, sizeof info->system, &size);
	if (ct_name_is(name, name_size, "$program"))
		return accept_string(lexer, info->program, sizeof info->program, &size);
	if (ct_name_is(name, name_size, "$jobname"))
		return accept_string(lexer, info->jobname, sizeof info->jobname, &size);
	if (ct_name_is(name, name_size, "$pid"))
		return accept_u32(lexer, &info->pid);
	if (ct_name_is(name, name_size, "$asid"))
		return accept_u32(lexer, &info->asid);
	return accept_number(lexer, UINT64_MAX, &info->start_ns);
}

/* Template and text side by side; leaves the lexer at the first token behind the trace-wide part, or at the first that differs. */
static bool accept_trace(struct lexer *lexer, struct ct_trace_info *info)
{
	struct lexer expected = { .text = ct_metadata_template, .size = strlen(ct_metadata_template) };

	lexer_next(lexer);
	for (lexer_next(&expected); expected.length != 0; lexer_next(&expected)) {
		const char *token = expected.text + expected.start;

		if (token[0] == '$') {
			if (!accept_value(lexer, token, expected.length, info))
				return false;
		} else if (!token_is(lexer, token, expected.length)) {
			return false;
		} else {
			lexer_next(lexer);
		}
	}
	return true;
}

/* "ct_len16" -> 2 */
static bool parse_length_type(const char *text, size_t size, uint8_t *out_bytes)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} types[] = { { "ct_len8", 1 }, { "ct_len16", 2 }, { "ct_len32", 4 } };

	for (size_t i = 0; i < CT_COUNT(types); i++) {
		if (strlen(types[i].name) == size && memcmp(types[i].name, text, size) == 0) {
			*out_bytes = types[i].bytes;
			return true;
		}
	}
	return false;
}

/* "ct_comp5s_3" -> CT_KIND_COMP5S | 3, "ct_text" -> CT_KIND_TEXT */
static bool parse_type(const char *text, size_t size, uint8_t *out_shape)
{
	for (unsigned kind = 0; kind < CT_COUNT(ct_metadata_kinds); kind++) {
		char name[16];
		int length = snprintf(name, sizeof name, "ct_%s%s", ct_metadata_kinds[kind].name,
				      ct_metadata_kinds[kind].has_width ? "_" : "");
		size_t rest = size - (size_t)length;
		unsigned width;

		if (size < (size_t)length || memcmp(text, name, (size_t)length) != 0)
			continue;
		if (!ct_metadata_kinds[kind].has_width) {
			if (rest != 0)
				continue;
			*out_shape = (uint8_t)(kind << 4);
			return true;
		}
		width = (unsigned char)text[size - 1] - (unsigned)'0';
		if (rest != 1 || width < 1 || width > 8)
			continue;
		*out_shape = (uint8_t)(kind << 4 | width);
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
static bool accept_field(struct lexer *lexer, const char *name, bool is_length)
{
	const char *text = lexer->text + lexer->start;
	size_t size = strlen(name), suffix = is_length ? 4 : 0;

	if (lexer->length != 1 + size + suffix || text[0] != '_' || memcmp(text + 1, name, size) != 0 ||
	    memcmp(text + 1 + size, "_len", suffix) != 0)
		return false;
	lexer_next(lexer);
	return true;
}

/* The item's length field, of which the name is to become that of the item itself. */
static bool accept_length(struct lexer *lexer, char name[CT_METADATA_NAME])
{
	const char *text = lexer->text + lexer->start;
	size_t size = lexer->length;

	if (size <= 4 || memcmp(text + size - 4, "_len", 4) != 0 || !parse_field_name(text, size - 4, name))
		return false;
	lexer_next(lexer);
	return accept(lexer, ";");
}

/* The fields of one item: its name and its shape byte. */
static bool accept_item(struct lexer *lexer, char name[CT_METADATA_NAME], uint8_t *out_shape)
{
	uint8_t length_bytes = 0, shape;
	bool has_length = parse_length_type(lexer->text + lexer->start, lexer->length, &length_bytes);

	if (has_length) {
		lexer_next(lexer);
		if (!accept_length(lexer, name))
			return false;
	}
	if (!parse_type(lexer->text + lexer->start, lexer->length, &shape))
		return false;
	if (has_length != (shape == CT_KIND_BINARY || shape == CT_KIND_TEXT || shape == CT_KIND_UTF8))
		return false;
	lexer_next(lexer);
	if (!has_length && !parse_field_name(lexer->text + lexer->start, lexer->length, name))
		return false;
	if (!accept_field(lexer, name, false))
		return false;
	if (has_length && (!accept(lexer, "[") || !accept_field(lexer, name, true) || !accept(lexer, "]")))
		return false;
	if (shape == CT_KIND_ADDRESS)
		shape |= 8;
	*out_shape = (uint8_t)(shape | length_bytes);
	return accept(lexer, ";");
}

/* The next item of the class.  One without a name of its own has its number for it. */
static bool accept_next_item(struct lexer *lexer, struct parsed_class *parsed, bool has_names)
{
	uint32_t index = parsed->class.item_count;
	char *name = parsed->item_names[index < CT_CLASS_ITEMS ? index : 0];
	struct lexer start = *lexer;
	char numbered[24];
	bool is_numbered;

	if (index == CT_CLASS_ITEMS || !accept_item(lexer, name, &parsed->shape[index]))
		return false;
	(void)snprintf(numbered, sizeof numbered, "data%u", index + 1);
	is_numbered = strcmp(name, numbered) == 0;
	if (!is_numbered && !has_names) {
		*lexer = start;
		return false;
	}
	parsed->items[index] = is_numbered ? NULL : name;
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
	if (!parse_number(colon + 1, size - (size_t)(colon + 1 - parsed->name), UINT32_MAX, &event_id))
		return false;
	parsed->class.event_id = (uint32_t)event_id;
	return true;
}

/* A class with names has this before its fields: model.emf.uri = "ctrace:event/12"; */
static bool accept_uri(struct lexer *lexer, uint32_t *out_event_id)
{
	char uri[sizeof CT_METADATA_URI + 10];
	const size_t prefix = sizeof CT_METADATA_URI - 1;
	uint64_t event_id;
	size_t size;

	if (!accept_all(lexer, "model . emf . uri =") || !accept_string(lexer, uri, sizeof uri, &size) || size <= prefix ||
	    memcmp(uri, CT_METADATA_URI, prefix) != 0 || !parse_number(uri + prefix, size - prefix, UINT32_MAX, &event_id))
		return false;
	*out_event_id = (uint32_t)event_id;
	return accept(lexer, ";");
}

static bool accept_loglevel(struct lexer *lexer, uint32_t *out_level)
{
	uint64_t number;

	if (!parse_number(lexer->text + lexer->start, lexer->length, UINT32_MAX, &number))
		return false;
	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++) {
		if (ct_metadata_loglevels[level] == number) {
			*out_level = level;
			lexer_next(lexer);
			return true;
		}
	}
	return false;
}

static bool accept_class(struct lexer *lexer, struct parsed_class *parsed)
{
	struct ct_class *class = &parsed->class;
	struct lexer name;
	bool has_names;
	size_t size;

	*class = (struct ct_class){ .shape = parsed->shape };
	parsed->names = (struct ct_class_names){ .items = parsed->items };
	if (!accept_all(lexer, "event { name ="))
		return false;
	name = *lexer;
	if (!accept_string(lexer, parsed->name, sizeof parsed->name, &size) || !accept_all(lexer, "; id =") ||
	    !accept_u32(lexer, &class->id) || !accept_all(lexer, "; stream_id = 0 ; loglevel =") ||
	    !accept_loglevel(lexer, &class->level) || !accept(lexer, ";"))
		return false;
	has_names = token_is(lexer, "model", 5);
	if (has_names && !accept_uri(lexer, &class->event_id))
		return false;
	if (!split_name(parsed, size, has_names)) {
		*lexer = name;
		return false;
	}
	if (!accept_all(lexer, "fields : = struct {"))
		return false;
	while (!token_is(lexer, "}", 1))
		if (!accept_next_item(lexer, parsed, has_names))
			return false;
	parsed->names.item_count = class->item_count;
	class->names = has_names ? &parsed->names : NULL;
	return accept_all(lexer, "} ; } ;");
}

static enum ctrace_status begin_parse(struct lexer *lexer, const char *text, size_t size, struct ct_trace_info *out_info,
				      size_t *out_at)
{
	struct ct_trace_info info = { 0 };

	*lexer = (struct lexer){ .text = text, .size = size };
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
	struct lexer lexer;

	return begin_parse(&lexer, text, size, out_info, out_at);
}

enum ctrace_status ct_schema_parse(struct ct_schema *schema, const char *text, size_t size, struct ct_trace_info *out_info,
				   size_t *out_at)
{
	struct parsed_class parsed;
	struct lexer lexer;
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
