/*
 * test_own_threads.c - the library's threads in somebody's process: which processors and class they
 * have, whatever thread attaches, and what a program inherits that a routine starts on one of them;
 * and what the library needs of a thread of the program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <dirent.h>
#include <sched.h>

#define HANG_SECONDS 60u /* stops a hang */

static struct ctrace_tracer tracer = CTRACE_TRACER("own");

/* ---- class and processors ---- */

/* The value of a line of a thread's status. */
static void read_status(const char *task, const char *key, char out_value[256])
{
	char path[300], line[512];
	size_t size = strlen(key);
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	out_value[0] = '\0';
	while (fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, key, size) == 0)
			(void)snprintf(out_value, 256, "%.255s", line + size);
	(void)fclose(file);
	REQUIRE(out_value[0] != '\0');
}

/* Calls it for each thread of the library, which have names of their own; they may not have got
 * them yet. */
static void each_own_thread(void (*look)(const char *task), unsigned expected)
{
	unsigned count;

	do {
		DIR *tasks = opendir("/proc/self/task");
		struct dirent *entry;

		REQUIRE(tasks != NULL);
		count = 0;
		while ((entry = readdir(tasks)) != NULL) {
			char name[256];

			if (entry->d_name[0] == '.')
				continue;
			read_status(entry->d_name, "Name:", name);
			if (strstr(name, "ctrace-") == NULL)
				continue;
			look(entry->d_name);
			count++;
		}
		(void)closedir(tasks);
		(void)sched_yield();
	} while (count < expected);
}

static char cpus_of_process[256];

static void look_at_own(const char *task)
{
	char cpus[256];

	read_status(task, "Cpus_allowed_list:", cpus);
	REQUIRE(strcmp(cpus, cpus_of_process) == 0);
	REQUIRE(sched_getscheduler((pid_t)atoi(task)) == SCHED_OTHER);
}

static void *attach_pinned(void *unused)
{
	const struct sched_param none = { .sched_priority = 0 };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0 &&
		sched_setscheduler(0, SCHED_BATCH, &none) == 0);
	CTRACE(&tracer, CTRACE_INFO, 1);
	return unused;
}

static void attach_from_a_pinned_thread(void)
{
	char name[32];
	pthread_t thread;

	(void)alarm(HANG_SECONDS);
	(void)snprintf(name, sizeof name, "%d", (int)getpid());
	read_status(name, "Cpus_allowed_list:", cpus_of_process);
	REQUIRE(pthread_create(&thread, NULL, attach_pinned, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	each_own_thread(look_at_own, 2);
}

static void they_inherit_nothing_of_the_thread_that_attaches(void **state)
{
	cpu_set_t all;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	if (CPU_COUNT(&all) < 2) {
		print_message("one processor is as good as another here\n");
		skip();
	}
	scenario_begin(LINES_CONFIG);
	scenario_run(attach_from_a_pinned_thread);
	scenario_end();
}

/* ---- what a routine starts ---- */

static pid_t (*start)(void);

static void run_look(void)
{
	(void)execlp("sh", "sh", "-c", "exec grep SigBlk: /proc/self/status > mask", (char *)NULL);
	_exit(98);
}

static pid_t start_by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		run_look();
	return pid;
}

static pid_t start_by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		run_look();
	return pid;
}

/* exec fails first: the thread is as it was. */
static pid_t start_by_vfork_at_the_second_try(void)
{
	sigset_t before, after;
	pid_t pid;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	REQUIRE(execl("/nowhere", "nowhere", (char *)NULL) == -1 && errno == ENOENT);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < 32; signal++)
		REQUIRE(sigismember(&before, signal) == sigismember(&after, signal));
	pid = start_by_vfork();
	return pid;
}

static uint32_t start_a_program(struct ctrace_ctss *ctss)
{
	pid_t pid;

	if (ctss->flags != START)
		return 0;
	pid = start();
	REQUIRE(pid > 0 && scenario_wait(pid) == 0);
	return 0;
}

/* SIGUSR2 is what this program blocks itself. */
static void be_switched_on(void)
{
	char line[64] = "";
	sigset_t mask;
	FILE *file;

	(void)alarm(HANG_SECONDS);
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGUSR2);
	REQUIRE(pthread_sigmask(SIG_SETMASK, &mask, NULL) == 0);
	answer = start_a_program;
	register_routine("OWNSS");
	REQUIRE(DEFINE(.name = "OWN", .startnam = "OWNSS") == CTRACE_RC_OK);
	REQUIRE(run_tool("op --reply END 'TRACE CT,ON,COMP=OWN'") == 0);
	REQUIRE(shown("OWN", NULL)->mode == ON);
	file = fopen("mask", "r");
	REQUIRE(file != NULL && fgets(line, sizeof line, file) != NULL && fclose(file) == 0);
	REQUIRE(strtoull(line + strlen("SigBlk:"), NULL, 16) == 1ull << (SIGUSR2 - 1));
}

