/*
 * test_display_table.c - rows come out in order, once, with their heads found, and nothing in them
 * is believed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

static void assert_trace(uint32_t index, const char *name, uint32_t process, uint32_t depth,
			 const char *head)
{
	const struct ct_display_trace *trace = &table.traces[index];

	assert_true(index < table.trace_rows.count);
	assert_string_equal(trace->name, name);
	assert_int_equal(trace->process, process);
	assert_int_equal(trace->depth, depth);
	if (head == NULL)
		assert_int_equal(trace->head, CT_DISPLAY_NONE);
	else
		assert_string_equal(table.traces[trace->head].name, head);
}

/* "A#" and "A(1" come before "A.B" in ASCII, but are not below A. */
static void sublevels_follow_their_head(void **state)
{
	static const char *const names[] = {
		"A#", "a.c", "A", "A.B.D", "A(1", "A.B#", "AB", "A.B"
	};
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	for (size_t i = 0; i < CT_COUNT(names); i++)
		add_trace(process, names[i], (struct ctrace_display){ 0 });
	ct_display_arrange(&table);
	assert_int_equal(table.trace_rows.count, 8);
	assert_trace(0, "A", process, 0, NULL);
	assert_trace(1, "A.B", process, 1, "A");
	assert_trace(2, "A.B.D", process, 2, "A.B");
	assert_trace(3, "A.B#", process, 1, "A");
	assert_trace(4, "a.c", process, 1, "A");
	assert_trace(5, "A#", process, 0, NULL);
	assert_trace(6, "A(1", process, 0, NULL);
	assert_trace(7, "AB", process, 0, NULL);
	assert_int_equal(ct_display_end_of(&table, 0), 5);
	assert_int_equal(ct_display_end_of(&table, 7), 8);
}

/* A head of one process is not the head of another's sublevel. */
static void processes_stay_apart(void **state)
{
	uint32_t late = add_process(9, "LATE", 1);
	uint32_t early = add_process(8, "EARLY", 2);

	(void)state;
	add_trace(late, "B", (struct ctrace_display){ 0 });
	add_trace(late, "A.B", (struct ctrace_display){ 0 });
	add_trace(early, "A", (struct ctrace_display){ 0 });
	add_trace(late, "A", (struct ctrace_display){ 0 });
	add_trace(early, "A.C.D", (struct ctrace_display){ 0 });
	add_trace(early, "C.D", (struct ctrace_display){ 0 });
	add_trace(late, "C.E", (struct ctrace_display){ 0 });
	add_trace(CT_DISPLAY_NONE, "A", (struct ctrace_display){ .mode = CT_DISPLAY_MODE_PRE });
	ct_display_arrange(&table);
	assert_int_equal(table.trace_rows.count, 8);
	assert_trace(0, "A", early, 0, NULL);
	assert_trace(1, "A.C.D", early, 1, "A");
	assert_trace(2, "A", late, 0, NULL);
	assert_trace(3, "A.B", late, 1, "A");
	assert_trace(4, "A", CT_DISPLAY_NONE, 0, NULL);
	assert_trace(5, "B", late, 0, NULL);
	assert_trace(6, "C.D", early, 0, NULL);
	assert_trace(7, "C.E", late, 0, NULL);
	ct_display_arrange(&table);
	assert_trace(3, "A.B", late, 1, "A");
}

/* Also when they come one behind the other. */
static void a_head_of_another_process_is_none(void **state)
{
	uint32_t first = add_process(1, "KVS", 1);
	uint32_t second = add_process(2, "KVC", 2);

	(void)state;
	add_trace(first, "A", (struct ctrace_display){ 0 });
	add_trace(second, "A.B", (struct ctrace_display){ 0 });
	ct_display_arrange(&table);
	assert_trace(0, "A", first, 0, NULL);
	assert_trace(1, "A.B", second, 0, NULL);
}

