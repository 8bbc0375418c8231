/*
 * test_run_page_text.c - the page of a run as text: columns, numbers for people, the width of a
 * terminal, and names that could do harm there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "run_page_fixture.h"

static struct ct_buf text;

static const char *printed(const struct ct_run_page_options *options)
{
	ct_buf_fini(&text);
	ct_buf_init(&text);
	ct_run_page_print(page, options, &text);
	assert_false(text.failed);
	return ct_buf_text(&text);
}

static void assert_number(void (*add)(struct ct_buf *, uint64_t), uint64_t number,
			  const char *expected)
{
	struct ct_buf out;

	ct_buf_init(&out);
	add(&out, number);
	assert_string_equal(ct_buf_text(&out), expected);
	ct_buf_fini(&out);
}

static void numbers(void **state)
{
	(void)state;
	assert_number(ct_run_page_add_count, 0, "0");
	assert_number(ct_run_page_add_count, 999, "999");
	assert_number(ct_run_page_add_count, 1234, "1,234");
	assert_number(ct_run_page_add_count, UINT64_MAX, "18,446,744,073,709,551,615");
	assert_number(ct_run_page_add_bytes, 1023, "1023 B");
	assert_number(ct_run_page_add_bytes, 1024, "1.00 KiB");
	assert_number(ct_run_page_add_bytes, 4718592, "4.50 MiB");
	assert_number(ct_run_page_add_bytes, 1023 * 1024, "1.00 MiB");
	assert_number(ct_run_page_add_bytes, UINT64_MAX, "16.0 EiB");
	assert_number(ct_run_page_add_time, 999, "999 ns");
	assert_number(ct_run_page_add_time, 1000, "1.00 us");
	assert_number(ct_run_page_add_time, 12345678, "12.3 ms");
	assert_number(ct_run_page_add_time, 999600000, "1.00 s");
	assert_number(ct_run_page_add_time, 123456789012345, "123,456 s");
}

static void a_page(void **state)
{
	(void)state;
	program(6, "MAIN", 0);
	paragraph("BEGIN-IT", "MAIN", 1000);
	program(6, "SUB", 2000);
	program(7, "SUB", 5000);
	file(1003, "CUST", "/d/cust", "10", 80);
	file(1001, "GONE", "gone", "35", 0);
	program(254, "MAIN", 12000);
	assert_string_equal(printed(&(struct ct_run_page_options){ .subject = "./main ended",
								   .trace = "main.ctb" }),
			    "./main ended: 7 events\n"
			    "\n"
			    "PROGRAM  CALLS    TOTAL     SELF\n"
			    "MAIN         1  12.0 us  9.00 us\n"
			    "SUB          1  3.00 us  3.00 us\n"
			    "\n"
			    "PARAGRAPH  PROGRAM  RUNS  TIME (INFERRED)\n"
			    "BEGIN-IT   MAIN        1          8.00 us\n"
			    "\n"
			    "FILE  READS  WRITES  BYTES     TIME  STATUS  PATH\n"
			    "CUST      1       0   80 B  1.00 us  10      /d/cust\n"
			    "GONE      0       0    0 B  1.00 us  35      gone\n"
			    "\n"
			    "ERRORS\n"
			    "OPEN of GONE: status 35 (gone), in MAIN, line 7\n"
			    "\n"
			    "TRACE\n"
			    "ctrace show main.ctb\n"
			    "ctrace report main.ctb\n");
}

static void nothing(void **state)
{
	(void)state;
	assert_string_equal(printed(&(struct ct_run_page_options){ .trace = "a b'c.ctb",
								   .report = "-o.html",
								   .losses = "1 was lost\n" }),
			    "0 events\n\nThe trace has no entry of a program.\n"
			    "\nThe trace has no paragraph: the programs have none, or were\n"
			    "compiled without -ftrace or -ftraceall.\n"
			    "\nThe trace has no file.\n"
			    "\nTRACE\n1 was lost\n"
			    "ctrace show $'a b\\'c.ctb'\nreport: ./-o.html\n");
}

static void what_was_not_traced(void **state)
{
	struct ct_run_page_options options = { .trace = "t",
					       .untraced = { .programs =
								     "Programs were not traced.",
							     .files = "Files were not traced." } };

	(void)state;
	file(1001, "GONE", "gone", "35", 0);
	assert_non_null(strstr(printed(&options), "\nPrograms were not traced.\n\nThe trace has no "
						  "paragraph: the programs have none, or were\n"
						  "compiled without -ftrace or -ftraceall.\n"
						  "\nFiles were not traced.\n"));
	/* The errors of files are always traced. */
	assert_non_null(strstr(ct_buf_text(&text), "OPEN of GONE: status 35"));
	assert_null(strstr(ct_buf_text(&text), "FILE "));
	options.untraced = (struct ct_run_page_untraced){ .records = true };
	file(1001, "CUST", "/d/cust", "00", 0);
	assert_non_null(strstr(printed(&options), "CUST      -       -      -  1.00 us  00"));
}

