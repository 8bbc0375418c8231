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
static struct ct_trcout_group group;
static struct ct_trcout *const trcout = &group.trcout[0];
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

static const char *data_set(uint32_t i)
{
	static const char *const names[] = { "data", "data1", "data2" };

	return names[i];
}

static void close_trcouts(void)
{
	if (group.procedure != NULL)
		ct_trcout_group_close(&group);
	group.procedure = NULL;
}

static enum ctrace_status begin_trcouts(enum ct_writer_mode mode, uint64_t primary,
					uint64_t secondary, uint32_t count, bool is_rewritten)
{
	uint32_t index;

	close_trcouts();
	memset(&procedure, 0, sizeof procedure);
	memset(&group, 0, sizeof group);
	(void)snprintf(procedure.name, sizeof procedure.name, "WR1");
	procedure.mode = mode;
	procedure.trcout_count = count;
	for (uint32_t i = 0; i < count; i++) {
		procedure.number[i] = 3 + i;
		(void)snprintf(procedure.trcout[i].path, sizeof procedure.trcout[i].path, "%s/%s",
			       room, data_set(i));
		procedure.trcout[i].primary = primary;
		procedure.trcout[i].secondary = secondary;
		procedure.trcout[i].is_rewritten = is_rewritten;
	}
	group.procedure = &procedure;
	group.message = note;
	reported[0] = '\0';
	ct_trcout_select(&group, &fake_link);
	return ct_trcout_group_open(&group, &index);
}

static void open_trcouts(enum ct_writer_mode mode, uint64_t primary, uint32_t count)
{
	assert_int_equal(begin_trcouts(mode, primary, 0, count, false), CTRACE_OK);
}

static void open_trcout(enum ct_writer_mode mode, uint64_t primary, uint64_t secondary)
{
	assert_int_equal(begin_trcouts(mode, primary, secondary, 1, false), CTRACE_OK);
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

/* Bytes of all files in a directory of the room, and below it. */
static uint64_t size_below(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	uint64_t size = 0;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char inner[1500];
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		(void)snprintf(inner, sizeof inner, "%.1000s/%s", path, entry->d_name);
		if (lstat(inner, &info) == 0 && S_ISDIR(info.st_mode))
			size += size_below(inner);
		else
			size += (uint64_t)info.st_size;
	}
	if (directory != NULL)
		(void)closedir(directory);
	return size;
}

static uint64_t size_on_disk(const char *name)
{
	char path[600];

	(void)snprintf(path, sizeof path, "%s/%s", room, name);
	return size_below(path);
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
	close_trcouts();
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
	assert_int_equal(trcout->events, 10);
	assert_true(trcout->bytes > 2000 && trcout->used > trcout->segment[0].bytes &&
		    trcout->segment[0].bytes > trcout->bytes);
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
		assert_true(trcout->used <= trcout->limit && size_on_disk("data") <= trcout->limit);
	}
	assert_int_equal(trcout->events, 30000);
	assert_true(trcout->segments <= CT_SEGMENTS + 1 && trcout->segments >= CT_SEGMENTS - 1);
	assert_int_equal(count_entries(""), trcout->segments + 1); /* and what is lost */
	assert_true(trcout->wrapped_events > 24000 && trcout->wrapped_events < 26500);
	assert_true(trcout->used > (trcout->limit / 8) * 6);
	assert_string_equal(reported, "");
	ct_trcout_emitter.close(output);
}

static void a_full_one_counts_and_says_so_once(void **state)
{
	uint64_t events, used;

	(void)state;
	open_trcout(CT_WRITER_NOWRAP, 64 << 10, 4 << 10);
	assert_int_equal(trcout->limit, (64 << 10) + 15 * (4 << 10));
	open_output();
	for (uint32_t i = 0; i < 20; i++)
		write_events(50);
	events = trcout->events;
	used = trcout->used;
	assert_true(events < 1000 && trcout->full_events == 1000 - events);
	assert_int_equal(ring_head->unwritten, trcout->full_events);
	assert_true(group.is_full);
	assert_non_null(strstr(reported, "CTR101W TRCOUT03 IS FULL"));
	assert_int_equal(strchr(reported, '\n')[1], '\0');
	assert_int_equal(trcout->segments, 1);
	ct_trcout_emitter.close(output);
	assert_true(size_on_disk("data") <= trcout->limit);
	/* What is there counts the next time, too, unless it is to be written anew. */
	assert_int_equal(begin_trcouts(CT_WRITER_NOWRAP, 64 << 10, 4 << 10, 1, false),
			 CTRACE_BUFFER_TOO_SMALL);
	assert_true(trcout->used >= used);
	assert_int_equal(begin_trcouts(CT_WRITER_NOWRAP, 64 << 10, 4 << 10, 1, true), CTRACE_OK);
	open_output();
	write_events(1);
	assert_int_equal(trcout->events, 1);
	ct_trcout_emitter.close(output);
}

