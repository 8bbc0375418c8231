/*
 * test_third_party_item.c - items as they are gathered: where their bytes are in the end, how many
 * there are, floating point as text.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../format/third_party_fixture.h"

#include <endian.h>
#include <math.h>

static struct ct_third_party_items items;

static int teardown(void **state)
{
	(void)state;
	ct_third_party_items_fini(&items);
	return 0;
}

static void assert_item(const struct ct_third_party_items *in, uint32_t index, const char *name,
			uint32_t type, const void *data, size_t size)
{
	assert_true(index < in->count);
	assert_string_equal(in->names[index], name);
	assert_int_equal(in->items[index].type, type);
	assert_int_equal(in->items[index].size, size);
	assert_memory_equal(in->items[index].data, data, size);
}

static void bytes_are_where_items_say(void **state)
{
	static const char text[] = "stays";
	const uint64_t number = UINT64_MAX - 1, bytes = htole64(number);
	char gone[] = "copied";

	(void)state;
	/* Enough of each for everything to move. */
	for (unsigned i = 0; i < 500; i++) {
		ct_third_party_items_add_number(&items, "n", CTRACE_TYPE_COMP5S, number);
		ct_third_party_items_add(&items, "t", CTRACE_TYPE_UTF8, text, 5);
		ct_third_party_items_copy(&items, "c", CTRACE_TYPE_TEXT, gone, 6);
	}
	memset(gone, 0, sizeof gone);
	ct_third_party_items_finish(&items);
	ct_third_party_items_finish(&items); /* once more changes nothing */
	assert_int_equal(items.count, 1500);
	for (uint32_t i = 0; i < items.count; i += 3) {
		assert_item(&items, i, "n", CTRACE_TYPE_COMP5S, &bytes, 8);
		assert_true(items.items[i].value == number);
		assert_item(&items, i + 1, "t", CTRACE_TYPE_UTF8, "stays", 5);
		assert_ptr_equal(items.items[i + 1].data, text);
		assert_item(&items, i + 2, "c", CTRACE_TYPE_TEXT, "copied", 6);
		assert_int_equal(items.items[i + 2].value, 0);
	}
	ct_third_party_items_clear(&items);
	assert_int_equal(items.count, 0);
}

static void others_behind(void **state)
{
	struct ct_third_party_items other = { 0 };
	char text[] = "text";

	(void)state;
	ct_third_party_items_add_number(&other, "n", CTRACE_TYPE_COMP5, 7);
	ct_third_party_items_add(&other, "t", CTRACE_TYPE_UTF8, text, 4);
	ct_third_party_items_add_float(&other, "f", 0.5, true);
	ct_third_party_items_finish(&other);
	ct_third_party_items_append(&items, &other, true);
	ct_third_party_items_append(&items, &other, false);
	ct_third_party_items_finish(&items);
	memset(text, 'x', 4);
	assert_int_equal(items.count, 6);
	assert_item(&items, 0, "n", CTRACE_TYPE_COMP5, "\7\0\0\0\0\0\0\0", 8);
	assert_item(&items, 1, "t", CTRACE_TYPE_UTF8, "text", 4);
	assert_item(&items, 2, "f", CTRACE_TYPE_TEXT, "0.5", 3);
	assert_item(&items, 4, "t", CTRACE_TYPE_UTF8, "xxxx", 4);
	ct_third_party_items_fini(&other);
}

static void as_many_as_an_event_has(void **state)
{
	static const char long_text[CTRACE_MAX_ITEM_SIZE + 1];

	(void)state;
	ct_third_party_items_add(&items, "a", CTRACE_TYPE_BINARY, long_text, CTRACE_MAX_ITEM_SIZE);
	assert_false(items.is_cut);
	ct_third_party_items_copy(&items, "a", CTRACE_TYPE_BINARY, long_text,
				  CTRACE_MAX_ITEM_SIZE + 1);
	assert_true(items.is_cut);
	assert_int_equal(items.items[1].size, CTRACE_MAX_ITEM_SIZE);
	items.is_cut = false;
	for (unsigned i = 2; i < CTRACE_MAX_ITEMS; i++)
		ct_third_party_items_add_number(&items, "n", CTRACE_TYPE_COMP5, i);
	assert_false(items.is_cut);
	ct_third_party_items_add_number(&items, "n", CTRACE_TYPE_COMP5, 0);
	assert_true(items.is_cut);
	assert_int_equal(items.count, CTRACE_MAX_ITEMS);
}

static void floating_point(void **state)
{
	static const struct {
		double value;
		bool is_short;
		const char *text;
	} rows[] = {
		{ 0.1, false, "0.1" },
		{ (double)0.1f, true, "0.1" },
		{ (double)0.1f, false, "0.10000000149011612" },
		{ -1e300, false, "-1e+300" },
		{ 1.0 / 3, false, "0.3333333333333333" },
		{ 0, true, "0" },
		{ (double)NAN, false, "nan" },
		{ -(double)INFINITY, true, "-inf" },
		{ 16777217, false, "16777217" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		ct_third_party_items_clear(&items);
		ct_third_party_items_add_float(&items, "f", rows[i].value, rows[i].is_short);
		ct_third_party_items_finish(&items);
		assert_item(&items, 0, "f", CTRACE_TYPE_TEXT, rows[i].text, strlen(rows[i].text));
	}
}

int test_third_party_item(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bytes_are_where_items_say, teardown),
		cmocka_unit_test_teardown(others_behind, teardown),
		cmocka_unit_test_teardown(as_many_as_an_event_has, teardown),
		cmocka_unit_test_teardown(floating_point, teardown)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
