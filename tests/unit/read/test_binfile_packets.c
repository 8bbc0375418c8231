/*
 * test_binfile_packets.c - packets of a BINFILE stream: found again behind damage, and what is
 * missing between them is told.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/binfile_parts.h"
#include "stream_fixture.h"

/* Only the packets, over t.ctb/stream.0. */
struct packets {
	struct ct_sources sources;
	struct ct_source source;
	struct ct_binfile_trace *trace;
	struct ct_binfile_packets packets;
};

static void open_packets(struct packets *p)
{
	*p = (struct packets){ .source = { .path = strdup("t.ctb/stream.0") } };
	ct_sources_init(&p->sources, NULL, NULL);
	assert_int_equal(ct_binfile_trace_open(&p->sources, "t.ctb", &p->trace), CTRACE_OK);
	ct_stream_file_init(&p->packets.file, &p->source, true);
	p->packets.trace = p->trace;
}

static void close_packets(struct packets *p)
{
	ct_stream_file_fini(&p->packets.file);
	ct_binfile_trace_unref(p->trace);
	ct_sources_fini(&p->sources);
	free(p->source.path);
}

static void one_behind_the_other(void **state)
{
	struct packets p;

	make(*state);
	open_packets(&p);
	for (unsigned i = 0; i < PACKETS; i++) {
		assert_true(ct_binfile_packets_next(&p.packets, &p.sources));
		assert_int_equal(p.packets.packet_at, packet_at[i]);
		assert_int_equal(p.packets.packet_size, packet_at[i + 1] - packet_at[i]);
		assert_int_equal(p.packets.head.sequence, i);
		assert_int_equal(p.packets.offset, CT_PACKET_HEAD);
		assert_true(p.packets.content > p.packets.offset &&
			    p.packets.content <= p.packets.packet_size);
		assert_true(ct_packet_clock_time(&p.packets.clock) == p.packets.head.begin_ns);
		assert_true(p.packets.clock.state.ticks == p.packets.head.begin_ticks);
		assert_int_equal(p.packets.clock.state.tid, p.packets.head.tid);
	}
	assert_false(ct_binfile_packets_next(&p.packets, &p.sources));
	assert_int_equal(p.sources.totals.damages, 0);
	close_packets(&p);
}

static void skipping_goes_forward(void **state)
{
	struct packets p;

	make(*state);
	open_packets(&p);
	assert_true(ct_binfile_packets_next(&p.packets, &p.sources));
	/* From its very beginning: not to itself. */
	ct_binfile_packets_skip(&p.packets, &p.sources, packet_at[0], "");
	assert_int_equal(p.packets.packet_at, packet_at[1]);
	assert_int_equal(p.packets.content, 0);
	assert_int_equal(p.sources.totals.damaged_bytes, packet_at[1] - packet_at[0]);
	ct_binfile_packets_skip(&p.packets, &p.sources, packet_at[7] + 1, "");
	assert_int_equal(p.packets.packet_at, packet_at[8]);
	ct_binfile_packets_skip(&p.packets, &p.sources, packet_at[PACKETS - 1] + 1, "");
	assert_int_equal(p.packets.packet_at, packet_at[PACKETS]);
	assert_false(ct_binfile_packets_next(&p.packets, &p.sources));
	close_packets(&p);
}

/* Wherever the window ends while a packet is looked for: inside its head too. */
static void found_behind_much_that_is_none(void **state)
{
	static const char none[CT_STREAM_WINDOW];
	struct ct_buf bytes = { 0 };
	struct packets p;

	make(*state);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	for (size_t before = sizeof none - CT_PACKET_HEAD - 2; before <= sizeof none; before++) {
		FILE *file = fopen("t.ctb/stream.0", "w");

		assert_non_null(file);
		assert_int_equal(fwrite(none, 1, before, file), before);
		assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
		assert_int_equal(fclose(file), 0);
		open_packets(&p);
		assert_true(ct_binfile_packets_next(&p.packets, &p.sources));
		assert_int_equal(p.packets.packet_at, before);
		assert_int_equal(p.sources.totals.damaged_bytes, before);
		close_packets(&p);
	}
	ct_buf_fini(&bytes);
}

static void times_are_sought(void **state)
{
	struct packets p;
	uint64_t end_ns;

	make(*state);
	open_packets(&p);
	for (unsigned i = 0; i < 5; i++)
		assert_true(ct_binfile_packets_next(&p.packets, &p.sources));
	end_ns = p.packets.head.end_ns;
	close_packets(&p);
	open_packets(&p);
	p.sources.since_ns = end_ns + 1;
	ct_binfile_packets_seek(&p.packets, &p.sources);
	assert_true(p.packets.has_head && p.packets.head.sequence == 4);
	assert_true(ct_binfile_packets_next(&p.packets, &p.sources));
	assert_int_equal(p.packets.packet_at, packet_at[5]);
	assert_int_equal(p.sources.totals.damages, 0);
	close_packets(&p);
}

