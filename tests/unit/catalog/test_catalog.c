/*
 * test_catalog.c - the set: which files are read, in which order, what is found in it, and how much
 * it takes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- look-up ---- */

static void finds_components(void **state)
{
	(void)state;
	parse("component: App.Db\n---\ncomponent: APP\n---\ncomponent: other\n");
	assert_string_equal(component("app.db")->name, "App.Db");
	assert_string_equal(component("APP.DB")->name, "App.Db");
	assert_string_equal(component("APP.DB.READ.X")->name, "App.Db"); /* the nearest parent's */
	assert_string_equal(component("APP.NET.READ")->name, "APP");
	assert_string_equal(component("Other")->name, "other");
	assert_null(ct_catalog_component(catalog, "APPX", 4));
	assert_null(ct_catalog_component(catalog, "X.APP", 5));
	assert_null(ct_catalog_component(catalog, "", 0));
	assert_null(ct_catalog_component(catalog, "...", 3));
	/* counted, not terminated */
	assert_ptr_equal(ct_catalog_component(catalog, "APPXYZ", 3), component("APP"));
	assert_string_equal(ct_catalog_at(catalog, 0)->name, "App.Db");
	assert_string_equal(ct_catalog_at(catalog, 2)->name, "other");
	assert_null(ct_catalog_at(catalog, 3));
}

static void finds_nothing_in_nothing(void **state)
{
	(void)state;
	assert_null(ct_catalog_component(catalog, "A", 1));
	assert_null(ct_catalog_at(catalog, 0));
	parse("component: A\n");
	assert_null(ct_catalog_event(component("A"), 0));
}

static void finds_events(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text, "component: A\nevents:\n");
	for (unsigned i = 0; i < 1000; i++) /* in another order than that of their ids */
		ct_buf_add_format(&text, "  %u: E%u\n", (i * 7 % 1000) * 3, (i * 7 % 1000) * 3);
	ct_buf_add_text(&text, "  0xFFFFFFFF: LAST\n");
	parse(ct_buf_text(&text));
	ct_buf_fini(&text);
	assert_int_equal(component("A")->event_count, 1001);
	for (unsigned id = 0; id < 3000; id++) {
		const struct ct_event_type *type = ct_catalog_event(component("A"), id);
		char name[16];

		assert_int_equal(type != NULL, id % 3 == 0);
		(void)snprintf(name, sizeof name, "E%u", id);
		if (type != NULL)
			assert_string_equal(type->mnemonic, name);
	}
	assert_string_equal(event("A", UINT32_MAX)->mnemonic, "LAST");
	assert_null(ct_catalog_event(component("A"), UINT32_MAX - 1));
}

static void many_components(void **state)
{
	struct ct_buf text;
	char name[16];

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i < 5000; i++)
		ct_buf_add_format(&text, "---\ncomponent: C%u\n", i);
	parse(ct_buf_text(&text));
	ct_buf_fini(&text);
	for (unsigned i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(strtoul(component(name)->name + 1, NULL, 10), i);
	}
}

/* ---- files ---- */

static void a_directory(void **state)
{
	(void)state;
	assert_int_equal(mkdir("directory", 0700), 0);
	write_file("directory/b.yaml", "component: B\nevents: {1: FIRST}\n");
	write_file("directory/a.yml", "component: A\n");
	write_file("directory/c.yaml", "component: b\nevents: {1: SECOND}\n");
	write_file("directory/.hidden.yaml", "component: H\n");
	write_file("directory/x.txt", "component: X\n");
	write_file("directory/yaml", "component: Y\n");
	assert_int_equal(ct_catalog_add(catalog, "directory", see, &seen), CTRACE_DAMAGED);
	assert_int_equal(seen.count, 1); /* the first one stays */
	assert_string_equal(seen.path[0], "directory/c.yaml");
	assert_seen(0, 1, 12, "\"b\" is described already, by another file");
	assert_string_equal(ct_catalog_at(catalog, 0)->name, "A");
	assert_string_equal(ct_catalog_at(catalog, 1)->name, "B");
	assert_string_equal(ct_catalog_at(catalog, 1)->path, "directory/b.yaml");
	assert_null(ct_catalog_at(catalog, 2));
	assert_string_equal(event("B", 1)->mnemonic, "FIRST");
}

