/*
 * test_pressure.c - emitted = delivered + pending + lost, to the event, whatever runs short: rings,
 * threads, memory; and the flight recorder of a process that dies.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define THREADS 4u
#define EVENTS 50000u
#define OWN_EACH 4u /* events of the other component for each */

static struct ctrace_tracer tracer = CTRACE_TRACER("pressure");
static struct ctrace_tracer own = CTRACE_TRACER("pressure.own");
static struct ctrace_tracer below = CTRACE_TRACER("pressure.own.below");

static uint64_t sum_lost(const struct ctrace_stats *stats)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		sum += stats->lost[i];
	return sum;
}

static void check_balance(struct ctrace_stats *stats)
{
	stats->size = sizeof *stats;
	ctrace_stats_get(stats);
	REQUIRE(stats->emitted == stats->delivered + stats->pending + sum_lost(stats));
}

/* Waits until all is out and leaves the counts where the test finds them. */
static void note_statistics(void)
{
	struct ctrace_stats stats;

	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	check_balance(&stats);
	REQUIRE(stats.pending == 0);
	shared->number[0] = stats.emitted;
	shared->number[1] = stats.delivered;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		shared->number[2 + i] = stats.lost[i];
}

static uint64_t lost(enum ctrace_loss reason)
{
	return shared->number[2 + reason];
}

static uint64_t losses[CTRACE_LOSS_COUNT]; /* of the last policy that was checked */

/* ---- four threads against every policy ---- */

static void *press(void *argument)
{
	unsigned kind = (unsigned)(uintptr_t)argument;

	for (uint64_t i = 1; i <= EVENTS; i++) {
		CTRACE(&tracer, CTRACE_INFO, kind, CTRACE_U64(i),
		       CTRACE_TEXT("0123456789012345678901234567890123456789", 40));
		for (unsigned k = 1; k <= OWN_EACH; k++)
			CTRACE(&below, CTRACE_INFO, 100 + kind, CTRACE_U64(OWN_EACH * i + k));
	}
	return NULL;
}

static void press_from_all_sides(void)
{
	pthread_t threads[THREADS];
	struct ctrace_stats stats;

	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, press, (void *)(i + 1)) == 0);
	for (unsigned i = 0; i < 200; i++)
		check_balance(&stats); /* also in the middle of it */
	for (unsigned i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	note_statistics();
}

/* Each thread's numbers rise, though some may be missing. */
struct rising {
	uint64_t last[512];
	uint64_t count[512];
	unsigned bad;
};

static void check_rising(const char *line, void *user)
{
	struct rising *rising = user;
	unsigned tid, kind, level;
	unsigned long long value;
	char component[64];

	if (sscanf(line, "%u %63s %u %u %llu", &tid, component, &kind, &level, &value) != 5 ||
	    kind >= 512 || value <= rising->last[kind]) {
		rising->bad++;
		return;
	}
	rising->last[kind] = value;
	rising->count[kind]++;
}

static void check_policy(const char *config, uint64_t *out_common, uint64_t *out_own)
{
	static struct rising rising;
	uint64_t counts[2] = { 0, 0 };

	memset(&rising, 0, sizeof rising);
	scenario_begin(config);
	scenario_run(press_from_all_sides);
	assert_int_equal(shared->number[0], (1ull + OWN_EACH) * THREADS * EVENTS);
	assert_int_equal(scenario_lines("out/*.log", check_rising, &rising), shared->number[1]);
	assert_int_equal(rising.bad, 0);
	for (unsigned i = 1; i <= THREADS; i++) {
		counts[0] += rising.count[i];
		counts[1] += rising.count[100 + i];
	}
	assert_int_equal(counts[0] + counts[1], shared->number[1]);
	assert_int_equal(shared->number[0] - shared->number[1],
			 lost(CTRACE_LOSS_DISCARDED) + lost(CTRACE_LOSS_OVERWRITTEN) +
				 lost(CTRACE_LOSS_STALLED));
	*out_common = THREADS * EVENTS - counts[0];
	*out_own = OWN_EACH * THREADS * EVENTS - counts[1];
	memcpy(losses, shared->number + 2, sizeof losses);
	scenario_end();
}

