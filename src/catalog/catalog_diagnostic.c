/*
 * catalog_diagnostic.c - collects the errors of a catalogue, and reports them in the order of the
 * text.
 *
 * Called by all files that read a catalogue, on the same thread.  A text may have any number of
 * errors: after a thousand they are only counted.  Quotes are cut and escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_catalog_diagnostics_fini(struct ct_catalog_diagnostics *diagnostics)
{
	for (uint32_t i = 0; i < diagnostics->count; i++)
		free(diagnostics->notes[i].path);
	free(diagnostics->notes);
	*diagnostics = (struct ct_catalog_diagnostics){ 0 };
}

/* Counts a note, and returns it; NULL when the limit is reached or memory is short. */
static struct ct_catalog_diagnostic_note *note_create(struct ct_catalog_diagnostics *diagnostics,
						      bool is_diagnostic)
{
	diagnostics->total += is_diagnostic;
	diagnostics->harmless += !is_diagnostic;
	if (diagnostics->count == CT_CATALOG_DIAGNOSTICS)
		return NULL;
	if (diagnostics->count == diagnostics->capacity) {
		uint32_t capacity = diagnostics->capacity != 0 ? diagnostics->capacity * 2 : 8;
		struct ct_catalog_diagnostic_note *notes =
			realloc(diagnostics->notes, capacity * sizeof *notes);

		if (notes == NULL)
			return NULL;
		diagnostics->notes = notes;
		diagnostics->capacity = capacity;
	}
	diagnostics->notes[diagnostics->count] = (struct ct_catalog_diagnostic_note){ 0 };
	return &diagnostics->notes[diagnostics->count++];
}

void ct_catalog_diagnostics_add(struct ct_catalog_diagnostics *diagnostics,
				const struct ct_yaml_place *place,
				const struct ct_catalog_diagnostic *diagnostic)
{
	struct ct_catalog_diagnostic_note *note = note_create(diagnostics, !diagnostic->is_note);
	const struct ct_yaml *word = diagnostic->word;
	struct ct_finding finding = { .what = diagnostic->what,
				      .meant = diagnostic->suggestion,
				      .expected = diagnostic->expected };

	if (note == NULL)
		return;
	if (word != NULL && word->kind == CT_YAML_SCALAR)
		finding.word = (struct ct_span){ word->text, word->count };
	else if (word != NULL)
		finding.before = "this";
	note->place = *place;
	ct_diagnostic_set(&note->diagnostic, &finding);
}

void ct_catalog_diagnostics_add_text(struct ct_catalog_diagnostics *diagnostics,
				     const struct ct_yaml_place *place, const char *path,
				     const struct ct_diagnostic *diagnostic)
{
	struct ct_catalog_diagnostic_note *note = note_create(diagnostics, true);

	if (note == NULL)
		return;
	note->is_whole = place == NULL;
	if (place != NULL)
		note->place = *place;
	note->path = path != NULL ? strdup(path) : NULL;
	note->diagnostic = *diagnostic;
}

/* ---- reporting ---- */

/* A walk through the text, from one error's position to the next. */
struct walk {
	const char *line; /* begin of the current line */
	const char *stop; /* its end; NULL: unknown yet */
	const char *at;   /* position of the last error in it; NULL: none */
	uint32_t column;  /* column of `at` */
	const char *end;
	uint32_t number;
};

static const char *line_find_break(const char *at, const char *end)
{
	while (at < end && ct_yaml_break(at, end) == 0)
		at++;
	return at;
}

static void walk_to(struct walk *walk, uint32_t line)
{
	while (walk->number < line) {
		const char *at = line_find_break(walk->line, walk->end);

		if (at == walk->end)
			return;
		walk->line = at + ct_yaml_break(at, walk->end);
		walk->stop = walk->at = NULL;
		walk->number++;
	}
}

/* Sets line and column.  Columns count bytes, but libyaml's count characters.  One line may be the
 * whole file with all errors, so the walk goes on from the last error. */
static void note_set_position(struct walk *walk, struct ct_catalog_diagnostic_note *note)
{
	walk_to(walk, note->place.line);
	if (walk->stop == NULL)
		walk->stop = line_find_break(walk->line, walk->end);
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
	note->diagnostic.line = walk->number + 1;
	note->diagnostic.column = (unsigned)(walk->at - walk->line) + 1;
}

static int64_t note_compare(const struct ct_catalog_diagnostic_note *a,
			    const struct ct_catalog_diagnostic_note *b)
{
	if (a->is_whole != b->is_whole)
		return a->is_whole ? 1 : -1;
	if (a->place.line != b->place.line)
		return a->place.line < b->place.line ? -1 : 1;
	return (int64_t)a->place.column - (int64_t)b->place.column;
}

static int note_pointer_compare(const void *one, const void *other)
{
	const struct ct_catalog_diagnostic_note *a =
		*(const struct ct_catalog_diagnostic_note *const *)one;
	const struct ct_catalog_diagnostic_note *b =
		*(const struct ct_catalog_diagnostic_note *const *)other;
	int64_t by = note_compare(a, b);

	if (by == 0)
		by = a - b; /* errors at one position in the order of their discovery */
	return by < 0 ? -1 : by > 0;
}

static void report_rest(uint64_t count, const char *path, ct_catalog_diagnose *diagnose, void *user)
{
	struct ct_diagnostic diagnostic = { 0 };

	(void)snprintf(diagnostic.message, sizeof diagnostic.message, "%llu more errors",
		       (unsigned long long)count);
	(void)snprintf(diagnostic.expected, sizeof diagnostic.expected,
		       "the errors above to be corrected first");
	diagnose(path, &diagnostic, user);
}

void ct_catalog_diagnostics_report(struct ct_catalog_diagnostics *diagnostics, const char *path,
				   const char *text, size_t size, ct_catalog_diagnose *diagnose,
				   void *user)
{
	struct walk walk = { .line = text, .end = text + size };
	struct ct_catalog_diagnostic_note **order;

	if (diagnose == NULL || diagnostics->count == 0)
		return;
	order = malloc(diagnostics->count * sizeof(struct ct_catalog_diagnostic_note *));
	if (order == NULL)
		return;
	for (uint32_t i = 0; i < diagnostics->count; i++)
		order[i] = &diagnostics->notes[i];
	qsort(order, diagnostics->count, sizeof(struct ct_catalog_diagnostic_note *),
	      note_pointer_compare);
	for (uint32_t i = 0; i < diagnostics->count; i++) {
		if (order[i]->path == NULL && !order[i]->is_whole)
			note_set_position(&walk, order[i]);
		diagnose(order[i]->path != NULL ? order[i]->path : path, &order[i]->diagnostic,
			 user);
	}
	if (diagnostics->total + diagnostics->harmless > diagnostics->count)
		report_rest(diagnostics->total + diagnostics->harmless - diagnostics->count, path,
			    diagnose, user);
	free(order);
}
