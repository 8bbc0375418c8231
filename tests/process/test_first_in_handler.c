/*
 * test_first_in_handler.c - a signal handler is the first to trace: in a process, a thread, a
 * child or a component, whatever it interrupts.
 *
 * A matrix of states, interrupted work and entry points.  Each trial is a child that a parent steps
 * into the work by a number of instructions, where it sends the signal.  So the place does not
 * depend on a clock.  The trials of a matrix use different numbers of instructions.  Wanted: the
 * child ends, and each event is delivered or counted, also in the file.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <cbl_ctrace.h>
#include <ctrace/component.h>
#include <dlfcn.h>
#include <mfctf.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#define NAMED (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM)
#define HANG_SECONDS 60u
#define STEPS_LIMIT 6000u
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MADE, EMITTED, DELIVERED, LOST, HANDLED, STEPS, FORKER, HAS_FORKED };

static struct ctrace_tracer first = CTRACE_TRACER("first.of.handler");
static struct ctrace_tracer plain = CTRACE_TRACER("first.of.main");
static cbl_x4_comp5_t handle; /* 0: none */
static volatile sig_atomic_t is_handled;

static void made(uint64_t count)
{
	(void)__atomic_fetch_add(&shared->number[MADE], count, __ATOMIC_RELAXED);
}

/* ---- what a handler may call */

static void call_trace(void)
{
	CTRACE(&first, CTRACE_INFO, 1, CTRACE_U32(1));
	CTRACE(&first, CTRACE_WARN, 2, CTRACE_STR("two"), CTRACE_U64(2));
	made(2);
}

static void call_emit(void)
{
	const struct ctrace_item item = CTRACE_U32(1);

	(void)ctrace_emit(&first, CTRACE_ERROR, 3, &item, 1);
	made(1);
}

static void call_enabled(void)
{
	/* Without a component there is no answer, and that is counted. */
	if (ctrace_enabled(&first, CTRACE_INFO))
		CTRACE(&first, CTRACE_INFO, 4);
	made(1);
}

static void call_entry(void)
{
	static char data[20000];

	ctrace_entry(&first, 5, data, sizeof data);
	made(1);
}

static void cobol_trace(cobuns32_t flags, const void *component_id)
{
	cbl_x4_comp5_t size = 4, type = TRACE_EVENT_TYPE_TEXT;
	void *data = (void *)(uintptr_t) "text";
	TRACE_EVENT event = { .event_id = 6,
			      .level = CTF_FLAG_LEVEL_INFO,
			      .data_count = 1,
			      .event_len = &size,
			      .event_type = &type,
			      .event_data = &data };

	(void)cobctf_trace(flags, component_id, &event);
	made(1);
}

static void call_cobol_named(void)
{
	cobol_trace(NAMED, "first.of.cobol");
}

static void call_cobol_handle(void)
{
	if (handle == 0)
		return;
	cobol_trace(0, &handle);
	(void)CBL_CTRACE_ENTRY(handle, 7, "entry", 5);
	made(1);
}

static void call_without_event(void)
{
	static uint64_t buffer[64];
	size_t used = 0;

	(void)ctrace_cte_add(buffer, sizeof buffer, &used, 1, "data", 4);
	(void)ctrace_status_name(CTRACE_OK);
	(void)ctrace_version();
}

static void (*const entries[])(void) = { call_trace,        call_emit,        call_enabled,
					 call_entry,        call_cobol_named, call_cobol_handle,
					 call_without_event };

/* ---- what a handler may interrupt */

static void work_malloc(void)
{
	for (size_t i = 1; i < 40; i++) {
		void *volatile block = malloc(i * 7000);

		block = realloc(block, i * 90000);
		free(block);
	}
}

static void work_load(void)
{
	void *library = dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
	REQUIRE(library != NULL && dlclose(library) == 0);
}

