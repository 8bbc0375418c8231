/*
 * copybook_value.c - the values of entries: literals, figurative constants, the constants of levels
 * 78 and of levels 01 with CONSTANT, and arithmetic: 78 B VALUE A * (2 + 1).
 *
 * Called for levels 78 and 88, and wherever a name may stand for a number.  Only the text of a
 * literal is read here; copybook_condition.c checks it against the field once the picture is known.
 * A constant whose value is unknown here (LENGTH OF, NEXT) is kept without one, and is reported
 * only where its value is needed, since most copybooks never need theirs.  A value that exceeds 64
 * bits, a division by zero and too deep nesting are errors: nothing overflows, and a text cannot
 * exhaust the stack.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whole numbers and arithmetic */

#define NESTING_LIMIT 32u /* of parentheses */

bool ct_integer_parse(const char *text, size_t size, int64_t *out)
{
	int64_t value = 0;

	for (size_t i = 0; i < size; i++)
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, text[i] - '0', &value))
			return false;
	*out = value;
	return size > 0;
}

/* Evaluates VALUE 78-A * 2 + 1; the words have been joined to one text. */
struct sum {
	ct_constant_find *find;
	void *user;
	const char *at, *end;
	unsigned depth;
	bool is_bad;
};

static int64_t sum_all(struct sum *sum);

static char sum_peek(struct sum *sum)
{
	while (sum->at < sum->end && *sum->at == ' ')
		sum->at++;
	return sum->at < sum->end ? *sum->at : '\0';
}

static int64_t sum_operand(struct sum *sum)
{
	const char *from;
	int64_t value = 0;
	char c = sum_peek(sum);

	if (c == '(' && sum->depth < NESTING_LIMIT) {
		sum->at++;
		sum->depth++;
		value = sum_all(sum);
		sum->depth--;
		if (sum_peek(sum) != ')')
			sum->is_bad = true;
		else
			sum->at++;
		return value;
	}
	if (c == '-' || c == '+')
		sum->at++;
	from = sum->at;
	while (sum->at < sum->end && strchr(" ()*/+", *sum->at) == NULL)
		sum->at++;
	if (!ct_integer_parse(from, (size_t)(sum->at - from), &value) &&
	    !sum->find(sum->user, from, (size_t)(sum->at - from), &value))
		sum->is_bad = true;
	if (c == '-')
		/* a constant may be INT64_MIN */
		sum->is_bad |= __builtin_sub_overflow(0, value, &value);
	return value;
}

static int64_t sum_product(struct sum *sum)
{
	int64_t value = sum_operand(sum);

	while (!sum->is_bad && (sum_peek(sum) == '*' || sum_peek(sum) == '/')) {
		char c = *sum->at++;
		int64_t operand = sum_operand(sum);

		if (c == '*')
			sum->is_bad |= __builtin_mul_overflow(value, operand, &value);
		else if (operand == 0 || operand == -1)
			sum->is_bad = true;
		else
			value /= operand;
	}
	return value;
}

static int64_t sum_all(struct sum *sum)
{
	int64_t value = sum_product(sum);

	while (!sum->is_bad && (sum_peek(sum) == '+' || sum_peek(sum) == '-')) {
		char c = *sum->at++;
		int64_t operand = sum_product(sum);

		sum->is_bad |= c == '+' ? __builtin_add_overflow(value, operand, &value)
					: __builtin_sub_overflow(value, operand, &value);
	}
	return value;
}

static bool sum_calculate(const char *text, size_t size, ct_constant_find *find, void *user,
			  int64_t *out)
{
	struct sum sum = { .find = find, .user = user, .at = text, .end = text + size };
	int64_t value = sum_all(&sum);

	if (sum.is_bad || sum_peek(&sum) != '\0')
		return false;
	*out = value;
	return true;
}

/* ---- constants by name */

static bool constant_has_name(const void *items, uint32_t number, const void *key)
{
	const struct ct_constant *constant = &((const struct ct_constant *)items)[number];
	const struct ct_span *name = key;

	return ct_name_equal(constant->name.at, constant->name.size, name->at, name->size);
}

static struct ct_constant *constants_find(const struct ct_constants *constants, const char *name,
					  size_t size)
{
	const struct ct_span key = { name, size };
	uint32_t found = ct_hash_table_find(&constants->table, ct_name_hash(name, size),
					    constant_has_name, constants->at, &key);

	return found != CT_HASH_TABLE_NONE ? &constants->at[found] : NULL;
}

bool ct_constants_number(void *user, const char *name, size_t size, int64_t *out_value)
{
	const struct ct_constant *constant = constants_find(user, name, size);

	if (constant == NULL || !constant->is_number)
		return false;
	*out_value = constant->number;
	return true;
}

/* ---- literals */

static bool literal_is_number(const struct ct_token *word)
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

static bool literal_take_figurative(struct ct_entry_parser *parser, struct ct_literal *out)
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
	if (literal_take_figurative(parser, out))
		return CTRACE_OK;
	if (literal_is_number(word)) {
		*out = (struct ct_literal){ .kind = CT_LITERAL_NUMBER,
					    .text = word->at,
					    .size = word->size };
		parser->at++;
		return CTRACE_OK;
	}
	constant = word->kind == CT_TOKEN_WORD
			   ? constants_find(&parser->constants, word->at, word->size)
			   : NULL;
	if (constant == NULL || !constant->is_known)
		return ct_entry_fail(parser, word,
				     "a literal, a number, ZERO, SPACE, HIGH-VALUES or LOW-VALUES",
				     "%s is no value");
	*out = constant->literal;
	parser->at++;
	return CTRACE_OK;
}

/* ---- reading constants */

/* Adds a constant; of two with one name, the later one counts. */
static enum ctrace_status constants_add(struct ct_entry_parser *parser,
					const struct ct_constant *constant)
{
	struct ct_constants *constants = &parser->constants;
	struct ct_constant *all = constants_find(constants, constant->name.at, constant->name.size);

	if (all != NULL) {
		*all = *constant;
		return CTRACE_OK;
	}
	if (constants->table.count >= CT_COPYBOOK_FIELDS)
		return ct_entry_fail(parser, &constant->name, "at most 8192", "too many constants");
	all = ct_hash_table_reserve_items(&constants->table, constants->at, sizeof *all);
	if (all == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	constants->at = all;
	all[constants->table.count] = *constant;
	ct_hash_table_add(&constants->table, ct_name_hash(constant->name.at, constant->name.size),
			  constants->table.count);
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
	if (sum_calculate(text.data, text.size, ct_constants_number, &parser->constants,
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

	if (word->kind != CT_TOKEN_LITERAL && !literal_is_number(word) &&
	    constants_find(&parser->constants, word->at, word->size) == NULL) {
		constant->is_known = literal_take_figurative(parser, &constant->literal);
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
	struct ct_constant constant = { .name = *name };
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
	ct_hash_table_fini(&constants->table);
}
