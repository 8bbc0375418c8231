/*
 * test_tree.c - components: names, ancestors, look-up, many of them, and registration while others
 * look.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/registry/tree.h"

static void names_are_checked(void **state)
{
	char longest[CTRACE_MAX_COMPONENT + 1];

	(void)state;
	memset(longest, 'x', sizeof longest);
	assert_int_equal(ct_component_check_name("a", 1), CTRACE_OK);
	assert_int_equal(ct_component_check_name("MF.RTS", 6), CTRACE_OK);
	assert_int_equal(ct_component_check_name(longest, 255), CTRACE_OK);
	assert_int_equal(ct_component_check_name(longest, 256), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_component_check_name(NULL, 0), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_component_check_name("", 0), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_component_check_name(".a", 2), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_component_check_name("a.", 2), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_component_check_name("a..b", 4), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_component_check_name("a\0b", 3), CTRACE_INVALID_COMPONENT_NAME);
}

static void a_name_is_one_component_in_any_case(void **state)
{
	uint32_t index = add("MyComp");

	(void)state;
	assert_int_equal(add("mycomp"), index);
	assert_int_equal(add("MYCOMP"), index);
	assert_int_equal(ct_registry_count(registry), 1);
	assert_string_equal(ct_registry_name(registry, index), "MyComp");
	assert_int_not_equal(add("mycomp2"), index);
}

static void ancestors_are_made_but_not_found(void **state)
{
	uint32_t index = add("MF.RTS.Err");
	uint32_t parent = ct_registry_entry(registry, index)->parent;

	(void)state;
	assert_int_equal(ct_registry_count(registry), 3);
	assert_true(is_found("mf.rts.err"));
	assert_false(is_found("MF.RTS"));
	assert_false(is_found("MF"));
	assert_string_equal(ct_registry_name(registry, parent), "MF.RTS");
	assert_string_equal(ct_registry_name(registry, ct_registry_entry(registry, parent)->parent),
			    "MF");
	assert_int_equal(
		ct_registry_entry(registry, ct_registry_entry(registry, parent)->parent)->parent,
		CT_COMPONENT_NONE);
	assert_int_equal(add("mf.rts"), parent);
	assert_true(is_found("MF.RTS"));
	assert_int_equal(ct_registry_count(registry), 3);
}

static void the_first_registration_spells(void **state)
{
	uint32_t index;
	size_t size;
	const char *text;

	(void)state;
	set_level("mf.rts", CTRACE_INFO);
	assert_false(is_found("mf.rts"));
	index = add("MF.RTS");
	assert_string_equal(ct_registry_name(registry, index), "MF.RTS");
	assert_string_equal(ct_registry_tracer(registry, index)->name, "MF.RTS");
	text = ct_session_text(&fixture_session, ct_registry_entry(registry, index)->name, &size);
	assert_int_equal(size, 6);
	assert_memory_equal(text, "MF.RTS", 6);
	assert_int_equal(add("Mf.Rts"), index);
	assert_string_equal(ct_registry_name(registry, index), "MF.RTS");
}

static void a_tracer_is_ready_for_a_call_site(void **state)
{
	uint32_t index = add("ready");
	const struct ctrace_tracer *tracer = ct_registry_tracer(registry, index);

	(void)state;
	assert_ptr_equal(tracer->level_word, &ct_registry_entry(registry, index)->level_word);
	assert_int_equal(tracer->component, index);
	assert_int_equal(tracer->abi, CTRACE_ABI);
	assert_int_equal(tracer->level_word->level, CTRACE_LEVEL_NONE);
	assert_int_equal(ct_level_word_channel(tracer->level_word), 0);
	assert_int_equal(fixture_session.head->component_count, index + 1);
}

static void a_hundred_thousand_flat(void **state)
{
	enum { COUNT = 100000 };
	char name[32];
	uint32_t index;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof name, "flat%d", i);
		assert_int_equal(add(name), i);
	}
	assert_int_equal(ct_registry_count(registry), COUNT);
	for (int i = 0; i < COUNT; i++) {
		int size = snprintf(name, sizeof name, "FLAT%d", i);

		assert_int_equal(ct_registry_find(registry, name, (size_t)size, &index), CTRACE_OK);
		assert_int_equal(index, i);
	}
	assert_false(is_found("flat100000"));
	/* A get stays O(1): the table is never more than three quarters full, so runs of taken
	 * slots stay short. */
	assert_true((registry->table->mask + 1) * 3ull >= COUNT * 4ull);
	set_level(NULL, CTRACE_INFO);
	assert_int_equal(changes.count, COUNT);
	assert_int_equal(level_word_level(COUNT - 1), CTRACE_INFO);
}

