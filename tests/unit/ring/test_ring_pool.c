/*
 * test_ring_pool.c - rings are made on demand, given back with what is in them, and used again by
 * their like.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

static struct ct_session session;
static struct ct_ring_pool *pool;

static const struct ct_ring_kind common = { .capacity = 2 * CT_RING_MIN };

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
	assert_int_equal(ct_ring_pool_reset(&pool), CTRACE_OK);
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
	assert_int_equal(taken->head->capacity, 2 * CT_RING_MIN);
	assert_int_equal(ct_ring_pool_count(pool), 1);
	assert_int_equal(session.head->ring_count, 1);
	assert_ptr_equal(ct_ring_pool_at(pool, 0), taken);
}

static void one_that_was_given_back_is_used_again_with_what_is_in_it(void **state)
{
	(void)state;
	memset(&thread_buffer, 0, sizeof thread_buffer);
	for (uint32_t i = 0; i < 1000; i++) {
		struct ct_ring *taken = ct_ring_pool_take(pool, &common, i + 1);

		assert_non_null(taken);
		ring = *taken;
		memset(&thread_buffer, 0, sizeof thread_buffer);
		assert_true(produce(24, i));
		ct_ring_pool_give_back(pool, taken);
		assert_int_equal(ct_ring_owner(taken), 0);
	}
	assert_int_equal(ct_ring_pool_count(pool), 1);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 1000);
}

/* A writer is told from none by one word of the head, which a dead one leaves as it is. */
static void a_ring_has_a_writer_while_a_thread_holds_it(void **state)
{
	struct ct_ring *taken;

	(void)state;
	taken = ct_ring_pool_take(pool, &common, 1);
	assert_false(ct_ring_has_writer(taken));
	taken->head->held_by = CT_WRITER_SLOT;
	assert_true(ct_ring_has_writer(taken));
	taken->head->held_by = 0;
	assert_false(ct_ring_has_writer(taken));
}

static void consumers_see_that_a_ring_moved(void **state)
{
	uint32_t moves = session.head->ring_moves;

	(void)state;
	ct_ring_note_move(&session);
	assert_int_equal(session.head->ring_moves, moves + 1);
	ct_ring_note_move(&session);
	assert_int_equal(session.head->ring_moves, moves + 2);
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
		{ .capacity = CT_RING_MIN, .channel = 1 },
		{ .capacity = CT_RING_MIN, .is_side = true },
		{ .capacity = CT_RING_MIN, .kept = true },
		{ .capacity = CT_RING_MIN, .is_imported = true },
		/* A policy says what the counts of a ring mean: one that has dropped its oldest
		   cannot begin to block, nor the other way. */
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
		assert_int_equal(rings[i]->head->kept, kinds[i].kept);
		assert_int_equal(rings[i]->head->is_side, kinds[i].is_side);
		assert_int_equal(rings[i]->head->is_imported, kinds[i].is_imported);
		assert_int_equal(rings[i]->head->channel, kinds[i].channel);
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
	const struct ct_ring_kind written = { .capacity = CT_RING_MIN, .channel = 1, .writer = 1 };
	struct ct_ring *taken;

	(void)state;
	session.head->writer[1].slots = CT_WRITER_SLOT | 1u << 8;
	ct_os_fail(CT_OS_ALLOCATE, 0, 2, ENOSPC); /* exactly as asked, and then of any size */
	taken = ct_ring_pool_take(pool, &written, 1);
	assert_non_null(taken);
	assert_int_equal(taken->place, CT_RING_PRIVATE);
	assert_int_equal(session.head->ring_place[0], CT_RING_PRIVATE);
	assert_int_equal(session.head->ring_count, 1);
	assert_int_equal(taken->head->held_by, 0);
	assert_int_equal(taken->head->wanted, 0);
	ct_ring_pool_assign(pool, writer_one, NULL);
	assert_int_equal(taken->head->wanted, 0);
	/* Another has a file, and goes to the writer. */
	taken = ct_ring_pool_take(pool, &written, 2);
	assert_int_equal(taken->place, CT_RING_IN_DIRECTORY);
	assert_int_equal(session.head->ring_place[1], CT_RING_IN_DIRECTORY);
	assert_int_equal(taken->head->held_by, CT_WRITER_SLOT);
}

