/*
 * test_signals.c - tracing from signal handlers, whatever they interrupt.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <sys/time.h>

#define MAIN_EVENTS 300000u
#define NESTED 3 /* handlers in handlers */

static struct ctrace_tracer tracer = CTRACE_TRACER("handlers");
static volatile uint64_t from_handler;
static sigjmp_buf escape;
static volatile sig_atomic_t may_escape;
static volatile sig_atomic_t is_armed;
static volatile sig_atomic_t depth;

static void set_handler(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
}

/* One signal, unless one is on its way.  A timer that repeats overflows the stack where a handler
 * takes longer than the interval, and lets no round end that does. */
static void arm_timer(long microseconds)
{
	struct itimerval once = { { 0, 0 }, { 0, microseconds } };

	if (is_armed)
		return;
	is_armed = 1;
	REQUIRE(setitimer(ITIMER_REAL, &once, NULL) == 0);
}

static void stop_timer(void)
{
	struct itimerval none = { { 0, 0 }, { 0, 0 } };

	REQUIRE(setitimer(ITIMER_REAL, &none, NULL) == 0);
}

static void trace_in_handler(int number)
{
	int kept = errno;

	(void)number;
	is_armed = 0;
	if (++depth < NESTED)
		arm_timer(30);
	errno = 4711;
	CTRACE(&tracer, CTRACE_WARN, 2, CTRACE_STR("handler"));
	REQUIRE(errno == 4711);
	(void)__atomic_fetch_add(&from_handler, 1, __ATOMIC_RELAXED);
	depth--;
	errno = kept;
}

static void note_statistics(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	ctrace_stats_get(&stats);
	shared->number[0] = from_handler;
	shared->number[1] = stats.emitted;
	shared->number[2] = stats.delivered;
	shared->number[3] = stats.pending;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		shared->number[4] += stats.lost[i];
}

static void interrupted_main_line(void)
{
	/* The first event is traced in main line: registering is not for handlers that interrupted
	 * malloc. */
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(0));
	set_handler(trace_in_handler, SA_NODEFER);
	for (uint64_t i = 1; i < MAIN_EVENTS; i++) {
		arm_timer(30);
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i), CTRACE_TEXT("0123456789", 10));
	}
	stop_timer();
	note_statistics();
}

struct kinds {
	unsigned of[4];
	unsigned bad;
};

static void count_kind(const char *line, void *user)
{
	struct kinds *kinds = user;
	unsigned tid, kind, level;
	char component[64];

	if (sscanf(line, "%u %63s %u %u", &tid, component, &kind, &level) != 4 || kind > 3)
		kinds->bad++;
	else
		kinds->of[kind]++;
}

static void check_balance(void)
{
	struct kinds kinds = { { 0 }, 0 };

	(void)scenario_lines("out/*.log", count_kind, &kinds);
	assert_int_equal(kinds.bad, 0);
	assert_int_equal(kinds.of[1], MAIN_EVENTS);
	assert_int_equal(shared->number[3], 0);
	assert_int_equal(shared->number[1], MAIN_EVENTS + shared->number[0]);
	assert_int_equal(shared->number[2] + shared->number[4], shared->number[1]);
	assert_int_equal(kinds.of[1] + kinds.of[2] + shared->number[4],
			 MAIN_EVENTS + shared->number[0]);
}

static void every_event_of_handler_and_main_line_is_there_or_counted(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(interrupted_main_line);
	assert_true(shared->number[0] > 0);
	check_balance();
	scenario_end();
}

static void trace_and_jump(int number)
{
	(void)number;
	CTRACE(&tracer, CTRACE_WARN, 2, CTRACE_STR("handler"));
	(void)__atomic_fetch_add(&from_handler, 1, __ATOMIC_RELAXED);
	is_armed = 0;
	if (may_escape)
		siglongjmp(escape, 1);
}

/* Handlers that leave by siglongjmp, some out of the middle of a trace call: later events must
 * still come through, or be counted. */
static void jumping_out(void)
{
	volatile uint64_t traced = 0;

	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(0));
	set_handler(trace_and_jump, SA_NODEFER);
	for (volatile unsigned round = 0; round < 2000; round++) {
		arm_timer(50);
		(void)sigsetjmp(escape, 1);
		may_escape = 1;
		for (unsigned i = 0; i < 100; i++)
			CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(traced),
			       CTRACE_TEXT("0123456789", 10));
		may_escape = 0;
		traced = traced + 100;
	}
	stop_timer();
	note_statistics();
	REQUIRE(traced > 0);
}

