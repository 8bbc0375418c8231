/*
 * test_sync.c - ticks become time: close to the wall clock, whatever happens to the clocks.
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

#define MS 1000000ull
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

static void pass_ms(uint64_t ms)
{
	uint64_t start = ct_clock_mono_ns();

	while (ct_clock_mono_ns() - start < ms * MS)
		;
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
		ct_sync_update(&sync, 0);
		/* As the consumer thread does: at once after it took another point. */
		off += distance(ct_sync_wall_ns(&sync, ticks[i]), wall[i]) > 1000;
	}
	/* And all of them later. */
	for (int i = 0; i < RECORDS; i++)
		off += distance(ct_sync_wall_ns(&sync, ticks[i]), wall[i]) > 1000;
	assert_int_equal(sync.epoch_count, 1);
	/* A machine that takes the processor away between two readings is no fault of the
	 * conversion. */
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
		ct_sync_update(&sync, 0);
	}
	for (uint64_t i = 0; i <= 10000; i++) {
		/* and as far beyond */
		uint64_t ticks = sync.points[0].ticks +
				 (sync.latest.ticks - sync.points[0].ticks) / 5000 * i;
		uint64_t time = ct_sync_wall_ns(&sync, ticks);

		assert_true(time >= last);
		last = time;
	}
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

/* ---- a machine of our own: nothing here reads a clock ---- */

#define RATE 30u

/* What its clocks say after `now` nanoseconds. */
struct machine {
	uint64_t now;
	uint64_t ticks, boot_ns; /* when now is 0 */
	uint64_t wall_ns;
	uint64_t rate; /* ticks in 10 ns */
	struct ct_sync sync;
};

static struct ct_clock_reading machine_read(const struct machine *m)
{
	return (struct ct_clock_reading){ .ticks = m->ticks + m->rate * m->now / 10,
					  .boot_ns = m->boot_ns + m->now,
					  .wall_ns = m->wall_ns + m->now,
					  .width_ns = 50 };
}

static void machine_update(struct machine *m)
{
	struct ct_clock_reading now = machine_read(m);

	ct_sync_add(&m->sync, &now, 0);
}

/* The consumer thread at work for `ns`, in rounds of about a millisecond. */
static void machine_run(struct machine *m, uint64_t ns)
{
	for (uint64_t end = m->now + ns; m->now < end;) {
		m->now += end - m->now < MS ? end - m->now : MS;
		machine_update(m);
	}
}

/* Has run for half a second. */
static struct machine *machine_start(void)
{
	static struct machine m;
	struct ct_clock_reading now;

	m = (struct machine){
		.ticks = 900 * SECOND, .boot_ns = 77 * SECOND, .wall_ns = 1000 * HOUR, .rate = RATE
	};
	now = machine_read(&m);
	ct_sync_begin(&m.sync, CT_CLOCK_COUNTER, &now);
	machine_run(&m, 500 * MS);
	return &m;
}

/* An event now, and when it was. */
struct time_bound {
	uint64_t ticks, wall_ns;
};

static struct time_bound machine_event(const struct machine *m)
{
	struct ct_clock_reading now = machine_read(m);

	return (struct time_bound){ now.ticks, now.wall_ns };
}

static void check_date(const struct machine *m, struct time_bound event)
{
	assert_in_range(distance(ct_sync_wall_ns(&m->sync, event.ticks), event.wall_ns), 0, 2);
}

static const struct ctrace_clock *clock_at(const struct machine *m, struct time_bound event)
{
	const struct ctrace_clock *clock;

	assert_int_equal(ct_sync_date(&m->sync, event.ticks, &clock),
			 ct_sync_wall_ns(&m->sync, event.ticks));
	return clock;
}

/* ---- readings that are a little off ---- */

