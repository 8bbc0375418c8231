/*
 * operator.c - parses the commands of an operator: TRACE CT, DUMP, DISPLAY TRACE, DISPLAY R and
 * REPLY.
 *
 * Called by the tool, on its thread, for each line that an operator typed.  The line may be any
 * bytes.  Parsing looks nothing up and changes nothing.  Other TRACE commands of z/OS are refused.
 * operator_reply.c parses the operands of a reply.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_scan.h"
#include "operator/slip.h"

#include <string.h>

/* ---- TRACE CT: switching a trace, and starting and stopping an external writer ---- */

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
						       "is not an operand of TRACE CT", NULL };
	struct ct_given given = { .group = { { NULL, 0 } } };

	out->kind = CT_OPERATOR_TRACE_CT;
	if (!ct_parser_accept(parser, ',')) {
		ct_parser_diagnose_found(parser, "\",COMP=name\"");
		return;
	}
	if (!ct_operands_read(parser, &table, out, &given))
		return;
	if (given.group[TRACE_COMP].at == NULL)
		ct_parser_diagnose_at(parser, parser->end, "COMP is missing", "\",COMP=name\"");
	else if (out->state == CTRACE_CT_NONE && given.group[TRACE_PARM].at == NULL)
		ct_parser_diagnose_at(parser, place, "without PARM the state is missing",
				      "ON, OFF or a size");
}

/* Parses the operands that follow the value of WTRSTART or WTRSTOP. */
static void parse_writer_operands(struct ct_parser *parser, struct ct_operator_command *out,
				  const struct ct_operand_table *table)
{
	struct ct_given given = { .group = { { NULL, 0 } } };

	if (!parser->has_failed && ct_parser_accept(parser, ','))
		/* false: the diagnostic is reported */
		ct_operands_read(parser, table, out, &given);
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
						       "is not an operand of TRACE CT,WTRSTART",
						       NULL };
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
						       "is not an operand of TRACE CT,WTRSTOP",
						       NULL };
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

/* ---- operator_trace.c, operator_display.c: what follows the first word */
static void trace_command_parse(struct ct_parser *parser, struct ct_operator_command *out,
				bool is_short)
{
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "CT"))
		parse_trace_ct(parser, out);
	else if (is_short && ct_name_is(word.at, word.size, "SLIP"))
		ct_slip_suffix_parse(parser, out); /* T is SET as well */
	else if (word.size == 0)
		ct_parser_diagnose_found(parser, "CT");
	else
		trace_refuse(parser, word);
}

#define MOST_REPLY_DIGITS 4u

static const char commands_expected[] =
	"TRACE CT, DUMP, DISPLAY TRACE, DISPLAY R, SLIP, SET SLIP or REPLY";

/* ---- DISPLAY TRACE and DISPLAY R ---- */

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
			  const struct ct_given *given)
{
	if (given->group[DISPLAY_SUB].at != NULL && command->name_count != 1)
		ct_parser_diagnose_word(parser, given->group[DISPLAY_SUB], "is for one component",
					"COMP=name with it");
	for (unsigned group = DISPLAY_N; group <= DISPLAY_SUBLEVEL && !command->has_comp; group++)
		if (given->group[group].at != NULL)
			ct_parser_diagnose_word(parser, given->group[group],
						"is for the components of COMP", "COMP= with it");
}

static void parse_display_trace(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const struct ct_operand_table table = { display_operands, CT_COUNT(display_operands),
						       "is not an operand of DISPLAY TRACE", NULL };
	struct ct_given given = { .group = { { NULL, 0 } } };

	out->kind = CT_OPERATOR_DISPLAY_TRACE;
	if (!ct_parser_accept(parser, ',')) {
		if (parser->at < parser->end)
			ct_parser_diagnose_found(parser, "\",\"");
	} else if (ct_operands_read(parser, &table, out, &given)) {
		check_display(parser, out, &given);
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

static void display_command_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const char *const words[] = { "TRACE" };
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "TRACE"))
		parse_display_trace(parser, out);
	else if (ct_name_is(word.at, word.size, "R"))
		parse_display_replies(parser, out);
	else if (ct_name_is(word.at, word.size, "SLIP"))
		ct_slip_display_parse(parser, out);
	else if (word.size == 0)
		ct_parser_diagnose_found(parser, "TRACE, SLIP or R");
	else
		ct_parser_diagnose(
			parser,
			&(struct ct_finding){ .word = word,
					      .what = "is nothing that is displayed here",
					      .meant = ct_suggest(word, words, CT_COUNT(words)),
					      .expected = "TRACE, SLIP or R" });
}

/* ---- DUMP ---- */

