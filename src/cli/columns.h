/*
 * cli/columns.h - how many columns of a terminal a text takes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_COLUMNS_H
#define CT_CLI_COLUMNS_H

#include <stddef.h>

/* Counts the columns of UTF-8 text without control characters, whatever the locale is: two for a
 * character of Chinese, Japanese or Korean, none for a combining mark. */
int columns_count(const char *text, size_t size);

#endif
