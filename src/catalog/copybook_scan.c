/*
 * copybook_scan.c - from the lines of a copybook, and of those that it copies, to tokens.
 *
 * First of the pieces that copybook.c calls.  Fixed format has its text in columns 8 to 72 and a mark in column 7; free format has neither.
 * Which one a file has is found out from its lines, until a directive says it.  Everything read counts against the limits of one
 * copybook, so that no file is worth more than it is long, however often it is copied.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_COLUMN 7u   /* from 1 */
#define RIGHT_COLUMN 72u /* last of the text */
#define TAB_WIDTH 8u
#define NAME_LIMIT 1024u

struct lines {
	struct ct_scan *scan;
	struct ct_tokens *out;
	uint32_t file, line;
	const char *line_from; /* first byte of the line, for columns */
	bool is_fixed, has_right_margin;
	bool is_first_on_line;
	char quote; /* of a literal that goes on on the next line; or 0 */
	struct ct_token literal;
	struct ct_buf joined; /* the text of that literal so far */
};

/* ---- what all pieces use */

void ct_scan_complain(struct ct_scan *scan, const struct ct_token *place, const char *expected, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(scan->complaint->message, sizeof scan->complaint->message, format, arguments);
	va_end(arguments);
	(void)snprintf(scan->complaint->expected, sizeof scan->complaint->expected, "%s", expected);
	scan->complaint->line = place->line;
	scan->complaint->column = place->column;
	if (scan->complaint_path != NULL) {
		ct_buf_clear(scan->complaint_path);
		ct_buf_add_text(scan->complaint_path, scan->files[place->file]);
	}
}

bool ct_token_is(const struct ct_token *token, const char *word)
{
	return token->kind == CT_TOKEN_WORD && ct_name_is(token->at, token->size, word);
}

void *ct_scan_take(struct ct_scan *scan, size_t size)
{
	scan->made += size;
	return scan->made > CT_COPYBOOK_MEMORY ? NULL : ct_arena_take(scan->arena, size);
}

char *ct_scan_text(struct ct_scan *scan, const char *text, size_t size)
{
	char *copy = ct_scan_take(scan, size + 1);

	if (copy != NULL && size > 0)
		memcpy(copy, text, size);
	return copy;
}

enum ctrace_status ct_tokens_add(struct ct_scan *scan, struct ct_tokens *tokens, const struct ct_token *token)
{
	if (++scan->tokens > CT_COPYBOOK_TOKENS) {
		ct_scan_complain(scan, token, "a copybook of fewer words, copied less often", "the copybook is too long");
		return CTRACE_SYNTAX_ERROR;
	}
	if (tokens->count == tokens->capacity) {
		size_t capacity = tokens->capacity == 0 ? 256 : tokens->capacity * 2;
		struct ct_token *grown = realloc(tokens->at, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		tokens->at = grown;
		tokens->capacity = capacity;
	}
	tokens->at[tokens->count++] = *token;
	return CTRACE_OK;
}

void ct_tokens_fini(struct ct_tokens *tokens)
{
	free(tokens->at);
	*tokens = (struct ct_tokens){ 0 };
}

/* ---- fixed or free? */

/* The byte that stands in a column; the end of the line when it is shorter. */
static const char *at_column(const char *from, const char *to, unsigned column)
{
	unsigned now = 1;

	while (from < to && now < column) {
		now = *from == '\t' ? (now - 1) / TAB_WIDTH * TAB_WIDTH + TAB_WIDTH + 1 : now + 1;
		from++;
	}
	return from;
}

static const char *end_of_line(const char *from, const char *end)
{
	const char *to = memchr(from, '\n', (size_t)(end - from));

	return to != NULL ? to : end;
}

static const char *skip_blanks(const char *from, const char *to)
{
	while (from < to && ct_is_blank(*from))
		from++;
	return from;
}

static const char *trim(const char *from, const char *to)
{
	while (to > from && (ct_is_blank(to[-1]) || to[-1] == '\0'))
		to--;
	return to;
}

static bool is_mark(char c)
{
	return c != '\0' && strchr(" *-/Dd$", c) != NULL;
}

/* Could columns 1 to 6 be a number of a line, or a tag?  "01 REC" could not. */
static bool is_sequence(const char *from, const char *to)
{
	from = skip_blanks(from, to);
	to = trim(from, to);
	for (; from < to; from++)
		if (ct_is_blank(*from) || *from == '.' || *from == '*' || *from == '>' || *from == '$')
			return false;
	return true;
}

/* $SET and >>SOURCE stand where they like. */
static bool is_directive(const char *first, const char *to)
{
	if (to - first >= 3 && *first == '$')
		return (first[1] | 0x20) >= 'a' && (first[1] | 0x20) <= 'z';
	return to - first >= 2 && first[0] == '>' && first[1] == '>';
}

enum evidence { SAYS_NOTHING, SAYS_FIXED, SAYS_FREE };

static enum evidence weigh(const char *from, const char *to)
{
	const char *mark = at_column(from, to, MARK_COLUMN);
	const char *first = skip_blanks(from, to);

