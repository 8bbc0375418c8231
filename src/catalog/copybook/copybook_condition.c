/*
 * copybook_condition.c - level 88: reads a name and values, and finds the names that hold for a
 * value.
 *
 * Read by copybook_entry.c and kept as written, prepared once with the layout, and evaluated for
 * each field with conditions.  Numbers are compared as numbers, everything else byte by byte in the
 * record's encoding, the shorter side padded with blanks.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading */

static enum ctrace_status ranges_add(struct ct_entry_parser *parser, const struct ct_range *range)
{
	struct ct_copybook *copybook = parser->copybook;

	if (copybook->range_count == copybook->range_capacity) {
		uint32_t capacity =
			copybook->range_capacity == 0 ? 64 : copybook->range_capacity * 2;
		struct ct_range *grown = realloc(copybook->ranges, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		copybook->ranges = grown;
		copybook->range_capacity = capacity;
	}
	copybook->ranges[copybook->range_count++] = *range;
	return CTRACE_OK;
}

static enum ctrace_status conditions_add(struct ct_entry_parser *parser,
					 const struct ct_condition *condition,
					 const struct ct_token *place)
{
	struct ct_copybook *copybook = parser->copybook;
	struct ct_item *item;

	if (copybook->item_count == 0 || parser->open_count == 0)
		return ct_entry_fail(parser, place, "a field before it",
				     "level 88 %s belongs to nothing");
	if (copybook->condition_count == copybook->condition_capacity) {
		uint32_t capacity =
			copybook->condition_capacity == 0 ? 64 : copybook->condition_capacity * 2;
		struct ct_condition *grown;

		if (copybook->condition_count >= CT_COPYBOOK_FIELDS)
			return ct_entry_fail(parser, place, "at most 8192", "too many levels 88");
		grown = realloc(copybook->conditions, capacity * sizeof *grown);
		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		copybook->conditions = grown;
		copybook->condition_capacity = capacity;
	}
	item = &copybook->items[parser->open[parser->open_count - 1]];
	if (item->condition_count == 0 ||
	    item->first_condition + item->condition_count != copybook->condition_count)
		item->first_condition = copybook->condition_count, item->condition_count = 0;
	copybook->conditions[copybook->condition_count++] = *condition;
	item->condition_count++;
	return CTRACE_OK;
}

static enum ctrace_status condition_take_range(struct ct_entry_parser *parser,
					       struct ct_condition *condition)
{
	struct ct_range range = { .is_number = false };
	enum ctrace_status status = ct_literal_take(parser, &range.low);

	if (status != CTRACE_OK)
		return status;
	range.high = range.low;
	if (ct_entry_accept(parser, "THRU") || ct_entry_accept(parser, "THROUGH"))
		status = ct_literal_take(parser, &range.high);
	if (status == CTRACE_OK)
		status = ranges_add(parser, &range);
	condition->range_count++;
	return status;
}

enum ctrace_status ct_condition_take(struct ct_entry_parser *parser, const struct ct_token *name)
{
	static const char *const air[] = { "IS", "ARE" };
	struct ct_condition condition = { .name = ct_scan_text(parser->scan, name->at, name->size),
					  .first_range = parser->copybook->range_count };
	enum ctrace_status status = CTRACE_OK;

	if (condition.name == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (name->size == 0 ||
	    (!ct_entry_accept(parser, "VALUE") && !ct_entry_accept(parser, "VALUES")))
		return ct_entry_fail(parser, ct_entry_peek(parser), "88 name VALUE value.",
				     "a level 88 without a name or VALUE");
	ct_entry_accept_any(parser, air, CT_COUNT(air));
	do
		status = condition_take_range(parser, &condition);
	while (status == CTRACE_OK && ct_entry_peek(parser)->kind != CT_TOKEN_PERIOD &&
	       !ct_token_is(ct_entry_peek(parser), "WHEN") &&
	       !ct_token_is(ct_entry_peek(parser), "FALSE") &&
	       !ct_token_is(ct_entry_peek(parser), "IN") &&
	       ct_entry_peek(parser)->kind != CT_TOKEN_END);
	if (status != CTRACE_OK)
		return status;
	ct_entry_skip(parser);
	return conditions_add(parser, &condition, name);
}

/* ---- preparing */

#define BEYOND ((__int128)1 << 126) /* beyond all numbers of 38 digits */

/* Returns a decimal number times 10 to the scale, rounded down or up if it has more digits. */
static __int128 literal_scaled(const struct ct_literal *literal, int scale, bool is_up)
{
	size_t at = literal->size > 0 && (*literal->text == '-' || *literal->text == '+');
	bool is_negative = at > 0 && *literal->text == '-', has_rest = false;
	__int128 value = 0;

	for (; at < literal->size && literal->text[at] != '.'; at++)
		value = value >= BEYOND / 10 ? BEYOND : value * 10 + (literal->text[at] - '0');
	at++;
	for (; scale > 0; scale--) {
		char digit = at < literal->size ? literal->text[at++] : '0';

		value = value >= BEYOND / 10 ? BEYOND : value * 10 + (digit - '0');
	}
	for (; at < literal->size; at++)
		has_rest |= literal->text[at] != '0';
	for (; scale < 0; scale++) {
		has_rest |= value % 10 != 0;
		value /= 10;
	}
	if (is_negative)
		return -value - (has_rest && !is_up);
	return value + (has_rest && is_up);
}

static double literal_double(const struct ct_literal *literal, enum ct_usage usage)
{
	char text[64];
	size_t size = literal->size < sizeof text - 1 ? literal->size : sizeof text - 1;

	memcpy(text, literal->text, size);
	text[size] = '\0';
	return usage == CT_USAGE_FLOAT ? (double)strtof(text, NULL) : strtod(text, NULL);
}

static bool literal_is_number(const struct ct_literal *literal)
{
	return literal->kind == CT_LITERAL_NUMBER ||
	       (literal->kind == CT_LITERAL_FILL && literal->is_zero);
}

/* Translates the text to the bytes of a record. */
static enum ctrace_status literal_translate(struct ct_scan *scan, enum ct_encoding encoding,
					    struct ct_literal *literal)
{
	const char *at = literal->text, *end = literal->text + literal->size;
	uint8_t *bytes, *to;

