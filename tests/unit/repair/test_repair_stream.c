/*
 * test_repair_stream.c - packets of one stream: whole ones stay, damaged ones are cut, and one that
 * lies costs no other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "repair_fixture.h"

#define PACKETS 10u
#define PER_PACKET 20u
#define STREAM "t/stream.0"

static void make(struct fixture *f)
{
	make_trace(f, "t", 0, PACKETS * PER_PACKET, PER_PACKET);
}

/* Asserts that the copy has these events, in order, and that babeltrace2 agrees; gaps are its to
 * tell. */
static void assert_copy(unsigned lost_from, unsigned lost_to)
{
	unsigned wanted = PACKETS * PER_PACKET - (lost_to - lost_from);
	struct reading r;
	char *errors, *text;

	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "good/t"), CTRACE_OK);
	for (unsigned i = 0; i < PACKETS * PER_PACKET; i++)
		if (i < lost_from || i >= lost_to)
			assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.damaged_bytes, 0);
	ct_sources_fini(&r.sources);
	text = babeltrace("good/t", &errors);
	assert_int_equal(count_lines(text), wanted);
	assert_null(strstr(errors, "ERROR"));
	free(text);
	free(errors);
}

static void what_is_whole_is_copied_as_it_is(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make(*state);
	run = repair("t", "good", &reported);
	assert_int_equal(reported.notes, 0);
	assert_int_equal(run.traces, 1);
	assert_int_equal(run.streams, 1);
	assert_int_equal(run.packets, PACKETS);
	assert_int_equal(run.events, PACKETS * PER_PACKET);
	assert_int_equal(run.repaired, 0);
	assert_int_equal(system("diff -r t good/t"), 0);
	assert_copy(0, 0);
}

static void a_packet_without_head_goes_and_leaves_a_gap(void **state)
{
	struct reported reported;
	struct ct_repair run;
	char *errors;

	make(*state);
	patch_head_u32(STREAM, 4, FIELD_MAGIC, 'x');
	run = repair("t", "good", &reported);
	assert_int_equal(run.packets, PACKETS - 1);
	assert_int_equal(reported.notes, 1);
	assert_string_equal(reported.last_message, "this is no packet of the trace");
	assert_int_equal(run.lost_bytes, file_size(STREAM) - file_size("good/t/stream.0"));
	assert_copy(4 * PER_PACKET, 5 * PER_PACKET);
	free(babeltrace("good/t", &errors));
	assert_non_null(strstr(errors, "discarded 1 packet"));
	free(errors);
}

/* An empty packet stands for the first of those that are missing. */
static void so_do_the_first_packets(void **state)
{
	struct reported reported;
	char *errors;
	long second;

	make(*state);
	(void)head_of_packet(STREAM, 1, &second);
	patch_file(STREAM, 0, "xxxx", 4);
	patch_file(STREAM, second, "xxxx", 4);
	(void)repair("t", "good", &reported);
	assert_copy(0, 2 * PER_PACKET);
	free(babeltrace("good/t", &errors));
	assert_non_null(strstr(errors, "discarded 1 packet"));
	free(errors);
}

static void a_packet_is_cut_behind_its_last_good_event(void **state)
{
	struct reported reported;
	struct ct_repair run;
	struct ct_packet_head head;
	long at;

	make(*state);
	head = head_of_packet(STREAM, 4, &at);
	/* Into the middle of the packet: the class of some event. */
	patch_file(
		STREAM, at + (long)head.packet_bits / 16,
		"\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE\xFE",
		20);
	run = repair("t", "good", &reported);
	assert_int_equal(reported.notes, 1);
	assert_string_equal(reported.last_message, "this is no event of the trace");
	assert_int_equal(run.repaired, 1);
	assert_int_equal(run.packets, PACKETS - 1);
	assert_in_range(run.events, (PACKETS - 1) * PER_PACKET + 5, PACKETS * PER_PACKET - 5);
	assert_int_equal(head_of_packet("good/t/stream.0", 4, &at).sequence, head.sequence);
	/* The copy is without damage. */
	run = repair("good/t", "again", &reported);
	assert_int_equal(reported.notes, 0);
	assert_int_equal(system("diff -r good/t again/t"), 0);
	free(babeltrace("good/t", NULL));
}

