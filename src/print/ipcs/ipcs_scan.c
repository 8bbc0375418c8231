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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- diagnostics ---- */

/* Line and column of a byte of the original. */
static void diagnostic_place(const struct ct_ipcs_scan *scan, size_t offset,
			     struct ct_diagnostic *out)
{
	size_t start = 0;

	out->line = 1;
	for (size_t i = 0; i < offset; i++)
		if (scan->original[i] == '\n') {
			out->line++;
			start = i + 1;
		}
	out->column = (unsigned)(offset - start) + 1;
}

void ct_ipcs_diagnose(struct ct_ipcs_scan *scan, enum ct_ipcs_message message, struct ct_span word,
		      const char *what, const char *expected)
{
	struct ct_buf text;

	if (scan->has_failed)
		return;
	scan->has_failed = true;
	scan->message = message;
	ct_buf_init(&text);
	if (word.size != 0) {
		ct_span_quote(&text, word, CT_WORD_SHOWN);
		ct_buf_add_char(&text, ' ');
	}
	ct_buf_add_text(&text, what);
	diagnostic_place(scan, scan->places[word.at - scan->text], scan->diagnostic);
	(void)snprintf(scan->diagnostic->message, sizeof scan->diagnostic->message, "%s",
		       ct_buf_text(&text));
	(void)snprintf(scan->diagnostic->expected, sizeof scan->diagnostic->expected, "%s",
		       expected);
	ct_buf_fini(&text);
}

