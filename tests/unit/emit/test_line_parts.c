/*
 * test_line_parts.c - a FORMAT in parts: which text and variables it becomes, and that the text of
 * a class is put together once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/emit/emit.h"
#include <string.h>

static const struct ct_line_name names[] = {
	{ "EVENT", CT_LINE_EVENT, true },
	{ "LEVEL", CT_LINE_LEVEL, true },
	{ "TIME", CT_LINE_TIME, false },
	{ "OWN", CT_LINE_VARIABLES, false },
};

static void add_parts(struct ct_buf *out, const struct ct_line_part *parts, size_t count)
{
	static const char letters[] = { [CT_LINE_CLASS] = 'c',
					[CT_LINE_EVENT] = 'e',
					[CT_LINE_LEVEL] = 'l',
					[CT_LINE_TIME] = 't' };

	for (size_t i = 0; i < count; i++) {
		ct_buf_add_char(out, '|');
		if (parts[i].variable == CT_LINE_TEXT)
			ct_buf_add(out, parts[i].text, parts[i].size);
		else
			ct_buf_add_char(out, parts[i].variable == CT_LINE_VARIABLES
						     ? 'o'
						     : letters[parts[i].variable]);
	}
}

/* "|t|c :|e| |l": the parts, and behind a colon those of the run. */
static const char *parts_of(const char *format)
{
	static char text[256];
	struct ct_line_parts parts;
	struct ct_buf out;

	ct_buf_init(&out);
	assert_int_equal(ct_line_parts_init(&parts, format, names, CT_COUNT(names)), CTRACE_OK);
	add_parts(&out, parts.parts, parts.count);
	ct_buf_add_text(&out, " :");
	add_parts(&out, parts.run, parts.run_count);
	assert_true(out.size < sizeof text);
	memcpy(text, ct_buf_text(&out), out.size + 1);
	ct_buf_fini(&out);
	ct_line_parts_fini(&parts);
	return text;
}

static void a_format_is_texts_and_variables(void **state)
{
	(void)state;
	assert_string_equal(parts_of(""), " :");
	assert_string_equal(parts_of("text"), "|text :");
	assert_string_equal(parts_of("$(TIME)"), "|t :");
	assert_string_equal(parts_of("$(time)$(Own)"), "|t|o :");
	assert_string_equal(parts_of("a $(TIME) b"), "|a |t| b :");
	assert_string_equal(parts_of("$(NONE) $ $( $(TIME $() $$(TIME)$"),
			    "|$(NONE) $ $( $(TIME $() $|t|$ :");
	assert_string_equal(parts_of("$($(TIME))"), "|$(|t|) :");
}

static void the_longest_run_of_a_class_is_one_part(void **state)
{
	(void)state;
	assert_string_equal(parts_of("$(EVENT)"), "|c :|e");
	assert_string_equal(parts_of("$(TIME) $(EVENT) $(LEVEL)"), "|t|c :| |e| |l");
	assert_string_equal(parts_of("$(EVENT)$(TIME)$(EVENT)-$(LEVEL)$(TIME)$(LEVEL)"),
			    "|e|t|c|t|l :|e|-|l");
	/* A text alone is no run: to look for it costs more than to copy it. */
	assert_string_equal(parts_of("$(TIME) text $(TIME)"), "|t| text |t :");
}

/* More variables than anybody writes: all of them count. */
static void a_format_may_have_any_number_of_parts(void **state)
{
	char format[1000 * 7 + sizeof "$(EVENT)"];
	struct ct_line_parts parts;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		memcpy(format + 7 * i, i % 2 == 0 ? "$(TIME)" : "1234567", 7);
	memcpy(format + 7000, "$(EVENT)", sizeof "$(EVENT)");
	assert_int_equal(ct_line_parts_init(&parts, format, names, CT_COUNT(names)), CTRACE_OK);
	assert_int_equal(parts.count, 1000);
	assert_int_equal(parts.run_count, 2);
	for (size_t i = 0; i < 999; i++)
		assert_int_equal(parts.parts[i].variable, i % 2 == 0 ? CT_LINE_TIME : CT_LINE_TEXT);
	assert_int_equal(parts.parts[999].variable, CT_LINE_CLASS);
	ct_line_parts_fini(&parts);
	memset(format, '$', 7000);
	format[7000] = '\0';
	assert_int_equal(ct_line_parts_init(&parts, format, names, CT_COUNT(names)), CTRACE_OK);
	assert_int_equal(parts.count, 1);
	assert_int_equal(parts.parts[0].size, 7000);
	ct_line_parts_fini(&parts);
}

static unsigned rendered;

