/*
 * copybook_copy.c - COPY and REPLACE: puts the tokens of other files in place of statements, and
 * replaces runs of tokens.
 *
 * copybook_scan.c calls it for the tokens of each file, and is called for the copied file;
 * copybook.c calls it for the REPLACE statements of the whole text.  A file is searched beside the
 * file that names it, beside the first file, and in the directories for copybooks, in this order.
 * A file that copies itself is refused before it is read again.  Inserted tokens are not replaced
 * again. Comparisons are limited, since a long pattern that nearly matches everywhere would take
 * too long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

#define NESTED_LIMIT 64u /* REPLACE ALSO in REPLACE ALSO */
#define NAME_LIMIT 1024u

struct replacement {
	struct ct_tokens from, to;
	enum { REPLACE_WHOLE, REPLACE_LEADING, REPLACE_TRAILING } part;
};
struct replacements {
	struct replacement *at;
	size_t count, capacity;
};

static bool tokens_have_character(const struct ct_tokens *tokens, size_t at, char c)
{
	return at < tokens->count && tokens->at[at].kind == CT_TOKEN_OTHER &&
	       *tokens->at[at].at == c;
}

static bool tokens_have_delimiter(const struct ct_tokens *tokens, size_t at)
{
	return tokens_have_character(tokens, at, '=') &&
	       tokens_have_character(tokens, at + 1, '=') && !tokens->at[at + 1].is_spaced;
}

/* Returns the index behind the closing == of a pseudo-text that opens at `at`; 0: it opens none, or
 * is not closed. */
static size_t tokens_pseudo_text_end(const struct ct_tokens *tokens, size_t at)
{
	if (!tokens_have_delimiter(tokens, at))
		return 0;
	for (at += 2; at < tokens->count; at++)
		if (tokens_have_delimiter(tokens, at))
			return at + 2;
	return 0;
}

/* Returns the index behind the tokens without blanks between them. */
static size_t tokens_run_end(const struct ct_tokens *tokens, size_t at)
{
	if (at >= tokens->count)
		return tokens->count;
	if (tokens->at[at].kind == CT_TOKEN_LITERAL)
		return at + 1;
	for (at++; at < tokens->count && !tokens->at[at].is_spaced &&
		   tokens->at[at].kind != CT_TOKEN_LITERAL;
	     at++)
		if (tokens_have_delimiter(tokens, at))
			break;
	return at;
}

static enum ctrace_status tokens_add_run(struct ct_scan *scan, const struct ct_tokens *tokens,
					 size_t from, size_t to, struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (; from < to && status == CTRACE_OK; from++)
		status = ct_tokens_add(scan, out, &tokens->at[from]);
	return status;
}

/* ---- patterns */

static enum ctrace_status replace_fail(struct ct_scan *scan, const struct ct_tokens *tokens,
				       size_t at, const char *expected)
{
	ct_scan_diagnose(scan, &tokens->at[at < tokens->count ? at : tokens->count - 1], expected,
			 "REPLACING or REPLACE is not complete");
	return CTRACE_SYNTAX_ERROR;
}

static enum ctrace_status replacement_take_operand(struct ct_scan *scan,
						   const struct ct_tokens *tokens, size_t *at,
						   struct ct_tokens *out)
{
	size_t from = *at, to = tokens_pseudo_text_end(tokens, from);

	if (to != 0) {
		*at = to;
		from += 2;
		to -= 2;
	} else if (from >= tokens->count || tokens_have_delimiter(tokens, from)) {
		return replace_fail(scan, tokens, from, "==text== or a word");
	} else {
		to = tokens_run_end(tokens, from);
		if (to > from + 1 && tokens_have_character(tokens, to - 1, '.'))
			to--;
		*at = to;
	}
	return tokens_add_run(scan, tokens, from, to, out);
}

/* NULL without memory */
static struct replacement *replacements_add(struct replacements *out)
{
	if (out->count == out->capacity) {
		size_t capacity = out->capacity == 0 ? 8 : out->capacity * 2;
		struct replacement *grown = realloc(out->at, capacity * sizeof *grown);

		if (grown == NULL)
			return NULL;
		out->at = grown;
		out->capacity = capacity;
	}
	out->at[out->count] = (struct replacement){ 0 };
	return &out->at[out->count++];
}

