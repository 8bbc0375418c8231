/*
 * pass_fixture.h - one consumer, which is the consumer thread's, and its passes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef PASS_FIXTURE_H
#define PASS_FIXTURE_H

#include "consumer_fixture.h"

static struct ct_consumer *consumer;
static struct ct_consumer_result result;

static inline void start(uint32_t count, uint32_t overflow)
{
	struct ct_consumer_source source = live_source();

	memset(&result, 0, sizeof result);
	make_process(count, overflow);
	assert_int_equal(ct_consumer_create(&source, &consumer), CTRACE_OK);
}

static inline void stop(void)
{
	ct_consumer_close(consumer);
	ct_consumer_destroy(consumer);
	drop_process();
}

static inline void pass(bool flush)
{
	ct_consumer_pass(consumer, flush, &result);
}

#endif
