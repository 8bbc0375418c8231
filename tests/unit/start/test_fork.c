/*
 * test_fork.c - children, however they are made: a directory, rings and a consumer thread of their
 * own when they trace, nothing when they do not.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <sys/syscall.h>

static int wait_for(pid_t pid)
{
	int status;

	CHILD_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void fork_a_silent_child(void)
{
	pid_t pid;

	(void)emit(0);
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(ct_process.state == CT_PROCESS_FORKED);
		CHILD_CHECK(count_run_directories() == 1);
		exit(0);
	}
	CHILD_CHECK(wait_for(pid) == 0);
	CHILD_CHECK(count_run_directories() == 1); /* the child's end has not removed it */
	(void)emit(1);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 2);
}

static void a_child_that_does_not_trace_has_nothing_and_takes_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_a_silent_child), 0);
	assert_lines(0, 2);
	assert_int_equal(count_run_directories(), 0);
}

static void fork_a_tracing_child(void)
{
	pid_t pid;

	for (uint32_t i = 0; i < 1000; i++)
		(void)emit(i);
	pid = fork();
	if (pid == 0) {
		for (uint32_t i = 2000; i < 3000; i++)
			CTRACE(&tracer, CTRACE_INFO, i, CTRACE_U32(i));
		CHILD_CHECK(count_run_directories() == 2);
		CHILD_CHECK(ct_process.session.head->pid == (uint32_t)getpid());
		CHILD_CHECK(stats().emitted == 1000); /* its own */
		exit(0);
	}
	for (uint32_t i = 1000; i < 2000; i++)
		(void)emit(i);
	CHILD_CHECK(wait_for(pid) == 0);
	CHILD_CHECK(stats().emitted == 2000);
}

static void a_child_that_traces_has_its_own_and_nothing_comes_twice(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_a_tracing_child), 0);
	assert_lines(0, 3000);
	assert_int_equal(count_run_directories(), 0);
}

static void fork_with_events_in_the_ring(void)
{
	pid_t pid;

	(void)emit(0);
	hold_consumer_thread();
	for (uint32_t i = 1; i < 100; i++)
		(void)emit(i);
	release_consumer_thread();
	pid = fork();
	if (pid == 0)
		exit(0); /* delivers nothing of its parent's */
	CHILD_CHECK(wait_for(pid) == 0);
}

static void what_is_in_the_parents_ring_is_the_parents(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_with_events_in_the_ring), 0);
	assert_lines(0, 100);
}

static void fork_down_the_generations(void)
{
	for (uint32_t generation = 0; generation < 5; generation++) {
		(void)emit(generation);
		pid_t pid = fork();

		if (pid != 0) {
			CHILD_CHECK(wait_for(pid) == 0);
			return;
		}
	}
}

static void children_of_children_trace_too(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_down_the_generations), 0);
	assert_lines(0, 5);
	assert_int_equal(count_run_directories(), 0);
}

/* For a child that no fork handler prepares: the consumer thread must not be inside malloc when the
 * memory is copied. */
static void wait_until_consumer_thread_sleeps(void)
{
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	while (__atomic_load_n(&ct_process.consumer_thread_idle, __ATOMIC_SEQ_CST) == 0)
		;
}

static void fork_behind_the_handlers_back(void)
{
	pid_t pid;

	for (uint32_t i = 0; i < 100; i++)
		(void)emit(i);
	wait_until_consumer_thread_sleeps();
#if defined(SYS_fork)
	pid = (pid_t)syscall(SYS_fork);
#else
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	if (pid == 0) {
		for (uint32_t i = 100; i < 200; i++)
			CTRACE(&tracer, CTRACE_INFO, i, CTRACE_U32(i));
		CHILD_CHECK(stats().emitted == 100);
		exit(0);
	}
	CHILD_CHECK(wait_for(pid) == 0);
	CHILD_CHECK(stats().emitted == 100);
}

static void a_child_made_by_the_bare_system_call_traces_for_itself(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_behind_the_handlers_back), 0);
	assert_lines(0, 200);
	assert_int_equal(count_run_directories(), 0);
}

static void fork_inside_a_lock(void)
{
	pid_t pid;

	(void)emit(0);
	wait_until_consumer_thread_sleeps();
	ct_registry_lock(ct_process.registry); /* as a signal handler that interrupted a command */
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(emit(99) == CTRACE_NOT_ENOUGH_MEMORY);
		exit(0);
	}
	ct_registry_unlock(ct_process.registry);
	CHILD_CHECK(wait_for(pid) == 0);
	(void)emit(1);
}

