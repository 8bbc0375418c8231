/*
 * test_lifetime.c - tracing at the edges of a life: before main, in atexit handlers, in thread
 * destructors, in modules that come and go, in ten thousand short threads; and what a process costs
 * while it does nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("life");

static void trace_number(unsigned kind, uint64_t number)
{
	CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(number));
}

static void check(const char *pattern, unsigned kind, uint64_t last)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)scenario_lines(pattern, scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	assert_int_equal(sequence.last[kind], last);
}

/* ---- before main: this very program, started again as somebody whose constructor traces ---- */

__attribute__((constructor)) static void before_main(void)
{
	if (getenv("TRACE_BEFORE_MAIN") != NULL) {
		trace_number(1, 1);
		trace_number(1, 2);
		exit(0);
	}
}

static void a_constructor_may_trace(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	assert_int_equal(setenv("TRACE_BEFORE_MAIN", "1", 1), 0);
	assert_int_equal(system("/proc/$PPID/exe"), 0);
	assert_int_equal(unsetenv("TRACE_BEFORE_MAIN"), 0);
	check("out/*.log", 1, 2);
	scenario_end();
}

/* ---- atexit ---- */

static void at_the_end(void)
{
	trace_number(1, 3);
}

static void trace_at_exit(void)
{
	/* before the library is touched: runs after everything that was registered later */
	REQUIRE(atexit(at_the_end) == 0);
	trace_number(1, 1);
	trace_number(1, 2);
}

static void an_atexit_handler_may_trace(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_at_exit);
	check("out/*.log", 1, 3);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

/* ---- threads ---- */

static pthread_key_t late_key;

static void trace_late(void *value)
{
	trace_number(2, (uint64_t)(uintptr_t)value);
	/* Again in the next round of destructors, after the library's own has run. */
	if ((uintptr_t)value < 3)
		(void)pthread_setspecific(late_key, (void *)((uintptr_t)value + 1));
}

static void *short_life(void *argument)
{
	(void)argument;
	trace_number(1, 1);
	(void)pthread_setspecific(late_key, (void *)1);
	return NULL;
}

