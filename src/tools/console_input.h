/*
 * tools/console_input.h - where an operator's console gets its lines from: a terminal with line
 * editing, or any other stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CONSOLE_INPUT_H
#define CT_TOOLS_CONSOLE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

enum console_line { CONSOLE_LINE, CONSOLE_CANCELLED, CONSOLE_END };

/* A keyword, and the commands that have it, by their first letter; blank: it begins one. */
struct console_keyword {
	const char *commands;
	const char *text;
};
struct console_kind {
	const struct console_keyword *keywords; /* that can be completed */
	size_t count;
	const char *history; /* the name of the file that keeps lines */
};
/* There is one console a process.  True: it is a terminal.  False also when line editing cannot be
 * had.  NULL: an operator's console. */
bool ct_console_input_open(const struct console_kind *kind);
void ct_console_input_close(void);
/* The next line without its end; it is terminated and valid until the next call.  The prompt is
 * shown on a terminal only. */
enum console_line ct_console_input_read(const char *prompt, const char **out_line,
					size_t *out_size);

#endif
