/*
 * test_clock_step.c - somebody sets the wall clock while a program traces: dates before and after
 * it are right, and it is noted once.
 *
 * The clock that is set is this program's own: clock_gettime() below, which the library calls too,
 * adds what the test wants to CLOCK_REALTIME.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#define HOUR 3600000000000ll
#define MS 1000000ll
#define THREADS 2u
#define EVENTS 50u /* of a thread in a phase */
#define PHASES 4u
/* the most that another viewer's times are off when nobody sets the clock */
#define VIEWER_NS 20000

static int64_t shift_ns; /* of this process's wall clock */

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out)
{
	int result = (int)syscall(SYS_clock_gettime, clock, out);

	if (clock == CLOCK_REALTIME)
		out->tv_sec += __atomic_load_n(&shift_ns, __ATOMIC_SEQ_CST) / 1000000000;
	return result;
}

static int64_t wall_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* The wall clock before and after each event, and by how much it was shifted: number[0] is for the
 * test. */
struct time_bound {
	int64_t before, after, shift;
};
static struct time_bound (*moments)[PHASES * EVENTS]; /* [THREADS] */

static struct ctrace_tracer tracer = CTRACE_TRACER("clock");
static pthread_barrier_t barrier;
static int64_t steps[PHASES]; /* before each phase */

static void trace_phase(unsigned thread, unsigned phase)
{
	for (unsigned i = phase * EVENTS; i < (phase + 1) * EVENTS; i++) {
		struct time_bound *time_bound = &moments[thread][i];

		time_bound->shift = shift_ns;
		time_bound->before = wall_ns();
		CTRACE(&tracer, CTRACE_FATAL, thread + 1, CTRACE_U64(i + 1));
		time_bound->after = wall_ns();
	}
}

static void *trace_beside(void *argument)
{
	for (unsigned phase = 0; phase < PHASES; phase++) {
		(void)pthread_barrier_wait(&barrier);
		trace_phase(1, phase);
		(void)pthread_barrier_wait(&barrier);
	}
	return argument;
}

/* Everything that was traced is in the output before the clock is set, so the consumer thread has
 * read the clock in between. */
static void trace_over_steps(void)
{
	pthread_t thread;

	REQUIRE(freopen("stderr.txt", "w", stderr) != NULL);
	REQUIRE(pthread_barrier_init(&barrier, NULL, 2) == 0);
	REQUIRE(pthread_create(&thread, NULL, trace_beside, NULL) == 0);
	for (unsigned phase = 0; phase < PHASES; phase++) {
		__atomic_add_fetch(&shift_ns, steps[phase], __ATOMIC_SEQ_CST);
		(void)pthread_barrier_wait(&barrier);
		trace_phase(0, phase);
		(void)pthread_barrier_wait(&barrier);
		REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	}
	REQUIRE(pthread_join(thread, NULL) == 0);
}

/* ---- what the outputs say ---- */

static unsigned count_lines(const char *file, const char *text)
{
	char command[300];
	FILE *pipe;
	unsigned count = 0;

	(void)snprintf(command, sizeof command, "grep -c '%s' %s", text, file);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	(void)pclose(pipe);
	return count;
}

static struct {
	unsigned last[THREADS];
	int64_t ahead[PHASES]; /* what times are ahead of the clock by */
	int64_t slack;         /* a text has whole milliseconds */
	unsigned bad_order, bad_date;
} check;

/* By ctrace show: number[0] is for the test. */
static int64_t shown_ns[THREADS][PHASES * EVENTS];

static void check_order(unsigned thread, unsigned number)
{
	assert_in_range(thread, 1, THREADS);
	assert_in_range(number, 1, PHASES * EVENTS);
	check.bad_order += number != check.last[thread - 1] + 1;
	check.last[thread - 1] = number;
}

