/*
 * test_catalog_record.c - copybooks that a catalogue names: where they are looked for, that each is
 * read once, and errors in both.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

static void write_copybooks(void)
{
	(void)mkdir("own", 0700);
	(void)mkdir("own/sub", 0700);
	(void)mkdir("other", 0700);
	write_file(
		"own/A.cpy",
		"       01 rec-a.\n          03 f pic x(5).\n       01 rec-b.\n          03 g pic x(7).\n");
	write_file("own/sub/B.cpy", "       01 in-sub.\n           copy \"C.cpy\".\n");
	write_file("other/C.cpy", "          03 f pic x(3).\n");
	write_file("own/BAD.cpy", "       01 rec.\n          03 f pic q(5).\n");
}

/* One event whose items are those. */
static enum ctrace_status read_items(const char *more, const char *items)
{
	struct ct_buf text;

	write_copybooks();
	memset(&seen, 0, sizeof seen);
	ct_buf_init(&text);
	ct_buf_add_format(&text, "component: A\n%sevents:\n 1:\n  mnemonic: X\n  arguments:\n%s",
			  more, items);
	write_file("own/c.yaml", ct_buf_text(&text));
	ct_buf_fini(&text);
	return ct_catalog_add(catalog, "own/c.yaml", see, &seen);
}

static const struct ct_argument *item(uint32_t index)
{
	assert_true(index < event("A", 1)->argument_count);
	return &event("A", 1)->arguments[index];
}

static void beside_the_catalogue(void **state)
{
	(void)state;
	assert_int_equal(read_items("", "  - {name: a, copybook: A.cpy}\n"
					"  - {name: b, copybook: A.cpy, record: REC-B}\n"
					"  - {name: c, copybook: ./A.cpy}\n"),
			 CTRACE_OK);
	assert_int_equal(item(0)->print, CT_PRINT_RECORD);
	assert_string_equal(item(0)->copybook_name, "A.cpy");
	assert_true(ct_name_is("REC-A", 5, ct_copybook_name(item(0)->copybook)));
	assert_int_equal(ct_copybook_size(item(0)->copybook), 5);
	assert_true(ct_name_is("REC-B", 5, ct_copybook_name(item(1)->copybook)));
	assert_int_equal(ct_copybook_size(item(1)->copybook), 7);
	assert_int_equal(ct_copybook_size(item(2)->copybook), 5);
}

static void each_is_read_once(void **state)
{
	(void)state;
	assert_int_equal(read_items("", "  - {name: a, copybook: A.cpy}\n"
					"  - {name: b, copybook: A.cpy}\n"
					"  - {name: c, copybook: A.cpy, record: rec-b}\n"
					"  - {name: d, copybook: A.cpy, record: REC-B}\n"
					"  - {name: e, copybook: A.cpy, encoding: ebcdic-037}\n"),
			 CTRACE_OK);
	assert_ptr_equal(item(0)->copybook, item(1)->copybook);
	assert_ptr_equal(item(2)->copybook, item(3)->copybook);
	assert_ptr_not_equal(item(0)->copybook, item(2)->copybook);
	assert_ptr_not_equal(item(0)->copybook, item(4)->copybook);
}

/* COMP of one digit takes what the compiler's dialect gives it. */
static void as_its_compiler_has_it(void **state)
{
	(void)state;
	write_file(
		"own/D.cpy",
		"       01 rec.\n          03 n pic 9(5) comp.\n          03 m pic 9(1) comp.\n");
	assert_int_equal(read_items("dialect: ibm\n",
				    "  - {name: a, copybook: D.cpy}\n"
				    "  - {name: b, copybook: D.cpy, dialect: GnuCOBOL}\n"
				    "  - {name: c, copybook: D.cpy, dialect: default}\n"
				    "  - {name: d, copybook: D.cpy, dialect: mf}\n"),
			 CTRACE_OK);
	assert_int_equal(ct_copybook_size(item(0)->copybook), 4 + 2);
	assert_int_equal(ct_copybook_size(item(1)->copybook), 4 + 1);
	assert_ptr_equal(item(1)->copybook, item(2)->copybook);
	assert_int_equal(ct_copybook_size(item(3)->copybook), 3 + 1);
}

static void a_table_that_slides(void **state)
{
	(void)state;
	assert_int_equal(read_items("odoslide: true\n",
				    "  - {name: a, copybook: A.cpy}\n"
				    "  - {name: b, copybook: A.cpy, odoslide: false}\n"),
			 CTRACE_OK);
	assert_ptr_not_equal(item(0)->copybook, item(1)->copybook);
}

static void in_its_directories(void **state)
{
	(void)state;
	assert_int_equal(read_items("copybooks: [sub, ../other]\n",
				    "  - {name: a, copybook: B.cpy}\n"
				    "  - {name: b, copybook: A.cpy}\n"),
			 CTRACE_OK);
	/* what it copies is in another of the directories */
	assert_int_equal(ct_copybook_size(item(0)->copybook), 3);
	assert_int_equal(ct_copybook_size(item(1)->copybook), 5);
}