static void a_child_forked_inside_our_own_locks_traces_no_more_but_lives(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_inside_a_lock), 0);
	assert_lines(0, 2);
}

static void level_of_the_child(void)
{
	pid_t pid;

	(void)emit(0);
	CHILD_CHECK(ctrace_level_set("unit.test", CTRACE_ERROR) == CTRACE_OK);
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(ctrace_emit(&tracer, CTRACE_INFO, 99, NULL, 0) ==
			    CTRACE_NOT_TRACING_LEVEL);
		CHILD_CHECK(ctrace_emit(&tracer, CTRACE_ERROR, 1, NULL, 0) == CTRACE_OK);
		CHILD_CHECK(ctrace_level_set("unit.test", CTRACE_DEBUG) == CTRACE_OK);
		CHILD_CHECK(ctrace_emit(&tracer, CTRACE_INFO, 2, NULL, 0) == CTRACE_OK);
		exit(0);
	}
	CHILD_CHECK(wait_for(pid) == 0);
	/* its own level */
	CHILD_CHECK(ctrace_emit(&tracer, CTRACE_INFO, 99, NULL, 0) == CTRACE_NOT_TRACING_LEVEL);
}

static void a_child_inherits_levels_and_then_has_its_own(void **state)
{
	(void)state;
	assert_int_equal(run_traced(level_of_the_child), 0);
	assert_lines(0, 3);
}

/* ---- storms ---- */

static uint32_t storm_over;   /* atomic */
static uint32_t storm_number; /* atomic */

static void *trace_through_the_storm(void *argument)
{
	(void)argument;
	while (__atomic_load_n(&storm_over, __ATOMIC_RELAXED) == 0)
		CTRACE(&tracer, CTRACE_INFO,
		       __atomic_fetch_add(&storm_number, 1, __ATOMIC_RELAXED));
	return NULL;
}

static void *command_through_the_storm(void *argument)
{
	(void)argument;
	for (uint32_t i = 0; __atomic_load_n(&storm_over, __ATOMIC_RELAXED) == 0; i++) {
		char name[32];

		(void)snprintf(name, sizeof name, "storm.c%u", i % 500);
		if (ctrace_level_set(name, i % 5) != CTRACE_OK)
			return (void *)1;
	}
	return NULL;
}

static void fork_in_a_storm(void)
{
	pthread_t threads[4];
	void *bad;

	for (int i = 0; i < 3; i++)
		CHILD_CHECK(pthread_create(&threads[i], NULL, trace_through_the_storm, NULL) == 0);
	CHILD_CHECK(pthread_create(&threads[3], NULL, command_through_the_storm, NULL) == 0);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i % 3 == 0)
				_exit(0);
			for (uint32_t n = 0; n < 50; n++)
				CTRACE(&tracer, CTRACE_INFO, 0xFFFFFFFFu);
			CHILD_CHECK(stats().emitted == 50);
			_exit(0);
		}
		CHILD_CHECK(wait_for(pid) == 0);
	}
	storm_over = 1;
	for (int i = 0; i < 4; i++)
		CHILD_CHECK(pthread_join(threads[i], &bad) == 0 && bad == NULL);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == storm_number);
}

