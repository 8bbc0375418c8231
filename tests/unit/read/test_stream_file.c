/*
 * test_stream_file.c - bytes of a stream file: any place of it, also when it grows, goes, is
 * compressed, or is no file.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/stream_file.h"
#include "stream_fixture.h"

#define SIZE 300000u

static struct ct_sources sources;
static struct ct_source source;
static struct ct_stream_file file;

static unsigned char byte_at(size_t at)
{
	return (unsigned char)((at * 2654435761u) >> 13);
}

static void make_file(const char *path, size_t size)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (size_t at = 0; at < size; at++)
		assert_int_equal(fputc(byte_at(at), out), byte_at(at));
	assert_int_equal(fclose(out), 0);
}

static void open_file(const char *path)
{
	ct_sources_init(&sources, NULL, NULL);
	source = (struct ct_source){ .path = strdup(path) };
	ct_stream_file_init(&file, &source, true);
}

static void close_file(void)
{
	ct_stream_file_fini(&file);
	free(source.path);
	ct_sources_fini(&sources);
}

/* At least so many bytes are there, all of them right. */
static void assert_looks(uint64_t at, size_t size, size_t least)
{
	size_t available;
	const unsigned char *bytes = ct_stream_file_look(&file, &sources, at, size, &available);

	assert_in_range(available, least, SIZE);
	for (size_t i = 0; i < available; i++)
		if (bytes[i] != byte_at((size_t)at + i))
			fail_msg("byte %zu behind %llu", i, (unsigned long long)at);
}

static void assert_looks_everywhere(void)
{
	for (size_t at = 0; at < SIZE; at += 7919)
		assert_looks(at, 100, SIZE - at < 100 ? SIZE - at : 100);
	for (size_t at = SIZE; at > 7919; at -= 7919)
		assert_looks(at - 10, 10, 10);
	assert_looks(5, SIZE, SIZE - 5);
	assert_looks(SIZE, 1, 0);
	assert_looks(UINT64_MAX - 5, 1, 0);
	assert_looks(0, 1, 1);
}

static void any_place(void **state)
{
	(void)state;
	make_file("f", SIZE);
	open_file("f");
	assert_looks_everywhere();
	assert_int_equal(file.size, SIZE);
	/* What it holds is known, and can be given back at any time. */
	assert_int_equal(sources.held, file.capacity);
	ct_stream_file_release(&file, &sources);
	assert_int_equal(sources.held, 0);
	assert_null(file.window);
	assert_looks_everywhere();
	close_file();
}

static void no_more_is_read_than_is_wanted(void **state)
{
	(void)state;
	make_file("f", SIZE);
	open_file("f");
	assert_looks(0, 10, CT_STREAM_WINDOW);
	assert_looks(CT_STREAM_WINDOW - 10, 10, 10);
	assert_int_equal(file.asked, CT_STREAM_WINDOW); /* once */
	file.read_size = 4096;
	assert_looks(100000, 10, 4096);
	assert_int_equal(file.asked, CT_STREAM_WINDOW + 4096);
	assert_looks(100000, 5000, 5000);
	assert_int_equal(file.asked, 2 * CT_STREAM_WINDOW + 4096);
	close_file();
}

/* A packet may say what it likes: the window is no larger than the file. */
static void a_size_that_the_file_does_not_have_costs_nothing(void **state)
{
	size_t available;

	(void)state;
	make_file("f", SIZE);
	open_file("f");
	(void)ct_stream_file_look(&file, &sources, 100, CT_PACKET_MAX, &available);
	assert_int_equal(available, SIZE - 100);
	assert_int_equal(file.capacity, SIZE - 100);
	(void)ct_stream_file_look(&file, &sources, SIZE - 10, CT_PACKET_MAX, &available);
	assert_int_equal(available, 10);
	(void)ct_stream_file_look(&file, &sources, UINT64_MAX - 10, CT_PACKET_MAX, &available);
	assert_int_equal(available, 0);
	assert_int_equal(file.capacity, SIZE - 100);
	close_file();
}

static void a_file_that_grows_and_goes(void **state)
{
	(void)state;
	make_file("f", 1000);
	open_file("f");
	assert_looks(0, 10, 1000);
	assert_looks(1000, 10, 0);
	make_file("f", SIZE);
	assert_looks(1000, 10, CT_STREAM_WINDOW);
	assert_int_equal(file.size, 1000); /* as it was found */
	assert_int_equal(truncate("f", 10), 0);
	assert_looks(200000, 10, 0);
	assert_looks(0, 100, 10);
	assert_int_equal(unlink("f"), 0);
	assert_looks(200000, 10, 0);
	close_file();
}

static void what_is_no_regular_file(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(mkfifo("p", 0600), 0); /* nobody waits for its writer */
	for (const char *const *path = (const char *const[]){ "d", "p", "nowhere", NULL };
	     *path != NULL; path++) {
		open_file(*path);
		assert_looks(0, 1, 0);
		assert_int_equal(file.size, 0);
		fd = ct_stream_file_open(&file, &sources);
		assert_true(fd < 0);
		ct_stream_file_close(&file, &fd);
		close_file();
	}
}

