/*
 * copybook_program.c - skips the parts of a program around its data, except the currency sign.
 *
 * Called by copybook_entry.c when there is no level number, so that a whole program is accepted as
 * a copybook.  Divisions, sections and FD end with a period; listing words (EJECT, TITLE) may lack
 * it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

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

bool ct_program_skip(struct ct_entry_parser *parser)
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
