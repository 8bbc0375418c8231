/*
 * test_packet_index.c - finding a time in a stream file: exact where the file is whole, never too
 * late where it is not, and cheap.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/packet_index.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define T0 1700000000000000000u
#define STEP 1000u  /* ns from one packet's begin to the next */
#define LENGTH 900u /* ns in a packet */

static const uint8_t uuid[16] = { 7, 7, 7 };

struct stream {
	int fd;
	uint64_t size;
	uint32_t count; /* packets; the n-th begins at T0 + n * STEP */
	uint64_t *at;
	unsigned char *bytes;
	size_t capacity;
};

static int setup(void **state)
{
	struct stream *stream = calloc(1, sizeof *stream);

	stream->fd = open("stream", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	*state = stream;
	return stream->fd < 0;
}

static int teardown(void **state)
{
	struct stream *stream = *state;

	close(stream->fd);
	free(stream->at);
	free(stream->bytes);
	free(stream);
	return 0;
}

static struct ct_packet_head head_of(uint32_t number, size_t size)
{
	struct ct_packet_head head = {
		.stream_instance = 3,
		.begin_ns = T0 + (uint64_t)number * STEP,
		.end_ns = T0 + (uint64_t)number * STEP + LENGTH,
		.content_bits = (uint32_t)(8 * size),
		.packet_bits = (uint32_t)(8 * size),
		.sequence = 10 + number,
		.discarded = number,
	};

	memcpy(head.uuid, uuid, sizeof uuid);
	return head;
}

static void write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)at), size);
}

/* count packets of sizes between least and most; what is behind their heads is filled with
 * `filler`, from its beginning each time. */
static void make(struct stream *stream, uint32_t count, size_t least, size_t most,
		 const void *filler, size_t filler_size)
{
	unsigned char *packet = malloc(most);
	uint32_t random = 1;

	stream->at = calloc(count + 1, sizeof *stream->at);
	for (uint32_t i = 0; i < count; i++) {
		struct ct_packet_head head;
		size_t size;

		random = random * 1664525u + 1013904223u;
		size = least + (random >> 8) % (most - least + 1);
		head = head_of(i, size);
		memset(packet, 0, size);
		for (size_t at = CT_PACKET_HEAD; filler_size > 0 && at + filler_size <= size;
		     at += filler_size)
			memcpy(packet + at, filler, filler_size);
		ct_packet_head_put(packet, &head);
		write_at(stream->fd, packet, size, stream->size);
		stream->at[i] = stream->size;
		stream->size += size;
	}
	stream->at[count] = stream->size;
	stream->count = count;
	free(packet);
}

static struct ct_packet_place find(const struct stream *stream, uint64_t since_ns)
{
	struct ct_packet_place place;

	assert_int_equal(ct_packet_index_find(stream->fd, uuid, since_ns, &place), CTRACE_OK);
	return place;
}

/* The number of the packet that is wanted: count when all are before. */
static uint32_t wanted(const struct stream *stream, uint64_t since_ns)
{
	for (uint32_t i = 0; i < stream->count; i++)
		if (T0 + (uint64_t)i * STEP + LENGTH >= since_ns)
			return i;
	return stream->count;
}

static void assert_exact(const struct stream *stream, uint64_t since_ns)
{
	struct ct_packet_place place = find(stream, since_ns);
	uint32_t number = wanted(stream, since_ns);

	assert_int_equal(place.offset, stream->at[number]);
	assert_int_equal(place.has_before, number > 0);
	if (number > 0)
		assert_int_equal(place.before.sequence, 10 + number - 1);
}

static void assert_exact_everywhere(const struct stream *stream)
{
	uint64_t end = T0 + (uint64_t)stream->count * STEP;
	uint64_t step = (uint64_t)stream->count * STEP / 257 + 1;

	for (uint64_t since = T0; since <= end; since += step)
		assert_exact(stream, since);
	assert_exact(stream, 0);
	assert_exact(stream, T0 + LENGTH);     /* the last moment of the first packet */
	assert_exact(stream, T0 + LENGTH + 1); /* between two */
	assert_exact(stream, end - STEP + LENGTH);
	assert_exact(stream, UINT64_MAX);
}

