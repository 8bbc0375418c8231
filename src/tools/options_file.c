/*
 * options_file.c - --options=FILE: words of the command line that stand in a file.
 *
 * Called before a verb parses its options, so that words of the file are parsed as all others.
 * Words stand between blanks and ends of lines; '...' and "..." keep what is between them together;
 * # at the beginning of a word begins a comment.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/options_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tools/cmd.h"
#include "cli/user_file.h"

#define OPTION "--options"

/* Until the tool ends: verbs keep pointers to words. */
static struct words {
	char **items;
	int count, capacity;
} words;

static bool word_add(char *word)
{
	if (words.count == words.capacity) {
		int capacity = words.capacity != 0 ? 2 * words.capacity : 64;
		char **items = realloc(words.items, ((size_t)capacity + 1) * sizeof *items);

		if (items == NULL)
			return false;
		words.items = items;
		words.capacity = capacity;
	}
	words.items[words.count++] = word;
	words.items[words.count] = NULL;
	return true;
}

static bool file_diagnose(const char *verb, const char *path, uint32_t line, const char *why)
{
	fprintf(stderr, "%s: ", verb);
	ct_tool_print(stderr, path, strlen(path));
	if (line != 0)
		fprintf(stderr, ":%u", line);
	fprintf(stderr, ": %s\n", why);
	return false;
}

/* One word, in its own place: quotation marks go.  NULL: one is not closed. */
static char *word_cut(char **at, uint32_t *line)
{
	char *word = *at, *to = word, *from = word, quote = '\0';

	for (; *from != '\0' && (quote != '\0' || strchr(" \t\r\n", *from) == NULL); from++) {
		*line += *from == '\n';
		if (quote == '\0' && (*from == '\'' || *from == '"'))
			quote = *from;
		else if (*from == quote)
			quote = '\0';
		else
			*to++ = *from;
	}
	*line += *from == '\n';
	*at = *from != '\0' ? from + 1 : from;
	*to = '\0';
	return quote == '\0' ? word : NULL;
}

static bool words_cut(const char *verb, const char *path, char *text)
{
	uint32_t line = 1;

	while (*text != '\0') {
		uint32_t first = line;
		char *word;

		if (strchr(" \t\r\n", *text) != NULL) {
			line += *text++ == '\n';
			continue;
		}
		if (*text == '#') {
			text += strcspn(text, "\n");
			continue;
		}
		word = word_cut(&text, &line);
		if (word == NULL)
			return file_diagnose(verb, path, first, "a quotation mark is not closed");
		if (!word_add(word))
			return file_diagnose(verb, path, 0,
					     ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	}
	return true;
}

static bool file_add(const char *verb, const char *path)
{
	struct user_file_failure failure;
	struct ct_buf text;
	char *copy;
	bool ok;

	ct_buf_init(&text);
	if (!user_file_read(path, "options", &text, &failure)) {
		ct_buf_fini(&text);
		return file_diagnose(verb, path, failure.line, failure.why);
	}
	copy = strdup(ct_buf_text(&text));
	ct_buf_fini(&text);
	if (copy == NULL)
		return file_diagnose(verb, path, 0, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	ok = words_cut(verb, path, copy);
	if (!ok)
		free(copy);
	return ok;
}

/* The file that the word at `i` names, or the word behind it; NULL: it is another word. */
static const char *file_named(char **argv, int argc, int *i)
{
	const char *word = argv[*i];

	if (strncmp(word, OPTION "=", sizeof OPTION) == 0)
		return word + sizeof OPTION;
	return strcmp(word, OPTION) == 0 && *i + 1 < argc ? argv[++*i] : NULL;
}

bool options_file_expand(const char *verb, int *argc, char ***argv)
{
	bool is_option = true, has_any = false;

	for (int i = 0; i < *argc; i++) {
		char *word = (*argv)[i];
		const char *path = NULL;

		is_option = is_option && strcmp(word, "--") != 0;
		if (is_option)
			path = file_named(*argv, *argc, &i);
		has_any |= path != NULL;
		if (path != NULL ? !file_add(verb, path) : !word_add(word))
			return false;
	}
	if (has_any) {
		*argc = words.count;
		*argv = words.items;
	}
	return true;
}
