/*
 * copybook_constant.c - names of values: levels 78, and levels 01 with CONSTANT.
 *
 * Called by copybook_entry.c for each of them, and wherever a name may stand for a number.  A
 * constant whose value is unknown here (LENGTH OF, NEXT) is kept without one.  It is reported only
 * where its value is needed, since most copybooks never need theirs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdio.h>
#include <stdlib.h>

const struct ct_constant *ct_constants_find(const struct ct_constants *constants, const char *name,
					    size_t size)
{
	uint32_t hash = ct_name_hash(name, size);

	for (uint32_t i = constants->heads[hash % CT_CONSTANT_HEADS]; i > 0;
	     i = constants->at[i - 1].next) {
		const struct ct_constant *constant = &constants->at[i - 1];

		if (constant->hash == hash &&
		    ct_name_equal(constant->name.at, constant->name.size, name, size))
			return constant;
	}
	return NULL;
}

bool ct_constants_number(void *user, const char *name, size_t size, int64_t *out_value)
{
	const struct ct_constant *constant = ct_constants_find(user, name, size);

	if (constant == NULL || !constant->is_number)
		return false;
	*out_value = constant->number;
	return true;
}

static enum ctrace_status constants_add(struct ct_entry_parser *parser,
					const struct ct_constant *constant)
{
	if (parser->constants.count == parser->constants.capacity) {
		uint32_t capacity =
			parser->constants.capacity == 0 ? 64 : parser->constants.capacity * 2;
		struct ct_constant *grown;

		if (parser->constants.count >= CT_COPYBOOK_FIELDS)
			return ct_entry_fail(parser, &constant->name, "at most 8192",
					     "too many constants");
		grown = realloc(parser->constants.at, capacity * sizeof *grown);
		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		parser->constants.at = grown;
		parser->constants.capacity = capacity;
	}
	parser->constants.at[parser->constants.count] = *constant;
	parser->constants.at[parser->constants.count].next =
		parser->constants.heads[constant->hash % CT_CONSTANT_HEADS];
	parser->constants.heads[constant->hash % CT_CONSTANT_HEADS] = ++parser->constants.count;
	return CTRACE_OK;
}

static enum ctrace_status constant_calculate(struct ct_entry_parser *parser, size_t from, size_t to,
					     struct ct_constant *constant)
{
	struct ct_buf text = { 0 };
	char digits[24];

	for (size_t i = from; i < to; i++) {
		ct_buf_add(&text, parser->words->at[i].at, parser->words->at[i].size);
		ct_buf_add_char(&text, ' ');
	}
	if (text.failed) {
		ct_buf_fini(&text);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (ct_sum_calculate(text.data, text.size, ct_constants_number, &parser->constants,
			     &constant->number)) {
		constant->is_known = constant->is_number = true;
		constant->literal.kind = CT_LITERAL_NUMBER;
		constant->literal.size = (uint32_t)snprintf(digits, sizeof digits, "%lld",
							    (long long)constant->number);
		constant->literal.text = ct_scan_text(parser->scan, digits, constant->literal.size);
	}
	ct_buf_fini(&text);
	return constant->is_known && constant->literal.text == NULL ? CTRACE_NOT_ENOUGH_MEMORY
								    : CTRACE_OK;
}

static enum ctrace_status constant_take_single(struct ct_entry_parser *parser,
					       struct ct_constant *constant)
{
	const struct ct_token *word = ct_entry_peek(parser);
	enum ctrace_status status;

	if (word->kind != CT_TOKEN_LITERAL && !ct_literal_is_number(word) &&
	    ct_constants_find(&parser->constants, word->at, word->size) == NULL) {
		constant->is_known = ct_literal_take_figurative(parser, &constant->literal);
		return CTRACE_OK;
	}
	status = ct_literal_take(parser, &constant->literal);
	constant->is_known = status == CTRACE_OK;
	if (constant->is_known && constant->literal.kind == CT_LITERAL_NUMBER)
		constant->is_number = ct_integer_parse(constant->literal.text,
						       constant->literal.size, &constant->number);
	return status;
}

enum ctrace_status ct_constants_take(struct ct_entry_parser *parser, const struct ct_token *name)
{
	struct ct_constant constant = { .name = *name, .hash = ct_name_hash(name->at, name->size) };
	size_t from = parser->at, to = from;
	enum ctrace_status status;

	while (parser->words->at[to].kind != CT_TOKEN_PERIOD &&
	       parser->words->at[to].kind != CT_TOKEN_END)
		to++;
	if (from == to)
		return ct_entry_fail(parser, name, "78 name VALUE value.",
				     "the constant %s has no value");
	status = to == from + 1 ? constant_take_single(parser, &constant)
				: constant_calculate(parser, from, to, &constant);
	parser->at = to;
	return status == CTRACE_OK ? constants_add(parser, &constant) : status;
}

enum ctrace_status ct_constants_integer(struct ct_entry_parser *parser, const char *expected,
					uint32_t *out)
{
	const struct ct_token *word = ct_entry_peek(parser);
	int64_t value = 0;

	if (word->kind != CT_TOKEN_WORD ||
	    (!ct_integer_parse(word->at, word->size, &value) &&
	     !ct_constants_number(&parser->constants, word->at, word->size, &value)) ||
	    value < 0 || (uint64_t)value > CT_RECORD_LIMIT)
		return ct_entry_fail(parser, word, expected, "%s is not a number that fits here");
	parser->at++;
	*out = (uint32_t)value;
	return CTRACE_OK;
}

void ct_constants_fini(struct ct_constants *constants)
{
	free(constants->at);
	*constants = (struct ct_constants){ 0 };
}
