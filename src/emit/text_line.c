/*
 * text_line.c - an event as one line of text, by a FORMAT with pseudo-variables.
 *
 * Called for every event by the emitters that print, on the agent's thread, and by the readers; any thread may.  What a traced
 * program put into its event can neither end the line nor reach a terminal as anything but text: all of it goes through
 * ct_escape_add() or comes out as digits.
 *
 * FORMAT is walked for each event instead of being compiled once: that is a small part of a line's cost, and nobody has a compiled
 * form to keep in step.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/emit.h"

#include <string.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u
#define VARIABLE_MAX 9u /* letters of the longest one, COMPONENT */

/* The last second printed by this thread: asking the time zone costs more than the rest of a line. */
struct second {
	uint64_t number; /* since 1970, plus 1: 0 is none */
	char date[10];
	char time[8];
};
static _Thread_local struct second last_second;

static void put_two(char *at, int value)
{
	at[0] = (char)('0' + value / 10 % 10);
	at[1] = (char)('0' + value % 10);
}

static const struct second *second_of(uint64_t time_ns)
{
	uint64_t number = time_ns / NS_PER_SECOND + 1;
	struct second *second = &last_second;
	time_t seconds = (time_t)(number - 1);
	struct tm local;

	if (second->number == number)
		return second;
	if (localtime_r(&seconds, &local) == NULL)
		local = (struct tm){ .tm_year = 70, .tm_mday = 1 };
	put_two(second->date, (local.tm_year + 1900) / 100);
	put_two(second->date + 2, (local.tm_year + 1900) % 100);
	second->date[4] = '/';
	put_two(second->date + 5, local.tm_mon + 1);
	second->date[7] = '/';
	put_two(second->date + 8, local.tm_mday);
	put_two(second->time, local.tm_hour);
	second->time[2] = ':';
	put_two(second->time + 3, local.tm_min);
	second->time[5] = ':';
	put_two(second->time + 6, local.tm_sec);
	second->number = number;
	return second;
}

void ct_line_add_time(struct ct_buf *out, uint64_t time_ns)
{
	const struct second *second = second_of(time_ns);
	int milliseconds = (int)(time_ns % NS_PER_SECOND / 1000000u);
	char text[12];

	memcpy(text, second->time, 8);
	text[8] = '.';
	text[9] = (char)('0' + milliseconds / 100);
	put_two(text + 10, milliseconds % 100);
	ct_buf_add(out, text, sizeof text);
}

void ct_line_add_date(struct ct_buf *out, uint64_t time_ns)
{
	ct_buf_add(out, second_of(time_ns)->date, 10);
}

/* Upper-case hexadecimal, a '-' between blocks. */
static void add_bytes(struct ct_buf *out, const unsigned char *data, size_t size, uint32_t block_size)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t left_in_block = block_size;
	char *at;

	if (size == 0 || !ct_buf_reserve(out, size * 3))
		return;
	at = out->data + out->size;
	for (size_t i = 0; i < size; i++) {
		if (block_size != 0 && left_in_block-- == 0) {
			*at++ = '-';
			left_in_block = block_size - 1;
		}
		*at++ = digits[data[i] >> 4];
		*at++ = digits[data[i] & 15];
	}
	out->size = (size_t)(at - out->data);
}

static void add_address(struct ct_buf *out, uint64_t value)
{
	unsigned digits = value == 0 ? 1 : (unsigned)(67 - __builtin_clzll(value)) / 4;

	ct_buf_add(out, "0x", 2);
	ct_buf_add_hex(out, value, digits, true);
}

static void add_text(struct ct_buf *out, const void *data, size_t size, bool quote)
{
	if (quote)
		ct_buf_add_char(out, '"');
	ct_escape_add(out, data, size);
	if (quote)
		ct_buf_add_char(out, '"');
}

static void add_encoded(struct ct_buf *out, enum ct_encoding encoding, const void *data, size_t size, bool quote)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_encoding_add(&text, encoding, data, size);
	add_text(out, text.data, text.size, quote);
	ct_buf_fini_into(&text, out);
}