static enum ctrace_status replacement_take_pair(struct ct_scan *scan,
						const struct ct_tokens *tokens, size_t *at,
						struct replacement *pair)
{
	enum ctrace_status status;
	size_t began;

	if (ct_token_is(&tokens->at[*at], "LEADING")) {
		pair->part = REPLACE_LEADING;
		(*at)++;
	} else if (ct_token_is(&tokens->at[*at], "TRAILING")) {
		pair->part = REPLACE_TRAILING;
		(*at)++;
	}
	began = *at;
	status = replacement_take_operand(scan, tokens, at, &pair->from);
	if (status != CTRACE_OK)
		return status;
	if (pair->from.count == 0)
		return replace_fail(scan, tokens, began,
				    "what is to be replaced between == and ==");
	if (*at >= tokens->count || !ct_token_is(&tokens->at[*at], "BY"))
		return replace_fail(scan, tokens, *at, "BY");
	(*at)++;
	status = replacement_take_operand(scan, tokens, at, &pair->to);
	if (status == CTRACE_OK && pair->part != REPLACE_WHOLE &&
	    (pair->from.count != 1 || pair->from.at[0].kind != CT_TOKEN_WORD || pair->to.count > 1))
		return replace_fail(scan, tokens, began, "one word, and one or none to replace it");
	return status;
}

/* Parses pairs of `from BY to` from *at to behind the period. */
static enum ctrace_status replacements_parse(struct ct_scan *scan, const struct ct_tokens *tokens,
					     size_t *at, struct replacements *out)
{
	while (*at < tokens->count && !tokens_have_character(tokens, *at, '.')) {
		struct replacement *pair = replacements_add(out);
		enum ctrace_status status = pair == NULL
						    ? CTRACE_NOT_ENOUGH_MEMORY
						    : replacement_take_pair(scan, tokens, at, pair);

		if (status != CTRACE_OK)
			return status;
	}
	if (*at >= tokens->count || out->count == 0)
		return replace_fail(scan, tokens, *at, "==text== BY ==text==, and a period");
	(*at)++;
	return CTRACE_OK;
}

static void replacements_fini(struct replacements *replacements)
{
	for (size_t i = 0; i < replacements->count; i++) {
		ct_tokens_fini(&replacements->at[i].from);
		ct_tokens_fini(&replacements->at[i].to);
	}
	free(replacements->at);
	*replacements = (struct replacements){ 0 };
}

/* ---- replacing */

static bool token_is_same(const struct ct_token *a, const struct ct_token *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == CT_TOKEN_WORD)
		return ct_name_equal(a->at, a->size, b->at, b->size);
	return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

static bool pattern_fits(struct ct_scan *scan, const struct ct_tokens *tokens, size_t at,
			 const struct ct_tokens *pattern)
{
	if (pattern->count > tokens->count - at)
		return false;
	for (size_t i = 0; i < pattern->count; i++) {
		scan->comparisons++;
		if (!token_is_same(&pattern->at[i], &tokens->at[at + i]))
			return false;
	}
	return true;
}

static bool pattern_fits_part(const struct ct_token *token, const struct replacement *pair)
{
	const struct ct_token *part = &pair->from.at[0];

	if (token->kind != CT_TOKEN_WORD || token->size < part->size)
		return false;
	return ct_name_equal(token->at +
				     (pair->part == REPLACE_LEADING ? 0 : token->size - part->size),
			     part->size, part->at, part->size);
}

static enum ctrace_status replacement_put_part(struct ct_scan *scan, const struct ct_token *token,
					       const struct replacement *pair,
					       struct ct_tokens *out)
{
	struct ct_token put = *token;
	struct ct_span by = pair->to.count == 0
				    ? (struct ct_span){ "", 0 }
				    : (struct ct_span){ pair->to.at[0].at, pair->to.at[0].size };
	size_t rest = token->size - pair->from.at[0].size;
	char *text = ct_scan_take(scan, by.size + rest + 1);

	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (pair->part == REPLACE_LEADING) {
		memcpy(text, by.at, by.size);
		memcpy(text + by.size, token->at + pair->from.at[0].size, rest);
	} else {
		memcpy(text, token->at, rest);
		memcpy(text + rest, by.at, by.size);
	}
	put.at = text;
	put.size = (uint32_t)(by.size + rest);
	return put.size == 0 ? CTRACE_OK : ct_tokens_add(scan, out, &put);
}

