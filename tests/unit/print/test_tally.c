/*
 * test_tally.c - rows of numbers from events, and what happens when there are too many rows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/tally.h"

static struct ct_read_event tally_event(const char *component, uint32_t event_id, uint32_t tid,
					uint64_t time_ns)
{
	struct ct_read_event event = event_of(NULL, 0);

	event.traced.component = component;
	event.traced.component_size = (uint32_t)strlen(component);
	event.traced.event_id = event_id;
	event.traced.tid = tid;
	event.traced.time_ns = time_ns;
	return event;
}

static const struct ct_tally_row *row_of(const struct ct_tally *tally, enum ct_tally_kind kind,
					 const char *component, uint32_t number)
{
	for (size_t i = 0; i < tally->tables[kind].count; i++) {
		const struct ct_tally_row *row = &tally->tables[kind].rows[i];

		if (kind == CT_TALLY_THREAD
			    ? row->tid == number
			    : row->component != NULL && strcmp(row->component, component) == 0 &&
				      row->event_id == number)
			return row;
	}
	fail_msg("no row of %s %u", component, number);
	return NULL;
}

static void rows_add_up(void **state)
{
	const struct ctrace_event_item items[] = { text_item("abc"), text_item("") };
	struct ct_tally tally;
	struct ct_read_event event;

	(void)state;
	ct_tally_init(&tally);
	for (unsigned i = 0; i < 10; i++) {
		event = tally_event(i % 2 != 0 ? "A" : "A.B", i % 3, i % 5, 1000 + i);
		event.traced.level = i == 0 ? CTRACE_DEBUG : CTRACE_WARN;
		event.traced.items = items;
		event.traced.item_count = i % 2 == 0 ? 2 : 0;
		ct_tally_add(&tally, &event);
	}
	assert_int_equal(tally.events, 10);
	assert_int_equal(tally.first_ns, 1000);
	assert_int_equal(tally.last_ns, 1009);
	assert_int_equal(ct_tally_duration_ns(&tally), 9);
	assert_int_equal(tally.tables[CT_TALLY_COMPONENT].count, 2);
	assert_int_equal(tally.tables[CT_TALLY_EVENT].count, 6);
	assert_int_equal(tally.tables[CT_TALLY_THREAD].count, 5);
	assert_int_equal(row_of(&tally, CT_TALLY_COMPONENT, "A", 0)->events, 5);
	assert_int_equal(row_of(&tally, CT_TALLY_COMPONENT, "A", 0)->bytes, 5 * 8);
	assert_int_equal(row_of(&tally, CT_TALLY_COMPONENT, "A.B", 0)->bytes, 5 * 11); /* 8 + 3 */
	assert_int_equal(row_of(&tally, CT_TALLY_COMPONENT, "A.B", 0)->levels[CTRACE_DEBUG], 1);
	assert_int_equal(row_of(&tally, CT_TALLY_COMPONENT, "A.B", 0)->levels[CTRACE_WARN], 4);
	assert_int_equal(row_of(&tally, CT_TALLY_EVENT, "A.B", 0)->events, 2);
	assert_null(row_of(&tally, CT_TALLY_EVENT, "A.B", 0)->mnemonic);
	assert_int_equal(row_of(&tally, CT_TALLY_THREAD, "", 3)->events, 2);
	assert_string_equal(row_of(&tally, CT_TALLY_THREAD, "", 3)->program, "rts32");
	assert_int_equal(tally.bytes, 5 * 8 + 5 * 11);
	ct_tally_fini(&tally);
}

