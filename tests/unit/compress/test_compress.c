/*
 * test_compress.c - a file becomes a compressed one, or stays what it is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"

#include <zstd.h>

#include "compress/compress.h"

#define FRAME ((size_t)1 << 20)
#define SIZE (2 * FRAME + 700000)

static unsigned char data[SIZE];
static int directory = -1;
static const uint32_t goes_on;

static int set_up(void **state)
{
	(void)state;
	enter_room();
	for (size_t i = 0; i < SIZE; i++)
		data[i] = (unsigned char)(i * i >> 7);
	directory = open("run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return directory >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ct_os_close(&directory);
	leave_room();
	return 0;
}

static void assert_holds(const char *path, size_t size)
{
	unsigned char *bytes = malloc(SIZE);
	struct ct_buf packed = { 0 };
	size_t frames = 0;

	assert_non_null(bytes);
	assert_int_equal(ct_os_read_file(path, SIZE, &packed), CTRACE_OK);
	assert_int_equal(ZSTD_decompress(bytes, SIZE, packed.data, packed.size), size);
	assert_memory_equal(bytes, data, size);
	/* A wrong bit costs one of these. */
	for (size_t at = 0; at < packed.size;
	     at += ZSTD_findFrameCompressedSize(packed.data + at, packed.size - at))
		frames++;
	assert_int_equal(frames, size == 0 ? 1 : (size + FRAME - 1) / FRAME);
	ct_buf_fini(&packed);
	free(bytes);
}

static void a_smaller_file(void **state)
{
	static const size_t sizes[] = { 0,     1,         256 << 10, FRAME - 1,
					FRAME, FRAME + 1, 2 * FRAME, SIZE };
	struct stat info;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		put_file("run/stream.3", data, sizes[i]);
		assert_int_equal(chmod("run/stream.3", i % 2 == 0 ? 0600 : 0640), 0);
		put_file("run/.stream.3.new", "left behind", 11);
		assert_int_equal(ct_compress_file(directory, "stream.3", &goes_on), CTRACE_OK);
		assert_holds("run/stream.3.zst", sizes[i]);
		assert_false(exists("run/stream.3"));
		assert_false(exists("run/.stream.3.new"));
		assert_int_equal(stat("run/stream.3.zst", &info), 0);
		assert_int_equal(info.st_mode & 07777, i % 2 == 0 ? 0600 : 0640);
	}
	assert_true((size_t)info.st_size < SIZE);
}

static void what_is_no_file_of_ours(void **state)
{
	char name[80];

	(void)state;
	assert_int_equal(ct_compress_file(directory, "stream.3", &goes_on), CTRACE_NOT_FOUND);
	put_file("other", data, 10);
	assert_int_equal(symlink("../other", "run/stream.3"), 0);
	assert_int_equal(ct_compress_file(directory, "stream.3", &goes_on), CTRACE_DENIED);
	assert_true(exists("other"));
	assert_false(exists("run/stream.3.zst"));
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(ct_compress_file(directory, name, &goes_on), CTRACE_DENIED);
}

static void whatever_fails_the_file_stays(void **state)
{
	static const enum ct_os_call calls[] = { CT_OS_READ, CT_OS_WRITE, CT_OS_FSYNC };
	struct stat info;

	(void)state;
	put_file("run/stream.3", data, SIZE);
	for (size_t i = 0; i < CT_COUNT(calls); i++) {
		ct_os_fail(calls[i], 0, 1, EIO);
		assert_int_not_equal(ct_compress_file(directory, "stream.3", &goes_on), CTRACE_OK);
		ct_os_fail(calls[i], 0, 0, 0);
		assert_int_equal(stat("run/stream.3", &info), 0);
		assert_int_equal(info.st_size, SIZE);
		assert_false(exists("run/stream.3.zst"));
		assert_false(exists("run/.stream.3.new"));
	}
	assert_int_equal(ct_compress_file(directory, "stream.3", &goes_on), CTRACE_OK);
	assert_holds("run/stream.3.zst", SIZE);
}

static void somebody_stops_it(void **state)
{
	const uint32_t let_go = 1;

	(void)state;
	put_file("run/stream.3", data, SIZE);
	assert_int_equal(ct_compress_file(directory, "stream.3", &let_go), CTRACE_TIMED_OUT);
	assert_true(exists("run/stream.3"));
	assert_false(exists("run/stream.3.zst"));
	assert_false(exists("run/.stream.3.new"));
}

int test_compress(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_smaller_file),
		TEST(what_is_no_file_of_ours),
		TEST(whatever_fails_the_file_stays),
		TEST(somebody_stops_it),
	};

	return cmocka_run_group_tests_name("emit/compress", tests, NULL, NULL);
}
