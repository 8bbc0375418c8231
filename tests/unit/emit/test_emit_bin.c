/*
 * test_emit_bin.c - BINFILE as a user meets it: properties, names, generations, failures; what it
 * writes goes through babeltrace2.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

static void default_name_and_modes(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 3 };
	struct stat info;

	umask(0);
	fixture_open(f, "");
	assert_int_equal(write_numbered(f, &stream, 0, 5), CTRACE_OK);
	umask(022);
	assert_int_equal(stat("prog.binfile.4711.ctb", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	assert_int_equal(stat("prog.binfile.4711.ctb/metadata", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(stat("prog.binfile.4711.ctb/stream.3", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_true(strstr(f->place.path, "/prog.binfile.4711.ctb") != NULL);
	assert_int_equal(stream.offset, info.st_size);
	assert_int_equal(f->place.offset, file_size("prog.binfile.4711.ctb/metadata"));
	/* While it is being written it can be read. */
	assert_numbers("prog.binfile.4711.ctb", 0, 5);
	fixture_close(f);
	assert_numbers("prog.binfile.4711.ctb", 0, 5);
}

static void viewer_sees_names_levels_and_types(void **state)
{
	struct fixture *f = *state;
	/* as a program gives them; addresses are little-endian already */
	uint64_t address = htole64(0x7FFF12345678);
	uint32_t number = 42;
	int64_t minus_two = -2;
	struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 7, .data = "say \"x\"" },
		{ .type = CTRACE_TYPE_BINARY, .size = 3, .data = "\x01\xAB\xFF" },
		{ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = &address },
		{ .type = CTRACE_TYPE_COMP5, .size = 4, .data = &number },
		{ .type = CTRACE_TYPE_COMPX, .size = 3, .data = "\x01\0\0" },
		{ .type = CTRACE_TYPE_UTF8, .size = 3, .data = "\xE2\x82\xAC" },
		{ .type = CTRACE_TYPE_COMP5S, .size = 8, .data = &minus_two },
		{ .type = CTRACE_TYPE_COMPXS, .size = 5, .data = "\xFF\xFF\xFF\xFF\xFD" },
		{ .type = CTRACE_TYPE_TEXT, .size = 0, .data = NULL },
		{ .type = CTRACE_TYPE_BINARY, .size = 0, .data = NULL },
	};
	static const char *const wanted[] = {
		"[2023-11-14 22:13:20.000000001]",
		"host1:prog:(4711):TRACE_ERR (3) MF.RTS:255: { pid = 4711, tid = 99 }, { data1_len = 7,",
		"data1 = \"say \\\"x\\\"\"",
		"data2 = [ [0] = 0x1, [1] = 0xAB, [2] = 0xFF ]",
		"data3 = 0x7FFF12345678,",
		"data4 = 42,",
		"data5 = 65536,",
		"data6 = \"\xE2\x82\xAC\",",
		"data7 = -2,",
		"data8 = -3,",
		"data9 = \"\",",
		"data10 = [ ] }",
	};
	struct ctrace_event event = {
		.time_ns = START_NS + 1,
		.component = "MF.RTS",
		.component_size = 6,
		.event_id = 255,
		.level = CTRACE_ERROR,
		.pid = 4711,
		.tid = 99,
		.item_count = CT_COUNT(items),
		.items = items,
	};
	struct ctrace_stream stream = { .id = 0 };
	char *text;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	text = babeltrace(
		"--fields=loglevel,trace:hostname,trace:procname,trace:vpid --clock-date t.ctb",
		NULL);
	for (size_t i = 0; i < CT_COUNT(wanted); i++)
		if (strstr(text, wanted[i]) == NULL)
			fail_msg("no %s in %s", wanted[i], text);
	free(text);
}

