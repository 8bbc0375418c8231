/*
 * tools/traces/line_options.h - what the verbs that print events a line have in common: how a line
 * looks.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_LINE_OPTIONS_H
#define CT_TOOLS_TRACES_LINE_OPTIONS_H

#include <argp.h>

#include "print/print.h"
#include "read/read.h"

struct line_options {
	struct ct_text_options text;
	bool is_default; /* --format=default: the line for people, whatever the trace has */
	bool is_json;
	bool has_sequence; /* "[17] " before the line */
	/* "--- " before the line: how deep it is in spans; the verb's own option */
	bool has_nesting;
	struct ct_text_printer *printer;
};
/* --format, --json, --color, --records, --sequence: a child parser.  Its input is a struct
 * line_options, in which it first sets the defaults. */
extern const struct argp ct_line_argp;
/* Called when the options are known.  Returns false, and reports it, without memory. */
bool line_options_open(struct line_options *options, const char *verb);
void line_options_close(struct line_options *options);
/* Returns true if the lines need the reader's pairing. */
bool line_options_use_pairs(const struct line_options *options);
/* Returns true if the last lines depend on all earlier ones: numbers of events, depths, times
 * between. */
bool line_options_need_all(const struct line_options *options);
/* Adds the event's line, with its newline.  A failure is in `out`. */
void line_options_add(const struct line_options *options, struct ct_buf *out,
		      const struct ct_read_event *event);

#endif
