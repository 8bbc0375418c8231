/*
 * test_binfile_metadata.c - the text of our metadata back to classes: what was printed is parsed,
 * and what is damaged costs itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/binfile_metadata.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct texts {
	struct ct_trace_info info;
	struct ct_schema *schema;
	struct ct_buf text;
	size_t trace_size; /* the trace-wide part */
};

static void add_class(struct texts *t, const char *component, uint32_t id, uint32_t level,
		      uint32_t count, const struct ctrace_event_item *items)
{
	const struct ctrace_event event = {
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.event_id = id,
		.level = level,
		.item_count = count,
		.items = items,
	};
	uint32_t before = ct_schema_count(t->schema);
	const struct ct_class *class = ct_schema_class(t->schema, &event, NULL);

	assert_int_equal(ct_schema_count(t->schema), before + 1);
	ct_schema_print_class(&t->text, class);
}

static const struct ctrace_definition defined = { .fmttab = "MYFMT@#$",
						  .userdata = { 1, [15] = 0xFF } };

/* A class whose component was defined with FMTTAB and USERDATA. */
static void add_defined(struct texts *t)
{
	struct ct_class class = {
		.number = 3500, .event_id = 12, .component = "defined", .definition = &defined
	};

	assert_int_equal(ct_schema_add(t->schema, &class), CTRACE_OK);
	ct_schema_print_class(&t->text, ct_schema_find(t->schema, 3500));
}

/* A class as a process's table may have it: numbers need not run on, and items may be of one size.
 */
static void add_fixed(struct texts *t)
{
	static const uint32_t sizes[] = {
		0, 1, 255, 256, 65535, 65536, CT_SIZE_COUNTED_16, CT_SIZE_COUNTED_32
	};
	static const uint32_t types[] = { CTRACE_TYPE_BINARY, CTRACE_TYPE_TEXT, CTRACE_TYPE_UTF8 };
	uint32_t items[CT_COUNT(sizes) * CT_COUNT(types)];
	struct ct_class class = {
		.number = 3000, .event_id = 9, .component = "fixed", .items = items
	};

	for (size_t type = 0; type < CT_COUNT(types); type++)
		for (size_t size = 0; size < CT_COUNT(sizes); size++)
			items[class.item_count++] = types[type] | sizes[size] << 8;
	assert_int_equal(ct_schema_add(t->schema, &class), CTRACE_OK);
	ct_schema_print_class(&t->text, ct_schema_find(t->schema, 3000));
}

/* One item of every kind that events which are written anew can have. */
static uint32_t every_item(struct ctrace_event_item *items)
{
	static const uint32_t sizes[] = { 0, 255, 256, 65535, 65536 };
	uint32_t count = 0;

	for (uint32_t type = 0; type < CTRACE_TYPE_COUNT; type++) {
		bool is_bytes = type == CTRACE_TYPE_BINARY || type == CTRACE_TYPE_TEXT ||
				type == CTRACE_TYPE_UTF8;

		for (uint32_t i = 0; is_bytes && i < CT_COUNT(sizes); i++)
			items[count++] =
				(struct ctrace_event_item){ .type = type, .size = sizes[i] };
		for (uint32_t size = 1; !is_bytes && size <= 8; size++)
			items[count++] = (struct ctrace_event_item){ .type = type, .size = size };
	}
	return count;
}

/* Names for the events of one component, for the first three items, of which one has none. */
static bool name_events(const char *component, size_t size, uint32_t event_id,
			struct ct_class_names *out, void *user)
{
	static const char *const items[] = { "first-one", NULL, "align" };

	(void)user;
	if (size != 5 || memcmp(component, "named", 5) != 0)
		return false;
	*out = (struct ct_class_names){ .mnemonic = event_id == 7 ? "OP.EN-" : NULL,
					.items = items,
					.item_count = 3 };
	return true;
}

