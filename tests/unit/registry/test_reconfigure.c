/*
 * test_reconfigure.c - a whole configuration takes the place of another: all of it, at once, and
 * each change is told once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include "lib/registry/tree.h"
#include <pthread.h>

static struct ct_session other_session;
static struct ct_registry *other; /* what is to be adopted */

static void begin_other(void)
{
	assert_int_equal(ct_session_create(&other_session, NULL), CTRACE_OK);
	assert_int_equal(ct_registry_create(&other_session, &other), CTRACE_OK);
}

static void end_other(void)
{
	ct_registry_destroy(other);
	ct_session_close(&other_session, false);
}

static int setup_both(void **state)
{
	begin_other();
	return fixture_setup(state);
}

static int teardown_both(void **state)
{
	end_other();
	return fixture_teardown(state);
}

static void other_level(const char *name, uint32_t level)
{
	assert_int_equal(
		ct_level_set(other, name, name == NULL ? 0 : strlen(name), level, NULL, NULL),
		CTRACE_OK);
}

static void property(struct ct_registry *where, const char *component, const char *name,
		     const char *value)
{
	assert_int_equal(ct_component_property_set(where, component, strlen(component), name,
						   strlen(name), value, strlen(value), NULL, NULL),
			 CTRACE_OK);
}

static void emitter_property(struct ct_registry *where, const char *name, const char *value)
{
	assert_int_equal(ct_emitter_property_set(where, emitter("TEXTFILE"), name, strlen(name),
						 value, strlen(value)),
			 CTRACE_OK);
}

static uint32_t adopt_by(ct_reconfigure_rule *rule)
{
	struct ct_reconfiguration *reconfiguration = NULL;
	uint32_t reopen = 0xA5A5;

	memset(&changes, 0, sizeof changes);
	assert_int_equal(
		ct_registry_reconfigure(registry, other, rule, NULL, &reconfiguration, &reopen),
		CTRACE_OK);
	assert_int_equal(changes.count, 0);
	ct_reconfiguration_report(reconfiguration, note_change, NULL);
	return reopen;
}

static uint32_t adopt(void)
{
	return adopt_by(NULL);
}

static const char *value_of(const char *component, const char *name)
{
	static struct ct_buf value;

	ct_buf_clear(&value);
	if (ct_component_property_get(registry, component, strlen(component), name, strlen(name),
				      &value) != CTRACE_OK)
		return NULL;
	return ct_buf_text(&value);
}

static void what_is_said_is_in_force_and_what_is_not_is_gone(void **state)
{
	uint32_t gone = add("gone"), stays = add("stays"), comes = add("comes.below");

	(void)state;
	set_level("gone", CTRACE_DEBUG);
	set_level("stays", CTRACE_WARN);
	assert_int_equal(ct_dest_add(registry, "gone", 4, emitter("STDERR"), true), CTRACE_OK);
	assert_int_equal(ct_channel_set_buffer(registry, "gone", 4, 65536), CTRACE_OK);
	property(registry, "gone", "colour", "red");
	property(registry, "stays", "colour", "red");

	other_level("stays", CTRACE_WARN);
	other_level("comes", CTRACE_INFO);
	other_level("not.registered", CTRACE_INFO);
	assert_int_equal(ct_dest_add(other, NULL, 0, emitter("BINFILE"), false), CTRACE_OK);
	assert_int_equal(ct_dest_add(other, "comes", 5, emitter("ES"), false), CTRACE_OK);
	assert_int_equal(ct_channel_set_overflow(other, "comes", 5, 2), CTRACE_OK);
	property(other, "comes.below", "Size", "0x10");
	assert_int_equal(adopt(), 0);

	assert_int_equal(level_word_level(gone), CTRACE_LEVEL_NONE);
	assert_int_equal(level_word_level(stays), CTRACE_WARN);
	assert_int_equal(level_word_level(comes), CTRACE_INFO);
	assert_int_equal(ct_dest_default(registry), bit("BINFILE"));
	assert_int_equal(ct_registry_entry(registry, gone)->dests, bit("BINFILE"));
	assert_int_equal(ct_registry_entry(registry, comes)->dests, bit("BINFILE") | bit("ES"));
	assert_int_equal(ct_dest_in_use(registry), bit("BINFILE") | bit("ES"));
	assert_int_equal(ct_level_word_channel(&ct_registry_entry(registry, gone)->level_word), 0);
	assert_int_equal(
		ct_channel_at(registry, ct_level_word_channel(
						&ct_registry_entry(registry, comes)->level_word))
			.overflow,
		2);
	assert_null(value_of("gone", "colour"));
	assert_null(value_of("stays", "colour"));
	assert_string_equal(value_of("comes.below", "SIZE"), "0x10");
	assert_int_equal(level_word_level(add("not.registered.yet")), CTRACE_INFO);
	assert_false(is_found("not.registered"));

	/* And back to nothing. */
	end_other();
	begin_other();
	(void)adopt();
	assert_int_equal(level_word_level(comes), CTRACE_LEVEL_NONE);
	assert_int_equal(ct_dest_default(registry), bit("TEXTFILE"));
	assert_int_equal(ct_registry_entry(registry, comes)->dests, bit("TEXTFILE"));
	/* The TEXTFILE is the implicit one again. */
	assert_int_equal(ct_dest_add(registry, NULL, 0, emitter("ES"), false), CTRACE_OK);
	assert_int_equal(ct_dest_default(registry), bit("ES"));
}

