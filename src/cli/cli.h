/*
 * cli/cli.h - what every verb of the tool shares: exit statuses, and how it prints what others
 * gave.
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
	CMD_NOTHING = 1, /* nothing found, or the input is damaged: said on stderr */
	CMD_USAGE = 2,
	CMD_UNREAD = 2,    /* a part of the input cannot be read at all */
	CMD_UNWRITTEN = 2, /* the output cannot be written: 1 reports the result of reading */
	CMD_NO_MEMORY = 2  /* whatever a verb returns, when an allocation has failed */
};

/* Prints text that another process or file gave: as it is when it is plain, escaped when it could
 * forge lines or terminal sequences.  Gives the number of columns that it takes; with `to` NULL it
 * only does that. */
int ct_tool_print(FILE *to, const char *text, size_t size);

/* True if the word is digits only, at least one: a process id, where a process may be named. */
bool ct_tool_is_number(const char *word);

/* True if the path is a directory that can be read and has nothing in it. */
bool ct_tool_is_empty_directory(const char *path);

#endif
