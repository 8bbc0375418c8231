/*
 * event_class.c - the table of the classes of events that one process has.
 *
 * Runs on the threads that trace, in signal handlers too: it takes no lock, allocates nothing and
 * waits for nobody.  A thread that dies between taking room for an entry and completing it leaves a
 * hole without a number.  Two threads that make the same class at the same time make it twice,
 * which does no harm.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/format.h"

#define PROBES 64u        /* slots that a search for a class reads at most */
#define SHORT_BYTES 4096u /* a table with less room left is short */

void ct_class_table_start(struct ct_class_table *table, size_t limit)
{
	table->used = (uint32_t)sizeof *table;
	table->limit = (uint32_t)(limit < CT_CLASS_TABLE ? limit : CT_CLASS_TABLE);
}

bool ct_class_table_is_short(const struct ct_class_table *table)
{
	uint32_t used = __atomic_load_n(&table->used, __ATOMIC_RELAXED);
	uint32_t limit = __atomic_load_n(&table->limit, __ATOMIC_RELAXED);

	return limit < CT_CLASS_TABLE && (used >= limit || limit - used < SHORT_BYTES);
}

static uint32_t class_hash(const struct ct_event_head *head, const uint32_t *items,
			   uint32_t item_count)
{
	uint32_t hash = (head->component * 8 + head->level) * 0x85EBCA77u + head->event_id;

	for (uint32_t i = 0; i < item_count; i++)
		hash = hash * 0x9E3779B1u + items[i];
	hash *= 0x9E3779B1u;
	return hash >> 16;
}

static struct ct_class_entry *entry_at(const struct ct_class_table *table, uint32_t number)
{
	return (struct ct_class_entry *)((uintptr_t)table + (uintptr_t)number * CT_CLASS_UNIT);
}

static bool entry_is(const struct ct_class_entry *entry, const struct ct_event_head *head,
		     const uint32_t *items, uint32_t item_count)
{
	if (entry->event_id != head->event_id || entry->component != head->component ||
	    entry->level != head->level || entry->item_count != item_count)
		return false;
	for (uint32_t i = 0; i < item_count; i++)
		if (entry->items[i] != items[i])
			return false;
	return true;
}

/* Takes room for an entry of so many bytes and returns its offset; 0 when there is none. */
static uint32_t table_take_room(struct ct_class_table *table, uint32_t size)
{
	uint32_t used = __atomic_load_n(&table->used, __ATOMIC_RELAXED);
	uint32_t limit = __atomic_load_n(&table->limit, __ATOMIC_ACQUIRE);

	/* The file may hold any limit, but a number has 16 bits. */
	if (limit > CT_CLASS_TABLE)
		limit = CT_CLASS_TABLE;
	do
		if (used < sizeof *table || size > limit || used > limit - size)
			return 0;
	while (!__atomic_compare_exchange_n(&table->used, &used, used + size, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return used;
}

static uint32_t table_make_entry(struct ct_class_table *table, const struct ct_event_head *head,
				 const uint32_t *items, uint32_t item_count)
{
	uint32_t size = (uint32_t)CT_ALIGN_UP(sizeof(struct ct_class_entry) + 4u * item_count,
					      CT_CLASS_UNIT);
	uint32_t offset = table_take_room(table, size);
	uint32_t number = offset / CT_CLASS_UNIT;
	struct ct_class_entry *entry = entry_at(table, number);

	if (offset == 0)
		return 0;
	entry->item_count = (uint16_t)item_count;
	entry->component = head->component;
	entry->event_id = head->event_id;
	entry->level = (uint8_t)head->level;
	for (uint32_t i = 0; i < item_count; i++)
		entry->items[i] = items[i];
	/* The entry is complete, and its number may be used.  A reader of a ring sees the entry
	 * because it sees an event with the number. */
	__atomic_store_n(&entry->number, (uint16_t)number, __ATOMIC_RELEASE);
	return number;
}

/* Makes an entry for a free slot.  If another thread takes the slot meanwhile, a later search finds
 * that thread's class there, or makes this class again. */
static uint32_t slot_make_entry(uint16_t *slot, struct ct_class_table *table,
				const struct ct_event_head *head, const uint32_t *items,
				uint32_t item_count)
{
	uint32_t made = table_make_entry(table, head, items, item_count);
	uint16_t free = 0;

	if (made == 0)
		return CT_CLASS_ANY;
	(void)__atomic_compare_exchange_n(slot, &free, (uint16_t)made, false, __ATOMIC_RELEASE,
					  __ATOMIC_RELAXED);
	return made;
}

uint32_t ct_class_find(struct ct_classes *classes, const struct ct_event_head *head,
		       const uint32_t *items, uint32_t item_count)
{
	uint32_t slot;

	if (item_count > CT_CLASS_MAX_ITEMS)
		return CT_CLASS_ANY;
	slot = class_hash(head, items, item_count);
	for (uint32_t probe = 0; probe < PROBES; probe++, slot++) {
		uint16_t *at = &classes->slots[slot % CT_CLASS_SLOTS];
		uint16_t number = __atomic_load_n(at, __ATOMIC_ACQUIRE);

		if (number == 0)
			return slot_make_entry(at, classes->table, head, items, item_count);
		if (entry_is(entry_at(classes->table, number), head, items, item_count))
			return number;
	}
	return CT_CLASS_ANY;
}
