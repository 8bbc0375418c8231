/*
 * operator/trigger_keep.h - the triggers in the run directory, for processes that come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_TRIGGER_KEEP_H
#define CT_OPERATOR_TRIGGER_KEEP_H

#include "base/base.h"

/* Keeps the text of a trigger, or changes what is kept: "off", "enable", "disable".  *before gets
 * the text that was kept; empty: there was none, and nothing to change.  Returns NULL, or why
 * nothing was changed. */
const char *ct_trigger_keep(const char *name, struct ct_span text,
			    struct ct_buf *before) CT_MUST_USE;
/* Keeps again what ct_trigger_keep() has given as `before`. */
void ct_trigger_keep_back(const char *name, const struct ct_buf *before);
/* Calls `take` for each trigger that is kept.  The text is valid during the call. */
void ct_trigger_kept(void (*take)(struct ct_span name, struct ct_span text, void *user),
		     void *user);

#endif