static int setup(void **state)
{
	static const struct ct_trace_info info = {
		.uuid = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x10, 0x32, 0x54, 0x76,
			  0x98, 0xBA, 0xDC, 0xFE },
		.host = "host \"one\"",
		.program = "pro\\gram\n",
		.system = "Linux 6.1 \xC3\xA9 \xFF",
		.jobname = "JOB",
		.format = "$(TIME) \"$(DATA)\" \n",
		.pid = 4711,
		.asid = 0xFFFF,
		.start_ns = UINT64_MAX,
		.frequency = 2995200001,
		.offset_s = 1700000000,
		.offset = 2995200000,
		.clock = "tsc: the kernel keeps time by it",
	};
	struct ctrace_event_item items[64];
	struct texts *t = calloc(1, sizeof *t);
	char longest[CTRACE_MAX_COMPONENT + 1];

	t->info = info;
	if (ct_schema_create(&t->schema) != CTRACE_OK)
		return -1;
	ct_schema_set_namer(t->schema, name_events, NULL);
	ct_schema_print_trace(&t->text, &info);
	t->trace_size = t->text.size;
	add_class(t, "MF.RTS", 1, CTRACE_DEBUG, every_item(items), items);
	add_class(t, "empty", UINT32_MAX, CTRACE_FATAL, 0, NULL);
	add_class(t, "we\"ird\\:1;\n\t\x01\x7F\xC2\x9B\xE2\x80\xAE\xF0\x9F\x98\x80\xFF */ }", 5,
		  CTRACE_ERROR, 1, items);
	memset(longest, 0x1B, sizeof longest - 1);
	longest[CTRACE_MAX_COMPONENT] = '\0';
	add_class(t, longest, 6, CTRACE_WARN, 1, items);
	add_class(t, "named", 7, CTRACE_INFO, every_item(items), items);
	add_class(t, "named", 8, CTRACE_INFO, 1, items);
	add_class(t, "named", 9, CTRACE_INFO, 0, items);
	add_fixed(t);
	add_defined(t);
	*state = t;
	return t->text.failed;
}

static int teardown(void **state)
{
	struct texts *t = *state;

	ct_schema_destroy(t->schema);
	ct_buf_fini(&t->text);
	free(t);
	return 0;
}

/* What came of parsing: how much of the text is damaged, and how many classes there are. */
struct outcome {
	enum ctrace_status status;
	struct ct_trace_info info;
	size_t at; /* the end of the trace-wide part, or where it differs */
	uint32_t count;
	unsigned damages;
	size_t first_at, first_size;
	size_t text_size;
};

static void note_damage(size_t at, size_t size, void *user)
{
	struct outcome *outcome = user;

	assert_true(at <= outcome->text_size && size <= outcome->text_size - at);
	if (outcome->damages++ == 0) {
		outcome->first_at = at;
		outcome->first_size = size;
	}
}

static struct outcome parse_into(struct ct_schema *schema, const char *text, size_t size)
{
	struct outcome outcome = { .text_size = size, .at = SIZE_MAX };
	/* A block of exactly this size, so that a memory checker sees what is read behind it. */
	char *copy = malloc(size + (size == 0));

	memcpy(copy, text, size);
	outcome.status = ct_binfile_info_parse(copy, size, &outcome.info, &outcome.at);
	assert_true(outcome.at <= size);
	if (outcome.status == CTRACE_OK)
		outcome.status = ct_binfile_classes_parse(schema, (struct ct_span){ copy, size },
							  outcome.at, note_damage, &outcome);
	outcome.count = ct_schema_count(schema);
	free(copy);
	return outcome;
}

static struct outcome parse(const char *text, size_t size)
{
	struct outcome outcome;
	struct ct_schema *schema;

	assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
	outcome = parse_into(schema, text, size);
	ct_schema_destroy(schema);
	return outcome;
}

/* Names past the last that there is are none. */
static void assert_same_names(const struct ct_class_names *got, const struct ct_class_names *wanted)
{
	assert_int_equal(got == NULL, wanted == NULL);
	if (got == NULL)
		return;
	assert_int_equal(got->mnemonic == NULL, wanted->mnemonic == NULL);
	if (got->mnemonic != NULL)
		assert_string_equal(got->mnemonic, wanted->mnemonic);
	for (uint32_t i = 0; i < got->item_count; i++) {
		const char *name = i < wanted->item_count ? wanted->items[i] : NULL;

		assert_int_equal(got->items[i] == NULL, name == NULL);
		if (name != NULL)
			assert_string_equal(got->items[i], name);
	}
}