/* Adds the new tokens.  Diagnostics show them at the position of the first replaced token. */
static enum ctrace_status replacement_put_whole(struct ct_scan *scan, const struct ct_token *place,
						const struct replacement *pair,
						struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t i = 0; i < pair->to.count && status == CTRACE_OK; i++) {
		struct ct_token put = pair->to.at[i];

		put.line = place->line;
		put.column = place->column;
		put.file = place->file;
		if (i == 0)
			put.is_spaced = place->is_spaced;
		status = ct_tokens_add(scan, out, &put);
	}
	return status;
}

/* Copies one token, or replaces the tokens that match. */
static enum ctrace_status tokens_replace_at(struct ct_scan *scan, const struct ct_tokens *tokens,
					    size_t *at, const struct replacements *replacements,
					    struct ct_tokens *out)
{
	const struct ct_token *token = &tokens->at[*at];

	if (scan->comparisons > CT_COPYBOOK_COMPARISONS) {
		ct_scan_diagnose(scan, token, "shorter or fewer texts to replace",
				 "replacing takes too long");
		return CTRACE_SYNTAX_ERROR;
	}
	for (size_t i = 0; i < replacements->count; i++) {
		const struct replacement *pair = &replacements->at[i];

		scan->comparisons++;
		if (pair->part != REPLACE_WHOLE && pattern_fits_part(token, pair)) {
			(*at)++;
			return replacement_put_part(scan, token, pair, out);
		}
		if (pair->part == REPLACE_WHOLE && pattern_fits(scan, tokens, *at, &pair->from)) {
			*at += pair->from.count;
			if (pair->to.count == 0 && token->is_spaced && *at < tokens->count)
				tokens->at[*at].is_spaced = true;
			return replacement_put_whole(scan, token, pair, out);
		}
	}
	(*at)++;
	return ct_tokens_add(scan, out, token);
}

static enum ctrace_status tokens_replace(struct ct_scan *scan, const struct ct_tokens *tokens,
					 const struct replacements *replacements,
					 struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < tokens->count && status == CTRACE_OK;)
		status = tokens_replace_at(scan, tokens, &at, replacements, out);
	return status;
}

/* ---- REPLACE [ALSO] ...  and REPLACE [LAST] OFF. */

struct nested {
	struct replacements
		/* each ALSO has its own pairs and the previous ones, in the order of trial */
		sets[NESTED_LIMIT];
	uint32_t count;
};

static enum ctrace_status replacements_copy(struct ct_scan *scan, const struct replacements *from,
					    struct replacements *to)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t i = 0; i < from->count && status == CTRACE_OK; i++) {
		struct replacement *pair = replacements_add(to);

		if (pair == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		pair->part = from->at[i].part;
		status = tokens_add_run(scan, &from->at[i].from, 0, from->at[i].from.count,
					&pair->from);
		if (status == CTRACE_OK)
			status = tokens_add_run(scan, &from->at[i].to, 0, from->at[i].to.count,
						&pair->to);
	}
	return status;
}

static void nested_drop(struct nested *nested, bool all)
{
	while (nested->count > 0) {
		replacements_fini(&nested->sets[--nested->count]);
		if (!all)
			return;
	}
}

static enum ctrace_status replace_take_statement(struct ct_scan *scan,
						 const struct ct_tokens *tokens, size_t *at,
						 struct nested *nested)
{
	bool is_last = false, is_also = false;
	enum ctrace_status status;

	(*at)++;
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "LAST"))
		is_last = true, (*at)++;
	else if (*at < tokens->count && ct_token_is(&tokens->at[*at], "ALSO"))
		is_also = true, (*at)++;
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "OFF")) {
		nested_drop(nested, !is_last);
		(*at)++;
		if (!tokens_have_character(tokens, *at, '.'))
			return replace_fail(scan, tokens, *at, "a period");
		(*at)++;
		return CTRACE_OK;
	}
	if (is_last || *at >= tokens->count)
		return replace_fail(scan, tokens, *at,
				    is_last ? "OFF" : "==text== BY ==text==, or OFF");
	if (!is_also)
		nested_drop(nested, true);
	if (nested->count == NESTED_LIMIT)
		return replace_fail(scan, tokens, *at, "fewer REPLACE ALSO within each other");
	status = replacements_parse(scan, tokens, at, &nested->sets[nested->count++]);
	if (status == CTRACE_OK && nested->count > 1)
		status = replacements_copy(scan, &nested->sets[nested->count - 2],
					   &nested->sets[nested->count - 1]);
	return status;
}

