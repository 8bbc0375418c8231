/*
 * bytes.c - a growable run of bytes, for whoever formats.
 *
 * The caller owns the buffer and serialises.  A growth that fails sets `failed` and leaves what is there; every later append is
 * refused, so that a text is never missing its middle.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

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

static bool grow(struct ct_buf *buf, size_t more)
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
		ct_memory_note_lack(); /* ct_buf_clear() forgets it */
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
	return grow(buf, more);
}

void ct_buf_add(struct ct_buf *buf, const void *data, size_t size)
{
	if (size == 0 || !ct_buf_reserve(buf, size))
		return;
	memcpy(buf->data + buf->size, data, size);
	buf->size += size;
}

void ct_buf_add_char(struct ct_buf *buf, char c)
{
	if (!ct_buf_reserve(buf, 1))
		return;
	buf->data[buf->size++] = c;
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

void ct_buf_add_u64(struct ct_buf *buf, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	ct_buf_add(buf, digits + at, sizeof digits - at);
}

void ct_buf_add_i64(struct ct_buf *buf, int64_t value)
{
	if (value < 0) {
		ct_buf_add_char(buf, '-');
		ct_buf_add_u64(buf, 0 - (uint64_t)value);
	} else {
		ct_buf_add_u64(buf, (uint64_t)value);
	}
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
