/*
 * test_catalog_print_header.c - a component as a C header, whatever its texts are.  That a compiler
 * takes it is tried by tests/process/catalog.sh.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_print_fixture.h"

static void a_header(void **state)
{
	(void)state;
	parse_example();
	assert_string_equal(
		print(ct_catalog_print_header, "APP.DB"),
		"/*\n"
		" * Events of App.Db: The data base.\n"
		" *\n"
		" * Made by ctrace catalog header from test.yaml: change that, not this.\n"
		" */\n"
		"#ifndef APP_DB_EVENTS_H\n"
		"#define APP_DB_EVENTS_H\n"
		"\n"
		"#define APP_DB_COMPONENT \"App.Db\"\n"
		"\n"
		"#define APP_DB_OPEN 1u /* A file is opened. INFO, its exit is OPENED; items: handle, mode */\n"
		"#define APP_DB_OPENED 2u /* the exit of OPEN; items: handle, state, since */\n"
		"#define APP_DB_LAST 4294967295u /* an exception */\n"
		"\n"
		"/* Flags of OPEN, mode */\n"
		"#define APP_DB_OPEN_MODE_READ 0x1u\n"
		"#define APP_DB_OPEN_MODE_WRITE 0x2u\n"
		"\n"
		"/* Values of OPENED, state */\n"
		"#define APP_DB_OPENED_STATE_GOOD 0u\n"
		"#define APP_DB_OPENED_STATE_BAD (-1ll)\n"
		"\n"
		"#endif\n");
}

static void a_component_without_events(void **state)
{
	(void)state;
	parse("component: A\n");
	assert_has(print(ct_catalog_print_header, "A"), "#define A_COMPONENT \"A\"\n\n\n#endif\n");
}

static void texts_that_want_out(void **state)
{
	const char *text;

	(void)state;
	parse_texts_that_want_out();
	text = print(ct_catalog_print_header, COMPONENT_THAT_WANTS_OUT);
	assert_has(
		text,
		" * Events of A\"\\?\xC3\xA4: * / int x; / * ? ?/  #define Y\\u{1B}[31m \\u{202E} | <b> `c` \\.\n");
	assert_has(text, "#define A_COMPONENT \"A\\\"\\\\\\?\\303\\244\"\n");
	assert_has(text, "#define A_X 1u /* ends with \\. */\n");
	assert_has(text, "#define A_Y 2u /* * / * / */\n");
	assert_has(text, "#define A_Z_A_X 1u\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_header),
		PRINT_TEST(a_component_without_events),
		PRINT_TEST(texts_that_want_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
