/*
 * test_source_bin.c - stream files: everything that was written is read back, and damage costs only what it hit.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"

#include <zstd.h>

#define PACKETS 20u
#define PER_PACKET 10u
#define COUNT (PACKETS * PER_PACKET)

/* Offsets of the packets of t.ctb/stream.0. */
static size_t packet_at[PACKETS + 1];

static void make(struct fixture *f)
{
	struct ct_buf bytes = { 0 };
	size_t at = 0, head_size;
	struct ct_packet_head head;

	make_trace(f, "t.ctb", 0, COUNT, PER_PACKET);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	for (unsigned i = 0; i < PACKETS; i++) {
		packet_at[i] = at;
		assert_int_equal(ct_packet_decode_head((unsigned char *)bytes.data + at, bytes.size - at, &head, &head_size),
				 CTRACE_OK);
		at += head.packet_bits / 8;
	}
	packet_at[PACKETS] = at;
	assert_int_equal(at, bytes.size);
	ct_buf_fini(&bytes);
}

/* Reads t.ctb; which numbers come is in seen, and that they come in order is asserted. */
static void read_all(bool seen[COUNT], struct reading *r)
{
	unsigned number, last = 0;

	memset(seen, 0, COUNT);
	reading_init(r);
	assert_int_equal(ct_sources_add(&r->sources, "t.ctb"), CTRACE_OK);
	while ((number = next_number(r)) != UINT32_MAX) {
		assert_true(number < COUNT && !seen[number] && (number == 0 || number > last));
		seen[number] = true;
		last = number;
	}
	ct_sources_fini(&r->sources);
}

static void assert_missing(const bool seen[COUNT], unsigned first, unsigned count)
{
	for (unsigned i = 0; i < COUNT; i++)
		if (seen[i] != (i < first || i >= first + count))
			fail_msg("event %u %s", i, seen[i] ? "is there" : "is missing");
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
	struct ctrace_event got;
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

static void damaged_heads_cost_their_packets(void **state)
{
	static const struct {
		size_t offset;
		const char *bytes;
		size_t size;
	} damages[] = {
		{ 0, "\0", 1 },                                /* magic */
		{ 4, "\0\0\0\0", 4 },                          /* uuid */
		{ 48, "\xFF\xFF\xFF\xFF", 4 },                 /* packet_size of no sense */
		{ 44, "\x00\x80\x00\x00\x00\x80\x00\x00", 8 }, /* both sizes 4 KiB: swallows what follows */
		{ 44, "\x00\x00\x40\x00\x00\x00\x40\x00", 8 }, /* both sizes beyond the end of the file */
	};
	struct fixture *f = *state;
	bool seen[COUNT];
	struct reading r;

	make(f);
	for (size_t i = 0; i < CT_COUNT(damages); i++) {
		char kept[8];
		FILE *file = fopen("t.ctb/stream.0", "r");

		assert_int_equal(fseek(file, (long)(packet_at[7] + damages[i].offset), SEEK_SET), 0);
		assert_int_equal(fread(kept, 1, damages[i].size, file), damages[i].size);
		fclose(file);
		patch_file("t.ctb/stream.0", (long)(packet_at[7] + damages[i].offset), damages[i].bytes, damages[i].size);
		read_all(seen, &r);
		assert_true(r.reports >= 1);
		/* The swallowed ones are found again, for where the packet's own events end nothing reads as one. */
		assert_missing(seen, i < 3 ? 70 : COUNT, i < 3 ? 10 : 0);
		patch_file("t.ctb/stream.0", (long)(packet_at[7] + damages[i].offset), kept, damages[i].size);
	}
	assert_reads("t.ctb", 0, COUNT);
}

static void a_hole_costs_what_it_hit(void **state)
{
	static const char zeros[4096];
	struct fixture *f = *state;
	bool seen[COUNT];
	struct reading r;
	size_t from, to;

	make(f);
	from = packet_at[3] + 20;
	to = packet_at[9] + 20;
	patch_file("t.ctb/stream.0", (long)from, zeros, to - from);
	read_all(seen, &r);
	assert_missing(seen, 30, 70);
	assert_true(r.reports >= 1);
}

/* Cut at every byte: everything before the cut comes, nothing twice, and it is told unless the cut is between packets. */
static void a_cut_file_gives_what_is_before_the_cut(void **state)
{
	struct fixture *f = *state;
	bool seen[COUNT];
	struct reading r;

	make(f);
	for (size_t size = packet_at[PACKETS]; size-- > packet_at[PACKETS - 2];) {
		unsigned whole = PACKETS - 2;
		size_t inside = size - packet_at[PACKETS - 2];

		if (size >= packet_at[PACKETS - 1]) {
			whole++;
			inside = size - packet_at[PACKETS - 1];
		}
		assert_int_equal(truncate("t.ctb/stream.0", (off_t)size), 0);
		read_all(seen, &r);
		for (unsigned i = 0; i < whole * PER_PACKET; i++)
			assert_true(seen[i]);
		if (inside > CT_PACKET_HEAD + 5 * 18)
			assert_true(seen[whole * PER_PACKET + 4]);
		assert_int_equal(r.reports, inside == 0 ? 0 : 1);
	}
}

static void gaps_are_told(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0, .lost = 3 };
	struct reading r;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	stream.lost = 10;
	assert_int_equal(write_numbered(f, &stream, 1, 1), CTRACE_OK);
	fixture_close(f);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(next_number(&r), 0);
	assert_int_equal(r.sources.totals.discarded, 3);
	assert_string_equal(r.last_message, "3 events were discarded before this");
	assert_int_equal(next_number(&r), 1);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.discarded, 10);
	assert_int_equal(r.sources.totals.damages, 0);
	ct_sources_fini(&r.sources);
}

