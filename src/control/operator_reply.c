/*
 * operator_reply.c - the operands of a reply, and the reply as operands again.
 *
 * Called by the tool, on its thread, for a text that an operator typed or that a file kept.  What a reply says is a trace's clauses in
 * another punctuation: ASIDs, job names and options are read by what reads a member's.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "control/operator_scan.h"

#include <stdio.h>
#include <string.h>

/* Lists: in parentheses, or one value without them. */
static void read_list(struct ct_parser *parser, bool (*read)(struct ct_parser *parser),
		      void (*take)(struct ct_parser *parser, struct ct_span value), const char *expected)
{
	struct ct_span value;

	if (ct_scan_accept(parser, '('))
		(void)read(parser); /* false: it has complained */
	else if (ct_operand_value(parser, expected, &value))
		take(parser, value);
}

static void read_asid(struct ct_parser *parser, void *out)
{
	const struct ct_trace_request *trace = ct_parser_trace(parser);
	struct ct_reply *reply = out;
	size_t size = 0;

	read_list(parser, ct_read_asid, ct_take_asid, "an ASID, or ASIDs in parentheses");
	reply->has_asid = true;
	reply->asid[0] = '\0';
	if (parser->reason != 0)
		return;
	for (uint32_t i = 0; i < trace->asid_count; i++)
		size += (size_t)snprintf(reply->asid + size, sizeof reply->asid - size, "%s%X", i == 0 ? "" : ",",
					 (unsigned)trace->asid[i]);
}

static void read_jobname(struct ct_parser *parser, void *out)
{
	const struct ct_trace_request *trace = ct_parser_trace(parser);
	struct ct_reply *reply = out;
	size_t size = 0;

	read_list(parser, ct_read_jobname, ct_take_jobname, "a job name, or job names in parentheses");
	reply->has_jobname = true;
	reply->jobname[0] = '\0';
	if (parser->reason != 0)
		return;
	for (uint32_t i = 0; i < trace->jobname_count; i++)
		size += (size_t)snprintf(reply->jobname + size, sizeof reply->jobname - size, "%s%s", i == 0 ? "" : ",",
					 trace->jobname[i]);
}

/* Without parentheses there is one option. */
static void read_options(struct ct_parser *parser, void *out)
{
	const struct ct_trace_request *trace = ct_parser_trace(parser);
	struct ct_reply *reply = out;
	bool is_read;

	is_read = ct_scan_accept(parser, '(') ? ct_read_options(parser) : ct_read_option(parser);
	if (!is_read || parser->reason != 0)
		return;
	reply->has_options = true;
	memcpy(reply->options, trace->options, trace->options_size);
	reply->options[trace->options_size] = '\0';
}

static void read_wtr(struct ct_parser *parser, void *out)
{
	struct ct_reply *reply = out;
	char writer[CTRACE_MAX_NAME + 1];
	struct ct_span value;
	uint32_t reason;

	if (!ct_operand_value(parser, "a writer's name or DISCONNECT", &value))
		return;
	reply->has_wtr = true;
	if (ct_name_is(value.at, value.size, "DISCONNECT")) {
		(void)snprintf(reply->wtr, sizeof reply->wtr, "DISCONNECT");
		return;
	}
	reason = ct_writer_parse(value.at, value.size, writer);
	ct_operand_check(parser, value, reason);
	if (reason == 0)
		(void)snprintf(reply->wtr, sizeof reply->wtr, "%s", writer);
}

/* It is not the end: so is every reply before its operands are read. */
static void read_cont(struct ct_parser *parser, void *out)
{
	(void)parser;
	(void)out;
}

static void read_end(struct ct_parser *parser, void *out)
{
	struct ct_reply *reply = out;

	(void)parser;
	reply->is_end = true;
}

/* clang-format off */
static const struct ct_operand operands[] = {
	{ "ASID",    true,  false, 0, read_asid },
	{ "JOBNAME", true,  false, 1, read_jobname },
	{ "OPTIONS", true,  false, 2, read_options },
	{ "WTR",     true,  false, 3, read_wtr },
	{ "CONT",    false, true,  4, read_cont },
	{ "END",     false, true,  4, read_end },
};
/* clang-format on */

enum ctrace_status ct_reply_parse(const char *text, size_t size, struct ct_reply *reply, struct ct_complaint *complaint)
{
	static const struct ct_operand_table table = { operands, CT_COUNT(operands), "is not an operand of a reply" };
	struct ct_trace_request trace = { .state = CT_STATE_NONE };
	struct ct_parmlib room = { .requests = &trace, .count = 1 };
	struct ct_reply sum = *reply;
	struct ct_said said = { .group = { { NULL, 0 } } };
	struct ct_line line;

	if (!ct_line_start(&line, text, size, "the reply", complaint) || !ct_line_is_text(&line))
		return CTRACE_FAILURE;
	line.parser.out = &room;
	sum.is_end = false;
	ct_scan_blanks(&line.parser);
	if (line.parser.at < line.parser.end && !ct_operands_read(&line.parser, &table, &sum, &said))
		return CTRACE_FAILURE;
	*reply = sum;
	return CTRACE_OK;
}

/* ---- the other way ---- */

/* Do these options need no quotation marks to be read again as they are? */
static bool is_plain(const char *options)
{
	struct ct_reply read = { .is_end = false };
	struct ct_complaint ignored;
	struct ct_buf text;
	bool is_same;

	ct_buf_init(&text);
	ct_buf_add_format(&text, "OPTIONS=(%s)", options);
	is_same = !text.failed && ct_reply_parse(text.data, text.size, &read, &ignored) == CTRACE_OK && !read.has_asid &&
		  !read.has_jobname && !read.has_wtr && !read.is_end && strcmp(read.options, options) == 0;
	ct_buf_fini(&text);
	return is_same;
}

/* As they were typed; what would be read otherwise is one string, however many were read. */
static void print_options(const char *options, struct ct_buf *out)
{
	const char *mark = options[0] != '\0' ? "'" : "";

	if (is_plain(options)) {
		ct_buf_add_format(out, ",OPTIONS=(%s)", options);
		return;
	}
	ct_buf_add_format(out, ",OPTIONS=(%s", mark);
	for (const char *at = options; *at != '\0'; at++) {
		ct_buf_add_char(out, *at);
		if (*at == '\'')
			ct_buf_add_char(out, '\'');
	}
	ct_buf_add_format(out, "%s)", mark);
}

static void print_operands(const struct ct_reply *reply, struct ct_buf *out)
{
	if (reply->has_asid)
		ct_buf_add_format(out, ",ASID=(%s)", reply->asid);
	if (reply->has_jobname)
		ct_buf_add_format(out, ",JOBNAME=(%s)", reply->jobname);
	if (reply->has_options)
		print_options(reply->options, out);
	if (reply->has_wtr)
		ct_buf_add_format(out, ",WTR=%s", reply->wtr);
	if (reply->is_end)
		ct_buf_add_text(out, ",END");
}

void ct_reply_print(const struct ct_reply *reply, struct ct_buf *out)
{
	struct ct_buf operands_text;

	ct_buf_init(&operands_text);
	print_operands(reply, &operands_text);
	if (operands_text.failed)
		out->failed = true;
	else if (operands_text.size != 0)
		ct_buf_add(out, operands_text.data + 1, operands_text.size - 1); /* without the first comma */
	ct_buf_fini(&operands_text);
}
