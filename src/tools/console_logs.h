/*
 * tools/console_logs.h - what external writers say while an operator's console is open.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CONSOLE_LOGS_H
#define CT_TOOLS_CONSOLE_LOGS_H

#include <limits.h>
#include <sys/types.h>

#include "operator/wto.h"

#define CONSOLE_LOGS 64u /* files that are followed; more are not */

struct console_log {
	char name[32]; /* "CTW.log" */
	off_t shown;   /* bytes, whole lines */
};
struct console_logs {
	int directory_fd; /* -1: it cannot be used, and there is nothing to show */
	/* A line that the console has shown itself and that the writer's log has not shown yet;
	 * "": free */
	struct wto_said expected[WTO_SAID];
	unsigned next_expected;
	size_t count;
	struct console_log items[CONSOLE_LOGS];
};
/* Lines that the logs already have are not shown. */
void ct_console_logs_open(struct console_logs *logs);
void ct_console_logs_close(struct console_logs *logs);
/* Lines that a command has just shown are not shown again from the writers' logs. */
void ct_console_logs_expect(struct console_logs *logs, struct wto *wto);
/* Prints the lines that are new. */
void ct_console_logs_show(struct console_logs *logs, const struct wto *wto);

#endif
