/*
 * test_print_ipcs_tally.c - the tables of CTRACE TALLY.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void tables(void **state)
{
	struct ct_ipcs_tally rows[] = {
		{ .event_id = 1,
		  .mnemonic = "OPEN",
		  .description = (char *)(uintptr_t) "A file\nis opened",
		  .count = 1 },
		{ .event_id = 0x10,
		  .mnemonic = "\xC3\x84",
		  .count = 102,
		  .least_ns = 500,
		  .most_ns = 20000,
		  .sum_ns = 101000,
		  .decades = { 0, 100, 0, 1 } },
	};
	struct ct_ipcs_tallies tallies = { .at = rows, .count = 2, .events = 110, .others = 7 };
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_ipcs_print_tally(&out, &tallies);
	assert_string_equal(
		ct_buf_text(&out),
		" INTERVALS ARE IN MICROSECONDS\n\n"
		"      COUNT        INTERVAL  MNEMONIC  ENTRY ID  DESCRIPTION\n"
		" ----------  --------------  --------  --------  -----------\n"
		"          1               -  OPEN      00000001  A file\\nis opened\n"
		"        102           1.000  \xC3\x84         00000010\n"
		"\n TOTAL ENTRIES = 110\n"
		" OF MORE ENTRY IDS THAN ARE LISTED = 7\n"
		"\n MNEMONIC  ENTRY ID         MINIMUM            MEAN         MAXIMUM\n"
		" --------  --------  --------------  --------------  --------------\n"
		" \xC3\x84         00000010           0.500           1.000          20.000\n"
		"     <   10 us         100  ****************************************\n"
		"     <  100 us           0\n"
		"     <    1 ms           1  *\n");
	ct_buf_fini(&out);
}

int test_print_ipcs_tally(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
