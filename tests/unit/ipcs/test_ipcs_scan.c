/*
 * test_ipcs_scan.c - where commands end, what is no command, words, groups and values.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void sizes_of_commands(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} cases[] = {
		{ "", 0 },
		{ "A", 1 },
		{ "A\nB", 2 },
		{ "A -\nB\nC", 6 },
		{ "A +  \nB", 7 },
		{ "A-B\nC", 4 },
		{ "A -\n-\nB\nC", 8 },
		{ "A - x\nB", 6 },
		{ "A -\r\nB\nC", 7 },
		{ "\n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++)
		assert_int_equal(ct_ipcs_command_size(cases[i].text, strlen(cases[i].text)),
				 cases[i].size);
}

static bool is_empty(const char *text)
{
	return ct_ipcs_is_empty(text, strlen(text));
}

static void what_is_no_command(void **state)
{
	(void)state;
	assert_true(is_empty("") && is_empty(" \t\r\n") && is_empty("* CTRACE") &&
		    is_empty("  # CTRACE") && is_empty("/* CTRACE */ "));
	assert_true(is_empty(" -\n /* a") && is_empty("/* open"));
	assert_false(is_empty("A") || is_empty("/* a */ B") || is_empty("-") || is_empty("/"));
}

static struct ct_parser scan;
static struct ct_ipcs_text copy;
static struct ct_diagnostic diagnostic;

static void start(const char *text)
{
	scan.has_failed = false;
	ct_ipcs_scan_end(&scan, &copy);
	assert_true(ct_ipcs_scan_start(&scan, &copy, (struct ct_span){ text, strlen(text) },
				       &diagnostic));
}

static void assert_span(struct ct_span span, const char *text)
{
	if (span.size != strlen(text) || memcmp(span.at, text, span.size) != 0)
		fail_msg("<%.*s> is not <%s>", (int)span.size, span.at, text);
}

static void words(void **state)
{
	(void)state;
	start(" A,B(C) D=E'F' ");
	assert_span(ct_ipcs_scan_word(&scan), "A");
	assert_span(ct_ipcs_scan_word(&scan), "B");
	assert_false(ct_parser_accept(&scan, ')'));
	assert_true(ct_parser_accept(&scan, '('));
	assert_span(ct_ipcs_scan_group(&scan, "x"), "C");
	assert_span(ct_ipcs_scan_word(&scan), "D");
	assert_span(ct_ipcs_scan_word(&scan), "");
	ct_ipcs_scan_end(&scan, &copy);
}

static void comments_and_continuations(void **state)
{
	(void)state;
	start("A/* b */C '/* no comment */' D-\nE +\n   F /* open");
	assert_string_equal(copy.text, "A C '/* no comment */' DE F  ");
	ct_ipcs_scan_end(&scan, &copy);
}

static void groups(void **state)
{
	struct ct_span group;

	(void)state;
	start(" a (b) 'c)' )rest");
	assert_span(group = ct_ipcs_scan_group(&scan, "x"), "a (b) 'c)'");
	assert_span((struct ct_span){ scan.at, 4 }, "rest");
	assert_span(ct_ipcs_next_value(&group), "a");
	assert_span(ct_ipcs_next_value(&group), "(b)");
	assert_span(ct_ipcs_next_value(&group), "'c)'");
	assert_span(ct_ipcs_next_value(&group), "");
	start("(a (b");
	assert_true(ct_parser_accept(&scan, '('));
	assert_null(ct_ipcs_scan_group(&scan, "x").at);
	assert_true(scan.has_failed);
	ct_ipcs_scan_end(&scan, &copy);
	assert_int_equal(diagnostic.column, 1);
	assert_string_equal(diagnostic.message, "\"(\" is not closed");
	start(" )");
	assert_span(ct_ipcs_scan_group(&scan, NULL), "");
	assert_false(scan.has_failed);
	ct_ipcs_scan_end(&scan, &copy);
}

static struct ct_span inner(const char *text)
{
	return ct_ipcs_inner((struct ct_span){ text, strlen(text) });
}

static void inner_groups(void **state)
{
	(void)state;
	assert_span(inner("(a)"), "a");
	assert_span(inner("( a(b) )"), "a(b)");
	assert_span(inner("a"), "a");
	assert_span(inner("(a)(b)"), "(a)(b)");
	assert_span(inner("(')')"), "')'");
	assert_span(inner("("), "(");
	assert_span(inner(""), "");
}

static void quotations(void **state)
{
	static const char *const cases[][2] = { { "a", "a" },        { "'a b'", "a b" },
						{ "'a''b'", "a'b" }, { "''", "" },
						{ "'", "" },         { "x'1'", "x1" } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		char *text = ct_ipcs_unquote((struct ct_span){ cases[i][0], strlen(cases[i][0]) });

		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

static void places(void **state)
{
	(void)state;
	start("A /* b */ -\n  C");
	assert_span(ct_ipcs_scan_word(&scan), "A");
	ct_ipcs_diagnose(&scan, CT_ITT10003I, ct_ipcs_scan_word(&scan), "is wrong", "right");
	ct_ipcs_diagnose(&scan, CT_ITT10001I, (struct ct_span){ copy.text, 1 },
			 "is the second error", "");
	assert_int_equal(scan.code, CT_ITT10003I); /* the first one is kept */
	ct_ipcs_scan_end(&scan, &copy);
	assert_int_equal(diagnostic.line, 2);
	assert_int_equal(diagnostic.column, 3);
	assert_string_equal(diagnostic.message, "\"C\" is wrong");
	assert_string_equal(diagnostic.expected, "right");
}

static void the_longest_command(void **state)
{
	size_t size = CT_IPCS_LINE + 1;
	char *text = malloc(size);

	(void)state;
	memset(text, 'A', size);
	assert_true(ct_ipcs_scan_start(&scan, &copy, (struct ct_span){ text, CT_IPCS_LINE },
				       &diagnostic));
	ct_ipcs_scan_end(&scan, &copy);
	assert_false(ct_ipcs_scan_start(&scan, &copy, (struct ct_span){ text, size }, &diagnostic));
	assert_string_equal(diagnostic.message, "the command is too long");
	ct_ipcs_scan_end(&scan, &copy);
	free(text);
}

int test_ipcs_scan(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_commands),
		cmocka_unit_test(what_is_no_command),
		cmocka_unit_test(words),
		cmocka_unit_test(comments_and_continuations),
		cmocka_unit_test(groups),
		cmocka_unit_test(inner_groups),
		cmocka_unit_test(quotations),
		cmocka_unit_test(places),
		cmocka_unit_test(the_longest_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