	if (first == to || is_directive(first, to))
		return SAYS_NOTHING;
	if (mark == to) { /* shorter than the text area */
		while (first < to && *first >= '0' && *first <= '9')
			first++;
		return first == to ? SAYS_NOTHING : SAYS_FREE;
	}
	if ((!is_mark(*mark) && *mark != '\t') || !is_sequence(from, mark))
		return SAYS_FREE;
	if (*mark == '*' && first == mark && mark + 1 < to && mark[1] == '>')
		return SAYS_NOTHING;
	return (!ct_is_blank(*mark) && first <= mark) || first < mark ? SAYS_FIXED : SAYS_NOTHING;
}

static bool runs_over(const char *from, const char *to)
{
	const char *last = at_column(from, to, RIGHT_COLUMN), *first = skip_blanks(from, to);

	return to - last > 1 && !ct_is_blank(last[0]) && !ct_is_blank(last[1]) && *first != '*';
}

static void find_format(struct lines *lines, const char *text, const char *end)
{
	unsigned fixed = 0, loose = 0;
	bool is_wide = false; /* a word runs over the right margin */

	lines->has_right_margin = true;
	for (const char *from = text; from < end;) {
		const char *next = end_of_line(from, end);
		const char *to = trim(from, next);
		enum evidence evidence = weigh(from, to);

		fixed += evidence == SAYS_FIXED;
		loose += evidence == SAYS_FREE;
		is_wide |= runs_over(from, to);
		from = next < end ? next + 1 : end;
	}
	lines->is_fixed = fixed > loose || (loose == 0 && !is_wide);
}

/* ---- directives */

static bool has_word(const char *from, const char *to, const char *word)
{
	size_t size = strlen(word);

	for (; (size_t)(to - from) >= size; from++)
		if (ct_name_is(from, size, word))
			return true;
	return false;
}

static enum ctrace_status take_directive(struct lines *lines, const char *from, const char *to)
{
	struct ct_token place = { .line = lines->line,
				  .column = (uint16_t)(from - lines->line_from + 1),
				  .file = (uint16_t)lines->file };

