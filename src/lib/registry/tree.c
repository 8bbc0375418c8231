/*
 * tree.c - the components: names, their hash, parents and children.
 *
 * Registration runs on any thread at its first trace call of a component, also in a signal handler
 * that interrupted malloc: it takes one lock and mmap'd memory, never malloc.  Look-ups run on
 * every trace call by name: they take no lock and write nothing. Nodes, names and outgrown tables
 * are never freed, so a reader can never be left behind.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/tree.h"

#include <string.h>

#define FIRST_TABLE 256u
#define NAME_PARTS ((CTRACE_MAX_COMPONENT + 1u) / 2u) /* of the deepest name: a.a.a... */

/* ---- making a registry ---- */

static struct ct_name_table *table_create(struct ct_registry *registry, uint32_t slots)
{
	struct ct_name_table *table = ct_arena_take(
		&registry->arena, sizeof *table + (size_t)slots * sizeof table->slots[0]);

	if (table != NULL)
		table->mask = slots - 1;
	return table;
}

static void node_init(struct ct_node *node)
{
	node->parent = CT_COMPONENT_NONE;
	node->first_child = CT_COMPONENT_NONE;
	node->next_sibling = CT_COMPONENT_NONE;
	node->own.level = CT_LEVEL_UNSET;
	node->own.overflow = CT_OVERFLOW_UNSET;
	node->own.flight_level = CT_LEVEL_UNSET;
	node->own.writer = CT_WRITER_UNSET;
	node->own.minimum = CTRACE_LEVEL_NONE;
}

enum ctrace_status ct_registry_create(struct ct_session *session, struct ct_registry **out_registry)
{
	struct ct_arena arena = { 0 };
	struct ct_registry *registry = ct_arena_take(&arena, sizeof *registry);
	uint32_t textfile;
	enum ctrace_status status;

