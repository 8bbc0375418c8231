/*
 * test_trcout.c - the directory of a TRCOUT: segments, limits, what is there already.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../emit/run_fixture.h"
#include "../session/session_fixture.h"
#include "writer/ring_consumer.h"

#include <dirent.h>

static struct ct_procedure procedure;
static struct ct_trcout trcout;
static struct ct_link fake_link;
static struct ct_ring_head *ring_head;
static struct ct_ring fake_rings[1];
static struct ctrace_place place;
static char reported[2000];
static void *output;
static uint32_t next_number;

static void note(const char *text, void *user)
{
	(void)user;
	(void)strncat(reported, text, sizeof reported - strlen(reported) - 2);
	(void)strcat(reported, "\n");
}

static const char *no_property(const struct ctrace_emitter_context *context, const char *name)
{
	(void)context;
	(void)name;
	return NULL;
}

static struct ctrace_emitter_context context = { .size = sizeof context,
						 .property = no_property,
						 .place = &place };

static void open_trcout(enum ct_writer_mode mode, uint64_t primary, uint64_t secondary)
{
	memset(&procedure, 0, sizeof procedure);
	memset(&trcout, 0, sizeof trcout);
	(void)snprintf(procedure.name, sizeof procedure.name, "WR1");
	procedure.mode = mode;
	procedure.trcout_count = 1;
	procedure.number[0] = 3;
	(void)snprintf(procedure.trcout[0].path, sizeof procedure.trcout[0].path, "%s/data", room);
	procedure.trcout[0].primary = primary;
	procedure.trcout[0].secondary = secondary;
	trcout.procedure = &procedure;
	trcout.message = note;
	reported[0] = '\0';
	assert_int_equal(ct_trcout_open(&trcout), CTRACE_OK);
	ct_trcout_select(&trcout, &fake_link);
}

static void open_output(void)
{
	memset(&place, 0, sizeof place);
	assert_int_equal(ct_trcout_emitter.open(&context, &output), CTRACE_OK);
}

static void write_events(uint32_t count)
{
	static unsigned char data[200];
	struct ctrace_event_item item = { .type = CTRACE_TYPE_BINARY,
					  .size = sizeof data,
					  .data = data };
	struct ctrace_event *events = calloc(count, sizeof *events);
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_batch batch = { .size = sizeof batch,
				      .events = events,
				      .event_count = count,
				      .streams = &stream,
				      .stream_count = 1 };

	assert_non_null(events);
	for (uint32_t i = 0; i < count; i++)
		events[i] = (struct ctrace_event){ .time_ns = ++next_number * 1000,
						   .component = "C",
						   .component_size = 1,
						   .event_id = 7,
						   .level = 1,
						   .pid = 4711,
						   .tid = 4711,
						   .item_count = 1,
						   .items = &item };
	assert_int_equal(write_as_runs(&ct_trcout_emitter, output, &batch), CTRACE_OK);
	free(events);
}

static uint32_t count_entries(const char *path)
{
	char whole[600];
	DIR *directory;
	struct dirent *entry;
	uint32_t count = 0;

	(void)snprintf(whole, sizeof whole, "%s/data/%s", room, path);
	directory = opendir(whole);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		count += entry->d_name[0] != '.';
	if (directory != NULL)
		(void)closedir(directory);
	return count;
}

static int setup(void **state)
{
	(void)state;
	enter_room();
	ring_head = calloc(1, sizeof *ring_head);
	fake_rings[0].head = ring_head;
	fake_link.ring = fake_rings;
	fake_link.info = (struct ct_trace_info){ .pid = 4711,
						 .asid = 1,
						 .jobname = "JOB/../1",
						 .program = "p",
						 .host = "h",
						 .system = "s" };
	next_number = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(ring_head);
	leave_room();
	return 0;
}

static void a_process_has_a_directory_whatever_its_job_is_called(void **state)
{
	char path[600];

	(void)state;
	open_trcout(CT_WRITER_WRAP, 1 << 20, 0);
	open_output();
	write_events(10);
	(void)snprintf(path, sizeof path, "%s/data/00000001/JOB____1.4711", room);
	assert_string_equal(place.path, path);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(trcout.events, 10);
	assert_true(trcout.used > 2000 && trcout.used == trcout.bytes &&
		    trcout.segment[0].bytes == trcout.used);
	ct_trcout_emitter.close(output);
	/* The same process again, without a place: another directory. */
	open_output();
	(void)snprintf(path, sizeof path, "%s/data/00000001/JOB____1.4711.1", room);
	assert_string_equal(place.path, path);
	ct_trcout_emitter.close(output);
}

static void wrapping_drops_the_oldest_segment(void **state)
{
	(void)state;
	open_trcout(CT_WRITER_WRAP, 1 << 20, 0);
	open_output();
	for (uint32_t i = 0; i < 300; i++) {
		write_events(100);
		assert_true(trcout.used <= trcout.limit + (64 << 10));
	}
	assert_int_equal(trcout.events, 30000);
	assert_true(trcout.segments <= CT_SEGMENTS + 1 && trcout.segments >= CT_SEGMENTS - 1);
	assert_int_equal(count_entries(""), trcout.segments);
	assert_true(trcout.wrapped_events > 24000 && trcout.wrapped_events < 26500);
	assert_true(trcout.used > (trcout.limit / 8) * 6);
	assert_string_equal(reported, "");
	ct_trcout_emitter.close(output);
}

