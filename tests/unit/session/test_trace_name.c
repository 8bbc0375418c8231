/*
 * test_trace_name.c - names and numbers of component trace: what is one, and the reason for what is
 * none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/control/control.h"

struct refusal {
	const char *text;
	uint32_t reason;
};

static void names(void **state)
{
	static const char *const good[] = { "A",      "Z9",       "@",       "#$@A0",
					    "APPXYZ", "ABCDEFGH", "A1234567" };
	static const char *const bad[] = { "",    "1",  "9ABC", "abc", "aBC", "ABc", "ABCDEFGHI",
					   "A B", "A ", " A",   "A.B", "A-B", "A_B", "\xC4" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++)
		assert_true(ct_trace_name_is_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		assert_false(ct_trace_name_is_valid(bad[i], strlen(bad[i])));
	assert_false(ct_trace_name_is_valid("A\0B", 3));
	assert_true(ct_trace_name_is_valid("ABCDEFGHI", 8)); /* not beyond its size */
}

static void asids(void **state)
{
	static const struct refusal bad[] = {
		{ "", CTRACE_RSN_ASID_NOT_HEX },       { "G", CTRACE_RSN_ASID_NOT_HEX },
		{ "-1", CTRACE_RSN_ASID_NOT_HEX },     { "0x1", CTRACE_RSN_ASID_NOT_HEX },
		{ " 1", CTRACE_RSN_ASID_NOT_HEX },     { "12345", CTRACE_RSN_ASID_TOO_LONG },
		{ "00001", CTRACE_RSN_ASID_TOO_LONG }, { "FFFFFFFF1", CTRACE_RSN_ASID_TOO_LONG },
		{ "0", CTRACE_RSN_ASID_ZERO },         { "0000", CTRACE_RSN_ASID_ZERO },
	};
	uint16_t asid = 0x55;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		assert_int_equal(ct_asid_parse(bad[i].text, strlen(bad[i].text), &asid),
				 bad[i].reason);
	assert_int_equal(asid, 0x55); /* written on success only */
	assert_int_equal(ct_asid_parse("1", 1, &asid), 0);
	assert_int_equal(asid, 1);
	assert_int_equal(ct_asid_parse("00aF", 4, &asid), 0);
	assert_int_equal(asid, 0xAF);
	assert_int_equal(ct_asid_parse("FFFF", 4, &asid), 0);
	assert_int_equal(asid, 0xFFFF);
}

static void jobnames(void **state)
{
	static const struct refusal bad[] = {
		{ "", CTRACE_RSN_PARMLIB },
		{ "A B", CTRACE_RSN_PARMLIB },
		{ "A,B", CTRACE_RSN_PARMLIB },
		{ "A(", CTRACE_RSN_PARMLIB },
		{ ")", CTRACE_RSN_PARMLIB },
		{ "'A'", CTRACE_RSN_PARMLIB },
		{ "\"A", CTRACE_RSN_PARMLIB },
		{ "A\n", CTRACE_RSN_PARMLIB },
		{ "\x7F", CTRACE_RSN_PARMLIB },
		{ "ABCDEFGHI", CTRACE_RSN_JOBNAME_TOO_LONG },
		{ "*", CTRACE_RSN_PARMLIB },
		{ "KVS?", CTRACE_RSN_PARMLIB },
		{ "A B C D E", CTRACE_RSN_JOBNAME_TOO_LONG },
	};
	char jobname[CTRACE_MAX_NAME + 1] = "unknown";

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		assert_int_equal(ct_jobname_parse(bad[i].text, strlen(bad[i].text), jobname),
				 bad[i].reason);
	assert_int_equal(ct_jobname_parse("A\0", 2, jobname), CTRACE_RSN_PARMLIB);
	assert_string_equal(jobname, "unknown");
	assert_int_equal(ct_jobname_parse("a.out-9x", 7, jobname), 0);
	assert_memory_equal(jobname, "A.OUT-9\0", 9); /* in upper case, and padded */
	assert_int_equal(ct_jobname_parse("ABCDEFGH", 8, jobname), 0);
	assert_string_equal(jobname, "ABCDEFGH");
}

