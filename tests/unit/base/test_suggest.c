/*
 * test_suggest.c - near misses are recognised, other words are not.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/base.h"

static const char *const words[] = { "mftrace.level", "info", "none", "overwrite" };

static const char *suggest(const char *word)
{
	return ct_suggest((struct ct_span){ word, strlen(word) }, words, CT_COUNT(words));
}

static void near_misses(void **state)
{
	(void)state;
	assert_string_equal(suggest("mftrace.levle"), "mftrace.level"); /* swapped */
	assert_string_equal(suggest("MFTRACE.LEVL"), "mftrace.level");  /* missing, in capitals */
	assert_string_equal(suggest("mftraces.levels"), "mftrace.level");
	assert_string_equal(suggest("inof"), "info");
	assert_string_equal(suggest("nnone"), "none");
	assert_string_equal(suggest("overwirte"), "overwrite");
}

static void other_words(void **state)
{
	char longest[100];

	(void)state;
	memset(longest, 'x', sizeof longest);
	longest[99] = '\0';
	assert_null(suggest(""));
	assert_null(suggest("xx"));
	assert_null(suggest("mftrace.destination"));
	assert_null(suggest("xnfx")); /* half the letters are wrong */
	assert_null(suggest(longest));
	assert_null(ct_suggest((struct ct_span){ "info", 4 }, words, 0));
}

static void the_nearest_wins(void **state)
{
	static const char *const near[] = { "debugs", "debug", "dbug" };

	(void)state;
	assert_string_equal(ct_suggest((struct ct_span){ "debgu", 5 }, near, 3), "debug");
}

static void expect_level(const char *word, const char *expected)
{
	const char *found = ct_suggest_level((struct ct_span){ word, strlen(word) }, true);

	assert_true(found == NULL ? expected == NULL
				  : expected != NULL && strcmp(found, expected) == 0);
}

static void levels_of_other_systems(void **state)
{
	static const char *const pairs[][2] = {
		{ "warning", "warn" },  { "Wrn", "warn" },      { "WARNINGS", "warn" },
		{ "err", "error" },     { "severe", "error" },  { "info,", "info" },
		{ "\"info\"", "info" }, { "notice", "info" },   { "verbose", "debug" },
		{ "crit", "fatal" },    { "fatall", "fatal" },  { "off", "none" },
		{ "5", "none" },        { "-1", "none" },       { "on", NULL },
		{ "77", NULL },         { "", NULL },           { "loudest", NULL },
		{ "wraning", "warn" },  { "vebrose", "debug" }, { "sevre", "error" }
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(pairs); i++)
		expect_level(pairs[i][0], pairs[i][1]);
	assert_null(ct_suggest_level((struct ct_span){ "off", 3 }, false));
	assert_null(ct_suggest_level((struct ct_span){ "nne", 3 }, false));
}

int test_suggest(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_misses),
		cmocka_unit_test(other_words),
		cmocka_unit_test(the_nearest_wins),
		cmocka_unit_test(levels_of_other_systems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