static uint64_t some(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

/* Events are traced all the time.  Each pass dates most, and leaves some to one of the next ten, as
 * when a destination fails.  Each reading of the wall clock is off by up to off_ns.  Returns how
 * far dates are off at most. */
static uint64_t check_order(uint64_t off_ns, uint64_t most_work_ns)
{
	enum { PASSES = 800, EACH = 4 };
	static struct dated {
		uint64_t ticks, wall_ns, date;
	} events[PASSES * EACH];
	struct machine *m = machine_start();
	uint64_t seed = off_ns, dated = 0, first = m->now, most_off = 0;
	size_t count = 0;

	memset(events, 0, sizeof events);
	for (unsigned pass = 0; pass < PASSES; pass++) {
		struct ct_clock_reading now;

		m->now += 1 + some(&seed, 2 * MS);
		now = machine_read(m);
		now.wall_ns += off_ns - some(&seed, 2 * off_ns + 1);
		ct_sync_add(&m->sync, &now, dated);
		m->now += some(&seed, most_work_ns);
		dated = machine_event(m).ticks;
		for (unsigned i = 1; i <= EACH; i++) {
			uint64_t at = first + (m->now - first) / EACH * i;

			events[count++] = (struct dated){ .ticks = m->ticks + 3 * at,
							  .wall_ns = m->wall_ns + at };
		}
		first = m->now;
		for (size_t i = count > 10 * EACH ? count - 10 * EACH : 0; i < count; i++)
			if (events[i].date == 0 && (i + 10 * EACH == count || some(&seed, 4) > 0))
				events[i].date = ct_sync_wall_ns(&m->sync, events[i].ticks);
	}
	assert_int_equal(m->sync.epoch_count, 1);
	for (size_t i = 1, last = 0; i < count - 10 * EACH; i++) {
		/* A line between two points is rounded once more. */
		assert_true(events[i].date + 2 >= events[last].date);
		if (events[i].date >= events[last].date)
			last = i;
		if (distance(events[i].date, events[i].wall_ns) > most_off)
			most_off = distance(events[i].date, events[i].wall_ns);
	}
	return most_off;
}

static void a_dated_record_is_before_every_later_one(void **state)
{
	(void)state;
	assert_in_range(check_order(0, 20000), 0, 2);
	assert_in_range(check_order(100, 20000), 0, 1000);
	assert_in_range(check_order(5000, 20000), 0, 25000);
	assert_in_range(check_order(100000, MS), 0, MS);
	assert_in_range(check_order(300, 50 * MS), 0, 3000);
}

/* ---- the wall clock is set ---- */

/* Events before, at once after and long after a step, the consumer thread having slept before it.
 */
static void check_step(int64_t by_ns, uint64_t asleep_ns)
{
	struct machine *m = machine_start();
	struct time_bound early, before, after, late;
	struct ct_sync at_step;

	m->now += 10000;
	early = machine_event(m);
	machine_run(m, 3 * MS);
	m->now += 10000;
	before = machine_event(m);
	m->now += 20000;
	machine_update(m); /* the consumer thread has seen it, and sleeps */
	m->now += asleep_ns;
	m->wall_ns += (uint64_t)by_ns;
	m->now += 1000;
	after = machine_event(m);
	m->now += 50000;
	machine_update(m);
	at_step = m->sync;
	check_date(m, early);
	check_date(m, before);
	check_date(m, after);
	machine_run(m, 3 * SECOND);
	late = machine_event(m);
	check_date(m, early);
	check_date(m, before);
	check_date(m, after);
	check_date(m, late);
	m->now += 700000; /* after the latest point */
	check_date(m, machine_event(m));
	assert_int_equal(clock_at(m, before)->steps, 0);
	assert_int_equal(clock_at(m, before)->set_back_ns, 0);
	assert_int_equal(clock_at(m, after)->steps, 1);
	assert_int_equal(clock_at(m, late)->steps, 1);
	assert_int_equal(clock_at(m, late)->total_ns, by_ns);
	assert_int_equal(clock_at(m, late)->set_back_ns, by_ns < 0 ? -by_ns : 0);
	assert_int_equal(clock_at(m, late)->set_at_ns, after.wall_ns + 50000);
	assert_int_equal(m->sync.epoch_count, 2);
	assert_int_equal(at_step.epoch_count, 2);
}

static void a_step_bends_no_date(void **state)
{
	(void)state;
	check_step((int64_t)HOUR, 0);
	check_step(-(int64_t)HOUR, 0);
	check_step((int64_t)(2 * MS), 0);
	check_step(-(int64_t)(2 * MS), 0);
}

static void a_step_after_a_long_sleep_bends_no_date(void **state)
{
	(void)state;
	check_step((int64_t)HOUR, 10 * HOUR);
	check_step(-(int64_t)HOUR, 10 * HOUR);
	check_step(-(int64_t)HOUR, HOUR);
}

static void time_with_what_it_was_set_back_never_goes_back(void **state)
{
	struct machine *m = machine_start();
	uint64_t last = 0, first_ticks = machine_event(m).ticks;
	const struct ctrace_clock *clock;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		machine_run(m, 50 * MS);
		m->wall_ns += i % 3 == 0 ? HOUR : 0 - HOUR;
	}
	machine_run(m, 50 * MS);
	for (uint64_t ticks = first_ticks; ticks < machine_event(m).ticks; ticks += 54321) {
		uint64_t time = ct_sync_date(&m->sync, ticks, &clock) + clock->set_back_ns;

		assert_true(time >= last);
		last = time;
	}
	assert_int_equal(clock->steps, 12);
	assert_int_equal(clock->total_ns, -4 * (int64_t)HOUR);
}

