/*
 * copybook_entry.c - parses the entries of a copybook: levels and names, then calls the parser for
 * the rest.
 *
 * Called by copybook.c with the words of everything that was copied.  The level determines the kind
 * of entry: a field, a constant, a condition, or one without a position (66).  A field passes
 * through its clauses, the tree, its REDEFINES and its type.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

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
	ct_tree_close(parser, number == LEVEL_ALONE ? 1 : number);
	if (number == LEVEL_ALONE)
		item.level = 1;
	if (parser->open_count == 0 && number != 1 && number != LEVEL_ALONE)
		status = ct_tree_add_record(parser, level);
	if (status == CTRACE_OK)
		status = ct_tree_add(parser, &item);
	if (status == CTRACE_OK && parser->redefines.size > 0)
		status = ct_tree_redefine(parser, parser->copybook->item_count - 1);
	if (status == CTRACE_OK && parser->type.size > 0)
		status = ct_type_apply(parser, parser->copybook->item_count - 1);
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
		else if (!ct_program_skip(&parser))
			status = ct_entry_fail(&parser, &level,
					       "a level number: 01 to 49, 66, 77, 78 or 88",
					       "%s begins no entry");
	}
	ct_tree_close(&parser, 0);
	ct_constants_fini(&parser.constants);
	return status;
}