/* The word REPLACE always begins a statement, since it cannot name a field. */
enum ctrace_status ct_replace_statements(struct ct_scan *scan, const struct ct_tokens *tokens,
					 struct ct_tokens *out)
{
	static const struct replacements none;
	struct nested nested = { .count = 0 };
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < tokens->count && status == CTRACE_OK;) {
		if (ct_token_is(&tokens->at[at], "REPLACE")) {
			status = replace_take_statement(scan, tokens, &at, &nested);
			continue;
		}
		status = tokens_replace_at(
			scan, tokens, &at,
			nested.count > 0 ? &nested.sets[nested.count - 1] : &none, out);
	}
	nested_drop(&nested, true);
	return status;
}

/* ---- COPY */

static enum ctrace_status copy_fail(struct ct_scan *scan, const struct ct_token *place,
				    const char *name)
{
	struct ct_buf quoted = { 0 };

	ct_span_quote(&quoted, (struct ct_span){ name, strlen(name) }, CT_WORD_SHOWN);
	ct_scan_diagnose(
		scan, place,
		"a file of that name, or with .cpy, .cbl or .cob behind it, beside the copybook or in the directories for copybooks",
		"there is no copybook %s", ct_buf_text(&quoted));
	ct_buf_fini(&quoted);
	return CTRACE_SYNTAX_ERROR;
}

/* Tries one spelling of a name in one directory. */
static enum ctrace_status copy_try_file(struct ct_span directory, const char *library,
					const char *name, const char *ending, int letters,
					struct ct_buf *path, struct ct_buf *text)
{
	size_t at;

	ct_buf_clear(path);
	ct_buf_add(path, directory.at, directory.size);
	if (directory.size > 0 && directory.at[directory.size - 1] != '/')
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

static bool copy_find_in(struct ct_span directory, const char *library, const char *name,
			 struct ct_buf *path, struct ct_buf *text)
{
	static const char *const endings[] = { "", ".cpy", ".cbl", ".cob", ".CPY", ".CBL", ".COB" };

	for (int letters = 0; letters < 3; letters++)
		for (size_t i = 0; i < CT_COUNT(endings); i++) {
			ct_buf_clear(text);
			if (copy_try_file(directory, library, name, endings[i],
					  letters == 2 ? 1 : -letters, path, text) == CTRACE_OK)
				return true;
		}
	return false;
}

static struct ct_span path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? ct_span_of(path, path)
			     : ct_span_of(path, slash == path ? slash + 1 : slash);
}

static bool copy_find(struct ct_scan *scan, const char *library, const char *name,
		      struct ct_buf *path, struct ct_buf *text)
{
	const char *from = scan->options->directories;

	if (name[0] == '/')
		return copy_find_in((struct ct_span){ "", 0 }, "", name, path, text);
	if (copy_find_in(path_directory(scan->files[scan->open[scan->depth]]), library, name, path,
			 text) ||
	    copy_find_in(path_directory(scan->files[0]), library, name, path, text))
		return true;
	while (from != NULL && *from != '\0') {
		size_t size = strcspn(from, ":");

		if (size > 0 &&
		    copy_find_in((struct ct_span){ from, size }, library, name, path, text))
			return true;
		from += size + (from[size] == ':');
	}
	return false;
}

/* Registers the copied file.  Reports a file that copies itself, or too many files. */
static enum ctrace_status copy_open(struct ct_scan *scan, const struct ct_token *place,
				    struct ct_buf *path)
{
	const char *name = ct_scan_text(scan, ct_buf_text(path), path->size);

	if (name == NULL || path->failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i <= scan->depth; i++)
		if (strcmp(scan->files[scan->open[i]], name) == 0) {
			ct_scan_diagnose(scan, place, "a copybook that is not being read already",
					 "the copybook copies itself");
			return CTRACE_SYNTAX_ERROR;
		}
	if (scan->depth == CT_COPY_DEPTH || scan->file_count == CT_COPY_FILES) {
		ct_scan_diagnose(scan, place, "COPY at most 16 deep, and at most 1023 files",
				 "too many copybooks copy each other");
		return CTRACE_SYNTAX_ERROR;
	}
	scan->files[scan->file_count] = name;
	scan->open[++scan->depth] = scan->file_count++;
	return CTRACE_OK;
}

