/*
 * test_exec.c - what was traced before a process becomes another program is delivered; and exec is
 * exec.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

/* With FLUSHEVERY nothing is delivered until somebody asks. */
static int set_up(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	configure("mftrace.emitter.textfile#flushevery = 1000000\n");
	return 0;
}

static int tear_down(void **state)
{
	return fixture_teardown(state);
}

static void emit_some(void)
{
	for (uint32_t i = 0; i < 200; i++)
		(void)emit(i);
	CHILD_CHECK(stats().delivered == 0);
}

#define SCRIPT "echo \"$0 $1 $2 $VARIABLE\" >said"

static char *const arguments[] = { (char *)(uintptr_t) "sh",
				   (char *)(uintptr_t) "-c",
				   (char *)(uintptr_t)SCRIPT,
				   (char *)(uintptr_t) "zero",
				   (char *)(uintptr_t) "one",
				   (char *)(uintptr_t) "two",
				   NULL };
static char *const environment[] = { (char *)(uintptr_t) "VARIABLE=given",
				     (char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL };

static void by_execve(void)
{
	emit_some();
	(void)execve("/bin/sh", arguments, environment);
}

static void by_execv(void)
{
	emit_some();
	(void)execv("/bin/sh", arguments);
}

static void by_execvp(void)
{
	emit_some();
	(void)execvp("sh", arguments);
}

static void by_execvpe(void)
{
	emit_some();
	(void)execvpe("sh", arguments, environment);
}

static void by_fexecve(void)
{
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	emit_some();
	(void)fexecve(fd, arguments, environment);
}

static void by_execl(void)
{
	emit_some();
	(void)execl("/bin/sh", "sh", "-c", SCRIPT, "zero", "one", "two", (char *)NULL);
}

static void by_execlp(void)
{
	emit_some();
	(void)execlp("sh", "sh", "-c", SCRIPT, "zero", "one", "two", (char *)NULL);
}

static void by_execle(void)
{
	emit_some();
	(void)execle("/bin/sh", "sh", "-c", SCRIPT, "zero", "one", "two", (char *)NULL,
		     environment);
}

static void assert_said(const char *expected)
{
	char said[100] = "";
	int fd = open("said", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(read(fd, said, sizeof said - 1) > 0);
	assert_int_equal(close(fd), 0);
	assert_string_equal(said, expected);
	assert_int_equal(unlink("said"), 0);
}

static void every_exec_delivers_first_and_hands_on_what_it_was_given(void **state)
{
	static const struct {
		void (*body)(void);
		bool gives_environment;
	} rows[] = {
		{ by_execve, true },  { by_execv, false },  { by_execvp, false },
		{ by_execvpe, true }, { by_fexecve, true }, { by_execl, false },
		{ by_execlp, false }, { by_execle, true },
	};

	(void)state;
	assert_int_equal(setenv("VARIABLE", "inherited", 1), 0);
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		assert_int_equal(run_traced(rows[i].body), 0);
		assert_said(rows[i].gives_environment ? "zero one two given\n"
						      : "zero one two inherited\n");
		assert_lines(0, 200);
		assert_int_equal(unlink("out/trace.log"), 0);
		/* Its directory is an orphan now, with nothing in it. */
		assert_int_equal(recover().recovered, 1);
		assert_int_equal(count_run_directories(), 0);
	}
}

static void fail_to_exec(void)
{
	emit_some();
	CHILD_CHECK(execl("./none", "x", (char *)NULL) == -1 && errno == ENOENT);
	CHILD_CHECK(execv("/dev/null", arguments) == -1 && errno == EACCES);
	CHILD_CHECK(execvp("no-such-program", arguments) == -1 && errno == ENOENT);
	CHILD_CHECK(fexecve(-1, arguments, environment) == -1);
	for (uint32_t i = 200; i < 300; i++)
		(void)emit(i);
}

static void an_exec_that_fails_says_why_and_tracing_goes_on(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fail_to_exec), 0);
	assert_lines(0, 300);
}

static void exec_in_a_vfork_child(void)
{
	emit_some();
	for (int i = 0; i < 20; i++) {
		int status;
		pid_t pid = vfork();

		if (pid == 0) {
			(void)execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	CHILD_CHECK(stats().delivered == 0); /* the parent lives on: no reason to */
	for (uint32_t i = 200; i < 300; i++)
		(void)emit(i);
}

static void a_vfork_child_leaves_its_parents_tracing_alone(void **state)
{
	(void)state;
	assert_int_equal(run_traced(exec_in_a_vfork_child), 0);
	assert_lines(0, 300);
	assert_int_equal(count_run_directories(), 0);
}

static void exec_in_a_forked_child(void)
{
	int status;
	pid_t pid;

	emit_some();
	pid = fork();
	if (pid == 0) {
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHILD_CHECK(stats().delivered == 0);
}

static void a_forked_child_that_did_not_trace_has_nothing_to_deliver(void **state)
{
	(void)state;
	assert_int_equal(run_traced(exec_in_a_forked_child), 0);
	assert_lines(0, 200);
}

static void exec_without_tracing(void)
{
	(void)execv("/bin/sh", arguments);
}

static void a_program_that_never_traced_just_goes(void **state)
{
	(void)state;
	assert_int_equal(run_traced(exec_without_tracing), 0);
	assert_said("zero one two inherited\n");
	assert_false(exists("out"));
	assert_int_equal(count_run_directories(), 0);
}

int test_exec(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_exec_delivers_first_and_hands_on_what_it_was_given, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(an_exec_that_fails_says_why_and_tracing_goes_on,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_vfork_child_leaves_its_parents_tracing_alone,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_forked_child_that_did_not_trace_has_nothing_to_deliver, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_program_that_never_traced_just_goes, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
