/*
 * format/tsdl_parse.h - declarations shared by the files that parse metadata.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_FORMAT_TSDL_PARSE_H
#define CT_FORMAT_TSDL_PARSE_H

#include "base/hash_table.h"
#include "format/tsdl.h"

/* ---- tsdl_scan.c: a text as words, numbers, strings and signs.  A copy of the struct is a
 * position to return to. */
enum ct_tsdl_token {
	CT_TOKEN_END,
	CT_TOKEN_WORD,
	CT_TOKEN_NUMBER, /* without a sign */
	CT_TOKEN_STRING, /* with its quotation marks */
	CT_TOKEN_SIGN,   /* ":=", "...", or one other character */
	CT_TOKEN_BAD     /* no token: a number too large, a string or comment without its end */
};
struct ct_tsdl_scan {
	const char *text;
	size_t size;
	size_t at; /* behind the token */
	unsigned line;
	size_t line_at;      /* where the line begins */
	size_t open_comment; /* a comment from here on has no end; 0: not known */
	/* the token */
	enum ct_tsdl_token token;
	const char *start;
	size_t length;
	uint64_t number;
	unsigned token_line, token_column; /* from 1 */
};
/* reads the first token */
void ct_tsdl_scan_begin(struct ct_tsdl_scan *scan, const char *text, size_t size);
void ct_tsdl_scan_next(struct ct_tsdl_scan *scan);
bool ct_tsdl_scan_is(const struct ct_tsdl_scan *scan, const char *word_or_sign);
/* Stores the string without its escapes in out, which has room for scan->length; returns the number
 * of bytes. */
size_t ct_tsdl_scan_string(const struct ct_tsdl_scan *scan, char *out);

/* ---- tsdl_names.c: the parser's memory, its names and their declarations */
enum ct_tsdl_space { CT_SPACE_ALIAS, CT_SPACE_STRUCT, CT_SPACE_VARIANT, CT_SPACE_ENUM };
struct ct_tsdl_declaration {
	enum ct_tsdl_space space;
	unsigned level; /* of braces */
	const struct ct_tsdl_type *type;
	struct ct_tsdl_name *name;
	struct ct_tsdl_declaration *hidden; /* the outer declaration of the same name */
	struct ct_tsdl_declaration *before; /* declared before it, in any name */
};
/* A stack of structs of one size. */
struct ct_tsdl_stack {
	char *data;
	size_t count, capacity;
};
struct ct_tsdl_parser {
	struct ct_tsdl *tsdl;
	struct ct_tsdl_scan scan;
	struct ct_diagnostic diagnostic;
	bool has_failed;
	bool has_no_memory;
	size_t used;     /* bytes of the arena */
	uint64_t key[2]; /* of the table's hash: nobody can predict which names collide */
	struct ct_tsdl_name **names;
	struct ct_hash_table table;               /* of the names, by text */
	struct ct_tsdl_declaration *declarations; /* the newest */
	unsigned level;
	unsigned depth; /* of types being parsed */
	struct ct_tsdl_stack fields, labels, path;
	struct ct_tsdl_stack streams, events;
	const struct ct_tsdl_clock *clock;
	unsigned clock_count;
	bool has_events;   /* the first has begun */
	size_t next_event; /* where a line begins the next event; 0: not searched yet */
	ct_tsdl_diagnose *diagnose;
	void *user;
};
/* zeroed; NULL on failure, which sets has_failed */
void *ct_tsdl_take(struct ct_tsdl_parser *parser, size_t size);
/* NULL on failure, which sets has_failed */
struct ct_tsdl_name *ct_tsdl_name(struct ct_tsdl_parser *parser, const char *text, size_t size);
bool ct_tsdl_push(struct ct_tsdl_parser *parser, struct ct_tsdl_stack *stack, const void *item,
		  size_t size);
/* Copies the items above `from` to the arena, and removes them from the stack. */
void *ct_tsdl_pop(struct ct_tsdl_parser *parser, struct ct_tsdl_stack *stack, size_t from,
		  size_t size);
