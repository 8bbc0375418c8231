/*
 * scan.c - the text of keywords as words, quotations and groups, and what is wrong with it.
 *
 * Called by each grammar of KEY(value) and KEY=value.  It knows no keyword.  Each byte is read a
 * fixed number of times, and no function is recursive.  Only the words of a diagnostic are
 * allocated.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/scan.h"

#include <stdio.h>
#include <string.h>

#define MOST_SUGGESTED 64u

void ct_parser_start(struct ct_parser *parser, const char *text, size_t size, const char *whole)
{
	const char *start = size != 0 ? text : "";

	*parser = (struct ct_parser){ .at = start,
				      .end = start + size,
				      .whole = whole,
				      .placed = start,
				      .line_start = start,
				      .line = 1 };
}

/* ---- words ---- */

static bool is_mark(char c, const char *marks)
{
	return c != '\0' && strchr(marks, c) != NULL;
}

void ct_parser_blanks(struct ct_parser *parser)
{
	while (parser->at < parser->end && ct_is_blank(*parser->at))
		parser->at++;
}

bool ct_parser_is_at(const struct ct_parser *parser, char c)
{
	return parser->at < parser->end && *parser->at == c;
}

bool ct_parser_accept(struct ct_parser *parser, char c)
{
	bool is_there;

	ct_parser_blanks(parser);
	is_there = ct_parser_is_at(parser, c);
	parser->at += is_there;
	return is_there;
}

bool ct_parser_accept_word(struct ct_parser *parser, const char *wanted)
{
	struct ct_span word;
	bool is_there;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	is_there = ct_name_is(word.at, word.size, wanted);
	if (!is_there)
		parser->at = word.at;
	return is_there;
}

struct ct_span ct_parser_until(struct ct_parser *parser, const char *marks)
{
	const char *start = parser->at;

	while (parser->at < parser->end && !is_mark(*parser->at, marks))
		parser->at++;
	return ct_span_of(start, parser->at);
}

struct ct_span ct_parser_word(struct ct_parser *parser)
{
	return ct_parser_until(parser, CT_BLANKS "(),='");
}

/* The value's own parser checks characters that a keyword may not have. */
struct ct_span ct_parser_value(struct ct_parser *parser)
{
	return ct_parser_until(parser, CT_BLANKS "(),");
}

/* ---- quotations, parentheses and comments ---- */

/* Including its marks; 0 when it is not closed on its line.  Two marks inside stand for one. */
static size_t quotation_size(const char *open, const char *end)
{
	for (const char *at = open + 1; at < end && *at != '\n'; at++) {
		if (*at != '\'')
			continue;
		if (at + 1 == end || at[1] != '\'')
			return (size_t)(at + 1 - open);
		at++;
	}
	return 0;
}

bool ct_parser_skip_quotation(struct ct_parser *parser)
{
	size_t size = quotation_size(parser->at, parser->end);

	parser->at += size;
	if (size == 0)
		(void)ct_parser_until(parser, "\n");
	return size != 0;
}

bool ct_parser_quotation(struct ct_parser *parser)
{
	const char *open = parser->at;

	if (ct_parser_skip_quotation(parser))
		return true;
	ct_parser_diagnose_word(parser, ct_span_of(open, parser->at),
				"has no closing quotation mark on its line", "\"'\"");
	return false;
}

static bool parenthesis_refuse(struct ct_parser *parser, const char *open)
{
	ct_parser_diagnose_word(parser, ct_span_of(open, open + 1), "is not closed", "\")\"");
	return false;
}

/* Returns false after a quotation that is not closed.  *out_open: the outermost parenthesis that is
 * not, or NULL. */
static bool nested_skip(struct ct_parser *parser, const char *marks, unsigned most,
			const char **out_open)
{
	unsigned depth = 0;

	*out_open = NULL;
	while (parser->at < parser->end && depth <= most &&
	       (depth != 0 || !is_mark(*parser->at, marks))) {
		if (*parser->at == '\'') {
			if (!ct_parser_quotation(parser))
				return false;
			continue;
		}
		if (*parser->at == '(' && depth++ == 0)
			*out_open = parser->at;
		depth -= *parser->at == ')' && depth != 0;
		parser->at++;
	}
	if (depth == 0)
		*out_open = NULL;
	return true;
}

bool ct_parser_nested(struct ct_parser *parser, const char *marks, unsigned most,
		      struct ct_span *out)
{
	const char *start = parser->at;
	const char *open;

