/*
 * test_catalog_print.c - a component as a header, a copybook and a page; names that languages take, and texts that break out of nothing.  That
 * compilers take them is tried by tests/process/catalog.sh.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

static struct ct_buf out;

static int buf_setup(void **state)
{
	ct_buf_init(&out);
	return catalog_setup(state);
}

static int buf_teardown(void **state)
{
	ct_buf_fini(&out);
	return catalog_teardown(state);
}

typedef void print_function(struct ct_buf *out, const struct ct_catalog_component *component);

static const char *print(print_function *function, const char *name)
{
	ct_buf_clear(&out);
	function(&out, component(name));
	assert_false(out.failed);
	return ct_buf_text(&out);
}

static void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		print_message("# no <%s> in\n%s\n", part, text);
	assert_non_null(strstr(text, part));
}

static void parse_example(void)
{
	parse("component: App.Db\n"
	      "description: The data base.\n"
	      "events:\n"
	      "  1: {mnemonic: OPEN, description: A file is opened, severity: info, exit: 2, match: handle, arguments: [handle, {name: mode,\n"
	      "      print: flags, values: {READ: 1, WRITE: 2}}]}\n"
	      "  2: {mnemonic: OPENED, arguments: [{name: handle, print: hex, key: true}, {name: state, description: \"How, it went\",\n"
	      "      values: {good: 0, bad: -1}}, {name: since, unit: ms}]}\n"
	      "  0xFFFFFFFF: {mnemonic: last, exception: true}\n");
}

static void a_header(void **state)
{
	(void)state;
	parse_example();
	assert_string_equal(print(ct_catalog_print_header, "APP.DB"),
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

static void a_copybook(void **state)
{
	(void)state;
	parse_example();
	assert_string_equal(print(ct_catalog_print_copybook, "APP.DB"),
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
	assert_has(print(ct_catalog_print_header, "A"), "#define A_COMPONENT \"A\"\n\n\n#endif\n");
	assert_has(print(ct_catalog_print_copybook, "A"), "\"A \".\n");
	assert_string_equal(print(ct_catalog_print_markdown, "A"), "# A\n");
}

/* ---- names ---- */

static void names_that_collide(void **state)
{
	const char *text;

	(void)state;
	parse("component: 3-way\nevents: {1: a_b, 2: a-b, 3: a.b, 4: component, 5: _a__b_, 6: ..., 7: Events.h}\n");
	text = print(ct_catalog_print_header, "3-way");
	assert_has(text, "#define C_3_WAY_A_B 1u\n");
	assert_has(text, "#define C_3_WAY_A_B_2 2u\n");
	assert_has(text, "#define C_3_WAY_A_B_3 3u\n");
	assert_has(text, "#define C_3_WAY_COMPONENT \"3-way\"\n");
	assert_has(text, "#define C_3_WAY_COMPONENT_4 4u\n");
	assert_has(text, "#define C_3_WAY_A_B_5 5u\n");
	assert_has(text, "#define C_3_WAY_X 6u\n");
	assert_has(text, "#define C_3_WAY_EVENTS_H_7 7u\n");
	text = print(ct_catalog_print_copybook, "3-way");
	assert_has(text, " 78-3-WAY-A-B ");
	assert_has(text, " 78-3-WAY-A-B-2 ");
}

static void names_that_are_too_long(void **state)
{
	const char *text;

	(void)state;
	parse("component: LONG.COMPONENT.NAME\n"
	      "events:\n"
	      "  7: {mnemonic: MNEMONIC, arguments: [{name: the-state, values: {OPEN: 1, NOT-OPEN-OR-CLOSED: 2, NOT-OPEN-NOR-CLOSED: 3}}]}\n"
	      "  12345: MNEMONIC-OF-ANOTHER\n");
	text = print(ct_catalog_print_copybook, "LONG.COMPONENT.NAME");
	assert_has(text, " 78-LONG-COMPONENT-NAME-MNEMONIC value 7.\n");
	assert_has(text, " 78-LONG-COMPONENT-NAME-MN-12345 value 12345.\n");
	assert_has(text, " 78-LONG-COMPONENT-NAME-COMPON-2 value\n");
	assert_has(text, " 78-LONG-COMPONENT-NAME-THE-ST-4 value 2.\n"); /* the event's name is left out, and that is not enough */
	assert_has(print(ct_catalog_print_header, "LONG.COMPONENT.NAME"),
		   "#define LONG_COMPONENT_NAME_MNEMONIC_THE_STATE_NOT_OPEN_OR_CLOSED 2u\n");
}

