/*
 * test_bin_create.c - whose a BINFILE directory is: continued, replaced or left alone; and what a
 * crash leaves of it.
 *
 * A dead process is a real one: a child that opens the emitter, writes, and is gone without
 * closing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

/* What a process leaves for those who recover it. */
struct left {
	struct ctrace_place place;
	struct ctrace_stream streams[2];
};

/* Plays a process that calls `body` and dies. */
static struct left die_after(struct fixture *f, void (*body)(struct fixture *, struct left *))
{
	struct left left = { .streams = { { .id = 0 }, { .id = 1 } } };
	int ends[2], how;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		body(f, &left);
		left.place = f->place;
		_exit(write(ends[1], &left, sizeof left) == (ssize_t)sizeof left ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &left, sizeof left), sizeof left);
	close(ends[0]);
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	return left;
}

static void recover(struct fixture *f, const struct left *left)
{
	f->place = left->place;
	f->context.recovering = true;
	f->now_ns += 1000000;
	fixture_open(f, NULL);
}

static void must(enum ctrace_status status)
{
	if (status != CTRACE_OK)
		_exit(2);
}

static void append_garbage(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (fd < 0 || write(fd, "\xC1\x1F\xFC\xC1 half a packet", 18) != 18)
		_exit(3);
	close(fd);
}

/* ---- crashes */

static void write_two_and_half(struct fixture *f, struct left *left)
{
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
	must(write_numbered(f, &left->streams[1], 10, 10));
	append_garbage("t.ctb/stream.0");
	append_garbage("t.ctb/stream.1");
	append_garbage("t.ctb/stream.2");
	append_garbage("t.ctb/metadata");
}

static void recovery_cuts_and_goes_on(void **state)
{
	struct fixture *f = *state;
	struct left left;
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct ctrace_stream third = { .id = 2 };

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, write_two_and_half);
	recover(f, &left);
	assert_int_equal(write_numbered(f, &left.streams[0], 20, 5), CTRACE_OK);
	assert_int_equal(write_numbered(f, &left.streams[1], 25, 5), CTRACE_OK);
	event = text_event(f, &item, "NEWCOMP", 9, "number 30.");
	assert_int_equal(write_events(f, &event, 1, &third, 1), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 31);
	assert_int_equal(access("t.ctb.4711", F_OK), -1);
}

static void commit_then_write_more(struct fixture *f, struct left *left)
{
	struct ctrace_stream stream;
	struct ctrace_place place;
	struct ctrace_event_item item;
	struct ctrace_event event;

	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
	/* A batch with a new class that is written, but was not committed when the process died. */
	stream = left->streams[0];
	place = f->place;
	event = text_event(f, &item, "LATE", 2, "number 10.");
	must(write_events(f, &event, 1, &stream, 1));
	f->place = place;
}

static void what_was_not_committed_comes_once(void **state)
{
	struct fixture *f = *state;
	struct left left;
	struct ctrace_event_item item;
	struct ctrace_event event;

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, commit_then_write_more);
	assert_numbers("t.ctb", 0, 11);
	recover(f, &left);
	event = text_event(f, &item, "LATE", 2, "number 10.");
	assert_int_equal(write_events(f, &event, 1, &left.streams[0], 1), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 11);
}

static void first_batch_was_not_committed(struct fixture *f, struct left *left)
{
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
	left->streams[0] = (struct ctrace_stream){ .id = 0 };
	memset(&f->place, 0, sizeof f->place);
}

static void without_a_place_nothing_counts(void **state)
{
	struct fixture *f = *state;
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, first_batch_was_not_committed);
	recover(f, &left);
	assert_int_equal(write_numbered(f, &left.streams[0], 0, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 10);
}

static void close_reopen_crash(struct fixture *f, struct left *left)
{
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
	must(write_numbered(f, &left->streams[1], 10, 10));
	ct_emit_binfile.close(f->self);
	/* A property was set: the destination starts afresh, and its first batch is never
	 * committed. */
	memset(&f->place, 0, sizeof f->place);
	must(ct_emit_binfile.open(&f->context, &f->self));
	memset(left->streams, 0, sizeof left->streams);
	left->streams[1].id = 1;
	must(write_numbered(f, &left->streams[0], 20, 5));
	memset(&f->place, 0, sizeof f->place);
	left->streams[0] = (struct ctrace_stream){ .id = 0 };
	append_garbage("t.ctb/stream.1");
	append_garbage("t.ctb/stream.9");
}

