/*
 * test_reader.c - sources, catalogue, pairing and filter in one line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"
#include "event_fixture.h"

static struct ct_filter *filter_of(const char *text)
{
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter;

	assert_int_equal(ct_filter_parse(text, START_NS, &filter, &diagnostic), CTRACE_OK);
	return filter;
}

static struct ct_reader *reader_of(const struct ct_reader_options *options, const char *path)
{
	struct ct_reader *reader;

	assert_int_equal(ct_reader_create(options, &reader), CTRACE_OK);
	assert_int_equal(ct_reader_add(reader, path), CTRACE_OK);
	return reader;
}

static unsigned count_events(struct ct_reader *reader)
{
	unsigned count = 0;

	while (ct_reader_next(reader) != NULL)
		count++;
	return count;
}

static void events_say_whose_they_are(void **state)
{
	struct fixture *f = *state;
	struct ct_reader *reader;
	const struct ct_read_event *event;

	make_trace(f, "a.ctb", 0, 3, 2);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, "a.ctb");
	for (unsigned i = 1; i <= 3; i++) {
		event = ct_reader_next(reader);
		assert_non_null(event);
		assert_int_equal(event->sequence, i);
		assert_int_equal(event->duration_ns, CT_NO_DURATION);
		assert_int_equal(event->source_process->pid, 4711);
		assert_int_equal(event->source_process->asid, 7);
		assert_string_equal(event->source_process->jobname, "JOB1");
		assert_string_equal(event->source_process->host, "host1");
		assert_string_equal(event->source_process->program, "prog");
		assert_string_equal(event->source_process->path, "a.ctb");
		assert_ptr_equal(event->source_process, ct_reader_source_process(reader, 0));
	}
	assert_null(ct_reader_next(reader));
	assert_null(ct_reader_next(reader));
	assert_null(ct_reader_source_process(reader, 1));
	assert_int_equal(ct_reader_totals(reader)->events, 3);
	ct_reader_destroy(reader);
}

/* Generations of one process's trace are of one source process; another process's are of another.
 */
static void one_process_one_source_process(void **state)
{
	struct fixture *f = *state;
	struct ct_reader *reader;

	make_trace(f, "a.ctb", 0, 3, 2);
	make_trace(f, "b.ctb", 3, 3, 2);
	f->context.pid = 4712;
	make_trace(f, "c.ctb", 6, 3, 2);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, ".");
	assert_int_equal(count_events(reader), 9);
	assert_int_equal(ct_reader_source_process(reader, 0)->pid, 4711);
	assert_int_equal(ct_reader_source_process(reader, 1)->pid, 4712);
	assert_int_equal(ct_reader_source_process(reader, 1)->index, 1);
	assert_null(ct_reader_source_process(reader, 2));
	ct_reader_destroy(reader);
}

static void what_the_filter_drops_still_counts(void **state)
{
	static const struct {
		const char *filter;
		unsigned accepted;
		uint64_t read;
	} rows[] = {
		{ "level >= debug", 100, 100 },
		{ "event == 4000000000", 0, 100 },
		{ "seq in (11..20)", 10, 100 },
		{ "data[0] == \"number 42.\"", 1, 100 },
		/* Nothing is read behind the time at which it ends. */
		{ "time < \"@1600000000\"", 0, 0 },
	};
	struct fixture *f = *state;

	make_trace(f, "a.ctb", 0, 100, 7);
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_filter *filter = filter_of(rows[i].filter);
		struct ct_reader *reader =
			reader_of(&(struct ct_reader_options){ .filter = filter }, "a.ctb");

		assert_int_equal(count_events(reader), rows[i].accepted);
		assert_int_equal(ct_reader_totals(reader)->events, rows[i].read);
		ct_reader_destroy(reader);
		ct_filter_destroy(filter);
	}
}

