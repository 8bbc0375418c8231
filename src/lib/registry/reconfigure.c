/*
 * reconfigure.c - a whole configuration takes the place of another, while the program traces.
 *
 * Called by a reload, on the control thread, under the registry's lock.  Everything that can fail
 * is done before the first thing is in force; then each component is given its settings, everything
 * is resolved, and each level word is stored once: a component that is on before and after is never
 * off in between.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/tree.h"

#include <stdlib.h>
#include <string.h>

/* What a component, or an emitter, is to get. */
struct plan {
	struct ct_configured own; /* once in force: the former settings */
	struct ct_property *properties;
};
struct plans {
	struct ct_registry *registry;
	struct plan *components;
	uint32_t count;
	struct ct_property *emitters[CT_EMITTER_LIMIT];
	ct_text texts[CT_EMITTER_LIMIT];
	uint32_t changed; /* emitters whose list changed */
	uint32_t reopen;  /* emitters whose settings changed */
};

struct default_dests {
	uint32_t mask;
	bool is_implicit;
	bool has_replaced_textfile;
};

/* A property that was set, in a list of such; name and value follow, each terminated. */
struct property_change {
	uint32_t component;
	uint32_t name_size;
	uint32_t value_size;
};
struct ct_reconfiguration {
	struct ct_level_changes levels;
	struct ct_buf properties;
	uint32_t component; /* of the properties that are being collected */
};

/* ---- planning ---- */

/* Makes every component that `from` names. */
static enum ctrace_status ensure_all(struct ct_registry *registry, const struct ct_registry *from)
{
	enum ctrace_status status = CTRACE_OK;
	uint32_t index;

	for (uint32_t i = 0; i < from->count && status == CTRACE_OK; i++)
		status = ct_node_ensure(registry, ct_registry_name(from, i),
					ct_node_at(from, i)->name_size, &index);
	return status;
}

static bool plan_component(struct plans *plans, uint32_t index, const struct ct_registry *from,
			   ct_reconfigure_rule *rule, void *user)
{
	const struct ct_node *node = ct_node_at(plans->registry, index);
	uint32_t found = ct_node_find(from, node->tracer.name, node->name_size);
	struct plan *plan = &plans->components[index];
	struct ct_property *properties = NULL;

	plan->own = (struct ct_configured){ .level = CT_LEVEL_UNSET,
					    .overflow = CT_OVERFLOW_UNSET,
					    .flight_level = CT_LEVEL_UNSET };
	if (found != CT_COMPONENT_NONE) {
		plan->own = ct_node_at(from, found)->own;
		properties = ct_node_at(from, found)->properties;
	}
	plan->own.minimum = node->own.minimum;
	plan->own.excluded = node->own.excluded;
	plan->own.writer = node->own.writer;
	plan->own.is_trace = node->own.is_trace;
	if (rule != NULL)
		rule(index, &node->own, &plan->own, user);
	return ct_property_copy(plans->registry, properties, &plan->properties);
}

static bool lists_are_equal(struct ct_property *a, struct ct_property *b)
{
	for (; a != NULL && b != NULL; a = a->next, b = b->next)
		if (a->name_size != b->name_size || a->value_size != b->value_size ||
		    memcmp(a + 1, b + 1, (size_t)a->name_size + a->value_size + 2) != 0)
			return false;
	return a == b;
}

static bool plan_emitter(struct plans *plans, uint32_t emitter, const struct ct_registry *from)
{
	struct ct_property *now = plans->registry->emitter_properties[emitter];
	struct ct_property *wanted = from->emitter_properties[emitter];

	if (lists_are_equal(now, wanted))
		return true;
	if (!ct_property_copy(plans->registry, wanted, &plans->emitters[emitter]))
		return false;
	plans->changed |= 1u << emitter;
	if (!ct_property_is_same(emitter, now, wanted))
		plans->reopen |= 1u << emitter;
	return ct_property_print(plans->registry, emitter, plans->emitters[emitter],
				 &plans->texts[emitter]) == CTRACE_OK;
}

