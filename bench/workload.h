/*
 * workload.h - A and B, the events that every measured tracer records, and T.
 *
 *     A    u32, text of 10 bytes
 *     B    u32, u64, i64, text of 32 bytes
 *     T    text of 10 bytes; by ctrace alone, beside CBL_CTF_TRACE of the same
 *
 * The values change from event to event, and are chosen in the same way for all, so that what
 * differs is the tracer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdint.h>

#define BENCH_A_TEXT 10
#define BENCH_B_TEXT 32
#define BENCH_TEXTS 16u

#define BENCH_NOINLINE __attribute__((noinline))
#define BENCH_LOOP(i, count) for (uint32_t i = 0; i < (count); i++)

static const char bench_texts[BENCH_TEXTS][64] = {
	"some info, and what is behind it", "open acct, and what is behind it",
	"read file, and what is behind it", "rec found, and what is behind it",
	"add total, and what is behind it", "sub total, and what is behind it",
	"one month, and what is behind it", "next year, and what is behind it",
	"last page, and what is behind it", "no record, and what is behind it",
	"bad check, and what is behind it", "new owner, and what is behind it",
	"old owner, and what is behind it", "all of it, and what is behind it",
	"none here, and what is behind it", "the end..., what is behind it..",
};

static inline const char *bench_text(uint32_t i)
{
	return bench_texts[i % BENCH_TEXTS];
}

static inline uint64_t bench_wide(uint32_t i)
{
	return (uint64_t)i << 20;
}

static inline int64_t bench_delta(uint32_t i)
{
	return -(int64_t)i;
}

/* The same through ctrace. */
#define BENCH_TRACE_A(tracer, i) \
	CTRACE(tracer, CTRACE_INFO, 1, CTRACE_U32(i), CTRACE_TEXT(bench_text(i), BENCH_A_TEXT))
#define BENCH_TRACE_B(tracer, i) \
	CTRACE(tracer, CTRACE_INFO, 2, CTRACE_U32(i), CTRACE_U64(bench_wide(i)), \
	       CTRACE_I64(bench_delta(i)), CTRACE_TEXT(bench_text(i), BENCH_B_TEXT))
#define BENCH_TRACE_T(tracer, i) \
	CTRACE(tracer, CTRACE_INFO, 3, CTRACE_TEXT(bench_text(i), BENCH_A_TEXT))

#endif
