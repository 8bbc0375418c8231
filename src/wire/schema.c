/*
 * schema.c - the set of event classes of one Common Trace Format trace.
 *
 * The BINFILE emitter makes classes as shapes appear; a reader adds those that it finds in the metadata.  One thread at a time.
 * Memory is bounded by the three limits in wire.h; past any of them, and without memory, an event takes the generic class, so
 * that no event is ever refused here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/metadata.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 32u /* a reader may have thousands of traces open, most of them with a few classes */
_Static_assert(CT_CLASS_LIMIT % ROOM_FIRST == 0 && CT_CLASS_LIMIT <= UINT16_MAX, "room doubles up to the limit; slots hold ids");

struct ct_schema {
	struct ct_class **classes; /* by id */
	uint32_t *hashes;
	uint16_t *slots; /* class id; 0: free.  A power of two, twice the room: the table never fills */
	uint32_t room;   /* the highest id that there is memory for; 0 before the first class */
	uint32_t count;
	uint32_t items_total;
	ct_class_namer *namer; /* or NULL */
	void *namer_user;
};

static const struct ct_class generic_class = { .id = CT_CLASS_GENERIC, .component = "ctrace" };

/* What makes two classes the same. */
struct key {
	const char *component;
	size_t component_size;
	uint32_t event_id;
	uint32_t level;
	uint32_t item_count;
	const uint8_t *shape;
};

static uint32_t length_field(uint32_t size)
{
	return size < 0x100 ? 1u : size < 0x10000 ? 2u : 4u;
}

uint8_t ct_shape_of(uint32_t type, uint32_t size)
{
	static const uint8_t kinds[CTRACE_TYPE_COUNT] = {
		[CTRACE_TYPE_BINARY] = CT_KIND_BINARY, [CTRACE_TYPE_TEXT] = CT_KIND_TEXT,     [CTRACE_TYPE_ADDRESS] = CT_KIND_ADDRESS,
		[CTRACE_TYPE_COMP5] = CT_KIND_COMP5,   [CTRACE_TYPE_COMPX] = CT_KIND_COMPX,   [CTRACE_TYPE_UTF8] = CT_KIND_UTF8,
		[CTRACE_TYPE_COMP5S] = CT_KIND_COMP5S, [CTRACE_TYPE_COMPXS] = CT_KIND_COMPXS,
	};
	uint8_t kind = type < CTRACE_TYPE_COUNT ? kinds[type] : CT_KIND_BINARY;

	switch (kind) {
	case CT_KIND_BINARY:
	case CT_KIND_TEXT:
	case CT_KIND_UTF8:
		return (uint8_t)(kind | length_field(size));
	case CT_KIND_ADDRESS:
		return (uint8_t)(size == 8 ? CT_KIND_ADDRESS | 8u : CT_KIND_BINARY | length_field(size));
	default:
		return (uint8_t)(size >= 1 && size <= 8 ? kind | size : CT_KIND_BINARY | length_field(size));
	}
}

