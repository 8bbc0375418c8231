/*
 * test_print_ipcs_query.c - lines of CTRACE QUERY.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void assert_prints(const char *name, bool has_times, const char *wanted)
{
	struct ct_ipcs_trace trace = { .name = (char *)(uintptr_t)name,
				       .name_size = strlen(name),
				       .count = 1,
				       .first_ns = 1700000000000001999u,
				       .last_ns = 1700000000999999999u };
	struct ct_buf out;

	ct_buf_init(&out);
	ct_ipcs_print_query(&out, &trace, has_times, false);
	assert_string_equal(ct_buf_text(&out), wanted);
	ct_buf_fini(&out);
}

static void lines(void **state)
{
	(void)state;
	assert_prints("APPXYZ", false, " COMP(APPXYZ)\n");
	assert_prints("APPXYZ.A.B", false, " COMP(APPXYZ)SUBNAME((A.B))\n");
	assert_prints("A\x1b.\"x\"", false, " COMP(A\\u{1B})SUBNAME((\"x\"))\n");
	assert_prints(
		"A", true,
		" COMP(A)\n START = 11/14/2023 22:13:20.000001 GMT\n STOP  = 11/14/2023 22:13:20.999999 GMT\n");
}

static void definitions(void **state)
{
	struct ct_ipcs_definition one = { .name = "A",
					  .jobname = "J\x1b",
					  .asid = 0x1F,
					  .buffer_bytes = 50u << 20,
					  .options = "GET,KEY(1)",
					  .minops = "ERRORS" };
	struct ct_ipcs_trace trace = { .name = (char *)(uintptr_t) "A", .name_size = 1 };
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	/* It has no entries, so there is no time of the first one. */
	ct_ipcs_print_query(&out, &trace, true, false);
	ct_ipcs_print_definition(&out, &one, false);
	assert_string_equal(
		ct_buf_text(&out),
		" COMP(A)\n Buffer size: 0050M\n OPTIONS: GET,KEY(1)\n OPTIONS: ERRORS\n");
	ct_buf_clear(&out);
	one.options = one.minops = "";
	one.buffer_bytes = 0;
	ct_ipcs_print_definition(&out, &one, true);
	assert_string_equal(
		ct_buf_text(&out),
		" ASID=001F JOBNAME=J\\u{1B}\n Buffer size: *NONE*\n OPTIONS: *NONE*\n OPTIONS: *NONE*\n");
	ct_buf_fini(&out);
}

int test_print_ipcs_query(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(definitions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