static void what_came_twice_is_there_once(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);
	uint32_t other = add_process(2, "KVC", 3);

	(void)state;
	add_trace(process, "A", (struct ctrace_display){ 0 });
	add_trace(process, "B", (struct ctrace_display){ 0 });
	add_trace(process, "a", (struct ctrace_display){ 0 });
	add_trace(other, "A", (struct ctrace_display){ 0 });
	ct_display_add_missing(&table, "b");
	ct_display_add_missing(&table, "?");
	ct_display_add_missing(&table, "C");
	ct_display_arrange(&table);
	assert_int_equal(table.trace_rows.count, 3);
	assert_int_equal(table.missing_rows.count, 1);
	assert_string_equal(table.missing[0], "C");
}

static void what_a_preset_has_is_not_missing(void **state)
{
	(void)state;
	ct_display_add_missing(&table, "KVX");
	ct_display_add_missing(&table, "kvs.net");
	ct_display_add_missing(&table, "KVZ");
	add_trace(CT_DISPLAY_NONE, "KVS.NET",
		  (struct ctrace_display){ .mode = CT_DISPLAY_MODE_PRE });
	ct_display_arrange(&table);
	assert_int_equal(table.missing_rows.count, 2);
	assert_string_equal(table.missing[0], "KVX");
	assert_string_equal(table.missing[1], "KVZ");
}

static void many_rows(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		(void)snprintf(name, sizeof name, "N%u", (i * 7) % 1000);
		assert_int_equal(add_trace(process, name, (struct ctrace_display){ 0 }), i);
		name[0] = 'M';
		ct_display_add_missing(&table, name);
	}
	ct_display_arrange(&table);
	assert_int_equal(table.trace_rows.count, 1000);
	assert_int_equal(table.missing_rows.count, 1000);
	assert_string_equal(table.missing[999], "M993");
	for (uint32_t i = 1; i < 1000; i++)
		assert_true(strcmp(table.traces[i - 1].name, table.traces[i].name) < 0);
}

/* Rows of a stranger: nothing is terminated, and every number is too large. */
static void nothing_is_believed(void **state)
{
	struct ct_display_trace trace;
	struct ct_display_process process;
	struct ct_display_writer writer;
	struct ct_display_trcout trcout;
	struct ct_display_link link;
	struct ct_display_writers all = { 0 };

	(void)state;
	memset(&trace, 'x', sizeof trace);
	trace.writer_is_active = false;
	memset(&process, 'x', sizeof process);
	memset(&writer, 'x', sizeof writer);
	writer.is_silent = false;
	memset(&trcout, 'x', sizeof trcout);
	memset(&link, 'x', sizeof link);
	ct_display_add_process(&table, &process);
	ct_display_add_trace(&table, &trace);
	ct_display_add_writer(&table, &writer);
	ct_display_add_trcout(&table, &trcout);
	ct_display_add_link(&table, &link);
	ct_display_arrange(&table);
	assert_int_equal(table.traces[0].process, CT_DISPLAY_NONE);
	assert_int_equal(table.traces[0].display.asid_count, CTRACE_MAX_FILTER);
	assert_int_equal(table.traces[0].display.jobname_count, CTRACE_MAX_FILTER);
	assert_int_equal(strlen(table.traces[0].name), CTRACE_MAX_COMPONENT);
	ct_display_print_long(&table, &all_levels, &printed);
	ct_display_print_short(&table, &printed);
	ct_display_print_writers(&table, &all, &printed);
	assert_false(printed.failed);
}

static void a_row_more_than_memory_has(void **state)
{
	(void)state;
	table.trace_rows.count = CT_DISPLAY_NONE / 2;
	table.trace_rows.capacity = CT_DISPLAY_NONE / 2;
	assert_int_equal(add_trace(CT_DISPLAY_NONE, "A", (struct ctrace_display){ 0 }),
			 CT_DISPLAY_NONE);
	assert_true(table.failed);
	table.trace_rows.count = 0;
}

