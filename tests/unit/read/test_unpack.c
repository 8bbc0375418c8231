/*
 * test_unpack.c - compressed files: all that is whole comes back, damage costs its frame, nothing
 * is invented, and nothing grows without bound.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"

#include <sys/resource.h>
#include <zstd.h>

#include "read/source.h"

#define LIMIT ((uint64_t)1 << 20)
#define PART 300000u /* more than is decompressed at once */
#define TOO_MUCH "more comes of this than is read; zstd -d unpacks it"

static struct ct_unpacked result;
static unsigned char part[3][PART];
static struct ct_buf packed;

static int set_up(void **state)
{
	uint32_t seed = 1;

	(void)state;
	enter_room();
	ct_buf_init(&packed);
	for (unsigned p = 0; p < 3; p++)
		for (unsigned i = 0; i < PART; i++)
			part[p][i] =
				(unsigned char)(((seed = seed * 1103515245 + 12345) >> 16) % 32 +
						32 * p);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_buf_fini(&packed);
	ct_os_close(&result.fd);
	leave_room();
	return 0;
}

/* Appends a frame, whose head says how long it is, or not.  Gives where it begins. */
static size_t pack(const void *data, size_t size, bool is_known)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t start = packed.size;
	ZSTD_inBuffer in = { data, size, 0 };
	ZSTD_outBuffer out = { NULL, ZSTD_compressBound(size), 0 };

	assert_non_null(context);
	assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
	assert_true(ct_buf_reserve(&packed, out.size));
	out.dst = packed.data + packed.size;
	if (is_known)
		assert_false(ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context, size)));
	else
		/* before it knows of the end */
		assert_int_not_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 1);
	assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
	packed.size += out.pos;
	(void)ZSTD_freeCCtx(context);
	return start;
}

