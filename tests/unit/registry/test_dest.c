/*
 * test_dest.c - destinations: the default list, inheritance, removal, and what the session says of
 * them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

static uint32_t dests(const char *name)
{
	return ct_registry_entry(registry, add(name))->dests;
}

static enum ctrace_status dest_add(const char *component, const char *name, bool no_inherit)
{
	return ct_dest_add(registry, component, component == NULL ? 0 : strlen(component),
			   emitter(name), no_inherit);
}

static enum ctrace_status dest_remove(const char *component, const char *name)
{
	return ct_dest_remove(registry, component, component == NULL ? 0 : strlen(component),
			      emitter(name));
}

static void the_default_is_textfile(void **state)
{
	(void)state;
	assert_int_equal(emitter("TEXTFILE"), 0);
	assert_int_equal(ct_dest_default(registry), bit("TEXTFILE"));
	assert_int_equal(dests("a.b"), bit("TEXTFILE"));
}

static void the_default_list_is_never_empty(void **state)
{
	uint32_t index = add("a");

	(void)state;
	assert_int_equal(dest_remove(NULL, "TEXTFILE"), CTRACE_OK);
	assert_int_equal(ct_dest_default(registry), bit("TEXTFILE"));
	assert_int_equal(dest_add(NULL, "TEXTFILE", false), CTRACE_OK);
	assert_int_equal(dest_add(NULL, "BINFILE", false), CTRACE_OK);
	assert_int_equal(ct_registry_entry(registry, index)->dests,
			 bit("TEXTFILE") | bit("BINFILE"));
	assert_int_equal(dest_remove(NULL, "TEXTFILE"), CTRACE_OK);
	assert_int_equal(ct_registry_entry(registry, index)->dests, bit("BINFILE"));
	assert_int_equal(dest_remove(NULL, "BINFILE"), CTRACE_OK);
	assert_int_equal(ct_registry_entry(registry, index)->dests, bit("TEXTFILE"));
	assert_int_equal(dest_remove(NULL, "ES"), CTRACE_EMITTER_NOT_FOUND);
}

static void the_first_default_replaces_the_implicit_one(void **state)
{
	(void)state;
	assert_int_equal(ct_dest_add(registry, NULL, 0, emitter("BINFILE"), false), CTRACE_OK);
	assert_int_equal(ct_dest_default(registry), bit("BINFILE"));
	assert_int_equal(ct_dest_add(registry, NULL, 0, emitter("STDERR"), false), CTRACE_OK);
	assert_int_equal(ct_dest_default(registry), bit("BINFILE") | bit("STDERR"));
}

/* As a forked child finds it, whose parent has made components known and others not since the fork.
 */
static void who_delivers_where_is_counted_anew(void **state)
{
	uint32_t a = add("a"), b = add("b");

	(void)state;
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
	ct_registry_entry(registry, a)->dests = bit("BINFILE");
	ct_registry_entry(registry, b)->dests = bit("BINFILE") | bit("STDERR");
	ct_registry_entry(registry, b)->flags = CT_COMPONENT_HIDDEN;
	ct_dest_recount(registry);
	assert_int_equal(ct_dest_in_use(registry), bit("BINFILE"));
	assert_int_equal(dest_add("a", "TEXTFILE", true), CTRACE_OK);
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
	assert_int_equal(add("b"), b);
	assert_int_equal(ct_dest_in_use(registry),
			 bit("TEXTFILE") | bit("BINFILE") | bit("STDERR"));
}

/* Programs that know nothing of that add theirs and remove TEXTFILE, and look at the answer. */
static void the_implicit_one_that_was_replaced_can_be_removed(void **state)
{
	(void)state;
	assert_int_equal(dest_add(NULL, "BINFILE", true), CTRACE_OK);
	assert_int_equal(dest_add(NULL, "STDERR", false), CTRACE_OK);
	assert_int_equal(dest_remove(NULL, "TEXTFILE"), CTRACE_OK);
	assert_int_equal(ct_dest_default(registry), bit("BINFILE") | bit("STDERR"));
	assert_int_equal(dest_add(NULL, "TEXTFILE", false), CTRACE_OK);
	assert_int_equal(ct_dest_default(registry),
			 bit("BINFILE") | bit("STDERR") | bit("TEXTFILE"));
	assert_int_equal(dest_remove(NULL, "TEXTFILE"), CTRACE_OK);
	assert_int_equal(dest_remove(NULL, "TEXTFILE"), CTRACE_EMITTER_NOT_FOUND);
}

static void components_add_to_what_they_inherit(void **state)
{
	(void)state;
	assert_int_equal(dest_add("RTS", "ES", false), CTRACE_OK);
	assert_int_equal(dests("RTS"), bit("ES") | bit("TEXTFILE"));
	assert_int_equal(dests("RTS.MEM"), bit("ES") | bit("TEXTFILE"));
	assert_int_equal(dest_add("rts.mem", "BINFILE", true), CTRACE_OK);
	assert_int_equal(dests("RTS.MEM"), bit("BINFILE"));
	assert_int_equal(dests("RTS.MEM.X"), bit("BINFILE"));
	assert_int_equal(dest_add("rts.mem.x", "STDERR", false), CTRACE_OK);
	assert_int_equal(dests("RTS.MEM.X"), bit("BINFILE") | bit("STDERR"));
	/* inherits again, list grows */
	assert_int_equal(dest_add("RTS.MEM", "STDERR", false), CTRACE_OK);
	assert_int_equal(dests("RTS.MEM"),
			 bit("BINFILE") | bit("STDERR") | bit("ES") | bit("TEXTFILE"));
	assert_int_equal(dest_add(NULL, "BINFILE", false), CTRACE_OK);
	assert_int_equal(dests("RTS"), bit("BINFILE") | bit("ES"));
}

