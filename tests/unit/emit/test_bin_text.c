/*
 * test_bin_text.c - text items of a BINFILE with an ENCODING become UTF-8; all others, and those of no encoding, stay.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "emit/binfile.h"

static const struct ctrace_event_item items[] = {
	{ .type = CTRACE_TYPE_TEXT, .size = 4, .data = "J\xDCRG" }, { .type = CTRACE_TYPE_UTF8, .size = 3, .data = "\xE2\x82\xAC" },
	{ .type = CTRACE_TYPE_BINARY, .size = 1, .data = "\xDC" },  { .type = CTRACE_TYPE_TEXT, .size = 0, .data = NULL },
	{ .type = CTRACE_TYPE_TEXT, .size = 1, .data = "\xDF" },
};
static const struct ctrace_event event = { .component = "A", .component_size = 1, .item_count = 5, .items = items };

static void texts_become_utf8(void **state)
{
	struct ct_bin_text text = { .encoding = CT_ENCODING_LATIN_1 };
	const struct ctrace_event *got;

	(void)state;
	assert_true(ct_encoding_prepare(text.encoding));
	for (int again = 0; again < 2; again++) {
		got = ct_bin_text_convert(&text, &event);
		assert_int_equal(got->item_count, 5);
		assert_int_equal(got->items[0].type, CTRACE_TYPE_UTF8);
		assert_int_equal(got->items[0].size, 5);
		assert_memory_equal(got->items[0].data, "JÜRG", 5);
		assert_memory_equal(&got->items[1], &items[1], sizeof items[1]);
		assert_memory_equal(&got->items[2], &items[2], sizeof items[2]);
		assert_int_equal(got->items[3].size, 0);
		assert_int_equal(got->items[4].size, 2);
		assert_memory_equal(got->items[4].data, "ß", 2);
	}
	ct_bin_text_fini(&text);
}

static void without_an_encoding_nothing_is_copied(void **state)
{
	struct ct_bin_text text = { .encoding = CT_ENCODING_ASCII };

	(void)state;
	assert_ptr_equal(ct_bin_text_convert(&text, &event), &event);
	assert_ptr_equal(ct_bin_text_convert(NULL, &event), &event);
	ct_bin_text_fini(&text);
}

static void what_would_be_too_long_stays(void **state)
{
	struct ct_bin_text text = { .encoding = CT_ENCODING_LATIN_1 };
	char *bytes = malloc(CTRACE_MAX_ITEM_SIZE);
	struct ctrace_event_item item = { .type = CTRACE_TYPE_TEXT, .size = CTRACE_MAX_ITEM_SIZE, .data = bytes };
	const struct ctrace_event large = { .item_count = 1, .items = &item };
	const struct ctrace_event *got;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0xDC, CTRACE_MAX_ITEM_SIZE);
	got = ct_bin_text_convert(&text, &large);
	assert_memory_equal(&got->items[0], &item, sizeof item);
	memset(bytes, 'x', CTRACE_MAX_ITEM_SIZE);
	got = ct_bin_text_convert(&text, &large);
	assert_int_equal(got->items[0].type, CTRACE_TYPE_UTF8);
	assert_int_equal(got->items[0].size, CTRACE_MAX_ITEM_SIZE);
	ct_bin_text_fini(&text);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_utf8),
		cmocka_unit_test(without_an_encoding_nothing_is_copied),
		cmocka_unit_test(what_would_be_too_long_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
