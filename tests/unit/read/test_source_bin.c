/*
 * test_source_bin.c - stream files: everything that was written is read back, and a damaged event
 * costs only its packet.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "stream_fixture.h"

/* A stream that waits for its turn gives its memory back, and has its event again. */
static void little_memory_for_many(void **state)
{
	struct ctrace_event event;
	uint64_t times[COUNT];
	struct reading r;

	make(*state);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	for (unsigned i = 0; i < COUNT && next_event(&r, &event); i++)
		times[i] = event.time_ns;
	ct_sources_fini(&r.sources);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	r.sources.may_hold = 1;
	for (unsigned i = 0; i < 2 * COUNT; i++) {
		assert_true(next_event(&r, &event));
		assert_true(event.time_ns == times[i / 2]);
		assert_int_equal(event.item_count, 1);
	}
	assert_false(next_event(&r, &event));
	assert_int_equal(r.sources.held, 0);
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
}

static void everything_comes_back(void **state)
{
	struct fixture *f = *state;
	uint64_t address = 0x7FFF12345678, address_data = htole64(address);
	struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 4, .data = "a\0b\xFF" },
		{ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = &address_data },
		{ .type = CTRACE_TYPE_COMPXS, .size = 3, .data = "\xFF\xFF\xFE" },
		{ .type = CTRACE_TYPE_BINARY, .size = 0 },
	};
	struct ctrace_event event = {
		.time_ns = START_NS + 7,
		.component = "MF.RTS",
		.component_size = 6,
		.event_id = 4000000000u,
		.level = CTRACE_FATAL,
		.pid = 4711,
		.tid = 99,
		.item_count = 4,
		.items = items,
	};
	struct ctrace_stream stream = { .id = 12 };
	struct ctrace_event got = { 0 };
	struct reading r;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	fixture_close(f);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_true(next_event(&r, &got));
	assert_int_equal(got.time_ns, event.time_ns);
	assert_string_equal(got.component, "MF.RTS");
	assert_int_equal(got.component_size, 6);
	assert_int_equal(got.event_id, 4000000000u);
	assert_int_equal(got.level, CTRACE_FATAL);
	assert_int_equal(got.pid, 4711);
	assert_int_equal(got.tid, 99);
	assert_int_equal(got.item_count, 4);
	assert_int_equal(got.items[0].size, 4);
	assert_memory_equal(got.items[0].data, "a\0b\xFF", 4);
	assert_int_equal(got.items[1].value, address);
	assert_int_equal((int64_t)got.items[2].value, -2);
	assert_int_equal(got.items[3].size, 0);
	assert_false(next_event(&r, &got));
	assert_false(next_event(&r, &got));
	ct_sources_fini(&r.sources);
}

#define EVENT (8u + 2u + 10u) /* bytes of one with "number 50." */

static void a_damaged_event_costs_the_rest_of_its_packet(void **state)
{
	struct fixture *f = *state;
	bool seen[COUNT];
	struct reading r;

	make(f);
	/* The number of the class of the third event of packet 5. */
	patch_file("t.ctb/stream.0", (long)(packet_at[5] + CT_PACKET_HEAD + 2 * EVENT), "\xFF\xFF",
		   2);
	read_all(seen, &r);
	assert_missing(seen, 52, 8);
	assert_int_equal(r.reports, 1);
	assert_int_equal(r.last_offset, packet_at[5] + CT_PACKET_HEAD + 2 * EVENT);
	assert_string_equal(r.last_path, "t.ctb/stream.0");
}

/* Any byte anything: never a crash, and never an event that was not there twice. */
static void random_damage_is_survived(void **state)
{
	struct fixture *f = *state;
	struct ct_buf bytes = { 0 };
	uint32_t random = 12345;
	FILE *file;

	make(f);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	for (unsigned round = 0; round < 300; round++) {
		struct reading r;
		struct ctrace_event event;
		char *copy = malloc(bytes.size);
		size_t size;

		memcpy(copy, bytes.data, bytes.size);
		for (unsigned i = 0; i < 1 + round % 30; i++) {
			random = random * 1664525u + 1013904223u;
			copy[(random >> 8) % bytes.size] = (char)(random >> 3);
		}
		size = round % 5 == 0 ? (random >> 8) % bytes.size : bytes.size;
		file = fopen("t.ctb/stream.0", "w");
		assert_int_equal(fwrite(copy, 1, size, file), size);
		assert_int_equal(fclose(file), 0);
		free(copy);
		reading_init(&r);
		assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
		while (next_event(&r, &event))
			assert_true(event.level < CTRACE_LEVEL_COUNT);
		assert_true(r.sources.totals.damaged_bytes <= size);
		ct_sources_fini(&r.sources);
	}
	ct_buf_fini(&bytes);
}

