/*
 * cmd_ipcs.c - ctrace ipcs: traces as IPCS lists them, by its own subcommands.
 *
 * Commands come from the command line, from a file, or from standard input; at a terminal each is
 * asked for.  Listings and messages go to stdout; what is wrong with a command goes to stderr with
 * its place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/console_input.h"
#include "cli/end_signal.h"
#include "tools/traces/ipcs_commands.h"

#define FILE_LIMIT ((size_t)16 << 20) /* bytes of commands */

struct arguments {
	struct ipcs ipcs;
	char **words; /* commands, and behind them paths */
	size_t count;
	const char *file; /* NULL: none */
};

/* ---- the command line ---- */

/* An error in a command is reported as such, and not as a missing trace. */
static bool word_is_command(const char *word)
{
	return ct_ipcs_is_command(word) ||
	       (access(word, F_OK) != 0 && ct_ipcs_may_be_command(word));
}

/* Commands and paths may come in any order; each keeps its own. */
static void words_sort(struct arguments *arguments)
{
	char **paths = calloc(arguments->count + 1, sizeof *paths);
	size_t commands = 0, path_count = 0;

	if (paths == NULL || arguments->count == 0) {
		free(paths);
		return;
	}
	for (size_t i = 0; i < arguments->count; i++) {
		char *word = arguments->words[i];

		if (word_is_command(word))
			arguments->words[commands++] = word;
		else
			paths[path_count++] = word;
	}
	memcpy(arguments->words + commands, paths, path_count * sizeof *paths);
	free(paths);
	reading_words(&arguments->ipcs.reading, arguments->words + commands, path_count);
	arguments->count = commands;
}

static error_t parse_ipcs(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&arguments->ipcs.reading, "ctrace ipcs");
		state->child_inputs[0] = &arguments->ipcs.reading;
		return 0;
	case 'f':
		arguments->file = argument;
		return 0;
	case ARGP_KEY_ARGS:
		arguments->words = state->argv + state->next;
		arguments->count = (size_t)(state->argc - state->next);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- a file, or a pipe ---- */

static bool stream_read(FILE *file, struct ct_buf *text)
{
	while (text->size <= FILE_LIMIT && ct_buf_reserve(text, 4096)) {
		size_t got = fread(text->data + text->size, 1, 4096, file);

		if (got == 0)
			return ferror(file) == 0;
		text->size += got;
	}
	return false;
}

static void file_run(struct ipcs *ipcs, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	struct ct_buf text;

	ct_buf_init(&text);
	if (file != NULL && stream_read(file, &text)) {
		ipcs->is_file = true;
		ct_ipcs_commands_run(ipcs, text.data, text.size);
		ipcs->is_file = false;
		if (ipcs->commands == 0) {
			fputs("ctrace ipcs: no command; expected CTRACE, MERGE, COPYTRC, SETDEF, STATUS, HELP or END\n",
			      stderr);
			ct_ipcs_fail(ipcs, CMD_USAGE);
		}
	} else {
		fputs("ctrace ipcs: ", stderr);
		ct_tool_print(stderr, path, strlen(path));
		fputs(": the commands cannot be read\n", stderr);
		ct_ipcs_fail(ipcs, CMD_UNREAD);
	}
	if (file != NULL && !is_stdin)
		fclose(file);
	ct_buf_fini(&text);
}

/* ---- a terminal ---- */

/* clang-format off */
static const struct console_keyword keywords[] = {
	{ " ", "CTRACE " }, { " ", "COPYTRC " }, { " ", "MERGE" }, { " ", "MERGEEND" }, { " ", "SETDEF " }, { " ", "STATUS " }, { " ", "HELP " }, { " ", "END" },
	{ "C", "COMP(" }, { "C", "SUB((" }, { "C", "QUERY" }, { "C", "SYSNAME(" }, { "C", "SHORT" }, { "C", "SUMMARY" }, { "C", "FULL" },
	{ "C", "TALLY" }, { "C", "GMT" }, { "C", "LOCAL" }, { "C", "START(" }, { "C", "STOP(" }, { "C", "EXCEPTION" }, { "C", "LIMIT(" },
	{ "C", "ENTIDLIST(" }, { "C", "USEREXIT(" }, { "C", "OPTIONS((" }, { "C", "ASIDLIST(" }, { "C", "JOBLIST(" }, { "C", "JOBNAME(" },
	{ "C", "OUTDATASET(" }, { "C", "OUTFILE(" }, { "C", "INDATASET(" }, { "C", "INFILE(" },
	{ "CS", "DSNAME(" }, { "CS", "DATASET(" }, { "CS", "PATH(" }, { "CS", "FILE(" }, { "CS", "ACTIVE" }, { "S", "LIST" },
	{ "H", "CTRACE" }, { "H", "MERGE" }, { "H", "COPYTRC" }, { "H", "SETDEF" }, { "H", "STATUS" },
};
/* clang-format on */
static const struct console_kind kind = { keywords, CT_COUNT(keywords), "ipcs_history" };

