/*
 * test_event_names.c - the module that reads catalogues: when it is loaded, what it is asked, and
 * that nothing is missed without it.
 *
 * One test after the other in one process: a module is looked for once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "catalog/catalog.h"
#include "lib/emit/emit.h"
#include "format/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_catalog(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs("component: NAMED\nevents:\n  12: {mnemonic: OPEN, arguments: [{name: path}]}\n",
	      file);
	assert_int_equal(fclose(file), 0);
}

/* What the schema of a trace calls event 12 of the component; "" when it has a number. */
static const char *mnemonic_of(struct ct_event_names *names, const char *component)
{
	const struct ctrace_event event = { .component = component,
					    .component_size = (uint32_t)strlen(component),
					    .event_id = 12 };
	static char found[64];
	const struct ct_class *class;
	struct ct_schema *schema;

	assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
	ct_event_names_use(names, schema);
	class = ct_schema_class(schema, &event, NULL);
	assert_int_equal(ct_schema_count(schema), 2);
	(void)snprintf(found, sizeof found, "%s",
		       class->names != NULL ? class->names->mnemonic : "");
	ct_schema_destroy(schema);
	return found;
}

static void nobody_asks_and_nothing_is_loaded(void **state)
{
	uint32_t index;

	(void)state;
	write_catalog("names.yaml");
	assert_int_equal(ct_emitter_find("binfile", 7, &index), CTRACE_OK);
	assert_null(ct_event_names_open("names.yaml"));
	ct_event_names_load_when_set(); /* no variable is */
	assert_null(ct_event_names_open("names.yaml"));
	ct_emitter_prepare(index, (struct ct_span){ "LEVEL", 5 }, (struct ct_span){ "x", 1 });
	ct_emitter_prepare(index, (struct ct_span){ "CATALOG", 7 },
			   (struct ct_span){ CT_CATALOG_BUILT_IN, 8 });
	assert_null(ct_event_names_open("names.yaml"));
	ct_event_names_close(NULL);
	assert_string_equal(mnemonic_of(NULL, "NAMED"), "");
}

/* Looking for the emitter is what a thread does that gives a command. */
static void the_environment_asks(void **state)
{
	struct ct_event_names *names;
	uint32_t index;

	(void)state;
	assert_int_equal(setenv("CTRACE_CATALOG", "names.yaml", 1), 0);
	assert_null(ct_event_names_open(NULL));
	assert_int_equal(ct_emitter_find("textfile", 8, &index), CTRACE_OK);
	assert_null(ct_event_names_open(NULL));
	/* Nothing is loaded under a lock, nor by who only looks. */
	ct_guard_enter();
	assert_int_equal(ct_emitter_find("binfile", 7, &index), CTRACE_OK);
	ct_event_names_load();
	ct_guard_leave();
	assert_int_equal(ct_emitter_find_known("binfile", 7, &index), CTRACE_OK);
	assert_null(ct_event_names_open(NULL));
	assert_int_equal(ct_emitter_find("binfile", 7, &index), CTRACE_OK);
	names = ct_event_names_open(NULL);
	assert_non_null(names);
	assert_string_equal(mnemonic_of(names, "NAMED"), "OPEN");
	assert_string_equal(mnemonic_of(names, "OTHER"), "");
	ct_event_names_close(names);
}

static void a_path_goes_before_the_environment(void **state)
{
	struct ct_event_names *names;

	(void)state;
	assert_int_equal(setenv("CTRACE_CATALOG", "/nowhere", 1), 0);
	assert_null(ct_event_names_open(NULL));
	assert_null(ct_event_names_open(""));
	names = ct_event_names_open("names.yaml:/nowhere");
	assert_non_null(names);
	assert_string_equal(mnemonic_of(names, "NAMED"), "OPEN");
	ct_event_names_close(names);
	assert_null(ct_event_names_open("/nowhere"));
	assert_int_equal(unsetenv("CTRACE_CATALOG"), 0);
	assert_null(ct_event_names_open(NULL));
	assert_int_equal(setenv("MFTRACE_ANNOTATIONS", ".", 1), 0);
	names = ct_event_names_open(NULL);
	assert_non_null(names);
	ct_event_names_close(names);
	assert_int_equal(unsetenv("MFTRACE_ANNOTATIONS"), 0);
}

static void event_compare(const struct ct_catalog_component *component,
			  const struct ct_event_type *type, struct ct_schema *schema)
{
	const struct ctrace_event_item items[CT_CLASS_MAX_ITEMS] = { { 0 } };
	const struct ctrace_event event = { .component = component->name,
					    .component_size = (uint32_t)strlen(component->name),
					    .event_id = type->event_id,
					    .item_count = type->argument_count,
					    .items = items };
	const struct ct_class *class = ct_schema_class(schema, &event, NULL);

	assert_non_null(class->names);
	assert_string_equal(class->names->mnemonic, type->mnemonic);
	assert_int_equal(class->names->item_count, type->argument_count);
	for (uint32_t i = 0; i < type->argument_count; i++)
		assert_string_equal(class->names->items[i], type->arguments[i].name);
}

/* The table that the build makes is what the reader finds in our catalogues. */
static void the_run_times_events_have_names_without_a_file(void **state)
{
	struct ct_event_names *names = ct_event_names_open("names.yaml:" CT_CATALOG_BUILT_IN);
	const struct ct_catalog_component *component;
	struct ct_catalog *catalog;
	struct ct_schema *schema;
	char directory[4096];
	uint32_t count = 0;

	(void)state;
	assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
	(void)snprintf(directory, sizeof directory, "%s/catalog", getenv("CTRACE_BUILD"));
	assert_int_equal(ct_catalog_add_list(catalog, directory, NULL, NULL), CTRACE_OK);
	assert_int_equal(ct_schema_create(&schema), CTRACE_OK);
	ct_event_names_use(names, schema);
	for (uint32_t i = 0; (component = ct_catalog_at(catalog, i)) != NULL; i++)
		for (uint32_t j = 0; j < component->event_count; j++, count++)
			event_compare(component, &component->events[j], schema);
	assert_true(count > 40);
	assert_string_equal(mnemonic_of(names, "NAMED"), "OPEN");
	assert_null(ct_event_names_open("/nowhere/" CT_CATALOG_BUILT_IN));
	ct_schema_destroy(schema);
	ct_event_names_close(names);
	ct_catalog_destroy(catalog);
}

int test_event_names(void)
{
	const char *build = getenv("CTRACE_BUILD");
	char directory[4096];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_asks_and_nothing_is_loaded),
		cmocka_unit_test(the_environment_asks),
		cmocka_unit_test(a_path_goes_before_the_environment),
		cmocka_unit_test(the_run_times_events_have_names_without_a_file),
	};

	(void)snprintf(directory, sizeof directory, "%s/modules", build != NULL ? build : "build");
	(void)setenv("CTRACE_EMITTERS", directory, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
