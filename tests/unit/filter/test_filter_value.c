/*
 * test_filter_value.c - values of each type as ranges of numbers, decimal numbers and texts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_fixture.h"
#include "read/filter/filter_program.h"

static const struct ct_filter_subject name = { "component", CT_FILTER_COMPONENT, CT_SUBJECT_NAME,
					       0 };
static const struct ct_filter_subject level = { "level", CT_FILTER_LEVEL, CT_SUBJECT_LEVEL, 4 };
static const struct ct_filter_subject number = { "event", CT_FILTER_EVENT, CT_SUBJECT_NUMBER,
						 1000 };
static const struct ct_filter_subject asid = { "asid", CT_FILTER_ASID, CT_SUBJECT_ASID, 0xFFFF };
static const struct ct_filter_subject point = { "time", CT_FILTER_TIME, CT_SUBJECT_TIME,
						UINT64_MAX };
static const struct ct_filter_subject duration = { "duration", CT_FILTER_DURATION,
						   CT_SUBJECT_DURATION, UINT64_MAX };
static const struct ct_filter_subject data = { "data", CT_FILTER_DATA, CT_SUBJECT_DATA, 0 };

struct reading_values {
	struct ct_filter filter;
	struct ct_diagnostic diagnostic;
	struct ct_filter_scan scan;
	struct ct_filter_test test;
};

static bool try_to_read(struct reading_values *r, const struct ct_filter_subject *subject,
			enum ct_filter_relation relation, const char *text)
{
	memset(r, 0, sizeof *r);
	assert_true(ct_filter_scan_start(&r->scan, text, NOW, &r->filter, &r->diagnostic));
	return ct_filter_read_values(&r->scan, subject, relation, &r->test);
}

static void end(struct reading_values *r)
{
	while (r->filter.blocks != NULL) {
		struct ct_filter_block *block = r->filter.blocks;

		r->filter.blocks = block->next;
		free(block);
	}
}

#define LEAST (-CT_WIDE_END)
#define MOST CT_WIDE_END

static void numbers_become_ranges(void **state)
{
	static const struct {
		const struct ct_filter_subject *subject;
		enum ct_filter_relation relation;
		const char *text;
		ct_wide first, last; /* first beyond last: none */
	} rows[] = {
		{ &number, CT_IS_EQUAL, "5", 5, 5 },
		{ &number, CT_IS_BELOW, "5", LEAST, 4 },
		{ &number, CT_IS_AT_MOST, "5", LEAST, 5 },
		{ &number, CT_IS_ABOVE, "5", 6, MOST },
		{ &number, CT_IS_AT_LEAST, "5", 5, MOST },
		{ &number, CT_IS_IN, "(5..9)", 5, 9 },
		{ &number, CT_IS_IN, "(5, 6, 7..9, 8)", 5, 9 },
		{ &level, CT_IS_AT_LEAST, "Warn", 2, MOST },
		{ &level, CT_IS_IN, "(error..4)", 3, 4 },
		{ &asid, CT_IS_EQUAL, "10", 16, 16 },
		{ &asid, CT_IS_IN, "(a..0xF)", 10, 15 },
		{ &point, CT_IS_ABOVE, "'@5.5'", 5500000001, MOST },
		{ &point, CT_IS_EQUAL, "'-1s'", (ct_wide)(NOW - SECOND), (ct_wide)(NOW - SECOND) },
		{ &duration, CT_IS_AT_LEAST, "1.5us", 1500, MOST },
		{ &duration, CT_IS_ABOVE, "1.5ns", 2, MOST },
		{ &duration, CT_IS_BELOW, "1.5ns", LEAST, 1 },
		{ &data, CT_IS_ABOVE, "1.5", 2, MOST },
		{ &data, CT_IS_AT_LEAST, "1.5", 2, MOST },
		{ &data, CT_IS_BELOW, "1.5", LEAST, 1 },
		{ &data, CT_IS_AT_MOST, "-1.5", LEAST, -2 },
		{ &data, CT_IS_ABOVE, "-1.5", -1, MOST },
		{ &data, CT_IS_EQUAL, "1.5", 1, 0 },
		{ &data, CT_IS_IN, "(1.5..3.5)", 2, 3 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct reading_values r;

		if (!try_to_read(&r, rows[i].subject, rows[i].relation, rows[i].text))
			fail_msg("%s: %s", rows[i].text, r.diagnostic.message);
		if (r.test.range_count != (rows[i].first <= rows[i].last))
			fail_msg("%s: %u ranges", rows[i].text, r.test.range_count);
		if (r.test.range_count == 1 && (r.test.ranges[0].first != rows[i].first ||
						r.test.ranges[0].last != rows[i].last))
			fail_msg("%s: %lld to %lld", rows[i].text,
				 (long long)r.test.ranges[0].first,
				 (long long)r.test.ranges[0].last);
		assert_int_equal(r.test.decimal_count != 0, rows[i].subject == &data);
		assert_int_equal(r.test.text_count, 0);
		end(&r);
	}
}