static void files_that_were_asked_for(void **state)
{
	struct ct_run_page_options options = { .trace = "t", .files = "cust,LAST.dat,,more" };

	(void)state;
	level_of_event = CTRACE_ERROR;
	file(1001, "GONE", "/d/gone.dat", "35", 0);
	file(1001, "LOST", "/d/last.dat", "35", 0);
	file(1001, "CUST", "cust.dat", "35", 0);
	level_of_event = CTRACE_DEBUG;
	file(1001, "TOO", "/d/too", "00", 0); /* a configuration asks for it */
	(void)printed(&options);
	assert_null(strstr(ct_buf_text(&text), "\nGONE "));
	assert_non_null(strstr(ct_buf_text(&text), "\nLOST "));
	assert_non_null(strstr(ct_buf_text(&text), "\nCUST "));
	assert_non_null(strstr(ct_buf_text(&text), "\nTOO "));
	assert_non_null(strstr(ct_buf_text(&text), "OPEN of GONE: status 35"));
	options.files = "other";
	page->files.count = 2; /* (others) and GONE */
	assert_non_null(strstr(printed(&options),
			       "\nThe trace has none of the files that --files names.\n"));
}

static void rows_and_width(void **state)
{
	char path[128];

	(void)state;
	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	memcpy(path, "/first/", 7);
	memcpy(path + sizeof path - 6, "/last", 5);
	for (unsigned i = 0; i < 3; i++)
		file(1003, "CUST", path, "00", 0);
	file(1003, "TWO", "two", "23", 0);
	file(1003, "TWO", "two", "23", 0);
	file(1003, "THREE", "three", "00", 0);
	(void)printed(&(struct ct_run_page_options){ .trace = "t", .width = 60, .rows = 2 });
	assert_non_null(strstr(ct_buf_text(&text), "  23 x 2  two\n(1 more)\n"));
	assert_non_null(strstr(ct_buf_text(&text), "x/last\n"));
	assert_non_null(strstr(ct_buf_text(&text), "00      ...x"));
	assert_null(strstr(ct_buf_text(&text), path));
	assert_non_null(strstr(printed(&(struct ct_run_page_options){ .trace = "t" }), path));
	(void)printed(&(struct ct_run_page_options){ .trace = "t", .width = 60, .rows = 2 });
	for (const char *line = ct_buf_text(&text); *line != '\0'; line += strcspn(line, "\n") + 1)
		if (strncmp(line, "No ", 3) != 0)
			assert_true(strcspn(line, "\n") <= 60);
}

static void names_cannot_do_harm(void **state)
{
	(void)state;
	program(6, "A\x1B[2J", 0);
	paragraph("B\nFORGED", "A\x1B[2J", 1);
	file(1001, "C\a", "/d/\x9B", "91", 0);
	failure("D\r", "E\x1B", 1);
	(void)printed(&(struct ct_run_page_options){ .trace = "t\x1B", .subject = "s\x1B" });
	for (size_t i = 0; i < text.size; i++)
		assert_true(text.data[i] == '\n' || (text.data[i] >= ' ' && text.data[i] < 0x7F));
	assert_null(strstr(ct_buf_text(&text), "\nFORGED"));
}

int test_run_page_text(void)
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(numbers),
		PAGE_TEST(a_page),
		PAGE_TEST(nothing),
		PAGE_TEST(what_was_not_traced),
		PAGE_TEST(files_that_were_asked_for),
		PAGE_TEST(rows_and_width),
		PAGE_TEST(names_cannot_do_harm),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	ct_buf_fini(&text);
	return result;
}
