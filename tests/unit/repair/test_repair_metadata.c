/*
 * test_repair_metadata.c - a class of events that cannot be read costs only itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "repair_fixture.h"

#define CLASSES 6u
#define NUMBER(id) (CT_CLASS_FIRST - 1 + (id))

#define ALL 0x7Eu

struct texts {
	struct ct_trace_info info;
	struct ct_buf text;
	size_t at[CLASSES + 2]; /* where the class begins that event 100 + n is of; the end */
};

static int setup(void **state)
{
	struct texts *t = calloc(1, sizeof *t);
	struct ct_schema *schema;

	if (ct_schema_create(&schema) != CTRACE_OK)
		return -1;
	t->info = (struct ct_trace_info){
		.uuid = { 9, 8, 7 }, .host = "h", .program = "p", .pid = 12
	};
	ct_schema_print_trace(&t->text, &t->info);
	for (uint32_t id = 1; id <= CLASSES; id++) {
		struct ctrace_event event = { .component = "C",
					      .component_size = 1,
					      .event_id = 100 + id };
		const struct ct_class *class = ct_schema_class(schema, &event, NULL);

		assert_int_equal(class->number, NUMBER(id));
		t->at[id] = t->text.size;
		ct_schema_print_class(&t->text, class);
	}
	t->at[CLASSES + 1] = t->text.size;
	ct_schema_destroy(schema);
	*state = t;
	return t->text.failed;
}

static int teardown(void **state)
{
	struct texts *t = *state;

	ct_buf_fini(&t->text);
	free(t);
	return 0;
}

/* Reads the text; asserts that exactly the classes of the mask are there.  Returns where the last
 * damage is. */
static uint64_t assert_classes(const char *text, size_t size, uint32_t mask, unsigned notes)
{
	struct reported reported = { 0 };
	struct ct_repair run = { .report = note_keep, .user = &reported };
	struct ct_schema *schema;
	uint32_t count = 0;

	assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
	assert_int_equal(
		ct_repair_classes(&run, "metadata", (struct ct_span){ text, size }, schema),
		CTRACE_OK);
	for (uint32_t id = 1; id <= CLASSES; id++) {
		const struct ct_class *class = ct_schema_find(schema, NUMBER(id));
		bool is_good = class != NULL && strcmp(class->component, "C") == 0 &&
			       class->event_id == 100 + id;

		if (is_good != ((mask & 1u << id) != 0))
			fail_msg("class %u is %s", id,
				 class == NULL ? "missing" : class->component);
		count += is_good;
	}
	/* Nothing stands in the place of those that are lost. */
	assert_int_equal(ct_schema_count(schema), 1 + count);
	assert_true(run.lost_classes > 0 || notes == 0 || notes == UINT32_MAX || mask == ALL ||
		    size == 0);
	if (notes != UINT32_MAX)
		assert_int_equal(reported.notes, notes);
	ct_schema_destroy(schema);
	return reported.last_offset;
}

static void whole_text(void **state)
{
	struct texts *t = *state;

	assert_classes(t->text.data, t->text.size, ALL, 0);
}

static void any_one_class_may_be_damaged(void **state)
{
	struct texts *t = *state;

	for (uint32_t id = 1; id <= CLASSES; id++) {
		size_t at = t->at[id] + 9; /* "name" */
		char was = t->text.data[at];

		t->text.data[at] = '?';
		assert_classes(t->text.data, t->text.size, ALL & ~(1u << id), 1);
		t->text.data[at] = was;
	}
}

static void several_together_and_apart(void **state)
{
	struct texts *t = *state;

	memset(t->text.data + t->at[2] + 3, '#', t->at[4] - t->at[2]);
	assert_classes(t->text.data, t->text.size, ALL & ~(1u << 2 | 1u << 3 | 1u << 4), 1);
	t->text.data[t->at[6] + 1] = '#';
	assert_classes(t->text.data, t->text.size, ALL & ~(1u << 2 | 1u << 3 | 1u << 4 | 1u << 6),
		       2);
}

static void the_trace_wide_part_may_be_damaged(void **state)
{
	struct texts *t = *state;

	for (size_t at = 0; at < t->at[1]; at += 97) {
		char was = t->text.data[at];

		t->text.data[at] = '\x01';
		assert_classes(t->text.data, t->text.size, ALL, UINT32_MAX);
		t->text.data[at] = was;
	}
	/* Both places are those of the file. */
	t->text.data[600] = '?';
	assert_int_equal(assert_classes(t->text.data, t->text.size, ALL, 1), 600);
	t->text.data[t->at[5] + 9] = '?';
	assert_int_equal(assert_classes(t->text.data, t->text.size, ALL & ~(1u << 5), 2), t->at[5]);
	t->text.data[t->at[5] + 9] = 'n';
	assert_classes(t->text.data + 500, t->text.size - 500, ALL, 1);
	assert_classes("", 0, 0, 1);
}

static void every_changed_byte_costs_at_most_two_classes(void **state)
{
	struct texts *t = *state;

	for (size_t at = t->at[1]; at < t->text.size; at++) {
		static const char changes[] = { '\0', '"', '}', '9', '\\', ' ' };
		char was = t->text.data[at];
		struct reported reported = { 0 };
		struct ct_repair run = { .report = note_keep, .user = &reported };
		struct ct_schema *schema;
		unsigned good = 0;

		t->text.data[at] = changes[at % sizeof changes];
		assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
		assert_int_equal(ct_repair_classes(&run, "metadata",
						   (struct ct_span){ t->text.data, t->text.size },
						   schema),
				 CTRACE_OK);
		for (uint32_t id = 1; id <= CLASSES; id++)
			good += ct_schema_find(schema, NUMBER(id)) != NULL &&
				ct_schema_find(schema, NUMBER(id))->event_id == 100 + id;
		if (good + 2 < CLASSES)
			fail_msg("at %zu: %u of %u classes", at - t->at[1], good, CLASSES);
		ct_schema_destroy(schema);
		t->text.data[at] = was;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_repair_metadata(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_text),
		TEST(any_one_class_may_be_damaged),
		TEST(several_together_and_apart),
		TEST(the_trace_wide_part_may_be_damaged),
		TEST(every_changed_byte_costs_at_most_two_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
