/*
 * catalog_mistake.c - what is wrong with a catalogue, in words, and told in the order of the text.
 *
 * Called by all that read a catalogue, on that one thread.  A text may consist of mistakes: after a thousand they are only counted.  What is
 * quoted is cut and escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_mistakes_fini(struct ct_mistakes *mistakes)
{
	for (uint32_t i = 0; i < mistakes->count; i++)
		free(mistakes->notes[i].path);
	free(mistakes->notes);
	*mistakes = (struct ct_mistakes){ 0 };
}

/* NULL: enough are noted, or memory is short; it counts all the same. */
static struct ct_mistake_note *new_note(struct ct_mistakes *mistakes, bool is_mistake)
{
	mistakes->total += is_mistake;
	mistakes->harmless += !is_mistake;
	if (mistakes->count == CT_CATALOG_MISTAKES)
		return NULL;
	if (mistakes->count == mistakes->capacity) {
		uint32_t capacity = mistakes->capacity != 0 ? mistakes->capacity * 2 : 8;
		struct ct_mistake_note *notes = realloc(mistakes->notes, capacity * sizeof *notes);

		if (notes == NULL)
			return NULL;
		mistakes->notes = notes;
		mistakes->capacity = capacity;
	}
	mistakes->notes[mistakes->count] = (struct ct_mistake_note){ 0 };
	return &mistakes->notes[mistakes->count++];
}

void ct_mistakes_add(struct ct_mistakes *mistakes, const struct ct_yaml_place *place, const struct ct_mistake *mistake)
{
	struct ct_mistake_note *note = new_note(mistakes, !mistake->is_note);
	struct ct_buf message;

	if (note == NULL)
		return;
	ct_buf_init(&message);
	if (mistake->word != NULL && mistake->word->kind != CT_YAML_SCALAR) {
		ct_buf_add_text(&message, "this ");
	} else if (mistake->word != NULL) {
		ct_span_quote(&message, (struct ct_span){ mistake->word->text, mistake->word->count }, CT_WORD_SHOWN);
		ct_buf_add_char(&message, ' ');
	}
	ct_buf_add_text(&message, mistake->what);
	if (mistake->suggestion != NULL)
		ct_buf_add_format(&message, " (did you mean %s?)", mistake->suggestion);
	note->place = *place;
	(void)snprintf(note->complaint.message, sizeof note->complaint.message, "%s", ct_buf_text(&message));
	(void)snprintf(note->complaint.expected, sizeof note->complaint.expected, "%s", mistake->expected);
	ct_buf_fini(&message);
}

void ct_mistakes_add_text(struct ct_mistakes *mistakes, const struct ct_yaml_place *place, const char *path,
			  const struct ct_complaint *complaint)
{
	struct ct_mistake_note *note = new_note(mistakes, true);

	if (note == NULL)
		return;
	note->is_whole = place == NULL;
	if (place != NULL)
		note->place = *place;
	note->path = path != NULL ? strdup(path) : NULL;
	note->complaint = *complaint;
}

/* ---- telling ---- */

/* A walk through the text, from one mistake's place to the next one's. */
struct walk {
	const char *line; /* where this one begins */
	const char *stop; /* and ends; NULL: nobody knows yet */
	const char *at;   /* the place in it that the last mistake has; NULL: there was none */
	uint32_t column;  /* of that */
	const char *end;
	uint32_t number;
};

static const char *next_break(const char *at, const char *end)
{
	while (at < end && ct_yaml_break(at, end) == 0)
		at++;
	return at;
}

static void walk_to(struct walk *walk, uint32_t line)
{
	while (walk->number < line) {
		const char *at = next_break(walk->line, walk->end);

		if (at == walk->end)
			return;
		walk->line = at + ct_yaml_break(at, walk->end);
		walk->stop = walk->at = NULL;
		walk->number++;
	}
}

/* Columns are bytes, where libyaml counts characters.  A line may be all of the file, and have all the mistakes. */
static void fill_in_place(struct walk *walk, struct ct_mistake_note *note)
{
	walk_to(walk, note->place.line);
	if (walk->stop == NULL)
		walk->stop = next_break(walk->line, walk->end);
	if (walk->at == NULL || walk->column > note->place.column) {
		walk->at = walk->line;
		walk->column = 0;
	}
	while (walk->at < walk->stop && walk->column < note->place.column) {
		walk->at++;
		while (walk->at < walk->stop && ((unsigned char)*walk->at & 0xC0) == 0x80)
			walk->at++;
		walk->column++;
	}
	note->complaint.line = walk->number + 1;
	note->complaint.column = (unsigned)(walk->at - walk->line) + 1;
}

static int64_t difference(const struct ct_mistake_note *a, const struct ct_mistake_note *b)
{
	if (a->is_whole != b->is_whole)
		return a->is_whole ? 1 : -1;
	if (a->place.line != b->place.line)
		return a->place.line < b->place.line ? -1 : 1;
	return (int64_t)a->place.column - (int64_t)b->place.column;
}

static int by_place(const void *one, const void *other)
{
	const struct ct_mistake_note *a = *(const struct ct_mistake_note *const *)one;
	const struct ct_mistake_note *b = *(const struct ct_mistake_note *const *)other;
	int64_t by = difference(a, b);

	if (by == 0)
		by = a - b; /* those of one place in the order in which they were found */
	return by < 0 ? -1 : by > 0;
}

static void tell_rest(uint64_t count, const char *path, ct_catalog_complain *complain, void *user)
{
	struct ct_complaint complaint = { 0 };

	(void)snprintf(complaint.message, sizeof complaint.message, "%llu more mistakes", (unsigned long long)count);
	(void)snprintf(complaint.expected, sizeof complaint.expected, "the ones above to be mended first");
	complain(path, &complaint, user);
}

void ct_mistakes_tell(struct ct_mistakes *mistakes, const char *path, const char *text, size_t size, ct_catalog_complain *complain,
		      void *user)
{
	struct walk walk = { .line = text, .end = text + size };
	struct ct_mistake_note **order;

	if (complain == NULL || mistakes->count == 0)
		return;
	order = malloc(mistakes->count * sizeof(struct ct_mistake_note *));
	if (order == NULL)
		return;
	for (uint32_t i = 0; i < mistakes->count; i++)
		order[i] = &mistakes->notes[i];
	qsort(order, mistakes->count, sizeof(struct ct_mistake_note *), by_place);
	for (uint32_t i = 0; i < mistakes->count; i++) {
		if (order[i]->path == NULL && !order[i]->is_whole)
			fill_in_place(&walk, order[i]);
		complain(order[i]->path != NULL ? order[i]->path : path, &order[i]->complaint, user);
	}
	if (mistakes->total + mistakes->harmless > mistakes->count)
		tell_rest(mistakes->total + mistakes->harmless - mistakes->count, path, complain, user);
	free(order);
}