/* Threads that come and go must not make a ring each because none has the size that they ask for.
 */
static void one_that_became_smaller_is_used_again(void **state)
{
	const struct ct_ring_kind large = { .capacity = 4 * CT_RING_MIN };
	struct ct_ring *taken;

	(void)state;
	ct_os_fail(CT_OS_ALLOCATE, 0, 2, ENOSPC);
	taken = ct_ring_pool_take(pool, &large, 1);
	assert_non_null(taken);
	assert_int_equal(taken->capacity, 2 * CT_RING_MIN);
	ct_ring_pool_give_back(pool, taken);
	assert_ptr_equal(ct_ring_pool_take(pool, &large, 2), taken);
	assert_ptr_not_equal(
		ct_ring_pool_take(pool, &(struct ct_ring_kind){ .capacity = 2 * CT_RING_MIN }, 3),
		taken);
}

/* A thread that has filled its ring goes on in a larger one; the next thread that needs the smaller
 * one gets it with what is in it. */
static void an_owner_moves_to_a_larger_ring_and_leaves_what_it_has(void **state)
{
	const struct ct_ring_kind small = { .capacity = CT_RING_MIN, .full = 8 * CT_RING_MIN };
	const struct ct_ring_kind large = { .capacity = 8 * CT_RING_MIN, .full = 8 * CT_RING_MIN };
	struct ct_ring *first = ct_ring_pool_take(pool, &small, 1), *next;
	uint32_t moves = session.head->ring_moves;

	(void)state;
	assert_true(first->may_grow);
	ring = *first;
	memset(&thread_buffer, 0, sizeof thread_buffer);
	assert_true(produce(64, 0));
	next = ct_ring_pool_grow(pool, first, &large);
	assert_ptr_not_equal(next, first);
	assert_int_equal(session.head->late_rings, 1);
	assert_int_equal(ct_ring_owner(first), 1);
	ct_ring_pool_leave(first);
	assert_int_equal(next->capacity, 8 * CT_RING_MIN);
	assert_false(next->may_grow);
	assert_int_equal(ct_ring_owner(next), 1);
	assert_int_equal(ct_ring_owner(first), 0);
	assert_true(first->may_grow); /* it holds nobody up */
	assert_int_not_equal(session.head->ring_moves, moves);
	assert_int_equal(ct_ring_count_pending(first, &classes), 1);
	assert_ptr_equal(ct_ring_pool_take(pool, &small, 2), first);
	ct_ring_pool_give_back(pool, next);
	/* one that was given back */
	assert_ptr_equal(ct_ring_pool_grow(pool, first, &large), next);
	assert_int_equal(ct_ring_pool_count(pool), 2);
}

static void without_room_for_a_larger_ring_nothing_changes(void **state)
{
	const struct ct_ring_kind small = { .capacity = CT_RING_MIN, .full = 8 * CT_RING_MIN };
	const struct ct_ring_kind large = { .capacity = 8 * CT_RING_MIN, .full = 8 * CT_RING_MIN };
	struct ct_ring *first = ct_ring_pool_take(pool, &small, 1), *next;
	uint32_t moves = session.head->ring_moves;

	(void)state;
	/* for 8 times as much; for 8, 4 and 2 times as much */
	ct_os_fail(CT_OS_ALLOCATE, 0, 4, ENOSPC);
	assert_null(ct_ring_pool_grow(pool, first, &large));
	assert_int_equal(ct_ring_owner(first), 1);
	assert_int_equal(ct_ring_pool_count(pool), 1); /* nor private memory in place of a file */
	assert_int_equal(session.head->ring_moves, moves);
	ct_os_fail(CT_OS_ALLOCATE, 0, 2, ENOSPC);
	next = ct_ring_pool_grow(pool, first, &large);
	assert_non_null(next);
	assert_int_equal(next->capacity, 4 * CT_RING_MIN);
	assert_true(next->may_grow);
}

