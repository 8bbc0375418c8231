/*
 * copybook_sum.c - whole numbers, and the arithmetic of a constant: 78 B VALUE A * (2 + 1).
 *
 * Called for level numbers, for the counts of pictures and tables, and by copybook_constant.c for a
 * value of several words.  Pure.  A value that exceeds 64 bits, a division by zero and too deep
 * nesting are errors: nothing overflows, and a text cannot exhaust the stack.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

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

bool ct_sum_calculate(const char *text, size_t size, ct_constant_find *find, void *user,
		      int64_t *out)
{
	struct sum sum = { .find = find, .user = user, .at = text, .end = text + size };
	int64_t value = sum_all(&sum);

	if (sum.is_bad || sum_peek(&sum) != '\0')
		return false;
	*out = value;
	return true;
}