static void check_event(unsigned thread, unsigned number, int64_t time_ns)
{
	const struct time_bound *time_bound;

	check_order(thread, number);
	time_bound = &moments[thread - 1][number - 1];
	time_ns -= check.ahead[(number - 1) / EVENTS];
	if (time_ns >= time_bound->before - MS - check.slack && time_ns <= time_bound->after + MS)
		return;
	if (check.bad_date++ == 0)
		print_message("event %u of thread %u is off by %" PRId64 " ns\n", number, thread,
			      time_ns - time_bound->before);
}

/* "2026/11/22 15:12:27.993 1 17" */
static void check_text_line(const char *line, void *user)
{
	struct tm date = { 0 };
	unsigned ms, thread, number;

	(void)user;
	assert_int_equal(sscanf(line, "%d/%d/%d %d:%d:%d.%u %u %u", &date.tm_year, &date.tm_mon,
				&date.tm_mday, &date.tm_hour, &date.tm_min, &date.tm_sec, &ms,
				&thread, &number),
			 9);
	date.tm_year -= 1900;
	date.tm_mon--;
	check_event(thread, number, timegm(&date) * 1000000000ll + ms * MS);
}

/* {..."time_ns":1795360347993000000,..."event":1,..."value":17,... */
static void check_json_line(const char *line, void *user)
{
	const char *time = strstr(line, "\"time_ns\":"), *event = strstr(line, "\"event\":"),
		   *item = strstr(line, "\"value\":");
	unsigned thread, number;
	int64_t time_ns;

	(void)user;
	assert_true(time != NULL && event != NULL && item != NULL);
	thread = (unsigned)atoi(event + strlen("\"event\":"));
	number = (unsigned)atoi(item + strlen("\"value\":"));
	time_ns = atoll(time + strlen("\"time_ns\":"));
	check_event(thread, number, time_ns);
	shown_ns[thread - 1][number - 1] = time_ns;
}

/* Other viewers know one clock for all of a trace: where it was set, their times are off by as
 * much. [1795360347.993000000] ... clock:1: { ... }, { data1 = 17 } */
static void check_viewer_line(const char *line, void *user)
{
	const char *event = strstr(line, "clock:"), *item = strstr(line, "data1 = ");
	long long seconds, ns, off;
	unsigned thread, number;

	assert_int_equal(sscanf(line, "[%lld.%lld]", &seconds, &ns), 2);
	assert_true(event != NULL && item != NULL);
	thread = (unsigned)atoi(event + strlen("clock:"));
	number = (unsigned)atoi(item + strlen("data1 = "));
	check_order(thread, number);
	off = seconds * 1000000000ll + ns - shown_ns[thread - 1][number - 1];
	if (user == NULL || llabs(off) <= VIEWER_NS)
		return;
	if (check.bad_date++ == 0)
		print_message("event %u of thread %u is off by %lld ns in babeltrace2\n", number,
			      thread, off);
}

static void check_output(const char *file, int64_t slack,
			 void (*each)(const char *line, void *user), void *user)
{
	memset(check.last, 0, sizeof check.last);
	check.slack = slack;
	check.bad_order = check.bad_date = 0;
	assert_int_equal(scenario_lines(file, each, user), THREADS * PHASES * EVENTS);
	assert_int_equal(check.bad_order, 0);
	assert_int_equal(check.bad_date, 0);
}

