/*
 * test_route.c - routes: who has rings of its own, who shares, and the flight recorder's level.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ring/ring.h"

static uint32_t route(const char *name)
{
	return ct_gate_route(&ct_registry_entry(registry, add(name))->gate);
}

static enum ctrace_status buffer(const char *name, uint64_t bytes)
{
	return ct_route_set_buffer(registry, name, strlen(name), bytes);
}

static enum ctrace_status flight(const char *name, uint32_t level)
{
	return ct_route_set_flight(registry, name, strlen(name), level, note_change, NULL);
}

static void the_common_route_is_0(void **state)
{
	struct ct_route common = ct_route_at(registry, 0);

	(void)state;
	assert_int_equal(route("a.b"), 0);
	assert_int_equal(common.buffer, 0);
	assert_int_equal(common.overflow, CT_OVERFLOW_AUTO);
	assert_int_equal(common.flight_level, CTRACE_LEVEL_NONE);
}

static void settings_inherit_and_equal_ones_share(void **state)
{
	(void)state;
	add("a.b.c");
	assert_int_equal(buffer("a", 1 << 20), CTRACE_OK);
	assert_int_not_equal(route("a"), 0);
	assert_int_equal(route("a.b"), route("a"));
	assert_int_equal(route("a.b.c"), route("a"));
	assert_int_equal(route("a.late"), route("a"));
	assert_int_equal(route("b"), 0);
	assert_int_equal(buffer("z", 1 << 20), CTRACE_OK);
	assert_int_equal(route("z"), route("a"));
	assert_int_equal(ct_route_set_overflow(registry, "a.b", 3, CT_OVERFLOW_DISCARD), CTRACE_OK);
	assert_int_not_equal(route("a.b"), route("a"));
	assert_int_equal(route("a.b.c"), route("a.b"));
	assert_int_equal(ct_route_at(registry, route("a.b.c")).buffer, 1 << 20);
	assert_int_equal(ct_route_at(registry, route("a.b.c")).overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(buffer("a", 1 << 21), CTRACE_OK);
	assert_int_equal(ct_route_at(registry, route("a.b.c")).buffer, 1 << 21);
	assert_int_equal(ct_route_at(registry, route("a.b.c")).overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(ct_route_at(registry, route("z")).buffer, 1 << 20);
}

static void the_flight_recorder_lowers_the_gate_only(void **state)
{
	uint32_t index = add("f.g");

	(void)state;
	set_level("f", CTRACE_ERROR);
	changes.count = 0;
	assert_int_equal(flight("f", CTRACE_DEBUG), CTRACE_OK);
	assert_int_equal(gate_level(index), CTRACE_DEBUG);
	assert_int_equal(ct_route_output_level(registry, index), CTRACE_ERROR);
	assert_int_not_equal(ct_gate_route(&ct_registry_entry(registry, index)->gate), 0);
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.levels[0], CTRACE_DEBUG);
	set_level("f.g", CTRACE_WARN); /* still recorded from DEBUG on */
	assert_int_equal(changes.count, 1);
	assert_int_equal(gate_level(index), CTRACE_DEBUG);
	assert_int_equal(ct_route_output_level(registry, index), CTRACE_WARN);
	assert_int_equal(flight("f", CTRACE_LEVEL_NONE), CTRACE_OK);
	assert_int_equal(gate_level(index), CTRACE_WARN);
	assert_int_equal(ct_gate_route(&ct_registry_entry(registry, index)->gate), 0);
	assert_int_equal(changes.count, 2);
	assert_int_equal(flight("f", CTRACE_FATAL), CTRACE_OK);
	assert_int_equal(gate_level(index), CTRACE_WARN); /* never raises it */
	assert_int_equal(flight("f", 7), CTRACE_INVALID_TRACE_LEVEL);
}

/*
 * Steps a child through a command.  After each instruction a thread that sees a level below `output`
 * must see the recorder's route, or the event reaches the destinations.
 */
