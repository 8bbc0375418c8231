/*
 * test_export_trace.c - clean traces of Common Trace Format: read back with our own reader, event
 * by event.
 *
 * What babeltrace2 makes of them is tested by tests/process/export.sh.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct back {
	struct ct_reader *reader;
	uint64_t lost;
	unsigned damages;
};

static void note(const struct ct_read_note *note, void *user)
{
	struct back *back = user;

	if (note->kind == CT_NOTE_LOST)
		back->lost += note->events;
	else
		back->damages++;
}

static void open_back(struct back *back, const char *path)
{
	const struct ct_reader_options options = { .report = note, .user = back };

	*back = (struct back){ .lost = 0 };
	assert_int_equal(ct_reader_create(&options, &back->reader), CTRACE_OK);
	assert_int_equal(ct_reader_add(back->reader, path), CTRACE_OK);
}

static void write_trace(const char *directory, bool has_one_trace,
			const struct ct_read_event *events, size_t count)
{
	struct exported exported;

	export_events(&exported, &ct_export_trace,
		      (struct ct_export_options){ .directory = directory,
						  .has_one_trace = has_one_trace },
		      events, count);
	assert_int_equal(exported.status, CTRACE_OK);
}

static void events_come_back(void **state)
{
	const char *const item_names[] = { "rows", NULL };
	const struct ct_event_names names = { .mnemonic = "OPEN",
					      .items = item_names,
					      .item_count = 2 };
	const struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_COMP5, .size = 4, .data = "\x11\0\0\0", .value = 17 },
		text_item("a\"b")
	};
	struct ct_read_event events[] = { event_at(0, 9, items, 2), event_at(5, 10, items, 0),
					  event_at(6, 9, items, 1) };
	const struct ct_read_event *event;
	struct back back;
	char scratch[16];

	(void)state;
	events[0].names = &names;
	events[1].traced.stream = 3;
	write_trace("out", true, events, 3);
	open_back(&back, "out");
	for (size_t i = 0; i < 3; i++) {
		event = ct_reader_next(back.reader);
		assert_non_null(event);
		assert_int_equal(event->traced.time_ns, events[i].traced.time_ns);
		assert_int_equal(event->traced.tid, events[i].traced.tid);
		assert_int_equal(event->traced.pid, 4711);
		assert_int_equal(event->traced.level, CTRACE_ERROR);
		assert_int_equal(event->traced.event_id, 255);
		assert_string_equal(event->traced.component, "MF.RTS");
		assert_int_equal(event->traced.item_count, events[i].traced.item_count);
		assert_string_equal(event->source_process->host, "asterix");
		assert_string_equal(event->source_process->program, "rts32");
		assert_string_equal(event->source_process->jobname, "RTS32");
		assert_int_equal(event->source_process->asid, 0x1A);
		if (i != 0)
			continue;
		assert_string_equal(ct_read_event_mnemonic(event, scratch), "OPEN");
		assert_string_equal(ct_read_event_item_name(event, 0, scratch), "rows");
		assert_string_equal(ct_read_event_item_name(event, 1, scratch), "data2");
		assert_int_equal(event->traced.items[0].value, 17);
		assert_memory_equal(event->traced.items[1].data, "a\"b", 3);
	}
	assert_null(ct_reader_next(back.reader));
	assert_int_equal(back.damages, 0);
	assert_null(ct_reader_source_process(back.reader, 1));
	ct_reader_destroy(back.reader);
	assert_int_equal(access("out/stream.0", F_OK), 0);
	assert_int_equal(access("out/stream.3", F_OK), 0);
}

static void a_directory_a_process(void **state)
{
	const struct ct_source_process hostile = {
		.index = 2, .host = "../..", .program = "a b/c", .jobname = "", .path = "", .pid = 1
	};
	const struct ct_source_process twin = { .index = 3,
						.host = "asterix",
						.program = "rts32",
						.jobname = "RTS32",
						.path = "",
						.pid = 4711 };
	struct ct_read_event events[] = { event_at(0, 1, NULL, 0), event_at(1, 1, NULL, 0),
					  event_at(2, 1, NULL, 0), event_at(3, 1, NULL, 0) };
	struct back back;
	unsigned count = 0;

	(void)state;
	events[1].source_process = &other_source_process;
	events[2].source_process = &hostile;
	events[3].source_process = &twin;
	write_trace("many", false, events, 4);
	assert_int_equal(access("many/asterix.rts32.4711/metadata", F_OK), 0);
	assert_int_equal(access("many/asterix.rts32.4711-2/metadata", F_OK), 0);
	assert_int_equal(access("many/host.trace.4711/metadata", F_OK), 0);
	assert_int_equal(access("many/_.__...a_b_c.1/metadata", F_OK) == 0 ||
				 access("many/_.___.a_b_c.1/metadata", F_OK) == 0 ||
				 access("many/_._...a_b_c.1/metadata", F_OK) == 0,
			 1);
	open_back(&back, "many");
	while (ct_reader_next(back.reader) != NULL)
		count++;
	assert_int_equal(count, 4);
	ct_reader_destroy(back.reader);
}

/* The packets of a stream file; none is larger than a writer may make it. */
static unsigned count_packets(const char *path)
{
	struct ct_packet_head head;
	struct ct_buf bytes;
	unsigned count = 0;

	ct_buf_init(&bytes);
	assert_int_equal(ct_os_read_file(path, 64 << 20, &bytes), CTRACE_OK);
	for (size_t at = 0; at < bytes.size; at += head.packet_bits / 8, count++) {
		assert_int_equal(ct_packet_decode_head((unsigned char *)bytes.data + at,
						       bytes.size - at, &head),
				 CTRACE_OK);
		assert_true(head.packet_bits / 8 <= CT_PACKET_CONTENT);
		assert_int_equal(head.sequence, count);
	}
	ct_buf_fini(&bytes);
	return count;
}

