/*
 * parmlib_diagnose.c - the diagnostics of a member, with their positions.
 *
 * The grammar calls it, on the thread that reads the member.  A diagnostic changes only the reason
 * of the first error; parsing goes on.  No byte of the member that could do harm where the
 * diagnostic is printed gets into it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/parmlib.h"

#include <stdio.h>

void ct_diagnose_filled(struct ct_parser *parser, uint32_t reason, const char *at,
			struct ct_diagnostic *diagnostic)
{
	if (parser->reason == 0)
		parser->reason = reason;
	if (parser->diagnose == NULL)
		return;
	ct_scan_place(parser, at, &diagnostic->line, &diagnostic->column);
	parser->diagnose(reason, diagnostic, parser->user);
}

void ct_diagnose_place(struct ct_parser *parser, uint32_t reason, const char *at, const char *what,
		       const char *expected)
{
	struct ct_diagnostic diagnostic;

	(void)snprintf(diagnostic.message, sizeof diagnostic.message, "%s", what);
	(void)snprintf(diagnostic.expected, sizeof diagnostic.expected, "%s", expected);
	ct_diagnose_filled(parser, reason, at, &diagnostic);
}

void ct_diagnose(struct ct_parser *parser, const struct ct_diagnostic_parts *diagnostic)
{
	struct ct_span word = diagnostic->word;
	struct ct_buf message;

	ct_buf_init(&message);
	ct_span_quote(&message, word, CT_WORD_SHOWN);
	ct_buf_add_format(&message, " %s", diagnostic->what);
	if (diagnostic->suggestion != NULL)
		ct_buf_add_format(&message, " (did you mean %s?)", diagnostic->suggestion);
	ct_diagnose_place(parser, diagnostic->reason, word.at, ct_buf_text(&message),
			  diagnostic->expected);
	ct_buf_fini(&message);
}

void ct_diagnose_word(struct ct_parser *parser, uint32_t reason, struct ct_span word,
		      const char *what, const char *expected)
{
	ct_diagnose(parser,
		    &(struct ct_diagnostic_parts){
			    .reason = reason, .word = word, .what = what, .expected = expected });
}

void ct_diagnose_syntax(struct ct_parser *parser, struct ct_span word, const char *what,
			const char *expected)
{
	ct_diagnose_word(parser, CTRACE_RSN_MEMBER_SYNTAX, word, what, expected);
}

void ct_diagnose_found(struct ct_parser *parser, const char *expected)
{
	struct ct_span word = ct_scan_word(parser);
	char what[40];

	parser->at = word.at;
	if (parser->at == parser->end) {
		(void)snprintf(what, sizeof what, "%s ends here",
			       parser->whole != NULL ? parser->whole : "the member");
		ct_diagnose_place(parser, CTRACE_RSN_MEMBER_SYNTAX, parser->end, what, expected);
		return;
	}
	if (word.size == 0) /* a single mark */
		word.size = 1;
	ct_diagnose_syntax(parser, word, "is not expected here", expected);
}

void ct_diagnose_value(struct ct_parser *parser, struct ct_span value, uint32_t reason)
{
	struct ct_diagnostic diagnostic;

	if (reason == 0)
		return;
	ct_trace_diagnose(reason, value, &diagnostic);
	ct_diagnose_filled(parser, reason, value.at, &diagnostic);
}
