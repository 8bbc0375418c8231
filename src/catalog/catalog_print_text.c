/*
 * catalog_print_text.c - what all printers say: a catalogue's text as one line, and the event at
 * the other end.
 *
 * Called by the printers, on the tool's thread.  The output has no control characters and no line
 * breaks of the text.  The printers themselves escape what their language would interpret.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_print.h"

#include <string.h>

void ct_plain_add(struct ct_buf *out, const char *text)
{
	while (*text != '\0') {
		size_t run = strcspn(text, "\"\\\n\t");

		ct_escape_add(out, text, run);
		text += run;
		if (*text == '\0')
			return;
		ct_buf_add_char(out, *text == '\n' || *text == '\t' ? ' ' : *text);
		text++;
	}
}

void ct_plain_add_stop(struct ct_buf *out)
{
	if (!out->failed && out->size != 0 && strchr(".!?", out->data[out->size - 1]) == NULL)
		ct_buf_add_char(out, '.');
}

const struct ct_event_type *ct_event_pair(const struct ct_catalog_component *component,
					  const struct ct_event_type *type)
{
	bool has_pair = type->pairing == CT_PAIR_ENTRY || type->pairing == CT_PAIR_EXIT;

	return has_pair ? ct_catalog_event(component, type->pair_id) : NULL;
}

const char *ct_labels_word(const struct ct_argument *argument)
{
	return argument->print == CT_PRINT_FLAGS ? "Flags" : "Values";
}
