/*
 * test_every_step.c - SIGKILL after every single instruction of a trace call.
 *
 * A parent steps a traced thread through one call and kills it after K instructions, for K = 1, 2, 3 ... until the call returns
 * first.  Whatever K is: what was committed before is delivered, the event itself is there when its call had returned, whole or not
 * at all when it had not, and never twice.  Long paths (a thread's first event, a ring that wraps) are sampled.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <sched.h>
#include <sys/ptrace.h>

#define STEPS_LIMIT 150000u

static struct ctrace_tracer tracer = CTRACE_TRACER("stepped");

enum { EVENTS_BEFORE, CALL_RETURNED };

static void trace_numbers(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i), CTRACE_TEXT("0123456789", 10));
}

/* The call under the knife: event number EVENTS_BEFORE + 1. */
static void be_stepped_through(void)
{
	uint64_t next = shared->number[EVENTS_BEFORE] + 1;

	REQUIRE(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	REQUIRE(raise(SIGSTOP) == 0);
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(next), CTRACE_TEXT("0123456789", 10));
	__atomic_store_n(&shared->number[CALL_RETURNED], 1, __ATOMIC_RELEASE);
	REQUIRE(raise(SIGSTOP) == 0);
}

static void first_event(void)
{
	shared->number[EVENTS_BEFORE] = 0;
	be_stepped_through();
}

static void inline_event(void)
{
	trace_numbers(1, 3);
	shared->number[EVENTS_BEFORE] = 3;
	be_stepped_through();
}

/* The agent sleeps and has closed the window: the call reopens it and wakes the agent. */
static void event_after_idleness(void)
{
	trace_numbers(1, 3);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	while (__atomic_load_n(&ctrace_lanes_self[0]->end, __ATOMIC_RELAXED) != NULL)
		(void)sched_yield();
	shared->number[EVENTS_BEFORE] = 3;
	be_stepped_through();
}

/* The next record does not fit before the end of the ring of 64 KiB: padding, then the beginning. */
static void event_that_wraps(void)
{
	uint64_t fits = (64u << 10) / 56u;

	trace_numbers(1, fits);
	shared->number[EVENTS_BEFORE] = fits;
	be_stepped_through();
}

/* Kills the child after `steps` instructions, or when the call has returned.  True when it had. */
static bool kill_after_steps(void (*body)(void), uint64_t steps)
{
	int status;
	pid_t pid;

	memset(shared, 0, sizeof *shared);
	pid = scenario_start(body);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	for (uint64_t i = 0; i < steps; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP)
			break;
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	do
		assert_int_equal(waitpid(pid, &status, 0), pid);
	while (!WIFSIGNALED(status));
	return __atomic_load_n(&shared->number[CALL_RETURNED], __ATOMIC_ACQUIRE) != 0;
}

/* What a failed round left, for whoever has to find out why. */
static void show_folder(uint64_t steps)
{
	(void)printf("# killed after %llu instructions\n", (unsigned long long)steps);
	(void)fflush(stdout);
	(void)!system("ls -lR out run *.log 2>&1 | sed 's/^/# /'; cat out/* tool.out tool.err 2>&1 | sed 's/^/# /'");
}

/* Returns how many kills it took.  widening: the stride grows with the steps made, up to STEPS_LIMIT, for calls of millions of them. */
static unsigned step_through(const char *config, void (*body)(void), uint64_t stride, bool widening)
{
	unsigned kills = 0;
	bool returned = false;

	for (uint64_t steps = 1; !returned && (!widening || steps < STEPS_LIMIT); steps += stride + (widening ? steps / 3 : 0)) {
		struct scenario_sequence sequence = { { 0 }, 0 };
		uint64_t before;

		scenario_begin(config);
		returned = kill_after_steps(body, steps);
		before = shared->number[EVENTS_BEFORE];
		assert_int_equal(run_tool("recover"), 0);
		(void)scenario_lines("out/*.log", scenario_check_sequence, &sequence);
		if (sequence.last[1] < before + returned)
			show_folder(steps);
		assert_int_equal(sequence.bad, 0);
		assert_in_range(sequence.last[1], returned ? before + 1 : before, before + 1);
		assert_int_equal(scenario_folders(), 0);
		scenario_end();
		kills++;
	}
	return kills;
}

/* Of an instrumented call most instructions are the sanitizer's. */
static uint64_t stride(uint64_t usual)
{
	if (IS_SANITIZED)
		return 10 * usual;
	return getenv("CTRACE_TEST_LONG") != NULL ? 1 : usual;
}

static void every_instruction_of_an_inline_call(void **state)
{
	(void)state;
	/* Raising the signal is stepped through as well; less would mean that the call was not. */
	assert_true(step_through(LINES_CONFIG, inline_event, stride(1), false) > 40);
}

static void a_call_that_wakes_the_agent(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG, event_after_idleness, stride(7), false) > 20);
}

static void a_call_that_wraps(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG "ctrace.buffer = 64K\n", event_that_wraps, stride(3), false) > 20);
}

static void the_first_event_of_a_process(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG "ctrace.buffer = 64K\n", first_event, IS_SANITIZED ? 97 : stride(97), true) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_of_an_inline_call),
		cmocka_unit_test(a_call_that_wakes_the_agent),
		cmocka_unit_test(a_call_that_wraps),
		cmocka_unit_test(the_first_event_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