static void what_is_printed_is_read_back(void **state)
{
	struct texts *t = *state;
	struct ct_schema *schema;
	struct ct_buf again = { 0 };
	struct outcome outcome;

	assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
	outcome = parse_into(schema, t->text.data, t->text.size);
	assert_int_equal(outcome.status, CTRACE_OK);
	assert_int_equal(outcome.damages, 0);
	assert_memory_equal(&outcome.info, &t->info, sizeof outcome.info);
	assert_int_equal(outcome.at, t->trace_size);
	assert_int_equal(outcome.count, ct_schema_count(t->schema));
	for (uint32_t i = 1; i < ct_schema_count(schema); i++) {
		const struct ct_class *got = ct_schema_at(schema, i),
				      *wanted = ct_schema_at(t->schema, i);

		assert_int_equal(got->number, wanted->number);
		assert_ptr_equal(ct_schema_find(schema, wanted->number), got);
		assert_string_equal(got->component, wanted->component);
		assert_int_equal(got->event_id, wanted->event_id);
		assert_int_equal(got->level, wanted->level);
		assert_int_equal(got->item_count, wanted->item_count);
		if (wanted->item_count > 0)
			assert_memory_equal(got->items, wanted->items,
					    wanted->item_count * sizeof *wanted->items);
		assert_same_names(got->names, wanted->names);
		assert_int_equal(got->definition == NULL, wanted->definition == NULL);
	}
	assert_memory_equal(ct_schema_find(schema, 3500)->definition, &defined, sizeof defined);
	assert_string_equal(ct_schema_at(schema, 5)->names->mnemonic, "OP.EN-");
	assert_string_equal(ct_schema_at(schema, 5)->names->items[2], "align");
	assert_string_equal(ct_schema_at(schema, 6)->names->items[0], "first_one");
	assert_null(ct_schema_at(schema, 7)->names);
	assert_int_equal(ct_schema_find(schema, 3000)->item_count, 24);
	ct_schema_print_trace(&again, &outcome.info);
	for (uint32_t i = 1; i < ct_schema_count(schema); i++)
		ct_schema_print_class(&again, ct_schema_at(schema, i));
	assert_int_equal(again.size, t->text.size);
	assert_memory_equal(again.data, t->text.data, again.size);
	ct_buf_fini(&again);
	ct_schema_destroy(schema);
}

static void every_prefix_is_damaged_or_ends_between_classes(void **state)
{
	struct texts *t = *state;
	unsigned whole = 0;

	/* In the trace-wide part every seventh: there no prefix is whole. */
	for (size_t size = 0; size < t->text.size; size += size + 8 < t->trace_size ? 7 : 1) {
		struct outcome outcome = parse(t->text.data, size);

		assert_int_equal(outcome.status, size < t->trace_size ? CTRACE_DAMAGED : CTRACE_OK);
		if (outcome.status == CTRACE_OK && outcome.damages == 0) {
			size_t end = size;

			/* Nothing but line ends is missing at the end of a block. */
			while (t->text.data[end - 1] == '\n')
				end--;
			assert_int_equal(t->text.data[end - 1], ';');
			whole++;
		} else if (outcome.status == CTRACE_OK) {
			assert_int_equal(outcome.damages, 1);
			assert_int_equal(outcome.first_at + outcome.first_size, size);
		}
	}
	/* After the trace-wide part and each of the nine classes: at the ';' and at both line
	 * ends, but for the very last. */
	assert_in_range(whole, 10, 10 * 3 - 1);
}

static void a_class_costs_itself(void **state)
{
	struct texts *t = *state;
	char *text = malloc(t->text.size);
	struct outcome outcome;
	char *found, *block, *next;

	memcpy(text, t->text.data, t->text.size);
	found = memmem(text, t->text.size, "loglevel = 2;", 13); /* of the second */
	block = memrchr(text, 'v', (size_t)(found - text) - 30) - 1;
	next = memmem(found, t->text.size - (size_t)(found - text), "event {", 7);
	assert_memory_equal(block, "event {", 7);
	for (unsigned i = 0; i < 2; i++) {
		found[11] = "5}"[i]; /* no level of ours, and no number at all */
		outcome = parse(text, t->text.size);
		assert_int_equal(outcome.status, CTRACE_OK);
		assert_int_equal(outcome.count, ct_schema_count(t->schema) - 1);
		assert_int_equal(outcome.first_at, (size_t)(block - text));
		assert_true(i == 1 || outcome.first_size == (size_t)(next - block));
	}
	free(text);
}

/* Changing any one byte is noticed, or changes no more than a name, a number, or what is between
 * tokens. */
static void every_changed_byte_is_survived(void **state)
{
	struct texts *t = *state;
	char *text = malloc(t->text.size);

	memcpy(text, t->text.data, t->text.size);
	for (size_t i = 0; i < t->text.size; i++) {
		static const char changes[] = { 0, '"', '\\', '}', '9', '/', (char)0xFF };
		struct outcome outcome;

		text[i] = changes[i % sizeof changes];
		outcome = parse(text, t->text.size);
		assert_true(outcome.count <= ct_schema_count(t->schema));
		assert_true(outcome.status != CTRACE_OK ||
			    outcome.count + 2 >= ct_schema_count(t->schema));
		text[i] = t->text.data[i];
	}
	free(text);
}

