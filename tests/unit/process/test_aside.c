/*
 * test_aside.c - work that does not end is given up, and takes all of the patience but one timeout.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "process_fixture.h"

#include "lib/process/aside.h"

#define TIMEOUT_NS 10000000u

static uint32_t is_free, has_ended, runs;

static void wait_until_free(struct ct_aside *unused)
{
	(void)unused;
	(void)__atomic_fetch_add(&runs, 1, __ATOMIC_SEQ_CST);
	(void)ct_os_wait_until(&is_free, 1, UINT64_MAX / 2);
}

static void note_end(struct ct_aside *self)
{
	free(self);
	__atomic_store_n(&has_ended, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&has_ended);
}

static struct ct_aside *work_create(void)
{
	struct ct_aside *aside = malloc(sizeof *aside);

	CHILD_CHECK(aside != NULL);
	*aside = (struct ct_aside){ .work = wait_until_free, .destroy = note_end };
	return aside;
}

static void give_up_and_recover(void)
{
	struct ct_aside *aside;

	CHILD_CHECK(ct_process_attach() != NULL);
	ct_process.settings.block_timeout_ns = TIMEOUT_NS;
	CHILD_CHECK(ct_aside_patience_ns(false) == 4 * TIMEOUT_NS);
	CHILD_CHECK(ct_aside_patience_ns(true) == 5 * TIMEOUT_NS);
	CHILD_CHECK(!ct_aside_run(work_create()));
	CHILD_CHECK(ct_aside_patience_ns(false) == 0);
	CHILD_CHECK(ct_aside_patience_ns(true) == TIMEOUT_NS);
	/* While it hangs nothing else is begun. */
	CHILD_CHECK(!ct_aside_run(work_create()) && runs == 1 && has_ended == 1);
	has_ended = 0;
	is_free = 1;
	ct_os_wake(&is_free);
	CHILD_CHECK(ct_os_wait_until(&has_ended, 1, UINT64_MAX / 2));
	while (ct_aside_patience_ns(false) != 4 * TIMEOUT_NS)
		(void)sched_yield();
	ct_process.settings.block_timeout_ns = UINT64_MAX / 16;
	aside = work_create();
	CHILD_CHECK(ct_aside_run(aside) && runs == 2);
	free(aside);
	ct_aside_waited(UINT64_MAX / 8);
	CHILD_CHECK(ct_aside_patience_ns(false) == UINT64_MAX / 16 * 4 - UINT64_MAX / 8);
	ct_aside_forked();
	CHILD_CHECK(ct_aside_patience_ns(false) == UINT64_MAX / 16 * 4);
	ct_process.settings.block_timeout_ns = 1000000000u;
}

/* The work ends between being given up and the end of the call. */
static void end_at_point(const char *name)
{
	if (strcmp(name, "aside.given-up") != 0)
		return;
	ct_point_set(NULL);
	is_free = 1;
	ct_os_wake(&is_free);
	(void)ct_os_wait_until(&has_ended, 1, UINT64_MAX / 2);
	while (ct_aside_patience_ns(false) != 4 * TIMEOUT_NS)
		(void)sched_yield();
}

static void give_up_what_ends(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	ct_process.settings.block_timeout_ns = TIMEOUT_NS;
	ct_point_set(end_at_point);
	CHILD_CHECK(!ct_aside_run(work_create()));
	CHILD_CHECK(ct_point_reached == NULL && ct_aside_patience_ns(false) == 4 * TIMEOUT_NS);
	ct_process.settings.block_timeout_ns = 1000000000u;
}

static void the_wait_of_work_that_has_ended_is_forgotten(void **state)
{
	(void)state;
	assert_int_equal(run_traced(give_up_what_ends), 0);
}

static void work_that_hangs_is_given_up(void **state)
{
	(void)state;
	assert_int_equal(run_traced(give_up_and_recover), 0);
}

int test_aside(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(work_that_hangs_is_given_up, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(the_wait_of_work_that_has_ended_is_forgotten,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