static bool was_reported(uint32_t component, uint32_t level)
{
	unsigned times = 0;

	for (unsigned i = 0; i < changes.count; i++)
		times += changes.components[i] == component && changes.levels[i] == level;
	return times == 1;
}

static void each_change_is_reported_once_with_its_last_value(void **state)
{
	uint32_t a = add("a"), b = add("a.b"), c = add("a.b.c");

	(void)state;
	(void)add("same");
	set_level(NULL, CTRACE_ERROR);
	set_level("a.b", CTRACE_DEBUG);
	other_level(NULL, CTRACE_ERROR);
	other_level("a", CTRACE_WARN);
	other_level("a.b.c", CTRACE_FATAL);
	other_level("a.b.unknown", CTRACE_INFO);
	(void)adopt();
	assert_int_equal(changes.count, 3);
	assert_true(was_reported(a, CTRACE_WARN));
	assert_true(was_reported(b, CTRACE_WARN));
	assert_true(was_reported(c, CTRACE_FATAL));
	(void)adopt();
	assert_int_equal(changes.count, 0);
}

static void properties_are_reported_where_they_are_new(void **state)
{
	uint32_t a = add("a");

	(void)state;
	property(registry, "a", "same", "1");
	property(registry, "a", "changed", "1");
	property(registry, "a", "gone", "1");
	property(other, "a", "same", "1");
	property(other, "a", "Changed", "0x20");
	property(other, "unknown", "new", "1");
	(void)adopt();
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.last.kind, CT_CHANGE_PROPERTY);
	assert_int_equal(changes.last.component, a);
	assert_int_equal(changes.last.number, 32);
	assert_string_equal(changes.property, "Changed");
	assert_string_equal(changes.value, "0x20");
	property(other, "a", "new", "");
	(void)adopt();
	assert_int_equal(changes.count, 1);
	assert_string_equal(changes.property, "new");
	assert_string_equal(changes.value, "");
}

static void only_emitters_with_other_settings_are_reopened(void **state)
{
	ct_text *settings = &fixture_session.head->dest[emitter("TEXTFILE")].settings;
	size_t size;

	(void)state;
	emitter_property(registry, "file", "a.log");
	emitter_property(registry, "multiproc", "FALSE");
	emitter_property(other, "multiproc", "FALSE");
	emitter_property(other, "FILE", "a.log");
	assert_int_equal(adopt(), 0); /* another order and spelling */
	assert_int_equal(adopt(), 0);
	end_other();
	begin_other();
	emitter_property(other, "FILE", "a.log");
	assert_int_equal(adopt(), 0); /* what is gone is the default */
	assert_string_equal(ct_session_text(&fixture_session, *settings, &size), "FILE=a.log\n");
	emitter_property(other, "File", "b.log");
	assert_int_equal(adopt(), bit("TEXTFILE"));
	assert_string_equal(ct_session_text(&fixture_session, *settings, &size), "File=b.log\n");
	end_other();
	begin_other();
	assert_int_equal(adopt(), bit("TEXTFILE"));
	assert_int_equal(*settings, 0);
	emitter_property(other, "of.ones.own", "x");
	assert_int_equal(adopt(), bit("TEXTFILE"));
	assert_int_equal(ct_emitter_property_set(other, emitter("BINFILE"), "FILE", 4, "x", 1),
			 CTRACE_OK);
	assert_int_equal(adopt(), bit("BINFILE"));
}

static void keep_level(uint32_t component, const struct ct_configured *now,
		       struct ct_configured *next, void *user)
{
	(void)user;
	if (strcmp(ct_registry_name(registry, component), "kept") == 0)
		next->level = now->level;
}

static void component_traces_share_stays(void **state)
{
	const struct ct_level_trace trace = { .level = CTRACE_INFO, .minimum = CTRACE_DEBUG };
	const struct ct_level_trace excluded = { .level = CTRACE_INFO,
						 .minimum = CTRACE_LEVEL_NONE,
						 .excluded = true };
	uint32_t kept = add("kept"), below = add("kept.below"), minimum = add("minimum"),
		 out = add("out");

	(void)state;
	set_level("kept", CTRACE_ERROR);
	assert_int_equal(ct_level_set_trace(registry, minimum, &trace, NULL, NULL), CTRACE_OK);
	assert_int_equal(ct_level_set_trace(registry, out, &excluded, NULL, NULL), CTRACE_OK);
	assert_int_equal(ct_channel_set_writer(registry, "kept", 4, 3), CTRACE_OK);
	other_level("kept", CTRACE_FATAL);
	other_level("out", CTRACE_DEBUG);
	(void)adopt_by(keep_level);
	assert_int_equal(level_word_level(kept), CTRACE_ERROR);
	assert_int_equal(level_word_level(below), CTRACE_ERROR);
	assert_int_equal(level_word_level(minimum), CTRACE_DEBUG);
	assert_int_equal(level_word_level(out), CTRACE_LEVEL_NONE);
	assert_int_equal(
		ct_channel_at(registry,
			      ct_level_word_channel(&ct_registry_entry(registry, kept)->level_word))
			.writer,
		3);
	assert_int_equal(changes.count, 0);
}

