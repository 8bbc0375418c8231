/*
 * copybook_number.c - numbers of records: decodes bytes to digits, and prints digits as DISPLAY or
 * JSON does.
 *
 * Called for each number of each record that is shown, so nothing allocates.  The bytes may be
 * hostile; bytes that are no number of the item's picture are rejected.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdio.h>
#include <string.h>

#define INDEX_DIGITS 9u

/* The digits that DISPLAY shows: of a COMP-5 item the most that its bytes can have, of PIC X(n)
 * COMP-X the most that they always can. */
static const uint8_t native_widths[] = { 0, 3, 5, 8, 10, 13, 15, 17, 20 };
static const uint8_t byte_widths[] = { 0, 2, 4, 7, 9, 12, 14, 16, 18 };

bool ct_item_is_number(const struct ct_item *item)
{
	switch (item->usage) {
	case CT_USAGE_NONE:
	case CT_USAGE_DISPLAY:
		return item->form.class == CT_CLASS_NUMERIC;
	case CT_USAGE_FLOAT:
	case CT_USAGE_DOUBLE:
	case CT_USAGE_POINTER:
		return false;
	default:
		return true;
	}
}

static bool item_is_signed(const struct ct_item *item)
{
	return item->usage == CT_USAGE_INDEX || item->form.is_signed;
}

/* ---- binary */

static uint64_t bytes_load(const uint8_t *bytes, unsigned size, bool is_big)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | bytes[is_big ? i : size - 1 - i];
	return value;
}

static bool item_is_big(const struct ct_copybook *copybook, const struct ct_item *item, bool is_big)
{
	return is_big || item->usage == CT_USAGE_BINARY || item->usage == CT_USAGE_COMP_X ||
	       ct_encoding_is_ebcdic(copybook->encoding);
}

static bool digits_decode_binary(const struct ct_copybook *copybook, const struct ct_item *item,
				 const uint8_t *bytes, bool is_big, struct ct_digits *out)
{
	unsigned size = item->size < 8 ? item->size : 8;
	uint64_t value = bytes_load(bytes, size, item_is_big(copybook, item, is_big));
	char digits[20];
	size_t at = sizeof digits;

	out->is_negative = item_is_signed(item) && (value >> (size * 8 - 1) & 1) != 0;
	if (out->is_negative)
		value = size == 8 ? 0 - value : (UINT64_C(1) << size * 8) - value;
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	out->count = (uint8_t)(sizeof digits - at);
	memcpy(out->at, digits + at, out->count);
	/* A native item may exceed its picture. */
	return item->form.class != CT_CLASS_NUMERIC || item->usage == CT_USAGE_NATIVE ||
	       out->count <= item->form.shown;
}

/* ---- packed decimal */

static bool digits_decode_packed(const struct ct_item *item, const uint8_t *bytes,
				 struct ct_digits *out)
{
	bool has_sign = item->usage == CT_USAGE_PACKED;
	unsigned nibbles = item->size * 2 - has_sign, first = 0;
	uint8_t sign = bytes[item->size - 1] & 15;

	if (nibbles > item->form.shown) { /* one half-byte is unused */
		if (bytes[0] >> 4 != 0)
			return false;
		first = 1;
	}
	for (unsigned i = first; i < nibbles; i++) {
		uint8_t digit = i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;

		if (digit > 9)
			return false;
		out->at[i - first] = (char)('0' + digit);
	}
	out->count = (uint8_t)(nibbles - first);
	out->is_negative = has_sign && (sign == 0xD || sign == 0xB);
	return !has_sign || (sign >= 0xA && (item->form.is_signed || !out->is_negative));
}

/* ---- zoned decimal */

static bool byte_digit(uint8_t byte, bool is_ebcdic, char *out)
{
	if (byte >> 4 != (is_ebcdic ? 0xF : 0x3) || (byte & 15) > 9)
		return false;
	*out = (char)('0' + (byte & 15));
	return true;
}

/* Decodes the digit that carries the sign. */
static bool byte_signed_digit(uint8_t byte, bool is_ebcdic, char *out, bool *out_negative)
{
	uint8_t zone = byte >> 4, digit = byte & 15;

	if (is_ebcdic) {
		*out_negative = zone == 0xD || zone == 0xB;
		*out = (char)('0' + digit);
		return zone >= 0xA && digit <= 9;
	}
	*out_negative = zone == 7 || byte == '}' || (byte >= 'J' && byte <= 'R');
	if (byte == '{' || byte == '}')
		digit = 0;
	else if (byte >= 'A' && byte <= 'I')
		digit = (uint8_t)(byte - 'A' + 1);
	else if (byte >= 'J' && byte <= 'R')
		digit = (uint8_t)(byte - 'J' + 1);
	else if (zone != 3 && zone != 7)
		return false;
	*out = (char)('0' + digit);
	return digit <= 9;
}

static bool byte_sign(uint8_t byte, bool is_ebcdic, bool *out_negative)
{
	*out_negative = byte == (is_ebcdic ? 0x60 : '-');
	return *out_negative || byte == (is_ebcdic ? 0x4E : '+');
}

static bool digits_decode_zoned(const struct ct_copybook *copybook, const struct ct_item *item,
				const uint8_t *bytes, struct ct_digits *out)
{
	bool is_ebcdic = ct_encoding_is_ebcdic(copybook->encoding);
	bool is_leading = item->sign == CT_SIGN_LEADING;
	unsigned digits = item->form.digits, first = item->is_sign_separate && is_leading,
		 with_sign = digits;

	out->count = (uint8_t)digits;
	out->is_negative = false;
	if (item->is_sign_separate) {
		if (!byte_sign(bytes[is_leading ? 0 : digits], is_ebcdic, &out->is_negative))
			return false;
	} else if (item->form.is_signed) {
		with_sign = is_leading ? 0 : digits - 1;
		if (!byte_signed_digit(bytes[with_sign], is_ebcdic, &out->at[with_sign],
				       &out->is_negative))
			return false;
	}
	for (unsigned i = 0; i < digits; i++)
		if (i != with_sign && !byte_digit(bytes[first + i], is_ebcdic, &out->at[i]))
			return false;
	return true;
}

