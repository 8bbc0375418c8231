/*
 * test_thread_queue.c - messages addressed to threads: their order, their memory, the lock in
 * signal handlers and in forked children, and threads that wait.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "ctf_fixture.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>

#define SECOND_NS UINT64_C(1000000000)

static struct ct_thread_message *list;

static struct ct_thread_message *append_sized(const void *thread, size_t size)
{
	struct ct_thread_message *message = malloc(size);

	assert_non_null(message);
	message->thread = thread;
	ct_thread_queue_append(&list, message);
	return message;
}

static struct ct_thread_message *append(const void *thread)
{
	return append_sized(thread, sizeof *list);
}

static void take_out_and_spend(struct ct_thread_message **link)
{
	ct_thread_queue_spend(ct_thread_queue_take_out(link));
}

/* A check that fails under the lock ends one test only. */
static int release(void **state)
{
	(void)state;
	while (ct_thread_locked != 0)
		ct_thread_queue_unlock();
	list = NULL;
	return 0;
}

static uint32_t waiting(void)
{
	return __atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED);
}

/* ---- messages ---- */

static void each_thread_finds_its_messages_in_order(void **state)
{
	struct ct_thread_message *one, *two, *three, *four, **link;
	int a, b, c;

	(void)state;
	ct_thread_queue_lock();
	one = append(&a);
	two = append(&b);
	three = append(&a);
	assert_int_equal(waiting(), 3);
	link = ct_thread_queue_find(&list, &a);
	assert_ptr_equal(*link, one);
	assert_ptr_equal(*ct_thread_queue_find(&(*link)->next, &a), three);
	assert_ptr_equal(*ct_thread_queue_find(&list, &b), two);
	assert_null(*ct_thread_queue_find(&list, &c));
	/* The last, then the first: what is appended later comes after the rest. */
	link = ct_thread_queue_find(&(*link)->next, &a);
	assert_ptr_equal(ct_thread_queue_take_out(link), three);
	ct_thread_queue_spend(three);
	take_out_and_spend(ct_thread_queue_find(&list, &a));
	assert_int_equal(waiting(), 1);
	assert_null(*ct_thread_queue_find(&list, &a));
	four = append(&b);
	take_out_and_spend(ct_thread_queue_find(&list, &b));
	assert_ptr_equal(*ct_thread_queue_find(&list, &b), four);
	take_out_and_spend(&list);
	assert_null(list);
	assert_int_equal(waiting(), 0);
	ct_thread_queue_unlock();
}

/* The messages are so large that malloc() maps each and keeps none back. */
static void the_next_append_frees_the_spent(void **state)
{
	size_t before, held;

	(void)state;
	ct_thread_queue_lock();
	(void)append(&list);
	take_out_and_spend(&list);
	before = mallinfo2().hblkhd;
	(void)append_sized(&list, 64u << 20);
	(void)append_sized(&list, 64u << 20);
	held = mallinfo2().hblkhd;
	take_out_and_spend(&list);
	take_out_and_spend(&list);
	assert_int_equal(mallinfo2().hblkhd, held);
	(void)append(&list);
	assert_int_equal(mallinfo2().hblkhd, before);
	assert_true(held >= before + (128u << 20) || held == 0); /* 0: a sanitizer's malloc() */
	take_out_and_spend(&list);
	ct_thread_queue_unlock();
}

/* ---- the lock ---- */

static void a_handler_finds_the_queue_closed(void **state)
{
	(void)state;
	assert_false(ct_thread_queue_is_closed());
	ct_thread_queue_lock();
	assert_true(ct_thread_queue_is_closed());
	ct_thread_queue_unlock();
	assert_false(ct_thread_queue_is_closed());
}

static uint32_t is_held;

/* Before the fork handlers are there: a thread that a fork leaves behind may have the lock. */
static void without_callbacks_a_change_takes_no_lock(void **state)
{
	struct ct_change change = { .kind = CT_CHANGE_LEVEL };

	(void)state;
	assert_false(ct_thread_queue_is_set_up());
	ct_thread_queue_lock();
	alarm(60); /* it would wait for itself */
	ct_notify_change(&change, NULL);
	assert_null(ct_deferred_thread());
	alarm(0);
	ct_thread_queue_unlock();
}

