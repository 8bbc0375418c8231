/*
 * channel.c - channels: which ring a component's events go into.
 *
 * Most components share each thread's common ring, channel 0.  One that has a ring size, an
 * overflow policy or a flight recorder of its own, and those below it, take a channel; components
 * with equal settings share one.  Commands run here, on any thread, under the registry's lock, not
 * in a signal handler.  A channel's row is complete before its number is in a level word and never
 * changes after that, because threads keep rings by that number.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/tree.h"

/* One change to the settings of a component. */
struct channel_change {
	enum { SET_BUFFER, SET_OVERFLOW, SET_FLIGHT, SET_WRITER } what;
	uint64_t buffer;
	uint32_t overflow;
	uint32_t flight_level;
	uint32_t writer;
};

/* ---- resolving ---- */

uint32_t ct_channel_inherited(const struct ct_registry *registry, uint32_t index)
{
	return ct_node_at(registry, ct_node_at(registry, index)->parent)->channel;
}

/* The settings that a component's channel must have.  Its destinations are resolved. */
static struct ct_channel channel_of(const struct ct_registry *registry, uint32_t index)
{
	const struct ct_configured *own = &ct_node_at(registry, index)->own;
	struct ct_channel channel = { .flight_level = CTRACE_LEVEL_NONE };

	if (index != CT_COMPONENT_NONE)
		channel = registry->channels[ct_channel_inherited(registry, index)];
	if (own->buffer != 0)
		channel.buffer = own->buffer;
	if (own->overflow != CT_OVERFLOW_UNSET)
		channel.overflow = own->overflow;
	if (own->flight_level != CT_LEVEL_UNSET)
		channel.flight_level = own->flight_level;
	if (own->writer != CT_WRITER_UNSET)
		channel.writer = own->writer;
	channel.is_storage = channel.writer == 0 && ct_dest_is_storage(registry, index);
	if (!channel.is_storage)
		channel.owner = 0;
	else if (own->is_trace && own->buffer != 0)
		channel.owner = index + 1;
	return channel;
}

static bool channel_is_equal(const struct ct_channel *a, const struct ct_channel *b)
{
	return a->buffer == b->buffer && a->overflow == b->overflow &&
	       a->flight_level == b->flight_level && a->writer == b->writer &&
	       a->is_storage == b->is_storage && a->owner == b->owner;
}

/* The number of a channel with these settings; false when it is a new one and there are
 * CT_CHANNEL_LIMIT already.  Traces beyond CT_CHANNEL_OWNED share storage with those of their size.
 */
static bool channel_find(struct ct_registry *registry, struct ct_channel channel,
			 uint32_t *out_number)
{
	uint32_t number = 0;

	while (number < registry->channel_count &&
	       !channel_is_equal(&registry->channels[number], &channel))
		number++;
	if (number == registry->channel_count && number >= CT_CHANNEL_OWNED && channel.owner != 0) {
		channel.owner = 0;
		return channel_find(registry, channel, out_number);
	}
	if (number == CT_CHANNEL_LIMIT)
		return false;
	if (number == registry->channel_count)
		registry->channels[registry->channel_count++] = channel;
	*out_number = number;
	return true;
}

static bool channel_is_in_force(const struct ct_registry *registry, uint32_t index)
{
	return index != CT_COMPONENT_NONE &&
	       ct_node_at(registry, index)->channel ==
		       ct_level_word_channel(&ct_registry_entry(registry, index)->level_word);
}

/*
 * Notes, in each component from `top` down, the channel of its settings.  Returns false, and
 * changes nothing, when there are not enough channels.  prune: if a component's channel is
 * unchanged, so are those below it, which is not so when destinations have changed.
 */
static bool resolve_tree(struct ct_registry *registry, uint32_t top, bool prune)
{
	uint32_t channels_before = registry->channel_count;
	uint32_t root_before = registry->root.channel;
	uint32_t at = top;

	do {
		if (!channel_find(registry, channel_of(registry, at),
				  &ct_node_at(registry, at)->channel))
			goto undo;
		at = ct_node_next(registry, top, at, prune && channel_is_in_force(registry, at));
	} while (at != CT_COMPONENT_NONE);
	return true;

undo:
	registry->channel_count = channels_before;
	registry->root.channel = root_before;
	at = top;
	do {
		if (at != CT_COMPONENT_NONE)
			ct_node_at(registry, at)->channel =
				ct_level_word_channel(&ct_registry_entry(registry, at)->level_word);
		at = ct_node_next(registry, top, at, false);
	} while (at != CT_COMPONENT_NONE);
	return false;
}

