/*
 * test_tsdl_types.c - types in metadata: sizes, alignments, names and what is no type.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "foreign_fixture.h"

#define BASICS \
	"typealias integer { size = 8; } := u8;\n" \
	"typealias integer { size = 32; signed = true; byte_order = be; base = hex; } := unsigned long int;\n"

static struct ct_tsdl *tsdl;

/* The fields of the only event, of which this is the text. */
static const struct ct_tsdl_type *fields_of(const char *text)
{
	char whole[2048];

	(void)snprintf(whole, sizeof whole, BASICS "event { fields := struct { %s }; };", text);
	ct_tsdl_destroy(tsdl);
	tsdl = parse_well(whole);
	assert_int_equal(tsdl->event_count, 1);
	return tsdl->events[0].fields;
}

static void refuses(const char *text, const char *complaint)
{
	char whole[4096];

	(void)snprintf(whole, sizeof whole, BASICS "%s", text);
	ct_tsdl_destroy(tsdl);
	tsdl = parse(whole);
	assert_string_equal(said, complaint);
}

static int teardown(void **state)
{
	(void)state;
	ct_tsdl_destroy(tsdl);
	tsdl = NULL;
	return 0;
}

static void integers(void **state)
{
	const struct ct_tsdl_type *type =
		fields_of("u8 a; unsigned long int b; integer { size = 13; } c; integer { size = 24; align = 4; map = "
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

static void enumerations(void **state)
{
	const struct ct_tsdl_type *type = fields_of("enum e : u8 { A, B = 5, C, \"D D\" = 7 ... 9, E, } a; enum e b;")->fields[0].type;
	static const struct {
		const char *name;
		unsigned from, to;
	} labels[] = { { "A", 0, 0 }, { "B", 5, 5 }, { "C", 6, 6 }, { "D D", 7, 9 }, { "E", 10, 10 } };

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

static void structs_and_their_alignment(void **state)
{
	const struct ct_tsdl_type *type =
		fields_of("struct s { integer { size = 3; } a; integer { size = 32; align = 32; } b; } x; struct s y; "
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
	const struct ct_tsdl_type *type = fields_of("u8 a[2][3], b; u8 n; u8 c[n]; u8 d[stream.event.header.x.y]; string e[0];");
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
	const struct ct_tsdl_type *type =
		fields_of("enum : u8 { a, b } t; variant <t> { u8 a; string b; } x; variant v { u8 a; }; variant v <t> y;");

	(void)state;
	assert_int_equal(type->count, 3);
	assert_int_equal(type->fields[1].type->count, 2);
	assert_int_equal(type->fields[1].type->align, 1);
	assert_string_equal(type->fields[2].type->reference->path[0]->text, "t");
	assert_int_equal(type->fields[2].type->count, 1);
}

static void names_of_types(void **state)
{
	const struct ct_tsdl_type *type = fields_of("typedef u8 pair[2], one; pair a; one b; typealias u8 := void *; void * c; "
						    "struct { typedef unsigned long int one; one x; } d; one e;");

	(void)state;
	assert_int_equal(type->fields[0].type->length, 2);
	assert_int_equal(type->fields[1].type->size, 8);
	assert_int_equal(type->fields[2].type->size, 8);
	assert_int_equal(type->fields[3].type->fields[0].type->size, 32);
	assert_int_equal(type->fields[4].type->size, 8);
}

static void what_is_no_type(void **state)
{
	(void)state;
	refuses("typealias integer { size = 65; } := a;", "3:30 ctrace reads no integers of this size\n");
	refuses("typealias integer { } := a;", "3:23 the integer has no size\n");
	refuses("typealias integer { size = 8; align = 3; } := a;", "3:40 an alignment is a power of two\n");
	refuses("typealias integer { size = 8; signed = maybe; } := a;", "3:45 this is neither true nor false\n");
	refuses("typealias floating_point { exp_dig = 15; mant_dig = 64; } := a;",
		"3:59 ctrace reads no floating point of these numbers of digits\n");
	refuses("typealias u16 := a;", "3:11 the type \"u16\" is not known\n");
	refuses("typedef u8 a", "3:13 the metadata end\n");
	refuses("typedef string s; enum e : s { A };", "3:30 the type of the enumeration is not known\n");
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
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "struct s%u { struct s%u a; };", i, i - 1);
	refuses(text, "3:1828 types stand more than 64 deep in each other\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(integers, teardown),
					    cmocka_unit_test_teardown(enumerations, teardown),
					    cmocka_unit_test_teardown(structs_and_their_alignment, teardown),
					    cmocka_unit_test_teardown(arrays_and_sequences, teardown),
					    cmocka_unit_test_teardown(variants, teardown),
					    cmocka_unit_test_teardown(names_of_types, teardown),
					    cmocka_unit_test_teardown(what_is_no_type, teardown),
					    cmocka_unit_test_teardown(depth_has_an_end, teardown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
