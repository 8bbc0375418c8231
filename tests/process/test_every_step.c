/*
 * test_every_step.c - SIGKILL after every single instruction of a trace call.
 *
 * A parent steps a traced thread through one call and kills it after K instructions, for K = 1, 2,
 * 3 ... until the call returns first.  Whatever K is: what was committed before is delivered, the
 * event itself is there when its call had returned, whole or not at all when it had not, and never
 * twice.  Long paths (a thread's first event, a ring that wraps) are sampled.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <mfctf.h>
#include <sched.h>
#include <sys/ptrace.h>

#define STEPS_LIMIT 150000u
#define NAMED (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM)
#define FIRST_RING (32u << 10) /* bytes of a thread's first ring */
#define MARK 20u               /* bytes that a window begins with */

static struct ctrace_tracer tracer = CTRACE_TRACER("stepped");

enum { EVENTS_BEFORE, CALL_RETURNED };

/* One call site, which knows its class after the first event. */
static __attribute__((noinline)) void trace_number(uint64_t number)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(number), CTRACE_TEXT("0123456789", 10));
}

static __attribute__((noinline)) void trace_number_elsewhere(uint64_t number)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(number), CTRACE_TEXT("0123456789", 10));
}

static void trace_numbers(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++)
		trace_number(i);
}

