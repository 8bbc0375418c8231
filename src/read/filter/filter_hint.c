/*
 * filter_hint.c - explains why a filter accepted nothing: names and values that no event has, and
 * the probable ones.
 *
 * Called by a reader after a scan without a hit, on one thread.  It reads the first events again,
 * without the filter, and remembers a bounded number of words.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_hint.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 1024u    /* distinct words to remember */
#define WORD_SIZE 128u /* longer words are ignored */

/* Distinct words, in their first spelling. */
struct words {
	char *items[WORDS];
	size_t count;
	bool is_full;
};

struct ct_filter_hint {
	const struct ct_filter *filter;
	struct words components, mnemonics, names;
	struct words *values; /* of each test */
};

static bool words_have(const struct words *words, const char *word, size_t size)
{
	for (size_t i = 0; i < words->count; i++)
		if (ct_name_is(word, size, words->items[i]))
			return true;
	return false;
}

static void words_add(struct words *words, const char *word, size_t size)
{
	if (size == 0 || size > WORD_SIZE || words_have(words, word, size))
		return;
	if (words->count == WORDS || (words->items[words->count] = strndup(word, size)) == NULL) {
		words->is_full = true;
		return;
	}
	words->count++;
}

static void words_fini(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
}

enum ctrace_status ct_filter_hint_create(const struct ct_filter *filter,
					 struct ct_filter_hint **out_hint)
{
	struct ct_filter_hint *hint = calloc(1, sizeof *hint);

	if (hint == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	hint->filter = filter;
	hint->values = calloc(filter->count + 1, sizeof *hint->values);
	if (hint->values == NULL) {
		free(hint);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_hint = hint;
	return CTRACE_OK;
}

void ct_filter_hint_destroy(struct ct_filter_hint *hint)
{
	if (hint == NULL)
		return;
	words_fini(&hint->components);
	words_fini(&hint->mnemonics);
	words_fini(&hint->names);
	for (uint32_t i = 0; i < hint->filter->count; i++)
		words_fini(&hint->values[i]);
	free(hint->values);
	free(hint);
}

/* -----------------------------------------------------------------------------------------------
 * What there is
 */

static void words_note_value(struct words *words, const struct ct_read_event *event, uint32_t index)
{
	const struct ctrace_event_item *item = &event->traced.items[index];
	const struct ct_argument *argument = ct_read_event_argument(event, index);
	size_t size = item->size;

	if (argument != NULL)
		for (uint32_t i = 0; i < argument->label_count; i++)
			words_add(words, argument->labels[i].name,
				  strlen(argument->labels[i].name));
	if (item->type != CTRACE_TYPE_TEXT && item->type != CTRACE_TYPE_UTF8)
		return;
	/* COBOL texts are padded with blanks. */
	while (size > 0 && ((const char *)item->data)[size - 1] == ' ')
		size--;
	words_add(words, item->data, size);
}

static bool test_is_of_item(const struct ct_filter_test *test, const struct ct_read_event *event,
			    uint32_t index)
{
	char scratch[16];

	if (test->field != CT_FILTER_DATA || test->text_count == 0 || test->path_count > 0)
		return false;
	return test->is_any ||
	       (test->name.at != NULL ? ct_name_is(test->name.at, test->name.size,
						   ct_read_event_item_name(event, index, scratch))
				      : test->index == index);
}

void ct_filter_hint_note(struct ct_filter_hint *hint, const struct ct_read_event *event)
{
	char scratch[16];
	const char *mnemonic = ct_read_event_mnemonic(event, scratch);

	words_add(&hint->components, event->traced.component, event->traced.component_size);
	words_add(&hint->mnemonics, mnemonic, strlen(mnemonic));
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		const char *name = ct_read_event_item_name(event, i, scratch);

		words_add(&hint->names, name, strlen(name));
		for (uint32_t j = 0; j < hint->filter->count; j++)
			if (test_is_of_item(&hint->filter->tests[j], event, i))
				words_note_value(&hint->values[j], event, i);
	}
}

/* -----------------------------------------------------------------------------------------------
 * Missing words
 */

/* Adds `no event has the component "NOPE" (did you mean "NODE"?)`.  Returns false when an event has
 * the word, or an event that was not read may have it. */
static bool word_report_missing(struct ct_buf *out, const struct words *words, struct ct_span word,
				const char *what, bool is_all)
{
	const char *meant;

	if (word.size == 0 || memchr(word.at, '*', word.size) != NULL ||
	    memchr(word.at, '?', word.size) != NULL || words_have(words, word.at, word.size))
		return false;
	meant = ct_suggest(word, (const char *const *)words->items, words->count);
	if (meant == NULL && (!is_all || words->is_full))
		return false;
	ct_buf_add_format(out, "no event has the %s \"", what);
	ct_escape_add(out, word.at, word.size);
	ct_buf_add_char(out, '"');
	if (meant != NULL) {
		ct_buf_add_text(out, " (did you mean \"");
		ct_escape_add(out, meant, strlen(meant));
		ct_buf_add_text(out, "\"?)");
	}
	return true;
}

static bool test_report_missing(struct ct_buf *out, const struct words *words,
				const struct ct_filter_test *test, const char *what, bool is_all)
{
	for (uint32_t i = 0; i < test->text_count; i++)
		if (test->texts[i].is_one &&
		    word_report_missing(out, words, test->texts[i].low, what, is_all))
			return true;
	return false;
}

bool ct_filter_hint_add(const struct ct_filter_hint *hint, bool is_all, struct ct_buf *out)
{
	for (uint32_t i = 0; i < hint->filter->count; i++) {
		const struct ct_filter_test *test = &hint->filter->tests[i];

		if (test->field == CT_FILTER_COMPONENT && !test->is_inverted &&
		    test_report_missing(out, &hint->components, test, "component", is_all))
			return true;
		if (test->field == CT_FILTER_MNEMONIC && !test->is_inverted &&
		    test_report_missing(out, &hint->mnemonics, test, "mnemonic", is_all))
			return true;
		if (test->field != CT_FILTER_DATA)
			continue;
		if (test->name.at != NULL && test->index == UINT32_MAX &&
		    word_report_missing(out, &hint->names, test->name, "item", is_all))
			return true;
		if (!test->is_inverted && test->path_count == 0 &&
		    test_report_missing(out, &hint->values[i], test, "value", is_all))
			return true;
	}
	return false;
}
