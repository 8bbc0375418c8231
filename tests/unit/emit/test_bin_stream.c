/*
 * test_bin_stream.c - a batch becomes packets: when one begins and ends, what its head says, whose
 * bytes follow, and what is read back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

static struct ct_buf bytes;

static void read_stream(const char *path)
{
	ct_buf_clear(&bytes);
	assert_int_equal(ct_os_read_file(path, (size_t)1 << 30, &bytes), CTRACE_OK);
}

/* The packet heads of a stream file; asserts that packets follow each other without a gap. */
static size_t read_heads(const char *path, struct ct_packet_head *heads, size_t capacity)
{
	size_t at = 0, count = 0;

	read_stream(path);
	while (at < bytes.size) {
		assert_true(count < capacity);
		assert_int_equal(ct_packet_decode_head((unsigned char *)bytes.data + at,
						       bytes.size - at, &heads[count]),
				 CTRACE_OK);
		at += heads[count++].packet_bits / 8;
	}
	assert_int_equal(at, bytes.size);
	return count;
}

static void a_packet_is_of_one_thread(void **state)
{
	struct fixture *f = *state;
	struct ctrace_event events[9];
	struct ctrace_event_item items[9];
	struct ctrace_stream stream = { .id = 5 };
	struct ct_packet_head heads[9];

	for (uint32_t i = 0; i < 9; i++) {
		events[i] = text_event(f, &items[i], "C", 1, "x");
		events[i].tid = 100 + i / 3;
	}
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_events(f, events, 9, &stream, 1), CTRACE_OK);
	assert_int_equal(read_heads("t.ctb/stream.5", heads, 9), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(heads[i].tid, 100 + i);
		assert_int_equal(heads[i].pid, 4711);
		assert_int_equal(heads[i].stream_instance, 5);
		assert_int_equal(heads[i].sequence, i);
		assert_int_equal(heads[i].begin_ns, events[3 * i].time_ns);
		assert_int_equal(heads[i].end_ns, events[3 * i + 2].time_ns);
	}
}

static void packets_end_before_64_kib(void **state)
{
	static struct ct_packet_head heads[64];
	static char text[1001], huge[65537];
	struct fixture *f = *state;
	struct ctrace_event events[300];
	struct ctrace_event_item items[300];
	struct ctrace_stream stream = { .id = 0 };
	size_t count;

	memset(text, 'x', 1000);
	memset(huge, 'y', 65536);
	for (uint32_t i = 0; i < 300; i++)
		events[i] = text_event(f, &items[i], "C", 1, i == 150 ? huge : text);
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_events(f, events, 300, &stream, 1), CTRACE_OK);
	count = read_heads("t.ctb/stream.0", heads, 64);
	assert_in_range(count, 6, 9);
	for (size_t i = 0; i < count; i++) {
		bool is_huge = heads[i].begin_ns == events[150].time_ns;

		/* One that is larger by itself has its packet to itself. */
		if (is_huge)
			assert_int_equal(heads[i].end_ns, events[150].time_ns);
		else
			assert_true(heads[i].packet_bits / 8 <= CT_PACKET_CONTENT);
	}
	text[0] = '\0';
	free(babeltrace("t.ctb", NULL));
}

static void time_goes_on_over_batches(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ct_packet_head heads[4];

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	f->now_ns -= 5000; /* the clock went back */
	assert_int_equal(write_numbered(f, &stream, 10, 3), CTRACE_OK);
	fixture_close(f);
	fixture_open(f, NULL);
	f->now_ns -= 1000000;
	assert_int_equal(write_numbered(f, &stream, 13, 3), CTRACE_OK);
	assert_int_equal(read_heads("t.ctb/stream.0", heads, 4), 3);
	assert_int_equal(heads[1].begin_ns, heads[0].end_ns);
	assert_int_equal(heads[2].begin_ns, heads[0].end_ns);
	assert_int_equal(heads[2].sequence, 2);
	free(babeltrace("t.ctb", NULL));
}