/* The call under the knife: event number EVENTS_BEFORE + 1. */
static void be_stepped_through_in(void (*trace)(uint64_t number))
{
	uint64_t next = shared->number[EVENTS_BEFORE] + 1;

	REQUIRE(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	REQUIRE(raise(SIGSTOP) == 0);
	trace(next);
	__atomic_store_n(&shared->number[CALL_RETURNED], 1, __ATOMIC_RELEASE);
	REQUIRE(raise(SIGSTOP) == 0);
}

static void be_stepped_through(void)
{
	be_stepped_through_in(trace_number);
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

static void first_event_of_a_site(void)
{
	trace_numbers(1, 3);
	shared->number[EVENTS_BEFORE] = 3;
	be_stepped_through_in(trace_number_elsewhere);
}

/* The short way of the COBOL-callable routine. */
static void cobol_event(void)
{
	uint64_t number = 4;
	cbl_x4_comp5_t sizes[] = { 8, 10 },
		       types[] = { TRACE_EVENT_TYPE_COMP5, TRACE_EVENT_TYPE_TEXT };
	void *data[] = { &number, (void *)(uintptr_t) "0123456789" };
	TRACE_EVENT event = { .event_id = 1,
			      .level = CTF_FLAG_LEVEL_INFO,
			      .data_count = 2,
			      .event_len = sizes,
			      .event_type = types,
			      .event_data = data };

	for (number = 1; number <= 3; number++)
		REQUIRE(cobctf_trace(NAMED, (const cobuns8_t *)"stepped", &event) ==
			CTF_RET_SUCCESS);
	shared->number[EVENTS_BEFORE] = 3;
	REQUIRE(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	REQUIRE(raise(SIGSTOP) == 0);
	(void)cobctf_trace(NAMED, (const cobuns8_t *)"stepped", &event);
	__atomic_store_n(&shared->number[CALL_RETURNED], 1, __ATOMIC_RELEASE);
	REQUIRE(raise(SIGSTOP) == 0);
}

/* The consumer thread sleeps and has closed the window: the call reopens it and wakes the consumer
 * thread. */
static void event_after_idleness(void)
{
	trace_numbers(1, 3);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	while (__atomic_load_n(&ctrace_thread_buffers_self[0].end, __ATOMIC_RELAXED) != NULL)
		(void)sched_yield();
	shared->number[EVENTS_BEFORE] = 3;
	be_stepped_through();
}

/* Is there room for one more event before the end of the ring that the thread began with: in its
 * window, or behind a new mark? */
static bool has_room(uint64_t size)
{
	const struct ctrace_thread_buffer *thread_buffer = &ctrace_thread_buffers_self[0];
	const unsigned char *end = __atomic_load_n(&thread_buffer->end, __ATOMIC_RELAXED);

	return (end != NULL && (uint64_t)(end - thread_buffer->cur) >= size) ||
	       *thread_buffer->head + MARK + size <= FIRST_RING;
}

/* The next event is the first that does not fit before the end of the first ring. */
static void be_stepped_through_at_the_end(void)
{
	uint64_t size, count = 2;

	trace_numbers(1, 1);
	size = *ctrace_thread_buffers_self[0].head;
	trace_numbers(2, 2);
	size = *ctrace_thread_buffers_self[0].head - size;
	for (; has_room(size); count++)
		trace_numbers(count + 1, count + 1);
	shared->number[EVENTS_BEFORE] = count;
	be_stepped_through();
}

/* A step is a switch to the child and one back, which take much longer from one processor to
 * another.  The child's other threads stay where they are. */
static void step_on_this_processor(pid_t pid)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(pid, sizeof one, &one), 0);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

/* Kills the child after `steps` instructions, or when the call has returned.  True when it had. */
static bool kill_after_steps(void (*body)(void), uint64_t steps)
{
	cpu_set_t all;
	int status;
	pid_t pid;

	memset(shared, 0, sizeof *shared);
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	pid = scenario_start(body);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	step_on_this_processor(pid);
	for (uint64_t i = 0; i < steps; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP)
			break;
	}
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	do
		assert_int_equal(waitpid(pid, &status, 0), pid);
	while (!WIFSIGNALED(status));
	return __atomic_load_n(&shared->number[CALL_RETURNED], __ATOMIC_ACQUIRE) != 0;
}

/* What a failed round left, for whoever has to find out why. */
static void show_directory(uint64_t steps)
{
	(void)printf("# killed after %llu instructions\n", (unsigned long long)steps);
	(void)fflush(stdout);
	(void)!system(
		"ls -lR out run *.log 2>&1 | sed 's/^/# /'; cat out/* tool.out tool.err 2>&1 | sed 's/^/# /'");
}

/* Returns how many kills it took.  widening: the stride grows with the steps made, up to
 * STEPS_LIMIT, for calls of millions of them. */
static unsigned step_through(const char *config, void (*body)(void), uint64_t stride, bool widening)
{
	unsigned kills = 0;
	bool returned = false;

	for (uint64_t steps = 1; !returned && (!widening || steps < STEPS_LIMIT);
	     steps += stride + (widening ? steps / 3 : 0)) {
		struct scenario_sequence sequence = { { 0 }, 0 };
		uint64_t before;

		scenario_begin(config);
		returned = kill_after_steps(body, steps);
		before = shared->number[EVENTS_BEFORE];
		assert_int_equal(run_tool("recover"), 0);
		(void)scenario_lines("out/*.log", scenario_check_sequence, &sequence);
		if (sequence.last[1] < before + returned)
			show_directory(steps);
		assert_int_equal(sequence.bad, 0);
		assert_in_range(sequence.last[1], returned ? before + 1 : before, before + 1);
		assert_int_equal(scenario_directories(), 0);
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

/* The site looks its class up. */
static void the_first_event_of_a_site(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG, first_event_of_a_site, stride(5), false) > 40);
}

static void an_event_of_cobol(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG, cobol_event, stride(7), false) > 20);
}

static void a_call_that_wakes_the_consumer_thread(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG, event_after_idleness, stride(7), false) > 20);
}

static void a_call_that_wraps(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG "ctrace.buffer = 32K\n",
				 be_stepped_through_at_the_end, stride(7), false) > 20);
}

/* Nothing is written before 64 KiB wait (FLUSHEVERY=0), and the ring of 32 KiB is full. */
static void a_call_that_goes_on_in_a_larger_ring(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG "mftrace.emitter.textfile#flushevery = 0\n",
				 be_stepped_through_at_the_end, IS_SANITIZED ? 29 : stride(11),
				 false) > 20);
}

static void the_first_event_of_a_process(void **state)
{
	(void)state;
	assert_true(step_through(LINES_CONFIG "ctrace.buffer = 64K\n", first_event,
				 IS_SANITIZED ? 97 : stride(97), true) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_of_an_inline_call),
		cmocka_unit_test(the_first_event_of_a_site),
		cmocka_unit_test(an_event_of_cobol),
		cmocka_unit_test(a_call_that_wakes_the_consumer_thread),
		cmocka_unit_test(a_call_that_wraps),
		cmocka_unit_test(a_call_that_goes_on_in_a_larger_ring),
		cmocka_unit_test(the_first_event_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
