/*
 * test_bin_clock.c - the times of a BINFILE trace when the wall clock is set: they never go back,
 * stand still or lose an amount.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

#define HOUR 3600000000000ll

static struct ct_bin_clock bin_clock, before_batch;
static struct ct_buf noted;

static void begin_batch(void)
{
	before_batch = bin_clock;
	ct_buf_clear(&noted);
}

static int init(void **state)
{
	(void)state;
	bin_clock = (struct ct_bin_clock){ .steps = CT_BIN_CLOCK_UNKNOWN };
	begin_batch();
	return 0;
}

static int fini(void **state)
{
	(void)state;
	ct_buf_fini(&noted);
	return 0;
}

static uint64_t time_of(uint64_t time_ns, const struct ctrace_clock *clock)
{
	const struct ctrace_event event = { .time_ns = time_ns, .clock = clock };

	return ct_bin_clock_time(&bin_clock, &event, &noted);
}

static const char *marks(void)
{
	return ct_buf_text(&noted);
}

static void times_run_on_when_the_clock_is_set_back(void **state)
{
	const struct ctrace_clock before = { 0 },
				  after = { .steps = 1, .total_ns = -HOUR, .set_back_ns = HOUR },
				  again = { .steps = 2, .total_ns = 0, .set_back_ns = 0 };

	(void)state;
	assert_int_equal(time_of(START_NS, NULL), START_NS);
	assert_int_equal(time_of(START_NS, &before), START_NS);
	assert_string_equal(marks(), "");
	assert_int_equal(time_of(START_NS - HOUR + 5, &after), START_NS + 5);
	assert_string_equal(
		marks(),
		"/* clock set\nby -3600000000000 at 1700000000000000005 ahead 3600000000000 base 0\n*/\n");
	/* One that came late. */
	assert_int_equal(time_of(START_NS + 3, &before), START_NS + 3);
	assert_int_equal(time_of(START_NS - HOUR + 7, &after), START_NS + 7);
	begin_batch();
	assert_int_equal(time_of(START_NS + 9, &again), START_NS + 9);
	assert_string_equal(
		marks(),
		"/* clock set\nby 3600000000000 at 1700000000000000009 ahead 0 base 0\n*/\n");
}

static void a_trace_that_begins_after_a_step_has_the_clock_s_times(void **state)
{
	const struct ctrace_clock before = { .steps = 3, .total_ns = -HOUR, .set_back_ns = HOUR },
				  after = { .steps = 4,
					    .total_ns = -2 * HOUR,
					    .set_back_ns = 2 * HOUR };

	(void)state;
	assert_int_equal(time_of(START_NS, &before), START_NS);
	assert_string_equal(
		marks(),
		"/* clock set\nby 0 at 1700000000000000000 ahead 0 base 3600000000000\n*/\n");
	assert_int_equal(time_of(START_NS - HOUR + 1, &after), START_NS + 1);
}

static void a_batch_that_failed_is_noted_when_it_comes_again(void **state)
{
	const struct ctrace_clock before = { 0 }, after = { .steps = 1, .total_ns = HOUR };

	(void)state;
	(void)time_of(START_NS, &before);
	begin_batch();
	(void)time_of(START_NS + HOUR, &after);
	assert_string_not_equal(marks(), "");
	bin_clock = before_batch;
	ct_buf_clear(&noted);
	assert_string_equal(marks(), "");
	begin_batch();
	(void)time_of(START_NS + HOUR, &after);
	assert_string_not_equal(marks(), "");
}

static void what_is_gone_on_with_goes_on_with_its_times(void **state)
{
	static const char text[] = "trace;\n/* clock set\nby -5 at 7 ahead 5 base 100\n*/\nevent;\n"
				   "/* clock set\nby -6 at 9 ahead 11 base 100\n*/\n";
	const struct ctrace_clock same = { .steps = 2, .total_ns = -11, .set_back_ns = 111 },
				  other = { .steps = 3, .total_ns = -31, .set_back_ns = 131 };

	(void)state;
	ct_bin_clock_take(&bin_clock, text, sizeof text - 1);
	assert_int_equal(time_of(START_NS, &same), START_NS + 11);
	assert_string_equal(marks(), "");
	/* The clock was set between the last event of the one process and the first of who goes on.
	 */
	ct_bin_clock_take(&bin_clock, text, sizeof text - 1);
	bin_clock.steps = CT_BIN_CLOCK_UNKNOWN;
	assert_int_equal(time_of(START_NS, &other), START_NS + 31);
	assert_string_equal(marks(),
			    "/* clock set\nby -20 at 1700000000000000031 ahead 31 base 100\n*/\n");
}