static void many_classes_and_the_generic_one(void **state)
{
	enum { COUNT = 40000 }; /* more than there are numbers for */
	static struct ctrace_event events[COUNT];
	static struct ctrace_event_item items[COUNT];
	static char texts[COUNT][24];
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	for (uint32_t i = 0; i < COUNT; i++) {
		(void)snprintf(texts[i], sizeof texts[i], "number %u.", i);
		events[i] = text_event(f, &items[i], "C", i, texts[i]);
	}
	fixture_open(f, "FILE=t.ctb\n");
	for (uint32_t i = 0; i < COUNT; i += 1000)
		assert_int_equal(write_events(f, events + i, 1000, &stream, 1), CTRACE_OK);
	/* The named ones are still found by name. */
	f->now_ns += 1000;
	for (uint32_t i = 0; i < 10; i++)
		events[i].time_ns = f->now_ns;
	assert_int_equal(write_events(f, events, 10, &stream, 1), CTRACE_OK);
	fixture_close(f);
	assert_int_equal(
		system("any=$(babeltrace2 t.ctb | grep -c ' ctrace:any:'); named=$(($(grep -c '^event {' t.ctb/metadata) - 1)); "
		       "test $any -gt 20000 && test $named -gt 10000 && test $((any + named)) = 40000"),
		0);
}

/* One id, two levels, two types: four classes. */
static void events_that_differ_in_level_and_type(void **state)
{
	struct fixture *f = *state;
	struct ctrace_event_item items[2] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 3, .data = "abc" },
		{ .type = CTRACE_TYPE_BINARY, .size = 3, .data = "abc" }
	};
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event events[2000];
	char *text;

	for (uint32_t i = 0; i < 2000; i++) {
		events[i] = text_event(f, &items[0], "C", i / 4, "abc");
		events[i].level = i % 2;
		events[i].items = &items[i / 2 % 2];
	}
	items[0] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT, .size = 3, .data = "abc" };
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_events(f, events, 2000, &stream, 1), CTRACE_OK);
	assert_int_equal(write_events(f, events, 2000, &stream, 1), CTRACE_OK);
	text = babeltrace("--fields=loglevel t.ctb", NULL);
	assert_int_equal(count_lines(text), 4000);
	/* Each event's level and kind of data as it was given. */
	const char *line = text;
	for (uint32_t i = 0; i < 4000; i++) {
		const char *end = strchr(line, '\n');
		char wanted[48];

		(void)snprintf(wanted, sizeof wanted,
			       "TRACE_%s C:%u: ", i % 2 == 0 ? "DEBUG (14)" : "INFO (6)",
			       i % 2000 / 4);
		assert_non_null(memmem(line, (size_t)(end - line), wanted, strlen(wanted)));
		assert_non_null(memmem(line, (size_t)(end - line),
				       i / 2 % 2 == 0 ? "= \"abc\"" : "[0] = 0x61",
				       i / 2 % 2 == 0 ? 7 : 10));
		line = end + 1;
	}
	free(text);
}

/* The file is the heads of its packets, and between them the bytes that were given. */
static void the_bytes_of_a_run_are_those_of_the_file(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 3 };
	static const char text[] = "number 2.";
	unsigned char file[1000];
	struct ct_packet_head head;
	size_t size;
	FILE *in;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 3), CTRACE_OK);
	in = fopen("t.ctb/stream.3", "r");
	assert_non_null(in);
	size = fread(file, 1, sizeof file, in);
	(void)fclose(in);
	assert_int_equal(ct_packet_decode_head(file, size, &head), CTRACE_OK);
	/* Each event: 8 bytes, 2 of the text's size, and 9 of the text. */
	assert_int_equal(size, CT_PACKET_HEAD + 3 * (8 + 2 + sizeof text - 1));
	assert_int_equal(head.content_bits, 8 * size);
	assert_int_equal(head.pid, 4711);
	assert_int_equal(head.tid, 100);
	assert_int_equal(head.end_ns - head.begin_ns, 2000);
	assert_memory_equal(file + size - (sizeof text - 1), text, sizeof text - 1);
	assert_int_equal(stream.offset, size);
	assert_int_equal(stream.extra, 0);
	assert_numbers("t.ctb", 0, 3);
}

