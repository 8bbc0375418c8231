/*
 * level.c - thresholds: a component's own setting, its ancestors' settings, and the resulting
 * level word.
 *
 * Commands run here, on any thread, under the registry's lock, never in a signal handler.  Trace
 * calls only load the level words that are stored here; a change costs its subtree, so that a trace
 * call costs one load.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/tree.h"

struct level_change {
	uint32_t component;
	uint32_t level;
};

/* ---- changes ---- */

enum ctrace_status ct_level_changes_init(struct ct_level_changes *changes,
					 const struct ct_registry *registry, uint32_t top,
					 bool wanted)
{
	size_t count = 1;

	ct_buf_init(&changes->list);
	changes->wanted = wanted;
	if (!wanted)
		return CTRACE_OK;
	for (uint32_t at = ct_node_next(registry, top, top, false); at != CT_COMPONENT_NONE;
	     at = ct_node_next(registry, top, at, false))
		count++;
	if (ct_buf_reserve(&changes->list, count * sizeof(struct level_change)))
		return CTRACE_OK;
	ct_buf_fini(&changes->list);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

static void changes_add(struct ct_level_changes *changes, uint32_t component, uint32_t level)
{
	struct level_change change = { component, level };

	if (changes != NULL && changes->wanted)
		ct_buf_add(&changes->list, &change, sizeof change);
}

enum ctrace_status ct_level_changes_report(struct ct_level_changes *changes,
					   ct_change_sink *changed, void *user)
{
	enum ctrace_status status = CTRACE_OK;
	const struct level_change *list = (const void *)changes->list.data;
	size_t count = changed != NULL ? changes->list.size / sizeof *list : 0;

	for (size_t i = 0; i < count; i++) {
		struct ct_change change = { .kind = CT_CHANGE_LEVEL,
					    .component = list[i].component,
					    .level = list[i].level,
					    .out_status = &status };

		changed(&change, user);
	}
	ct_buf_fini(&changes->list);
	return status;
}

/* ---- resolving ---- */

void ct_level_resolve(struct ct_registry *registry, uint32_t index)
{
	struct ct_node *node = ct_node_at(registry, index);
	uint32_t level = node->own.level;

	if (level == CT_LEVEL_UNSET)
		level = index == CT_COMPONENT_NONE ? CTRACE_LEVEL_NONE
						   : ct_node_at(registry, node->parent)->level;
	if (node->own.excluded)
		level = CTRACE_LEVEL_NONE;
	if (node->own.minimum < level)
		level = node->own.minimum;
	__atomic_store_n(&node->level, level, __ATOMIC_RELAXED);
}

/* Returns the level from which a component of that channel records. */
static uint32_t recorded_level(const struct ct_registry *registry, uint32_t index, uint32_t channel)
{
	uint32_t flight = registry->channels[channel].flight_level;
	uint32_t level = ct_node_at(registry, index)->level;

	return flight < level ? flight : level;
}

void ct_level_publish(struct ct_registry *registry, uint32_t index, uint32_t channel,
		      struct ct_level_changes *changes)
{
	struct ct_component_entry *entry = ct_registry_entry(registry, index);
	struct ctrace_level_word *level_word = &entry->level_word;
	bool is_hidden = (ct_registry_entry(registry, index)->flags & CT_COMPONENT_HIDDEN) != 0;
	/* A program may still hold a tracer of a deleted trace. */
	uint32_t level = is_hidden ? CTRACE_LEVEL_NONE : recorded_level(registry, index, channel);

	__atomic_store_n(&entry->writer, registry->channels[channel].writer, __ATOMIC_RELAXED);
	if (level != level_word->level && ct_node_is_known(registry, index))
		changes_add(changes, index, level);
	/*
	 * Events that only the flight recorder wants must not reach the destinations: a thread that
	 * sees the lower level must see the channel too.  So the channel is stored first when the
	 * level falls, and last when it rises.  Release: the channel's row is complete.
	 */
	if (level < level_word->level) {
		__atomic_store_n(&level_word->thread_buffer, ct_channel_to_thread_buffer(channel),
				 __ATOMIC_RELEASE);
		__atomic_store_n(&level_word->level, level, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&level_word->level, level, __ATOMIC_RELEASE);
		__atomic_store_n(&level_word->thread_buffer, ct_channel_to_thread_buffer(channel),
				 __ATOMIC_RELEASE);
	}
}

/* Below a component with a level of its own nothing can change, so the walk leaves it out. */
static void level_resolve_tree(struct ct_registry *registry, uint32_t top,
			       struct ct_level_changes *changes)
{
	bool prune;

	for (uint32_t at = top;;) {
		ct_level_resolve(registry, at);
		if (at != CT_COMPONENT_NONE)
			ct_level_publish(registry, at, ct_node_at(registry, at)->channel, changes);
		prune = false;
		do {
			at = ct_node_next(registry, top, at, prune);
			if (at == CT_COMPONENT_NONE)
				return;
			prune = ct_node_at(registry, at)->own.level != CT_LEVEL_UNSET;
		} while (prune);
	}
}

/* ---- commands ---- */

static bool level_is_valid(uint32_t level)
{
	return level < CTRACE_LEVEL_COUNT || level == CTRACE_LEVEL_NONE || level == CT_LEVEL_UNSET;
}

/* Is a trace defined for the component, or being defined? */
static bool is_traced_by_component(const struct ct_registry *registry, uint32_t index)
{
	return (ct_registry_entry(registry, index)->flags &
		(CT_COMPONENT_DEFINED | CT_COMPONENT_HIDDEN)) != 0;
}

/* Called with the lock held; releases it. */
static enum ctrace_status set_and_unlock(struct ct_registry *registry, uint32_t index,
					 const struct ct_level_trace *trace,
					 ct_change_sink *changed, void *user)
{
	struct ct_configured *own = &ct_node_at(registry, index)->own;
	struct ct_level_changes changes;
	enum ctrace_status status =
		ct_level_changes_init(&changes, registry, index, changed != NULL);

	if (status == CTRACE_OK) {
		bool is_other = own->level != trace->level;

		own->level = trace->level;
		own->minimum = trace->minimum;
		own->excluded = trace->excluded;
		level_resolve_tree(registry, index, &changes);
		/* Component trace uses the setting itself, even where its minimum or a filter keeps
		 * the threshold unchanged. */
		if (is_other && changes.list.size == 0 && index != CT_COMPONENT_NONE &&
		    is_traced_by_component(registry, index))
			changes_add(&changes, index,
				    ct_registry_entry(registry, index)->level_word.level);
	}
	ct_registry_unlock(registry);
	return status == CTRACE_OK ? ct_level_changes_report(&changes, changed, user) : status;
}

enum ctrace_status ct_level_set(struct ct_registry *registry, const char *component, size_t size,
				uint32_t level, ct_change_sink *changed, void *user)
{
	struct ct_level_trace trace = { .level = level };
	uint32_t index;
	enum ctrace_status status;

	if (!level_is_valid(level))
		return CTRACE_INVALID_TRACE_LEVEL;
	ct_registry_lock(registry);
	status = ct_node_ensure(registry, component, size, &index);
	if (status != CTRACE_OK) {
		ct_registry_unlock(registry);
		return status;
	}
	trace.minimum = ct_node_at(registry, index)->own.minimum;
	trace.excluded = ct_node_at(registry, index)->own.excluded;
	return set_and_unlock(registry, index, &trace, changed, user);
}

enum ctrace_status ct_level_set_trace(struct ct_registry *registry, uint32_t index,
				      const struct ct_level_trace *trace, ct_change_sink *changed,
				      void *user)
{
	enum ctrace_status status;

	if (!level_is_valid(trace->level))
		return CTRACE_INVALID_TRACE_LEVEL;
	ct_registry_lock(registry);
	status = set_and_unlock(registry, index, trace, changed, user);
	/* Traces below it that another command holds get their thresholds from that command. */
	return status == CTRACE_TIMED_OUT ? CTRACE_OK : status;
}

uint32_t ct_level_default(const struct ct_registry *registry)
{
	return __atomic_load_n(&registry->root.level, __ATOMIC_RELAXED);
}

uint32_t ct_registry_lowest_level(const struct ct_registry *registry)
{
	uint32_t lowest = ct_level_default(registry);

	for (uint32_t i = 0; i < CT_CHANNEL_LIMIT; i++)
		if (registry->channels[i].flight_level < lowest && i < registry->channel_count)
			lowest = registry->channels[i].flight_level;
	for (uint32_t i = 0; i < ct_registry_count(registry); i++) {
		uint32_t level = __atomic_load_n(&ct_node_at(registry, i)->level, __ATOMIC_RELAXED);

		if (level < lowest)
			lowest = level;
	}
	return lowest;
}

/* The nearest ancestor that exists answers for a component that does not. */
enum ctrace_status ct_level_get(struct ct_registry *registry, const char *component, size_t size,
				uint32_t *out_level)
{
	enum ctrace_status status;
	uint32_t index;

	if (component == NULL || size == 0) {
		*out_level = ct_level_default(registry);
		return CTRACE_OK;
	}
	status = ct_component_check_name(component, size);
	if (status != CTRACE_OK)
		return status;
	index = ct_node_find(registry, component, size);
	while (index == CT_COMPONENT_NONE) {
		while (size > 0 && component[size - 1] != '.')
			size--;
		if (size == 0) {
			*out_level = ct_level_default(registry);
			return CTRACE_OK;
		}
		size--;
		index = ct_node_find(registry, component, size);
	}
	ct_registry_lock(registry);
	*out_level = recorded_level(registry, index, ct_node_at(registry, index)->channel);
	ct_registry_unlock(registry);
	return CTRACE_OK;
}