static void rows_of_writers_stay_with_them(void **state)
{
	uint32_t first =
		ct_display_add_writer(&table, &(struct ct_display_writer){ .state.name = "CTW" });
	uint32_t second =
		ct_display_add_writer(&table, &(struct ct_display_writer){ .state.name = "CTX" });

	(void)state;
	ct_display_add_trcout(&table,
			      &(struct ct_display_trcout){ .writer = second, .state.number = 1 });
	ct_display_add_trcout(&table,
			      &(struct ct_display_trcout){ .writer = first, .state.number = 1 });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = second, .state.asid = 1 });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = first,
							       .state = { .asid = 3, .pid = 1 } });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = first,
							       .state = { .asid = 2, .pid = 9 } });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = first,
							       .state = { .asid = 2, .pid = 8 } });
	ct_display_arrange(&table);
	assert_int_equal(table.links[0].state.pid, 8);
	assert_int_equal(table.links[1].state.pid, 9);
	assert_int_equal(table.links[2].state.asid, 3);
	assert_int_equal(table.links[3].writer, second);
	assert_string_equal(ct_display_writer_status(&table, first), "ACTIVE");
	table.trcouts[1].state.failing = 5;
	assert_string_equal(ct_display_writer_status(&table, first), "FAILING");
	assert_string_equal(ct_display_writer_status(&table, second), "ACTIVE");
}

static void the_next_writer(void **state)
{
	static const char *const only[] = { "CT*", "abc", "CTX" };
	struct ct_display_writers which = { .only = only, .count = 3 };
	struct ct_display_trace waiting = { .process = CT_DISPLAY_NONE,
					    .name = "A",
					    .display.writer = "ctz" };
	struct ct_display_trace other = { .process = CT_DISPLAY_NONE,
					  .name = "B",
					  .display.writer = "DDD" };

	(void)state;
	ct_display_add_writer(&table, &(struct ct_display_writer){ .state.name = "CTX" });
	ct_display_add_trace(&table, &waiting);
	ct_display_add_trace(&table, &other);
	ct_display_arrange(&table);
	assert_string_equal(ct_display_next_writer(&table, &which, ""), "abc");
	assert_string_equal(ct_display_next_writer(&table, &which, "ABC"), "CTX");
	assert_string_equal(ct_display_next_writer(&table, &which, "CTX"), "ctz");
	assert_null(ct_display_next_writer(&table, &which, "CTZ"));
	assert_true(ct_display_waits(&table.traces[0], "CTZ"));
	assert_false(ct_display_waits(&table.traces[0], "CT"));
	table.traces[0].writer_is_active = true;
	assert_false(ct_display_waits(&table.traces[0], "CTZ"));
}

static void what_a_form_shows(void **state)
{
	struct ct_display_trace trace = { .depth = 1 };
	struct ct_display_form form = { .levels = 1 };

	(void)state;
	assert_false(ct_display_shows(&trace_alone, &trace));
	assert_true(ct_display_shows(&with_sub, &trace));
	assert_true(ct_display_shows(&form, &trace));
	trace.depth = 2;
	assert_false(ct_display_shows(&form, &trace));
	assert_false(ct_display_shows(&with_sub, &trace));
	form.asked = 1;
	assert_true(ct_display_shows(&form, &trace));
	trace.depth = 200;
	assert_true(ct_display_shows(&all_levels, &trace));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int test_display_table(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sublevels_follow_their_head),
		TEST(processes_stay_apart),
		TEST(a_head_of_another_process_is_none),
		TEST(what_came_twice_is_there_once),
		TEST(what_a_preset_has_is_not_missing),
		TEST(many_rows),
		TEST(nothing_is_believed),
		TEST(a_row_more_than_memory_has),
		TEST(rows_of_writers_stay_with_them),
		TEST(the_next_writer),
		TEST(what_a_form_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
