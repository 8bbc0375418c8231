/*
 * test_native.c - the control half of ctrace/ctrace.h on this process: every status from its own
 * cause, errno kept.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/control/control.h"

static char too_long[300];

static int setup(void **state)
{
	(void)state;
	memset(too_long, 'x', sizeof too_long - 1);
	errno = 4711;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(errno, 4711);
	return 0;
}

static struct ctrace_tracer *get(const char *name)
{
	struct ctrace_tracer *tracer;

	assert_int_equal(ctrace_tracer_get(name, &tracer), CTRACE_OK);
	return tracer;
}

static uint32_t dests(const char *name)
{
	return ct_registry_entry(ct_target_self()->registry, get(name)->component)->dests;
}

static uint32_t bit(const char *name)
{
	uint32_t emitter;

	assert_int_equal(ct_emitter_find(name, strlen(name), &emitter), CTRACE_OK);
	return 1u << emitter;
}

static void tracers(void **state)
{
	struct ctrace_tracer *first = get("Native.One");
	struct ctrace_tracer *tracer = NULL;

	(void)state;
	assert_ptr_equal(get("native.ONE"), first);
	assert_string_equal(first->name, "Native.One");
	assert_int_equal(ctrace_tracer_get(NULL, &tracer), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_tracer_get("", &tracer), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_tracer_get("a..b", &tracer), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_tracer_get(too_long, &tracer), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_tracer_get("x", NULL), CTRACE_FAILURE);
	assert_null(tracer);
}

static void lines(void **state)
{
	(void)state;
	assert_int_equal(ctrace_configure("mftrace.level.lines = debug"), CTRACE_OK);
	assert_true(ctrace_enabled(get("lines"), CTRACE_DEBUG));
	assert_int_equal(ctrace_configure("mftrace.level.lines = none\n"), CTRACE_OK);
	assert_false(ctrace_enabled(get("lines"), CTRACE_FATAL));
	assert_int_equal(ctrace_configure(""), CTRACE_OK);
	assert_true(ctrace_has_command_line_());
	assert_int_equal(ctrace_configure("ctrace.command.line = off"), CTRACE_OK);
	assert_false(ctrace_has_command_line_());
	assert_int_equal(ctrace_configure("# comment"), CTRACE_OK);
	assert_int_equal(ctrace_configure(NULL), CTRACE_SYNTAX_ERROR);
	assert_int_equal(ctrace_configure("mftrace.levle = debug"), CTRACE_SYNTAX_ERROR);
	assert_int_equal(ctrace_configure("mftrace.level.lines = inof"), CTRACE_SYNTAX_ERROR);
	assert_int_equal(ctrace_configure("mftrace.dest.lines = nosuch"), CTRACE_SYNTAX_ERROR);
	assert_int_equal(ctrace_configure("mftrace.emitter.nosuch#x = y"), CTRACE_SYNTAX_ERROR);
}

static void levels(void **state)
{
	uint32_t level = 99;

	(void)state;
	assert_int_equal(ctrace_level_set("levels", CTRACE_ERROR), CTRACE_OK);
	assert_int_equal(ctrace_level_get("LEVELS.below", &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_ERROR);
	assert_int_equal(ctrace_level_set(NULL, CTRACE_FATAL), CTRACE_OK);
	assert_int_equal(ctrace_level_get("", &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_FATAL);
	assert_int_equal(ctrace_level_set("", CTRACE_LEVEL_NONE), CTRACE_OK);
	assert_int_equal(ctrace_level_get(NULL, &level), CTRACE_OK);
	assert_int_equal(level, CTRACE_LEVEL_NONE);
	assert_int_equal(ctrace_level_set("levels", 5), CTRACE_INVALID_TRACE_LEVEL);
	assert_int_equal(ctrace_level_set("levels", CT_LEVEL_UNSET), CTRACE_INVALID_TRACE_LEVEL);
	assert_int_equal(ctrace_level_set("a..b", 1), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_level_get("a..b", &level), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_level_get(too_long, &level), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_level_get("levels", NULL), CTRACE_FAILURE);
}

static void destinations(void **state)
{
	(void)state;
	assert_int_equal(ctrace_dest_set("dests", "ES", CTRACE_DEST_ADD), CTRACE_OK);
	assert_int_equal(dests("dests"), bit("TEXTFILE") | bit("ES"));
	assert_int_equal(ctrace_dest_set("dests", "Es", CTRACE_DEST_ADD | CTRACE_DEST_NOINHERIT),
			 CTRACE_OK);
	assert_int_equal(dests("dests"), bit("ES"));
	assert_int_equal(ctrace_dest_set("dests", "ES", CTRACE_DEST_REMOVE | CTRACE_DEST_NOINHERIT),
			 CTRACE_OK);
	assert_int_equal(dests("dests"), bit("TEXTFILE"));
	assert_int_equal(ctrace_dest_set("dests", "ES", CTRACE_DEST_REMOVE),
			 CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ctrace_dest_set("dests", "nosuch", CTRACE_DEST_ADD),
			 CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ctrace_dest_set("dests", "", CTRACE_DEST_ADD),
			 CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ctrace_dest_set("dests", NULL, CTRACE_DEST_ADD),
			 CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ctrace_dest_set("dests", too_long, CTRACE_DEST_ADD),
			 CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ctrace_dest_set("dests.", "ES", CTRACE_DEST_ADD),
			 CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_dest_set("dests.", "ES", CTRACE_DEST_REMOVE),
			 CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_dest_set(NULL, "ES", CTRACE_DEST_ADD), CTRACE_OK);
	assert_int_equal(dests("dests"), bit("ES"));
	assert_int_equal(ctrace_dest_set("", "ES", CTRACE_DEST_REMOVE), CTRACE_OK);
	assert_int_equal(dests("dests"), bit("TEXTFILE"));
}

static void component_properties(void **state)
{
	char value[8] = "before";
	size_t size = sizeof value;

	(void)state;
	assert_int_equal(ctrace_component_property_get("props", "p", value, &size),
			 CTRACE_PROPERTY_NOT_FOUND);
	assert_int_equal(size, sizeof value);
	assert_int_equal(ctrace_component_property_set("props", "p", "1234567"), CTRACE_OK);
	assert_int_equal(ctrace_component_property_get("Props", "P", value, &size), CTRACE_OK);
	assert_string_equal(value, "1234567");
	assert_int_equal(size, 7);
	/* no room for the NUL */
	assert_int_equal(ctrace_component_property_get("props", "p", value, &size),
			 CTRACE_BUFFER_TOO_SMALL);
	assert_int_equal(size, 7);
	size = 0;
	assert_int_equal(ctrace_component_property_get("props", "p", NULL, &size), CTRACE_OK);
	assert_int_equal(size, 7);
	assert_int_equal(ctrace_component_property_set("props", "p", NULL), CTRACE_OK);
	size = 1;
	assert_int_equal(ctrace_component_property_get("props", "p", value, &size), CTRACE_OK);
	assert_string_equal(value, "");
	assert_int_equal(size, 0);
	assert_int_equal(ctrace_component_property_get("props", "p", value, NULL), CTRACE_FAILURE);
	assert_int_equal(ctrace_component_property_get(NULL, "p", value, &size),
			 CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_component_property_get("props", NULL, value, &size),
			 CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ctrace_component_property_set("", "p", "v"),
			 CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ctrace_component_property_set("props", "", "v"), CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ctrace_component_property_set("props", too_long, "v"),
			 CTRACE_INVALID_PROP_NAME);
}

