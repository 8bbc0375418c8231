/*
 * test_storage.c - which components are in storage, and whose rings they share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include "lib/ring/ring.h"

#define STORAGE CT_EMITTER_STORAGE
#define BINFILE 1u

static struct ct_channel channel(const char *name)
{
	const struct ct_component_entry *entry = ct_registry_entry(registry, add(name));

	return ct_channel_at(registry, ct_level_word_channel(&entry->level_word));
}

static void dest_add(const char *name, uint32_t emitter)
{
	assert_int_equal(
		ct_dest_add(registry, name, name != NULL ? strlen(name) : 0, emitter, false),
		CTRACE_OK);
}

static void dest_remove(const char *name, uint32_t emitter)
{
	assert_int_equal(ct_dest_remove(registry, name, name != NULL ? strlen(name) : 0, emitter),
			 CTRACE_OK);
}

static void a_component_whose_only_destination_is_storage(void **state)
{
	(void)state;
	add("a.b");
	dest_add("a", STORAGE);
	assert_true(channel("a").is_storage);
	assert_true(channel("a.b").is_storage);
	assert_true(channel("a.late").is_storage);
	assert_false(channel("b").is_storage);
	assert_int_equal(ct_registry_entry(registry, add("a.b"))->dests, 1u << STORAGE);
	/* Beside another destination it adds nothing. */
	dest_add("a.b", BINFILE);
	assert_false(channel("a.b").is_storage);
	assert_int_equal(ct_registry_entry(registry, add("a.b"))->dests, 1u << BINFILE);
	dest_remove("a.b", BINFILE);
	assert_true(channel("a.b").is_storage);
	dest_remove("a", STORAGE);
	assert_false(channel("a").is_storage);
	assert_false(channel("a.b").is_storage);
}

static void the_default(void **state)
{
	(void)state;
	add("before");
	dest_add(NULL, STORAGE);
	assert_true(channel("before").is_storage);
	assert_true(channel("after").is_storage);
	dest_add(NULL, BINFILE);
	assert_false(channel("before").is_storage);
	assert_int_equal(ct_registry_entry(registry, add("after"))->dests, 1u << BINFILE);
}

static void a_trace_without_a_configured_destination(void **state)
{
	uint32_t index = add("t");

	(void)state;
	add("t.sub");
	assert_int_equal(ct_dest_set_trace(registry, index, true), CTRACE_OK);
	assert_true(channel("t").is_storage);
	assert_true(channel("t.sub").is_storage);
	dest_add(NULL, BINFILE);
	assert_false(channel("t").is_storage);
	dest_remove(NULL, BINFILE); /* the default is implicit again */
	assert_true(channel("t").is_storage);
	assert_int_equal(ct_channel_set_writer(registry, "t", 1, 3), CTRACE_OK);
	assert_false(channel("t").is_storage);
	assert_int_equal(ct_channel_set_writer(registry, "t", 1, 0), CTRACE_OK);
	assert_true(channel("t").is_storage);
	assert_int_equal(ct_dest_set_trace(registry, index, false), CTRACE_OK);
	assert_false(channel("t").is_storage);
	assert_false(channel("t.sub").is_storage);
}

static void each_trace_with_a_size_has_storage_of_its_own(void **state)
{
	(void)state;
	for (const char *name = "uvw"; *name != '\0'; name++) {
		char one[2] = { *name };

		assert_int_equal(ct_dest_set_trace(registry, add(one), true), CTRACE_OK);
		if (*name != 'w')
			assert_int_equal(ct_channel_set_buffer(registry, one, 1, 1 << 16),
					 CTRACE_OK);
	}
	assert_int_not_equal(channel("u").owner, channel("v").owner);
	assert_int_equal(channel("u.sub").owner, channel("u").owner);
	assert_int_equal(channel("w").owner, 0);
}

/* Traces that find no channel of their own share one with those of their size. */
static void as_many_traces_as_there_may_be(void **state)
{
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof name, "many%u", i);
		assert_int_equal(ct_dest_set_trace(registry, add(name), true), CTRACE_OK);
		assert_int_equal(ct_channel_set_buffer(registry, name, strlen(name), 1 << 16),
				 CTRACE_OK);
		assert_true(channel(name).is_storage);
	}
	assert_int_not_equal(channel("many0").owner, channel("many1").owner);
	assert_int_equal(channel("many998").owner, 0);
	assert_int_equal(channel("many999").owner, 0);
}

static void without_a_channel_nothing_changes(void **state)
{
	char name[16];
	enum ctrace_status status = CTRACE_OK;

	(void)state;
	for (unsigned i = 0; status == CTRACE_OK; i++) {
		(void)snprintf(name, sizeof name, "full%u", i);
		add(name);
		status = ct_channel_set_buffer(registry, name, strlen(name), 4096 + i);
	}
	assert_int_equal(status, CTRACE_NOT_ENOUGH_MEMORY);
	add("late");
	assert_int_equal(ct_dest_add(registry, "late", 4, STORAGE, false),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_false(channel("late").is_storage);
	assert_int_equal(ct_registry_entry(registry, add("late"))->dests, 1);
	assert_int_equal(ct_dest_set_trace(registry, add("late"), true), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_registry_entry(registry, add("late"))->dests, 1);
}

int test_storage(void)
{
	const struct CMUnitTest tests[] = {
		EACH(a_component_whose_only_destination_is_storage),
		EACH(the_default),
		EACH(a_trace_without_a_configured_destination),
		EACH(each_trace_with_a_size_has_storage_of_its_own),
		EACH(as_many_traces_as_there_may_be),
		EACH(without_a_channel_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
