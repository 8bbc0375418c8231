/*
 * copybook_token.c - tokens and words: keeps, compares, joins and reports them, and walks along
 * them.
 *
 * Called by every part of the copybook reader.  Only this file makes texts and tokens, and counts
 * each against the limits of one copybook, so that a small file that is copied often cannot exhaust
 * memory.  Adjacent tokens are one word: PIC S9(5)V99 is two words, whatever was replaced in it.
 * The last word is CT_TOKEN_END and is never passed, so no caller reads behind the words.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_scan_diagnose(struct ct_scan *scan, const struct ct_token *place, const char *expected,
		      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(scan->diagnostic->message, sizeof scan->diagnostic->message, format,
			arguments);
	va_end(arguments);
	(void)snprintf(scan->diagnostic->expected, sizeof scan->diagnostic->expected, "%s",
		       expected);
	scan->diagnostic->line = place->line;
	scan->diagnostic->column = place->column;
	if (scan->diagnostic_path != NULL) {
		ct_buf_clear(scan->diagnostic_path);
		ct_buf_add_text(scan->diagnostic_path, scan->files[place->file]);
	}
}

bool ct_token_is(const struct ct_token *token, const char *word)
{
	return token->kind == CT_TOKEN_WORD && ct_name_is(token->at, token->size, word);
}

void *ct_scan_take(struct ct_scan *scan, size_t size)
{
	scan->made += size;
	return scan->made > CT_COPYBOOK_MEMORY ? NULL : ct_arena_take(scan->arena, size);
}

char *ct_scan_text(struct ct_scan *scan, const char *text, size_t size)
{
	char *copy = ct_scan_take(scan, size + 1);

	if (copy != NULL && size > 0)
		memcpy(copy, text, size);
	return copy;
}

enum ctrace_status ct_tokens_add(struct ct_scan *scan, struct ct_tokens *tokens,
				 const struct ct_token *token)
{
	if (++scan->tokens > CT_COPYBOOK_TOKENS) {
		ct_scan_diagnose(scan, token, "a copybook of fewer words, copied less often",
				 "the copybook is too long");
		return CTRACE_SYNTAX_ERROR;
	}
	if (tokens->count == tokens->capacity) {
		size_t capacity = tokens->capacity == 0 ? 256 : tokens->capacity * 2;
		struct ct_token *grown = realloc(tokens->at, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		tokens->at = grown;
		tokens->capacity = capacity;
	}
	tokens->at[tokens->count++] = *token;
	return CTRACE_OK;
}

void ct_tokens_fini(struct ct_tokens *tokens)
{
	free(tokens->at);
	*tokens = (struct ct_tokens){ 0 };
}

/* ---- tokens to words */

static enum ctrace_status word_join(struct ct_scan *scan, const struct ct_tokens *tokens,
				    size_t from, size_t to, struct ct_token *out)
{
	size_t size = 0;
	char *text;

	*out = tokens->at[from];
	out->kind = CT_TOKEN_WORD;
	if (to == from + 1)
		return CTRACE_OK;
	for (size_t i = from; i < to; i++)
		size += tokens->at[i].size;
	text = ct_scan_take(scan, size + 1);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	out->at = text;
	out->size = (uint32_t)size;
	for (size_t i = from; i < to; i++) {
		memcpy(text, tokens->at[i].at, tokens->at[i].size);
		text += tokens->at[i].size;
	}
	return CTRACE_OK;
}

/* X"00": the prefix belongs to the literal behind it. */
static bool word_is_prefix(const struct ct_token *word, const struct ct_tokens *tokens, size_t next)
{
	return word->size <= 2 && next < tokens->count &&
	       tokens->at[next].kind == CT_TOKEN_LITERAL && !tokens->at[next].is_spaced &&
	       strchr("XxHhNnZzBb", *word->at) != NULL &&
	       (word->size == 1 || word->at[1] == 'X' || word->at[1] == 'x');
}

static enum ctrace_status word_add(struct ct_scan *scan, struct ct_token word,
				   struct ct_tokens *out)
{
	struct ct_token period = word;
	uint32_t size = word.size;
	bool has_period = false;
	enum ctrace_status status = CTRACE_OK;

	while (size > 0 &&
	       (word.at[size - 1] == '.' || word.at[size - 1] == ',' || word.at[size - 1] == ';'))
		has_period |= word.at[--size] == '.';
	period.kind = CT_TOKEN_PERIOD;
	period.column = (uint16_t)(word.column + size);
	period.at = word.at + size;
	period.size = 1;
	word.size = size;
	if (size > 0)
		status = ct_tokens_add(scan, out, &word);
	return status == CTRACE_OK && has_period ? ct_tokens_add(scan, out, &period) : status;
}

static enum ctrace_status word_take(struct ct_scan *scan, const struct ct_tokens *tokens,
				    size_t *at, struct ct_tokens *out)
{
	size_t from = *at;
	struct ct_token word;
	enum ctrace_status status;

	if (tokens->at[from].kind == CT_TOKEN_LITERAL) {
		*at = from + 1;
		return ct_tokens_add(scan, out, &tokens->at[from]);
	}
	do
		(*at)++;
	while (*at < tokens->count && tokens->at[*at].kind != CT_TOKEN_LITERAL &&
	       !tokens->at[*at].is_spaced);
	status = word_join(scan, tokens, from, *at, &word);
	if (status != CTRACE_OK)
		return status;
	if (word_is_prefix(&word, tokens, *at)) {
		struct ct_token literal = tokens->at[(*at)++];

		literal.prefix = (uint8_t)(word.size == 2 ? 'X' : *word.at & 0xDF);
		literal.is_spaced = word.is_spaced;
		return ct_tokens_add(scan, out, &literal);
	}
	return word_add(scan, word, out);
}

enum ctrace_status ct_words_make(struct ct_scan *scan, const struct ct_tokens *tokens,
				 struct ct_tokens *out)
{
	struct ct_token end = { .kind = CT_TOKEN_END, .at = "", .line = 1, .column = 1 };
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < tokens->count && status == CTRACE_OK;)
		status = word_take(scan, tokens, &at, out);
	if (status != CTRACE_OK)
		return status;
	if (out->count > 0) {
		end = out->at[out->count - 1];
		end.kind = CT_TOKEN_END;
	}
	return ct_tokens_add(scan, out, &end);
}

/* ---- walking along words */

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