static void the_next_generation_goes_on_with_its_times(void **state)
{
	const struct ctrace_clock before = { 0 },
				  after = { .steps = 1, .total_ns = -HOUR, .set_back_ns = HOUR };
	struct ct_bin_clock next;
	struct ct_buf metadata = { 0 };
	const struct ctrace_event event = { .time_ns = START_NS, .clock = &after };

	(void)state;
	(void)time_of(START_NS, &before);
	(void)time_of(START_NS, &after);
	ct_bin_clock_inherit(&next, &bin_clock, &metadata);
	assert_string_equal(ct_buf_text(&metadata),
			    "/* clock set\nby 0 at 0 ahead 3600000000000 base 0\n*/\n");
	ct_buf_clear(&metadata);
	assert_int_equal(ct_bin_clock_time(&next, &event, &metadata), START_NS + HOUR);
	assert_int_equal(metadata.size, 0);
	ct_buf_fini(&metadata);
}

static void marks_are_found_and_damaged_ones_passed_over(void **state)
{
	const struct ct_bin_clock_mark wanted = {
		.by_ns = -17, .at_ns = UINT64_MAX, .ahead_ns = 18, .base_ns = 19
	};
	static const char damaged[] =
		"/* clock set\nby x at 7 ahead 5 base 100\n*/\n/* clock set\nby 1 at 7 ahead 5 base 100 \n*/\n"
		"/* clock set\nby 1 at 7 ahead 5\n*/\n/* clock set\nby 1 at 7 ahead 5 base 100\n"
		"/* clock set\n\n*/\n/* clock set\n";
	struct ct_bin_clock_mark mark;
	struct ct_buf text = { 0 };
	size_t at = 0;

	(void)state;
	assert_false(ct_bin_clock_mark_next(NULL, 0, &at, &mark));
	assert_false(ct_bin_clock_mark_next(damaged, sizeof damaged - 1, &at, &mark));
	ct_buf_add(&text, damaged, sizeof damaged - 1);
	ct_bin_clock_mark_add(&text, &wanted);
	at = 0;
	assert_true(ct_bin_clock_mark_next(text.data, text.size, &at, &mark));
	assert_memory_equal(&mark, &wanted, sizeof mark);
	assert_false(ct_bin_clock_mark_next(text.data, text.size, &at, &mark));
	/* Cut anywhere. */
	for (size_t size = 0; size < text.size; size++) {
		at = 0;
		assert_false(ct_bin_clock_mark_next(text.data, size, &at, &mark));
	}
	ct_buf_fini(&text);
}

/* A generation that is full, a process that is recovered: babeltrace2 reads them all. */
static void directories_stay_in_order(void **state)
{
	struct fixture *f = *state;
	const struct ctrace_clock before = { 0 },
				  after = { .steps = 1, .total_ns = -HOUR, .set_back_ns = HOUR };
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event;
	char *text;

	fixture_open(f, "FILE=t.ctb\nMAXGENERATION=2\nMAXFILESIZE=1000\n");
	for (unsigned i = 0; i < 5; i++) {
		event = text_event(f, &item, "COMP", 1, "x");
		event.clock = i == 0 ? &before : &after;
		event.time_ns -= event.clock->set_back_ns;
		assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
		if (i == 1 || i == 2) {
			/* As a recoverer: where the place says. */
			fixture_close(f);
			f->context.recovering = true;
			fixture_open(f, NULL);
			f->context.recovering = false;
		}
		if (i == 3)
			assert_int_equal(ct_emit_binfile.rotate(f->self), CTRACE_OK);
	}
	fixture_close(f);
	text = babeltrace("--clock-cycles t.ctb_1 t.ctb_2", NULL);
	for (unsigned i = 1; i <= 5; i++) {
		char wanted[40];

		(void)snprintf(wanted, sizeof wanted, "%llu",
			       (unsigned long long)(START_NS + 1000 * i));
		assert_non_null(strstr(text, wanted));
	}
	assert_int_equal(count_lines(text), 5);
	free(text);
}

