/*
 * copybook_condition_entry.c - reads a level 88: a name, and values of the field before it.
 *
 * Called by copybook_entry.c.  The values are kept as written; copybook_condition.c compares them
 * once the layout is known.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>

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
