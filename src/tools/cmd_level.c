/*
 * cmd_level.c - ctrace level COMPONENT [LEVEL]: shows or changes the threshold of a component in
 * running processes.
 *
 * Each process answers when the change is in force.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <string.h>

#include "operator/change.h"

struct level_arguments {
	struct change *change;
	const char *level; /* NULL: show */
	uint32_t number;
};

static uint32_t parse_level(const char *word, struct argp_state *state)
{
	struct ct_span span = { word, strlen(word) };
	uint32_t level = CTRACE_LEVEL_NONE;
	const char *nearest;

	if (ct_level_parse(span.at, span.size, &level))
		return level;
	nearest = ct_suggest_level(span, true);
	if (nearest != NULL)
		argp_error(state, "unknown level \"%s\"; did you mean %s?", word, nearest);
	else
		argp_error(state,
			   "unknown level \"%s\"; expected debug, info, warn, error, fatal or none",
			   word);
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
			argp_error(state, "unexpected argument \"%s\"; one level at a time",
				   argument);
		}
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "the level of what? expected a component");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * A process sets the level and reports what is in force then.  For component trace a start/stop
 * routine may refuse, or a filter may leave the process out.  MINOPS may make it record more, as
 * the flight recorder does.
 */
static void row_judge(struct change *change, struct change_row *row, uint32_t wanted)
{
	static const char refused[] =
		"stays as it is: its start/stop routine or a filter of component trace does not allow it";
	static const char more[] = "the flight recorder or MINOPS records more than was asked";
	uint32_t level;

	if (row->failed || row->now == NULL ||
	    !ct_level_parse(row->now, strlen(row->now), &level) || level == wanted)
		return;
	row->failed = level > wanted; /* fewer events than were asked for */
	if (row->failed)
		ct_change_set(change, &row->report,
			      (struct ct_span){ refused, sizeof(refused) - 1 });
	else
		ct_change_set(change, &row->report, (struct ct_span){ more, sizeof(more) - 1 });
}

static int level_ask(struct level_arguments *arguments)
{
	struct change *change = arguments->change;
	struct ct_command command = {
		.verb = CT_VERB_LEVEL,
		.component = { change->subject, strlen(change->subject) },
		.level = arguments->level != NULL ? arguments->number : CT_LEVEL_ASKED,
	};

	change->is_question = arguments->level == NULL;
	ct_command_encode(&change->ask.request, &command);
	ct_change_gather(change);
	for (size_t i = 0; i < change->count && !change->is_question; i++)
		row_judge(change, &change->rows[i], arguments->number);
	return ct_change_finish(change);
}

int cmd_level(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "COMPONENT [LEVEL]",
		.doc = "Show or change the level from which events of a component are traced: debug, info, warn, error, fatal or none.\v"
		       "COMPONENT is a name, or a pattern with * and ?; '' is the default of components without a level.",
		.children = children,
	};
	struct change change;
	struct level_arguments arguments = { .change = &change };
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0)
		exit_status = level_ask(&arguments);
	ct_change_fini(&change);
	return exit_status;
}