static void an_empty_list_inherits_again(void **state)
{
	(void)state;
	assert_int_equal(dest_add("c", "BINFILE", true), CTRACE_OK);
	assert_int_equal(dest_add("c", "ES", true), CTRACE_OK);
	assert_int_equal(dests("c.d"), bit("BINFILE") | bit("ES"));
	assert_int_equal(dest_remove("C", "BINFILE"), CTRACE_OK);
	assert_int_equal(dests("c.d"), bit("ES"));
	assert_int_equal(dest_remove("c", "ES"), CTRACE_OK);
	assert_int_equal(dests("c"), bit("TEXTFILE"));
	assert_int_equal(dests("c.d"), bit("TEXTFILE"));
	assert_int_equal(ct_registry_configured(registry, add("c")).no_inherit, false);
}

static void what_is_not_in_the_own_list_cannot_be_removed(void **state)
{
	(void)state;
	assert_int_equal(dest_remove("c", "TEXTFILE"), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_registry_count(registry), 0);
	add("c");
	/* inherited only */
	assert_int_equal(dest_remove("c", "TEXTFILE"), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_dest_remove(registry, "c", 1, 31), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_dest_remove(registry, "c.", 2, 0), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_dest_add(registry, "c", 1, 31, false), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_dest_add(registry, "c", 1, 32, false), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_dest_add(registry, "c.", 2, 0, false), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_dest_add(registry, NULL, 0, 31, false), CTRACE_EMITTER_NOT_FOUND);
}

static void only_registered_components_use_a_destination(void **state)
{
	const struct ct_dest *dest = fixture_session.head->dest;

	(void)state;
	assert_int_equal(ct_dest_in_use(registry), 0);
	assert_int_equal(dest_add("u", "STDERR", true), CTRACE_OK);
	assert_int_equal(ct_dest_in_use(registry), 0);
	assert_int_equal(dest[emitter("STDERR")].active, 0);
	add("u");
	assert_int_equal(ct_dest_in_use(registry), bit("STDERR"));
	assert_int_equal(dest[emitter("STDERR")].active, 1);
	assert_string_equal(dest[emitter("STDERR")].emitter, "STDERR");
	assert_string_equal(dest[0].emitter, "");
	add("v");
	assert_int_equal(ct_dest_in_use(registry), bit("STDERR") | bit("TEXTFILE"));
	assert_string_equal(dest[0].emitter, "TEXTFILE");
	assert_int_equal(dest_remove("u", "STDERR"), CTRACE_OK);
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
	assert_int_equal(dest[emitter("STDERR")].active, 0);
	/* its place stays its own */
	assert_string_equal(dest[emitter("STDERR")].emitter, "STDERR");
}

/* Also below one whose list stays what it was. */
static void forgetting_reaches_every_component(void **state)
{
	uint32_t below = add("a.b"), deeper = add("a.b.c");

	(void)state;
	assert_int_equal(ct_dest_add(registry, "a.b", 3, emitter("BINFILE"), true), CTRACE_OK);
	ct_registry_reset_configuration(registry);
	assert_int_equal(ct_registry_entry(registry, below)->dests, bit("TEXTFILE"));
	assert_int_equal(ct_registry_entry(registry, deeper)->dests, bit("TEXTFILE"));
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
}

static void a_destination_is_named_once_it_was_chosen(void **state)
{
	(void)state;
	assert_true(ct_dest_is_named(registry, emitter("TEXTFILE"))); /* the implicit one */
	assert_true(ct_dest_is_named(registry, emitter("STORAGE")));
	assert_false(ct_dest_is_named(registry, emitter("BINFILE")));
	assert_int_equal(dest_add("offered", "BINFILE", false), CTRACE_OK);
	assert_int_equal(dest_remove("offered", "BINFILE"), CTRACE_OK);
	assert_true(ct_dest_is_named(registry, emitter("BINFILE")));
	assert_false(ct_dest_is_named(registry, CT_EMITTER_LIMIT - 1));
	ct_registry_reset_configuration(registry);
	assert_false(ct_dest_is_named(registry, emitter("BINFILE")));
}

int test_dest(void)
{
	const struct CMUnitTest tests[] = {
		EACH(the_default_is_textfile),
		EACH(the_default_list_is_never_empty),
		EACH(the_first_default_replaces_the_implicit_one),
		EACH(the_implicit_one_that_was_replaced_can_be_removed),
		EACH(who_delivers_where_is_counted_anew),
		EACH(components_add_to_what_they_inherit),
		EACH(an_empty_list_inherits_again),
		EACH(what_is_not_in_the_own_list_cannot_be_removed),
		EACH(only_registered_components_use_a_destination),
		EACH(forgetting_reaches_every_component),
		EACH(a_destination_is_named_once_it_was_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
