/*
 * text_line.c - an event as one line of text, by a FORMAT with pseudo-variables.
 *
 * Called for every event by the emitters that print, on the consumer thread's thread, and by the
 * readers.  A printer of lines belongs to one thread; the rest is pure.  What a traced program put
 * into its event can neither end the line nor reach a terminal as anything but text: all of it goes
 * through ct_escape_add(), is found to be printable ASCII, or comes out as digits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <endian.h>
#include <string.h>
#include <time.h>

#define NS_PER_MS 1000000u
#define MS_PER_SECOND 1000u
#define TIME_SIZE 12u

/* The last time printed by this thread.  Asking the time zone costs more than the rest of a line;
 * and many events are of one millisecond. */
struct shown_time {
	uint64_t begin_ns; /* of the millisecond */
	uint64_t span_ns;  /* NS_PER_MS; 0: none was printed */
	uint64_t second;   /* since 1970, plus 1: 0 is none */
	char time[TIME_SIZE];
	char date[10];
};
static _Thread_local struct shown_time last_shown __attribute__((tls_model("initial-exec")));

static void show_second(struct shown_time *shown, uint64_t second)
{
	time_t seconds = (time_t)(second - 1);
	struct tm local;

	if (localtime_r(&seconds, &local) == NULL)
		local = (struct tm){ .tm_year = 70, .tm_mday = 1 };
	(void)ct_put_two(shown->date, (unsigned)(local.tm_year + 1900) / 100 % 100);
	(void)ct_put_two(shown->date + 2, (unsigned)(local.tm_year + 1900) % 100);
	shown->date[4] = '/';
	(void)ct_put_two(shown->date + 5, (unsigned)local.tm_mon + 1);
	shown->date[7] = '/';
	(void)ct_put_two(shown->date + 8, (unsigned)local.tm_mday);
	(void)ct_put_two(shown->time, (unsigned)local.tm_hour);
	shown->time[2] = ':';
	(void)ct_put_two(shown->time + 3, (unsigned)local.tm_min);
	shown->time[5] = ':';
	(void)ct_put_two(shown->time + 6, (unsigned)local.tm_sec);
	shown->time[8] = '.';
	shown->second = second;
}

static __attribute__((noinline)) void show_ms(struct shown_time *shown, uint64_t ms)
{
	uint64_t second = ms / MS_PER_SECOND + 1;
	unsigned rest = (unsigned)(ms % MS_PER_SECOND);

	if (shown->second != second)
		show_second(shown, second);
	shown->time[9] = (char)('0' + rest / 100);
	(void)ct_put_two(shown->time + 10, rest % 100);
	shown->begin_ns = ms * NS_PER_MS;
	shown->span_ns = NS_PER_MS;
}

static inline const struct shown_time *time_shown(uint64_t time_ns)
{
	struct shown_time *shown = &last_shown;

	if (time_ns - shown->begin_ns >= shown->span_ns)
		show_ms(shown, time_ns / NS_PER_MS);
	return shown;
}

void ct_line_add_time(struct ct_buf *out, uint64_t time_ns)
{
	char *at = ct_buf_room(out, TIME_SIZE);

	if (at == NULL)
		return;
	memcpy(at, time_shown(time_ns)->time, TIME_SIZE);
	out->size += TIME_SIZE;
}

void ct_line_add_fine_time(struct ct_buf *out, uint64_t time_ns, unsigned digits)
{
	const struct shown_time *shown = time_shown(time_ns);
	unsigned rest = (unsigned)(time_ns - shown->begin_ns);
	char *at = ct_buf_room(out, TIME_SIZE + 6);

	if (at == NULL)
		return;
	memcpy(at, shown->time, TIME_SIZE);
	(void)ct_put_two(at + TIME_SIZE, rest / 10000);
	(void)ct_put_two(at + TIME_SIZE + 2, rest / 100 % 100);
	(void)ct_put_two(at + TIME_SIZE + 4, rest % 100);
	out->size += TIME_SIZE - 3 + digits;
}

void ct_line_add_date(struct ct_buf *out, uint64_t time_ns)
{
	ct_buf_add(out, time_shown(time_ns)->date, 10);
}

/* Upper-case hexadecimal, a '-' between blocks. */
static __attribute__((noinline)) void add_bytes(struct ct_buf *out, const unsigned char *data,
						size_t size, uint32_t block_size)
{
	char *at;

	if (size == 0)
		return;
	at = ct_buf_room(out, size * 3);
	if (at == NULL)
		return;
	for (; block_size != 0 && size > block_size; size -= block_size, data += block_size) {
		at = ct_put_hex_bytes(at, data, block_size);
		*at++ = '-';
	}
	ct_buf_end(out, ct_put_hex_bytes(at, data, size));
}

