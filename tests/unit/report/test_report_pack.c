/*
 * test_report_pack.c - events as columns: times, items, spans; and what a report does not take is
 * counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "report_fixture.h"

#define BASE 1769868747993000000u

static struct ct_report *make(uint64_t limit)
{
	const struct ct_report_options options = { .title = "A title", .limit = limit };
	struct ct_report *report = NULL;

	assert_int_equal(ct_report_create(&options, &report), CTRACE_OK);
	return report;
}

static void times_are_differences(void **state)
{
	static const uint64_t times[] = { BASE, BASE + 5, BASE + 5, BASE + 2, BASE + UINT32_MAX };
	static const int64_t wanted[] = { 0, 5, 0, -3, (int64_t)UINT32_MAX - 2 };
	struct ct_report *report = make(0);
	struct unpacked column;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct ct_read_event event = make_event("APP", (uint32_t)i % 2, times[i]);

		assert_true(ct_report_add(report, &event));
	}
	assert_true(report->first_ns == BASE);
	column = unpack_column(&report->columns[CT_COLUMN_TIME]);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(next_difference(&column), wanted[i]);
	assert_end(&column);
	column = unpack_column(&report->columns[CT_COLUMN_CLASS]);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(next_number(&column), i % 2);
	assert_end(&column);
	ct_report_destroy(report);
}

static void items_say_type_and_size(void **state)
{
	static char large[CT_REPORT_ITEM_SIZE + 10];
	const struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_COMP5, .size = 4, .data = "\1\2\3\4", .value = 0x04030201 },
		{ .type = CTRACE_TYPE_TEXT, .size = 0, .data = "" },
		{ .type = CTRACE_TYPE_UTF8, .size = 14, .data = "fourteen bytes" },
		{ .type = CTRACE_TYPE_TEXT, .size = 15, .data = "fifteen bytes!!" },
		{ .type = CTRACE_TYPE_COMPXS, .size = CT_REPORT_ITEM_SIZE + 10, .data = large },
	};
	struct ct_report *report = make(0);
	struct ct_read_event event = make_event("APP", 1, BASE);
	struct unpacked column;
	size_t end;

	(void)state;
	event.traced.items = items;
	event.traced.item_count = 5;
	assert_true(ct_report_add(report, &event));
	event.traced.item_count = 0;
	assert_true(ct_report_add(report, &event));
	column = unpack_column(&report->columns[CT_COLUMN_ITEMS]);
	end = next_number(&column);
	end += column.at;
	assert_int_equal(next_number(&column), 5);
	assert_next(&column, "\x43\1\2\3\4", 5);
	assert_next(&column, "\x01", 1);
	assert_next(&column,
		    "\xE5"
		    "fourteen bytes",
		    15);
	assert_next(&column,
		    "\xF1\x0F"
		    "fifteen bytes!!",
		    17);
	assert_next(&column, "\xFF", 1); /* a number follows, cut, COMPXS */
	assert_int_equal(next_number(&column), CT_REPORT_ITEM_SIZE);
	assert_int_equal(next_number(&column), CT_REPORT_ITEM_SIZE + 10);
	assert_next(&column, large, CT_REPORT_ITEM_SIZE);
	assert_int_equal(column.at, end);
	assert_int_equal(next_number(&column), 1);
	assert_int_equal(next_number(&column), 0);
	assert_end(&column);
	ct_report_destroy(report);
}

static void add_span(struct ct_report *report, uint64_t id, uint32_t depth, uint64_t duration_ns)
{
	struct ct_read_event event = make_event("APP", 1, BASE);

	event.span_id = id;
	event.depth = depth;
	event.duration_ns = duration_ns;
	assert_true(ct_report_add(report, &event));
}

static void assert_span(struct unpacked *column, uint64_t rows, unsigned kind, int64_t id,
			uint64_t depth)
{
	assert_int_equal(next_number(column), rows << 2 | kind);
	assert_int_equal(next_difference(column), id);
	assert_int_equal(next_number(column), depth);
}

static void spans_are_where_they_begin_and_end(void **state)
{
	static const struct ct_event_type exit_type = {
		.event_id = 1, .mnemonic = "X", .description = "", .pairing = CT_PAIR_EXIT
	};
	struct ct_report *report = make(0);
	struct ct_read_event lonely = make_event("APP", 1, BASE);
	struct unpacked column;

	(void)state;
	add_span(report, 0, 0, CT_NO_DURATION); /* an event of no span */
	add_span(report, 7, 0, CT_NO_DURATION);
	add_span(report, 8, 1, CT_NO_DURATION);
	add_span(report, 8, 1, 300);
	add_span(report, 0, 1, CT_NO_DURATION);
	add_span(report, 7, 0, 0);
	lonely.type = &exit_type;
	lonely.span_id = 3;
	assert_true(ct_report_add(report, &lonely));
	column = unpack_column(&report->columns[CT_COLUMN_SPANS]);
	assert_span(&column, 1, false, 7, 0);
	assert_span(&column, 1, false, 1, 1);
	assert_span(&column, 1, true, 0, 1);
	assert_int_equal(next_number(&column), 301);
	assert_span(&column, 2, true, -1, 0);
	assert_int_equal(next_number(&column), 1);
	assert_span(&column, 1, true, -4, 0);
	assert_int_equal(next_number(&column), 0); /* nobody knows how long */
	assert_end(&column);
	ct_report_destroy(report);
}

