/*
 * test_os_thread.c - our own threads, sleeping and waking.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "os_fixture.h"

#include "still_clock_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t word;

static void *wake_it(void *argument)
{
	(void)argument;
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&word);
	return NULL;
}

static void a_sleeper_wakes_when_the_word_changes(void **state)
{
	pthread_t thread;

	(void)state;
	word = 0;
	ct_os_wait(&word, 1, UINT64_MAX); /* not that value: no sleep at all */
	ct_os_wait(&word, 0, 1000000);    /* ends by itself */
	assert_int_equal(pthread_create(&thread, NULL, wake_it, NULL), 0);
	while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0)
		ct_os_wait(&word, 0, UINT64_MAX);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

struct facts {
	uint32_t tid;
	sigset_t mask;
};

static void *tell_facts(void *argument)
{
	struct facts *facts = argument;

	facts->tid = ct_os_thread_id();
	(void)pthread_sigmask(SIG_SETMASK, NULL, &facts->mask);
	return NULL;
}

static void our_threads_take_no_signals_and_leave_the_callers_mask_alone(void **state)
{
	struct facts facts = { 0 };
	sigset_t before, after;
	pthread_t thread;

	(void)state;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(ct_os_thread_start(tell_facts, &facts, "ctrace-test", &thread), CTRACE_OK);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (int signal = 1; signal <= 31; signal++) {
		assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
		if (signal != SIGKILL && signal != SIGSTOP)
			assert_int_equal(sigismember(&facts.mask, signal), 1);
	}
	assert_int_not_equal(facts.tid, ct_os_thread_id());
	ct_os_fail(CT_OS_THREAD, 0, 1, EAGAIN);
	assert_int_equal(ct_os_thread_start(tell_facts, &facts, "ctrace-test", &thread),
			 CTRACE_OS_ERROR);
}

struct source_processes {
	sigset_t mask;
	bool is_own, has_mask;
	bool child_is_own;
	int policy, cpus;
};

static void *look_at_source_processes(void *argument)
{
	struct source_processes *source_processes = argument;
	cpu_set_t cpus;
	int status;
	pid_t pid;

	source_processes->is_own = ct_os_thread_is_own();
	source_processes->has_mask = ct_os_thread_mask(&source_processes->mask);
	source_processes->policy = sched_getscheduler(0);
	(void)sched_getaffinity(0, sizeof cpus, &cpus);
	source_processes->cpus = CPU_COUNT(&cpus);
	pid = fork();
	if (pid == 0) {
		sigset_t mask;

		ct_os_thread_child();
		(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
		for (int signal = 1; signal <= 31; signal++)
			if (sigismember(&mask, signal) !=
			    sigismember(&source_processes->mask, signal))
				_exit(1);
		_exit(ct_os_thread_is_own() ? 2 : 0);
	}
	source_processes->child_is_own = waitpid(pid, &status, 0) != pid || status != 0;
	return NULL;
}

/* Whatever the thread is that starts them; what it blocks is known to them, also when it starts
 * them in a locked section. */
static void our_threads_are_ordinary_and_know_the_programs_mask(void **state)
{
	const struct sched_param none = { .sched_priority = 0 };
	struct source_processes source_processes = { .policy = -1 };
	cpu_set_t all, one;
	sigset_t mask;
	pthread_t thread;

	(void)state;
	assert_false(ct_os_thread_mask(&mask));
	ct_os_thread_child(); /* nothing, here */
	(void)sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	ct_guard_enter();
	assert_int_equal(ct_os_thread_start(look_at_source_processes, &source_processes,
					    "ctrace-test", &thread),
			 CTRACE_OK);
	ct_guard_leave();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	assert_true(source_processes.is_own && source_processes.has_mask &&
		    !source_processes.child_is_own);
	assert_int_equal(source_processes.policy, SCHED_OTHER);
	assert_int_equal(source_processes.cpus, CPU_COUNT(&all));
	assert_int_equal(sigismember(&source_processes.mask, SIGTERM), 0);
}

/* As much as the stack of one of our threads has: it is taken from there, in each thread of this
 * program. */
static __thread volatile unsigned char large[1 << 20];

static void *use_large(void *argument)
{
	for (size_t i = 0; i < sizeof large; i += 4096)
		large[i] = 1;
	return argument;
}

static void thread_local_storage_does_not_take_our_stack(void **state)
{
	pthread_t thread;
	void *result = NULL;
	int here = 0;

	(void)state;
	assert_int_equal(ct_os_thread_start(use_large, &here, "large", &thread), CTRACE_OK);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &here);
}

