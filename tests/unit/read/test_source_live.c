/*
 * test_source_live.c - all live processes are followed: those that are there, that come and that
 * go, their events in order of time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "live_fixture.h"

#include <poll.h>

#define FOR_EVER ((uint64_t)3600 * 1000000000u)

static struct ct_live *live;

static void open_live(uint64_t hold_ns, bool from_start)
{
	const struct ct_live_options options = { .hold_ns = hold_ns, .from_start = from_start };

	assert_int_equal(ct_live_open(&options, &live), CTRACE_OK);
}

/* The next event's number, of all that have come; UINT32_MAX when there is none. */
static uint32_t next_number(pid_t *out_pid)
{
	struct ctrace_event event;

	if (!ct_live_next(live, true, &event, NULL))
		return UINT32_MAX;
	assert_string_equal(event.component, "MF.RTS");
	assert_int_equal(event.component_size, 6);
	assert_int_equal(event.level, CTRACE_WARN);
	assert_int_equal(event.tid, 99);
	assert_int_equal(event.item_count, 1);
	assert_memory_equal(event.items[0].data, "text", 4);
	if (out_pid != NULL)
		*out_pid = (pid_t)event.pid;
	return event.event_id;
}

static void merged_by_time(void **state)
{
	struct subject a, b;
	pid_t pid = 0;

	(void)state;
	subject_start(&a, "A");
	subject_start(&b, "B");
	tell(&b, (struct message){ .order = RING });
	tell_put(&a, 0, 1000, 10);
	open_live(FOR_EVER, false);
	assert_false(ct_live_look(live));
	for (uint32_t i = 0; i < 300; i += 3) {
		tell_put(&b, 1, i, 1);
		tell_put(&a, 0, i + 1, 1);
		tell_put(&b, 0, i + 2, 1);
		if (i % 21 == 0)
			(void)ct_live_look(live);
	}
	(void)ct_live_look(live);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(next_number(&pid), i);
		assert_int_equal(pid, i % 3 == 1 ? a.pid : b.pid);
	}
	assert_int_equal(next_number(NULL), UINT32_MAX);
	ct_live_close(live);
	subject_end(&a, true);
	subject_end(&b, true);
}

static void held_for_earlier_ones(void **state)
{
	struct ctrace_event event;
	struct subject s;

	(void)state;
	subject_start(&s, "A");
	open_live(FOR_EVER, false);
	tell_put(&s, 0, 1, 2);
	assert_true(ct_live_look(live));
	assert_false(ct_live_next(live, false, &event, NULL));
	assert_int_equal(next_number(NULL), 1); /* asked for whatever waits */
	assert_false(ct_live_look(live));
	assert_int_equal(next_number(NULL), 2);
	ct_live_close(live);
	/* A hold that is over at the next look. */
	open_live(1000000, false);
	tell_put(&s, 0, 3, 1);
	while (!ct_live_next(live, false, &event, NULL))
		(void)ct_live_look(live);
	assert_int_equal(event.event_id, 3);
	assert_true(ct_clock_wall_ns() - event.time_ns >= 1000000);
	ct_live_close(live);
	subject_end(&s, true);
}

static void from_the_start(void **state)
{
	struct subject s;

	(void)state;
	subject_start(&s, "A");
	tell_put(&s, 0, 1, 3);
	open_live(0, true);
	(void)ct_live_look(live);
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(next_number(NULL), i);
	assert_int_equal(next_number(NULL), UINT32_MAX);
	ct_live_close(live);
	subject_end(&s, true);
}

static void processes_that_come(void **state)
{
	struct pollfd news;
	struct subject s;

	(void)state;
	open_live(0, false);
	assert_false(ct_live_look(live));
	subject_start(&s, "A");
	tell_put(&s, 0, 1, 3);
	news = (struct pollfd){ .fd = ct_live_fd(live), .events = POLLIN };
	assert_int_equal(poll(&news, 1, 10000), 1);
	assert_true(ct_live_look(live));
	assert_int_equal(poll(&news, 1, 0), 0);
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(next_number(NULL), i);
	ct_live_close(live);
	subject_end(&s, true);
}

static void processes_that_go(void **state)
{
	unsigned files = count_open_files();
	struct ct_live_totals totals;
	struct subject a, b;

	(void)state;
	subject_start(&a, "A");
	subject_start(&b, "B");
	open_live(0, false);
	(void)ct_live_look(live);
	ct_live_count(live, &totals);
	assert_int_equal(totals.processes, 2);
	tell_put(&a, 0, 1, 3);
	tell(&a, (struct message){ .order = LOSE, .count = 2 });
	subject_end(&a, true);
	tell_put(&b, 0, 4, 3);
	subject_end(&b, false);
	/* Nothing is lost of either, one without its directory and one with. */
	(void)ct_live_look(live);
	for (uint32_t i = 1; i <= 6; i++)
		assert_int_equal(next_number(NULL), i);
	/* Their files are closed as soon as it is seen that they have ended. */
	for (uint64_t until = ct_clock_mono_ns() + 10000000000u;
	     count_open_files() > files + 1 && ct_clock_mono_ns() < until;)
		(void)ct_live_look(live);
	assert_int_equal(count_open_files(), files + 1); /* inotify's */
	assert_int_equal(next_number(NULL), UINT32_MAX);
	ct_live_count(live, &totals);
	assert_int_equal(totals.lost_events, 4);
	assert_int_equal(totals.missed_bytes + totals.damaged_bytes, 0);
	assert_int_equal(totals.processes, 0);
	ct_live_close(live);
	assert_int_equal(count_open_files(), files);
}

static void events_of_no_component(void **state)
{
	struct ct_live_totals totals;
	struct subject s;

	(void)state;
	subject_start(&s, "A");
	open_live(0, false);
	tell(&s, (struct message){ .order = PUT, .component = 7, .first = 1, .count = 1 });
	tell_put(&s, 0, 2, 1);
	(void)ct_live_look(live);
	assert_int_equal(next_number(NULL), 2);
	assert_int_equal(next_number(NULL), UINT32_MAX);
	ct_live_count(live, &totals);
	assert_int_equal(totals.damaged_bytes, CT_EVENT_HEAD + 4);
	ct_live_close(live);
	subject_end(&s, true);
}

static void without_a_run_directory(void **state)
{
	struct subject s;

	(void)state;
	assert_int_equal(rmdir(run_dir), 0);
	open_live(0, false);
	assert_false(ct_live_look(live));
	assert_int_equal(mkdir(run_dir, 0700), 0);
	subject_start(&s, "A");
	tell_put(&s, 0, 1, 1);
	for (uint64_t until = ct_clock_mono_ns() + 10000000000u;
	     !ct_live_look(live) && ct_clock_mono_ns() < until;)
		;
	assert_int_equal(next_number(NULL), 1);
	ct_live_close(live);
	subject_end(&s, true);
}

int test_source_live(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, live_set_up, live_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(merged_by_time),          TEST(held_for_earlier_ones),
		TEST(from_the_start),          TEST(processes_that_come),
		TEST(processes_that_go),       TEST(events_of_no_component),
		TEST(without_a_run_directory),
	};

	return cmocka_run_group_tests_name("read/source_live", tests, NULL, NULL);
}