static void a_full_one_counts_and_says_so_once(void **state)
{
	uint64_t events, used;

	(void)state;
	open_trcout(CT_WRITER_NOWRAP, 64 << 10, 4 << 10);
	assert_int_equal(trcout.limit, (64 << 10) + 15 * (4 << 10));
	open_output();
	for (uint32_t i = 0; i < 20; i++)
		write_events(50);
	events = trcout.events;
	used = trcout.used;
	assert_true(events < 1000 && trcout.full_events == 1000 - events);
	assert_int_equal(ring_head->unwritten, trcout.full_events);
	assert_true(trcout.is_full);
	assert_non_null(strstr(reported, "CTR101W TRCOUT03 IS FULL"));
	assert_int_equal(strchr(reported, '\n')[1], '\0');
	assert_int_equal(trcout.segments, 1);
	ct_trcout_emitter.close(output);
	/* What is there counts the next time, too. */
	open_trcout(CT_WRITER_NOWRAP, 64 << 10, 4 << 10);
	assert_true(trcout.used >= used);
	open_output();
	write_events(1);
	assert_int_equal(trcout.events, 0);
	assert_int_equal(trcout.full_events, 1);
	ct_trcout_emitter.close(output);
}

static void an_earlier_runs_segments_are_the_oldest(void **state)
{
	char stranger[600];

	(void)state;
	open_trcout(CT_WRITER_WRAP, 1 << 20, 0);
	open_output();
	write_events(600);
	write_events(600);
	ct_trcout_emitter.close(output);
	(void)snprintf(stranger, sizeof stranger, "%s/data/notes", room);
	put_file(stranger, "mine", 4);
	open_trcout(CT_WRITER_WRAP, 1 << 20, 0);
	assert_int_equal(trcout.segments, 2);
	assert_int_equal(trcout.segment[0].number, 1);
	assert_int_equal(trcout.segment[1].number, 2);
	assert_true(trcout.used > 200000);
	open_output();
	for (uint32_t i = 0; i < 100; i++)
		write_events(100);
	assert_true(trcout.segment[0].number > 2);
	assert_int_equal(access(stranger, F_OK), 0);
	ct_trcout_emitter.close(output);
}

static void error_is_reported_once_a_kind_and_heals(void **state)
{
	static unsigned char data[1];
	struct ctrace_event_item item = { .type = CTRACE_TYPE_BINARY, .size = 1, .data = data };
	struct ctrace_event event = { .time_ns = 1,
				      .component = "C",
				      .component_size = 1,
				      .pid = 1,
				      .tid = 1,
				      .item_count = 1,
				      .items = &item };
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_batch batch = { .size = sizeof batch,
				      .events = &event,
				      .event_count = 1,
				      .streams = &stream,
				      .stream_count = 1 };

	(void)state;
	open_trcout(CT_WRITER_WRAP, 1 << 20, 0);
	open_output();
	for (uint32_t i = 0; i < 3; i++) {
		ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
		assert_int_equal(write_as_runs(&ct_trcout_emitter, output, &batch),
				 CTRACE_OUTPUT_ERROR);
	}
	assert_int_equal(trcout.failing, ENOSPC);
	assert_non_null(strstr(reported, "CTR102E TRCOUT03 CANNOT BE WRITTEN"));
	assert_int_equal(strchr(reported, '\n')[1], '\0');
	assert_int_equal(write_as_runs(&ct_trcout_emitter, output, &batch), CTRACE_OK);
	assert_int_equal(trcout.failing, 0);
	assert_int_equal(trcout.events, 1);
	ct_trcout_emitter.close(output);
}

/* A link in the place of a segment goes nowhere, and another user's directory is not ours to write
 * to. */
static void what_is_removed_is_in_the_directory(void **state)
{
	char target[600], link[600], file[600];
	int lock;

	(void)state;
	(void)snprintf(target, sizeof target, "%s/elsewhere", room);
	(void)snprintf(link, sizeof link, "%s/data", room);
	assert_int_equal(mkdir(target, 0700) | mkdir(link, 0700), 0);
	(void)snprintf(link, sizeof link, "%s/data/00000001", room);
	assert_int_equal(symlink(target, link), 0);
	(void)snprintf(file, sizeof file, "%s/elsewhere/trace", room);
	assert_int_equal(mkdir(file, 0700), 0);
	(void)snprintf(file, sizeof file, "%s/elsewhere/trace/metadata", room);
	put_file(file, "mine", 4);
	(void)snprintf(link, sizeof link, "%s/data/00000002", room);
	assert_int_equal(mkdir(link, 0700), 0);
	open_trcout(CT_WRITER_WRAP, 64 << 10, 0);
	open_output();
	for (uint32_t i = 0; i < 100; i++)
		write_events(100);
	assert_true(trcout.segment[0].number > 2);
	assert_int_equal(access(file, F_OK), 0);
	ct_trcout_emitter.close(output);
	assert_int_equal(ct_trcout_lock_directory(&trcout, &lock), CTRACE_OK);
	(void)close(lock);
	if (geteuid() != 0)
		return;
	(void)snprintf(link, sizeof link, "%s/data", room);
	assert_int_equal(chown(link, 65534, 65534), 0);
	assert_int_equal(ct_trcout_lock_directory(&trcout, &lock), CTRACE_DENIED);
}

int test_trcout(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_process_has_a_directory_whatever_its_job_is_called),
		TEST(wrapping_drops_the_oldest_segment),
		TEST(a_full_one_counts_and_says_so_once),
		TEST(an_earlier_runs_segments_are_the_oldest),
		TEST(error_is_reported_once_a_kind_and_heals),
		TEST(what_is_removed_is_in_the_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
