/*
 * cli/pager.h - sends what a verb prints on a terminal through the user's pager.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_PAGER_H
#define CT_CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if standard output is a terminal and PAGER does not refuse. */
bool pager_is_wanted(void);
/* Returns true if the text fills more than one screen of the terminal. */
bool pager_is_worth(const char *text, size_t size);
/* Sends standard output, and standard error if it is the same terminal, through $PAGER, or less
 * -FRX. At its end the tool waits for the pager to end.  A PAGER that cannot be run is reported;
 * output then goes to the terminal as before. */
void pager_start(const char *verb);
/* Returns true if a pager reads the output.  When the pager ends first, no signal ends the tool:
 * a write fails with EPIPE, which is no error. */
bool pager_is_started(void);

#endif
