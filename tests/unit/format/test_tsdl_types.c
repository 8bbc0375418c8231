/*
 * test_tsdl_types.c - which type stands where in metadata, by its name too, and what is no type.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tsdl_fixture.h"

static void names_of_types(void **state)
{
	const struct ct_tsdl_type *type = fields_of(
		"typedef u8 pair[2], one; pair a; one b; typealias u8 := void *; void * c; "
		"struct { typedef unsigned long int one; one x; } d; one e;");

	(void)state;
	assert_int_equal(type->fields[0].type->length, 2);
	assert_int_equal(type->fields[1].type->size, 8);
	assert_int_equal(type->fields[2].type->size, 8);
	assert_int_equal(type->fields[3].type->fields[0].type->size, 32);
	assert_int_equal(type->fields[4].type->size, 8);
}

static void names_of_several_words(void **state)
{
	const struct ct_tsdl_type *type = fields_of(
		"unsigned long int a; typealias u8 := char * *; char * * b; "
		"typealias u8 := ab c; typealias unsigned long int := a bc; ab c c; a bc d;");

	(void)state;
	assert_int_equal(type->fields[0].type->size, 32);
	assert_string_equal(type->fields[0].name->text, "a");
	assert_int_equal(type->fields[1].type->size, 8);
	assert_string_equal(type->fields[1].name->text, "b");
	assert_int_equal(type->fields[2].type->size, 8);
	assert_int_equal(type->fields[3].type->size, 32);
	assert_string_equal(type->fields[1].type->alias->text, "char * *");
	assert_string_equal(type->fields[3].type->alias->text, "a bc");
	assert_string_equal(type->fields[0].type->alias->text, "unsigned long int");
}

static void what_is_no_type(void **state)
{
	(void)state;
	refuses("typealias u16 := a;", "3:11 the type \"u16\" is not known\n");
	refuses("typedef u8 a", "3:13 the metadata end\n");
}

int test_tsdl_types(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(names_of_types, teardown),
		cmocka_unit_test_teardown(names_of_several_words, teardown),
		cmocka_unit_test_teardown(what_is_no_type, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