static void comments_and_blanks_do_not_matter(void **state)
{
	struct texts *t = *state;
	struct ct_buf text = { 0 };
	struct outcome outcome;

	ct_buf_add(&text, t->text.data, t->trace_size);
	ct_buf_add_text(&text, "/* closed\nstream.0 1\n*/\n \t\r\n/**/");
	ct_buf_add(&text, t->text.data + t->trace_size, t->text.size - t->trace_size);
	ct_buf_add_text(&text, "/* end */");
	outcome = parse(text.data, text.size);
	assert_int_equal(outcome.damages, 0);
	assert_int_equal(outcome.count, ct_schema_count(t->schema));
	ct_buf_add_text(&text, "/* no end");
	assert_int_equal(parse(text.data, text.size).damages, 1);
	ct_buf_fini(&text);
}

static void hostile_classes_are_refused(void **state)
{
	static const char *const classes[] = {
		/* no name, no id in it, an id that is too large */
		"event { name = \"\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:4294967296\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:99999999999999999999999\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		/* definitions that are cut, too long, or followed by something */
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1?\"; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1?fmttab=A\"; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1?userdata=00112233445566778899aabbccddeeff\"; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1?fmttab=A&userdata=00112233445566778899aabbccddee\"; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1?fmttab=A&userdata=00112233445566778899aabbccddeeff0\"; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1?fmttab=AAAAAAAAAAAAAAAA&userdata=00112233445566778899aabbccddeeff\"; fields := struct { }; };",
		/* numbers that there are not, that have another meaning, and of other classes; a
		   level that there is not */
		"event { name = \"x:1\"; id = 65536; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4294967296; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 0; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 1; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 2; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 15; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 16; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 3000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 3001; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 2999; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_4 _data1; }; };",
		"event { name = \"x:1\"; id = 65535; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_4 _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 7; fields := struct { }; };",
		/* fields that are not ours */
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_9 _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_4 _data2; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_len16 _data1_len; ct_comp5_4 _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_len16 _data1_len; ct_text _data1[_data2_len]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_len16 _data1_len; ct_text _data1[4]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_len16 _data1_len; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_len8 _data1_len; ct_text _data1[_data1_len]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[_data1_len]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[65537]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[16777214]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[4294967306]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[1] };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_address _data1[8]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_4 _data1[4]; }; };",
		/* names that are not ours: without a number beside them, or with a wrong one */
		"event { name = \"x:OPEN\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_4 _rows; }; };",
		"event { name = \"x\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1\"; fields := struct { }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/\"; fields := struct { }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/4294967296\"; fields := struct { }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"other:event/1\"; fields := struct { }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1\"; "
		"fields := struct { ct_comp5_4 rows; }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1\"; "
		"fields := struct { ct_comp5_4 _; }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1\"; "
		"fields := struct { ct_comp5_4 _$x; }; };",
		"event { name = \"x:A\"; id = 4000; stream_id = 0; loglevel = 6; model.emf.uri = \"ctrace:event/1\"; "
		"fields := struct { ct_comp5_4 _x23456789x123456789x123456789x123456789x123456789x123456789x1234; }; };",
		/* fields that stand at other places, or are other bits than an item's; a struct of
		   them, another stream */
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_comp5_4 _data1; } align(16); };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; "
		"fields := struct { integer { size = 32; align = 16; } _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; "
		"fields := struct { integer { size = 12; align = 8; } _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; "
		"fields := struct { integer { size = 16; align = 8; } _data1[4]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; "
		"fields := struct { integer { size = 8; align = 16; } _data1[4]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { "
		"integer { size = 16; align = 8; byte_order = be; } _data1_len; ct_text _data1[_data1_len]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { "
		"ct_comp5_8 _data1_len; ct_text _data1[_data1_len]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { ct_text _data1[2][2]; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { string _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct { struct { ct_u8 a; } _data1; }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; context := struct { ct_u8 a; }; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 1; loglevel = 6; fields := struct { }; };",
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; };",
		"event { name = \"x:1\\",
	};
	struct texts *t = *state;
	struct ct_buf text = { 0 };

	for (size_t i = 0; i < CT_COUNT(classes); i++) {
		struct outcome outcome;

		ct_buf_clear(&text);
		ct_buf_add(&text, t->text.data, t->text.size);
		ct_buf_add_text(&text, classes[i]);
		outcome = parse(text.data, text.size);
		if (outcome.damages != 1 || outcome.count != ct_schema_count(t->schema))
			fail_msg("accepted: %s", classes[i]);
		assert_true(outcome.first_at >= t->text.size);
	}
	ct_buf_fini(&text);
}

