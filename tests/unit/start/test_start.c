/*
 * test_start.c - the process as a whole: attaching once, ending properly, and counts that balance.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

static void do_nothing(void)
{
}

static void a_program_that_does_not_trace_leaves_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_traced(do_nothing), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_false(exists("run/asid"));
	assert_false(exists("out"));
}

static void emit_and_end(void)
{
	for (uint32_t i = 0; i < 5000; i++)
		CTRACE(&tracer, CTRACE_INFO, i, CTRACE_U32(i));
}

static void the_end_delivers_everything_and_removes_the_directory(void **state)
{
	(void)state;
	assert_int_equal(run_traced(emit_and_end), 0);
	assert_lines(0, 5000);
	assert_int_equal(count_run_directories(), 0);
}

static void emit_late(void)
{
	for (uint32_t i = 100; i < 200; i++)
		(void)emit(i);
}

static void trace_at_exit(void)
{
	CHILD_CHECK(atexit(emit_late) == 0);
	for (uint32_t i = 0; i < 100; i++)
		(void)emit(i);
}

static void events_of_atexit_handlers_are_delivered(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_at_exit), 0);
	assert_lines(0, 200);
}

static void write_to_nowhere(void)
{
	for (uint32_t i = 0; i < 100; i++)
		(void)emit(i);
	CHILD_CHECK(rename("out", "away") == 0);
	put_file("out", "", 0);
	/* Its file is gone, and there is no directory to make another in. */
	for (uint32_t i = 100; i < 200; i++)
		(void)emit(i);
}

static void what_cannot_be_delivered_at_the_end_waits_for_a_recoverer(void **state)
{
	char text[200];

	(void)state;
	(void)snprintf(text, sizeof text, "mftrace.emitter.textfile#file = %s/out/trace.log\n",
		       room);
	configure(text);
	assert_int_equal(mkdir("out", 0700), 0);
	assert_int_equal(run_traced(write_to_nowhere), 0);
	assert_int_equal(count_run_directories(), 1);
	assert_int_equal(recover().kept, 1);
	assert_int_equal(unlink("out"), 0);
	assert_int_equal(rename("away", "out"), 0);
	assert_int_equal(recover().recovered, 1);
	assert_lines(0, 200);
	assert_int_equal(count_run_directories(), 0);
}

static uint32_t emitted_beside; /* atomic */

static void *emit_for_ever(void *argument)
{
	for (uint32_t i = 0; i < 300000; i++) {
		CTRACE(&tracer, CTRACE_INFO, i, CTRACE_U32(i));
		__atomic_store_n(&emitted_beside, i + 1, __ATOMIC_RELEASE);
	}
	return argument;
}

static void exit_beside_others(void)
{
	pthread_t thread;

	CHILD_CHECK(pthread_create(&thread, NULL, emit_for_ever, NULL) == 0);
	while (__atomic_load_n(&emitted_beside, __ATOMIC_ACQUIRE) < 20000)
		;
}

static void the_end_beside_a_thread_that_goes_on_loses_nothing_committed(void **state)
{
	unsigned count;

	(void)state;
	assert_int_equal(run_traced(exit_beside_others), 0);
	(void)recover();
	assert_int_equal(count_run_directories(), 0);
	count = read_lines(300000);
	assert_true(count >= 20000);
	for (unsigned i = 0; i < count && i < 300000; i++)
		assert_int_equal(seen[i], 1); /* without a gap, and once */
}

/* ---- attaching that fails, or is not wanted ---- */

