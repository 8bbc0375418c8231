/*
 * copybook_clause.c - the clauses of an entry, between its name and its period.
 *
 * Called by copybook_entry.c.  Each clause is a row of one table, with a function that reads the
 * words behind its name; each word of USAGE, which may be left out, is a row of another.  Clauses
 * come in any order.  They describe one item only: names of other fields and of types are kept as
 * words, and resolved when the item is in the tree.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdio.h>

/* ---- USAGE: the encoding of a field's bytes */

static const struct usage {
	const char *word;
	enum ct_usage usage;
	uint8_t integer_size;
	bool is_unsigned;
} usages[] = {
	{ "DISPLAY", CT_USAGE_DISPLAY, 0, false },
	{ "NATIONAL", CT_USAGE_DISPLAY, 0, false },
	{ "DISPLAY-1", CT_USAGE_DISPLAY, 0, false },
	{ "COMP", CT_USAGE_BINARY, 0, false },
	{ "COMPUTATIONAL", CT_USAGE_BINARY, 0, false },
	{ "COMP-4", CT_USAGE_BINARY, 0, false },
	{ "COMPUTATIONAL-4", CT_USAGE_BINARY, 0, false },
	{ "BINARY", CT_USAGE_BINARY, 0, false },
	{ "COMP-5", CT_USAGE_NATIVE, 0, false },
	{ "COMPUTATIONAL-5", CT_USAGE_NATIVE, 0, false },
	{ "COMP-X", CT_USAGE_COMP_X, 0, false },
	{ "COMPUTATIONAL-X", CT_USAGE_COMP_X, 0, false },
	{ "COMP-3", CT_USAGE_PACKED, 0, false },
	{ "COMPUTATIONAL-3", CT_USAGE_PACKED, 0, false },
	{ "PACKED-DECIMAL", CT_USAGE_PACKED, 0, false },
	{ "COMP-6", CT_USAGE_PACKED_UNSIGNED, 0, false },
	{ "COMPUTATIONAL-6", CT_USAGE_PACKED_UNSIGNED, 0, false },
	{ "COMP-1", CT_USAGE_FLOAT, 0, false },
	{ "COMPUTATIONAL-1", CT_USAGE_FLOAT, 0, false },
	{ "FLOAT-SHORT", CT_USAGE_FLOAT, 0, false },
	{ "FLOAT-BINARY-32", CT_USAGE_FLOAT, 0, false },
	{ "COMP-2", CT_USAGE_DOUBLE, 0, false },
	{ "COMPUTATIONAL-2", CT_USAGE_DOUBLE, 0, false },
	{ "FLOAT-LONG", CT_USAGE_DOUBLE, 0, false },
	{ "FLOAT-BINARY-64", CT_USAGE_DOUBLE, 0, false },
	{ "INDEX", CT_USAGE_INDEX, 0, false },
	{ "POINTER", CT_USAGE_POINTER, 0, false },
	{ "PROCEDURE-POINTER", CT_USAGE_POINTER, 0, false },
	{ "PROGRAM-POINTER", CT_USAGE_POINTER, 0, false },
	{ "FUNCTION-POINTER", CT_USAGE_POINTER, 0, false },
	{ "BINARY-CHAR", CT_USAGE_INTEGER, 1, false },
	{ "BINARY-SHORT", CT_USAGE_INTEGER, 2, false },
	{ "BINARY-LONG", CT_USAGE_INTEGER, 4, false },
	{ "BINARY-INT", CT_USAGE_INTEGER, 4, false },
	{ "BINARY-DOUBLE", CT_USAGE_INTEGER, 8, false },
	{ "BINARY-LONG-LONG", CT_USAGE_INTEGER, 8, false },
	{ "BINARY-C-LONG", CT_USAGE_INTEGER, 8, false },
	{ "SIGNED-SHORT", CT_USAGE_INTEGER, 2, false },
	{ "SIGNED-INT", CT_USAGE_INTEGER, 4, false },
	{ "SIGNED-LONG", CT_USAGE_INTEGER, 8, false },
	{ "UNSIGNED-SHORT", CT_USAGE_INTEGER, 2, true },
	{ "UNSIGNED-INT", CT_USAGE_INTEGER, 4, true },
	{ "UNSIGNED-LONG", CT_USAGE_INTEGER, 8, true },
};

