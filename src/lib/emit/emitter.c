/*
 * emitter.c - the emitters there are, and look-up by name.
 *
 * Commands and recoverers look names up under a lock, which is never held while a module is loaded:
 * the loader's own lock may be held by a thread that waits for ours.  An emitter keeps its index
 * for the life of the process.  The consumer thread asks for the emitter at an index meanwhile,
 * without a lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define BUILT_IN 6u

/* What is built in; modules that were asked for by name follow. */
static const struct ctrace_emitter *emitters[CT_EMITTER_LIMIT] = {
	&ct_emit_textfile, &ct_emit_binfile, &ct_emit_stderr,
	&ct_emit_es,       &ct_emit_nats,    [CT_EMITTER_STORAGE] = &ct_emit_storage,
};
static uint32_t emitter_count = BUILT_IN;

/* Names that configurations written elsewhere use. */
static const struct {
	const char *name;
	char stands_for[16];
} aliases[] = {
	{ "IDEDBG", "STDERR" },
	{ "WINEVENT", "JOURNAL" },
};

/* look-ups: commands, and a recoverer beside them */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
	ct_guard_leave();
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

/* The name as it stands in the table.  False: no emitter can have it. */
static bool print_name(char out_upper[CTRACE_MAX_EMITTER + 1], const char *name, size_t size)
{
	if (size == 0 || size > CTRACE_MAX_EMITTER)
		return false;
	memcpy(out_upper, name, size);
	out_upper[size] = '\0';
	ct_name_upper(out_upper, size);
	for (size_t i = 0; i < CT_COUNT(aliases); i++)
		if (strcmp(aliases[i].name, out_upper) == 0)
			memcpy(out_upper, aliases[i].stands_for, sizeof aliases[i].stands_for);
	return true;
}

/* Under the lock.  Another thread may have been first. */
static bool emitter_add(const struct ctrace_emitter *emitter, uint32_t *out_index)
{
	if (emitter_count == CT_EMITTER_LIMIT)
		return false;
	emitters[emitter_count] = emitter;
	*out_index = emitter_count;
	/* Publish: pairs with the acquire load in ct_emitter_at(). */
	__atomic_store_n(&emitter_count, emitter_count + 1, __ATOMIC_RELEASE);
	return true;
}

/* Under no lock: the loader runs constructors, and waits for constructors that run on other
 * threads. */
static enum ctrace_status add_module(const char *upper_name, uint32_t *out_index)
{
	const struct ctrace_emitter *emitter;
	bool was_added = false, is_known;
	void *handle;

	if (__atomic_load_n(&emitter_count, __ATOMIC_ACQUIRE) == CT_EMITTER_LIMIT)
		return CTRACE_EMITTER_NOT_FOUND;
	emitter = ct_module_find(upper_name, &handle);
	if (emitter == NULL)
		return CTRACE_EMITTER_NOT_FOUND;
	ct_emitter_lock();
	is_known = find_known(upper_name, out_index);
	if (!is_known)
		was_added = emitter_add(emitter, out_index);
	ct_emitter_unlock();
	if (!was_added)
		(void)dlclose(handle);
	return is_known || was_added ? CTRACE_OK : CTRACE_EMITTER_NOT_FOUND;
}

/* out_upper: the name as it stands in the table, unless it can be none. */
static enum ctrace_status find_by_name(const char *name, size_t size,
				       char out_upper[CTRACE_MAX_EMITTER + 1], uint32_t *out_index)
{
	bool is_known;

	if (!print_name(out_upper, name, size))
		return CTRACE_INVALID_EMITTER_NAME;
	ct_emitter_lock();
	is_known = find_known(out_upper, out_index);
	ct_emitter_unlock();
	return is_known ? CTRACE_OK : CTRACE_EMITTER_NOT_FOUND;
}

enum ctrace_status ct_emitter_find_known(const char *name, size_t size, uint32_t *out_index)
{
	char upper[CTRACE_MAX_EMITTER + 1];

	return find_by_name(name, size, upper, out_index);
}

/* Do its metadata have the names of a catalogue? */
static bool writes_metadata(uint32_t index)
{
	return ct_emitter_at(index) == &ct_emit_binfile || ct_emitter_at(index) == &ct_emit_nats;
}

enum ctrace_status ct_emitter_find(const char *name, size_t size, uint32_t *out_index)
{
	char upper[CTRACE_MAX_EMITTER + 1];
	enum ctrace_status status = find_by_name(name, size, upper, out_index);

	if (status == CTRACE_EMITTER_NOT_FOUND && ct_thread_locked == 0)
		status = add_module(upper, out_index);
	if (status == CTRACE_OK && writes_metadata(*out_index))
		ct_event_names_load_when_set();
	return status;
}

const struct ctrace_emitter *ct_emitter_at(uint32_t index)
{
	return index < __atomic_load_n(&emitter_count, __ATOMIC_ACQUIRE) ? emitters[index] : NULL;
}

void ct_emitter_prepare(uint32_t index, struct ct_span property, struct ct_span value)
{
	if (writes_metadata(index) && ct_name_is(property.at, property.size, "CATALOG") &&
	    ct_event_names_need_module(value))
		ct_event_names_load();
}

const struct ctrace_property *ct_emitter_property(const struct ctrace_emitter *emitter,
						  const char *name, size_t size)
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
	if (emitter->size < offsetof(struct ctrace_emitter, rotate) + sizeof emitter->rotate ||
	    emitter->rotate == NULL)
		return CTRACE_UNSUPPORTED;
	return emitter->rotate(self);
}
