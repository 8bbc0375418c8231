/*
 * test_parmlib_print.c - what a trace is to become, as a member's text that is read as the same
 * again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "parmlib_fixture.h"

static void assert_printed(const char *text, const char *wanted)
{
	struct ct_buf out;

	parse(text);
	ct_buf_init(&out);
	ct_parmlib_print(request(0), &out);
	assert_string_equal(ct_buf_text(&out), wanted);
	parse(ct_buf_text(&out)); /* and what is printed is the same member */
	ct_buf_clear(&out);
	ct_parmlib_print(request(0), &out);
	assert_string_equal(ct_buf_text(&out), wanted);
	ct_buf_fini(&out);
}

static void printed(void **state)
{
	(void)state;
	assert_printed(
		"TRACEOPTS SUB(A.'b_'.asid(0d).jobname(x).\"Y\") preset(put) asid(0001,fF) jobname(a,b) bufsize(1m)"
		" options=(a,b=(c),'it''s') wtr(ctw)",
		"TRACEOPTS\n"
		"    SUB(A.'b_'.ASID(D).JOBNAME(X).Y) PRESET(PUT)\n"
		"    ASID(1,FF)\n"
		"    JOBNAME(A,B)\n"
		"    BUFSIZE(1024K)\n"
		"    OPTIONS('a,b=(c),it''s')\n"
		"    WTR(CTW)\n");
	assert_printed(
		"TRACEOPTS ON ASID() JOBNAME() OPTIONS() WTR(disconnect) BUFSIZE(2047M)",
		"TRACEOPTS\n    ON\n    ASID()\n    JOBNAME()\n    BUFSIZE(2047M)\n    OPTIONS()\n    WTR(DISCONNECT)\n");
	assert_printed("TRACEOPTS OFF", "TRACEOPTS\n    OFF\n");
	assert_printed("TRACEOPTS SUB(A) LIKEHEAD", "TRACEOPTS\n    SUB(A) LIKEHEAD\n");
	assert_printed("TRACEOPTS SUB(A) PRESET(DELETE)", "TRACEOPTS\n    SUB(A) PRESET(DELETE)\n");
	assert_printed("TRACEOPTS SUB('b'.'A_'.'C')", "TRACEOPTS\n    SUB('b'.'A_'.C)\n");
	assert_printed("TRACEOPTS BUFSIZE(9999K)", "TRACEOPTS\n    BUFSIZE(9999K)\n");
}

/* A size that no member could say, as BUFDFLT may be. */
static void printed_sizes(void **state)
{
	struct ct_trace_request odd = { .has[CT_CLAUSE_BUFSIZE] = true, .bufsize = 5000 };
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_parmlib_print(&odd, &out);
	assert_string_equal(ct_buf_text(&out), "TRACEOPTS\n    BUFSIZE(5K)\n");
	ct_buf_clear(&out);
	odd.bufsize = ((uint64_t)12 << 20) + 1;
	ct_parmlib_print(&odd, &out);
	assert_string_equal(ct_buf_text(&out), "TRACEOPTS\n    BUFSIZE(13M)\n");
	ct_buf_fini(&out);
}

static void printed_paths(void **state)
{
	struct ct_sub_path path = { 0 };
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_sub_print(&path, &out);
	assert_int_equal(out.size, 0);
	parse("TRACEOPTS SUB(A.'b_'.ASID(1f).JOBNAME(job))");
	ct_sub_print(&request(0)->sub, &out);
	assert_string_equal(ct_buf_text(&out), "A.'b_'.ASID(1F).JOBNAME(JOB)");
	ct_buf_fini(&out);
}

int test_parmlib_print(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printed),
		cmocka_unit_test(printed_sizes),
		cmocka_unit_test(printed_paths),
	};

	return cmocka_run_group_tests(tests, NULL, member_free);
}