#define SMALL "ctrace.buffer = 64K\n"

static void block_loses_nothing(void **state)
{
	uint64_t common;
	uint64_t own_lost;

	(void)state;
	check_policy(LINES_CONFIG SMALL "ctrace.block.timeout = 60s\n", &common, &own_lost);
	assert_int_equal(common + own_lost, 0);
	check_policy(LINES_CONFIG SMALL "ctrace.block.timeout = 60s\nctrace.overflow = block\n",
		     &common, &own_lost);
	assert_int_equal(common + own_lost, 0);
}

static void discard_counts_what_it_drops(void **state)
{
	uint64_t common;
	uint64_t own_lost;

	(void)state;
	check_policy(LINES_CONFIG SMALL "ctrace.overflow = discard\n", &common, &own_lost);
	assert_true(common > 0);
	assert_int_equal(losses[CTRACE_LOSS_OVERWRITTEN] + losses[CTRACE_LOSS_STALLED], 0);
}

static void overwrite_counts_what_it_drops(void **state)
{
	uint64_t common;
	uint64_t own_lost;

	(void)state;
	check_policy(LINES_CONFIG SMALL "ctrace.overflow = overwrite\n", &common, &own_lost);
	assert_true(common > 0);
	assert_int_equal(losses[CTRACE_LOSS_DISCARDED] + losses[CTRACE_LOSS_STALLED], 0);
}

/* A component's own policy and size, and those of what is below it, next to the process's. */
static void a_component_may_have_rings_of_its_own(void **state)
{
	uint64_t common;
	uint64_t own_lost;

	(void)state;
	check_policy(
		LINES_CONFIG SMALL
		"ctrace.overflow = discard\nctrace.block.timeout = 60s\nctrace.overflow.pressure.own = block\n"
		"ctrace.buffer.pressure.own = 256K\n",
		&common, &own_lost);
	assert_true(common > 0);
	assert_int_equal(own_lost, 0);
	check_policy(LINES_CONFIG SMALL
		     "ctrace.block.timeout = 60s\nctrace.overflow.pressure.own = overwrite\n",
		     &common, &own_lost);
	assert_int_equal(common, 0);
	assert_true(own_lost > 0);
	assert_int_equal(losses[CTRACE_LOSS_OVERWRITTEN], own_lost);
}

/* ---- the size of a ring ---- */

#define HELD_UP 900000u

static void *trace_many(void *unused)
{
	for (uint64_t i = 0; i < HELD_UP; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
	return unused;
}

/* Makes the output longer than the ring's file, so that a limit can forbid the one and allow the
 * other. */
static void lengthen_output(uint64_t bytes)
{
	static char text[10000];

	memset(text, 'x', sizeof text);
	for (uint64_t size = 0; size < bytes; size += sizeof text) {
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_TEXT(text, sizeof text));
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	}
}