static void slewing_is_no_step(void **state)
{
	struct machine *m = machine_start();
	struct time_bound before = machine_event(m);

	(void)state;
	/* The kernel slews CLOCK_BOOTTIME alike. */
	m->now += HOUR;
	m->wall_ns += HOUR / 2000;
	m->boot_ns += HOUR / 2000;
	machine_update(m);
	assert_int_equal(m->sync.epoch_count, 1);
	/* As fast as any daemon does. */
	for (unsigned i = 0; i < 100; i++) {
		m->now += 100 * MS;
		m->wall_ns += 10 * MS;
		m->boot_ns += 10 * MS;
		machine_update(m);
	}
	assert_int_equal(clock_at(m, machine_event(m))->steps, 0);
	check_date(m, before);
	check_date(m, machine_event(m));
}

static void less_than_a_step_back_stands_still(void **state)
{
	struct machine *m = machine_start();
	uint64_t last = ct_sync_wall_ns(&m->sync, machine_event(m).ticks);

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		m->wall_ns -= 800000;
		for (unsigned j = 0; j < 10; j++) {
			uint64_t time;

			m->now += 100000;
			machine_update(m);
			time = ct_sync_wall_ns(&m->sync, machine_event(m).ticks);
			assert_true(time >= last);
			assert_in_range(distance(time, machine_event(m).wall_ns), 0, MS);
			last = time;
		}
	}
	assert_int_equal(clock_at(m, machine_event(m))->steps, 0);
}

/* As in a process that is restored, or a writer that lives in another time namespace. */
static void a_change_of_the_reference_is_no_step(void **state)
{
	struct machine *m = machine_start();
	struct time_bound before = machine_event(m);

	(void)state;
	m->now += 10 * MS;
	m->boot_ns += HOUR;
	machine_run(m, 10 * MS);
	m->boot_ns -= 2 * HOUR / 100;
	machine_run(m, 10 * MS);
	check_date(m, before);
	check_date(m, machine_event(m));
	assert_int_equal(clock_at(m, machine_event(m))->steps, 0);
}

/* ---- the ticks are ---- */

/* `by` ticks, while all stood still for asleep_ns. */
static void check_jump(uint64_t by, uint64_t asleep_ns)
{
	struct machine *m = machine_start();
	struct time_bound early = machine_event(m), before, after;

	machine_run(m, 10 * MS);
	m->now += 10000;
	before = machine_event(m); /* not seen by the consumer thread yet */
	m->ticks += by;
	m->boot_ns += asleep_ns;
	m->wall_ns += asleep_ns;
	m->now += 20000;
	after = machine_event(m);
	m->now += 1000;
	machine_update(m);
	check_date(m, early);
	check_date(m, after);
	/* Unless the ticks only stood still they tell which is which. */
	if (by != 0)
		check_date(m, before);
	machine_run(m, MS);
	check_date(m, machine_event(m));
	machine_run(m, 2 * SECOND);
	check_date(m, early);
	check_date(m, after);
	check_date(m, machine_event(m));
	assert_int_equal(m->sync.epoch_count, 2);
	assert_int_equal(clock_at(m, machine_event(m))->steps, 0);
}

static void ticks_that_go_back_begin_anew_at_once(void **state)
{
	(void)state;
	check_jump(0 - 900 * SECOND, 0);        /* to 0: a reset */
	check_jump(0 - 900 * SECOND, 8 * HOUR); /* the same in a long sleep */
	check_jump(0 - 300 * SECOND, SECOND);
}

static void ticks_that_jump_ahead_begin_anew(void **state)
{
	(void)state;
	check_jump(HOUR, 0);
	check_jump(HOUR, SECOND);
}

static void ticks_that_stand_still_in_a_sleep_begin_anew(void **state)
{
	(void)state;
	check_jump(0, 8 * HOUR);
}

static void a_sleep_that_the_monotonic_clock_leaves_out_is_no_step(void **state)
{
	struct ct_clock_reading now = {
		.ticks = SECOND, .boot_ns = SECOND, .wall_ns = HOUR, .width_ns = 50
	};
	struct ct_sync sync;

	(void)state;
	ct_sync_begin(&sync, CT_CLOCK_MONOTONIC, &now);
	now.ticks += MS;
	now.boot_ns += MS + 8 * HOUR;
	now.wall_ns += MS + 8 * HOUR;
	ct_sync_add(&sync, &now, 0);
	assert_int_equal(sync.epoch_count, 2);
	assert_int_equal(sync.epochs[1].clock.steps, 0);
	assert_int_equal(ct_sync_wall_ns(&sync, SECOND), HOUR);
	assert_int_equal(ct_sync_wall_ns(&sync, SECOND + MS - 1000), now.wall_ns - 1000);
	assert_int_equal(ct_sync_wall_ns(&sync, SECOND + MS + 1000), now.wall_ns + 1000);
}

/* ---- a guest moves to another host, or is restored from a snapshot ---- */

