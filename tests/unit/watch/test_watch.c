/*
 * test_watch.c - the thread that follows the rings: what it matches, counts and does, and its end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/watch/watch.h"

static struct ctrace_tracer watched = CTRACE_TRACER("WATCHED");

static void begin(const char *more)
{
	char text[600];
	int size = snprintf(text, sizeof text, "mftrace.level = debug\nmftrace.dest = storage\n%s",
			    more);

	configure("");
	put_file("config", text, (size_t)size);
}

static void trace(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(&watched, CTRACE_INFO, 7, CTRACE_U32(i));
}

static struct ct_trigger_state state_of(uint32_t index)
{
	struct ct_trigger_state found = { .matches = UINT64_MAX };
	uint64_t missed;

	if (!ct_trigger_state_at(index, &found, &missed))
		found.matches = UINT64_MAX;
	CHILD_CHECK(missed == 0);
	return found;
}

static void await(uint32_t index, uint64_t matches)
{
	const struct timespec pause = { 0, 1000000 };

	while (state_of(index).matches != matches)
		(void)nanosleep(&pause, NULL);
}

static void body_counts(void)
{
	trace(10);
	await(0, 4);
	CHILD_CHECK(state_of(0).acts == 0);
	trace(9);
	await(0, 8);
	ct_trigger_stop(UINT64_MAX / 2);
	CHILD_CHECK(state_of(0).acts == 1);
	CHILD_CHECK(strcmp(state_of(0).report, "message") == 0);
	CHILD_CHECK(!state_of(0).has_failed);
	trace(10);
	ct_trigger_stop(0); /* there is no thread */
	CHILD_CHECK(state_of(0).matches == 8);
	/* The same text keeps its counts; another thread begins. */
	ct_trigger_update();
	CHILD_CHECK(state_of(0).matches == 8);
	trace(10);
	await(0, 12);
	ct_trigger_begin_anew((struct ct_span){ "t", 1 });
	CHILD_CHECK(state_of(0).matches == 12 && !state_of(0).is_used_up);
	CHILD_CHECK(ctrace_configure("ctrace.trigger.T = off") == CTRACE_OK);
	CHILD_CHECK(state_of(0).matches == UINT64_MAX);
}

static void it_counts(void **state)
{
	(void)state;
	begin("ctrace.trigger.T = when data1 in (3..6) count 5 do wto\n");
	assert_int_equal(run_traced(body_counts), 0);
}

static void body_acts(void)
{
	struct ct_trigger_fired fired = {
		.name = "T", .action_count = 2, .component = "WATCHED", .event_id = 7
	};
	uint32_t level = 0;
	char report[256];

	trace(1);
	fired.action[0] = (struct ct_trigger_action){ .act = CT_TRIGGER_LEVEL_FOR,
						      .level = CTRACE_ERROR,
						      .ns = UINT64_MAX / 4 };
	fired.action[1] = (struct ct_trigger_action){ .act = CT_TRIGGER_RUN, .text = "/bin/true" };
	CHILD_CHECK(!ct_trigger_act(&fired, report));
	CHILD_CHECK(strstr(report, "ctrace.run.programs") != NULL);
	CHILD_CHECK(ctrace_level_get("WATCHED", &level) == CTRACE_OK && level == CTRACE_ERROR);
	ct_trigger_set_back(false);
	CHILD_CHECK(ct_trigger_has_levels());
	ct_trigger_set_back(true);
	CHILD_CHECK(!ct_trigger_has_levels());
	CHILD_CHECK(ctrace_level_get("WATCHED", &level) == CTRACE_OK && level == CTRACE_DEBUG);
	fired.action_count = 1;
	CHILD_CHECK(ct_trigger_act(&fired, report));
	ct_trigger_forget_levels();
	CHILD_CHECK(!ct_trigger_has_levels());
	ct_trigger_lock();
	ct_trigger_unlock();
	ct_trigger_forked();
}

static void it_acts(void **state)
{
	(void)state;
	begin("");
	assert_int_equal(run_traced(body_acts), 0);
}

static void it_runs_programs(void **state)
{
	char *const good[] = { (char[]){ "true" }, NULL };

	(void)state;
	assert_int_equal(ct_trigger_run("/bin/true", good), 0);
	assert_int_equal(ct_trigger_run("/does/not/exist", good), ENOENT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static bool pair(struct ct_watch_spans *spans, uint64_t key, uint64_t ticks, bool is_end,
		 uint64_t *out_ticks)
{
	const struct ct_watch_mark mark = { .key = key, .ticks = ticks, .is_end = is_end };
	struct ct_watch_mark other = { .ticks = 0 };
	bool has = ct_watch_spans_pair(spans, &mark, &other);

	*out_ticks = other.ticks;
	return has;
}

static void it_pairs_spans(void **state)
{
	struct ct_watch_spans *spans = ct_watch_spans_create();
	uint64_t other;

	(void)state;
	assert_non_null(spans);
	assert_false(pair(spans, 7, 10, false, &other));
	assert_false(pair(spans, 7, 20, false, &other));
	assert_false(pair(spans, 7 + 1024, 25, true, &other)); /* another key of that bucket */
	assert_true(pair(spans, 7, 30, true, &other) && other == 20);
	assert_true(pair(spans, 7, 40, true, &other) && other == 10);
	/* The end is in a ring that is looked at before that of its beginning. */
	assert_false(pair(spans, 9, 50, true, &other));
	assert_false(pair(spans, 9, 60, false, &other)); /* begins later */
	assert_true(pair(spans, 9, 45, false, &other) && other == 50);
	ct_watch_spans_clear(spans);
	assert_false(pair(spans, 9, 70, true, &other));
	/* The oldest are forgotten. */
	ct_watch_spans_clear(spans);
	for (uint64_t i = 0; i < CT_WATCH_SPANS + 10; i++)
		assert_false(pair(spans, i * 3, i, false, &other));
	assert_false(pair(spans, 9 * 3, 5000, true, &other));
	assert_true(pair(spans, 20 * 3, 5000, true, &other) && other == 20);
	free(spans);
	ct_watch_spans_clear(NULL);
}

int test_watch(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_counts, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(it_acts, fixture_setup, fixture_teardown),
		cmocka_unit_test(it_runs_programs),
		cmocka_unit_test(it_pairs_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
