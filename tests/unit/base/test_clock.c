/*
 * test_clock.c - ticks become time: close to the wall clock, and never backwards.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define MS 1000000u

static void pass_ms(uint64_t ms)
{
	uint64_t start = ct_clock_mono_ns();

	while (ct_clock_mono_ns() - start < ms * MS)
		;
}

static void the_source_stays_the_same_and_ticks_rise(void **state)
{
	enum ct_clock_source source = ct_clock_source();
	uint64_t before = ct_clock_ticks();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now = ct_clock_ticks();

		assert_true(now >= before);
		before = now;
	}
	assert_int_equal(ct_clock_source(), source);
}

/* A moment in ticks and by the wall clock, as near to each other as can be. */
static void read_both(uint64_t *ticks, uint64_t *wall_ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t before = ct_clock_ticks();
		uint64_t wall = ct_clock_wall_ns();
		uint64_t after = ct_clock_ticks();

		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*wall_ns = wall;
		}
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void a_record_is_dated_within_a_microsecond(void **state)
{
	enum { RECORDS = 300 };
	static uint64_t ticks[RECORDS], wall[RECORDS];
	struct ct_sync sync;
	unsigned off = 0;

	(void)state;
	ct_sync_start(&sync);
	for (int i = 0; i < RECORDS; i++) {
		pass_ms(1);
		read_both(&ticks[i], &wall[i]);
		ct_sync_update(&sync);
		/* As the agent does: at once after it took another point. */
		off += distance(ct_sync_wall_ns(&sync, ticks[i]), wall[i]) > 1000;
	}
	/* And all of them later, when points were stored. */
	for (int i = 0; i < RECORDS; i++)
		off += distance(ct_sync_wall_ns(&sync, ticks[i]), wall[i]) > 1000;
	assert_true(sync.count >= 3);
	/* A machine that takes the processor away between two readings is no fault of the conversion. */
	assert_true(off <= 2 * RECORDS / 20);
}

static void time_never_goes_back_as_ticks_rise(void **state)
{
	struct ct_sync sync;
	uint64_t last = 0;

	(void)state;
	ct_sync_start(&sync);
	for (int i = 0; i < 350; i++) {
		pass_ms(1);
		ct_sync_update(&sync);
	}
	for (uint64_t i = 0; i <= 10000; i++) {
		uint64_t ticks = sync.first.ticks + (sync.latest.ticks - sync.first.ticks) / 5000 * i; /* and as far beyond */
		uint64_t time = ct_sync_wall_ns(&sync, ticks);

		assert_true(time >= last);
		last = time;
	}
}

static void a_dated_record_keeps_its_order_when_the_wall_clock_is_set_back(void **state)
{
	struct ct_sync sync;
	uint64_t first, ticks;

	(void)state;
	ct_sync_start(&sync);
	pass_ms(2);
	ct_sync_update(&sync);
	/* As if the clock had been an hour ahead until now: for ctrace it is set back with the next reading. */
	sync.points[0].wall_ns += (uint64_t)3600 * 1000 * MS;
	sync.first.wall_ns += (uint64_t)3600 * 1000 * MS;
	sync.latest.wall_ns += (uint64_t)3600 * 1000 * MS;
	ticks = sync.latest.ticks;
	first = ct_sync_wall_ns(&sync, ticks);
	for (int i = 0; i < 300; i++) {
		uint64_t time;

		pass_ms(1);
		ct_sync_update(&sync);
		time = ct_sync_wall_ns(&sync, ticks + 10);
		assert_true(time >= first);
		ticks = sync.latest.ticks;
		first = ct_sync_wall_ns(&sync, ticks);
	}
	assert_true(sync.count <= 3); /* standing still is one point, not one a reading */
}

static void a_clock_set_forward_dates_what_follows_by_the_new_time(void **state)
{
	struct ct_sync sync;
	uint64_t before;

	(void)state;
	ct_sync_start(&sync);
	/* As if the clock had been an hour behind until now. */
	sync.points[0].wall_ns -= (uint64_t)3600 * 1000 * MS;
	sync.first = sync.latest = sync.points[0];
	before = ct_sync_wall_ns(&sync, sync.latest.ticks);
	pass_ms(1);
	ct_sync_update(&sync);
	pass_ms(1);
	ct_sync_update(&sync);
	assert_true(ct_sync_wall_ns(&sync, sync.latest.ticks) - before >= (uint64_t)3600 * 1000 * MS);
	assert_true(distance(ct_sync_wall_ns(&sync, sync.latest.ticks), ct_clock_wall_ns()) < 1000 * MS);
}

