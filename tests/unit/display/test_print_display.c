/*
 * test_print_display.c - DISPLAY TRACE for people, character by character.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

#include <errno.h>

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
		  (struct ctrace_display){ FLEXIBLE, .mode = CTRACE_MODE_MIN, .head = 1,
					   .headopts = 1, .subs = 12, .buffer = 1,
					   .buffer_rounded = 65536, .asid_count = 2,
					   .asid = { 0x1, 0xAF }, .minops = "ERRORS" });
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
	struct ctrace_display shown = { FLEXIBLE, .mode = CTRACE_MODE_ON, .asid_count = 16,
					.jobname_count = 16 };

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		shown.asid[i] = (uint16_t)(0xF0 + i);
		(void)snprintf(shown.jobname[i], sizeof shown.jobname[i], "JOB%05u", i);
	}
	(void)snprintf(
		shown.options, sizeof shown.options, "%s",
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
	struct ct_display_trace trace = {
		.name = "KVS", .display = { .is_defined = 1, .wtr = 1, .writer = "CTW" }
	};

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
	struct ct_display_trace tracer = {
		.name = "MF.RTS", .display = { .mode = CTRACE_MODE_ON, .buffer_rounded = 2048 }
	};
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "KVS",
		  (struct ctrace_display){ FLEXIBLE, .mode = CTRACE_MODE_ON, .is_filtered = 1,
					   .asid_count = 1, .asid = { 2 } });
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
		       "                      ON   0002K\n" NOTHING_ALLOWED
		       "     DEFINED    NO, THE PROGRAM ONLY TRACES WITH IT\n");
}

static void add_tree(uint32_t process)
{
	add_trace(process, "KVS.NET.IN", (struct ctrace_display){ FLEXIBLE, .likehead = 1 });
	add_trace(process, "KVS.LOCK", (struct ctrace_display){ FLEXIBLE });
	add_trace(process, "KVS", (struct ctrace_display){ .head = 1, .subs = 3 });
	add_trace(process, "KVS.NET",
		  (struct ctrace_display){ FLEXIBLE, .head = 1, .headopts = 1, .subs = 1,
					   .likehead = 1 });
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
	assert_printed(KVS_HEAD SUBTRACE RULE
		       "  A_LONG_NAME_OF_18C  OFF\n" NOTHING_SET RULE
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
	assert_printed(KVS_HEAD SUBTRACE RULE "  A_LONG_NAME_OF_18C  OFF\n" NOTHING_SET
					      "     1 OF 6 SUBLEVELS ARE SHOWN\n");
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
		       "                      OFF\n" NOTHING_SET
		       " ASID=0020 JOBNAME=KVCLIENT PID=12346\n"
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
	(void)snprintf(table.processes[process].note, sizeof table.processes[process].note,
		       "5000 traces; the first 4096 are shown");
	ct_display_print_notes(&table, &printed);
	assert_printed(" ASID=001F JOBNAME=KVS PID=2\n"
		       "     NOTE       5000 traces; the first 4096 are shown\n");
}

static void third_party_text_forges_no_line(void **state)
{
	(void)state;
	add_trace(add_process(1, "KVS", 2), "K\nVS",
		  (struct ctrace_display){ FLEXIBLE, .options = "A\n     WRITER     CTW",
					   .writer = "C\rW", .minops = "\xFF" });
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

/* ---- the short form ---- */

#define SHORT_TITLES \
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
	add_trace(process, "kvs",
		  (struct ctrace_display){
			  .mode = CTRACE_MODE_ON, .buffer = 1, .buffer_rounded = 65536 });
	add_trace(process, "ABC",
		  (struct ctrace_display){ .mode = CTRACE_MODE_MIN, .head = 1, .subs = 1234 });
	print_short();
	assert_printed(SHORT_TITLES
		       "  ABC           MIN          HEAD 1234   kvs           ON    0064K\n"
		       "  SYSXES        OFF\n");
}

static void the_sample_says_that_a_sublevel_is_on(void **state)
{
	(void)state;
	add_sample();
	print_short();
	assert_printed(SHORT_TITLES
		       "  SYSTCPIP      OFF+         HEAD    1\n"
		       "  + OFF, BUT A SUBLEVEL IS NOT: D TRACE,COMP=name,SUBLEVEL SHOWS IT\n");
}