	if (literal->kind == CT_LITERAL_BYTES || literal->kind == CT_LITERAL_FILL_BYTES)
		return CTRACE_OK;
	bytes = to = ct_scan_take(scan, literal->size + 1);
	if (bytes == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	while (at < end) {
		size_t taken = ct_encoding_to(encoding, &at, end, to);

		to += taken;
		if (taken == 0)
			*to++ = 0x3F; /* the code page's substitute */
	}
	literal->kind = literal->kind == CT_LITERAL_FILL ? CT_LITERAL_FILL_BYTES : CT_LITERAL_BYTES;
	literal->text = (const char *)bytes;
	literal->size = (uint32_t)(to - bytes);
	return CTRACE_OK;
}

static enum ctrace_status range_prepare(struct ct_scan *scan, const struct ct_copybook *copybook,
					const struct ct_item *item, bool is_elementary,
					struct ct_range *range)
{
	bool is_float = item->usage == CT_USAGE_FLOAT || item->usage == CT_USAGE_DOUBLE;
	int scale = item->form.class == CT_CLASS_NUMERIC ? item->form.scale : 0;
	enum ctrace_status status;

	if (is_elementary && (is_float || ct_item_is_number(item)) &&
	    literal_is_number(&range->low) && literal_is_number(&range->high)) {
		range->is_number = true;
		range->low_number = literal_scaled(&range->low, scale, true);
		range->high_number = literal_scaled(&range->high, scale, false);
		range->low_double = literal_double(&range->low, item->usage);
		range->high_double = literal_double(&range->high, item->usage);
		return CTRACE_OK;
	}
	range->is_number = false;
	status = literal_translate(scan, copybook->encoding, &range->low);
	return status == CTRACE_OK ? literal_translate(scan, copybook->encoding, &range->high)
				   : status;
}

enum ctrace_status ct_condition_prepare(struct ct_scan *scan, struct ct_copybook *copybook,
					struct ct_item *item)
{
	bool is_elementary = item->end == (uint32_t)(item - copybook->items) + 1;
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t i = 0; i < item->condition_count; i++) {
		const struct ct_condition *condition =
			&copybook->conditions[item->first_condition + i];

		for (uint32_t j = 0; j < condition->range_count && status == CTRACE_OK; j++)
			status = range_prepare(scan, copybook, item, is_elementary,
					       &copybook->ranges[condition->first_range + j]);
	}
	return status;
}

/* ---- evaluation */

static int bytes_compare(const uint8_t *bytes, size_t size, const struct ct_literal *literal,
			 uint8_t blank)
{
	bool is_fill = literal->kind == CT_LITERAL_FILL_BYTES;
	size_t longest = is_fill || size > literal->size ? size : literal->size;

	for (size_t i = 0, j = 0; i < longest; i++) {
		uint8_t a = i < size ? bytes[i] : blank;
		uint8_t b = j < literal->size ? (uint8_t)literal->text[j] : blank;

		if (a != b)
			return a < b ? -1 : 1;
		j++;
		if (is_fill && j == literal->size)
			j = 0;
	}
	return 0;
}

static bool range_contains(const struct ct_copybook *copybook, const struct ct_item *item,
			   const struct ct_range *range, struct ct_record_bytes bytes,
			   const struct ct_digits *number)
{
	uint8_t blank = ct_encoding_is_ebcdic(copybook->encoding) ? 0x40 : ' ';

	if (range->is_number) {
		if (item->usage == CT_USAGE_FLOAT || item->usage == CT_USAGE_DOUBLE) {
			double value = bytes.size < item->size
					       ? 0
					       : ct_float_value(item, bytes.at, bytes.is_big);

			return bytes.size >= item->size && value >= range->low_double &&
			       value <= range->high_double;
		}
		if (number == NULL)
			return false;
		return ct_digits_value(number) >= range->low_number &&
		       ct_digits_value(number) <= range->high_number;
	}
	return bytes_compare(bytes.at, bytes.size, &range->low, blank) >= 0 &&
	       bytes_compare(bytes.at, bytes.size, &range->high, blank) <= 0;
}

bool ct_condition_holds(const struct ct_copybook *copybook, const struct ct_item *item,
			const struct ct_condition *condition, struct ct_record_bytes bytes,
			const struct ct_digits *number)
{
	for (uint32_t i = 0; i < condition->range_count; i++)
		if (range_contains(copybook, item, &copybook->ranges[condition->first_range + i],
				   bytes, number))
			return true;
	return false;
}