static void a_fast_first_record_is_dated_by_the_only_point(void **state)
{
	struct ct_sync sync;

	(void)state;
	ct_sync_start(&sync);
	assert_int_equal(ct_sync_wall_ns(&sync, sync.latest.ticks), sync.latest.wall_ns);
	assert_true(ct_sync_wall_ns(&sync, sync.latest.ticks + 1000) >= sync.latest.wall_ns);
	memset(&sync, 0, sizeof sync); /* of a process that died before it took any */
	assert_int_equal(ct_sync_wall_ns(&sync, 12345), 0);
}

static void the_points_go_round_and_old_records_still_get_a_time(void **state)
{
	struct ct_sync sync = { .source = CT_CLOCK_TSC, .first = { 1000, 5000000 } };

	(void)state;
	/* Two ticks a nanosecond, a point each 100 ms, three times round. */
	for (uint32_t i = 0; i < 3 * CT_SYNC_POINTS; i++)
		sync.points[sync.count++ % CT_SYNC_POINTS] =
			(struct ct_sync_point){ 1000 + 2ull * i * 100 * MS, 5000000 + 1ull * i * 100 * MS };
	sync.latest = sync.points[(sync.count - 1) % CT_SYNC_POINTS];
	sync.latest.ticks += 2 * MS;
	sync.latest.wall_ns += MS;
	for (uint64_t ns = 0; ns < 3ull * CT_SYNC_POINTS * 100 * MS + 5 * MS; ns += 7 * MS + 3)
		assert_true(distance(ct_sync_wall_ns(&sync, 1000 + 2 * ns), 5000000 + ns) <= 1);
}

/* ---- and back ---- */

static struct ct_sync three_times_round(void)
{
	struct ct_sync sync = { .source = CT_CLOCK_TSC, .first = { 1000000000, 5000000000 } };

	/* Three ticks a nanosecond and now and then four, a point each 100 ms. */
	sync.points[0] = sync.first;
	for (sync.count = 1; sync.count < 3 * CT_SYNC_POINTS; sync.count++) {
		struct ct_sync_point last = sync.points[(sync.count - 1) % CT_SYNC_POINTS];

		sync.points[sync.count % CT_SYNC_POINTS] =
			(struct ct_sync_point){ last.ticks + (sync.count % 5 == 0 ? 4 : 3) * (uint64_t)100 * MS,
						last.wall_ns + 100 * MS };
	}
	sync.latest = sync.points[(sync.count - 1) % CT_SYNC_POINTS];
	sync.latest.ticks += 3 * MS;
	sync.latest.wall_ns += MS;
	return sync;
}

static void a_time_becomes_the_ticks_that_become_that_time(void **state)
{
	struct ct_sync sync = three_times_round();
	uint64_t end = sync.latest.wall_ns + 200 * MS;
	uint64_t oldest = sync.points[sync.count % CT_SYNC_POINTS].wall_ns;
	uint64_t last = 0;
	unsigned count = 0;

	(void)state;
	/* From before the first point to beyond the latest. */
	for (uint64_t wall = sync.first.wall_ns - 200 * MS; wall < end; wall += 7 * MS / 100 + 3) {
		uint64_t ticks = ct_sync_ticks(&sync, wall);

		assert_true(ticks >= last);
		last = ticks;
		/* Just before the oldest point that is known the two lines do not meet. */
		if (wall >= oldest || wall < oldest - 1000 * MS) {
			assert_int_equal(ct_sync_wall_ns(&sync, ticks), wall);
			count++;
		}
	}
	assert_true(count > 100000);
}

static void a_real_clock_s_time_comes_back(void **state)
{
	struct ct_sync sync;

	(void)state;
	ct_sync_start(&sync);
	for (int i = 0; i < 300; i++) {
		pass_ms(1);
		ct_sync_update(&sync);
	}
	for (uint64_t wall = sync.first.wall_ns - 500 * MS; wall < sync.latest.wall_ns + 500 * MS; wall += 12345)
		assert_true(distance(ct_sync_wall_ns(&sync, ct_sync_ticks(&sync, wall)), wall) <= 1);
}

static void without_a_slope_a_time_becomes_the_only_point(void **state)
{
	struct ct_sync sync = { .source = CT_CLOCK_TSC, .count = 1, .first = { 1000, 5000 }, .latest = { 1000, 5000 } };

	(void)state;
	sync.points[0] = sync.first;
	assert_int_equal(ct_sync_ticks(&sync, 4000), 1000);
	assert_int_equal(ct_sync_ticks(&sync, 6000), 1000);
	sync.source = CT_CLOCK_MONOTONIC; /* whose slope is known */
	assert_int_equal(ct_sync_ticks(&sync, 4500), 500);
	assert_int_equal(ct_sync_ticks(&sync, 4000), 0);
	assert_int_equal(ct_sync_ticks(&sync, 3999), 0);
	assert_int_equal(ct_sync_ticks(&sync, 6000), 2000);
	memset(&sync, 0, sizeof sync);
	assert_int_equal(ct_sync_ticks(&sync, 12345), 0);
}

