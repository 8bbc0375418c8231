/*
 * registry_fixture.h - a registry on a session in memory, and a sink that notes changes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_REGISTRY_FIXTURE_H
#define CT_REGISTRY_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/registry/registry.h"

static struct ct_session fixture_session;
static struct ct_registry *registry;

static struct {
	unsigned count;
	struct ct_change last;
	char property[64];
	char value[64];
	uint32_t components[16];
	uint32_t levels[16];
} changes __attribute__((unused));

static int fixture_setup(void **state)
{
	(void)state;
	memset(&changes, 0, sizeof changes);
	assert_int_equal(ct_session_create(&fixture_session, NULL), CTRACE_OK);
	assert_int_equal(ct_registry_create(&fixture_session, &registry), CTRACE_OK);
	return 0;
}

static int fixture_teardown(void **state)
{
	(void)state;
	ct_registry_destroy(registry);
	ct_session_close(&fixture_session, true);
	return 0;
}

static __attribute__((unused)) void note_change(const struct ct_change *change, void *user)
{
	(void)user;
	if (changes.count < 16) {
		changes.components[changes.count] = change->component;
		changes.levels[changes.count] = change->level;
	}
	changes.count++;
	changes.last = *change;
	if (change->property != NULL) {
		snprintf(changes.property, sizeof changes.property, "%.*s",
			 (int)change->property_size, change->property);
		snprintf(changes.value, sizeof changes.value, "%.*s", (int)change->value_size,
			 change->value);
		assert_int_equal(change->property[change->property_size], '\0');
		assert_int_equal(change->value[change->value_size], '\0');
	}
}

static __attribute__((unused)) uint32_t add(const char *name)
{
	uint32_t index;

	assert_int_equal(ct_registry_register(registry, name, strlen(name), &index), CTRACE_OK);
	return index;
}

static __attribute__((unused)) bool is_found(const char *name)
{
	uint32_t index;

	return ct_registry_find(registry, name, strlen(name), &index) == CTRACE_OK;
}

static __attribute__((unused)) uint32_t level_word_level(uint32_t index)
{
	return ct_registry_entry(registry, index)->level_word.level;
}

static __attribute__((unused)) void set_level(const char *name, uint32_t level)
{
	assert_int_equal(ct_level_set(registry, name, name == NULL ? 0 : strlen(name), level,
				      note_change, NULL),
			 CTRACE_OK);
}

static __attribute__((unused)) uint32_t emitter(const char *name)
{
	uint32_t index;

	assert_int_equal(ct_emitter_find(name, strlen(name), &index), CTRACE_OK);
	return index;
}

static __attribute__((unused)) uint32_t bit(const char *name)
{
	return 1u << emitter(name);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

#endif
