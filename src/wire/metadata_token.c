/*
 * metadata_token.c - which word of the metadata is next, and what a number or a string of it stands for.
 *
 * Called by metadata_parse.c with text that may be hostile.  Linear in its size; allocates nothing, and reads no byte behind the text.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/metadata_token.h"

#include <string.h>

#define STRING_LIMIT 3072u /* a format of 511 bytes, each escaped to six; a name, an event id and a mnemonic are less */

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static void skip_blanks(struct ct_metadata_lexer *lexer)
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

void ct_metadata_next(struct ct_metadata_lexer *lexer)
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

bool ct_metadata_token_is(const struct ct_metadata_lexer *lexer, const char *text, size_t size)
{
	return lexer->length == size && memcmp(lexer->text + lexer->start, text, size) == 0;
}

bool ct_metadata_accept(struct ct_metadata_lexer *lexer, const char *text)
{
	if (!ct_metadata_token_is(lexer, text, strlen(text)))
		return false;
	ct_metadata_next(lexer);
	return true;
}

bool ct_metadata_accept_all(struct ct_metadata_lexer *lexer, const char *tokens)
{
	while (*tokens != '\0') {
		size_t size = strcspn(tokens, " ");

		if (!ct_metadata_token_is(lexer, tokens, size))
			return false;
		ct_metadata_next(lexer);
		tokens += size + (tokens[size] == ' ');
	}
	return true;
}

bool ct_metadata_number(const char *text, size_t size, uint64_t limit, uint64_t *out_value)
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

bool ct_metadata_accept_number(struct ct_metadata_lexer *lexer, uint64_t limit, uint64_t *out_value)
{
	if (!ct_metadata_number(lexer->text + lexer->start, lexer->length, limit, out_value))
		return false;
	ct_metadata_next(lexer);
	return true;
}

bool ct_metadata_accept_u32(struct ct_metadata_lexer *lexer, uint32_t *out_value)
{
	uint64_t value;

	if (!ct_metadata_accept_number(lexer, UINT32_MAX, &value))
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

bool ct_metadata_accept_string(struct ct_metadata_lexer *lexer, char *out, size_t capacity, size_t *out_size)
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
	ct_metadata_next(lexer);
	return true;
}
