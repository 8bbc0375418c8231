/*
 * test_process.c - one traced process: attaching once, anew in a child, and not inside our own
 * locks.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "process_fixture.h"

#include <errno.h>
#include <sys/syscall.h>

static pthread_barrier_t barrier;
static struct ct_process *attached[8];

static void *attach(void *argument)
{
	uintptr_t index = (uintptr_t)argument;

	(void)pthread_barrier_wait(&barrier);
	attached[index] = ct_process_attach();
	(void)emit((uint32_t)index);
	return NULL;
}

static void attach_at_once(void)
{
	pthread_t threads[8];

	CHILD_CHECK(pthread_barrier_init(&barrier, NULL, 8) == 0);
	for (uintptr_t i = 0; i < 8; i++)
		CHILD_CHECK(pthread_create(&threads[i], NULL, attach, (void *)i) == 0);
	for (int i = 0; i < 8; i++)
		CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
	for (int i = 0; i < 8; i++)
		CHILD_CHECK(attached[i] == &ct_process);
	CHILD_CHECK(count_run_directories() == 1);
}

static void threads_that_attach_at_once_attach_once(void **state)
{
	(void)state;
	assert_int_equal(run_traced(attach_at_once), 0);
	assert_lines(0, 8);
	assert_int_equal(count_run_directories(), 0);
}

static void attach_with_errno(void)
{
	errno = EXDEV;
	CHILD_CHECK(ct_process_attach() == &ct_process);
	CHILD_CHECK(errno == EXDEV);
	CHILD_CHECK(ct_process.target != NULL);
}

static void errno_is_kept(void **state)
{
	(void)state;
	assert_int_equal(run_traced(attach_with_errno), 0);
}

static void attach_inside_a_lock(void)
{
	ct_thread_locked++;
	CHILD_CHECK(ct_process_attach() == NULL);
	ct_thread_locked--;
	CHILD_CHECK(ct_process_attach() == &ct_process);
}

static void inside_our_own_locks_nothing_attaches(void **state)
{
	(void)state;
	assert_int_equal(run_traced(attach_inside_a_lock), 0);
}

/* fork() without its handlers. */
static void attach_behind_the_handlers(void)
{
	int status;
	long pid;

	CHILD_CHECK(emit(0) == CTRACE_OK);
	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		CHILD_CHECK(ct_process_attach() == &ct_process);
		CHILD_CHECK(ct_process.session.head->pid == (uint32_t)syscall(SYS_getpid));
		CHILD_CHECK(emit(1) == CTRACE_OK);
		exit(0);
	}
	CHILD_CHECK(waitpid((pid_t)pid, &status, 0) == pid && WIFEXITED(status) &&
		    WEXITSTATUS(status) == 0);
	CHILD_CHECK(ct_process.session.head->pid == (uint32_t)getpid());
	CHILD_CHECK(emit(2) == CTRACE_OK);
}

static void a_child_made_behind_the_handlers_has_a_session_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(run_traced(attach_behind_the_handlers), 0);
	assert_lines(0, 3);
}

