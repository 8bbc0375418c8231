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
	assert_int_equal(ct_ring_owner(taken), 17);
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
		assert_true(produce(24, i));
		ct_ring_pool_give_back(pool, taken);
		assert_int_equal(ct_ring_owner(taken), 0);
	}
	assert_int_equal(ct_ring_pool_count(pool), 1);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 1000);
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

/* Another process may write over the head: two threads never get one ring by that. */
static void a_head_that_was_written_over_gives_no_ring_away(void **state)
{
	struct ct_ring *a, *b;

	(void)state;
	a = ct_ring_pool_take(pool, &common, 1);
	memset(a->head, 0, sizeof *a->head);
	b = ct_ring_pool_take(pool, &common, 2);
	assert_ptr_not_equal(a, b);
	assert_int_equal(ct_ring_owner(a), 1);
	/* Nor does it keep one that is free. */
	ct_ring_pool_give_back(pool, b);
	memset(b->head, 0xFF, sizeof *b->head);
	assert_ptr_equal(ct_ring_pool_take(pool, &common, 3), b);
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

static uint32_t writer_one(const struct ct_ring_head *head, void *user)
{
	(void)head;
	(void)user;
	return 1;
}

static void where_there_is_no_room_it_is_memory_and_no_writers(void **state)
{
	const struct ct_ring_kind written = { .capacity = CT_RING_MIN, .route = 1, .writer = 1 };
	struct ct_ring *taken;

	(void)state;
	session.head->writer[1].slots = CT_WRITER_SLOT | 1u << 8;
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	taken = ct_ring_pool_take(pool, &written, 1);
	assert_non_null(taken);
	assert_int_equal(taken->place, CT_RING_PRIVATE);
	assert_int_equal(session.head->ring_place[0], CT_RING_PRIVATE);
	assert_int_equal(session.head->ring_count, 1);
	assert_int_equal(taken->head->consumer, 0);
	assert_int_equal(taken->head->wanted, 0);
	ct_ring_pool_assign(pool, writer_one, NULL);
	assert_int_equal(taken->head->wanted, 0);
	/* Another has a file, and goes to the writer. */
	taken = ct_ring_pool_take(pool, &written, 2);
	assert_int_equal(taken->place, CT_RING_IN_FOLDER);
	assert_int_equal(session.head->ring_place[1], CT_RING_IN_FOLDER);
	assert_int_equal(taken->head->consumer, CT_WRITER_SLOT);
}

/* Threads that come and go must not make a ring each because none has the size that they ask for. */
static void one_that_became_smaller_is_used_again(void **state)
{
	const struct ct_ring_kind large = { .capacity = 4 * CT_RING_MIN };
	struct ct_ring *taken;

	(void)state;
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	taken = ct_ring_pool_take(pool, &large, 1);
	assert_non_null(taken);
	assert_int_equal(taken->capacity, 2 * CT_RING_MIN);
	ct_ring_pool_give_back(pool, taken);
	assert_ptr_equal(ct_ring_pool_take(pool, &large, 2), taken);
	assert_ptr_not_equal(ct_ring_pool_take(pool, &(struct ct_ring_kind){ .capacity = 2 * CT_RING_MIN }, 3), taken);
}

#define NO_THREAD 0x3FFFFFFFu

/* The reaper has looked: the owner is dead.  Before it acts the ring goes to another thread. */
static void the_ring_of_a_dead_thread_is_not_taken_from_the_next_owner(void **state)
{
	struct ct_ring *taken = ct_ring_pool_take(pool, &common, NO_THREAD);
	uint32_t seen = ct_ring_owner(taken);

	(void)state;
	assert_false(ct_os_thread_exists(seen));
	ct_ring_pool_give_back(pool, taken);
	assert_ptr_equal(ct_ring_pool_take(pool, &common, ct_os_thread_id()), taken);
	ct_ring_pool_reap(pool, taken, seen);
	assert_int_equal(ct_ring_owner(taken), ct_os_thread_id());
	/* Nor from one that has got the dead thread's number. */
	ct_ring_pool_reap(pool, taken, ct_os_thread_id());
	assert_int_equal(ct_ring_owner(taken), ct_os_thread_id());
	ct_ring_pool_give_back(pool, taken);
	assert_ptr_equal(ct_ring_pool_take(pool, &common, NO_THREAD), taken);
	ct_ring_pool_reap(pool, taken, NO_THREAD);
	assert_int_equal(ct_ring_owner(taken), 0);
}

/* The file of a ring whose thread lives is cut: a store would kill the program. */
static void a_ring_that_was_cut_is_made_whole_and_keeps_its_owner(void **state)
{
	const struct ct_ring_kind kind = { .capacity = CT_RING_MIN, .route = 2, .overflow = CT_OVERFLOW_DISCARD };
	struct ct_ring *taken = ct_ring_pool_take(pool, &kind, 17);
	struct stat info;
	char path[5000];

	(void)state;
	assert_int_equal(ct_ring_pool_heal(pool), 0);
	(void)snprintf(path, sizeof path, "%s/ring.0", session.path);
	assert_int_equal(chmod(path, 0600) | truncate(path, 100), 0);
	assert_int_equal(ct_ring_pool_heal(pool), 1);
	assert_int_equal(ct_ring_pool_heal(pool), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_size, CT_RING_HEAD_SIZE + CT_RING_MIN);
	assert_true((uint64_t)info.st_blocks * 512 >= CT_RING_HEAD_SIZE + CT_RING_MIN);
	taken->data[CT_RING_MIN - 1] = 1;
	assert_int_equal(chmod(path, 0600) | truncate(path, 0), 0);
	assert_int_equal(ct_ring_pool_heal(pool), 1);
	assert_int_equal(ct_ring_owner(taken), 17);
	assert_int_equal(taken->head->route, 2);
	assert_int_equal(taken->head->overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(taken->head->magic, CT_RING_MAGIC);
	assert_ptr_not_equal(ct_ring_pool_take(pool, &kind, 18), taken);
	/* Private memory has no file to be cut. */
	ct_os_fail(CT_OS_OPEN, 0, 1, EMFILE);
	assert_int_equal(ct_ring_pool_take(pool, &kind, 19)->place, CT_RING_PRIVATE);
	assert_int_equal(ct_ring_pool_heal(pool), 0);
}

static void no_memory_gives_none_and_the_next_try_succeeds(void **state)
{
	(void)state;
	ct_os_fail(CT_OS_MAP, 0, 100, ENOMEM);
	assert_null(ct_ring_pool_take(pool, &common, 1));
	assert_int_equal(ct_ring_pool_create(&session, &(struct ct_ring_pool *){ NULL }), CTRACE_NOT_ENOUGH_MEMORY);
	ct_os_fail(CT_OS_MAP, 0, 0, 0);
	assert_int_equal(ct_ring_pool_count(pool), 0);
	assert_int_equal(session.head->ring_count, 0);
	assert_int_equal(ct_thread_locked, 0);
	assert_non_null(ct_ring_pool_take(pool, &common, 1));
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

		if (mine == NULL || ct_ring_owner(mine) != tid)
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
	assert_int_equal(ct_ring_owner(mine), 1);
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
	assert_int_equal(mine->head->head, CT_EVENT_MARK + 64);
	assert_int_equal(lane.cur[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_ring_is_made_when_there_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_given_back_is_used_again_with_what_is_in_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_in_use_is_nobody_elses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_head_that_was_written_over_gives_no_ring_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_a_ring_of_the_same_kind_will_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_there_is_no_room_it_is_memory_and_no_writers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_became_smaller_is_used_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_memory_gives_none_and_the_next_try_succeeds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_was_cut_is_made_whole_and_keeps_its_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_ring_of_a_dead_thread_is_not_taken_from_the_next_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_limit_of_rings_refuses_and_nothing_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_never_share_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_forked_child_begins_empty_and_leaves_its_parents_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_child_in_the_middle_of_a_call_writes_where_nobody_reads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
