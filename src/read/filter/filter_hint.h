/*
 * read/filter/filter_hint.h - explains why a filter accepted nothing.
 *
 *     ct_filter_hint_create()
 *     for each event, unfiltered: ct_filter_hint_note()
 *     ct_filter_hint_add()
 *     ct_filter_hint_destroy()
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_FILTER_FILTER_HINT_H
#define CT_READ_FILTER_FILTER_HINT_H

#include "read/filter/filter_program.h"

struct ct_filter_hint;
/* The filter is borrowed. */
enum ctrace_status ct_filter_hint_create(const struct ct_filter *filter,
					 struct ct_filter_hint **out_hint) CT_MUST_USE;
void ct_filter_hint_destroy(struct ct_filter_hint *hint);
void ct_filter_hint_note(struct ct_filter_hint *hint, const struct ct_read_event *event);
/* Adds `no event has the item "paht" (did you mean "path"?)`; is_all: every event was noted.
 * Returns false when nothing stands out. */
bool ct_filter_hint_add(const struct ct_filter_hint *hint, bool is_all, struct ct_buf *out);

#endif