static void unpack(uint64_t limit)
{
	int fd;

	put_file("packed.zst", packed.data, packed.size);
	fd = open("packed.zst", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ct_os_close(&result.fd);
	assert_int_equal(ct_unpack(fd, limit, &result), CTRACE_OK);
	ct_os_close(&fd);
}

static void assert_bytes(uint64_t at, const void *wanted, size_t size)
{
	unsigned char *bytes = malloc(size);
	size_t got;

	assert_non_null(bytes);
	assert_int_equal(ct_os_read_at(result.fd, bytes, size, at, &got), CTRACE_OK);
	assert_int_equal(got, size);
	assert_memory_equal(bytes, wanted, size);
	free(bytes);
}

static void assert_damage(uint64_t damages, uint64_t at, uint64_t bytes, const char *message)
{
	assert_int_equal(result.damages, damages);
	assert_int_equal(result.damage_at, at);
	assert_int_equal(result.damaged_bytes, bytes);
	assert_string_equal(result.message, message);
}

static void whole_files(void **state)
{
	static const unsigned char skippable[] = {
		0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'
	};
	struct stat info;

	(void)state;
	unpack(LIMIT); /* empty */
	assert_int_equal(result.size, 0);
	(void)pack(part[0], PART, true);
	(void)pack(part[1], 0, true);
	ct_buf_add(&packed, skippable, sizeof skippable);
	(void)pack(part[1], PART, false);
	unpack(LIMIT);
	assert_int_equal(result.damages, 0);
	assert_int_equal(result.size, 2 * PART);
	assert_bytes(0, part[0], PART);
	assert_bytes(PART, part[1], PART);
	assert_int_equal(fstat(result.fd, &info), 0);
	assert_int_equal(info.st_nlink, 0);
	assert_int_equal(info.st_size, 2 * PART);
	/* To the last byte that is allowed. */
	unpack(2 * PART);
	assert_int_equal(result.damages, 0);
	assert_int_equal(result.size, 2 * PART);
}

static void too_much(void **state)
{
	size_t second;

	(void)state;
	(void)pack(part[0], PART, true);
	second = pack(part[1], PART, true);
	unpack(2 * PART - 1);
	/* it says how long it is, and nothing is written of it */
	assert_int_equal(result.size, PART);
	assert_damage(1, second, 0, TOO_MUCH);
	packed.size = second;
	(void)pack(part[1], PART, false);
	unpack(2 * PART - 1);
	assert_int_equal(result.size, 2 * PART - 1);
	assert_int_equal(result.damages, 1);
	assert_int_equal(result.damage_at, second);
	assert_string_equal(result.message, TOO_MUCH);
	assert_bytes(PART, part[1], PART - 1);
}

/* A head that states a terabyte is refused. */
static void a_terabyte(void **state)
{
	static const unsigned char head[] = {
		0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 1, 0, 0
	};

	(void)state;
	ct_buf_add(&packed, head, sizeof head);
	ct_buf_add(&packed, "\x03\x00\x00", 3);
	unpack(CT_UNPACK_LIMIT);
	assert_int_equal(result.size, 0);
	assert_damage(1, 0, 0, TOO_MUCH);
}

#define BIG ((size_t)80 << 20)
#define PACKET ((size_t)1 << 20)

/* Bytes that compress to next to nothing; with heads of packets, one a mebibyte, before
 * `packets_end`. */
static void pack_big(size_t packets_end)
{
	unsigned char *bytes = calloc(1, BIG);
	struct ct_packet_head head = { .content_bits = 8 * PACKET, .packet_bits = 8 * PACKET };

	assert_non_null(bytes);
	for (size_t at = 0; at < packets_end; at += PACKET)
		ct_packet_head_put(bytes + at, &head);
	ct_buf_clear(&packed);
	(void)pack(bytes, BIG, false);
	free(bytes);
}

/* A little that becomes very much is unpacked only as long as it becomes packets. */
static void what_is_no_trace(void **state)
{
	(void)state;
	pack_big(0);
	unpack(CT_UNPACK_LIMIT);
	assert_true(result.size < BIG - ((size_t)8 << 20));
	assert_true(result.damages > 0);
	assert_string_equal(result.message, TOO_MUCH);
	pack_big(BIG / 2);
	unpack(CT_UNPACK_LIMIT);
	assert_true(result.size < BIG - ((size_t)8 << 20));
	assert_true(result.damages > 0);
	pack_big(BIG);
	unpack(CT_UNPACK_LIMIT);
	assert_int_equal(result.damages, 0);
	assert_int_equal(result.size, BIG);
}

/* More compressed streams than a process may have files open. */
static void many_at_once(void **state)
{
	struct rlimit before, few;
	struct ct_unpacked many[16];
	int fd;

	(void)state;
	(void)pack(part[0], PART, true);
	put_file("packed.zst", packed.data, packed.size);
	fd = open("packed.zst", O_RDONLY | O_CLOEXEC);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)fd + 4, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (size_t i = 0; i < CT_COUNT(many); i++) {
		assert_int_equal(ct_unpack(fd, LIMIT, &many[i]), CTRACE_OK);
		assert_int_equal(many[i].damages, 0);
	}
	for (size_t i = 0; i < CT_COUNT(many); i++)
		ct_os_close(&many[i].fd);
	ct_os_close(&fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void a_damaged_frame(void **state)
{
	size_t second, third;

	(void)state;
	(void)pack(part[0], PART, true);
	second = pack(part[1], PART, true);
	third = pack(part[2], PART, true);
	memset(packed.data + second + (third - second) * 3 / 4, 0, 1000);
	unpack(LIMIT);
	assert_damage(1, second, third - second, "the checksum of these compressed bytes is wrong");
	/* nothing of it: what came before the place need not be right */
	assert_int_equal(result.size, 2 * PART);
	assert_bytes(0, part[0], PART);
	assert_bytes(PART, part[2], PART);
}

/* The last frame leaves nothing behind its content. */
static void a_wrong_checksum(void **state)
{
	struct stat info;
	size_t second;

	(void)state;
	(void)pack(part[0], PART, true);
	second = pack(part[1], PART, false);
	packed.data[packed.size - 1] ^= 1;
	unpack(LIMIT);
	assert_damage(1, second, packed.size - second,
		      "the checksum of these compressed bytes is wrong");
	assert_int_equal(result.size, PART);
	assert_bytes(0, part[0], PART);
	assert_int_equal(fstat(result.fd, &info), 0);
	assert_int_equal(info.st_size, PART);
}

#define STEP 29u /* of the bits: all of them take half a minute */

/* Whatever bit of a frame is wrong, nothing comes of it that was not there. */
static void flipped_bits(void **state)
{
	size_t second, size, flips = 0, wrong = 0;

	(void)state;
	for (size_t i = 997; i < PART; i++) /* few bytes become several blocks */
		part[0][i] =
			i % 5000 < 4 ? (unsigned char)(i / 5000 >> i % 5000) : part[0][i - 997];
	(void)pack(part[2], 100, true);
	second = pack(part[0], PART, false);
	for (size_t bit = 8 * second; bit < 8 * packed.size; bit += STEP) {
		packed.data[bit / 8] ^= (char)(1u << bit % 8);
		unpack(LIMIT);
		/* Its checksum may look like one more block: a run of one byte, which is no packet.
		 */
		size = result.size < 100 + PART ? result.size : 100 + PART;
		assert_true(size >= 100);
		if (size > 100)
			assert_bytes(100, part[0], size - 100);
		assert_true(result.size == 100 + PART || result.damages == 1);
		flips++;
		wrong += result.size == 100;
		packed.data[bit / 8] ^= (char)(1u << bit % 8);
	}
	/* Few bits mean nothing, or make it look cut off. */
	assert_true(flips > 250 && wrong > flips - flips / 20);
}

static void damaged_heads(void **state)
{
	size_t second;

	(void)state;
	ct_buf_add_text(&packed, "something else, and longer than a head is");
	second = pack(part[0], PART, true);
	unpack(LIMIT);
	assert_damage(1, 0, second, "this cannot be decompressed");
	assert_int_equal(result.size, PART);
	assert_bytes(0, part[0], PART);
	packed.size = second;
	unpack(LIMIT);
	assert_damage(1, 0, second, "this cannot be decompressed");
	assert_int_equal(result.size, 0);
	packed.size = 2;
	unpack(LIMIT);
	assert_int_equal(result.damages, 1);
	assert_int_equal(result.damaged_bytes, 2);
}

static void a_file_that_is_cut(void **state)
{
	size_t second;

	(void)state;
	(void)pack(part[0], PART, true);
	second = pack(part[1], PART, true);
	for (size_t cut = 1; cut < packed.size - second; cut += 9973) {
		size_t whole = packed.size;

		packed.size -= cut;
		unpack(LIMIT);
		assert_damage(1, second, packed.size - second,
			      "the compressed file ends inside a frame");
		assert_true(result.size >= PART && result.size <= 2 * PART);
		assert_bytes(0, part[0], PART);
		packed.size = whole;
	}
}

/* Beginnings of frames without end: each byte is looked at once, so this is over soon. */
static void nothing_but_beginnings(void **state)
{
	static const unsigned char head[] = { 0x28, 0xB5, 0x2F, 0xFD, 0, 0x58, 0, 0, 0 };

	(void)state;
	for (unsigned i = 0; i < 200000; i++)
		ct_buf_add(&packed, head, sizeof head);
	unpack(LIMIT);
	assert_true(result.damages >= 1);
	assert_true(result.size <= LIMIT);
}

static void no_disk(void **state)
{
	int fd;

	(void)state;
	(void)pack(part[0], PART, true);
	put_file("packed.zst", packed.data, packed.size);
	fd = open("packed.zst", O_RDONLY | O_CLOEXEC);
	ct_os_close(&result.fd);
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_equal(ct_unpack(fd, LIMIT, &result), CTRACE_OS_ERROR);
	ct_os_fail(CT_OS_WRITE, 0, 0, 0);
	ct_os_close(&fd);
}

int test_unpack(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(whole_files),      TEST(too_much),           TEST(a_terabyte),
		TEST(what_is_no_trace), TEST(many_at_once),       TEST(a_damaged_frame),
		TEST(damaged_heads),    TEST(a_file_that_is_cut), TEST(nothing_but_beginnings),
		TEST(no_disk),          TEST(a_wrong_checksum),   TEST(flipped_bits),
	};

	result.fd = -1;
	return cmocka_run_group_tests_name("read/unpack", tests, NULL, NULL);
}
