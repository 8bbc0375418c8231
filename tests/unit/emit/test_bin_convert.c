/*
 * test_bin_convert.c - events are written anew where the bytes of the ring cannot be those of the
 * file: texts become UTF-8, numbers the directory's own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

static const struct ctrace_event_item items[] = {
	{ .type = CTRACE_TYPE_TEXT, .size = 4, .data = "J\xDCRG" },
	{ .type = CTRACE_TYPE_UTF8, .size = 3, .data = "\xE2\x82\xAC" },
	{ .type = CTRACE_TYPE_BINARY, .size = 1, .data = "\xDC" },
	{ .type = CTRACE_TYPE_TEXT, .size = 0, .data = NULL },
	{ .type = CTRACE_TYPE_TEXT, .size = 1, .data = "\xDF" },
};
static const struct ctrace_event all_types = {
	.component = "A", .component_size = 1, .item_count = 5, .items = items
};

static void texts_become_utf8(void **state)
{
	struct ct_bin_text text = { .encoding = CT_ENCODING_LATIN_1 };
	const struct ctrace_event *got;

	(void)state;
	assert_true(ct_encoding_prepare(text.encoding));
	for (int again = 0; again < 2; again++) {
		got = ct_bin_text_convert(&text, &all_types);
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
	assert_ptr_equal(ct_bin_text_convert(&text, &all_types), &all_types);
	assert_ptr_equal(ct_bin_text_convert(NULL, &all_types), &all_types);
	ct_bin_text_fini(&text);
}

static void what_would_be_too_long_stays(void **state)
{
	struct ct_bin_text text = { .encoding = CT_ENCODING_LATIN_1 };
	char *bytes = malloc(CTRACE_MAX_ITEM_SIZE);
	struct ctrace_event_item item = { .type = CTRACE_TYPE_TEXT,
					  .size = CTRACE_MAX_ITEM_SIZE,
					  .data = bytes };
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

/* A directory that has other classes by the numbers of the process's: what comes is written by
 * numbers of the directory's own. */
static void a_number_that_is_taken_costs_no_event(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ct_classes *classes = &run_room()->classes;
	struct ct_class_table *table = classes->table, *other = aligned_alloc(4096, CT_CLASS_TABLE);
	uint16_t *slots = malloc(sizeof classes->slots);

	assert_non_null(other);
	assert_non_null(slots);
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	/* The same process, it says; and its table begins anew, with another event first. */
	memcpy(slots, classes->slots, sizeof classes->slots);
	memset(classes->slots, 0, sizeof classes->slots);
	memset(other, 0, CT_CLASS_TABLE);
	ct_class_table_start(other, CT_CLASS_TABLE);
	classes->table = other;
	{
		struct ctrace_event_item item;
		struct ctrace_event event = text_event(f, &item, "OTHER", 99, "x");

		assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	}
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	classes->table = table;
	memcpy(classes->slots, slots, sizeof classes->slots);
	fixture_close(f);
	assert_int_equal(
		system("test \"$(babeltrace2 t.ctb 2>bt.err | grep -c ' COMP:1: ')\" = 20 && "
		       "test \"$(babeltrace2 t.ctb | grep -c ' OTHER:99: .*\"x\"')\" = 1 && test ! -s bt.err"),
		0);
	free(other);
	free(slots);
}

/* Texts that are to become UTF-8 have other sizes than in the ring. */
static void texts_of_another_encoding_are_written_anew(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	/* AB and A umlaut in 273 */
	struct ctrace_event event = text_event(f, &item, "C", 1, "\xC1\xC2\x4A");
	char *text;

	fixture_open(f, "FILE=t.ctb\nENCODING=ebcdic-273\n");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	fixture_close(f);
	text = babeltrace("t.ctb", NULL);
	assert_non_null(strstr(text, "\"AB\303\204\""));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_bin_convert(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_utf8),
		cmocka_unit_test(without_an_encoding_nothing_is_copied),
		cmocka_unit_test(what_would_be_too_long_stays),
		TEST(a_number_that_is_taken_costs_no_event),
		TEST(texts_of_another_encoding_are_written_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