/* The counter goes on from another value, `by` ticks away, at another rate; all clocks stood still
 * for asleep_ns.  The consumer thread reads the clocks every pause_ns, and dates events after each
 * reading.  They stay in order, and their dates are right soon after the move. */
static void check_move(uint64_t by, uint64_t rate, uint64_t pause_ns, uint64_t asleep_ns)
{
	struct machine *m = machine_start();
	struct time_bound before = machine_event(m);
	uint64_t last = 0, dated = 0, most_off = 0;
	/* A slope is that of 100 ms at least. */
	uint64_t settled_ns = 4 * pause_ns + 200 * MS, epochs;
	const struct ct_sync_epoch *newest;

	m->ticks += by + m->rate * m->now / 10 - rate * m->now / 10;
	m->rate = rate;
	m->boot_ns += asleep_ns;
	m->wall_ns += asleep_ns;
	for (uint64_t end = m->now + settled_ns; m->now < end;) {
		struct ct_clock_reading now;

		m->now += pause_ns;
		now = machine_read(m);
		ct_sync_add(&m->sync, &now, dated);
		for (unsigned i = 0; i < 3; i++) {
			struct time_bound event = machine_event(m);
			uint64_t date = ct_sync_wall_ns(&m->sync, event.ticks);

			assert_true(date >= last);
			last = date;
			dated = event.ticks;
			if (distance(date, event.wall_ns) > most_off)
				most_off = distance(date, event.wall_ns);
			m->now += 1000;
		}
	}
	assert_in_range(most_off, 0, 200 * MS);
	epochs = m->sync.epoch_count;
	assert_in_range(epochs, 1, 3);
	for (unsigned i = 0; i < 40; i++) {
		machine_run(m, pause_ns);
		assert_in_range(distance(ct_sync_wall_ns(&m->sync, machine_event(m).ticks),
					 machine_event(m).wall_ns),
				0, 1000);
	}
	assert_int_equal(m->sync.epoch_count, epochs);
	/* Ticks that the counter has shown twice, or is about to, belong to the newer epoch. */
	newest = &m->sync.epochs[epochs - 1];
	if (epochs == 1 || before.ticks < newest->from_ticks || before.ticks > newest->to_ticks)
		check_date(m, before);
	assert_int_equal(clock_at(m, machine_event(m))->steps, 0);
}

static void a_counter_with_another_value_and_rate_dates_right_soon(void **state)
{
	static const uint64_t jumps[] = { 0, HOUR, 0 - 300 * SECOND, 0 - 895 * SECOND },
			      rates[] = { RATE, 29, 33, 36, 20, 60, 10, 100 },
			      pauses[] = { MS, 5 * MS, 100 * MS, SECOND, 60 * SECOND },
			      sleeps[] = { 0, SECOND, 8 * HOUR };

	(void)state;
	for (size_t jump = 0; jump < CT_COUNT(jumps); jump++)
		for (size_t rate = 0; rate < CT_COUNT(rates); rate++)
			for (size_t pause = 0; pause < CT_COUNT(pauses); pause++)
				for (size_t sleep = 0; sleep < CT_COUNT(sleeps); sleep++)
					check_move(jumps[jump], rates[rate], pauses[pause],
						   sleeps[sleep]);
}

static void readings_of_two_processors_at_once_say_nothing(void **state)
{
	struct machine *m = machine_start();
	struct ct_clock_reading now = machine_read(m);

	(void)state;
	now.ticks -= 30;
	now.wall_ns += 10;
	now.boot_ns += 10;
	ct_sync_add(&m->sync, &now, 0);
	assert_int_equal(m->sync.epoch_count, 1);
	check_date(m, machine_event(m));
}

/* ---- history ---- */

/* The wall clock's rate wanders by 20 ppm and back in ten minutes, as in a warm room: what it is
 * ahead by after `ns`. */
static uint64_t wander(uint64_t ns)
{
	uint64_t half = 300 * SECOND, in = ns % (2 * half);

	return in < half ? in / 50000 : (2 * half - in) / 50000;
}

static void the_past_is_dated_by_near_points(void **state)
{
	struct machine *m = machine_start();
	uint64_t base = m->wall_ns, boot = m->boot_ns, end = 3 * HOUR;
	static const struct {
		uint64_t age, off;
	} limits[] = { { 5 * SECOND, 30000 },
		       { 60 * SECOND, 200000 },
		       { 1000 * SECOND, 2 * MS },
		       { 3 * HOUR, 6 * MS } };
	size_t limit = CT_COUNT(limits);
	uint64_t ticks_last = 0, last = 0;

	(void)state;
	while (m->now < end) {
		m->now += 100 * MS;
		m->wall_ns = base + wander(m->now);
		m->boot_ns = boot + wander(m->now);
		machine_update(m);
	}
	assert_int_equal(m->sync.epoch_count, 1);
	assert_true(m->sync.point_count >= CT_SYNC_POINTS / 2);
	for (uint64_t at = SECOND; at < end; at += 77 * MS + 7) {
		uint64_t ticks = m->ticks + 3 * at, wall = base + at + wander(at),
			 date = ct_sync_wall_ns(&m->sync, ticks);

		while (limit > 0 && end - at <= limits[limit - 1].age)
			limit--;
		assert_true(limit < CT_COUNT(limits));
		assert_in_range(distance(date, wall), 0, limits[limit].off);
		/* Without seams. */
		assert_true(last == 0 ||
			    (date >= last && date - last <= (ticks - ticks_last) / 3 + 100000));
		last = date;
		ticks_last = ticks;
	}
}