static void a_size_that_lies_costs_only_its_packet(void **state)
{
	long at;
	struct reported reported;

	make(*state);
	(void)head_of_packet(STREAM, 4, &at);
	patch_file(STREAM, at + FIELD_CONTENT,
		   (const uint32_t[]){ htole32(8 * 3000), htole32(8 * 3000) }, 8);
	(void)repair("t", "good", &reported);
	/* It swallows the next: where that begins is found. */
	assert_copy(0, 0);
	assert_int_equal(reported.notes, 1);
}

/* Padding that is none: it would swallow packets that are right. */
static void a_padding_that_lies_costs_nothing(void **state)
{
	static const uint32_t sizes[] = { 8 * 3000, 8 * 700, 8 << 20 };

	make(*state);
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		struct reported reported;
		struct ct_repair run;

		assert_int_equal(system("rm -rf good was && cp -r t was"), 0);
		patch_head_u32(STREAM, 4, FIELD_CONTENT + 4, sizes[i]);
		run = repair("t", "good", &reported);
		assert_int_equal(reported.notes, 1);
		assert_string_equal(reported.last_message, "its size was wrong, and is repaired");
		assert_int_equal(run.repaired, 1);
		assert_copy(0, 0);
		assert_int_equal(system("cmp was/stream.0 good/t/stream.0"), 0);
		assert_int_equal(system("rm -rf t && mv was t"), 0);
	}
}

static void a_file_that_ends_inside_a_packet(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make(*state);
	assert_int_equal(truncate(STREAM, (off_t)file_size(STREAM) - 10), 0);
	run = repair("t", "good", &reported);
	assert_string_equal(reported.last_message, "the file ends inside a packet");
	assert_int_equal(run.events, PACKETS * PER_PACKET - 1);
	assert_copy(PACKETS * PER_PACKET - 1, PACKETS * PER_PACKET);
}

/* Moves the packet with all that is in it by so many times 2^48 ns, of which its events know
 * nothing. */
static void move_packet(unsigned packet, int64_t times)
{
	static const long fields[] = { FIELD_BEGIN, FIELD_END, FIELD_BEGIN_NS, FIELD_END_NS };
	long at;
	const struct ct_packet_head head = head_of_packet(STREAM, packet, &at);
	const uint64_t values[] = { head.begin_ticks, head.end_ticks, head.begin_ns, head.end_ns };

	for (size_t i = 0; i < CT_COUNT(fields); i++) {
		uint64_t moved = htole64(values[i] + ((uint64_t)times << 48));

		patch_file(STREAM, at + fields[i], &moved, sizeof moved);
	}
}

static void a_packet_of_another_time_goes_and_no_other(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make(*state);
	/* Later than all others, with everything in it: what follows must not look as if it were
	 * too early. */
	move_packet(4, 1000);
	run = repair("t", "good", &reported);
	assert_int_equal(reported.notes, 1);
	assert_string_equal(reported.last_message,
			    "its time is not between those of its neighbours");
	assert_int_equal(run.packets, PACKETS - 1);
	assert_copy(4 * PER_PACKET, 5 * PER_PACKET);
	move_packet(4, -2000);
	run = repair("t", "good2", &reported);
	assert_int_equal(reported.notes, 1);
	assert_int_equal(run.packets, PACKETS - 1);
	assert_int_equal(system("diff -r good/t/stream.0 good2/t/stream.0"), 0);
}

