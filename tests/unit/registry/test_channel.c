/*
 * test_channel.c - channels: who has rings of its own, who shares, and the flight recorder's level.
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

static uint32_t channel(const char *name)
{
	return ct_level_word_channel(&ct_registry_entry(registry, add(name))->level_word);
}

static enum ctrace_status buffer(const char *name, uint64_t bytes)
{
	return ct_channel_set_buffer(registry, name, strlen(name), bytes);
}

static enum ctrace_status flight(const char *name, uint32_t level)
{
	return ct_channel_set_flight(registry, name, strlen(name), level, note_change, NULL);
}

static void the_common_channel_is_0(void **state)
{
	struct ct_channel common = ct_channel_at(registry, 0);

	(void)state;
	assert_int_equal(channel("a.b"), 0);
	assert_int_equal(common.buffer, 0);
	assert_int_equal(common.overflow, CT_OVERFLOW_AUTO);
	assert_int_equal(common.flight_level, CTRACE_LEVEL_NONE);
}

static void settings_inherit_and_equal_ones_share(void **state)
{
	(void)state;
	add("a.b.c");
	assert_int_equal(buffer("a", 1 << 20), CTRACE_OK);
	assert_int_not_equal(channel("a"), 0);
	assert_int_equal(channel("a.b"), channel("a"));
	assert_int_equal(channel("a.b.c"), channel("a"));
	assert_int_equal(channel("a.late"), channel("a"));
	assert_int_equal(channel("b"), 0);
	assert_int_equal(buffer("z", 1 << 20), CTRACE_OK);
	assert_int_equal(channel("z"), channel("a"));
	assert_int_equal(ct_channel_set_overflow(registry, "a.b", 3, CT_OVERFLOW_DISCARD),
			 CTRACE_OK);
	assert_int_not_equal(channel("a.b"), channel("a"));
	assert_int_equal(channel("a.b.c"), channel("a.b"));
	assert_int_equal(ct_channel_at(registry, channel("a.b.c")).buffer, 1 << 20);
	assert_int_equal(ct_channel_at(registry, channel("a.b.c")).overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(buffer("a", 1 << 21), CTRACE_OK);
	assert_int_equal(ct_channel_at(registry, channel("a.b.c")).buffer, 1 << 21);
	assert_int_equal(ct_channel_at(registry, channel("a.b.c")).overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(ct_channel_at(registry, channel("z")).buffer, 1 << 20);
}

static void the_flight_recorder_lowers_the_level_word_only(void **state)
{
	uint32_t index = add("f.g");

	(void)state;
	set_level("f", CTRACE_ERROR);
	changes.count = 0;
	assert_int_equal(flight("f", CTRACE_DEBUG), CTRACE_OK);
	assert_int_equal(level_word_level(index), CTRACE_DEBUG);
	assert_int_equal(ct_channel_output_level(registry, index), CTRACE_ERROR);
	assert_int_not_equal(ct_level_word_channel(&ct_registry_entry(registry, index)->level_word),
			     0);
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.levels[0], CTRACE_DEBUG);
	set_level("f.g", CTRACE_WARN); /* still recorded from DEBUG on */
	assert_int_equal(changes.count, 1);
	assert_int_equal(level_word_level(index), CTRACE_DEBUG);
	assert_int_equal(ct_channel_output_level(registry, index), CTRACE_WARN);
	assert_int_equal(flight("f", CTRACE_LEVEL_NONE), CTRACE_OK);
	assert_int_equal(level_word_level(index), CTRACE_WARN);
	assert_int_equal(ct_level_word_channel(&ct_registry_entry(registry, index)->level_word), 0);
	assert_int_equal(changes.count, 2);
	assert_int_equal(flight("f", CTRACE_FATAL), CTRACE_OK);
	assert_int_equal(level_word_level(index), CTRACE_WARN); /* never raises it */
	assert_int_equal(flight("f", 7), CTRACE_INVALID_TRACE_LEVEL);
}

/*
 * Steps a child through a command.  After each instruction a thread that sees a level below
 * `output` must see the recorder's channel, or the event reaches the destinations.
 */