static uint64_t trace_behind_a_held_up_consumer_thread(uint64_t ring_bytes)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	uint64_t file_bytes = ring_bytes + 8192;
	struct rlimit none;
	pthread_t thread;

	/* Nothing goes out: what the rings of a thread take is what they hold. */
	REQUIRE(getrlimit(RLIMIT_FSIZE, &none) == 0);
	lengthen_output(file_bytes + 10000);
	none.rlim_cur = file_bytes;
	REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
	REQUIRE(pthread_create(&thread, NULL, trace_many, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	ctrace_stats_get(&stats);
	none.rlim_cur = none.rlim_max;
	REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
	while (ctrace_flush(60000) != CTRACE_OK)
		(void)usleep(1000);
	return stats.pending;
}

static void fill_a_ring(void)
{
	(void)signal(SIGXFSZ, SIG_IGN);
	shared->number[20] = trace_behind_a_held_up_consumer_thread(shared->number[21]);
	note_statistics();
}

static void check_ring_size(const char *config, uint64_t bytes)
{
	const uint64_t event = 16; /* head, eight bytes */
	uint64_t before = 0;       /* the smaller rings that the thread may have filled */
	/* with the largest ring in stock it fills the first one only */
	uint64_t first = bytes > 32u << 10 ? 32u << 10 : 0;

	for (uint64_t smaller = 32u << 10; smaller < bytes; smaller *= 8)
		before += smaller;
	scenario_begin(config);
	shared->number[21] = bytes;
	scenario_run(fill_a_ring);
	assert_in_range(shared->number[20], (first + bytes - 2 * 4096) / event,
			(before + bytes) / event);
	assert_int_equal(lost(CTRACE_LOSS_DISCARDED), HELD_UP - shared->number[20]);
	scenario_end();
}

/* ---- a thousand threads that trace once */

#define MANY 1000u
#define MANY_MEBIBYTES 48u

static pthread_barrier_t has_traced, may_end;

static void *trace_once(void *unused)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(1));
	(void)pthread_barrier_wait(&has_traced);
	(void)pthread_barrier_wait(&may_end);
	return unused;
}

/* Of all rings, whose pages are memory where the run directory is. */
static uint64_t allocated_bytes(void)
{
	uint64_t sum = 0;
	glob_t found;

	REQUIRE(glob("run/*/ring.*", 0, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat info;

		REQUIRE(stat(found.gl_pathv[i], &info) == 0);
		sum += (uint64_t)info.st_blocks * 512;
	}
	globfree(&found);
	return sum;
}

static void trace_from_many_threads(void)
{
	static pthread_t threads[MANY];
	pthread_attr_t attributes;

	REQUIRE(pthread_barrier_init(&has_traced, NULL, MANY + 1) == 0 &&
		pthread_barrier_init(&may_end, NULL, MANY + 1) == 0);
	REQUIRE(pthread_attr_init(&attributes) == 0 &&
		pthread_attr_setstacksize(&attributes, (size_t)256 << 10) == 0);
	for (unsigned i = 0; i < MANY; i++)
		REQUIRE(pthread_create(&threads[i], &attributes, trace_once, NULL) == 0);
	(void)pthread_barrier_wait(&has_traced);
	shared->number[100] = allocated_bytes();
	(void)pthread_barrier_wait(&may_end);
	for (unsigned i = 0; i < MANY; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	note_statistics();
}

static void a_thousand_threads_take_little_memory(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_from_many_threads);
	assert_in_range(shared->number[100], MANY * (32u << 10), (uint64_t)MANY_MEBIBYTES << 20);
	assert_int_equal(shared->number[0], MANY);
	assert_int_equal(shared->number[1], MANY);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), MANY);
	scenario_end();
}

static void a_ring_has_the_size_that_was_set(void **state)
{
	(void)state;
	check_ring_size(LINES_CONFIG "ctrace.overflow = discard\nctrace.buffer = 64K\n", 64u << 10);
	check_ring_size(LINES_CONFIG "ctrace.overflow = discard\n", 1u << 20);
	check_ring_size(LINES_CONFIG "ctrace.overflow = discard\nctrace.buffer = 5M\n", 8u << 20);
	check_ring_size(LINES_CONFIG "ctrace.overflow = discard\nctrace.buffer = 1\n", 32u << 10);
}

/* ---- more threads than rings ---- */

#define CROWD 5000u

static pthread_barrier_t all_are_there;

static void *trace_in_the_crowd(void *argument)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64((uint64_t)(uintptr_t)argument));
	(void)pthread_barrier_wait(&all_are_there);
	CTRACE(&tracer, CTRACE_INFO, 2, CTRACE_U64((uint64_t)(uintptr_t)argument));
	return NULL;
}

