/*
 * test_catalog_print_copybook.c - a component as a copybook, whatever its texts are, in the columns
 * there are.  That a compiler takes it is tried by tests/process/catalog.sh.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_print_fixture.h"

static void a_copybook(void **state)
{
	(void)state;
	parse_example();
	assert_string_equal(
		print(ct_catalog_print_copybook, "APP.DB"),
		"      *> Events of App.Db: The data base.\n"
		"      *> Made by ctrace catalog copybook from test.yaml: change that,\n"
		"      *> not this.\n"
		"\n"
		"      *> The name, with the blank that ends it\n"
		"       78 78-APP-DB-COMPONENT value\n"
		"               \"App.Db \".\n"
		"\n"
		"      *> A file is opened. INFO, its exit is OPENED; items: handle, mode\n"
		"       78 78-APP-DB-OPEN                  value 1.\n"
		"      *> the exit of OPEN; items: handle, state, since\n"
		"       78 78-APP-DB-OPENED                value 2.\n"
		"      *> an exception\n"
		"       78 78-APP-DB-LAST                  value 4294967295.\n"
		"\n"
		"      *> Flags of OPEN, mode\n"
		"       78 78-APP-DB-OPEN-MODE-READ        value 1.\n"
		"       78 78-APP-DB-OPEN-MODE-WRITE       value 2.\n"
		"\n"
		"      *> Values of OPENED, state\n"
		"       78 78-APP-DB-OPENED-STATE-GOOD     value 0.\n"
		"       78 78-APP-DB-OPENED-STATE-BAD      value -1.\n");
}

static void a_component_without_events(void **state)
{
	(void)state;
	parse("component: A\n");
	assert_has(print(ct_catalog_print_copybook, "A"), "\"A \".\n");
}

static void texts_that_want_out(void **state)
{
	const char *text;

	(void)state;
	parse_texts_that_want_out();
	text = print(ct_catalog_print_copybook, COMPONENT_THAT_WANTS_OUT);
	assert_has(text, "               \"A\"\"\\?\xC3\xA4 \".\n");
	assert_has(text, "      *> Events of A\"\\?\xC3\xA4: */ int x; /*");
}

static void lines_of_a_copybook(void **state)
{
	char name[CTRACE_MAX_COMPONENT + 1] = "";
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i < CTRACE_MAX_COMPONENT - 1; i += 2) {
		name[i] = i % 3 == 0 ? '"' : '\xC3';
		name[i + 1] = i % 3 == 0 ? '"' : '\xA4';
	}
	ct_buf_add_format(&text, "component: '%s'\ndescription: %s%s\nevents: {1: X}\n", name,
			  "long-", name + 2);
	parse(ct_buf_text(&text));
	ct_buf_fini(&text);
	for (const char *at = print(ct_catalog_print_copybook, name); *at != '\0';) {
		size_t size = strcspn(at, "\n");

		assert_true(size <= 72);
		if (size > 6 && strncmp(at, "      *> ", 9) != 0)
			assert_true(strncmp(at, "       ", 7) == 0);
		at += size + 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_copybook),
		PRINT_TEST(a_component_without_events),
		PRINT_TEST(texts_that_want_out),
		PRINT_TEST(lines_of_a_copybook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
