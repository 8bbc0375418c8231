/*
 * operator_trace.c - TRACE CT: switching a trace, and starting and stopping an external writer.
 *
 * Called by ct_operator_parse(), on the tool's thread.  Other TRACE commands of z/OS are not
 * supported.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_scan.h"

#include <string.h>

static const char state_expected[] =
	"ON, OFF, a size (1K to 9999K, 1M to 2047M), WTRSTART= or WTRSTOP=";

static void read_component(struct ct_parser *parser, void *out)
{
	struct ct_operator_command *command = out;

	(void)ct_read_names(parser,
			    &(struct ct_names){ &command->component, 1, "one component", NULL });
}

static void read_member(struct ct_parser *parser, void *out)
{
	struct ct_operator_command *command = out;
	char member[CTRACE_MAX_NAME + 1] = { 0 };
	struct ct_span value;

	if (!ct_operand_value(parser, "a member's name", &value))
		return;
	if (value.size <= CTRACE_MAX_NAME) {
		memcpy(member, value.at, value.size);
		ct_name_upper(member, value.size);
	}
	if (ct_trace_name_is_valid(member, value.size))
		memcpy(command->member, member, sizeof member);
	else
		ct_parser_diagnose_word(parser, value, "is not a member's name",
					"1 to 8 of A-Z 0-9 @ # $, no digit first");
}

/* clang-format off */
static const struct ct_operand trace_operands[] = {
	{ "COMP", true, false, 0, .read = read_component },
	{ "SUB",  true, false, 1, .read = ct_read_operator_sub },
	{ "PARM", true, false, 2, .read = read_member },
};
/* clang-format on */
enum { TRACE_COMP = 0, TRACE_PARM = 2 }; /* groups */

/* Parses what follows the state; `place` is the state's position, where a missing one is
 * reported. */
static void parse_trace(struct ct_parser *parser, struct ct_operator_command *out,
			const char *place)
{
	static const struct ct_operand_table table = { trace_operands, CT_COUNT(trace_operands),
						       "is not an operand of TRACE CT" };
	struct ct_said said = { .group = { { NULL, 0 } } };

	out->kind = CT_OPERATOR_TRACE_CT;
	if (!ct_parser_accept(parser, ',')) {
		ct_parser_diagnose_found(parser, "\",COMP=name\"");
		return;
	}
	if (!ct_operands_read(parser, &table, out, &said))
		return;
	if (said.group[TRACE_COMP].at == NULL)
		ct_parser_diagnose_at(parser, parser->end, "COMP is missing", "\",COMP=name\"");
	else if (out->state == CTRACE_CT_NONE && said.group[TRACE_PARM].at == NULL)
		ct_parser_diagnose_at(parser, place, "without PARM the state is missing",
				      "ON, OFF or a size");
}

/* Parses the operands that follow the value of WTRSTART or WTRSTOP. */
static void parse_writer_operands(struct ct_parser *parser, struct ct_operator_command *out,
				  const struct ct_operand_table *table)
{
	struct ct_said said = { .group = { { NULL, 0 } } };

	if (!parser->has_failed && ct_parser_accept(parser, ','))
		/* false: the diagnostic is reported */
		ct_operands_read(parser, table, out, &said);
	else if (!parser->has_failed && parser->at < parser->end)
		ct_parser_diagnose_found(parser, "\",\"");
}

static void parse_wtrstart(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const struct ct_operand operands[] = {
		{ "WRAP", false, false, 0, CT_OPERAND_SETS(has_wrap) },
		{ "NOWRAP", false, false, 0, CT_OPERAND_SETS(nowrap) },
	};
	static const struct ct_operand_table table = { operands, CT_COUNT(operands),
						       "is not an operand of TRACE CT,WTRSTART" };
	struct ct_span value;

	out->kind = CT_OPERATOR_WTRSTART;
	if (!ct_parser_accept(parser, '='))
		ct_parser_diagnose_found(parser, "\"=\"");
	else if (ct_operand_value(parser, "a writer's name", &value))
		ct_diagnose_value(parser, value,
				  ct_writer_parse(value.at, value.size, out->member));
	parse_writer_operands(parser, out, &table);
	out->has_wrap |= out->nowrap;
}

