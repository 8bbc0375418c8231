/*
 * test_consumer_thread.c - the thread that consumes: prompt when there is work, and quiet when
 * there is none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"
#include "lib/start/consumer_thread.h"

#include <sched.h>

static struct ctrace_stats wait_for_delivered(uint64_t count)
{
	struct ctrace_stats now;

	do {
		now = stats();
	} while (now.delivered < count);
	return now;
}

static void emit_and_wait(void)
{
	for (uint32_t i = 0; i < 100; i++)
		(void)emit(i);
	(void)wait_for_delivered(100);
}

static void events_are_delivered_without_being_asked_for(void **state)
{
	(void)state;
	assert_int_equal(run_traced(emit_and_wait), 0);
	assert_lines(0, 100);
}

static void wait_until_idle(void)
{
	const struct timespec pause = { 0, 1000000 };

	while (__atomic_load_n(&ct_process.consumer_thread_idle, __ATOMIC_SEQ_CST) == 0)
		(void)nanosleep(&pause, NULL);
}

static void wake_it_often(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	for (uint32_t i = 0; i < 20; i++) {
		wait_until_idle();
		if (i % 2 == 0)
			(void)emit(i);
		else
			CTRACE(&tracer, CTRACE_INFO, i);
		(void)wait_for_delivered(i + 1);
	}
}

static void an_idle_consumer_thread_wakes_for_an_event(void **state)
{
	(void)state;
	assert_int_equal(run_traced(wake_it_often), 0);
	assert_lines(0, 20);
}

/* The consumer thread's threads, its standby among them; how often they went to sleep. */
static unsigned find_consumer_thread(char out_signals[64])
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned switches = 0;

	CHILD_CHECK(tasks != NULL);
	while ((entry = readdir(tasks)) != NULL) {
		char path[300], line[200];
		bool is_consumer_thread = false;
		unsigned count;
		FILE *file;

		(void)snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
		if (entry->d_name[0] == '.' || (file = fopen(path, "r")) == NULL)
			continue;
		while (fgets(line, sizeof line, file) != NULL) {
			is_consumer_thread = is_consumer_thread ||
					     strncmp(line, "Name:\tctrace-consumer", 21) == 0;
			if (is_consumer_thread && strncmp(line, "SigBlk:", 7) == 0)
				(void)snprintf(out_signals, 64, "%.60s", line + 8);
			if (is_consumer_thread &&
			    sscanf(line, "voluntary_ctxt_switches: %u", &count) == 1)
				switches += count;
		}
		(void)fclose(file);
	}
	(void)closedir(tasks);
	return switches;
}

/* 20 times a second, by the time that passes in truth, and five times more. */
static bool sleeps_mostly(void)
{
	const struct timespec pause = { 1, 0 };
	char signals[64];
	uint64_t start_ns = ct_clock_mono_ns();
	unsigned before = find_consumer_thread(signals);

	(void)nanosleep(&pause, NULL);
	return find_consumer_thread(signals) - before <=
	       5 + (ct_clock_mono_ns() - start_ns) / 50000000u;
}

static void count_wake_ups(void)
{
	char signals[64] = "";

	(void)emit(0);
	wait_until_idle();
	CHILD_CHECK(find_consumer_thread(signals) > 0);
	/* all but SIGKILL and SIGSTOP are blocked */
	CHILD_CHECK((strtoull(signals, NULL, 16) & 0x7FFBFEFFu) == 0x7FFBFEFFu);
	CHILD_CHECK(sleeps_mostly());
}

static void an_idle_process_wakes_at_most_20_times_a_second(void **state)
{
	(void)state;
	assert_int_equal(run_traced(count_wake_ups), 0);
}

static void hold_back_and_count_wake_ups(void)
{
	for (uint32_t i = 0; i < 3; i++)
		(void)emit(i);
	wait_until_idle();
	CHILD_CHECK(stats().pending == 3);
	CHILD_CHECK(sleeps_mostly());
}

static void events_that_are_held_back_do_not_keep_it_awake(void **state)
{
	(void)state;
	configure("mftrace.emitter.textfile#flushevery = 1000\n");
	assert_int_equal(run_traced(hold_back_and_count_wake_ups), 0);
	assert_lines(0, 3);
}

static void sleep_without_a_ring(void)
{
	const struct timespec pause = { 0, 300000000 };
	char signals[64];
	unsigned before;

	CHILD_CHECK(ct_process_attach() != NULL);
	wait_until_idle();
	before = find_consumer_thread(signals);
	(void)nanosleep(&pause, NULL);
	/* It may have been on its way to sleep, and after a second it starts the recovery of
	 * others; a look each 50 ms would be 6. */
	CHILD_CHECK(find_consumer_thread(signals) - before <= 3);
	(void)emit(0);
	(void)wait_for_delivered(1);
}

static void without_a_ring_it_never_wakes(void **state)
{
	(void)state;
	assert_int_equal(run_traced(sleep_without_a_ring), 0);
	assert_lines(0, 1);
}

/* The thread that traces first may see consumer_thread_idle as it was before the consumer thread
 * went to sleep. */
static void see_the_consumer_thread_awake(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	while (__atomic_load_n(&ct_consumer_thread.recover_at_ns, __ATOMIC_RELAXED) != 0)
		wait_until_idle();
	wait_until_idle();
	__atomic_store_n(&ct_process.is_unopened, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ct_process.consumer_thread_idle, 0, __ATOMIC_SEQ_CST);
	(void)alarm(60);
	(void)emit(0);
	(void)wait_for_delivered(1);
}

