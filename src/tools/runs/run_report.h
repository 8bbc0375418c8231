/*
 * tools/runs/run_report.h - the messages of `ctrace run`.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_RUN_REPORT_H
#define CT_TOOLS_RUNS_RUN_REPORT_H

#include <stdbool.h>

/* Prints "ctrace run: NAME: WHAT", while no message is held.  name may be NULL.  Returns false. */
bool run_report(const char *name, const char *what);
/* Prints it in any case. */
void run_report_now(const char *name, const char *what);
/* From here on the first message is kept and the others are dropped: what failed is decided
 * later. */
void run_report_hold(void);
/* Prints the kept message, if there is one, and `after` in the same line. */
void run_report_release(const char *after);
/* Forgets the kept message. */
void run_report_drop(void);

#endif