static void packets_are_bounded_and_merge_again(void **state)
{
	static char text[3000];
	const struct ctrace_event_item item = { .type = CTRACE_TYPE_TEXT,
						.size = sizeof text,
						.data = text };
	struct ct_export_options options = { .directory = "big", .has_one_trace = true };
	struct ct_read_event event = event_at(0, 1, &item, 1);
	const struct ct_read_event *read;
	struct back back;
	void *self;

	(void)state;
	memset(text, 'x', sizeof text);
	assert_int_equal(ct_export_trace.open(&options, &self), CTRACE_OK);
	for (unsigned i = 0; i < 1000; i++) {
		event.traced.time_ns++;
		event.traced.tid = i % 7;
		ct_export_trace.add(self, &event);
	}
	assert_int_equal(ct_export_trace.end(self), CTRACE_OK);
	ct_export_trace.close(self);
	assert_in_range(count_packets("big/stream.0"), 7, 8); /* 143 events of 3 KB */
	open_back(&back, "big");
	for (unsigned i = 0; i < 1000; i++) {
		read = ct_reader_next(back.reader);
		assert_non_null(read);
		assert_int_equal(read->traced.tid, i % 7);
		assert_int_equal(read->traced.items[0].size, sizeof text);
	}
	assert_null(ct_reader_next(back.reader));
	assert_int_equal(back.damages, 0);
	ct_reader_destroy(back.reader);
}

static void lose_events(void *self, const struct ct_source_process *source_process, uint64_t events)
{
	const struct ct_read_note lost = { .kind = CT_NOTE_LOST,
					   .events = events,
					   .source_process = source_process,
					   .from_ns = 1700000000000000000u };

	ct_export_trace.lost(self, &lost);
}

