/*
 * test_ring_pool.c - rings are made on demand, given back with what is in them, and used again by their like.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring_fixture.h"

#include <pthread.h>

static struct ct_session session;
static struct ct_ring_pool *pool;

static const struct ct_ring_kind common = { .capacity = CT_RING_MIN };

static int set_up(void **state)
{
	(void)state;
	enter_room();
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_ring_pool_create(&session, &pool), CTRACE_OK);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_ring_pool_forget(pool);
	ct_session_close(&session, true);
	leave_room();
	return 0;
}

static void a_ring_is_made_when_there_is_none(void **state)
{
	struct ct_ring *taken;

	(void)state;
	assert_int_equal(ct_ring_pool_count(pool), 0);
	taken = ct_ring_pool_take(pool, &common, 17);
	assert_non_null(taken);
	assert_int_equal(taken->head->owner_tid, 17);
	assert_int_equal(taken->head->capacity, CT_RING_MIN);
	assert_int_equal(ct_ring_pool_count(pool), 1);
	assert_int_equal(session.head->ring_count, 1);
	assert_ptr_equal(ct_ring_pool_at(pool, 0), taken);
}

static void one_that_was_given_back_is_used_again_with_what_is_in_it(void **state)
{
	(void)state;
	memset(&lane, 0, sizeof lane);
	for (uint32_t i = 0; i < 1000; i++) {
		struct ct_ring *taken = ct_ring_pool_take(pool, &common, i + 1);

		assert_non_null(taken);
		ring = *taken;
		memset(&lane, 0, sizeof lane);
		assert_true(produce(64, i));
		ct_ring_pool_give_back(pool, taken);
		assert_int_equal(taken->head->owner_tid, 0);
	}
	assert_int_equal(ct_ring_pool_count(pool), 1);
	assert_int_equal(ct_ring_count_pending(&ring), 1000);
}

static void one_in_use_is_nobody_elses(void **state)
{
	struct ct_ring *a, *b;

	(void)state;
	a = ct_ring_pool_take(pool, &common, 1);
	b = ct_ring_pool_take(pool, &common, 2);
	assert_ptr_not_equal(a, b);
	ct_ring_pool_give_back(pool, a);
	assert_ptr_equal(ct_ring_pool_take(pool, &common, 3), a);
}

static void only_a_ring_of_the_same_kind_will_do(void **state)
{
	const struct ct_ring_kind kinds[] = {
		{ .capacity = CT_RING_MIN },
		{ .capacity = 2 * CT_RING_MIN },
		{ .capacity = CT_RING_MIN, .route = 1 },
		{ .capacity = CT_RING_MIN, .is_side = true },
		{ .capacity = CT_RING_MIN, .is_flight = true },
		{ .capacity = CT_RING_MIN, .is_captured = true },
		/* A policy says what the counts of a ring mean: one that has dropped its oldest cannot begin to block, nor the other way. */
		{ .capacity = CT_RING_MIN, .overflow = CT_OVERFLOW_DISCARD },
		{ .capacity = CT_RING_MIN, .overflow = CT_OVERFLOW_BLOCK },
		{ .capacity = CT_RING_MIN, .overflow = CT_OVERFLOW_OVERWRITE },
	};
	struct ct_ring *rings[CT_COUNT(kinds)];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(kinds); i++) {
		rings[i] = ct_ring_pool_take(pool, &kinds[i], 1);
		assert_non_null(rings[i]);
		assert_int_equal(rings[i]->head->overflow, kinds[i].overflow);
		assert_int_equal(rings[i]->head->is_flight, kinds[i].is_flight);
		assert_int_equal(rings[i]->head->is_side, kinds[i].is_side);
		assert_int_equal(rings[i]->head->is_captured, kinds[i].is_captured);
		assert_int_equal(rings[i]->head->route, kinds[i].route);
		ct_ring_pool_give_back(pool, rings[i]);
	}
	assert_int_equal(ct_ring_pool_count(pool), CT_COUNT(kinds));
	for (size_t i = CT_COUNT(kinds); i-- > 0;)
		assert_ptr_equal(ct_ring_pool_take(pool, &kinds[i], 2), rings[i]);
}