static void spans_are_timed_where_they_end(void **state)
{
	const struct ct_event_names names = { .mnemonic = "CLOSE" };
	struct ct_tally tally;
	struct ct_read_event event;

	(void)state;
	ct_tally_init(&tally);
	for (uint64_t i = 1; i <= 100; i++) {
		event = tally_event("A", 2, 1, i);
		event.names = &names;
		event.duration_ns = i;
		ct_tally_add(&tally, &event);
		event = tally_event("A", 3, 1, i);
		ct_tally_add(&tally, &event);
	}
	assert_int_equal(row_of(&tally, CT_TALLY_EVENT, "A", 2)->spans->count, 100);
	assert_int_equal(row_of(&tally, CT_TALLY_EVENT, "A", 2)->spans->total, 5050);
	assert_int_equal(ct_histogram_at(row_of(&tally, CT_TALLY_EVENT, "A", 2)->spans, 950), 95);
	assert_string_equal(row_of(&tally, CT_TALLY_EVENT, "A", 2)->mnemonic, "CLOSE");
	assert_null(row_of(&tally, CT_TALLY_EVENT, "A", 3)->spans);
	assert_int_equal(row_of(&tally, CT_TALLY_COMPONENT, "A", 0)->spans->count, 100);
	assert_int_equal(row_of(&tally, CT_TALLY_THREAD, "", 1)->spans->most, 100);
	ct_tally_fini(&tally);
}

static void threads_of_other_processes_are_others(void **state)
{
	const struct ct_source_process twin = {
		.index = 1, .host = "asterix", .program = "rts32", .pid = 4711
	};
	struct ct_read_event event = tally_event("A", 1, 1, 1);
	struct ct_tally tally;

	(void)state;
	ct_tally_init(&tally);
	ct_tally_add(&tally, &event);
	event.source_process = &twin;
	ct_tally_add(&tally, &event);
	assert_int_equal(tally.tables[CT_TALLY_THREAD].count, 2);
	assert_int_equal(tally.tables[CT_TALLY_EVENT].count, 1);
	ct_tally_fini(&tally);
}

static void rows_beyond_the_limit_are_one(void **state)
{
	enum { MORE = 1000 };
	const struct ct_tally_table *table;
	struct ct_tally tally;
	uint64_t sum = 0;

	(void)state;
	ct_tally_init(&tally);
	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t id = 0; id < CT_TALLY_ROWS + MORE; id++) {
			struct ct_read_event event = tally_event("A", id, id, 1 + id);

			ct_tally_add(&tally, &event);
		}
	}
	table = &tally.tables[CT_TALLY_EVENT];
	assert_false(tally.failed);
	assert_int_equal(table->count, CT_TALLY_ROWS + 1);
	assert_null(table->rows[CT_TALLY_ROWS].component);
	assert_int_equal(table->rows[CT_TALLY_ROWS].events, 2 * MORE);
	for (size_t i = 0; i < table->count; i++)
		sum += table->rows[i].events;
	assert_int_equal(sum, tally.events);
	assert_int_equal(tally.tables[CT_TALLY_THREAD].rows[CT_TALLY_ROWS].events, 2 * MORE);
	ct_tally_fini(&tally);
}

static void durations_for_people(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = { { 0, "0ns" },
		     { 999, "999ns" },
		     { 1000, "1.00us" },
		     { 1234, "1.23us" },
		     { 99949, "99.9us" },
		     { 999499, "999us" },
		     { 999500, "1.00ms" },
		     { 12345678, "12.3ms" },
		     { 999500000, "1.00s" },
		     { 61000000000u, "61.0s" },
		     { 3600000000000u, "3600s" } };
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		ct_buf_clear(&out);
		ct_tally_add_duration(&out, rows[i].ns);
		assert_string_equal(ct_buf_text(&out), rows[i].text);
	}
	ct_buf_fini(&out);
}

static void a_rate_is_per_second(void **state)
{
	static const struct {
		uint64_t count, duration_ns, thousandths;
	} rows[] = { { 0, 0, 0 },
		     { 3, 0, 0 }, /* all at one time */
		     { 0, 5, 0 },
		     { 10, 4000000000u, 2500 },
		     { 1, 500000000, 2000 },
		     { 7, 1, 7000000000000u },
		     { 1ull << 62, 1000000000ull << 20, 1000ull << 42 } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		assert_true(ct_tally_rate(rows[i].count, rows[i].duration_ns) * 1000 ==
			    (double)rows[i].thousandths);
}

int test_tally(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(spans_are_timed_where_they_end),
		cmocka_unit_test(threads_of_other_processes_are_others),
		cmocka_unit_test(rows_beyond_the_limit_are_one),
		cmocka_unit_test(durations_for_people),
		cmocka_unit_test(a_rate_is_per_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