static void work_fork(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	REQUIRE(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		REQUIRE(errno == EINTR);
}

static void work_print(void)
{
	FILE *file = fopen("/dev/null", "w");

	REQUIRE(file != NULL);
	flockfile(file);
	for (int i = 0; i < 5; i++)
		(void)fprintf(file, "%d %s %f\n", i, "text", (double)i);
	funlockfile(file);
	(void)fclose(file);
}

static void work_time(void)
{
	time_t now = time(NULL);
	struct tm local;

	(void)setenv("TZ", "Europe/Berlin", 1);
	tzset();
	(void)localtime_r(&now, &local);
}

static void *end_thread(void *unused)
{
	return unused;
}

static void work_threads(void)
{
	pthread_t thread;

	REQUIRE(pthread_create(&thread, NULL, end_thread, NULL) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
}

static void work_own_trace(void)
{
	CTRACE(&plain, CTRACE_INFO, 8, CTRACE_U32(8));
	made(1);
}

static void work_own_commands(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	REQUIRE(ctrace_level_set("first.of", CTRACE_DEBUG) == CTRACE_OK);
	REQUIRE(ctrace_configure("mftrace.level.first.elsewhere = warn") == CTRACE_OK);
	ctrace_stats_get(&stats);
}

static const struct {
	void (*work)(void);
	const char *name;
} works[] = {
	{ work_malloc, "malloc" },
	{ work_load, "dlopen" },
	{ work_fork, "fork" },
	{ work_print, "stdio" },
	{ work_time, "localtime" },
	{ work_threads, "pthread_create" },
	{ work_own_trace, "a trace call" },
	{ work_own_commands, "a command" },
};

/* ---- what is traced already */

enum state { NEW, ATTACHED, THREAD, FORKED, CLONED };

struct trial {
	enum state state;
	void (*work)(void);
	void (*entry)(void);
	const char *name; /* of the work */
};
static const struct trial *trial;
static uint64_t all_made, all_delivered;

static void handler(int number)
{
	int kept = errno;

	(void)number;
	trial->entry();
	errno = kept;
	is_handled = 1;
}

static void note_statistics(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	CTRACE(&plain, CTRACE_INFO, 9);
	made(1);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	ctrace_stats_get(&stats);
	shared->number[EMITTED] += stats.emitted;
	shared->number[DELIVERED] += stats.delivered;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		shared->number[LOST] += stats.lost[i];
	REQUIRE(stats.pending == 0);
}

/* The signal comes in here. */
static void *be_interrupted(void *unused)
{
	REQUIRE(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	REQUIRE(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP) == 0);
	do
		trial->work();
	while (!is_handled);
	shared->number[HANDLED]++;
	return unused;
}

static void trace_before(void)
{
	CTRACE(&plain, CTRACE_INFO, 10);
	made(1);
	REQUIRE(CBL_CTF_TRACER_GET(NAMED, (const cobuns8_t *)"first.by.handle", &handle) ==
		CTF_RET_SUCCESS);
}

static void trial_step(uint64_t steps);

/* In a child of its own, which this process steps. */
static void be_interrupted_in_child(void)
{
	int status;
	pid_t child =
		trial->state == FORKED ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	REQUIRE(child >= 0);
	if (child == 0) {
		(void)alarm(HANG_SECONDS);
		(void)be_interrupted(NULL);
		note_statistics();
		exit(0);
	}
	trial_step(shared->number[STEPS]);
	REQUIRE(waitpid(child, &status, 0) == child);
	REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void body(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread;

	(void)alarm(HANG_SECONDS);
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	if (trial->state != NEW)
		trace_before();
	if (trial->state == FORKED || trial->state == CLONED) {
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
		be_interrupted_in_child();
	} else if (trial->state == THREAD) {
		REQUIRE(pthread_create(&thread, NULL, be_interrupted, NULL) == 0);
		REQUIRE(pthread_join(thread, NULL) == 0);
	} else {
		(void)be_interrupted(NULL);
	}
	note_statistics();
}

/* ---- the parent */

/* Steps the child that stops next, and returns it stopped.  Signals of its own children pass. */
static pid_t trial_hold(uint64_t steps)
{
	int status, number = 0;
	pid_t tid = waitpid(-1, &status, __WALL);

	REQUIRE(tid > 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	for (uint64_t i = 0; i < steps; i++) {
		REQUIRE(ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(intptr_t)number) == 0);
		REQUIRE(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status));
		number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	return tid;
}

/* Lets it go on with the signal. */
static void trial_step(uint64_t steps)
{
	pid_t tid = trial_hold(steps);

	REQUIRE(ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)SIGUSR1) == 0);
}

static void run_trial(const struct trial *of, uint64_t steps)
{
	uint64_t *number = shared->number;
	cpu_set_t all, one;
	int status;
	pid_t pid;

	memset(shared, 0, sizeof *shared);
	number[STEPS] = steps;
	trial = of;
	/* A step is a switch to the child and one back. */
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	pid = scenario_start(body);
	if (of->state != FORKED && of->state != CLONED)
		trial_step(steps);
	status = scenario_wait(pid);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	if (status != 0 || number[MADE] != number[EMITTED])
		(void)printf("# %s interrupted after %llu instructions: status %#x, %llu made, "
			     "%llu emitted\n",
			     of->name, (unsigned long long)steps, (unsigned)status,
			     (unsigned long long)number[MADE], (unsigned long long)number[EMITTED]);
	assert_int_equal(status, 0);
	assert_int_equal(number[HANDLED], 1);
	assert_int_equal(number[EMITTED], number[MADE]);
	assert_int_equal(number[DELIVERED] + number[LOST], number[MADE]);
	all_made += number[MADE];
	all_delivered += number[DELIVERED];
}

/* "# Lost             = 2 nested, 1 discarded (process 4711)": the totals of an output so far. */
static uint64_t totals_in(const char *line)
{
	uint64_t total = 0;

	for (const char *at = strchr(line, '='); at != NULL && *at != '('; at++)
		if (*at >= '0' && *at <= '9') {
			char *end;

			total += strtoull(at, &end, 10);
			at = end - 1;
		}
	return total;
}

/* The events that the files count as lost. */
static uint64_t lost_in_files(void)
{
	uint64_t all = 0;
	char line[4096];
	glob_t found;

	assert_int_equal(glob("out/*.log", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *file = fopen(found.gl_pathv[i], "r");
		uint64_t lost = 0;

		assert_non_null(file);
		while (fgets(line, sizeof line, file) != NULL)
			if (strncmp(line, "# Lost ", 7) == 0)
				lost = totals_in(line);
		all += lost;
		(void)fclose(file);
	}
	globfree(&found);
	return all;
}

/* The places come in turn, so that one row of the matrix meets a place once. */
static void matrix_run(enum state state)
{
	const unsigned rounds = getenv("CTRACE_TEST_LONG") != NULL ? 50 : 1;
	uint64_t steps = 7 + (uint64_t)state;

	scenario_begin(LINES_CONFIG);
	all_made = all_delivered = 0;
	for (unsigned round = 0; round < rounds; round++)
		for (size_t w = 0; w < COUNT(works); w++)
			for (size_t e = 0; e < COUNT(entries); e++) {
				const struct trial of = { state, works[w].work, entries[e],
							  works[w].name };

				steps = steps * 3 / 2 + 11;
				if (steps > STEPS_LIMIT)
					steps = steps % 97 + round;
				run_trial(&of, steps);
			}
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), all_delivered);
	assert_int_equal(lost_in_files(), all_made - all_delivered);
	scenario_end();
}

