/*
 * hash_table.c - a hash table of numbers: finds the caller's item that has a key.
 *
 * Called to find items by name or by key, on the thread that owns them.  Keys may be hostile: keys
 * that collide cost at most one pass over the table.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/hash_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 32u

void ct_hash_table_fini(struct ct_hash_table *table)
{
	free(table->slots);
	*table = (struct ct_hash_table){ 0 };
}

static bool table_is_full(const struct ct_hash_table *table)
{
	return table->count == table->slot_count / 2;
}

static void table_put(struct ct_hash_table *table, struct ct_hash_table_slot slot)
{
	uint32_t at = slot.hash & (table->slot_count - 1);

	while (table->slots[at].number != 0)
		at = (at + 1) & (table->slot_count - 1);
	table->slots[at] = slot;
}

/* Returns a second table with the same items in twice as many slots; without slots when memory is
 * short. */
static struct ct_hash_table table_double(const struct ct_hash_table *table)
{
	struct ct_hash_table larger = { .slot_count = table->slot_count != 0 ? table->slot_count * 2
									     : FIRST_SLOTS,
					.count = table->count };

	larger.slots =
		larger.slot_count != 0 ? calloc(larger.slot_count, sizeof *larger.slots) : NULL;
	for (uint32_t i = 0; larger.slots != NULL && i < table->slot_count; i++)
		if (table->slots[i].number != 0)
			table_put(&larger, table->slots[i]);
	return larger;
}

void *ct_hash_table_reserve_items(struct ct_hash_table *table, void *items, size_t size)
{
	struct ct_hash_table larger;

	if (!table_is_full(table))
		return items;
	larger = table_double(table);
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

	if (!table_is_full(table))
		return true;
	larger = table_double(table);
	if (larger.slots == NULL)
		return false;
	free(table->slots);
	*table = larger;
	return true;
}

void ct_hash_table_add(struct ct_hash_table *table, uint32_t hash, uint32_t number)
{
	table_put(table, (struct ct_hash_table_slot){ .hash = hash, .number = number + 1 });
	table->count++;
}

void ct_hash_table_keep(struct ct_hash_table *table, void *items, size_t size,
			ct_hash_table_keeps *keeps, void *user)
{
	uint32_t count = table->count;

	if (count == 0)
		return;
	memset(table->slots, 0, table->slot_count * sizeof *table->slots);
	table->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		char *item = (char *)items + i * size;
		uint32_t hash;

		if (!keeps(item, &hash, user))
			continue;
		if (table->count != i)
			memcpy((char *)items + table->count * size, item, size);
		ct_hash_table_add(table, hash, table->count);
	}
}
