/*
 * test_export_tracks.c - threads as tracks, and which spans can be drawn on them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

static struct ct_tracks *look(const struct ct_read_event *events, size_t count)
{
	struct ct_tracks *tracks;

	assert_int_equal(ct_tracks_create(&tracks), CTRACE_OK);
	for (size_t i = 0; i < count; i++)
		ct_tracks_look(tracks, &events[i]);
	return tracks;
}

static void nested_spans_stay_on_their_thread(void **state)
{
	const struct ct_read_event events[] = { span_begin(0, 1, 1), span_begin(1, 1, 2),
						span_begin(1, 2, 3), span_end(2, 1, 2),
						span_end(3, 1, 1),   span_end(4, 2, 3) };
	struct ct_tracks *tracks = look(events, CT_COUNT(events));

	(void)state;
	for (uint64_t id = 1; id <= 3; id++)
		assert_int_equal(ct_tracks_way(tracks, id), CT_SPAN_NESTED);
	assert_int_equal(ct_tracks_begin_ns(tracks), events[0].traced.time_ns);
	ct_tracks_destroy(tracks);
}

static void half_spans_are_alone(void **state)
{
	/* 2 never ends, and does not make what is around it cross; 4 never began. */
	const struct ct_read_event events[] = { span_begin(0, 1, 1), span_begin(1, 1, 2),
						span_end(2, 1, 1), span_end(3, 1, 4) };
	struct ct_tracks *tracks = look(events, CT_COUNT(events));

	(void)state;
	assert_int_equal(ct_tracks_way(tracks, 1), CT_SPAN_NESTED);
	assert_int_equal(ct_tracks_way(tracks, 2), CT_SPAN_ALONE);
	assert_int_equal(ct_tracks_way(tracks, 4), CT_SPAN_ALONE);
	assert_int_equal(ct_tracks_way(tracks, 999999), CT_SPAN_ALONE);
	assert_int_equal(ct_tracks_way(tracks, UINT64_MAX), CT_SPAN_ALONE);
	ct_tracks_destroy(tracks);
}

static void crossing_spans_leave_their_thread(void **state)
{
	/* 2 ends behind 1; 3 is within 2; 4 ends on another thread. */
	const struct ct_read_event events[] = { span_begin(0, 1, 1), span_begin(1, 1, 2),
						span_end(2, 1, 1),   span_begin(3, 1, 3),
						span_end(4, 1, 2),   span_end(5, 1, 3),
						span_begin(6, 1, 4), span_begin(7, 1, 5),
						span_end(8, 2, 4),   span_end(9, 1, 5) };
	struct ct_tracks *tracks = look(events, CT_COUNT(events));

	(void)state;
	assert_int_equal(ct_tracks_way(tracks, 1), CT_SPAN_NESTED);
	assert_int_equal(ct_tracks_way(tracks, 2), CT_SPAN_CROSSING);
	assert_int_equal(ct_tracks_way(tracks, 3), CT_SPAN_NESTED);
	assert_int_equal(ct_tracks_way(tracks, 4), CT_SPAN_CROSSING);
	assert_int_equal(ct_tracks_way(tracks, 5), CT_SPAN_NESTED);
	ct_tracks_destroy(tracks);
}

/* A whole span begins where there is room for it; an inferred end may be before others' events. */
static void times_of_a_track_never_fall(void **state)
{
	struct ct_read_event first = event_at(0, 1, NULL, 0), whole = span_end(100, 1, 1),
			     long_one = span_end(110, 1, 2), other = event_at(500, 2, NULL, 0),
			     inferred = span_end(200, 1, 3), late = event_at(150, 1, NULL, 0);
	struct ct_tracks *tracks = look(&first, 1);
	struct ct_track *track = ct_tracks_find(tracks, &first);
	uint64_t base = first.traced.time_ns, last_ns = base;
	struct ct_track_time time;

	(void)state;
	whole.is_whole = long_one.is_whole = inferred.is_inferred = true;
	whole.duration_ns = 30;
	long_one.duration_ns = 1000;
	ct_tracks_look(tracks, &whole);
	assert_int_equal(ct_tracks_way(tracks, 1), CT_SPAN_NESTED);
	time = ct_tracks_time(track, &whole, &last_ns);
	assert_int_equal(time.begin_ns - base, 70);
	assert_int_equal(time.end_ns - base, 100);
	time = ct_tracks_time(track, &long_one, &last_ns);
	assert_int_equal(time.begin_ns - base, 100);
	assert_int_equal(time.end_ns - base, 110);
	(void)ct_tracks_time(ct_tracks_find(tracks, &other), &other, &last_ns);
	assert_int_equal(last_ns - base, 500);
	time = ct_tracks_time(track, &inferred, &last_ns);
	assert_int_equal(time.begin_ns - base, 200);
	assert_int_equal(time.end_ns - base, 200);
	time = ct_tracks_time(track, &late, &last_ns);
	assert_int_equal(time.end_ns - base, 500);
	assert_int_equal(ct_tracks_time(track, &inferred, &last_ns).end_ns - base, 500);
	ct_tracks_destroy(tracks);
}

