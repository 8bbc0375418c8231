/*
 * test_children.c - fork, vfork, posix_spawn, daemon, exec, and a clone behind the library's back.
 *
 * A child that traces has a file of its own; nothing is doubled, nothing lost, nobody hangs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>

extern char **environ;

static struct ctrace_tracer tracer = CTRACE_TRACER("family");

static void trace_numbers(unsigned kind, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++)
		CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(i));
}

static void check_all(const char *pattern, unsigned kinds, uint64_t last)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)scenario_lines(pattern, scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	for (unsigned kind = 0; kind < kinds; kind++)
		assert_int_equal(sequence.last[kind], last);
}

static unsigned files(const char *pattern)
{
	glob_t found;
	unsigned count;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	count = (unsigned)found.gl_pathc;
	globfree(&found);
	return count;
}

/* ---- fork ---- */

static void fork_and_trace_both(void)
{
	pid_t pid;

	trace_numbers(0, 1, 100);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		trace_numbers(1, 1, 1000);
		exit(0);
	}
	trace_numbers(0, 101, 1000);
	REQUIRE(scenario_wait(pid) == 0);
}

static void parent_and_child_have_files_of_their_own(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(fork_and_trace_both);
	assert_int_equal(files("out/*.log"), 2);
	check_all("out/*.log", 2, 1000);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

static void *trace_until_reported(void *argument)
{
	unsigned kind = (unsigned)(uintptr_t)argument;
	uint64_t i = 0;

	while (__atomic_load_n(&shared->number[511], __ATOMIC_ACQUIRE) == 0)
		trace_numbers(kind, i + 1, i + 1), i++;
	shared->number[kind] = i;
	return NULL;
}

static void fork_storm(void)
{
	pthread_t threads[3];

	for (uintptr_t i = 0; i < 3; i++)
		REQUIRE(pthread_create(&threads[i], NULL, trace_until_reported,
				       (void *)(300 + i)) == 0);
	for (unsigned i = 0; i < 200; i++) {
		pid_t pid = fork();

		REQUIRE(pid >= 0);
		if (pid == 0) {
			trace_numbers(i, 1, 5);
			exit(0);
		}
		REQUIRE(scenario_wait(pid) == 0);
	}
	__atomic_store_n(&shared->number[511], 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < 3; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static void a_fork_storm_under_tracing_threads_neither_hangs_nor_doubles(void **state)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)state;
	scenario_begin(LINES_CONFIG "ctrace.block.timeout = 60s\n");
	scenario_run(fork_storm);
	(void)scenario_lines("out/*.log", scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(sequence.last[i], 5);
	for (unsigned i = 300; i < 303; i++)
		assert_int_equal(sequence.last[i], shared->number[i]);
	scenario_end();
}

static void fork_without_tracing(void)
{
	pid_t pid;

	trace_numbers(0, 1, 10);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0)
		exit(0);
	REQUIRE(scenario_wait(pid) == 0);
}

static void a_child_that_does_not_trace_makes_nothing(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(fork_without_tracing);
	assert_int_equal(files("out/*.log"), 1);
	check_all("out/*.log", 1, 10);
	scenario_end();
}

/* What a program had open its children have: before it has traced, after, and in the child's child.
 */
static void fork_and_look(unsigned depth)
{
	char byte = '?';
	pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0) {
		REQUIRE(pread(0, &byte, 1, 0) == 1 && byte == 'i');
		REQUIRE(fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0);
		if (depth > 0)
			fork_and_look(depth - 1);
		exit(0);
	}
	REQUIRE(scenario_wait(pid) == 0);
}

static void fork_with_input(void)
{
	int fd = open("input", O_RDWR | O_CREAT, 0600);

	REQUIRE(fd >= 0 && pwrite(fd, "input", 5, 0) == 5 && dup2(fd, 0) == 0 && close(fd) == 0);
	fork_and_look(2);
	trace_numbers(0, 1, 10);
	fork_and_look(2);
}

