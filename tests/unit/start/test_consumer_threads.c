/*
 * test_consumer_threads.c - the consumer thread starts when it is needed, is watched by a standby,
 * and never handles the program's signals.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"
#include "lib/start/consumer_thread.h"

static struct ctrace_stats wait_for_delivered(uint64_t count)
{
	struct ctrace_stats now;

	do {
		now = stats();
	} while (now.delivered < count);
	return now;
}

static unsigned count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	CHILD_CHECK(tasks != NULL);
	while ((entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	(void)closedir(tasks);
	return count;
}

static void attach_and_trace_nothing(void)
{
	unsigned before = count_threads();

	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ct_server_runs());
	CHILD_CHECK(count_threads() == before + 1); /* the control thread */
	CHILD_CHECK(!ct_consumer_thread_runs() && ct_consumer_thread_consumer() == NULL);
	CHILD_CHECK(stats().emitted == 0);
	CHILD_CHECK(ct_consumer_thread_is_unneeded(false));
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK); /* nothing was traced */
	CHILD_CHECK(!ct_consumer_thread_runs());
}

static void trace_after_a_while(void)
{
	attach_and_trace_nothing();
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ct_consumer_thread_runs());
	(void)wait_for_delivered(1);
}

/* Without a control thread nobody would look for orphans. */
static void attach_without_a_control_thread(void)
{
	ct_os_fail(CT_OS_THREAD, 0, 1, EAGAIN);
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(!ct_server_runs() && ct_consumer_thread_runs());
}

static bool is_watched(void)
{
	bool is;

	ct_consumer_thread_lock();
	is = ct_consumer_thread.has_standby;
	ct_consumer_thread_unlock();
	return is;
}

static void be_short(void)
{
	/* what the control thread does after a while; here nothing has run yet */
	ct_consumer_thread_settle(NULL);
	CHILD_CHECK(ct_process_attach() != NULL);
	for (bool is_settled = false; !is_settled;) {
		ct_consumer_thread_lock();
		is_settled = ct_consumer_thread.watch_at_ns == 0;
		ct_consumer_thread_unlock();
	}
	CHILD_CHECK(!ct_consumer_thread_runs() && !is_watched());
	ct_consumer_thread.watch_at_ns = UINT64_MAX; /* as if it had not lived so long */
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(ct_consumer_thread_runs() && !is_watched());
	ct_consumer_thread_watch();
	CHILD_CHECK(is_watched());
}

static void trace_in_handler(int signal)
{
	(void)signal;
	(void)emit(0);
}

/* The process's first event: its handler can start no thread, and the control thread does. */
static void trace_in_a_handler_first(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(signal(SIGUSR1, trace_in_handler) != SIG_ERR);
	(void)raise(SIGUSR1);
	(void)wait_for_delivered(1);
	CHILD_CHECK(ct_consumer_thread_runs());
}

static volatile sig_atomic_t handled_by;

static void note_thread(int signal)
{
	(void)signal;
	handled_by = (sig_atomic_t)ct_os_thread_id();
}

static void take_signals(void)
{
	CHILD_CHECK(signal(SIGUSR1, note_thread) != SIG_ERR);
	(void)emit(0);
	for (int i = 0; i < 100; i++) {
		handled_by = 0;
		CHILD_CHECK(kill(getpid(), SIGUSR1) == 0);
		CHILD_CHECK(handled_by == getpid()); /* the program's only thread */
	}
}

static void the_consumer_thread_starts_when_it_is_needed(void **state)
{
	(void)state;
	assert_int_equal(run_traced(attach_and_trace_nothing), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_int_equal(run_traced(attach_without_a_control_thread), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_int_equal(run_traced(trace_after_a_while), 0);
	assert_lines(0, 1);
}

static void a_short_process_has_no_standby(void **state)
{
	(void)state;
	assert_int_equal(run_traced(be_short), 0);
	assert_lines(0, 1);
}

static void a_handlers_event_starts_the_consumer_thread_too(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_in_a_handler_first), 0);
	assert_lines(0, 1);
}

static void the_programs_signals_are_never_handled_on_it(void **state)
{
	(void)state;
	assert_int_equal(run_traced(take_signals), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_consumer_threads(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_consumer_thread_starts_when_it_is_needed),
		TEST(a_short_process_has_no_standby),
		TEST(a_handlers_event_starts_the_consumer_thread_too),
		TEST(the_programs_signals_are_never_handled_on_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
