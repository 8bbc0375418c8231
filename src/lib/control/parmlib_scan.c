/*
 * parmlib_scan.c - a member's text as words: blanks, comments, quotations, lines and columns.
 *
 * The other files that read a member call it, on their thread.  The text is a copy of any bytes; a
 * NUL among them is a character of a word.  It reads nothing past the end, does not know the
 * grammar, and reports nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/parmlib.h"

#include <string.h>

/* Including its marks; 0 when it is not closed on its line. */
static size_t quotation_size(const char *open, const char *end)
{
	const char *at = open + 1;

	while (at < end && *at != '\'' && *at != '\n')
		at++;
	return at < end && *at == '\'' ? (size_t)(at + 1 - open) : 0;
}

/* Overwrites comments with blanks, so that positions stay the same.  Text in quotation marks is
 * not a comment.  Returns a comment without an end, or NULL. */
static const char *comments_blank(char *text, const char *end)
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

void ct_scan_start(struct ct_parser *parser, char *text, const char *end)
{
	parser->open_comment = comments_blank(text, end);
	parser->at = text;
	parser->end = parser->open_comment != NULL ? parser->open_comment : end;
	parser->placed = text;
	parser->line_start = text;
	parser->line = 1;
}

/* Counts on from the last position, so that the text is counted once, however many errors it
 * has. */
void ct_scan_place(struct ct_parser *parser, const char *at, unsigned *out_line,
		   unsigned *out_column)
{
	for (; parser->placed < at; parser->placed++)
		if (*parser->placed == '\n') {
			parser->line++;
			parser->line_start = parser->placed + 1;
		}
	*out_line = parser->line;
	*out_column = (unsigned)(at - parser->line_start) + 1;
}

void ct_scan_blanks(struct ct_parser *parser)
{
	while (parser->at < parser->end && ct_is_blank(*parser->at))
		parser->at++;
}

bool ct_scan_is_at(const struct ct_parser *parser, char c)
{
	return parser->at < parser->end && *parser->at == c;
}

bool ct_scan_accept(struct ct_parser *parser, char c)
{
	bool is_there;

	ct_scan_blanks(parser);
	is_there = ct_scan_is_at(parser, c);
	parser->at += is_there;
	return is_there;
}

/* marks: the characters beside blanks that end it. */
static struct ct_span word_scan_until(struct ct_parser *parser, const char *marks, size_t count)
{
	const char *start = parser->at;

	while (parser->at < parser->end && !ct_is_blank(*parser->at) &&
	       memchr(marks, *parser->at, count) == NULL)
		parser->at++;
	return ct_span_of(start, parser->at);
}

struct ct_span ct_scan_word(struct ct_parser *parser)
{
	return word_scan_until(parser, "(),='", 5);
}

/* The value's own parser checks characters that a keyword may not have. */
struct ct_span ct_scan_value(struct ct_parser *parser)
{
	return word_scan_until(parser, "(),", 3);
}

bool ct_scan_accept_word(struct ct_parser *parser, const char *wanted)
{
	struct ct_span word;
	bool is_there;

	ct_scan_blanks(parser);
	word = ct_scan_word(parser);
	is_there = ct_name_is(word.at, word.size, wanted);
	if (!is_there)
		parser->at = word.at;
	return is_there;
}

bool ct_scan_quotation(struct ct_parser *parser)
{
	size_t size = quotation_size(parser->at, parser->end);

	if (size == 0)
		while (parser->at < parser->end && *parser->at != '\n')
			parser->at++;
	parser->at += size;
	return size != 0;
}
