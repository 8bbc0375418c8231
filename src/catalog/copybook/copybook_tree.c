/*
 * copybook_tree.c - the tree of fields: items in the order of the text, each before its children.
 *
 * Called by copybook_entry.c for each complete entry, and by copybook_type.c, which adds several at
 * once.  Adding may move all items, so pointers to items do not survive it. parser->open is the
 * path from a record down to the last item.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

enum ctrace_status ct_tree_reserve(struct ct_entry_parser *parser, uint32_t more,
				   const struct ct_token *place)
{
	struct ct_copybook *copybook = parser->copybook;

	if (copybook->item_count + more > CT_COPYBOOK_FIELDS)
		return ct_entry_fail(parser, place, "at most 8192",
				     "the copybook has too many fields");
	if (copybook->item_count + more > copybook->item_capacity) {
		uint32_t capacity = (copybook->item_count + more) * 2;
		struct ct_item *grown = realloc(copybook->items, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		copybook->items = grown;
		copybook->item_capacity = capacity;
	}
	return CTRACE_OK;
}

void ct_tree_close(struct ct_entry_parser *parser, uint8_t level)
{
	while (parser->open_count > 0) {
		struct ct_item *item =
			&parser->copybook->items[parser->open[parser->open_count - 1]];

		if (item->level < level)
			return;
		item->end = parser->copybook->item_count;
		parser->open_count--;
	}
}

enum ctrace_status ct_tree_add(struct ct_entry_parser *parser, struct ct_item *item)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t index = copybook->item_count;
	enum ctrace_status status = ct_tree_reserve(parser, 1, &item->place);

	if (status != CTRACE_OK)
		return status;
	if (parser->open_count > CT_COPYBOOK_DEPTH)
		return ct_entry_fail(parser, &item->place, "at most 49 levels",
				     "%s stands too deep");
	item->parent = parser->open_count == 0 ? CT_NO_ITEM : parser->open[parser->open_count - 1];
	item->depth = (uint8_t)parser->open_count;
	item->end = index + 1;
	copybook->items[copybook->item_count++] = *item;
	parser->open[parser->open_count++] = index;
	return CTRACE_OK;
}

enum ctrace_status ct_tree_add_record(struct ct_entry_parser *parser, const struct ct_token *place)
{
	const char *path = parser->scan->files[0];
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	size_t size = strcspn(name, ".");
	char *text = ct_scan_text(parser->scan, size > 0 ? name : "RECORD", size > 0 ? size : 6);
	struct ct_item item = { .name = text,
				.picture = "",
				.name_size = (uint32_t)(size > 0 ? size : 6),
				.redefines = CT_NO_ITEM,
				.depends = CT_NO_ITEM,
				.slot = CT_NO_ITEM,
				.place = *place };

	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_name_upper(text, item.name_size);
	item.name_hash = ct_name_hash(text, item.name_size);
	return ct_tree_add(parser, &item);
}

enum ctrace_status ct_tree_redefine(struct ct_entry_parser *parser, uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	struct ct_item *item = &copybook->items[index];
	uint32_t hash = ct_name_hash(parser->redefines.at, parser->redefines.size);

	for (uint32_t i = index; i-- > 0;) {
		const struct ct_item *other = &copybook->items[i];

		if (other->parent == item->parent && other->name_hash == hash &&
		    ct_name_equal(other->name, other->name_size, parser->redefines.at,
				  parser->redefines.size)) {
			item->redefines = i;
			return CTRACE_OK;
		}
		if (i == item->parent)
			break;
	}
	return ct_entry_fail(parser, &parser->redefines,
			     "a field of the same group, before this one",
			     "REDEFINES %s, which is not there");
}
