/*
 * lib/control/parmlib.h - what the files that read a member of CTRACE_PARMLIB share.  Each calls
 * only those below it:
 *
 *     parmlib.c           the grammar: keywords, traces, and where reading goes on after an error
 *     parmlib_values.c    what stands in a keyword's parentheses
 *     parmlib_diagnose.c  what is wrong, in words
 *     parmlib_scan.c      blanks, comments, words, quotations; lines and columns
 *
 * Printing a member (parmlib_print.c) and finding one (parmlib_file.c) need none of this.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_PARMLIB_H
#define CT_CONTROL_PARMLIB_H

#include "lib/control/control.h"

/* One reading of one member. */
struct ct_parser {
	const char *at; /* what is to be read next */
	const char *end;
	const char *whole;        /* what the text is, for a diagnostic; NULL: "the member" */
	const char *open_comment; /* one without an end, and then the text ends there; or NULL */
	/* so far lines are counted; places are asked for in the order of the text */
	const char *placed;
	const char *line_start;
	unsigned line;
	uint32_t reason; /* the first error's; 0: none yet */
	ct_parmlib_diagnose *diagnose;
	void *user;
	struct ct_parmlib *out;
};

/* The trace that is being read; there is one from its first clause on. */
static inline struct ct_trace_request *ct_parser_trace(const struct ct_parser *parser)
{
	return &parser->out->requests[parser->out->count - 1];
}

/* ---- parmlib_scan.c */
/* comments in the text become blanks */
void ct_scan_start(struct ct_parser *parser, char *text, const char *end);
void ct_scan_place(struct ct_parser *parser, const char *at, unsigned *out_line,
		   unsigned *out_column);
void ct_scan_blanks(struct ct_parser *parser);
bool ct_scan_is_at(const struct ct_parser *parser, char c);
bool ct_scan_accept(struct ct_parser *parser, char c); /* behind blanks; false: it is not there */
bool ct_scan_accept_word(struct ct_parser *parser, const char *word);
/* up to a blank or one of ( ) , = '; empty when one stands there */
struct ct_span ct_scan_word(struct ct_parser *parser);
struct ct_span ct_scan_value(struct ct_parser *parser); /* up to a blank or one of ( ) , */
/* The parser stands at a quotation mark, and then behind the one that closes it.  That is on the
 * same line, so that a forgotten one costs only its line: false, and the parser stands at the
 * line's end. */
bool ct_scan_quotation(struct ct_parser *parser);

/* ---- parmlib_diagnose.c */
struct ct_diagnostic_parts {
	uint32_t reason;
	struct ct_span word; /* shown, also when it is empty */
	const char *what;
	const char *suggestion; /* or NULL */
	const char *expected;
};
/* `"word" what (did you mean suggestion?)` */
void ct_diagnose(struct ct_parser *parser, const struct ct_diagnostic_parts *diagnostic);
void ct_diagnose_word(struct ct_parser *parser, uint32_t reason, struct ct_span word,
		      const char *what, const char *expected);
/* reason 06 */
void ct_diagnose_syntax(struct ct_parser *parser, struct ct_span word, const char *what,
			const char *expected);
/* about what stands at the parser's place */
void ct_diagnose_found(struct ct_parser *parser, const char *expected);
void ct_diagnose_place(struct ct_parser *parser, uint32_t reason, const char *at, const char *what,
		       const char *expected);
/* The words are there already; line and column are filled in. */
void ct_diagnose_filled(struct ct_parser *parser, uint32_t reason, const char *at,
			struct ct_diagnostic *diagnostic);
/* reason: trace_name.c's, of the value; 0 is fine. */
void ct_diagnose_value(struct ct_parser *parser, struct ct_span value, uint32_t reason);

/* ---- parmlib_values.c: what stands behind the opening parenthesis.  False: neither what goes on
 * nor what closes it is at the parser's place, and that is reported about.  A value that is none is
 * reported about, and read. */
bool ct_read_preset(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_sub(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_asid(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_jobname(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_bufsize(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_options(struct ct_parser *parser) CT_MUST_USE;
/* one of them: also where there are no parentheses */
bool ct_read_option(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_wtr(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_wtrstart(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_wtrstop(struct ct_parser *parser) CT_MUST_USE;
/* One value, checked and kept. */
void ct_take_asid(struct ct_parser *parser, struct ct_span value);
void ct_take_jobname(struct ct_parser *parser, struct ct_span value);
void ct_take_wtr(struct ct_parser *parser, struct ct_span value);

#endif