static const struct usage *usage_find(const struct ct_token *word)
{
	for (size_t i = 0; i < CT_COUNT(usages); i++)
		if (ct_token_is(word, usages[i].word))
			return &usages[i];
	return NULL;
}

static bool usage_accept(struct ct_entry_parser *parser, struct ct_item *item)
{
	const struct usage *usage = usage_find(ct_entry_peek(parser));

	if (usage == NULL)
		return false;
	parser->at++;
	item->usage = (uint8_t)usage->usage;
	item->integer_size = usage->integer_size;
	if (usage->usage == CT_USAGE_INTEGER) {
		item->form.is_signed = !usage->is_unsigned;
		if (ct_entry_accept(parser, "UNSIGNED"))
			item->form.is_signed = false;
		else
			(void)ct_entry_accept(parser, "SIGNED");
	}
	return true;
}

static enum ctrace_status take_usage(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)ct_entry_accept(parser, "IS");
	if (usage_accept(parser, item))
		return CTRACE_OK;
	if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD)
		return ct_entry_fail(
			parser, ct_entry_peek(parser),
			"DISPLAY, COMP, COMP-3, COMP-5, INDEX, POINTER or the name of a type",
			"USAGE %s");
	parser->type = *ct_entry_next(parser);
	return CTRACE_OK;
}

/* ---- clauses */

typedef enum ctrace_status clause(struct ct_entry_parser *parser, struct ct_item *item);

static enum ctrace_status take_redefines(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)item;
	if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD)
		return ct_entry_fail(parser, ct_entry_peek(parser), "the name of a field",
				     "REDEFINES %s");
	parser->redefines = *ct_entry_next(parser);
	return CTRACE_OK;
}

static enum ctrace_status take_picture(struct ct_entry_parser *parser, struct ct_item *item)
{
	struct ct_picture_context context = { ct_constants_number, &parser->constants,
					      parser->scan->currency };
	struct ct_picture_error error;
	struct ct_token place;
	char *text;

	(void)ct_entry_accept(parser, "IS");
	place = *ct_entry_peek(parser);
	if (place.kind != CT_TOKEN_WORD)
		return ct_entry_fail(parser, &place, "a picture, such as X(10) or S9(5)V99",
				     "PICTURE without a picture");
	parser->at++;
	if (!ct_picture_parse(place.at, place.size, &context, &item->form, &error)) {
		place.column = (uint16_t)(place.column + error.at);
		return ct_entry_fail(parser, &place, error.expected, error.message);
	}
	text = ct_scan_text(parser->scan, place.at, place.size);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_name_upper(text, place.size);
	item->picture = text;
	return CTRACE_OK;
}

static enum ctrace_status clause_take_separate(struct ct_entry_parser *parser, struct ct_item *item,
					       uint8_t sign)
{
	item->sign = sign;
	item->is_sign_separate = ct_entry_accept(parser, "SEPARATE");
	if (item->is_sign_separate)
		(void)ct_entry_accept(parser, "CHARACTER");
	return CTRACE_OK;
}

static enum ctrace_status take_leading(struct ct_entry_parser *parser, struct ct_item *item)
{
	return clause_take_separate(parser, item, CT_SIGN_LEADING);
}

static enum ctrace_status take_trailing(struct ct_entry_parser *parser, struct ct_item *item)
{
	return clause_take_separate(parser, item, CT_SIGN_TRAILING);
}

static enum ctrace_status take_sign(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)ct_entry_accept(parser, "IS");
	if (ct_entry_accept(parser, "LEADING"))
		return take_leading(parser, item);
	if (ct_entry_accept(parser, "TRAILING"))
		return take_trailing(parser, item);
	return ct_entry_fail(parser, ct_entry_peek(parser), "LEADING or TRAILING", "SIGN %s");
}

