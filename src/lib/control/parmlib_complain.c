/*
 * parmlib_complain.c - what is wrong in a member, in words and with its place.
 *
 * Called by the grammar, on the thread that reads the member.  A complaint changes nothing but the reason of the first: reading goes
 * on.  Never passes on a byte of the member that could do harm where the complaint is printed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/parmlib.h"

#include <stdio.h>

void ct_complain_filled(struct ct_parser *parser, uint32_t reason, const char *at, struct ct_complaint *complaint)
{
	if (parser->reason == 0)
		parser->reason = reason;
	if (parser->complain == NULL)
		return;
	ct_scan_place(parser, at, &complaint->line, &complaint->column);
	parser->complain(reason, complaint, parser->user);
}

void ct_complain_place(struct ct_parser *parser, uint32_t reason, const char *at, const char *what, const char *expected)
{
	struct ct_complaint complaint;

	(void)snprintf(complaint.message, sizeof complaint.message, "%s", what);
	(void)snprintf(complaint.expected, sizeof complaint.expected, "%s", expected);
	ct_complain_filled(parser, reason, at, &complaint);
}

void ct_complain(struct ct_parser *parser, const struct ct_mistake *mistake)
{
	struct ct_span word = mistake->word;
	struct ct_buf message;

	ct_buf_init(&message);
	ct_span_quote(&message, word, CT_WORD_SHOWN);
	ct_buf_add_format(&message, " %s", mistake->what);
	if (mistake->suggestion != NULL)
		ct_buf_add_format(&message, " (did you mean %s?)", mistake->suggestion);
	ct_complain_place(parser, mistake->reason, word.at, ct_buf_text(&message), mistake->expected);
	ct_buf_fini(&message);
}

void ct_complain_word(struct ct_parser *parser, uint32_t reason, struct ct_span word, const char *what, const char *expected)
{
	ct_complain(parser, &(struct ct_mistake){ .reason = reason, .word = word, .what = what, .expected = expected });
}

void ct_complain_syntax(struct ct_parser *parser, struct ct_span word, const char *what, const char *expected)
{
	ct_complain_word(parser, CTRACE_RSN_MEMBER_SYNTAX, word, what, expected);
}

void ct_complain_found(struct ct_parser *parser, const char *expected)
{
	struct ct_span word = ct_scan_word(parser);
	char what[40];

	parser->at = word.at;
	if (parser->at == parser->end) {
		(void)snprintf(what, sizeof what, "%s ends here", parser->whole != NULL ? parser->whole : "the member");
		ct_complain_place(parser, CTRACE_RSN_MEMBER_SYNTAX, parser->end, what, expected);
		return;
	}
	if (word.size == 0) /* a mark */
		word.size = 1;
	ct_complain_syntax(parser, word, "is not expected here", expected);
}

void ct_complain_value(struct ct_parser *parser, struct ct_span value, uint32_t reason)
{
	struct ct_complaint complaint;

	if (reason == 0)
		return;
	ct_trace_complain(reason, value, &complaint);
	ct_complain_filled(parser, reason, value.at, &complaint);
}
