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

#include "format/format.h"
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

static const struct ct_class *class_of(const char *component, uint32_t id, uint32_t level,
				       uint32_t count, const struct ctrace_event_item *items,
				       bool expect_new)
{
	const struct ctrace_event event = {
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.event_id = id,
		.level = level,
		.item_count = count,
		.items = items,
	};
	uint32_t before = ct_schema_count(schema);
	const struct ct_class *class = ct_schema_class(schema, &event, NULL);

	assert_int_equal(ct_schema_count(schema), before + expect_new);
	return class;
}

#define ITEM(type, size) (CTRACE_TYPE_##type | (uint32_t)(size) << 8)
#define COUNTED(type) ITEM(type, CT_SIZE_COUNTED_16)
#define COUNTED_32(type) ITEM(type, CT_SIZE_COUNTED_32)

/* An item that is written anew: integers as they are, all else behind its size. */
static void items_of_a_class(void **state)
{
	static const struct {
		uint32_t type, size, item;
	} rows[] = {
		{ CTRACE_TYPE_BINARY, 0, COUNTED(BINARY) },
		{ CTRACE_TYPE_BINARY, 256, COUNTED(BINARY) },
		{ CTRACE_TYPE_TEXT, 65535, COUNTED(TEXT) },
		{ CTRACE_TYPE_TEXT, 65536, COUNTED_32(TEXT) },
		{ CTRACE_TYPE_UTF8, 7, COUNTED(UTF8) },
		{ CTRACE_TYPE_ADDRESS, 8, ITEM(ADDRESS, 8) },
		{ CTRACE_TYPE_ADDRESS, 4, COUNTED(BINARY) },
		{ CTRACE_TYPE_COMP5, 1, ITEM(COMP5, 1) },
		{ CTRACE_TYPE_COMPX, 8, ITEM(COMPX, 8) },
		{ CTRACE_TYPE_COMP5S, 3, ITEM(COMP5S, 3) },
		{ CTRACE_TYPE_COMPXS, 7, ITEM(COMPXS, 7) },
		{ CTRACE_TYPE_COMP5, 0, COUNTED(BINARY) },
		{ CTRACE_TYPE_COMPXS, 9, COUNTED(BINARY) },
		{ 8, 5, COUNTED(BINARY) },
		{ 0xFFFFFFFF, 65536, COUNTED_32(BINARY) },
	};

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(rows); i++) {
		const struct ctrace_event_item item = { .type = rows[i].type,
							.size = rows[i].size };

		assert_int_equal(class_of("C", i, 0, 1, &item, true)->items[0], rows[i].item);
	}
}

/* An item as a process's class has it, and as the metadata have it. */
static void items_that_are_printed(void **state)
{
	static const uint32_t same[] = {
		ITEM(BINARY, 0),  ITEM(BINARY, 65536), COUNTED(BINARY), COUNTED_32(BINARY),
		ITEM(TEXT, 10),   COUNTED(TEXT),       ITEM(UTF8, 1),   COUNTED_32(UTF8),
		ITEM(ADDRESS, 8), ITEM(COMP5, 1),      ITEM(COMPXS, 8),
	};
	static const uint32_t binary[] = { ITEM(ADDRESS, 4), COUNTED(ADDRESS),  ITEM(COMP5, 0),
					   ITEM(COMPX, 9),   COUNTED(COMP5S),   8 | 5u << 8,
					   0xFF | 5u << 8,   COUNTED_32(COMPXS) };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(same); i++)
		assert_int_equal(ct_class_item_printed(same[i]), same[i]);
	for (size_t i = 0; i < CT_COUNT(binary); i++)
		assert_int_equal(ct_class_item_printed(binary[i]),
				 CTRACE_TYPE_BINARY | (binary[i] & ~0xFFu));
}

