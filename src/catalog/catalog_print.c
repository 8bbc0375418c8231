/*
 * catalog_print.c - a component as other people's text: a C header, a COBOL copybook, a page in Markdown.
 *
 * Called by `ctrace catalog`.  All texts come from a file that anybody may have written: they can end no comment, no literal, no line and no cell
 * of a table.  Names are made such as the language takes them, and each of them different.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog.h"

#include <ctrace/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names that are there already, for a language that takes upper and lower case for the same, as COBOL does ---- */

struct names {
	struct ct_buf texts; /* each terminated */
	uint32_t *slots;     /* place of a name in texts and 1; 0: free */
	uint32_t slot_count;
	uint32_t count;
};

static void names_fini(struct names *names)
{
	ct_buf_fini(&names->texts);
	free(names->slots);
}

static uint32_t *find_slot(const struct names *names, const char *name)
{
	uint32_t mask = names->slot_count - 1;
	uint32_t slot = ct_name_hash(name, strlen(name)) & mask;

	while (names->slots[slot] != 0 && !ct_name_is(name, strlen(name), names->texts.data + names->slots[slot] - 1))
		slot = (slot + 1) & mask;
	return &names->slots[slot];
}

static bool grow(struct names *names)
{
	uint32_t count = names->slot_count != 0 ? names->slot_count * 2 : 256;
	uint32_t *slots = calloc(count, sizeof *slots);

	if (slots == NULL)
		return false;
	free(names->slots);
	names->slots = slots;
	names->slot_count = count;
	for (size_t at = 0; at < names->texts.size; at += strlen(names->texts.data + at) + 1)
		*find_slot(names, names->texts.data + at) = (uint32_t)at + 1;
	return true;
}

/* False: it was there already.  Without memory none is. */
static bool names_add(struct names *names, const char *name)
{
	uint32_t *slot;
	size_t at = names->texts.size;

	if (names->count * 2 >= names->slot_count && !grow(names))
		return true;
	slot = find_slot(names, name);
	if (*slot != 0)
		return false;
	ct_buf_add(&names->texts, name, strlen(name) + 1);
	if (names->texts.failed)
		return true;
	*slot = (uint32_t)at + 1;
	names->count++;
	return true;
}

/* ---- making names ---- */

/* What a name may look like. */
struct spelling {
	const char *begin; /* before all names: "78-" */
	char mark;         /* for what is no letter or digit */
	size_t limit;
};
static const struct spelling c_spelling = { "", '_', 500 };
static const struct spelling cobol_spelling = { "78-", '-', 31 };

