/*
 * catalog/copybook/copybook_private.h - shared by the pieces of the copybook reader: from lines to
 * tokens to entries to a layout.
 *
 *     copybook_scan.c       words and literals of each line        text -> tokens
 *     copybook_copy.c       COPY and REPLACE                       tokens -> tokens
 *     copybook_token.c      words, literals and periods            tokens -> words
 *     copybook_entry.c      levels, names, and the tree of items   words -> items
 *         copybook_clause.c     clauses, and the words of USAGE
 *         copybook_picture.c    pictures                           a word -> class, size, digits
 *         copybook_value.c      literals, and constants (78)
 *     copybook_layout.c     sizes, positions, DEPENDING ON         items -> their positions
 *     copybook_condition.c  levels 88                              a value -> names that hold
 *     copybook_number.c     numbers                                bytes -> digits -> text
 *     copybook_decode.c     a record, field by field               bytes -> fields
 *
 * copybook.c calls them in that order, on the thread that reads the catalogue; all of them use
 * copybook_token.c.  Besides these files, catalog_record.c includes this.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_COPYBOOK_COPYBOOK_PRIVATE_H
#define CT_CATALOG_COPYBOOK_COPYBOOK_PRIVATE_H

#include "base/hash_table.h"
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
/* Joins tokens to words; the last one is CT_TOKEN_END. */
enum ctrace_status ct_words_make(struct ct_scan *scan, const struct ct_tokens *tokens,
				 struct ct_tokens *out) CT_MUST_USE;

/* ---- copybook_scan.c: scans a file, which is open[depth], and the files that it copies. */
enum ctrace_status ct_scan_text_of(struct ct_scan *scan, uint32_t file, const char *text,
				   size_t size, struct ct_tokens *out) CT_MUST_USE;

/* ---- copybook_copy.c */
/* Replaces each COPY by the tokens of its file. */
enum ctrace_status ct_copy_expand(struct ct_scan *scan, const struct ct_tokens *own,
				  struct ct_tokens *out) CT_MUST_USE;
/* Executes the REPLACE statements in the tokens. */
enum ctrace_status ct_replace_statements(struct ct_scan *scan, const struct ct_tokens *tokens,
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
	ct_constant_find *find; /* X(NAME) */
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
	bool is_known, is_number;
	int64_t number;
	struct ct_literal literal;
};
struct ct_constants {
	struct ct_constant *at;
	struct ct_hash_table table; /* of them, by name */
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

/* ---- copybook_token.c: the next word, and the report when it is the wrong one. */
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

/* ---- copybook_value.c */
/* digits only; returns false when it is no number of 64 bits */
bool ct_integer_parse(const char *text, size_t size, int64_t *out);
enum ctrace_status ct_literal_take(struct ct_entry_parser *parser,
				   struct ct_literal *out) CT_MUST_USE;
/* a ct_constant_find */
bool ct_constants_number(void *constants, const char *name, size_t size, int64_t *out_value);
void ct_constants_fini(struct ct_constants *constants);
/* Reads the value of this name, up to but not including the period. */
enum ctrace_status ct_constants_take(struct ct_entry_parser *parser,
				     const struct ct_token *name) CT_MUST_USE;
/* Reads a number or the name of one, at most CT_RECORD_LIMIT. */
enum ctrace_status ct_constants_integer(struct ct_entry_parser *parser, const char *expected,
					uint32_t *out) CT_MUST_USE;

/* ---- copybook_clause.c */
bool ct_clause_is(const struct ct_token *word); /* a word that begins a clause is no name */
/* returns the last item of that name, or CT_NO_ITEM */
uint32_t ct_type_find(const struct ct_copybook *copybook, const struct ct_token *name);
/* Reads all clauses, up to behind the period. */
enum ctrace_status ct_clauses_take(struct ct_entry_parser *parser,
				   struct ct_item *item) CT_MUST_USE;

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
		      const uint8_t *bytes, bool is_big, struct ct_digits *out);
/* as DISPLAY does */
size_t ct_digits_print(const struct ct_item *item, const struct ct_digits *digits, char *out);
size_t ct_digits_print_json(const struct ct_item *item, const struct ct_digits *digits, char *out);
__int128 ct_digits_value(const struct ct_digits *digits); /* without its scale */
double ct_float_value(const struct ct_item *item, const uint8_t *bytes, bool is_big);
size_t ct_float_print(const struct ct_item *item, const uint8_t *bytes, bool is_big, char *out);
uint64_t ct_pointer_value(const struct ct_copybook *copybook, const struct ct_item *item,
			  const uint8_t *bytes, bool is_big);

/* ---- copybook_condition.c */
/* Reads up to behind the period, for the last item in the tree. */
enum ctrace_status ct_condition_take(struct ct_entry_parser *parser,
				     const struct ct_token *name) CT_MUST_USE;
enum ctrace_status ct_condition_prepare(struct ct_scan *scan, struct ct_copybook *copybook,
					struct ct_item *item) CT_MUST_USE;
/* number: the bytes as a number, or NULL if they are none. */
bool ct_condition_holds(const struct ct_copybook *copybook, const struct ct_item *item,
			const struct ct_condition *condition, struct ct_record_bytes bytes,
			const struct ct_digits *number);

/* ---- copybook_decode.c */
enum ctrace_status ct_decoding_create(struct ct_copybook *copybook) CT_MUST_USE;
void ct_decoding_destroy(struct ct_decoding *decoding);

#endif