	from += *from == '$' ? 1 : 2;
	from = skip_blanks(from, to);
	if (has_word(from, to, "SOURCEFORMAT") || (has_word(from, to, "SOURCE") && !has_word(from, to, "SET"))) {
		if (has_word(from, to, "FREE")) {
			lines->is_fixed = false;
		} else if (has_word(from, to, "FIXED") || has_word(from, to, "VARIABLE")) {
			lines->is_fixed = true;
			lines->has_right_margin = !has_word(from, to, "VARIABLE");
		}
	} else if (to - from >= 2 && (ct_name_is(from, 2, "IF") || ct_name_is(from, 2, "EL") || ct_name_is(from, 2, "EV"))) {
		ct_scan_complain(lines->scan, &place, "the text that the condition leaves", "conditional compilation is not supported");
		return CTRACE_SYNTAX_ERROR;
	}
	return CTRACE_OK;
}

/* ---- tokens of a line */

static bool is_word_character(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static struct ct_token token_at(const struct lines *lines, enum ct_token_kind kind, const char *from, const char *to)
{
	size_t column = (size_t)(from - lines->line_from) + 1;

	return (struct ct_token){ .at = from,
				  .size = (uint32_t)(to - from),
				  .line = lines->line,
				  .column = column > UINT16_MAX ? UINT16_MAX : (uint16_t)column,
				  .file = (uint16_t)lines->file,
				  .kind = (uint8_t)kind };
}

static enum ctrace_status add(struct lines *lines, struct ct_token token, bool is_spaced)
{
	token.is_spaced = is_spaced || lines->is_first_on_line;
	lines->is_first_on_line = false;
	return ct_tokens_add(lines->scan, lines->out, &token);
}

static enum ctrace_status end_literal(struct lines *lines)
{
	char *text = ct_scan_text(lines->scan, lines->joined.data, lines->joined.size);
	struct ct_token token = lines->literal;
	bool is_spaced = token.is_spaced;

	if (text == NULL || lines->joined.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	token.at = text;
	token.size = (uint32_t)lines->joined.size;
	lines->quote = '\0';
	return add(lines, token, is_spaced);
}

static enum ctrace_status fail_open_literal(struct lines *lines)
{
	ct_scan_complain(lines->scan, &lines->literal, "a closing quotation mark", "the literal is not closed on its line");
	return CTRACE_SYNTAX_ERROR;
}

/* From behind the quote to behind the closing one, or to the end of the line. */
static enum ctrace_status take_literal(struct lines *lines, const char **at, const char *to)
{
	const char *from = *at;

	for (; from < to; from++) {
		if (*from != lines->quote) {
			ct_buf_add_char(&lines->joined, *from);
		} else if (from + 1 < to && from[1] == lines->quote) {
			ct_buf_add_char(&lines->joined, *from++);
		} else {
			*at = from + 1;
			return end_literal(lines);
		}
	}
	*at = to;
	return lines->is_fixed ? CTRACE_OK : fail_open_literal(lines);
}

static enum ctrace_status take_token(struct lines *lines, const char **at, const char *to, bool is_spaced)
{
	const char *from = *at;
	const char *end = from + 1;

	if (*from == '"' || *from == '\'') {
		lines->quote = *from;
		lines->literal = token_at(lines, CT_TOKEN_LITERAL, from, end);
		lines->literal.is_spaced = is_spaced || lines->is_first_on_line;
		lines->is_first_on_line = false;
		ct_buf_clear(&lines->joined);
		*at = end;
		return take_literal(lines, at, to);
	}
	if (!is_word_character(*from)) {
		*at = end;
		return add(lines, token_at(lines, CT_TOKEN_OTHER, from, end), is_spaced);
	}
	while (end < to && is_word_character(*end))
		end++;
	*at = end;
	return add(lines, token_at(lines, CT_TOKEN_WORD, from, end), is_spaced);
}

static enum ctrace_status take_tokens(struct lines *lines, const char *from, const char *to)
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
		status = take_token(lines, &from, to, is_spaced);
		if (status != CTRACE_OK)
			return status;
		is_spaced = false;
	}
	return CTRACE_OK;
}

/* A literal that is open at the end of a line has all blanks up to the right margin. */
static void pad_literal(struct lines *lines, const char *to)
{
	size_t column = (size_t)(to - lines->line_from);

	for (; lines->has_right_margin && column < RIGHT_COLUMN; column++)
		ct_buf_add_char(&lines->joined, ' ');
}

/* A word goes on with the first one of this line. */
static enum ctrace_status join_word(struct lines *lines, const char **at, const char *to)
{
	struct ct_token *last = &lines->out->at[lines->out->count - 1];
	const char *end = *at;
	char *text;

