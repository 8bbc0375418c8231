/*
 * cli/browser.h - shows a file in the user's browser.
 *
 *     if (browser_is_reachable(verb, path))
 *             is_started = browser_start(verb, path);
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_BROWSER_H
#define CT_CLI_BROWSER_H

#include <stdbool.h>

/* Returns false when a browser started here has no screen that the user sees: over SSH, or without
 * a display and BROWSER.  Then stderr has the reason and what to do with the file. */
bool browser_is_reachable(const char *verb, const char *path);
/* Starts the first browser that can be started: those of BROWSER, or else the desktop's.  Returns
 * false, and reports it, when none can. */
bool browser_start(const char *verb, const char *path);

#endif
