/*
 * copybook_scan.c - splits the lines of a copybook, and of those that it copies, into tokens.
 *
 * Called by copybook.c first, and by copybook_copy.c for each copied file.  Fixed format has its
 * text in columns 8 to 72 and a mark in column 7; free format has neither.  The format of a file is
 * guessed from its lines, unless a directive sets it.  Words and literals may continue on the next
 * line.  The input is copied first, since tokens point into it.  `from` and `to` delimit a line:
 * its first byte, and the byte behind its last, which is never read.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

/* ---- fixed or free */

#define TAB_WIDTH 8u
#define MARK_COLUMN 7u   /* from 1 */
#define RIGHT_COLUMN 72u /* last of the text */

struct format {
	bool is_fixed, has_right_margin;
};

/* Returns the byte in a column; the end of a shorter line. */
static const char *line_column(const char *from, const char *to, unsigned column)
{
	unsigned now = 1;

	while (from < to && now < column) {
		now = *from == '\t' ? (now - 1) / TAB_WIDTH * TAB_WIDTH + TAB_WIDTH + 1 : now + 1;
		from++;
	}
	return from;
}

static const char *line_find_end(const char *from, const char *end)
{
	const char *to = memchr(from, '\n', (size_t)(end - from));

	return to != NULL ? to : end;
}

static const char *line_skip_blanks(const char *from, const char *to)
{
	while (from < to && ct_is_blank(*from))
		from++;
	return from;
}

static const char *line_trim(const char *from, const char *to)
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
	from = line_skip_blanks(from, to);
	to = line_trim(from, to);
	for (; from < to; from++)
		if (ct_is_blank(*from) || *from == '.' || *from == '*' || *from == '>' ||
		    *from == '$')
			return false;
	return true;
}

/* $SET and >>SOURCE, in any column */
static bool line_is_directive(const char *first, const char *to)
{
	if (to - first >= 3 && *first == '$')
		return (first[1] | 0x20) >= 'a' && (first[1] | 0x20) <= 'z';
	return to - first >= 2 && first[0] == '>' && first[1] == '>';
}

enum evidence { SAYS_NOTHING, SAYS_FIXED, SAYS_FREE };

static enum evidence line_evidence(const char *from, const char *to)
{
	const char *mark = line_column(from, to, MARK_COLUMN);
	const char *first = line_skip_blanks(from, to);

	if (first == to || line_is_directive(first, to))
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
	const char *last = line_column(from, to, RIGHT_COLUMN), *first = line_skip_blanks(from, to);

	return to - last > 1 && !ct_is_blank(last[0]) && !ct_is_blank(last[1]) && *first != '*';
}

/* Guesses the format of a whole file. */
static struct format format_find(const char *text, const char *end)
{
	unsigned fixed = 0, loose = 0;
	bool is_wide = false; /* a word runs over the right margin */