static void the_number_of_an_event_is_that_of_the_whole_trace(void **state)
{
	struct fixture *f = *state;
	struct ct_filter *filter = filter_of("data[0] == \"number 42.\"");
	struct ct_reader *reader;

	make_trace(f, "a.ctb", 0, 100, 7);
	reader = reader_of(&(struct ct_reader_options){ .filter = filter }, "a.ctb");
	assert_int_equal(ct_reader_next(reader)->sequence, 43);
	ct_reader_destroy(reader);
	ct_filter_destroy(filter);
}

static void reading_begins_again(void **state)
{
	struct fixture *f = *state;
	struct ct_reader *reader;

	make_trace(f, "a.ctb", 0, 10, 3);
	make_trace(f, "b.ctb", 10, 10, 3);
	reader = reader_of(&(struct ct_reader_options){ .has_pairs = true }, "a.ctb");
	assert_int_equal(ct_reader_add(reader, "b.ctb"), CTRACE_OK);
	assert_int_equal(ct_reader_add(reader, "c.ctb"), CTRACE_NOT_FOUND);
	for (unsigned i = 0; i < 5; i++)
		assert_non_null(ct_reader_next(reader));
	assert_int_equal(ct_reader_rewind(reader), CTRACE_OK);
	assert_int_equal(count_events(reader), 20);
	assert_int_equal(ct_reader_rewind(reader), CTRACE_OK);
	assert_int_equal(count_events(reader), 20);
	assert_int_equal(ct_reader_totals(reader)->events, 20);
	ct_reader_destroy(reader);
}

/* Each event ends the span of the one before it, and the trace that of the last. */
static void inferred_ends_come_before_what_ends_them(void **state)
{
	static const char text[] =
		"component: COMP\n"
		"events: {1: {mnemonic: STEP, until: next, arguments: [name]}}\n";
	struct fixture *f = *state;
	struct ct_catalog *catalog = event_catalog("comp.yaml", text);
	struct ct_filter *filter = filter_of("duration >= 0");
	struct ct_reader_options options = { .catalog = catalog,
					     .has_pairs = true,
					     .has_inferred = true };
	struct ct_reader *reader;
	const struct ct_read_event *event;

	make_trace(f, "a.ctb", 0, 3, 3);
	reader = reader_of(&options, "a.ctb");
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 1; i <= 6; i++) {
			event = ct_reader_next(reader);
			assert_non_null(event);
			assert_int_equal(event->is_inferred, i % 2 == 0);
			assert_int_equal(event->sequence, i < 6 ? i / 2 + 1 : 3);
			assert_int_equal(event->span_id, (i + 1) / 2);
			assert_memory_equal(event->traced.items[0].data, "number ", 7);
			assert_int_equal(((const char *)event->traced.items[0].data)[7],
					 '0' + (int)(i - 1) / 2);
		}
		assert_null(ct_reader_next(reader));
		assert_null(ct_reader_next(reader));
		assert_int_equal(ct_reader_totals(reader)->events, 3);
		assert_int_equal(ct_reader_rewind(reader), CTRACE_OK);
	}
	ct_reader_destroy(reader);
	options.filter = filter; /* only ends have a duration */
	reader = reader_of(&options, "a.ctb");
	assert_int_equal(count_events(reader), 3);
	ct_reader_destroy(reader);
	options = (struct ct_reader_options){ .catalog = catalog, .has_pairs = true };
	reader = reader_of(&options, "a.ctb");
	assert_int_equal(count_events(reader), 3);
	ct_reader_destroy(reader);
	ct_filter_destroy(filter);
	ct_catalog_destroy(catalog);
}

static void a_live_event_is_a_event(void **state)
{
	static const struct ct_source_process source_process = {
		.host = "h", .program = "p", .jobname = "J", .path = ""
	};
	struct ctrace_event traced = {
		.component = "APP", .component_size = 3, .event_id = 5, .level = CTRACE_WARN
	};
	struct ct_filter *filter = filter_of("event == 5 && job == \"J\"");
	struct ct_reader *reader;
	const struct ct_read_event *event;

	(void)state;
	assert_int_equal(ct_reader_create(&(struct ct_reader_options){ .filter = filter }, &reader),
			 CTRACE_OK);
	event = ct_reader_take(reader, &traced, NULL, &source_process);
	assert_non_null(event);
	assert_int_equal(event->sequence, 1);
	traced.event_id = 6;
	assert_null(ct_reader_take(reader, &traced, NULL, &source_process));
	traced.event_id = 5;
	assert_int_equal(ct_reader_take(reader, &traced, NULL, &source_process)->sequence, 3);
	ct_reader_destroy(reader);
	ct_filter_destroy(filter);
}