static void a_thread_exists_until_it_has_ended(void **state)
{
	struct facts facts = { 0 };
	pthread_t thread;
	pid_t child;

	(void)state;
	assert_true(ct_os_thread_exists(ct_os_thread_id()));
	assert_int_equal(ct_os_thread_start(tell_facts, &facts, "ctrace-test", &thread), CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* The kernel lets go of the number a moment after the join. */
	while (ct_os_thread_exists(facts.tid))
		;
	child = fork();
	if (child == 0)
		_exit(0);
	assert_false(ct_os_thread_exists((uint32_t)child)); /* of another process */
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static uint32_t counter;

static void *count_on(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		(void)__atomic_add_fetch(&counter, 1, __ATOMIC_RELEASE);
		ct_os_wake(&counter);
	}
	return NULL;
}

static void a_wait_ends_although_the_clock_stands_still(void **state)
{
	uint32_t unchanged = 0;

	(void)state;
	clock_stop();
	assert_false(ct_os_wait_until(&unchanged, 1, 2000000));
	clock_go();
}

static void a_counter_that_goes_round_is_waited_for(void **state)
{
	pthread_t thread;

	(void)state;
	counter = UINT32_MAX - 1;
	assert_false(ct_os_wait_until(&counter, 1, 0));
	assert_false(ct_os_wait_until(&counter, 1, 1000000));
	assert_int_equal(pthread_create(&thread, NULL, count_on, NULL), 0);
	assert_true(ct_os_wait_until(&counter, 1, UINT64_MAX));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(ct_os_wait_until(&counter, UINT32_MAX, 0)); /* passed by now */
}

struct held {
	bool has_own, had_some;
	int opened;
};

static void *take_own_descriptors(void *argument)
{
	struct held *held = argument;

	held->has_own = ct_os_thread_own_descriptors();
	held->had_some = fcntl(1, F_GETFD) >= 0;
	held->opened = open("/", O_RDONLY);
	return NULL;
}

static void a_thread_with_descriptors_of_its_own(void **state)
{
	struct held held = { 0 };
	pthread_t thread;
	int ours[2];

	(void)state;
	assert_int_equal(pipe(ours), 0);
	assert_int_equal(ct_os_thread_start(take_own_descriptors, &held, "ctrace-test", &thread),
			 CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(held.has_own);
	assert_false(held.had_some);
	assert_int_equal(held.opened, 0);
	/* What it did is nothing to the others; and it does not hold the end of a pipe that they
	 * close. */
	assert_int_equal(write(ours[1], "x", 1), 1);
	assert_true(fcntl(1, F_GETFD) >= 0);
	assert_int_equal(close(ours[0]) + close(ours[1]), 0);
}

int test_os_thread(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sleeper_wakes_when_the_word_changes),
		TEST(our_threads_take_no_signals_and_leave_the_callers_mask_alone),
		TEST(our_threads_are_ordinary_and_know_the_programs_mask),
		TEST(thread_local_storage_does_not_take_our_stack),
		TEST(a_thread_exists_until_it_has_ended),
		TEST(a_counter_that_goes_round_is_waited_for),
		TEST(a_wait_ends_although_the_clock_stands_still),
		TEST(a_thread_with_descriptors_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