static void crowd(void)
{
	static pthread_t threads[CROWD];
	pthread_attr_t attributes;

	REQUIRE(pthread_barrier_init(&all_are_there, NULL, CROWD + 1) == 0);
	REQUIRE(pthread_attr_init(&attributes) == 0 &&
		pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
	for (uintptr_t i = 0; i < CROWD; i++) {
		if (pthread_create(&threads[i], &attributes, trace_in_the_crowd, (void *)i) != 0)
			_exit(77); /* this machine lets us have no more threads */
	}
	(void)pthread_barrier_wait(&all_are_there);
	for (unsigned i = 0; i < CROWD; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	note_statistics();
}

static void threads_without_a_ring_are_counted(void **state)
{
	int status;

	(void)state;
	scenario_begin(LINES_CONFIG SMALL);
	status = scenario_wait(scenario_start(crowd));
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		scenario_end();
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(shared->number[0], 2 * CROWD);
	assert_int_equal(shared->number[1] + lost(CTRACE_LOSS_NO_RING), 2 * CROWD);
	assert_true(lost(CTRACE_LOSS_NO_RING) > 0);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), shared->number[1]);
	scenario_end();
}

/* ---- no memory ---- */

static void trace_in_little_memory(void)
{
	struct rlimit limit = { .rlim_cur = shared->number[30], .rlim_max = shared->number[30] };
	struct ctrace_stats stats;

	REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
	for (uint64_t i = 1; i <= 1000; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
	(void)!ctrace_level_set("pressure", CTRACE_DEBUG);
	(void)!ctrace_flush(1000);
	check_balance(&stats);
	shared->number[0] = stats.emitted;
	shared->number[1] = sum_lost(&stats);
}

static uint64_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	(void)fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* How many lost events the outputs tell of; the numbers of one process are totals, so its last line
 * counts. */
static uint64_t reported_losses(void)
{
	uint64_t sum = 0;
	FILE *pipe = popen(
		"cat out/*.log 2>/dev/null | grep '^# Lost' | tail -1 | grep -oE '[0-9]+ [a-z]' | cut -d' ' -f1",
		"r");
	unsigned long long number;

	assert_non_null(pipe);
	while (fscanf(pipe, "%llu", &number) == 1)
		sum += number;
	(void)pclose(pipe);
	return sum;
}

/* From what there is already to plenty, in small steps where the ring and what comes after it begin
 * to fit: it fails at every place of the way once. */
static void short_memory_stops_nothing_and_is_counted(void **state)
{
	bool traced = false;

	(void)state;
	if (IS_SANITIZED)
		skip();
	for (uint64_t more = 0; more < 512u << 20;
	     more += more < 256u << 20 || more > 272u << 20 ? 32u << 20 : 128u << 10) {
		unsigned lines;
		uint64_t reported;

		scenario_begin(LINES_CONFIG);
		shared->number[30] = address_space() + more;
		scenario_run(trace_in_little_memory);
		if (scenario_directories() > 0)
			assert_int_equal(run_tool("recover"), 0);
		lines = scenario_lines("out/*.log", NULL, NULL);
		reported = reported_losses();
		if (reported > shared->number[1])
			shared->number[1] = reported; /* at its end, for want of a file */
		assert_int_equal(shared->number[0], 1000);
		assert_int_equal(lines + shared->number[1], 1000);
		traced |= lines == 1000;
		scenario_end();
	}
	assert_true(traced);
}

/* ---- no file for a ring ---- */

static void trace_without_files(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	/* from here on it has a directory */
	REQUIRE(ctrace_level_set("pressure", CTRACE_DEBUG) == CTRACE_OK);
	REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = 1;
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (uint64_t i = 1; i <= 100; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
	REQUIRE(ctrace_flush(1000) == CTRACE_OUTPUT_ERROR);
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == 100 && stats.pending == 100);
}

/* The ring is the process's own memory, and the output takes nothing to the end: nobody can deliver
 * its events any more, but they are counted, and whoever recovers the directory tells of them in
 * the output. */
static void events_that_end_with_the_process_are_counted(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_without_files);
	assert_int_equal(scenario_directories(), 1);
	assert_int_equal(run_tool("recover"), 0);
	assert_int_equal(scenario_directories(), 0);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), 0);
	assert_int_equal(reported_losses(), 100);
	scenario_end();
}

