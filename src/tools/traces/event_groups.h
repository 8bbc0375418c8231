/*
 * tools/traces/event_groups.h - named groups of events: expressions that stand in a file, each with
 * a name.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_EVENT_GROUPS_H
#define CT_TOOLS_EVENT_GROUPS_H

#include "base/base.h"

/* The file: --groups, else the environment variable CTRACE_GROUPS; NULL: there is none. */
const char *event_groups_path(const char *option);
/* Appends the expression of an argument of --group, "NAME,NAME" or "!NAME,NAME": any of them, or
 * none.  False, with a message in *out_message: the file cannot be read, is no file of groups, or
 * has no such name. */
bool event_groups_add(const char *path, const char *argument, struct ct_buf *out,
		      struct ct_buf *out_message);

#endif
