/*
 * catalog_print_copybook.c - prints a component as a COBOL copybook: constants of level 78 for its
 * name, each event, and each named value and bit.
 *
 * Called by `ctrace catalog copybook`, on the tool's thread.  Lines are in columns 8 to 72, which
 * both fixed and free format accept.  No text of the catalogue makes a line longer, or ends a
 * literal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_print.h"

#include <string.h>

#define AREA_A "       " /* columns 1 to 7 */
#define REMARK "      *> "
#define LAST_COLUMN 72u
#define LITERAL_WIDTH 48u

static const struct ct_spelling cobol_spelling = { "78-", '-', 31 };

/* Returns how much of the text fits: up to a blank if possible, and never part of a character. */
static size_t text_fitting_size(const char *text, size_t room)
{
	size_t size = strlen(text);
	size_t at;

	if (size <= room)
		return size;
	for (at = room; at > 0 && text[at] != ' '; at--)
		;
	if (at > 0)
		return at;
	for (at = room; at > 1 && ((unsigned char)text[at] & 0xC0) == 0x80; at--)
		;
	return at;
}

static void add_cobol_remark(struct ct_buf *out, const char *text)
{
	struct ct_buf plain;
	const char *at;

	ct_buf_init(&plain);
	ct_plain_add(&plain, text);
	at = ct_buf_text(&plain);
	do {
		size_t size = text_fitting_size(at, LAST_COLUMN - strlen(REMARK));

		ct_buf_add_text(out, REMARK);
		ct_buf_add(out, at, size);
		ct_buf_add_char(out, '\n');
		at += size;
		at += *at == ' ';
	} while (*at != '\0');
	ct_buf_fini_into(&plain, out);
}

/* Returns the size of the first character. */
static size_t text_character_size(const char *text)
{
	size_t size = 1;

	while (size < 4 && ((unsigned char)text[size] & 0xC0) == 0x80)
		size++;
	return size;
}

/* Adds one line of the literal; a quotation mark is doubled.  Returns the rest. */
static const char *add_cobol_piece(struct ct_buf *out, const char *text)
{
	size_t width = 0;

	while (*text != '\0') {
		size_t size = text_character_size(text);

		if (width + size + (*text == '"') > LITERAL_WIDTH)
			break;
		if (*text == '"')
			ct_buf_add_char(out, '"');
		ct_buf_add(out, text, size);
		width += size + (*text == '"');
		text += size;
	}
	return text;
}

static void add_cobol_literal(struct ct_buf *out, const char *text)
{
	while (*text != '\0') {
		ct_buf_add_text(out, AREA_A "        \"");
		text = add_cobol_piece(out, text);
		ct_buf_add_text(out, *text != '\0' ? "\" &\n" : " \".\n");
	}
}

static void print_cobol_number(struct ct_buf *out, const char *name, bool is_minus, uint64_t value)
{
	ct_buf_add_format(out, AREA_A "78 %-31s value %s%llu.\n", name, is_minus ? "-" : "",
			  (unsigned long long)(is_minus ? 0 - value : value));
}

static void print_cobol_event(struct ct_buf *out, struct ct_made_names *names,
			      const struct ct_event_type *type)
{
	struct ct_buf remark;

	ct_buf_init(&remark);
	ct_remark_add(&remark, names->component, type);
	if (remark.size != 0)
		add_cobol_remark(out, ct_buf_text(&remark));
	ct_buf_fini_into(&remark, out);
	print_cobol_number(out, ct_made_names_event(names, type), false, type->event_id);
}

static void print_cobol_labels(struct ct_buf *out, struct ct_made_names *names,
			       const struct ct_event_type *type)
{
	struct ct_buf head;

	ct_buf_init(&head);
	for (uint32_t i = 0; i < type->argument_count; i++) {
		const struct ct_argument *argument = &type->arguments[i];

		if (argument->label_count == 0)
			continue;
		ct_buf_clear(&head);
		ct_buf_add_format(&head, "%s of %s, %s", ct_labels_word(argument), type->mnemonic,
				  argument->name);
		ct_buf_add_char(out, '\n');
		add_cobol_remark(out, ct_buf_text(&head));
		out->failed |= head.failed;
		for (uint32_t j = 0; j < argument->label_count; j++) {
			const struct ct_label *label = &argument->labels[j];

			print_cobol_number(out, ct_made_names_label(names, type, argument, label),
					   ct_label_is_negative(argument, label), label->value);
		}
	}
	ct_buf_fini_into(&head, out);
}

static void print_cobol_head(struct ct_buf *out, struct ct_made_names *names)
{
	const struct ct_catalog_component *component = names->component;
	struct ct_buf head;

	ct_buf_init(&head);
	ct_buf_add_format(&head, "Events of %s%s%s", component->name,
			  component->description[0] != '\0' ? ": " : "", component->description);
	add_cobol_remark(out, ct_buf_text(&head));
	out->failed |= head.failed;
	ct_buf_clear(&head);
	ct_buf_add_format(&head, "Made by ctrace catalog copybook from %s: change that, not this.",
			  ct_component_file_name(component));
	add_cobol_remark(out, ct_buf_text(&head));
	ct_buf_fini_into(&head, out);
	ct_buf_add_format(
		out, "\n" REMARK "The name, with the blank that ends it\n" AREA_A "78 %s value\n",
		ct_made_names_own(names, "COMPONENT"));
	add_cobol_literal(out, component->name);
	ct_buf_add_char(out, '\n');
}

void ct_catalog_print_copybook(struct ct_buf *out, const struct ct_catalog_component *component)
{
	struct ct_made_names names;

	ct_made_names_init(&names, &cobol_spelling, component);
	print_cobol_head(out, &names);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_cobol_event(out, &names, &component->events[i]);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_cobol_labels(out, &names, &component->events[i]);
	out->failed |= names.has_failed;
	ct_made_names_fini(&names);
}
