/*
 * catalog_print_constants.c - prints the constants of a component for C (macros) and COBOL (level
 * 78): its name, each event, and each named value and bit.
 *
 * Called by `ctrace catalog header` and `ctrace catalog copybook`, on the tool's thread.  Names are
 * unique, and the language allows them; a million names may be cut to the same text, and making a
 * name takes no longer for that.  No text of the catalogue ends a comment or a literal, or
 * continues a line of C.  Lines of COBOL are in columns 8 to 72, which both fixed and free format
 * accept.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_print.h"

#include "base/hash_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- existing names, compared ignoring case, as COBOL does ---- */

/* The form of a name. */
struct spelling {
	const char *begin; /* prefix of all names: "78-" */
	char mark;         /* replaces other characters */
	size_t limit;      /* bytes */
};
/* The names made so far for one component. */
struct made_names {
	const struct spelling *spelling;
	const struct ct_catalog_component *component;
	struct ct_buf texts;        /* each terminated */
	struct ct_hash_table table; /* a name's number is its offset in texts */
	struct ct_buf last;
	bool has_failed; /* without memory, so names may not be distinct */
};

static void names_init(struct made_names *names, const struct spelling *spelling,
		       const struct ct_catalog_component *component)
{
	*names = (struct made_names){ .spelling = spelling, .component = component };
	ct_buf_init(&names->texts);
	ct_buf_init(&names->last);
}

static void names_fini(struct made_names *names)
{
	ct_buf_fini(&names->texts);
	ct_buf_fini(&names->last);
	ct_hash_table_fini(&names->table);
}

static bool name_is_equal(const void *items, uint32_t number, const void *key)
{
	return ct_name_is(key, strlen(key), (const char *)items + number);
}

/* Adds a name.  Returns false when it exists already; without memory all count as new. */
static bool names_add(struct made_names *names, const char *name)
{
	uint32_t hash = ct_name_hash(name, strlen(name));
	size_t at = names->texts.size;

	if (ct_hash_table_find(&names->table, hash, name_is_equal, names->texts.data, name) !=
	    CT_HASH_TABLE_NONE)
		return false;
	ct_buf_add(&names->texts, name, strlen(name) + 1);
	if (names->texts.failed || !ct_hash_table_reserve(&names->table))
		names->has_failed = true;
	else
		ct_hash_table_add(&names->table, hash, (uint32_t)at);
	return true;
}

/* ---- making names ---- */

