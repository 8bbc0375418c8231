/*
 * test_copybook_usage.c - the words of USAGE: how large each makes a field.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"
#include "catalog/copybook/copybook_private.h"

/* One word, with a picture when it needs one, is a field of so many bytes, whether USAGE stands
 * before it or not. */
static void assert_size(const char *word, const char *picture, uint32_t size)
{
	static const char *const before[] = { "", "USAGE ", "USAGE IS " };

	for (size_t i = 0; i < CT_COUNT(before); i++) {
		struct ct_copybook *copybook;
		char text[128];

		snprintf(text, sizeof text, "01 R. 05 A %s %s%s.", picture, before[i], word);
		copybook = parse(text, NULL);
		assert_int_equal(ct_copybook_size(copybook), size);
		ct_copybook_destroy(copybook);
	}
}

static void each_word_has_its_size(void **state)
{
	(void)state;
	assert_size("DISPLAY", "PIC S9(5)", 5);
	assert_size("COMP", "PIC S9(5)", 4);
	assert_size("COMPUTATIONAL-4", "PIC S9(5)", 4);
	assert_size("BINARY", "PIC S9(5)", 4);
	assert_size("COMP-5", "PIC S9(5)", 4);
	assert_size("COMP-X", "PIC 9(5)", 3);
	assert_size("COMP-3", "PIC S9(5)", 3);
	assert_size("packed-decimal", "PIC S9(5)", 3);
	assert_size("COMP-6", "PIC 9(5)", 3);
	assert_size("COMP-1", "", 4);
	assert_size("COMP-2", "", 8);
	assert_size("FLOAT-LONG", "", 8);
	assert_size("INDEX", "", 4);
	assert_size("POINTER", "", 8);
	assert_size("BINARY-CHAR", "", 1);
	assert_size("BINARY-SHORT UNSIGNED", "", 2);
	assert_size("BINARY-LONG SIGNED", "", 4);
	assert_size("BINARY-DOUBLE", "", 8);
	assert_size("UNSIGNED-INT", "", 4);
}

static void integers_have_the_sign_that_is_said(void **state)
{
	(void)state;
	assert_fields(
		"01 R. 05 A BINARY-CHAR. 05 B BINARY-CHAR UNSIGNED. 05 C UNSIGNED-SHORT. 05 D SIGNED-SHORT.",
		"\xFF\xFF\xFF\xFF\xFF\xFF", 6, "A=-001\nB=255\nC=65535\nD=-00001\n");
}

static void every_word_of_the_table_is_one(void **state)
{
	const char *words[CT_USAGE_WORDS];
	size_t count = ct_usage_words(words);

	(void)state;
	assert_in_range(count, 40, CT_USAGE_WORDS);
	for (size_t i = 0; i < count; i++) {
		struct ct_token token = { .at = words[i],
					  .size = (uint32_t)strlen(words[i]),
					  .kind = CT_TOKEN_WORD };

		assert_true(ct_usage_is(&token));
		token.kind = CT_TOKEN_LITERAL;
		assert_false(ct_usage_is(&token));
	}
}

static void usage_has_a_word(void **state)
{
	(void)state;
	assert_diagnostic("01 R. 05 A USAGE 'x'.", 1, 18, "USAGE \"x\"");
	assert_diagnostic("01 R. 05 A USAGE", 1, 12, "USAGE the end");
	assert_diagnostic("01 R. 05 A PIC 9 COMP-33.", 1, 18, "unknown clause \"COMP-33\"");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_has_its_size),
		cmocka_unit_test(integers_have_the_sign_that_is_said),
		cmocka_unit_test(every_word_of_the_table_is_one),
		cmocka_unit_test(usage_has_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
