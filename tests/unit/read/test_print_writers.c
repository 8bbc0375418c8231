/*
 * test_print_writers.c - DISPLAY TRACE,WTR= character by character.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_fixture.h"

#include <errno.h>

#define TITLE "  WRITER              STATUS      MODE    SINCE\n"
#define RULE " -------------------------------------------------------\n"

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
	(void)snprintf(writer.name, sizeof writer.name, "%s", name);
	writer.start_ns = AT_14_27_14;
	return ct_display_add_writer(&table, &writer);
}

static void name_writer(uint32_t process, const char *name, const char *writer, bool is_active)
{
	struct ct_display_trace trace = { .process = process, .writer_is_active = is_active, .display = { .wtr = 1 } };

	(void)snprintf(trace.name, sizeof trace.name, "%s", name);
	(void)snprintf(trace.display.writer, sizeof trace.display.writer, "%s", writer);
	ct_display_add_trace(&table, &trace);
}

static void one_that_writes(void **state)
{
	uint32_t writer =
		add_writer("CTW", (struct ct_display_writer){ .pid = 4711,
							      .events = 123456,
							      .bytes = 12582912,
							      .wrapped_events = 10,
							      .message = "ITT110I INITIALIZATION OF CTRACE WRITER CTW COMPLETE" });

	(void)state;
	ct_display_add_trcout(
		&table, &(struct ct_display_trcout){
				.writer = writer, .number = 2, .limit = 50u << 20, .path = "/var/trace/kvs2", .failing = ENOSPC });
	ct_display_add_trcout(&table, &(struct ct_display_trcout){ .writer = writer,
								   .number = 1,
								   .limit = 50u << 20,
								   .used = 12u << 20,
								   .events = 123456,
								   .wrapped_events = 10,
								   .path = "/var/trace/kvs1" });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = writer,
							       .pid = 12345,
							       .asid = 0x1F,
							       .rings = 4,
							       .events = 123455,
							       .jobname = "KVSERVER",
							       .traces = "KVS KVS.NET" });
	ct_display_add_link(&table, &(struct ct_display_link){
					    .writer = writer, .pid = 12, .asid = 2, .rings = 1, .events = 1, .jobname = "OTHER" });
	name_writer(add_process(0x1F, "KVSERVER", 12345), "KVS", "CTW", true);
	print_writers(NULL, 0);
	assert_printed(TITLE RULE "  CTW                 FAILING     WRAP    2026-01-31 14.27.14\n"
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
		add_writer("CTW", (struct ct_display_writer){
					  .pid = 1, .nowrap = true, .is_full = true, .compress = true, .events = 1, .full_events = 7 });

	(void)state;
	ct_display_add_trcout(
		&table,
		&(struct ct_display_trcout){
			.writer = writer, .number = 16, .limit = 1024, .used = 1024, .events = 1, .full_events = 7, .path = "/t" });
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

/* The classic mistake: the trace names a writer that nobody has started, or another one than was started. */
static void one_that_does_not_run(void **state)
{
	uint32_t server = add_process(0x1F, "KVSERVER", 12345);
	uint32_t client = add_process(0x20, "KVCLIENT", 12346);

	(void)state;
	add_writer("CTW", (struct ct_display_writer){ .pid = 1, .is_stopping = true });
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
	add_writer("CTX", (struct ct_display_writer){ .pid = 2 });
	add_writer("ZZZ", (struct ct_display_writer){ .pid = 3 });
	add_writer("CTW", (struct ct_display_writer){ .pid = 1 });
	print_writers(names, 2);
	assert_printed(TITLE RULE "  abc                 NOT ACTIVE\n" RULE
				  "  CTW                 ACTIVE      WRAP    2026-01-31 14.27.14\n"
				  "     PID        1\n"
				  "     WRITTEN    0 EVENTS, 0 BYTES\n"
				  "     TRACES     *NONE*\n" RULE "  CTX                 ACTIVE      WRAP    2026-01-31 14.27.14\n"
				  "     PID        2\n"
				  "     WRITTEN    0 EVENTS, 0 BYTES\n"
				  "     TRACES     *NONE*\n");
}

/* In two run directories there may be two of one name. */
static void two_of_one_name(void **state)
{
	const char *first;

	(void)state;
	ct_display_add_trcout(&table, &(struct ct_display_trcout){ .writer = add_writer("CTW", (struct ct_display_writer){ .pid = 22 }),
								   .number = 1,
								   .path = "/t" });
	add_writer("CTW", (struct ct_display_writer){ .pid = 11 });
	print_writers(NULL, 0);
	first = strstr(ct_buf_text(&printed), "PID        11\n");
	assert_non_null(first);
	first = strstr(first, "PID        22\n");
	assert_non_null(first);
	assert_non_null(strstr(first, "TRCOUT01"));
	assert_ptr_equal(strstr(ct_buf_text(&printed), "TRCOUT01"), strstr(first, "TRCOUT01"));
}

static void nothing(void **state)
{
	(void)state;
	print_writers(NULL, 0);
	assert_printed("  NO WRITERS\n");
}

static void foreign_text_forges_no_line(void **state)
{
	uint32_t writer = add_writer("CTW", (struct ct_display_writer){ .pid = 1, .message = "a\nb" });

	(void)state;
	ct_display_add_trcout(&table, &(struct ct_display_trcout){ .writer = writer, .number = 101, .path = "/\033" });
	ct_display_add_link(&table, &(struct ct_display_link){ .writer = writer, .jobname = "\n", .traces = "\x9B" });
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_writes),
		TEST(one_that_is_full),
		TEST(one_that_does_not_answer),
		TEST(one_that_does_not_run),
		TEST(those_that_are_asked_for),
		TEST(two_of_one_name),
		TEST(nothing),
		TEST(foreign_text_forges_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