static void trace_privately(void)
{
	for (uint32_t i = 0; i < 100; i++)
		(void)emit(i);
	CHILD_CHECK(ct_process.session.path[0] == '\0');
	CHILD_CHECK(count_run_directories() == 0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
}

static void one_that_keeps_to_itself_traces_without_a_directory(void **state)
{
	(void)state;
	configure("ctrace.attach = off\n");
	assert_int_equal(run_traced(trace_privately), 0);
	assert_lines(0, 100);
}

static void a_run_directory_that_is_refused_costs_the_directory_only(void **state)
{
	(void)state;
	assert_int_equal(chmod("run", 0777), 0);
	assert_int_equal(run_traced(trace_privately), 0);
	assert_lines(0, 100);
}

static void trace_without_memory(void)
{
	/* No directory, and no memory for anything else that is mapped. */
	ct_os_fail(CT_OS_MAP, 0, 1000, ENOMEM);
	CHILD_CHECK(emit(0) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(emit(0) == CTRACE_NOT_ENOUGH_MEMORY);
	CTRACE(&tracer, CTRACE_INFO, 0);
	ct_os_fail(CT_OS_MAP, 0, 0, 0);
	{
		struct ctrace_stats now = stats();

		CHILD_CHECK(now.emitted == 3 && lost_total(&now) == 3);
	}
}

static void without_memory_everything_is_counted_and_nothing_crashes(void **state)
{
	(void)state;
	configure("ctrace.attach = off\n");
	assert_int_equal(run_traced(trace_without_memory), 0);
	assert_int_equal(count_run_directories(), 0);
}

static size_t fail_from; /* malloc() of so many bytes, or more, fails; 0: none does */

#if !IS_SANITIZED /* a sanitizer has an allocator of its own */
extern void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
	if (fail_from == 0 || size < fail_from)
		return __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}
#endif

static unsigned count_own_directories(void)
{
	unsigned count = 0;
	DIR *directory = opendir(run_dir);
	char own[32];

	(void)snprintf(own, sizeof own, "%d.", (int)getpid());
	for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
		count += strncmp(entry->d_name, own, strlen(own)) == 0;
	CHILD_CHECK(directory != NULL && closedir(directory) == 0);
	return count;
}

static void be_without_memory(uint32_t first)
{
	fail_from = 50000; /* the consumer thread's first batch */
	CHILD_CHECK(emit(first) == CTRACE_OK);
	CHILD_CHECK(ct_consumer_thread_consumer() == NULL);
	CHILD_CHECK(stats().pending == 1);
	CHILD_CHECK(count_own_directories() == 1);
	fail_from = 0;
}

/* The next event finds the memory. */
static void trace_without_an_consumer_thread(void)
{
	be_without_memory(0);
	CHILD_CHECK(emit(1) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 2);
}

/* The end of the process finds it. */
static void end_without_an_consumer_thread(void)
{
	be_without_memory(2);
}

static void trace_without_an_consumer_thread_in_a_child(void)
{
	int status;
	pid_t pid;

	CHILD_CHECK(emit(3) == CTRACE_OK);
	CHILD_CHECK(count_own_directories() == 1);
	pid = fork();
	if (pid == 0) {
		be_without_memory(4);
		exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
}

static void without_memory_for_an_consumer_thread_events_wait(void **state)
{
	(void)state;
	if (IS_SANITIZED)
		skip();
	assert_int_equal(run_traced(trace_without_an_consumer_thread), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_int_equal(run_traced(end_without_an_consumer_thread), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_int_equal(run_traced(trace_without_an_consumer_thread_in_a_child), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 5);
}

static void fail_each_call(void)
{
	static const struct {
		enum ct_os_call call;
		int error;
	} faults[] = {
		{ CT_OS_OPEN, EMFILE },    { CT_OS_READ, EIO },        { CT_OS_WRITE, ENOSPC },
		{ CT_OS_TRUNCATE, EFBIG }, { CT_OS_ALLOCATE, ENOSPC }, { CT_OS_MAP, ENOMEM },
		{ CT_OS_MKDIR, EACCES },   { CT_OS_THREAD, EAGAIN },
	};

	for (size_t i = 0; i < CT_COUNT(faults); i++) {
		for (unsigned skip = 0; skip < 6; skip++) {
			int status;
			pid_t pid = fork();

			if (pid == 0) {
				struct ctrace_stats now;
				uint64_t emitted = 0;

				ct_os_fail(faults[i].call, skip, 1, faults[i].error);
				/* not enabled: it was the configuration that could not be read */
				for (uint32_t n = 0; n < 100; n++)
					emitted += emit(n) != CTRACE_NOT_TRACE_ENABLED;
				(void)!ctrace_flush(60000);
				now = stats();
				CHILD_CHECK(now.emitted == emitted);
				CHILD_CHECK(now.delivered + now.pending + lost_total(&now) ==
					    emitted);
				exit(0);
			}
			CHILD_CHECK(waitpid(pid, &status, 0) == pid);
			CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		}
	}
}

static void any_one_call_may_fail_and_the_counts_still_balance(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fail_each_call), 0);
}

/* ---- counts ---- */

static void look_at_stats(void)
{
	struct ctrace_stats now = { .size = sizeof now },
			    small = { .size = offsetof(struct ctrace_stats, pending),
				      .pending = 4711 };

	ctrace_stats_get(&now);
	CHILD_CHECK(now.emitted == 0 && now.rings == 0 && now.components == 0);
	for (uint32_t i = 0; i < 10; i++)
		(void)emit(i);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	ctrace_stats_get(&now);
	CHILD_CHECK(now.size == sizeof now && now.emitted == 10 && now.delivered == 10 &&
		    now.pending == 0);
	CHILD_CHECK(now.rings == 1 && now.components >= 1);
	ctrace_stats_get(&small); /* a program built with an older, shorter struct */
	CHILD_CHECK(small.emitted == 10 && small.delivered == 10 && small.pending == 4711);
	now.size = sizeof now + 1000; /* or a newer one */
	ctrace_stats_get(&now);
	CHILD_CHECK(now.emitted == 10);
}

static void stats_fit_the_struct_that_the_caller_has(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_at_stats), 0);
}

static void *keep_emitting(void *argument)
{
	uint32_t *stop = argument;

	while (__atomic_load_n(stop, __ATOMIC_RELAXED) == 0)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(1));
	return NULL;
}

static void look_while_tracing(void)
{
	uint32_t stop = 0;
	uint64_t before = 0;
	pthread_t thread;

	CHILD_CHECK(pthread_create(&thread, NULL, keep_emitting, &stop) == 0);
	for (int i = 0; i < 300; i++) {
		struct ctrace_stats now = stats();

		CHILD_CHECK(now.emitted == now.delivered + now.pending + lost_total(&now));
		CHILD_CHECK(now.emitted >= before);
		before = now.emitted;
	}
	stop = 1;
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
}

static void counts_balance_and_never_fall_while_others_trace(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_while_tracing), 0);
}

static void the_version_is_said(void **state)
{
	(void)state;
	assert_non_null(strchr(ctrace_version(), '.'));
}

int test_start(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_that_does_not_trace_leaves_nothing,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_end_delivers_everything_and_removes_the_directory, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(events_of_atexit_handlers_are_delivered,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_delivered_at_the_end_waits_for_a_recoverer, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_end_beside_a_thread_that_goes_on_loses_nothing_committed, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(one_that_keeps_to_itself_traces_without_a_directory,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_run_directory_that_is_refused_costs_the_directory_only, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			without_memory_everything_is_counted_and_nothing_crashes, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(without_memory_for_an_consumer_thread_events_wait,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(any_one_call_may_fail_and_the_counts_still_balance,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(stats_fit_the_struct_that_the_caller_has,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(counts_balance_and_never_fall_while_others_trace,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_version_is_said, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