static enum ctrace_status take_depending(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)ct_entry_accept(parser, "ON");
	if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD)
		return ct_entry_fail(parser, ct_entry_peek(parser), "the name of a field",
				     "DEPENDING ON %s");
	item->depends_name = *ct_entry_next(parser);
	item->is_depending = true;
	while (ct_entry_accept(parser, "OF") || ct_entry_accept(parser, "IN")) {
		if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD)
			return ct_entry_fail(parser, ct_entry_peek(parser), "the name of a group",
					     "DEPENDING ON a field OF %s");
		if (item->depends_of.size == 0)
			item->depends_of = *ct_entry_peek(parser);
		parser->at++;
	}
	return CTRACE_OK;
}

static enum ctrace_status take_names(struct ct_entry_parser *parser, struct ct_item *item)
{
	static const char *const air[] = { "KEY", "BY" };

	(void)item;
	ct_entry_accept_any(parser, air, CT_COUNT(air));
	(void)ct_entry_accept(parser, "IS");
	while (ct_entry_peek(parser)->kind == CT_TOKEN_WORD && !ct_clause_is(ct_entry_peek(parser)))
		parser->at++;
	return CTRACE_OK;
}

static enum ctrace_status take_occurs(struct ct_entry_parser *parser, struct ct_item *item)
{
	enum ctrace_status status = ct_constants_integer(
		parser, "how often: a number or a level 78 with one", &item->occurs);

	if (status != CTRACE_OK)
		return status;
	item->occurs_least = item->occurs;
	if (ct_entry_accept(parser, "TO")) {
		status = ct_constants_integer(parser,
					      "how often at most: a number or a level 78 with one",
					      &item->occurs);
		if (status != CTRACE_OK)
			return status;
	} else if (item->occurs == 0) {
		return ct_entry_fail(parser, &parser->words->at[parser->at - 1], "1 or more",
				     "OCCURS %s");
	}
	if (item->occurs == 0 || item->occurs_least > item->occurs)
		return ct_entry_fail(parser, &parser->words->at[parser->at - 1],
				     "a number that is not less than the first",
				     "OCCURS at most %s");
	(void)ct_entry_accept(parser, "TIMES");
	return CTRACE_OK;
}

static enum ctrace_status take_sync(struct ct_entry_parser *parser, struct ct_item *item)
{
	static const char *const sides[] = { "LEFT", "RIGHT" };

	ct_entry_accept_any(parser, sides, CT_COUNT(sides));
	item->is_synchronized = true;
	return CTRACE_OK;
}

static enum ctrace_status take_just(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)item;
	(void)ct_entry_accept(parser, "RIGHT");
	return CTRACE_OK;
}

static enum ctrace_status take_blank(struct ct_entry_parser *parser, struct ct_item *item)
{
	static const char *const zeros[] = { "ZERO", "ZEROS", "ZEROES" };

	(void)ct_entry_accept(parser, "WHEN");
	ct_entry_accept_any(parser, zeros, CT_COUNT(zeros));
	item->is_blank_when_zero = true;
	return CTRACE_OK;
}

/* Skips the initial values of a field, which do not affect its layout. */
static enum ctrace_status take_value(struct ct_entry_parser *parser, struct ct_item *item)
{
	static const char *const air[] = { "IS", "ARE" };

	(void)item;
	ct_entry_accept_any(parser, air, CT_COUNT(air));
	if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD &&
	    ct_entry_peek(parser)->kind != CT_TOKEN_LITERAL)
		return ct_entry_fail(parser, ct_entry_peek(parser),
				     "a literal, a number, ZERO or SPACE", "VALUE without a value");
	do
		parser->at++;
	while (ct_entry_peek(parser)->kind == CT_TOKEN_LITERAL ||
	       (ct_entry_peek(parser)->kind == CT_TOKEN_WORD &&
		!ct_clause_is(ct_entry_peek(parser))));
	return CTRACE_OK;
}

static enum ctrace_status take_external(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)item;
	if (ct_entry_accept(parser, "AS") && ct_entry_peek(parser)->kind == CT_TOKEN_LITERAL)
		parser->at++;
	return CTRACE_OK;
}

static enum ctrace_status take_air(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)parser;
	(void)item;
	return CTRACE_OK;
}

