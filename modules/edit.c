/*
 * edit.c - the functions of libedit that a console calls (cli/line_edit.h).  The module
 * edit.so.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/line_edit.h"

extern const struct ct_edit_module ct_edit_module;
__attribute__((visibility("default")))
const struct ct_edit_module ct_edit_module = { .size = sizeof(struct ct_edit_module),
					       .init = el_init,
					       .end = el_end,
					       .set = el_set,
					       .source = el_source,
					       .resize = el_resize,
					       .gets = el_gets,
					       .line = el_line,
					       .insertstr = el_insertstr,
					       .history = history,
					       .history_init = history_init,
					       .history_end = history_end };
