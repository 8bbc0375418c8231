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

#include <string.h>

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

/* ---- to DUMP ---- */

struct value_list {
	uint32_t *count;
	const char *expected;
	/* takes value number `index`; a wrong one is reported */
	void (*take)(struct ct_parser *parser, struct ct_dump_reply *reply, uint32_t index,
		     struct ct_span value);
};

static void values_read(struct ct_parser *parser, struct ct_dump_reply *reply,
			const struct value_list *list)
{
	bool is_enclosed = ct_parser_accept(parser, '(');

	do {
		struct ct_span value;

		ct_parser_blanks(parser);
		value = ct_parser_value(parser);
		if (value.size == 0)
			ct_parser_diagnose_found(parser, list->expected);
		else if (*list->count == CT_OPERATOR_NAMES)
			ct_parser_diagnose_word(parser, value, "is one too many", "at most 16");
		else
			list->take(parser, reply, (*list->count)++, value);
	} while (is_enclosed && !parser->has_failed && ct_parser_accept(parser, ','));
	if (!parser->has_failed && is_enclosed && !ct_parser_accept(parser, ')'))
		ct_parser_diagnose_found(parser, "\",\" or \")\"");
}

static void name_copy(struct ct_parser *parser, struct ct_span value,
		      char out[CTRACE_MAX_COMPONENT + 1])
{
	if (value.size > CTRACE_MAX_COMPONENT) {
		ct_parser_diagnose_word(parser, value, "is too long", "at most 255 bytes");
		return;
	}
	memcpy(out, value.at, value.size);
	out[value.size] = '\0';
}

static void dump_asid_take(struct ct_parser *parser, struct ct_dump_reply *reply, uint32_t index,
			   struct ct_span value)
{
	ct_diagnose_value(parser, value, ct_asid_parse(value.at, value.size, &reply->asid[index]));
}

static void dump_job_take(struct ct_parser *parser, struct ct_dump_reply *reply, uint32_t index,
			  struct ct_span value)
{
	name_copy(parser, value, reply->job[index]);
}

static void dump_name_take(struct ct_parser *parser, struct ct_dump_reply *reply, uint32_t index,
			   struct ct_span value)
{
	name_copy(parser, value, reply->name[index]);
}

static void read_dump_asid(struct ct_parser *parser, void *out)
{
	struct ct_dump_reply *reply = out;

	values_read(parser, reply,
		    &(struct value_list){ &reply->asid_count, "an ASID, or ASIDs in parentheses",
					  dump_asid_take });
}

static void read_dump_job(struct ct_parser *parser, void *out)
{
	struct ct_dump_reply *reply = out;

	values_read(parser, reply,
		    &(struct value_list){ &reply->job_count,
					  "a job name, or job names in parentheses",
					  dump_job_take });
}

static void read_dump_name(struct ct_parser *parser, void *out)
{
	struct ct_dump_reply *reply = out;

	values_read(parser, reply,
		    &(struct value_list){ &reply->name_count,
					  "a component, or components in parentheses",
					  dump_name_take });
}

/* On z/OS: which areas of storage are dumped. */
static void read_sdata(struct ct_parser *parser, void *out)
{
	struct ct_span ignored;

	(void)out;
	(void)!(ct_parser_accept(parser, '(')
			? ct_parser_group(parser, 1, &ignored)
			: ct_operand_value(parser, "options in parentheses", &ignored));
}

/* clang-format off */
static const struct ct_operand dump_operands[] = {
	{ "ASID",    true,  false, 0, .read = read_dump_asid },
	{ "JOBNAME", true,  false, 1, .read = read_dump_job },
	{ "COMP",    true,  false, 2, .read = read_dump_name },
	{ "SDATA",   true,  false, 3, .read = read_sdata },
	{ "CONT",    false, true,  REPLY_CLAUSES, .flag = 0 },
	{ "END",     false, true,  REPLY_CLAUSES, .flag = offsetof(struct ct_dump_reply, is_end) + 1 },
};
/* clang-format on */

static enum ctrace_status dump_reply_parse(struct ct_span text, struct ct_dump_reply *reply,
					   struct ct_given *given, struct ct_diagnostic *diagnostic)
{
	static const struct ct_operand_table table = { dump_operands, CT_COUNT(dump_operands),
						       "is not an operand of a reply to DUMP",
						       "; U or CANCEL alone" };
	struct ct_span word;
	struct ct_parser parser;

	if (!ct_line_start(&parser, text.at, text.size, "the reply", diagnostic) ||
	    !ct_line_is_text(&parser))
		return CTRACE_FAILURE;
	ct_parser_blanks(&parser);
	if (ct_name_is(parser.at, (size_t)(parser.end - parser.at), "U")) {
		reply->is_end = true; /* every process */
		return CTRACE_OK;
	}
	word = ct_parser_word(&(struct ct_parser){ .at = parser.at, .end = parser.end });
	if (ct_name_is(word.at, word.size, "U") || ct_name_is(word.at, word.size, "CANCEL"))
		ct_parser_diagnose_word(&parser, word, "stands alone", "nothing behind it");
	else if (parser.at < parser.end && !ct_operands_read(&parser, &table, reply, given))
		return CTRACE_FAILURE;
	return parser.has_failed ? CTRACE_FAILURE : CTRACE_OK;
}

enum ctrace_status ct_dump_reply_parse(const char *text, size_t size, struct ct_dump_reply *out,
				       struct ct_diagnostic *diagnostic)
{
	struct ct_given given = { .group = { { NULL, 0 } } };
	struct ct_dump_reply reply = { .is_end = false };
	enum ctrace_status status =
		dump_reply_parse((struct ct_span){ text, size }, &reply, &given, diagnostic);

	if (status == CTRACE_OK)
		*out = reply;
	return status;
}

/* ---- to TRACE CT ---- */

static enum ctrace_status reply_parse(struct ct_span text, struct ct_trace_request *trace,
				      bool *is_end, struct ct_given *given,
				      struct ct_diagnostic *diagnostic)
{
	static const struct ct_operand_table table = { operands, CT_COUNT(operands),
						       "is not an operand of a reply", NULL };
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

/* Finds the operands of a correct reply. */
static void reply_locate(enum ct_operator_kind kind, struct ct_span text, struct ct_given *given)
{
	struct ct_trace_request trace = { .state = CTRACE_CT_NONE };
	struct ct_dump_reply dump = { .is_end = false };
	struct ct_diagnostic diagnostic;
	bool is_end;

	if (kind == CT_OPERATOR_DUMP)
		(void)!dump_reply_parse(text, &dump, given, &diagnostic);
	else
		(void)!reply_parse(text, &trace, &is_end, given, &diagnostic);
}

void ct_reply_join(enum ct_operator_kind kind, struct ct_span before, struct ct_span text,
		   struct ct_buf *out)
{
	const struct ct_operand *rows = kind == CT_OPERATOR_DUMP ? dump_operands : operands;
	struct ct_given given[2] = { { .group = { { NULL, 0 } } }, { .group = { { NULL, 0 } } } };
	bool is_first = true;

	reply_locate(kind, before, &given[0]);
	reply_locate(kind, text, &given[1]);
	for (unsigned group = 0; group < REPLY_CLAUSES; group++) {
		const struct ct_given *last = &given[given[1].whole[group].at != NULL];
		size_t word = last->group[group].size;

		if (last->whole[group].at == NULL)
			continue;
		ct_buf_add_format(out, "%s%s", is_first ? "" : ",", rows[group].name);
		ct_buf_add(out, last->whole[group].at + word, last->whole[group].size - word);
		is_first = false;
	}
}