static void forks_amid_traces_and_commands_neither_hang_nor_lose(void **state)
{
	(void)state;
	if (IS_SANITIZED)
		skip();
	configure("ctrace.buffer = 64k\nctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(fork_in_a_storm), 0);
	(void)recover();
	assert_int_equal(count_run_directories(), 0);
}

static pthread_barrier_t barrier;

static void *attach_now(void *argument)
{
	(void)pthread_barrier_wait(&barrier);
	(void)emit(0);
	return argument;
}

static void fork_while_another_attaches(void)
{
	pthread_t thread;
	pid_t pid;

	CHILD_CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
	CHILD_CHECK(pthread_create(&thread, NULL, attach_now, NULL) == 0);
	(void)pthread_barrier_wait(&barrier);
	pid = fork();
	if (pid == 0) {
		(void)emit(1);
		exit(0);
	}
	CHILD_CHECK(wait_for(pid) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
}

static void a_fork_beside_the_first_event_does_not_hang_the_child(void **state)
{
	(void)state;
	if (IS_SANITIZED)
		skip();
	for (int i = 0; i < 60; i++) {
		assert_int_equal(run_traced(fork_while_another_attaches), 0);
		assert_int_equal(count_run_directories(), 0);
	}
	assert_int_equal(read_lines(2), 120);
}

/* Waits until every other process that has the pipe's writing end has closed it or has ended.
 * Nobody writes. */
static bool wait_for_others(const int ends[2])
{
	char byte;

	return close(ends[1]) == 0 && read(ends[0], &byte, 1) == 0;
}

/* a pipe: the test keeps the writing end until it has waited for the daemon's parent */
static int parent_ended[2];
static int daemon_ended[2]; /* a pipe: the daemon keeps the writing end */

static void daemonize(void)
{
	(void)emit(0);
	CHILD_CHECK(daemon(1, 1) == 0);
	CHILD_CHECK(wait_for_others(parent_ended));
	(void)emit(1);
}

/* Its parent ends first: the daemon takes over the parent's file, and so recovers it. */
static void a_daemon_traces_on(void **state)
{
	(void)state;
	assert_int_equal(pipe(parent_ended) | pipe(daemon_ended), 0);
	assert_int_equal(run_traced(daemonize), 0);
	(void)close(parent_ended[1]);
	assert_true(wait_for_others(daemon_ended));
	(void)close(parent_ended[0]);
	(void)close(daemon_ended[0]);
	assert_lines(0, 2);
	assert_int_equal(count_run_directories(), 0);
}

static void daemonize_slowly(void)
{
	pid_t pid;

	(void)emit(0);
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(setsid() == getpid());
		(void)emit(1);
		exit(0);
	}
	CHILD_CHECK(wait_for(pid) == 0);
	CHILD_CHECK(count_run_directories() == 1); /* this process's own */
	_exit(0);                                  /* as daemon() does */
}

/* The file is still the parent's: the daemon writes beside it, and recovers nobody. */
static void a_parent_that_ends_behind_its_daemon_is_for_the_next_recovery(void **state)
{
	struct ct_recovery total;

	(void)state;
	assert_int_equal(run_traced(daemonize_slowly), 0);
	assert_int_equal(count_run_directories(), 1);
	total = recover();
	assert_int_equal(total.directories, 1);
	assert_int_equal(total.recovered, 1);
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 2);
}

/* Registered before ctrace's own handlers: runs behind the one that takes the locks. */
static bool ends_in_fork;

static void end_in_fork(void)
{
	if (ends_in_fork)
		__atomic_store_n(&ct_process.state, CT_PROCESS_CLOSED, __ATOMIC_RELEASE);
}

__attribute__((constructor(101))) static void register_first(void)
{
	(void)pthread_atfork(end_in_fork, NULL, NULL);
}

static void fork_while_the_process_ends(void)
{
	pid_t pid;

	(void)emit(0);
	ends_in_fork = true;
	pid = fork();
	if (pid == 0)
		_exit(0);
	ends_in_fork = false;
	CHILD_CHECK(ct_process.state == CT_PROCESS_CLOSED);
	CHILD_CHECK(ct_thread_locked == 0);
	CHILD_CHECK(wait_for(pid) == 0);
	__atomic_store_n(&ct_process.state, CT_PROCESS_ATTACHED, __ATOMIC_RELEASE);
	CHILD_CHECK(emit(1) == CTRACE_OK);
}

/* The end of the process on another thread changes its state between the handlers of the fork. */
static void a_fork_gives_back_what_it_took_whatever_the_state_is(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_while_the_process_ends), 0);
	assert_lines(0, 2);
}

int test_fork(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_child_that_does_not_trace_has_nothing_and_takes_nothing, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_child_that_traces_has_its_own_and_nothing_comes_twice, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_in_the_parents_ring_is_the_parents,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(children_of_children_trace_too, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_child_made_by_the_bare_system_call_traces_for_itself, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_child_forked_inside_our_own_locks_traces_no_more_but_lives, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_child_inherits_levels_and_then_has_its_own,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			forks_amid_traces_and_commands_neither_hang_nor_lose, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_fork_beside_the_first_event_does_not_hang_the_child, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_daemon_traces_on, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_parent_that_ends_behind_its_daemon_is_for_the_next_recovery,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_fork_gives_back_what_it_took_whatever_the_state_is, fixture_setup,
			fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
