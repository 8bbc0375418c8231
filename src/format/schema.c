/*
 * schema.c - the classes of one Common Trace Format trace, by number.
 *
 * The BINFILE emitter takes over each class of its process's table at its first event, so an event
 * has the same number in a ring and in a file.  A reader adds the classes of the metadata.  A
 * writer of decoded events makes its own classes.  One thread at a time.  Memory is bounded by the
 * range of numbers and, for classes made here, by the limits in format.h.  Past the limits, and
 * without memory, an event takes the generic class, so no event is ever refused here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

struct ct_schema {
	/* by index - 1: index 0 is the generic class.  A reader may have thousands of traces open,
	 * most of them with few classes. */
	struct ct_class **classes;
	struct ct_hash_table by_key; /* of these */
	uint32_t count;
	uint32_t made; /* by ct_schema_class() */
	uint32_t items_total;
	/* of the classes, in the layout of a session; the component of an entry is the index of its
	 * class */
	unsigned char *table;
	unsigned char *taken; /* one bit for each unit of the table */
	size_t table_size;
	uint32_t next;         /* all numbers from here on are free */
	ct_class_namer *namer; /* or NULL */
	void *namer_user;
};

static const struct ct_class generic_class = { .number = CT_CLASS_ANY, .component = "ctrace" };

/* What makes two classes the same. */
struct key {
	const char *component;
	size_t component_size;
	uint32_t event_id;
	uint32_t level;
	uint32_t item_count;
	const uint32_t *items;
	const struct ctrace_definition *definition; /* not compared: it may change */
};

uint32_t ct_class_item_printed(uint32_t item)
{
	uint32_t type = item & 0xFF, size = item >> 8;

	if (type == CTRACE_TYPE_TEXT || type == CTRACE_TYPE_UTF8 || ct_item_is_integer(type, size))
		return item;
	return CTRACE_TYPE_BINARY | size << 8;
}

void ct_definition_check(struct ctrace_definition *definition)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@#$";
	size_t size = strnlen(definition->fmttab, sizeof definition->fmttab);

	for (size_t i = 0; i < size; i++)
		if (size == sizeof definition->fmttab ||
		    strchr(allowed, definition->fmttab[i]) == NULL)
			size = 0;
	memset(definition->fmttab + size, 0, sizeof definition->fmttab - size);
}

const struct ctrace_definition *ct_definition_or_null(const struct ctrace_definition *definition)
{
	static const struct ctrace_definition none;

	return memcmp(definition, &none, sizeof none) != 0 ? definition : NULL;
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
	hash = hash_bytes(hash, key->items, key->item_count * sizeof *key->items);
	return hash ^ hash >> 15;
}

static bool class_has_key(const struct ct_class *class, const struct key *key)
{
	return class->event_id == key->event_id && class->level == key->level &&
	       class->item_count == key->item_count &&
	       strlen(class->component) == key->component_size &&
	       memcmp(class->component, key->component, key->component_size) == 0 &&
	       (key->item_count == 0 ||
		memcmp(class->items, key->items, key->item_count * sizeof *key->items) == 0);
}

static bool class_is_wanted(const void *classes, uint32_t number, const void *key)
{
	return class_has_key(((struct ct_class *const *)classes)[number], key);
}

/* The class of the key, or NULL. */
static const struct ct_class *class_find(const struct ct_schema *schema, const struct key *key,
					 uint32_t hash)
{
	uint32_t found =
		ct_hash_table_find(&schema->by_key, hash, class_is_wanted, schema->classes, key);

	return found != CT_HASH_TABLE_NONE ? schema->classes[found] : NULL;
}

/* Returns false without memory; nothing has changed then. */
static bool classes_make_room(struct ct_schema *schema)
{
	struct ct_class **classes = ct_hash_table_reserve_items(&schema->by_key, schema->classes,
								sizeof(struct ct_class *));

	if (classes != NULL)
		schema->classes = classes;
	return classes != NULL;
}

/* Allocates a class with its items and its name in one block, and its names from a catalogue in
 * another. */