	if (registry == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	registry->arena = arena;
	status = CTRACE_NOT_ENOUGH_MEMORY;
	registry->table = table_create(registry, FIRST_TABLE);
	if (registry->table == NULL)
		goto undo_arena;
	status = ct_emitter_find_known("TEXTFILE", 8, &textfile);
	if (status != CTRACE_OK)
		goto undo_arena;
	(void)pthread_mutex_init(&registry->mutex, NULL);
	registry->session = session;
	node_init(&registry->root);
	registry->root.level = CTRACE_LEVEL_NONE;
	registry->textfile = 1u << textfile;
	registry->default_dests = registry->textfile;
	registry->default_is_implicit = true;
	registry->channel_count = 1;
	registry->channels[0] = (struct ct_channel){ .flight_level = CTRACE_LEVEL_NONE };
	*out_registry = registry;
	return CTRACE_OK;

undo_arena:
	arena = registry->arena;
	ct_arena_fini(&arena);
	return status;
}

void ct_registry_destroy(struct ct_registry *registry)
{
	struct ct_arena arena;

	if (registry == NULL)
		return;
	(void)pthread_mutex_destroy(&registry->mutex);
	arena = registry->arena; /* the registry is in its own arena */
	ct_arena_fini(&arena);
}

/* ---- the lock ---- */

void ct_registry_lock(struct ct_registry *registry)
{
	ct_guard_lock(&registry->mutex);
}

void ct_registry_unlock(struct ct_registry *registry)
{
	ct_guard_unlock(&registry->mutex);
}

void ct_registry_add_classes(struct ct_registry *registry)
{
	ct_registry_lock(registry);
	if (ct_class_table_is_short(registry->session->classes))
		ct_session_add_classes(registry->session);
	ct_registry_unlock(registry);
}

void ct_registry_unlock_in_child(struct ct_registry *registry)
{
	/* The parent's waiters, if any, are noted in the mutex and do not exist here. */
	(void)pthread_mutex_init(&registry->mutex, NULL);
	ct_guard_leave();
}

/* ---- reading ---- */

struct ct_node *ct_node_at(const struct ct_registry *registry, uint32_t index)
{
	if (index == CT_COMPONENT_NONE)
		return (struct ct_node *)(uintptr_t)&registry->root;
	/* Acquire: pairs with the release store in node_add(). */
	return &__atomic_load_n(&registry->chunks[index / CT_NODE_CHUNK],
				__ATOMIC_ACQUIRE)[index % CT_NODE_CHUNK];
}

static uint32_t find_hashed(const struct ct_registry *registry, const char *name, size_t size,
			    uint32_t hash)
{
	/* Acquire: pairs with the release stores in table_grow() and table_add(). */
	const struct ct_name_table *table = __atomic_load_n(&registry->table, __ATOMIC_ACQUIRE);

	for (uint32_t at = hash & table->mask;; at = (at + 1) & table->mask) {
		uint32_t slot = __atomic_load_n(&table->slots[at], __ATOMIC_ACQUIRE);
		const struct ct_node *node;

		if (slot == 0)
			return CT_COMPONENT_NONE;
		node = ct_node_at(registry, slot - 1);
		if (node->hash == hash &&
		    ct_name_equal(name, size, ct_registry_name(registry, slot - 1),
				  node->name_size))
			return slot - 1;
	}
}

uint32_t ct_node_find(const struct ct_registry *registry, const char *name, size_t size)
{
	return find_hashed(registry, name, size, ct_name_hash(name, size));
}

static bool node_has(const struct ct_registry *registry, uint32_t index, uint32_t flags)
{
	/* Acquire: pairs with the release store in node_mark(): the spelling is the first
	 * registration's. */
	return (__atomic_load_n(&ct_registry_entry(registry, index)->flags, __ATOMIC_ACQUIRE) &
		flags) != 0;
}

bool ct_node_is_known(const struct ct_registry *registry, uint32_t index)
{
	return node_has(registry, index, CT_COMPONENT_KNOWN);
}

enum ctrace_status ct_registry_find(const struct ct_registry *registry, const char *name,
				    size_t size, uint32_t *out_index)
{
	uint32_t index;

	if (size == 0 || size > CTRACE_MAX_COMPONENT)
		return CTRACE_NOT_FOUND;
	index = ct_node_find(registry, name, size);
	if (index == CT_COMPONENT_NONE || !ct_node_is_known(registry, index))
		return CTRACE_NOT_FOUND;
	*out_index = index;
	return CTRACE_OK;
}

enum ctrace_status ct_registry_find_any(const struct ct_registry *registry, const char *name,
					size_t size, uint32_t *out_index)
{
	uint32_t index = ct_node_find(registry, name, size);

	if (index == CT_COMPONENT_NONE)
		return CTRACE_NOT_FOUND;
	*out_index = index;
	return CTRACE_OK;
}

uint32_t ct_registry_count(const struct ct_registry *registry)
{
	return __atomic_load_n(&registry->count, __ATOMIC_ACQUIRE);
}

struct ct_component_entry *ct_registry_entry(const struct ct_registry *registry, uint32_t index)
{
	return &registry->session->components[index];
}

struct ctrace_tracer *ct_registry_tracer(const struct ct_registry *registry, uint32_t index)
{
	return &ct_node_at(registry, index)->tracer;
}

const char *ct_registry_name(const struct ct_registry *registry, uint32_t index)
{
	return __atomic_load_n(&ct_node_at(registry, index)->tracer.name, __ATOMIC_ACQUIRE);
}

struct ct_configured ct_registry_configured(struct ct_registry *registry, uint32_t index)
{
	struct ct_configured own;

	ct_registry_lock(registry);
	own = ct_node_at(registry, index)->own;
	ct_registry_unlock(registry);
	return own;
}

uint32_t ct_node_next(const struct ct_registry *registry, uint32_t top, uint32_t at, bool prune)
{
	const struct ct_node *node = ct_node_at(registry, at);

	if (!prune && node->first_child != CT_COMPONENT_NONE)
		return node->first_child;
	while (at != top) {
		if (node->next_sibling != CT_COMPONENT_NONE)
			return node->next_sibling;
		at = node->parent;
		node = ct_node_at(registry, at);
	}
	return CT_COMPONENT_NONE;
}

/* ---- growing ---- */

enum ctrace_status ct_component_check_name(const char *name, size_t size)
{
	bool part_is_empty = true;

