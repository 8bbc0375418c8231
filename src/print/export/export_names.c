/*
 * export_names.c - names of spans in a picture, so that viewers add up what belongs together.
 *
 * Called by export_tracks.c, on one thread.  The name is the span's component and the mnemonic of
 * its entry, or the word in the entry's first key item: "WEB.REQUEST /login".  When the catalogue
 * names the span by `span`, the name is that alone: "INIT of PAYROLL".  Both ends need one
 * name, though the exit has other items, so the names of open spans are kept: at most as many as
 * the reader pairs at once (CT_PAIRING_OPEN).  An item with too many different words adds nothing
 * up and is left out, which is known only after the first reading.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <stdlib.h>
#include <string.h>

/* different words of a key item; an item with more is left out */
#define WORDS_LIMIT 64u
#define WORD_SIZE 64u  /* bytes of a word that are looked at */
#define OPEN_FIRST 64u /* a power of two */

/* The words of an entry's key item. */
struct words {
	struct ct_distinct seen;
	bool is_known; /* the type has been looked at */
	bool is_too_many;
	/* the component has no other spans: the mnemonic adds nothing to the word */
	bool is_only_entry;
};

struct open_name {
	uint64_t span_id; /* 0: free */
	uint32_t name;
};

struct ct_span_names {
	struct ct_distinct names;
	struct ct_distinct types; /* pointers to entries' types */
	struct words *words;      /* by the number of the type */
	uint32_t words_capacity;
	struct open_name *open; /* a hash table, at most half full */
	uint32_t open_count, open_capacity;
	struct ct_buf text, word;
};

enum ctrace_status ct_span_names_create(struct ct_span_names **out_names)
{
	*out_names = calloc(1, sizeof **out_names);
	return *out_names != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_span_names_destroy(struct ct_span_names *names)
{
	if (names == NULL)
		return;
	for (uint32_t i = 0; i < names->types.count && i < names->words_capacity; i++)
		ct_distinct_fini(&names->words[i].seen);
	ct_distinct_fini(&names->names);
	ct_distinct_fini(&names->types);
	ct_buf_fini(&names->text);
	ct_buf_fini(&names->word);
	free(names->words);
	free(names->open);
	free(names);
}

/* -----------------------------------------------------------------------------------------------
 * Words of key items
 */

static bool item_is_word(const struct ctrace_event_item *item, const struct ct_argument *argument)
{
	if (argument->print == CT_PRINT_ENUMERATION || argument->print == CT_PRINT_TEXT)
		return true;
	return argument->print == CT_PRINT_DEFAULT &&
	       (item->type == CTRACE_TYPE_TEXT || item->type == CTRACE_TYPE_UTF8);
}

/* Sets names->word to the first key item that is a word, without padding blanks; empty when
 * there is none. */
static void word_take(struct ct_span_names *names, const struct ct_read_event *event)
{
	const struct ct_event_type *type = event->type;
	struct ct_buf *word = &names->word;

	ct_buf_clear(word);
	for (uint32_t i = 0;
	     type != NULL && i < type->argument_count && i < event->traced.item_count; i++) {
		if (!type->arguments[i].is_key ||
		    !item_is_word(&event->traced.items[i], &type->arguments[i]))
			continue;
		(void)ct_export_add_value(word, event, i);
		break;
	}
	if (word->size > WORD_SIZE) {
		word->size = WORD_SIZE;
		/* never cuts inside a character */
		while (word->size > 0 && (word->data[word->size] & 0xC0) == 0x80)
			word->size--;
	}
	while (word->size > 0 &&
	       (word->data[word->size - 1] == ' ' || word->data[word->size - 1] == '\0'))
		word->size--;
}

static bool words_grow(struct ct_span_names *names, uint32_t count)
{
	uint32_t capacity = names->words_capacity == 0 ? 16 : names->words_capacity;
	struct words *grown;

	while (capacity < count)
		capacity *= 2;
	if (capacity == names->words_capacity)
		return true;
	grown = reallocarray(names->words, capacity, sizeof *grown);
	if (grown == NULL)
		return false;
	memset(grown + names->words_capacity, 0,
	       (capacity - names->words_capacity) * sizeof *grown);
	names->words = grown;
	names->words_capacity = capacity;
	return true;
}

/* Returns NULL when memory is short, or there are too many types. */
static struct words *words_find(struct ct_span_names *names, const struct ct_read_event *event)
{
	bool is_new;
	uint32_t entries = 0;
	uint32_t index =
		ct_distinct_find(&names->types, &event->type, sizeof(const void *), &is_new);
	struct words *words;

