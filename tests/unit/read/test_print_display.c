/*
 * test_print_display.c - the long form of DISPLAY TRACE, character by character.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

#define RULE " -------------------------------------------------------\n"
#define NOTHING_SET \
	"     ASIDS      *NONE*\n" \
	"     JOBNAMES   *NONE*\n" \
	"     OPTIONS    *NONE*\n" \
	"     WRITER     *NONE*\n"
#define NOTHING_ALLOWED \
	"     ASIDS      *NOT SUPPORTED*\n" \
	"     JOBNAMES   *NOT SUPPORTED*\n" \
	"     OPTIONS    *NONE*\n" \
	"     WRITER     *NOT SUPPORTED*\n"

/* All that may be filtered, and written by a writer. */
#define FLEXIBLE .asids = 1, .jobs = 1, .wtr = 1

static void the_sample_of_the_books(void **state)
{
	(void)state;
	add_sample();
	ct_display_arrange(&table);
	ct_display_print_head(&table, &printed);
	ct_display_print_long(&table, &with_sub, &printed);
	assert_printed(HEAD_LINES "  TRACENAME\n"
				  "  =========\n"
				  "  SYSTCPIP\n"
				  "                      MODE BUFFER HEAD SUBS\n"
				  "                      =====================\n"
				  "                      OFF         HEAD    1\n"
				  "     NO HEAD OPTIONS\n"
				  "  SUBTRACE            MODE BUFFER HEAD SUBS\n"
				  " -------------------------------------------------------\n"
				  "  TCPIPROC            ON   0008M\n"
				  "     ASIDS      *NONE*\n"
				  "     JOBNAMES   EZASOKJS\n"
				  "     OPTIONS    SOCKAPI\n"
				  "     WRITER     CTW\n");
}

static void status_is_off_when_nothing_is_on(void **state)
{
	(void)state;
	table.is_any_on = false;
	table.time_ns = 0;
	ct_display_print_head(&table, &printed);
	assert_printed(" IEE843I 00.00.00  TRACE DISPLAY\n"
		       "         SYSTEM STATUS INFORMATION\n"
		       " ST=OFF AS=OFF BR=OFF EX=OFF MT=OFF\n");
}

static void a_head_with_options_and_all_modes(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "KVS",
		  (struct ctrace_display){ FLEXIBLE, .mode = CTRACE_MODE_MIN, .head = 1, .headopts = 1, .subs = 12, .buffer = 1,
					   .buffer_rounded = 65536, .asid_count = 2, .asid = { 0x1, 0xAF }, .minops = "ERRORS" });
	add_trace(process, "KVT", (struct ctrace_display){ .mode = CT_DISPLAY_MODE_PRE });
	add_trace(process, "KVU", (struct ctrace_display){ .mode = 77, .buffer_rounded = 4096 });
	print_long(&trace_alone);
	assert_printed("  TRACENAME\n"
		       "  =========\n"
		       "  KVS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      MIN  0064K  HEAD   12\n"
		       "     ASIDS      0001,00AF\n"
		       "     JOBNAMES   *NONE*\n"
		       "     OPTIONS    *NONE*\n"
		       "     MINOPS     ERRORS\n"
		       "     WRITER     *NONE*\n"
		       "  TRACENAME\n"
		       "  =========\n"
		       "  KVT\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      PRE\n" NOTHING_ALLOWED "  TRACENAME\n"
		       "  =========\n"
		       "  KVU\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      ?\n" NOTHING_ALLOWED);
}

static void long_lists_go_on_below(void **state)
{
	struct ctrace_display shown = { FLEXIBLE, .mode = CTRACE_MODE_ON, .asid_count = 16, .jobname_count = 16 };

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		shown.asid[i] = (uint16_t)(0xF0 + i);
		(void)snprintf(shown.jobname[i], sizeof shown.jobname[i], "JOB%05u", i);
	}
	(void)snprintf(shown.options, sizeof shown.options, "%s",
		       "LEVEL=INFO,DEST=(TEXTFILE,STDERR),userid=(johndoe),NOTHINGATALLTHATIS,x=y z");
	add_trace(add_process(1, "KVS", 2), "KVS", shown);
	print_long(&trace_alone);
	assert_printed("  TRACENAME\n"
		       "  =========\n"
		       "  KVS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      ON\n"
		       "     ASIDS      00F0,00F1,00F2,00F3,00F4,00F5,00F6,00F7,00F8,00F9,00FA,\n"
		       "                00FB,00FC,00FD,00FE,00FF\n"
		       "     JOBNAMES   JOB00000,JOB00001,JOB00002,JOB00003,JOB00004,JOB00005,\n"
		       "                JOB00006,JOB00007,JOB00008,JOB00009,JOB00010,JOB00011,\n"
		       "                JOB00012,JOB00013,JOB00014,JOB00015\n"
		       "     OPTIONS    LEVEL=INFO,DEST=(TEXTFILE,STDERR),userid=(johndoe),\n"
		       "                NOTHINGATALLTHATIS,x=y z\n"
		       "     WRITER     *NONE*\n");
	for (const char *line = ct_buf_text(&printed); *line != '\0'; line = strchr(line, '\n') + 1)
		assert_true(strcspn(line, "\n") <= CT_DISPLAY_COLUMNS);
}