static uint32_t hash_bytes(uint32_t hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

static uint32_t key_hash(const struct key *key)
{
	uint32_t hash = 2166136261u;

	hash = hash_bytes(hash, key->component, key->component_size);
	hash = hash_bytes(hash, &key->event_id, sizeof key->event_id);
	hash = hash_bytes(hash, &key->level, sizeof key->level);
	hash = hash_bytes(hash, key->shape, key->item_count);
	return hash ^ hash >> 15;
}

static bool class_has_key(const struct ct_class *class, const struct key *key)
{
	return class->event_id == key->event_id && class->level == key->level && class->item_count == key->item_count &&
	       strlen(class->component) == key->component_size && memcmp(class->component, key->component, key->component_size) == 0 &&
	       (key->item_count == 0 || memcmp(class->shape, key->shape, key->item_count) == 0);
}

/* The class of the key, or NULL. */
static const struct ct_class *find_class(const struct ct_schema *schema, const struct key *key, uint32_t hash)
{
	uint32_t mask = 2 * schema->room - 1;
	uint32_t id;

	if (schema->room == 0)
		return NULL;
	for (uint32_t slot = hash & mask; (id = schema->slots[slot]) != 0; slot = (slot + 1) & mask)
		if (schema->hashes[id] == hash && class_has_key(schema->classes[id], key))
			return schema->classes[id];
	return NULL;
}

static void take_slot(uint16_t *slots, uint32_t mask, uint32_t hash, uint32_t id)
{
	uint32_t slot = hash & mask;

	while (slots[slot] != 0)
		slot = (slot + 1) & mask;
	slots[slot] = (uint16_t)id;
}

/* Twice the room.  False without memory: all is as it was. */
static bool grow(struct ct_schema *schema)
{
	uint32_t room = schema->room > 0 ? 2 * schema->room : ROOM_FIRST;
	struct ct_class **classes = reallocarray(schema->classes, room + 1, sizeof(struct ct_class *));
	uint32_t *hashes = classes != NULL ? reallocarray(schema->hashes, room + 1, sizeof *hashes) : NULL;
	uint16_t *slots = hashes != NULL ? calloc((size_t)2 * room, sizeof *slots) : NULL;

	if (classes != NULL)
		schema->classes = classes;
	if (hashes != NULL)
		schema->hashes = hashes;
	if (slots == NULL)
		return false;
	for (uint32_t id = 1; id < schema->count; id++)
		take_slot(slots, 2 * room - 1, hashes[id], id);
	free(schema->slots);
	schema->slots = slots;
	schema->room = room;
	return true;
}

/* A class, its shape and its name in one piece of memory; the names that a catalogue has for it in another. */
static struct ct_class *class_create(const struct key *key, uint32_t id, const struct ct_class_names *names)
{
	struct ct_class *class = malloc(sizeof *class + key->item_count + key->component_size + 1);
	uint8_t *shape;
	char *component;

	if (class == NULL)
		return NULL;
	shape = (uint8_t *)(class + 1);
	component = (char *)shape + key->item_count;
	if (key->item_count > 0)
		memcpy(shape, key->shape, key->item_count);
	memcpy(component, key->component, key->component_size);
	component[key->component_size] = '\0';
	*class = (struct ct_class){
		.id = id,
		.event_id = key->event_id,
		.level = key->level,
		.item_count = key->item_count,
		.component = component,
		.shape = shape,
		.names = names,
	};
	class->names = ct_class_names_create(class);
	return class;
}

static void class_free(struct ct_class *class)
{
	if (class != NULL)
		free((void *)(uintptr_t) class->names);
	free(class);
}

static bool has_room(const struct ct_schema *schema, uint32_t item_count)
{
	return schema->count <= CT_CLASS_LIMIT && item_count <= CT_CLASS_ITEMS &&
	       schema->items_total + item_count <= CT_CLASS_ITEMS_TOTAL;
}

/* The new class, or NULL when a limit or the memory's end is reached. */
static const struct ct_class *insert(struct ct_schema *schema, const struct key *key, uint32_t hash, const struct ct_class_names *names)
{
	uint32_t id = schema->count;

	if (!has_room(schema, key->item_count) || (id > schema->room && !grow(schema)))
		return NULL;
	schema->classes[id] = class_create(key, id, names);
	if (schema->classes[id] == NULL)
		return NULL;
	schema->hashes[id] = hash;
	take_slot(schema->slots, 2 * schema->room - 1, hash, id);
	schema->items_total += key->item_count;
	schema->count++;
	return schema->classes[id];
}

enum ctrace_status ct_schema_create(struct ct_schema **out_schema)
{
	struct ct_schema *schema = calloc(1, sizeof *schema);

	if (schema == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	schema->count = 1; /* the generic class */
	*out_schema = schema;
	return CTRACE_OK;
}

void ct_schema_destroy(struct ct_schema *schema)
{
	if (schema == NULL)
		return;
	for (uint32_t id = 1; id < schema->count; id++)
		class_free(schema->classes[id]);
	free(schema->classes);
	free(schema->hashes);
	free(schema->slots);
	free(schema);
}

void ct_schema_set_namer(struct ct_schema *schema, ct_class_namer *namer, void *user)
{
	schema->namer = namer;
	schema->namer_user = user;
}

/* A new class, with the names that the namer has for it. */
static const struct ct_class *make(struct ct_schema *schema, const struct key *key, uint32_t hash)
{
	struct ct_class_names names = { 0 };
	bool has_names = schema->namer != NULL && has_room(schema, key->item_count) &&
			 schema->namer(key->component, key->component_size, key->event_id, &names, schema->namer_user);

	return insert(schema, key, hash, has_names ? &names : NULL);
}

const struct ct_class *ct_schema_class(struct ct_schema *schema, const struct ctrace_event *event, bool *out_is_new)
{
	uint8_t shape[CT_CLASS_ITEMS];
	struct key key = {
		.component = event->component,
		.component_size = strnlen(event->component, event->component_size),
		.event_id = event->event_id,
		.level = event->level,
		.item_count = event->item_count,
		.shape = shape,
	};
	const struct ct_class *class;
	uint32_t hash;

	*out_is_new = false;
	if (event->item_count > CT_CLASS_ITEMS || key.component_size > CTRACE_MAX_COMPONENT)
		return &generic_class;
	for (uint32_t i = 0; i < event->item_count; i++)
		shape[i] = ct_shape_of(event->items[i].type, event->items[i].size);
	hash = key_hash(&key);
	class = find_class(schema, &key, hash);
	if (class != NULL)
		return class;
	class = make(schema, &key, hash);
	if (class == NULL)
		return &generic_class;
	*out_is_new = true;
	return class;
}

enum ctrace_status ct_schema_add(struct ct_schema *schema, const struct ct_class *class)
{
	struct key key = {
		.component = class->component,
		.component_size = strlen(class->component),
		.event_id = class->event_id,
		.level = class->level,
		.item_count = class->item_count,
		.shape = class->shape,
	};
	uint32_t hash = key_hash(&key);
	const struct ct_class *found = find_class(schema, &key, hash);

	if (found != NULL)
		return found->id == class->id ? CTRACE_OK : CTRACE_DAMAGED;
	if (class->id != schema->count || !has_room(schema, class->item_count))
		return CTRACE_DAMAGED;
	return insert(schema, &key, hash, class->names) != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

const struct ct_class *ct_schema_find(const struct ct_schema *schema, uint32_t id)
{
	if (id == CT_CLASS_GENERIC)
		return &generic_class;
	return id < schema->count ? schema->classes[id] : NULL;
}

uint32_t ct_schema_count(const struct ct_schema *schema)
{
	return schema->count;
}
