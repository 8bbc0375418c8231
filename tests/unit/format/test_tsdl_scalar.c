/*
 * test_tsdl_scalar.c - types of one value in metadata: sizes, alignments, encodings, labels, and
 * what is none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tsdl_fixture.h"

static void integers(void **state)
{
	const struct ct_tsdl_type *type = fields_of(
		"u8 a; unsigned long int b; integer { size = 13; } c; integer { size = 24; align = 4; map = "
		"clock.x.y.value; encoding = UTF8; byte_order = network; } d;");

	(void)state;
	assert_int_equal(type->count, 4);
	assert_int_equal(type->align, 8);
	assert_int_equal(type->fields[0].type->align, 8);
	assert_true(type->fields[1].type->is_signed);
	assert_int_equal(type->fields[1].type->order, CT_ORDER_BE);
	assert_int_equal(type->fields[1].type->base, 16);
	assert_int_equal(type->fields[2].type->align, 1);
	assert_int_equal(type->fields[3].type->align, 4);
	assert_string_equal(type->fields[3].type->clock->text, "x.y");
	assert_int_equal(type->fields[3].type->encoding, CT_ENCODED_UTF8);
}

static void floating_point(void **state)
{
	const struct ct_tsdl_type *type =
		fields_of("floating_point { exp_dig = 8; mant_dig = 24; byte_order = be; } a; "
			  "floating_point { exp_dig = 11; mant_dig = 53; align = 64; } b;");

	(void)state;
	assert_int_equal(type->fields[0].type->kind, CT_TSDL_FLOAT);
	assert_int_equal(type->fields[0].type->size, 32);
	assert_int_equal(type->fields[0].type->order, CT_ORDER_BE);
	assert_int_equal(type->fields[0].type->align, 1);
	assert_int_equal(type->fields[1].type->size, 64);
	assert_int_equal(type->fields[1].type->align, 64);
}

static void strings(void **state)
{
	const struct ct_tsdl_type *type = fields_of("string a; string { encoding = ASCII; } b;");

	(void)state;
	assert_int_equal(type->fields[0].type->kind, CT_TSDL_STRING);
	assert_int_equal(type->fields[0].type->align, 8);
	assert_int_equal(type->fields[0].type->encoding, CT_ENCODED_UTF8);
	assert_int_equal(type->fields[1].type->encoding, CT_ENCODED_ASCII);
}

static void enumerations(void **state)
{
	const struct ct_tsdl_type *type =
		fields_of("enum e : u8 { A, B = 5, C, \"D D\" = 7 ... 9, E, } a; enum e b;")
			->fields[0]
			.type;
	static const struct {
		const char *name;
		unsigned from, to;
	} labels[] = {
		{ "A", 0, 0 }, { "B", 5, 5 }, { "C", 6, 6 }, { "D D", 7, 9 }, { "E", 10, 10 }
	};

	(void)state;
	assert_int_equal(type->kind, CT_TSDL_ENUM);
	assert_int_equal(type->size, 8);
	assert_int_equal(type->count, CT_COUNT(labels));
	for (size_t i = 0; i < CT_COUNT(labels); i++) {
		assert_string_equal(type->labels[i].name->text, labels[i].name);
		assert_int_equal(type->labels[i].from, labels[i].from);
		assert_int_equal(type->labels[i].to, labels[i].to);
	}
	assert_ptr_equal(tsdl->events[0].fields->fields[1].type, type);
}

static void what_is_no_type(void **state)
{
	(void)state;
	refuses("typealias integer { size = 65; } := a;",
		"3:30 ctrace reads no integers of this size\n");
	refuses("typealias integer { } := a;", "3:23 the integer has no size\n");
	refuses("typealias integer { size = 8; align = 3; } := a;",
		"3:40 an alignment is a power of two\n");
	refuses("typealias integer { size = 8; signed = maybe; } := a;",
		"3:45 this is neither true nor false\n");
	refuses("typealias floating_point { exp_dig = 15; mant_dig = 64; } := a;",
		"3:59 ctrace reads no floating point of these numbers of digits\n");
	refuses("typedef string s; enum e : s { A };",
		"3:30 the type of the enumeration is not known\n");
	refuses("typealias string { encoding = latin1; } := a;",
		"3:37 this encoding is not known\n");
	refuses("typealias integer { size = 8; map = clock.value; } := a;",
		"3:48 what this is mapped to is not known\n");
}

int test_tsdl_scalar(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(integers, teardown),
		cmocka_unit_test_teardown(floating_point, teardown),
		cmocka_unit_test_teardown(strings, teardown),
		cmocka_unit_test_teardown(enumerations, teardown),
		cmocka_unit_test_teardown(what_is_no_type, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
