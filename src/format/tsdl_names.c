/*
 * tsdl_names.c - the memory of the metadata's parser, its names, and their declarations in each
 * level of braces.
 *
 * Called by the parser, on one thread.  A hostile text can neither make it use more than
 * CT_TSDL_MEMORY nor make a look-up slow: each name has a list of its own declarations.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_LIMIT (CT_TSDL_MEMORY / 4)

bool ct_tsdl_fail(struct ct_tsdl_parser *parser, const char *expected, const char *format, ...)
{
	struct ct_diagnostic *diagnostic = &parser->diagnostic;
	va_list arguments;

	if (parser->has_failed)
		return false;
	parser->has_failed = true;
	diagnostic->line = parser->scan.token_line;
	diagnostic->column = parser->scan.token_column;
	va_start(arguments, format);
	(void)vsnprintf(diagnostic->message, sizeof diagnostic->message, format, arguments);
	va_end(arguments);
	(void)snprintf(diagnostic->expected, sizeof diagnostic->expected, "%s", expected);
	return false;
}

static void parser_fail_memory(struct ct_tsdl_parser *parser)
{
	parser->has_no_memory = true;
	(void)ct_tsdl_fail(parser, "", "the metadata take more memory than ctrace gives them");
}

void *ct_tsdl_take(struct ct_tsdl_parser *parser, size_t size)
{
	void *taken = NULL;

	if (size <= CT_TSDL_MEMORY - parser->used) {
		taken = ct_arena_take(&parser->tsdl->arena, size);
		if (taken == NULL)
			ct_memory_note_lack();
	}
	if (taken == NULL)
		parser_fail_memory(parser);
	else
		parser->used += CT_ALIGN_UP(size, (size_t)16) < CT_TSDL_MEMORY - parser->used
					? CT_ALIGN_UP(size, (size_t)16)
					: CT_TSDL_MEMORY - parser->used;
	return taken;
}

/* -----------------------------------------------------------------------------------------------
 * Names
 */

static uint32_t name_hash(const struct ct_tsdl_parser *parser, const char *text, size_t size)
{
	uint64_t value = parser->key[0];

	for (size_t i = 0; i < size; i++) {
		value = (value ^ (unsigned char)text[i]) * (parser->key[1] | 1);
		value ^= value >> 29;
	}
	return (uint32_t)(value ^ value >> 32);
}

struct wanted {
	const char *text;
	size_t size;
};

static bool name_is(const void *names, uint32_t number, const void *key)
{
	const struct ct_tsdl_name *name = ((struct ct_tsdl_name *const *)names)[number];
	const struct wanted *wanted = key;

	return name->size == wanted->size && memcmp(name->text, wanted->text, wanted->size) == 0;
}

static struct ct_tsdl_name *name_add(struct ct_tsdl_parser *parser, const struct wanted *wanted,
				     uint32_t hash)
{
	struct ct_tsdl_name **names = ct_hash_table_reserve_items(&parser->table, parser->names,
								  sizeof(struct ct_tsdl_name *));
	struct ct_tsdl_name *name;
	char *copy;

	if (names == NULL) {
		parser_fail_memory(parser);
		return NULL;
	}
	parser->names = names;
	name = ct_tsdl_take(parser, sizeof *name + wanted->size + 1);
	if (name == NULL)
		return NULL;
	copy = (char *)(name + 1);
	memcpy(copy, wanted->text, wanted->size);
	name->text = copy;
	name->size = (uint32_t)wanted->size;
	names[parser->table.count] = name;
	ct_hash_table_add(&parser->table, hash, parser->table.count);
	return name;
}

struct ct_tsdl_name *ct_tsdl_name(struct ct_tsdl_parser *parser, const char *text, size_t size)
{
	const struct wanted wanted = { text, size };
	uint32_t hash = name_hash(parser, text, size);
	uint32_t found = ct_hash_table_find(&parser->table, hash, name_is, parser->names, &wanted);

	return found != CT_HASH_TABLE_NONE ? parser->names[found] : name_add(parser, &wanted, hash);
}

/* -----------------------------------------------------------------------------------------------
 * Stacks for items whose number is not yet known */

