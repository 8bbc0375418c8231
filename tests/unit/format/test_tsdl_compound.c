/*
 * test_tsdl_compound.c - types made of others in metadata: alignment, lengths, tags, how deep they
 * stand, and what is none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tsdl_fixture.h"

static void structs_and_their_alignment(void **state)
{
	const struct ct_tsdl_type *type = fields_of(
		"struct s { integer { size = 3; } a; integer { size = 32; align = 32; } b; } x; struct s y; "
		"struct { u8 a; } align(64) z; struct t { u8 q; }; struct t w;");

	(void)state;
	assert_int_equal(type->count, 4);
	assert_int_equal(type->fields[0].type->align, 32);
	assert_ptr_equal(type->fields[1].type, type->fields[0].type);
	assert_int_equal(type->fields[2].type->align, 64);
	assert_int_equal(type->align, 64);
	assert_int_equal(type->depth, 3);
	assert_false(type->may_be_empty);
}

static void arrays_and_sequences(void **state)
{
	const struct ct_tsdl_type *type = fields_of(
		"u8 a[2][3], b; u8 n; u8 c[n]; u8 d[stream.event.header.x.y]; string e[0];");
	const struct ct_tsdl_type *a = type->fields[0].type, *d = type->fields[4].type;

	(void)state;
	assert_int_equal(a->length, 2);
	assert_int_equal(a->element->length, 3);
	assert_int_equal(a->element->element->kind, CT_TSDL_INTEGER);
	assert_int_equal(type->fields[1].type->kind, CT_TSDL_INTEGER);
	assert_true(type->fields[2].is_length);
	assert_false(type->fields[1].is_length);
	assert_int_equal(type->fields[3].type->kind, CT_TSDL_SEQUENCE);
	assert_true(type->fields[2].name->is_referenced);
	assert_int_equal(d->reference->scope, CT_SCOPE_EVENT_HEADER);
	assert_int_equal(d->reference->count, 2);
	assert_string_equal(d->reference->path[1]->text, "y");
	assert_true(type->fields[5].type->may_be_empty);
}

static void variants(void **state)
{
	const struct ct_tsdl_type *type = fields_of(
		"enum : u8 { a, b } t; variant <t> { u8 a; string b; } x; variant v { u8 a; }; variant v <t> y;");

	(void)state;
	assert_int_equal(type->count, 3);
	assert_int_equal(type->fields[1].type->count, 2);
	assert_int_equal(type->fields[1].type->align, 1);
	assert_string_equal(type->fields[2].type->reference->path[0]->text, "t");
	assert_int_equal(type->fields[2].type->count, 1);
}

static void what_is_no_type(void **state)
{
	(void)state;
	refuses("struct s;", "3:9 no such type has been declared\n");
	refuses("struct s { struct s x; };", "3:21 no such type has been declared\n");
	refuses("struct s { u8 a[-1]; };", "3:17 a name is missing\n");
	refuses("struct s { u8; u8 };", "3:19 a name is missing\n");
}

static void depth_has_an_end(void **state)
{
	char text[4096] = "event { fields := struct { u8 a";

	(void)state;
	for (unsigned i = 0; i < 62; i++)
		strcat(text, "[2]");
	strcat(text, "; }; };");
	refuses(text, "");
	assert_int_equal(tsdl->events[0].fields->depth, CT_TSDL_DEPTH);
	strcpy(text + strlen(text) - 7, "[2]; }; };");
	refuses(text, "3:224 types stand more than 64 deep in each other\n");
	strcpy(text, "struct s0 { u8 a; };");
	for (unsigned i = 1; i < 80; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text),
			       "struct s%u { struct s%u a; };", i, i - 1);
	refuses(text, "3:1828 types stand more than 64 deep in each other\n");
}

int test_tsdl_compound(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(structs_and_their_alignment, teardown),
		cmocka_unit_test_teardown(arrays_and_sequences, teardown),
		cmocka_unit_test_teardown(variants, teardown),
		cmocka_unit_test_teardown(what_is_no_type, teardown),
		cmocka_unit_test_teardown(depth_has_an_end, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
