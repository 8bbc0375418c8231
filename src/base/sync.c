/*
 * sync.c - turns ticks into time.
 *
 * Beside the rings the consumer keeps points (ticks, wall clock).  A record's time lies on the line
 * between the two points around it, or on the newest line, which leads from the last point on.  So
 * no frequency has to be known in advance, and the rings of a dead process can still be dated.
 *
 * A record that was dated keeps its date.  Readings of the clocks are off by a little, so dates by
 * lines through each reading would put a thread's later record before an earlier one.  Hence the
 * newest line stays while readings agree with it.  When one does not, the line ends at the last
 * record that may have been dated, and only what is later is dated anew.
 *
 * A line never crosses a discontinuity.  Each reading takes CLOCK_BOOTTIME too: the kernel moves it
 * and the wall clock at the same rate, also while NTP slews and over suspend, so their difference
 * changes only when somebody sets the wall clock.  Ticks that go back, stop or jump disagree with
 * CLOCK_BOOTTIME.  Both begin a new epoch.  When the first reading of an epoch after a jump
 * disagrees again, the counter has another rate: the guest has moved to another host.
 *
 * Only the consumer adds points; tests add readings of their own with ct_sync_add().  The struct
 * may come from a hostile process's file, so readers bound each count and check each divisor.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <string.h>

#define LINE_NS 250u          /* a reading agrees with the newest line up to this */
#define BASE_NS 100000000u    /* a slope is that of a span this long, if there is one */
#define STEP_NS 1000000u      /* the clocks disagree by more in a new epoch */
#define RATE_NS 1000000u      /* least distance of two points that give a slope */
#define TOO_SOON_NS 20000u    /* ticks of two processors may differ by less than this */
#define AHEAD_NS 60000000000u /* records may be this much younger than the latest point */
/* a time up to this much after the latest point belongs to its epoch */
#define SLACK_NS 1000000000u
#define NS_A_SECOND 1000000000u
#define COPY_TRIES 1000
#define SLOPE_BITS 56u /* a slope is nanoseconds in a tick, shifted left by this */
#define SLOPE_ONE ((uint64_t)1 << SLOPE_BITS)

__extension__ typedef unsigned __int128 wide;

_Static_assert(CT_SYNC_POINTS > 2 * CT_SYNC_EPOCHS,
	       "some point always lies between the ends of an epoch");

/* -----------------------------------------------------------------------------------------------
 * Lines
 */

static uint64_t slope_between(struct ct_sync_point a, struct ct_sync_point b)
{
	uint64_t run = b.ticks - a.ticks;
	wide slope;

	if (b.ticks <= a.ticks || b.wall_ns <= a.wall_ns)
		return 0;
	slope = (((wide)(b.wall_ns - a.wall_ns) << SLOPE_BITS) + run - 1) / run;
	return slope < UINT64_MAX ? (uint64_t)slope : UINT64_MAX;
}

static uint64_t slope_rise(uint64_t slope, uint64_t ticks)
{
	wide rise = (wide)ticks * slope >> SLOPE_BITS;

	return rise < UINT64_MAX ? (uint64_t)rise : UINT64_MAX;
}

static uint64_t slope_run(uint64_t slope, uint64_t ns)
{
	wide run = slope != 0 ? ((wide)ns << SLOPE_BITS) / slope : 0;

	return run < UINT64_MAX ? (uint64_t)run : UINT64_MAX;
}