/* Chains of 127 parts: `n.x.x...`.  Nothing here may recurse by depth or cost more than the
 * subtree. */
static void a_hundred_thousand_deep(void **state)
{
	enum { CHAINS = 790, PARTS = 125, COUNT = CHAINS * PARTS };
	char name[256];
	size_t size;

	(void)state;
	for (int i = 0; i < CHAINS; i++) {
		size = (size_t)snprintf(name, sizeof name, "%03d", i);
		for (int part = 1; part < PARTS; part++) {
			name[size++] = '.';
			name[size++] = 'x';
		}
		name[size] = '\0';
		add(name);
	}
	assert_int_equal(ct_registry_count(registry), COUNT);
	set_level("123", CTRACE_DEBUG);
	assert_int_equal(changes.count, 1); /* only the leaf of that chain is registered */
	assert_int_equal(level_word_level(changes.last.component), CTRACE_DEBUG);
	assert_int_equal(level_word_level(COUNT - 1), CTRACE_LEVEL_NONE);
}

static void a_walk_sees_a_subtree_once(void **state)
{
	static const char *const names[] = { "a", "a.b", "a.b.c", "a.d", "a.d.e.f", "b", "b.c" };
	bool seen[16] = { false };
	uint32_t top;
	unsigned count = 0;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(names); i++)
		add(names[i]);
	top = add("a");
	for (uint32_t at = top; at != CT_COMPONENT_NONE;
	     at = ct_node_next(registry, top, at, false), count++) {
		assert_false(seen[at]);
		seen[at] = true;
		assert_memory_equal(ct_registry_name(registry, at), "a", 1);
	}
	assert_int_equal(count, 6); /* a.d.e counts too */
	count = 0;
	for (uint32_t at = ct_node_next(registry, CT_COMPONENT_NONE, CT_COMPONENT_NONE, false);
	     at != CT_COMPONENT_NONE; at = ct_node_next(registry, CT_COMPONENT_NONE, at, true))
		count++;
	assert_int_equal(count, 2); /* pruned: a and b */
}

static void a_handler_in_a_locked_section_is_refused(void **state)
{
	uint32_t known = add("known");
	uint32_t index = 4711;

	(void)state;
	ct_registry_lock(registry);
	assert_int_equal(ct_thread_locked, 1);
	assert_int_equal(ct_registry_register(registry, "new", 3, &index), CTRACE_TIMED_OUT);
	assert_int_equal(index, 4711);
	assert_int_equal(ct_registry_register(registry, "KNOWN", 5, &index), CTRACE_OK);
	assert_int_equal(index, known);
	ct_registry_unlock(registry);
	assert_int_equal(ct_thread_locked, 0);
	add("new");
}