/* Where nothing larger than what is there can be made, any free ring of the kind is better than
 * none. */
static void a_thread_gets_a_larger_ring_when_no_small_one_can_be_had(void **state)
{
	struct ct_ring *large = ct_ring_pool_take(pool, &common, 1);

	(void)state;
	ct_ring_pool_give_back(pool, large);
	ct_os_fail(CT_OS_MAP, 0, 3, ENOMEM); /* of a file, twice, and of private memory */
	assert_ptr_equal(
		ct_ring_pool_take(pool, &(struct ct_ring_kind){ .capacity = CT_RING_MIN }, 2),
		large);
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

static void hold_up(struct ct_ring *held)
{
	held->head->waiting = 1;
	held->head->turned_away = 1u << 3;
}

static void check_free(const struct ct_ring *freed)
{
	assert_int_equal(ct_ring_owner(freed), 0);
	assert_int_equal(freed->head->waiting, 0);
	assert_int_equal(freed->head->turned_away, 0);
}

/* Its thread waited for room and had an event turned away: neither is true of a ring without a
 * thread, nor of the next owner's. */
static void a_ring_without_a_thread_holds_nobody_up(void **state)
{
	const struct ct_ring_kind small = { .capacity = CT_RING_MIN, .full = 8 * CT_RING_MIN };
	const struct ct_ring_kind large = { .capacity = 8 * CT_RING_MIN, .full = 8 * CT_RING_MIN };
	struct ct_ring *first = ct_ring_pool_take(pool, &small, 1), *next;

	(void)state;
	hold_up(first);
	next = ct_ring_pool_grow(pool, first, &large);
	ct_ring_pool_leave(first);
	check_free(first);
	hold_up(next);
	ct_ring_pool_give_back(pool, next);
	check_free(next);
	assert_ptr_equal(ct_ring_pool_take(pool, &large, NO_THREAD), next);
	hold_up(next);
	ct_ring_pool_reap(pool, next, NO_THREAD);
	check_free(next);
}

/* The file of a ring whose thread lives is cut: a store would kill the program. */
static void a_ring_that_was_cut_is_made_whole_and_keeps_its_owner(void **state)
{
	const struct ct_ring_kind kind = { .capacity = CT_RING_MIN,
					   .channel = 2,
					   .overflow = CT_OVERFLOW_DISCARD };
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
	assert_int_equal(taken->head->channel, 2);
	assert_int_equal(taken->head->overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(taken->head->magic, CT_RING_MAGIC);
	/* The handler of SIGBUS has restored the length alone. */
	assert_int_equal(chmod(path, 0600) | truncate(path, 0), 0);
	assert_true(ct_ring_heal(taken, &session));
	assert_int_equal(ct_ring_pool_heal(pool), 0);
	assert_int_equal(taken->head->magic, CT_RING_MAGIC);
	assert_ptr_not_equal(ct_ring_pool_take(pool, &kind, 18), taken);
	/* Private memory has no file to be cut. */
	ct_os_fail(CT_OS_OPEN, 0, 2, EMFILE);
	assert_int_equal(ct_ring_pool_take(pool, &kind, 19)->place, CT_RING_PRIVATE);
	assert_int_equal(ct_ring_pool_heal(pool), 0);
}

static void no_memory_gives_none_and_the_next_try_succeeds(void **state)
{
	(void)state;
	ct_os_fail(CT_OS_MAP, 0, 100, ENOMEM);
	assert_null(ct_ring_pool_take(pool, &common, 1));
	assert_int_equal(ct_ring_pool_create(&session, &(struct ct_ring_pool *){ NULL }),
			 CTRACE_NOT_ENOUGH_MEMORY);
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
	assert_int_equal(ct_ring_pool_reset(&large), CTRACE_OK);
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
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_and_give_back, (void *)(i + 1)), 0);
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
		/* also the lock that its parent holds */
		CHILD_CHECK(ct_ring_pool_reset(&pool) == CTRACE_OK);
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
	memset(&thread_buffer, 0, sizeof thread_buffer);
	assert_true(produce(64, 0));
	pid = fork();
	if (pid == 0) {
		ct_ring_pool_detach(pool);
		CHILD_CHECK(mine->head->head == 0); /* private and empty, at the same addresses */
		memset(thread_buffer.cur, 0xFF, 64);
		mine->head->head = 12345;
		CHILD_CHECK(ct_session_fork(&session, run_dir) == CTRACE_OK);
		CHILD_CHECK(ct_ring_pool_reset(&pool) == CTRACE_OK);
		CHILD_CHECK(ct_ring_pool_count(pool) == 0);
		/* the call ends late: the memory is still there */
		memset(thread_buffer.cur, 0xFE, 64);
		CHILD_CHECK(ct_ring_pool_take(pool, &common, 2) != NULL);
		/* and so is the ring, which a call that looks for space uses */
		CHILD_CHECK(mine->head->head == 12345 && mine->capacity == ring.capacity);
		CHILD_CHECK(!ct_ring_is_empty(mine));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(mine->head->head, CT_EVENT_MARK + 64);
	assert_int_equal(thread_buffer.cur[0], 0);
}

/* ---- making ---- */

static struct ct_ring *taken_meanwhile;

/* The file is there.  Another thread could wait for a lock that this one holds: so this one takes
 * it. */
static void take_another(const char *name)
{
	if (strcmp(name, "pool.made") != 0)
		return;
	ct_point_set(NULL);
	(void)alarm(60);
	taken_meanwhile = ct_ring_pool_take(pool, &common, 2);
	(void)alarm(0);
}

static void a_ring_is_made_under_no_lock(void **state)
{
	struct ct_ring *taken;

	(void)state;
	ct_point_set(take_another);
	taken = ct_ring_pool_take(pool, &common, 1);
	assert_int_equal(taken_meanwhile->index, 0);
	assert_int_equal(taken->index, 1); /* in the order in which they can be used */
	assert_int_equal(taken->head->index, 1);
	assert_int_equal(ct_ring_owner(taken), 1);
	assert_int_equal(ct_ring_owner(taken_meanwhile), 2);
	assert_int_equal(session.head->ring_count, 2);
	assert_int_equal(ct_thread_locked, 0);
}

static uint32_t step; /* 1: a thread is making a ring, 2: it may go on */

static void wait_for(uint32_t value)
{
	uint32_t now;

	while ((now = __atomic_load_n(&step, __ATOMIC_SEQ_CST)) < value)
		ct_os_wait(&step, now, UINT64_MAX);
}

static void reach(uint32_t value)
{
	__atomic_store_n(&step, value, __ATOMIC_SEQ_CST);
	ct_os_wake(&step);
}

static void hold_maker(const char *name)
{
	if (strcmp(name, "pool.made") != 0)
		return;
	reach(1);
	wait_for(2);
}

static void *take_one(void *unused)
{
	return ct_ring_pool_take(pool, &common, 1) == NULL ? (void *)1 : unused;
}

static void *let_maker_go(void *unused)
{
	reach(2);
	return unused;
}

static void a_fork_waits_for_a_ring_that_is_being_made(void **state)
{
	pthread_t maker, helper;
	void *bad;

	(void)state;
	step = 0;
	ct_point_set(hold_maker);
	assert_int_equal(pthread_create(&maker, NULL, take_one, NULL), 0);
	wait_for(1);
	ct_ring_pool_lock(pool); /* others do not wait */
	assert_int_equal(ct_ring_pool_count(pool), 0);
	ct_ring_pool_unlock(pool);
	assert_int_equal(pthread_create(&helper, NULL, let_maker_go, NULL), 0);
	ct_ring_pool_lock_whole(pool);
	assert_int_equal(ct_ring_pool_count(pool), 1);
	ct_ring_pool_unlock(pool);
	ct_point_set(NULL);
	assert_int_equal(pthread_join(maker, &bad) | pthread_join(helper, NULL), 0);
	assert_null(bad);
}

static const struct ct_ring_kind least = { .capacity = CT_RING_MIN, .full = CT_RING_MIN };

/* Files in the directory whose names begin with `prefix`; the path of the last one. */
static unsigned count_files(const char *prefix, char out_path[5000])
{
	DIR *directory = opendir(session.path);
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(directory)) != NULL)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
			(void)snprintf(out_path, 5000, "%.4000s/%s", session.path, entry->d_name);
			count++;
		}
	(void)closedir(directory);
	return count;
}

