/*
 * escape.c - makes hostile text one line that is harmless on a terminal.
 *
 * Called by every printer, on the consumer thread or a reader's thread, with bytes that the traced
 * program chose.  The output is always valid UTF-8, without control characters or unescaped quotes,
 * and shown in the order of its bytes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <endian.h>
#include <string.h>

#define EACH_BYTE(n) (0x0101010101010101u * (n))

/* Printable ASCII except the quote and the backslash: nearly all bytes of most texts. */
static bool is_plain(unsigned char c)
{
	return (unsigned char)(c - 0x20) < 0x5F && c != '"' && c != '\\';
}

/* Checks eight bytes at once: the highest bit of a byte in the result marks a byte that is not
 * plain.  A byte of 0x80 or more may carry into the bytes above it, so only the lowest mark is
 * exact. */
static uint64_t not_plain(uint64_t word)
{
	uint64_t good = (word + EACH_BYTE(0x60)) & ((word ^ EACH_BYTE('"')) + EACH_BYTE(0x7F)) &
			((word ^ EACH_BYTE('\\')) + EACH_BYTE(0x7F));

	return word | (word + EACH_BYTE(0x01)) | ~good;
}

static const unsigned char *plain_skip(const unsigned char *at, const unsigned char *end)
{
	for (; end - at >= 8; at += 8) {
		uint64_t word, marks;

		memcpy(&word, at, sizeof word);
		marks = not_plain(le64toh(word)) & EACH_BYTE(0x80);
		if (marks != 0)
			return at + __builtin_ctzll(marks) / 8;
	}
	while (at < end && is_plain(*at))
		at++;
	return at;
}

/* Two pieces of eight bytes, which may overlap, checked by vector instructions. */
typedef unsigned char sixteen __attribute__((vector_size(16)));
struct two_words {
	uint64_t first, last;
};

/* Not 0 when a byte is not plain. */
static inline uint64_t two_words_bad(struct two_words words)
{
	struct two_words marks;
	sixteen bytes, bad;

	memcpy(&bytes, &words, sizeof bytes);
	bad = (sixteen)((bytes - 0x20 >= 0x5F) | (bytes == '"') | (bytes == '\\'));
	memcpy(&marks, &bad, sizeof marks);
	return marks.first | marks.last;
}

static inline uint64_t put_eight_and_eight(char *at, const unsigned char *text, size_t last_at)
{
	struct two_words words;

	memcpy(&words.first, text, 8);
	memcpy(&words.last, text + last_at, 8);
	memcpy(at, &words.first, 8);
	memcpy(at + last_at, &words.last, 8);
	return two_words_bad(words);
}

/* Four to eight bytes: the last four overlap the first. */
static inline uint64_t put_four_and_four(char *at, const unsigned char *text, size_t last_at)
{
	uint32_t first, last;

	memcpy(&first, text, 4);
	memcpy(&last, text + last_at, 4);
	memcpy(at, &first, 4);
	memcpy(at + last_at, &last, 4);
	return not_plain((uint64_t)last << 32 | first) & EACH_BYTE(0x80);
}

/* The last piece overlaps the one before, so only texts of up to three bytes are copied byte by
 * byte. */
char *ct_escape_put_plain(char *at, const void *text, size_t size)
{
	const unsigned char *from = text;
	uint64_t bad = 0;
	size_t i;

	if (size >= 8) {
		for (i = 0; i + 16 < size; i += 16)
			bad |= put_eight_and_eight(at + i, from + i, 8);
		if (size - i < 8)
			i = size - 8;
		bad |= put_eight_and_eight(at + i, from + i, size - i - 8);
	} else if (size >= 4) {
		bad = put_four_and_four(at, from, size - 4);
	} else {
		for (i = 0; i < size; i++) {
			at[i] = (char)from[i];
			bad |= !is_plain(from[i]);
		}
	}
	return bad == 0 ? at + size : NULL;
}