static void long_names_have_their_own_lines(void **state)
{
	uint32_t process = add_process(1, "KVS", 2);

	(void)state;
	add_trace(process, "ABC", (struct ctrace_display){ 0 });
	add_trace(process, "MF.RUNTIME.01", (struct ctrace_display){ 0 });
	add_trace(process, "MF.RUNTIME.02",
		  (struct ctrace_display){ .buffer = 1, .buffer_rounded = 1 });
	add_trace(process, "MF.RUNTIME.100", (struct ctrace_display){ .head = 1 });
	add_trace(process, "SYS1", (struct ctrace_display){ 0 });
	add_trace(process, "SYS2", (struct ctrace_display){ .likehead = 1 });
	print_short();
	assert_printed(
		SHORT_TITLES
		"  ABC           OFF                      MF.RUNTIME.01 OFF\n"
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
	add_trace(second, "kvs",
		  (struct ctrace_display){
			  .mode = CTRACE_MODE_ON, .buffer = 1, .buffer_rounded = 4096 });
	add_trace(first, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON });
	add_trace(second, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON });
	print_short();
	assert_printed(SHORT_TITLES
		       "  ABC           ON                       kvs           ON*   0004K\n"
		       "  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH\n");
}

static void on_for_nobody(void **state)
{
	uint32_t first = add_process(1, "KVS", 2);
	uint32_t second = add_process(2, "KVC", 3);

	(void)state;
	add_trace(first, "ABC",
		  (struct ctrace_display){ .mode = CTRACE_MODE_ON, .is_filtered = 1 });
	add_trace(second, "ABC", (struct ctrace_display){ .mode = CTRACE_MODE_ON });
	add_trace(first, "KVS",
		  (struct ctrace_display){ .mode = CTRACE_MODE_ON, .is_filtered = 1 });
	add_trace(second, "KVS", (struct ctrace_display){ .mode = CTRACE_MODE_OFF });
	print_short();
	assert_printed(SHORT_TITLES
		       "  ABC           ON                       KVS           ON*-\n"
		       "  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH\n"
		       "  - ON, BUT ITS FILTERS LEAVE OUT EACH PROCESS THAT HAS IT\n");
}

static void nothing_in_the_short_form(void **state)
{
	(void)state;
	print_short();
	assert_printed("  NO TRACES\n");
}

static void third_party_names_are_escaped(void **state)
{
	(void)state;
	add_trace(add_process(1, "KVS", 2), "A\033B", (struct ctrace_display){ 0 });
	print_short();
	assert_printed(SHORT_TITLES "  A\\u{1B}B      OFF\n");
}

/* ---- writers ---- */

#define TITLE "  WRITER              STATUS      MODE    SINCE\n"

static void print_writers(const char *const *only, size_t count)
{
	struct ct_display_writers which = { .only = only, .count = count };

	ct_display_arrange(&table);
	ct_buf_clear(&printed);
	ct_display_print_writers(&table, &which, &printed);
	assert_false(table.failed);
}

static uint32_t add_writer(const char *name, struct ct_display_writer writer)
{
	(void)snprintf(writer.state.name, sizeof writer.state.name, "%s", name);
	writer.state.start_ns = AT_14_27_14;
	return ct_display_add_writer(&table, &writer);
}

static void name_writer(uint32_t process, const char *name, const char *writer, bool is_active)
{
	struct ct_display_trace trace = { .process = process,
					  .writer_is_active = is_active,
					  .display = { .wtr = 1 } };

	(void)snprintf(trace.name, sizeof trace.name, "%s", name);
	(void)snprintf(trace.display.writer, sizeof trace.display.writer, "%s", writer);
	ct_display_add_trace(&table, &trace);
}