/* Everything that is legal but rare, in one trace, without a word of diagnostic from the viewer. */
static void viewer_reads_extremes(void **state)
{
	static unsigned char big[65536];
	static struct ctrace_event_item many[CTRACE_MAX_ITEMS], widths[64];
	static struct ctrace_event events[1300];
	struct fixture *f = *state;
	struct ctrace_event_item large[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 65536, .data = big },
		{ .type = CTRACE_TYPE_BINARY, .size = 65535, .data = big },
		{ .type = CTRACE_TYPE_UTF8, .size = 256, .data = big },
	};
	struct ctrace_stream streams[3] = { { .id = 0 }, { .id = 11 }, { .id = 4095 } };
	uint32_t count = 0, width_count = 0;
	char *text;

	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (unsigned char)(i * 13);
	for (uint32_t i = 0; i < CTRACE_MAX_ITEMS; i++)
		many[i] = (struct ctrace_event_item){
			.type = i % CTRACE_TYPE_COUNT,
			.size = i % CTRACE_TYPE_COUNT == CTRACE_TYPE_ADDRESS ? 8 : i / 8 % 9,
			.data = big + i
		};
	for (uint32_t type = CTRACE_TYPE_COMP5; type <= CTRACE_TYPE_COMPXS; type++)
		for (uint32_t size = 1; type != CTRACE_TYPE_UTF8 && size <= 8; size++)
			widths[width_count++] = (struct ctrace_event_item){ .type = type,
									    .size = size,
									    .data = big + size };
	for (uint32_t i = 0; i < CT_COUNT(events); i++) {
		struct ctrace_event *event = &events[count++];

		*event = (struct ctrace_event){
			.time_ns =
				/* stands still at the end */
			START_NS + (uint64_t)i * (i % 100 == 0 ? 1000000000u : 1000u) * (i < 700),
			.component = i % 2 == 0 ? "A.B" : "we\"ird\n\\\x1B[31m\xFF",
			.component_size = i % 2 == 0 ? 3 : 14,
			.component_id = i % 2,
			/* more classes than the short form has ids */
			.event_id = i < 1200 ? i : UINT32_MAX - i,
			.level = i % CTRACE_LEVEL_COUNT,
			.pid = 4711,
			.tid = 1 + i / 400,
			.stream = i % 3,
		};
		switch (i % 50) {
		case 1:
			event->items = large;
			event->item_count = 3;
			break;
		case 2:
			event->items = widths;
			event->item_count = width_count;
			break;
		case 3:
			event->items = many;
			event->item_count = CTRACE_MAX_ITEMS;
			break;
		case 4:
			event->items = many;
			event->item_count = 200;
			break;
		default:
			break;
		}
	}
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_events(f, events, count, streams, 3), CTRACE_OK);
	fixture_close(f);
	text = babeltrace("t.ctb", NULL);
	assert_int_equal(count_lines(text), count);
	assert_null(strchr(text, '\x1B'));
	free(text);
}

static void two_traces_merge_by_time(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=a.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 2), CTRACE_OK);
	fixture_close(f);
	memset(&f->place, 0, sizeof f->place);
	stream = (struct ctrace_stream){ .id = 0 };
	fixture_open(f, "FILE=b.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 2, 2), CTRACE_OK);
	fixture_close(f);
	assert_numbers("b.ctb a.ctb", 0, 4);
}

static void generations_turn_and_overwrite(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream streams[2] = { { .id = 0 }, { .id = 1 } };
	unsigned next = 0;
	uint32_t last = 1, turns = 0;
	unsigned first_of[4] = { 0 };

	fixture_open(f, "FILE=t.ctb\nMAXFILESIZE=12\nMAXGENERATION=3\n");
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb_1");
	while (turns < 5) {
		struct ctrace_stream *stream = &streams[next / 10 % 5 == 4];
		unsigned first = next;

		assert_int_equal(write_numbered(f, stream, next, 10), CTRACE_OK);
		next += 10;
		if (f->place.extra == last)
			continue;
		assert_int_equal(f->place.extra, last % 3 + 1);
		last = (uint32_t)f->place.extra;
		first_of[last] = first;
		turns++;
	}
	/* 5 turns: now in generation 3, after 1 and 2 were written a second time. */
	assert_int_equal(last, 3);
	fixture_close(f);
	assert_int_equal(access("t.ctb_4", F_OK), -1);
	assert_numbers("t.ctb_1", first_of[1], first_of[2] - first_of[1]);
	assert_numbers("t.ctb_2", first_of[2], first_of[3] - first_of[2]);
	assert_numbers("t.ctb_3", first_of[3], next - first_of[3]);
	assert_numbers("t.ctb_3 t.ctb_1 t.ctb_2", first_of[1], next - first_of[1]);
}