static void *hold_for_a_while(void *unused)
{
	ct_thread_queue_lock();
	__atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
	(void)usleep(50000);
	__atomic_store_n(&is_held, 0, __ATOMIC_RELEASE);
	ct_thread_queue_unlock();
	return unused;
}

static unsigned closed_before, closed_in_parent, closed_in_child;

static void note_before(void)
{
	closed_before += ct_thread_queue_is_closed();
}

static void note_in_parent(void)
{
	closed_in_parent += ct_thread_queue_is_closed();
}

static void note_in_child(void)
{
	closed_in_child += ct_thread_queue_is_closed();
}

static int cancel_state(void)
{
	int former;

	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &former), 0);
	assert_int_equal(pthread_setcancelstate(former, NULL), 0);
	return former;
}

/* 0: the queue works in the child, where the thread is the same. */
static int child_result(const void *thread, int cancel)
{
	(void)alarm(10);
	ct_thread_queue_lock();
	(void)append(ct_ctf_thread());
	if (*ct_thread_queue_find(&list, thread) == NULL)
		return 1;
	take_out_and_spend(&list);
	ct_thread_queue_unlock();
	return closed_in_child != 1 || ct_thread_queue_is_closed() || cancel_state() != cancel;
}

/* The handlers of the test, which are older than the queue's, run inside these. */
static void fork_finds_the_lock_free(void **state)
{
	pthread_t holder;
	int status;

	(void)state;
	assert_int_equal(pthread_atfork(note_before, note_in_parent, note_in_child), 0);
	ct_thread_queue_lock();
	assert_true(ct_thread_queue_set_up());
	assert_true(ct_thread_queue_set_up()); /* once is enough */
	ct_thread_queue_unlock();
	for (int cancel = 0; cancel < 2; cancel++) {
		pid_t child;

		closed_before = closed_in_parent = 0;
		assert_int_equal(pthread_create(&holder, NULL, hold_for_a_while, NULL), 0);
		while (__atomic_load_n(&is_held, __ATOMIC_ACQUIRE) == 0)
			sched_yield();
		assert_int_equal(pthread_setcancelstate(cancel, NULL), 0);
		child = fork();
		if (child == 0)
			_exit(child_result(ct_ctf_thread(), cancel));
		assert_int_equal(__atomic_load_n(&is_held, __ATOMIC_ACQUIRE), 0);
		assert_int_equal(cancel_state(), cancel);
		assert_false(ct_thread_queue_is_closed());
		assert_int_equal(closed_before, 1);
		assert_int_equal(closed_in_parent, 1);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(pthread_join(holder, NULL), 0);
	}
	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
}

/* ---- threads that wait ---- */

static void a_wait_ends_at_its_time(void **state)
{
	uint64_t start_ns = ct_clock_mono_ns();

	(void)state;
	ct_thread_queue_lock();
	assert_false(ct_thread_queue_wait(start_ns));
	assert_false(ct_thread_queue_wait(0));
	while (ct_thread_queue_wait(start_ns + SECOND_NS / 100))
		assert_true(ct_thread_queue_is_closed()); /* the thread has the lock again */
	assert_true(ct_clock_mono_ns() - start_ns >= SECOND_NS / 100);
	assert_true(ct_clock_mono_ns() - start_ns < 60 * SECOND_NS);
	ct_thread_queue_unlock();
}

/* Under the lock. */
static unsigned begun, may_end;

static void *wait_for_may_end(void *out_ns)
{
	uint64_t start_ns = ct_clock_mono_ns(), *ns = out_ns;

	ct_thread_queue_lock();
	begun++;
	while (may_end == 0 && ct_thread_queue_wait(start_ns + 20 * SECOND_NS))
		;
	ct_thread_queue_unlock();
	*ns = ct_clock_mono_ns() - start_ns;
	return NULL;
}