static bool is_letter_or_digit(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters are upper case, a run of other characters is one mark, and none is at the end. */
static void add_part(struct ct_buf *out, const struct spelling *spelling, const char *part)
{
	size_t start = out->size;

	for (; *part != '\0'; part++) {
		char c = *part;

		ct_name_upper(&c, 1);
		if (is_letter_or_digit(c))
			ct_buf_add_char(out, c);
		else if (out->size > start && out->data[out->size - 1] != spelling->mark)
			ct_buf_add_char(out, spelling->mark);
	}
	while (out->size > start && out->data[out->size - 1] == spelling->mark)
		out->size--;
	if (out->size == start)
		ct_buf_add_char(out, 'X');
}

static void join_parts(struct ct_buf *out, const struct spelling *spelling, const char *const *parts, size_t count)
{
	ct_buf_clear(out);
	ct_buf_add_text(out, spelling->begin);
	if (out->size == 0 && parts[0][0] >= '0' && parts[0][0] <= '9')
		ct_buf_add_text(out, "C_");
	for (size_t i = 0; i < count; i++) {
		if (i != 0)
			ct_buf_add_char(out, spelling->mark);
		add_part(out, spelling, parts[i]);
	}
}

/* Cuts the name and ends it with the number, or with the first one above it that makes a name that is not taken. */
static void number_name(struct ct_buf *name, struct names *names, const struct spelling *spelling, uint64_t number)
{
	size_t whole = name->size;

	do {
		char end[24];
		size_t size = (size_t)snprintf(end, sizeof end, "%c%llu", spelling->mark, (unsigned long long)number++);

		name->size = whole + size > spelling->limit ? spelling->limit - size : whole;
		while (name->size > 0 && name->data[name->size - 1] == spelling->mark)
			name->size--;
		ct_buf_add_text(name, end);
	} while (!name->failed && !names_add(names, ct_buf_text(name)));
}

/* COMPONENT_MNEMONIC, or COMPONENT_MNEMONIC_ARGUMENT_VALUE: without the mnemonic when that is too long.  What is still too long, or taken,
 * ends with a number. */
static void make_name(struct ct_buf *out, struct names *names, const struct spelling *spelling, const char *const *parts, size_t count,
		      uint64_t number)
{
	join_parts(out, spelling, parts, count);
	if (out->size > spelling->limit && count == 4) {
		const char *shorter[] = { parts[0], parts[2], parts[3] };

		join_parts(out, spelling, shorter, CT_COUNT(shorter));
	}
	if (out->size > spelling->limit || !names_add(names, ct_buf_text(out)))
		number_name(out, names, spelling, number);
}

/* ---- texts that are harmless where they stand ---- */

/* One line of printable text: as it is, but for what is neither. */
static void add_plain(struct ct_buf *out, const char *text)
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

/* Ends a sentence that may have its full stop already. */
static void add_stop(struct ct_buf *out)
{
	if (!out->failed && out->size != 0 && strchr(".!?", out->data[out->size - 1]) == NULL)
		ct_buf_add_char(out, '.');
}

/* What neither ends nor begins a comment, nor joins it to the next line. */
static void add_c_remark(struct ct_buf *out, const char *text)
{
	size_t start = out->size;
	struct ct_buf plain;
	const char *at;

	ct_buf_init(&plain);
	add_plain(&plain, text);
	for (at = ct_buf_text(&plain); *at != '\0'; at++) {
		char before = out->size > start ? out->data[out->size - 1] : ' ';

		if ((before == '*' && *at == '/') || (before == '/' && *at == '*') || (before == '?' && *at == '?'))
			ct_buf_add_char(out, ' ');
		ct_buf_add_char(out, *at);
	}
	if (out->size > start && out->data[out->size - 1] == '\\')
		ct_buf_add_char(out, '.');
	ct_buf_fini(&plain);
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

static const char *file_name(const struct ct_catalog_component *component)
{
	const char *slash = strrchr(component->path, '/');

	return slash != NULL ? slash + 1 : component->path;
}

static const struct ct_event_type *pair_of(const struct ct_catalog_component *component, const struct ct_event_type *type)
{
	return type->pairing == CT_PAIR_NONE ? NULL : ct_catalog_event(component, type->pair_id);
}

/* "INFO, its exit is READEND, 2 items: package, size" */
static void add_facts(struct ct_buf *out, const struct ct_catalog_component *component, const struct ct_event_type *type)
{
	const struct ct_event_type *other = pair_of(component, type);
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
		ct_buf_add_format(out, "%s%s %s", comma, type->pairing == CT_PAIR_ENTRY ? "its exit is" : "the exit of",
				  other->mnemonic);
		comma = ", ";
	}
	for (uint32_t i = 0; i < type->argument_count; i++)
		ct_buf_add_format(out, "%s%s", i != 0 ? ", " : *comma != '\0' ? "; items: " : "items: ", type->arguments[i].name);
}

/* The description, and then the facts. */
static void add_event_remark(struct ct_buf *out, const struct ct_catalog_component *component, const struct ct_event_type *type)
{
	struct ct_buf facts;

	ct_buf_init(&facts);
	add_facts(&facts, component, type);
	ct_buf_add_text(out, type->description);
	if (out->size != 0 && facts.size != 0) {
		add_stop(out);
		ct_buf_add_char(out, ' ');
	}
	ct_buf_add(out, facts.data, facts.size);
	ct_buf_fini(&facts);
}

static bool is_negative(const struct ct_argument *argument, uint64_t value)
{
	return argument->print != CT_PRINT_FLAGS && value >> 63 != 0;
}

/* ---- C ---- */

/* One header of one component. */
struct listing {
	struct ct_buf *out;
	const struct ct_catalog_component *component;
	const struct spelling *spelling;
	struct names names;
	struct ct_buf name; /* the one that was made last */
};

static void name_event(struct listing *listing, const struct ct_event_type *type)
{
	const char *parts[] = { listing->component->name, type->mnemonic };

	make_name(&listing->name, &listing->names, listing->spelling, parts, CT_COUNT(parts), type->event_id);
}

static void name_label(struct listing *listing, const struct ct_event_type *type, const struct ct_argument *argument,
		       const struct ct_label *label)
{
	const char *parts[] = { listing->component->name, type->mnemonic, argument->name, label->name };

	/* A number that nearly surely is free: there may be many names that are cut to the same. */
	make_name(&listing->name, &listing->names, listing->spelling, parts, CT_COUNT(parts), listing->names.count);
}

static void name_own(struct listing *listing, const char *what)
{
	const char *parts[] = { listing->component->name, what };

	make_name(&listing->name, &listing->names, listing->spelling, parts, CT_COUNT(parts), 2);
}

static void print_c_value(struct ct_buf *out, const struct ct_argument *argument, uint64_t value)
{
	if (value == (uint64_t)1 << 63 && is_negative(argument, value))
		ct_buf_add_text(out, "(-9223372036854775807ll - 1)");
	else if (is_negative(argument, value))
		ct_buf_add_format(out, "(-%llull)", (unsigned long long)(0 - value));
	else if (argument->print == CT_PRINT_FLAGS)
		ct_buf_add_format(out, "0x%llx%s", (unsigned long long)value, value > UINT32_MAX ? "ull" : "u");
	else
		ct_buf_add_format(out, "%llu%s", (unsigned long long)value, value > UINT32_MAX ? "ull" : "u");
}

static void print_c_labels(struct listing *listing, const struct ct_event_type *type)
{
	struct ct_buf *out = listing->out;

	for (uint32_t i = 0; i < type->argument_count; i++) {
		const struct ct_argument *argument = &type->arguments[i];

		if (argument->label_count == 0)
			continue;
		ct_buf_add_format(out, "\n/* %s of %s", argument->print == CT_PRINT_FLAGS ? "Flags" : "Values", type->mnemonic);
		ct_buf_add_format(out, ", %s */\n", argument->name);
		for (uint32_t j = 0; j < argument->label_count; j++) {
			name_label(listing, type, argument, &argument->labels[j]);
			ct_buf_add_format(out, "#define %s ", ct_buf_text(&listing->name));
			print_c_value(out, argument, argument->labels[j].value);
			ct_buf_add_char(out, '\n');
		}
	}
}

static void print_c_event(struct listing *listing, const struct ct_event_type *type)
{
	struct ct_buf *out = listing->out;
	struct ct_buf remark;

	ct_buf_init(&remark);
	add_event_remark(&remark, listing->component, type);
	name_event(listing, type);
	ct_buf_add_format(out, "#define %s %uu", ct_buf_text(&listing->name), type->event_id);
	if (remark.size != 0) {
		ct_buf_add_text(out, " /* ");
		add_c_remark(out, ct_buf_text(&remark));
		ct_buf_add_text(out, " */");
	}
	ct_buf_add_char(out, '\n');
	ct_buf_fini(&remark);
}

static void print_c_head(struct listing *listing)
{
	const struct ct_catalog_component *component = listing->component;
	struct ct_buf *out = listing->out;

	ct_buf_add_text(out, "/*\n * Events of ");
	add_c_remark(out, component->name);
	if (component->description[0] != '\0') {
		ct_buf_add_text(out, ": ");
		add_c_remark(out, component->description);
	}
	ct_buf_add_text(out, "\n *\n * Made by ctrace catalog header from ");
	add_c_remark(out, file_name(component));
	ct_buf_add_text(out, ": change that, not this.\n */\n");
	name_own(listing, "EVENTS_H");
	ct_buf_add_format(out, "#ifndef %s\n#define %s\n\n", ct_buf_text(&listing->name), ct_buf_text(&listing->name));
	name_own(listing, "COMPONENT");
	ct_buf_add_format(out, "#define %s ", ct_buf_text(&listing->name));
	add_c_string(out, component->name);
	ct_buf_add_text(out, "\n\n");
}

void ct_catalog_print_header(struct ct_buf *out, const struct ct_catalog_component *component)
{
	struct listing listing = { .out = out, .component = component, .spelling = &c_spelling };

	print_c_head(&listing);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_c_event(&listing, &component->events[i]);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_c_labels(&listing, &component->events[i]);
	ct_buf_add_text(out, "\n#endif\n");
	names_fini(&listing.names);
	ct_buf_fini(&listing.name);
}

/* ---- COBOL: columns 8 to 72, which fixed and free format take alike ---- */

#define AREA_A "       " /* what stands before column 8 */
#define REMARK "      *> "
#define LAST_COLUMN 72u
#define LITERAL_WIDTH 48u

/* How much of the text fits, ending at a blank where there is one, and never in a character. */
static size_t fitting(const char *text, size_t room)
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
	add_plain(&plain, text);
	at = ct_buf_text(&plain);
	do {
		size_t size = fitting(at, LAST_COLUMN - strlen(REMARK));

		ct_buf_add_text(out, REMARK);
		ct_buf_add(out, at, size);
		ct_buf_add_char(out, '\n');
		at += size;
		at += *at == ' ';
	} while (*at != '\0');
	ct_buf_fini(&plain);
}

