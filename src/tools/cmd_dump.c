/*
 * cmd_dump.c - ctrace dump: keeps what the rings of processes hold, live or dead, as traces.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "operator/dump_run.h"
#include "operator/recovery/recovery.h"
#include "operator/target.h"

struct dump_options {
	struct target target;
	struct ct_dump_run run;
	bool is_made; /* the directory was not there */
};

static void print_place(const struct ct_directory_entry *entry)
{
	fputs("ctrace dump: ", stderr);
	ct_tool_print(stderr, entry->run_directory, strlen(entry->run_directory));
	fprintf(stderr, "/%s: ", entry->name);
}

static void failure_print(const struct ct_dump_one *one)
{
	print_place(one->entry);
	if (one->status == CTRACE_OUTPUT_ERROR) {
		fputs("cannot write ", stderr);
		ct_tool_print(stderr, one->path, strlen(one->path));
		fputs(": ", stderr);
	}
	fprintf(stderr, "%s\n", one->why);
}

static void dump_report(struct ct_dump_run *run, const struct ct_dump_one *one)
{
	const struct ct_dump_result *result = &one->result;

	(void)run;
	if (one->status != CTRACE_OK) {
		failure_print(one);
		return;
	}
	ct_tool_print(stdout, one->path, strlen(one->path));
	printf(": %" PRIu64 " event%s", result->events, result->events == 1 ? "" : "s");
	if (result->overwritten != 0)
		printf(", %" PRIu64 " before %s overwritten", result->overwritten,
		       result->overwritten == 1 ? "was" : "were");
	if (result->damaged != 0)
		printf(", %" PRIu64 " bytes are damaged", result->damaged);
	if (result->unread != 0)
		printf(", %" PRIu32 " ring%s could not be read", result->unread,
		       result->unread == 1 ? "" : "s");
	if (result->hidden != 0)
		printf(" (%" PRIu32 " in private memory: only the process can dump it)",
		       result->hidden);
	putchar('\n');
}

static error_t parse_dump(int key, char *argument, struct argp_state *state)
{
	struct dump_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->target;
		return 0;
	case 'c':
		options->run.component = argument;
		return 0;
	case 'o':
		if (argument[0] == '\0')
			argp_error(state, "--output is empty; expected a directory");
		options->run.directory = argument;
		return 0;
	case 'T':
		if (strlen(argument) > CT_DUMP_TITLE)
			argp_error(state, "--title has %zu bytes; at most %u", strlen(argument),
				   CT_DUMP_TITLE);
		options->run.title = argument;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(
			state,
			"unexpected argument \"%s\"; --pid, --job and --asid say which processes",
			argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* -o is a directory for dumps when it exists, or when there may be several. */
static void directory_decide(struct dump_options *options)
{
	struct ct_dump_run *run = &options->run;
	struct stat info;

	if (run->directory == NULL)
		return;
	run->is_whole = options->target.filter.pid != 0 && lstat(run->directory, &info) != 0;
	/* if it cannot be made, no dump can */
	options->is_made = !run->is_whole && mkdir(run->directory, 0700) == 0;
}

int cmd_dump(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "component", 'c', "GLOB", 0, "Only events of components whose name matches", 0 },
		{ "output", 'o', "DIRECTORY", 0,
		  "Where the dumps are made; with --pid, and if it does not exist, the dump itself",
		  0 },
		{ "title", 'T', "TEXT", 0, "A title for STATUS of ctrace ipcs; up to 100 bytes",
		  0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_selection_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = rows,
		.parser = parse_dump,
		.children = children,
		.doc = "Keep what the rings of processes hold, above all what is in storage, as traces. Dead processes are dumped too."
		       "\vThe dump of a process is named JOB.PID.DATE-TIME.dump.",
	};
	struct dump_options options = {
		.run = { .title = "", .reason = "command", .report = dump_report }
	};

	options.target.verb = argv[0];
	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return CMD_USAGE;
	directory_decide(&options);
	ct_recovery_on_the_way(argv[0]);
	options.run.filter = options.target.filter;
	ct_dump_run(&options.run);
	if (options.is_made && options.run.made == 0)
		(void)rmdir(options.run.directory);
	if (options.run.made == 0 && options.run.failed == 0)
		fprintf(stderr, "%s: %s\n", argv[0],
			options.run.meant == 0 ? "there is no such process, live or dead"
			: options.run.component != NULL
				? "no process holds events of a component with such a name"
				: "no process holds events: those in files are there already");
	if (options.run.meant == 0 && options.run.failed == 0)
		(void)ct_recovery_report_refused(argv[0]);
	return options.run.made != 0 && options.run.failed == 0 ? CMD_DONE : CMD_NOTHING;
}
