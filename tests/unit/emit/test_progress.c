/*
 * test_progress.c - events that are out already are left out when their batch comes again, and no
 * others.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/emit/emit.h"

static struct ctrace_event events[8];

static struct ctrace_batch batch_of(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		events[i] = (struct ctrace_event){
			.time_ns = 1000 + first + i, .tid = 1, .event_id = 7, .component_id = 2
		};
	return (struct ctrace_batch){ .size = sizeof(struct ctrace_batch),
				      .events = events,
				      .event_count = count };
}

static void nothing_failed(void **state)
{
	struct ct_progress progress = { 0 };
	struct ctrace_batch batch = batch_of(0, 5);

	(void)state;
	assert_int_equal(ct_progress_resume(&progress, &batch), 0);
	ct_progress_note(&progress, &batch, 5);
	assert_int_equal(ct_progress_resume(&progress, &batch), 0);
	ct_progress_note(&progress, &batch, 0);
	assert_int_equal(ct_progress_resume(&progress, &batch), 0);
}

static void the_same_batch_or_a_longer_one(void **state)
{
	struct ct_progress progress = { 0 };
	struct ctrace_batch batch = batch_of(0, 5);

	(void)state;
	ct_progress_note(&progress, &batch, 3);
	assert_int_equal(ct_progress_resume(&progress, &batch), 3);
	batch = batch_of(0, 8);
	assert_int_equal(ct_progress_resume(&progress, &batch), 3);
	batch = batch_of(0, 3);
	assert_int_equal(ct_progress_resume(&progress, &batch), 3);
	ct_progress_note(&progress, &batch, 3);
	assert_int_equal(ct_progress_resume(&progress, &batch), 0);
}

static void another_batch_is_written_whole(void **state)
{
	struct ct_progress progress = { 0 };
	struct ctrace_batch batch = batch_of(0, 5);

	(void)state;
	ct_progress_note(&progress, &batch, 3);
	batch = batch_of(0, 2);
	assert_int_equal(ct_progress_resume(&progress, &batch), 0);
	batch = batch_of(1, 5);
	assert_int_equal(ct_progress_resume(&progress, &batch), 0);
	for (unsigned field = 0; field < 4; field++) {
		batch = batch_of(0, 5);
		events[2].time_ns += field == 0;
		events[2].tid += field == 1;
		events[2].event_id += field == 2;
		events[2].component_id += field == 3;
		assert_int_equal(ct_progress_resume(&progress, &batch), 0);
	}
}

int test_progress(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_failed),
		cmocka_unit_test(the_same_batch_or_a_longer_one),
		cmocka_unit_test(another_batch_is_written_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
