/*
 * test_glob.c - shell patterns against names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include <stdlib.h>
#include <string.h>

static bool match(const char *pattern, const char *text)
{
	return ct_glob_match(pattern, strlen(pattern), text, strlen(text));
}

static void literals_in_any_case(void **state)
{
	(void)state;
	assert_true(match("MF.RTS", "mf.rts"));
	assert_false(match("MF.RTS", "mf.rt"));
	assert_false(match("MF.RT", "mf.rts"));
	assert_true(match("", ""));
	assert_false(match("", "x"));
	assert_false(match("[", "{")); /* bytes that differ in the letters' bit, but are none */
}

static void stars_and_question_marks(void **state)
{
	(void)state;
	assert_true(match("*", ""));
	assert_true(match("*", "anything.at.all"));
	assert_true(match("MF.*", "mf.rts.sub"));
	assert_false(match("MF.*", "mf"));
	assert_true(match("*.sub", "mf.rts.sub"));
	assert_false(match("*.sub", "mf.rts.subs"));
	assert_true(match("m?.*s", "mf.rts"));
	assert_false(match("m?.rts", "m.rts"));
	assert_true(match("**a**b**", "xxaxxbxx"));
	assert_false(match("**a**b**", "xxbxxaxx"));
	assert_true(match("*ab", "aab"));
	assert_true(match("a*ab*b", "aabab"));
	assert_false(match("?", ""));
}

static bool match_levels(const char *pattern, const char *text)
{
	return ct_glob_match_levels(pattern, strlen(pattern), text, strlen(text));
}

static void in_levels_nothing_stands_for_a_dot(void **state)
{
	(void)state;
	assert_true(match_levels("MF.*", "mf.rts"));
	assert_false(match_levels("MF.*", "mf.rts.sub"));
	assert_false(match_levels("*", "mf.rts"));
	assert_true(match_levels("*.*", "mf.rts"));
	assert_false(match_levels("mf?rts", "mf.rts"));
	assert_true(match_levels("m?.rts", "MF.RTS"));
}

static void a_question_mark_is_a_character(void **state)
{
	(void)state;
	assert_true(match("M?LLER", "m\xC3\xBCller"));
	assert_false(match("m??ller", "m\xC3\xBCller"));
	assert_true(match("??", "\xE2\x82\xAC\xF0\x9F\x98\x80")); /* three bytes, and four */
	assert_false(match("*???", "\xE2\x82\xAC\xF0\x9F\x98\x80"));
	assert_false(match("*??b*", "\xE2\x82\xAC"
				    "bx")); /* a star ends between characters, too */
	assert_true(match("*?b*", "\xE2\x82\xAC"
				  "bx"));
	assert_true(match("a?b", "a\xFC"
				 "b")); /* what is not UTF-8: each byte */
	assert_true(match("a??b", "a\xE2\x82"
				  "b"));
	assert_false(match("a?b", "a\xE2\x82"
				  "b"));
	assert_true(match("?", "\xC3"));
}

static void sizes_count_not_terminators(void **state)
{
	(void)state;
	assert_true(ct_glob_match("ab*zz", 3, "abcd", 3));
	assert_false(ct_glob_match("abc", 3, "abcd", 2));
	assert_true(ct_glob_match("a?b", 3, "a\0b", 3));
}

/* With backtracking into every star this would take longer than the universe has. */
static void hostile_pattern_ends(void **state)
{
	char pattern[201], text[5001];

	(void)state;
	for (size_t i = 0; i < 200; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[199] = 'b';
	pattern[200] = '\0';
	memset(text, 'a', 5000);
	text[5000] = '\0';
	assert_false(match(pattern, text));
}

int test_glob(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_in_any_case),
		cmocka_unit_test(stars_and_question_marks),
		cmocka_unit_test(in_levels_nothing_stands_for_a_dot),
		cmocka_unit_test(a_question_mark_is_a_character),
		cmocka_unit_test(sizes_count_not_terminators),
		cmocka_unit_test(hostile_pattern_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