static void emitter_properties(void **state)
{
	char value[64];
	size_t size = sizeof value;

	(void)state;
	assert_int_equal(ctrace_emitter_property_get("TextFile", "HexBlockSize", value, &size),
			 CTRACE_OK);
	assert_string_equal(value, "8");
	assert_int_equal(size, 1);
	assert_int_equal(ctrace_emitter_property_set("textfile", "hexblocksize", "4"), CTRACE_OK);
	size = sizeof value;
	assert_int_equal(ctrace_emitter_property_get("TEXTFILE", "HEXBLOCKSIZE", value, &size),
			 CTRACE_OK);
	assert_string_equal(value, "4");
	assert_int_equal(ctrace_emitter_property_get("TEXTFILE", "nothing", value, &size),
			 CTRACE_PROPERTY_NOT_FOUND);
	assert_int_equal(ctrace_emitter_property_get("nosuch", "FILE", value, &size),
			 CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ctrace_emitter_property_get(NULL, "FILE", value, &size),
			 CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ctrace_emitter_property_get("TEXTFILE", "", value, &size),
			 CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ctrace_emitter_property_get("TEXTFILE", "FILE", value, NULL),
			 CTRACE_FAILURE);
	assert_int_equal(ctrace_emitter_property_set("nosuch", "FILE", "x"),
			 CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ctrace_emitter_property_set("", "FILE", "x"), CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ctrace_emitter_property_set("TEXTFILE", "", "x"),
			 CTRACE_INVALID_PROP_NAME);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int test_native(void)
{
	const struct CMUnitTest tests[] = {
		WITH(tracers),
		WITH(lines),
		WITH(levels),
		WITH(destinations),
		WITH(component_properties),
		WITH(emitter_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
