/*
 * test_binfile_trace.c - the metadata of a BINFILE trace: classes by their number, also those that
 * come while it is read, and damage.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/binfile_parts.h"
#include "read_fixture.h"

static void write_event(struct fixture *f, const char *component, unsigned id)
{
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event = text_event(f, &item, component, id, "number 0.");

	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
}

/* As the metadata are now. */
static const struct ct_binfile_class *find(struct ct_binfile_trace *trace,
					   struct ct_sources *sources, const char *component)
{
	(void)ct_binfile_trace_grow(trace, sources);
	for (uint32_t index = 1; index < ct_schema_count(trace->schema); index++) {
		const struct ct_binfile_class *known = ct_binfile_class(
			trace, sources, ct_schema_at(trace->schema, index)->number);

		assert_non_null(known);
		if (strcmp(known->class->component, component) == 0)
			return known;
	}
	return NULL;
}

static void classes_by_their_number(void **state)
{
	const struct ct_binfile_class *known;
	struct ct_binfile_trace *trace;
	const char *component;
	struct reading r;

	fixture_open(*state, "FILE=t.ctb\n");
	write_event(*state, "OLD", 7);
	reading_init(&r);
	assert_int_equal(ct_binfile_trace_open(&r.sources, "t.ctb", &trace), CTRACE_OK);
	assert_int_equal(trace->source_process->pid, trace->info.pid);
	known = find(trace, &r.sources, "OLD");
	assert_non_null(known);
	assert_int_equal(known->class->event_id, 7);
	assert_int_equal(known->component_size, 3);
	assert_int_equal(known->filter_result, CT_FILTER_RESULT_ALWAYS);
	/* Its events all have the same size, those of the generic class do not. */
	assert_int_equal(known->shape.size, CT_EVENT_HEAD + 2);
	assert_int_equal(known->shape.counted_width, 2);
	assert_int_equal(ct_binfile_class(trace, &r.sources, CT_CLASS_ANY)->shape.size, 0);
	/* Numbers that the metadata lack: of no class, of a place among a class's items, behind the
	 * table. */
	assert_null(ct_binfile_class(trace, &r.sources, 0));
	assert_null(ct_binfile_class(trace, &r.sources, CT_CLASS_MARK));
	assert_null(ct_binfile_class(trace, &r.sources, known->number + 1));
	assert_null(ct_binfile_class(trace, &r.sources, 0xFFFF));
	assert_null(ct_binfile_class(trace, &r.sources, 4000000000u));
	assert_false(ct_binfile_trace_grow(trace, &r.sources));
	assert_null(find(trace, &r.sources, "NEW"));
	/* What came later is found, and what was found before stays where it is. */
	component = known->class->component;
	write_event(*state, "NEW", 8);
	assert_true(ct_binfile_trace_grow(trace, &r.sources));
	assert_false(ct_binfile_trace_grow(trace, &r.sources));
	assert_non_null(find(trace, &r.sources, "NEW"));
	assert_ptr_equal(find(trace, &r.sources, "OLD")->class->component, component);
	assert_int_equal(r.reports, 0);
	ct_binfile_trace_unref(trace);
	ct_sources_fini(&r.sources);
	fixture_close(*state);
}