static void a_writer_that_does_not_run(void **state)
{
	struct ct_display_trace trace = { .name = "KVS", .display = { .is_defined = 1, .wtr = 1, .writer = "CTW" } };

	(void)state;
	trace.process = add_process(1, "KVS", 2);
	ct_display_add_trace(&table, &trace);
	print_long(&trace_alone);
	assert_non_null(strstr(ct_buf_text(&printed), "\n     WRITER     CTW  (NOT ACTIVE)\n"));
	table.traces[0].display.mode = CT_DISPLAY_MODE_PRE; /* nobody has asked for it yet */
	print_long(&trace_alone);
	assert_non_null(strstr(ct_buf_text(&printed), "\n     WRITER     CTW\n"));
}

static void on_but_filtered_and_not_defined(void **state)
{
	struct ct_display_trace tracer = { .name = "MF.RTS", .display = { .mode = CTRACE_MODE_ON, .buffer_rounded = 2048 } };
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "KVS",
		  (struct ctrace_display){ FLEXIBLE, .mode = CTRACE_MODE_ON, .is_filtered = 1, .asid_count = 1, .asid = { 2 } });
	tracer.process = process;
	ct_display_add_trace(&table, &tracer);
	print_long(&trace_alone);
	assert_printed("  TRACENAME\n"
		       "  =========\n"
		       "  KVS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      ON\n"
		       "     ASIDS      0002\n"
		       "     JOBNAMES   *NONE*\n"
		       "     OPTIONS    *NONE*\n"
		       "     WRITER     *NONE*\n"
		       "     FILTERED   ON, BUT ITS FILTERS LEAVE THIS PROCESS OUT\n"
		       "  TRACENAME\n"
		       "  =========\n"
		       "  MF.RTS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      ON   0002K\n" NOTHING_ALLOWED "     DEFINED    NO, THE PROGRAM ONLY TRACES WITH IT\n");
}

static void add_tree(uint32_t process)
{
	add_trace(process, "KVS.NET.IN", (struct ctrace_display){ FLEXIBLE, .likehead = 1 });
	add_trace(process, "KVS.LOCK", (struct ctrace_display){ FLEXIBLE });
	add_trace(process, "KVS", (struct ctrace_display){ .head = 1, .subs = 3 });
	add_trace(process, "KVS.NET", (struct ctrace_display){ FLEXIBLE, .head = 1, .headopts = 1, .subs = 1, .likehead = 1 });
	add_trace(process, "KVS.A_LONG_NAME_OF_18C", (struct ctrace_display){ FLEXIBLE });
	add_trace(process, "KVS.A_NAME_OF_EXACTLY19", (struct ctrace_display){ FLEXIBLE });
	add_trace(process, "KVS.A_NAME_OF_EXACTLY_20", (struct ctrace_display){ FLEXIBLE });
}

#define KVS_HEAD \
	"  TRACENAME\n" \
	"  =========\n" \
	"  KVS\n" \
	"                      MODE BUFFER HEAD SUBS\n" \
	"                      =====================\n" \
	"                      OFF         HEAD    3\n" \
	"     NO HEAD OPTIONS\n"
#define SUBTRACE "  SUBTRACE            MODE BUFFER HEAD SUBS\n"

static void the_tree_with_sublevel(void **state)
{
	(void)state;
	add_tree(add_process(1, "KVS", 2));
	print_long(&all_levels);
	assert_printed(KVS_HEAD SUBTRACE RULE "  A_LONG_NAME_OF_18C  OFF\n" NOTHING_SET RULE
					      "  A_NAME_OF_EXACTLY19 OFF\n" NOTHING_SET RULE "  A_NAME_OF_EXACTLY_20\n"
					      "                      OFF\n" NOTHING_SET RULE
					      "  LOCK                OFF\n" NOTHING_SET RULE
					      "  NET                 OFF         LIKE    1\n" NOTHING_SET RULE
					      "   IN                 OFF         LIKE\n" NOTHING_SET);
}

static void the_trace_alone_without_it(void **state)
{
	(void)state;
	add_tree(add_process(1, "KVS", 2));
	print_long(&trace_alone);
	assert_printed(KVS_HEAD);
}

