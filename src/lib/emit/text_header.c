/*
 * text_header.c - the block at the beginning of a text file: whose trace it is, and how to read it.
 *
 * Called on the thread that consumes, when the first line of a file is about to be written.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <string.h>

/* Quotes and backslashes are as harmless here as they are usual in a command line, so they stay as
 * they are; the rest of what could spoil a line is escaped. */
static void add_value(struct ct_buf *out, const char *value)
{
	while (*value != '\0') {
		size_t size = strcspn(value, "\"\\");

		ct_escape_add(out, value, size);
		value += size;
		size = strspn(value, "\"\\");
		ct_buf_add(out, value, size);
		value += size;
	}
}

static void add_label(struct ct_buf *out, const char *label)
{
	static const char blanks[] = "                ";
	size_t size = strlen(label);

	ct_buf_add_text(out, "# ");
	ct_buf_add(out, label, size);
	ct_buf_add(out, blanks, sizeof blanks - 1 - size);
	ct_buf_add_text(out, " = ");
}

static void add_line(struct ct_buf *out, const char *label, const char *value)
{
	add_label(out, label);
	add_value(out, value);
	ct_buf_add_char(out, '\n');
}

void ct_text_header_add(struct ct_buf *out, const struct ctrace_emitter_context *context,
			const char *format)
{
	uint64_t now = ct_clock_wall_ns();

	ct_buf_add_text(out, CT_TEXT_HEADER_MARK);
	add_line(out, "CommandLine", context->command_line);
	add_label(out, "ProcessId");
	ct_buf_add_u64(out, context->pid);
	ct_buf_add_char(out, '\n');
	add_label(out, "Date");
	ct_line_add_date(out, now);
	ct_buf_add_char(out, '\n');
	add_label(out, "Time");
	ct_line_add_time(out, now);
	ct_buf_add_char(out, '\n');
	add_line(out, "Operating System", context->system);
	add_line(out, "Computer Name", context->host);
	add_line(out, "Format", format);
}
