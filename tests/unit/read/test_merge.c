/*
 * test_merge.c - many sources, one order.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"

static void streams_merge_by_time(void **state)
{
	enum { STREAMS = 40, ROUNDS = 30 };
	static struct ctrace_stream streams[STREAMS];
	struct fixture *f = *state;
	unsigned next = 0;

	fixture_open(f, "FILE=t.ctb\n");
	for (uint32_t i = 0; i < STREAMS; i++)
		streams[i].id = i;
	for (unsigned i = 0; i < ROUNDS * STREAMS; i++) {
		struct ctrace_stream *stream = &streams[i * 7 % STREAMS];

		assert_int_equal(write_numbered(f, stream, next, 1 + i % 3), CTRACE_OK);
		next += 1 + i % 3;
	}
	fixture_close(f);
	assert_reads("t.ctb", 0, next);
}

/* What waits gives its memory back, and is read again: in the same order. */
static void many_streams_hold_little_memory(void **state)
{
	enum { STREAMS = 40, ROUNDS = 30 };
	static struct ctrace_stream streams[STREAMS];
	struct fixture *f = *state;
	struct reading r;
	unsigned next = 0;

	memset(streams, 0, sizeof streams);
	fixture_open(f, "FILE=t.ctb\n");
	for (uint32_t i = 0; i < STREAMS; i++)
		streams[i].id = i;
	for (unsigned i = 0; i < ROUNDS * STREAMS; i++)
		assert_int_equal(write_numbered(f, &streams[i * 7 % STREAMS], next++, 1),
				 CTRACE_OK);
	fixture_close(f);
	reading_init(&r);
	r.sources.may_hold = (size_t)1 << 20; /* eight windows */
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	for (unsigned i = 0; i < next; i++) {
		assert_int_equal(next_number(&r), i);
		assert_true(r.sources.held <= r.sources.may_hold);
	}
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.events, next);
	assert_int_equal(r.sources.totals.damages, 0);
	assert_int_equal(r.sources.held, 0);
	ct_sources_fini(&r.sources);
}

static void equal_times_keep_the_order_of_sources(void **state)
{
	struct fixture *f = *state;
	struct reading r;

	make_trace(f, "a.ctb", 0, 10, 3);
	f->now_ns -= 10000;
	make_trace(f, "b.ctb", 100, 10, 4);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "b.ctb"), CTRACE_OK);
	assert_int_equal(ct_sources_add(&r.sources, "a.ctb"), CTRACE_OK);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(next_number(&r), 100 + i);
		assert_int_equal(next_number(&r), i);
	}
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.events, 20);
	ct_sources_fini(&r.sources);
}

static void nothing_is_nothing(void **state)
{
	struct ctrace_event event;
	struct reading r;

	(void)state;
	reading_init(&r);
	assert_false(next_event(&r, &event));
	assert_false(next_event(&r, &event));
	ct_sources_fini(&r.sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_merge(void)
{
	const struct CMUnitTest tests[] = {
		TEST(streams_merge_by_time),
		TEST(many_streams_hold_little_memory),
		TEST(equal_times_keep_the_order_of_sources),
		TEST(nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
