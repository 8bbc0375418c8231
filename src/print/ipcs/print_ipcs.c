/*
 * print_ipcs.c - component trace listings: titles, headings, and entries in the layouts SHORT,
 * SUMMARY and FULL.
 *
 * Called by the run for every entry.  The columns are those of z/OS (docs/reading.md, chapter 7).
 * Bytes of the traced program are shown as digits or escaped: they can neither forge a line nor
 * reach a terminal as anything but text.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u
#define NS_PER_US 1000u
#define MNEMONIC_SHOWN 8u
#define LABEL_WIDTH 9u
#define LABEL_MAX 32u
#define WORD_BYTES 4u
#define WORDS_A_LINE 5u
#define BYTES_A_LINE 16u
#define TEXT_A_LINE 64u
#define DATA_INDENT 4u
#define LABEL_COLUMN 11u /* behind "    +0028  " */

/* ---- time ---- */

/* The last second that this thread has taken apart: asking the time zone costs more than the rest
 * of a line. */
static _Thread_local struct {
	uint64_t number; /* since 1970, plus 1: 0 is none */
	bool is_local;
	struct tm parts;
} last;

static const struct tm *time_parts(uint64_t time_ns, bool is_local)
{
	uint64_t number = time_ns / NS_PER_SECOND + 1;
	time_t seconds = (time_t)(number - 1);

	if (last.number == number && last.is_local == is_local)
		return &last.parts;
	if ((is_local ? localtime_r(&seconds, &last.parts) : gmtime_r(&seconds, &last.parts)) ==
	    NULL)
		last.parts = (struct tm){ .tm_year = 70, .tm_mday = 1 };
	last.number = number;
	last.is_local = is_local;
	return &last.parts;
}

static void add_two(char *at, int value)
{
	at[0] = (char)('0' + value / 10 % 10);
	at[1] = (char)('0' + value % 10);
}

/* "22:13:20.000001" */
static void add_clock(struct ct_buf *out, uint64_t time_ns, bool is_local)
{
	const struct tm *parts = time_parts(time_ns, is_local);
	unsigned us = (unsigned)(time_ns % NS_PER_SECOND / NS_PER_US);
	char text[15] = "hh:mm:ss.dddddd";

	add_two(text, parts->tm_hour);
	add_two(text + 3, parts->tm_min);
	add_two(text + 6, parts->tm_sec);
	for (unsigned i = 14; i > 8; i--, us /= 10)
		text[i] = (char)('0' + us % 10);
	ct_buf_add(out, text, sizeof text);
}

static void add_date(struct ct_buf *out, uint64_t time_ns, bool is_local)
{
	const struct tm *parts = time_parts(time_ns, is_local);

	ct_buf_add_format(out, "%02d/%02d/%04d", parts->tm_mon + 1, parts->tm_mday,
			  parts->tm_year + 1900);
}

void ct_ipcs_print_time(struct ct_buf *out, uint64_t time_ns, bool is_local)
{
	add_date(out, time_ns, is_local);
	ct_buf_add_char(out, ' ');
	add_clock(out, time_ns, is_local);
	ct_buf_add_text(out, is_local ? " LOCAL" : " GMT");
}

int64_t ct_ipcs_day(const struct ct_ipcs_layout *layout, uint64_t time_ns)
{
	const struct tm *parts = time_parts(time_ns, layout->is_local);

	return (int64_t)parts->tm_year * 366 + parts->tm_yday;
}

/* ---- titles ---- */

static void add_blanks(struct ct_buf *out, unsigned count)
{
	while (count-- > 0)
		ct_buf_add_char(out, ' ');
}

void ct_ipcs_print_title(struct ct_buf *out, const struct ct_ipcs_command *command)
{
	static const char *const words[] = { "SHORT", "SUMMARY", "FULL", "TALLY" };

	ct_buf_add_format(out, " COMPONENT TRACE %s FORMAT\n", words[command->report]);
	if (command->sysname[0] != '\0') {
		ct_buf_add_text(out, " SYSNAME(");
		ct_ipcs_add_plain(out, command->sysname, strlen(command->sysname));
		ct_buf_add_text(out, ")\n");
	}
	ct_buf_add_text(out, " COMP(");
	ct_ipcs_add_plain(out, command->component, strlen(command->component));
	ct_buf_add_char(out, ')');
	if (command->sub[0] != '\0') {
		ct_buf_add_text(out, "    SUBNAME((");
		ct_ipcs_add_plain(out, command->sub, strlen(command->sub));
		ct_buf_add_text(out, "))");
	}
	ct_buf_add_char(out, '\n');
}

