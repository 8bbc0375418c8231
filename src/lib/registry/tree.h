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
	uint32_t channel; /* the level word's, but while a change is tried */
	struct ct_configured own;
	struct ct_property *properties;
};

/* Open addressing; a slot is index + 1, 0 when free.  A fuller one is replaced by one twice as
 * large. */
struct ct_name_table {
	uint32_t mask;
	uint32_t slots[];
};

/* The settings that an emitter had lately, as texts of the session; the oldest gives way. */
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

	uint32_t textfile;                     /* mask: what an empty default list means */
	uint32_t default_dests;                /* never 0 */
	bool default_is_implicit;              /* the TEXTFILE in it was not asked for */
	bool has_replaced_textfile;            /* it was, until the first addition */
	uint32_t dests_in_use;                 /* atomic mask */
	uint32_t dest_users[CT_EMITTER_LIMIT]; /* registered components that deliver there */
	struct ct_property *emitter_properties[CT_EMITTER_LIMIT];
	struct ct_settings_texts settings_texts[CT_EMITTER_LIMIT];
	struct ct_property *free_blocks[CT_PROPERTY_CLASSES];

	uint32_t channel_count;
	/* a number in a level word is published after its row */
	struct ct_channel channels[CT_CHANNEL_LIMIT];
};

/* ---- tree.c */
struct ct_node *ct_node_at(const struct ct_registry *registry, uint32_t index);
/* The node of a name, also when it is only configured; CT_COMPONENT_NONE when there is none.
 * Lock-free. */
uint32_t ct_node_find(const struct ct_registry *registry, const char *name, size_t size);
/* The same, made with its ancestors when missing.  name NULL or "": the root, *out_index =
 * CT_COMPONENT_NONE. */
enum ctrace_status ct_node_ensure(struct ct_registry *registry, const char *name, size_t size,
				  uint32_t *out_index) CT_MUST_USE;
bool ct_node_is_known(const struct ct_registry *registry, uint32_t index);
/* Walks the subtree of `top`, parents first, without recursion: the node after `at`,
 * CT_COMPONENT_NONE at the end.  It begins with at = top; `prune` leaves out what is below `at`. */
uint32_t ct_node_next(const struct ct_registry *registry, uint32_t top, uint32_t at, bool prune);

/* ---- level.c: levels that became others; collected under the lock, told after it. */
struct ct_level_changes {
	struct ct_buf list;
	bool wanted;
};
/* Makes room for a change of every node that inherits from `top`; nothing can fail afterwards. */
enum ctrace_status ct_level_changes_init(struct ct_level_changes *changes,
					 const struct ct_registry *registry, uint32_t top,
					 bool wanted) CT_MUST_USE;
/* Tells them and frees the list.  Under no lock.  What a sink has noted last, or OK. */
enum ctrace_status ct_level_changes_report(struct ct_level_changes *changes,
					   ct_change_sink *changed, void *user);
void ct_level_resolve(struct ct_registry *registry, uint32_t index);
void ct_level_resolve_tree(struct ct_registry *registry, uint32_t top,
			   struct ct_level_changes *changes);
/* Puts a node's level, as resolved, and its channel, whose flight recorder counts too, into its
 * level word. */
void ct_level_publish(struct ct_registry *registry, uint32_t index, uint32_t channel,
		      struct ct_level_changes *changes);

/* ---- dest.c */
void ct_dest_resolve(struct ct_registry *registry, uint32_t index);
void ct_dest_resolve_tree(struct ct_registry *registry, uint32_t top);
/* when the own destinations of several have changed */
void ct_dest_resolve_all(struct ct_registry *registry);
/* the component is shown or hidden */
void ct_dest_count_known(struct ct_registry *registry, uint32_t index, bool is_known);
/* names the emitter's place in the session */
void ct_dest_name(struct ct_registry *registry, uint32_t emitter);

/* ---- property.c */
void ct_property_forget(struct ct_registry *registry, struct ct_property **list);
/* A list of another registry's in this one's memory; false, and nothing, when memory is short. */
bool ct_property_copy(struct ct_registry *registry, struct ct_property *from,
		      struct ct_property **out_list);
/* Each property of `list` that `before` does not have, or with another value. */
void ct_property_each_new(struct ct_property *list, struct ct_property *before,
			  ct_property_sink *each, void *user);
/* Is an emitter with the one list set to the same as with the other?  What is not set has its
 * default. */
bool ct_property_is_same(uint32_t emitter, struct ct_property *a, struct ct_property *b);
/* A list as the settings of that emitter in the session.  A text that it had lately is used
 * again. */
enum ctrace_status ct_property_print(struct ct_registry *registry, uint32_t emitter,
				     struct ct_property *list, ct_text *out_text) CT_MUST_USE;
/* In force: the session's text of them is stored already. */
void ct_property_put_emitter(struct ct_registry *registry, uint32_t emitter,
			     struct ct_property *list, ct_text text);

/* ---- channel.c */
/* a new node's: its parent's */
uint32_t ct_channel_inherited(const struct ct_registry *registry, uint32_t index);
/* Notes in each component the channel of its settings; not in the level words.  False, and as it
 * was, when there are not enough channels. */
bool ct_channel_resolve_all(struct ct_registry *registry);

#endif
