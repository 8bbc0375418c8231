/*
 * test_level.c - thresholds: inheritance, what changes tell, and closing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include "lib/registry/tree.h"

static void nothing_is_traced_at_first(void **state)
{
	(void)state;
	assert_int_equal(ct_level_default(registry), CTRACE_LEVEL_NONE);
	assert_int_equal(level_word_level(add("a.b")), CTRACE_LEVEL_NONE);
}

static void children_inherit(void **state)
{
	uint32_t rts = add("MF.RTS");
	uint32_t err = add("MF.RTS.ERR");
	uint32_t mem = add("MF.RTS.MEM");
	uint32_t other = add("MF.RTSX");

	(void)state;
	set_level("mf.rts", CTRACE_WARN);
	assert_int_equal(level_word_level(rts), CTRACE_WARN);
	assert_int_equal(level_word_level(err), CTRACE_WARN);
	assert_int_equal(level_word_level(mem), CTRACE_WARN);
	assert_int_equal(level_word_level(other), CTRACE_LEVEL_NONE);
	assert_int_equal(changes.count, 3);
	assert_int_equal(level_word_level(add("MF.RTS.LATER.ON")), CTRACE_WARN);
}

static void own_levels_stand(void **state)
{
	uint32_t top = add("t");
	uint32_t own = add("t.own");
	uint32_t below = add("t.own.below");

	(void)state;
	set_level("t.own", CTRACE_DEBUG);
	set_level(NULL, CTRACE_ERROR);
	assert_int_equal(level_word_level(top), CTRACE_ERROR);
	assert_int_equal(level_word_level(own), CTRACE_DEBUG);
	assert_int_equal(level_word_level(below), CTRACE_DEBUG);
	set_level("t", CTRACE_LEVEL_NONE);
	assert_int_equal(level_word_level(top), CTRACE_LEVEL_NONE);
	assert_int_equal(level_word_level(below), CTRACE_DEBUG);
	set_level("t.own", CT_LEVEL_UNSET);
	assert_int_equal(level_word_level(below), CTRACE_LEVEL_NONE);
	set_level("t", CT_LEVEL_UNSET);
	assert_int_equal(level_word_level(below), CTRACE_ERROR);
	set_level(NULL, CT_LEVEL_UNSET);
	assert_int_equal(level_word_level(below), CTRACE_LEVEL_NONE);
}

static void only_registered_changes_are_reported(void **state)
{
	uint32_t leaf = add("x.y.z"); /* x and x.y are not registered */

	(void)state;
	set_level(NULL, CTRACE_INFO);
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.last.kind, CT_CHANGE_LEVEL);
	assert_int_equal(changes.components[0], leaf);
	assert_int_equal(changes.levels[0], CTRACE_INFO);
	set_level(NULL, CTRACE_INFO);
	set_level("x", CTRACE_INFO);
	assert_int_equal(changes.count, 1); /* nothing is different */
	set_level("x.y.z", CTRACE_FATAL);
	assert_int_equal(changes.count, 2);
	set_level(NULL, CTRACE_DEBUG);
	set_level("x", CTRACE_ERROR);
	assert_int_equal(changes.count, 2);
}

static void set_again(const struct ct_change *change, void *user)
{
	(void)user;
	changes.count++;
	assert_int_equal(ct_thread_locked, 0);
	if (change->level != CTRACE_FATAL)
		assert_int_equal(ct_level_set(registry, NULL, 0, CTRACE_FATAL, set_again, NULL),
				 CTRACE_OK);
}

static void a_callback_may_set_levels(void **state)
{
	uint32_t index = add("again");

	(void)state;
	assert_int_equal(ct_level_set(registry, "again", 5, CTRACE_INFO, set_again, NULL),
			 CTRACE_OK);
	assert_int_equal(changes.count, 1);
	assert_int_equal(ct_level_set(registry, "again", 5, CT_LEVEL_UNSET, set_again, NULL),
			 CTRACE_OK);
	assert_int_equal(level_word_level(index), CTRACE_FATAL);
}

