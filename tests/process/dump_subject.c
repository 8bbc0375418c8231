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
 *     mend              installs a handler for SIGSEGV that makes the page of `touch` writable, and
 *                       returns
 *     touch             stores into a page that is not writable
 *     quit              installs a handler for SIGSEGV that ends by exit(7); quit aside: on an
 *                       alternate stack
 *     ignore            ignores SIGSEGV
 *     recover once      the same, but the second time it restores the default action and returns
 *     recover aside     as recover, on an alternate stack of its own, with SIGUSR1 blocked
 *     fault             SIGSEGV of the main thread
 *     fault again       the same, in another function
 *     faults N          N of them, one after the other
 *     parm              defines a component trace with a member of PARMLIB; the return code
 *     attach            attaches without an event
 *     flush             all events so far are delivered; the status
 *     close             closes all descriptors but the first three
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
#include <ctrace/component.h>
#include <ctrace/ctrace.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
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

static __attribute__((noinline)) void fail_deep(volatile int *nowhere)
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
static __attribute__((noinline)) unsigned overflow_deep(volatile unsigned *above)
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

static __attribute__((noinline)) void fail_again(volatile int *nowhere)
{
	nowhere[1] = 2;
}

static void fault_again(void)
{
	if (sigsetjmp(recovered, 1) == 0)
		fail_again(NULL);
	puts("recovered");
}

static void faults(unsigned long count)
{
	volatile unsigned long survived = 0;

	while (survived < count)
		if (sigsetjmp(recovered, 1) == 0)
			fail_deep(NULL);
		else
			survived++;
	printf("%lu\n", survived);
}

static void handle_once(int number)
{
	static int count;

	if (count++ == 0)
		siglongjmp(recovered, number);
	(void)signal(number, SIG_DFL);
}

static char *page;

static void handle_mending(int number)
{
	(void)number;
	(void)mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void touch(void)
{
	if (page == NULL)
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)mprotect(page, 4096, PROT_NONE);
	*(volatile char *)page = 1;
	puts("touched");
}

static void handle_quitting(int number)
{
	(void)number;
	exit(7);
}

/* As without the library: the mask, the stack, and the address. */
static void handle_aside(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	sigset_t now;

	(void)sigprocmask(SIG_BLOCK, NULL, &now);
	if (sigismember(&now, number) != 1 || sigismember(&now, SIGUSR1) != 1 ||
	    sigismember(&at->uc_sigmask, SIGUSR1) != 0 ||
	    (uintptr_t)&now - (uintptr_t)own_stack >= sizeof own_stack || info->si_addr != NULL)
		_exit(9);
	siglongjmp(recovered, number);
}

static void recover_aside(void)
{
	struct sigaction action = { .sa_sigaction = handle_aside,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	const stack_t stack = { .ss_sp = own_stack, .ss_size = sizeof own_stack };

	(void)sigaddset(&action.sa_mask, SIGUSR1);
	(void)sigaltstack(&stack, NULL);
	printf("%d\n", sigaction(SIGSEGV, &action, NULL));
}

static void set_quitting(bool is_aside)
{
	struct sigaction action = { .sa_handler = handle_quitting,
				    .sa_flags = is_aside ? SA_ONSTACK : 0 };
	const stack_t stack = { .ss_sp = own_stack, .ss_size = sizeof own_stack };

	if (is_aside)
		(void)sigaltstack(&stack, NULL);
	printf("%d\n", sigaction(SIGSEGV, &action, NULL));
}

static void define_parm(void)
{
	const struct ctrace_define asked = { CTRACE_DEFINE_INIT, .name = "SUBJECT",
					     .parm = "CTASUBJ" };

	printf("%u\n", ctrace_component_define(&asked, NULL));
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
	else if (strcmp(line, "mend") == 0)
		set_action(handle_mending);
	else if (strcmp(line, "touch") == 0)
		touch();
	else if (strncmp(line, "quit", 4) == 0)
		set_quitting(line[4] != '\0');
	else if (strcmp(line, "recover once") == 0)
		set_action(handle_once);
	else if (strcmp(line, "recover aside") == 0)
		recover_aside();
	else if (strcmp(line, "fault again") == 0)
		fault_again();
	else if (strncmp(line, "faults ", 7) == 0)
		faults(strtoul(line + 7, NULL, 10));
	else if (strcmp(line, "parm") == 0)
		define_parm();
	else if (strcmp(line, "attach") == 0)
		puts(ctrace_status_name(ctrace_configure("mftrace.level = debug")));
	else if (strcmp(line, "flush") == 0)
		puts(ctrace_status_name(ctrace_flush(60000)));
	else if (strcmp(line, "close") == 0)
		printf("%d\n", close_range(3, ~0U, 0));
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