/* A live trace: classes and packets that come after reading began. */
static void a_growing_trace_is_read_on(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct reading r;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 2), CTRACE_OK);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(next_number(&r), 0);
	event = text_event(f, &item, "NEW", 2, "number 2.");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	assert_int_equal(next_number(&r), 1);
	assert_int_equal(next_number(&r), 2);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
}

static void damaged_metadata_cost_the_classes_behind(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct reading r;
	long size;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 3), CTRACE_OK);
	size = (long)f->place.offset;
	event = text_event(f, &item, "NEW", 2, "number 3.");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	fixture_close(f);
	patch_file("t.ctb/metadata", size + 3, "?", 1);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(r.reports, 1);
	assert_int_equal(r.last_offset, size);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 2);
	ct_sources_fini(&r.sources);
}

/* Heads one behind the other that each claim the largest packet: read in time that does not grow with its square. */
static void nested_heads_end(void **state)
{
	struct fixture *f = *state;
	struct ct_buf bytes = { 0 };
	bool seen[COUNT];
	struct reading r;
	uint32_t bits = CT_PACKET_MAX * 8;
	FILE *file;

	make(f);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	memcpy(bytes.data + 44, &bits, 4);
	memcpy(bytes.data + 48, &bits, 4);
	file = fopen("t.ctb/stream.0", "w");
	for (unsigned i = 0; i < 4u * CT_PACKET_MAX / CT_PACKET_HEAD; i++)
		assert_int_equal(fwrite(bytes.data, 1, CT_PACKET_HEAD, file), CT_PACKET_HEAD);
	assert_int_equal(fclose(file), 0);
	read_all(seen, &r);
	assert_missing(seen, 0, COUNT);
	ct_buf_fini(&bytes);
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

/* Makes name.zst in t.ctb, as a writer does; gives its size. */
static size_t compress_stream(const char *name)
{
	char path[64];
	struct ct_buf bytes = { 0 };
	size_t room, size;
	char *packed;
	FILE *file;

	(void)snprintf(path, sizeof path, "t.ctb/%s", name);
	assert_int_equal(ct_os_read_file(path, (size_t)8 << 20, &bytes), CTRACE_OK);
	room = ZSTD_compressBound(bytes.size);
	packed = malloc(room);
	assert_non_null(packed);
	size = ZSTD_compress(packed, room, bytes.data, bytes.size, 3);
	assert_false(ZSTD_isError(size));
	(void)snprintf(path, sizeof path, "t.ctb/%s.zst", name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(packed, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	free(packed);
	ct_buf_fini(&bytes);
	return size;
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

static void a_stream_that_is_compressed_meanwhile(void **state)
{
	const unsigned count = 20000;
	struct reading r;

	make_trace(*state, "t.ctb", 0, count, 100);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(next_number(&r), i);
	(void)compress_stream("stream.0");
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	for (unsigned i = 1000; i < count; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.damages, 0);
	ct_sources_fini(&r.sources);
}

static void a_damaged_compressed_stream(void **state)
{
	const unsigned count = 20000;
	struct reading r;
	unsigned seen = 0;
	size_t size;

	make_trace(*state, "t.ctb", 0, count, 100);
	size = compress_stream("stream.0");
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	assert_int_equal(truncate("t.ctb/stream.0.zst", (off_t)size - 50), 0);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	while (next_number(&r) == seen)
		seen++;
	assert_true(seen > 0 && seen < count);
	assert_true(r.sources.totals.damages >= 1);
	assert_true(r.sources.totals.damaged_bytes >= size - 50);
	ct_sources_fini(&r.sources);

	patch_file("t.ctb/stream.0.zst", 0, "none", 4);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 1);
	assert_string_equal(r.last_message, "this cannot be decompressed");
	ct_sources_fini(&r.sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_comes_back),
		TEST(a_damaged_event_costs_the_rest_of_its_packet),
		TEST(damaged_heads_cost_their_packets),
		TEST(a_hole_costs_what_it_hit),
		TEST(a_cut_file_gives_what_is_before_the_cut),
		TEST(gaps_are_told),
		TEST(a_growing_trace_is_read_on),
		TEST(damaged_metadata_cost_the_classes_behind),
		TEST(nested_heads_end),
		TEST(random_damage_is_survived),
		TEST(compressed_streams),
		TEST(a_stream_that_is_compressed_meanwhile),
		TEST(a_damaged_compressed_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