static enum ctrace_status copy_read_file(struct ct_scan *scan, const struct ct_token *place,
					 const char *library, const char *name,
					 struct ct_tokens *out)
{
	struct ct_buf path = { 0 }, text = { 0 };
	enum ctrace_status status;

	if (!copy_find(scan, library, name, &path, &text)) {
		status = copy_fail(scan, place, name);
	} else {
		status = copy_open(scan, place, &path);
		if (status == CTRACE_OK) {
			status = ct_scan_text_of(scan, scan->open[scan->depth], text.data,
						 text.size, out);
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
	struct replacements replacements;
};

/* Reads the name of a file or library: a literal, or tokens without blanks.  Leaves a period at its
 * end. */
static bool copy_take_name(const struct ct_tokens *tokens, size_t *at, char name[NAME_LIMIT])
{
	size_t end = tokens_run_end(tokens, *at), size = 0;

	if (end == *at + 1 && tokens->at[*at].kind == CT_TOKEN_OTHER)
		return false;
	if (end > *at + 1 && tokens->at[end - 1].kind == CT_TOKEN_OTHER &&
	    *tokens->at[end - 1].at == '.')
		end--;
	for (; *at < end; (*at)++) {
		const struct ct_token *token = &tokens->at[*at];

		if (size + token->size >= NAME_LIMIT ||
		    memchr(token->at, '\0', token->size) != NULL)
			return false;
		memcpy(name + size, token->at, token->size);
		size += token->size;
	}
	name[size] = '\0';
	return size > 0;
}

static enum ctrace_status copy_parse(struct ct_scan *scan, const struct ct_tokens *tokens,
				     size_t *at, struct copy *copy)
{
	bool is_good = *at < tokens->count && copy_take_name(tokens, at, copy->name);

	copy->library[0] = '\0';
	if (is_good && *at < tokens->count &&
	    (ct_token_is(&tokens->at[*at], "OF") || ct_token_is(&tokens->at[*at], "IN"))) {
		(*at)++;
		is_good = *at < tokens->count && copy_take_name(tokens, at, copy->library);
	}
	if (!is_good) {
		ct_scan_diagnose(scan, &copy->place, "COPY name [OF library] [REPLACING ...].",
				 "COPY without the name of a file");
		return CTRACE_SYNTAX_ERROR;
	}
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "SUPPRESS"))
		*at += *at + 1 < tokens->count && ct_token_is(&tokens->at[*at + 1], "PRINTING") ? 2
												: 1;
	if (*at < tokens->count && ct_token_is(&tokens->at[*at], "REPLACING")) {
		(*at)++;
		return replacements_parse(scan, tokens, at, &copy->replacements);
	}
	if (*at < tokens->count && tokens->at[*at].kind == CT_TOKEN_OTHER &&
	    *tokens->at[*at].at == '.') {
		(*at)++;
		return CTRACE_OK;
	}
	ct_scan_diagnose(scan, *at < tokens->count ? &tokens->at[*at] : &copy->place,
			 "OF, IN, SUPPRESS, REPLACING or a period", "COPY does not end");
	return CTRACE_SYNTAX_ERROR;
}

static enum ctrace_status copy_expand(struct ct_scan *scan, const struct ct_tokens *tokens,
				      size_t *at, struct ct_tokens *out)
{
	struct copy *copy = calloc(1, sizeof *copy);
	struct ct_tokens copied = { 0 };
	enum ctrace_status status;

	if (copy == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	copy->place = tokens->at[(*at)++];
	status = copy_parse(scan, tokens, at, copy);
	if (status == CTRACE_OK)
		status = copy_read_file(scan, &copy->place, copy->library, copy->name, &copied);
	if (status == CTRACE_OK)
		status = tokens_replace(scan, &copied, &copy->replacements, out);
	replacements_fini(&copy->replacements);
	ct_tokens_fini(&copied);
	free(copy);
	return status;
}

enum ctrace_status ct_copy_expand(struct ct_scan *scan, const struct ct_tokens *own,
				  struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < own->count && status == CTRACE_OK;) {
		size_t end = tokens_pseudo_text_end(own, at);

		if (end == 0 && ct_token_is(&own->at[at], "COPY")) {
			status = copy_expand(scan, own, &at, out);
			continue;
		}
		end = end > at ? end : at + 1;
		status = tokens_add_run(scan, own, at, end, out);
		at = end;
	}
	return status;
}
