/*
 * copybook_entry.c - parses the entries of a copybook into a tree of items, in the order of the
 * text, each item before its children.
 *
 * Called by copybook.c with the words of everything that was copied.  The level determines the kind
 * of entry: a field, a constant, a condition, or one without a position (66).  A field passes
 * through its clauses, the tree, its REDEFINES and its type.  Words without a level belong to the
 * program around the data, so that a whole program is accepted as a copybook.  Adding an item may
 * move all items, so pointers to items do not survive it.  parser->open is the path from a record
 * to the last item.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- the tree of fields */

static enum ctrace_status tree_reserve(struct ct_entry_parser *parser, uint32_t more,
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

/* Closes the items that cannot be parents of this level. */
static void tree_close(struct ct_entry_parser *parser, uint8_t level)
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

/* Adds the item to the last open one. */
static enum ctrace_status tree_add(struct ct_entry_parser *parser, struct ct_item *item)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t index = copybook->item_count;
	enum ctrace_status status = tree_reserve(parser, 1, &item->place);

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

/* Adds a record with the name of the file, for fields outside of any record. */
static enum ctrace_status tree_add_record(struct ct_entry_parser *parser,
					  const struct ct_token *place)
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
	return tree_add(parser, &item);
}

/* Finds what this item redefines: parser->redefines. */
static enum ctrace_status tree_redefine(struct ct_entry_parser *parser, uint32_t index)
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

/* ---- TYPEDEF: the attributes of an earlier level 01 or 77 */

/* Copies the children of the type into this item, so that later parts need not know types.  A type
 * never contains itself, and copies count against the limit of fields. */