static bool char_is_alphanumeric(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Adds a part: letters in upper case, a run of other characters as one mark, no mark at the end. */
static void name_add_part(struct ct_buf *out, const struct spelling *spelling, const char *part)
{
	size_t start = out->size;

	for (; *part != '\0'; part++) {
		char c = *part;

		ct_name_upper(&c, 1);
		if (char_is_alphanumeric(c))
			ct_buf_add_char(out, c);
		else if (out->size > start && out->data[out->size - 1] != spelling->mark)
			ct_buf_add_char(out, spelling->mark);
	}
	while (out->size > start && out->data[out->size - 1] == spelling->mark)
		out->size--;
	if (out->size == start)
		ct_buf_add_char(out, 'X');
}

static void name_join_parts(struct ct_buf *out, const struct spelling *spelling,
			    const char *const *parts, size_t count)
{
	ct_buf_clear(out);
	ct_buf_add_text(out, spelling->begin);
	if (out->size == 0 && parts[0][0] >= '0' && parts[0][0] <= '9')
		ct_buf_add_text(out, "C_");
	for (size_t i = 0; i < count; i++) {
		if (i != 0)
			ct_buf_add_char(out, spelling->mark);
		name_add_part(out, spelling, parts[i]);
	}
}

/* Cuts the name and appends a number: the first from `number` on that makes the name unique. */
static void names_add_numbered(struct made_names *names, uint64_t number)
{
	const struct spelling *spelling = names->spelling;
	struct ct_buf *name = &names->last;
	size_t whole = name->size;

	do {
		char end[24];
		size_t size = (size_t)snprintf(end, sizeof end, "%c%llu", spelling->mark,
					       (unsigned long long)number++);

		name->size = whole + size > spelling->limit ? spelling->limit - size : whole;
		while (name->size > 0 && name->data[name->size - 1] == spelling->mark)
			name->size--;
		ct_buf_add_text(name, end);
	} while (!name->failed && !names_add(names, ct_buf_text(name)));
}

/* Makes COMPONENT_MNEMONIC, or COMPONENT_MNEMONIC_ARGUMENT_VALUE, without the mnemonic if that is
 * too long.  A name that is still too long, or not unique, ends with a number. */
static const char *names_make(struct made_names *names, const char *const *parts, size_t count,
			      uint64_t number)
{
	const struct spelling *spelling = names->spelling;
	struct ct_buf *out = &names->last;

	name_join_parts(out, spelling, parts, count);
	if (out->size > spelling->limit && count == 4) {
		const char *shorter[] = { parts[0], parts[2], parts[3] };

		name_join_parts(out, spelling, shorter, CT_COUNT(shorter));
	}
	if (out->size > spelling->limit || !names_add(names, ct_buf_text(out)))
		names_add_numbered(names, number);
	names->has_failed |= out->failed;
	return ct_buf_text(out);
}

static const char *names_make_event(struct made_names *names, const struct ct_event_type *type)
{
	const char *parts[] = { names->component->name, type->mnemonic };

	return names_make(names, parts, CT_COUNT(parts), type->event_id);
}

static const char *names_make_label(struct made_names *names, const struct ct_event_type *type,
				    const struct ct_argument *argument,
				    const struct ct_label *label)
{
	const char *parts[] = { names->component->name, type->mnemonic, argument->name,
				label->name };

	/* The count of names is almost certainly a free number, even if many names are cut to the
	 * same. */
	return names_make(names, parts, CT_COUNT(parts), names->table.count);
}

static const char *names_make_own(struct made_names *names, const char *what)
{
	const char *parts[] = { names->component->name, what };

	return names_make(names, parts, CT_COUNT(parts), 2);
}

/* ---- the constants of a component, for both languages ---- */

static const char *component_file_name(const struct ct_catalog_component *component)
{
	const char *slash = strrchr(component->path, '/');

	return slash != NULL ? slash + 1 : component->path;
}

static bool label_is_negative(const struct ct_argument *argument, const struct ct_label *label)
{
	return argument->print != CT_PRINT_FLAGS && label->value >> 63 != 0;
}

/* "INFO, its exit is READEND; items: package, size" */
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

/* Adds a description of an event for a comment: its text, and the facts.  The result is not escaped
 * yet. */
static void remark_add(struct ct_buf *out, const struct ct_catalog_component *component,
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

/* ---- a C header ---- */

static const struct spelling c_spelling = { "", '_', 500 };

/* Adds a text that can neither begin nor end a comment, nor continue its line. */
static void c_add_remark(struct ct_buf *out, const char *text)
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

static void c_add_string(struct ct_buf *out, const char *text)
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

static void c_print_value(struct ct_buf *out, const struct ct_argument *argument,
			  const struct ct_label *label)
{
	uint64_t value = label->value;

	if (value == (uint64_t)1 << 63 && label_is_negative(argument, label))
		ct_buf_add_text(out, "(-9223372036854775807ll - 1)");
	else if (label_is_negative(argument, label))
		ct_buf_add_format(out, "(-%llull)", (unsigned long long)(0 - value));
	else if (argument->print == CT_PRINT_FLAGS)
		ct_buf_add_format(out, "0x%llx%s", (unsigned long long)value,
				  value > UINT32_MAX ? "ull" : "u");
	else
		ct_buf_add_format(out, "%llu%s", (unsigned long long)value,
				  value > UINT32_MAX ? "ull" : "u");
}

static void c_print_labels(struct ct_buf *out, struct made_names *names,
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
				names_make_label(names, type, argument, &argument->labels[j]));
			c_print_value(out, argument, &argument->labels[j]);
			ct_buf_add_char(out, '\n');
		}
	}
}

static void c_print_event(struct ct_buf *out, struct made_names *names,
			  const struct ct_event_type *type)
{
	struct ct_buf remark;

	ct_buf_init(&remark);
	remark_add(&remark, names->component, type);
	ct_buf_add_format(out, "#define %s %uu", names_make_event(names, type), type->event_id);
	if (remark.size != 0) {
		ct_buf_add_text(out, " /* ");
		c_add_remark(out, ct_buf_text(&remark));
		ct_buf_add_text(out, " */");
	}
	ct_buf_add_char(out, '\n');
	ct_buf_fini_into(&remark, out);
}

