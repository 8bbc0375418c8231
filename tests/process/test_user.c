/*
 * test_user.c - a program that begins as root and then drops its rights: what it traces on new
 * threads is delivered, and survives its death.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <grp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define NOBODY 65534u
#define EVENTS 500u
#define THREADS 4u /* that begin after the rights are dropped, each with a ring of its own */

static struct ctrace_tracer tracer = CTRACE_TRACER("daemon");
static pthread_barrier_t barrier;

/* The new user may go where the outputs are, and has a place for a run directory of its own. */
static void open_way(void)
{
	char path[300];
	struct stat info;

	(void)snprintf(path, sizeof path, "%s", scenario_directory);
	for (; path[0] != '\0'; *strrchr(path, '/') = '\0') {
		assert_int_equal(stat(path, &info), 0);
		if ((info.st_mode & 1) == 0)
			assert_int_equal(chmod(path, 0711), 0);
	}
	assert_int_equal(mkdir("user", 0700) | chown("user", NOBODY, NOBODY) | mkdir("out", 0777) |
				 chmod("out", 0777),
			 0);
	(void)snprintf(path, sizeof path, "%s/user", scenario_directory);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", path, 1), 0);
}

static void drop_rights(void)
{
	REQUIRE(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}

static unsigned count_files(const char *pattern)
{
	glob_t found;
	unsigned count;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	count = (unsigned)found.gl_pathc;
	globfree(&found);
	return count;
}

static void *trace(void *argument)
{
	unsigned kind = (unsigned)(uintptr_t)argument;

	CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(1));
	(void)pthread_barrier_wait(&barrier); /* each has a ring */
	(void)pthread_barrier_wait(&barrier);
	for (uint64_t i = 2; i <= EVENTS; i++)
		CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(i));
	(void)pthread_barrier_wait(&barrier);
	return NULL;
}

static pthread_t threads[THREADS];

static void begin_as_root(void)
{
	CTRACE(&tracer, CTRACE_INFO, 100, CTRACE_U64(1));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
	drop_rights();
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, trace, (void *)(i + 1)) == 0);
	(void)pthread_barrier_wait(&barrier);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void serve_and_end(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	begin_as_root();
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == 1 + THREADS * EVENTS && stats.delivered == stats.emitted);
}

/* Nothing goes out any more: what the rings have when the process is killed is what a recoverer
 * finds. */
static void serve_and_die(void)
{
	struct rlimit none = { .rlim_cur = 1, .rlim_max = 1 };
	struct ctrace_stats stats = { .size = sizeof stats };

	begin_as_root();
	REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_barrier_wait(&barrier);
	ctrace_stats_get(&stats);
	REQUIRE(stats.pending == THREADS * (EVENTS - 1));
	(void)raise(SIGKILL);
}

static void check_all(void)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	assert_int_equal(scenario_lines("out/*.log", scenario_check_sequence, &sequence),
			 1 + THREADS * EVENTS);
	assert_int_equal(sequence.bad, 0);
	assert_int_equal(scenario_directories(), 0);
	assert_int_equal(count_files("user/ctrace/annex-*"), 0);
}

static void threads_that_begin_later_trace_as_ever(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* only root has rights to drop */
	scenario_begin(LINES_CONFIG);
	open_way();
	scenario_run(serve_and_end);
	/* It may not remove its directory; root may. */
	assert_int_equal(run_tool("recover"), 0);
	check_all();
	scenario_end();
}

static void a_killed_one_is_recovered_by_root(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* only root has rights to drop */
	scenario_begin(LINES_CONFIG);
	open_way();
	assert_true(WIFSIGNALED(scenario_wait(scenario_start(serve_and_die))));
	assert_int_equal(count_files("user/ctrace/annex-*/ring.*"), THREADS);
	assert_int_equal(run_tool("recover"), 0);
	check_all();
	scenario_end();
}

static void operate_after_dropping_rights(void)
{
	begin_as_root();
	shared->number[0] = (uint64_t)getpid();
	while (ctrace_enabled(&tracer, CTRACE_INFO))
		(void)usleep(1000);
	_exit(0);
}

static void root_still_reaches_it(void **state)
{
	char command[100];
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root has rights to drop */
	scenario_begin(LINES_CONFIG);
	open_way();
	pid = scenario_start(operate_after_dropping_rights);
	while (__atomic_load_n(&shared->number[0], __ATOMIC_ACQUIRE) == 0)
		(void)usleep(1000);
	(void)snprintf(command, sizeof command, "level -p %d daemon warn", (int)pid);
	assert_int_equal(run_tool(command), 0);
	assert_int_equal(scenario_wait(pid), 0);
	scenario_end();
}

/* ---- a user who is not root, and the files of a live process ---- */

static void trace_while_files_are_cut(void)
{
	glob_t found;

	drop_rights();
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(1));
	REQUIRE(glob("user/run/[0-9]*/ring.*", 0, NULL, &found) == 0 &&
		glob("user/run/[0-9]*/session", GLOB_APPEND, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		/* as a shell's > does */
		int fd = open(found.gl_pathv[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		REQUIRE(fd == -1 && errno == EACCES && truncate(found.gl_pathv[i], 0) == -1 &&
			errno == EACCES);
	}
	globfree(&found);
	for (uint64_t i = 2; i <= EVENTS; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
}

static void what_its_user_does_by_accident_does_not_kill_it(void **state)
{
	struct scenario_sequence sequence = { { 0 }, 0 };
	char path[300];

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can become another user */
	scenario_begin(LINES_CONFIG);
	open_way();
	(void)snprintf(path, sizeof path, "%s/user/run", scenario_directory);
	assert_int_equal(setenv("CTRACE_RUN_DIR", path, 1), 0);
	scenario_run(trace_while_files_are_cut);
	assert_int_equal(scenario_lines("out/*.log", scenario_check_sequence, &sequence), EVENTS);
	assert_int_equal(sequence.bad, 0);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_begin_later_trace_as_ever),
		cmocka_unit_test(a_killed_one_is_recovered_by_root),
		cmocka_unit_test(root_still_reaches_it),
		cmocka_unit_test(what_its_user_does_by_accident_does_not_kill_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