/* Also of a trace that is being written. */
static void a_step_of_the_clock_is_reported_once(void **state)
{
	struct fixture *f = *state;
	struct ctrace_clock clock = { 0 };
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ct_binfile_trace *trace;
	struct reading r;

	fixture_open(f, "FILE=t.ctb\n");
	reading_init(&r);
	for (unsigned i = 0; i < 4; i++) {
		char component[] = { (char)('C' + i), '1', '\0' };
		struct ctrace_event event = text_event(f, &item, component, 7, "number 0.");

		event.clock = &clock;
		event.time_ns -= clock.set_back_ns;
		assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
		if (i == 0)
			assert_int_equal(ct_binfile_trace_open(&r.sources, "t.ctb", &trace),
					 CTRACE_OK);
		assert_non_null(find(trace, &r.sources, component));
		assert_int_equal(r.reports, i < 2 ? 0 : 1);
		if (i == 1)
			clock = (struct ctrace_clock){ .steps = 1,
						       .total_ns = -2000000000,
						       .set_back_ns = 2000000000 };
	}
	assert_string_equal(
		r.last_message,
		"the clock was set back by 2.000000 s at 2023/11/14 22:13:20.000; times from there on are ahead of it by 2.000000 s");
	assert_int_equal(r.sources.totals.damages, 0);
	ct_binfile_trace_unref(trace);
	ct_sources_fini(&r.sources);
	fixture_close(f);
}

static void what_the_filter_makes_of_classes(void **state)
{
	struct ct_diagnostic diagnostic;
	struct ct_binfile_trace *trace;
	struct ct_filter *filter;
	struct reading r;

	fixture_open(*state, "FILE=t.ctb\n");
	write_event(*state, "A", 1);
	write_event(*state, "B", 1);
	fixture_close(*state);
	assert_int_equal(ct_filter_parse("component = \"A\"", 0, &filter, &diagnostic), CTRACE_OK);
	reading_init(&r);
	r.sources.filter = filter;
	assert_int_equal(ct_binfile_trace_open(&r.sources, "t.ctb", &trace), CTRACE_OK);
	assert_int_equal(find(trace, &r.sources, "A")->filter_result, CT_FILTER_RESULT_ALWAYS);
	assert_int_equal(find(trace, &r.sources, "B")->filter_result, CT_FILTER_RESULT_NEVER);
	/* Of a generic event, each must be asked. */
	assert_int_equal(ct_binfile_class(trace, &r.sources, CT_CLASS_ANY)->filter_result,
			 CT_FILTER_RESULT_MAYBE);
	ct_binfile_trace_unref(trace);
	ct_sources_fini(&r.sources);
	ct_filter_destroy(filter);
}

static void what_is_no_trace_of_ours(void **state)
{
	struct ct_binfile_trace *trace = NULL;
	struct reading r;

	make_trace(*state, "t.ctb", 0, 1, 1);
	reading_init(&r);
	assert_int_equal(ct_binfile_trace_open(&r.sources, "nowhere", &trace), CTRACE_NOT_FOUND);
	patch_file("t.ctb/metadata", 0, "none", 4);
	assert_int_equal(ct_binfile_trace_open(&r.sources, "t.ctb", &trace), CTRACE_UNSUPPORTED);
	assert_null(trace);
	ct_sources_fini(&r.sources);
}

/* A live trace: classes and packets that come after reading began. */
static void a_growing_trace_is_read_on(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct reading r;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 2), CTRACE_OK);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(next_number(&r), 0);
	event = text_event(f, &item, "NEW", 2, "number 2.");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	assert_int_equal(next_number(&r), 1);
	assert_int_equal(next_number(&r), 2);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 0);
	ct_sources_fini(&r.sources);
}

static void damaged_metadata_cost_the_classes_behind(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct reading r;
	long size;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 3), CTRACE_OK);
	size = (long)f->place.offset;
	event = text_event(f, &item, "NEW", 2, "number 3.");
	assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	fixture_close(f);
	patch_file("t.ctb/metadata", size + 3, "?", 1);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, "t.ctb"), CTRACE_OK);
	assert_int_equal(r.reports, 1);
	assert_int_equal(r.last_offset, size);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.reports, 2);
	ct_sources_fini(&r.sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_binfile_trace(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_step_of_the_clock_is_reported_once),
		TEST(classes_by_their_number),
		TEST(what_the_filter_makes_of_classes),
		TEST(what_is_no_trace_of_ours),
		TEST(a_growing_trace_is_read_on),
		TEST(damaged_metadata_cost_the_classes_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