static void children_keep_what_was_open(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(fork_with_input);
	scenario_end();
}

/* ---- daemon ---- */

static void become_a_daemon(void)
{
	trace_numbers(0, 1, 10);
	REQUIRE(daemon(1, 1) == 0);
	trace_numbers(1, 1, 10);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	__atomic_store_n(&shared->number[0], 1, __ATOMIC_RELEASE);
}

static void a_daemon_and_its_vanished_parent_are_both_delivered(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(become_a_daemon);
	while (__atomic_load_n(&shared->number[0], __ATOMIC_ACQUIRE) == 0)
		(void)sched_yield();
	assert_int_equal(run_tool("recover"), 0);
	check_all("out/*.log", 2, 10);
	scenario_end();
}

/* ---- a clone that runs no handlers ---- */

static void clone_behind_the_back(void)
{
	long pid;

	trace_numbers(0, 1, 100);
	/* The C library's own locks are not made for this either: the consumer thread is not in the
	 * middle of anything. */
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	REQUIRE(pid >= 0);
	if (pid == 0) {
		trace_numbers(1, 1, 100);
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
		_exit(0);
	}
	trace_numbers(0, 101, 200);
	REQUIRE(scenario_wait((pid_t)pid) == 0);
}

static void a_raw_clone_does_not_write_into_its_parents_rings(void **state)
{
	struct scenario_sequence sequence = { { 0 }, 0 };

	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(clone_behind_the_back);
	(void)scenario_lines("out/*.log", scenario_check_sequence, &sequence);
	assert_int_equal(sequence.bad, 0);
	assert_int_equal(sequence.last[0], 200);
	assert_int_equal(sequence.last[1], 100);
	scenario_end();
}

/* ---- vfork, spawn, exec ---- */

static void vfork_and_exec(void)
{
	for (unsigned i = 0; i < 20; i++) {
		pid_t pid;

		trace_numbers(0, 2 * i + 1, 2 * i + 1);
		pid = vfork();
		REQUIRE(pid >= 0);
		if (pid == 0) {
			(void)execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		REQUIRE(scenario_wait(pid) == 0);
		trace_numbers(0, 2 * i + 2, 2 * i + 2);
	}
}

static void spawn(void)
{
	char *arguments[] = { (char[]){ "true" }, NULL };

	for (unsigned i = 0; i < 20; i++) {
		pid_t pid;

		trace_numbers(0, 2 * i + 1, 2 * i + 2);
		REQUIRE(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0);
		REQUIRE(scenario_wait(pid) == 0);
	}
}

static void vfork_and_spawn_leave_the_parent_tracing(void **state)
{
	void (*const bodies[])(void) = { vfork_and_exec, spawn };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		scenario_begin(LINES_CONFIG);
		scenario_run(bodies[i]);
		check_all("out/*.log", 1, 40);
		scenario_end();
	}
}

static void exec_v(void)
{
	char *arguments[] = { (char[]){ "true" }, NULL };

	trace_numbers(0, 1, 5000);
	(void)execv("/bin/true", arguments);
}
static void exec_ve(void)
{
	char *arguments[] = { (char[]){ "true" }, NULL };

	trace_numbers(0, 1, 5000);
	(void)execve("/bin/true", arguments, environ);
}
static void exec_vp(void)
{
	char *arguments[] = { (char[]){ "true" }, NULL };

	trace_numbers(0, 1, 5000);
	(void)execvp("true", arguments);
}
static void exec_l(void)
{
	trace_numbers(0, 1, 5000);
	(void)execl("/bin/sh", "sh", "-c", "test \"$1\" = x", "sh", "x", (char *)NULL);
}
static void exec_lp(void)
{
	trace_numbers(0, 1, 5000);
	(void)execlp("sh", "sh", "-c", "exit 0", (char *)NULL);
}
static void exec_le(void)
{
	char *environment[] = { (char[]){ "ONLY=this" }, NULL };

	trace_numbers(0, 1, 5000);
	(void)execle("/bin/sh", "sh", "-c", "test \"$ONLY\" = this", (char *)NULL, environment);
}
static void exec_f(void)
{
	char *arguments[] = { (char[]){ "true" }, NULL };
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

	trace_numbers(0, 1, 5000);
	(void)fexecve(fd, arguments, environ);
}

