/*
 * lib/control/parmlib.h - the interface between the files that read a member of CTRACE_PARMLIB.
 * Each calls only those below it:
 *
 *     parmlib.c           the grammar: keywords, traces, and the next clause after an error
 *     parmlib_values.c    the text in a keyword's parentheses
 *     parmlib_diagnose.c  the diagnostics
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
	const char *at; /* the rest of the text */
	const char *end;
	const char *whole;        /* name of the text in a diagnostic; NULL: "the member" */
	const char *open_comment; /* a comment without an end, where the text then ends; or NULL */
	/* lines are counted up to here; positions are asked for in the order of the text */
	const char *placed;
	const char *line_start;
	unsigned line;
	uint32_t reason; /* the first error's; 0: none yet */
	ct_parmlib_diagnose *diagnose;
	void *user;
	struct ct_parmlib *out;
};

/* The trace that is being parsed; it exists from its first clause on. */
static inline struct ct_trace_request *ct_parser_trace(const struct ct_parser *parser)
{
	return &parser->out->requests[parser->out->count - 1];
}

/* ---- parmlib_scan.c */
/* replaces comments in the text by blanks */
void ct_scan_start(struct ct_parser *parser, char *text, const char *end);
void ct_scan_place(struct ct_parser *parser, const char *at, unsigned *out_line,
		   unsigned *out_column);
void ct_scan_blanks(struct ct_parser *parser);
bool ct_scan_is_at(const struct ct_parser *parser, char c);
bool ct_scan_accept(struct ct_parser *parser, char c); /* skips blanks; false: c does not follow */
bool ct_scan_accept_word(struct ct_parser *parser, const char *word);
/* up to a blank or one of ( ) , = '; empty when one of them follows */
struct ct_span ct_scan_word(struct ct_parser *parser);
struct ct_span ct_scan_value(struct ct_parser *parser); /* up to a blank or one of ( ) , */
/* Skips a quotation from its opening mark past the closing one.  The closing mark must be on the
 * same line, so that a missing one affects only its line: false, and the parser is at the line's
 * end. */
bool ct_scan_quotation(struct ct_parser *parser);

/* ---- parmlib_diagnose.c */
struct ct_diagnostic_parts {
	uint32_t reason;
	struct ct_span word; /* quoted in the message, also when it is empty */
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
/* about the text at the parser's position */
void ct_diagnose_found(struct ct_parser *parser, const char *expected);
void ct_diagnose_place(struct ct_parser *parser, uint32_t reason, const char *at, const char *what,
		       const char *expected);
/* With the texts already filled in; adds line and column. */
void ct_diagnose_filled(struct ct_parser *parser, uint32_t reason, const char *at,
			struct ct_diagnostic *diagnostic);
/* reason: trace_name.c's, of the value; 0: valid. */
void ct_diagnose_value(struct ct_parser *parser, struct ct_span value, uint32_t reason);

/* ---- parmlib_values.c: the text after the opening parenthesis.  False: neither a continuation
 * nor the closing parenthesis follows, which is reported.  An invalid value is reported and
 * skipped. */
bool ct_read_preset(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_sub(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_asid(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_jobname(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_bufsize(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_options(struct ct_parser *parser) CT_MUST_USE;
/* a single option: also without parentheses */
bool ct_read_option(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_wtr(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_wtrstart(struct ct_parser *parser) CT_MUST_USE;
bool ct_read_wtrstop(struct ct_parser *parser) CT_MUST_USE;
/* Check one value and store it. */
void ct_take_asid(struct ct_parser *parser, struct ct_span value);
void ct_take_jobname(struct ct_parser *parser, struct ct_span value);
void ct_take_wtr(struct ct_parser *parser, struct ct_span value);

#endif