static void publish_tree(struct ct_registry *registry, uint32_t top, bool prune,
			 struct ct_level_changes *changes)
{
	uint32_t at = top;

	do {
		bool is_in_force = channel_is_in_force(registry, at);

		if (at != CT_COMPONENT_NONE && !is_in_force)
			ct_level_publish(registry, at, ct_node_at(registry, at)->channel, changes);
		at = ct_node_next(registry, top, at, prune && is_in_force);
	} while (at != CT_COMPONENT_NONE);
}

bool ct_channel_resolve_all(struct ct_registry *registry)
{
	return resolve_tree(registry, CT_COMPONENT_NONE, false);
}

bool ct_channel_follow_dests(struct ct_registry *registry, uint32_t top)
{
	if (!resolve_tree(registry, top, false))
		return false;
	publish_tree(registry, top, false, NULL);
	return true;
}

/* ---- commands ---- */

static void own_change(struct ct_configured *own, const struct channel_change *change)
{
	if (change->what == SET_BUFFER)
		own->buffer = change->buffer;
	else if (change->what == SET_OVERFLOW)
		own->overflow = change->overflow;
	else if (change->what == SET_WRITER)
		own->writer = change->writer;
	else
		own->flight_level = change->flight_level;
}

static enum ctrace_status channel_set(struct ct_registry *registry, const char *component,
				      size_t size, const struct channel_change *change,
				      ct_change_sink *changed, void *user)
{
	enum ctrace_status status = ct_component_check_name(component, size);
	struct ct_level_changes changes;
	struct ct_configured before;
	struct ct_node *node;
	uint32_t index;

	if (status != CTRACE_OK)
		return status;
	ct_registry_lock(registry);
	status = ct_node_ensure(registry, component, size, &index);
	if (status != CTRACE_OK)
		goto undo_lock;
	status = ct_level_changes_init(&changes, registry, index, changed != NULL);
	if (status != CTRACE_OK)
		goto undo_lock;
	node = ct_node_at(registry, index);
	before = node->own;
	own_change(&node->own, change);
	if (change->what == SET_WRITER)
		ct_dest_resolve_tree(registry, index); /* without a writer it may be in storage */
	if (!resolve_tree(registry, index, change->what != SET_WRITER)) {
		status = CTRACE_NOT_ENOUGH_MEMORY;
		goto undo_change;
	}
	publish_tree(registry, index, change->what != SET_WRITER, &changes);
	ct_registry_unlock(registry);
	return ct_level_changes_report(&changes, changed, user);

undo_change:
	node->own = before;
	ct_dest_resolve_tree(registry, index);
	ct_buf_fini(&changes.list);
undo_lock:
	ct_registry_unlock(registry);
	return status;
}

enum ctrace_status ct_channel_set_buffer(struct ct_registry *registry, const char *component,
					 size_t size, uint64_t bytes)
{
	struct channel_change change = { .what = SET_BUFFER, .buffer = bytes };

	return channel_set(registry, component, size, &change, NULL, NULL);
}

enum ctrace_status ct_channel_set_overflow(struct ct_registry *registry, const char *component,
					   size_t size, uint32_t overflow)
{
	struct channel_change change = { .what = SET_OVERFLOW, .overflow = overflow };

	return channel_set(registry, component, size, &change, NULL, NULL);
}

enum ctrace_status ct_channel_set_flight(struct ct_registry *registry, const char *component,
					 size_t size, uint32_t level, ct_change_sink *changed,
					 void *user)
{
	struct channel_change change = { .what = SET_FLIGHT, .flight_level = level };

	if (level >= CTRACE_LEVEL_COUNT && level != CTRACE_LEVEL_NONE)
		return CTRACE_INVALID_TRACE_LEVEL;
	return channel_set(registry, component, size, &change, changed, user);
}

enum ctrace_status ct_channel_set_writer(struct ct_registry *registry, const char *component,
					 size_t size, uint32_t writer)
{
	struct channel_change change = { .what = SET_WRITER, .writer = writer };

	return channel_set(registry, component, size, &change, NULL, NULL);
}

struct ct_channel ct_channel_at(const struct ct_registry *registry, uint32_t channel)
{
	return registry->channels[channel < CT_CHANNEL_LIMIT ? channel : 0];
}

uint32_t ct_channel_output_level(const struct ct_registry *registry, uint32_t component)
{
	return __atomic_load_n(&ct_node_at(registry, component)->level, __ATOMIC_RELAXED);
}