static void c_print_head(struct ct_buf *out, struct made_names *names)
{
	const struct ct_catalog_component *component = names->component;
	const char *name;

	ct_buf_add_text(out, "/*\n * Events of ");
	c_add_remark(out, component->name);
	if (component->description[0] != '\0') {
		ct_buf_add_text(out, ": ");
		c_add_remark(out, component->description);
	}
	ct_buf_add_text(out, "\n *\n * Made by ctrace catalog header from ");
	c_add_remark(out, component_file_name(component));
	ct_buf_add_text(out, ": change that, not this.\n */\n");
	name = names_make_own(names, "EVENTS_H");
	ct_buf_add_format(out, "#ifndef %s\n#define %s\n\n", name, name);
	ct_buf_add_format(out, "#define %s ", names_make_own(names, "COMPONENT"));
	c_add_string(out, component->name);
	ct_buf_add_text(out, "\n\n");
}

void ct_catalog_print_header(struct ct_buf *out, const struct ct_catalog_component *component)
{
	struct made_names names;

	names_init(&names, &c_spelling, component);
	c_print_head(out, &names);
	for (uint32_t i = 0; i < component->event_count; i++)
		c_print_event(out, &names, &component->events[i]);
	for (uint32_t i = 0; i < component->event_count; i++)
		c_print_labels(out, &names, &component->events[i]);
	ct_buf_add_text(out, "\n#endif\n");
	out->failed |= names.has_failed;
	names_fini(&names);
}

/* ---- a COBOL copybook ---- */

#define AREA_A "       " /* columns 1 to 7 */
#define REMARK "      *> "
#define LAST_COLUMN 72u
#define LITERAL_WIDTH 48u

static const struct spelling cobol_spelling = { "78-", '-', 31 };

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

static void cobol_add_remark(struct ct_buf *out, const char *text)
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
static const char *cobol_add_piece(struct ct_buf *out, const char *text)
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

static void cobol_add_literal(struct ct_buf *out, const char *text)
{
	while (*text != '\0') {
		ct_buf_add_text(out, AREA_A "        \"");
		text = cobol_add_piece(out, text);
		ct_buf_add_text(out, *text != '\0' ? "\" &\n" : " \".\n");
	}
}

static void cobol_print_number(struct ct_buf *out, const char *name, bool is_minus, uint64_t value)
{
	ct_buf_add_format(out, AREA_A "78 %-31s value %s%llu.\n", name, is_minus ? "-" : "",
			  (unsigned long long)(is_minus ? 0 - value : value));
}

static void cobol_print_event(struct ct_buf *out, struct made_names *names,
			      const struct ct_event_type *type)
{
	struct ct_buf remark;

	ct_buf_init(&remark);
	remark_add(&remark, names->component, type);
	if (remark.size != 0)
		cobol_add_remark(out, ct_buf_text(&remark));
	ct_buf_fini_into(&remark, out);
	cobol_print_number(out, names_make_event(names, type), false, type->event_id);
}

static void cobol_print_labels(struct ct_buf *out, struct made_names *names,
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
		cobol_add_remark(out, ct_buf_text(&head));
		out->failed |= head.failed;
		for (uint32_t j = 0; j < argument->label_count; j++) {
			const struct ct_label *label = &argument->labels[j];

			cobol_print_number(out, names_make_label(names, type, argument, label),
					   label_is_negative(argument, label), label->value);
		}
	}
	ct_buf_fini_into(&head, out);
}

static void cobol_print_head(struct ct_buf *out, struct made_names *names)
{
	const struct ct_catalog_component *component = names->component;
	struct ct_buf head;

	ct_buf_init(&head);
	ct_buf_add_format(&head, "Events of %s%s%s", component->name,
			  component->description[0] != '\0' ? ": " : "", component->description);
	cobol_add_remark(out, ct_buf_text(&head));
	out->failed |= head.failed;
	ct_buf_clear(&head);
	ct_buf_add_format(&head, "Made by ctrace catalog copybook from %s: change that, not this.",
			  component_file_name(component));
	cobol_add_remark(out, ct_buf_text(&head));
	ct_buf_fini_into(&head, out);
	ct_buf_add_format(
		out, "\n" REMARK "The name, with the blank that ends it\n" AREA_A "78 %s value\n",
		names_make_own(names, "COMPONENT"));
	cobol_add_literal(out, component->name);
	ct_buf_add_char(out, '\n');
}

void ct_catalog_print_copybook(struct ct_buf *out, const struct ct_catalog_component *component)
{
	struct made_names names;

	names_init(&names, &cobol_spelling, component);
	cobol_print_head(out, &names);
	for (uint32_t i = 0; i < component->event_count; i++)
		cobol_print_event(out, &names, &component->events[i]);
	for (uint32_t i = 0; i < component->event_count; i++)
		cobol_print_labels(out, &names, &component->events[i]);
	out->failed |= names.has_failed;
	names_fini(&names);
}
