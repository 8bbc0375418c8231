/*
 * test_run_page.c - what is added up of a run: times of programs and paragraphs, operations of
 * files, errors; also of a trace in which nothing fits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "run_page_fixture.h"

static const struct run_row *row(const struct run_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void assert_row(const struct run_row *row, uint64_t count, uint64_t total_ns,
		       uint64_t self_ns)
{
	assert_int_equal(row->count, count);
	assert_int_equal(row->total_ns, total_ns);
	assert_int_equal(row->self_ns, self_ns);
}

static void programs_and_paragraphs(void **state)
{
	(void)state;
	program(6, "MAIN", 100);
	paragraph("BEGIN", "MAIN", 110);
	program(6, "SUB", 120);
	paragraph("BEGIN", "SUB", 125);
	program(7, "SUB", 150);
	paragraph("END", "MAIN", 160);
	program(254, "MAIN", 200);
	ct_run_page_close(page);
	assert_row(row(&page->programs, "MAIN"), 1, 100, 70);
	assert_row(row(&page->programs, "SUB"), 1, 30, 30);
	/* 110 to 160, without the 30 of SUB; two programs have a BEGIN. */
	assert_int_equal(page->paragraphs.count, 4);
	assert_row(row(&page->paragraphs, "BEGIN"), 1, 0, 20);
	assert_row(row(&page->paragraphs, "END"), 1, 0, 40);
	assert_int_equal(page->paragraphs.rows[2].self_ns, 25);
	assert_string_equal(page->paragraphs.rows[2].of, "SUB");
	assert_int_equal(ct_run_page_traced(page), 7);
	assert_int_equal(ct_run_page_events(page), 7);
}

static void a_section_ends_a_paragraph(void **state)
{
	(void)state;
	program(6, "MAIN", 0);
	paragraph("ONE", "MAIN", 10);
	section("S", "MAIN", 30);
	paragraph("TWO", "MAIN", 35);
	ct_run_page_close(page); /* at the last event */
	assert_row(row(&page->paragraphs, "ONE"), 1, 0, 20);
	assert_row(row(&page->paragraphs, "S SECTION"), 1, 0, 5);
	assert_row(row(&page->paragraphs, "TWO"), 1, 0, 0);
	assert_row(row(&page->programs, "MAIN"), 1, 35, 35);
}

static void a_program_that_calls_itself(void **state)
{
	(void)state;
	program(6, "MAIN", 0);
	program(6, "MAIN", 10);
	program(7, "MAIN", 30);
	program(7, "MAIN", 50);
	assert_row(row(&page->programs, "MAIN"), 2, 50, 50);
}

static void paragraphs_alone(void **state)
{
	(void)state;
	paragraph("ONE", "MAIN", 10);
	paragraph("TWO", "MAIN", 30);
	paragraph("ONE", "MAIN", 35);
	program(254, "MAIN", 40);
	assert_row(row(&page->paragraphs, "ONE"), 2, 0, 25);
	assert_row(row(&page->paragraphs, "TWO"), 1, 0, 5);
	assert_int_equal(page->programs.count, 1);
}

/* Where events are missing nothing is counted, and what went on in the gap is not known. */
static void a_gap(void **state)
{
	(void)state;
	program(6, "MAIN", 100);
	paragraph("ONE", "MAIN", 110);
	program(6, "SUB", 120);
	paragraph("IN-SUB", "SUB", 130);
	is_after_loss = true;
	paragraph("TWO", "MAIN", 1000);
	paragraph("IN-SUB", "SUB", 1005);
	program(7, "SUB", 1015);
	program(7, "MAIN", 1020);
	assert_row(row(&page->paragraphs, "ONE"), 1, 0, 10);
	assert_row(row(&page->paragraphs, "IN-SUB"), 2, 0, 10);
	assert_row(row(&page->paragraphs, "TWO"), 1, 0, 10);
	assert_row(row(&page->programs, "SUB"), 1, 20, 20);
	assert_row(row(&page->programs, "MAIN"), 1, 50, 30);
	assert_true(page->has_gaps);
}