void ct_tsdl_enter(struct ct_tsdl_parser *parser);
/* leaves braces until this level is the innermost */
void ct_tsdl_leave(struct ct_tsdl_parser *parser, unsigned level);
bool ct_tsdl_declare(struct ct_tsdl_parser *parser, enum ct_tsdl_space space,
		     struct ct_tsdl_name *name, const struct ct_tsdl_type *type);
/* returns NULL when the name is not declared */
const struct ct_tsdl_type *ct_tsdl_declared(const struct ct_tsdl_name *name,
					    enum ct_tsdl_space space);
/* Reports a diagnostic at the present token, if it is the first.  Always returns false. */
bool ct_tsdl_fail(struct ct_tsdl_parser *parser, const char *expected, const char *format, ...)
	CT_PRINTF(3, 4);
/* moves on if this is the present token */
bool ct_tsdl_accept(struct ct_tsdl_parser *parser, const char *word_or_sign);
/* the same, with a diagnostic if not */
bool ct_tsdl_expect(struct ct_tsdl_parser *parser, const char *word_or_sign);

/* ---- tsdl_value.c: `name = value` */
struct ct_tsdl_setting {
	char name[64]; /* with its dots; cut if longer, because no known name is */
	bool is_number, is_string;
	bool is_negative;
	uint64_t number;                 /* two's complement when negative */
	const struct ct_tsdl_name *text; /* a word, with its dots, or a string */
};
bool ct_tsdl_setting_name(struct ct_tsdl_parser *parser, char out[64]);
bool ct_tsdl_setting_value(struct ct_tsdl_parser *parser, struct ct_tsdl_setting *setting);
/* { name = value; ... }: calls `set` for each. */
typedef bool ct_tsdl_set(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
			 void *user);
bool ct_tsdl_settings(struct ct_tsdl_parser *parser, ct_tsdl_set *set, void *user);
bool ct_tsdl_setting_order(struct ct_tsdl_parser *parser, const struct ct_tsdl_setting *setting,
			   uint8_t *out_order);
/* with its sign */
bool ct_tsdl_number(struct ct_tsdl_parser *parser, bool *out_negative, uint64_t *out_number);

/* ---- tsdl_types.c */
/* Parses a type, before a name (has_name) or alone. */
const struct ct_tsdl_type *ct_tsdl_type(struct ct_tsdl_parser *parser, bool has_name);
bool ct_tsdl_declaration(struct ct_tsdl_parser *parser); /* parses one of them, to its semicolon */
/* For the kinds of types: */
/* NULL: has_failed */
struct ct_tsdl_type *ct_tsdl_type_new(struct ct_tsdl_parser *parser, enum ct_tsdl_kind kind);
/* Checks for a power of two, and reports a diagnostic if not. */
bool ct_tsdl_type_align(struct ct_tsdl_parser *parser, bool is_number, uint64_t align,
			uint32_t *out_align);
/* Parses the name behind `struct`, `variant` or `enum`; NULL when there is none.  Returns false
 * without memory. */
bool ct_tsdl_type_name(struct ct_tsdl_parser *parser, struct ct_tsdl_name **out_name);
/* Returns the type of this name, or reports a diagnostic. */
const struct ct_tsdl_type *ct_tsdl_type_named(struct ct_tsdl_parser *parser,
					      enum ct_tsdl_space space,
					      const struct ct_tsdl_name *name);
/* Declares a type under its name, if it has one. */
bool ct_tsdl_type_declare(struct ct_tsdl_parser *parser, enum ct_tsdl_space space,
			  struct ct_tsdl_name *name, const struct ct_tsdl_type *type);

/* ---- tsdl_scalar.c: parse the part behind the word; NULL on failure, which sets has_failed */
const struct ct_tsdl_type *ct_tsdl_integer(struct ct_tsdl_parser *parser);
const struct ct_tsdl_type *ct_tsdl_float(struct ct_tsdl_parser *parser);
const struct ct_tsdl_type *ct_tsdl_string(struct ct_tsdl_parser *parser);
const struct ct_tsdl_type *ct_tsdl_enum(struct ct_tsdl_parser *parser);

#endif