void ct_ipcs_print_heading(struct ct_buf *out, const struct ct_ipcs_layout *layout)
{
	add_blanks(out, layout->indent);
	ct_buf_add_text(out,
			layout->has_sysname
				? " SYSNAME   MNEMONIC  ENTRY ID    TIME STAMP     DESCRIPTION\n"
				: " MNEMONIC  ENTRY ID    TIME STAMP     DESCRIPTION\n");
	add_blanks(out, layout->indent);
	ct_buf_add_text(out,
			layout->has_sysname
				? " -------   --------  --------  ---------------  -------------\n"
				: " --------  --------  ---------------  -----------\n");
}

void ct_ipcs_print_date(struct ct_buf *out, const struct ct_ipcs_layout *layout, uint64_t time_ns)
{
	add_blanks(out, layout->indent);
	ct_buf_add_text(out, " **** ");
	add_date(out, time_ns, layout->is_local);
	ct_buf_add_char(out, '\n');
}

/* ---- the line of an entry ---- */

/* Whole characters of what is escaped already, at most `most`; how many. */
static unsigned add_cut(struct ct_buf *out, const char *text, size_t size, unsigned most)
{
	unsigned count = 0;
	size_t at = 0;

	while (at < size && count < most) {
		size_t next = at + 1;

		while (next < size && ((unsigned char)text[next] & 0xC0) == 0x80)
			next++;
		ct_buf_add(out, text + at, next - at);
		at = next;
		count++;
	}
	return count;
}

/* Gives how many columns it took. */
static unsigned add_escaped_cut(struct ct_buf *out, const char *text, unsigned most)
{
	struct ct_buf escaped;
	unsigned count;

	ct_buf_init(&escaped);
	ct_escape_add(&escaped, text, strnlen(text, CTRACE_MAX_COMPONENT));
	count = add_cut(out, escaped.data, escaped.size, most);
	ct_buf_fini_into(&escaped, out);
	return count;
}

static unsigned add_mnemonic(struct ct_buf *out, const struct ct_read_event *event)
{
	char digits[9];

	if (event->type != NULL)
		return add_escaped_cut(out, event->type->mnemonic, MNEMONIC_SHOWN);
	if (event->names != NULL && event->names->mnemonic != NULL &&
	    event->names->mnemonic[0] != '\0')
		return add_escaped_cut(out, event->names->mnemonic, MNEMONIC_SHOWN);
	(void)snprintf(digits, sizeof digits, "%08X", event->traced.event_id);
	ct_buf_add_text(out, digits);
	return MNEMONIC_SHOWN;
}

void ct_ipcs_print_mnemonic(struct ct_buf *out, const struct ct_read_event *event)
{
	(void)add_mnemonic(out, event);
}

const char *ct_ipcs_description(const struct ct_read_event *event)
{
	return event->type != NULL && event->type->description != NULL ? event->type->description
								       : "";
}

static void line_trim(struct ct_buf *out)
{
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
}

void ct_ipcs_print_entry(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			 const struct ct_read_event *event)
{
	const char *description = ct_ipcs_description(event);
	char sysname[9];

	if (layout->tag != 0)
		ct_buf_add_format(out, "%02u. ", layout->tag);
	else
		add_blanks(out, layout->indent);
	ct_buf_add_char(out, ' ');
	if (layout->has_sysname) {
		ct_ipcs_sysname(event->source_process->host, sysname);
		add_blanks(out, 10 - add_escaped_cut(out, sysname, MNEMONIC_SHOWN));
	}
	add_blanks(out, MNEMONIC_SHOWN + 2 - add_mnemonic(out, event));
	ct_buf_add_hex(out, event->traced.event_id, 8, true);
	ct_buf_add_text(out, "  ");
	add_clock(out, event->traced.time_ns, layout->is_local);
	ct_buf_add_text(out, "  ");
	ct_ipcs_add_plain(out, description, strlen(description));
	line_trim(out);
	ct_buf_add_char(out, '\n');
}

/* Below the line of an entry that ends a span: "           ELAPSED.. 0.000004000 SECONDS". */
void ct_ipcs_print_elapsed(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			   const struct ct_read_event *event)
{
	if (event->duration_ns == CT_NO_DURATION)
		return;
	add_blanks(out, layout->indent + LABEL_COLUMN);
	ct_buf_add_format(out, "ELAPSED.. %" PRIu64 ".%09u SECONDS\n",
			  event->duration_ns / NS_PER_SECOND,
			  (unsigned)(event->duration_ns % NS_PER_SECOND));
}

void ct_ipcs_print_line(struct ct_buf *out, const struct ct_ipcs_layout *layout, const char *text,
			size_t size)
{
	add_blanks(out, layout->indent);
	ct_ipcs_add_plain(out, text, size);
	line_trim(out);
	ct_buf_add_char(out, '\n');
}

/* ---- data ---- */

