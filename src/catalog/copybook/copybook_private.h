/*
 * catalog/copybook/copybook_private.h - shared by the pieces of the copybook reader: from lines to
 * tokens to entries to a layout.
 *
 *     copybook_scan.c     words and literals of each line             text -> tokens
 *         copybook_format.c           fixed or free, and what is in which column
 *         copybook_copy.c             COPY: another file's tokens
 *     copybook_replace.c  COPY ... REPLACING, REPLACE                 tokens -> tokens
 *     copybook_word.c     words, literals and periods                 tokens -> words
 *     copybook_entry.c    levels and names; the rest is in:           words -> items
 *         copybook_cursor.c           the next word, and the report when it is wrong
 *         copybook_program.c          divisions and paragraphs around data
 *         copybook_constant.c         levels 78, with copybook_sum.c for arithmetic
 *         copybook_clause.c           clauses, with copybook_usage.c for USAGE
 *         copybook_condition_entry.c  levels 88, with copybook_literal.c for values
 *         copybook_tree.c             parents and children
 *         copybook_type.c             TYPEDEF
 *     copybook_picture.c    pictures                                  a word -> class, size, digits
 *     copybook_layout.c     sizes, positions, DEPENDING ON            items -> their positions
 *     copybook_number.c     numbers                                   bytes -> digits -> text
 *     copybook_condition.c  levels 88                                 a value -> names that hold
 *     copybook_decode.c     a record, field by field                  bytes -> fields
 *
 * copybook.c calls them in that order, on the thread that reads the catalogue; all of them use
 * copybook_token.c.  Besides these files, catalog_record.c includes this.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_COPYBOOK_COPYBOOK_PRIVATE_H
#define CT_CATALOG_COPYBOOK_COPYBOOK_PRIVATE_H

#include "catalog/copybook/copybook.h"

#define CT_COPY_DEPTH 16u                         /* of COPY in COPY */
#define CT_COPY_FILES 1024u                       /* counting each copy */
#define CT_COPYBOOK_TOKENS ((size_t)1 << 19)      /* made, including replaced ones */
#define CT_COPYBOOK_COMPARISONS ((size_t)1 << 25) /* of tokens, while replacing */
/* for texts, including replaced ones */
#define CT_COPYBOOK_MEMORY ((size_t)32 << 20)
#define CT_RECORD_LIMIT ((uint64_t)1 << 28) /* bytes; GnuCOBOL has the same */
#define CT_NUMBER_DIGITS 38u
#define CT_NO_ITEM UINT32_MAX
#define CT_CONSTANT_HEADS 1024u
#define CT_USAGE_WORDS 64u /* room for all */

/* ---- input */
enum ct_token_kind {
	/* letters, digits, - and _ (of a scan); any run without blanks (of words) */
	CT_TOKEN_WORD,
	CT_TOKEN_OTHER,   /* one other character; not among words */
	CT_TOKEN_LITERAL, /* without its quotes; doubled ones are single */
	CT_TOKEN_PERIOD,  /* that ends an entry; only among words */
	CT_TOKEN_END      /* after the last word */
};
struct ct_token {
	const char *at;
	uint32_t size;
	uint32_t line;
	uint16_t column;
	uint16_t file;
	uint8_t kind;
	uint8_t prefix; /* of a literal: X H N Z B, or 0 */
	bool is_spaced; /* a blank or a line end is before it */
};
struct ct_tokens {
	struct ct_token *at;
	size_t count, capacity;
};

/* The state of reading one copybook. */
struct ct_scan {
	const struct ct_copybook_options *options;
	/* texts of the copybook and its files, which live as long as the copybook */
	struct ct_arena *arena;
	struct ct_diagnostic *diagnostic;
	struct ct_buf *diagnostic_path;
	const char *files[CT_COPY_FILES]; /* paths */
	uint32_t file_count;
	uint32_t open[CT_COPY_DEPTH + 1]; /* the files being copied */
	uint32_t depth;
	size_t bytes, tokens, comparisons, made; /* against the limits */
	char currency;                           /* besides $; or 0 */
};
/* ---- copybook_token.c */
void ct_scan_diagnose(struct ct_scan *scan, const struct ct_token *place, const char *expected,
		      const char *format, ...) CT_PRINTF(4, 5);
