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
	assert_prints("A", true, " COMP(A)\n START = 11/14/2023 22:13:20.000001 GMT\n STOP  = 11/14/2023 22:13:20.999999 GMT\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
