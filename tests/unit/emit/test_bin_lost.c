/*
 * test_bin_lost.c - losses are reported once: by the packets of a stream, else in stream.lost.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

static void discarded_events_are_counted(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream streams[2] = { { .id = 0, .lost = 4 }, { .id = 1 } };
	uint64_t totals[CTRACE_LOSS_COUNT] = { 0 };
	char *errors, *text;

	fixture_open(f, "FILE=t.ctb\n");
	/* Before the first event of the stream, between two, none, and after the last. */
	assert_int_equal(write_numbered(f, &streams[0], 0, 2), CTRACE_OK);
	streams[0].lost = 21;
	assert_int_equal(write_numbered(f, &streams[0], 2, 2), CTRACE_OK);
	assert_int_equal(write_numbered(f, &streams[0], 4, 2), CTRACE_OK);
	assert_int_equal(write_numbered(f, &streams[1], 6, 2), CTRACE_OK);
	totals[CTRACE_LOSS_DISCARDED] = 21;
	totals[CTRACE_LOSS_NO_RING] = 5;
	ct_emit_binfile.lost(f->self, totals);
	fixture_close(f);
	text = babeltrace("t.ctb", &errors);
	assert_int_equal(count_lines(text), 8);
	assert_non_null(strstr(errors, "Tracer discarded 4 events"));
	assert_non_null(strstr(errors, "Tracer discarded 17 events"));
	assert_non_null(strstr(errors, "Tracer discarded 5 events"));
	assert_int_equal(count_lines(errors), 3);
	free(text);
	free(errors);
}

static void no_losses_no_word_of_them(void **state)
{
	const uint64_t totals[CTRACE_LOSS_COUNT] = { [CTRACE_LOSS_STALLED] = 3 };
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0, .lost = 3 };
	char *errors, *text;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 2), CTRACE_OK);
	ct_emit_binfile.lost(f->self, totals);
	fixture_close(f);
	assert_int_equal(access("t.ctb/stream.lost", F_OK), -1);
	text = babeltrace("t.ctb", &errors);
	assert_int_equal(count_lines(errors), 1); /* the stream's own */
	free(text);
	free(errors);
}

static void losses_go_on_over_generations(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	const uint64_t totals[CTRACE_LOSS_COUNT] = { 9 };
	char *errors, *text;

	/* each batch turns */
	fixture_open(f, "FILE=t_$(GEN).ctb\nMAXFILESIZE=1\nMAXGENERATION=2\n");
	stream.lost = 2;
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	assert_string_equal(strrchr(f->place.path, '/'), "/t_1.ctb");
	stream.lost = 5;
	assert_int_equal(write_numbered(f, &stream, 1, 1), CTRACE_OK);
	assert_string_equal(strrchr(f->place.path, '/'), "/t_2.ctb");
	stream.lost = 9;
	assert_int_equal(write_numbered(f, &stream, 2, 1), CTRACE_OK);
	assert_string_equal(strrchr(f->place.path, '/'), "/t_1.ctb");
	ct_emit_binfile.lost(f->self, totals);
	fixture_close(f);
	text = babeltrace("t_2.ctb", &errors);
	assert_non_null(strstr(errors, "discarded 3 events"));
	assert_int_equal(count_lines(errors), 1);
	free(text);
	free(errors);
	text = babeltrace("t_1.ctb", &errors);
	assert_non_null(strstr(errors, "discarded 4 events"));
	assert_int_equal(count_lines(errors), 1);
	free(text);
	free(errors);
}

static void losses_are_reported_when_they_are_written(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	const uint64_t totals[CTRACE_LOSS_COUNT] = { 9 };

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 1), CTRACE_OK);
	ct_emit_binfile.lost(f->self, totals);
	ct_os_fail(CT_OS_WRITE, 0, 100, ENOSPC);
	fixture_close(f);
	ct_os_fail(CT_OS_WRITE, 0, 0, 0);
	assert_int_equal(f->place.lost, 0);
	fixture_open(f, NULL);
	ct_emit_binfile.lost(f->self, totals);
	fixture_close(f);
	assert_int_equal(f->place.lost, 9);
}

/* The place says how much is reported; it never says less than before. */
static void a_report_is_recorded_in_the_place(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_directory *directory = directory_new(f);
	char *errors, *text;

	ct_bin_report_lost(directory, 7, &f->place);
	assert_int_equal(f->place.lost, 7);
	f->place.lost = 9;
	ct_bin_report_lost(directory, 8, &f->place);
	assert_int_equal(f->place.lost, 9);
	ct_os_fail(CT_OS_WRITE, 0, 100, ENOSPC);
	ct_bin_report_lost(directory, 20, &f->place);
	ct_os_fail(CT_OS_WRITE, 0, 0, 0);
	assert_int_equal(f->place.lost, 9);
	ct_bin_directory_close(directory);
	text = babeltrace("t.ctb", &errors);
	assert_non_null(strstr(errors, "discarded 7 events"));
	assert_non_null(strstr(errors, "discarded 1 event"));
	free(text);
	free(errors);
}

/* As an external writer notes what its data sets have lost. */
static void a_total_is_replaced(void **state)
{
	struct ct_bin_directory *directory = directory_new(*state);
	char *errors, *text;

	for (uint64_t total = 5; total < 8; total++) {
		ct_bin_take_back_lost(directory, UINT64_MAX);
		assert_int_equal(ct_bin_write_lost(directory, total), CTRACE_OK);
		assert_int_equal(directory->lost_reported, total);
	}
	ct_bin_directory_close(directory);
	text = babeltrace("t.ctb", &errors);
	assert_non_null(strstr(errors, "discarded 7 events"));
	assert_null(strstr(errors, "discarded 1 event"));
	free(text);
	free(errors);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_bin_lost(void)
{
	const struct CMUnitTest tests[] = {
		TEST(discarded_events_are_counted),
		TEST(no_losses_no_word_of_them),
		TEST(losses_go_on_over_generations),
		TEST(losses_are_reported_when_they_are_written),
		TEST(a_report_is_recorded_in_the_place),
		TEST(a_total_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