static struct ctrace_counter counted;

static void give_counter(const struct ctrace_emitter_context *context,
			 struct ctrace_counter *out_counter)
{
	(void)context;
	*out_counter = counted;
}

static void the_clock_of_a_new_trace_is_described_by_the_counter(void **state)
{
	struct fixture *f = *state;
	struct ct_trace_info info = { .frequency = 5, .offset_s = 6, .offset = 7 };

	ct_bin_info_clock(&info, &f->context); /* which has no counter */
	assert_int_equal(info.frequency, 0);
	assert_int_equal(info.offset_s, 0);
	assert_int_equal(info.offset, 0);
	f->context.counter = give_counter;
	counted =
		(struct ctrace_counter){ .ticks = 2000, .wall_ns = 5000000000, .frequency = 1000 };
	ct_bin_info_clock(&info, &f->context);
	assert_int_equal(info.frequency, 1000);
	assert_int_equal(info.offset_s, 3); /* the counter was 0 two seconds before */
	assert_int_equal(info.offset, 0);
	/* A frequency that is not known yet: times are right at this moment. */
	counted.frequency = 0;
	ct_bin_info_clock(&info, &f->context);
	assert_int_equal(info.frequency, 1000000000);
	assert_int_equal((uint64_t)info.offset_s * 1000000000 + info.offset + 2000, 5000000000);
}

/* Rewritten when the trace has doubled in length, and at its end. */
static void the_clock_in_the_metadata_is_rewritten_in_place(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_open_mode mode = { .may_replace_own = true };
	struct ct_bin_directory *directory;
	struct ct_trace_info info;
	uint64_t size;

	f->context.counter = give_counter;
	counted = (struct ctrace_counter){ .ticks = 0, .wall_ns = START_NS, .frequency = 1000 };
	ct_bin_info_fill(&info, &f->context);
	ct_bin_info_clock(&info, &f->context);
	mode.info = &info;
	assert_int_equal(ct_bin_directory_create("t.ctb", &mode, &directory), CTRACE_OK);
	assert_int_equal(system("grep -q 'freq = 1000;' t.ctb/metadata"), 0);
	size = file_size("t.ctb/metadata");
	counted = (struct ctrace_counter){ .ticks = 2002,
					   .wall_ns = START_NS + 2000000000,
					   .frequency = 1001 };
	ct_bin_directory_set_clock(directory, &f->context, START_NS + 2000000000);
	assert_int_equal(system("grep -q 'freq = 1001;' t.ctb/metadata"), 0);
	counted.frequency = 1002;
	ct_bin_directory_set_clock(directory, &f->context, START_NS + 3999999999);
	assert_int_equal(system("grep -q 'freq = 1001;' t.ctb/metadata"), 0);
	ct_bin_directory_set_clock(directory, &f->context, CT_BIN_CLOCK_LAST);
	assert_int_equal(system("grep -q 'freq = 1002;' t.ctb/metadata"), 0);
	assert_int_equal(file_size("t.ctb/metadata"), size);
	ct_bin_directory_close(directory);
}

int test_bin_clock(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, init, fini)
	const struct CMUnitTest tests[] = {
		WITH(times_run_on_when_the_clock_is_set_back),
		WITH(a_trace_that_begins_after_a_step_has_the_clock_s_times),
		WITH(a_batch_that_failed_is_noted_when_it_comes_again),
		WITH(what_is_gone_on_with_goes_on_with_its_times),
		WITH(the_next_generation_goes_on_with_its_times),
		WITH(marks_are_found_and_damaged_ones_passed_over),
		cmocka_unit_test_setup_teardown(directories_stay_in_order, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_clock_of_a_new_trace_is_described_by_the_counter, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(the_clock_in_the_metadata_is_rewritten_in_place,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