static void what_cannot_be_read(void **state)
{
	(void)state;
	assert_int_equal(ct_catalog_add(catalog, "nothing.yaml", see, &seen), CTRACE_NOT_FOUND);
	assert_int_equal(seen.count, 0);
	assert_int_equal(mkdir("bad", 0700), 0);
	assert_int_equal(mkdir("bad/directory.yaml", 0700), 0);
	write_file("bad/good.yaml", "component: GOOD\n");
	write_file("bad/wrong.yaml", "component: WRONG\nevent: {}\n");
	assert_int_equal(ct_catalog_add(catalog, "bad", see, &seen), CTRACE_DAMAGED);
	assert_int_equal(seen.count, 2);
	assert_string_equal(seen.path[0], "bad/directory.yaml");
	assert_seen(0, 0, 0, "it is no regular file");
	assert_seen(1, 2, 1, "\"event\" is no key of a catalogue (did you mean events?)");
	assert_string_equal(component("GOOD")->name, "GOOD");
	assert_null(ct_catalog_at(catalog, 1));
}

static void without_who_is_reported(void **state)
{
	(void)state;
	assert_int_equal(ct_catalog_parse(catalog, "x", "a: b", 4, NULL, NULL), CTRACE_DAMAGED);
	assert_int_equal(ct_catalog_add(catalog, "nothing.yaml", NULL, NULL), CTRACE_NOT_FOUND);
	assert_int_equal(ct_catalog_add_list(catalog, "nothing.yaml", NULL, NULL),
			 CTRACE_NOT_FOUND);
	ct_catalog_destroy(NULL);
}

static void a_list(void **state)
{
	(void)state;
	assert_int_equal(mkdir("list", 0700), 0);
	write_file("list/a.yaml", "component: A\n");
	write_file("one", "component: ONE\n");
	assert_int_equal(ct_catalog_add_list(catalog, ":list::one:", see, &seen), CTRACE_OK);
	assert_int_equal(seen.count, 0);
	assert_string_equal(component("A")->path, "list/a.yaml");
	assert_string_equal(component("ONE")->path, "one");
	assert_int_equal(ct_catalog_add_list(catalog, "nix:list/a.yaml", see, &seen),
			 CTRACE_NOT_FOUND);
	assert_int_equal(seen.count, 2);
	assert_string_equal(seen.path[0], "nix");
	assert_seen(0, 0, 0, "there is no such file or directory");
	assert_seen(1, 1, 12, "\"A\" is described already, by another file");
}

static void the_environment(void **state)
{
	(void)state;
	unsetenv("CTRACE_CATALOG");
	unsetenv("MFTRACE_ANNOTATIONS");
	assert_int_equal(ct_catalog_add_environment(catalog, see, &seen), CTRACE_OK);
	assert_int_equal(mkdir("annotations", 0700), 0);
	write_file("annotations/a.yaml", "component: ANNOTATED\n");
	write_file("named", "component: NAMED\n");
	setenv("MFTRACE_ANNOTATIONS", "annotations", 1);
	assert_int_equal(ct_catalog_add_environment(catalog, see, &seen), CTRACE_OK);
	assert_string_equal(ct_catalog_at(catalog, 0)->name, "ANNOTATED");
	ct_catalog_destroy(catalog);
	assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
	setenv("CTRACE_CATALOG", "named", 1); /* goes before */
	assert_int_equal(ct_catalog_add_environment(catalog, see, &seen), CTRACE_OK);
	assert_string_equal(ct_catalog_at(catalog, 0)->name, "NAMED");
	assert_null(ct_catalog_at(catalog, 1));
	assert_int_equal(seen.count, 0);
	unsetenv("CTRACE_CATALOG");
	unsetenv("MFTRACE_ANNOTATIONS");
}

/* ---- what ctrace brings ---- */

