/*
 * filter_decimal.c - decimal numbers of any size, compared exactly.
 *
 * Called by the filter, on one thread.  What COBOL records and texts hold need not fit into an
 * integer, nor into floating point.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <string.h>

#define EXPONENT_LIMIT 100000

static bool is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

/* A zero between digits is only written when another digit follows. */
static void add_digit(struct ct_decimal *out, char digit, unsigned *zeros)
{
	if (digit == '0') {
		*zeros += out->count != 0;
		return;
	}
	for (; *zeros > 0; --*zeros)
		if (out->count < CT_DECIMAL_DIGITS)
			out->digits[out->count++] = '0';
	if (out->count < CT_DECIMAL_DIGITS)
		out->digits[out->count++] = digit;
}

/* The digits and the point; NULL when there is no digit. */
static const char *take_digits(const char *at, const char *end, struct ct_decimal *out)
{
	bool has_point = false, has_digit = false;
	unsigned zeros = 0;

	for (; is_digit(at, end) || (at < end && *at == '.' && !has_point); at++) {
		if (*at == '.') {
			has_point = true;
			continue;
		}
		has_digit = true;
		add_digit(out, *at, &zeros);
		if (!has_point && out->count != 0)
			out->exponent++;
		else if (has_point && out->count == 0)
			out->exponent--;
	}
	return has_digit ? at : NULL;
}

static const char *take_exponent(const char *at, const char *end, int32_t *exponent)
{
	bool is_negative = false;
	int32_t value = 0;

	if (at == end || (*at | 0x20) != 'e')
		return at;
	at++;
	if (at < end && (*at == '+' || *at == '-'))
		is_negative = *at++ == '-';
	if (!is_digit(at, end))
		return NULL;
	for (; is_digit(at, end); at++)
		if (value < EXPONENT_LIMIT)
			value = value * 10 + (*at - '0');
	*exponent += is_negative ? -value : value;
	return at;
}

static void trim(struct ct_decimal *decimal)
{
	while (decimal->count > 0 && decimal->digits[decimal->count - 1] == '0')
		decimal->count--;
	if (decimal->count == 0) {
		decimal->exponent = 0;
		decimal->is_negative = false;
	}
}

bool ct_decimal_parse(const char *text, size_t size, struct ct_decimal *out)
{
	const char *at = text, *end = text + size;
	struct ct_decimal decimal;

	decimal.count = 0;
	decimal.exponent = 0;
	decimal.is_negative = false;
	while (at < end && *at == ' ')
		at++;
	while (end > at && end[-1] == ' ')
		end--;
	if (at < end && (*at == '-' || *at == '+'))
		decimal.is_negative = *at++ == '-';
	at = take_digits(at, end, &decimal);
	if (at != NULL)
		at = take_exponent(at, end, &decimal.exponent);
	if (at == NULL || at != end)
		return false;
	trim(&decimal);
	*out = decimal;
	return true;
}

void ct_decimal_set(struct ct_decimal *out, uint64_t magnitude, bool is_negative)
{
	char digits[20];
	unsigned count = 0;

	for (; magnitude != 0; magnitude /= 10)
		digits[count++] = (char)('0' + magnitude % 10);
	out->count = (uint8_t)count;
	out->exponent = (int32_t)count;
	out->is_negative = is_negative;
	for (unsigned i = 0; i < count; i++)
		out->digits[i] = digits[count - 1 - i];
	trim(out);
}

/* Of the magnitudes. */
static int compare_digits(const struct ct_decimal *a, const struct ct_decimal *b)
{
	size_t both = a->count < b->count ? a->count : b->count;
	int order;

	if (a->count == 0 || b->count == 0)
		return (a->count != 0) - (b->count != 0);
	if (a->exponent != b->exponent)
		return a->exponent < b->exponent ? -1 : 1;
	order = memcmp(a->digits, b->digits, both);
	return order != 0 ? order : (int)a->count - (int)b->count;
}

int ct_decimal_compare(const struct ct_decimal *a, const struct ct_decimal *b)
{
	if (a->is_negative != b->is_negative)
		return a->is_negative ? -1 : 1;
	return a->is_negative ? compare_digits(b, a) : compare_digits(a, b);
}