static void add_event(const void *self, struct ct_buf *out, const struct ct_line_part *part,
		      const void *of)
{
	const struct ct_line_class *class = of;

	assert_string_equal(self, "self");
	if (part->variable == CT_LINE_TEXT) {
		ct_buf_add(out, part->text, part->size);
		return;
	}
	rendered++;
	ct_buf_add_u64(out, class->event_id);
}

static void add_class(const struct ct_line_parts *parts, struct ct_buf *out,
		      const struct ct_line_class *class)
{
	ct_buf_clear(out);
	ct_line_parts_add_class(parts, out, class, add_event, "self", class);
}

static void the_text_of_a_class_is_put_together_once(void **state)
{
	struct ct_line_class class = { .component = "C", .event_id = 7, .level = 1 }, others[5];
	struct ct_line_parts parts;
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	assert_int_equal(ct_line_parts_init(&parts, "event $(EVENT)", names, CT_COUNT(names)),
			 CTRACE_OK);
	rendered = 0;
	for (unsigned i = 0; i < 3; i++) {
		add_class(&parts, &out, &class);
		assert_string_equal(ct_buf_text(&out), "event 7");
	}
	assert_int_equal(rendered, 1);
	for (size_t i = 0; i < CT_COUNT(others); i++)
		others[i] = class;
	others[0].component = "D";
	others[1].scope = 1;
	others[2].event_id = 8;
	others[3].level = 2;
	others[4].mnemonic = "M";
	for (size_t i = 0; i < CT_COUNT(others); i++) {
		add_class(&parts, &out, &others[i]);
		assert_int_equal(rendered, 2 + i);
		assert_string_equal(ct_buf_text(&out), i == 2 ? "event 8" : "event 7");
	}
	ct_line_parts_fini(&parts);
	ct_buf_fini(&out);
}

static void a_slot_has_the_text_of_its_class_and_room_for_a_whole_piece(void **state)
{
	const struct ct_line_class class = { .component = "C", .event_id = 7, .level = 1 },
				   other = { .component = "C", .event_id = 12345, .level = 2 };
	struct ct_line_slot slot = { 0 };
	struct ct_line_parts parts;

	(void)state;
	ct_buf_init(&slot.text);
	assert_int_equal(
		ct_line_parts_init(&parts, "$(TIME) event $(EVENT)", names, CT_COUNT(names)),
		CTRACE_OK);
	ct_line_slot_fill(&slot, &parts, &class, add_event, "self", &class);
	assert_true(slot.is_set);
	assert_memory_equal(&slot.class, &class, sizeof class);
	assert_string_equal(ct_buf_text(&slot.text), " event 7"); /* the run of the class alone */
	assert_true(slot.text.capacity - slot.text.size >= CT_LINE_PIECE);
	ct_line_slot_fill(&slot, &parts, &other, add_event, "self", &other);
	assert_memory_equal(&slot.class, &other, sizeof other);
	assert_string_equal(ct_buf_text(&slot.text), " event 12345");
	ct_buf_fini(&slot.text);
	ct_line_parts_fini(&parts);
}

/* More classes than texts are kept, and texts of every size up to some pieces: each class has its
 * own, in any order. */
static void any_number_of_classes_have_their_texts(void **state)
{
	static const char literal[] = "0123456789012345678901234567890123456789";
	struct ct_buf out, expected;

	(void)state;
	ct_buf_init(&out);
	ct_buf_init(&expected);
	for (size_t size = 0; size < sizeof literal; size++) {
		struct ct_line_parts parts;
		char format[64];

		memcpy(format, literal, size);
		memcpy(format + size, "$(EVENT)", sizeof "$(EVENT)");
		assert_int_equal(ct_line_parts_init(&parts, format, names, CT_COUNT(names)),
				 CTRACE_OK);
		for (uint32_t i = 0; i < 2000; i++) {
			struct ct_line_class class = { .component = "C",
						       .event_id = i * 701 % 1000 };

			ct_buf_clear(&expected);
			ct_buf_add(&expected, literal, size);
			ct_buf_add_u64(&expected, class.event_id);
			add_class(&parts, &out, &class);
			assert_string_equal(ct_buf_text(&out), ct_buf_text(&expected));
		}
		ct_line_parts_fini(&parts);
	}
	ct_buf_fini(&out);
	ct_buf_fini(&expected);
}

int test_line_parts(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_format_is_texts_and_variables),
		cmocka_unit_test(the_longest_run_of_a_class_is_one_part),
		cmocka_unit_test(a_format_may_have_any_number_of_parts),
		cmocka_unit_test(the_text_of_a_class_is_put_together_once),
		cmocka_unit_test(a_slot_has_the_text_of_its_class_and_room_for_a_whole_piece),
		cmocka_unit_test(any_number_of_classes_have_their_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