static void interrupt_note(int number)
{
	(void)number;
	ct_end_wanted = 1;
}

static bool session_goes_on(const char *line, size_t size)
{
	while (size > 0 && ct_is_blank(line[size - 1]))
		size--;
	return size > 0 && (line[size - 1] == '-' || line[size - 1] == '+');
}

/* Ctrl-C while a listing is printed ends the listing, not the session. */
static void session_converse(struct ipcs *ipcs)
{
	struct sigaction action = { .sa_handler = interrupt_note, .sa_flags = SA_RESTART };
	enum console_line got = CONSOLE_LINE;
	struct ct_buf command;
	const char *line;
	size_t size;

	(void)sigaction(SIGINT, &action, NULL);
	ct_buf_init(&command);
	while (!ipcs->has_ended && got != CONSOLE_END) {
		fflush(stdout);
		ct_end_wanted = 0;
		got = ct_console_input_read(command.size != 0      ? "   + "
					    : ipcs->merged != NULL ? "MERGE "
								   : "IPCS ",
					    &line, &size);
		if (got != CONSOLE_LINE) {
			ct_buf_clear(&command);
			continue;
		}
		ct_buf_add(&command, line, size);
		ct_buf_add_char(&command, '\n');
		if (session_goes_on(line, size))
			continue;
		ct_ipcs_commands_run(ipcs, command.data, command.size);
		ct_buf_clear(&command);
	}
	ct_buf_fini(&command);
	ipcs->status = CMD_DONE; /* whoever was there has seen what went wrong */
}

static void ipcs_run(struct arguments *arguments)
{
	struct ipcs *ipcs = &arguments->ipcs;

	if (arguments->file != NULL)
		file_run(ipcs, arguments->file);
	for (size_t i = 0; i < arguments->count && !ipcs->has_ended; i++)
		ct_ipcs_commands_run(ipcs, arguments->words[i], strlen(arguments->words[i]));
	if (arguments->file != NULL || arguments->count != 0)
		return;
	(void)setlocale(LC_CTYPE, ""); /* what a character is, while a line is edited */
	if (!ct_console_input_open(&kind)) {
		file_run(ipcs, "-");
		return;
	}
	session_converse(ipcs);
	ct_console_input_close();
}

int cmd_ipcs(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "file", 'f', "FILE", 0,
		  "Take commands from a file before those of the command line; - is standard input",
		  0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_reading_argp, 0, "Which events:", 1 },
						      { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_ipcs,
		.children = children,
		.args_doc = "[COMMAND...] [TRACE...]",
		.doc = "Lists traces as IPCS does.\vA word that begins with CTRACE, QUERY, MERGE, MERGEEND, COPYTRC, SETDEF, STATUS, HELP or END is a "
		       "command; the others are traces: directories, stream files, process directories, process ids, addresses of streams. Without commands on the command line, they are read from "
		       "standard input, at a terminal with line editing; HELP lists them.\n\n"
		       "  ctrace ipcs 'CTRACE COMP(APPXYZ) SUB((SUBA)) FULL LIMIT(10)' trace",
	};
	struct arguments arguments = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	words_sort(&arguments);
	if (reading_catalog(&arguments.ipcs.reading))
		ipcs_run(&arguments);
	ct_ipcs_commands_end(&arguments.ipcs);
	if (arguments.ipcs.reading.has_failed)
		ct_ipcs_fail(&arguments.ipcs, CMD_NOTHING);
	if (reading_lacks_catalog(&arguments.ipcs.reading))
		ct_ipcs_fail(&arguments.ipcs, CMD_UNREAD);
	ct_filter_destroy(arguments.ipcs.reading.filter);
	ct_catalog_destroy(arguments.ipcs.reading.catalog);
	return arguments.ipcs.status;
}
