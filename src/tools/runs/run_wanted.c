/*
 * run_wanted.c - what the options of `ctrace run` ask for, and why the page of a run has no rows of
 * the rest.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_trace.h"

#include <stdio.h>
#include <string.h>

/* By the lowest level that has the events of a table. */
static const struct {
	const char *subject, *option;
	uint32_t level;
} parts[RUN_PARTS] = {
	[RUN_PROGRAMS] = { "Programs", "--calls", CTRACE_INFO },
	[RUN_PARAGRAPHS] = { "Paragraphs", "--paragraphs", CTRACE_DEBUG },
	[RUN_FILES] = { "Files", "--files", CTRACE_INFO },
};

bool run_wants(const struct run_wanted *wanted, enum run_part part)
{
	if (!wanted->files && !wanted->calls && !wanted->paragraphs && !wanted->statements)
		return true;
	return part == RUN_PROGRAMS ? wanted->calls
	       : part == RUN_FILES  ? wanted->files
				    : wanted->paragraphs;
}

uint32_t run_wanted_level(const struct run_wanted *wanted)
{
	uint32_t level;

	return wanted->level != NULL && ct_level_parse(wanted->level, strlen(wanted->level), &level)
		       ? level
		       : CTRACE_DEBUG;
}

const char *run_wanted_untraced(const struct run_wanted *wanted, enum run_part part,
				char out[RUN_UNTRACED_SIZE])
{
	const char *level = parts[part].level == CTRACE_DEBUG ? "debug" : "info";
	bool has_level = run_wanted_level(wanted) <= parts[part].level;

	if (!run_wants(wanted, part))
		(void)snprintf(out, RUN_UNTRACED_SIZE, "%s were not traced: add %s%s%s.",
			       parts[part].subject, parts[part].option,
			       has_level ? "" : " and --level=", has_level ? "" : level);
	else if (!has_level)
		(void)snprintf(out, RUN_UNTRACED_SIZE,
			       "%s were not traced: their level is %s, which --level excludes.",
			       parts[part].subject, level);
	else
		return NULL;
	return out;
}
