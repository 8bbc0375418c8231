/*
 * operator_reply.c - the operands of a reply, and those of several replies as one.
 *
 * Called by the tool, on its thread, for a text that an operator typed or that a file kept.  The
 * operands are a trace's clauses in another punctuation, so the parsers of a member read ASIDs, job
 * names and options.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_scan.h"

/* Lists: in parentheses, or one value without them. */
static void read_list(struct ct_parser *parser, bool (*read)(struct ct_parser *parser),
		      void (*take)(struct ct_parser *parser, struct ct_span value),
		      const char *expected)
{
	struct ct_span value;

	if (ct_parser_accept(parser, '('))
		(void)read(parser); /* false: the diagnostic is reported */
	else if (ct_operand_value(parser, expected, &value))
		take(parser, value);
}

static void read_asid(struct ct_parser *parser, void *out)
{
	(void)out;
	read_list(parser, ct_read_asid, ct_take_asid, "an ASID, or ASIDs in parentheses");
	ct_parser_trace(parser)->has[CT_CLAUSE_ASID] = true;
}

static void read_jobname(struct ct_parser *parser, void *out)
{
	(void)out;
	read_list(parser, ct_read_jobname, ct_take_jobname,
		  "a job name, or job names in parentheses");
	ct_parser_trace(parser)->has[CT_CLAUSE_JOBNAME] = true;
}

/* Without parentheses there is exactly one option. */
static void read_options(struct ct_parser *parser, void *out)
{
	(void)out;
	/* false: the diagnostic is reported */
	(void)!(ct_parser_accept(parser, '(') ? ct_read_options(parser) : ct_read_option(parser));
	ct_parser_trace(parser)->has[CT_CLAUSE_OPTIONS] = true;
}

static void read_wtr(struct ct_parser *parser, void *out)
{
	struct ct_span value;

	(void)out;
	if (ct_operand_value(parser, "a writer's name or DISCONNECT", &value))
		ct_take_wtr(parser, value);
	ct_parser_trace(parser)->has[CT_CLAUSE_WTR] = true;
}

/* groups: the values of the groups before it are kept until END */
enum { REPLY_CLAUSES = 4 };

/* clang-format off */
static const struct ct_operand operands[] = {
	{ "ASID",    true,  false, 0, .read = read_asid },
	{ "JOBNAME", true,  false, 1, .read = read_jobname },
	{ "OPTIONS", true,  false, 2, .read = read_options },
	{ "WTR",     true,  false, 3, .read = read_wtr },
	{ "CONT",    false, true,  REPLY_CLAUSES, .flag = 0 },
	{ "END",     false, true,  REPLY_CLAUSES, .flag = 1 },
};
/* clang-format on */

static enum ctrace_status reply_parse(struct ct_span text, struct ct_trace_request *trace,
				      bool *is_end, struct ct_given *given,
				      struct ct_diagnostic *diagnostic)
{
	static const struct ct_operand_table table = { operands, CT_COUNT(operands),
						       "is not an operand of a reply" };
	struct ct_parmlib room = { .requests = trace, .count = 1 };
	struct ct_parser parser;

	if (!ct_line_start(&parser, text.at, text.size, "the reply", diagnostic) ||
	    !ct_line_is_text(&parser))
		return CTRACE_FAILURE;
	parser.out = &room;
	ct_parser_blanks(&parser);
	if (parser.at < parser.end && !ct_operands_read(&parser, &table, is_end, given))
		return CTRACE_FAILURE;
	return CTRACE_OK;
}

enum ctrace_status ct_reply_parse(const char *text, size_t size, struct ct_trace_request *out,
				  bool *out_is_end, struct ct_diagnostic *diagnostic)
{
	struct ct_trace_request trace = { .state = CTRACE_CT_NONE };
	struct ct_given given = { .group = { { NULL, 0 } } };
	bool is_end = false;
	enum ctrace_status status =
		reply_parse((struct ct_span){ text, size }, &trace, &is_end, &given, diagnostic);

	if (status == CTRACE_OK) {
		*out = trace;
		*out_is_end = is_end;
	}
	return status;
}

void ct_reply_join(struct ct_span before, struct ct_span text, struct ct_buf *out)
{
	struct ct_given given[2] = { { .group = { { NULL, 0 } } }, { .group = { { NULL, 0 } } } };
	struct ct_trace_request ignored = { .state = CTRACE_CT_NONE };
	struct ct_diagnostic diagnostic;
	bool is_end, is_first = true;

	(void)!reply_parse(before, &ignored, &is_end, &given[0], &diagnostic);
	(void)!reply_parse(text, &ignored, &is_end, &given[1], &diagnostic);
	for (unsigned group = 0; group < REPLY_CLAUSES; group++) {
		const struct ct_given *last = &given[given[1].whole[group].at != NULL];
		size_t word = last->group[group].size;

		if (last->whole[group].at == NULL)
			continue;
		ct_buf_add_format(out, "%s%s", is_first ? "" : ",", operands[group].name);
		ct_buf_add(out, last->whole[group].at + word, last->whole[group].size - word);
		is_first = false;
	}
}