/* Only the head says another time: no event can belong to it. */
static void a_head_of_another_time_goes_and_no_other(void **state)
{
	static const uint64_t times[] = { START_NS + 3600000000000u, 5, INT64_MAX };
	long at;

	make(*state);
	(void)head_of_packet(STREAM, 4, &at);
	for (size_t i = 0; i < CT_COUNT(times); i++) {
		struct reported reported;

		patch_file(STREAM, at + FIELD_BEGIN, &times[i], 8);
		patch_file(STREAM, at + FIELD_END, &times[i], 8);
		(void)repair("t", "good", &reported);
		assert_copy(4 * PER_PACKET, 5 * PER_PACKET);
		assert_int_equal(system("rm -rf good"), 0);
	}
}

/* The wall clock was set back while the program ran: the ticks went on. */
static void a_wall_clock_that_was_set_back_costs_nothing(void **state)
{
	const uint64_t back = 3600000000000u;
	struct reported reported;
	struct ct_repair run;

	make(*state);
	for (unsigned packet = 4; packet < PACKETS; packet++) {
		long at;
		const struct ct_packet_head head = head_of_packet(STREAM, packet, &at);
		const uint64_t times[] = { htole64(head.begin_ns - back),
					   htole64(head.end_ns - back) };

		patch_file(STREAM, at + FIELD_BEGIN_NS, times, sizeof times);
	}
	run = repair("t", "good", &reported);
	assert_int_equal(reported.notes, 0);
	assert_int_equal(run.packets, PACKETS);
	assert_int_equal(system("diff -r t good/t"), 0);
}

static void ends_and_numbers_are_repaired(void **state)
{
	static const struct {
		long field;
		uint64_t value;
		const char *message;
	} rows[] = {
		{ FIELD_END, INT64_MAX, "its end was wrong, and is repaired" },
		{ FIELD_END, START_NS + 195000, "its end was wrong, and is repaired" },
		{ FIELD_END, START_NS + 10000000000, "its end was wrong, and is repaired" },
		{ FIELD_END_NS, INT64_MAX, "its end was wrong, and is repaired" },
		{ FIELD_END_NS, START_NS + 10000000000, "its end was wrong, and is repaired" },
		{ FIELD_BEGIN_NS, 0, "its beginning was wrong, and is repaired" },
		{ FIELD_BEGIN_NS, START_NS - 10000000000,
		  "its beginning was wrong, and is repaired" },
		{ FIELD_SEQUENCE, (uint64_t)1 << 50, "its number was wrong, and is repaired" },
		{ FIELD_SEQUENCE, 1, "its number was wrong, and is repaired" },
		{ FIELD_DISCARDED, (uint64_t)1 << 50,
		  "its count of lost events was wrong, and is repaired" },
	};

	make(*state);
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		for (unsigned packet = 4; packet < PACKETS; packet += PACKETS - 1 - 4) {
			struct reported reported;

			assert_int_equal(system("rm -rf good was && cp -r t was"), 0);
			patch_head_u64(STREAM, packet, rows[i].field, rows[i].value);
			(void)repair("t", "good", &reported);
			assert_int_equal(reported.notes, 1);
			assert_string_equal(reported.last_message, rows[i].message);
			assert_int_equal(reported.bytes, 0);
			assert_copy(0, 0);
			assert_int_equal(system("cmp was/stream.0 good/t/stream.0"), 0);
			assert_int_equal(system("rm -rf t && mv was t"), 0);
		}
	}
}

