/*
 * read/third_party.h - decodes the fields of a third-party trace into items, as its metadata
 * describe them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_THIRD_PARTY_H
#define CT_READ_THIRD_PARTY_H

#include "format/tsdl.h"
#include <ctrace/event.h>

/* ---- third_party_name.c: the places of fields and their names: "a", "a.b", "a.b[3]".  A tree of
 * places grows as fields are met; each place keeps the value that a length or a tag may refer
 * to. */
enum ct_third_party_role {
	CT_ROLE_ITEM,
	CT_ROLE_HIDDEN, /* repeats what is shown elsewhere */
	/* packet.header */
	CT_ROLE_MAGIC,
	CT_ROLE_UUID,
	CT_ROLE_STREAM_ID,
	/* packet.context */
	CT_ROLE_BEGIN,
	CT_ROLE_END,
	CT_ROLE_CONTENT_SIZE,
	CT_ROLE_PACKET_SIZE,
	CT_ROLE_SEQUENCE,
	CT_ROLE_DISCARDED,
	/* event.header */
	CT_ROLE_EVENT_ID,
	CT_ROLE_TIME,
	/* contexts */
	CT_ROLE_PID,
	CT_ROLE_VPID,
	CT_ROLE_TID,
	CT_ROLE_VTID,
	CT_ROLE_PROGRAM
};
#define CT_ROLE_COUNT ((unsigned)CT_ROLE_PROGRAM + 1)

struct ct_third_party_place {
	struct ct_third_party_place *parent; /* NULL: a scope's root */
	struct ct_third_party_place **children;
	uint32_t child_capacity;
	uint8_t role;
	const char *name;
	struct ct_third_party_place *label; /* "a.label": the name that an enumeration gives its
					     * value */
	/* of an integer that a length or a tag refers to */
	uint64_t value;
	uint64_t stamp; /* of the packet or event in which it was read */
	const struct ct_tsdl_type *type;
};
#define CT_THIRD_PARTY_NAMES ((size_t)16 << 20) /* bytes for the places of a trace */
#define CT_THIRD_PARTY_NAME_SIZE 256u           /* longer names are cut */
struct ct_third_party_tree {
	struct ct_arena arena;
	size_t used;
	struct ct_third_party_place *roots[CT_SCOPE_COUNT]; /* the roots that no class owns */
};
void ct_third_party_tree_fini(struct ct_third_party_tree *tree);
/* Returns NULL without memory, as do the functions below. */
struct ct_third_party_place *ct_third_party_root(struct ct_third_party_tree *tree);
/* The slow half of ct_third_party_member(). */
struct ct_third_party_place *ct_third_party_member_add(struct ct_third_party_tree *tree,
						       struct ct_third_party_place *parent,
						       enum ct_tsdl_scope scope,
						       const struct ct_tsdl_type *type,
						       uint32_t index);
/* The member number `index` of a struct or variant. */
static inline struct ct_third_party_place *
ct_third_party_member(struct ct_third_party_tree *tree, struct ct_third_party_place *parent,
		      enum ct_tsdl_scope scope, const struct ct_tsdl_type *type, uint32_t index)
{
	if (index < parent->child_capacity && parent->children[index] != NULL)
		return parent->children[index];
	return ct_third_party_member_add(tree, parent, scope, type, index);
}
/* The chosen option of a variant; it has the variant's name. */
struct ct_third_party_place *ct_third_party_choice(struct ct_third_party_tree *tree,
						   struct ct_third_party_place *parent,
						   const struct ct_tsdl_type *type, uint32_t index);
/* The element number `index`; elements from CTRACE_MAX_ITEMS on share a place. */
struct ct_third_party_place *ct_third_party_element(struct ct_third_party_tree *tree,
						    struct ct_third_party_place *parent,
						    uint64_t index);
struct ct_third_party_place *ct_third_party_label(struct ct_third_party_tree *tree,
						  struct ct_third_party_place *parent);

/* ---- third_party_item.c: collects items.  The items and their data may move until
 * ct_third_party_items_finish(). */
