/*
 * copybook_usage.c - the encoding of a field's bytes: USAGE and its words.
 *
 * Called by copybook_clause.c; USAGE itself may be left out.  A word that is not in the table is
 * the name of a type, which copybook_type.c looks up when the entry is complete.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <assert.h>

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

bool ct_usage_is(const struct ct_token *word)
{
	return usage_find(word) != NULL;
}

static void item_set_usage(struct ct_entry_parser *parser, struct ct_item *item,
			   const struct usage *usage)
{
	item->usage = (uint8_t)usage->usage;
	item->integer_size = usage->integer_size;
	if (usage->usage != CT_USAGE_INTEGER)
		return;
	item->form.is_signed = !usage->is_unsigned;
	if (ct_entry_accept(parser, "UNSIGNED"))
		item->form.is_signed = false;
	else
		(void)ct_entry_accept(parser, "SIGNED");
}

bool ct_usage_accept(struct ct_entry_parser *parser, struct ct_item *item)
{
	const struct usage *usage = usage_find(ct_entry_peek(parser));

	if (usage == NULL)
		return false;
	parser->at++;
	item_set_usage(parser, item, usage);
	return true;
}

enum ctrace_status ct_usage_clause(struct ct_entry_parser *parser, struct ct_item *item)
{
	(void)ct_entry_accept(parser, "IS");
	if (ct_usage_accept(parser, item))
		return CTRACE_OK;
	if (ct_entry_peek(parser)->kind != CT_TOKEN_WORD)
		return ct_entry_fail(
			parser, ct_entry_peek(parser),
			"DISPLAY, COMP, COMP-3, COMP-5, INDEX, POINTER or the name of a type",
			"USAGE %s");
	parser->type = *ct_entry_next(parser);
	return CTRACE_OK;
}

size_t ct_usage_words(const char *out_words[CT_USAGE_WORDS])
{
	static_assert(CT_COUNT(usages) <= CT_USAGE_WORDS, "all words of the table have room");

	for (size_t i = 0; i < CT_COUNT(usages); i++)
		out_words[i] = usages[i].word;
	return CT_COUNT(usages);
}
