/*
 * dest.c - destinations: which emitters each component's events go to.
 *
 * A component delivers to its own emitters and, unless it says otherwise, to those of its parent;
 * at the top stands the default list, which is never empty.  Commands run here under the registry's
 * lock, not in a signal handler; so does the end of a registration, which only counts.  The
 * consumer reads the resolved masks in the session.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/tree.h"

#include <string.h>

_Static_assert(CT_EMITTER_LIMIT == CT_WRITER_SLOT,
	       "an emitter is a bit of the mask and a place in the session, before the writers'");

#define STORAGE (1u << CT_EMITTER_STORAGE)

/* ---- who is in use ---- */

void ct_dest_name(struct ct_registry *registry, uint32_t emitter)
{
	struct ct_dest *dest = &registry->session->head->dest[emitter];
	const struct ctrace_emitter *known = ct_emitter_at(emitter);

	if (dest->emitter[0] == '\0' && known != NULL)
		strncpy(dest->emitter, known->name, sizeof dest->emitter - 1);
}

static void count_users(struct ct_registry *registry, uint32_t old, uint32_t new)
{
	for (uint32_t changed = old ^ new; changed != 0; changed &= changed - 1) {
		uint32_t emitter = (uint32_t)__builtin_ctz(changed);
		uint32_t bit = 1u << emitter;
		uint32_t *users = &registry->dest_users[emitter];

		*users = (new &bit) != 0 ? *users + 1 : *users - 1;
		if (*users == ((new &bit) != 0 ? 1u : 0u)) {
			ct_dest_name(registry, emitter);
			/* Release: a reader in another process that sees it active finds its name.
			 */
			__atomic_store_n(&registry->session->head->dest[emitter].active, *users,
					 __ATOMIC_RELEASE);
			__atomic_store_n(&registry->dests_in_use, registry->dests_in_use ^ bit,
					 __ATOMIC_RELEASE);
		}
	}
}

void ct_dest_count_known(struct ct_registry *registry, uint32_t index, bool is_known)
{
	uint32_t dests = ct_registry_entry(registry, index)->dests;

	count_users(registry, is_known ? 0 : dests, is_known ? dests : 0);
}

void ct_dest_recount(struct ct_registry *registry)
{
	uint32_t in_use = 0;

	ct_registry_lock(registry);
	memset(registry->dest_users, 0, sizeof registry->dest_users);
	for (uint32_t i = 0; i < registry->count; i++) {
		uint32_t dests =
			ct_node_is_known(registry, i) ? ct_registry_entry(registry, i)->dests : 0;

		in_use |= dests;
		for (; dests != 0; dests &= dests - 1)
			registry->dest_users[(uint32_t)__builtin_ctz(dests) % CT_EMITTER_LIMIT]++;
	}
	for (uint32_t emitter = 0; emitter < CT_EMITTER_LIMIT; emitter++)
		if ((in_use & 1u << emitter) != 0)
			ct_dest_name(registry, emitter);
	__atomic_store_n(&registry->dests_in_use, in_use, __ATOMIC_RELEASE);
	ct_registry_unlock(registry);
}

uint32_t ct_dest_in_use(const struct ct_registry *registry)
{
	return __atomic_load_n(&registry->dests_in_use, __ATOMIC_ACQUIRE);
}

uint32_t ct_dest_default(const struct ct_registry *registry)
{
	return __atomic_load_n(&registry->default_dests, __ATOMIC_RELAXED);
}

bool ct_dest_is_named(struct ct_registry *registry, uint32_t emitter)
{
	const struct ctrace_emitter *known = ct_emitter_at(emitter);
	const struct ctrace_property *url =
		known != NULL ? ct_emitter_property(known, "URL", 3) : NULL;
	bool is;

	if (known == NULL || (known->flags & CTRACE_EMITTER_SILENT) != 0)
		return known != NULL;
	ct_registry_lock(registry);
	is = ((registry->named_dests | registry->default_dests) >> emitter & 1) != 0 &&
	     (url == NULL || url->default_value == NULL ||
	      ct_property_is_set(registry, emitter, "URL"));
	ct_registry_unlock(registry);
	return is;
}