/* An item is what its type says, whatever that is called. */
static void the_layout_is_that_of_the_types(void **state)
{
	static const char class[] =
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; typealias ct_len16 := ct_comp5_8; "
		"fields := struct { ct_comp5_8 _data1; ct_len32 len; ct_utf8 _data2[len]; ct_binary _data3[7]; }; };";
	static const uint32_t wanted[] = { CTRACE_TYPE_COMP5 | 2 << 8,
					   CTRACE_TYPE_UTF8 | CT_SIZE_COUNTED_32 << 8,
					   CTRACE_TYPE_BINARY | 7 << 8 };
	struct texts *t = *state;
	const struct ct_class *found;
	struct ct_buf text = { 0 };
	struct ct_schema *schema;

	assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
	ct_buf_add(&text, t->text.data, t->trace_size);
	ct_buf_add_text(&text, class);
	assert_int_equal(parse_into(schema, text.data, text.size).damages, 0);
	found = ct_schema_find(schema, 4000);
	assert_non_null(found);
	assert_int_equal(found->item_count, CT_COUNT(wanted));
	assert_memory_equal(found->items, wanted, sizeof wanted);
	ct_buf_fini(&text);
	ct_schema_destroy(schema);
}

/* A class of so many items behind the others. */
static struct outcome parse_items(const struct texts *t, unsigned items)
{
	struct ct_buf text = { 0 };
	struct outcome outcome;

	ct_buf_add(&text, t->text.data, t->text.size);
	ct_buf_add_text(
		&text,
		"event { name = \"x:1\"; id = 4000; stream_id = 0; loglevel = 6; fields := struct {");
	for (unsigned i = 1; i <= items; i++)
		ct_buf_add_format(&text, "ct_comp5_1 _data%u;", i);
	ct_buf_add_text(&text, "}; };");
	outcome = parse(text.data, text.size);
	ct_buf_fini(&text);
	return outcome;
}

static void as_many_items_as_a_class_has_and_no_more(void **state)
{
	struct texts *t = *state;

	assert_int_equal(parse_items(t, CT_CLASS_MAX_ITEMS).count, ct_schema_count(t->schema) + 1);
	assert_int_equal(parse_items(t, CT_CLASS_MAX_ITEMS + 1).count, ct_schema_count(t->schema));
	assert_int_equal(parse_items(t, CT_CLASS_MAX_ITEMS + 1).damages, 1);
}

/* What is there already is nothing new, wherever it stands. */
static void a_class_may_stand_there_twice(void **state)
{
	struct texts *t = *state;
	struct ct_buf text = { 0 };
	struct outcome outcome;

	ct_buf_add(&text, t->text.data, t->text.size);
	ct_buf_add(&text, t->text.data + t->trace_size, t->text.size - t->trace_size);
	outcome = parse(text.data, text.size);
	assert_int_equal(outcome.damages, 0);
	assert_int_equal(outcome.count, ct_schema_count(t->schema));
	ct_buf_fini(&text);
}

static void assert_format(const char *format)
{
	struct ct_trace_info info = { .host = "h", .program = "p", .system = "s", .jobname = "j" },
			     found;
	struct ct_buf text;
	size_t at;

	(void)snprintf(info.format, sizeof info.format, "%s", format);
	ct_buf_init(&text);
	ct_schema_print_trace(&text, &info);
	assert_int_equal(strstr(ct_buf_text(&text), "\tformat = \"") != NULL, format[0] != '\0');
	assert_int_equal(ct_binfile_info_parse(text.data, text.size, &found, &at), CTRACE_OK);
	assert_int_equal(at, text.size);
	assert_string_equal(found.format, format);
	ct_buf_fini(&text);
}

/* The line for readers is there or not; whatever is in it comes back. */
static void a_format_may_be_missing(void **state)
{
	char longest[sizeof((struct ct_trace_info *)NULL)->format];

	(void)state;
	assert_format("");
	assert_format("$(TIME)$(DATA)");
	assert_format("\"; }; \\ \x1B[2J \xFF \t;");
	memset(longest, 1, sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_format(longest);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_binfile_metadata(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_printed_is_read_back),
		TEST(every_prefix_is_damaged_or_ends_between_classes),
		TEST(a_class_costs_itself),
		TEST(every_changed_byte_is_survived),
		TEST(comments_and_blanks_do_not_matter),
		TEST(hostile_classes_are_refused),
		TEST(the_layout_is_that_of_the_types),
		TEST(as_many_items_as_a_class_has_and_no_more),
		TEST(a_class_may_stand_there_twice),
		TEST(a_format_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
