/*
 * copybook_literal.c - reads a value: a literal, a number, a figurative constant, or the name of a
 * constant.
 *
 * Called by copybook_constant.c for levels 78 and by copybook_condition_entry.c for levels 88.
 * Only the text is read here; copybook_condition.c checks it against the field once the picture is
 * known.  A literal lives as long as its copybook.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdio.h>

bool ct_literal_is_number(const struct ct_token *word)
{
	size_t i = word->size > 0 && (*word->at == '-' || *word->at == '+'), digits = 0, points = 0;

	if (word->kind != CT_TOKEN_WORD)
		return false;
	for (; i < word->size; i++) {
		digits += word->at[i] >= '0' && word->at[i] <= '9';
		points += word->at[i] == '.';
	}
	return digits > 0 && points <= 1 &&
	       digits + points + (*word->at == '-' || *word->at == '+') == word->size;
}

static bool literal_hex_value(const struct ct_token *literal, uint64_t *out)
{
	unsigned base = literal->prefix == 'B' ? 2 : 16;

	*out = 0;
	if (literal->size == 0 || literal->size > (base == 2 ? 64u : 16u))
		return false;
	for (size_t i = 0; i < literal->size; i++) {
		char c = literal->at[i];
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
				 : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
					 ? (unsigned)((c | 0x20) - 'a' + 10)
					 : 16;

		if (digit >= base)
			return false;
		*out = *out * base + digit;
	}
	return true;
}

static enum ctrace_status literal_take_hex_bytes(struct ct_entry_parser *parser,
						 const struct ct_token *token,
						 struct ct_literal *out)
{
	uint8_t *bytes = ct_scan_take(parser->scan, token->size / 2 + 1);

	if (bytes == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i + 1 < token->size; i += 2) {
		struct ct_token pair = { .at = token->at + i, .size = 2 };
		uint64_t value;

		if (!literal_hex_value(&pair, &value))
			return ct_entry_fail(parser, token, "pairs of 0-9 and A-F",
					     "the literal %s has no hexadecimal digits");
		bytes[i / 2] = (uint8_t)value;
	}
	if (token->size % 2 != 0)
		return ct_entry_fail(parser, token, "pairs of 0-9 and A-F",
				     "the literal %s has half a byte");
	*out = (struct ct_literal){ .kind = CT_LITERAL_BYTES,
				    .text = (const char *)bytes,
				    .size = token->size / 2 };
	return CTRACE_OK;
}

static enum ctrace_status literal_take_quoted(struct ct_entry_parser *parser,
					      struct ct_literal *out)
{
	const struct ct_token *token = ct_entry_next(parser);
	uint64_t value;
	char digits[24];

	*out = (struct ct_literal){ .kind = CT_LITERAL_TEXT,
				    .text = token->at,
				    .size = token->size };
	if (token->prefix == 'X')
		return literal_take_hex_bytes(parser, token, out);
	if (token->prefix == 'H' || token->prefix == 'B') {
		if (!literal_hex_value(token, &value))
			return ct_entry_fail(parser, token, "its digits, at most 64 bits",
					     "the literal %s is no number");
		out->kind = CT_LITERAL_NUMBER;
		out->size = (uint32_t)snprintf(digits, sizeof digits, "%llu",
					       (unsigned long long)value);
		out->text = ct_scan_text(parser->scan, digits, out->size);
	} else if (token->prefix == 'Z') {
		out->text = ct_scan_text(parser->scan, token->at, token->size);
		out->size = token->size + 1;
	}
	return out->text == NULL ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

bool ct_literal_take_figurative(struct ct_entry_parser *parser, struct ct_literal *out)
{
	static const struct {
		const char *word, *text;
	} words[] = {
		{ "ZERO", "0" },     { "ZEROS", "0" },       { "ZEROES", "0" },
		{ "SPACE", " " },    { "SPACES", " " },      { "QUOTE", "\"" },
		{ "QUOTES", "\"" },  { "HIGH-VALUE", NULL }, { "HIGH-VALUES", NULL },
		{ "LOW-VALUE", "" }, { "LOW-VALUES", "" },   { "NULL", "" },
		{ "NULLS", "" },
	};

	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (ct_entry_accept(parser, words[i].word)) {
			const char *text = words[i].text == NULL ? "\xFF" : words[i].text;

			*out = (struct ct_literal){ .kind = CT_LITERAL_FILL,
						    .text = text,
						    .size = 1,
						    .is_zero = *text == '0' };
			if (*text == '\0' || *text == '\xFF')
				out->kind = CT_LITERAL_FILL_BYTES;
			return true;
		}
	return false;
}

enum ctrace_status ct_literal_take(struct ct_entry_parser *parser, struct ct_literal *out)
{
	bool is_all = ct_entry_accept(parser, "ALL");
	const struct ct_token *word = ct_entry_peek(parser);
	const struct ct_constant *constant;

	if (word->kind == CT_TOKEN_LITERAL) {
		enum ctrace_status status = literal_take_quoted(parser, out);

		if (status == CTRACE_OK && is_all && out->kind == CT_LITERAL_TEXT && out->size > 0)
			out->kind = CT_LITERAL_FILL;
		return status;
	}
	if (ct_literal_take_figurative(parser, out))
		return CTRACE_OK;
	if (ct_literal_is_number(word)) {
		*out = (struct ct_literal){ .kind = CT_LITERAL_NUMBER,
					    .text = word->at,
					    .size = word->size };
		parser->at++;
		return CTRACE_OK;
	}
	constant = word->kind == CT_TOKEN_WORD
			   ? ct_constants_find(&parser->constants, word->at, word->size)
			   : NULL;
	if (constant == NULL || !constant->is_known)
		return ct_entry_fail(parser, word,
				     "a literal, a number, ZERO, SPACE, HIGH-VALUES or LOW-VALUES",
				     "%s is no value");
	*out = constant->literal;
	parser->at++;
	return CTRACE_OK;
}
