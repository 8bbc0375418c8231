/*
 * third_party_name.c - the places of the fields of a third-party trace, and their names.
 *
 * Called by the decoder, on one thread, for each field of each event: a place is made once, with
 * its name and its role, and later found by its number.  A tree never takes more than
 * CT_THIRD_PARTY_NAMES, however hostile the trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/third_party.h"

#include <stdio.h>
#include <string.h>

void ct_third_party_tree_fini(struct ct_third_party_tree *tree)
{
	ct_arena_fini(&tree->arena);
	*tree = (struct ct_third_party_tree){ 0 };
}

static void *tree_take(struct ct_third_party_tree *tree, size_t size)
{
	void *taken = size <= CT_THIRD_PARTY_NAMES - tree->used ? ct_arena_take(&tree->arena, size)
								: NULL;

	size = CT_ALIGN_UP(size, (size_t)16);
	if (taken != NULL)
		tree->used += size < CT_THIRD_PARTY_NAMES - tree->used
				      ? size
				      : CT_THIRD_PARTY_NAMES - tree->used;
	return taken;
}

static struct ct_third_party_place *place_create(struct ct_third_party_tree *tree,
						 struct ct_third_party_place *parent,
						 const char *name)
{
	size_t size = strnlen(name, CT_THIRD_PARTY_NAME_SIZE - 1) + 1;
	struct ct_third_party_place *place = tree_take(tree, sizeof *place + size);

	if (place == NULL)
		return NULL;
	memcpy(place + 1, name, size - 1);
	place->name = (char *)(place + 1);
	place->parent = parent;
	return place;
}

struct ct_third_party_place *ct_third_party_root(struct ct_third_party_tree *tree)
{
	return place_create(tree, NULL, "");
}

/* Makes room for the child with this number. */
static bool place_reserve(struct ct_third_party_tree *tree, struct ct_third_party_place *parent,
			  uint32_t index, uint32_t count)
{
	uint32_t capacity = parent->child_capacity;
	struct ct_third_party_place **children;

	if (index < capacity)
		return true;
	capacity = count > index ? count : index < 4 ? 8 : 2 * index;
	children = tree_take(tree, capacity * sizeof(struct ct_third_party_place *));
	if (children == NULL)
		return false;
	if (parent->child_capacity > 0)
		memcpy(children, parent->children,
		       parent->child_capacity * sizeof(struct ct_third_party_place *));
	parent->children = children;
	parent->child_capacity = capacity;
	return true;
}

/* Strips the _ that tracers put before field names to avoid keywords. */
static const char *field_name(const struct ct_tsdl_name *name)
{
	return name->text[0] == '_' ? name->text + 1 : name->text;
}

static const struct {
	uint8_t scope;
	uint8_t role;
	const char *name;
} roles[] = {
	{ CT_SCOPE_PACKET_HEADER, CT_ROLE_MAGIC, "magic" },
	{ CT_SCOPE_PACKET_HEADER, CT_ROLE_UUID, "uuid" },
	{ CT_SCOPE_PACKET_HEADER, CT_ROLE_STREAM_ID, "stream_id" },
	{ CT_SCOPE_PACKET_HEADER, CT_ROLE_HIDDEN, "stream_instance_id" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_BEGIN, "timestamp_begin" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_END, "timestamp_end" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_CONTENT_SIZE, "content_size" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_PACKET_SIZE, "packet_size" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_SEQUENCE, "packet_seq_num" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_DISCARDED, "events_discarded" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_PID, "pid" },
	{ CT_SCOPE_PACKET_CONTEXT, CT_ROLE_TID, "tid" },
	{ CT_SCOPE_EVENT_HEADER, CT_ROLE_EVENT_ID, "id" },
	{ CT_SCOPE_EVENT_HEADER, CT_ROLE_TIME, "timestamp" },
	{ CT_SCOPE_STREAM_EVENT_CONTEXT, CT_ROLE_PID, "pid" },
	{ CT_SCOPE_STREAM_EVENT_CONTEXT, CT_ROLE_VPID, "vpid" },
	{ CT_SCOPE_STREAM_EVENT_CONTEXT, CT_ROLE_TID, "tid" },
	{ CT_SCOPE_STREAM_EVENT_CONTEXT, CT_ROLE_VTID, "vtid" },
	{ CT_SCOPE_STREAM_EVENT_CONTEXT, CT_ROLE_PROGRAM, "procname" },
};

