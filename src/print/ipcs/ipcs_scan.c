/*
 * ipcs_scan.c - a command's text as words and values, as TSO reads them: comments, continuation
 * lines, parentheses, quotation marks.
 *
 * Called by the parsers of ipcs_parse.c, on the thread that asked.  The text may be any bytes and
 * need not be terminated.  It is copied once, without comments and with continuation lines joined;
 * each byte of the copy keeps its original position.  Nothing is read past the end, and operands
 * are not known here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- diagnostics ---- */

void ct_ipcs_diagnose(struct ct_parser *scan, enum ct_ipcs_message message, struct ct_span word,
		      const char *what, const char *expected)
{
	static const struct ct_span no_word;

	ct_parser_diagnose(scan, &(struct ct_finding){ .word = word.size != 0 ? word : no_word,
						       .at = word.at,
						       .what = what,
						       .expected = expected,
						       .code = message });
}

/* ---- lines ---- */

static bool character_is_line_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns where the line continues, after a continuation mark and the line's end; NULL when `at`
 * is no such mark. */
static const char *line_continued(const char *at, const char *end)
{
	if (*at != '-' && *at != '+')
		return NULL;
	for (at++; at < end && character_is_line_blank(*at); at++)
		;
	return at < end && *at == '\n' ? at + 1 : NULL;
}

size_t ct_ipcs_command_size(const char *text, size_t size)
{
	const char *end = text + size;
	const char *at = text;

	while (at < end) {
		const char *next = line_continued(at, end);

		if (next != NULL)
			at = next;
		else if (*at++ == '\n')
			break;
	}
	return (size_t)(at - text);
}

/* Returns the end of the comment at `at`, or of its line; NULL when there is no comment. */
static const char *comment_skip(const char *at, const char *end)
{
	if (end - at < 2 || at[0] != '/' || at[1] != '*')
		return NULL;
	for (at += 2; at < end; at++) {
		if (*at == '\n')
			return at;
		if (*at == '*' && at + 1 < end && at[1] == '/')
			return at + 2;
	}
	return at;
}

bool ct_ipcs_is_empty(const char *text, size_t size)
{
	const char *end = text + size;
	const char *at = text;

	if (size >= 2 && at[0] == '/' && at[1] == '/')
		return true; /* a statement of the batch job that the commands stood in */
	while (at < end && ct_is_blank(*at))
		at++;
	if (at < end && (*at == '*' || *at == '#'))
		return true;
	while (at < end) {
		const char *next = comment_skip(at, end);

		if (next == NULL && (next = line_continued(at, end)) == NULL && !ct_is_blank(*at))
			return false;
		at = next != NULL ? next : at + 1;
	}
	return true;
}

/* ---- the copy ---- */

static void text_put(struct ct_ipcs_text *text, size_t *size, const char *at)
{
	text->places[*size] = (uint32_t)(at - text->original);
	text->text[(*size)++] = *at;
}

/* Returns the size of the copy, which ends at the end or at a control character. */
static size_t text_copy(struct ct_ipcs_text *text, const char *end)
{
	const char *at = text->original;
	bool is_quoted = false;
	size_t size = 0;

	while (at < end) {
		const char *next;

		if (!is_quoted && (next = comment_skip(at, end)) != NULL) {
			text_put(text, &size, at);
			text->text[size - 1] = ' ';
			at = next;
			continue;
		}
		next = line_continued(at, end);
		if (next != NULL) {
			/* After a plus the leading blanks of the next line are dropped. */
			while (*at == '+' && next < end && character_is_line_blank(*next))
				next++;
			at = next;
			continue;
		}
		text_put(text, &size, at);
		if ((unsigned char)*at < ' ' && !ct_is_blank(*at))
			return size - 1;
		is_quoted ^= *at == '\'';
		at++;
	}
	text->places[size] = (uint32_t)(end - text->original);
	text->text[size] = '\0';
	return size;
}

bool ct_ipcs_scan_start(struct ct_parser *scan, struct ct_ipcs_text *text, struct ct_span original,
			struct ct_diagnostic *diagnostic)
{
	size_t size = original.size;
	size_t copied;

