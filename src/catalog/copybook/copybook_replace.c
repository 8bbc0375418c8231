/*
 * copybook_replace.c - COPY ...  REPLACING and the REPLACE statement: replaces runs of tokens.
 *
 * Called by copybook_copy.c for copied tokens, and by copybook.c for the whole text.  Inserted
 * tokens are not replaced again.  Comparisons are limited, since a long pattern that nearly matches
 * everywhere would take too long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

#define NESTED_LIMIT 64u /* REPLACE ALSO in REPLACE ALSO */

static bool tokens_have_character(const struct ct_tokens *tokens, size_t at, char c)
{
	return at < tokens->count && tokens->at[at].kind == CT_TOKEN_OTHER &&
	       *tokens->at[at].at == c;
}

static bool tokens_have_delimiter(const struct ct_tokens *tokens, size_t at)
{
	return tokens_have_character(tokens, at, '=') &&
	       tokens_have_character(tokens, at + 1, '=') && !tokens->at[at + 1].is_spaced;
}

size_t ct_pseudo_text_end(const struct ct_tokens *tokens, size_t at)
{
	if (!tokens_have_delimiter(tokens, at))
		return 0;
	for (at += 2; at < tokens->count; at++)
		if (tokens_have_delimiter(tokens, at))
			return at + 2;
	return 0;
}

size_t ct_run_end(const struct ct_tokens *tokens, size_t at)
{
	if (at >= tokens->count)
		return tokens->count;
	if (tokens->at[at].kind == CT_TOKEN_LITERAL)
		return at + 1;
	for (at++; at < tokens->count && !tokens->at[at].is_spaced &&
		   tokens->at[at].kind != CT_TOKEN_LITERAL;
	     at++)
		if (tokens_have_delimiter(tokens, at))
			break;
	return at;
}

/* ---- patterns */

static enum ctrace_status replace_fail(struct ct_scan *scan, const struct ct_tokens *tokens,
				       size_t at, const char *expected)
{
	ct_scan_diagnose(scan, &tokens->at[at < tokens->count ? at : tokens->count - 1], expected,
			 "REPLACING or REPLACE is not complete");
	return CTRACE_SYNTAX_ERROR;
}

static enum ctrace_status replacement_take_operand(struct ct_scan *scan,
						   const struct ct_tokens *tokens, size_t *at,
						   struct ct_tokens *out)
{
	size_t from = *at, to = ct_pseudo_text_end(tokens, from);
	enum ctrace_status status = CTRACE_OK;

	if (to != 0) {
		*at = to;
		from += 2;
		to -= 2;
	} else if (from >= tokens->count || tokens_have_delimiter(tokens, from)) {
		return replace_fail(scan, tokens, from, "==text== or a word");
	} else {
		to = ct_run_end(tokens, from);
		if (to > from + 1 && tokens_have_character(tokens, to - 1, '.'))
			to--;
		*at = to;
	}
	for (; from < to && status == CTRACE_OK; from++)
		status = ct_tokens_add(scan, out, &tokens->at[from]);
	return status;
}

static enum ctrace_status replacements_add(struct ct_replacements *out,
					   struct ct_replacement **out_replacement)
{
	if (out->count == out->capacity) {
		size_t capacity = out->capacity == 0 ? 8 : out->capacity * 2;
		struct ct_replacement *grown = realloc(out->at, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		out->at = grown;
		out->capacity = capacity;
	}
	*out_replacement = &out->at[out->count++];
	**out_replacement = (struct ct_replacement){ 0 };
	return CTRACE_OK;
}

static enum ctrace_status replacement_take_pair(struct ct_scan *scan,
						const struct ct_tokens *tokens, size_t *at,
						struct ct_replacement *pair)
{
	enum ctrace_status status;
	size_t began;