static void one_that_writes(void **state)
{
	uint32_t writer = add_writer(
		"CTW",
		(struct ct_display_writer){
			.state = {
				.pid = 4711,
				.events = 123456,
				.bytes = 12582912,
				.wrapped_events = 10,
				.message =
					"ITT110I INITIALIZATION OF CTRACE WRITER CTW COMPLETE" } });

	(void)state;
	ct_display_add_trcout(
		&table, &(struct ct_display_trcout){ .writer = writer,
						     .state = { .number = 1,
								.limit = 50u << 20,
								.used = 12u << 20,
								.events = 123456,
								.wrapped_events = 10,
								.path = "/var/trace/kvs1" } });
	ct_display_add_trcout(&table,
			      &(struct ct_display_trcout){ .writer = writer,
							   .state = { .number = 2,
								      .limit = 50u << 20,
								      .path = "/var/trace/kvs2",
								      .failing = ENOSPC } });
	ct_display_add_link(&table,
			    &(struct ct_display_link){ .writer = writer,
						       .state = { .pid = 12345,
								  .asid = 0x1F,
								  .rings = 4,
								  .events = 123455,
								  .jobname = "KVSERVER",
								  .traces = "KVS KVS.NET" } });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = writer,
							       .state = { .pid = 12,
									  .asid = 2,
									  .rings = 1,
									  .events = 1,
									  .jobname = "OTHER" } });
	name_writer(add_process(0x1F, "KVSERVER", 12345), "KVS", "CTW", true);
	print_writers(NULL, 0);
	assert_printed(TITLE RULE
		       "  CTW                 FAILING     WRAP    2026-01-31 14.27.14\n"
		       "     PID        4711\n"
		       "     WRITTEN    123456 EVENTS, 12582912 BYTES\n"
		       "                10 EVENTS OVERWRITTEN\n"
		       "     TRCOUT01   /var/trace/kvs1\n"
		       "                USED 0012M OF 0050M, 123456 EVENTS\n"
		       "                10 EVENTS OVERWRITTEN\n"
		       "     TRCOUT02   /var/trace/kvs2\n"
		       "                USED 0000K OF 0050M, 0 EVENTS\n"
		       "                FAILING: No space left on device\n"
		       "     TRACES     ASID=0002 JOBNAME=OTHER PID=12, 1 EVENT, 1 RING\n"
		       "                *NONE AT PRESENT*\n"
		       "                ASID=001F JOBNAME=KVSERVER PID=12345, 123455 EVENTS, 4\n"
		       "                RINGS\n"
		       "                KVS KVS.NET\n"
		       "     MESSAGE    ITT110I INITIALIZATION OF CTRACE WRITER CTW COMPLETE\n");
}

static void one_that_does_not_answer(void **state)
{
	(void)state;
	add_writer("CTW", (struct ct_display_writer){ .is_silent = true });
	name_writer(add_process(0x1F, "KVSERVER", 12345), "KVS", "CTW", false);
	print_writers(NULL, 0);
	assert_printed(TITLE RULE "  CTW                 NO ANSWER\n"
				  "     WAITING    ASID=001F JOBNAME=KVSERVER PID=12345\n"
				  "                KVS\n");
}

static void one_that_is_full(void **state)
{
	uint32_t writer =
		add_writer("CTW", (struct ct_display_writer){ .state = { .pid = 1,
									 .nowrap = true,
									 .is_full = true,
									 .compress = true,
									 .events = 1,
									 .full_events = 7 } });

	(void)state;
	ct_display_add_trcout(&table, &(struct ct_display_trcout){ .writer = writer,
								   .state = { .number = 16,
									      .limit = 1024,
									      .used = 1024,
									      .events = 1,
									      .full_events = 7,
									      .path = "/t" } });
	print_writers(NULL, 0);
	assert_printed(TITLE RULE "  CTW                 FULL        NOWRAP  2026-01-31 14.27.14\n"
				  "     PID        1\n"
				  "     WRITTEN    1 EVENT, 0 BYTES, COMPRESSED WHEN CLOSED\n"
				  "                7 EVENTS NOT WRITTEN: ALL WAS FULL\n"
				  "     TRCOUT16   /t\n"
				  "                USED 0001K OF 0001K, 1 EVENT\n"
				  "                7 EVENTS NOT WRITTEN: IT IS FULL\n"
				  "     TRACES     *NONE*\n");
}

/* The classic error: the trace names a writer that nobody has started, or another one than was
 * started. */
static void one_that_does_not_run(void **state)
{
	uint32_t server = add_process(0x1F, "KVSERVER", 12345);
	uint32_t client = add_process(0x20, "KVCLIENT", 12346);

	(void)state;
	add_writer("CTW", (struct ct_display_writer){ .state = { .pid = 1, .stopping = true } });
	name_writer(server, "KVS.NET", "CTX", false);
	name_writer(server, "KVS", "ctx", false);
	name_writer(client, "KVC", "CTX", false);
	name_writer(client, "KVD", "CTW", false);
	name_writer(client, "KVE", "", false);
	print_writers(NULL, 0);
	assert_printed(TITLE RULE "  CTW                 STOPPING    WRAP    2026-01-31 14.27.14\n"
				  "     PID        1\n"
				  "     WRITTEN    0 EVENTS, 0 BYTES\n"
				  "     TRACES     *NONE*\n"
				  "     WAITING    ASID=0020 JOBNAME=KVCLIENT PID=12346\n"
				  "                KVD\n" RULE "  CTX                 NOT ACTIVE\n"
				  "     WAITING    ASID=001F JOBNAME=KVSERVER PID=12345\n"
				  "                KVS KVS.NET\n"
				  "                ASID=0020 JOBNAME=KVCLIENT PID=12346\n"
				  "                KVC\n");
}

