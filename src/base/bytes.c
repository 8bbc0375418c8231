/*
 * bytes.c - a growable run of bytes, for formatting.
 *
 * The caller owns the buffer and serialises.  A failed growth sets `failed` and keeps the bytes so
 * far.  It refuses every later append, so a text never lacks its middle.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_buf_init(struct ct_buf *buf)
{
	*buf = (struct ct_buf){ 0 };
}

void ct_buf_fini(struct ct_buf *buf)
{
	free(buf->data);
	*buf = (struct ct_buf){ 0 };
}

void ct_buf_fini_into(struct ct_buf *buf, struct ct_buf *out)
{
	out->failed |= buf->failed;
	ct_buf_fini(buf);
}

void ct_buf_clear(struct ct_buf *buf)
{
	buf->size = 0;
	buf->failed = false;
}

void ct_buf_trim(struct ct_buf *buf, size_t kept)
{
	if (buf->capacity > kept)
		ct_buf_fini(buf);
	else
		ct_buf_clear(buf);
}

static bool buf_grow(struct ct_buf *buf, size_t more)
{
	size_t capacity = buf->capacity ? buf->capacity : 256;
	char *data;

	if (buf->failed || more > SIZE_MAX / 4 - buf->size) {
		buf->failed = true;
		return false;
	}
	while (capacity - buf->size < more)
		capacity *= 2;
	data = realloc(buf->data, capacity);
	if (data == NULL) {
		ct_memory_note_lack(); /* ct_buf_clear() resets `failed`, so the lack is noted here
					*/
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

bool ct_buf_reserve(struct ct_buf *buf, size_t more)
{
	if (!buf->failed && buf->capacity - buf->size >= more && buf->data != NULL)
		return true;
	return buf_grow(buf, more);
}

void ct_buf_add(struct ct_buf *buf, const void *data, size_t size)
{
	char *at = size > 0 ? ct_buf_room(buf, size) : NULL;

	if (at == NULL)
		return;
	memcpy(at, data, size);
	buf->size += size;
}

void ct_buf_add_char(struct ct_buf *buf, char c)
{
	char *at = ct_buf_room(buf, 1);

	if (at == NULL)
		return;
	*at = c;
	buf->size++;
}

void ct_buf_add_text(struct ct_buf *buf, const char *text)
{
	ct_buf_add(buf, text, strlen(text));
}

void ct_buf_add_format(struct ct_buf *buf, const char *format, ...)
{
	va_list arguments, again;
	int size;

	va_start(arguments, format);
	va_copy(again, arguments);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size >= 0 && ct_buf_reserve(buf, (size_t)size + 1)) {
		(void)vsnprintf(buf->data + buf->size, (size_t)size + 1, format, again);
		buf->size += (size_t)size;
	} else {
		buf->failed = true;
	}
	va_end(again);
}

const char ct_digit_pairs[201] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
	"4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495969798"
	"99";

static unsigned decimal_digits(uint64_t value)
{
	static const uint64_t powers[CT_U64_DIGITS] = {
		0, /* the number 0 has one digit */
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	unsigned digits = bits * 1233 >> 12; /* log10(2) is 1233 / 4096; at most one too few */

	return digits + (value >= powers[digits]);
}

char *ct_put_u64(char *at, uint64_t value)
{
	char *end = at + decimal_digits(value), *to = end;

	for (; value >= 100; value /= 100) {
		to -= 2;
		(void)ct_put_two(to, (unsigned)(value % 100));
	}
	if (value >= 10)
		(void)ct_put_two(at, (unsigned)value);
	else
		*at = (char)('0' + value);
	return end;
}

/* Returns the digits of four bytes, in the order of memory. */
static uint64_t hex_of_four(const unsigned char *bytes)
{
	const uint64_t each = 0x0101010101010101u;
	uint32_t word;
	uint64_t spread, nibbles, letters;

	memcpy(&word, bytes, sizeof word);
	spread = le32toh(word);
	spread = (spread | spread << 16) & 0x0000FFFF0000FFFFu;
	spread = (spread | spread << 8) & 0x00FF00FF00FF00FFu;
	nibbles = (spread >> 4 & 0x000F000F000F000Fu) | (spread & 0x000F000F000F000Fu) << 8;
	letters = (nibbles + 6 * each) >> 4 & each;
	return htole64(nibbles + '0' * each + letters * ('A' - '0' - 10));
}

char *ct_put_hex_bytes(char *at, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *from = bytes, *end = from + size;

	for (; end - from >= 4; from += 4, at += 8) {
		uint64_t eight = hex_of_four(from);

		memcpy(at, &eight, sizeof eight);
	}
	for (; from < end; from++) {
		*at++ = digits[*from >> 4];
		*at++ = digits[*from & 15];
	}
	return at;
}

void ct_buf_add_u64(struct ct_buf *buf, uint64_t value)
{
	char *at = ct_buf_room(buf, CT_U64_DIGITS);

	if (at != NULL)
		ct_buf_end(buf, ct_put_u64(at, value));
}

void ct_buf_add_i64(struct ct_buf *buf, int64_t value)
{
	char *at = ct_buf_room(buf, 1 + CT_U64_DIGITS);

	if (at == NULL)
		return;
	*at = '-';
	if (value < 0)
		ct_buf_end(buf, ct_put_u64(at + 1, 0 - (uint64_t)value));
	else
		ct_buf_end(buf, ct_put_u64(at, (uint64_t)value));
}

void ct_buf_add_hex(struct ct_buf *buf, uint64_t value, unsigned digits, bool upper)
{
	const char *alphabet = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[16];

	if (digits > sizeof text)
		digits = sizeof text;
	for (unsigned i = digits; i-- > 0; value >>= 4)
		text[i] = alphabet[value & 15];
	ct_buf_add(buf, text, digits);
}

const char *ct_buf_text(struct ct_buf *buf)
{
	if (buf->failed || !ct_buf_reserve(buf, 1))
		return "";
	buf->data[buf->size] = '\0';
	return buf->data;
}
