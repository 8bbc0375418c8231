/*
 * operator_scan.c - one line of an operator: its text, its operands, and its first error.
 *
 * Called by the commands' parsers, on any thread.  The text may be any bytes and need not be
 * terminated.  Nothing is read past its end, and each byte is read a fixed number of times.  Only
 * the words of a diagnostic are allocated.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_scan.h"

#include <stdio.h>
#include <string.h>

/* the parser's reason code, which operators do not see */
#define SYNTAX CTRACE_RSN_MEMBER_SYNTAX

/* Keeps the first diagnostic: later ones may only be its consequences. */
static void diagnostic_keep_first(uint32_t reason, const struct ct_diagnostic *diagnostic,
				  void *user)
{
	struct ct_line *line = user;

	(void)reason;
	if (line->has_diagnosed)
		return;
	line->has_diagnosed = true;
	*line->diagnostic = *diagnostic;
	line->diagnostic->line = 0;
}

/* ---- the line ---- */

bool ct_line_start(struct ct_line *line, const char *text, size_t size, const char *whole,
		   struct ct_diagnostic *diagnostic)
{
	char message[60];
	const char *start = size != 0 ? text : "";

	*line = (struct ct_line){ .diagnostic = diagnostic };
	line->parser = (struct ct_parser){ .at = start,
					   .end = start + size,
					   .whole = whole,
					   .placed = start,
					   .line_start = start,
					   .line = 1,
					   .diagnose = diagnostic_keep_first,
					   .user = line };
	while (line->parser.end > start && ct_is_blank(line->parser.end[-1]))
		line->parser.end--;
	if (line->parser.end - start <= CT_OPERATOR_LINE)
		return true;
	(void)snprintf(message, sizeof message, "%s is too long", whole);
	ct_diagnose_place(&line->parser, SYNTAX, start + CT_OPERATOR_LINE, message,
			  "at most 8192 bytes");
	return false;
}

bool ct_line_is_text(struct ct_line *line)
{
	for (const char *at = line->parser.at; at < line->parser.end; at++)
		if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7F) {
			ct_diagnose_syntax(&line->parser, ct_span_of(at, at + 1),
					   "is a control character", "text");
			return false;
		}
	return true;
}

/* ---- operands ---- */

static const struct ct_operand *operand_find(const struct ct_operand_table *table,
					     struct ct_span word)
{
	for (size_t i = 0; i < table->count; i++)
		if (ct_name_is(word.at, word.size, table->rows[i].name))
			return &table->rows[i];
	return NULL;
}

static const char *operand_suggest(const struct ct_operand_table *table, struct ct_span word)
{
	const char *names[16];
	size_t count = 0;

	for (; count < table->count && count < CT_COUNT(names); count++)
		names[count] = table->rows[count].name;
	return ct_suggest(word, names, count);
}

static size_t operands_count_unsaid(const struct ct_operand_table *table,
				    const struct ct_said *said)
{
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += said->group[table->rows[i].group].at == NULL;
	return count;
}

/* Lists the operands that may still come: "COMP=, SUB= or PARM=" */
static void operands_list_unsaid(const struct ct_operand_table *table, const struct ct_said *said,
				 char out_text[200])
{
	size_t left = operands_count_unsaid(table, said);
	size_t size = 0;

	(void)snprintf(out_text, 200, "nothing more");
	for (size_t i = 0; i < table->count; i++) {
		const struct ct_operand *row = &table->rows[i];

		if (said->group[row->group].at != NULL)
			continue;
		left--;
		size += (size_t)snprintf(out_text + size, 200 - size, "%s%s%s", row->name,
					 row->has_value ? "=" : "",
					 left > 1    ? ", "
					 : left == 1 ? " or "
						     : "");
	}
}

static void operand_refuse(struct ct_parser *parser, const struct ct_operand_table *table,
			   struct ct_span word, const struct ct_said *said)
{
	char expected[200];

	operands_list_unsaid(table, said, expected);
	if (word.size == 0)
		ct_diagnose_found(parser, expected);
	else
		ct_diagnose(parser, &(struct ct_diagnostic_parts){ SYNTAX, word, table->refusal,
								   operand_suggest(table, word),
								   expected });
}

/* before: the earlier operand of the same group */
static void operand_refuse_again(struct ct_parser *parser, struct ct_span word,
				 struct ct_span before)
{
	char what[40];

	if (ct_name_equal(word.at, word.size, before.at, before.size))
		(void)snprintf(what, sizeof what, "is there already");
	else
		(void)snprintf(what, sizeof what, "contradicts %.*s", (int)before.size, before.at);
	ct_diagnose_syntax(parser, word, what, "each operand once");
}

static void operand_read(struct ct_parser *parser, const struct ct_operand_table *table, void *out,
			 struct ct_said *said)
{
	const struct ct_operand *row;
	struct ct_span word;

	ct_scan_blanks(parser);
	word = ct_scan_word(parser);
	row = operand_find(table, word);
	if (row == NULL) {
		operand_refuse(parser, table, word, said);
	} else if (said->group[row->group].at != NULL) {
		operand_refuse_again(parser, word, said->group[row->group]);
	} else if (row->has_value && !ct_scan_accept(parser, '=')) {
		ct_diagnose_found(parser, "\"=\"");
	} else {
		said->group[row->group] = word;
		if (row->flag != 0)
			*(bool *)((char *)out + row->flag - 1) = true;
		if (row->read != NULL)
			row->read(parser, out);
		said->whole[row->group] = ct_span_of(word.at, parser->at);
		ct_scan_blanks(parser);
		if (parser->reason == 0 && row->is_last && parser->at < parser->end)
			ct_diagnose_syntax(parser, word, "is not the last operand",
					   "nothing behind it");
	}
}

bool ct_operands_read(struct ct_parser *parser, const struct ct_operand_table *table, void *out,
		      struct ct_said *said)
{
	do
		operand_read(parser, table, out, said);
	while (parser->reason == 0 && ct_scan_accept(parser, ','));
	if (parser->reason == 0 && parser->at < parser->end)
		ct_diagnose_found(parser, "\",\"");
	return parser->reason == 0;
}

bool ct_operand_value(struct ct_parser *parser, const char *expected, struct ct_span *out_value)
{
	bool is_enclosed = ct_scan_accept(parser, '(');
	struct ct_span value;

	ct_scan_blanks(parser);
	value = ct_scan_value(parser);
	if (value.size == 0) {
		ct_diagnose_found(parser, expected);
		return false;
	}
	if (is_enclosed && !ct_scan_accept(parser, ')')) {
		ct_diagnose_found(parser, "\")\"");
		return false;
	}
	*out_value = value;
	return true;
}