static void a_session_without_room_refuses(void **state)
{
	uint32_t before = add("before.it");
	uint64_t size = fixture_session.head->texts_size;
	uint32_t index;

	(void)state;
	fixture_session.head->texts_size = CT_SESSION_SIZE - CT_SESSION_TEXTS - 2;
	assert_int_equal(ct_registry_register(registry, "after", 5, &index),
			 CTRACE_NOT_ENOUGH_MEMORY);
	/* readers look at no entry of it */
	assert_int_equal(fixture_session.head->component_count, ct_registry_count(registry));
	/* a new spelling */
	assert_int_equal(ct_registry_register(registry, "BEFORE", 6, &index),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_false(is_found("after"));
	fixture_session.head->texts_size = size;
	assert_int_equal(add("BEFORE.IT"), before);
	assert_true(add("after") > before);
	assert_string_equal(ct_registry_name(registry, add("BEFORE")), "BEFORE");
}

/* As a registration leaves it that failed half-way. */
static void a_new_component_has_nothing_of_what_was_in_its_place(void **state)
{
	uint32_t index = ct_registry_count(registry);

	(void)state;
	assert_int_equal(ct_session_reserve_component(&fixture_session, index), CTRACE_OK);
	memset(&fixture_session.components[index], 0xFF, sizeof fixture_session.components[index]);
	assert_int_equal(add("fresh"), index);
	assert_int_equal(ct_registry_entry(registry, index)->flags, CT_COMPONENT_REGISTERED);
	assert_int_equal(ct_registry_entry(registry, index)->dests, 1);
	assert_int_equal(ct_registry_entry(registry, index)->delivered, 0);
	assert_int_equal(ct_registry_entry(registry, index)->writer, 0);
	assert_int_equal(ct_dest_in_use(registry), 1);
}

struct crowd {
	unsigned first;
	uint32_t indexes[2000];
};

static void *register_many(void *argument)
{
	struct crowd *crowd = argument;
	char name[32];

	for (unsigned i = 0; i < 2000; i++) {
		unsigned n = (i + crowd->first) % 2000;

		snprintf(name, sizeof name, "crowd.%u.x", n);
		if (ct_registry_register(registry, name, strlen(name), &crowd->indexes[n]) !=
		    CTRACE_OK)
			return argument;
		snprintf(name, sizeof name, "CROWD.%u.X", n);
		uint32_t found;
		if (ct_registry_find(registry, name, strlen(name), &found) != CTRACE_OK ||
		    found != crowd->indexes[n])
			return argument;
	}
	return NULL;
}

static void threads_agree(void **state)
{
	static struct crowd crowds[4];
	pthread_t threads[4];
	void *result;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		crowds[i].first = i * 500;
		assert_int_equal(pthread_create(&threads[i], NULL, register_many, &crowds[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
		assert_memory_equal(crowds[i].indexes, crowds[0].indexes, sizeof crowds[0].indexes);
	}
	assert_int_equal(ct_registry_count(registry), 4001);
}

static void a_forked_child_unlocks(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	ct_registry_lock(registry);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint32_t index;

		ct_registry_unlock_in_child(registry);
		_exit(ct_thread_locked == 0 && ct_registry_register(registry, "child", 5, &index) ==
						       CTRACE_OK
			      ? 0
			      : 1);
	}
	ct_registry_unlock(registry);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	add("parent");
}

/* ---- component trace ---- */

static uint32_t reserve(const char *name)
{
	uint32_t index;

	assert_int_equal(ct_registry_reserve(registry, name, strlen(name), &index), CTRACE_OK);
	return index;
}

static bool is_found_any(const char *name, uint32_t *out_index)
{
	return ct_registry_find_any(registry, name, strlen(name), out_index) == CTRACE_OK;
}

static void what_is_reserved_is_seen_by_those_who_look_for_anything(void **state)
{
	uint32_t found = 4711;
	uint32_t index = reserve("COMP.SUB");

	(void)state;
	assert_false(is_found("COMP.SUB"));
	assert_true(is_found_any("comp.sub", &found));
	assert_int_equal(found, index);
	assert_true(is_found_any("COMP", &found)); /* its parent, that is only there for it */
	assert_int_equal(reserve("Comp.Sub"), index);
	/* nobody has seen another spelling */
	assert_string_equal(ct_registry_name(registry, index), "Comp.Sub");
	found = 4711;
	assert_false(is_found_any("COMP.SU", &found));
	assert_int_equal(found, 4711);
	assert_int_equal(ct_registry_reserve(registry, "a..b", 4, &found),
			 CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(found, 4711);
	assert_int_equal(ct_registry_count(registry), 2);
}

static void define_shows_and_delete_hides(void **state)
{
	uint32_t index = reserve("COMP");

	(void)state;
	set_level(NULL, CTRACE_INFO);
	assert_int_equal(changes.count, 0); /* nobody is told of what nobody sees */
	assert_int_equal(level_word_level(index), CTRACE_LEVEL_NONE);
	assert_int_equal(ct_dest_in_use(registry), 0);
	ct_registry_set_defined(registry, index, true);
	assert_true(is_found("comp"));
	assert_int_equal(level_word_level(index), CTRACE_INFO);
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
	ct_registry_set_defined(registry, index, true); /* once is enough */
	ct_registry_set_defined(registry, index, false);
	assert_false(is_found("comp"));
	/* whoever kept its tracer traces nothing */
	assert_int_equal(level_word_level(index), CTRACE_LEVEL_NONE);
	assert_int_equal(ct_dest_in_use(registry), 0);
	ct_registry_set_defined(registry, index, true);
	assert_int_equal(level_word_level(index), CTRACE_INFO);
}

static bool definition_is(uint32_t index, const struct ctrace_definition *wanted)
{
	struct ctrace_definition found;

	return ct_session_definition(registry->session, ct_registry_entry(registry, index),
				     &found) &&
	       memcmp(&found, wanted, sizeof found) == 0;
}

static void what_define_said_stands_behind_the_name(void **state)
{
	const struct ctrace_definition first = { .fmttab = "MYFMT", .userdata = { 1, 0, 3 } };
	const struct ctrace_definition second = { .fmttab = "", .userdata = { 4 } };
	struct ctrace_definition none;
	uint32_t index = reserve("COMP");
	size_t size, texts;

	(void)state;
	assert_false(ct_session_definition(registry->session, ct_registry_entry(registry, index),
					   &none));
	ct_registry_describe(registry, index, &first);
	assert_true(definition_is(index, &first)); /* while DEFINE is under way */
	ct_registry_set_defined(registry, index, true);
	assert_true(definition_is(index, &first));
	texts = registry->session->head->texts_size;
	ct_registry_describe(registry, index, &first); /* again: no new text */
	assert_int_equal(registry->session->head->texts_size, texts);
	ct_registry_describe(registry, index, &second);
	assert_true(definition_is(index, &second));
	assert_string_equal(
		ct_session_text(registry->session, ct_registry_entry(registry, index)->name, &size),
		"COMP");
	assert_int_equal(size, 4);
	ct_registry_set_defined(registry, index, false);
	assert_false(definition_is(index, &second));
	ct_registry_describe(registry, index, &first);
	ct_registry_describe(registry, index, NULL);
	assert_false(definition_is(index, &first));
}

static void what_a_tracer_has_registered_stays(void **state)
{
	uint32_t index = add("COMP");
	uint32_t other;

	(void)state;
	/* The tracer first ... */
	assert_int_equal(reserve("COMP"), index);
	ct_registry_set_defined(registry, index, true);
	ct_registry_set_defined(registry, index, false);
	assert_true(is_found("COMP"));
	/* ... or the definition. */
	other = reserve("OTHER");
	ct_registry_set_defined(registry, other, true);
	assert_int_equal(add("other"), other);
	assert_int_equal(ct_registry_entry(registry, other)->flags,
			 CT_COMPONENT_DEFINED | CT_COMPONENT_REGISTERED);
	assert_string_equal(ct_registry_name(registry, other), "OTHER");
	ct_registry_set_defined(registry, other, false);
	assert_true(is_found("OTHER"));
	/* Or between the two. */
	other = reserve("BETWEEN");
	assert_int_equal(add("BETWEEN"), other);
	ct_registry_set_defined(registry, other, true);
	ct_registry_set_defined(registry, other, false);
	assert_true(is_found("BETWEEN"));
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
}

static void own_settings_are_shown(void **state)
{
	struct ct_configured own;

	(void)state;
	set_level("shown", CTRACE_WARN);
	assert_int_equal(ct_dest_add(registry, "shown", 5, emitter("STDERR"), true), CTRACE_OK);
	own = ct_registry_configured(registry, add("shown"));
	assert_int_equal(own.level, CTRACE_WARN);
	assert_int_equal(own.dests, bit("STDERR"));
	assert_true(own.no_inherit);
	assert_int_equal(own.buffer, 0);
	assert_int_equal(own.overflow, CT_OVERFLOW_UNSET);
	assert_int_equal(own.flight_level, CT_LEVEL_UNSET);
	assert_int_equal(ct_registry_configured(registry, CT_COMPONENT_NONE).level, CT_LEVEL_UNSET);
}

static void a_configuration_is_forgotten(void **state)
{
	uint32_t index = add("kept.one");
	struct ct_buf value;

	(void)state;
	set_level(NULL, CTRACE_INFO);
	set_level("kept", CTRACE_DEBUG);
	assert_int_equal(ct_dest_add(registry, NULL, 0, emitter("STDERR"), false), CTRACE_OK);
	assert_int_equal(ct_dest_add(registry, "kept.one", 8, emitter("ES"), true), CTRACE_OK);
	assert_int_equal(ct_channel_set_buffer(registry, "kept", 4, 1 << 16), CTRACE_OK);
	assert_int_equal(ct_channel_set_flight(registry, "kept", 4, CTRACE_DEBUG, NULL, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_component_property_set(registry, "kept", 4, "p", 1, "v", 1, NULL, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_emitter_property_set(registry, 0, "FORMAT", 6, "x", 1), CTRACE_OK);
	assert_int_not_equal(ct_level_word_channel(&ct_registry_entry(registry, index)->level_word),
			     0);

	ct_registry_reset_configuration(registry);
	assert_int_equal(level_word_level(index), CTRACE_LEVEL_NONE);
	assert_int_equal(ct_level_word_channel(&ct_registry_entry(registry, index)->level_word), 0);
	assert_int_equal(ct_registry_entry(registry, index)->dests, bit("TEXTFILE"));
	assert_int_equal(ct_dest_default(registry), bit("TEXTFILE"));
	assert_int_equal(ct_dest_in_use(registry), bit("TEXTFILE"));
	assert_int_equal(ct_level_default(registry), CTRACE_LEVEL_NONE);
	assert_int_equal(fixture_session.head->dest[0].settings, 0);
	ct_buf_init(&value);
	assert_int_equal(ct_component_property_get(registry, "kept", 4, "p", 1, &value),
			 CTRACE_PROPERTY_NOT_FOUND);
	ct_buf_fini(&value);
	set_level("kept", CTRACE_ERROR);
	assert_int_equal(level_word_level(index), CTRACE_ERROR);
}

static void the_table_of_classes_grows_when_it_is_nearly_full(void **state)
{
	struct ct_class_table *table = fixture_session.classes;
	uint32_t limit = table->limit;

	(void)state;
	ct_registry_add_classes(registry); /* there is room */
	assert_int_equal(table->limit, limit);
	table->used = limit - 8;
	ct_registry_add_classes(registry);
	assert_true(table->limit >= 2 * limit);
	assert_false(ct_class_table_is_short(table));
	memset((char *)table + limit, 0xA5, table->limit - limit); /* it can be written to */
}

int test_tree(void)
{
	const struct CMUnitTest tests[] = {
		EACH(names_are_checked),
		EACH(a_name_is_one_component_in_any_case),
		EACH(ancestors_are_made_but_not_found),
		EACH(the_first_registration_spells),
		EACH(a_tracer_is_ready_for_a_call_site),
		EACH(a_hundred_thousand_flat),
		EACH(a_hundred_thousand_deep),
		EACH(a_walk_sees_a_subtree_once),
		EACH(a_handler_in_a_locked_section_is_refused),
		EACH(a_session_without_room_refuses),
		EACH(a_new_component_has_nothing_of_what_was_in_its_place),
		EACH(threads_agree),
		EACH(a_forked_child_unlocks),
		EACH(what_is_reserved_is_seen_by_those_who_look_for_anything),
		EACH(define_shows_and_delete_hides),
		EACH(what_define_said_stands_behind_the_name),
		EACH(what_a_tracer_has_registered_stays),
		EACH(own_settings_are_shown),
		EACH(a_configuration_is_forgotten),
		EACH(the_table_of_classes_grows_when_it_is_nearly_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
