/*
 * test_room.c - a traced process with little room: small files (RLIMIT_FSIZE), little memory, a run
 * directory that is nearly full.
 *
 * SIGXFSZ is at its default throughout, and events are few enough for the outputs: each has to be
 * there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define EVENTS 500u
#define THREADS 3u

static struct ctrace_tracer tracer = CTRACE_TRACER("room");

static void *trace(void *argument)
{
	unsigned kind = (unsigned)(uintptr_t)argument;

	for (uint64_t i = 1; i <= EVENTS; i++)
		CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(i));
	return NULL;
}

static void trace_on_threads(unsigned count)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < count; i++)
		REQUIRE(pthread_create(&threads[i], NULL, trace, (void *)(i + 1)) == 0);
	for (unsigned i = 0; i < count; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
}

/* Everything is delivered, nothing is lost. */
static void check_counts(uint64_t events)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == events && stats.delivered == events);
}

static void check_lines(unsigned threads)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	assert_int_equal(scenario_lines("out/*.log", scenario_check_sequence, &sequence),
			 threads * EVENTS);
	assert_int_equal(sequence.bad, 0);
}

static unsigned count_left(void)
{
	unsigned count = 0;
	FILE *pipe = popen("find run -mindepth 1 ! -name asid 2>/dev/null | wc -l", "r");

	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	assert_int_equal(pclose(pipe), 0);
	return count;
}

/* ---- small files ---- */

static rlim_t file_limit;    /* as the shell's ulimit -f counts: 1,024 bytes */
static bool can_be_operated; /* whether a session of that size can be */

static void trace_with_small_files(void)
{
	struct rlimit limit;
	char command[100];

	REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = file_limit * 1024;
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	trace_on_threads(1);
	check_counts(EVENTS);
	(void)snprintf(command, sizeof command, "level -p %d room warn", (int)getpid());
	if (can_be_operated) {
		REQUIRE(run_tool(command) == 0);
		REQUIRE(!ctrace_enabled(&tracer, CTRACE_INFO));
	}
}

static void check_small_files(rlim_t limit, bool operated)
{
	file_limit = limit;
	can_be_operated = operated;
	scenario_begin(LINES_CONFIG "ctrace.buffer = 512M\n");
	assert_true(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
	scenario_run(trace_with_small_files);
	check_lines(1);
	assert_int_equal(count_left(), 0);
	scenario_end();
}

/* No session file has room: everything is private memory. */
static void with_files_of_100_blocks(void **state)
{
	(void)state;
	check_small_files(100, false);
}

static void with_files_of_1000_blocks(void **state)
{
	(void)state;
	check_small_files(1000, true);
}

static void with_files_of_100000_blocks(void **state)
{
	(void)state;
	check_small_files(100000, true);
}

/* The session has the room that it wants; the ring has not. */
static void with_files_of_300000_blocks(void **state)
{
	(void)state;
	check_small_files(300000, true);
}

/* What a child has of its parent it keeps, whatever the limit is by now. */
static void trace_in_a_child_with_small_files(void)
{
	struct rlimit limit;
	int status;
	pid_t child;

	(void)trace((void *)1);
	child = fork();
	if (child == 0) {
		REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
		limit.rlim_cur = (rlim_t)1000 * 1024;
		REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		(void)trace((void *)2);
		check_counts(EVENTS);
		exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void a_child_may_have_smaller_files_than_its_parent(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_in_a_child_with_small_files);
	check_lines(2);
	assert_int_equal(count_left(), 0);
	scenario_end();
}

static void trace_with_little_memory(void)
{
	struct rlimit limit;

	REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
	limit.rlim_cur = (rlim_t)200 << 20;
	REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
	(void)trace((void *)1);
	check_counts(EVENTS);
}

static void with_200_megabytes_of_address_space(void **state)
{
	(void)state;
	if (IS_SANITIZED)
		skip();
	scenario_begin(LINES_CONFIG "ctrace.buffer = 512M\n");
	scenario_run(trace_with_little_memory);
	check_lines(1);
	assert_int_equal(count_left(), 0);
	scenario_end();
}

/* ---- a run directory that is nearly full ---- */

/* A mount of our own, which goes with the process. */
static void mount_run_directory(const char *size)
{
	char options[64];

	(void)snprintf(options, sizeof options, "size=%s,mode=0700", size);
	REQUIRE(unshare(CLONE_NEWNS) == 0);
	REQUIRE(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	REQUIRE(mkdir("run", 0700) == 0 || errno == EEXIST);
	REQUIRE(mount("tmpfs", "run", "tmpfs", 0, options) == 0);
}

static bool may_mount(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWNS) == 0 &&
				      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
			      ? 0
			      : 1);
	return waitpid(child, &status, 0) == child && status == 0;
}

static const char *run_size;

static void trace_in_a_full_run_directory(void)
{
	mount_run_directory(run_size);
	trace_on_threads(THREADS);
	check_counts((uint64_t)THREADS * EVENTS);
	REQUIRE(system("test -z \"$(find run -name '.new*')\"") == 0);
}

static void check_run_directory(const char *size)
{
	if (!may_mount())
		skip(); /* only root may mount */
	run_size = size;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_in_a_full_run_directory);
	check_lines(THREADS);
	scenario_end();
}

