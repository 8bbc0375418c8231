/*
 * cmd_rotate.c - ctrace rotate [EMITTER]: running processes begin new generations of their trace
 * files.
 *
 * The process delivers what it has traced so far into the old files; it answers when the new ones
 * are begun.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <string.h>

#include "operator/change.h"

struct rotate_arguments {
	struct change *change;
	const char *emitter; /* NULL: all */
};

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct rotate_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->change->target;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num != 0)
			argp_error(state,
				   "unexpected argument \"%s\"; one emitter, or none for all",
				   argument);
		if (argument[0] == '\0' || strlen(argument) > CTRACE_MAX_EMITTER)
			argp_error(state,
				   "\"%s\" is not an emitter; expected a name of 1 to %u bytes",
				   argument, CTRACE_MAX_EMITTER);
		arguments->emitter = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A process without files to rotate is no failure.  If no process has any, the exit status is
 * CMD_NOTHING. */
static void rows_judge(struct change *change)
{
	static const char why[] =
		"nothing to rotate: it keeps no other generation, and nobody has renamed its file";
	bool has_begun = false;

	for (size_t i = 0; i < change->count; i++) {
		struct change_row *row = &change->rows[i];

		if (row->failed && row->peer->status == CTRACE_UNSUPPORTED &&
		    ct_ask_no_response(row->peer) == NULL) {
			row->failed = false;
			ct_change_set(change, &row->report,
				      (struct ct_span){ why, sizeof(why) - 1 });
		}
		has_begun = has_begun || row->failed || row->now != NULL;
	}
	if (has_begun || change->failed)
		return;
	fprintf(stderr, "%s: nothing has begun anew\n", change->target.verb);
	change->failed = true;
}

int cmd_rotate(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "[EMITTER]",
		.doc = "Begin new generations of trace files: of one emitter, or of all that have files.",
		.children = children,
	};
	struct change change;
	struct rotate_arguments arguments = { .change = &change };
	struct ct_command command = { .verb = CT_VERB_ROTATE };
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	change.is_emitter = true;
	change.is_question = true; /* each row is one thing that has come of it */
	change.done = "nothing to rotate";
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0) {
		if (arguments.emitter != NULL)
			command.emitter =
				(struct ct_span){ arguments.emitter, strlen(arguments.emitter) };
		ct_command_encode(&change.ask.request, &command);
		ct_change_gather(&change);
		rows_judge(&change);
		exit_status = ct_change_finish(&change);
	}
	ct_change_fini(&change);
	return exit_status;
}