	if (index == CT_DISTINCT_NONE || !words_grow(names, index + 1))
		return NULL;
	words = &names->words[index];
	if (words->is_known)
		return words;
	for (uint32_t i = 0; event->component != NULL && i < event->component->event_count; i++)
		entries += event->component->events[i].pairing == CT_PAIR_ENTRY;
	words->is_known = true;
	words->is_only_entry = entries == 1;
	return words;
}

void ct_span_names_look(struct ct_span_names *names, const struct ct_read_event *event)
{
	struct words *words;
	bool is_new;

	if (event->type != NULL && event->type->span_name_count > 0)
		return;
	word_take(names, event);
	if (names->word.size == 0)
		return;
	words = words_find(names, event);
	if (words == NULL || words->is_too_many)
		return;
	(void)ct_distinct_find(&words->seen, names->word.data, names->word.size, &is_new);
	words->is_too_many = words->seen.count > WORDS_LIMIT;
}

/* -----------------------------------------------------------------------------------------------
 * Names
 */

/* Sets names->text: "WEB.REQUEST /login", "DB QUERY CUSTOMER", "DB QUERY". */
static void name_make(struct ct_span_names *names, const struct ct_read_event *event)
{
	struct words *words = NULL;

	ct_buf_clear(&names->text);
	if (ct_span_name_add(&names->text, event))
		return;
	word_take(names, event);
	if (names->word.size > 0)
		words = words_find(names, event);
	if (words == NULL || words->is_too_many) {
		ct_export_add_name(&names->text, event);
		return;
	}
	if (words->is_only_entry)
		ct_buf_add(&names->text, event->traced.component, event->traced.component_size);
	else
		ct_export_add_name(&names->text, event);
	ct_buf_add_char(&names->text, ' ');
	ct_buf_add(&names->text, names->word.data, names->word.size);
}

static size_t open_slot(const struct ct_span_names *names, uint64_t span_id)
{
	size_t slot = (size_t)(span_id * 0x9E3779B97F4A7C15u >> 32) & (names->open_capacity - 1);

	while (names->open[slot].span_id != 0 && names->open[slot].span_id != span_id)
		slot = (slot + 1) & (names->open_capacity - 1);
	return slot;
}

static bool open_grow(struct ct_span_names *names)
{
	struct open_name *old = names->open;
	uint32_t old_capacity = names->open_capacity;
	uint32_t capacity = old_capacity == 0 ? OPEN_FIRST : 2 * old_capacity;
	struct open_name *grown = calloc(capacity, sizeof *grown);

	if (grown == NULL)
		return false;
	names->open = grown;
	names->open_capacity = capacity;
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i].span_id != 0)
			grown[open_slot(names, old[i].span_id)] = old[i];
	free(old);
	return true;
}

static void open_add(struct ct_span_names *names, uint64_t span_id, uint32_t name)
{
	size_t slot;

	if (names->open_count * 2 >= names->open_capacity && !open_grow(names))
		return;
	slot = open_slot(names, span_id);
	names->open_count += names->open[slot].span_id == 0;
	names->open[slot] = (struct open_name){ .span_id = span_id, .name = name };
}

/* Entries after the freed one are inserted again, or they would not be found. */
static uint32_t open_remove(struct ct_span_names *names, uint64_t span_id)
{
	size_t slot;
	uint32_t name;

	if (names->open_count == 0)
		return CT_DISTINCT_NONE;
	slot = open_slot(names, span_id);
	if (names->open[slot].span_id == 0)
		return CT_DISTINCT_NONE;
	name = names->open[slot].name;
	names->open[slot].span_id = 0;
	names->open_count--;
	for (;;) {
		struct open_name moved;

		slot = (slot + 1) & (names->open_capacity - 1);
		moved = names->open[slot];
		if (moved.span_id == 0)
			return name;
		names->open[slot].span_id = 0;
		names->open[open_slot(names, moved.span_id)] = moved;
	}
}

uint32_t ct_span_names_find(struct ct_span_names *names, const struct ct_read_event *event)
{
	bool is_end = ct_read_event_ends_span(event) && !event->is_whole;
	uint32_t name = is_end ? open_remove(names, event->span_id) : CT_DISTINCT_NONE;
	bool is_new;

	if (name != CT_DISTINCT_NONE)
		return name;
	if (is_end)
		return CT_DISTINCT_NONE; /* the beginning of the span was not seen */
	name_make(names, event);
	if (names->text.failed)
		return CT_DISTINCT_NONE;
	name = ct_distinct_find(&names->names, names->text.data, names->text.size, &is_new);
	if (name != CT_DISTINCT_NONE && !event->is_whole)
		open_add(names, event->span_id, name);
	return name;
}

const char *ct_span_names_text(const struct ct_span_names *names, uint32_t name, size_t *out_size)
{
	return ct_distinct_key(&names->names, name, out_size);
}

uint32_t ct_span_names_count(const struct ct_span_names *names)
{
	return names->names.count;
}
