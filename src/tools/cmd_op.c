/*
 * cmd_op.c - ctrace op: operator commands from the command line, a file or stdin.
 *
 * Commands are carried out in order, each whatever became of those before it.  Their messages,
 * refusals too, are results and go to stdout; a command that cannot be parsed is an error and goes
 * to stderr.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "operator/operator_run.h"
#include "tools/hosts/hosts_ask.h"

struct arguments {
	struct dialogue dialogue;
	const char *file;
	char **commands;
	int count;
};

static error_t parse_op(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->dialogue.target;
		return 0;
	case 'f':
		if (arguments->file != NULL)
			argp_error(state, "one file at a time");
		arguments->file = argument;
		return 0;
	case 'r':
		if (arguments->dialogue.reply != NULL)
			argp_error(state, "one --reply: it answers every prompt");
		arguments->dialogue.reply = argument;
		return 0;
	case ARGP_KEY_ARGS:
		arguments->commands = state->argv + state->next;
		arguments->count = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (arguments->count == 0 && arguments->file == NULL)
			argp_error(state, "expected: a command, --file or -");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void stream_run(struct dialogue *dialogue, FILE *from)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;

	while ((size = getline(&line, &capacity, from)) >= 0) {
		while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
			size--;
		line[size] = '\0';
		ct_operator_run(dialogue, line, (size_t)size);
	}
	free(line);
}

static void file_diagnose(struct dialogue *dialogue, const char *path)
{
	fputs("ctrace op: cannot read ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", strerror(errno));
	if (dialogue->wto.worst < CMD_NOTHING)
		dialogue->wto.worst = CMD_NOTHING;
}

static void file_run(struct dialogue *dialogue, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *from = is_stdin ? stdin : fopen(path, "re");

	if (from == NULL) {
		file_diagnose(dialogue, path);
		return;
	}
	errno = 0;
	stream_run(dialogue, from);
	if (ferror(from))
		file_diagnose(dialogue, path);
	if (!is_stdin)
		(void)fclose(from);
}

int cmd_op(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "file", 'f', "FILE", 0,
		  "Read commands from a file, one on each line; - is standard input", 0 },
		{ "reply", 'r', "OPERANDS", 0,
		  "Answer each prompt of TRACE CT with these operands, and END", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_target_argp, 0, "Which processes:", 1 },
						      { 0 } };
	static const struct argp argp = {
		.options = rows,
		.parser = parse_op,
		.args_doc = "'COMMAND'...\n-",
		.children = children,
		.doc = "Give operator commands to traced processes.\v"
		       "Commands:\n"
		       "  TRACE CT,ON|nnnnK|nnnnM|OFF,COMP=name[,SUB=(sub)][,PARM=member]\n"
		       "  TRACE CT,WTRSTART=name[,WRAP|NOWRAP]\n"
		       "  TRACE CT,WTRSTOP=name[,FLUSH|NOFLUSH]\n"
		       "  D TRACE[,COMP=name[,SUB=(sub)][,N=nnn][,SUBLEVEL]][,WTR=name]\n"
		       "  D R\n"
		       "  DUMP COMM=(title)\n"
		       "  SLIP SET,ID=id[,ACTION=a|(a,...)][,COMP=name[,SUB=(sub)]][,ENTRYID=n]\n"
		       "       [,DATA=(item,op,value)][,MATCHLIM=n][,JOBNAME=name]\n"
		       "       [,ENABLE|DISABLE],END\n"
		       "  SLIP MOD,ENABLE|DISABLE,ID=id[,END]\n"
		       "  SLIP DEL,ID=id[,END]\n"
		       "  D SLIP[=id]\n"
		       "  SET SLIP=xx\n"
		       "  ROUTE system|(system,...)|*ALL,command\n"
		       "  R nn[,ASID=(h,...)][,JOBNAME=(n,...)][,OPTIONS=(o,...)]\n"
		       "       [,WTR=name|DISCONNECT][,CONT|,END]\n"
		       "  R nn,[ASID=(h,...)][,JOBNAME=(n,...)][,COMP=(c,...)][,CONT|,END]\n"
		       "  R nn,U\n"
		       "  R nn,CANCEL\n",
	};
	struct arguments arguments = { .dialogue.route = hosts_route };

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	arguments.dialogue.wto.has_caret = isatty(STDERR_FILENO) == 1;
	ct_operator_start();
	if (arguments.file != NULL)
		file_run(&arguments.dialogue, arguments.file);
	for (int i = 0; i < arguments.count; i++) {
		if (strcmp(arguments.commands[i], "-") == 0)
			file_run(&arguments.dialogue, "-");
		else
			ct_operator_run(&arguments.dialogue, arguments.commands[i],
					strlen(arguments.commands[i]));
	}
	return arguments.dialogue.wto.worst;
}
