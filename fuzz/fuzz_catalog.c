/*
 * fuzz_catalog.c - any bytes as a catalogue: parsed, reported about, looked into, printed in three
 * languages.
 *
 * What must hold: every diagnostic names a place in the text and is harmless to print, they come in
 * the order of the text, what has an error adds nothing, events are found under their ids and no
 * others, pairs lead to each other, and what is printed has no line that was not meant.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH "/nonexistent/fuzz.yaml" /* copybooks beside it are not there */

struct input {
	size_t size;
	unsigned lines;
	unsigned last_line;
	unsigned last_column;
	unsigned count;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_text(const char *text, size_t room)
{
	size_t size = strnlen(text, room);

	must(size > 0 && size < room - 1); /* nor cut */
	for (size_t i = 0; i < size; i++)
		must((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void take_diagnostic(const char *path, const struct ct_diagnostic *diagnostic, void *user)
{
	struct input *input = user;

	input->count++;
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
	if (strcmp(path, PATH) != 0 || diagnostic->line == 0)
		return;
	must(diagnostic->line <= input->lines);
	must(diagnostic->column >= 1 && diagnostic->column <= input->size + 1);
	must(diagnostic->line > input->last_line ||
	     (diagnostic->line == input->last_line && diagnostic->column >= input->last_column));
	input->last_line = diagnostic->line;
	input->last_column = diagnostic->column;
}

/* As many lines as anybody may count. */
static unsigned count_lines(const uint8_t *data, size_t size)
{
	unsigned count = 1;

	for (size_t i = 0; i < size; i++)
		count += data[i] == '\n' || data[i] == '\r' || data[i] == 0x85 || data[i] == 0xA8 ||
			 data[i] == 0xA9;
	return count;
}

/* ---- what was understood ---- */

static void check_argument(const struct ct_argument *argument)
{
	must(argument->name[0] != '\0' && argument->description != NULL && argument->unit_ns != 0);
	must(argument->print <= CT_PRINT_RECORD && argument->encoding < CT_ENCODING_COUNT);
	must((argument->label_count != 0) ==
	     (argument->print == CT_PRINT_FLAGS || argument->print == CT_PRINT_ENUMERATION));
	must((argument->copybook_name != NULL || argument->chooser_count != 0) ==
	     (argument->print == CT_PRINT_RECORD));
	must(argument->chooser_count <= CT_CATALOG_CHOOSERS);
	for (uint32_t i = 0; i < argument->label_count; i++)
		must(argument->labels[i].name[0] != '\0');
}

/* An end that is inferred: the events that may be it are known, or of no entry. */
static void check_until(const struct ct_catalog_component *component,
			const struct ct_event_type *type)
{
	must(type->until_count <= CT_UNTIL_LIMIT);
	for (uint32_t i = 0; i < type->until_count; i++) {
		const struct ct_until *until = &type->until[i];
		const struct ct_event_type *end = ct_catalog_event(component, until->event_id);

		must(until->match < 0 ||
		     (end != NULL && until->match < (int32_t)end->argument_count));
	}
	must(type->span_name_count <= CT_SPAN_NAME_LIMIT);
	for (uint32_t i = 0; i < type->span_name_count; i++)
		must(type->span_names[i] < type->argument_count);
	for (uint32_t i = 0; i < CT_ARGUMENT_ROLE_COUNT; i++)
		must(type->roles[i] <= type->argument_count);
}

static void check_pair(const struct ct_catalog_component *component,
		       const struct ct_event_type *type)
{
	const struct ct_event_type *other =
		type->pairing != CT_PAIR_NONE ? ct_catalog_event(component, type->pair_id) : NULL;

	must(type->match < (int32_t)type->argument_count);
	check_until(component, type);
	if (type->pairing == CT_PAIR_UNTIL) {
		must(type->until_count > 0);
		return;
	}
	if (type->pairing == CT_PAIR_NONE) {
		must(type->match < 0);
		return;
	}
	must(other != NULL && other != type && other->pair_id == type->event_id &&
	     other->pairing + type->pairing == CT_PAIR_ENTRY + CT_PAIR_EXIT);
	must((other->match < 0) == (type->match < 0));
}

static void check_component(const struct ct_catalog *catalog,
			    const struct ct_catalog_component *component)
{
	must(ct_catalog_component(catalog, component->name, strlen(component->name)) == component);
	for (uint32_t i = 0; i < component->event_count; i++) {
		const struct ct_event_type *type = &component->events[i];

		must(i == 0 || component->events[i - 1].event_id < type->event_id);
		must(ct_catalog_event(component, type->event_id) == type);
		must(type->mnemonic[0] != '\0' && strlen(type->mnemonic) < CT_MNEMONIC_SIZE);
		must(type->severity < CTRACE_LEVEL_COUNT || type->severity == CTRACE_LEVEL_NONE);
		check_pair(component, type);
		for (uint32_t j = 0; j < type->argument_count; j++)
			check_argument(&type->arguments[j]);
	}
}

/* ---- what is printed ---- */

static bool begins(const char *line, size_t size, const char *with)
{
	return size >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

static void check_header_line(const char *line, size_t size)
{
	must(size == 0 || begins(line, size, "#define ") || begins(line, size, "#ifndef ") ||
	     begins(line, size, "#endif") || begins(line, size, "/*") || begins(line, size, " *"));
	must(size == 0 || line[size - 1] != '\\');
}

static void check_copybook_line(const char *line, size_t size)
{
	must(size <= 72);
	must(size == 0 || begins(line, size, "      *>") || begins(line, size, "       78 78-") ||
	     begins(line, size, "               \""));
}

static void check_page_line(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		must(line[i] != '<');
}

static void check_lines(const struct ct_buf *text, void (*check)(const char *line, size_t size))
{
	const char *at = text->data;
	const char *end = at + text->size;

	must(!text->failed && text->size != 0 && end[-1] == '\n');
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		for (const char *c = at; c < stop; c++)
			must((unsigned char)*c >= 0x20 && *c != 0x7F);
		check(at, (size_t)(stop - at));
		at = stop + 1;
	}
}

static void check_prints(const struct ct_catalog_component *component)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_catalog_print_header(&text, component);
	check_lines(&text, check_header_line);
	ct_buf_clear(&text);
	ct_catalog_print_copybook(&text, component);
	check_lines(&text, check_copybook_line);
	ct_buf_clear(&text);
	ct_catalog_print_markdown(&text, component);
	check_lines(&text, check_page_line);
	ct_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .size = size, .lines = count_lines(data, size) };
	const struct ct_catalog_component *component;
	struct ct_catalog *catalog;
	enum ctrace_status status;

	if (ct_catalog_create(&catalog) != CTRACE_OK)
		return 0;
	status = ct_catalog_parse(catalog, PATH, (const char *)data, size, take_diagnostic, &input);
	must((status == CTRACE_OK) == (input.count == 0));
	must((status == CTRACE_OK) == (ct_catalog_at(catalog, 0) != NULL));
	must((status == CTRACE_OK) == (ct_catalog_counts(catalog).diagnostics == 0));
	must(ct_catalog_counts(catalog).good_events <= ct_catalog_counts(catalog).events);
	for (size_t i = 0; (component = ct_catalog_at(catalog, i)) != NULL; i++) {
		check_component(catalog, component);
		check_prints(component);
	}
	ct_catalog_destroy(catalog);
	return 0;
}
