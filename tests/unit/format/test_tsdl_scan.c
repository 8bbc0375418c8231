/*
 * test_tsdl_scan.c - tokens of metadata, where they stand, and what is none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_fixture.h"

static void assert_tokens(const char *text, const char *wanted)
{
	static const char kinds[] = "EWNSX!";
	struct ct_tsdl_scan scan;
	char got[512] = "";

	for (ct_tsdl_scan_begin(&scan, text, strlen(text)); scan.token != CT_TOKEN_END;
	     ct_tsdl_scan_next(&scan)) {
		size_t size = strlen(got);

		(void)snprintf(got + size, sizeof got - size, "%c%u:%u<%.*s> ", kinds[scan.token],
			       scan.token_line, scan.token_column, (int)scan.length, scan.start);
	}
	assert_string_equal(got, wanted);
}

static void tokens_and_their_places(void **state)
{
	(void)state;
	assert_tokens("", "");
	assert_tokens("a_1 := struct{", "W1:1<a_1> X1:5<:=> W1:8<struct> X1:14<{> ");
	assert_tokens("/* CTF 1.8\n */ x // rest\n\ty", "W2:5<x> W3:2<y> ");
	assert_tokens("1...3.a", "N1:1<1> X1:2<...> N1:5<3> X1:6<.> W1:7<a> ");
	assert_tokens("\"a \\\" b\n\"\n  c", "S1:1<\"a \\\" b\n\"> W3:3<c> ");
}

static void what_is_no_token(void **state)
{
	(void)state;
	assert_tokens("\"abc", "!1:1<\"abc> ");
	assert_tokens("a /* b", "W1:1<a> !1:3</* b> ");
	assert_tokens("/*/", "!1:1</*/> ");
	assert_tokens("18446744073709551616 12ab 08",
		      "!1:1<18446744073709551616> !1:22<12> W1:24<ab> !1:27<0> N1:28<8> ");
	assert_tokens("// to the end", "");
}

static uint64_t number(const char *text)
{
	struct ct_tsdl_scan scan;

	ct_tsdl_scan_begin(&scan, text, strlen(text));
	assert_int_equal(scan.token, CT_TOKEN_NUMBER);
	return scan.number;
}

static void numbers(void **state)
{
	(void)state;
	assert_int_equal(number("0"), 0);
	assert_int_equal(number("017"), 15);
	assert_int_equal(number("0xfF"), 255);
	assert_int_equal(number("42ULL"), 42);
	assert_int_equal(number("18446744073709551615"), UINT64_MAX);
}

static void strings(void **state)
{
	static const char text[] = "\"a\\n\\t\\\\\\\"\\x41\\101\\q\\x\\u{1b}\\u{202E}.\\u\\u{9b\"";
	static const char bytes[] = "a\n\t\\\"AAqx\x1B\xE2\x80\xAE.u\xC2\x9B";
	struct ct_tsdl_scan scan;
	char out[64];

	(void)state;
	ct_tsdl_scan_begin(&scan, text, strlen(text));
	assert_int_equal(scan.token, CT_TOKEN_STRING);
	assert_int_equal(ct_tsdl_scan_string(&scan, out), sizeof bytes - 1);
	assert_memory_equal(out, bytes, sizeof bytes - 1);
	assert_false(ct_tsdl_scan_is(&scan, text));
	assert_int_equal(ct_tsdl_unescape(text + 1, 4, out), 3);
	assert_memory_equal(out, "a\n\\", 3); /* a backslash that nothing is behind */
}

/* Metadata without a byte may come without a place, too. */
static void no_text_is_an_empty_one(void **state)
{
	struct ct_tsdl_scan scan;

	(void)state;
	ct_tsdl_scan_begin(&scan, NULL, 0);
	assert_int_equal(scan.token, CT_TOKEN_END);
	assert_non_null(scan.start); /* nothing is added to a null pointer */
	assert_int_equal(scan.length, 0);
	assert_false(ct_tsdl_scan_is(&scan, ""));
}

int test_tsdl_scan(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tokens_and_their_places),
					    cmocka_unit_test(what_is_no_token),
					    cmocka_unit_test(numbers), cmocka_unit_test(strings),
					    cmocka_unit_test(no_text_is_an_empty_one) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