/* Reports an error found before there is a scan. */
static bool text_refuse(struct ct_ipcs_scan *scan, size_t offset, const char *what,
			const char *expected)
{
	scan->has_failed = true;
	diagnostic_place(scan, offset, scan->diagnostic);
	(void)snprintf(scan->diagnostic->message, sizeof scan->diagnostic->message, "%s", what);
	(void)snprintf(scan->diagnostic->expected, sizeof scan->diagnostic->expected, "%s",
		       expected);
	return false;
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

static void scan_put(struct ct_ipcs_scan *scan, size_t *size, char c, size_t place_of_it)
{
	scan->places[*size] = (uint32_t)place_of_it;
	scan->text[(*size)++] = c;
}

/* Returns false at a control character. */
static bool scan_copy(struct ct_ipcs_scan *scan, const char *text, const char *end,
		      size_t *out_size)
{
	const char *at = text;
	bool is_quoted = false;

	while (at < end) {
		const char *next;

		if (!is_quoted && (next = comment_skip(at, end)) != NULL) {
			scan_put(scan, out_size, ' ', (size_t)(at - text));
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
		if ((unsigned char)*at < ' ' && !ct_is_blank(*at)) {
			scan->places[*out_size] = (uint32_t)(at - text);
			return text_refuse(scan, (size_t)(at - text),
					   "a control character is not text", "a command");
		}
		is_quoted ^= *at == '\'';
		scan_put(scan, out_size, *at, (size_t)(at - text));
		at++;
	}
	scan->places[*out_size] = (uint32_t)(end - text);
	return true;
}

bool ct_ipcs_scan_start(struct ct_ipcs_scan *scan, const char *text, size_t size,
			struct ct_diagnostic *diagnostic)
{
	size_t copied = 0;

	*scan = (struct ct_ipcs_scan){ .original = text, .diagnostic = diagnostic };
	while (size > 0 && ct_is_blank(text[size - 1]))
		size--;
	if (size > CT_IPCS_LINE)
		return text_refuse(scan, CT_IPCS_LINE, "the command is too long",
				   "at most 65536 bytes");
	scan->text = malloc(size + 1);
	scan->places = calloc(size + 1, sizeof *scan->places);
	if (scan->text == NULL || scan->places == NULL)
		return text_refuse(scan, 0, "there is not enough memory", "more of it");
	if (!scan_copy(scan, text, text + size, &copied))
		return false;
	scan->text[copied] = '\0';
	scan->at = scan->text;
	scan->end = scan->text + copied;
	return true;
}

void ct_ipcs_scan_end(struct ct_ipcs_scan *scan)
{
	free(scan->text);
	free(scan->places);
	scan->text = NULL;
	scan->places = NULL;
}

/* ---- words ---- */

static bool character_is_separator(char c)
{
	return ct_is_blank(c) || c == ',';
}

void ct_ipcs_scan_blanks(struct ct_ipcs_scan *scan)
{
	while (scan->at < scan->end && character_is_separator(*scan->at))
		scan->at++;
}

bool ct_ipcs_scan_accept(struct ct_ipcs_scan *scan, char c)
{
	const char *at = scan->at;

	while (at < scan->end && ct_is_blank(*at))
		at++;
	if (at == scan->end || *at != c)
		return false;
	scan->at = at + 1;
	return true;
}

struct ct_span ct_ipcs_scan_word(struct ct_ipcs_scan *scan)
{
	const char *start;

	ct_ipcs_scan_blanks(scan);
	start = scan->at;
	while (scan->at < scan->end && !character_is_separator(*scan->at) &&
	       (*scan->at == '\0' || strchr("()='", *scan->at) == NULL))
		scan->at++;
	return ct_span_of(start, scan->at);
}

/* ---- groups ---- */

/* Returns the position after the quotation that begins at `at`; the end when nothing closes it. */
static const char *quotation_skip(const char *at, const char *end)
{
	const char *close = memchr(at + 1, '\'', (size_t)(end - at) - 1);

	return close != NULL ? close + 1 : end;
}

struct ct_span ct_ipcs_scan_group(struct ct_ipcs_scan *scan, const char *expected)
{
	const char *start = scan->at;
	const char *at = start;
	unsigned depth = 1;

	while (at < scan->end) {
		if (*at == '\'') {
			at = quotation_skip(at, scan->end);
			continue;
		}
		depth += *at == '(';
		depth -= *at == ')';
		if (depth == 0)
			break;
		at++;
	}
	if (at == scan->end) {
		ct_ipcs_diagnose(scan, CT_ITT_NONE, (struct ct_span){ scan->end, 0 },
				 "the command ends here", "\")\"");
		return (struct ct_span){ NULL, 0 };
	}
	scan->at = at + 1;
	if (ct_span_trim(ct_span_of(start, at)).size == 0 && expected != NULL) {
		ct_ipcs_diagnose(scan, CT_ITT_NONE, (struct ct_span){ at, 0 },
				 "nothing stands between the parentheses", expected);
		return (struct ct_span){ NULL, 0 };
	}
	return ct_span_trim(ct_span_of(start, at));
}

struct ct_span ct_ipcs_inner(struct ct_span group)
{
	unsigned depth = 0;

	if (group.size < 2 || group.at[0] != '(' || group.at[group.size - 1] != ')')
		return group;
	for (const char *at = group.at; at < group.at + group.size; at++) {
		if (*at == '\'') {
			at = quotation_skip(at, group.at + group.size) - 1;
			continue;
		}
		depth += *at == '(';
		depth -= *at == ')';
		if (depth == 0 && at != group.at + group.size - 1)
			return group; /* two groups, not one around all */
	}
	return ct_span_trim(ct_span_of(group.at + 1, group.at + group.size - 1));
}

struct ct_span ct_ipcs_next_value(struct ct_span *group)
{
	const char *end = group->at + group->size;
	const char *at = group->at;
	const char *start;
	unsigned depth = 0;

	while (at < end && character_is_separator(*at))
		at++;
	start = at;
	while (at < end && (depth > 0 || !character_is_separator(*at))) {
		depth += *at == '(';
		depth -= *at == ')' && depth > 0;
		at = *at == '\'' ? quotation_skip(at, end) : at + 1;
	}
	*group = ct_span_of(at, end);
	return ct_span_of(start, at);
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
