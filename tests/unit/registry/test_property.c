/*
 * test_property.c - properties: any name, any value, what changes tell, defaults, and the copy for
 * recoverers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include "lib/registry/tree.h"

static struct ct_buf value;

static int setup(void **state)
{
	ct_buf_init(&value);
	return fixture_setup(state);
}

static int teardown(void **state)
{
	ct_buf_fini(&value);
	return fixture_teardown(state);
}

static enum ctrace_status set(const char *component, const char *name, const char *text)
{
	return ct_component_property_set(registry, component, strlen(component), name, strlen(name),
					 text, strlen(text), note_change, NULL);
}

static const char *get(const char *component, const char *name)
{
	ct_buf_clear(&value);
	if (ct_component_property_get(registry, component, strlen(component), name, strlen(name),
				      &value) != CTRACE_OK)
		return NULL;
	return ct_buf_text(&value);
}

static enum ctrace_status set_emitter(uint32_t index, const char *name, const char *text)
{
	return ct_emitter_property_set(registry, index, name, strlen(name), text, strlen(text));
}

static const char *get_emitter(uint32_t index, const char *name)
{
	ct_buf_clear(&value);
	if (ct_emitter_property_get(registry, index, name, strlen(name), &value) != CTRACE_OK)
		return NULL;
	return ct_buf_text(&value);
}

static const char *settings(uint32_t index)
{
	size_t size;
	const char *text = ct_session_text(&fixture_session,
					   fixture_session.head->dest[index].settings, &size);

	ct_buf_clear(&value);
	ct_buf_add(&value, text, size);
	return ct_buf_text(&value);
}

static void components_keep_theirs(void **state)
{
	(void)state;
	assert_null(get("mf.rts", "all"));
	assert_int_equal(set("mf.rts", "all", "TRUE"), CTRACE_OK);
	assert_string_equal(get("MF.RTS", "ALL"), "TRUE");
	assert_null(get("mf.rts.mem", "all")); /* properties do not inherit */
	assert_null(get("mf", "all"));
	assert_int_equal(set("mf.rts", "All", ""), CTRACE_OK);
	assert_string_equal(get("mf.rts", "all"), "");
	assert_int_equal(set("mf.rts", "file:*.DAT", "a = b # c"), CTRACE_OK);
	assert_string_equal(get("mf.rts", "FILE:*.dat"), "a = b # c");
}

static void changes_are_reported_in_the_setters_spelling(void **state)
{
	uint32_t index = add("MF.RTS");

	(void)state;
	assert_int_equal(set("mf.rts", "Memory", "yes"), CTRACE_OK);
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.last.kind, CT_CHANGE_PROPERTY);
	assert_int_equal(changes.last.component, index);
	assert_string_equal(changes.property, "Memory");
	assert_string_equal(changes.value, "yes");
	assert_int_equal(changes.last.number, 1);
	assert_int_equal(set("mf.rts", "MEMORY", "0x10"), CTRACE_OK);
	assert_int_equal(changes.count, 2);
	assert_string_equal(changes.property, "MEMORY");
	assert_int_equal(changes.last.number, 16);
	assert_int_equal(set("mf.rts", "memory", "0x10"), CTRACE_OK);
	assert_int_equal(changes.count, 2); /* no change */
	assert_int_equal(set("not.registered", "memory", "1"), CTRACE_OK);
	assert_int_equal(changes.count, 2);
}