/* However large its batches are: a directory has more than its limit only when it has one batch. */
static void generation_keeps_to_its_size(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	uint32_t turns = 0;

	fixture_open(f, "FILE=t.ctb\nMAXFILESIZE=64\nMAXGENERATION=2\n");
	for (unsigned first = 0; turns < 3; first += 1000) {
		char path[64];
		uint32_t before = (uint32_t)f->place.extra;
		struct stat info;

		/* some 18 KB */
		assert_int_equal(write_numbered(f, &stream, first, 1000), CTRACE_OK);
		turns += f->place.extra != before;
		(void)snprintf(path, sizeof path, "t.ctb_%u/stream.0", (unsigned)f->place.extra);
		assert_int_equal(stat(path, &info), 0);
		assert_true((uint64_t)info.st_size + f->place.offset <= 64 * 1024);
	}
	fixture_close(f);
}

/* Metadata count: events of many ids are little in the streams and much there. */
static void a_generation_is_no_larger_than_it_may_be(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	uint32_t id = 0;

	fixture_open(f, "FILE=t.ctb\nMAXFILESIZE=64\nMAXGENERATION=3\n");
	for (unsigned batch = 0; batch < 40; batch++) {
		struct ctrace_event events[20];
		struct ctrace_batch given = {
			.events = events, .event_count = 20, .streams = &stream, .stream_count = 1
		};

		memset(events, 0, sizeof events);
		for (unsigned i = 0; i < 20; i++)
			events[i] = (struct ctrace_event){ .component = "C",
							   .component_size = 1,
							   .event_id = id++,
							   .time_ns = f->now_ns++ };
		assert_int_equal(write_as_runs(&ct_emit_binfile, f->self, &given), CTRACE_OK);
	}
	assert_true(f->place.extra > 1);
	fixture_close(f);
	for (unsigned i = 1; i < f->place.extra; i++) {
		struct stat metadata, events;
		char path[32];

		(void)snprintf(path, sizeof path, "t.ctb_%u/metadata", i);
		assert_int_equal(stat(path, &metadata), 0);
		(void)snprintf(path, sizeof path, "t.ctb_%u/stream.0", i);
		assert_int_equal(stat(path, &events), 0);
		/* and the closing mark */
		assert_in_range(metadata.st_size + events.st_size, 32u << 10, (64u << 10) + 64);
	}
}