static void flush_and_look(void)
{
	CHILD_CHECK(ct_process_flush(10000) == CTRACE_OK); /* nothing is traced yet */
	for (uint32_t i = 0; i < 10; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	CHILD_CHECK(ct_process_flush(60000) == CTRACE_OK);
	CHILD_CHECK(read_lines(10) == 10);
}

static void after_a_flush_everything_is_in_the_output(void **state)
{
	(void)state;
	assert_int_equal(run_traced(flush_and_look), 0);
}

/* Of two events only the first waits for the destinations. */
static void open_twice(void)
{
	/* a component, and no event: no destination is open */
	CHILD_CHECK(ctrace_enabled(&tracer, CTRACE_INFO));
	CHILD_CHECK(access("out/trace.log", F_OK) != 0);
	CHILD_CHECK(ct_process_open_first());
	ct_process_await_first();
	CHILD_CHECK(access("out/trace.log", F_OK) == 0);
	CHILD_CHECK(!ct_process_open_first());
}

static void the_first_event_opens_the_destinations(void **state)
{
	(void)state;
	assert_int_equal(run_traced(open_twice), 0);
}

static void wake(void)
{
	uint32_t before;

	CHILD_CHECK(emit(0) == CTRACE_OK);
	before = __atomic_load_n(&ct_process.wake_word, __ATOMIC_ACQUIRE);
	ct_process_wake_consumer_thread();
	CHILD_CHECK(__atomic_load_n(&ct_process.wake_word, __ATOMIC_ACQUIRE) != before);
}

static void waking_raises_the_word_that_the_consumer_thread_sleeps_on(void **state)
{
	(void)state;
	assert_int_equal(run_traced(wake), 0);
}

/* The time may pass on between the two, from one day to the next. */
static void the_time_is_local(void **state)
{
	char printed[CT_PROCESS_TIME], before[CT_PROCESS_TIME], after[CT_PROCESS_TIME];
	time_t now = time(NULL);
	struct tm local;

	(void)state;
	assert_non_null(localtime_r(&now, &local));
	assert_int_not_equal(strftime(before, sizeof before, "%Y%m%d %Z", &local), 0);
	ct_process_print_time(printed, "%Y%m%d %Z");
	now = time(NULL);
	assert_non_null(localtime_r(&now, &local));
	assert_int_not_equal(strftime(after, sizeof after, "%Y%m%d %Z", &local), 0);
	assert_true(strcmp(printed, before) == 0 || strcmp(printed, after) == 0);
}

static void hand_over(void)
{
	const struct ct_session_head *head;

	CHILD_CHECK(ct_process_attach() == &ct_process);
	head = ct_process.session.head;
	ct_process.lost_early[CTRACE_INFO] = 2; /* nobody traces this level */
	ct_process.lost_early[CTRACE_WARN] = 3;
	ct_process_hand_over_losses();
	CHILD_CHECK(head->lost[CTRACE_LOSS_NESTED] == 3);
	CHILD_CHECK(head->lost_to_all[CTRACE_LOSS_NESTED] == 3);
	ct_process_hand_over_losses();
	CHILD_CHECK(head->lost[CTRACE_LOSS_NESTED] == 3);
	CHILD_CHECK(ct_process.lost_early[CTRACE_INFO] == 0);
}

static void what_was_lost_early_is_handed_over_once(void **state)
{
	(void)state;
	configure("mftrace.level = warn\n");
	assert_int_equal(run_traced(hand_over), 0);
}

static void ring_and_rouse(void)
{
	const struct ct_session_head *head;

	CHILD_CHECK(!ct_process_has_session());
	CHILD_CHECK(!ctrace_enabled(&tracer, CTRACE_FATAL));
	CHILD_CHECK(ct_process_has_session() && ct_process.state == CT_PROCESS_DORMANT);
	head = ct_process.session.head;
	CHILD_CHECK(ct_process_level_word(tracer.component) == &head->bell);
	CHILD_CHECK(!ct_process_hears_bell());
	ct_process.session.head->bell.level = 0; /* as ct_bell_ring() */
	CHILD_CHECK(ct_process_hears_bell());
	ct_thread_locked++;
	CHILD_CHECK(ct_process_rouse() == NULL);
	ct_thread_locked--;
	CHILD_CHECK(ct_process.state == CT_PROCESS_DORMANT);
	CHILD_CHECK(ct_process_rouse() == &ct_process);
	CHILD_CHECK(ct_process.state == CT_PROCESS_ATTACHED);
	CHILD_CHECK(ct_process_has_session() && !ct_process_hears_bell());
	CHILD_CHECK(ct_process_level_word(tracer.component) ==
		    &ct_registry_entry(ct_process.registry, tracer.component)->level_word);
}

static void a_dormant_process_hears_its_bell_and_can_be_roused(void **state)
{
	(void)state;
	configure("mftrace.level = none\n");
	assert_int_equal(run_traced(ring_and_rouse), 0);
}

int test_process(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_that_attach_at_once_attach_once,
						fixture_setup, fixture_teardown),
		cmocka_unit_test(the_time_is_local),
		cmocka_unit_test_setup_teardown(errno_is_kept, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(inside_our_own_locks_nothing_attaches,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_child_made_behind_the_handlers_has_a_session_of_its_own, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(after_a_flush_everything_is_in_the_output,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_first_event_opens_the_destinations,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			waking_raises_the_word_that_the_consumer_thread_sleeps_on, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(what_was_lost_early_is_handed_over_once,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_dormant_process_hears_its_bell_and_can_be_roused,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
