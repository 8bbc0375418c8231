/*
 * cmd_level.c - ctrace level COMPONENT [LEVEL]: shows or changes the threshold of a component in running processes.
 *
 * Each process answers when the change is in force.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

#include <argp.h>
#include <string.h>

#include "change.h"

struct level_arguments {
	struct change *change;
	const char *level; /* NULL: show */
	uint32_t number;
};

static uint32_t parse_level(const char *word, struct argp_state *state)
{
	static const char *const words[] = { "debug", "info", "warn", "error", "fatal", "none" };
	struct ct_span span = { word, strlen(word) };
	uint32_t level = CTRACE_LEVEL_NONE;
	const char *nearest;

	if (ct_level_parse(span.at, span.size, &level))
		return level;
	nearest = ct_suggest(span, words, CT_COUNT(words));
	if (nearest != NULL)
		argp_error(state, "unknown level \"%s\"; did you mean %s?", word, nearest);
	else
		argp_error(state, "unknown level \"%s\"; expected debug, info, warn, error, fatal or none", word);
	return level;
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct level_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->change->target;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			ct_change_check_component(argument, state);
			arguments->change->subject = argument;
		} else if (state->arg_num == 1) {
			arguments->level = argument;
			arguments->number = parse_level(argument, state);
		} else {
			argp_error(state, "unexpected argument \"%s\"; one level at a time", argument);
		}
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "the level of what? expected a component");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int ask(struct level_arguments *arguments)
{
	struct change *change = arguments->change;
	struct ct_command command = {
		.verb = CT_VERB_LEVEL,
		.component = { change->subject, strlen(change->subject) },
		.level = arguments->level != NULL ? arguments->number : CT_LEVEL_ASKED,
	};

	change->is_question = arguments->level == NULL;
	ct_command_encode(&change->request, &command);
	return ct_change_run(change);
}

int cmd_level(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "COMPONENT [LEVEL]",
		.doc = "Show or change from which level on events of a component are traced: debug, info, warn, error, fatal or none.\v"
		       "COMPONENT is a name, or a pattern with * and ?; '' is the default of components without a level.",
		.children = children,
	};
	struct change change;
	struct level_arguments arguments = { .change = &change };
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0)
		exit_status = ask(&arguments);
	ct_change_fini(&change);
	return exit_status;
}
