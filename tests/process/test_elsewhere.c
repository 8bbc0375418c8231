/*
 * test_elsewhere.c - processes in other name spaces or under another root directory: their events
 * never go to a place of the same name here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("elsewhere");

/* One event is delivered; a hundred wait when it dies. */
static void trace_and_die(void)
{
	struct rlimit none = { .rlim_cur = 1, .rlim_max = 1 };

	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(1));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
	for (uint64_t i = 2; i <= 101; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
	(void)raise(SIGKILL);
}

static bool says_elsewhere(void)
{
	char line[1000];
	bool found = false;
	FILE *file = fopen("tool.err", "r");

	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL)
		found |= strstr(line, "name space") != NULL &&
			 strstr(line, "root directory") != NULL;
	assert_int_equal(fclose(file), 0);
	return found;
}

static bool may_go(void)
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

static void check_kept(void)
{
	assert_int_equal(WEXITSTATUS(run_tool("recover")), 1);
	assert_true(says_elsewhere());
	assert_int_equal(scenario_directories(), 1);
	assert_int_equal(WEXITSTATUS(run_tool("recover --dry-run")), 1);
	assert_true(says_elsewhere());
}

/* As a service with a private directory has it: what is at the path here is another one. */
static void die_with_a_directory_of_its_own(void)
{
	REQUIRE(unshare(CLONE_NEWNS) == 0 &&
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	REQUIRE(mount("tmpfs", "out", "tmpfs", 0, "size=1m") == 0);
	trace_and_die();
}

static void trace_one(void)
{
	CTRACE(&tracer, CTRACE_INFO, 2, CTRACE_U64(1));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void what_another_mount_space_hides_is_left_alone(void **state)
{
	(void)state;
	if (!may_go())
		skip(); /* only root may mount */
	scenario_begin(LINES_CONFIG);
	assert_int_equal(mkdir("out", 0700), 0);
	assert_true(WIFSIGNALED(scenario_wait(scenario_start(die_with_a_directory_of_its_own))));
	check_kept();
	assert_int_equal(scenario_lines("out/*", NULL, NULL), 0);
	/* Nor does a process that starts here deliver it. */
	scenario_run(trace_one);
	assert_int_equal(scenario_directories(), 1);
	assert_int_equal(scenario_lines("out/*", NULL, NULL), 1);
	/* Whoever knows better says so. */
	assert_int_equal(run_tool("recover --anyway"), 0);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

/* As a service that is started again: the name space is another, the outputs are the same. */
static void die_in_a_space_of_its_own(void)
{
	REQUIRE(unshare(CLONE_NEWNS) == 0 &&
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	trace_and_die();
}

static void what_is_at_the_same_place_is_recovered(void **state)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)state;
	if (!may_go())
		skip(); /* only root may mount */
	scenario_begin(LINES_CONFIG);
	assert_true(WIFSIGNALED(scenario_wait(scenario_start(die_in_a_space_of_its_own))));
	assert_int_equal(run_tool("recover"), 0);
	assert_int_equal(scenario_directories(), 0);
	assert_int_equal(scenario_lines("out/*.log", scenario_check_sequence, &sequence), 101);
	assert_int_equal(sequence.bad, 0);
	scenario_end();
}

static void die_under_another_root(void)
{
	REQUIRE(chroot(".") == 0 && chdir("/") == 0);
	REQUIRE(setenv("MFTRACE_CONFIG", "/config", 1) == 0 &&
		setenv("CTRACE_RUN_DIR", "/run", 1) == 0);
	trace_and_die();
}

static void what_was_traced_under_another_root_is_left_alone(void **state)
{
	(void)state;
	if (!may_go())
		skip(); /* only root may change its root */
	scenario_begin(LINES_CONFIG);
	assert_int_equal(mkdir("run", 0700), 0);
	assert_true(WIFSIGNALED(scenario_wait(scenario_start(die_under_another_root))));
	check_kept();
	assert_int_equal(access("/out", F_OK), -1);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_another_mount_space_hides_is_left_alone),
		cmocka_unit_test(what_is_at_the_same_place_is_recovered),
		cmocka_unit_test(what_was_traced_under_another_root_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