static void an_inferred_end_is_no_event(void **state)
{
	struct ct_report *report = make(2);
	struct ct_read_event event = make_event("APP", 1, BASE);
	struct ct_report_counts counts;
	struct unpacked column;

	(void)state;
	add_span(report, 1, 0, CT_NO_DURATION);
	event.span_id = 1;
	event.duration_ns = 500;
	event.is_inferred = true;
	assert_true(ct_report_add(report, &event));
	event.is_inferred = false;
	event.is_whole = true;
	event.span_id = 2;
	event.duration_ns = 20;
	assert_true(ct_report_add(report, &event));
	event.is_inferred = true; /* the page is full, and this one belongs to it */
	assert_true(ct_report_add(report, &event));
	ct_report_count(report, &counts);
	assert_int_equal(counts.events, 2);
	assert_false(counts.is_full);
	column = unpack_column(&report->columns[CT_COLUMN_SPANS]);
	assert_span(&column, 0, 0, 1, 0);
	assert_span(&column, 1, 2, 0, 0);
	assert_int_equal(next_number(&column), 501);
	assert_span(&column, 0, 3, 1, 0);
	assert_int_equal(next_number(&column), 21);
	assert_span(&column, 1, 2, 0, 0);
	assert_int_equal(next_number(&column), 21);
	assert_end(&column);
	ct_report_destroy(report);
}

static void there_is_a_limit(void **state)
{
	struct ct_report *report = make(2);
	struct ct_read_event event = make_event("APP", 1, BASE);
	struct ct_report_counts counts;

	(void)state;
	assert_true(ct_report_add(report, &event));
	assert_true(ct_report_add(report, &event));
	ct_report_count(report, &counts);
	assert_false(counts.is_full); /* there may be no more */
	assert_false(ct_report_add(report, &event));
	ct_report_count(report, &counts);
	assert_true(counts.is_full);
	assert_int_equal(counts.events, 2);
	ct_report_destroy(report);
}

static void an_event_that_was_skipped_shows_that_there_is_more(void **state)
{
	struct ct_report *report = make(2);
	struct ct_read_event event = make_event("APP", 1, BASE);
	struct ct_report_counts counts;

	(void)state;
	ct_report_pass(report);
	ct_report_count(report, &counts);
	assert_true(counts.is_full);
	assert_int_equal(counts.events, 0);
	/* The later ones have their room all the same. */
	assert_true(ct_report_add(report, &event));
	assert_true(ct_report_add(report, &event));
	ct_report_count(report, &counts);
	assert_int_equal(counts.events, 2);
	assert_int_equal(counts.left_out, 0);
	ct_report_destroy(report);
}

static void what_has_no_room_is_counted(void **state)
{
	struct ct_report *report = make(0);
	struct ct_read_event event = make_event("APP", 1, BASE);
	struct ctrace_event_item item = { .type = CTRACE_TYPE_TEXT, .size = 1, .data = "x" };
	struct ct_report_counts counts;

	(void)state;
	for (uint32_t i = 0; i < CT_DISTINCT_LIMIT + 3; i++) {
		event.traced.tid = i;
		assert_true(ct_report_add(report, &event));
	}
	/* as if there had been so many bytes */
	report->columns[CT_COLUMN_ITEMS].size = CT_REPORT_ITEMS_SIZE;
	event.traced.tid = 0;
	event.traced.items = &item;
	event.traced.item_count = 1;
	assert_true(ct_report_add(report, &event));
	ct_report_count(report, &counts);
	assert_int_equal(counts.left_out, 3);
	assert_int_equal(counts.events, CT_DISTINCT_LIMIT + 1);
	assert_int_equal(counts.without_items, 1);
	ct_report_destroy(report);
}

static void what_is_no_column_is_described(void **state)
{
	const struct ct_read_totals totals = {
		.events = 10, .discarded = 4, .damaged_bytes = 3, .damages = 1
	};
	const struct ct_read_note note = { .kind = CT_NOTE_LOST,
					   .path = "a/stream.0",
					   .offset = 76,
					   .events = 4,
					   .from_ns = BASE,
					   .to_ns = BASE + 1,
					   .source_process = &report_source_process,
					   .message = "4 events were discarded" };
	struct ct_report *report = make(0);
	struct ct_read_event event = make_event("APP", 1, BASE);
	json_t *json, *found;

	(void)state;
	ct_report_add_path(report, "a");
	assert_true(ct_report_add(report, &event));
	for (uint32_t i = 0; i < CT_REPORT_NOTES + 5; i++)
		ct_report_note(report, &note);
	json = ct_report_describe(report, &totals);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "title")), "A title");
	assert_string_equal(json_string_value(json_object_get(json, "first_ns")),
			    "1769868747993000000");
	assert_string_equal(json_string_value(json_array_get(json_object_get(json, "paths"), 0)),
			    "a");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "counts"), "events")), 1);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "totals"), "discarded")),
		4);
	assert_int_equal(json_array_size(json_object_get(json, "notes")), CT_REPORT_NOTES);
	assert_int_equal(json_integer_value(json_object_get(json, "notes_left_out")), 5);
	found = json_array_get(json_object_get(json, "notes"), 0);
	assert_string_equal(json_string_value(json_object_get(found, "kind")), "lost");
	assert_string_equal(json_string_value(json_object_get(found, "to_ns")),
			    "1769868747993000001");
	assert_int_equal(json_integer_value(json_object_get(found, "origin")), 0);
	json_decref(json);
	/* once more: it is not used up */
	json = ct_report_describe(report, &totals);
	assert_int_equal(json_array_size(json_object_get(json, "notes")), CT_REPORT_NOTES);
	json_decref(json);
	ct_report_destroy(report);
	ct_report_destroy(NULL);
}

int test_report_pack(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_differences),
		cmocka_unit_test(items_say_type_and_size),
		cmocka_unit_test(spans_are_where_they_begin_and_end),
		cmocka_unit_test(an_inferred_end_is_no_event),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(an_event_that_was_skipped_shows_that_there_is_more),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(what_is_no_column_is_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
