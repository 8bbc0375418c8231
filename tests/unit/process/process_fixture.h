/*
 * process_fixture.h - a traced process: a child of the test, with a configuration of its own and a
 * TEXTFILE that is read back.
 *
 * The test program itself never traces.  Checks inside a child are CHILD_CHECKs; what they print is
 * seen when the child fails.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PROCESS_FIXTURE_H
#define CT_PROCESS_FIXTURE_H

#include "../../sanitizer.h"
#include "../session/session_fixture.h"
#include "lib/consumer/consumer.h"
#include "lib/trace/trace.h"
#include "lib/start/start.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>

/* Calls body in a signal handler of this thread.  ThreadSanitizer delivers what a handler raises
 * only when the handler is over: there the body is called by the handler that is running. */
static void (*handler_body)(void);

static UNUSED void run_handler_body(int number)
{
	(void)number;
	handler_body();
}

static UNUSED void in_handler(void (*body)(void))
{
	const struct sigaction action = { .sa_handler = run_handler_body, .sa_flags = SA_NODEFER };
	void (*outer)(void) = handler_body;

	handler_body = body;
	if (IS_THREAD_SANITIZED && outer != NULL)
		body();
	else if (sigaction(SIGUSR2, &action, NULL) != 0 || raise(SIGUSR2) != 0)
		_exit(99);
	handler_body = outer;
}

/* Every event's number, one a line, into out/trace.log. */
static UNUSED void configure(const char *more)
{
	char text[2048];
	int size = snprintf(text, sizeof text,
			    "mftrace.level = debug\n"
			    "mftrace.dest = textfile\n"
			    "mftrace.emitter.textfile#location = %s/out\n"
			    "mftrace.emitter.textfile#file = trace.log\n"
			    "mftrace.emitter.textfile#format = $(EVENT)\n"
			    "%s",
			    room, more);

	put_file("config", text, (size_t)size);
	(void)snprintf(text, sizeof text, "%s/config", room);
	assert_int_equal(setenv("MFTRACE_CONFIG", text, 1), 0);
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
}

/* Compiles the source of an emitter; the process that comes next finds it by CTRACE_EMITTERS. */
static UNUSED void make_module(const char *name, const char *source)
{
	const char *top = getenv("CTRACE_SOURCE");
	char text[512];

	assert_int_equal(mkdir("modules", 0700), 0);
	put_file("module.c", source, strlen(source));
	(void)snprintf(
		text, sizeof text,
		"umask 022; cc -w -fno-sanitize=all -shared -fPIC -I'%s/include' module.c -o modules/%s.so",
		top != NULL ? top : ".", name);
	assert_int_equal(system(text), 0);
	(void)snprintf(text, sizeof text, "%s/modules", room);
	assert_int_equal(setenv("CTRACE_EMITTERS", text, 1), 0);
}

static UNUSED int fixture_setup(void **state)
{
	(void)state;
	enter_room();
	configure("");
	return unsetenv("CTRACE_ATTACH");
}

static UNUSED int fixture_teardown(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

/* Runs body in a child that ends by exit(), as programs do, and gives its exit status, or -signal.
 */
static UNUSED int run_traced(void (*body)(void))
{
	int status;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		body();
		exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* How often each number below `limit` stands in the files of out/; what is no such number counts as
 * `limit`. */
static unsigned seen[300001];

static UNUSED unsigned read_lines(unsigned limit)
{
	DIR *directory = opendir("out");
	struct dirent *entry;
	unsigned count = 0;

	memset(seen, 0, (limit + 1) * sizeof seen[0]);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char path[300];
		char *line = NULL;
		size_t size = 0;
		FILE *file;

		(void)snprintf(path, sizeof path, "out/%s", entry->d_name);
		if (entry->d_name[0] == '.' || (file = fopen(path, "r")) == NULL)
			continue;
		while (getline(&line, &size, file) > 0) {
			unsigned long number;

			if (line[0] == '#' || line[0] == '\n')
				continue;
			number = strtoul(line, NULL, 10);
			seen[number < limit ? number : limit]++;
			count++;
		}
		free(line);
		(void)fclose(file);
	}
	if (directory != NULL)
		(void)closedir(directory);
	return count;
}

/* Each from `first` to `limit` - 1 once, and nothing else. */
static UNUSED void assert_lines(unsigned first, unsigned limit)
{
	(void)read_lines(limit);
	for (unsigned i = 0; i <= limit; i++)
		if (seen[i] != (i >= first && i < limit ? 1 : 0))
			fail_msg("%u is there %u times", i, seen[i]);
}

static UNUSED unsigned count_run_directories(void)
{
	DIR *directory = opendir(run_dir);
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		count += strchr(entry->d_name, '.') != NULL && entry->d_name[0] != '.';
	(void)closedir(directory);
	return count;
}

static UNUSED struct ct_recovery recover(void)
{
	struct ct_recovery total = { 0 };

	ct_recover(run_dir, NULL, &total, NULL, NULL);
	return total;
}

static UNUSED struct ctrace_stats stats(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	ctrace_stats_get(&stats);
	return stats;
}

static UNUSED uint64_t lost_total(const struct ctrace_stats *stats)
{
	uint64_t sum = 0;

	for (int i = 0; i < CTRACE_LOSS_COUNT; i++)
		sum += stats->lost[i];
	return sum;
}

static struct ctrace_tracer tracer = CTRACE_TRACER("unit.test");

static UNUSED enum ctrace_status emit(uint32_t number)
{
	return ctrace_emit(&tracer, CTRACE_INFO, number, NULL, 0);
}

/* ---- the consumer held still by another thread, so that rings fill */

static uint32_t hold_state; /* 0 none, 1 held, 2 to be released */
static pthread_t holder;

static void *hold(void *argument)
{
	(void)argument;
	ct_consumer_thread_lock();
	__atomic_store_n(&hold_state, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&hold_state);
	while (__atomic_load_n(&hold_state, __ATOMIC_SEQ_CST) == 1)
		ct_os_wait(&hold_state, 1, UINT64_MAX);
	ct_consumer_thread_unlock();
	return NULL;
}

static UNUSED void hold_consumer_thread(void)
{
	hold_state = 0;
	CHILD_CHECK(pthread_create(&holder, NULL, hold, NULL) == 0);
	while (__atomic_load_n(&hold_state, __ATOMIC_SEQ_CST) == 0)
		ct_os_wait(&hold_state, 0, UINT64_MAX);
}

static UNUSED void release_consumer_thread(void)
{
	__atomic_store_n(&hold_state, 2, __ATOMIC_SEQ_CST);
	ct_os_wake(&hold_state);
	CHILD_CHECK(pthread_join(holder, NULL) == 0);
}

#endif