/* One item as the listing has it. */
struct datum {
	const struct ctrace_event_item *item;
	const struct ct_argument *argument; /* or NULL */
	const char *label;                  /* NULL: none */
	size_t offset;                      /* in the entry's data */
	const unsigned char *bytes;
	size_t size;
	bool is_big;             /* native numbers of a record */
	unsigned char number[8]; /* bytes of an integer, the most significant first */
};

static bool item_is_integer(const struct ctrace_event_item *item)
{
	return item->type >= CTRACE_TYPE_ADDRESS && item->type <= CTRACE_TYPE_COMPXS &&
	       item->type != CTRACE_TYPE_UTF8 && item->size >= 1 && item->size <= 8;
}

static struct datum item_datum(const struct ct_read_event *event, uint32_t index, size_t offset)
{
	const struct ctrace_event_item *item = &event->traced.items[index];
	struct datum datum = { .item = item,
			       .offset = offset,
			       .is_big = event->source_process->is_big,
			       .bytes = item->data,
			       .size = item->data != NULL ? item->size : 0 };

	if (event->type != NULL && index < event->type->argument_count) {
		datum.argument = ct_read_event_argument(event, index);
		datum.label = event->type->arguments[index].name;
	} else if (event->names != NULL && event->names->items != NULL &&
		   index < event->names->item_count) {
		datum.label = event->names->items[index];
	}
	if (item_is_integer(item)) {
		for (unsigned i = 0; i < item->size; i++)
			datum.number[i] = (unsigned char)(item->value >> 8 * (item->size - 1 - i));
		datum.size = item->size;
	}
	return datum;
}

/* Of what the datum consists: a pointer into it would not survive its copy. */
static const unsigned char *datum_bytes(const struct datum *datum)
{
	return item_is_integer(datum->item) ? datum->number : datum->bytes;
}

static bool datum_is_text(const struct datum *datum)
{
	if (datum->argument != NULL && datum->argument->print == CT_PRINT_TEXT &&
	    !item_is_integer(datum->item))
		return true;
	if (datum->argument != NULL && datum->argument->print != CT_PRINT_DEFAULT)
		return false;
	return datum->item->type == CTRACE_TYPE_TEXT || datum->item->type == CTRACE_TYPE_UTF8;
}

static enum ct_encoding datum_encoding(const struct datum *datum)
{
	return datum->argument != NULL ? datum->argument->encoding : CT_ENCODING_ASCII;
}

/* "    +0028" */
static void add_offset(struct ct_buf *out, const struct ct_ipcs_layout *layout, size_t offset)
{
	add_blanks(out, layout->indent + DATA_INDENT);
	ct_buf_add_char(out, '+');
	ct_buf_add_hex(out, offset, offset > 0xFFFFF ? 8 : offset > 0xFFFF ? 5 : 4, true);
}

/* "    +0028  RLPL.... ", with offset only in the first line of a label. */
static void line_begin(struct ct_buf *out, const struct ct_ipcs_layout *layout,
		       const struct datum *datum, size_t at)
{
	unsigned count = LABEL_WIDTH;

	add_offset(out, layout, datum->offset + at);
	ct_buf_add_text(out, "  ");
	if (at == 0) {
		count = add_escaped_cut(out, datum->label, LABEL_MAX);
		while (count < LABEL_WIDTH) {
			ct_buf_add_char(out, '.');
			count++;
		}
	} else {
		add_blanks(out, count);
	}
	ct_buf_add_char(out, ' ');
}

static void line_end(struct ct_buf *out)
{
	line_trim(out);
	ct_buf_add_char(out, '\n');
}

static void add_bytes(struct ct_buf *out, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ct_buf_add_hex(out, bytes[i], 2, true);
}

static void print_words(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			const struct datum *datum)
{
	const unsigned char *bytes = datum_bytes(datum);
	size_t at = 0;

	do {
		line_begin(out, layout, datum, at);
		for (unsigned word = 0; word < WORDS_A_LINE && at < datum->size; word++) {
			size_t size = datum->size - at < WORD_BYTES ? datum->size - at : WORD_BYTES;

			if (word != 0)
				ct_buf_add_text(out, "  ");
			add_bytes(out, bytes + at, size);
			at += size;
		}
		line_end(out);
	} while (at < datum->size);
}

/* How much of the text goes into one line: whole characters of UTF-8. */
static size_t datum_text_size(const struct datum *datum, size_t at)
{
	size_t size = datum->size - at;
	size_t cut = TEXT_A_LINE;

	if (size <= TEXT_A_LINE)
		return size;
	while (datum_encoding(datum) == CT_ENCODING_ASCII && cut > TEXT_A_LINE - 4 &&
	       (datum->bytes[at + cut] & 0xC0) == 0x80)
		cut--;
	return cut;
}

