/*
 * read/filter/filter_program.h - shared by the files of the filter language: the program that an
 * expression becomes.
 *
 *     filter_scan.c     the text: words, marks, literals and diagnostics
 *     filter_parse.c    the grammar: from the text to the program
 *     filter_value.c    the values of a comparison, by the type of the field
 *     filter_decimal.c  decimal numbers of any size, exactly
 *     filter.c          runs it, on an event or on all events of a class
 *     filter_item.c     the items of an event against a test
 *
 * A program is a row of tests.  Each names the next test for when it holds and for when it does
 * not.  The next test is always further on, so a run ends, and needs neither a stack nor memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_FILTER_FILTER_PROGRAM_H
#define CT_READ_FILTER_FILTER_PROGRAM_H

#include "read/filter/filter.h"

#define CT_FILTER_LENGTH 65536u /* bytes of an expression */
#define CT_FILTER_DEPTH 64u     /* of parentheses and negations */

/* ---- filter_decimal.c: 0.DIGITS times ten to the exponent.  No digits: zero. */
#define CT_DECIMAL_DIGITS 40u /* more are cut off: COBOL has 38 */
struct ct_decimal {
	int32_t exponent;
	uint8_t count;
	bool is_negative;
	char digits[CT_DECIMAL_DIGITS]; /* neither begin nor end with a zero */
};
/* "-12.50", "1.5E+10", blanks around it; false when the text is no number. */
bool ct_decimal_parse(const char *text, size_t size, struct ct_decimal *out);
void ct_decimal_set(struct ct_decimal *out, uint64_t magnitude, bool is_negative);
int ct_decimal_compare(const struct ct_decimal *a, const struct ct_decimal *b); /* as memcmp() */

/* ---- the program */
__extension__ typedef __int128 ct_wide; /* signed and unsigned numbers of 64 bits */
#define CT_WIDE_END ((ct_wide)1 << 101) /* beyond all numbers */

enum ct_filter_field {
	CT_FILTER_COMPONENT,
	CT_FILTER_LEVEL,
	CT_FILTER_EVENT,
	CT_FILTER_MNEMONIC,
	CT_FILTER_TIME,
	CT_FILTER_THREAD,
	CT_FILTER_PROCESS,
	CT_FILTER_JOB,
	CT_FILTER_ASID,
	CT_FILTER_HOST,
	CT_FILTER_PROGRAM,
	CT_FILTER_SEQUENCE,
	CT_FILTER_SIZE,
	CT_FILTER_DURATION,
	CT_FILTER_DATA
};

/* Numbers from first to last inclusive; in a test sorted and disjoint. */
struct ct_filter_range {
	ct_wide first, last;
};
/* The same for decimal numbers. */
struct ct_filter_decimals {
	struct ct_decimal low, high;
	bool has_low, has_high;
	bool is_low_out, is_high_out; /* the bound itself is excluded */
};
/* A text, or a range of texts from low to high. */
struct ct_filter_text {
	struct ct_span low, high; /* terminated */
	bool is_one;              /* low only: a text or a pattern */
	bool has_low, has_high, is_low_out, is_high_out;
};

struct ct_filter_test {
	enum ct_filter_field field;
	bool is_glob;     /* the texts are patterns */
	bool is_there;    /* tests only whether it exists */
	bool is_inverted; /* none of the values, if there is something to compare */
	uint32_t next[2]; /* the next test when it does not hold, and when it does */
	uint32_t range_count, decimal_count, text_count;
	const struct ct_filter_range *ranges;
	const struct ct_filter_decimals *decimals; /* of CT_FILTER_DATA */
	const struct ct_filter_text *texts;
	/* CT_FILTER_DATA: which item */
	bool is_any;         /* any item */
	struct ct_span name; /* at NULL: the item at index */
	uint32_t index;      /* UINT32_MAX: the name is no number */
	uint32_t path_count; /* names of a record's field, outermost first */
	const struct ct_span *path;
};
#define CT_FILTER_ACCEPT 0xFFFFFFFEu
#define CT_FILTER_REJECT 0xFFFFFFFFu

/* Memory that is freed with the filter. */
struct ct_filter_block {
	struct ct_filter_block *next;
	_Alignas(16) unsigned char bytes[];
};
struct ct_filter {
	struct ct_filter_test *tests;
	uint32_t count;
	uint32_t capacity;
	unsigned uses; /* enum ct_filter_use */
	uint64_t since_ns, until_ns;
	struct ct_filter_block *blocks;
	struct ct_buf *scratch; /* for texts in other encodings: grows to the longest */
};
void *ct_filter_keep(struct ct_filter *filter, size_t size); /* NULL without memory */
/* computes the facts about the whole program: uses, times */
void ct_filter_finish(struct ct_filter *filter);