/* compares a word, ignoring case */
bool ct_token_is(const struct ct_token *token, const char *word);
/* Returns zeroed memory of the copybook; NULL without memory, or above the limit of a copybook. */
void *ct_scan_take(struct ct_scan *scan, size_t size);
/* A terminated copy, likewise. */
char *ct_scan_text(struct ct_scan *scan, const char *text, size_t size);
enum ctrace_status ct_tokens_add(struct ct_scan *scan, struct ct_tokens *tokens,
				 const struct ct_token *token) CT_MUST_USE;
void ct_tokens_fini(struct ct_tokens *tokens);

/* ---- copybook_scan.c: scans a file, which is open[depth], and the files that it copies. */
enum ctrace_status ct_scan_text_of(struct ct_scan *scan, uint32_t file, const char *text,
				   size_t size, struct ct_tokens *out) CT_MUST_USE;

/* ---- copybook_format.c: from and to delimit a line: its first byte, and the byte behind its
 * last. */
#define CT_MARK_COLUMN 7u   /* from 1 */
#define CT_RIGHT_COLUMN 72u /* last of the text */
struct ct_format {
	bool is_fixed, has_right_margin;
};
struct ct_format ct_format_find(const char *text, const char *end); /* of a whole file */
/* Returns the byte in a column; the end of a shorter line. */
const char *ct_format_column(const char *from, const char *to, unsigned column);
const char *ct_format_line_end(const char *from, const char *end);
const char *ct_format_skip_blanks(const char *from, const char *to);
const char *ct_format_trim(const char *from, const char *to);
/* $SET and >>SOURCE, in any column */
bool ct_format_is_directive(const char *first, const char *to);
/* Executes the directive, which begins with $ or >>. */
enum ctrace_status ct_format_direct(struct ct_scan *scan, struct ct_format *format,
				    const struct ct_token *place, const char *from,
				    const char *to) CT_MUST_USE;

/* ---- copybook_copy.c: replaces each COPY by the tokens of its file. */
enum ctrace_status ct_copy_expand(struct ct_scan *scan, const struct ct_tokens *own,
				  struct ct_tokens *out) CT_MUST_USE;

/* ---- copybook_replace.c */
struct ct_replacement {
	struct ct_tokens from, to;
	enum { CT_REPLACE_WHOLE, CT_REPLACE_LEADING, CT_REPLACE_TRAILING } part;
};
struct ct_replacements {
	struct ct_replacement *at;
	size_t count, capacity;
};
/* Parses pairs of `from BY to` from *at to behind the period. */
enum ctrace_status ct_replacements_parse(struct ct_scan *scan, const struct ct_tokens *tokens,
					 size_t *at, struct ct_replacements *out) CT_MUST_USE;
void ct_replacements_fini(struct ct_replacements *replacements);
enum ctrace_status ct_replace(struct ct_scan *scan, const struct ct_tokens *tokens,
			      const struct ct_replacements *replacements,
			      struct ct_tokens *out) CT_MUST_USE;
/* Executes the REPLACE statements in the tokens. */
enum ctrace_status ct_replace_statements(struct ct_scan *scan, const struct ct_tokens *tokens,
					 struct ct_tokens *out) CT_MUST_USE;
/* Returns the index behind the closing == of a pseudo-text that opens at `at`; 0: it opens none, or
 * is not closed. */
size_t ct_pseudo_text_end(const struct ct_tokens *tokens, size_t at);
/* Returns the index behind the tokens without blanks between them. */
size_t ct_run_end(const struct ct_tokens *tokens, size_t at);

/* ---- copybook_word.c: the last one is CT_TOKEN_END. */
enum ctrace_status ct_words_make(struct ct_scan *scan, const struct ct_tokens *tokens,
				 struct ct_tokens *out) CT_MUST_USE;

