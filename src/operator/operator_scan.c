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

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool ct_line_start(struct ct_parser *parser, const char *text, size_t size, const char *whole,
		   struct ct_diagnostic *diagnostic)
{
	char message[60];

	ct_parser_start(parser, text, size, whole);
	parser->line = 0;
	parser->usual = CTRACE_RSN_MEMBER_SYNTAX;
	parser->first = diagnostic;
	while (parser->end > parser->at && ct_is_blank(parser->end[-1]))
		parser->end--;
	if (parser->end - parser->at <= CT_OPERATOR_LINE)
		return true;
	(void)snprintf(message, sizeof message, "%s is too long", whole);
	ct_parser_diagnose_at(parser, parser->at + CT_OPERATOR_LINE, message, "at most 8192 bytes");
	return false;
}

bool ct_line_is_text(struct ct_parser *parser)
{
	for (const char *at = parser->at; at < parser->end; at++)
		if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7F) {
			ct_parser_diagnose_word(parser, ct_span_of(at, at + 1),
						"is a control character", "text");
			return false;
		}
	return true;
}

/* ---- operands ---- */

static struct ct_keywords operand_names(const struct ct_operand_table *table)
{
	return (struct ct_keywords){ table->rows, sizeof table->rows[0], table->count };
}

static size_t operands_count_missing(const struct ct_operand_table *table,
				     const struct ct_given *given)
{
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += given->group[table->rows[i].group].at == NULL;
	return count;
}

/* Lists the operands that may still come: "COMP=, SUB= or PARM=" */
static void operands_list_missing(const struct ct_operand_table *table,
				  const struct ct_given *given, char out_text[200])
{
	size_t left = operands_count_missing(table, given);
	bool is_first = left == table->count;
	size_t size = 0;

	(void)snprintf(out_text, 200, "nothing more");
	for (size_t i = 0; i < table->count; i++) {
		const struct ct_operand *row = &table->rows[i];

		if (given->group[row->group].at != NULL)
			continue;
		left--;
		size += (size_t)snprintf(out_text + size, 200 - size, "%s%s%s", row->name,
					 row->has_value ? "=" : "",
					 left > 1    ? ", "
					 : left == 1 ? " or "
						     : "");
	}
	if (is_first && table->instead != NULL)
		(void)snprintf(out_text + size, 200 - size, "%s", table->instead);
}

static void operand_refuse(struct ct_parser *parser, const struct ct_operand_table *table,
			   struct ct_span word, const struct ct_given *given)
{
	char expected[200];

	operands_list_missing(table, given, expected);
	if (word.size == 0)
		ct_parser_diagnose_found(parser, expected);
	else
		ct_parser_diagnose(parser,
				   &(struct ct_finding){
					   .word = word,
					   .what = table->refusal,
					   .meant = ct_keywords_suggest(operand_names(table), word),
					   .expected = expected });
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
	ct_parser_diagnose_word(parser, word, what, "each operand once");
}

static void operand_read(struct ct_parser *parser, const struct ct_operand_table *table, void *out,
			 struct ct_given *given)
{
	const struct ct_operand *row;
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	row = ct_keywords_find(operand_names(table), word);
	if (row == NULL) {
		operand_refuse(parser, table, word, given);
	} else if (given->group[row->group].at != NULL) {
		operand_refuse_again(parser, word, given->group[row->group]);
	} else if (row->has_value && !ct_parser_accept(parser, '=')) {
		ct_parser_diagnose_found(parser, "\"=\"");
	} else {
		given->group[row->group] = word;
		if (row->flag != 0)
			*(bool *)((char *)out + row->flag - 1) = true;
		if (row->read != NULL)
			row->read(parser, out);
		given->whole[row->group] = ct_span_of(word.at, parser->at);
		ct_parser_blanks(parser);
		if (!parser->has_failed && row->is_last && parser->at < parser->end)
			ct_parser_diagnose_word(parser, word, "is not the last operand",
						"nothing behind it");
	}
}

bool ct_operands_read(struct ct_parser *parser, const struct ct_operand_table *table, void *out,
		      struct ct_given *given)
{
	do
		operand_read(parser, table, out, given);
	while (!parser->has_failed && ct_parser_accept(parser, ','));
	if (!parser->has_failed && parser->at < parser->end)
		ct_parser_diagnose_found(parser, "\",\"");
	return !parser->has_failed;
}

bool ct_operand_value(struct ct_parser *parser, const char *expected, struct ct_span *out_value)
{
	bool is_enclosed = ct_parser_accept(parser, '(');
	struct ct_span value;

	ct_parser_blanks(parser);
	value = ct_parser_value(parser);
	if (value.size == 0) {
		ct_parser_diagnose_found(parser, expected);
		return false;
	}
	if (is_enclosed && !ct_parser_accept(parser, ')')) {
		ct_parser_diagnose_found(parser, "\")\"");
		return false;
	}
	*out_value = value;
	return true;
}

/* ---- the values of COMP and SUB */

/* COMP may name a trace of component trace or of the native API, so any name or glob is allowed.
 * SUB is a path of component trace, in any case. */

/* Reads a component's name in quotation marks: any characters, with '' for a quotation mark.
 * Returns its full size, even when only the beginning fits. */
