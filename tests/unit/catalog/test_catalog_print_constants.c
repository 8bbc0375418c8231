/*
 * test_catalog_print_constants.c - a component as a C header and as a copybook, whatever its texts
 * are, in the columns there are, each name once.  That compilers take them is tried by
 * tests/process/catalog.sh.
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

static void a_header_without_events(void **state)
{
	(void)state;
	parse("component: A\n");
	assert_has(print(ct_catalog_print_header, "A"), "#define A_COMPONENT \"A\"\n\n\n#endif\n");
}

static void texts_that_want_out_of_a_header(void **state)
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

static void a_copybook_without_events(void **state)
{
	(void)state;
	parse("component: A\n");
	assert_has(print(ct_catalog_print_copybook, "A"), "\"A \".\n");
}

static void texts_that_want_out_of_a_copybook(void **state)
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

static void what_is_said_of_an_event(void **state)
{
	const char *text;

	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: OPEN, description: A file is opened, severity: info, exit: 2, arguments: [handle, mode]}\n"
	      "  2: {mnemonic: OPENED, severity: info, exception: true}\n"
	      "  3: {mnemonic: THIRD, arguments: [a]}\n"
	      "  4: {mnemonic: FOURTH, description: Only this}\n"
	      "  5: FIFTH\n");
	text = print(ct_catalog_print_header, "A");
	assert_has(text,
		   "1u /* A file is opened. INFO, its exit is OPENED; items: handle, mode */\n");
	assert_has(text, "2u /* INFO, an exception, the exit of OPEN */\n");
	assert_has(text, "3u /* items: a */\n");
	assert_has(text, "4u /* Only this */\n");
	assert_has(text, "A_FIFTH 5u\n");
}

static void bits_have_no_sign(void **state)
{
	const char *text;

	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: B, arguments: [\n"
	      "    {name: f, print: flags, values: {all: 0xFFFFFFFFFFFFFFFF}},\n"
	      "    {name: v, values: {last: -1, greatest: 9223372036854775807, least: -9223372036854775808}}]}\n");
	text = print(ct_catalog_print_header, "A");
	assert_has(text, "A_B_F_ALL 0xffffffffffffffffull\n");
	assert_has(text, "A_B_V_LAST (-1ll)\n");
	assert_has(text, "A_B_V_GREATEST 9223372036854775807ull\n");
	assert_has(text, "A_B_V_LEAST (-9223372036854775807ll - 1)\n");
	text = print(ct_catalog_print_copybook, "A");
	assert_has(text, "78 78-A-B-F-ALL                    value 18446744073709551615.\n");
	assert_has(text, "78 78-A-B-V-LAST                   value -1.\n");
	assert_has(text, "78 78-A-B-V-GREATEST               value 9223372036854775807.\n");
}

static void a_files_name_is_without_its_directory(void **state)
{
	static const char *const paths[] = { "directory/of/app.yaml", "app.yaml" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(paths); i++) {
		const struct ct_catalog_component of = { .name = "A",
							 .description = "",
							 .path = paths[i] };

		ct_buf_clear(&out);
		ct_catalog_print_header(&out, &of);
		assert_has(ct_buf_text(&out), "from app.yaml: change that");
	}
}

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
	/* the event's name is left out, and that is not enough */
	assert_has(text, " 78-LONG-COMPONENT-NAME-THE-ST-4 value 2.\n");
	assert_has(print(ct_catalog_print_header, "LONG.COMPONENT.NAME"),
		   "#define LONG_COMPONENT_NAME_MNEMONIC_THE_STATE_NOT_OPEN_OR_CLOSED 2u\n");
}

/* Of a long list of names that COBOL cuts to the same each is another, and finding them takes no
 * time to speak of. */
static void many_that_are_cut_to_the_same(void **state)
{
	struct ct_buf text;
	const char *at;
	unsigned lines = 0;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text,
			"component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, values: {");
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

static void each_name_is_there_once(void **state)
{
	static const char *const names[] = { "78-A-B",      "78-A-B-2",
					     "78-A-B-3",    "78-A-ABCDEFGHIJKLMNOPQRSTUVW-3",
					     "78-A-C",      "78-A-C-D-E",
					     "78-A-C-D-E-7" };
	const char *text;

	(void)state;
	/* the name of event 2 is taken, that with its id too; that of event 3 is cut at a mark */
	parse("component: a\n"
	      "events: {0: b, 1: b-2, 2: B., 3: abcdefghijklmnopqrstuvw-wxyzab,\n"
	      "  4: {mnemonic: c, arguments: [{name: d, values: {e: 1, e-: 2}}]}}\n");
	text = print(ct_catalog_print_copybook, "A");
	for (size_t i = 0; i < CT_COUNT(names); i++) {
		char constant[64];

		snprintf(constant, sizeof constant, "       78 %-31s value ", names[i]);
		assert_has(text, constant);
	}
}

int test_catalog_print_constants(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(a_header),
		PRINT_TEST(a_header_without_events),
		PRINT_TEST(texts_that_want_out_of_a_header),
		PRINT_TEST(a_copybook),
		PRINT_TEST(a_copybook_without_events),
		PRINT_TEST(texts_that_want_out_of_a_copybook),
		PRINT_TEST(lines_of_a_copybook),
		PRINT_TEST(what_is_said_of_an_event),
		PRINT_TEST(bits_have_no_sign),
		PRINT_TEST(a_files_name_is_without_its_directory),
		PRINT_TEST(names_that_collide),
		PRINT_TEST(names_that_are_too_long),
		PRINT_TEST(many_that_are_cut_to_the_same),
		PRINT_TEST(each_name_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
