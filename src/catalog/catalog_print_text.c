/*
 * catalog_print_text.c - describes an event for a comment or a page, and makes a catalogue's text
 * one line.
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

const char *ct_component_file_name(const struct ct_catalog_component *component)
{
	const char *slash = strrchr(component->path, '/');

	return slash != NULL ? slash + 1 : component->path;
}

const struct ct_event_type *ct_event_pair(const struct ct_catalog_component *component,
					  const struct ct_event_type *type)
{
	return type->pairing == CT_PAIR_NONE ? NULL : ct_catalog_event(component, type->pair_id);
}

const char *ct_labels_word(const struct ct_argument *argument)
{
	return argument->print == CT_PRINT_FLAGS ? "Flags" : "Values";
}

bool ct_label_is_negative(const struct ct_argument *argument, const struct ct_label *label)
{
	return argument->print != CT_PRINT_FLAGS && label->value >> 63 != 0;
}

/* "INFO, its exit is READEND, 2 items: package, size" */
static void remark_add_facts(struct ct_buf *out, const struct ct_catalog_component *component,
			     const struct ct_event_type *type)
{
	const struct ct_event_type *other = ct_event_pair(component, type);
	const char *comma = "";

	if (type->severity != CTRACE_LEVEL_NONE) {
		ct_buf_add_text(out, ct_level_name(type->severity));
		comma = ", ";
	}
	if (type->is_exception) {
		ct_buf_add_format(out, "%san exception", comma);
		comma = ", ";
	}
	if (other != NULL) {
		ct_buf_add_format(out, "%s%s %s", comma,
				  type->pairing == CT_PAIR_ENTRY ? "its exit is" : "the exit of",
				  other->mnemonic);
		comma = ", ";
	}
	for (uint32_t i = 0; i < type->argument_count; i++)
		ct_buf_add_format(out, "%s%s",
				  i != 0           ? ", "
				  : *comma != '\0' ? "; items: "
						   : "items: ",
				  type->arguments[i].name);
}

void ct_remark_add(struct ct_buf *out, const struct ct_catalog_component *component,
		   const struct ct_event_type *type)
{
	struct ct_buf facts;

	ct_buf_init(&facts);
	remark_add_facts(&facts, component, type);
	ct_buf_add_text(out, type->description);
	if (out->size != 0 && facts.size != 0) {
		ct_plain_add_stop(out);
		ct_buf_add_char(out, ' ');
	}
	ct_buf_add(out, facts.data, facts.size);
	ct_buf_fini_into(&facts, out);
}
