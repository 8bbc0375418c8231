/*
 * test_instructions.c - what an event costs, in instructions and in bytes of its ring: no more than
 * was reached.
 *
 * A parent steps a traced child from marker to marker (int3).  A batch of MANY events less a batch
 * of FEW, divided, is one event, the loop round it included; of some tries the least counts, since
 * the consumer thread may close an idle thread's window.  So other programs on the machine change
 * nothing.  The bounds are a little above what gcc 12 makes of it; `make bench` counts the same in
 * a release build.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <limits.h>
#include <mfctf.h>
#include <sys/ptrace.h>

/* Other processors stop elsewhere, and have other counts. */
#if defined(__x86_64__)
#define MARKER() __asm__ volatile("int3" : : : "memory")
#define HAS_BOUNDS 1
#else
#define MARKER() __asm__ volatile("" : : : "memory")
#define HAS_BOUNDS 0
#endif

#define WARM 50u
#define FEW 10u
#define MANY 42u
#define TRIES 5u

static struct ctrace_tracer tracer = CTRACE_TRACER("cost");
static struct ctrace_tracer tracer_off = CTRACE_TRACER("cost.off");
static const char texts[2][32] = { "some info, and what is behind it",
				   "open acct, and what is behind it" };
static cbl_x4_comp5_t handle;
static const cobuns8_t name[] = "COST.CBL ";

static void one_text(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_TEXT(texts[i % 2], 10));
}

static void four_items(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(&tracer, CTRACE_INFO, 2, CTRACE_U32(i), CTRACE_U64((uint64_t)i << 20),
		       CTRACE_I64(-(int64_t)i), CTRACE_TEXT(texts[i % 2], 32));
}

static void disabled(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(&tracer_off, CTRACE_INFO, 1, CTRACE_TEXT(texts[i % 2], 10));
}

/* A text, or that and three integers. */
static void trace_cobol(cobuns32_t flags, const cobuns8_t *component_id, cobuns32_t items,
			uint32_t count)
{
	cbl_x4_comp5_t sizes[4] = { 10, 4, 2, 8 };
	cbl_x4_comp5_t types[4] = { TRACE_EVENT_TYPE_TEXT, TRACE_EVENT_TYPE_COMP5,
				    TRACE_EVENT_TYPE_COMPX, TRACE_EVENT_TYPE_ADDRESS };
	uint32_t number = 1;
	void *data[4] = { NULL, &number, &number, &number };
	TRACE_EVENT event = { .event_id = 1,
			      .level = CTF_FLAG_LEVEL_INFO,
			      .data_count = items,
			      .event_len = sizes,
			      .event_type = types,
			      .event_data = data };

	for (uint32_t i = 0; i < count; i++) {
		data[0] = (void *)(uintptr_t)texts[i % 2];
		__asm__ volatile("" : : : "memory");
		(void)cobctf_trace(flags, component_id, &event);
	}
}

static void by_handle(uint32_t count)
{
	trace_cobol(0, (const cobuns8_t *)&handle, 1, count);
}

static void by_name(uint32_t count)
{
	trace_cobol(CTF_FLAG_COMPID_STRING, name, 1, count);
}

static void four_by_handle(uint32_t count)
{
	trace_cobol(0, (const cobuns8_t *)&handle, 4, count);
}

static const struct {
	void (*batch)(uint32_t count);
	const char *what;
	double instructions;
	uint64_t bytes;
} cases[] = {
	{ one_text, "one text", 40, 18 },
	{ four_items, "three integers and a text", 48, 60 },
	{ disabled, "a text, disabled", 7, 0 },
	{ by_handle, "CBL_CTF_TRACE by handle", 135, 20 },
	{ by_name, "CBL_CTF_TRACE by name", 225, 20 },
	{ four_by_handle, "CBL_CTF_TRACE of four items", 300, 34 },
};
#define CASES (sizeof cases / sizeof cases[0])

/* From the position in the ring before an event to that behind it; the least, since an event may
 * begin a window, with a mark. */
static uint64_t count_bytes(void (*batch)(uint32_t count))
{
	uint64_t least = UINT64_MAX;

	for (unsigned try = 0; try < TRIES; try++) {
		uint64_t before = *ctrace_thread_buffers_self->head, bytes;

		batch(1);
		bytes = *ctrace_thread_buffers_self->head - before;
		least = bytes < least ? bytes : least;
	}
	return least;
}

static void be_stepped_through(void)
{
	REQUIRE(ctrace_level_set("cost.off", CTRACE_LEVEL_NONE) == CTRACE_OK);
	REQUIRE(CBL_CTF_TRACER_GET(0, name, &handle) == CTF_RET_SUCCESS);
	for (size_t i = 0; i < CASES; i++)
		cases[i].batch(WARM);
	for (size_t i = 0; i < CASES; i++)
		shared->number[i] = count_bytes(cases[i].batch);
	REQUIRE(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	REQUIRE(raise(SIGSTOP) == 0);
	for (size_t i = 0; i < CASES; i++)
		for (unsigned try = 0; try < TRIES; try++) {
			cases[i].batch(WARM);
			MARKER();
			cases[i].batch(FEW);
			MARKER();
			cases[i].batch(MANY);
			MARKER();
		}
	_exit(0);
}

static void run_to_marker(pid_t child)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
}

/* Only the trap of an int3 comes from the kernel itself. */
static long count_to_marker(pid_t child)
{
	for (long count = 0;; count++) {
		siginfo_t info;
		int status;

		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		assert_int_equal(ptrace(PTRACE_GETSIGINFO, child, NULL, &info), 0);
		if (info.si_code == SI_KERNEL)
			return count;
	}
}

static double count_case(pid_t child)
{
	long few = LONG_MAX, many = LONG_MAX;

	for (unsigned try = 0; try < TRIES; try++) {
		long count;

		run_to_marker(child);
		count = count_to_marker(child);
		few = count < few ? count : few;
		count = count_to_marker(child);
		many = count < many ? count : many;
	}
	return (double)(many - few) / (MANY - FEW);
}

static void no_event_costs_more_than_its_bound(void **state)
{
	bool is_above = false;
	int status;
	pid_t child;

	(void)state;
	if (IS_SANITIZED || !HAS_BOUNDS)
		skip();
	scenario_begin(LINES_CONFIG);
	memset(shared, 0, sizeof *shared);
	child = scenario_start(be_stepped_through);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	for (size_t i = 0; i < CASES; i++) {
		double count = count_case(child);
		bool is_more = count > cases[i].instructions || shared->number[i] > cases[i].bytes;

		(void)printf(
			"# %s: %.1f instructions (at most %.0f), %llu bytes (at most %llu)%s\n",
			cases[i].what, count, cases[i].instructions,
			(unsigned long long)shared->number[i], (unsigned long long)cases[i].bytes,
			is_more ? ": MORE" : "");
		is_above = is_above || is_more;
	}
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_false(is_above);
	assert_int_equal(run_tool("recover"), 0);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_event_costs_more_than_its_bound) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
