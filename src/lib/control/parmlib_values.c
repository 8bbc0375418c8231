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

#define MOST_SUB_PARENS 2u /* that are open in SUB(ASID(1)) */

static bool value_refuse_found(struct ct_parser *parser, const char *expected)
{
	ct_diagnose_found(parser, expected);
	return false;
}

/* The parser is at the end of the line. */
static bool quotation_refuse(struct ct_parser *parser, const char *open)
{
	ct_diagnose_syntax(parser, ct_span_of(open, parser->at),
			   "has no closing quotation mark on its line", "\"'\"");
	return false;
}

static bool list_close(struct ct_parser *parser)
{
	return ct_scan_accept(parser, ')') || value_refuse_found(parser, "\",\" or \")\"");
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

	if (ct_scan_accept(parser, ')'))
		return true;
	do {
		struct ct_span value;

		ct_scan_blanks(parser);
		value = ct_scan_value(parser);
		if (value.size == 0)
			return value_refuse_found(parser,
						  count == 0 ? "a value or \")\"" : "a value");
		if (count < list->most)
			list->take(parser, value);
		else if (count == list->most)
			ct_diagnose_word(parser, list->too_many, value, "is one too many",
					 list->expected);
		count++;
	} while (ct_scan_accept(parser, ','));
	return list_close(parser);
}

/* Exactly one value must follow; a missing one counts as an empty one. */
static bool value_read(struct ct_parser *parser,
		       void (*take)(struct ct_parser *parser, struct ct_span value),
		       const char *expected)
{
	ct_scan_blanks(parser);
	if (ct_scan_is_at(parser, ')'))
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
		ct_diagnose(parser,
			    &(struct ct_diagnostic_parts){
				    CTRACE_RSN_MEMBER_SYNTAX, value, "is nothing that PRESET does",
				    ct_suggest(value, words, CT_COUNT(words)), "PUT or DELETE" });
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
	ct_diagnose_value(parser, value,
			  ct_writer_parse(value.at, value.size, parser->out->wtrstart));
}

bool ct_read_wtrstart(struct ct_parser *parser)
{
	return value_read(parser, wtrstart_take, "one writer");
}

static void wtrstop_take(struct ct_parser *parser, struct ct_span value)
{
	ct_diagnose_value(parser, value,
			  ct_jobname_parse(value.at, value.size, parser->out->wtrstop));
}

bool ct_read_wtrstop(struct ct_parser *parser)
{
	return value_read(parser, wtrstop_take, "one job");
}

/* ---- SUB ---- */

/* Reads up to the closing parenthesis; stops at the first character that no path has. */
static bool path_read(struct ct_parser *parser, struct ct_span *out_path)
{
	const char *start = parser->at;
	unsigned depth = 1;

	while (parser->at < parser->end && depth != 0 && depth <= MOST_SUB_PARENS) {
		const char *at = parser->at;

		if (*at == '\'') {
			if (!ct_scan_quotation(parser))
				return quotation_refuse(parser, at);
			continue;
		}
		parser->at++;
		depth += *at == '(';
		depth -= *at == ')';
	}
	if (depth != 0) {
		parser->at = start;
		ct_diagnose_syntax(parser, ct_span_of(start - 1, start), "is not closed",
				   "SUB(path)");
		return false;
	}
	*out_path = ct_span_of(start, parser->at - 1);
	return true;
}

bool ct_read_sub(struct ct_parser *parser)
{
	struct ct_diagnostic diagnostic = { .line = 0 };
	struct ct_span path;
	uint32_t reason;

	if (!path_read(parser, &path))
		return false;
	reason = ct_sub_parse(path.at, path.size, &ct_parser_trace(parser)->sub, &diagnostic);
	if (reason != 0)
		ct_diagnose_filled(parser, reason, path.at + diagnostic.column - 1, &diagnostic);
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
	const char *open = parser->at;

	for (;;) {
		const char *start = parser->at + 1;

		if (!ct_scan_quotation(parser))
			return quotation_refuse(parser, open);
		option_keep(ct_parser_trace(parser), ct_span_of(start, parser->at - 1));
		if (!ct_scan_is_at(parser, '\''))
			return true;
		option_keep_char(ct_parser_trace(parser), '\'');
	}
}

/* LEVEL=255, or userid=(a, b).  A comma or a blank ends it outside parentheses only.  Blanks and
 * line ends inside become one blank.  A quoted part stays as it is, with its marks. */
static bool option_read_unquoted(struct ct_parser *parser)
{
	struct ct_trace_request *trace = ct_parser_trace(parser);
	const char *start = parser->at;
	unsigned depth = 0;

	while (parser->at < parser->end) {
		const char *at = parser->at;

		if (depth == 0 && (*at == ',' || *at == ')' || ct_is_blank(*at)))
			break;
		if (ct_is_blank(*at)) {
			ct_scan_blanks(parser);
			option_keep_char(trace, ' ');
			continue;
		}
		if (*at != '\'')
			parser->at++;
		else if (!ct_scan_quotation(parser))
			return quotation_refuse(parser, at);
		option_keep(trace, ct_span_of(at, parser->at));
		depth += *at == '(';
		depth -= *at == ')';
	}
	if (depth != 0)
		return value_refuse_found(parser, "\")\"");
	return parser->at > start || value_refuse_found(parser, "an option");
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

	if (!(ct_scan_is_at(parser, '\'') ? option_read_quoted(parser)
					  : option_read_unquoted(parser)))
		return false;
	option = ct_span_of(start, parser->at);
	if (size_before <= CTRACE_MAX_OPTIONS && trace->options_size > CTRACE_MAX_OPTIONS)
		ct_diagnose_word(
			parser, CTRACE_RSN_OPTIONS_TOO_LONG, option, "makes the options too long",
			"at most 1024 characters in all strings, with a comma between two");
	if (options_have_control(trace, size_before))
		ct_diagnose_syntax(parser, option, "has a control character", "text");
	return true;
}

static bool options_read_list(struct ct_parser *parser)
{
	if (ct_scan_accept(parser, ')'))
		return true;
	for (;;) {
		ct_scan_blanks(parser);
		if (!ct_read_option(parser))
			return false;
		if (!ct_scan_accept(parser, ','))
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