static void same_event_is_same_class(void **state)
{
	const struct ctrace_event_item text = { .type = CTRACE_TYPE_TEXT,
						.size = 3,
						.data = "abc" };
	const struct ctrace_event_item longer = { .type = CTRACE_TYPE_TEXT,
						  .size = 65535,
						  .data = "" };
	const struct ctrace_event_item long_text = { .type = CTRACE_TYPE_TEXT,
						     .size = 65536,
						     .data = "" };
	const struct ct_class *first;

	(void)state;
	first = class_of("A", 1, 2, 1, &text, true);
	assert_int_equal(first->number, 16);
	assert_int_equal(first->index, 1);
	assert_string_equal(first->component, "A");
	assert_int_equal(first->event_id, 1);
	assert_int_equal(first->level, 2);
	assert_int_equal(first->item_count, 1);
	assert_int_equal(first->items[0], COUNTED(TEXT));
	assert_ptr_equal(class_of("A", 1, 2, 1, &longer, false), first);
	assert_ptr_equal(ct_schema_find(schema, 16), first);
	assert_ptr_equal(ct_schema_at(schema, 1), first);
	/* Each part of the key makes another one: two units further, for it has an item. */
	assert_int_equal(class_of("a", 1, 2, 1, &text, true)->number, 18);
	assert_int_equal(class_of("A", 2, 2, 1, &text, true)->number, 20);
	assert_int_equal(class_of("A", 1, 3, 1, &text, true)->number, 22);
	assert_int_equal(class_of("A", 1, 2, 0, NULL, true)->number, 24);
	assert_int_equal(class_of("A", 1, 2, 1, &long_text, true)->number, 25);
	assert_ptr_equal(class_of("A", 1, 2, 1, &text, false), first);
	assert_int_equal(ct_schema_count(schema), 7);
	for (uint32_t index = 0; index < 7; index++)
		assert_int_equal(ct_schema_at(schema, index)->index, index);
	assert_int_equal(ct_schema_find(schema, CT_CLASS_ANY)->number, CT_CLASS_ANY);
	assert_ptr_equal(ct_schema_at(schema, 0), ct_schema_find(schema, CT_CLASS_ANY));
}

/* Numbers that are no class's: within one, behind the last, reserved, and those that there are none
 * of. */
static void what_is_no_number(void **state)
{
	const struct ctrace_event_item items[8] = { { .type = CTRACE_TYPE_COMP5, .size = 4 } };

	(void)state;
	assert_null(ct_schema_find(schema, 16));
	assert_int_equal(class_of("A", 1, 2, 8, items, true)->number, 16);
	assert_int_equal(class_of("A", 2, 2, 8, items, true)->number, 19);
	for (uint32_t number = 0; number < 70000; number++)
		assert_int_equal(ct_schema_find(schema, number) != NULL,
				 number == CT_CLASS_ANY || number == 16 || number == 19);
	assert_null(ct_schema_find(schema, UINT32_MAX));
}

static void the_4097th_takes_the_generic_class(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CT_CLASS_LIMIT; i++)
		assert_int_equal(class_of("C", i, 0, 0, NULL, true)->number, CT_CLASS_FIRST + i);
	assert_int_equal(class_of("C", CT_CLASS_LIMIT, 0, 0, NULL, false)->number, CT_CLASS_ANY);
	/* The ones there are stay. */
	for (uint32_t i = 0; i < CT_CLASS_LIMIT; i++)
		assert_int_equal(class_of("C", i, 0, 0, NULL, false)->number, CT_CLASS_FIRST + i);
}

/* A reader has one for each trace of thousands. */
static void few_classes_take_little_memory(void **state)
{
	struct ct_schema *many[100];
	struct mallinfo2 before = mallinfo2(), after;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(many); i++) {
		struct ct_class class = { .number = 16, .component = "A" };

		assert_int_equal(ct_schema_create(&many[i]), CTRACE_OK);
		assert_null(ct_schema_find(many[i], 16));
		assert_int_equal(ct_schema_add(many[i], &class), CTRACE_OK);
		assert_string_equal(ct_schema_find(many[i], 16)->component, "A");
	}
	after = mallinfo2();
	assert_true(after.uordblks - before.uordblks < CT_COUNT(many) * 2048);
	for (size_t i = 0; i < CT_COUNT(many); i++)
		ct_schema_destroy(many[i]);
}

static void many_items_take_the_generic_class(void **state)
{
	static struct ctrace_event_item items[CT_CLASS_MAX_ITEMS + 1];
	const uint32_t named = CT_CLASS_ITEMS_TOTAL / CT_CLASS_MAX_ITEMS,
		       units = 1 + CT_CLASS_MAX_ITEMS / 4;

	(void)state;
	assert_int_equal(class_of("C", 0, 0, CT_CLASS_MAX_ITEMS + 1, items, false)->number,
			 CT_CLASS_ANY);
	for (uint32_t i = 0; i < named; i++)
		assert_int_equal(class_of("C", i, 0, CT_CLASS_MAX_ITEMS, items, true)->number,
				 CT_CLASS_FIRST + i * units);
	assert_int_equal(class_of("C", named, 0, 1, items, false)->number, CT_CLASS_ANY);
	assert_int_equal(class_of("C", named, 0, 0, items, true)->number,
			 CT_CLASS_FIRST + named * units);
}