static void assert_reported(const char *name, const char *message, unsigned count)
{
	struct reading r;

	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 1);
	assert_string_equal(r.last_path, name);
	assert_string_equal(r.last_message, message);
	assert_int_equal(r.sources.totals.damages, 1);
	ct_sources_fini(&r.sources);
}

/* It is said, once, and costs nothing else. */
static void what_cannot_be_read(void **state)
{
	struct reading r;

	make(*state);
	assert_int_equal(mkfifo("t.ctb/stream.1", 0600), 0);
	assert_reported("t.ctb/stream.1", "it cannot be read: it is no regular file", COUNT);
	assert_int_equal(unlink("t.ctb/stream.1"), 0);
	assert_int_equal(mkdir("t.ctb/stream.1.zst", 0700), 0);
	assert_reported("t.ctb/stream.1.zst", "it cannot be read: it is no regular file", COUNT);
	assert_int_equal(rmdir("t.ctb/stream.1.zst"), 0);
	assert_int_equal(symlink("stream.1", "t.ctb/stream.1"), 0);
	assert_reported("t.ctb/stream.1", "it cannot be read: Too many levels of symbolic links",
			COUNT);
	assert_int_equal(unlink("t.ctb/stream.1"), 0);
	/* The disk gives an error, and not of the metadata. */
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	ct_os_fail(CT_OS_READ, 0, 1000, EIO);
	assert_int_equal(next_number(&r), UINT32_MAX);
	ct_os_fail(CT_OS_READ, 0, 0, 0);
	assert_int_equal(r.reports, 1);
	assert_string_equal(r.last_message, "it cannot be read: Input/output error");
	ct_sources_fini(&r.sources);
	/* Somebody removes it when it was found already; when all of it was read that is no loss.
	 */
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(next_number(&r), 0);
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	for (unsigned i = 1; i < COUNT; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
	make(*state);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 1);
	assert_string_equal(r.last_message, "it cannot be read: No such file or directory");
	ct_sources_fini(&r.sources);
}

static void a_compressed_file(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir("t.ctb", 0700), 0);
	make_file("t.ctb/f", SIZE);
	(void)compress_stream("f");
	assert_true(ct_stream_file_is_second("t.ctb", "f.zst"));
	assert_false(ct_stream_file_is_second("t.ctb", "f"));
	assert_int_equal(unlink("t.ctb/f"), 0);
	assert_false(ct_stream_file_is_second("t.ctb", "f.zst"));
	open_file("t.ctb/f.zst");
	assert_looks_everywhere();
	assert_int_equal(file.size, SIZE);
	/* What is given back is not what it goes on with. */
	fd = ct_stream_file_open(&file, &sources);
	assert_true(fd >= 0);
	ct_stream_file_close(&file, &fd);
	assert_int_equal(fd, -1);
	ct_stream_file_release(&file, &sources);
	assert_looks_everywhere();
	close_file();
	/* Of a third-party trace it is a file as any other. */
	open_file("t.ctb/f.zst");
	file.may_be_packed = false;
	assert_memory_equal(ct_stream_file_look(&file, &sources, 0, 4, &(size_t){ 0 }),
			    "\x28\xB5\x2F\xFD", 4);
	close_file();
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

/* stream.0 of t.ctb as three frames, the second of which cannot be right; the first ends at `cut`.
 */
static void compress_in_three(const struct ct_buf *bytes, size_t cut)
{
	const size_t ends[] = { cut, cut + 3000, bytes->size };
	static char packed[1 << 16];
	size_t from = 0, size = 0;
	FILE *out = fopen("t.ctb/stream.0.zst", "w");

	assert_non_null(out);
	for (size_t i = 0; i < CT_COUNT(ends); i++) {
		size = ZSTD_compress(packed, sizeof packed, bytes->data + from, ends[i] - from, 3);
		assert_false(ZSTD_isError(size));
		if (i == 1)
			memset(packed + size / 2, 0xFF, size / 4);
		assert_int_equal(fwrite(packed, 1, size, out), size);
		from = ends[i];
	}
	assert_int_equal(fclose(out), 0);
}

/* Frames begin anywhere in packets and events: no event is made of the beginning of one and the end
 * of another. */
static void a_damaged_frame_between_two(void **state)
{
	struct ct_buf bytes = { 0 };
	struct reading r;

	make(*state);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	for (size_t cut = packet_at[1] - 5; cut < packet_at[3]; cut += 7) {
		bool seen[COUNT];

		compress_in_three(&bytes, cut);
		read_all(seen, &r);
		/* All before the packet that is cut, and all behind the one that the third frame
		 * begins in. */
		for (unsigned i = 0; i < COUNT; i++) {
			const unsigned packet = i / PER_PACKET;

			assert_int_equal(seen[i], packet_at[packet + 1] <= cut ||
							  packet_at[packet] >= cut + 3000);
		}
		assert_true(r.reports >= 1);
	}
	ct_buf_fini(&bytes);
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

int test_stream_file(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_place),
		TEST(no_more_is_read_than_is_wanted),
		TEST(a_size_that_the_file_does_not_have_costs_nothing),
		TEST(a_file_that_grows_and_goes),
		TEST(what_is_no_regular_file),
		TEST(what_cannot_be_read),
		TEST(a_compressed_file),
		TEST(a_stream_that_is_compressed_meanwhile),
		TEST(a_damaged_frame_between_two),
		TEST(a_damaged_compressed_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