static void a_time_at_which_the_clock_stood_is_when_it_went_on(void **state)
{
	struct ct_sync sync = { .source = CT_CLOCK_TSC,
				.count = 3,
				.first = { 1000, 5000 },
				.latest = { 9000, 7000 },
				.points = { { 1000, 5000 }, { 3000, 6000 }, { 7000, 6000 } } };

	(void)state;
	assert_int_equal(ct_sync_ticks(&sync, 5999), 2998);
	assert_int_equal(ct_sync_wall_ns(&sync, ct_sync_ticks(&sync, 6000)), 6000);
	assert_int_equal(ct_sync_ticks(&sync, 6001), 7002);
	/* Before time began. */
	assert_int_equal(ct_sync_ticks(&sync, 4900), 600);
	assert_int_equal(ct_sync_ticks(&sync, 0), 0);
}

static void hostile_points_give_some_time_and_no_crash(void **state)
{
	struct ct_sync sync;
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		unsigned char *bytes = (unsigned char *)&sync;

		for (size_t i = 0; i < sizeof sync; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[i] = (seed & 0x300) == 0 ? 0xFF : (unsigned char)seed;
		}
		(void)ct_sync_wall_ns(&sync, seed);
		(void)ct_sync_wall_ns(&sync, sync.latest.ticks);
		(void)ct_sync_wall_ns(&sync, 0);
		(void)ct_sync_wall_ns(&sync, UINT64_MAX);
		(void)ct_sync_ticks(&sync, seed);
		(void)ct_sync_ticks(&sync, sync.latest.wall_ns);
		(void)ct_sync_ticks(&sync, 0);
		(void)ct_sync_ticks(&sync, UINT64_MAX);
	}
}

static struct ct_sync *shared;

static void copy_often(unsigned *bad)
{
	for (int i = 0; i < 300000; i++) {
		struct ct_sync copy;

		ct_sync_copy(shared, &copy);
		/* Written as twins. */
		if (copy.latest.ticks != copy.latest.wall_ns)
			(*bad)++;
	}
}

static void a_copy_is_consistent_while_the_writer_goes_on(void **state)
{
	unsigned bad = 0;
	int status;
	pid_t writer;

	(void)state;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	writer = fork();
	if (writer == 0) {
		/* The protocol of ct_sync_update(), as fast as can be. */
		for (uint64_t i = 1;; i++) {
			__atomic_store_n(&shared->sequence, shared->sequence + 1, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_RELEASE);
			__atomic_store_n(&shared->latest.ticks, i, __ATOMIC_RELAXED);
			__atomic_store_n(&shared->latest.wall_ns, i, __ATOMIC_RELAXED);
			__atomic_store_n(&shared->sequence, shared->sequence + 1, __ATOMIC_RELEASE);
			for (volatile int pause = 0; pause < 200; pause++)
				;
		}
	}
	assert_true(writer > 0);
	copy_often(&bad);
	assert_int_equal(kill(writer, SIGKILL), 0);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(bad, 0);
	(void)munmap(shared, sizeof *shared);
}

static void a_writer_that_died_in_the_middle_does_not_hold_the_reader_up(void **state)
{
	struct ct_sync sync, copy;

	(void)state;
	ct_sync_start(&sync);
	sync.sequence |= 1;
	ct_sync_copy(&sync, &copy);
	assert_int_equal(copy.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_source_stays_the_same_and_ticks_rise),
		cmocka_unit_test(a_record_is_dated_within_a_microsecond),
		cmocka_unit_test(time_never_goes_back_as_ticks_rise),
		cmocka_unit_test(a_dated_record_keeps_its_order_when_the_wall_clock_is_set_back),
		cmocka_unit_test(a_clock_set_forward_dates_what_follows_by_the_new_time),
		cmocka_unit_test(a_fast_first_record_is_dated_by_the_only_point),
		cmocka_unit_test(the_points_go_round_and_old_records_still_get_a_time),
		cmocka_unit_test(a_time_becomes_the_ticks_that_become_that_time),
		cmocka_unit_test(a_real_clock_s_time_comes_back),
		cmocka_unit_test(without_a_slope_a_time_becomes_the_only_point),
		cmocka_unit_test(a_time_at_which_the_clock_stood_is_when_it_went_on),
		cmocka_unit_test(hostile_points_give_some_time_and_no_crash),
		cmocka_unit_test(a_copy_is_consistent_while_the_writer_goes_on),
		cmocka_unit_test(a_writer_that_died_in_the_middle_does_not_hold_the_reader_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
