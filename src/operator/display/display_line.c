/*
 * display_line.c - the columns of DISPLAY TRACE.
 *
 * Called by the printers of DISPLAY TRACE; pure.  A column is a character, not a byte.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display/display.h"

#include <stdio.h>
#include <string.h>

#define DETAIL_COLUMN 5u
#define VALUE_COLUMN 16u

static bool text_is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < 0x20 || text[i] > 0x7E)
			return false;
	return true;
}

static unsigned text_count_columns(const char *text, size_t size)
{
	unsigned columns = 0;

	for (size_t i = 0; i < size; i++)
		/* counts no continuation byte of UTF-8 */
		columns += ((unsigned char)text[i] & 0xC0) != 0x80;
	return columns;
}

unsigned ct_display_add_text(struct ct_buf *out, const char *text)
{
	size_t size = strlen(text);
	size_t before = out->size;

	if (text_is_plain(text, size))
		ct_buf_add(out, text, size);
	else
		ct_escape_add(out, text, size);
	if (out->size == before)
		return 0;
	return text_count_columns(out->data + before, out->size - before);
}

void ct_display_add_blanks(struct ct_buf *out, unsigned count)
{
	while (count-- != 0)
		ct_buf_add_char(out, ' ');
}

void ct_display_end_line(struct ct_buf *out)
{
	while (out->size != 0 && out->data[out->size - 1] == ' ')
		out->size--;
	ct_buf_add_char(out, '\n');
}

void ct_display_add_size(struct ct_buf *out, uint64_t bytes)
{
	static const char units[] = "KMG";
	uint64_t size = bytes / 1024 + (bytes % 1024 != 0);
	unsigned unit = 0;

	while (unit < 2 && size != 0 && (size > 9999 || size % 1024 == 0)) {
		size = size / 1024 + (size % 1024 != 0);
		unit++;
	}
	ct_buf_add_format(out, "%04llu%c", (unsigned long long)size, units[unit]);
}

const char *ct_display_mode(uint32_t mode)
{
	switch (mode) {
	case CTRACE_MODE_OFF:
		return "OFF";
	case CTRACE_MODE_MIN:
		return "MIN";
	case CTRACE_MODE_ON:
		return "ON";
	case CT_DISPLAY_MODE_PRE:
		return "PRE";
	default:
		return "?";
	}
}

/* ---- the columns of a trace ---- */

/* "0008M"; blank when the trace has no buffer size. */
static void format_buffer(const struct ctrace_display *shown, char out[32])
{
	struct ct_buf text;

	out[0] = '\0';
	if (shown->buffer_rounded == 0 || (shown->is_defined && !shown->buffer))
		return;
	ct_buf_init(&text);
	ct_display_add_size(&text, shown->buffer_rounded);
	(void)snprintf(out, 32, "%s", ct_buf_text(&text));
	ct_buf_fini(&text);
}

static const char *head_text(const struct ctrace_display *shown)
{
	return shown->likehead ? "LIKE" : shown->head ? "HEAD" : "";
}

static void format_subs(const struct ctrace_display *shown, char out[16])
{
	out[0] = '\0';
	if (shown->head || shown->subs != 0)
		(void)snprintf(out, 16, "%4u", (unsigned)shown->subs);
}

void ct_display_add_columns(struct ct_buf *out, const struct ctrace_display *shown,
			    const char *mode, int mode_width)
{
	char buffer[32], subs[16];

	format_buffer(shown, buffer);
	format_subs(shown, subs);
	ct_buf_add_format(out, "%-*s%-7s%-5s%4s", mode_width, mode, buffer, head_text(shown), subs);
}

/* ---- values ---- */

/* Returns the bytes that must stay together at `at`: a character, or an escape of
 * ct_escape_add(). */
static size_t unit_size(const char *at, size_t left, bool is_escaped)
{
	size_t size = 1;

	if (is_escaped && at[0] == '\\' && left >= 2) {
		const char *end = at[1] == 'u' ? memchr(at, '}', left) : NULL;

		size = end != NULL ? (size_t)(end - at) + 1 : at[1] == 'x' ? 4 : 2;
		return size < left ? size : left;
	}
	while (size < left && ((unsigned char)at[size] & 0xC0) == 0x80)
		size++;
	return size;
}

/* Returns how many bytes of a value one line takes: all if they fit, else up to a comma or blank
 * if there is one. */
static size_t line_size(const char *at, size_t left, bool is_escaped)
{
	unsigned room = CT_DISPLAY_COLUMNS - VALUE_COLUMN;
	unsigned columns = 0;
	size_t size = 0;
	size_t good = 0;

	while (size < left) {
		size_t unit = unit_size(at + size, left - size, is_escaped);

		columns += text_count_columns(at + size, unit);
		if (columns > room)
			return good != 0 ? good : size != 0 ? size : unit;
		if (at[size] == ',' || at[size] == ' ')
			good = size + unit;
		size += unit;
	}
	return left;
}

void ct_display_add_detail(struct ct_buf *out, const char *keyword, const char *value)
{
	bool is_escaped = !text_is_plain(value, strlen(value));
	struct ct_buf text;
	size_t at = 0;

	ct_buf_init(&text);
	(void)ct_display_add_text(&text, value);
	ct_display_add_blanks(out, DETAIL_COLUMN);
	ct_display_add_blanks(out,
			      VALUE_COLUMN - DETAIL_COLUMN - ct_display_add_text(out, keyword));
	while (at < text.size) {
		size_t size = line_size(text.data + at, text.size - at, is_escaped);

		if (at != 0) {
			ct_display_end_line(out);
			ct_display_add_blanks(out, VALUE_COLUMN);
		}
		ct_buf_add(out, text.data + at, size);
		at += size;
	}
	ct_display_end_line(out);
	out->failed |= text.failed;
	ct_buf_fini(&text);
}