static void the_ends_of_an_epoch_are_never_thinned_out(void **state)
{
	struct machine *m = machine_start();
	struct time_bound before, after;

	(void)state;
	before = machine_event(m);
	m->now += 1000;
	machine_update(m);
	m->wall_ns -= HOUR;
	m->now += 1000;
	after = machine_event(m);
	for (unsigned i = 0; i < 20000; i++) {
		m->now += 100 * MS;
		machine_update(m);
		if (i % 1000 == 0) {
			check_date(m, before);
			check_date(m, after);
		}
	}
	check_date(m, before);
	check_date(m, after);
}

static void after_many_steps_the_newest_are_kept(void **state)
{
	struct machine *m = machine_start();
	struct time_bound events[3 * CT_SYNC_EPOCHS];

	(void)state;
	for (unsigned i = 0; i < CT_COUNT(events); i++) {
		m->wall_ns += i % 2 == 0 ? HOUR : 0 - HOUR;
		machine_run(m, i % 7 * 50 * MS + MS);
		events[i] = machine_event(m);
	}
	assert_int_equal(m->sync.epoch_count, CT_SYNC_EPOCHS);
	for (unsigned i = CT_COUNT(events) - CT_SYNC_EPOCHS; i < CT_COUNT(events); i++) {
		check_date(m, events[i]);
		assert_int_equal(clock_at(m, events[i])->steps, i + 1);
	}
	/* What is older is dated by the oldest. */
	assert_true(ct_sync_wall_ns(&m->sync, events[0].ticks) <=
		    events[CT_COUNT(events) - CT_SYNC_EPOCHS].wall_ns);
}

static void what_was_scribbled_over_is_begun_anew(void **state)
{
	struct machine *m = machine_start();

	(void)state;
	m->sync.epoch_count = 0x7FFFFFFF;
	machine_run(m, 5 * MS);
	check_date(m, machine_event(m));
	m->sync.epochs[0].points = 200;
	machine_run(m, 5 * MS);
	check_date(m, machine_event(m));
	m->sync.epochs[0].points = 0;
	machine_run(m, 5 * MS);
	check_date(m, machine_event(m));
}

/* ---- and back ---- */

static void a_time_becomes_the_ticks_that_become_that_time(void **state)
{
	struct machine *m = machine_start();
	uint64_t start = m->wall_ns, end, last = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		m->wall_ns += i * 1000;
		m->boot_ns += i * 1000;
		machine_run(m, 100 * MS);
	}
	end = machine_event(m).wall_ns;
	assert_int_equal(m->sync.epoch_count, 1);
	/* From before the first point to beyond the latest. */
	for (uint64_t wall = start - 200 * MS; wall < end + 200 * MS; wall += 77777) {
		uint64_t ticks = ct_sync_ticks(&m->sync, wall);

		assert_true(ticks >= last);
		last = ticks;
		assert_in_range(distance(ct_sync_wall_ns(&m->sync, ticks), wall), 0, 1);
	}
}

static void a_time_that_came_twice_is_the_later_one(void **state)
{
	struct machine *m = machine_start();
	struct time_bound before = machine_event(m), first, second;

	(void)state;
	machine_run(m, 100 * MS);
	first = machine_event(m);
	machine_run(m, 5 * SECOND);
	m->wall_ns -= 5 * SECOND;
	machine_run(m, SECOND);
	second = machine_event(m);
	assert_in_range(distance(ct_sync_ticks(&m->sync, before.wall_ns), before.ticks), 0, 6);
	assert_true(first.wall_ns < second.wall_ns);
	assert_in_range(distance(ct_sync_ticks(&m->sync, second.wall_ns), second.ticks), 0, 6);
	assert_true(ct_sync_ticks(&m->sync, first.wall_ns + 10 * MS) > first.ticks + 3 * SECOND);
}

static void a_time_that_was_left_out_is_when_the_clock_was_set(void **state)
{
	struct machine *m = machine_start();
	struct time_bound before = machine_event(m), after;

	(void)state;
	m->wall_ns += HOUR;
	machine_run(m, 10 * MS);
	after = machine_event(m);
	assert_true(ct_sync_ticks(&m->sync, before.wall_ns + HOUR / 2) > before.ticks);
	assert_true(ct_sync_ticks(&m->sync, before.wall_ns + HOUR / 2) < after.ticks);
}

