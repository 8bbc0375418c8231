/*
 * print_json.c - an event as one JSON object on a line.
 *
 * Called by the tools; pure.  Whatever bytes the traced program gave, what comes out is valid JSON, in ASCII, on one line, harmless on a
 * terminal.  A text that is not UTF-8 is shown with each wrong byte as the character of that number, and again, exactly, as
 * hexadecimal digits in "hex":
 *
 *     {"time":"2026-01-31T14:12:27.993000000Z","time_ns":1769868747993000000,"component":"MF.RTS","event":255,"level":"ERROR",
 *      "pid":1234,"tid":1235,"data":[{"type":"comp5","value":173},{"type":"text","value":"myprog"},
 *      {"type":"binary","value":"0A0B"},{"type":"address","value":"0x00007FFF12345678"}]}
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <string.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u

static void add_unit(struct ct_buf *out, uint32_t unit)
{
	ct_buf_add(out, "\\u", 2);
	ct_buf_add_hex(out, unit, 4, false);
}

static void add_code(struct ct_buf *out, uint32_t code)
{
	if (code == '"' || code == '\\') {
		ct_buf_add_char(out, '\\');
		ct_buf_add_char(out, (char)code);
	} else if (code >= 0x20 && code < 0x7F) {
		ct_buf_add_char(out, (char)code);
	} else if (code < 0x10000) {
		add_unit(out, code);
	} else {
		add_unit(out, 0xD800 + ((code - 0x10000) >> 10));
		add_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
	}
}

/* The code point at `at`, and its length; 0 when the bytes are not UTF-8. */
static size_t decode(const unsigned char *at, size_t left, uint32_t *out_code)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
	uint32_t code = length <= 1 ? at[0] : at[0] & (0x7Fu >> length);

	if (length == 0 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3Fu);
	}
	if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		return 0;
	*out_code = code;
	return length;
}

/* True when all of it was UTF-8. */
static bool add_string(struct ct_buf *out, const void *text, size_t size)
{
	const unsigned char *at = text;
	bool is_clean = true;

	ct_buf_add_char(out, '"');
	while (size > 0) {
		uint32_t code;
		size_t length = decode(at, size, &code);

		if (length == 0) {
			is_clean = false;
			code = *at;
			length = 1;
		}
		add_code(out, code);
		at += length;
		size -= length;
	}
	ct_buf_add_char(out, '"');
	return is_clean;
}

static void add_hex(struct ct_buf *out, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	ct_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i++)
		ct_buf_add_hex(out, bytes[i], 2, true);
	ct_buf_add_char(out, '"');
}

static void add_type(struct ct_buf *out, const char *name)
{
	ct_buf_add_text(out, "{\"type\":\"");
	ct_buf_add_text(out, name);
	ct_buf_add_text(out, "\",\"value\":");
}

static void add_text(struct ct_buf *out, const char *type, const struct ctrace_event_item *item)
{
	add_type(out, type);
	if (add_string(out, item->data, item->size))
		return;
	ct_buf_add_text(out, ",\"hex\":");
	add_hex(out, item->data, item->size);
}

static void add_integer(struct ct_buf *out, const char *type, const struct ctrace_event_item *item, bool is_signed)
{
	add_type(out, type);
	if (item->size < 1 || item->size > 8)
		add_hex(out, item->data, item->size);
	else if (is_signed)
		ct_buf_add_i64(out, (int64_t)item->value);
	else
		ct_buf_add_u64(out, item->value);
}

static void add_item(struct ct_buf *out, const struct ctrace_event_item *item)
{
	switch (item->type) {
	case CTRACE_TYPE_TEXT:
		add_text(out, "text", item);
		break;
	case CTRACE_TYPE_UTF8:
		add_text(out, "utf8", item);
		break;
	case CTRACE_TYPE_ADDRESS:
		add_type(out, "address");
		ct_buf_add_text(out, "\"0x");
		ct_buf_add_hex(out, item->value, 16, true);
		ct_buf_add_char(out, '"');
		break;
	case CTRACE_TYPE_COMP5:
		add_integer(out, "comp5", item, false);
		break;
	case CTRACE_TYPE_COMPX:
		add_integer(out, "compx", item, false);
		break;
	case CTRACE_TYPE_COMP5S:
		add_integer(out, "comp5s", item, true);
		break;
	case CTRACE_TYPE_COMPXS:
		add_integer(out, "compxs", item, true);
		break;
	default:
		add_type(out, "binary");
		add_hex(out, item->data, item->size);
	}
	ct_buf_add_char(out, '}');
}

static void add_time(struct ct_buf *out, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	char text[32] = "1970-01-01T00:00:00";
	struct tm parts;

	if (gmtime_r(&seconds, &parts) != NULL)
		(void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
	ct_buf_add_format(out, "{\"time\":\"%s.%09uZ\",\"time_ns\":", text, (unsigned)(time_ns % NS_PER_SECOND));
	ct_buf_add_u64(out, time_ns);
}

void ct_json_add(struct ct_buf *out, const struct ctrace_event *event)
{
	add_time(out, event->time_ns);
	ct_buf_add_text(out, ",\"component\":");
	(void)add_string(out, event->component, event->component_size);
	ct_buf_add_text(out, ",\"event\":");
	ct_buf_add_u64(out, event->event_id);
	ct_buf_add_text(out, ",\"level\":\"");
	ct_buf_add_text(out, ct_level_name(event->level));
	ct_buf_add_text(out, "\",\"pid\":");
	ct_buf_add_u64(out, event->pid);
	ct_buf_add_text(out, ",\"tid\":");
	ct_buf_add_u64(out, event->tid);
	ct_buf_add_text(out, ",\"data\":[");
	for (uint32_t i = 0; i < event->item_count; i++) {
		if (i > 0)
			ct_buf_add_char(out, ',');
		add_item(out, &event->items[i]);
	}
	ct_buf_add_text(out, "]}\n");
}