bool ct_digits_decode(const struct ct_copybook *copybook, const struct ct_item *item,
		      const uint8_t *bytes, bool is_big, struct ct_digits *out)
{
	switch (item->usage) {
	case CT_USAGE_NONE:
	case CT_USAGE_DISPLAY:
		return digits_decode_zoned(copybook, item, bytes, out);
	case CT_USAGE_PACKED:
	case CT_USAGE_PACKED_UNSIGNED:
		return digits_decode_packed(item, bytes, out);
	default:
		return digits_decode_binary(copybook, item, bytes, is_big, out);
	}
}

/* ---- text */

/* Returns the number of digits that DISPLAY shows; *out_scale: those behind the point. */
static unsigned digits_width(const struct ct_item *item, const struct ct_digits *digits,
			     int *out_scale)
{
	unsigned size = item->size < 8 ? item->size : 8;

	*out_scale = 0;
	if (item->usage == CT_USAGE_INDEX)
		return digits->count > INDEX_DIGITS ? digits->count : INDEX_DIGITS;
	if (item->usage == CT_USAGE_NATIVE || item->usage == CT_USAGE_INTEGER)
		return native_widths[size];
	if (item->form.class != CT_CLASS_NUMERIC)
		return byte_widths[size];
	*out_scale = item->form.scale;
	return item->form.shown;
}

static bool digits_are_zero(const struct ct_digits *digits)
{
	for (unsigned i = 0; i < digits->count; i++)
		if (digits->at[i] != '0')
			return false;
	return true;
}

/* Writes the last `width` digits, padded with leading zeros, and a point before the last
 * `scale`. */
static char *digits_put(char *to, const struct ct_digits *digits, unsigned width, int scale)
{
	int missing = (int)width - digits->count;
	const char *from = missing < 0 ? digits->at - missing : digits->at;

	for (int left = (int)width; left > 0; left--) {
		if (left == scale)
			*to++ = '.';
		if (missing-- > 0)
			*to++ = '0';
		else
			*to++ = *from++;
	}
	for (; scale < 0; scale++)
		*to++ = '0';
	return to;
}

size_t ct_digits_print(const struct ct_item *item, const struct ct_digits *digits, char *out)
{
	int scale;
	unsigned width = digits_width(item, digits, &scale);
	char sign = digits->is_negative && !digits_are_zero(digits) ? '-' : '+';
	bool is_behind = item->is_sign_separate && item->sign == CT_SIGN_TRAILING &&
			 item->usage <= CT_USAGE_DISPLAY;
	char *to = out;

	if (item_is_signed(item) && !is_behind)
		*to++ = sign;
	to = digits_put(to, digits, width, scale);
	if (item_is_signed(item) && is_behind)
		*to++ = sign;
	return (size_t)(to - out);
}

size_t ct_digits_print_json(const struct ct_item *item, const struct ct_digits *digits, char *out)
{
	struct ct_digits all = *digits;
	int scale = item->form.class == CT_CLASS_NUMERIC ? item->form.scale : 0;
	unsigned skip = 0, least = scale > 0 ? (unsigned)scale + 1 : 1;
	char *to = out;

	while (skip < all.count && all.at[skip] == '0')
		skip++;
	all.count = (uint8_t)(all.count - skip);
	memmove(all.at, all.at + skip, all.count);
	if (digits->is_negative && all.count > 0)
		*to++ = '-';
	if (all.count == 0 && scale < 0)
		scale = 0;
	to = digits_put(to, &all, all.count > least ? all.count : least, scale);
	return (size_t)(to - out);
}

__int128 ct_digits_value(const struct ct_digits *digits)
{
	__int128 value = 0;

	for (unsigned i = 0; i < digits->count; i++)
		value = value * 10 + (digits->at[i] - '0');
	return digits->is_negative ? -value : value;
}

/* ---- floats and pointers */

double ct_float_value(const struct ct_item *item, const uint8_t *bytes, bool is_big)
{
	uint32_t single_bits = (uint32_t)bytes_load(bytes, sizeof single_bits, is_big);
	uint64_t both_bits;
	float single;
	double both;

	if (item->usage == CT_USAGE_FLOAT) {
		memcpy(&single, &single_bits, sizeof single);
		return (double)single;
	}
	both_bits = bytes_load(bytes, sizeof both_bits, is_big);
	memcpy(&both, &both_bits, sizeof both);
	return both;
}

size_t ct_float_print(const struct ct_item *item, const uint8_t *bytes, bool is_big, char *out)
{
	int size = snprintf(out, CT_NUMBER_TEXT, "%.*G", item->usage == CT_USAGE_FLOAT ? 8 : 16,
			    ct_float_value(item, bytes, is_big));
	char *comma = memchr(out, ',', (size_t)size); /* the decimal point of the locale */
	char *exponent = memchr(out, 'E', (size_t)size);

	if (comma != NULL)
		*comma = '.';
	if (exponent != NULL && exponent[2] == '0') { /* E-07 is E-7 */
		memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
		size--;
	}
	return (size_t)size;
}

uint64_t ct_pointer_value(const struct ct_copybook *copybook, const struct ct_item *item,
			  const uint8_t *bytes, bool is_big)
{
	return bytes_load(bytes, item->size < 8 ? item->size : 8,
			  item_is_big(copybook, item, is_big));
}