static void plans_fini(struct plans *plans)
{
	for (uint32_t i = 0; plans->components != NULL && i < plans->count; i++)
		ct_property_reset(plans->registry, &plans->components[i].properties);
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT; i++)
		ct_property_reset(plans->registry, &plans->emitters[i]);
	free(plans->components);
}

static bool plans_init(struct plans *plans, struct ct_registry *registry,
		       const struct ct_registry *from, ct_reconfigure_rule *rule, void *user)
{
	bool done;

	*plans = (struct plans){ .registry = registry, .count = registry->count };
	plans->components = calloc((size_t)plans->count + 1, sizeof *plans->components);
	done = plans->components != NULL;
	for (uint32_t i = 0; done && i < plans->count; i++)
		done = plan_component(plans, i, from, rule, user);
	for (uint32_t i = 0; done && i < CT_EMITTER_LIMIT; i++)
		done = plan_emitter(plans, i, from);
	if (!done)
		plans_fini(plans);
	return done;
}

/* ---- the changes to report ---- */

static void note_property(const char *name, size_t name_size, const char *value, size_t value_size,
			  void *user)
{
	struct ct_reconfiguration *reconfiguration = user;
	struct property_change change = { reconfiguration->component, (uint32_t)name_size,
					  (uint32_t)value_size };

	ct_buf_add(&reconfiguration->properties, &change, sizeof change);
	ct_buf_add(&reconfiguration->properties, name, name_size + 1);
	ct_buf_add(&reconfiguration->properties, value, value_size + 1);
}

static void reconfiguration_destroy(struct ct_reconfiguration *reconfiguration)
{
	ct_buf_fini(&reconfiguration->levels.list);
	ct_buf_fini(&reconfiguration->properties);
	free(reconfiguration);
}

static struct ct_reconfiguration *reconfiguration_create(const struct plans *plans)
{
	struct ct_reconfiguration *reconfiguration = calloc(1, sizeof *reconfiguration);

	if (reconfiguration == NULL)
		return NULL;
	ct_buf_init(&reconfiguration->properties);
	if (ct_level_changes_init(&reconfiguration->levels, plans->registry, CT_COMPONENT_NONE,
				  true) != CTRACE_OK) {
		free(reconfiguration);
		return NULL;
	}
	for (uint32_t i = 0; i < plans->count; i++) {
		reconfiguration->component = i;
		if (ct_node_is_known(plans->registry, i))
			ct_property_each_new(plans->components[i].properties,
					     ct_node_at(plans->registry, i)->properties,
					     note_property, reconfiguration);
	}
	if (!reconfiguration->properties.failed)
		return reconfiguration;
	reconfiguration_destroy(reconfiguration);
	return NULL;
}

static void report_property(const struct property_change *head, const char *texts,
			    ct_change_sink *changed, void *user)
{
	const struct ct_change change = {
		.kind = CT_CHANGE_PROPERTY,
		.component = head->component,
		.property = texts,
		.property_size = head->name_size,
		.value = texts + head->name_size + 1,
		.value_size = head->value_size,
		.number = ct_value_number(texts + head->name_size + 1, head->value_size),
	};

	changed(&change, user);
}

void ct_reconfiguration_report(struct ct_reconfiguration *reconfiguration, ct_change_sink *changed,
			       void *user)
{
	size_t at = 0;

	while (changed != NULL && at < reconfiguration->properties.size) {
		struct property_change head;

		memcpy(&head, reconfiguration->properties.data + at, sizeof head);
		at += sizeof head;
		report_property(&head, reconfiguration->properties.data + at, changed, user);
		at += (size_t)head.name_size + head.value_size + 2;
	}
	(void)ct_level_changes_report(&reconfiguration->levels, changed, user);
	reconfiguration_destroy(reconfiguration);
}

/* ---- in force ---- */

