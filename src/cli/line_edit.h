/*
 * cli/line_edit.h - the functions of libedit that console_input.c calls: the module edit.so,
 * which is loaded when a console has a terminal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_LINE_EDIT_H
#define CT_CLI_LINE_EDIT_H

#include <stddef.h>
#include <stdio.h>

#include <histedit.h>

/* What modules/edit.c exports as `ct_edit_module`. */
struct ct_edit_module {
	size_t size; /* of this struct as the module knows it */
	__typeof__(el_init) *init;
	__typeof__(el_end) *end;
	__typeof__(el_set) *set;
	__typeof__(el_source) *source;
	__typeof__(el_resize) *resize;
	__typeof__(el_gets) *gets;
	__typeof__(el_line) *line;
	__typeof__(el_insertstr) *insertstr;
	__typeof__(history) *history;
	__typeof__(history_init) *history_init;
	__typeof__(history_end) *history_end;
};
#define CT_EDIT_MODULE "ct_edit_module"

#endif