/* ---- beside a fork, which waits for the locks of malloc under the locks of ctrace */

#define FORK_TRIALS 40u
#define FUTEX_SEEN 200u /* in turn: the wait for the consumer thread is shorter */

static int gate[2];

static void *fork_when_asked(void *unused)
{
	char byte;

	__atomic_store_n(&shared->number[FORKER], (uint64_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	REQUIRE(read(gate[0], &byte, 1) == 1);
	work_fork();
	__atomic_store_n(&shared->number[HAS_FORKED], 1, __ATOMIC_RELEASE);
	return unused;
}

static void body_beside_fork(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t forker, thread;

	(void)alarm(HANG_SECONDS);
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	trace_before();
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(pthread_create(&forker, NULL, fork_when_asked, NULL) == 0);
	while (__atomic_load_n(&shared->number[FORKER], __ATOMIC_ACQUIRE) == 0)
		(void)sched_yield();
	REQUIRE(pthread_create(&thread, NULL, be_interrupted, NULL) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
	REQUIRE(pthread_join(forker, NULL) == 0);
	note_statistics();
}

/* Returns when the forking thread is ready, or sleeps in futex(2): it waits for the interrupted
 * thread, or for the consumer thread. */
static void await_fork(pid_t pid)
{
	char path[100], line[64];
	unsigned seen = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%llu/syscall", (int)pid,
		       (unsigned long long)shared->number[FORKER]);
	while (seen < FUTEX_SEEN &&
	       __atomic_load_n(&shared->number[HAS_FORKED], __ATOMIC_ACQUIRE) == 0) {
		FILE *file = fopen(path, "r");
		bool waits = file != NULL && fgets(line, sizeof line, file) != NULL &&
			     atoi(line) == SYS_futex;

		if (file != NULL)
			(void)fclose(file);
		seen = waits ? seen + 1 : 0;
		(void)sched_yield();
	}
}

static void beside_a_fork(void **unused)
{
	const struct trial of = { THREAD, work_malloc, call_trace, "malloc beside fork" };

	(void)unused;
	scenario_begin(LINES_CONFIG);
	all_made = all_delivered = 0;
	for (uint64_t i = 0; i < FORK_TRIALS; i++) {
		uint64_t *number = shared->number;
		pid_t pid, tid;
		int status;

		memset(shared, 0, sizeof *shared);
		trial = &of;
		assert_int_equal(pipe(gate), 0);
		pid = scenario_start(body_beside_fork);
		tid = trial_hold(1200 + 61 * i);
		assert_int_equal(write(gate[1], "g", 1), 1);
		await_fork(pid);
		assert_int_equal(ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)SIGUSR1), 0);
		status = scenario_wait(pid);
		(void)close(gate[0]);
		(void)close(gate[1]);
		assert_int_equal(status, 0);
		assert_int_equal(number[EMITTED], number[MADE]);
		assert_int_equal(number[DELIVERED] + number[LOST], number[MADE]);
		all_made += number[MADE];
		all_delivered += number[DELIVERED];
	}
	assert_true(all_delivered < all_made); /* some handlers found a lock that fork held */
	scenario_end();
}

static void in_a_process(void **unused)
{
	(void)unused;
	matrix_run(NEW);
}

static void in_a_component(void **unused)
{
	(void)unused;
	matrix_run(ATTACHED);
}

static void in_a_thread(void **unused)
{
	(void)unused;
	matrix_run(THREAD);
}

static void in_a_child(void **unused)
{
	(void)unused;
	matrix_run(FORKED);
}

static void in_a_child_without_fork_handlers(void **unused)
{
	(void)unused;
	matrix_run(CLONED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_a_fork),
		cmocka_unit_test(in_a_process),
		cmocka_unit_test(in_a_component),
		cmocka_unit_test(in_a_thread),
		cmocka_unit_test(in_a_child),
		cmocka_unit_test(in_a_child_without_fork_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