static void n_limits_and_tells_of_the_rest(void **state)
{
	struct ct_display_form form = { .levels = CT_DISPLAY_NONE, .limit = 1 };

	(void)state;
	add_tree(add_process(1, "KVS", 2));
	print_long(&form);
	assert_printed(KVS_HEAD SUBTRACE RULE "  A_LONG_NAME_OF_18C  OFF\n" NOTHING_SET "     1 OF 6 SUBLEVELS ARE SHOWN\n");
	form.levels = 1;
	form.limit = 0;
	print_long(&form);
	assert_printed(KVS_HEAD "     0 OF 5 SUBLEVELS ARE SHOWN\n");
	form.limit = 5;
	print_long(&form);
	assert_null(strstr(ct_buf_text(&printed), "SHOWN"));
}

/* SUB=(NET.IN), whose head is in the answer, and NET not. */
static void a_sublevel_of_a_sublevel_alone(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "KVS", (struct ctrace_display){ .head = 1, .subs = 3 });
	add_trace(process, "KVS.NET.IN", (struct ctrace_display){ FLEXIBLE });
	print_long(&with_sub);
	assert_printed(KVS_HEAD SUBTRACE RULE "  NET.IN              OFF\n" NOTHING_SET);
}

static void each_process_has_its_block(void **state)
{
	uint32_t second = add_process(0x20, "KVCLIENT", 12346);
	uint32_t first = add_process(0x1F, "KV\033[2J", 12345);

	(void)state;
	add_trace(second, "KVS", (struct ctrace_display){ FLEXIBLE });
	add_trace(first, "KVS", (struct ctrace_display){ FLEXIBLE });
	add_trace(second, "ABC", (struct ctrace_display){ .head = 1 });
	print_long(&trace_alone);
	assert_printed(" ASID=0020 JOBNAME=KVCLIENT PID=12346\n"
		       "  TRACENAME\n"
		       "  =========\n"
		       "  ABC\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      OFF         HEAD    0\n"
		       "     NO HEAD OPTIONS\n"
		       " ASID=001F JOBNAME=KV\\u{1B}[2J PID=12345\n"
		       "  TRACENAME\n"
		       "  =========\n"
		       "  KVS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      OFF\n" NOTHING_SET " ASID=0020 JOBNAME=KVCLIENT PID=12346\n"
		       "  TRACENAME\n"
		       "  =========\n"
		       "  KVS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      OFF\n" NOTHING_SET);
}

static void what_nobody_has(void **state)
{
	(void)state;
	print_long(&trace_alone);
	assert_printed("  NO TRACES\n");
	ct_display_add_missing(&table, "KVX.\n");
	print_long(&trace_alone);
	assert_printed("  TRACENAME\n"
		       "  =========\n"
		       "  KVX.\\n\n"
		       "     NO PROCESS HAS THIS TRACE\n");
}

static void what_processes_say_of_their_answers(void **state)
{
	uint32_t process = add_process(0x1F, "KVS", 2);

	(void)state;
	add_process(0x20, "KVC", 3);
	ct_display_print_notes(&table, &printed);
	assert_int_equal(printed.size, 0);
	(void)snprintf(table.processes[process].note, sizeof table.processes[process].note, "5000 traces; the first 4096 are shown");
	ct_display_print_notes(&table, &printed);
	assert_printed(" ASID=001F JOBNAME=KVS PID=2\n"
		       "     NOTE       5000 traces; the first 4096 are shown\n");
}

static void foreign_text_forges_no_line(void **state)
{
	(void)state;
	add_trace(add_process(1, "KVS", 2), "K\nVS",
		  (struct ctrace_display){ FLEXIBLE, .options = "A\n     WRITER     CTW", .writer = "C\rW", .minops = "\xFF" });
	print_long(&trace_alone);
	assert_printed("  TRACENAME\n"
		       "  =========\n"
		       "  K\\nVS\n"
		       "                      MODE BUFFER HEAD SUBS\n"
		       "                      =====================\n"
		       "                      OFF\n"
		       "     ASIDS      *NONE*\n"
		       "     JOBNAMES   *NONE*\n"
		       "     OPTIONS    A\\n     WRITER     CTW\n"
		       "     MINOPS     \\xFF\n"
		       "     WRITER     C\\rW\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_sample_of_the_books),
		TEST(status_is_off_when_nothing_is_on),
		TEST(a_head_with_options_and_all_modes),
		TEST(long_lists_go_on_below),
		TEST(a_writer_that_does_not_run),
		TEST(on_but_filtered_and_not_defined),
		TEST(the_tree_with_sublevel),
		TEST(the_trace_alone_without_it),
		TEST(n_limits_and_tells_of_the_rest),
		TEST(a_sublevel_of_a_sublevel_alone),
		TEST(each_process_has_its_block),
		TEST(what_nobody_has),
		TEST(what_processes_say_of_their_answers),
		TEST(foreign_text_forges_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
