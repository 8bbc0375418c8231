/*
 * dump_subject.c - the program whose storage is dumped: tests/process/dump.py gives the orders.
 *
 * Each line on stdin is an order, answered with one line on stdout:
 *
 *     trace N           N events of the component STORED
 *     dump TITLE        dumps itself; the status, and the path
 *
 *     crash             dies of SIGSEGV, in the function fail() of another thread
 *     raise             sends itself SIGSEGV
 *     abort             dies of SIGABRT
 *     overflow          dies of SIGSEGV, at the end of the main thread's stack
 *     overflow thread   the same in another thread
 *     handler           installs a handler for SIGSEGV on an alternate stack, which it does not
 *                       set: the handler prints whether it runs on one, and ends with status 7
 *     recover           installs a handler for SIGSEGV that goes on with the next order
 *     ignore            ignores SIGSEGV
 *     fault             SIGSEGV of the main thread
 *     kill              dies of SIGKILL
 *     limit N           RLIMIT_FSIZE: a larger ring has no file
 *     own stack         the thread sets an alternate stack of its own
 *     which stack       whose alternate stack is set: "none", "own" or "another"
 *     threads N         starts N threads, one after the other, that trace; the lines of its maps
 *     fork              forks a child that dies of SIGSEGV at once; the child's signal
 *     exit N            ends with this status
 *     _exit N           the same with _exit()
 *
 * Ends at the end of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer stored = CTRACE_TRACER("STORED");

static void trace(unsigned long count)
{
	static uint32_t number;

	for (unsigned long i = 0; i < count; i++, number++)
		CTRACE(&stored, CTRACE_INFO, 7, CTRACE_U32(number));
	printf("%u\n", number);
}

static void dump(const char *title)
{
	char path[1000] = "";
	enum ctrace_status status = ctrace_dump(title, path, sizeof path);

	printf("%s %s\n", ctrace_status_name(status), path);
}

static void fail_deep(volatile int *nowhere)
{
	*nowhere = 1;
}

static void *fail(void *nothing)
{
	CTRACE(&stored, CTRACE_INFO, 8, CTRACE_U32(0));
	fail_deep(nothing);
	return NULL;
}

static volatile bool has_end; /* never */

/* The compiler must not turn this into a loop. */
static unsigned overflow_deep(volatile unsigned *above)
{
	volatile unsigned here[64];

	here[0] = *above + 1;
	if (here[0] % 1000 == 0)
		CTRACE(&stored, CTRACE_INFO, 9, CTRACE_U32(here[0]));
	return has_end ? 0 : overflow_deep(here) + here[0];
}

static void *overflow(void *unused)
{
	volatile unsigned depth = 0;

	CTRACE(&stored, CTRACE_INFO, 8, CTRACE_U32(0));
	depth = overflow_deep(&depth);
	return unused;
}

static void *trace_once(void *unused)
{
	CTRACE(&stored, CTRACE_INFO, 8, CTRACE_U32(0));
	return unused;
}

static void thread_run(void *(*body)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) == 0)
		(void)pthread_join(thread, NULL);
}

static void threads(unsigned long count)
{
	FILE *maps;
	int character;
	unsigned lines = 0;

	for (unsigned long i = 0; i < count; i++)
		thread_run(trace_once);
	maps = fopen("/proc/self/maps", "r");
	while (maps != NULL && (character = fgetc(maps)) != EOF)
		lines += character == '\n';
	if (maps != NULL)
		(void)fclose(maps);
	printf("%u\n", lines);
}

static char own_stack[128 << 10];

static void set_own_stack(void)
{
	const stack_t stack = { .ss_sp = own_stack, .ss_size = sizeof own_stack };

	printf("%d\n", sigaltstack(&stack, NULL));
}

static const char *which_stack(void)
{
	stack_t stack;

	if (sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_DISABLE) != 0)
		return "none";
	return stack.ss_sp == own_stack ? "own" : "another";
}

static void handle(int number)
{
	stack_t stack = { .ss_flags = 0 };

	(void)number;
	(void)sigaltstack(NULL, &stack);
	(void)!write(STDOUT_FILENO, (stack.ss_flags & SS_ONSTACK) != 0 ? "on one\n" : "on none\n",
		     (stack.ss_flags & SS_ONSTACK) != 0 ? 7 : 8);
	_exit(7);
}

static void set_handler(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };

	printf("%d\n", sigaction(SIGSEGV, &action, NULL));
}

static sigjmp_buf recovered;

static void handle_and_go_on(int number)
{
	siglongjmp(recovered, number);
}

static void set_action(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	printf("%d\n", sigaction(SIGSEGV, &action, NULL));
}

static void fault(void)
{
	if (sigsetjmp(recovered, 1) == 0)
		fail_deep(NULL);
	puts("recovered");
}

static void set_limit(unsigned long bytes)
{
	const struct rlimit limit = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };

	printf("%d\n", setrlimit(RLIMIT_FSIZE, &limit));
}

static void fork_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		(void)raise(SIGSEGV);
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void obey(char *line)
{
	if (strncmp(line, "trace ", 6) == 0)
		trace(strtoul(line + 6, NULL, 10));
	else if (strncmp(line, "dump ", 5) == 0)
		dump(line + 5);
	else if (strcmp(line, "crash") == 0)
		thread_run(fail);
	else if (strcmp(line, "overflow") == 0)
		(void)overflow(NULL);
	else if (strcmp(line, "overflow thread") == 0)
		thread_run(overflow);
	else if (strcmp(line, "handler") == 0)
		set_handler();
	else if (strcmp(line, "raise") == 0)
		puts(raise(SIGSEGV) == 0 ? "alive" : "no raise");
	else if (strcmp(line, "recover") == 0)
		set_action(handle_and_go_on);
	else if (strcmp(line, "ignore") == 0)
		set_action(SIG_IGN);
	else if (strcmp(line, "fault") == 0)
		fault();
	else if (strcmp(line, "kill") == 0)
		(void)raise(SIGKILL);
	else if (strcmp(line, "own stack") == 0)
		set_own_stack();
	else if (strcmp(line, "which stack") == 0)
		puts(which_stack());
	else if (strncmp(line, "threads ", 8) == 0)
		threads(strtoul(line + 8, NULL, 10));
	else if (strcmp(line, "abort") == 0)
		abort();
	else if (strcmp(line, "fork") == 0)
		fork_child();
	else if (strncmp(line, "limit ", 6) == 0)
		set_limit(strtoul(line + 6, NULL, 10));
	else if (strncmp(line, "_exit ", 6) == 0)
		_exit(atoi(line + 6));
	else if (strncmp(line, "exit ", 5) == 0)
		exit(atoi(line + 5));
	else
		puts("?");
	fflush(stdout);
}

int main(void)
{
	char line[400];

	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