static void swap_own(struct plans *plans)
{
	for (uint32_t i = 0; i < plans->count; i++) {
		struct ct_node *node = ct_node_at(plans->registry, i);
		struct ct_configured before = node->own;

		node->own = plans->components[i].own;
		plans->components[i].own = before;
	}
}

static void swap_properties(struct plans *plans)
{
	struct ct_registry *registry = plans->registry;

	for (uint32_t i = 0; i < plans->count; i++) {
		struct ct_property *before = ct_node_at(registry, i)->properties;

		ct_node_at(registry, i)->properties = plans->components[i].properties;
		plans->components[i].properties = before;
	}
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT; i++) {
		struct ct_property *before = registry->emitter_properties[i];

		if ((plans->changed & 1u << i) == 0)
			continue;
		ct_property_put_emitter(registry, i, plans->emitters[i], plans->texts[i]);
		plans->emitters[i] = before;
	}
}

static void publish_all(struct ct_registry *registry, struct ct_level_changes *changes)
{
	uint32_t at = CT_COMPONENT_NONE;

	ct_level_resolve(registry, CT_COMPONENT_NONE);
	while ((at = ct_node_next(registry, CT_COMPONENT_NONE, at, false)) != CT_COMPONENT_NONE) {
		ct_level_resolve(registry, at);
		ct_level_publish(registry, at, ct_node_at(registry, at)->channel, changes);
	}
}

/* Exchanges the default destinations with those in *other, and resolves all destinations. */
static void swap_defaults(struct ct_registry *registry, struct default_dests *other)
{
	struct default_dests now = { registry->default_dests, registry->default_is_implicit,
				     registry->has_replaced_textfile };

	registry->default_is_implicit = other->is_implicit;
	registry->has_replaced_textfile = other->has_replaced_textfile;
	__atomic_store_n(&registry->default_dests, other->mask, __ATOMIC_RELAXED);
	ct_dest_resolve_tree(registry, CT_COMPONENT_NONE);
	*other = now;
}

static enum ctrace_status plans_put_in_force(struct plans *plans, const struct ct_registry *from,
					     struct ct_reconfiguration *reconfiguration)
{
	struct ct_registry *registry = plans->registry;
	struct default_dests defaults = { from->default_dests, from->default_is_implicit,
					  from->has_replaced_textfile };

	swap_own(plans);
	swap_defaults(registry, &defaults);
	/* What is in storage depends on the destinations. */
	if (!ct_channel_resolve_all(registry)) {
		swap_own(plans);
		swap_defaults(registry, &defaults);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	swap_properties(plans);
	registry->named_dests = from->named_dests;
	registry->root.own.level = from->root.own.level;
	publish_all(registry, &reconfiguration->levels);
	return CTRACE_OK;
}

enum ctrace_status ct_registry_reconfigure(struct ct_registry *registry,
					   const struct ct_registry *from,
					   ct_reconfigure_rule *rule, void *user,
					   struct ct_reconfiguration **out_reconfiguration,
					   uint32_t *out_reopen)
{
	struct ct_reconfiguration *reconfiguration;
	enum ctrace_status status;
	struct plans plans;

	ct_registry_lock(registry);
	status = ensure_all(registry, from);
	if (status != CTRACE_OK)
		goto undo_lock;
	status = CTRACE_NOT_ENOUGH_MEMORY;
	if (!plans_init(&plans, registry, from, rule, user))
		goto undo_lock;
	reconfiguration = reconfiguration_create(&plans);
	if (reconfiguration == NULL)
		goto undo_plans;
	status = plans_put_in_force(&plans, from, reconfiguration);
	if (status == CTRACE_OK) {
		*out_reconfiguration = reconfiguration;
		*out_reopen = plans.reopen;
	} else {
		reconfiguration_destroy(reconfiguration);
	}
undo_plans:
	plans_fini(&plans);
undo_lock:
	ct_registry_unlock(registry);
	return status;
}