static void exec_delivers_first_in_every_form(void **state)
{
	void (*const bodies[])(
		void) = { exec_v, exec_ve, exec_vp, exec_l, exec_lp, exec_le, exec_f };

	(void)state;
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		scenario_begin(LINES_CONFIG);
		scenario_run(bodies[i]);
		check_all("out/*.log", 1, 5000);
		scenario_end();
	}
}

static void exec_in_vain(void)
{
	char *arguments[] = { (char[]){ "none" }, NULL };

	trace_numbers(0, 1, 10);
	REQUIRE(execv("./none", arguments) == -1 && errno == ENOENT);
	trace_numbers(0, 11, 20);
}

static void a_failed_exec_leaves_the_process_tracing(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(exec_in_vain);
	check_all("out/*.log", 1, 20);
	scenario_end();
}

/* ---- a parent that goes on ---- */

static struct ctrace_tracer parents = CTRACE_TRACER("parents.own");

static bool tool_says(const char *text)
{
	char line[1000];
	bool found = false;
	FILE *file = fopen("tool.out", "r");

	REQUIRE(file != NULL);
	while (fgets(line, sizeof line, file) != NULL)
		found |= strstr(line, text) != NULL;
	REQUIRE(fclose(file) == 0);
	return found;
}

static void fork_before_the_parent_registers_another(void)
{
	int go[2], status;
	char byte = 0, command[100];
	pid_t pid;

	trace_numbers(0, 1, 10);
	REQUIRE(pipe(go) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		/* Its first event comes when the parent has registered a component with an output
		 * of its own. */
		REQUIRE(read(go[0], &byte, 1) == 1);
		trace_numbers(1, 1, 10);
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
		(void)snprintf(command, sizeof command, "list -a -p %d", (int)getpid());
		REQUIRE(run_tool(command) == 0);
		REQUIRE(tool_says("family") && !tool_says("parents.own"));
		REQUIRE(files("out/*.binfile.*") == 1); /* the parent's */
		/* The same name is another component here. */
		CTRACE(&parents, CTRACE_INFO, 2, CTRACE_U64(1));
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
		REQUIRE(files("out/*.binfile.*") == 1);
		exit(0);
	}
	REQUIRE(ctrace_configure("mftrace.dest.parents.own = binfile") == CTRACE_OK);
	CTRACE(&parents, CTRACE_INFO, 3, CTRACE_U64(1));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(write(go[1], "g", 1) == 1);
	REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
}

static void a_child_has_the_components_of_the_fork_and_no_later_ones(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG "mftrace.emitter.binfile#location = out\n");
	scenario_run(fork_before_the_parent_registers_another);
	check_all("out/*.log", 2, 10);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parent_and_child_have_files_of_their_own),
		cmocka_unit_test(a_child_has_the_components_of_the_fork_and_no_later_ones),
		cmocka_unit_test(a_fork_storm_under_tracing_threads_neither_hangs_nor_doubles),
		cmocka_unit_test(a_child_that_does_not_trace_makes_nothing),
		cmocka_unit_test(children_keep_what_was_open),
		cmocka_unit_test(a_daemon_and_its_vanished_parent_are_both_delivered),
		cmocka_unit_test(a_raw_clone_does_not_write_into_its_parents_rings),
		cmocka_unit_test(vfork_and_spawn_leave_the_parent_tracing),
		cmocka_unit_test(exec_delivers_first_in_every_form),
		cmocka_unit_test(a_failed_exec_leaves_the_process_tracing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
