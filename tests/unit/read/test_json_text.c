/*
 * test_json_text.c - what is UTF-8 comes out as it is, what is not comes out escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/json_text.h"
#include <string.h>

static void assert_json(json_t *json, const char *text, size_t size)
{
	assert_non_null(json);
	assert_true(json_is_string(json));
	assert_int_equal(json_string_length(json), size);
	assert_memory_equal(json_string_value(json), text, size);
	json_decref(json);
}

static void utf8_stays_as_it_is(void **state)
{
	static const char euro[] = "5 \xE2\x82\xAC\n\0\x1B";

	(void)state;
	assert_json(ct_json_text(euro, sizeof euro - 1), euro, sizeof euro - 1);
	assert_json(ct_json_string("plain"), "plain", 5);
	assert_json(ct_json_text("", 0), "", 0);
}

static void other_bytes_are_escaped(void **state)
{
	(void)state;
	assert_json(ct_json_string("a\xFF"), "a\\xFF", 5);
	assert_json(ct_json_text("\xE2\x82", 2), "\\xE2\\x82", 8);
}

static void no_text_is_null(void **state)
{
	json_t *json = ct_json_string(NULL);

	(void)state;
	assert_true(json_is_null(json));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_stays_as_it_is),
		cmocka_unit_test(other_bytes_are_escaped),
		cmocka_unit_test(no_text_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
