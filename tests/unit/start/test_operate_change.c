/*
 * test_operate_change.c - levels and destinations by an operator: what was, what is now, and what
 * is wrong.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate_fixture.h"

static const char *level(const char *component, uint32_t wanted)
{
	return carry_out(&(struct ct_command){
		.verb = CT_VERB_LEVEL, .component = span_of(component), .level = wanted });
}

static const char *dest(enum ct_verb verb, const char *component, const char *list)
{
	return carry_out(&(struct ct_command){
		.verb = verb, .component = span_of(component), .list = span_of(list) });
}

/* ---- levels ---- */

static void change_levels(void)
{
	uint32_t now;

	make_tracer("app.one");
	make_tracer("app.two");
	CHECK_TEXT(level("app.one", CT_LEVEL_ASKED), "SUCCESS\napp.one: DEBUG -> DEBUG");
	CHECK_TEXT(level("APP.ONE", CTRACE_WARN), "SUCCESS\napp.one: DEBUG -> WARN");
	CHILD_CHECK(ctrace_level_get("app.one", &now) == CTRACE_OK && now == CTRACE_WARN);
	CHECK_TEXT(level("app", CTRACE_ERROR), "SUCCESS\napp: DEBUG -> ERROR");
	CHECK_TEXT(level("app.*", CT_LEVEL_ASKED),
		   "SUCCESS\napp.one: WARN -> WARN\napp.two: ERROR -> ERROR");
	CHECK_TEXT(level("app.*", CTRACE_LEVEL_NONE),
		   "SUCCESS\napp.one: WARN -> NONE\napp.two: ERROR -> NONE");
	/* inherits again */
	CHECK_TEXT(level("app.two", CT_LEVEL_UNSET), "SUCCESS\napp.two: NONE -> ERROR");
	CHECK_TEXT(level("", CTRACE_FATAL), "SUCCESS\n: DEBUG -> FATAL");
	CHILD_CHECK(ctrace_level_get(NULL, &now) == CTRACE_OK && now == CTRACE_FATAL);
	CHECK_TEXT(level("nix", CTRACE_INFO), "NOT_FOUND no component \"nix\"");
	CHECK_TEXT(level("n*x", CTRACE_INFO), "NOT_FOUND no component fits \"n*x\"");
	CHECK_TEXT(
		level("a..b", CTRACE_INFO),
		"INVALID_COMPONENT_NAME \"a..b\" is no component: expected 1 to 255 bytes, nothing empty between dots, or a pattern with * and ?");
	CHECK_TEXT(level("a\033[31m\nb", CTRACE_INFO),
		   "NOT_FOUND no component \"a\\u{1B}[31m\\nb\"");
}

static void levels_are_changed_and_reported(void **state)
{
	(void)state;
	assert_int_equal(run_traced(change_levels), 0);
}

static void set_a_tree(void)
{
	make_tracer("tree");
	make_tracer("tree.leaf");
	/* What each was is looked at before the first is changed: the second inherits from it. */
	CHECK_TEXT(level("tree*", CTRACE_ERROR),
		   "SUCCESS\ntree: DEBUG -> ERROR\ntree.leaf: DEBUG -> ERROR");
}

static void what_was_is_what_was_before_the_command(void **state)
{
	(void)state;
	assert_int_equal(run_traced(set_a_tree), 0);
}

static void set_thousands(void)
{
	const char *reported;
	unsigned rows = 0;
	uint32_t now;

	for (unsigned i = 0; i < CT_OPERATE_ROWS + 100; i++) {
		char name[40];

		(void)snprintf(name, sizeof name, "many.%u", i);
		make_tracer(name);
	}
	reported = level("many.*", CTRACE_FATAL);
	CHILD_CHECK(
		strstr(reported,
		       "SUCCESS 4196 components; the first 4096 are listed\nmany.0: DEBUG -> FATAL\n") ==
		reported);
	for (const char *at = reported; (at = strstr(at, " -> FATAL")) != NULL; at++)
		rows++;
	CHILD_CHECK(rows == CT_OPERATE_ROWS);
	/* all the same */
	CHILD_CHECK(ctrace_level_get("many.4195", &now) == CTRACE_OK && now == CTRACE_FATAL);
}

static void thousands_are_changed_and_some_are_listed(void **state)
{
	(void)state;
	assert_int_equal(run_traced(set_thousands), 0);
}

static void look_by_tracing(void)
{
	struct ctrace_tracer *made;

	CHILD_CHECK(ctrace_tracer_get("told", &made) == CTRACE_OK);
	CHECK_TEXT(level("told", CTRACE_ERROR), "SUCCESS\ntold: DEBUG -> ERROR");
	CHILD_CHECK(ctrace_emit(made, CTRACE_WARN, 1, NULL, 0) == CTRACE_NOT_TRACING_LEVEL);
	CHILD_CHECK(ctrace_emit(made, CTRACE_ERROR, 2, NULL, 0) == CTRACE_OK);
}

static void a_trace_call_sees_the_new_level(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_by_tracing), 0);
}