static void bufsizes(void **state)
{
	static const struct refusal bad[] = {
		{ "10000K", CTRACE_RSN_BUFSIZE_TOO_LONG },
		{ "123456789M", CTRACE_RSN_BUFSIZE_TOO_LONG },
		{ "", CTRACE_RSN_BUFSIZE_UNIT },
		{ "64", CTRACE_RSN_BUFSIZE_UNIT },
		{ "64G", CTRACE_RSN_BUFSIZE_UNIT },
		{ "64K ", CTRACE_RSN_BUFSIZE_UNIT },
		{ "K", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ "6x4K", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ "+64K", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ " 64K", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ "0K", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ "000M", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ "2048M", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
		{ "9999M", CTRACE_RSN_BUFSIZE_NOT_DECIMAL },
	};
	uint64_t bytes = 5;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		assert_int_equal(ct_bufsize_parse(bad[i].text, strlen(bad[i].text), &bytes),
				 bad[i].reason);
	assert_int_equal(bytes, 5);
	assert_int_equal(ct_bufsize_parse("1K", 2, &bytes), 0);
	assert_int_equal(bytes, 1024);
	assert_int_equal(ct_bufsize_parse("9999k", 5, &bytes), 0);
	assert_int_equal(bytes, 9999 * 1024);
	assert_int_equal(ct_bufsize_parse("0001m", 5, &bytes), 0);
	assert_int_equal(bytes, 1 << 20);
	assert_int_equal(ct_bufsize_parse("2047M", 5, &bytes), 0);
	assert_int_equal(bytes, (uint64_t)2047 << 20);
}

static void writers(void **state)
{
	static const char *const bad[] = { "",    "1CTW", "ABCDEFGH", "DISCONNECT", "A.B",
					   "A B", "A_B",  "A-",       "\xC4" };
	char writer[CTRACE_MAX_NAME + 1] = "unknown";

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++)
		assert_int_equal(ct_writer_parse(bad[i], strlen(bad[i]), writer),
				 CTRACE_RSN_WTR_NAME);
	assert_string_equal(writer, "unknown");
	assert_int_equal(ct_writer_parse("ctw$01", 6, writer), 0);
	assert_memory_equal(writer, "CTW$01\0\0", 9);
	assert_int_equal(ct_writer_parse("ABCDEFG", 7, writer), 0);
	assert_string_equal(writer, "ABCDEFG");
}

static struct ct_sub_path path;
static struct ct_diagnostic diagnostic;

static uint32_t parse_sub(const char *text)
{
	memset(&path, 0x55, sizeof path);
	return ct_sub_parse(text, strlen(text), &path, &diagnostic);
}

static void sub_paths(void **state)
{
	(void)state;
	assert_int_equal(parse_sub("SUBA"), 0);
	assert_int_equal(path.count, 1);
	assert_int_equal(path.element[0].kind, CT_SUB_NAME);
	assert_string_equal(path.element[0].text, "SUBA");

	assert_int_equal(parse_sub("ASID(0d).FACILITY12.$A.@B.#C"), 0);
	assert_int_equal(path.count, 5);
	assert_int_equal(path.element[0].kind, CT_SUB_ASID);
	assert_int_equal(path.element[0].asid, 0xD);
	assert_string_equal(path.element[0].text, "");
	assert_string_equal(path.element[1].text, "FACILITY12");
	assert_string_equal(path.element[4].text, "#C");

	assert_int_equal(parse_sub("jobname(abc).'lower_Case'.\"x\""), 0);
	assert_int_equal(path.count, 3);
	assert_int_equal(path.element[0].kind, CT_SUB_JOBNAME);
	assert_string_equal(path.element[0].text, "ABC");
	assert_int_equal(path.element[1].kind, CT_SUB_NAME);
	assert_string_equal(path.element[1].text, "lower_Case");
	assert_string_equal(path.element[2].text, "x");

	/* names like others, without a parenthesis */
	assert_int_equal(parse_sub("ASID.JOBNAME"), 0);
	assert_int_equal(path.element[0].kind, CT_SUB_NAME);
	assert_int_equal(parse_sub("A23456789012345678"), 0);
	assert_string_equal(path.element[0].text, "A23456789012345678");
	assert_int_equal(parse_sub(" A . ASID ( 5 ) . 'b'\n"), 0);
	assert_int_equal(path.count, 3);
	assert_int_equal(path.element[1].asid, 5);
}

static void bytes_that_do_not_count_are_zero(void **state)
{
	static const struct ct_sub_element empty;

	(void)state;
	assert_int_equal(parse_sub("A.B"), 0);
	assert_memory_equal(&path.element[2], &empty, sizeof empty);
	assert_memory_equal(&path.element[4], &empty, sizeof empty);
}

static void assert_refused(const char *text, uint32_t reason, unsigned column, const char *message)
{
	static const struct ct_sub_path untouched;

	memset(&path, 0, sizeof path);
	memset(&diagnostic, 0x55, sizeof diagnostic);
	assert_int_equal(ct_sub_parse(text, strlen(text), &path, &diagnostic), reason);
	assert_string_equal(diagnostic.message, message);
	assert_int_equal(diagnostic.line, 0);
	assert_int_equal(diagnostic.column, column);
	assert_true(diagnostic.expected[0] != '\0');
	assert_memory_equal(&path, &untouched, sizeof path);
	assert_int_equal(ct_sub_parse(text, strlen(text), &path, NULL), reason);
}