static void a_group_is_full_when_its_last_one_is(void **state)
{
	(void)state;
	open_trcouts(CT_WRITER_NOWRAP, 128 << 10, 3);
	open_output();
	for (uint32_t i = 0; i < 60; i++)
		write_events(50);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(group.trcout[i].events > 300 && group.trcout[i].segments == 1);
		assert_true(size_on_disk(data_set(i)) <= 128 << 10 &&
			    size_on_disk(data_set(i)) > 100 << 10);
	}
	assert_int_equal(group.trcout[0].events + group.trcout[1].events + group.trcout[2].events +
				 group.full_events,
			 3000);
	assert_true(group.is_full && group.full_events == ring_head->unwritten);
	assert_non_null(strstr(reported, "CTR101W TRCOUT05 IS FULL"));
	ct_trcout_emitter.close(output);
	/* So it is for a process that comes then. */
	open_output();
	for (uint32_t i = 0; i < 3; i++)
		write_events(50);
	assert_int_equal(group.full_events, ring_head->unwritten);
	ct_trcout_emitter.close(output);
	close_trcouts();
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(size_on_disk(data_set(i)) <= 128 << 10);
	}
}

static void a_group_wraps_as_one(void **state)
{
	uint64_t kept = 0, gone = 0;

	(void)state;
	open_trcouts(CT_WRITER_WRAP, 256 << 10, 3);
	open_output();
	for (uint32_t i = 0; i < 200; i++) {
		write_events(50);
		for (uint32_t j = 0; j < 3; j++)
			assert_true(group.trcout[j].used <= group.trcout[j].limit);
	}
	for (uint32_t i = 0; i < 3; i++) {
		gone += group.trcout[i].wrapped_events;
		for (uint32_t j = 0; j < group.trcout[i].segments; j++)
			kept += group.trcout[i].segment[j].events;
	}
	assert_int_equal(kept + gone, 10000);
	assert_true(kept > 2200); /* most of 768K, at 230 bytes each */
	assert_true(group.trcout[0].events > 2000 && group.trcout[1].events > 2000 &&
		    group.trcout[2].events > 2000);
	assert_string_equal(reported, "");
	ct_trcout_emitter.close(output);
	/* The next run goes on with the same round, and within the sizes. */
	{
		uint32_t open = group.open, newest = group.newest_segment;

		open_trcouts(CT_WRITER_WRAP, 256 << 10, 3);
		assert_int_equal(group.open, open);
		assert_int_equal(group.newest_segment, newest);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(size_on_disk(data_set(i)) <= 256 << 10);
	}
}

/* However much room there is when a directory begins: its metadata fit, or room is made. */
static void a_new_directory_is_within_the_size_too(void **state)
{
	(void)state;
	for (uint32_t count = 15; count < 33; count++) {
		assert_int_equal(begin_trcouts(CT_WRITER_WRAP, 128 << 10, 0, 2, true), CTRACE_OK);
		open_output();
		for (uint32_t i = 0; i < 2000 / count; i++) {
			write_events(count);
			for (uint32_t j = 0; j < 2; j++)
				assert_true(group.trcout[j].used <= group.trcout[j].limit);
		}
		assert_true(group.trcout[1].events > 0);
		ct_trcout_emitter.close(output);
		close_trcouts();
		for (uint32_t j = 0; j < 2; j++)
			assert_true(size_on_disk(data_set(j)) <= 128 << 10);
	}
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
	assert_int_equal(trcout->segments, 2);
	assert_int_equal(trcout->segment[0].number, 1);
	assert_int_equal(trcout->segment[1].number, 2);
	assert_true(trcout->used > 200000);
	open_output();
	for (uint32_t i = 0; i < 100; i++)
		write_events(100);
	assert_true(trcout->segment[0].number > 2);
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
	assert_int_equal(trcout->failing, ENOSPC);
	assert_non_null(strstr(reported, "CTR102E TRCOUT03 CANNOT BE WRITTEN"));
	assert_int_equal(strchr(reported, '\n')[1], '\0');
	assert_int_equal(write_as_runs(&ct_trcout_emitter, output, &batch), CTRACE_OK);
	assert_int_equal(trcout->failing, 0);
	assert_int_equal(trcout->events, 1);
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
	assert_true(trcout->segment[0].number > 2);
	assert_int_equal(access(file, F_OK), 0);
	ct_trcout_emitter.close(output);
	assert_int_equal(ct_trcout_lock_directory(trcout->spec, &lock), CTRACE_OK);
	(void)close(lock);
	if (geteuid() != 0)
		return;
	(void)snprintf(link, sizeof link, "%s/data", room);
	assert_int_equal(chown(link, 65534, 65534), 0);
	assert_int_equal(ct_trcout_lock_directory(trcout->spec, &lock), CTRACE_DENIED);
}

int test_trcout(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_process_has_a_directory_whatever_its_job_is_called),
		TEST(wrapping_drops_the_oldest_segment),
		TEST(a_full_one_counts_and_says_so_once),
		TEST(a_group_is_full_when_its_last_one_is),
		TEST(a_group_wraps_as_one),
		TEST(a_new_directory_is_within_the_size_too),
		TEST(an_earlier_runs_segments_are_the_oldest),
		TEST(error_is_reported_once_a_kind_and_heals),
		TEST(what_is_removed_is_in_the_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
