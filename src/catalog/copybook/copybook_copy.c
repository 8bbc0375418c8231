/*
 * copybook_copy.c - COPY: finds the file of a name, and puts its tokens in place of the statement.
 *
 * Called by copybook_scan.c for the tokens of each file, and calls it for the copied file.  A file
 * is searched beside the file that names it, beside the first file, and in the directories for
 * copybooks, in this order.  A file that copies itself is refused before it is read again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

#define NAME_LIMIT 1024u

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
	struct ct_replacements replacements;
};

/* Reads the name of a file or library: a literal, or tokens without blanks.  Leaves a period at its
 * end. */
static bool copy_take_name(const struct ct_tokens *tokens, size_t *at, char name[NAME_LIMIT])
{
	size_t end = ct_run_end(tokens, *at), size = 0;

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
		return ct_replacements_parse(scan, tokens, at, &copy->replacements);
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
		status = ct_replace(scan, &copied, &copy->replacements, out);
	ct_replacements_fini(&copy->replacements);
	ct_tokens_fini(&copied);
	free(copy);
	return status;
}

enum ctrace_status ct_copy_expand(struct ct_scan *scan, const struct ct_tokens *own,
				  struct ct_tokens *out)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < own->count && status == CTRACE_OK;) {
		size_t end = ct_pseudo_text_end(own, at);

		if (end == 0 && ct_token_is(&own->at[at], "COPY")) {
			status = copy_expand(scan, own, &at, out);
			continue;
		}
		do
			status = ct_tokens_add(scan, out, &own->at[at++]);
		while (at < end && status == CTRACE_OK);
	}
	return status;
}