/* There are 64 channels; the 65th is refused, and with it everything. */
static void all_or_nothing(void **state)
{
	struct ct_reconfiguration *reconfiguration = (void *)&reconfiguration;
	char name[20];
	uint32_t reopen = 77, a = add("a");

	(void)state;
	set_level("a", CTRACE_WARN);
	property(registry, "a", "p", "1");
	emitter_property(registry, "FILE", "a.log");
	assert_int_equal(ct_channel_set_buffer(registry, "a", 1, 4096), CTRACE_OK);
	for (uint32_t i = 0; i < 63; i++) {
		(void)snprintf(name, sizeof name, "many.c%u", i);
		assert_int_equal(ct_channel_set_buffer(other, name, strlen(name), 65536 + i),
				 CTRACE_OK);
	}
	other_level("a", CTRACE_DEBUG);
	property(other, "a", "p", "2");
	emitter_property(other, "FILE", "b.log");
	assert_int_equal(
		ct_registry_reconfigure(registry, other, NULL, NULL, &reconfiguration, &reopen),
		CTRACE_NOT_ENOUGH_MEMORY);
	assert_ptr_equal(reconfiguration, (void *)&reconfiguration);
	assert_int_equal(reopen, 77);
	assert_int_equal(level_word_level(a), CTRACE_WARN);
	assert_int_equal(ct_registry_configured(registry, a).level, CTRACE_WARN);
	assert_int_equal(
		ct_channel_at(registry,
			      ct_level_word_channel(&ct_registry_entry(registry, a)->level_word))
			.buffer,
		4096);
	assert_string_equal(value_of("a", "p"), "1");
	assert_int_equal(level_word_level(add("many.c1")), CTRACE_LEVEL_NONE);
	/* The numbers that it had taken are free again. */
	for (uint32_t i = 0; i < 62; i++) {
		(void)snprintf(name, sizeof name, "own%u", i);
		assert_int_equal(ct_channel_set_buffer(registry, name, strlen(name), 8192 + i),
				 CTRACE_OK);
	}
}

static void blocks_of_old_properties_are_used_again(void **state)
{
	char value[2000];
	size_t left = 0;

	(void)state;
	(void)add("a");
	for (unsigned i = 0; i < 3000; i++) {
		memset(value, 'a' + (int)(i % 2), sizeof value);
		value[sizeof value - 1] = '\0';
		end_other();
		begin_other();
		property(other, "a", "p", value);
		(void)adopt();
		if (i == 10)
			left = registry->arena.left;
	}
	assert_int_equal(registry->arena.left, left);
	assert_string_equal(value_of("a", "p"), value);
}

/* ---- in between ---- */

static uint32_t stop;
static uint32_t watched;
static uint32_t highest;
static unsigned looks;

static void *watch(void *argument)
{
	const struct ctrace_level_word *level_word =
		&ct_registry_entry(registry, watched)->level_word;

	while (__atomic_load_n(&stop, __ATOMIC_ACQUIRE) == 0) {
		uint32_t level = __atomic_load_n(&level_word->level, __ATOMIC_RELAXED);

		highest = level > highest ? level : highest;
		__atomic_store_n(&looks, looks + 1, __ATOMIC_RELAXED);
	}
	return argument;
}

/* On before and after by quite different lines: at no time anything else. */
static void nothing_is_off_in_between(void **state)
{
	pthread_t thread;

	(void)state;
	watched = add("a.b");
	other_level("a.b", CTRACE_INFO);
	(void)adopt();
	assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
	while (__atomic_load_n(&looks, __ATOMIC_RELAXED) == 0)
		;
	for (unsigned i = 0; i < 5000; i++) {
		other_level("a.b", i % 2 == 0 ? CT_LEVEL_UNSET : CTRACE_INFO);
		other_level(i % 3 == 0 ? "a" : NULL, CTRACE_DEBUG);
		other_level(i % 3 == 0 ? NULL : "a",
			    i % 3 == 0 ? CTRACE_LEVEL_NONE : CT_LEVEL_UNSET);
		(void)adopt();
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(highest <= CTRACE_INFO);
}

#define BOTH(test) cmocka_unit_test_setup_teardown(test, setup_both, teardown_both)

int test_reconfigure(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(what_is_said_is_in_force_and_what_is_not_is_gone),
		BOTH(each_change_is_reported_once_with_its_last_value),
		BOTH(properties_are_reported_where_they_are_new),
		BOTH(only_emitters_with_other_settings_are_reopened),
		BOTH(component_traces_share_stays),
		BOTH(all_or_nothing),
		BOTH(blocks_of_old_properties_are_used_again),
		BOTH(nothing_is_off_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
