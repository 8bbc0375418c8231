/*
 * filter_options.h - what the verbs that print events have in common: which ones, and how.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_FILTER_OPTIONS_H
#define CT_TOOLS_FILTER_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "read/read.h"

struct filter_options {
	struct ct_filter *filter;
	struct ct_line_format format;
	bool is_json;
	bool has_color;
};
/* --format, --json, --component, --level, --event, --color: a child parser; its input is a struct filter_options, which it first fills with
 * what holds without options. */
extern const struct argp ct_filter_argp;
/* Puts the event's line in place of what is in line.  Failure is line's. */
void ct_filter_line(const struct filter_options *options, const struct ctrace_event *event, struct ct_buf *line);

#endif