/* Bytes of the first character as a text has them; a quotation mark is doubled in a literal. */
static size_t character_size(const char *text)
{
	size_t size = 1;

	while (((unsigned char)text[size] & 0xC0) == 0x80 && size < 4)
		size++;
	return size;
}

/* A line of the literal.  What is left. */
static const char *add_cobol_piece(struct ct_buf *out, const char *text)
{
	size_t width = 0;

	while (*text != '\0') {
		size_t size = character_size(text);

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

static void print_cobol_number(struct listing *listing, bool is_minus, uint64_t value)
{
	ct_buf_add_format(listing->out, AREA_A "78 %-31s value %s%llu.\n", ct_buf_text(&listing->name), is_minus ? "-" : "",
			  (unsigned long long)(is_minus ? 0 - value : value));
}

static void print_cobol_event(struct listing *listing, const struct ct_event_type *type)
{
	struct ct_buf remark;

	ct_buf_init(&remark);
	add_event_remark(&remark, listing->component, type);
	if (remark.size != 0)
		add_cobol_remark(listing->out, ct_buf_text(&remark));
	ct_buf_fini(&remark);
	name_event(listing, type);
	print_cobol_number(listing, false, type->event_id);
}

static void print_cobol_labels(struct listing *listing, const struct ct_event_type *type)
{
	struct ct_buf head;

	ct_buf_init(&head);
	for (uint32_t i = 0; i < type->argument_count; i++) {
		const struct ct_argument *argument = &type->arguments[i];

		if (argument->label_count == 0)
			continue;
		ct_buf_clear(&head);
		ct_buf_add_format(&head, "%s of %s, %s", argument->print == CT_PRINT_FLAGS ? "Flags" : "Values", type->mnemonic,
				  argument->name);
		ct_buf_add_char(listing->out, '\n');
		add_cobol_remark(listing->out, ct_buf_text(&head));
		for (uint32_t j = 0; j < argument->label_count; j++) {
			name_label(listing, type, argument, &argument->labels[j]);
			print_cobol_number(listing, is_negative(argument, argument->labels[j].value), argument->labels[j].value);
		}
	}
	ct_buf_fini(&head);
}

static void print_cobol_head(struct listing *listing)
{
	const struct ct_catalog_component *component = listing->component;
	struct ct_buf head;

	ct_buf_init(&head);
	ct_buf_add_format(&head, "Events of %s%s%s", component->name, component->description[0] != '\0' ? ": " : "",
			  component->description);
	add_cobol_remark(listing->out, ct_buf_text(&head));
	ct_buf_clear(&head);
	ct_buf_add_format(&head, "Made by ctrace catalog copybook from %s: change that, not this.", file_name(component));
	add_cobol_remark(listing->out, ct_buf_text(&head));
	ct_buf_fini(&head);
	name_own(listing, "COMPONENT");
	ct_buf_add_format(listing->out, "\n" REMARK "The name, with the blank that ends it\n" AREA_A "78 %s value\n",
			  ct_buf_text(&listing->name));
	add_cobol_literal(listing->out, component->name);
	ct_buf_add_char(listing->out, '\n');
}

void ct_catalog_print_copybook(struct ct_buf *out, const struct ct_catalog_component *component)
{
	struct listing listing = { .out = out, .component = component, .spelling = &cobol_spelling };

	print_cobol_head(&listing);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_cobol_event(&listing, &component->events[i]);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_cobol_labels(&listing, &component->events[i]);
	names_fini(&listing.names);
	ct_buf_fini(&listing.name);
}

/* ---- Markdown ---- */

static void add_markdown(struct ct_buf *out, const char *text)
{
	struct ct_buf plain;
	const char *at;

	ct_buf_init(&plain);
	add_plain(&plain, text);
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
	ct_buf_fini(&plain);
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

static void add_separate(struct ct_buf *out, size_t start, const char *text)
{
	if (out->size > start)
		ct_buf_add_text(out, ", ");
	ct_buf_add_text(out, text);
}

static void print_form(struct ct_buf *out, const struct ct_argument *argument)
{
	size_t start = out->size;

	ct_buf_add_text(out, print_names[argument->print]);
	if (argument->print == CT_PRINT_TIME)
		ct_buf_add_format(out, " %s", unit_name(argument->unit_ns));
	if (argument->copybook_name != NULL) {
		ct_buf_add_text(out, " of ");
		add_markdown(out, argument->copybook_name);
		if (argument->copybook != NULL) {
			ct_buf_add_text(out, ": ");
			add_markdown(out, ct_copybook_name(argument->copybook));
			ct_buf_add_format(out, ", %u bytes", ct_copybook_size(argument->copybook));
		}
	}
	if (argument->encoding == CT_ENCODING_EBCDIC_037)
		add_separate(out, start, "EBCDIC 037");
	if (argument->is_key)
		add_separate(out, start, "key");
	if (argument->is_asid)
		add_separate(out, start, "the event's ASID");
	if (argument->is_jobname)
		add_separate(out, start, "the event's JOBNAME");
}

static void print_labels(struct ct_buf *out, const struct ct_argument *argument)
{
	if (argument->label_count == 0)
		return;
	ct_buf_add_format(out, "\n%s of ", argument->print == CT_PRINT_FLAGS ? "Flags" : "Values");
	add_markdown(out, argument->name);
	ct_buf_add_text(out, ":\n\n| value | name |\n|---:|---|\n");
	for (uint32_t i = 0; i < argument->label_count; i++) {
		uint64_t value = argument->labels[i].value;

		if (argument->print == CT_PRINT_FLAGS)
			ct_buf_add_format(out, "| 0x%llX | ", (unsigned long long)value);
		else
			ct_buf_add_format(out, "| %lld | ", (long long)value);
		add_markdown(out, argument->labels[i].name);
		ct_buf_add_text(out, " |\n");
	}
}

static void print_arguments(struct ct_buf *out, const struct ct_event_type *type)
{
	if (type->argument_count == 0)
		return;
	ct_buf_add_text(out, "\n| item | name | printed as | description |\n|---:|---|---|---|\n");
	for (uint32_t i = 0; i < type->argument_count; i++) {
		ct_buf_add_format(out, "| %u | ", i);
		add_markdown(out, type->arguments[i].name);
		ct_buf_add_text(out, " | ");
		print_form(out, &type->arguments[i]);
		ct_buf_add_text(out, " | ");
		add_markdown(out, type->arguments[i].description);
		ct_buf_add_text(out, " |\n");
	}
	for (uint32_t i = 0; i < type->argument_count; i++)
		print_labels(out, &type->arguments[i]);
}

/* " with the same handle." */
static void print_pair(struct ct_buf *out, const struct ct_event_type *type, const struct ct_event_type *other)
{
	ct_buf_add_format(out, " %s %u ", type->pairing == CT_PAIR_ENTRY ? "An entry; its exit is" : "The exit of", other->event_id);
	add_markdown(out, other->mnemonic);
	if (type->match >= 0) {
		ct_buf_add_text(out, " with the same ");
		add_markdown(out, type->arguments[type->match].name);
	}
	ct_buf_add_char(out, '.');
}

/* "Level INFO. An entry; its exit is 11 READEND." */
static void print_remarks(struct ct_buf *out, const struct ct_catalog_component *component, const struct ct_event_type *type)
{
	const struct ct_event_type *other = pair_of(component, type);
	struct ct_buf remarks;

	ct_buf_init(&remarks);
	if (type->severity != CTRACE_LEVEL_NONE)
		ct_buf_add_format(&remarks, " Level %s.", ct_level_name(type->severity));
	if (type->is_exception)
		ct_buf_add_text(&remarks, " An exception.");
	if (other != NULL)
		print_pair(&remarks, type, other);
	if (remarks.size != 0)
		ct_buf_add_format(out, "\n%s\n", ct_buf_text(&remarks) + 1);
	ct_buf_fini(&remarks);
}

static void print_event(struct ct_buf *out, const struct ct_catalog_component *component, const struct ct_event_type *type)
{
	ct_buf_add_format(out, "\n## %u ", type->event_id);
	add_markdown(out, type->mnemonic);
	ct_buf_add_char(out, '\n');
	if (type->description[0] != '\0') {
		ct_buf_add_char(out, '\n');
		add_markdown(out, type->description);
		add_stop(out);
		ct_buf_add_char(out, '\n');
	}
	print_remarks(out, component, type);
	print_arguments(out, type);
}

static void print_table(struct ct_buf *out, const struct ct_catalog_component *component)
{
	ct_buf_add_text(out, "\n| event | hex | mnemonic | level | description |\n|---:|---:|---|---|---|\n");
	for (uint32_t i = 0; i < component->event_count; i++) {
		const struct ct_event_type *type = &component->events[i];

		ct_buf_add_format(out, "| %u | %X | ", type->event_id, type->event_id);
		add_markdown(out, type->mnemonic);
		ct_buf_add_format(out, " | %s | ", type->severity != CTRACE_LEVEL_NONE ? ct_level_name(type->severity) : "");
		add_markdown(out, type->description);
		ct_buf_add_text(out, " |\n");
	}
}

void ct_catalog_print_markdown(struct ct_buf *out, const struct ct_catalog_component *component)
{
	ct_buf_add_text(out, "# ");
	add_markdown(out, component->name);
	ct_buf_add_char(out, '\n');
	if (component->description[0] != '\0') {
		ct_buf_add_char(out, '\n');
		add_markdown(out, component->description);
		add_stop(out);
		ct_buf_add_char(out, '\n');
	}
	if (component->event_count != 0)
		print_table(out, component);
	for (uint32_t i = 0; i < component->event_count; i++)
		print_event(out, component, &component->events[i]);
}