static void an_installed_component_is_below_all_others(void **state)
{
	struct ct_catalog_counts counted;

	(void)state;
	assert_int_equal(mkdir("installed", 0700), 0);
	write_file("installed/a.yaml",
		   "component: MF.RTS\ndescription: run time\nevents: {1: ENTRY}\n---\n"
		   "component: MF.IO\nevents: {1: READ}\n---\n"
		   "component: MF.XFH\ndescription: files\n"
		   "events: {1: {mnemonic: OPEN, exception: true}}\n");
	write_file("installed/bad.yaml", "component: [\n");
	write_file("one.cpy", "       01  ONE.\n           05  A  PIC X(3).\n");
	parse("component: mf.rts\nevents: {1: OWN}\n---\ncomponent: APP\nevents: {1: X}\n---\n"
	      "component: mf.xfh\nrecords: {A: one.cpy}\n---\ncomponent: NONE\n");
	counted = ct_catalog_counts(catalog);
	assert_int_equal(ct_catalog_add_installed(catalog, "installed"), CTRACE_OK);
	assert_int_equal(ct_catalog_counts(catalog).diagnostics, 0);
	assert_int_equal(ct_catalog_counts(catalog).unread, 0);
	assert_int_equal(ct_catalog_counts(catalog).components, counted.components);
	assert_string_equal(event("MF.RTS", 1)->mnemonic, "OWN");
	assert_string_equal(event("MF.IO", 1)->mnemonic, "READ");
	/* Only what is called so: ids below it are another's. */
	assert_null(ct_catalog_component(catalog, "MF.IO.DISK", 10));
	assert_string_equal(event("MF.RTS.MEM", 1)->mnemonic, "OWN");
	/* Without events of its own it has the installed ones. */
	assert_string_equal(event("MF.XFH", 1)->mnemonic, "OPEN");
	assert_true(component("MF.XFH")->has_exception);
	assert_int_equal(component("MF.XFH")->choice_count, 1);
	assert_string_equal(component("MF.XFH")->description, "files");
	assert_int_equal(component("NONE")->event_count, 0);
	/* A parent that somebody has described goes before an installed component. */
	parse("component: MF\nevents: {1: ALL}\n");
	assert_string_equal(event("MF.IO", 1)->mnemonic, "ALL");
	assert_int_equal(ct_catalog_add_installed(catalog, "nowhere"), CTRACE_OK);
	assert_int_equal(ct_catalog_counts(catalog).unread, 0);
}

/* ---- counts and bounds ---- */

static void counts(void **state)
{
	struct ct_catalog_counts sum;

	(void)state;
	parse("component: A\nevents: {1: X, 2: Y}\n---\ncomponent: B\nevents: {1: X}\n");
	assert_int_equal(parse_sized("component: C\nevents: {1: X, 2: x, 3: Z, q: V}\n", 46),
			 CTRACE_DAMAGED);
	sum = ct_catalog_counts(catalog);
	assert_int_equal(sum.files, 2);
	assert_int_equal(sum.components, 3);
	assert_int_equal(sum.events, 7);
	assert_int_equal(sum.good_events, 5);
	assert_int_equal(sum.diagnostics, 2);
}

static void a_file_that_is_too_large(void **state)
{
	size_t size = CT_CATALOG_FILE_LIMIT + 1;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	memset(text, '\n', size);
	assert_int_equal(parse_sized(text, size), CTRACE_DAMAGED);
	assert_int_equal(seen.count, 1);
	assert_seen(0, 0, 0, "it is too large");
	free(text);
}

static void a_guest_takes_less(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_catalog_names_only(catalog);
	parse("component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, copybook: NOWHERE.cpy}]}}\n");
	assert_null(event("A", 1)->arguments[0].copybook);
	assert_string_equal(event("A", 1)->arguments[0].copybook_name, "NOWHERE.cpy");
	ct_buf_init(&text);
	ct_buf_add_text(&text, "component: B\nevents:\n  0: {mnemonic: E, arguments: &a [");
	for (unsigned i = 0; i < 1000; i++)
		ct_buf_add_format(&text, "a%u,", i);
	ct_buf_add_text(&text, "]}\n");
	for (unsigned i = 1; i < 300; i++)
		ct_buf_add_format(&text, "  %u: {mnemonic: E%u, arguments: *a}\n", i, i);
	assert_int_equal(parse_sized(ct_buf_text(&text), text.size), CTRACE_DAMAGED);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.diagnostic[0].message,
			    "with this there is too much in the catalogue");
	assert_null(ct_catalog_component(catalog, "B", 1));
	ct_catalog_destroy(catalog);
	assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
	parse(ct_buf_text(&text)); /* who is no guest has room for it */
	ct_buf_fini(&text);
}

static void a_byte_order_mark(void **state)
{
	(void)state;
	parse("\xEF\xBB\xBF"
	      "component: A\r\nevents:\r\n  1: X\r\n");
	assert_string_equal(event("A", 1)->mnemonic, "X");
}

int test_catalog(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST(finds_components),
		CATALOG_TEST(finds_nothing_in_nothing),
		CATALOG_TEST(finds_events),
		CATALOG_TEST(many_components),
		CATALOG_TEST(a_directory),
		CATALOG_TEST(what_cannot_be_read),
		CATALOG_TEST(without_who_is_reported),
		CATALOG_TEST(a_list),
		CATALOG_TEST(the_environment),
		CATALOG_TEST(an_installed_component_is_below_all_others),
		CATALOG_TEST(counts),
		CATALOG_TEST(a_file_that_is_too_large),
		CATALOG_TEST(a_guest_takes_less),
		CATALOG_TEST(a_byte_order_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