/* ---- filter_item.c */
bool ct_filter_items_match(const struct ct_filter *filter, const struct ct_filter_test *test,
			   const struct ct_read_event *event);
/* Returns true when no event of the class has such an item. */
bool ct_filter_item_is_unknown(const struct ct_filter_test *test,
			       const struct ct_read_event *event);
/* Used by both files: is the number one of the test's values? */
bool ct_filter_has_number(const struct ct_filter_test *test, ct_wide value);

/* ---- filter_scan.c */
struct ct_filter_scan {
	const char *text, *at, *end;
	struct ct_diagnostic *diagnostic;
	/* of the first error; later ones do not change it */
	enum ctrace_status status;
	struct ct_filter *filter; /* owns the texts of strings */
	struct ct_span open;      /* the innermost open parenthesis; at NULL: none */
	uint64_t now_ns;          /* for times like "-5m" */
};
enum ct_literal_kind {
	CT_LITERAL_NONE,
	CT_LITERAL_NUMBER,
	CT_LITERAL_DURATION,
	CT_LITERAL_STRING,
	CT_LITERAL_WORD
};
struct ct_literal {
	enum ct_literal_kind kind;
	struct ct_span span;       /* as written */
	struct ct_span text;       /* STRING: terminated; WORD */
	ct_wide floor, ceil;       /* NUMBER, DURATION (in ns): rounded down and up */
	struct ct_decimal decimal; /* NUMBER */
};
bool ct_filter_scan_start(struct ct_filter_scan *scan, const char *text, uint64_t now_ns,
			  struct ct_filter *filter, struct ct_diagnostic *diagnostic);
void ct_filter_scan_blanks(struct ct_filter_scan *scan);
/* Skips the mark, or the word (ignoring case), if it comes next. */
bool ct_filter_scan_mark(struct ct_filter_scan *scan, const char *mark);
bool ct_filter_scan_keyword(struct ct_filter_scan *scan, const char *word);
/* Scans letters, digits and _; empty when there are none. */
struct ct_span ct_filter_scan_word(struct ct_filter_scan *scan);
/* Scans the name of an item or a record's field: - @ # $ and other letters too. */
struct ct_span ct_filter_scan_name(struct ct_filter_scan *scan);
bool ct_filter_scan_literal(struct ct_filter_scan *scan, struct ct_literal *out);
/* Scans hexadecimal digits, with or without 0x. */
bool ct_filter_scan_hex(struct ct_filter_scan *scan, struct ct_literal *out);
/* The word is shown without its quotation marks; expected may be NULL.  All return false. */
bool ct_filter_diagnose(struct ct_filter_scan *scan, const struct ct_finding *finding);
bool ct_filter_diagnose_word(struct ct_filter_scan *scan, struct ct_span word, const char *what,
			     const char *expected);
/* Reports the next word or mark. */
bool ct_filter_diagnose_next(struct ct_filter_scan *scan, const char *expected);
bool ct_filter_no_memory(struct ct_filter_scan *scan);

/* ---- filter_value.c */
/* How a field is compared. */
enum ct_filter_type {
	CT_SUBJECT_NAME,
	CT_SUBJECT_LEVEL,
	CT_SUBJECT_NUMBER,
	CT_SUBJECT_ASID,
	CT_SUBJECT_TIME,
	CT_SUBJECT_DURATION,
	CT_SUBJECT_DATA
};
struct ct_filter_subject {
	const char *name;
	enum ct_filter_field field;
	enum ct_filter_type type;
	uint64_t limit; /* of a number */
};
enum ct_filter_relation {
	CT_IS_EQUAL,
	CT_IS_BELOW,
	CT_IS_AT_MOST,
	CT_IS_ABOVE,
	CT_IS_AT_LEAST,
	CT_IS_LIKE,
	CT_IS_IN
};
/* Reads the values for the comparison, a list after CT_IS_IN, and sets the test's ranges, decimals
 * and texts. */
bool ct_filter_read_values(struct ct_filter_scan *scan, const struct ct_filter_subject *subject,
			   enum ct_filter_relation relation, struct ct_filter_test *test);

#endif