static __attribute__((noinline)) void add_address(struct ct_buf *out, uint64_t value)
{
	unsigned digits = value == 0 ? 1 : (unsigned)(67 - __builtin_clzll(value)) / 4;
	uint64_t bytes = htobe64(value);
	char *at = ct_buf_room(out, 2 + 16), text[16];

	if (at == NULL)
		return;
	(void)ct_put_hex_bytes(text, &bytes, sizeof bytes);
	at[0] = '0';
	at[1] = 'x';
	memcpy(at + 2, text + 16 - digits, digits);
	ct_buf_end(out, at + 2 + digits);
}

/* A text with something to escape.  Out of line, so that the others are spared its registers. */
static __attribute__((noinline)) void add_hostile(struct ct_buf *out, const void *data, size_t size,
						  bool quote)
{
	if (quote)
		ct_buf_add_char(out, '"');
	ct_escape_add(out, data, size);
	if (quote)
		ct_buf_add_char(out, '"');
}

static inline void add_text(struct ct_buf *out, const void *data, size_t size, bool quote)
{
	char *at = ct_buf_room(out, size + 2);

	if (at == NULL)
		return;
	*at = '"';
	at = ct_escape_put_plain(at + quote, data, size);
	if (at == NULL) {
		add_hostile(out, data, size, quote);
		return;
	}
	*at = '"';
	ct_buf_end(out, at + quote);
}

void ct_line_add_encoded(struct ct_buf *out, const struct ct_line_format *format,
			 enum ct_encoding encoding, const void *data, size_t size)
{
	if (encoding == CT_ENCODING_ASCII) {
		add_text(out, data, size, format->quote_strings);
		return;
	}
	if (format->quote_strings)
		ct_buf_add_char(out, '"');
	ct_encoding_add_escaped(out, encoding, data, size);
	if (format->quote_strings)
		ct_buf_add_char(out, '"');
}

static inline void add_item(struct ct_buf *out, const struct ct_line_format *format,
			    const struct ctrace_event_item *item)
{
	uint32_t size = item->data != NULL ? item->size : 0;
	bool is_number = item->size >= 1 && item->size <= 8;

	switch (item->type) {
	case CTRACE_TYPE_TEXT:
		if (format->encoding != CT_ENCODING_ASCII) {
			ct_line_add_encoded(out, format, format->encoding, item->data, size);
			return;
		}
		/* fall through */
	case CTRACE_TYPE_UTF8:
		add_text(out, item->data, size, format->quote_strings);
		return;
	case CTRACE_TYPE_ADDRESS:
		add_address(out, item->value);
		return;
	case CTRACE_TYPE_COMP5:
	case CTRACE_TYPE_COMPX:
		if (!is_number)
			break;
		ct_buf_add_u64(out, item->value);
		return;
	case CTRACE_TYPE_COMP5S:
	case CTRACE_TYPE_COMPXS:
		if (!is_number)
			break;
		ct_buf_add_i64(out, (int64_t)item->value);
		return;
	default:
		break;
	}
	add_bytes(out, item->data, size, format->hex_block_size);
}

void ct_line_add_item(struct ct_buf *out, const struct ct_line_format *format,
		      const struct ctrace_event_item *item)
{
	add_item(out, format, item);
}

void ct_line_add_data(const struct ct_line_printer *line, struct ct_buf *out,
		      const struct ctrace_event *event)
{
	for (uint32_t i = 0; i < event->item_count; i++) {
		ct_buf_add_short(out, line->format.delimiter, line->delimiter_size);
		add_item(out, &line->format, &event->items[i]);
	}
}

/* ---- lines ---- */

static const struct ct_line_name own_names[] = {
	{ "COMPONENT", CT_LINE_COMPONENT, true },
	{ "EVENT", CT_LINE_EVENT, true },
	{ "LEVEL", CT_LINE_LEVEL, true },
	{ "DATA", CT_LINE_DATA, false },
	{ "DATE", CT_LINE_DATE, false },
	{ "THREAD", CT_LINE_THREAD, false },
	{ "TIME", CT_LINE_TIME, false },
	{ "PID", CT_LINE_PROCESS, false },
	{ "PROCESS", CT_LINE_PROCESS, false },
	{ "APPNAME", CT_LINE_APPNAME, true }, /* last: not without a program */
};

enum ctrace_status ct_line_printer_init_with(struct ct_line_printer *line,
					     const struct ct_line_format *format,
					     const struct ct_line_name *names, size_t name_count)
{
	*line = (struct ct_line_printer){ .format = *format,
					  .delimiter_size = strlen(format->delimiter) };
	return ct_line_parts_init(&line->parts, format->format, names, name_count);
}

enum ctrace_status ct_line_printer_init(struct ct_line_printer *line,
					const struct ct_line_format *format)
{
	return ct_line_printer_init_with(line, format, own_names,
					 CT_COUNT(own_names) - (format->program == NULL));
}

