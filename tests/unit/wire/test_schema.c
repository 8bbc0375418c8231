/*
 * test_schema.c - the set of event classes: what makes two the same, and its bounds.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/wire.h"
#include <malloc.h>
#include <string.h>

static struct ct_schema *schema;

static int setup(void **state)
{
	(void)state;
	return ct_schema_create(&schema) == CTRACE_OK ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ct_schema_destroy(schema);
	return 0;
}

static const struct ct_class *class_of(const char *component, uint32_t id, uint32_t level, uint32_t count,
				       const struct ctrace_event_item *items, bool expect_new)
{
	const struct ctrace_event event = {
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.event_id = id,
		.level = level,
		.item_count = count,
		.items = items,
	};
	bool is_new;
	const struct ct_class *class = ct_schema_class(schema, &event, &is_new);

	assert_int_equal(is_new, expect_new);
	return class;
}

static void shape_is_kind_and_width(void **state)
{
	static const struct {
		uint32_t type, size;
		uint8_t shape;
	} rows[] = {
		{ CTRACE_TYPE_BINARY, 0, CT_KIND_BINARY | 1 },
		{ CTRACE_TYPE_BINARY, 255, CT_KIND_BINARY | 1 },
		{ CTRACE_TYPE_BINARY, 256, CT_KIND_BINARY | 2 },
		{ CTRACE_TYPE_TEXT, 65535, CT_KIND_TEXT | 2 },
		{ CTRACE_TYPE_TEXT, 65536, CT_KIND_TEXT | 4 },
		{ CTRACE_TYPE_UTF8, 7, CT_KIND_UTF8 | 1 },
		{ CTRACE_TYPE_ADDRESS, 8, CT_KIND_ADDRESS | 8 },
		{ CTRACE_TYPE_ADDRESS, 4, CT_KIND_BINARY | 1 },
		{ CTRACE_TYPE_COMP5, 1, CT_KIND_COMP5 | 1 },
		{ CTRACE_TYPE_COMPX, 8, CT_KIND_COMPX | 8 },
		{ CTRACE_TYPE_COMP5S, 3, CT_KIND_COMP5S | 3 },
		{ CTRACE_TYPE_COMPXS, 7, CT_KIND_COMPXS | 7 },
		{ CTRACE_TYPE_COMP5, 0, CT_KIND_BINARY | 1 },
		{ CTRACE_TYPE_COMPXS, 9, CT_KIND_BINARY | 1 },
		{ 8, 5, CT_KIND_BINARY | 1 },
		{ 0xFFFFFFFF, 70000, CT_KIND_BINARY | 4 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		assert_int_equal(ct_shape_of(rows[i].type, rows[i].size), rows[i].shape);
}

static void same_event_is_same_class(void **state)
{
	const struct ctrace_event_item text = { .type = CTRACE_TYPE_TEXT, .size = 3, .data = "abc" };
	const struct ctrace_event_item longer = { .type = CTRACE_TYPE_TEXT, .size = 200, .data = "" };
	const struct ctrace_event_item long_text = { .type = CTRACE_TYPE_TEXT, .size = 256, .data = "" };
	const struct ct_class *first;

	(void)state;
	first = class_of("A", 1, 2, 1, &text, true);
	assert_int_equal(first->id, 1);
	assert_string_equal(first->component, "A");
	assert_int_equal(first->event_id, 1);
	assert_int_equal(first->level, 2);
	assert_int_equal(first->item_count, 1);
	assert_int_equal(first->shape[0], CT_KIND_TEXT | 1);
	assert_ptr_equal(class_of("A", 1, 2, 1, &longer, false), first);
	assert_ptr_equal(ct_schema_find(schema, 1), first);
	/* Each part of the key makes another one. */
	assert_int_equal(class_of("a", 1, 2, 1, &text, true)->id, 2);
	assert_int_equal(class_of("A", 2, 2, 1, &text, true)->id, 3);
	assert_int_equal(class_of("A", 1, 3, 1, &text, true)->id, 4);
	assert_int_equal(class_of("A", 1, 2, 0, NULL, true)->id, 5);
	assert_int_equal(class_of("A", 1, 2, 1, &long_text, true)->id, 6);
	assert_ptr_equal(class_of("A", 1, 2, 1, &text, false), first);
	assert_int_equal(ct_schema_count(schema), 7);
	assert_null(ct_schema_find(schema, 7));
	assert_non_null(ct_schema_find(schema, CT_CLASS_GENERIC));
}

static void the_4097th_takes_the_generic_class(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CT_CLASS_LIMIT; i++)
		assert_int_equal(class_of("C", i, 0, 0, NULL, true)->id, i + 1);
	assert_int_equal(class_of("C", CT_CLASS_LIMIT, 0, 0, NULL, false)->id, CT_CLASS_GENERIC);
	/* The ones there are stay. */
	for (uint32_t i = 0; i < CT_CLASS_LIMIT; i++)
		assert_int_equal(class_of("C", i, 0, 0, NULL, false)->id, i + 1);
}