static bool is_continuation(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

size_t ct_utf8_fit(const char *text, size_t most)
{
	size_t size = strnlen(text, most);

	if (size == most)
		while (size > 0 && is_continuation((unsigned char)text[size]))
			size--;
	return size;
}

size_t ct_utf8_decode(const unsigned char *at, const unsigned char *end, uint32_t *out_code)
{
	size_t left = (size_t)(end - at);
	uint32_t code;

	if (at[0] < 0x80) {
		*out_code = at[0];
		return 1;
	}
	if (at[0] < 0xE0) {
		if (at[0] < 0xC2 || left < 2 || !is_continuation(at[1]))
			return 0;
		*out_code = (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
		return 2;
	}
	if (at[0] < 0xF0) {
		if (left < 3 || !is_continuation(at[1]) || !is_continuation(at[2]))
			return 0;
		code = (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
		if (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF))
			return 0;
		*out_code = code;
		return 3;
	}
	if (at[0] > 0xF4 || left < 4 || !is_continuation(at[1]) || !is_continuation(at[2]) ||
	    !is_continuation(at[3]))
		return 0;
	code = (at[0] & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 |
	       (at[3] & 0x3Fu);
	if (code < 0x10000 || code > 0x10FFFF)
		return 0;
	*out_code = code;
	return 4;
}

/* True if the character moves the cursor, ends the line, or changes the order in which the rest is
 * shown. */
static bool is_harmful(uint32_t code)
{
	if (code < 0xA0)
		return code < 0x20 || code >= 0x7F;
	switch (code) {
	case 0x061C:
	case 0x200E:
	case 0x200F:
	case 0x2028:
	case 0x2029:
	case 0xFEFF:
		return true;
	default:
		return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
	}
}

static void escape_add_code(struct ct_buf *buf, uint32_t code)
{
	unsigned digits = code < 0x10 ? 1 : code < 0x100 ? 2 : code < 0x1000 ? 3 : 4;

	switch (code) {
	case '\n':
		ct_buf_add(buf, "\\n", 2);
		break;
	case '\r':
		ct_buf_add(buf, "\\r", 2);
		break;
	case '\t':
		ct_buf_add(buf, "\\t", 2);
		break;
	default:
		ct_buf_add(buf, "\\u{", 3);
		ct_buf_add_hex(buf, code, digits, true);
		ct_buf_add_char(buf, '}');
	}
}

void ct_escape_add(struct ct_buf *buf, const void *text, size_t size)
{
	const unsigned char *start = text, *at = start, *end = start + size;
	char *room = ct_buf_room(buf, size);

	if (size == 0 || room == NULL)
		return;
	room = ct_escape_put_plain(room, text, size);
	if (room != NULL) {
		ct_buf_end(buf, room);
		return;
	}
	while ((at = plain_skip(at, end)) < end) {
		uint32_t code = 0;
		size_t length = ct_utf8_decode(at, end, &code);

		if (length > 0 && code != '"' && code != '\\' && !is_harmful(code)) {
			at += length;
			continue;
		}
		ct_buf_add(buf, start, (size_t)(at - start));
		if (length == 0) {
			ct_buf_add(buf, "\\x", 2);
			ct_buf_add_hex(buf, *at, 2, true);
			length = 1;
		} else if (code == '"' || code == '\\') {
			ct_buf_add_char(buf, '\\');
			ct_buf_add_char(buf, (char)code);
		} else {
			escape_add_code(buf, code);
		}
		at += length;
		start = at;
	}
	ct_buf_add(buf, start, (size_t)(end - start));
}

void ct_escape_add_typed(struct ct_buf *buf, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";
	size_t size = strlen(path);

	if (path[0] == '-') /* no option */
		ct_buf_add_text(buf, "./");
	if (size > 0 && path[strspn(path, plain)] == '\0') {
		ct_buf_add(buf, path, size);
		return;
	}
	if (ct_escape_is_harmless(path, size) && strchr(path, '\'') == NULL) {
		ct_buf_add_format(buf, "'%s'", path);
		return;
	}
	ct_buf_add_text(buf, "$'");
	while (*path != '\0') {
		uint32_t code = 0;
		size_t length = ct_utf8_decode((const unsigned char *)path,
					       (const unsigned char *)path + strlen(path), &code);

		if (length == 0 || is_harmful(code)) {
			for (length += length == 0; length > 0; length--)
				ct_buf_add_format(buf, "\\%03o", (unsigned char)*path++);
			continue;
		}
		if (code == '\'' || code == '\\')
			ct_buf_add_char(buf, '\\');
		ct_buf_add(buf, path, length);
		path += length;
	}
	ct_buf_add_char(buf, '\'');
}

bool ct_escape_is_plain(const void *text, size_t size)
{
	const unsigned char *at = text, *end = at + size;

	while ((at = plain_skip(at, end)) < end) {
		uint32_t code = 0;
		size_t length = ct_utf8_decode(at, end, &code);

		if (length == 0 || code < 0x80 || is_harmful(code))
			return false;
		at += length;
	}
	return true;
}

bool ct_escape_is_harmless(const void *text, size_t size)
{
	const unsigned char *at = text, *end = at + size;

	while (at < end) {
		uint32_t code = 0;
		size_t length = ct_utf8_decode(at, end, &code);

		if (length == 0 || is_harmful(code))
			return false;
		at += length;
	}
	return true;
}
