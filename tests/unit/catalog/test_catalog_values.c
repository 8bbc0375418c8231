/*
 * test_catalog_values.c - keys and values one by one; in their catalogues they are tried by the
 * tests of those who ask for them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

static struct ct_catalog_file file;
static struct ct_catalog_diagnostics diagnostics;
static struct ct_catalog_budget budget;
static struct ct_load load;

static int load_setup(void **state)
{
	(void)state;
	memset(&file, 0, sizeof file);
	memset(&diagnostics, 0, sizeof diagnostics);
	memset(&seen, 0, sizeof seen);
	budget = (struct ct_catalog_budget){ 100, 100, 100, true };
	load = (struct ct_load){ .file = &file, .diagnostics = &diagnostics, .budget = &budget };
	return 0;
}

static int load_teardown(void **state)
{
	(void)state;
	ct_catalog_diagnostics_fini(&diagnostics);
	ct_arena_fini(&file.arena);
	ct_arena_fini(&load.nodes);
	free(load.entries);
	return 0;
}

/* The first document. */
static const struct ct_yaml *yaml(const char *text)
{
	struct ct_yaml *documents;
	struct ct_yaml_error error;

	assert_int_equal(
		ct_yaml_parse(text, strlen(text), &file.arena, &load.nodes, &documents, &error),
		CTRACE_OK);
	return documents;
}

/* What the one error so far is, and then there is none. */
static void assert_one(const char *message)
{
	memset(&seen, 0, sizeof seen);
	assert_int_equal(diagnostics.total, 1);
	ct_catalog_diagnostics_report(&diagnostics, "x", "", 0, see, &seen);
	assert_string_equal(seen.diagnostic[0].message, message);
	ct_catalog_diagnostics_fini(&diagnostics);
}

static void nothing(void **state)
{
	(void)state;
	assert_true(ct_load_is_nothing(yaml("~")));
	assert_true(ct_load_is_nothing(yaml("null")));
	assert_true(ct_load_is_nothing(yaml("- ")->first));
	assert_false(ct_load_is_nothing(yaml("''")));
	assert_false(ct_load_is_nothing(yaml("'~'")));
	assert_false(ct_load_is_nothing(yaml("x")));
	assert_false(ct_load_is_nothing(yaml("[]")));
}

static void maps(void **state)
{
	static const char *const names[] = { "one", "two", "three" };
	static const struct ct_load_keys keys = { names, 3, "a test", "one, two or three" };
	const struct ct_yaml *values[3];

	(void)state;
	assert_true(ct_load_map(&load, yaml("{three: 3, one: 1}"), &keys, values));
	assert_string_equal(values[0]->text, "1");
	assert_null(values[1]);
	assert_string_equal(values[2]->text, "3");
	assert_int_equal(budget.reads, 96);
	assert_int_equal(diagnostics.total, 0);
	/* upper case is another */
	assert_true(ct_load_map(&load, yaml("{One: 1, two: 2}"), &keys, values));
	assert_null(values[0]);
	assert_string_equal(values[1]->text, "2");
	assert_one("\"One\" is no key of a test (did you mean one?)");
	assert_true(ct_load_map(&load, yaml("{one: 1, one: 2}"), &keys, values));
	assert_string_equal(values[0]->text, "1");
	assert_one("\"one\" is there twice");
	assert_true(ct_load_map(&load, yaml("{\"one\\0\": 1}"), &keys, values));
	assert_null(values[0]);
	assert_one("\"one\\u{0}\" is no key of a test (did you mean one?)");
	assert_false(ct_load_map(&load, yaml("[one]"), &keys, values));
	assert_null(values[0]);
	assert_one("a test has keys and values");
}

static void what_is_not_there(void **state)
{
	static const struct ct_load_letters letters = { 10, "", false, "x" };
	static const char *const words[] = { "x" };
	enum ct_encoding encoding = CT_ENCODING_EBCDIC_037;
	uint64_t number = 7;
	uint32_t word = 7;
	bool flag = true;

	(void)state;
	assert_null(ct_load_text(&load, NULL));
	assert_null(ct_load_name(&load, NULL, &letters));
	assert_false(ct_load_number(&load, NULL, true, &number));
	assert_false(ct_load_word(&load, NULL, words, 1, "x", &word));
	assert_false(ct_load_flag(&load, NULL, &flag));
	assert_false(ct_load_encoding(&load, NULL, &encoding));
	assert_int_equal(diagnostics.total, 0);
	assert_int_equal(number, 7);
	assert_int_equal(word, 7);
	assert_true(flag);
	assert_int_equal(encoding, CT_ENCODING_EBCDIC_037);
}

static void texts(void **state)
{
	char text[CT_CATALOG_TEXT + 2];

	(void)state;
	assert_string_equal(ct_load_text(&load, yaml("'a  b '")), "a  b ");
	assert_string_equal(ct_load_text(&load, yaml("~")), "");
	assert_string_equal(ct_load_text(&load, yaml("'~'")), "~");
	memset(text, 'x', sizeof text);
	text[CT_CATALOG_TEXT] = '\0';
	assert_int_equal(strlen(ct_load_text(&load, yaml(text))), CT_CATALOG_TEXT);
	text[CT_CATALOG_TEXT] = 'x';
	text[CT_CATALOG_TEXT + 1] = '\0';
	assert_null(ct_load_text(&load, yaml(text)));
	assert_one("\"xxxxxxxxxxxxxxxxxxxx...\" is too long");
}

