/*
 * test_names_module.c - what the module catalog.so answers, as a guest: names or nothing, and errno
 * as it was.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../catalog/catalog_fixture.h"

#include <errno.h>

#include "lib/emit/emit.h"
#include "format/format.h"

extern const struct ct_names_module ct_names_module;

static bool names_of(void *opened, const char *name, uint32_t event_id, struct ct_class_names *out)
{
	return ct_names_module.names(opened, name, strlen(name), event_id, out);
}

static void names(void **state)
{
	struct ct_class_names out;
	void *opened;

	(void)state;
	write_file(
		"app.yaml",
		"component: APP\n"
		"events:\n"
		"  1: {mnemonic: OPEN, arguments: [file, {name: record, copybook: NOWHERE.cpy}]}\n"
		"  2: CLOSE\n");
	write_file("bad.yaml", "component: BAD\nevent: {}\n");
	opened = ct_names_module.open("app.yaml:bad.yaml:nothing.yaml", "/nowhere");
	assert_non_null(opened);
	assert_true(names_of(opened, "app.db", 1, &out)); /* its parent's */
	assert_string_equal(out.mnemonic, "OPEN");
	assert_int_equal(out.item_count, 2);
	assert_string_equal(out.items[0], "file");
	assert_string_equal(out.items[1], "record");
	assert_true(names_of(opened, "APP", 2, &out));
	assert_string_equal(out.mnemonic, "CLOSE");
	assert_int_equal(out.item_count, 0);
	assert_false(names_of(opened, "APP", 3, &out));
	assert_false(names_of(opened, "BAD", 1, &out));
	ct_names_module.close(opened);
	ct_names_module.close(NULL);
}

static void nothing_is_left(void **state)
{
	(void)state;
	write_file("bad.yaml", "component: BAD\nevent: {}\n");
	assert_null(ct_names_module.open("bad.yaml", "/nowhere"));
	assert_null(ct_names_module.open("nothing.yaml", "/nowhere"));
	assert_null(ct_names_module.open("", "/nowhere"));
}

static void errno_stays(void **state)
{
	struct ct_class_names out;
	void *opened;

	(void)state;
	write_file("app.yaml", "component: APP\n");
	errno = 4711;
	opened = ct_names_module.open("nothing.yaml:app.yaml", "/nowhere");
	assert_int_equal(errno, 4711);
	assert_non_null(opened);
	assert_false(names_of(opened, "APP", 3, &out));
	ct_names_module.close(opened);
	assert_int_equal(errno, 4711);
	assert_null(ct_names_module.open("nothing.yaml", "/nowhere"));
	assert_int_equal(errno, 4711);
}

static void more_items_than_a_class_has(void **state)
{
	struct ct_class_names out;
	struct ct_buf text;
	void *opened;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text, "component: APP\nevents: {1: {mnemonic: X, arguments: [");
	for (unsigned i = 0; i <= CT_CLASS_MAX_ITEMS; i++)
		ct_buf_add_format(&text, "a%u,", i);
	ct_buf_add_text(&text, "]}}\n");
	write_file("many.yaml", ct_buf_text(&text));
	ct_buf_fini(&text);
	opened = ct_names_module.open("many.yaml", "/nowhere");
	assert_non_null(opened);
	assert_true(names_of(opened, "APP", 1, &out));
	assert_int_equal(out.item_count, CT_CLASS_MAX_ITEMS);
	assert_string_equal(out.items[CT_CLASS_MAX_ITEMS - 1], "a255");
	ct_names_module.close(opened);
}

static void below_them_what_is_installed(void **state)
{
	struct ct_class_names out;
	void *opened;

	(void)state;
	assert_int_equal(mkdir("installed", 0700), 0);
	write_file("app.yaml", "component: APP\nevents: {1: OPEN}\n");
	write_file("installed/rts.yaml", "component: RTS\nevents: {6: ENTRY}\n");
	write_file("installed/app.yaml", "component: APP\nevents: {1: SHUT}\n");
	opened = ct_names_module.open("app.yaml", "installed");
	assert_non_null(opened);
	assert_true(names_of(opened, "RTS", 6, &out));
	assert_string_equal(out.mnemonic, "ENTRY");
	assert_true(names_of(opened, "APP", 1, &out));
	assert_string_equal(out.mnemonic, "OPEN");
	ct_names_module.close(opened);
	assert_null(ct_names_module.open("nothing.yaml", "installed"));
}

static void the_struct(void **state)
{
	(void)state;
	assert_int_equal(ct_names_module.size, sizeof(struct ct_names_module));
	assert_true(ct_names_module.open != NULL && ct_names_module.names != NULL &&
		    ct_names_module.close != NULL);
}

int test_catalog_names(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(errno_stays),
		cmocka_unit_test(more_items_than_a_class_has),
		cmocka_unit_test(below_them_what_is_installed),
		cmocka_unit_test(the_struct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