static void damaged_heads_cost_their_packets(void **state)
{
	static const struct {
		size_t offset;
		const char *bytes;
		size_t size;
	} damages[] = {
		{ 0, "\0", 1 },                /* magic */
		{ 4, "\0\0\0\0", 4 },          /* uuid */
		{ 44, "\xFF\xFF\xFF\xFF", 4 }, /* packet_size of no sense */
		/* both sizes 4 KiB: swallows what follows */
		{ 40, "\x00\x80\x00\x00\x00\x80\x00\x00", 8 },
		/* both sizes beyond the end of the file */
		{ 40, "\x00\x00\x40\x00\x00\x00\x40\x00", 8 },
	};
	struct fixture *f = *state;
	bool seen[COUNT];
	struct reading r;

	make(f);
	for (size_t i = 0; i < CT_COUNT(damages); i++) {
		char kept[8];
		FILE *file = fopen("t.ctb/stream.0", "r");

		assert_int_equal(fseek(file, (long)(packet_at[7] + damages[i].offset), SEEK_SET),
				 0);
		assert_int_equal(fread(kept, 1, damages[i].size, file), damages[i].size);
		fclose(file);
		patch_file("t.ctb/stream.0", (long)(packet_at[7] + damages[i].offset),
			   damages[i].bytes, damages[i].size);
		read_all(seen, &r);
		assert_true(r.reports >= 1);
		/* The swallowed ones are found again, for where the packet's own events end nothing
		 * reads as one. */
		assert_missing(seen, i < 3 ? 70 : COUNT, i < 3 ? 10 : 0);
		patch_file("t.ctb/stream.0", (long)(packet_at[7] + damages[i].offset), kept,
			   damages[i].size);
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

/* Cut at every byte: everything before the cut comes, nothing twice, and it is told once. */
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
		if (inside > CT_PACKET_HEAD + 5 * 21)
			assert_true(seen[whole * PER_PACKET + 4]);
		assert_int_equal(r.reports, 1);
	}
}

/* A packet that is being written while it is read: wherever the file ended when we looked. */
static void a_packet_that_is_being_written(void **state)
{
	struct ct_buf bytes = { 0 };
	struct reading r;
	unsigned first = (PACKETS - 1) * PER_PACKET;

	make(*state);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	for (size_t size = packet_at[PACKETS - 1] + 1; size < packet_at[PACKETS]; size++) {
		bool has_event = size >= packet_at[PACKETS - 1] + CT_PACKET_HEAD + 21;
		FILE *file;

		assert_int_equal(truncate("t.ctb/stream.0", (off_t)size), 0);
		reading_init(&r);
		assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
		for (unsigned i = 0; i < first + has_event; i++)
			assert_int_equal(next_number(&r), i);
		file = fopen("t.ctb/stream.0", "a");
		assert_int_equal(fwrite(bytes.data + size, 1, bytes.size - size, file),
				 bytes.size - size);
		assert_int_equal(fclose(file), 0);
		for (unsigned i = first + has_event; i < COUNT; i++)
			assert_int_equal(next_number(&r), i);
		assert_int_equal(next_number(&r), UINT32_MAX);
		assert_int_equal(r.reports, 0);
		ct_sources_fini(&r.sources);
	}
	ct_buf_fini(&bytes);
}

static void gaps_are_reported(void **state)
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

#define STATED (1u << 20)

/* Heads one behind the other that each state a large packet: read in time that does not grow with
 * its square. */
static void nested_heads_end(void **state)
{
	struct fixture *f = *state;
	struct ct_buf bytes = { 0 };
	bool seen[COUNT];
	struct reading r;
	uint32_t bits = STATED * 8;
	FILE *file;

	make(f);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	memcpy(bytes.data + 40, &bits, 4);
	memcpy(bytes.data + 44, &bits, 4);
	file = fopen("t.ctb/stream.0", "w");
	for (unsigned i = 0; i < 4u * STATED / CT_PACKET_HEAD; i++)
		assert_int_equal(fwrite(bytes.data, 1, CT_PACKET_HEAD, file), CT_PACKET_HEAD);
	assert_int_equal(fclose(file), 0);
	read_all(seen, &r);
	assert_missing(seen, 0, COUNT);
	ct_buf_fini(&bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_binfile_packets(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_behind_the_other),
		TEST(skipping_goes_forward),
		TEST(found_behind_much_that_is_none),
		TEST(times_are_sought),
		TEST(damaged_heads_cost_their_packets),
		TEST(a_hole_costs_what_it_hit),
		TEST(a_cut_file_gives_what_is_before_the_cut),
		TEST(a_packet_that_is_being_written),
		TEST(gaps_are_reported),
		TEST(nested_heads_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