/* ---- resolving ---- */

/* Has nobody chosen destinations for this component, or for one above it? */
static bool dests_are_implicit(const struct ct_registry *registry, const struct ct_node *node)
{
	while (node != &registry->root && node->own.dests == 0)
		node = ct_node_at(registry, node->parent);
	return node == &registry->root && registry->default_is_implicit;
}

/* Does the trace name an external writer?  While that does not run, its events go to the implicit
 * destination, so that none is lost. */
static bool node_has_writer(const struct ct_registry *registry, const struct ct_node *node)
{
	while (node != &registry->root && node->own.writer == CT_WRITER_UNSET)
		node = ct_node_at(registry, node->parent);
	return node != &registry->root && node->own.writer != 0;
}

static uint32_t resolve_mask(const struct ct_registry *registry, const struct ct_node *node)
{
	const struct ct_node *parent = ct_node_at(registry, node->parent);
	uint32_t mask = node->parent == CT_COMPONENT_NONE
				? registry->default_dests
				: ct_registry_entry(registry, node->parent)->dests;

	if (node->own.dests == 0 && node->own.is_trace && !node_has_writer(registry, node) &&
	    dests_are_implicit(registry, node))
		return STORAGE;
	if (node->own.dests == STORAGE && dests_are_implicit(registry, parent))
		return STORAGE;
	if (node->own.dests != 0)
		mask = node->own.no_inherit ? node->own.dests : node->own.dests | mask;
	/* An event that has a destination needs no storage. */
	return mask == STORAGE ? mask : mask & ~STORAGE;
}

bool ct_dest_is_storage(const struct ct_registry *registry, uint32_t index)
{
	return (index == CT_COMPONENT_NONE ? registry->default_dests
					   : ct_registry_entry(registry, index)->dests) == STORAGE;
}

void ct_dest_resolve(struct ct_registry *registry, uint32_t index)
{
	struct ct_component_entry *entry = ct_registry_entry(registry, index);
	uint32_t mask = resolve_mask(registry, ct_node_at(registry, index));

	if (mask == entry->dests)
		return;
	if (ct_node_is_known(registry, index))
		count_users(registry, entry->dests, mask);
	__atomic_store_n(&entry->dests, mask, __ATOMIC_RELEASE);
}

/* Also where a component's mask stays what it was: those below it may name other writers. */
void ct_dest_resolve_tree(struct ct_registry *registry, uint32_t top)
{
	uint32_t at = top;

	do {
		if (at != CT_COMPONENT_NONE)
			ct_dest_resolve(registry, at);
		at = ct_node_next(registry, top, at, false);
	} while (at != CT_COMPONENT_NONE);
}

/* ---- commands ---- */

/* The settings that a command may change, for undoing it. */
struct dest_settings {
	struct ct_node *node; /* the root: the default */
	struct ct_configured own;
	uint32_t default_dests;
	bool default_is_implicit;
	bool has_replaced_textfile;
};

static struct dest_settings settings_of(const struct ct_registry *registry, uint32_t index)
{
	struct ct_node *node = ct_node_at(registry, index);

	return (struct dest_settings){ .node = node,
				       .own = node->own,
				       .default_dests = registry->default_dests,
				       .default_is_implicit = registry->default_is_implicit,
				       .has_replaced_textfile = registry->has_replaced_textfile };
}

static void settings_put(struct ct_registry *registry, const struct dest_settings *settings)
{
	settings->node->own = settings->own;
	registry->default_is_implicit = settings->default_is_implicit;
	registry->has_replaced_textfile = settings->has_replaced_textfile;
	__atomic_store_n(&registry->default_dests, settings->default_dests, __ATOMIC_RELAXED);
}

/* Puts changed settings in force for a component, and for those below it.  What goes into storage,
 * or leaves it, changes its channel.  Without a channel for that, the settings before are put back.
 */