static void the_group_may_read_all_of_it(void **state)
{
	static const char *const names[] = { "t.ctb/metadata", "t.ctb/stream.0",
					     "t.ctb/stream.lost" };
	const uint64_t totals[CTRACE_LOSS_COUNT] = { 9 };
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct stat info;

	fixture_open(f, "FILE=t.ctb\nMODE=0640\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	ct_emit_binfile.lost(f->self, totals);
	fixture_close(f);
	assert_int_equal(stat("t.ctb", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0750);
	for (size_t i = 0; i < CT_COUNT(names); i++) {
		assert_int_equal(stat(names[i], &info), 0);
		assert_int_equal(info.st_mode & 0777, 0640);
	}
}

static void an_empty_file_is_the_default(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, "FILE=\n");
	assert_string_equal(strrchr(f->place.path, '/'), "/prog.binfile.4711.ctb");
	fixture_close(f);
}

static void location_then_logs_then_working_directory(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\nLOCATION=new/deep\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	fixture_close(f);
	assert_numbers("new/deep/t.ctb", 0, 1);
	memset(&f->place, 0, sizeof f->place);
	f->context.directory = "/proc/nowhere";
	fixture_open(f, "FILE=t.ctb\nLOCATION=/proc/nowhere\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	assert_numbers("t.ctb", 0, 1);
}

/* Nothing that fails on the way loses or doubles an event. */
static void failed_write_is_as_if_it_had_not_been(void **state)
{
	static const enum ct_os_call calls[] = { CT_OS_OPEN, CT_OS_WRITE, CT_OS_TRUNCATE };
	struct fixture *f = *state;
	struct ctrace_stream streams[3] = { { .id = 0 }, { .id = 1 }, { .id = 2 } };
	unsigned next = 0, failures = 0;

	fixture_open(f, "FILE=t.ctb\n");
	for (unsigned skip = 0; skip < 9; skip++) {
		for (size_t call = 0; call < CT_COUNT(calls); call++) {
			struct ctrace_event events[3];
			struct ctrace_event_item items[3];
			char texts[3][24];
			struct ctrace_stream before[3];
			struct ctrace_place place = f->place;
			enum ctrace_status status;

			for (uint32_t i = 0; i < 3; i++) {
				(void)snprintf(texts[i], sizeof texts[i], "number %u.", next + i);
				/* new classes each time */
				events[i] = text_event(f, &items[i], "COMP", next + i, texts[i]);
				events[i].stream = i;
			}
			memcpy(before, streams, sizeof before);
			ct_os_fail(calls[call], skip, 1, ENOSPC);
			status = write_events(f, events, 3, streams, 3);
			ct_os_fail(calls[call], 0, 0, 0);
			if (status != CTRACE_OK) {
				failures++;
				assert_int_equal(status, CTRACE_OUTPUT_ERROR);
				assert_int_equal(errno, ENOSPC);
				assert_memory_equal(before, streams, sizeof before);
				assert_memory_equal(&place, &f->place, sizeof place);
				if (next > 0)
					assert_numbers("t.ctb", 0, next);
				assert_int_equal(write_events(f, events, 3, streams, 3), CTRACE_OK);
			}
			next += 3;
		}
	}
	assert_true(failures >= 5); /* a stream that cannot be opened, four writes, a cut */
	assert_numbers("t.ctb", 0, next);
}

/* Even cutting back fails: the next write does it first. */
static void failed_cut_is_made_up_for(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	f->now_ns += 1000000;
	struct ctrace_event_item items[2];
	struct ctrace_event events[2] = { text_event(f, &items[0], "NEW", 1, "number 10."),
					  text_event(f, &items[1], "NEW", 2, "number 11.") };
	events[1].stream = 1;
	struct ctrace_stream two[2] = { stream, { .id = 1 } };

	/* The metadata and the first stream are written, the second is not, and nothing can be cut.
	 */
	ct_os_fail(CT_OS_WRITE, 2, 1, EIO);
	ct_os_fail(CT_OS_TRUNCATE, 1, 10, EIO);
	assert_int_equal(write_events(f, events, 2, two, 2), CTRACE_OUTPUT_ERROR);
	assert_true(file_size("t.ctb/stream.0") > stream.offset);
	assert_int_equal(write_events(f, events, 2, two, 2), CTRACE_OUTPUT_ERROR);
	ct_os_fail(CT_OS_TRUNCATE, 0, 0, 0);
	assert_int_equal(write_events(f, events, 2, two, 2), CTRACE_OK);
	assert_numbers("t.ctb", 0, 12);
}

static void failed_generation_leaves_the_old_one(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_place place;

	fixture_open(f, "FILE=t.ctb\nMAXFILESIZE=9\nMAXGENERATION=3\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1000), CTRACE_OK);
	place = f->place;
	ct_os_fail(CT_OS_WRITE, 0, 100, ENOSPC);
	assert_int_equal(write_numbered(f, &stream, 2, 1), CTRACE_OUTPUT_ERROR);
	ct_os_fail(CT_OS_WRITE, 0, 0, 0);
	assert_memory_equal(&place, &f->place, sizeof place);
	assert_int_equal(access("t.ctb_2", F_OK), -1);
	/* Its metadata are there, so it is the place.  A class and the packets do not come in: it
	 * stays without an event. */
	for (unsigned skip = 2; skip < 4; skip++) {
		ct_os_fail(CT_OS_WRITE, skip == 2 ? 2 : 1, 100, ENOSPC);
		assert_int_equal(write_numbered(f, &stream, 2, 1), CTRACE_OUTPUT_ERROR);
		ct_os_fail(CT_OS_WRITE, 0, 0, 0);
		assert_int_equal(f->place.extra, 2);
		assert_numbers("t.ctb_2", 0, 0);
	}
	assert_int_equal(write_numbered(f, &stream, 2, 1), CTRACE_OK);
	assert_int_equal(f->place.extra, 2);
	assert_numbers("t.ctb_2", 2, 1);
}

static void removed_directory_is_made_again(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	assert_int_equal(system("rm -r t.ctb"), 0);
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	assert_int_equal(write_numbered(f, &stream, 20, 10), CTRACE_OK);
	assert_numbers("t.ctb", 10, 20);
}

/* ---- rotate: an operator wants a new directory ---- */

static void rotating_turns_generations(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\nMAXGENERATION=3\n");
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OK);
	/* nothing has been written to it: it is new as it is */
	assert_int_equal(f->place.extra, 1);
	for (unsigned first = 0; first < 40; first += 10) {
		assert_int_equal(write_numbered(f, &stream, first, 10), CTRACE_OK);
		assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OK);
		/* asked twice: one */
		assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OK);
	}
	assert_int_equal(f->place.extra, 2);
	assert_int_equal(write_numbered(f, &stream, 40, 5), CTRACE_OK);
	assert_numbers("t.ctb_3", 20, 10);
	assert_numbers("t.ctb_1", 30, 10);
	assert_numbers("t.ctb_2", 40, 5);
	fixture_close(f);
	assert_numbers("t.ctb_3 t.ctb_1 t.ctb_2", 20, 25);
}

