/*
 * catalog_print_markdown.c - prints a component as a Markdown page: a table of its events, then
 * each event with its items.
 *
 * Called by `ctrace catalog doc`, on the tool's thread.  No text of the catalogue can begin markup,
 * end a cell or make an HTML element.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_print.h"

#include <string.h>

static void markdown_add(struct ct_buf *out, const char *text)
{
	struct ct_buf plain;
	const char *at;

	ct_buf_init(&plain);
	ct_plain_add(&plain, text);
	for (at = ct_buf_text(&plain); *at != '\0'; at++) {
		if (*at == '<')
			ct_buf_add_text(out, "&lt;");
		else if (*at == '&')
			ct_buf_add_text(out, "&amp;");
		else if (strchr("\\`*_{}[]#+!|>~@", *at) != NULL)
			ct_buf_add_format(out, "\\%c", *at);
		else
			ct_buf_add_char(out, *at);
	}
	ct_buf_fini_into(&plain, out);
}

static const char *const print_names[] = {
	[CT_PRINT_DEFAULT] = "",
	[CT_PRINT_HEX] = "hexadecimal",
	[CT_PRINT_DECIMAL] = "decimal",
	[CT_PRINT_TEXT] = "text",
	[CT_PRINT_TIME] = "time in",
	[CT_PRINT_FLAGS] = "flags",
	[CT_PRINT_ENUMERATION] = "enumeration",
	[CT_PRINT_RECORD] = "record",
};

static const char *unit_name(uint64_t unit_ns)
{
	return unit_ns == 1 ? "ns" : unit_ns == 1000 ? "us" : unit_ns == 1000000 ? "ms" : "s";
}

static void markdown_add_separate(struct ct_buf *out, size_t start, const char *text)
{
	if (out->size > start)
		ct_buf_add_text(out, ", ");
	ct_buf_add_text(out, text);
}

/* " of PKG.cpy: pkg-record, 115 bytes" */
static void markdown_print_copybook(struct ct_buf *out, const struct ct_argument *argument)
{
	ct_buf_add_text(out, " of ");
	markdown_add(out, argument->copybook_name);
	if (argument->copybook == NULL)
		return;
	ct_buf_add_text(out, ": ");
	markdown_add(out, ct_copybook_name(argument->copybook));
	ct_buf_add_format(out, ", %u bytes", ct_copybook_size(argument->copybook));
}

static void markdown_print_form(struct ct_buf *out, const struct ct_argument *argument)
{
	static const char *const roles[CT_ARGUMENT_ROLE_COUNT] = {
		[CT_ARGUMENT_ROLE_DURATION] = "the duration",
		[CT_ARGUMENT_ROLE_BYTES] = "the bytes",
		[CT_ARGUMENT_ROLE_STATUS] = "the status",
	};
	size_t start = out->size;

	ct_buf_add_text(out, print_names[argument->print]);
	if (argument->print == CT_PRINT_TIME)
		ct_buf_add_format(out, " %s", unit_name(argument->unit_ns));
	if (argument->copybook_name != NULL)
		markdown_print_copybook(out, argument);
	if (argument->chooser_count > 0)
		ct_buf_add_text(out, ", the copybook by other items");
	if (argument->encoding != CT_ENCODING_ASCII)
		markdown_add_separate(out, start, ct_encoding_name(argument->encoding));
	if (argument->role != CT_ARGUMENT_ROLE_NONE)
		markdown_add_separate(out, start, roles[argument->role]);
	if (argument->is_key)
		markdown_add_separate(out, start, "key");
	if (argument->is_asid)
		markdown_add_separate(out, start, "the event's ASID");
	if (argument->is_jobname)
		markdown_add_separate(out, start, "the event's JOBNAME");
}

static void markdown_print_labels(struct ct_buf *out, const struct ct_argument *argument)
{
	if (argument->label_count == 0)
		return;
	ct_buf_add_format(out, "\n%s of ", ct_labels_word(argument));
	markdown_add(out, argument->name);
	ct_buf_add_text(out, ":\n\n| value | name |\n|---:|---|\n");
	for (uint32_t i = 0; i < argument->label_count; i++) {
		uint64_t value = argument->labels[i].value;

		if (argument->print == CT_PRINT_FLAGS)
			ct_buf_add_format(out, "| 0x%llX | ", (unsigned long long)value);
		else
			ct_buf_add_format(out, "| %lld | ", (long long)value);
		markdown_add(out, argument->labels[i].name);
		ct_buf_add_text(out, " |\n");
	}
}

static void markdown_print_arguments(struct ct_buf *out, const struct ct_event_type *type)
{
	if (type->argument_count == 0)
		return;
	ct_buf_add_text(out, "\n| item | name | printed as | description |\n|---:|---|---|---|\n");
	for (uint32_t i = 0; i < type->argument_count; i++) {
		ct_buf_add_format(out, "| %u | ", i);
		markdown_add(out, type->arguments[i].name);
		ct_buf_add_text(out, " | ");
		markdown_print_form(out, &type->arguments[i]);
		ct_buf_add_text(out, " | ");
		markdown_add(out, type->arguments[i].description);
		ct_buf_add_text(out, " |\n");
	}
	for (uint32_t i = 0; i < type->argument_count; i++)
		markdown_print_labels(out, &type->arguments[i]);
}

