/*
 * tools/traces/event_groups.h - named groups of events: expressions that stand in a file, each with
 * a name.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_EVENT_GROUPS_H
#define CT_TOOLS_TRACES_EVENT_GROUPS_H

#include "base/base.h"

/* Returns the file of --groups, else of the environment variable CTRACE_GROUPS; NULL without
 * either. */
const char *event_groups_path(const char *option);
/* Appends the expression of --group's argument: "NAME,NAME", any of them, or "!NAME,NAME", none
 * of them.  Returns false, with a message in *out_message, when the file cannot be read, is no
 * file of groups, or lacks such a name. */
bool event_groups_add(const char *path, const char *argument, struct ct_buf *out,
		      struct ct_buf *out_message);

#endif