static void a_wake_ends_all_waits(void **state)
{
	pthread_t threads[3];
	uint64_t waited_ns[3];
	bool have_begun = false;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_may_end, &waited_ns[i]),
				 0);
	while (!have_begun) {
		(void)usleep(1000);
		ct_thread_queue_lock();
		have_begun = begun == 3;
		ct_thread_queue_unlock();
	}
	(void)usleep(20000); /* they sleep */
	ct_thread_queue_lock();
	may_end = 1;
	ct_thread_queue_wake();
	ct_thread_queue_unlock();
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(waited_ns[i] < 10 * SECOND_NS);
	}
}

#define ROUNDS 5000u

/* Returns each message for this thread to the sender's thread. */
static void play(const void *const *other)
{
	uint64_t end_ns = ct_clock_mono_ns() + 20 * SECOND_NS;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct ct_thread_message **link;

		while (*(link = ct_thread_queue_find(&list, ct_ctf_thread())) == NULL)
			if (!ct_thread_queue_wait(end_ns))
				return;
		take_out_and_spend(link);
		(void)append(*other);
		ct_thread_queue_wake();
	}
}

static const void *first_player, *second_player;

static void *play_second(void *unused)
{
	ct_thread_queue_lock();
	second_player = ct_ctf_thread();
	(void)append(second_player);
	play(&first_player);
	ct_thread_queue_unlock();
	return unused;
}

/* The other thread answers at once, often before this one sleeps. */
static void a_wake_before_the_sleep_counts(void **state)
{
	uint64_t start_ns = ct_clock_mono_ns();
	pthread_t second;

	(void)state;
	first_player = ct_ctf_thread();
	assert_int_equal(pthread_create(&second, NULL, play_second, NULL), 0);
	ct_thread_queue_lock();
	play(&second_player);
	ct_thread_queue_unlock();
	assert_int_equal(pthread_join(second, NULL), 0);
	assert_true(ct_clock_mono_ns() - start_ns < 15 * SECOND_NS);
	ct_thread_queue_lock();
	take_out_and_spend(&list);
	assert_null(list);
	ct_thread_queue_unlock();
}

#define SENDERS 4u
#define MESSAGES 1000u

static const void *receiver;

static void *send_many(void *unused)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		ct_thread_queue_lock();
		(void)append(i % 4 == 0 ? &receiver : receiver);
		ct_thread_queue_wake();
		ct_thread_queue_unlock();
	}
	return unused;
}

static void each_message_arrives_once(void **state)
{
	uint64_t end_ns = ct_clock_mono_ns() + 60 * SECOND_NS;
	struct ct_thread_message **link;
	pthread_t threads[SENDERS];
	unsigned mine = 0, others = 0;

	(void)state;
	receiver = ct_ctf_thread();
	for (unsigned i = 0; i < SENDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_many, NULL), 0);
	ct_thread_queue_lock();
	while (mine < SENDERS * MESSAGES * 3 / 4) {
		link = ct_thread_queue_find(&list, receiver);
		if (*link == NULL) {
			assert_true(ct_thread_queue_wait(end_ns));
			continue;
		}
		mine++;
		take_out_and_spend(link);
	}
	ct_thread_queue_unlock();
	for (unsigned i = 0; i < SENDERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	ct_thread_queue_lock();
	assert_null(*ct_thread_queue_find(&list, receiver));
	for (; list != NULL; others++)
		take_out_and_spend(&list);
	ct_thread_queue_unlock();
	assert_int_equal(others, SENDERS * MESSAGES / 4);
	assert_int_equal(waiting(), 0);
	assert_true(ct_clock_mono_ns() < end_ns);
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int test_thread_queue(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_callbacks_a_change_takes_no_lock),
		TEST(each_thread_finds_its_messages_in_order),
		TEST(the_next_append_frees_the_spent),
		TEST(a_handler_finds_the_queue_closed),
		TEST(fork_finds_the_lock_free),
		TEST(a_wait_ends_at_its_time),
		TEST(a_wake_ends_all_waits),
		TEST(a_wake_before_the_sleep_counts),
		TEST(each_message_arrives_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