static void live_events_are_paired(void **state)
{
	static const char text[] = "component: APP\nevents: {1: {mnemonic: IN, exit: 2}, 2: OUT}\n";
	static const struct ct_source_process one = { .index = 7, .path = "" },
					      other = { .index = 8, .path = "" };
	struct ctrace_event in = { .component = "APP",
				   .component_size = 3,
				   .event_id = 1,
				   .time_ns = 100,
				   .pid = 1,
				   .tid = 1 };
	struct ctrace_event out = { .component = "APP",
				    .component_size = 3,
				    .event_id = 2,
				    .time_ns = 350,
				    .pid = 1,
				    .tid = 1 };
	struct ct_filter *filter = filter_of("duration > 200ns");
	struct ct_catalog *catalog = event_catalog("app.yaml", text);
	struct ct_reader *reader;
	const struct ct_read_event *event;

	(void)state;
	assert_int_equal(ct_reader_create(&(struct ct_reader_options){ .filter = filter,
								       .catalog = catalog },
					  &reader),
			 CTRACE_OK);
	assert_null(ct_reader_take(reader, &in, NULL, &one));
	/* The same thread of another process has not begun it. */
	assert_null(ct_reader_take(reader, &out, NULL, &other));
	event = ct_reader_take(reader, &out, NULL, &one);
	assert_non_null(event);
	assert_int_equal(event->duration_ns, 250);
	ct_reader_destroy(reader);
	ct_catalog_destroy(catalog);
	ct_filter_destroy(filter);
}

/* Ends that are inferred come before the event that infers them, whether the filter drops it. */
static void a_live_event_infers_ends(void **state)
{
	static const char text[] = "component: APP\n"
				   "events:\n"
				   "  1: {mnemonic: STEP, until: next}\n"
				   "  2: {mnemonic: OTHER}\n";
	struct ct_source_process one = { .index = 1, .pid = 1 };
	struct ctrace_event step = { .component = "APP",
				     .component_size = 3,
				     .event_id = 1,
				     .time_ns = 100,
				     .pid = 1,
				     .tid = 1 };
	struct ct_filter *filter = filter_of("duration > 200ns");
	struct ct_catalog *catalog = event_catalog("app.yaml", text);
	struct ct_reader *reader;
	const struct ct_read_event *event;

	(void)state;
	assert_int_equal(ct_reader_create(&(struct ct_reader_options){ .filter = filter,
								       .has_pairs = true,
								       .has_inferred = true,
								       .catalog = catalog },
					  &reader),
			 CTRACE_OK);
	assert_null(ct_reader_take(reader, &step, NULL, &one));
	assert_null(ct_reader_take_inferred(reader));
	step.time_ns = 150; /* 50 ns: the filter drops the first end */
	assert_null(ct_reader_take(reader, &step, NULL, &one));
	assert_null(ct_reader_take_inferred(reader));
	step.time_ns = 400;
	assert_null(ct_reader_take(reader, &step, NULL, &one));
	event = ct_reader_take_inferred(reader);
	assert_non_null(event);
	assert_true(event->is_inferred);
	assert_int_equal(event->duration_ns, 250);
	assert_int_equal(event->traced.time_ns, 400);
	assert_int_equal(event->sequence, 3);
	assert_null(ct_reader_take_inferred(reader));
	ct_reader_destroy(reader);
	ct_catalog_destroy(catalog);
	ct_filter_destroy(filter);
}

static uint64_t bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	unsigned long long bytes = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "rchar: %llu", &bytes), 1);
	(void)fclose(file);
	return bytes;
}

/* The last events of a trace of many packets: only its end is read, and it is what all of it ends
 * with. */