static enum ctrace_status take_typedef(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)ct_entry_accept(parser, "STRONG");
	item->is_type = true;
	return CTRACE_OK;
}

static enum ctrace_status take_type(struct ct_entry_parser *parser, struct ct_item *item)
{
	static const char *const air[] = { "TO", "AS" };

	(void)item;
	ct_entry_accept_any(parser, air, CT_COUNT(air));
	if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD)
		return ct_entry_fail(parser, ct_entry_peek(parser), "the name of a type or field",
				     "TYPE %s");
	parser->type = *ct_entry_next(parser);
	return CTRACE_OK;
}

static const struct {
	const char *word;
	clause *take;
} clauses[] = {
	{ "REDEFINES", take_redefines }, { "PIC", take_picture },
	{ "PICTURE", take_picture },     { "USAGE", take_usage },
	{ "SIGN", take_sign },           { "LEADING", take_leading },
	{ "TRAILING", take_trailing },   { "OCCURS", take_occurs },
	{ "DEPENDING", take_depending }, { "INDEXED", take_names },
	{ "ASCENDING", take_names },     { "DESCENDING", take_names },
	{ "KEY", take_names },           { "SYNC", take_sync },
	{ "SYNCHRONIZED", take_sync },   { "SYNCHRONISED", take_sync },
	{ "JUST", take_just },           { "JUSTIFIED", take_just },
	{ "BLANK", take_blank },         { "VALUE", take_value },
	{ "VALUES", take_value },        { "EXTERNAL", take_external },
	{ "GLOBAL", take_air },          { "VOLATILE", take_air },
	{ "BASED", take_air },           { "IS", take_air },
	{ "TYPEDEF", take_typedef },     { "TYPE", take_type },
	{ "SAME", take_type },
};

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

static clause *clause_find(const struct ct_token *word)
{
	for (size_t i = 0; i < CT_COUNT(clauses); i++)
		if (ct_token_is(word, clauses[i].word))
			return clauses[i].take;
	return NULL;
}

bool ct_clause_is(const struct ct_token *word)
{
	return clause_find(word) != NULL || usage_find(word) != NULL;
}

static enum ctrace_status clause_fail(struct ct_entry_parser *parser)
{
	const char *words[CT_COUNT(clauses) + CT_COUNT(usages)];
	const struct ct_token *word = ct_entry_peek(parser);
	const char *nearest;
	char expected[64];

	if (word->kind == CT_TOKEN_END)
		return ct_entry_fail(parser, word, "a period", "the last entry does not end");
	for (size_t i = 0; i < CT_COUNT(clauses); i++)
		words[i] = clauses[i].word;
	for (size_t i = 0; i < CT_COUNT(usages); i++)
		words[CT_COUNT(clauses) + i] = usages[i].word;
	nearest = ct_suggest((struct ct_span){ word->at, word->size }, words, CT_COUNT(words));
	if (nearest != NULL)
		(void)snprintf(expected, sizeof expected, "%s?", nearest);
	return ct_entry_fail(parser, word,
			     nearest != NULL
				     ? expected
				     : "PIC, USAGE, OCCURS, REDEFINES, SIGN, VALUE or a period",
			     "unknown clause %s");
}

enum ctrace_status ct_clauses_take(struct ct_entry_parser *parser, struct ct_item *item)
{
	while (ct_entry_peek(parser)->kind != CT_TOKEN_PERIOD) {
		const struct ct_token *word = ct_entry_peek(parser);
		clause *take = clause_find(word);
		enum ctrace_status status = CTRACE_OK;
		uint32_t type;

		if (take != NULL) {
			parser->at++;
			status = take(parser, item);
		} else if (!usage_accept(parser, item)) {
			type = word->kind == CT_TOKEN_WORD ? ct_type_find(parser->copybook, word)
							   : CT_NO_ITEM;
			if (type == CT_NO_ITEM || !parser->copybook->items[type].is_type)
				return clause_fail(parser);
			parser->type = *ct_entry_next(parser);
		}
		if (status != CTRACE_OK)
			return status;
	}
	parser->at++;
	return CTRACE_OK;
}
