/*
 * export.c - what exporters share: the table of exporters, how a document is written, and the names
 * of events in it.
 *
 * Called by the exporters and by ctrace export, on one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define WRITE_SIZE ((size_t)256 << 10)
#define NS_PER_SECOND 1000000000u
#define EXACT_LIMIT ((uint64_t)1 << 53) /* JSON readers take numbers for doubles */

static const struct ct_exporter *const exporters[] = {
	&ct_export_trace, &ct_export_chrome, &ct_export_perfetto, &ct_export_speedscope,
	&ct_export_csv,   &ct_export_json,   &ct_export_otlp,     &ct_export_otlp_protobuf,
};

const struct ct_exporter *ct_exporter_at(size_t index)
{
	return index < CT_COUNT(exporters) ? exporters[index] : NULL;
}

const struct ct_exporter *ct_exporter_find(const char *name)
{
	const struct ct_exporter *found = NULL;

	for (size_t i = 0; i < CT_COUNT(exporters); i++) {
		if (strncasecmp(name, exporters[i]->name, strlen(name)) != 0)
			continue;
		/* A whole name may also be the beginning of another. */
		if (strlen(name) == strlen(exporters[i]->name))
			return exporters[i];
		if (found != NULL)
			return NULL;
		found = exporters[i];
	}
	return found;
}

/* -----------------------------------------------------------------------------------------------
 * A document
 */

void ct_export_out_init(struct ct_export_out *out, int fd)
{
	*out = (struct ct_export_out){ .fd = fd };
	ct_buf_init(&out->text);
}

void ct_export_out_fini(struct ct_export_out *out)
{
	ct_buf_fini(&out->text);
}

static void out_write_text(struct ct_export_out *out)
{
	size_t at = 0;

	if (out->text.failed && out->error == 0)
		out->error = ENOMEM;
	while (out->error == 0 && at < out->text.size) {
		ssize_t written = write(out->fd, out->text.data + at, out->text.size - at);

		if (written > 0)
			at += (size_t)written;
		else if (written == 0 || errno != EINTR)
			out->error = written == 0 ? ENOSPC : errno;
	}
	ct_buf_clear(&out->text);
}

void ct_export_out_offer(struct ct_export_out *out)
{
	if (out->text.size >= WRITE_SIZE || out->text.failed)
		out_write_text(out);
}

enum ctrace_status ct_export_out_end(struct ct_export_out *out)
{
	/* After any lack of memory, in the readers too, an event or a field may be missing. */
	if (ct_memory_has_lacked() && out->error == 0)
		out->error = ENOMEM;
	out_write_text(out);
	if (out->error == 0)
		return CTRACE_OK;
	errno = out->error;
	return out->error == ENOMEM ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OS_ERROR;
}

/* -----------------------------------------------------------------------------------------------
 * Texts
 */

/* Returns the bytes of the character at `at`; 0 when it is not UTF-8. */
static size_t character_size(const unsigned char *at, size_t left)
{
	size_t size = at[0] < 0x80   ? 1
		      : at[0] < 0xC2 ? 0
		      : at[0] < 0xE0 ? 2
		      : at[0] < 0xF0 ? 3
		      : at[0] < 0xF5 ? 4
				     : 0;

	if (size == 0 || size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xC0) != 0x80)
			return 0;
	if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
	    (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
		return 0;
	return size;
}

static uint32_t character_code(const unsigned char *at, size_t size)
{
	uint32_t code = size <= 1 ? at[0] : at[0] & (0x7Fu >> size);

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (at[i] & 0x3Fu);
	return code;
}

/* Adds two escapes for a character beyond 16 bits. */
static void add_escape(struct ct_buf *out, uint32_t code)
{
	if (code >= 0x10000) {
		add_escape(out, 0xD800 + ((code - 0x10000) >> 10));
		code = 0xDC00 + ((code - 0x10000) & 0x3FF);
	}
	ct_buf_add_text(out, "\\u");
	ct_buf_add_hex(out, code, 4, false);
}