static void a_long_name_takes_the_generic_class(void **state)
{
	char name[CTRACE_MAX_COMPONENT + 2];

	(void)state;
	memset(name, 'n', sizeof name);
	name[CTRACE_MAX_COMPONENT + 1] = '\0';
	assert_int_equal(class_of(name, 1, 0, 0, NULL, false)->number, CT_CLASS_ANY);
	name[CTRACE_MAX_COMPONENT] = '\0';
	assert_string_equal(class_of(name, 1, 0, 0, NULL, true)->component, name);
}

static void added_classes_have_the_number_that_they_say(void **state)
{
	const uint32_t items[] = { ITEM(COMP5, 4) };
	struct ct_class class = { .number = 100,
				  .event_id = 9,
				  .level = 1,
				  .item_count = 1,
				  .component = "X",
				  .items = items };
	struct ct_class other = class;

	(void)state;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK); /* once more is nothing new */
	assert_int_equal(ct_schema_count(schema), 2);
	assert_int_equal(ct_schema_find(schema, 100)->index, 1);
	/* Any order, and one class may have two numbers. */
	other.number = 50;
	assert_int_equal(ct_schema_add(schema, &other), CTRACE_OK);
	assert_int_equal(ct_schema_count(schema), 3);
	assert_int_equal(ct_schema_find(schema, 50)->index, 2);
	/* Another one under the same number. */
	other.event_id = 11;
	assert_int_equal(ct_schema_add(schema, &other), CTRACE_DAMAGED);
	/* What is made here comes behind them. */
	assert_int_equal(class_of("A", 1, 2, 0, NULL, true)->number, 102);
	/* Behind one that is not here, however many items that has. */
	ct_schema_skip(schema, 200);
	ct_schema_skip(schema, 50);
	assert_int_equal(class_of("B", 1, 2, 0, NULL, true)->number,
			 200 + 1 + CT_CLASS_MAX_ITEMS / 4);
	ct_schema_skip(schema, CT_CLASS_NUMBERS - 1);
	assert_int_equal(class_of("C", 1, 2, 0, NULL, false)->number, CT_CLASS_ANY);
}

static void numbers_that_overlap_are_refused(void **state)
{
	uint32_t items[CT_CLASS_MAX_ITEMS];
	struct ct_class class = {
		.number = 100, .event_id = 9, .item_count = 9, .component = "X", .items = items
	};

	(void)state;
	for (uint32_t i = 0; i < CT_CLASS_MAX_ITEMS; i++)
		items[i] = ITEM(COMP5, 1);
	/* It takes 100 to 103: 16 bytes and 9 times 4. */
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	class.event_id = 10;
	for (class.number = 101; class.number < 104; class.number++) {
		class.item_count = 0;
		assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	}
	class.number = 97;
	class.item_count = 9;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	class.item_count = 8;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK); /* up to 99 */
	class.event_id = 11;
	class.number = 104;
	class.item_count = CT_CLASS_MAX_ITEMS;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	assert_int_equal(ct_schema_count(schema), 4);
	assert_int_equal(ct_schema_find(schema, 104)->item_count, CT_CLASS_MAX_ITEMS);
}

static void numbers_and_items_that_cannot_be_are_refused(void **state)
{
	static const uint32_t wrong[] = { ITEM(BINARY, 65537),
					  ITEM(TEXT, 0xFFFFFC),
					  ITEM(TEXT, 0xFFFFFF),
					  ITEM(ADDRESS, 4),
					  ITEM(COMP5, 9),
					  COUNTED(COMP5),
					  8 };
	static const uint32_t reserved[] = { 0, CT_CLASS_MARK, CT_CLASS_FIRST - 1, 65536,
					     UINT32_MAX };
	uint32_t items[CT_CLASS_MAX_ITEMS + 1] = { 0 };
	struct ct_class class = { .number = 16,
				  .event_id = 9,
				  .item_count = CT_CLASS_MAX_ITEMS + 1,
				  .component = "X",
				  .items = items };

	(void)state;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED); /* too many items */
	for (size_t i = 0; i < CT_COUNT(wrong); i++) {
		items[0] = wrong[i];
		class.item_count = 1;
		assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	}
	class.item_count = 0;
	for (size_t i = 0; i < CT_COUNT(reserved); i++) {
		class.number = reserved[i];
		assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	}
	class.number = CT_CLASS_ANY; /* it is there, and is another one */
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	class.number = 16;
	class.level = CTRACE_LEVEL_COUNT;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	class.level = 0;
	/* The last number has room for no items. */
	class.number = 65535;
	items[0] = ITEM(BINARY, 65536);
	class.item_count = 1;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_DAMAGED);
	class.item_count = 0;
	assert_int_equal(ct_schema_count(schema), 1);
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	class.number = 65533;
	class.item_count = 4;
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	/* There is no room behind them. */
	assert_int_equal(class_of("A", 1, 2, 0, NULL, false)->number, CT_CLASS_ANY);
}