static uint64_t add_up_to_max(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint64_t subtract_down_to_0(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* -----------------------------------------------------------------------------------------------
 * Writing: the points
 */

static struct ct_sync_epoch *epoch_newest(struct ct_sync *sync)
{
	return &sync->epochs[sync->epoch_count - 1];
}

static void points_remove(struct ct_sync *sync, uint32_t at, uint32_t count)
{
	memmove(&sync->points[at], &sync->points[at + count],
		(sync->point_count - at - count) * sizeof sync->points[0]);
	sync->point_count -= count;
}

/*
 * Removes the least useful point: the one with the shortest gap for its age, but never the first or
 * last of an epoch.  So the distance of two points grows with their age: 100 ms, seconds, minutes.
 */
static void points_thin(struct ct_sync *sync)
{
	uint64_t least = UINT64_MAX, age = 0;
	uint32_t found_at = 0, found_epoch = 0, end = sync->point_count;

	for (uint32_t e = sync->epoch_count; e-- > 0;) {
		uint32_t start = end - sync->epochs[e].points;

		for (uint32_t i = end; i-- > start;) {
			const struct ct_sync_point *point = &sync->points[i];
			uint64_t newer_gap =
				i + 1 < end ? distance(point[1].wall_ns, point->wall_ns) : 0;
			uint64_t score;

			age += newer_gap;
			if (i == start || i + 1 == end)
				continue;
			score = (newer_gap + distance(point->wall_ns, point[-1].wall_ns)) /
				(age / 1024 + 1);
			if (score >= least)
				continue;
			least = score;
			found_at = i;
			found_epoch = e;
		}
		end = start;
	}
	sync->epochs[found_epoch].points--;
	points_remove(sync, found_at, 1);
}

static void point_add(struct ct_sync *sync, struct ct_sync_point point)
{
	if (sync->point_count == CT_SYNC_POINTS)
		points_thin(sync);
	sync->points[sync->point_count++] = point;
	epoch_newest(sync)->points++;
}

static struct ct_sync_point point_newest(const struct ct_sync *sync)
{
	return sync->points[sync->point_count - 1];
}

static uint64_t line_date(const struct ct_sync_line *line, uint64_t ticks)
{
	return add_up_to_max(line->wall_ns, slope_rise(line->slope, ticks - line->ticks));
}

/* Begins the newest line at the last point, with this slope. */
static void line_begin(struct ct_sync *sync, uint64_t slope)
{
	struct ct_sync_point from = point_newest(sync);

	sync->line = (struct ct_sync_line){ .ticks = from.ticks,
					    .wall_ns = from.wall_ns,
					    .slope = slope };
}

/* Finds the slope after a reading, and how far the newest line reaches. */
static void slope_find(struct ct_sync *sync)
{
	struct ct_sync_epoch *epoch = epoch_newest(sync);
	uint32_t last = sync->point_count, first = last - epoch->points;
	struct ct_sync_point base = sync->latest;
	uint64_t span_ns, least_ns;

	/* Readings are tens of nanoseconds off: the farther apart, the better the slope. */
	while (last > first && subtract_down_to_0(sync->latest.wall_ns, base.wall_ns) < BASE_NS)
		base = sync->points[--last];
	span_ns = subtract_down_to_0(sync->latest.wall_ns, base.wall_ns);
	/* A new epoch keeps the slope of the old one until it has a better one. */
	least_ns = sync->epoch_count > 1 && sync->slope != 0 ? BASE_NS : RATE_NS;
	if (sync->source == CT_CLOCK_COUNTER && span_ns >= least_ns &&
	    span_ns / 1000 >= sync->width_ns)
		sync->slope = slope_between(base, sync->latest);
	epoch->to_ticks = sync->slope != 0 ? add_up_to_max(sync->latest.ticks,
							   slope_run(sync->slope, AHEAD_NS))
					   : UINT64_MAX;
	sync->line.span = subtract_down_to_0(epoch->to_ticks, sync->line.ticks);
}

/* Returns the last ticks before `now` that may have been dated. */
static uint64_t dated_before(const struct ct_sync *sync, uint64_t now, uint64_t dated)
{
	return dated > sync->latest.ticks && dated < now ? dated : sync->latest.ticks;
}

/* The same epoch goes on. */
static void epoch_continue(struct ct_sync *sync, const struct ct_clock_reading *now, uint64_t dated)
{
	const struct ct_sync_line *line = &sync->line;
	struct ct_sync_point from, to = { now->ticks, now->wall_ns };
	uint64_t ahead_ns = 0, slope = sync->slope;

	from.ticks = dated_before(sync, now->ticks, dated);
	from.wall_ns = line_date(line, from.ticks);
	sync->latest = to;
	if (line->slope != 0 &&
	    distance(line_date(line, now->ticks), now->wall_ns) <= LINE_NS + now->width_ns)
		return;
	/* Time stands still up to here, and then is slower until the clock has caught up. */
	if (from.wall_ns > to.wall_ns) {
		ahead_ns =
			from.wall_ns - to.wall_ns < BASE_NS ? from.wall_ns - to.wall_ns : BASE_NS;
		to.wall_ns = from.wall_ns;
	}
	if (slope == 0)
		slope = slope_between(from, to);
	if (from.ticks > line->ticks)
		point_add(sync, from);
	point_add(sync, to);
	line_begin(sync, slope - (uint64_t)((wide)slope * ahead_ns / BASE_NS));
}

/* -----------------------------------------------------------------------------------------------
 * Writing: epochs
 */

/* The change between the last reading and this one. */
struct change {
	int64_t passed_ns; /* by CLOCK_BOOTTIME */
	int64_t ticks;     /* forward */
	int64_t step_ns;   /* the wall clock was set by this much; 0: it was not set */
	bool is_jump;      /* the ticks did not advance as before */
	bool is_too_soon;  /* the readings are too close to compare */
};

static struct change change_find(const struct ct_sync *sync, const struct ct_clock_reading *now)
{
	uint64_t doubt = STEP_NS + now->width_ns + sync->width_ns;
	struct change change = { .passed_ns = (int64_t)(now->boot_ns - sync->boot_ns),
				 .ticks = (int64_t)(now->ticks - sync->latest.ticks),
				 .step_ns = (int64_t)((now->wall_ns - sync->real_ns) -
						      (now->boot_ns - sync->boot_ns)) };
	uint64_t passed = magnitude(change.passed_ns);
	bool is_known = change.ticks > 0 && sync->slope != 0;
	uint64_t expected = is_known ? slope_rise(sync->slope, (uint64_t)change.ticks) : 0;

	change.is_too_soon =
		change.ticks <= 0 && passed < TOO_SOON_NS && magnitude(change.step_ns) <= doubt;
	if (magnitude(change.step_ns) <= doubt)
		change.step_ns = 0;
	/* Time daemons slew by up to a tenth. */
	change.is_jump = change.ticks <= 0 || change.passed_ns < 0 ||
			 (is_known && distance(expected, passed) > doubt + passed / 8);
	/* The ticks and the wall clock agree: CLOCK_BOOTTIME itself was changed, as when a process
	 * is restored or enters another time namespace. */
	if (is_known && change.step_ns != 0 && change.is_jump &&
	    distance(expected, now->wall_ns - sync->real_ns) <= doubt + expected / 1000)
		change = (struct change){ .passed_ns = change.passed_ns, .ticks = change.ticks };
	else if (change.passed_ns < 0)
		change.step_ns = 0;
	return change;
}

/* The second reading in a row that the slope does not explain. */
static bool rate_is_new(const struct ct_sync *sync, const struct change *change)
{
	return sync->source == CT_CLOCK_COUNTER && change->ticks > 0 && change->passed_ns > 0 &&
	       sync->epoch_count > 1 && sync->epochs[sync->epoch_count - 1].points == 1 &&
	       sync->latest.ticks == point_newest(sync).ticks;
}

static void epoch_drop_oldest(struct ct_sync *sync)
{
	points_remove(sync, 0, sync->epochs[0].points);
	memmove(&sync->epochs[0], &sync->epochs[1],
		(sync->epoch_count - 1) * sizeof sync->epochs[0]);
	sync->epoch_count--;
}

/* last: the last ticks before it that may have been dated; first: the first point of the new epoch;
 * from_ticks: the start of its records; to_ticks: the end of the records of the epoch before. */
static void epoch_begin(struct ct_sync *sync, const struct ct_clock_reading *now,
			const struct change *change, uint64_t last, struct ct_sync_point first,
			uint64_t from_ticks, uint64_t to_ticks)
{
	struct ct_sync_epoch epoch = *epoch_newest(sync);

	if (last > sync->line.ticks)
		point_add(sync, (struct ct_sync_point){ last, line_date(&sync->line, last) });
	epoch_newest(sync)->to_ticks = to_ticks;
	if (sync->epoch_count == CT_SYNC_EPOCHS)
		epoch_drop_oldest(sync);
	epoch.from_ticks = from_ticks;
	epoch.slope = sync->line.slope;
	epoch.points = 0;
	if (change->step_ns != 0) {
		epoch.clock.steps++;
		epoch.clock.total_ns =
			(int64_t)((uint64_t)epoch.clock.total_ns + (uint64_t)change->step_ns);
		epoch.clock.set_at_ns = now->wall_ns;
		epoch.clock.set_back_ns =
			change->step_ns < 0 ? epoch.clock.set_back_ns + magnitude(change->step_ns)
					    : subtract_down_to_0(epoch.clock.set_back_ns,
								 (uint64_t)change->step_ns);
	}
	sync->epochs[sync->epoch_count++] = epoch;
	point_add(sync, first);
	sync->latest = first;
	line_begin(sync, sync->slope);
}

/* The time of the step is not known, so it counts as right after the last reading, or after what
 * may have been dated. */
static void epoch_begin_by_step(struct ct_sync *sync, const struct ct_clock_reading *now,
				const struct change *change, uint64_t dated)
{
	uint64_t last = dated_before(sync, now->ticks, dated);
	struct ct_sync_point first = { last + 1,
				       now->wall_ns - (uint64_t)change->passed_ns +
					       slope_rise(sync->slope, last - sync->latest.ticks) };

	epoch_begin(sync, now, change, last, first, first.ticks, last);
	epoch_continue(sync, now, 0);
}

/* Nothing joins the two readings.  Each record belongs to the reading from whose epoch it can
 * come. */
static void epoch_begin_by_jump(struct ct_sync *sync, const struct ct_clock_reading *now,
				const struct change *change, uint64_t dated)
{
	uint64_t between =
		slope_run(sync->slope, change->passed_ns > 0 ? (uint64_t)change->passed_ns : 0);
	uint64_t last = dated_before(sync, now->ticks, dated);
	struct ct_sync_point first = { now->ticks, now->wall_ns };
	uint64_t from, to;

	if (change->ticks <= 0) { /* reset */
		from = subtract_down_to_0(now->ticks, between);
		to = add_up_to_max(last, between);
	} else if ((uint64_t)change->ticks > between) { /* ahead */
		from = last + (now->ticks - last) / 2 + 1;
		if (now->ticks - from > between)
			from = now->ticks - between;
		to = from - 1;
	} else { /* stood still */
		from = last + 1;
		to = last;
	}
	epoch_begin(sync, now, change, last, first, from, to);
}

/* False when a program has overwritten the struct; the caller then starts it again. */
static bool sync_is_whole(const struct ct_sync *sync)
{
	uint64_t points = 0;

	if (sync->epoch_count == 0 || sync->epoch_count > CT_SYNC_EPOCHS ||
	    sync->point_count > CT_SYNC_POINTS)
		return false;
	for (uint32_t i = 0; i < sync->epoch_count; i++) {
		if (sync->epochs[i].points == 0)
			return false;
		points += sync->epochs[i].points;
	}
	return points == sync->point_count;
}

static void reading_store(struct ct_sync *sync, const struct ct_clock_reading *now)
{
	sync->real_ns = now->wall_ns;
	sync->boot_ns = now->boot_ns;
	sync->width_ns = now->width_ns;
	slope_find(sync);
}

void ct_sync_begin(struct ct_sync *sync, enum ct_clock_source source,
		   const struct ct_clock_reading *now)
{
	memset(sync, 0, sizeof *sync);
	sync->source = source;
	sync->slope = source == CT_CLOCK_COUNTER ? 0 : SLOPE_ONE;
	sync->epoch_count = 1;
	sync->latest = (struct ct_sync_point){ now->ticks, now->wall_ns };
	point_add(sync, sync->latest);
	line_begin(sync, sync->slope);
	reading_store(sync, now);
}

void ct_sync_start(struct ct_sync *sync)
{
	struct ct_clock_reading now = ct_clock_read(ct_clock_source());

	ct_sync_begin(sync, ct_clock_source(), &now);
	sync->why = ct_clock_why();
}

static enum ct_clock_source sync_source(const struct ct_sync *sync)
{
	return sync->source == CT_CLOCK_COUNTER ? CT_CLOCK_COUNTER : CT_CLOCK_MONOTONIC;
}

void ct_sync_add(struct ct_sync *sync, const struct ct_clock_reading *now, uint64_t dated)
{
	struct change change;

	if (!sync_is_whole(sync)) {
		ct_sync_begin(sync, sync_source(sync), now);
		return;
	}
	change = change_find(sync, now);
	if (change.is_too_soon)
		return;
	if (change.is_jump && rate_is_new(sync, &change)) {
		change.is_jump = false;
		sync->slope =
			slope_between((struct ct_sync_point){ 0, 1 },
				      (struct ct_sync_point){ (uint64_t)change.ticks,
							      1 + (uint64_t)change.passed_ns });
	}
	if (change.is_jump)
		epoch_begin_by_jump(sync, now, &change, dated);
	else if (change.step_ns != 0)
		epoch_begin_by_step(sync, now, &change, dated);
	else
		epoch_continue(sync, now, dated);
	reading_store(sync, now);
}

void ct_sync_print_clock(const struct ct_sync *sync, char out[CT_CLOCK_TEXT])
{
	ct_clock_print(sync_source(sync), sync->why, out);
}

uint64_t ct_sync_now(const struct ct_sync *sync)
{
	return ct_clock_ticks_of(sync_source(sync));
}

void ct_sync_update(struct ct_sync *sync, uint64_t dated)
{
	struct ct_clock_reading now = ct_clock_read(sync_source(sync));

	ct_sync_add(sync, &now, dated);
}

/* -----------------------------------------------------------------------------------------------
 * Reading
 */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void ct_sync_copy(const struct ct_sync *sync, struct ct_sync *out)
{
	/* Another process may write to either at any time, so each count is read once. */
	uint32_t epochs =
		least(__atomic_load_n(&sync->epoch_count, __ATOMIC_RELAXED), CT_SYNC_EPOCHS);
	uint32_t points =
		least(__atomic_load_n(&sync->point_count, __ATOMIC_RELAXED), CT_SYNC_POINTS);

	/* Only the used points, because each pass begins with a copy. */
	memcpy(out, sync, offsetof(struct ct_sync, epochs));
	out->epoch_count = epochs;
	out->point_count = points;
	memcpy(out->epochs, sync->epochs, epochs * sizeof out->epochs[0]);
	memcpy(out->points, sync->points, points * sizeof out->points[0]);
}

/* The points of one epoch. */
struct run {
	const struct ct_sync *sync;
	const struct ct_sync_epoch *epoch;
	const struct ct_sync_point *points;
	uint32_t count;
	uint64_t after_last; /* the slope behind the last point */
};

static struct run epoch_run(const struct ct_sync *sync, uint32_t index)
{
	uint32_t epochs = least(sync->epoch_count, CT_SYNC_EPOCHS),
		 left = least(sync->point_count, CT_SYNC_POINTS), first = 0;
	struct run run = { .sync = sync, .epoch = &sync->epochs[index] };

	for (uint32_t i = 0; i < index; i++) {
		first += least(sync->epochs[i].points, left);
		left -= least(sync->epochs[i].points, left);
	}
	run.points = sync->points + first;
	run.count = least(run.epoch->points, left);
	run.after_last = index + 1 < epochs ? sync->epochs[index + 1].slope : sync->line.slope;
	return run;
}

/* The slope before the first point. */
static uint64_t run_first_slope(const struct run *run)
{
	if (run->epoch->slope != 0)
		return run->epoch->slope;
	if (run->sync->source != CT_CLOCK_COUNTER)
		return SLOPE_ONE;
	return run->count > 1 ? slope_between(run->points[0], run->points[1]) : 0;
}

static uint64_t run_last_slope(const struct run *run)
{
	if (run->after_last != 0)
		return run->after_last;
	if (run->count > 1)
		return slope_between(run->points[run->count - 2], run->points[run->count - 1]);
	return run_first_slope(run);
}

/* A point as (from, to): ticks and time, or time and ticks. */
struct pair {
	uint64_t from, to;
};

static struct pair run_pair(const struct run *run, uint32_t index, bool is_wall)
{
	struct ct_sync_point point = run->points[index];

	return is_wall ? (struct pair){ point.wall_ns, point.ticks }
		       : (struct pair){ point.ticks, point.wall_ns };
}

/* Returns the last point that is not above the value; the caller ensures that one exists. */
static uint32_t run_find(const struct run *run, uint64_t value, bool is_wall)
{
	uint32_t low = 0, high = run->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (run_pair(run, middle, is_wall).from <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint64_t run_along(uint64_t slope, uint64_t by, bool is_wall)
{
	return is_wall ? slope_run(slope, by) : slope_rise(slope, by);
}

/* Converts ticks to time; is_wall: time to ticks. */
static uint64_t run_convert(const struct run *run, uint64_t value, bool is_wall)
{
	struct pair a, b;
	uint32_t at;
	wide rise;

	if (run->count == 0)
		return 0;
	a = run_pair(run, 0, is_wall);
	if (value < a.from)
		return subtract_down_to_0(a.to,
					  run_along(run_first_slope(run), a.from - value, is_wall));
	at = run_find(run, value, is_wall);
	a = run_pair(run, at, is_wall);
	if (at + 1 == run->count)
		return add_up_to_max(a.to, run_along(run_last_slope(run), value - a.from, is_wall));
	b = run_pair(run, at + 1, is_wall);
	if (b.from <= a.from || b.to <= a.to || value < a.from)
		return a.to;
	rise = (wide)(value - a.from) * (b.to - a.to);
	/* A time becomes the first of the ticks that have this time. */
	if (is_wall)
		rise += b.from - a.from - 1;
	return add_up_to_max(a.to, (uint64_t)(rise / (b.from - a.from)));
}

/* Returns the epoch of a record with these ticks: the newest that includes them, or else the
 * nearest. */
static uint32_t epoch_of_ticks(const struct ct_sync *sync, uint64_t ticks)
{
	uint32_t found = 0;
	uint64_t nearest = UINT64_MAX;

	for (uint32_t i = least(sync->epoch_count, CT_SYNC_EPOCHS); i-- > 0;) {
		const struct ct_sync_epoch *epoch = &sync->epochs[i];
		uint64_t off = ticks < epoch->from_ticks ? epoch->from_ticks - ticks
			       : ticks > epoch->to_ticks ? ticks - epoch->to_ticks
							 : 0;

		if (off < nearest) {
			nearest = off;
			found = i;
		}
		if (off == 0)
			break;
	}
	return found;
}

uint64_t ct_sync_date(const struct ct_sync *sync, uint64_t ticks,
		      const struct ctrace_clock **out_clock)
{
	static const struct ctrace_clock never_set;
	const struct ct_sync_line *line = &sync->line;
	uint32_t epochs = least(sync->epoch_count, CT_SYNC_EPOCHS), index;
	struct run run;

	if (epochs == 0) {
		*out_clock = &never_set;
		return 0;
	}
	/* Nearly every record of a pass lies between the last two points. */
	if (ticks - line->ticks <= line->span) {
		*out_clock = &sync->epochs[epochs - 1].clock;
		return line->wall_ns +
		       (uint64_t)((wide)(ticks - line->ticks) * line->slope >> SLOPE_BITS);
	}
	index = epoch_of_ticks(sync, ticks);
	*out_clock = &sync->epochs[index].clock;
	run = epoch_run(sync, index);
	return run_convert(&run, ticks, false);
}

void ct_sync_counter(const struct ct_sync *sync, struct ctrace_counter *out)
{
	uint32_t epochs = least(sync->epoch_count, CT_SYNC_EPOCHS);
	struct ct_sync_point first, last = sync->latest;
	struct run run;

	*out = (struct ctrace_counter){ .ticks = last.ticks, .wall_ns = last.wall_ns };
	ct_sync_print_clock(sync, out->clock);
	if (epochs == 0)
		return;
	run = epoch_run(sync, epochs - 1);
	first = run.count > 0 ? run.points[0] : last;
	if (sync->source != CT_CLOCK_COUNTER)
		out->frequency = NS_A_SECOND;
	else if (last.ticks > first.ticks && last.wall_ns > first.wall_ns)
		out->frequency = (uint64_t)(((wide)(last.ticks - first.ticks) * NS_A_SECOND +
					     (last.wall_ns - first.wall_ns) / 2) /
					    (last.wall_ns - first.wall_ns));
	else if (run_last_slope(&run) != 0)
		out->frequency =
			(uint64_t)(((wide)NS_A_SECOND << SLOPE_BITS) / run_last_slope(&run));
}

uint64_t ct_sync_line_end(const struct ct_sync *sync, uint64_t ticks)
{
	uint32_t epochs = least(sync->epoch_count, CT_SYNC_EPOCHS), index, at;
	uint64_t end = UINT64_MAX;
	struct run run;

	if (epochs == 0 ||
	    (ticks >= sync->line.ticks && ticks >= sync->epochs[epochs - 1].from_ticks))
		return UINT64_MAX;
	index = epoch_of_ticks(sync, ticks);
	run = epoch_run(sync, index);
	/* An event between two epochs belongs to the nearer one. */
	if (index + 1 < epochs)
		end = ticks < run.epoch->to_ticks ? run.epoch->to_ticks : ticks + 1;
	if (run.count == 0)
		return end;
	at = ticks < run.points[0].ticks ? 0 : run_find(&run, ticks, false) + 1;
	return at < run.count && run.points[at].ticks < end ? run.points[at].ticks : end;
}

uint64_t ct_sync_wall_ns(const struct ct_sync *sync, uint64_t ticks)
{
	const struct ctrace_clock *clock;

	return ct_sync_date(sync, ticks, &clock);
}

/* -----------------------------------------------------------------------------------------------
 * Time to ticks */

uint64_t ct_sync_ticks(const struct ct_sync *sync, uint64_t wall_ns)
{
	uint32_t epochs = least(sync->epoch_count, CT_SYNC_EPOCHS);
	uint64_t slack = SLACK_NS, end_ns;
	struct run run;

	for (uint32_t i = epochs; i-- > 0; slack = 0) {
		run = epoch_run(sync, i);
		if (run.count == 0 || wall_ns < run.points[0].wall_ns)
			continue;
		end_ns = i + 1 < epochs ? run.points[run.count - 1].wall_ns
					: line_date(&sync->line, sync->latest.ticks);
		if (wall_ns <= add_up_to_max(end_ns, slack))
			return run_convert(&run, wall_ns, true);
	}
	if (epochs == 0)
		return 0;
	/* The clock has never shown this time: it is before the oldest epoch, after the newest, or
	 * skipped by a step. */
	for (uint32_t i = 0; i < epochs; i++) {
		run = epoch_run(sync, i);
		if (run.count == 0)
			continue;
		if (wall_ns < run.points[0].wall_ns)
			return i == 0 ? run_convert(&run, wall_ns, true) : run.points[0].ticks;
	}
	return run.count != 0 ? run_convert(&run, wall_ns, true) : 0;
}

/* -----------------------------------------------------------------------------------------------
 * Shared
 */

void ct_shared_sync_start(struct ct_shared_sync *shared)
{
	shared->version = 0;
	ct_sync_start(&shared->slot[0]);
}

void ct_shared_sync_add(struct ct_shared_sync *shared, const struct ct_clock_reading *now,
			uint64_t dated)
{
	uint32_t version = shared->version;
	struct ct_sync next;

	/* In private memory: the program may overwrite the slots at any time. */
	ct_sync_copy(&shared->slot[version % 2], &next);
	ct_sync_add(&next, now, dated);
	/* Pairs with the acquire fence in ct_shared_sync_copy(): a reader that sees new bytes in
	 * the other slot sees the version that put this one in force. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	ct_sync_copy(&next, &shared->slot[(version + 1) % 2]);
	ct_point("sync.prepared");
	__atomic_store_n(&shared->version, version + 1, __ATOMIC_RELEASE);
}

void ct_shared_sync_update(struct ct_shared_sync *shared, uint64_t dated)
{
	struct ct_clock_reading now =
		ct_clock_read(sync_source(&shared->slot[shared->version % 2]));

	ct_shared_sync_add(shared, &now, dated);
}

void ct_shared_sync_copy(const struct ct_shared_sync *shared, struct ct_sync *out)
{
	/* Only a broken process changes the version so often that no try gets a whole copy. */
	for (int tries = 0; tries < COPY_TRIES; tries++) {
		uint32_t version = __atomic_load_n(&shared->version, __ATOMIC_ACQUIRE);

		ct_sync_copy(&shared->slot[version % 2], out);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&shared->version, __ATOMIC_RELAXED) == version)
			return;
	}
}
