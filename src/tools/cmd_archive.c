/*
 * cmd_archive.c - ctrace archive ADDRESS DIRECTORY: copies traces from a JetStream stream.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/end_signal.h"
#include "tools/streams/stream_copy.h"

enum { OPTION_PRUNE = 256, OPTION_KEEP };

struct archive_arguments {
	struct ct_nats_copy copy;
	char *directory;
	bool is_quiet;
};

/* "90s", "7d". */
static bool time_parse(const char *text, uint64_t *out_ns)
{
	static const char letters[] = "smhd";
	static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
	unsigned long long number;
	uint64_t ns;
	char *end;
	const char *letter;

	errno = 0;
	number = strtoull(text, &end, 10);
	letter = *end != '\0' && end[1] == '\0' ? strchr(letters, *end) : NULL;
	if (errno != 0 || text[0] < '0' || text[0] > '9' || letter == NULL || number == 0 ||
	    __builtin_mul_overflow(number, seconds[letter - letters] * 1000000000, &ns) ||
	    ns > ct_clock_wall_ns())
		return false;
	*out_ns = ns;
	return true;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct archive_arguments *arguments = state->input;

	switch (key) {
	case 'f':
		arguments->copy.follows = true;
		return 0;
	case OPTION_PRUNE:
		arguments->copy.prunes = true;
		return 0;
	case OPTION_KEEP:
		if (!time_parse(argument, &arguments->copy.keep_ns))
			argp_error(
				state,
				"\"%s\" is no time to keep; expected a number and s, m, h or d, such as 7d",
				argument);
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
		if (arguments->copy.keep_ns != 0 && !arguments->copy.prunes)
			argp_error(state, "--keep goes with --prune");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Has the directory a note of nats_archive.c? */
static bool archive_is_there(const char *directory)
{
	char note[PATH_MAX];

	(void)snprintf(note, sizeof note, "%s/.archived", directory);
	if (access(note, F_OK) == 0)
		return true;
	/* It was killed while it wrote the first note; nothing was copied yet. */
	(void)snprintf(note, sizeof note, "%s/.archived.new", directory);
	return access(note, F_OK) == 0;
}

int cmd_archive(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "follow", 'f', NULL, 0, "Go on with what comes later, until stopped", 0 },
		{ "prune", OPTION_PRUNE, NULL, 0,
		  "Remove from the stream what the archive has on its disk", 0 },
		{ "keep", OPTION_KEEP, "TIME", 0,
		  "With --prune: leave what is younger in the stream, as 7d or 12h", 0 },
		{ "quiet", 'q', NULL, 0, "Print no total", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "nats://HOST/STREAM DIRECTORY",
		.doc = "Copy the traces of a JetStream stream into DIRECTORY, one directory each, which is "
		       "made when it is missing."
		       "\vExit status: 0 everything was copied; 1 there is no such stream; 2 usage, the servers cannot be reached or refuse, or"
		       " the directory cannot be written.",
	};
	struct archive_arguments arguments = { .copy = { .until_ns = UINT64_MAX,
							 .is_archive = true } };
	sigset_t while_waiting;
	bool is_made;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	is_made = mkdir(arguments.directory, 0700) == 0;
	if (!is_made && errno != EEXIST) {
		fprintf(stderr, "ctrace archive: ");
		ct_tool_print(stderr, arguments.directory, strlen(arguments.directory));
		fprintf(stderr, ": %s\n", strerror(errno));
		return CMD_UNWRITTEN;
	}
	/* Of another stream, or from elsewhere: an archive has a note. */
	if (!ct_tool_is_empty_directory(arguments.directory) &&
	    !archive_is_there(arguments.directory)) {
		fprintf(stderr, "ctrace archive: ");
		ct_tool_print(stderr, arguments.directory, strlen(arguments.directory));
		fprintf(stderr,
			": it is not empty, and no archive of a stream; name a new directory\n");
		return CMD_UNWRITTEN;
	}
	arguments.copy.paths = &arguments.directory;
	arguments.copy.path_count = 1;
	ct_end_catch(&while_waiting);
	(void)sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	status = stream_fetch("ctrace archive", &arguments.copy);
	/* Nothing was fetched when the directory is still empty. */
	if (status != CMD_DONE && is_made)
		(void)rmdir(arguments.directory);
	if (status == CMD_DONE && !arguments.is_quiet)
		stream_report_total("ctrace archive", &arguments.copy);
	return status == CMD_DONE && (arguments.copy.refused > 0 || arguments.copy.incomplete > 0)
		       ? CMD_NOTHING
		       : status;
}