static void without_a_slope_a_time_becomes_the_only_point(void **state)
{
	struct ct_clock_reading now = { .ticks = 1000, .wall_ns = 5000 };
	struct ct_sync sync;

	(void)state;
	ct_sync_begin(&sync, CT_CLOCK_COUNTER, &now);
	assert_int_equal(ct_sync_ticks(&sync, 4000), 1000);
	assert_int_equal(ct_sync_ticks(&sync, 6000), 1000);
	ct_sync_begin(&sync, CT_CLOCK_MONOTONIC, &now); /* whose slope is known */
	assert_int_equal(ct_sync_ticks(&sync, 4500), 500);
	assert_int_equal(ct_sync_ticks(&sync, 4000), 0);
	assert_int_equal(ct_sync_ticks(&sync, 3999), 0);
	assert_int_equal(ct_sync_ticks(&sync, 6000), 2000);
	memset(&sync, 0, sizeof sync);
	assert_int_equal(ct_sync_ticks(&sync, 12345), 0);
}

static void a_real_clock_s_time_comes_back(void **state)
{
	struct ct_sync sync;

	(void)state;
	ct_sync_start(&sync);
	for (int i = 0; i < 300; i++) {
		pass_ms(1);
		ct_sync_update(&sync, 0);
	}
	for (uint64_t wall = sync.points[0].wall_ns - 500 * MS;
	     wall < sync.latest.wall_ns + 500 * MS; wall += 12345)
		assert_true(distance(ct_sync_wall_ns(&sync, ct_sync_ticks(&sync, wall)), wall) <=
			    1);
}

static void hostile_points_give_some_time_and_no_crash(void **state)
{
	static struct ct_sync sync, copy;
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		unsigned char *bytes = (unsigned char *)&sync;
		struct ct_clock_reading now;

		for (size_t i = 0; i < sizeof sync; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[i] = (seed & 0x300) == 0 ? 0xFF : (unsigned char)seed;
		}
		/* Counts that let the rest be looked at. */
		if (round % 2 == 0) {
			sync.epoch_count = 1 + seed % CT_SYNC_EPOCHS;
			sync.point_count = sync.epoch_count * (CT_SYNC_POINTS / CT_SYNC_EPOCHS);
			for (uint32_t i = 0; i < CT_SYNC_EPOCHS; i++)
				sync.epochs[i].points = CT_SYNC_POINTS / CT_SYNC_EPOCHS;
		}
		ct_sync_copy(&sync, &copy);
		now = (struct ct_clock_reading){ seed, seed * 3, seed * 7, seed % 1000 };
		for (unsigned i = 0; i < 3; i++) {
			(void)ct_sync_wall_ns(&sync, seed);
			(void)ct_sync_wall_ns(&copy, copy.latest.ticks);
			(void)ct_sync_wall_ns(&sync, 0);
			(void)ct_sync_wall_ns(&sync, UINT64_MAX);
			(void)ct_sync_ticks(&sync, seed);
			(void)ct_sync_ticks(&sync, sync.latest.wall_ns);
			(void)ct_sync_ticks(&copy, 0);
			(void)ct_sync_ticks(&sync, UINT64_MAX);
			ct_sync_add(&sync, &now, 0);
			now.ticks += seed % 7 == 0 ? seed : 1000000;
			now.wall_ns += seed % 5 == 0 ? seed : 333333;
			now.boot_ns += seed % 3 == 0 ? seed : 333333;
		}
	}
}

/* ---- shared ---- */

static struct ct_shared_sync *shared;

/* Ticks, time and CLOCK_BOOTTIME of test readings are equal. */
static struct ct_clock_reading twins(uint64_t value)
{
	return (struct ct_clock_reading){ .ticks = value, .wall_ns = value, .boot_ns = value };
}

static bool is_whole_copy(const struct ct_sync *copy)
{
	bool is_whole = copy->latest.ticks == copy->latest.wall_ns &&
			copy->real_ns == copy->latest.wall_ns && copy->epoch_count == 1 &&
			copy->epochs[0].points == copy->point_count;

	for (uint32_t i = 0; i < copy->point_count; i++)
		is_whole = is_whole && copy->points[i].ticks == copy->points[i].wall_ns;
	return is_whole;
}

static void shared_make(void)
{
	struct ct_clock_reading now = twins(SECOND);

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(shared != MAP_FAILED);
	ct_sync_begin(&shared->slot[0], CT_CLOCK_MONOTONIC, &now);
}

