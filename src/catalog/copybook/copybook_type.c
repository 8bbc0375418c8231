/*
 * copybook_type.c - gives a field the attributes of its type: an earlier level 01 or 77.
 *
 * Called by copybook_entry.c when an entry that names a type is in the tree.  The children of the
 * type are copied into the field, so that later pieces need not know types.  A type never contains
 * itself, and copies count against the limit of fields.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

uint32_t ct_type_find(const struct ct_copybook *copybook, const struct ct_token *name)
{
	uint32_t hash = ct_name_hash(name->at, name->size);

	for (uint32_t i = copybook->item_count; i-- > 0;) {
		const struct ct_item *item = &copybook->items[i];

		if (item->parent == CT_NO_ITEM && item->name_hash == hash &&
		    ct_name_equal(item->name, item->name_size, name->at, name->size))
			return i;
	}
	return CT_NO_ITEM;
}

/* Copies the children of the type into this item. */
static enum ctrace_status type_copy_children(struct ct_entry_parser *parser, uint32_t type,
					     uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t count = copybook->items[type].end - type - 1, shift = index - type;
	int deeper = copybook->items[index].depth - copybook->items[type].depth;
	enum ctrace_status status = ct_tree_reserve(parser, count, &parser->type);

	if (status != CTRACE_OK)
		return status;
	for (uint32_t i = type + 1; i <= type + count; i++) {
		struct ct_item item = copybook->items[i];

		if (item.depth + deeper > (int)CT_COPYBOOK_DEPTH)
			return ct_entry_fail(parser, &parser->type, "at most 49 levels",
					     "%s stands too deep");
		item.depth = (uint8_t)(item.depth + deeper);
		item.parent += shift;
		item.end += shift;
		if (item.redefines != CT_NO_ITEM)
			item.redefines += shift;
		copybook->items[copybook->item_count++] = item;
	}
	copybook->items[index].end = copybook->item_count;
	return CTRACE_OK;
}

enum ctrace_status ct_type_apply(struct ct_entry_parser *parser, uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t found = ct_type_find(copybook, &parser->type);
	const struct ct_item *type;
	struct ct_item *item;

	if (found == CT_NO_ITEM || (found <= index && index < copybook->items[found].end) ||
	    parser->open[0] == found)
		return ct_entry_fail(parser, &parser->type,
				     "a usage, or a level 01 with TYPEDEF before this",
				     "no type %s");
	type = &copybook->items[found];
	item = &copybook->items[index];
	if (item->picture[0] == '\0') {
		item->picture = type->picture;
		item->form = type->form;
	}
	if (item->usage == CT_USAGE_NONE) {
		item->usage = type->usage;
		item->integer_size = type->integer_size;
	}
	if (item->sign == CT_SIGN_NONE) {
		item->sign = type->sign;
		item->is_sign_separate = type->is_sign_separate;
	}
	item->first_condition = type->first_condition;
	item->condition_count = type->condition_count;
	return type_copy_children(parser, found, index);
}
