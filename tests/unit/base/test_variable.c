/*
 * test_variable.c - the first variable that is none, or that is not closed.
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

static const char *const names[] = { "TIME", "DATA" };
static struct ct_span name;
static const char *text;

static enum ct_variable_fault find(const char *in)
{
	text = in;
	return ct_variable_find_fault(ct_span_of(in, in + strlen(in)), names, CT_COUNT(names),
				      &name);
}

static void check_name(size_t at, const char *expected)
{
	assert_int_equal(name.at - text, at);
	assert_int_equal(name.size, strlen(expected));
	assert_memory_equal(name.at, expected, name.size);
}

static void nothing_is_wrong(void **state)
{
	(void)state;
	assert_int_equal(find(""), CT_VARIABLE_GOOD);
	assert_int_equal(find("$ ( $TIME ()"), CT_VARIABLE_GOOD);
	assert_int_equal(find("the end: $("), CT_VARIABLE_GOOD);
	assert_int_equal(find("$(TIME) $(data)$(Data)$"), CT_VARIABLE_GOOD);
}

static void no_such_variable(void **state)
{
	(void)state;
	assert_int_equal(find("$(TIME) $(TIEM) $(OTHER"), CT_VARIABLE_UNKNOWN);
	check_name(10, "TIEM");
	assert_int_equal(find("$()"), CT_VARIABLE_UNKNOWN);
	check_name(2, "");
	assert_int_equal(find("$(A B)"), CT_VARIABLE_UNKNOWN);
	check_name(2, "A B");
}

static void one_that_is_not_closed(void **state)
{
	(void)state;
	assert_int_equal(find("$(TIME) $(DATA"), CT_VARIABLE_OPEN);
	check_name(10, "DATA");
	assert_int_equal(find("$(DATA $(TIME)"), CT_VARIABLE_OPEN);
	check_name(2, "DATA");
	assert_int_equal(find("$(DATA$(TIME)"), CT_VARIABLE_OPEN);
	check_name(2, "DATA");
	assert_int_equal(find("$( x"), CT_VARIABLE_OPEN);
	check_name(2, "");
}

static void only_the_text_is_read(void **state)
{
	static const char long_text[] = "$(TIME) $(DATA)";

	(void)state;
	assert_int_equal(ct_variable_find_fault((struct ct_span){ long_text, 14 }, names,
						CT_COUNT(names), &name),
			 CT_VARIABLE_OPEN);
	assert_int_equal(name.size, 4);
	assert_int_equal(ct_variable_find_fault((struct ct_span){ long_text, 9 }, names,
						CT_COUNT(names), &name),
			 CT_VARIABLE_GOOD);
}

int test_variable(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_wrong),
					    cmocka_unit_test(no_such_variable),
					    cmocka_unit_test(one_that_is_not_closed),
					    cmocka_unit_test(only_the_text_is_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
