/*
 * tools/traces/page_file.h - what ctrace report and ctrace open have in common: traces of any kind,
 * merged, as one page for a browser, in a file.
 *
 *     static const struct argp_child children[] = { { .argp = &ct_page_argp }, { 0 } };
 *
 *     ARGP_KEY_INIT: reading_init(&page->reading, "ctrace report");
 *                    state->child_inputs[0] = page;
 *
 *     page->output = "report.html";
 *     return page_file_run(page);
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_PAGE_FILE_H
#define CT_TOOLS_TRACES_PAGE_FILE_H

#include <argp.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "cli/new_file.h"
#include "print/report/report.h"
#include "tools/traces/reading.h"

struct page_file {
	struct reading reading;
	struct ct_report_options options;
	/* The name of the page, borrowed; "-" for stdout.  The verb sets it. */
	const char *output;
	bool is_made; /* set by page_file_run(): the page is complete and has its name */
	/* state of page_file_run() */
	struct ct_report *report;
	struct new_file file;
	FILE *to;
	uint64_t passed; /* events that are older than what the page has room for */
	off_t size;      /* of the page */
	bool is_unwritten;
};

/* --title, --limit, and everything that selects events: a child parser, which also takes the words
 * that are no options.  Its input is a struct page_file, whose reading the verb has initialised. */
extern const struct argp ct_page_argp;
/* Reads the traces and writes the page; prints its name and size on stdout, and everything else
 * on stderr.  Frees what the reading holds.  Returns the verb's exit status. */
int page_file_run(struct page_file *page);

#endif
