/*
 * operator.c - recognizes the commands of an operator.  operator_trace.c, operator_display.c and
 * operator_reply.c parse their operands.
 *
 * Called by the tool, on its thread, for each line that an operator typed.  The line may be any
 * bytes.  Parsing looks nothing up and changes nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_scan.h"

#include <string.h>

#define MOST_REPLY_DIGITS 4u

static const char commands_expected[] = "TRACE CT, DISPLAY TRACE, DISPLAY R or REPLY";

/* ---- REPLY ---- */

static void reply_id_take(struct ct_parser *parser, struct ct_span word,
			  struct ct_operator_command *out)
{
	uint32_t id = 0;
	size_t i = 0;

	for (; i < word.size && i < MOST_REPLY_DIGITS && word.at[i] >= '0' && word.at[i] <= '9';
	     i++)
		id = id * 10 + (uint32_t)(word.at[i] - '0');
	if (i < word.size)
		ct_parser_diagnose_word(parser, word, "is not the number of a reply", "0 to 9999");
	out->has_reply_id = true;
	out->reply_id = id;
}

/* Parses what follows REPLY; digits: the reply's number if it was joined to the verb (R01), or
 * none. */
static void reply_parse(struct ct_parser *parser, struct ct_operator_command *out,
			struct ct_span digits)
{
	out->kind = CT_OPERATOR_REPLY;
	ct_parser_blanks(parser);
	if (digits.size == 0 && parser->at < parser->end && *parser->at >= '0' &&
	    *parser->at <= '9')
		digits = ct_parser_word(parser);
	if (digits.size != 0)
		reply_id_take(parser, digits, out);
	(void)ct_parser_accept(parser, ',');
	ct_parser_blanks(parser);
	out->operands = ct_span_of(parser->at, parser->end);
}

/* Returns true for R01. */
static bool word_is_joined_reply(struct ct_span word)
{
	return word.size > 1 && (word.at[0] == 'R' || word.at[0] == 'r') && word.at[1] >= '0' &&
	       word.at[1] <= '9';
}

/* ---- commands ---- */

static void command_refuse(struct ct_parser *parser, struct ct_span word)
{
	static const char *const words[] = { "TRACE", "DISPLAY", "REPLY" };

	if (word.size == 0)
		ct_parser_diagnose_found(parser, commands_expected);
	else
		ct_parser_diagnose(
			parser,
			&(struct ct_finding){ .word = word,
					      .what = "is not a command",
					      .meant = ct_suggest(word, words, CT_COUNT(words)),
					      .expected = commands_expected });
}

static void command_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const struct ct_span no_digits;
	struct ct_span word = ct_parser_word(parser);

	if (ct_name_is(word.at, word.size, "T") || ct_name_is(word.at, word.size, "TRACE"))
		ct_parse_trace(parser, out);
	else if (ct_name_is(word.at, word.size, "D") || ct_name_is(word.at, word.size, "DISPLAY"))
		ct_parse_display(parser, out);
	else if (ct_name_is(word.at, word.size, "R") || ct_name_is(word.at, word.size, "REPLY"))
		reply_parse(parser, out, no_digits);
	else if (word_is_joined_reply(word))
		reply_parse(parser, out, ct_span_of(word.at + 1, word.at + word.size));
	else
		command_refuse(parser, word);
}

static bool line_is_nothing(const struct ct_parser *parser)
{
	return parser->at == parser->end || *parser->at == '*' || *parser->at == '#' ||
	       (parser->end - parser->at > 1 && parser->at[0] == '/' && parser->at[1] == '*');
}

enum ctrace_status ct_operator_parse(const char *text, size_t size, struct ct_operator_command *out,
				     struct ct_diagnostic *diagnostic)
{
	struct ct_operator_command command;
	struct ct_parser parser;

	memset(&command, 0, sizeof command);
	if (!ct_line_start(&parser, text, size, "the command", diagnostic))
		return CTRACE_FAILURE;
	ct_parser_blanks(&parser);
	if (!line_is_nothing(&parser)) {
		if (!ct_line_is_text(&parser))
			return CTRACE_FAILURE;
		command_parse(&parser, &command);
		if (parser.has_failed)
			return CTRACE_FAILURE;
	}
	*out = command;
	return CTRACE_OK;
}