void ct_line_add_item(struct ct_buf *out, const struct ct_line_format *format, const struct ctrace_event_item *item)
{
	uint32_t size = item->data != NULL ? item->size : 0;
	bool is_number = item->size >= 1 && item->size <= 8;

	switch (item->type) {
	case CTRACE_TYPE_TEXT:
		if (format->encoding != CT_ENCODING_ASCII) {
			add_encoded(out, format->encoding, item->data, size, format->quote_strings);
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

static void add_items(struct ct_buf *out, const struct ct_line_format *format, const struct ctrace_event *event)
{
	size_t delimiter_size = strlen(format->delimiter);

	for (uint32_t i = 0; i < event->item_count; i++) {
		ct_buf_add(out, format->delimiter, delimiter_size);
		ct_line_add_item(out, format, &event->items[i]);
	}
}

enum variable { COMPONENT, DATA, DATE, EVENT, LEVEL, THREAD, TIME, PROCESS, APPNAME, UNKNOWN };

/* By length, so that each comparison is one of a few bytes: this runs for every variable of every line. */
static enum variable variable_in_upper_case(const char *name, size_t size)
{
	switch (size) {
	case 3:
		return memcmp(name, "PID", 3) == 0 ? PROCESS : UNKNOWN;
	case 4:
		return memcmp(name, "TIME", 4) == 0   ? TIME
		       : memcmp(name, "DATA", 4) == 0 ? DATA
		       : memcmp(name, "DATE", 4) == 0 ? DATE
						      : UNKNOWN;
	case 5:
		return memcmp(name, "EVENT", 5) == 0 ? EVENT : memcmp(name, "LEVEL", 5) == 0 ? LEVEL : UNKNOWN;
	case 6:
		return memcmp(name, "THREAD", 6) == 0 ? THREAD : UNKNOWN;
	case 7:
		return memcmp(name, "PROCESS", 7) == 0 ? PROCESS : memcmp(name, "APPNAME", 7) == 0 ? APPNAME : UNKNOWN;
	case 9:
		return memcmp(name, "COMPONENT", 9) == 0 ? COMPONENT : UNKNOWN;
	default:
		return UNKNOWN;
	}
}

static enum variable variable_of(const char *name, size_t size)
{
	enum variable variable = variable_in_upper_case(name, size);
	char upper[VARIABLE_MAX];

	if (variable != UNKNOWN)
		return variable;
	memcpy(upper, name, size);
	ct_name_upper(upper, size);
	return variable_in_upper_case(upper, size);
}

static bool add_variable(struct ct_buf *out, enum variable variable, const struct ct_line_format *format,
			 const struct ctrace_event *event)
{
	switch (variable) {
	case COMPONENT:
		ct_escape_add(out, event->component, event->component_size);
		return true;
	case DATA:
		add_items(out, format, event);
		return true;
	case DATE:
		ct_line_add_date(out, event->time_ns);
		return true;
	case EVENT:
		ct_buf_add_u64(out, event->event_id);
		return true;
	case LEVEL:
		ct_buf_add_u64(out, event->level);
		return true;
	case THREAD:
		ct_buf_add_u64(out, event->tid);
		return true;
	case TIME:
		ct_line_add_time(out, event->time_ns);
		return true;
	case PROCESS:
		ct_buf_add_u64(out, event->pid);
		return true;
	case APPNAME:
		if (format->program == NULL)
			return false;
		ct_escape_add(out, format->program, strlen(format->program));
		return true;
	case UNKNOWN:
		break;
	}
	return false;
}

/* The bytes of the variable at `at`, which begins with '$'; 0 when it is none that we know: then it stays as it is. */
static size_t try_variable(struct ct_buf *out, const char *at, const struct ct_line_format *format, const struct ctrace_event *event)
{
	size_t size = 0;

	if (at[1] != '(')
		return 0;
	while (size <= VARIABLE_MAX && at[2 + size] != ')') {
		if (at[2 + size] == '\0')
			return 0;
		size++;
	}
	if (size > VARIABLE_MAX || !add_variable(out, variable_of(at + 2, size), format, event))
		return 0;
	return size + 3;
}

void ct_line_add(struct ct_buf *out, const struct ct_line_format *format, const struct ctrace_event *event)
{
	const char *start = format->format, *at = start;

	while (*at != '\0') {
		size_t literal = (size_t)(at - start), size;

		if (*at != '$') {
			at++;
			continue;
		}
		if (literal == 1)
			ct_buf_add_char(out, *start);
		else
			ct_buf_add(out, start, literal);
		start = at;
		size = try_variable(out, at, format, event);
		at += size > 0 ? size : 1;
		if (size > 0)
			start = at;
	}
	ct_buf_add(out, start, (size_t)(at - start));
	ct_buf_add_char(out, '\n');
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

	ct_buf_add_format(out, "%llu.%06llu s", (unsigned long long)(us / 1000000u), (unsigned long long)(us % 1000000u));
}

void ct_line_add_step(struct ct_buf *out, int64_t by_ns)
{
	ct_buf_add_text(out, by_ns < 0 ? "back by " : "forward by ");
	ct_line_add_seconds(out, by_ns < 0 ? 0 - (uint64_t)by_ns : (uint64_t)by_ns);
}

static void add_clock(struct ct_buf *out, struct ct_clock_seen *seen, const struct ctrace_event *event)
{
	const struct ctrace_clock *clock = event->clock;
	bool is_first = seen->steps == CT_CLOCK_UNSEEN;
	int64_t by_ns = (int64_t)((uint64_t)clock->total_ns - (uint64_t)seen->total_ns);

	/* Its thread was interrupted before it committed: the event is from before a step that is noted already. */
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

void ct_line_add_clock(struct ct_buf *out, struct ct_clock_seen *seen, const struct ctrace_event *event)
{
	if (event->clock != NULL && event->clock->steps != seen->steps)
		add_clock(out, seen, event);
}