static void an_empty_file_has_no_packet(void **state)
{
	struct ct_packet_place place = find(*state, T0);

	assert_int_equal(place.offset, 0);
	assert_false(place.has_before);
}

static void what_is_no_file_is_an_error(void **state)
{
	struct ct_packet_place place;

	(void)state;
	assert_int_equal(ct_packet_index_find(-1, uuid, T0, &place), CTRACE_OS_ERROR);
	assert_int_equal(place.offset, 0);
}

static void small_packets(void **state)
{
	struct stream *stream = *state;

	make(stream, 50000, CT_PACKET_HEAD, 200, NULL, 0);
	assert_exact_everywhere(stream);
}

static void packets_of_the_usual_size(void **state)
{
	struct stream *stream = *state;

	make(stream, 1000, 1000, CT_PACKET_CONTENT, NULL, 0);
	assert_exact_everywhere(stream);
}

static void one_packet(void **state)
{
	struct stream *stream = *state;

	make(stream, 1, 3000, 3000, NULL, 0);
	assert_exact_everywhere(stream);
}

/* Packets of one size, with holes between the heads. */
static void make_holes(struct stream *stream, uint32_t count, size_t size)
{
	stream->count = count;
	stream->at = calloc(stream->count + 1, sizeof *stream->at);
	for (uint32_t i = 0; i < stream->count; i++) {
		struct ct_packet_head head = head_of(i, size);
		unsigned char bytes[CT_PACKET_HEAD];

		ct_packet_head_put(bytes, &head);
		stream->at[i] = (uint64_t)i * size;
		write_at(stream->fd, bytes, sizeof bytes, stream->at[i]);
	}
	stream->at[stream->count] = stream->size = (uint64_t)stream->count * size;
	assert_int_equal(ftruncate(stream->fd, (off_t)stream->size), 0);
}

static void assert_few_reads(const struct stream *stream, uint32_t limit)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i <= 64; i++) {
		uint64_t since = T0 + (uint64_t)stream->count * STEP / 64 * i;
		uint32_t reads = find(stream, since).reads;

		assert_exact(stream, since);
		most = reads > most ? reads : most;
	}
	print_message("# at most %u reads\n", most);
	assert_in_range(most, 1, limit);
	assert_int_equal(ftruncate(stream->fd, 0), 0);
}

static void ten_gigabytes_take_few_reads(void **state)
{
	make_holes(*state, 10240, (size_t)1 << 20);
	assert_few_reads(*state, 300);
}

/* Events that take 26 MB each, and the largest there are: heads are far from each other, and there
 * are few of them. */
static void packets_of_large_events(void **state)
{
	struct stream *stream = *state;

	make_holes(stream, 100, (size_t)26 << 20);
	assert_few_reads(stream, 300);
	free(stream->at);
	make_holes(stream, 10, CT_PACKET_MAX);
	assert_few_reads(stream, 300);
}

static void the_last_packet_may_be_the_largest(void **state)
{
	struct ct_packet_head first, last;
	struct stream *stream = *state;
	uint32_t reads;

	make_holes(stream, 3, CT_PACKET_MAX);
	assert_int_equal(ct_packet_index_ends(stream->fd, uuid, &first, &last, &reads), CTRACE_OK);
	assert_int_equal(last.begin_ns, T0 + 2 * STEP);
}

/* -----------------------------------------------------------------------------------------------
 * Both ends
 */

static enum ctrace_status ends_of(const struct stream *stream, uint64_t *out_first_ns,
				  uint64_t *out_last_ns, uint32_t *out_reads)
{
	struct ct_packet_head first = { 0 }, last = { 0 };
	enum ctrace_status status =
		ct_packet_index_ends(stream->fd, uuid, &first, &last, out_reads);

	*out_first_ns = first.begin_ns;
	*out_last_ns = last.begin_ns;
	return status;
}

