/*
 * test_catalog_print_markdown.c - a component as a page, whatever its texts are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_print_fixture.h"

static void a_page(void **state)
{
	(void)state;
	parse_example();
	assert_string_equal(print(ct_catalog_print_markdown, "APP.DB"),
			    "# App.Db\n"
			    "\n"
			    "The data base.\n"
			    "\n"
			    "| event | hex | mnemonic | level | description |\n"
			    "|---:|---:|---|---|---|\n"
			    "| 1 | 1 | OPEN | INFO | A file is opened |\n"
			    "| 2 | 2 | OPENED |  |  |\n"
			    "| 4294967295 | FFFFFFFF | last |  |  |\n"
			    "\n"
			    "## 1 OPEN\n"
			    "\n"
			    "A file is opened.\n"
			    "\n"
			    "Level INFO. An entry; its exit is 2 OPENED with the same handle.\n"
			    "\n"
			    "| item | name | printed as | description |\n"
			    "|---:|---|---|---|\n"
			    "| 0 | handle |  |  |\n"
			    "| 1 | mode | flags |  |\n"
			    "\n"
			    "Flags of mode:\n"
			    "\n"
			    "| value | name |\n"
			    "|---:|---|\n"
			    "| 0x1 | READ |\n"
			    "| 0x2 | WRITE |\n"
			    "\n"
			    "## 2 OPENED\n"
			    "\n"
			    "The exit of 1 OPEN with the same handle.\n"
			    "\n"
			    "| item | name | printed as | description |\n"
			    "|---:|---|---|---|\n"
			    "| 0 | handle | hexadecimal, key |  |\n"
			    "| 1 | state | enumeration | How, it went |\n"
			    "| 2 | since | time in ms |  |\n"
			    "\n"
			    "Values of state:\n"
			    "\n"
			    "| value | name |\n"
			    "|---:|---|\n"
			    "| 0 | good |\n"
			    "| -1 | bad |\n"
			    "\n"
			    "## 4294967295 last\n"
			    "\n"
			    "An exception.\n");
}

static void a_component_without_events(void **state)
{
	(void)state;
	parse("component: A\n");
	assert_string_equal(print(ct_catalog_print_markdown, "A"), "# A\n");
}

static void texts_that_want_out(void **state)
{
	const char *text;

	(void)state;
	parse_texts_that_want_out();
	text = print(ct_catalog_print_markdown, COMPONENT_THAT_WANTS_OUT);
	assert_has(
		text,
		"\\*/ int x; /\\* ?\?/  \\#define Y\\\\u\\{1B\\}\\[31m \\\\u\\{202E\\} \\| &lt;b\\>");
	assert_has(text, "&lt;b\\>");
	assert_has(text, "\\`c\\`");
	assert_has(text, "| 1 | \\*/ \" \\| |\n");
	assert_null(strstr(text, "\x1B"));
}

int test_catalog_print_markdown(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_page),
		PRINT_TEST(a_component_without_events),
		PRINT_TEST(texts_that_want_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