	if (!nested_skip(parser, marks, most, &open))
		return false;
	*out = ct_span_of(start, parser->at);
	return open == NULL || parenthesis_refuse(parser, open);
}

bool ct_parser_group(struct ct_parser *parser, unsigned most, struct ct_span *out)
{
	const char *start = parser->at;
	const char *open;

	if (!nested_skip(parser, ")", most, &open))
		return false;
	if (open == NULL && parser->at < parser->end) {
		*out = ct_span_of(start, parser->at++);
		return true;
	}
	parser->at = start;
	return parenthesis_refuse(parser, start - 1);
}

const char *ct_comments_blank(char *text, const char *end)
{
	size_t size;

	for (char *at = text; at < end; at += size) {
		size = *at == '\'' ? quotation_size(at, end) : 0;
		if (*at == '/' && at + 1 < end && at[1] == '*') {
			const char *close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);

			if (close == NULL)
				return at;
			size = (size_t)(close + 2 - at);
			for (size_t i = 0; i < size; i++)
				at[i] = at[i] == '\n' ? '\n' : ' ';
		}
		size += size == 0;
	}
	return NULL;
}

/* ---- diagnostics ---- */

/* Counts on from the last position, so that the text is counted once, however many errors it
 * has. */
void ct_parser_place(struct ct_parser *parser, const char *at, unsigned *out_line,
		     unsigned *out_column)
{
	for (; parser->line != 0 && parser->placed < at; parser->placed++)
		if (*parser->placed == '\n') {
			parser->line++;
			parser->line_start = parser->placed + 1;
		}
	*out_line = parser->line;
	*out_column = (unsigned)(at - parser->line_start) + 1;
}

void ct_parser_diagnose_filled(struct ct_parser *parser, const char *at,
			       struct ct_diagnostic *diagnostic)
{
	if (diagnostic->code == 0)
		diagnostic->code = parser->usual;
	ct_parser_place(parser, at, &diagnostic->line, &diagnostic->column);
	if (!parser->has_failed) {
		parser->has_failed = true;
		parser->code = diagnostic->code;
		if (parser->first != NULL)
			*parser->first = *diagnostic;
	}
	if (parser->take != NULL)
		parser->take(diagnostic, parser->user);
}

void ct_parser_diagnose(struct ct_parser *parser, const struct ct_finding *finding)
{
	struct ct_diagnostic diagnostic;

	ct_diagnostic_set(&diagnostic, finding);
	ct_parser_diagnose_filled(parser, finding->word.at != NULL ? finding->word.at : finding->at,
				  &diagnostic);
}

void ct_parser_diagnose_word(struct ct_parser *parser, struct ct_span word, const char *what,
			     const char *expected)
{
	ct_parser_diagnose(
		parser, &(struct ct_finding){ .word = word, .what = what, .expected = expected });
}

void ct_parser_diagnose_at(struct ct_parser *parser, const char *at, const char *what,
			   const char *expected)
{
	ct_parser_diagnose(parser,
			   &(struct ct_finding){ .at = at, .what = what, .expected = expected });
}

void ct_parser_diagnose_found(struct ct_parser *parser, const char *expected)
{
	struct ct_span word = ct_parser_word(parser);
	char what[40];

	parser->at = word.at;
	if (parser->at == parser->end) {
		(void)snprintf(what, sizeof what, "%s ends here", parser->whole);
		ct_parser_diagnose_at(parser, parser->end, what, expected);
		return;
	}
	word.size += word.size == 0; /* a single mark */
	ct_parser_diagnose_word(parser, word, "is not expected here", expected);
}

/* ---- keywords ---- */

static const char *words_at(struct ct_keywords words, size_t index)
{
	return *(const char *const *)((const char *)words.rows + index * words.row_size);
}

const void *ct_keywords_find(struct ct_keywords words, struct ct_span word)
{
	for (size_t i = 0; i < words.count; i++)
		if (ct_name_is(word.at, word.size, words_at(words, i)))
			return (const char *)words.rows + i * words.row_size;
	return NULL;
}

const char *ct_keywords_suggest(struct ct_keywords words, struct ct_span word)
{
	const char *names[MOST_SUGGESTED];
	size_t count = 0;

	for (; count < words.count && count < MOST_SUGGESTED; count++)
		names[count] = words_at(words, count);
	return ct_suggest(word, names, count);
}
