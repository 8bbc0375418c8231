/*
 * test_filter_scan.c - words, marks and literals of a filter's text.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_fixture.h"
#include "read/filter/filter_program.h"

struct text {
	struct ct_filter filter;
	struct ct_diagnostic diagnostic;
	struct ct_filter_scan scan;
	struct ct_literal literal;
};

static void start(struct text *t, const char *text)
{
	memset(t, 0, sizeof *t);
	assert_true(ct_filter_scan_start(&t->scan, text, NOW, &t->filter, &t->diagnostic));
}

static void end(struct text *t)
{
	while (t->filter.blocks != NULL) {
		struct ct_filter_block *block = t->filter.blocks;

		t->filter.blocks = block->next;
		free(block);
	}
}

static void assert_rest(const struct text *t, const char *rest)
{
	assert_string_equal(t->scan.at, rest);
}

static void whole_numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t floor, ceil;
		const char *rest;
	} rows[] = {
		{ "0", 0, 0, "" },
		{ "  17 x", 17, 17, " x" },
		{ "-17)", -17, -17, ")" },
		{ "+17", 17, 17, "" },
		{ "0x1F,", 31, 31, "," },
		{ "0XaB", 171, 171, "" },
		{ "-0x10", -16, -16, "" },
		{ "6..8", 6, 6, "..8" },
		{ "1.5", 1, 2, "" },
		{ "-1.5", -2, -1, "" },
		{ "1.0", 1, 1, "" },
		{ "-0.1", -1, 0, "" },
		{ "0.0000000001", 0, 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct text t;

		start(&t, rows[i].text);
		if (!ct_filter_scan_literal(&t.scan, &t.literal))
			fail_msg("%s: %s", rows[i].text, t.diagnostic.message);
		assert_int_equal(t.literal.kind, CT_LITERAL_NUMBER);
		if ((int64_t)t.literal.floor != rows[i].floor ||
		    (int64_t)t.literal.ceil != rows[i].ceil)
			fail_msg("%s: %lld and %lld", rows[i].text, (long long)t.literal.floor,
				 (long long)t.literal.ceil);
		assert_rest(&t, rows[i].rest);
		end(&t);
	}
}

/* They compare as larger than everything that there is. */
static void numbers_that_are_too_large(void **state)
{
	static const char *const texts[] = { "99999999999999999999999999999999999999999999999999",
					     "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		struct text t;

		start(&t, texts[i]);
		assert_true(ct_filter_scan_literal(&t.scan, &t.literal));
		assert_true(t.literal.floor > (ct_wide)UINT64_MAX * 1000 &&
			    t.literal.floor < CT_WIDE_END);
		end(&t);
	}
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t floor, ceil;
	} rows[] = {
		{ "2ms", 2000000, 2000000 },
		{ "1.5s", 1500000000, 1500000000 },
		{ "10us", 10000, 10000 },
		{ "3m", 180000000000u, 180000000000u },
		{ "1H", 3600000000000u, 3600000000000u },
		{ "7ns", 7, 7 },
		{ "1.5ns", 1, 2 },
		{ "0.001us", 1, 1 },
		{ "0.5m", 30000000000u, 30000000000u },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct text t;

		start(&t, rows[i].text);
		assert_true(ct_filter_scan_literal(&t.scan, &t.literal));
		assert_int_equal(t.literal.kind, CT_LITERAL_DURATION);
		if ((uint64_t)t.literal.floor != rows[i].floor ||
		    (uint64_t)t.literal.ceil != rows[i].ceil)
			fail_msg("%s", rows[i].text);
		end(&t);
	}
}

static void texts(void **state)
{
	static const struct {
		const char *text, *wanted, *rest;
	} rows[] = {
		{ "\"a b\" c", "a b", " c" },
		{ "'a \"b\"'", "a \"b\"", "" },
		{ "\"it's\"", "it's", "" },
		{ "\"a\\\"b\"", "a\"b", "" },
		{ "'a\\'b'", "a'b", "" },
		{ "\"\\\\\"x", "\\", "x" },
		{ "\"a\\n\\r\\tb\"", "a\n\r\tb", "" },
		{ "\"\\x41\\x6a\"", "Aj", "" },
		{ "''", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct text t;

		start(&t, rows[i].text);
		assert_true(ct_filter_scan_literal(&t.scan, &t.literal));
		assert_int_equal(t.literal.kind, CT_LITERAL_STRING);
		assert_string_equal(t.literal.text.at, rows[i].wanted);
		assert_int_equal(t.literal.text.size, strlen(rows[i].wanted));
		assert_rest(&t, rows[i].rest);
		end(&t);
	}
}

static void words_and_marks(void **state)
{
	struct text t;

	(void)state;
	start(&t, "  inside AND (==x-y.z");
	assert_false(ct_filter_scan_keyword(&t.scan, "in"));
	assert_int_equal(ct_filter_scan_word(&t.scan).size, 6);
	assert_false(ct_filter_scan_mark(&t.scan, "&&"));
	assert_true(ct_filter_scan_keyword(&t.scan, "and"));
	assert_true(ct_filter_scan_mark(&t.scan, "("));
	assert_false(ct_filter_scan_mark(&t.scan, "=="
						  "="));
	assert_true(ct_filter_scan_mark(&t.scan, "=="));
	assert_int_equal(ct_filter_scan_name(&t.scan).size, 3);
	assert_rest(&t, ".z");
	end(&t);
}

static void digits_of_an_asid(void **state)
{
	struct text t;

	(void)state;
	start(&t, "1f)");
	assert_true(ct_filter_scan_hex(&t.scan, &t.literal));
	assert_int_equal((int)t.literal.floor, 0x1F);
	assert_rest(&t, ")");
	start(&t, "0x20");
	assert_true(ct_filter_scan_hex(&t.scan, &t.literal));
	assert_int_equal((int)t.literal.floor, 0x20);
	start(&t, "12z");
	assert_false(ct_filter_scan_hex(&t.scan, &t.literal));
	assert_int_equal(t.diagnostic.column, 3);
}

/* What follows an error may only be its consequence. */
static void the_first_diagnostic_is_kept(void **state)
{
	struct text t;

	(void)state;
	start(&t, "abc def");
	assert_false(ct_filter_diagnose_word(&t.scan, (struct ct_span){ t.scan.text + 4, 3 },
					     "is wrong", "right"));
	assert_false(ct_filter_diagnose_next(&t.scan, "y"));
	assert_int_equal(t.diagnostic.column, 5);
	assert_string_equal(t.diagnostic.message, "\"def\" is wrong");
	assert_string_equal(t.diagnostic.expected, "right");
	assert_int_equal(t.scan.status, CTRACE_SYNTAX_ERROR);
}

int test_filter_scan(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(numbers_that_are_too_large),
		cmocka_unit_test(durations),
		cmocka_unit_test(texts),
		cmocka_unit_test(words_and_marks),
		cmocka_unit_test(digits_of_an_asid),
		cmocka_unit_test(the_first_diagnostic_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