/* What ct_event_decode() finds in the schema is what was put into it. */
static void a_image_has_the_classes(void **state)
{
	const uint32_t items[] = { COUNTED(TEXT), ITEM(COMPX, 3) };
	const struct ct_class class = { .number = 1000,
					.event_id = 9,
					.level = 1,
					.item_count = 2,
					.component = "X",
					.items = items };
	static const unsigned char bytes[] = { 0xE8, 3, 7, 0, 0, 0, 0, 0, 2, 0, 'a', 'b', 0, 1, 2 };
	struct ct_event_state time = { .tid = 4 };
	struct ctrace_event_item found[2];
	struct ct_class_image image;
	struct ct_event event;

	(void)state;
	image = ct_schema_image(schema);
	assert_int_equal(ct_event_decode(&image, bytes, sizeof bytes, &time, &event),
			 CTRACE_DAMAGED);
	(void)class_of("A", 1, 2, 0, NULL, true);
	assert_int_equal(ct_schema_add(schema, &class), CTRACE_OK);
	image = ct_schema_image(schema);
	assert_true(image.has_names);
	assert_int_equal(ct_event_decode(&image, bytes, sizeof bytes, &time, &event), CTRACE_OK);
	assert_int_equal(event.size, sizeof bytes);
	assert_int_equal(event.head.component, 2); /* its index */
	assert_int_equal(event.head.event_id, 9);
	assert_int_equal(event.head.level, 1);
	assert_int_equal(event.ticks, 7);
	assert_int_equal(event.item_count, 2);
	ct_event_items(&event, found);
	assert_memory_equal(found[0].data, "ab", 2);
	assert_int_equal(found[1].value, 0x000102);
}

/* A process's table with one class, of four items, one of which metadata cannot have. */
static struct {
	struct ct_class_table table;
	unsigned char entries[4096];
} table;

static uint32_t fill_table(void)
{
	static const struct ct_event_head head = { .component = 7,
						   .event_id = 12,
						   .level = CTRACE_WARN };
	static const uint32_t items[] = { COUNTED(TEXT), ITEM(COMP5, 4), ITEM(ADDRESS, 4),
					  ITEM(TEXT, 20) };
	static struct ct_classes classes;

	memset(&table, 0, sizeof table);
	memset(&classes, 0, sizeof classes);
	classes.table = &table.table;
	ct_class_table_start(&table.table, sizeof table);
	return ct_class_find(&classes, &head, items, CT_COUNT(items));
}

static const struct ct_class_image *image_of_table(void)
{
	static struct ct_class_image image;

	image = (struct ct_class_image){ .bytes = (const unsigned char *)&table,
					 .size = sizeof table };
	return &image;
}

static void definitions_are_cleaned(void **state)
{
	struct ctrace_definition definition = { .fmttab = "MYFMT@#$" };

	(void)state;
	ct_definition_check(&definition);
	assert_string_equal(definition.fmttab, "MYFMT@#$");
	assert_ptr_equal(ct_definition_or_null(&definition), &definition);
	memcpy(definition.fmttab, "A\"B", 4);
	ct_definition_check(&definition);
	assert_null(ct_definition_or_null(&definition));
	memset(definition.fmttab, 'A', sizeof definition.fmttab); /* without an end */
	ct_definition_check(&definition);
	assert_null(ct_definition_or_null(&definition));
	definition.userdata[15] = 1;
	assert_ptr_equal(ct_definition_or_null(&definition), &definition);
}