static void names_and_values_are_checked(void **state)
{
	static char longest[65536];

	(void)state;
	memset(longest, 'v', sizeof longest);
	assert_int_equal(set("", "p", "v"), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(set("a", "", "v"), CTRACE_INVALID_PROP_NAME);
	assert_int_equal(
		ct_component_property_set(registry, "a", 1, longest, 256, "v", 1, NULL, NULL),
		CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ct_component_property_set(registry, "a", 1, NULL, 0, "v", 1, NULL, NULL),
			 CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ct_component_property_set(registry, "a", 1, longest, 255, longest, 65536,
						   NULL, NULL),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_component_property_set(registry, "a", 1, longest, 255, longest, 65535,
						   NULL, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_component_property_get(registry, "a", 1, longest, 255, &value),
			 CTRACE_OK);
	assert_int_equal(value.size, 65535);
	assert_memory_equal(value.data, longest, 65535);
	assert_int_equal(ct_component_property_get(registry, "a", 1, "p", 0, &value),
			 CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ct_component_property_get(registry, "b", 1, "p", 1, &value),
			 CTRACE_PROPERTY_NOT_FOUND);
	assert_int_equal(ct_component_property_get(registry, "b.", 2, "p", 1, &value),
			 CTRACE_INVALID_COMPONENT_NAME);
}

static void values_are_counted_bytes(void **state)
{
	(void)state;
	assert_int_equal(ct_component_property_set(registry, "a", 1, "p", 1, "x\0y", 3, NULL, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_component_property_get(registry, "a", 1, "p", 1, &value), CTRACE_OK);
	assert_int_equal(value.size, 3);
	assert_memory_equal(value.data, "x\0y", 3);
}

/* A program that sets one property for ever needs no more memory. */
static void replaced_values_are_used_again(void **state)
{
	char text[300];
	size_t left;

	(void)state;
	memset(text, 'x', sizeof text);
	for (size_t i = 1; i < sizeof text; i++)
		assert_int_equal(
			ct_component_property_set(registry, "a", 1, "p", 1, text, i, NULL, NULL),
			CTRACE_OK);
	left = registry->arena.left;
	for (size_t i = 0; i < 200000; i++)
		assert_int_equal(ct_component_property_set(registry, "a", 1, "p", 1, text,
							   i % sizeof text, NULL, NULL),
				 CTRACE_OK);
	assert_int_equal(registry->arena.left, left);
}

static void many_properties(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "p%d", i);
		assert_int_equal(set("many", name, name), CTRACE_OK);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "p%d", i);
		assert_string_equal(get("many", name), name);
	}
}

static void emitters_have_defaults(void **state)
{
	(void)state;
	assert_string_equal(get_emitter(0, "format"),
			    "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)");
	assert_string_equal(get_emitter(0, "HexBlockSize"), "8");
	assert_null(get_emitter(0, "nothing"));
	assert_int_equal(set_emitter(0, "Format", "$(DATA)"), CTRACE_OK);
	assert_string_equal(get_emitter(0, "FORMAT"), "$(DATA)");
	assert_int_equal(set_emitter(0, "nothing", "any name may be set"), CTRACE_OK);
	assert_string_equal(get_emitter(0, "NOTHING"), "any name may be set");
	assert_null(get_emitter(emitter("BINFILE"), "nothing"));
	ct_emitter_property_reset_all(registry);
	assert_string_equal(get_emitter(0, "format"),
			    "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)");
	assert_null(get_emitter(0, "nothing"));
}

