/*
 * base/scan.h - reads text that people write as keywords: KEY, KEY(value), KEY=(a, b), 'any text'.
 *
 * Blanks, words, quotations and parentheses; lines and columns; diagnostics; tables of keywords.
 * The grammars are elsewhere: members in lib/control/, the operator's lines in operator/, IPCS's
 * subcommands in print/ipcs/.
 *
 * The text may be any bytes and need not be terminated: a NUL is a character of a word, and nothing
 * is read past the end.  Pure; any thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_SCAN_H
#define CT_BASE_SCAN_H

#include "base/base.h"

/* One reading of one text. */
struct ct_parser {
	const char *at; /* the rest of the text */
	const char *end;
	const char *whole; /* name of the text in a diagnostic: "the member" */
	/* lines are counted up to here; positions are asked for in the order of the text */
	const char *placed;
	const char *line_start;
	unsigned line;     /* 0: the text is one line, and lines are not counted */
	uint32_t usual;    /* code of a diagnostic that brings none of its own */
	bool has_failed;   /* there was a diagnostic */
	uint32_t code;     /* the first one's */
	ct_diagnose *take; /* called for each diagnostic; or NULL */
	void *user;
	struct ct_diagnostic *first; /* the first diagnostic is stored there; or NULL */
	void *out;                   /* what the text says; the grammar's */
};
void ct_parser_start(struct ct_parser *parser, const char *text, size_t size, const char *whole);

/* ---- words */
#define CT_BLANKS " \t\n\v\f\r"
void ct_parser_blanks(struct ct_parser *parser);
bool ct_parser_is_at(const struct ct_parser *parser, char c);
bool ct_parser_accept(struct ct_parser *parser,
		      char c); /* skips blanks; false: c does not follow */
bool ct_parser_accept_word(struct ct_parser *parser, const char *word);
/* up to one of the marks */
struct ct_span ct_parser_until(struct ct_parser *parser, const char *marks);
/* up to a blank or one of ( ) , = '; empty when one of them follows */
struct ct_span ct_parser_word(struct ct_parser *parser);
struct ct_span ct_parser_value(struct ct_parser *parser); /* up to a blank or one of ( ) , */
/* Skips a quotation from its opening mark past the closing one; two marks inside stand for one. The
 * closing mark must be on the same line, so that a missing one affects only its line: false, and
 * the parser is at the line's end. */
bool ct_parser_skip_quotation(struct ct_parser *parser);
/* The same, and reports a missing mark. */
bool ct_parser_quotation(struct ct_parser *parser);
/* Reads up to one of the marks outside of quotations and parentheses, of which at most `most` are
 * open at once.  Returns false when one is not closed, which is reported. */
bool ct_parser_nested(struct ct_parser *parser, const char *marks, unsigned most,
		      struct ct_span *out) CT_MUST_USE;
/* Behind an opening parenthesis: reads up to the one that closes it, and moves behind that. Without
 * one the parser stays. */
bool ct_parser_group(struct ct_parser *parser, unsigned most, struct ct_span *out) CT_MUST_USE;
/* Overwrites comments outside of quotations with blanks, so that positions stay the same.  Returns
 * a comment that has no end, or NULL. */
const char *ct_comments_blank(char *text, const char *end);

/* ---- diagnostics */
void ct_parser_place(struct ct_parser *parser, const char *at, unsigned *out_line,
		     unsigned *out_column);
/* Reports it at its word, or else at its position. */
void ct_parser_diagnose(struct ct_parser *parser, const struct ct_finding *finding);
/* `"word" what` */
void ct_parser_diagnose_word(struct ct_parser *parser, struct ct_span word, const char *what,
			     const char *expected);
void ct_parser_diagnose_at(struct ct_parser *parser, const char *at, const char *what,
			   const char *expected);
/* about the text at the parser's position */
void ct_parser_diagnose_found(struct ct_parser *parser, const char *expected);
/* with the texts already filled in; adds line and column */
void ct_parser_diagnose_filled(struct ct_parser *parser, const char *at,
			       struct ct_diagnostic *diagnostic);

/* ---- keywords in a table: an array of words, or of structs whose first member is the word */
struct ct_keywords {
	const void *rows;
	size_t row_size;
	size_t count;
};
#define CT_KEYWORDS(TABLE) ((struct ct_keywords){ TABLE, sizeof(TABLE)[0], CT_COUNT(TABLE) })
/* Returns the row of the word, in any case, or NULL. */
const void *ct_keywords_find(struct ct_keywords words, struct ct_span word);
/* Returns the word that was probably meant, or NULL (ct_suggest()). */
const char *ct_keywords_suggest(struct ct_keywords words, struct ct_span word);

#endif