static void those_that_are_asked_for(void **state)
{
	static const char *const names[] = { "abc", "CT?" };

	(void)state;
	add_writer("CTX", (struct ct_display_writer){ .state = { .pid = 2 } });
	add_writer("ZZZ", (struct ct_display_writer){ .state = { .pid = 3 } });
	add_writer("CTW", (struct ct_display_writer){ .state = { .pid = 1 } });
	print_writers(names, 2);
	assert_printed(TITLE RULE "  abc                 NOT ACTIVE\n" RULE
				  "  CTW                 ACTIVE      WRAP    2026-01-31 14.27.14\n"
				  "     PID        1\n"
				  "     WRITTEN    0 EVENTS, 0 BYTES\n"
				  "     TRACES     *NONE*\n" RULE
				  "  CTX                 ACTIVE      WRAP    2026-01-31 14.27.14\n"
				  "     PID        2\n"
				  "     WRITTEN    0 EVENTS, 0 BYTES\n"
				  "     TRACES     *NONE*\n");
}

/* In two run directories there may be two of one name. */
static void two_of_one_name(void **state)
{
	const char *second;
	uint32_t writer;

	(void)state;
	add_writer("CTW", (struct ct_display_writer){ .state.pid = 11 });
	writer = add_writer("CTW", (struct ct_display_writer){ .state.pid = 22 });
	ct_display_add_trcout(
		&table, &(struct ct_display_trcout){ .writer = writer,
						     .state = { .number = 1, .path = "/t" } });
	print_writers(NULL, 0);
	second = strstr(ct_buf_text(&printed), "PID        22\n");
	assert_non_null(strstr(ct_buf_text(&printed), "PID        11\n"));
	assert_non_null(second);
	assert_non_null(strstr(second, "TRCOUT01"));
	assert_ptr_equal(strstr(ct_buf_text(&printed), "TRCOUT01"), strstr(second, "TRCOUT01"));
}

static void nothing_of_writers(void **state)
{
	(void)state;
	print_writers(NULL, 0);
	assert_printed("  NO WRITERS\n");
}

static void third_party_text_forges_no_line_of_writers(void **state)
{
	uint32_t writer = add_writer(
		"CTW", (struct ct_display_writer){ .state = { .pid = 1, .message = "a\nb" } });

	(void)state;
	ct_display_add_trcout(
		&table, &(struct ct_display_trcout){ .writer = writer,
						     .state = { .number = 101, .path = "/\033" } });
	ct_display_add_link(
		&table, &(struct ct_display_link){
				.writer = writer, .state = { .jobname = "\n", .traces = "\x9B" } });
	print_writers(NULL, 0);
	assert_printed(TITLE RULE "  CTW                 ACTIVE      WRAP    2026-01-31 14.27.14\n"
				  "     PID        1\n"
				  "     WRITTEN    0 EVENTS, 0 BYTES\n"
				  "     TRCOUT01   /\\u{1B}\n"
				  "                USED 0000K OF 0000K, 0 EVENTS\n"
				  "     TRACES     ASID=0000 JOBNAME=\\n PID=0, 0 EVENTS, 0 RINGS\n"
				  "                \\x9B\n"
				  "     MESSAGE    a\\nb\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int test_print_display(void)
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
		TEST(third_party_text_forges_no_line),
		TEST(two_a_line_in_order_of_names),
		TEST(the_sample_says_that_a_sublevel_is_on),
		TEST(long_names_have_their_own_lines),
		TEST(several_processes_are_one_line),
		TEST(on_for_nobody),
		TEST(nothing_in_the_short_form),
		TEST(third_party_names_are_escaped),
		TEST(one_that_writes),
		TEST(one_that_is_full),
		TEST(one_that_does_not_answer),
		TEST(one_that_does_not_run),
		TEST(those_that_are_asked_for),
		TEST(two_of_one_name),
		TEST(nothing_of_writers),
		TEST(third_party_text_forges_no_line_of_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