void ct_line_printer_fini(struct ct_line_printer *line)
{
	ct_line_parts_fini(&line->parts);
}

static void add_class(const struct ct_line_printer *line, struct ct_buf *out,
		      const struct ctrace_event *event);

static inline void add_part(const struct ct_line_printer *line, struct ct_buf *out,
			    const struct ct_line_part *part, const struct ctrace_event *event)
{
	switch (part->variable) {
	case CT_LINE_TEXT:
		ct_buf_add_short(out, part->text, part->size);
		return;
	case CT_LINE_CLASS:
		add_class(line, out, event);
		return;
	case CT_LINE_COMPONENT:
		ct_escape_add(out, event->component, event->component_size);
		return;
	case CT_LINE_DATA:
		ct_line_add_data(line, out, event);
		return;
	case CT_LINE_DATE:
		ct_line_add_date(out, event->time_ns);
		return;
	case CT_LINE_EVENT:
		ct_buf_add_u64(out, event->event_id);
		return;
	case CT_LINE_LEVEL:
		ct_buf_add_u64(out, event->level);
		return;
	case CT_LINE_THREAD:
		ct_buf_add_u64(out, event->tid);
		return;
	case CT_LINE_TIME:
		ct_line_add_time(out, event->time_ns);
		return;
	case CT_LINE_PROCESS:
		ct_buf_add_u64(out, event->pid);
		return;
	case CT_LINE_APPNAME:
		ct_escape_add(out, line->format.program, strlen(line->format.program));
		return;
	default:
		return;
	}
}

void ct_line_add_part(const void *self, struct ct_buf *out, const struct ct_line_part *part,
		      const void *of)
{
	add_part(self, out, part, of);
}

static void add_class(const struct ct_line_printer *line, struct ct_buf *out,
		      const struct ctrace_event *event)
{
	const struct ct_line_class class = { .component = event->component,
					     .scope = event->component_id,
					     .event_id = event->event_id,
					     .level = event->level };

	ct_line_parts_add_class(&line->parts, out, &class, ct_line_add_part, line, event);
}

void ct_line_add(const struct ct_line_printer *line, struct ct_buf *out,
		 const struct ctrace_event *event)
{
	const struct ct_line_part *part = line->parts.parts, *end = part + line->parts.count;

	for (; part < end; part++)
		add_part(line, out, part, event);
	ct_buf_add_short(out, "\n", 1);
}

void ct_line_add_losses(struct ct_buf *out, const uint64_t totals[CTRACE_LOSS_COUNT], uint32_t pid)
{
	const char *before = "# Lost             = ";

	for (unsigned reason = 0; reason < CTRACE_LOSS_COUNT; reason++) {
		if (totals[reason] == 0)
			continue;
		ct_buf_add_text(out, before);
		ct_buf_add_u64(out, totals[reason]);
		ct_buf_add_char(out, ' ');
		ct_buf_add_text(out, ctrace_loss_name((enum ctrace_loss)reason));
		before = ", ";
	}
	ct_buf_add_text(out, " (process ");
	ct_buf_add_u64(out, pid);
	ct_buf_add_text(out, ")\n");
}

void ct_line_add_seconds(struct ct_buf *out, uint64_t ns)
{
	uint64_t us = ns / 1000 + (ns % 1000 >= 500);

	ct_buf_add_format(out, "%llu.%06llu s", (unsigned long long)(us / 1000000u),
			  (unsigned long long)(us % 1000000u));
}

void ct_line_add_step(struct ct_buf *out, int64_t by_ns)
{
	ct_buf_add_text(out, by_ns < 0 ? "back by " : "forward by ");
	ct_line_add_seconds(out, by_ns < 0 ? 0 - (uint64_t)by_ns : (uint64_t)by_ns);
}

void ct_line_note_clock(struct ct_buf *out, struct ct_clock_seen *seen,
			const struct ctrace_event *event)
{
	const struct ctrace_clock *clock = event->clock;
	bool is_first = seen->steps == CT_CLOCK_UNSEEN;
	int64_t by_ns = (int64_t)((uint64_t)clock->total_ns - (uint64_t)seen->total_ns);

	/* Its thread was interrupted before it committed: the event is from before a step that is
	 * noted already. */
	if (!is_first && clock->steps < seen->steps)
		return;
	seen->steps = clock->steps;
	seen->total_ns = clock->total_ns;
	if (is_first || by_ns == 0)
		return;
	ct_buf_add_text(out, "# Clock set ");
	ct_line_add_step(out, by_ns);
	ct_buf_add_text(out, " at ");
	ct_line_add_date(out, clock->set_at_ns);
	ct_buf_add_char(out, ' ');
	ct_line_add_time(out, clock->set_at_ns);
	ct_buf_add_text(out, " (process ");
	ct_buf_add_u64(out, event->pid);
	ct_buf_add_text(out, ")\n");
}