static void trace_with(const char *emitters, const int64_t by[PHASES])
{
	char config[1000];

	(void)snprintf(
		config, sizeof config,
		"mftrace.level = debug\nmftrace.dest = %s\nctrace.block.timeout = 60s\n"
		"mftrace.emitter.textfile#file = out.log\nmftrace.emitter.binfile#file = out.ctb\n"
		"mftrace.emitter.textfile#format = $(DATE) $(TIME) $(EVENT)$(DATA)\n"
		"mftrace.emitter.stderr#format = $(DATE) $(TIME) $(EVENT)$(DATA)\n",
		emitters);
	scenario_begin(config);
	moments = mmap(NULL, THREADS * sizeof *moments, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(moments != MAP_FAILED);
	memcpy(steps, by, sizeof steps);
	scenario_run(trace_over_steps);
	memset(check.ahead, 0, sizeof check.ahead);
	check_output("out.log", MS, check_text_line, NULL);
	check_output("stderr.txt", MS, check_text_line, NULL);
}

static void end(void)
{
	(void)munmap(moments, THREADS * sizeof *moments);
	scenario_end();
}

static const int64_t none[PHASES], forward[PHASES] = { 0, 0, HOUR, 0 },
				   back[PHASES] = { 0, 0, -HOUR, 0 },
				   both[PHASES] = { 0, -HOUR, HOUR, 2 * HOUR };
#define ALL "textfile, binfile, stderr"

/* What ctrace show and babeltrace2 read in the trace. */
static void check_trace(bool is_stepped)
{
	bool has_times = true;

	assert_int_equal(run_tool("show --json out.ctb"), 0);
	check_output("tool.out", 0, check_json_line, NULL);
	assert_int_equal(
		system("babeltrace2 --clock-seconds out.ctb >bt.txt 2>bt.err && test ! -s bt.err"),
		0);
	check_output("bt.txt", 0, check_viewer_line, is_stepped ? NULL : &has_times);
	assert_int_equal(run_tool("show out.ctb"), 0);
}

static void a_clock_that_nobody_sets_is_not_noted(void **state)
{
	(void)state;
	trace_with(ALL, none);
	assert_int_equal(count_lines("out.log", "Clock set"), 0);
	check_trace(false);
	assert_int_equal(count_lines("tool.err", "the clock"), 0);
	end();
}

static void an_hour_forward_is_noted_once_and_moves_no_event(void **state)
{
	(void)state;
	trace_with(ALL, forward);
	assert_int_equal(
		count_lines(
			"out.log",
			"^# Clock set forward by \\(3600\\.000\\|3599\\.999\\)[0-9]* s at 20.*(process [0-9]*)$"),
		1);
	assert_int_equal(count_lines("out.log", "Clock set"), 1);
	assert_int_equal(count_lines("stderr.txt", "Clock set"), 1);
	check_trace(true);
	assert_int_equal(count_lines("tool.err",
				     "the clock was set forward by \\(3600\\.000\\|3599\\.999\\)"),
			 1);
	assert_int_equal(count_lines("tool.err", "ahead"), 0);
	end();
}

/* A binary trace must not go back: it goes on at its usual speed, and says by how much it is ahead.
 */
static void an_hour_back_is_noted_once_and_moves_no_event(void **state)
{
	(void)state;
	trace_with(ALL, back);
	assert_int_equal(
		count_lines("out.log", "^# Clock set back by \\(3600\\.000\\|3599\\.999\\)"), 1);
	assert_int_equal(count_lines("out.log", "Clock set"), 1);
	assert_int_equal(count_lines("stderr.txt", "Clock set"), 1);
	check.ahead[2] = check.ahead[3] = HOUR;
	check_trace(true);
	assert_int_equal(count_lines("tool.err", "the clock was set back by .* are ahead of it by"),
			 1);
	assert_int_equal(count_lines("tool.out", "clock"), THREADS * PHASES * EVENTS);
	end();
}

/* Back, forward to where it was, and forward from there: the binary trace has caught up by then. */
static void each_of_three_steps_is_noted(void **state)
{
	(void)state;
	trace_with(ALL, both);
	assert_int_equal(count_lines("out.log", "Clock set"), 3);
	assert_int_equal(count_lines("stderr.txt", "Clock set"), 3);
	check.ahead[1] = HOUR;
	check_trace(true);
	assert_int_equal(count_lines("tool.err", "the clock was set"), 3);
	assert_int_equal(count_lines("tool.err", "ahead"), 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_nobody_sets_is_not_noted),
		cmocka_unit_test(an_hour_forward_is_noted_once_and_moves_no_event),
		cmocka_unit_test(an_hour_back_is_noted_once_and_moves_no_event),
		cmocka_unit_test(each_of_three_steps_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