	while (end < to && is_word_character(*end))
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

static enum ctrace_status take_continuation(struct lines *lines, const char *from, const char *to)
{
	from = skip_blanks(from, to);
	lines->is_first_on_line = false;
	if (lines->quote != '\0') {
		enum ctrace_status status;

		if (*from != lines->quote)
			return fail_open_literal(lines);
		from++;
		status = take_literal(lines, &from, to);
		if (status != CTRACE_OK || lines->quote != '\0')
			return status;
	} else if (is_word_character(*from) && lines->out->count > 0 && lines->out->at[lines->out->count - 1].kind == CT_TOKEN_WORD) {
		enum ctrace_status status = join_word(lines, &from, to);

		if (status != CTRACE_OK)
			return status;
	}
	return take_tokens(lines, from, to);
}

static enum ctrace_status take_fixed(struct lines *lines, const char *from, const char *to)
{
	const char *mark = at_column(from, to, MARK_COLUMN);
	const char *text = at_column(from, to, MARK_COLUMN + 1);
	const char *right = lines->has_right_margin ? at_column(from, to, RIGHT_COLUMN + 1) : to;
	struct ct_token place = token_at(lines, CT_TOKEN_OTHER, mark, mark);
	enum ctrace_status status;

	if (mark == to || *mark == '*' || *mark == '/' || *mark == 'D' || *mark == 'd')
		return CTRACE_OK;
	if (*mark == '$')
		return take_directive(lines, mark, to);
	if (!ct_is_blank(*mark) && *mark != '-') {
		ct_scan_complain(lines->scan, &place, "a blank, *, /, -, D or $ there, or free format",
				 "column 7 has no mark that is known");
		return CTRACE_SYNTAX_ERROR;
	}
	if (skip_blanks(text, right) == right)
		return CTRACE_OK;
	if (lines->quote != '\0' && *mark != '-')
		return fail_open_literal(lines);
	status = *mark == '-' ? take_continuation(lines, text, right) : take_tokens(lines, text, right);
	if (status == CTRACE_OK && lines->quote != '\0')
		pad_literal(lines, right);
	return status;
}

static enum ctrace_status take_free(struct lines *lines, const char *from, const char *to)
{
	from = skip_blanks(from, to);
	if (from == to || *from == '*')
		return CTRACE_OK;
	return take_tokens(lines, from, to);
}

static enum ctrace_status take_lines(struct lines *lines, const char *text, const char *end)
{
	enum ctrace_status status = CTRACE_OK;

	for (const char *from = text; from < end && status == CTRACE_OK;) {
		const char *next = end_of_line(from, end);
		const char *to = trim(from, next);

		lines->line++;
		lines->line_from = from;
		lines->is_first_on_line = true;
		if (to - from >= 3 && lines->line == 1 && memcmp(from, "\xEF\xBB\xBF", 3) == 0)
			from += 3;
		if (is_directive(skip_blanks(from, to), to) && lines->quote == '\0')
			status = take_directive(lines, skip_blanks(from, to), to);
		else
			status = lines->is_fixed ? take_fixed(lines, from, to) : take_free(lines, from, to);
		from = next < end ? next + 1 : end;
	}
	if (status == CTRACE_OK && lines->quote != '\0')
		status = fail_open_literal(lines);
	return status;
}

/* ---- COPY */

static enum ctrace_status fail_copy(struct ct_scan *scan, const struct ct_token *place, const char *name)
{
	struct ct_buf quoted = { 0 };

	ct_span_quote(&quoted, (struct ct_span){ name, strlen(name) }, CT_WORD_SHOWN);
	ct_scan_complain(
		scan, place,
		"a file of that name, or with .cpy, .cbl or .cob behind it, beside the copybook or in the folders for copybooks",
		"there is no copybook %s", ct_buf_text(&quoted));
	ct_buf_fini(&quoted);
	return CTRACE_SYNTAX_ERROR;
}

/* One spelling of a name in one folder. */
static enum ctrace_status try_file(struct ct_span folder, const char *library, const char *name, const char *ending, int letters,
				   struct ct_buf *path, struct ct_buf *text)
{
	size_t at;