static void compressed_streams(void **state)
{
	make(*state);
	(void)compress_stream("stream.0");
	assert_reads("t.ctb", 0, COUNT); /* both are there: it is one */
	assert_reads("t.ctb/stream.0.zst", 0, COUNT);
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	assert_reads("t.ctb", 0, COUNT);
	assert_reads("t.ctb/stream.0.zst", 0, COUNT);
}

/* -----------------------------------------------------------------------------------------------
 * What a process's own classes and clock bring into a file: read by us and by a viewer
 */

struct own {
	struct ct_schema *schema;
	struct ct_trace_info info;
	struct ct_packet_writer writer;
};

static void own_begin(struct own *own, uint64_t frequency)
{
	*own = (struct own){ .info = { .host = "h",
				       .program = "p",
				       .system = "s",
				       .jobname = "j",
				       .pid = 12,
				       .frequency = frequency },
			     .writer = { .info = &own->info } };
	own->info.offset_s = frequency != 0 ? START_NS / 1000000000 - 1000 : 0;
	own->info.offset = frequency / 3;
	assert_int_equal(ct_schema_create(&own->schema), CTRACE_OK);
	ct_packet_begin(&own->writer, 12, 13, START_NS);
}

static void own_add(struct own *own, const struct ct_class *class, struct ctrace_event *event)
{
	event->component = class->number == CT_CLASS_ANY ? "ANY.COMP" : class->component;
	event->component_size = (uint32_t)strlen(event->component);
	event->event_id = class->event_id;
	event->level = class->level;
	event->pid = 12;
	event->tid = 13;
	ct_packet_write(&own->writer, class, event);
}

/* The trace as the directory own.ctb. */
static void own_end(struct own *own)
{
	struct ct_buf text = { 0 };

	ct_packet_end(&own->writer);
	ct_schema_print_trace(&text, &own->info);
	for (uint32_t i = 1; i < ct_schema_count(own->schema); i++)
		ct_schema_print_class(&text, ct_schema_at(own->schema, i));
	assert_int_equal(ct_os_make_directory("own.ctb"), CTRACE_OK);
	put_file("own.ctb/metadata", &text);
	put_file("own.ctb/stream.0", &own->writer.packets);
	ct_buf_fini(&text);
	ct_buf_fini(&own->writer.packets);
	ct_schema_destroy(own->schema);
}

static const struct ct_class *own_class(struct own *own, uint32_t number, const uint32_t *items,
					uint32_t count)
{
	const struct ct_class class = { .number = number,
					.event_id = 7,
					.level = CTRACE_WARN,
					.item_count = count,
					.component = "OWN",
					.items = items };

	assert_int_equal(ct_schema_add(own->schema, &class), CTRACE_OK);
	return ct_schema_find(own->schema, number);
}

/* Times of a counter of 2 GHz: we and a viewer agree to a microsecond, over a day. */
static void a_counter_is_read_as_a_viewer_does(void **state)
{
	static const uint64_t times[] = {
		1, 2, 999, 1000000, 123456789, 3600000000000, 40000000000001
	};
	struct ctrace_event event = { .item_count = 0 };
	char *text, *line, *errors;
	struct reading r;
	struct own own;

	(void)state;
	own_begin(&own, 2000000000);
	(void)own_class(&own, 20, NULL, 0);
	for (size_t i = 0; i < CT_COUNT(times); i++) {
		event.time_ns = START_NS + times[i];
		own_add(&own, ct_schema_find(own.schema, 20), &event);
	}
	own_end(&own);
	text = line = babeltrace("--clock-seconds --no-delta own.ctb", &errors);
	assert_string_equal(errors, "");
	assert_int_equal(count_lines(text), CT_COUNT(times));
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "own.ctb"), CTRACE_OK);
	for (size_t i = 0; i < CT_COUNT(times); i++) {
		struct ctrace_event got;
		unsigned long seconds, ns;

		assert_true(next_event(&r, &got));
		assert_in_range(got.time_ns, START_NS + times[i] - 1, START_NS + times[i] + 1);
		assert_int_equal(sscanf(line, "[%lu.%lu]", &seconds, &ns), 2);
		assert_in_range(seconds * 1000000000 + ns + 1000 - got.time_ns, 0, 2000);
		line = strchr(line, '\n') + 1;
	}
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
	free(text);
	free(errors);
}