/* A reader has one for each trace of thousands. */
static void few_classes_take_little_memory(void **state)
{
	struct ct_schema *many[100];
	struct mallinfo2 before = mallinfo2(), after;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(many); i++) {
		struct ct_class class = { .id = 1, .component = "A" };

		assert_int_equal(ct_schema_create(&many[i]), CTRACE_OK);
		assert_null(ct_schema_find(many[i], 1));
		assert_int_equal(ct_schema_add(many[i], &class), CTRACE_OK);
		assert_string_equal(ct_schema_find(many[i], 1)->component, "A");
	}
	after = mallinfo2();
	assert_true(after.uordblks - before.uordblks < CT_COUNT(many) * 2048);
	for (size_t i = 0; i < CT_COUNT(many); i++)
		ct_schema_destroy(many[i]);
}

static void long_shapes_take_the_generic_class(void **state)
{
	static struct ctrace_event_item items[CT_CLASS_ITEMS + 1];
	uint32_t named = CT_CLASS_ITEMS_TOTAL / CT_CLASS_ITEMS;

	(void)state;
	assert_int_equal(class_of("C", 0, 0, CT_CLASS_ITEMS + 1, items, false)->id, CT_CLASS_GENERIC);
	for (uint32_t i = 0; i < named; i++)
		assert_int_equal(class_of("C", i, 0, CT_CLASS_ITEMS, items, true)->id, i + 1);
	assert_int_equal(class_of("C", named, 0, 1, items, false)->id, CT_CLASS_GENERIC);
	assert_int_equal(class_of("C", named, 0, 0, items, true)->id, named + 1);
}

static void added_classes_come_in_order_and_once(void **state)
{
	const uint8_t shape[] = { CT_KIND_COMP5 | 4 };
	struct ct_class class = { .id = 1, .event_id = 9, .level = 1, .item_count = 1, .component = "X", .shape = shape };
	struct ct_class other = class;

	(void)state;
	other.id = 2;
	assert_int_equal(ct_schema_add(schema, &other), CTRACE_DAMAGED);
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	assert_int_equal(ct_schema_count(schema), 2);
	assert_int_equal(ct_schema_add(schema, &other), CTRACE_DAMAGED); /* the same under another id */
	other.event_id = 10;
	assert_int_equal(ct_schema_add(schema, &other), CTRACE_OK);
	other.event_id = 11;
	assert_int_equal(ct_schema_add(schema, &other), CTRACE_DAMAGED); /* another under the same id */
}

static bool count_and_name(const char *component, size_t size, uint32_t event_id, struct ct_class_names *out, void *user)
{
	unsigned *asked = user;

	(void)component;
	++*asked;
	*out = (struct ct_class_names){ .mnemonic = "" };
	return size == 1 && event_id == 1;
}

static bool name_by_number(const char *component, size_t size, uint32_t event_id, struct ct_class_names *out, void *user)
{
	static char mnemonic[8];
	static const char *const items[] = { mnemonic };

	(void)component;
	(void)size;
	(void)user;
	memcpy(mnemonic, "M0", 3);
	mnemonic[1] = (char)('0' + event_id);
	*out = (struct ct_class_names){ mnemonic, items, 1 };
	return true;
}

static void a_namer_is_asked_once_for_each_class_and_copied(void **state)
{
	const struct ctrace_event_item item = { .type = CTRACE_TYPE_COMP5, .size = 4, .data = "abcd" };
	const struct ct_class *first, *second;
	unsigned asked = 0;

	(void)state;
	ct_schema_set_namer(schema, count_and_name, &asked);
	first = class_of("A", 1, 2, 1, &item, true);
	assert_null(first->names); /* it had nothing to say */
	assert_ptr_equal(class_of("A", 1, 2, 1, &item, false), first);
	assert_int_equal(asked, 1);
	(void)class_of("AB", 1, 2, 1, &item, true);
	assert_int_equal(asked, 2);
	ct_schema_set_namer(schema, name_by_number, NULL);
	first = class_of("B", 1, 2, 1, &item, true);
	second = class_of("B", 2, 2, 1, &item, true);
	assert_string_equal(first->names->mnemonic, "M1");
	assert_string_equal(first->names->items[0], "M1");
	assert_string_equal(second->names->mnemonic, "M2");
	ct_schema_set_namer(schema, NULL, NULL);
	assert_null(class_of("B", 3, 2, 1, &item, true)->names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shape_is_kind_and_width, setup, teardown),
		cmocka_unit_test_setup_teardown(same_event_is_same_class, setup, teardown),
		cmocka_unit_test_setup_teardown(the_4097th_takes_the_generic_class, setup, teardown),
		cmocka_unit_test_setup_teardown(few_classes_take_little_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(long_shapes_take_the_generic_class, setup, teardown),
		cmocka_unit_test_setup_teardown(added_classes_come_in_order_and_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_namer_is_asked_once_for_each_class_and_copied, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