static void both_ends_take_few_reads(void **state)
{
	static const size_t sizes[] = { 100, 65536, 1 << 20 };
	struct stream *stream = *state;
	uint64_t first_ns, last_ns;
	uint32_t reads;

	assert_int_equal(ends_of(stream, &first_ns, &last_ns, &reads), CTRACE_NOT_FOUND);
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		free(stream->at);
		stream->size = 0;
		assert_int_equal(ftruncate(stream->fd, 0), 0);
		make(stream, 40, sizes[i] / 2 + CT_PACKET_HEAD / 2, sizes[i], NULL, 0);
		assert_int_equal(ends_of(stream, &first_ns, &last_ns, &reads), CTRACE_OK);
		assert_int_equal(first_ns, T0);
		assert_int_equal(last_ns, T0 + 39 * STEP);
		assert_in_range(reads, 1, 64);
	}
}

static void an_end_that_is_no_packet_is_damaged(void **state)
{
	struct stream *stream = *state;
	uint64_t first_ns, last_ns;
	uint32_t reads;

	make(stream, 40, 5000, 9000, NULL, 0);
	assert_int_equal(ftruncate(stream->fd, (off_t)stream->size - 1), 0);
	assert_int_equal(ends_of(stream, &first_ns, &last_ns, &reads), CTRACE_DAMAGED);
	assert_int_equal(ftruncate(stream->fd, (off_t)stream->at[39]), 0);
	assert_int_equal(ends_of(stream, &first_ns, &last_ns, &reads), CTRACE_OK);
	assert_int_equal(last_ns, T0 + 38 * STEP);
	write_at(stream->fd, "junk", 4, 0);
	assert_int_equal(ends_of(stream, &first_ns, &last_ns, &reads), CTRACE_DAMAGED);
}

/* -----------------------------------------------------------------------------------------------
 * Damage: what is found is the packet, or a place before it from which nothing is passed over
 */

static void assert_not_too_late(const struct stream *stream, uint64_t since_ns, uint64_t hole_from,
				uint64_t hole_to)
{
	uint64_t offset = find(stream, since_ns).offset;
	uint64_t exact = stream->at[wanted(stream, since_ns)];

	/* At the packet, or at the damage before it. */
	if (offset != exact && !(offset < exact && offset <= hole_to && exact > hole_from))
		fail_msg("since %llu: at %llu, not %llu", (unsigned long long)(since_ns - T0),
			 (unsigned long long)offset, (unsigned long long)exact);
}

static void damage(struct stream *stream, uint64_t from, uint64_t to)
{
	size_t size = (size_t)(to - from);
	char *bytes = malloc(size);

	assert_non_null(bytes);
	memset(bytes, 0xC1, size); /* half a magic number */
	write_at(stream->fd, bytes, size, from);
	free(bytes);
	for (uint32_t i = 0; i <= 200; i++)
		assert_not_too_late(stream, T0 + (uint64_t)stream->count * STEP / 200 * i, from,
				    to);
}

static void a_damaged_packet_in_the_middle(void **state)
{
	struct stream *stream = *state;

	make(stream, 2000, 1000, 20000, NULL, 0);
	damage(stream, stream->at[1000] + 10, stream->at[1000] + 30);
	/* The time is behind the damage, far enough: it costs nothing. */
	assert_exact(stream, T0 + 1900 * STEP);
	assert_exact(stream, T0 + 100 * STEP);
}

static void a_damaged_beginning(void **state)
{
	struct stream *stream = *state;

	make(stream, 2000, 1000, 20000, NULL, 0);
	damage(stream, 0, 100);
	assert_exact(stream, T0 + 1900 * STEP);
	assert_int_equal(find(stream, T0).offset, 0);
}

static void a_wide_hole_in_the_middle(void **state)
{
	struct stream *stream = *state;

	make(stream, 2000, 1000, 20000, NULL, 0);
	damage(stream, stream->at[700], stream->at[1300] + 5);
	assert_exact(stream, T0 + 1900 * STEP);
	assert_exact(stream, T0 + 100 * STEP);
}

static void nothing_but_damage(void **state)
{
	struct stream *stream = *state;

	make(stream, 200, 1000, 20000, NULL, 0);
	damage(stream, 0, stream->size);
	assert_int_equal(find(stream, T0 + 150 * STEP).offset, 0);
}