static void title_take(struct ct_parser *parser, struct ct_span title,
		       struct ct_operator_command *out)
{
	if (title.size > CT_DUMP_TITLE) {
		ct_parser_diagnose_word(parser, title, "is too long",
					"a title of at most 100 bytes");
		return;
	}
	memcpy(out->title, title.at, title.size);
	out->title[title.size] = '\0';
}

/* "(x),COMM=(y)": the title ends before a second one. */
static bool title_is_two(struct ct_parser *parser, struct ct_span title, char mark)
{
	const char *end = title.at + title.size;
	struct ct_parser rest = *parser;

	for (const char *at = title.at; at < end; at++) {
		struct ct_span word;

		rest.at = at + 1;
		if (*at != mark || !ct_parser_accept(&rest, ','))
			continue;
		ct_parser_blanks(&rest);
		word = ct_parser_word(&rest);
		if ((ct_name_is(word.at, word.size, "COMM") ||
		     ct_name_is(word.at, word.size, "TITLE")) &&
		    ct_parser_accept(&rest, '=')) {
			ct_parser_diagnose_word(parser, word, "is there already", "one title");
			return true;
		}
	}
	return false;
}

/* The title stands in parentheses, or between two of one quotation mark.  It is text: marks and
 * parentheses in it have no meaning. */
static void title_read(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct ct_span title;
	const char *end;
	char mark = ')';

	ct_parser_blanks(parser);
	if (ct_parser_is_at(parser, '\'') || ct_parser_is_at(parser, '"')) {
		mark = *parser->at++;
	} else if (!ct_parser_accept(parser, '(')) {
		ct_parser_diagnose_found(parser, "(title)");
		return;
	}
	end = memrchr(parser->at, mark, (size_t)(parser->end - parser->at));
	if (end == NULL) {
		ct_parser_diagnose_at(parser, parser->end, "the title has no end",
				      mark == ')' ? "\")\"" : "the quotation mark that began it");
		return;
	}
	title = ct_span_of(parser->at, end);
	if (title_is_two(parser, title, mark))
		return;
	parser->at = end + 1;
	title_take(parser, title, out);
	ct_parser_blanks(parser);
	if (!parser->has_failed && parser->at < parser->end)
		ct_parser_diagnose_found(parser, "nothing more: the reply has the operands");
}

static void dump_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct ct_span word;

	out->kind = CT_OPERATOR_DUMP;
	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (word.size == 0)
		ct_parser_diagnose_found(parser, "COMM=(title)");
	else if (!ct_name_is(word.at, word.size, "COMM") &&
		 !ct_name_is(word.at, word.size, "TITLE"))
		ct_parser_diagnose_word(parser, word, "is not an operand of DUMP", "COMM=(title)");
	else if (!ct_parser_accept(parser, '='))
		ct_parser_diagnose_found(parser, "\"=\"");
	else
		title_read(parser, out);
}

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

/* Parses what follows REPLY; digits: the reply's number if it was joined to the verb (R01,
 * REPLY01), or none. */
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

/* Returns the digits of R01 or REPLY01; none for any other word. */
static struct ct_span word_reply_digits(struct ct_span word)
{
	static const char *const verbs[] = { "R", "REPLY" };

	for (size_t i = 0; i < CT_COUNT(verbs); i++) {
		size_t size = strlen(verbs[i]);

		if (word.size > size && ct_name_is(word.at, size, verbs[i]) &&
		    word.at[size] >= '0' && word.at[size] <= '9')
			return ct_span_of(word.at + size, word.at + word.size);
	}
	return (struct ct_span){ NULL, 0 };
}

/* ---- commands ---- */

static void command_refuse(struct ct_parser *parser, struct ct_span word)
{
	static const char *const words[] = { "TRACE", "DUMP", "DISPLAY", "REPLY", "SLIP", "SET" };

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
	struct ct_span word = ct_parser_word(parser);
	struct ct_span digits = word_reply_digits(word);

	if (ct_name_is(word.at, word.size, "T") || ct_name_is(word.at, word.size, "TRACE"))
		trace_command_parse(parser, out, word.size == 1);
	else if (ct_name_is(word.at, word.size, "SET"))
		ct_slip_set_parse(parser, out);
	else if (ct_name_is(word.at, word.size, "DU") || ct_name_is(word.at, word.size, "DUMP"))
		dump_parse(parser, out);
	else if (ct_name_is(word.at, word.size, "D") || ct_name_is(word.at, word.size, "DISPLAY"))
		display_command_parse(parser, out);
	else if (ct_name_is(word.at, word.size, "SLIP") || ct_name_is(word.at, word.size, "SL"))
		ct_slip_parse(parser, out);
	else if (digits.size != 0 || ct_name_is(word.at, word.size, "R") ||
		 ct_name_is(word.at, word.size, "REPLY"))
		reply_parse(parser, out, digits);
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