static enum ctrace_status type_copy_children(struct ct_entry_parser *parser, uint32_t type,
					     uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t count = copybook->items[type].end - type - 1, shift = index - type;
	int deeper = copybook->items[index].depth - copybook->items[type].depth;
	enum ctrace_status status = tree_reserve(parser, count, &parser->type);

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

/* Copies the attributes of parser->type to this item, the last one. */
static enum ctrace_status type_apply(struct ct_entry_parser *parser, uint32_t index)
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

/* ---- what a program has around its data; only the currency sign matters */

static void program_skip_sentence(struct ct_entry_parser *parser)
{
	const struct ct_token *word;

	do {
		word = ct_entry_next(parser);
		if (ct_token_is(word, "CURRENCY")) {
			static const char *const air[] = { "SIGN", "IS" };

			ct_entry_accept_any(parser, air, CT_COUNT(air));
			(void)ct_entry_accept(parser, "IS");
			if (ct_entry_peek(parser)->kind == CT_TOKEN_LITERAL &&
			    ct_entry_peek(parser)->size == 1)
				parser->scan->currency = *ct_entry_peek(parser)->at;
		} else if (ct_token_is(word, "SYMBOL") &&
			   ct_entry_peek(parser)->kind == CT_TOKEN_LITERAL &&
			   ct_entry_peek(parser)->size == 1) {
			parser->scan->currency = *ct_entry_peek(parser)->at;
		}
	} while (word->kind != CT_TOKEN_PERIOD && word->kind != CT_TOKEN_END);
}

/* Divisions, sections and FD end with a period; listing words (EJECT, TITLE) may lack it.  Returns
 * false when the word is not of a program. */
static bool program_skip(struct ct_entry_parser *parser)
{
	static const char *const lines[] = { "EJECT", "SKIP1", "SKIP2", "SKIP3", "TITLE" };
	static const char *const sentences[] = {
		"DATA",    "FILE",          "FD",      "SD", "WORKING-STORAGE", "LOCAL-STORAGE",
		"LINKAGE", "SPECIAL-NAMES", "CURRENCY"
	};

	for (size_t i = 0; i < CT_COUNT(lines); i++)
		if (ct_entry_accept(parser, lines[i])) {
			if (ct_entry_peek(parser)->kind == CT_TOKEN_LITERAL)
				parser->at++;
			if (ct_entry_peek(parser)->kind == CT_TOKEN_PERIOD)
				parser->at++;
			return true;
		}
	if (ct_token_is(ct_entry_peek(parser), "IDENTIFICATION") ||
	    ct_token_is(ct_entry_peek(parser), "ID") ||
	    ct_token_is(ct_entry_peek(parser), "ENVIRONMENT"))
		parser->is_before_data = true;
	else if (ct_token_is(ct_entry_peek(parser), "DATA"))
		parser->is_before_data = false;
	for (size_t i = 0; i < CT_COUNT(sentences); i++)
		if (parser->is_before_data || ct_token_is(ct_entry_peek(parser), sentences[i])) {
			program_skip_sentence(parser);
			return true;
		}
	if (ct_entry_peek(parser)->kind != CT_TOKEN_PERIOD)
		return false;
	parser->at++;
	return true;
}

/* ---- entries */

#define LEVEL_CONSTANT 78u
#define LEVEL_CONDITION 88u
#define LEVEL_RENAMES 66u
#define LEVEL_ALONE 77u

static enum ctrace_status entry_take_data(struct ct_entry_parser *parser,
					  const struct ct_token *level, uint8_t number,
					  const struct ct_token *name)
{
	struct ct_item item = { .name = "FILLER",
				.picture = "",
				.name_size = 6,
				.redefines = CT_NO_ITEM,
				.depends = CT_NO_ITEM,
				.slot = CT_NO_ITEM,
				.level = number,
				.place = *level,
				.is_filler = true };
	enum ctrace_status status;

	if (name->size > 0)
		item.place = *name;
	if (name->size > 0 && !ct_token_is(name, "FILLER")) {
		item.is_filler = false;
		item.name = ct_scan_text(parser->scan, name->at, name->size);
		item.name_size = name->size;
		item.name_hash = ct_name_hash(name->at, name->size);
		if (item.name == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
	}
	parser->type = parser->redefines = (struct ct_token){ 0 };
	status = ct_clauses_take(parser, &item);
	if (status != CTRACE_OK)
		return status;
	tree_close(parser, number == LEVEL_ALONE ? 1 : number);
	if (number == LEVEL_ALONE)
		item.level = 1;
	if (parser->open_count == 0 && number != 1 && number != LEVEL_ALONE)
		status = tree_add_record(parser, level);
	if (status == CTRACE_OK)
		status = tree_add(parser, &item);
	if (status == CTRACE_OK && parser->redefines.size > 0)
		status = tree_redefine(parser, parser->copybook->item_count - 1);
	if (status == CTRACE_OK && parser->type.size > 0)
		status = type_apply(parser, parser->copybook->item_count - 1);
	return status;
}

static bool entry_take_level(struct ct_entry_parser *parser, uint8_t *out)
{
	const struct ct_token *word = ct_entry_peek(parser);
	int64_t value;

	if (word->kind != CT_TOKEN_WORD || word->size > 2 ||
	    !ct_integer_parse(word->at, word->size, &value))
		return false;
	if (value == 0 || (value > 49 && value != LEVEL_RENAMES && value != LEVEL_ALONE &&
			   value != LEVEL_CONSTANT && value != LEVEL_CONDITION))
		return false;
	parser->at++;
	*out = (uint8_t)value;
	return true;
}

static enum ctrace_status entry_take(struct ct_entry_parser *parser, const struct ct_token *level,
				     uint8_t number)
{
	struct ct_token name = { .at = "" };
	enum ctrace_status status;

	/* TYPE is a field's name when a clause follows it. */
	if (ct_entry_peek(parser)->kind == CT_TOKEN_WORD &&
	    (!ct_clause_is(ct_entry_peek(parser)) || (ct_token_is(ct_entry_peek(parser), "TYPE") &&
						      ct_clause_is(ct_entry_peek(parser) + 1))))
		name = *ct_entry_next(parser);
	switch (number) {
	case LEVEL_RENAMES:
		ct_entry_skip(parser);
		return CTRACE_OK;
	case LEVEL_CONDITION:
		return ct_condition_take(parser, &name);
	case LEVEL_CONSTANT:
		if (name.size == 0 ||
		    (!ct_entry_accept(parser, "VALUE") && !ct_entry_accept(parser, "VALUES")))
			return ct_entry_fail(parser, ct_entry_peek(parser), "78 name VALUE value.",
					     "a level 78 without a name or VALUE");
		(void)ct_entry_accept(parser, "IS");
		break;
	default:
		if (name.size == 0 || !ct_entry_accept(parser, "CONSTANT"))
			return entry_take_data(parser, level, number, &name);
		(void)ct_entry_accept(parser, "IS");
		(void)ct_entry_accept(parser, "GLOBAL");
		(void)ct_entry_accept(parser, "AS");
	}
	status = ct_constants_take(parser, &name);
	if (status == CTRACE_OK)
		ct_entry_skip(parser);
	return status;
}

enum ctrace_status ct_entries_parse(struct ct_scan *scan, const struct ct_tokens *words,
				    struct ct_copybook *copybook)
{
	struct ct_entry_parser parser = { .scan = scan, .words = words, .copybook = copybook };
	enum ctrace_status status = CTRACE_OK;

	while (status == CTRACE_OK && ct_entry_peek(&parser)->kind != CT_TOKEN_END &&
	       !ct_token_is(ct_entry_peek(&parser), "PROCEDURE")) {
		struct ct_token level = *ct_entry_peek(&parser);
		uint8_t number;

		if (entry_take_level(&parser, &number))
			status = entry_take(&parser, &level, number);
		else if (!program_skip(&parser))
			status = ct_entry_fail(&parser, &level,
					       "a level number: 01 to 49, 66, 77, 78 or 88",
					       "%s begins no entry");
	}
	tree_close(&parser, 0);
	ct_constants_fini(&parser.constants);
	return status;
}
