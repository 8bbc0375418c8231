/*
 * cmd_prop.c - ctrace prop COMPONENT|emitter:NAME [PROPERTY [VALUE]]: lists, shows or changes
 * properties in running processes.
 *
 * Both ask each process: what an emitter's property is by default only the process knows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <string.h>

#include "operator/change.h"
#include "lib/control/control.h"

#define EMITTER_PREFIX "emitter:"

struct prop_arguments {
	struct change *change;
	const char *emitter; /* or NULL */
	const char *value;   /* NULL: show */
};

/* Words that are no components, mostly: as the configuration file or other verbs have them. */
static const char *subject_hint(const char *text)
{
	uint32_t index;

	if (strchr(text, '#') != NULL)
		return "a property is a word of its own, behind it";
	if (ct_tool_is_number(text))
		return "a process is named with --pid";
	if (ct_emitter_find_known(text, strlen(text), &index) == CTRACE_OK)
		return "an emitter is written as emitter:NAME";
	return NULL;
}

static void subject_take(struct prop_arguments *arguments, const char *text,
			 struct argp_state *state)
{
	size_t size = strlen(EMITTER_PREFIX);

	if (strncasecmp(text, EMITTER_PREFIX, size) != 0) {
		ct_change_check_component(text, state);
		arguments->change->subject = text;
		arguments->change->hint = subject_hint(text);
		return;
	}
	arguments->emitter = text + size;
	arguments->change->is_emitter = true;
	size = strlen(arguments->emitter);
	if (size == 0 || size > CTRACE_MAX_EMITTER)
		argp_error(
			state,
			"\"%s\": expected the name of an emitter, of 1 to %u bytes, behind the colon",
			text, CTRACE_MAX_EMITTER);
}

static void property_take(struct prop_arguments *arguments, const char *text,
			  struct argp_state *state)
{
	size_t size = strlen(text);

	if (size == 0 || size > CTRACE_MAX_PROPERTY)
		argp_error(state, "\"%s\" is not a property; expected 1 to %u bytes", text,
			   CTRACE_MAX_PROPERTY);
	arguments->change->property = text;
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct prop_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->change->target;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			subject_take(arguments, argument, state);
		else if (state->arg_num == 1)
			property_take(arguments, argument, state);
		else if (state->arg_num == 2)
			arguments->value = argument;
		else
			argp_error(
				state,
				"unexpected argument \"%s\"; a value with blanks wants quotation marks",
				argument);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num == 0)
			argp_error(state,
				   "a property of what? expected a component or emitter:NAME");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct ct_span span_of_text(const char *text)
{
	return (struct ct_span){ text, text != NULL ? strlen(text) : 0 };
}

static int prop_ask(struct prop_arguments *arguments)
{
	struct change *change = arguments->change;
	struct ct_command command = {
		.verb = arguments->emitter != NULL ? CT_VERB_EMITTER_PROPERTY
						   : CT_VERB_COMPONENT_PROPERTY,
		.component = span_of_text(change->subject),
		.emitter = span_of_text(arguments->emitter),
		.property = span_of_text(change->property),
		.value = span_of_text(arguments->value),
	};

	if (arguments->value == NULL) {
		command.verb = CT_VERB_PROPERTY_GET;
		change->is_question = true;
	}
	ct_command_encode(&change->ask.request, &command);
	return ct_change_run(change);
}

int cmd_prop(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "COMPONENT [PROPERTY [VALUE]]\nemitter:NAME [PROPERTY [VALUE]]",
		.doc = "List, show or change properties of a component or emitter.\v"
		       "COMPONENT is a name, or a pattern with * and ?.  Put -- in front of a VALUE that begins with a hyphen.",
		.children = children,
	};
	struct change change;
	struct prop_arguments arguments = { .change = &change };
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0)
		exit_status = prop_ask(&arguments);
	ct_change_fini(&change);
	return exit_status;
}
