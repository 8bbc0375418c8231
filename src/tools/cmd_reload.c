/*
 * cmd_reload.c - ctrace reload [CONFIG]: running processes read a configuration file anew.
 *
 * A file that is named is checked here first, so that errors show with line and column; the
 * processes pass over the lines that have some.  Without a name each process reads its own file
 * again, which only it knows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "operator/change.h"
#include "lib/control/control.h"

#define FILE_LIMIT ((size_t)64 << 20)

struct reload_arguments {
	struct change *change;
	const char *path; /* as it was given; NULL: each process's own */
	unsigned diagnostics;
};

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct reload_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->change->target;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num != 0)
			argp_error(state, "unexpected argument \"%s\"; one file at a time",
				   argument);
		arguments->path = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	struct reload_arguments *arguments = user;

	arguments->diagnostics++;
	ct_tool_diagnose(arguments->path, diagnostic);
	fputc('\n', stderr);
}

static bool file_check(struct reload_arguments *arguments, char absolute[PATH_MAX])
{
	struct ct_config_reader reader = { .diagnose = print_diagnostic, .user = arguments };
	enum ctrace_status status = CTRACE_OS_ERROR;
	struct ct_buf text;

	ct_buf_init(&text);
	if (realpath(arguments->path, absolute) != NULL)
		status = ct_os_read_file(absolute, FILE_LIMIT, &text);
	if (status == CTRACE_OK) {
		ct_config_read(text.data, text.size, NULL, &reader, NULL);
	} else {
		fprintf(stderr, "%s: cannot read ", arguments->change->target.verb);
		ct_tool_print(stderr, arguments->path, strlen(arguments->path));
		fprintf(stderr, ": %s\n",
			status == CTRACE_OS_ERROR ? strerror(errno) : ctrace_status_text(status));
	}
	ct_buf_fini(&text);
	return status == CTRACE_OK;
}

static int reload_run(struct reload_arguments *arguments)
{
	struct change *change = arguments->change;
	struct ct_command command = { .verb = CT_VERB_RELOAD };
	char absolute[PATH_MAX];

	if (arguments->path != NULL) {
		if (!file_check(arguments, absolute))
			return CMD_NOTHING;
		command.value = (struct ct_span){ absolute, strlen(absolute) };
		/* The other lines hold, but not all is well. */
		change->failed = arguments->diagnostics != 0;
	}
	change->has_diagnostics = true;
	ct_command_encode(&change->ask.request, &command);
	return ct_change_run(change);
}

int cmd_reload(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "[CONFIG]",
		.doc = "Make running processes read a configuration file: CONFIG, or again their own.",
		.children = children,
	};
	struct change change;
	struct reload_arguments arguments = { .change = &change };
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	change.done = "configuration read";
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0)
		exit_status = reload_run(&arguments);
	ct_change_fini(&change);
	return exit_status;
}