static void the_first_event_wakes_it_in_any_case(void **state)
{
	(void)state;
	assert_int_equal(run_traced(see_the_consumer_thread_awake), 0);
	assert_lines(0, 1);
}

static void flush_often(void)
{
	CHILD_CHECK(ctrace_flush(0) == CTRACE_OK); /* nothing attached, nothing to wait for */
	for (uint32_t i = 0; i < 300; i++) {
		(void)emit(i);
		CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
		CHILD_CHECK(stats().delivered == i + 1);
	}
}

static void a_flush_is_over_when_all_before_it_is_out(void **state)
{
	(void)state;
	configure("mftrace.emitter.textfile#flushevery = 1000\n");
	assert_int_equal(run_traced(flush_often), 0);
	assert_lines(0, 300);
}

static void *flush_in_a_thread(void *argument)
{
	for (uint32_t i = 0; i < 50; i++) {
		(void)emit((uint32_t)(uintptr_t)argument * 50 + i);
		if (ctrace_flush(60000) != CTRACE_OK)
			return (void *)1;
	}
	return NULL;
}

static void flush_together(void)
{
	pthread_t threads[6];
	void *bad;

	for (uintptr_t i = 0; i < 6; i++)
		CHILD_CHECK(pthread_create(&threads[i], NULL, flush_in_a_thread, (void *)i) == 0);
	for (int i = 0; i < 6; i++)
		CHILD_CHECK(pthread_join(threads[i], &bad) == 0 && bad == NULL);
	CHILD_CHECK(stats().delivered == 300);
}

static void several_may_flush_at_once(void **state)
{
	(void)state;
	assert_int_equal(run_traced(flush_together), 0);
	assert_lines(0, 300);
}

static void flush_against_a_held_consumer(void)
{
	(void)emit(0);
	hold_consumer_thread();
	(void)emit(1);
	CHILD_CHECK(ctrace_flush(0) == CTRACE_TIMED_OUT);
	CHILD_CHECK(ctrace_flush(20) == CTRACE_TIMED_OUT);
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
}

static void a_flush_gives_up_when_its_time_is_over(void **state)
{
	(void)state;
	assert_int_equal(run_traced(flush_against_a_held_consumer), 0);
	assert_lines(0, 2);
}

static void go_without_a_thread(void)
{
	char signals[64];

	/* the control thread's, and the consumer thread's */
	ct_os_fail(CT_OS_THREAD, 0, 2, EAGAIN);
	for (uint32_t i = 0; i < 10; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	CHILD_CHECK(find_consumer_thread(signals) == 0);
	CHILD_CHECK(stats().pending == 10);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 10);
	for (uint32_t i = 10; i < 20; i++)
		(void)emit(i);
}

static void without_a_thread_flush_and_exit_deliver(void **state)
{
	(void)state;
	assert_int_equal(run_traced(go_without_a_thread), 0);
	assert_lines(0, 20);
}

static void emit_and_be_killed(void)
{
	(void)emit(0);
	hold_consumer_thread();
	for (uint32_t i = 1; i < 50; i++)
		(void)emit(i);
	(void)raise(SIGKILL);
}

static void emit_the_next_50(void)
{
	const struct timespec pause = { 0, 1000000 };

	for (uint32_t i = 50; i < 100; i++)
		(void)emit(i);
	while (count_run_directories() > 1) /* until the consumer thread has seen to the dead one */
		(void)nanosleep(&pause, NULL);
}

static void the_next_process_delivers_what_a_dead_one_left(void **state)
{
	(void)state;
	assert_int_equal(run_traced(emit_and_be_killed), -SIGKILL);
	assert_int_equal(count_run_directories(), 1);
	assert_int_equal(run_traced(emit_the_next_50), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 100);
}

static void *emit_in_a_thread(void *number)
{
	(void)emit((uint32_t)(uintptr_t)number);
	return NULL;
}

static unsigned count_spare_rings(void)
{
	DIR *directory = opendir(ct_process.session.path);
	struct dirent *entry;
	unsigned count = 0;

	CHILD_CHECK(directory != NULL);
	while ((entry = readdir(directory)) != NULL)
		count += strncmp(entry->d_name, "ring.new.", 9) == 0;
	(void)closedir(directory);
	return count;
}

/* The first thread keeps its ring; the second one needs another. */
static void trace_in_two_threads(void)
{
	pthread_t thread;

	(void)alarm(60);
	(void)emit(0);
	CHILD_CHECK(pthread_create(&thread, NULL, emit_in_a_thread, (void *)1) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	while (count_spare_rings() == 0)
		(void)sched_yield();
	CHILD_CHECK(stats().rings == 2);
}

static void a_ring_is_kept_ready_for_the_next_thread(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_in_two_threads), 0);
	assert_lines(0, 2);
	assert_int_equal(count_run_directories(), 0); /* it goes with the directory */
}

int test_consumer_thread(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_are_delivered_without_being_asked_for,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_idle_consumer_thread_wakes_for_an_event,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_idle_process_wakes_at_most_20_times_a_second,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(events_that_are_held_back_do_not_keep_it_awake,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(without_a_ring_it_never_wakes, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_ring_is_kept_ready_for_the_next_thread,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_first_event_wakes_it_in_any_case, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_flush_is_over_when_all_before_it_is_out,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(several_may_flush_at_once, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_flush_gives_up_when_its_time_is_over,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(without_a_thread_flush_and_exit_deliver,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_next_process_delivers_what_a_dead_one_left,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