static void nothing_to_write_writes_nothing(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	const struct ctrace_batch empty = {
		.size = sizeof empty, .event_count = 5, .streams = &stream, .stream_count = 1
	};

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(ct_emit_binfile.write(f->self, &empty), CTRACE_OK);
	assert_int_equal(stream.offset, 0);
	assert_int_equal(access("t.ctb/stream.0", F_OK), -1);
}

/* What was lost before the first packet of a file stands between it and an empty one, where viewers
 * count. */
static void losses_before_the_first_packet_are_reported(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0, .lost = 7 };
	struct ct_packet_head heads[2];
	unsigned char file[2 * CT_PACKET_HEAD];
	FILE *in;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 2), CTRACE_OK);
	in = fopen("t.ctb/stream.0", "r");
	assert_non_null(in);
	assert_int_equal(fread(file, 1, sizeof file, in), sizeof file);
	(void)fclose(in);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(
			ct_packet_decode_head(file + i * CT_PACKET_HEAD, CT_PACKET_HEAD, &heads[i]),
			CTRACE_OK);
	assert_int_equal(heads[0].discarded, 0);
	assert_int_equal(heads[0].content_bits, 8 * CT_PACKET_HEAD);
	assert_int_equal(heads[1].discarded, 7);
	assert_int_equal(heads[1].sequence, 1);
	assert_int_equal(stream.extra, CT_PACKET_HEAD);
	assert_int_equal(stream.offset, file_size("t.ctb/stream.0"));
}

static void a_batch_is_written_whole_or_not_at_all(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_directory *directory = directory_new(f);
	struct ctrace_stream stream = { .id = 4 }, before;
	struct ct_packet_head heads[3];
	char *text;

	assert_int_equal(write_to_directory(f, directory, &stream, "first"), CTRACE_OK);
	assert_int_equal(stream.offset, file_size("t.ctb/stream.4"));
	before = stream;
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_equal(write_to_directory(f, directory, &stream, "second"), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_memory_equal(&stream, &before, sizeof stream);
	directory->size_limit = directory->size;
	assert_int_equal(write_to_directory(f, directory, &stream, "third"),
			 CTRACE_BUFFER_TOO_SMALL);
	assert_memory_equal(&stream, &before, sizeof stream);
	directory->size_limit = 0;
	assert_int_equal(write_to_directory(f, directory, &stream, "fourth"), CTRACE_OK);
	ct_bin_directory_close(directory);
	assert_int_equal(read_heads("t.ctb/stream.4", heads, 3), 2);
	assert_int_equal(heads[1].sequence, 1);
	assert_int_equal(heads[1].packet_bits / 8, stream.offset - before.offset);
	text = babeltrace("t.ctb", NULL);
	assert_int_equal(count_lines(text), 2);
	assert_non_null(strstr(text, "\"fourth\""));
	free(text);
}

static int reset_bytes(void **state)
{
	ct_buf_fini(&bytes);
	return fixture_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, reset_bytes)

int test_bin_stream(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_packet_is_of_one_thread),
		TEST(packets_end_before_64_kib),
		TEST(time_goes_on_over_batches),
		TEST(events_that_differ_in_level_and_type),
		TEST(the_bytes_of_a_run_are_those_of_the_file),
		TEST(nothing_to_write_writes_nothing),
		TEST(losses_before_the_first_packet_are_reported),
		TEST(a_batch_is_written_whole_or_not_at_all),
		/* the last: it leaves no room in the table */
		TEST(many_classes_and_the_generic_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
