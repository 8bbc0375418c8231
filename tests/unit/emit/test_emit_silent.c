/*
 * test_emit_silent.c - ES and STORAGE are names that are accepted, and silent.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"

static void accepts_and_writes_nothing(void **state)
{
	struct fixture *fixture = fixture_create(&ct_emit_es);
	char command[8192];

	(void)state;
	assert_string_equal(ct_emit_storage.name, "STORAGE");
	assert_int_equal(ct_emit_storage.flags, CTRACE_EMITTER_SILENT);
	assert_string_equal(ct_emit_es.name, "ES");
	assert_int_equal(ct_emit_es.flags, CTRACE_EMITTER_SILENT);
	assert_non_null(ct_emitter_property(&ct_emit_es, "level", 5));
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OK);
	ct_emit_es.close(fixture->self);
	(void)snprintf(command, sizeof command, "test -z \"$(ls -A '%s')\"", fixture->directory);
	assert_int_equal(system(command), 0);
	fixture_destroy(fixture);
}

int test_emit_silent(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepts_and_writes_nothing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