static void threads_and_processes_are_apart(void **state)
{
	(void)state;
	program(6, "MAIN", 0);
	process_of_run.index = 1;
	program(6, "OTHER", 10);
	program(7, "OTHER", 15);
	process_of_run.index = 0;
	program(7, "MAIN", 20);
	assert_row(row(&page->programs, "MAIN"), 1, 20, 20);
	assert_row(row(&page->programs, "OTHER"), 1, 5, 5);
}

static void files(void **state)
{
	const struct run_row *customer;

	(void)state;
	file(1001, "CUST", "/d/cust", "00", 0);
	file(1003, "CUST", "/d/cust", "00", 80);
	file(1004, "CUST", "/d/cust", "10", 0);
	file(1004, "CUST", "/d/cust", "10", 0);
	file(1005, "CUST", "/d/cust", "00", 40);
	file(1006, "CUST", "/d/cust", "22", 0);
	file(1001, "CUST", "/e/cust", "00", 0);
	file(1001, "GONE", "/d/gone", "35", 0);
	file(1001, "GONE", "/d/gone", "35", 0);
	file(1010, "", "", "00", 0); /* COMMIT */
	file(3, "CUST", "/d/cust", "00", 0);
	customer = row(&page->files, "CUST");
	assert_string_equal(customer->of, "/d/cust");
	assert_row(customer, 6, 6000, 0);
	assert_int_equal(customer->reads, 3);
	assert_int_equal(customer->writes, 2);
	assert_int_equal(customer->bytes, 120);
	assert_string_equal(customer->statuses[0].text, "10");
	assert_int_equal(customer->statuses[0].count, 2);
	assert_string_equal(customer->statuses[1].text, "22");
	assert_int_equal(page->files.count, 4);
	assert_int_equal(page->errors_total, 2);
	assert_int_equal(page->error_count, 1);
	assert_string_equal(page->errors[0].text, "OPEN of GONE: status 35 (/d/gone)");
	assert_string_equal(page->errors[0].program, "MAIN");
	assert_int_equal(page->errors[0].line, 7);
	assert_int_equal(page->errors[0].count, 2);
	assert_int_equal(ct_run_page_traced(page), 11);
	for (unsigned i = 0; i < 20; i++)
		file(1003, "CUST", "/d/cust", (const char[]){ '2', (char)('A' + i), 0 }, 0);
	assert_int_equal(row(&page->files, "CUST")->other_statuses, 20 - 4);
}

/* An OPEN that fails has the text of ASSIGN; one that does not has the path. */
static void one_file_by_two_names(void **state)
{
	const struct run_row *customer;

	(void)state;
	file(1001, "CUST", "./cust", "35", 0);
	file(1001, "CUST", "/d/cust", "05", 0);
	file(1005, "CUST", "/d/cust", "00", 40);
	file(1001, "CUST", "../cust", "35", 0);
	file(1001, "OTHER", "cust", "35", 0); /* another SELECT */
	file(1001, "CUST", "st", "35", 0);    /* another file */
	file(1001, "TWICE", "/d/t", "00", 0);
	file(1001, "TWICE", "/e/t", "00", 0);
	file(1001, "TWICE", "t", "35", 0); /* of which one? */
	ct_run_page_close(page);
	customer = &page->files.rows[2];
	assert_string_equal(customer->of, "/d/cust");
	assert_row(customer, 4, 4000, 0);
	assert_string_equal(customer->statuses[0].text, "05");
	assert_string_equal(customer->statuses[1].text, "35");
	assert_int_equal(customer->statuses[1].count, 2);
	assert_int_equal(page->files.rows[1].count, 0);
	assert_int_equal(page->files.rows[3].count, 0);
	for (uint32_t i = 4; i < page->files.count; i++)
		assert_int_equal(page->files.rows[i].count, 1);
}