static void losses_are_carried(void **state)
{
	struct ct_export_options options = { .directory = "lossy" };
	struct ct_read_event event = event_at(0, 1, NULL, 0);
	struct back back;
	unsigned count = 0;
	void *self;

	(void)state;
	assert_int_equal(ct_export_trace.open(&options, &self), CTRACE_OK);
	lose_events(self, &event_source_process, 1); /* before the first event */
	ct_export_trace.add(self, &event);
	lose_events(self, &event_source_process, 20);
	event.traced.time_ns++;
	event.traced.tid = 2;
	ct_export_trace.add(self, &event);
	lose_events(self, NULL, 300); /* nobody knows whose */
	event.traced.time_ns++;
	ct_export_trace.add(self, &event);
	lose_events(self, &event_source_process, 4000);  /* behind the last one */
	lose_events(self, &other_source_process, 50000); /* of a process without an event */
	assert_int_equal(ct_export_trace.end(self), CTRACE_OK);
	ct_export_trace.close(self);
	open_back(&back, "lossy");
	while (ct_reader_next(back.reader) != NULL)
		count++;
	assert_int_equal(count, 3);
	assert_int_equal(back.lost, 54321);
	assert_int_equal(back.damages, 0);
	ct_reader_destroy(back.reader);
}

static void a_directory_that_holds_something_is_left_alone(void **state)
{
	struct ct_export_options options = { .directory = "full" };
	void *self = NULL;

	(void)state;
	assert_int_equal(mkdir("full", 0700), 0);
	assert_int_equal(mkdir("full/mine", 0700), 0);
	assert_int_equal(ct_export_trace.open(&options, &self), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOTEMPTY);
	assert_int_equal(rmdir("full/mine"), 0);
	assert_int_equal(ct_export_trace.open(&options, &self), CTRACE_OK);
	ct_export_trace.close(self);
}

static void what_cannot_be_written_is_reported(void **state)
{
	struct ct_export_options options = { .directory = "failing", .has_one_trace = true };
	struct ct_read_event event = event_at(0, 1, NULL, 0);
	void *self;

	(void)state;
	assert_int_equal(ct_export_trace.open(&options, &self), CTRACE_OK);
	ct_export_trace.add(self, &event);
	assert_int_equal(rmdir("failing"), 0);
	assert_int_equal(ct_export_trace.end(self), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOENT);
	ct_export_trace.close(self);
}

/* The disk is full from `bytes` a file on. */
static void assert_nothing_stays(const char *directory, bool has_one_trace, rlim_t bytes,
				 bool is_there)
{
	const struct rlimit full = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY },
			    free_again = { RLIM_INFINITY, RLIM_INFINITY };
	const struct ctrace_event_item item = text_item("a text that takes room");
	struct ct_export_options options = { .directory = directory,
					     .has_one_trace = has_one_trace };
	struct ct_read_event events[] = { event_at(0, 1, &item, 1), event_at(1, 1, &item, 1) };
	enum ctrace_status status;
	void *self;

	events[1].traced.tid = events[0].traced.tid + 1;
	assert_int_equal(ct_export_trace.open(&options, &self), CTRACE_OK);
	ct_export_trace.add(self, &events[0]);
	ct_export_trace.add(self, &events[1]);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	status = ct_export_trace.end(self);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &free_again), 0);
	assert_int_equal(status, CTRACE_OS_ERROR);
	assert_int_equal(errno, EFBIG);
	ct_export_trace.close(self);
	assert_int_equal(access(directory, F_OK), is_there ? 0 : -1);
	assert_int_equal(rmdir(directory), is_there ? 0 : -1); /* which is empty */
}

static void half_a_trace_does_not_stay(void **state)
{
	(void)state;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_nothing_stays("half", true, 10, false);
	assert_nothing_stays("half", false, 10, false);
	/* the streams are whole, the metadata are not */
	assert_nothing_stays("half", true, 1000, false);
	assert_nothing_stays("half", false, 1000, false);
	assert_int_equal(mkdir("mine", 0700), 0);
	assert_nothing_stays("mine", true, 1000, true);
}

int test_export_trace(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_back),
		cmocka_unit_test(a_directory_a_process),
		cmocka_unit_test(packets_are_bounded_and_merge_again),
		cmocka_unit_test(losses_are_carried),
		cmocka_unit_test(a_directory_that_holds_something_is_left_alone),
		cmocka_unit_test(what_cannot_be_written_is_reported),
		cmocka_unit_test(half_a_trace_does_not_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
