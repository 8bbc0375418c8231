/*
 * lib/control/parmlib.h - the interface between the files that read a member of CTRACE_PARMLIB.
 * Each calls only those below it:
 *
 *     parmlib.c         the grammar: keywords, traces, and the next clause after an error
 *     parmlib_values.c  the text in a keyword's parentheses
 *     base/scan.h       words, quotations and parentheses; the diagnostics
 *
 * Printing a member (parmlib_print.c) and finding one (parmlib_file.c) need none of this.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_PARMLIB_H
#define CT_CONTROL_PARMLIB_H

#include "base/scan.h"
#include "lib/control/control.h"

/* What is being parsed: parser->out. */
static inline struct ct_parmlib *ct_parser_member(const struct ct_parser *parser)
{
	return parser->out;
}

/* The trace that is being parsed; it exists from its first clause on. */
static inline struct ct_trace_request *ct_parser_trace(const struct ct_parser *parser)
{
	return &ct_parser_member(parser)->requests[ct_parser_member(parser)->count - 1];
}

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
/* reason: trace_name.c's, of the value; 0: valid. */
void ct_diagnose_value(struct ct_parser *parser, struct ct_span value, uint32_t reason);

#endif
