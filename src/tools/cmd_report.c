/*
 * cmd_report.c - ctrace report: traces of any kind, merged, as one page for a browser.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/page_file.h"

#include <string.h>
#include <unistd.h>

#define DEFAULT_NAME "report.html"

static error_t parse_report(int key, char *argument, struct argp_state *state)
{
	struct page_file *page = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&page->reading, "ctrace report");
		state->child_inputs[0] = page;
		return 0;
	case 'o':
		page->output = argument;
		return 0;
	case ARGP_KEY_END:
		if (strcmp(page->output, "-") == 0 && isatty(STDOUT_FILENO))
			argp_error(state,
				   "a page is nothing for a terminal: name a file with --output");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_report(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "output", 'o', "FILE", 0, "The page; " DEFAULT_NAME " by default, - for stdout",
		  0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_page_argp }, { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_report,
		.args_doc = "['EXPRESSION'] [PATH|PID...]",
		.doc = "Write traces, merged by time, as one page for a browser: a timeline, a list of events with their fields and records, a"
		       " tally, the slowest spans, rates and losses. The page contains everything that it shows and needs no"
		       " network.\v"
		       "Exit status: 0 done; 1 no events, or damaged input; 2 usage, no memory, or the page could not be written.",
	};
	struct page_file page = { .output = DEFAULT_NAME };

	if (argp_parse(&argp, argc, argv, 0, NULL, &page) != 0)
		return CMD_USAGE;
	return page_file_run(&page);
}