static unsigned points;

static void count_points(const char *name)
{
	points += strcmp(name, "pool.made") == 0;
}

static void from_the_second_small_ring_on_one_is_kept_ready(void **state)
{
	struct ct_ring *third;
	char path[5000];

	(void)state;
	assert_non_null(ct_ring_pool_take(pool, &least, 1));
	ct_ring_pool_stock(pool);
	/* a process with one thread has one ring */
	assert_int_equal(count_files("ring.new.", path), 0);
	assert_non_null(ct_ring_pool_take(pool, &least, 2));
	ct_ring_pool_stock(pool);
	ct_ring_pool_stock(pool);
	assert_int_equal(count_files("ring.new.", path), 1);
	assert_int_equal(session.head->ring_count, 2); /* nobody else sees it */
	points = 0;
	ct_point_set(count_points);
	/* For any policy and channel. */
	third = ct_ring_pool_take(pool,
				  &(struct ct_ring_kind){ .capacity = CT_RING_MIN,
							  .channel = 3,
							  .overflow = CT_OVERFLOW_OVERWRITE },
				  3);
	ct_point_set(NULL);
	assert_int_equal(points, 0); /* none was made */
	assert_int_equal(third->index, 2);
	assert_int_equal(third->head->index, 2);
	assert_int_equal(third->head->magic, CT_RING_MAGIC);
	assert_int_equal(third->head->channel, 3);
	assert_int_equal(count_files("ring.new.", path), 0);
	assert_int_equal(count_files("ring.2", path), 1);
	ct_ring_pool_stock(pool);
	assert_int_equal(count_files("ring.new.", path), 1);
	/* Not for a larger one. */
	assert_int_equal(ct_ring_pool_take(pool, &common, 4)->capacity, 2 * CT_RING_MIN);
	assert_int_equal(count_files("ring.new.", path), 1);
}

