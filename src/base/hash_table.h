/*
 * base/hash_table.h - a hash table of numbers: which of the caller's items has a key.
 *
 * The items are the caller's, mostly in an array, and so is going through them all: the table has
 * the number of each and the hash of its key, so that it grows without looking at any.  Nothing is
 * ever removed but all of it.  A zeroed table is empty.  One thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_HASH_TABLE_H
#define CT_BASE_HASH_TABLE_H

#include "base/base.h"

#define CT_HASH_TABLE_NONE UINT32_MAX
struct ct_hash_table {
	struct ct_hash_table_slot {
		uint32_t hash;
		uint32_t number; /* of the item, and 1; 0: free */
	} * slots;
	uint32_t slot_count; /* 0 or a power of two; at most half of them are taken */
	uint32_t count;
};
void ct_hash_table_fini(struct ct_hash_table *table); /* it is empty then; the items stay */
/* Room for one item more, so that the next ct_hash_table_add() has it.  False without memory: all
 * is as it was. */
bool ct_hash_table_reserve(struct ct_hash_table *table) CT_MUST_USE;
/* The same, and room for as many items, each of `size` bytes, in the caller's array, which only
 * this function allocates: NULL at first, freed by the caller.  Returns the array, which may have
 * moved.  NULL without memory: then the one that was passed stays as it is. */
void *ct_hash_table_reserve_items(struct ct_hash_table *table, void *items,
				  size_t size) CT_MUST_USE;
/* Adds an item that is not there.  Only after one of the two above has found room for it. */
void ct_hash_table_add(struct ct_hash_table *table, uint32_t hash, uint32_t number);
/* The number of the item whose key this is, CT_HASH_TABLE_NONE when there is none.  The low bits of
 * the hash choose the slot.  `is` compares the key with an item whose hash is the same.  Inline, so
 * that `is` can be. */
typedef bool ct_hash_table_is(const void *items, uint32_t number, const void *key);
static inline uint32_t ct_hash_table_find(const struct ct_hash_table *table, uint32_t hash,
					  ct_hash_table_is *is, const void *items, const void *key)
{
	uint32_t mask = table->slot_count - 1;

	if (table->count == 0)
		return CT_HASH_TABLE_NONE;
	for (uint32_t at = hash & mask; table->slots[at].number != 0; at = (at + 1) & mask)
		if (table->slots[at].hash == hash && is(items, table->slots[at].number - 1, key))
			return table->slots[at].number - 1;
	return CT_HASH_TABLE_NONE;
}

#endif