static void print_text(struct ct_buf *out, const struct ct_ipcs_layout *layout,
		       const struct datum *datum)
{
	struct ct_buf text;
	size_t at = 0;

	ct_buf_init(&text);
	do {
		size_t size = datum_text_size(datum, at);

		line_begin(out, layout, datum, at);
		ct_buf_clear(&text);
		if (size != 0)
			ct_encoding_add(&text, datum_encoding(datum), datum->bytes + at, size);
		ct_ipcs_add_plain(out, text.data, text.size);
		line_end(out);
		at += size;
	} while (at < datum->size);
	ct_buf_fini_into(&text, out);
}

/* A byte as one column. */
static char byte_character(unsigned char byte, enum ct_encoding encoding)
{
	struct ct_buf text;
	char shown = (char)byte;

	if (encoding != CT_ENCODING_ASCII) {
		ct_buf_init(&text);
		ct_encoding_add(&text, encoding, &byte, 1);
		shown = text.size == 1 ? text.data[0] : '.';
		ct_buf_fini(&text);
	}
	return shown >= ' ' && shown <= '~' ? shown : '.';
}

/* The last columns of a line are filled whether there are bytes or not. */
static void print_dump_line(struct ct_buf *out, const unsigned char *bytes, size_t size,
			    enum ct_encoding encoding)
{
	static const char digits[] = "0123456789ABCDEF";
	char line[BYTES_A_LINE * 2 + BYTES_A_LINE / WORD_BYTES + BYTES_A_LINE + 6];
	char *at = line;

	for (size_t i = 0; i < BYTES_A_LINE; i++) {
		if (i % WORD_BYTES == 0)
			*at++ = ' ';
		*at++ = i < size ? digits[bytes[i] >> 4] : ' ';
		*at++ = i < size ? digits[bytes[i] & 15] : ' ';
	}
	memcpy(at, " | ", 3);
	at += 3;
	for (size_t i = 0; i < BYTES_A_LINE; i++)
		*at++ = i < size ? byte_character(bytes[i], encoding) : ' ';
	memcpy(at, " |\n", 3);
	ct_buf_add(out, line, sizeof line);
}

/* "    +0000 E2C5D5C4 80180101 02000001 000A0002 | SEND............ |" */
static void print_dump(struct ct_buf *out, const struct ct_ipcs_layout *layout,
		       const struct datum *datum)
{
	const unsigned char *bytes = datum_bytes(datum);

	for (size_t at = 0; at < datum->size; at += BYTES_A_LINE) {
		size_t size = datum->size - at < BYTES_A_LINE ? datum->size - at : BYTES_A_LINE;

		add_offset(out, layout, datum->offset + at);
		print_dump_line(out, bytes + at, size, datum_encoding(datum));
	}
}

static bool datum_is_record(const struct datum *datum)
{
	return ct_value_is_record(datum->item, datum->argument);
}

void ct_ipcs_print_full(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			const struct ct_read_event *event)
{
	size_t offset = 0;

	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		struct datum datum = item_datum(event, i, offset);

		offset += datum.size;
		if (datum.label != NULL && datum_is_record(&datum)) {
			line_begin(out, layout, &datum, 0);
			line_end(out);
		}
		if (datum.label == NULL || datum_is_record(&datum))
			print_dump(out, layout, &datum);
		else if (datum_is_text(&datum))
			print_text(out, layout, &datum);
		else
			print_words(out, layout, &datum);
	}
}

static void print_field(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			const struct datum *datum)
{
	static const struct ct_line_format format = { .delimiter = " ",
						      .hex_block_size = 8,
						      .quote_strings = true };

	line_begin(out, layout, datum, 0);
	if (datum_is_record(datum)) {
		line_end(out);
		ct_value_add_record(out, datum->item, datum->argument, datum->is_big,
				    layout->indent + DATA_INDENT + 7);
		return;
	}
	ct_value_add(out, &format, datum->item, datum->argument, datum->is_big);
	line_end(out);
}

static bool event_has_keys(const struct ct_event_type *type)
{
	for (uint32_t i = 0; i < type->argument_count; i++)
		if (type->arguments[i].is_key)
			return true;
	return false;
}

void ct_ipcs_print_summary(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			   const struct ct_read_event *event)
{
	size_t offset = 0;
	bool shows_all;

	if (event->type == NULL) {
		ct_ipcs_print_full(out, layout, event);
		return;
	}
	shows_all = !event_has_keys(event->type);
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		struct datum datum = item_datum(event, i, offset);

		offset += datum.size;
		if (datum.label != NULL && datum.argument != NULL &&
		    (shows_all || datum.argument->is_key))
			print_field(out, layout, &datum);
	}
}
