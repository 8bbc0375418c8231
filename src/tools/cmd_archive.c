/*
 * cmd_archive.c - ctrace archive ADDRESS DIRECTORY: copies traces from a JetStream stream.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/end_signal.h"
#include "tools/streams/stream_copy.h"

struct archive_arguments {
	struct ct_nats_copy copy;
	char *directory;
	bool is_quiet;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct archive_arguments *arguments = state->input;

	switch (key) {
	case 'f':
		arguments->copy.follows = true;
		return 0;
	case 'q':
		arguments->is_quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0 && !stream_is_address(argument))
			argp_error(state,
				   "\"%s\" is no address of a stream; expected nats://HOST/STREAM",
				   argument);
		if (state->arg_num == 0)
			arguments->copy.address = argument;
		else if (state->arg_num == 1)
			arguments->directory = argument;
		else
			argp_error(state, "unexpected argument \"%s\"", argument);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "expected the address of a stream, and a directory");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_archive(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "follow", 'f', NULL, 0, "go on with what comes later, until stopped", 0 },
		{ "quiet", 'q', NULL, 0, "print no total", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "nats://HOST/STREAM DIRECTORY",
		.doc = "Copy the traces of a JetStream stream into DIRECTORY, one directory each, which is "
		       "made when it is missing.",
	};
	struct archive_arguments arguments = { .copy.until_ns = UINT64_MAX };
	sigset_t while_waiting;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	if (mkdir(arguments.directory, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "ctrace archive: ");
		ct_tool_print(stderr, arguments.directory, strlen(arguments.directory));
		fprintf(stderr, ": %s\n", strerror(errno));
		return CMD_UNWRITTEN;
	}
	/* A stream may have discarded what an earlier archive has. */
	if (!ct_tool_is_empty_directory(arguments.directory)) {
		fprintf(stderr, "ctrace archive: ");
		ct_tool_print(stderr, arguments.directory, strlen(arguments.directory));
		fprintf(stderr, ": it is not an empty directory; name a new one\n");
		return CMD_UNWRITTEN;
	}
	arguments.copy.paths = &arguments.directory;
	arguments.copy.path_count = 1;
	ct_end_catch(&while_waiting);
	(void)sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	status = stream_fetch("ctrace archive", &arguments.copy);
	if (status == CMD_DONE && !arguments.is_quiet)
		stream_report_total("ctrace archive", &arguments.copy);
	return status;
}
