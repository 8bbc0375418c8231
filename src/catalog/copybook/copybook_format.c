/*
 * copybook_format.c - finds out whether a copybook is in fixed or free format, and the columns of a
 * line.
 *
 * Called by copybook_scan.c, first with the whole text and then with each line.  Fixed format has
 * its text in columns 8 to 72 and a mark in column 7; free format has neither.  The format of a
 * file is guessed from its lines, unless a directive sets it.  No byte behind `to`, the end of a
 * line, is read.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

#define TAB_WIDTH 8u

const char *ct_format_column(const char *from, const char *to, unsigned column)
{
	unsigned now = 1;

	while (from < to && now < column) {
		now = *from == '\t' ? (now - 1) / TAB_WIDTH * TAB_WIDTH + TAB_WIDTH + 1 : now + 1;
		from++;
	}
	return from;
}

const char *ct_format_line_end(const char *from, const char *end)
{
	const char *to = memchr(from, '\n', (size_t)(end - from));

	return to != NULL ? to : end;
}

const char *ct_format_skip_blanks(const char *from, const char *to)
{
	while (from < to && ct_is_blank(*from))
		from++;
	return from;
}

const char *ct_format_trim(const char *from, const char *to)
{
	while (to > from && (ct_is_blank(to[-1]) || to[-1] == '\0'))
		to--;
	return to;
}

static bool char_is_mark(char c)
{
	return c != '\0' && strchr(" *-/Dd$", c) != NULL;
}

/* Can columns 1 to 6 be a line number or a tag?  "01 REC" cannot. */
static bool line_has_sequence(const char *from, const char *to)
{
	from = ct_format_skip_blanks(from, to);
	to = ct_format_trim(from, to);
	for (; from < to; from++)
		if (ct_is_blank(*from) || *from == '.' || *from == '*' || *from == '>' ||
		    *from == '$')
			return false;
	return true;
}

bool ct_format_is_directive(const char *first, const char *to)
{
	if (to - first >= 3 && *first == '$')
		return (first[1] | 0x20) >= 'a' && (first[1] | 0x20) <= 'z';
	return to - first >= 2 && first[0] == '>' && first[1] == '>';
}

enum evidence { SAYS_NOTHING, SAYS_FIXED, SAYS_FREE };

static enum evidence line_evidence(const char *from, const char *to)
{
	const char *mark = ct_format_column(from, to, CT_MARK_COLUMN);
	const char *first = ct_format_skip_blanks(from, to);

	if (first == to || ct_format_is_directive(first, to))
		return SAYS_NOTHING;
	if (mark == to) { /* shorter than the text area */
		while (first < to && *first >= '0' && *first <= '9')
			first++;
		return first == to ? SAYS_NOTHING : SAYS_FREE;
	}
	if ((!char_is_mark(*mark) && *mark != '\t') || !line_has_sequence(from, mark))
		return SAYS_FREE;
	if (*mark == '*' && first == mark && mark + 1 < to && mark[1] == '>')
		return SAYS_NOTHING;
	return (!ct_is_blank(*mark) && first <= mark) || first < mark ? SAYS_FIXED : SAYS_NOTHING;
}

static bool line_runs_over(const char *from, const char *to)
{
	const char *last = ct_format_column(from, to, CT_RIGHT_COLUMN),
		   *first = ct_format_skip_blanks(from, to);

	return to - last > 1 && !ct_is_blank(last[0]) && !ct_is_blank(last[1]) && *first != '*';
}

struct ct_format ct_format_find(const char *text, const char *end)
{
	unsigned fixed = 0, loose = 0;
	bool is_wide = false; /* a word runs over the right margin */

	for (const char *from = text; from < end;) {
		const char *next = ct_format_line_end(from, end);
		const char *to = ct_format_trim(from, next);
		enum evidence evidence = line_evidence(from, to);

		fixed += evidence == SAYS_FIXED;
		loose += evidence == SAYS_FREE;
		is_wide |= line_runs_over(from, to);
		from = next < end ? next + 1 : end;
	}
	return (struct ct_format){ .is_fixed = fixed > loose || (loose == 0 && !is_wide),
				   .has_right_margin = true };
}

static bool line_has_word(const char *from, const char *to, const char *word)
{
	size_t size = strlen(word);

	for (; (size_t)(to - from) >= size; from++)
		if (ct_name_is(from, size, word))
			return true;
	return false;
}

enum ctrace_status ct_format_direct(struct ct_scan *scan, struct ct_format *format,
				    const struct ct_token *place, const char *from, const char *to)
{
	from += *from == '$' ? 1 : 2;
	from = ct_format_skip_blanks(from, to);
	if (line_has_word(from, to, "SOURCEFORMAT") ||
	    (line_has_word(from, to, "SOURCE") && !line_has_word(from, to, "SET"))) {
		if (line_has_word(from, to, "FREE")) {
			format->is_fixed = false;
		} else if (line_has_word(from, to, "FIXED") ||
			   line_has_word(from, to, "VARIABLE")) {
			format->is_fixed = true;
			format->has_right_margin = !line_has_word(from, to, "VARIABLE");
		}
	} else if (to - from >= 2 && (ct_name_is(from, 2, "IF") || ct_name_is(from, 2, "EL") ||
				      ct_name_is(from, 2, "EV"))) {
		ct_scan_diagnose(scan, place, "the text that the condition leaves",
				 "conditional compilation is not supported");
		return CTRACE_SYNTAX_ERROR;
	}
	return CTRACE_OK;
}