static void a_full_disk_gives_none_and_the_next_try_succeeds(void **state)
{
	(void)state;
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	assert_null(ct_ring_pool_take(pool, &common, 1));
	assert_int_equal(ct_ring_pool_count(pool), 0);
	assert_int_equal(session.head->ring_count, 0);
	assert_int_equal(ct_thread_locked, 0);
	assert_non_null(ct_ring_pool_take(pool, &common, 1));
	ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM);
	assert_int_equal(ct_ring_pool_create(&session, &(struct ct_ring_pool *){ NULL }), CTRACE_NOT_ENOUGH_MEMORY);
}

static void the_limit_of_rings_refuses_and_nothing_more(void **state)
{
	struct ct_session private;
	struct ct_ring_pool *large;

	(void)state;
	assert_int_equal(ct_session_create(&private, NULL), CTRACE_OK);
	assert_int_equal(ct_ring_pool_create(&private, &large), CTRACE_OK);
	for (uint32_t i = 0; i < CT_RING_LIMIT; i++)
		assert_non_null(ct_ring_pool_take(large, &common, i + 1));
	assert_null(ct_ring_pool_take(large, &common, 1));
	assert_int_equal(ct_ring_pool_count(large), CT_RING_LIMIT);
	ct_ring_pool_give_back(large, ct_ring_pool_at(large, 4000));
	assert_ptr_equal(ct_ring_pool_take(large, &common, 1), ct_ring_pool_at(large, 4000));
	ct_ring_pool_forget(large);
	ct_session_close(&private, true);
}

static void *take_and_give_back(void *argument)
{
	uint32_t tid = (uint32_t)(uintptr_t)argument;

	for (int i = 0; i < 20000; i++) {
		struct ct_ring *mine = ct_ring_pool_take(pool, &common, tid);

		if (mine == NULL || mine->head->owner_tid != tid)
			return (void *)1;
		/* Only its owner writes here: another's number would show. */
		mine->head->head = tid;
		if (*(volatile uint64_t *)&mine->head->head != tid)
			return (void *)1;
		ct_ring_pool_give_back(pool, mine);
	}
	return NULL;
}

static void threads_never_share_one(void **state)
{
	pthread_t threads[4];
	void *bad;

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give_back, (void *)(i + 1)), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &bad), 0);
		assert_null(bad);
	}
	assert_true(ct_ring_pool_count(pool) <= 4);
}

static void a_forked_child_begins_empty_and_leaves_its_parents_alone(void **state)
{
	struct ct_ring *mine = ct_ring_pool_take(pool, &common, 1);
	int status;
	pid_t pid;

	(void)state;
	ct_ring_pool_lock(pool);
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(ct_session_fork(&session, run_dir) == CTRACE_OK);
		ct_ring_pool_forget(pool); /* also the lock that its parent holds */
		CHILD_CHECK(ct_ring_pool_count(pool) == 0);
		CHILD_CHECK(ct_ring_pool_take(pool, &common, 2) != NULL);
		CHILD_CHECK(session.head->ring_count == 1);
		_exit(0);
	}
	ct_ring_pool_unlock(pool);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(mine->head->owner_tid, 1);
	assert_int_equal(ct_ring_pool_count(pool), 1);
	assert_int_equal(ct_thread_locked, 0);
}

static void a_child_in_the_middle_of_a_call_writes_where_nobody_reads(void **state)
{
	struct ct_ring *mine = ct_ring_pool_take(pool, &common, 1);
	int status;
	pid_t pid;

	(void)state;
	ring = *mine;
	memset(&lane, 0, sizeof lane);
	assert_true(produce(64, 0));
	pid = fork();
	if (pid == 0) {
		ct_ring_pool_part(pool);
		CHILD_CHECK(mine->head->head == 0); /* private and empty, at the same addresses */
		memset(lane.cur, 0xFF, 64);
		mine->head->head = 12345;
		CHILD_CHECK(ct_session_fork(&session, run_dir) == CTRACE_OK);
		ct_ring_pool_forget(pool);
		CHILD_CHECK(ct_ring_pool_count(pool) == 0);
		memset(lane.cur, 0xFE, 64); /* the call ends late: the memory is still there */
		CHILD_CHECK(ct_ring_pool_take(pool, &common, 2) != NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(mine->head->head, 64);
	assert_int_equal(lane.cur[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_ring_is_made_when_there_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_given_back_is_used_again_with_what_is_in_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_in_use_is_nobody_elses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_a_ring_of_the_same_kind_will_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_gives_none_and_the_next_try_succeeds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_limit_of_rings_refuses_and_nothing_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_never_share_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_forked_child_begins_empty_and_leaves_its_parents_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_child_in_the_middle_of_a_call_writes_where_nobody_reads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
