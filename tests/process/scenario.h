/*
 * scenario.h - what the process tests share: a directory, a configuration, a child that is traced,
 * and its TEXTFILE read back.
 *
 * The test program itself never traces: every scenario runs in a child, so that its end, however it
 * comes, can be looked at.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../leaks.h"
#include "../sanitizer.h"

#include <ctrace/ctrace.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES_CONFIG \
	"mftrace.level = debug\n" \
	"mftrace.dest = textfile\n" \
	"mftrace.emitter.textfile#location = out\n" \
	"mftrace.emitter.textfile#format = $(THREAD) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)\n"

/* Words that the children and the test share. */
struct scenario_shared {
	uint64_t number[512];
};
static struct scenario_shared *shared;
static char scenario_directory[256];

/* A new directory, current; configuration and run directory in it. */
__attribute__((unused)) static void scenario_begin(const char *config)
{
	char path[300];
	FILE *file;

	(void)snprintf(scenario_directory, sizeof scenario_directory, "%s/scenario-XXXXXX",
		       getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(scenario_directory));
	assert_int_equal(chdir(scenario_directory), 0);
	file = fopen("config", "w");
	assert_non_null(file);
	assert_true(fputs(config, file) >= 0);
	assert_int_equal(fclose(file), 0);
	(void)snprintf(path, sizeof path, "%s/config", scenario_directory);
	assert_int_equal(setenv("MFTRACE_CONFIG", path, 1), 0);
	(void)snprintf(path, sizeof path, "%s/run", scenario_directory);
	assert_int_equal(setenv("CTRACE_RUN_DIR", path, 1), 0);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(shared != MAP_FAILED);
}

__attribute__((unused)) static void scenario_end(void)
{
	char command[300];

	assert_int_equal(chdir("/"), 0);
	(void)snprintf(command, sizeof command, "rm -rf '%s'", scenario_directory);
	assert_int_equal(system(command), 0);
	(void)munmap(shared, sizeof *shared);
}

/* Runs body in a child that ends by exit(), and gives its pid; -1 stays with the caller. */
__attribute__((unused)) static pid_t scenario_start(void (*body)(void))
{
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		body();
		exit(0);
	}
	return pid;
}

/* The wait status of a child. */
__attribute__((unused)) static int scenario_wait(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Runs it and expects that it ends in order. */
__attribute__((unused)) static void scenario_run(void (*body)(void))
{
	int status = scenario_wait(scenario_start(body));

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

__attribute__((unused)) static void scenario_require(bool truth, int line)
{
	if (!truth) {
		(void)fprintf(stderr, "# in the child: line %d\n", line);
		_exit(99);
	}
}
#define REQUIRE(truth) scenario_require((truth), __LINE__)

__attribute__((unused)) static int run_tool(const char *arguments)
{
	const char *build = getenv("CTRACE_BUILD");
	char command[1000];

	assert_non_null(build);
	(void)snprintf(command, sizeof command, "'%s/ctrace' %s >tool.out 2>tool.err", build,
		       arguments);
	return system(command);
}

/* Calls each with every record line of every file that the pattern names (headers left out). */
__attribute__((unused)) static unsigned
scenario_lines(const char *pattern, void (*each)(const char *line, void *user), void *user)
{
	unsigned count = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *file = fopen(found.gl_pathv[i], "r");
		char *line = NULL;
		size_t capacity = 0;

		assert_non_null(file);
		while (getline(&line, &capacity, file) > 0) {
			if (line[0] == '#')
				continue;
			count++;
			if (each != NULL)
				each(line, user);
		}
		free(line);
		(void)fclose(file);
	}
	globfree(&found);
	return count;
}

/* Directories of traced processes that are left in the run directory. */
__attribute__((unused)) static unsigned scenario_directories(void)
{
	glob_t found;
	unsigned count = 0;

	if (glob("run/[0-9]*", 0, NULL, &found) == 0) {
		count = (unsigned)found.gl_pathc;
		globfree(&found);
	}
	return count;
}

/* Sequence checks: thread or kind k counts 1, 2, 3 ... in the event's first item; event id = k. */
struct scenario_sequence {
	uint64_t last[512];
	unsigned bad;
};
__attribute__((unused)) static void scenario_check_sequence(const char *line, void *user)
{
	struct scenario_sequence *sequence = user;
	unsigned tid, kind, level;
	unsigned long long value;
	char component[64];

	if (sscanf(line, "%u %63s %u %u %llu", &tid, component, &kind, &level, &value) != 5 ||
	    kind >= 512 || value != sequence->last[kind] + 1) {
		sequence->bad++;
		return;
	}
	sequence->last[kind] = value;
}

#endif