/* ---- output */
enum ct_usage {
	CT_USAGE_NONE, /* inherited from its group */
	CT_USAGE_DISPLAY,
	CT_USAGE_BINARY, /* COMP */
	CT_USAGE_NATIVE, /* COMP-5 */
	CT_USAGE_COMP_X,
	CT_USAGE_PACKED,          /* COMP-3 */
	CT_USAGE_PACKED_UNSIGNED, /* COMP-6 */
	CT_USAGE_FLOAT,
	CT_USAGE_DOUBLE,
	CT_USAGE_INDEX,
	CT_USAGE_POINTER,
	CT_USAGE_INTEGER /* BINARY-CHAR to BINARY-DOUBLE: the usage has size and sign */
};
enum ct_class {
	CT_CLASS_NONE, /* no picture */
	CT_CLASS_TEXT,
	CT_CLASS_EDITED,
	CT_CLASS_NUMERIC
};
struct ct_picture {
	enum ct_class class;
	uint32_t size;  /* characters */
	uint8_t digits; /* of a number: how many 9 */
	uint8_t shown;  /* and P */
	/* digits behind the point; negative: omitted zeros before it */
	int16_t scale;
	bool is_signed;
};
enum { CT_SIGN_NONE, CT_SIGN_TRAILING, CT_SIGN_LEADING };

struct ct_literal {
	enum {
		CT_LITERAL_NUMBER,
		CT_LITERAL_TEXT,
		CT_LITERAL_BYTES,     /* X"..": not to be translated */
		CT_LITERAL_FILL,      /* ZERO, SPACE, ALL "..": its text is repeated */
		CT_LITERAL_FILL_BYTES /* HIGH-VALUES, LOW-VALUES: likewise, not to be translated */
	} kind;
	const char *text;
	uint32_t size;
	bool is_zero; /* ZERO is a number too */
};
/* low THRU high, which may be the same. */
struct ct_range {
	struct ct_literal low, high;
	__int128 low_number, high_number; /* at the scale of the item, rounded up and down */
	double low_double, high_double;
	bool is_number;
};
struct ct_condition {
	const char *name;
	uint32_t first_range, range_count;
};

struct ct_item {
	const char *name;
	const char *picture;
	uint32_t name_size, name_hash;
	uint32_t parent; /* CT_NO_ITEM: a record */
	uint32_t end;    /* past the last item in it */
	uint32_t offset; /* from the begin of its parent */
	uint32_t size;   /* of one */
	uint32_t occurs; /* at most; 0: it is no table */
	uint32_t occurs_least;
	uint32_t depends;   /* item with the number of occurrences; or CT_NO_ITEM */
	uint32_t redefines; /* CT_NO_ITEM */
	uint32_t slot;      /* slot of its value, if tables depend on it; or CT_NO_ITEM */
	uint32_t first_condition, condition_count;
	struct ct_picture form;
	struct ct_token place;
	struct ct_token depends_name, depends_of; /* size 0: none */
	uint8_t level, usage, sign, depth;
	uint8_t integer_size; /* of CT_USAGE_INTEGER */
	bool is_sign_separate, is_filler, is_synchronized, is_blank_when_zero, is_type,
		is_depending;
};

struct ct_copybook {
	struct ct_arena arena;
	enum ct_encoding encoding;
	enum ct_dialect dialect;
	bool is_sliding; /* the fields behind a table follow its last occurrence */
	struct ct_item *items;
	uint32_t item_count, item_capacity;
	struct ct_condition *conditions;
	uint32_t condition_count, condition_capacity;
	struct ct_range *ranges;
	uint32_t range_count, range_capacity;
	uint32_t record; /* the item that is decoded */
	uint32_t slot_count;
	struct ct_decoding *decoding; /* state of decoding one record */
};

