/*
 * test_print_traces.c - the short form of DISPLAY TRACE, character by character.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

#define TITLES \
	"  COMPONENT     MODE  BUFFER HEAD SUBS   COMPONENT     MODE  BUFFER HEAD SUBS\n" \
	"  ------------------------------------   ------------------------------------\n"

static void print_short(void)
{
	ct_display_arrange(&table);
	ct_buf_clear(&printed);
	ct_display_print_short(&table, &printed);
	assert_false(table.failed);
}

static void two_a_line_in_order_of_names(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "SYSXES", (struct ctrace_display){ 0 });
	add_trace(process, "kvs", (struct ctrace_display){ .mode = CTRACE_MODE_ON, .buffer = 1, .buffer_rounded = 65536 });
	add_trace(process, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_MIN, .head = 1, .subs = 1234 });
	print_short();
	assert_printed(TITLES "  ABC           MIN          HEAD 1234   kvs           ON    0064K\n"
			      "  SYSXES        OFF\n");
}

static void the_sample_says_that_a_sublevel_is_on(void **state)
{
	(void)state;
	add_sample();
	print_short();
	assert_printed(TITLES "  SYSTCPIP      OFF+         HEAD    1\n"
			      "  + OFF, BUT A SUBLEVEL IS NOT: D TRACE,COMP=name,SUBLEVEL SHOWS IT\n");
}

static void long_names_have_their_own_lines(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "ABC", (struct ctrace_display){ 0 });
	add_trace(process, "MF.RUNTIME.01", (struct ctrace_display){ 0 });
	add_trace(process, "MF.RUNTIME.02", (struct ctrace_display){ .buffer = 1, .buffer_rounded = 1 });
	add_trace(process, "MF.RUNTIME.100", (struct ctrace_display){ .head = 1 });
	add_trace(process, "SYS1", (struct ctrace_display){ 0 });
	add_trace(process, "SYS2", (struct ctrace_display){ .likehead = 1 });
	print_short();
	assert_printed(TITLES "  ABC           OFF                      MF.RUNTIME.01 OFF\n"
			      "  MF.RUNTIME.02 OFF   0001K\n"
			      "  MF.RUNTIME.100\n"
			      "                OFF          HEAD    0\n"
			      "  SYS1          OFF                      SYS2          OFF          LIKE\n");
}

static void several_processes_are_one_line(void **state)
{
	uint32_t first = add_process(1, "KVS", 2);
	uint32_t second = add_process(2, "KVC", 3);

	(void)state;
	add_trace(first, "KVS", (struct ctrace_display){ .mode = CTRACE_MODE_OFF });
	add_trace(second, "kvs", (struct ctrace_display){ .mode = CTRACE_MODE_ON, .buffer = 1, .buffer_rounded = 4096 });
	add_trace(first, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON });
	add_trace(second, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON });
	print_short();
	assert_printed(TITLES "  ABC           ON                       kvs           ON*   0004K\n"
			      "  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH\n");
}

static void on_for_nobody(void **state)
{
	uint32_t first = add_process(1, "KVS", 2);
	uint32_t second = add_process(2, "KVC", 3);

	(void)state;
	add_trace(first, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON, .is_filtered = 1 });
	add_trace(second, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON });
	add_trace(first, "KVS", (struct ctrace_display){ .mode = CTRACE_MODE_ON, .is_filtered = 1 });
	add_trace(second, "KVS", (struct ctrace_display){ .mode = CTRACE_MODE_OFF });
	print_short();
	assert_printed(TITLES "  ABC           ON                       KVS           ON*-\n"
			      "  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH\n"
			      "  - ON, BUT ITS FILTERS LEAVE OUT EACH PROCESS THAT HAS IT\n");
}

static void nothing(void **state)
{
	(void)state;
	print_short();
	assert_printed("  NO TRACES\n");
}

static void foreign_names_are_escaped(void **state)
{
	(void)state;
	add_trace(add_process(1, "KVS", 2), "A\033B", (struct ctrace_display){ 0 });
	print_short();
	assert_printed(TITLES "  A\\u{1B}B      OFF\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_a_line_in_order_of_names),
		TEST(the_sample_says_that_a_sublevel_is_on),
		TEST(long_names_have_their_own_lines),
		TEST(several_processes_are_one_line),
		TEST(on_for_nobody),
		TEST(nothing),
		TEST(foreign_names_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
