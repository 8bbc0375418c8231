/*
 * test_third_party_name.c - what fields are called where they stand, and what they are for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../format/third_party_fixture.h"

static struct ct_third_party_tree tree;

static int teardown(void **state)
{
	(void)state;
	ct_third_party_tree_fini(&tree);
	return 0;
}

static void places_have_names(void **state)
{
	struct ct_tsdl *tsdl = parse_well(
		"event { fields := struct { struct { string _b; string __c; } a; variant <a> { string x; } v; }; };");
	const struct ct_tsdl_type *type = tsdl->events[0].fields;
	struct ct_third_party_place *root = ct_third_party_root(&tree), *a, *c, *v, *x;

	(void)state;
	a = ct_third_party_member(&tree, root, CT_SCOPE_EVENT_FIELDS, type, 0);
	c = ct_third_party_member(&tree, a, CT_SCOPE_EVENT_FIELDS, type->fields[0].type, 1);
	v = ct_third_party_member(&tree, root, CT_SCOPE_EVENT_FIELDS, type, 1);
	x = ct_third_party_choice(&tree, v, type->fields[1].type, 0);
	assert_string_equal(a->name, "a");
	assert_string_equal(
		ct_third_party_member(&tree, a, CT_SCOPE_EVENT_FIELDS, type->fields[0].type, 0)
			->name,
		"a.b");
	assert_string_equal(c->name, "a._c");
	assert_string_equal(x->name, "v");
	assert_string_equal(ct_third_party_element(&tree, c, 17)->name, "a._c[17]");
	assert_string_equal(
		ct_third_party_element(&tree, ct_third_party_element(&tree, c, 17), 0)->name,
		"a._c[17][0]");
	assert_string_equal(ct_third_party_label(&tree, a)->name, "a.label");
	assert_ptr_equal(ct_third_party_member(&tree, root, CT_SCOPE_EVENT_FIELDS, type, 0), a);
	assert_ptr_equal(ct_third_party_choice(&tree, v, type->fields[1].type, 0), x);
	assert_ptr_equal(ct_third_party_label(&tree, a), ct_third_party_label(&tree, a));
	assert_ptr_equal(ct_third_party_element(&tree, c, 1000000),
			 ct_third_party_element(&tree, c, CTRACE_MAX_ITEMS - 1));
	ct_tsdl_destroy(tsdl);
}

static enum ct_third_party_role role(enum ct_tsdl_scope scope, const char *field)
{
	char text[256];
	struct ct_third_party_place *place;
	struct ct_tsdl *tsdl;

	(void)snprintf(
		text, sizeof text,
		"typealias integer { size = 8; } := u8; event { fields := struct { %s; u8 other; }; };",
		field);
	tsdl = parse_well(text);
	place = ct_third_party_member(&tree, ct_third_party_root(&tree), scope,
				      tsdl->events[0].fields, 0);
	ct_tsdl_destroy(tsdl);
	return (enum ct_third_party_role)place->role;
}

static void fields_have_roles(void **state)
{
	(void)state;
	assert_int_equal(role(CT_SCOPE_PACKET_HEADER, "u8 magic"), CT_ROLE_MAGIC);
	assert_int_equal(role(CT_SCOPE_PACKET_HEADER, "u8 uuid[16]"), CT_ROLE_UUID);
	assert_int_equal(role(CT_SCOPE_PACKET_HEADER, "u8 uuid[15]"), CT_ROLE_ITEM);
	assert_int_equal(role(CT_SCOPE_PACKET_CONTEXT, "u8 content_size"), CT_ROLE_CONTENT_SIZE);
	assert_int_equal(role(CT_SCOPE_PACKET_CONTEXT, "string content_size"), CT_ROLE_ITEM);
	assert_int_equal(role(CT_SCOPE_EVENT_HEADER, "u8 id"), CT_ROLE_EVENT_ID);
	assert_int_equal(
		role(CT_SCOPE_EVENT_HEADER, "integer { size = 8; map = clock.c.value; } t"),
		CT_ROLE_TIME);
	assert_int_equal(role(CT_SCOPE_STREAM_EVENT_CONTEXT, "u8 _vpid"), CT_ROLE_VPID);
	assert_int_equal(role(CT_SCOPE_EVENT_CONTEXT, "u8 tid"), CT_ROLE_TID);
	assert_int_equal(role(CT_SCOPE_EVENT_CONTEXT, "u8 procname[17]"), CT_ROLE_PROGRAM);
	assert_int_equal(role(CT_SCOPE_EVENT_CONTEXT, "u8 level"), CT_ROLE_ITEM);
	assert_int_equal(role(CT_SCOPE_EVENT_FIELDS, "u8 pid"), CT_ROLE_ITEM);
	assert_int_equal(role(CT_SCOPE_EVENT_FIELDS, "u8 n; u8 text[n]"), CT_ROLE_HIDDEN);
}

static void names_have_an_end(void **state)
{
	struct ct_third_party_place *place = ct_third_party_root(&tree), *next;
	size_t places = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		place = ct_third_party_element(&tree, place, 7);
	assert_true(strlen(place->name) < CT_THIRD_PARTY_NAME_SIZE);
	while (next = ct_third_party_element(&tree, place, 4095), next != NULL) {
		place = next;
		places++;
	}
	assert_true(places > 100 && tree.used <= CT_THIRD_PARTY_NAMES);
}

int test_third_party_name(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(places_have_names, teardown),
					    cmocka_unit_test_teardown(fields_have_roles, teardown),
					    cmocka_unit_test_teardown(names_have_an_end,
								      teardown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