	ct_buf_clear(path);
	ct_buf_add(path, folder.at, folder.size);
	if (folder.size > 0 && folder.at[folder.size - 1] != '/')
		ct_buf_add_char(path, '/');
	if (library[0] != '\0')
		ct_buf_add_format(path, "%s/", library);
	at = path->size;
	ct_buf_add_text(path, name);
	ct_buf_add_text(path, ending);
	for (; letters != 0 && !path->failed && at < path->size; at++) {
		char c = path->data[at];

		if (letters > 0 && c >= 'a' && c <= 'z')
			path->data[at] = (char)(c - 'a' + 'A');
		else if (letters < 0 && c >= 'A' && c <= 'Z')
			path->data[at] = (char)(c - 'A' + 'a');
	}
	return ct_os_read_file(ct_buf_text(path), CT_COPYBOOK_LIMIT, text);
}

static bool find_in(struct ct_span folder, const char *library, const char *name, struct ct_buf *path, struct ct_buf *text)
{
	static const char *const endings[] = { "", ".cpy", ".cbl", ".cob", ".CPY", ".CBL", ".COB" };

	for (int letters = 0; letters < 3; letters++)
		for (size_t i = 0; i < CT_COUNT(endings); i++) {
			ct_buf_clear(text);
			if (try_file(folder, library, name, endings[i], letters == 2 ? 1 : -letters, path, text) == CTRACE_OK)
				return true;
		}
	return false;
}

static struct ct_span folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? ct_span_of(path, path) : ct_span_of(path, slash == path ? slash + 1 : slash);
}

static bool find_copy(struct ct_scan *scan, const char *library, const char *name, struct ct_buf *path, struct ct_buf *text)
{
	const char *from = scan->options->folders;

	if (name[0] == '/')
		return find_in((struct ct_span){ "", 0 }, "", name, path, text);
	if (find_in(folder_of(scan->files[scan->open[scan->depth]]), library, name, path, text) ||
	    find_in(folder_of(scan->files[0]), library, name, path, text))
		return true;
	while (from != NULL && *from != '\0') {
		size_t size = strcspn(from, ":");

		if (size > 0 && find_in((struct ct_span){ from, size }, library, name, path, text))
			return true;
		from += size + (from[size] == ':');
	}
	return false;
}

/* Notes the file that is copied; what is wrong with copying it at all. */
static enum ctrace_status open_copy(struct ct_scan *scan, const struct ct_token *place, struct ct_buf *path)
{
	const char *name = ct_scan_text(scan, ct_buf_text(path), path->size);

	if (name == NULL || path->failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i <= scan->depth; i++)
		if (strcmp(scan->files[scan->open[i]], name) == 0) {
			ct_scan_complain(scan, place, "a copybook that is not being read already", "the copybook copies itself");
			return CTRACE_SYNTAX_ERROR;
		}
	if (scan->depth == CT_COPY_DEPTH || scan->file_count == CT_COPY_FILES) {
		ct_scan_complain(scan, place, "COPY at most 16 deep, and at most 1023 files", "too many copybooks copy each other");
		return CTRACE_SYNTAX_ERROR;
	}
	scan->files[scan->file_count] = name;
	scan->open[++scan->depth] = scan->file_count++;
	return CTRACE_OK;
}

static enum ctrace_status copy_file(struct ct_scan *scan, const struct ct_token *place, const char *library, const char *name,
				    struct ct_tokens *out)
{
	struct ct_buf path = { 0 }, text = { 0 };
	enum ctrace_status status;

	if (!find_copy(scan, library, name, &path, &text)) {
		status = fail_copy(scan, place, name);
	} else {
		status = open_copy(scan, place, &path);
		if (status == CTRACE_OK) {
			status = ct_scan_text_of(scan, scan->open[scan->depth], text.data, text.size, out);
			scan->depth--;
		}
	}
	ct_buf_fini(&path);
	ct_buf_fini(&text);
	return status;
}

struct copy {
	struct ct_token place;
	char name[NAME_LIMIT], library[NAME_LIMIT];
	struct ct_replacements replacements;
};

/* A file's or library's name: a literal, or what stands without blanks.  A period at its end is left. */
static bool take_name(const struct ct_tokens *tokens, size_t *at, char name[NAME_LIMIT])
{
	size_t end = ct_run_end(tokens, *at), size = 0;

	if (end == *at + 1 && tokens->at[*at].kind == CT_TOKEN_OTHER)
		return false;
	if (end > *at + 1 && tokens->at[end - 1].kind == CT_TOKEN_OTHER && *tokens->at[end - 1].at == '.')
		end--;
	for (; *at < end; (*at)++) {
		const struct ct_token *token = &tokens->at[*at];

		if (size + token->size >= NAME_LIMIT || memchr(token->at, '\0', token->size) != NULL)
			return false;
		memcpy(name + size, token->at, token->size);
		size += token->size;
	}
	name[size] = '\0';
	return size > 0;
}

static enum ctrace_status parse_copy(struct ct_scan *scan, const struct ct_tokens *tokens, size_t *at, struct copy *copy)
{
	bool is_good = *at < tokens->count && take_name(tokens, at, copy->name);