static bool type_is_integer(const struct ct_tsdl_type *type)
{
	return type->kind == CT_TSDL_INTEGER || type->kind == CT_TSDL_ENUM;
}

/* A field has its role only if it has the type that the role requires. */
static bool type_fits_role(enum ct_third_party_role role, const struct ct_tsdl_type *type)
{
	switch (role) {
	case CT_ROLE_UUID:
		return type->kind == CT_TSDL_ARRAY && type->length == 16 &&
		       type_is_integer(type->element) && type->element->size == 8;
	case CT_ROLE_PROGRAM:
		return type->kind == CT_TSDL_STRING ||
		       ((type->kind == CT_TSDL_ARRAY || type->kind == CT_TSDL_SEQUENCE) &&
			type_is_integer(type->element) && type->element->size == 8);
	default:
		return type_is_integer(type);
	}
}

static enum ct_third_party_role field_role(const struct ct_third_party_place *parent,
					   enum ct_tsdl_scope scope,
					   const struct ct_tsdl_field *field)
{
	const char *name = field_name(field->name);

	if (field->is_length)
		return CT_ROLE_HIDDEN;
	/* The id of an event header may be inside a variant. */
	if (parent->parent != NULL && scope != CT_SCOPE_EVENT_HEADER)
		return CT_ROLE_ITEM;
	if (scope == CT_SCOPE_EVENT_CONTEXT)
		scope = CT_SCOPE_STREAM_EVENT_CONTEXT;
	for (size_t i = 0; i < CT_COUNT(roles); i++)
		if (roles[i].scope == scope && strcmp(roles[i].name, name) == 0 &&
		    type_fits_role(roles[i].role, field->type))
			return roles[i].role;
	return scope == CT_SCOPE_EVENT_HEADER && type_is_integer(field->type) &&
			       field->type->clock != NULL
		       ? CT_ROLE_TIME
		       : CT_ROLE_ITEM;
}

struct ct_third_party_place *
ct_third_party_member_add(struct ct_third_party_tree *tree, struct ct_third_party_place *parent,
			  enum ct_tsdl_scope scope, const struct ct_tsdl_type *type, uint32_t index)
{
	char name[CT_THIRD_PARTY_NAME_SIZE];
	struct ct_third_party_place *place;

	if (!place_reserve(tree, parent, index, type->count))
		return NULL;
	(void)snprintf(name, sizeof name, "%s%s%s", parent->name,
		       parent->name[0] != '\0' ? "." : "", field_name(type->fields[index].name));
	place = place_create(tree, parent, name);
	if (place != NULL) {
		place->role = (uint8_t)field_role(parent, scope, &type->fields[index]);
		parent->children[index] = place;
	}
	return place;
}

struct ct_third_party_place *ct_third_party_choice(struct ct_third_party_tree *tree,
						   struct ct_third_party_place *parent,
						   const struct ct_tsdl_type *type, uint32_t index)
{
	struct ct_third_party_place *place;

	if (index < parent->child_capacity && parent->children[index] != NULL)
		return parent->children[index];
	if (!place_reserve(tree, parent, index, type->count))
		return NULL;
	place = place_create(tree, parent, parent->name);
	if (place != NULL)
		parent->children[index] = place;
	return place;
}

struct ct_third_party_place *ct_third_party_element(struct ct_third_party_tree *tree,
						    struct ct_third_party_place *parent,
						    uint64_t index)
{
	uint32_t number = index < CTRACE_MAX_ITEMS ? (uint32_t)index : CTRACE_MAX_ITEMS - 1;
	char name[CT_THIRD_PARTY_NAME_SIZE];
	struct ct_third_party_place *place;

	if (number < parent->child_capacity && parent->children[number] != NULL)
		return parent->children[number];
	if (!place_reserve(tree, parent, number, 0))
		return NULL;
	(void)snprintf(name, sizeof name, "%.*s[%u]", (int)(sizeof name - 16), parent->name,
		       number);
	place = place_create(tree, parent, name);
	if (place != NULL)
		parent->children[number] = place;
	return place;
}

struct ct_third_party_place *ct_third_party_label(struct ct_third_party_tree *tree,
						  struct ct_third_party_place *parent)
{
	char name[CT_THIRD_PARTY_NAME_SIZE];

	if (parent->label == NULL) {
		(void)snprintf(name, sizeof name, "%.*s.label", (int)(sizeof name - 16),
			       parent->name);
		parent->label = place_create(tree, parent, name);
	}
	return parent->label;
}