	if (ct_token_is(&tokens->at[*at], "LEADING")) {
		pair->part = CT_REPLACE_LEADING;
		(*at)++;
	} else if (ct_token_is(&tokens->at[*at], "TRAILING")) {
		pair->part = CT_REPLACE_TRAILING;
		(*at)++;
	}
	began = *at;
	status = replacement_take_operand(scan, tokens, at, &pair->from);
	if (status != CTRACE_OK)
		return status;
	if (pair->from.count == 0)
		return replace_fail(scan, tokens, began,
				    "what is to be replaced between == and ==");
	if (*at >= tokens->count || !ct_token_is(&tokens->at[*at], "BY"))
		return replace_fail(scan, tokens, *at, "BY");
	(*at)++;
	status = replacement_take_operand(scan, tokens, at, &pair->to);
	if (status == CTRACE_OK && pair->part != CT_REPLACE_WHOLE &&
	    (pair->from.count != 1 || pair->from.at[0].kind != CT_TOKEN_WORD || pair->to.count > 1))
		return replace_fail(scan, tokens, began, "one word, and one or none to replace it");
	return status;
}

enum ctrace_status ct_replacements_parse(struct ct_scan *scan, const struct ct_tokens *tokens,
					 size_t *at, struct ct_replacements *out)
{
	while (*at < tokens->count && !tokens_have_character(tokens, *at, '.')) {
		struct ct_replacement *pair;
		enum ctrace_status status = replacements_add(out, &pair);

		if (status == CTRACE_OK)
			status = replacement_take_pair(scan, tokens, at, pair);
		if (status != CTRACE_OK)
			return status;
	}
	if (*at >= tokens->count || out->count == 0)
		return replace_fail(scan, tokens, *at, "==text== BY ==text==, and a period");
	(*at)++;
	return CTRACE_OK;
}

void ct_replacements_fini(struct ct_replacements *replacements)
{
	for (size_t i = 0; i < replacements->count; i++) {
		ct_tokens_fini(&replacements->at[i].from);
		ct_tokens_fini(&replacements->at[i].to);
	}
	free(replacements->at);
	*replacements = (struct ct_replacements){ 0 };
}

/* ---- replacing */

static bool token_is_same(const struct ct_token *a, const struct ct_token *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == CT_TOKEN_WORD)
		return ct_name_equal(a->at, a->size, b->at, b->size);
	return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

static bool pattern_fits(struct ct_scan *scan, const struct ct_tokens *tokens, size_t at,
			 const struct ct_tokens *pattern)
{
	if (pattern->count > tokens->count - at)
		return false;
	for (size_t i = 0; i < pattern->count; i++) {
		scan->comparisons++;
		if (!token_is_same(&pattern->at[i], &tokens->at[at + i]))
			return false;
	}
	return true;
}

static bool pattern_fits_part(const struct ct_token *token, const struct ct_replacement *pair)
{
	const struct ct_token *part = &pair->from.at[0];

	if (token->kind != CT_TOKEN_WORD || token->size < part->size)
		return false;
	return ct_name_equal(
		token->at + (pair->part == CT_REPLACE_LEADING ? 0 : token->size - part->size),
		part->size, part->at, part->size);
}

static enum ctrace_status replacement_put_part(struct ct_scan *scan, const struct ct_token *token,
					       const struct ct_replacement *pair,
					       struct ct_tokens *out)
{
	struct ct_token put = *token;
	struct ct_span by = pair->to.count == 0
				    ? (struct ct_span){ "", 0 }
				    : (struct ct_span){ pair->to.at[0].at, pair->to.at[0].size };
	size_t rest = token->size - pair->from.at[0].size;
	char *text = ct_scan_take(scan, by.size + rest + 1);

	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (pair->part == CT_REPLACE_LEADING) {
		memcpy(text, by.at, by.size);
		memcpy(text + by.size, token->at + pair->from.at[0].size, rest);
	} else {
		memcpy(text, token->at, rest);
		memcpy(text + rest, by.at, by.size);
	}
	put.at = text;
	put.size = (uint32_t)(by.size + rest);
	return put.size == 0 ? CTRACE_OK : ct_tokens_add(scan, out, &put);
}

/* Adds the new tokens.  Diagnostics show them at the position of the first replaced token. */
static enum ctrace_status replacement_put_whole(struct ct_scan *scan, const struct ct_token *place,
						const struct ct_replacement *pair,
						struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t i = 0; i < pair->to.count && status == CTRACE_OK; i++) {
		struct ct_token put = pair->to.at[i];

		put.line = place->line;
		put.column = place->column;
		put.file = place->file;
		if (i == 0)
			put.is_spaced = place->is_spaced;
		status = ct_tokens_add(scan, out, &put);
	}
	return status;
}

/* Copies one token, or replaces the tokens that match. */
static enum ctrace_status tokens_replace_at(struct ct_scan *scan, const struct ct_tokens *tokens,
					    size_t *at, const struct ct_replacements *replacements,
					    struct ct_tokens *out)
{
	const struct ct_token *token = &tokens->at[*at];

