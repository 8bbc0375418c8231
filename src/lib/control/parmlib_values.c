/*
 * parmlib_values.c - the text in a keyword's parentheses: a list of values, SUB's path, OPTIONS'
 * strings.
 *
 * The grammar calls it, behind the opening parenthesis, on the thread that reads the member.
 * trace_name.c defines valid values.  No more is stored than a trace has room for, and unclosed
 * parentheses cost no more than others.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/parmlib.h"

#include <limits.h>

#define MOST_SUB_PARENS 1u /* that are open inside of SUB(ASID(1)) */

static bool value_refuse_found(struct ct_parser *parser, const char *expected)
{
	ct_parser_diagnose_found(parser, expected);
	return false;
}

static bool list_close(struct ct_parser *parser)
{
	return ct_parser_accept(parser, ')') || value_refuse_found(parser, "\",\" or \")\"");
}

void ct_diagnose_value(struct ct_parser *parser, struct ct_span value, uint32_t reason)
{
	struct ct_diagnostic diagnostic;

	if (reason == 0)
		return;
	ct_trace_diagnose(reason, value, &diagnostic);
	diagnostic.code = reason;
	ct_parser_diagnose_filled(parser, value.at, &diagnostic);
}

/* ---- lists of values ---- */

struct list {
	void (*take)(struct ct_parser *parser, struct ct_span value);
	unsigned most;
	uint32_t too_many; /* the reason when there are too many values */
	const char *expected;
};

static bool list_read(struct ct_parser *parser, const struct list *list)
{
	unsigned count = 0;

	if (ct_parser_accept(parser, ')'))
		return true;
	do {
		struct ct_span value;

		ct_parser_blanks(parser);
		value = ct_parser_value(parser);
		if (value.size == 0)
			return value_refuse_found(parser,
						  count == 0 ? "a value or \")\"" : "a value");
		if (count < list->most)
			list->take(parser, value);
		else if (count == list->most)
			ct_parser_diagnose(parser, &(struct ct_finding){ .word = value,
									 .what = "is one too many",
									 .expected = list->expected,
									 .code = list->too_many });
		count++;
	} while (ct_parser_accept(parser, ','));
	return list_close(parser);
}

/* Exactly one value must follow; a missing one counts as an empty one. */
static bool value_read(struct ct_parser *parser,
		       void (*take)(struct ct_parser *parser, struct ct_span value),
		       const char *expected)
{
	ct_parser_blanks(parser);
	if (ct_parser_is_at(parser, ')'))
		take(parser, ct_span_of(parser->at, parser->at));
	return list_read(parser, &(struct list){ take, 1, CTRACE_RSN_MEMBER_SYNTAX, expected });
}

void ct_take_asid(struct ct_parser *parser, struct ct_span value)
{
	struct ct_trace_request *trace = ct_parser_trace(parser);

	ct_diagnose_value(parser, value,
			  ct_asid_parse(value.at, value.size, &trace->asid[trace->asid_count++]));
}

bool ct_read_asid(struct ct_parser *parser)
{
	ct_parser_trace(parser)->asid_count = 0; /* also when the clause is repeated */
	return list_read(parser, &(struct list){ ct_take_asid, CTRACE_MAX_FILTER,
						 CTRACE_RSN_TOO_MANY_ASIDS, "at most 16 ASIDs" });
}

void ct_take_jobname(struct ct_parser *parser, struct ct_span value)
{
	struct ct_trace_request *trace = ct_parser_trace(parser);

	ct_diagnose_value(
		parser, value,
		ct_jobname_parse(value.at, value.size, trace->jobname[trace->jobname_count++]));
}

bool ct_read_jobname(struct ct_parser *parser)
{
	ct_parser_trace(parser)->jobname_count = 0;
	return list_read(parser,
			 &(struct list){ ct_take_jobname, CTRACE_MAX_FILTER,
					 CTRACE_RSN_TOO_MANY_JOBNAMES, "at most 16 job names" });
}

static void preset_take(struct ct_parser *parser, struct ct_span value)
{
	static const char *const words[] = { "PUT", "DELETE" };
	struct ct_trace_request *trace = ct_parser_trace(parser);

	if (ct_name_is(value.at, value.size, "PUT"))
		trace->state = CTRACE_CT_PRESET_PUT;
	else if (ct_name_is(value.at, value.size, "DELETE"))
		trace->state = CTRACE_CT_PRESET_DELETE;
	else
		ct_parser_diagnose(
			parser,
			&(struct ct_finding){ .word = value,
					      .what = "is nothing that PRESET does",
					      .meant = ct_suggest(value, words, CT_COUNT(words)),
					      .expected = "PUT or DELETE" });
}

bool ct_read_preset(struct ct_parser *parser)
{
	return value_read(parser, preset_take, "PRESET(PUT) or PRESET(DELETE)");
}

static void bufsize_take(struct ct_parser *parser, struct ct_span value)
{
	ct_diagnose_value(
		parser, value,
		ct_bufsize_parse(value.at, value.size, &ct_parser_trace(parser)->bufsize));
}

bool ct_read_bufsize(struct ct_parser *parser)
{
	return value_read(parser, bufsize_take, "one size");
}

void ct_take_wtr(struct ct_parser *parser, struct ct_span value)
{
	struct ct_trace_request *trace = ct_parser_trace(parser);

	trace->disconnect = ct_name_is(value.at, value.size, "DISCONNECT");
	if (!trace->disconnect)
		ct_diagnose_value(parser, value,
				  ct_writer_parse(value.at, value.size, trace->writer));
}

