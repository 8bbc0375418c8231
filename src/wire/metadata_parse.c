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

#define STRING_LIMIT 2304u /* a name of 255 bytes, each escaped, and an event id */

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

/* The fields of one item, the number-th; its shape byte. */
static bool accept_item(struct lexer *lexer, uint32_t number, uint8_t *out_shape)
{
	const char *type = lexer->text + lexer->start;
	char name[24], length_name[24];
	uint8_t length_bytes = 0, shape;
	bool has_length = parse_length_type(type, lexer->length, &length_bytes);

	(void)snprintf(name, sizeof name, "_data%u", number);
	(void)snprintf(length_name, sizeof length_name, "_data%u_len", number);
	if (has_length) {
		lexer_next(lexer);
		if (!accept(lexer, length_name) || !accept(lexer, ";"))
			return false;
	}
	if (!parse_type(lexer->text + lexer->start, lexer->length, &shape))
		return false;
	if (has_length != (shape == CT_KIND_BINARY || shape == CT_KIND_TEXT || shape == CT_KIND_UTF8))
		return false;
	lexer_next(lexer);
	if (!accept(lexer, name))
		return false;
	if (has_length && (!accept(lexer, "[") || !accept(lexer, length_name) || !accept(lexer, "]")))
		return false;
	if (shape == CT_KIND_ADDRESS)
		shape |= 8;
	*out_shape = (uint8_t)(shape | length_bytes);
	return accept(lexer, ";");
}

/* "MY.COMP:12" -> the component and its event id */
static bool split_name(char *name, size_t size, struct ct_class *class)
{
	char *colon = memrchr(name, ':', size);
	uint64_t event_id;

	if (colon == NULL || !parse_number(colon + 1, size - (size_t)(colon + 1 - name), UINT32_MAX, &event_id))
		return false;
	*colon = '\0';
	class->component = name;
	class->event_id = (uint32_t)event_id;
	return true;
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

static bool accept_class(struct lexer *lexer, struct ct_class *class, char name[CTRACE_MAX_COMPONENT + 16],
			 uint8_t shape[CT_CLASS_ITEMS])
{
	size_t size;

	if (!accept_all(lexer, "event { name =") || !accept_string(lexer, name, CTRACE_MAX_COMPONENT + 16, &size) ||
	    !split_name(name, size, class))
		return false;
	if (!accept_all(lexer, "; id =") || !accept_u32(lexer, &class->id) || !accept_all(lexer, "; stream_id = 0 ; loglevel =") ||
	    !accept_loglevel(lexer, &class->level) || !accept_all(lexer, "; fields : = struct {"))
		return false;
	class->shape = shape;
	while (!token_is(lexer, "}", 1)) {
		if (class->item_count == CT_CLASS_ITEMS || !accept_item(lexer, class->item_count + 1, &shape[class->item_count]))
			return false;
		class->item_count++;
	}
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
	char name[CTRACE_MAX_COMPONENT + 16];
	uint8_t shape[CT_CLASS_ITEMS];
	struct lexer lexer;
	enum ctrace_status status = begin_parse(&lexer, text, size, out_info, out_at);

	while (status == CTRACE_OK && lexer.length != 0) {
		struct ct_class class = { 0 };
		size_t start = lexer.start;

		if (!accept_class(&lexer, &class, name, shape)) {
			*out_at = lexer.start;
			return CTRACE_DAMAGED;
		}
		status = ct_schema_add(schema, &class);
		*out_at = status == CTRACE_OK ? lexer.start : start;
	}
	return status;
}