static void errors(void **state)
{
	char text[32];

	(void)state;
	failure("module 'X' not found", "MAIN", 12);
	failure("module 'X' not found", "MAIN", 12);
	failure("module 'X' not found", "MAIN", 13);
	failure("a\tb", "MAIN", 13);
	assert_int_equal(page->error_count, 3);
	assert_int_equal(page->errors[0].count, 2);
	assert_string_equal(page->errors[2].text, "a\\tb");
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(text, sizeof text, "error %u", i);
		failure(text, "MAIN", 1);
	}
	assert_int_equal(page->error_count, CT_RUN_PAGE_ERRORS);
	assert_int_equal(page->errors_total, 104);
}

static void a_trace_in_which_nothing_fits(void **state)
{
	static const char *const names[] = { "program", "paragraph" };
	struct ctrace_event_item numbers[] = { number_item(CTRACE_TYPE_COMP5, 8, 1),
					       number_item(CTRACE_TYPE_COMP5, 8, 1) };

	(void)state;
	program(7, "MAIN", 5); /* no entry */
	program(6, "MAIN", 50);
	program(6, "SUB", 40); /* back in time */
	program(7, "OTHER", 45);
	program(7, "MAIN", 10); /* SUB has no exit */
	assert_row(row(&page->programs, "MAIN"), 1, 0, 0);
	assert_row(row(&page->programs, "SUB"), 1, 0, 0);
	assert_int_equal(page->threads[0].depth, 0);
	give("mf.rts", 6, 60, names, numbers, 0);
	give("mf.rts", 6, 60, names, numbers, 2); /* its name is a number */
	give("mf.rts", 1011, 60, names, numbers, 2);
	give("mf.mffh.xfh", 1003, 60, names, numbers, 2);
	give("other", 6, 60, names, numbers, 2);
	assert_int_equal(page->events, 10);
	assert_false(page->failed);
}

static void more_than_there_is_room_for(void **state)
{
	char name[32];

	(void)state;
	for (unsigned i = 0; i < 2 * CT_RUN_PAGE_DEPTH; i++)
		program(6, "DEEP", i);
	assert_int_equal(page->threads[0].depth, CT_RUN_PAGE_DEPTH);
	for (unsigned i = 0; i < 2 * CT_RUN_PAGE_DEPTH; i++)
		program(7, "DEEP", 3 * CT_RUN_PAGE_DEPTH);
	assert_int_equal(page->threads[0].depth, 0);
	assert_row(row(&page->programs, "DEEP"), 1024, 1536, 1536);
	for (unsigned i = 0; i < CT_RUN_PAGE_ROWS + 10; i++) {
		(void)snprintf(name, sizeof name, "P%u", i);
		program(6, name, 2000);
		program(7, name, 2001);
	}
	assert_int_equal(page->programs.count, CT_RUN_PAGE_ROWS);
	assert_string_equal(page->programs.rows[0].name, "(others)");
	assert_int_equal(page->programs.rows[0].count, 12);
	assert_int_equal(page->programs.rows[0].total_ns, 12);
	for (unsigned i = 0; i < CT_RUN_PAGE_THREADS + 10; i++) {
		process_of_run.index = i;
		program(6, "DEEP", 1);
	}
	assert_int_equal(page->thread_count, CT_RUN_PAGE_THREADS);
	assert_false(page->failed);
}

int test_run_page(void)
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(programs_and_paragraphs),
		PAGE_TEST(a_section_ends_a_paragraph),
		PAGE_TEST(a_program_that_calls_itself),
		PAGE_TEST(paragraphs_alone),
		PAGE_TEST(a_gap),
		PAGE_TEST(threads_and_processes_are_apart),
		PAGE_TEST(files),
		PAGE_TEST(one_file_by_two_names),
		PAGE_TEST(errors),
		PAGE_TEST(a_trace_in_which_nothing_fits),
		PAGE_TEST(more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
