/*
 * print/print.h - an event as text for people, and as JSON.
 *
 * One thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_H
#define CT_PRINT_H

#include "read/event/event.h"

/* ---- print_text.c: an event as a line, by a FORMAT or in the layout for people: time, process
 * and thread, component, event, level, items with their names if the catalogue or the trace has
 * them, and the duration of a span that ends. */
struct ct_text_printer;
struct ct_text_options {
	struct ct_line_format line; /* line.format NULL: the layout for people */
	bool has_color;
	/* records on lines of their own below the event; else in the same line as NAME=value */
	bool has_records;
	/* Parts of the layout for people.  A part that a line has needed stays from then on. */
	bool has_host, has_process, has_thread;
	unsigned digits; /* digits of a second: 3, 6 or 9; 0 is 3 */
};
/* Returns false, with a message, when the format has an unknown variable after $(.  Such text is
 * printed as it is. */
bool ct_text_check_format(const char *format, struct ct_buf *out_message);
enum ctrace_status ct_text_create(const struct ct_text_options *options,
				  struct ct_text_printer **out_printer) CT_MUST_USE;
void ct_text_destroy(struct ct_text_printer *printer);
void ct_text_add(struct ct_text_printer *printer, struct ct_buf *out,
		 const struct ct_read_event *event);

/* ---- span_name.c: names that items of events have, as they are: whoever prints them escapes
 * them. */
#define CT_NAME_PART_SIZE 255u /* bytes of one item in a name */
/* Adds an item's value as a name: without quotes, and without the blanks behind it.  Returns false
 * when there is nothing to add. */
bool ct_item_name_add(struct ct_buf *out, const struct ct_read_event *event, uint32_t index);
/* Adds the name of the span that the event begins or reports, as the catalogue gives it: "INIT of
 * PAYROLL", "READ CUSTFILE".  Returns false when the catalogue gives none. */
bool ct_span_name_add(struct ct_buf *out, const struct ct_read_event *event);

/* ---- print_json.c: an event as a JSON object.  As a document of its own it is one line and has
 * format_version. */
void ct_json_add(struct ct_buf *out, const struct ct_read_event *event);
void ct_json_add_line(struct ct_buf *out, const struct ct_read_event *event);
/* Adds a COBOL record as an object: {"CUST-ID":12,...}. */
void ct_json_add_record(struct ct_buf *out, const struct ct_copybook *copybook,
			struct ct_record_bytes bytes);

#endif