static void look_with_a_flight_recorder(void)
{
	make_tracer("flown");
	CHECK_TEXT(level("flown", CTRACE_ERROR), "SUCCESS\nflown: DEBUG -> ERROR");
	CHILD_CHECK(ct_channel_set_flight(ct_process.registry, "flown", 5, CTRACE_INFO, NULL,
					  NULL) == CTRACE_OK);
	CHECK_TEXT(level("flown", CT_LEVEL_ASKED), "SUCCESS\nflown: ERROR -> ERROR");
	CHECK_TEXT(level("flown", CTRACE_WARN), "SUCCESS\nflown: ERROR -> WARN");
	CHECK_TEXT(level("flown", CTRACE_DEBUG), "SUCCESS\nflown: WARN -> DEBUG");
}

static void what_only_the_flight_recorder_has_is_no_level(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_with_a_flight_recorder), 0);
}

/* ---- destinations ---- */

static void change_destinations(void)
{
	make_tracer("app");
	make_tracer("app.one");
	/* only asked */
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "app", NULL), "SUCCESS\napp: TEXTFILE -> TEXTFILE");
	CHECK_TEXT(dest(CT_VERB_DEST_ADD, "app.one", "stderr"),
		   "SUCCESS\napp.one: TEXTFILE -> TEXTFILE, STDERR");
	CHECK_TEXT(dest(CT_VERB_DEST_ADD, "app", "es"), "SUCCESS\napp: TEXTFILE -> TEXTFILE, ES");
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "app.one", "binfile idedbg"),
		   "SUCCESS\napp.one: TEXTFILE, STDERR, ES -> BINFILE, STDERR");
	CHECK_TEXT(dest(CT_VERB_DEST_REMOVE, "app.one", "binfile"),
		   "SUCCESS\napp.one: BINFILE, STDERR -> STDERR");
	/* inherits again */
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "app.one", ""),
		   "SUCCESS\napp.one: STDERR -> TEXTFILE, ES");
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "app*", "es"),
		   "SUCCESS\napp: TEXTFILE, ES -> ES\napp.one: TEXTFILE, ES -> ES");
	/* none has it: fine */
	CHECK_TEXT(dest(CT_VERB_DEST_REMOVE, "app*", "textfile"),
		   "SUCCESS\napp: ES -> ES\napp.one: ES -> ES");
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "", "stderr"), "SUCCESS\n: TEXTFILE -> STDERR");
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "", ""), "SUCCESS\n: STDERR -> TEXTFILE");
}

static void destinations_are_changed_and_reported(void **state)
{
	(void)state;
	assert_int_equal(run_traced(change_destinations), 0);
}

static void name_wrong_destinations(void)
{
	make_tracer("app");
	CHECK_TEXT(dest(CT_VERB_DEST_ADD, "app", "stderr, texfile"),
		   "EMITTER_NOT_FOUND no emitter \"texfile\"; did you mean TEXTFILE?");
	CHECK_TEXT(
		dest(CT_VERB_DEST_ADD, "app", "printer"),
		"EMITTER_NOT_FOUND no emitter \"printer\"; there are TEXTFILE, BINFILE, STDERR, ES, NATS, STORAGE");
	/* nothing was changed */
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "app", NULL), "SUCCESS\napp: TEXTFILE -> TEXTFILE");
	CHECK_TEXT(
		dest(CT_VERB_DEST_REMOVE, "app", "textfile"),
		"EMITTER_NOT_FOUND\napp: TEXTFILE -> TEXTFILE it has none of that name of its own; it and those above it have TEXTFILE: "
		"name exactly those that it is to have");
	CHECK_TEXT(
		dest(CT_VERB_DEST_REMOVE, "", "stderr"),
		"EMITTER_NOT_FOUND\n: TEXTFILE -> TEXTFILE the default destinations are TEXTFILE");
	CHECK_TEXT(dest(CT_VERB_DEST_ADD, "nix", "stderr"), "NOT_FOUND no component \"nix\"");
}

static void a_wrong_destination_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_traced(name_wrong_destinations), 0);
}

static void redirect_while_tracing(void)
{
	for (uint32_t i = 0; i < 10; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	/* What was traced before goes where it was to go. */
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "unit.test", "es"), "SUCCESS\nunit.test: TEXTFILE -> ES");
	for (uint32_t i = 10; i < 20; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	CHECK_TEXT(dest(CT_VERB_DEST_SET, "unit.*", ""), "SUCCESS\nunit.test: ES -> TEXTFILE");
	for (uint32_t i = 20; i < 30; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 30);
}

static void events_go_by_the_destinations_of_their_time(void **state)
{
	(void)state;
	assert_int_equal(run_traced(redirect_while_tracing), 0);
	assert_int_equal(read_lines(30), 20);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(seen[i], i < 10 || i >= 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_operate_change(void)
{
	const struct CMUnitTest tests[] = {
		TEST(levels_are_changed_and_reported),
		TEST(what_was_is_what_was_before_the_command),
		TEST(thousands_are_changed_and_some_are_listed),
		TEST(a_trace_call_sees_the_new_level),
		TEST(what_only_the_flight_recorder_has_is_no_level),
		TEST(destinations_are_changed_and_reported),
		TEST(a_wrong_destination_changes_nothing),
		TEST(events_go_by_the_destinations_of_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