	for (size_t i = 0; i < replacements->count; i++) {
		const struct ct_replacement *pair = &replacements->at[i];

		scan->comparisons++;
		if (pair->part != CT_REPLACE_WHOLE && pattern_fits_part(token, pair)) {
			(*at)++;
			return replacement_put_part(scan, token, pair, out);
		}
		if (pair->part == CT_REPLACE_WHOLE &&
		    pattern_fits(scan, tokens, *at, &pair->from)) {
			*at += pair->from.count;
			if (pair->to.count == 0 && token->is_spaced && *at < tokens->count)
				tokens->at[*at].is_spaced = true;
			return replacement_put_whole(scan, token, pair, out);
		}
	}
	(*at)++;
	return ct_tokens_add(scan, out, token);
}

static enum ctrace_status scan_check_comparisons(struct ct_scan *scan, const struct ct_token *place)
{
	if (scan->comparisons <= CT_COPYBOOK_COMPARISONS)
		return CTRACE_OK;
	ct_scan_diagnose(scan, place, "shorter or fewer texts to replace",
			 "replacing takes too long");
	return CTRACE_SYNTAX_ERROR;
}

enum ctrace_status ct_replace(struct ct_scan *scan, const struct ct_tokens *tokens,
			      const struct ct_replacements *replacements, struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < tokens->count && status == CTRACE_OK;) {
		status = scan_check_comparisons(scan, &tokens->at[at]);
		if (status == CTRACE_OK)
			status = tokens_replace_at(scan, tokens, &at, replacements, out);
	}
	return status;
}

/* ---- REPLACE [ALSO] ...  and REPLACE [LAST] OFF. */

struct nested {
	struct ct_replacements
		/* each ALSO has its own pairs and the previous ones, in the order of trial */
		sets[NESTED_LIMIT];
	uint32_t count;
};

static enum ctrace_status replacements_copy(struct ct_scan *scan,
					    const struct ct_replacements *from,
					    struct ct_replacements *to)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t i = 0; i < from->count && status == CTRACE_OK; i++) {
		struct ct_replacement *pair;

		status = replacements_add(to, &pair);
		if (status != CTRACE_OK)
			break;
		pair->part = from->at[i].part;
		for (size_t j = 0; j < from->at[i].from.count && status == CTRACE_OK; j++)
			status = ct_tokens_add(scan, &pair->from, &from->at[i].from.at[j]);
		for (size_t j = 0; j < from->at[i].to.count && status == CTRACE_OK; j++)
			status = ct_tokens_add(scan, &pair->to, &from->at[i].to.at[j]);
	}
	return status;
}

static void nested_drop(struct nested *nested, bool all)
{
	while (nested->count > 0) {
		ct_replacements_fini(&nested->sets[--nested->count]);
		if (!all)
			return;
	}
}

static enum ctrace_status replace_take_statement(struct ct_scan *scan,
						 const struct ct_tokens *tokens, size_t *at,
						 struct nested *nested)
{
	bool is_last = false, is_also = false;
	enum ctrace_status status;

	(*at)++;
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "LAST"))
		is_last = true, (*at)++;
	else if (*at < tokens->count && ct_token_is(&tokens->at[*at], "ALSO"))
		is_also = true, (*at)++;
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "OFF")) {
		nested_drop(nested, !is_last);
		(*at)++;
		if (!tokens_have_character(tokens, *at, '.'))
			return replace_fail(scan, tokens, *at, "a period");
		(*at)++;
		return CTRACE_OK;
	}
	if (is_last || *at >= tokens->count)
		return replace_fail(scan, tokens, *at,
				    is_last ? "OFF" : "==text== BY ==text==, or OFF");
	if (!is_also)
		nested_drop(nested, true);
	if (nested->count == NESTED_LIMIT)
		return replace_fail(scan, tokens, *at, "fewer REPLACE ALSO within each other");
	status = ct_replacements_parse(scan, tokens, at, &nested->sets[nested->count++]);
	if (status == CTRACE_OK && nested->count > 1)
		status = replacements_copy(scan, &nested->sets[nested->count - 2],
					   &nested->sets[nested->count - 1]);
	return status;
}

/* The word REPLACE always begins a statement, since it cannot name a field. */
enum ctrace_status ct_replace_statements(struct ct_scan *scan, const struct ct_tokens *tokens,
					 struct ct_tokens *out)
{
	static const struct ct_replacements none;
	struct nested nested = { .count = 0 };
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < tokens->count && status == CTRACE_OK;) {
		if (ct_token_is(&tokens->at[at], "REPLACE")) {
			status = replace_take_statement(scan, tokens, &at, &nested);
			continue;
		}
		status = scan_check_comparisons(scan, &tokens->at[at]);
		if (status == CTRACE_OK)
			status = tokens_replace_at(
				scan, tokens, &at,
				nested.count > 0 ? &nested.sets[nested.count - 1] : &none, out);
	}
	nested_drop(&nested, true);
	return status;
}
