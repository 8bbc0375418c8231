/*
 * catalog_fixture.h - what the tests of catalogues share: one that is empty before each test, and
 * what was reported about.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_FIXTURE_H
#define CT_CATALOG_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_load.h"

#define UNUSED __attribute__((unused))

static struct ct_catalog *catalog;

static struct seen {
	unsigned count; /* also of those that there is no room for */
	char path[24][64];
	struct ct_diagnostic diagnostic[24];
} seen;

static UNUSED void see(const char *path, const struct ct_diagnostic *diagnostic, void *user)
{
	struct seen *to = user;

	if (to->count < CT_COUNT(to->diagnostic)) {
		(void)snprintf(to->path[to->count], sizeof to->path[0], "%s", path);
		to->diagnostic[to->count] = *diagnostic;
	}
	to->count++;
}

static UNUSED int catalog_setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof seen);
	return ct_catalog_create(&catalog) == CTRACE_OK ? 0 : -1;
}

static UNUSED int catalog_teardown(void **state)
{
	(void)state;
	ct_catalog_destroy(catalog);
	catalog = NULL;
	return 0;
}

#define CATALOG_TEST(name) cmocka_unit_test_setup_teardown(name, catalog_setup, catalog_teardown)

static UNUSED void show_seen(void)
{
	for (unsigned i = 0; i < seen.count && i < CT_COUNT(seen.diagnostic); i++)
		print_message("# %s:%u:%u: %s; expected %s\n", seen.path[i],
			      seen.diagnostic[i].line, seen.diagnostic[i].column,
			      seen.diagnostic[i].message, seen.diagnostic[i].expected);
}

static UNUSED enum ctrace_status parse_sized(const char *text, size_t size)
{
	memset(&seen, 0, sizeof seen);
	return ct_catalog_parse(catalog, "test.yaml", text, size, see, &seen);
}

/* A catalogue without errors. */
static UNUSED void parse(const char *text)
{
	enum ctrace_status status = parse_sized(text, strlen(text));

	show_seen();
	assert_int_equal(status, CTRACE_OK);
	assert_int_equal(seen.count, 0);
}

/* One with errors, which adds nothing. */
static UNUSED void parse_bad(const char *text)
{
	struct ct_catalog *saved = catalog;

	assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
	assert_int_equal(parse_sized(text, strlen(text)), CTRACE_DAMAGED);
	assert_null(ct_catalog_at(catalog, 0));
	ct_catalog_destroy(catalog);
	catalog = saved;
}

static UNUSED void assert_seen(unsigned index, unsigned line, unsigned column, const char *message)
{
	assert_true(index < seen.count);
	assert_string_equal(seen.diagnostic[index].message, message);
	assert_int_equal(seen.diagnostic[index].line, line);
	assert_int_equal(seen.diagnostic[index].column, column);
	assert_true(seen.diagnostic[index].expected[0] != '\0');
}

/* The one error of a catalogue. */
static UNUSED void assert_diagnostic(const char *text, unsigned line, unsigned column,
				     const char *message, const char *expected)
{
	parse_bad(text);
	if (seen.count != 1)
		show_seen();
	assert_int_equal(seen.count, 1);
	assert_seen(0, line, column, message);
	if (expected != NULL)
		assert_string_equal(seen.diagnostic[0].expected, expected);
}

/* The one error of a catalogue, at the place of the @ in the text, which is not in what is read. */
static UNUSED void assert_marked(const char *marked, const char *message)
{
	static char text[4096];
	size_t size = strlen(marked);
	const char *mark = strchr(marked, '@');
	unsigned line = 1;
	unsigned column = 1;

	assert_non_null(mark);
	assert_true(size <= sizeof text);
	(void)snprintf(text, sizeof text, "%.*s%s", (int)(mark - marked), marked, mark + 1);
	for (const char *at = marked; at < mark; at++) {
		column = *at == '\n' ? 1 : column + 1;
		line += *at == '\n';
	}
	assert_diagnostic(text, line, column, message, NULL);
}

static UNUSED const struct ct_catalog_component *component(const char *name)
{
	const struct ct_catalog_component *found =
		ct_catalog_component(catalog, name, strlen(name));

	assert_non_null(found);
	return found;
}

static UNUSED const struct ct_event_type *event(const char *name, uint32_t event_id)
{
	const struct ct_event_type *found = ct_catalog_event(component(name), event_id);

	assert_non_null(found);
	assert_int_equal(found->event_id, event_id);
	return found;
}

static UNUSED void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

#endif
