/*
 * span_name.c - the name of a span as its catalogue gives it: the items of the event that begins
 * the span, or of its inferred end.
 *
 * Called by exports, counts and comparisons for each such event, on one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/print.h"

#include <string.h>

/* Cuts the text behind `start` to CT_NAME_PART_SIZE bytes, inside no character, and removes the
 * blanks and NULs that COBOL pads with. */
static void name_trim(struct ct_buf *out, size_t start)
{
	if (out->size - start > CT_NAME_PART_SIZE) {
		out->size = start + CT_NAME_PART_SIZE;
		while (out->size > start && (out->data[out->size] & 0xC0) == 0x80)
			out->size--;
	}
	while (out->size > start &&
	       (out->data[out->size - 1] == ' ' || out->data[out->size - 1] == '\0'))
		out->size--;
}

bool ct_item_name_add(struct ct_buf *out, const struct ct_read_event *event, uint32_t index)
{
	static const struct ct_line_format format = { .format = "", .delimiter = "" };
	const struct ct_event_type *type = event->type;
	const struct ctrace_event_item *item;
	const struct ct_argument *argument;
	size_t start = out->size;

	if (index >= event->traced.item_count)
		return false;
	item = &event->traced.items[index];
	argument = type != NULL && index < type->argument_count ? &type->arguments[index] : NULL;
	if ((item->type == CTRACE_TYPE_TEXT || item->type == CTRACE_TYPE_UTF8) &&
	    (argument == NULL || argument->print == CT_PRINT_DEFAULT))
		ct_buf_add(out, item->data, item->size);
	else
		ct_value_add(out, &format, item, argument, event->source_process->is_big);
	if (!out->failed)
		name_trim(out, start);
	return out->size > start;
}

bool ct_span_name_add(struct ct_buf *out, const struct ct_read_event *event)
{
	const struct ct_event_type *type = event->type;
	size_t start = out->size;
	char scratch[16];

	for (uint32_t i = 0; type != NULL && i < type->span_name_count; i++) {
		size_t before = out->size;

		if (before > start)
			ct_buf_add_text(out, " of ");
		else if (type->pairing == CT_PAIR_NONE)
			ct_buf_add_format(out, "%s ", ct_read_event_mnemonic(event, scratch));
		if (!ct_item_name_add(out, event, type->span_names[i]))
			out->size = before;
	}
	return out->size > start;
}