static unsigned step_through(const struct ctrace_gate *gate, uint32_t level, uint32_t output)
{
	unsigned steps = 0, lowered = 0;
	int how;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
			_exit(1);
		_exit(flight("f", level) == CTRACE_OK ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &how, 0), pid);
	while (WIFSTOPPED(how)) {
		struct ctrace_gate seen = { 0 };
		struct iovec to = { &seen, sizeof seen }, from = { (void *)(uintptr_t)gate, sizeof seen };

		assert_int_equal(process_vm_readv(pid, &to, 1, &from, 1, 0), sizeof seen);
		if (seen.level < output && seen.lane == 0)
			fail_msg("after %u steps level %u has route 0", steps, (unsigned)seen.level);
		lowered += seen.level < output;
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &how, 0), pid);
		steps++;
	}
	assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	assert_in_range(lowered, 1, steps - 1);
	return steps;
}

static void what_only_the_recorder_wants_has_its_route_at_each_step(void **state)
{
	const struct ctrace_gate *gate = &ct_registry_entry(registry, add("f.g"))->gate;

	(void)state;
	set_level("f", CTRACE_ERROR);
	assert_true(step_through(gate, CTRACE_DEBUG, CTRACE_ERROR) > 100);
	assert_int_equal(flight("f", CTRACE_DEBUG), CTRACE_OK);
	assert_true(step_through(gate, CTRACE_LEVEL_NONE, CTRACE_ERROR) > 100);
}

static void past_the_last_route_settings_are_refused(void **state)
{
	char name[16];
	uint32_t before;

	(void)state;
	for (unsigned i = 1; i < CT_ROUTE_LIMIT; i++) {
		snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(buffer(name, 65536 + i), CTRACE_OK);
		assert_int_equal(route(name), i);
	}
	add("tree.one");
	add("tree.two");
	assert_int_equal(buffer("tree.one", 65536 + 1), CTRACE_OK); /* shares */
	before = route("tree.one");
	assert_int_equal(buffer("tree", 65536 + 2), CTRACE_OK);
	assert_int_equal(ct_route_set_overflow(registry, "tree", 4, CT_OVERFLOW_DISCARD), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(route("tree.one"), before);
	assert_int_equal(route("tree.two"), route("c2"));
	assert_int_equal(route("tree"), route("c2"));
	assert_int_equal(ct_registry_configured(registry, add("tree")).overflow, CT_OVERFLOW_UNSET);
	assert_int_equal(buffer("tree", 65536 + 3), CTRACE_OK);
	assert_int_equal(route("tree.two"), route("c3"));
	assert_int_equal(route("tree.one"), before);
	assert_int_equal(route("tree.three"), route("c3"));
}

static void a_refused_change_of_a_subtree_leaves_no_half(void **state)
{
	char name[16];

	(void)state;
	add("s.a");
	add("s.b");
	assert_int_equal(buffer("s.a", 1), CTRACE_OK);
	assert_int_equal(buffer("s.b", 2), CTRACE_OK);
	for (unsigned i = 3; i < CT_ROUTE_LIMIT - 1; i++) { /* one left */
		snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(buffer(name, i), CTRACE_OK);
	}
	assert_int_equal(ct_route_set_overflow(registry, "s", 1, CT_OVERFLOW_BLOCK), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(route("s"), 0);
	assert_int_equal(route("s.a"), 1);
	assert_int_equal(route("s.b"), 2);
	assert_int_equal(route("s.late"), 0);
	assert_int_equal(buffer("last", 4711), CTRACE_OK); /* the one is still there */
	assert_int_equal(route("last"), CT_ROUTE_LIMIT - 1);
}

static void names_are_checked(void **state)
{
	(void)state;
	assert_int_equal(buffer("", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(buffer("a.", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(flight("", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_route_at(registry, 4711).buffer, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(the_common_route_is_0),
		EACH(settings_inherit_and_equal_ones_share),
		EACH(the_flight_recorder_lowers_the_gate_only),
		EACH(what_only_the_recorder_wants_has_its_route_at_each_step),
		EACH(past_the_last_route_settings_are_refused),
		EACH(a_refused_change_of_a_subtree_leaves_no_half),
		EACH(names_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
