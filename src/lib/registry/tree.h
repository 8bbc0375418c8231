/*
 * lib/registry/tree.h - the tree itself, for the files of this directory only.
 *
 * Everything is in an arena and never moves, so readers need no lock: they load a hash slot or a
 * chunk pointer with acquire, and find a complete node behind it.  Only the holder of the lock
 * writes.  Functions here expect the lock to be held.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_REGISTRY_TREE_H
#define CT_REGISTRY_TREE_H

#include "lib/registry/registry.h"
#include <pthread.h>

#define CT_NODE_CHUNK 1024u
#define CT_NODE_CHUNKS (CT_COMPONENT_LIMIT / CT_NODE_CHUNK)
#define CT_PROPERTY_CLASSES 12u /* blocks of 64 bytes to 128 KiB */

/* A property that was set; the texts follow it, each terminated. */
struct ct_property {
	struct ct_property *next;
	uint32_t hash;
	uint32_t name_size;
	uint32_t value_size;
	uint32_t block_class;
};

/* A component.  index, parent and links are numbers of nodes; CT_COMPONENT_NONE as a parent is the
 * root, which stands for the default settings and is not in the session. */
struct ct_node {
	struct ctrace_tracer tracer;
	uint32_t hash;
	uint32_t name_size;
	uint32_t parent;
	uint32_t first_child;
	uint32_t next_sibling;
	uint32_t level;   /* resolved, without the flight recorder */
	uint32_t channel; /* the level word's, except while a change is tried */
	struct ct_configured own;
	struct ct_property *properties;
};

/* Open addressing; a slot is index + 1, 0 when free.  A fuller one is replaced by one twice as
 * large. */
struct ct_name_table {
	uint32_t mask;
	uint32_t slots[];
};

/* An emitter's last settings, as texts of the session; a new one replaces the oldest. */
#define CT_SETTINGS_KEPT 16u
struct ct_settings_texts {
	uint32_t count; /* ever */
	ct_text text[CT_SETTINGS_KEPT];
};

struct ct_registry {
	pthread_mutex_t mutex;
	struct ct_arena arena;
	struct ct_session *session;
	struct ct_name_table *table;            /* atomic */
	uint32_t count;                         /* atomic */
	struct ct_node *chunks[CT_NODE_CHUNKS]; /* atomic */
	struct ct_node root;

	uint32_t textfile;      /* mask: stands for an empty default list */
	uint32_t default_dests; /* never 0 */
	/* mask: every destination that the configuration, the program or the owner has named */
	uint32_t named_dests;
	bool default_is_implicit; /* the TEXTFILE in it was not requested */
	/* the implicit TEXTFILE was replaced by the first addition */
	bool has_replaced_textfile;
	uint32_t dests_in_use;                 /* atomic mask */
	uint32_t dest_users[CT_EMITTER_LIMIT]; /* registered components that deliver there */
	struct ct_property *emitter_properties[CT_EMITTER_LIMIT];
	struct ct_settings_texts settings_texts[CT_EMITTER_LIMIT];
	struct ct_property *free_blocks[CT_PROPERTY_CLASSES];

	uint32_t channel_count;
	/* a row is complete before its number is in a level word */
	struct ct_channel channels[CT_CHANNEL_LIMIT];
};

/* ---- tree.c */
struct ct_node *ct_node_at(const struct ct_registry *registry, uint32_t index);
/* Returns the node of a name, even if it is only configured, or CT_COMPONENT_NONE.  Lock-free. */
uint32_t ct_node_find(const struct ct_registry *registry, const char *name, size_t size);
/* Finds a node, or makes it and its ancestors.  name NULL or "": the root, *out_index =
 * CT_COMPONENT_NONE. */
enum ctrace_status ct_node_ensure(struct ct_registry *registry, const char *name, size_t size,
				  uint32_t *out_index) CT_MUST_USE;
bool ct_node_is_known(const struct ct_registry *registry, uint32_t index);
/* Walks the subtree of `top`, parents first, without recursion: the node after `at`,
 * CT_COMPONENT_NONE at the end.  It begins with at = top; `prune` leaves out what is below `at`. */
uint32_t ct_node_next(const struct ct_registry *registry, uint32_t top, uint32_t at, bool prune);

/* ---- level.c: changed levels, collected under the lock and reported after it. */
struct ct_level_changes {
	struct ct_buf list;
	bool wanted;
};
/* Makes room for a change of every node that inherits from `top`; nothing can fail afterwards. */
enum ctrace_status ct_level_changes_init(struct ct_level_changes *changes,
					 const struct ct_registry *registry, uint32_t top,
					 bool wanted) CT_MUST_USE;
/* Reports the changes and frees the list.  Under no lock.  Returns the last status that a sink
 * stored, or OK. */
enum ctrace_status ct_level_changes_report(struct ct_level_changes *changes,
					   ct_change_sink *changed, void *user);
void ct_level_resolve(struct ct_registry *registry, uint32_t index);
/* Stores a node's resolved level and its channel in its level word.  The channel's flight recorder
 * may lower the level. */
void ct_level_publish(struct ct_registry *registry, uint32_t index, uint32_t channel,
		      struct ct_level_changes *changes);

/* ---- dest.c */
void ct_dest_resolve(struct ct_registry *registry, uint32_t index);
/* after destinations or writers of `top` and below have changed */
void ct_dest_resolve_tree(struct ct_registry *registry, uint32_t top);
/* the component is shown or hidden */
void ct_dest_count_known(struct ct_registry *registry, uint32_t index, bool is_known);
/* Do its events stay in storage, as they have no other destination?  CT_COMPONENT_NONE: the
 * default.
 */
bool ct_dest_is_storage(const struct ct_registry *registry, uint32_t index);
/* stores the emitter's name in the session */
void ct_dest_name(struct ct_registry *registry, uint32_t emitter);

/* ---- property.c */
void ct_property_reset(struct ct_registry *registry, struct ct_property **list);
/* Copies a list from another registry.  Returns false, without a copy, when memory is short. */
bool ct_property_copy(struct ct_registry *registry, struct ct_property *from,
		      struct ct_property **out_list);
/* Calls for each property of `list` that is not in `before`, or has another value there. */
void ct_property_each_new(struct ct_property *list, struct ct_property *before,
			  ct_property_sink *each, void *user);
/* Returns true if the property was set for the emitter.  Under the lock. */
bool ct_property_is_set(struct ct_registry *registry, uint32_t emitter, const char *name);
/* Do both lists give an emitter equal settings?  A property that is not set has its default. */
bool ct_property_is_same(uint32_t emitter, struct ct_property *a, struct ct_property *b);
/* Stores a list as the emitter's settings text in the session.  Reuses a recent text. */
enum ctrace_status ct_property_print(struct ct_registry *registry, uint32_t emitter,
				     struct ct_property *list, ct_text *out_text) CT_MUST_USE;
/* Puts a list in force whose text the session already has. */
void ct_property_put_emitter(struct ct_registry *registry, uint32_t emitter,
			     struct ct_property *list, ct_text text);

/* ---- channel.c */
/* a new node has its parent's channel */
uint32_t ct_channel_inherited(const struct ct_registry *registry, uint32_t index);
/* Sets each component's channel from its settings, but no level word.  Returns false, without a
 * change, when there are not enough channels. */
bool ct_channel_resolve_all(struct ct_registry *registry);
/* After destinations of `top` and below have changed: sets the channels there, and stores them in
 * the level words.  Returns false, without a change, when there are not enough channels. */
bool ct_channel_follow_dests(struct ct_registry *registry, uint32_t top);

#endif