/* " with the same handle." */
static void markdown_print_pair(struct ct_buf *out, const struct ct_event_type *type,
				const struct ct_event_type *other)
{
	ct_buf_add_format(out, " %s %u ",
			  type->pairing == CT_PAIR_ENTRY ? "An entry; its exit is" : "The exit of",
			  other->event_id);
	markdown_add(out, other->mnemonic);
	if (type->match >= 0) {
		ct_buf_add_text(out, " with the same ");
		markdown_add(out, type->arguments[type->match].name);
	}
	ct_buf_add_char(out, '.');
}

/* " Begins a span that ends, as is inferred, at 1010 or 1011." */
static void markdown_print_until(struct ct_buf *out, const struct ct_event_type *type)
{
	ct_buf_add_text(out, type->pairing == CT_PAIR_ENTRY
				     ? " Without its exit the span ends, as is inferred, at "
				     : " Begins a span that ends, as is inferred, at ");
	for (uint32_t i = 0; i < type->until_count; i++)
		ct_buf_add_format(out, "%s%u",
				  i == 0                       ? ""
				  : i + 1 == type->until_count ? " or "
							       : ", ",
				  type->until[i].event_id);
	ct_buf_add_char(out, '.');
}

/* "Level INFO. An entry; its exit is 11 READEND." */
static void markdown_print_remarks(struct ct_buf *out, const struct ct_catalog_component *component,
				   const struct ct_event_type *type)
{
	const struct ct_event_type *other = ct_event_pair(component, type);
	struct ct_buf remarks;

	ct_buf_init(&remarks);
	if (type->severity != CTRACE_LEVEL_NONE)
		ct_buf_add_format(&remarks, " Level %s.", ct_level_name(type->severity));
	if (type->is_exception)
		ct_buf_add_text(&remarks, " An exception.");
	if (other != NULL)
		markdown_print_pair(&remarks, type, other);
	if (ct_event_type_is_inferred(type))
		markdown_print_until(&remarks, type);
	if (remarks.size != 0)
		ct_buf_add_format(out, "\n%s\n", ct_buf_text(&remarks) + 1);
	ct_buf_fini_into(&remarks, out);
}

static void markdown_print_event(struct ct_buf *out, const struct ct_catalog_component *component,
				 const struct ct_event_type *type)
{
	ct_buf_add_format(out, "\n## %u ", type->event_id);
	markdown_add(out, type->mnemonic);
	ct_buf_add_char(out, '\n');
	if (type->description[0] != '\0') {
		ct_buf_add_char(out, '\n');
		markdown_add(out, type->description);
		ct_plain_add_stop(out);
		ct_buf_add_char(out, '\n');
	}
	markdown_print_remarks(out, component, type);
	markdown_print_arguments(out, type);
}

static void markdown_print_table(struct ct_buf *out, const struct ct_catalog_component *component)
{
	ct_buf_add_text(
		out,
		"\n| event | hex | mnemonic | level | description |\n|---:|---:|---|---|---|\n");
	for (uint32_t i = 0; i < component->event_count; i++) {
		const struct ct_event_type *type = &component->events[i];

		ct_buf_add_format(out, "| %u | %X | ", type->event_id, type->event_id);
		markdown_add(out, type->mnemonic);
		ct_buf_add_format(
			out, " | %s | ",
			type->severity != CTRACE_LEVEL_NONE ? ct_level_name(type->severity) : "");
		markdown_add(out, type->description);
		ct_buf_add_text(out, " |\n");
	}
}

/* The records that values of items choose. */
static void markdown_print_choices(struct ct_buf *out, const struct ct_catalog_component *component)
{
	if (component->choice_count == 0)
		return;
	ct_buf_add_text(out, "\n## Records\n\n| value | printed as |\n|---|---|\n");
	for (uint32_t i = 0; i < component->choice_count; i++) {
		ct_buf_add_text(out, "| ");
		markdown_add(out, component->choices[i].value);
		ct_buf_add_text(out, " | ");
		markdown_print_form(out, &component->choices[i].argument);
		ct_buf_add_text(out, " |\n");
	}
}

void ct_catalog_print_markdown(struct ct_buf *out, const struct ct_catalog_component *component)
{
	ct_buf_add_text(out, "# ");
	markdown_add(out, component->name);
	ct_buf_add_char(out, '\n');
	if (component->description[0] != '\0') {
		ct_buf_add_char(out, '\n');
		markdown_add(out, component->description);
		ct_plain_add_stop(out);
		ct_buf_add_char(out, '\n');
	}
	if (component->event_count != 0)
		markdown_print_table(out, component);
	for (uint32_t i = 0; i < component->event_count; i++)
		markdown_print_event(out, component, &component->events[i]);
	markdown_print_choices(out, component);
}