/* Of a long list of names that COBOL cuts to the same each is another, and finding them takes no time to speak of. */
static void many_that_are_cut_to_the_same(void **state)
{
	struct ct_buf text;
	const char *at;
	unsigned lines = 0;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text, "component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, values: {");
	for (unsigned i = 0; i < 50000; i++)
		ct_buf_add_format(&text, "the-same-for-more-than-thirty-letters-%u: %u,", i, i);
	ct_buf_add_text(&text, "}}]}}\n");
	parse(ct_buf_text(&text));
	ct_buf_fini(&text);
	at = print(ct_catalog_print_copybook, "A");
	while ((at = strstr(at, "\n       78 78-")) != NULL) {
		size_t size = strcspn(at + 1, "\n");

		assert_true(size <= 72);
		assert_true(strcspn(at + 11, " ") <= 31);
		at += size;
		lines++;
	}
	assert_int_equal(lines, 50002);
	assert_has(print(ct_catalog_print_copybook, "A"), " 78-A-A-THE-SAME-FOR-MORE-THAN-2 ");
	assert_has(print(ct_catalog_print_copybook, "A"), " 78-A-A-THE-SAME-FOR-MORE-50001 ");
}

/* ---- texts ---- */

static void texts_that_want_out(void **state)
{
	const char *text;

	(void)state;
	parse("component: 'A\"\\?\xC3\xA4'\n"
	      "description: \"*/ int x; /* ?\?/ \\n#define Y\\e[31m \xE2\x80\xAE | <b> `c` \\\\\"\n"
	      "events:\n"
	      "  1: {mnemonic: X, description: 'ends with \\'}\n"
	      "  2: {mnemonic: Y, description: '*/*/'}\n"
	      "  3: {mnemonic: Z, arguments: [{name: a, values: {\"*/ \\\" |\": 1}}]}\n");
	text = print(ct_catalog_print_header, "A\"\\?\xC3\xA4");
	assert_has(text, " * Events of A\"\\?\xC3\xA4: * / int x; / * ? ?/  #define Y\\u{1B}[31m \\u{202E} | <b> `c` \\.\n");
	assert_has(text, "#define A_COMPONENT \"A\\\"\\\\\\?\\303\\244\"\n");
	assert_has(text, "#define A_X 1u /* ends with \\. */\n");
	assert_has(text, "#define A_Y 2u /* * / * / */\n");
	assert_has(text, "#define A_Z_A_X 1u\n");
	text = print(ct_catalog_print_copybook, "A\"\\?\xC3\xA4");
	assert_has(text, "               \"A\"\"\\?\xC3\xA4 \".\n");
	assert_has(text, "      *> Events of A\"\\?\xC3\xA4: */ int x; /*");
	text = print(ct_catalog_print_markdown, "A\"\\?\xC3\xA4");
	assert_has(text, "\\*/ int x; /\\* ?\?/  \\#define Y\\\\u\\{1B\\}\\[31m \\\\u\\{202E\\} \\| &lt;b\\>");
	assert_has(text, "&lt;b\\>");
	assert_has(text, "\\`c\\`");
	assert_has(text, "| 1 | \\*/ \" \\| |\n");
	assert_null(strstr(text, "\x1B"));
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
	ct_buf_add_format(&text, "component: '%s'\ndescription: %s%s\nevents: {1: X}\n", name, "long-", name + 2);
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

#define PRINT_TEST(name) cmocka_unit_test_setup_teardown(name, buf_setup, buf_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_header),
		PRINT_TEST(a_copybook),
		PRINT_TEST(a_page),
		PRINT_TEST(a_component_without_events),
		PRINT_TEST(names_that_collide),
		PRINT_TEST(names_that_are_too_long),
		PRINT_TEST(many_that_are_cut_to_the_same),
		PRINT_TEST(texts_that_want_out),
		PRINT_TEST(lines_of_a_copybook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
