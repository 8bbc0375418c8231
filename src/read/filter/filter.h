/*
 * read/filter/filter.h - the filter language, which selects the shown events.
 *
 * Pure, one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_FILTER_H
#define CT_READ_FILTER_H

#include "read/event/event.h"

/* ---- filter.c, filter_parse.c: 'level >= warn && component ~ "mf.rts.*" && event in (6..8, 18) &&
 * data[0] > 100 && duration > 2ms' */
struct ct_filter;
enum ctrace_status
ct_filter_parse(const char *text, uint64_t now_ns, struct ct_filter **out_filter,
		struct ct_diagnostic *out_diagnostic) CT_MUST_USE; /* column: of the text */
/* Takes ownership of both; either may be NULL.  The result accepts the events that both accept.
 * Returns NULL without memory, after destroying both. */
struct ct_filter *ct_filter_and(struct ct_filter *a, struct ct_filter *b);
void ct_filter_destroy(struct ct_filter *filter);
bool ct_filter_accepts(const struct ct_filter *filter, const struct ct_read_event *event);
/* The filter result that holds for all events of a class, before any is decoded. */
enum ct_filter_result { CT_FILTER_RESULT_NEVER, CT_FILTER_RESULT_MAYBE, CT_FILTER_RESULT_ALWAYS };
/* event: only traced.component, event_id, level, names, component and type are set. */
enum ct_filter_result ct_filter_class(const struct ct_filter *filter,
				      const struct ct_read_event *event);
/* Reports the range of times that the filter may accept: 0 and UINT64_MAX when it has no bounds. */
void ct_filter_times(const struct ct_filter *filter, uint64_t *out_since_ns,
		     uint64_t *out_until_ns);
enum ct_filter_use { CT_USES_DURATION = 1, CT_USES_SEQUENCE = 2 };
unsigned ct_filter_uses(const struct ct_filter *filter);

#endif
