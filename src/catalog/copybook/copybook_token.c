/*
 * copybook_token.c - shared functions for tokens and texts: keep, compare, report.
 *
 * Called by every piece of the copybook reader.  Only this file makes texts and tokens, and counts
 * each against the limits of one copybook, so that a small file that is copied often cannot exhaust
 * memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_scan_diagnose(struct ct_scan *scan, const struct ct_token *place, const char *expected,
		      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(scan->diagnostic->message, sizeof scan->diagnostic->message, format,
			arguments);
	va_end(arguments);
	(void)snprintf(scan->diagnostic->expected, sizeof scan->diagnostic->expected, "%s",
		       expected);
	scan->diagnostic->line = place->line;
	scan->diagnostic->column = place->column;
	if (scan->diagnostic_path != NULL) {
		ct_buf_clear(scan->diagnostic_path);
		ct_buf_add_text(scan->diagnostic_path, scan->files[place->file]);
	}
}

bool ct_token_is(const struct ct_token *token, const char *word)
{
	return token->kind == CT_TOKEN_WORD && ct_name_is(token->at, token->size, word);
}

void *ct_scan_take(struct ct_scan *scan, size_t size)
{
	scan->made += size;
	return scan->made > CT_COPYBOOK_MEMORY ? NULL : ct_arena_take(scan->arena, size);
}

char *ct_scan_text(struct ct_scan *scan, const char *text, size_t size)
{
	char *copy = ct_scan_take(scan, size + 1);

	if (copy != NULL && size > 0)
		memcpy(copy, text, size);
	return copy;
}

enum ctrace_status ct_tokens_add(struct ct_scan *scan, struct ct_tokens *tokens,
				 const struct ct_token *token)
{
	if (++scan->tokens > CT_COPYBOOK_TOKENS) {
		ct_scan_diagnose(scan, token, "a copybook of fewer words, copied less often",
				 "the copybook is too long");
		return CTRACE_SYNTAX_ERROR;
	}
	if (tokens->count == tokens->capacity) {
		size_t capacity = tokens->capacity == 0 ? 256 : tokens->capacity * 2;
		struct ct_token *grown = realloc(tokens->at, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		tokens->at = grown;
		tokens->capacity = capacity;
	}
	tokens->at[tokens->count++] = *token;
	return CTRACE_OK;
}

void ct_tokens_fini(struct ct_tokens *tokens)
{
	free(tokens->at);
	*tokens = (struct ct_tokens){ 0 };
}