static void what_was_closed_counts_whatever_comes_after(void **state)
{
	struct fixture *f = *state;
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, close_reopen_crash);
	recover(f, &left);
	assert_int_equal(access("t.ctb/stream.9", F_OK), -1);
	assert_int_equal(write_numbered(f, &left.streams[0], 20, 5), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 0, 25);
}

static void reopen_continues_in_the_same_directory(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0, .lost = 3 };
	char *errors, *text;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	fixture_close(f);
	memset(&f->place, 0, sizeof f->place);
	stream = (struct ctrace_stream){ .id = 0, .lost = 3 }; /* cursors start anew as well */
	fixture_open(f, NULL);
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	fixture_close(f);
	text = babeltrace("t.ctb", &errors);
	assert_int_equal(count_lines(text), 20);
	assert_int_equal(count_lines(errors), 1); /* 3 lost, once */
	assert_non_null(strstr(errors, "discarded 3 events"));
	free(text);
	free(errors);
}

/* The classes that are in the metadata are not printed again.  A directory in which events were
 * written anew has other numbers than the process, whatever was set since: 16 is one class here and
 * another one there. */
static void classes_are_printed_once(void **state)
{
	static const char *const properties[] = { "FILE=t.ctb\nENCODING=ebcdic-273\n",
						  "FILE=t.ctb\n", "FILE=t.ctb\n" };
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event = text_event(f, &item, "FIRST", 1, "\xC1"); /* A in 273 */

	fixture_open(f, "FILE=u.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	fixture_close(f);
	fixture_open(f, NULL);
	assert_int_equal(write_numbered(f, &stream, 1, 1), CTRACE_OK);
	fixture_close(f);
	assert_numbers("u.ctb", 0, 2);
	assert_int_equal(
		system("test $(grep -c COMP:1 u.ctb/metadata) = 1 && ! grep -q 'own numbers' u.ctb/metadata"),
		0);
	memset(&f->place, 0, sizeof f->place);
	stream = (struct ctrace_stream){ .id = 0 };
	for (unsigned i = 0; i < CT_COUNT(properties); i++) {
		fixture_open(f, properties[i]);
		for (unsigned k = 0; i == 0 && k < 2; k++)
			assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
		if (i > 0)
			assert_int_equal(write_numbered(f, &stream, 10 * i, 10), CTRACE_OK);
		fixture_close(f);
	}
	assert_int_equal(
		system("test $(babeltrace2 t.ctb 2>bt.err | grep -c ' COMP:1: .*\"number [12][0-9]\\.\"') = 20 && "
		       "test $(babeltrace2 t.ctb | grep -c ' FIRST:1: .*\"A\"') = 2 && test ! -s bt.err && "
		       "test $(grep -c 'own numbers' t.ctb/metadata) = 1"),
		0);
}

/* After a failure the consumer closes and opens again at its place. */
static void reopen_at_a_place(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream streams[2] = { { .id = 0 }, { .id = 1 } };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &streams[0], 0, 10), CTRACE_OK);
	assert_int_equal(write_numbered(f, &streams[1], 10, 10), CTRACE_OK);
	for (unsigned i = 0; i < 5; i++) {
		fixture_close(f);
		fixture_open(f, NULL);
		assert_int_equal(write_numbered(f, &streams[i % 2], 20 + i, 1), CTRACE_OK);
	}
	fixture_close(f);
	assert_numbers("t.ctb", 0, 25);
}

/* ---- generations */

static void turn_and_die(struct fixture *f, struct left *left)
{
	must(ct_emit_binfile.open(&f->context, &f->self));
	left->streams[0].lost = 2;
	must(write_numbered(f, &left->streams[0], 0, 5));
	left->streams[0].lost = 5;
	must(write_numbered(f, &left->streams[0], 5, 5)); /* generation 2 */
}

static void recovery_knows_what_earlier_generations_reported(void **state)
{
	const uint64_t totals[CTRACE_LOSS_COUNT] = { 9 };
	struct fixture *f = *state;
	struct left left;
	char *errors, *text;

	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=1\nMAXGENERATION=5\n");
	left = die_after(f, turn_and_die);
	assert_int_equal(left.place.extra, 2);
	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=1000\nMAXGENERATION=5\n");
	recover(f, &left);
	left.streams[0].lost = 8;
	assert_int_equal(write_numbered(f, &left.streams[0], 10, 5), CTRACE_OK);
	ct_emit_binfile.lost(f->self, totals);
	fixture_close(f);
	text = babeltrace("t.ctb_2", &errors);
	assert_int_equal(count_lines(text), 10);
	/* 3 before its first event, 3 more before the recovered ones, 1 of no stream. */
	assert_int_equal(count_lines(errors), 3);
	assert_non_null(strstr(errors, "discarded 1 event "));
	free(text);
	free(errors);
}

