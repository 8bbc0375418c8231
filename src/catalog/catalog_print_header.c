/*
 * catalog_print_header.c - prints a component as a C header: a macro for its name, each event, and
 * each named value and bit.
 *
 * Called by `ctrace catalog header`, on the tool's thread.  No text of the catalogue ends a comment
 * or a literal, or continues a line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_print.h"

#include <string.h>

static const struct ct_spelling c_spelling = { "", '_', 500 };

/* Adds a text that can neither begin nor end a comment, nor continue its line. */
static void add_c_remark(struct ct_buf *out, const char *text)
{
	size_t start = out->size;
	struct ct_buf plain;
	const char *at;

	ct_buf_init(&plain);
	ct_plain_add(&plain, text);
	for (at = ct_buf_text(&plain); *at != '\0'; at++) {
		char before = out->size > start ? out->data[out->size - 1] : ' ';

		if ((before == '*' && *at == '/') || (before == '/' && *at == '*') ||
		    (before == '?' && *at == '?'))
			ct_buf_add_char(out, ' ');
		ct_buf_add_char(out, *at);
	}
	if (out->size > start && out->data[out->size - 1] == '\\')
		ct_buf_add_char(out, '.');
	ct_buf_fini_into(&plain, out);
}

static void add_c_string(struct ct_buf *out, const char *text)
{
	ct_buf_add_char(out, '"');
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\' || c == '?')
			ct_buf_add_format(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7F)
			ct_buf_add_format(out, "\\%03o", c);
		else
			ct_buf_add_char(out, (char)c);
	}
	ct_buf_add_char(out, '"');
}

static void print_c_value(struct ct_buf *out, const struct ct_argument *argument,
			  const struct ct_label *label)
{
	uint64_t value = label->value;

	if (value == (uint64_t)1 << 63 && ct_label_is_negative(argument, label))
		ct_buf_add_text(out, "(-9223372036854775807ll - 1)");
	else if (ct_label_is_negative(argument, label))
		ct_buf_add_format(out, "(-%llull)", (unsigned long long)(0 - value));
	else if (argument->print == CT_PRINT_FLAGS)
		ct_buf_add_format(out, "0x%llx%s", (unsigned long long)value,
				  value > UINT32_MAX ? "ull" : "u");
	else
		ct_buf_add_format(out, "%llu%s", (unsigned long long)value,
				  value > UINT32_MAX ? "ull" : "u");
}

static void print_c_labels(struct ct_buf *out, struct ct_made_names *names,
			   const struct ct_event_type *type)
{
	for (uint32_t i = 0; i < type->argument_count; i++) {
		const struct ct_argument *argument = &type->arguments[i];

		if (argument->label_count == 0)
			continue;
		ct_buf_add_format(out, "\n/* %s of %s", ct_labels_word(argument), type->mnemonic);
		ct_buf_add_format(out, ", %s */\n", argument->name);
		for (uint32_t j = 0; j < argument->label_count; j++) {
			ct_buf_add_format(
				out, "#define %s ",
				ct_made_names_label(names, type, argument, &argument->labels[j]));
			print_c_value(out, argument, &argument->labels[j]);
			ct_buf_add_char(out, '\n');
		}
	}
}

static void print_c_event(struct ct_buf *out, struct ct_made_names *names,
			  const struct ct_event_type *type)
{
	struct ct_buf remark;

	ct_buf_init(&remark);
	ct_remark_add(&remark, names->component, type);
	ct_buf_add_format(out, "#define %s %uu", ct_made_names_event(names, type), type->event_id);
	if (remark.size != 0) {
		ct_buf_add_text(out, " /* ");
		add_c_remark(out, ct_buf_text(&remark));
		ct_buf_add_text(out, " */");
	}
	ct_buf_add_char(out, '\n');
	ct_buf_fini_into(&remark, out);
}

static void print_c_head(struct ct_buf *out, struct ct_made_names *names)
{
	const struct ct_catalog_component *component = names->component;
	const char *name;

	ct_buf_add_text(out, "/*\n * Events of ");
	add_c_remark(out, component->name);
	if (component->description[0] != '\0') {
		ct_buf_add_text(out, ": ");
		add_c_remark(out, component->description);
	}
	ct_buf_add_text(out, "\n *\n * Made by ctrace catalog header from ");
	add_c_remark(out, ct_component_file_name(component));
	ct_buf_add_text(out, ": change that, not this.\n */\n");
	name = ct_made_names_own(names, "EVENTS_H");
	ct_buf_add_format(out, "#ifndef %s\n#define %s\n\n", name, name);
	ct_buf_add_format(out, "#define %s ", ct_made_names_own(names, "COMPONENT"));
	add_c_string(out, component->name);
	ct_buf_add_text(out, "\n\n");
}

void ct_catalog_print_header(struct ct_buf *out, const struct ct_catalog_component *component)
{
	struct ct_made_names names;

	ct_made_names_init(&names, &c_spelling, component);
	print_c_head(out, &names);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_c_event(out, &names, &component->events[i]);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_c_labels(out, &names, &component->events[i]);
	ct_buf_add_text(out, "\n#endif\n");
	out->failed |= names.has_failed;
	ct_made_names_fini(&names);
}
