/*
 * cli/pager.h - what a verb prints on a terminal goes through the user's pager.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PAGER_H
#define CT_TOOLS_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/* Standard output is a terminal, and PAGER does not refuse. */
bool pager_is_wanted(void);
/* Does the text fill more than the terminal shows at once? */
bool pager_is_worth(const char *text, size_t size);
/* From now on standard output, and standard error where it is the same terminal, goes through
 * $PAGER, or less -FRX.  When the tool ends, it waits for the pager to end.  A PAGER that cannot be
 * run is reported, and nothing else happens. */
void pager_start(const char *verb);
/* There is one, and the tool is not ended by a signal when its reader ends it first: a write fails
 * with EPIPE, and nothing is wrong. */
bool pager_is_started(void);

#endif
