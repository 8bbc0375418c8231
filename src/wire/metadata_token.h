/*
 * wire/metadata_token.h - the words that metadata consists of, for the parser alone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_METADATA_TOKEN_H
#define CT_METADATA_TOKEN_H

#include "wire/wire.h"

/* One token of a text: a word, a number, a string with its quotes, or one other character.  Blanks and comments are none. */
struct ct_metadata_lexer {
	const char *text;
	size_t size;
	size_t at; /* behind the token */
	size_t start;
	size_t length; /* of the token; 0 at the end */
};
void ct_metadata_next(struct ct_metadata_lexer *lexer);
bool ct_metadata_token_is(const struct ct_metadata_lexer *lexer, const char *text, size_t size);
/* The token, when it is the one expected, is left behind; otherwise it stays, and the answer is false. */
bool ct_metadata_accept(struct ct_metadata_lexer *lexer, const char *text);
bool ct_metadata_accept_number(struct ct_metadata_lexer *lexer, uint64_t limit, uint64_t *out_value);
bool ct_metadata_accept_u32(struct ct_metadata_lexer *lexer, uint32_t *out_value);
/* A string as the printer writes them, its escapes undone twice: those of the metadata, and those of ct_escape_add().  Terminated. */
bool ct_metadata_accept_string(struct ct_metadata_lexer *lexer, char *out, size_t capacity, size_t *out_size);
/* Several tokens, written with blanks between them; those before the first that differs are left behind. */
bool ct_metadata_accept_all(struct ct_metadata_lexer *lexer, const char *tokens);
/* Decimal digits and nothing else, up to the limit. */
bool ct_metadata_number(const char *text, size_t size, uint64_t limit, uint64_t *out_value);

#endif