static unsigned step_through(const struct ctrace_level_word *level_word, uint32_t level,
			     uint32_t output)
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
		struct ctrace_level_word seen = { 0 };
		struct iovec to = { &seen, sizeof seen },
			     from = { (void *)(uintptr_t)level_word, sizeof seen };

		assert_int_equal(process_vm_readv(pid, &to, 1, &from, 1, 0), sizeof seen);
		if (seen.level < output && seen.thread_buffer == 0)
			fail_msg("after %u steps level %u has channel 0", steps,
				 (unsigned)seen.level);
		lowered += seen.level < output;
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &how, 0), pid);
		steps++;
	}
	assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	assert_in_range(lowered, 1, steps - 1);
	return steps;
}

static void what_only_the_recorder_wants_has_its_channel_at_each_step(void **state)
{
	const struct ctrace_level_word *level_word =
		&ct_registry_entry(registry, add("f.g"))->level_word;

	(void)state;
	set_level("f", CTRACE_ERROR);
	assert_true(step_through(level_word, CTRACE_DEBUG, CTRACE_ERROR) > 100);
	assert_int_equal(flight("f", CTRACE_DEBUG), CTRACE_OK);
	assert_true(step_through(level_word, CTRACE_LEVEL_NONE, CTRACE_ERROR) > 100);
}

static void past_the_last_channel_settings_are_refused(void **state)
{
	char name[16];
	uint32_t before;

	(void)state;
	for (unsigned i = 1; i < CT_CHANNEL_LIMIT; i++) {
		snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(buffer(name, 65536 + i), CTRACE_OK);
		assert_int_equal(channel(name), i);
	}
	add("tree.one");
	add("tree.two");
	assert_int_equal(buffer("tree.one", 65536 + 1), CTRACE_OK); /* shares */
	before = channel("tree.one");
	assert_int_equal(buffer("tree", 65536 + 2), CTRACE_OK);
	assert_int_equal(ct_channel_set_overflow(registry, "tree", 4, CT_OVERFLOW_DISCARD),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(channel("tree.one"), before);
	assert_int_equal(channel("tree.two"), channel("c2"));
	assert_int_equal(channel("tree"), channel("c2"));
	assert_int_equal(ct_registry_configured(registry, add("tree")).overflow, CT_OVERFLOW_UNSET);
	assert_int_equal(buffer("tree", 65536 + 3), CTRACE_OK);
	assert_int_equal(channel("tree.two"), channel("c3"));
	assert_int_equal(channel("tree.one"), before);
	assert_int_equal(channel("tree.three"), channel("c3"));
}

static void a_refused_change_of_a_subtree_leaves_no_half(void **state)
{
	char name[16];

	(void)state;
	add("s.a");
	add("s.b");
	assert_int_equal(buffer("s.a", 1), CTRACE_OK);
	assert_int_equal(buffer("s.b", 2), CTRACE_OK);
	for (unsigned i = 3; i < CT_CHANNEL_LIMIT - 1; i++) { /* one left */
		snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(buffer(name, i), CTRACE_OK);
	}
	assert_int_equal(ct_channel_set_overflow(registry, "s", 1, CT_OVERFLOW_BLOCK),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(channel("s"), 0);
	assert_int_equal(channel("s.a"), 1);
	assert_int_equal(channel("s.b"), 2);
	assert_int_equal(channel("s.late"), 0);
	assert_int_equal(buffer("last", 4711), CTRACE_OK); /* the one is still there */
	assert_int_equal(channel("last"), CT_CHANNEL_LIMIT - 1);
}

static void names_are_checked(void **state)
{
	(void)state;
	assert_int_equal(buffer("", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(buffer("a.", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(flight("", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_channel_at(registry, 4711).buffer, 0);
}

int test_channel(void)
{
	const struct CMUnitTest tests[] = {
		EACH(the_common_channel_is_0),
		EACH(settings_inherit_and_equal_ones_share),
		EACH(the_flight_recorder_lowers_the_level_word_only),
		EACH(what_only_the_recorder_wants_has_its_channel_at_each_step),
		EACH(past_the_last_channel_settings_are_refused),
		EACH(a_refused_change_of_a_subtree_leaves_no_half),
		EACH(names_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