static void a_ring_that_is_ready_but_was_cut_is_not_used(void **state)
{
	char path[5000];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct ct_ring *taken;

		assert_non_null(ct_ring_pool_take(pool, &least, 1));
		assert_non_null(ct_ring_pool_take(pool, &least, 2));
		ct_ring_pool_stock(pool);
		assert_int_equal(count_files("ring.new.", path), 1);
		assert_int_equal(i == 0 ? chmod(path, 0600) | truncate(path, 0) : unlink(path), 0);
		taken = ct_ring_pool_take(pool, &least, 3);
		assert_int_equal(taken->place, CT_RING_IN_DIRECTORY);
		memset(taken->data, 1, CT_RING_MIN); /* would be a SIGBUS */
		assert_int_equal(count_files("ring.new.", path), 0);
	}
}

static void without_room_none_is_kept_ready(void **state)
{
	char path[5000];

	(void)state;
	assert_non_null(ct_ring_pool_take(pool, &least, 1));
	assert_non_null(ct_ring_pool_take(pool, &least, 2));
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	ct_ring_pool_stock(pool);
	assert_int_equal(count_files("ring.new.", path), 0);
	assert_int_equal(ct_ring_pool_take(pool, &least, 3)->place, CT_RING_IN_DIRECTORY);
}

/* ---- larger rings that are ready */

static const struct ct_ring_kind growing = { .capacity = CT_RING_MIN, .full = 64 * CT_RING_MIN };

/* The owner fills its ring, at any pace that this machine allows, until the larger one is there. */
static struct ct_ring *fill_until_ready(struct ct_ring *owned)
{
	while (owned->next == NULL) {
		ct_ring_pool_stock(pool);
		owned->head->head += owned->capacity / 2;
		ct_ring_pool_stock(pool);
	}
	return owned->next;
}