static void rotating_a_single_directory_goes_by_its_name(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_UNSUPPORTED);
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	assert_int_equal(rename("t.ctb", "old.ctb"), 0);
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OK);
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_UNSUPPORTED);
	assert_int_equal(write_numbered(f, &stream, 20, 10), CTRACE_OK);
	assert_numbers("old.ctb", 0, 20);
	assert_numbers("t.ctb", 20, 10);
	assert_int_equal(rename("t.ctb", "older.ctb"), 0);
	assert_int_equal(mkdir("t.ctb", 0700), 0); /* somebody's, empty */
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OK);
	assert_int_equal(write_numbered(f, &stream, 30, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 30, 10);
}

static void what_cannot_be_rotated_goes_on(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_place place;

	fixture_open(f, "FILE=t.ctb\nMAXGENERATION=3\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	place = f->place;
	ct_os_fail(CT_OS_WRITE, 0, 100, ENOSPC);
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OUTPUT_ERROR);
	ct_os_fail(CT_OS_WRITE, 0, 0, 0);
	assert_memory_equal(&place, &f->place, sizeof place);
	assert_int_equal(access("t.ctb_2", F_OK), -1);
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	assert_numbers("t.ctb_1", 0, 20);
}

/* Killed when the new directory has events that are not committed: its place is, so they are found
 * and cut; the ring's place still speaks of the old directory. */
static void recovery_after_rotating(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 }, committed;
	struct ctrace_place place;

	fixture_open(f, "FILE=t.ctb\nMAXGENERATION=3\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	assert_int_equal(ct_emitter_rotate(&ct_emit_binfile, f->self), CTRACE_OK);
	place = f->place;
	committed = stream;
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	fixture_close(f);

	f->place = place;
	f->context.recovering = true;
	fixture_open(f, NULL);
	assert_int_equal(write_numbered(f, &committed, 10, 15), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb_1", 0, 10);
	assert_numbers("t.ctb_2", 10, 15);
}

/* A ring's first events were written, and the commit failed: they come again, and nothing may say
 * that they are there already. */
static void uncommitted_events_do_not_count(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream first = { .id = 0 }, second = { .id = 1 };
	struct ctrace_place place;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &first, 0, 10), CTRACE_OK);
	assert_int_equal(write_numbered(f, &second, 10, 1), CTRACE_OK);
	place = f->place;
	second = (struct ctrace_stream){ .id = 2 };
	assert_int_equal(write_numbered(f, &second, 11, 9), CTRACE_OK);
	f->context.uncommitted = true;
	fixture_close(f);
	f->context.uncommitted = false;

	f->place = place;
	fixture_open(f, NULL);
	second = (struct ctrace_stream){ .id = 2 };
	assert_int_equal(write_numbered(f, &second, 11, 9), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 20);
}

/* ---- a program that closes every descriptor ---- */

#define PROGRAM_FILES 40

static const char *wanted_point;
static unsigned points_to_pass;
/* by a directory of ours, as when another of our threads opens its files again */
static bool numbers_are_taken;

static void program_takes_all_descriptors(void)
{
	char name[32];

	assert_int_equal(close_range(3, ~0u, 0), 0);
	if (numbers_are_taken) {
		int other = ct_os_high(open("other", O_RDONLY | O_DIRECTORY));

		for (unsigned i = 1; i < PROGRAM_FILES; i++)
			assert_true(fcntl(other, F_DUPFD_CLOEXEC, other) > other);
		return;
	}
	for (unsigned i = 0; i < PROGRAM_FILES; i++) {
		int fd;

		(void)snprintf(name, sizeof name, "program.%u", i);
		fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, "precious\n", 9, 0), 9);
	}
}

static void take_at_point(const char *name)
{
	if (strcmp(name, wanted_point) != 0 || points_to_pass-- > 0)
		return;
	ct_point_set(NULL);
	program_takes_all_descriptors();
}

static void assert_program_files_untouched(void)
{
	for (unsigned i = 0; i < PROGRAM_FILES; i++) {
		struct ct_buf text = { 0 };
		char name[32];

		(void)snprintf(name, sizeof name, "program.%u", i);
		assert_int_equal(ct_os_read_file(name, 1 << 20, &text), CTRACE_OK);
		assert_string_equal(ct_buf_text(&text), "precious\n");
		ct_buf_fini(&text);
	}
}

