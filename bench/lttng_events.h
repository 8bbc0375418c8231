/*
 * lttng_events.h - A and B as tracepoints of LTTng-UST, and one that is never enabled.  LTTng's
 * headers include it more than once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ctrace_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_events.h"

#if !defined(LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(ctrace_bench, a,
	LTTNG_UST_TP_ARGS(uint32_t, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, number, number)
		lttng_ust_field_array_text(char, text, text, 10)))

LTTNG_UST_TRACEPOINT_EVENT(ctrace_bench, b,
	LTTNG_UST_TP_ARGS(uint32_t, number, uint64_t, wide, int64_t, delta, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, number, number)
		lttng_ust_field_integer(uint64_t, wide, wide)
		lttng_ust_field_integer(int64_t, delta, delta)
		lttng_ust_field_array_text(char, text, text, 32)))

LTTNG_UST_TRACEPOINT_EVENT(ctrace_bench, off,
	LTTNG_UST_TP_ARGS(uint32_t, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, number, number)
		lttng_ust_field_array_text(char, text, text, 10)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