	if (name == NULL || size == 0 || size > CTRACE_MAX_COMPONENT)
		return CTRACE_INVALID_COMPONENT_NAME;
	for (size_t i = 0; i < size; i++) {
		if (name[i] == '\0' || (name[i] == '.' && part_is_empty))
			return CTRACE_INVALID_COMPONENT_NAME;
		part_is_empty = name[i] == '.';
	}
	return part_is_empty ? CTRACE_INVALID_COMPONENT_NAME : CTRACE_OK;
}

static void table_put(struct ct_name_table *table, uint32_t hash, uint32_t index)
{
	uint32_t at = hash & table->mask;

	while (table->slots[at] != 0)
		at = (at + 1) & table->mask;
	/* Publish: pairs with the acquire load in find_hashed().  Past this line the node can be
	 * found. */
	__atomic_store_n(&table->slots[at], index + 1, __ATOMIC_RELEASE);
}

/* Keeps at least a quarter of the slots free.  The old table stays valid for those who are reading
 * it. */
static bool table_reserve(struct ct_registry *registry)
{
	const struct ct_name_table *old = registry->table;
	struct ct_name_table *table;

	if ((uint64_t)(registry->count + 1) * 4 <= ((uint64_t)old->mask + 1) * 3)
		return true;
	table = table_create(registry, (old->mask + 1) * 2);
	if (table == NULL)
		return false;
	for (uint32_t i = 0; i < registry->count; i++)
		table_put(table, ct_node_at(registry, i)->hash, i);
	/* Publish: pairs with the acquire load in find_hashed(). */
	__atomic_store_n(&registry->table, table, __ATOMIC_RELEASE);
	return true;
}

/* A terminated copy for this process and a counted one in the session for others. */
static enum ctrace_status name_add(struct ct_registry *registry, const char *name, size_t size,
				   const char **out_name, ct_text *out_text)
{
	char *copy = ct_arena_take(&registry->arena, size + 1);

	if (copy == NULL ||
	    ct_session_add_text(registry->session, name, size, out_text) != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(copy, name, size);
	*out_name = copy;
	return CTRACE_OK;
}

static bool chunk_reserve(struct ct_registry *registry, uint32_t index)
{
	struct ct_node **chunk = &registry->chunks[index / CT_NODE_CHUNK];

	if (*chunk == NULL)
		__atomic_store_n(
			chunk,
			ct_arena_take(&registry->arena, CT_NODE_CHUNK * sizeof(struct ct_node)),
			__ATOMIC_RELEASE);
	return *chunk != NULL;
}

/* Makes an unregistered node below an existing one, with everything resolved from there. */
static enum ctrace_status node_add(struct ct_registry *registry, uint32_t parent, const char *name,
				   size_t size, uint32_t *out_index)
{
	uint32_t index = registry->count;
	struct ct_component_entry *entry;
	struct ct_node *node;
	const char *copy;
	ct_text text;

	if (index >= CT_COMPONENT_LIMIT ||
	    ct_session_reserve_component(registry->session, index) != CTRACE_OK ||
	    !chunk_reserve(registry, index) || !table_reserve(registry) ||
	    name_add(registry, name, size, &copy, &text) != CTRACE_OK)
		return CTRACE_NOT_ENOUGH_MEMORY;

	node = ct_node_at(registry, index);
	entry = ct_registry_entry(registry, index);
	node_init(node);
	node->tracer = (struct ctrace_tracer){ .level_word = &entry->level_word,
					       .name = copy,
					       .component = index,
					       .abi = CTRACE_ABI };
	node->hash = ct_name_hash(name, size);
	node->name_size = (uint32_t)size;
	node->parent = parent;
	node->next_sibling = ct_node_at(registry, parent)->first_child;
	/* Clears the rest of an entry that was never completed. */
	*entry = (struct ct_component_entry){ .level_word = { .level = CTRACE_LEVEL_NONE },
					      .parent = parent };
	ct_level_resolve(registry, index);
	node->channel = ct_channel_inherited(registry, index);
	ct_level_publish(registry, index, node->channel, NULL);
	ct_dest_resolve(registry, index);
	__atomic_store_n(&entry->name, text, __ATOMIC_RELEASE);
	ct_session_commit_component(registry->session, index);

	ct_node_at(registry, parent)->first_child = index;
	__atomic_store_n(&registry->count, index + 1, __ATOMIC_RELEASE);
	table_put(registry->table, node->hash, index);
	*out_index = index;
	return CTRACE_OK;
}

/* The sizes of the prefixes of a name that end before a dot, longest first: its ancestors' names.
 */
static uint32_t list_ancestors(const char *name, size_t size, size_t sizes[NAME_PARTS])
{
	uint32_t count = 0;

	for (size_t i = size; i > 0; i--)
		if (name[i - 1] == '.')
			sizes[count++] = i - 1;
	return count;
}

enum ctrace_status ct_node_ensure(struct ct_registry *registry, const char *name, size_t size,
				  uint32_t *out_index)
{
	size_t sizes[NAME_PARTS];
	uint32_t parent = CT_COMPONENT_NONE;
	uint32_t missing = 0;
	uint32_t count;
	enum ctrace_status status;

	if (name == NULL || size == 0) {
		*out_index = CT_COMPONENT_NONE;
		return CTRACE_OK;
	}
	status = ct_component_check_name(name, size);
	if (status != CTRACE_OK)
		return status;
	parent = ct_node_find(registry, name, size);
	if (parent != CT_COMPONENT_NONE) {
		*out_index = parent;
		return CTRACE_OK;
	}
	count = list_ancestors(name, size, sizes);
	for (missing = 0; missing < count && parent == CT_COMPONENT_NONE; missing++)
		parent = ct_node_find(registry, name, sizes[missing]);
	if (parent != CT_COMPONENT_NONE)
		missing--; /* the last one looked for exists */
	while (missing > 0) {
		status = node_add(registry, parent, name, sizes[--missing], &parent);
		if (status != CTRACE_OK)
			return status;
	}
	return node_add(registry, parent, name, size, out_index);
}

/* ---- registering ---- */

/* A name that was only configured takes the spelling of its first registration. */
static enum ctrace_status node_take_spelling(struct ct_registry *registry, uint32_t index,
					     const char *name, size_t size)
{
	struct ct_component_entry *entry = ct_registry_entry(registry, index);
	struct ct_node *node = ct_node_at(registry, index);
	const char *copy;
	ct_text text;
	enum ctrace_status status;

	if (ct_node_is_known(registry, index) || memcmp(node->tracer.name, name, size) == 0)
		return CTRACE_OK;
	status = name_add(registry, name, size, &copy, &text);
	if (status != CTRACE_OK)
		return status;
	__atomic_store_n(&node->tracer.name, copy, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->name, text, __ATOMIC_RELEASE);
	return CTRACE_OK;
}

/* Marks which interfaces know the node; if none does, it is hidden. */
static void node_mark(struct ct_registry *registry, uint32_t index, uint32_t flags)
{
	struct ct_component_entry *entry = ct_registry_entry(registry, index);
	bool was_known = ct_node_is_known(registry, index);

	if (was_known != (flags != 0))
		ct_dest_count_known(registry, index, flags != 0);
	/* Publish: pairs with the acquire load in node_has(). */
	__atomic_store_n(&entry->flags, flags != 0 ? flags : CT_COMPONENT_HIDDEN, __ATOMIC_RELEASE);
	ct_level_publish(registry, index, ct_node_at(registry, index)->channel, NULL);
}

enum ctrace_status ct_registry_register(struct ct_registry *registry, const char *name, size_t size,
					uint32_t *out_index)
{
	enum ctrace_status status = ct_component_check_name(name, size);
	uint32_t index;

	if (status != CTRACE_OK)
		return status;
	if (ct_registry_find(registry, name, size, &index) == CTRACE_OK &&
	    node_has(registry, index, CT_COMPONENT_REGISTERED)) {
		*out_index = index;
		return CTRACE_OK;
	}
	if (ct_thread_locked != 0 || !ct_guard_lock_in_trace(&registry->mutex))
		return CTRACE_TIMED_OUT;
	status = ct_node_ensure(registry, name, size, &index);
	if (status == CTRACE_OK)
		status = node_take_spelling(registry, index, name, size);
	if (status == CTRACE_OK) {
		node_mark(registry, index,
			  (ct_registry_entry(registry, index)->flags & ~CT_COMPONENT_HIDDEN) |
				  CT_COMPONENT_REGISTERED);
		*out_index = index;
	}
	ct_registry_unlock(registry);
	return status;
}

enum ctrace_status ct_registry_reserve(struct ct_registry *registry, const char *name, size_t size,
				       uint32_t *out_index)
{
	enum ctrace_status status;

	ct_registry_lock(registry);
	if (ct_node_find(registry, name, size) != CT_COMPONENT_NONE) {
		status = ct_node_ensure(registry, name, size, out_index);
		if (status == CTRACE_OK)
			status = node_take_spelling(registry, *out_index, name, size);
	} else {
		status = ct_node_ensure(registry, name, size, out_index);
		if (status == CTRACE_OK)
			node_mark(registry, *out_index, 0);
	}
	ct_registry_unlock(registry);
	return status;
}

/* The name in the session gets a new text with the definition behind it. */
static void node_describe(struct ct_registry *registry, uint32_t index,
			  const struct ctrace_definition *definition)
{
	struct ct_component_entry *entry = ct_registry_entry(registry, index);
	size_t size = ct_node_at(registry, index)->name_size;
	char text[CTRACE_MAX_COMPONENT + 1 + sizeof *definition];
	ct_text name;

	memcpy(text, ct_registry_name(registry, index), size);
	text[size] = '\0';
	memcpy(text + size + 1, definition, sizeof *definition);
	if (ct_session_add_text(registry->session, text, size + 1 + sizeof *definition, &name) !=
	    CTRACE_OK)
		return;
	/* Publish: pair with the acquire loads in ct_session_definition(). */
	__atomic_store_n(&entry->name, name - 1 - sizeof *definition, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->flags, entry->flags | CT_COMPONENT_DESCRIBED, __ATOMIC_RELEASE);
}

void ct_registry_describe(struct ct_registry *registry, uint32_t index,
			  const struct ctrace_definition *definition)
{
	struct ct_component_entry *entry = ct_registry_entry(registry, index);
	struct ctrace_definition before;

	ct_registry_lock(registry);
	if (definition == NULL)
		__atomic_store_n(&entry->flags, entry->flags & ~CT_COMPONENT_DESCRIBED,
				 __ATOMIC_RELEASE);
	else if (!ct_session_definition(registry->session, entry, &before) ||
		 memcmp(&before, definition, sizeof before) != 0)
		node_describe(registry, index, definition);
	ct_registry_unlock(registry);
}

void ct_registry_set_defined(struct ct_registry *registry, uint32_t index, bool is_defined)
{
	uint32_t flags;

	ct_registry_lock(registry);
	flags = ct_registry_entry(registry, index)->flags;
	node_mark(registry, index,
		  is_defined ? (flags & ~CT_COMPONENT_HIDDEN) | CT_COMPONENT_DEFINED
			     : flags & CT_COMPONENT_REGISTERED);
	ct_registry_unlock(registry);
}

/* ---- the configuration as a whole ---- */

void ct_registry_reset_configuration(struct ct_registry *registry)
{
	ct_registry_lock(registry);
	for (uint32_t at = ct_node_next(registry, CT_COMPONENT_NONE, CT_COMPONENT_NONE, false);
	     at != CT_COMPONENT_NONE; at = ct_node_next(registry, CT_COMPONENT_NONE, at, false)) {
		struct ct_node *node = ct_node_at(registry, at);

		node->own = (struct ct_configured){ .level = CT_LEVEL_UNSET,
						    .overflow = CT_OVERFLOW_UNSET,
						    .flight_level = CT_LEVEL_UNSET,
						    .writer = CT_WRITER_UNSET,
						    .minimum = node->own.minimum,
						    .is_trace = node->own.is_trace };
		ct_property_reset(registry, &node->properties);
		node->level = node->own.minimum;
		node->channel = 0;
	}
	registry->root.own.level = CT_LEVEL_UNSET;
	registry->root.level = CTRACE_LEVEL_NONE;
	registry->default_dests = registry->textfile;
	registry->named_dests = 0;
	registry->default_is_implicit = true;
	registry->has_replaced_textfile = false;
	ct_dest_resolve_tree(registry, CT_COMPONENT_NONE);
	if (!ct_channel_follow_dests(registry, CT_COMPONENT_NONE))
		registry->root.channel = 0;
	for (uint32_t at = ct_node_next(registry, CT_COMPONENT_NONE, CT_COMPONENT_NONE, false);
	     at != CT_COMPONENT_NONE; at = ct_node_next(registry, CT_COMPONENT_NONE, at, false))
		ct_level_publish(registry, at, ct_node_at(registry, at)->channel, NULL);
	ct_registry_unlock(registry);
	ct_emitter_property_reset_all(registry);
}