void ct_export_add_string(struct ct_buf *out, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + size;

	ct_buf_add_char(out, '"');
	while (at < end) {
		const unsigned char *start = at;
		size_t taken;

		while (at < end && *at >= 0x20 && *at < 0x7F && *at != '"' && *at != '\\')
			at++;
		ct_buf_add(out, start, (size_t)(at - start));
		if (at == end)
			break;
		taken = character_size(at, (size_t)(end - at));
		if (*at == '"' || *at == '\\') {
			ct_buf_add_char(out, '\\');
			ct_buf_add_char(out, (char)*at);
		} else {
			add_escape(out, character_code(at, taken));
		}
		at += taken != 0 ? taken : 1;
	}
	ct_buf_add_char(out, '"');
}

/* printf() would cost more than the rest of the event. */
void ct_export_add_digits(struct ct_buf *out, uint64_t number, unsigned digits)
{
	char text[20];

	for (unsigned i = digits; i-- > 0; number /= 10)
		text[i] = (char)('0' + number % 10);
	ct_buf_add(out, text, digits);
}

void ct_export_add_time(struct ct_buf *out, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	struct tm parts = { .tm_year = 70, .tm_mday = 1 };

	(void)gmtime_r(&seconds, &parts);
	ct_export_add_digits(out, 1900 + (uint64_t)parts.tm_year, 4);
	ct_buf_add_char(out, '-');
	ct_export_add_digits(out, 1 + (uint64_t)parts.tm_mon, 2);
	ct_buf_add_char(out, '-');
	ct_export_add_digits(out, (uint64_t)parts.tm_mday, 2);
	ct_buf_add_char(out, 'T');
	ct_export_add_digits(out, (uint64_t)parts.tm_hour, 2);
	ct_buf_add_char(out, ':');
	ct_export_add_digits(out, (uint64_t)parts.tm_min, 2);
	ct_buf_add_char(out, ':');
	ct_export_add_digits(out, (uint64_t)parts.tm_sec, 2);
	ct_buf_add_char(out, '.');
	ct_export_add_digits(out, time_ns % NS_PER_SECOND, 9);
	ct_buf_add_char(out, 'Z');
}

void ct_export_add_name(struct ct_buf *out, const struct ct_read_event *event)
{
	char number[16];

	ct_buf_add(out, event->traced.component, event->traced.component_size);
	ct_buf_add_char(out, ' ');
	ct_buf_add_text(out, ct_read_event_mnemonic(event, number));
}

static bool text_is_plain_integer(const struct ctrace_event_item *item,
				  const struct ct_argument *argument)
{
	if (argument != NULL && argument->print != CT_PRINT_DEFAULT &&
	    argument->print != CT_PRINT_DECIMAL)
		return false;
	return (item->type == CTRACE_TYPE_COMP5 || item->type == CTRACE_TYPE_COMPX ||
		item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS) &&
	       item->size >= 1 && item->size <= 8;
}

bool ct_export_add_value(struct ct_buf *out, const struct ct_read_event *event, uint32_t index)
{
	static const struct ct_line_format format = { .format = "", .delimiter = "" };
	const struct ctrace_event_item *item = &event->traced.items[index];
	const struct ct_argument *argument = ct_read_event_argument(event, index);

	if (text_is_plain_integer(item, argument)) {
		bool is_signed =
			item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS;
		int64_t number = (int64_t)item->value;

		if (is_signed)
			ct_buf_add_i64(out, number);
		else
			ct_buf_add_u64(out, item->value);
		return is_signed ? number > -(int64_t)EXACT_LIMIT && number < (int64_t)EXACT_LIMIT
				 : item->value < EXACT_LIMIT;
	}
	if ((item->type == CTRACE_TYPE_TEXT || item->type == CTRACE_TYPE_UTF8) &&
	    (argument == NULL || argument->print == CT_PRINT_DEFAULT))
		ct_buf_add(out, item->data, item->size);
	else
		ct_value_add(out, &format, item, argument, event->source_process->is_big);
	return false;
}
