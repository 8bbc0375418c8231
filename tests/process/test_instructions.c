/*
 * test_instructions.c - what an event costs, in instructions and in bytes of its ring: no more than
 * was reached.
 *
 * A parent steps a traced child from marker to marker (int3).  A batch of MANY events less a batch
 * of FEW, divided, is one event, the loop round it included; of some tries the least counts, since
 * the consumer thread may close an idle thread's window.  So other programs on the machine change
 * nothing.  The instructions of the vDSO are counted apart: they differ between kernels, and from
 * one reading of the clock to the next.  The bounds are a little above what gcc 12 makes of it;
 * `make bench` counts the same in a release build.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <inttypes.h>
#include <math.h>
#include <mfctf.h>
#include <sys/ptrace.h>
#include <time.h>

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
/* What an event by CLOCK_MONOTONIC may cost beyond one by the counter and a clock_gettime(). */
#define CLOCK_MORE 12
/* What one reading may take in the vDSO more than another, as a factor. */
#define READING_MORE 1.5

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

/* C++ has no constant sizes, and ctrace_emit() no site. */
static void emitted(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ctrace_item item =
			ctrace_item_bytes_(CTRACE_TYPE_TEXT, texts[i % 2], 10, false, false);

		(void)ctrace_emit(&tracer, CTRACE_INFO, 1, &item, 1);
	}
}

static void read_clock(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct timespec now;

		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		__asm__ volatile("" : : "r"(&now) : "memory");
	}
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
	double instructions; /* with the counter */
	uint64_t bytes;
} cases[] = {
	{ read_clock, "clock_gettime()", 0, 0 },
	{ one_text, "one text", 40, 18 },
	{ four_items, "three integers and a text", 48, 60 },
	{ disabled, "a text, disabled", 7, 0 },
	{ emitted, "ctrace_emit()", 240, 18 },
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

/* Instructions of one event, or of a batch. */
struct cost {
	double own, vdso;
};

static struct {
	uintptr_t from, to;
} vdso;

static void vdso_find(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[300];

	assert_non_null(maps);
	while (fgets(line, sizeof line, maps) != NULL)
		if (strstr(line, "[vdso]") != NULL)
			assert_int_equal(
				sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &vdso.from, &vdso.to), 2);
	(void)fclose(maps);
}

/* Only the trap of an int3 comes from the kernel itself. */
static struct cost count_to_marker(pid_t child)
{
	for (struct cost cost = { 0 };;) {
		siginfo_t info;
		int status;

		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		assert_int_equal(ptrace(PTRACE_GETSIGINFO, child, NULL, &info), 0);
		if (info.si_code == SI_KERNEL)
			return cost;
		/* the address of the next instruction */
		if ((uintptr_t)info.si_addr >= vdso.from && (uintptr_t)info.si_addr < vdso.to)
			cost.vdso++;
		else
			cost.own++;
	}
}

static void keep_least(double *least, double count)
{
	*least = count < *least ? count : *least;
}

static struct cost count_case(pid_t child)
{
	struct cost few = { INFINITY, INFINITY }, many = few;

	for (unsigned try = 0; try < TRIES; try++) {
		struct cost cost;

		run_to_marker(child);
		cost = count_to_marker(child);
		keep_least(&few.own, cost.own);
		keep_least(&few.vdso, cost.vdso);
		cost = count_to_marker(child);
		keep_least(&many.own, cost.own);
		keep_least(&many.vdso, cost.vdso);
	}
	return (struct cost){ (many.own - few.own) / (MANY - FEW),
			      (many.vdso - few.vdso) / (MANY - FEW) };
}

/* clock: of CLOCK_MONOTONIC, what a reading costs the program itself; NULL: by the counter. */
static bool costs_more(size_t i, struct cost cost, const struct cost *clock)
{
	double bound = cases[i].instructions, in_vdso = 0;

	if (clock != NULL && cases[i].bytes != 0) {
		bound += clock->own + CLOCK_MORE;
		in_vdso = clock->vdso * READING_MORE;
	}
	(void)printf("# %s: %.1f instructions (at most %.1f) and %.1f of the vDSO (at most %.1f), "
		     "%llu bytes (at most %llu)%s\n",
		     cases[i].what, cost.own, bound, cost.vdso, in_vdso,
		     (unsigned long long)shared->number[i], (unsigned long long)cases[i].bytes,
		     cost.own > bound || cost.vdso > in_vdso ? ": MORE" : "");
	return cost.own > bound || cost.vdso > in_vdso || shared->number[i] > cases[i].bytes;
}

static void no_event_costs_more_than_its_bound_by(const char *clock_name, bool is_monotonic)
{
	char config[sizeof LINES_CONFIG + 64];
	struct cost clock = { 0 };
	bool is_above = false;
	int status;
	pid_t child;

	if (IS_SANITIZED || !HAS_BOUNDS)
		skip();
	(void)snprintf(config, sizeof config, LINES_CONFIG "ctrace.clock = %s\n", clock_name);
	scenario_begin(config);
	memset(shared, 0, sizeof *shared);
	vdso_find();
	child = scenario_start(be_stepped_through);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	for (size_t i = 0; i < CASES; i++) {
		struct cost cost = count_case(child);

		if (cases[i].batch == read_clock)
			clock = cost;
		else
			is_above = costs_more(i, cost, is_monotonic ? &clock : NULL) || is_above;
	}
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_false(is_above);
	assert_int_equal(run_tool("recover"), 0);
	scenario_end();
}

static void no_event_costs_more_than_its_bound(void **state)
{
	(void)state;
	no_event_costs_more_than_its_bound_by("counter", false);
}

static void without_a_counter_it_costs_a_reading_of_the_clock_more(void **state)
{
	(void)state;
	no_event_costs_more_than_its_bound_by("monotonic", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_event_costs_more_than_its_bound),
		cmocka_unit_test(without_a_counter_it_costs_a_reading_of_the_clock_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
