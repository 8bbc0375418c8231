/*
 * cmd_dest.c - ctrace dest COMPONENT [LIST]: shows or changes where the events of a component go,
 * in running processes.
 *
 * Each process answers when the change is in force.  Only the process knows which emitters exist:
 * it may have loaded some of its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <string.h>

#include "operator/change.h"
#include "lib/control/control.h"

/* argp would take "-STDERR" for options, so words after the component are passed as "\1STDERR". */
#define REMOVE_MARK '\1'

struct dest_arguments {
	struct change *change;
	struct ct_buf words; /* "+A", "-A" or "A", each with a blank behind it */
	unsigned changes;    /* words with a sign */
	unsigned exact;      /* and without */
};

static void words_hide_removals(const struct argp_state *state)
{
	for (int i = state->next; i < state->argc; i++) {
		char *word = state->argv[i];

		if (strcmp(word, "--") == 0)
			return;
		if (word[0] == '-' && word[1] != '-' && word[1] != '\0' && word[2] != '\0')
			word[0] = REMOVE_MARK;
	}
}

static void word_add(struct dest_arguments *arguments, const char *word, struct argp_state *state)
{
	bool is_removal = word[0] == REMOVE_MARK || word[0] == '-';

	if ((is_removal || word[0] == '+') &&
	    (word[1] == '\0' || strpbrk(word + 1, "() ,\t\n+") != NULL))
		argp_error(state, "\"%c%s\": expected the name of one emitter behind the sign",
			   is_removal ? '-' : '+', word + 1);
	if (is_removal || word[0] == '+') {
		arguments->changes++;
		ct_buf_add_char(&arguments->words, is_removal ? '-' : '+');
		word++;
	} else {
		arguments->exact++;
	}
	ct_buf_add_text(&arguments->words, word);
	ct_buf_add_char(&arguments->words, ' ');
	if (arguments->changes != 0 && arguments->exact != 0)
		argp_error(
			state,
			"either names with a sign, which change the list, or names without, which are all of it");
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct dest_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->change->target;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			ct_change_check_component(argument, state);
			arguments->change->subject = argument;
			words_hide_removals(state);
		} else {
			word_add(arguments, argument, state);
		}
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "the destinations of what? expected a component");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- requests ---- */

static void request_encode(struct change *change, enum ct_verb verb, struct ct_span list)
{
	struct ct_command command = {
		.verb = verb,
		.component = { change->subject, strlen(change->subject) },
		.list = list,
	};

	ct_command_encode(&change->ask.request, &command);
}

/* One request a word, in their order. */
static void request_encode_changes(struct change *change, struct ct_span words)
{
	struct ct_span word;

	while (ct_config_next_word(&words, &word))
		request_encode(change, word.at[0] == '+' ? CT_VERB_DEST_ADD : CT_VERB_DEST_REMOVE,
			       ct_span_of(word.at + 1, word.at + word.size));
}

/* Removes parentheses around the names; "()" has none.  Returns false when a parenthesis is
 * elsewhere or unmatched. */
static bool list_strip_parentheses(struct ct_span *list)
{
	while (list->size != 0 && ct_is_blank(list->at[0]))
		*list = ct_span_of(list->at + 1, list->at + list->size);
	while (list->size != 0 && ct_is_blank(list->at[list->size - 1]))
		list->size--;
	if (list->size >= 2 && list->at[0] == '(' && list->at[list->size - 1] == ')')
		*list = ct_span_of(list->at + 1, list->at + list->size - 1);
	return list->size == 0 || (memchr(list->at, '(', list->size) == NULL &&
				   memchr(list->at, ')', list->size) == NULL);
}

/* Without a list the values are shown. */
static int dest_show(struct change *change)
{
	change->is_question = true;
	request_encode(change, CT_VERB_DEST_SET, (struct ct_span){ NULL, 0 });
	return ct_change_run(change);
}

static int dest_set(struct dest_arguments *arguments)
{
	struct change *change = arguments->change;
	struct ct_span list = { arguments->words.data, arguments->words.size };
	struct ct_span rest;
	struct ct_span word;

	if (arguments->changes != 0) {
		request_encode_changes(change, list);
		return ct_change_run(change);
	}
	rest = list;
	if (!list_strip_parentheses(&list) || (!ct_config_next_word(&rest, &word))) {
		fprintf(stderr,
			"%s: misplaced parenthesis; expected (EMITTER...) or names without parentheses\n",
			change->target.verb);
		return CMD_USAGE;
	}
	request_encode(change, CT_VERB_DEST_SET, list);
	return ct_change_run(change);
}

int cmd_dest(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "COMPONENT\nCOMPONENT {+EMITTER|-EMITTER}...\nCOMPONENT (EMITTER...)",
		.doc = "Show the destinations of a component; add and remove destinations, or set the whole list.\v"
		       "COMPONENT is a name, or a pattern with * and ?.  Give options of one letter in front of it.  A shell wants "
		       "quotation marks round parentheses, which may be left out; '()' inherits the destinations again.",
		.children = children,
	};
	struct change change;
	struct dest_arguments arguments = { .change = &change };
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	change.empty = "none";
	ct_buf_init(&arguments.words);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments) == 0)
		exit_status = arguments.words.size == 0 ? dest_show(&change) : dest_set(&arguments);
	ct_buf_fini(&arguments.words);
	ct_change_fini(&change);
	return exit_status;
}