/* The same name in two components of a file, which have other directories. */
static void directories_of_each_component(void **state)
{
	(void)state;
	write_copybooks();
	write_file("own/sub/E.cpy", "       01 rec.\n          03 f pic x(1).\n");
	write_file("other/E.cpy", "       01 rec.\n          03 f pic x(2).\n");
	write_file(
		"own/two.yaml",
		"component: A\ncopybooks: sub\nevents: {1: {mnemonic: X, arguments: [{name: a, copybook: E.cpy}]}}\n---\n"
		"component: B\ncopybooks: ../other\nevents: {1: {mnemonic: X, arguments: [{name: a, copybook: E.cpy}]}}\n");
	assert_int_equal(ct_catalog_add(catalog, "own/two.yaml", see, &seen), CTRACE_OK);
	assert_int_equal(ct_copybook_size(event("A", 1)->arguments[0].copybook), 1);
	assert_int_equal(ct_copybook_size(event("B", 1)->arguments[0].copybook), 2);
}

static void by_its_path(void **state)
{
	char text[5000];
	char directory[4096];

	(void)state;
	assert_non_null(getcwd(directory, sizeof directory));
	(void)snprintf(text, sizeof text, "  - {name: a, copybook: %s/own/A.cpy}\n", directory);
	assert_int_equal(read_items("", text), CTRACE_OK);
	assert_int_equal(ct_copybook_size(item(0)->copybook), 5);
}

static void what_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(read_items("", "  - {name: a, copybook: C.cpy}\n"
					"  - {name: b, copybook: sub}\n"
					"  - {name: c, copybook: /nowhere/C.cpy}\n"),
			 CTRACE_DAMAGED);
	assert_int_equal(seen.count, 3);
	assert_seen(0, 6, 25, "\"C.cpy\" is not there");
	assert_seen(1, 7, 25, "\"sub\" is not there"); /* it is a directory */
	assert_seen(2, 8, 25, "\"/nowhere/C.cpy\" is not there");
	assert_string_equal(seen.path[0], "own/c.yaml");
}

static void diagnostics_in_copybooks(void **state)
{
	(void)state;
	assert_int_equal(read_items("", "  - {name: a, copybook: BAD.cpy}\n"
					"  - {name: b, copybook: BAD.cpy}\n"),
			 CTRACE_DAMAGED);
	assert_int_equal(seen.count, 3);
	assert_seen(0, 6, 25, "\"BAD.cpy\" has an error on line 2");
	assert_string_equal(seen.path[1], "own/BAD.cpy");
	assert_int_equal(seen.diagnostic[1].line, 2);
	assert_seen(2, 7, 25, "\"BAD.cpy\" has an error, as reported above");
}

static void a_record_that_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(read_items("", "  - {name: a, copybook: A.cpy, record: rec-z}\n"),
			 CTRACE_DAMAGED);
	assert_true(seen.count >= 1);
	assert_string_equal(seen.path[0], "own/c.yaml");
	assert_int_equal(seen.diagnostic[0].line, 6);
	assert_int_equal(seen.diagnostic[0].column, 25);
}

static void too_many(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i <= CT_CATALOG_COPYBOOKS; i++) {
		/* the same file by another name each time */
		char slashes[CT_CATALOG_COPYBOOKS + 2];

		memset(slashes, '/', sizeof slashes);
		ct_buf_add_format(&text, "  - {name: a%u, copybook: .%.*sA.cpy}\n", i, (int)i + 1,
				  slashes);
	}
	assert_int_equal(read_items("", ct_buf_text(&text)), CTRACE_DAMAGED);
	ct_buf_fini(&text);
	assert_int_equal(seen.count, 1);
	assert_non_null(strstr(seen.diagnostic[0].message, "is one record too many"));
}

/* What could be made of many large copybooks is bounded, also when each of them is in the bounds of
 * its own. */
static void too_many_fields(void **state)
{
	struct ct_buf text;

	(void)state;
	write_copybooks();
	ct_buf_init(&text);
	ct_buf_add_text(&text, "       01 rec.\n");
	for (unsigned i = 0; i < 8000; i++)
		ct_buf_add_format(&text, "          03 f%u pic x.\n", i);
	write_file("own/LARGE.cpy", ct_buf_text(&text));
	ct_buf_clear(&text);
	for (unsigned i = 0; i < 40; i++) {
		char slashes[64];

		memset(slashes, '/', sizeof slashes);
		ct_buf_add_format(&text, "  - {name: a%u, copybook: .%.*sLARGE.cpy}\n", i,
				  (int)i + 1, slashes);
	}
	assert_int_equal(read_items("", ct_buf_text(&text)), CTRACE_DAMAGED);
	ct_buf_fini(&text);
	assert_int_equal(seen.count, 40 - CT_CATALOG_FIELDS / 8001);
	assert_non_null(
		strstr(seen.diagnostic[0].message, "is too much, with the copybooks before it"));
}

int test_catalog_record(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST(beside_the_catalogue),
		CATALOG_TEST(each_is_read_once),
		CATALOG_TEST(as_its_compiler_has_it),
		CATALOG_TEST(a_table_that_slides),
		CATALOG_TEST(in_its_directories),
		CATALOG_TEST(directories_of_each_component),
		CATALOG_TEST(by_its_path),
		CATALOG_TEST(what_is_not_there),
		CATALOG_TEST(diagnostics_in_copybooks),
		CATALOG_TEST(a_record_that_is_not_there),
		CATALOG_TEST(too_many),
		CATALOG_TEST(too_many_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