/* ---- copybook_picture.c */
typedef bool ct_constant_find(void *user, const char *name, size_t size, int64_t *out_value);
struct ct_picture_context {
	ct_constant_find *find; /* X(NAME); or NULL */
	void *user;
	char currency;
};
struct ct_picture_error {
	size_t at; /* in the text */
	const char *message, *expected;
};
bool ct_picture_parse(const char *text, size_t size, const struct ct_picture_context *context,
		      struct ct_picture *out, struct ct_picture_error *out_error);

/* ---- copybook_entry.c */
enum ctrace_status ct_entries_parse(struct ct_scan *scan, const struct ct_tokens *words,
				    struct ct_copybook *copybook) CT_MUST_USE;

/* Shared by the pieces of the entry parser: the position, and the results so far. */
struct ct_constant {
	struct ct_token name;
	uint32_t hash;
	uint32_t next; /* index plus one of the next constant with these hash bits; 0: none */
	bool is_known, is_number;
	int64_t number;
	struct ct_literal literal;
};
struct ct_constants {
	struct ct_constant *at;
	uint32_t count, capacity;
	uint32_t heads[CT_CONSTANT_HEADS]; /* of chains, as in next */
};
struct ct_entry_parser {
	struct ct_scan *scan;
	const struct ct_tokens *words;
	size_t at;
	struct ct_copybook *copybook;
	struct ct_constants constants;
	uint32_t open[CT_COPYBOOK_DEPTH + 2]; /* items that may be the parent of the next one */
	uint32_t open_count;
	bool is_before_data;             /* in the divisions of a program before its data */
	struct ct_token type, redefines; /* of the current entry; size 0: none */
};

/* ---- copybook_cursor.c */
const struct ct_token *ct_entry_peek(const struct ct_entry_parser *parser);
const struct ct_token *ct_entry_next(struct ct_entry_parser *parser);
/* skips the word if it is next */
bool ct_entry_accept(struct ct_entry_parser *parser, const char *word);
/* skips at most one */
void ct_entry_accept_any(struct ct_entry_parser *parser, const char *const *words, size_t count);
/* past the next period */
void ct_entry_skip(struct ct_entry_parser *parser);
/* Reports an error and returns CTRACE_SYNTAX_ERROR. what: a sentence, with at most one %s for the
 * word at `place`. */
enum ctrace_status ct_entry_fail(struct ct_entry_parser *parser, const struct ct_token *place,
				 const char *expected, const char *what) CT_MUST_USE;

/* ---- copybook_sum.c: returns false when it is no number of 64 bits. */
bool ct_integer_parse(const char *text, size_t size, int64_t *out); /* digits only */
bool ct_sum_calculate(const char *text, size_t size, ct_constant_find *find, void *user,
		      int64_t *out);

/* ---- copybook_constant.c */
/* or NULL */
const struct ct_constant *ct_constants_find(const struct ct_constants *constants, const char *name,
					    size_t size);
/* a ct_constant_find */
bool ct_constants_number(void *constants, const char *name, size_t size, int64_t *out_value);
void ct_constants_fini(struct ct_constants *constants);
/* Reads the value of this name, up to but not including the period. */
enum ctrace_status ct_constants_take(struct ct_entry_parser *parser,
				     const struct ct_token *name) CT_MUST_USE;
/* Reads a number or the name of one, at most CT_RECORD_LIMIT. */
enum ctrace_status ct_constants_integer(struct ct_entry_parser *parser, const char *expected,
					uint32_t *out) CT_MUST_USE;

/* ---- copybook_literal.c */
bool ct_literal_is_number(const struct ct_token *word);
/* returns false when there is none */
bool ct_literal_take_figurative(struct ct_entry_parser *parser, struct ct_literal *out);
enum ctrace_status ct_literal_take(struct ct_entry_parser *parser,
				   struct ct_literal *out) CT_MUST_USE;

/* ---- copybook_usage.c */
bool ct_usage_is(const struct ct_token *word);
/* returns false when the next word is none */
bool ct_usage_accept(struct ct_entry_parser *parser, struct ct_item *item);
/* behind USAGE */
enum ctrace_status ct_usage_clause(struct ct_entry_parser *parser,
				   struct ct_item *item) CT_MUST_USE;