	*text = (struct ct_ipcs_text){ .original = original.at };
	while (size > 0 && ct_is_blank(original.at[size - 1]))
		size--;
	ct_parser_start(scan, original.at, size, "the command");
	scan->line = 0;
	scan->first = diagnostic;
	if (size > CT_IPCS_LINE) {
		ct_parser_diagnose_at(scan, scan->at + CT_IPCS_LINE, "the command is too long",
				      "at most 65536 bytes");
		return false;
	}
	text->places = calloc(size + 1, sizeof *text->places);
	text->text = calloc(1, size + 1);
	if (text->text == NULL || text->places == NULL) {
		ct_parser_diagnose_at(scan, scan->at, "there is not enough memory", "more of it");
		return false;
	}
	copied = text_copy(text, original.at + size);
	scan->at = scan->line_start = text->text;
	scan->end = scan->at + copied;
	if (text->places[copied] == size)
		return true;
	ct_parser_diagnose_at(scan, scan->end, "a control character is not text", "a command");
	return false;
}

void ct_ipcs_scan_end(struct ct_parser *scan, struct ct_ipcs_text *text)
{
	struct ct_diagnostic *diagnostic = scan->first;
	size_t offset = scan->has_failed ? diagnostic->column - 1 : 0;
	size_t start = 0;

	if (text->text != NULL && text->places != NULL)
		offset = text->places[offset];
	if (scan->has_failed) {
		diagnostic->line = 1;
		for (size_t i = 0; i < offset; i++)
			if (text->original[i] == '\n') {
				diagnostic->line++;
				start = i + 1;
			}
		diagnostic->column = (unsigned)(offset - start) + 1;
	}
	free(text->text);
	free(text->places);
	*text = (struct ct_ipcs_text){ .text = NULL };
}

/* ---- words ---- */

static bool character_is_separator(char c)
{
	return ct_is_blank(c) || c == ',';
}

void ct_ipcs_scan_blanks(struct ct_parser *scan)
{
	while (scan->at < scan->end && character_is_separator(*scan->at))
		scan->at++;
}

struct ct_span ct_ipcs_scan_word(struct ct_parser *scan)
{
	ct_ipcs_scan_blanks(scan);
	return ct_parser_word(scan);
}

/* ---- groups ---- */

struct ct_span ct_ipcs_scan_group(struct ct_parser *scan, const char *expected)
{
	static const struct ct_span none;
	struct ct_span group;

	if (!ct_parser_group(scan, UINT_MAX, &group))
		return none;
	if (ct_span_trim(group).size == 0 && expected != NULL) {
		ct_parser_diagnose_at(scan, group.at + group.size,
				      "nothing stands between the parentheses", expected);
		return none;
	}
	return ct_span_trim(group);
}

struct ct_span ct_ipcs_inner(struct ct_span group)
{
	struct ct_span inner;
	struct ct_parser scan;

	ct_parser_start(&scan, group.at, group.size, "");
	/* Of two groups neither is one around all. */
	if (ct_parser_is_at(&scan, '(') && ct_parser_accept(&scan, '(') &&
	    ct_parser_group(&scan, UINT_MAX, &inner) && scan.at == scan.end)
		return ct_span_trim(inner);
	return group;
}

struct ct_span ct_ipcs_next_value(struct ct_span *group)
{
	struct ct_parser scan;
	struct ct_span value;

	ct_parser_start(&scan, group->at, group->size, "");
	ct_ipcs_scan_blanks(&scan);
	value = ct_span_of(scan.at, scan.end);
	(void)!ct_parser_nested(&scan, CT_BLANKS ",", UINT_MAX, &value);
	*group = ct_span_of(scan.at, scan.end);
	return value;
}

char *ct_ipcs_unquote(struct ct_span value)
{
	char *text = malloc(value.size + 1);
	size_t size = 0;

	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < value.size; i++) {
		bool is_doubled = value.at[i] == '\'' && i > 0 && i + 2 < value.size &&
				  value.at[i + 1] == '\'';

		if (value.at[i] != '\'' || is_doubled)
			text[size++] = value.at[i];
		i += is_doubled;
	}
	text[size] = '\0';
	return text;
}
