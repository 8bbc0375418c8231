/*
 * tsdl_scan.c - the metadata of a trace as words, numbers, strings and signs.
 *
 * Called by the parser, on one thread.  The text may hold any bytes; none behind its end is read. A
 * caller that returns to an earlier position keeps open_comment, so a comment without an end is
 * searched only once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char byte_at(const struct ct_tsdl_scan *scan, size_t at)
{
	return at < scan->size ? scan->text[at] : '\0';
}

static void note_line(struct ct_tsdl_scan *scan, size_t at)
{
	if (scan->text[at] == '\n') {
		scan->line++;
		scan->line_at = at + 1;
	}
}

/* Returns false at a comment without an end. */
static bool skip_comment(struct ct_tsdl_scan *scan)
{
	bool is_line = scan->text[scan->at + 1] == '/';

	if (!is_line && scan->open_comment != 0 && scan->at >= scan->open_comment)
		return false;

	for (size_t at = scan->at + 2; at < scan->size; at++) {
		note_line(scan, at);
		if (is_line ? scan->text[at] == '\n'
			    : at >= scan->at + 3 && scan->text[at - 1] == '*' &&
				      scan->text[at] == '/') {
			scan->at = at + 1;
			return true;
		}
	}
	if (is_line)
		scan->at = scan->size;
	else
		scan->open_comment = scan->at;
	return is_line;
}

static bool skip_blanks(struct ct_tsdl_scan *scan)
{
	while (scan->at < scan->size) {
		char c = scan->text[scan->at];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
			note_line(scan, scan->at++);
		} else if (c == '/' && (byte_at(scan, scan->at + 1) == '*' ||
					byte_at(scan, scan->at + 1) == '/')) {
			if (!skip_comment(scan))
				return false;
		} else {
			break;
		}
	}
	return true;
}

static enum ct_tsdl_token scan_word(struct ct_tsdl_scan *scan)
{
	while (is_letter(byte_at(scan, scan->at)) || is_digit(byte_at(scan, scan->at)))
		scan->at++;
	return CT_TOKEN_WORD;
}

/* 12, 0x1F, 017, with C's suffixes. */
static enum ct_tsdl_token scan_number(struct ct_tsdl_scan *scan)
{
	unsigned base = 10;
	bool fits = true;

	scan->number = 0;
	if (byte_at(scan, scan->at) == '0') {
		base = 8;
		if (byte_at(scan, scan->at + 1) == 'x' || byte_at(scan, scan->at + 1) == 'X') {
			base = 16;
			scan->at += 2;
		}
	}
	for (;; scan->at++) {
		int digit = hex_digit(byte_at(scan, scan->at));
		uint64_t value;

		if (digit < 0 || (unsigned)digit >= base)
			break;
		if (__builtin_mul_overflow(scan->number, base, &value) ||
		    __builtin_add_overflow(value, (unsigned)digit, &value))
			fits = false;
		scan->number = value;
	}
	while (byte_at(scan, scan->at) != '\0' && strchr("uUlL", byte_at(scan, scan->at)) != NULL)
		scan->at++;
	if (is_letter(byte_at(scan, scan->at)) || is_digit(byte_at(scan, scan->at)))
		fits = false;
	return fits ? CT_TOKEN_NUMBER : CT_TOKEN_BAD;
}

static enum ct_tsdl_token scan_string(struct ct_tsdl_scan *scan)
{
	for (scan->at++; scan->at < scan->size; scan->at++) {
		char c = scan->text[scan->at];

		note_line(scan, scan->at);
		if (c == '"') {
			scan->at++;
			return CT_TOKEN_STRING;
		}
		if (c == '\\' && scan->at + 1 < scan->size)
			note_line(scan, ++scan->at);
	}
	return CT_TOKEN_BAD;
}

static enum ct_tsdl_token scan_sign(struct ct_tsdl_scan *scan)
{
	size_t left = scan->size - scan->at;
	const char *text = scan->text + scan->at;