static void thread_with_destructors(void)
{
	pthread_t thread;

	REQUIRE(pthread_key_create(&late_key, trace_late) == 0);
	REQUIRE(pthread_create(&thread, NULL, short_life, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
}

static void a_thread_local_destructor_may_trace(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(thread_with_destructors);
	check("out/*.log", 1, 1);
	check("out/*.log", 2, 3);
	scenario_end();
}

static void *trace_one(void *argument)
{
	trace_number(1, (uint64_t)(uintptr_t)argument);
	return NULL;
}

static void ten_thousand_threads(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	for (uintptr_t i = 1; i <= 10000; i++) {
		pthread_t thread;

		REQUIRE(pthread_create(&thread, NULL, trace_one, (void *)i) == 0 &&
			pthread_join(thread, NULL) == 0);
	}
	ctrace_stats_get(&stats);
	shared->number[0] = stats.rings;
	shared->number[1] = stats.emitted;
}

static void ten_thousand_short_threads_share_one_ring(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(ten_thousand_threads);
	check("out/*.log", 1, 10000);
	assert_int_equal(shared->number[0], 1);
	assert_int_equal(shared->number[1], 10000);
	scenario_end();
}

static void *trace_for_ever(void *argument)
{
	for (uint64_t i = 1;; i++) {
		trace_number((unsigned)(uintptr_t)argument, i);
		__atomic_store_n(&shared->number[(uintptr_t)argument], i, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void exit_under_threads(void)
{
	for (uintptr_t i = 1; i <= 3; i++) {
		pthread_t thread;

		REQUIRE(pthread_create(&thread, NULL, trace_for_ever, (void *)i) == 0);
	}
	while (__atomic_load_n(&shared->number[3], __ATOMIC_ACQUIRE) < 1000)
		(void)sched_yield();
}

static void exit_under_tracing_threads_loses_nothing(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 10; round++) {
		struct scenario_sequence sequence = { { 0 }, 0 };

		scenario_begin(LINES_CONFIG);
		scenario_run(exit_under_threads);
		assert_int_equal(run_tool("recover"), 0);
		(void)scenario_lines("out/*.log", scenario_check_sequence, &sequence);
		assert_int_equal(sequence.bad, 0);
		for (unsigned i = 1; i <= 3; i++)
			assert_in_range(sequence.last[i], shared->number[i], shared->number[i] + 1);
		scenario_end();
	}
}

/* ---- modules ---- */

static void load_and_unload(void)
{
	const char *path = getenv("TEST_PLUGIN");
	uint64_t number = 0;

	for (unsigned round = 0; round < 50; round++) {
		void (*trace)(uint64_t);
		void *module = dlopen(path, RTLD_NOW);

		REQUIRE(module != NULL);
		*(void **)&trace = dlsym(module, "plugin_trace");
		REQUIRE(trace != NULL);
		for (unsigned i = 0; i < 10; i++)
			trace(++number);
		REQUIRE(dlclose(module) == 0);
		/* The unloaded tracer's component is still told of changes: nobody may look for it
		 * at its old place. */
		REQUIRE(ctrace_level_set("plugin", round % 2 ? CTRACE_DEBUG : CTRACE_INFO) ==
			CTRACE_OK);
	}
}

static void a_traced_module_may_be_unloaded_again_and_again(void **state)
{
	char command[2000];

	(void)state;
	scenario_begin(LINES_CONFIG);
	(void)snprintf(
		command, sizeof command,
		"cc -shared -fPIC -O2 -I'%s/include' -o plugin.so '%s/tests/process/plugin.c' -L'%s' -lctrace",
		getenv("CTRACE_SOURCE"), getenv("CTRACE_SOURCE"), getenv("CTRACE_BUILD"));
	assert_int_equal(system(command), 0);
	(void)snprintf(command, sizeof command, "%s/plugin.so", scenario_directory);
	assert_int_equal(setenv("TEST_PLUGIN", command, 1), 0);
	scenario_run(load_and_unload);
	check("out/*.log", 7, 500);
	scenario_end();
}

/* ---- descriptors that others close ---- */

static char *const recover_arguments[] = { (char[]){ "ctrace" }, (char[]){ "recover" }, NULL };

static void *trace_as_new_thread(void *argument)
{
	(void)argument;
	trace_number(1, 2);
	return NULL;
}

/* What a careless daemon does: closes everything, and opens files of its own that get our numbers.
 */
static void close_everything(void)
{
	int own[64];
	char name[16], tool[1000];
	pthread_t thread;
	pid_t pid;

	trace_number(1, 1);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	closefrom(3);
	for (unsigned i = 0; i < 64; i++) {
		(void)snprintf(name, sizeof name, "own.%u", i);
		own[i] = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		REQUIRE(own[i] >= 0);
	}
	/* Another ring, more components than the session has room for, another file, and a
	 * recoverer that must see that we live. */
	REQUIRE(pthread_create(&thread, NULL, trace_as_new_thread, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	for (unsigned i = 0; i < 5000; i++) {
		struct ctrace_tracer *made;

		(void)snprintf(name, sizeof name, "more.%u", i);
		REQUIRE(ctrace_tracer_get(name, &made) == CTRACE_OK);
	}
	trace_number(1, 3);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	(void)snprintf(tool, sizeof tool, "%s/ctrace", getenv("CTRACE_BUILD"));
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		trace_number(2, 1);
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
		(void)execv(tool, recover_arguments);
		_exit(98);
	}
	REQUIRE(waitpid(pid, NULL, 0) == pid);
	trace_number(1, 4);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	for (unsigned i = 0; i < 64; i++)
		REQUIRE(lseek(own[i], 0, SEEK_END) == 0);
}

static void a_program_that_closes_all_descriptors_goes_on_and_keeps_its_own_files(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG
		       "mftrace.dest = binfile\nmftrace.emitter.binfile#location = out\n");
	scenario_run(close_everything);
	check("out/*.log", 1, 4);
	check("out/*.log", 2, 1);
	assert_int_equal(
		run_tool(
			"show --format='$(THREAD) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' out/*.ctb"),
		0);
	check("tool.out", 1, 4);
	check("tool.out", 2, 1);
	assert_int_equal(run_tool("recover"), 0);
	check("out/*.log", 1, 4);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

/* ---- a process that does nothing ---- */

static long consumer_thread_switches(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	long switches = -1;

	REQUIRE(tasks != NULL);
	while ((task = readdir(tasks)) != NULL) {
		char path[300], line[200];
		bool is_consumer_thread = false;
		FILE *file;

		if (task->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
		file = fopen(path, "r");
		REQUIRE(file != NULL);
		while (fgets(line, sizeof line, file) != NULL) {
			long count;

			is_consumer_thread |= strstr(line, "Name:\tctrace-consumer") != NULL;
			if (is_consumer_thread &&
			    sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
				switches = (switches < 0 ? 0 : switches) + count;
		}
		(void)fclose(file);
	}
	(void)closedir(tasks);
	return switches;
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* How often the consumer thread woke in about two idle seconds, and how long these were in truth.
 */
static void measure_idle(void)
{
	struct timespec pause = { 2, 0 };
	double start = seconds();
	long before = consumer_thread_switches();

	(void)nanosleep(&pause, NULL);
	shared->number[0] = (uint64_t)(consumer_thread_switches() - before);
	shared->number[1] = (uint64_t)((seconds() - start) * 1000);
}

static bool was_idle(void)
{
	return shared->number[0] * 1000 <= shared->number[1] * 20 + 1000;
}

/* It takes the consumer thread a while to call itself idle, the longer the busier the machine is.
 */
static void idle_after_an_event(void)
{
	trace_number(1, 1);
	for (int i = 0; i == 0 || (i < 10 && !was_idle()); i++)
		measure_idle();
}

static void idle_and_disabled(void)
{
	uint32_t level;

	trace_number(1, 1);
	REQUIRE(ctrace_level_get("life", &level) == CTRACE_OK && level == CTRACE_LEVEL_NONE);
	/* In the first of these times the consumer thread starts, looks for orphans and goes to
	 * sleep. */
	for (int i = 0; i == 0 || (i < 10 && shared->number[0] != 0); i++)
		measure_idle();
}

static void an_idle_process_wakes_at_most_twenty_times_a_second(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(idle_after_an_event);
	assert_true(shared->number[0] > 0);
	assert_true(was_idle());
	scenario_end();
}

static void a_process_with_nothing_enabled_never_wakes(void **state)
{
	(void)state;
	scenario_begin("");
	scenario_run(idle_and_disabled);
	assert_int_equal(shared->number[0], 0);
	scenario_end();
}

/* ---- keeping to itself ---- */

static void trace_three(void)
{
	for (uint64_t i = 1; i <= 3; i++)
		trace_number(1, i);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	shared->number[0] = scenario_directories();
}

static void without_attaching_there_is_no_directory_and_output_all_the_same(void **state)
{
	static const char *const configs[] = { LINES_CONFIG "ctrace.attach = off\n", LINES_CONFIG,
					       LINES_CONFIG };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		scenario_begin(configs[i]);
		if (i == 1)
			assert_int_equal(setenv("CTRACE_ATTACH", "0", 1), 0);
		if (i == 2)
			/* a run directory that is a link is refused */
			assert_int_equal(symlink("/tmp", "run"), 0);
		scenario_run(trace_three);
		assert_int_equal(unsetenv("CTRACE_ATTACH"), 0);
		assert_int_equal(shared->number[0], 0);
		check("out/*.log", 1, 3);
		scenario_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_constructor_may_trace),
		cmocka_unit_test(an_atexit_handler_may_trace),
		cmocka_unit_test(a_thread_local_destructor_may_trace),
		cmocka_unit_test(ten_thousand_short_threads_share_one_ring),
		cmocka_unit_test(exit_under_tracing_threads_loses_nothing),
		cmocka_unit_test(a_traced_module_may_be_unloaded_again_and_again),
		cmocka_unit_test(
			a_program_that_closes_all_descriptors_goes_on_and_keeps_its_own_files),
		cmocka_unit_test(an_idle_process_wakes_at_most_twenty_times_a_second),
		cmocka_unit_test(a_process_with_nothing_enabled_never_wakes),
		cmocka_unit_test(without_attaching_there_is_no_directory_and_output_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