/* A new class, or the first event of a thread, needs other files than the batch before. */
static void closed_descriptors_cost_no_batch(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream streams[] = { { .id = 0 }, { .id = 1 } };
	struct ctrace_event_item item;
	struct ctrace_event event;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &streams[0], 0, 10), CTRACE_OK);
	assert_int_equal(close_range(3, ~0u, 0), 0);
	event = text_event(f, &item, "OTHER", 2, "number 10.");
	assert_int_equal(write_events(f, &event, 1, &streams[0], 1), CTRACE_OK);
	assert_int_equal(close_range(3, ~0u, 0), 0);
	event = text_event(f, &item, "COMP", 1, "number 11.");
	assert_int_equal(write_events(f, &event, 1, &streams[1], 1), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 12);
}

/* Held between the look at a descriptor and its use, at each use of a batch, while the program
 * closes everything and opens files of its own: they stay as they are, and each event is there once
 * in the end. */
static void programs_files_are_never_ours(void **state)
{
	static const char *const points[] = { "os.opened", "os.write", "os.truncate", "bin.lock",
					      "bin.reached" };
	struct fixture *f = *state;
	unsigned held = 0;

	assert_int_equal(system("mkdir other && touch other/stream.0 other/keep"), 0);
	for (unsigned turn = 0; turn < 4; turn++) {
		unsigned generations = turn % 2;

		numbers_are_taken = turn / 2;
		for (size_t point = 0; point < CT_COUNT(points); point++) {
			for (unsigned skip = 0; skip < 4; skip++) {
				struct ctrace_stream stream = { .id = 0 };
				enum ctrace_status status;

				memset(&f->place, 0, sizeof f->place);
				fixture_open(
					f, generations != 0
						   ? "FILE=t.ctb\nMAXFILESIZE=1\nMAXGENERATION=9\n"
						   : "FILE=t.ctb\n");
				assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
				wanted_point = points[point];
				points_to_pass = skip;
				ct_point_set(take_at_point);
				status = write_numbered(f, &stream, 10, 10);
				held += ct_point_reached == NULL;
				ct_point_set(NULL);
				f->now_ns -= status != CTRACE_OK ? 10000 : 0;
				for (unsigned i = 0; i < 3 && status != CTRACE_OK; i++)
					status = write_numbered(f, &stream, 10, 10);
				assert_int_equal(status, CTRACE_OK);
				if (access("program.0", F_OK) == 0)
					assert_program_files_untouched();
				fixture_close(f);
				assert_numbers(generations != 0 ? "t.ctb_*" : "t.ctb", 0, 20);
				assert_int_equal(close_range(3, ~0u, 0), 0);
				/* An empty file may be left in the directory that has the number;
				 * nothing of it is changed or gone. */
				assert_int_equal(
					system("rm -f other/.metadata.new other/stream.[1-9]; test ! -s other/stream.0"),
					0);
				assert_int_equal(
					system("test $(ls -A other | wc -l) = 2 && rm -rf t.ctb* program.*"),
					0);
				f->context.start_ns++;
			}
		}
	}
	assert_true(held >= 16);
}

/* ---- a file system that does not answer ---- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_emit_bin(void)
{
	const struct CMUnitTest tests[] = {
		TEST(default_name_and_modes),
		TEST(viewer_sees_names_levels_and_types),
		TEST(viewer_reads_extremes),
		TEST(two_traces_merge_by_time),
		TEST(generations_turn_and_overwrite),
		TEST(generation_keeps_to_its_size),
		TEST(a_generation_is_no_larger_than_it_may_be),
		TEST(the_group_may_read_all_of_it),
		TEST(an_empty_file_is_the_default),
		TEST(location_then_logs_then_working_directory),
		TEST(failed_write_is_as_if_it_had_not_been),
		TEST(failed_cut_is_made_up_for),
		TEST(failed_generation_leaves_the_old_one),
		TEST(removed_directory_is_made_again),
		TEST(rotating_turns_generations),
		TEST(rotating_a_single_directory_goes_by_its_name),
		TEST(what_cannot_be_rotated_goes_on),
		TEST(recovery_after_rotating),
		TEST(uncommitted_events_do_not_count),
		TEST(closed_descriptors_cost_no_batch),
		TEST(programs_files_are_never_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
