/*
 * run_report.c - the messages of `ctrace run`: one line each, on standard error.
 *
 * On the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_report.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static bool is_held;
static struct {
	char name[4096], what[512];
	bool is_set, has_name;
} kept;

static void message_print(const char *name, const char *what, const char *after)
{
	fputs("ctrace run: ", stderr);
	if (name != NULL) {
		ct_tool_print(stderr, name, strlen(name));
		fputs(": ", stderr);
	}
	fprintf(stderr, "%s%s\n", what, after);
}

void run_report_now(const char *name, const char *what)
{
	message_print(name, what, "");
}

bool run_report(const char *name, const char *what)
{
	if (!is_held) {
		message_print(name, what, "");
		return false;
	}
	if (kept.is_set)
		return false;
	kept.is_set = true;
	kept.has_name = name != NULL;
	(void)snprintf(kept.name, sizeof kept.name, "%s", name != NULL ? name : "");
	(void)snprintf(kept.what, sizeof kept.what, "%s", what);
	return false;
}

void run_report_hold(void)
{
	is_held = true;
	kept.is_set = false;
}

void run_report_release(const char *after)
{
	is_held = false;
	if (kept.is_set)
		message_print(kept.has_name ? kept.name : NULL, kept.what, after);
	kept.is_set = false;
}

void run_report_drop(void)
{
	is_held = kept.is_set = false;
}