static void a_ring_grows_by_a_factor_and_as_far_as_the_event_needs(void **state)
{
	(void)state;
	assert_int_equal(ct_ring_next_capacity(0, 1 << 20, 0), 32 << 10);
	assert_int_equal(ct_ring_next_capacity(32 << 10, 1 << 20, 0), 256 << 10);
	assert_int_equal(ct_ring_next_capacity(256 << 10, 1 << 20, 0), 1 << 20);
	assert_int_equal(ct_ring_next_capacity(0, 1 << 20, 100000), 256 << 10);
	assert_int_equal(ct_ring_next_capacity(0, 64 << 10, 100000), 64 << 10);
}

static void a_larger_ring_is_ready_for_a_thread_that_fills_its_own(void **state)
{
	struct ct_ring *first = ct_ring_pool_take(pool, &growing, 1), *next;
	uint32_t moves;

	(void)state;
	ct_ring_pool_stock(pool);
	assert_null(first->next); /* the thread has traced nothing */
	next = fill_until_ready(first);
	assert_int_equal(next->capacity, 8 * CT_RING_MIN);
	assert_int_equal(ct_ring_owner(next), 0);
	assert_false(ct_ring_is_used(next->head));
	/* Nobody gets it but the owner. */
	assert_ptr_not_equal(ct_ring_pool_take(pool,
					       &(struct ct_ring_kind){ .capacity = 8 * CT_RING_MIN,
								       .full = 64 * CT_RING_MIN },
					       2),
			     next);
	moves = session.head->ring_moves;
	points = 0;
	ct_point_set(count_points);
	assert_ptr_equal(ct_ring_pool_take_ready(pool, first, &growing, 100), next);
	ct_point_set(NULL);
	assert_int_equal(points, 0); /* none was made */
	assert_int_equal(ct_ring_owner(next), 1);
	assert_true(next->may_grow);
	assert_int_not_equal(session.head->ring_moves, moves);
	assert_int_equal(ct_ring_owner(first), 1); /* a handler may leave here */
	ct_ring_pool_leave(first);
	assert_int_equal(ct_ring_owner(first), 0);
	assert_null(first->next);
	assert_int_equal(session.head->late_rings, 0);
}

static void a_ring_that_its_owner_did_not_need_is_free(void **state)
{
	for (unsigned how = 0; how < 3; how++) {
		struct ct_ring *first = ct_ring_pool_take(pool, &growing, NO_THREAD), *next;
		struct ct_ring_kind kind = growing;

		(void)state;
		next = fill_until_ready(first);
		kind.capacity = next->capacity;
		if (how == 0)
			ct_ring_pool_give_back(pool, first);
		else if (how == 1)
			ct_ring_pool_leave(first);
		else
			ct_ring_pool_reap(pool, first, NO_THREAD);
		assert_null(first->next);
		assert_ptr_equal(ct_ring_pool_take(pool, &kind, 3), next);
		ct_ring_pool_give_back(pool, next);
	}
}

static void a_ring_in_stock_goes_to_one_thread(void **state)
{
	struct ct_ring *owned[3], *larger[2];

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		owned[i] = ct_ring_pool_take(pool, &growing, i + 1);
	while (ct_ring_pool_count(pool) < 5) /* some milliseconds after the first */
		ct_ring_pool_stock(pool);
	assert_null(ct_ring_pool_take_ready(pool, owned[0], &least, 100));
	assert_null(ct_ring_pool_take_ready(pool, owned[0], &growing, CT_RING_DEFAULT));
	for (uint32_t i = 0; i < 2; i++) {
		larger[i] = ct_ring_pool_take_ready(pool, owned[i], &growing, 100);
		assert_non_null(larger[i]);
		assert_int_equal(larger[i]->capacity, CT_RING_DEFAULT);
		assert_int_equal(ct_ring_owner(larger[i]), i + 1);
	}
	assert_ptr_not_equal(larger[0], larger[1]);
	assert_null(ct_ring_pool_take_ready(pool, owned[2], &growing, 100));
	ct_ring_pool_stock(pool);
	assert_non_null(ct_ring_pool_take_ready(pool, owned[2], &growing, 100));
}