static struct ct_class *class_create(const struct key *key, uint32_t number, uint32_t index,
				     const struct ct_class_names *names)
{
	size_t items_size = key->item_count * sizeof *key->items;
	size_t definition_size = key->definition != NULL ? sizeof *key->definition : 0;
	struct ct_class *class =
		malloc(sizeof *class + items_size + definition_size + key->component_size + 1);
	struct ctrace_definition *definition;
	uint32_t *items;
	char *component;

	if (class == NULL)
		return NULL;
	items = (uint32_t *)(class + 1);
	definition = (struct ctrace_definition *)(void *)((char *)items + items_size);
	component = (char *)definition + definition_size;
	if (key->definition != NULL)
		*definition = *key->definition;
	if (key->item_count > 0)
		memcpy(items, key->items, items_size);
	memcpy(component, key->component, key->component_size);
	component[key->component_size] = '\0';
	*class = (struct ct_class){
		.number = number,
		.index = index,
		.event_id = key->event_id,
		.level = key->level,
		.item_count = key->item_count,
		.component = component,
		.items = items,
		.names = names,
		.definition = key->definition != NULL ? definition : NULL,
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

static uint32_t units_of(uint32_t item_count)
{
	return (uint32_t)CT_ALIGN_UP(sizeof(struct ct_class_entry) + sizeof(uint32_t) * item_count,
				     CT_CLASS_UNIT) /
	       CT_CLASS_UNIT;
}

/* Makes room in the table up to that unit. */
static bool table_grow(struct ct_schema *schema, uint32_t end)
{
	size_t size = schema->table_size != 0 ? schema->table_size : 64u * CT_CLASS_UNIT;
	unsigned char *table, *taken;

	if ((size_t)end * CT_CLASS_UNIT <= schema->table_size)
		return true;
	while (size < (size_t)end * CT_CLASS_UNIT)
		size *= 2;
	table = realloc(schema->table, size);
	if (table == NULL)
		return false;
	schema->table = table;
	taken = realloc(schema->taken, size / CT_CLASS_UNIT / 8);
	if (taken == NULL)
		return false;
	schema->taken = taken;
	memset(table + schema->table_size, 0, size - schema->table_size);
	memset(taken + schema->table_size / CT_CLASS_UNIT / 8, 0,
	       (size - schema->table_size) / CT_CLASS_UNIT / 8);
	schema->table_size = size;
	return true;
}

static bool table_is_taken(const struct ct_schema *schema, uint32_t from, uint32_t end)
{
	for (uint32_t unit = from; unit < end; unit++)
		if ((schema->taken[unit / 8] & 1u << unit % 8) != 0)
			return true;
	return false;
}

static void table_put_entry(struct ct_schema *schema, const struct ct_class *class, uint32_t end)
{
	const struct ct_class_entry entry = {
		.number = (uint16_t) class->number,
		.item_count = (uint16_t) class->item_count,
		.component = class->index,
		.event_id = class->event_id,
		.level = (uint8_t) class->level,
	};
	unsigned char *at = schema->table + (size_t) class->number * CT_CLASS_UNIT;

	memcpy(at, &entry, sizeof entry);
	memcpy(at + sizeof entry, class->items, class->item_count * sizeof *class->items);
	for (uint32_t unit = class->number; unit < end; unit++)
		schema->taken[unit / 8] |= (unsigned char)(1u << unit % 8);
	if (end > schema->next)
		schema->next = end;
}

/* True if metadata can describe the items. */
static bool items_are_valid(const uint32_t *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (items[i] != ct_class_item_printed(items[i]) ||
		    (items[i] >> 8 > CTRACE_MAX_ITEM_SIZE && !ct_class_item_is_counted(items[i])))
			return false;
	return true;
}

/* Inserts a new class.  DAMAGED when its number or items are invalid, or another class has its
 * place. */
static enum ctrace_status schema_insert(struct ct_schema *schema, const struct key *key,
					uint32_t hash, uint32_t number,
					const struct ct_class_names *names,
					const struct ct_class **out_class)
{
	uint32_t end = number + units_of(key->item_count), index = schema->count;
	struct ct_class *class;

	if (number < CT_CLASS_FIRST || number >= CT_CLASS_NUMBERS ||
	    key->item_count > CT_CLASS_MAX_ITEMS || end > CT_CLASS_NUMBERS ||
	    key->level >= CTRACE_LEVEL_COUNT || !items_are_valid(key->items, key->item_count))
		return CTRACE_DAMAGED;
	if (!table_grow(schema, end) || !classes_make_room(schema))
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (table_is_taken(schema, number, end))
		return CTRACE_DAMAGED;
	class = class_create(key, number, index, names);
	if (class == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	schema->classes[index - 1] = class;
	ct_hash_table_add(&schema->by_key, hash, index - 1);
	table_put_entry(schema, class, end);
	schema->count++;
	*out_class = class;
	return CTRACE_OK;
}

enum ctrace_status ct_schema_create(struct ct_schema **out_schema)
{
	struct ct_schema *schema = calloc(1, sizeof *schema);

	if (schema == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	schema->count = 1; /* the generic class */
	schema->next = CT_CLASS_FIRST;
	*out_schema = schema;
	return CTRACE_OK;
}

void ct_schema_destroy(struct ct_schema *schema)
{
	if (schema == NULL)
		return;
	for (uint32_t i = 1; i < schema->count; i++)
		class_free(schema->classes[i - 1]);
	free(schema->classes);
	ct_hash_table_fini(&schema->by_key);
	free(schema->table);
	free(schema->taken);
	free(schema);
}

void ct_schema_set_namer(struct ct_schema *schema, ct_class_namer *namer, void *user)
{
	schema->namer = namer;
	schema->namer_user = user;
}

/* Asks for the names of an event of the component; then of the format table that CTRACE DEFINE
 * named for it. */
static bool namer_ask(const struct ct_schema *schema, const struct key *key,
		      struct ct_class_names *out)
{
	const char *fmttab = key->definition != NULL ? key->definition->fmttab : "";

	if (schema->namer == NULL)
		return false;
	return schema->namer(key->component, key->component_size, key->event_id, out,
			     schema->namer_user) ||
	       (fmttab[0] != '\0' &&
		schema->namer(fmttab, strlen(fmttab), key->event_id, out, schema->namer_user));
}

/* Makes a new class with the names from the namer. */
static enum ctrace_status schema_make_class(struct ct_schema *schema, const struct key *key,
					    uint32_t hash, uint32_t number,
					    const struct ct_class **out_class)
{
	struct ct_class_names names = { 0 };
	bool has_names = namer_ask(schema, key, &names);

	return schema_insert(schema, key, hash, number, has_names ? &names : NULL, out_class);
}

/* Returns the form of a rewritten item: an integer stays as it is, any other item follows its
 * size. */
static uint32_t item_of(const struct ctrace_event_item *item)
{
	if (ct_item_is_integer(item->type, item->size))
		return item->type | item->size << 8;
	return ct_class_item_printed(
		(item->type & 0xFF) |
		(item->size <= UINT16_MAX ? CT_SIZE_COUNTED_16 : CT_SIZE_COUNTED_32) << 8);
}

const struct ct_class *ct_schema_class(struct ct_schema *schema, const struct ctrace_event *event,
				       const struct ctrace_definition *definition)
{
	uint32_t items[CT_CLASS_MAX_ITEMS];
	struct key key = {
		.component = event->component,
		.component_size = strnlen(event->component, event->component_size),
		.event_id = event->event_id,
		.level = event->level,
		.item_count = event->item_count,
		.items = items,
		.definition = definition,
	};
	const struct ct_class *class;
	uint32_t hash;

	if (event->item_count > CT_CLASS_MAX_ITEMS || key.component_size > CTRACE_MAX_COMPONENT)
		return &generic_class;
	for (uint32_t i = 0; i < event->item_count; i++)
		items[i] = item_of(&event->items[i]);
	hash = key_hash(&key);
	class = class_find(schema, &key, hash);
	if (class != NULL)
		return class;
	if (schema->made >= CT_CLASS_LIMIT ||
	    schema->items_total + key.item_count > CT_CLASS_ITEMS_TOTAL ||
	    schema_make_class(schema, &key, hash, schema->next, &class) != CTRACE_OK)
		return &generic_class;
	schema->made++;
	schema->items_total += key.item_count;
	return class;
}

enum ctrace_status ct_schema_take(struct ct_schema *schema, const struct ct_class_image *from,
				  uint32_t number, const char *component, size_t component_size,
				  const struct ctrace_definition *definition)
{
	const struct ct_class *class = ct_schema_find(schema, number);
	size_t offset = (size_t)number * CT_CLASS_UNIT;
	uint32_t items[CT_CLASS_MAX_ITEMS];
	struct ct_class_entry entry;
	struct key key = { .component = component, .items = items, .definition = definition };

	if (number < CT_CLASS_FIRST || offset > from->size || from->size - offset < sizeof entry)
		return CTRACE_DAMAGED;
	memcpy(&entry, from->bytes + offset, sizeof entry);
	if (entry.number != number || entry.item_count > CT_CLASS_MAX_ITEMS ||
	    from->size - offset - sizeof entry < entry.item_count * sizeof *items)
		return CTRACE_DAMAGED;
	for (uint32_t i = 0; i < entry.item_count; i++) {
		memcpy(&items[i], from->bytes + offset + sizeof entry + i * sizeof *items,
		       sizeof *items);
		items[i] = ct_class_item_printed(items[i]);
	}
	key.component_size =
		strnlen(component, component_size <= CTRACE_MAX_COMPONENT ? component_size
									  : CTRACE_MAX_COMPONENT);
	key.event_id = entry.event_id;
	key.level = entry.level;
	key.item_count = entry.item_count;
	if (class != NULL)
		return class_has_key(class, &key) ? CTRACE_OK : CTRACE_DAMAGED;
	return schema_make_class(schema, &key, key_hash(&key), number, &class);
}

enum ctrace_status ct_schema_add(struct ct_schema *schema, const struct ct_class *class)
{
	const struct ct_class *found = ct_schema_find(schema, class->number);
	struct key key = {
		.component = class->component,
		.component_size = strlen(class->component),
		.event_id = class->event_id,
		.level = class->level,
		.item_count = class->item_count,
		.items = class->items,
		.definition = class->definition,
	};

	if (found != NULL)
		return class_has_key(found, &key) ? CTRACE_OK : CTRACE_DAMAGED;
	return schema_insert(schema, &key, key_hash(&key), class->number, class->names, &found);
}

void ct_schema_skip(struct ct_schema *schema, uint32_t number)
{
	uint32_t end = number + units_of(CT_CLASS_MAX_ITEMS);

	if (end > schema->next)
		schema->next = end;
}

const struct ct_class *ct_schema_find(const struct ct_schema *schema, uint32_t number)
{
	struct ct_class_entry entry;

	if (number == CT_CLASS_ANY)
		return &generic_class;
	if (number < CT_CLASS_FIRST || number >= schema->table_size / CT_CLASS_UNIT)
		return NULL;
	memcpy(&entry, schema->table + (size_t)number * CT_CLASS_UNIT, sizeof entry);
	return entry.number == number && entry.component > 0 && entry.component < schema->count &&
			       schema->classes[entry.component - 1]->number == number
		       ? schema->classes[entry.component - 1]
		       : NULL;
}

uint32_t ct_schema_count(const struct ct_schema *schema)
{
	return schema->count;
}

const struct ct_class *ct_schema_at(const struct ct_schema *schema, uint32_t index)
{
	return index == 0 ? &generic_class : schema->classes[index - 1];
}

struct ct_class_image ct_schema_image(const struct ct_schema *schema)
{
	return (struct ct_class_image){ .bytes = schema->table,
					.size = schema->table_size,
					.has_names = true };
}
