/*
 * third_party_item.c - collects the items of a third-party event.
 *
 * Called by the decoder, on one thread.  An item's data may be in the file's bytes, in copied bytes
 * or in the item's own value.  The latter two have no fixed address until the last item is added.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/third_party.h"

#include "format/format.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum whereabouts { WHERE_IT_SAYS, IN_VALUE, IN_BYTES };

void ct_third_party_items_fini(struct ct_third_party_items *items)
{
	free(items->items);
	free(items->names);
	free(items->whereabouts);
	ct_buf_fini(&items->bytes);
	*items = (struct ct_third_party_items){ 0 };
}

void ct_third_party_items_clear(struct ct_third_party_items *items)
{
	items->count = 0;
	items->has_no_memory = false;
	ct_buf_clear(&items->bytes);
}

static bool items_grow(struct ct_third_party_items *items)
{
	uint32_t capacity = items->capacity == 0 ? 16 : 2 * items->capacity;
	struct ctrace_event_item *grown = reallocarray(items->items, capacity, sizeof *grown);
	const char **names = reallocarray(items->names, capacity, sizeof *names);
	uint8_t *whereabouts = realloc(items->whereabouts, capacity);

	if (grown != NULL)
		items->items = grown;
	if (names != NULL)
		items->names = names;
	if (whereabouts != NULL)
		items->whereabouts = whereabouts;
	if (grown == NULL || names == NULL || whereabouts == NULL)
		return false;
	items->capacity = capacity;
	return true;
}

/* Adds an item, or returns NULL. */
static struct ctrace_event_item *items_add(struct ct_third_party_items *items, const char *name,
					   enum ctrace_item_type type, enum whereabouts where)
{
	struct ctrace_event_item *item;

	if (items->count == CTRACE_MAX_ITEMS) {
		items->is_cut = true;
		return NULL;
	}
	if (items->count == items->capacity && !items_grow(items)) {
		items->has_no_memory = true;
		return NULL;
	}
	items->names[items->count] = name;
	items->whereabouts[items->count] = (uint8_t)where;
	item = &items->items[items->count++];
	*item = (struct ctrace_event_item){ .type = (uint32_t)type };
	return item;
}

static uint32_t items_cut(struct ct_third_party_items *items, uint64_t size)
{
	if (size <= CTRACE_MAX_ITEM_SIZE)
		return (uint32_t)size;
	items->is_cut = true;
	return CTRACE_MAX_ITEM_SIZE;
}

void ct_third_party_items_add_number(struct ct_third_party_items *items, const char *name,
				     enum ctrace_item_type type, uint64_t value)
{
	struct ctrace_event_item *item = items_add(items, name, type, IN_VALUE);

	if (item != NULL) {
		item->size = sizeof value;
		item->value = value;
	}
}

void ct_third_party_items_add(struct ct_third_party_items *items, const char *name,
			      enum ctrace_item_type type, const void *data, uint64_t size)
{
	struct ctrace_event_item *item = items_add(items, name, type, WHERE_IT_SAYS);

	if (item != NULL) {
		item->size = items_cut(items, size);
		item->data = data;
	}
}

void ct_third_party_items_copy(struct ct_third_party_items *items, const char *name,
			       enum ctrace_item_type type, const void *data, uint64_t size)
{
	struct ctrace_event_item *item = items_add(items, name, type, IN_BYTES);

	if (item == NULL)
		return;
	item->size = items_cut(items, size);
	item->value = items->bytes.size; /* an offset, until ct_third_party_items_finish() */
	ct_buf_add(&items->bytes, data, item->size);
	items->has_no_memory = items->has_no_memory || items->bytes.failed;
}

void ct_third_party_items_add_float(struct ct_third_party_items *items, const char *name,
				    double value, bool is_short)
{
	char text[40];
	int size = 0;

	for (int digits = is_short ? 6 : 15; digits <= (is_short ? 9 : 17); digits++) {
		size = snprintf(text, sizeof text, "%.*g", digits, value);
		if (is_short ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			break;
	}
	ct_third_party_items_copy(items, name, CTRACE_TYPE_TEXT, text, (uint64_t)size);
}

void ct_third_party_items_append(struct ct_third_party_items *items,
				 const struct ct_third_party_items *other, bool has_copies)
{
	for (uint32_t i = 0; i < other->count; i++) {
		const struct ctrace_event_item *item = &other->items[i];

		if (other->whereabouts[i] == IN_VALUE)
			ct_third_party_items_add_number(items, other->names[i],
							(enum ctrace_item_type)item->type,
							item->value);
		else if (has_copies)
			ct_third_party_items_copy(items, other->names[i],
						  (enum ctrace_item_type)item->type, item->data,
						  item->size);
		else
			ct_third_party_items_add(items, other->names[i],
						 (enum ctrace_item_type)item->type, item->data,
						 item->size);
	}
	items->is_cut = items->is_cut || other->is_cut;
}

/* Appends the numbers in the byte order that they have in an item's data, which a big-endian
 * machine does not have in the item's value.  Returns the offset of the first one. */
static size_t items_add_little_endian(struct ct_third_party_items *items)
{
	size_t first = items->bytes.size;

	for (uint32_t i = 0; CTRACE_IS_BIG_ && i < items->count; i++) {
		uint64_t value = htole64(items->items[i].value);

		if (items->whereabouts[i] == IN_VALUE)
			ct_buf_add(&items->bytes, &value, sizeof value);
	}
	items->has_no_memory = items->has_no_memory || items->bytes.failed;
	return first;
}

void ct_third_party_items_finish(struct ct_third_party_items *items)
{
	size_t number_at = items_add_little_endian(items);

	for (uint32_t i = 0; i < items->count; i++) {
		struct ctrace_event_item *item = &items->items[i];

		if (items->whereabouts[i] == IN_VALUE) {
			item->data = CTRACE_IS_BIG_ && !items->bytes.failed
					     ? (const void *)(items->bytes.data + number_at)
					     : &item->value;
			number_at += sizeof item->value;
		} else if (items->whereabouts[i] == IN_BYTES) {
			item->data = items->bytes.data + item->value;
			item->value = 0;
			items->whereabouts[i] = WHERE_IT_SAYS;
		}
	}
}