static struct ct_ring *to_leave, *moved_to;

static void *move_to_larger(void *unused)
{
	struct ct_ring *larger = ct_ring_pool_take_ready(pool, to_leave, &growing, 100);

	__atomic_store_n(&moved_to, larger, __ATOMIC_RELEASE);
	return unused;
}

/* The thread has noted its move, and waits before it uses the larger ring. */
static void nobody_moves_while_the_pool_is_held(void **state)
{
	uint32_t moves;
	pthread_t thread;

	(void)state;
	to_leave = ct_ring_pool_take(pool, &growing, 1);
	moved_to = NULL;
	(void)fill_until_ready(to_leave);
	moves = session.head->ring_moves;
	ct_ring_pool_hold(pool);
	assert_int_equal(pthread_create(&thread, NULL, move_to_larger, NULL), 0);
	(void)alarm(60);
	while (__atomic_load_n(&session.head->ring_moves, __ATOMIC_ACQUIRE) == moves)
		(void)sched_yield();
	(void)alarm(0);
	assert_null(__atomic_load_n(&moved_to, __ATOMIC_ACQUIRE));
	ct_ring_pool_release(pool);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_non_null(moved_to);
}

static sem_t is_held, may_release;

static void *hold(void *unused)
{
	ct_ring_pool_hold(pool);
	(void)sem_post(&is_held);
	while (sem_wait(&may_release) != 0)
		;
	ct_ring_pool_release(pool);
	return unused;
}

static void move_in_handler(int number)
{
	(void)number;
	(void)move_to_larger(NULL);
}

/* The holder may wait for what the interrupted code holds.  The larger ring stays ready. */
static void a_handler_does_not_wait_to_move(void **state)
{
	struct ct_ring *ready;
	pthread_t thread;

	(void)state;
	to_leave = ct_ring_pool_take(pool, &growing, 1);
	moved_to = NULL;
	ready = fill_until_ready(to_leave);
	(void)sem_init(&is_held, 0, 0);
	(void)sem_init(&may_release, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
	while (sem_wait(&is_held) != 0)
		;
	(void)signal(SIGUSR1, move_in_handler);
	(void)alarm(60);
	(void)raise(SIGUSR1);
	(void)alarm(0);
	assert_null(moved_to);
	(void)sem_post(&may_release);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(ct_ring_pool_take_ready(pool, to_leave, &growing, 100), ready);
}

int test_ring_pool(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_ring_grows_by_a_factor_and_as_far_as_the_event_needs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_larger_ring_is_ready_for_a_thread_that_fills_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_its_owner_did_not_need_is_free, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_ring_in_stock_goes_to_one_thread, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_handler_does_not_wait_to_move, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_moves_while_the_pool_is_held, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_ring_is_made_under_no_lock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_fork_waits_for_a_ring_that_is_being_made, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(from_the_second_small_ring_on_one_is_kept_ready,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_is_ready_but_was_cut_is_not_used,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_room_none_is_kept_ready, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_is_made_when_there_is_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			one_that_was_given_back_is_used_again_with_what_is_in_it, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_ring_has_a_writer_while_a_thread_holds_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(consumers_see_that_a_ring_moved, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_in_use_is_nobody_elses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_head_that_was_written_over_gives_no_ring_away,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_a_ring_of_the_same_kind_will_do, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(where_there_is_no_room_it_is_memory_and_no_writers,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_became_smaller_is_used_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			an_owner_moves_to_a_larger_ring_and_leaves_what_it_has, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_room_for_a_larger_ring_nothing_changes,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_thread_gets_a_larger_ring_when_no_small_one_can_be_had, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(no_memory_gives_none_and_the_next_try_succeeds,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_ring_that_was_cut_is_made_whole_and_keeps_its_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_ring_of_a_dead_thread_is_not_taken_from_the_next_owner, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_ring_without_a_thread_holds_nobody_up, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_limit_of_rings_refuses_and_nothing_more, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(threads_never_share_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_forked_child_begins_empty_and_leaves_its_parents_alone, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_child_in_the_middle_of_a_call_writes_where_nobody_reads, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