#define ITEM(type, size) (CTRACE_TYPE_##type | (uint32_t)(size) << 8)

/* Items of a size that the class has, down to none, and of sizes that events have. */
static void items_of_every_size(void **state)
{
	static unsigned char big[65536];
	static const uint32_t items[] = {
		ITEM(TEXT, 0),
		ITEM(BINARY, 0),
		ITEM(UTF8, 0),
		ITEM(TEXT, 1),
		ITEM(BINARY, 3),
		ITEM(UTF8, 255),
		ITEM(BINARY, 65535),
		ITEM(TEXT, 65536),
		ITEM(TEXT, CT_SIZE_COUNTED_16),
		ITEM(BINARY, CT_SIZE_COUNTED_16),
		ITEM(UTF8, CT_SIZE_COUNTED_16),
		ITEM(TEXT, CT_SIZE_COUNTED_32),
		ITEM(BINARY, CT_SIZE_COUNTED_32),
		ITEM(COMPX, 3),
	};
	static const uint32_t sizes[] = {
		0, 0, 0, 1, 3, 255, 65535, 65536, 0, 65535, 2, 65536, 0, 3
	};
	struct ctrace_event_item given[CT_COUNT(items)];
	struct ctrace_event event = { .time_ns = START_NS + 5,
				      .item_count = CT_COUNT(items),
				      .items = given },
			    got = { .item_count = 0 };
	struct reading r;
	struct own own;
	char *text;

	(void)state;
	memset(big, 'b', sizeof big);
	for (size_t i = 0; i < CT_COUNT(items); i++)
		given[i] = (struct ctrace_event_item){ .type = items[i] & 0xFF,
						       .size = sizes[i],
						       .data = big };
	own_begin(&own, 0);
	own_add(&own, own_class(&own, 60000, items, CT_COUNT(items)), &event);
	own_add(&own, ct_schema_find(own.schema, 60000), &event);
	own_end(&own);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "own.ctb"), CTRACE_OK);
	for (unsigned times = 0; times < 2; times++) {
		assert_true(next_event(&r, &got));
		assert_int_equal(got.item_count, CT_COUNT(items));
		for (size_t i = 0; i < CT_COUNT(items); i++) {
			assert_int_equal(got.items[i].type, items[i] & 0xFF);
			assert_int_equal(got.items[i].size, sizes[i]);
			assert_memory_equal(got.items[i].data, big, sizes[i]);
		}
	}
	assert_false(next_event(&r, &got));
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
	text = babeltrace("own.ctb", NULL);
	assert_int_equal(count_lines(text), 2);
	assert_non_null(strstr(
		text,
		"OWN:7: { pid = 12, tid = 13 }, { data1 = \"\", data2 = [ ], data3 = \"\", data4 = \"b\", "
		"data5 = [ [0] = 0x62, [1] = 0x62, [2] = 0x62 ], data6 = \"bbbb"));
	assert_non_null(strstr(
		text, "data9_len = 0, data9 = \"\", data10_len = 65535, data10 = [ [0] = 0x62,"));
	assert_non_null(strstr(
		text,
		"[65534] = 0x62 ], data11_len = 2, data11 = \"bb\", data12_len = 65536, data12 = \"bbbb"));
	assert_non_null(strstr(text, "data13_len = 0, data13 = [ ], data14 = 6447714 }\n"));
	free(text);
}

