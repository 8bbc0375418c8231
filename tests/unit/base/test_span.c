/*
 * test_span.c - pieces of text: where they begin and end, what is blank, how a message shows them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

static void a_span_is_what_stands_between(void **state)
{
	static const char text[] = "abc";
	struct ct_span span = ct_span_of(text + 1, text + 3);

	(void)state;
	assert_ptr_equal(span.at, text + 1);
	assert_int_equal(span.size, 2);
	assert_int_equal(ct_span_of(text, text).size, 0);
}

static void blanks_are_those_of_ascii(void **state)
{
	unsigned count = 0;

	(void)state;
	for (int c = 0; c < 256; c++)
		count += ct_is_blank((char)c);
	assert_int_equal(count, 6);
	assert_true(ct_is_blank(' ') && ct_is_blank('\t') && ct_is_blank('\n') &&
		    ct_is_blank('\v') && ct_is_blank('\f') && ct_is_blank('\r'));
}

static void assert_quoted(const char *word, size_t size, size_t limit, const char *expected)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_span_quote(&message, (struct ct_span){ word, size }, limit);
	assert_string_equal(ct_buf_text(&message), expected);
	ct_buf_fini(&message);
}

static void a_quoted_word_is_cut_and_harmless(void **state)
{
	(void)state;
	assert_quoted("word", 4, 4, "\"word\"");
	assert_quoted("words", 5, 4, "\"word...\"");
	assert_quoted("", 0, 4, "\"\"");
	assert_quoted("\x1B\"", 2, 4, "\"\\u{1B}\\\"\"");
}

static void blanks_at_both_ends_go(void **state)
{
	static const char text[] = " \ta b\n ";
	struct ct_span span = ct_span_trim(ct_span_of(text, text + sizeof text - 1));

	(void)state;
	assert_ptr_equal(span.at, text + 2);
	assert_int_equal(span.size, 3);
	assert_int_equal(ct_span_trim(ct_span_of(text, text + 2)).size, 0);
	assert_int_equal(ct_span_trim(ct_span_of(text, text)).size, 0);
}

int test_span(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_is_what_stands_between),
		cmocka_unit_test(blanks_at_both_ends_go),
		cmocka_unit_test(blanks_are_those_of_ascii),
		cmocka_unit_test(a_quoted_word_is_cut_and_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
