/*
 * cli/progress_line.h - a line on the terminal about work that takes long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROGRESS_LINE_H
#define CT_TOOLS_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* The verb's name, as "ctrace export", starts the clock.  Nothing is ever shown unless standard
 * error is a terminal, and for the first second nothing is shown at all. */
void progress_start(const char *verb);
/* permille 0: not known.  May be called as often as one likes: it costs a look at the clock. */
void progress_step(uint64_t count, const char *what, unsigned permille);
/* Takes the line away, before something else is printed. */
void progress_clear(void);

#endif
