/*
 * tool_argp.c - what the options of all verbs have in common: -h, and the nearest name for a word
 * that is no option.
 *
 * Called by allocate.c, round every argp_parse() of the tool.  getopt reports an unknown option by
 * itself and knows no other name for it; so the long options are looked at before it sees them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/tool_argp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/cli.h"

#define MOST_NAMES 96u

/* ---- -h ---- */

static error_t help_parse(int key, char *argument, struct argp_state *state)
{
	(void)argument;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

const struct argp *tool_argp_extend(struct tool_argp *self, const struct argp *argp)
{
	static const struct argp_option rows[] = { { NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 },
						   { 0 } };
	static const struct argp help = { .options = rows, .parser = help_parse };
	size_t count = 0;

	while (argp->children != NULL && argp->children[count].argp != NULL)
		count++;
	if (count >= TOOL_ARGP_CHILDREN)
		return argp;
	*self = (struct tool_argp){ .whole = *argp };
	if (count > 0)
		memcpy(self->children, argp->children, count * sizeof *argp->children);
	self->children[count] = (struct argp_child){ .argp = &help };
	self->whole.children = self->children;
	return &self->whole;
}

/* ---- the options that there are ---- */

struct names {
	const char *items[MOST_NAMES];
	bool takes_next[MOST_NAMES]; /* the argument of the option is the next word */
	bool letter_takes_next[128];
	bool letter_takes_rest[128];
	size_t count;
};

static void names_add(struct names *names, const char *name, bool takes_next)
{
	if (names->count == MOST_NAMES)
		return;
	names->takes_next[names->count] = takes_next;
	names->items[names->count++] = name;
}

static void names_collect(struct names *names, const struct argp *argp)
{
	const struct argp_option *real = NULL; /* what an alias is an alias of */

	for (const struct argp_option *row = argp->options;
	     row != NULL &&
	     (row->name != NULL || row->key != 0 || row->doc != NULL || row->group != 0);
	     row++) {
		bool takes;

		if ((row->flags & OPTION_ALIAS) == 0)
			real = row;
		takes = real != NULL && real->arg != NULL;
		if (row->key > ' ' && row->key < 127) {
			names->letter_takes_rest[row->key] = takes;
			names->letter_takes_next[row->key] =
				takes && (real->flags & OPTION_ARG_OPTIONAL) == 0;
		}
		if (row->name != NULL)
			names_add(names, row->name,
				  takes && (real->flags & OPTION_ARG_OPTIONAL) == 0);
	}
	for (const struct argp_child *child = argp->children; child != NULL && child->argp != NULL;
	     child++)
		names_collect(names, child->argp);
}

/* Returns the first option that begins with the word, as getopt does, but prefers an exact name.
 * Returns names->count when there is none. */
static size_t names_find(const struct names *names, struct ct_span word)
{
	size_t found = names->count;

	for (size_t i = names->count; i-- > 0;) {
		if (strncmp(names->items[i], word.at, word.size) != 0)
			continue;
		if (names->items[i][word.size] == '\0')
			return i;
		found = i;
	}
	return found;
}

/* ---- the words ---- */

static void word_refuse(const struct argp *argp, char *tool, const struct names *names,
			struct ct_span word)
{
	const char *nearest = ct_suggest(word, names->items, names->count);

	fprintf(stderr, "%s: unrecognized option '--", tool);
	ct_tool_print(stderr, word.at, word.size);
	fputc('\'', stderr);
	if (nearest != NULL)
		fprintf(stderr, "; did you mean --%s?", nearest);
	fputc('\n', stderr);
	argp_help(argp, stderr, ARGP_HELP_SEE, tool);
	exit(argp_err_exit_status);
}

/* Handles -xyz.  Returns true if the argument of the last letter is the next word. */
static bool letters_take_next(const struct names *names, const char *letters)
{
	for (; *letters > ' ' && *letters < 127; letters++) {
		unsigned letter = (unsigned char)*letters;

		if (names->letter_takes_rest[letter])
			return names->letter_takes_next[letter] && letters[1] == '\0';
	}
	return false;
}

void tool_argp_check(const struct argp *argp, int argc, char **argv, unsigned flags)
{
	struct names names = { .count = 0 };

	names_collect(&names, argp);
	/* argp's own */
	names_add(&names, "help", false);
	names_add(&names, "usage", false);
	names_add(&names, "version", false);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		struct ct_span word = { argv[i] + 2, 0 };
		size_t found;

		if (argv[i][0] != '-' || argv[i][1] == '\0') {
			if ((flags & ARGP_IN_ORDER) != 0)
				/* the words that follow may belong to another program */
				return;
			continue;
		}
		if (argv[i][1] != '-') {
			i += letters_take_next(&names, argv[i] + 1);
			continue;
		}
		word.size = strcspn(word.at, "=");
		found = names_find(&names, word);
		if (found == names.count)
			word_refuse(argp, argv[0], &names, word);
		else if (names.takes_next[found] && word.at[word.size] != '=')
			i++;
	}
}