static void a_file_that_ends_inside_a_packet(void **state)
{
	struct stream *stream = *state;

	make(stream, 1000, 1000, 2000, NULL, 0);
	assert_int_equal(ftruncate(stream->fd, (off_t)(stream->at[999] + CT_PACKET_HEAD + 4)), 0);
	/* The last packet is where the caller meets its damage. */
	assert_int_equal(find(stream, UINT64_MAX).offset, stream->at[999]);
	assert_int_equal(find(stream, T0 + 500 * STEP + 1).offset, stream->at[500]);
}

/* -----------------------------------------------------------------------------------------------
 * Packets as the data of packets
 */

/* Copies of earlier packets of the same stream, two in a row: number and time give them away. */
static void copies_of_packets_are_not_taken_for_packets(void **state)
{
	struct stream *stream = *state;
	unsigned char copies[2 * CT_PACKET_HEAD];

	for (uint32_t i = 0; i < 2; i++) {
		struct ct_packet_head head = head_of(i, CT_PACKET_HEAD);

		ct_packet_head_put(copies + (size_t)i * CT_PACKET_HEAD, &head);
	}
	make(stream, 1500, 20000, 60000, copies, sizeof copies);
	for (uint32_t i = 0; i <= 50; i++)
		assert_not_too_late(stream, T0 + 1500 * STEP / 50 * i, 0, 0);
}

/* Heads of another trace, and heads that nothing follows, everywhere: it may give up, but in
 * bounded time and at a packet. */
static void hostile_heads_cost_a_bounded_number_of_reads(void **state)
{
	struct stream *stream = *state;
	struct ct_packet_head head = head_of(500, 4000);
	unsigned char bytes[CT_PACKET_HEAD];

	ct_packet_head_put(bytes, &head);
	make(stream, 300, 50000, 65000, bytes, sizeof bytes);
	for (uint32_t i = 0; i <= 10; i++) {
		struct ct_packet_place place = find(stream, T0 + 300 * STEP / 10 * i);
		bool is_packet = false;

		for (uint32_t k = 0; k <= stream->count; k++)
			is_packet |= place.offset == stream->at[k];
		assert_true(is_packet);
		assert_true(place.offset <= stream->at[wanted(stream, T0 + 300 * STEP / 10 * i)]);
		assert_in_range(place.reads, 1, 5000);
	}
}

static void every_changed_head_is_survived(void **state)
{
	struct stream *stream = *state;

	make(stream, 400, CT_PACKET_HEAD, 4000, NULL, 0);
	for (uint32_t i = 0; i < 76 * 4; i++) {
		uint64_t at = stream->at[200 + i / 76] + i % 76;
		unsigned char old, changed;

		assert_int_equal(pread(stream->fd, &old, 1, (off_t)at), 1);
		changed = (unsigned char)~old;
		write_at(stream->fd, &changed, 1, at);
		assert_true(find(stream, T0 + 203 * STEP).offset <= stream->size);
		assert_true(find(stream, T0 + 100 * STEP).offset <= stream->at[200]);
		write_at(stream->fd, &old, 1, at);
	}
	assert_exact(stream, T0 + 203 * STEP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_packet_index(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_file_has_no_packet),
		TEST(what_is_no_file_is_an_error),
		TEST(small_packets),
		TEST(packets_of_the_usual_size),
		TEST(one_packet),
		TEST(ten_gigabytes_take_few_reads),
		TEST(packets_of_large_events),
		TEST(the_last_packet_may_be_the_largest),
		TEST(both_ends_take_few_reads),
		TEST(an_end_that_is_no_packet_is_damaged),
		TEST(a_damaged_packet_in_the_middle),
		TEST(a_damaged_beginning),
		TEST(a_wide_hole_in_the_middle),
		TEST(nothing_but_damage),
		TEST(a_file_that_ends_inside_a_packet),
		TEST(copies_of_packets_are_not_taken_for_packets),
		TEST(hostile_heads_cost_a_bounded_number_of_reads),
		TEST(every_changed_head_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
