/*
 * suggest.c - finds the word that a person probably meant.
 *
 * Only for messages to people.  Any thread; allocates nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <string.h>

#define LONGEST 32u
#define MOST_EDITS 2u
#define LEAST_SYNONYM 6u

static char char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Returns the number of letters that are missing, too many, wrong, or swapped with their
 * neighbour. */
static unsigned word_edits(struct ct_span a, struct ct_span b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0];
	unsigned *last = rows[1];
	unsigned *now = rows[2];

	for (unsigned j = 0; j <= b.size; j++)
		last[j] = j;
	for (unsigned i = 1; i <= a.size; i++) {
		unsigned *oldest = before;

		now[0] = i;
		for (unsigned j = 1; j <= b.size; j++) {
			bool is_same = char_lower(a.at[i - 1]) == char_lower(b.at[j - 1]);

			now[j] = least(least(last[j], now[j - 1]) + 1,
				       last[j - 1] + (is_same ? 0 : 1));
			if (i > 1 && j > 1 && char_lower(a.at[i - 1]) == char_lower(b.at[j - 2]) &&
			    char_lower(a.at[i - 2]) == char_lower(b.at[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[b.size];
}

const char *ct_suggest(struct ct_span word, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	unsigned fewest = MOST_EDITS + 1;

	if (word.size == 0 || word.size > LONGEST)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct ct_span candidate = { words[i], strlen(words[i]) };
		unsigned needed = candidate.size <= LONGEST ? word_edits(word, candidate) : fewest;

		if (needed < fewest && needed * 2 < candidate.size) {
			fewest = needed;
			nearest = words[i];
		}
	}
	return nearest;
}

/* Levels of other logging systems, and numbers that are no level here. */
static const struct {
	const char *word;
	const char *level;
} level_synonyms[] = {
	{ "all", "debug" },        { "trace", "debug" },
	{ "verbose", "debug" },    { "fine", "debug" },
	{ "finest", "debug" },     { "dbg", "debug" },
	{ "information", "info" }, { "informational", "info" },
	{ "notice", "info" },      { "warning", "warn" },
	{ "warnings", "warn" },    { "err", "error" },
	{ "errors", "error" },     { "severe", "error" },
	{ "critical", "fatal" },   { "crit", "fatal" },
	{ "alert", "fatal" },      { "emerg", "fatal" },
	{ "emergency", "fatal" },  { "panic", "fatal" },
	{ "off", "none" },         { "no", "none" },
	{ "disabled", "none" },    { "quiet", "none" },
	{ "silent", "none" },      { "5", "none" },
	{ "-1", "none" },
};

/* Returns the nearest level, or else the level of the nearest long synonym: "wraning" is near
 * "warning" and no level.  Short synonyms are near too many words. */
static const char *level_suggest_near(struct ct_span word, const char *const *levels, size_t count)
{
	const char *near = ct_suggest(word, levels, count);

	for (size_t i = 0; near == NULL && i < CT_COUNT(level_synonyms); i++) {
		const char *synonym = level_synonyms[i].word;

		if (strlen(synonym) < LEAST_SYNONYM || ct_suggest(word, &synonym, 1) == NULL)
			continue;
		for (size_t j = 0; j < count; j++)
			if (strcmp(levels[j], level_synonyms[i].level) == 0)
				near = levels[j];
	}
	return near;
}

const char *ct_suggest_level(struct ct_span word, bool with_none)
{
	static const char *const levels[] = { "debug", "info", "warn", "error", "fatal", "none" };
	struct ct_span bare = word;

	while (bare.size != 0 && strchr("\"',;.:", bare.at[0]) != NULL) {
		bare.at++;
		bare.size--;
	}
	while (bare.size != 0 && strchr("\"',;.:", bare.at[bare.size - 1]) != NULL)
		bare.size--;
	for (size_t i = 0; i < CT_COUNT(level_synonyms); i++)
		if (ct_name_is(bare.at, bare.size, level_synonyms[i].word))
			return with_none || strcmp(level_synonyms[i].level, "none") != 0
				       ? level_synonyms[i].level
				       : NULL;
	return level_suggest_near(bare, levels, CT_COUNT(levels) - !with_none);
}
