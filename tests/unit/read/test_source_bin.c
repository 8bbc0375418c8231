/*
 * test_source_bin.c - stream files: everything that was written is read back, and a damaged event costs only its packet.
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
	uint64_t address = 0x7FFF12345678;
	struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 4, .data = "a\0b\xFF" },
		{ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = &address },
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

static void a_damaged_event_costs_the_rest_of_its_packet(void **state)
{
	struct fixture *f = *state;
	bool seen[COUNT];
	struct reading r;

	make(f);
	/* The level of the third event of packet 5. */
	patch_file("t.ctb/stream.0", (long)(packet_at[5] + CT_PACKET_HEAD + 2 * 16 + 4), "\xFF", 1);
	read_all(seen, &r);
	assert_missing(seen, 52, 8);
	assert_int_equal(r.reports, 1);
	assert_int_equal(r.last_offset, packet_at[5] + CT_PACKET_HEAD + 2 * 16);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(little_memory_for_many),    TEST(everything_comes_back), TEST(a_damaged_event_costs_the_rest_of_its_packet),
		TEST(random_damage_is_survived), TEST(compressed_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