static void with_64_kilobytes_left(void **state)
{
	(void)state;
	check_run_directory("64k");
}

static void with_300_kilobytes_left(void **state)
{
	(void)state;
	check_run_directory("300k");
}

/* There is a session then, and a ring or two. */
static void with_a_megabyte_left(void **state)
{
	(void)state;
	check_run_directory("1m");
}

static int line_count(const char *file, const char *text)
{
	char line[1000];
	int count = 0;
	FILE *stream = fopen(file, "r");

	REQUIRE(stream != NULL);
	while (fgets(line, sizeof line, stream) != NULL)
		count += strstr(line, text) != NULL;
	(void)fclose(stream);
	return count;
}

#define MANY 40u /* threads, whose rings need more than a megabyte */

/* Threads that stay, so that each has a ring of its own; the last ones have memory. */
static void *trace_and_wait(void *argument)
{
	(void)trace(argument);
	__atomic_fetch_add(&shared->number[0], 1, __ATOMIC_RELEASE);
	for (;;)
		(void)pause();
	return NULL;
}

static void victim(void)
{
	pthread_t thread;

	for (uintptr_t i = 1; i <= MANY; i++)
		REQUIRE(pthread_create(&thread, NULL, trace_and_wait, (void *)i) == 0);
	for (;;)
		(void)pause();
}

static void kill_one_with_private_rings(void)
{
	char command[100];
	pid_t pid;

	mount_run_directory("1m");
	pid = fork();
	if (pid == 0)
		victim();
	while (__atomic_load_n(&shared->number[0], __ATOMIC_ACQUIRE) < MANY)
		(void)usleep(1000);
	/* Readers of the live one do not take the rings without a file for damaged ones. */
	(void)snprintf(command, sizeof command, "show %d", (int)pid);
	(void)run_tool(command); /* nothing waits there any more */
	REQUIRE(line_count("tool.err", "damaged") == 0 && line_count("tool.err", "ring.") == 0);
	REQUIRE(run_tool("stats") == 0 && line_count("tool.err", "") == 0);
	REQUIRE(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	REQUIRE(run_tool("recover") == 0);
	REQUIRE(line_count("tool.out", "had no file: the events in it are gone") == 1);
	REQUIRE(scenario_directories() == 0);
}

static void recovery_says_which_rings_had_no_file(void **state)
{
	(void)state;
	if (!may_mount())
		skip(); /* only root may mount */
	scenario_begin(LINES_CONFIG);
	scenario_run(kill_one_with_private_rings);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_files_of_100_blocks),
		cmocka_unit_test(with_files_of_1000_blocks),
		cmocka_unit_test(with_files_of_100000_blocks),
		cmocka_unit_test(with_files_of_300000_blocks),
		cmocka_unit_test(a_child_may_have_smaller_files_than_its_parent),
		cmocka_unit_test(with_200_megabytes_of_address_space),
		cmocka_unit_test(with_64_kilobytes_left),
		cmocka_unit_test(with_300_kilobytes_left),
		cmocka_unit_test(with_a_megabyte_left),
		cmocka_unit_test(recovery_says_which_rings_had_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
