/*
 * peer_lttng.c - LTTng-UST as a measured tracer.
 *
 * bench/peers.py runs the session daemon, makes the session with its buffers, and learns from the
 * daemon what was discarded: this program cannot know.  Its constructor waits until the session is
 * known, so that the first event is recorded.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

#include "bench.h"
#include "workload.h"

static void BENCH_NOINLINE batch_a(uint32_t count)
{
	BENCH_LOOP(i, count)
	lttng_ust_tracepoint(ctrace_bench, a, i, bench_text(i));
}

static void BENCH_NOINLINE batch_b(uint32_t count)
{
	BENCH_LOOP(i, count)
	lttng_ust_tracepoint(ctrace_bench, b, i, bench_wide(i), bench_delta(i), bench_text(i));
}

static void BENCH_NOINLINE batch_off(uint32_t count)
{
	BENCH_LOOP(i, count)
	lttng_ust_tracepoint(ctrace_bench, off, i, bench_text(i));
}

static void lttng_prepare(const struct bench_setup *setup)
{
	(void)setup;
}

/* The buffers hold a whole run; the consumer daemon empties them. */
static void lttng_consumer(void)
{
}

static uint64_t lttng_delivered(uint64_t made)
{
	return made;
}

static const struct bench_case cases[] = {
	{ "a", batch_a, true },
	{ "b", batch_b, true },
	{ "off", batch_off, false },
};

const struct bench_peer bench_peer = {
	.name = "lttng",
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.prepare = lttng_prepare,
	.consumer = lttng_consumer,
	.finish = lttng_consumer,
	.delivered = lttng_delivered,
};