static void a_wrong_stream_number_is_repaired(void **state)
{
	static const uint32_t numbers[] = { 7, 0x80000000u };
	static const unsigned packets[] = { 0, 4, PACKETS - 1 };

	make(*state);
	for (size_t i = 0; i < CT_COUNT(numbers) * CT_COUNT(packets); i++) {
		unsigned packet = packets[i % CT_COUNT(packets)];
		struct ct_repair run;
		struct reported reported;

		assert_int_equal(system("rm -rf good was && cp -r t was"), 0);
		patch_head_u32(STREAM, packet, FIELD_STREAM, numbers[i / CT_COUNT(packets)]);
		run = repair("t", "good", &reported);
		assert_int_equal(reported.notes, 1);
		assert_string_equal(reported.last_message,
				    "its stream's number was wrong, and is repaired");
		assert_int_equal(run.events, PACKETS * PER_PACKET);
		assert_int_equal(run.repaired, 1);
		assert_copy(0, 0);
		assert_int_equal(system("cmp was/stream.0 good/t/stream.0"), 0);
		assert_int_equal(system("rm -rf t && mv was t"), 0);
	}
}

/* A packet of another stream, where one of this stream is missing: its number in its stream does
 * not fit. */
static void a_packet_of_another_stream_goes(void **state)
{
	struct reported reported;
	struct ct_repair run;

	make(*state);
	patch_head_u32(STREAM, 4, FIELD_STREAM, 7);
	patch_head_u64(STREAM, 4, FIELD_SEQUENCE, 99);
	run = repair("t", "good", &reported);
	assert_int_equal(run.packets, PACKETS - 1);
	assert_string_equal(reported.last_message, "this is no packet of the trace");
	/* A stream under another one's name. */
	assert_int_equal(system("rm -rf good && mv t/stream.0 t/stream.1 && mkdir good"), 0);
	run = repair("t", "good", &reported);
	assert_int_equal(run.events, 0);
}

static void nothing_but_damage_leaves_nothing(void **state)
{
	char zeros[20000] = { 0 };
	struct reported reported;
	struct ct_repair run;

	make(*state);
	patch_file(STREAM, 0, zeros, (size_t)file_size(STREAM));
	run = repair("t", "good", &reported);
	assert_int_equal(run.traces, 0);
	assert_int_equal(run.lost_bytes, file_size(STREAM));
	assert_int_equal(access("good/t", F_OK), -1);
}

static void every_changed_byte_is_survived(void **state)
{
	struct reported reported;
	struct ct_buf file = { 0 };

	make(*state);
	assert_int_equal(ct_os_read_file(STREAM, 1 << 20, &file), CTRACE_OK);
	for (size_t at = 0; at < file.size; at += at % 1000 < 150 ? 1 : 23) {
		unsigned char changed =
			(unsigned char)file.data[at] ^ (unsigned char)(1u << at % 8);
		struct ct_repair run;

		patch_file(STREAM, (long)at, &changed, 1);
		assert_int_equal(system("rm -rf good again"), 0);
		run = repair("t", "good", &reported);
		if (run.events + PER_PACKET < PACKETS * PER_PACKET)
			fail_msg("at %zu: %u events are left: %s", at, (unsigned)run.events,
				 reported.last_message);
		/* What was written holds nothing that would have to be repaired. */
		run = repair("good/t", "again", &reported);
		assert_int_equal(reported.notes, 0);
		patch_file(STREAM, (long)at, file.data + at, 1);
	}
	ct_buf_fini(&file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_repair_stream(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_whole_is_copied_as_it_is),
		TEST(a_packet_without_head_goes_and_leaves_a_gap),
		TEST(so_do_the_first_packets),
		TEST(a_packet_is_cut_behind_its_last_good_event),
		TEST(a_size_that_lies_costs_only_its_packet),
		TEST(a_padding_that_lies_costs_nothing),
		TEST(a_file_that_ends_inside_a_packet),
		TEST(a_packet_of_another_time_goes_and_no_other),
		TEST(a_head_of_another_time_goes_and_no_other),
		TEST(a_wall_clock_that_was_set_back_costs_nothing),
		TEST(ends_and_numbers_are_repaired),
		TEST(a_wrong_stream_number_is_repaired),
		TEST(a_packet_of_another_stream_goes),
		TEST(nothing_but_damage_leaves_nothing),
		TEST(every_changed_byte_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