bool ct_tsdl_push(struct ct_tsdl_parser *parser, struct ct_tsdl_stack *stack, const void *item,
		  size_t size)
{
	if (stack->count == stack->capacity) {
		size_t capacity = stack->capacity == 0 ? 64 : 2 * stack->capacity;
		char *data = capacity * size <= STACK_LIMIT ? realloc(stack->data, capacity * size)
							    : NULL;

		if (data == NULL) {
			parser_fail_memory(parser);
			return false;
		}
		stack->data = data;
		stack->capacity = capacity;
	}
	memcpy(stack->data + stack->count * size, item, size);
	stack->count++;
	return true;
}

void *ct_tsdl_pop(struct ct_tsdl_parser *parser, struct ct_tsdl_stack *stack, size_t from,
		  size_t size)
{
	size_t bytes = (stack->count - from) * size;
	void *copy = ct_tsdl_take(parser, bytes + (bytes == 0));

	if (copy != NULL && bytes > 0)
		memcpy(copy, stack->data + from * size, bytes);
	stack->count = from;
	return copy;
}

/* -----------------------------------------------------------------------------------------------
 * Declarations */

void ct_tsdl_enter(struct ct_tsdl_parser *parser)
{
	parser->level++;
}

void ct_tsdl_leave(struct ct_tsdl_parser *parser, unsigned level)
{
	struct ct_tsdl_declaration *declaration = parser->declarations;

	for (; declaration != NULL && declaration->level > level; declaration = declaration->before)
		declaration->name->declared = declaration->hidden;
	parser->declarations = declaration;
	parser->level = level;
}

bool ct_tsdl_declare(struct ct_tsdl_parser *parser, enum ct_tsdl_space space,
		     struct ct_tsdl_name *name, const struct ct_tsdl_type *type)
{
	struct ct_tsdl_declaration *declaration = name->declared;

	/* A second declaration inside the same braces replaces the first, so a name hides at most
	 * one declaration a level. */
	while (declaration != NULL && declaration->level == parser->level &&
	       declaration->space != space)
		declaration = declaration->hidden;
	if (declaration != NULL && declaration->level == parser->level) {
		declaration->type = type;
		return true;
	}
	declaration = ct_tsdl_take(parser, sizeof *declaration);
	if (declaration == NULL)
		return false;
	*declaration = (struct ct_tsdl_declaration){ .space = space,
						     .level = parser->level,
						     .type = type,
						     .name = name,
						     .hidden = name->declared,
						     .before = parser->declarations };
	name->declared = parser->declarations = declaration;
	return true;
}

const struct ct_tsdl_type *ct_tsdl_declared(const struct ct_tsdl_name *name,
					    enum ct_tsdl_space space)
{
	for (const struct ct_tsdl_declaration *declaration = name->declared; declaration != NULL;
	     declaration = declaration->hidden)
		if (declaration->space == space)
			return declaration->type;
	return NULL;
}

/* -----------------------------------------------------------------------------------------------
 * The present token
 */

bool ct_tsdl_accept(struct ct_tsdl_parser *parser, const char *word_or_sign)
{
	if (!ct_tsdl_scan_is(&parser->scan, word_or_sign))
		return false;
	ct_tsdl_scan_next(&parser->scan);
	return true;
}

bool ct_tsdl_expect(struct ct_tsdl_parser *parser, const char *word_or_sign)
{
	char expected[32];
	struct ct_buf shown = { 0 };

	if (parser->has_failed)
		return false;
	if (ct_tsdl_accept(parser, word_or_sign))
		return true;
	(void)snprintf(expected, sizeof expected, "\"%s\"", word_or_sign);
	if (parser->scan.token == CT_TOKEN_END) {
		(void)ct_tsdl_fail(parser, expected, "the metadata end");
	} else {
		ct_span_quote(&shown, (struct ct_span){ parser->scan.start, parser->scan.length },
			      CT_WORD_SHOWN);
		(void)ct_tsdl_fail(parser, expected, "unexpected %s", ct_buf_text(&shown));
		ct_buf_fini(&shown);
	}
	return false;
}