static void a_copy_is_consistent_while_the_writer_goes_on(void **state)
{
	unsigned bad = 0;
	int status;
	pid_t writer;

	(void)state;
	shared_make();
	writer = fork();
	if (writer == 0) {
		/* Each reading is a stored point, as fast as can be. */
		for (uint64_t i = 1;; i++) {
			struct ct_clock_reading now = twins(SECOND + i * 100 * MS);

			ct_shared_sync_add(shared, &now, 0);
		}
	}
	assert_true(writer > 0);
	for (int i = 0; i < 30000; i++) {
		struct ct_sync copy;

		ct_shared_sync_copy(shared, &copy);
		bad += !is_whole_copy(&copy);
	}
	assert_int_equal(kill(writer, SIGKILL), 0);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(bad, 0);
	(void)munmap(shared, sizeof *shared);
}

static unsigned looks;

static void look_in_the_middle(const char *name)
{
	struct ct_sync copy;

	if (strcmp(name, "sync.prepared") != 0)
		return;
	memset(&copy, 0, sizeof copy);
	ct_shared_sync_copy(shared, &copy);
	assert_true(is_whole_copy(&copy));
	assert_int_equal(copy.latest.ticks, (10 + looks) * SECOND);
	looks++;
}

/* As when it is descheduled there, or died there. */
static void a_writer_in_the_middle_hides_nothing_from_a_reader(void **state)
{
	(void)state;
	shared_make();
	looks = 0;
	for (uint64_t i = 0; i < 5; i++) {
		struct ct_clock_reading now = twins((10 + i) * SECOND);

		if (i == 1)
			ct_point_set(look_in_the_middle);
		ct_shared_sync_add(shared, &now, 0);
	}
	ct_point_set(NULL);
	assert_int_equal(looks, 4);
	(void)munmap(shared, sizeof *shared);
}

static void what_a_dead_writer_left_half_made_is_written_over(void **state)
{
	struct ct_clock_reading now = twins(2 * SECOND);
	struct ct_sync copy;

	(void)state;
	shared_make();
	memset(&shared->slot[1], 0xA5, sizeof shared->slot[1]);
	ct_shared_sync_add(shared, &now, 0);
	ct_shared_sync_copy(shared, &copy);
	assert_true(is_whole_copy(&copy));
	assert_int_equal(copy.latest.ticks, 2 * SECOND);
	ct_shared_sync_start(shared);
	ct_shared_sync_update(shared, 0);
	ct_shared_sync_copy(shared, &copy);
	assert_int_equal(copy.source, ct_clock_source());
	assert_int_equal(copy.epoch_count, 1);
	(void)munmap(shared, sizeof *shared);
}

/* ---- for viewers and for many records at once ---- */

static void one_line_is_that_since_the_clock_was_set(void **state)
{
	struct machine *m = machine_start();
	struct ctrace_counter counter;
	struct ct_sync sync;
	struct ct_clock_reading now;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		ct_sync_counter(&m->sync, &counter);
		assert_int_equal(counter.ticks, machine_event(m).ticks);
		assert_int_equal(counter.wall_ns, machine_event(m).wall_ns);
		assert_in_range(counter.frequency, 3 * SECOND - 10, 3 * SECOND + 10);
		m->wall_ns += HOUR;
		machine_run(m, SECOND);
	}
	now = machine_read(m);
	ct_sync_begin(&sync, CT_CLOCK_MONOTONIC, &now);
	ct_sync_counter(&sync, &counter);
	assert_int_equal(counter.frequency, SECOND); /* these ticks are nanoseconds */
	ct_sync_begin(&sync, CT_CLOCK_COUNTER, &now);
	ct_sync_counter(&sync, &counter);
	assert_int_equal(counter.ticks, now.ticks);
	assert_int_equal(counter.frequency, 0); /* one point is no line */
	memset(&sync, 0, sizeof sync);
	memset(&counter, 0xA5, sizeof counter);
	ct_sync_counter(&sync, &counter);
	assert_int_equal(counter.frequency, 0);
	assert_int_equal(counter.ticks, 0);
}

static void a_line_ends_at_the_next_point_and_where_the_clock_was_set(void **state)
{
	struct machine *m = machine_start();
	const struct ct_sync_point *points = m->sync.points;
	struct time_bound before;
	struct ct_sync none;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		m->wall_ns += 2000;
		m->boot_ns += 2000;
		machine_run(m, 10 * MS);
	}
	assert_true(m->sync.point_count > 4);
	for (uint32_t i = 0; i + 1 < m->sync.point_count; i++) {
		assert_int_equal(ct_sync_line_end(&m->sync, points[i].ticks), points[i + 1].ticks);
		assert_int_equal(ct_sync_line_end(&m->sync, points[i + 1].ticks - 1),
				 points[i + 1].ticks);
	}
	assert_int_equal(ct_sync_line_end(&m->sync, points[0].ticks - 1), points[0].ticks);
	assert_true(ct_sync_line_end(&m->sync, m->sync.latest.ticks) == UINT64_MAX);
	before = machine_event(m);
	m->wall_ns += HOUR;
	machine_run(m, SECOND);
	assert_int_equal(m->sync.epoch_count, 2);
	assert_in_range(ct_sync_line_end(&m->sync, before.ticks), before.ticks + 1,
			m->sync.epochs[1].from_ticks);
	/* Between two epochs each event is asked for alone. */
	assert_int_equal(ct_sync_line_end(&m->sync, m->sync.epochs[0].to_ticks),
			 m->sync.epochs[0].to_ticks + 1);
	memset(&none, 0, sizeof none);
	assert_true(ct_sync_line_end(&none, 12345) == UINT64_MAX);
}