	if (left >= 2 && memcmp(text, ":=", 2) == 0)
		scan->at += 2;
	else if (left >= 3 && memcmp(text, "...", 3) == 0)
		scan->at += 3;
	else
		scan->at++;
	return CT_TOKEN_SIGN;
}

static enum ct_tsdl_token scan_token(struct ct_tsdl_scan *scan)
{
	char c = scan->text[scan->at];

	if (is_letter(c))
		return scan_word(scan);
	if (is_digit(c))
		return scan_number(scan);
	return c == '"' ? scan_string(scan) : scan_sign(scan);
}

void ct_tsdl_scan_next(struct ct_tsdl_scan *scan)
{
	bool is_whole = skip_blanks(scan);

	scan->start = scan->text + scan->at;
	scan->token_line = scan->line;
	scan->token_column = (unsigned)(scan->at - scan->line_at) + 1;
	if (scan->at == scan->size) {
		scan->token = CT_TOKEN_END;
	} else if (is_whole) {
		scan->token = scan_token(scan);
	} else {
		scan->token = CT_TOKEN_BAD;
		scan->at = scan->size;
	}
	scan->length = (size_t)(scan->text + scan->at - scan->start);
}

void ct_tsdl_scan_begin(struct ct_tsdl_scan *scan, const char *text, size_t size)
{
	/* A NULL text has no position to point to. */
	*scan = (struct ct_tsdl_scan){ .text = text != NULL ? text : "", .size = size, .line = 1 };
	ct_tsdl_scan_next(scan);
}

bool ct_tsdl_scan_is(const struct ct_tsdl_scan *scan, const char *word_or_sign)
{
	/* The first byte decides for most tokens. */
	return (scan->token == CT_TOKEN_WORD || scan->token == CT_TOKEN_SIGN) &&
	       *word_or_sign == *scan->start && strlen(word_or_sign) == scan->length &&
	       memcmp(scan->start, word_or_sign, scan->length) == 0;
}

/* Decodes the character of \u{HEX}, as written by ct_escape_add(). */
static char *escape_decode_code(const char *text, size_t size, size_t *at, char *out)
{
	unsigned code = 0;

	for (++*at; *at < size && hex_digit(text[*at]) >= 0; ++*at)
		code = code << 4 | (unsigned)hex_digit(text[*at]);
	*at += *at < size;
	return ct_utf8_put(out, (uint16_t)code);
}

/* Decodes one escape behind a backslash at *at; moves *at behind it. */
static char escape_decode(const char *text, size_t size, size_t *at)
{
	static const char letters[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
	char c = text[(*at)++];
	const char *letter = strchr(letters, c);
	unsigned value = 0;
	size_t from = *at;

	if (c == 'x') {
		while (*at < size && *at - from < 2 && hex_digit(text[*at]) >= 0)
			value = value << 4 | (unsigned)hex_digit(text[(*at)++]);
		return *at > from ? (char)value : c;
	}
	if (c >= '0' && c <= '7') {
		for (value = (unsigned)(c - '0');
		     *at < size && *at - from < 2 && text[*at] >= '0' && text[*at] <= '7'; (*at)++)
			value = value << 3 | (unsigned)(text[*at] - '0');
		return (char)value;
	}
	return c != '\0' && letter != NULL ? bytes[letter - letters] : c;
}

size_t ct_tsdl_unescape(const char *text, size_t size, char *out)
{
	char *to = out;

	for (size_t at = 0; at < size;) {
		char c = text[at++];

		if (c == '\\' && size - at >= 4 && text[at] == 'u' && text[at + 1] == '{') {
			at++;
			to = escape_decode_code(text, size, &at, to);
		} else {
			*to++ = c == '\\' && at < size ? escape_decode(text, size, &at) : c;
		}
	}
	return (size_t)(to - out);
}

size_t ct_tsdl_scan_string(const struct ct_tsdl_scan *scan, char *out)
{
	return ct_tsdl_unescape(scan->start + 1, scan->length - 2, out);
}