static void siglongjmp_out_of_a_trace_call_neither_hangs_nor_breaks_the_balance(void **state)
{
	struct kinds kinds = { { 0 }, 0 };

	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(jumping_out);
	(void)scenario_lines("out/*.log", count_kind, &kinds);
	assert_int_equal(kinds.bad, 0);
	assert_int_equal(kinds.of[1] + kinds.of[2], shared->number[2]);
	assert_int_equal(shared->number[2] + shared->number[4], shared->number[1]);
	scenario_end();
}

static volatile sig_atomic_t is_child;
static volatile sig_atomic_t children;

/* The child returns from the handler, perhaps into the middle of a trace call of its parent's. */
static void fork_in_handler(int number)
{
	pid_t pid;

	(void)number;
	is_armed = 0;
	if (is_child || children >= 100)
		return;
	children++;
	pid = fork();
	if (pid == 0) {
		is_child = 1;
		(void)signal(SIGSEGV, SIG_DFL);
		CTRACE(&tracer, CTRACE_WARN, 2, CTRACE_STR("child"));
	}
}

static void fork_now_and_then(void)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(0));
	set_handler(fork_in_handler, SA_RESTART);
	for (uint64_t i = 1; i < MAIN_EVENTS && !is_child; i++) {
		arm_timer(300);
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i), CTRACE_TEXT("0123456789", 10));
	}
	if (is_child) {
		CTRACE(&tracer, CTRACE_INFO, 3, CTRACE_STR("child goes on"));
		exit(0);
	}
	stop_timer();
	for (int i = 0; i < children; i++) {
		int status;

		REQUIRE(wait(&status) > 0 && status == 0);
	}
	shared->number[0] = (uint64_t)children;
}

static void a_child_forked_by_a_handler_in_a_trace_call_goes_on(void **state)
{
	struct kinds kinds = { { 0 }, 0 };

	(void)state;
	/* in a second the recovery thread begins, and a fork may come while it allocates */
	if (IS_SANITIZED)
		skip();
	scenario_begin(LINES_CONFIG);
	scenario_run(fork_now_and_then);
	/* A child that ends while its consumer thread gets no processor leaves its events in its
	 * process directory. */
	assert_int_equal(run_tool("recover"), 0);
	(void)scenario_lines("out/*.log", count_kind, &kinds);
	assert_true(shared->number[0] > 0);
	assert_int_equal(kinds.bad, 0);
	/* A child may have been forked just before a call, which it then makes itself. */
	assert_in_range(kinds.of[1], MAIN_EVENTS, MAIN_EVENTS + shared->number[0]);
	/* A handler does not attach the child: that event is counted. */
	assert_int_equal(kinds.of[2], 0);
	assert_int_equal(kinds.of[3], shared->number[0]);
	scenario_end();
}

static void trace_while_falling(int number)
{
	(void)number;
	CTRACE(&tracer, CTRACE_FATAL, 3, CTRACE_STR("going down"));
	(void)signal(SIGSEGV, SIG_DFL);
}

static void fall(void)
{
	static char stack_memory[65536];
	stack_t stack = { .ss_sp = stack_memory, .ss_size = sizeof stack_memory };
	struct sigaction action = { .sa_handler = trace_while_falling, .sa_flags = SA_ONSTACK };

	REQUIRE(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
	CTRACE(&tracer, CTRACE_INFO, 1);
	(void)raise(SIGSEGV);
	(void)raise(SIGSEGV);
}

static void an_event_from_a_crash_handler_is_recovered(void **state)
{
	struct kinds kinds = { { 0 }, 0 };
	int status;

	(void)state;
	scenario_begin(LINES_CONFIG);
	status = scenario_wait(scenario_start(fall));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	assert_int_equal(run_tool("recover"), 0);
	(void)scenario_lines("out/*.log", count_kind, &kinds);
	assert_int_equal(kinds.of[1], 1);
	assert_int_equal(kinds.of[3], 1);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_of_handler_and_main_line_is_there_or_counted),
		cmocka_unit_test(
			siglongjmp_out_of_a_trace_call_neither_hangs_nor_breaks_the_balance),
		cmocka_unit_test(a_child_forked_by_a_handler_in_a_trace_call_goes_on),
		cmocka_unit_test(an_event_from_a_crash_handler_is_recovered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