static void what_a_routine_starts_has_the_programs_signal_mask(void **state)
{
	static pid_t (*const ways[])(void) = { start_by_fork, start_by_vfork,
					       start_by_vfork_at_the_second_try };

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		traces_begin(LINES_CONFIG);
		start = ways[i];
		scenario_run(be_switched_on);
		traces_end();
	}
}

/* ---- a thread of the program ---- */

#define KEYS 64 /* more than a thread can have values of without memory of its own */

static __thread volatile bool counts;
static __thread volatile unsigned allocations;

/* This program's own stands before the C library's, which calls it, too. */
__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	size_t whole;
	void *memory;

	allocations += counts;
	if (__builtin_mul_overflow(count, size, &whole) || (memory = malloc(whole)) == NULL)
		return NULL;
	/* or the compiler makes one call of the two: this one */
	__asm__ volatile("" : "+r"(memory));
	return memset(memory, 0, whole);
}

static void trace_in_handler(int number)
{
	(void)number;
	counts = true;
	CTRACE(&tracer, CTRACE_INFO, 2);
	counts = false;
}

static void *begin_in_a_handler(void *unused)
{
	allocations = 0;
	REQUIRE(raise(SIGUSR1) == 0);
	REQUIRE(allocations == 0);
	return unused;
}

static void have_many_keys(void)
{
	const struct sigaction action = { .sa_handler = trace_in_handler };
	pthread_key_t key;
	pthread_t thread;

	(void)alarm(HANG_SECONDS);
	for (int i = 0; i < KEYS; i++)
		REQUIRE(pthread_key_create(&key, NULL) == 0);
	REQUIRE(pthread_setspecific(key, &key) == 0 && allocations == 0);
	counts = true;
	allocations = 0;
	REQUIRE(pthread_create(&thread, NULL, attach_pinned, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	REQUIRE(allocations > 0); /* it would be seen */
	counts = false;
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	REQUIRE(pthread_create(&thread, NULL, begin_in_a_handler, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	REQUIRE(ctrace_flush(HANG_SECONDS * 1000) == CTRACE_OK);
}

static void a_thread_may_begin_in_a_handler_that_interrupted_malloc(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(have_many_keys);
	scenario_end();
}

/* AddressSanitizer's frames, and those of the calls that it looks into, are larger. */
#ifdef __SANITIZE_ADDRESS__
#define FRAME_GROWTH 4
#else
#define FRAME_GROWTH 1
#endif

/* The least that POSIX lets a thread have here, and less than that for a handler. */
#define SMALL_STACK (FRAME_GROWTH * ((size_t)16 << 10))
#define HANDLER_STACK (FRAME_GROWTH * ((size_t)8 << 10))

static void be_small(void *(*body)(void *unused))
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)alarm(HANG_SECONDS);
	REQUIRE(pthread_attr_init(&attributes) == 0 &&
		pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
	REQUIRE(pthread_create(&thread, &attributes, body, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
}

static void *trace_first(void *unused)
{
	CTRACE(&tracer, CTRACE_INFO, 1);
	return unused;
}

static void *command_first(void *unused)
{
	REQUIRE(ctrace_configure("mftrace.level.own = info") == CTRACE_OK);
	REQUIRE(ctrace_dest_set("own", "NOSUCH", 0) != CTRACE_OK); /* it is looked for everywhere */
	return trace_first(unused);
}

static void *fork_and_trace(void *unused)
{
	pid_t pid = fork();

	if (pid == 0) {
		CTRACE(&tracer, CTRACE_INFO, 1);
		exit(0); /* what is left is delivered on this stack, too */
	}
	REQUIRE(pid > 0 && scenario_wait(pid) == 0);
	return unused;
}

static void trace_on_a_small_thread(void)
{
	be_small(trace_first);
}

static void command_on_a_small_thread(void)
{
	be_small(command_first);
}

static void fork_on_a_small_thread(void)
{
	be_small(fork_and_trace);
}

static void trace_in_a_handler_with_a_small_stack(void)
{
	static _Alignas(16) char memory[HANDLER_STACK];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };
	const struct sigaction action = { .sa_handler = trace_in_handler, .sa_flags = SA_ONSTACK };

	CTRACE(&tracer, CTRACE_INFO, 1); /* a handler attaches no process */
	REQUIRE(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0 &&
		raise(SIGUSR1) == 0);
}

static void a_thread_with_a_small_stack_may_be_the_first(void **state)
{
	static void (*const ways[])(void) = { trace_on_a_small_thread, command_on_a_small_thread,
					      fork_on_a_small_thread,
					      trace_in_a_handler_with_a_small_stack };

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		scenario_begin(LINES_CONFIG);
		scenario_run(ways[i]);
		assert_int_equal(scenario_lines("out/*", NULL, NULL),
				 ways[i] == trace_in_a_handler_with_a_small_stack ? 2 : 1);
		scenario_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_may_begin_in_a_handler_that_interrupted_malloc),
		cmocka_unit_test(a_thread_with_a_small_stack_may_be_the_first),
		cmocka_unit_test(they_inherit_nothing_of_the_thread_that_attaches),
		cmocka_unit_test(what_a_routine_starts_has_the_programs_signal_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