/* ---- others */

static void hold_open(struct fixture *f, int ready, int go)
{
	struct ctrace_stream stream = { .id = 0 };
	char byte = 0;

	f->context.pid = 999;
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &stream, 100, 10));
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(4);
	ct_emit_binfile.close(f->self);
	_exit(0);
}

static void directory_that_another_process_has_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	int ready[2], go[2], how;
	char byte = 0;
	pid_t child;

	strcpy(f->properties, "FILE=t.ctb\n");
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]);
		hold_open(f, ready[1], go[0]);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	fixture_open(f, NULL);
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	fixture_close(f);
	assert_numbers("t.ctb", 100, 10);
	assert_numbers("t.ctb.4711", 0, 10);
}

static void directory_of_a_process_that_ended_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	fixture_close(f);
	memset(&f->place, 0, sizeof f->place);
	f->context.start_ns++; /* another process, be it with the same number */
	fixture_open(f, NULL);
	stream = (struct ctrace_stream){ .id = 1 };
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 10, 10);
	assert_int_equal(access("t.ctb/stream.0", F_OK), -1);
}

static void recovery_replaces_nobody(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, write_two_and_half);
	f->context.pid = 4712; /* a later one used the name, and its metadata are as long */
	fixture_open(f, NULL);
	assert_int_equal(write_numbered(f, &stream, 100, 10), CTRACE_OK);
	fixture_close(f);
	f->context.pid = 4711;
	recover(f, &left);
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
	assert_int_equal(write_numbered(f, &left.streams[0], 20, 5), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 100, 10);
	assert_numbers("t.ctb.4711", 0, 25); /* where the later process put it */
}

/* The same where the dead process had not committed anything, and where it was about to turn to the
 * next generation. */
static void recovery_replaces_nobody_on_new_paths(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct left left;

	f->context.pid = 999;
	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 100, 10), CTRACE_OK);
	fixture_close(f);
	assert_int_equal(system("cp -r t.ctb t.ctb_2"), 0);
	f->context.pid = 4711;
	memset(&left, 0, sizeof left);
	recover(f, &left);
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
	assert_int_equal(write_numbered(f, &left.streams[0], 0, 5), CTRACE_OK);
	fixture_close(f);
	memset(&left, 0, sizeof left);
	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=1\nMAXGENERATION=5\n");
	recover(f, &left);
	assert_int_equal(write_numbered(f, &left.streams[0], 0, 5), CTRACE_OK);
	assert_int_equal(write_numbered(f, &left.streams[0], 5, 5), CTRACE_OK);
	/* a recoverer begins no generation */
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb_1");
	fixture_close(f);
	assert_numbers("t.ctb", 100, 10);
	assert_numbers("t.ctb_2", 100, 10);
	assert_numbers("t.ctb_1", 0, 10);
}

static void third_party_things_are_left_alone(void **state)
{
	static const char *const made[] = {
		"mkdir t.ctb; echo not ours > t.ctb/metadata; echo x > t.ctb/stream.0",
		"mkdir t.ctb; echo x > t.ctb/stream.0",
		"mkdir t.ctb; printf '/* CTF 1.8 */\\ntrace { major = 1; };' > t.ctb/metadata; echo x > t.ctb/stream.0",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < CT_COUNT(made); i++) {
		struct ctrace_stream stream = { .id = 0 };

		assert_int_equal(system(made[i]), 0);
		memset(&f->place, 0, sizeof f->place);
		fixture_open(f, "FILE=t.ctb\n");
		assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
		assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
		fixture_close(f);
		assert_int_equal(file_size("t.ctb/stream.0"), 2);
		assert_int_equal(system("rm -r t.ctb t.ctb.4711"), 0);
	}
}

static void damaged_metadata_are_not_continued(void **state)
{
	struct fixture *f = *state;
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, write_two_and_half);
	assert_int_equal(system("sed -i s/ct_text/ct_texx/ t.ctb/metadata && cp -r t.ctb before"),
			 0);
	recover(f, &left);
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
	assert_int_equal(write_numbered(f, &left.streams[0], 20, 5), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb.4711", 20, 5);
	assert_int_equal(system("diff -r t.ctb before"), 0);
}

/* ---- what other processes left, and what a kill leaves ---- */

