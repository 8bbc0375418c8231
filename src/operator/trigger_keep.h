/*
 * operator/trigger_keep.h - the triggers in the run directory, for processes that come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_TRIGGER_KEEP_H
#define CT_OPERATOR_TRIGGER_KEEP_H

#include "base/base.h"

/* Keeps the text of a trigger, or changes what is kept: "off", "enable", "disable".
 * *out_was_there: it was kept before; if it was not, there is nothing to change.  Returns false
 * when the file cannot be written: errno. */
bool ct_trigger_keep(const char *name, struct ct_span text, bool *out_was_there) CT_MUST_USE;
/* Calls `take` for each trigger that is kept.  The text is valid during the call. */
void ct_trigger_kept(void (*take)(struct ct_span name, struct ct_span text, void *user),
		     void *user);

#endif
