/*
 * test_operate_property.c - properties by an operator: set, told, and refused with what there is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate_fixture.h"

static const char *set(const char *component, const char *property, const char *value)
{
	return carry_out(&(struct ct_command){ .verb = CT_VERB_COMPONENT_PROPERTY,
					       .component = span_of(component),
					       .property = span_of(property),
					       .value = span_of(value) });
}

static const char *get(const char *component, const char *property)
{
	return carry_out(&(struct ct_command){ .verb = CT_VERB_PROPERTY_GET,
					       .component = span_of(component),
					       .property = span_of(property) });
}

static const char *set_emitter(const char *emitter, const char *property, const char *value)
{
	return carry_out(&(struct ct_command){ .verb = CT_VERB_EMITTER_PROPERTY,
					       .emitter = span_of(emitter),
					       .property = span_of(property),
					       .value = span_of(value) });
}

static const char *get_emitter(const char *emitter, const char *property)
{
	return carry_out(&(struct ct_command){ .verb = CT_VERB_PROPERTY_GET,
					       .emitter = span_of(emitter),
					       .property = span_of(property) });
}

static void use_components(void)
{
	char value[100];
	size_t size = sizeof value;

	make_tracer("app.one");
	make_tracer("app.two");
	CHECK_TEXT(set("app.one", "Color", "red"), "SUCCESS\napp.one: -> red");
	CHECK_TEXT(set("app.*", "color", "blue"),
		   "SUCCESS\napp.one: red -> blue\napp.two: -> blue");
	CHILD_CHECK(ctrace_component_property_get("app.two", "COLOR", value, &size) == CTRACE_OK &&
		    strcmp(value, "blue") == 0);
	CHECK_TEXT(set("app.two", "color", ""), "SUCCESS\napp.two: blue -> ");
	CHECK_TEXT(get("app.*", "color"), "SUCCESS\napp.one: blue\napp.two: ");
	CHECK_TEXT(get("app.one", "size"), "PROPERTY_NOT_FOUND property \"size\" was never set");
	CHECK_TEXT(get("nix", "color"), "NOT_FOUND no component \"nix\"");
	CHECK_TEXT(
		set("", "color", "red"),
		"INVALID_COMPONENT_NAME a property belongs to a component or an emitter: expected its name");
	CHECK_TEXT(set("app.one", NULL, "red"),
		   "INVALID_PROP_NAME expected the name of a property, of 1 to 255 bytes");
}

static void components_have_any_property(void **state)
{
	(void)state;
	assert_int_equal(run_traced(use_components), 0);
}

static void use_emitters(void)
{
	static const char no_color[] =
		"PROPERTY_NOT_FOUND STDERR has no property \"color\"; it has DELIMCHAR, ENCODING, FORMAT, "
		"HEXBLOCKSIZE, LEVEL, QUOTESTRING";

	CHECK_TEXT(get_emitter("stderr", "hexblocksize"), "SUCCESS\nSTDERR: 8"); /* its default */
	CHECK_TEXT(set_emitter("StdErr", "HexBlockSize", "4"), "SUCCESS\nSTDERR: 8 -> 4");
	CHECK_TEXT(get_emitter("idedbg", "hexblocksize"), "SUCCESS\nSTDERR: 4");
	CHECK_TEXT(set_emitter("stderr", "color", "red"), no_color);
	CHECK_TEXT(get_emitter("stderr", "color"), no_color);
	CHECK_TEXT(set_emitter("stder", "format", "x"),
		   "EMITTER_NOT_FOUND no emitter \"stder\"; did you mean STDERR?");
	CHECK_TEXT(get_emitter("es", "format"),
		   "PROPERTY_NOT_FOUND ES has no property \"format\"; it has LEVEL");
}

static void emitters_have_those_that_they_say(void **state)
{
	(void)state;
	assert_int_equal(run_traced(use_emitters), 0);
}

static void change_the_file(void)
{
	for (uint32_t i = 0; i < 10; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	CHECK_TEXT(set_emitter("textfile", "file", "other.log"),
		   "SUCCESS\nTEXTFILE: trace.log -> other.log");
	for (uint32_t i = 10; i < 20; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
}

static void a_new_file_takes_what_comes_later(void **state)
{
	(void)state;
	assert_int_equal(run_traced(change_the_file), 0);
	assert_lines(0, 20);
	assert_true(exists("out/trace.log") && exists("out/other.log"));
}

static void set_long_values(void)
{
	static char value[CT_ANSWER_TEXT * 2];
	const char *reported;

	memset(value, 'v', sizeof value - 1);
	for (unsigned i = 0; i < 8; i++) {
		char name[20];

		(void)snprintf(name, sizeof name, "app.%u", i);
		make_tracer(name);
	}
	CHILD_CHECK(strncmp(set("app.*", "p", value), "SUCCESS\napp.0: -> vvv", 21) == 0);
	reported = set("app.*", "p", "short"); /* each row has 16 KiB of what was */
	CHILD_CHECK(strstr(reported, "vvv... -> short\n*\napp.") != NULL);
	for (unsigned i = 0; i < 8; i++) {
		char row[20];

		(void)snprintf(row, sizeof row, "\napp.%u: vv", i);
		CHILD_CHECK(strstr(reported, row) != NULL);
	}
}

static void long_values_are_cut_and_go_on_in_further_frames(void **state)
{
	(void)state;
	assert_int_equal(run_traced(set_long_values), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_operate_property(void)
{
	const struct CMUnitTest tests[] = {
		TEST(components_have_any_property),
		TEST(emitters_have_those_that_they_say),
		TEST(a_new_file_takes_what_comes_later),
		TEST(long_values_are_cut_and_go_on_in_further_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