static void a_level_can_be_asked_for_before_there_is_a_component(void **state)
{
	uint32_t level = 99;

	(void)state;
	set_level(NULL, CTRACE_FATAL);
	set_level("p.q", CTRACE_WARN);
	assert_int_equal(ct_level_get(registry, "P.Q.r.s", 7, &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_WARN);
	assert_int_equal(ct_level_get(registry, "p.q", 3, &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_WARN);
	assert_int_equal(ct_level_get(registry, "p.qq", 4, &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_FATAL);
	assert_int_equal(ct_level_get(registry, "z", 1, &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_FATAL);
	assert_int_equal(ct_level_get(registry, NULL, 0, &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_FATAL);
	level = 99;
	assert_int_equal(ct_level_get(registry, "a..b", 4, &level), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(level, 99);
	assert_int_equal(ct_registry_count(registry), 2);
}

/* A change costs what inherits from it: nothing below a level of its own is even looked at. */
static void what_cannot_change_is_not_visited(void **state)
{
	uint32_t below = add("w.own.below");

	(void)state;
	set_level("w.own", CTRACE_DEBUG);
	ct_node_at(registry, below)->level = 77;
	set_level("w", CTRACE_ERROR);
	set_level(NULL, CTRACE_FATAL);
	assert_int_equal(ct_node_at(registry, below)->level, 77);
	set_level("w.own", CTRACE_INFO);
	assert_int_equal(ct_node_at(registry, below)->level, CTRACE_INFO);
}

/* ---- component trace ---- */

static void set_trace(uint32_t index, uint32_t level, uint32_t minimum, bool excluded)
{
	struct ct_level_trace trace = { .level = level, .minimum = minimum, .excluded = excluded };

	assert_int_equal(ct_level_set_trace(registry, index, &trace, note_change, NULL), CTRACE_OK);
}

static void a_minimum_wins_over_all_the_rest(void **state)
{
	uint32_t index = add("comp");

	(void)state;
	set_trace(index, CTRACE_LEVEL_NONE, CTRACE_INFO, false);
	assert_int_equal(level_word_level(index), CTRACE_INFO);
	set_trace(index, CTRACE_ERROR, CTRACE_INFO, false);
	assert_int_equal(level_word_level(index), CTRACE_INFO);
	set_trace(index, CTRACE_ERROR, CTRACE_INFO, true);
	assert_int_equal(level_word_level(index), CTRACE_INFO);
	set_trace(index, CTRACE_DEBUG, CTRACE_INFO, false); /* it is no maximum */
	assert_int_equal(level_word_level(index), CTRACE_DEBUG);
	set_trace(index, CT_LEVEL_UNSET, CTRACE_INFO, false);
	assert_int_equal(level_word_level(index), CTRACE_INFO);
	set_trace(index, CT_LEVEL_UNSET, CTRACE_LEVEL_NONE, false);
	assert_int_equal(level_word_level(index), CTRACE_LEVEL_NONE);
}

static void an_exclusion_closes(void **state)
{
	uint32_t index = add("comp");

	(void)state;
	set_trace(index, CTRACE_DEBUG, CTRACE_LEVEL_NONE, true);
	assert_int_equal(level_word_level(index), CTRACE_LEVEL_NONE);
	set_trace(index, CTRACE_DEBUG, CTRACE_LEVEL_NONE, false);
	assert_int_equal(level_word_level(index), CTRACE_DEBUG);
	assert_int_equal(changes.count, 1);
}

static void those_below_have_what_comes_of_it(void **state)
{
	uint32_t comp = add("comp"), follower = add("comp.a.b"), own = add("comp.own");

	(void)state;
	set_level("comp.own", CTRACE_FATAL);
	set_trace(comp, CTRACE_DEBUG, CTRACE_LEVEL_NONE, true);
	assert_int_equal(level_word_level(follower), CTRACE_LEVEL_NONE);
	assert_int_equal(level_word_level(own), CTRACE_FATAL);
	set_trace(comp, CTRACE_LEVEL_NONE, CTRACE_WARN, true);
	assert_int_equal(level_word_level(follower), CTRACE_WARN);
	assert_int_equal(level_word_level(own), CTRACE_FATAL);
	assert_int_equal(level_word_level(add("comp.later")), CTRACE_WARN);
	set_level("comp.a", CTRACE_ERROR); /* one of its own again, and nothing of the minimum */
	assert_int_equal(level_word_level(follower), CTRACE_ERROR);
}

static void a_level_of_the_other_face_leaves_minimum_and_exclusion(void **state)
{
	uint32_t index = add("comp");
	struct ct_configured configured;

	(void)state;
	set_trace(index, CTRACE_DEBUG, CTRACE_ERROR, true);
	set_level("comp", CTRACE_WARN);
	configured = ct_registry_configured(registry, index);
	assert_int_equal(configured.level, CTRACE_WARN);
	assert_int_equal(configured.minimum, CTRACE_ERROR);
	assert_true(configured.excluded);
	assert_int_equal(level_word_level(index), CTRACE_ERROR);
	set_trace(index, CTRACE_WARN, CTRACE_LEVEL_NONE, false);
	assert_int_equal(level_word_level(index), CTRACE_WARN);
}

/* Component trace goes by what was set, so it hears of that also where its minimum or a filter
 * keeps the threshold. */
static void a_defined_trace_hears_of_a_level_that_changes_nothing(void **state)
{
	uint32_t comp = add("comp");

	(void)state;
	set_trace(comp, CTRACE_LEVEL_NONE, CTRACE_DEBUG, false);
	changes.count = 0;
	set_level("comp", CTRACE_WARN);
	assert_int_equal(changes.count, 0); /* a tracer alone */
	ct_registry_set_defined(registry, comp, true);
	set_level("comp", CTRACE_INFO);
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.components[0], comp);
	assert_int_equal(changes.levels[0], CTRACE_DEBUG);
	set_level("comp", CTRACE_INFO);
	assert_int_equal(changes.count, 1);
}

static void a_trace_with_a_bad_level_changes_nothing(void **state)
{
	struct ct_level_trace trace = { .level = CTRACE_LEVEL_COUNT, .minimum = CTRACE_DEBUG };
	uint32_t index = add("comp");

	(void)state;
	assert_int_equal(ct_level_set_trace(registry, index, &trace, note_change, NULL),
			 CTRACE_INVALID_TRACE_LEVEL);
	assert_int_equal(level_word_level(index), CTRACE_LEVEL_NONE);
	assert_int_equal(ct_registry_configured(registry, index).minimum, CTRACE_LEVEL_NONE);
}

static void bad_arguments_change_nothing(void **state)
{
	(void)state;
	assert_int_equal(ct_level_set(registry, "a", 1, 5, NULL, NULL), CTRACE_INVALID_TRACE_LEVEL);
	assert_int_equal(ct_level_set(registry, "a..b", 4, 1, NULL, NULL),
			 CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_registry_count(registry), 0);
}

static void the_lowest_level_is_that_of_any_component_or_the_default(void **state)
{
	(void)state;
	assert_int_equal(ct_registry_lowest_level(registry), CTRACE_LEVEL_NONE);
	(void)add("low.own");
	set_level(NULL, CTRACE_ERROR);
	assert_int_equal(ct_registry_lowest_level(registry), CTRACE_ERROR);
	set_level("low.own", CTRACE_INFO);
	assert_int_equal(ct_registry_lowest_level(registry), CTRACE_INFO);
	set_level("low.own", CTRACE_FATAL);
	assert_int_equal(ct_registry_lowest_level(registry), CTRACE_ERROR);
}

int test_level(void)
{
	const struct CMUnitTest tests[] = {
		EACH(nothing_is_traced_at_first),
		EACH(children_inherit),
		EACH(own_levels_stand),
		EACH(only_registered_changes_are_reported),
		EACH(a_callback_may_set_levels),
		EACH(a_level_can_be_asked_for_before_there_is_a_component),
		EACH(what_cannot_change_is_not_visited),
		EACH(a_minimum_wins_over_all_the_rest),
		EACH(an_exclusion_closes),
		EACH(those_below_have_what_comes_of_it),
		EACH(a_level_of_the_other_face_leaves_minimum_and_exclusion),
		EACH(a_defined_trace_hears_of_a_level_that_changes_nothing),
		EACH(a_trace_with_a_bad_level_changes_nothing),
		EACH(bad_arguments_change_nothing),
		EACH(the_lowest_level_is_that_of_any_component_or_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
