/*
 * cmd_forward.c - ctrace forward PATH... ADDRESS: copies traces into a JetStream stream.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>

#include "cli/end_signal.h"
#include "tools/streams/spool_forward.h"
#include "tools/streams/stream_copy.h"

struct forward_arguments {
	struct ct_nats_copy copy;
	bool is_quiet;
	bool serves_spool;
	const char *spool; /* NULL: this user's */
};

enum { OPTION_VERIFY = 256 };

static void arguments_split(struct forward_arguments *arguments, struct argp_state *state)
{
	char **words = state->argv + state->next;
	size_t count = (size_t)(state->argc - state->next);

	if (count < 2)
		argp_error(state, "expected the path of a trace, and the address of a stream");
	if (!stream_is_address(words[count - 1]))
		argp_error(state,
			   "\"%s\" is no address of a stream; expected nats://HOST/STREAM as the "
			   "last argument",
			   words[count - 1]);
	arguments->copy.address = words[count - 1];
	arguments->copy.paths = words;
	arguments->copy.path_count = count - 1;
}

/* --spool DIR, as --spool=DIR. */
static void spool_take(struct forward_arguments *arguments, struct argp_state *state)
{
	if (arguments->spool != NULL || state->argc - state->next != 1)
		argp_error(state, "with --spool expected at most one directory: each trace in it "
				  "has its address");
	arguments->spool = state->argv[state->next];
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct forward_arguments *arguments = state->input;

	switch (key) {
	case 'f':
		arguments->copy.follows = true;
		return 0;
	case 's':
		arguments->serves_spool = true;
		arguments->spool = argument;
		return 0;
	case 'q':
		arguments->is_quiet = true;
		return 0;
	case OPTION_VERIFY:
		arguments->copy.verifies = true;
		return 0;
	case ARGP_KEY_ARGS:
		if (arguments->serves_spool && arguments->copy.verifies)
			argp_error(state, "--verify goes with the paths of traces");
		if (arguments->serves_spool)
			spool_take(arguments, state);
		else
			arguments_split(arguments, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (arguments->serves_spool)
			return 0;
		argp_error(state, "expected the path of a trace, and the address of a stream");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_forward(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "follow", 'f', NULL, 0, "Go on with what is written later, until stopped", 0 },
		{ "quiet", 'q', NULL, 0, "Print no total", 0 },
		{ "spool", 's', "DIR", OPTION_ARG_OPTIONAL,
		  "Send what the destination NATS puts into the spool, and remove what is sent, until "
		  "stopped",
		  0 },
		{ "verify", OPTION_VERIFY, NULL, 0,
		  "Ask the stream what it has of the traces, compare sums, and send what it lacks",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "PATH... nats://HOST/STREAM\n--spool [DIR]",
		.doc = "Copy traces into a JetStream stream.  A PATH is a trace that BINFILE wrote, or a "
		       "directory with some.  What was sent before is not sent again."
		       "\vExit status: 0 everything was sent; 1 a path is missing or has no trace, or a file cannot be read; 2 usage, the servers"
		       " cannot be reached or refuse, or a signal came before everything was sent.  The keys of an address: ctrace-forward(1).",
	};
	struct forward_arguments arguments = { .is_quiet = false };
	sigset_t while_waiting;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	if (arguments.serves_spool)
		return spool_forward("ctrace forward", arguments.spool);
	ct_end_catch(&while_waiting);
	(void)sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	status = stream_forward("ctrace forward", &arguments.copy);
	if (status == CMD_DONE && !arguments.is_quiet)
		stream_report_total("ctrace forward", &arguments.copy);
	return status;
}
