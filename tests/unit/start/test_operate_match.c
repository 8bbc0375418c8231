/*
 * test_operate_match.c - which components a name or a glob means.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate_fixture.h"

static struct ct_matches matches;

/* The names, blanks between, or the status. */
static const char *match(const char *name)
{
	enum ctrace_status status = ct_matches_find(span_of(name), &matches);

	ct_buf_clear(&text);
	if (status != CTRACE_OK) {
		CHILD_CHECK(matches.items == NULL && matches.count == 0);
		return ctrace_status_name(status);
	}
	for (size_t i = 0; i < matches.count; i++) {
		struct ct_span found = ct_match_name(&matches, i);

		ct_buf_add_text(&text, i != 0 ? " " : "");
		ct_buf_add(&text, found.at, found.size);
		ct_buf_add_text(&text, matches.items[i].index == CT_COMPONENT_NONE ? "!" : "");
	}
	ct_matches_fini(&matches);
	return ct_buf_text(&text);
}

static void look(void)
{
	make_tracer("app.one");
	make_tracer("App.Two.deep");
	make_tracer("other");
	CHILD_CHECK(ctrace_level_set("configured.only", CTRACE_INFO) == CTRACE_OK);
	CHECK_TEXT(match(""), "!"); /* the default */
	CHECK_TEXT(match("OTHER"), "other");
	CHECK_TEXT(match("app.two.deep"), "App.Two.deep");
	CHECK_TEXT(match("app"), "app!"); /* above known ones */
	CHECK_TEXT(match("app.two"), "app.two!");
	CHECK_TEXT(match("app.t"), "NOT_FOUND");
	CHECK_TEXT(match("configured"), "NOT_FOUND");
	CHECK_TEXT(match("configured.only"), "NOT_FOUND");
	CHECK_TEXT(match("app..one"), "INVALID_COMPONENT_NAME");
	CHECK_TEXT(match("*"), "app.one App.Two.deep other");
	CHECK_TEXT(match("APP*"), "app.one App.Two.deep");
	CHECK_TEXT(match("?pp.o?e"), "app.one");
	CHECK_TEXT(match("x*"), "NOT_FOUND");
	CHECK_TEXT(match("*configured*"), "NOT_FOUND");
}

static void names_and_globs_mean_known_components(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look), 0);
}

static void look_at_many(void)
{
	for (unsigned i = 0; i < 3000; i++) {
		char name[40];

		(void)snprintf(name, sizeof name, "many.%u", i);
		make_tracer(name);
	}
	CHILD_CHECK(ct_matches_find(span_of("many.*"), &matches) == CTRACE_OK);
	CHILD_CHECK(matches.is_glob && matches.count == 3000);
	ct_matches_fini(&matches);
	CHILD_CHECK(ct_matches_find(span_of("many.29??"), &matches) == CTRACE_OK);
	CHILD_CHECK(matches.count == 100);
	ct_matches_fini(&matches);
}

static void a_glob_may_mean_thousands(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_at_many), 0);
}

int test_operate_match(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_and_globs_mean_known_components,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_glob_may_mean_thousands, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