static void from_a_time_on_little_is_read(void **state)
{
	struct fixture *f = *state;
	struct ct_reader *reader;
	const struct ct_read_event *event;
	uint64_t first_ns, last_ns, before, all_ns = 0;
	unsigned count = 0;

	make_trace(f, "long.ctb", 0, 200000, 500);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, "long.ctb");
	before = bytes_read();
	assert_true(ct_reader_ends(reader, &first_ns, &last_ns));
	assert_int_equal(ct_reader_rewind_to(reader, last_ns), CTRACE_OK);
	while ((event = ct_reader_next(reader)) != NULL) {
		assert_true(event->traced.time_ns >= last_ns);
		all_ns = event->traced.time_ns;
		count++;
	}
	assert_in_range(bytes_read() - before, 1, 1000000);
	assert_in_range(count, 1, 1000);
	assert_int_equal(ct_reader_rewind(reader), CTRACE_OK);
	count = 0;
	while ((event = ct_reader_next(reader)) != NULL) {
		if (count++ == 0)
			assert_true(event->traced.time_ns >= first_ns);
		last_ns = event->traced.time_ns;
	}
	assert_int_equal(count, 200000);
	assert_int_equal(last_ns, all_ns);
	ct_reader_destroy(reader);
}

static void what_needs_all_that_was_before_has_no_end_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct ct_filter *filter = filter_of("seq > 3");
	struct ct_reader *reader;
	uint64_t first_ns, last_ns;

	make_trace(f, "a.ctb", 0, 10, 5);
	reader = reader_of(&(struct ct_reader_options){ .filter = filter }, "a.ctb");
	assert_false(ct_reader_ends(reader, &first_ns, &last_ns));
	ct_reader_destroy(reader);
	ct_filter_destroy(filter);
	/* Somebody is writing it. */
	assert_int_equal(system("printf x >> a.ctb/stream.0"), 0);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, "a.ctb");
	assert_false(ct_reader_ends(reader, &first_ns, &last_ns));
	ct_reader_destroy(reader);
}

static void a_survey_leaves_the_reader_as_it_was(void **state)
{
	struct fixture *f = *state;
	struct ct_reader_survey survey;
	struct ct_reader *reader;

	make_trace(f, "a.ctb", 0, 10, 5);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, "a.ctb");
	ct_reader_survey(reader, &survey);
	assert_false(survey.has_hosts);
	assert_false(survey.has_processes);
	assert_false(survey.has_threads);
	assert_in_range(survey.digits, 3, 9);
	assert_int_equal(ct_reader_totals(reader)->events, 0);
	assert_int_equal(count_events(reader), 10);
	ct_reader_destroy(reader);
}

static void progress_goes_from_nothing_to_all(void **state)
{
	struct fixture *f = *state;
	struct ct_reader *reader;

	make_trace(f, "a.ctb", 0, 50000, 500);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, "a.ctb");
	assert_int_equal(ct_reader_progress(reader), 0);
	for (unsigned i = 0; i < 25000; i++)
		assert_non_null(ct_reader_next(reader));
	assert_in_range(ct_reader_progress(reader), 450, 550);
	assert_int_equal(count_events(reader), 25000);
	assert_int_equal(ct_reader_progress(reader), 1000);
	ct_reader_destroy(reader);
}

/* What was reported of a reader. */
struct reported {
	unsigned notes;
	uint64_t bytes;
	char path[64];
};

static ct_read_report note_damage;

static void note_damage(const struct ct_read_note *note, void *user)
{
	struct reported *reported = user;

	assert_int_equal(note->kind, CT_NOTE_DAMAGE);
	assert_true(note->message[0] != '\0');
	reported->notes++;
	reported->bytes += note->bytes;
	(void)snprintf(reported->path, sizeof reported->path, "%s", note->path);
}

