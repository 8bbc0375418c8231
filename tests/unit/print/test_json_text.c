/*
 * test_json_text.c - texts of other programs, numbers and words as JSON, and how a document begins
 * and is printed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "print/json_text.h"
#include <stdlib.h>
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

static void assert_compact(json_t *json, const char *wanted)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

	assert_string_equal(text, wanted);
	free(text);
	json_decref(json);
}

static void an_asid_is_what_an_option_takes(void **state)
{
	(void)state;
	assert_compact(ct_json_asid(0x1F), "\"001F\"");
	assert_compact(ct_json_asid(0xFFFF), "\"FFFF\"");
	assert_compact(ct_json_asid(0), "null");
}

static void numbers_end_where_json_ends(void **state)
{
	(void)state;
	assert_compact(ct_json_number(0), "0");
	assert_compact(ct_json_number(INT64_MAX), "9223372036854775807");
	assert_compact(ct_json_number(UINT64_MAX), "9223372036854775807");
}

static void words_are_an_array(void **state)
{
	(void)state;
	assert_compact(ct_json_words(""), "[]");
	assert_compact(ct_json_words(" KVS  KVS.NET "), "[\"KVS\",\"KVS.NET\"]");
}

static void a_document_is_a_line_with_a_version(void **state)
{
	json_t *document = ct_json_document();
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_non_null(to);
	(void)json_object_set_new(document, "path", ct_json_string("\xC3\xA9\n"));
	assert_true(ct_json_print(document, to));
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, "{\"format_version\":1,\"path\":\"\\u00E9\\n\"}\n");
	free(text);
}

int test_json_text(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_stays_as_it_is),
		cmocka_unit_test(other_bytes_are_escaped),
		cmocka_unit_test(no_text_is_null),
		cmocka_unit_test(an_asid_is_what_an_option_takes),
		cmocka_unit_test(numbers_end_where_json_ends),
		cmocka_unit_test(words_are_an_array),
		cmocka_unit_test(a_document_is_a_line_with_a_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