static void a_class_of_a_process_is_taken_over(void **state)
{
	uint32_t number = fill_table();
	const struct ct_class *class;

	(void)state;
	assert_int_equal(ct_schema_take(schema, image_of_table(), number, "MY.COMP", 7, NULL),
			 CTRACE_OK);
	class = ct_schema_find(schema, number);
	assert_non_null(class);
	assert_int_equal(class->number, number);
	assert_int_equal(class->index, 1);
	assert_string_equal(class->component, "MY.COMP");
	assert_int_equal(class->event_id, 12);
	assert_int_equal(class->level, CTRACE_WARN);
	assert_int_equal(class->item_count, 4);
	assert_int_equal(class->items[0], COUNTED(TEXT));
	assert_int_equal(class->items[1], ITEM(COMP5, 4));
	assert_int_equal(class->items[2], ITEM(BINARY, 4));
	assert_int_equal(class->items[3], ITEM(TEXT, 20));
	assert_int_equal(ct_schema_take(schema, image_of_table(), number, "MY.COMP", 7, NULL),
			 CTRACE_OK);
	assert_ptr_equal(ct_schema_find(schema, number), class);
	assert_int_equal(ct_schema_count(schema), 2);
	/* The number is that of another class now: of another process, or of a table that was
	 * changed. */
	assert_int_equal(ct_schema_take(schema, image_of_table(), number, "OTHER", 5, NULL),
			 CTRACE_DAMAGED);
	assert_int_equal(ct_schema_count(schema), 2);
}

static void what_is_wrong_in_a_table_is_not_taken(void **state)
{
	uint32_t number = fill_table();
	struct ct_class_entry *entry = (struct ct_class_entry *)((unsigned char *)&table +
								 (size_t)number * CT_CLASS_UNIT),
			      good;
	struct ct_class_image image = *image_of_table();

	(void)state;
	memcpy(&good, entry, sizeof good);
	for (uint32_t other = 0; other < 70000; other++)
		if (other != number)
			assert_int_equal(ct_schema_take(schema, &image, other, "C", 1, NULL),
					 CTRACE_DAMAGED);
	entry->number++;
	assert_int_equal(ct_schema_take(schema, &image, number, "C", 1, NULL), CTRACE_DAMAGED);
	memcpy(entry, &good, sizeof good);
	entry->level = CTRACE_LEVEL_COUNT;
	assert_int_equal(ct_schema_take(schema, &image, number, "C", 1, NULL), CTRACE_DAMAGED);
	memcpy(entry, &good, sizeof good);
	entry->item_count = CT_CLASS_MAX_ITEMS + 1;
	assert_int_equal(ct_schema_take(schema, &image, number, "C", 1, NULL), CTRACE_DAMAGED);
	memcpy(entry, &good, sizeof good);
	entry->items[0] = ITEM(TEXT, 0xFFFFFF);
	assert_int_equal(ct_schema_take(schema, &image, number, "C", 1, NULL), CTRACE_DAMAGED);
	entry->items[0] = ITEM(TEXT, 65536);
	/* Cut anywhere. */
	for (image.size = 0;
	     image.size < (size_t)number * CT_CLASS_UNIT + sizeof good + 4 * sizeof(uint32_t);
	     image.size++)
		assert_int_equal(ct_schema_take(schema, &image, number, "C", 1, NULL),
				 CTRACE_DAMAGED);
	assert_int_equal(ct_schema_count(schema), 1);
	assert_int_equal(ct_schema_take(schema, &image, number, "C", 1, NULL), CTRACE_OK);
}

static bool count_and_name(const char *component, size_t size, uint32_t event_id,
			   struct ct_class_names *out, void *user)
{
	unsigned *asked = user;

	(void)component;
	++*asked;
	*out = (struct ct_class_names){ .mnemonic = "" };
	return size == 1 && event_id == 1;
}

static bool name_by_number(const char *component, size_t size, uint32_t event_id,
			   struct ct_class_names *out, void *user)
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
	const struct ctrace_event_item item = { .type = CTRACE_TYPE_COMP5,
						.size = 4,
						.data = "abcd" };
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

int test_schema(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(items_of_a_class, setup, teardown),
		cmocka_unit_test_setup_teardown(items_that_are_printed, setup, teardown),
		cmocka_unit_test_setup_teardown(same_event_is_same_class, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_number, setup, teardown),
		cmocka_unit_test_setup_teardown(the_4097th_takes_the_generic_class, setup,
						teardown),
		cmocka_unit_test_setup_teardown(few_classes_take_little_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(many_items_take_the_generic_class, setup, teardown),
		cmocka_unit_test_setup_teardown(a_long_name_takes_the_generic_class, setup,
						teardown),
		cmocka_unit_test_setup_teardown(added_classes_have_the_number_that_they_say, setup,
						teardown),
		cmocka_unit_test_setup_teardown(numbers_that_overlap_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_and_items_that_cannot_be_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_image_has_the_classes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_class_of_a_process_is_taken_over, setup,
						teardown),
		cmocka_unit_test_setup_teardown(definitions_are_cleaned, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_in_a_table_is_not_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_namer_is_asked_once_for_each_class_and_copied,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
