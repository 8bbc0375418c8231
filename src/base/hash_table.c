/*
 * hash_table.c - a hash table of numbers: which of the caller's items has a key.
 *
 * Called where things are found by name or by key, on the thread that has them.  Keys may be
 * hostile: those that are made to collide cost time, never more than the table is long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/hash_table.h"

#include <stdlib.h>

#define FIRST_SLOTS 32u

void ct_hash_table_fini(struct ct_hash_table *table)
{
	free(table->slots);
	*table = (struct ct_hash_table){ 0 };
}

static bool is_full(const struct ct_hash_table *table)
{
	return table->count == table->slot_count / 2;
}

static void put(struct ct_hash_table *table, struct ct_hash_table_slot slot)
{
	uint32_t at = slot.hash & (table->slot_count - 1);

	while (table->slots[at].number != 0)
		at = (at + 1) & (table->slot_count - 1);
	table->slots[at] = slot;
}

/* The same items in twice as many slots, beside the table.  No slots: there is no memory. */
static struct ct_hash_table doubled(const struct ct_hash_table *table)
{
	struct ct_hash_table larger = { .slot_count = table->slot_count != 0 ? table->slot_count * 2
									     : FIRST_SLOTS,
					.count = table->count };

	larger.slots =
		larger.slot_count != 0 ? calloc(larger.slot_count, sizeof *larger.slots) : NULL;
	for (uint32_t i = 0; larger.slots != NULL && i < table->slot_count; i++)
		if (table->slots[i].number != 0)
			put(&larger, table->slots[i]);
	return larger;
}

void *ct_hash_table_reserve_items(struct ct_hash_table *table, void *items, size_t size)
{
	struct ct_hash_table larger;

	if (!is_full(table))
		return items;
	larger = doubled(table);
	items = larger.slots != NULL ? reallocarray(items, larger.slot_count / 2, size) : NULL;
	if (items == NULL) {
		free(larger.slots);
		return NULL;
	}
	free(table->slots);
	*table = larger;
	return items;
}

bool ct_hash_table_reserve(struct ct_hash_table *table)
{
	struct ct_hash_table larger;

	if (!is_full(table))
		return true;
	larger = doubled(table);
	if (larger.slots == NULL)
		return false;
	free(table->slots);
	*table = larger;
	return true;
}

void ct_hash_table_add(struct ct_hash_table *table, uint32_t hash, uint32_t number)
{
	put(table, (struct ct_hash_table_slot){ .hash = hash, .number = number + 1 });
	table->count++;
}
