/*
 * test_loading.c - nothing of ctrace is held while a module is loaded: a constructor that traces,
 * commands or forks never waits for a thread that waits for the loader.
 *
 * The loader runs a module's constructors under a lock of its own.  One thread is in such a
 * constructor; a second one reaches dlopen() inside ctrace; then the constructor goes on.  The
 * program's own dlopen() stands before the C library's and reports the second thread, so that the
 * schedule is the same in every run.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>

#define HANG_SECONDS 20u /* stops a hang */

static struct ctrace_tracer tracer = CTRACE_TRACER("load");
static sem_t is_constructing; /* the constructor runs */
static sem_t is_loading;      /* another thread is about to enter the loader, inside ctrace */
static void (*in_constructor)(void);
static pthread_t constructing;
static bool is_watched; /* what ctrace loads is reported */

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		;
}

/* Found before the C library's by libctrace.so, too. */
__attribute__((visibility("default"))) void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *, int);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	if (__atomic_load_n(&is_watched, __ATOMIC_ACQUIRE) &&
	    !pthread_equal(pthread_self(), constructing))
		REQUIRE(sem_post(&is_loading) == 0);
	return next(path, flags);
}

/* Called by the module (constructing.c). */
static void construct(void)
{
	constructing = pthread_self();
	__atomic_store_n(&is_watched, true, __ATOMIC_RELEASE);
	REQUIRE(sem_post(&is_constructing) == 0);
	wait_for(&is_loading);
	in_constructor();
}

static void *load_plugin(void *argument)
{
	void *module = dlopen(argument, RTLD_NOW);

	REQUIRE(module != NULL);
	return NULL;
}

/* `other` runs on this thread until it is in the loader, then `inside` in the constructor on
 * another one; both end. */
static void construct_while(void (*other)(void), void (*inside)(void))
{
	char path[300], address[32];
	pthread_t thread;

	(void)alarm(HANG_SECONDS);
	(void)snprintf(path, sizeof path, "%s/constructing.so", scenario_directory);
	(void)snprintf(address, sizeof address, "%llx", (unsigned long long)(uintptr_t)construct);
	in_constructor = inside;
	REQUIRE(setenv("TEST_CONSTRUCTOR", address, 1) == 0);
	REQUIRE(sem_init(&is_constructing, 0, 0) == 0 && sem_init(&is_loading, 0, 0) == 0);
	REQUIRE(pthread_create(&thread, NULL, load_plugin, path) == 0);
	wait_for(&is_constructing);
	other();
	REQUIRE(pthread_join(thread, NULL) == 0);
	(void)alarm(0);
}

static void trace_one(void)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(1));
}

/* ---- the test's room ---- */

static void build(const char *command)
{
	char line[3000];

	(void)snprintf(line, sizeof line, "cc -shared -fPIC -I'%s/include' %s",
		       getenv("CTRACE_SOURCE"), command);
	assert_int_equal(system(line), 0);
}

static void begin(const char *config)
{
	char command[1000];

	scenario_begin(config);
	(void)snprintf(command, sizeof command,
		       "-o constructing.so '%s/tests/process/constructing.c'",
		       getenv("CTRACE_SOURCE"));
	build(command);
	assert_int_equal(mkdir("emitters", 0755), 0);
	(void)snprintf(command, sizeof command,
		       "-o emitters/count.so '%s/examples/emitter-count/count.c'",
		       getenv("CTRACE_SOURCE"));
	build(command);
	(void)snprintf(command, sizeof command, "%s/emitters:%s/modules", scenario_directory,
		       getenv("CTRACE_BUILD"));
	assert_int_equal(setenv("CTRACE_EMITTERS", command, 1), 0);
}

static void end(void)
{
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
	scenario_end();
}

/* ---- the process's first event ---- */

static void trace_while_a_constructor_traces(void)
{
	construct_while(trace_one, trace_one);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void the_first_event_may_load_an_emitter(void **state)
{
	(void)state;
	begin("mftrace.level = debug\nmftrace.dest = COUNT\n");
	scenario_run(trace_while_a_constructor_traces);
	assert_int_equal(system("grep -q 'info 2 ' count.txt"), 0);
	end();
}

static void the_first_event_may_load_a_catalogue(void **state)
{
	(void)state;
	begin("mftrace.level = debug\nmftrace.dest = BINFILE\nmftrace.emitter.binfile#file = trace.ctb\n"
	      "mftrace.emitter.binfile#location = .\n");
	assert_int_equal(
		system("printf 'component: load\\nevents:\\n  1: {mnemonic: FIRSTONE}\\n' > load.yaml"),
		0);
	assert_int_equal(setenv("CTRACE_CATALOG", "load.yaml", 1), 0);
	scenario_run(trace_while_a_constructor_traces);
	assert_int_equal(unsetenv("CTRACE_CATALOG"), 0);
	/* Whichever of the two threads attached, the names were there. */
	assert_int_equal(run_tool("show trace.ctb"), 0);
	assert_int_equal(
		system("test $(grep -c load tool.out) = 2 && grep -q FIRSTONE trace.ctb/metadata"),
		0);
	end();
}

/* ---- commands ---- */

static void add_count(void)
{
	REQUIRE(ctrace_dest_set("load", "COUNT", CTRACE_DEST_ADD) == CTRACE_OK);
}

static void command_and_fork(void)
{
	pid_t pid;

	REQUIRE(ctrace_emitter_property_set("TEXTFILE", "DELIMCHAR", "|") == CTRACE_OK);
	REQUIRE(ctrace_dest_set("load", "ES", CTRACE_DEST_ADD) == CTRACE_OK);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0)
		_exit(0);
	REQUIRE(scenario_wait(pid) == 0);
}

static void command_while_a_constructor_commands(void)
{
	trace_one();
	construct_while(add_count, command_and_fork);
	trace_one();
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void a_command_may_load_an_emitter(void **state)
{
	(void)state;
	begin(LINES_CONFIG);
	scenario_run(command_while_a_constructor_commands);
	assert_int_equal(system("grep -q 'info 1 ' count.txt"), 0);
	end();
}

/* Both load it; it is one emitter. */
static void two_threads_add_the_same_emitter(void)
{
	trace_one();
	construct_while(add_count, add_count);
	trace_one();
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(ctrace_dest_set("load", "COUNT", CTRACE_DEST_REMOVE) == CTRACE_OK);
	REQUIRE(ctrace_dest_set("load", "COUNT", CTRACE_DEST_REMOVE) == CTRACE_EMITTER_NOT_FOUND);
}

static void two_threads_may_load_the_same_emitter(void **state)
{
	(void)state;
	begin(LINES_CONFIG);
	scenario_run(two_threads_add_the_same_emitter);
	assert_int_equal(system("grep -q 'info 1 ' count.txt"), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_event_may_load_an_emitter),
		cmocka_unit_test(the_first_event_may_load_a_catalogue),
		cmocka_unit_test(a_command_may_load_an_emitter),
		cmocka_unit_test(two_threads_may_load_the_same_emitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