static void names(void **state)
{
	static const struct ct_load_letters some = { 5, "_-", true, "x" };
	static const struct ct_load_letters printable = { 5, NULL, false, "x" };
	static const struct ct_load_letters blanks = { 5, "*", false, "x" };

	(void)state;
	assert_string_equal(ct_load_name(&load, yaml("aZ_-9"), &some), "aZ_-9");
	assert_string_equal(ct_load_name(&load, yaml("'\xC3\xA4#$'"), &printable), "\xC3\xA4#$");
	assert_string_equal(ct_load_name(&load, yaml("'a b'"), &blanks), "a b");
	assert_int_equal(diagnostics.total, 0);
	assert_null(ct_load_name(&load, yaml("'a b'"), &printable));
	assert_one("\"a b\" has a character that may not be there");
	assert_null(ct_load_name(&load, yaml("\"\\x7F\""), &blanks));
	assert_one("\"\\u{7F}\" has a character that may not be there");
	assert_null(ct_load_name(&load, yaml("'a.b'"), &some));
	assert_one("\"a.b\" has a character that may not be there");
	assert_null(ct_load_name(&load, yaml("'aaaaaa'"), &some));
	assert_one("\"aaaaaa\" is too long");
}

static void numbers(void **state)
{
	uint64_t number;
	uint32_t id;

	(void)state;
	assert_true(ct_load_number(&load, yaml("0"), false, &number) && number == 0);
	/* as COBOL has it */
	assert_true(ct_load_number(&load, yaml("0010"), false, &number) && number == 10);
	assert_true(ct_load_number(&load, yaml("0XfF"), false, &number) && number == 255);
	assert_true(ct_load_number(&load, yaml("18446744073709551615"), false, &number) &&
		    number == UINT64_MAX);
	assert_true(ct_load_number(&load, yaml("-0x10"), true, &number) && number == (uint64_t)-16);
	assert_true(ct_load_id(&load, yaml("0xFFFFFFFF"), &id) && id == UINT32_MAX);
	assert_int_equal(diagnostics.total, 0);
	assert_false(ct_load_number(&load, yaml("'- 1'"), true, &number));
	assert_one("\"- 1\" is no number");
	assert_false(ct_load_number(&load, yaml("'-'"), true, &number));
	assert_one("\"-\" is no number");
	assert_false(ct_load_number(&load, yaml("1_000"), true, &number));
	assert_one("\"1_000\" is no number");
	assert_false(ct_load_number(&load, yaml("\"1\\0\""), true, &number));
	assert_one("\"1\\u{0}\" is no number");
	assert_false(ct_load_number(&load, yaml("0x10000000000000000"), false, &number));
	assert_one("\"0x10000000000000000\" is too large");
}

static void the_budget(void **state)
{
	const struct ct_yaml *node = yaml("x");

	(void)state;
	assert_true(ct_load_charge(&load, node, 60));
	assert_true(ct_load_charge(&load, node, 40));
	assert_int_equal(budget.reads, 0);
	assert_true(ct_load_charge(&load, node, 0));
	assert_false(ct_load_charge(&load, node, 1));
	assert_int_equal(load.status, CTRACE_DAMAGED);
	assert_false(ct_load_charge(&load, node, 0)); /* said once */
	assert_one("with this there is too much in the catalogue");
}

static void twice(void **state)
{
	const struct ct_yaml *list = yaml("- b\n- A\n- B\n- a\n- c\n- b\n");
	bool is_bad[6] = { false };
	struct ct_load_entry *entries = ct_load_entries(&load, 6);
	uint32_t i = 0;

	(void)state;
	for (const struct ct_yaml *node = list->first; node != NULL; node = node->next, i++)
		entries[i] = (struct ct_load_entry){ .name = node->text,
						     .node = node,
						     .is_bad = &is_bad[i] };
	ct_load_unique(&load, 6, "is the name", "x");
	assert_int_equal(diagnostics.total, 3);
	assert_true(!is_bad[0] && !is_bad[1] && is_bad[2] && is_bad[3] && !is_bad[4] && is_bad[5]);
	ct_load_unique(&load, 0, "is the name", "x");
	assert_int_equal(diagnostics.total, 3);
}

#define LOAD_TEST(name) cmocka_unit_test_setup_teardown(name, load_setup, load_teardown)

int test_catalog_values(void)
{
	const struct CMUnitTest tests[] = {
		LOAD_TEST(nothing),    LOAD_TEST(maps),  LOAD_TEST(what_is_not_there),
		LOAD_TEST(texts),      LOAD_TEST(names), LOAD_TEST(numbers),
		LOAD_TEST(the_budget), LOAD_TEST(twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