/* ---- the flight recorder ---- */

#define FLIGHT_CONFIG \
	LINES_CONFIG \
	"mftrace.level.pressure = error\nctrace.flight.level.pressure.own = debug\nctrace.flight.buffer = 64K\n"

static void fly(void)
{
	for (uint64_t i = 1; i <= 1000; i++) {
		CTRACE(&tracer, CTRACE_WARN, 1, CTRACE_U64(i)); /* below its level, and not kept */
		CTRACE(&below, CTRACE_DEBUG, 2, CTRACE_U64(i));
	}
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(scenario_lines("out/*.log", NULL, NULL) == 0);
}

static void fly_and_fall(void)
{
	struct rlimit none = { 0, 0 };
	volatile int *unwritable;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGSEGV, SIG_DFL);
	(void)signal(SIGABRT, SIG_DFL);
	fly();
	if (shared->number[40] == SIGABRT)
		abort();
	unwritable = mmap(NULL, sizeof *unwritable, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(unwritable != MAP_FAILED);
	*unwritable = 1;
}

static void check_fall(const char *trigger, int number, unsigned expected)
{
	static struct scenario_sequence sequence;
	char config[600];
	int status;

	memset(&sequence, 0, sizeof sequence);
	(void)snprintf(config, sizeof config, "%sctrace.flight.trigger = %s\n", FLIGHT_CONFIG,
		       trigger);
	scenario_begin(config);
	shared->number[40] = (uint64_t)number;
	status = scenario_wait(scenario_start(fly_and_fall));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
	(void)run_tool("recover");
	assert_int_equal(scenario_lines("out/*.log", scenario_check_sequence, &sequence), expected);
	assert_int_equal(sequence.bad, 0);
	assert_int_equal(sequence.last[2], expected);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

static void the_history_before_a_fatal_signal_is_recovered(void **state)
{
	(void)state;
	check_fall("signal", SIGSEGV, 1000);
	check_fall("signal", SIGABRT, 1000);
	check_fall("off", SIGSEGV, 0);
	check_fall("fatal", SIGABRT, 0);
}

static void fly_until_another_component_fails(void)
{
	fly();
	CTRACE(&tracer, CTRACE_ERROR, 3, CTRACE_U64(1));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	CTRACE(&below, CTRACE_WARN, 2, CTRACE_U64(1001));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(scenario_lines("out/*.log", NULL, NULL) == 1001);
	CTRACE(&own, CTRACE_FATAL, 4, CTRACE_U64(1));
}

static void one_component_keeps_its_history_another_triggers_it(void **state)
{
	static struct scenario_sequence sequence;

	(void)state;
	scenario_begin(FLIGHT_CONFIG "ctrace.flight.trigger = error\n");
	scenario_run(fly_until_another_component_fails);
	assert_int_equal(scenario_lines("out/*.log", scenario_check_sequence, &sequence), 1003);
	assert_int_equal(sequence.bad, 0);
	assert_int_equal(sequence.last[2], 1001);
	assert_int_equal(sequence.last[3] + sequence.last[4], 2);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_loses_nothing),
		cmocka_unit_test(discard_counts_what_it_drops),
		cmocka_unit_test(overwrite_counts_what_it_drops),
		cmocka_unit_test(a_component_may_have_rings_of_its_own),
		cmocka_unit_test(a_ring_has_the_size_that_was_set),
		cmocka_unit_test(a_thousand_threads_take_little_memory),
		cmocka_unit_test(threads_without_a_ring_are_counted),
		cmocka_unit_test(short_memory_stops_nothing_and_is_counted),
		cmocka_unit_test(events_that_end_with_the_process_are_counted),
		cmocka_unit_test(the_history_before_a_fatal_signal_is_recovered),
		cmocka_unit_test(one_component_keeps_its_history_another_triggers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