	copy->library[0] = '\0';
	if (is_good && *at < tokens->count && (ct_token_is(&tokens->at[*at], "OF") || ct_token_is(&tokens->at[*at], "IN"))) {
		(*at)++;
		is_good = *at < tokens->count && take_name(tokens, at, copy->library);
	}
	if (!is_good) {
		ct_scan_complain(scan, &copy->place, "COPY name [OF library] [REPLACING ...].", "COPY without the name of a file");
		return CTRACE_SYNTAX_ERROR;
	}
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "SUPPRESS"))
		*at += *at + 1 < tokens->count && ct_token_is(&tokens->at[*at + 1], "PRINTING") ? 2 : 1;
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "REPLACING")) {
		(*at)++;
		return ct_replacements_parse(scan, tokens, at, &copy->replacements);
	}
	if (*at < tokens->count && tokens->at[*at].kind == CT_TOKEN_OTHER && *tokens->at[*at].at == '.') {
		(*at)++;
		return CTRACE_OK;
	}
	ct_scan_complain(scan, *at < tokens->count ? &tokens->at[*at] : &copy->place, "OF, IN, SUPPRESS, REPLACING or a period",
			 "COPY does not end");
	return CTRACE_SYNTAX_ERROR;
}

static enum ctrace_status do_copy(struct ct_scan *scan, const struct ct_tokens *tokens, size_t *at, struct ct_tokens *out)
{
	struct copy *copy = calloc(1, sizeof *copy);
	struct ct_tokens copied = { 0 };
	enum ctrace_status status;

	if (copy == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	copy->place = tokens->at[(*at)++];
	status = parse_copy(scan, tokens, at, copy);
	if (status == CTRACE_OK)
		status = copy_file(scan, &copy->place, copy->library, copy->name, &copied);
	if (status == CTRACE_OK)
		status = ct_replace(scan, &copied, &copy->replacements, out);
	ct_replacements_fini(&copy->replacements);
	ct_tokens_fini(&copied);
	free(copy);
	return status;
}

/* Does the COPY statements among a file's own tokens. */
static enum ctrace_status expand(struct ct_scan *scan, const struct ct_tokens *own, struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < own->count && status == CTRACE_OK;) {
		size_t end = ct_pseudo_text_end(own, at);

		if (end == 0 && ct_token_is(&own->at[at], "COPY")) {
			status = do_copy(scan, own, &at, out);
			continue;
		}
		do
			status = ct_tokens_add(scan, out, &own->at[at++]);
		while (at < end && status == CTRACE_OK);
	}
	return status;
}

enum ctrace_status ct_scan_text_of(struct ct_scan *scan, uint32_t file, const char *text, size_t size, struct ct_tokens *out)
{
	struct ct_tokens own = { 0 };
	struct lines lines = { .scan = scan, .out = &own, .file = file };
	struct ct_token place = { .file = (uint16_t)file };
	enum ctrace_status status;
	char *kept;

	scan->bytes += size;
	if (size > CT_COPYBOOK_LIMIT || scan->bytes > CT_COPYBOOK_LIMIT) {
		ct_scan_complain(scan, &place, "at most 1 MiB, with all that is copied", "the copybook is too long");
		return CTRACE_SYNTAX_ERROR;
	}
	kept = ct_scan_text(scan, text, size);
	if (kept == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	find_format(&lines, kept, kept + size);
	status = take_lines(&lines, kept, kept + size);
	ct_buf_fini(&lines.joined);
	if (status == CTRACE_OK)
		status = expand(scan, &own, out);
	ct_tokens_fini(&own);
	return status;
}