static size_t read_quoted_name(struct ct_parser *parser, char out_name[CTRACE_MAX_COMPONENT + 1])
{
	const char *at = parser->at + 1;
	size_t size = 0;

	if (!ct_parser_quotation(parser))
		return 0;
	for (; at < parser->at - 1; at++, size++) {
		if (size < CTRACE_MAX_COMPONENT)
			out_name[size] = *at;
		at += *at == '\''; /* '' is one character */
	}
	out_name[size < CTRACE_MAX_COMPONENT ? size : CTRACE_MAX_COMPONENT] = '\0';
	return size;
}

/* Reads a name and converts it to component trace's spelling, if it is a valid name there.
 * Returns its size. */
static size_t read_plain_name(struct ct_parser *parser, char out_name[CTRACE_MAX_COMPONENT + 1])
{
	struct ct_span word = ct_parser_word(parser);
	char upper[CTRACE_MAX_NAME];

	if (word.size == 0)
		ct_parser_diagnose_found(parser, "the name of a component");
	if (word.size > CTRACE_MAX_COMPONENT)
		return word.size;
	memcpy(out_name, word.at, word.size);
	out_name[word.size] = '\0';
	if (word.size <= sizeof upper) {
		memcpy(upper, word.at, word.size);
		ct_name_upper(upper, word.size);
		if (ct_trace_name_is_valid(upper, word.size))
			memcpy(out_name, upper, word.size);
	}
	return word.size;
}

/* Returns the name as it was written, so that ALL in quotation marks is a name. */
static struct ct_span read_name(struct ct_parser *parser, char out_name[CTRACE_MAX_COMPONENT + 1])
{
	struct ct_span word;
	const char *start;
	size_t size;

	ct_parser_blanks(parser);
	start = parser->at;
	size = ct_parser_is_at(parser, '\'') ? read_quoted_name(parser, out_name)
					     : read_plain_name(parser, out_name);
	word = ct_span_of(start, parser->at);
	if (parser->has_failed)
		return word;
	if (size > CTRACE_MAX_COMPONENT)
		ct_parser_diagnose_word(parser, word, "is too long", "at most 255 bytes");
	else if (ct_component_check_name(out_name, size) != CTRACE_OK)
		ct_parser_diagnose_word(parser, word, "is not the name of a component",
					"a name, or names with dots between");
	return word;
}

uint32_t ct_read_names(struct ct_parser *parser, const struct ct_names *names)
{
	bool is_enclosed = ct_parser_accept(parser, '(');
	char name[CTRACE_MAX_COMPONENT + 1];
	struct ct_span word;
	uint32_t count = 0;

	do {
		word = read_name(parser, name);
		if (parser->has_failed)
			return 0;
		if (count == names->most) {
			ct_parser_diagnose_word(parser, word, "is one too many", names->expected);
			return 0;
		}
		memcpy(names->name[count++], name, strlen(name) + 1);
	} while (is_enclosed && ct_parser_accept(parser, ','));
	if (is_enclosed && !ct_parser_accept(parser, ')'))
		ct_parser_diagnose_found(parser, "\",\" or \")\"");
	if (names->all != NULL && count == 1 && ct_name_is(word.at, word.size, "ALL")) {
		*names->all = true;
		return 0;
	}
	return count;
}

/* ---- SUB ---- */

void ct_operator_fold(char *text, size_t size)
{
	char mark = '\0';

	for (size_t i = 0; i < size; i++)
		if (mark != '\0')
			mark = text[i] == mark ? '\0' : mark;
		else if (text[i] == '\'' || text[i] == '"')
			mark = text[i];
		else
			ct_name_upper(text + i, 1);
}

/* Returns true for a pattern of names, which only TRACE CT allows; it is matched against the
 * traces that exist. */
static bool path_is_pattern(const char *text, size_t size)
{
	bool is_one = false;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		bool is_wild = c == '*' || c == '?';

		if (!is_wild && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    strchr("@#$_.", c) == NULL && !ct_is_blank(c))
			return false;
		is_one |= is_wild;
	}
	return is_one;
}

static void sub_take(struct ct_parser *parser, struct ct_span value,
		     struct ct_operator_command *command)
{
	char text[CTRACE_MAX_COMPONENT];
	struct ct_diagnostic diagnostic = { .line = 0 };
	struct ct_sub_path path;
	size_t size = 0;

	if (value.size > sizeof text) {
		ct_parser_diagnose_word(parser, value, "is too long", "at most 255 bytes");
		return;
	}
	memcpy(text, value.at, value.size);
	ct_operator_fold(text, value.size);
	if (command->kind != CT_OPERATOR_TRACE_CT || !path_is_pattern(text, value.size))
		diagnostic.code = ct_sub_parse(text, value.size, &path, &diagnostic);
	if (diagnostic.code != 0) {
		ct_parser_diagnose_filled(parser, value.at + diagnostic.column - 1, &diagnostic);
		return;
	}
	for (size_t i = 0; i < value.size; i++) /* no name has blanks */
		if (!ct_is_blank(text[i]))
			command->sub[size++] = text[i];
	command->sub[size] = '\0';
	command->has_sub = true;
}

void ct_read_operator_sub(struct ct_parser *parser, void *out)
{
	struct ct_span path;

	if (ct_parser_accept(parser, '(') ? ct_parser_group(parser, UINT_MAX, &path)
					  : ct_parser_nested(parser, ",)", UINT_MAX, &path))
		sub_take(parser, path, out);
}