static void sub_diagnostics(void **state)
{
	(void)state;
	assert_refused("", CTRACE_RSN_SUB_NAME, 1, "a name is missing");
	assert_refused("A.", CTRACE_RSN_SUB_NAME, 3, "a name is missing");
	assert_refused(".A", CTRACE_RSN_SUB_NAME, 1, "a name is missing");
	assert_refused("A..B", CTRACE_RSN_SUB_NAME, 3, "a name is missing");
	assert_refused("''", CTRACE_RSN_SUB_NAME, 2, "a name is missing");
	assert_refused("1A", CTRACE_RSN_SUB_NAME, 1, "\"1A\" is not a sublevel name");
	assert_refused("A.B-C", CTRACE_RSN_SUB_NAME, 3, "\"B-C\" is not a sublevel name");
	assert_refused("'1a'", CTRACE_RSN_SUB_NAME, 2, "\"1a\" is not a sublevel name");
	assert_refused("'a b'", CTRACE_RSN_SUB_NAME, 2, "\"a b\" is not a sublevel name");
	assert_refused("A.sub", CTRACE_RSN_SUB_NAME, 3,
		       "\"sub\" has lower case letters or _ outside quotation marks");
	assert_refused("A_B", CTRACE_RSN_SUB_NAME, 1,
		       "\"A_B\" has lower case letters or _ outside quotation marks");
	assert_refused("A234567890123456789", CTRACE_RSN_SUB_NAME, 1,
		       "\"A234567890123456789\" is longer than 18 characters");
	assert_refused("A.B.C.D.E.F", CTRACE_RSN_SUB_NAME, 10, "\".F\" is more than 5 names");
	assert_refused("A B", CTRACE_RSN_SUB_NAME, 3, "\"B\" is not expected here");
	assert_refused("'A'B", CTRACE_RSN_SUB_NAME, 4, "\"B\" is not expected here");
	assert_refused("ASID(5)X", CTRACE_RSN_SUB_NAME, 8, "\"X\" is not expected here");
	assert_refused("A.'B", CTRACE_RSN_SUB_NAME, 3, "\"'B\" has no closing quotation mark");
	assert_refused("ASID(5", CTRACE_RSN_SUB_NAME, 1, "\"ASID(5\" has no closing parenthesis");
	assert_refused("JOB(A)", CTRACE_RSN_SUB_NAME, 1, "\"JOB\" takes no parentheses");
	assert_refused("(A)", CTRACE_RSN_SUB_NAME, 1, "a name is missing");
	assert_refused("A\n\x1B[2J", CTRACE_RSN_SUB_NAME, 3, "\"\\u{1B}[2J\" is not expected here");
}

static void sub_spaces(void **state)
{
	(void)state;
	assert_refused("ASID(XY)", CTRACE_RSN_ASID_NOT_HEX, 6, "\"XY\" is not hexadecimal");
	assert_refused("ASID()", CTRACE_RSN_ASID_NOT_HEX, 6, "\"\" is not hexadecimal");
	assert_refused("A.ASID( 12345 )", CTRACE_RSN_ASID_TOO_LONG, 9,
		       "\"12345\" is longer than 4 digits");
	assert_refused("ASID(0)", CTRACE_RSN_ASID_ZERO, 6, "\"0\" is zero");
	assert_refused("JOBNAME(ABCDEFGHI)", CTRACE_RSN_JOBNAME_TOO_LONG, 9,
		       "\"ABCDEFGHI\" is longer than 8 characters");
	assert_refused("JOBNAME()", CTRACE_RSN_SUB_NAME, 9, "\"\" is not a job name");
	assert_refused("JOBNAME(A B)", CTRACE_RSN_SUB_NAME, 9, "\"A B\" is not a job name");
}

/* Whatever the reason and the text are, the words fit, and are harmless. */
static void words_for_every_reason(void **state)
{
	char worst[300];

	(void)state;
	memset(worst, 0x1B, sizeof worst);
	for (uint32_t reason = 0; reason <= 0xFF; reason++) {
		memset(&diagnostic, 0x55, sizeof diagnostic);
		ct_trace_diagnose(reason, (struct ct_span){ worst, sizeof worst }, &diagnostic);
		/* nor cut */
		assert_true(strlen(diagnostic.message) < sizeof diagnostic.message - 1);
		assert_true(strlen(diagnostic.expected) < sizeof diagnostic.expected - 1);
		assert_null(strchr(diagnostic.message, 0x1B));
	}
	ct_trace_diagnose(CTRACE_RSN_BUFSIZE_NOT_DECIMAL, (struct ct_span){ "0K", 2 }, &diagnostic);
	assert_string_equal(diagnostic.message,
			    "\"0K\" is not a size from 1K to 9999K or from 1M to 2047M");
	assert_string_equal(diagnostic.expected, "1K to 9999K or 1M to 2047M");
}

int test_trace_name(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(asids),
		cmocka_unit_test(jobnames),
		cmocka_unit_test(bufsizes),
		cmocka_unit_test(writers),
		cmocka_unit_test(sub_paths),
		cmocka_unit_test(bytes_that_do_not_count_are_zero),
		cmocka_unit_test(sub_diagnostics),
		cmocka_unit_test(sub_spaces),
		cmocka_unit_test(words_for_every_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