bool ct_read_wtr(struct ct_parser *parser)
{
	return value_read(parser, ct_take_wtr, "WTR(name) or WTR(DISCONNECT)");
}

static void wtrstart_take(struct ct_parser *parser, struct ct_span value)
{
	ct_diagnose_value(
		parser, value,
		ct_writer_parse(value.at, value.size, ct_parser_member(parser)->wtrstart));
}

bool ct_read_wtrstart(struct ct_parser *parser)
{
	return value_read(parser, wtrstart_take, "one writer");
}

static void wtrstop_take(struct ct_parser *parser, struct ct_span value)
{
	ct_diagnose_value(
		parser, value,
		ct_jobname_parse(value.at, value.size, ct_parser_member(parser)->wtrstop));
}

bool ct_read_wtrstop(struct ct_parser *parser)
{
	return value_read(parser, wtrstop_take, "one job");
}

/* ---- SUB ---- */

bool ct_read_sub(struct ct_parser *parser)
{
	struct ct_diagnostic diagnostic;
	struct ct_span path;

	if (!ct_parser_group(parser, MOST_SUB_PARENS, &path))
		return false;
	diagnostic.code =
		ct_sub_parse(path.at, path.size, &ct_parser_trace(parser)->sub, &diagnostic);
	if (diagnostic.code != 0)
		ct_parser_diagnose_filled(parser, path.at + diagnostic.column - 1, &diagnostic);
	return true;
}

/* ---- OPTIONS: while they are read, options_size also counts what is not kept ---- */

static void option_keep(struct ct_trace_request *trace, struct ct_span bytes)
{
	for (size_t i = 0; i < bytes.size; i++, trace->options_size++)
		if (trace->options_size < CTRACE_MAX_OPTIONS)
			trace->options[trace->options_size] = bytes.at[i];
}

static void option_keep_char(struct ct_trace_request *trace, char c)
{
	option_keep(trace, (struct ct_span){ &c, 1 });
}

/* '...' with '' for a quotation mark */
static bool option_read_quoted(struct ct_parser *parser)
{
	const char *at = parser->at + 1;

	if (!ct_parser_quotation(parser))
		return false;
	while (at < parser->at - 1) {
		size_t left = (size_t)(parser->at - 1 - at);
		const char *mark = memchr(at, '\'', left);
		size_t size = mark != NULL ? (size_t)(mark + 1 - at) : left;

		option_keep(ct_parser_trace(parser), (struct ct_span){ at, size });
		at += size + (mark != NULL);
	}
	return true;
}

/* LEVEL=255, or userid=(a, b).  A comma or a blank ends it outside parentheses only.  Blanks and
 * line ends inside become one blank.  A quoted part stays as it is, with its marks. */
static bool option_read_unquoted(struct ct_parser *parser)
{
	struct ct_span option;
	bool is_quoted = false;

	if (!ct_parser_nested(parser, CT_BLANKS ",)", UINT_MAX, &option))
		return false;
	for (size_t i = 0; i < option.size; i++) {
		bool is_blank = !is_quoted && ct_is_blank(option.at[i]);

		is_quoted ^= option.at[i] == '\'';
		if (!is_blank)
			option_keep_char(ct_parser_trace(parser), option.at[i]);
		else if (!ct_is_blank(option.at[i - 1]))
			option_keep_char(ct_parser_trace(parser), ' ');
	}
	return option.size != 0 || value_refuse_found(parser, "an option");
}

/* True when options have a control character: they are shown to people and passed to C
 * functions. */
static bool options_have_control(const struct ct_trace_request *trace, size_t from)
{
	for (size_t i = from; i < trace->options_size && i < CTRACE_MAX_OPTIONS; i++)
		if (((unsigned char)trace->options[i] < ' ' && trace->options[i] != '\t') ||
		    trace->options[i] == 0x7F)
			return true;
	return false;
}

bool ct_read_option(struct ct_parser *parser)
{
	const struct ct_trace_request *trace = ct_parser_trace(parser);
	const char *start = parser->at;
	size_t size_before = trace->options_size;
	struct ct_span option;

	if (!(ct_parser_is_at(parser, '\'') ? option_read_quoted(parser)
					    : option_read_unquoted(parser)))
		return false;
	option = ct_span_of(start, parser->at);
	if (size_before <= CTRACE_MAX_OPTIONS && trace->options_size > CTRACE_MAX_OPTIONS)
		ct_parser_diagnose(
			parser,
			&(struct ct_finding){
				.word = option,
				.what = "makes the options too long",
				.expected =
					"at most 1024 characters in all strings, with a comma between two",
				.code = CTRACE_RSN_OPTIONS_TOO_LONG });
	if (options_have_control(trace, size_before))
		ct_parser_diagnose_word(parser, option, "has a control character", "text");
	return true;
}

static bool options_read_list(struct ct_parser *parser)
{
	if (ct_parser_accept(parser, ')'))
		return true;
	for (;;) {
		ct_parser_blanks(parser);
		if (!ct_read_option(parser))
			return false;
		if (!ct_parser_accept(parser, ','))
			return list_close(parser);
		option_keep_char(ct_parser_trace(parser), ',');
	}
}

bool ct_read_options(struct ct_parser *parser)
{
	struct ct_trace_request *trace = ct_parser_trace(parser);
	bool is_closed;

	trace->options_size = 0;
	is_closed = options_read_list(parser);
	if (trace->options_size > CTRACE_MAX_OPTIONS)
		trace->options_size = CTRACE_MAX_OPTIONS;
	trace->options[trace->options_size] = '\0';
	return is_closed;
}