/* Also when the process's own source is the other. */
static void now_is_read_from_the_source_of_the_points(void **state)
{
	static const enum ct_clock_source sources[] = { CT_CLOCK_MONOTONIC, CT_CLOCK_COUNTER };
	struct ct_clock_reading reading;
	struct ct_sync sync;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sources); i++) {
		uint64_t before, now;

		reading = ct_clock_read(sources[i]);
		ct_sync_begin(&sync, sources[i], &reading);
		before = ct_clock_ticks_of(sources[i]);
		now = ct_sync_now(&sync);
		assert_in_range(now, before, ct_clock_ticks_of(sources[i]));
	}
}

static void the_points_say_which_clock_and_why(void **state)
{
	const struct ct_clock_reading now = twins(SECOND);
	char text[CT_CLOCK_TEXT];
	struct ct_sync sync;

	(void)state;
	ct_sync_begin(&sync, CT_CLOCK_MONOTONIC, &now);
	sync.why = CT_CLOCK_IS_SET;
	ct_sync_print_clock(&sync, text);
	assert_string_equal(text, "CLOCK_MONOTONIC: ctrace.clock says so");
	ct_sync_begin(&sync, CT_CLOCK_COUNTER, &now);
	sync.why = CT_CLOCK_IS_KERNELS;
	ct_sync_print_clock(&sync, text);
	assert_non_null(strstr(text, ": the kernel keeps time by it"));
}

int test_sync(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_dated_within_a_microsecond),
		cmocka_unit_test(time_never_goes_back_as_ticks_rise),
		cmocka_unit_test(a_dated_record_is_before_every_later_one),
		cmocka_unit_test(a_step_bends_no_date),
		cmocka_unit_test(a_step_after_a_long_sleep_bends_no_date),
		cmocka_unit_test(time_with_what_it_was_set_back_never_goes_back),
		cmocka_unit_test(slewing_is_no_step),
		cmocka_unit_test(less_than_a_step_back_stands_still),
		cmocka_unit_test(a_change_of_the_reference_is_no_step),
		cmocka_unit_test(ticks_that_go_back_begin_anew_at_once),
		cmocka_unit_test(ticks_that_jump_ahead_begin_anew),
		cmocka_unit_test(ticks_that_stand_still_in_a_sleep_begin_anew),
		cmocka_unit_test(a_sleep_that_the_monotonic_clock_leaves_out_is_no_step),
		cmocka_unit_test(a_counter_with_another_value_and_rate_dates_right_soon),
		cmocka_unit_test(readings_of_two_processors_at_once_say_nothing),
		cmocka_unit_test(the_past_is_dated_by_near_points),
		cmocka_unit_test(the_ends_of_an_epoch_are_never_thinned_out),
		cmocka_unit_test(after_many_steps_the_newest_are_kept),
		cmocka_unit_test(what_was_scribbled_over_is_begun_anew),
		cmocka_unit_test(a_fast_first_record_is_dated_by_the_only_point),
		cmocka_unit_test(a_time_becomes_the_ticks_that_become_that_time),
		cmocka_unit_test(a_real_clock_s_time_comes_back),
		cmocka_unit_test(a_time_that_came_twice_is_the_later_one),
		cmocka_unit_test(a_time_that_was_left_out_is_when_the_clock_was_set),
		cmocka_unit_test(without_a_slope_a_time_becomes_the_only_point),
		cmocka_unit_test(hostile_points_give_some_time_and_no_crash),
		cmocka_unit_test(one_line_is_that_since_the_clock_was_set),
		cmocka_unit_test(a_line_ends_at_the_next_point_and_where_the_clock_was_set),
		cmocka_unit_test(a_copy_is_consistent_while_the_writer_goes_on),
		cmocka_unit_test(a_writer_in_the_middle_hides_nothing_from_a_reader),
		cmocka_unit_test(what_a_dead_writer_left_half_made_is_written_over),
		cmocka_unit_test(now_is_read_from_the_source_of_the_points),
		cmocka_unit_test(the_points_say_which_clock_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