static void damage_is_reported_where_it_is(void **state)
{
	struct fixture *f = *state;
	struct reported reported = { 0 };
	const struct ct_reader_options options = { .report = note_damage, .user = &reported };
	struct ct_reader *reader;

	make_trace(f, "a.ctb", 0, 30, 10);
	reader = reader_of(&options, "a.ctb");
	assert_int_equal(count_events(reader), 30);
	assert_int_equal(reported.notes, 0);
	ct_reader_destroy(reader);
	/* The number of the class of the first event. */
	patch_file("a.ctb/stream.0", CT_PACKET_HEAD, "\xFF\xFF", 2);
	reader = reader_of(&options, "a.ctb");
	assert_int_equal(count_events(reader), 20);
	assert_int_equal(reported.notes, 1);
	assert_int_equal(ct_reader_totals(reader)->damages, 1);
	assert_int_equal(ct_reader_totals(reader)->damaged_bytes, reported.bytes);
	assert_string_equal(reported.path, "a.ctb/stream.0");
	ct_reader_destroy(reader);
}

static void a_filter_that_accepts_nothing_is_explained(void **state)
{
	static const struct {
		const char *filter, *hint; /* NULL: nothing stands out */
	} rows[] = {
		{ "component == \"COMPP\"",
		  "no event has the component \"COMPP\" (did you mean \"COMP\"?)" },
		{ "component == \"NOTHING.LIKE.IT\"",
		  "no event has the component \"NOTHING.LIKE.IT\"" },
		{ "data[0] == \"numer 3.\"",
		  "no event has the value \"numer 3.\" (did you mean \"number 3.\"?)" },
		{ "component == \"COMP\" && event == 4000000000", NULL },
		{ NULL, NULL },
	};
	struct fixture *f = *state;
	struct ct_buf hint;

	make_trace(f, "a.ctb", 0, 5, 5);
	ct_buf_init(&hint);
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_filter *filter =
			rows[i].filter != NULL ? filter_of(rows[i].filter) : NULL;
		struct ct_reader *reader =
			reader_of(&(struct ct_reader_options){ .filter = filter }, "a.ctb");

		assert_int_equal(count_events(reader), filter != NULL ? 0 : 5);
		ct_buf_clear(&hint);
		assert_int_equal(ct_reader_hint(reader, &hint), rows[i].hint != NULL);
		assert_string_equal(ct_buf_text(&hint), rows[i].hint != NULL ? rows[i].hint : "");
		ct_reader_destroy(reader);
		ct_filter_destroy(filter);
	}
	ct_buf_fini(&hint);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static void who_knows_when_a_process_ended_says_so(void **state)
{
	struct fixture *f = *state;
	struct ct_reader *reader;
	uint64_t other;

	make_trace(f, "a.ctb", 0, 3, 2);
	f->context.pid = 4712;
	make_trace(f, "b.ctb", 3, 3, 2);
	reader = reader_of(&(struct ct_reader_options){ .report = NULL }, ".");
	assert_int_equal(count_events(reader), 6);
	other = ct_reader_source_process(reader, 1)->ended_ns;
	ct_reader_process_ended(reader, 4711, START_NS + 12345);
	ct_reader_process_ended(reader, 4713, START_NS + 1); /* of none */
	assert_int_equal(ct_reader_source_process(reader, 0)->ended_ns, START_NS + 12345);
	assert_int_equal(ct_reader_source_process(reader, 1)->ended_ns, other);
	ct_reader_destroy(reader);
}

int test_reader(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_say_whose_they_are),
		TEST(one_process_one_source_process),
		TEST(what_the_filter_drops_still_counts),
		TEST(the_number_of_an_event_is_that_of_the_whole_trace),
		TEST(reading_begins_again),
		TEST(from_a_time_on_little_is_read),
		TEST(what_needs_all_that_was_before_has_no_end_of_its_own),
		TEST(a_survey_leaves_the_reader_as_it_was),
		TEST(progress_goes_from_nothing_to_all),
		TEST(damage_is_reported_where_it_is),
		TEST(a_filter_that_accepts_nothing_is_explained),
		TEST(inferred_ends_come_before_what_ends_them),
		TEST(a_live_event_is_a_event),
		TEST(live_events_are_paired),
		TEST(a_live_event_infers_ends),
		TEST(who_knows_when_a_process_ended_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