/* returns their number; for suggestions */
size_t ct_usage_words(const char *out_words[CT_USAGE_WORDS]);

/* ---- copybook_clause.c */
bool ct_clause_is(const struct ct_token *word); /* a word that begins a clause is no name */
/* Reads all clauses, up to behind the period. */
enum ctrace_status ct_clauses_take(struct ct_entry_parser *parser,
				   struct ct_item *item) CT_MUST_USE;

/* ---- copybook_condition_entry.c: reads up to behind the period, for the last item in the tree. */
enum ctrace_status ct_condition_take(struct ct_entry_parser *parser,
				     const struct ct_token *name) CT_MUST_USE;

/* ---- copybook_tree.c */
enum ctrace_status ct_tree_reserve(struct ct_entry_parser *parser, uint32_t more,
				   const struct ct_token *place) CT_MUST_USE;
/* closes the items that cannot be parents of this level */
void ct_tree_close(struct ct_entry_parser *parser, uint8_t level);
/* adds it to the last open item */
enum ctrace_status ct_tree_add(struct ct_entry_parser *parser, struct ct_item *item) CT_MUST_USE;
/* Adds a record with the name of the file, for fields outside of any record. */
enum ctrace_status ct_tree_add_record(struct ct_entry_parser *parser,
				      const struct ct_token *place) CT_MUST_USE;
/* Finds what this item redefines: parser->redefines. */
enum ctrace_status ct_tree_redefine(struct ct_entry_parser *parser, uint32_t index) CT_MUST_USE;

/* ---- copybook_type.c */
/* returns the last of that name, or CT_NO_ITEM */
uint32_t ct_type_find(const struct ct_copybook *copybook, const struct ct_token *name);
/* Copies the attributes of parser->type to this item, the last one. */
enum ctrace_status ct_type_apply(struct ct_entry_parser *parser, uint32_t index) CT_MUST_USE;

/* ---- copybook_program.c: returns false when the word is not of a program. */
bool ct_program_skip(struct ct_entry_parser *parser);

/* ---- copybook_layout.c: positions, sizes, conditions and counters of a record. */
enum ctrace_status ct_layout_make(struct ct_scan *scan, struct ct_copybook *copybook,
				  uint32_t record) CT_MUST_USE;

/* ---- copybook_number.c */
struct ct_digits {
	char at[40]; /* '0' to '9' */
	uint8_t count;
	bool is_negative;
};
#define CT_NUMBER_TEXT 96u
bool ct_item_is_number(const struct ct_item *item); /* with digits: not a float */
/* Returns false when the item->size bytes are no such number. */
bool ct_digits_decode(const struct ct_copybook *copybook, const struct ct_item *item,
		      const uint8_t *bytes, struct ct_digits *out);
/* as DISPLAY does */
size_t ct_digits_print(const struct ct_item *item, const struct ct_digits *digits, char *out);
size_t ct_digits_print_json(const struct ct_item *item, const struct ct_digits *digits, char *out);
__int128 ct_digits_value(const struct ct_digits *digits); /* without its scale */
double ct_float_value(const struct ct_item *item, const uint8_t *bytes);
size_t ct_float_print(const struct ct_item *item, const uint8_t *bytes, char *out);
uint64_t ct_pointer_value(const struct ct_copybook *copybook, const struct ct_item *item,
			  const uint8_t *bytes);

/* ---- copybook_condition.c */
enum ctrace_status ct_condition_prepare(struct ct_scan *scan, struct ct_copybook *copybook,
					struct ct_item *item) CT_MUST_USE;
/* number: the bytes as a number, or NULL if they are none. */
bool ct_condition_holds(const struct ct_copybook *copybook, const struct ct_item *item,
			const struct ct_condition *condition, const uint8_t *bytes, size_t size,
			const struct ct_digits *number);

/* ---- copybook_decode.c */
enum ctrace_status ct_decoding_create(struct ct_copybook *copybook) CT_MUST_USE;
void ct_decoding_destroy(struct ct_decoding *decoding);

#endif