/* Whatever comes: spans that are said to nest do. */
static void any_order_nests(void **state)
{
	unsigned seed = 1;
	enum { EVENTS = 4000 };
	static struct ct_read_event events[EVENTS];
	static uint64_t open[EVENTS];
	uint64_t next = 1, stack[EVENTS];
	size_t open_count = 0, depth = 0;
	struct ct_tracks *tracks;

	(void)state;
	for (size_t i = 0; i < EVENTS; i++) {
		seed = seed * 1103515245u + 12345u;
		if (open_count == 0 || (seed >> 16 & 1) != 0) {
			events[i] = span_begin(i, 1, next);
			open[open_count++] = next++;
		} else {
			size_t at =
				open_count - 1 - (seed >> 20) % (open_count < 3 ? open_count : 3);

			events[i] = span_end(i, 1, open[at]);
			memmove(&open[at], &open[at + 1], (open_count - at - 1) * sizeof open[0]);
			open_count--;
		}
	}
	tracks = look(events, EVENTS);
	for (size_t i = 0; i < EVENTS; i++) {
		if (ct_tracks_way(tracks, events[i].span_id) != CT_SPAN_NESTED)
			continue;
		if (ct_read_event_begins_span(&events[i])) {
			stack[depth++] = events[i].span_id;
		} else {
			assert_true(depth > 0);
			assert_int_equal(stack[--depth], events[i].span_id);
		}
	}
	assert_int_equal(depth, 0);
	ct_tracks_destroy(tracks);
}

static void threads_are_found_again(void **state)
{
	struct ct_tracks *tracks;
	struct ct_read_event event = event_of(NULL, 0);
	struct ct_source_process again = event_source_process;

	(void)state;
	assert_int_equal(ct_tracks_create(&tracks), CTRACE_OK);
	for (uint32_t tid = 0; tid < 1000; tid++) {
		struct ct_track *track;

		event.traced.tid = tid;
		track = ct_tracks_find(tracks, &event);
		assert_non_null(track);
		assert_int_equal(track->index, tid);
		assert_int_equal(track->is_first, tid == 0);
	}
	event.traced.tid = 500;
	event.source_process = &again; /* as after another reading */
	assert_int_equal(ct_tracks_find(tracks, &event)->index, 500);
	assert_ptr_equal(ct_tracks_find(tracks, &event)->source_process, &again);
	event.source_process = &other_source_process;
	assert_int_equal(ct_tracks_find(tracks, &event)->index, 1000);
	assert_true(ct_tracks_find(tracks, &event)->is_first);
	ct_tracks_destroy(tracks);
}

static void processes_have_numbers_of_their_own(void **state)
{
	const struct ct_source_process unknown = { .index = 2 };
	struct ct_tracks *tracks;

	(void)state;
	assert_int_equal(ct_tracks_create(&tracks), CTRACE_OK);
	assert_int_equal(ct_tracks_pid(tracks, &event_source_process), 4711);
	/* of another machine, with the same number */
	assert_int_not_equal(ct_tracks_pid(tracks, &other_source_process), 4711);
	assert_int_not_equal(ct_tracks_pid(tracks, &unknown), 0);
	assert_int_not_equal(ct_tracks_pid(tracks, &unknown),
			     ct_tracks_pid(tracks, &other_source_process));
	assert_int_equal(ct_tracks_pid(tracks, &event_source_process), 4711);
	ct_tracks_destroy(tracks);
}

static void very_many_open_spans_stay_bounded(void **state)
{
	struct ct_tracks *tracks;
	struct ct_read_event event;

	(void)state;
	assert_int_equal(ct_tracks_create(&tracks), CTRACE_OK);
	for (uint64_t id = 1; id <= 100000; id++) {
		event = span_begin(id, 1, id);
		ct_tracks_look(tracks, &event);
	}
	assert_true(ct_tracks_find(tracks, &event)->open_count <= 1024);
	event = span_end(100001, 1, 1); /* given up long ago: it cannot be known to nest */
	ct_tracks_look(tracks, &event);
	assert_int_equal(ct_tracks_way(tracks, 1), CT_SPAN_CROSSING);
	event = span_end(100002, 1, 100000);
	ct_tracks_look(tracks, &event);
	assert_int_equal(ct_tracks_way(tracks, 100000), CT_SPAN_NESTED);
	ct_tracks_destroy(tracks);
}

int test_export_tracks(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_spans_stay_on_their_thread),
		cmocka_unit_test(half_spans_are_alone),
		cmocka_unit_test(crossing_spans_leave_their_thread),
		cmocka_unit_test(times_of_a_track_never_fall),
		cmocka_unit_test(any_order_nests),
		cmocka_unit_test(threads_are_found_again),
		cmocka_unit_test(processes_have_numbers_of_their_own),
		cmocka_unit_test(very_many_open_spans_stay_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
