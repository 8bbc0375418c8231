/*
 * copybook_cursor.c - the next word of the entries, and the report when it is the wrong one.
 *
 * Called by every piece that parses entries.  The last word is CT_TOKEN_END and is never passed, so
 * no caller reads behind the words.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

const struct ct_token *ct_entry_peek(const struct ct_entry_parser *parser)
{
	return &parser->words->at[parser->at];
}

const struct ct_token *ct_entry_next(struct ct_entry_parser *parser)
{
	const struct ct_token *word = ct_entry_peek(parser);

	if (word->kind != CT_TOKEN_END)
		parser->at++;
	return word;
}

bool ct_entry_accept(struct ct_entry_parser *parser, const char *word)
{
	if (!ct_token_is(ct_entry_peek(parser), word))
		return false;
	parser->at++;
	return true;
}

void ct_entry_accept_any(struct ct_entry_parser *parser, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ct_entry_accept(parser, words[i]))
			return;
}

void ct_entry_skip(struct ct_entry_parser *parser)
{
	const struct ct_token *word;

	do
		word = ct_entry_next(parser);
	while (word->kind != CT_TOKEN_PERIOD && word->kind != CT_TOKEN_END);
}

enum ctrace_status ct_entry_fail(struct ct_entry_parser *parser, const struct ct_token *place,
				 const char *expected, const char *what)
{
	struct ct_buf text = { 0 };
	const char *hole = strstr(what, "%s");

	ct_buf_add(&text, what, hole == NULL ? strlen(what) : (size_t)(hole - what));
	if (hole != NULL) {
		if (place->kind == CT_TOKEN_END)
			ct_buf_add_text(&text, "the end");
		else
			ct_span_quote(&text, (struct ct_span){ place->at, place->size },
				      CT_WORD_SHOWN);
		ct_buf_add_text(&text, hole + 2);
	}
	ct_scan_diagnose(parser->scan, place, expected, "%s", ct_buf_text(&text));
	ct_buf_fini(&text);
	return CTRACE_SYNTAX_ERROR;
}