static void ranges_are_sorted_and_apart(void **state)
{
	static const int wanted[][2] = { { 1, 5 }, { 7, 7 }, { 9, 30 } };
	struct reading_values r;

	(void)state;
	assert_true(
		try_to_read(&r, &number, CT_IS_IN, "(20..30, 7, 1..2, 9..10, 3..5, 9, 11..25, 4)"));
	assert_int_equal(r.test.range_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal((int)r.test.ranges[i].first, wanted[i][0]);
		assert_int_equal((int)r.test.ranges[i].last, wanted[i][1]);
	}
	end(&r);
}

static void texts_become_texts(void **state)
{
	struct reading_values r;

	(void)state;
	assert_true(try_to_read(&r, &name, CT_IS_IN, "('A ', \"B\")"));
	assert_int_equal(r.test.text_count, 2);
	assert_true(r.test.texts[0].is_one);
	assert_string_equal(r.test.texts[0].low.at, "A ");
	assert_int_equal(r.test.texts[0].low.size, 2);
	end(&r);
	assert_true(try_to_read(&r, &data, CT_IS_ABOVE, "'A  '"));
	assert_int_equal(r.test.text_count, 1);
	assert_int_equal(r.test.texts[0].low.size, 1); /* blanks at the end do not count in data */
	assert_true(!r.test.texts[0].is_one && r.test.texts[0].has_low &&
		    r.test.texts[0].is_low_out && !r.test.texts[0].has_high);
	end(&r);
	assert_true(try_to_read(&r, &data, CT_IS_IN, "('A'..'C', 5, 'X')"));
	assert_int_equal(r.test.text_count, 2);
	assert_int_equal(r.test.range_count, 1);
	assert_int_equal(r.test.decimal_count, 1);
	assert_false(r.test.texts[0].is_one);
	assert_true(r.test.texts[1].is_one);
	end(&r);
	assert_true(try_to_read(&r, &data, CT_IS_LIKE, "'A*'"));
	assert_true(r.test.texts[0].is_one);
	end(&r);
}

static void what_does_not_fit(void **state)
{
	static const struct {
		const struct ct_filter_subject *subject;
		enum ct_filter_relation relation;
		const char *text;
		unsigned column;
	} rows[] = {
		{ &number, CT_IS_EQUAL, " 1001", 2 }, { &number, CT_IS_EQUAL, "1.5", 1 },
		{ &number, CT_IS_IN, "(1, 'x')", 5 }, { &number, CT_IS_IN, "(7..5)", 5 },
		{ &level, CT_IS_EQUAL, "5", 1 },      { &name, CT_IS_EQUAL, "5", 1 },
		{ &name, CT_IS_IN, "('a'..'b')", 5 }, { &asid, CT_IS_EQUAL, "12345", 1 },
		{ &point, CT_IS_EQUAL, "5", 1 },      { &duration, CT_IS_EQUAL, "5", 1 },
		{ &data, CT_IS_EQUAL, "5ms", 1 },     { &data, CT_IS_LIKE, "5", 1 },
		{ &data, CT_IS_IN, "(1..'x')", 5 },   { &data, CT_IS_IN, "(1", 3 },
		{ &data, CT_IS_IN, "1)", 1 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct reading_values r;

		if (try_to_read(&r, rows[i].subject, rows[i].relation, rows[i].text))
			fail_msg("accepted: %s", rows[i].text);
		assert_int_equal(r.scan.status, CTRACE_SYNTAX_ERROR);
		if (r.diagnostic.column != rows[i].column)
			fail_msg("%s: column %u: %s", rows[i].text, r.diagnostic.column,
				 r.diagnostic.message);
		end(&r);
	}
}

int test_filter_value(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_become_ranges),
		cmocka_unit_test(ranges_are_sorted_and_apart),
		cmocka_unit_test(texts_become_texts),
		cmocka_unit_test(what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, use_utc, NULL);
}
