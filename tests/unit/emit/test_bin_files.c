/*
 * test_bin_files.c - the stream files of a BINFILE directory: their names, and where each goes on.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

static void more_streams_than_open_files(void **state)
{
	enum { COUNT = 200 };
	static struct ctrace_stream streams[COUNT];
	static struct ctrace_event events[COUNT];
	static struct ctrace_event_item items[COUNT];
	static char texts[COUNT][24];
	struct fixture *f = *state;
	char command[64];

	fixture_open(f, "FILE=t.ctb\n");
	for (uint32_t i = 0; i < COUNT; i++)
		streams[i].id = i;
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			(void)snprintf(texts[i], sizeof texts[i], "number %u.", round * COUNT + i);
			events[i] = text_event(f, &items[i], "COMP", 1, texts[i]);
			events[i].stream = i;
		}
		assert_int_equal(write_events(f, events, COUNT, streams, COUNT), CTRACE_OK);
	}
	(void)snprintf(command, sizeof command, "test $(ls /proc/%d/fd | wc -l) -lt 90",
		       (int)getpid());
	assert_int_equal(system(command), 0);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 3 * COUNT);
}

static void flush_reaches_the_disk_or_says_so(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	ct_os_fail(CT_OS_FSYNC, 0, 1, EIO);
	assert_int_equal(ct_emit_binfile.flush(f->self), CTRACE_OUTPUT_ERROR);
	assert_int_equal(ct_emit_binfile.flush(f->self), CTRACE_OK);
	ct_os_fail(CT_OS_FSYNC, 0, 1, EIO);
	/* nothing new: not even asked */
	assert_int_equal(ct_emit_binfile.flush(f->self), CTRACE_OK);
}

/* The metadata, and each stream with something new. */
static void what_is_new_is_synced_until_it_is_durable(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_directory *directory = directory_new(f);
	struct ctrace_stream first = { .id = 0 }, second = { .id = 7 };

	assert_int_equal(write_to_directory(f, directory, &first, "a"), CTRACE_OK);
	assert_int_equal(write_to_directory(f, directory, &second, "b"), CTRACE_OK);
	ct_os_fail(CT_OS_FSYNC, 0, 1, EIO);
	assert_int_equal(ct_bin_sync(directory), CTRACE_OS_ERROR);
	assert_int_equal(errno, EIO);
	assert_true(directory->metadata_sync_due);
	ct_os_fail(CT_OS_FSYNC, 1, 1, EIO); /* the metadata are durable, a stream is not */
	assert_int_equal(ct_bin_sync(directory), CTRACE_OS_ERROR);
	assert_false(directory->metadata_sync_due);
	assert_true(directory->streams[0]->sync_due && directory->streams[7]->sync_due);
	assert_int_equal(ct_bin_sync(directory), CTRACE_OK);
	assert_false(directory->streams[0]->sync_due || directory->streams[7]->sync_due);
	ct_os_fail(CT_OS_FSYNC, 0, 1, EIO);
	assert_int_equal(ct_bin_sync(directory), CTRACE_OK); /* nothing new: not even asked */
	ct_os_fail(CT_OS_FSYNC, 0, 0, 0);
	assert_int_equal(write_to_directory(f, directory, &second, "c"), CTRACE_OK);
	assert_true(!directory->streams[0]->sync_due && directory->streams[7]->sync_due);
	ct_bin_directory_close(directory);
}

static void stream_is_continued_by_one_read(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(write_numbered(f, &stream, i, 1), CTRACE_OK);
	assert_true(stream.extra > 0 && stream.extra < stream.offset);
	for (unsigned recovering = 0; recovering < 2; recovering++) {
		fixture_close(f);
		f->context.recovering = recovering != 0;
		fixture_open(f, NULL);
		/* the head of the last packet, and nothing more */
		ct_os_fail(CT_OS_READ, 1, 1000, EIO);
		assert_int_equal(write_numbered(f, &stream, 200 + recovering, 1), CTRACE_OK);
		ct_os_fail(CT_OS_READ, 0, 0, 0);
	}
	fixture_close(f);
	assert_numbers("t.ctb", 0, 202);
	/* A word that cannot be right costs more reads, and nothing else. */
	for (unsigned i = 0; i < 3; i++) {
		static const uint64_t wrong[] = { 0, 1, UINT64_MAX };

		stream.extra = wrong[i];
		fixture_open(f, NULL);
		assert_int_equal(write_numbered(f, &stream, 202 + i, 1), CTRACE_OK);
		fixture_close(f);
	}
	assert_numbers("t.ctb", 0, 205);
}

/* A stream that is a link is found when it is first written to. */
static void stream_links_are_not_followed(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(system("echo precious > victim; ln -s ../victim t.ctb/stream.0"), 0);
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OUTPUT_ERROR);
	assert_int_equal(file_size("victim"), 9);
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	assert_numbers("t.ctb", 0, 1);
}

static void stream_names(void **state)
{
	static const char *const wrong[] = {
		"",          "stream.",      "stream.x",      "stream.1x",
		"stream.01", "stream.65536", "stream.123456", "stream.-1",
		"Stream.1",  "stream.lostt", "stream.los",    "metadata",
		"stream_1"
	};
	uint32_t id = 77;

	(void)state;
	assert_true(ct_bin_stream_name_parse("stream.0", 8, &id));
	assert_int_equal(id, 0);
	assert_true(ct_bin_stream_name_parse("stream.65535", 12, &id));
	assert_int_equal(id, 65535);
	assert_true(ct_bin_stream_name_parse("stream.lost", 11, &id));
	assert_int_equal(id, CT_BIN_LOST);
	for (size_t i = 0; i < CT_COUNT(wrong); i++)
		assert_false(ct_bin_stream_name_parse(wrong[i], strlen(wrong[i]), &id));
}

static void place_in_another_directory_is_known_for_what_it_is(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=a.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 100), CTRACE_OK);
	fixture_close(f);
	memset(&f->place, 0, sizeof f->place);
	/* FILE was set; the cursor still says where the stream stood in the directory before. */
	fixture_open(f, "FILE=b.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 100, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("b.ctb", 100, 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_bin_files(void)
{
	const struct CMUnitTest tests[] = {
		TEST(more_streams_than_open_files),
		TEST(flush_reaches_the_disk_or_says_so),
		TEST(what_is_new_is_synced_until_it_is_durable),
		TEST(stream_is_continued_by_one_read),
		TEST(stream_links_are_not_followed),
		TEST(place_in_another_directory_is_known_for_what_it_is),
		cmocka_unit_test(stream_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