static void emitters_are_checked(void **state)
{
	(void)state;
	assert_int_equal(set_emitter(31, "p", "v"), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(set_emitter(99, "p", "v"), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(set_emitter(0, "", "v"), CTRACE_INVALID_PROP_NAME);
	assert_int_equal(ct_emitter_property_get(registry, 31, "p", 1, &value),
			 CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_emitter_property_get(registry, 0, "", 0, &value),
			 CTRACE_INVALID_PROP_NAME);
}

static void a_recoverer_finds_what_was_set(void **state)
{
	(void)state;
	assert_string_equal(settings(0), "");
	assert_int_equal(set_emitter(0, "FORMAT", "$(TIME) $(DATA)"), CTRACE_OK);
	assert_string_equal(settings(0), "FORMAT=$(TIME) $(DATA)\n");
	assert_string_equal(fixture_session.head->dest[0].emitter, "TEXTFILE");
	assert_int_equal(set_emitter(0, "location", "/a\\b\nc=d"), CTRACE_OK);
	assert_string_equal(settings(0), "location=/a\\\\b\\nc=d\nFORMAT=$(TIME) $(DATA)\n");
	assert_int_equal(set_emitter(0, "format", "x"), CTRACE_OK);
	assert_string_equal(settings(0), "location=/a\\\\b\\nc=d\nformat=x\n");
	assert_int_equal(set_emitter(0, "a=b", "no emitter has that"), CTRACE_OK);
	assert_int_equal(set_emitter(0, "a\nb", "nor that"), CTRACE_OK);
	assert_string_equal(settings(0), "location=/a\\\\b\\nc=d\nformat=x\n");
}

static void what_cannot_be_written_down_is_not_set(void **state)
{
	uint64_t size;
	static char longest[65535];

	(void)state;
	memset(longest, '\\', sizeof longest);
	assert_int_equal(set_emitter(0, "FILE", "before"), CTRACE_OK);
	assert_int_equal(ct_emitter_property_set(registry, 0, "FILE", 4, longest, sizeof longest),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_string_equal(get_emitter(0, "FILE"), "before");
	assert_int_equal(ct_emitter_property_set(registry, 0, "NEW", 3, longest, sizeof longest),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_null(get_emitter(0, "NEW"));
	assert_string_equal(settings(0), "FILE=before\n");
	size = fixture_session.head->texts_size;
	/* the same: nothing to write down */
	assert_int_equal(set_emitter(0, "FILE", "before"), CTRACE_OK);
	assert_int_equal(fixture_session.head->texts_size, size);
}

struct seen {
	unsigned count;
	char last[32];
};

static void note_property(const char *name, size_t name_size, const char *text, size_t text_size,
			  void *user)
{
	struct seen *seen = user;

	seen->count++;
	snprintf(seen->last, sizeof seen->last, "%.*s=%.*s", (int)name_size, name, (int)text_size,
		 text);
}

static void all_can_be_listed(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(set("c", "p", "1"), CTRACE_OK);
	assert_int_equal(set("c", "q", "2"), CTRACE_OK);
	ct_component_property_each(registry, add("c"), note_property, &seen);
	assert_int_equal(seen.count, 2);
	assert_string_equal(seen.last, "p=1");
	assert_int_equal(set_emitter(0, "FILE", "f"), CTRACE_OK);
	ct_emitter_property_each(registry, 0, note_property, &seen);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.last, "FILE=f");
}

/* A text of the session is never given back. */
static void a_change_that_comes_again_takes_no_more_of_the_session(void **state)
{
	char number[16];
	uint64_t used;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		if (i == 8)
			used = fixture_session.head->texts_size;
		assert_int_equal(set_emitter(0, "DELIMCHAR", (i & 1) != 0 ? "|" : " "), CTRACE_OK);
		assert_int_equal(set_emitter(0, "QUOTESTRING", (i & 2) != 0 ? "TRUE" : "FALSE"),
				 CTRACE_OK);
		assert_int_equal(set_emitter(2, "LEVEL", (i & 1) != 0 ? "1" : "2"), CTRACE_OK);
		if (i % 1000 == 999)
			assert_string_equal(settings(0), "QUOTESTRING=TRUE\nDELIMCHAR=|\n");
	}
	assert_int_equal(fixture_session.head->texts_size, used);
	/* More values than are remembered are stored, and what is in force is what was set last. */
	for (unsigned i = 0; i < 3 * CT_SETTINGS_KEPT; i++) {
		(void)snprintf(number, sizeof number, "%u", i);
		assert_int_equal(set_emitter(2, "LEVEL", number), CTRACE_OK);
	}
	assert_string_equal(settings(2), "LEVEL=47\n");
	assert_true(fixture_session.head->texts_size > used);
	ct_emitter_property_reset_all(registry);
	assert_string_equal(settings(2), "");
	used = fixture_session.head->texts_size;
	assert_int_equal(set_emitter(2, "LEVEL", "47"), CTRACE_OK);
	assert_string_equal(settings(2), "LEVEL=47\n");
	assert_int_equal(fixture_session.head->texts_size, used);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int test_property(void)
{
	const struct CMUnitTest tests[] = {
		WITH(components_keep_theirs),
		WITH(changes_are_reported_in_the_setters_spelling),
		WITH(names_and_values_are_checked),
		WITH(values_are_counted_bytes),
		WITH(replaced_values_are_used_again),
		WITH(many_properties),
		WITH(emitters_have_defaults),
		WITH(emitters_are_checked),
		WITH(a_recoverer_finds_what_was_set),
		WITH(what_cannot_be_written_down_is_not_set),
		WITH(all_can_be_listed),
		WITH(a_change_that_comes_again_takes_no_more_of_the_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
