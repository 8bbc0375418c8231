/*
 * pass_fixture.h - one drain, which is the agent's, and its passes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef PASS_FIXTURE_H
#define PASS_FIXTURE_H

#include "drain_fixture.h"

static struct ct_drain *drain;
static struct ct_drain_result result;

static inline void start(uint32_t count, uint32_t overflow)
{
	struct ct_drain_source source = live_source();

	memset(&result, 0, sizeof result);
	make_process(count, overflow);
	assert_int_equal(ct_drain_create(&source, &drain), CTRACE_OK);
}

static inline void stop(void)
{
	ct_drain_close(drain);
	ct_drain_destroy(drain);
	drop_process();
}

static inline void pass(bool flush)
{
	ct_drain_pass(drain, flush, &result);
}

#endif
