/*
 * clock.c - ticks for records, and what turns them into time.
 *
 * A record carries raw ticks: the invariant TSC where the CPU has one (8 ns a reading), else CLOCK_MONOTONIC.  Beside the rings the
 * consumer keeps pairs (ticks, wall clock); a record's time lies on the line between the two pairs round it, so no frequency has to
 * be known in advance and a dead process's rings can still be dated.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define POINT_INTERVAL_NS 100000000u /* between stored points */

static enum ct_clock_source find_source(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	if (__get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8))
		return CT_CLOCK_TSC;
#endif
	return CT_CLOCK_MONOTONIC;
}

enum ct_clock_source ct_clock_source(void)
{
	static int known = -1; /* every thread finds the same */
	int source = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (source < 0) {
		source = (int)find_source();
		__atomic_store_n(&known, source, __ATOMIC_RELAXED);
	}
	return (enum ct_clock_source)source;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t ct_clock_ticks(void)
{
#if defined(__x86_64__)
	if (ct_clock_source() == CT_CLOCK_TSC)
		return __rdtsc();
#endif
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t ct_clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t ct_clock_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* The tightest of a few readings: wall clock between two readings of the ticks. */
static struct ct_sync_point take_point(void)
{
	struct ct_sync_point best = { 0, 0 };
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < 4; i++) {
		uint64_t before = ct_clock_ticks();
		uint64_t wall = ct_clock_wall_ns();
		uint64_t after = ct_clock_ticks();

		if (after - before < best_width) {
			best_width = after - before;
			best.ticks = before + (after - before) / 2;
			best.wall_ns = wall;
		}
	}
	return best;
}

static void begin_write(struct ct_sync *sync)
{
	__atomic_store_n(&sync->sequence, sync->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_write(struct ct_sync *sync)
{
	__atomic_store_n(&sync->sequence, sync->sequence + 1, __ATOMIC_RELEASE);
}

void ct_sync_start(struct ct_sync *sync)
{
	memset(sync, 0, sizeof *sync);
	sync->source = ct_clock_source();
	sync->first = take_point();
	sync->points[0] = sync->first;
	sync->latest = sync->first;
	sync->count = 1;
}

static void store_point(struct ct_sync *sync, struct ct_sync_point point)
{
	sync->points[sync->count % CT_SYNC_POINTS] = point;
	sync->count++;
}

void ct_sync_update(struct ct_sync *sync)
{
	struct ct_sync_point point = take_point();
	struct ct_sync_point stored = sync->points[(sync->count - 1) % CT_SYNC_POINTS];

	if (point.ticks <= sync->latest.ticks)
		return;
	begin_write(sync);
	/* A wall clock set back must not turn the order round: time then stands still until it has caught up, from the latest point on,
	 * or what is older would be dated anew. */
	if (point.wall_ns < sync->latest.wall_ns) {
		if (stored.wall_ns < sync->latest.wall_ns)
			store_point(sync, sync->latest);
		point.wall_ns = sync->latest.wall_ns;
	} else if (point.wall_ns - stored.wall_ns >= POINT_INTERVAL_NS) {
		store_point(sync, point);
	}
	sync->latest = point;
	end_write(sync);
}

void ct_sync_copy(const struct ct_sync *sync, struct ct_sync *out)
{
	for (int tries = 0; tries < 1000; tries++) {
		uint32_t before = __atomic_load_n(&sync->sequence, __ATOMIC_ACQUIRE);

		memcpy(out, sync, sizeof *out);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((before & 1) == 0 && __atomic_load_n(&sync->sequence, __ATOMIC_RELAXED) == before)
			return;
	}
	/* The writer died between the two stores: what stands there is one point too old or too new, which does no harm. */
}

/* The stored point `back` before the newest one, or the latest itself for back 0. */
static struct ct_sync_point point_before(const struct ct_sync *sync, uint32_t back)
{
	return back == 0 ? sync->latest : sync->points[(sync->count - back) % CT_SYNC_POINTS];
}

static uint64_t on_line(struct ct_sync_point a, struct ct_sync_point b, uint64_t ticks)
{
	__extension__ typedef __int128 wide;
	wide rise = (wide)(int64_t)(b.wall_ns - a.wall_ns) * (int64_t)(ticks - a.ticks);

	if (b.ticks <= a.ticks)
		return a.wall_ns;
	rise /= (wide)(b.ticks - a.ticks);
	if (rise < -(wide)a.wall_ns)
		return 0;
	return (uint64_t)((wide)a.wall_ns + rise);
}

uint64_t ct_sync_wall_ns(const struct ct_sync *sync, uint64_t ticks)
{
	uint32_t stored = sync->count < CT_SYNC_POINTS ? sync->count : CT_SYNC_POINTS;
	struct ct_sync_point above = sync->latest;

	if (sync->count == 0)
		return 0;
	/* Newest first: nearly every record is younger than the last stored point. */
	for (uint32_t back = 1; back <= stored; back++) {
		struct ct_sync_point below = point_before(sync, back);

		if (below.ticks <= ticks && below.ticks < above.ticks)
			return on_line(below, above, ticks);
		if (below.ticks < above.ticks && back < stored)
			above = below;
	}
	/* Older than everything stored (or only one point, when the slope is not known yet). */
	if (sync->source == CT_CLOCK_MONOTONIC && sync->first.ticks == sync->latest.ticks)
		return sync->latest.wall_ns + (ticks - sync->latest.ticks);
	return on_line(sync->first, sync->latest, ticks);
}

/* The ticks for which on_line() gives wall_ns: rounded away from a, as that rounds towards it. */
static uint64_t on_line_back(struct ct_sync_point a, struct ct_sync_point b, uint64_t wall_ns)
{
	__extension__ typedef __int128 wide;
	wide way = (int64_t)(wall_ns - a.wall_ns);
	wide run = (wide)b.ticks - (wide)a.ticks;
	wide rise = (wide)b.wall_ns - (wide)a.wall_ns;
	wide ticks, rest;

	if (run <= 0 || rise <= 0)
		return a.ticks;
	rest = way * run % rise;
	ticks = (wide)a.ticks + way * run / rise + (rest > 0) - (rest < 0);
	if (ticks < 0)
		return 0;
	return ticks > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

uint64_t ct_sync_ticks(const struct ct_sync *sync, uint64_t wall_ns)
{
	uint32_t stored = sync->count < CT_SYNC_POINTS ? sync->count : CT_SYNC_POINTS;
	struct ct_sync_point above = sync->latest;
	uint64_t ticks;

	if (sync->count == 0)
		return 0;
	for (uint32_t back = 1; back <= stored; back++) {
		struct ct_sync_point below = point_before(sync, back);

		if (below.wall_ns <= wall_ns && below.ticks < above.ticks)
			return on_line_back(below, above, wall_ns);
		if (below.ticks < above.ticks)
			above = below;
	}
	/* Older than everything stored, or only one point: as ct_sync_wall_ns(). */
	if (sync->source == CT_CLOCK_MONOTONIC && sync->first.ticks == sync->latest.ticks)
		return wall_ns < sync->latest.wall_ns && sync->latest.wall_ns - wall_ns > sync->latest.ticks
			       ? 0
			       : sync->latest.ticks + (wall_ns - sync->latest.wall_ns);
	ticks = on_line_back(sync->first, sync->latest, wall_ns);
	return ticks < above.ticks ? ticks : above.ticks;
}
