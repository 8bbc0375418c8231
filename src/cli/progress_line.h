/*
 * cli/progress_line.h - a line on the terminal about work that takes long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_PROGRESS_LINE_H
#define CT_CLI_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the clock for the verb "ctrace export".  The line is shown only if standard error is a
 * terminal, and not during the first second. */
void progress_start(const char *verb);
/* permille 0: not known.  Cheap enough to call for every event: it only reads the clock. */
void progress_step(uint64_t count, const char *what, unsigned permille);
/* Erases the line, before something else is printed. */
void progress_clear(void);

#endif
