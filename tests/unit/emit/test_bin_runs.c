/*
 * test_bin_runs.c - what of the runs of a batch goes into which stream: their bytes, or events written anew.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

/* The file is the heads of its packets, and between them the bytes that were given. */
static void the_bytes_of_a_run_are_those_of_the_file(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 3 };
	static const char text[] = "number 2.";
	unsigned char file[1000];
	struct ct_packet_head head;
	size_t size, head_size;
	FILE *in;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 3), CTRACE_OK);
	in = fopen("t.ctb/stream.3", "r");
	assert_non_null(in);
	size = fread(file, 1, sizeof file, in);
	(void)fclose(in);
	assert_int_equal(ct_packet_decode_head(file, size, &head, &head_size), CTRACE_OK);
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
	const struct ctrace_batch empty = { .size = sizeof empty, .event_count = 5, .streams = &stream, .stream_count = 1 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(ct_emit_binfile.write(f->self, &empty), CTRACE_OK);
	assert_int_equal(stream.offset, 0);
	assert_int_equal(access("t.ctb/stream.0", F_OK), -1);
}

/* A folder that has other classes by the numbers of the process's: what comes is written by numbers of the folder's own. */
static void a_number_that_is_taken_costs_no_event(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ct_classes *classes = &run_room()->classes;
	struct ct_class_table *table = classes->table, *other = aligned_alloc(4096, CT_CLASS_TABLE);
	uint16_t *slots = malloc(sizeof classes->slots);

	assert_non_null(other);
	assert_non_null(slots);
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	/* The same process, it says; and its table begins anew, with another event first. */
	memcpy(slots, classes->slots, sizeof classes->slots);
	memset(classes->slots, 0, sizeof classes->slots);
	memset(other, 0, CT_CLASS_TABLE);
	ct_class_table_start(other, CT_CLASS_TABLE);
	classes->table = other;
	{
		struct ctrace_event_item item;
		struct ctrace_event event = text_event(f, &item, "OTHER", 99, "x");

		assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	}
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	classes->table = table;
	memcpy(classes->slots, slots, sizeof classes->slots);
	fixture_close(f);
	assert_int_equal(system("test \"$(babeltrace2 t.ctb 2>bt.err | grep -c ' COMP:1: ')\" = 20 && "
				"test \"$(babeltrace2 t.ctb | grep -c ' OTHER:99: .*\"x\"')\" = 1 && test ! -s bt.err"),
			 0);
	free(other);
	free(slots);
}

/* Texts that are to become UTF-8 have other sizes than in the ring. */
static void texts_of_another_encoding_are_written_anew(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event = text_event(f, &item, "C", 1, "\xC1\xC2\x4A"); /* AB and A umlaut in 273 */
	char *text;

	fixture_open(f, "FILE=t.ctb\nENCODING=ebcdic-273\n");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	fixture_close(f);
	text = babeltrace("t.ctb", NULL);
	assert_non_null(strstr(text, "\"AB\303\204\""));
	free(text);
}

/* What was lost before the first packet of a file stands between it and an empty one, where viewers count. */
static void losses_before_the_first_packet_are_told(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0, .lost = 7 };
	struct ct_packet_head heads[2];
	unsigned char file[2 * CT_PACKET_HEAD];
	size_t head_size;
	FILE *in;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 2), CTRACE_OK);
	in = fopen("t.ctb/stream.0", "r");
	assert_non_null(in);
	assert_int_equal(fread(file, 1, sizeof file, in), sizeof file);
	(void)fclose(in);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ct_packet_decode_head(file + i * CT_PACKET_HEAD, CT_PACKET_HEAD, &heads[i], &head_size), CTRACE_OK);
	assert_int_equal(heads[0].discarded, 0);
	assert_int_equal(heads[0].content_bits, 8 * CT_PACKET_HEAD);
	assert_int_equal(heads[1].discarded, 7);
	assert_int_equal(heads[1].sequence, 1);
	assert_int_equal(stream.extra, CT_PACKET_HEAD);
	assert_int_equal(stream.offset, file_size("t.ctb/stream.0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_bytes_of_a_run_are_those_of_the_file), TEST(nothing_to_write_writes_nothing),
		TEST(a_number_that_is_taken_costs_no_event),    TEST(texts_of_another_encoding_are_written_anew),
		TEST(losses_before_the_first_packet_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