struct ct_third_party_items {
	struct ctrace_event_item *items;
	const char **names;
	uint8_t *whereabouts; /* enum, in third_party_item.c */
	uint32_t count, capacity;
	struct ct_buf bytes; /* data of the copied items */
	bool is_cut;         /* items were left out or shortened */
	bool has_no_memory;
};
void ct_third_party_items_fini(struct ct_third_party_items *items);
void ct_third_party_items_clear(struct ct_third_party_items *items);
void ct_third_party_items_add_number(struct ct_third_party_items *items, const char *name,
				     enum ctrace_item_type type, uint64_t value);
/* Adds an item that points to the bytes. */
void ct_third_party_items_add(struct ct_third_party_items *items, const char *name,
			      enum ctrace_item_type type, const void *data, uint64_t size);
/* Adds an item with a copy of the bytes. */
void ct_third_party_items_copy(struct ct_third_party_items *items, const char *name,
			       enum ctrace_item_type type, const void *data, uint64_t size);
/* Adds the shortest decimal text that reads as the same number. */
void ct_third_party_items_add_float(struct ct_third_party_items *items, const char *name,
				    double value, bool is_short);
/* Appends the items of `other`, which is finished; has_copies: with copies of their bytes. */
void ct_third_party_items_append(struct ct_third_party_items *items,
				 const struct ct_third_party_items *other, bool has_copies);
void ct_third_party_items_finish(struct ct_third_party_items *items);

/* ---- third_party_decode.c */
enum ct_third_party_result {
	CT_THIRD_PARTY_OK,
	CT_THIRD_PARTY_MORE, /* the bytes end inside a field, but the packet goes on */
	CT_THIRD_PARTY_BAD,  /* decoder->message is the reason, decoder->at the position */
	CT_THIRD_PARTY_NO_MEMORY
};

/* A clock, updated from fields that may hold only its low bits. */
struct ct_third_party_clock {
	uint64_t ticks;
	const struct ct_tsdl_clock *clock; /* or NULL */
	bool is_set;
};
/* Returns nanoseconds since 1970. clock NULL: the ticks are nanoseconds. */
uint64_t ct_third_party_ns(const struct ct_tsdl_clock *clock, uint64_t ticks);
void ct_third_party_clock_advance(struct ct_third_party_clock *clock, uint64_t value,
				  unsigned bits);

struct ct_third_party_scope {
	const struct ct_tsdl_type *type; /* NULL: the trace has none */
	struct ct_third_party_place *root;
	uint64_t stamp; /* of its values */
};
/* A struct in the course of decoding. */
struct ct_third_party_frame {
	const struct ct_tsdl_type *type;
	struct ct_third_party_place *place;
	uint32_t index; /* of the member */
};
struct ct_third_party_decoder {
	const struct ct_tsdl *tsdl;
	struct ct_third_party_tree *tree;
	/* bytes of the packet, from byte `first` to bit `limit`.  The content ends at bit `end`. */
	const unsigned char *bytes;
	uint64_t first;
	uint64_t limit;
	uint64_t end;
	uint64_t at; /* the next bit */
	/* steps left, which bound the time that a stream can take */
	uint64_t *steps;
	struct ct_third_party_items *items; /* NULL: items are not wanted */
	struct ct_third_party_clock *clock;
	struct ct_third_party_scope scopes[CT_SCOPE_COUNT];
	/* results */
	uint32_t roles; /* bit (1 << role): the field was present */
	uint64_t values[CT_ROLE_COUNT];
	const void *uuid; /* 16 bytes */
	char program[64];
	const char *message;
	/* while decoding */
	enum ct_tsdl_scope scope;
	struct ct_third_party_frame frames[CT_TSDL_DEPTH + 1];
	unsigned frame_count;
};
/* Decodes the type of the scope from `at` on. */
enum ct_third_party_result ct_third_party_decode(struct ct_third_party_decoder *decoder,
						 enum ct_tsdl_scope scope);
static inline bool ct_third_party_has(const struct ct_third_party_decoder *decoder,
				      enum ct_third_party_role role)
{
	return (decoder->roles & 1u << role) != 0;
}

#endif
