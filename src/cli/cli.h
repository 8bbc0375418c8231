/*
 * cli/cli.h - what every verb of the tool shares: exit statuses, and how third-party text is
 * printed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_H
#define CT_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses of every verb. */
enum {
	CMD_DONE = 0,
	/* nothing found, or the input is damaged: stderr has the reason */
	CMD_NOTHING = 1,
	CMD_USAGE = 2,
	CMD_UNREAD = 2,    /* a part of the input cannot be read at all */
	CMD_UNWRITTEN = 2, /* the output cannot be written: 1 reports the result of reading */
	CMD_NO_MEMORY = 2  /* whatever a verb returns, when an allocation has failed */
};

/* Prints text of another process or file.  Plain text is printed as it is; text that could forge
 * lines or terminal sequences is escaped.  Returns the number of columns.  With `to` NULL it
 * prints nothing. */
int ct_tool_print(FILE *to, const char *text, size_t size);

/* Writes all of it.  Returns false, with errno. */
bool ct_tool_write(int fd, const char *data, size_t size);

struct ct_diagnostic;
/* Prints "path:line:column: message; expected words" to stderr, without a line end. */
void ct_tool_diagnose(const char *path, const struct ct_diagnostic *diagnostic);

/* Returns true if the word is one or more digits: a process id, where a process may be named. */
bool ct_tool_is_number(const char *word);

/* Prints a wall time, nanoseconds since 1970, as local date and time: "2026-11-26 14:18:36". */
#define CT_TOOL_DATE 32u
void ct_tool_date(uint64_t wall_ns, char out_text[CT_TOOL_DATE]);

/* Returns true if the path is an empty directory that can be read. */
bool ct_tool_is_empty_directory(const char *path);

#endif
