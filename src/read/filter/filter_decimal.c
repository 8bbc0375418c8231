/*
 * filter_decimal.c - decimal numbers of any size, compared exactly.
 *
 * Called by the filter, on one thread.  Numbers in COBOL records and texts may fit neither an
 * integer nor floating point.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <string.h>

#define EXPONENT_LIMIT 100000

static bool text_is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

/* Adds a digit.  Zeros wait until another digit follows. */
static void decimal_add_digit(struct ct_decimal *out, char digit, unsigned *zeros)
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

/* Parses the digits and the point.  Returns NULL when there is no digit. */
static const char *decimal_take_digits(const char *at, const char *end, struct ct_decimal *out)
{
	bool has_point = false, has_digit = false;
	unsigned zeros = 0;

	for (; text_is_digit(at, end) || (at < end && *at == '.' && !has_point); at++) {
		if (*at == '.') {
			has_point = true;
			continue;
		}
		has_digit = true;
		decimal_add_digit(out, *at, &zeros);
		if (!has_point && out->count != 0)
			out->exponent++;
		else if (has_point && out->count == 0)
			out->exponent--;
	}
	return has_digit ? at : NULL;
}

static const char *decimal_take_exponent(const char *at, const char *end, int32_t *exponent)
{
	bool is_negative = false;
	int32_t value = 0;

	if (at == end || (*at | 0x20) != 'e')
		return at;
	at++;
	if (at < end && (*at == '+' || *at == '-'))
		is_negative = *at++ == '-';
	if (!text_is_digit(at, end))
		return NULL;
	for (; text_is_digit(at, end); at++)
		if (value < EXPONENT_LIMIT)
			value = value * 10 + (*at - '0');
	*exponent += is_negative ? -value : value;
	return at;
}

static void decimal_trim(struct ct_decimal *decimal)
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
	at = decimal_take_digits(at, end, &decimal);
	if (at != NULL)
		at = decimal_take_exponent(at, end, &decimal.exponent);
	if (at == NULL || at != end)
		return false;
	decimal_trim(&decimal);
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
	decimal_trim(out);
}

/* Compares the magnitudes. */
static int decimal_compare_magnitudes(const struct ct_decimal *a, const struct ct_decimal *b)
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
	return a->is_negative ? decimal_compare_magnitudes(b, a) : decimal_compare_magnitudes(a, b);
}
