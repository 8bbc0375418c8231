/*
 * copybook_word.c - joins adjacent tokens to words: PIC S9(5)V99 is two of them, whatever was
 * replaced in it.
 *
 * Called by copybook.c after COPY and REPLACE.  A period counts only at the end of a word; commas
 * and semicolons there are ignored.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

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