static void a_class_of_256_items(void **state)
{
	uint32_t items[CT_CLASS_MAX_ITEMS];
	struct ctrace_event_item given[CT_CLASS_MAX_ITEMS];
	struct ctrace_event event = { .time_ns = START_NS + 5,
				      .item_count = CT_CLASS_MAX_ITEMS,
				      .items = given },
			    got = { .item_count = 0 };
	struct reading r;
	struct own own;
	char *text;

	(void)state;
	for (uint32_t i = 0; i < CT_CLASS_MAX_ITEMS; i++) {
		items[i] = i % 2 == 0 ? ITEM(COMP5, 1) : ITEM(TEXT, CT_SIZE_COUNTED_16);
		given[i] = (struct ctrace_event_item){ .type = items[i] & 0xFF,
						       .size = i % 2 == 0 ? 1 : 3,
						       .data = "abc" };
	}
	own_begin(&own, 0);
	own_add(&own,
		own_class(&own, 65536 - 1 - CT_CLASS_MAX_ITEMS / 4, items, CT_CLASS_MAX_ITEMS),
		&event); /* the last number that has room */
	own_end(&own);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "own.ctb"), CTRACE_OK);
	assert_true(next_event(&r, &got));
	assert_int_equal(got.item_count, CT_CLASS_MAX_ITEMS);
	assert_int_equal(got.items[254].value, 'a');
	assert_memory_equal(got.items[255].data, "abc", 3);
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
	text = babeltrace("own.ctb", NULL);
	assert_non_null(strstr(text, "data255 = 97, data256_len = 3, data256 = \"abc\" }\n"));
	free(text);
}

/* An event that says all itself: every type, of every size that makes a difference. */
static void a_generic_event_of_every_type(void **state)
{
	static const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct ctrace_event_item given[CTRACE_TYPE_COUNT * 10];
	struct ctrace_event event = { .time_ns = START_NS + 5,
				      .item_count = CT_COUNT(given),
				      .items = given },
			    got = { .item_count = 0 };
	struct ctrace_event none = { .time_ns = START_NS + 6 };
	struct reading r;
	struct own own;
	char *text;

	(void)state;
	for (uint32_t i = 0; i < CT_COUNT(given); i++)
		given[i] =
			(struct ctrace_event_item){ .type = i / 10, .size = i % 10, .data = bytes };
	own_begin(&own, 0);
	own_add(&own, ct_schema_find(own.schema, CT_CLASS_ANY), &event);
	own_add(&own, ct_schema_find(own.schema, CT_CLASS_ANY), &none);
	own_end(&own);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "own.ctb"), CTRACE_OK);
	assert_true(next_event(&r, &got));
	assert_string_equal(got.component, "ANY.COMP");
	assert_int_equal(got.item_count, CT_COUNT(given));
	for (uint32_t i = 0; i < CT_COUNT(given); i++) {
		assert_int_equal(got.items[i].type, i / 10);
		assert_int_equal(got.items[i].size, i % 10);
		assert_memory_equal(got.items[i].data, bytes, i % 10);
	}
	assert_true(next_event(&r, &got));
	assert_int_equal(got.item_count, 0);
	assert_false(next_event(&r, &got));
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
	text = babeltrace("own.ctb", NULL);
	assert_int_equal(count_lines(text), 2);
	assert_non_null(strstr(
		text,
		"component = \"ANY.COMP\", event_id = 0, level = ( \"DEBUG\" : container = 0 ), item_count = 80"));
	/* COMP5 of 3 bytes, COMP-X of 3, an address, one that is none, and 9 bytes of an integer.
	 */
	assert_non_null(strstr(
		text,
		"[33] = { type = ( \"comp5_3\" : container = 51 ), len = 3, value = { 197121 } }"));
	assert_non_null(strstr(
		text,
		"[43] = { type = ( \"compx_3\" : container = 67 ), len = 3, value = { 66051 } }"));
	assert_non_null(strstr(
		text,
		"[28] = { type = ( \"address\" : container = 40 ), len = 8, value = { 0x807060504030201 } }"));
	assert_non_null(strstr(
		text,
		"[21] = { type = ( \"address_bytes\" : container = 32 ), len = 1, value = { { data = [ [0] = 0x1 ] } } }"));
	assert_non_null(strstr(
		text,
		"[79] = { type = ( \"compxs_bytes\" : container = 112 ), len = 9, value = { { data = [ [0] = 0x1,"));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_source_bin(void)
{
	const struct CMUnitTest tests[] = {
		TEST(little_memory_for_many),
		TEST(everything_comes_back),
		TEST(a_damaged_event_costs_the_rest_of_its_packet),
		TEST(random_damage_is_survived),
		TEST(compressed_streams),
		TEST(a_counter_is_read_as_a_viewer_does),
		TEST(items_of_every_size),
		TEST(a_class_of_256_items),
		TEST(a_generic_event_of_every_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
