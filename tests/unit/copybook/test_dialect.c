/*
 * test_dialect.c - names of dialects.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "catalog/copybook/copybook.h"

static void names_of_dialects_are_known(void **state)
{
	enum ct_dialect dialect = CT_DIALECT_COUNT;

	(void)state;
	for (int i = 0; i < CT_DIALECT_COUNT; i++) {
		const char *name = ct_dialect_name((enum ct_dialect)i);

		assert_true(ct_dialect_parse(name, strlen(name), &dialect));
		assert_int_equal(dialect, i);
	}
	assert_true(ct_dialect_parse("GnuCOBOL", 8, &dialect));
	assert_int_equal(dialect, CT_DIALECT_DEFAULT);
	assert_false(ct_dialect_parse("acu", 3, &dialect));
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(names_of_dialects_are_known) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
