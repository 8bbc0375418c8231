/*
 * test_class_names.c - names as a catalogue has them become names that a metadata text can have.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/metadata.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER (CTRACE_TYPE_COMP5 | 4u << 8)
#define TEXT (CTRACE_TYPE_TEXT | CT_SIZE_COUNTED_16 << 8)
#define FIXED (CTRACE_TYPE_TEXT | 10u << 8)
#define LONG (CTRACE_TYPE_BINARY | CT_SIZE_COUNTED_32 << 8)

/* The names of event 12 with items of these types and sizes; NULL when it has none. */
static struct ct_class_names *make(const char *mnemonic, const char *const *items,
				   const uint32_t *descriptors, uint32_t count)
{
	const struct ct_class_names names = { mnemonic, items, count };
	const struct ct_class class = { .event_id = 12,
					.component = "C",
					.items = descriptors,
					.item_count = count,
					.names = &names };

	return ct_class_names_create(&class);
}

static void assert_items(const char *const *given, const uint32_t *descriptors,
			 const char *const *wanted, uint32_t count)
{
	struct ct_class_names *names = make("M", given, descriptors, count);
	struct ct_class_names *again;

	assert_non_null(names);
	assert_int_equal(names->item_count, count);
	again = make(names->mnemonic, names->items, descriptors, count);
	for (uint32_t i = 0; i < count; i++) {
		if (wanted[i] == NULL) {
			assert_null(names->items[i]);
			assert_null(again->items[i]);
		} else {
			assert_string_equal(names->items[i], wanted[i]);
			/* once more changes nothing */
			assert_string_equal(again->items[i], wanted[i]);
		}
	}
	free(again);
	free(names);
}

static void plain_names_stay(void **state)
{
	static const char *const names[] = { "rows", "Sql_2", "_", "align", "9lives" };
	static const uint32_t descriptors[] = { NUMBER, TEXT, NUMBER, NUMBER, NUMBER };

	(void)state;
	assert_items(names, descriptors, names, 5);
}

static void other_characters_become_underscores(void **state)
{
	static const char *const given[] = { "my-name", "a.b", "\xC3\xA4", "x\n;", "" };
	static const char *const wanted[] = { "my_name", "a_b", "__", "x__", NULL };
	static const uint32_t descriptors[] = { NUMBER, NUMBER, NUMBER, NUMBER, NUMBER };

	(void)state;
	assert_items(given, descriptors, wanted, 5);
}

static void a_name_that_is_taken_gets_its_number(void **state)
{
	static const char *const given[] = { "x", "x", "x_2", "x", "my-x", "my_x" };
	static const char *const wanted[] = { "x", "x_2", "x_2_3", "x_4", "my_x", "my_x_6" };
	static const uint32_t descriptors[] = { NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER };

	(void)state;
	assert_items(given, descriptors, wanted, 6);
}

static void lengths_have_names_too(void **state)
{
	static const char *const after[] = { "x", "x_len" }, *const after_wanted[] = { "x",
										       "x_len_2" };
	static const char *const before[] = { "x_len", "x" }, *const before_wanted[] = { "x_len",
											 "x_2" };
	static const uint32_t first_is_text[] = { TEXT, NUMBER },
			      second_is_text[] = { NUMBER, TEXT };
	static const uint32_t none_is[] = { NUMBER, NUMBER };
	static const uint32_t first_is_long[] = { LONG, NUMBER },
			      first_is_fixed[] = { FIXED, NUMBER };

	(void)state;
	assert_items(after, first_is_text, after_wanted, 2);
	assert_items(before, second_is_text, before_wanted, 2);
	assert_items(after, none_is, after, 2);
	assert_items(after, first_is_long, after_wanted, 2);
	/* What has one size has no length beside it. */
	assert_items(after, first_is_fixed, after, 2);
}

/* Items without names are called data1, data2 ... and nothing else is. */
static void numbers_are_kept_for_items_without_names(void **state)
{
	static const char *const given[] = {
		"data2", NULL, "data3", "data1_len", "data", "data6x"
	};
	static const char *const wanted[] = {
		"data2_1", NULL, NULL, "data1_len_4", "data", "data6x"
	};
	static const uint32_t descriptors[] = { NUMBER, TEXT, NUMBER, NUMBER, NUMBER, NUMBER };

	(void)state;
	assert_items(given, descriptors, wanted, 6);
}

static void long_names_are_cut(void **state)
{
	char longest[3 * CT_METADATA_NAME], cut[CT_METADATA_NAME], numbered[CT_METADATA_NAME + 4];
	const char *given[] = { longest, longest }, *wanted[] = { cut, numbered };
	static const uint32_t descriptors[] = { TEXT, TEXT };

	(void)state;
	memset(longest, 'n', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	memcpy(cut, longest, sizeof cut - 1);
	cut[sizeof cut - 1] = '\0';
	memcpy(numbered, cut, sizeof cut);
	memcpy(numbered + CT_METADATA_NAME - 1 - 2, "_2", 3);
	assert_items(given, descriptors, wanted, 2);
}

static void all_items_may_have_one_name(void **state)
{
	const char *given[CT_CLASS_MAX_ITEMS], *wanted[CT_CLASS_MAX_ITEMS];
	char texts[CT_CLASS_MAX_ITEMS][16];
	uint32_t descriptors[CT_CLASS_MAX_ITEMS];

	(void)state;
	for (uint32_t i = 0; i < CT_CLASS_MAX_ITEMS; i++) {
		given[i] = "same";
		(void)snprintf(texts[i], sizeof texts[i], i == 0 ? "same" : "same_%u", i + 1);
		wanted[i] = texts[i];
		descriptors[i] = TEXT;
	}
	assert_items(given, descriptors, wanted, CT_CLASS_MAX_ITEMS);
}

static void assert_mnemonic(const char *given, const char *wanted)
{
	struct ct_class_names *names = make(given, NULL, NULL, 0);

	if (wanted == NULL) {
		assert_null(names);
		return;
	}
	assert_non_null(names);
	assert_string_equal(names->mnemonic, wanted);
	free(names);
}

static void mnemonics(void **state)
{
	(void)state;
	assert_mnemonic("OPEN", "OPEN");
	assert_mnemonic("a-b.c_d", "a-b.c_d");
	assert_mnemonic("a:b\"\\\n", "a_b___");
	assert_mnemonic("13", "13");
	/* The number is no name, nothing is none, and what has none is as it was. */
	assert_mnemonic("12", NULL);
	assert_mnemonic("", NULL);
	assert_mnemonic(NULL, NULL);
}

static void more_names_than_items_are_left_out(void **state)
{
	static const char *const items[] = { "a", "b", "c" };
	static const uint32_t descriptors[] = { NUMBER };
	const struct ct_class_names names = { NULL, items, 3 };
	struct ct_class class = {
		.component = "C", .items = descriptors, .item_count = 1, .names = &names
	};
	struct ct_class_names *made = ct_class_names_create(&class);

	(void)state;
	assert_int_equal(made->item_count, 1);
	assert_null(made->mnemonic);
	assert_string_equal(made->items[0], "a");
	free(made);
	class.names = NULL;
	assert_null(ct_class_names_create(&class));
}

int test_class_names(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names_stay),
		cmocka_unit_test(other_characters_become_underscores),
		cmocka_unit_test(a_name_that_is_taken_gets_its_number),
		cmocka_unit_test(lengths_have_names_too),
		cmocka_unit_test(numbers_are_kept_for_items_without_names),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(all_items_may_have_one_name),
		cmocka_unit_test(mnemonics),
		cmocka_unit_test(more_names_than_items_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
