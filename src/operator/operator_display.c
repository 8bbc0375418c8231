/*
 * operator_display.c - DISPLAY TRACE and DISPLAY R.
 *
 * Called by ct_operator_parse(), on the tool's thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_scan.h"

#include <string.h>

#define MOST_N_DIGITS 3u

static void read_display_names(struct ct_parser *parser, void *out)
{
	struct ct_operator_command *command = out;

	command->has_comp = true;
	command->name_count = ct_read_names(
		parser, &(struct ct_names){ command->name, CT_OPERATOR_NAMES,
					    "at most 16 components", &command->comp_all });
}

static void read_n(struct ct_parser *parser, void *out)
{
	struct ct_operator_command *command = out;
	struct ct_span value;
	uint32_t n = 0;
	size_t i = 0;

	if (!ct_operand_value(parser, "a number", &value))
		return;
	for (; i < value.size && i < MOST_N_DIGITS && value.at[i] >= '0' && value.at[i] <= '9'; i++)
		n = n * 10 + (uint32_t)(value.at[i] - '0');
	if (i < value.size)
		ct_parser_diagnose_word(parser, value, "is not a number of one to three digits",
					"0 to 999");
	command->has_n = true;
	command->n = n;
}

static void take_writer(struct ct_parser *parser, struct ct_operator_command *command)
{
	struct ct_span value;

	ct_parser_blanks(parser);
	value = ct_parser_value(parser);
	if (value.size == 0)
		ct_parser_diagnose_found(parser, "a writer's name or ALL");
	else if (command->wtr_count == CT_OPERATOR_NAMES)
		ct_parser_diagnose_word(parser, value, "is one too many", "at most 16 writers");
	else
		ct_diagnose_value(
			parser, value,
			ct_writer_parse(value.at, value.size, command->wtr[command->wtr_count++]));
}

static void read_display_writers(struct ct_parser *parser, void *out)
{
	struct ct_operator_command *command = out;
	bool is_enclosed = ct_parser_accept(parser, '(');

	command->has_wtr = true;
	do
		take_writer(parser, command);
	while (is_enclosed && !parser->has_failed && ct_parser_accept(parser, ','));
	if (!parser->has_failed && is_enclosed && !ct_parser_accept(parser, ')'))
		ct_parser_diagnose_found(parser, "\",\" or \")\"");
	command->wtr_all = command->wtr_count == 1 && strcmp(command->wtr[0], "ALL") == 0;
	if (command->wtr_all)
		command->wtr_count = 0;
}

/* A console's area.  There is one console, and it has no areas. */
static void read_area(struct ct_parser *parser, void *out)
{
	struct ct_span value;

	(void)out;
	ct_operand_value(parser, "an area, a console, or a console and its area", &value);
}

/* clang-format off */
static const struct ct_operand display_operands[] = {
	{ "COMP",     true,  false, 0, .read = read_display_names },
	{ "SUB",      true,  false, 1, .read = ct_read_operator_sub },
	{ "N",        true,  false, 2, .read = read_n },
	{ "SUBLEVEL", false, false, 3, CT_OPERAND_SETS(sublevel) },
	{ "WTR",      true,  false, 4, .read = read_display_writers },
	{ "TT",       false, false, 5, CT_OPERAND_SETS(tt) },
	{ "L",        true,  false, 6, .read = read_area },
};
/* clang-format on */
enum { DISPLAY_COMP, DISPLAY_SUB, DISPLAY_N, DISPLAY_SUBLEVEL }; /* groups */

static void check_display(struct ct_parser *parser, const struct ct_operator_command *command,
			  const struct ct_said *said)
{
	if (said->group[DISPLAY_SUB].at != NULL && command->name_count != 1)
		ct_parser_diagnose_word(parser, said->group[DISPLAY_SUB], "is for one component",
					"COMP=name with it");
	for (unsigned group = DISPLAY_N; group <= DISPLAY_SUBLEVEL && !command->has_comp; group++)
		if (said->group[group].at != NULL)
			ct_parser_diagnose_word(parser, said->group[group],
						"is for the components of COMP", "COMP= with it");
}

static void parse_display_trace(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const struct ct_operand_table table = { display_operands, CT_COUNT(display_operands),
						       "is not an operand of DISPLAY TRACE" };
	struct ct_said said = { .group = { { NULL, 0 } } };

	out->kind = CT_OPERATOR_DISPLAY_TRACE;
	if (!ct_parser_accept(parser, ',')) {
		if (parser->at < parser->end)
			ct_parser_diagnose_found(parser, "\",\"");
	} else if (ct_operands_read(parser, &table, out, &said)) {
		check_display(parser, out, &said);
	}
}

static void parse_display_replies(struct ct_parser *parser, struct ct_operator_command *out)
{
	const char *expected = "\",L\"";

	out->kind = CT_OPERATOR_DISPLAY_REPLIES;
	if (ct_parser_accept(parser, ',')) {
		expected = "nothing more";
		if (!ct_parser_accept_word(parser, "L") && !ct_parser_accept_word(parser, "LIST")) {
			ct_parser_diagnose_found(parser, "L");
			return;
		}
	}
	ct_parser_blanks(parser);
	if (parser->at < parser->end)
		ct_parser_diagnose_found(parser, expected);
}

void ct_parse_display(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const char *const words[] = { "TRACE" };
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "TRACE"))
		parse_display_trace(parser, out);
	else if (ct_name_is(word.at, word.size, "R"))
		parse_display_replies(parser, out);
	else if (word.size == 0)
		ct_parser_diagnose_found(parser, "TRACE or R");
	else
		ct_parser_diagnose(
			parser,
			&(struct ct_finding){ .word = word,
					      .what = "is nothing that is displayed here",
					      .meant = ct_suggest(word, words, CT_COUNT(words)),
					      .expected = "TRACE or R" });
}