static void parse_wtrstop(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const struct ct_operand operands[] = {
		{ "FLUSH", false, false, 0, .flag = 0 },
		{ "NOFLUSH", false, false, 0, CT_OPERAND_SETS(noflush) },
	};
	static const struct ct_operand_table table = { operands, CT_COUNT(operands),
						       "is not an operand of TRACE CT,WTRSTOP" };
	struct ct_span value;

	out->kind = CT_OPERATOR_WTRSTOP;
	if (!ct_parser_accept(parser, '='))
		ct_parser_diagnose_found(parser, "\"=\"");
	else if (ct_operand_value(parser, "a job's name", &value))
		ct_diagnose_value(parser, value, ct_jobname_parse(value.at, value.size, out->job));
	parse_writer_operands(parser, out, &table);
}

static void state_refuse(struct ct_parser *parser, struct ct_span word)
{
	static const char *const words[] = { "OFF", "WTRSTART", "WTRSTOP" };

	if (word.size == 0) {
		ct_parser_diagnose_found(parser, state_expected);
		return;
	}
	for (size_t i = 0; i < CT_COUNT(trace_operands); i++)
		if (ct_name_is(word.at, word.size, trace_operands[i].name)) {
			ct_parser_diagnose_word(
				parser, word, "stands where the state belongs",
				"ON, OFF or a size; with PARM= also nothing between two commas");
			return;
		}
	ct_parser_diagnose(parser,
			   &(struct ct_finding){ .word = word,
						 .what = "is not a state",
						 .meant = ct_suggest(word, words, CT_COUNT(words)),
						 .expected = state_expected });
}

/* Behind CT */
static void parse_trace_ct(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct ct_span word;

	if (!ct_parser_accept(parser, ',')) {
		ct_parser_diagnose_found(parser,
					 "\",\", and then ON, OFF, a size, WTRSTART= or WTRSTOP=");
		return;
	}
	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "WTRSTART")) {
		parse_wtrstart(parser, out);
		return;
	}
	if (ct_name_is(word.at, word.size, "WTRSTOP")) {
		parse_wtrstop(parser, out);
		return;
	}
	out->state = CTRACE_CT_ON;
	if (ct_name_is(word.at, word.size, "OFF"))
		out->state = CTRACE_CT_OFF;
	else if (word.size == 0 && ct_parser_is_at(parser, ','))
		out->state = CTRACE_CT_NONE;
	else if (word.size != 0 && word.at[0] >= '0' && word.at[0] <= '9')
		ct_diagnose_value(parser, word,
				  ct_bufsize_parse(word.at, word.size, &out->bufsize));
	else if (!ct_name_is(word.at, word.size, "ON"))
		state_refuse(parser, word);
	if (!parser->has_failed)
		parse_trace(parser, out, word.at);
}

static void trace_refuse(struct ct_parser *parser, struct ct_span word)
{
	/* clang-format off */
	static const struct {
		const char *word;
		const char *what;
	} others[] = {
		{ "ST",     "is the system trace: only TRACE CT is here" },
		{ "AS",     "is address space tracing: only TRACE CT is here" },
		{ "BR",     "is branch tracing: only TRACE CT is here" },
		{ "EX",     "is explicit tracing: only TRACE CT is here" },
		{ "MODE",   "is mode tracing: only TRACE CT is here" },
		{ "MT",     "is the master trace: only TRACE CT is here" },
		{ "TT",     "is transaction trace: only TRACE CT is here" },
		{ "STATUS", "is about other traces: only TRACE CT is here" },
	};
	/* clang-format on */
	const char *what = "is not CT: only TRACE CT is here";

	for (size_t i = 0; i < CT_COUNT(others); i++)
		if (ct_name_is(word.at, word.size, others[i].word))
			what = others[i].what;
	ct_parser_diagnose_word(parser, word, what,
				"TRACE CT, or DISPLAY TRACE to see what is traced");
}

void ct_parse_trace(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "CT"))
		parse_trace_ct(parser, out);
	else if (word.size == 0)
		ct_parser_diagnose_found(parser, "CT");
	else
		trace_refuse(parser, word);
}