	for (const char *from = text; from < end;) {
		const char *next = line_find_end(from, end);
		const char *to = line_trim(from, next);
		enum evidence evidence = line_evidence(from, to);

		fixed += evidence == SAYS_FIXED;
		loose += evidence == SAYS_FREE;
		is_wide |= line_runs_over(from, to);
		from = next < end ? next + 1 : end;
	}
	return (struct format){ .is_fixed = fixed > loose || (loose == 0 && !is_wide),
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

/* Executes the directive, which begins with $ or >>. */
static enum ctrace_status format_direct(struct ct_scan *scan, struct format *format,
					const struct ct_token *place, const char *from,
					const char *to)
{
	from += *from == '$' ? 1 : 2;
	from = line_skip_blanks(from, to);
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

/* ---- tokens */

struct lines {
	struct ct_scan *scan;
	struct ct_tokens *out;
	uint32_t file, line;
	const char *line_from; /* first byte of the line, for columns */
	struct format format;
	bool is_first_on_line;
	char quote; /* of a literal that continues on the next line; or 0 */
	struct ct_token literal;
	struct ct_buf joined; /* the text of that literal so far */
};

static bool char_is_of_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '-' || c == '_' || (unsigned char)c >= 0x80;
}

static struct ct_token lines_token(const struct lines *lines, enum ct_token_kind kind,
				   const char *from, const char *to)
{
	size_t column = (size_t)(from - lines->line_from) + 1;

	return (struct ct_token){ .at = from,
				  .size = (uint32_t)(to - from),
				  .line = lines->line,
				  .column = column > UINT16_MAX ? UINT16_MAX : (uint16_t)column,
				  .file = (uint16_t)lines->file,
				  .kind = (uint8_t)kind };
}

static enum ctrace_status lines_take_directive(struct lines *lines, const char *from,
					       const char *to)
{
	struct ct_token place = lines_token(lines, CT_TOKEN_OTHER, from, from);

	return format_direct(lines->scan, &lines->format, &place, from, to);
}

static enum ctrace_status lines_add(struct lines *lines, struct ct_token token, bool is_spaced)
{
	token.is_spaced = is_spaced || lines->is_first_on_line;
	lines->is_first_on_line = false;
	return ct_tokens_add(lines->scan, lines->out, &token);
}

static enum ctrace_status lines_end_literal(struct lines *lines)
{
	char *text = ct_scan_text(lines->scan, lines->joined.data, lines->joined.size);
	struct ct_token token = lines->literal;
	bool is_spaced = token.is_spaced;

	if (text == NULL || lines->joined.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	token.at = text;
	token.size = (uint32_t)lines->joined.size;
	lines->quote = '\0';
	return lines_add(lines, token, is_spaced);
}

static enum ctrace_status lines_fail_open_literal(struct lines *lines)
{
	ct_scan_diagnose(lines->scan, &lines->literal, "a closing quotation mark",
			 "the literal is not closed on its line");
	return CTRACE_SYNTAX_ERROR;
}

/* Reads from behind the opening quote to behind the closing one, or to the end of the line. */
static enum ctrace_status lines_take_literal(struct lines *lines, const char **at, const char *to)
{
	const char *from = *at;

	for (; from < to; from++) {
		if (*from != lines->quote) {
			ct_buf_add_char(&lines->joined, *from);
		} else if (from + 1 < to && from[1] == lines->quote) {
			ct_buf_add_char(&lines->joined, *from++);
		} else {
			*at = from + 1;
			return lines_end_literal(lines);
		}
	}
	*at = to;
	return lines->format.is_fixed ? CTRACE_OK : lines_fail_open_literal(lines);
}

static enum ctrace_status lines_take_token(struct lines *lines, const char **at, const char *to,
					   bool is_spaced)
{
	const char *from = *at;
	const char *end = from + 1;

	if (*from == '"' || *from == '\'') {
		lines->quote = *from;
		lines->literal = lines_token(lines, CT_TOKEN_LITERAL, from, end);
		lines->literal.is_spaced = is_spaced || lines->is_first_on_line;
		lines->is_first_on_line = false;
		ct_buf_clear(&lines->joined);
		*at = end;
		return lines_take_literal(lines, at, to);
	}
	if (!char_is_of_word(*from)) {
		*at = end;
		return lines_add(lines, lines_token(lines, CT_TOKEN_OTHER, from, end), is_spaced);
	}
	while (end < to && char_is_of_word(*end))
		end++;
	*at = end;
	return lines_add(lines, lines_token(lines, CT_TOKEN_WORD, from, end), is_spaced);
}

static enum ctrace_status lines_take_tokens(struct lines *lines, const char *from, const char *to)
{
	bool is_spaced = false;

	while (from < to) {
		enum ctrace_status status;

		if (ct_is_blank(*from) || *from == '\0') {
			is_spaced = true;
			from++;
			continue;
		}
		if (*from == '*' && from + 1 < to && from[1] == '>')
			return CTRACE_OK;
		status = lines_take_token(lines, &from, to, is_spaced);
		if (status != CTRACE_OK)
			return status;
		is_spaced = false;
	}
	return CTRACE_OK;
}

/* Pads a literal that is open at the end of a line with blanks up to the right margin. */
static void lines_pad_literal(struct lines *lines, const char *to)
{
	size_t column = (size_t)(to - lines->line_from);

	for (; lines->format.has_right_margin && column < RIGHT_COLUMN; column++)
		ct_buf_add_char(&lines->joined, ' ');
}

/* Joins the last word with the first one of this line. */
static enum ctrace_status lines_join_word(struct lines *lines, const char **at, const char *to)
{
	struct ct_token *last = &lines->out->at[lines->out->count - 1];
	const char *end = *at;
	char *text;

	while (end < to && char_is_of_word(*end))
		end++;
	text = ct_scan_take(lines->scan, last->size + (size_t)(end - *at) + 1);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(text, last->at, last->size);
	memcpy(text + last->size, *at, (size_t)(end - *at));
	last->at = text;
	last->size += (uint32_t)(end - *at);
	*at = end;
	return CTRACE_OK;
}

static enum ctrace_status lines_take_continuation(struct lines *lines, const char *from,
						  const char *to)
{
	from = line_skip_blanks(from, to);
	lines->is_first_on_line = false;
	if (lines->quote != '\0') {
		enum ctrace_status status;

		if (*from != lines->quote)
			return lines_fail_open_literal(lines);
		from++;
		status = lines_take_literal(lines, &from, to);
		if (status != CTRACE_OK || lines->quote != '\0')
			return status;
	} else if (char_is_of_word(*from) && lines->out->count > 0 &&
		   lines->out->at[lines->out->count - 1].kind == CT_TOKEN_WORD) {
		enum ctrace_status status = lines_join_word(lines, &from, to);

		if (status != CTRACE_OK)
			return status;
	}
	return lines_take_tokens(lines, from, to);
}

static enum ctrace_status lines_take_fixed(struct lines *lines, const char *from, const char *to)
{
	const char *mark = line_column(from, to, MARK_COLUMN);
	const char *text = line_column(from, to, MARK_COLUMN + 1);
	const char *right =
		lines->format.has_right_margin ? line_column(from, to, RIGHT_COLUMN + 1) : to;
	struct ct_token place = lines_token(lines, CT_TOKEN_OTHER, mark, mark);
	enum ctrace_status status;

	if (mark == to || *mark == '*' || *mark == '/' || *mark == 'D' || *mark == 'd')
		return CTRACE_OK;
	if (*mark == '$')
		return lines_take_directive(lines, mark, to);
	if (!ct_is_blank(*mark) && *mark != '-') {
		ct_scan_diagnose(lines->scan, &place,
				 "a blank, *, /, -, D or $ there, or free format",
				 "column 7 has no mark that is known");
		return CTRACE_SYNTAX_ERROR;
	}
	if (line_skip_blanks(text, right) == right)
		return CTRACE_OK;
	if (lines->quote != '\0' && *mark != '-')
		return lines_fail_open_literal(lines);
	status = *mark == '-' ? lines_take_continuation(lines, text, right)
			      : lines_take_tokens(lines, text, right);
	if (status == CTRACE_OK && lines->quote != '\0')
		lines_pad_literal(lines, right);
	return status;
}

static enum ctrace_status lines_take_free(struct lines *lines, const char *from, const char *to)
{
	from = line_skip_blanks(from, to);
	if (from == to || *from == '*')
		return CTRACE_OK;
	return lines_take_tokens(lines, from, to);
}

static enum ctrace_status lines_take_all(struct lines *lines, const char *text, const char *end)
{
	enum ctrace_status status = CTRACE_OK;

	for (const char *from = text; from < end && status == CTRACE_OK;) {
		const char *next = line_find_end(from, end);
		const char *to = line_trim(from, next);

		lines->line++;
		lines->line_from = from;
		lines->is_first_on_line = true;
		if (to - from >= 3 && lines->line == 1 && memcmp(from, "\xEF\xBB\xBF", 3) == 0)
			from += 3;
		if (line_is_directive(line_skip_blanks(from, to), to) && lines->quote == '\0')
			status = lines_take_directive(lines, line_skip_blanks(from, to), to);
		else
			status = lines->format.is_fixed ? lines_take_fixed(lines, from, to)
							: lines_take_free(lines, from, to);
		from = next < end ? next + 1 : end;
	}
	if (status == CTRACE_OK && lines->quote != '\0')
		status = lines_fail_open_literal(lines);
	return status;
}

enum ctrace_status ct_scan_text_of(struct ct_scan *scan, uint32_t file, const char *text,
				   size_t size, struct ct_tokens *out)
{
	struct ct_tokens own = { 0 };
	struct lines lines = { .scan = scan, .out = &own, .file = file };
	struct ct_token place = { .file = (uint16_t)file };
	enum ctrace_status status;
	char *kept;

	scan->bytes += size;
	if (size > CT_COPYBOOK_LIMIT || scan->bytes > CT_COPYBOOK_LIMIT) {
		ct_scan_diagnose(scan, &place, "at most 1 MiB, with all that is copied",
				 "the copybook is too long");
		return CTRACE_SYNTAX_ERROR;
	}
	kept = ct_scan_text(scan, text, size);
	if (kept == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	lines.format = format_find(kept, kept + size);
	status = lines_take_all(&lines, kept, kept + size);
	ct_buf_fini(&lines.joined);
	if (status == CTRACE_OK)
		status = ct_copy_expand(scan, &own, out);
	ct_tokens_fini(&own);
	return status;
}