static enum ctrace_status dests_put_in_force(struct ct_registry *registry, uint32_t index,
					     const struct dest_settings *before)
{
	ct_dest_resolve_tree(registry, index);
	if (ct_channel_follow_dests(registry, index))
		return CTRACE_OK;
	settings_put(registry, before);
	ct_dest_resolve_tree(registry, index);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

static bool emitter_exists(uint32_t emitter)
{
	return emitter < CT_EMITTER_LIMIT && ct_emitter_at(emitter) != NULL;
}

/* The first addition, by the configuration or a program, replaces the implicit TEXTFILE. */
static void add_default(struct ct_registry *registry, uint32_t bit)
{
	uint32_t before = registry->default_is_implicit ? 0 : registry->default_dests;

	registry->has_replaced_textfile =
		bit != registry->textfile &&
		(registry->default_is_implicit || registry->has_replaced_textfile);
	registry->default_is_implicit = false;
	__atomic_store_n(&registry->default_dests, before | bit, __ATOMIC_RELAXED);
}

enum ctrace_status ct_dest_add(struct ct_registry *registry, const char *component, size_t size,
			       uint32_t emitter, bool no_inherit)
{
	enum ctrace_status status;
	struct dest_settings before;
	uint32_t index;

	if (!emitter_exists(emitter))
		return CTRACE_EMITTER_NOT_FOUND;
	ct_registry_lock(registry);
	status = ct_node_ensure(registry, component, size, &index);
	if (status == CTRACE_OK) {
		registry->named_dests |= 1u << emitter;
		before = settings_of(registry, index);
		if (index == CT_COMPONENT_NONE) {
			add_default(registry, 1u << emitter);
		} else {
			before.node->own.dests |= 1u << emitter;
			before.node->own.no_inherit = no_inherit;
		}
		status = dests_put_in_force(registry, index, &before);
	}
	ct_registry_unlock(registry);
	return status;
}

/* Programs may remove the implicit TEXTFILE after an addition has replaced it; that succeeds. */
static enum ctrace_status remove_default(struct ct_registry *registry, uint32_t bit)
{
	struct dest_settings before = settings_of(registry, CT_COMPONENT_NONE);
	uint32_t mask = registry->default_dests & ~bit;

	if ((registry->default_dests & bit) == 0)
		return bit == registry->textfile && registry->has_replaced_textfile
			       ? CTRACE_OK
			       : CTRACE_EMITTER_NOT_FOUND;
	registry->default_is_implicit = mask == 0;
	__atomic_store_n(&registry->default_dests, mask != 0 ? mask : registry->textfile,
			 __ATOMIC_RELAXED);
	return dests_put_in_force(registry, CT_COMPONENT_NONE, &before);
}

static enum ctrace_status remove_own(struct ct_registry *registry, const char *component,
				     size_t size, uint32_t bit)
{
	uint32_t index = ct_node_find(registry, component, size);
	struct dest_settings before;
	struct ct_configured *own;

	if (index == CT_COMPONENT_NONE)
		return CTRACE_EMITTER_NOT_FOUND;
	before = settings_of(registry, index);
	own = &before.node->own;
	if ((own->dests & bit) == 0)
		return CTRACE_EMITTER_NOT_FOUND;
	own->dests &= ~bit;
	own->no_inherit = own->no_inherit && own->dests != 0;
	return dests_put_in_force(registry, index, &before);
}

enum ctrace_status ct_dest_set_trace(struct ct_registry *registry, uint32_t index, bool is_trace)
{
	struct dest_settings before;
	enum ctrace_status status;

	ct_registry_lock(registry);
	before = settings_of(registry, index);
	before.node->own.is_trace = is_trace;
	status = dests_put_in_force(registry, index, &before);
	ct_registry_unlock(registry);
	return status;
}

enum ctrace_status ct_dest_remove(struct ct_registry *registry, const char *component, size_t size,
				  uint32_t emitter)
{
	bool is_default = component == NULL || size == 0;
	enum ctrace_status status =
		is_default ? CTRACE_OK : ct_component_check_name(component, size);

	if (status != CTRACE_OK)
		return status;
	if (!emitter_exists(emitter))
		return CTRACE_EMITTER_NOT_FOUND;
	ct_registry_lock(registry);
	status = is_default ? remove_default(registry, 1u << emitter)
			    : remove_own(registry, component, size, 1u << emitter);
	ct_registry_unlock(registry);
	return status;
}