static void write_and_die(struct fixture *f, struct left *left)
{
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
}

/* Another process wants the name before anybody has recovered: nothing of the dead one's is lost,
 * and its recovery finds it. */
static void directory_of_a_crash_is_kept_for_its_recovery(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\n");
	left = die_after(f, write_two_and_half);
	f->context.pid = 4712;
	fixture_open(f, NULL);
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb");
	assert_int_equal(write_numbered(f, &stream, 100, 10), CTRACE_OK);
	fixture_close(f);
	f->context.pid = 4711;
	recover(f, &left);
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
	assert_int_equal(write_numbered(f, &left.streams[0], 20, 5), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb", 100, 10);
	assert_numbers("t.ctb.4711", 0, 25);
}

/* Recovered is not closed in order: the next process keeps it all the same, as often as that
 * happens. */
static void directory_of_a_crash_is_kept_when_it_was_recovered(void **state)
{
	struct fixture *f = *state;
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\n");
	for (unsigned i = 0; i < 3; i++) {
		memset(&f->place, 0, sizeof f->place);
		f->context.start_ns = START_NS + i; /* the same number each time */
		f->context.recovering = false;
		left = die_after(f, write_and_die);
		recover(f, &left);
		fixture_close(f);
		assert_numbers("t.ctb", 0, 10);
	}
	assert_numbers("t.ctb.4711", 0, 10);
	assert_numbers("t.ctb.4711.2", 0, 10);
	/* A directory that was closed in order is replaced. */
	f->context.recovering = false;
	memset(&f->place, 0, sizeof f->place);
	f->context.start_ns = START_NS + 9;
	fixture_open(f, NULL);
	fixture_close(f);
	assert_numbers("t.ctb.4711.3", 0, 10);
	memset(&f->place, 0, sizeof f->place);
	f->context.start_ns = START_NS + 10;
	fixture_open(f, NULL);
	fixture_close(f);
	assert_int_equal(access("t.ctb.4711.4", F_OK), -1);
}

/* ---- generations of a process that was killed ---- */

static struct ctrace_place committed;
static unsigned commits;

static enum ctrace_status note_commit(const struct ctrace_emitter_context *context)
{
	committed = *context->place;
	commits++;
	return CTRACE_OK;
}

static void fill_uncommitted(struct fixture *f, struct left *left)
{
	struct ctrace_stream stream;

	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
	committed = f->place;
	stream = left->streams[0];
	must(write_numbered(f, &stream, 10, 200));
	while (file_size("t.ctb_1/stream.0") <= 12 * 1024)
		append_garbage("t.ctb_1/stream.0"); /* and a part of one more */
	f->place = committed;
}

/* What was not committed does not fill a directory: the recoverer cuts it and goes on there. */
static void recovery_begins_no_generation(void **state)
{
	struct fixture *f = *state;
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=1000\nMAXGENERATION=3\n");
	left = die_after(f, fill_uncommitted);
	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=12\nMAXGENERATION=3\n");
	assert_true(file_size("t.ctb_1/metadata") + file_size("t.ctb_1/stream.0") > 12 * 1024);
	recover(f, &left);
	assert_int_equal(write_numbered(f, &left.streams[0], 10, 1000), CTRACE_OK);
	assert_int_equal(write_numbered(f, &left.streams[0], 1010, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb_1", 0, 1020);
	assert_int_equal(access("t.ctb_2", F_OK), -1);
}

static void turn_uncommitted(struct fixture *f, struct left *left)
{
	struct ctrace_stream stream;

	f->context.commit = note_commit;
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
	committed = f->place;
	stream = left->streams[0];
	must(write_numbered(f, &stream, 10, 10));
	if (commits != 1)
		_exit(5);
	f->place = committed; /* what write() committed, and nothing behind it */
}

/* The new directory is committed before the first event is in it: the recoverer goes on there. */
static void new_generation_is_committed_before_its_first_event(void **state)
{
	struct fixture *f = *state;
	struct left left;

	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=1\nMAXGENERATION=3\n");
	left = die_after(f, turn_uncommitted);
	assert_int_equal(left.place.extra, 2);
	recover(f, &left);
	assert_int_equal(write_numbered(f, &left.streams[0], 10, 15), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb_1", 0, 10);
	assert_numbers("t.ctb_2", 10, 15);
}

static enum ctrace_status refuse_commit(const struct ctrace_emitter_context *context)
{
	(void)context;
	errno = EIO;
	return CTRACE_OS_ERROR;
}

static void refused_commit_leaves_the_old_generation(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_place place;

	fixture_open(f, "FILE=t.ctb\nMAXFILESIZE=1\nMAXGENERATION=3\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	place = f->place;
	f->context.commit = refuse_commit;
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OUTPUT_ERROR);
	assert_memory_equal(&place, &f->place, sizeof place);
	assert_int_equal(access("t.ctb_2", F_OK), -1);
	f->context.commit = NULL;
	strcpy(f->properties, "FILE=t.ctb\nMAXFILESIZE=1000\nMAXGENERATION=3\n");
	fixture_close(f);
	fixture_open(f, NULL);
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb_1", 0, 20);
}

/* ---- the directory of a run */

static void mark_make(const char *directory, const char *run)
{
	char path[64];
	FILE *file;

	assert_int_equal(mkdir(directory, 0700), 0);
	(void)snprintf(path, sizeof path, "%s/" CT_FILE_RUN_MARK, directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(run, file);
	assert_int_equal(fclose(file), 0);
}

static void write_ten(struct fixture *f, struct left *left)
{
	must(ct_emit_binfile.open(&f->context, &f->self));
	must(write_numbered(f, &left->streams[0], 0, 10));
}

/* The next run has renamed the directory, and has another one with its name. */
static void recovery_follows_the_directory_of_the_run(void **state)
{
	struct fixture *f = *state;
	char here[256];
	struct left left;

	assert_non_null(getcwd(here, sizeof here));
	mark_make("run.ctb", "0001");
	(void)snprintf(f->properties, sizeof f->properties,
		       "LOCATION=%s/run.ctb\nRUN=0001\nFILE=t.ctb\n", here);
	left = die_after(f, write_ten);
	assert_int_equal(rename("run.ctb", "run.ctb.old"), 0);
	mark_make("run.ctb", "0002");
	recover(f, &left);
	assert_int_equal(write_numbered(f, &left.streams[0], 10, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("run.ctb.old/t.ctb", 0, 20);
	assert_int_equal(access("run.ctb/t.ctb", F_OK), -1);

	/* Without it there is no place for the events. */
	assert_int_equal(rename("run.ctb.old", "elsewhere"), 0);
	f->place = left.place;
	assert_int_not_equal(ct_emit_binfile.open(&f->context, &f->self), CTRACE_OK);
	assert_int_equal(access("run.ctb/t.ctb", F_OK), -1);
	assert_int_equal(access("t.ctb", F_OK), -1);
}

/* As when it is renamed after it was found. */
static void directory_is_not_made_in_that_of_another_run(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_directory *directory;
	struct ct_trace_info info;

	ct_bin_info_fill(&info, &f->context);
	mark_make("run.ctb", "0002");
	assert_int_not_equal(ct_bin_directory_create("run.ctb/t.ctb",
						     &(const struct ct_bin_open_mode){
							     .info = &info, .run = "0001" },
						     &directory),
			     CTRACE_OK);
	assert_int_equal(access("run.ctb/t.ctb", F_OK), -1);
	assert_int_equal(ct_bin_directory_create(
				 "run.ctb/t.ctb",
				 &(const struct ct_bin_open_mode){ .info = &info, .run = "0002" },
				 &directory),
			 CTRACE_OK);
	ct_bin_directory_close(directory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_bin_create(void)
{
	const struct CMUnitTest tests[] = {
		TEST(recovery_cuts_and_goes_on),
		TEST(what_was_not_committed_comes_once),
		TEST(without_a_place_nothing_counts),
		TEST(what_was_closed_counts_whatever_comes_after),
		TEST(reopen_continues_in_the_same_directory),
		TEST(classes_are_printed_once),
		TEST(reopen_at_a_place),
		TEST(recovery_knows_what_earlier_generations_reported),
		TEST(directory_that_another_process_has_is_left_alone),
		TEST(directory_of_a_process_that_ended_is_replaced),
		TEST(recovery_replaces_nobody),
		TEST(recovery_replaces_nobody_on_new_paths),
		TEST(third_party_things_are_left_alone),
		TEST(damaged_metadata_are_not_continued),
		TEST(directory_of_a_crash_is_kept_for_its_recovery),
		TEST(directory_of_a_crash_is_kept_when_it_was_recovered),
		TEST(recovery_begins_no_generation),
		TEST(new_generation_is_committed_before_its_first_event),
		TEST(refused_commit_leaves_the_old_generation),
		TEST(recovery_follows_the_directory_of_the_run),
		TEST(directory_is_not_made_in_that_of_another_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
