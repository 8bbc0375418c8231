/*
 * emitter.c - the emitters there are, and look-up by name.
 *
 * Names are looked up by commands and recoverers under a lock; an emitter keeps its index for the life of the process.  The agent
 * asks for the emitter at an index meanwhile, without a lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/emit.h"

#include <pthread.h>
#include <string.h>

#define BUILT_IN 4u

/* What is built in; modules that were asked for by name follow. */
static const struct ctrace_emitter *emitters[CT_EMITTER_LIMIT] = {
	&ct_emit_textfile,
	&ct_emit_binfile,
	&ct_emit_stderr,
	&ct_emit_es,
};
static uint32_t emitter_count = BUILT_IN;

/* Names that configurations written elsewhere use. */
static const struct {
	const char *name;
	const char *stands_for;
} aliases[] = {
	{ "IDEDBG", "STDERR" },
	{ "WINEVENT", "JOURNAL" },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* look-ups: commands, and a recoverer beside them */

void ct_emitter_lock(void)
{
	ct_guard_lock(&lock);
}

void ct_emitter_unlock(void)
{
	ct_guard_unlock(&lock);
}

void ct_emitter_unlock_in_child(void)
{
	(void)pthread_mutex_init(&lock, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ct_thread_locked--;
}

static bool find_known(const char *upper_name, uint32_t *out_index)
{
	for (uint32_t i = 0; i < emitter_count; i++) {
		if (strcmp(emitters[i]->name, upper_name) == 0) {
			*out_index = i;
			return true;
		}
	}
	return false;
}

static enum ctrace_status add_module(const char *upper_name, uint32_t *out_index)
{
	const struct ctrace_emitter *emitter;

	if (emitter_count == CT_EMITTER_LIMIT)
		return CTRACE_EMITTER_NOT_FOUND;
	emitter = ct_module_find(upper_name);
	if (emitter == NULL)
		return CTRACE_EMITTER_NOT_FOUND;
	emitters[emitter_count] = emitter;
	*out_index = emitter_count;
	/* Publish: pairs with the acquire load in ct_emitter_at(). */
	__atomic_store_n(&emitter_count, emitter_count + 1, __ATOMIC_RELEASE);
	return CTRACE_OK;
}

enum ctrace_status ct_emitter_find(const char *name, size_t size, uint32_t *out_index)
{
	char upper[CTRACE_MAX_EMITTER + 1] = { 0 };
	const char *wanted = upper;
	enum ctrace_status status;

	if (size == 0 || size > CTRACE_MAX_EMITTER)
		return CTRACE_INVALID_EMITTER_NAME;
	memcpy(upper, name, size);
	ct_name_upper(upper, size);
	for (size_t i = 0; i < CT_COUNT(aliases); i++) {
		if (strcmp(aliases[i].name, upper) == 0)
			wanted = aliases[i].stands_for;
	}
	ct_emitter_lock();
	status = find_known(wanted, out_index) ? CTRACE_OK : add_module(wanted, out_index);
	ct_emitter_unlock();
	if (status == CTRACE_OK && ct_emitter_at(*out_index) == &ct_emit_binfile)
		ct_event_names_load_when_set();
	return status;
}

const struct ctrace_emitter *ct_emitter_at(uint32_t index)
{
	return index < __atomic_load_n(&emitter_count, __ATOMIC_ACQUIRE) ? emitters[index] : NULL;
}

void ct_emitter_prepare(uint32_t index, const char *property, size_t size)
{
	if (ct_emitter_at(index) == &ct_emit_binfile && ct_name_is(property, size, "CATALOG"))
		ct_event_names_load();
}

const struct ctrace_property *ct_emitter_property(const struct ctrace_emitter *emitter, const char *name, size_t size)
{
	const struct ctrace_property *row = emitter->properties;

	for (; row != NULL && row->name != NULL; row++) {
		if (ct_name_is(name, size, row->name))
			return row;
	}
	return NULL;
}

enum ctrace_status ct_emitter_rotate(const struct ctrace_emitter *emitter, void *self)
{
	if (emitter->size < offsetof(struct ctrace_emitter, rotate) + sizeof emitter->rotate || emitter->rotate == NULL)
		return CTRACE_UNSUPPORTED;
	return emitter->rotate(self);
}
