/*
 * catalog_print_name.c - makes unique names for C and COBOL that the language allows.
 *
 * Called by the printers of headers and copybooks, on the tool's thread.  A million names may be
 * cut to the same text: making a name takes no longer for that.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- existing names, compared ignoring case, as COBOL does ---- */

void ct_made_names_init(struct ct_made_names *names, const struct ct_spelling *spelling,
			const struct ct_catalog_component *component)
{
	*names = (struct ct_made_names){ .spelling = spelling, .component = component };
	ct_buf_init(&names->texts);
	ct_buf_init(&names->last);
}

void ct_made_names_fini(struct ct_made_names *names)
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
static bool names_add(struct ct_made_names *names, const char *name)
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
static void name_add_part(struct ct_buf *out, const struct ct_spelling *spelling, const char *part)
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

static void name_join_parts(struct ct_buf *out, const struct ct_spelling *spelling,
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
static void names_add_numbered(struct ct_made_names *names, uint64_t number)
{
	const struct ct_spelling *spelling = names->spelling;
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
static const char *names_make(struct ct_made_names *names, const char *const *parts, size_t count,
			      uint64_t number)
{
	const struct ct_spelling *spelling = names->spelling;
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

const char *ct_made_names_event(struct ct_made_names *names, const struct ct_event_type *type)
{
	const char *parts[] = { names->component->name, type->mnemonic };

	return names_make(names, parts, CT_COUNT(parts), type->event_id);
}

const char *ct_made_names_label(struct ct_made_names *names, const struct ct_event_type *type,
				const struct ct_argument *argument, const struct ct_label *label)
{
	const char *parts[] = { names->component->name, type->mnemonic, argument->name,
				label->name };

	/* The count of names is almost certainly a free number, even if many names are cut to the
	 * same. */
	return names_make(names, parts, CT_COUNT(parts), names->table.count);
}

const char *ct_made_names_own(struct ct_made_names *names, const char *what)
{
	const char *parts[] = { names->component->name, what };

	return names_make(names, parts, CT_COUNT(parts), 2);
}
