/*
 * tools/options_file.h - --options=FILE: words of the command line that stand in a file.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_OPTIONS_FILE_H
#define CT_TOOLS_OPTIONS_FILE_H

#include <stdbool.h>

/* Replaces each --options=FILE before "--" by the words of the file.  `verb` is for messages.
 * Returns false, and reports it, when a file cannot be read or a quotation mark is missing.  The
 * new array lives as long as the tool. */
bool options_file_expand(const char *verb, int *argc, char ***argv);

#endif
